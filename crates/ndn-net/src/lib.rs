//! Named Data Networking (NDN) over real networks: a consumer that fetches files, a producer that serves them, and a
//! forwarder ([`forwarder`]).
//!
//! The consumer is `stack::ndn::Consumer` with any scheme of the catalogue, driven by the wall clock instead of the
//! simulator's. The packets have the format of `wire::ndn`, which other NDN programs use. A [`Transport`] moves frames:
//! real sockets ([`connect`]), or a simulated network in tests.

mod capture;
mod discovery;
mod face;
mod face_uri;
mod failure;
mod fetch;
pub mod forwarder;
mod random;
mod reorder;
mod request;
mod serve;
#[cfg(unix)]
mod sockets;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod transport;

use capture::{FORWARDER, PROGRAM};

pub use discovery::Discovery;
pub use face::{Face, Traffic};
pub use face_uri::FaceUri;
pub use failure::Failure;
pub use fetch::{Fetch, Fetched, Nowhere, fetch};
#[cfg(unix)]
pub use serve::OnDisk;
pub use serve::{Content, Serve, Served, serve};
#[cfg(unix)]
pub use sockets::{Socket, connect};
pub use transport::{Transport, TransportError};

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// A handle by which other threads observe and stop a fetch or a producer.
#[derive(Debug, Default)]
pub struct Control {
    stop: AtomicBool,
    /// Bytes received in order; of a producer, bytes of content sent.
    pub bytes: AtomicU64,
    /// Bytes of the object; 0 while unknown.
    pub whole: AtomicU64,
    /// Segments received; of a producer, Interests received.
    pub segments: AtomicU64,
    /// Retransmitted Interests.
    pub again: AtomicU64,
    /// Whether the prefix is registered, or the version is known.
    pub ready: AtomicBool,
}

impl Control {
    /// Without requests.
    pub fn new() -> Self {
        Self::default()
    }

    /// Requests the end.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Whether the end was requested.
    pub fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}
