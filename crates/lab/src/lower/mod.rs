//! Lowering: from the resolved tree of a scenario to the simulator's blueprint. Every name becomes a number and every key a setting;
//! no default is applied.

mod apps;
mod events;
mod flows;
mod network;

use std::collections::BTreeMap;
use std::sync::Arc;

use contract::{FlowId, LinkId, NodeId, ParamList};
use sim::{Blueprint, Emulation, Record};
use units::Duration;

use crate::report::{FAIRNESS, Sides};
use crate::resolve::Resolved;
use crate::resolve::params::PartParams;
use crate::schema::file::{File, Topology};
use crate::schema::params::Params;
use crate::schema::read::{At, Field};
use crate::schema::settings::Setting;
use crate::schema::values::Nodes;
use crate::{Expectation, Group, Plan};

/// The plan of a resolved tree.
pub(crate) fn build(tree: &Arc<Resolved>) -> Plan {
    let Resolved { file, groups, .. } = &**tree;
    let topology = file.topology.resolved();
    let ids = Ids::of(topology);
    let mut ndn = file.ndn.present().map(|table| network::ndn(table, file, &ids));
    let flows = flows::flows(tree, &ids, &mut ndn);
    let events = events::events(file, &ids, &flows);
    let routing = file.routing.resolved();
    let blueprint = Blueprint {
        seed: *file.seed.resolved(),
        duration: *file.duration.resolved(),
        warmup: *file.warmup.resolved(),
        nodes: ids.names.iter().map(|name| (*name).to_owned()).collect(),
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
        record: record(file),
        emulation: emulation(file, &ids),
    };
    Plan {
        title: file.title.resolved().clone(),
        expect: expectations(file),
        groups: self::groups(groups, file),
        positions: nodes(topology).iter().map(|node| (*node.x.resolved(), *node.y.resolved())).collect(),
        blueprint: blueprint.into(),
        tree: tree.clone(),
    }
}

/// The numbers of what a scenario names.
struct Ids<'a> {
    names: Vec<&'a str>,
    nodes: BTreeMap<&'a str, NodeId>,
    links: BTreeMap<&'a str, LinkId>,
}

impl<'a> Ids<'a> {
    fn of(topology: &'a Topology) -> Self {
        let names: Vec<&str> = nodes(topology).iter().map(|node| node.name.resolved().as_str()).collect();
        let links = topology.links.items().iter().map(|link| link.name.resolved().as_str());
        Self {
            nodes: names.iter().copied().zip((0..).map(NodeId)).collect(),
            links: links.zip((0..).map(LinkId)).collect(),
            names,
        }
    }

    fn node(&self, name: &str) -> NodeId {
        *self.nodes.get(name).expect("a resolved tree names nodes of its topology")
    }

    fn nodes(&self, names: &Field<Vec<At<String>>>) -> Vec<NodeId> {
        names.items().iter().map(|name| self.node(name)).collect()
    }

    fn link(&self, name: &str) -> LinkId {
        *self.links.get(name).expect("a resolved tree names links of its topology")
    }
}

fn nodes(topology: &Topology) -> &[At<crate::schema::file::NetworkNode>] {
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

fn record(file: &File) -> Record {
    let table = file.record.resolved();
    Record {
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
