//! Impairments of a link: bursty loss, corruption, jitter, reordering, duplication, and release in bursts. Each follows
//! Linux's netem.
//!
//! A packet is impaired when it reaches the end of the part of the propagation delay that every packet has. What
//! remains of its delay is then drawn, and it is held until it arrives.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use contract::{PacketId, Random};
use units::{Duration, Time};

use crate::{GilbertElliott, Impair};

/// The impairments of a port and the packets that it holds.
pub(crate) struct Impairments {
    spec: Impair,
    random: Random,
    /// The state of the Gilbert-Elliott model.
    bad: bool,
    /// Packets since the last reordered one.
    since_reordered: u32,
    /// The propagation delay of the link.
    delay: Duration,
    /// What the delay has beyond the shortest that a packet can have.
    beyond_shortest: Duration,
    /// Whether any packet may be held.
    delays: bool,
    /// When the last packet arrives that keeps the order.
    last: Time,
    /// Packets that have not arrived and have overtaken none of these, with their time and the number in the order in
    /// which they were held.
    in_order: VecDeque<Held>,
    /// Those that arrive before one that was held earlier.
    overtaking: BinaryHeap<Reverse<Held>>,
    count: u64,
}

/// A packet that has not arrived: its time, and its number in the order in which packets were held.
type Held = (Time, u64, PacketId);

/// What happens to a packet and its copy: the time at which each arrives, [`DAMAGED`] for one that the checksum drops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// The packet is lost.
    Lost,
    /// It arrives at this time.
    Arrives(Time),
    /// It and a copy arrive at these times.
    Twice(Time, Time),
}

/// The time at which a damaged packet arrives: never.
pub(crate) const DAMAGED: Time = Time::NEVER;

impl Impairments {
    pub(in crate::fabric) fn new(spec: Impair, delay: Duration, random: Random) -> Self {
        let delays = spec.jitter.is_some() || spec.reorder.is_some() || spec.release_every > Duration::ZERO;
        Self {
            spec,
            random,
            bad: false,
            since_reordered: 0,
            delay,
            beyond_shortest: Duration::ZERO,
            delays,
            last: Time::ZERO,
            in_order: VecDeque::new(),
            overtaking: BinaryHeap::new(),
            count: 0,
        }
    }

    /// The part of the propagation delay that every packet has before it is impaired. Sets the delay of the link.
    pub(super) fn set_delay(&mut self, delay: Duration) -> Duration {
        self.delay = delay;
        let shortest = self.shortest();
        self.beyond_shortest = delay - shortest;
        shortest
    }

    /// Ends the loss in bursts.
    pub(super) fn end_bursts(&mut self) {
        self.spec.bursts = None;
    }

    /// The shortest delay that a packet can have.
    fn shortest(&self) -> Duration {
        match (self.spec.reorder, self.spec.jitter) {
            // a reordered packet is not delayed   [tc-netem(8)]
            (Some(_), _) => Duration::ZERO,
            (None, Some(jitter)) => self.delay.saturating_sub(jitter.by),
            (None, None) => self.delay,
        }
    }

    /// Draws what happens to the packet that has had its shortest delay now.
    #[inline]
    pub(crate) fn draw(&mut self, now: Time) -> Fate {
        if let Some(model) = self.spec.bursts
            && self.loses(model)
        {
            return Fate::Lost;
        }
        let twice = self.spec.duplicate > 0.0 && self.random.chance(self.spec.duplicate);
        let first = self.arrival(now);
        if twice { Fate::Twice(first, self.arrival(now)) } else { Fate::Arrives(first) }
    }

    /// Gilbert-Elliott: the state decides about the packet, then it may change.
    #[inline]
    fn loses(&mut self, model: GilbertElliott) -> bool {
        let (loss, change) =
            if self.bad { (model.loss_in_bad, model.to_good) } else { (model.loss_in_good, model.to_bad) };
        let lost = loss > 0.0 && self.random.chance(loss);
        if self.random.chance(change) {
            self.bad = !self.bad;
        }
        lost
    }

    /// When a packet arrives that has had its shortest delay now, or [`DAMAGED`].
    #[inline]
    fn arrival(&mut self, now: Time) -> Time {
        if self.spec.corrupt > 0.0 && self.random.chance(self.spec.corrupt) {
            return DAMAGED;
        }
        if self.delays { self.delayed_arrival(now) } else { now }
    }

    fn delayed_arrival(&mut self, now: Time) -> Time {
        if let Some(reorder) = self.spec.reorder {
            if self.since_reordered + 1 >= reorder.gap && self.random.chance(reorder.probability) {
                self.since_reordered = 0;
                return now;
            }
            self.since_reordered = self.since_reordered.saturating_add(1);
        }
        let base_delay = self.beyond_shortest;
        let mut at = now + base_delay;
        if let Some(jitter) = self.spec.jitter {
            // uniform between −by and by around the delay, but not below zero
            let span = jitter.by.as_nanos();
            let drawn = self.random.below(2 * span + 1);
            at = now + (base_delay + Duration::from_nanos(drawn)).saturating_sub(jitter.by);
            if jitter.keeps_order {
                self.last = self.last.max(at);
                at = self.last;
            }
        }
        let every = self.spec.release_every.as_nanos();
        if every > 0 {
            at = Time::from_nanos(at.as_nanos().div_ceil(every) * every);
        }
        at
    }

    /// Holds a packet until it arrives.
    #[inline]
    pub(crate) fn hold(&mut self, packet: PacketId, at: Time) {
        self.count += 1;
        let held = (at, self.count, packet);
        match self.in_order.back() {
            Some((last, ..)) if *last > at => self.overtaking.push(Reverse(held)),
            _ => self.in_order.push_back(held),
        }
    }

    /// When the next packet arrives that is held, and whether it overtakes another.
    #[inline]
    fn first(&self) -> Option<(Time, bool)> {
        let Some(in_order) = self.in_order.front() else {
            return self.overtaking.peek().map(|Reverse((at, ..))| (*at, true));
        };
        match self.overtaking.peek() {
            Some(Reverse(overtaking)) if overtaking < in_order => Some((overtaking.0, true)),
            _ => Some((in_order.0, false)),
        }
    }

    /// The next packet that arrives now.
    #[inline]
    pub(crate) fn take(&mut self, now: Time) -> Option<PacketId> {
        let (at, overtakes) = self.first()?;
        if at > now {
            return None;
        }
        if overtakes {
            return self.overtaking.pop().map(|Reverse((_, _, packet))| packet);
        }
        self.in_order.pop_front().map(|(_, _, packet)| packet)
    }

    /// Whether a packet that arrives at `at` would overtake one that is held until then.
    #[inline]
    pub(crate) fn holds_until(&self, at: Time) -> bool {
        self.first().is_some_and(|(first, _)| first <= at)
    }

    /// Removes all held packets, because the link goes down, in the order of their arrival.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = PacketId> + use<> {
        self.last = Time::ZERO;
        let overtaking = std::mem::take(&mut self.overtaking).into_iter().map(|Reverse(held)| held);
        let mut held: Vec<Held> = self.in_order.drain(..).chain(overtaking).collect();
        held.sort_unstable();
        held.into_iter().map(|(_, _, packet)| packet)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Jitter, Reorder};

    const N: u64 = 100_000;

    const fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    fn impaired(spec: Impair) -> Impairments {
        let mut created = Impairments::new(spec, ms(20), Random::new(1, "link.test.forward", "impair"));
        created.set_delay(ms(20));
        created
    }

    /// Delays in ns of packets that are sent every millisecond, with the part before the impairment.
    fn delays(mut link: Impairments) -> Vec<u64> {
        let before = link.shortest().as_nanos();
        let sent = (0..N).map(|i| Time::ZERO + ms(i));
        let delays = sent.map(|now| match link.draw(now) {
            Fate::Arrives(at) => before + (at - now).as_nanos(),
            fate => panic!("{fate:?}"),
        });
        delays.collect()
    }

    #[test]
    fn a_bursty_loss_has_the_share_and_the_length_of_its_model() {
        let bursts = GilbertElliott { to_bad: 0.01, to_good: 0.2, loss_in_bad: 1.0, loss_in_good: 0.0 };
        let mut link = impaired(Impair { bursts: Some(bursts), ..Impair::default() });
        let lost: Vec<bool> = (0..N).map(|_| link.draw(Time::ZERO) == Fate::Lost).collect();
        // in the bad state 0.01 / (0.01 + 0.2) = 4.76 % of the time, for 1 / 0.2 = 5 packets
        let share = lost.iter().filter(|lost| **lost).count() as f64 / N as f64;
        assert!((share - 0.0476).abs() < 0.005, "{share}");
        let bursts: Vec<usize> =
            lost.chunk_by(|a, b| a == b).filter(|run| run[0]).map(<[bool]>::len).collect();
        let mean = bursts.iter().sum::<usize>() as f64 / bursts.len() as f64;
        assert!((mean - 5.0).abs() < 0.5, "{mean}");
    }

    #[test]
    fn jitter_is_uniform_around_the_delay() {
        let jitter = Jitter { by: ms(5), keeps_order: false };
        let delays = delays(impaired(Impair { jitter: Some(jitter), ..Impair::default() }));
        let mean = delays.iter().sum::<u64>() as f64 / N as f64 / 1e6;
        assert!((mean - 20.0).abs() < 0.05, "{mean}");
        let (low, high) = (delays.iter().min().expect("many"), delays.iter().max().expect("many"));
        assert!((15_000_000..15_010_000).contains(low) && (24_990_000..=25_000_000).contains(high));
        let overtaken = delays.windows(2).filter(|pair| pair[1] + 1_000_000 < pair[0]).count();
        // the difference of two uniform delays of width 10 ms exceeds 1 ms with probability (9/10)²/2 = 40.5 %
        assert!((overtaken as f64 / N as f64 - 0.405).abs() < 0.01, "{overtaken}");
    }

    #[test]
    fn jitter_that_keeps_order_lets_no_packet_overtake() {
        let jitter = Jitter { by: ms(5), keeps_order: true };
        let delays = delays(impaired(Impair { jitter: Some(jitter), ..Impair::default() }));
        assert!(delays.windows(2).all(|pair| pair[1] + 1_000_000 >= pair[0]));
        assert!(delays.iter().all(|delay| (15_000_000..=25_000_000).contains(delay)));
    }

    #[test]
    fn every_fifth_packet_skips_the_delay() {
        let reorder = Reorder { probability: 1.0, gap: 5 };
        let delays = delays(impaired(Impair { reorder: Some(reorder), ..Impair::default() }));
        for (number, delay) in (1..).zip(&delays[..20]) {
            assert_eq!(*delay, if number % 5 == 0 { 0 } else { 20_000_000 }, "packet {number}");
        }
    }

    #[test]
    fn packets_are_released_together() {
        let mut link = impaired(Impair { release_every: ms(8), ..Impair::default() });
        let at = |now: u64, link: &mut Impairments| link.draw(Time::ZERO + ms(now));
        for (now, release) in [(1, 8), (7, 8), (8, 8), (9, 16), (25, 32)] {
            assert_eq!(at(now, &mut link), Fate::Arrives(Time::ZERO + ms(release)));
        }
    }

    #[test]
    fn one_packet_in_ten_arrives_twice() {
        let mut link = impaired(Impair { duplicate: 0.1, ..Impair::default() });
        let twice = (0..N).filter(|_| matches!(link.draw(Time::ZERO), Fate::Twice(..))).count();
        assert!((twice as f64 / N as f64 - 0.1).abs() < 0.005, "{twice}");
    }

    #[test]
    fn one_packet_in_ten_is_damaged_and_of_copies_each_alone() {
        let mut link = impaired(Impair { corrupt: 0.1, ..Impair::default() });
        let damaged = (0..N).filter(|_| link.draw(Time::ZERO) == Fate::Arrives(DAMAGED)).count();
        assert!((damaged as f64 / N as f64 - 0.1).abs() < 0.005, "{damaged}");
        let mut link = impaired(Impair { corrupt: 0.1, duplicate: 1.0, ..Impair::default() });
        let both = (0..N).filter(|_| link.draw(Time::ZERO) == Fate::Twice(DAMAGED, DAMAGED)).count();
        assert!((both as f64 / N as f64 - 0.01).abs() < 0.002, "{both}");
    }

    #[test]
    fn held_packets_leave_by_their_times_and_then_in_order() {
        let mut link = impaired(Impair::default());
        for (packet, at) in [(1, 7), (2, 5), (3, 7), (4, 5)] {
            link.hold(PacketId(packet), Time::ZERO + ms(at));
        }
        assert_eq!(link.take(Time::ZERO + ms(4)), None);
        assert_eq!(link.take(Time::ZERO + ms(5)), Some(PacketId(2)));
        assert_eq!(link.take(Time::ZERO + ms(5)), Some(PacketId(4)));
        assert_eq!(link.take(Time::ZERO + ms(5)), None);
        assert_eq!(link.drain().collect::<Vec<_>>(), [PacketId(1), PacketId(3)]);
    }
}
