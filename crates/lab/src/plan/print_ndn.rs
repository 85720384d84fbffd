//! Named data in the words of a scenario, every value written out.

use contract::{NameId, NodeId};
use sim::{NdnSpec, SdnSpec};
use stack::ndn::{ConsumerConfig, Gaps, Pattern, Store};
use toml::{Table, Value};
use units::Bytes;

use super::print::{param, put, rate, size, span};
use crate::resolve::params::PartParams;
use crate::schema::ndn::{EpisodeWord, LinkName, PatternWord, PolicyWord};

/// The table `ndn`.
pub(crate) fn ndn_table(spec: &NdnSpec, node_name: &dyn Fn(NodeId) -> String) -> Table {
    let mut table = Table::new();
    let nodes = spec.nodes.iter().map(|node| Value::from(node_name(*node)));
    put(&mut table, "nodes", nodes.collect::<Vec<_>>());
    put(&mut table, "store", store_table(spec.config.store));
    let stores = spec.stores.iter().map(|(node, store)| {
        let mut table = store_table(*store);
        put(&mut table, "node", node_name(*node));
        Value::Table(table)
    });
    put(&mut table, "stores", stores.collect::<Vec<_>>());
    put(&mut table, "strategy", spec.strategy.clone());
    let all = PartParams::of_strategy(&spec.strategy).map(|part| part.all(&spec.strategy_params));
    put(&mut table, "strategy_params", params_table(all.unwrap_or_default()));
    put(&mut table, "link", spec.link.clone().unwrap_or_else(|| LinkName::NONE.to_owned()));
    if let Some(link) = &spec.link {
        let all = PartParams::of_scheme(link).map(|part| part.all(&spec.link_params));
        put(&mut table, "link_params", params_table(all.unwrap_or_default()));
    }
    put(&mut table, "dead_nonces", i64::from(spec.config.dead_nonces));
    put(&mut table, "interest", size(spec.config.interest));
    let routes = spec.routes.iter().map(|route| {
        let mut table = Table::new();
        put(&mut table, "at", node_name(route.at));
        put(&mut table, "prefix", spec.names.text(route.prefix));
        put(&mut table, "via", node_name(route.via));
        put(&mut table, "cost", i64::try_from(route.cost).unwrap_or(i64::MAX));
        Value::Table(table)
    });
    put(&mut table, "routes", routes.collect::<Vec<_>>());
    table
}

/// The table `sdn`.
pub(crate) fn sdn_table(spec: &SdnSpec, node_name: &dyn Fn(NodeId) -> String) -> Table {
    let mut table = Table::new();
    put(&mut table, "app", spec.app.clone());
    let all = PartParams::of_scheme(&spec.app).map(|part| part.all(&spec.app_params));
    put(&mut table, "app_params", params_table(all.unwrap_or_default()));
    put(&mut table, "controller", node_name(spec.controller));
    put(&mut table, "out_of_band", spec.out_of_band);
    let nodes = spec.nodes.iter().map(|node| Value::from(node_name(*node)));
    put(&mut table, "nodes", nodes.collect::<Vec<_>>());
    put(&mut table, "period", span(spec.config.period));
    put(&mut table, "phase", span(spec.config.phase));
    put(&mut table, "message", size(spec.config.message));
    put(&mut table, "initial_rto", span(spec.config.retry));
    put(&mut table, "max_age", span(spec.config.stale));
    table
}

fn params_table(list: contract::ParamList) -> Table {
    list.into_iter().map(|(name, value)| (name, param(value))).collect()
}

fn store_table(store: Store) -> Table {
    let mut table = Table::new();
    put(&mut table, "policy", PolicyWord::of(store.policy).word());
    put(&mut table, "size", i64::from(store.size));
    table
}

/// The tables `producers`.
pub(crate) fn producer_tables(spec: &NdnSpec, node_name: &dyn Fn(NodeId) -> String) -> Vec<Value> {
    let producers = spec.producers.iter().map(|producer| {
        let mut table = Table::new();
        put(&mut table, "prefix", spec.names.text(producer.config.prefix));
        put(&mut table, "node", node_name(producer.node));
        put(&mut table, "payload", size(producer.config.payload));
        put(&mut table, "data", size(producer.config.data));
        put(&mut table, "delay", span(producer.config.delay));
        Value::Table(table)
    });
    producers.collect()
}

/// The keys of a flow that is a consumer, without its place and times.
pub(crate) fn put_consumer(
    table: &mut Table,
    config: &ConsumerConfig,
    has_law: bool,
    text: &dyn Fn(NameId) -> String,
) {
    put(table, "network", "ndn");
    put(table, "prefix", text(config.prefix));
    if config.size != Bytes::UNLIMITED {
        put(table, "size", size(config.size));
    }
    if !has_law {
        let mut source = Table::new();
        let kind = match config.gaps {
            Gaps::Even => "constant",
            Gaps::Exponential => "poisson",
        };
        put(&mut source, "kind", kind);
        put(&mut source, "rate", rate(config.rate));
        put(table, "source", source);
    }
    put(table, "consumer", consumer_table(config));
}

fn consumer_table(config: &ConsumerConfig) -> Table {
    let mut table = Table::new();
    let word = match config.pattern {
        Pattern::Sequential => PatternWord::Sequential,
        Pattern::Batches { size, every } => {
            put(&mut table, "batch", i64::from(size));
            put(&mut table, "every", span(every));
            PatternWord::Batches
        }
        Pattern::Zipf { contents, segments, exponent, shift } => {
            put(&mut table, "contents", i64::from(contents));
            put(&mut table, "segments", i64::from(segments));
            put(&mut table, "exponent", exponent);
            put(&mut table, "shift", shift);
            PatternWord::Zipf
        }
    };
    put(&mut table, "pattern", word.word());
    put(&mut table, "tick", span(config.tick));
    put(&mut table, "tick_phase", span(config.tick_phase));
    put(&mut table, "jitter", span(config.jitter));
    put(&mut table, "initial_window", i64::from(config.initial_window));
    put(&mut table, "marks", config.marks);
    put(&mut table, "episode", config.episode);
    put(&mut table, "episode_check", EpisodeWord::of(config.episode_check).word());
    if config.retries != u32::MAX {
        put(&mut table, "retries", i64::from(config.retries));
    }
    put(&mut table, "initial_rto", span(config.timeout.initial));
    put(&mut table, "min_rto", span(config.timeout.min));
    put(&mut table, "max_rto", span(config.timeout.max));
    put(&mut table, "rto_backoff", i64::from(config.timeout.backoff));
    put(&mut table, "rto_scan", span(config.timeout.scan));
    put(&mut table, "lifetime", span(config.lifetime));
    put(&mut table, "interest", size(config.interest));
    table
}
