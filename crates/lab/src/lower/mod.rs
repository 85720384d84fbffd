//! Lowering: from the tables of a scenario to the simulator's blueprint, with every default and every relative unit filled in.

mod clocks;
mod consumers;
mod emulation;
mod events;
mod expectations;
mod flows;
mod icn;
mod links;
mod ndn;
mod sdn;
mod transports;
mod video;

use std::path::Path;

use sim::{Blueprint, FlowKind, FlowSpec, Metric, Record, RouteSpec};
use units::Duration;

use crate::Plan;
use crate::resolve::{places, sweeps};
use crate::schema::file::File;
use crate::schema::read::{Notes, shortened};
use crate::schema::renames::unknown;
use crate::schema::settings::Setting;
use crate::schema::tree::Place;
use crate::topology::{self, Net, Paths};

/// Most points of recorded series; each takes sixteen bytes.
const MAX_POINTS: u128 = 50_000_000;

/// Makes the plan of a file, and the network that it is of; `None` when something is noted.
pub(crate) fn build(
    file: &File,
    whole: Place,
    seed: Option<u64>,
    folder: &Path,
    notes: &mut Notes,
) -> Option<(Plan, Net)> {
    let before = notes.count();
    let seed = seed.unwrap_or(file.seed.or(1));
    let duration = file.duration.or(Duration::from_secs(60));
    let warmup = file.warmup.or(Duration::ZERO);
    if let Some(at) = file.warmup.given()
        && warmup >= duration
    {
        notes
            .wrong(at.place, format!("a warm-up of {warmup} leaves nothing of {duration}"))
            .hint("shorten `warmup` or lengthen `duration`");
    }

    let flow_tables = file.flows.given().map_or(&[][..], |list| &list.value);
    if file.topology.is_missing() {
        notes
            .wrong(whole, "a scenario needs a topology")
            .hint("add a table [topology] with kind = \"dumbbell\" and a bottleneck");
    }
    let net = match file.topology.given() {
        Some(at) => {
            let pairs = places::pairs_needed(flow_tables, ndn::nodes_named(file));
            topology::build(at, pairs, folder, notes)
        }
        None => None,
    };
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
        expectations::relations(file, notes);
        return None;
    };

    let net = &mut made;
    let icn = icn::build(file, flow_tables, net, notes);
    let clocks = clocks::build(file, net, notes);
    let mut ndn = ndn.place(file, flow_tables, net, &icn, notes);
    let sdn = sdn::build(file, flow_tables, net, &icn, &ndn, notes);
    let net = &*net;
    let metric = file.routing.given().and_then(|routing| routing.metric.given());
    let metric = metric.map_or(Metric::Delay, |at| at.value.to_setting());
    let routes = routes(file, net, notes);
    let mut paths = Paths::new(net, metric, &routes);
    refuse_circles(file, net, &routes, &mut paths, notes);

    let setting = flows::Setting { net, icn: &icn, ndn: &ndn, sdn: &sdn, folder, seed, duration };
    let mut traffic = flows::build(file, &setting, &mut paths, notes);
    ndn.intern(&mut traffic);
    let setting = flows::Setting { net, icn: &icn, ndn: &ndn, sdn: &sdn, folder, seed, duration };
    let events = events::build(file, &setting, &traffic, &paths, notes);
    let record = record(file, &setting, &traffic, notes);
    let expect = expectations::expectations(file, &setting, &traffic, notes);
    let emulation = emulation::build(file, net, &traffic, notes);
    let links = links::build(net, &traffic.flows, &ndn, &mut paths, notes);
    if notes.count() > before {
        return None;
    }
    let blueprint = Blueprint {
        seed,
        duration,
        warmup,
        nodes: net.nodes.clone(),
        clocks,
        links,
        metric,
        routes,
        icn: icn.spec,
        ndn: ndn.spec,
        sdn: sdn.spec,
        flows: traffic.flows,
        events,
        record,
        emulation,
    };
    let title = file.title.given().map_or(String::new(), |at| at.value.clone());
    let plan = Plan {
        title,
        blueprint,
        expect,
        groups: traffic.groups,
        positions: net.positions.iter().map(|(x, y)| (rounded(*x), rounded(*y))).collect(),
    };
    Some((plan, made))
}

/// A place in four decimals, so that a printed plan has it exactly.
fn rounded(place: f64) -> f64 {
    (place * 1e4).round() / 1e4
}

/// Routes that are written under `routing`.
fn routes(file: &File, net: &Net, notes: &mut Notes) -> Vec<RouteSpec> {
    let written = file.routing.given().and_then(|routing| routing.routes.given());
    let mut routes: Vec<RouteSpec> = Vec::new();
    for route in written.map_or(&[][..], |list| &list.value) {
        let Some(spec) = events::route(route, net, notes) else { continue };
        if routes.iter().any(|other| (other.at, other.to) == (spec.at, spec.to)) {
            notes.wrong(route.place, "there is a route from here to there already").hint("write one of them");
            continue;
        }
        routes.push(spec);
    }
    routes
}

/// Notes routes that send packets round in a circle.
fn refuse_circles(file: &File, net: &Net, routes: &[RouteSpec], paths: &mut Paths<'_>, notes: &mut Notes) {
    let Some(list) = file.routing.given().and_then(|routing| routing.routes.given()) else { return };
    let mut told = Vec::new();
    for route in routes {
        if told.contains(&route.to) {
            continue;
        }
        told.push(route.to);
        let Some(circle) = paths.circle(route.to) else { continue };
        let names: Vec<&str> =
            circle.iter().chain(circle.first()).map(|node| net.nodes[node.index()].as_str()).collect();
        let target = &net.nodes[route.to.index()];
        let place = list
            .iter()
            .find(|written| {
                let at =
                    |field: &crate::schema::read::Field<String>| field.given().and_then(|at| net.node(at));
                at(&written.to) == Some(route.to)
                    && at(&written.at).is_some_and(|node| circle.contains(&node))
            })
            .map_or(list.place, |written| written.place);
        notes
            .wrong(place, format!("packets for `{target}` would go in a circle: {}", names.join(" → ")))
            .hint("a route must lead nearer to its destination");
    }
}

/// What is recorded.
fn record(file: &File, setting: &flows::Setting<'_>, traffic: &flows::Traffic, notes: &mut Notes) -> Record {
    let Some(written) = file.record.given() else { return Record::default() };
    let mut series: Vec<String> = Vec::new();
    let known = traffic.series(setting.ndn, setting.sdn);
    let elsewhere = sweeps::elsewhere(file);
    for name in written.series.given().map_or(&[][..], |list| &list.value) {
        if !known.contains(name.value.as_str()) {
            if traffic.may_offer(name) || elsewhere.contains(name.value.as_str()) {
                continue;
            }
            let message = format!("nothing here offers the series `{}`", shortened(name));
            let (message, hint) = unknown(name, message, known.union(&elsewhere).copied());
            notes
                .wrong(name.place, message)
                .maybe(traffic.offered_by(name).or_else(|| expectations::column(name)).or(hint));
        } else if !series.contains(&name.value) {
            series.push(name.value.clone());
        }
    }
    let every = written.every.or(if series.is_empty() { Duration::ZERO } else { Duration::from_millis(100) });
    if every > Duration::ZERO {
        // a consumer is what its Data arrive at
        let arrives = |flow: &FlowSpec| match flow.kind {
            FlowKind::Ndn(_) => 1,
            _ => flow.to.len(),
        };
        let receivers: usize = traffic.flows.iter().map(arrives).sum();
        let subjects: usize = series
            .iter()
            .flat_map(|name| traffic.subjects(name, setting.ndn, setting.sdn))
            .map(|subject| match subject {
                "port" => 2 * setting.net.links.len(),
                "flow" => traffic.flows.len(),
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
            let place = written.every.given().map_or(written.place, |at| at.place);
            notes
                .wrong(place, format!("{intervals} intervals of {subjects} series are {points} points"))
                .hint(format!("at most {MAX_POINTS}: take a longer interval or fewer series"));
        }
    }
    let (events, drops) = (written.events.or(false), written.drops.or(false));
    Record { every, series, events, drops, distributions: written.distributions.or(false) }
}
