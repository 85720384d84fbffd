//! The controller, the coupling and the scheduler of RFC 9332, appendix A, with numbers computed by hand.

use contract::{Arena, Packet};
use units::Rate;

use super::*;
use crate::queue::testing::packet;

/// A queue with its context.
struct Bench {
    queue: Dualpi2,
    arena: Arena,
    random: Random,
    now: Time,
    dropped: Vec<(PacketId, DropReason)>,
    marked: u64,
}

impl Bench {
    fn with(change: impl FnOnce(&mut Params)) -> Self {
        let mut params = Params::default();
        change(&mut params);
        let limit = QueueLimit { packets: 10_000, bytes: Bytes::UNLIMITED, mark_above: u32::MAX };
        Self {
            queue: Dualpi2::new(&params, limit),
            arena: Arena::new(),
            random: Random::new(1, "", ""),
            now: Time::ZERO,
            dropped: Vec::new(),
            marked: 0,
        }
    }

    fn cx<T>(&mut self, with: impl FnOnce(&mut Dualpi2, &mut PacketCx<'_>) -> T) -> T {
        let mut cx = PacketCx {
            now: self.now,
            rate: Rate::from_mbps(8),
            random: &mut self.random,
            arena: &mut self.arena,
            dropped: &mut self.dropped,
            marked: 0,
        };
        let result = with(&mut self.queue, &mut cx);
        self.marked += cx.marked;
        result
    }

    fn at(&mut self, micros: u64) -> &mut Self {
        self.now = Time::ZERO + Duration::from_micros(micros);
        self
    }

    fn offer(&mut self, ecn: Ecn, count: usize) {
        for _ in 0..count {
            let id = self.arena.insert(Packet { ecn, ..packet(0, 1500) });
            assert_eq!(self.cx(|queue, cx| queue.enqueue(id, cx)), Verdict::Pass);
        }
    }

    fn take(&mut self) -> Option<Ecn> {
        let id = self.cx(|queue, cx| queue.dequeue(cx))?;
        Some(self.arena.get(id).ecn)
    }

    fn probability(&self) -> f64 {
        self.queue.control.probability as f64 / ONE as f64
    }
}

fn near(a: f64, b: f64) {
    assert!((a - b).abs() < 1e-7, "{a} is not {b}");
}

/// A.1, dualpi2_update, every 16 ms with α = 0.16 and β = 3.2. A packet that has waited since 0: at 16 ms,
/// 0.16·(16 − 15) ms + 3.2·16 ms = 0.05136; at 32 ms, + 0.16·17 ms + 3.2·16 ms = 0.10528. Then it leaves, and at 48 ms
/// nothing waits: + 0.16·(−15) ms + 3.2·(−32) ms = 0.00048, and at 64 ms 0.
#[test]
fn the_probability_follows_the_delay_and_its_trend() {
    let mut bench = Bench::with(|_| {});
    bench.offer(Ecn::NotCapable, 1);
    let mut at = |micros| {
        bench.at(micros).cx(|queue, cx| queue.control.catch_up(&queue.constants, cx.now, queue.heads()));
        bench.probability()
    };
    assert_eq!(at(15_999), 0.0);
    near(at(16_000), 0.051_36);
    near(at(32_000), 0.105_28);
    bench.take();
    bench.at(48_000).take();
    near(bench.probability(), 0.000_48);
    bench.at(64_000).take();
    assert_eq!(bench.probability(), 0.0);
}

/// Updates that are made late are those that would have been made in time.
#[test]
fn late_updates_are_exact() {
    let run = |steps: &[u64]| {
        let mut bench = Bench::with(|_| {});
        bench.offer(Ecn::NotCapable, 1);
        for step in steps {
            bench.at(*step).cx(|queue, cx| queue.control.catch_up(&queue.constants, cx.now, queue.heads()));
        }
        (bench.queue.control.probability, bench.queue.control.next_update)
    };
    assert_eq!(run(&[16_000, 32_000, 50_000, 64_000, 80_000]), run(&[80_000]));
}

/// A.1: p_CL = 2 p', and a classic packet is marked with probability p'². With p' = 0.3, of 20 000 packets 12 000 and
/// 1800 are, within three standard deviations of 69 and 40. Those that are not ECN-capable are dropped.
#[test]
fn marks_of_both_queues_are_coupled_by_a_square() {
    let mut bench = Bench::with(|params| params.threshold = Duration::from_secs(1));
    bench.queue.control.probability = (0.3 * ONE as f64) as u64;
    for (ecn, expected, tolerance) in
        [(Ecn::CapableL4s, 12_000.0, 210.0), (Ecn::Capable, 1800.0, 120.0), (Ecn::NotCapable, 1800.0, 120.0)]
    {
        (bench.marked, bench.dropped) = (0, Vec::new());
        for _ in 0..20 {
            // the last two are a short queue, which is not chosen from
            bench.offer(ecn, 1002);
            while bench.queue.backlog().packets > 2 {
                bench.take();
            }
            bench.queue.drain();
        }
        let found = (bench.marked as f64, bench.dropped.len() as f64);
        let (chosen, other) = if ecn == Ecn::NotCapable { (found.1, found.0) } else { found };
        assert!((chosen - expected).abs() < tolerance, "{ecn:?}: {chosen}");
        assert_eq!(other, 0.0, "{ecn:?}");
    }
}

/// The scheduler: with 10 % for classic flows and packets of one size, scalable ones are first, and then one in ten is
/// classic.
#[test]
fn classic_packets_get_their_share_and_no_more() {
    let mut bench = Bench::with(|params| params.threshold = Duration::from_secs(1));
    bench.offer(Ecn::Capable, 200);
    bench.offer(Ecn::CapableL4s, 1000);
    let order: Vec<bool> = (0..500).filter_map(|_| bench.take()).map(|ecn| ecn == Ecn::Capable).collect();
    assert!(order[..8].iter().all(|classic| !classic));
    // the credit of an empty queue is used up by eight scalable packets, which earn 10 % each; a classic one costs 90 %
    assert_eq!(order[100..].iter().filter(|classic| **classic).count(), 40);
    // an idle queue of scalable flows leaves the link to the others
    while bench.queue.scalable.len() > 0 {
        bench.take();
    }
    assert_eq!(bench.take(), Some(Ecn::Capable));
}

/// A scalable packet is marked if its delay exceeds 1 ms, also if nothing else waits; a classic one is not.
#[test]
fn a_step_marks_scalable_packets_by_their_own_delay() {
    for (waited, marked) in [(1000, Ecn::CapableL4s), (1001, Ecn::Marked)] {
        let mut bench = Bench::with(|_| {});
        bench.offer(Ecn::CapableL4s, 1);
        bench.offer(Ecn::Capable, 1);
        bench.at(waited);
        assert_eq!([bench.take(), bench.take()], [Some(marked), Some(Ecn::Capable)]);
    }
}

/// Linux, apply_step: with `min_qlen_step` = 2, packets 1 and 2 of five find 0 and 1 packets when they arrive, and are
/// not marked although all wait for 5 ms; 3, 4 and 5 find 2, 3 and 4. After two departures, of 3 and 4 packets, one
/// more finds 3 and is marked. What a packet found counts, not what is left: the last one leaves an empty queue. A
/// packet of a classic flow is not counted.
#[test]
fn a_step_spares_packets_that_found_a_short_queue() {
    let mut bench = Bench::with(|params| params.min_qlen_step = 2);
    bench.offer(Ecn::Capable, 3);
    bench.offer(Ecn::CapableL4s, 5);
    bench.at(5000);
    let (kept, marked) = (Some(Ecn::CapableL4s), Some(Ecn::Marked));
    assert_eq!([bench.take(), bench.take()], [kept, kept]);
    bench.offer(Ecn::CapableL4s, 1);
    bench.at(10_000);
    assert_eq!([(); 4].map(|()| bench.take()), [marked; 4]);
    assert_eq!(
        [(); 4].map(|()| bench.take()),
        [Some(Ecn::Capable), Some(Ecn::Capable), Some(Ecn::Capable), None]
    );
    // a queue that was emptied starts again
    bench.offer(Ecn::CapableL4s, 3);
    assert_eq!(bench.queue.drain().len(), 3);
    bench.offer(Ecn::CapableL4s, 3);
    bench.at(15_000);
    assert_eq!([(); 3].map(|()| bench.take()), [kept, kept, marked]);
}

/// The coupled probability marks packets that the step spares: with p' = 0.5, 2 p' is 1. The last two are a short
/// queue.
#[test]
fn the_coupling_marks_what_the_step_spares() {
    let mut bench = Bench::with(|params| params.min_qlen_step = 1_000_000);
    bench.queue.control.probability = ONE / 2;
    bench.offer(Ecn::CapableL4s, 4);
    bench.at(5000);
    let (kept, marked) = (Some(Ecn::CapableL4s), Some(Ecn::Marked));
    assert_eq!([(); 4].map(|()| bench.take()), [marked, marked, kept, kept]);
}

/// A.1, laqm, with minTh = 800 us and a range of 400 us: a quarter of the packets that waited for 900 us.
#[test]
fn a_ramp_marks_a_growing_share() {
    let mut bench = Bench::with(|params| {
        (params.native, params.threshold) = (NativeAqm::Ramp, Duration::from_micros(800));
    });
    let natives = [800, 900, 1000, 1200].map(|micros| bench.queue.constants.native(micros * 1000));
    assert_eq!(natives, [0, ONE / 4, ONE / 2, ONE]);
    bench.offer(Ecn::CapableL4s, 4000);
    bench.at(900);
    (0..4000).for_each(|_| assert!(bench.take().is_some()));
    assert!(bench.marked.abs_diff(1000) < 90, "{}", bench.marked);
}

/// A.2: where 2 p' exceeds 1, scalable packets are dropped as classic ones, ECN-capable or not, and all that remain are
/// marked.
#[test]
fn an_overload_is_fought_with_drops() {
    let mut bench = Bench::with(|params| params.threshold = Duration::from_secs(1));
    bench.queue.control.probability = ONE / 10 * 7;
    bench.offer(Ecn::CapableL4s, 1000);
    bench.offer(Ecn::Capable, 1000);
    while bench.queue.bytes() >= 4 * 1514 {
        bench.take();
    }
    // 0.7² of 2000, within three standard deviations of 22
    assert!(bench.dropped.len().abs_diff(980) < 67, "{}", bench.dropped.len());
    assert!(bench.marked.abs_diff(510) < 50, "{}", bench.marked);

    let mut without = Bench::with(|params| params.drop_overload = false);
    without.offer(Ecn::CapableL4s, 3);
    without.at(10_000_000).take();
    assert_eq!(without.probability(), 0.5, "marks are certain, and the probability grows no further");
}

/// Both queues share the limit.
#[test]
fn both_queues_share_the_limit() {
    let mut bench = Bench::with(|_| {});
    bench.queue.set_limit(QueueLimit { packets: 2, bytes: Bytes::UNLIMITED, mark_above: u32::MAX });
    bench.offer(Ecn::Capable, 1);
    bench.offer(Ecn::CapableL4s, 1);
    let id = bench.arena.insert(packet(0, 1500));
    assert_eq!(bench.cx(|queue, cx| queue.enqueue(id, cx)), Verdict::Drop(DropReason::QueueFull));
    assert_eq!(bench.queue.backlog(), Backlog { packets: 2, bytes: Bytes::new(3000) });
}
