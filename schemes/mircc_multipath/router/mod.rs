//! MIRCC over several paths in a forwarder.

mod link;
mod strategy;

pub use link::Link;
pub use strategy::Strategy;
