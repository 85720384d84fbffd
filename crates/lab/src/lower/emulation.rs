//! Settings of an emulation: real nodes, and the traffic source of each flow.

use std::collections::BTreeSet;

use contract::NodeId;
use sim::{Emulation, FlowEmulation, FlowKind, FlowSpec};
use units::Bytes;

use super::flows::Traffic;
use crate::schema::file::File;
use crate::schema::read::{At, Notes, shortened};
use crate::topology::Net;

/// Most flows with ends outside: each has a port number of its own.
const MAX_OUTSIDE: usize = 20_000;
/// Most real nodes: each is a namespace with a device.
const MAX_REAL: usize = 1_000;
/// The table `emulation`, with what follows from the flows.
pub(crate) fn build(file: &File, net: &Net, traffic: &Traffic, notes: &mut Notes) -> Emulation {
    let written = file.emulation.given();
    let usual = Emulation::default();
    let mut emulation = written.map_or(usual.clone(), |table| table.over(usual));
    let outside = || traffic.flows.iter().filter(|flow| flow.emulation.is_some());
    let ends: BTreeSet<NodeId> =
        outside().flat_map(|flow| [flow.from].into_iter().chain(flow.to.iter().map(|to| to.node))).collect();
    emulation.real = match written.and_then(|table| table.real.given()) {
        Some(names) => real(names, net, notes).into_iter().collect(),
        None => ends.iter().copied().collect(),
    };
    let place = written.and_then(|table| table.real.given()).map_or(file.place, |names| names.place);
    if notes.count() == 0
        && let Some(missing) = ends.iter().find(|node| emulation.real.binary_search(node).is_err())
    {
        let name = &net.nodes[missing.index()];
        notes
            .wrong(
                place,
                format!("`{name}` is the end of a flow with `kernel`, `live` or `commands` and not real"),
            )
            .hint("add it to `real`, or leave `real` out");
    }
    for (n, max, of) in
        [(outside().count(), MAX_OUTSIDE, "flows outside"), (emulation.real.len(), MAX_REAL, "real nodes")]
    {
        if n > max {
            notes.wrong(place, format!("{n} {of} are too many")).hint(format!("at most {max}"));
        }
    }
    if let Some(flow) = outside().find(|flow| packet_of(flow).is_some_and(|packet| packet < MIN_PACKET)) {
        notes
            .wrong(place, format!("packets of `{}` are too small for their headers", shortened(&flow.name)))
            .hint(format!("at least {MIN_PACKET}"));
    }
    emulation
}

/// The kernel refuses a smaller segment; our own headers take as much.
const MIN_PACKET: Bytes = Bytes::new(150);

/// Nodes by name or pattern.
fn real(names: &At<Vec<At<String>>>, net: &Net, notes: &mut Notes) -> BTreeSet<NodeId> {
    let mut nodes = BTreeSet::new();
    for name in &names.value {
        if !name.contains('*') {
            nodes.extend(net.find_node(name, notes));
            continue;
        }
        let found = net.matching(name);
        if found.is_empty() {
            net.no_match(name, notes);
        }
        nodes.extend(found);
    }
    nodes
}

/// What a flow of TCP, or a live one, sends at a time.
fn packet_of(flow: &FlowSpec) -> Option<Bytes> {
    match &flow.kind {
        FlowKind::Tcp(config) => Some(config.segment + config.header),
        FlowKind::Stream(config) if flow.emulation == Some(FlowEmulation::Live) => Some(config.packet),
        _ => None,
    }
}
