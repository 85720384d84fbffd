//! Consumers with a minimal network: packets, times, and the input of the congestion control. Times are in
//! milliseconds.

use std::collections::BTreeMap;

use contract::{Cause, Nack, NackReason};
use proptest::prelude::*;

use super::*;
use crate::ndn::{Pattern, Timeout};
use crate::testing::{Bench, FLOW, ME, OTHER};

const PREFIX: NameId = NameId(3);
const PAYLOAD: u64 = 1024;
const DATA: u64 = 1100;

fn at(millis: f64) -> Time {
    Time::ZERO + Duration::from_secs_f64(millis / 1e3)
}

fn span(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn config() -> ConsumerConfig {
    ConsumerConfig::with_controller(PREFIX, Bytes::new(PAYLOAD))
}

/// Inputs of a controller.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Observed {
    /// Whether there was a sample, the data in flight, whether a mark arrived, whether the round ended.
    Ack {
        rtt: Option<u64>,
        in_flight: u64,
        marked: bool,
        ended: bool,
    },
    Congestion {
        cause: Cause,
        in_flight: u64,
        first: bool,
    },
}

/// A test controller: a constant rate, or a window that grows by `step` per Data and is halved at the first event of an
/// episode.
#[derive(Clone, Debug)]
struct Controller {
    window: f64,
    step: f64,
    rate: Rate,
    /// A timeout of the controller itself, halved after each Data.
    timer: Option<Duration>,
    observed: Vec<Observed>,
    sent: Vec<(u64, bool)>,
    app_limited: Vec<bool>,
}

impl Controller {
    fn window(window: f64) -> Self {
        Self {
            window,
            step: 0.0,
            rate: Rate::UNLIMITED,
            timer: None,
            observed: Vec::new(),
            sent: Vec::new(),
            app_limited: Vec::new(),
        }
    }

    /// This number of Data per second.
    fn rate(per_second: u64) -> Self {
        Self { rate: Rate::from_bps(per_second * DATA * 8), ..Self::window(1e6) }
    }

    fn episodes(&self) -> Vec<(Cause, bool)> {
        let of = |observed: &Observed| match *observed {
            Observed::Congestion { cause, first, .. } => Some((cause, first)),
            Observed::Ack { .. } => None,
        };
        self.observed.iter().filter_map(of).collect()
    }
}

impl CongestionControl for Controller {
    fn on_ack(&mut self, ack: &Ack, _cx: &mut Cx<'_>) {
        assert_eq!((ack.bytes, ack.packets), (Bytes::new(DATA), 1));
        if !ack.marked {
            self.window += self.step;
        }
        self.timer = self.timer.map(|timer| timer / 2);
        let rtt = ack.rtt.map(|rtt| rtt.as_nanos() / 1_000_000);
        let in_flight = ack.in_flight.as_u64() / DATA;
        self.observed.push(Observed::Ack { rtt, in_flight, marked: ack.marked, ended: ack.round_ended });
        self.app_limited.push(ack.app_limited);
    }

    fn on_congestion(&mut self, event: &Congestion, _cx: &mut Cx<'_>) {
        if event.first && self.rate == Rate::UNLIMITED {
            self.window = (self.window / 2.0).max(1.0);
        }
        let in_flight = event.in_flight.as_u64() / DATA;
        self.observed.push(Observed::Congestion { cause: event.cause, in_flight, first: event.first });
    }

    fn allowance(&self) -> Allowance {
        Allowance { window: Bytes::new((self.window * DATA as f64) as u64), rate: self.rate }
    }

    fn timeout(&self) -> Option<Duration> {
        self.timer
    }

    fn on_sent(&mut self, sent: &Sent, _cx: &mut Cx<'_>) {
        self.sent.push((sent.in_flight.as_u64() / DATA, sent.retransmission));
    }
}

/// The network's reply to an Interest, and its delay in milliseconds.
#[derive(Clone, Copy, Debug)]
enum Answer {
    Data(f64),
    Marked(f64),
    Nack(f64, NackReason),
    /// Data, and a copy of it later.
    Twice(f64, f64),
    Nothing,
}

/// A consumer and a network with a given reply to the n-th Interest, from 0.
struct Net<F> {
    bench: Bench,
    consumer: Consumer<Controller>,
    answer: F,
    /// By time and number.
    coming: BTreeMap<(Time, u64), Packet>,
    numbers: u64,
    /// Time, segment and nonce.
    sent: Vec<(Time, u64, u32)>,
}

impl<F: FnMut(usize, u64) -> Answer> Net<F> {
    fn new(config: &ConsumerConfig, controller: Controller, answer: F) -> Self {
        let consumer = Consumer::new(config, controller);
        let mut bench = Bench::new(1);
        bench.out.notes.probing = true;
        Self { bench, consumer, answer, coming: BTreeMap::new(), numbers: 0, sent: Vec::new() }
    }

    /// Starts it and runs it up to and including `end`.
    fn run(config: &ConsumerConfig, controller: Controller, end: f64, answer: F) -> Self {
        let mut net = Self::new(config, controller, answer);
        net.input(Input::Start);
        net.until(end);
        net
    }

    fn input(&mut self, input: Input<'_>) {
        self.bench.input(&mut self.consumer, input);
        self.take();
    }

    fn take(&mut self) {
        let now = self.bench.now;
        for packet in self.bench.sent() {
            let Header::Interest(interest) = packet.header else { panic!("{packet:?}") };
            assert!(packet.to.is_own_node());
            assert_eq!(interest.name.prefix, PREFIX);
            assert_eq!(interest.lifetime(), span(2000));
            let n = self.sent.len();
            self.sent.push((now, interest.name.segment, interest.nonce));
            let name = interest.name;
            let data = Header::Data(Data { name, payload_bytes: PAYLOAD as u32 });
            match (self.answer)(n, name.segment) {
                Answer::Data(after) => self.come(after, data, Ecn::Capable),
                Answer::Marked(after) => self.come(after, data, Ecn::Marked),
                Answer::Twice(after, later) => {
                    self.come(after, data, Ecn::Capable);
                    self.come(later, data, Ecn::Capable);
                }
                Answer::Nack(after, reason) => {
                    let nack = Nack { name, nonce: interest.nonce, reason };
                    self.come(after, Header::Nack(nack), Ecn::NotCapable);
                }
                Answer::Nothing => {}
            }
        }
    }

    fn come(&mut self, after: f64, header: Header, ecn: Ecn) {
        let when = self.bench.now + Duration::from_secs_f64(after / 1e3);
        self.numbers += 1;
        self.coming.insert((when, self.numbers), packet(header, ecn));
    }

    fn until(&mut self, end: f64) {
        let end = at(end);
        loop {
            let arrives = self.coming.first_key_value().map_or(Time::NEVER, |(key, _)| key.0);
            let wakes = self.consumer.wake();
            let next = arrives.min(wakes);
            if next > end {
                break;
            }
            self.bench.now = self.bench.now.max(next);
            if arrives <= wakes {
                let (_, packet) = self.coming.pop_first().expect("there is one");
                self.input(Input::Packet(&packet));
            } else {
                self.input(Input::Timer);
            }
        }
        self.bench.now = end;
    }

    /// Segments that left, with their times in milliseconds.
    fn departures(&self) -> Vec<(u64, f64)> {
        self.sent.iter().map(|(time, segment, _)| (*segment, time.as_nanos() as f64 / 1e6)).collect()
    }

    fn times(&self) -> Vec<f64> {
        self.departures().into_iter().map(|(_, time)| time).collect()
    }

    fn count(&self, what: Count) -> u64 {
        self.bench.meter.count(what)
    }
}

fn packet(header: Header, ecn: Ecn) -> Packet {
    let label = Label([7, 0, 0, 0]);
    let (size_bytes, sent_at, hops) = (DATA as u32, Time::ZERO, 0);
    Packet {
        flow: FLOW,
        size_bytes,
        source: OTHER,
        to: ME.into(),
        sent_at,
        label,
        header,
        ecn,
        hops,
        waited: Default::default(),
    }
}

fn quick(_: usize, _: u64) -> Answer {
    Answer::Data(10.0)
}

// ---- window

#[test]
fn a_window_holds_whole_data_packets() {
    let net = Net::run(&config(), Controller::window(2.9), 25.0, quick);
    let expected = [(0, 0.0), (1, 0.0), (2, 10.0), (3, 10.0), (4, 20.0), (5, 20.0)];
    assert_eq!(net.departures(), expected);
    assert_eq!(net.consumer.in_flight(), 2);
    assert_eq!(net.bench.meter.goodput_bytes, 4 * PAYLOAD);
    let sent: Vec<u64> = net.consumer.controller.sent.iter().map(|sent| sent.0).collect();
    assert_eq!(sent, [1, 2, 2, 2, 2, 2]);
}

/// Two in flight; the Data of a segment sent after the last round ended ends the next one.
#[test]
fn the_controller_receives_samples_flights_and_rounds() {
    let net = Net::run(&config(), Controller::window(2.0), 25.0, quick);
    let ack = |ended| Observed::Ack { rtt: Some(10), in_flight: 2, marked: false, ended };
    assert_eq!(net.consumer.controller.observed, [ack(true), ack(false), ack(true), ack(false)]);
    assert!(net.consumer.controller.app_limited.iter().all(|limited| !limited));
}

/// W = 1 at first and 1 more per Data: after three round trips 8 Interests are in flight.
#[test]
fn a_window_that_grows_by_one_per_data_doubles_each_round_trip() {
    let net = Net::run(&config(), Controller { step: 1.0, ..Controller::window(1.0) }, 35.0, quick);
    let times: Vec<f64> = net.times();
    let of = |time: f64| times.iter().filter(|at| **at == time).count();
    assert_eq!([of(0.0), of(10.0), of(20.0), of(30.0)], [1, 2, 4, 8]);
}

#[test]
fn a_finite_size_ends_with_its_last_data() {
    let config = ConsumerConfig { size: Bytes::new(3 * PAYLOAD - 1), ..config() };
    let net = Net::run(&config, Controller::window(2.0), 100.0, quick);
    assert_eq!(net.departures(), [(0, 0.0), (1, 0.0), (2, 10.0)]);
    assert_eq!(net.bench.meter.completed_at, at(20.0));
    assert_eq!(net.consumer.wake(), Time::NEVER);
    assert_eq!(net.consumer.controller.app_limited, [false, false, true]);
}

#[test]
fn batches_leave_together_and_wait_for_each_other() {
    let config = ConsumerConfig { pattern: Pattern::Batches { size: 3, every: span(100) }, ..config() };
    let net = Net::run(&config, Controller::window(10.0), 150.0, quick);
    assert_eq!(net.times(), [0.0, 0.0, 0.0, 100.0, 100.0, 100.0]);
}

#[test]
fn nothing_leaves_before_the_start_or_after_the_stop() {
    let mut net = Net::new(&config(), Controller::window(2.0), quick);
    assert_eq!(net.consumer.wake(), Time::NEVER);
    net.input(Input::Start);
    net.until(5.0);
    net.input(Input::Stop);
    net.until(100.0);
    assert_eq!(net.sent.len(), 2);
    assert_eq!(net.bench.meter.goodput_bytes, 0);
    assert_eq!(net.consumer.wake(), Time::NEVER);
}

// ---- rate

/// 10 000-bit Data [S1 §1]: 10 Gbit/s is an Interest each 1 µs, 5 Gbit/s each 2 µs, 3 Gbit/s each 3.33 µs.
#[test]
fn interests_are_spaced_by_the_time_of_their_data() {
    for (gbps, nanos) in [(10, [1000, 2000, 3000]), (5, [2000, 4000, 6000]), (3, [3333, 6666, 10_000])] {
        let config = ConsumerConfig { data: Bytes::new(1250), ..config() };
        let rate = Rate::from_mbps(gbps * 1000);
        let mut bench = Bench::new(1);
        let mut consumer = Consumer::new(&config, Steady(rate));
        bench.input(&mut consumer, Input::Start);
        let times: Vec<u64> = (0..3)
            .map(|_| {
                let wake = consumer.wake();
                bench.now = wake;
                bench.input(&mut consumer, Input::Timer);
                wake.as_nanos()
            })
            .collect();
        assert_eq!(times, nanos, "{gbps} Gbit/s");
        assert_eq!(bench.sent().len(), 4);
    }
}

/// 500 per second from 2 ms on, answered after 63.6 ms, until just before 100 s: 49 999 Interests were sent, and the
/// last that was answered left at 99.936 s.
#[test]
fn a_steady_consumer_receives_after_one_round_trip() {
    let config = ConsumerConfig { retries: 0, ..config() };
    let mut net = Net::new(&config, Controller::rate(500), |_, _| Answer::Data(63.6));
    net.bench.now = at(2.0);
    net.input(Input::Start);
    net.until(99_999.9);
    assert_eq!(net.sent.len(), 49_999);
    assert_eq!(net.bench.meter.goodput_bytes, 49_968 * PAYLOAD);
    assert!(net.consumer.waiting.capacity() <= 33, "{} places", net.consumer.waiting.capacity());
}

#[test]
fn a_new_rate_takes_effect_at_the_next_interest() {
    let mut net = Net::new(&config(), Controller::rate(100), |_, _| Answer::Data(15.0));
    net.input(Input::Start);
    net.until(12.0);
    net.consumer.controller.rate = Rate::from_bps(1000 * DATA * 8);
    net.until(23.0);
    // Data at 15 ms permits it; the Interest of 20 ms was due already
    assert_eq!(net.times(), [0.0, 10.0, 20.0, 21.0, 22.0, 23.0]);
}

#[test]
fn a_rate_of_zero_waits_for_another() {
    let mut net = Net::new(&config(), Controller::rate(100), |_, _| Answer::Data(15.0));
    net.input(Input::Start);
    net.until(12.0);
    net.consumer.controller.rate = Rate::ZERO;
    net.until(22.0);
    net.consumer.controller.rate = Rate::from_bps(1000 * DATA * 8);
    net.until(27.0);
    assert_eq!(net.times(), [0.0, 10.0, 25.0, 26.0, 27.0]);
}

#[test]
fn exponential_gaps_have_the_mean_of_the_rate() {
    let config = ConsumerConfig { gaps: Gaps::Exponential, ..config() };
    let net = Net::run(&config, Controller::rate(1000), 20_000.0, quick);
    let n = net.sent.len();
    assert!((19_500..20_500).contains(&n), "{n}");
    let short = net.times().windows(2).filter(|pair| pair[1] - pair[0] < 0.5).count() as f64;
    // 1 − e^−½ = 0.393 of them are shorter than half the mean
    assert!((short / n as f64 - 0.393).abs() < 0.02, "{short} of {n}");
}

// ---- jitter and coarse clock

/// 100 per second, each delayed by up to 8 ms: all in order, none early, long delays as frequent as short ones.
#[test]
fn jitter_delays_interests_by_chance() {
    let config = ConsumerConfig { jitter: span(8), ..config() };
    let net = Net::run(&config, Controller::rate(100), 9_995.0, quick);
    let late: Vec<f64> =
        net.departures().iter().map(|&(segment, time)| time - 10.0 * segment as f64).collect();
    assert_eq!(late.len(), 1000, "none is lost");
    assert!(late.iter().all(|late| (-1e-6..=8.0).contains(late)), "{late:?}");
    for (from, to) in [(0.0, 2.0), (2.0, 4.0), (4.0, 6.0), (6.0, 8.0)] {
        let count = late.iter().filter(|late| (from..to).contains(*late)).count();
        // 250 ± 4 standard deviations of √(1000·¼·¾)
        assert!((195..=305).contains(&count), "{count} between {from} and {to} ms");
    }
    // delays start when Interests leave
    assert_eq!((net.bench.meter.media().delay_min, net.bench.meter.media().delay_max), (span(10), span(10)));
}

#[test]
fn what_is_generated_while_jitter_lasts_leaves_with_the_first() {
    let config = ConsumerConfig { jitter: span(50), ..config() };
    let net = Net::run(&config, Controller::rate(1000), 1_000.0, quick);
    let mut left: Vec<(f64, Vec<u64>)> = Vec::new();
    for (segment, time) in net.departures() {
        match left.last_mut() {
            Some((same, together)) if *same == time => together.push(segment),
            _ => left.push((time, vec![segment])),
        }
    }
    let all: Vec<u64> = left.iter().flat_map(|(_, segments)| segments.clone()).collect();
    assert_eq!(all, (0..all.len() as u64).collect::<Vec<_>>(), "in their order");
    for (time, segments) in &left {
        let (first, last) = (segments[0] as f64, segments[segments.len() - 1] as f64);
        assert!(*time >= last - 1e-6 && *time < last + 1.0 && *time <= first + 50.0, "{time}: {segments:?}");
    }
    // the mean delay of the first is half of 50 ms: about forty departures in a second
    assert!((25..=60).contains(&left.len()), "{}", left.len());
}

fn coarse(tick: u64, phase: u64) -> ConsumerConfig {
    ConsumerConfig { tick: span(tick), tick_phase: span(phase), ..config() }
}

/// [S1 §3.2, Figure 1]: 100 per second for 95 ms, a clock of 40 ms: the Interests of 0 leave at 0, of 10 … 40 at 40, of
/// 50 … 80 at 80.
#[test]
fn a_coarse_clock_releases_interests_at_its_ticks() {
    let net = Net::run(&coarse(40, 0), Controller::rate(100), 95.0, quick);
    let expected =
        [(0, 0.0), (1, 40.0), (2, 40.0), (3, 40.0), (4, 40.0), (5, 80.0), (6, 80.0), (7, 80.0), (8, 80.0)];
    assert_eq!(net.departures(), expected);
    // the Interest of 90 ms is held
    assert_eq!(net.consumer.waiting.count(SegmentQueue::Held), 1);
    assert_eq!(net.bench.values("generated"), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0]);
}

#[test]
fn ticks_of_a_clock_may_have_a_phase() {
    let net = Net::run(&coarse(40, 15), Controller::rate(100), 95.0, quick);
    let expected: Vec<f64> = vec![15.0, 15.0, 55.0, 55.0, 55.0, 55.0, 95.0, 95.0, 95.0, 95.0];
    assert_eq!(net.times(), expected);
}

/// A window-based controller with a coarse clock: held Interests count as in flight, and Data permits others at the
/// next tick.
#[test]
fn a_coarse_clock_holds_what_a_window_permits() {
    let net = Net::run(&coarse(25, 0), Controller::window(3.0), 55.0, quick);
    let expected =
        [(0, 0.0), (1, 0.0), (2, 0.0), (3, 25.0), (4, 25.0), (5, 25.0), (6, 50.0), (7, 50.0), (8, 50.0)];
    assert_eq!(net.departures(), expected);
    // timers and delays run from the departure, not from when it was generated
    assert_eq!(net.bench.meter.media().delay_max, span(10));
    assert_eq!((net.bench.meter.rtt_count, net.bench.meter.rtt_min), (6, span(10)));
}

/// A retransmission is held as well; Data of the first Interest in the meantime makes it needless.
#[test]
fn data_that_comes_while_a_retransmission_is_held_ends_it() {
    let timeout = Timeout { initial: span(110), min: span(110), scan: Duration::ZERO, ..Timeout::DEFAULT };
    let config = ConsumerConfig { timeout, size: Bytes::new(PAYLOAD), ..coarse(100, 0) };
    let net = Net::run(&config, Controller::window(1.0), 1000.0, |_, _| Answer::Data(150.0));
    // expired at 110, held for 200, answered at 150
    assert_eq!(net.departures(), [(0, 0.0)]);
    assert_eq!((net.count(Count::Timeouts), net.count(Count::Retransmits)), (1, 0));
    assert_eq!(net.bench.meter.completed_at, at(150.0));
    assert_eq!(net.consumer.in_flight(), 0);
    assert_eq!(net.bench.values("generated"), [1.0, 2.0]);
}

proptest! {
    /// [S1 §3.2]: with every rate and clock, Interests leave at ticks only, in order, none is lost, none waits for a
    /// second tick.
    #[test]
    fn a_coarse_clock_conserves_count_and_order(rate in 20u64..2000, tick in 1u64..300, phase in 0.0..1.0f64) {
        let phase = (tick as f64 * phase) as u64;
        let net = Net::run(&coarse(tick, phase), Controller::rate(rate), 1000.0, quick);
        let (held, mut last) = (net.consumer.waiting.count(SegmentQueue::Held) as usize, 0.0);
        for (n, (segment, time)) in net.departures().into_iter().enumerate() {
            prop_assert_eq!(segment, n as u64);
            prop_assert_eq!((time as u64 + 10 * tick - phase) % tick, 0);
            let generated = n as f64 * 1000.0 / rate as f64;
            prop_assert!(time >= generated - 1e-3 && time < generated + tick as f64 + 1e-3);
            prop_assert!(time >= last);
            last = time;
        }
        let generated = (1000 * rate).div_euclid(1000) as usize + 1;
        prop_assert!((net.sent.len() + held).abs_diff(generated) <= 1);
        prop_assert_eq!(net.bench.values("generated").len(), net.sent.len() + held);
    }
}

// ---- timeouts

/// Initial timeout 1 s, checked each 50 ms: segment 1, sent at 0, is retransmitted at 1 s.
fn lost(which: &'static [usize]) -> impl FnMut(usize, u64) -> Answer {
    move |n, _| if which.contains(&n) { Answer::Nothing } else { Answer::Data(10.0) }
}

/// Two Interests at 0, the second is lost. The sample of 10 ms makes the timeout max(200, 10 + 20) = 200 ms: it expires
/// at 200 ms. Other Data has arrived by then, so it is a loss; the window is halved. k is then 2 until the next sample.
#[test]
fn expired_interests_are_retransmitted_first_with_a_new_nonce() {
    let config = ConsumerConfig { size: Bytes::new(60 * PAYLOAD), ..config() };
    let net = Net::run(&config, Controller::window(2.0), 1000.0, lost(&[1]));
    let retransmission: Vec<(Time, u64, u32)> = net.sent.iter().filter(|sent| sent.1 == 1).copied().collect();
    assert_eq!(retransmission.iter().map(|sent| sent.0).collect::<Vec<_>>(), [at(0.0), at(210.0)]);
    assert_ne!(retransmission[0].2, retransmission[1].2);
    assert_eq!(
        (net.count(Count::Timeouts), net.count(Count::Retransmits), net.count(Count::Episodes)),
        (1, 1, 1)
    );
    assert_eq!(net.consumer.controller.episodes(), [(Cause::Loss, true)]);
    // from the first Interest, and no sample for the second
    assert_eq!(net.bench.meter.media().delay_max, span(220));
    assert_eq!(net.bench.meter.media().delay_count, 60);
    assert_eq!(net.bench.meter.rtt_count, 59);
    assert_eq!(net.bench.meter.rtt_sum_ns, 59 * 10_000_000);
    assert!(net.bench.meter.completed_at < Time::NEVER);
}

/// The mean delay and its deviation: 0, 1 answered after 10 ms, 2 after its second Interest 210 ms after the first.
/// [ndnsieve §6.1: delay is counted from the first Interest]
#[test]
fn the_delay_of_a_segment_runs_from_its_first_interest() {
    let config = ConsumerConfig { size: Bytes::new(3 * PAYLOAD), ..config() };
    let net = Net::run(&config, Controller::window(3.0), 1000.0, lost(&[2]));
    let meter = &net.bench.meter;
    assert_eq!((meter.media().delay_count, meter.media().delay_sum_ns), (3, 230_000_000));
    assert_eq!(meter.media().delay_square_sum_ns2, 2 * 10_000_000u128.pow(2) + 210_000_000u128.pow(2));
    assert_eq!((meter.media().delay_min, meter.media().delay_max), (span(10), span(210)));
}

#[test]
fn exact_timers_expire_to_the_nanosecond() {
    let timeout = Timeout { scan: Duration::ZERO, initial: span(333), ..Timeout::DEFAULT };
    let config = ConsumerConfig { timeout, size: Bytes::new(PAYLOAD), ..config() };
    let net = Net::run(&config, Controller::window(1.0), 3000.0, |n, _| {
        if n < 3 { Answer::Nothing } else { Answer::Data(1.0) }
    });
    // 333, then 2·333 and 4·333 later
    assert_eq!(net.times(), [0.0, 333.0, 999.0, 2331.0]);
    assert_eq!(
        net.consumer.controller.episodes(),
        [(Cause::Timeout, true), (Cause::Timeout, false), (Cause::Timeout, false)]
    );
}

/// 160 ms, halved by each of the two Data: the third segment has expired at 40 ms, and is retransmitted each 40 ms,
/// without backoff.
#[test]
fn a_controller_with_a_timer_of_its_own_is_obeyed_at_once_and_to_the_nanosecond() {
    let config = ConsumerConfig { size: Bytes::new(3 * PAYLOAD), ..config() };
    let controller = Controller { timer: Some(span(160)), ..Controller::window(3.0) };
    let net = Net::run(&config, controller, 1000.0, lost(&[2, 3]));
    assert_eq!(net.departures(), [(0, 0.0), (1, 0.0), (2, 0.0), (2, 40.0), (2, 80.0)]);
    assert_eq!(net.bench.meter.media().delay_max, span(90));
}

/// Silence differs from loss: no Data has arrived since the Interest left.
#[test]
fn without_data_an_expiry_is_a_timeout() {
    let net = Net::run(&config(), Controller::window(2.0), 1025.0, |n, _| {
        if n < 20 { Answer::Data(10.0) } else { Answer::Nothing }
    });
    // 20 answered by 100 ms; the two of 100 ms expire at 300 ms
    assert_eq!(net.consumer.controller.episodes()[..2], [(Cause::Timeout, true), (Cause::Timeout, false)]);
    assert_eq!(net.count(Count::Timeouts), 2);
    // k = 4 after two expiries: the next check with an expiry is at 300 + 4·200 = 1100 ms. The window permits one
    // Interest
    assert_eq!(net.departures()[20..], [(20, 100.0), (21, 100.0), (20, 300.0)]);
}

#[test]
fn a_segment_is_abandoned_after_the_maximum_of_retries() {
    let timeout = Timeout { initial: span(100), min: span(100), backoff: 1, ..Timeout::DEFAULT };
    let config = ConsumerConfig { retries: 2, timeout, size: Bytes::new(2 * PAYLOAD), ..config() };
    let net = Net::run(&config, Controller::window(1.0), 2000.0, |_, segment| {
        if segment == 0 { Answer::Nothing } else { Answer::Data(10.0) }
    });
    assert_eq!(net.departures(), [(0, 0.0), (0, 100.0), (0, 200.0), (1, 300.0)]);
    assert_eq!((net.count(Count::Missing), net.count(Count::Timeouts)), (1, 3));
    assert_eq!(net.bench.meter.completed_at, Time::NEVER);
    assert_eq!(net.consumer.wake(), Time::NEVER);
}

/// Every second Interest is lost, and the consumer does not notice before its lifetime of 2 s is over.
#[test]
fn without_retries_a_lost_segment_is_abandoned_at_its_lifetime() {
    let config = ConsumerConfig { retries: 0, ..config() };
    let net = Net::run(&config, Controller::rate(100), 4005.0, |n, _| {
        if n % 2 == 0 { Answer::Data(10.0) } else { Answer::Nothing }
    });
    assert_eq!(net.sent.len(), 401);
    assert!(net.departures().iter().enumerate().all(|(n, sent)| sent.0 == n as u64));
    // the Interests of 10, 30 … 1990 ms by 4000 ms, the last check of timers; of 200, and the one of 4000 ms in flight
    assert_eq!(
        (net.count(Count::Missing), net.count(Count::Timeouts), net.count(Count::Retransmits)),
        (100, 0, 0)
    );
    assert_eq!(net.count(Count::Episodes), 0);
    assert_eq!(net.consumer.in_flight(), 101);
    // memory for the Interests of 2 s and 50 ms without an answer, and for one in flight
    assert!(net.consumer.waiting.capacity() <= 105, "{} places", net.consumer.waiting.capacity());
}

// ---- conservative window adaptation

/// Ten at 0; 3, 5 and 7 are lost and expire at 200 ms together: one reduction, from 10 to 5. Seven Interests were sent
/// each 10 ms since: 10
/// + 20·7 by then.
#[test]
fn losses_of_one_window_are_one_episode() {
    let net = Net::run(&config(), Controller::window(10.0), 205.0, lost(&[3, 5, 7]));
    let first = (Cause::Loss, true);
    assert_eq!(net.consumer.controller.episodes(), [first, (Cause::Loss, false), (Cause::Loss, false)]);
    assert_eq!(net.consumer.controller.window, 5.0);
    assert_eq!(net.consumer.progress.recovery, Some(150));
}

/// A window of 8 and a timeout of 200 ms. Segment 1 is lost at 0 ms, so that seven leave each 10 ms: 8 to 14 at 10 ms,
/// 85 to 91 at 120 ms, of which 85 is lost; then six each 10 ms. Up to 92 + 8·6 − 1 = 139 have left when 1 expires at
/// 200 ms: the window is halved, and order 140 is the recovery point. 85 expires after new Data, and the second
/// Interest for 1 is lost too: neither reduces the window. 300 leaves after the reduction and is lost: it reduces the
/// window.
fn three_losses(check: EpisodeCheck) -> Net<impl FnMut(usize, u64) -> Answer> {
    let mut tries = BTreeMap::new();
    let config = ConsumerConfig { episode_check: check, ..config() };
    Net::run(&config, Controller::window(8.0), 1500.0, move |_, segment| {
        let tried = tries.entry(segment).or_insert(0);
        *tried += 1;
        match (segment, *tried) {
            (1, 1 | 2) | (85 | 300, 1) => Answer::Nothing,
            _ => Answer::Data(10.0),
        }
    })
}

#[test]
fn losses_of_the_flight_at_a_reduction_cause_no_second_one() {
    let net = three_losses(EpisodeCheck::Segment);
    let left = |segment| net.departures().into_iter().filter(|sent| sent.0 == segment).collect::<Vec<_>>();
    assert_eq!((left(1)[0], left(85)[0], left(139)[0]), ((1, 0.0), (85, 120.0), (139, 200.0)));
    assert_eq!(
        net.consumer.controller.episodes(),
        [true, false, false, true].map(|first| (Cause::Loss, first))
    );
    assert_eq!((net.consumer.controller.window, net.count(Count::Episodes)), (2.0, 2));
}

/// As in ndnSIM, both of the later losses reduce the window again, since new Data have arrived in between:
/// 8 → 4 → 2 → 1. At one per round trip, 300 is not reached.
#[test]
fn with_episodes_by_the_highest_data_a_late_loss_reduces_again() {
    let net = three_losses(EpisodeCheck::Highest);
    assert_eq!(net.consumer.controller.episodes(), [(Cause::Loss, true); 3]);
    assert_eq!((net.consumer.controller.window, net.count(Count::Episodes)), (1.0, 3));
}

fn marks(episode: f64, episode_check: EpisodeCheck) -> (Vec<bool>, Option<u64>) {
    let config = ConsumerConfig { episode, episode_check, ..config() };
    let controller = Controller { step: 1.0, ..Controller::window(4.0) };
    let net = Net::run(&config, controller, 25.0, |_, _| Answer::Marked(10.0));
    // marked Data is not reported as an increase
    assert!(
        net.consumer
            .controller
            .observed
            .iter()
            .all(|observed| !matches!(observed, Observed::Ack { marked: false, .. }))
    );
    let first: Vec<bool> = net.consumer.controller.episodes().iter().map(|event| event.1).collect();
    assert_eq!(net.count(Count::Marks), first.len() as u64);
    (first, net.consumer.progress.recovery)
}

/// Every Data is marked, the window is 4. The mark of order 1 reduces 4 to 2 at 10 ms, when 4 were sent; 2, 3 and 4 are
/// of that episode, and 5 and 6 leave. At 20 ms order 5 reduces 2 to 1.
#[test]
fn marks_cut_once_a_window() {
    let first = vec![true, false, false, false, true, false];
    assert_eq!(marks(1.0, EpisodeCheck::Segment), (first, Some(6)));
    // the next to be sent is 5: order 6 is the first beyond it. 7 has left then, and 8 is the next      [ndnSIM 2.8]
    let first = vec![true, false, false, false, false, true];
    assert_eq!(marks(1.0, EpisodeCheck::Highest), (first, Some(8)));
}

/// One and a half windows: after the reduction at order 1 the recovery point is 1 + 1.5·3 = 5, so that order 6 reduces
/// the window when 7 has left: then it is 6 + 1.5·1 = 7. By the highest Data it is 1 + 1.5·4 = 7 at first [ndnSIM 2.8].
#[test]
fn an_episode_may_last_longer_or_not_at_all() {
    let first = vec![true, false, false, false, false, true];
    assert_eq!(marks(1.5, EpisodeCheck::Segment), (first, Some(7)));
    assert_eq!(marks(1.5, EpisodeCheck::Highest), (vec![true, false, false, false, false, false], Some(7)));
    // 4 → 2 → 1: one leaves at 10 ms, and it causes another reduction
    assert_eq!(marks(0.0, EpisodeCheck::Segment), (vec![true; 5], None));
}

#[test]
fn a_consumer_without_marks_reports_it() {
    let config = ConsumerConfig { marks: false, ..config() };
    let mut bench = Bench::new(1);
    let mut consumer = Consumer::new(&config, Controller::window(1.0));
    bench.input(&mut consumer, Input::Start);
    assert_eq!(bench.sent()[0].ecn, Ecn::NotCapable);
    let net = Net::run(&config, Controller::window(1.0), 15.0, |_, _| Answer::Marked(10.0));
    assert_eq!(net.consumer.controller.episodes(), []);
    assert_eq!(net.count(Count::Marks), 0);
}

// ---- refusals

/// Refused at 5 ms, before any Data: the window is halved, and no Interest leaves for a smoothed round-trip time, which
/// is the initial second.
#[test]
fn a_nack_is_reported_and_its_segment_retransmitted_at_the_next_data() {
    let refuse =
        |n: usize, _| if n == 2 { Answer::Nack(5.0, NackReason::Congestion) } else { Answer::Data(10.0) };
    let net = Net::run(&config(), Controller::window(3.0), 15.0, refuse);
    assert_eq!(net.consumer.controller.episodes(), [(Cause::Refused, true)]);
    // window 1 since 5 ms; 0 and 1 arrive at 10 ms, then 2 is retransmitted, before 3
    assert_eq!(net.departures(), [(0, 0.0), (1, 0.0), (2, 0.0), (2, 10.0)]);
    assert_eq!((net.count(Count::Nacks), net.count(Count::Retransmits)), (1, 1));
    assert_ne!(net.sent[2].2, net.sent[3].2);
}

/// A consumer that is refused at once, by its own node, retransmits after a round trip at most, and time goes on.
#[test]
fn nacks_of_the_local_forwarder_do_not_stop_time() {
    let net = Net::run(&config(), Controller { window: 1.0, ..Controller::window(1.0) }, 5500.0, |_, _| {
        Answer::Nack(0.0, NackReason::Congestion)
    });
    assert_eq!(net.times(), [0.0, 1000.0, 2000.0, 3000.0, 4000.0, 5000.0]);
}

#[test]
fn nacks_without_congestion_leave_the_segment_to_its_timer() {
    for reason in [NackReason::Duplicate, NackReason::NoRoute] {
        let net = Net::run(&config(), Controller::window(1.0), 1100.0, |_, _| Answer::Nack(1.0, reason));
        assert_eq!(net.times(), [0.0, 1000.0]);
        assert_eq!(net.count(Count::Nacks), 2);
        assert_eq!(net.consumer.controller.episodes(), [(Cause::Timeout, true)]);
    }
}

#[test]
fn refusals_under_a_rate_keep_to_the_rate() {
    let net =
        Net::run(&config(), Controller::rate(100), 35.0, |_, _| Answer::Nack(1.0, NackReason::Congestion));
    assert_eq!(net.departures(), [(0, 0.0), (0, 10.0), (0, 20.0), (0, 30.0)]);
}

#[test]
fn old_refusals_are_ignored() {
    let timeout = Timeout { initial: span(50), min: span(50), ..Timeout::DEFAULT };
    let config = ConsumerConfig { timeout, ..config() };
    let answer =
        |n: usize, _| if n == 0 { Answer::Nack(60.0, NackReason::Congestion) } else { Answer::Data(40.0) };
    let net = Net::run(&config, Controller::window(1.0), 70.0, answer);
    assert_eq!((net.count(Count::Nacks), net.count(Count::Ignored)), (0, 1));
}

// ---- Data that is not expected

#[test]
fn late_data_copies_and_other_names_are_ignored() {
    let mut net = Net::new(&config(), Controller::window(1.0), |_, _| Answer::Twice(10.0, 12.0));
    net.input(Input::Start);
    net.until(11.0);
    for (prefix, segment) in [(PREFIX, 99), (NameId(4), 1)] {
        let name = Name { prefix, segment };
        let other = packet(Header::Data(Data { name, payload_bytes: PAYLOAD as u32 }), Ecn::Capable);
        net.input(Input::Packet(&other));
    }
    net.until(13.0);
    // 99, the other prefix, the copy of 0
    assert_eq!(net.count(Count::Ignored), 3);
    assert_eq!(net.bench.meter.goodput_bytes, PAYLOAD);
    assert_eq!(net.departures(), [(0, 0.0), (1, 10.0)]);
}

/// Data that arrives after the timeout and before the next Interest is accepted, and its sample is valid.
#[test]
fn data_after_its_timer_cancels_the_retransmission() {
    let timeout = Timeout { initial: span(50), min: span(50), ..Timeout::DEFAULT };
    let config = ConsumerConfig { timeout, size: Bytes::new(4 * PAYLOAD), ..config() };
    // four in flight; at 50 ms they expire, and the window of one permits the retransmission of 0. The Data of 1, 2 and
    // 3 arrives at 70 ms
    let mut net =
        Net::new(
            &config,
            Controller::window(4.0),
            |n, _| if n == 0 { Answer::Nothing } else { Answer::Data(70.0) },
        );
    net.input(Input::Start);
    net.until(49.0);
    net.consumer.controller.window = 2.0;
    net.until(500.0);
    assert_eq!(net.departures(), [(0, 0.0), (1, 0.0), (2, 0.0), (3, 0.0), (0, 50.0)]);
    assert_eq!((net.count(Count::Timeouts), net.count(Count::Retransmits)), (4, 1));
    assert_eq!(net.bench.meter.rtt_count, 3);
    assert_eq!(net.bench.meter.completed_at, at(120.0));
}

// ---- the own node

/// A content store on the consumer's own node answers at once: time advances, and the controller gets no input.
#[test]
fn answers_of_the_local_forwarder_do_not_stop_time() {
    let net = Net::run(&config(), Controller { step: 1.0, ..Controller::window(2.0) }, 1.0, |_, _| {
        Answer::Data(0.0)
    });
    // two each 50 µs, 0 and 1 ms included
    assert_eq!(net.sent.len(), 2 * 21);
    assert_eq!(net.consumer.controller.observed, []);
    assert_eq!(net.bench.meter.rtt_count, 0);
    assert_eq!(net.bench.meter.goodput_bytes, 42 * PAYLOAD);
    assert_eq!(net.bench.meter.media().delay_max, Duration::ZERO);
}

// ---- a catalogue

#[test]
fn a_pending_segment_is_not_requested_again() {
    let pattern = Pattern::Zipf { contents: 1, segments: 1, exponent: 1.0, shift: 0.0 };
    let config = ConsumerConfig { pattern, ..config() };
    let net = Net::run(&config, Controller::rate(100), 195.0, |_, _| Answer::Data(95.0));
    // one request per 10 ms; Data arrives after 95 ms, and the same content is requested again at 100 ms
    assert_eq!(net.departures(), [(0, 0.0), (0, 100.0)]);
    assert_eq!(net.count(Count::Suppressed), 18);
    // a window may exceed the catalogue: the draws end
    let net = Net::run(&config, Controller::window(1000.0), 95.0, |_, _| Answer::Data(95.0));
    assert_eq!(net.departures(), [(0, 0.0), (0, 95.0)]);
}

#[test]
fn popular_contents_are_requested_more_often() {
    let pattern = Pattern::Zipf { contents: 100, segments: 2, exponent: 1.0, shift: 0.0 };
    let config = ConsumerConfig { pattern, ..config() };
    let net = Net::run(&config, Controller::rate(1000), 10_000.0, |_, _| Answer::Data(0.1));
    let of = |content: u64| net.sent.iter().filter(|sent| sent.1 / 2 == content).count();
    // 1/H₁₀₀ = 0.193 of 10 000
    assert!((1750..2100).contains(&of(0)), "{}", of(0));
    assert!((850..1100).contains(&of(1)), "{}", of(1));
    assert!(net.sent.iter().all(|sent| sent.1 < 200));
}

// ---- any network

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    /// With Data that is late, duplicated, marked, refused or missing: each segment arrives once, the data in flight is
    /// at most the window, and at the end nothing is pending.
    #[test]
    fn every_segment_arrives_once(
        fates in prop::collection::vec((0u8..12, 1.0..400.0f64), 40),
        window in 1u8..20,
        tick in 0u64..60,
        segments in 1u64..120,
    ) {
        let config = ConsumerConfig { size: Bytes::new(segments * PAYLOAD), ..coarse(tick, tick / 2) };
        let mut n = 0;
        let mut fate = move |_: usize, _: u64| {
            n += 1;
            let (kind, after) = fates[(n * 7) % fates.len()];
            // from the thousandth on there are no failures, so that the transfer ends
            match if n > 1000 { 6 } else { kind } {
                0 => Answer::Nothing,
                1 => Answer::Marked(after),
                2 => Answer::Nack(after, NackReason::Congestion),
                3 => Answer::Nack(after, NackReason::Duplicate),
                4 => Answer::Twice(after, after * 2.0),
                _ => Answer::Data(after),
            }
        };
        let controller = Controller { step: 0.1, ..Controller::window(f64::from(window)) };
        let net = Net::run(&config, controller, 1e9, &mut fate);
        prop_assert_eq!(net.bench.meter.goodput_bytes, segments * PAYLOAD);
        prop_assert!(net.bench.meter.completed_at < Time::NEVER);
        prop_assert_eq!(net.bench.meter.media().delay_count, segments);
        prop_assert_eq!(net.consumer.in_flight(), 0);
        prop_assert_eq!(net.consumer.wake(), Time::NEVER);
        let nonces: std::collections::BTreeSet<u32> = net.sent.iter().map(|sent| sent.2).collect();
        prop_assert_eq!(nonces.len(), net.sent.len());
        let max = f64::from(window) + 0.1 * segments as f64 + 1.0;
        prop_assert!(net.consumer.controller.sent.iter().all(|(in_flight, _)| *in_flight as f64 <= max));
        let retransmission = net.consumer.controller.sent.iter().filter(|sent| sent.1).count() as u64;
        prop_assert_eq!(net.count(Count::Retransmits), retransmission);
        prop_assert_eq!(net.sent.len() as u64, segments + retransmission);
    }
}
