//! A plan in the words of a scenario, every value written out.

use std::fmt::Write;

use sim::{
    Cast, Change, Churn, Emulation, FlowEmulation, FlowKind, FlowSpec, IcnSpec, Limit, LinkSpec, Metric,
    PortSpec, ReceiverSpec, RouteSpec,
};
use stack::datagram::{Pattern, Spell};
use stack::queue::CodelConfig;
use stack::{stream, tcp};
use toml::{Table, Value};
use units::{Bytes, Duration, Rate, Time, UnitText};

use super::Plan;
use super::print_ndn::{ndn_table, producer_tables, put_consumer, sdn_table};
use super::print_video::{player_table, video_table};

/// The plan as a tree of TOML.
pub(crate) fn tree(plan: &Plan) -> Table {
    let blueprint = &plan.blueprint;
    let mut root = Table::new();
    put(&mut root, "title", plan.title.clone());
    put(&mut root, "seed", i64::try_from(blueprint.seed).unwrap_or(i64::MAX));
    put(&mut root, "duration", span(blueprint.duration));
    put(&mut root, "warmup", span(blueprint.warmup));

    let node_name = |id: contract::NodeId| blueprint.nodes[id.index()].clone();
    let nodes = blueprint.nodes.iter().zip(&plan.positions).map(|(name, (x, y))| {
        let mut node = Table::new();
        put(&mut node, "name", name.clone());
        put(&mut node, "x", *x);
        put(&mut node, "y", *y);
        Value::Table(node)
    });
    let mut topology = Table::new();
    put(&mut topology, "kind", "custom");
    put(&mut topology, "nodes", nodes.collect::<Vec<_>>());
    let ends =
        |link: &LinkSpec| vec![Value::from(node_name(link.ends.0)), Value::from(node_name(link.ends.1))];
    let links = blueprint.links.iter().map(|link| link_table(link, ends(link)));
    put(&mut topology, "links", links.collect::<Vec<_>>());
    put(&mut root, "topology", topology);

    let route = |route: &RouteSpec| {
        let mut table = Table::new();
        put(&mut table, "at", node_name(route.at));
        put(&mut table, "to", node_name(route.to));
        put(&mut table, "via", node_name(route.via));
        Value::Table(table)
    };
    let mut routing = Table::new();
    put(
        &mut routing,
        "metric",
        match blueprint.metric {
            Metric::Delay => "delay",
            Metric::Hops => "hops",
        },
    );
    put(&mut routing, "routes", blueprint.routes.iter().map(route).collect::<Vec<_>>());
    put(&mut root, "routing", routing);

    if let Some(icn) = &blueprint.icn {
        put(&mut root, "icn", icn_table(icn, &node_name));
    }
    if let Some(ndn) = &blueprint.ndn {
        put(&mut root, "ndn", ndn_table(ndn, &node_name));
        put(&mut root, "producers", producer_tables(ndn, &node_name));
    }

    let clocks = blueprint.clocks.iter().map(|clock| {
        let mut table = Table::new();
        put(&mut table, "node", node_name(clock.node));
        put(&mut table, "offset", exact(clock.offset, format!("{} ns", clock.offset.as_nanos())));
        put(&mut table, "drift", clock.drift.to_string());
        Value::Table(table)
    });
    put(&mut root, "clocks", clocks.collect::<Vec<_>>());
    if let Some(sdn) = &blueprint.sdn {
        put(&mut root, "sdn", sdn_table(sdn, &node_name));
    }

    let mut groups = vec![""; blueprint.flows.len()];
    for group in &plan.groups {
        for id in &group.flows {
            groups[id.index()] = &group.name;
        }
    }
    let prefix = |id| blueprint.ndn.as_ref().map_or_else(String::new, |ndn| ndn.names.text(id));
    let flows =
        blueprint.flows.iter().zip(groups).map(|(flow, group)| flow_table(flow, group, &node_name, &prefix));
    let mut flows: Vec<Value> = flows.collect();
    for group in plan.groups.iter().filter(|group| group.flows.is_empty()) {
        let mut table = Table::new();
        put(&mut table, "name", group.name.clone());
        put(&mut table, "count", 0);
        flows.push(Value::Table(table));
    }
    put(&mut root, "flows", flows);

    let events = blueprint.events.iter().map(|(at, change)| {
        let mut event = Table::new();
        put(&mut event, "at", span(at.saturating_since(Time::ZERO)));
        let link = |id: contract::LinkId| Value::from(blueprint.links[id.index()].name.clone());
        let flow = |id: contract::FlowId| Value::from(blueprint.flows[id.index()].name.clone());
        let pairs: Vec<(&str, Value)> = match change {
            Change::LinkRate(id, to) => vec![("link", link(*id)), ("rate", rate(*to).into())],
            Change::LinkDelay(id, to) => vec![("link", link(*id)), ("delay", span(*to).into())],
            Change::LinkLoss(id, to) => vec![("link", link(*id)), ("loss", (*to).into())],
            Change::LinkUp(id, to) => vec![("link", link(*id)), ("up", (*to).into())],
            Change::Route(to) => vec![("route", route(to))],
            Change::FlowStart(id) => vec![("flow", flow(*id)), ("action", "start".into())],
            Change::FlowStop(id) => vec![("flow", flow(*id)), ("action", "stop".into())],
            Change::Join(id, node) => {
                vec![("flow", flow(*id)), ("action", "join".into()), ("node", node_name(*node).into())]
            }
            Change::Leave(id, node) => {
                vec![("flow", flow(*id)), ("action", "leave".into()), ("node", node_name(*node).into())]
            }
            Change::Reset(node) => vec![("node", node_name(*node).into()), ("action", "reset".into())],
            Change::Controller(on) => {
                let controller =
                    blueprint.sdn.as_ref().map_or_else(String::new, |sdn| node_name(sdn.controller));
                let action = if *on { "start" } else { "stop" };
                vec![("node", controller.into()), ("action", action.into())]
            }
            Change::Mode(id, mode) => {
                vec![("flow", flow(*id)), ("action", "mode".into()), ("mode", mode.clone().into())]
            }
        };
        event.extend(pairs.into_iter().map(|(key, value)| (key.to_owned(), value)));
        Value::Table(event)
    });
    put(&mut root, "events", events.collect::<Vec<_>>());

    let mut record = Table::new();
    if blueprint.record.every > Duration::ZERO {
        put(&mut record, "every", span(blueprint.record.every));
    }
    put(&mut record, "series", blueprint.record.series.clone());
    put(&mut record, "events", blueprint.record.events);
    if blueprint.record.distributions {
        put(&mut record, "distributions", true);
    }
    put(&mut root, "record", record);

    if blueprint.emulation != Emulation::default() {
        put(&mut root, "emulation", emulation_table(&blueprint.emulation, &node_name));
    }
    let expect: Table =
        plan.expect.iter().map(|row| (row.key.clone(), Value::from(row.text.clone()))).collect();
    put(&mut root, "expect", expect);
    root
}

/// The tree as JSON.
pub(crate) fn to_json(tree: &Table) -> serde_json::Value {
    serde_json::to_value(tree).expect("a plan has text, finite numbers, lists and tables only")
}

/// The tree as TOML with one node, link or route a line.
pub(crate) fn to_toml(tree: &Table) -> String {
    let mut out = String::new();
    let empty = |value: &Value| value.as_array().is_some_and(Vec::is_empty);
    // keys without a table of their own come first
    for (name, value) in tree.iter().filter(|(_, value)| empty(value)) {
        line(&mut out, name, value);
    }
    for (name, value) in tree {
        match value {
            _ if empty(value) => {}
            Value::Table(table) => {
                let _ = write!(out, "\n[{name}]\n");
                for (key, inner) in table {
                    line(&mut out, key, inner);
                }
            }
            Value::Array(items) => {
                for item in items {
                    let _ = write!(out, "\n[[{name}]]\n");
                    for (key, inner) in item.as_table().into_iter().flatten() {
                        line(&mut out, key, inner);
                    }
                }
            }
            _ => line(&mut out, name, value),
        }
    }
    out
}

/// One key; a list of tables has one table a line.
fn line(out: &mut String, key: &str, value: &Value) {
    let bare = !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    let key = if bare { key.to_owned() } else { Value::from(key).to_string() };
    let _ = match value {
        Value::Array(items) if items.iter().any(Value::is_table) => {
            let rows: String = items.iter().map(|item| format!("  {item},\n")).collect();
            write!(out, "{key} = [\n{rows}]\n")
        }
        _ => writeln!(out, "{key} = {value}"),
    };
}

pub(crate) fn put(table: &mut Table, key: &str, value: impl Into<Value>) {
    table.insert(key.to_owned(), value.into());
}

/// The text of a quantity where it reads back exactly, or else in the smallest unit.
fn exact<T: UnitText + ToString + PartialEq>(value: T, smallest: String) -> String {
    let text = value.to_string();
    if T::from_text(&text).is_ok_and(|read| read == value) { text } else { smallest }
}

pub(crate) fn span(value: Duration) -> String {
    exact(value, format!("{} ns", value.as_nanos()))
}

pub(crate) fn rate(value: Rate) -> String {
    exact(value, format!("{} bit/s", value.as_bps()))
}

pub(crate) fn size(value: Bytes) -> String {
    exact(value, format!("{} B", value.as_u64()))
}

fn instant(value: Time) -> String {
    if value == Time::NEVER { "never".to_owned() } else { span(value.saturating_since(Time::ZERO)) }
}

fn link_table(link: &LinkSpec, ends: Vec<Value>) -> Value {
    let mut table = Table::new();
    put(&mut table, "name", link.name.clone());
    put(&mut table, "ends", ends);
    put_port(&mut table, &link.forward, None);
    if link.backward != link.forward {
        let mut back = Table::new();
        put_port(&mut back, &link.backward, Some(&link.forward));
        put(&mut table, "backward", back);
    }
    Value::Table(table)
}

/// A direction; what the other direction has and this one has not is taken away.
fn put_port(table: &mut Table, port: &PortSpec, over: Option<&PortSpec>) {
    put(table, "rate", rate(port.rate));
    put(table, "delay", span(port.delay));
    put(table, "loss", port.loss);
    let buffer = match port.queue.limit {
        Limit::Packets(n) => format!("{n} packets"),
        Limit::Bytes(bytes) => size(bytes),
    };
    put(table, "buffer", buffer);
    match port.queue.codel {
        Some(codel) => put(table, "queue", Value::Table(codel_table(codel))),
        None if over.is_some_and(|other| other.queue.codel.is_some()) => put(table, "queue", "fifo"),
        None => {}
    }
    match port.queue.mark_above {
        Some(n) => put(table, "mark_above", i64::from(n)),
        None if over.is_some_and(|other| other.queue.mark_above.is_some()) => put(table, "mark_above", false),
        None => {}
    }
    if !port.queue.class_weights.is_empty() || over.is_some_and(|other| !other.queue.class_weights.is_empty())
    {
        let weights: Vec<Value> =
            port.queue.class_weights.iter().map(|n| Value::from(i64::from(*n))).collect();
        put(table, "classes", weights);
    }
}

fn codel_table(codel: CodelConfig) -> Table {
    let mut table = Table::new();
    put(&mut table, "kind", "codel");
    put(&mut table, "target", span(codel.target));
    put(&mut table, "interval", span(codel.interval));
    put(&mut table, "mark", codel.mark);
    table
}

fn emulation_table(emulation: &Emulation, node_name: &dyn Fn(contract::NodeId) -> String) -> Table {
    let mut table = Table::new();
    let real = emulation.real.iter().map(|node| Value::from(node_name(*node)));
    put(&mut table, "real", real.collect::<Vec<_>>());
    put(&mut table, "max_lateness", span(emulation.max_lateness));
    table
}

/// Who takes the place of a flow's machines in an emulation.
fn put_outside(table: &mut Table, flow: &FlowSpec) {
    match &flow.emulation {
        None => {}
        Some(FlowEmulation::Kernel(name)) => put(table, "kernel", name.clone()),
        Some(FlowEmulation::Live) => put(table, "live", true),
        Some(FlowEmulation::Commands { sender, receiver }) => {
            let mut commands = Table::new();
            for (key, text) in [("sender", sender), ("receiver", receiver)] {
                if let Some(text) = text {
                    put(&mut commands, key, text.clone());
                }
            }
            put(table, "commands", commands);
        }
    }
}

fn icn_table(icn: &IcnSpec, node_name: &dyn Fn(contract::NodeId) -> String) -> Table {
    let mut table = Table::new();
    put(&mut table, "resolver", node_name(icn.resolver));
    let routers = icn.routers.iter().map(|router| Value::from(node_name(*router)));
    put(&mut table, "routers", routers.collect::<Vec<_>>());
    put(&mut table, "refresh", span(icn.config.refresh));
    put(&mut table, "lifetime", i64::from(icn.config.lifetime));
    put(&mut table, "initial_rto", span(icn.config.retry));
    put(&mut table, "signal", size(icn.config.signal));
    put(&mut table, "probe", size(icn.config.probe));
    put(&mut table, "probe_packets", i64::from(icn.config.probe_packets));
    table
}

fn flow_table(
    flow: &FlowSpec,
    group: &str,
    node_name: &dyn Fn(contract::NodeId) -> String,
    prefix: &dyn Fn(contract::NameId) -> String,
) -> Value {
    let mut table = Table::new();
    put(&mut table, "name", flow.name.clone());
    put(&mut table, "group", group);
    if let Some(scheme) = &flow.scheme {
        put(&mut table, "scheme", scheme.clone());
        let all =
            schemes::find(scheme).and_then(|entry| (entry.resolve)(&flow.params).ok()).unwrap_or_default();
        let params: Table = all.into_iter().map(|(name, value)| (name, param(value))).collect();
        put(&mut table, "params", params);
    }
    put_outside(&mut table, flow);
    put(&mut table, "from", node_name(flow.from));
    if !matches!(flow.kind, FlowKind::Ndn(_)) {
        put_receivers(&mut table, flow, node_name);
    }
    put(&mut table, "start", instant(flow.start));
    put(&mut table, "stop", instant(flow.stop));
    if let Some(churn) = &flow.churn {
        put(&mut table, "churn", churn_table(churn));
    }
    put(&mut table, "class", i64::from(flow.class));
    match &flow.kind {
        FlowKind::Tcp(config) => {
            put(&mut table, "packet", size(config.segment + config.header));
            match config.demand {
                tcp::Demand::Bulk => {}
                tcp::Demand::Finite(bytes) => put(&mut table, "size", size(bytes)),
                tcp::Demand::Limited(limit) => put(&mut table, "rate", rate(limit)),
            }
            let mut tcp = tcp_table(config);
            if matches!(flow.emulation, Some(FlowEmulation::Kernel(_))) {
                // nothing is left open that it could fill in
                put(&mut tcp, "like", "standard");
            }
            put(&mut table, "tcp", tcp);
        }
        FlowKind::Stream(config) => {
            put(&mut table, "packet", size(config.packet));
            put(&mut table, "stream", stream_table(config));
            if let Some(video) = &config.video {
                put(&mut table, "source", video_table(video));
            }
            if let Some(player) = &config.player {
                put(&mut table, "player", player_table(player));
            }
        }
        FlowKind::Datagram(config) => {
            put(&mut table, "packet", size(config.packet));
            // commands alone have none
            if config.pattern.rate() > Rate::ZERO {
                put(&mut table, "source", source_table(&config.pattern));
            }
        }
        FlowKind::Ndn(config) => put_consumer(&mut table, config, flow.scheme.is_some(), prefix),
    }
    Value::Table(table)
}

/// Whom a flow is for, and how its packets find them.
fn put_receivers(table: &mut Table, flow: &FlowSpec, node_name: &dyn Fn(contract::NodeId) -> String) {
    let to: Vec<Value> = flow.to.iter().map(|receiver| receiver_value(receiver, node_name)).collect();
    match (flow.cast != Cast::Unicast, <[Value; 1]>::try_from(to)) {
        (false, Ok([only])) => put(table, "to", only),
        (_, Ok(list)) => put(table, "to", list.to_vec()),
        (_, Err(list)) => put(table, "to", list),
    }
    put(table, "multicast", flow.cast != Cast::Unicast);
    put(table, "network", if flow.cast == Cast::Named { "icn" } else { "ip" });
}

pub(crate) fn param(value: contract::ParamValue) -> Value {
    match value {
        contract::ParamValue::Float(x) => Value::Float(x),
        contract::ParamValue::Int(x) => Value::Integer(x),
        contract::ParamValue::Bool(x) => Value::Boolean(x),
        contract::ParamValue::Text(x) => Value::String(x),
    }
}

fn receiver_value(receiver: &ReceiverSpec, node_name: &dyn Fn(contract::NodeId) -> String) -> Value {
    let name = node_name(receiver.node);
    if receiver.start == Time::ZERO && receiver.stop == Time::NEVER && receiver.churn.is_none() {
        return name.into();
    }
    let mut table = Table::new();
    put(&mut table, "node", name);
    put(&mut table, "start", instant(receiver.start));
    put(&mut table, "stop", instant(receiver.stop));
    if let Some(churn) = &receiver.churn {
        put(&mut table, "churn", churn_table(churn));
    }
    Value::Table(table)
}

fn churn_table(churn: &Churn) -> Table {
    let mut table = Table::new();
    put_spells(&mut table, &churn.on, &churn.off);
    table
}

/// On- and off-times, which a scenario writes with one shape.
fn put_spells(table: &mut Table, on: &Spell, off: &Spell) {
    for (key, spell) in [("on", on), ("off", off)] {
        let mean = match spell {
            Spell::Constant(mean) | Spell::Exponential(mean) | Spell::Pareto { mean, .. } => *mean,
        };
        put(table, key, span(mean));
    }
    match on {
        Spell::Constant(_) => put(table, "fixed", true),
        Spell::Pareto { shape, .. } => put(table, "shape", *shape),
        Spell::Exponential(_) => {}
    }
}

fn tcp_table(config: &tcp::Config) -> Table {
    let mut table = Table::new();
    put(&mut table, "sack", config.sack);
    put(&mut table, "limited_transmit", config.limited_transmit);
    let timer = match config.recovery_timer {
        tcp::RecoveryTimer::Impatient => "impatient",
        tcp::RecoveryTimer::Steady => "steady",
    };
    put(&mut table, "recovery_timer", timer);
    let detection = match config.loss_detection {
        tcp::LossDetection::Count => "count",
        tcp::LossDetection::Time => "time",
    };
    put(&mut table, "loss_detection", detection);
    put(&mut table, "tail_probe", config.tail_probe);
    let reduction = match config.reduction {
        tcp::Reduction::Halt => "halt",
        tcp::Reduction::Proportional => "proportional",
    };
    put(&mut table, "reduction", reduction);
    put(&mut table, "undo", config.undo);
    put(&mut table, "idle_restart", config.idle_restart);
    put(&mut table, "delayed_ack", config.delayed_ack);
    put(&mut table, "ack_delay", span(config.ack_delay));
    put(&mut table, "quick_acks", i64::from(config.quick_acks));
    put(&mut table, "ecn", config.ecn);
    put(&mut table, "initial_window", i64::from(config.initial_window));
    put(&mut table, "initial_rto", span(config.initial_rto));
    put(&mut table, "min_rto", span(config.min_rto));
    let floor = match config.rto_floor {
        tcp::RtoFloor::Timeout => "timeout",
        tcp::RtoFloor::Variation => "variation",
    };
    put(&mut table, "rto_floor", floor);
    put(&mut table, "max_rto", span(config.max_rto));
    put(&mut table, "receive_window", size(config.receive_window));
    put(&mut table, "handshake", config.handshake);
    put(&mut table, "header", size(config.header));
    table
}

fn stream_table(config: &stream::Config) -> Table {
    let mut table = Table::new();
    put(&mut table, "jitter", config.jitter);
    put(&mut table, "feedback", size(config.feedback));
    put(&mut table, "reorder", i64::from(config.reorder));
    put(&mut table, "ecn", config.ecn);
    table
}

fn source_table(pattern: &Pattern) -> Table {
    let mut table = Table::new();
    match pattern {
        Pattern::Constant { rate: mean } => {
            put(&mut table, "kind", "constant");
            put(&mut table, "rate", rate(*mean));
        }
        Pattern::Poisson { rate: mean } => {
            put(&mut table, "kind", "poisson");
            put(&mut table, "rate", rate(*mean));
        }
        Pattern::OnOff { rate: peak, on, off } => {
            put(&mut table, "kind", "on_off");
            put(&mut table, "rate", rate(*peak));
            put_spells(&mut table, on, off);
        }
    }
    table
}
