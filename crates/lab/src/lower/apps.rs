//! Applications: what they do, and the flows that are their connections.

use std::collections::BTreeMap;

use contract::FlowId;
use sim::AppSpec;
use stack::app::{self, Config, Page, Player, Rounds, Rule};
use units::{Duration, Time};

use super::flows::{made, spell};
use crate::resolve::apps::keys;
use crate::schema::file::File;
use crate::schema::traffic::{AbrWord, App, AppWord, Object};
use crate::schema::values::Instant;

/// The applications, in the order of their first flows.
pub(super) fn apps(file: &File) -> Vec<AppSpec> {
    let mut list: Vec<AppSpec> = Vec::new();
    let mut numbers: BTreeMap<String, usize> = BTreeMap::new();
    for (id, flow) in (0..).map(FlowId).zip(made(file)) {
        let Some(table) = flow.app.present() else { continue };
        let number = *numbers.entry(table.name.resolved().clone()).or_insert_with(|| {
            list.push(AppSpec {
                name: table.name.resolved().clone(),
                flows: Vec::new(),
                config: config(table),
                start: flow.start.resolved().0,
                stop: flow.stop.or(Instant(Time::NEVER)).0,
                request: *table.request.resolved(),
            });
            list.len() - 1
        });
        list[number].flows.push(id);
    }
    list
}

fn config(table: &App) -> Config {
    let count = table.count.or(u32::MAX);
    let think = table.think.present().map(|_| spell(&table.think, &table.think_shape, &table.think_fixed));
    match table.kind.resolved() {
        AppWord::Requests | AppWord::Incast => {
            Config::Rounds(Rounds { sizes: keys(table).distribution(), think, count })
        }
        AppWord::Page => Config::Page(Page {
            objects: table.objects.items().iter().map(|at| object(at)).collect(),
            multiplex: *table.multiplex.resolved(),
            think,
            count,
        }),
        AppWord::Player => Config::Player(Player {
            rates: table.rates.items().iter().map(|at| at.value).collect(),
            segment: *table.segment.resolved(),
            count,
            variation: *table.variation.resolved(),
            rule: match table.abr.resolved() {
                AbrWord::Throughput => Rule::Throughput,
                AbrWord::Bola => Rule::Bola,
                AbrWord::Dynamic => Rule::Dynamic,
            },
            start: *table.start_rate.resolved(),
            buffer: *table.buffer.resolved(),
            buffer_at_top: *table.buffer_at_top.resolved(),
            startup: *table.startup.resolved(),
            abandon: table.abandon.is_on(),
        }),
    }
}

fn object(table: &Object) -> app::Object {
    app::Object {
        size: *table.size.resolved(),
        after: table.after.items().iter().map(|at| at.value - 1).collect(),
        delay: table.delay.or(Duration::ZERO),
    }
}
