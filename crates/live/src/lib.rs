//! Live endpoints: the state machines of the simulator over real sockets.
//!
//! A state machine of `stack` with a scheme of `schemes` determines the packets and their times, as in the simulator. [`content`] provides their
//! payload, and [`transfer`] carries files and live streams. A session provides time, datagrams and random numbers, and authenticates: every datagram
//! has a keyed tag and a number that is accepted once. It accesses the system through a trait ([`Platform`]).

mod channel;
pub mod content;
mod control;
mod event_loop;
pub mod forward;
mod group;
mod gso;
mod handshake;
mod keys;
mod listen;
mod machine;
mod multicast;
pub mod ndn;
mod outcome;
pub mod pacing;
mod platform;
mod receive;
mod replay;
pub mod sdn;
mod send;
mod session;
mod settings;
mod start;
mod still;
mod tapped;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
pub mod transfer;
mod udp;
mod watch;

pub use control::{Control, Phase, Progress};
pub use group::{Group, Left, send_to_group};
pub use listen::Listening;
pub use outcome::{End, Outcome, Refused, Stats, Traffic};
pub use platform::{Batch, Fate, GsoBatch, Platform};
pub use receive::receive;
pub use send::{send, transport_of};
pub use settings::{Accept, Cargo, Handshake, Limits, Scheme, Secret, Settings, Store};
pub use start::Pace;
pub use tapped::{Captured, Recorder, Tapped};
pub use udp::{Interface, Multicast, Udp, wake_exactly};
pub use units::Lateness;
pub use watch::Watch;
pub use wire::stream::Offer;
