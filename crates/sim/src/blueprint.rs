//! The blueprint of a world: plain data, validated, with every default filled in. `lab` writes it, [`crate::World`]
//! reads it.

use std::fmt;
use std::sync::Arc;

use contract::{
    Destination, Endpoint, FlowId, LinkId, NameId, Names, NodeId, ParamError, ParamList, QueueLimit,
};
use ecow::EcoString;
use stack::datagram::DurationDistribution;
use stack::log::Log;
use stack::queue::DisciplineSpec;
use stack::quic::FlowControl;
use stack::stream::{EncoderModel, Video};
use stack::{app, datagram, icn, ndn, sdn, stream, tcp};
use units::{Bytes, Drift, Duration, Offset, Rate, Time};

use crate::RateTrace;

mod impair;
mod shared;

pub use impair::{GilbertElliott, Impair, Jitter, Reorder, TokenBucket};
pub use shared::Shared;

/// The description of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Blueprint {
    /// Root of every random stream.
    pub seed: u64,
    /// When the run ends.
    pub duration: Duration,
    /// Summaries exclude the time before this.
    pub warmup: Duration,
    /// Names of nodes; a [`NodeId`] is an index here. A name of up to fifteen bytes takes no memory beside its own
    /// sixteen.
    pub nodes: Vec<EcoString>,
    /// Clocks with an offset or drift, at most one per node.
    pub clocks: Vec<ClockSpec>,
    /// Links; a [`LinkId`] is an index here.
    pub links: Vec<LinkSpec>,
    /// What a shortest path minimises.
    pub metric: Metric,
    /// Seed of the choice among paths of equal cost.
    pub ecmp_seed: u64,
    /// Routes that override the shortest path.
    pub routes: Vec<RouteSpec>,
    /// The name-based network, if there is one.
    pub icn: Option<IcnSpec>,
    /// Named data networking, if there is any.
    pub ndn: Option<NdnSpec>,
    /// The SDN controller and its agents, if there is one.
    pub sdn: Option<SdnSpec>,
    /// Flows; a [`FlowId`] is an index here.
    pub flows: Vec<FlowSpec>,
    /// Applications that request data over some of the flows.
    pub apps: Vec<AppSpec>,
    /// Changes during the run, in any order.
    pub events: Vec<(Time, Change)>,
    /// What is recorded.
    pub record: Record,
    /// Settings of an emulation.
    pub emulation: Emulation,
}

/// The nodes of a name-based network, and their signalling.
#[derive(Clone, Debug, PartialEq)]
pub struct IcnSpec {
    /// The node that runs the name resolution system.
    pub resolver: NodeId,
    /// Nodes that route by name as well as by address, sorted. All others route by address only.
    pub routers: Vec<NodeId>,
    /// Settings of their signalling.
    pub config: icn::Config,
}

/// The forwarders and producers of named data.
#[derive(Clone, Debug, PartialEq)]
pub struct NdnSpec {
    /// Nodes with a forwarder, sorted; they include the nodes of consumers and producers. Interests and Data use links
    /// between two of them.
    pub nodes: Vec<NodeId>,
    /// The tree of names.
    pub names: Names,
    /// Producers. Several producers of a prefix serve the same content.
    pub producers: Vec<ProducerSpec>,
    /// The strategy of every node: one of [`ndn::strategies`], or a scheme with a strategy.
    pub strategy: String,
    /// Parameters of the strategy that are not default.
    pub strategy_params: ParamList,
    /// The scheme whose link part every node has; `None` for no link part.
    pub link: Option<String>,
    /// Parameters of the link part that are not default.
    pub link_params: ParamList,
    /// Settings of forwarders.
    pub config: ndn::Config,
    /// Content stores that differ from the store of `config`.
    pub stores: Vec<(NodeId, ndn::Store)>,
    /// Next hops that replace the metric's.
    pub routes: Vec<NameRoute>,
}

impl Default for NdnSpec {
    /// No nodes, producers or stores; the strategy is best route.
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

/// An SDN controller, its app, and the nodes with agents.
#[derive(Clone, Debug, PartialEq)]
pub struct SdnSpec {
    /// The node that runs the controller, and nothing else.
    pub controller: NodeId,
    /// Nodes with an agent, sorted.
    pub nodes: Vec<NodeId>,
    /// Whether the controller's links carry control messages only. Then no route uses them, and each message takes the
    /// link between its node and the controller. Otherwise control messages are routed like all packets.
    pub out_of_band: bool,
    /// The scheme that contains the control app.
    pub app: String,
    /// Parameters of the app that are not default.
    pub app_params: ParamList,
    /// Settings of the controller and its agents.
    pub config: sdn::Config,
}

/// A producer.
#[derive(Clone, Debug, PartialEq)]
pub struct ProducerSpec {
    /// Its node.
    pub node: NodeId,
    /// Its prefix and settings.
    pub config: ndn::ProducerConfig,
}

/// A next hop at `at` for Interests under `prefix`. It replaces all next hops of the metric for exactly this prefix at
/// this node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NameRoute {
    /// The node.
    pub at: NodeId,
    /// The prefix.
    pub prefix: NameId,
    /// Next node.
    pub via: NodeId,
    /// Cost of the path.
    pub cost: u64,
}

/// The clock of a node. Endpoints and routers there see only its time: their instants, deadlines and time stamps are by
/// this clock. Records are in true time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockSpec {
    /// The node.
    pub node: NodeId,
    /// Offset at the start of the run.
    pub offset: Offset,
    /// Drift.
    pub drift: Drift,
}

/// A link between two nodes.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkSpec {
    /// Its name.
    pub name: EcoString,
    /// Its two ends.
    pub ends: (NodeId, NodeId),
    /// From the first end to the second.
    pub forward: Shared<PortSpec>,
    /// From the second end to the first.
    pub backward: Shared<PortSpec>,
}

/// One direction of a link and the queue before it.
#[derive(Clone, Debug, PartialEq)]
pub struct PortSpec {
    /// Rate; the mean with a `trace`.
    pub rate: Rate,
    /// The trace that the rate follows; `None` for a constant rate. Events and commands of a controller do not change
    /// it.
    pub trace: Option<Arc<RateTrace>>,
    /// Propagation delay.
    pub delay: Duration,
    /// Probability of random loss of a packet on the link, independent of other packets.
    pub loss: f64,
    /// What else the link does to packets; `None` for nothing.
    pub impair: Option<Impair>,
    /// Packets that exceed this token bucket are dropped before the queue; `None` for no policer.
    pub policer: Option<TokenBucket>,
    /// Packets leave the queue when this token bucket has enough tokens; `None` for no shaper. It excludes a `trace`;
    /// events and commands of a controller do not change the rate of a link with a shaper.
    pub shaper: Option<TokenBucket>,
    /// The queue.
    pub queue: QueueSpec,
}

/// A queue. The limit excludes the packet in transmission.
#[derive(Clone, Debug, PartialEq)]
pub struct QueueSpec {
    /// The limit.
    pub limit: Limit,
    /// ECN-capable packets are marked if at least this many packets wait on arrival.
    pub mark_above: Option<u32>,
    /// Weights of the classes of deficit round robin, each with its own `limit`; empty for one FIFO.
    pub class_weights: Vec<u32>,
    /// A queue discipline other than drop-tail and classes. It excludes `mark_above` and classes.
    pub discipline: Option<DisciplineSpec>,
}

/// The limit of a queue.
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
    /// The sum of propagation delays; the number of links decides between equal sums.
    #[default]
    Delay,
    /// The number of links.
    Hops,
}

/// A pinned route: packets at `at` to `to` take the link to `via`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RouteSpec {
    /// The node.
    pub at: NodeId,
    /// Destination.
    pub to: NodeId,
    /// Next node.
    pub via: NodeId,
}

/// One sender with its receivers.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowSpec {
    /// Its name, unique.
    pub name: EcoString,
    /// The congestion controller: a scheme of the catalogue. `None` without congestion control.
    pub scheme: Option<Arc<str>>,
    /// Parameters of the scheme that are not default.
    pub params: ParamList,
    /// The protocol. Flows that are alike share it.
    pub kind: Shared<FlowKind>,
    /// The sender's node; the consumer's for named data.
    pub from: NodeId,
    /// The receivers. Empty for named data: a producer of the prefix answers, see [`NdnSpec::producers`].
    pub to: Vec<ReceiverSpec>,
    /// How its packets reach the receivers.
    pub cast: Cast,
    /// When it starts.
    pub start: Time,
    /// When it stops; [`Time::NEVER`] for the end of the run.
    pub stop: Time,
    /// If set, the sender stops and starts at random from `start` on.
    pub churn: Option<Box<Churn>>,
    /// Class in queues with classes.
    pub class: u8,
    /// What replaces its endpoints in an emulation.
    pub emulation: Option<Box<FlowEmulation>>,
}

/// An application: a client at the receiver of its flows, which are its connections. A flow of an application has the
/// start [`Time::NEVER`] and sends what was requested (a [`tcp::Demand::Limited`] rate of zero, or a
/// [`StackSpec::size`] of zero); its first request starts it.
#[derive(Clone, Debug, PartialEq)]
pub struct AppSpec {
    /// Its name, unique.
    pub name: String,
    /// Its connections, at least one; all lead to one node.
    pub flows: Vec<FlowId>,
    /// What it does.
    pub config: app::Config,
    /// When it starts.
    pub start: Time,
    /// When it begins nothing new; [`Time::NEVER`] for the end of the run.
    pub stop: Time,
    /// Size of a request on the wire.
    pub request: Bytes,
}

/// What replaces the endpoints of a flow in an emulation. A simulation ignores it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FlowEmulation {
    /// TCP of the kernel with this congestion control.
    Kernel(String),
    /// State machines as in the simulation, over UDP sockets, in real time.
    Live,
    /// Commands, one or both: the sender's is started with the flow, the receivers' at the beginning.
    Commands {
        /// At the sender's node.
        sender: Option<String>,
        /// At the receivers' nodes.
        receiver: Option<String>,
    },
}

/// Settings of an emulation. A simulation ignores them.
#[derive(Clone, Debug, PartialEq)]
pub struct Emulation {
    /// Nodes that are network namespaces, sorted: the ends of flows with an [`FlowEmulation`].
    pub real: Vec<NodeId>,
    /// A run is valid if at most one percent of the packets left later than this after their time.
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
    /// To the address of one receiver.
    #[default]
    Unicast,
    /// To a group, along a tree that the engine changes without delay.
    Multicast,
    /// To a group by its name, along a tree that the routers of [`Blueprint::icn`] build by signalling.
    Named,
}

/// One receiver of a flow.
#[derive(Clone, Debug, PartialEq)]
pub struct ReceiverSpec {
    /// Its node.
    pub node: NodeId,
    /// When it joins.
    pub start: Time,
    /// When it leaves; [`Time::NEVER`] for the end of the run.
    pub stop: Time,
    /// If set, it leaves and joins at random from `start` on.
    pub churn: Option<Box<Churn>>,
}

/// Random alternation of presence and absence.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Churn {
    /// Duration of a presence.
    pub on: DurationDistribution,
    /// Duration of an absence.
    pub off: DurationDistribution,
}

/// The protocol of a flow.
#[derive(Clone, Debug, PartialEq)]
pub enum FlowKind {
    /// TCP.
    Tcp(tcp::Config),
    /// A stream with feedback.
    Stream(stream::Config),
    /// A source of datagrams without congestion control.
    Datagram(datagram::Config),
    /// A consumer of named data, with or without a congestion controller.
    Ndn(ndn::ConsumerConfig),
    /// A transport stack that is not ours.
    Stack(StackSpec),
}

impl FlowKind {
    /// Whether it carries the frames of an encoder that follows its scheme, or the estimate of a stack for media.
    pub fn encodes(&self) -> bool {
        match self {
            Self::Stream(config) => config.video.as_ref().is_some_and(Video::follows),
            Self::Stack(stack) => stack.encoder.is_some(),
            _ => false,
        }
    }
}

/// A transport stack that is not ours, with real datagrams between one sender and one receiver.
#[derive(Clone, Debug, PartialEq)]
pub struct StackSpec {
    /// Its name.
    pub name: String,
    /// Its own congestion control; `None` if the flow's scheme takes that place.
    pub controller: Option<String>,
    /// Largest packet on the path, headers included.
    pub packet: Bytes,
    /// Payload to send; [`Bytes::UNLIMITED`] for no end; zero for what an application requests, see [`AppSpec`].
    pub size: Bytes,
    /// The encoder of a stack for media.
    pub encoder: Option<Encoder>,
    /// Flow control of a stack for QUIC.
    pub flow_control: FlowControl,
    /// Makes the two ends.
    pub ends: MakeEnds,
}

/// A video encoder whose rate follows the estimate of a stack for media.
#[derive(Clone, Debug, PartialEq)]
pub struct Encoder {
    /// The estimate at the start.
    pub start: Rate,
    /// Frames per second.
    pub frame_rate: u32,
    /// Sizes of frames.
    pub model: EncoderModel,
}

/// Makes an endpoint that is not built in, given its destination. It is called at every start of the flow.
pub type Factory = Box<dyn Fn(Destination) -> Box<dyn Endpoint + Send> + Send>;

/// The factories of the sender and of the receiver; or what is wrong with the parameters.
pub type Ends = Result<(Factory, Factory), ParamError>;

/// Makes the two ends of a flow over a [`StackSpec`]; the sender writes to the log, if there is one.
#[derive(Clone, Copy)]
pub struct MakeEnds(pub fn(&FlowSpec, &StackSpec, Option<&Log>) -> Ends);

impl fmt::Debug for MakeEnds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MakeEnds")
    }
}

impl PartialEq for MakeEnds {
    /// Two specifications of one stack make the same ends.
    fn eq(&self, _other: &Self) -> bool {
        true
    }
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
    /// A link goes up or down. Packets on it and in its queues are lost when it goes down.
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
    /// The mode of a flow's scheme changes.
    Mode(FlowId, String),
    /// A router of the name-based network loses its state.
    Reset(NodeId),
    /// The SDN controller stops (false), or restarts without state (true).
    Controller(bool),
}

/// What is recorded in addition to counters.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Record {
    /// Interval of samples; zero for none.
    pub every: Duration,
    /// Names of series: names of [`crate::SERIES`], and names that endpoints offer by [`contract::Cx::probe`].
    pub series: Vec<String>,
    /// The flows whose senders and receivers have series, in order; `None` for all.
    pub flows: Option<Vec<FlowId>>,
    /// Whether events of endpoints are recorded.
    pub events: bool,
    /// Whether every drop is recorded as an event, see [`crate::DROP_EVENTS`].
    pub drops: bool,
    /// Whether the distributions of the times that packets wait in queues are kept, and the distributions of one-way
    /// delays in large networks too, see [`crate::MANY_RECEIVERS`].
    pub distributions: bool,
    /// The time, from its start up to and without its end, in which each packet is recorded at the end of each link,
    /// and each drop.
    pub packets: Option<(Time, Time)>,
}

impl Record {
    /// Whether packets are recorded at `now`.
    pub(crate) fn has_packets_at(&self, now: Time) -> bool {
        self.packets.is_some_and(|(from, to)| from <= now && now < to)
    }
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
            ecmp_seed: 0,
            routes: Vec::new(),
            icn: None,
            ndn: None,
            sdn: None,
            flows: Vec::new(),
            apps: Vec::new(),
            events: Vec::new(),
            record: Record::default(),
            emulation: Emulation::default(),
        }
    }

    /// Number of endpoints: the endpoints of flows, and the producers of named data.
    pub(crate) fn endpoints(&self) -> usize {
        let producers = self.ndn.as_ref().map_or(0, |ndn| ndn.producers.len());
        producers + self.flows.iter().map(|flow| 1 + flow.to.len()).sum::<usize>()
    }

    /// Whether a link carries control messages only.
    pub(crate) fn is_control(&self, link: LinkId) -> bool {
        let ends = self.links[link.index()].ends;
        let separate = self.sdn.as_ref().filter(|sdn| sdn.out_of_band);
        separate.is_some_and(|sdn| ends.0 == sdn.controller || ends.1 == sdn.controller)
    }

    /// Adds a node.
    pub fn node(&mut self, name: &str) -> NodeId {
        self.nodes.push(name.into());
        NodeId(self.nodes.len() as u32 - 1)
    }

    /// Adds a link with the same properties in both directions.
    pub fn link(&mut self, name: &str, ends: (NodeId, NodeId), port: PortSpec) -> LinkId {
        let mut port = Shared::from(port);
        if let Some(last) = self.links.last() {
            port.share(&last.forward);
        }
        self.links.push(LinkSpec { name: name.into(), ends, forward: port.clone(), backward: port });
        LinkId(self.links.len() as u32 - 1)
    }

    /// Adds a flow that starts at once, to one receiver or to a group. Other properties can be set on the result.
    pub fn flow(
        &mut self,
        name: &str,
        scheme: Option<&str>,
        kind: FlowKind,
        from: NodeId,
        to: &[NodeId],
    ) -> &mut FlowSpec {
        let receiver = |&node| ReceiverSpec { node, start: Time::ZERO, stop: Time::NEVER, churn: None };
        let mut kind = Shared::from(kind);
        let mut scheme: Option<Arc<str>> = scheme.map(Arc::from);
        if let Some(last) = self.flows.last() {
            kind.share(&last.kind);
            if scheme == last.scheme {
                scheme.clone_from(&last.scheme);
            }
        }
        self.flows.push(FlowSpec {
            name: name.into(),
            scheme,
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
    /// The limit, per class if there are several, and the marking threshold.
    pub(crate) fn limit(&self) -> QueueLimit {
        let (packets, bytes) = match self.limit {
            Limit::Packets(packets) => (packets, Bytes::UNLIMITED),
            Limit::Bytes(bytes) => (u32::MAX, bytes),
        };
        QueueLimit { packets, bytes, mark_above: self.mark_above.unwrap_or(u32::MAX) }
    }
}

impl PortSpec {
    /// A lossless link with a drop-tail queue of this many packets.
    pub const fn new(rate: Rate, delay: Duration, packets: u32) -> Self {
        let queue = QueueSpec {
            limit: Limit::Packets(packets),
            mark_above: None,
            class_weights: Vec::new(),
            discipline: None,
        };
        Self { rate, trace: None, delay, loss: 0.0, impair: None, policer: None, shaper: None, queue }
    }
}
