//! What several papers share.

mod classic;

pub use classic::Classic;

#[cfg(test)]
pub(crate) mod testing;
