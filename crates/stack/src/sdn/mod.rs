//! Software-defined networking: the controller, and its agents at the nodes.
//!
//! An [`Agent`] stands at a node beside whatever runs there, a forwarder of named data or nothing but addresses. The [`Controller`]
//! keeps what agents report, hands it to its app, and says every order again until it is acknowledged. Either can fall silent: nodes
//! keep their last orders, and a controller that comes back asks for them.

mod agent;
mod config;
mod controller;
#[cfg(test)]
mod tests;

pub use agent::Agent;
pub use config::Config;
pub use controller::{AgentLocation, Controller};
