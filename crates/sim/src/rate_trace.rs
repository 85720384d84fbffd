//! Rate and delay of a link by a trace: delivery opportunities (the format of mahimahi), or a piecewise constant rate,
//! with which the delay can vary.

use units::{Duration, Rate, Time};

/// Bytes that a delivery opportunity carries (mahimahi, mm-link(1)).
pub const OPPORTUNITY_BYTES: u64 = 1500;

pub(crate) const NANOS_PER_MS: u64 = 1_000_000;
/// Bit-nanoseconds per byte: a byte is transmitted when rate · time, in bit/s · ns, reaches this.
pub(crate) const BIT_NS_PER_BYTE: u64 = 8_000_000_000;

/// How the rate of a link varies over time. It starts at the beginning of the run and repeats from its end.
#[derive(Clone, Debug, PartialEq)]
pub struct RateTrace {
    pub(crate) shape: Shape,
    pub(crate) period_ns: u64,
    /// Bit-nanoseconds of one period.
    pub(crate) total: u128,
    /// Steps of the propagation delay above its minimum; the first begins at 0. Empty if the trace has no delays.
    pub(crate) delays: Box<[DelayStep]>,
    min_delay: Duration,
}

/// A step of the propagation delay.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct DelayStep {
    pub(crate) start_ns: u64,
    /// Delay above the minimum of the trace.
    pub(crate) above: Duration,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Shape {
    /// Times of delivery opportunities in milliseconds. The last one is the period.
    Opportunities(Box<[u32]>),
    /// Steps of a rate; the first begins at 0.
    Rates(Box<[Step]>),
}

/// A step of a piecewise constant rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Step {
    pub(crate) start_ns: u64,
    pub(crate) bps: u64,
    /// Bit-nanoseconds from the beginning of the period to the step.
    cumulative: u128,
}

/// What a trace says from an instant on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TraceRow {
    /// The rate.
    Rate(Rate),
    /// The bits of an opportunity at this instant.
    Opportunity(i64),
    /// The propagation delay above the minimum of the trace.
    Delay(Duration),
}

impl RateTrace {
    /// Delivery opportunities at these times, in milliseconds, each for [`OPPORTUNITY_BYTES`]: the rule of mahimahi's
    /// `mm-link`. The last time is the period. A packet takes as many opportunities as it needs and several packets can
    /// share one; what is left of an opportunity when no packet waits is lost. A packet that arrives at the instant of
    /// an opportunity does not use it.
    ///
    /// Errors: there must be a time, each at least the one before it, and the last above zero.
    pub fn opportunities(times_ms: Vec<u32>) -> Result<Self, &'static str> {
        let Some(&last) = times_ms.last() else { return Err("there are no delivery opportunities in it") };
        if !times_ms.is_sorted() {
            return Err("its times are not in order");
        }
        if last == 0 {
            return Err("it ends at 0 ms");
        }
        let total = times_ms.len() as u128 * OPPORTUNITY_BITS_NS;
        let period_ns = u64::from(last) * NANOS_PER_MS;
        let shape = Shape::Opportunities(times_ms.into());
        Ok(Self { shape, period_ns, total, delays: Box::default(), min_delay: Duration::ZERO })
    }

    /// A rate that changes at these times, and repeats after `period`.
    ///
    /// Errors: the first time must be zero, each above the one before it, `period` above the last, and a rate above
    /// zero and below [`Rate::UNLIMITED`].
    pub fn rates(rates: &[(Duration, Rate)], period: Duration) -> Result<Self, &'static str> {
        if rates.first().is_none_or(|(start, _)| *start != Duration::ZERO) {
            return Err("it does not begin at 0 s");
        }
        let ends = rates.iter().skip(1).map(|(start, _)| *start).chain([period]);
        let (mut steps, mut total) = (Vec::with_capacity(rates.len()), 0u128);
        for ((start, rate), end) in rates.iter().zip(ends) {
            if end <= *start {
                return Err("its times are not in order");
            }
            if *rate == Rate::UNLIMITED {
                return Err("a rate is not limited");
            }
            steps.push(Step { start_ns: start.as_nanos(), bps: rate.as_bps(), cumulative: total });
            total += u128::from(rate.as_bps()) * u128::from((end - *start).as_nanos());
        }
        if total == 0 {
            return Err("its rate is always 0");
        }
        let shape = Shape::Rates(steps.into());
        Ok(Self {
            shape,
            period_ns: period.as_nanos(),
            total,
            delays: Box::default(),
            min_delay: Duration::ZERO,
        })
    }

    /// The trace with a propagation delay that changes at these times, in addition to the delay of its link. A bit has
    /// the delay of the instant at which it leaves; it does not overtake those before it.
    ///
    /// Errors: the first time must be zero, each above the one before it, and the last before the end of the period.
    pub fn with_delays(mut self, delays: &[(Duration, Duration)]) -> Result<Self, &'static str> {
        if delays.first().is_none_or(|(start, _)| *start != Duration::ZERO) {
            return Err("its delays do not begin at 0 s");
        }
        let ordered = delays.windows(2).all(|pair| pair[0].0 < pair[1].0);
        if !ordered || delays.last().is_some_and(|(start, _)| start.as_nanos() >= self.period_ns) {
            return Err("the times of its delays are not in order");
        }
        self.min_delay = delays.iter().map(|(_, delay)| *delay).min().unwrap_or(Duration::ZERO);
        let step = |(start, delay): &(Duration, Duration)| DelayStep {
            start_ns: start.as_nanos(),
            above: *delay - self.min_delay,
        };
        self.delays = delays.iter().map(step).collect();
        Ok(self)
    }

    /// Whether the propagation delay follows the trace as well.
    pub const fn has_delays(&self) -> bool {
        !self.delays.is_empty()
    }

    /// The shortest propagation delay of the trace; zero if it has none.
    pub const fn min_delay(&self) -> Duration {
        self.min_delay
    }

    /// Propagation delay above its minimum, in seconds, averaged over the time from `from` to `to`, which must be
    /// later.
    pub fn mean_delay_above_s(&self, from: Time, to: Time) -> f64 {
        let sum = self.delay_above_until(to) - self.delay_above_until(from);
        sum as f64 / to.saturating_since(from).as_nanos() as f64 / 1e9
    }

    /// Integral of the delay above its minimum from the beginning of the run up to `at`, in ns².
    fn delay_above_until(&self, at: Time) -> u128 {
        let over = |within: u64| -> u128 {
            let ends = self.delays.iter().skip(1).map(|step| step.start_ns).chain([self.period_ns]);
            let length = |(step, end): (&DelayStep, u64)| {
                u128::from(step.above.as_nanos()) * u128::from(end.min(within).saturating_sub(step.start_ns))
            };
            self.delays.iter().zip(ends).map(length).sum()
        };
        let (periods, within) = (at.as_nanos() / self.period_ns, at.as_nanos() % self.period_ns);
        u128::from(periods) * over(self.period_ns) + over(within)
    }

    /// After this time it repeats.
    pub const fn period(&self) -> Duration {
        Duration::from_nanos(self.period_ns)
    }

    /// Mean rate over a period, rounded down to 1 bit/s and at least that.
    pub fn mean(&self) -> Rate {
        let bps = self.total / u128::from(self.period_ns);
        Rate::from_bps(u64::try_from(bps).unwrap_or(u64::MAX - 1).max(1))
    }

    /// Whole bits that it carries from the beginning of the run up to `at`.
    pub fn bits_until(&self, at: Time) -> u128 {
        self.bit_ns(Time::ZERO, at) / 1_000_000_000
    }

    /// Bit-nanoseconds that it carries after `from` and up to `to`: bits · 10⁹.
    pub(crate) fn bit_ns(&self, from: Time, to: Time) -> u128 {
        self.bit_ns_until(to).saturating_sub(self.bit_ns_until(from))
    }

    /// What it says from the beginning of the run up to `end`, for a record: for each period its steps or
    /// opportunities, and then its delays.
    pub(crate) fn rows(&self, end: Time) -> impl Iterator<Item = (Time, TraceRow)> + '_ {
        let periods = (0u64..).map(|number| number * self.period_ns);
        let periods = periods.take_while(move |start| *start < end.as_nanos());
        let rows = periods.flat_map(|start| {
            let (steps, opportunities): (&[Step], &[u32]) = match &self.shape {
                Shape::Rates(steps) => (steps, &[]),
                Shape::Opportunities(times_ms) => (&[], times_ms),
            };
            let rates = steps.iter().map(|step| (step.start_ns, TraceRow::Rate(Rate::from_bps(step.bps))));
            let bits = TraceRow::Opportunity(8 * OPPORTUNITY_BYTES as i64);
            let times = opportunities.iter().map(move |ms| (u64::from(*ms) * NANOS_PER_MS, bits));
            let delays = self.delays.iter().map(|step| (step.start_ns, TraceRow::Delay(step.above)));
            let rows = rates.chain(times).chain(delays);
            rows.map(move |(within, row)| (Time::from_nanos(start + within), row))
        });
        rows.filter(move |(at, _)| *at < end)
    }

    fn bit_ns_until(&self, at: Time) -> u128 {
        let (periods, within) = (at.as_nanos() / self.period_ns, at.as_nanos() % self.period_ns);
        let rest = match &self.shape {
            Shape::Opportunities(times_ms) => {
                let past = times_ms.partition_point(|ms| u64::from(*ms) * NANOS_PER_MS <= within);
                past as u128 * OPPORTUNITY_BITS_NS
            }
            Shape::Rates(steps) => {
                let step = steps[steps.partition_point(|step| step.start_ns <= within) - 1];
                step.cumulative + u128::from(step.bps) * u128::from(within - step.start_ns)
            }
        };
        u128::from(periods) * self.total + rest
    }
}

const OPPORTUNITY_BITS_NS: u128 = OPPORTUNITY_BYTES as u128 * BIT_NS_PER_BYTE as u128;

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    fn bits(trace: &RateTrace, from_ms: u64, to_ms: u64) -> u128 {
        trace.bit_ns(Time::ZERO + ms(from_ms), Time::ZERO + ms(to_ms)) / 1_000_000_000
    }

    #[test]
    fn opportunities_are_counted_after_the_beginning_and_up_to_the_end() {
        // three opportunities of 12 000 bits in 10 ms
        let trace = RateTrace::opportunities(vec![2, 2, 10]).expect("it is right");
        assert_eq!((trace.period(), trace.mean()), (ms(10), Rate::from_bps(3_600_000)));
        assert_eq!(bits(&trace, 0, 1), 0);
        assert_eq!(bits(&trace, 0, 2), 24_000);
        assert_eq!(trace.bits_until(Time::ZERO + ms(11)), 36_000);
        assert_eq!(bits(&trace, 2, 10), 12_000);
        assert_eq!(bits(&trace, 2, 25), 6 * 12_000, "at 10, 12, 12, 20, 22 and 22 ms");
    }

    #[test]
    fn a_rate_is_integrated_over_its_steps_and_periods() {
        let rates = [(ms(0), Rate::from_mbps(1)), (ms(30), Rate::ZERO), (ms(40), Rate::from_mbps(4))];
        let trace = RateTrace::rates(&rates, ms(50)).expect("it is right");
        // 30 ms of 1 Mbit/s and 10 ms of 4 Mbit/s are 70 kbit
        assert_eq!(trace.mean(), Rate::from_kbps(1400));
        assert_eq!(bits(&trace, 0, 35), 30_000);
        assert_eq!(bits(&trace, 35, 45), 20_000);
        assert_eq!(bits(&trace, 45, 160), 20_000 + 2 * 70_000 + 10_000);
    }

    #[test]
    fn what_carries_nothing_or_has_no_order_is_refused() {
        let refused = |rates: &[(u64, u64)], period| {
            let rates: Vec<_> = rates.iter().map(|(at, mbps)| (ms(*at), Rate::from_mbps(*mbps))).collect();
            RateTrace::rates(&rates, ms(period)).expect_err("it is wrong")
        };
        assert_eq!(refused(&[], 10), "it does not begin at 0 s");
        assert_eq!(refused(&[(1, 1)], 10), "it does not begin at 0 s");
        assert_eq!(refused(&[(0, 1), (5, 2), (5, 3)], 10), "its times are not in order");
        assert_eq!(refused(&[(0, 1), (5, 2)], 5), "its times are not in order");
        assert_eq!(refused(&[(0, 0)], 5), "its rate is always 0");
        let refused = |times: &[u32]| RateTrace::opportunities(times.to_vec()).expect_err("it is wrong");
        assert_eq!(refused(&[]), "there are no delivery opportunities in it");
        assert_eq!(refused(&[3, 2]), "its times are not in order");
        assert_eq!(refused(&[0, 0]), "it ends at 0 ms");
    }

    #[test]
    fn delays_are_above_their_minimum_and_in_order() {
        let trace = || RateTrace::opportunities(vec![10]).expect("it is right");
        let delays = [(ms(0), ms(30)), (ms(4), ms(20)), (ms(6), ms(25))];
        let delayed = trace().with_delays(&delays).expect("it is right");
        assert_eq!((delayed.min_delay(), delayed.has_delays()), (ms(20), true));
        // 10 ms for 4 ms, 0 for 2 ms and 5 ms for 4 ms, in each period of 10 ms
        let mean = |from, to| 1e3 * delayed.mean_delay_above_s(Time::ZERO + ms(from), Time::ZERO + ms(to));
        assert_eq!(mean(0, 10), 6.0);
        assert_eq!(mean(2, 7), 5.0, "two of 10 ms, two of 0 and one of 5 ms");
        assert_eq!(mean(8, 32), 6.25, "10 ms, two periods and 20 ms");
        let above: Vec<_> = delayed.delays.iter().map(|step| step.above).collect();
        assert_eq!(above, [ms(10), ms(0), ms(5)]);
        let refused = |delays: &[(Duration, Duration)]| trace().with_delays(delays).expect_err("it is wrong");
        assert_eq!(refused(&[]), "its delays do not begin at 0 s");
        assert_eq!(refused(&[(ms(1), ms(5))]), "its delays do not begin at 0 s");
        assert_eq!(refused(&[(ms(0), ms(5)), (ms(0), ms(5))]), "the times of its delays are not in order");
        assert_eq!(refused(&[(ms(0), ms(5)), (ms(10), ms(5))]), "the times of its delays are not in order");
    }
}
