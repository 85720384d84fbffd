//! QUIC connections of quinn-proto (RFC 9000, 9001, 9002) as endpoints of a simulated flow: the sender is a client that
//! uploads to its server.
//!
//! quinn-proto is sans-IO: it takes datagrams and instants, and gives datagrams and deadlines. [`ends`](crate::ends())
//! drives it in virtual time, with every random number from the endpoint's stream.

mod api;
#[path = "like_quinn/connection.rs"]
mod connection;
#[path = "like_quinn/tap.rs"]
mod tap;

#[cfg(test)]
mod tests;

pub use api::counters;
use contract::ParamError;
use quinn_proto as proto;
pub use tap::Tapped;
pub use thalweg_quic::NAMES;
use thalweg_quic::quinn as controllers;

use crate::{Config, Factory, Log};

/// Controllers of quinn that a deterministic run can use, the default first.
pub const OWN: &[&str] = &["cubic", "newreno"];

/// Controllers of quinn that it cannot use, with the message for a scenario that names them.
pub const REFUSED: &[(&str, &str)] = &[(
    "bbr",
    "BBR of quinn draws the phase of its cycle from the operating system; write scheme = \"bbr\" for Thalweg's",
)];

/// The two ends of a flow, sender first, which writes to `log`. Each call of a factory begins a new connection.
///
/// # Errors
///
/// There is no such controller, or the scheme refuses its parameters.
pub fn ends(config: &Config, log: Option<&Log>) -> Result<(Factory, Factory), ParamError> {
    crate::ends::<connection::End>(config, log)
}
