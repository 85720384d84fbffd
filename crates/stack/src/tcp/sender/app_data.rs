//! Application data: how much there is to send, and when there will be more.

use contract::{Cx, Request};
use units::{Bytes, Carry, Duration, Rate, Time};

use crate::tcp::Demand;

/// The data that the application has produced.
#[derive(Clone, Debug)]
pub(super) struct AppData {
    /// One past the last byte that is ready to send.
    pub(super) ready: u64,
    /// One past the last byte of the flow; [`u64::MAX`] for a flow without end.
    pub(super) last: u64,
    /// Bytes of abandoned answers that are not sent: requests count them.
    skipped: u64,
    /// With [`Demand::Limited`] only.
    production: Option<Box<Production>>,
}

/// An application that produces whole segments at a rate.
#[derive(Clone, Debug)]
struct Production {
    /// When the next segment will be ready.
    next_at: Time,
    rate: Rate,
    carry: Carry,
    segment: Bytes,
}

impl Production {
    /// The time that the next segment takes.
    fn next_gap(&mut self) -> Duration {
        let (gap, carry) = self.rate.serialise(self.segment, self.carry);
        self.carry = carry;
        gap
    }
}

impl AppData {
    pub(super) fn new(demand: Demand, segment: Bytes) -> Self {
        let (ready, last, rate) = match demand {
            Demand::Bulk => (u64::MAX, u64::MAX, Rate::ZERO),
            Demand::Finite(size) => (size.as_u64(), size.as_u64(), Rate::ZERO),
            Demand::Limited(rate) => (0, u64::MAX, rate),
        };
        let production =
            || Box::new(Production { next_at: Time::NEVER, rate, carry: Carry::default(), segment });
        Self { ready, last, skipped: 0, production: (rate != Rate::ZERO).then(production) }
    }

    /// Starts the application, which produces whole segments at its rate.
    pub(super) fn start(&mut self, cx: &Cx<'_>) {
        if let Some(production) = &mut self.production {
            production.next_at = cx.now() + production.next_gap();
        }
    }

    /// When the next segment will be ready; [`Time::NEVER`] if the application does not produce segments at a rate.
    pub(super) fn next_data_at(&self) -> Time {
        self.production.as_ref().map_or(Time::NEVER, |production| production.next_at)
    }

    /// Adds the segments that have become ready. They are whole, so that a slow application makes no small packets.
    pub(super) fn refill(&mut self, now: Time) {
        let Some(production) = &mut self.production else { return };
        if production.rate == Rate::UNLIMITED {
            self.ready = u64::MAX;
            production.next_at = Time::NEVER;
        }
        while production.next_at <= now {
            self.ready += production.segment.as_u64();
            let gap = production.next_gap();
            production.next_at += gap;
        }
    }

    /// Bytes that the application of the receiver has requested.
    pub(super) const fn requested(&self) -> u64 {
        self.ready.saturating_add(self.skipped)
    }

    /// Makes the first `total` requested bytes ready.
    pub(super) fn request_up_to(&mut self, total: u64) {
        self.request(Request::Send(Bytes::new(total.saturating_sub(self.requested()))));
    }

    /// Of the first `abandoned` requested bytes, gives up those from `sent` on. Returns how many they are.
    pub(super) fn abandon(&mut self, abandoned: u64, sent: u64) -> u64 {
        let requested = self.requested().max(abandoned);
        let more = abandoned.saturating_sub(sent.saturating_add(self.skipped));
        if more > 0 {
            self.skipped += more;
            self.ready = requested - self.skipped;
        }
        more
    }

    /// Takes a request of the application.
    pub(super) fn request(&mut self, request: Request) {
        let Request::Send(more) = request;
        self.ready = self.ready.saturating_add(more.as_u64());
        if self.last != u64::MAX {
            self.last = self.ready;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of an answer of 1000 bytes, 300 have been sent when it is abandoned for one of 100: 400 bytes in all. A repeated
    /// request changes nothing, nor does one that comes after everything has been sent.
    #[test]
    fn an_abandoned_answer_ends_where_it_has_been_sent() {
        let mut app_data = AppData::new(Demand::Limited(Rate::ZERO), Bytes::new(100));
        app_data.request_up_to(1000);
        for _ in 0..2 {
            assert!(matches!(app_data.abandon(1000, 300), 700 | 0));
            app_data.request_up_to(1100);
            assert_eq!((app_data.ready, app_data.requested()), (400, 1100));
        }
        assert_eq!(app_data.abandon(1100, 400), 0);
        app_data.request_up_to(1200);
        // the request that is abandoned never arrived
        assert_eq!(app_data.abandon(1500, 450), 350);
        assert_eq!((app_data.ready, app_data.requested()), (450, 1500));
    }

    #[test]
    fn an_application_of_8_mbps_makes_a_segment_of_1000_bytes_each_millisecond() {
        let mut app_data = AppData::new(Demand::Limited(Rate::from_mbps(8)), Bytes::new(1000));
        let production = app_data.production.as_mut().expect("the application is limited");
        production.next_at = Time::ZERO + Duration::from_millis(1);
        app_data.refill(Time::ZERO + Duration::from_micros(3500));
        assert_eq!(app_data.ready, 3000);
        assert_eq!(app_data.next_data_at(), Time::ZERO + Duration::from_millis(4));
    }
}
