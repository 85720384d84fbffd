//! PerIfwithECN at the source: increases the rate until a router suggests a lower one.

use contract::{Allowance, Count, Cx, EndpointId, Feedback, Label, OutgoingPacket, SenderAlgorithm};
use units::{Bytes, Duration, Rate, Time};

use crate::perif_ecn::Params;
use crate::perif_ecn::headers::{Answer, DataHeader, FeedbackMessage, Notify, mark};

/// The source's part [MF]. Constant state.
#[derive(Clone, Debug)]
pub struct Sender {
    params: Box<Params>,
    mark: u64,
    packet_bits: f64,
    /// Rate, in bit/s.
    rate: f64,
    /// Smoothed round-trip time, in seconds.
    rtt_s: f64,
    /// The most distant receiver, which requests are for; `None` asks all.
    target: Option<EndpointId>,
    request: u32,
    /// Unanswered requests to the most distant receiver, the current one included.
    open: u32,
    started_at: Time,
    notified_at: Option<Time>,
    next_growth: Time,
    next_request_at: Time,
}

impl Sender {
    /// A source of packets of size `packet`.
    pub(crate) fn new(params: &Params, packet: Bytes) -> Self {
        let mut algorithm = Self {
            mark: mark(params),
            packet_bits: packet.as_f64() * 8.0,
            rate: 0.0,
            rtt_s: params.initial_rtt.as_secs_f64(),
            target: None,
            request: 0,
            open: 1,
            started_at: Time::NEVER,
            notified_at: None,
            next_growth: Time::NEVER,
            next_request_at: Time::NEVER,
            params: Box::new(params.clone()),
        };
        algorithm.set_rate(params.initial_rate.as_bps_f64());
        algorithm
    }

    fn set_rate(&mut self, rate: f64) {
        self.rate = rate.min(self.params.max_rate.as_bps_f64()).max(self.params.min_rate.as_bps_f64());
    }

    fn rtt(&self) -> Duration {
        Duration::from_secs_f64(self.rtt_s).max(SHORTEST_RTT)
    }

    fn on_notify(&mut self, notify: &Notify, cx: &mut Cx<'_>) {
        cx.probe("notified_rate", notify.suggested_rate);
        if notify.suggested_rate < self.rate {
            cx.count(Count::Episodes, 1);
        }
        // R ← max(floor, min(R, suggested))
        self.set_rate(self.rate.min(notify.suggested_rate));
        self.notified_at = Some(cx.now());
    }

    /// Takes a round-trip time of the most distant receiver, or of a more distant one.
    fn on_answer(&mut self, answer: &Answer, from: EndpointId, cx: &mut Cx<'_>) {
        let sample = cx.now() - answer.trigger_sent_at;
        let sample_s = sample.as_secs_f64();
        if self.target == Some(from) {
            // RTT ← RTT + (sample − RTT)/8
            self.rtt_s += (sample_s - self.rtt_s) * self.params.rtt_gain;
        } else if self.target.is_none() || sample_s > self.rtt_s {
            self.target = Some(from);
            self.rtt_s = sample_s;
        } else {
            cx.count(Count::Ignored, 1);
            return;
        }
        self.open = 0;
        cx.measured_rtt(sample);
        cx.probe("srtt", self.rtt_s);
    }

    fn grow(&mut self, now: Time) {
        let rtt = self.rtt();
        if self.notified_at.is_none_or(|at| now - at >= rtt) {
            // R ← R + 8s/RTT
            self.set_rate(self.rate + self.params.increase * self.packet_bits / rtt.as_secs_f64());
        }
        self.next_growth = now + rtt;
    }

    fn next_request(&mut self, now: Time) {
        if self.open >= self.params.max_unanswered {
            self.target = None;
        }
        self.request = self.request.saturating_add(1);
        self.open = self.open.saturating_add(1);
        self.next_request_at = now + self.params.probe_interval;
    }
}

impl SenderAlgorithm for Sender {
    fn on_feedback(&mut self, feedback: &Feedback, cx: &mut Cx<'_>) {
        let now = cx.now();
        let earliest = self.started_at.max(now - self.params.max_age);
        let Some(word) = FeedbackMessage::decode(feedback.label)
            .filter(|it| (earliest..=now).contains(&it.trigger_sent_at()))
        else {
            cx.count(Count::Ignored, 1);
            return;
        };
        match word {
            FeedbackMessage::Notify(notify) => self.on_notify(&notify, cx),
            FeedbackMessage::Answer(answer) if answer.request <= self.request => {
                self.on_answer(&answer, feedback.from, cx);
            }
            FeedbackMessage::Answer(_) => cx.count(Count::Ignored, 1),
        }
    }

    #[inline]
    fn allowance(&self) -> Allowance {
        Allowance::rate(Rate::from_bps_f64(self.rate))
    }

    fn on_start(&mut self, cx: &mut Cx<'_>) {
        self.started_at = cx.now();
        self.next_growth = cx.now() + self.rtt();
        self.next_request_at = cx.now() + self.params.probe_interval;
    }

    #[inline]
    fn stamp(&mut self, _sending: &OutgoingPacket, _cx: &mut Cx<'_>) -> Label {
        DataHeader { mark: self.mark, request: self.request, target: self.target }.encode()
    }

    fn on_timer(&mut self, cx: &mut Cx<'_>) {
        let now = cx.now();
        if self.next_growth <= now {
            self.grow(now);
        }
        if self.next_request_at <= now {
            self.next_request(now);
        }
    }

    #[inline]
    fn wake(&self) -> Time {
        self.next_growth.min(self.next_request_at)
    }
}

/// Minimum round-trip time, whatever is measured.
const SHORTEST_RTT: Duration = Duration::from_micros(1);
