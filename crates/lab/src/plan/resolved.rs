//! The tables of a scenario that a plan says: every key written, relative units and chance resolved. They read back as the same plan.

use contract::{LinkId, NameId, NodeId, ParamList};
use sim::{Blueprint, Change, Emulation as EmulationSettings, IcnSpec, Limit, LinkSpec, RouteSpec};
use stack::queue::DisciplineSpec;
use units::{Duration, Time};

use super::{Plan, flows, ndn};
use crate::resolve::params::PartParams;
use crate::schema::emulation::Emulation;
use crate::schema::file::{
    Action, Clock, Event, File, Icn, Kind, Link, NodeTable, Port, Record, Route, Routing, Topology,
};
use crate::schema::params::Params;
use crate::schema::queue::Queue;
use crate::schema::read::{At, Field};
use crate::schema::settings::Setting;
use crate::schema::values::{Buffer, Ends, Expect, MarkAbove, Nodes};

/// The scenario of the plan.
pub(super) fn file(plan: &Plan) -> File {
    let blueprint = &plan.blueprint;
    let names = Names(blueprint);
    let expect = plan.expect.iter().map(|row| (row.key.clone().into(), row.text.clone().into()));
    let routing = Routing {
        metric: Field::of(Setting::of_setting(&blueprint.metric)),
        routes: list(blueprint.routes.iter().map(|it| route(it, &names))),
        ..Routing::default()
    };
    let clocks =
        blueprint.clocks.iter().map(|clock| Clock { node: names.field(clock.node), ..Clock::of(clock) });
    let emulation = (blueprint.emulation != EmulationSettings::default()).then(|| Emulation {
        real: names.list(&blueprint.emulation.real),
        ..Emulation::of(&blueprint.emulation)
    });
    File {
        title: plan.title.clone().into(),
        seed: blueprint.seed.into(),
        duration: blueprint.duration.into(),
        warmup: blueprint.warmup.into(),
        topology: topology(plan, &names).into(),
        routing: routing.into(),
        icn: blueprint.icn.as_ref().map(|spec| icn(spec, &names)).into(),
        ndn: blueprint.ndn.as_ref().map(|spec| ndn::ndn(spec, &names)).into(),
        producers: blueprint.ndn.as_ref().map(|spec| ndn::producers(spec, &names)).into(),
        clocks: list(clocks),
        sdn: blueprint.sdn.as_ref().map(|spec| ndn::sdn(spec, &names)).into(),
        flows: list(flows::flows(plan, &names)),
        events: list(blueprint.events.iter().map(|(at, change)| event(*at, change, &names))),
        record: record(&blueprint.record).into(),
        emulation: emulation.into(),
        expect: Expect(expect.collect()).into(),
        ..File::default()
    }
}

/// The names of what a plan numbers.
pub(super) struct Names<'a>(&'a Blueprint);

impl Names<'_> {
    pub(super) fn node(&self, id: NodeId) -> String {
        self.0.nodes[id.index()].clone()
    }

    pub(super) fn field(&self, id: NodeId) -> Field<String> {
        self.node(id).into()
    }

    pub(super) fn list(&self, nodes: &[NodeId]) -> Field<Vec<At<String>>> {
        list(nodes.iter().map(|id| self.node(*id)))
    }

    pub(super) fn prefix(&self, id: NameId) -> String {
        self.0.ndn.as_ref().map_or_else(String::new, |ndn| ndn.names.text(id))
    }

    fn link(&self, id: LinkId) -> Field<String> {
        self.0.links[id.index()].name.clone().into()
    }
}

/// A list that no text has.
pub(super) fn list<T>(items: impl IntoIterator<Item = T>) -> Field<Vec<At<T>>> {
    Field::of(items.into_iter().map(At::from).collect())
}

/// All parameters of a part, those that are given put over the defaults.
pub(super) fn params(part: Option<PartParams>, given: &ParamList) -> Params {
    let all = part.map(|part| part.all(given)).unwrap_or_default();
    Params(all.into_iter().map(|(name, value)| (name.into(), value.into())).collect())
}

fn topology(plan: &Plan, names: &Names<'_>) -> Topology {
    let nodes = plan.blueprint.nodes.iter().zip(&plan.positions);
    let nodes = nodes.map(|(name, (x, y))| NodeTable {
        name: name.clone().into(),
        x: (*x).into(),
        y: (*y).into(),
        ..NodeTable::default()
    });
    Topology {
        kind: Kind::Custom.into(),
        nodes: Nodes::List(nodes.map(At::from).collect()).into(),
        links: list(plan.blueprint.links.iter().map(|spec| link(spec, names))),
        ..Topology::default()
    }
}

fn link(link: &LinkSpec, names: &Names<'_>) -> Link {
    let LinkSpec { forward, backward, .. } = link;
    Link {
        name: link.name.clone().into(),
        ends: Ends(names.node(link.ends.0).into(), names.node(link.ends.1).into()).into(),
        rate: forward.rate.into(),
        delay: forward.delay.into(),
        loss: forward.loss.into(),
        buffer: buffer(forward.queue.limit),
        queue: queue(&forward.queue.discipline, &None),
        mark_above: forward.queue.mark_above.into(),
        classes: classes(&forward.queue.class_weights, &[]),
        // what this direction lacks and the other has is taken away
        backward: (backward != forward)
            .then(|| Port {
                rate: backward.rate.into(),
                delay: backward.delay.into(),
                loss: backward.loss.into(),
                buffer: buffer(backward.queue.limit),
                queue: queue(&backward.queue.discipline, &forward.queue.discipline),
                mark_above: backward
                    .queue
                    .mark_above
                    .or(forward.queue.mark_above)
                    .map(|_| MarkAbove(backward.queue.mark_above))
                    .into(),
                classes: classes(&backward.queue.class_weights, &forward.queue.class_weights),
                ..Port::default()
            })
            .into(),
        ..Link::default()
    }
}

fn buffer(limit: Limit) -> Field<Buffer> {
    Field::of(match limit {
        Limit::Packets(packets) => Buffer::Packets(packets),
        Limit::Bytes(size) => Buffer::Bytes(size),
    })
}

/// A queue discipline, where this direction or the `other` has one.
fn queue(discipline: &Option<DisciplineSpec>, other: &Option<DisciplineSpec>) -> Field<Queue> {
    discipline.as_ref().or(other.as_ref()).map(|_| Queue(discipline.clone())).into()
}

/// The weights of classes, where this direction or the `other` has any.
fn classes(weights: &[u32], other: &[u32]) -> Field<Vec<At<u32>>> {
    if weights.is_empty() && other.is_empty() { Field::Missing } else { list(weights.iter().copied()) }
}

fn route(route: &RouteSpec, names: &Names<'_>) -> Route {
    Route {
        at: names.field(route.at),
        to: names.field(route.to),
        via: names.field(route.via),
        ..Route::default()
    }
}

fn icn(spec: &IcnSpec, names: &Names<'_>) -> Icn {
    Icn { resolver: names.field(spec.resolver), routers: names.list(&spec.routers), ..Icn::of(&spec.config) }
}

fn event(at: Time, change: &Change, names: &Names<'_>) -> Event {
    let at = at.saturating_since(Time::ZERO).into();
    let none = Event { at, ..Event::default() };
    let link = |id: LinkId| Event { link: names.link(id), ..none.clone() };
    let flow = |id: contract::FlowId, action: Action| Event {
        flow: names.0.flows[id.index()].name.clone().into(),
        action: action.into(),
        ..none.clone()
    };
    let node =
        |id: NodeId, action: Action| Event { node: names.field(id), action: action.into(), ..none.clone() };
    match change {
        Change::LinkRate(id, rate) => Event { rate: (*rate).into(), ..link(*id) },
        Change::LinkDelay(id, delay) => Event { delay: (*delay).into(), ..link(*id) },
        Change::LinkLoss(id, loss) => Event { loss: (*loss).into(), ..link(*id) },
        Change::LinkUp(id, up) => Event { up: (*up).into(), ..link(*id) },
        Change::Route(to) => Event { route: route(to, names).into(), ..none },
        Change::FlowStart(id) => flow(*id, Action::Start),
        Change::FlowStop(id) => flow(*id, Action::Stop),
        Change::Join(id, to) => Event { node: names.field(*to), ..flow(*id, Action::Join) },
        Change::Leave(id, to) => Event { node: names.field(*to), ..flow(*id, Action::Leave) },
        Change::Mode(id, mode) => Event { mode: mode.clone().into(), ..flow(*id, Action::Mode) },
        Change::Reset(id) => node(*id, Action::Reset),
        Change::Controller(on) => {
            let action = if *on { Action::Start } else { Action::Stop };
            names.0.sdn.as_ref().map_or(none.clone(), |sdn| node(sdn.controller, action))
        }
    }
}

fn record(record: &sim::Record) -> Record {
    Record {
        every: Some(record.every).filter(|every| *every > Duration::ZERO).into(),
        series: list(record.series.iter().cloned()),
        events: record.events.into(),
        drops: record.drops.then_some(true).into(),
        distributions: record.distributions.then_some(true).into(),
        ..Record::default()
    }
}
