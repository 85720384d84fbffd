//! QUIC connections of noq-proto (RFC 9000, 9001, 9002) as endpoints of a simulated flow: the sender is a client that
//! uploads to its server.
//!
//! noq is a fork of quinn with multipath, NAT traversal and a controller trait of its own. noq-proto is sans-IO: it
//! takes datagrams and instants, and gives datagrams and deadlines. [`ends`](crate::ends()) drives it in virtual time,
//! with every random number from the endpoint's stream. Connections have one path.

mod api;
#[path = "like_quinn/connection.rs"]
#[allow(clippy::duplicate_mod, reason = "names that mean types of quinn there, and types of noq here")]
mod connection;
#[path = "like_quinn/tap.rs"]
#[allow(clippy::duplicate_mod, reason = "names that mean types of quinn there, and types of noq here")]
mod tap;

use contract::ParamError;
use noq_proto as proto;
pub use thalweg_quic::NAMES;
use thalweg_quic::noq as controllers;

use crate::{Config, Factory, Log};

/// Controllers of noq that a deterministic run can use, the default first.
pub const OWN: &[&str] = &["cubic", "newreno"];

/// Controllers of noq that it cannot use, with the message for a scenario that names them. The seed in the
/// configuration of BBRv3 cannot be set from outside of noq.
pub const REFUSED: &[(&str, &str)] = &[("bbr", BBR), ("bbr3", BBR)];
const BBR: &str = "BBRv3 of noq draws the time of its probes from the operating system; write scheme = \"bbr3\" for Thalweg's BBRv3";

/// The two ends of a flow, sender first, which writes to `log`. Each call of a factory begins a new connection.
///
/// # Errors
///
/// There is no such controller, or the scheme refuses its parameters.
pub fn ends(config: &Config, log: Option<&Log>) -> Result<(Factory, Factory), ParamError> {
    crate::ends::<connection::End>(config, log)
}
