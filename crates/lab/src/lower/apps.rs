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
        let Some(table) = flow.app.given() else { continue };
        let number = *numbers.entry(table.name.known().clone()).or_insert_with(|| {
            list.push(AppSpec {
                name: table.name.known().clone(),
                flows: Vec::new(),
                config: config(table),
                start: flow.start.known().0,
                stop: flow.stop.or(Instant(Time::NEVER)).0,
                request: *table.request.known(),
            });
            list.len() - 1
        });
        list[number].flows.push(id);
    }
    list
}

fn config(table: &App) -> Config {
    let count = table.count.or(u32::MAX);
    let think = table.think.given().map(|_| spell(&table.think, &table.think_shape, &table.think_fixed));
    match table.kind.known() {
        AppWord::Requests | AppWord::Incast => {
            Config::Rounds(Rounds { sizes: keys(table).distribution(), think, count })
        }
        AppWord::Page => Config::Page(Page {
            objects: table.objects.items().iter().map(|at| object(at)).collect(),
            multiplex: *table.multiplex.known(),
            think,
            count,
        }),
        AppWord::Player => Config::Player(Player {
            rates: table.rates.items().iter().map(|at| at.value).collect(),
            segment: *table.segment.known(),
            count,
            variation: *table.variation.known(),
            rule: match table.abr.known() {
                AbrWord::Throughput => Rule::Throughput,
                AbrWord::Bola => Rule::Bola,
                AbrWord::Dynamic => Rule::Dynamic,
            },
            start: *table.start_rate.known(),
            buffer: *table.buffer.known(),
            buffer_at_top: *table.buffer_at_top.known(),
            startup: *table.startup.known(),
        }),
    }
}

fn object(table: &Object) -> app::Object {
    app::Object {
        size: *table.size.known(),
        after: table.after.items().iter().map(|at| at.value - 1).collect(),
        delay: table.delay.or(Duration::ZERO),
    }
}
