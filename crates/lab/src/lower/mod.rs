//! Lowering: from the resolved tree of a scenario to the simulator's blueprint. Every name becomes a number and every
//! key a setting; no default is applied.

mod apps;
mod events;
mod flows;
mod network;

use std::cell::{Cell, OnceCell};
use std::collections::BTreeMap;

use contract::{FlowId, LinkId, NodeId, ParamList};
use indexmap::IndexSet;
use sim::{Blueprint, Emulation, Record};
use units::Duration;

use crate::report::{FAIRNESS, Sides};
use crate::resolve::Resolved;
use crate::resolve::params::PartParams;
use crate::schema::file::{File, Flow, Topology};
use crate::schema::link::Link;
use crate::schema::nodes::{NetworkNode, Nodes};
use crate::schema::params::Params;
use crate::schema::read::{At, Field};
use crate::schema::settings::Setting;
use crate::{Expectation, Group, Plan};

/// The plan of a resolved tree. It keeps what is printed of the tree, which of a large plan has no table for each link
/// and flow.
pub(crate) fn build(tree: Resolved) -> Plan {
    let Resolved { file, groups, .. } = &tree;
    let topology = file.topology.resolved();
    let ids = Ids::of(topology);
    let mut ndn = file.ndn.present().map(|table| network::ndn(table, file, &ids));
    let flows = flows::flows(&tree, &ids, &mut ndn);
    let events = events::events(file, &ids, &flows);
    let routing = file.routing.resolved();
    let blueprint = Blueprint {
        seed: *file.seed.resolved(),
        duration: *file.duration.resolved(),
        warmup: *file.warmup.resolved(),
        nodes: ids.nodes.iter().map(|&name| name.into()).collect(),
        clocks: network::clocks(file, &ids),
        links: network::links(topology.links.items(), &ids, &tree.rate_traces),
        metric: routing.metric.resolved().to_setting(),
        ecmp_seed: routing.ecmp_seed.or(0),
        routes: routing.routes.items().iter().map(|route| network::route(route, &ids)).collect(),
        icn: file.icn.present().map(|table| network::icn(table, &ids)),
        ndn,
        sdn: file.sdn.present().map(|table| network::sdn(table, &ids)),
        flows,
        apps: apps::apps(file),
        events,
        record: record(&tree),
        emulation: emulation(file, &ids),
    };
    let title = file.title.resolved().clone();
    let expect = expectations(file);
    let groups = self::groups(groups, file);
    let positions = nodes(topology).iter().map(|node| (*node.x.resolved(), *node.y.resolved())).collect();
    let Resolved { file, compact, .. } = tree;
    let printed = compact.unwrap_or_else(|| Box::new(file));
    Plan { title, expect, groups, positions, blueprint: blueprint.into(), printed: printed.into() }
}

/// The numbers of what a scenario names.
struct Ids<'a> {
    /// By [`NodeId`].
    nodes: IndexSet<&'a str>,
    /// The nodes of the last two lookups.
    recent: Cell<[usize; 2]>,
    topology: &'a Topology,
    /// By [`LinkId`]; made at the first lookup.
    links: OnceCell<IndexSet<&'a str>>,
}

impl<'a> Ids<'a> {
    fn of(topology: &'a Topology) -> Self {
        let nodes = nodes(topology).iter().map(|node| node.name.resolved().as_str());
        Self { nodes: nodes.collect(), recent: Cell::default(), topology, links: OnceCell::new() }
    }

    /// The node of that name. Links and flows of a generator name two nodes in turn, each that of the last time or the
    /// next one.
    fn node(&self, name: &str) -> NodeId {
        let [before, last] = self.recent.get();
        let near = [before + 1, before, last + 1, last];
        let near =
            near.into_iter().find(|&index| self.nodes.get_index(index).is_some_and(|node| *node == name));
        let index = near.or_else(|| self.nodes.get_index_of(name));
        let index = index.expect("a resolved tree names nodes of its topology");
        self.recent.set([last, index]);
        NodeId(index as u32)
    }

    fn nodes(&self, names: &Field<Vec<At<String>>>) -> Vec<NodeId> {
        names.items().iter().map(|name| self.node(name)).collect()
    }

    fn link(&self, name: &str) -> LinkId {
        let name_of = |link: &'a At<Link>| link.name.resolved().as_str();
        let links = self.links.get_or_init(|| self.topology.links.items().iter().map(name_of).collect());
        LinkId(links.get_index_of(name).expect("a resolved tree names links of its topology") as u32)
    }
}

fn nodes(topology: &Topology) -> &[At<NetworkNode>] {
    match topology.nodes.resolved() {
        Nodes::List(list) => list,
        Nodes::Count(_) => &[],
    }
}

/// The parameters of a part that are not default.
fn changed(part: Option<PartParams>, params: Option<&Params>) -> ParamList {
    part.zip(params).map(|(part, params)| params.changed(&part.infos)).unwrap_or_default()
}

fn groups(names: &[String], file: &File) -> Vec<Group> {
    let mut groups: Vec<Group> =
        names.iter().map(|name| Group { name: name.clone(), flows: Vec::new() }).collect();
    let numbers: BTreeMap<&str, usize> = names.iter().map(String::as_str).zip(0..).collect();
    for (id, flow) in (0..).map(FlowId).zip(flows::made(file)) {
        groups[numbers[flow.group.resolved().as_str()]].flows.push(id);
    }
    groups
}

fn record(tree: &Resolved) -> Record {
    let table = tree.file.record.resolved();
    let names: Vec<&str> = table.flows.items().iter().map(|name| name.value.as_str()).collect();
    let is_named = |flow: &Flow| {
        let (name, group) = (flow.name.resolved().as_str(), flow.group.resolved().as_str());
        names.contains(&name) || names.contains(&group)
    };
    let flows = (0..).map(FlowId).zip(flows::made(&tree.file)).filter(|(_, flow)| is_named(flow));
    Record {
        flows: (!names.is_empty()).then(|| flows.map(|(id, _)| id).collect()),
        every: table.every.or(Duration::ZERO),
        series: table
            .series
            .items()
            .iter()
            .map(|name| name.value.clone())
            .filter(|name| name != FAIRNESS)
            .collect(),
        events: *table.events.resolved(),
        drops: table.drops.is_on(),
        distributions: table.distributions.is_on(),
        packets: table.packets.present().and_then(|window| window.to_spec()),
    }
}

fn emulation(file: &File, ids: &Ids<'_>) -> Emulation {
    let mut settings = Emulation::default();
    if let Some(table) = file.emulation.present() {
        table.set(&mut settings);
        settings.real = ids.nodes(&table.real);
    }
    settings
}

fn expectations(file: &File) -> Vec<Expectation> {
    let rows = file.expect.resolved().0.iter();
    rows.map(|(key, text)| {
        let sides = Sides::read(text).expect("the relations of a resolved tree are checked");
        Expectation { key: key.value.clone(), text: text.value.clone(), sides }
    })
    .collect()
}
