//! The message of a receiver that cannot accept the object, before it closes the session.

use units::{Duration, Time};

use super::messages::Message;
use crate::{ByteSink, MAX_MESSAGE_BYTES, Sink, Status};

/// The reason of a rejection, and how many messages were sent.
#[derive(Debug)]
pub(crate) struct Rejection {
    reason: String,
    sent_count: u32,
    again_at: Time,
}

/// Number of messages sent at once, because messages can be lost,
const AT_ONCE: u32 = 3;
/// and interval of further ones.
const REPEAT_INTERVAL: Duration = Duration::from_millis(100);

impl Rejection {
    pub(crate) fn new(reason: String) -> Self {
        Self { reason, sent_count: 0, again_at: Time::ZERO }
    }

    /// Writes the message if it is due.
    pub(crate) fn write_rejection(&mut self, now: Time, message: &mut [u8; MAX_MESSAGE_BYTES]) -> usize {
        if now < self.again_at {
            return 0;
        }
        self.sent_count = self.sent_count.saturating_add(1);
        if self.sent_count >= AT_ONCE {
            self.again_at = now + REPEAT_INTERVAL;
        }
        Message::Failed(self.reason.clone()).write(message)
    }

    pub(crate) const fn wake(&self) -> Time {
        self.again_at
    }

    /// Failed, after the first messages were sent.
    pub(crate) fn status(&self) -> Status {
        if self.sent_count < AT_ONCE { Status::InProgress } else { Status::Failed(self.reason.clone()) }
    }
}

/// Accepts no data, and sends the reason.
impl Sink for Rejection {
    fn take(&mut self, _: u64, _: Time, _: &[u8]) {}

    fn write_message(&mut self, now: Time, message: &mut [u8; MAX_MESSAGE_BYTES]) -> usize {
        self.write_rejection(now, message)
    }

    fn wake(&self) -> Time {
        self.wake()
    }

    fn status(&self) -> Status {
        self.status()
    }
}

impl ByteSink for Rejection {
    fn write(&mut self, _: u64, _: &[u8]) -> bool {
        false
    }

    fn on_contiguous(&mut self, _: u64, _: Time) {}

    fn write_message(&mut self, now: Time, message: &mut [u8; MAX_MESSAGE_BYTES]) -> usize {
        self.write_rejection(now, message)
    }

    fn wake(&self) -> Time {
        self.wake()
    }

    fn status(&self) -> Status {
        self.status()
    }
}
