//! How the sessions of a group end.

use std::net::SocketAddr;

use crate::End;

/// How the session with a receiver ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReceiverOutcome {
    /// Its number for the scheme and the payload.
    pub peer: u32,
    /// Its address.
    pub address: SocketAddr,
    /// How it ended.
    pub end: End,
}
