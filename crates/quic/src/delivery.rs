//! Delivery rates of QUIC packets (draft-cheng-iccrg-delivery-rate-estimation-00, DRE00): a sample for each ACK frame.
//!
//! quinn gives the departure time of an acknowledged packet and not its number. Packets that leave at the same instant
//! have one record.

use std::collections::VecDeque;

use contract::{Delivery, Lost};
use units::{Bytes, Duration, Rate, Time};

/// The sampler of one path.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sampler {
    /// Departures of the last round trips, in order of time.
    departures: VecDeque<Departure>,
    /// C.delivered.
    delivered: u64,
    /// C.delivered_time.
    delivered_at: Time,
    /// C.first_sent_time.
    first_sent_at: Time,
    /// C.app_limited.
    limited_until: Option<u64>,
    /// C.lost.
    lost: u64,
}

/// State at a departure [DRE00 §3.1.2].
#[derive(Clone, Copy, Debug)]
struct Departure {
    sent_at: Time,
    delivered: u64,
    delivered_at: Time,
    first_sent_at: Time,
    app_limited: bool,
    /// In flight after it.
    in_flight: u64,
    lost: u64,
}

/// An ACK frame.
pub(crate) struct Frame {
    /// Bytes that it acknowledges for the first time.
    pub(crate) bytes: u64,
    /// Departure of the newest packet that it acknowledges.
    pub(crate) sent_at: Time,
    /// Bytes in flight after it.
    pub(crate) in_flight: u64,
    /// Minimum round-trip time.
    pub(crate) rtt_min: Duration,
    /// The newest packet left before the episode began.
    pub(crate) recovering: bool,
    /// quinn had nothing to send before the frame arrived.
    pub(crate) app_limited: bool,
}

impl Sampler {
    /// Packets leave, which makes `in_flight` bytes in flight; `idle` if nothing was in flight [DRE00 §3.2].
    pub(crate) fn on_sent(&mut self, idle: bool, in_flight: u64, now: Time) {
        if idle {
            (self.first_sent_at, self.delivered_at) = (now, now);
        }
        match self.departures.back_mut() {
            Some(last) if last.sent_at >= now => last.in_flight = in_flight,
            _ => self.departures.push_back(Departure {
                sent_at: now,
                delivered: self.delivered,
                delivered_at: self.delivered_at,
                first_sent_at: self.first_sent_at,
                app_limited: self.limited_until.is_some(),
                in_flight,
                lost: self.lost,
            }),
        }
    }

    fn departure(&self, sent_at: Time) -> Option<Departure> {
        let at = self.departures.partition_point(|departure| departure.sent_at < sent_at);
        self.departures.get(at).copied().filter(|departure| departure.sent_at == sent_at)
    }

    /// `bytes` are declared lost, the newest of which left at `sent_at`; `None` if that is not known.
    pub(crate) fn lose(&mut self, bytes: u64, sent_at: Time) -> Option<Lost> {
        self.lost += bytes;
        let newest = self.departure(sent_at)?;
        Some(Lost {
            bytes: Bytes::new(bytes),
            in_flight_when_sent: Bytes::new(newest.in_flight),
            lost: Bytes::new(self.lost - newest.lost),
            total: Bytes::new(self.delivered),
            app_limited: newest.app_limited,
            adjoins: false,
            selective: true,
        })
    }

    /// The sample of an ACK frame; `None` if its newest packet is not known [DRE00 §3.3].
    pub(crate) fn on_frame(&mut self, frame: &Frame, now: Time) -> Option<Delivery> {
        let in_flight_before = frame.in_flight + frame.bytes;
        self.delivered += frame.bytes;
        self.delivered_at = now;
        if self.limited_until.is_some_and(|until| self.delivered > until) {
            self.limited_until = None;
        }
        if frame.app_limited {
            self.limited_until = Some(self.delivered + frame.in_flight);
        }
        let newest = self.departure(frame.sent_at)?;
        self.forget(newest.sent_at, now);
        self.first_sent_at = newest.sent_at;
        let sending = newest.sent_at.saturating_since(newest.first_sent_at);
        let interval = sending.max(now.saturating_since(newest.delivered_at));
        let valid = interval >= frame.rtt_min && interval > Duration::ZERO;
        let rtt = now.saturating_since(newest.sent_at);
        Some(Delivery {
            bytes: Bytes::new(frame.bytes),
            total: Bytes::new(self.delivered),
            total_when_sent: Bytes::new(newest.delivered),
            in_flight_when_sent: Bytes::new(newest.in_flight),
            lost: Bytes::new(self.lost - newest.lost),
            // delivery_rate = delivered/interval
            rate: valid.then(|| rate_of(self.delivered - newest.delivered, interval)),
            app_limited: newest.app_limited,
            rtt: Some(rtt),
            delay: Some(rtt.as_nanos() as i64),
            in_flight_before: Bytes::new(in_flight_before),
            in_flight: Bytes::new(frame.in_flight),
            recovering: frame.recovering,
        })
    }

    /// Forgets packets that left two round trips before the newest acknowledged one: they are acknowledged or lost.
    fn forget(&mut self, newest: Time, now: Time) {
        let reorder = (now - newest) + (now - newest);
        while self.departures.front().is_some_and(|old| newest.saturating_since(old.sent_at) > reorder) {
            self.departures.pop_front();
        }
    }
}

/// `bytes` in `span`, which is not zero (floor).
fn rate_of(bytes: u64, span: Duration) -> Rate {
    let bps = u128::from(bytes) * 8_000_000_000 / u128::from(span.as_nanos());
    Rate::from_bps(u64::try_from(bps).unwrap_or(u64::MAX - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Time {
        Time::ZERO + Duration::from_millis(millis)
    }

    fn frame(bytes: u64, sent_at: Time, app_limited: bool) -> Frame {
        let rtt_min = Duration::from_millis(50);
        Frame { bytes, sent_at, in_flight: 0, rtt_min, recovering: false, app_limited }
    }

    #[test]
    fn a_rate_is_what_was_delivered_since_the_packet_left() {
        let mut sampler = Sampler::default();
        sampler.on_sent(true, 1000, at(0));
        sampler.on_sent(false, 1000, at(10));
        // 1000 bytes in max(0, 50) ms
        let first = sampler.on_frame(&frame(1000, at(0), false), at(50)).expect("it is known");
        assert_eq!((first.rate, first.total.as_u64()), (Some(Rate::from_bps(160_000)), 1000));
        // the second left before the first arrived: 2000 bytes in max(10, 60) ms
        let second = sampler.on_frame(&frame(1000, at(10), false), at(60)).expect("it is known");
        assert_eq!(second.rate, Some(Rate::from_bps(266_666)));
        assert_eq!(second.total_when_sent.as_u64(), 0);
    }

    #[test]
    fn samples_of_a_sender_without_data_are_marked() {
        let mut sampler = Sampler::default();
        sampler.on_sent(true, 1000, at(0));
        let first = sampler.on_frame(&frame(1000, at(0), true), at(50)).expect("it is known");
        assert!(!first.app_limited);
        sampler.on_sent(true, 1000, at(60));
        let second = sampler.on_frame(&frame(1000, at(60), false), at(110)).expect("it is known");
        assert!(second.app_limited);
        // more was delivered than when the data ended
        sampler.on_sent(true, 1000, at(120));
        let third = sampler.on_frame(&frame(1000, at(120), false), at(170)).expect("it is known");
        assert!(!third.app_limited);
    }

    #[test]
    fn unknown_packets_give_no_sample_and_old_ones_are_forgotten() {
        let mut sampler = Sampler::default();
        assert!(sampler.on_frame(&frame(1000, at(5), false), at(50)).is_none());
        for millis in (100..400).step_by(10) {
            sampler.on_sent(false, 1000, at(millis));
        }
        sampler.on_frame(&frame(1000, at(390), false), at(440)).expect("it is known");
        // 390 − 2·50
        assert_eq!(sampler.departures.front().map(|old| old.sent_at), Some(at(290)));
    }
}
