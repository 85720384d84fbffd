//! Flows of a scenario: copies, receivers, starts drawn from the seed.

use std::collections::BTreeSet;

use contract::{NodeId, Random};
use sim::Cast;
use units::{Duration, Time};

use super::arrivals::Arrival;
use super::endpoints::{MAX_FLOWS, Receiver, check_endpoints, nodes, senders};
use super::model::{Model, Transport};
use super::setting::Setting;
use super::traffic::{ResolvedFlow, Traffic};
use super::transports::model;
use super::{apps, arrivals};
use crate::schema::file::{File, Flow};
use crate::schema::ndn::PatternWord;
use crate::schema::nodes::{Member, Targets};
use crate::schema::read::{At, Field, Notes, shortened};
use crate::schema::values::{Instant, Senders};
use crate::topology::{Net, Paths};

/// Most contents in the catalogues of all consumers together; each takes eight bytes.
const MAX_CONTENTS: u64 = 50_000_000;
/// Most receivers of a plan.
const MAX_RECEIVERS: usize = 1_000_000;

/// All flows.
pub(super) fn build(file: &File, setting: &Setting<'_>, paths: &mut Paths<'_>, notes: &mut Notes) -> Traffic {
    let tables = file.flows.items();
    let mut traffic = resolve_flows(tables, setting, paths, notes);
    traffic.nameless = file.flows.is_wrong() || tables.iter().any(|table| table.name.is_wrong());
    for table in tables {
        let Some(name) = table.name.present() else { continue };
        let copied = traffic.has_flow(name) || traffic.has_flow(&format!("{}.1", name.value));
        let group = table.group.present().map_or(name.value.as_str(), |group| &group.value);
        // nothing arrives where too few flows are drawn, and nothing is sent by none
        let none =
            table.count.present().is_some_and(|count| count.value == 0) || table.arrivals.present().is_some();
        let idle = none && traffic.has_group(group);
        if !copied && !idle {
            traffic.refused.extend([name.value.clone(), group.to_owned()]);
        }
    }
    traffic
}

/// Resolves the entries into flows. Entries with errors are noted and make no flows.
fn resolve_flows(
    tables: &[At<Flow>],
    setting: &Setting<'_>,
    paths: &mut Paths<'_>,
    notes: &mut Notes,
) -> Traffic {
    let mut making = Making {
        setting,
        paths,
        notes,
        traffic: Traffic::default(),
        names: BTreeSet::new(),
        next_pair: 1,
        receivers: 0,
        contents: 0,
    };
    let within = tables.iter().all(|table| making.entry(table).is_ok());
    let Making { traffic, notes, .. } = making;
    if within {
        apps::check(&traffic.flows, notes);
    }
    traffic
}

/// The plan has more of something than it may; that is noted.
struct TooMany;

/// The flows that are made, and the counts that have limits.
struct Making<'a, 'p> {
    setting: &'a Setting<'a>,
    paths: &'a mut Paths<'p>,
    notes: &'a mut Notes,
    traffic: Traffic,
    /// Names of entries.
    names: BTreeSet<String>,
    /// The number of the next pair of hosts of a dumbbell.
    next_pair: u32,
    /// Receivers of all flows.
    receivers: usize,
    /// Contents in the catalogues of all consumers.
    contents: u64,
}

/// What the copies of an entry share.
struct Copies<'a> {
    table: &'a At<Flow>,
    model: Model<'a>,
    group_name: String,
    /// Its place among the groups.
    group: usize,
    senders: Vec<NodeId>,
    app: Option<apps::Client>,
    times: Option<Vec<Arrival>>,
    /// How many.
    count: u32,
    /// Whether each has ends of its own: arrivals from one sender and connections of one application share theirs.
    apart: bool,
}

impl<'a> Making<'a, '_> {
    /// The flows of an entry.
    fn entry(&mut self, table: &'a At<Flow>) -> Result<(), TooMany> {
        let none = table.count.present().is_some_and(|count| count.value == 0);
        if none && table.scheme.is_missing() && table.source.is_missing() {
            // an entry without flows needs no machine
            if let Some(name) = table.name.required("name", "a flow", table.location, self.notes) {
                self.traffic.group(&table.group.or(name.value.clone()));
            }
            return Ok(());
        }
        let Some(mut copies) = self.copies(table) else { return Ok(()) };
        let total = self.traffic.flows.len() + copies.count as usize;
        if total > MAX_FLOWS {
            self.notes
                .wrong(table.location, format!("{total} flows are too many"))
                .hint(format!("at most {MAX_FLOWS}"));
            return Err(TooMany);
        }
        let mut ends = None;
        for i in 0..copies.count {
            if let Some((from, to)) = copies.times.as_ref().and_then(|times| times[i as usize].ends) {
                ends = self.listed_ends(table, from, to);
            } else if ends.is_none() || copies.apart {
                let sender = copies.senders.get(i as usize % copies.senders.len().max(1)).copied();
                ends = nodes(table, sender, self.setting.net, &mut self.next_pair, self.paths, self.notes);
            }
            let placed = if copies.apart { ends.take() } else { ends.clone() };
            let Some((from, to)) = placed else { break };
            if !self.reaches(&copies, from, &to) {
                break;
            }
            self.check_limits(&copies, to.len())?;
            self.add(&mut copies, i, from, to);
        }
        self.traffic.traces.extend(copies.model.trace);
        Ok(())
    }

    /// What the copies of an entry share; `None` when something is noted.
    fn copies(&mut self, table: &'a At<Flow>) -> Option<Copies<'a>> {
        let Self { setting, notes, .. } = self;
        let Some(model) = model(table, Some(setting.net), setting.ndn, setting.folder, notes) else {
            check_endpoints(table, setting.net, self.paths, notes);
            return None;
        };
        let group_name = table.group.or(model.name.value.clone());
        let group = self.traffic.group(&group_name);
        if !self.names.insert(model.name.value.clone()) {
            notes
                .wrong(model.name.location, format!("two flows are called `{}`", shortened(model.name)))
                .hint("give each a name of its own, or write count = 2 in one table");
            return None;
        }
        let senders = senders(table, setting.net, notes).ok()?;
        let app = match table.app.present() {
            Some(written) => Some(apps::app(table, &model, written, senders.len(), setting, notes)?),
            None => None,
        };
        let times = match table.arrivals.present() {
            Some(written) => Some(arrivals::arrivals(table, &model, written, setting, notes)?),
            None => None,
        };
        let written = || table.count.or(senders.len().max(1) as u32);
        let count = match (&times, &app) {
            (Some(times), _) => times.len() as u32,
            (None, Some(client)) => client.copies,
            (None, None) => written(),
        };
        let shared = app.as_ref().is_some_and(|client| client.shared);
        let apart = (times.is_none() && !shared) || senders.len() > 1;
        Some(Copies { table, model, group_name, group, senders, app, times, count, apart })
    }

    /// The ends that a file of arrivals names.
    fn listed_ends(&mut self, table: &At<Flow>, from: NodeId, to: NodeId) -> Option<(NodeId, Vec<Receiver>)> {
        let net = self.setting.net;
        let named = Flow {
            from: Senders(vec![net.nodes[from.index()].clone().into()]).into(),
            to: Targets { list: vec![plain(net, to)], listed: false }.into(),
            ..table.value.clone()
        };
        let named = At { value: named, location: table.location };
        nodes(&named, Some(from), net, &mut self.next_pair, self.paths, self.notes)
    }

    /// Whether names lead from the receivers to the source, where packets are sent by name.
    fn reaches(&mut self, copies: &Copies<'_>, from: NodeId, to: &[Receiver]) -> bool {
        let Setting { net, icn, ndn, .. } = self.setting;
        let Copies { table, model, .. } = copies;
        if model.cast == Cast::Named {
            let members: Vec<NodeId> = to.iter().map(|(node, _)| *node).collect();
            return icn.reach(table, from, &members, net, self.paths, self.notes);
        }
        model.transport != Transport::Ndn || ndn.reach(table, from, net, self.notes)
    }

    /// Counts a copy's contents and receivers.
    fn check_limits(&mut self, copies: &Copies<'_>, receivers: usize) -> Result<(), TooMany> {
        let table = copies.table;
        if let Some(consumer) = copies.model.table.consumer.present()
            && consumer.pattern.or(PatternWord::Sequential) == PatternWord::Zipf
        {
            self.contents += u64::from(consumer.contents.or(0));
            if self.contents > MAX_CONTENTS {
                let location = table.consumer.present().map_or(table.location, |at| at.location);
                let what = format!("the catalogues of all consumers have {} contents", self.contents);
                self.notes
                    .wrong(location, what)
                    .hint(format!("at most {MAX_CONTENTS}: take fewer contents of more segments"));
                return Err(TooMany);
            }
        }
        self.receivers += receivers;
        if self.receivers > MAX_RECEIVERS {
            self.notes
                .wrong(table.location, format!("{} receivers are too many", self.receivers))
                .hint(format!("at most {MAX_RECEIVERS}"));
            return Err(TooMany);
        }
        Ok(())
    }

    /// Adds copy `i`, counted from 0.
    fn add(&mut self, copies: &mut Copies<'_>, i: u32, from: NodeId, to: Vec<Receiver>) {
        let setting = self.setting;
        let Copies { table, model, group_name, app, times, .. } = copies;
        let (members, targets): (Vec<NodeId>, Vec<_>) = to.into_iter().unzip();
        let shared = app.as_ref().is_some_and(|client| client.shared);
        let alone = copies.count == 1 && times.is_none();
        let name = if alone { model.name.value.clone() } else { format!("{}.{}", model.name.value, i + 1) };
        let mut own = Flow {
            location: table.location,
            from: Senders(vec![setting.net.nodes[from.index()].clone().into()]).into(),
            start: Instant(start_of(table, if shared { model.name } else { &name }, setting)).into(),
            stop: table.stop.clone().filled(Instant(Time::NEVER)),
            group: group_name.clone().into(),
            name: Field::Present(At { value: name, location: model.name.location }),
            ..model.table.clone()
        };
        if let Some(times) = times {
            let arrival = &times[i as usize];
            (own.start, own.stop) = (Instant(arrival.at).into(), Instant(arrival.stop).into());
            own.size = arrival.size.into();
        }
        own.app = match app {
            Some(client) => {
                Field::Present(client.named(if shared { model.name } else { own.name.resolved() }))
            }
            None => Field::Missing,
        };
        if model.transport != Transport::Ndn {
            own.to = Targets { list: targets, listed: model.cast != Cast::Unicast }.into();
        }
        let Model { transport, cast, packet, .. } = *model;
        let flow = ResolvedFlow { table: own, transport, cast, packet, from, to: members };
        self.traffic.add(flow, copies.group, model.name.location, self.notes);
    }
}

/// A receiver for the whole run.
fn plain(net: &Net, node: NodeId) -> At<Member> {
    Member { node: net.name(node), ..Member::default() }.into()
}

/// When a copy starts: uniformly in `start` to `start` + `start_spread`, from the stream "start" of the flow.
fn start_of(table: &Flow, name: &str, setting: &Setting<'_>) -> Time {
    let start = table.start.or(Instant(Time::ZERO)).0;
    let spread = table.start_spread.or(Duration::ZERO);
    if spread == Duration::ZERO || start == Time::NEVER {
        return start;
    }
    let mut draw = Random::new(setting.seed, &format!("flow.{name}"), "start");
    // a scenario writes instants up to 10⁹ s
    (start + Duration::from_nanos(draw.below(spread.as_nanos())))
        .min(Time::from_nanos(1_000_000_000_000_000_000))
}
