//! The choice of the receiver whose timestamp a data packet echoes. Receivers measure their round-trip time by it.

use contract::EndpointId;
use units::Time;

use super::headers::{Echo, Millis, Report};

/// The timestamp of a receiver, and its arrival.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stamp {
    pub(super) endpoint: EndpointId,
    tr: Millis,
    at: Time,
    /// The feedback round in which it arrived, as an increasing number.
    round: u64,
    /// The receiver had measured its round-trip time before.
    have_rtt: bool,
    /// The reported rate, in bit/s.
    rate: f64,
}

impl Stamp {
    /// The stamp of a report of `endpoint` that arrived at `at`, in feedback round `round`.
    pub(super) fn new(endpoint: EndpointId, report: &Report, at: Time, round: u64) -> Self {
        Self { endpoint, tr: report.tr, at, round, have_rtt: report.have_rtt, rate: report.rate.bps() }
    }

    /// Whether the receiver had not measured its round-trip time yet.
    pub(super) const fn lacks_rtt(&self) -> bool {
        !self.have_rtt
    }

    /// The echo to send at `now`, which includes the hold time.
    pub(super) fn echo(&self, now: Time, clr: bool) -> Echo {
        Echo { endpoint: self.endpoint, tr: self.tr.plus(now.saturating_since(self.at)), clr }
    }

    /// Whether it goes before `other`.
    fn precedes(&self, other: &Self) -> bool {
        // without a round-trip time first, then the oldest round, then the lowest rate    [RFC4654 §3.5]
        (self.have_rtt, self.round)
            .cmp(&(other.have_rtt, other.round))
            .then(self.rate.total_cmp(&other.rate))
            .is_lt()
    }
}

/// Stamps of receivers other than the CLR that no packet has echoed yet: the latest of each, at most [`MAX`]. Few exist
/// because of feedback suppression.
#[derive(Clone, Debug)]
pub(super) struct Echoes(Vec<Stamp>);

impl Echoes {
    /// Without stamps.
    pub(super) fn new() -> Self {
        Self(Vec::with_capacity(MAX))
    }

    /// Adds a stamp, which replaces an older one of the same receiver. If there are too many, the last in order is
    /// dropped.
    pub(super) fn push(&mut self, stamp: Stamp) {
        self.forget(stamp.endpoint);
        if self.0.len() < MAX {
            self.0.push(stamp);
            return;
        }
        let mut last = 0;
        for index in 1..self.0.len() {
            if self.0[last].precedes(&self.0[index]) {
                last = index;
            }
        }
        if stamp.precedes(&self.0[last]) {
            self.0[last] = stamp;
        }
    }

    /// Drops the stamp of `endpoint`.
    pub(super) fn forget(&mut self, endpoint: EndpointId) {
        self.0.retain(|stamp| stamp.endpoint != endpoint);
    }

    /// Removes the first in order.
    pub(super) fn pop(&mut self) -> Option<Stamp> {
        let mut first = 0;
        for index in 1..self.0.len() {
            if self.0[index].precedes(&self.0[first]) {
                first = index;
            }
        }
        (!self.0.is_empty()).then(|| self.0.swap_remove(first))
    }
}

/// Maximum number of stamps: a round has about ten reports even in the largest groups.
const MAX: usize = 64;

#[cfg(test)]
mod tests {
    use super::super::headers::RateCode;
    use super::*;

    fn stamp(endpoint: u32, round: u64, have_rtt: bool, rate: f64) -> Stamp {
        let report = Report {
            tr: Millis(endpoint),
            ts: Millis(0),
            rate: RateCode::nearest(rate),
            round: round as u8,
            have_rtt,
            have_loss: true,
            leave: false,
        };
        Stamp::new(EndpointId(endpoint), &report, Time::ZERO, round)
    }

    fn order(echoes: &mut Echoes) -> Vec<u32> {
        std::iter::from_fn(|| echoes.pop()).map(|stamp| stamp.endpoint.0).collect()
    }

    #[test]
    fn receivers_without_a_round_trip_time_go_first_then_older_rounds_then_lower_rates() {
        let mut echoes = Echoes::new();
        for stamp in [
            stamp(1, 7, true, 2e5),
            stamp(2, 8, true, 1e5),
            stamp(3, 7, true, 1e5),
            stamp(4, 8, false, 9e5),
            stamp(5, 7, false, 9e6),
            stamp(6, 8, false, 3e5),
        ] {
            echoes.push(stamp);
        }
        assert_eq!(order(&mut echoes), [5, 6, 4, 3, 1, 2]);
        assert!(echoes.pop().is_none());
    }

    #[test]
    fn one_stamp_per_receiver_and_the_last_in_order_makes_room() {
        let mut echoes = Echoes::new();
        echoes.push(stamp(1, 3, true, 1e5));
        echoes.push(stamp(1, 4, true, 2e5));
        assert_eq!(echoes.pop().map(|stamp| stamp.round), Some(4));
        let max = MAX as u32;
        for endpoint in 0..max {
            echoes.push(stamp(endpoint, 3, true, 1e5 * f64::from(endpoint + 1)));
        }
        // the one with the highest rate is removed; one that would be last itself is not added
        echoes.push(stamp(max, 3, false, 1e5));
        echoes.push(stamp(max + 1, 4, true, 1e5));
        let endpoints = order(&mut echoes);
        assert_eq!((endpoints.len(), endpoints[0], endpoints[MAX - 1]), (MAX, max, max - 2));
    }

    /// Held for 1.7 s, which is added.
    #[test]
    fn the_time_that_a_stamp_was_held_is_added() {
        let now = Time::from_nanos(1_700_000_000);
        let echo = stamp(9, 1, true, 1e5).echo(now, true);
        assert_eq!(echo, Echo { endpoint: EndpointId(9), tr: Millis(1709), clr: true });
    }
}
