//! One test per claim of the draft about BBR, with segments of 1000 bytes on a path of 100 ms and 10 Mbit/s, whose
//! bandwidth-delay product is 125.

use contract::{Cause, Congestion, CongestionControl, Delivery, Idle, Sent, Setup};
use units::{Bytes, Duration, Rate, Time};

use super::{Control, Params, Refresh, State, Variant, control};
use crate::shared::testing::{Bench, SEGMENT, setup};

/// A connection and what it has delivered.
struct Path {
    bench: Bench,
    controller: Control,
    total: u64,
    /// What the next acknowledgement says.
    next: Delivery,
}

impl Path {
    fn new() -> Self {
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
            in_flight: SEGMENT * 199,
            recovering: false,
        };
        Self { bench, controller: control(&draft(), &setup(10)), total: 0, next }
    }

    /// With the defaults, which are not the draft's.
    fn by_default() -> Self {
        Self { controller: control(&Params::default(), &setup(10)), ..Self::new() }
    }

    /// An acknowledgement of a segment that left when `when_sent` bytes had been delivered.
    fn ack_of(&mut self, when_sent: u64) {
        self.total += self.next.bytes.as_u64();
        let (total, total_when_sent) = (Bytes::new(self.total), Bytes::new(when_sent));
        let delivery = Delivery { total, total_when_sent, ..self.next };
        self.controller.on_delivery(&delivery, &mut self.bench.cx());
    }

    /// An acknowledgement that begins a round.
    fn round(&mut self) {
        self.ack_of(self.total);
    }

    /// One in the midst of a round.
    fn ack(&mut self) {
        self.ack_of(0);
    }

    fn rate(&mut self, kbps: u64) {
        self.next.rate = Some(Rate::from_kbps(kbps));
    }

    fn wait(&mut self, millis: u64) {
        self.bench.now += Duration::from_millis(millis);
    }

    fn in_flight(&mut self, bytes: u64) {
        (self.next.in_flight_before, self.next.in_flight) = (Bytes::new(bytes), Bytes::new(bytes));
    }

    fn pacing_mbps(&self) -> f64 {
        self.controller.allowance().rate.as_bps_f64() / 1e6
    }

    fn window(&self) -> u64 {
        self.controller.allowance().window.as_u64()
    }

    /// To ProbeBW, with a full window.
    fn probing_bandwidth() -> Self {
        let mut path = Self::new();
        for _ in 0..4 {
            path.round();
        }
        assert_eq!(path.controller.state(), State::Drain);
        path.in_flight(100_000);
        path.round();
        assert_eq!(path.controller.state(), State::ProbeBw);
        path.next.bytes = SEGMENT * 400;
        path.round();
        path.next.bytes = SEGMENT;
        // 2 · 125 000, and three quanta
        assert!((254_000..=256_000).contains(&path.window()), "{}", path.window());
        path
    }

    /// One phase on: more than a round trip later, with enough in flight.
    fn next_phase(&mut self) -> f64 {
        self.wait(101);
        self.in_flight(200_000);
        self.ack();
        self.controller.pacing_gain()
    }

    /// To the phase with this gain, not counting the current one.
    fn until_gain(&mut self, gain: f64) {
        while self.next_phase() != gain {}
    }
}

/// The draft's form, which the rules below are of.
fn draft() -> Params {
    Params { pacing_margin: 0.0, rtprop_refresh: Refresh::Equal, ..Params::default() }
}

fn close(a: f64, b: f64) {
    assert!((a - b).abs() <= 1e-6 * b.abs(), "{a} is not {b}");
}

/// §4.2.1: 2.885·InitialCwnd/1 ms before there is a round-trip time, then over that, which may be less; and from then
/// on by the rate that is measured: 2.885·10 Mbit/s.
#[test]
fn startup_paces_with_its_gain() {
    let mut path = Path::new();
    assert_eq!(path.controller.state(), State::Startup);
    close(path.pacing_mbps(), 2.885 * 10.0 * 8e3 / 1e-3 / 1e6);
    path.rate(100);
    path.round();
    close(path.pacing_mbps(), 2.885 * 10.0 * 8e3 / 0.1 / 1e6);
    path.rate(10_000);
    path.round();
    close(path.pacing_mbps(), 28.85);
    // it does not fall while the pipe is not full
    path.rate(1_000);
    path.round();
    close(path.pacing_mbps(), 28.85);
}

/// The pacer counts headers, so they are added: 40 bytes for each 1000.
#[test]
fn the_rate_of_packets_is_that_of_payload_and_headers() {
    let setup = Setup { header: Bytes::new(40), ..setup(10) };
    let mut path = Path { controller: control(&draft(), &setup), ..Path::new() };
    path.round();
    close(path.pacing_mbps(), 2.885 * 10.0 * 1.04);
}

/// LINUX, bbr_pacing_margin_percent: one per cent less than gain times BtlBw, at first as well as later.
#[test]
fn by_default_it_paces_one_per_cent_below_the_rate() {
    let mut path = Path::by_default();
    close(path.pacing_mbps(), 0.99 * 2.885 * 10.0 * 8e3 / 1e-3 / 1e6);
    path.rate(100);
    path.round();
    close(path.pacing_mbps(), 0.99 * 2.885 * 10.0 * 8e3 / 0.1 / 1e6);
    path.rate(10_000);
    path.round();
    close(path.pacing_mbps(), 0.99 * 28.85);
    // the window follows from the rate itself
    assert_eq!(path.controller.btlbw(), 10e6);
}

/// LINUX, bbr_update_min_rtt: samples that are equal to RTprop do not keep it from going out of date, so that a probe
/// comes ten seconds after the last lower one; in the draft's form they do.
#[test]
fn an_equal_round_trip_time_renews_nothing_by_default() {
    for (mut path, expected) in [(Path::by_default(), State::ProbeRtt), (Path::new(), State::ProbeBw)] {
        for _ in 0..4 {
            path.round();
        }
        path.in_flight(100_000);
        path.round();
        assert_eq!(path.controller.state(), State::ProbeBw);
        // the same 100 ms every second for eleven seconds
        for _ in 0..11 {
            path.wait(1000);
            path.round();
        }
        assert_eq!(path.controller.state(), expected);
        // a lower one renews it in either
        path.next.rtt = Some(Duration::from_millis(99));
        path.round();
        assert_eq!(path.controller.rtprop(), Some(Duration::from_millis(99)));
    }
}

/// §4.2.3.6: before the pipe is full the window grows by what is delivered, as long as it is below 2.885 products.
#[test]
fn startup_grows_by_what_is_delivered() {
    let mut path = Path::new();
    path.next.bytes = SEGMENT * 10;
    path.round();
    assert_eq!(path.window(), 20_000);
    path.round();
    assert_eq!(path.window(), 30_000);
}

/// §4.3.2.2: three rounds with less than 25 % of growth; 25 % counts as growth, and only rounds count.
#[test]
fn the_pipe_is_full_after_three_rounds_without_growth() {
    let mut path = Path::new();
    for kbps in [8_000, 10_000, 12_400, 12_400] {
        path.rate(kbps);
        path.round();
        assert_eq!(path.controller.state(), State::Startup);
        for _ in 0..5 {
            path.ack();
        }
    }
    assert_eq!(path.controller.state(), State::Startup);
    path.round();
    assert_eq!(path.controller.state(), State::Drain);
    // the inverse gain for the rate, the same for the window
    close(path.pacing_mbps(), 12.4 / 2.885);
}

/// §4.3.2.2: samples of a sender that lacks data do not say that the pipe is full.
#[test]
fn a_sender_that_lacks_data_does_not_fill_the_pipe() {
    let mut path = Path::new();
    path.round();
    path.next.app_limited = true;
    for _ in 0..10 {
        path.round();
    }
    assert_eq!(path.controller.state(), State::Startup);
}

/// §4.3.3: until what is in flight is the product, 125 000 bytes, and three quanta of two segments at 3.5 Mbit/s.
#[test]
fn drain_ends_when_the_queue_is_gone() {
    let mut path = Path::new();
    for _ in 0..4 {
        path.round();
    }
    path.in_flight(131_001);
    path.ack();
    assert_eq!(path.controller.state(), State::Drain);
    path.in_flight(131_000);
    path.ack();
    assert_eq!(path.controller.state(), State::ProbeBw);
}

/// §4.3.4.1: 5/4, 3/4 and six times 1; it begins anywhere but at 3/4 (§4.3.4.2).
#[test]
fn a_cycle_has_eight_phases() {
    let mut path = Path::probing_bandwidth();
    assert!(path.controller.pacing_gain() != 0.75);
    path.until_gain(1.25);
    close(path.pacing_mbps(), 12.5);
    let gains: Vec<f64> = (0..8).map(|_| path.next_phase()).collect();
    assert_eq!(gains, [0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.25]);
}

/// §4.3.4.2: the first phase is drawn: in many connections each but 3/4 comes up.
#[test]
fn the_first_phase_is_any_but_the_second() {
    let mut starts = std::collections::BTreeSet::new();
    let mut path = Path::probing_bandwidth();
    for _ in 0..200 {
        // phases to the next 5/4 tell where it began
        let mut phases = 0;
        while path.controller.pacing_gain() != 1.25 {
            path.next_phase();
            phases += 1;
        }
        starts.insert(phases);
        // a fresh connection that goes on drawing from the same stream
        let mut other = Path::new();
        std::mem::swap(&mut other.bench, &mut path.bench);
        for _ in 0..4 {
            other.round();
        }
        other.in_flight(100_000);
        other.round();
        path = other;
    }
    assert_eq!(starts.into_iter().collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5, 6]);
}

/// §4.3.4.3: a phase of 1 lasts for longer than RTprop.
#[test]
fn a_phase_lasts_for_a_round_trip() {
    let mut path = Path::probing_bandwidth();
    path.until_gain(0.75);
    assert_eq!(path.next_phase(), 1.0);
    for _ in 0..5 {
        assert_eq!(path.next_phase(), 1.0);
    }
    path.wait(100);
    path.ack();
    assert_eq!(path.controller.pacing_gain(), 1.0);
    path.wait(1);
    path.ack();
    assert_eq!(path.controller.pacing_gain(), 1.25);
}

/// §4.3.4.1: until a loss, or until 5/4 of the product is in flight: 156 250 bytes and three quanta of two segments.
#[test]
fn the_first_phase_lasts_until_the_pipe_is_overfull_or_loses() {
    for lost in [false, true] {
        let mut path = Path::probing_bandwidth();
        path.until_gain(1.25);
        path.in_flight(162_249);
        path.wait(500);
        path.ack();
        assert_eq!(path.controller.pacing_gain(), 1.25);
        if lost {
            let event =
                Congestion { cause: Cause::Loss, bytes: SEGMENT, in_flight: SEGMENT * 160, first: false };
            path.controller.on_congestion(&event, &mut path.bench.cx());
        } else {
            path.in_flight(162_250);
        }
        path.ack();
        assert_eq!(path.controller.pacing_gain(), 0.75);
    }
}

/// §4.3.4.1: the second phase ends as soon as the queue is gone.
#[test]
fn the_second_phase_ends_early_when_the_queue_is_gone() {
    let mut path = Path::probing_bandwidth();
    path.until_gain(0.75);
    path.in_flight(131_001);
    path.ack();
    assert_eq!(path.controller.pacing_gain(), 0.75);
    path.in_flight(131_000);
    path.ack();
    assert_eq!(path.controller.pacing_gain(), 1.0);
}

/// §4.1.1.2: a sample of 20 Mbit/s counts for ten rounds.
#[test]
fn the_rate_is_the_maximum_of_ten_rounds() {
    let mut path = Path::new();
    path.rate(20_000);
    path.round();
    path.rate(9_000);
    for _ in 0..10 {
        path.round();
        close(path.controller.btlbw(), 20e6);
    }
    path.round();
    close(path.controller.btlbw(), 9e6);
    // acknowledgements are no rounds
    path.rate(8_000);
    for _ in 0..100 {
        path.ack();
    }
    close(path.controller.btlbw(), 9e6);
}

/// §4.1.1.4: samples of a sender that lacks data count only where they are greater.
#[test]
fn samples_of_a_sender_that_lacks_data_count_only_upwards() {
    let mut path = Path::new();
    path.round();
    path.next.app_limited = true;
    path.rate(2_000);
    for _ in 0..20 {
        path.round();
    }
    close(path.controller.btlbw(), 10e6);
    path.rate(11_000);
    path.round();
    close(path.controller.btlbw(), 11e6);
}

/// §4.3.5: when no round-trip time came as low for ten seconds: four segments, for 200 ms from when no more are in
/// flight and for a round, and then what was.
#[test]
fn the_round_trip_time_is_probed_for_every_ten_seconds() {
    let mut path = Path::probing_bandwidth();
    path.next.rtt = Some(Duration::from_millis(120));
    path.wait(10_000);
    path.round();
    assert_eq!(
        (path.controller.state(), path.controller.rtprop()),
        (State::ProbeBw, Some(Duration::from_millis(100)))
    );
    let before = path.window();
    path.wait(1);
    path.round();
    assert_eq!((path.controller.state(), path.window()), (State::ProbeRtt, 4000));
    // the old one is out of date, the one that expired it counts
    assert_eq!(path.controller.rtprop(), Some(Duration::from_millis(120)));
    path.wait(120);
    path.in_flight(4000);
    path.next.rtt = Some(Duration::from_millis(101));
    path.round();
    assert_eq!(path.controller.rtprop(), Some(Duration::from_millis(101)));
    path.wait(200);
    path.round();
    assert_eq!(path.controller.state(), State::ProbeRtt);
    path.wait(1);
    path.ack();
    assert_eq!(path.controller.state(), State::ProbeBw);
    // 2 · 126 250 and three quanta differ by the round-trip time only
    assert!(path.window() >= before.min(252_500), "{} after {before}", path.window());
}

/// §4.3.5: 200 ms without a round are not enough.
#[test]
fn the_probe_lasts_for_a_round_at_least() {
    let mut path = Path::probing_bandwidth();
    path.wait(10_001);
    path.next.rtt = Some(Duration::from_millis(300));
    path.in_flight(4000);
    path.round();
    path.wait(250);
    path.ack();
    assert_eq!(path.controller.state(), State::ProbeRtt);
    path.round();
    assert_eq!(path.controller.state(), State::ProbeBw);
}

/// §4.3.5: what little is sent meanwhile does not lower the rate.
#[test]
fn samples_of_a_probe_do_not_lower_the_rate() {
    let mut path = Path::probing_bandwidth();
    path.wait(10_001);
    path.next.rtt = Some(Duration::from_millis(120));
    path.in_flight(4000);
    path.round();
    assert_eq!(path.controller.state(), State::ProbeRtt);
    path.rate(300);
    for _ in 0..20 {
        path.ack_of(path.total);
    }
    close(path.controller.btlbw(), 10e6);
}

/// §4.3.5: a silence is probe enough, even when it was longer than ten seconds.
#[test]
fn there_is_no_probe_after_a_silence() {
    let mut path = Path::probing_bandwidth();
    path.wait(20_000);
    path.controller.on_idle(&Idle { time: Duration::from_secs(20), halvings: None }, &mut path.bench.cx());
    // exactly at the rate of the bottleneck
    close(path.pacing_mbps(), 10.0);
    let sent = Sent {
        bytes: SEGMENT,
        in_flight: SEGMENT,
        retransmission: false,
        app_limited: true,
        idle: Duration::ZERO,
    };
    path.controller.on_sent(&sent, &mut path.bench.cx());
    path.next.rtt = Some(Duration::from_millis(120));
    path.round();
    assert_eq!(path.controller.state(), State::ProbeBw);
}

/// §4.2.3.4: in the first round of a recovery as much is sent as is delivered; then losses are taken off; in the end
/// the window is what it was.
#[test]
fn a_recovery_conserves_packets_and_then_restores_the_window() {
    let mut path = Path::probing_bandwidth();
    let before = path.window();
    let loss = |first| Congestion { cause: Cause::Loss, bytes: SEGMENT, in_flight: SEGMENT * 200, first };
    path.controller.on_congestion(&loss(true), &mut path.bench.cx());
    path.next.recovering = true;
    path.in_flight(150_000);
    path.ack();
    assert_eq!(path.window(), 151_000);
    // what is in flight and what was delivered, losses or not
    path.in_flight(155_000);
    path.ack();
    assert_eq!(path.window(), 156_000);
    // one round later it grows as ever, less what is lost
    path.controller.on_congestion(&loss(false), &mut path.bench.cx());
    path.round();
    assert_eq!(path.window(), 156_000);
    path.ack();
    assert_eq!(path.window(), 157_000);
    path.next.recovering = false;
    path.ack();
    assert!(path.window() >= before.min(255_000), "{} after {before}", path.window());
}

/// §4.2.3.4: one segment after a timeout, four at the next acknowledgement, and in the end the window that was.
#[test]
fn a_timeout_leaves_one_segment_for_a_moment() {
    let mut path = Path::probing_bandwidth();
    let before = path.window();
    let event =
        Congestion { cause: Cause::Timeout, bytes: SEGMENT * 200, in_flight: SEGMENT * 200, first: true };
    path.controller.on_congestion(&event, &mut path.bench.cx());
    assert_eq!(path.window(), 1000);
    path.next.recovering = true;
    path.in_flight(1000);
    path.ack();
    assert_eq!(path.window(), 4000);
    path.next.recovering = false;
    path.ack();
    assert!(path.window() >= before.min(255_000), "{} after {before}", path.window());
}

/// §4.2.3.4: so does a recovery that was needless.
#[test]
fn an_undone_recovery_restores_the_window() {
    let mut path = Path::probing_bandwidth();
    let before = path.window();
    let event = Congestion { cause: Cause::Loss, bytes: SEGMENT, in_flight: SEGMENT * 200, first: true };
    path.controller.on_congestion(&event, &mut path.bench.cx());
    path.next.recovering = true;
    path.in_flight(50_000);
    path.ack();
    assert_eq!(path.window(), 51_000);
    path.controller.on_spurious(&mut path.bench.cx());
    assert_eq!(path.window(), before);
}

// ---- variant = "linux"

impl Path {
    /// The kernel's BBR in ProbeBW, past the two phases that differ from the others, with five segments per
    /// acknowledgement.
    fn linux() -> Self {
        let params = Params { variant: Variant::Linux, ..Params::default() };
        let mut path = Self { controller: control(&params, &setup(10)), ..Self::new() };
        for _ in 0..4 {
            path.tick(100);
        }
        assert_eq!(path.controller.state(), State::Drain);
        path.in_flight(100_000);
        path.tick(100);
        assert_eq!(path.controller.state(), State::ProbeBw);
        path.in_flight(200_000);
        for segments in [25, 5] {
            path.next.bytes = SEGMENT * segments;
            for _ in 0..11 {
                path.tick(100);
            }
        }
        path.until_gain(0.75);
        path.next_phase();
        path
    }

    /// A round that ends after this duration.
    fn tick(&mut self, millis: u64) {
        self.wait(millis);
        self.round();
    }

    /// Segments are lost, in a recovery that has begun.
    fn lose(&mut self, segments: u64) {
        let bytes = SEGMENT * segments;
        let event = Congestion { cause: Cause::Loss, bytes, in_flight: SEGMENT * 200, first: false };
        self.controller.on_congestion(&event, &mut self.bench.cx());
    }
}

/// Linux, bbr_set_cwnd: 2·125 = 250 segments, five extra ones, since an epoch begins with each acknowledgement of five,
/// and three quanta of two: 261, an even 262; in the phase that probes two more. Pacing is at 99 % of 10 Mbit/s, whose
/// 1/1024 s is less than two segments.
#[test]
fn linux_rounds_the_window_to_an_even_number() {
    let mut path = Path::linux();
    assert_eq!((path.controller.pacing_gain(), path.window()), (1.0, 262_000));
    close(path.pacing_mbps(), 9.9);
    path.until_gain(1.25);
    assert_eq!(path.window(), 264_000);
}

/// Linux, bbr_update_ack_aggregation: thirty segments are beyond the expected ones, 250 + 30 + 6 = 286, and thirty more
/// at the same instant, 316. 24 ms later thirty are expected, so that 65 are 35 beyond. 200 at once count as the
/// segments of 100 ms, 125: 381, an even 382. More than ten rounds later the five of each count.
#[test]
fn linux_has_room_for_aggregated_acknowledgements() {
    let mut path = Path::linux();
    path.wait(99);
    path.next.bytes = SEGMENT * 30;
    path.ack();
    assert_eq!(path.window(), 286_000);
    path.ack();
    assert_eq!(path.window(), 316_000);
    path.wait(24);
    path.next.bytes = SEGMENT * 5;
    path.ack();
    assert_eq!(path.window(), 316_000);
    path.wait(99);
    path.next.bytes = SEGMENT * 200;
    path.ack();
    assert_eq!(path.window(), 382_000);
    path.next.bytes = SEGMENT * 5;
    for _ in 0..16 {
        path.tick(100);
    }
    path.until_gain(0.75);
    path.next_phase();
    assert_eq!(path.window(), 262_000);
}

/// Linux, bbr_lt_bw_sampling: two intervals of four rounds, each of 100 segments in 100 ms and ending with the loss of
/// 100 in 400, 64/256. The rate is 8 Mbit/s in both, at which the sender is policed, 0.99·8 = 7.92, with a gain of 1
/// for 48 rounds.
#[test]
fn linux_finds_a_policer() {
    let mut path = Path::linux();
    path.lose(1);
    path.ack();
    path.next.bytes = SEGMENT * 100;
    for _ in 0..2 {
        close(path.pacing_mbps(), 9.9 * path.controller.pacing_gain());
        for _ in 0..3 {
            path.tick(100);
        }
        path.lose(100);
        path.tick(100);
    }
    for _ in 0..47 {
        close(path.pacing_mbps(), 7.92);
        path.tick(100);
    }
    close(path.pacing_mbps(), 7.92);
    path.tick(100);
    close(path.pacing_mbps(), 9.9 * path.controller.pacing_gain());
}

/// A loss of 70 in 400 is 44.8/256, less than a fifth, and ends no interval; nor do application-limited rounds leave
/// one.
#[test]
fn linux_takes_few_losses_for_no_policer() {
    for (lost, app_limited) in [(70, false), (100, true)] {
        let mut path = Path::linux();
        path.lose(1);
        path.ack();
        path.next.bytes = SEGMENT * 100;
        path.next.app_limited = app_limited;
        for _ in 0..2 {
            for _ in 0..3 {
                path.tick(100);
            }
            path.lose(lost);
            path.tick(100);
        }
        close(path.pacing_mbps(), 9.9 * path.controller.pacing_gain());
    }
}
