//! What several papers share.

mod classic;
mod receive_rate;

pub use classic::Classic;
pub use receive_rate::ReceiveRate;

#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
