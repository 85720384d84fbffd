//! Scripts in the language of packetdrill [C13: Cardwell et al., packetdrill: Scriptable Network Stack Testing, from
//! Sockets to Packets, USENIX ATC 2013] for the TCP of `stack`, in virtual time: what congestion control needs of the
//! language.
//!
//! [`parse`] reads a script, [`drill`] executes it, a [`Report`] is the result. What a script needs and this TCP does
//! not have is an outcome of its own, [`Outcome::NotExpressible`], and never a pass.

mod code;
mod connection;
mod export;
mod info;
mod parse;
mod place;
mod problem;
mod report;
mod runner;
mod script;
mod settings;
mod shell;

use contract::ParamList;

pub use code::{Action, Comparison, Expression, Operator, Statement, Value};
pub use export::{Exported, Passed, Recorded, export};
pub use parse::parse;
pub use place::Place;
pub use problem::Problem;
pub use report::{Judged, Line, Outcome, Report, Window};
pub use runner::drill;
pub use script::{Call, Direction, Event, Flags, Packet, Script, Setting, Shell, TcpOption, What, When};

/// What a program chooses for a drill.
#[derive(Clone, Debug)]
pub struct Options {
    /// The scheme, instead of the script's.
    pub scheme: Option<String>,
    /// Parameters of the scheme.
    pub params: ParamList,
    /// Whose TCP it is to be where a script leaves that open.
    pub like: Like,
}

impl Default for Options {
    fn default() -> Self {
        Self { scheme: None, params: ParamList::new(), like: Like::Linux }
    }
}

/// Whose TCP it is to be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Like {
    /// Linux, whose behaviour most scripts describe.
    #[default]
    Linux,
    /// The RFCs.
    Standard,
}
