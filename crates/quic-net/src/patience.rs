//! Patience: the time without delivered data, independent of keep-alives.

use units::{Duration, Time};

/// Time without delivered data after which an end without the key can be replaced by another client.
pub const REPLACE_AFTER: Duration = Duration::from_secs(2);

/// The time without delivered data.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    progress: Option<u64>,
    stalled: Duration,
    updated_at: Time,
}

impl Patience {
    /// No time without data yet.
    pub const fn new(now: Time) -> Self {
        Self { progress: None, stalled: Duration::ZERO, updated_at: now }
    }

    /// Updates the measure of delivered data. Time does not count while a program causes the pause (`paused`), nor
    /// while the other end is silent, which has its own limit.
    pub fn update(&mut self, progress: Option<u64>, paused: bool, silent: bool, now: Time) {
        if progress.is_none() || progress != self.progress || paused {
            self.stalled = Duration::ZERO;
        } else if !silent {
            self.stalled += now.saturating_since(self.updated_at);
        }
        (self.progress, self.updated_at) = (progress, now);
    }

    /// The time without delivered data.
    pub const fn stalled(&self) -> Duration {
        self.stalled
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_counts_while_no_data_are_delivered_and_no_program_may_pause() {
        let at = |seconds| Time::ZERO + Duration::from_secs(seconds);
        let mut patience = Patience::new(at(0));
        patience.update(Some(0), false, false, at(1));
        patience.update(Some(0), false, false, at(4));
        assert_eq!(patience.stalled(), Duration::from_secs(3));
        patience.update(Some(0), false, true, at(60));
        assert_eq!(patience.stalled(), Duration::from_secs(3), "silence has its own limit");
        patience.update(Some(0), false, false, at(61));
        assert_eq!(patience.stalled(), Duration::from_secs(4));
        patience.update(Some(1), false, false, at(62));
        assert_eq!(patience.stalled(), Duration::ZERO);
        patience.update(Some(1), false, false, at(65));
        patience.update(Some(1), true, false, at(70));
        assert_eq!(patience.stalled(), Duration::ZERO, "a program pauses");
    }
}
