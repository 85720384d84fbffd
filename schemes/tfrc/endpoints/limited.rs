//! Detection of feedback about an interval in which the application, not the rate, limited the stream.

use units::Time;

/// Two instants at which the sender was not app-limited, and the interval of the last feedback. They suffice to decide
/// whether the sender was app-limited in the whole next interval [RFC5348 §8.2.1].
#[derive(Clone, Copy, Debug)]
pub(super) struct Limited {
    /// NotLimited1, NotLimited2; `None` before the first.
    first: Option<Time>,
    second: Option<Time>,
    /// t_new: departure of the packet that the last feedback refers to.
    spoken_of: Option<Time>,
    /// t_next: arrival of that feedback.
    heard_at: Option<Time>,
}

impl Limited {
    /// Before the first packet.
    pub(super) const fn new() -> Self {
        Self { first: None, second: None, spoken_of: None, heard_at: None }
    }

    /// Records that the sender was not app-limited at `now`: it has sent all that the rate allows.
    #[inline]
    pub(super) fn busy(&mut self, now: Time) {
        if self.first <= self.spoken_of {
            self.first = Some(now);
        } else if self.second <= self.heard_at {
            self.second = Some(now);
        }
    }

    /// Takes feedback that arrives at `now` about a packet sent at `sent_at`. Returns whether the sender was
    /// app-limited in the whole interval since the packet of the last feedback.
    pub(super) fn on_feedback(&mut self, sent_at: Time, now: Time) -> bool {
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

    /// Feedback every 100 ms about packets sent 100 ms before.
    #[test]
    fn an_interval_with_one_busy_instant_was_not_limited() {
        let mut limited = Limited::new();
        limited.busy(ms(10));
        assert!(!limited.on_feedback(ms(50), ms(150)));
        // nothing since
        assert!(limited.on_feedback(ms(150), ms(250)));
        // not app-limited at 260 ms: earlier packets do not belong to this interval
        limited.busy(ms(260));
        assert!(limited.on_feedback(ms(250), ms(350)));
        assert!(!limited.on_feedback(ms(350), ms(450)));
        assert!(limited.on_feedback(ms(450), ms(550)));
    }

    #[test]
    fn busy_instants_of_two_intervals_are_both_remembered() {
        let mut limited = Limited::new();
        limited.on_feedback(ms(0), ms(100));
        // one before the next packet with feedback, one after this feedback
        limited.busy(ms(50));
        assert!(!limited.on_feedback(ms(100), ms(200)));
        limited.busy(ms(150));
        limited.busy(ms(210));
        assert!(!limited.on_feedback(ms(200), ms(300)));
        assert!(!limited.on_feedback(ms(300), ms(400)));
        assert!(limited.on_feedback(ms(400), ms(500)));
    }
}
