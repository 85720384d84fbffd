//! MCA at the source: one rate, controlled by the indications of one receiver.

use contract::{Allowance, Count, Cx, EndpointId, Feedback, Label, OutgoingPacket, SenderAlgorithm};
use units::{Bytes, Duration, Rate, Time};

use super::headers::{Announcement, Indication, Kind};
use crate::mca::{Control, Deviation, Params};

/// The source's part [MCA §3.1].
#[derive(Clone, Debug)]
pub struct Sender {
    params: Box<Params>,
    packet_bits: f64,
    /// Rate, in bit/s.
    rate: f64,
    /// Smoothed round-trip time and its deviation, in seconds.
    srtt: f64,
    sigma: f64,
    representative: Option<Representative>,
    /// When the rate reached U′ + 4D′ without feedback since.
    silent_since: Option<Time>,
    started_at: Time,
    reduced_at: Option<Time>,
    /// End of the current period; [`Time::NEVER`] before the start.
    period_ends: Time,
    /// Feedback of the representative arrived in the current period.
    representative_reported: bool,
    next_control: Time,
}

/// The slowest receiver (CR), and its last feedback.
#[derive(Clone, Copy, Debug)]
struct Representative {
    endpoint: EndpointId,
    /// U, D: mean and deviation of its G-TRAC, in bit/s.
    u: f64,
    d: f64,
    /// U′, D′: mean and deviation of its TRAC, in bit/s.
    u_trac: f64,
    d_trac: f64,
}

impl Sender {
    /// A source of packets of size `packet`.
    pub(crate) fn new(params: &Params, packet: Bytes) -> Self {
        let mut algorithm = Self {
            packet_bits: packet.as_f64() * 8.0,
            rate: params.initial_rate.as_bps_f64(),
            srtt: params.initial_rtt.as_secs_f64(),
            sigma: 0.0,
            representative: None,
            silent_since: None,
            started_at: Time::ZERO,
            reduced_at: None,
            period_ends: Time::NEVER,
            representative_reported: false,
            next_control: Time::ZERO,
            params: Box::new(params.clone()),
        };
        algorithm.set_rate(algorithm.rate);
        algorithm
    }

    /// The current representative.
    pub(crate) fn representative(&self) -> Option<EndpointId> {
        self.representative.map(|it| it.endpoint)
    }

    /// P = SRTT + 4σ.
    pub(crate) fn period(&self) -> Duration {
        Duration::from_secs_f64(self.srtt + self.params.period_deviations * self.sigma).max(SHORTEST_PERIOD)
    }

    /// Takes a round-trip sample [MCA §3.1.1].
    fn measure(&mut self, sample: Duration, cx: &mut Cx<'_>) {
        let (s, gain) = (sample.as_secs_f64(), self.params.rtt_gain);
        // SRTT = 7/8 SRTT + 1/8 s
        self.srtt += (s - self.srtt) * gain;
        let error = (self.srtt - s).abs();
        self.sigma = match self.params.deviation {
            // σ = 7/8 σ + 1/8 (|SRTT − s| − σ)
            Deviation::Printed => (1.0 - gain) * self.sigma + gain * (error - self.sigma),
            // σ = 7/8 σ + 1/8 |SRTT − s|
            Deviation::Standard => self.sigma + (error - self.sigma) * gain,
        };
        cx.measured_rtt(sample);
        cx.probe("srtt", self.srtt);
        cx.probe("period", self.period().as_secs_f64());
    }

    /// Whether an indication of `endpoint` with G-TRAC mean `g` is accepted; it can make `endpoint` the representative
    /// [MCA §3.1.3, §3.1.4].
    fn accepts(&self, endpoint: EndpointId, g: f64, cx: &mut Cx<'_>) -> bool {
        match &self.representative {
            Some(it) if it.endpoint != endpoint => {
                // ḡ < U − kD
                let margin = g - (it.u - self.params.k * it.d);
                cx.event("challenge", margin);
                margin < 0.0
            }
            _ => true,
        }
    }

    /// The content of a control packet, if one is due.
    fn announce(&mut self, now: Time) -> Option<Label> {
        if now < self.next_control {
            return None;
        }
        self.next_control = now + self.params.control_interval;
        let (representative, u, d) = match self.representative {
            Some(it) => (Some(it.endpoint), it.u, it.d),
            None => (None, 0.0, 0.0),
        };
        Some(Announcement { representative, u, d, srtt: Duration::from_secs_f64(self.srtt) }.encode())
    }

    fn set_rate(&mut self, rate: f64) {
        self.rate = rate.min(self.params.max_rate.as_bps_f64()).max(self.params.min_rate.as_bps_f64());
    }

    fn end_period(&mut self, now: Time) {
        let period = self.period();
        if !self.representative_reported {
            // R ← R + 8s/P
            self.set_rate(self.rate + self.params.increase * self.packet_bits / period.as_secs_f64());
        }
        self.representative_reported = false;
        self.period_ends = now + period;
        let beyond = self.rate >= self.absence_rate();
        self.silent_since = if beyond { self.silent_since.or(Some(now)) } else { None };
    }

    /// The rate in bit/s from which the representative should have sent an indication; infinite if there is none.
    fn absence_rate(&self) -> f64 {
        // R ≥ U′ + 4D′
        self.representative.map_or(f64::INFINITY, |it| it.u_trac + self.params.absence_deviations * it.d_trac)
    }

    /// When the representative is removed if no feedback arrives.
    fn absent_at(&self) -> Time {
        self.silent_since.map_or(Time::NEVER, |since| since + self.period() * u64::from(self.params.n))
    }
}

impl SenderAlgorithm for Sender {
    fn on_feedback(&mut self, feedback: &Feedback, cx: &mut Cx<'_>) {
        let now = cx.now();
        let Some(indication) = Indication::decode(feedback.label)
            .filter(|it| (self.started_at..=now).contains(&it.trigger_sent_at))
        else {
            cx.count(Count::Ignored, 1);
            return;
        };
        self.measure(now - indication.trigger_sent_at, cx);
        if !self.accepts(feedback.from, indication.g.0, cx) {
            cx.count(Count::Ignored, 1);
            return;
        }
        if self.representative() != Some(feedback.from) {
            cx.event("representative", f64::from(feedback.from.0));
        }
        let ((u, d), (u_trac, d_trac)) = (indication.g, indication.trac);
        self.representative = Some(Representative { endpoint: feedback.from, u, d, u_trac, d_trac });
        cx.probe("absence_rate", self.absence_rate());
        self.silent_since = None;
        self.representative_reported = true;

        // at most one cut per P
        if self.reduced_at.is_none_or(|reduced_at| now - reduced_at >= self.period()) {
            let keep = match indication.kind {
                Kind::Accumulation => self.params.keep_accumulation,
                Kind::Loss => self.params.keep_loss,
            };
            self.set_rate(self.rate * keep);
            self.reduced_at = Some(now);
            cx.count(Count::Episodes, 1);
        }
    }

    #[inline]
    fn allowance(&self) -> Allowance {
        Allowance::rate(Rate::from_bps_f64(self.rate))
    }

    fn on_start(&mut self, cx: &mut Cx<'_>) {
        self.started_at = cx.now();
        self.period_ends = cx.now() + self.period();
        cx.probe("period", self.period().as_secs_f64());
    }

    fn stamp(&mut self, _sending: &OutgoingPacket, cx: &mut Cx<'_>) -> Label {
        if self.out_of_band() { Label::default() } else { self.announce(cx.now()).unwrap_or_default() }
    }

    fn out_of_band(&self) -> bool {
        self.params.control == Control::OutOfBand
    }

    fn control(&mut self, _after: &OutgoingPacket, cx: &mut Cx<'_>) -> Option<Label> {
        if self.out_of_band() { self.announce(cx.now()) } else { None }
    }

    fn on_timer(&mut self, cx: &mut Cx<'_>) {
        if self.absent_at() <= cx.now() {
            let former = self.representative.take();
            self.silent_since = None;
            cx.event("absent", former.map_or(-1.0, |it| f64::from(it.endpoint.0)));
            cx.event("representative", -1.0);
        }
        if self.period_ends <= cx.now() {
            self.end_period(cx.now());
        }
    }

    #[inline]
    fn wake(&self) -> Time {
        self.period_ends.min(self.absent_at())
    }
}

/// Minimum period, whatever round-trip time is measured.
const SHORTEST_PERIOD: Duration = Duration::from_micros(1);
