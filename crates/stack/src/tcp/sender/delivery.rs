//! Delivery-rate estimation (draft-cheng-iccrg-delivery-rate-estimation, DRE): a sample for each acknowledgement.
//!
//! A sample is the payload delivered since the newest of the acknowledged segments was sent, divided by the longer of
//! its send interval and its acknowledgement interval. A sender has an estimator only for congestion control that
//! requests it; it holds a record for each segment in flight.

use std::collections::VecDeque;

use contract::{Ack, Delivery, Lost};
use units::{Bytes, Duration, Rate, Time};

/// The rate sampler of one connection.
#[derive(Clone, Debug)]
pub(super) struct Sampler {
    /// Segments that are not yet acknowledged cumulatively, in sequence order.
    outstanding: VecDeque<Record>,
    /// Payload delivered so far [DRE §3.1.1: C.delivered].
    delivered: u64,
    /// When `delivered` last grew [DRE §3.1.1: C.delivered_time].
    delivered_at: Time,
    /// When the most recently acknowledged segment was sent [DRE §3.1.1: C.first_sent_time].
    first_sent_at: Time,
    /// The sender is app-limited until more than this is delivered [DRE §3.1.1: C.app_limited].
    limited_until: Option<u64>,
    /// Data in flight when last updated.
    in_flight: u64,
    /// The newest segment that the current acknowledgement covers.
    newest: Option<Record>,
    /// Payload that the current acknowledgement delivers.
    newly_delivered: u64,
    /// Payload declared lost so far.
    lost: u64,
    /// One past the last byte declared lost.
    lost_end: u64,
}

/// The record of a transmitted segment [DRE §3.1.2].
#[derive(Clone, Copy, Debug)]
struct Record {
    start: u64,
    end: u64,
    sent_at: Time,
    delivered: u64,
    delivered_at: Time,
    first_sent_at: Time,
    app_limited: bool,
    retransmission: bool,
    /// Selectively acknowledged.
    sacked: bool,
    /// In flight after its transmission.
    in_flight: u64,
    /// Declared lost before its transmission.
    lost_before: u64,
    /// Declared lost since its transmission.
    lost: bool,
}

/// The state of the connection at an acknowledgement.
pub(super) struct ConnectionState {
    /// When the receiver sent the acknowledgement, by its clock.
    pub(super) ack_sent_at: Time,
    pub(super) in_flight: u64,
    pub(super) min_rtt: Duration,
    pub(super) recovering: bool,
}

impl Sampler {
    pub(super) fn new() -> Self {
        Self {
            outstanding: VecDeque::new(),
            delivered: 0,
            delivered_at: Time::ZERO,
            first_sent_at: Time::ZERO,
            limited_until: None,
            in_flight: 0,
            newest: None,
            newly_delivered: 0,
            lost: 0,
            lost_end: u64::MAX,
        }
    }

    /// Records that the bytes `[start, end)` are sent or retransmitted, which makes `in_flight` bytes in flight
    /// [DRE §3.2].
    pub(super) fn on_sent(&mut self, start: u64, end: u64, in_flight: u64, now: Time) {
        self.in_flight = in_flight;
        if self.outstanding.is_empty() {
            (self.first_sent_at, self.delivered_at) = (now, now);
        }
        let record = Record {
            start,
            end,
            sent_at: now,
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            first_sent_at: self.first_sent_at,
            app_limited: self.limited_until.is_some(),
            retransmission: false,
            sacked: false,
            in_flight,
            lost_before: self.lost,
            lost: false,
        };
        let high = self.outstanding.back().map_or(start, |last| last.end);
        if start < high {
            let first = self.outstanding.partition_point(|old| old.end <= start);
            for old in self.outstanding.range_mut(first..).take_while(|old| old.start < end) {
                if !old.sacked {
                    *old = Record { start: old.start, end: old.end, retransmission: true, ..record };
                }
            }
        }
        if end > high {
            self.outstanding.push_back(Record { start: high.max(start), ..record });
        }
    }

    /// Records that the bytes `[start, end)` are selectively acknowledged for the first time.
    pub(super) fn on_arrival(&mut self, start: u64, end: u64, now: Time) {
        let first = self.outstanding.partition_point(|old| old.start < start);
        for at in first..self.outstanding.len() {
            let record = self.outstanding[at];
            if record.end > end {
                break;
            }
            if !record.sacked {
                self.outstanding[at].sacked = true;
                self.on_delivered(record, now);
            }
        }
    }

    /// Records that all bytes below `una` are acknowledged.
    fn on_progress(&mut self, una: u64, now: Time) {
        while let Some(&record) = self.outstanding.front()
            && record.end <= una
        {
            self.outstanding.pop_front();
            if !record.sacked {
                self.on_delivered(record, now);
            }
        }
    }

    /// Takes the record of a segment that is delivered [DRE §3.3: UpdateRateSample].
    fn on_delivered(&mut self, record: Record, now: Time) {
        let bytes = record.end - record.start;
        self.newly_delivered += bytes;
        self.delivered += bytes;
        self.delivered_at = now;
        let sent = |record: &Record| (record.sent_at, record.end);
        if self.newest.as_ref().is_none_or(|newest| sent(&record) > sent(newest)) {
            self.newest = Some(record);
        }
    }

    /// Declares the current transmissions of `[start, end)` lost. Calls `with` for each that was not yet declared lost,
    /// in sequence order; `selective` indicates that the connection has selective acknowledgements.
    pub(super) fn mark_lost(&mut self, start: u64, end: u64, selective: bool, mut with: impl FnMut(&Lost)) {
        let first = self.outstanding.partition_point(|old| old.start < start);
        for record in self.outstanding.range_mut(first..).take_while(|old| old.end <= end) {
            if record.sacked || record.lost {
                continue;
            }
            record.lost = true;
            let bytes = record.end - record.start;
            self.lost += bytes;
            let lost = Lost {
                bytes: Bytes::new(bytes),
                in_flight_when_sent: Bytes::new(record.in_flight),
                lost: Bytes::new(self.lost - record.lost_before),
                total: Bytes::new(self.delivered),
                app_limited: record.app_limited,
                adjoins: record.start == self.lost_end,
                selective,
            };
            self.lost_end = record.end;
            with(&lost);
        }
    }

    /// Nothing was lost: the segments in flight are late.
    pub(super) fn unmark_lost(&mut self) {
        for record in &mut self.outstanding {
            record.lost = false;
        }
    }

    /// Marks the sender as app-limited with `in_flight` bytes in flight: samples until their delivery do not show the
    /// capacity of the path [DRE §3.4].
    pub(super) fn limit(&mut self, in_flight: u64) {
        self.limited_until = Some(self.delivered + in_flight);
    }

    /// Whether the sender is app-limited [DRE §3.4].
    pub(super) const fn is_limited(&self) -> bool {
        self.limited_until.is_some()
    }

    /// The sample of an acknowledgement of all bytes below `una` and of its SACK blocks; `None` if it delivers nothing.
    pub(super) fn on_ack(&mut self, una: u64, ack: &ConnectionState, now: Time) -> Option<Delivery> {
        self.on_progress(una, now);
        self.sample(ack, now)
    }

    /// The sample of the current acknowledgement; `None` if it delivers nothing [DRE §3.3: GenerateRateSample].
    fn sample(&mut self, ack: &ConnectionState, now: Time) -> Option<Delivery> {
        let newest = self.newest.take()?;
        // all data of the app-limited time are delivered
        if self.limited_until.is_some_and(|until| self.delivered > until) {
            self.limited_until = None;
        }
        self.first_sent_at = newest.sent_at;
        let sending = newest.sent_at.saturating_since(newest.first_sent_at);
        let interval = sending.max(now.saturating_since(newest.delivered_at));
        // an interval below the minimum round-trip time is not plausible
        let valid = interval >= ack.min_rtt && interval > Duration::ZERO;
        let delivery = Delivery {
            bytes: Bytes::new(std::mem::take(&mut self.newly_delivered)),
            total: Bytes::new(self.delivered),
            total_when_sent: Bytes::new(newest.delivered),
            in_flight_when_sent: Bytes::new(newest.in_flight),
            lost: Bytes::new(self.lost - newest.lost_before),
            // delivery_rate = delivered/interval
            rate: valid.then(|| rate_of(self.delivered - newest.delivered, interval)),
            app_limited: newest.app_limited,
            rtt: (!newest.retransmission).then(|| now.saturating_since(newest.sent_at)),
            delay: (!newest.retransmission).then(|| Ack::delay_between(newest.sent_at, ack.ack_sent_at)),
            in_flight_before: Bytes::new(self.in_flight),
            in_flight: Bytes::new(ack.in_flight),
            recovering: ack.recovering,
        };
        self.in_flight = ack.in_flight;
        Some(delivery)
    }
}

/// `bytes` per `span`, rounded down. `span` is not zero.
fn rate_of(bytes: u64, span: Duration) -> Rate {
    let bps = u128::from(bytes) * 8_000_000_000 / u128::from(span.as_nanos());
    Rate::from_bps(u64::try_from(bps).unwrap_or(u64::MAX - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: u64 = 1000;

    fn at(millis: u64) -> Time {
        Time::ZERO + Duration::from_millis(millis)
    }

    /// The sample of an acknowledgement at `millis`, on a path of 50 ms.
    fn sample(sampler: &mut Sampler, millis: u64) -> Option<Delivery> {
        let min_rtt = Duration::from_millis(50);
        let ack = ConnectionState { ack_sent_at: at(millis - 10), in_flight: 0, min_rtt, recovering: false };
        sampler.sample(&ack, at(millis))
    }

    fn kbps(delivery: &Delivery) -> u64 {
        delivery.rate.expect("a sample").as_bps() / 1000
    }

    /// DRE §3.3: acknowledgements that are held back and arrive in a burst do not increase the rate, because the send
    /// interval counts as well. Ten segments are sent 10 ms apart and acknowledged together: 9000 bytes after the first
    /// in 90 ms.
    #[test]
    fn a_burst_of_acknowledgements_is_no_faster_than_the_sending_was() {
        let mut sampler = Sampler::new();
        sampler.on_sent(0, S, S, at(0));
        sampler.on_progress(S, at(100));
        let first = sample(&mut sampler, 100).expect("a delivery");
        // 1000 bytes in 100 ms
        assert_eq!((kbps(&first), first.rtt), (80, Some(Duration::from_millis(100))));
        for i in 1..=10 {
            sampler.on_sent(i * S, (i + 1) * S, i * S, at(100 + 10 * i));
        }
        // nothing was in flight at 110 ms, so the interval begins there
        for i in 1..=10 {
            sampler.on_progress((i + 1) * S, at(250));
            let delivery = sample(&mut sampler, 250).expect("a delivery");
            // 140 ms since 110 ms, whatever was sent in this interval
            assert_eq!(kbps(&delivery), i * 8_000 / 140);
        }
        for i in 11..=20 {
            sampler.on_sent(i * S, (i + 1) * S, 10 * S, at(250 + 10 * (i - 11)));
        }
        sampler.on_progress(12 * S, at(350));
        sample(&mut sampler, 350).expect("a delivery");
        // the rest is acknowledged in a burst 5 ms later: the acknowledgement interval is 95 ms since 250, the send
        // interval 90 ms
        sampler.on_progress(21 * S, at(355));
        let burst = sample(&mut sampler, 355).expect("a delivery");
        assert_eq!((burst.bytes, kbps(&burst)), (Bytes::new(9 * S), 10 * 8_000 / 105));
    }

    /// DRE §3.3: an interval shorter than the minimum round-trip time gives no rate.
    #[test]
    fn an_interval_below_the_minimum_round_trip_time_is_no_sample() {
        let mut sampler = Sampler::new();
        sampler.on_sent(0, S, S, at(0));
        sampler.on_progress(S, at(40));
        let delivery = sample(&mut sampler, 40).expect("a delivery");
        assert_eq!((delivery.rate, delivery.bytes), (None, Bytes::new(S)));
        assert!(sample(&mut sampler, 41).is_none());
    }

    /// A retransmission with other segment boundaries: the bytes that were sent before count as retransmitted, the
    /// others as new.
    #[test]
    fn a_retransmission_beyond_the_highest_sent_byte_is_partly_new() {
        let mut sampler = Sampler::new();
        sampler.on_sent(0, S, S, at(0));
        sampler.on_sent(S, S + 500, S + 500, at(0));
        sampler.on_sent(S, 2 * S, 2 * S, at(60));
        let records: Vec<_> =
            sampler.outstanding.iter().map(|r| (r.start, r.end, r.retransmission, r.sent_at)).collect();
        let expected = [(0, S, false, at(0)), (S, S + 500, true, at(60)), (S + 500, 2 * S, false, at(60))];
        assert_eq!(records, expected);
        // a selective acknowledgement of half a record has no effect until the rest arrives
        sampler.on_arrival(S, S + 400, at(100));
        assert!(sampler.newest.is_none());
        sampler.on_arrival(S, S + 500, at(100));
        sampler.on_arrival(S, S + 500, at(101));
        assert_eq!(sampler.delivered, 500);
        sampler.on_progress(2 * S, at(110));
        assert_eq!((sampler.delivered, sampler.outstanding.len()), (2 * S, 0));
    }
}
