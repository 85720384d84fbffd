//! Parts that several state machines share.

mod pacer;
mod ranges;
mod rtt;

pub use pacer::Pacer;
pub use ranges::Ranges;
pub use rtt::Rtt;
