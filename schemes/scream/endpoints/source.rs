//! SCReAM at the source: the reference window, the send window, and the target rate.

use contract::{Allowance, Count, Cx, EncodedFrame, Feedback, Label, OutgoingPacket, SenderAlgorithm};
use units::{Bytes, Rate, Time};

use super::delay::{Delay, Sample, Target};
use super::flight::Flight;
use super::headers::{DataHeader, Report};
use super::media::Media;
use super::window::Window;
use crate::scream::Params;

/// The source's part.
#[derive(Clone, Debug)]
pub struct Sender {
    params: Box<Params>,
    flight: Flight,
    window: Window,
    delay: Delay,
    target: Target,
    media: Media,
    /// Smoothed round-trip time in seconds; `None` before the first report.
    srtt: Option<f64>,
    /// Bytes in the RTP queue.
    queued: u64,
    nofeedback_at: Time,
}

impl Sender {
    /// A source of packets of at most `mss`.
    pub(crate) fn new(params: &Params, mss: Bytes) -> Self {
        let mss = mss.as_f64();
        Self {
            flight: Flight::default(),
            window: Window::new(mss, params),
            delay: Delay::default(),
            target: Target::new(params),
            media: Media::new(mss, params),
            srtt: None,
            queued: 0,
            nofeedback_at: Time::NEVER,
            params: Box::new(params.clone()),
        }
    }

    fn rtt(&self) -> f64 {
        self.srtt.unwrap_or(self.params.initial_rtt.as_secs_f64())
    }
}

impl SenderAlgorithm for Sender {
    fn on_feedback(&mut self, feedback: &Feedback, cx: &mut Cx<'_>) {
        let now = cx.now();
        let Some(report) = Report::decode(feedback.label).filter(|it| self.flight.contains(it.highest))
        else {
            cx.count(Count::Ignored, 1);
            return;
        };
        let acked = self.flight.on_report(&report, now);
        if let Some(sent_at) = acked.sent_at {
            let sample = now.saturating_since(sent_at);
            cx.measured_rtt(sample);
            let s = sample.as_secs_f64();
            // SRTT ← 7/8 SRTT + 1/8 s, as TCP
            self.srtt = Some(self.srtt.map_or(s, |srtt| srtt + (s - srtt) / 8.0));
            let Report { arrived_at, after_gap, .. } = report;
            self.delay.measure(&Sample { sent_at, arrived_at, after_gap }, self.rtt(), now, &self.params);
        }
        let srtt = self.rtt();
        self.target.update(self.delay.now(), acked.lost > 0, srtt, now, &self.params);
        self.window.count(&acked, srtt, now, &self.params);
        let at_maximum = self.media.at_maximum();
        let delay = (&self.delay, self.target.value());
        if self.window.update(&acked, delay, srtt, at_maximum, now, &self.params).is_some() {
            cx.count(Count::Episodes, 1);
        }
        self.media.update(self.window.value(), srtt, &self.params);
        self.nofeedback_at = now + self.params.timeout;
        if cx.probing() {
            cx.probe("srtt", srtt);
            cx.probe("reference_window", self.window.value());
            cx.probe("in_flight", self.flight.bytes().as_f64());
            cx.probe("queue_estimate", self.delay.now());
            cx.probe("delay_target", self.target.value());
            cx.probe("l4s_alpha", self.window.alpha());
        }
    }

    #[inline]
    fn allowance(&self) -> Allowance {
        let rate = Rate::from_bps_f64(self.media.pace(&self.params));
        // send_wnd = ref_wnd·ref_wnd_overhead − bytes_in_flight                [SCREAM2, Send Window Calculation]
        let open = self.flight.bytes().as_f64() < self.window.value() * self.params.overhead;
        Allowance { rate, window: if open { Bytes::UNLIMITED } else { Bytes::ZERO } }
    }

    fn media_rate(&self) -> Rate {
        Rate::from_bps_f64(self.media.target())
    }

    fn on_frame(&mut self, frame: &EncodedFrame, _cx: &mut Cx<'_>) {
        self.queued = frame.queued.as_u64();
        self.media.frame(frame, &self.params);
    }

    fn l4s(&self) -> bool {
        self.params.l4s
    }

    fn on_start(&mut self, cx: &mut Cx<'_>) {
        self.nofeedback_at = cx.now() + self.params.timeout;
    }

    #[inline]
    fn stamp(&mut self, sending: &OutgoingPacket, cx: &mut Cx<'_>) -> Label {
        self.queued = self.queued.saturating_sub(sending.size.as_u64());
        self.flight.send(sending.size, cx.now());
        self.window.sent(self.flight.bytes().as_f64(), self.rtt(), cx.now());
        DataHeader { last: self.media.encodes() && self.queued == 0 }.encode()
    }

    fn on_timer(&mut self, cx: &mut Cx<'_>) {
        if self.nofeedback_at <= cx.now() {
            self.flight.clear();
            self.window.collapse(&self.params);
            self.media.update(self.window.value(), self.rtt(), &self.params);
            self.nofeedback_at = cx.now() + self.params.timeout;
            cx.count(Count::Timeouts, 1);
            cx.event("silence", self.window.value());
        }
    }

    #[inline]
    fn wake(&self) -> Time {
        self.nofeedback_at
    }
}
