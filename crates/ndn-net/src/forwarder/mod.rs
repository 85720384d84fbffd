//! The NDN forwarder as a process: the forwarder of `stack`, with a strategy and a link part of the catalogue, over
//! real faces.
//!
//! [`Node`] is the forwarder without a clock or sockets: frames in, frames out. Its state machine decides as in the
//! simulator. The driver maps the numbers of its packets to names (`names.rs`), routes (`routes.rs`), received
//! Interests, Data, the tokens of downstreams, queues and rates (`ports.rs`). [`drive`] is the event loop; it accesses
//! the system through a trait, which `sockets.rs` implements.
//!
//! Memory is bounded for any input ([`Limits`]).

mod agent;
mod app;
mod capture;
mod commands;
mod event_loop;
mod marks;
mod names;
mod node;
mod pending;
mod ports;
mod routes;
mod settings;
#[cfg(unix)]
mod sockets;
#[cfg(unix)]
mod testbed;
#[cfg(test)]
mod tests;

use std::net::SocketAddr;

pub use agent::AgentStats;
pub use app::{App, Sample};
pub use capture::FaceRecorder;
pub use event_loop::{Arrival, Control, ForwarderPlatform, Inbox, drive};
pub use node::{Node, PortStats, Stats, Strays};
pub use ports::Counts;
pub use settings::{
    ControllerSettings, Error, Limits, LinkSettings, MTU, MarkSettings, RouteSettings, Settings,
};
#[cfg(unix)]
pub use sockets::{Listen, Sockets};
#[cfg(unix)]
pub use testbed::{TestbedLink, TestbedNode, TestbedResult, run_testbed};

/// The other end of a face.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Peer {
    /// A host, over UDP.
    Udp(SocketAddr),
    /// A program on this host, by number of its connection.
    Program(u64),
    /// An endpoint inside the process, by number.
    App(usize),
    /// The SDN controller, over UDP. It has no face: its datagrams are for the agent.
    Controller,
}

/// The output of frames.
pub trait Frames {
    /// Sends a frame. Returns false if the system did not accept it.
    fn send(&mut self, to: Peer, frame: &[u8]) -> bool;

    /// Bytes sent that the other end has not read; 0 if unknown.
    fn waiting(&mut self, _to: Peer) -> u64 {
        0
    }
}
