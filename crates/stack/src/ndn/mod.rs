//! Named Data Networking: Interests are forwarded by name to a producer or a store, and Data return on the same path by
//! the state of the forwarders.
//!
//! A [`Forwarder`] runs on every node, including the nodes of consumers and producers; endpoints are faces of their
//! node's forwarder.

mod acting;
mod config;
mod consumer;
mod counters;
mod faces;
mod fib;
mod forwarder;
mod interest_queues;
mod nonces;
mod pit;
mod producer;
mod ring;
mod store;
pub mod strategies;
mod table;
#[cfg(test)]
mod tests;

pub use config::{
    Config, ConsumerConfig, EpisodeCheck, Gaps, INTEREST, OVERHEAD, Pattern, Policy, ProducerConfig, Store,
    Timeout,
};
pub use consumer::{CONSUMER_SERIES, Consumer, Steady};
pub use counters::{Counters, Tally};
pub use faces::Faces;
pub use fib::{Fib, preferred};
pub use forwarder::{Ahead, Forwarder, SERIES};
pub use nonces::DeadNonces;
pub use pit::Pit;
pub use producer::Producer;
pub use store::ContentStore;
pub use table::Table;

/// A table of this many names is rarely in the caches of a processor.
const MANY_NAMES: usize = 4096;
