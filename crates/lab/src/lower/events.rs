//! Changes during a run.

use std::collections::BTreeMap;

use contract::FlowId;
use sim::{Change, FlowSpec};
use units::Time;

use super::{Ids, network};
use crate::schema::file::{Action, Event, File};

/// Each event of a resolved tree is one change.
pub(super) fn events(file: &File, ids: &Ids<'_>, flows: &[FlowSpec]) -> Vec<(Time, Change)> {
    if file.events.items().is_empty() {
        return Vec::new();
    }
    let flows: BTreeMap<&str, FlowId> =
        flows.iter().map(|flow| flow.name.as_str()).zip((0..).map(FlowId)).collect();
    let events = file.events.items().iter();
    events.map(|event| (Time::ZERO + *event.at.resolved(), change(event, ids, &flows))).collect()
}

fn change(event: &Event, ids: &Ids<'_>, flows: &BTreeMap<&str, FlowId>) -> Change {
    let node = || ids.node(event.node.resolved());
    if let Some(name) = event.link.present() {
        let link = ids.link(name);
        return match (event.rate.present(), event.delay.present(), event.loss.present()) {
            (Some(rate), ..) => Change::LinkRate(link, rate.value),
            (_, Some(delay), _) => Change::LinkDelay(link, delay.value),
            (.., Some(loss)) => Change::LinkLoss(link, loss.value),
            (None, None, None) => Change::LinkUp(link, *event.up.resolved()),
        };
    }
    if let Some(route) = event.route.present() {
        return Change::Route(network::route(route, ids));
    }
    let action = *event.action.resolved();
    let Some(name) = event.flow.present() else {
        return match action {
            Action::Start | Action::Stop => Change::Controller(action == Action::Start),
            _ => Change::Reset(node()),
        };
    };
    let flow = *flows.get(name.as_str()).expect("events of a resolved tree name its flows");
    match action {
        Action::Start => Change::FlowStart(flow),
        Action::Stop => Change::FlowStop(flow),
        Action::Join => Change::Join(flow, node()),
        Action::Leave => Change::Leave(flow, node()),
        Action::Mode => Change::Mode(flow, event.mode.resolved().clone()),
        Action::Reset => Change::Reset(node()),
    }
}
