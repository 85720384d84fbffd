//! The printed plan of a large scenario: its generators of links and flows instead of a table for each link and each
//! flow.

use std::collections::BTreeMap;

use crate::schema::file::{File, Flow, Kind};
use crate::schema::read::{At, Field};
use crate::schema::traffic::{Arrivals, SizeTable};
use crate::schema::tree::Location;

use super::traffic::ResolvedFlow;

/// A plan of more flows and links is printed with its generators: its tables would be more than a scenario may have.
const MANY_TABLES: usize = 20_000;

/// The entries of `file`, each with the settings that its flows have, and `resolved` for all other tables that no
/// generator makes. `None` for plans that are not large, and for those that nothing shorter describes: a list of links,
/// or of flows in a file.
///
/// It gives the same plan: starts and sizes are drawn from the seed and the names of flows.
pub(super) fn build(file: &File, flows: &[ResolvedFlow], links: usize, resolved: File) -> Option<File> {
    if flows.len() + links <= MANY_TABLES {
        return None;
    }
    let kind = file.topology.present()?.kind.present()?.value;
    let entries = file.flows.items();
    let listed =
        entries.iter().any(|entry| entry.arrivals.present().is_some_and(|arrivals| is_listed(arrivals)));
    if matches!(kind, Kind::Custom | Kind::Graphml) || listed {
        return None;
    }
    let mut first: BTreeMap<Location, &ResolvedFlow> = BTreeMap::new();
    for flow in flows {
        first.entry(flow.table.location).or_insert(flow);
    }
    let entry = |entry: &At<Flow>| match first.get(&entry.location) {
        Some(flow) => settings(entry, flow),
        None => entry.value.clone(),
    };
    Some(File {
        topology: file.topology.clone(),
        routing: file.routing.clone(),
        icn: file.icn.clone(),
        ndn: file.ndn.clone(),
        producers: file.producers.clone(),
        clocks: file.clocks.clone(),
        sdn: file.sdn.clone(),
        flows: Field::list(entries.iter().map(entry)),
        events: file.events.clone(),
        emulation: file.emulation.clone(),
        ..resolved
    })
}

/// Whether flows, or the distribution of their sizes, are in a file.
fn is_listed(arrivals: &Arrivals) -> bool {
    let sizes = arrivals.sizes.present();
    arrivals.file.present().is_some()
        || sizes
            .is_some_and(|sizes| matches!(&sizes.value, SizeTable::Named(name) if name.contains(['.', '/'])))
}

/// An entry with the settings of its flows, which have every default.
fn settings(entry: &Flow, flow: &ResolvedFlow) -> Flow {
    let Flow {
        scheme,
        params,
        controller,
        encoder,
        source,
        multicast,
        network,
        class,
        packet,
        tcp,
        stream,
        player,
        ..
    } = flow.table.clone();
    Flow {
        scheme,
        params,
        controller,
        encoder,
        source,
        multicast,
        network,
        class,
        packet,
        tcp,
        stream,
        player,
        ..entry.clone()
    }
}
