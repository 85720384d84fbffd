//! The request pattern of a consumer: the next segment.

use contract::{Name, Random};
use units::Time;

use super::popularity::Popularity;
use crate::ndn::{ConsumerConfig, Pattern};

/// The segments that a consumer requests, in order.
#[derive(Clone, Debug)]
pub(super) struct Requests {
    pattern: Pattern,
    popularity: Option<Popularity>,
    /// Segments taken so far.
    taken: u64,
    /// Number of segments in all; [`u64::MAX`] for no end.
    last: u64,
    /// Number of segments that are available by now.
    ready: u64,
    /// When more become available.
    next_batch_at: Time,
    /// The next segment of the current content, and one past its last segment.
    content: (u64, u64),
}

/// The next segment of a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// This segment.
    Segment(u64),
    /// None before this time.
    Later(Time),
    /// None any more.
    Nothing,
}

impl Requests {
    pub(super) fn new(config: &ConsumerConfig) -> Self {
        let size = config.size.as_u64();
        let popularity = match config.pattern {
            Pattern::Zipf { contents, exponent, shift, .. } => {
                Some(Popularity::new(contents, exponent, shift))
            }
            Pattern::Sequential | Pattern::Batches { .. } => None,
        };
        Self {
            pattern: config.pattern,
            popularity,
            taken: 0,
            last: if size == u64::MAX { u64::MAX } else { size.div_ceil(config.payload.as_u64().max(1)) },
            ready: 0,
            next_batch_at: Time::NEVER,
            content: (0, 0),
        }
    }

    /// Makes the first segments available.
    pub(super) fn start(&mut self, now: Time) {
        match self.pattern {
            Pattern::Batches { .. } => self.next_batch_at = now,
            Pattern::Sequential | Pattern::Zipf { .. } => self.ready = u64::MAX,
        }
    }

    /// Number of segments in all; [`u64::MAX`] for no end.
    pub(super) const fn last(&self) -> u64 {
        self.last
    }

    /// The next segment, unless it is drawn then.
    pub(super) fn next(&self) -> Option<u64> {
        match self.popularity {
            None => Some(self.taken % Name::SEGMENTS),
            Some(_) => (self.content.0 < self.content.1).then_some(self.content.0),
        }
    }

    /// Takes the next segment.
    #[inline]
    pub(super) fn take(&mut self, now: Time, random: &mut Random) -> Next {
        if self.taken == self.last {
            return Next::Nothing;
        }
        if self.taken == self.ready && !self.refill(now) {
            return Next::Later(self.next_batch_at);
        }
        let number = self.taken;
        self.taken += 1;
        Next::Segment(match (self.pattern, &self.popularity) {
            (Pattern::Zipf { segments, .. }, Some(popularity)) => {
                if self.content.0 == self.content.1 {
                    let length = u64::from(segments.max(1));
                    let first = u64::from(popularity.draw(random)) * length;
                    self.content = (first, first + length);
                }
                self.content.0 += 1;
                self.content.0 - 1
            }
            _ => number % Name::SEGMENTS,
        })
    }

    /// Adds the batches that are due. Returns whether there were any.
    #[cold]
    fn refill(&mut self, now: Time) -> bool {
        let Pattern::Batches { size, every } = self.pattern else { return false };
        while self.next_batch_at <= now {
            self.ready += u64::from(size);
            self.next_batch_at += every;
        }
        self.taken < self.ready
    }
}

#[cfg(test)]
mod tests {
    use contract::NameId;
    use units::{Bytes, Duration, Rate};

    use super::*;

    fn requests(pattern: Pattern, size: Bytes) -> (Requests, Random) {
        let config =
            ConsumerConfig { pattern, size, ..ConsumerConfig::new(NameId(1), Bytes::new(1000), Rate::ZERO) };
        let mut requests = Requests::new(&config);
        requests.start(Time::ZERO);
        (requests, Random::new(1, "requests", ""))
    }

    fn segments(requests: &mut Requests, random: &mut Random, at: Time, n: usize) -> Vec<Next> {
        (0..n).map(|_| requests.take(at, random)).collect()
    }

    #[test]
    fn a_size_is_rounded_up_to_whole_segments() {
        let (mut all, mut random) = requests(Pattern::Sequential, Bytes::new(2001));
        assert_eq!(all.last(), 3);
        let expected = [Next::Segment(0), Next::Segment(1), Next::Segment(2), Next::Nothing, Next::Nothing];
        assert_eq!(segments(&mut all, &mut random, Time::ZERO, 5), expected);
    }

    /// Batches of two every second: 0 and 1 at the start, 2 and 3 after one second, and after 3.5 s the batches of 2 s
    /// and 3 s together.
    #[test]
    fn batches_are_requested_at_their_times() {
        let at = |millis| Time::ZERO + Duration::from_millis(millis);
        let every = Duration::from_secs(1);
        let (mut all, mut random) = requests(Pattern::Batches { size: 2, every }, Bytes::UNLIMITED);
        let one = |n| Next::Segment(n);
        assert_eq!(segments(&mut all, &mut random, at(0), 3), [one(0), one(1), Next::Later(at(1000))]);
        assert_eq!(segments(&mut all, &mut random, at(1000), 3), [one(2), one(3), Next::Later(at(2000))]);
        let late = segments(&mut all, &mut random, at(3500), 5);
        assert_eq!(late, [one(4), one(5), one(6), one(7), Next::Later(at(4000))]);
    }

    #[test]
    fn the_next_segment_is_known_unless_it_is_drawn() {
        for (pattern, known) in [
            (Pattern::Sequential, 100),
            (Pattern::Zipf { contents: 10, segments: 4, exponent: 1.0, shift: 0.0 }, 75),
        ] {
            let (mut all, mut random) = requests(pattern, Bytes::UNLIMITED);
            let announced = (0..100).filter(|_| {
                let next = all.next();
                let taken = all.take(Time::ZERO, &mut random);
                assert!(next.is_none_or(|segment| taken == Next::Segment(segment)), "{next:?} {taken:?}");
                next.is_some()
            });
            assert_eq!(announced.count(), known, "{pattern:?}");
        }
    }

    #[test]
    fn a_content_is_fetched_whole_before_the_next_is_drawn() {
        let pattern = Pattern::Zipf { contents: 10, segments: 4, exponent: 1.0, shift: 0.0 };
        let (mut all, mut random) = requests(pattern, Bytes::UNLIMITED);
        let mut seen = [0; 10];
        for _ in 0..1000 {
            let content: Vec<u64> = segments(&mut all, &mut random, Time::ZERO, 4)
                .into_iter()
                .map(|next| match next {
                    Next::Segment(segment) => segment,
                    other => panic!("{other:?}"),
                })
                .collect();
            let first = content[0];
            assert_eq!(first % 4, 0);
            assert_eq!(content, [first, first + 1, first + 2, first + 3]);
            seen[first as usize / 4] += 1;
        }
        // the first content has 1/(1 + 1/2 + … + 1/10) = 0.341 of all draws
        assert!((300..380).contains(&seen[0]), "{seen:?}");
        assert!(seen.iter().all(|count| *count > 10), "{seen:?}");
    }
}
