//! Streams: paced datagrams one way, small feedback packets the other. Unicast is a group of one.

mod config;

pub use config::Config;
