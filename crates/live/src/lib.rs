//! Live endpoints: the state machines of the simulator over real sockets.
//!
//! A state machine of `stack` with a scheme of `schemes` determines the packets and their times, as in the simulator. `transfer` provides their
//! payload. A session provides time, datagrams and random numbers, and authenticates: every datagram has a keyed tag and a number that is accepted
//! once. It accesses the system through a trait ([`driver::Platform`]).

mod addresses;
mod channel;
mod control;
mod handshake;
mod initial_rate;
mod keys;
mod multicast;
mod outcome;
mod patience;
mod receive;
mod replay;
mod send;
mod session;
mod settings;
#[cfg(test)]
mod tests;
mod tx;

pub use channel::Channel;
pub use control::{Control, Phase, Progress};
pub use handshake::{Admission, Attempt, Caller, CallerHello, Listener, Reply};
pub use initial_rate::with_initial_rate;
pub use multicast::{Group, ReceiverOutcome, send_to_group};
pub use outcome::{Discarded, End, Outcome, Stats, Traffic};
pub use patience::{Patience, QUIET};
pub use receive::receive;
pub use replay::Replay;
pub use send::{send, transport_of};
pub use session::{CLOSE_LINGER, POLL_INTERVAL};
pub use settings::{Accept, Handshake, Limits, Scheme, Secret, Settings};
pub use tx::{Transmitter, TxContext};
pub use wire::stream::Offer;
