//! World three: the same machines over real sockets.
//!
//! A machine of `stack` with a law of `schemes` decides when what leaves, as it does in the simulator; [`content`] says what its packets
//! carry, and [`transfer`] carries files and live streams. A session gives the machine time, datagrams and chance, and keeps strangers out:
//! every datagram has a keyed tag and a number that is taken once. It knows the system by a trait ([`Outer`]).

pub mod content;
mod control;
mod ear;
pub mod forward;
mod group;
mod keys;
mod line;
mod listen;
mod machine;
mod meeting;
pub mod ndn;
mod outcome;
mod outer;
pub mod pacing;
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
mod trains;
pub mod transfer;
mod turns;
mod udp;
mod watch;

pub use control::{Control, Phase, Progress};
pub use group::{Group, Left, send_to_group};
pub use listen::Listening;
pub use outcome::{End, Outcome, Refused, Stats, Traffic};
pub use outer::{Batch, Fate, Outer, Train};
pub use receive::receive;
pub use send::{send, transport_of};
pub use settings::{Accept, Cargo, Limits, Meet, Scheme, Secret, Settings, Store};
pub use start::Pace;
pub use tapped::{Captured, Recorder, Tapped};
pub use udp::{Interface, Multicast, Udp, wake_exactly};
pub use units::Lateness;
pub use watch::Watch;
pub use wire::stream::Offer;
