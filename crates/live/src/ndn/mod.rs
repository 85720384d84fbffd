//! Named data over real networks: faces to forwarders, a consumer that fetches files, a producer that serves them.
//!
//! The consumer is `stack::ndn::Consumer` with any scheme of the catalogue, driven by the wall clock instead of the simulator's. The packets are
//! those of `wire::ndn`, which other NDN programs use. A [`Transport`] moves frames: real sockets ([`connect`]), or a simulated network in tests.

mod ask;
mod face;
mod failure;
mod fetch;
mod find;
mod machine;
mod order;
mod place;
mod serve;
#[cfg(unix)]
mod sockets;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod transport;

pub use face::{Face, Traffic};
pub use failure::Failure;
pub use fetch::{Fetch, Fetched, Nowhere, fetch};
pub use find::Discovery;
pub use place::Place;
#[cfg(unix)]
pub use serve::OnDisk;
pub use serve::{Content, Serve, Served, serve};
#[cfg(unix)]
pub use sockets::{Socket, connect};
pub use transport::{Transport, TransportError};

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// What another thread may ask of a fetch or a producer that runs, and see of it.
#[derive(Debug, Default)]
pub struct Control {
    stop: AtomicBool,
    /// Bytes that are there, in order; of a producer, bytes of content sent.
    pub bytes: AtomicU64,
    /// Bytes of the whole; 0 while that is not known.
    pub whole: AtomicU64,
    /// Segments that came; of a producer, Interests that came.
    pub segments: AtomicU64,
    /// Segments asked for again.
    pub again: AtomicU64,
    /// The prefix is registered, or the version is found.
    pub ready: AtomicBool,
}

impl Control {
    /// Nothing is asked yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks it to end soon.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Whether it was asked to end.
    pub fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}
