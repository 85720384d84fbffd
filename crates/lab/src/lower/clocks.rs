//! Clocks of nodes.

use sim::ClockSpec;
use units::{Drift, Offset};

use crate::schema::file::File;
use crate::schema::read::Notes;
use crate::topology::Net;

/// All clocks that are written, a node at a time, in the order of nodes.
pub(crate) fn build(file: &File, net: &Net, notes: &mut Notes) -> Vec<ClockSpec> {
    let mut list: Vec<ClockSpec> = Vec::new();
    for clock in file.clocks.given().map_or(&[][..], |clocks| &clocks.value) {
        if clock.offset.is_missing() && clock.drift.is_missing() {
            notes.wrong(clock.place, "this clock is right").hint("say `offset` or `drift`");
        }
        let Some(name) = clock.node.required("node", "a clock", clock.place, notes) else { continue };
        let wild = name.contains('*');
        let nodes = if wild { net.matching(name) } else { net.find_node(name, notes).into_iter().collect() };
        if wild && nodes.is_empty() {
            net.no_match(name, notes);
        }
        for node in nodes {
            if list.iter().any(|other| other.node == node) {
                let called = &net.nodes[node.index()];
                notes.wrong(name.place, format!("`{called}` has a clock already")).hint("write one of them");
                break;
            }
            list.push(clock.over(ClockSpec { node, offset: Offset::ZERO, drift: Drift::ZERO }));
        }
    }
    list.sort_by_key(|clock| clock.node);
    list
}
