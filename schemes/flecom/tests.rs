//! One test per rule of the reconstruction.

use contract::{
    Admission, Cause, Congestion, CongestionControl, Ecn, FaceId, FibEntry, InterestQueueId, Label,
    LinkAlgorithm, Name, NameId, Packet, Setup,
};
use units::{Bytes, Duration, Rate};

use super::trend::{Trend, change, cut_of};
use super::{Params, Step, Trends, control, link, strategy};
use crate::shared::forwarders::{LinkBench, Outcome, StrategyBench, data, faces, interest};
use crate::shared::testing::{Bench, SEGMENT, setup};

const SETUP: Setup = Setup { segment: Bytes::new(1100), header: Bytes::ZERO, initial_window: Bytes::ZERO };
const NEAR: FaceId = FaceId(0);
const FAR: FaceId = FaceId(1);
const CONSUMER: FaceId = FaceId(2);

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn name(segment: u64) -> Name {
    Name { prefix: NameId(1), segment }
}

fn near(a: f64, b: f64) {
    assert!((a - b).abs() < 1e-9, "{a} {b}");
}

/// p = 0.01 and d = 10 ms: (0.125·(−0.005) − 0.01)/(1.375·0.01) = −0.010625/0.01375.
#[test]
fn the_change_that_brings_p_back_to_nothing() {
    let params = Params::default();
    near(change(0.01, 0.01, 0.005, &params), -0.010625 / 0.01375);
    assert!((change(0.01, 0.01, 0.005, &params) + 0.77).abs() < 0.005);
    // with d′ = d·(1 + x) the update gives 0
    let (d, p) = (0.02, 0.003);
    let next = d * (1.0 + change(d, p, 0.005, &params));
    near(p + 0.125 * (next - 0.005) + 1.25 * (next - d), 0.0);
}

#[test]
fn the_trend_is_looked_at_every_60_ms_and_reacts_at_once() {
    let params = Params::default();
    let mut trend = Trend::default();
    let start = LinkBench::new(Vec::new()).now;
    trend.on_departure(start, 0.004, &params);
    // 0.125·(−0.001) + 1.25·0.004
    near(trend.value, 0.004875);
    near(trend.cut, 0.0);
    trend.on_departure(start + ms(59), 0.05, &params);
    near(trend.value, 0.004875);
    trend.on_departure(start + ms(60), 0.010, &params);
    // + 0.125·0.005 + 1.25·0.006
    near(trend.value, 0.013);
    near(trend.cut, 0.1);
    // a wait that falls to the target or below is none too long
    trend.cut = 0.0;
    trend.on_departure(start + ms(120), 0.005, &params);
    near(trend.value, 0.013 - 1.25 * 0.005);
    near(trend.cut, 0.0);
    // p never leaves 0 to 1
    trend.on_departure(start + ms(180), 0.0, &params);
    near(trend.value, 0.0);
    // waiting too long, but less and less: no congestion
    trend = Trend::default();
    trend.on_departure(start, 0.1, &params);
    trend.on_departure(start + ms(60), 0.006, &params);
    near(trend.value, (0.125 * 0.095 + 0.125_f64 + 0.125 * 0.001 - 1.25 * 0.094).max(0.0));
}

#[test]
fn a_graded_step_is_the_level_of_congestion_up_to_the_maximum() {
    let params = Params { step: Step::Level, ..Params::default() };
    let mut trend = Trend::default();
    let start = LinkBench::new(Vec::new()).now;
    trend.on_departure(start, 0.010, &params);
    // 0.125·0.005 + 1.25·0.010
    near(trend.cut, 0.013125);
    trend.on_departure(start + ms(60), 0.2, &params);
    // + 0.125·0.195 + 1.25·0.190 is 0.275
    near(trend.value, 0.275);
    near(trend.cut, 0.1);
}

fn gate(hops: u32) -> (LinkBench, Trends) {
    let mut gate = LinkBench::new(faces(2, Rate::from_mbps(10), 1));
    gate.hops = hops;
    (gate, link(&Params::default(), &SETUP))
}

#[test]
fn the_next_data_that_leaves_carries_the_maximum_cut() {
    let (mut gate, mut controller) = gate(2);
    let (mut asks, mut first, mut second) = (interest(name(1), 1), data(name(2)), data(name(3)));
    gate.dequeue(&mut controller, &mut asks, FAR, ms(10));
    assert!(controller.trend(FAR).cut > 0.0, "an Interest is looked at and carries nothing");
    gate.dequeue(&mut controller, &mut first, FAR, ms(10));
    gate.dequeue(&mut controller, &mut second, FAR, ms(10));
    assert_eq!([asks.ecn, first.ecn, second.ecn], [Ecn::Capable, Ecn::Marked, Ecn::Capable]);
    near(cut_of(&first), 0.1);
    gate.now += ms(60);
    let mut carries = data(name(4));
    (carries.ecn, carries.label) = (Ecn::Marked, Label([0.3_f64.to_bits(), 0, 0, 0]));
    gate.dequeue(&mut controller, &mut carries, FAR, ms(20));
    near(cut_of(&carries), 0.3);
}

fn cut(value: f64) -> impl FnOnce(&mut Packet) {
    move |packet| (packet.ecn, packet.label.0[0]) = (Ecn::Marked, value.to_bits())
}

/// 100 Data in a second, and a cut of a tenth: one Interest each 11.1 ms, for 120 ms.
#[test]
fn interests_with_one_way_are_shaped_after_a_cut() {
    let (mut gate, mut controller) = gate(1);
    for segment in 0..100 {
        gate.data(&mut controller, name(segment), FAR, NEAR);
        gate.now += ms(10);
    }
    assert_eq!(gate.interest(&mut controller, name(200), NEAR, FAR), Admission::Pass);
    gate.data_with(&mut controller, name(200), FAR, NEAR, cut(0.1));
    let begun = gate.now;
    let request = |gate: &mut LinkBench, controller: &mut Trends, segment| {
        gate.interest(controller, name(segment), NEAR, FAR)
    };
    assert_eq!(request(&mut gate, &mut controller, 300), Admission::Pass);
    for segment in 301..320 {
        assert_eq!(request(&mut gate, &mut controller, segment), Admission::Hold(InterestQueueId(1)));
    }
    assert_eq!(
        gate.interest(&mut controller, name(999), CONSUMER, FAR),
        Admission::Pass,
        "a consumer's own node does not shape"
    );
    gate.run(&mut controller, begun + ms(119));
    let times: Vec<f64> = gate
        .outcomes
        .iter()
        .map(|outcome| match outcome {
            Outcome::Released(at, _) => (*at - begun).as_secs_f64() * 1000.0,
            Outcome::Refused(..) => panic!("nothing is refused"),
        })
        .collect();
    assert_eq!(times.len(), 10, "{times:?}");
    // 101 Data in a second: 9.9 ms/0.9
    assert!((times[0] - 11.0).abs() < 0.2 && (times[9] - 110.0).abs() < 2.0, "{times:?}");
    gate.run(&mut controller, begun + ms(121));
    assert_eq!(gate.queued(), 0, "when it ends the rest goes");
    assert_eq!(request(&mut gate, &mut controller, 400), Admission::Pass);
    assert_eq!(request(&mut gate, &mut controller, 401), Admission::Pass);
    assert!(controller.wake() > gate.now);
}

#[test]
fn interests_with_another_way_are_not_shaped() {
    let (mut gate, mut controller) = gate(2);
    gate.data(&mut controller, name(1), FAR, NEAR);
    gate.now += ms(10);
    gate.data_with(&mut controller, name(2), FAR, NEAR, cut(0.1));
    for segment in 10..20 {
        assert_eq!(gate.interest(&mut controller, name(segment), NEAR, FAR), Admission::Pass);
    }
}

/// (0.02 + 0.1·0.1)·1 = 0.03.
#[test]
fn shares_move_by_the_cut() {
    let mut node = StrategyBench::new(faces(2, Rate::from_mbps(10), 1), &[10, 20]);
    let mut controller = strategy(&Params { probing: 0.0, ..Params::default() }, &SETUP);
    let pending = node.interest(&mut controller, 1, CONSUMER);
    node.data_with(&mut controller, pending, NEAR, cut(0.1));
    let hops = node.hops.clone();
    let fib = FibEntry { prefix: NameId(1), index: 0, hops: &hops };
    let shares = controller.split().shares(&fib, &mut node).to_vec();
    near(shares[0], 0.97);
    near(shares[1], 0.03);
}

#[test]
fn a_consumer_gives_way_by_the_cut_once_an_episode() {
    let (mut bench, mut controller) = (Bench::new(), control(&Params::default(), &setup(100)));
    let marked = |bench: &mut Bench, controller: &mut super::Control, value: f64, first| {
        let event = Congestion {
            cause: Cause::Mark,
            bytes: SEGMENT,
            in_flight: controller.allowance().window,
            first,
        };
        controller.on_congestion(&event, &mut bench.cx());
        let mut ack = bench.an_ack(controller);
        (ack.marked, ack.label) = (true, Label([value.to_bits(), 0, 0, 0]));
        bench.deliver_ack(controller, &ack);
        controller.window().0
    };
    near(marked(&mut bench, &mut controller, 0.07, true), 93.0);
    near(marked(&mut bench, &mut controller, 0.1, false), 93.0);
    near(marked(&mut bench, &mut controller, 0.1, true), 83.7);
    bench.ack(&mut controller);
    near(controller.window().0, 83.7 + 1.0 / 83.7);
    bench.congestion(&mut controller, Cause::Loss);
    assert!((controller.window().0 - 41.856).abs() < 0.001, "{}", controller.window().0);
}
