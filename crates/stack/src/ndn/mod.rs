//! Named data networking: requests by name find their way to whoever has the content, and Data finds its way back along what the
//! forwarders remember.
//!
//! A forwarder runs on every node, those of consumers and producers included; endpoints are faces of their node's forwarder.

mod config;

pub use config::{Config, ConsumerConfig, INTEREST, OVERHEAD, Policy, ProducerConfig, Store};
