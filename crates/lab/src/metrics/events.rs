//! The table `events`, from records.

use std::collections::BTreeMap;

use sim::{CONNECTION_LOST, DROP_EVENTS, EventRecord, TREE_EVENTS, Trace};

use super::names::Names;
use crate::report::{Columns, Table};

/// Events whose value is a [`contract::PortId`]: where traffic was moved to, and the congested ports of ndnSieve's
/// signals.
const NAMING_PORTS: &[&str] = &["moved_to", "signal_mild", "signal_sieved"];

/// Events whose value is the [`contract::EndpointId`] of a receiver, or negative for none.
const NAMING_RECEIVERS: &[&str] = &["representative", "absent", "clr", "acker"];

pub(super) fn events(trace: &Trace, names: &Names) -> Table {
    let rows: BTreeMap<u32, usize> =
        trace.receivers.iter().enumerate().map(|(row, receiver)| (receiver.endpoint.0, row)).collect();
    let text = |event: &EventRecord| {
        let index = event.value as usize;
        let named = match event.name {
            name if NAMING_PORTS.contains(&name) => names.ports.get(index),
            CONNECTION_LOST => trace.reasons.get(index),
            "prefix_moved" => names.prefixes.get(index),
            "route_moved" | "command_sent" => names.nodes.get(index),
            name if TREE_EVENTS.contains(&name) => names.flows.get(index),
            name if DROP_EVENTS.contains(&name) && event.value >= 0.0 => names.flows.get(index),
            _ => None,
        };
        if let Some(named) = named {
            return named.clone();
        }
        let named = NAMING_RECEIVERS.contains(&event.name) && event.value >= 0.0;
        let row = named.then(|| rows.get(&(event.value as u32))).flatten();
        row.map(|&row| names.receiver(row).to_owned()).unwrap_or_default()
    };
    Columns::of("events", &trace.events)
        .number("time_s", |event| Some(event.at.as_secs_f64()))
        .text("subject", |event| names.of(event.subject).to_owned())
        .text("event", |event| event.name.to_owned())
        .number("value", |event| Some(event.value))
        .text("text", text)
        .done()
}
