//! The rules of the draft with numbers computed by hand, and the ones of its 22 test cases (Appendix A) that need no
//! network, with segments of 1000 bytes on a path of 100 ms and 10 Mbit/s, whose bandwidth-delay product is 125 000
//! bytes. The other test cases are in `crates/sim/tests/bbr3.rs`.

use contract::{Cause, Congestion, CongestionControl, Delivery, Idle, Lost, Sent, Setup};
use units::{Bytes, Duration, Rate, Time};

use super::{Bbr3, Params, State, control};
use crate::shared::testing::{Bench, SEGMENT, setup};

/// A connection and what it has delivered.
struct Path {
    bench: Bench,
    controller: Bbr3,
    total: u64,
    /// What was delivered before the round.
    before: u64,
    /// What the next acknowledgement says.
    next: Delivery,
}

impl Path {
    fn new() -> Self {
        Self::with(&setup(10))
    }

    fn with(setup: &Setup) -> Self {
        let mut bench = Bench::new();
        bench.now = Time::ZERO + Duration::from_secs(1);
        let next = Delivery {
            bytes: SEGMENT,
            total: Bytes::ZERO,
            total_when_sent: Bytes::ZERO,
            in_flight_when_sent: SEGMENT * 200,
            lost: Bytes::ZERO,
            rate: Some(Rate::from_mbps(10)),
            app_limited: false,
            rtt: Some(Duration::from_millis(100)),
            delay: None,
            in_flight_before: SEGMENT * 200,
            in_flight: SEGMENT * 200,
            recovering: false,
        };
        let mut path =
            Self { bench, controller: *control(&Params::default(), setup), total: 0, before: 0, next };
        path.send(1, false);
        path
    }

    /// A departure of a segment, after which `segments` segments are in flight.
    fn send(&mut self, segments: u64, app_limited: bool) {
        let sent = Sent {
            bytes: SEGMENT,
            in_flight: SEGMENT * segments,
            retransmission: false,
            app_limited,
            idle: Duration::ZERO,
        };
        self.controller.on_sent(&sent, &mut self.bench.cx());
    }

    /// An acknowledgement of data that left when `when_sent` bytes had been delivered.
    fn ack_of(&mut self, when_sent: u64) {
        self.total += self.next.bytes.as_u64();
        let (total, total_when_sent) = (Bytes::new(self.total), Bytes::new(when_sent));
        let delivery = Delivery { total, total_when_sent, ..self.next };
        self.controller.on_delivery(&delivery, &mut self.bench.cx());
    }

    /// An acknowledgement that begins a round.
    fn round(&mut self) {
        self.before = self.total;
        self.ack_of(self.total);
    }

    /// One in the midst of a round.
    fn ack(&mut self) {
        self.ack_of(self.before);
    }

    /// The start of a loss recovery, or a timeout.
    fn congestion(&mut self, cause: Cause) {
        let event = Congestion { cause, bytes: SEGMENT, in_flight: self.next.in_flight, first: true };
        self.controller.on_congestion(&event, &mut self.bench.cx());
    }

    /// A lost segment that left when `in_flight` bytes were in flight; `lost` bytes were lost since, including it.
    fn lose(&mut self, in_flight: u64, lost: u64, app_limited: bool) {
        let lost = Lost {
            bytes: SEGMENT,
            in_flight_when_sent: Bytes::new(in_flight),
            lost: Bytes::new(lost),
            total: Bytes::new(self.total),
            app_limited,
            adjoins: false,
            selective: true,
        };
        self.controller.on_lost(&lost, &mut self.bench.cx());
    }

    fn rate(&mut self, kbps: u64) {
        self.next.rate = Some(Rate::from_kbps(kbps));
    }

    /// A round-trip time that is lower by a nanosecond, so that no probe for it is due.
    fn refresh(&mut self) {
        self.next.rtt = self.next.rtt.map(|rtt| rtt - Duration::from_nanos(1));
    }

    fn rtt(&mut self, millis: u64) {
        self.next.rtt = Some(Duration::from_millis(millis));
    }

    fn wait(&mut self, millis: u64) {
        self.bench.now += Duration::from_millis(millis);
    }

    fn in_flight(&mut self, bytes: u64) {
        (self.next.in_flight_before, self.next.in_flight) = (Bytes::new(bytes), Bytes::new(bytes));
    }

    fn state(&self) -> State {
        self.controller.state()
    }

    fn pacing_mbps(&self) -> f64 {
        self.controller.allowance().rate.as_bps_f64() / 1e6
    }

    fn window(&self) -> u64 {
        self.controller.allowance().window.as_u64()
    }

    /// To Drain, as a flow that is not application-limited: a baseline and three rounds without growth, in each of
    /// which 100 segments are delivered.
    fn draining() -> Self {
        let mut path = Self::new();
        path.next.bytes = SEGMENT * 100;
        for _ in 0..4 {
            assert_eq!(path.state(), State::Startup);
            path.round();
        }
        path.next.bytes = SEGMENT;
        assert_eq!(path.state(), State::Drain);
        path
    }

    /// To ProbeBW_DOWN, after three rounds of Drain and with more than the product in flight.
    fn down() -> Self {
        let mut path = Self::draining();
        path.in_flight(130_000);
        for _ in 0..4 {
            path.round();
        }
        assert_eq!(path.state(), State::ProbeBwDown);
        path
    }

    fn cruising() -> Self {
        let mut path = Self::down();
        path.in_flight(125_000);
        path.ack();
        assert_eq!(path.state(), State::ProbeBwCruise);
        assert!(path.window() >= 250_000, "{}", path.window());
        path
    }

    /// An acknowledgement begins the next probe for bandwidth, after the maximum time.
    fn probe_again(&mut self) {
        self.wait(3001);
        self.refresh();
        self.ack();
        assert_eq!(self.state(), State::ProbeBwRefill);
    }

    /// To ProbeBW_REFILL, after the maximum time.
    fn refilling() -> Self {
        let mut path = Self::cruising();
        path.probe_again();
        path.in_flight(130_000);
        path
    }

    fn up() -> Self {
        let mut path = Self::refilling();
        path.round();
        assert_eq!(path.state(), State::ProbeBwUp);
        path
    }
}

fn close(a: f64, b: f64) {
    assert!((a - b).abs() <= 1e-6 * b.abs(), "{a} is not {b}");
}

// ---- rules

/// §5.6.2: 2.77·InitialCwnd/1 ms before there is a round-trip time, then over that, and from then on 99 % of 2.77·10
/// Mbit/s, never less.
#[test]
fn startup_paces_with_its_gain() {
    let mut path = Path::new();
    close(path.pacing_mbps(), 2.77 * 10.0 * 8e3 / 1e-3 / 1e6);
    path.rate(100);
    path.round();
    close(path.pacing_mbps(), 2.77 * 10.0 * 8e3 / 0.1 / 1e6);
    path.rate(10_000);
    path.round();
    close(path.pacing_mbps(), 0.99 * 27.7);
    path.rate(1_000);
    path.round();
    close(path.pacing_mbps(), 0.99 * 27.7);
}

/// §5.2.1, §5.6.2: the round-trip time of the handshake is the first sample of both.
#[test]
fn the_handshake_gives_the_first_round_trip_time() {
    let mut path = Path::new();
    path.controller.on_handshake(Duration::from_millis(50), &mut path.bench.cx());
    close(path.pacing_mbps(), 2.77 * 10.0 * 8e3 / 0.05 / 1e6);
    assert_eq!(path.controller.min_rtt(), Some(Duration::from_millis(50)));
}

/// The pacer counts headers, so they are added: 40 bytes for each 1000.
#[test]
fn the_rate_of_packets_is_that_of_payload_and_headers() {
    let mut path = Path::with(&Setup { header: Bytes::new(40), ..setup(10) });
    path.round();
    close(path.pacing_mbps(), 0.99 * 27.7 * 1.04);
}

/// §5.6.4.6: before the pipe is full the window grows by what is delivered, as long as it is below two products.
#[test]
fn startup_grows_by_what_is_delivered() {
    let mut path = Path::new();
    path.next.bytes = SEGMENT * 10;
    path.round();
    assert_eq!(path.window(), 20_000);
    path.round();
    assert_eq!(path.window(), 30_000);
}

/// §5.3.3.8.3, with a product of 5 segments: a probe after as many rounds, less the 0 or 1 that is drawn, long before
/// two seconds have passed.
#[test]
fn a_short_path_is_probed_as_often_as_reno_would() {
    let mut path = Path::new();
    path.rate(400);
    path.in_flight(5_000);
    for _ in 0..4 {
        path.round();
    }
    // the queue is empty at once: one acknowledgement ends Startup, Drain and DOWN
    assert_eq!(path.state(), State::ProbeBwCruise);
    let mut rounds = 0;
    while path.state() != State::ProbeBwRefill {
        path.round();
        rounds += 1;
    }
    assert!((4..=5).contains(&rounds), "{rounds}");
}

/// §5.3.3.8.3: the time to the next probe is drawn between two and three seconds. Among 200 connections both halves
/// come up.
#[test]
fn the_time_between_probes_is_random() {
    let mut late = 0;
    let mut path = Path::cruising();
    for _ in 0..200 {
        path.wait(2000);
        path.ack();
        assert_eq!(path.state(), State::ProbeBwCruise);
        path.wait(500);
        path.ack();
        late += u32::from(path.state() == State::ProbeBwCruise);
        path.wait(501);
        path.ack();
        assert_eq!(path.state(), State::ProbeBwRefill);
        // a fresh connection that goes on drawing from the same stream
        let mut other = Path { bench: path.bench, ..Path::new() };
        other.controller = *control(&Params::default(), &setup(10));
        other.send(1, false);
        for _ in 0..4 {
            other.round();
        }
        other.in_flight(125_000);
        other.round();
        other.ack();
        path = other;
    }
    assert!((70..=130).contains(&late), "{late}");
}

/// §5.5.5, §5.5.6: a sample of 20 Mbit/s counts in its cycle and in the next. A cycle ends a round after ProbeBW_UP.
#[test]
fn the_bandwidth_is_the_maximum_of_two_cycles() {
    let mut path = Path::up();
    path.rate(20_000);
    path.ack();
    close(path.controller.max_bw(), 20e6);
    path.rate(9_000);
    for cycle in 0..2 {
        while path.state() == State::ProbeBwUp {
            path.round();
        }
        assert_eq!(path.state(), State::ProbeBwDown);
        close(path.controller.max_bw(), 20e6);
        // the first round of DOWN has the last samples of the probe, after which the cycle ends
        path.round();
        path.ack();
        close(path.controller.max_bw(), if cycle == 0 { 20e6 } else { 9e6 });
        path.probe_again();
        path.round();
    }
}

/// §5.5.10.3: a round with a loss, and not in a probe: bw_shortterm = max(bw_latest, 0.7·max_bw), inflight_shortterm =
/// max(inflight_latest, 0.7·cwnd).
#[test]
fn losses_between_probes_lower_the_short_term_bounds_once_per_round() {
    let mut path = Path::cruising();
    path.rate(6_000);
    path.round();
    path.congestion(Cause::Loss);
    path.lose(125_000, 1_000, false);
    path.ack();
    assert_eq!(path.controller.bw_shortterm(), f64::INFINITY);
    let window = path.window();
    path.round();
    // the maximum of the round before it is 6 Mbit/s, less than 7
    close(path.controller.bw_shortterm(), 7e6);
    close(path.controller.inflight_shortterm(), 0.7 * window as f64);
    close(path.pacing_mbps(), 0.99 * 7.0);
    // a second round with a loss: 0.7·7 = 4.9, but 6 were delivered
    path.lose(125_000, 1_000, false);
    path.round();
    close(path.controller.bw_shortterm(), 6e6);
    // the next probe forgets both
    path.probe_again();
    assert_eq!(
        (path.controller.bw_shortterm(), path.controller.inflight_shortterm()),
        (f64::INFINITY, f64::INFINITY)
    );
}

/// §5.6.4.4: after a timeout one segment; the recovery ends with the window from before it, within the bounds of the
/// model.
#[test]
fn a_timeout_leaves_one_segment_and_its_end_restores_the_window() {
    let mut path = Path::refilling();
    path.congestion(Cause::Timeout);
    assert_eq!(path.window(), 1000);
    path.ack();
    assert_eq!(path.window(), 4000);
    path.controller.on_recovered(Cause::Timeout, &mut path.bench.cx());
    assert!(path.window() > 249_000, "{}", path.window());
}

/// §5.5.10.2, §5.3.1.3, without selective acknowledgements: any loss counts as too many, in a probe as in Startup.
#[test]
fn without_selective_acknowledgements_one_loss_is_enough() {
    let mut path = Path::new();
    path.round();
    path.congestion(Cause::Loss);
    let lost = Lost {
        bytes: SEGMENT,
        in_flight_when_sent: SEGMENT * 200,
        lost: SEGMENT,
        total: Bytes::new(path.total),
        app_limited: false,
        adjoins: false,
        selective: false,
    };
    path.controller.on_lost(&lost, &mut path.bench.cx());
    path.ack();
    assert_eq!(path.state(), State::Drain);
}

/// Our choice for §3.7: a mark ends Startup, ends a probe, and lowers the bounds of the short term at other times.
#[test]
fn a_mark_is_congestion() {
    let mut path = Path::new();
    path.round();
    path.congestion(Cause::Mark);
    path.ack();
    assert_eq!(path.state(), State::Drain);
    let mut path = Path::up();
    path.congestion(Cause::Mark);
    assert_eq!(path.state(), State::ProbeBwDown);
    // what was in flight at the mark
    close(path.controller.inflight_longterm(), 130_000.0);
    let mut path = Path::cruising();
    path.rate(6_000);
    path.round();
    path.congestion(Cause::Mark);
    path.round();
    close(path.controller.bw_shortterm(), 7e6);
}

// ---- test cases of Appendix A

/// A.1: three consecutive rounds with less than 25 % of growth; 25 % counts as growth, and acknowledgements within a
/// round do not count.
#[test]
fn case_1_startup_ends_on_a_bandwidth_plateau() {
    let mut path = Path::new();
    for kbps in [8_000, 10_000, 12_400, 12_400] {
        path.rate(kbps);
        path.round();
        for _ in 0..5 {
            path.ack();
        }
        assert_eq!((path.state(), path.controller.full_bw()), (State::Startup, (false, false)));
    }
    path.round();
    assert_eq!((path.state(), path.controller.full_bw()), (State::Drain, (true, true)));
    close(path.controller.max_bw(), 12.4e6);
}

/// A.2: a round in fast recovery with six gaps and more than 2 % lost ends Startup, also where the samples are
/// application-limited. Five gaps, or 2 %, do not.
#[test]
fn case_2_startup_ends_on_loss_while_application_limited() {
    for (gaps, lost, ends) in [(6, 5_000, true), (5, 5_000, false), (6, 4_000, false)] {
        let mut path = Path::new();
        path.next.app_limited = true;
        for _ in 0..6 {
            path.round();
        }
        path.congestion(Cause::Loss);
        for _ in 0..gaps {
            path.lose(200_000, 1_000, true);
        }
        path.next.lost = Bytes::new(lost);
        path.ack();
        assert_eq!(path.state(), State::Startup, "the round lasts");
        path.round();
        assert_eq!(path.state() == State::Drain, ends, "{gaps} gaps, {lost} bytes");
        assert_eq!(path.controller.full_bw(), (ends, ends));
        if ends {
            // the product, which is more than the 1000 bytes delivered in a round here
            close(path.controller.inflight_longterm(), 125_000.0);
        }
    }
}

/// A.3: at half the rate until the product is in flight.
#[test]
fn case_3_drain_ends_when_the_queue_is_gone() {
    let mut path = Path::draining();
    assert_eq!(path.controller.pacing_gain(), 0.5);
    close(path.pacing_mbps(), 0.99 * 5.0);
    path.in_flight(125_001);
    path.ack();
    assert_eq!(path.state(), State::Drain);
    path.in_flight(125_000);
    path.ack();
    // to ProbeBW, and on to CRUISE, because what ends Drain ends DOWN
    assert_eq!(path.state(), State::ProbeBwCruise);
}

/// A.4: more than three rounds after its start Drain ends though more is in flight.
#[test]
fn case_4_drain_ends_after_three_rounds() {
    let mut path = Path::draining();
    path.rate(9_000);
    for _ in 0..3 {
        path.round();
        path.ack();
        assert_eq!(path.state(), State::Drain);
    }
    path.round();
    assert_eq!(path.state(), State::ProbeBwDown);
}

/// A.5: three rounds without growth after the rate at the start of UP.
#[test]
fn case_5_up_ends_on_a_bandwidth_plateau() {
    let mut path = Path::up();
    assert_eq!((path.controller.pacing_gain(), path.controller.cwnd_gain()), (1.25, 2.25));
    for _ in 0..2 {
        path.round();
        path.ack();
        assert_eq!(path.state(), State::ProbeBwUp);
    }
    path.round();
    assert_eq!(path.state(), State::ProbeBwDown);
}

/// A.5, §5.3.3.7: a flow that is limited by inflight_longterm has not seen a plateau.
#[test]
fn a_plateau_below_the_long_term_bound_does_not_end_up() {
    let mut path = Path::up();
    path.lose(200_000, 5_000, false);
    assert_eq!(path.state(), State::ProbeBwDown);
    path.round();
    // the next probe is precautionary: it ends where this one failed
    path.probe_again();
    path.round();
    path.in_flight(198_000);
    path.ack();
    assert_eq!(path.state(), State::ProbeBwUp);
    path.in_flight(200_000);
    path.ack();
    assert_eq!(path.state(), State::ProbeBwDown);
    // a round without excess losses: the one after it begins at once, and is not precautionary
    path.round();
    assert_eq!(path.state(), State::ProbeBwRefill);
    path.round();
    path.ack();
    assert_eq!(path.state(), State::ProbeBwUp);
    path.next.bytes = SEGMENT * 100;
    path.ack();
    path.next.bytes = SEGMENT;
    for _ in 0..6 {
        path.send(400, false);
        path.round();
        path.ack();
        assert_eq!(path.state(), State::ProbeBwUp);
    }
}

/// A.6: losses end UP also where they are of application-limited samples. inflight_longterm then stays as it is
/// (HandleInflightTooHigh).
#[test]
fn case_6_up_ends_on_loss_while_application_limited() {
    let mut path = Path::up();
    path.next.app_limited = true;
    path.lose(200_000, 4_000, true);
    assert_eq!(path.state(), State::ProbeBwUp, "2 % are tolerated");
    path.lose(200_000, 5_000, true);
    assert_eq!(path.state(), State::ProbeBwDown);
    assert_eq!(path.controller.inflight_longterm(), f64::INFINITY);
}

/// A.7: application-limited rounds end neither Startup nor UP.
#[test]
fn case_7_application_limited_rounds_end_no_probe() {
    for (mut path, state) in [(Path::new(), State::Startup), (Path::up(), State::ProbeBwUp)] {
        path.round();
        path.next.app_limited = true;
        for _ in 0..100 {
            path.round();
            assert_eq!(path.state(), state);
        }
    }
}

/// A.8: at 0.9 of the rate until both bounds are met: the product of 125 000, and here 85 % of an inflight_longterm of
/// 87 500 (case 21).
#[test]
fn case_8_down_ends_on_inflight() {
    let mut path = Path::down();
    assert_eq!(path.controller.pacing_gain(), 0.9);
    path.in_flight(125_001);
    path.ack();
    assert_eq!(path.state(), State::ProbeBwDown);
    path.in_flight(125_000);
    path.ack();
    assert_eq!(path.state(), State::ProbeBwCruise);

    let mut path = Path::up();
    path.lose(50_000, 1_001, false);
    close(path.controller.inflight_longterm(), 87_500.0);
    path.next.in_flight_when_sent = SEGMENT;
    path.in_flight(74_375);
    path.ack();
    assert_eq!(path.state(), State::ProbeBwDown);
    path.in_flight(74_374);
    path.ack();
    assert_eq!(path.state(), State::ProbeBwCruise);
    // the headroom is the bound of the window too
    assert_eq!(path.window(), 74_374);
}

/// A.9: where too much stays in flight, DOWN lasts two to three seconds and REFILL follows.
#[test]
fn case_9_down_ends_after_its_maximum_time() {
    let mut path = Path::down();
    path.wait(2000);
    path.ack();
    assert_eq!(path.state(), State::ProbeBwDown);
    path.wait(1001);
    path.ack();
    assert_eq!(path.state(), State::ProbeBwRefill);
}

/// A.10: five seconds after the last lower round-trip time half the product, for 200 ms from when it is reached and for
/// a round, and then what was.
#[test]
fn case_10_the_round_trip_time_is_probed_for() {
    let mut path = Path::refilling();
    path.rtt(120);
    path.wait(4_999);
    path.ack();
    assert_ne!(path.state(), State::ProbeRtt);
    path.wait(2);
    path.ack();
    assert_eq!((path.state(), path.controller.cwnd_gain()), (State::ProbeRtt, 0.5));
    // 10 Mbit/s · 100 ms / 2, less a nanosecond
    assert_eq!(path.window(), 62_499);
    path.rate(300);
    path.in_flight(62_500);
    path.wait(500);
    path.round();
    path.in_flight(62_499);
    path.rtt(101);
    path.ack();
    path.wait(200);
    path.round();
    assert_eq!(path.state(), State::ProbeRtt, "200 ms have not passed");
    path.wait(1);
    path.ack();
    assert_eq!(path.state(), State::ProbeBwCruise);
    // the low rates of the probe did not count
    close(path.controller.max_bw(), 10e6);
    assert!(path.window() >= 249_000, "{}", path.window());
    // §5.3.4.3: ten seconds after the lowest sample the lowest of the probe replaces it
    path.wait(4_400);
    path.rtt(110);
    path.ack();
    assert_eq!(path.controller.min_rtt(), Some(Duration::from_millis(101)));
}

/// A.10: 200 ms without a round are not enough.
#[test]
fn a_probe_of_the_round_trip_time_lasts_for_a_round() {
    let mut path = Path::cruising();
    path.wait(5_001);
    path.rtt(300);
    path.in_flight(60_000);
    path.ack();
    assert_eq!(path.state(), State::ProbeRtt);
    path.wait(250);
    path.ack();
    path.ack();
    assert_eq!(path.state(), State::ProbeRtt);
    path.round();
    assert_eq!(path.state(), State::ProbeBwCruise);
}

/// A.11: after a silence of six seconds at exactly bw, and without a probe of the round-trip time.
#[test]
fn case_11_a_silence_is_probe_enough() {
    let mut path = Path::up();
    path.wait(6_000);
    path.controller.on_idle(&Idle { time: Duration::from_secs(6), halvings: None }, &mut path.bench.cx());
    close(path.pacing_mbps(), 0.99 * 10.0);
    path.send(1, true);
    path.rtt(120);
    path.round();
    path.round();
    assert_ne!(path.state(), State::ProbeRtt);
    assert_eq!(path.controller.min_rtt(), Some(Duration::from_nanos(99_999_999)));
    // without the silence there would be one
    let mut path = Path::up();
    path.wait(6_000);
    path.rtt(120);
    path.round();
    assert_eq!(path.state(), State::ProbeRtt);
}

/// A.12, A.13, §5.5.9: an interval begins with 30 000 bytes. At 10 Mbit/s 25 000 bytes are expected in the 20 ms that
/// follow, so that 60 000 more are 65 000 in excess. The window may have them in addition for ten rounds.
#[test]
fn case_13_aggregation_widens_the_window() {
    let mut path = Path::cruising();
    // rounds with less than expected forget the aggregation of Startup
    for _ in 0..15 {
        path.wait(100);
        path.round();
    }
    close(path.controller.extra_acked(), 1_000.0);
    assert_eq!(path.window(), 251_000);
    path.wait(100);
    path.next.bytes = SEGMENT * 30;
    path.ack();
    close(path.controller.extra_acked(), 30_000.0);
    path.wait(20);
    path.next.bytes = SEGMENT * 60;
    path.ack();
    close(path.controller.extra_acked(), 65_000.0);
    assert_eq!(path.window(), 315_000);
    path.next.bytes = SEGMENT;
    for _ in 0..9 {
        path.wait(100);
        path.round();
        close(path.controller.extra_acked(), 65_000.0);
    }
    path.wait(100);
    path.round();
    close(path.controller.extra_acked(), 1_000.0);
}

/// A.14: the window is at least four segments, whatever the product is, here 100 bytes; two more in UP (§5.6.4.2). The
/// rate follows the path's.
#[test]
fn case_14_four_segments_are_the_minimum() {
    let mut path = Path::new();
    path.rate(8);
    path.in_flight(4_000);
    for _ in 0..20 {
        path.wait(1_000);
        path.round();
        let (gain, maximum) = match path.state() {
            State::Startup => continue,
            State::ProbeBwUp => (1.25, 6_000),
            State::ProbeBwDown => (0.9, 4_000),
            _ => (1.0, 4_000),
        };
        close(path.pacing_mbps(), gain * 0.99 * 0.008);
        assert!((4_000..=maximum).contains(&path.window()), "{} in {:?}", path.window(), path.state());
    }
    assert_ne!(path.state(), State::Startup);
}

/// A.15, §5.3.3.5: where inflight_longterm limits the window it grows by 1, 2, 4 and 8 segments in successive rounds of
/// UP.
#[test]
fn case_15_the_long_term_bound_grows_faster_each_round() {
    let mut path = Path::up();
    // a bound of 0.7 products (case 21)
    path.lose(50_000, 1_001, false);
    path.next.in_flight_when_sent = SEGMENT;
    path.in_flight(60_000);
    path.round();
    // the second probe is precautionary only where it reaches the bound
    path.probe_again();
    path.round();
    assert_eq!(path.state(), State::ProbeBwUp);
    path.next.bytes = SEGMENT * 30;
    path.ack();
    assert_eq!(path.window(), 87_499);
    let mut grown = Vec::new();
    let mut bound = path.controller.inflight_longterm();
    for round in 0..4 {
        // a window is delivered in a round, a segment at a time, and is full
        let segments = (path.window() / 1000).max(1);
        path.next.bytes = SEGMENT;
        for n in 0..segments {
            path.send(path.window() / 1000, false);
            if n == 0 && round > 0 { path.round() } else { path.ack() }
        }
        grown.push(((path.controller.inflight_longterm() - bound) / 1000.0).round());
        bound = path.controller.inflight_longterm();
    }
    assert_eq!(path.state(), State::ProbeBwUp);
    for (round, expected) in [1.0, 2.0, 4.0, 8.0].into_iter().enumerate() {
        assert!((grown[round] - expected).abs() <= 1.0, "{grown:?}");
    }
}

/// A.18: a spurious fast recovery in UP: window and bounds from before it, and a new probe.
#[test]
fn case_18_a_spurious_recovery_is_undone() {
    spurious(Cause::Loss);
}

/// A.19: a spurious timeout has the same effect.
#[test]
fn case_19_a_spurious_timeout_is_undone() {
    spurious(Cause::Timeout);
}

fn spurious(cause: Cause) {
    let mut path = Path::up();
    let before = path.window();
    path.congestion(cause);
    path.lose(200_000, 5_000, false);
    assert_eq!(path.state(), State::ProbeBwDown);
    assert!(path.controller.inflight_longterm() < 200_000.0);
    path.rate(5_000);
    path.ack();
    assert!(path.window() < before);
    path.controller.on_spurious(&mut path.bench.cx());
    assert_eq!(path.state(), State::ProbeBwRefill);
    assert_eq!(path.window(), before);
    let infinite = f64::INFINITY;
    let bounds = (
        path.controller.inflight_longterm(),
        path.controller.inflight_shortterm(),
        path.controller.bw_shortterm(),
    );
    assert_eq!(bounds, (infinite, infinite, infinite));
    path.round();
    assert_eq!(path.state(), State::ProbeBwUp);
}

/// A.18, §5.5.11.2: a spurious recovery that ended Startup leads back to it.
#[test]
fn a_spurious_end_of_startup_is_undone() {
    let mut path = Path::new();
    path.round();
    path.congestion(Cause::Loss);
    for _ in 0..6 {
        path.lose(200_000, 1_000, false);
    }
    path.next.lost = Bytes::new(5_000);
    path.round();
    assert_eq!(path.state(), State::Drain);
    path.controller.on_spurious(&mut path.bench.cx());
    assert_eq!((path.state(), path.controller.full_bw()), (State::Startup, (false, false)));
    assert_eq!(path.controller.inflight_longterm(), f64::INFINITY);
}

/// A.20: a probe of the round-trip time in a slow Startup leads back to Startup.
#[test]
fn case_20_startup_goes_on_after_a_probe_of_the_round_trip_time() {
    let mut path = Path::new();
    let mut kbps = 1_000;
    path.rate(kbps);
    path.round();
    path.rtt(110);
    while path.state() == State::Startup {
        kbps = kbps * 13 / 10;
        path.rate(kbps);
        path.wait(1_000);
        path.round();
    }
    assert_eq!((path.state(), path.controller.full_bw().0), (State::ProbeRtt, false));
    path.in_flight(4_000);
    path.ack();
    path.wait(201);
    path.round();
    path.ack();
    assert_eq!(path.state(), State::Startup);
}

/// A.21: losses above 2 % in UP end it, and inflight_longterm is what was in flight where they passed 2 %, at least 0.7
/// of the product.
#[test]
fn case_21_losses_end_up_and_lower_the_long_term_bound() {
    let mut path = Path::up();
    path.lose(200_000, 5_000, false);
    assert_eq!(path.state(), State::ProbeBwDown);
    // 199 000 before the packet, 4000 lost before it: (0.02·199 000 − 4000)/0.98 = −20.41
    close(path.controller.inflight_longterm(), 198_979.591_836_7);
    // one response per probe
    path.lose(100_000, 50_000, false);
    close(path.controller.inflight_longterm(), 198_979.591_836_7);
    let mut path = Path::up();
    path.lose(50_000, 1_001, false);
    close(path.controller.inflight_longterm(), 0.7 * 125_000.0);
}

/// A.22: application-limited rates in REFILL do not lower max_bw, and UP follows.
#[test]
fn case_22_application_limited_rates_in_refill_do_not_count() {
    let mut path = Path::refilling();
    path.next.app_limited = true;
    path.rate(2_000);
    for _ in 0..10 {
        path.ack();
    }
    path.round();
    assert_eq!(path.state(), State::ProbeBwUp);
    close(path.controller.max_bw(), 10e6);
    // a plateau is found as soon as the application has data again
    path.next.app_limited = false;
    path.rate(10_000);
    for _ in 0..4 {
        path.round();
    }
    assert_eq!(path.state(), State::ProbeBwDown);
}
