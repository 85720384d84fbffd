//! TCP: a sender and a receiver that a congestion law plugs into.

mod config;
mod receiver;
mod recovery;
mod sack;
mod scoreboard;
mod sender;
mod supply;

pub use config::{Config, Demand, RecoveryTimer, SERIES};
pub use receiver::Receiver;
pub use sender::Sender;
