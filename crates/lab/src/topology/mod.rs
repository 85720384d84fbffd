//! Topologies: the networks of `[topology]`, with names of nodes and links and positions of nodes in drawings.

mod changes;
mod custom;
mod generators;
mod graphml;
mod layout;
mod paths;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use contract::{LinkId, NodeId};
use indexmap::IndexMap;
use sim::RateTrace;
use units::{Duration, Rate};

use crate::schema::bucket::Bucket;
use crate::schema::file::{Kind, Topology};
use crate::schema::impair::Impair;
use crate::schema::keys::Keys;
use crate::schema::link::{Link, Port, Traces};
use crate::schema::read::{At, Field, Notes, nearest, shortened};
use crate::schema::trace::TraceKey;
use crate::schema::tree::Location;
use crate::schema::values::Buffer;
use crate::traces;

pub(crate) use paths::{Paths, PortIndex};

use changes::Template;

/// A network before relative units are resolved.
#[derive(Clone, Debug, Default)]
pub(crate) struct Net {
    pub(crate) nodes: Vec<String>,
    pub(crate) positions: Vec<(f64, f64)>,
    pub(crate) links: Vec<NetLink>,
    /// The traces that rates of links follow, each once.
    pub(crate) traces: Traces,
    /// An entry was rejected, so a node that seems unreachable may be reachable.
    pub(crate) partial: bool,
    /// A rejected entry may have named nodes, so a node that seems unknown may exist.
    nodes_lost: bool,
    /// A rejected entry may have named links, so a link that seems unknown may exist.
    links_lost: bool,
    /// The node whose links carry control messages only.
    pub(crate) control_node: Option<NodeId>,
    node_ids: IndexMap<String, NodeId>,
    link_ids: IndexMap<String, LinkId>,
}

/// A link before relative units are resolved. Consecutive links with equal directions share them.
#[derive(Clone, Debug)]
pub(crate) struct NetLink {
    pub(crate) name: String,
    pub(crate) ends: (NodeId, NodeId),
    pub(crate) forward: Arc<NetPort>,
    pub(crate) backward: Arc<NetPort>,
}

/// One direction of a link before relative units are resolved.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct NetPort {
    /// Its keys: those that are written for it, or for its link, or else their defaults.
    pub(crate) keys: Port,
    /// The rate; with a trace, its mean.
    pub(crate) rate: Rate,
    /// The propagation delay, without that of a trace.
    pub(crate) delay: Duration,
    /// The shortest propagation delay of the trace, in addition; `None` if its trace has no delays.
    pub(crate) trace_delay: Option<Duration>,
    /// The place of its buffer in the file, or of the link.
    pub(crate) location: Location,
}

impl NetPort {
    /// A direction with these keys, whose rate and delay are known.
    pub(crate) fn new(keys: Port, rate: Rate, delay: Duration, location: Location) -> Self {
        Self { keys: keys.over(Port::defaults()), rate, delay, trace_delay: None, location }
    }

    /// The queue limit.
    pub(crate) fn buffer(&self) -> Buffer {
        self.keys.buffer.or(*Port::defaults().buffer.resolved())
    }

    /// The rate at which its queue is served.
    pub(crate) fn served(&self) -> Rate {
        self.keys.shaping().map_or(self.rate, |shaper| shaper.rate.min(self.rate))
    }

    /// The shortest propagation delay of a packet.
    pub(crate) fn shortest(&self) -> Duration {
        self.delay + self.trace_delay.unwrap_or(Duration::ZERO)
    }
}

impl Net {
    pub(crate) fn node(&self, name: &str) -> Option<NodeId> {
        self.node_ids.get(name).copied()
    }

    /// The name of a node in a key.
    pub(crate) fn name(&self, node: NodeId) -> Field<String> {
        self.nodes[node.index()].clone().into()
    }

    /// The names of nodes, as a key lists them.
    pub(crate) fn list(&self, nodes: impl IntoIterator<Item = NodeId>) -> Field<Vec<At<String>>> {
        Field::list(nodes.into_iter().map(|node| self.nodes[node.index()].clone()))
    }

    pub(crate) fn link(&self, name: &str) -> Option<LinkId> {
        self.link_ids.get(name).copied()
    }

    /// The node called `name`. Reports an unknown name, unless a rejected entry may have named it.
    pub(crate) fn find_node(&self, name: &At<String>, notes: &mut Notes) -> Option<NodeId> {
        let found = self.node(name);
        if found.is_none() && !self.nodes_lost {
            notes
                .wrong(name.location, format!("no node is called `{}`", shortened(name)))
                .maybe(self.node_hint(name));
        }
        found
    }

    /// Reports that no node matches a pattern, unless a rejected entry may have named one.
    pub(crate) fn no_match(&self, pattern: &At<String>, notes: &mut Notes) {
        if !self.nodes_lost {
            notes
                .wrong(pattern.location, format!("no node matches `{}`", shortened(pattern)))
                .maybe(self.node_hint(""));
        }
    }

    /// A hint for an unknown name: the closest node, or all nodes.
    fn node_hint(&self, name: &str) -> Option<String> {
        let names = || self.nodes.iter().map(String::as_str);
        match nearest(name, names()) {
            Some(near) => Some(format!("did you mean `{near}`?")),
            None => (!self.nodes.is_empty()).then(|| format!("nodes: {}", listed(names()))),
        }
    }

    /// The link called `name`. Reports an unknown name, unless a rejected entry may have named it.
    pub(crate) fn find_link(&self, name: &At<String>, notes: &mut Notes) -> Option<LinkId> {
        let found = self.link(name);
        if found.is_none() && !self.links_lost {
            notes
                .wrong(name.location, format!("no link is called `{}`", shortened(name)))
                .maybe(self.link_hint(name));
        }
        found
    }

    /// A hint for an unknown name: the closest link, or all links.
    pub(crate) fn link_hint(&self, name: &str) -> Option<String> {
        let names = || self.links.iter().map(|link| link.name.as_str());
        match nearest(name, names()) {
            Some(near) => Some(format!("did you mean `{near}`?")),
            None => (!self.links.is_empty()).then(|| format!("links: {}", listed(names()))),
        }
    }

    /// Whether all nodes are known, because no rejected entry may have named one.
    pub(crate) fn knows_all_nodes(&self) -> bool {
        !self.nodes_lost
    }

    /// Whether all links are known, because no rejected entry may have named one.
    pub(crate) fn knows_all_links(&self) -> bool {
        !self.links_lost
    }

    /// Nodes whose names match a pattern, in which `*` stands for any characters, in the order of nodes.
    pub(crate) fn matching(&self, pattern: &str) -> Vec<NodeId> {
        (0u32..)
            .zip(&self.nodes)
            .filter(|(_, name)| matches_pattern(pattern, name))
            .map(|(i, _)| NodeId(i))
            .collect()
    }

    /// Adds a node with a link from `at`, drawn beside it. Node and link have the given names, or the first free ones
    /// with a number.
    pub(crate) fn add_leaf(&mut self, at: NodeId, names: (&str, &str), port: &NetPort) -> NodeId {
        let location = layout::beside(self, at);
        let leaf = self.add_node(free(names.0, |name| self.node(name).is_some()), location);
        let link = free(names.1, |name| self.link(name).is_some());
        self.add_link(link, (at, leaf), &(port.clone(), port.clone()));
        leaf
    }

    /// Adds a node with a link to each of `nodes`, drawn above them. Node and links have the given names, or the first
    /// free ones with a number; the link of a node `r1` is `control-r1`.
    pub(crate) fn add_hub(&mut self, nodes: &[NodeId], names: (&str, &str), port: &NetPort) -> NodeId {
        let hub = free(names.0, |name| self.node(name).is_some());
        let hub = self.add_node(hub, (0.5, 0.0));
        for &node in nodes {
            let name = format!("{}-{}", names.1, self.nodes[node.index()]);
            let name = free(&name, |name| self.link(name).is_some());
            self.add_link(name, (hub, node), &(port.clone(), port.clone()));
        }
        hub
    }

    fn add_node(&mut self, name: impl Into<String>, position: (f64, f64)) -> NodeId {
        let (name, id) = (name.into(), NodeId(self.nodes.len() as u32));
        self.node_ids.insert(name.clone(), id);
        self.nodes.push(name);
        self.positions.push(position);
        id
    }

    fn add_link(&mut self, name: impl Into<String>, ends: (NodeId, NodeId), ports: &(NetPort, NetPort)) {
        let name = name.into();
        self.link_ids.insert(name.clone(), LinkId(self.links.len() as u32));
        let last = self.links.last();
        let shared = |last: Option<&Arc<NetPort>>, port: &NetPort| {
            last.filter(|last| ***last == *port).cloned().unwrap_or_else(|| Arc::new(port.clone()))
        };
        let forward = shared(last.map(|last| &last.forward), &ports.0);
        let backward = shared(last.map(|last| &last.backward), &ports.1);
        self.links.push(NetLink { name, ends, forward, backward });
    }
}

/// The first free name of `name`, `name2`, `name3` ….
fn free(name: &str, taken: impl Fn(&str) -> bool) -> String {
    let numbered = (2..).map(|n| format!("{name}{n}"));
    let found = std::iter::once(name.to_owned()).chain(numbered).find(|name| !taken(name));
    found.expect("there are more numbers than names")
}

/// A list of names for messages. Consecutive numbered names are shortened: `left1 … left12`.
pub(crate) fn listed<'a>(names: impl Iterator<Item = &'a str>) -> String {
    /// Maximum number of names, or of shortened rows, in a list.
    const SHOWN: usize = 24;
    /// First and last name of a row, and the stem and number of the last if it has a number.
    struct Row<'a>(&'a str, &'a str, Option<(&'a str, u64)>);
    let mut rows: Vec<Row<'_>> = Vec::new();
    for name in names {
        let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
        let number = name[stem.len()..].parse::<u64>().ok().map(|number| (stem, number));
        match (rows.last_mut(), number) {
            (Some(Row(_, last, Some((of, at)))), Some((stem, number)))
                if *of == stem && *at + 1 == number =>
            {
                (*last, *at) = (name, number);
            }
            _ => rows.push(Row(name, name, number)),
        }
    }
    let more = rows.len().saturating_sub(SHOWN);
    let shown = rows.iter().take(SHOWN).map(|Row(first, last, _)| match first == last {
        true => (*first).to_owned(),
        false => format!("{first} … {last}"),
    });
    let mut text = shown.collect::<Vec<_>>().join(", ");
    if more > 0 {
        text.push_str(&format!(" and {more} more"));
    }
    text
}

/// Whether `name` is `pattern`, where each `*` stands for any characters.
pub(crate) fn matches_pattern(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = name.strip_prefix(first) else { return false };
    let mut parts = parts.peekable();
    if parts.peek().is_none() {
        return rest.is_empty();
    }
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return rest.ends_with(part);
        }
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    true
}

/// The network of a scenario. `pairs` is the number of host pairs that the flows of a dumbbell need; paths are relative
/// to `folder`.
pub(crate) fn build(topology: &At<Topology>, pairs: u32, folder: &Path, notes: &mut Notes) -> Option<Net> {
    let kind = topology.kind.required("kind", "a topology", topology.location, notes)?.value;
    refuse_foreign_keys(topology, kind, notes);
    let before = notes.count();
    let mut net = match kind {
        Kind::Custom => custom::build(topology, notes),
        Kind::Graphml => graphml::build(topology, folder, notes),
        _ => generators::build(topology, kind, pairs, notes),
    }?;
    // only those of a custom topology name links and nodes that are nowhere else
    let lost = kind == Kind::Custom && topology.links.is_wrong();
    net.links_lost |= lost;
    net.nodes_lost |= lost;
    load_traces(&mut net, folder, notes);
    net.partial = notes.count() > before
        || matches!(topology.links, Field::Wrong)
        || topology
            .links
            .present()
            .is_some_and(|links| links.iter().any(|link| matches!(link.ends, Field::Wrong)));
    Some(net)
}

/// Loads the traces of links, and sets the rate of these links to the mean and their shortest delay.
fn load_traces(net: &mut Net, folder: &Path, notes: &mut Notes) {
    let mut loaded: BTreeMap<TraceKey, Option<Arc<RateTrace>>> = BTreeMap::new();
    for port in net.links.iter_mut().flat_map(|link| [&mut link.forward, &mut link.backward]) {
        let Some(source) = port.keys.trace.present() else { continue };
        let trace = loaded.entry(source.key()).or_insert_with(|| traces::load(source, folder, notes));
        if let Some(trace) = trace {
            let port = Arc::make_mut(port);
            port.rate = trace.mean();
            port.trace_delay = trace.has_delays().then(|| trace.min_delay());
        }
    }
    net.traces = loaded.into_iter().filter_map(|(key, trace)| Some((key, trace?))).collect();
}

fn refuse_foreign_keys(topology: &Topology, kind: Kind, notes: &mut Notes) {
    let known = kind.keys();
    for (key, location) in topology.written() {
        if key != "kind" && !known.contains(&key) {
            notes
                .wrong(location, format!("a {} has no `{key}`", kind.word()))
                .hint(format!("it takes {}", known.join(", ")));
        }
    }
}

/// Default values of a link.
#[derive(Clone, Copy, Default)]
struct Defaults {
    rate: Option<Rate>,
    delay: Option<Duration>,
    buffer: Option<Buffer>,
}

impl Defaults {
    /// Links between hosts and routers, which are no bottleneck.
    const EDGE: Self = Self {
        rate: Some(Rate::from_mbps(1000)),
        delay: Some(Duration::from_millis(1)),
        buffer: Some(Buffer::Packets(10_000)),
    };
}

/// A template, with placeholders for values that are reported. `at` is the place of the report if the template is
/// missing.
fn template(
    field: &Field<Link>,
    key: &'static str,
    defaults: Defaults,
    at: Location,
    notes: &mut Notes,
) -> Template {
    let none = || Link { location: at, ..Link::default() };
    let stand_in = |notes: &mut Notes| {
        let (link, defaults) = (none(), Defaults::EDGE);
        let ports = ports(&link, defaults, notes);
        Template { key, link, defaults, ports }
    };
    let written = match field {
        Field::Present(link) => link.value.clone(),
        // errors in it are reported already
        Field::Wrong => return stand_in(notes),
        Field::Missing if defaults.rate.is_some() => none(),
        Field::Missing => {
            notes.wrong(at, format!("this topology needs `{key}`")).hint(format!(
                "write {key} = {{ rate = \"10 Mbit/s\", delay = \"10 ms\", buffer = \"100 packets\" }}"
            ));
            return stand_in(notes);
        }
    };
    for (name, location) in written.written() {
        if matches!(name, "name" | "ends" | "like") {
            notes
                .wrong(location, format!("a template has no `{name}`"))
                .hint("links are named by the generator");
        }
    }
    let ports = ports(&written, defaults, notes);
    Template { key, link: written, defaults, ports }
}

/// Both directions of a link. A value that is reported is replaced by a placeholder, so that the link exists and
/// consequences of the error are not reported too.
fn ports(link: &Link, defaults: Defaults, notes: &mut Notes) -> (NetPort, NetPort) {
    let none = Port::default();
    let (there, back) = (&link.forward, link.backward.present().map_or(&none, |port| &*port.value));
    let traced = !there.trace.is_missing();
    let default_rate = if traced { Some(Rate::from_mbps(10)) } else { defaults.rate };
    let rate = required_value(&there.rate, default_rate, "rate", "10 Mbit/s", link.location, notes);
    one_rate(there, notes);
    one_rate(back, notes);
    let delay = required_value(&there.delay, defaults.delay, "delay", "10 ms", link.location, notes);
    let (rate, delay) = (rate.unwrap_or(Rate::from_mbps(10)), delay.unwrap_or(Duration::from_millis(10)));
    let location = location_of(&there.buffer).unwrap_or(link.location);
    let usual = Port { buffer: defaults.buffer.into(), ..Port::default() };
    let keys = checked(there, delay, notes).over(&usual).over(Port::defaults());
    let (back_rate, back_delay) = (back.rate.or(rate), back.delay.or(delay));
    let mut base = keys.clone();
    if back.has_rate() {
        (base.rate, base.trace) = (Field::Missing, Field::Missing);
    }
    let back_keys = checked(back, back_delay, notes).over(&base);
    let forward = NetPort::new(keys, rate, delay, location);
    let location = location_of(&back.buffer).unwrap_or(location);
    let backward = NetPort::new(back_keys, back_rate, back_delay, location);
    not_both(&forward.keys, location_of(&there.shaper), notes);
    not_both(&backward.keys, location_of(&back.shaper).or(location_of(&back.trace)), notes);
    one_rule(&forward.keys, there, notes);
    one_rule(&backward.keys, back, notes);
    (forward, backward)
}

/// The keys of a direction with this delay, without those that are wrong. Reports wrong ones.
fn checked(port: &Port, delay: Duration, notes: &mut Notes) -> Port {
    let mut keys = port.clone();
    if let Field::Present(table) = &mut keys.impair {
        table.check(delay, notes);
        table.value = Arc::new(table.to_spec().map_or_else(Impair::default, |spec| Impair::of_spec(&spec)));
    }
    Bucket::check(&port.policer, "a policer", notes);
    Bucket::check(&port.shaper, "a shaper", notes);
    check_classes(&port.classes, notes);
    keys
}

/// Reports a shaper together with a trace at the key of this direction. A shaper that `backward` takes from its link is
/// reported for the link.
fn not_both(keys: &Port, written: Option<Location>, notes: &mut Notes) {
    if let (Some(location), true) = (written, keys.shaping().is_some() && keys.trace.present().is_some()) {
        notes
            .wrong(location, "a link follows a `trace` or has a `shaper`, not both")
            .hint("leave one of them out; `backward` takes both from its link unless it sets shaper = {}");
    }
}

/// Reports a rate together with a trace of it.
fn one_rate(port: &Port, notes: &mut Notes) {
    if let (Some(rate), false) = (port.rate.present(), port.trace.is_missing()) {
        notes
            .wrong(rate.location, "a link has a `rate` or follows a `trace`, not both")
            .hint("leave one of them out; the trace contains the rate");
    }
}

/// Reports a queue discipline together with another rule, at the keys that are `written` for this direction. A rule that
/// `backward` takes from its link is reported for the link.
fn one_rule(keys: &Port, written: &Port, notes: &mut Notes) {
    let Some(discipline) = keys.queue.present().and_then(|queue| queue.0.as_ref()) else { return };
    let marks = keys.mark_above.present().is_some_and(|at| at.value.0.is_some());
    let rules = [
        ("mark_above", marks, "false", location_of(&written.mark_above)),
        ("classes", !keys.classes.items().is_empty(), "[]", location_of(&written.classes)),
    ];
    for (key, there, none, location) in rules {
        if let Some(location) = location_of(&written.queue).or(location).filter(|_| there) {
            notes.wrong(location, format!("`{}` has no `{key}`", discipline.name())).hint(format!(
                "leave one of them out; `backward` takes both from its link unless it sets {key} = {none}"
            ));
        }
    }
}

fn location_of<T>(field: &Field<T>) -> Option<Location> {
    field.present().map(|at| at.location)
}

/// The value of a key that every link needs. Reports a missing one.
fn required_value<T: Copy>(
    field: &Field<T>,
    default: Option<T>,
    key: &str,
    example: &str,
    at: Location,
    notes: &mut Notes,
) -> Option<T> {
    let found = field.present().map(|at| at.value).or(if field.is_missing() { default } else { None });
    if found.is_none() && field.is_missing() {
        notes.wrong(at, format!("a link needs `{key}`")).hint(format!("write {key} = \"{example}\""));
    }
    found
}

/// Reports weights of classes that are too many or out of range.
fn check_classes(field: &Field<Vec<At<u32>>>, notes: &mut Notes) {
    let Some(list) = field.present() else { return };
    if list.len() > 256 {
        notes.wrong(list.location, format!("{} classes are too many", list.len())).hint("at most 256");
    }
    for weight in list.iter() {
        if !(1..=10_000).contains(&weight.value) {
            notes
                .wrong(weight.location, format!("`{}` is out of range", weight.value))
                .hint("write a weight from 1 to 10000");
        }
    }
}

/// Whether a text is a valid name: letters, digits, `_`, `-` and `.`, at most 100 characters. Reports an invalid one.
pub(crate) fn check_name(name: &At<String>, of: &str, notes: &mut Notes) -> bool {
    let hint = "use letters, digits, `_`, `-` and `.`";
    if name.is_empty() {
        notes.wrong(name.location, format!("the name of {of} is empty")).hint(hint);
        return false;
    }
    if name.chars().count() > 100 {
        notes.wrong(name.location, format!("the name of {of} is longer than 100 characters")).hint(hint);
        return false;
    }
    if let Some(invalid) = name.chars().find(|c| !is_name(*c)) {
        notes.wrong(name.location, format!("the name of {of} cannot contain {}", quoted(invalid))).hint(hint);
        return false;
    }
    true
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '.')
}

fn quoted(c: char) -> String {
    if c == ' ' { "a space".to_owned() } else { format!("{c:?}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_in_a_pattern_stands_for_any_characters() {
        for (pattern, name, yes) in [
            ("leaf*", "leaf12", true),
            ("leaf*", "hub", false),
            ("*", "hub", true),
            ("l*f*2", "leaf12", true),
            ("l*f*3", "leaf12", false),
            ("leaf1", "leaf12", false),
            ("a*a", "a", false),
        ] {
            assert_eq!(matches_pattern(pattern, name), yes, "{pattern} {name}");
        }
    }
}
