//! Multicast by name beside IP [SRMCC §3.1]: sources and members speak to their access routers, routers build trees hop by
//! hop, and a name resolution system says where a group's tree can be reached.
//!
//! All of it is soft state: what is held is repeated every [`Config::refresh`] and forgotten when it is not. A router that
//! loses its tables gets them back from its neighbours within one refresh, and what a lost packet spoils mends itself.
//!
//! [`Attachment`] is the host's side, [`Router`] the tree node's, [`Resolver`] the name resolution system's.

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
