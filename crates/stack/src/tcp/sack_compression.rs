//! SACK compression of Linux: acknowledgements of data above a gap that are held back for about a millisecond
//! \[Linux: `__tcp_ack_snd_check`, tcp_compressed_ack_kick\].

use units::{Duration, Time};

/// Decides which acknowledgements of data above a gap are held back.
///
/// The first three for the same next byte leave at once, so that losses are detected as early as without compression.
/// Those after them wait for a timer of 5 % of the round-trip time, and one acknowledgement with all blocks replaces
/// them.
#[derive(Clone, Copy, Debug)]
pub(super) struct SackCompression {
    /// Maximum delay [tcp_comp_sack_delay_ns].
    limit: Duration,
    /// The delay; zero before the first segment.
    delay: Duration,
    /// When SYN-ACK left; [`Time::NEVER`] without a handshake.
    opened_at: Time,
    /// Acknowledgements that are held back now [compressed_ack].
    held: u32,
    /// The next byte of the acknowledgements counted in `at_once` [compressed_ack_rcv_nxt].
    next: u64,
    /// Acknowledgements of that next byte that left at once [dup_ack_counter].
    at_once: u32,
}

impl SackCompression {
    /// Compression by at most `limit`.
    pub(super) fn new(limit: Duration) -> Self {
        Self { limit, delay: Duration::ZERO, opened_at: Time::NEVER, held: 0, next: 0, at_once: 0 }
    }

    /// SYN-ACK leaves.
    pub(super) fn on_open(&mut self, now: Time) {
        self.opened_at = now;
    }

    /// The first segment arrives, a round-trip time after SYN-ACK left. Without a handshake the round-trip time is not
    /// known, and nothing is held back.
    ///
    /// differs: Linux takes the shorter of this and of a smoothed estimate by timestamps, which exceeds it unless a
    /// queue was full at the handshake.
    pub(super) fn on_first_segment(&mut self, now: Time) {
        if self.opened_at != Time::NEVER {
            self.delay = (now.saturating_since(self.opened_at) / ROUND_TRIP_SHARE).min(self.limit);
        }
    }

    /// Whether acknowledgements are held back now.
    pub(super) const fn holds_some(&self) -> bool {
        self.held > 0
    }

    /// Whether an acknowledgement of all bytes below `next` is held back. Counts it.
    pub(super) fn holds_back(&mut self, next: u64) -> bool {
        if self.delay == Duration::ZERO || self.held >= MAX_HELD {
            return false;
        }
        if self.next != next {
            (self.next, self.at_once) = (next, 0);
        }
        if self.at_once < AT_ONCE {
            self.at_once += 1;
            return false;
        }
        self.held += 1;
        true
    }

    /// When the acknowledgement is due that replaces those held back from now on. A timer of the kernel expires at the
    /// end of its slack unless another one expires within it.
    pub(super) fn due(&self, now: Time) -> Time {
        now + self.delay + SLACK
    }

    /// An acknowledgement leaves.
    pub(super) fn on_acknowledged(&mut self) {
        self.held = 0;
    }
}

/// Acknowledgements that leave at once [Linux: TCP_FASTRETRANS_THRESH].
const AT_ONCE: u32 = 3;
/// Maximum number held back [Linux: tcp_comp_sack_nr].
const MAX_HELD: u32 = 44;
/// The delay is this part of the round-trip time: 5 %.
const ROUND_TRIP_SHARE: u64 = 20;
/// Slack of the timer [Linux: tcp_comp_sack_slack_ns].
const SLACK: Duration = Duration::from_micros(100);
/// Blocks that every acknowledgement is expected to have room for [Linux: TCP_SACK_BLOCKS_EXPECTED].
pub(super) const EXPECTED_BLOCKS: usize = 2;

#[cfg(test)]
mod tests {
    use super::*;

    fn after_round_trip(millis: u64) -> SackCompression {
        let mut compression = SackCompression::new(Duration::from_millis(1));
        compression.on_open(Time::ZERO);
        compression.on_first_segment(Time::ZERO + Duration::from_millis(millis));
        compression
    }

    /// 5 % of 8 ms are 0.4 ms, of 60 ms 3 ms; the slack is 0.1 ms.
    #[test]
    fn the_delay_is_a_twentieth_of_the_round_trip_time_and_at_most_a_millisecond() {
        let due = |millis| after_round_trip(millis).due(Time::ZERO);
        assert_eq!(due(8), Time::ZERO + Duration::from_micros(500));
        assert_eq!(due(60), Time::ZERO + Duration::from_micros(1100));
    }

    #[test]
    fn three_leave_at_once_for_each_next_byte() {
        let mut compression = after_round_trip(20);
        let held: Vec<_> = [7, 7, 7, 7, 8, 8, 8, 8].map(|next| compression.holds_back(next)).into();
        assert_eq!(held, [false, false, false, true, false, false, false, true]);
        assert!(compression.holds_some());
        compression.on_acknowledged();
        assert!(!compression.holds_some());
        assert!(compression.holds_back(8));
    }

    #[test]
    fn at_most_44_are_held_back() {
        let mut compression = after_round_trip(20);
        let held = (0..50).filter(|_| compression.holds_back(7)).count();
        assert_eq!(held, 44);
    }

    #[test]
    fn nothing_is_held_back_without_a_handshake() {
        let mut compression = SackCompression::new(Duration::from_millis(1));
        compression.on_first_segment(Time::ZERO + Duration::from_millis(20));
        assert_eq!((0..50).filter(|_| compression.holds_back(7)).count(), 0);
    }
}
