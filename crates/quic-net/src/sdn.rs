//! An SDN controller and its agents over real sockets.
//!
//! The state machines of `stack::sdn` and the app of a scheme decide as in the simulator. [`control`] runs the
//! controller as a process; it is configured with a network, and agents connect to it. An agent is in a forwarder; its
//! end of the connection is [`SouthboundChannel`]. The southbound channel is a QUIC connection (RFC 9000);
//! [`wire::sdn`] has its messages.

mod controller;
mod southbound;
mod transport;

use std::fmt;
use std::net::SocketAddr;

use contract::{Meter, NameId, Net, NodeId, ParamError, ParamList, PortId};
use driver::Watch;
use stack::sdn::Config;
use units::Bytes;
use wire::ndn::Name;
use wire::sdn::{Prefix, Task};

use crate::{Credentials, Discarded, Limits, Traffic};

pub use controller::control;
pub use southbound::{Received, SouthboundChannel};

/// The configured network of a controller.
#[derive(Clone, Debug, Default)]
pub struct Network {
    /// Nodes, links, producers, next hops.
    pub net: Net,
    /// Names of the nodes, which agents announce.
    pub nodes: Vec<String>,
    /// Names of links, by port; forwarders have links with these names.
    pub links: Vec<String>,
    /// Names of producers' prefixes.
    pub prefixes: Vec<(NameId, Name)>,
}

impl Network {
    /// The node with an agent that has this name.
    fn agent(&self, name: &str) -> Option<NodeId> {
        let node = NodeId(self.nodes.iter().position(|known| known == name)? as u32);
        self.net.has_agent(node).then_some(node)
    }

    fn name(&self, node: NodeId) -> &str {
        self.nodes.get(node.index()).map_or("", String::as_str)
    }

    /// Whether a port belongs to a node.
    fn is_of(&self, port: PortId, node: NodeId) -> bool {
        self.net.link(port).is_some_and(|link| link.from == node)
    }

    /// What the agent at a node is to do.
    fn task(&self, node: NodeId, config: &Config, signal_above: Option<u32>) -> Task {
        let own = self.net.out.get(node.index()).map_or(&[][..], Vec::as_slice);
        let port = |port: &PortId| (*port, self.links.get(port.index()).cloned().unwrap_or_default());
        let prefix = |(id, name): &(NameId, Name)| Prefix {
            id: *id,
            name: name.clone(),
            hops: self.net.hops(node, *id).to_vec(),
        };
        Task {
            period: config.period,
            phase: config.phase,
            signal_above,
            detection: config.detection,
            ports: own.iter().map(port).collect(),
            prefixes: self.prefixes.iter().map(prefix).collect(),
        }
    }
}

/// The settings of a controller.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The network.
    pub network: Network,
    /// The scheme of the control app.
    pub app: String,
    /// Its parameters.
    pub app_params: ParamList,
    /// Assumed size of a Data packet on the wire.
    pub data: Bytes,
    /// Settings of the state machine.
    pub config: Config,
    /// What the controller shows, and which agents it accepts.
    pub credentials: Credentials,
    /// Timeouts of connections.
    pub limits: Limits,
    /// The seed of the app's random stream.
    pub seed: u64,
}

/// Counters of a controller.
#[derive(Clone, Debug)]
pub struct Stats {
    /// Nodes with an agent.
    pub nodes: Vec<NodeStats>,
    /// Counters of the state machine and its app.
    pub meter: Meter,
    /// Commands without an acknowledgement.
    pub open_commands: usize,
    /// Starts of the state machine: one, plus one per forwarder that had lost its commands.
    pub starts: u32,
    /// Agents that named a node without an agent.
    pub unknown: u64,
    /// All datagrams sent.
    pub sent: Traffic,
    /// All datagrams received.
    pub received: Traffic,
    /// Failed handshakes (`forged`), and messages that were not accepted.
    pub discarded: Discarded,
}

/// A node with an agent.
#[derive(Clone, Debug)]
pub struct NodeStats {
    /// Its name.
    pub name: String,
    /// Address of its agent; `None` if it is not connected.
    pub at: Option<SocketAddr>,
    /// Load of each of its ports in the latest status, in millionths, with the name of the link.
    pub loads: Vec<(String, u32)>,
}

/// A handle by which other threads observe and stop a controller.
pub type Control = Watch<Stats>;

/// Why a controller cannot be made.
#[derive(Debug)]
pub enum Error {
    /// A parameter of the app is invalid.
    Param(ParamError),
    /// There is no scheme with this name that has an app.
    NoApp(String),
    /// The task of this node is too long, or has names that are too long.
    TooLarge(String),
    /// A prefix has no name.
    NoName(NameId),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Param(error) => write!(f, "parameter `{}`: {}", error.name, error.message),
            Self::NoApp(name) => write!(f, "there is no scheme `{name}` with a part in controllers"),
            Self::TooLarge(node) => {
                write!(f, "node `{node}` has more links or prefixes than a task can have, or longer names")
            }
            Self::NoName(prefix) => write!(f, "prefix {} has no name", prefix.0),
        }
    }
}

impl std::error::Error for Error {}

impl From<ParamError> for Error {
    fn from(error: ParamError) -> Self {
        Self::Param(error)
    }
}
