//! An SDN controller and its agents over real sockets.
//!
//! The state machines are those of `stack::sdn`, the app is that of a scheme, and they decide as in the simulator. [`control`] runs the controller as
//! a process; it is configured with a network, and agents call it. An agent is in a forwarder ([`crate::forward`]); its half of the session is
//! `southbound.rs`. Both first agree on the identity of the agent, and on the numbers of ports and prefixes.

mod control;
mod southbound;
#[cfg(test)]
mod tests;

use std::fmt;
use std::net::SocketAddr;

use contract::{Meter, NameId, Net, NodeId, ParamError, ParamList, PortId};
use stack::sdn::Config;
use units::Bytes;
use wire::ndn::Name;
use wire::stream::{Prefix, Task};

use crate::{Limits, Refused, Secret, Traffic, Watch};

pub use control::control;
pub(crate) use southbound::{Received, SouthboundChannel};

/// What a controller is set up with.
#[derive(Clone, Debug, Default)]
pub struct Network {
    /// Nodes, links, who serves what, next hops.
    pub net: Net,
    /// Names of the nodes, by node: agents say at which they stand.
    pub nodes: Vec<String>,
    /// Names of links, by port: forwarders have links of these names.
    pub links: Vec<String>,
    /// Prefixes that somebody serves, as they are named outside.
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
            ports: own.iter().map(port).collect(),
            prefixes: self.prefixes.iter().map(prefix).collect(),
        }
    }
}

/// All that a controller is told before it begins.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The network.
    pub network: Network,
    /// The scheme whose part decides.
    pub app: String,
    /// Its parameters.
    pub app_params: ParamList,
    /// What the app assumes as the size of a Data packet on the wire.
    pub data: Bytes,
    /// Periods and times.
    pub config: Config,
    /// What only the controller and its agents know.
    pub secret: Secret,
    /// Times of sessions.
    pub limits: Limits,
    /// What the app's random stream begins with.
    pub seed: u64,
}

/// How a controller stands.
#[derive(Clone, Debug)]
pub struct Stats {
    /// Nodes with an agent.
    pub nodes: Vec<NodeStats>,
    /// What the machine and its app counted.
    pub meter: Meter,
    /// Orders that nobody has acknowledged yet.
    pub open_orders: usize,
    /// How often the machine began: once, and again each time that a forwarder had lost its orders.
    pub begun: u32,
    /// Callers that named a node without an agent.
    pub unknown: u64,
    /// All datagrams sent.
    pub sent: Traffic,
    /// All datagrams that came and were right.
    pub received: Traffic,
    /// Datagrams that came and were of no use.
    pub refused: Refused,
}

/// A node with an agent.
#[derive(Clone, Debug)]
pub struct NodeStats {
    /// Its name.
    pub name: String,
    /// Where its agent is; `None` where nothing is heard of it.
    pub at: Option<SocketAddr>,
    /// Load of each of its ports in the latest status, in millionths, by the names of their links.
    pub loads: Vec<(String, u32)>,
}

/// What another thread may ask of a controller that runs, and see of it.
pub type Control = Watch<Stats>;

/// Why there can be no such controller.
#[derive(Debug)]
pub enum Error {
    /// A parameter of the app is wrong.
    Param(ParamError),
    /// There is no scheme of that name with a part in controllers.
    NoApp(String),
    /// What this node has to be told does not fit into one datagram, or has names that are too long.
    TooLarge(String),
    /// A prefix has no name outside.
    NoName(NameId),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Param(error) => write!(f, "parameter `{}`: {}", error.name, error.message),
            Self::NoApp(name) => write!(f, "there is no scheme `{name}` with a part in controllers"),
            Self::TooLarge(node) => {
                write!(f, "node `{node}` has more links or prefixes than can be told, or longer names")
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
