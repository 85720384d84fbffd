//! A rate limit of a transfer, in addition to its scheme: above it there is nothing to send.

use contract::EndpointId;
use units::{Bytes, Duration, Rate, Time};
use wire::stream::Reason;

use crate::KEY;

use crate::{ByteSource, Pace, Pause, Payload, Status};

/// Maximum burst after a pause.
const BURST: Duration = Duration::from_millis(2);

/// Minimum number of bytes of a byte stream that are released at a time.
const MIN: u64 = 1000;

/// The content of `inner` at a limited rate.
pub struct RateLimited<T> {
    inner: T,
    rate: Rate,
    /// Bytes of a packet beside its content, headers of IP and UDP included.
    overhead: u64,
    /// A paced scheme's next packet is not sent before.
    next_at: Time,
    /// Bytes of a byte stream that may have been sent, and since when.
    released: u64,
    since: Option<Time>,
}

impl<T> RateLimited<T> {
    /// `inner` at `rate` at most. `overhead` is the size of a packet without content.
    pub fn new(inner: T, rate: Rate, overhead: u64) -> Self {
        Self { inner, rate, overhead, next_at: Time::ZERO, released: 0, since: None }
    }
}

/// How many bytes leave at `rate` in `span`.
fn bytes_in(rate: Rate, span: Duration) -> u64 {
    let bits = u128::from(rate.as_bps()) * u128::from(span.as_nanos()) / 1_000_000_000;
    u64::try_from(bits / 8).unwrap_or(u64::MAX)
}

impl Payload for RateLimited<Box<dyn Payload>> {
    fn fill(&mut self, seq: u64, now: Time, room: &mut [u8]) -> usize {
        let (gap, _) = self.rate.serialise(Bytes::new(room.len() as u64 + self.overhead), Default::default());
        self.next_at = self.next_at.max(now - BURST) + gap;
        self.inner.fill(seq, now, room)
    }

    fn ready(&mut self, now: Time) -> Time {
        self.inner.ready(now).max(self.next_at.min(now + Duration::from_secs(1)))
    }

    fn pace(&mut self, now: Time) -> Pace {
        self.inner.pace(now)
    }

    fn progress(&self) -> Option<u64> {
        self.inner.progress()
    }

    fn progress_of(&self, peer: EndpointId) -> Option<u64> {
        self.inner.progress_of(peer)
    }

    fn pause(&self) -> Pause {
        self.inner.pause()
    }

    fn limit(&self) -> Rate {
        self.rate
    }

    fn bind(&mut self, peer: EndpointId, binding: &[u8; KEY]) {
        self.inner.bind(peer, binding);
    }

    fn on_join(&mut self, peer: EndpointId) {
        self.inner.on_join(peer);
    }

    fn on_leave(&mut self, peer: EndpointId) {
        self.inner.on_leave(peer);
    }

    fn on_message(&mut self, from: EndpointId, now: Time, message: &[u8]) {
        self.inner.on_message(from, now, message);
    }

    fn status(&self) -> Status {
        self.inner.status()
    }

    fn reason(&self) -> Reason {
        self.inner.reason()
    }
}

impl ByteSource for RateLimited<Box<dyn ByteSource>> {
    fn ready(&mut self, now: Time) -> u64 {
        let there = self.inner.ready(now);
        let span = now.saturating_since(*self.since.get_or_insert(now)).min(Duration::from_secs(1));
        let more = bytes_in(self.rate, span);
        // one long step instead of many that round down to nothing
        if more >= MIN {
            self.since = Some(now);
            // what was not used is not saved up
            let max = there.max(self.released).saturating_add(bytes_in(self.rate, BURST));
            self.released = (self.released + more).min(max);
        }
        there.min(self.released)
    }

    fn end(&self) -> Option<u64> {
        self.inner.end()
    }

    fn progress(&self) -> Option<u64> {
        self.inner.progress()
    }

    fn pause(&self) -> Pause {
        self.inner.pause()
    }

    fn limit(&self) -> Rate {
        self.rate
    }

    fn read(&mut self, offset: u64, room: &mut [u8]) {
        self.inner.read(offset, room);
    }

    fn on_accepted(&mut self, offset: u64) {
        self.inner.on_accepted(offset);
    }

    fn bind(&mut self, peer: EndpointId, binding: &[u8; KEY]) {
        self.inner.bind(peer, binding);
    }

    fn on_join(&mut self, peer: EndpointId) {
        (self.released, self.since) = (0, None);
        self.inner.on_join(peer);
    }

    fn on_message(&mut self, from: EndpointId, now: Time, message: &[u8]) {
        self.inner.on_message(from, now, message);
    }

    fn status(&self) -> Status {
        self.inner.status()
    }

    fn reason(&self) -> Reason {
        self.inner.reason()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Always has more.
    struct Endless;

    impl Payload for Endless {
        fn fill(&mut self, _: u64, _: Time, room: &mut [u8]) -> usize {
            room.len()
        }

        fn on_message(&mut self, _: EndpointId, _: Time, _: &[u8]) {}

        fn status(&self) -> Status {
            Status::InProgress
        }
    }

    impl ByteSource for Endless {
        fn ready(&mut self, _: Time) -> u64 {
            1 << 40
        }

        fn end(&self) -> Option<u64> {
            None
        }

        fn read(&mut self, _: u64, _: &mut [u8]) {}

        fn on_accepted(&mut self, _: u64) {}

        fn on_message(&mut self, _: EndpointId, _: Time, _: &[u8]) {}

        fn status(&self) -> Status {
            Status::InProgress
        }
    }

    #[test]
    fn a_paced_scheme_is_held_to_the_rate_headers_included() {
        let inner: Box<dyn Payload> = Box::new(Endless);
        // 1000 bytes at 8 Mbit/s are one a millisecond
        let mut capped = RateLimited::new(inner, Rate::from_mbps(8), 200);
        let begins = Time::ZERO + Duration::from_secs(1000);
        let mut sent = 0;
        for step in 0..10_000 {
            let now = begins + Duration::from_micros(100 * step);
            while capped.ready(now) <= now {
                capped.fill(sent, now, &mut [0; 800]);
                sent += 1;
            }
        }
        assert!((1000..=1003).contains(&sent), "{sent} in a second");
    }

    #[test]
    fn a_byte_stream_is_released_at_the_rate() {
        let inner: Box<dyn ByteSource> = Box::new(Endless);
        let mut capped = RateLimited::new(inner, Rate::from_mbps(8), 0);
        let begins = Time::ZERO + Duration::from_secs(1000);
        let mut released = 0;
        for step in 0..=1000 {
            released = capped.ready(begins + Duration::from_millis(step));
        }
        assert!((999_000..=1_001_000).contains(&released), "{released} bytes in a second");
    }
}
