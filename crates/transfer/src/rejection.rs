//! The message of a receiver that cannot accept the object, before it closes the session.

use units::{Duration, Time};

use super::messages::Message;
use crate::{ByteSink, MAX_MESSAGE_BYTES, Sink, Status};

/// Why something is not taken, and how often that was said.
#[derive(Debug)]
pub(crate) struct Rejection {
    why: String,
    said: u32,
    again_at: Time,
}

/// It is said so often at once, since messages may be lost,
const AT_ONCE: u32 = 3;
/// and then again after this.
const SAID_AGAIN: Duration = Duration::from_millis(100);

impl Rejection {
    pub(crate) fn new(why: String) -> Self {
        Self { why, said: 0, again_at: Time::ZERO }
    }

    /// Says it, where that is due.
    pub(crate) fn say(&mut self, now: Time, message: &mut [u8; MAX_MESSAGE_BYTES]) -> usize {
        if now < self.again_at {
            return 0;
        }
        self.said = self.said.saturating_add(1);
        if self.said >= AT_ONCE {
            self.again_at = now + SAID_AGAIN;
        }
        Message::Failed(self.why.clone()).write(message)
    }

    pub(crate) const fn wake(&self) -> Time {
        self.again_at
    }

    /// Failed, once that has been said.
    pub(crate) fn status(&self) -> Status {
        if self.said < AT_ONCE { Status::Going } else { Status::Failed(self.why.clone()) }
    }
}

/// Takes nothing, and says why.
impl Sink for Rejection {
    fn take(&mut self, _: u64, _: Time, _: &[u8]) {}

    fn speak(&mut self, now: Time, message: &mut [u8; MAX_MESSAGE_BYTES]) -> usize {
        self.say(now, message)
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

    fn speak(&mut self, now: Time, message: &mut [u8; MAX_MESSAGE_BYTES]) -> usize {
        self.say(now, message)
    }

    fn wake(&self) -> Time {
        self.wake()
    }

    fn status(&self) -> Status {
        self.status()
    }
}
