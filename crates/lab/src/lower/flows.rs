//! Flows: their state machines, ends and times.

use std::collections::BTreeMap;
use std::sync::Arc;

use contract::ParamList;
use schemes::Build;
use sim::{Cast, Churn as ChurnSpec, FlowEmulation, FlowKind, FlowSpec, NdnSpec, ReceiverSpec, StackSpec};
use stack::datagram::{self, DurationDistribution, Pattern};
use stack::ndn::{self, ConsumerConfig, Gaps};
use stack::stream::{self, EncoderModel, FrameType, Frames, Modes, Video};
use stack::tcp::{self, Demand};
use units::{Bytes, Duration, Rate, Time};

use super::network::{Sizes, served, sizes};
use super::{Ids, changed};
use crate::resolve::params::PartParams;
use crate::resolve::{Resolved, Trace};
use crate::schema::file::{File, Flow, NetworkWord, Source, SourceWord, StackWord};
use crate::schema::ndn::{Consumer, PatternWord};
use crate::schema::nodes::Member;
use crate::schema::params::Params;
use crate::schema::read::{At, Field};
use crate::schema::traffic::Churn;
use crate::schema::values::Instant;
use crate::schema::video::{Encoder, Player};

/// The tables that make a flow each.
pub(super) fn made(file: &File) -> impl Iterator<Item = &At<Flow>> {
    file.flows.items().iter().filter(|flow| flow.count.is_missing())
}

/// The flows; prefixes of consumers get their numbers in `ndn`.
pub(super) fn flows(tree: &Resolved, ids: &Ids<'_>, ndn: &mut Option<NdnSpec>) -> Vec<FlowSpec> {
    let sizes = ndn.as_ref().map(sizes).unwrap_or_default();
    let mut controller = None;
    let mut flows: Vec<FlowSpec> = Vec::with_capacity(made(&tree.file).count());
    for table in made(&tree.file) {
        let mut next = flow(table, &tree.traces, ids, &mut controller, ndn, &sizes);
        if let Some(last) = flows.last() {
            next.kind.share(&last.kind);
        }
        flows.push(next);
    }
    flows
}

/// A scheme with its parameters that are not default: copies of a flow share the table.
#[derive(Clone)]
struct Controller {
    table: Option<Arc<Params>>,
    scheme: Option<Arc<str>>,
    params: ParamList,
    is_stream: bool,
}

impl Controller {
    /// That of the flow before, or a new one.
    fn of(table: &Flow, last: Option<Self>) -> Self {
        let params = table.params.present().map(|at| &at.value);
        let shared = |controller: &Self| match (params, &controller.table) {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            (None, None) => true,
            _ => false,
        };
        if let Some(controller) = last.filter(shared) {
            return controller;
        }
        let scheme: Option<Arc<str>> = table.scheme.present().map(|scheme| scheme.0.as_str().into());
        let entry = scheme.as_deref().and_then(schemes::find);
        Self {
            table: params.cloned(),
            params: changed(scheme.as_deref().and_then(PartParams::of_scheme), params.map(|at| &**at)),
            scheme,
            is_stream: entry.is_some_and(|entry| matches!(entry.build, Build::Stream { .. })),
        }
    }
}

fn flow(
    table: &Flow,
    traces: &BTreeMap<String, Trace>,
    ids: &Ids<'_>,
    controller: &mut Option<Controller>,
    ndn: &mut Option<NdnSpec>,
    sizes: &Sizes,
) -> FlowSpec {
    let own = Controller::of(table, controller.take());
    let Controller { scheme, params, is_stream, .. } = controller.insert(own).clone();
    let kind = match (table.stack.present(), *table.network.resolved(), &scheme, ndn) {
        (Some(stack), ..) => FlowKind::Stack(over_stack(table, stack.value)),
        (_, NetworkWord::Ndn, _, Some(spec)) => FlowKind::Ndn(consumer(table, spec, sizes)),
        (_, _, Some(_), _) if is_stream => FlowKind::Stream(over_stream(table, traces)),
        (_, _, Some(_), _) => FlowKind::Tcp(over_tcp(table)),
        (_, _, None, _) => FlowKind::Datagram(datagrams(table)),
    };
    let cast = match *table.network.resolved() {
        NetworkWord::Icn => Cast::Named,
        NetworkWord::Ip if *table.multicast.resolved() => Cast::Multicast,
        NetworkWord::Ip | NetworkWord::Ndn => Cast::Unicast,
    };
    let from = table.from.resolved().0.first().expect("a flow of a resolved tree has its sender");
    let to = table.to.present().map_or(&[][..], |to| &to.list);
    FlowSpec {
        name: table.name.resolved().as_str().into(),
        scheme,
        params,
        kind: kind.into(),
        from: ids.node(from),
        to: to.iter().map(|target| receiver(target, ids)).collect(),
        cast,
        // a flow of an application starts with its first request
        start: if table.app.present().is_some() { Time::NEVER } else { table.start.resolved().0 },
        stop: if table.app.present().is_some() { Time::NEVER } else { table.stop.resolved().0 },
        churn: table.churn.present().map(|at| Box::new(churn(at))),
        class: u8::try_from(*table.class.resolved()).unwrap_or(u8::MAX),
        emulation: emulation(table).map(Box::new),
    }
}

/// A receiver without times is one for the whole run.
fn receiver(target: &Member, ids: &Ids<'_>) -> ReceiverSpec {
    ReceiverSpec {
        node: ids.node(target.node.resolved()),
        start: target.start.or(Instant(Time::ZERO)).0,
        stop: target.stop.or(Instant(Time::NEVER)).0,
        churn: target.churn.present().map(|at| Box::new(churn(at))),
    }
}

fn emulation(table: &Flow) -> Option<FlowEmulation> {
    if let Some(kernel) = table.kernel.present() {
        return Some(FlowEmulation::Kernel(kernel.value.clone()));
    }
    if table.live.is_on() {
        return Some(FlowEmulation::Live);
    }
    let commands = table.commands.present()?;
    let text = |field: &Field<String>| field.present().map(|at| at.value.clone());
    Some(FlowEmulation::Commands { sender: text(&commands.sender), receiver: text(&commands.receiver) })
}

fn churn(table: &Churn) -> ChurnSpec {
    let [on, off] = [&table.on, &table.off].map(|mean| spell(mean, &table.shape, &table.fixed));
    ChurnSpec { on, off }
}

pub(super) fn spell(mean: &Field<Duration>, shape: &Field<f64>, fixed: &Field<bool>) -> DurationDistribution {
    let mean = *mean.resolved();
    match shape.present() {
        _ if fixed.is_on() => DurationDistribution::Constant(mean),
        Some(shape) => DurationDistribution::Pareto { mean, shape: shape.value },
        None => DurationDistribution::Exponential(mean),
    }
}

fn over_tcp(table: &Flow) -> tcp::Config {
    let demand = match (table.size.present(), table.rate.present()) {
        _ if table.app.present().is_some() => Demand::Limited(Rate::ZERO),
        (Some(size), _) => Demand::Finite(size.value),
        (None, Some(rate)) => Demand::Limited(rate.value),
        (None, None) => Demand::Bulk,
    };
    let mut config = tcp::Config { demand, ..tcp::Config::default() };
    table.tcp.resolved().set(&mut config);
    config.segment = *table.packet.resolved() - config.header;
    config
}

fn over_stack(table: &Flow, stack: StackWord) -> StackSpec {
    let contained = stack.contained().expect("a resolved tree names stacks that this build contains");
    StackSpec {
        name: stack.word().to_owned(),
        controller: table.controller.present().map(|at| at.value.clone()),
        packet: *table.packet.resolved(),
        size: if table.app.present().is_some() { Bytes::ZERO } else { table.size.or(Bytes::UNLIMITED) },
        encoder: contained.encoder.map(|mut encoder| {
            let table = table.encoder.resolved();
            table.set(&mut encoder);
            // without it, only the first frame is a key frame
            encoder.model.key_every = table.key_every.or(0);
            encoder
        }),
        flow_control: {
            let mut flow_control = contained.flow_control.unwrap_or_default();
            if let Some(table) = table.quic.present() {
                table.set(&mut flow_control);
            }
            flow_control
        },
        ends: contained.ends,
    }
}

fn over_stream(table: &Flow, traces: &BTreeMap<String, Trace>) -> stream::Config {
    let mut config = stream::Config {
        packet: *table.packet.resolved(),
        video: match table.encoder.present() {
            Some(table) => Some(encoder(table)),
            None => table.source.present().map(|source| video(source, traces)),
        },
        player: table.player.present().map(|table| player(table)),
        ..stream::Config::default()
    };
    table.stream.resolved().set(&mut config);
    config
}

/// Without a source nothing is sent.
fn datagrams(table: &Flow) -> datagram::Config {
    let nothing = Pattern::Constant { rate: Rate::ZERO };
    let pattern = table.source.present().map_or(nothing, |source| pattern(source));
    datagram::Config { packet: *table.packet.resolved(), pattern }
}

fn pattern(source: &Source) -> Pattern {
    let rate = *source.rate.resolved();
    match source.kind.resolved() {
        SourceWord::Poisson => Pattern::Poisson { rate },
        SourceWord::OnOff => {
            let [on, off] = [&source.on, &source.off].map(|mean| spell(mean, &source.shape, &source.fixed));
            Pattern::OnOff { rate, on, off }
        }
        SourceWord::Constant | SourceWord::Frames | SourceWord::Trace => Pattern::Constant { rate },
    }
}

fn video(source: &Source, traces: &BTreeMap<String, Trace>) -> Video {
    let frames = match source.kind.resolved() {
        SourceWord::Trace => {
            let file = source.file.resolved();
            let Trace { sizes, types } = traces[file].clone();
            let rate = source.rate.present().map(|at| at.value);
            Frames::Trace { file: file.clone(), sizes, types, rate, repeat: *source.repeat.resolved() }
        }
        SourceWord::Frames => {
            let mut sizes = [0.0; 3];
            for (size, given) in sizes.iter_mut().zip(source.sizes.items()) {
                *size = given.value;
            }
            Frames::Groups {
                rate: *source.rate.resolved(),
                pattern: source.pattern.resolved().chars().filter_map(FrameType::of).collect(),
                sizes,
                variation: *source.variation.resolved(),
            }
        }
        _ => Frames::Equal { rate: *source.rate.resolved() },
    };
    Video {
        frames,
        frame_rate: *source.frame_rate.resolved(),
        live: *source.live.resolved(),
        // without a limit no frame is ever too old
        drop_after: source.drop_after.or(Duration::MAX),
    }
}

/// The video of an encoder that follows the scheme.
fn encoder(table: &Encoder) -> Video {
    let model = EncoderModel {
        min: *table.min.resolved(),
        max: *table.max.resolved(),
        reaction: *table.reaction.resolved(),
        variation: *table.variation.resolved(),
        key_ratio: *table.key_ratio.resolved(),
        // without it, only the first frame is a key frame
        key_every: table.key_every.or(0),
        ..EncoderModel::default()
    };
    Video {
        frames: Frames::Follows(model),
        frame_rate: f64::from(*table.frame_rate.resolved()),
        live: true,
        // without a limit no frame is ever too old
        drop_after: table.drop_after.or(Duration::MAX),
    }
}

fn player(table: &Player) -> stream::Player {
    let mut player = stream::Player::default();
    table.set(&mut player);
    player.modes = match table.modes.items() {
        [filling, full] => Some(Modes {
            filling: filling.value.clone(),
            full: full.value.clone(),
            low: *table.low.resolved(),
            high: *table.high.resolved(),
        }),
        _ => None,
    };
    player
}

fn consumer(table: &Flow, spec: &mut NdnSpec, sizes: &Sizes) -> ConsumerConfig {
    let prefix = spec.names.intern(&table.prefix.resolved().0);
    let (payload, data) = served(spec, prefix, sizes);
    let written = table.consumer.resolved();
    let mut config = ConsumerConfig {
        data,
        pattern: requests(written),
        // data without an end or a limit
        size: table.size.or(Bytes::UNLIMITED),
        ..ConsumerConfig::with_controller(prefix, payload)
    };
    if let Some(source) = table.source.present() {
        config.rate = *source.rate.resolved();
        config.gaps = match source.kind.resolved() {
            SourceWord::Poisson => Gaps::Exponential,
            _ => Gaps::Even,
        };
    }
    written.set(&mut config);
    config
}

fn requests(table: &Consumer) -> ndn::Pattern {
    match table.pattern.resolved() {
        PatternWord::Sequential => ndn::Pattern::Sequential,
        PatternWord::Batches => {
            ndn::Pattern::Batches { size: *table.batch.resolved(), every: *table.every.resolved() }
        }
        PatternWord::Zipf => ndn::Pattern::Zipf {
            contents: *table.contents.resolved(),
            segments: *table.segments.resolved(),
            exponent: *table.exponent.resolved(),
            shift: *table.shift.resolved(),
        },
    }
}
