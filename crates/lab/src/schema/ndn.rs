//! The tables of named data in a scenario file: forwarders, producers, consumers.

use schemars::{Schema, SchemaGenerator, json_schema};
use stack::ndn;
use units::{Bytes, Duration};

use crate::schema::bounds::{count, share_of, within};
use crate::schema::params::Params;
use crate::schema::read::{At, Notes, Read, mismatch, shortened, tables, words};
use crate::schema::tree::Node;
use crate::schema::values::{Senders, known_name};

tables! {
    /// Named Data Networking. Nodes with a forwarder forward Interests towards producers, and Data back.
    pub(crate) struct Ndn = "named data networking" {
        /// Nodes with a forwarder, or patterns such as "r*"; the nodes of consumers and producers must be among them. Default: all
        /// nodes except those of [icn].
        nodes: Vec<At<String>>,
        /// Content store of each forwarder. Default: none.
        store: Store,
        /// Content stores of individual nodes, instead of `store`.
        stores: Vec<At<NodeStore>>,
        /// Forwarding strategy: best_route, multicast, weighted, asf, or a scheme that has a strategy. Default: best_route.
        strategy: StrategyName,
        /// Parameters of the strategy, where they differ from the default.
        strategy_params: Params,
        /// A scheme's link part, which polices, shapes or stamps at the links of every forwarder; "none": no scheme. Default:
        /// "none".
        link: LinkName,
        /// Parameters of the link part, where they differ from the default.
        link_params: Params,
        /// Size of the dead nonce list, by which a forwarder detects loops after Interests have ended. Default: 4096.
        dead_nonces: u32 where count(0, 1_000_000),
        /// Size of an Interest on the wire. Default: 50 B.
        interest: Bytes where within("1 B", "65535 B"),
        /// Interest lifetime: how long Interests stay pending. Default: 2 s.
        lifetime: Duration where within("1 ms", "4000000 s"),
        /// Static next hops, instead of those computed from the metric.
        routes: Vec<At<NameRoute>>,
    }

    /// A content store.
    pub(crate) struct Store = "a content store" {
        /// Replacement policy. Default: lru.
        policy: PolicyWord,
        /// Capacity in Data packets.
        size: u32 where count(0, 1_000_000),
    }

    /// The content store of individual nodes.
    pub(crate) struct NodeStore = "a content store of a node" {
        /// The node, or a pattern such as "r*".
        node: String,
        /// Replacement policy. Default: lru.
        policy: PolicyWord,
        /// Capacity in Data packets.
        size: u32 where count(0, 1_000_000),
    }

    /// A static next hop: Interests at a node for a prefix may take the link to a neighbour.
    pub(crate) struct NameRoute = "a route of a name" {
        /// The node.
        at: String,
        /// The prefix.
        prefix: Prefix,
        /// The next node.
        via: String,
        /// Cost of this next hop, compared with others of the node. Default: 0.
        cost: u32,
    }

    /// A producer of a prefix. Several producers of one prefix serve the same content.
    pub(crate) struct Producer = "a producer" {
        /// The prefix that it serves, with all names below it.
        prefix: Prefix,
        /// Its node, or a list of nodes or patterns such as "p*": one producer per node.
        node: Senders,
        /// Payload of a Data packet. Default: 1024 B.
        payload: Bytes where within("1 B", "65535 B"),
        /// Size of a Data packet on the wire. Default: payload + 76 B.
        data: Bytes where within("1 B", "65535 B"),
        /// Processing time from an Interest to its Data. Default: none.
        delay: Duration where within("0 s", "1000 s"),
    }

    /// Settings of a consumer. All have defaults.
    pub(crate) struct Consumer = "consumer settings" {
        /// Which segments it requests.
        pattern: PatternWord = "sequential",
        /// batches: segments per batch.
        batch: u32 where count(1, 1_000_000),
        /// batches: time between two batches.
        every: Duration where within("1 us", "1000000000 s"),
        /// zipf: number of contents in the catalogue.
        contents: u32 where count(1, 1_000_000),
        /// zipf: segments per content.
        segments: u32 = 1 where count(1, 1_000_000),
        /// zipf: exponent of the popularity, p(i) ∝ 1/(i + shift)^exponent.
        exponent: f64 = 1 where share_of(0.0, 10.0),
        /// zipf: shift of the Zipf–Mandelbrot distribution.
        shift: f64 = 0 where share_of(0.0, 1e6),
        /// Tick of a coarse clock: Interests wait for the next tick and leave back to back. Default: 0 s, an exact clock.
        tick: Duration where within("0 s", "1000 s"),
        /// Time of each tick after a multiple of `tick`; less than `tick`. Default: 0 s.
        tick_phase: Duration where within("0 s", "1000 s"),
        /// Maximum random delay that the node adds to departures of Interests; Interests generated in the meantime leave with the
        /// delayed one. Default: 0 s.
        jitter: Duration where within("0 s", "1000 s"),
        /// Initial window in Data packets. Default: 1.
        initial_window: u32 where count(1, 1_000_000),
        /// Reacts to congestion marks. Default: true.
        marks: bool,
        /// Length of a congestion episode in windows of Data; all congestion events of an episode count as one. 0: every event is
        /// its own episode. Default: 1 (conservative window adaptation).
        episode: f64 where share_of(0.0, 100.0),
        /// Which segment must lie beyond the recovery point before the window is reduced again: `segment` or `highest`. Default:
        /// segment.
        episode_check: EpisodeWord,
        /// Maximum retransmissions of the Interest for a segment; with 0 a segment is given up when its lifetime ends. Default: no
        /// limit; 0 for a source.
        retries: u32,
        /// Retransmission timeout before the first round-trip time sample. Default: 1 s.
        initial_rto: Duration where within("1 us", "1000 s"),
        /// Minimum retransmission timeout. Default: 200 ms.
        min_rto: Duration where within("1 us", "1000 s"),
        /// Maximum retransmission timeout. Default: 200 s.
        max_rto: Duration where within("1 us", "100000 s"),
        /// Maximum factor of exponential backoff. Default: 64.
        rto_backoff: u32 where count(1, 1_000_000),
        /// Granularity of the retransmission timer, which expires at multiples of this; 0 s: an exact timer. Default: 50 ms.
        rto_scan: Duration where within("0 s", "1000 s"),
        /// Lifetime of its Interests. Default: that of [ndn].
        lifetime: Duration where within("1 ms", "4000000 s"),
        /// Size of its Interests on the wire. Default: that of [ndn].
        interest: Bytes where within("1 B", "65535 B"),
    }
}

words! {
    /// Replacement policies of content stores.
    pub(crate) enum PolicyWord = "a policy" {
        /// Replaces the least recently used Data.
        Lru = "lru",
        /// Replaces the oldest Data.
        Fifo = "fifo",
        /// No content store.
        None = "none",
    }

    /// Which segment must lie beyond the recovery point before a congestion event reduces the window again.
    pub(crate) enum EpisodeWord = "a check of episodes" {
        /// The segment that was lost or NACKed; for a mark, the highest segment received (ndn-tools since 22.12).
        Segment = "segment",
        /// The highest segment received, whichever segment was lost: a late loss of the same episode reduces the window again
        /// (ndnSIM 2.8).
        Highest = "highest",
    }

    /// Which segments a consumer requests.
    pub(crate) enum PatternWord = "a pattern" {
        /// All segments in order.
        Sequential = "sequential",
        /// All segments in order, one batch per interval.
        Batches = "batches",
        /// Whole contents of a catalogue, chosen by popularity.
        Zipf = "zipf",
    }
}

/// How forwarders of named data choose next hops: a built-in strategy, or a scheme with such a part.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct StrategyName(pub(crate) String);

impl StrategyName {
    fn known_names() -> Vec<&'static str> {
        let built_in = ndn::strategies::ALL.iter().map(|entry| entry.name);
        let schemes = schemes::catalogue().into_iter().filter(|entry| entry.strategy.is_some());
        built_in.chain(schemes.map(|entry| entry.scheme.name)).collect()
    }
}

impl Read for StrategyName {
    fn description() -> String {
        "the name of a strategy".to_owned()
    }
    fn example() -> String {
        "\"best_route\"".to_owned()
    }
    fn read(node: &Node, notes: &mut Notes) -> Option<Self> {
        known_name::<Self>(node, "strategy", &Self::known_names(), notes).map(Self)
    }
    fn to_value(&self) -> toml::Value {
        self.0.to_value()
    }
    fn schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "enum": Self::known_names() })
    }
}

/// A scheme with a part at the links of forwarders of named data; `none` for none.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LinkName(pub(crate) String);

impl LinkName {
    /// No such part.
    pub(crate) const NONE: &'static str = "none";

    fn known_names() -> Vec<&'static str> {
        let schemes = schemes::catalogue().into_iter().filter(|entry| entry.link.is_some());
        schemes.map(|entry| entry.scheme.name).chain([Self::NONE]).collect()
    }
}

impl Read for LinkName {
    fn description() -> String {
        "the name of a scheme".to_owned()
    }
    fn example() -> String {
        "\"none\"".to_owned()
    }
    fn read(node: &Node, notes: &mut Notes) -> Option<Self> {
        known_name::<Self>(node, "scheme with a part at links", &Self::known_names(), notes).map(Self)
    }
    fn to_value(&self) -> toml::Value {
        self.0.to_value()
    }
    fn schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "enum": Self::known_names() })
    }
}

/// Maximum number of components of a name.
const MAX_COMPONENTS: usize = 32;

/// A hierarchical name: components, each after a slash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Prefix(pub(crate) String);

impl Prefix {
    /// Whether it is `other` or above it.
    pub(crate) fn covers(&self, other: &Self) -> bool {
        let rest = other.0.strip_prefix(self.0.as_str());
        self.0 == "/" || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }
}

impl Read for Prefix {
    fn description() -> String {
        "a name".to_owned()
    }
    fn example() -> String {
        "\"/video\"".to_owned()
    }
    fn read(node: &Node, notes: &mut Notes) -> Option<Self> {
        let Some(text) = node.text() else { return mismatch(node, notes) };
        let good = |component: &str| {
            !component.is_empty() && component.chars().all(|c| c.is_alphanumeric() || "-_.~+%=".contains(c))
        };
        let rest = text.strip_prefix('/');
        if rest.is_some_and(|rest| rest.split('/').count() > MAX_COMPONENTS) {
            notes
                .wrong(node.location, format!("`{}` has too many components", shortened(text)))
                .hint(format!("at most {MAX_COMPONENTS}"));
            return None;
        }
        if text == "/" || rest.is_some_and(|rest| rest.split('/').all(good)) {
            return Some(Self(text.to_owned()));
        }
        notes
            .wrong(node.location, format!("`{}` is no name of named data", shortened(text)))
            .hint("write components of letters, digits and -_.~+%= after slashes, such as \"/video/news\"");
        None
    }
    fn to_value(&self) -> toml::Value {
        self.0.to_value()
    }
    fn schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": "^/", "examples": ["/video", "/isp/news"] })
    }
}
