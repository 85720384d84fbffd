//! TCP: a sender and a receiver that a congestion law plugs into.

mod config;

pub use config::{Config, Demand};
