//! Transport of frames to a forwarder and back.

use std::io;
use std::net::SocketAddr;

use units::Time;

/// Moves frames to and from the next forwarder, and has a clock. Sockets are one implementation; tests have a simulated
/// network.
pub trait Transport {
    /// The current time of a monotonic clock. Only differences have a meaning.
    fn now(&mut self) -> Time;

    /// Waits until a frame may have arrived, or until `until`.
    fn wait(&mut self, until: Time);

    /// Passes received frames to `take`, some at a time. Returns false if none had arrived.
    fn receive(&mut self, take: &mut dyn FnMut(&[u8])) -> Result<bool, TransportError>;

    /// Sends a frame. If the system does not accept it now, it waits for [`Transport::flush`]. Returns false if there
    /// is no room and the frame is lost.
    fn send(&mut self, frame: &[u8]) -> Result<bool, TransportError>;

    /// Passes waiting frames to the system, as far as it accepts them.
    fn flush(&mut self) -> Result<(), TransportError>;

    /// Whether too much waits, so that no more frames should be made.
    fn is_full(&self) -> bool;

    /// Maximum frame size in bytes.
    fn mtu(&self) -> usize;

    /// Whether the other end is on this host in the view of the forwarder.
    fn is_local(&self) -> bool;

    /// Addresses of both ends; `None` for a transport without addresses, such as a stream. For captures.
    fn ends(&self) -> Option<(SocketAddr, SocketAddr)> {
        None
    }
}

/// Why a transport failed.
#[derive(Debug, thiserror::Error)]
pub enum TransportError {
    /// The forwarder ended the connection.
    #[error("the forwarder closed the connection")]
    Closed,
    /// A frame is invalid, and the start of the next one is unknown.
    #[error("the received bytes are not NDN: {0}")]
    Malformed(wire::ndn::Malformed),
    /// Error of the system.
    #[error("{0}")]
    System(#[from] io::Error),
}
