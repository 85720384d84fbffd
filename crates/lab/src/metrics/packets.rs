//! The table `packets`, from records.

use contract::PortId;
use sim::{DROP_EVENTS, PacketRecord, Subject, Trace};

use crate::Plan;
use crate::report::{Columns, Table};

pub(super) fn packets(plan: &Plan, trace: &Trace) -> Table {
    let blueprint = &plan.blueprint;
    let link = |port: PortId| blueprint.links[port.index() / 2].name.to_string();
    let direction = |port: PortId| if port.index().is_multiple_of(2) { "forward" } else { "backward" };
    let at = |packet: &PacketRecord| match packet.place {
        Subject::Port(port) => Some(port),
        _ => None,
    };
    let node = |packet: &PacketRecord| match packet.place {
        Subject::Node(node) => blueprint.nodes[node.index()].to_string(),
        _ => String::new(),
    };
    Columns::of("packets", &trace.packets)
        .number("time_s", |packet| Some(packet.at.as_secs_f64()))
        .text("link", |packet| at(packet).map(link).unwrap_or_default())
        .text("direction", |packet| at(packet).map(direction).unwrap_or_default().to_owned())
        .text("node", node)
        .text("flow", |packet| {
            packet.flow.map(|flow| blueprint.flows[flow.index()].name.to_string()).unwrap_or_default()
        })
        .text("kind", |packet| packet.kind.to_owned())
        .count("bytes", |packet| u64::from(packet.size_bytes))
        .count("marked", |packet| u64::from(packet.is_marked))
        .text("event", |packet| packet.dropped.map_or("arrived", |why| DROP_EVENTS[why as usize]).to_owned())
        .done()
}
