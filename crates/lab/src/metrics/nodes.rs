//! The table `nodes`, from the counters of routers, forwarders and controllers.

use contract::Count;
use sim::{NodeRecord, NodeRole, Trace};
use stack::ndn;

use crate::Plan;
use crate::report::{Columns, Table};

pub(super) fn nodes(plan: &Plan, trace: &Trace) -> Table {
    let count = |what: Count| move |row: &NodeRecord| row.meter.count(what);
    let of = |value: fn(&ndn::Counters) -> u64| move |row: &NodeRecord| row.ndn.as_ref().map(value);
    let table = Columns::of("nodes", &trace.nodes)
        .text("node", |row| plan.blueprint.nodes[row.node.index()].to_string())
        .text("role", |row| {
            match row.role {
                NodeRole::Router => "router",
                NodeRole::Resolver => "resolver",
                NodeRole::Forwarder => "forwarder",
                NodeRole::Switch => "switch",
                NodeRole::Controller => "controller",
            }
            .to_owned()
        })
        .count("groups", |row| row.groups)
        .count("sent_packets", |row| row.sent_packets)
        .count("sent_bytes", |row| row.sent_bytes)
        .count("forwarded_packets", |row| row.forwarded_packets)
        .count("feedback_received", count(Count::FeedbackReceived))
        .count("feedback_packets", count(Count::Feedback))
        .count("signals", count(Count::Signals))
        .count("ignored", count(Count::Ignored))
        .count("statuses", count(Count::Statuses))
        .count("commands", count(Count::Commands))
        .count("commands_retransmitted", count(Count::CommandRetransmits))
        .count("reroutes", count(Count::Reroutes))
        .count("operations", count(Count::Operations))
        .count("filter_operations", count(Count::Filtering))
        .count("search_operations", count(Count::Searching))
        .count("switch_operations", count(Count::Switching))
        .count_of_some("part_operations", of(|counters| counters.operations))
        .count_of_some("pending", of(|counters| counters.pending))
        .count_of_some("pending_peak", of(|counters| counters.pending_peak))
        .count_of_some("stored", of(|counters| counters.stored))
        .number("hit_ratio", |row| row.ndn.as_ref().and_then(ndn::Counters::hit_ratio));
    ndn::Tally::ALL
        .into_iter()
        .fold(table, |table, what| {
            table.count_of_some(what.name(), |row| row.ndn.as_ref().map(|counters| counters.count(what)))
        })
        .done()
}
