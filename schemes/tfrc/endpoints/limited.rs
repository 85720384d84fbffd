//! Whether feedback covers a time in which the application, not the rate, limited the stream.

use units::Time;

/// Two instants at which the sender was not limited by its application, and the interval that the last feedback spoke of: so
/// much is enough to tell whether all of the next one was limited by it [RFC5348 §8.2.1].
#[derive(Clone, Copy, Debug)]
pub(super) struct Limited {
    /// NotLimited1, NotLimited2; before the start where there are none.
    first: Option<Time>,
    second: Option<Time>,
    /// t_new: the packet that the last feedback spoke of was sent then.
    spoken_of: Option<Time>,
    /// t_next: that feedback came then.
    heard_at: Option<Time>,
}

impl Limited {
    /// Nothing sent, nothing heard.
    pub(super) const fn new() -> Self {
        Self { first: None, second: None, spoken_of: None, heard_at: None }
    }

    /// At `now` the sender has sent all that it was allowed to: its application does not limit it.
    #[inline]
    pub(super) fn busy(&mut self, now: Time) {
        if self.first <= self.spoken_of {
            self.first = Some(now);
        } else if self.second <= self.heard_at {
            self.second = Some(now);
        }
    }

    /// Feedback came at `now` and spoke of a packet sent at `sent_at`. Whether the application limited the stream all the time
    /// since the packet of which the last feedback spoke.
    pub(super) fn heard(&mut self, sent_at: Time, now: Time) -> bool {
        let (old, new) = (self.spoken_of, Some(sent_at));
        let within = |busy: Option<Time>| old < busy && busy <= new;
        let limited = !within(self.first) && !within(self.second);
        if self.first <= new && self.second > new {
            self.first = self.second;
        }
        self.spoken_of = new;
        self.heard_at = Some(now);
        limited
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shared::stream_testing::ms;

    /// Feedback each 100 ms about what was sent 100 ms before.
    #[test]
    fn an_interval_with_one_busy_instant_was_not_limited() {
        let mut limited = Limited::new();
        limited.busy(ms(10));
        assert!(!limited.heard(ms(50), ms(150)));
        // nothing since
        assert!(limited.heard(ms(150), ms(250)));
        // busy at 260 ms: packets until then are not of that time
        limited.busy(ms(260));
        assert!(limited.heard(ms(250), ms(350)));
        assert!(!limited.heard(ms(350), ms(450)));
        assert!(limited.heard(ms(450), ms(550)));
    }

    #[test]
    fn busy_instants_of_two_intervals_are_both_remembered() {
        let mut limited = Limited::new();
        limited.heard(ms(0), ms(100));
        // one before the next packet that is spoken of, one after the feedback about it
        limited.busy(ms(50));
        assert!(!limited.heard(ms(100), ms(200)));
        limited.busy(ms(150));
        limited.busy(ms(210));
        assert!(!limited.heard(ms(200), ms(300)));
        assert!(!limited.heard(ms(300), ms(400)));
        assert!(limited.heard(ms(400), ms(500)));
    }
}
