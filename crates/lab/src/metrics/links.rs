//! The table `links`, from the counters of ports.

use sim::{Change, LinkSpec, PortRecord, PortSpec, Trace};
use units::{Duration, Rate};

use super::drops::{AT_LINKS, DROPS};
use super::means::{loss_ratio, measured, ratio};
use super::percentiles::{self, PERCENTS};
use crate::Plan;
use crate::report::{Columns, Table};

/// One direction of a link.
struct PortRow<'a> {
    link: &'a LinkSpec,
    forward: bool,
    spec: &'a PortSpec,
    from: &'a str,
    to: &'a str,
    record: &'a PortRecord,
    /// Mean propagation delay while measured.
    delay_s: Option<f64>,
    /// [`PERCENTS`] of the times that packets waited.
    waits_s: [Option<f64>; PERCENTS.len()],
}

impl PortRow<'_> {
    fn drops(&self) -> u64 {
        self.record.drops.iter().sum()
    }
}

/// The propagation delay of a link averaged over the measured time: events and traces change it.
fn mean_delay(plan: &Plan, trace: &Trace, link: usize, spec: &PortSpec) -> Option<f64> {
    let by_trace = spec.trace.as_ref().filter(|by| by.has_delays() && trace.ended_at > trace.warmup);
    let above = by_trace.map_or(0.0, |by| by.mean_delay_above_s(trace.warmup, trace.ended_at));
    let changes = plan.blueprint.events.iter().filter_map(|(at, change)| match change {
        Change::LinkDelay(changed, delay) if changed.index() == link => Some((*at, *delay)),
        _ => None,
    });
    let mut changes: Vec<_> = changes.collect();
    changes.sort_by_key(|(at, _)| *at);
    let (mut since, mut delay, mut sum) = (trace.warmup, spec.delay, 0.0);
    for (at, next) in changes.into_iter().chain([(trace.ended_at, Duration::ZERO)]) {
        let at = at.min(trace.ended_at);
        sum += delay.as_secs_f64() * at.saturating_since(since).as_secs_f64();
        (since, delay) = (since.max(at), next);
    }
    let span = measured(trace);
    // the sum of one addend would not be the delay itself
    if plan.blueprint.events.is_empty() {
        Some(spec.delay.as_secs_f64() + above)
    } else {
        ratio(sum, span.as_secs_f64()).map(|mean| mean + above)
    }
}

pub(super) fn links(plan: &Plan, trace: &Trace) -> Table {
    let blueprint = &plan.blueprint;
    let node = |id: contract::NodeId| blueprint.nodes[id.index()].as_str();
    let rows: Vec<PortRow<'_>> = blueprint
        .links
        .iter()
        .enumerate()
        .flat_map(|(index, link)| [(2 * index, link, true), (2 * index + 1, link, false)])
        .map(|(port, link, forward)| {
            let spec = if forward { &link.forward } else { &link.backward };
            let (from, to) = if forward { link.ends } else { (link.ends.1, link.ends.0) };
            PortRow {
                link,
                forward,
                spec,
                from: node(from),
                to: node(to),
                record: &trace.ports[port],
                delay_s: mean_delay(plan, trace, port / 2, spec),
                waits_s: percentiles::of_counted(
                    trace
                        .queueing_delays
                        .get(port)
                        .into_iter()
                        .flatten()
                        .flat_map(|waits| waits.iter())
                        .collect(),
                ),
            }
        })
        .collect();
    let measured_ns = measured(trace).as_nanos() as f64;
    let table = Columns::of("links", &rows)
        .text("link", |row| row.link.name.to_string())
        .text("direction", |row| if row.forward { "forward" } else { "backward" }.to_owned())
        .text("from", |row| row.from.to_owned())
        .text("to", |row| row.to.to_owned())
        .number("rate_bps", |row| {
            ratio(row.record.capacity_bits as f64, measured_ns / 1e9)
                .filter(|_| row.spec.rate < Rate::UNLIMITED)
        })
        .number("delay_s", |row| row.delay_s)
        .count("offered_packets", |row| row.record.offered_packets)
        .count("sent_packets", |row| row.record.sent_packets)
        .count("sent_bytes", |row| row.record.sent_bytes)
        .number("utilisation", |row| {
            ratio(row.record.sent_bytes as f64 * 8.0, row.record.capacity_bits as f64)
        })
        .number("queue_packets", |row| ratio(row.record.backlog_packet_ns as f64, measured_ns))
        .number("queue_bytes", |row| ratio(row.record.backlog_byte_ns as f64, measured_ns))
        .number("queue_s", |row| {
            ratio(row.record.backlog_packet_ns as f64 / 1e9, row.record.sent_packets as f64)
        })
        .number("queue_p50_s", |row| row.waits_s[0])
        .number("queue_p95_s", |row| row.waits_s[1])
        .number("queue_p99_s", |row| row.waits_s[2])
        .count("queue_max_packets", |row| u64::from(row.record.backlog_max))
        .count("marked_packets", |row| row.record.marked_packets)
        .number("loss_ratio", |row| loss_ratio(row.drops(), row.record.offered_packets))
        .count("drops", PortRow::drops);
    DROPS[..AT_LINKS]
        .iter()
        .fold(table, |table, &(name, why)| table.count(name, |row| row.record.drops[why as usize]))
        .done()
}
