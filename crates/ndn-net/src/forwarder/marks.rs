//! Congestion marks by the bytes that are queued for a face, as in NFD's link service [NFD: congestion marking].

use units::Time;

use super::settings::MarkSettings;

/// Decides about the mark of each packet to a face.
#[derive(Clone, Copy, Debug)]
pub(super) struct Marker {
    settings: MarkSettings,
    /// When the next mark is due; [`Time::NEVER`] while the queue is below the threshold.
    next_mark: Time,
    /// Marks since the queue exceeded the threshold.
    count: u32,
}

impl Marker {
    pub(super) const fn new(settings: MarkSettings) -> Self {
        Self { settings, next_mark: Time::NEVER, count: 0 }
    }

    /// Handles a packet that is about to leave while `waiting` bytes wait for the face. Returns whether it is marked.
    pub(super) fn on_packet(&mut self, waiting: u64, now: Time) -> bool {
        if waiting <= self.settings.above.as_u64() {
            (self.next_mark, self.count) = (Time::NEVER, 0);
            return false;
        }
        if self.next_mark == Time::NEVER {
            self.next_mark = now + self.settings.interval;
            return false;
        }
        if now < self.next_mark {
            return false;
        }
        self.count += 1;
        // relative to the due time of the last mark, so that late marks are caught up        [NFD: congestion marking]
        self.next_mark += self.settings.interval.over_sqrt(self.count + 1);
        true
    }
}

#[cfg(test)]
mod tests {
    use units::{Bytes, Duration};

    use super::*;

    fn at(millis: u64) -> Time {
        Time::ZERO + Duration::from_millis(millis)
    }

    fn marker() -> Marker {
        Marker::new(MarkSettings::default())
    }

    #[test]
    fn the_first_mark_comes_after_an_interval_and_the_next_ever_sooner() {
        let mut marker = marker();
        let marks: Vec<u64> = (0..=400).filter(|millis| marker.on_packet(65_537, at(*millis))).collect();
        // 100 ms, then 100/√2, 100/√3, 100/√4, 100/√5 ms later
        assert_eq!(marks, [100, 171, 229, 279, 324, 364]);
    }

    #[test]
    fn a_queue_at_the_threshold_is_short_and_begins_anew() {
        let mut marker = marker();
        assert!(!(0..1000).any(|millis| marker.on_packet(65_536, at(millis))));
        assert!(!marker.on_packet(65_537, at(1000)) && marker.on_packet(65_537, at(1100)));
        assert!(!marker.on_packet(0, at(1101)));
        let marks: Vec<u64> = (1102..1300).filter(|millis| marker.on_packet(70_000, at(*millis))).collect();
        assert_eq!(marks, [1202, 1273]);
    }

    #[test]
    fn who_is_late_catches_up() {
        let mut marker = marker();
        assert!(!marker.on_packet(100_000, at(0)));
        let marks = (0..10).filter(|_| marker.on_packet(100_000, at(300))).count();
        // due at 100, 170.7, 228.4 and 278.4 ms
        assert_eq!(marks, 4);
    }

    #[test]
    fn both_numbers_can_be_set() {
        let settings = MarkSettings { above: Bytes::new(10), interval: Duration::from_millis(5) };
        let mut marker = Marker::new(settings);
        let marks: Vec<u64> = (0..10).filter(|millis| marker.on_packet(11, at(*millis))).collect();
        assert_eq!(marks, [5, 9]);
    }
}
