//! Named data: forwarders, producers, and whether consumers can reach them.

use std::collections::{BTreeMap, BTreeSet};

use contract::{NameId, NodeId};
use sim::NdnSpec;
use stack::ndn;
use units::{Bytes, Duration, graph};

use super::icn::IcnNet;
use super::params::PartParams;
use crate::schema::file::{File, Flow, NetworkWord};
use crate::schema::ndn::{
    LinkName, NameRoute, Ndn, NodeStore, PolicyWord, Prefix, Producer, Store, StrategyName,
};
use crate::schema::read::{At, Field, Notes, shortened, suggestion};
use crate::schema::tree::Location;
use crate::schema::values::Senders;
use crate::topology::Net;

/// Most producers, and most routes of names.
const MAX: usize = 100_000;

/// The NDN forwarders, producers and stores of a scenario.
pub(super) struct NdnNet {
    /// The resolved table; `None` where there is no named data, or where something about it is noted.
    pub(super) table: Option<Ndn>,
    /// The resolved tables of producers, one for each node, where there is named data.
    pub(super) producers: Option<Vec<At<Producer>>>,
    /// Nodes with a forwarder, in ascending order.
    nodes: Vec<NodeId>,
    /// The producers, in the order of the scenario.
    served: Vec<Served>,
    /// Defaults of consumers.
    pub(super) interest: Bytes,
    pub(super) lifetime: Duration,
    /// The link part that is written, if any is.
    pub(super) link: Option<String>,
    /// Something about it is noted, so that what seems unknown may not be.
    partial: bool,
    /// The number of the connected part that each node belongs to, by links between forwarders.
    parts: Vec<usize>,
    /// Nodes of the producers of each prefix.
    servers: BTreeMap<String, Vec<NodeId>>,
    /// The prefixes that are served in each connected part.
    near: BTreeSet<(usize, String)>,
}

/// What the producers of one entry serve: its table with every key, and the sizes that consumers need.
#[derive(Clone)]
pub(super) struct Served {
    table: Producer,
    prefix: Prefix,
    pub(super) payload: Bytes,
    pub(super) data: Bytes,
}

impl NdnNet {
    /// The table without locations.
    pub(super) fn read(file: &File, notes: &mut Notes) -> Self {
        let before = notes.count();
        let none = Ndn::default();
        let table = file.ndn.present().map_or(&none, |at| &at.value);
        let mut served: Vec<Served> = Vec::new();
        for producer in file.producers.items() {
            let Some(one) = serves(producer, notes) else { continue };
            let same = served.iter().find(|other| other.prefix == one.prefix);
            if same.is_some_and(|other| (other.payload, other.data) != (one.payload, one.data)) {
                notes
                    .wrong(producer.location, format!("`{}` is served in Data of two sizes", one.prefix.0))
                    .hint("give them the same `payload` and `data`: producers of one prefix serve the same content");
            }
            served.push(one);
        }
        let tables = file.producers.items();
        let unread = tables.iter().any(|table| table.prefix.is_wrong() || table.node.is_wrong());
        let partial = notes.count() > before || unread || file.producers.is_wrong() || file.ndn.is_wrong();
        Self {
            table: None,
            producers: None,
            nodes: Vec::new(),
            served,
            interest: table.interest.or(ndn::INTEREST),
            lifetime: table.lifetime.or(Duration::from_secs(2)),
            link: table.link.present().map(|at| at.value.0.clone()),
            partial,
            parts: Vec::new(),
            servers: BTreeMap::new(),
            near: BTreeSet::new(),
        }
    }

    /// The producers of a prefix: the entry with the longest matching prefix. Notes an error if there is none.
    pub(super) fn server(&self, prefix: &At<Prefix>, notes: &mut Notes) -> Option<&Served> {
        let found = self.covering(&prefix.value);
        if found.is_none() && !self.partial {
            let known: BTreeSet<&str> = self.served.iter().map(|served| served.prefix.0.as_str()).collect();
            let hint = "write a table [[producers]] with prefix and node".to_owned();
            notes
                .wrong(prefix.location, format!("no producer serves `{}`", shortened(&prefix.0)))
                .maybe(suggestion(&prefix.0, known).or(Some(hint)));
        }
        found
    }

    fn covering(&self, prefix: &Prefix) -> Option<&Served> {
        let covers = self.served.iter().filter(|served| served.prefix.covers(prefix));
        covers.max_by_key(|served| served.prefix.0.len())
    }

    /// Nodes with a forwarder.
    pub(super) fn nodes(&self) -> &[NodeId] {
        if self.table.is_some() { &self.nodes } else { &[] }
    }

    /// Whether a node has a forwarder, as far as that is known.
    pub(super) fn knows(&self, node: NodeId) -> bool {
        self.partial || self.nodes().binary_search(&node).is_ok()
    }

    /// Places forwarders, producers, stores and routes; `controller` is the node of an SDN controller, which forwards
    /// nothing.
    pub(super) fn place(
        mut self,
        file: &File,
        flows: &[At<Flow>],
        net: &Net,
        icn: &IcnNet,
        controller: Option<NodeId>,
        notes: &mut Notes,
    ) -> Self {
        let before = notes.count();
        let none = Ndn::default();
        let asked = flows.iter().find(|flow| flow.network.or(NetworkWord::Ip) == NetworkWord::Ndn);
        let (table, location) = match (&file.ndn, file.producers.present(), asked) {
            (Field::Present(at), _, _) => (&at.value, at.location),
            (Field::Missing, Some(producers), _) => (&none, producers.location),
            (Field::Missing, None, Some(flow)) => (&none, flow.location),
            _ => return self,
        };
        // entries without flows, as a printed plan has them, need not say how nothing is asked for
        let some = flows.iter().any(|flow| flow.count.or(1) > 0);
        if some && flows.iter().all(|flow| flow.network.is_missing()) {
            notes.wrong(location, "no flow asks for named data").hint(
                "write network = \"ndn\" and a `prefix` in a flow, or leave [ndn] and [[producers]] out",
            );
        }
        self.nodes = nodes(table, controller, net, icn, notes);
        let defaults = NdnSpec::default();
        let store = match table.store.present() {
            Some(store) => {
                check_size(&store.policy, &store.size, store.location, notes);
                store.filled(&LRU)
            }
            None => Store::default().filled(&defaults.config.store),
        };
        let mut stores: Vec<(NodeId, NodeStore)> = Vec::new();
        for store in table.stores.items() {
            self.place_store(store, &mut stores, net, notes);
        }
        let producers = self.place_producers(net, notes);
        let mut routes: Vec<NameRoute> = Vec::new();
        for route in table.routes.items() {
            self.place_route(route, &mut routes, net, notes);
        }
        let parts = parts_in_forwarders(table, &defaults.strategy, notes);
        self.parts = self::parts(&self.nodes, net);
        for (prefix, nodes) in &self.servers {
            self.near.extend(nodes.iter().map(|node| (self.parts[node.index()], prefix.clone())));
        }
        self.partial |= notes.count() > before || net.partial;
        if !self.partial {
            self.table = Some(Ndn {
                nodes: net.list(self.nodes.iter().copied()),
                store: store.into(),
                stores: Field::list(stores.into_iter().map(|(_, store)| store)),
                dead_nonces: table.dead_nonces.clone().filled(defaults.config.dead_nonces),
                interest: table.interest.clone().filled(self.interest),
                routes: Field::list(routes),
                ..parts
            });
            self.producers = Some(producers);
        }
        self
    }

    /// A table for each producer.
    fn place_producers(&mut self, net: &Net, notes: &mut Notes) -> Vec<At<Producer>> {
        let mut producers = Vec::new();
        let mut taken = BTreeSet::new();
        for served in &self.served {
            let text = &served.prefix.0;
            let named = served.table.node.present().map_or(&[][..], |node| &node.0);
            for name in named {
                let has_wildcard = name.contains('*');
                for node in forwarders_named(name, &self.nodes, net, notes) {
                    if !taken.insert((node, text)) {
                        if !has_wildcard {
                            notes.wrong(
                                name.location,
                                format!("`{}` serves `{text}` already", shortened(name)),
                            );
                        }
                        continue;
                    }
                    self.servers.entry(text.clone()).or_default().push(node);
                    let node = Senders(vec![net.nodes[node.index()].clone().into()]);
                    producers.push(Producer { node: node.into(), ..served.table.clone() }.into());
                }
            }
            if producers.len() > MAX {
                let location = named.first().map_or(Location::default(), |at| at.location);
                notes.wrong(location, "too many producers").hint(format!("at most {MAX}"));
                break;
            }
        }
        producers
    }

    /// Whether a consumer can reach a producer of its prefix. Notes an error if not.
    pub(super) fn reach(&self, table: &At<Flow>, from: NodeId, net: &Net, notes: &mut Notes) -> bool {
        let (Some(_), Some(prefix)) = (&self.table, table.prefix.present()) else { return true };
        let location = table.from.present().map_or(table.location, |at| at.location);
        let name = &net.nodes[from.index()];
        if self.nodes.binary_search(&from).is_err() {
            notes
                .wrong(location, format!("`{name}` does not forward named data"))
                .hint("list it in ndn.nodes: a consumer's own node has a forwarder too");
            return false;
        }
        let part = self.parts[from.index()];
        let serves = self.covering(&prefix.value).map(|served| served.prefix.0.clone());
        if !serves.is_some_and(|prefix| self.near.contains(&(part, prefix))) {
            notes
                .wrong(location, format!("no producer of `{}` can be reached from `{name}`", prefix.0))
                .hint("join them by links between nodes of ndn.nodes");
            return false;
        }
        true
    }

    /// Nodes that serve the requests of a consumer: those of the longest matching prefix.
    pub(super) fn servers(&self, prefix: &Prefix) -> &[NodeId] {
        let served = self.covering(prefix).filter(|_| self.table.is_some());
        served.and_then(|served| self.servers.get(&served.prefix.0)).map_or(&[], Vec::as_slice)
    }

    fn place_store(
        &self,
        store: &At<NodeStore>,
        stores: &mut Vec<(NodeId, NodeStore)>,
        net: &Net,
        notes: &mut Notes,
    ) {
        check_size(&store.policy, &store.size, store.location, notes);
        let made = store.filled(&LRU);
        let Some(name) = store.node.required("node", "a content store", store.location, notes) else {
            return;
        };
        for node in forwarders_named(name, &self.nodes, net, notes) {
            // what is written later and names fewer nodes is meant
            stores.retain(|(other, _)| *other != node);
            stores.push((node, NodeStore { node: net.name(node), ..made.clone() }));
        }
    }

    fn place_route(&self, route: &At<NameRoute>, routes: &mut Vec<NameRoute>, net: &Net, notes: &mut Notes) {
        let of = "a route of a name";
        let prefix = route.prefix.required("prefix", of, route.location, notes);
        let mut node = |field: &Field<String>, key: &str| -> Option<(Location, NodeId)> {
            let name = field.required(key, of, route.location, notes)?;
            let node = net.find_node(name, notes)?;
            if self.nodes.binary_search(&node).is_err() {
                no_forwarder(name, notes);
                return None;
            }
            Some((name.location, node))
        };
        let (at, via) = (node(&route.at, "at"), node(&route.via, "via"));
        let (Some(prefix), Some((_, at)), Some((location, via))) = (prefix, at, via) else { return };
        if !net.links.iter().any(|link| link.ends == (at, via) || link.ends == (via, at)) {
            let name = |id: NodeId| &net.nodes[id.index()];
            notes
                .wrong(location, format!("no link joins `{}` and `{}`", name(at), name(via)))
                .hint("`via` is the next node, not a later one");
            return;
        }
        let identical = |one: &Field<String>, two: &Field<String>| {
            one.present().map(|name| &name.value) == two.present().map(|name| &name.value)
        };
        let same = |other: &NameRoute| {
            let prefixes = other.prefix.present().is_some_and(|at| at.value == prefix.value);
            prefixes && identical(&other.at, &route.at) && identical(&other.via, &route.via)
        };
        if routes.iter().any(same) {
            notes.wrong(route.location, "there is such a route already").hint("write one of them");
            return;
        }
        if routes.len() == MAX {
            notes.wrong(route.location, "too many routes").hint(format!("at most {MAX}"));
            return;
        }
        routes.push(NameRoute { cost: route.cost.clone().filled(0), ..route.value.clone() });
    }
}

/// Hosts of a dumbbell that producers are at.
pub(super) fn nodes_named(file: &File) -> impl Iterator<Item = &At<String>> {
    let producers = file.producers.present().into_iter().flat_map(|list| &list.value);
    producers.filter_map(|producer| producer.node.present()).flat_map(|node| &node.0)
}

fn serves(producer: &At<Producer>, notes: &mut Notes) -> Option<Served> {
    let of = "a producer";
    let prefix = producer.prefix.required("prefix", of, producer.location, notes);
    let node = producer.node.required("node", of, producer.location, notes);
    if let Some(node) = node
        && node.0.is_empty()
    {
        notes.wrong(node.location, "a producer needs a node").hint("name at least one");
    }
    let payload = producer.payload.or(Bytes::new(1024));
    let defaults = ndn::ProducerConfig {
        prefix: NameId(0),
        payload,
        data: payload + ndn::OVERHEAD,
        delay: Duration::ZERO,
    };
    let table = producer.filled(&defaults);
    let data = table.data.or(defaults.data);
    if data < payload {
        let location = producer.data.present().map_or(producer.location, |at| at.location);
        notes
            .wrong(location, format!("Data of {data} have no space for a payload of {payload}"))
            .hint("`data` is the size on the wire, name and signature included");
        return None;
    }
    node?;
    Some(Served { prefix: prefix?.value.clone(), table, payload, data })
}

fn no_forwarder(name: &At<String>, notes: &mut Notes) {
    notes
        .wrong(name.location, format!("`{}` does not forward named data", shortened(name)))
        .hint("list it in ndn.nodes, or leave `nodes` out");
}

/// Nodes with a forwarder, in ascending order.
fn nodes(table: &Ndn, controller: Option<NodeId>, net: &Net, icn: &IcnNet, notes: &mut Notes) -> Vec<NodeId> {
    let by_name: BTreeSet<NodeId> = icn.nodes().collect();
    let free = |node: &NodeId| !by_name.contains(node) && Some(*node) != controller;
    let mut set = BTreeSet::new();
    let Some(list) = table.nodes.present() else {
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
            notes.wrong(name.location, format!("`{}` is the controller of [sdn]", shortened(name))).hint(
                "leave it out here, or use another node as the controller: a controller forwards no packets",
            );
        } else if !free(&node) {
            notes
                .wrong(name.location, format!("`{}` is a node of [icn]", shortened(name)))
                .hint("leave it out of [ndn] or of [icn]: a node is a router of one of them");
        }
        set.insert(node);
    }
    set.into_iter().collect()
}

/// The default policy of a content store; its size has no default.
const LRU: ndn::Store = ndn::Store { policy: ndn::Policy::Lru, size: 0 };

/// Notes a store that has no `size` and needs one.
fn check_size(policy: &Field<PolicyWord>, size: &Field<u32>, location: Location, notes: &mut Notes) {
    if policy.or(PolicyWord::Lru) != PolicyWord::None {
        size.required("size", "a content store", location, notes);
    }
}

/// The forwarders that a name or a pattern means. A name that means none is a mistake, a pattern passes over other
/// nodes.
fn forwarders_named(name: &At<String>, forwarders: &[NodeId], net: &Net, notes: &mut Notes) -> Vec<NodeId> {
    let has_wildcard = name.contains('*');
    let mut found =
        if has_wildcard { net.matching(name) } else { net.find_node(name, notes).into_iter().collect() };
    if has_wildcard && found.is_empty() {
        net.no_match(name, notes);
    }
    found.retain(|node| {
        let forwards = forwarders.binary_search(node).is_ok();
        if !forwards && !has_wildcard {
            no_forwarder(name, notes);
        }
        forwards
    });
    found
}

/// Strategy and link part, with their parameters: the keys of the table that say them.
fn parts_in_forwarders(table: &Ndn, defaults: &str, notes: &mut Notes) -> Ndn {
    let strategy = table.strategy.clone().filled(StrategyName(defaults.to_owned()));
    let link = table.link.clone().filled(LinkName(LinkName::NONE.to_owned()));
    let resolved = |part: Option<PartParams>, written, notes: &mut Notes| {
        part.and_then(|part| part.resolved(written, notes)).into()
    };
    let named = |link: &LinkName| (link.0 != LinkName::NONE).then(|| PartParams::of_scheme(&link.0));
    let strategy_part = strategy.present().and_then(|at| PartParams::of_strategy(&at.0));
    let strategy_params = resolved(strategy_part, &table.strategy_params, notes);
    let link_params = match link.present().and_then(|at| named(at)) {
        Some(part) => resolved(part, &table.link_params, notes),
        None => {
            if let Some(params) = table.link_params.present().filter(|params| !params.0.is_empty()) {
                notes
                    .wrong(params.location, "`link_params` without a link part")
                    .hint("name the scheme under `link`, or leave the parameters out");
            }
            Field::Missing
        }
    };
    Ndn { strategy, strategy_params, link, link_params, ..Ndn::default() }
}

/// The number of the connected part of each node, by links that join two of `nodes`; nodes without a forwarder are
/// parts of their own.
fn parts(nodes: &[NodeId], net: &Net) -> Vec<usize> {
    let mut next: Vec<Vec<usize>> = vec![Vec::new(); net.nodes.len()];
    let forwards = |node: NodeId| nodes.binary_search(&node).is_ok();
    for link in net.links.iter().filter(|link| forwards(link.ends.0) && forwards(link.ends.1)) {
        next[link.ends.0.index()].push(link.ends.1.index());
        next[link.ends.1.index()].push(link.ends.0.index());
    }
    graph::components(next.len(), |node| next[node].iter().copied())
}
