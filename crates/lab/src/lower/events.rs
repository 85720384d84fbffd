//! Events during a run: changes of links, routes, flows, group members, and resets of nodes.

use contract::{NodeId, ParamKind};
use sim::{Change, FlowKind, RouteSpec};
use units::{Duration, Time};

use super::flows::{Setting, Traffic};
use crate::schema::file::{Action, Event, File, Route};
use crate::schema::read::{At, Field, Notes, shortened, suggestion};
use crate::topology::{Net, Paths};

/// Most changes of a plan.
const MAX_CHANGES: usize = 1_000_000;

/// All changes, in the order in which they are written.
pub(crate) fn build(
    file: &File,
    setting: &Setting<'_>,
    traffic: &Traffic,
    paths: &Paths<'_>,
    notes: &mut Notes,
) -> Vec<(Time, Change)> {
    let net = setting.net;
    let mut list = Vec::new();
    for event in file.events.given().map_or(&[][..], |events| &events.value) {
        let at =
            event.at.required("at", "an event", event.place, notes).map_or(Duration::ZERO, |at| at.value);
        let subjects: Vec<&str> = event
            .written()
            .into_iter()
            .map(|(key, _)| key)
            .filter(|key| matches!(*key, "link" | "flow" | "route"))
            .collect();
        let changes = match subjects[..] {
            ["link"] => link(event, net, notes),
            ["flow"] => flow(event, net, traffic, notes),
            ["route"] => event
                .route
                .given()
                .and_then(|route| self::route(route, net, notes))
                .filter(|spec| {
                    let near = paths.adjacent(spec.at, spec.via);
                    debug_assert!(near, "a route is checked when it is read");
                    near
                })
                .map(|spec| vec![Change::Route(spec)])
                .unwrap_or_default(),
            [] if event.node.given().is_some() && event.flow.is_missing() => node(event, setting, notes),
            [] => {
                // a subject that is written wrongly is noted already
                let missing = event.link.is_missing() && event.flow.is_missing();
                if missing && event.route.is_missing() && event.node.is_missing() {
                    notes
                        .wrong(event.place, "this event is about nothing")
                        .hint("say `link`, `flow`, `route` or `node`");
                }
                Vec::new()
            }
            _ => {
                notes
                    .wrong(event.place, format!("this event is about {}", subjects.join(" and ")))
                    .hint("write one event for each");
                Vec::new()
            }
        };
        if list.len() + changes.len() > MAX_CHANGES {
            notes.wrong(event.place, "too many events").hint(format!("at most {MAX_CHANGES}"));
            break;
        }
        list.extend(changes.into_iter().map(|change| (Time::ZERO + at, change)));
    }
    list
}

/// Notes keys of an event that its subject does not take.
fn refuse(event: &Event, known: &[&str], of: &str, notes: &mut Notes) {
    for (key, place) in event.written() {
        if key != "at" && !known.contains(&key) {
            notes
                .wrong(place, format!("an event of a {of} takes no `{key}`"))
                .hint(format!("it takes {}", known.join(", ")));
        }
    }
}

fn link(event: &At<Event>, net: &Net, notes: &mut Notes) -> Vec<Change> {
    refuse(event, &["link", "rate", "delay", "loss", "up"], "link", notes);
    let Some(id) = event.link.given().and_then(|name| net.find_link(name, notes)) else { return Vec::new() };
    let mut changes = Vec::new();
    changes.extend(event.rate.given().map(|at| Change::LinkRate(id, at.value)));
    changes.extend(event.delay.given().map(|at| Change::LinkDelay(id, at.value)));
    changes.extend(event.loss.given().map(|at| Change::LinkLoss(id, at.value)));
    changes.extend(event.up.given().map(|at| Change::LinkUp(id, at.value)));
    if event.rate.is_missing() && event.delay.is_missing() && event.loss.is_missing() && event.up.is_missing()
    {
        notes.wrong(event.place, "this event changes nothing").hint("say `rate`, `delay`, `loss` or `up`");
    }
    changes
}

fn flow(event: &At<Event>, net: &Net, traffic: &Traffic, notes: &mut Notes) -> Vec<Change> {
    refuse(event, &["flow", "action", "mode", "node"], "flow", notes);
    let Some(name) = event.flow.given() else { return Vec::new() };
    let flows = traffic.find(name);
    if flows.is_none() && !traffic.refused(name) {
        let mut known: Vec<&str> = traffic.names().collect();
        known.dedup();
        notes
            .wrong(name.place, format!("no flow is called `{}`", shortened(name)))
            .maybe(suggestion(name, known.iter().copied()));
    }
    let action = event.action.required("action", "an event of a flow", event.place, notes);
    let (Some(flows), Some(written)) = (flows, action) else { return Vec::new() };
    let action = written.value;
    if action == Action::Reset {
        notes
            .wrong(written.place, "a flow cannot be reset")
            .hint("a node of the name-based network can: write node = \"NODE\" and leave `flow` out");
        return Vec::new();
    }
    let misplaced = [
        ("mode", event.mode.given().filter(|_| action != Action::Mode)),
        ("node", event.node.given().filter(|_| !matches!(action, Action::Join | Action::Leave))),
    ];
    for (key, at) in misplaced {
        if let Some(at) = at {
            notes
                .wrong(at.place, format!("`{key}` does not go with action = \"{}\"", action.word()))
                .hint("leave it out");
        }
    }
    match action {
        Action::Reset => Vec::new(),
        Action::Start => flows.into_iter().map(Change::FlowStart).collect(),
        Action::Stop => flows.into_iter().map(Change::FlowStop).collect(),
        Action::Mode => {
            let Some(mode) = event.mode.required("mode", "action = \"mode\"", event.place, notes) else {
                return Vec::new();
            };
            let deaf = |id: &contract::FlowId| {
                traffic.flows.get(id.index()).is_none_or(|flow| !matches!(flow.kind, FlowKind::Stream(_)))
            };
            if flows.iter().any(deaf) {
                notes
                    .wrong(name.place, "only streams have modes")
                    .hint("name a flow whose scheme is a stream");
            }
            for id in &flows {
                let scheme = traffic.flows.get(id.index()).and_then(|flow| flow.scheme.as_deref());
                let Some(scheme) = scheme.filter(|_| !deaf(id)) else { continue };
                let modes = modes(scheme);
                if !modes.contains(&mode.value.as_str()) {
                    let note = match modes {
                        [] => notes.wrong(name.place, format!("`{scheme}` has no modes")),
                        _ => {
                            notes.wrong(mode.place, format!("`{}` is no mode of `{scheme}`", shortened(mode)))
                        }
                    };
                    note.maybe(suggestion(mode, modes.iter().copied()));
                    break;
                }
            }
            flows.into_iter().map(|id| Change::Mode(id, mode.value.clone())).collect()
        }
        Action::Join | Action::Leave => {
            let Some(node_name) = event.node.required("node", "a join or leave", event.place, notes) else {
                return Vec::new();
            };
            let Some(node) = net.find_node(node_name, notes) else { return Vec::new() };
            let mut changes = Vec::new();
            for id in flows {
                let Some(flow) = traffic.flows.get(id.index()) else { continue };
                if !flow.to.iter().any(|receiver| receiver.node == node) {
                    notes
                        .wrong(
                            node_name.place,
                            format!("`{}` is no receiver of `{}`", shortened(node_name), flow.name),
                        )
                        .hint("list it under the flow's `to`");
                    break;
                }
                changes.push(if action == Action::Join {
                    Change::Join(id, node)
                } else {
                    Change::Leave(id, node)
                });
            }
            changes
        }
    }
}

/// The modes that a scheme can change to while it runs: the words of its parameter `mode`.
pub(crate) fn modes(scheme: &str) -> &'static [&'static str] {
    let params = schemes::find(scheme).map(|entry| (entry.params)()).unwrap_or_default();
    match params.iter().find(|param| param.name == "mode").map(|param| param.kind) {
        Some(ParamKind::Choice(words)) => words,
        _ => &[],
    }
}

fn node(event: &At<Event>, setting: &Setting<'_>, notes: &mut Notes) -> Vec<Change> {
    let Setting { net, icn, ndn, sdn, .. } = *setting;
    refuse(event, &["node", "action"], "node", notes);
    let node = event.node.given().and_then(|name| net.find_node(name, notes).map(|node| (name, node)));
    let Some(action) = event.action.required("action", "an event of a node", event.place, notes) else {
        return Vec::new();
    };
    if let (Some((name, node)), Action::Stop | Action::Start) = (node, action.value) {
        if sdn.is_controller(node) {
            return vec![Change::Controller(action.value == Action::Start)];
        }
        notes
            .wrong(
                name.place,
                format!("`{}` is no controller, which alone can stop and start", shortened(name)),
            )
            .hint("say the `flow` that it is about, or name the node of the SDN controller");
        return Vec::new();
    }
    if action.value != Action::Reset {
        notes
            .wrong(action.place, format!("a node knows no action `{}`", action.word()))
            .hint("say the `flow` that it is about, or write action = \"reset\"");
        return Vec::new();
    }
    let Some((name, node)) = node else { return Vec::new() };
    if !icn.knows(Some(node)) && !ndn.knows(node) {
        let nodes = icn.nodes().chain(ndn.nodes().iter().copied());
        let known: Vec<&str> = nodes.map(|node| net.nodes[node.index()].as_str()).collect();
        let nobody = "no flow is sent by name: write network = \"icn\" in one".to_owned();
        notes
            .wrong(name.place, format!("`{}` does not route by name", shortened(name)))
            .maybe(suggestion(name, known.iter().copied()).or(Some(nobody)));
        return Vec::new();
    }
    vec![Change::Reset(node)]
}

/// A route whose names are known and whose next node is a neighbour.
pub(crate) fn route(route: &At<Route>, net: &Net, notes: &mut Notes) -> Option<RouteSpec> {
    let mut node = |field: &Field<String>, key: &str| -> Option<NodeId> {
        let name = field.required(key, "a route", route.place, notes)?;
        net.find_node(name, notes)
    };
    let (at, to, via) = (node(&route.at, "at"), node(&route.to, "to"), node(&route.via, "via"));
    let (at, to, via) = (at?, to?, via?);
    let name = |id: NodeId| &net.nodes[id.index()];
    if at == to {
        notes.wrong(route.place, format!("`{}` needs no route to itself", name(at))).hint("leave it out");
        return None;
    }
    let joined = net.links.iter().any(|link| link.ends == (at, via) || link.ends == (via, at));
    if !joined {
        let place = route.via.given().map_or(route.place, |at| at.place);
        notes
            .wrong(place, format!("no link joins `{}` and `{}`", name(at), name(via)))
            .hint("`via` is the next node, not a later one");
        return None;
    }
    Some(RouteSpec { at, to, via })
}
