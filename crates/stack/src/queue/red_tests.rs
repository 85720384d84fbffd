//! RED compared with the formulas of Floyd and Jacobson (1993), computed separately in floating point.

use contract::{Arena, Packet};
use units::math;

use super::*;
use crate::queue::testing::packet;

struct Link {
    queue: Red,
    arena: Arena,
    random: Random,
    now: Time,
    ecn: Ecn,
}

/// Without a limit, with weight 0: the average is set by the test.
fn still(change: impl FnOnce(&mut Params)) -> Params {
    let mut params = Params { weight: 0.0, ..Params::default() };
    change(&mut params);
    params
}

fn fixed(x: f64) -> u64 {
    (x * ONE as f64) as u64
}

fn float(x: u64) -> f64 {
    x as f64 / ONE as f64
}

impl Link {
    fn new(params: &Params) -> Self {
        let limit = QueueLimit { packets: 1000, bytes: Bytes::UNLIMITED, mark_above: u32::MAX };
        Self {
            queue: Red::new(params, limit),
            arena: Arena::new(),
            random: Random::new(1, "", ""),
            now: Time::ZERO,
            ecn: Ecn::NotCapable,
        }
    }

    fn with<T>(&mut self, act: impl FnOnce(&mut Red, &mut PacketCx<'_>) -> T) -> T {
        let mut dropped = Vec::new();
        let mut cx = PacketCx {
            now: self.now,
            // a packet of 500 bytes takes a millisecond
            rate: Rate::from_mbps(4),
            random: &mut self.random,
            arena: &mut self.arena,
            dropped: &mut dropped,
            marked: 0,
        };
        let result = act(&mut self.queue, &mut cx);
        assert!(cx.marked == 0 && dropped.is_empty(), "its verdicts say all");
        result
    }

    fn offer(&mut self, size_bytes: u32) -> Verdict {
        let id = self.arena.insert(Packet { ecn: self.ecn, ..packet(0, size_bytes) });
        self.with(|queue, cx| queue.enqueue(id, cx))
    }

    fn serve(&mut self) -> Option<PacketId> {
        self.with(|queue, cx| queue.dequeue(cx))
    }
}

#[test]
fn the_average_follows_the_length_before_each_arrival() {
    for (unit, size_bytes, packets) in [(Unit::Packets, 1500, 1.0), (Unit::Bytes, 1500, 3.0)] {
        let params = Params { min_th: 1e6, max_th: 1e6, unit, ..Params::default() };
        let mut link = Link::new(&params);
        let mut average = 0.0;
        for number in 0..300 {
            assert_eq!(link.offer(size_bytes), Verdict::Pass);
            average = (1.0 - 0.002) * average + 0.002 * f64::from(number) * packets;
        }
        assert!((float(link.queue.average) - average).abs() < 1e-6, "{average}");
    }
}

#[test]
fn the_average_decays_on_an_idle_link_as_if_packets_were_sent() {
    let mut link = Link::new(&Params { weight: 0.01, min_th: 1e6, max_th: 1e6, ..Params::default() });
    link.offer(1000);
    assert!(link.serve().is_some() && link.serve().is_none());
    for (idle_ms, packets) in [(0, 0.0), (1, 1.0), (150, 150.0), (2_000, 2000.0)] {
        link.queue.average = fixed(10.0);
        link.now += Duration::from_millis(idle_ms);
        link.offer(1000);
        let expected = 10.0 * math::pow(0.99, packets);
        assert!((float(link.queue.average) - expected).abs() < 1e-6, "{idle_ms} ms: {expected}");
        assert!(link.serve().is_some() && link.serve().is_none());
    }
    // from here on the link is busy: the queue is empty, and that counts as one sample
    link.queue.idle_since = None;
    link.queue.average = fixed(10.0);
    link.now += Duration::from_secs(1);
    link.offer(1000);
    assert!((float(link.queue.average) - 9.9).abs() < 1e-6);
}

#[test]
fn the_probability_is_that_of_the_paper() {
    let constants = Constants::new(&Params { max_p: 0.1, ..Params::default() });
    let at = |average: f64, count: u64| float(constants.probability(fixed(average), count, 1000));
    for (average, count, expected) in [
        (5.0, 0, 0.0),
        (5.0, 1_000_000, 0.0),
        // halfway: p_b = 0.1 / 2
        (10.0, 0, 0.05),
        (10.0, 10, 0.05 / (1.0 - 10.0 * 0.05)),
        (10.0, 19, 1.0),
        (10.0, 500, 1.0),
        // gentle: from 0.1 at 15 to 1 at 30
        (15.0, 0, 0.1),
        (22.5, 0, 0.55),
        (22.5, 1, 1.0),
        (29.999, 0, 0.99994),
    ] {
        assert!((at(average, count) - expected).abs() < 1e-6, "{average} {count}: {}", at(average, count));
    }
    let constants = Constants::new(&Params { max_p: 0.1, unit: Unit::Bytes, ..Params::default() });
    let at = |size, count| float(constants.probability(fixed(10.0), count, size));
    assert!((at(500, 0) - 0.05).abs() < 1e-6 && (at(1500, 0) - 0.15).abs() < 1e-6);
    assert!((at(50, 0) - 0.005).abs() < 1e-6 && (at(1500, 2) - 0.15 / 0.7).abs() < 1e-6);
    assert!((at(65_535, 0) - 1.0).abs() < 1e-6, "never above 1");
}

#[test]
fn gaps_between_drops_are_uniform_and_bounded() {
    let mut link = Link::new(&still(|params| params.max_p = 0.1));
    link.queue.average = fixed(10.0);
    // p_b = 0.05: from one drop to the next each gap from 1 to 19 = 1/p_b − 1 has the probability p_b / (1 − p_b) =
    // 1/19
    let mut gaps = [0u32; 20];
    let mut gap = 0;
    let mut drops = 0;
    while drops < 19_000 {
        gap += 1;
        match link.offer(1000) {
            Verdict::Pass => assert!(link.serve().is_some()),
            verdict => {
                assert_eq!(verdict, Verdict::Drop(DropReason::Early));
                // the first one is counted from the threshold on
                if drops > 0 {
                    gaps[gap] += 1;
                }
                (gap, drops) = (0, drops + 1);
            }
        }
    }
    assert_eq!(gaps[0], 0);
    assert!(gaps[1..].iter().all(|&count| count.abs_diff(1000) < 150), "{gaps:?}");
}

#[test]
fn nothing_is_dropped_below_the_threshold_and_everything_far_above() {
    for (gentle, average, kept) in
        [(true, 4.99, true), (false, 4.99, true), (true, 30.0, false), (false, 15.0, false)]
    {
        let mut link = Link::new(&still(|params| params.gentle = gentle));
        link.queue.average = fixed(average);
        for _ in 0..100 {
            assert_eq!(link.offer(1000) == Verdict::Pass, kept, "{gentle} {average}");
            assert_eq!(link.queue.count, if kept { -1 } else { 0 });
        }
    }
}

#[test]
fn ecn_capable_packets_are_marked_at_random_and_dropped_above_the_maximum() {
    let chosen = |params: &Params, average: f64, ecn: Ecn| {
        let mut link = Link::new(params);
        link.queue.average = fixed(average);
        link.ecn = ecn;
        let verdicts: Vec<Verdict> = (0..200).map(|_| link.offer(1000)).collect();
        let count = |wanted| verdicts.iter().filter(|&&verdict| verdict == wanted).count();
        (count(Verdict::Mark), count(Verdict::Drop(DropReason::Early)))
    };
    let usual = still(|_| {});
    let (marks, drops) = chosen(&usual, 14.0, Ecn::Capable);
    assert!(marks > 3 && drops == 0);
    assert_eq!(chosen(&usual, 14.0, Ecn::NotCapable), (0, marks), "the same packets are dropped");
    assert_eq!(chosen(&usual, 14.0, Ecn::Marked), (0, 0), "they carry their mark already");
    assert_eq!(chosen(&usual, 30.0, Ecn::Capable), (0, 200));
    assert_eq!(chosen(&still(|params| params.mark = false), 14.0, Ecn::Capable), (0, marks));
}

#[test]
fn a_drop_at_a_full_queue_resets_the_count() {
    let mut link = Link::new(&still(|_| {}));
    link.queue.average = fixed(10.0);
    link.queue.set_limit(QueueLimit { packets: 2, bytes: Bytes::UNLIMITED, mark_above: u32::MAX });
    link.offer(1000);
    link.offer(1000);
    assert_eq!((link.queue.backlog().packets, link.queue.count), (2, 1));
    assert_eq!(link.offer(1000), Verdict::Drop(DropReason::QueueFull));
    assert_eq!(link.queue.count, 0);
    link.queue.set_limit(QueueLimit { packets: 9, bytes: Bytes::new(2500), mark_above: u32::MAX });
    assert_eq!(link.offer(501), Verdict::Drop(DropReason::QueueFull));
    assert_eq!(link.queue.drain().len(), 2);
    assert_eq!(link.queue.backlog(), Backlog::default());
}

#[test]
fn powers_in_fixed_point_have_the_error_of_rounding() {
    for (share, exponent) in [(0.998, 1u64), (0.998, 1000), (0.999_999, 1_000_000), (0.5, 40)] {
        let computed = power((share * WHOLE as f64) as u64, exponent) as f64 / WHOLE as f64;
        let expected = math::pow(share, exponent as f64);
        assert!((computed / expected - 1.0).abs() < 1e-8, "{share}^{exponent}: {computed} {expected}");
    }
    assert_eq!(power(WHOLE, u64::MAX), WHOLE);
    assert_eq!(power(WHOLE / 2, u64::MAX), 0);
}

#[test]
fn the_maximum_probability_follows_the_average() {
    // thresholds 5 and 15: the target is from 9 to 11
    let adaptive = still(|params| params.adaptive = true);
    let after = |max_p: f64, average: f64| {
        let mut link = Link::new(&adaptive);
        (link.queue.constants.max_p, link.queue.average) = (fixed(max_p), fixed(average));
        link.now += Duration::from_millis(499);
        link.offer(500);
        assert_eq!(link.queue.constants.max_p, fixed(max_p));
        link.now += Duration::from_millis(1);
        link.offer(500);
        float(link.queue.constants.max_p)
    };
    for (max_p, average, expected) in [
        // α = min(0.01, max_p / 4), β = 0.9
        (0.02, 11.1, 0.025),
        (0.2, 11.1, 0.21),
        (0.495, 20.0, 0.505),
        (0.505, 20.0, 0.505),
        (0.02, 10.9, 0.02),
        (0.02, 9.1, 0.02),
        (0.02, 8.9, 0.018),
        (0.0101, 0.0, 0.00909),
        (0.0099, 0.0, 0.0099),
    ] {
        let found = after(max_p, average);
        assert!((found - expected).abs() < 1e-8, "{max_p} {average}: {found} is not {expected}");
    }
}

#[test]
fn adaptations_are_made_up_for_on_an_idle_link() {
    let mut link = Link::new(&Params { weight: 0.002, adaptive: true, max_p: 0.5, ..Params::default() });
    link.offer(500);
    assert!(link.serve().is_some() && link.serve().is_none());
    link.queue.average = fixed(12.0);
    // packets of 1 ms: the average is 12 × 0.998^500 = 4.41 after 0.5 s, so that each of the 20 adaptations in 10 s
    // decreases max_p
    link.now += Duration::from_millis(10_000);
    link.offer(500);
    let expected = 0.5 * math::pow(0.9, 20.0);
    assert!((float(link.queue.constants.max_p) - expected).abs() < 1e-7);
    // 20 are due in the next 10 s; it stays once it is below 0.01: 0.5 × 0.9^38 = 0.00912
    assert!(link.serve().is_some() && link.serve().is_none());
    link.now += Duration::from_millis(10_000);
    link.offer(500);
    assert!((float(link.queue.constants.max_p) - 0.5 * math::pow(0.9, 38.0)).abs() < 1e-7);
    let mut fixed_p = Link::new(&still(|params| params.max_p = 0.5));
    fixed_p.now += Duration::from_millis(10_000);
    fixed_p.offer(500);
    assert_eq!(fixed_p.queue.constants.max_p, fixed(0.5));
}
