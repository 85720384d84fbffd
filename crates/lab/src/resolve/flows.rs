//! Flows of a scenario: copies, receivers, starts drawn from the seed.

use std::collections::BTreeSet;

use contract::{NodeId, Random};
use sim::Cast;
use units::{Duration, Time};

use super::endpoints::{MAX_FLOWS, check_endpoints, nodes, senders};
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
    let mut traffic = Traffic::default();
    let mut next_pair = 1;
    let mut receivers = 0;
    let mut contents = 0;
    let mut names = BTreeSet::new();
    for table in tables {
        let none = table.count.present().is_some_and(|count| count.value == 0);
        if none && table.scheme.is_missing() && table.source.is_missing() {
            // an entry without flows needs no machine
            if let Some(name) = table.name.required("name", "a flow", table.location, notes) {
                traffic.group(&table.group.or(name.value.clone()));
            }
            continue;
        }
        let Some(model) = model(table, Some(setting.net), setting.ndn, setting.folder, notes) else {
            check_endpoints(table, setting.net, paths, notes);
            continue;
        };
        let group_name = table.group.or(model.name.value.clone());
        let group = traffic.group(&group_name);
        if !names.insert(model.name.value.clone()) {
            notes
                .wrong(model.name.location, format!("two flows are called `{}`", shortened(model.name)))
                .hint("give each a name of its own, or write count = 2 in one table");
            continue;
        }
        let Ok(senders) = senders(table, setting.net, notes) else { continue };
        let mut app = match table.app.present() {
            Some(written) => match apps::app(table, &model, written, senders.len(), setting, notes) {
                Some(client) => Some(client),
                None => continue,
            },
            None => None,
        };
        let shared = app.as_ref().is_some_and(|client| client.shared);
        let copies = app.as_ref().map_or(table.count.or(senders.len().max(1) as u32), |client| client.copies);
        let times = match &table.arrivals {
            Field::Present(written) => match arrivals::arrivals(table, &model, written, setting, notes) {
                Some(times) => Some(times),
                None => continue,
            },
            _ => None,
        };
        let total = traffic.flows.len() + times.as_ref().map_or(copies as usize, Vec::len);
        if total > MAX_FLOWS {
            notes
                .wrong(table.location, format!("{total} flows are too many"))
                .hint(format!("at most {MAX_FLOWS}"));
            break;
        }
        // arrivals from one sender share a pair of hosts; each copy has its own
        let mut location = None;
        let each = (times.is_none() && !shared) || senders.len() > 1;
        for i in 0..times.as_ref().map_or(copies, |times| times.len() as u32) {
            if let Some((from, to)) = times.as_ref().and_then(|times| times[i as usize].ends) {
                let named = Flow {
                    from: Senders(vec![setting.net.nodes[from.index()].clone().into()]).into(),
                    to: Targets { list: vec![plain(setting.net, to)], listed: false }.into(),
                    ..table.value.clone()
                };
                let named = At { value: named, location: table.location };
                location = nodes(&named, Some(from), setting.net, &mut next_pair, paths, notes);
            } else if location.is_none() || each {
                let sender = senders.get(i as usize % senders.len().max(1)).copied();
                location = nodes(table, sender, setting.net, &mut next_pair, paths, notes);
            }
            let placed = if each { location.take() } else { location.clone() };
            let Some((from, to)) = placed else { break };
            let (members, targets): (Vec<NodeId>, Vec<_>) = to.into_iter().unzip();
            if model.cast == Cast::Named
                && !setting.icn.reach(table, from, &members, setting.net, paths, notes)
            {
                break;
            }
            if model.transport == Transport::Ndn && !setting.ndn.reach(table, from, setting.net, notes) {
                break;
            }
            if let Some(consumer) = model.table.consumer.present()
                && consumer.pattern.or(PatternWord::Sequential) == PatternWord::Zipf
            {
                contents += u64::from(consumer.contents.or(0));
                if contents > MAX_CONTENTS {
                    let location = table.consumer.present().map_or(table.location, |at| at.location);
                    notes
                        .wrong(location, format!("the catalogues of all consumers have {contents} contents"))
                        .hint(format!("at most {MAX_CONTENTS}: take fewer contents of more segments"));
                    return traffic;
                }
            }
            receivers += members.len();
            if receivers > MAX_RECEIVERS {
                notes
                    .wrong(table.location, format!("{receivers} receivers are too many"))
                    .hint(format!("at most {MAX_RECEIVERS}"));
                return traffic;
            }
            let alone = copies == 1 && times.is_none();
            let name =
                if alone { model.name.value.clone() } else { format!("{}.{}", model.name.value, i + 1) };
            let mut own = Flow {
                location: table.location,
                from: Senders(vec![setting.net.nodes[from.index()].clone().into()]).into(),
                start: Instant(start_of(table, if shared { model.name } else { &name }, setting)).into(),
                stop: table.stop.clone().filled(Instant(Time::NEVER)),
                group: group_name.clone().into(),
                name: Field::Present(At { value: name, location: model.name.location }),
                ..model.table.clone()
            };
            if let Some(times) = &times {
                let arrival = &times[i as usize];
                (own.start, own.stop) = (Instant(arrival.at).into(), Instant(arrival.stop).into());
                own.size = arrival.size.into();
            }
            own.app = match &mut app {
                Some(client) => {
                    Field::Present(client.named(if shared { model.name } else { own.name.resolved() }))
                }
                None => Field::Missing,
            };
            if model.transport != Transport::Ndn {
                own.to = Targets { list: targets, listed: model.cast != Cast::Unicast }.into();
            }
            let Model { transport, cast, packet, .. } = model;
            let flow = ResolvedFlow { table: own, transport, cast, packet, from, to: members };
            traffic.add(flow, group, model.name.location, notes);
        }
        traffic.traces.extend(model.trace);
    }
    apps::check(&traffic.flows, notes);
    traffic
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
