//! Software-defined networking: the controller, and its agents at the nodes.
//!
//! An [`Agent`] is at a node beside its other functions, such as a forwarder of named data or routing by address. The
//! [`Controller`] stores the reports of agents, passes them to its app, and retransmits every command until it is
//! acknowledged. Either can fail: nodes keep their last commands, and a controller that restarts requests them.

mod agent;
mod config;
mod controller;
#[cfg(test)]
mod tests;

pub use agent::Agent;
pub use config::Config;
pub use controller::{AgentLocation, Controller};
