//! A connection at the client: requested and received bytes, and retransmission of requests.

use std::collections::VecDeque;

use units::{Duration, Time};

use super::Event;

/// Requests and answers of one connection. Answers come in the order of the requests.
#[derive(Debug, Default)]
pub(super) struct Connection {
    /// Bytes requested so far.
    requested: u64,
    /// Bytes of the complete answers.
    completed: u64,
    /// Whether the first byte of the answer after those has arrived.
    first_byte_seen: bool,
    /// Items whose answers are not complete, with one past the last byte of each.
    pending: VecDeque<(u32, u64)>,
    /// Bytes requested up to the end of the last answer that is abandoned. How much of it comes, the sender decides:
    /// the rest counts as delivered.
    abandoned: u64,
    retry: Option<Retry>,
}

/// The timer of the newest request, until the first byte of its answer arrives.
#[derive(Clone, Copy, Debug)]
struct Retry {
    at: Time,
    timeout: Duration,
    /// Bytes delivered when it was set.
    delivered: u64,
    /// Bytes requested before the newest request.
    requested_before: u64,
}

/// Initial retransmission timeout [RFC6298 §2.1]. It doubles [RFC6298 §5.5], up to 60 s [RFC6298 §2.5].
const INITIAL: Duration = Duration::from_secs(1);
const MAXIMUM: Duration = Duration::from_secs(60);

impl Connection {
    /// Requests more bytes. Returns the total requested so far.
    pub(super) fn request(&mut self, bytes: u64, item: u32, now: Time) -> u64 {
        self.retry = Some(Retry {
            at: now + INITIAL,
            timeout: INITIAL,
            delivered: self.completed,
            requested_before: self.requested,
        });
        self.requested += bytes;
        self.pending.push_back((item, self.requested));
        self.requested
    }

    /// Abandons the answers that are not complete.
    pub(super) fn abandon(&mut self) {
        self.abandoned = self.requested;
    }

    /// Bytes requested up to the end of the last answer that is abandoned.
    pub(super) const fn abandoned(&self) -> u64 {
        self.abandoned
    }

    /// Whether an abandoned answer is still coming.
    pub(super) const fn drains(&self) -> bool {
        self.completed < self.abandoned
    }

    /// Bytes that have arrived of the answer under way.
    pub(super) const fn loaded(&self, total: u64) -> u64 {
        total.saturating_sub(self.completed)
    }

    /// The next news, given that `total` bytes have been delivered.
    pub(super) fn advance(&mut self, total: u64) -> Option<Event> {
        if self.retry.is_some_and(|retry| total > retry.requested_before) {
            self.retry = None;
        }
        let &(item, end) = self.pending.front()?;
        if total > self.completed && !self.first_byte_seen {
            self.first_byte_seen = true;
            return Some(Event::FirstByte);
        }
        if total < end {
            return None;
        }
        self.completed = end;
        self.first_byte_seen = false;
        self.pending.pop_front();
        Some(Event::Complete(item))
    }

    /// Repeats the newest request if its timer has expired and nothing has arrived since. Returns the total requested
    /// so far.
    pub(super) fn retry(&mut self, delivered: u64, now: Time) -> Option<u64> {
        let retry = self.retry.filter(|retry| retry.at <= now)?;
        if delivered > retry.requested_before {
            self.retry = None;
            return None;
        }
        // data of earlier answers show that the path works
        // but what an abandoned answer brings does not show that the sender knows
        let moves = delivered > retry.delivered && !self.drains();
        let timeout = if moves { INITIAL } else { (retry.timeout + retry.timeout).min(MAXIMUM) };
        self.retry = Some(Retry { at: now + timeout, timeout, delivered, ..retry });
        (!moves).then_some(self.requested)
    }

    /// Number of answers that are not complete.
    pub(super) fn open(&self) -> usize {
        self.pending.len()
    }

    /// When the timer of the newest request expires.
    pub(super) fn wake(&self) -> Time {
        self.retry.map_or(Time::NEVER, |retry| retry.at)
    }

    /// The number of delivered bytes at which there are news.
    pub(super) fn next_event_at(&self) -> u64 {
        match self.pending.front() {
            Some(_) if !self.first_byte_seen => self.completed + 1,
            Some(&(_, end)) => end,
            None => u64::MAX,
        }
    }
}
