//! Hosts sans-IO state machines on a real machine: the [`Platform`] trait, UDP with GSO, GRO and ECN, timers, captures.
//!
//! An event loop (of sessions and of an SDN controller in `quic-net`) runs on a [`Platform`]: sockets ([`Udp`]), or a
//! simulated clock and network in tests ([`testing`]). [`StateMachine`] is an endpoint of `stack` with its context,
//! which such a loop hosts.

mod capture;
mod clock;
mod gso;
mod interface;
mod listen;
pub mod pacing;
mod platform;
mod program_datagrams;
mod state_machine;
pub mod testing;
mod udp;
mod watch;

pub use capture::{Captured, Recorder, Tapped};
pub use clock::{Clock, exact_timers, wait_readable};
pub use gso::GsoBatches;
pub use interface::{Interface, Multicast, address_towards};
pub use listen::Listening;
pub use platform::{Batch, GsoBatch, Platform, SendOutcome};
pub use program_datagrams::{FromDatagrams, ToDatagrams};
pub use state_machine::StateMachine;
pub use udp::Udp;
pub use watch::Watch;
