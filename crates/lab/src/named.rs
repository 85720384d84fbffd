//! The tables of named data in a scenario file: forwarders, producers, consumers.

use schemars::{Schema, SchemaGenerator, json_schema};
use stack::ndn;
use toml::Spanned;
use toml::de::DeValue;
use units::{Bytes, Duration};

use crate::file::{count, share_of, within};
use crate::read::{At, Notes, Read, mismatch, shortened, span_of, tables, words};
use crate::values::{Params, Senders, known_name};

tables! {
    /// Forwarding of named data. Nodes with a forwarder pass Interests on towards producers, and Data back.
    pub(crate) struct Ndn = "named data networking" {
        /// Nodes with a forwarder, or patterns such as "r*"; those of consumers and producers must be among them. All nodes when not
        /// given, but those of [icn].
        nodes: Vec<At<String>>,
        /// What each forwarder keeps of the Data that pass; nothing when not given.
        store: Store,
        /// Stores of single nodes, instead of `store`.
        stores: Vec<At<NodeStore>>,
        /// How next hops are chosen: best_route, multicast, weighted, asf, or a scheme with such a part; best_route when not given.
        strategy: StrategyName,
        /// Parameters of the strategy that are not default.
        strategy_params: Params,
        /// A scheme's part at the links of every forwarder, which polices, shapes or stamps; "none" for none, also when not given.
        link: LinkName,
        /// Parameters of the link part that are not default.
        link_params: Params,
        /// How many nonces of ended Interests a forwarder remembers, to know a loop; 4096 when not given.
        dead_nonces: u32 where count(0, 1_000_000),
        /// Size of an Interest on the wire; 50 B when not given.
        interest: Bytes where within("1 B", "65535 B"),
        /// How long Interests stay pending; 2 s when not given.
        lifetime: Duration where within("1 ms", "4000000 s"),
        /// Next hops that take the place of those that the metric gives.
        routes: Vec<At<NameRoute>>,
    }

    /// A content store.
    pub(crate) struct Store = "a content store" {
        /// What goes when it is full; lru when not given.
        policy: PolicyWord,
        /// How many Data packets it holds.
        size: u32 where count(0, 1_000_000),
    }

    /// A content store of some nodes.
    pub(crate) struct NodeStore = "a content store of a node" {
        /// The node, or a pattern such as "r*".
        node: String,
        /// What goes when it is full; lru when not given.
        policy: PolicyWord,
        /// How many Data packets it holds.
        size: u32 where count(0, 1_000_000),
    }

    /// Interests at a node for a prefix may take the link to a neighbour.
    pub(crate) struct NameRoute = "a route of a name" {
        /// Where.
        at: String,
        /// The prefix.
        prefix: Prefix,
        /// Next node.
        via: String,
        /// What this way costs, compared with others from here; 0 when not given.
        cost: u32,
    }

    /// Who serves a prefix. Several producers of one prefix serve the same content.
    pub(crate) struct Producer = "a producer" {
        /// What it serves: this prefix and those below.
        prefix: Prefix,
        /// Its node, or a list of nodes or patterns such as "p*": a producer at each.
        node: Senders,
        /// Payload of a Data packet; 1024 B when not given.
        payload: Bytes where within("1 B", "65535 B"),
        /// Size of a Data packet on the wire; 76 B more than the payload when not given.
        data: Bytes where within("1 B", "65535 B"),
        /// Time from an Interest to its Data; none when not given.
        delay: Duration where within("0 s", "1000 s"),
    }

    /// Settings of a consumer; all have defaults.
    pub(crate) struct Consumer = "consumer settings" {
        /// Which segments it asks for; sequential when not given.
        pattern: PatternWord,
        /// batches: segments in a batch.
        batch: u32 where count(1, 1_000_000),
        /// batches: time from one to the next.
        every: Duration where within("1 us", "1000000000 s"),
        /// zipf: contents of the catalogue.
        contents: u32 where count(1, 1_000_000),
        /// zipf: segments of each content; 1 when not given.
        segments: u32 where count(1, 1_000_000),
        /// zipf: how steeply popularity falls, p(i) ∝ 1/(i + shift)^exponent; 1 when not given.
        exponent: f64 where share_of(0.0, 10.0),
        /// zipf: how flat it is at the top; 0 when not given.
        shift: f64 where share_of(0.0, 1e6),
        /// Its clock ticks so often: Interests wait for the next tick and leave back to back. 0 s, an exact clock, when not given.
        tick: Duration where within("0 s", "1000 s"),
        /// The clock ticks so long after each multiple of `tick`, less than `tick`; 0 s when not given.
        tick_phase: Duration where within("0 s", "1000 s"),
        /// Its node lets Interests go a random time of up to so long later, and those that are generated meanwhile with them; 0 s when not given.
        jitter: Duration where within("0 s", "1000 s"),
        /// Initial window in Data packets; 1 when not given.
        initial_window: u32 where count(1, 1_000_000),
        /// It understands marks; true when not given.
        marks: bool,
        /// How many windows of Data an episode lasts, in which congestion events count as one; 1, conservative window adaptation,
        /// when not given, 0 where every event is an episode of its own.
        episode: f64 where share_of(0.0, 100.0),
        /// What has to lie beyond the recovery point of a cut for the next one: `segment` or `highest`; segment when not given.
        episode_check: EpisodeWord,
        /// How often a segment is asked for again before it is given up; with 0 it is given up when its lifetime is over. No limit
        /// when not given, 0 for a source.
        retries: u32,
        /// Timeout before the first sample; 1 s when not given.
        initial_rto: Duration where within("1 us", "1000 s"),
        /// Least timeout; 200 ms when not given.
        min_rto: Duration where within("1 us", "1000 s"),
        /// Greatest timeout; 200 s when not given.
        max_rto: Duration where within("1 us", "100000 s"),
        /// Greatest factor by which expiries in a row lengthen the timeout, twice each; 64 when not given.
        rto_backoff: u32 where count(1, 1_000_000),
        /// Timers are looked at on multiples of this; 0 s where they are exact, 50 ms when not given.
        rto_scan: Duration where within("0 s", "1000 s"),
        /// How long its Interests stay pending; what [ndn] says when not given.
        lifetime: Duration where within("1 ms", "4000000 s"),
        /// Size of its Interests on the wire; what [ndn] says when not given.
        interest: Bytes where within("1 B", "65535 B"),
    }
}

words! {
    /// What a full content store forgets.
    pub(crate) enum PolicyWord = "a policy" {
        /// What was asked for least recently.
        Lru = "lru",
        /// What came first.
        Fifo = "fifo",
        /// There is no store.
        None = "none",
    }

    /// What has to lie beyond the recovery point of a cut, so that another congestion event may cut again.
    pub(crate) enum EpisodeWord = "a check of episodes" {
        /// The segment that was lost or refused; for a mark the highest segment that has come (ndn-tools since 22.12).
        Segment = "segment",
        /// The highest segment that has come, whatever was lost: a late loss of the same episode cuts again (ndnSIM 2.8).
        Highest = "highest",
    }

    /// Which segments a consumer asks for.
    pub(crate) enum PatternWord = "a pattern" {
        /// One after the other.
        Sequential = "sequential",
        /// One after the other, so many at once every so often.
        Batches = "batches",
        /// Whole contents of a catalogue, by their popularity.
        Zipf = "zipf",
    }
}

impl EpisodeWord {
    /// As a consumer is told.
    pub(crate) const fn check(self) -> ndn::EpisodeCheck {
        match self {
            Self::Segment => ndn::EpisodeCheck::Segment,
            Self::Highest => ndn::EpisodeCheck::Highest,
        }
    }

    /// The word for a check.
    pub(crate) const fn of(check: ndn::EpisodeCheck) -> Self {
        match check {
            ndn::EpisodeCheck::Segment => Self::Segment,
            ndn::EpisodeCheck::Highest => Self::Highest,
        }
    }
}

impl PolicyWord {
    /// As a forwarder is told.
    pub(crate) const fn policy(self) -> ndn::Policy {
        match self {
            Self::Lru => ndn::Policy::Lru,
            Self::Fifo => ndn::Policy::Fifo,
            Self::None => ndn::Policy::None,
        }
    }

    /// The word for a policy.
    pub(crate) const fn of(policy: ndn::Policy) -> Self {
        match policy {
            ndn::Policy::Lru => Self::Lru,
            ndn::Policy::Fifo => Self::Fifo,
            ndn::Policy::None => Self::None,
        }
    }
}

/// How forwarders of named data choose next hops: a strategy of the house, or a scheme with such a part.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct StrategyName(pub(crate) String);

impl StrategyName {
    fn known() -> Vec<&'static str> {
        let house = ndn::strategies::ALL.iter().map(|entry| entry.name);
        let schemes = schemes::catalogue().into_iter().filter(|entry| entry.strategy.is_some());
        house.chain(schemes.map(|entry| entry.scheme.name)).collect()
    }
}

impl Read for StrategyName {
    fn what() -> String {
        "the name of a strategy".to_owned()
    }
    fn example() -> String {
        "\"best_route\"".to_owned()
    }
    fn read(value: &Spanned<DeValue<'_>>, notes: &mut Notes) -> Option<Self> {
        known_name::<Self>(value, "strategy", &Self::known(), notes).map(Self)
    }
    fn schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "enum": Self::known() })
    }
}

/// A scheme with a part at the links of forwarders of named data; `none` for none.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LinkName(pub(crate) String);

impl LinkName {
    /// No such part.
    pub(crate) const NONE: &'static str = "none";

    fn known() -> Vec<&'static str> {
        let schemes = schemes::catalogue().into_iter().filter(|entry| entry.link.is_some());
        schemes.map(|entry| entry.scheme.name).chain([Self::NONE]).collect()
    }
}

impl Read for LinkName {
    fn what() -> String {
        "the name of a scheme".to_owned()
    }
    fn example() -> String {
        "\"none\"".to_owned()
    }
    fn read(value: &Spanned<DeValue<'_>>, notes: &mut Notes) -> Option<Self> {
        known_name::<Self>(value, "scheme with a part at links", &Self::known(), notes).map(Self)
    }
    fn schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "enum": Self::known() })
    }
}

/// Most components of a name.
const MOST_COMPONENTS: usize = 32;

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
    fn what() -> String {
        "a name".to_owned()
    }
    fn example() -> String {
        "\"/video\"".to_owned()
    }
    fn read(value: &Spanned<DeValue<'_>>, notes: &mut Notes) -> Option<Self> {
        let Some(text) = value.get_ref().as_str() else { return mismatch(value, notes) };
        let good = |component: &str| {
            !component.is_empty() && component.chars().all(|c| c.is_alphanumeric() || "-_.~+%=".contains(c))
        };
        let rest = text.strip_prefix('/');
        if rest.is_some_and(|rest| rest.split('/').count() > MOST_COMPONENTS) {
            notes
                .wrong(span_of(value), format!("`{}` has too many components", shortened(text)))
                .hint(format!("at most {MOST_COMPONENTS}"));
            return None;
        }
        if text == "/" || rest.is_some_and(|rest| rest.split('/').all(good)) {
            return Some(Self(text.to_owned()));
        }
        notes
            .wrong(span_of(value), format!("`{}` is no name of named data", shortened(text)))
            .hint("write components of letters, digits and -_.~+%= after slashes, such as \"/video/news\"");
        None
    }
    fn schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": "^/", "examples": ["/video", "/isp/news"] })
    }
}
