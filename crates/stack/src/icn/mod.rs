//! Multicast by name beside IP [SRMCC §3.1]: sources and members send signals to their access routers, routers build
//! trees hop by hop, and a name resolution system maps a group to its tree nodes.
//!
//! All state is soft state: it is refreshed every [`Config::refresh`] and expires otherwise. A router that loses its
//! tables restores them from its neighbours within one refresh, and lost signals are corrected in the same way.
//!
//! [`Attachment`] is the part at hosts, [`Router`] the part at tree nodes, [`Resolver`] the name resolution system.

mod attachment;
mod config;
mod resolver;
mod router;
#[cfg(test)]
mod tests;

pub use attachment::Attachment;
pub use config::Config;
pub use resolver::Resolver;
pub use router::{GroupPart, Router};
