//! GCC at the receiver: the delay-based controller, and counts of received and lost packets.

use contract::{Arrival, Count, Gap, ReceiverAlgorithm, ReceiverCx};
use units::{Duration, Time};

use super::arrival::{Filter, Groups};
use super::detector::{Detector, Signal};
use super::headers::{DataHeader, Report};
use super::rate::{RateControl, State};
use crate::gcc::Params;
use crate::shared::ReceiveRate;

/// The receiver's part [GCC02 §5]. Constant state, no timers: it sends reports when data arrive.
#[derive(Clone, Debug)]
pub struct Receiver {
    params: Box<Params>,
    groups: Groups,
    filter: Filter,
    detector: Detector,
    control: RateControl,
    arriving: ReceiveRate,
    /// Number of the newest packet.
    newest: Option<u64>,
    received: u64,
    lost: u64,
    /// The round-trip time in the newest data packet.
    rtt: Option<Duration>,
    /// When the next report is due.
    next_report: Time,
}

impl Receiver {
    /// A receiver.
    pub(crate) fn new(params: &Params) -> Self {
        Self {
            groups: Groups::new(params),
            filter: Filter::new(params),
            detector: Detector::new(params),
            control: RateControl::new(params, Time::ZERO),
            arriving: ReceiveRate::new(),
            newest: None,
            received: 0,
            lost: 0,
            rtt: None,
            next_report: Time::ZERO,
            params: Box::new(params.clone()),
        }
    }

    /// Runs the rate control and reports.
    fn report(&mut self, data: &Arrival, cx: &mut ReceiverCx<'_, '_>) {
        let now = cx.now();
        let received = self.arriving.rate_over(self.params.receive_window, 1);
        let rtt = self.rtt.unwrap_or(self.params.initial_rtt);
        self.control.update(self.detector.signal(), received, rtt, now);
        self.next_report = now + self.params.feedback_interval;
        let rate = self.control.rate();
        let (received, lost) = (self.received, self.lost);
        cx.feedback(Report { rate_bps: (rate + 0.5) as u64, echo: data.sent_at, received, lost }.encode());
        if cx.probing() {
            cx.probe("delay_based_rate", rate);
            cx.probe("delay_trend", self.detector.compared() / 1e3);
            cx.probe("overuse_threshold", self.detector.threshold() / 1e3);
            if let Some(rate) = self.arriving.rate_over(self.params.receive_window, 1) {
                cx.probe("receive_rate", rate);
            }
        }
    }
}

impl ReceiverAlgorithm for Receiver {
    fn on_loss(&mut self, gap: &Gap, _cx: &mut ReceiverCx<'_, '_>) {
        self.lost += gap.packets;
    }

    fn on_late(&mut self, data: &Arrival, cx: &mut ReceiverCx<'_, '_>) {
        // it was counted as lost
        self.lost = self.lost.saturating_sub(1);
        self.received += 1;
        self.arriving.record(cx.now(), data.size, self.params.receive_window);
    }

    fn on_data(&mut self, data: &Arrival, cx: &mut ReceiverCx<'_, '_>) {
        let Some(header) = DataHeader::decode(data.label) else {
            cx.count(Count::Ignored, 1);
            return;
        };
        let now = cx.now();
        self.received += 1;
        self.arriving.record(now, data.size, self.params.receive_window);
        if self.newest.is_some_and(|newest| data.seq < newest) {
            // the arrival-time model ignores packets out of order                      [GCC02 §5.1]
            return;
        }
        self.newest = Some(data.seq);
        self.rtt = header.rtt.or(self.rtt);
        if let Some(variation) = self.groups.packet(data.sent_at, now) {
            let trend = self.filter.group(variation);
            self.detector.group(trend, now);
        }
        // as soon as congestion is detected, and otherwise from time to time                       [GCC02 §3]
        let congested = self.detector.signal() == Signal::Overuse && self.control.state() != State::Decrease;
        if congested || now >= self.next_report {
            self.report(data, cx);
        }
    }

    fn on_start(&mut self, cx: &mut ReceiverCx<'_, '_>) {
        *self = Self::new(&self.params);
        self.control = RateControl::new(&self.params, cx.now());
    }
}
