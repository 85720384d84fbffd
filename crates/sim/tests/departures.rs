//! Nodes that observe departures from their queues: they see every packet when its transmission starts, and nothing
//! else changes.

use std::sync::{Arc, Mutex};

use contract::{Data, Ecn, FaceId, Header, LinkAlgorithm, LinkId, NodeId, Packet, PortView, TransitCx};
use sim::{Blueprint, Change, Control, FlowKind, NdnSpec, PortSpec, ProducerSpec, Trace, World};
use stack::ndn::{ConsumerConfig, ProducerConfig};
use units::{Bytes, Duration, Rate, Time};

/// An observation: instant in µs, queueing delay in µs, backlog behind the packet, and whether it was Data.
type Seen = Arc<Mutex<Vec<(u64, u64, u32, bool)>>>;

struct Watcher {
    seen: Seen,
    mark: bool,
}

impl LinkAlgorithm for Watcher {
    fn observes_dequeue(&self) -> bool {
        true
    }

    fn on_dequeue(
        &mut self,
        packet: &mut Packet,
        to: FaceId,
        port: &PortView,
        waited: Duration,
        at: &mut TransitCx<'_>,
    ) {
        assert_eq!(to, FaceId(0), "the producer's only link");
        assert!(port.busy || port.rate == Rate::UNLIMITED, "its transmission has begun");
        let us = |span: Duration| span.as_nanos() / 1000;
        let is_data = matches!(packet.header, Header::Data(Data { .. }));
        let row = (us(at.now - Time::ZERO), us(waited), port.backlog.packets, is_data);
        self.seen.lock().expect("one thread").push(row);
        if self.mark && waited > Duration::from_millis(1) {
            packet.ecn = Ecn::Marked;
        }
    }
}

/// A consumer that requests 16 Data of 1000 bytes, one each 0.64 ms, and a producer behind a link of 8 Mbit/s, which
/// transmits one per millisecond.
fn crowded() -> Blueprint {
    let mut print = Blueprint::new(Duration::from_secs(1));
    let nodes: Vec<NodeId> = ["c", "p"].iter().map(|name| print.node(name)).collect();
    let port = PortSpec::new(Rate::from_mbps(8), Duration::from_millis(10), 5);
    let mut fast = port.clone();
    fast.rate = Rate::UNLIMITED;
    print.link("l", (nodes[0], nodes[1]), port);
    print.links[0].forward = fast.into();
    let mut spec = NdnSpec { nodes, ..NdnSpec::default() };
    let prefix = spec.names.intern("/p");
    let (payload, data) = (Bytes::new(924), Bytes::new(1000));
    let config = ProducerConfig { prefix, payload, data, delay: Duration::ZERO };
    spec.producers.push(ProducerSpec { node: NodeId(1), config });
    spec.config.data = data;
    let mut config = ConsumerConfig::new(prefix, payload, Rate::from_kbps(12_500));
    config.retries = 0;
    let flow = print.flow("c", None, FlowKind::Ndn(config), NodeId(0), &[]);
    flow.stop = Time::ZERO + Duration::from_millis(10);
    print.ndn = Some(spec);
    print
}

fn run(print: &Blueprint, mark: Option<bool>) -> (Trace, Vec<(u64, u64, u32, bool)>) {
    let mut world = World::new(print).expect("a valid blueprint");
    let seen = Seen::default();
    if let Some(mark) = mark {
        world.custom_link(NodeId(1), Box::new(Watcher { seen: Arc::clone(&seen), mark }));
    }
    world.run(&Control::default());
    let trace = world.finish();
    let seen = std::mem::take(&mut *seen.lock().expect("one thread"));
    (trace, seen)
}

#[test]
fn each_departure_is_observed_with_its_queueing_delay() {
    let (trace, seen) = run(&crowded(), Some(false));
    // Data k arrives at 10 + 0.64 k ms and leaves at 10 + k ms after a wait of 0.36 k ms; the backlog is the ⌊k/0.64⌋ −
    // k that arrived meanwhile
    assert_eq!(
        seen[..7],
        [
            (10_000, 0, 0, true),
            (11_000, 360, 0, true),
            (12_000, 720, 1, true),
            (13_000, 1080, 1, true),
            (14_000, 1440, 2, true),
            (15_000, 1800, 2, true),
            (16_000, 2160, 3, true)
        ]
    );
    let link = &trace.ports[1];
    assert_eq!(seen.len() as u64, link.sent_packets, "every packet that left, and none that was dropped");
    assert_eq!(link.drops[0] + link.sent_packets, 16);
    assert!(link.drops[0] > 0 && seen.iter().all(|row| row.1 <= 6000), "{seen:?}");
    let total: u64 = seen.iter().map(|row| row.1).sum();
    assert_eq!(u128::from(total) * 1000, link.backlog_packet_ns, "waits add up to what the port has counted");
}

/// A queue that grows while packets are on the wire.
#[test]
fn all_departures_of_a_long_queue_are_observed() {
    let mut print = crowded();
    print.links[0].backward.queue.limit = sim::Limit::Packets(1000);
    print.links[0].backward.delay = Duration::from_millis(40);
    print.flows[0].stop = Time::ZERO + Duration::from_millis(320);
    let (trace, seen) = run(&print, Some(false));
    assert_eq!((seen.len(), trace.ports[1].sent_packets), (500, 500));
    for (row, k) in seen.iter().zip(0u64..) {
        assert_eq!((row.0, row.1), (10_000 + 1000 * k, 360 * k));
    }
}

#[test]
fn observation_changes_no_departure() {
    for rate_change in [None, Some(Rate::from_mbps(2)), Some(Rate::from_mbps(80)), Some(Rate::UNLIMITED)] {
        let mut print = crowded();
        if let Some(rate) = rate_change {
            let at = Time::ZERO + Duration::from_micros(15_300);
            print.events.push((at, Change::LinkRate(LinkId(0), rate)));
        }
        let ((without, _), (with, seen)) = (run(&print, None), run(&print, Some(false)));
        assert_eq!(seen.len() as u64, with.ports[1].sent_packets, "{rate_change:?}");
        assert!(seen.windows(2).all(|pair| pair[0].0 <= pair[1].0));
        assert_eq!(
            (without.packet_hops, format!("{:?}", without.ports)),
            (with.packet_hops, format!("{:?}", with.ports))
        );
        let flow = |trace: &Trace| format!("{:?}", trace.flows);
        assert_eq!(flow(&without), flow(&with), "{rate_change:?}");
    }
}

#[test]
fn packets_lost_by_a_failing_link_have_no_departure() {
    let mut print = crowded();
    for (us, up) in [(15_500, false), (17_100, true)] {
        print.events.push((Time::ZERO + Duration::from_micros(us), Change::LinkUp(LinkId(0), up)));
    }
    let (trace, seen) = run(&print, Some(false));
    let within: Vec<u64> = seen.iter().map(|row| row.0).filter(|at| (15_500..17_100).contains(at)).collect();
    assert!(within.is_empty(), "{within:?}");
    // the packet in transmission was lost as well, after its observation
    assert!(seen.len() as u64 > trace.ports[1].sent_packets, "{seen:?}");
}

#[test]
fn a_mark_at_departure_arrives_and_is_counted() {
    let (trace, seen) = run(&crowded(), Some(true));
    let late = seen.iter().filter(|row| row.1 > 1000).count() as u64;
    assert!(late > 0);
    assert_eq!(trace.ports[1].marked_packets, late);
}

#[test]
fn departures_from_queues_with_classes_are_observed() {
    let mut print = crowded();
    print.links[0].backward.queue.class_weights = vec![1, 1];
    let (trace, seen) = run(&print, Some(false));
    assert_eq!(seen.len() as u64, trace.ports[1].sent_packets);
    assert_eq!(seen[..3], [(10_000, 0, 0, true), (11_000, 360, 0, true), (12_000, 720, 1, true)]);
}
