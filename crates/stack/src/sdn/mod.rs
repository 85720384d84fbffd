//! Software-defined networking: the controller's machine, and its outposts at the nodes.
//!
//! An [`Outpost`] stands at a node beside whatever runs there, a forwarder of named data or nothing but addresses. The [`Controller`]
//! keeps what outposts report, hands it to its app, and says every order again until it is acknowledged. Either can fall silent: nodes
//! keep their last orders, and a controller that comes back asks for them.

mod config;
mod controller;
mod outpost;
#[cfg(test)]
mod tests;

pub use config::Config;
pub use controller::{Controller, Station};
pub use outpost::Outpost;
