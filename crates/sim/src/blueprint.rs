//! The blueprint of a world: plain data, already checked, every default filled in. `lab` writes it, [`crate::World`] reads it.

use contract::{FlowId, LinkId, NameId, Names, NodeId, ParamList, QueueLimit};
use stack::datagram::Spell;
use stack::queue::DisciplineSpec;
use stack::{datagram, icn, ndn, sdn, stream, tcp};
use units::{Bytes, Drift, Duration, Offset, Rate, Time};

/// A whole run, before it runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Blueprint {
    /// Root of every random stream.
    pub seed: u64,
    /// When the run ends.
    pub duration: Duration,
    /// Left out of every summary.
    pub warmup: Duration,
    /// Names of nodes; a [`NodeId`] is an index here.
    pub nodes: Vec<String>,
    /// Clocks of nodes that are not right, each node at most once.
    pub clocks: Vec<ClockSpec>,
    /// Links; a [`LinkId`] is an index here.
    pub links: Vec<LinkSpec>,
    /// What a shortest path minimises.
    pub metric: Metric,
    /// Routes that override the shortest path.
    pub routes: Vec<RouteSpec>,
    /// The name-based network, where there is one.
    pub icn: Option<IcnSpec>,
    /// Named data networking, where there is any.
    pub ndn: Option<NdnSpec>,
    /// An SDN controller and its agents, where there is one.
    pub sdn: Option<SdnSpec>,
    /// Flows; a [`FlowId`] is an index here.
    pub flows: Vec<FlowSpec>,
    /// What changes during the run, in any order.
    pub events: Vec<(Time, Change)>,
    /// What is recorded.
    pub record: Record,
    /// Settings of an emulation.
    pub emulation: Emulation,
}

/// Which nodes know names, and how they speak.
#[derive(Clone, Debug, PartialEq)]
pub struct IcnSpec {
    /// The node that runs the name resolution system.
    pub resolver: NodeId,
    /// Nodes that route by name as well as by address, in ascending order. All others route by address only.
    pub routers: Vec<NodeId>,
    /// Settings of their signalling.
    pub config: icn::Config,
}

/// Which nodes forward by hierarchical names, how, and who serves what.
#[derive(Clone, Debug, PartialEq)]
pub struct NdnSpec {
    /// Nodes with a forwarder, in ascending order; those of consumers and producers are among them. Packets by name travel over
    /// links between two of them.
    pub nodes: Vec<NodeId>,
    /// The tree of names.
    pub names: Names,
    /// Who serves what. Several producers of a prefix serve the same content.
    pub producers: Vec<ProducerSpec>,
    /// How next hops are chosen, at every node: one of [`ndn::strategies`], or a scheme that has such a part.
    pub strategy: String,
    /// Its parameters that are not default.
    pub strategy_params: ParamList,
    /// A scheme's part at the links, at every node.
    pub link: Option<String>,
    /// Its parameters that are not default.
    pub link_params: ParamList,
    /// Settings of forwarders.
    pub config: ndn::Config,
    /// Content stores that are not that of `config`.
    pub stores: Vec<(NodeId, ndn::Store)>,
    /// Next hops that take the place of those that the metric gives.
    pub routes: Vec<NameRoute>,
}

impl Default for NdnSpec {
    /// No nodes, no producers, no stores; the best route.
    fn default() -> Self {
        Self {
            nodes: Vec::new(),
            names: Names::new(),
            producers: Vec::new(),
            strategy: "best_route".to_owned(),
            strategy_params: Vec::new(),
            link: None,
            link_params: Vec::new(),
            config: ndn::Config::default(),
            stores: Vec::new(),
            routes: Vec::new(),
        }
    }
}

/// An SDN controller, its app, and the nodes that report to it.
#[derive(Clone, Debug, PartialEq)]
pub struct SdnSpec {
    /// The node that runs the controller; it does nothing else.
    pub controller: NodeId,
    /// Nodes with an agent, in ascending order.
    pub nodes: Vec<NodeId>,
    /// The controller's links carry control messages alone: no route leads over them, and each node is told by the link that joins it with
    /// the controller. Otherwise control messages are routed like all packets.
    pub out_of_band: bool,
    /// The control app: a scheme that has such a part.
    pub app: String,
    /// Its parameters that are not default.
    pub app_params: ParamList,
    /// Settings of the controller and its agents.
    pub config: sdn::Config,
}

/// A producer.
#[derive(Clone, Debug, PartialEq)]
pub struct ProducerSpec {
    /// Where.
    pub node: NodeId,
    /// What it serves and how.
    pub config: ndn::ProducerConfig,
}

/// A next hop at `at` for Interests under `prefix`. Where there is one, those that the metric gives for just this prefix do not
/// count at that node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NameRoute {
    /// Where.
    pub at: NodeId,
    /// The prefix.
    pub prefix: NameId,
    /// Next node.
    pub via: NodeId,
    /// What this way costs.
    pub cost: u64,
}

/// The clock of a node. Endpoints and routers there see only what it shows: their instants, deadlines and time stamps are its own.
/// What is recorded stays in true time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockSpec {
    /// Where.
    pub node: NodeId,
    /// How far it is off when the run starts.
    pub offset: Offset,
    /// How much too fast it runs.
    pub drift: Drift,
}

/// A wire between two nodes.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkSpec {
    /// Its name.
    pub name: String,
    /// Its two ends.
    pub ends: (NodeId, NodeId),
    /// From the first end to the second.
    pub forward: PortSpec,
    /// From the second end to the first.
    pub backward: PortSpec,
}

/// One direction of a link and the queue before it.
#[derive(Clone, Debug, PartialEq)]
pub struct PortSpec {
    /// Rate.
    pub rate: Rate,
    /// Propagation delay.
    pub delay: Duration,
    /// Probability that a packet is lost on the wire.
    pub loss: f64,
    /// The queue.
    pub queue: QueueSpec,
}

/// A queue. The packet being transmitted does not count against the limit.
#[derive(Clone, Debug, PartialEq)]
pub struct QueueSpec {
    /// How much may wait.
    pub limit: Limit,
    /// Packets that understand marks are marked when, on arrival, at least this many packets wait.
    pub mark_above: Option<u32>,
    /// Weights of the classes served by deficit round robin, each with `limit` of its own; empty for one FIFO.
    pub class_weights: Vec<u32>,
    /// A discipline with a rule of its own; `None` for drop-tail, or classes. Not with `mark_above`, and not with classes.
    pub discipline: Option<DisciplineSpec>,
}

/// How much may wait in a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Packets.
    Packets(u32),
    /// Bytes.
    Bytes(Bytes),
}

/// What a shortest path minimises.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Metric {
    /// The sum of propagation delays; hops decide between equals.
    #[default]
    Delay,
    /// The number of links.
    Hops,
}

/// Packets at `at` that go to `to` take the link to `via`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RouteSpec {
    /// Where.
    pub at: NodeId,
    /// Destination.
    pub to: NodeId,
    /// Next node.
    pub via: NodeId,
}

/// One sender and its receivers.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowSpec {
    /// Its name, unique.
    pub name: String,
    /// The congestion law: a scheme of the catalogue. `None` for datagram sources.
    pub scheme: Option<String>,
    /// The scheme's parameters that are not default.
    pub params: ParamList,
    /// The protocol.
    pub kind: FlowKind,
    /// The sender's node; the consumer's, where the flow is one of named data.
    pub from: NodeId,
    /// The receivers. None for a flow of named data: a producer of the prefix answers, see [`NdnSpec::producers`].
    pub to: Vec<ReceiverSpec>,
    /// How its packets reach the receivers.
    pub cast: Cast,
    /// When it starts.
    pub start: Time,
    /// When it stops; [`Time::NEVER`] for the end of the run.
    pub stop: Time,
    /// The sender stops and starts again at random, from `start` on.
    pub churn: Option<Churn>,
    /// Class in queues that have classes.
    pub class: u8,
    /// What takes the place of its endpoints when the network is emulated.
    pub emulation: Option<FlowEmulation>,
}

/// What takes the place of a flow's endpoints when the network is emulated. A simulation does not look at it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FlowEmulation {
    /// TCP of the kernel, with this congestion control.
    Kernel(String),
    /// The same state machines, over UDP sockets of the operating system, by its clock.
    Live,
    /// Commands, one or both: at the sender's node when the flow starts, at each receiver's from the beginning.
    Commands {
        /// At the sender's node.
        sender: Option<String>,
        /// At the receivers' nodes.
        receiver: Option<String>,
    },
}

/// Settings of an emulation. A simulation does not look at it.
#[derive(Clone, Debug, PartialEq)]
pub struct Emulation {
    /// Nodes that are namespaces of the host, in ascending order: the ends of flows with an [`FlowEmulation`].
    pub real: Vec<NodeId>,
    /// A run is valid when no more than a hundredth of the packets left later than this after their time.
    pub max_lateness: Duration,
}

impl Default for Emulation {
    /// No real nodes; 2 ms.
    fn default() -> Self {
        Self { real: Vec::new(), max_lateness: Duration::from_millis(2) }
    }
}

/// How a flow's packets reach its receivers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cast {
    /// To the one receiver's address.
    #[default]
    Unicast,
    /// To a group, along a tree that the engine grafts and prunes at once, everywhere.
    Multicast,
    /// To a group by its name, along a tree that routers of [`Blueprint::icn`] build by signalling over the network.
    Named,
}

/// One receiver of a flow.
#[derive(Clone, Debug, PartialEq)]
pub struct ReceiverSpec {
    /// Where.
    pub node: NodeId,
    /// When it joins.
    pub start: Time,
    /// When it leaves; [`Time::NEVER`] for the end of the run.
    pub stop: Time,
    /// It leaves and joins again at random, from `start` on.
    pub churn: Option<Churn>,
}

/// Random presence: on for a while, then off for a while, and so on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Churn {
    /// Time present.
    pub on: Spell,
    /// Time absent.
    pub off: Spell,
}

/// The protocol of a flow.
#[derive(Clone, Debug, PartialEq)]
pub enum FlowKind {
    /// TCP.
    Tcp(tcp::Config),
    /// A stream with feedback.
    Stream(stream::Config),
    /// A source without congestion control.
    Datagram(datagram::Config),
    /// A consumer of named data, with or without a congestion law.
    Ndn(ndn::ConsumerConfig),
}

/// A change during the run.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// A link's rate, both directions.
    LinkRate(LinkId, Rate),
    /// A link's propagation delay, both directions.
    LinkDelay(LinkId, Duration),
    /// A link's random loss, both directions.
    LinkLoss(LinkId, f64),
    /// A link goes up or down. What it holds when it goes down is lost.
    LinkUp(LinkId, bool),
    /// A route is pinned.
    Route(RouteSpec),
    /// A flow starts.
    FlowStart(FlowId),
    /// A flow stops.
    FlowStop(FlowId),
    /// The receiver of a flow at a node joins.
    Join(FlowId, NodeId),
    /// The receiver of a flow at a node leaves.
    Leave(FlowId, NodeId),
    /// A flow's scheme is told to change its mode.
    Mode(FlowId, String),
    /// A router of the name-based network loses its memory: its tables are empty.
    Reset(NodeId),
    /// The SDN controller dies, or comes back without memory.
    Controller(bool),
}

/// What is recorded beside the counters.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Record {
    /// Interval of the series; zero for none.
    pub every: Duration,
    /// Series by name: those of [`crate::SERIES`] that the engine measures, and any that endpoints offer by
    /// [`contract::Cx::probe`].
    pub series: Vec<String>,
    /// Whether events that endpoints report are kept.
    pub events: bool,
    /// Whether every drop is kept as an event: [`crate::DROP_EVENTS`].
    pub drops: bool,
    /// Whether it is kept how the delays of segments are distributed.
    pub distributions: bool,
}

impl Blueprint {
    /// An empty network that runs for `duration` with seed 1.
    pub fn new(duration: Duration) -> Self {
        Self {
            seed: 1,
            duration,
            warmup: Duration::ZERO,
            nodes: Vec::new(),
            clocks: Vec::new(),
            links: Vec::new(),
            metric: Metric::Delay,
            routes: Vec::new(),
            icn: None,
            ndn: None,
            sdn: None,
            flows: Vec::new(),
            events: Vec::new(),
            record: Record::default(),
            emulation: Emulation::default(),
        }
    }

    /// Whether a link carries control messages alone.
    pub(crate) fn is_control(&self, link: LinkId) -> bool {
        let ends = self.links[link.index()].ends;
        let apart = self.sdn.as_ref().filter(|sdn| sdn.out_of_band);
        apart.is_some_and(|sdn| ends.0 == sdn.controller || ends.1 == sdn.controller)
    }

    /// Adds a node.
    pub fn node(&mut self, name: &str) -> NodeId {
        self.nodes.push(name.to_owned());
        NodeId(self.nodes.len() as u32 - 1)
    }

    /// Adds a link that is the same in both directions.
    pub fn link(&mut self, name: &str, ends: (NodeId, NodeId), port: PortSpec) -> LinkId {
        let backward = port.clone();
        self.links.push(LinkSpec { name: name.to_owned(), ends, forward: port, backward });
        LinkId(self.links.len() as u32 - 1)
    }

    /// Adds a flow that starts at once: to one receiver, or to a group of several. The rest can be set on what it returns.
    pub fn flow(
        &mut self,
        name: &str,
        scheme: Option<&str>,
        kind: FlowKind,
        from: NodeId,
        to: &[NodeId],
    ) -> &mut FlowSpec {
        let receiver = |&node| ReceiverSpec { node, start: Time::ZERO, stop: Time::NEVER, churn: None };
        self.flows.push(FlowSpec {
            name: name.to_owned(),
            scheme: scheme.map(str::to_owned),
            params: Vec::new(),
            kind,
            from,
            to: to.iter().map(receiver).collect(),
            cast: if to.len() > 1 { Cast::Multicast } else { Cast::Unicast },
            start: Time::ZERO,
            stop: Time::NEVER,
            churn: None,
            class: 0,
            emulation: None,
        });
        self.flows.last_mut().expect("a flow was just added")
    }
}

impl QueueSpec {
    /// How much may wait, in each class where there are several, and when the queue marks.
    pub(crate) fn limit(&self) -> QueueLimit {
        let (packets, bytes) = match self.limit {
            Limit::Packets(packets) => (packets, Bytes::UNLIMITED),
            Limit::Bytes(bytes) => (u32::MAX, bytes),
        };
        QueueLimit { packets, bytes, mark_above: self.mark_above.unwrap_or(u32::MAX) }
    }
}

impl PortSpec {
    /// A lossless wire behind a drop-tail queue of this many packets.
    pub const fn new(rate: Rate, delay: Duration, packets: u32) -> Self {
        let queue = QueueSpec {
            limit: Limit::Packets(packets),
            mark_above: None,
            class_weights: Vec::new(),
            discipline: None,
        };
        Self { rate, delay, loss: 0.0, queue }
    }
}
