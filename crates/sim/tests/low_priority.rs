//! Less-than-best-effort schemes in whole networks: claims of their sources, with wide tolerances for one run.

use contract::{FlowId, NodeId};
use sim::{Blueprint, ClockSpec, Control, FlowKind, PortSpec, Trace, World};
use stack::tcp;
use units::{Bytes, Drift, Duration, Offset, Rate, Time};

/// A dumbbell with a bottleneck of 10 Mbit/s and a buffer of the given number of packets. The round-trip time with an
/// empty queue is 44 ms.
struct Dumbbell {
    net: Blueprint,
    left: NodeId,
    right: NodeId,
}

impl Dumbbell {
    fn new(seconds: u64, warmup: u64, packets: u32) -> Self {
        let mut net = Blueprint::new(Duration::from_secs(seconds));
        net.warmup = Duration::from_secs(warmup);
        let (left, right) = (net.node("left"), net.node("right"));
        net.link(
            "bottleneck",
            (left, right),
            PortSpec::new(Rate::from_mbps(10), Duration::from_millis(20), packets),
        );
        Self { net, left, right }
    }

    /// Adds a flow that starts at `start` seconds.
    fn flow(&mut self, scheme: &str, start: u64) -> FlowId {
        let id = self.net.flows.len();
        let port = PortSpec::new(Rate::from_mbps(1000), Duration::from_millis(1), 10_000);
        let (from, to) = (self.net.node(&format!("from{id}")), self.net.node(&format!("to{id}")));
        self.net.link(&format!("in{id}"), (from, self.left), port.clone());
        self.net.link(&format!("out{id}"), (self.right, to), port);
        let config = tcp::Config { segment: Bytes::new(1460), ..tcp::Config::default() };
        let flow = self.net.flow(&format!("f{id}"), Some(scheme), FlowKind::Tcp(config), from, &[to]);
        flow.start = Time::ZERO + Duration::from_secs(start);
        FlowId(id as u32)
    }

    fn run(&self) -> Trace {
        let mut world = World::new(&self.net).expect("a valid blueprint");
        world.run(&Control::default());
        let trace = world.finish();
        assert!(trace.balance.holds(), "{:?}", trace.balance);
        trace
    }
}

/// Payload as a share of the capacity of the link, after the warm-up.
fn share(trace: &Trace, flow: usize, seconds: u64) -> f64 {
    let capacity = 10e6 / 8.0 * 1460.0 / 1500.0 * seconds as f64;
    trace.receivers[flow].meter.goodput_bytes as f64 / capacity
}

/// Mean round-trip time after the warm-up minus that with an empty queue, in seconds.
fn mean_queue(trace: &Trace, flow: usize) -> f64 {
    let meter = &trace.flows[flow].meter;
    meter.rtt_sum_ns as f64 / meter.rtt_count as f64 * 1e-9 - 0.0452
}

/// One flow alone with a buffer of 300 packets, which are 360 ms: its utilisation and its queueing delay.
fn alone(scheme: &str) -> (f64, f64) {
    let mut dumbbell = Dumbbell::new(300, 60, 300);
    dumbbell.flow(scheme, 0);
    let trace = dumbbell.run();
    (share(&trace, 0, 240), mean_queue(&trace, 0))
}

/// Shares of two flows; the second starts at the given number of seconds.
fn two(schemes: [&str; 2], packets: u32, start: u64) -> (f64, f64) {
    let mut dumbbell = Dumbbell::new(300, 60, packets);
    dumbbell.flow(schemes[0], 0);
    dumbbell.flow(schemes[1], start);
    let trace = dumbbell.run();
    (share(&trace, 0, 240), share(&trace, 1, 240))
}

fn within(value: f64, band: std::ops::RangeInclusive<f64>) {
    assert!(band.contains(&value), "{value} is not within {band:?}");
}

/// RFC 6817 §2.1: the link is full, with a queue of TARGET. The draft of LEDBAT++ §4.4, §4.5: at least nine tenths,
/// with a queue of at most 60 ms.
#[test]
fn alone_they_fill_the_link_with_their_target_queue() {
    let (share, queue) = alone("ledbat");
    within(share, 0.98..=1.001);
    within(queue, 0.090..=0.110);
    let (share, queue) = alone("ledbat_pp");
    within(share, 0.90..=1.001);
    within(queue, 0.045..=0.063);
    // TCP-LP halves the window at 15 % of 360 ms, and the remaining window still fills the link
    let (share, queue) = alone("tcp_lp");
    within(share, 0.95..=1.001);
    within(queue, 0.010..=0.054);
}

/// RFC 6817 §4.2, KK03 §V: if TCP fills a queue longer than the target, the background flow gets almost nothing.
#[test]
fn beside_reno_they_get_almost_no_bandwidth() {
    for scheme in ["ledbat", "ledbat_pp", "tcp_lp"] {
        let (background, reno) = two([scheme, "reno"], 300, 0);
        within(background, 0.0..=0.02);
        within(reno, 0.97..=1.001);
    }
}

/// A queue of 80 packets, 96 ms, is always below LEDBAT's target: LEDBAT then reacts to losses only, like Reno. The
/// others still yield.
#[test]
fn with_a_queue_shorter_than_its_target_ledbat_behaves_as_reno() {
    let (background, _) = two(["ledbat", "reno"], 80, 0);
    within(background, 0.35..=0.65);
    for scheme in ["ledbat_pp", "tcp_lp"] {
        let (background, _) = two([scheme, "reno"], 80, 0);
        within(background, 0.0..=0.10);
    }
}

/// RFC 6817 §4.4, the latecomer advantage: a later flow measures the queue of the first as part of its base delay, aims
/// at a longer queue, and starves the first. LEDBAT++ §4.4: after a slowdown both know the base delay.
#[test]
fn latecomers_starve_ledbat_but_not_ledbat_pp() {
    let (first, latecomer) = two(["ledbat", "ledbat"], 300, 50);
    within(latecomer, 0.8..=1.0);
    within(first, 0.0..=0.2);
    let (first, latecomer) = two(["ledbat_pp", "ledbat_pp"], 300, 50);
    within(latecomer / (first + latecomer), 0.4..=0.7);
    within(first + latecomer, 0.9..=1.001);
}

/// Queueing delay of one flow alone in the minute from the given second on, with a buffer of 1000 packets, when the
/// receiver's clock drifts by the given ppm.
fn queue_under_drift(scheme: &str, from: u64, ppm: i32) -> f64 {
    let mut dumbbell = Dumbbell::new(from + 60, from, 1000);
    dumbbell.flow(scheme, 0);
    let node = dumbbell.net.flows[0].to[0].node;
    dumbbell.net.clocks.push(ClockSpec { node, offset: Offset::ZERO, drift: Drift::from_ppm(ppm) });
    let trace = dumbbell.run();
    within(share(&trace, 0, 60), 0.90..=1.001);
    mean_queue(&trace, 0)
}

/// 100 ppm are 0.1 ms per second, 56 ms from the empty path at the start to the minute around 560 s. LEDBAT takes the
/// drift for a queue, or for the lack of one, and so does TCP-LP, which smooths; round-trip times are measured by one
/// clock.
#[test]
fn a_clock_that_drifts_moves_the_queue_of_those_that_read_one_way_delays() {
    within(queue_under_drift("ledbat", 530, 0), 0.096..=0.106);
    within(queue_under_drift("ledbat", 530, 100), 0.040..=0.050);
    within(queue_under_drift("ledbat", 530, -100), 0.150..=0.162);
    let right = queue_under_drift("tcp_lp", 530, 0);
    within(queue_under_drift("tcp_lp", 530, 100) - right, -0.060..=-0.025);
    within(queue_under_drift("tcp_lp", 530, -100) - right, 0.025..=0.060);
    let right = queue_under_drift("ledbat_pp", 530, 0);
    within(right, 0.045..=0.063);
    // except the timer of delayed acknowledgements, which is the receiver's
    within(queue_under_drift("ledbat_pp", 530, 100) - right, -1e-6..=1e-6);
    within(queue_under_drift("ledbat_pp", 530, -100) - right, -1e-6..=1e-6);
}

/// A flow without pauses loses the base delay of the empty path after ten minutes: its own 100 ms are then part of the
/// base delay, and it adds another 100. The slowdowns of LEDBAT++ prevent this.
#[test]
fn ledbat_builds_on_its_own_queue_after_ten_minutes() {
    within(queue_under_drift("ledbat", 660, 0), 0.190..=0.210);
    within(queue_under_drift("ledbat_pp", 660, 0), 0.045..=0.063);
}

/// An offset of an hour, of either sign and at either end, does not change the trace of any scheme, whether it uses
/// one-way delays or not.
#[test]
fn a_clock_offset_of_an_hour_changes_no_trace() {
    for scheme in ["ledbat", "ledbat_pp", "tcp_lp", "bbr", "reno"] {
        let mut dumbbell = Dumbbell::new(30, 0, 100);
        dumbbell.flow(scheme, 0);
        dumbbell.flow("cubic", 5);
        let right = dumbbell.run().hash;
        let ends = [dumbbell.net.flows[0].from, dumbbell.net.flows[0].to[0].node];
        let hour = Duration::from_secs(3600);
        for (node, offset) in
            ends.into_iter().flat_map(|node| [(node, Offset::ahead(hour)), (node, Offset::behind(hour))])
        {
            dumbbell.net.clocks = vec![ClockSpec { node, offset, drift: Drift::ZERO }];
            assert_eq!(dumbbell.run().hash, right, "{scheme}, {node:?}, {offset}");
        }
    }
}
