//! Named data: forwarders, producers, and whether consumers can reach them.

use std::collections::{BTreeMap, BTreeSet};

use contract::{NameId, NodeId, ParamList};
use sim::{FlowKind, NameRoute, NdnSpec, ProducerSpec};
use stack::ndn;
use units::{Bytes, Duration};

use super::flows::Traffic;
use super::icn::IcnNet;
use super::sdn::controller;
use crate::resolve::params::PartParams;
use crate::schema::file::{File, Flow, NetworkWord};
use crate::schema::ndn::{LinkName, Ndn, NodeStore, Prefix, Producer};
use crate::schema::params::{Params, resolved};
use crate::schema::read::{At, Field, Notes, shortened, suggestion};
use crate::schema::tree::Place;
use crate::topology::Net;

/// Most producers, and most routes of names.
const MAX: usize = 100_000;

/// What a plan says of named data.
pub(crate) struct NdnNet {
    /// Forwarders and producers; `None` where there are none, or where something about them is noted.
    pub(crate) spec: Option<NdnSpec>,
    /// What is served, in the order in which it is written.
    served: Vec<Served>,
    /// Defaults of consumers.
    pub(crate) interest: Bytes,
    pub(crate) lifetime: Duration,
    /// The link part that is written, if any is.
    pub(crate) link: Option<String>,
    /// Something about it is noted, so that what seems unknown may not be.
    partial: bool,
    /// The number of the connected part that each node belongs to, by links between forwarders.
    parts: Vec<usize>,
    /// Nodes of the producers of each prefix.
    producers: BTreeMap<NameId, Vec<NodeId>>,
    /// The prefixes that are served in each connected part.
    near: BTreeSet<(usize, NameId)>,
}

/// What the producers of one entry serve.
#[derive(Clone)]
pub(crate) struct Served {
    prefix: Prefix,
    pub(crate) payload: Bytes,
    pub(crate) data: Bytes,
    delay: Duration,
    nodes: Vec<At<String>>,
}

impl NdnNet {
    /// What the file says apart from places.
    pub(crate) fn read(file: &File, notes: &mut Notes) -> Self {
        let before = notes.count();
        let none = Ndn::default();
        let table = file.ndn.given().map_or(&none, |at| &at.value);
        let mut served: Vec<Served> = Vec::new();
        for producer in file.producers.given().map_or(&[][..], |list| &list.value) {
            let Some(one) = serves(producer, notes) else { continue };
            let same = served.iter().find(|other| other.prefix == one.prefix);
            if same.is_some_and(|other| (other.payload, other.data) != (one.payload, one.data)) {
                notes
                    .wrong(producer.place, format!("`{}` is served in Data of two sizes", one.prefix.0))
                    .hint("producers of one prefix serve the same content: give them the same `payload` and `data`");
            }
            served.push(one);
        }
        let tables = file.producers.given().map_or(&[][..], |list| &list.value);
        let unread = tables.iter().any(|table| table.prefix.is_wrong() || table.node.is_wrong());
        let partial = notes.count() > before || unread || file.producers.is_wrong() || file.ndn.is_wrong();
        Self {
            spec: None,
            served,
            interest: table.interest.or(ndn::INTEREST),
            lifetime: table.lifetime.or(Duration::from_secs(2)),
            link: table.link.given().map(|at| at.value.0.clone()),
            partial,
            parts: Vec::new(),
            producers: BTreeMap::new(),
            near: BTreeSet::new(),
        }
    }

    /// Who serves a prefix: the entry with the longest prefix that covers it; noted where there is none.
    pub(crate) fn server(&self, prefix: &At<Prefix>, notes: &mut Notes) -> Option<&Served> {
        let found = self.covering(&prefix.value);
        if found.is_none() && !self.partial {
            let known: BTreeSet<&str> = self.served.iter().map(|served| served.prefix.0.as_str()).collect();
            let nobody = "write a table [[producers]] with prefix and node".to_owned();
            notes
                .wrong(prefix.place, format!("nobody serves `{}`", shortened(&prefix.0)))
                .maybe(suggestion(&prefix.0, known).or(Some(nobody)));
        }
        found
    }

    fn covering(&self, prefix: &Prefix) -> Option<&Served> {
        let covers = self.served.iter().filter(|served| served.prefix.covers(prefix));
        covers.max_by_key(|served| served.prefix.0.len())
    }

    /// Nodes with a forwarder.
    pub(crate) fn nodes(&self) -> &[NodeId] {
        self.spec.as_ref().map_or(&[], |spec| &spec.nodes)
    }

    /// Whether a node has a forwarder, as far as that is known.
    pub(crate) fn knows(&self, node: NodeId) -> bool {
        self.partial || self.nodes().binary_search(&node).is_ok()
    }

    /// Places forwarders, producers, stores and routes.
    pub(crate) fn place(
        mut self,
        file: &File,
        flows: &[At<Flow>],
        net: &Net,
        icn: &IcnNet,
        notes: &mut Notes,
    ) -> Self {
        let before = notes.count();
        let none = Ndn::default();
        let asked = flows.iter().find(|flow| flow.network.or(NetworkWord::Ip) == NetworkWord::Ndn);
        let (table, place) = match (&file.ndn, file.producers.given(), asked) {
            (Field::Given(at), _, _) => (&at.value, at.place),
            (Field::Missing, Some(producers), _) => (&none, producers.place),
            (Field::Missing, None, Some(flow)) => (&none, flow.place),
            _ => return self,
        };
        // entries without flows, as a printed plan has them, need not say how nothing is asked for
        let some = flows.iter().any(|flow| flow.count.or(1) > 0);
        if some && flows.iter().all(|flow| flow.network.is_missing()) {
            notes.wrong(place, "no flow asks for named data").hint(
                "write network = \"ndn\" and a `prefix` in a flow, or leave [ndn] and [[producers]] out",
            );
        }
        let mut spec =
            NdnSpec { nodes: nodes(table, controller(file, net), net, icn, notes), ..NdnSpec::default() };
        spec.config.interest = self.interest;
        spec.config.dead_nonces = table.dead_nonces.or(spec.config.dead_nonces);
        spec.config.data = self.served.iter().map(|served| served.data).max().unwrap_or(spec.config.data);
        if let Some(store) = table.store.given() {
            spec.config.store = sized(store.over(LRU), &store.size, store.place, notes);
        }
        for store in table.stores.given().map_or(&[][..], |list| &list.value) {
            place_store(store, &mut spec, net, notes);
        }
        self.place_producers(&mut spec, net, notes);
        for route in table.routes.given().map_or(&[][..], |list| &list.value) {
            place_route(route, &mut spec, net, notes);
        }
        parts_in_forwarders(table, &mut spec, notes);
        self.parts = parts(&spec.nodes, net);
        for producer in &spec.producers {
            self.producers.entry(producer.config.prefix).or_default().push(producer.node);
            self.near.insert((self.parts[producer.node.index()], producer.config.prefix));
        }
        self.partial |= notes.count() > before || net.partial;
        if !self.partial {
            self.spec = Some(spec);
        }
        self
    }

    fn place_producers(&self, spec: &mut NdnSpec, net: &Net, notes: &mut Notes) {
        let mut taken = BTreeSet::new();
        for served in &self.served {
            for name in &served.nodes {
                let wild = name.contains('*');
                for node in forwarders_named(name, &spec.nodes, net, notes) {
                    let prefix = spec.names.intern(&served.prefix.0);
                    if !taken.insert((node, prefix)) {
                        if !wild {
                            let text = &served.prefix.0;
                            notes.wrong(name.place, format!("`{}` serves `{text}` already", shortened(name)));
                        }
                        continue;
                    }
                    let Served { payload, data, delay, .. } = *served;
                    let config = ndn::ProducerConfig { prefix, payload, data, delay };
                    spec.producers.push(ProducerSpec { node, config });
                }
            }
            if spec.producers.len() > MAX {
                let place = served.nodes.first().map_or(Place::default(), |at| at.place);
                notes.wrong(place, "too many producers").hint(format!("at most {MAX}"));
                return;
            }
        }
    }

    /// Whether a consumer can reach who serves its prefix; noted where it cannot.
    pub(crate) fn reach(&self, table: &At<Flow>, from: NodeId, net: &Net, notes: &mut Notes) -> bool {
        let (Some(spec), Some(prefix)) = (&self.spec, table.prefix.given()) else { return true };
        let place = table.from.given().map_or(table.place, |at| at.place);
        let name = &net.nodes[from.index()];
        if spec.nodes.binary_search(&from).is_err() {
            notes
                .wrong(place, format!("`{name}` does not forward named data"))
                .hint("a consumer's own node has a forwarder too: list it in ndn.nodes");
            return false;
        }
        let part = self.parts[from.index()];
        let serves = self.covering(&prefix.value).and_then(|served| spec.names.find(&served.prefix.0));
        if !serves.is_some_and(|prefix| self.near.contains(&(part, prefix))) {
            notes
                .wrong(place, format!("nobody who serves `{}` can be reached from `{name}`", prefix.0))
                .hint("join them by links between nodes of ndn.nodes");
            return false;
        }
        true
    }

    /// Gives the prefixes of consumers their numbers.
    pub(crate) fn intern(&mut self, traffic: &mut Traffic) {
        let Some(spec) = &mut self.spec else { return };
        for (flow, prefix) in &traffic.prefixes {
            if let FlowKind::Ndn(config) = &mut traffic.flows[flow.index()].kind {
                config.prefix = spec.names.intern(&prefix.0);
            }
        }
    }

    /// Nodes that serve what a consumer asks for: those of the longest prefix.
    pub(crate) fn servers(&self, prefix: NameId) -> &[NodeId] {
        let Some(spec) = &self.spec else { return &[] };
        let mut above = std::iter::successors(Some(prefix), |at| spec.names.parent(*at));
        above.find_map(|at| self.producers.get(&at)).map_or(&[], Vec::as_slice)
    }
}

/// Hosts of a dumbbell that producers are at.
pub(crate) fn nodes_named(file: &File) -> impl Iterator<Item = &At<String>> {
    let producers = file.producers.given().into_iter().flat_map(|list| &list.value);
    producers.filter_map(|producer| producer.node.given()).flat_map(|node| &node.0)
}

fn serves(producer: &At<Producer>, notes: &mut Notes) -> Option<Served> {
    let of = "a producer";
    let prefix = producer.prefix.required("prefix", of, producer.place, notes);
    let node = producer.node.required("node", of, producer.place, notes);
    if let Some(node) = node
        && node.0.is_empty()
    {
        notes.wrong(node.place, "a producer needs a node").hint("name at least one");
    }
    let payload = producer.payload.or(Bytes::new(1024));
    let usual = ndn::ProducerConfig {
        prefix: NameId(0),
        payload,
        data: payload + ndn::OVERHEAD,
        delay: Duration::ZERO,
    };
    let ndn::ProducerConfig { data, delay, .. } = producer.over(usual);
    if data < payload {
        let place = producer.data.given().map_or(producer.place, |at| at.place);
        notes
            .wrong(place, format!("Data of {data} have no room for a payload of {payload}"))
            .hint("`data` is the size on the wire, name and signature included");
        return None;
    }
    Some(Served { prefix: prefix?.value.clone(), payload, data, delay, nodes: node?.0.clone() })
}

fn no_forwarder(name: &At<String>, notes: &mut Notes) {
    notes
        .wrong(name.place, format!("`{}` does not forward named data", shortened(name)))
        .hint("list it in ndn.nodes, or leave `nodes` out");
}

/// Nodes with a forwarder, in ascending order.
fn nodes(table: &Ndn, controller: Option<NodeId>, net: &Net, icn: &IcnNet, notes: &mut Notes) -> Vec<NodeId> {
    let by_name: BTreeSet<NodeId> = icn.nodes().collect();
    let free = |node: &NodeId| !by_name.contains(node) && Some(*node) != controller;
    let mut set = BTreeSet::new();
    let Some(list) = table.nodes.given() else {
        return (0..net.nodes.len() as u32).map(NodeId).filter(free).collect();
    };
    for name in &list.value {
        if name.contains('*') {
            let found = net.matching(name);
            if found.is_empty() {
                net.no_match(name, notes);
            }
            set.extend(found.into_iter().filter(free));
            continue;
        }
        let Some(node) = net.find_node(name, notes) else { continue };
        if Some(node) == controller {
            notes
                .wrong(name.place, format!("`{}` is the controller of [sdn]", shortened(name)))
                .hint("it forwards nothing; leave it out here, or take another node there");
        } else if !free(&node) {
            notes
                .wrong(name.place, format!("`{}` is a node of [icn]", shortened(name)))
                .hint("a node routes by name in one way only; leave it out here or there");
        }
        set.insert(node);
    }
    set.into_iter().collect()
}

/// A content store where the scenario does not say its policy; its size has no default.
const LRU: ndn::Store = ndn::Store { policy: ndn::Policy::Lru, size: 0 };

/// The store, noted where it has no `size` and needs one.
fn sized(store: ndn::Store, size: &Field<u32>, place: Place, notes: &mut Notes) -> ndn::Store {
    if store.policy != ndn::Policy::None {
        size.required("size", "a content store", place, notes);
    }
    store
}

/// The forwarders that a name or a pattern means. A name that means none is a mistake, a pattern passes over other nodes.
fn forwarders_named(name: &At<String>, forwarders: &[NodeId], net: &Net, notes: &mut Notes) -> Vec<NodeId> {
    let wild = name.contains('*');
    let mut found = if wild { net.matching(name) } else { net.find_node(name, notes).into_iter().collect() };
    if wild && found.is_empty() {
        net.no_match(name, notes);
    }
    found.retain(|node| {
        let forwards = forwarders.binary_search(node).is_ok();
        if !forwards && !wild {
            no_forwarder(name, notes);
        }
        forwards
    });
    found
}

fn place_store(store: &At<NodeStore>, spec: &mut NdnSpec, net: &Net, notes: &mut Notes) {
    let made = sized(store.over(LRU), &store.size, store.place, notes);
    let Some(name) = store.node.required("node", "a content store", store.place, notes) else { return };
    for node in forwarders_named(name, &spec.nodes, net, notes) {
        // what is written later and names fewer nodes is meant
        spec.stores.retain(|(other, _)| *other != node);
        spec.stores.push((node, made));
    }
}

fn place_route(route: &At<crate::schema::ndn::NameRoute>, spec: &mut NdnSpec, net: &Net, notes: &mut Notes) {
    let of = "a route of a name";
    let prefix = route.prefix.required("prefix", of, route.place, notes);
    let mut node = |field: &Field<String>, key: &str| -> Option<(Place, NodeId)> {
        let name = field.required(key, of, route.place, notes)?;
        let node = net.find_node(name, notes)?;
        if spec.nodes.binary_search(&node).is_err() {
            no_forwarder(name, notes);
            return None;
        }
        Some((name.place, node))
    };
    let (at, via) = (node(&route.at, "at"), node(&route.via, "via"));
    let (Some(prefix), Some((_, at)), Some((place, via))) = (prefix, at, via) else { return };
    if !net.links.iter().any(|link| link.ends == (at, via) || link.ends == (via, at)) {
        let name = |id: NodeId| &net.nodes[id.index()];
        notes
            .wrong(place, format!("no link joins `{}` and `{}`", name(at), name(via)))
            .hint("`via` is the next node, not a later one");
        return;
    }
    let prefix = spec.names.intern(&prefix.0);
    let cost = u64::from(route.cost.or(0));
    if spec.routes.iter().any(|other| (other.at, other.prefix, other.via) == (at, prefix, via)) {
        notes.wrong(route.place, "there is such a route already").hint("write one of them");
        return;
    }
    if spec.routes.len() == MAX {
        notes.wrong(route.place, "too many routes").hint(format!("at most {MAX}"));
        return;
    }
    spec.routes.push(NameRoute { at, prefix, via, cost });
}

/// Strategy and link part, with their parameters.
fn parts_in_forwarders(table: &Ndn, spec: &mut NdnSpec, notes: &mut Notes) {
    if let Some(strategy) = table.strategy.given() {
        spec.strategy = strategy.value.0.clone();
    }
    if let Some(params) = given(&table.strategy_params, PartParams::of_strategy(&spec.strategy), notes) {
        spec.strategy_params = params;
    }
    spec.link = table.link.given().map(|at| at.value.0.clone()).filter(|name| name != LinkName::NONE);
    match &spec.link {
        Some(link) => {
            if let Some(params) = given(&table.link_params, PartParams::of_scheme(link), notes) {
                spec.link_params = params;
            }
        }
        None => {
            if let Some(params) = table.link_params.given().filter(|params| !params.0.is_empty()) {
                notes
                    .wrong(params.place, "`link_params` without a link part")
                    .hint("say which under `link`, or leave them out");
            }
        }
    }
}

/// The parameters that are not default; `None` when something is noted.
fn given(written: &Field<Params>, part: Option<PartParams>, notes: &mut Notes) -> Option<ParamList> {
    let part = part?;
    resolved(written, &part.name, &part.infos, part.resolve, notes)
}

/// The number of the connected part of each node, by links that join two of `nodes`; nodes without a forwarder are parts of their own.
fn parts(nodes: &[NodeId], net: &Net) -> Vec<usize> {
    let mut next: Vec<Vec<usize>> = vec![Vec::new(); net.nodes.len()];
    let forwards = |node: NodeId| nodes.binary_search(&node).is_ok();
    for link in net.links.iter().filter(|link| forwards(link.ends.0) && forwards(link.ends.1)) {
        next[link.ends.0.index()].push(link.ends.1.index());
        next[link.ends.1.index()].push(link.ends.0.index());
    }
    graph::components(next.len(), |node| next[node].iter().copied())
}
