//! Endpoints of flows.

use std::collections::BTreeSet;
use std::sync::Arc;

use contract::NodeId;
use units::Time;

use super::churn::{check_churn, churn};
use crate::schema::file::{Flow, NetworkWord, Receivers};
use crate::schema::nodes::Member;
use crate::schema::read::{At, Field, Notes, shortened};
use crate::schema::tree::Location;
use crate::schema::values::Instant;
use crate::topology::{Net, Paths};

/// Most flows of a plan, copies and arrivals counted.
pub(super) const MAX_FLOWS: usize = 1_000_000;

/// Pairs of hosts that a dumbbell needs: one for each copy of a flow that does not say its nodes, and all that are
/// named, by flows or as `others`.
pub(super) fn pairs_needed<'a>(flows: &'a [At<Flow>], others: impl Iterator<Item = &'a At<String>>) -> u32 {
    let unnamed: u64 = flows
        .iter()
        .filter(|flow| flow.from.is_missing() && flow.to.is_missing())
        .map(|flow| u64::from(flow.count.or(1)))
        .sum();
    let targets = flows.iter().filter_map(|flow| flow.to.present()).flat_map(|to| &to.list);
    let named = flows
        .iter()
        .filter_map(|flow| flow.from.present())
        .flat_map(|from| &from.0)
        .chain(targets.filter_map(|target| target.node.present()))
        .chain(others)
        .filter_map(|name| host_number(name))
        .max()
        .unwrap_or(0);
    (unnamed.min(MAX_FLOWS as u64) as u32).max(named.min(MAX_FLOWS as u32))
}

/// Bytes of memory that a run takes for a flow, and for a pair of hosts with their links: measured with 10⁴ to 3 × 10⁵
/// flows of TCP.
const FLOW_BYTES: u64 = 2_500;
const PAIR_BYTES: u64 = 6_500;

/// Notes flows for whose run this host has not the memory. `pairs` are the hosts that are made for them; `available`
/// bytes are left, if that is known.
pub(super) fn check_memory(flows: &[At<Flow>], pairs: u32, available: Option<u64>, notes: &mut Notes) {
    // the count of arrivals is a limit, which they seldom reach
    let count = |flow: &At<Flow>| if flow.arrivals.is_missing() { u64::from(flow.count.or(1)) } else { 1 };
    let total: u64 = flows.iter().map(count).sum();
    let needed = total * FLOW_BYTES + u64::from(pairs) * PAIR_BYTES;
    let (Some(available), Some(largest)) = (available, flows.iter().max_by_key(|flow| count(flow))) else {
        return;
    };
    if needed > available && total <= MAX_FLOWS as u64 {
        let gb = |bytes: u64| bytes as f64 / 1e9;
        notes
            .wrong(
                largest.location,
                format!(
                    "a run with {total} flows needs about {:.1} GB of memory, and {:.1} GB are left",
                    gb(needed),
                    gb(available)
                ),
            )
            .hint("take fewer flows, or a host with more memory");
    }
}

/// `7` of `left7` or `right7`.
fn host_number(name: &str) -> Option<u32> {
    name.strip_prefix("left").or_else(|| name.strip_prefix("right"))?.parse().ok()
}

/// The nodes that copies send from, each in turn; none where that is not written. Fails when something is noted.
pub(super) fn senders(table: &Flow, net: &Net, notes: &mut Notes) -> Result<Vec<NodeId>, ()> {
    let before = notes.count();
    let targets = table.to.present().map_or(&[][..], |to| &to.list);
    let receives = |id: NodeId| {
        let name = net.nodes[id.index()].as_str();
        targets.iter().any(|target| target.node.present().is_some_and(|node| node.value == name))
    };
    let mut list = Vec::new();
    for name in table.from.present().map_or(&[][..], |from| &from.0) {
        if !name.contains('*') {
            list.extend(net.find_node(name, notes));
            continue;
        }
        let found = net.matching(name);
        if found.is_empty() {
            net.no_match(name, notes);
        }
        list.extend(found.into_iter().filter(|id| !receives(*id)));
    }
    if let Some(from) = table.from.present()
        && list.is_empty()
        && notes.count() == before
        && net.knows_all_nodes()
    {
        notes.wrong(from.location, "a flow needs a sender").hint("name at least one node");
    }
    if notes.count() > before || matches!(table.from, Field::Wrong) { Err(()) } else { Ok(list) }
}

/// Nodes that `from` and `to` of an entry mean, as far as they are known.
pub(super) fn ends(table: &Flow, net: &Net) -> BTreeSet<NodeId> {
    let senders = table.from.present().into_iter().flat_map(|from| &from.0);
    let targets = table.to.present().into_iter().flat_map(|to| &to.list);
    let names = senders.chain(targets.filter_map(|target| target.node.present()));
    names.flat_map(|name| net.matching(name)).collect()
}

/// Notes errors in the nodes of a flow that is refused for other reasons.
pub(super) fn check_endpoints(table: &At<Flow>, net: &Net, paths: &Paths<'_>, notes: &mut Notes) {
    if let Ok(senders) = senders(table, net, notes)
        && !(table.from.is_missing() && table.to.is_missing())
    {
        nodes(table, senders.first().copied(), net, &mut 1, paths, notes);
    }
}

/// A receiver: its node and its table, which has times where they are not those of the run.
pub(super) type Receiver = (NodeId, At<Member>);

/// Sender's node and receivers of the next copy; `None` when something is noted.
pub(super) fn nodes(
    table: &At<Flow>,
    sender: Option<NodeId>,
    net: &Net,
    next_pair: &mut u32,
    paths: &Paths<'_>,
    notes: &mut Notes,
) -> Option<(NodeId, Vec<Receiver>)> {
    let plain = |node| (node, Member { node: net.name(node), ..Member::default() }.into());
    let firsts = (net.node("left1"), net.node("right1"));
    let dumbbell = firsts.0.is_some() && net.node("router_left").is_some();
    let host = |side: &str, first: Option<NodeId>, n: u32| {
        // the generator numbers the hosts of a side one after the other
        let name = format!("{side}{n}");
        let near = first.and_then(|first| Some(NodeId(first.0.checked_add(n.checked_sub(1)?)?)));
        near.filter(|near| net.nodes.get(near.index()) == Some(&name)).or_else(|| net.node(&name))
    };
    let pair = |n: u32| Some((host("left", firsts.0, n)?, host("right", firsts.1, n)?));
    // the host on the other side of a dumbbell
    let opposite = |host: NodeId| {
        let name = &net.nodes[host.index()];
        let (left, right) = pair(host_number(name).filter(|_| dumbbell)?)?;
        Some(if name.starts_with("left") { right } else { left })
    };
    let consumes = table.network.or(NetworkWord::Ip) == NetworkWord::Ndn;
    let (from, to) = match (sender, &table.to) {
        (Some(from), Field::Missing) if consumes => (from, Vec::new()),
        (None, Field::Missing) if dumbbell => {
            let n = *next_pair;
            *next_pair += 1;
            let Some((left, right)) = pair(n) else {
                notes
                    .wrong(
                        table.location,
                        format!("this flow needs pair {n} of the hosts, which does not exist"),
                    )
                    .hint("raise topology.pairs or leave it out, or write `from` and `to`");
                return None;
            };
            (left, if consumes { Vec::new() } else { vec![plain(right)] })
        }
        (Some(from), Field::Missing) if opposite(from).is_some() => (from, vec![plain(opposite(from)?)]),
        (from, to) => {
            if from.is_none() {
                table.from.required("from", "a flow", table.location, notes);
            }
            if consumes {
                return None;
            }
            let to = to.required("to", "a flow", table.location, notes);
            let (from, to) = (from?, to?);
            let list = receivers(table, from, &to.list, net, notes)?;
            (from, list)
        }
    };
    for (receiver, _) in &to {
        if !paths.joined(from, *receiver) {
            let (a, b) = (&net.nodes[from.index()], &net.nodes[receiver.index()]);
            let location = table.to.present().map_or(table.location, |at| at.location);
            notes.wrong(location, format!("there is no path from `{a}` to `{b}`")).hint("join them by links");
            return None;
        }
    }
    Some((from, to))
}

fn receivers(
    table: &Flow,
    from: NodeId,
    targets: &[At<Member>],
    net: &Net,
    notes: &mut Notes,
) -> Option<Vec<Receiver>> {
    let before = notes.count();
    let none = Receivers::default();
    let members = table.receivers.present().map_or(&none, |at| &at.value);
    let always: Vec<NodeId> =
        members.always.items().iter().filter_map(|name| net.find_node(name, notes)).collect();
    let shared = members.churn.present().map(|at| Arc::new(churn(at)));
    let mut list: Vec<Receiver> = Vec::new();
    let mut taken = BTreeSet::new();
    for target in targets {
        let Some(name) = target.node.required("node", "a receiver", target.location, notes) else { continue };
        if let Some(own) = target.churn.present() {
            check_churn(own, notes);
        }
        let start = target.start.or(Instant(Time::ZERO)).0;
        let stop = target.stop.or(Instant(Time::NEVER)).0;
        if let Some(at) = target.stop.present()
            && start >= stop
        {
            notes.wrong(at.location, "this receiver leaves before it joins");
        }
        let has_wildcard = name.contains('*');
        let nodes = if has_wildcard {
            net.matching(name).into_iter().filter(|node| *node != from && !taken.contains(node)).collect()
        } else {
            net.find_node(name, notes).into_iter().collect::<Vec<_>>()
        };
        if has_wildcard && nodes.is_empty() {
            net.no_match(name, notes);
        }
        for node in nodes {
            if node == from {
                notes
                    .wrong(name.location, format!("a flow cannot go from `{}` to itself", shortened(name)))
                    .hint("name two different nodes");
            } else if !taken.insert(node) {
                notes.wrong(name.location, format!("`{}` is a receiver already", shortened(name)));
            }
            let own = target.churn.present().map(|at| Arc::new(churn(at)));
            let churn = own.or_else(|| shared.clone().filter(|_| !always.contains(&node)));
            let mut table = Member { node: net.name(node), ..Member::default() };
            if start > Time::ZERO || stop < Time::NEVER || churn.is_some() {
                table.start = target.start.clone().filled(Instant(start));
                table.stop = target.stop.clone().filled(Instant(stop));
                table.churn = churn.into();
            }
            list.push((node, At { value: table, location: target.location }));
        }
    }
    if list.is_empty() && notes.count() == before && net.knows_all_nodes() {
        let location = table.to.present().map_or(Location::default(), |at| at.location);
        notes.wrong(location, "a flow needs a receiver").hint("name at least one node");
    }
    let by_name = table.network.or(NetworkWord::Ip) == NetworkWord::Icn;
    if list.len() > 1 && !table.multicast.or(true) && !by_name {
        let location = table.multicast.present().map_or(Location::default(), |at| at.location);
        notes
            .wrong(location, format!("{} receivers without multicast", list.len()))
            .hint("leave `multicast` out, or name one receiver");
    }
    // a node that a refused entry may have named is no receiver yet
    (notes.count() == before && !list.is_empty()).then_some(list)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flows_that_need_more_memory_than_is_left_are_refused_before_they_are_made() {
        let table = |count: u32| At::from(Flow { count: count.into(), ..Flow::default() });
        let refused = |counts: &[u32], pairs: u32, available: Option<u64>| {
            let mut notes = Notes::default();
            let flows: Vec<_> = counts.iter().map(|count| table(*count)).collect();
            check_memory(&flows, pairs, available, &mut notes);
            notes.count() > 0
        };
        let one_gb = Some(1_000_000_000);
        assert!(!refused(&[50_000, 50_000], 100_000, one_gb));
        assert!(refused(&[50_000, 70_000], 120_000, one_gb));
        assert!(!refused(&[50_000, 70_000], 1, one_gb));
        assert!(refused(&[500_000], 1, one_gb));
        assert!(!refused(&[1_000_000], 1_000_000, None));
        // they are too many in any memory, which is another message
        assert!(!refused(&[u32::MAX, u32::MAX], 1_000_000, one_gb));
    }
}
