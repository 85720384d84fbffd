//! Links, routes, clocks, and the parts of nodes: name-based network, named data, software-defined networking.

use std::collections::BTreeMap;
use std::sync::Arc;

use contract::NameId;
use sim::{
    ClockSpec, IcnSpec, Limit, LinkSpec, NameRoute, NdnSpec, PortSpec, ProducerSpec, QueueSpec, RateTrace,
    RouteSpec, SdnSpec, Shared,
};
use stack::{icn, ndn, sdn};
use units::{Bytes, Drift, Duration, Offset, Rate};

use super::{Ids, changed};
use crate::resolve::params::PartParams;
use crate::schema::file::{File, Icn, Link, Port, Route};
use crate::schema::ndn::{LinkName, Ndn, Producer};
use crate::schema::read::{At, Field};
use crate::schema::sdn::Sdn;
use crate::schema::trace::{TraceKey, TraceSource};
use crate::schema::values::Buffer;

/// The traces that rates of links follow.
type Traces = BTreeMap<TraceKey, Arc<RateTrace>>;

/// The links; equal ones share their properties.
pub(super) fn links(tables: &[At<Link>], ids: &Ids<'_>, traces: &Traces) -> Vec<LinkSpec> {
    let mut links = Vec::<LinkSpec>::with_capacity(tables.len());
    for table in tables {
        let mut link = link(table, ids, traces);
        if let Some(last) = links.last() {
            link.forward.share(&last.forward);
            link.backward.share(&last.backward);
        }
        links.push(link);
    }
    links
}

fn link(link: &Link, ids: &Ids<'_>, traces: &Traces) -> LinkSpec {
    let ends = link.ends.resolved();
    let (rate, trace) = rate(&link.rate, &link.trace, traces);
    let by_trace = trace.as_ref().map_or(Duration::ZERO, |trace| trace.min_delay());
    let forward = PortSpec {
        rate,
        trace,
        delay: *link.delay.resolved() + by_trace,
        loss: *link.loss.resolved(),
        impair: link.impair.present().and_then(|table| table.to_spec()),
        policer: link.policer.present().and_then(|table| table.to_spec()),
        shaper: link.shaper.present().and_then(|table| table.to_spec()),
        queue: QueueSpec {
            limit: limit(&link.buffer),
            discipline: link.queue.present().and_then(|queue| queue.0.clone()),
            mark_above: link.mark_above.present().map(|at| at.value),
            class_weights: link.classes.items().iter().map(|weight| weight.value).collect(),
        },
    };
    let forward = Shared::from(forward);
    LinkSpec {
        name: link.name.resolved().as_str().into(),
        ends: (ids.node(&ends.0), ids.node(&ends.1)),
        backward: link
            .backward
            .present()
            .map_or_else(|| forward.clone(), |port| Shared::from(self::port(port, traces))),
        forward,
    }
}

/// The rate of a port, and the trace that it follows.
fn rate(rate: &Field<Rate>, trace: &Field<TraceSource>, traces: &Traces) -> (Rate, Option<Arc<RateTrace>>) {
    match trace.present() {
        Some(source) => {
            let trace = traces.get(&source.key()).expect("the traces of a resolved tree are loaded");
            (trace.mean(), Some(trace.clone()))
        }
        None => (*rate.resolved(), None),
    }
}

fn port(port: &Port, traces: &Traces) -> PortSpec {
    let (rate, trace) = rate(&port.rate, &port.trace, traces);
    let by_trace = trace.as_ref().map_or(Duration::ZERO, |trace| trace.min_delay());
    PortSpec {
        rate,
        trace,
        delay: *port.delay.resolved() + by_trace,
        loss: *port.loss.resolved(),
        impair: port.impair.present().and_then(|table| table.to_spec()),
        policer: port.policer.present().and_then(|table| table.to_spec()),
        shaper: port.shaper.present().and_then(|table| table.to_spec()),
        queue: QueueSpec {
            limit: limit(&port.buffer),
            discipline: port.queue.present().and_then(|queue| queue.0.clone()),
            mark_above: port.mark_above.present().and_then(|at| at.value.0),
            class_weights: port.classes.items().iter().map(|weight| weight.value).collect(),
        },
    }
}

fn limit(buffer: &Field<Buffer>) -> Limit {
    match buffer.resolved() {
        Buffer::Packets(packets) => Limit::Packets(*packets),
        Buffer::Bytes(size) => Limit::Bytes(*size),
        Buffer::Bdp(_) => unreachable!("bandwidth-delay products are resolved"),
    }
}

pub(super) fn route(route: &Route, ids: &Ids<'_>) -> RouteSpec {
    let [at, to, via] = [&route.at, &route.to, &route.via].map(|name| ids.node(name.resolved()));
    RouteSpec { at, to, via }
}

pub(super) fn clocks(file: &File, ids: &Ids<'_>) -> Vec<ClockSpec> {
    let clocks = file.clocks.items().iter().map(|clock| {
        let node = ids.node(clock.node.resolved());
        let mut spec = ClockSpec { node, offset: Offset::ZERO, drift: Drift::ZERO };
        clock.set(&mut spec);
        spec
    });
    clocks.collect()
}

pub(super) fn icn(table: &Icn, ids: &Ids<'_>) -> IcnSpec {
    let mut config = icn::Config::default();
    table.set(&mut config);
    IcnSpec { resolver: ids.node(table.resolver.resolved()), routers: ids.nodes(&table.routers), config }
}

/// Forwarders, producers and routes of names. Names are numbered in the order of producers, then of routes.
pub(super) fn ndn(table: &Ndn, file: &File, ids: &Ids<'_>) -> NdnSpec {
    let mut spec = NdnSpec { nodes: ids.nodes(&table.nodes), ..NdnSpec::default() };
    table.store.resolved().set(&mut spec.config.store);
    spec.config.dead_nonces = *table.dead_nonces.resolved();
    spec.config.interest = *table.interest.resolved();
    for store in table.stores.items() {
        let mut created = spec.config.store;
        store.set(&mut created);
        spec.stores.push((ids.node(store.node.resolved()), created));
    }
    for table in file.producers.items() {
        let producer = producer(table, ids, &mut spec);
        spec.producers.push(producer);
    }
    spec.config.data = spec.producers.iter().map(|it| it.config.data).max().unwrap_or(spec.config.data);
    for route in table.routes.items() {
        let prefix = spec.names.intern(&route.prefix.resolved().0);
        let (at, via) = (ids.node(route.at.resolved()), ids.node(route.via.resolved()));
        spec.routes.push(NameRoute { at, prefix, via, cost: u64::from(*route.cost.resolved()) });
    }
    let strategy = table.strategy.resolved();
    spec.strategy.clone_from(&strategy.0);
    spec.strategy_params =
        changed(PartParams::of_strategy(&strategy.0), table.strategy_params.present().map(|at| &at.value));
    let link = table.link.resolved();
    spec.link = Some(link.0.clone()).filter(|name| name != LinkName::NONE);
    spec.link_params =
        changed(PartParams::of_scheme(&link.0), table.link_params.present().map(|at| &at.value));
    spec
}

fn producer(table: &Producer, ids: &Ids<'_>, spec: &mut NdnSpec) -> ProducerSpec {
    let prefix = spec.names.intern(&table.prefix.resolved().0);
    let mut config =
        ndn::ProducerConfig { prefix, payload: Bytes::ZERO, data: Bytes::ZERO, delay: Duration::ZERO };
    table.set(&mut config);
    let node = table.node.resolved().0.first().expect("a producer of a resolved tree has its node");
    ProducerSpec { node: ids.node(node), config }
}

/// Payload and Data size of what is served under a name: those of the longest prefix.
pub(super) fn served(spec: &NdnSpec, prefix: NameId, sizes: &Sizes) -> (Bytes, Bytes) {
    let mut above = std::iter::successors(Some(prefix), |at| spec.names.parent(*at));
    let found = above.find_map(|at| sizes.get(&at));
    *found.expect("a resolved tree has a producer for every consumer")
}

/// Payload and Data size by prefix.
pub(super) type Sizes = std::collections::BTreeMap<NameId, (Bytes, Bytes)>;

pub(super) fn sizes(spec: &NdnSpec) -> Sizes {
    spec.producers.iter().map(|it| (it.config.prefix, (it.config.payload, it.config.data))).collect()
}

pub(super) fn sdn(table: &Sdn, ids: &Ids<'_>) -> SdnSpec {
    let mut config = sdn::Config::default();
    table.set(&mut config);
    let app = table.app.resolved().0.clone();
    SdnSpec {
        controller: ids.node(table.controller.resolved()),
        nodes: ids.nodes(&table.nodes),
        out_of_band: *table.out_of_band.resolved(),
        app_params: changed(PartParams::of_scheme(&app), table.app_params.present().map(|at| &at.value)),
        app,
        config,
    }
}
