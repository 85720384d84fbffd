//! The table `receivers`, from the counters of receivers.

use contract::Count;
use units::Time;

use super::flow_row::FlowRow;
use super::receiver_row::ReceiverRow;
use crate::report::{Columns, Table};

pub(super) fn receivers(flows: &[FlowRow<'_>]) -> Table {
    let rows: Vec<&ReceiverRow<'_>> = flows.iter().flat_map(|flow| &flow.receivers).collect();
    Columns::of("receivers", &rows)
        .text("flow", |row| row.flow.to_owned())
        .text("node", |row| row.node.to_owned())
        .count("packets", |row| row.record.packets)
        .count("bytes", |row| row.record.bytes)
        .number("active_s", |row| Some(row.record.active.as_secs_f64()))
        .number("completed_s", |row| {
            Some(row.record.meter.completed_at).filter(|at| *at < Time::NEVER).map(Time::as_secs_f64)
        })
        .number("throughput_bps", |row| row.throughput())
        .number("goodput_bps", |row| row.goodput())
        .number("active_throughput_bps", |row| row.active_throughput())
        .number("active_goodput_bps", |row| row.active_goodput())
        .number("loss_ratio", |row| row.loss_ratio())
        .number("owd_s", |row| row.sums().owd())
        .number("owd_min_s", |row| row.owd_min())
        .number("owd_max_s", |row| row.owd_max())
        .number("base_delay_s", |row| row.sums().base())
        .number("queueing_delay_s", |row| row.sums().queueing())
        .number("queueing_delay_p50_s", |row| row.waits_s[0])
        .number("queueing_delay_p95_s", |row| row.waits_s[1])
        .number("queueing_delay_p99_s", |row| row.waits_s[2])
        .count("feedback_packets", |row| row.record.meter.count(Count::Feedback))
        .count("suppressed", |row| row.record.meter.count(Count::Suppressed))
        .count("missing", |row| row.record.meter.count(Count::Missing))
        .count("reordered", |row| row.record.meter.count(Count::Reordered))
        .count("late", |row| row.record.meter.count(Count::Late))
        .count("marks", |row| row.record.meter.count(Count::Marks))
        .count("signals", |row| row.record.meter.count(Count::Signals))
        .count_of_some("frames_played", |row| row.played(Count::FramesPlayed))
        .count_of_some("frames_late", |row| row.played(Count::FramesLate))
        .count_of_some("frames_lost", |row| row.lost())
        .count_of_some("frames_undecodable", |row| row.played(Count::FramesUndecodable))
        .count_of_some("stalls", |row| row.played(Count::Stalls))
        .number("stalled_s", |row| row.stalled())
        .number("startup_s", |row| row.startup())
        .done()
}
