//! Software-defined networking: the messages of a controller and its agents, and the part of a scheme in the
//! controller.
//!
//! An agent represents the controller at a node: it measures the node's ports, reports, and executes commands. An
//! [`App`] decides; it has the controller's view of the network ([`Net`], [`Cache`]) and sends [`Command`]s. All
//! messages are packets, which can be late or lost; an app has no access to nodes.

mod app;
mod messages;
mod share;
mod view;

pub use app::{App, AppCx, Requirements, ambassador_impl_App};
pub use messages::{Command, Control, Hop, Hops, MILLION, Status, Subject, Traffic};
pub use share::Share;
pub use view::{Cache, CachedStatus, DirectedLink, HopTable, Net};
