//! The check of a blueprint, and the agenda at the start of its run.

use std::collections::BTreeSet;

use contract::{FlowId, NameId, NodeId, ParamError};
use stack::tcp;
use units::{Bytes, Duration, Rate, Time};

use crate::agenda::{Agenda, AgendaEvent, Kind, MAX_INDEX};
use crate::fabric::Edge;
use crate::hosts::{LateFlows, access_routers};
use crate::{Blueprint, Cast, Change, ClockSpec, FlowKind, FlowSpec, PortSpec, QueueSpec, TokenBucket};

/// Indices of [`Kind::Run`].
pub(crate) const RUN_END: usize = 0;
pub(crate) const RUN_WARM: usize = 1;
pub(crate) const RUN_PROGRESS: usize = 2;
pub(crate) const RUN_UNTIL: usize = 3;
/// The first application; the others follow.
pub(crate) const RUN_APP: usize = 4;

/// The agenda: the run's own events, then receivers, senders and changes, so that events at equal times happen in this
/// order.
pub(crate) fn agenda(blueprint: &Blueprint) -> Agenda {
    let mut agenda = Agenda::default();
    let end = Time::ZERO + blueprint.duration;
    agenda.push(end, AgendaEvent::new(Kind::Run, RUN_END as u32));
    agenda.push(Time::ZERO, AgendaEvent::new(Kind::Run, RUN_PROGRESS as u32));
    if blueprint.warmup > Duration::ZERO {
        agenda.push(Time::ZERO + blueprint.warmup, AgendaEvent::new(Kind::Run, RUN_WARM as u32));
    }
    if blueprint.record.every > Duration::ZERO {
        agenda.push(Time::ZERO + blueprint.record.every, AgendaEvent::new(Kind::Sample, 0));
    }
    let late = LateFlows::of(blueprint);
    let flows = (0u32..).map(FlowId).zip(&blueprint.flows);
    let receivers = flows.flat_map(|(id, flow)| {
        let late = late.contain(id, flow);
        flow.to.iter().map(move |receiver| (receiver, late))
    });
    for (index, (receiver, late)) in (0u32..).zip(receivers) {
        // receivers of late flows are made with their flow, and listen then
        if !late {
            agenda.push(receiver.start, AgendaEvent::new(Kind::ToggleReceiver, index));
        }
    }
    for (index, flow) in (0u32..).zip(&blueprint.flows) {
        agenda.push(flow.start, AgendaEvent::new(Kind::ToggleFlow, index));
    }
    for (index, (at, _)) in (0u32..).zip(&blueprint.events) {
        agenda.push(*at, AgendaEvent::new(Kind::Change, index));
    }
    for (index, app) in blueprint.apps.iter().enumerate() {
        agenda.push(app.start, AgendaEvent::new(Kind::Run, (RUN_APP + index) as u32));
    }
    agenda
}

/// Checks the name-based network: hosts, routers and the name resolution system are different nodes, and each source
/// and member has an access router.
fn check_names(blueprint: &Blueprint, exists: impl Fn(NodeId) -> bool) -> Result<(), ParamError> {
    let refuse = |name: &str, message: &str| {
        Err(ParamError {
            name: name.to_owned(),
            message: message.to_owned(),
            hint: None,
            conflicts_with: None,
        })
    };
    let edges: Vec<Edge> = blueprint
        .links
        .iter()
        .flat_map(|link| {
            let edge = |from, to, spec: &PortSpec| Edge::new(from, to, spec.delay.as_nanos());
            [edge(link.ends.0, link.ends.1, &link.forward), edge(link.ends.1, link.ends.0, &link.backward)]
        })
        .collect();
    if let Some(icn) = &blueprint.icn {
        let sorted = icn.routers.windows(2).all(|pair| pair[0] < pair[1]);
        if !sorted || icn.routers.is_empty() || !icn.routers.iter().all(|&router| exists(router)) {
            return refuse("icn", "routers are nodes that exist, at least one, each once and in order");
        }
        if !exists(icn.resolver) || icn.routers.binary_search(&icn.resolver).is_ok() {
            return refuse("icn", "the name resolution system runs at a node that exists and is no router");
        }
        let config = &icn.config;
        if config.refresh == Duration::ZERO || config.retry == Duration::ZERO || config.lifetime == 0 {
            return refuse("icn", "`refresh`, `retry` and `lifetime` are above zero");
        }
    }
    let access = access_routers(blueprint, &edges);
    for flow in blueprint.flows.iter().filter(|flow| flow.cast == Cast::Named) {
        let Some(icn) = &blueprint.icn else {
            return refuse(&flow.name, "a group that is known by name needs a name-based network");
        };
        if !matches!(*flow.kind, FlowKind::Stream(_)) {
            return refuse(&flow.name, "only streams are sent to groups that are known by name");
        }
        let hosts = || [flow.from].into_iter().chain(flow.to.iter().map(|to| to.node));
        if hosts().any(|host| host == icn.resolver || icn.routers.binary_search(&host).is_ok()) {
            return refuse(&flow.name, "sources and members are at hosts, not at name routers");
        }
        if hosts().any(|host| access[host.index()].is_none()) {
            return refuse(&flow.name, "a source or member cannot reach any name router");
        }
    }
    Ok(())
}

/// Checks named data: consumers and producers are at nodes with a forwarder.
fn check_named_data(blueprint: &Blueprint, exists: impl Fn(NodeId) -> bool) -> Result<(), ParamError> {
    let refuse = |name: &str, message: &str| {
        Err(ParamError {
            name: name.to_owned(),
            message: message.to_owned(),
            hint: None,
            conflicts_with: None,
        })
    };
    let consumes = |flow: &&FlowSpec| matches!(*flow.kind, FlowKind::Ndn(_));
    let Some(ndn) = &blueprint.ndn else {
        return match blueprint.flows.iter().find(consumes) {
            Some(flow) => refuse(&flow.name, "named data needs nodes that forward by name"),
            None => Ok(()),
        };
    };
    if !ndn.nodes.windows(2).all(|pair| pair[0] < pair[1]) || !ndn.nodes.iter().all(|&node| exists(node)) {
        return refuse("ndn", "forwarders are at nodes that exist, each once and in order");
    }
    let forwards = |node: NodeId| ndn.nodes.binary_search(&node).is_ok();
    let named = |prefix: NameId| prefix.index() < ndn.names.count();
    if blueprint
        .icn
        .iter()
        .any(|icn| forwards(icn.resolver) || icn.routers.iter().any(|&node| forwards(node)))
    {
        return refuse(
            "ndn",
            "a node has one state machine: a name router cannot forward named data as well",
        );
    }
    if !ndn.producers.iter().all(|producer| forwards(producer.node) && named(producer.config.prefix)) {
        return refuse("ndn", "producers serve prefixes of the tree of names, at nodes with a forwarder");
    }
    if !ndn.routes.iter().all(|route| forwards(route.at) && forwards(route.via) && named(route.prefix)) {
        return refuse(
            "ndn",
            "pinned next hops lead from forwarder to forwarder, for prefixes of the tree of names",
        );
    }
    for flow in blueprint.flows.iter().filter(consumes) {
        let FlowKind::Ndn(config) = &*flow.kind else { continue };
        if !flow.to.is_empty() || flow.cast != Cast::Unicast {
            return refuse(&flow.name, "a consumer has no receivers: the producer of the prefix answers");
        }
        if !forwards(flow.from) || !named(config.prefix) {
            return refuse(
                &flow.name,
                "a consumer is at a node with a forwarder and asks for a prefix of the tree of names",
            );
        }
    }
    Ok(())
}

/// Checks SDN: the controller has a separate node, and agents are at other nodes.
fn check_control(blueprint: &Blueprint, exists: impl Fn(NodeId) -> bool) -> Result<(), ParamError> {
    let refuse = |message: &str| {
        Err(ParamError {
            name: "sdn".to_owned(),
            message: message.to_owned(),
            hint: None,
            conflicts_with: None,
        })
    };
    let Some(sdn) = &blueprint.sdn else {
        let commands = |(_, change): &(Time, Change)| matches!(change, Change::Controller(_));
        return match blueprint.events.iter().any(commands) {
            true => refuse("there is no controller that could stop or start"),
            false => Ok(()),
        };
    };
    let sorted = sdn.nodes.windows(2).all(|pair| pair[0] < pair[1]);
    if !sorted || sdn.nodes.is_empty() || !sdn.nodes.iter().all(|&node| exists(node)) {
        return refuse("agents are at nodes that exist, at least one, each once and in order");
    }
    if !exists(sdn.controller) || sdn.nodes.binary_search(&sdn.controller).is_ok() {
        return refuse("the controller runs at a node that exists and has no agent");
    }
    let is_taken = |node: NodeId| {
        blueprint.ndn.iter().any(|ndn| ndn.nodes.binary_search(&node).is_ok())
            || blueprint
                .icn
                .iter()
                .any(|icn| icn.resolver == node || icn.routers.binary_search(&node).is_ok())
    };
    if is_taken(sdn.controller) {
        return refuse("a node has one state machine: the controller's cannot route by name as well");
    }
    let ends =
        |flow: &FlowSpec| flow.from == sdn.controller || flow.to.iter().any(|to| to.node == sdn.controller);
    if blueprint.flows.iter().any(ends) {
        return refuse("the controller's node is no end of a flow");
    }
    let other = |link: &crate::LinkSpec| match link.ends {
        (node, at) | (at, node) if at == sdn.controller => Some(node),
        _ => None,
    };
    let joined: BTreeSet<NodeId> = blueprint.links.iter().filter_map(other).collect();
    if sdn.out_of_band && !sdn.nodes.iter().all(|node| joined.contains(node)) {
        return refuse("out of band, a link joins every agent with the controller");
    }
    if sdn.config.period == Duration::ZERO || sdn.config.retry == Duration::ZERO {
        return refuse("`period` and `retry` are above zero");
    }
    Ok(())
}

/// Checks token buckets, and that neither an event nor a controller changes a rate that a trace or a shaper plans.
fn check_traces(blueprint: &Blueprint) -> Result<(), ParamError> {
    let refuse = |name: &str, message: &str| {
        Err(ParamError {
            name: name.to_owned(),
            message: message.to_owned(),
            hint: None,
            conflicts_with: None,
        })
    };
    let agents = blueprint.sdn.as_ref().map_or(&[][..], |sdn| &sdn.nodes);
    let controlled = |node: NodeId| agents.binary_search(&node).is_ok();
    for (id, link) in (0u32..).zip(&blueprint.links) {
        let planned = |port: &PortSpec| port.trace.is_some() || port.shaper.is_some();
        let port_of_agent = |port: &PortSpec, owner| planned(port) && controlled(owner);
        let ports = [&link.forward, &link.backward];
        let wrong = |bucket: &TokenBucket| {
            bucket.rate == Rate::ZERO
                || bucket.rate == Rate::UNLIMITED
                || bucket.burst == Bytes::ZERO
                || bucket.burst > TokenBucket::MAX_BURST
        };
        if ports.iter().flat_map(|port| [&port.policer, &port.shaper]).flatten().any(wrong) {
            return refuse(&link.name, "a token bucket has a rate, and a burst of 1 byte to 2 GB");
        }
        if ports.iter().any(|port| port.trace.is_some() && port.shaper.is_some()) {
            return refuse(&link.name, "a link follows a trace or has a shaper, not both");
        }
        if port_of_agent(&link.forward, link.ends.0) || port_of_agent(&link.backward, link.ends.1) {
            return refuse(
                &link.name,
                "a controller limits the rate of its agents' ports, and this one follows a trace or has a shaper",
            );
        }
        let changes =
            |(_, change): &(Time, Change)| matches!(change, Change::LinkRate(link, _) if link.0 == id);
        if ports.iter().any(|port| planned(port)) && blueprint.events.iter().any(changes) {
            return refuse(&link.name, "an event cannot change a rate that follows a trace or has a shaper");
        }
        let delays = |port: &PortSpec| port.trace.as_ref().is_some_and(|trace| trace.has_delays());
        let reroutes =
            |(_, change): &(Time, Change)| matches!(change, Change::LinkDelay(link, _) if link.0 == id);
        if ports.iter().any(|port| delays(port)) && blueprint.events.iter().any(reroutes) {
            return refuse(&link.name, "an event cannot change a delay that follows a trace");
        }
    }
    Ok(())
}

/// Checks applications: their flows exist, belong to one application, start with a request, and lead to one node.
fn check_apps(blueprint: &Blueprint) -> Result<(), ParamError> {
    let mut taken = vec![false; blueprint.flows.len()];
    for app in &blueprint.apps {
        let refuse = |message: &str| {
            Err(ParamError {
                name: app.name.clone(),
                message: message.to_owned(),
                hint: None,
                conflicts_with: None,
            })
        };
        let exists = app
            .flows
            .iter()
            .all(|flow| taken.get_mut(flow.index()).is_some_and(|taken| !std::mem::replace(taken, true)));
        if app.flows.is_empty() || !exists {
            return refuse("the connections of an application are flows that exist, each in one application");
        }
        let requested = |flow: &FlowSpec| match &*flow.kind {
            FlowKind::Tcp(config) => config.demand == tcp::Demand::Limited(Rate::ZERO),
            FlowKind::Stack(stack) => stack.size == Bytes::ZERO,
            FlowKind::Stream(_) | FlowKind::Datagram(_) | FlowKind::Ndn(_) => false,
        };
        let flows = || app.flows.iter().map(|flow| &blueprint.flows[flow.index()]);
        if !flows().all(|flow| requested(flow) && flow.start == Time::NEVER && flow.churn.is_none()) {
            return refuse("the flows of an application send what it requests, and start when it does");
        }
        let mut clients = flows().map(|flow| flow.to.first().map(|to| to.node));
        let client = clients.next();
        if !clients.all(|node| Some(node) == client) {
            return refuse("the flows of an application lead to one node");
        }
    }
    Ok(())
}

/// Checks what the engine relies on. `lab` rejects the same errors with their place in the file; this is for blueprints
/// in code.
pub(crate) fn check(blueprint: &Blueprint) -> Result<(), ParamError> {
    let refuse = |name: &str, message: &str| {
        Err(ParamError {
            name: name.to_owned(),
            message: message.to_owned(),
            hint: None,
            conflicts_with: None,
        })
    };
    let nodes = blueprint.nodes.len();
    let exists = |node: NodeId| node.index() < nodes;
    for link in &blueprint.links {
        if !exists(link.ends.0) || !exists(link.ends.1) || link.ends.0 == link.ends.1 {
            return refuse(&link.name, "a link joins two nodes that exist");
        }
        for queue in [&link.forward.queue, &link.backward.queue] {
            let QueueSpec { discipline, mark_above, class_weights, .. } = queue;
            if discipline.is_some() && (mark_above.is_some() || !class_weights.is_empty()) {
                return refuse(&link.name, "a queue discipline has no classes and marks by its own rule");
            }
        }
    }
    check_traces(blueprint)?;
    for flow in &blueprint.flows {
        if matches!(*flow.kind, FlowKind::Ndn(_)) {
            continue;
        }
        if flow.to.is_empty() || (flow.to.len() > 1 && flow.cast == Cast::Unicast) {
            return refuse(&flow.name, "a unicast flow has one receiver, a group at least one");
        }
        if flow.cast != Cast::Unicast && matches!(*flow.kind, FlowKind::Stack(_)) {
            return refuse(&flow.name, "a flow of a transport stack is unicast");
        }
        if !exists(flow.from) || flow.to.iter().any(|to| !exists(to.node) || to.node == flow.from) {
            return refuse(&flow.name, "sender and receiver are at different nodes that exist");
        }
    }
    let mut clocked = vec![false; nodes];
    let wrong =
        |clock: &ClockSpec| !exists(clock.node) || std::mem::replace(&mut clocked[clock.node.index()], true);
    if blueprint.clocks.iter().any(wrong) {
        return refuse("clocks", "clocks name nodes that exist, each at most once");
    }
    check_names(blueprint, exists)?;
    check_named_data(blueprint, exists)?;
    check_control(blueprint, exists)?;
    check_apps(blueprint)?;
    let nodes = blueprint.icn.as_ref().map_or(0, |icn| icn.routers.len() + 1)
        + blueprint.ndn.as_ref().map_or(0, |ndn| ndn.nodes.len())
        + blueprint.sdn.as_ref().map_or(0, |sdn| sdn.nodes.len() + 1);
    let wakes = blueprint.endpoints() + nodes;
    if wakes.max(blueprint.links.len() * 2).max(blueprint.events.len()) > MAX_INDEX
        || RUN_APP + blueprint.apps.len() > MAX_INDEX
    {
        return refuse("scenario", "there are more than 2^23 - 1 endpoints, ports, applications or events");
    }
    Ok(())
}
