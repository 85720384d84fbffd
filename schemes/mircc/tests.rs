use contract::{
    Admission, Data, Ecn, FaceId, FaceView, Header, Interest, InterestQueueId, InterestQueueView, Label,
    LinkAlgorithm, LinkCx, NackReason, Name, Names, NodeId, Packet, ParamTable, PortId, PortView, Random,
    ReturnPath, Transit,
};
use proptest::prelude::*;
use units::{Bytes, Time};

use super::router::rate::{LinkRate, Measurements, base_rate, beta, excess_rate, full_rate_flows};
use super::*;
use crate::shared::offer;
use crate::shared::testing::Bench;
use contract::CongestionControl;

// ---- what a controller needs to run ----

/// A node whose links carry Data at given rates; two faces of endpoints follow.
struct Node {
    now: Time,
    rates_in: Vec<Rate>,
    random: Random,
    names: Names,
    probes: Vec<(&'static str, f64)>,
}

impl Node {
    fn new(rates_in: &[Rate]) -> Self {
        Self {
            now: Time::ZERO,
            rates_in: rates_in.to_vec(),
            random: Random::new(1, "node", ""),
            names: Names::new(),
            probes: Vec::new(),
        }
    }

    fn probed(&self, series: &str) -> f64 {
        self.probes.iter().rev().find(|(name, _)| *name == series).expect("it was probed").1
    }
}

impl LinkCx for Node {
    fn now(&self) -> Time {
        self.now
    }
    fn random(&mut self) -> &mut Random {
        &mut self.random
    }
    fn names(&self) -> &Names {
        &self.names
    }
    fn faces(&self) -> u32 {
        self.rates_in.len() as u32 + 2
    }
    fn face(&mut self, face: FaceId) -> FaceView {
        let link = self.rates_in.get(face.index()).map(|rate_in| PortView {
            port: PortId(0),
            to: NodeId(9),
            // Interests leave by a link that is slower outwards; C must not be this
            rate: Rate::from_kbps(64),
            rate_in: *rate_in,
            backlog: Default::default(),
            busy: false,
            limit: Default::default(),
        });
        FaceView { face, link, pending: 0 }
    }
    fn interest_queue(&self, _interest_queue: InterestQueueId) -> InterestQueueView {
        InterestQueueView::default()
    }
    fn release(&mut self, _interest_queue: InterestQueueId) -> Option<Bytes> {
        None
    }
    fn refuse(&mut self, _interest_queue: InterestQueueId, _reason: NackReason) -> Option<Bytes> {
        None
    }
    fn probe(&mut self, series: &'static str, value: f64) {
        self.probes.push((series, value));
    }
}

/// 1250 bytes: 1000 packets a second are 10 Mbit/s                                                 [KATO §4.1]
const DATA: Bytes = Bytes::new(1250);
const ACCESS: Rate = Rate::from_mbps(10);
const CORE: Rate = Rate::from_mbps(12);
const UP: FaceId = FaceId(0);
const SETUP: Setup = Setup { segment: DATA, header: Bytes::ZERO, initial_window: DATA };

fn ms(ms: u64) -> Time {
    Time::ZERO + Duration::from_millis(ms)
}

fn node_with(params: &Params, rates_in: &[Rate]) -> (Node, Link) {
    let (mut node, mut controller) = (Node::new(rates_in), link(params, &SETUP));
    controller.on_start(&mut node);
    (node, controller)
}

fn packet(header: Header, label: Label) -> Packet {
    Packet {
        flow: Default::default(),
        size_bytes: 50,
        source: Default::default(),
        to: contract::Destination::own_node(),
        sent_at: Time::ZERO,
        label,
        header,
        ecn: Ecn::NotCapable,
        hops: 0,
        waited: Default::default(),
    }
}

/// An Interest that is to leave by `to`.
fn request(controller: &mut Link, node: &mut Node, to: FaceId) -> Admission {
    let mut interest = packet(
        Header::Interest(Interest { name: Name::default(), nonce: 1, lifetime_ms: 2000 }),
        Label([0; 4]),
    );
    controller.on_interest(
        &mut interest,
        &mut Transit { from: FaceId(9), to, note: 0, interest_label: Label::default() },
        node,
    )
}

/// How many of `count` Interests at once pass.
fn burst(controller: &mut Link, node: &mut Node, count: u32) -> u32 {
    (0..count).filter(|_| request(controller, node, UP) == Admission::Pass).count() as u32
}

/// The label of Data that came in by `from` with `label`.
fn bring(controller: &mut Link, node: &mut Node, from: FaceId, rtt: Option<Duration>, label: Label) -> Label {
    let mut data = packet(Header::Data(Data { name: Name::default(), payload_bytes: 1174 }), label);
    controller.on_data_in(&mut data, &ReturnPath { from, rtt, note: 0, hops: 1 }, node);
    data.label
}

/// What Data from the first link offers, in packets per second.
fn offered(controller: &mut Link, node: &mut Node) -> f64 {
    let label = bring(controller, node, UP, None, Label([0; 4]));
    offer::offered(label).expect("it is stamped").as_bps_f64() / (DATA.as_f64() * 8.0)
}

/// Lets the controller's deadlines pass up to and including `end`.
fn run(controller: &mut Link, node: &mut Node, end: Time) {
    while controller.wake() <= end {
        node.now = controller.wake();
        controller.on_timer(node);
        assert!(controller.wake() > node.now, "a deadline that has passed stays");
    }
    node.now = end;
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-12 * b.abs().max(1e-12)
}

// ---- the equations ----

/// S1-08
#[test]
fn the_number_of_flows_is_the_traffic_or_the_capacity_over_the_rate() {
    for (c, y, r, n) in [
        (1000.0, 900.0, 1000.0, 1.0),
        (1200.0, 1000.0, 600.0, 2.0),
        (1200.0, 1600.0, 800.0, 2.0),
        (1200.0, 1500.0, 1200.0, 1.25),
    ] {
        assert!(close(full_rate_flows(c, y, r), n), "{c} {y} {r}");
    }
}

/// S1-09
#[test]
fn the_base_rate_shares_what_the_queue_leaves() {
    // (1·1200 − 0.1·80/0.4)/2 = (1200 − 20)/2
    assert!(close(base_rate(1.0, 1200.0, 0.1, 80.0, 0.4, 2.0), 590.0));
    // (0.95·1000 − 0.5·100/0.25)/1.5 = (950 − 200)/1.5
    assert!(close(base_rate(0.95, 1000.0, 0.5, 100.0, 0.25, 1.5), 500.0));
    // (1200 − 1·200/0.1)/4 = −200
    assert!(close(base_rate(1.0, 1200.0, 1.0, 200.0, 0.1, 4.0), -200.0));
}

/// S1-10
#[test]
fn beta_is_the_growth_of_traffic_and_never_below_its_floor() {
    assert!(close(beta(0.1, 1600.0, 1000.0), 0.375), "(1600 − 1000)/1600");
    assert!(close(beta(0.1, 1000.0, 950.0), 0.1), "growth of 5 %");
    assert!(close(beta(0.1, 800.0, 1600.0), 0.1), "falling");
    assert!(close(beta(0.1, 700.0, 0.0), 1.0), "the first Interests");
    assert!(close(beta(0.1, 0.0, 700.0), 0.1), "none");
    assert!(close(beta(0.1, 0.0, 0.0), 0.1), "none at all");
}

/// S1-11
#[test]
fn the_excess_rate_is_what_flows_do_not_use() {
    // N = 1200/600 = 2; 600 − 1000/2
    assert!(close(excess_rate(600.0, 1000.0, 2.0), 100.0));
    // N = 1600/800 = 2; 800 − 1600/2
    assert!(close(excess_rate(800.0, 1600.0, 2.0), 0.0));
    assert!(close(excess_rate(1000.0, 0.0, 1.0), 1000.0));
}

/// S1-12
#[test]
fn the_rate_is_the_sum_of_two_averages_of_weight_a_half() {
    let params = Params::default();
    let mut rater = LinkRate::new(1200.0);
    // R = 1200, y = 1600: N = 1600/1200 = 4/3, β = 1, base = (1200 − 1·40/0.4)/(4/3) = 825, excess = 1200 − 1600·3/4 =
    // 0 averages: base (1200 + 825)/2 = 1012.5, excess 0; R = 1012.5
    let found = rater.tick(&params.rule(), &Measurements { capacity: 1200.0, y: 1600.0, q: 40.0, d: 0.4 });
    assert!(close(found.n, 4.0 / 3.0) && close(found.beta, 1.0));
    assert!(close(rater.rate, 1012.5), "{}", rater.rate);
    // R = 1012.5, y = 1080: N = 1200/1012.5 = 32/27, β = 0.1, base = (1200 − 0.1·80/0.4)·27/32 = 995.625,
    // excess = 1012.5 − 1080·27/32 = 101.25; averages 1004.0625 and 50.625
    let found = rater.tick(&params.rule(), &Measurements { capacity: 1200.0, y: 1080.0, q: 80.0, d: 0.4 });
    assert!(close(found.n, 32.0 / 27.0) && close(found.beta, 0.1));
    assert!(close(rater.rate, 1054.6875), "{}", rater.rate);
}

proptest! {
    /// S1-12: with equal weights one average of the sum is the sum of two averages.
    #[test]
    fn one_average_of_the_sum_is_the_same(
        ticks in prop::collection::vec((0.0f64..4000.0, 0.0f64..200.0, 0.05f64..2.0), 1..60),
    ) {
        let params = Params::default();
        let mut rater = LinkRate::new(1200.0);
        let (mut rate, mut y_prev, mut sum) = (1200.0f64, 0.0, 1200.0);
        for (y, q, d) in ticks {
            let n = full_rate_flows(1200.0, y, rate);
            let base = base_rate(1.0, 1200.0, beta(0.1, y, y_prev), q, d, n).max(0.0);
            sum = 0.5 * sum + 0.5 * (base + excess_rate(rate, y, n));
            rate = sum.clamp(12.0, 1200.0);
            y_prev = y;
            rater.tick(&params.rule(), &Measurements { capacity: 1200.0, y, q, d });
            prop_assert!((rater.rate - rate).abs() < 1e-6, "{} {rate}", rater.rate);
        }
    }

    /// Whatever happens, the rate is a number between its bounds.
    #[test]
    fn the_rate_stays_a_number_within_its_bounds(
        ticks in prop::collection::vec((0.0f64..1e9, 0.0f64..1e9, 1e-6f64..100.0), 1..200),
        capped in any::<bool>(),
    ) {
        let params = Params { capped, ..Params::default() };
        let mut rater = LinkRate::new(1000.0);
        for (y, q, d) in ticks {
            rater.tick(&params.rule(), &Measurements { capacity: 1000.0, y, q, d });
            prop_assert!(rater.rate >= 10.0 && rater.rate <= if capped { 1000.0 } else { 1e15 }, "{}", rater.rate);
        }
    }
}

/// S1-10, S1-14: y = 0, and the first tick.
#[test]
fn an_idle_link_offers_its_capacity_and_returns_to_it() {
    let mut rater = LinkRate::new(1000.0);
    rater.tick(&Params::default().rule(), &Measurements { capacity: 1000.0, y: 0.0, q: 0.0, d: 0.4 });
    assert!(close(rater.rate, 1000.0), "N = 1, base = 1000, excess = 1000; capped");
    let mut rater = LinkRate::new(100.0);
    for _ in 0..20 {
        rater.tick(&Params::default().rule(), &Measurements { capacity: 1000.0, y: 0.0, q: 0.0, d: 0.4 });
    }
    assert!(close(rater.rate, 1000.0), "{}", rater.rate);
}

/// S1-43
#[test]
fn without_a_cap_the_rate_of_a_link_that_is_no_bottleneck_grows_without_end() {
    let half = Measurements { capacity: 1000.0, y: 500.0, q: 0.0, d: 0.4 };
    let uncapped = Params { capped: false, weight: 1.0, ..Params::default() };
    let (mut free, mut held) = (LinkRate::new(1000.0), LinkRate::new(1000.0));
    for tick in 1..=20 {
        let before = free.rate;
        free.tick(&uncapped.rule(), &half);
        held.tick(&Params::default().rule(), &half);
        assert!(close(free.rate / before, 1.5), "tick {tick}: 1 + (1 − 500/1000)");
        assert!(close(held.rate, 1000.0), "tick {tick}: R = C");
    }
    assert!(free.rate > 1e6, "{}", free.rate);
    let mut averaged = LinkRate::new(1000.0);
    for _ in 0..40 {
        averaged.tick(&Params { capped: false, ..Params::default() }.rule(), &half);
    }
    assert!(averaged.rate > 1e4, "{}", averaged.rate);
}

#[test]
fn a_queue_that_is_long_for_its_round_trip_leaves_the_minimum_rate() {
    let mut rater = LinkRate::new(1000.0);
    for _ in 0..60 {
        // βq/d = 0.1·200/0.01 = 2000, above C
        rater.tick(
            &Params::default().rule(),
            &Measurements { capacity: 1000.0, y: 1000.0, q: 200.0, d: 0.01 },
        );
    }
    assert!(close(rater.rate, 10.0), "1 % of C: {}", rater.rate);
}

// ---- policing and counting ----

/// S1-18
#[test]
fn a_burst_of_250_on_an_empty_bucket_passes_exactly_200() {
    let (mut node, mut controller) = node_with(&Params::default(), &[ACCESS]);
    assert_eq!(burst(&mut controller, &mut node, 250), 200);
    assert_eq!(request(&mut controller, &mut node, UP), Admission::Drop);
    node.now = ms(10);
    assert_eq!(burst(&mut controller, &mut node, 250), 10, "the bucket drains 1000 packets a second");
    node.now = ms(400);
    assert_eq!(burst(&mut controller, &mut node, 250), 200, "never below empty");
}

#[test]
fn interests_are_refused_where_that_is_chosen_and_pass_where_there_is_no_limit() {
    let params = Params { policing: Policing::Nack, depth: 1, ..Params::default() };
    let (mut node, mut controller) = node_with(&params, &[ACCESS]);
    assert_eq!(request(&mut controller, &mut node, UP), Admission::Pass);
    assert_eq!(request(&mut controller, &mut node, UP), Admission::Refuse(NackReason::Congestion));
    let (mut node, mut controller) = node_with(&Params { depth: 0, ..Params::default() }, &[ACCESS]);
    assert_eq!(burst(&mut controller, &mut node, 5000), 5000);
    run(&mut controller, &mut node, ms(100));
    assert!(close(node.probed("inflated_queue"), 4900.0), "5000 less 100 ms at 1000 packets a second");
}

/// S1-41
#[test]
fn a_coarse_clock_lets_no_more_through_than_a_bucket_a_tick() {
    for (tick_ms, passed) in [(100, 100.0), (250, 200.0), (500, 200.0), (750, 200.0)] {
        let (mut node, mut controller) = node_with(&Params::default(), &[ACCESS]);
        for tick in 1..=8 {
            run(&mut controller, &mut node, ms(tick_ms * tick));
            assert_eq!(
                f64::from(burst(&mut controller, &mut node, tick_ms as u32)),
                passed,
                "{tick_ms} ms, tick {tick}"
            );
        }
    }
}

#[test]
fn a_steady_rate_of_c_passes_for_ever_and_links_have_buckets_of_their_own() {
    let (mut node, mut controller) = node_with(&Params::default(), &[ACCESS, CORE]);
    for i in 0..20_000u64 {
        run(&mut controller, &mut node, ms(i));
        assert_eq!(request(&mut controller, &mut node, UP), Admission::Pass, "{i}");
    }
    assert_eq!(
        (0..250).filter(|_| request(&mut controller, &mut node, FaceId(1)) == Admission::Pass).count(),
        200
    );
}

/// S1-14
#[test]
fn interests_are_counted_before_policing_or_after() {
    for (counting, y) in [(Counting::Received, 2500.0), (Counting::Passed, 2000.0)] {
        let (mut node, mut controller) = node_with(&Params { counting, ..Params::default() }, &[ACCESS]);
        burst(&mut controller, &mut node, 250);
        run(&mut controller, &mut node, ms(100));
        assert!(close(node.probed("interest_rate"), y), "{counting:?}: over 0.1 s");
        assert!(close(node.probed("inflated_queue"), 100.0), "200 less 100 ms at 1000 packets a second");
        assert!(close(node.probed("target_utilisation"), 1.0));
        run(&mut controller, &mut node, ms(200));
        assert!(close(node.probed("interest_rate"), 0.0), "counting starts again");
    }
}

/// S1-17
#[test]
fn the_rate_is_worked_out_every_interval_and_at_no_other_time() {
    for (interval_ms, phase_ms, ticks) in [(100, 0, 10), (250, 0, 4), (750, 0, 1), (250, 40, 4)] {
        let params = Params {
            interval: Duration::from_millis(interval_ms),
            phase: Duration::from_millis(phase_ms),
            ..Params::default()
        };
        let (mut node, mut controller) = node_with(&params, &[ACCESS]);
        let first = if phase_ms > 0 { phase_ms } else { interval_ms };
        assert_eq!(controller.wake(), ms(first));
        controller.on_timer(&mut node);
        assert_eq!(node.probes.len(), 0, "an early call is no tick");
        run(&mut controller, &mut node, ms(1000));
        assert_eq!(node.probes.iter().filter(|(name, _)| *name == "beta").count(), ticks);
        assert!(close(node.probed("rate_interval"), params.interval.as_secs_f64()));
    }
}

// ---- stamping ----

/// S1-06
#[test]
fn ten_megabits_are_a_thousand_packets_of_1250_bytes() {
    for (rate, packets) in [(ACCESS, 1000.0), (CORE, 1200.0)] {
        let (mut node, mut controller) = node_with(&Params::default(), &[rate]);
        run(&mut controller, &mut node, ms(100));
        assert!(close(node.probed("upstream_capacity"), packets));
        assert!(close(offered(&mut controller, &mut node), packets), "an idle link offers its capacity");
    }
}

#[test]
fn the_offer_follows_the_rate_at_each_tick_only() {
    let (mut node, mut controller) = node_with(&Params::default(), &[CORE]);
    burst(&mut controller, &mut node, 160);
    assert!(close(offered(&mut controller, &mut node), 1200.0));
    run(&mut controller, &mut node, ms(100));
    // y = 1600, q = 160 − 120 = 40, d = 0.4: as computed above
    assert!(close(offered(&mut controller, &mut node), 1012.5), "{}", offered(&mut controller, &mut node));
    assert!(close(node.probed("stamping_rate"), 1012.5));
    assert!(close(node.probed("full_rate_flows"), 4.0 / 3.0));
    assert!(close(node.probed("beta"), 1.0));
}

proptest! {
    /// S1-13: at the end of a path Data has the minimum of the rates that the links offered when it passed.
    #[test]
    fn data_carries_the_minimum_rate_of_its_path(
        path in prop::collection::vec((1_000u64..1_000_000_000, 0u32..400), 1..8),
    ) {
        let (mut label, mut min) = (Label([0; 4]), f64::INFINITY);
        for (bps, interests) in path {
            let (mut node, mut controller) = node_with(&Params::default(), &[ACCESS, Rate::from_bps(bps)]);
            for _ in 0..interests {
                request(&mut controller, &mut node, FaceId(1));
            }
            run(&mut controller, &mut node, ms(300));
            let own = bring(&mut controller, &mut node, FaceId(1), None, Label([0; 4]));
            min = min.min(offer::offered(own).expect("stamped").as_bps_f64());
            label = bring(&mut controller, &mut node, FaceId(1), None, label);
            prop_assert_eq!(offer::offered(label).expect("stamped").as_bps_f64(), min);
        }
    }

    /// Any label can be read; what is not ours is no offer, and is replaced.
    #[test]
    fn foreign_labels_are_no_offers(words in any::<[u64; 4]>()) {
        let mut label = Label(words);
        prop_assert_eq!(offer::offered(label).is_some(), words[0] != 0 && words[1..] == [0; 3]);
        offer::stamp(&mut label, ACCESS);
        let offer = offer::offered(label).expect("stamped");
        prop_assert!(offer <= ACCESS && offer > Rate::ZERO);
    }
}

#[test]
fn the_round_trip_time_of_a_link_is_smoothed_from_its_first_sample() {
    let (mut node, mut controller) = node_with(&Params::default(), &[ACCESS, CORE]);
    request(&mut controller, &mut node, UP);
    run(&mut controller, &mut node, ms(100));
    assert!(close(node.probed("upstream_rtt"), 0.4), "before the first sample");
    bring(&mut controller, &mut node, UP, Some(Duration::from_millis(300)), Label([0; 4]));
    bring(&mut controller, &mut node, UP, Some(Duration::from_millis(500)), Label([0; 4]));
    bring(&mut controller, &mut node, UP, None, Label([0; 4]));
    bring(&mut controller, &mut node, FaceId(1), Some(Duration::from_secs(9)), Label([0; 4]));
    run(&mut controller, &mut node, ms(200));
    assert!(close(node.probed("upstream_rtt"), 0.32), "0.3 + 0.1·(0.5 − 0.3)");
}

#[test]
fn what_is_shown_is_the_link_with_the_maximum_demand() {
    let (mut node, mut controller) = node_with(&Params::default(), &[ACCESS, CORE]);
    run(&mut controller, &mut node, ms(100));
    assert!(close(node.probed("upstream_capacity"), 1000.0), "of equals the first");
    request(&mut controller, &mut node, FaceId(1));
    run(&mut controller, &mut node, ms(200));
    assert!(close(node.probed("upstream_capacity"), 1200.0));
    assert_eq!(node.probes.len(), 18, "nine quantities a tick");
}

#[test]
fn a_link_without_a_rate_and_one_without_a_limit_are_no_trouble() {
    let (mut node, mut controller) = node_with(&Params::default(), &[Rate::ZERO, Rate::UNLIMITED]);
    for i in 1..50 {
        run(&mut controller, &mut node, ms(100 * i));
        request(&mut controller, &mut node, UP);
        assert_eq!(request(&mut controller, &mut node, FaceId(1)), Admission::Pass);
        let slow = bring(&mut controller, &mut node, UP, None, Label([0; 4]));
        let fast = bring(&mut controller, &mut node, FaceId(1), None, Label([0; 4]));
        assert_eq!(offer::offered(slow), Some(Rate::from_bps(1)));
        assert!(offer::offered(fast) > Some(Rate::from_mbps(1_000_000)), "{fast:?}");
    }
}

// ---- the consumer ----

#[test]
fn a_consumer_asks_at_the_rate_of_its_last_data() {
    let (mut bench, mut controller) = (Bench::new(), control(&Params::default(), &SETUP));
    controller.on_access(ACCESS);
    assert_eq!(
        controller.allowance(),
        contract::Allowance::rate(ACCESS),
        "it starts at the rate of its link"
    );
    for (label, rate) in [
        (Label([6_000_000, 0, 0, 0]), 6_000_000),
        (Label([0; 4]), 6_000_000),
        (Label([9_000_000, 0, 0, 0]), 9_000_000),
        (Label([1, 2, 3, 4]), 9_000_000),
    ] {
        let ack = contract::Ack { label, ..bench.an_ack(&controller) };
        bench.deliver_ack(&mut controller, &ack);
        assert_eq!(controller.allowance(), contract::Allowance::rate(Rate::from_bps(rate)), "{label:?}");
    }
    bench.congestion(&mut controller, contract::Cause::Timeout);
    bench.congestion(&mut controller, contract::Cause::Refused);
    assert_eq!(controller.allowance().rate, Rate::from_bps(9_000_000), "losses say nothing");
}

#[test]
fn a_consumer_starts_at_the_rate_it_is_given() {
    let given = [("initial_rate".to_owned(), "1 Mbit/s".into())];
    let mut controller = control(&Params::with(&given).expect("in range"), &SETUP);
    controller.on_access(ACCESS);
    assert_eq!(controller.allowance().rate, Rate::from_mbps(1));
}
