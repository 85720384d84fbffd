//! The rate of one upstream link. All rates are in Data packets per second.

/// The state of a link between two ticks [KATO Table 1].
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct LinkRate {
    /// R: the rate that each flow may use.
    pub(crate) rate: f64,
    y_prev: f64,
    base_ewma: f64,
    excess_ewma: f64,
}

/// The constants of the controller.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Constants {
    /// η.
    pub(crate) eta: f64,
    /// Minimum β.
    pub(crate) min_beta: f64,
    /// Weight of the newest value in both averages.
    pub(crate) weight: f64,
    /// Minimum R, as a share of C.
    pub(crate) min_rate_share: f64,
    /// Whether R is at most C.
    pub(crate) capped: bool,
}

/// Measurements at a tick.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Measurements {
    /// C: Data packets that the link carries in a second; above 0.
    pub(crate) capacity: f64,
    /// y: Interests per second in the last interval.
    pub(crate) y: f64,
    /// q: the leaky bucket's level, in packets.
    pub(crate) q: f64,
    /// d: smoothed round-trip time, in seconds; above 0.
    pub(crate) d: f64,
}

/// Results of a tick besides R.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct TickResult {
    /// N.
    pub(crate) n: f64,
    /// β.
    pub(crate) beta: f64,
}

impl LinkRate {
    /// An idle link, which offers its capacity.
    pub(crate) fn new(capacity: f64) -> Self {
        Self { rate: capacity, y_prev: 0.0, base_ewma: capacity, excess_ewma: 0.0 }
    }

    /// The rate of the next interval.
    pub(crate) fn tick(&mut self, rule: &Constants, facts: &Measurements) -> TickResult {
        let Measurements { capacity, y, q, d } = *facts;
        let n = full_rate_flows(capacity, y, self.rate);
        let beta = beta(rule.min_beta, y, self.y_prev);
        let base = base_rate(rule.eta, capacity, beta, q, d, n);
        let excess = excess_rate(self.rate, y, n);
        // differs: the base rate is at least zero; a queue that is long for its round-trip time would make it negative
        self.base_ewma += rule.weight * (base.max(0.0) - self.base_ewma);
        self.excess_ewma += rule.weight * (excess - self.excess_ewma);
        // R(t) = base_rate_ewma(t) + excess_rate_ewma(t)                                          [KATO eq. 5]
        // differs: R is kept between a share of C and C. The minimum lets consumers receive new rates; the maximum lets
        // the rate of a link react that was no bottleneck and becomes one
        let max = if rule.capped { capacity } else { BOUNDLESS };
        self.rate =
            (self.base_ewma + self.excess_ewma).clamp(rule.min_rate_share * capacity, max.max(capacity));
        self.y_prev = y;
        TickResult { n, beta }
    }
}

/// N: the number of flows at the full rate that would cause the traffic.
pub(crate) fn full_rate_flows(capacity: f64, y: f64, rate: f64) -> f64 {
    // N = max(C, y(t)) / R(t−T)                                                                   [KATO eq. 1]
    capacity.max(y) / rate
}

/// Each flow's share of the capacity, reduced to drain the queue.
pub(crate) fn base_rate(eta: f64, capacity: f64, beta: f64, q: f64, d: f64, n: f64) -> f64 {
    // base_rate(t) = (ηC − β(t) q(t)/d(t)) / N                                                    [KATO eq. 2]
    (eta * capacity - beta * q / d) / n
}

/// The speed of draining the queue, higher while traffic grows.
pub(crate) fn beta(floor: f64, y: f64, y_prev: f64) -> f64 {
    // β(t) = max(0.1, (y(t) − y(t−T)) / y(t))                                                     [KATO eq. 3]
    // differs: without Interests the quotient is undefined, and β is its minimum
    if y > 0.0 { floor.max((y - y_prev) / y) } else { floor }
}

/// The capacity that flows with another bottleneck leave unused.
pub(crate) fn excess_rate(rate: f64, y: f64, n: f64) -> f64 {
    // excess_rate(t) = R(t−T) − y(t)/N                                                            [KATO eq. 4]
    rate - y / n
}

/// Maximum R without a cap, so that it stays finite.
const BOUNDLESS: f64 = 1e15;
