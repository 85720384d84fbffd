//! Warnings about keys without effect in their combination, and about results that cannot be measured.

mod placement;
mod quic;
mod traces;
mod unmeasured;

use std::collections::{BTreeMap, BTreeSet};

use contract::{EcnFeedback, Family, FlowId, NodeId};
use sim::{Blueprint, Cast, FlowKind, FlowSpec, Limit, ReceiverSpec};
use stack::ndn;
use stack::queue::DisciplineSpec;
use stack::tcp::{self, Demand, LossDetection};
use units::{Bytes, Duration, Time};

use crate::Plan;
use crate::resolve::params::out_of_band;
use crate::schema::file::{Action, Event, File, Flow};
use crate::schema::link::Link;
use crate::schema::ndn::Prefix;
use crate::schema::nodes::Member;
use crate::schema::read::{At, Field, Notes, shortened};
use crate::schema::tree::Location;
use crate::topology::{Net, matches_pattern};

/// The scenario and its plan.
struct WarningPass<'a> {
    file: &'a File,
    blueprint: &'a Blueprint,
    net: &'a Net,
    /// The flows of each entry, by name of the entry.
    entries: BTreeMap<&'a str, Vec<&'a FlowSpec>>,
    end: Time,
}

/// Reports all warnings about a file whose plan is valid.
pub(crate) fn build(file: &File, plan: &Plan, net: &Net, notes: &mut Notes) {
    let blueprint = &plan.blueprint;
    let tables = file.flows.items();
    let written: BTreeSet<&str> = tables.iter().filter_map(|table| name_of(table)).collect();
    let mut entries: BTreeMap<&str, Vec<&FlowSpec>> = BTreeMap::new();
    for flow in &blueprint.flows {
        let name = flow.name.as_str();
        let copied = || name.rsplit_once('.').map(|(entry, _)| entry).filter(|entry| written.contains(entry));
        if let Some(entry) = Some(name).filter(|name| written.contains(name)).or_else(copied) {
            entries.entry(entry).or_default().push(flow);
        }
    }
    let pass = WarningPass { file, blueprint, net, entries, end: Time::ZERO + blueprint.duration };
    for table in tables {
        pass.flow(table, notes);
    }
    placement::build(&pass, notes);
    quic::build(&pass, notes);
    pass.links(notes);
    traces::build(file, net, pass.end, notes);
    pass.locations(notes);
    pass.events(plan, notes);
    pass.record(notes);
    unmeasured::build(file, plan, net, notes);
}

fn name_of(table: &Flow) -> Option<&str> {
    table.name.present().map(|name| name.value.as_str())
}

/// Whether a flow is active at `at` according to its own times.
fn on(start: Time, stop: Time, at: Time) -> bool {
    start <= at && at < stop
}

/// Warns that a simulation sends nothing for commands alone.
fn commands_alone(table: &At<Flow>, notes: &mut Notes) {
    if let Some(commands) =
        table.commands.present().filter(|_| crate::resolve::emulation::commands_alone(table))
    {
        let name = shortened(name_of(table).unwrap_or_default());
        notes
            .warn(
                commands.location,
                format!("a simulation sends nothing for `{name}`, which has `commands` alone"),
            )
            .hint(
                "run it by `thalweg emulate`, or write `scheme` or `source` to replace them in a simulation",
            );
    }
}

/// Warns of keys of TCP without effect because of other keys.
fn tcp_keys(table: &At<Flow>, flow: &FlowSpec, notes: &mut Notes) {
    if let (FlowKind::Tcp(config), Some(tcp)) = (&*flow.kind, table.tcp.present()) {
        let by_time = config.sack && config.loss_detection == LossDetection::Time;
        // a printed plan contains every default: only other values count as set
        let defaults = tcp::Config::default();
        let timer = config.recovery_timer != defaults.recovery_timer;
        let detection = config.loss_detection != defaults.loss_detection;
        let delay = config.ack_delay != defaults.ack_delay;
        let rules = [
            (
                location_of(&tcp.tail_probe),
                config.tail_probe && !by_time,
                "tail_probe",
                "loss_detection = \"time\"",
            ),
            (location_of(&tcp.loss_detection), detection && !config.sack, "loss_detection", "sack = true"),
            (location_of(&tcp.frto), config.frto && !config.sack, "frto", "sack = true"),
            (location_of(&tcp.recovery_timer), timer && config.sack, "recovery_timer", "sack = false"),
            (
                location_of(&tcp.fast_recovery),
                !config.fast_recovery && config.sack,
                "fast_recovery",
                "sack = false",
            ),
            (location_of(&tcp.ack_delay), delay && !config.delayed_ack, "ack_delay", "delayed_ack = true"),
        ];
        for (location, void, key, needs) in rules {
            if let Some(location) = location.filter(|_| void) {
                notes
                    .warn(location, format!("`{key}` has no effect without {needs}"))
                    .hint(format!("write {needs}, or leave `{key}` out"));
            }
        }
    }
}

/// Warns of keys of a consumer that a source does not use.
fn consumer_keys(table: &At<Flow>, flow: &FlowSpec, notes: &mut Notes) {
    if let (FlowKind::Ndn(config), Some(consumer), Some(_)) =
        (&*flow.kind, table.consumer.present(), table.source.present())
    {
        let defaults = ndn::ConsumerConfig::with_controller(config.prefix, config.payload);
        let window = config.initial_window != defaults.initial_window;
        let episode = config.episode != defaults.episode;
        let of_a_controller = [
            ("initial_window", location_of(&consumer.initial_window), window),
            ("episode", location_of(&consumer.episode), episode),
        ];
        for (key, location, asked) in of_a_controller {
            if let Some(location) = location.filter(|_| asked) {
                notes
                    .warn(location, format!("`{key}` has no effect on a consumer with a `source`"))
                    .hint("leave the key out: a source requests at a fixed rate, whether Data arrive or not");
            }
        }
    }
}

/// Warns where a scheme for groups has one receiver.
fn groups_of_one(table: &At<Flow>, flow: &FlowSpec, notes: &mut Notes) {
    let families = flow.scheme.as_deref().and_then(schemes::find).map(|entry| entry.scheme.families);
    if let (Some(scheme), Some(families)) = (table.scheme.present(), families)
        && matches!(families.first(), Some(Family::Multicast | Family::Icn))
        && flow.cast == Cast::Unicast
        && table.multicast.is_missing()
    {
        notes
            .warn(scheme.location, format!("`{}` is a scheme for groups, and this flow has one receiver", scheme.0))
            .hint(
                "list the receivers in `to`, write multicast = true for a group of one, or take a scheme for one receiver: \
                 \"cubic\" for a download, \"tfrc\" for a stream",
            );
    }
}

impl WarningPass<'_> {
    fn flow(&self, table: &At<Flow>, notes: &mut Notes) {
        let none = Vec::new();
        let flows = name_of(table).and_then(|name| self.entries.get(name)).unwrap_or(&none);
        self.times(table, flows, notes);
        self.settings(table, flows, notes);
        self.members(table, flows, notes);
    }

    /// Warns of start and stop times without effect.
    fn times(&self, table: &At<Flow>, flows: &[&FlowSpec], notes: &mut Notes) {
        let name = shortened(name_of(table).unwrap_or_default());
        let (warmup, end) = (self.blueprint.warmup, self.end);
        if let Some(arrivals) = table.arrivals.present()
            && flows.is_empty()
            && table.count.or(1) > 0
        {
            let hint = match arrivals.file.present() {
                Some(_) => {
                    "the flows of the file begin later: lengthen `duration`, or subtract from their times"
                }
                None => "raise `rate` of the arrivals, or lengthen the time from `start` to `stop`",
            };
            notes
                .warn(arrivals.location, format!("no flow of `{name}` arrives before the end of the run"))
                .hint(hint);
        }
        if let Some(start) = table.start.present() {
            let started = || {
                let required =
                    |event: &&At<Event>| event.action.present().is_some_and(|at| at.value == Action::Start);
                self.events_of(table).any(|event| required(&event))
            };
            if start.value.0 == Time::NEVER && !started() {
                notes
                    .warn(start.location, format!("`{name}` never starts: no event starts it"))
                    .hint(format!("add [[events]] with at, flow = \"{name}\" and action = \"start\""));
            } else if start.value.0 != Time::NEVER && start.value.0 >= end && table.arrivals.is_missing() {
                let (at, duration) = (start.value.0.saturating_since(Time::ZERO), self.blueprint.duration);
                notes
                    .warn(start.location, format!("`{name}` starts at {at}, and the run ends at {duration}"))
                    .hint("start it earlier, or lengthen `duration`");
            }
            if let Some(spread) = table.start_spread.present()
                && start.value.0 == Time::NEVER
            {
                notes
                    .warn(spread.location, "`start_spread` has no effect where start = \"never\"")
                    .hint("leave it out: an event starts all copies at once");
            }
        }
        if let Some(stop) = table.stop.present()
            && stop.value.0 <= Time::ZERO + warmup
            && warmup > Duration::ZERO
        {
            let at = stop.value.0.saturating_since(Time::ZERO);
            notes
                .warn(
                    stop.location,
                    format!(
                        "`{name}` stops at {at}, and the warm-up ends at {warmup}: nothing of it is measured"
                    ),
                )
                .hint("shorten `warmup`, or let the flow run longer");
        }
    }

    /// Warns of settings without effect because of another setting.
    fn settings(&self, table: &At<Flow>, flows: &[&FlowSpec], notes: &mut Notes) {
        let Some(flow) = flows.first() else { return };
        commands_alone(table, notes);
        tcp_keys(table, flow, notes);
        consumer_keys(table, flow, notes);
        self.marks(table, flow, notes);
        groups_of_one(table, flow, notes);
    }

    /// Warns where nothing marks packets, or marks cannot be seen.
    fn marks(&self, table: &At<Flow>, flow: &FlowSpec, notes: &mut Notes) {
        if let Some((location, hears)) = self.hears_marks(table, flow)
            && hears
            && !self.can_mark()
        {
            notes
                .warn(location, "`ecn` has no effect: no queue of this network marks packets")
                .hint("write mark_above = 30 or queue = \"codel\" on a link, or leave `ecn` out");
        }
        if let (Some(scheme), FlowKind::Tcp(config)) = (table.scheme.present(), &*flow.kind)
            && schemes::ecn_use(&scheme.0).is_some()
        {
            if !config.ecn || config.ecn_feedback == EcnFeedback::Classic {
                notes
                    .warn(
                        scheme.location,
                        format!(
                            "`{}` needs to know which packets are marked, and these TCP settings hide it",
                            scheme.0
                        ),
                    )
                    .hint("leave `ecn` and `ecn_feedback` out: their defaults are what the scheme needs");
            } else if !self.can_mark() {
                notes
                    .warn(
                        scheme.location,
                        format!("`{}` works by marks, and no queue of this network marks packets", scheme.0),
                    )
                    .hint("write mark_above = 20 on the bottleneck, or queue = \"dualpi2\"");
            }
        }
    }

    /// Where an entry sets whether it is ECN-capable, and the value; `None` if it does not.
    fn hears_marks(&self, table: &At<Flow>, flow: &FlowSpec) -> Option<(Location, bool)> {
        let written = match &*flow.kind {
            FlowKind::Tcp(_) => table.tcp.present()?.ecn.present(),
            FlowKind::Stream(_) => table.stream.present()?.ecn.present(),
            FlowKind::Datagram(_) | FlowKind::Ndn(_) | FlowKind::Stack(_) => None,
        }?;
        Some((written.location, written.value))
    }

    /// Whether a queue or a node can mark packets.
    fn can_mark(&self) -> bool {
        let marks = |queue: &sim::QueueSpec| {
            queue.mark_above.is_some() || queue.discipline.as_ref().is_some_and(DisciplineSpec::can_mark)
        };
        let parts =
            self.blueprint.icn.is_some() || self.blueprint.ndn.is_some() || self.blueprint.sdn.is_some();
        let links = || self.blueprint.links.iter();
        parts || links().any(|link| marks(&link.forward.queue) || marks(&link.backward.queue))
    }

    /// Warns about members of a group.
    fn members(&self, table: &At<Flow>, flows: &[&FlowSpec], notes: &mut Notes) {
        let ends = self.end;
        let targets = table.to.present().map_or(&[][..], |to| &to.list);
        for target in targets {
            let Some(start) = target.start.present() else { continue };
            let joined = || {
                let joins = |event: &At<Event>| {
                    event.action.present().is_some_and(|at| at.value == Action::Join)
                        && self.is_about(event, target)
                };
                self.events_of(table).any(joins)
            };
            let node = shortened(target.node.present().map_or("", |node| node));
            if start.value.0 == Time::NEVER && !joined() {
                notes
                    .warn(start.location, format!("`{node}` never joins: no event lets it"))
                    .hint(format!("add [[events]] with at, flow, action = \"join\" and node = \"{node}\""));
            } else if start.value.0 != Time::NEVER && start.value.0 >= ends {
                notes
                    .warn(
                        start.location,
                        format!("`{node}` joins after the end of the run at {}", self.blueprint.duration),
                    )
                    .hint("let it join earlier, or lengthen `duration`");
            }
        }
        let Some(receivers) = table.receivers.present() else { return };
        let Some(always) = receivers.always.present() else { return };
        if receivers.churn.is_missing() {
            notes
                .warn(always.location, "`always` has no effect without `churn`: all receivers stay")
                .hint("write receivers.churn = { on = \"10 s\", off = \"10 s\" }, or leave `always` out");
        }
        for name in always.iter() {
            let member = |flow: &&&FlowSpec| {
                flow.to.iter().any(|receiver| self.node_name(receiver.node) == name.value)
            };
            if !flows.is_empty() && !flows.iter().any(|flow| member(&flow)) {
                notes
                    .warn(name.location, format!("`{}` is no receiver of this flow", shortened(name)))
                    .hint("list it in `to`, or leave it out here");
            }
        }
    }

    /// Whether a join or leave refers to the node of a receiver.
    fn is_about(&self, event: &Event, target: &Member) -> bool {
        let (Some(node), Some(name)) = (event.node.present(), target.node.present()) else { return false };
        let id = self.net.node(node);
        id.is_some_and(|id| self.net.matching(name).contains(&id))
    }

    fn node_name(&self, node: NodeId) -> &str {
        &self.blueprint.nodes[node.index()]
    }

    /// Events that refer to an entry, by its name, its group's, or the name of one of its copies.
    fn events_of<'a>(&'a self, table: &'a At<Flow>) -> impl Iterator<Item = &'a At<Event>> {
        let events = self.file.events.items();
        let name = name_of(table).unwrap_or_default();
        let group = table.group.present().map_or(name, |group| group.value.as_str());
        events.iter().filter(move |event| {
            event.flow.present().is_some_and(|flow| {
                let copy = flow.strip_prefix(name).is_some_and(|rest| rest.starts_with('.'));
                flow.value == name || flow.value == group || copy
            })
        })
    }

    /// Warns of link settings without effect on any packet.
    fn links(&self, notes: &mut Notes) {
        let Some(topology) = self.file.topology.present() else { return };
        let templates =
            [&topology.edge, &topology.bottleneck, &topology.link].into_iter().filter_map(Field::present);
        let listed = topology.links.items();
        let marked = |flow: &FlowSpec| match &*flow.kind {
            FlowKind::Tcp(config) => config.ecn,
            FlowKind::Stream(config) => config.ecn,
            FlowKind::Ndn(config) => config.marks,
            // QUIC is ECN-capable without a setting                               [RFC9000 §13.4]
            FlowKind::Stack(stack) => stack.encoder.is_none(),
            FlowKind::Datagram(_) => false,
        };
        let outside = self.blueprint.flows.iter().any(|flow| flow.emulation.is_some());
        let understood = outside || self.blueprint.flows.iter().any(marked);
        let control_node = |flow: &FlowSpec| match &flow.scheme {
            // a scheme of TCP sends nothing out of band
            Some(scheme) if !matches!(*flow.kind, FlowKind::Tcp(_)) => out_of_band(scheme, &flow.params),
            _ => false,
        };
        let classes = self.blueprint.flows.iter().any(|flow| flow.class > 0 || control_node(flow));
        for link in templates.chain(listed) {
            self.link(link, understood, classes, notes);
        }
    }

    fn link(&self, link: &At<Link>, understood: bool, classes: bool, notes: &mut Notes) {
        if let Some(written) = link.forward.mark_above.present()
            && let Some(above) = written.value.0
        {
            if !understood && !self.blueprint.flows.is_empty() {
                notes
                    .warn(written.location, "`mark_above` has no effect: no flow understands marks")
                    .hint("write tcp = { ecn = true } or stream = { ecn = true } in a flow, or leave it out");
            }
            // if the entry stands for many links, all have the same buffer
            let limit = self.blueprint.links.iter().find_map(|spec| {
                let queue = &spec.forward.queue;
                let name = link.name.present().map(|name| name.value.as_str());
                let same = name.is_none_or(|name| matches_pattern(name, &spec.name))
                    && queue.mark_above == Some(above);
                same.then_some(queue.limit)
            });
            if let Some(Limit::Packets(limit)) = limit
                && above >= limit
            {
                notes
                    .warn(
                        written.location,
                        format!("`mark_above` of {above} has no effect: the buffer holds {limit} packets"),
                    )
                    .hint("write a number below the buffer's: packets are marked when this number waits");
            }
        }
        if let Some(weights) = link.forward.classes.present()
            && weights.len() > 1
            && !classes
            && !self.blueprint.flows.is_empty()
        {
            notes
                .warn(weights.location, "`classes` has no effect: all flows are of class 0")
                .hint("write class = 1 in a flow, or leave `classes` out");
        }
    }

    /// Warns of tables about nodes that no flow uses.
    fn locations(&self, notes: &mut Notes) {
        let blueprint = self.blueprint;
        let addressed = |node: NodeId| {
            let by_address = blueprint.flows.iter().filter(|flow| !matches!(*flow.kind, FlowKind::Ndn(_)));
            by_address.into_iter().any(|flow| flow.from == node || flow.to.iter().any(|to| to.node == node))
        };
        let parts = blueprint.icn.is_some() || blueprint.sdn.is_some();
        let routes = self.file.routing.present().and_then(|routing| routing.routes.present());
        for route in routes.map_or(&[][..], |list| &list.value) {
            let Some(to) = route.to.present() else { continue };
            if let Some(node) = self.net.node(to)
                && !parts
                && !blueprint.flows.is_empty()
                && !addressed(node)
            {
                notes
                    .warn(
                        to.location,
                        format!("this route has no effect: no packet is addressed to `{}`", shortened(to)),
                    )
                    .hint("name an end of a flow; ways of named data are in ndn.routes");
            }
        }
        for producer in self.file.producers.items() {
            let Some(prefix) = producer.prefix.present() else { continue };
            if !self.is_asked_for(prefix) {
                notes
                    .warn(prefix.location, format!("no consumer asks for `{}`", shortened(&prefix.0)))
                    .hint("write the prefix in a flow with network = \"ndn\", or leave the producer out");
            }
        }
        let works = |node: NodeId| {
            let ends = |flow: &FlowSpec| flow.from == node || flow.to.iter().any(|to| to.node == node);
            let spec = blueprint;
            spec.flows.iter().any(ends)
                || spec.icn.as_ref().is_some_and(|icn| icn.resolver == node || icn.routers.contains(&node))
                || spec.ndn.as_ref().is_some_and(|ndn| ndn.nodes.contains(&node))
                || spec.sdn.as_ref().is_some_and(|sdn| sdn.controller == node || sdn.nodes.contains(&node))
        };
        for clock in self.file.clocks.items() {
            let Some(name) = clock.node.present() else { continue };
            if !blueprint.flows.is_empty() && !self.net.matching(name).into_iter().any(works) {
                notes
                    .warn(
                        name.location,
                        format!("the clock of `{}` has no effect: no endpoint reads it", shortened(name)),
                    )
                    .hint("name an end of a flow, or a node that routes by name");
            }
        }
        if let Some(table) = self.file.emulation.present()
            && blueprint.flows.iter().all(|flow| flow.emulation.is_none())
            && !blueprint.flows.is_empty()
        {
            notes
                .warn(table.location, "[emulation] has no effect: no flow has `kernel`, `live` or `commands`")
                .hint("write kernel = \"cubic\" in a flow, or start it with `thalweg emulate --kernel`");
        }
    }

    /// Whether a consumer requests names of a producer's prefix.
    fn is_asked_for(&self, prefix: &Prefix) -> bool {
        let tables = self.file.flows.items();
        let producers = || self.file.producers.present().into_iter().flat_map(|list| &list.value);
        let all = || producers().filter_map(|producer| producer.prefix.present());
        tables.iter().filter_map(|table| table.prefix.present()).any(|required| {
            let serving = all().filter(|one| one.covers(required)).max_by_key(|one| one.0.len());
            serving.is_some_and(|one| one.0 == prefix.0) || required.covers(prefix)
        })
    }

    /// Warns of events that are too late or change nothing.
    fn events(&self, plan: &Plan, notes: &mut Notes) {
        let events = self.file.events.items();
        let at_of = |event: &Event| event.at.present().map_or(Duration::ZERO, |at| at.value);
        for event in events {
            if let Some(at) = event.at.present()
                && Time::ZERO + at.value >= self.end
            {
                notes
                    .warn(
                        at.location,
                        format!("this event is after the end of the run at {}", self.blueprint.duration),
                    )
                    .hint("let it happen earlier, or lengthen `duration`");
            }
        }
        let mut sorted: Vec<&At<Event>> =
            events.iter().filter(|event| Time::ZERO + at_of(event) < self.end).collect();
        sorted.sort_by_key(|event| at_of(event));
        let mut flows: BTreeMap<FlowId, (Time, bool)> = BTreeMap::new();
        let mut members: BTreeMap<(FlowId, NodeId), (Time, bool)> = BTreeMap::new();
        let mut links: BTreeMap<&str, bool> = BTreeMap::new();
        for event in sorted {
            let at = Time::ZERO + at_of(event);
            if let (Some(link), Some(up)) = (event.link.present(), event.up.present())
                && links.insert(&link.value, up.value).unwrap_or(true) == up.value
            {
                let state = if up.value { "up" } else { "down" };
                notes
                    .warn(up.location, format!("`{}` is {state} already", shortened(link)))
                    .hint("leave it out, or add the event that changes it before");
            }
            let (Some(name), Some(action)) = (event.flow.present(), event.action.present()) else { continue };
            let named = self.named(plan, name);
            let mut idle = !named.is_empty();
            for id in named {
                let flow = &self.blueprint.flows[id.index()];
                idle &= match action.value {
                    Action::Start | Action::Stop => {
                        let required = action.value == Action::Start;
                        let was = state((flow.start, flow.stop), at, flows.insert(id, (at, required)));
                        was == required && flow.churn.is_none() && !(required && is_finite(flow))
                    }
                    Action::Join | Action::Leave => {
                        let node = event.node.present().and_then(|node| self.net.node(node));
                        let receiver = node.and_then(|node| flow.to.iter().find(|to| to.node == node));
                        let required = action.value == Action::Join;
                        receiver.is_some_and(|to: &ReceiverSpec| {
                            let before = members.insert((id, to.node), (at, required));
                            state((to.start, to.stop), at, before) == required && to.churn.is_none()
                        })
                    }
                    Action::Mode | Action::Reset => false,
                };
            }
            if idle {
                let (who, what) = match action.value {
                    Action::Start => (name, "is on already"),
                    Action::Stop => (name, "is not on"),
                    Action::Join => (event.node.present().unwrap_or(name), "is a member already"),
                    _ => (event.node.present().unwrap_or(name), "is no member"),
                };
                notes
                    .warn(
                        action.location,
                        format!(
                            "this event changes nothing: at {} `{}` {what}",
                            at_of(event),
                            shortened(who)
                        ),
                    )
                    .hint(match action.value {
                        Action::Start => "write start = \"never\" in the flow to let the event start it",
                        Action::Join => {
                            "write { node = \"NODE\", start = \"never\" } in `to` to let the event do it"
                        }
                        _ => "leave it out, or let it happen later",
                    });
            }
        }
    }

    /// The flow of a name, or all flows of a group.
    fn named(&self, plan: &Plan, name: &str) -> Vec<FlowId> {
        let own = self.blueprint.flows.iter().position(|flow| flow.name == name);
        let group = || plan.groups.iter().find(|group| group.name == name);
        own.map(|index| vec![FlowId(index as u32)])
            .or_else(|| group().map(|group| group.flows.clone()))
            .unwrap_or_default()
    }

    /// Warns of records without content.
    fn record(&self, notes: &mut Notes) {
        let Some(record) = self.file.record.present() else { return };
        let blueprint = self.blueprint;
        if blueprint.flows.is_empty() {
            return;
        }
        let series = record.series.present().is_some_and(|series| !series.is_empty());
        if let Some(every) = record.every.present() {
            if !series && !record.series.is_wrong() {
                notes
                    .warn(every.location, "`every` has no effect: no series is recorded")
                    .hint("write series = [\"rate\", \"backlog\"], or leave it out");
            } else if every.value > blueprint.duration {
                notes
                    .warn(
                        every.location,
                        format!("nothing is recorded: the run ends at {}", blueprint.duration),
                    )
                    .hint("take a shorter interval");
            }
        }
        if let Some(packets) = record.packets.present()
            && let Some(from) = packets.from.present()
            && from.value >= blueprint.duration
        {
            notes
                .warn(from.location, format!("no packet is recorded: the run ends at {}", blueprint.duration))
                .hint("take an earlier time");
        }
        let silent =
            |flow: &FlowSpec| matches!(*flow.kind, FlowKind::Datagram(_)) && flow.cast == Cast::Unicast;
        let parts = blueprint.icn.is_some() || blueprint.ndn.is_some() || blueprint.sdn.is_some();
        if let Some(events) = record.events.present()
            && events.value
            && !parts
            && blueprint.flows.iter().all(silent)
        {
            notes
                .warn(
                    events.location,
                    "`events` has no effect: sources without congestion control report none",
                )
                .hint("leave it out");
        }
        if let Some(name) =
            record.series.present().and_then(|list| list.iter().find(|name| name.value == "pit"))
            && blueprint.ndn.is_none()
        {
            notes
                .warn(name.location, "`pit` is of forwarders of named data, and there are none")
                .hint("leave it out");
        }
    }
}

/// Whether something is active at `at`: by the last event, or by its own times without one.
fn state((start, stop): (Time, Time), at: Time, event: Option<(Time, bool)>) -> bool {
    let own =
        [(start, true), (stop, false)].into_iter().filter(|(when, _)| *when <= at && *when != Time::NEVER);
    let latest = own.chain(event).max_by_key(|(when, _)| *when);
    latest.map_or(on(start, stop, at), |(_, on)| on)
}

/// Whether a flow is a finite transfer.
pub(crate) fn is_finite(flow: &FlowSpec) -> bool {
    match &*flow.kind {
        FlowKind::Tcp(config) => matches!(config.demand, Demand::Finite(_)),
        FlowKind::Ndn(config) => config.size != Bytes::UNLIMITED,
        FlowKind::Stack(stack) => stack.size != Bytes::UNLIMITED && stack.size != Bytes::ZERO,
        FlowKind::Stream(_) | FlowKind::Datagram(_) => false,
    }
}

fn location_of<T>(field: &Field<T>) -> Option<Location> {
    field.present().map(|at| at.location)
}
