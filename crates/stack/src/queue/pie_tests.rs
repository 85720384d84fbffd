//! PIE against RFC 8033, with numbers computed by hand: α = 0.125, β = 1.25, target 15 ms.

use contract::ParamTable;

use super::*;
use crate::queue::testing::{self, Link};

const MS: u64 = 1_000_000;

fn link(change: impl FnOnce(&mut Params)) -> Link<Pie> {
    let mut params = Params::default();
    change(&mut params);
    Link::new(Pie::new(&params, testing::packets(10_000)))
}

fn linux() -> Link<Pie> {
    link(|params| params.like = Like::Linux)
}

fn fixed(probability: f64) -> u64 {
    (probability * ONE as f64) as u64
}

impl Link<Pie> {
    fn probability(&self) -> f64 {
        self.queue.control.probability as f64 / ONE as f64
    }

    /// A congested queue: no burst allowance, this probability, and this delay.
    fn congest(&mut self, probability: f64, delay_ms: u64) {
        let control = &mut self.queue.control;
        control.burst = Duration::ZERO;
        control.probability = fixed(probability);
        (control.delay, control.old_delay) = (delay_ms * MS, delay_ms * MS);
    }
}

fn close(found: f64, expected: f64) -> bool {
    (found - expected).abs() <= 1e-6 * expected.abs() + 1e-12
}

#[test]
fn the_probability_follows_delay_and_trend_more_slowly_while_it_is_low() {
    let constants = Constants::new(&Params::default());
    let after = |probability: f64, delay_ms: u64, old_ms: u64| {
        let updated = constants.updated(fixed(probability), delay_ms * MS, old_ms * MS, false);
        updated as f64 / ONE as f64
    };
    for (probability, delay, old, expected) in [
        // 0.125 (35 − 15) ms + 1.25 (35 − 0) ms = 0.0025 + 0.04375 = 0.04625; below 10⁻⁶: / 2048
        (0.0, 35, 0, 0.04625 / 2048.0),
        // 0.0025 + 1.25 (35 − 33) ms = 0.005
        (5e-6, 35, 33, 5e-6 + 0.005 / 512.0),
        (5e-5, 35, 33, 5e-5 + 0.005 / 128.0),
        (5e-4, 35, 33, 5e-4 + 0.005 / 32.0),
        (5e-3, 35, 33, 5e-3 + 0.005 / 8.0),
        (5e-2, 35, 33, 5e-2 + 0.005 / 2.0),
        (0.5, 35, 33, 0.505),
        // it falls with the delay: 0.125 (5 − 15) ms + 1.25 (5 − 9) ms = −0.00625
        (0.5, 5, 9, 0.49375),
        // from 10 % on, by at most 2 %: 0.125 × 185 ms + 1.25 × 100 ms = 0.148125
        (0.1, 200, 100, 0.12),
        (0.099, 200, 100, 0.099 + 0.148125 / 2.0),
        (0.999, 200, 100, 1.0),
        (0.001, 0, 20, 0.0),
        // no delay twice: (0.5 − 0.125 × 15 ms) × 0.98
        (0.5, 0, 0, (0.5 - 0.001875) * 0.98),
    ] {
        let found = after(probability, delay, old);
        assert!(close(found, expected), "{probability} {delay} {old}: {found} is not {expected}");
    }
}

#[test]
fn linux_decays_by_a_64th_when_nothing_waits_and_rises_faster_above_250_ms() {
    let constants = Constants::new(&Params { like: Like::Linux, ..Params::default() });
    let after = |probability: f64, delay_ms: u64, idle: bool| {
        constants.updated(fixed(probability), delay_ms * MS, delay_ms * MS, idle) as f64 / ONE as f64
    };
    assert!(close(after(0.5, 0, true), (0.5 - 0.001875) * 63.0 / 64.0));
    assert!(close(after(0.5, 0, false), 0.5 - 0.001875));
    // 0.125 × 236 ms is capped at 2 %, and 2 % follow
    assert!(close(after(0.5, 251, false), 0.54));
    assert!(close(after(0.5, 250, false), 0.52));
}

#[test]
fn updates_are_made_up_for_when_a_packet_arrives_or_leaves() {
    // delays that do not change: 20 updates are due between 0 and 300 ms, each at its probability's factor
    let mut link = link(|_| {});
    link.congest(0.0, 35);
    let mut expected = 0.0f64;
    for _ in 0..20 {
        let divisor = match expected {
            p if p < 1e-6 => 2048.0,
            p if p < 1e-5 => 512.0,
            p if p < 1e-4 => 128.0,
            p if p < 1e-3 => 32.0,
            p if p < 1e-2 => 8.0,
            p if p < 1e-1 => 2.0,
            _ => 1.0,
        };
        expected += 0.125 * 0.020 / divisor;
    }
    link.at_ms(299);
    link.offer(0, 1000);
    let at_299 = link.probability();
    link.at_ms(300);
    link.offer(0, 1000);
    assert!(at_299 < link.probability() && close(link.probability(), expected), "{at_299} {expected}");
    link.at_ms(314);
    link.offer(0, 1000);
    assert!(close(link.probability(), expected), "the next one is due at 315 ms");
}

#[test]
fn one_look_after_a_long_time_equals_many() {
    let run = |looks: &[u64], like: Like, delay_ms: u64| {
        let mut link = link(|params| params.like = like);
        link.congest(0.3, delay_ms);
        for &ms in looks {
            link.at_ms(ms);
            // no packet waits, so that this changes nothing
            assert!(link.serve().is_none());
        }
        let Control { next_update, probability, old_delay, burst, .. } = link.queue.control;
        (next_update, probability, old_delay, burst)
    };
    let often: Vec<u64> = (0..=100_000).step_by(10).collect();
    for like in [Like::Rfc, Like::Linux] {
        for delay in [0, 10, 15, 40] {
            assert_eq!(run(&often, like, delay), run(&[100_000], like, delay), "{like:?}, {delay} ms");
            assert_eq!(run(&often[..50], like, delay), run(&[490], like, delay), "{like:?}, {delay} ms");
        }
    }
}

#[test]
fn an_idle_link_forgets_the_probability() {
    let mut link = link(|_| {});
    link.offer(0, 1000);
    link.congest(0.5, 40);
    link.at_ms(14);
    // it leaves nothing behind, so that the delay is 0
    assert!(link.serve().is_some());
    assert_eq!((link.queue.control.delay, link.queue.control.old_delay), (0, 40 * MS));
    link.at_ms(15);
    assert!(link.serve().is_none());
    // 0.125 (0 − 15) ms + 1.25 (0 − 40) ms = −0.051875
    assert!(close(link.probability(), 0.448125));
    link.at_ms(30);
    assert!(link.serve().is_none());
    // (0.448125 − 0.001875) × 0.98
    assert!(close(link.probability(), 0.437325));
    link.at_ms(60_000);
    assert!(link.serve().is_none());
    assert!(link.queue.control.probability == 0);
}

#[test]
fn bursts_pass_for_150_ms_and_again_once_congestion_has_gone() {
    let mut link = link(|_| {});
    assert_eq!(link.queue.control.burst, Duration::from_millis(150));
    let control = &mut link.queue.control;
    (control.probability, control.delay, control.old_delay) = (ONE, 100 * MS, 100 * MS);
    for _ in 0..100 {
        assert_eq!(link.offer(0, 1000), Verdict::Pass);
    }
    link.at_ms(149);
    assert_eq!(link.offer(0, 1000), Verdict::Pass, "nine of ten updates are over");
    link.at_ms(150);
    assert_eq!(link.offer(0, 1000), Verdict::Drop(DropReason::Early));
    let control = &mut link.queue.control;
    // just below half of the target, and a probability of 0
    (control.probability, control.delay, control.old_delay) = (0, 7 * MS, 7 * MS);
    assert_eq!(link.offer(0, 1000), Verdict::Pass);
    assert_eq!(link.queue.control.burst, Duration::from_millis(150));
}

#[test]
fn linux_counts_the_allowance_between_departures() {
    let mut link = linux();
    for _ in 0..40 {
        assert_eq!(link.offer(0, 1000), Verdict::Pass);
    }
    link.queue.control.probability = ONE;
    for (ms, left) in [(50, 150), (60, 140), (190, 10), (199, 1), (205, 0)] {
        link.at_ms(ms);
        assert!(link.serve().is_some());
        assert_eq!(link.queue.control.burst, Duration::from_millis(left), "at {ms} ms");
    }
}

#[test]
fn a_short_delay_or_a_short_queue_is_not_dropped_from() {
    let drops = |like: Like, probability: f64, delay_ms: u64, waiting: u32| {
        let mut link = link(|params| (params.like, params.packet) = (like, Bytes::new(1000)));
        for _ in 0..waiting {
            link.offer(0, 1000);
        }
        link.congest(probability, delay_ms);
        link.queue.control.accumulated = ONE * 9;
        link.offer(0, 1000) == Verdict::Drop(DropReason::Early)
    };
    for like in [Like::Rfc, Like::Linux] {
        assert!(drops(like, 0.1, 8, 10));
        assert!(!drops(like, 0.1, 7, 10), "below half of the target");
        assert!(drops(like, 0.21, 7, 10), "unless the probability is at least 20 %");
        assert!(!drops(like, 0.9, 100, 1));
        assert!(drops(like, 0.9, 100, 3));
    }
    // queue_.byte_length() <= 2 × MEAN_PKTSIZE in RFC 8033, < in Linux
    assert!(!drops(Like::Rfc, 0.9, 100, 2) && drops(Like::Linux, 0.9, 100, 2));
}

#[test]
fn drops_are_spread_between_the_85th_and_the_850th_percent() {
    // at 10 %, the sum is 0.9 at the ninth packet and 8.5 at the 85th
    let mut link = link(|_| {});
    for _ in 0..10 {
        link.offer(0, 1000);
    }
    link.congest(0.1, 20);
    let (mut gap, mut gaps) = (0, Vec::new());
    while gaps.len() < 20_000 {
        gap += 1;
        match link.offer(0, 1000) {
            Verdict::Pass => assert!(link.serve().is_some()),
            verdict => {
                assert_eq!(verdict, Verdict::Drop(DropReason::Early));
                gaps.push(gap);
                gap = 0;
            }
        }
        link.congest(0.1, 20);
    }
    assert_eq!(gaps.iter().min(), Some(&9));
    assert!(gaps.iter().max() <= Some(&85));
    // 8 packets pass, then a drop has the probability 1/10: 8 + 10 on average, apart from the rare ones that are cut
    // off at 85
    let mean = f64::from(gaps.iter().sum::<u32>()) / gaps.len() as f64;
    assert!((mean - 18.0).abs() < 0.3, "{mean}");
}

#[test]
fn ecn_capable_packets_are_marked_below_ten_percent() {
    let verdict = |ecn: Ecn, probability: f64, mark: bool| {
        let mut link = link(|params| params.mark = mark);
        for _ in 0..10 {
            link.offer(0, 1000);
        }
        link.congest(probability, 20);
        link.queue.control.accumulated = ONE * 9;
        link.ecn = ecn;
        link.offer(0, 1000)
    };
    let early = Verdict::Drop(DropReason::Early);
    assert_eq!(verdict(Ecn::Capable, 0.09, true), Verdict::Mark);
    assert_eq!(verdict(Ecn::Marked, 0.09, true), Verdict::Pass);
    assert_eq!(verdict(Ecn::Capable, 0.11, true), early);
    assert_eq!(verdict(Ecn::Capable, 0.09, false), early);
    assert_eq!(verdict(Ecn::NotCapable, 0.09, true), early);
}

#[test]
fn the_rate_of_departures_is_measured_over_16_kib() {
    let mut link = link(|params| params.estimator = Estimator::DequeueRate);
    // a packet of 1024 bytes each millisecond; 40 wait at first
    for _ in 0..40 {
        link.offer(0, 1024);
    }
    for ms in 0..16 {
        link.at_ms(ms);
        assert!(link.serve().is_some());
    }
    assert_eq!(link.queue.control.meter.nanos, 0);
    // the cycle began with the departure at 0 ms; at 16 ms, 16 packets have followed
    link.at_ms(16);
    assert!(link.serve().is_some());
    assert_eq!(link.queue.control.meter.nanos, 16 * MS);
    // 23 packets wait, until 30 ms; queueing delay at that update: 23 ms
    link.at_ms(30);
    link.offer(0, 1024);
    assert_eq!(link.queue.control.delay, 23 * MS);
    // the next cycle takes 32 ms, with a weight of 1/4: 4 + 8 + 4 = 20 ms
    for number in 1..=16 {
        link.at_ms(16 + 2 * number);
        link.now += Duration::from_nanos(14 * MS);
        link.offer(0, 1024);
        assert!(link.serve().is_some());
    }
    let expected = (32 + 14) * MS / 4 + 16 * MS / 4 * 3;
    assert_eq!(link.queue.control.meter.nanos, expected);
}

#[test]
fn linux_measures_the_rate_with_the_first_packet_in_the_cycle() {
    let mut link = link(|params| (params.estimator, params.like) = (Estimator::DequeueRate, Like::Linux));
    for _ in 0..40 {
        link.offer(0, 1024);
    }
    for ms in 0..16 {
        link.at_ms(ms);
        assert!(link.serve().is_some());
    }
    // 16 packets in 15 ms
    assert_eq!(link.queue.control.meter.bytes_per_s, 16 * 1024 * 1000 / 15);
    // the next cycle has 16 packets in 16 ms; the average takes an eighth of it
    for ms in 16..32 {
        link.at_ms(ms);
        assert!(link.serve().is_some());
    }
    let (old, new) = (16 * 1024 * 1000 / 15, 1024 * 1000);
    assert_eq!(link.queue.control.meter.bytes_per_s, old - old / 8 + new / 8);
}

#[test]
fn limits_in_packets_and_bytes_hold() {
    let mut link = link(|_| {});
    link.queue.set_limit(testing::packets(2));
    let verdicts = [link.offer(0, 1000), link.offer(0, 1000), link.offer(0, 1000)];
    assert_eq!(verdicts, [Verdict::Pass, Verdict::Pass, Verdict::Drop(DropReason::QueueFull)]);
    link.queue.set_limit(testing::bytes(2500));
    link.queue.control.accumulated = 7;
    assert_eq!(link.offer(0, 501), Verdict::Drop(DropReason::QueueFull));
    assert_eq!(link.queue.control.accumulated, 0);
    assert_eq!(link.offer(0, 500), Verdict::Pass);
    assert_eq!(link.queue.backlog(), Backlog { packets: 3, bytes: Bytes::new(2500) });
    assert_eq!(link.queue.drain().len(), 3);
    assert_eq!(link.queue.backlog(), Backlog::default());
}

/// The kernel's arguments and defaults, from include/net/pie.h.
#[test]
fn defaults_are_those_of_linux() {
    let params = Params::with(&[]).expect("defaults");
    assert_eq!(params.target, Duration::from_millis(15));
    assert_eq!(params.t_update, Duration::from_millis(15));
    assert_eq!((params.alpha, params.beta), (2.0 / 16.0, 20.0 / 16.0));
    assert_eq!(params.max_burst, Duration::from_millis(150));
    assert_eq!(params.estimator, Estimator::Timestamps);
}
