//! What several papers share.

mod classic;
mod equation;
mod loss_events;
mod receive_rate;

pub use classic::Classic;
pub use equation::tcp_friendly_rate;
pub use loss_events::LossEvents;
pub use receive_rate::ReceiveRate;

#[cfg(test)]
pub(crate) mod router_testing;
#[cfg(test)]
pub(crate) mod stream_testing;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
