//! The feedback timer of a receiver that is not the CLR: it reports at a random time of a feedback round, unless a
//! receiver with a lower rate has reported.

use contract::Random;
use units::{Duration, Time, math};

use super::headers::{Header, RateCode};

/// A feedback round at a receiver [RFC4654 §4.5].
#[derive(Clone, Copy, Debug)]
pub(super) struct Timer {
    /// Expiry, if data arrive in time.
    pub(super) at: Time,
    /// X_fbr: the calculated rate at the start of the round, in bit/s.
    rate: f64,
}

impl Timer {
    /// A timer that expires at `at`, set while the receiver calculated `rate` bit/s.
    pub(super) const fn new(at: Time, rate: f64) -> Self {
        Self { at, rate }
    }

    /// Whether a receiver with a calculated rate of `rate` bit/s and a round-trip time of `rtt_s` seconds starts its
    /// timer in a round that begins with `header`.
    pub(super) fn begins(header: &Header, rate: f64, rtt_s: f64) -> bool {
        // X_r < X_supp or R > R_max
        rate < bps(header.suppression) || rtt_s > header.r_max.secs()
    }

    /// Whether `header` cancels the timer of a receiver whose calculated rate is `rate` bit/s.
    #[inline]
    pub(super) fn is_cancelled(&self, header: &Header, rate: f64, rtt_s: f64) -> bool {
        // (X_supp < X_r or X_supp < X_fbr) and R ≤ R_max
        let suppression = bps(header.suppression);
        (suppression < rate || suppression < self.rate) && rtt_s <= header.r_max.secs()
    }

    /// Adjusts the timer to a packet that arrived at `now`, `gap` after the one before it. `r_max` is the maximum
    /// round-trip time before it, `next` the one in it.
    pub(super) fn adjust(&mut self, now: Time, gap: Duration, r_max: Duration, next: Duration) {
        // late data: the timer was suspended
        self.at += gap.saturating_sub(r_max);
        if next != r_max {
            // t ← t·R_max,new/R_max,old for the remaining time
            let remains = self.at.saturating_since(now);
            self.at = now + remains.scaled(next.as_secs_f64() / r_max.as_secs_f64());
        }
    }
}

/// A random delay in a round of duration `round` for `receivers` receivers [RFC4654 §4.5]: one in `receivers` reports
/// at once, the others mostly late in the round.
pub(crate) fn draw(round: Duration, receivers: f64, random: &mut Random) -> Duration {
    // t = max(T·(1 + ln x/ln N), 0), x uniform in 0 < x ≤ 1
    let x = 1.0 - random.unit();
    round.scaled((1.0 + math::ln(x) / math::ln(receivers)).max(0.0))
}

/// X_supp in bit/s: unlimited if no receiver has reported.
fn bps(suppression: RateCode) -> f64 {
    if suppression == RateCode::MAX { f64::INFINITY } else { suppression.bps() }
}

#[cfg(test)]
mod tests {
    use super::super::headers::{Millis, RttCode};
    use super::*;

    /// Of N receivers 1/N speak at once; t ≤ τ with probability N^(τ/T − 1); the mean is T·(1 − (1 − 1/N)/ln N).
    #[test]
    fn waits_are_distributed_as_the_formula_says() {
        let round = Duration::from_secs(1);
        let n = 200_000;
        let mut random = Random::new(1, "timers", "");
        let mut waits = |receivers| -> Vec<f64> {
            (0..n).map(|_| draw(round, receivers, &mut random).as_secs_f64()).collect()
        };
        let share = |waits: &[f64], until: f64| {
            waits.iter().filter(|wait| **wait <= until).count() as f64 / f64::from(n)
        };
        // N = 10 000: 10⁻⁴, 10⁻², 10⁻¹, 10^−0.4; ln N = 9.21034, mean 1 − 0.9999/9.21034 = 0.891437
        let many = waits(10_000.0);
        let at_once = share(&many, 0.0);
        assert!((0.25e-4..=2e-4).contains(&at_once), "{at_once}");
        for (until, expected) in [(0.5, 0.01), (0.75, 0.1), (0.9, 0.398_107), (1.0, 1.0)] {
            let share = share(&many, until);
            assert!(
                (share - expected).abs() < 0.005 * (1.0f64 - expected).max(0.1) + 1e-9,
                "{until}: {share}"
            );
        }
        let mean = many.iter().sum::<f64>() / f64::from(n);
        assert!((mean - 0.891_437).abs() < 1e-3, "{mean}");
        // N = 100: one in a hundred at once, one in ten within half the round; mean 1 − 0.99/4.60517 = 0.785024
        let few = waits(100.0);
        assert!((share(&few, 0.0) - 0.01).abs() < 1e-3, "{}", share(&few, 0.0));
        assert!((share(&few, 0.5) - 0.1).abs() < 3e-3, "{}", share(&few, 0.5));
        let mean = few.iter().sum::<f64>() / f64::from(n);
        assert!((mean - 0.785_024).abs() < 1e-3, "{mean}");
    }

    /// A packet of a source with the suppression rate `suppression` in bit/s, with R_max = 104 ms.
    fn header(suppression: Option<f64>) -> Header {
        Header {
            ts: Millis(0),
            suppression: suppression.map_or(RateCode::MAX, RateCode::nearest),
            r_max: RttCode::at_least(0.104),
            round: 1,
            echo: None,
        }
    }

    #[test]
    fn the_timer_starts_below_the_suppression_rate_or_with_a_longer_round_trip_time() {
        for (suppression, rate, rtt_s, starts) in [
            (None, 1e12, 0.1, true),
            (Some(200e3), 150e3, 0.1, true),
            (Some(200e3), 250e3, 0.1, false),
            (Some(200e3), 250e3, 0.104, false),
            (Some(200e3), 250e3, 0.105, true),
        ] {
            assert_eq!(Timer::begins(&header(suppression), rate, rtt_s), starts, "{rate} at {rtt_s}");
        }
    }

    #[test]
    fn a_lower_suppression_rate_cancels_unless_the_receiver_is_farther_than_all() {
        let timer = Timer::new(Time::ZERO, 300e3);
        for (suppression, rate, rtt_s, cancelled) in [
            (None, 250e3, 0.1, false),
            // above the rate now and when the round began
            (Some(310e3), 250e3, 0.1, false),
            // below the rate now
            (Some(310e3), 350e3, 0.1, true),
            // below the rate when the round began, though not below the rate now
            (Some(280e3), 250e3, 0.1, true),
            (Some(280e3), 250e3, 0.105, false),
            (Some(310e3), 350e3, 0.105, false),
        ] {
            assert_eq!(
                timer.is_cancelled(&header(suppression), rate, rtt_s),
                cancelled,
                "{suppression:?} {rate} {rtt_s}"
            );
        }
    }

    #[test]
    fn late_data_and_another_maximum_round_trip_time_move_it() {
        let ms = |ms: u64| Duration::from_millis(ms);
        let at = |millis: u64| Time::ZERO + ms(millis);
        let moved = |gap, r_max, next| {
            let mut timer = Timer::new(at(1000), 0.0);
            timer.adjust(at(600), ms(gap), ms(r_max), ms(next));
            timer.at
        };
        assert_eq!(moved(100, 100, 100), at(1000));
        // 150 ms without data are 50 ms too long
        assert_eq!(moved(150, 100, 100), at(1050));
        // 400 ms remain: half of it, twice of it
        assert_eq!(moved(100, 100, 50), at(800));
        assert_eq!(moved(100, 100, 200), at(1400));
        // both: 450 ms remain
        assert_eq!(moved(150, 100, 200), at(1500));
    }
}
