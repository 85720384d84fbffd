//! Patience: the time without delivered data, independent of keep-alives.

use units::{Duration, Time};

/// Time without delivered data after which an end without the key can be replaced by another client.
pub const QUIET: Duration = Duration::from_secs(2);

/// The time without delivered data.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    moved: Option<u64>,
    lasts: Duration,
    looked_at: Time,
}

impl Patience {
    /// No time without data yet.
    pub const fn new(now: Time) -> Self {
        Self { moved: None, lasts: Duration::ZERO, looked_at: now }
    }

    /// Updates the measure of delivered data. Time does not count while a program causes the pause (`waits`), nor while the other end is silent,
    /// which has its own limit.
    pub fn look(&mut self, moved: Option<u64>, waits: bool, silent: bool, now: Time) {
        if moved.is_none() || moved != self.moved || waits {
            self.lasts = Duration::ZERO;
        } else if !silent {
            self.lasts += now.saturating_since(self.looked_at);
        }
        (self.moved, self.looked_at) = (moved, now);
    }

    /// The time without delivered data.
    pub const fn lasts(&self) -> Duration {
        self.lasts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_counts_while_no_data_are_delivered_and_no_program_may_pause() {
        let at = |seconds| Time::ZERO + Duration::from_secs(seconds);
        let mut patience = Patience::new(at(0));
        patience.look(Some(0), false, false, at(1));
        patience.look(Some(0), false, false, at(4));
        assert_eq!(patience.lasts(), Duration::from_secs(3));
        patience.look(Some(0), false, true, at(60));
        assert_eq!(patience.lasts(), Duration::from_secs(3), "silence has its own limit");
        patience.look(Some(0), false, false, at(61));
        assert_eq!(patience.lasts(), Duration::from_secs(4));
        patience.look(Some(1), false, false, at(62));
        assert_eq!(patience.lasts(), Duration::ZERO);
        patience.look(Some(1), false, false, at(65));
        patience.look(Some(1), true, false, at(70));
        assert_eq!(patience.lasts(), Duration::ZERO, "a program pauses");
    }
}
