//! Frames of a stream at a receiver: which are complete, and how old they are when they are.

use std::collections::VecDeque;

use contract::{Cx, Fragment};
use units::{Duration, Time};

use super::Video;

/// Bytes that have arrived of incomplete frames.
#[derive(Clone, Debug, Default)]
pub(super) struct IncompleteFrames {
    /// Number of the frame and bytes, in order.
    parts: VecDeque<(u32, u32)>,
}

impl IncompleteFrames {
    /// Whether a packet with `bytes` bytes completes its frame.
    pub(super) fn completes(&mut self, fragment: Fragment, bytes: u32) -> bool {
        if bytes >= fragment.frame_bytes {
            return true;
        }
        // usually the newest frame
        let mut at = self.parts.len();
        while at > 0 && self.parts[at - 1].0 > fragment.frame {
            at -= 1;
        }
        if at == 0 || self.parts[at - 1].0 != fragment.frame {
            self.parts.insert(at, (fragment.frame, bytes));
            return false;
        }
        let received = &mut self.parts[at - 1].1;
        *received = received.saturating_add(bytes);
        let complete = *received >= fragment.frame_bytes;
        if complete {
            self.parts.remove(at - 1);
        }
        complete
    }

    /// Forgets frames that are far older than `frame`.
    pub(super) fn forget_before(&mut self, frame: u32) {
        while self.parts.front().is_some_and(|part| part.0.saturating_add(KEPT) < frame) {
            self.parts.pop_front();
        }
    }

    /// Number of incomplete frames.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.parts.len()
    }
}

/// Number of frames before the current one whose incomplete state is kept, to count frames that become complete late.
pub(super) const KEPT: u32 = 256;

/// Measures frame delays: from the time at which a frame was encoded until the arrival of its last packet.
///
/// Frames have constant intervals, so the packet that waited the shortest time at its sender gives the time of the
/// first frame: send time − number · interval. This is exact if one of the packets so far left as soon as its frame was
/// encoded, as the first of a stream does.
#[derive(Clone, Debug)]
pub struct FrameDelays {
    interval: Duration,
    fragments: IncompleteFrames,
    /// When frame 0 was encoded; [`Time::NEVER`] before the first packet.
    first_at: Time,
}

impl FrameDelays {
    /// The delays of the frames of a video; `None` if no encoder that follows the scheme makes them.
    pub(super) fn of(video: &Video) -> Option<Box<Self>> {
        video.follows().then(|| Box::new(Self::new(video.interval())))
    }

    /// Of frames that are encoded every `interval`.
    pub fn new(interval: Duration) -> Self {
        Self { interval, fragments: IncompleteFrames::default(), first_at: Time::NEVER }
    }

    /// Takes a packet with `bytes` bytes of a frame, sent at `sent_at`.
    pub fn on_fragment(&mut self, fragment: Fragment, bytes: u32, sent_at: Time, cx: &mut Cx<'_>) {
        let age = self.interval * u64::from(fragment.frame);
        let first_at = Time::from_nanos(sent_at.as_nanos().saturating_sub(age.as_nanos()));
        self.first_at = self.first_at.min(first_at);
        if self.fragments.completes(fragment, bytes) {
            cx.measured_delay(cx.now().saturating_since(self.first_at + age));
            self.fragments.forget_before(fragment.frame);
        }
    }
}
