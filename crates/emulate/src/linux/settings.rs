//! Settings of a scenario's `tcp` for the kernel, as sysctls of a namespace or attributes of its route to another node.
//! Settings without such an interface are rejected.

use std::collections::BTreeMap;

use contract::NodeId;
use sim::{Blueprint, FlowEmulation, FlowKind, FlowSpec};
use stack::tcp::Config;
use units::{Bytes, Duration};

use super::routes::Metrics;
use crate::Error;

/// Headers of IPv4 and TCP, without and with timestamps.
const HEADERS: (Bytes, Bytes) = (Bytes::new(40), Bytes::new(52));

/// TCP settings of a namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tuning {
    pub(super) sack: bool,
    pub(super) ecn: bool,
    pub(super) timestamps: bool,
    pub(super) idle_restart: bool,
    /// Maximum retransmission timeout; `None` for the kernel's default.
    pub(super) max_rto: Option<Duration>,
    /// Maximum size of a packet.
    pub(super) mtu: u32,
}

impl Default for Tuning {
    fn default() -> Self {
        Self { sack: true, ecn: false, timestamps: true, idle_restart: true, max_rto: None, mtu: 1500 }
    }
}

/// All TCP settings for the kernel.
#[derive(Debug, Default)]
pub(super) struct KernelSettings {
    /// Per real node.
    pub(super) tunings: Vec<Tuning>,
    /// By the node with the route and the node that it leads to; only routes with settings that are not default.
    pub(super) routes: BTreeMap<(NodeId, NodeId), Metrics>,
}

impl KernelSettings {
    /// The settings of all flows of the kernel's TCP. Fails if the kernel cannot be configured so, or two flows of one
    /// namespace require different settings.
    pub(super) fn of(blueprint: &Blueprint) -> Result<Self, Error> {
        let real = &blueprint.emulation.real;
        let mut signalled = Self { tunings: vec![Tuning::default(); real.len()], routes: BTreeMap::new() };
        let mut by_node: BTreeMap<NodeId, (&str, Tuning)> = BTreeMap::new();
        let mut by_way: BTreeMap<(NodeId, NodeId), (&str, Metrics)> = BTreeMap::new();
        for flow in &blueprint.flows {
            let (Some(FlowEmulation::Kernel(_)), FlowKind::Tcp(config)) =
                (flow.emulation.as_deref(), &*flow.kind)
            else {
                continue;
            };
            let Some(to) = flow.to.first().map(|to| to.node) else { continue };
            refuse(flow, config)?;
            let tuning = tuning(config);
            for node in [flow.from, to] {
                let (other, peers) = by_node.entry(node).or_insert((&flow.name, tuning));
                if (Tuning { mtu: 0, ..*peers }) != (Tuning { mtu: 0, ..tuning }) {
                    let what = different(peers, &tuning);
                    let place = format!("node `{}`", blueprint.nodes[node.index()]);
                    return Err(clash(flow, other, what, &place, "nodes of their own"));
                }
                peers.mtu = peers.mtu.max(tuning.mtu);
            }
            for (way, wanted) in [((flow.from, to), sending(config)), ((to, flow.from), receiving(config))] {
                let (other, peers) = by_way.entry(way).or_insert((&flow.name, wanted));
                if *peers != wanted {
                    return Err(clash(flow, other, "route", "their two nodes", "nodes of their own"));
                }
            }
        }
        for (node, (_, tuning)) in by_node {
            if let Ok(place) = real.binary_search(&node) {
                signalled.tunings[place] = tuning;
            }
        }
        for flow in blueprint.flows.iter().filter(|flow| flow.emulation.is_some()) {
            let longest = match &*flow.kind {
                FlowKind::Tcp(config) => config.segment + config.header,
                FlowKind::Stream(config) => config.packet,
                FlowKind::Datagram(config) => config.packet,
                FlowKind::Stack(stack) => stack.packet,
                FlowKind::Ndn(_) => Bytes::ZERO,
            };
            for node in [flow.from].into_iter().chain(flow.to.iter().map(|to| to.node)) {
                if let Ok(place) = real.binary_search(&node) {
                    let mtu = &mut signalled.tunings[place].mtu;
                    *mtu = (*mtu).max(longest.as_u64() as u32);
                }
            }
        }
        signalled.routes = by_way
            .into_iter()
            .map(|(way, (_, metrics))| (way, metrics))
            .filter(|(_, metrics)| *metrics != Metrics::default())
            .collect();
        Ok(signalled)
    }
}

fn tuning(config: &Config) -> Tuning {
    Tuning {
        sack: config.sack,
        ecn: config.ecn,
        timestamps: config.header == HEADERS.1,
        idle_restart: config.idle_restart,
        max_rto: (config.max_rto != Config::default().max_rto).then_some(config.max_rto),
        mtu: 1500.max((config.segment + config.header).as_u64() as u32),
    }
}

/// Attributes of the sender's route.
fn sending(config: &Config) -> Metrics {
    let own = Config::default();
    let other = |wanted: bool, value: u32| if wanted { value } else { 0 };
    Metrics {
        initial_window: other(config.initial_window != own.initial_window, config.initial_window),
        min_rto_ms: other(config.min_rto != own.min_rto, millis(config.min_rto)),
        ..Metrics::default()
    }
}

/// Attributes of the receiver's route.
fn receiving(config: &Config) -> Metrics {
    Metrics {
        quick_ack: u32::from(!config.delayed_ack),
        window: u32::try_from(config.receive_window.as_u64()).unwrap_or(0),
        ..Metrics::default()
    }
}

fn millis(span: Duration) -> u32 {
    u32::try_from(span.as_nanos().div_ceil(1_000_000)).unwrap_or(u32::MAX)
}

/// Fails for a setting that the kernel neither has by default nor can change. The settings of `like = "linux"` are
/// accepted in any case, so that a simulation for comparison can change them.
fn refuse(flow: &FlowSpec, config: &Config) -> Result<(), Error> {
    let own = Config::default();
    let reasons = [
        (config.limited_transmit != own.limited_transmit, "limited_transmit", "it always does so"),
        (config.fast_recovery != own.fast_recovery, "fast_recovery", "it always recovers so"),
        (config.undo != own.undo, "undo", "it always undoes"),
        (config.ack_delay != own.ack_delay, "ack_delay", "it finds the delay by itself, from 40 ms on"),
        (config.initial_rto != own.initial_rto, "initial_rto", "it is always 1 s"),
        (
            config.header != HEADERS.0 && config.header != HEADERS.1,
            "header",
            "it is 52 bytes with timestamps and 40 bytes without",
        ),
    ];
    match reasons.into_iter().find(|(wrong, ..)| *wrong) {
        Some((_, key, why)) => {
            let message = format!("the kernel's TCP has no setting for `tcp.{key}`: {why}");
            Err(Error::Setting { flow: flow.name.to_string(), message })
        }
        None => Ok(()),
    }
}

/// The key in which two settings differ.
fn different(one: &Tuning, other: &Tuning) -> &'static str {
    match () {
        () if one.sack != other.sack => "sack",
        () if one.ecn != other.ecn => "ecn",
        () if one.timestamps != other.timestamps => "header",
        () if one.idle_restart != other.idle_restart => "idle_restart",
        () => "max_rto",
    }
}

fn clash(flow: &FlowSpec, other: &str, what: &str, place: &str, hint: &str) -> Error {
    let what = match what {
        "route" => "`initial_window`, `min_rto`, `delayed_ack` and `receive_window`".to_owned(),
        key => format!("`{key}`"),
    };
    let message = format!(
        "the kernel keeps {what} for {place} as a whole, and flow `{other}` wants another value there: give them {hint}"
    );
    Error::Setting { flow: flow.name.to_string(), message }
}

#[cfg(test)]
mod tests {
    use sim::PortSpec;
    use units::Rate;

    use super::*;

    /// Two real nodes, and one flow of the kernel's TCP per element of `settings`.
    fn signalled(settings: &[Config]) -> Result<KernelSettings, String> {
        let mut net = Blueprint::new(Duration::from_secs(1));
        let (a, b) = (net.node("a"), net.node("b"));
        net.link("wire", (a, b), PortSpec::new(Rate::from_mbps(10), Duration::from_millis(5), 10));
        for (n, config) in settings.iter().enumerate() {
            let kind =
                FlowKind::Tcp(Config { segment: Bytes::new(1448), header: HEADERS.1, ..config.clone() });
            net.flow(&format!("f{n}"), Some("reno"), kind, a, &[b]).emulation =
                Some(Box::new(FlowEmulation::Kernel("reno".to_owned())));
        }
        net.emulation.real = vec![a, b];
        KernelSettings::of(&net).map_err(|error| error.to_string())
    }

    #[test]
    fn settings_without_a_value_keep_the_kernels_default() {
        let signalled = signalled(&[Config::default(), Config::default()]).expect("nothing is wanted");
        assert_eq!(signalled.tunings, [Tuning::default(); 2]);
        assert!(signalled.routes.is_empty());
    }

    #[test]
    fn settings_of_senders_and_receivers_are_metrics_of_their_routes() {
        let wanted = Config {
            initial_window: 3,
            min_rto: Duration::from_millis(500),
            delayed_ack: false,
            receive_window: Bytes::new(100_000),
            sack: false,
            ..Config::default()
        };
        let signalled = signalled(&[wanted]).expect("the kernel has doors for all of it");
        let there = Metrics { initial_window: 3, min_rto_ms: 500, ..Metrics::default() };
        let back = Metrics { quick_ack: 1, window: 100_000, ..Metrics::default() };
        assert_eq!(
            signalled.routes,
            BTreeMap::from([((NodeId(0), NodeId(1)), there), ((NodeId(1), NodeId(0)), back)])
        );
        assert_eq!(signalled.tunings, [Tuning { sack: false, ..Tuning::default() }; 2]);
    }

    #[test]
    fn settings_that_linux_lacks_are_refused_by_name() {
        let other = Config { limited_transmit: false, ..Config::default() };
        let message = signalled(&[Config::default(), other]).expect_err("there is no such setting");
        assert!(message.starts_with("flow `f1`") && message.contains("`tcp.limited_transmit`"), "{message}");
        let other = Config { ack_delay: Duration::from_millis(100), ..Config::default() };
        assert!(signalled(&[other]).expect_err("there is no such setting").contains("`tcp.ack_delay`"));
    }

    #[test]
    fn flows_of_one_namespace_with_different_settings_are_refused() {
        let message = signalled(&[Config::default(), Config { sack: false, ..Config::default() }]);
        let message = message.expect_err("a namespace has one setting");
        assert!(
            message.contains("`sack`") && message.contains("`f0`") && message.contains("`a`"),
            "{message}"
        );
        let quick = Config { delayed_ack: false, ..Config::default() };
        let message = signalled(&[quick, Config::default()]).expect_err("a route has one setting");
        assert!(message.contains("`delayed_ack`"), "{message}");
    }
}
