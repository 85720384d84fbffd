//! The transmissions of a link whose rate follows a trace.
//!
//! A trace is known in advance, so the time at which a packet leaves a FIFO is known when it is accepted, as at a
//! constant rate: an event per packet suffices, none per delivery opportunity or change of the rate.

use std::sync::Arc;

use units::{Duration, Time};

use super::Port;
use crate::rate_trace::{BIT_NS_PER_BYTE, NANOS_PER_MS, OPPORTUNITY_BYTES, RateTrace, Shape};

/// Entries of a trace that are passed one by one before a binary search.
const NEAR: usize = 16;

/// The place in a trace up to which a port has planned transmissions.
pub(super) struct TraceCursor {
    trace: Arc<RateTrace>,
    /// The beginning of the current period.
    period_start_ns: u64,
    /// The entry of the trace: an opportunity that is not used up, or the step of the rate.
    index: usize,
    /// Bytes left of the opportunity; or bit-nanoseconds that the next packet owes to the last one, whose time was
    /// rounded down.
    remaining: u64,
    /// The step of the delay, and the beginning of its period.
    delay_index: usize,
    delay_period_ns: u64,
}

impl TraceCursor {
    pub(super) fn new(trace: Arc<RateTrace>) -> Self {
        let mut cursor =
            Self { trace, period_start_ns: 0, index: 0, remaining: 0, delay_index: 0, delay_period_ns: 0 };
        cursor.reset(Time::ZERO);
        cursor
    }

    pub(super) fn trace(&self) -> &RateTrace {
        &self.trace
    }

    /// Forgets all planned transmissions.
    pub(super) fn reset(&mut self, now: Time) {
        self.period_start_ns = now.as_nanos() / self.trace.period_ns * self.trace.period_ns;
        self.index = 0;
        self.remaining = match self.trace.shape {
            Shape::Opportunities(_) => OPPORTUNITY_BYTES,
            Shape::Rates(_) => 0,
        };
        (self.delay_index, self.delay_period_ns) = (0, self.period_start_ns);
    }

    /// The propagation delay above the minimum at `at`, which is not before the last query.
    #[inline]
    fn delay_at(&mut self, at: Time) -> Duration {
        let delays = &self.trace.delays;
        if delays.is_empty() {
            return Duration::ZERO;
        }
        let mut within = at.as_nanos() - self.delay_period_ns;
        if within >= self.trace.period_ns {
            self.delay_period_ns = at.as_nanos() / self.trace.period_ns * self.trace.period_ns;
            within = at.as_nanos() - self.delay_period_ns;
            self.delay_index = 0;
        }
        self.delay_index += passed(&delays[self.delay_index + 1..], |step| step.start_ns <= within);
        delays[self.delay_index].above
    }

    /// When the transmission of a packet can start that is offered now and follows one that ends at `busy_until`.
    #[inline]
    pub(super) fn start(&mut self, now: Time, busy_until: Time) -> Time {
        match &self.trace.shape {
            Shape::Opportunities(times_ms) => {
                let at = now.as_nanos();
                if at.saturating_sub(self.period_start_ns) >= self.trace.period_ns {
                    self.period_start_ns = at / self.trace.period_ns * self.trace.period_ns;
                    (self.index, self.remaining) = (0, OPPORTUNITY_BYTES);
                }
                if at >= self.period_start_ns {
                    let within_ms = (at - self.period_start_ns) / NANOS_PER_MS;
                    let rest = &times_ms[self.index..];
                    let past = passed(rest, |ms| u64::from(*ms) <= within_ms);
                    if past > 0 {
                        // the last time is the period, which is not over
                        self.index += past;
                        self.remaining = OPPORTUNITY_BYTES;
                    }
                }
                if self.remaining == 0 {
                    self.next_opportunity();
                }
                self.opportunity()
            }
            Shape::Rates(_) => {
                if busy_until < now {
                    self.remaining = 0;
                }
                self.first_with_rate(now.max(busy_until))
            }
        }
    }

    /// When the transmission of a packet can start that waited before `now`: unlike at [`TraceCursor::start`], it can
    /// use what is left of the opportunities at `now`.
    pub(super) fn resume(&mut self, now: Time, busy_until: Time) -> Time {
        let opportunities = matches!(self.trace.shape, Shape::Opportunities(_));
        if opportunities && self.opportunity() == now {
            if self.remaining == 0 {
                self.next_opportunity();
            }
            return self.opportunity();
        }
        self.start(now, busy_until)
    }

    /// Plans the transmission of a packet from `start`, which [`TraceCursor::start`] or [`TraceCursor::resume`]
    /// returned. Returns when its last byte leaves.
    #[inline]
    pub(super) fn send(&mut self, start: Time, size: u64) -> Time {
        match self.trace.shape {
            Shape::Opportunities(_) => {
                let mut size = size;
                while size > self.remaining {
                    size -= self.remaining;
                    self.next_opportunity();
                }
                self.remaining -= size;
                self.opportunity()
            }
            Shape::Rates(_) => self.send_at_rates(start.as_nanos(), size),
        }
    }

    /// The time of the current opportunity.
    #[inline]
    fn opportunity(&self) -> Time {
        let Shape::Opportunities(times_ms) = &self.trace.shape else { return Time::NEVER };
        Time::from_nanos(self.period_start_ns + u64::from(times_ms[self.index]) * NANOS_PER_MS)
    }

    fn next_opportunity(&mut self) {
        self.remaining = OPPORTUNITY_BYTES;
        self.next_entry();
    }

    /// Moves to the next entry of the trace.
    fn next_entry(&mut self) {
        self.index += 1;
        if self.index == self.entries() {
            self.index = 0;
            self.period_start_ns += self.trace.period_ns;
        }
    }

    fn entries(&self) -> usize {
        match &self.trace.shape {
            Shape::Opportunities(times_ms) => times_ms.len(),
            Shape::Rates(steps) => steps.len(),
        }
    }

    /// The first instant from `at` on at which the rate is above zero. The cursor is then at its step.
    fn first_with_rate(&mut self, at: Time) -> Time {
        // a step of rate zero may have been passed for a packet that was then refused
        let at = at.as_nanos().max(self.step().0);
        if at - self.period_start_ns >= self.trace.period_ns {
            self.period_start_ns = at / self.trace.period_ns * self.trace.period_ns;
            self.index = 0;
        }
        if let Shape::Rates(steps) = &self.trace.shape {
            let within = at - self.period_start_ns;
            self.index += passed(&steps[self.index + 1..], |step| step.start_ns <= within);
        }
        let mut start = at;
        while self.step().1 == 0 {
            start = self.step_end();
            self.next_entry();
        }
        Time::from_nanos(start)
    }

    /// The beginning of the current step and its rate in bit/s.
    fn step(&self) -> (u64, u64) {
        let Shape::Rates(steps) = &self.trace.shape else { return (0, 0) };
        let step = steps[self.index];
        (self.period_start_ns + step.start_ns, step.bps)
    }

    /// The end of the current step.
    fn step_end(&self) -> u64 {
        let Shape::Rates(steps) = &self.trace.shape else { return u64::MAX };
        self.period_start_ns + steps.get(self.index + 1).map_or(self.trace.period_ns, |step| step.start_ns)
    }

    fn send_at_rates(&mut self, start_ns: u64, size: u64) -> Time {
        let mut owed = size * BIT_NS_PER_BYTE + self.remaining;
        let mut at = start_ns;
        loop {
            let (_, bps) = self.step();
            let carried = bps.saturating_mul(self.step_end() - at);
            if owed <= carried {
                self.remaining = owed % bps;
                return Time::from_nanos(at + owed / bps);
            }
            owed -= carried;
            at = self.step_end();
            self.next_entry();
            if self.index == 0 && u128::from(owed) > self.trace.total {
                // whole periods at once, except a rest that is not zero
                let periods = ((u128::from(owed) - 1) / self.trace.total) as u64;
                owed -= (u128::from(periods) * self.trace.total) as u64;
                self.period_start_ns += periods * self.trace.period_ns;
                at = self.period_start_ns;
            }
        }
    }
}

impl Port {
    /// When the next transmission of a FIFO can start whose rate follows a trace.
    #[inline]
    pub(super) fn traced_start(&mut self, now: Time) -> Time {
        let busy_until = self.transmitter.busy_until;
        self.cold.present().cursor.as_mut().expect("the rate follows a trace").start(now, busy_until)
    }

    /// Plans a transmission at the rate of the trace. Returns when its last bit leaves, and when that arrives.
    #[inline]
    pub(super) fn plan_traced(&mut self, start: Time, size: u64) -> (Time, Time) {
        let depart = self.send_traced(start, size);
        let more = self.delay_by_trace(depart);
        (depart, self.transmitter.arrival(depart, more))
    }

    /// The propagation delay of a bit that leaves at `depart` above the minimum, by the trace. Departures are in order.
    #[inline]
    fn delay_by_trace(&mut self, depart: Time) -> Duration {
        self.cold.present().cursor.as_mut().map_or(Duration::ZERO, |cursor| cursor.delay_at(depart))
    }

    /// Transmits at the rate of the trace. Returns when the last bit leaves.
    #[inline]
    fn send_traced(&mut self, start: Time, size: u64) -> Time {
        let depart = self.cold.present().cursor.as_mut().expect("the rate follows a trace").send(start, size);
        self.transmitter.busy_until = depart;
        depart
    }
}

/// Number of entries at the beginning of a sorted list that are `past`.
fn passed<T>(list: &[T], past: impl Fn(&T) -> bool) -> usize {
    let near = list.iter().take(NEAR).take_while(|entry| past(entry)).count();
    if near < NEAR { near } else { near + list[near..].partition_point(past) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use units::{Bytes, Carry, Rate};

    use super::*;

    /// Sends packets of these sizes, offered at these times in µs, and returns when each starts and leaves, in µs.
    fn sent(trace: &RateTrace, packets: &[(u64, u64)]) -> Vec<(u64, u64)> {
        let mut cursor = TraceCursor::new(Arc::new(trace.clone()));
        let mut busy_until = Time::ZERO;
        let times = packets.iter().map(|(at_us, size)| {
            let start = cursor.start(Time::from_nanos(at_us * 1000), busy_until);
            busy_until = cursor.send(start, *size);
            (start.as_nanos() / 1000, busy_until.as_nanos() / 1000)
        });
        times.collect()
    }

    fn opportunities(times_ms: &[u32]) -> RateTrace {
        RateTrace::opportunities(times_ms.to_vec()).expect("the test has a right trace")
    }

    fn rates(rates: &[(u64, u64)], period_ms: u64) -> RateTrace {
        let list: Vec<_> =
            rates.iter().map(|(ms, kbps)| (Duration::from_millis(*ms), Rate::from_kbps(*kbps))).collect();
        RateTrace::rates(&list, Duration::from_millis(period_ms)).expect("the test has a right trace")
    }

    #[test]
    fn an_opportunity_carries_one_packet_of_1500_bytes() {
        let trace = opportunities(&[2, 5, 10]);
        let times = sent(&trace, &[(0, 1500), (0, 1500), (0, 1500), (0, 1500)]);
        assert_eq!(times, [(2000, 2000), (5000, 5000), (10_000, 10_000), (12_000, 12_000)]);
    }

    #[test]
    fn small_packets_share_an_opportunity_and_a_packet_continues_in_the_next() {
        // 500 + 500 + 500 bytes at 2 ms; of 600 + 600 + 600, the third has 300 bytes at 5 ms and 300 at 10 ms, with
        // 1200 left
        let trace = opportunities(&[2, 5, 10]);
        let times = sent(&trace, &[(0, 500), (0, 500), (0, 500), (0, 600), (0, 600), (0, 600), (0, 1200)]);
        let expected = [
            (2000, 2000),
            (2000, 2000),
            (2000, 2000),
            (5000, 5000),
            (5000, 5000),
            (5000, 10_000),
            (10_000, 10_000),
        ];
        assert_eq!(times, expected);
    }

    #[test]
    fn a_packet_larger_than_an_opportunity_uses_several() {
        let trace = opportunities(&[1, 2, 3, 4]);
        // 4000 bytes: 1500 + 1500 + 1000; the next packet has 500 left at 3 ms, and 1000 at 4 ms
        assert_eq!(sent(&trace, &[(0, 4000), (0, 1500)]), [(1000, 3000), (3000, 4000)]);
    }

    #[test]
    fn what_is_left_of_an_opportunity_is_lost_when_no_packet_waits() {
        let trace = opportunities(&[2, 5, 10]);
        // the first leaves 1000 bytes at 2 ms; a packet of 2.5 ms starts at 5 ms, and one of exactly 5 ms misses the
        // opportunity then
        let times = sent(&trace, &[(0, 500), (2500, 500), (5000, 500)]);
        assert_eq!(times, [(2000, 2000), (5000, 5000), (10_000, 10_000)]);
    }

    #[test]
    fn a_trace_repeats_from_its_last_time() {
        // period 10 ms: opportunities at 2, 10, 12, 20, 22 ms …; 1 000 007 ms is 100 000 periods and 7 ms
        let trace = opportunities(&[2, 10]);
        let times = sent(&trace, &[(11_000, 1500), (11_000, 3000), (1_000_007_000, 1500)]);
        assert_eq!(times, [(12_000, 12_000), (20_000, 22_000), (1_000_010_000, 1_000_010_000)]);
    }

    #[test]
    fn several_opportunities_at_one_time_carry_several_packets() {
        let trace = opportunities(&[0, 3, 3, 4]);
        // the opportunity at 0 ms is over when the first packet comes, the first opportunity of the second period is at
        // 4 ms as well
        let times = sent(&trace, &[(0, 1500), (0, 1500), (0, 1500), (0, 1500), (0, 1500)]);
        assert_eq!(times, [(3000, 3000), (3000, 3000), (4000, 4000), (4000, 4000), (7000, 7000)]);
    }

    #[test]
    fn a_waiting_packet_uses_the_rest_of_the_opportunities_at_this_instant_and_a_new_one_does_not() {
        let at = |ms: u64| Time::ZERO + Duration::from_millis(ms);
        let mut cursor = TraceCursor::new(Arc::new(opportunities(&[3, 3, 4])));
        let start = cursor.start(Time::ZERO, Time::ZERO);
        assert_eq!(cursor.send(start, 1500), at(3));
        assert_eq!(cursor.resume(at(3), at(3)), at(3), "the second one at 3 ms");
        assert_eq!(cursor.send(at(3), 500), at(3));
        assert_eq!(cursor.resume(at(3), at(3)), at(3), "1000 bytes are left");
        assert_eq!(cursor.start(at(3), at(3)), at(4));
    }

    #[test]
    fn a_transmission_goes_on_at_the_rate_of_each_step() {
        // 1000 bytes are 8000 bits: 4 ms of 1 Mbit/s, nothing for 6 ms, then 2 ms of 2 Mbit/s
        let trace = rates(&[(0, 1000), (4, 0), (10, 2000)], 20);
        assert_eq!(sent(&trace, &[(0, 1000), (0, 1000)]), [(0, 12_000), (12_000, 16_000)]);
    }

    #[test]
    fn a_packet_waits_while_the_rate_is_zero() {
        let trace = rates(&[(0, 1000), (4, 0), (10, 2000)], 20);
        assert_eq!(sent(&trace, &[(5000, 1000), (25_000, 1000)]), [(10_000, 14_000), (30_000, 34_000)]);
    }

    #[test]
    fn a_packet_can_take_many_periods() {
        // 125 bytes in each period of 1 s, 1 ms long: 65 000 bytes take 520 of them
        let trace = rates(&[(0, 1000), (1, 0)], 1000);
        assert_eq!(sent(&trace, &[(0, 65_000)]), [(0, 519_001_000)]);
        // and one byte more continues in the next
        assert_eq!(sent(&trace, &[(0, 65_001)]), [(0, 520_000_008)]);
    }

    #[test]
    fn the_delay_follows_the_trace_at_the_instant_of_departure() {
        let ms = Duration::from_millis;
        let delays = [(ms(0), ms(30)), (ms(4), ms(20)), (ms(6), ms(25))];
        let trace = opportunities(&[10]).with_delays(&delays).expect("the test has a right trace");
        let mut cursor = TraceCursor::new(Arc::new(trace));
        for (at, above) in
            [(0, 10), (3, 10), (4, 0), (5, 0), (9, 5), (10, 10), (1_000_004, 0), (1_000_019, 5)]
        {
            assert_eq!(cursor.delay_at(Time::ZERO + ms(at)), ms(above), "at {at} ms");
        }
        cursor.reset(Time::ZERO + ms(1_000_020));
        assert_eq!(cursor.delay_at(Time::ZERO + ms(1_000_024)), ms(0));
    }

    #[test]
    fn a_reset_forgets_planned_transmissions() {
        let mut cursor = TraceCursor::new(Arc::new(opportunities(&[2, 5, 10])));
        let start = cursor.start(Time::ZERO, Time::ZERO);
        cursor.send(start, 60_000);
        cursor.reset(Time::from_nanos(3_000_000));
        assert_eq!(cursor.start(Time::from_nanos(3_000_000), Time::ZERO), Time::from_nanos(5_000_000));
    }

    proptest! {
        /// The definition, opportunity by opportunity: mahimahi's rule without any planning.
        #[test]
        fn planned_times_are_those_of_a_queue_served_at_each_opportunity(
            mut times_ms in prop::collection::vec(0u32..30, 1..12),
            mut packets in prop::collection::vec((0u64..120_000, 1u64..4000), 1..60),
        ) {
            times_ms.sort_unstable();
            *times_ms.last_mut().expect("it is not empty") += 1;
            packets.sort_by_key(|(at, _)| *at);
            let planned: Vec<u64> =
                sent(&opportunities(&times_ms), &packets).into_iter().map(|(_, leaves)| leaves).collect();

            let (mut served, mut arrived, mut unsent) = (Vec::new(), 0, Vec::new());
            let period = u64::from(*times_ms.last().expect("it is not empty")) * 1000;
            'trace: for pass in 0.. {
                for ms in &times_ms {
                    let at = pass * period + u64::from(*ms) * 1000;
                    while arrived < packets.len() && packets[arrived].0 < at {
                        unsent.push(packets[arrived].1);
                        arrived += 1;
                    }
                    let mut remaining = 1500;
                    while remaining > 0 && !unsent.is_empty() {
                        let part = remaining.min(unsent[0]);
                        (remaining, unsent[0]) = (remaining - part, unsent[0] - part);
                        if unsent[0] == 0 {
                            unsent.remove(0);
                            served.push(at);
                        }
                    }
                    if served.len() == packets.len() {
                        break 'trace;
                    }
                }
            }
            prop_assert_eq!(planned, served);
        }

        #[test]
        fn a_constant_trace_is_a_constant_rate(
            bps in 1_000u64..10_000_000_000,
            cuts in prop::collection::btree_set(1u64..5_000_000, 0..6),
            sizes in prop::collection::vec(1u64..9000, 1..50),
        ) {
            let rate = Rate::from_bps(bps);
            let starts = std::iter::once(0).chain(cuts);
            let steps: Vec<_> = starts.map(|ns| (Duration::from_nanos(ns), rate)).collect();
            let trace = RateTrace::rates(&steps, Duration::from_nanos(5_000_000)).expect("it is right");
            let mut cursor = TraceCursor::new(Arc::new(trace));
            let (mut busy_until, mut constant, mut carry) = (Time::ZERO, Time::ZERO, Carry::default());
            for size in sizes {
                let start = cursor.start(Time::ZERO, busy_until);
                prop_assert_eq!(start, busy_until);
                busy_until = cursor.send(start, size);
                let (span, rest) = rate.serialise(Bytes::new(size), carry);
                (constant, carry) = (constant + span, rest);
                prop_assert_eq!(busy_until, constant);
            }
        }
    }
}
