//! CVIHIS at the source: executes numbered commands, one step per √RTT. It has no one-way delays.

use contract::{Allowance, Count, Cx, Feedback, Label, OutgoingPacket, SenderAlgorithm};
use units::{Bytes, Duration, Rate, Time};

use super::headers::{Answer, Command, DataHeader};
use crate::cvihis::{Mode, Params, Smoothed, Unit};

/// The source's part [CVIHIS §3.2].
#[derive(Clone, Debug)]
pub struct Sender {
    params: Box<Params>,
    mode: Mode,
    packet_bits: f64,
    /// Bits of a step of 1.
    step_bits: f64,
    /// Rate in bit/s: size of a packet over the gap between packets.
    rate: f64,
    /// The smoothed step u, in packets.
    update: f64,
    /// The newest command that makes steps.
    command: Command,
    /// Smoothed round-trip time in seconds; `None` before the first sample.
    srtt: Option<f64>,
    rtt_min: Option<Duration>,
    started_at: Time,
    decreased_at: Option<Time>,
    next_step: Time,
    /// If no answer arrives until then, the gap is doubled.
    nofeedback_at: Time,
}

impl Sender {
    /// A source of packets of size `packet`.
    pub(crate) fn new(params: &Params, packet: Bytes) -> Self {
        let step = if params.adapt_by == Unit::Bytes { params.step_size } else { packet };
        let mut algorithm = Self {
            mode: params.mode,
            packet_bits: packet.as_f64() * 8.0,
            step_bits: step.as_f64() * 8.0,
            rate: params.initial_rate.as_bps_f64(),
            update: 0.0,
            command: Command::Hold,
            srtt: None,
            rtt_min: None,
            started_at: Time::NEVER,
            decreased_at: None,
            next_step: Time::NEVER,
            nofeedback_at: Time::NEVER,
            params: Box::new(params.clone()),
        };
        algorithm.set_rate(algorithm.rate);
        algorithm
    }

    fn rtt_s(&self) -> f64 {
        self.srtt.unwrap_or_else(|| self.params.initial_rtt.as_secs_f64())
    }

    /// T = √RTT: the square root of the number of seconds, in seconds.
    pub(crate) fn step_time(&self) -> Duration {
        Duration::from_secs_f64(self.rtt_s().sqrt()).max(SHORTEST_STEP)
    }

    fn feedback_timeout(&self) -> Duration {
        // max(4·R, 2·s/X): a slow stream has no answer before it has sent           (RFC 5348 §4.3)
        let answer_s = (self.params.timeout_rtts * self.rtt_s())
            .max(self.params.timeout_packets * self.packet_bits / self.rate);
        Duration::from_secs_f64(answer_s).max(self.params.min_timeout)
    }

    fn set_rate(&mut self, rate: f64) {
        let min_rate = self.params.min_packet_rate * self.packet_bits;
        self.rate = rate.min(self.params.max_rate.as_bps_f64()).max(min_rate);
    }

    /// Takes a round-trip time sample.
    fn measure(&mut self, sample: Duration, cx: &mut Cx<'_>) {
        let s = sample.as_secs_f64();
        // RTT ← 7/8 RTT + 1/8 s
        let srtt = self.srtt.map_or(s, |srtt| srtt + (s - srtt) * self.params.rtt_gain);
        self.srtt = Some(srtt);
        self.rtt_min = Some(self.rtt_min.map_or(sample, |rtt_min| rtt_min.min(sample)));
        cx.measured_rtt(sample);
        cx.probe("srtt", srtt);
    }

    /// The step of the current command in packets per √RTT [CVIHIS Table 1].
    fn signed_step(&self) -> f64 {
        let Params { step_far, step_down, step_up, step_gradient, .. } = *self.params;
        match self.command {
            Command::Hold | Command::Decrease => 0.0,
            Command::DownFar => -step_far,
            Command::Down => -step_down,
            Command::Up => step_up,
            Command::UpFar => step_far,
            Command::DownGradient => -step_gradient,
            Command::UpGradient => step_gradient,
        }
    }

    /// Executes a step, once per √RTT.
    fn step(&mut self, cx: &mut Cx<'_>) {
        self.adapt(self.signed_step(), cx);
        self.next_step = cx.now() + self.step_time();
    }

    /// Changes the rate by `step` packets per √RTT, smoothed.
    fn adapt(&mut self, step: f64, cx: &mut Cx<'_>) {
        let share = self.params.smoothing;
        let (added, kept) = match self.params.smoothed {
            // u ← SF·k + (1 − SF)·u                                                [CVIHIS Table 1]
            Smoothed::Step => (share * step + (1.0 - share) * self.update, 1.0),
            Smoothed::Rate => (step, share),
        };
        self.update = added;
        // n ← T/gap + u; gap ← T/n                                                 [CVIHIS §3.2]
        // ours: R ← R + u·8s/T
        let next = self.rate + added * self.step_bits / self.step_time().as_secs_f64();
        self.set_rate(kept * next + (1.0 - kept) * self.rate);
        cx.probe("update", added);
    }

    /// Executes the decrease after a loss, at most once per round-trip time.
    fn decrease(&mut self, cx: &mut Cx<'_>) {
        let factor = self.params.decrease;
        if self.params.smoothed_decrease {
            // k = n/1.10 − n                                                       [CVIHIS §3.2, Table 1]
            let packets = self.rate * self.step_time().as_secs_f64() / self.step_bits;
            self.adapt(packets / factor - packets, cx);
        } else {
            // gap ← 1.10·gap                                                       [CVIHIS Table 1]
            self.set_rate(self.rate / factor);
        }
    }
}

impl SenderAlgorithm for Sender {
    fn on_feedback(&mut self, feedback: &Feedback, cx: &mut Cx<'_>) {
        let now = cx.now();
        let is_plausible = |it: &Answer| (self.started_at..=now).contains(&it.echo);
        let Some(answer) = Answer::decode(feedback.label).filter(is_plausible) else {
            cx.count(Count::Ignored, 1);
            return;
        };
        self.measure(now - answer.echo, cx);
        self.nofeedback_at = now + self.feedback_timeout();
        if answer.command != Command::Decrease {
            self.command = answer.command;
            return;
        }
        // only once in a round-trip time                                           [CVIHIS §3.2]
        let span = Duration::from_secs_f64(self.rtt_s());
        if self.decreased_at.is_none_or(|at| now - at >= span) {
            self.decrease(cx);
            self.decreased_at = Some(now);
            cx.count(Count::Episodes, 1);
        }
    }

    #[inline]
    fn allowance(&self) -> Allowance {
        Allowance::rate(Rate::from_bps_f64(self.rate))
    }

    fn on_start(&mut self, cx: &mut Cx<'_>) {
        self.started_at = cx.now();
        self.next_step = cx.now() + self.step_time();
        self.nofeedback_at = cx.now() + self.feedback_timeout();
    }

    #[inline]
    fn stamp(&mut self, _sending: &OutgoingPacket, _cx: &mut Cx<'_>) -> Label {
        let srtt = Duration::from_secs_f64(self.rtt_s());
        DataHeader { mode: self.mode, rtt_min: self.rtt_min, srtt }.encode()
    }

    fn on_timer(&mut self, cx: &mut Cx<'_>) {
        if self.nofeedback_at <= cx.now() {
            self.set_rate(self.rate / 2.0);
            self.nofeedback_at = cx.now() + self.feedback_timeout();
            cx.count(Count::Episodes, 1);
            cx.event("silence", self.rate);
        }
        if self.next_step <= cx.now() {
            self.step(cx);
        }
    }

    #[inline]
    fn wake(&self) -> Time {
        self.next_step.min(self.nofeedback_at)
    }

    /// Rate and step do not change. Data packets carry the mode from now on, so that both ends change at the same
    /// packet.
    fn on_mode(&mut self, mode: &str, cx: &mut Cx<'_>) {
        match mode {
            "background" => self.mode = Mode::Background,
            "real_time" => self.mode = Mode::RealTime,
            _ => cx.count(Count::Ignored, 1),
        }
    }
}

/// Minimum time between steps, whatever round-trip time is measured.
const SHORTEST_STEP: Duration = Duration::from_micros(100);
