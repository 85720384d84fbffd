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
    /// The report about all packets so far; `None` before the first.
    report: Option<Report>,
    order: Order,
    /// Packets since the last report.
    unreported: u32,
    next_report: Time,
}

impl Receiver {
    /// A receiver.
    pub(crate) fn new(params: &Params) -> Self {
        Self {
            report: None,
            order: Order::default(),
            unreported: 0,
            next_report: Time::NEVER,
            params: Box::new(params.clone()),
        }
    }

    fn take(&mut self, data: &Arrival, now: Time) {
        let mark = u64::from(data.marked);
        let after_gap = matches!(self.order.take(data.seq), Place::AfterLoss | Place::Overtaking);
        let Some(report) = &mut self.report else {
            self.report = Some(Report {
                highest: data.seq,
                arrived_at: now,
                after_gap: false,
                received: 1,
                marked: mark,
            });
            return;
        };
        if data.seq > report.highest {
            let shift = data.seq - report.highest;
            let shifted = |bits: u64| if shift < REPORTED { bits << shift } else { 0 };
            *report = Report {
                highest: data.seq,
                arrived_at: now,
                after_gap,
                received: shifted(report.received) | 1,
                marked: shifted(report.marked) | mark,
            };
        } else if report.highest - data.seq < REPORTED {
            let age = report.highest - data.seq;
            report.received |= 1 << age;
            report.marked |= mark << age;
        }
    }

    fn send(&mut self, cx: &mut ReceiverCx<'_, '_>) {
        if let Some(report) = &self.report {
            cx.feedback(report.encode());
        }
        self.unreported = 0;
        self.next_report = Time::NEVER;
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
        self.unreported += 1;
        self.next_report = self.next_report.min(now + self.params.feedback_interval);
        // N packets, or the last one of a frame
        if header.last || self.unreported >= self.params.feedback_packets {
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
