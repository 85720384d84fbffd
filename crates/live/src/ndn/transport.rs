//! Transport of frames to a forwarder and back.

use std::io;
use std::net::SocketAddr;

use units::Time;

/// Carries frames to the next forwarder and back, and has a clock. Sockets are one; tests have a network of their own.
pub trait Transport {
    /// The present instant, by a clock that is never set back. Only differences mean anything.
    fn now(&mut self) -> Time;

    /// Returns when a frame may have come, or at `until`.
    fn wait(&mut self, until: Time);

    /// Gives frames that have come to `take`, some at a time; false when there were none.
    fn receive(&mut self, take: &mut dyn FnMut(&[u8])) -> Result<bool, TransportError>;

    /// Hands over a frame. What the system does not take at once waits for [`Transport::flush`]; false where there is no room for it any more,
    /// and it is lost.
    fn send(&mut self, frame: &[u8]) -> Result<bool, TransportError>;

    /// Gives the system what waits, as far as it takes it.
    fn flush(&mut self) -> Result<(), TransportError>;

    /// Whether so much waits that nothing more should be made before it is gone.
    fn is_full(&self) -> bool;

    /// The longest frame, in bytes.
    fn mtu(&self) -> usize;

    /// Whether the other end is on this host, as far as the forwarder is concerned.
    fn is_local(&self) -> bool;

    /// Addresses of this end and of the other; `None` where there are none, as of a stream. For captures.
    fn ends(&self) -> Option<(SocketAddr, SocketAddr)> {
        None
    }
}

/// Nothing is carried any more.
#[derive(Debug, thiserror::Error)]
pub enum TransportError {
    /// The forwarder ended the connection.
    #[error("the forwarder closed the connection")]
    Closed,
    /// What it sent is no packet, so that nobody knows where the next begins.
    #[error("what comes is not NDN: {0}")]
    Malformed(wire::ndn::Malformed),
    /// The system says no.
    #[error("{0}")]
    System(#[from] io::Error),
}
