//! Streams: paced datagrams one way, small feedback packets the other. Unicast is a group of one.
//!
//! [`Sender`] and [`Receiver`] own numbers, times, pacing and the search for missing packets; the laws of a scheme decide
//! the rate and what receivers say.

mod config;
mod gaps;
mod pacer;
mod receiver;
mod sender;
#[cfg(test)]
mod tests;

pub use config::{Config, SERIES};
pub use receiver::Receiver;
pub use sender::Sender;
