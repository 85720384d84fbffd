//! Live endpoints: the state machines of the simulator over real sockets.
//!
//! A state machine of `stack` with a scheme of `schemes` determines the packets and their times, as in the simulator. `transfer` provides their
//! payload. A session provides time, datagrams and random numbers, and authenticates: every datagram has a keyed tag and a number that is accepted
//! once. It accesses the system through a trait ([`driver::Platform`]).

mod addresses;
mod channel;
mod control;
pub mod forward;
mod group;
mod handshake;
mod keys;
mod multicast;
pub mod ndn;
mod outcome;
mod receive;
mod replay;
pub mod sdn;
mod send;
mod session;
mod settings;
mod start;
mod still;
#[cfg(test)]
mod tests;

pub use control::{Control, Phase, Progress};
pub use group::{Group, Left, send_to_group};
pub use outcome::{Discarded, End, Outcome, Stats, Traffic};
pub use receive::receive;
pub use send::{send, transport_of};
pub use settings::{Accept, Handshake, Limits, Scheme, Secret, Settings};
pub use start::with_initial_rate;
pub use still::{QUIET, Still};
pub use wire::stream::Offer;
