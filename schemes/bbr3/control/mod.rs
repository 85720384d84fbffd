//! BBRv3: its states and their gains, Startup, Drain, ProbeRTT, rate and window [BBR06 §5.3, §5.6].
//!
//! The cycle of bandwidth probes is in `probe_bw.rs`, the response to losses in `losses.rs`, the model of the path in
//! `model.rs`.

mod losses;
mod model;
mod probe_bw;

use contract::{Ack, Allowance, Cause, Congestion, CongestionControl, Cx, Delivery, Idle, Lost, Sent, Setup};
use units::{Bytes, Duration, Rate, Time};

use self::losses::Undo;
use self::model::{Model, Sample};
use self::probe_bw::Cycle;
use super::Params;

/// The states [BBR06 §5.1.1].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// The rate doubles each round.
    Startup,
    /// Drains the queue of Startup.
    Drain,
    /// Slower than the network delivers, until there is headroom.
    ProbeBwDown,
    /// As fast as the network delivers.
    ProbeBwCruise,
    /// Fills the pipe for one round, before the next state exceeds it.
    ProbeBwRefill,
    /// Faster than the network delivers, to probe for bandwidth.
    ProbeBwUp,
    /// Half a bandwidth-delay product in flight, to measure the round-trip time without a queue.
    ProbeRtt,
}

/// The congestion controller BBRv3, which needs no support of the receiver. Volumes are in bytes of payload, rates in
/// bytes of payload per second.
#[derive(Clone, Debug)]
pub struct Bbr3 {
    params: Params,
    segment: f64,
    /// Bytes on the wire for a byte of payload.
    overhead: f64,
    /// InitialCwnd.
    initial: f64,
    started: bool,
    model: Model,
    state: State,
    cycle: Cycle,
    undo: Undo,
    /// round_count at the start of Drain.
    drain_start_round: u64,

    // ---- losses
    /// Cause of the loss recovery that lasts.
    recovery: Option<Cause>,
    /// has_selective_acks.
    selective: bool,
    /// Separate gaps in the data lost in this round.
    gaps: u32,

    // ---- ProbeRTT
    probe_rtt_done_stamp: Option<Time>,
    probe_rtt_round_done: bool,
    idle_restart: bool,

    // ---- rate and window
    pacing_rate: f64,
    cwnd: f64,
    prior_cwnd: f64,
    /// The window was full in this round, and in the last.
    cwnd_limited: [bool; 2],
}

impl Bbr3 {
    /// The state of a new connection [BBR06 §5.2.1].
    pub(super) fn new(params: &Params, setup: &Setup) -> Self {
        let segment = setup.segment.as_f64();
        let initial = setup.initial_window.as_f64().max(segment);
        let mut new = Self {
            segment,
            overhead: (segment + setup.header.as_f64()) / segment,
            initial,
            started: false,
            model: Model::new(params),
            state: State::Startup,
            cycle: Cycle::default(),
            undo: Undo::default(),
            drain_start_round: 0,
            recovery: None,
            selective: true,
            gaps: 0,
            probe_rtt_done_stamp: None,
            probe_rtt_round_done: false,
            idle_restart: false,
            pacing_rate: 0.0,
            cwnd: initial,
            prior_cwnd: 0.0,
            cwnd_limited: [false; 2],
            params: params.clone(),
        };
        new.init_pacing_rate(Duration::from_millis(1));
        new
    }

    /// The current state.
    pub fn state(&self) -> State {
        self.state
    }

    /// max_bw, in bit/s of payload.
    pub fn max_bw(&self) -> f64 {
        self.model.max_bw() * 8.0
    }

    /// bw_shortterm, in bit/s of payload; infinite without a bound.
    pub fn bw_shortterm(&self) -> f64 {
        self.model.bw_shortterm * 8.0
    }

    /// inflight_shortterm, in bytes; infinite without a bound.
    pub fn inflight_shortterm(&self) -> f64 {
        self.model.inflight_shortterm
    }

    /// inflight_longterm, in bytes; infinite without a bound.
    pub fn inflight_longterm(&self) -> f64 {
        self.model.inflight_longterm
    }

    /// min_rtt; `None` before the first sample.
    pub fn min_rtt(&self) -> Option<Duration> {
        self.model.min_rtt
    }

    /// extra_acked, in bytes.
    pub fn extra_acked(&self) -> f64 {
        self.model.extra_acked()
    }

    /// full_bw_reached, and full_bw_now.
    pub fn full_bw(&self) -> (bool, bool) {
        (self.model.full_bw_reached, self.model.full_bw_now)
    }

    /// Gain of the rate in the current state [BBR06 §5.6.1].
    pub fn pacing_gain(&self) -> f64 {
        match self.state {
            State::Startup => self.params.startup_gain,
            State::Drain => self.params.drain_gain,
            State::ProbeBwDown => self.params.down_gain,
            State::ProbeBwUp => self.params.up_gain,
            State::ProbeBwCruise | State::ProbeBwRefill | State::ProbeRtt => 1.0,
        }
    }

    /// Gain of the window in the current state [BBR06 §5.6.1].
    pub fn cwnd_gain(&self) -> f64 {
        match self.state {
            State::ProbeBwUp => self.params.up_cwnd_gain,
            State::ProbeRtt => self.params.probe_rtt_gain,
            _ => self.params.cwnd_gain,
        }
    }

    fn enter(&mut self, state: State, cx: &mut Cx<'_>) {
        self.state = state;
        cx.event("state", f64::from(state as u8));
    }

    // ---- data in flight

    fn min_pipe_cwnd(&self) -> f64 {
        self.params.min_pipe * self.segment
    }

    /// BDPMultiple, with the bandwidth `bw` [BBR06 §5.6.4.2].
    fn bdp_multiple(&self, bw: f64, gain: f64) -> f64 {
        self.model.min_rtt.map_or(self.initial, |min_rtt| gain * bw * min_rtt.as_secs_f64())
    }

    /// QuantizationBudget [BBR06 §5.6.4.2].
    fn quantization_budget(&self, inflight_cap: f64) -> f64 {
        // offload_budget = 3·send_quantum, and our pacer sends single segments                [BBR06 §5.5.8.1, §5.6.3]
        let budget = inflight_cap.max(3.0 * self.segment).max(self.min_pipe_cwnd());
        if self.state == State::ProbeBwUp { budget + 2.0 * self.segment } else { budget }
    }

    /// Inflight, with the bandwidth `bw` [BBR06 §5.6.4.2].
    fn inflight(&self, bw: f64, gain: f64) -> f64 {
        self.quantization_budget(self.bdp_multiple(bw, gain))
    }

    /// TargetInflight [BBR06 §5.3.3.8.3].
    fn target_inflight(&self) -> f64 {
        self.bdp_multiple(self.model.bw, 1.0).min(self.cwnd)
    }

    /// ProbeRTTCwnd [BBR06 §5.6.4.5].
    fn probe_rtt_cwnd(&self) -> f64 {
        self.bdp_multiple(self.model.bw, self.params.probe_rtt_gain).max(self.min_pipe_cwnd())
    }

    /// C.is_cwnd_limited: the window was full in the last round, or since it [BBR06 §2.2].
    fn is_cwnd_limited(&self) -> bool {
        self.cwnd_limited[0] || self.cwnd_limited[1]
    }

    // ---- Startup and Drain

    /// CheckStartupDone [BBR06 §5.3.1.1].
    fn check_startup_done(&mut self, sample: &Sample, cx: &mut Cx<'_>) {
        self.check_startup_high_loss(sample);
        if self.state == State::Startup && self.model.full_bw_reached {
            self.drain_start_round = self.model.rounds.count();
            self.enter(State::Drain, cx);
        }
    }

    /// CheckDrainDone [BBR06 §5.3.2].
    fn check_drain_done(&mut self, sample: &Sample, cx: &mut Cx<'_>) {
        if self.state == State::Drain
            && (sample.in_flight <= self.inflight(self.model.bw, 1.0)
                || self.model.rounds.count() > self.drain_start_round + DRAIN_ROUNDS)
        {
            self.start_down(cx);
        }
    }

    // ---- ProbeRTT

    /// CheckProbeRTT [BBR06 §5.3.4.3].
    fn check_probe_rtt(&mut self, sample: &Sample, cx: &mut Cx<'_>) {
        if self.state != State::ProbeRtt && self.model.probe_rtt_expired && !self.idle_restart {
            self.enter(State::ProbeRtt, cx);
            self.save_cwnd();
            self.probe_rtt_done_stamp = None;
            self.cycle.stop();
            self.model.rounds.begin();
        }
        if self.state == State::ProbeRtt {
            self.handle_probe_rtt(sample, cx);
        }
        if sample.delivered > 0.0 {
            self.idle_restart = false;
        }
    }

    /// HandleProbeRTT [BBR06 §5.3.4.3].
    fn handle_probe_rtt(&mut self, sample: &Sample, cx: &mut Cx<'_>) {
        // MarkConnectionAppLimited: low rates do not count
        self.model.rounds.ignore(sample.in_flight as u64);
        if self.probe_rtt_done_stamp.is_some() {
            self.probe_rtt_round_done |= self.model.rounds.started();
            if self.probe_rtt_round_done {
                self.check_probe_rtt_done(cx);
            }
        } else if sample.in_flight <= self.probe_rtt_cwnd() {
            self.probe_rtt_done_stamp = Some(cx.now() + self.params.probe_rtt);
            self.probe_rtt_round_done = false;
            self.model.rounds.begin();
        }
    }

    /// CheckProbeRTTDone and ExitProbeRTT [BBR06 §5.3.4.3, §5.3.4.4].
    fn check_probe_rtt_done(&mut self, cx: &mut Cx<'_>) {
        if self.probe_rtt_done_stamp.is_none_or(|done| cx.now() <= done) {
            return;
        }
        self.model.schedule_probe_rtt(cx.now());
        self.restore_cwnd();
        self.model.reset_shortterm();
        if self.model.full_bw_reached {
            self.start_down(cx);
            self.enter(State::ProbeBwCruise, cx);
        } else {
            self.enter(State::Startup, cx);
        }
    }

    // ---- rate and window

    /// InitPacingRate [BBR06 §5.6.2].
    fn init_pacing_rate(&mut self, srtt: Duration) {
        self.pacing_rate = self.params.startup_gain * self.initial / srtt.as_secs_f64();
    }

    /// SetPacingRateWithGain [BBR06 §5.6.2].
    fn set_pacing_rate(&mut self, gain: f64) {
        let rate = gain * self.model.bw * (1.0 - self.params.pacing_margin);
        if self.model.full_bw_reached || rate > self.pacing_rate {
            self.pacing_rate = rate;
        }
    }

    /// SaveCwnd [BBR06 §5.6.4.4].
    fn save_cwnd(&mut self) {
        let good = self.recovery.is_none() && self.state != State::ProbeRtt;
        self.prior_cwnd = if good { self.cwnd } else { self.prior_cwnd.max(self.cwnd) };
    }

    /// RestoreCwnd [BBR06 §5.6.4.4].
    fn restore_cwnd(&mut self) {
        self.cwnd = self.cwnd.max(self.prior_cwnd);
    }

    /// SetCwnd, after `newly_acked` bytes of the `total` so far [BBR06 §5.6.4.6].
    fn set_cwnd(&mut self, newly_acked: f64, total: f64) {
        // UpdateMaxInflight                                                                   [BBR06 §5.6.4.2]
        let cap = self.bdp_multiple(self.model.bw, self.cwnd_gain()) + self.model.extra_acked();
        let max_inflight = self.quantization_budget(cap);
        if self.model.full_bw_reached {
            self.cwnd = (self.cwnd + newly_acked).min(max_inflight);
        } else if self.cwnd < max_inflight || total < self.initial {
            self.cwnd += newly_acked;
        }
        self.cwnd = self.cwnd.max(self.min_pipe_cwnd());
        // BoundCwndForProbeRTT                                                                [BBR06 §5.6.4.5]
        if self.state == State::ProbeRtt {
            self.cwnd = self.cwnd.min(self.probe_rtt_cwnd());
        }
        self.bound_cwnd();
    }

    /// BoundCwndForModel [BBR06 §5.6.4.7].
    fn bound_cwnd(&mut self) {
        let cap = match self.state {
            State::ProbeBwDown | State::ProbeBwRefill | State::ProbeBwUp => self.model.inflight_longterm,
            State::ProbeBwCruise | State::ProbeRtt => self.inflight_with_headroom(),
            State::Startup | State::Drain => f64::INFINITY,
        };
        let cap = cap.min(self.model.inflight_shortterm).max(self.min_pipe_cwnd());
        self.cwnd = self.cwnd.min(cap);
    }

    /// HandleRestartFromIdle [BBR06 §5.4.1].
    fn handle_restart_from_idle(&mut self, cx: &mut Cx<'_>) {
        self.idle_restart = true;
        self.model.restart_aggregation(cx.now());
        if self.is_in_probe_bw() {
            self.set_pacing_rate(1.0);
        } else if self.state == State::ProbeRtt {
            self.check_probe_rtt_done(cx);
        }
    }

    fn probe(&self, cx: &mut Cx<'_>) {
        let Model { bw, inflight_longterm, inflight_shortterm, min_rtt, .. } = self.model;
        cx.probe("max_bw", self.model.max_bw() * 8.0);
        cx.probe("bw", bw * 8.0);
        cx.probe("min_rtt", min_rtt.map_or(0.0, Duration::as_secs_f64));
        for (series, volume) in
            [("inflight_longterm", inflight_longterm), ("inflight_shortterm", inflight_shortterm)]
        {
            if volume < f64::INFINITY {
                cx.probe(series, volume);
            }
        }
        cx.probe("extra_acked", self.model.extra_acked());
        cx.probe("pacing_rate", self.pacing_rate * self.overhead * 8.0);
    }
}

impl CongestionControl for Bbr3 {
    /// No effect: BBR uses [`CongestionControl::on_delivery`].
    fn on_ack(&mut self, _ack: &Ack, _cx: &mut Cx<'_>) {}

    fn samples_delivery(&self) -> bool {
        true
    }

    /// UpdateOnACK [BBR06 §5.2.3].
    fn on_delivery(&mut self, delivery: &Delivery, cx: &mut Cx<'_>) {
        let now = cx.now();
        if self.model.min_rtt.is_none()
            && let Some(rtt) = delivery.rtt.filter(|rtt| *rtt > Duration::ZERO)
        {
            self.init_pacing_rate(rtt);
        }
        let sample = self.model.sample(delivery);
        if self.model.rounds.started() {
            self.cycle.count_round();
            self.cwnd_limited = [false, self.cwnd_limited[0]];
        }
        // UpdateModelAndState
        self.model.update_latest(&sample);
        self.update_congestion_signals(&sample);
        self.model.update_aggregation(sample.newly_acked, self.cwnd, now);
        self.model.check_full_bw(&sample);
        self.check_startup_done(&sample, cx);
        self.check_drain_done(&sample, cx);
        self.update_cycle(&sample, cx);
        self.model.update_min_rtt(sample.rtt, now);
        self.check_probe_rtt(&sample, cx);
        self.model.advance_latest(&sample);
        self.model.bound_bw();
        // UpdateControlParameters
        self.set_pacing_rate(self.pacing_gain());
        self.set_cwnd(sample.newly_acked, sample.total);
        if cx.probing() {
            self.probe(cx);
        }
    }

    fn on_lost(&mut self, lost: &Lost, cx: &mut Cx<'_>) {
        self.handle_lost_packet(lost, cx);
    }

    fn on_congestion(&mut self, event: &Congestion, cx: &mut Cx<'_>) {
        match event.cause {
            Cause::Loss if event.first => self.on_recovery(Cause::Loss),
            Cause::Loss | Cause::Refused => {}
            Cause::Timeout => {
                // OnEnterRTO: one segment, then growth as usual                               [BBR06 §5.6.4.4]
                self.on_recovery(Cause::Timeout);
                self.cwnd = self.segment;
            }
            Cause::Mark if event.first => self.on_mark(event.in_flight.as_f64(), cx),
            Cause::Mark => {}
        }
    }

    fn allowance(&self) -> Allowance {
        let rate = Rate::from_bps_f64((self.pacing_rate * self.overhead * 8.0).max(1.0));
        Allowance { window: Bytes::new(self.cwnd.max(self.segment) as u64), rate }
    }

    fn on_sent(&mut self, sent: &Sent, cx: &mut Cx<'_>) {
        if !self.started {
            self.started = true;
            self.model.start(cx.now());
        }
        if sent.in_flight <= sent.bytes && sent.app_limited {
            self.handle_restart_from_idle(cx);
        }
        self.cwnd_limited[0] |= sent.in_flight.as_f64() + self.segment > self.cwnd;
    }

    /// Handles a restart from idle before the first packet, so that its pacing rate is bw [BBR06 §5.4.1].
    fn on_idle(&mut self, _idle: &Idle, cx: &mut Cx<'_>) {
        self.handle_restart_from_idle(cx);
    }

    /// The first round-trip time, for the model and for the pacing rate [BBR06 §5.2.1, §5.6.2].
    fn on_handshake(&mut self, rtt: Duration, _cx: &mut Cx<'_>) {
        if rtt > Duration::ZERO {
            self.model.set_first_rtt(rtt);
            self.init_pacing_rate(rtt);
        }
    }

    fn on_recovered(&mut self, cause: Cause, _cx: &mut Cx<'_>) {
        if cause != Cause::Mark {
            self.on_recovery_end();
        }
    }

    fn on_spurious(&mut self, cx: &mut Cx<'_>) {
        self.handle_spurious_loss(cx);
    }
}

/// Rounds after which Drain ends though the queue is not drained [BBR06 §5.3.2].
const DRAIN_ROUNDS: u64 = 3;
