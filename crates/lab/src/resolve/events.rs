//! Events during a run: changes of links, routes, flows, group members, and resets of nodes.

use contract::{FlowId, NodeId};
use sim::RouteSpec;
use units::Duration;

use super::model::Transport;
use super::params::modes;
use super::setting::Setting;
use super::traffic::Traffic;
use crate::schema::file::{Action, Event, File, Route};
use crate::schema::read::{At, Field, Notes, shortened, suggestion};
use crate::topology::Net;

/// Most changes of a plan.
const MAX_CHANGES: usize = 1_000_000;

/// A table for each change, in the order in which they are written.
pub(super) fn build(file: &File, setting: &Setting<'_>, traffic: &Traffic, notes: &mut Notes) -> Vec<Event> {
    let net = setting.net;
    let mut list = Vec::new();
    for event in file.events.items() {
        let at =
            event.at.required("at", "an event", event.location, notes).map_or(Duration::ZERO, |at| at.value);
        let subjects: Vec<&str> = event
            .written()
            .into_iter()
            .map(|(key, _)| key)
            .filter(|key| matches!(*key, "link" | "flow" | "route"))
            .collect();
        let changes = match subjects[..] {
            ["link"] => link(event, net, notes),
            ["flow"] => flow(event, net, traffic, notes),
            ["route"] => {
                let spec = event.route.present().and_then(|route| self::route(route, net, notes));
                spec.map(|_| Event { route: event.route.clone(), ..Event::default() }).into_iter().collect()
            }
            [] if event.node.present().is_some() && event.flow.is_missing() => node(event, setting, notes),
            [] => {
                // a subject that is written wrongly is noted already
                let missing = event.link.is_missing() && event.flow.is_missing();
                if missing && event.route.is_missing() && event.node.is_missing() {
                    notes
                        .wrong(event.location, "this event has no target")
                        .hint("write `link`, `flow`, `route` or `node`");
                }
                Vec::new()
            }
            _ => {
                notes
                    .wrong(
                        event.location,
                        format!("this event has more than one target: {}", subjects.join(" and ")),
                    )
                    .hint("write one event for each");
                Vec::new()
            }
        };
        if list.len() + changes.len() > MAX_CHANGES {
            notes.wrong(event.location, "too many events").hint(format!("at most {MAX_CHANGES}"));
            break;
        }
        list.extend(changes.into_iter().map(|change| Event {
            location: event.location,
            at: at.into(),
            ..change
        }));
    }
    list
}

/// Notes keys of an event that its subject does not take.
fn reject_keys(event: &Event, known: &[&str], of: &str, notes: &mut Notes) {
    for (key, location) in event.written() {
        if key != "at" && !known.contains(&key) {
            notes
                .wrong(location, format!("an event of a {of} takes no `{key}`"))
                .hint(format!("it takes {}", known.join(", ")));
        }
    }
}

fn link(event: &At<Event>, net: &Net, notes: &mut Notes) -> Vec<Event> {
    reject_keys(event, &["link", "rate", "delay", "loss", "up"], "link", notes);
    let Some(link) = event.link.present().and_then(|name| net.find_link(name, notes)) else {
        return Vec::new();
    };
    let spec = &net.links[link.index()];
    if let (Some(rate), true) = (
        event.rate.present(),
        [&spec.forward, &spec.backward].iter().any(|port| port.keys.trace.present().is_some()),
    ) {
        notes
            .wrong(rate.location, format!("the rate of `{}` follows a trace", spec.name))
            .hint("change the rate in the trace, or write a `rate` for the link");
    }
    let ports = [&spec.forward, &spec.backward];
    if let (Some(rate), true) = (event.rate.present(), ports.iter().any(|port| port.keys.shaping().is_some()))
    {
        notes
            .wrong(
                rate.location,
                format!("`{}` has a shaper, and an event cannot change its rate", spec.name),
            )
            .hint("leave the event or the shaper out: a shaper has one rate");
    }
    if let (Some(delay), true) = (event.delay.present(), ports.iter().any(|port| port.trace_delay.is_some()))
    {
        notes
            .wrong(delay.location, format!("the delay of `{}` follows a trace", spec.name))
            .hint("change the delay in the trace, or use a trace without delays");
    }
    let of = Event { link: event.link.clone(), ..Event::default() };
    let each = [
        event.rate.present().map(|_| Event { rate: event.rate.clone(), ..of.clone() }),
        event.delay.present().map(|_| Event { delay: event.delay.clone(), ..of.clone() }),
        event.loss.present().map(|_| Event { loss: event.loss.clone(), ..of.clone() }),
        event.up.present().map(|_| Event { up: event.up.clone(), ..of.clone() }),
    ];
    if event.rate.is_missing() && event.delay.is_missing() && event.loss.is_missing() && event.up.is_missing()
    {
        notes
            .wrong(event.location, "this event changes nothing")
            .hint("write `rate`, `delay`, `loss` or `up`");
    }
    each.into_iter().flatten().collect()
}

fn flow(event: &At<Event>, net: &Net, traffic: &Traffic, notes: &mut Notes) -> Vec<Event> {
    reject_keys(event, &["flow", "action", "mode", "node"], "flow", notes);
    let Some(name) = event.flow.present() else { return Vec::new() };
    let flows = traffic.find(name);
    if flows.is_none() && !traffic.refused(name) {
        let mut known: Vec<&str> = traffic.names().collect();
        known.dedup();
        notes
            .wrong(name.location, format!("no flow is called `{}`", shortened(name)))
            .maybe(suggestion(name, known.iter().copied()));
    }
    let action = event.action.required("action", "an event of a flow", event.location, notes);
    let (Some(flows), Some(written)) = (flows, action) else { return Vec::new() };
    let action = written.value;
    if action == Action::Reset {
        notes
            .wrong(written.location, "a flow cannot be reset")
            .hint("reset a node of the name-based network: write node = \"NODE\" and leave `flow` out");
        return Vec::new();
    }
    let misplaced = [
        ("mode", event.mode.present().filter(|_| action != Action::Mode)),
        ("node", event.node.present().filter(|_| !matches!(action, Action::Join | Action::Leave))),
    ];
    for (key, at) in misplaced {
        if let Some(at) = at {
            notes
                .wrong(at.location, format!("`{key}` does not go with action = \"{}\"", action.word()))
                .hint("leave it out");
        }
    }
    let of = |id: FlowId| Event {
        // a flow whose name is taken is not there
        flow: traffic.flows.get(id.index()).map(|flow| flow.name().to_owned()).into(),
        action: event.action.clone(),
        ..Event::default()
    };
    match action {
        Action::Reset => Vec::new(),
        Action::Start | Action::Stop => flows.into_iter().map(of).collect(),
        Action::Mode => modes_of(event, name, flows, traffic, notes)
            .into_iter()
            .map(|id| Event { mode: event.mode.clone(), ..of(id) })
            .collect(),
        Action::Join | Action::Leave => members(event, flows, net, traffic, notes)
            .into_iter()
            .map(|id| Event { node: event.node.clone(), ..of(id) })
            .collect(),
    }
}

/// The flows that change their mode.
fn modes_of(
    event: &At<Event>,
    name: &At<String>,
    flows: Vec<FlowId>,
    traffic: &Traffic,
    notes: &mut Notes,
) -> Vec<FlowId> {
    let Some(mode) = event.mode.required("mode", "action = \"mode\"", event.location, notes) else {
        return Vec::new();
    };
    let deaf =
        |id: &FlowId| traffic.flows.get(id.index()).is_none_or(|flow| flow.transport != Transport::Stream);
    if flows.iter().any(deaf) {
        notes.wrong(name.location, "only streams have modes").hint("name a flow whose scheme is a stream");
    }
    for id in &flows {
        let scheme = traffic.flows.get(id.index()).and_then(|flow| flow.scheme());
        let Some(scheme) = scheme.filter(|_| !deaf(id)) else { continue };
        let modes = modes(scheme);
        if !modes.contains(&mode.value.as_str()) {
            let note = match modes {
                [] => notes.wrong(name.location, format!("`{scheme}` has no modes")),
                _ => notes.wrong(mode.location, format!("`{}` is no mode of `{scheme}`", shortened(mode))),
            };
            note.maybe(suggestion(mode, modes.iter().copied()));
            break;
        }
    }
    flows
}

/// The flows whose receiver joins or leaves.
fn members(
    event: &At<Event>,
    flows: Vec<FlowId>,
    net: &Net,
    traffic: &Traffic,
    notes: &mut Notes,
) -> Vec<FlowId> {
    let Some(node_name) = event.node.required("node", "a join or leave", event.location, notes) else {
        return Vec::new();
    };
    let Some(node) = net.find_node(node_name, notes) else { return Vec::new() };
    let mut joined = Vec::new();
    for id in flows {
        let Some(flow) = traffic.flows.get(id.index()) else { continue };
        if !flow.to.contains(&node) {
            notes
                .wrong(
                    node_name.location,
                    format!("`{}` is no receiver of `{}`", shortened(node_name), flow.name()),
                )
                .hint("list it under the flow's `to`");
            break;
        }
        joined.push(id);
    }
    joined
}

fn node(event: &At<Event>, setting: &Setting<'_>, notes: &mut Notes) -> Vec<Event> {
    let Setting { net, icn, ndn, sdn, .. } = *setting;
    reject_keys(event, &["node", "action"], "node", notes);
    let node = event.node.present().and_then(|name| net.find_node(name, notes).map(|node| (name, node)));
    let Some(action) = event.action.required("action", "an event of a node", event.location, notes) else {
        return Vec::new();
    };
    let change = || Event { node: event.node.clone(), action: event.action.clone(), ..Event::default() };
    if let (Some((name, node)), Action::Stop | Action::Start) = (node, action.value) {
        if sdn.is_controller(node) {
            return vec![change()];
        }
        notes
            .wrong(
                name.location,
                format!(
                    "`{}` is not a controller, and only a controller can stop and start",
                    shortened(name)
                ),
            )
            .hint("name the `flow` as well, or name the node of the SDN controller");
        return Vec::new();
    }
    if action.value != Action::Reset {
        notes
            .wrong(action.location, format!("a node knows no action `{}`", action.word()))
            .hint("name the `flow` as well, or write action = \"reset\"");
        return Vec::new();
    }
    let Some((name, node)) = node else { return Vec::new() };
    if !icn.knows(Some(node)) && !ndn.knows(node) {
        let nodes = icn.nodes().chain(ndn.nodes().iter().copied());
        let known: Vec<&str> = nodes.map(|node| net.nodes[node.index()].as_str()).collect();
        let hint = "no flow is sent by name: write network = \"icn\" in one".to_owned();
        notes
            .wrong(name.location, format!("`{}` does not route by name", shortened(name)))
            .maybe(suggestion(name, known.iter().copied()).or(Some(hint)));
        return Vec::new();
    }
    vec![change()]
}

/// A route whose names are known and whose next node is a neighbour.
pub(super) fn route(route: &At<Route>, net: &Net, notes: &mut Notes) -> Option<RouteSpec> {
    let mut node = |field: &Field<String>, key: &str| -> Option<NodeId> {
        let name = field.required(key, "a route", route.location, notes)?;
        net.find_node(name, notes)
    };
    let (at, to, via) = (node(&route.at, "at"), node(&route.to, "to"), node(&route.via, "via"));
    let (at, to, via) = (at?, to?, via?);
    let name = |id: NodeId| &net.nodes[id.index()];
    if at == to {
        notes.wrong(route.location, format!("`{}` needs no route to itself", name(at))).hint("leave it out");
        return None;
    }
    let joined = net.links.iter().any(|link| link.ends == (at, via) || link.ends == (via, at));
    if !joined {
        let location = route.via.present().map_or(route.location, |at| at.location);
        notes
            .wrong(location, format!("no link joins `{}` and `{}`", name(at), name(via)))
            .hint("`via` is the next node, not a later one");
        return None;
    }
    if let Some(controller) = net.control_node.filter(|control_node| [at, via].contains(control_node)) {
        notes
            .wrong(
                route.location,
                format!("no route leads over a link of the controller `{}`", name(controller)),
            )
            .hint("write out_of_band = false under `sdn`: then its links are links of the network");
        return None;
    }
    Some(RouteSpec { at, to, via })
}
