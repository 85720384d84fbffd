//! Round-trip time and retransmission timeout [RFC6298].

use units::Duration;

/// The round-trip time estimator of one path, in integer nanoseconds. It takes a sample from every acknowledgement of
/// new data.
#[derive(Clone, Copy, Debug)]
pub struct Rtt {
    /// 8·SRTT in nanoseconds; zero before the first sample.
    smoothed_8: u64,
    /// 4·RTTVAR in nanoseconds.
    variation_4: u64,
    /// RTO, exponential backoff included.
    rto: Duration,
    min: Duration,
    /// Minimum of the timeout, or of its variation term.
    floor: Duration,
    max_rto: Duration,
    /// Whether `floor` is the minimum of the variation term.
    floors_variation: bool,
    backed_off: bool,
}

impl Rtt {
    /// An estimator without samples. The timeout is `initial` before the first sample [RFC6298 §2.1], then within
    /// `min_rto` to `max_rto`.
    pub const fn new(initial: Duration, min_rto: Duration, max_rto: Duration) -> Self {
        Self {
            smoothed_8: 0,
            variation_4: 0,
            rto: initial,
            min: Duration::MAX,
            floor: min_rto,
            max_rto,
            floors_variation: false,
            backed_off: false,
        }
    }

    /// Makes `min_rto` the minimum of the variation term that is added to SRTT, as in Linux, instead of the minimum of
    /// the whole timeout.
    #[must_use]
    pub const fn floor_of_variation(self) -> Self {
        Self { floors_variation: true, ..self }
    }

    /// Takes a round-trip time. The caller must not give one that could belong to either of two transmissions
    /// [RFC6298 §3].
    #[inline]
    pub fn sample(&mut self, rtt: Duration) {
        let r = rtt.as_nanos();
        if self.smoothed_8 == 0 {
            // SRTT ← R, RTTVAR ← R/2                                                    [RFC6298 §2.2]
            self.smoothed_8 = 8 * r;
            self.variation_4 = 2 * r;
        } else {
            // RTTVAR ← (1 − 1/4)·RTTVAR + 1/4·|SRTT − R'|,  SRTT ← (1 − 1/8)·SRTT + 1/8·R'  [RFC6298 §2.3]
            self.variation_4 = self.variation_4 - self.variation_4 / 4 + (self.smoothed_8 / 8).abs_diff(r);
            self.smoothed_8 = self.smoothed_8 - self.smoothed_8 / 8 + r;
        }
        self.min = self.min.min(rtt);
        // RTO ← SRTT + max(G, 4·RTTVAR), with a clock granularity G of one nanosecond      [RFC6298 §2.3]
        let (floor, variation_floor) =
            if self.floors_variation { (Duration::ZERO, self.floor.as_nanos()) } else { (self.floor, 1) };
        let rto = Duration::from_nanos(self.smoothed_8 / 8 + self.variation_4.max(variation_floor));
        self.rto = rto.max(floor).min(self.max_rto);
        self.backed_off = false;
    }

    /// Doubles the timeout up to the maximum, because the timer expired [RFC6298 §5.5]. The next sample ends the
    /// backoff.
    pub fn back_off(&mut self) {
        self.rto = (self.rto * 2).min(self.max_rto);
        self.backed_off = true;
    }

    /// Whether the timer expired since the last sample.
    pub const fn backed_off(&self) -> bool {
        self.backed_off
    }

    /// The retransmission timeout.
    #[inline]
    pub const fn rto(&self) -> Duration {
        self.rto
    }

    /// The longest retransmission timeout.
    pub const fn max_rto(&self) -> Duration {
        self.max_rto
    }

    /// SRTT; the timeout before the first sample.
    #[inline]
    pub const fn smoothed(&self) -> Duration {
        if self.smoothed_8 == 0 { self.rto } else { Duration::from_nanos(self.smoothed_8 / 8) }
    }

    /// RTTVAR [RFC6298 §2]; zero before the first sample.
    pub const fn variation(&self) -> Duration {
        Duration::from_nanos(self.variation_4 / 4)
    }

    /// The minimum sample; [`Duration::MAX`] before the first.
    #[inline]
    pub const fn min(&self) -> Duration {
        self.min
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn estimator(floor_ms: u64) -> Rtt {
        Rtt::new(Duration::from_secs(1), Duration::from_millis(floor_ms), Duration::from_secs(60))
    }

    #[test]
    fn the_first_sample_sets_the_timeout_to_three_times_itself() {
        let mut rtt = estimator(0);
        assert_eq!(rtt.rto(), Duration::from_secs(1));
        rtt.sample(Duration::from_millis(100));
        // SRTT = 100, RTTVAR = 50, RTO = 100 + 4·50 = 300 ms
        assert_eq!(rtt.smoothed(), Duration::from_millis(100));
        assert_eq!(rtt.rto(), Duration::from_millis(300));
    }

    #[test]
    fn later_samples_are_smoothed_as_rfc_6298_says() {
        let mut rtt = estimator(0);
        rtt.sample(Duration::from_millis(100));
        rtt.sample(Duration::from_millis(180));
        // RTTVAR = 3/4·50 + 1/4·80 = 57.5; SRTT = 7/8·100 + 1/8·180 = 110; RTO = 110 + 230 = 340 ms
        assert_eq!(rtt.smoothed(), Duration::from_millis(110));
        assert_eq!(rtt.rto(), Duration::from_millis(340));
        rtt.sample(Duration::from_millis(30));
        // RTTVAR = 3/4·57.5 + 1/4·80 = 63.125; SRTT = 7/8·110 + 1/8·30 = 100; RTO = 100 + 252.5 ms
        assert_eq!(rtt.smoothed(), Duration::from_millis(100));
        assert_eq!(rtt.rto(), Duration::from_nanos(352_500_000));
        assert_eq!(rtt.min(), Duration::from_millis(30));
    }

    #[test]
    fn the_timeout_has_a_floor_and_a_ceiling() {
        let mut rtt = estimator(200);
        rtt.sample(Duration::from_nanos(10 * MS));
        assert_eq!(rtt.rto(), Duration::from_millis(200));
        rtt.sample(Duration::from_secs(100));
        assert_eq!(rtt.rto(), Duration::from_secs(60));
    }

    /// As in Linux: at least 200 ms beyond the smoothed round-trip time.
    #[test]
    fn the_floor_may_be_that_of_the_variation() {
        let mut rtt = estimator(200).floor_of_variation();
        for _ in 0..100 {
            rtt.sample(Duration::from_millis(90));
        }
        assert_eq!(rtt.rto(), Duration::from_millis(290));
        rtt.sample(Duration::from_millis(990));
        // SRTT = 7/8·90 + 1/8·990 = 202.5; RTTVAR is above 1/4·900 = 225, four of which are more than 200 ms
        assert!(rtt.rto() > Duration::from_millis(1100));
    }

    #[test]
    fn each_expiry_doubles_the_timeout_and_a_sample_ends_that() {
        let mut rtt = estimator(200);
        rtt.sample(Duration::from_millis(100));
        let spans: Vec<u64> = (0..9)
            .map(|_| {
                rtt.back_off();
                rtt.rto().as_nanos() / MS
            })
            .collect();
        assert_eq!(spans, [600, 1200, 2400, 4800, 9600, 19200, 38400, 60000, 60000]);
        assert!(rtt.backed_off());
        rtt.sample(Duration::from_millis(100));
        // RTTVAR = 3/4·50 = 37.5, RTO = 250 ms
        assert_eq!(rtt.rto(), Duration::from_millis(250));
        assert!(!rtt.backed_off());
    }
}
