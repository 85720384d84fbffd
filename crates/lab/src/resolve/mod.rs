//! Resolving: from the tables of a file as written to the same tables with every default, name, pattern, relative unit
//! and random draw filled in.

pub(crate) mod apps;
mod arrivals;
mod churn;
mod clocks;
mod compact;
mod consumers;
pub(crate) mod emulation;
mod endpoints;
mod events;
mod expectations;
mod flows;
mod icn;
mod links;
mod linux;
mod media;
mod model;
mod ndn;
pub(crate) mod params;
mod sdn;
mod setting;
pub(crate) mod sizes;
mod stacks;
mod sweeps;
mod traffic;
mod transports;
mod video;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use contract::FlowId;
use sim::{Metric, RateTrace, RouteSpec};
use stack::stream::FrameType;
use units::Duration;

use crate::report::FAIRNESS;
use crate::schema::file::{File, Kind, Record, Route, Routing, Topology};
use crate::schema::link::Link;
use crate::schema::nodes::{NetworkNode, Nodes};
use crate::schema::read::{At, Field, Notes, shortened};
use crate::schema::renames::unknown;
use crate::schema::settings::Setting;
use crate::schema::trace::TraceKey;
use crate::schema::tree::Location;
use crate::schema::values::Expect;
use crate::topology::{self, Net, Paths};

use self::model::Transport;
use self::traffic::{ResolvedFlow, Traffic};

/// Most points of recorded series; each takes sixteen bytes.
const MAX_POINTS: u128 = 50_000_000;

/// The resolved tree of a scenario: its tables with every key. A key that is not there stands for something that is not
/// there, such as the end of a transfer without `size`. Printing and lowering read this tree.
#[derive(Clone, Debug, Default)]
pub(crate) struct Resolved {
    /// The tables. The topology is `custom`; every copy of a flow and every short flow has a table of its own, and an
    /// entry that makes no flow has one with `count = 0`.
    pub(crate) file: File,
    /// The groups of flows in the order of the scenario, those without flows included.
    pub(crate) groups: Vec<String>,
    /// What is printed of a large plan instead of `file`.
    pub(crate) compact: Option<Box<File>>,
    /// The frames that files list, by the path that is written.
    pub(crate) traces: BTreeMap<String, Trace>,
    /// The traces that rates of links follow.
    pub(crate) rate_traces: BTreeMap<TraceKey, Arc<RateTrace>>,
}

/// The video settings of a file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Trace {
    /// Sizes in bytes.
    pub(crate) sizes: Arc<[u32]>,
    /// Their types; none unless each has one of I, P and B.
    pub(crate) types: Arc<[FrameType]>,
}

/// Resolves a file, and makes the network that it is of; `None` when something is noted, here or before.
pub(crate) fn build(
    file: &File,
    whole: Location,
    seed: Option<u64>,
    folder: &Path,
    notes: &mut Notes,
) -> Option<(Resolved, Net)> {
    let seed = seed.unwrap_or(file.seed.or(*File::defaults().seed.resolved()));
    let duration = file.duration.or(*File::defaults().duration.resolved());
    let warmup = warmup(file, duration, notes);
    let flow_tables = file.flows.items();
    let net = network(file, whole, folder, notes);
    if file.flows.is_missing() {
        notes
            .wrong(whole, "a scenario needs at least one flow")
            .hint("add a table [[flows]] with name and scheme");
    }
    let ndn = ndn::NdnNet::read(file, notes);
    let Some(mut made) = net else {
        // without a network every name of a node would be unknown; the rest can be checked
        for table in flow_tables {
            transports::model(table, None, &ndn, folder, notes);
        }
        expectations::check_relations(file, notes);
        return None;
    };

    let net = &mut made;
    let icn = icn::build(file, flow_tables, net, notes);
    let clocks = clocks::build(file, net, notes);
    let ndn = ndn.place(file, flow_tables, net, &icn, sdn::controller(file, net), notes);
    let sdn = sdn::build(file, flow_tables, net, &icn, &ndn, notes);
    let net = &*net;
    let metric = file.routing.present().and_then(|routing| routing.metric.present());
    let metric = metric.map_or(Metric::Delay, |at| at.value.to_setting());
    let (routes, tables) = routes(file, net, notes);
    let mut paths = Paths::new(net, metric, &routes);
    refuse_routing_loops(file, net, &routes, &mut paths, notes);

    let setting = setting::Setting { net, icn: &icn, ndn: &ndn, sdn: &sdn, folder, seed, duration };
    let traffic = flows::build(file, &setting, &mut paths, notes);
    let events = events::build(file, &setting, &traffic, notes);
    let record = record(file, &setting, &traffic, notes);
    expectations::check(file, &setting, &traffic, notes);
    let emulation = emulation::build(file, net, &traffic, notes);
    let links = links::build(net, &traffic.flows, &ndn, &mut paths, notes);
    if notes.count() > 0 {
        return None;
    }
    let rest = File {
        title: file.title.clone().filled(String::new()),
        seed: seed.into(),
        duration: file.duration.clone().filled(duration),
        warmup: file.warmup.clone().filled(warmup),
        record: record.into(),
        expect: file.expect.clone().filled(Expect::default()),
        ..File::default()
    };
    let compact = compact::build(file, &traffic.flows, net.links.len(), rest.clone()).map(Box::new);
    let (flows, groups, traces) = traffic.into_tables();
    let file = File {
        topology: drawn(net, links).into(),
        routing: routing(file, metric, tables).into(),
        icn: icn.table.into(),
        ndn: ndn.table.into(),
        producers: ndn.producers.into(),
        clocks: Field::list(clocks),
        sdn: sdn.table.into(),
        flows: Field::of(flows),
        events: Field::list(events),
        emulation: emulation.into(),
        ..rest
    };
    Some((Resolved { file, groups, compact, traces, rate_traces: made.traces.clone() }, made))
}

/// The warm-up. Notes one that is not shorter than the run.
fn warmup(file: &File, duration: Duration, notes: &mut Notes) -> Duration {
    let warmup = file.warmup.or(Duration::ZERO);
    if let Some(at) = file.warmup.present()
        && warmup >= duration
    {
        notes
            .wrong(at.location, format!("`warmup` ({warmup}) must be shorter than `duration` ({duration})"))
            .hint("shorten `warmup` or lengthen `duration`");
    }
    warmup
}

/// The network of a file; `None` when something is noted.
fn network(file: &File, whole: Location, folder: &Path, notes: &mut Notes) -> Option<Net> {
    if file.topology.is_missing() {
        notes
            .wrong(whole, "a scenario needs a topology")
            .hint("add a table [topology] with kind = \"dumbbell\" and a bottleneck");
    }
    match file.topology.present() {
        Some(at) => {
            let pairs = endpoints::pairs_needed(file.flows.items(), ndn::nodes_named(file));
            let before = notes.count();
            endpoints::check_memory(file.flows.items(), pairs, memory::available(), notes);
            if notes.count() == before { topology::build(at, pairs, folder, notes) } else { None }
        }
        None => None,
    }
}

/// A topology that lists every node and link.
fn drawn(net: &Net, links: Vec<At<Link>>) -> Topology {
    let nodes = net.nodes.iter().zip(&net.positions).map(|(name, (x, y))| NetworkNode {
        name: name.clone().into(),
        x: rounded(*x).into(),
        y: rounded(*y).into(),
        ..NetworkNode::default()
    });
    Topology {
        kind: Kind::Custom.into(),
        nodes: Nodes::List(nodes.map(Into::into).collect()).into(),
        links: Field::of(links),
        ..Topology::default()
    }
}

/// The routing of a plan: its metric and its routes.
fn routing(file: &File, metric: Metric, routes: Vec<Route>) -> Routing {
    Routing {
        metric: Field::of(Setting::of_setting(&metric)),
        ecmp_seed: file.routing.present().map_or(Field::Missing, |routing| routing.ecmp_seed.clone()),
        routes: Field::list(routes),
        ..Routing::default()
    }
}

/// A place in four decimals, so that a printed plan has it exactly.
fn rounded(location: f64) -> f64 {
    (location * 1e4).round() / 1e4
}

/// Routes that are written under `routing`, with their tables.
fn routes(file: &File, net: &Net, notes: &mut Notes) -> (Vec<RouteSpec>, Vec<Route>) {
    let mut routes: Vec<RouteSpec> = Vec::new();
    let mut tables = Vec::new();
    for route in file.routing.present().map_or(&[][..], |routing| routing.routes.items()) {
        let Some(spec) = events::route(route, net, notes) else { continue };
        if routes.iter().any(|other| (other.at, other.to) == (spec.at, spec.to)) {
            notes
                .wrong(route.location, "there is a route from here to there already")
                .hint("write one of them");
            continue;
        }
        routes.push(spec);
        tables.push(route.value.clone());
    }
    (routes, tables)
}

/// Reports routing loops.
fn refuse_routing_loops(
    file: &File,
    net: &Net,
    routes: &[RouteSpec],
    paths: &mut Paths<'_>,
    notes: &mut Notes,
) {
    let Some(list) = file.routing.present().and_then(|routing| routing.routes.present()) else { return };
    let mut checked = Vec::new();
    for route in routes {
        if checked.contains(&route.to) {
            continue;
        }
        checked.push(route.to);
        let Some(nodes) = paths.routing_loop(route.to) else { continue };
        let names: Vec<&str> =
            nodes.iter().chain(nodes.first()).map(|node| net.nodes[node.index()].as_str()).collect();
        let target = &net.nodes[route.to.index()];
        let location = list
            .iter()
            .find(|written| {
                let at = |field: &Field<String>| field.present().and_then(|at| net.node(at));
                at(&written.to) == Some(route.to) && at(&written.at).is_some_and(|node| nodes.contains(&node))
            })
            .map_or(list.location, |written| written.location);
        notes
            .wrong(location, format!("routing loop of packets for `{target}`: {}", names.join(" → ")))
            .hint("write routes that lead closer to their destination");
    }
}

/// The flows whose senders and receivers have series, if not all.
fn recorded_flows(
    written: &Record,
    series: &[At<String>],
    traffic: &Traffic,
    notes: &mut Notes,
) -> Option<BTreeSet<FlowId>> {
    let list = written.flows.present()?;
    if let Some(name) = series.iter().find(|name| matches!(name.value.as_str(), "rate" | FAIRNESS)) {
        let message = format!(
            "the series `{}` is recorded of all flows: results of all are computed from it",
            name.value
        );
        notes.wrong(list.location, message).hint("leave `flows` out, or the series");
    }
    if list.value.is_empty() {
        notes.wrong(list.location, "no flow is named").hint("leave `flows` out: then all flows have series");
    }
    let mut wanted = BTreeSet::new();
    for name in &list.value {
        match traffic.find(name) {
            Some(flows) => wanted.extend(flows),
            None if traffic.refused(name) => {}
            None => {
                let message = format!("no flow is called `{}`", shortened(name));
                let (message, hint) = unknown(name, message, traffic.names().collect::<BTreeSet<_>>());
                notes.wrong(name.location, message).maybe(hint);
            }
        }
    }
    Some(wanted)
}

/// What is recorded.
fn record(file: &File, setting: &setting::Setting<'_>, traffic: &Traffic, notes: &mut Notes) -> Record {
    let none = At::from(Record::default());
    let written = file.record.present().unwrap_or(&none);
    let mut series: Vec<At<String>> = Vec::new();
    let known = traffic.series(setting.ndn, setting.sdn);
    let elsewhere = sweeps::elsewhere(file);
    for name in written.series.items() {
        if !known.contains(name.value.as_str()) {
            if traffic.may_offer(name) || elsewhere.contains(name.value.as_str()) {
                continue;
            }
            let message = format!("nothing here offers the series `{}`", shortened(name));
            let (message, hint) = unknown(name, message, known.union(&elsewhere).copied());
            notes
                .wrong(name.location, message)
                .maybe(traffic.offered_by(name).or_else(|| expectations::column(name)).or(hint));
        } else if !series.iter().any(|other| other.value == name.value) {
            series.push(name.clone());
        }
    }
    if let Some(window) = written.packets.present() {
        window.check("packets", window.location, notes);
    }
    let has = |name: &str| series.iter().any(|other| other.value == name);
    if has(FAIRNESS) && !has("rate") {
        // it is computed from the rates
        series.push("rate".to_owned().into());
    }
    let with_series = recorded_flows(written, &series, traffic, notes);
    let every = written.every.or(if series.is_empty() { Duration::ZERO } else { Duration::from_millis(100) });
    if every > Duration::ZERO {
        // a consumer is what its Data arrive at
        let arrives = |flow: &ResolvedFlow| match flow.transport {
            Transport::Ndn => 1,
            _ => flow.to.len(),
        };
        let is_recorded = |flow: &FlowId| with_series.as_ref().is_none_or(|flows| flows.contains(flow));
        let flows = (0..).map(FlowId).zip(&traffic.flows).filter(|(id, _)| is_recorded(id));
        let receivers: usize = flows.clone().map(|(_, flow)| arrives(flow)).sum();
        let subjects: usize = series
            .iter()
            .flat_map(|name| traffic.subjects(name, setting.ndn, setting.sdn))
            .map(|subject| match subject {
                "port" => 2 * setting.net.links.len(),
                "flow" => flows.clone().count(),
                "flows" => traffic.groups.len() + 1,
                "node" => {
                    let by_name = setting.icn.nodes().count() + setting.ndn.nodes().len();
                    by_name + setting.sdn.nodes().count()
                }
                _ => receivers,
            })
            .sum();
        let intervals = setting.duration.as_nanos() / every.as_nanos();
        let points = u128::from(intervals) * subjects.max(1) as u128;
        if points > MAX_POINTS {
            let location = written.every.present().map_or(written.location, |at| at.location);
            notes
                .wrong(location, format!("{intervals} intervals of {subjects} series are {points} points"))
                .hint(format!("at most {MAX_POINTS}: take a longer interval or fewer series"));
        }
    }
    Record {
        every: written.every.clone().filled(every).filter(|every| *every > Duration::ZERO),
        series: series.into(),
        flows: written.flows.clone(),
        events: written.events.clone().filled(false),
        drops: written.drops.clone().filter(|on| *on),
        distributions: written.distributions.clone().filter(|on| *on),
        packets: written.packets.clone(),
        ..Record::default()
    }
}
