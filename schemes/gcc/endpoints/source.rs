//! GCC at the source: the loss-based controller, and the minimum of the two rates.

use contract::{Allowance, Count, Cx, Feedback, Label, OutgoingPacket, SenderAlgorithm};
use units::{Duration, Rate, Time};

use super::headers::{DataHeader, Report};
use crate::gcc::Params;

/// The source's part [GCC02 §6]. Rates in bit/s.
#[derive(Clone, Debug)]
pub struct Sender {
    params: Box<Params>,
    /// A: the rate of the delay-based controller in the last report.
    delay_based: f64,
    /// As: the rate of the loss-based controller.
    loss_based: f64,
    /// Received and lost packets at the last update of the loss-based controller.
    received: u64,
    lost: u64,
    /// Smoothed round-trip time in seconds; `None` before the first report.
    srtt: Option<f64>,
    started_at: Time,
    /// If no report arrives until then, the rate is halved.
    nofeedback_at: Time,
}

impl Sender {
    /// A source.
    pub(crate) fn new(params: &Params) -> Self {
        let rate = params.initial_rate.as_bps_f64();
        Self {
            delay_based: rate,
            loss_based: rate,
            received: 0,
            lost: 0,
            srtt: None,
            started_at: Time::NEVER,
            nofeedback_at: Time::NEVER,
            params: Box::new(params.clone()),
        }
    }

    /// The sending rate: min(As, A)                                                            [GCC02 §6]
    fn rate(&self) -> f64 {
        let (min, max) = (self.params.min_rate.as_bps_f64(), self.params.max_rate.as_bps_f64());
        self.loss_based.min(self.delay_based).clamp(min, max)
    }

    /// Updates the loss-based controller by the packets of `report` since the last update.
    fn judge_loss(&mut self, report: &Report, cx: &mut Cx<'_>) {
        let (received, lost) = (report.received - self.received, report.lost.saturating_sub(self.lost));
        if received + lost < u64::from(self.params.loss_packets) {
            return;
        }
        (self.received, self.lost) = (report.received, report.lost);
        let ratio = lost as f64 / (received + lost) as f64;
        // differs: As(i−1) is the sending rate; otherwise As would grow without limit while A is the minimum
        let previous = self.rate();
        if ratio < self.params.low_loss {
            // As(i) = 1.05·As(i−1)                                                             [GCC02 §6]
            self.loss_based = self.params.loss_growth * previous;
        } else if ratio > self.params.high_loss {
            // As(i) = As(i−1)·(1 − 0.5·p)                                                      [GCC02 §6]
            self.loss_based = previous * (1.0 - self.params.loss_cut * ratio);
            cx.count(Count::Episodes, 1);
        }
    }
}

impl SenderAlgorithm for Sender {
    fn on_feedback(&mut self, feedback: &Feedback, cx: &mut Cx<'_>) {
        let now = cx.now();
        let fitting = |it: &Report| {
            (self.started_at..=now).contains(&it.echo) && it.received >= self.received && it.rate_bps > 0
        };
        let Some(report) = Report::decode(feedback.label).filter(fitting) else {
            cx.count(Count::Ignored, 1);
            return;
        };
        let sample = now - report.echo;
        cx.measured_rtt(sample);
        let s = sample.as_secs_f64();
        // RTT ← 7/8 RTT + 1/8 s
        let srtt = self.srtt.map_or(s, |srtt| srtt + (s - srtt) * self.params.rtt_gain);
        self.srtt = Some(srtt);
        self.delay_based = report.rate_bps as f64;
        self.judge_loss(&report, cx);
        self.nofeedback_at = now + self.params.timeout;
        if cx.probing() {
            cx.probe("srtt", srtt);
            cx.probe("loss_based_rate", self.loss_based);
        }
    }

    #[inline]
    fn allowance(&self) -> Allowance {
        Allowance::rate(Rate::from_bps_f64(self.rate()))
    }

    fn on_start(&mut self, cx: &mut Cx<'_>) {
        self.started_at = cx.now();
        self.nofeedback_at = cx.now() + self.params.timeout;
    }

    #[inline]
    fn stamp(&mut self, _sending: &OutgoingPacket, _cx: &mut Cx<'_>) -> Label {
        DataHeader { rtt: self.srtt.map(Duration::from_secs_f64) }.encode()
    }

    fn on_timer(&mut self, cx: &mut Cx<'_>) {
        if self.nofeedback_at <= cx.now() {
            self.loss_based = self.rate() / 2.0;
            self.nofeedback_at = cx.now() + self.params.timeout;
            cx.count(Count::Timeouts, 1);
            cx.event("silence", self.rate());
        }
    }

    #[inline]
    fn wake(&self) -> Time {
        self.nofeedback_at
    }
}
