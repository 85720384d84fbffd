//! How many symbols a receiver of a group may request: a symbol is retransmitted to all, so that the requests of one
//! are bounded by what it confirms.

use units::{Duration, Time};

/// Bounds of the symbols that a receiver may request before it confirms half as many: a quarter of the object within
/// them.
const WINDOW: (u64, u64) = (256, 4096);
/// Symbols that a receiver may request that has not confirmed its last window, and the interval at which it is tried
/// again.
const PROBE: u64 = 64;
const PROBE_INTERVAL: Duration = Duration::from_secs(1);

/// The requests of a receiver.
///
/// A receiver that loses at most half of the symbols sent to it is limited by its window only: each report that
/// confirms half of the requested symbols renews it. One that has not done so for a second gets a few symbols in a
/// second, until it confirms these.
#[derive(Debug)]
pub(crate) struct Credit {
    max: u64,
    window: u64,
    /// Symbols requested since the window was renewed, and the confirmed ones at that time.
    requested: u64,
    confirmed: u64,
    /// When it gets a few symbols if its window is spent.
    probe_at: Option<Time>,
}

impl Credit {
    /// Of a receiver of an object of this many symbols; `None` if the number is unknown.
    pub(crate) fn new(symbols: Option<u64>) -> Self {
        let max = symbols.map_or(WINDOW.1, |symbols| (symbols / 4).clamp(WINDOW.0, WINDOW.1));
        Self { max, window: max, requested: 0, confirmed: 0, probe_at: None }
    }

    /// It has reported that it has this many symbols.
    pub(crate) fn confirm(&mut self, symbols: u64, now: Time) {
        let gained = symbols.saturating_sub(self.confirmed);
        let probe_at = *self.probe_at.get_or_insert(now + PROBE_INTERVAL);
        if gained.saturating_mul(2) >= self.requested {
            self.probe_at = Some(now + PROBE_INTERVAL);
            self.window = if self.requested > 0 { (2 * self.window).min(self.max) } else { self.window };
        } else if self.is_spent() && now >= probe_at {
            (self.window, self.probe_at) = (PROBE, Some(now + PROBE_INTERVAL));
        } else {
            return;
        }
        (self.requested, self.confirmed) = (0, self.confirmed.max(symbols));
    }

    /// It has joined again, perhaps without what it had.
    pub(crate) const fn restart(&mut self) {
        self.confirmed = 0;
    }

    /// Whether it may request no symbol before it confirms others.
    pub(crate) const fn is_spent(&self) -> bool {
        self.requested >= self.window
    }

    /// Requests symbols. Returns how many of them it may.
    pub(crate) fn request(&mut self, symbols: u16) -> u16 {
        let granted = u64::from(symbols).min(self.window.saturating_sub(self.requested));
        self.requested += granted;
        granted as u16
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn secs(seconds: u64) -> Time {
        Time::ZERO + Duration::from_secs(seconds)
    }

    #[test]
    fn the_window_is_a_quarter_of_the_object_within_bounds() {
        for (symbols, window) in [(Some(10), 256), (Some(4000), 1000), (Some(1 << 20), 4096), (None, 4096)] {
            assert_eq!(Credit::new(symbols).window, window);
        }
    }

    #[test]
    fn one_that_confirms_nothing_gets_its_window_and_then_a_few_symbols_in_a_second() {
        let mut credit = Credit::new(Some(4000));
        let mut granted = 0;
        for tick in 0..200u64 {
            let now = Time::ZERO + Duration::from_millis(100 * tick);
            credit.confirm(0, now);
            while !credit.is_spent() {
                granted += u64::from(credit.request(50));
            }
        }
        assert_eq!(granted, 1000 + 19 * PROBE);
    }

    #[test]
    fn one_that_lost_a_whole_window_has_it_again_after_a_few_confirmed_probes() {
        let (mut credit, mut confirmed) = (Credit::new(None), 0);
        credit.request(u16::MAX);
        assert!(credit.is_spent());
        credit.confirm(confirmed, secs(0));
        assert!(credit.is_spent(), "what it requested may be under way");
        credit.confirm(confirmed, secs(1));
        for window in [64, 128, 256, 512, 1024, 2048, 4096, 4096] {
            assert_eq!(credit.request(u16::MAX), window);
            confirmed += u64::from(window);
            credit.confirm(confirmed, secs(1));
        }
    }

    proptest! {
        #[test]
        fn nobody_gets_more_than_two_windows_and_the_double_of_what_it_confirms_and_a_few_in_a_second(
            steps in proptest::collection::vec((0u64..300, 0u16..3000, 0u64..400), 1..200),
        ) {
            let mut credit = Credit::new(Some(6000));
            let (mut granted, mut confirmed, mut now) = (0, 0, Time::ZERO);
            for (gained, wanted, millis) in steps {
                (confirmed, now) = (confirmed + gained, now + Duration::from_millis(millis));
                credit.confirm(confirmed, now);
                granted += u64::from(credit.request(wanted));
                let probes = now.as_nanos() / 1_000_000_000 + 1;
                prop_assert!(granted <= 2 * 1500 + 2 * confirmed + probes * PROBE, "{granted} {confirmed} {now}");
            }
        }

        #[test]
        fn one_that_loses_less_than_half_is_limited_by_its_window_only(
            losses in proptest::collection::vec(0u16..100, 1..100),
            requests in 1u16..1000,
        ) {
            let (mut credit, mut confirmed) = (Credit::new(Some(4000)), 0);
            for loss in losses {
                prop_assert_eq!(credit.request(requests), requests);
                // half at most, rounded in its favour
                let lost = u64::from(requests) * u64::from(loss) / 200;
                confirmed += u64::from(requests) - lost;
                credit.confirm(confirmed, Time::ZERO);
            }
        }
    }
}
