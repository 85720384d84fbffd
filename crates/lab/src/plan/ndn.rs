//! The tables of named data and of software-defined networking that a plan says.

use sim::{NdnSpec, SdnSpec};
use stack::ndn::{ConsumerConfig, Gaps, Pattern};

use super::resolved::{Names, list, params};
use crate::resolve::params::PartParams;
use crate::schema::file::{Flow, NetworkWord, Source, SourceWord};
use crate::schema::ndn::{
    Consumer, LinkName, NameRoute, Ndn, NodeStore, PatternWord, Prefix, Producer, Store, StrategyName,
};
use crate::schema::read::{At, Field};
use crate::schema::sdn::{AppName, Sdn};
use crate::schema::values::Senders;

pub(super) fn ndn(spec: &NdnSpec, names: &Names<'_>) -> Ndn {
    let stores = spec
        .stores
        .iter()
        .map(|(node, store)| NodeStore { node: names.field(*node), ..NodeStore::of(store) });
    let routes = spec.routes.iter().map(|route| NameRoute {
        at: names.field(route.at),
        prefix: Prefix(names.prefix(route.prefix)).into(),
        via: names.field(route.via),
        cost: u32::try_from(route.cost).unwrap_or(u32::MAX).into(),
        ..NameRoute::default()
    });
    let link_params = |link: &String| params(PartParams::of_scheme(link), &spec.link_params);
    Ndn {
        nodes: names.list(&spec.nodes),
        store: Store::of(&spec.config.store).into(),
        stores: list(stores),
        strategy: StrategyName(spec.strategy.clone()).into(),
        strategy_params: params(PartParams::of_strategy(&spec.strategy), &spec.strategy_params).into(),
        link: LinkName(spec.link.clone().unwrap_or_else(|| LinkName::NONE.to_owned())).into(),
        link_params: spec.link.as_ref().map(link_params).into(),
        dead_nonces: spec.config.dead_nonces.into(),
        interest: spec.config.interest.into(),
        routes: list(routes),
        ..Ndn::default()
    }
}

pub(super) fn producers(spec: &NdnSpec, names: &Names<'_>) -> Vec<At<Producer>> {
    let producers = spec.producers.iter().map(|producer| Producer {
        prefix: Prefix(names.prefix(producer.config.prefix)).into(),
        node: Senders(vec![names.node(producer.node).into()]).into(),
        ..Producer::of(&producer.config)
    });
    producers.map(At::from).collect()
}

pub(super) fn sdn(spec: &SdnSpec, names: &Names<'_>) -> Sdn {
    Sdn {
        app: AppName(spec.app.clone()).into(),
        app_params: params(PartParams::of_scheme(&spec.app), &spec.app_params).into(),
        controller: names.field(spec.controller),
        out_of_band: spec.out_of_band.into(),
        nodes: names.list(&spec.nodes),
        ..Sdn::of(&spec.config)
    }
}

/// The keys of a flow that is a consumer, over those of its place and times.
pub(super) fn asking(config: &ConsumerConfig, names: &Names<'_>, flow: Flow) -> Flow {
    let kind = match config.gaps {
        Gaps::Even => SourceWord::Constant,
        Gaps::Exponential => SourceWord::Poisson,
    };
    let source = Source { kind: kind.into(), rate: config.rate.into(), ..Source::default() };
    Flow {
        network: NetworkWord::Ndn.into(),
        prefix: Prefix(names.prefix(config.prefix)).into(),
        size: Some(config.size).filter(|size| *size != units::Bytes::UNLIMITED).into(),
        source: Some(source).filter(|_| flow.scheme.is_missing()).into(),
        consumer: consumer(config).into(),
        ..flow
    }
}

fn consumer(config: &ConsumerConfig) -> Consumer {
    let mut table = Consumer::of(config);
    if config.retries == u32::MAX {
        table.retries = Field::Missing;
    }
    match config.pattern {
        Pattern::Sequential => Consumer { pattern: PatternWord::Sequential.into(), ..table },
        Pattern::Batches { size, every } => Consumer {
            pattern: PatternWord::Batches.into(),
            batch: size.into(),
            every: every.into(),
            ..table
        },
        Pattern::Zipf { contents, segments, exponent, shift } => Consumer {
            pattern: PatternWord::Zipf.into(),
            contents: contents.into(),
            segments: segments.into(),
            exponent: exponent.into(),
            shift: shift.into(),
            ..table
        },
    }
}
