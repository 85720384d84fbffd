//! Parts that several schemes share.

mod classic;
mod credit;
mod delays;
mod equation;
mod gradual;
mod hystart;
mod lines;
pub mod linux;
mod loss_events;
mod loss_state;
mod mirror;
pub mod offer;
mod order;
mod paths;
mod receive_rate;
mod recent;
mod red;
mod retransmission;
mod rounds;
mod split;
mod standing;
mod vegas_rtt;
mod windowed_max;

pub use classic::Classic;
pub use credit::Credit;
pub use delays::Delays;
pub use equation::{loss_event_rate_of, tcp_friendly_rate};
pub use gradual::Gradual;
pub use hystart::{Ending, HyStart};
pub use lines::{InterestQueueNumbers, serve_due};
pub use loss_events::LossEvents;
pub use loss_state::LossState;
pub use mirror::{FifoModel, filled};
pub use order::{Order, Place};
pub use paths::shortest;
pub use receive_rate::ReceiveRate;
pub use recent::Recent;
pub use red::{Red, RedRules};
pub use retransmission::{forget_one, is_retransmission};
pub use rounds::Rounds;
pub use split::{Split, SplitRules};
pub use standing::{StandingQueue, StandingQueueRules};
pub use vegas_rtt::VegasRtt;
pub use windowed_max::WindowedMax;

#[cfg(test)]
#[allow(dead_code, reason = "house tests use the rest of it")]
pub(crate) mod forwarders;
#[cfg(test)]
pub(crate) mod router_testing;
#[cfg(test)]
pub(crate) mod sdn_testing;
#[cfg(test)]
pub(crate) mod stream_testing;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
