//! Flows of a scenario: copies, receivers, starts drawn from the seed, short flows that arrive at random.

use std::collections::{BTreeMap, BTreeSet};

use contract::{FlowId, NodeId, ParamList, Random};
use schemes::{Build, Entry};
use sim::{Churn, FlowKind, FlowSpec, ReceiverSpec};
use stack::datagram::{self, Pattern, Spell};
use stack::{stream, tcp};
use units::{Bytes, Duration, Time};

use super::Group;
use crate::file;
use crate::file::{Flow, SourceWord};
use crate::problems::Span;
use crate::read::{At, Field, Notes, shortened, suggestion};
use crate::topology::{Net, Paths, check_name};

/// Most flows of a plan, copies and arrivals counted.
const MOST_FLOWS: usize = 100_000;
/// Most receivers of a plan.
const MOST_RECEIVERS: usize = 1_000_000;

/// What flows are set into.
pub(super) struct Setting<'a> {
    pub(super) net: &'a Net,
    pub(super) seed: u64,
    pub(super) duration: Duration,
}

/// All flows of a plan.
#[derive(Default)]
pub(super) struct Traffic {
    pub(super) flows: Vec<FlowSpec>,
    pub(super) groups: Vec<Group>,
    ids: BTreeMap<String, FlowId>,
}

impl Traffic {
    /// Names of flows and of groups.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.groups.iter().map(|group| group.name.as_str()).chain(self.ids.keys().map(String::as_str))
    }

    /// The flow of that name, or all flows of the group of that name.
    pub(super) fn find(&self, name: &str) -> Option<Vec<FlowId>> {
        if let Some(id) = self.ids.get(name) {
            return Some(vec![*id]);
        }
        self.groups.iter().find(|group| group.name == name).map(|group| group.flows.clone())
    }

    /// Series that the engine measures and that these flows offer.
    pub(super) fn series(&self) -> BTreeSet<&'static str> {
        let mut known: BTreeSet<&'static str> = sim::SERIES.iter().map(|row| row.0).collect();
        let mut schemes = BTreeSet::new();
        for flow in &self.flows {
            match flow.kind {
                FlowKind::Tcp(_) => known.extend(tcp::SERIES.iter().map(|row| row.0)),
                FlowKind::Stream(_) => known.extend(stream::SERIES.iter().map(|row| row.0)),
                FlowKind::Datagram(_) => {}
            }
            schemes.extend(flow.scheme.as_deref());
        }
        for entry in schemes.into_iter().filter_map(schemes::find) {
            known.extend(entry.scheme.series.iter().map(|row| row.0));
        }
        known
    }

    fn add(&mut self, spec: FlowSpec, group: usize, span: Span, notes: &mut Notes) {
        let id = FlowId(self.flows.len() as u32);
        if self.ids.insert(spec.name.clone(), id).is_some() {
            notes
                .wrong(span, format!("two flows are called `{}`", shortened(&spec.name)))
                .hint("give each a name of its own, or write count = 2 in one table");
            return;
        }
        self.groups[group].flows.push(id);
        self.flows.push(spec);
    }
}

/// Pairs of hosts that the flows of a dumbbell need: one for each copy that does not say its nodes, and all that are named.
pub(crate) fn pairs_needed(flows: &[At<Flow>]) -> u32 {
    let unnamed: u64 = flows
        .iter()
        .filter(|flow| flow.from.is_missing() && flow.to.is_missing())
        .map(|flow| u64::from(flow.count.or(1)))
        .sum();
    let targets = flows.iter().filter_map(|flow| flow.to.given()).flat_map(|to| &to.list);
    let named = flows
        .iter()
        .filter_map(|flow| flow.from.given())
        .chain(targets.filter_map(|target| target.node.given()))
        .filter_map(|name| host_number(name))
        .max()
        .unwrap_or(0);
    (unnamed.min(MOST_FLOWS as u64) as u32).max(named.min(MOST_FLOWS as u32))
}

/// `7` of `left7` or `right7`.
fn host_number(name: &str) -> Option<u32> {
    name.strip_prefix("left").or_else(|| name.strip_prefix("right"))?.parse().ok()
}

/// All flows.
pub(super) fn build(
    tables: &[At<Flow>],
    setting: &Setting<'_>,
    paths: &mut Paths<'_>,
    notes: &mut Notes,
) -> Traffic {
    let mut traffic = Traffic::default();
    let mut next_pair = 1;
    let mut receivers = 0;
    let mut names = BTreeSet::new();
    for table in tables {
        let Some(model) = model(table, setting, notes) else { continue };
        let group_name = table.group.given().unwrap_or(model.name);
        let group = match traffic.groups.iter().position(|group| group.name == group_name.value) {
            Some(at) => at,
            None => {
                traffic.groups.push(Group { name: group_name.value.clone(), flows: Vec::new() });
                traffic.groups.len() - 1
            }
        };
        if !names.insert(model.name.value.clone()) {
            notes
                .wrong(model.name.span, format!("two flows are called `{}`", shortened(model.name)))
                .hint("give each a name of its own, or write count = 2 in one table");
            continue;
        }
        let copies = table.count.or(1);
        let times = match &table.arrivals {
            Field::Given(arrivals) => match arrivals_of(table, &model, arrivals, setting, notes) {
                Some(times) => Some(times),
                None => continue,
            },
            _ => None,
        };
        let total = traffic.flows.len() + times.as_ref().map_or(copies as usize, Vec::len);
        if total > MOST_FLOWS {
            notes
                .wrong(table.span, format!("{total} flows are too many"))
                .hint(format!("at most {MOST_FLOWS}"));
            break;
        }
        // arrivals share one pair of hosts; each copy has its own
        let mut place = None;
        for i in 0..times.as_ref().map_or(copies, |times| times.len() as u32) {
            if place.is_none() || times.is_none() {
                place = nodes(table, setting.net, &mut next_pair, paths, notes);
            }
            let Some((from, to)) = place.clone() else { break };
            receivers += to.len();
            if receivers > MOST_RECEIVERS {
                notes
                    .wrong(table.span, format!("{receivers} receivers are too many"))
                    .hint(format!("at most {MOST_RECEIVERS}"));
                return traffic;
            }
            let alone = copies == 1 && times.is_none();
            let name =
                if alone { model.name.value.clone() } else { format!("{}.{}", model.name.value, i + 1) };
            let mut kind = model.kind.clone();
            let mut start = start_of(table, &name, setting);
            let mut stop = table.stop.or(crate::values::Instant(Time::NEVER)).0;
            if let Some(times) = &times {
                let (at, size) = times[i as usize];
                (start, stop) = (at, Time::NEVER);
                if let FlowKind::Tcp(config) = &mut kind {
                    config.demand = tcp::Demand::Finite(size);
                }
            }
            let spec = FlowSpec {
                name,
                scheme: model.scheme.clone(),
                params: model.params.clone(),
                kind,
                from,
                to,
                multicast: model.multicast,
                start,
                stop,
                churn: table.churn.given().and_then(|at| churn(at)),
                class: table.class.or(0) as u8,
            };
            traffic.add(spec, group, model.name.span, notes);
        }
    }
    traffic
}

/// When a copy starts: uniformly in `start` to `start` + `start_spread`, from the stream "start" of the flow.
fn start_of(table: &Flow, name: &str, setting: &Setting<'_>) -> Time {
    let start = table.start.or(crate::values::Instant(Time::ZERO)).0;
    let spread = table.start_spread.or(Duration::ZERO);
    if spread == Duration::ZERO || start == Time::NEVER {
        return start;
    }
    let mut draw = Random::new(setting.seed, &format!("flow.{name}"), "start");
    start + Duration::from_nanos(draw.below(spread.as_nanos()))
}

/// Starts and sizes of the flows of `arrivals`: gaps are exponential from the stream "arrivals" of the entry's name, sizes
/// are from its stream "sizes". `None` when something is noted.
fn arrivals_of(
    table: &Flow,
    model: &Model<'_>,
    arrivals: &At<file::Arrivals>,
    setting: &Setting<'_>,
    notes: &mut Notes,
) -> Option<Vec<(Time, Bytes)>> {
    let of = "`arrivals`";
    let rate = arrivals.rate.required("rate", of, arrivals.span, notes).map(|at| at.value);
    let size = arrivals.size.required("size", of, arrivals.span, notes).map(|at| at.value);
    for (key, written) in [
        ("count", table.count.given().map(|at| at.span)),
        ("size", table.size.given().map(|at| at.span)),
        ("rate", table.rate.given().map(|at| at.span)),
        ("start_spread", table.start_spread.given().map(|at| at.span)),
        ("churn", table.churn.given().map(|at| at.span)),
    ] {
        if let Some(span) = written {
            notes.wrong(span, format!("`{key}` and `arrivals` do not go together")).hint("write one of them");
        }
    }
    let (rate, size) = (rate?, size?);
    if !matches!(model.kind, FlowKind::Tcp(_)) {
        notes.wrong(arrivals.span, "`arrivals` are short TCP flows").hint("take a scheme that runs over TCP");
        return None;
    }
    let start = table.start.or(crate::values::Instant(Time::ZERO)).0;
    let stop = table.stop.or(crate::values::Instant(Time::NEVER)).0.min(Time::ZERO + setting.duration);
    let expected = rate * stop.saturating_since(start).as_secs_f64();
    if expected > MOST_FLOWS as f64 / 2.0 {
        notes
            .wrong(arrivals.span, format!("about {expected:.0} flows would arrive"))
            .hint(format!("at most {} are expected to", MOST_FLOWS / 2));
        return None;
    }
    let path = format!("flow.{}", model.name.value);
    let mut gaps = Random::new(setting.seed, &path, "arrivals");
    let mut sizes = Random::new(setting.seed, &path, "sizes");
    let mut list = Vec::new();
    let mut at = start;
    loop {
        at += Duration::from_secs_f64(gaps.exponential(1.0 / rate));
        if at >= stop || list.len() > MOST_FLOWS {
            return Some(list);
        }
        let drawn = match arrivals.size_shape.given() {
            Some(shape) => sizes.pareto(size.as_f64(), shape.value).clamp(1.0, 1e15) as u64,
            None => size.as_u64(),
        };
        list.push((at, Bytes::new(drawn)));
    }
}

/// What all copies of an entry have in common.
struct Model<'a> {
    name: &'a At<String>,
    scheme: Option<String>,
    params: ParamList,
    kind: FlowKind,
    multicast: bool,
}

fn model<'a>(table: &'a At<Flow>, setting: &Setting<'_>, notes: &mut Notes) -> Option<Model<'a>> {
    let before = notes.count();
    let name = table.name.required("name", "a flow", table.span, notes);
    if let Some(name) = name {
        check_name(name, "a flow", notes);
    }
    if let Some(group) = table.group.given() {
        check_name(group, "a group", notes);
    }
    let listed = table.to.given().is_some_and(|to| to.listed || to.list.iter().any(is_pattern));
    let multicast = table.multicast.or(listed);
    let (start, stop) = (table.start.given(), table.stop.given());
    if let Some(stop) = stop
        && start.map_or(Time::ZERO, |at| at.value.0) >= stop.value.0
    {
        notes
            .wrong(stop.span, "this flow stops before it starts")
            .hint("`stop` is an instant of the run, not a length");
    }
    let of_members = table.receivers.given().and_then(|receivers| receivers.churn.given());
    for churn in table.churn.given().into_iter().chain(of_members) {
        check_churn(churn, notes);
    }
    if let Some(receivers) = table.receivers.given()
        && !multicast
    {
        notes.wrong(receivers.span, "`receivers` are the members of a group").hint("write `to` as a list");
    }
    if let Some(class) = table.class.given()
        && class.value > 0
    {
        let most = setting
            .net
            .links
            .iter()
            .map(|link| link.forward.classes.len().max(link.backward.classes.len()))
            .max();
        if most.unwrap_or(0) <= class.value as usize {
            notes
                .wrong(class.span, format!("no queue has a class {}", class.value))
                .hint("classes are numbered from 0; a link's `classes` lists their weights");
        }
    }

    let machine = machine(table, multicast, notes);
    if notes.count() > before {
        return None;
    }
    let (scheme, params, kind) = machine?;
    Some(Model { name: name?, scheme, params, kind, multicast })
}

type Machine = (Option<String>, ParamList, FlowKind);

fn machine(table: &At<Flow>, multicast: bool, notes: &mut Notes) -> Option<Machine> {
    if let Some(source) = table.source.given() {
        if let Some(scheme) = table.scheme.given() {
            notes.wrong(scheme.span, "a flow has a scheme or a source").hint("write one of them");
        }
        refuse(
            table,
            &["params", "tcp", "stream", "size", "rate", "arrivals"],
            "a source without congestion control",
            notes,
        );
        let packet = table.packet.or(Bytes::new(1000));
        let pattern = pattern(source, notes)?;
        return Some((None, Vec::new(), FlowKind::Datagram(datagram::Config { packet, pattern })));
    }
    if matches!(table.source, Field::Wrong) {
        return None;
    }
    if table.scheme.is_missing() {
        notes
            .wrong(table.span, "a flow needs `scheme` or `source`")
            .hint("write scheme = \"cubic\" or source = { kind = \"constant\", rate = \"1 Mbit/s\" }");
    }
    let scheme = table.scheme.given()?;
    let catalogue = schemes::catalogue();
    let Some(entry) = catalogue.iter().find(|entry| entry.scheme.name == scheme.value) else {
        notes
            .wrong(scheme.span, format!("no scheme is called `{}`", shortened(scheme)))
            .maybe(suggestion(scheme, catalogue.iter().map(|entry| entry.scheme.name)));
        return None;
    };
    let params = params(table, entry, notes);
    let kind = match entry.build {
        Build::Control(_) => {
            if multicast {
                let span = table.multicast.given().map(|at| at.span).or(table.to.given().map(|at| at.span));
                notes
                    .wrong(
                        span.unwrap_or(table.span),
                        format!("`{}` runs over TCP, which has one receiver", scheme.value),
                    )
                    .hint("write to = \"NODE\" without brackets, or take a scheme for groups");
            }
            refuse(table, &["stream"], &format!("`{}`, which runs over TCP", scheme.value), notes);
            FlowKind::Tcp(tcp_config(table, notes)?)
        }
        Build::Stream { .. } => {
            refuse(
                table,
                &["tcp", "size", "rate", "arrivals"],
                &format!("`{}`, which is a stream", scheme.value),
                notes,
            );
            FlowKind::Stream(stream_config(table))
        }
    };
    Some((Some(scheme.value.clone()), params?, kind))
}

/// Notes keys that do not go with the machine.
fn refuse(table: &Flow, keys: &[&str], of: &str, notes: &mut Notes) {
    for (key, span) in table.written() {
        if keys.contains(&key) {
            notes.wrong(span, format!("`{key}` does not go with {of}")).hint("leave it out");
        }
    }
}

/// The parameters that are not default, in the order of the scheme's table.
fn params(table: &Flow, entry: &Entry, notes: &mut Notes) -> Option<ParamList> {
    let before = notes.count();
    let infos = (entry.params)();
    let given = table.params.given().map_or(&[][..], |params| &params.value.0);
    let mut list = Vec::new();
    for (name, value) in given {
        if !infos.iter().any(|info| info.name == name.value) {
            notes
                .wrong(name.span, format!("`{}` has no parameter `{}`", entry.scheme.name, shortened(name)))
                .maybe(suggestion(name, infos.iter().map(|info| info.name)));
            continue;
        }
        let one = (name.value.clone(), value.value.clone());
        if let Err(error) = (entry.resolve)(std::slice::from_ref(&one)) {
            notes.wrong(value.span, error.message).maybe(error.hint);
        }
        list.push(one);
    }
    if notes.count() > before {
        return None;
    }
    match (entry.resolve)(&list) {
        Ok(all) => Some(
            all.into_iter()
                .filter(|(name, value)| !infos.iter().any(|info| info.name == name && info.default == *value))
                .collect(),
        ),
        Err(error) => {
            let span = table.params.given().map_or(Span::default(), |at| at.span);
            notes.wrong(span, error.to_string()).maybe(error.hint);
            None
        }
    }
}

fn tcp_config(table: &Flow, notes: &mut Notes) -> Option<tcp::Config> {
    let none = file::Tcp::default();
    let tcp = table.tcp.given().map_or(&none, |at| &at.value);
    let default = tcp::Config::default();
    let header = tcp.header.or(default.header);
    let packet = table.packet.or(default.segment + default.header);
    if packet <= header {
        let span = table.packet.given().map(|at| at.span).or(tcp.header.given().map(|at| at.span));
        notes
            .wrong(
                span.unwrap_or(tcp.span),
                format!("a packet of {packet} has no room behind a header of {header}"),
            )
            .hint("`packet` is the size on the wire, header included");
        return None;
    }
    let demand = match (table.size.given(), table.rate.given()) {
        (Some(_), Some(rate)) => {
            notes
                .wrong(rate.span, "a flow has a size or a rate")
                .hint("`size` ends the flow, `rate` limits its application; write one of them");
            return None;
        }
        (Some(size), None) => tcp::Demand::Finite(size.value),
        (None, Some(rate)) => tcp::Demand::Limited(rate.value),
        (None, None) => tcp::Demand::Bulk,
    };
    let config = tcp::Config {
        segment: packet - header,
        header,
        initial_window: tcp.initial_window.or(default.initial_window),
        initial_rto: tcp.initial_rto.or(default.initial_rto),
        min_rto: tcp.min_rto.or(default.min_rto),
        max_rto: tcp.max_rto.or(default.max_rto),
        sack: tcp.sack.or(default.sack),
        limited_transmit: tcp.limited_transmit.or(default.limited_transmit),
        recovery_timer: tcp.recovery_timer.given().map_or(default.recovery_timer, |at| at.value.timer()),
        undo: tcp.undo.or(default.undo),
        idle_restart: tcp.idle_restart.or(default.idle_restart),
        delayed_ack: tcp.delayed_ack.or(default.delayed_ack),
        ack_delay: tcp.ack_delay.or(default.ack_delay),
        ecn: tcp.ecn.or(default.ecn),
        receive_window: tcp.receive_window.or(default.receive_window),
        handshake: tcp.handshake.or(default.handshake),
        demand,
    };
    if config.min_rto > config.max_rto {
        let span = tcp.min_rto.given().or(tcp.max_rto.given()).map_or(tcp.span, |at| at.span);
        notes
            .wrong(span, format!("`min_rto` of {} is above `max_rto` of {}", config.min_rto, config.max_rto))
            .hint("lower one or raise the other");
    }
    Some(config)
}

fn stream_config(table: &Flow) -> stream::Config {
    let none = file::Stream::default();
    let stream = table.stream.given().map_or(&none, |at| &at.value);
    let default = stream::Config::default();
    stream::Config {
        packet: table.packet.or(default.packet),
        feedback: stream.feedback.or(default.feedback),
        jitter: stream.jitter.or(default.jitter),
        reorder: stream.reorder.or(default.reorder),
        ecn: stream.ecn.or(default.ecn),
    }
}

fn pattern(source: &At<file::Source>, notes: &mut Notes) -> Option<Pattern> {
    let of = "a source";
    let kind = source.kind.required("kind", of, source.span, notes).map(|at| at.value);
    let rate = source.rate.required("rate", of, source.span, notes).map(|at| at.value);
    let (kind, rate) = (kind?, rate?);
    if kind != SourceWord::OnOff {
        for (key, span) in source.written() {
            if matches!(key, "on" | "off" | "shape" | "fixed") {
                notes
                    .wrong(span, format!("`{key}` does not go with kind = \"{}\"", kind.word()))
                    .hint("it belongs to kind = \"on_off\"");
            }
        }
    }
    Some(match kind {
        SourceWord::Constant => Pattern::Constant { rate },
        SourceWord::Poisson => Pattern::Poisson { rate },
        SourceWord::OnOff => {
            let on = source.on.required("on", "an on_off source", source.span, notes).map(|at| at.value);
            let off = source.off.required("off", "an on_off source", source.span, notes).map(|at| at.value);
            refuse_both(&source.shape, &source.fixed, notes);
            let shape = source.shape.given().map(|at| at.value);
            let fixed = source.fixed.or(false);
            Pattern::OnOff { rate, on: spell(on?, shape, fixed), off: spell(off?, shape, fixed) }
        }
    })
}

fn spell(mean: Duration, shape: Option<f64>, fixed: bool) -> Spell {
    match shape {
        _ if fixed => Spell::Constant(mean),
        Some(shape) => Spell::Pareto { mean, shape },
        None => Spell::Exponential(mean),
    }
}

fn refuse_both(shape: &Field<f64>, fixed: &Field<bool>, notes: &mut Notes) {
    if let (Some(shape), Some(fixed)) = (shape.given(), fixed.given())
        && fixed.value
    {
        notes.wrong(shape.span, "times of fixed length have no shape").hint("write one of them");
    }
}

fn check_churn(churn: &At<file::Churn>, notes: &mut Notes) {
    churn.on.required("on", "churn", churn.span, notes);
    churn.off.required("off", "churn", churn.span, notes);
    refuse_both(&churn.shape, &churn.fixed, notes);
}

fn churn(churn: &file::Churn) -> Option<Churn> {
    let (shape, fixed) = (churn.shape.given().map(|at| at.value), churn.fixed.or(false));
    let of = |mean: &Field<Duration>| Some(spell(mean.given()?.value, shape, fixed));
    Some(Churn { on: of(&churn.on)?, off: of(&churn.off)? })
}

fn is_pattern(target: &At<file::TargetTable>) -> bool {
    target.node.given().is_some_and(|name| name.contains('*'))
}

/// Sender's node and receivers of the next copy; `None` when something is noted.
fn nodes(
    table: &At<Flow>,
    net: &Net,
    next_pair: &mut u32,
    paths: &Paths<'_>,
    notes: &mut Notes,
) -> Option<(NodeId, Vec<ReceiverSpec>)> {
    let plain = |node| ReceiverSpec { node, start: Time::ZERO, stop: Time::NEVER, churn: None };
    let dumbbell = net.node("left1").is_some() && net.node("router_left").is_some();
    let mirror = |name: &str| {
        host_number(name)
            .and_then(|n| Some((net.node(&format!("left{n}"))?, net.node(&format!("right{n}"))?)))
    };
    let (from, to) = match (&table.from, &table.to) {
        (Field::Missing, Field::Missing) if dumbbell => {
            let n = *next_pair;
            *next_pair += 1;
            let Some((left, right)) = mirror(&format!("left{n}")) else {
                notes
                    .wrong(table.span, format!("this flow needs a pair {n} of hosts, which there is not"))
                    .hint("raise topology.pairs or leave it out, or say `from` and `to`");
                return None;
            };
            (left, vec![plain(right)])
        }
        (Field::Given(from), Field::Missing) if dumbbell && mirror(from).is_some() => {
            let (left, right) = mirror(from)?;
            if from.starts_with("left") { (left, vec![plain(right)]) } else { (right, vec![plain(left)]) }
        }
        (from, to) => {
            let from = from
                .required("from", "a flow", table.span, notes)
                .and_then(|name| net.find_node(name, notes));
            let to = to.required("to", "a flow", table.span, notes);
            let (from, to) = (from?, to?);
            let list = receivers(table, from, &to.list, net, notes)?;
            (from, list)
        }
    };
    for receiver in &to {
        if !paths.joined(from, receiver.node) {
            let (a, b) = (&net.nodes[from.index()], &net.nodes[receiver.node.index()]);
            let span = table.to.given().map_or(table.span, |at| at.span);
            notes.wrong(span, format!("there is no way from `{a}` to `{b}`")).hint("join them by links");
            return None;
        }
    }
    Some((from, to))
}

fn receivers(
    table: &Flow,
    from: NodeId,
    targets: &[At<file::TargetTable>],
    net: &Net,
    notes: &mut Notes,
) -> Option<Vec<ReceiverSpec>> {
    let before = notes.count();
    let none = file::Receivers::default();
    let members = table.receivers.given().map_or(&none, |at| &at.value);
    let always: Vec<NodeId> = members
        .always
        .given()
        .map_or(&[][..], |list| &list.value)
        .iter()
        .filter_map(|name| net.find_node(name, notes))
        .collect();
    let shared = members.churn.given().and_then(|at| churn(at));
    let mut list: Vec<ReceiverSpec> = Vec::new();
    let mut taken = BTreeSet::new();
    for target in targets {
        let Some(name) = target.node.required("node", "a receiver", target.span, notes) else { continue };
        if let Some(own) = target.churn.given() {
            check_churn(own, notes);
        }
        let start = target.start.or(crate::values::Instant(Time::ZERO)).0;
        let stop = target.stop.or(crate::values::Instant(Time::NEVER)).0;
        if let Some(at) = target.stop.given()
            && start >= stop
        {
            notes.wrong(at.span, "this receiver leaves before it joins");
        }
        let wild = name.contains('*');
        let nodes = if wild {
            net.matching(name).into_iter().filter(|node| *node != from && !taken.contains(node)).collect()
        } else {
            net.find_node(name, notes).into_iter().collect::<Vec<_>>()
        };
        if wild && nodes.is_empty() {
            notes.wrong(name.span, format!("no node matches `{}`", shortened(name)));
        }
        for node in nodes {
            if node == from {
                notes
                    .wrong(name.span, format!("a flow cannot go from `{}` to itself", shortened(name)))
                    .hint("name two different nodes");
            } else if !taken.insert(node) {
                notes.wrong(name.span, format!("`{}` is a receiver already", shortened(name)));
            }
            let own = target.churn.given().and_then(|at| churn(at));
            let churn = own.or(if always.contains(&node) { None } else { shared });
            list.push(ReceiverSpec { node, start, stop, churn });
        }
    }
    if list.is_empty() && notes.count() == before {
        let span = table.to.given().map_or(Span::default(), |at| at.span);
        notes.wrong(span, "a flow needs a receiver").hint("name at least one node");
    }
    if list.len() > 1 && !table.multicast.or(true) {
        let span = table.multicast.given().map_or(Span::default(), |at| at.span);
        notes
            .wrong(span, format!("{} receivers without multicast", list.len()))
            .hint("leave `multicast` out, or name one receiver");
    }
    (notes.count() == before).then_some(list)
}
