//! What PerIfwithECN adds to the two ends of a stream.

mod receiver;
mod source;

pub use receiver::Receiver;
pub use source::Sender;
