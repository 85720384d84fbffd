//! The loss event rate: the history of loss intervals of equation-based schemes at receivers [RFC5348 §5],
//! [RFC4654 §5]. The caller detects losses and reports arrivals and runs of lost packets.

use units::{Duration, Time};

/// The loss events of one stream, and the packets between them.
///
/// A packet is lost at the time at which it would have arrived, interpolated between its neighbours. A loss starts a
/// new event if it is more than one round-trip time after the first loss of the last event. Interval I₀ is open and
/// ends with the newest packet; I₁ … Iₙ are closed, the newest first. Memory is constant.
#[derive(Clone, Debug)]
pub struct LossEvents {
    /// w₀ … wₙ₋₁.
    weights: Vec<f64>,
    /// Minimum factor of history discounting; 1 for none.
    discount: f64,
    event: Option<Event>,
    /// I₁ … Iₙ, those that exist.
    closed: Vec<Interval>,
    /// Highest number that has arrived.
    newest: u64,
    /// The latest arrivals, in a ring.
    recent: [Arrived; RECENT],
    arrivals: usize,
}

/// The current loss event.
#[derive(Clone, Copy, Debug)]
struct Event {
    /// Number of its first lost packet.
    first: u64,
    /// When that packet would have arrived.
    at: Time,
}

/// A closed interval.
#[derive(Clone, Copy, Debug)]
struct Interval {
    /// Packets from the first lost packet of an event to the first of the next.
    packets: f64,
    /// DFᵢ: what discounting has left of its weight.
    factor: f64,
    /// It was not measured: it is the caller's estimate of the interval before the first event.
    estimated: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct Arrived {
    seq: u64,
    at: Time,
}

impl LossEvents {
    /// A history of `intervals` closed intervals, at least one: 8 in both RFCs. `discount` is the threshold of history
    /// discounting, the minimum share of its weight that an old interval keeps while the open one grows [RFC5348 §5.5];
    /// `None` for no discounting.
    pub fn new(intervals: usize, discount: Option<f64>) -> Self {
        let n = intervals.max(1);
        // wᵢ = 1 for i < n/2, otherwise 1 − (i − (n/2 − 1))/(n/2 + 1) = 2(n − i)/(n + 2)   [RFC5348 §5.4]
        let weight = |i: usize| if 2 * i < n { 1.0 } else { 2.0 * (n - i) as f64 / (n + 2) as f64 };
        Self {
            weights: (0..n).map(weight).collect(),
            discount: discount.unwrap_or(1.0).clamp(0.0, 1.0),
            event: None,
            closed: Vec::with_capacity(n + 1),
            newest: 0,
            recent: [Arrived::default(); RECENT],
            arrivals: 0,
        }
    }

    /// Takes the arrival of packet `seq`.
    #[inline]
    pub fn arrived(&mut self, seq: u64, at: Time) {
        self.newest = self.newest.max(seq);
        self.recent[self.arrivals % RECENT] = Arrived { seq, at };
        self.arrivals += 1;
    }

    /// Takes the loss of `packets` packets from number `lost` on, which the arrival of packet `seq` at `at` reveals.
    /// Losses within `rtt` of the first belong to one event. `first` returns the length of the interval before the
    /// first event in packets; it is called only at the first event. Losses must be given in the order of numbers.
    /// Returns the number of new events.
    pub fn lost(
        &mut self,
        (lost, packets): (u64, u64),
        (seq, at): (u64, Time),
        rtt: Duration,
        first: impl FnOnce() -> f64,
    ) -> u64 {
        let end = lost.saturating_add(packets);
        let (before, after) = self.neighbours(lost, end, Arrived { seq, at });
        let mut first = Some(first);
        let mut started = 0;
        let mut next = lost;
        while next < end {
            let time = nominal(next, before, after);
            if let Some(event) = self.event
                && time <= event.at + rtt
            {
                // the first lost packet that is late enough for a new event, if there is one
                next = first_after(event.at + rtt, before, after).max(next + 1);
                continue;
            }
            // called only for the first event
            self.begin(next, time, || first.take().map_or(1.0, |first| first()));
            started += 1;
            next += 1;
        }
        started
    }

    /// Takes packet `seq` that arrived at `at` with a CE mark, which counts as a loss [RFC5348 §5.1]. `rtt` and `first`
    /// are as in [`Self::lost`]. Returns whether a new event started.
    pub fn marked(&mut self, seq: u64, at: Time, rtt: Duration, first: impl FnOnce() -> f64) -> bool {
        let begins = self.event.is_none_or(|event| at > event.at + rtt);
        if begins {
            self.begin(seq, at, first);
        }
        begins
    }

    /// Whether there was a loss event.
    pub const fn any(&self) -> bool {
        self.event.is_some()
    }

    /// Loss event rate p from 0 to 1; 0 before the first event.
    pub fn rate(&self) -> f64 {
        let Some(event) = self.event else { return 0.0 };
        let open = self.open(event);
        let discount = self.discounting(open);
        let (mut with_open, mut of_open) = (open * self.weights[0], self.weights[0]);
        for (weight, interval) in self.weights[1..].iter().zip(&self.closed) {
            let weight = weight * interval.factor * discount;
            with_open += weight * interval.packets;
            of_open += weight;
        }
        // p = 1/max(I_mean over I₀ … Iₙ₋₁, I_mean over I₁ … Iₙ)                   [RFC5348 §5.4]
        let mean = (with_open / of_open).max(self.mean_closed().unwrap_or(0.0));
        1.0 / mean.max(1.0)
    }

    /// I₀, the packets since the first loss of the last event, and the weighted mean over I₁ … Iₙ; `None` before the
    /// first event.
    pub fn intervals(&self) -> Option<(f64, f64)> {
        Some((self.open(self.event?), self.mean_closed()?))
    }

    /// Multiplies the interval before the first event by `factor`, if it still counts, because its length was computed
    /// before the round-trip time was known.
    pub fn scale_first(&mut self, factor: f64) {
        for interval in self.closed.iter_mut().filter(|interval| interval.estimated) {
            interval.packets = (interval.packets * factor).max(1.0);
        }
    }

    /// Removes all events.
    pub fn clear(&mut self) {
        self.event = None;
        self.closed.clear();
    }

    /// Starts an event at packet `seq`.
    fn begin(&mut self, seq: u64, at: Time, first: impl FnOnce() -> f64) {
        match self.event {
            None => self.close(first(), true),
            Some(event) => self.close(seq.saturating_sub(event.first) as f64, false),
        }
        self.event = Some(Event { first: seq, at });
    }

    /// I₀.
    fn open(&self, event: Event) -> f64 {
        (self.newest.saturating_sub(event.first) + 1) as f64
    }

    /// Mean over I₁ … Iₙ.
    fn mean_closed(&self) -> Option<f64> {
        let (mut sum, mut of) = (0.0, 0.0);
        for (weight, interval) in self.weights.iter().zip(&self.closed) {
            sum += weight * interval.factor * interval.packets;
            of += weight * interval.factor;
        }
        (of > 0.0).then(|| sum / of)
    }

    /// DF, the discount of all closed intervals while the open one has `open` packets.
    fn discounting(&self, open: f64) -> f64 {
        match self.mean_closed() {
            // DF = max(2·I_mean/I₀, THRESHOLD) where I₀ > 2·I_mean                 [RFC5348 §5.5]
            Some(mean) if open > 2.0 * mean => (2.0 * mean / open).max(self.discount),
            _ => 1.0,
        }
    }

    /// Closes the open interval at `packets` packets.
    fn close(&mut self, packets: f64, estimated: bool) {
        // DFᵢ ← DFᵢ·DF, then I₀ becomes I₁ with DF₁ = 1                            [RFC5348 §5.5]
        let discount = if estimated { 1.0 } else { self.discounting(packets) };
        for interval in &mut self.closed {
            interval.factor *= discount;
        }
        self.closed.insert(0, Interval { packets: packets.max(1.0), factor: 1.0, estimated });
        self.closed.truncate(self.weights.len());
    }

    /// The arrivals around the run `lost..end`, if they are stored.
    fn neighbours(&self, lost: u64, end: u64, shows: Arrived) -> (Arrived, Arrived) {
        let recent = || self.recent[..self.arrivals.min(RECENT)].iter().copied();
        let above = recent().chain([shows]).filter(|it| it.seq >= end).min_by_key(|it| it.seq);
        let after = above.unwrap_or(shows);
        // without a neighbour below, the whole run is lost at the arrival of the neighbour above
        let before = recent().filter(|it| it.seq < lost).max_by_key(|it| it.seq);
        (before.unwrap_or(Arrived { seq: lost.saturating_sub(1), at: after.at }), after)
    }
}

/// When packet `seq` would have arrived.
fn nominal(seq: u64, before: Arrived, after: Arrived) -> Time {
    // T_loss = T_before + (T_after − T_before)·(S_loss − S_before)/(S_after − S_before)    [RFC5348 §5.2]
    let span = after.at.saturating_since(before.at).as_nanos();
    let packets = after.seq.saturating_sub(before.seq).max(1);
    let share = u128::from(span) * u128::from(seq.saturating_sub(before.seq)) / u128::from(packets);
    // late packets can fill the gap from above: then the run is lost at the arrival of its upper end
    before.at.min(after.at) + Duration::from_nanos(share as u64)
}

/// The first number whose nominal time is after `at`.
fn first_after(at: Time, before: Arrived, after: Arrived) -> u64 {
    let span = after.at.saturating_since(before.at).as_nanos();
    if span == 0 {
        return u64::MAX;
    }
    let wait = at.saturating_since(before.at.min(after.at)).as_nanos();
    let packets = after.seq.saturating_sub(before.seq).max(1);
    // ⌊share⌋ > wait ⇔ share ≥ wait + 1
    let steps = (u128::from(wait) + 1) * u128::from(packets);
    let steps = steps.div_ceil(u128::from(span));
    before.seq.saturating_add(u64::try_from(steps).unwrap_or(u64::MAX))
}

/// Number of stored arrivals around a loss: more than the later packets that any scheme waits for.
const RECENT: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Time {
        Time::ZERO + Duration::from_millis(ms)
    }

    const RTT: Duration = Duration::from_millis(100);

    /// A stream with one packet per 10 ms. Every number in `lost` is lost and detected at once. `first` is the interval
    /// before the first event.
    fn stream(history: &mut LossEvents, packets: u64, lost: &[u64], first: f64) -> u64 {
        let mut started = 0;
        let mut missing: Option<u64> = None;
        for seq in 0..packets {
            if lost.contains(&seq) {
                missing = missing.or(Some(seq));
                continue;
            }
            if let Some(run) = missing.take() {
                started += history.lost((run, seq - run), (seq, ms(10 * seq)), RTT, || first);
            }
            history.arrived(seq, ms(10 * seq));
        }
        started
    }

    fn plain() -> LossEvents {
        LossEvents::new(8, None)
    }

    fn close_to(value: f64, expected: f64) {
        assert!((value / expected - 1.0).abs() < 1e-12, "{value} is not {expected}");
    }

    /// RFC 5348 §5.4: 1, 1, 1, 1, 0.8, 0.6, 0.4, 0.2 for n = 8.
    #[test]
    fn the_weights_of_eight_intervals_are_those_of_the_standard() {
        let expected = [1.0, 1.0, 1.0, 1.0, 0.8, 0.6, 0.4, 0.2];
        for (weight, expected) in plain().weights.iter().zip(expected) {
            close_to(*weight, expected);
        }
    }

    #[test]
    fn without_a_loss_the_rate_is_zero() {
        let mut history = plain();
        assert_eq!(stream(&mut history, 500, &[], 50.0), 0);
        assert_eq!((history.any(), history.rate()), (false, 0.0));
    }

    /// The caller's first interval is 50 packets: p = 1/50 until the open interval is longer, then I₀ and I₁ have equal
    /// weights.
    #[test]
    fn the_first_interval_is_what_the_caller_says() {
        let mut history = plain();
        assert_eq!(stream(&mut history, 101, &[100 - 1], 50.0), 1);
        close_to(history.rate(), 1.0 / 50.0);
        let mut history = plain();
        stream(&mut history, 200, &[100], 50.0);
        // I₀ = 200 − 100 = 100: (100 + 50)/2
        close_to(history.rate(), 1.0 / 75.0);
    }

    /// Losses of packets 100, 105 and 110 are 50 and 100 ms after the first: one event. The one of 111, 110 ms after
    /// it, is not.
    #[test]
    fn losses_within_a_round_trip_are_one_event() {
        let mut history = plain();
        assert_eq!(stream(&mut history, 112, &[100, 105, 110], 50.0), 1);
        let mut history = plain();
        assert_eq!(stream(&mut history, 113, &[100, 105, 111], 50.0), 2);
        // I₁ = 111 − 100 = 11, I₂ = 50, I₀ = 2: mean of the closed ones, (11 + 50)/2
        close_to(history.rate(), 2.0 / 61.0);
    }

    /// An outage of 25 packets lasts 250 ms and more: events begin with its 1st, 12th and 23rd packet, each more than
    /// 100 ms after the one before.
    #[test]
    fn a_long_outage_is_several_events() {
        let mut history = plain();
        let lost: Vec<u64> = (100..125).collect();
        assert_eq!(stream(&mut history, 126, &lost, 50.0), 3);
        // first lost packets 100, 111, 122: I₁ = I₂ = 11, I₃ = 50
        close_to(history.rate(), 3.0 / 72.0);
    }

    /// Three later packets reveal the loss; its time is still between its neighbours.
    #[test]
    fn a_loss_is_placed_between_its_neighbours() {
        // packet 9 arrives at 90 ms, 10 is lost, 11, 12 and 13 arrive at 130, 140, 150 ms: 10 would have arrived at 110
        // ms
        let mut history = plain();
        (0..10).for_each(|seq| history.arrived(seq, ms(10 * seq)));
        history.arrived(11, ms(130));
        history.arrived(12, ms(140));
        assert_eq!(history.lost((10, 1), (13, ms(150)), RTT, || 7.0), 1);
        assert_eq!(history.event.map(|event| (event.first, event.at)), Some((10, ms(110))));
        // a loss at 210 ms is still within the round trip, one at 210 ms and a nanosecond is not
        let mut later = history.clone();
        (13..20).for_each(|seq| later.arrived(seq, ms(10 * seq)));
        later.arrived(19, ms(200));
        let mut same = later.clone();
        assert_eq!(same.lost((20, 1), (21, ms(220)), RTT, || 0.0), 0);
        assert_eq!(later.lost((20, 1), (21, ms(220) + Duration::from_nanos(2)), RTT, || 0.0), 1);
    }

    /// Intervals 10, 20, … 90 with the newest last. I₁ … I₈ = 90 … 20: 90+80+70+60 + .8·50 + .6·40 + .4·30 + .2·20 =
    /// 380, /6 = 63.33. With I₀ = 5: 5+90+80+70 + .8·60 + .6·50 + .4·40 + .2·30 = 345.
    #[test]
    fn eight_intervals_are_weighted_and_older_ones_dropped() {
        let mut history = plain();
        let mut firsts = vec![1000];
        for interval in (20..=90).step_by(10) {
            firsts.push(firsts[firsts.len() - 1] + interval);
        }
        let last = firsts[firsts.len() - 1];
        assert_eq!(stream(&mut history, last + 5, &firsts, 10.0), 9);
        close_to(history.rate(), 6.0 / 380.0);
        // I₀ = 300: 300 + 340 = 640 over 6, which is more than 380/6
        let mut history = plain();
        stream(&mut history, last + 300, &firsts, 10.0);
        close_to(history.rate(), 6.0 / 640.0);
    }

    /// I₁ = 50, I₀ = 400 > 2·50: DF = 2·50/400 = 1/4, or the threshold of 1/2.
    /// (400 + ¼·50)/(1 + ¼) = 330; (400 + ½·50)/1.5 = 283.33; without discounting (400 + 50)/2 = 225.
    #[test]
    fn a_long_open_interval_discounts_the_old_ones_down_to_the_threshold() {
        for (threshold, mean) in
            [(None, 225.0), (Some(0.25), 330.0), (Some(0.1), 330.0), (Some(0.5), 425.0 / 1.5)]
        {
            let mut history = LossEvents::new(8, threshold);
            stream(&mut history, 500, &[100], 50.0);
            close_to(history.rate(), 1.0 / mean);
        }
    }

    /// The interval of 400 closes: the one of 50 keeps the factor ¼, and the discount of the open one restarts. Mean of
    /// the closed ones: (400 + ¼·50)/1.25 = 330.
    #[test]
    fn a_new_event_makes_the_discount_permanent() {
        let mut history = LossEvents::new(8, Some(0.25));
        stream(&mut history, 505, &[100, 500], 50.0);
        close_to(history.rate(), 1.0 / 330.0);
        // I₀ = 700 > 2·330: DF = 660/700; (700 + DF·400 + DF/4·50)/(1 + DF + DF/4)
        let mut history = LossEvents::new(8, Some(0.25));
        stream(&mut history, 1200, &[100, 500], 50.0);
        let df = 660.0 / 700.0;
        close_to(history.rate(), (1.0 + 1.25 * df) / (700.0 + 412.5 * df));
    }

    #[test]
    fn the_first_interval_is_scaled_while_it_counts() {
        let mut history = plain();
        stream(&mut history, 101, &[99], 50.0);
        history.scale_first(0.16);
        close_to(history.rate(), 1.0 / 8.0);
        // nine events later it no longer counts
        let firsts: Vec<u64> = (0..10).map(|i| 99 + 20 * i).collect();
        let mut history = plain();
        stream(&mut history, 99 + 181, &firsts, 50.0);
        let before = history.rate();
        history.scale_first(100.0);
        assert_eq!(history.rate(), before);
    }

    #[test]
    fn a_cleared_history_starts_empty() {
        let mut history = plain();
        stream(&mut history, 200, &[100], 50.0);
        history.clear();
        assert_eq!((history.any(), history.rate()), (false, 0.0));
        assert_eq!(history.lost((200, 1), (201, ms(2010)), RTT, || 30.0), 1);
        close_to(history.rate(), 1.0 / 30.0);
    }

    /// Marks at 1.00, 1.10 and 1.11 s: the second is one round-trip time after the first, not more.
    #[test]
    fn a_mark_is_a_loss_that_arrives() {
        let mut history = plain();
        let mut marked = |seq: u64| {
            history.arrived(seq, ms(10 * seq));
            history.marked(seq, ms(10 * seq), RTT, || 50.0)
        };
        assert_eq!([100, 110, 111].map(&mut marked), [true, false, true]);
        // I₁ = 11, I₂ = 50
        close_to(history.rate(), 2.0 / 61.0);
    }

    proptest::proptest! {
        /// Closing a gap in one call and packet by packet gives the same events.
        #[test]
        fn jumping_to_the_next_event_skips_none(
            gap in 1u64..400, span_us in 0u64..2_000_000, rtt_us in 1u64..300_000, earlier in 0u64..200,
        ) {
            let started = |rtt: Duration| {
                let mut history = LossEvents::new(8, None);
                history.arrived(earlier, Time::ZERO);
                let run = (earlier + 1, gap);
                let after = (earlier + gap + 1, Time::ZERO + Duration::from_micros(span_us));
                let n = history.lost(run, after, rtt, || 10.0);
                (n, history.rate())
            };
            let rtt = Duration::from_micros(rtt_us);
            let (n, rate) = started(rtt);
            // by the rule, one packet at a time
            let before = Arrived { seq: earlier, at: Time::ZERO };
            let after = Arrived { seq: earlier + gap + 1, at: Time::ZERO + Duration::from_micros(span_us) };
            let mut last: Option<Time> = None;
            let mut events = 0;
            for seq in earlier + 1..=earlier + gap {
                let at = nominal(seq, before, after);
                if last.is_none_or(|last| at > last + rtt) {
                    last = Some(at);
                    events += 1;
                }
            }
            proptest::prop_assert_eq!(n, events);
            proptest::prop_assert!(rate > 0.0 && rate <= 1.0);
        }

        /// p is a probability for any input in any order.
        #[test]
        fn the_rate_is_a_probability(
            cases in proptest::collection::vec((0u64..u64::MAX / 2, 0u64..2000, 0u64..10_000_000_000, proptest::bool::ANY), 0..60),
            discount in proptest::option::of(0.0f64..1.0),
            n in 1usize..17,
        ) {
            let mut history = LossEvents::new(n, discount);
            for (seq, packets, at, lost) in cases {
                let at = Time::from_nanos(at);
                if lost {
                    history.lost((seq, packets), (seq + packets, at), RTT, || 0.0);
                } else {
                    history.arrived(seq, at);
                }
                let p = history.rate();
                proptest::prop_assert!((0.0..=1.0).contains(&p), "{}", p);
                proptest::prop_assert!(history.closed.len() <= n);
            }
        }
    }
}
