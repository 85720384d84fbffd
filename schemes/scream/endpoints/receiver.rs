//! SCReAM at the receiver: acknowledgements of the last packets.

use contract::{Arrival, Count, Gap, ReceiverAlgorithm, ReceiverCx};
use units::Time;

use super::headers::{DataHeader, REPORTED, Report};
use crate::scream::Params;
use crate::shared::{Order, Place};

/// The receiver's part [SCREAM2, Receiver Requirements on Feedback Intensity].
#[derive(Clone, Debug)]
pub struct Receiver {
    params: Box<Params>,
    /// The newest packet so far; `None` before the first.
    newest: Option<Newest>,
    arrivals: Arrivals,
    order: Order,
    /// Packets since the last report.
    unreported: Vec<u64>,
    next_report: Time,
}

/// The packet with the highest number.
#[derive(Clone, Copy, Debug)]
struct Newest {
    seq: u64,
    arrived_at: Time,
    after_gap: bool,
}

impl Receiver {
    /// A receiver.
    pub(crate) fn new(params: &Params) -> Self {
        Self {
            newest: None,
            arrivals: Arrivals::default(),
            order: Order::default(),
            unreported: Vec::with_capacity(params.feedback_packets as usize),
            next_report: Time::NEVER,
            params: Box::new(params.clone()),
        }
    }

    fn take(&mut self, data: &Arrival, now: Time) {
        let after_gap = matches!(self.order.take(data.seq), Place::AfterLoss | Place::Overtaking);
        let highest = self.newest.map(|newest| newest.seq);
        if highest.is_none_or(|highest| data.seq > highest) {
            self.arrivals.advance(highest, data.seq);
            self.newest = Some(Newest { seq: data.seq, arrived_at: now, after_gap });
        } else if highest.is_some_and(|highest| highest - data.seq >= KEPT) {
            return;
        }
        self.arrivals.set(data.seq, data.marked);
        self.unreported.push(data.seq);
    }

    /// Sends a report about the newest packet, after those about packets since the last report that it does not
    /// contain: a report block of RFC 8888 would have all of them.
    fn send(&mut self, cx: &mut ReceiverCx<'_, '_>) {
        if let Some(newest) = self.newest {
            let report = |highest: u64, after_gap: bool| {
                let (received, marked) = self.arrivals.before(highest);
                Report { highest, arrived_at: newest.arrived_at, after_gap, received, marked }
            };
            self.unreported.sort_unstable();
            let mut reported = newest.seq.saturating_sub(REPORTED - 1);
            for &seq in self.unreported.iter().rev() {
                if seq < reported {
                    cx.feedback(report(seq, true).encode());
                    reported = seq.saturating_sub(REPORTED - 1);
                }
            }
            cx.feedback(report(newest.seq, newest.after_gap).encode());
        }
        self.unreported.clear();
        self.next_report = Time::NEVER;
    }
}

/// Which of the last [`KEPT`] packets arrived, and with a mark: packet n is bit n mod 64 of word n / 64.
#[derive(Clone, Debug, Default)]
struct Arrivals([(u64, u64); WORDS]);

const WORDS: usize = 16;
/// Packets behind the newest one that still count as arrived when they come. At 150 Mbit/s, 50 ms are as many packets
/// of 1000 bytes.
pub(super) const KEPT: u64 = 64 * (WORDS as u64 - 1);

impl Arrivals {
    const fn word(seq: u64) -> usize {
        (seq / 64) as usize % WORDS
    }

    /// The newest packet is `to` after `from`: of those between none has arrived.
    fn advance(&mut self, from: Option<u64>, to: u64) {
        let first = from.map_or(0, |from| from / 64 + 1).max((to / 64).saturating_sub(WORDS as u64 - 1));
        (first..=to / 64).for_each(|word| self.0[word as usize % WORDS] = (0, 0));
    }

    fn set(&mut self, seq: u64, marked: bool) {
        let (received, marks) = &mut self.0[Self::word(seq)];
        *received |= 1 << (seq % 64);
        *marks |= u64::from(marked) << (seq % 64);
    }

    /// Of the 64 packets up to `seq`: bit i is packet `seq` − i.
    fn before(&self, seq: u64) -> (u64, u64) {
        let (here, bit) = (self.0[Self::word(seq)], seq % 64);
        let older = if seq < 64 { (0, 0) } else { self.0[Self::word(seq - 64)] };
        let joined = |here: u64, older: u64| {
            let older = older.checked_shr(bit as u32 + 1).unwrap_or(0);
            (here << (63 - bit) | older).reverse_bits()
        };
        (joined(here.0, older.0), joined(here.1, older.1))
    }
}

impl ReceiverAlgorithm for Receiver {
    fn on_data(&mut self, data: &Arrival, cx: &mut ReceiverCx<'_, '_>) {
        let Some(header) = DataHeader::decode(data.label) else {
            cx.count(Count::Ignored, 1);
            return;
        };
        let now = cx.now();
        self.take(data, now);
        self.next_report = self.next_report.min(now + self.params.feedback_interval);
        // N packets, or the last one of a frame
        if header.last || self.unreported.len() >= self.params.feedback_packets as usize {
            self.send(cx);
        }
    }

    fn on_loss(&mut self, gap: &Gap, _cx: &mut ReceiverCx<'_, '_>) {
        self.order.lost(gap);
    }

    /// It is reported as arrived.
    fn on_late(&mut self, data: &Arrival, cx: &mut ReceiverCx<'_, '_>) {
        self.on_data(data, cx);
    }

    fn on_timer(&mut self, cx: &mut ReceiverCx<'_, '_>) {
        if self.next_report <= cx.now() {
            self.send(cx);
        }
    }

    #[inline]
    fn wake(&self) -> Time {
        self.next_report
    }

    fn on_start(&mut self, _cx: &mut ReceiverCx<'_, '_>) {
        *self = Self::new(&self.params);
    }
}
