//! The tables `apps` and `exchanges`: what applications requested, how long it took, and what players played.

use sim::{AppRecord, AppSpec, Trace};
use stack::app::{Config, Exchange};
use units::{Duration, Time};

use super::means::mean;
use super::percentiles;
use crate::Plan;
use crate::report::{Columns, Table};

/// An application with its record.
struct AppRow<'a> {
    spec: &'a AppSpec,
    node: &'a str,
    record: &'a AppRecord,
    /// Durations of the completed exchanges, in seconds.
    durations: Vec<f64>,
    percentiles: [Option<f64>; percentiles::PERCENTS.len()],
    /// The QoE of a player.
    qoe_bps: Option<f64>,
}

fn rows<'a>(plan: &'a Plan, trace: &'a Trace) -> Vec<AppRow<'a>> {
    let blueprint = &plan.blueprint;
    let row = |(spec, record): (&'a AppSpec, &'a AppRecord)| {
        let client = spec.flows.first().and_then(|flow| blueprint.flows[flow.index()].to.first());
        let durations: Vec<f64> = record.exchanges.iter().filter_map(duration).collect();
        let qoe_bps = match (&spec.config, &record.playback) {
            (Config::Player(player), Some(playback)) => {
                playback.qoe_bps(player.rates.last().map_or(0.0, |top| top.as_bps_f64()))
            }
            _ => None,
        };
        AppRow {
            spec,
            node: client.map_or("", |to| blueprint.nodes[to.node.index()].as_str()),
            record,
            percentiles: percentiles::of_numbers(durations.clone()),
            durations,
            qoe_bps,
        }
    };
    blueprint.apps.iter().zip(&trace.apps).map(row).collect()
}

/// From the first request to the last byte, in seconds; `None` if that has not arrived.
fn duration(exchange: &Exchange) -> Option<f64> {
    let done = exchange.completed_at < Time::NEVER;
    done.then(|| exchange.completed_at.saturating_since(exchange.started_at).as_secs_f64())
}

const fn kind(config: &Config) -> &'static str {
    match config {
        Config::Rounds(_) => "requests",
        Config::Page(_) => "page",
        Config::Player(_) => "player",
    }
}

impl AppRow<'_> {
    fn bytes(&self) -> u64 {
        self.record.exchanges.iter().filter(|one| duration(one).is_some()).map(|one| one.bytes).sum()
    }

    fn played<T>(&self, of: impl Fn(&stack::app::Playback) -> T) -> Option<T> {
        self.record.playback.as_ref().map(of)
    }
}

pub(super) fn apps(plan: &Plan, trace: &Trace) -> Table {
    let rows = rows(plan, trace);
    Columns::of("apps", &rows)
        .text("app", |row| row.spec.name.clone())
        .text("kind", |row| kind(&row.spec.config).to_owned())
        .text("node", |row| row.node.to_owned())
        .count("connections", |row| row.spec.flows.len() as u64)
        .count("exchanges", |row| row.durations.len() as u64)
        .count("exchange_bytes", AppRow::bytes)
        .number("duration_s", |row| mean(row.durations.iter().copied()))
        .number("duration_p50_s", |row| row.percentiles[0])
        .number("duration_p95_s", |row| row.percentiles[1])
        .number("duration_p99_s", |row| row.percentiles[2])
        .number("startup_s", |row| row.played(|played| played.startup)?.map(Duration::as_secs_f64))
        .count_of_some("stalls", |row| row.played(|played| u64::from(played.stalls)))
        .number("stalled_s", |row| row.played(|played| played.stalled.as_secs_f64()))
        .count_of_some("switches", |row| row.played(|played| u64::from(played.switches)))
        .count_of_some("abandoned", |row| row.played(|played| u64::from(played.abandoned)))
        .number("bitrate_bps", |row| {
            row.played(|played| {
                (played.segments > 0).then(|| played.rate_sum_bps / f64::from(played.segments))
            })?
        })
        .number("qoe_bps", |row| row.qoe_bps)
        .done()
}

pub(super) fn exchanges(plan: &Plan, trace: &Trace) -> Table {
    let rows: Vec<(&str, u64, &Exchange)> = plan
        .blueprint
        .apps
        .iter()
        .zip(&trace.apps)
        .flat_map(|(spec, record)| {
            (1u64..).zip(&record.exchanges).map(|(number, one)| (spec.name.as_str(), number, one))
        })
        .collect();
    Columns::of("exchanges", &rows)
        .text("app", |row| row.0.to_owned())
        .count("number", |row| row.1)
        .number("started_s", |row| Some(row.2.started_at.as_secs_f64()))
        .number("completed_s", |row| {
            Some(row.2.completed_at).filter(|at| *at < Time::NEVER).map(Time::as_secs_f64)
        })
        .number("duration_s", |row| duration(row.2))
        .count("bytes", |row| row.2.bytes)
        .count_of_some("quality", |row| row.2.segment.map(|(quality, _)| u64::from(quality) + 1))
        .number("buffer_s", |row| row.2.segment.map(|(_, level)| level.as_secs_f64()))
        .count_of_some("abandoned", |row| row.2.segment.map(|_| u64::from(row.2.abandoned)))
        .done()
}
