//! The tables of flows that a plan says.

use sim::{Cast, FlowEmulation, FlowKind, FlowSpec, ReceiverSpec};
use stack::datagram::{Pattern, Spell};
use stack::stream::{self, FrameType, Frames, Video};
use stack::tcp::{self, Demand};
use units::{Duration, Rate, Time};

use super::resolved::{Names, list, params};
use super::{Plan, ndn};
use crate::resolve::params::PartParams;
use crate::schema::emulation::Commands;
use crate::schema::file::{Churn, Flow, NetworkWord, Source, SourceWord, Stream, TargetTable};
use crate::schema::read::{At, Field};
use crate::schema::tcp::{LikeWord, Tcp};
use crate::schema::values::{Instant, SchemeName, Senders, Targets};
use crate::schema::video::Player;

/// The flows of the plan, then the entries that make none.
pub(super) fn flows(plan: &Plan, names: &Names<'_>) -> Vec<Flow> {
    let mut groups = vec![""; plan.blueprint.flows.len()];
    for group in &plan.groups {
        for id in &group.flows {
            groups[id.index()] = &group.name;
        }
    }
    let flows = plan.blueprint.flows.iter().zip(groups).map(|(spec, group)| flow(spec, group, names));
    let none = plan.groups.iter().filter(|group| group.flows.is_empty()).map(|group| Flow {
        name: group.name.clone().into(),
        count: Field::of(0),
        ..Flow::default()
    });
    flows.chain(none).collect()
}

fn flow(spec: &FlowSpec, group: &str, names: &Names<'_>) -> Flow {
    let all = |scheme: &String| params(PartParams::of_scheme(scheme), &spec.params);
    let flow = Flow {
        name: spec.name.clone().into(),
        group: group.to_owned().into(),
        scheme: spec.scheme.clone().map(SchemeName).into(),
        params: spec.scheme.as_ref().map(all).into(),
        from: Senders(vec![names.node(spec.from).into()]).into(),
        start: Instant(spec.start).into(),
        stop: Instant(spec.stop).into(),
        churn: spec.churn.as_ref().map(churn).into(),
        class: u32::from(spec.class).into(),
        ..emulated(spec.emulation.as_ref())
    };
    let flow = match &spec.kind {
        FlowKind::Ndn(config) => return ndn::asking(config, names, flow),
        FlowKind::Tcp(config) => over_tcp(config, flow),
        FlowKind::Stream(config) => Flow {
            packet: config.packet.into(),
            stream: Stream::of(config).into(),
            source: config.video.as_ref().map(video).into(),
            player: config.player.as_ref().map(player).into(),
            ..flow
        },
        FlowKind::Datagram(config) => Flow {
            packet: config.packet.into(),
            // commands alone have none
            source: Some(source(&config.pattern)).filter(|_| config.pattern.rate() > Rate::ZERO).into(),
            ..flow
        },
    };
    let receivers = spec.to.iter().map(|receiver| At::from(target(receiver, names)));
    let multicast = spec.cast != Cast::Unicast;
    let network = if spec.cast == Cast::Named { NetworkWord::Icn } else { NetworkWord::Ip };
    Flow {
        to: Targets { list: receivers.collect(), listed: multicast }.into(),
        multicast: multicast.into(),
        network: network.into(),
        ..flow
    }
}

/// Who takes the place of a flow's machines in an emulation.
fn emulated(emulation: Option<&FlowEmulation>) -> Flow {
    let none = Flow::default();
    match emulation {
        None => none,
        Some(FlowEmulation::Kernel(name)) => Flow { kernel: name.clone().into(), ..none },
        Some(FlowEmulation::Live) => Flow { live: true.into(), ..none },
        Some(FlowEmulation::Commands { sender, receiver }) => {
            let (sender, receiver) = (sender.clone().into(), receiver.clone().into());
            Flow { commands: Commands { sender, receiver, ..Commands::default() }.into(), ..none }
        }
    }
}

fn target(receiver: &ReceiverSpec, names: &Names<'_>) -> TargetTable {
    let node = TargetTable { node: names.field(receiver.node), ..TargetTable::default() };
    if receiver.start == Time::ZERO && receiver.stop == Time::NEVER && receiver.churn.is_none() {
        return node;
    }
    TargetTable {
        start: Instant(receiver.start).into(),
        stop: Instant(receiver.stop).into(),
        churn: receiver.churn.as_ref().map(churn).into(),
        ..node
    }
}

fn churn(churn: &sim::Churn) -> Churn {
    let (shape, fixed) = form(&churn.on);
    Churn { on: mean(&churn.on), off: mean(&churn.off), shape, fixed, ..Churn::default() }
}

fn mean(spell: &Spell) -> Field<Duration> {
    match spell {
        Spell::Constant(mean) | Spell::Exponential(mean) | Spell::Pareto { mean, .. } => (*mean).into(),
    }
}

/// `shape` and `fixed` of on- and off-times, which have the same.
fn form(spell: &Spell) -> (Field<f64>, Field<bool>) {
    match spell {
        Spell::Constant(_) => (Field::Missing, true.into()),
        Spell::Exponential(_) => (Field::Missing, Field::Missing),
        Spell::Pareto { shape, .. } => ((*shape).into(), Field::Missing),
    }
}

fn over_tcp(config: &tcp::Config, flow: Flow) -> Flow {
    let (size, rate) = match config.demand {
        Demand::Bulk => (None, None),
        Demand::Finite(size) => (Some(size), None),
        Demand::Limited(rate) => (None, Some(rate)),
    };
    // nothing is left open that the kernel could fill in
    let like = flow.kernel.given().map(|_| LikeWord::Standard);
    Flow {
        size: size.into(),
        rate: rate.into(),
        packet: (config.segment + config.header).into(),
        tcp: Tcp { like: like.into(), ..Tcp::of(config) }.into(),
        ..flow
    }
}

fn source(pattern: &Pattern) -> Source {
    let (kind, rate) = match pattern {
        Pattern::Constant { rate } => (SourceWord::Constant, *rate),
        Pattern::Poisson { rate } => (SourceWord::Poisson, *rate),
        Pattern::OnOff { rate, .. } => (SourceWord::OnOff, *rate),
    };
    let source = Source { kind: kind.into(), rate: rate.into(), ..Source::default() };
    match pattern {
        Pattern::OnOff { on, off, .. } => {
            let (shape, fixed) = form(on);
            Source { on: mean(on), off: mean(off), shape, fixed, ..source }
        }
        _ => source,
    }
}

fn video(video: &Video) -> Source {
    let mut source = Source::of(video);
    if video.drop_after == Duration::MAX {
        source.drop_after = Field::Missing;
    }
    match &video.frames {
        Frames::Equal { rate } => {
            Source { kind: SourceWord::Constant.into(), rate: (*rate).into(), ..source }
        }
        Frames::Groups { rate, pattern, sizes, variation } => Source {
            kind: SourceWord::Frames.into(),
            rate: (*rate).into(),
            pattern: pattern.iter().copied().map(FrameType::letter).collect::<String>().into(),
            sizes: list(*sizes),
            variation: (*variation).into(),
            ..source
        },
        Frames::Trace { file, rate, repeat, .. } => Source {
            kind: SourceWord::Trace.into(),
            file: file.clone().into(),
            rate: (*rate).into(),
            repeat: (*repeat).into(),
            ..source
        },
    }
}

fn player(settings: &stream::Player) -> Player {
    let player = Player::of(settings);
    match &settings.modes {
        None => player,
        Some(modes) => Player {
            modes: list([modes.filling.clone(), modes.full.clone()]),
            low: modes.low.into(),
            high: modes.high.into(),
            ..player
        },
    }
}
