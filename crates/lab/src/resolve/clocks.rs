//! Clocks of nodes.

use contract::NodeId;
use sim::ClockSpec;
use units::{Drift, Offset};

use crate::schema::file::{Clock, File};
use crate::schema::read::Notes;
use crate::topology::Net;

/// All clocks that are written, a node at a time, in the order of nodes.
pub(super) fn build(file: &File, net: &Net, notes: &mut Notes) -> Vec<Clock> {
    let mut list: Vec<(NodeId, Clock)> = Vec::new();
    for clock in file.clocks.items() {
        if clock.offset.is_missing() && clock.drift.is_missing() {
            notes.wrong(clock.location, "this clock has no error").hint("write `offset` or `drift`");
        }
        let Some(name) = clock.node.required("node", "a clock", clock.location, notes) else { continue };
        let has_wildcard = name.contains('*');
        let nodes =
            if has_wildcard { net.matching(name) } else { net.find_node(name, notes).into_iter().collect() };
        if has_wildcard && nodes.is_empty() {
            net.no_match(name, notes);
        }
        for node in nodes {
            if list.iter().any(|(other, _)| *other == node) {
                let called = &net.nodes[node.index()];
                notes
                    .wrong(name.location, format!("`{called}` has a clock already"))
                    .hint("write one of them");
                break;
            }
            let right = ClockSpec { node, offset: Offset::ZERO, drift: Drift::ZERO };
            list.push((node, Clock { node: net.name(node), ..clock.filled(&right) }));
        }
    }
    list.sort_by_key(|(node, _)| *node);
    list.into_iter().map(|(_, clock)| clock).collect()
}
