//! Links, routes, clocks, and the parts of nodes: name-based network, named data, software-defined networking.

use contract::NameId;
use sim::{ClockSpec, IcnSpec, LinkSpec, NameRoute, NdnSpec, ProducerSpec, RouteSpec, SdnSpec, Shared};
use stack::{icn, ndn, sdn};
use units::{Bytes, Drift, Duration, Offset};

use super::{Ids, changed};
use crate::resolve::params::PartParams;
use crate::schema::file::{File, Icn, Route};
use crate::schema::link::{Link, Traces};
use crate::schema::ndn::{LinkName, Ndn, Producer};
use crate::schema::read::At;
use crate::schema::sdn::Sdn;

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
    let forward = Shared::from(link.forward.to_spec(traces));
    let backward = link.backward.present().map(|port| Shared::from(port.to_spec(traces)));
    LinkSpec {
        name: link.name.resolved().as_str().into(),
        ends: (ids.node(&ends.0), ids.node(&ends.1)),
        backward: backward.unwrap_or_else(|| forward.clone()),
        forward,
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
    config.detection = table.detection.present().map(|at| at.value);
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
