//! NADA at the source: the reference rate, the sending rate and the rate of the encoder.

use contract::{Allowance, Count, Cx, EncodedFrame, Feedback, Label, OutgoingPacket, SenderAlgorithm};
use units::{Duration, Rate, Time};

use super::headers::{DataHeader, Report};
use crate::nada::Params;

/// The source's part [RFC8698 §4.3, §5.2]. Rates in bit/s.
#[derive(Clone, Debug)]
pub struct Sender {
    params: Box<Params>,
    /// r_ref.
    reference: f64,
    /// RMIN and RMAX, within the range of the encoder.
    range: (f64, f64),
    /// x_prev, in seconds.
    signal: f64,
    /// When the rate was updated.
    updated_at: Time,
    /// Smoothed round-trip time in seconds; `None` before the first report.
    srtt: Option<f64>,
    /// buffer_len: bytes in the RTP queue.
    queued: u64,
    /// FPS; 0 without an encoder.
    frame_rate: f64,
    started_at: Time,
    /// If no report arrives until then, the rate is halved.
    nofeedback_at: Time,
}

impl Sender {
    /// A source.
    pub(crate) fn new(params: &Params) -> Self {
        Self {
            reference: params.initial_rate.as_bps_f64(),
            range: (params.min_rate.as_bps_f64(), params.max_rate.as_bps_f64()),
            signal: 0.0,
            updated_at: Time::ZERO,
            srtt: None,
            queued: 0,
            frame_rate: 0.0,
            started_at: Time::NEVER,
            nofeedback_at: Time::NEVER,
            params: Box::new(params.clone()),
        }
    }

    /// r_ref in accelerated ramp-up.
    fn ramp_up(&mut self, received: f64) {
        let params = &self.params;
        let response = self.srtt.unwrap_or(0.0) + params.delta.as_secs_f64() + params.d_filt.as_secs_f64();
        // gamma = min(GAMMA_MAX, QBOUND/(rtt + DELTA + DFILT))                                 [RFC8698 §4.3, eq. 3]
        let gamma = (params.q_bound.as_secs_f64() / response).min(params.gamma_max);
        // r_ref = max(r_ref, (1 + gamma)·r_recv)                                               [RFC8698 §4.3, eq. 4]
        self.reference = self.reference.max((1.0 + gamma) * received);
    }

    /// r_ref in gradual rate update, `elapsed` seconds after the last update.
    fn gradual(&mut self, signal: f64, elapsed: f64) {
        let (params, rate) = (&self.params, self.reference);
        let tau = params.tau.as_secs_f64();
        // x_offset = x_curr − PRIO·XREF·RMAX/r_ref                                             [RFC8698 §4.3, eq. 5]
        let offset = signal - params.priority * params.x_ref.as_secs_f64() * self.range.1 / rate;
        // x_diff = x_curr − x_prev                                                             [RFC8698 §4.3, eq. 6]
        let change = signal - self.signal;
        // r_ref ← r_ref − KAPPA·(delta/TAU)·(x_offset/TAU)·r_ref − KAPPA·ETA·(x_diff/TAU)·r_ref   [RFC8698 §4.3, eq. 7]
        self.reference = rate
            - params.kappa * (elapsed / tau) * (offset / tau) * rate
            - params.kappa * params.eta * (change / tau) * rate;
    }

    /// min(0.05·r_ref, BETA·8·buffer_len·FPS)                                             [RFC8698 §5.2.2, eq. 8 and 9]
    fn shift(&self, beta: f64) -> f64 {
        (beta * 8.0 * self.queued as f64 * self.frame_rate).min(self.params.max_shift * self.reference)
    }
}

impl SenderAlgorithm for Sender {
    fn on_feedback(&mut self, feedback: &Feedback, cx: &mut Cx<'_>) {
        let now = cx.now();
        let fitting = |it: &Report| (self.started_at..=now).contains(&it.echo);
        let Some(report) = Report::decode(feedback.label).filter(fitting) else {
            cx.count(Count::Ignored, 1);
            return;
        };
        let sample = now - report.echo;
        cx.measured_rtt(sample);
        let s = sample.as_secs_f64();
        let srtt = self.srtt.map_or(s, |srtt| srtt + (s - srtt) * self.params.rtt_gain);
        self.srtt = Some(srtt);
        let signal = report.signal.as_secs_f64();
        let previous = self.reference;
        if report.ramp_up {
            self.ramp_up(report.received_bps as f64);
        } else {
            let elapsed = now.saturating_since(self.updated_at).as_secs_f64();
            self.gradual(signal, elapsed);
        }
        // clip within RMIN and RMAX                                                            [RFC8698 §4.3]
        self.reference = self.reference.clamp(self.range.0, self.range.1);
        if self.reference < previous {
            cx.count(Count::Episodes, 1);
        }
        self.signal = signal;
        self.updated_at = now;
        self.nofeedback_at = now + self.params.timeout;
        cx.probe("srtt", srtt);
        cx.probe("reference_rate", self.reference);
    }

    #[inline]
    fn allowance(&self) -> Allowance {
        // r_send = min(RMAX, r_ref + r_diff_s)                                                 [RFC8698 §5.2.2, eq. 11]
        Allowance::rate(Rate::from_bps_f64(
            (self.reference + self.shift(self.params.beta_s)).min(self.range.1),
        ))
    }

    fn media_rate(&self) -> Rate {
        // r_vin = max(RMIN, r_ref − r_diff_v)                                                  [RFC8698 §5.2.2, eq. 10]
        Rate::from_bps_f64((self.reference - self.shift(self.params.beta_v)).max(self.range.0))
    }

    fn on_frame(&mut self, frame: &EncodedFrame, _cx: &mut Cx<'_>) {
        self.queued = frame.queued.as_u64();
        self.frame_rate = 1.0 / frame.interval.as_secs_f64();
        let (min, max) = (self.params.min_rate.max(frame.min), self.params.max_rate.min(frame.max));
        self.range = (min.as_bps_f64().min(max.as_bps_f64()), max.as_bps_f64());
        self.reference = self.reference.clamp(self.range.0, self.range.1);
    }

    fn on_start(&mut self, cx: &mut Cx<'_>) {
        self.started_at = cx.now();
        self.updated_at = cx.now();
        self.nofeedback_at = cx.now() + self.params.timeout;
    }

    #[inline]
    fn stamp(&mut self, sending: &OutgoingPacket, _cx: &mut Cx<'_>) -> Label {
        self.queued = self.queued.saturating_sub(sending.size.as_u64());
        DataHeader { rtt: self.srtt.map(Duration::from_secs_f64) }.encode()
    }

    fn on_timer(&mut self, cx: &mut Cx<'_>) {
        if self.nofeedback_at <= cx.now() {
            self.reference = (self.reference / 2.0).max(self.range.0);
            self.nofeedback_at = cx.now() + self.params.timeout;
            cx.count(Count::Timeouts, 1);
            cx.event("silence", self.reference);
        }
    }

    #[inline]
    fn wake(&self) -> Time {
        self.nofeedback_at
    }
}
