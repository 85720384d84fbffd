//! Endpoints of flows that start late and end: freeing them changes nothing.

use contract::{FlowId, Random};
use sim::{Blueprint, Change, Control, FlowKind, PortSpec, Trace, World};
use stack::tcp::{self, Demand};
use units::{Bytes, Duration, Rate, Time};

use crate::{at, ms};

const FLOWS: u32 = 900;

/// Short flows one after the other over a lossy bottleneck that they overload at times, and a long one among them.
fn short_flows(seed: u64) -> Blueprint {
    let mut net = Blueprint::new(Duration::from_secs(12));
    net.seed = seed;
    net.warmup = if seed.is_multiple_of(2) { Duration::from_secs(3) } else { Duration::ZERO };
    let nodes: Vec<_> = ["a", "b", "r", "s", "c", "d"].iter().map(|name| net.node(name)).collect();
    let mut narrow = PortSpec::new(Rate::from_mbps(5), ms(10), 20);
    narrow.loss = 0.01;
    net.link("narrow", (nodes[2], nodes[3]), narrow);
    for (number, (end, router)) in [(0, 2), (1, 2), (3, 4), (3, 5)].into_iter().enumerate() {
        let edge = PortSpec::new(Rate::from_mbps(100), ms(1), 1000);
        net.link(&format!("edge{number}"), (nodes[end], nodes[router]), edge);
    }
    let mut random = Random::new(seed, "late", "test");
    for flow in 0..FLOWS {
        let demand = match flow {
            100 => Demand::Bulk,
            _ => Demand::Finite(Bytes::new(1 + random.below(9000))),
        };
        let config = tcp::Config {
            demand,
            sack: flow % 3 > 0,
            delayed_ack: flow % 5 > 0,
            ecn: flow % 7 == 0,
            ..tcp::Config::default()
        };
        let scheme = ["reno", "cubic", "bbr", "vegas"][flow as usize % 4];
        let (from, to) = (nodes[flow as usize % 2], nodes[4 + flow as usize / 2 % 2]);
        let start = Time::from_nanos(1 + random.below(11_999_999_999));
        net.flow(&format!("short.{flow}"), Some(scheme), FlowKind::Tcp(config), from, &[to]).start = start;
    }
    net.events.push((at(4.0), Change::FlowStop(FlowId(200))));
    net.record.every = ms(500);
    net.record.series = ["rate", "throughput", "goodput", "backlog", "cwnd"].map(str::to_owned).to_vec();
    net.record.events = true;
    net.record.drops = true;
    net
}

/// A network whose flows all have endpoints for the whole run, because events after its end name them.
fn with_all_endpoints(mut net: Blueprint) -> Blueprint {
    net.events.extend((0..FLOWS).map(|flow| (at(100.0), Change::FlowStop(FlowId(flow)))));
    net
}

/// All of a trace as text.
fn text(trace: &Trace) -> String {
    format!("{trace:?}")
}

#[test]
fn endpoints_that_exist_for_a_part_of_the_run_give_the_same_trace() {
    for seed in 1..=4 {
        let worlds = [short_flows(seed), with_all_endpoints(short_flows(seed))].map(|net| {
            let mut world = World::new(&net).expect("it is valid");
            let all = world.endpoints();
            assert!(!world.run_until(at(6.0), &Control::default()));
            let half = text(&world.snapshot());
            let at_half = world.endpoints();
            world.run(&Control::default());
            let numbers = [all, at_half, world.endpoints()];
            (half, numbers, world.finish())
        });
        let [(half, some, trace), (other_half, all, other)] = &worlds;
        assert_eq!(trace.hash, other.hash, "seed {seed}");
        assert!(half == other_half, "seed {seed}: snapshots differ");
        assert!(text(trace) == text(other), "seed {seed}: traces differ");
        let total = 2 * FLOWS as usize;
        assert_eq!(*all, [total; 3]);
        // the long flow and those after it: only the flow that an event stops exists before its start
        assert_eq!(some[0], 4, "before the start: the long flow's and those that an event names");
        assert!(some[1..].iter().all(|endpoints| *endpoints < total * 2 / 3), "{some:?}");
        let completed = trace.flows.iter().filter(|flow| flow.meter.completed_at < Time::NEVER).count();
        assert!(completed > FLOWS as usize * 2 / 3, "{completed}");
        let retransmitted =
            trace.flows.iter().filter(|flow| flow.meter.count(contract::Count::Retransmits) > 0);
        assert!(retransmitted.count() > 20);
    }
}
