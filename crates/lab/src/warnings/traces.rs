//! Warnings about traces that rates of links follow.

use units::Time;

use crate::schema::file::File;
use crate::schema::link::Link;
use crate::schema::read::{At, Field, Notes};
use crate::topology::Net;

/// Reports traces that carry nothing before the end of the run.
pub(super) fn build(file: &File, net: &Net, end: Time, notes: &mut Notes) {
    let Some(topology) = file.topology.present() else { return };
    let templates = [&topology.edge, &topology.bottleneck, &topology.link];
    let links = templates.into_iter().filter_map(Field::present).chain(topology.links.items());
    let traces = |link: &At<Link>| {
        let backward = link.backward.present().and_then(|port| port.trace.present());
        [link.forward.trace.present(), backward].into_iter().flatten().cloned().collect::<Vec<_>>()
    };
    for source in links.flat_map(traces) {
        let trace = net.traces.get(&source.key());
        if trace.is_some_and(|trace| trace.bits_until(end) == 0) {
            notes
                .warn(source.location, "this trace carries nothing before the end of the run")
                .hint("lengthen `duration`, or let the trace begin where its rate is above 0");
        }
    }
}
