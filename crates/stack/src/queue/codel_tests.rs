//! CoDel against RFC 8289: a link that sends a packet each millisecond, and drops computed by hand.

use contract::{Arena, DropReason, Ecn, Packet, Random};
use units::{Bytes, Rate};

use super::*;
use crate::queue::testing::packet;

const MS: Duration = Duration::from_millis(1);

struct Link {
    queue: Codel,
    arena: Arena,
    random: Random,
    now: Time,
    ecn: Ecn,
    /// Times of drops or marks, in ms.
    dropped: Vec<u64>,
    marked: Vec<u64>,
    sent: u64,
}

impl Link {
    fn new(params: Params) -> Self {
        let limit = QueueLimit { packets: 1000, bytes: Bytes::UNLIMITED, mark_above: u32::MAX };
        Self {
            queue: Codel::new(&params, limit),
            arena: Arena::new(),
            random: Random::new(1, "", ""),
            now: Time::ZERO,
            ecn: Ecn::NotCapable,
            dropped: Vec::new(),
            marked: Vec::new(),
            sent: 0,
        }
    }

    fn with<T>(&mut self, act: impl FnOnce(&mut Codel, &mut PacketCx<'_>) -> T) -> T {
        let mut dropped = Vec::new();
        let mut cx = PacketCx {
            now: self.now,
            rate: Rate::from_mbps(8),
            random: &mut self.random,
            arena: &mut self.arena,
            dropped: &mut dropped,
            marked: 0,
        };
        let result = act(&mut self.queue, &mut cx);
        let ms = (self.now - Time::ZERO).as_nanos() / 1_000_000;
        self.marked.extend((0..cx.marked).map(|_| ms));
        for (id, why) in dropped {
            assert_eq!(why, DropReason::Early);
            self.arena.release(id);
            self.dropped.push(ms);
        }
        result
    }

    fn offer(&mut self, size_bytes: u32) -> Verdict {
        let id = self.arena.insert(Packet { ecn: self.ecn, ..packet(0, size_bytes) });
        self.with(|queue, cx| queue.enqueue(id, cx))
    }

    /// One packet leaves, if there is one. Returns whether there was one.
    fn serve(&mut self) -> bool {
        let Some(id) = self.with(|queue, cx| queue.dequeue(cx)) else { return false };
        self.arena.release(id);
        self.sent += 1;
        true
    }

    /// Until `end`, in ms: the queue is kept at this number of packets, and one leaves each millisecond.
    fn crowd(&mut self, packets: u32, end: u64) {
        while self.now < Time::ZERO + Duration::from_millis(end) {
            while self.queue.backlog().packets < packets {
                assert_eq!(self.offer(1000), Verdict::Pass);
            }
            self.serve();
            self.now += MS;
        }
    }

    /// No packet arrives until `end`, in ms.
    fn rest(&mut self, end: u64) {
        while self.now < Time::ZERO + Duration::from_millis(end) {
            self.serve();
            self.now += MS;
        }
    }
}

#[test]
fn drops_begin_after_an_interval_above_the_target_and_come_ever_faster() {
    let mut link = Link::new(Params::default());
    link.crowd(20, 500);
    // the packet that leaves at 5 ms waited 5 ms, no longer less than the target: 105 ms. From there 100/√1, 100/√2, …
    // ms after each other: 205, 275.7, 333.4, 383.4, 428.2, 469.0 ms, each at the departure that follows
    assert_eq!(link.dropped, [105, 205, 276, 334, 384, 429, 469]);
    assert_eq!(link.sent, 500, "what takes the place of a dropped packet leaves at once");
}

#[test]
fn a_burst_that_is_gone_within_the_interval_is_let_through() {
    let mut link = Link::new(Params::default());
    for _ in 0..100 {
        link.offer(1000);
    }
    link.rest(300);
    assert_eq!((link.sent, link.dropped.len()), (100, 0));
}

#[test]
fn one_packet_below_the_target_ends_it() {
    let mut link = Link::new(Params::default());
    link.crowd(20, 300);
    assert_eq!(link.dropped, [105, 205, 276]);
    link.rest(330);
    assert!(link.queue.backlog().packets == 0 && !link.queue.state.dropping);
    link.crowd(20, 435);
    assert_eq!(link.dropped, [105, 205, 276], "from 335 ms on it is above again, until 435 ms");
    link.crowd(20, 436);
    assert_eq!(link.dropped.len(), 4);
}

#[test]
fn a_queue_that_comes_back_soon_is_dropped_from_at_the_rate_it_had() {
    let mut link = Link::new(Params::default());
    link.crowd(20, 430);
    assert_eq!((link.queue.state.count, link.queue.state.count_at_start), (6, 1));
    link.rest(500);
    link.dropped.clear();
    link.crowd(20, 700);
    // above from 505 ms on; it begins with 6 − 1 = 5: 605, then 100/√5 = 44.7, 100/√6 = 40.8 ms later
    assert_eq!(link.dropped, [605, 650, 691]);
    assert_eq!(link.queue.state.count_at_start, 5);
}

#[test]
fn after_sixteen_intervals_the_rate_is_forgotten() {
    // the next drop would have been at 469.0 ms; until 2069.0 ms, 16 intervals later, the rate is kept
    for (from, drops) in [(1960, [2065, 2110]), (1970, [2075, 2175])] {
        let mut link = Link::new(Params::default());
        link.crowd(20, 430);
        link.rest(from);
        link.dropped.clear();
        link.crowd(20, from + 220);
        assert_eq!(link.dropped[..2], drops);
    }
}

#[test]
fn a_queue_of_no_more_than_a_packet_is_never_dropped_from() {
    let mut link = Link::new(Params::default());
    // one packet remains behind each departure, so that each waits 20 ms: a slow link, not a standing queue
    link.offer(1000);
    for _ in 0..100 {
        link.offer(1000);
        link.now += Duration::from_millis(20);
        assert!(link.serve());
    }
    assert!(link.dropped.is_empty());
    // with two behind each departure the queue is a standing one
    link.offer(1000);
    for _ in 0..100 {
        link.offer(1000);
        link.now += Duration::from_millis(20);
        assert!(link.serve());
    }
    assert!(!link.dropped.is_empty());
}

#[test]
fn ecn_capable_packets_are_marked_at_the_same_times() {
    let mut link = Link::new(Params::default());
    link.ecn = Ecn::Capable;
    link.crowd(20, 500);
    assert_eq!(link.marked, [105, 205, 276, 334, 384, 429, 469]);
    assert!(link.dropped.is_empty());
    let mut link = Link::new(Params { mark: false, ..Params::default() });
    link.ecn = Ecn::Capable;
    link.crowd(20, 300);
    assert_eq!((link.marked.len(), link.dropped.len()), (0, 3), "unless it is to drop them");
}

#[test]
fn a_large_backlog_has_several_drops_at_once() {
    let mut link = Link::new(Params::default());
    link.crowd(20, 206);
    assert_eq!(link.dropped, [105, 205]);
    // the link stands still until 500 ms: 275.7, 333.4, 383.4, 428.2, 469.0 ms are due, the next one is 506.8 ms
    link.now = Time::ZERO + Duration::from_millis(500);
    link.serve();
    assert_eq!(link.dropped, [105, 205, 500, 500, 500, 500, 500]);
    let next = link.queue.state.next - Time::ZERO;
    assert_eq!(next.as_nanos() / 100_000, 5067, "469.0 + 100/√7");
}

#[test]
fn marks_of_a_large_backlog_go_to_consecutive_packets() {
    let mut link = Link::new(Params::default());
    link.ecn = Ecn::Capable;
    link.crowd(20, 206);
    link.now = Time::ZERO + Duration::from_millis(500);
    for _ in 0..3 {
        link.serve();
        link.now += MS;
    }
    assert_eq!(link.marked, [105, 205, 500, 501, 502]);
}

#[test]
fn arrivals_at_a_full_queue_are_dropped() {
    let mut link = Link::new(Params::default());
    link.queue.limit.packets = 3;
    let verdicts: Vec<Verdict> = (0..4).map(|_| link.offer(1000)).collect();
    assert_eq!(verdicts[2..], [Verdict::Pass, Verdict::Drop(DropReason::QueueFull)]);
    link.queue.set_limit(QueueLimit { packets: 100, bytes: Bytes::new(3500), mark_above: u32::MAX });
    assert_eq!(link.offer(501), Verdict::Drop(DropReason::QueueFull));
    assert_eq!(link.offer(500), Verdict::Pass);
    assert_eq!(link.queue.backlog(), Backlog { packets: 4, bytes: Bytes::new(3500) });
    assert_eq!(link.queue.drain().len(), 4);
    assert_eq!(link.queue.backlog(), Backlog::default());
}

fn like_linux() -> Params {
    Params { like: Like::Linux, ..Params::default() }
}

#[test]
fn linux_counts_each_drop_and_takes_one_step_of_newtons_method() {
    let mut link = Link::new(like_linux());
    link.crowd(20, 500);
    // late at 105 ms, so the first drop is after it, at 106 ms. The factors are 1 − 2^−16, then by x ← x (3 − count x²)
    // / 2: 0.5, 0.5625, 0.4878, 0.4415, 0.4041, 0.3752; the drops are due at 206.0, 256.0, 312.2, 361.0, 405.2, 445.6
    // and 483.1 ms
    assert_eq!(link.dropped, [106, 206, 256, 313, 362, 406, 446, 484]);
    assert_eq!(link.queue.state.count(), 8);
}

#[test]
fn linux_wraps_where_the_count_has_jumped() {
    // x = 1 − 2^−16, count 19: 3 − count x² is negative. (3 · 2^32 − 19 · 4294836225) mod 2^64, shifted by 2, times
    // 4294901760 mod 2^64, and shifted by 47, is 26: the next drop is due 100 ms · 26 / 65536 = 39.672 us later
    let mut state = State { inverse_root: u16::MAX, ..State::default() };
    state.set_count(19);
    assert_eq!(state.inverse_root, 26);
    let settings = Settings::new(MS * 5, MS * 100, true, Like::Linux);
    assert_eq!(state.after(&settings, Time::ZERO), Time::from_nanos(39_672));
    // a queue that has never been in the dropping state has 0, and keeps it
    let mut state = State::default();
    state.set_count(19);
    assert_eq!(state.inverse_root, 0);
}
