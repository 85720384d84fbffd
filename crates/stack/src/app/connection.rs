//! A connection as the client sees it: what was asked for, what has arrived, and requests that are repeated when they seem lost.

use std::collections::VecDeque;

use units::{Duration, Time};

use super::News;

/// Requests and answers of one connection. Answers come in the order of the requests.
#[derive(Debug, Default)]
pub(super) struct Connection {
    /// Bytes asked for so far.
    asked: u64,
    /// Bytes of the complete answers.
    answered: u64,
    /// Whether the first byte of the answer after those has arrived.
    begun: bool,
    /// Items whose answers are not complete, with one past the last byte of each.
    pending: VecDeque<(u32, u64)>,
    retry: Option<Retry>,
}

/// The timer of the newest request, until the first byte of its answer arrives.
#[derive(Clone, Copy, Debug)]
struct Retry {
    at: Time,
    timeout: Duration,
    /// Bytes delivered when it was set.
    seen: u64,
    /// Bytes asked for before the newest request.
    before: u64,
}

/// Initial retransmission timeout [RFC6298 §2.1]. It doubles [RFC6298 §5.5], up to 60 s [RFC6298 §2.5].
const INITIAL: Duration = Duration::from_secs(1);
const MAXIMUM: Duration = Duration::from_secs(60);

impl Connection {
    /// Asks for more bytes. Returns all bytes asked for so far.
    pub(super) fn ask(&mut self, bytes: u64, item: u32, now: Time) -> u64 {
        self.retry =
            Some(Retry { at: now + INITIAL, timeout: INITIAL, seen: self.answered, before: self.asked });
        self.asked += bytes;
        self.pending.push_back((item, self.asked));
        self.asked
    }

    /// The next news, given that `total` bytes have been delivered.
    pub(super) fn advance(&mut self, total: u64) -> Option<News> {
        if self.retry.is_some_and(|retry| total > retry.before) {
            self.retry = None;
        }
        let &(item, end) = self.pending.front()?;
        if total > self.answered && !self.begun {
            self.begun = true;
            return Some(News::Begun);
        }
        if total < end {
            return None;
        }
        self.answered = end;
        self.begun = false;
        self.pending.pop_front();
        Some(News::Answered(item))
    }

    /// Repeats the newest request if its timer has expired and nothing has arrived since. Returns all bytes asked for so far.
    pub(super) fn retry(&mut self, delivered: u64, now: Time) -> Option<u64> {
        let retry = self.retry.filter(|retry| retry.at <= now)?;
        if delivered > retry.before {
            self.retry = None;
            return None;
        }
        // data of earlier answers show that the path works
        let moves = delivered > retry.seen;
        let timeout = if moves { INITIAL } else { (retry.timeout + retry.timeout).min(MAXIMUM) };
        self.retry = Some(Retry { at: now + timeout, timeout, seen: delivered, ..retry });
        (!moves).then_some(self.asked)
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
    pub(super) fn news_at(&self) -> u64 {
        match self.pending.front() {
            Some(_) if !self.begun => self.answered + 1,
            Some(&(_, end)) => end,
            None => u64::MAX,
        }
    }
}
