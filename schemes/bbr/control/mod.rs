//! BBR: the state machine [BBR00 §4.3], and rate and window, which follow from state and model [BBR00 §4.2].

mod linux;
mod model;

use contract::{Ack, Allowance, Cause, Congestion, CongestionControl, Cx, Delivery, Idle, Sent, Setup};
use units::{Bytes, Duration, Rate, Time};

use self::linux::Linux;
use self::model::Model;
use super::Params;

contract::choice! {
    /// Which round-trip time sample updates RTprop and its age.
    pub enum Refresh {
        /// Only a lower one. RTprop then expires while a standing queue has a constant length.
        Lower = "lower",
        /// Also an equal one [BBR00 §4.1.2.3].
        Equal = "equal",
    }
}

contract::choice! {
    /// Whose rules apply where the draft and Linux differ.
    pub enum Variant {
        /// The rules of the draft.
        Draft = "draft",
        /// The rules of Linux.
        Linux = "linux",
    }
}

/// The states [BBR00 §3.4.1].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// The rate doubles each round.
    Startup,
    /// Drains the queue of Startup.
    Drain,
    /// Cycles of eight phases around the rate of the bottleneck.
    ProbeBw,
    /// A minimum of data in flight, to measure the round-trip time without a queue.
    ProbeRtt,
}

/// The congestion controller BBR, which needs no support of the receiver.
#[derive(Clone, Debug)]
pub struct Bbr {
    params: Params,
    segment: f64,
    /// Bytes on the wire for a byte of payload.
    overhead: f64,
    /// Pacing rate over gain times rate of the bottleneck.
    margin: f64,
    initial: f64,
    model: Model,
    state: State,
    pacing_gain: f64,
    cwnd_gain: f64,
    /// In bit/s of payload.
    pacing_bps: f64,
    /// In bytes of payload.
    window: f64,
    /// The window before a recovery or a probe of the round-trip time.
    prior_window: f64,
    recovering: bool,
    /// A recovery has started since the last acknowledgement.
    entering: bool,
    /// In the first round of a recovery.
    conserving: bool,
    /// Payload declared lost since the last acknowledgement.
    lost: f64,
    cycle_at: Time,
    cycle_index: usize,
    probe_done_at: Option<Time>,
    probe_round_done: bool,
    idle_restart: bool,
    /// With variant = "linux" only.
    linux: Option<Box<Linux>>,
}

impl Bbr {
    /// The controller, with its parameters.
    pub fn new(params: &Params, setup: &Setup) -> Self {
        let segment = setup.segment.as_f64();
        let initial = setup.initial_window.as_f64().max(segment);
        let margin = 1.0 - params.pacing_margin;
        // BBRInit, BBRInitPacingRate: BBR.pacing_gain·InitialCwnd/1 ms                     [BBR00 §4.3.1, §4.2.1]
        Self {
            params: params.clone(),
            segment,
            overhead: (segment + setup.header.as_f64()) / segment,
            margin,
            initial,
            model: Model::new(params),
            state: State::Startup,
            pacing_gain: params.high_gain,
            cwnd_gain: params.high_gain,
            pacing_bps: margin * params.high_gain * initial * 8.0 / 1e-3,
            window: initial,
            prior_window: 0.0,
            recovering: false,
            entering: false,
            conserving: false,
            lost: 0.0,
            cycle_at: Time::ZERO,
            cycle_index: 0,
            probe_done_at: None,
            probe_round_done: false,
            idle_restart: false,
            linux: (params.variant == Variant::Linux).then(|| Box::new(Linux::new(segment))),
        }
    }

    /// The current state.
    pub fn state(&self) -> State {
        self.state
    }

    /// The bottleneck bandwidth of the model, in bit/s of payload.
    pub fn btlbw(&self) -> f64 {
        self.model.btlbw()
    }

    /// The round-trip time without a queue in the model; `None` before the first sample.
    pub fn rtprop(&self) -> Option<Duration> {
        self.model.rtprop
    }

    /// Gain of the pacing rate.
    pub fn pacing_gain(&self) -> f64 {
        self.pacing_gain
    }

    // ---- data in flight

    fn quantum(&self) -> f64 {
        // BBRSetSendQuantum                                                                [BBR00 §4.2.2]
        if self.pacing_bps < 1.2e6 {
            self.segment
        } else if self.pacing_bps < 24e6 {
            2.0 * self.segment
        } else {
            (self.pacing_bps / 8.0 * 1e-3).min(65536.0)
        }
    }

    /// Whether a policer was found.
    fn is_policed(&self) -> bool {
        self.linux.as_ref().is_some_and(|linux| linux.policed)
    }

    /// The bandwidth in use, in bit/s of payload: BtlBw, or the rate of a policer [LINUX: bbr_bw].
    fn bandwidth(&self) -> f64 {
        match &self.linux {
            Some(linux) if linux.policed => linux.policed_bps,
            _ => self.model.btlbw(),
        }
    }

    /// BBRInflight: `gain` bandwidth-delay products, plus data in the queues of the hosts [BBR00 §4.2.3.2].
    fn inflight(&self, gain: f64) -> f64 {
        match (self.model.rtprop, &self.linux) {
            (None, _) => self.initial,
            (Some(rtprop), Some(linux)) => {
                let bdp = linux.bdp(self.model.btlbw(), rtprop.as_secs_f64(), gain);
                linux.budget(bdp, self.pacing_bps, self.probes()) as f64 * self.segment
            }
            (Some(rtprop), None) => {
                let bdp = self.model.btlbw() / 8.0 * rtprop.as_secs_f64();
                gain * bdp + 3.0 * self.quantum()
            }
        }
    }

    /// Whether this is the phase that probes for more bandwidth.
    fn probes(&self) -> bool {
        self.state == State::ProbeBw && self.cycle_index == 0
    }

    /// The window that is aimed at [BBR00 §4.2.3.2; LINUX: bbr_set_cwnd].
    fn target(&self) -> f64 {
        match (&self.linux, self.model.rtprop) {
            (Some(linux), Some(rtprop)) => {
                let bps = self.bandwidth();
                let segments = linux.bdp(bps, rtprop.as_secs_f64(), self.cwnd_gain)
                    + linux.aggregation(bps, self.model.filled);
                linux.budget(segments, self.pacing_bps, self.probes()) as f64 * self.segment
            }
            _ => self.inflight(self.cwnd_gain),
        }
    }

    /// The data in flight that a state compares with its target; in Linux those at the next departure.
    fn in_network(&self, in_flight: Bytes, now: Time) -> f64 {
        match &self.linux {
            Some(linux) => {
                let pacing = (self.pacing_gain, self.pacing_bps);
                let segments =
                    linux.in_flight_at_departure(in_flight.as_f64(), self.bandwidth(), pacing, now);
                segments as f64 * self.segment
            }
            None => in_flight.as_f64(),
        }
    }

    fn min_window(&self) -> f64 {
        self.params.min_pipe * self.segment
    }

    /// BBRSaveCwnd [BBR00 §4.2.3.4].
    fn save_window(&mut self) {
        let good = !self.recovering && self.state != State::ProbeRtt;
        self.prior_window = if good { self.window } else { self.prior_window.max(self.window) };
    }

    /// BBRRestoreCwnd [BBR00 §4.2.3.4].
    fn restore_window(&mut self) {
        self.window = self.window.max(self.prior_window);
    }

    // ---- states

    fn enter(&mut self, state: State, pacing_gain: f64, cwnd_gain: f64, cx: &mut Cx<'_>) {
        self.state = state;
        self.pacing_gain = pacing_gain;
        self.cwnd_gain = cwnd_gain;
        cx.event("state", f64::from(state as u8));
    }

    fn enter_probe_bw(&mut self, cx: &mut Cx<'_>) {
        self.enter(State::ProbeBw, 1.0, self.params.cwnd_gain, cx);
        // BBR.cycle_index = BBRGainCycleLen − 1 − random_int_in_range(0..6), then one on   [BBR00 §4.3.4.3]
        self.cycle_index = PHASES - 1 - cx.random().below(PHASES as u64 - 1) as usize;
        self.advance_cycle(cx.now());
    }

    /// BBRAdvanceCyclePhase [BBR00 §4.3.4.3].
    fn advance_cycle(&mut self, now: Time) {
        self.cycle_at = now;
        self.cycle_index = (self.cycle_index + 1) % PHASES;
        self.pacing_gain = match self.cycle_index {
            _ if self.is_policed() => 1.0,
            0 => self.params.probe_gain,
            1 => self.params.drain_gain,
            _ => 1.0,
        };
    }

    /// BBRCheckCyclePhase, BBRIsNextCyclePhase [BBR00 §4.3.4.3].
    fn check_cycle(&mut self, delivery: &Delivery, now: Time) {
        if self.state != State::ProbeBw {
            return;
        }
        let rtprop = self.model.rtprop.unwrap_or(Duration::ZERO);
        let full_length = now.saturating_since(self.cycle_at) > rtprop;
        let before = self.in_network(delivery.in_flight_before, now);
        let next = match self.cycle_index {
            _ if self.is_policed() => full_length,
            0 => full_length && (self.lost > 0.0 || before >= self.inflight(self.pacing_gain)),
            1 => full_length || before <= self.inflight(1.0),
            _ => full_length,
        };
        if next {
            self.advance_cycle(now);
        }
    }

    /// BBRCheckDrain [BBR00 §4.3.3].
    fn check_drain(&mut self, delivery: &Delivery, cx: &mut Cx<'_>) {
        if self.state == State::Startup && self.model.filled {
            // slow pacing, the same window
            self.enter(State::Drain, 1.0 / self.params.high_gain, self.params.high_gain, cx);
        }
        if self.state == State::Drain && self.in_network(delivery.in_flight, cx.now()) <= self.inflight(1.0) {
            self.enter_probe_bw(cx);
        }
    }

    /// BBRCheckProbeRTT [BBR00 §4.3.5].
    fn check_probe_rtt(&mut self, delivery: &Delivery, cx: &mut Cx<'_>) {
        if self.state != State::ProbeRtt && self.model.expired && !self.idle_restart {
            self.save_window();
            self.enter(State::ProbeRtt, 1.0, 1.0, cx);
            self.probe_done_at = None;
        }
        if self.state == State::ProbeRtt {
            self.handle_probe_rtt(delivery, cx);
        }
        self.idle_restart = false;
    }

    /// BBRHandleProbeRTT [BBR00 §4.3.5].
    fn handle_probe_rtt(&mut self, delivery: &Delivery, cx: &mut Cx<'_>) {
        let (now, in_flight) = (cx.now(), delivery.in_flight.as_u64());
        self.model.rounds.ignore(in_flight);
        let Some(done_at) = self.probe_done_at else {
            if in_flight as f64 <= self.min_window() {
                self.probe_done_at = Some(now + self.params.probe_rtt);
                self.probe_round_done = false;
                self.model.rounds.begin();
            }
            return;
        };
        self.probe_round_done |= self.model.rounds.started();
        if self.probe_round_done && now > done_at {
            self.model.refresh_rtprop(now);
            self.restore_window();
            if self.model.filled {
                self.enter_probe_bw(cx);
            } else {
                self.enter(State::Startup, self.params.high_gain, self.params.high_gain, cx);
            }
        }
    }

    /// The policer and the aggregation of acknowledgements [LINUX: bbr_update_bw, bbr_update_ack_aggregation].
    fn update_linux(&mut self, delivery: &Delivery, app_limited: bool, cx: &mut Cx<'_>) {
        let (now, bps) = (cx.now(), self.bandwidth());
        let Some(linux) = &mut self.linux else { return };
        let probing_bandwidth = self.state == State::ProbeBw;
        let policed = linux.policed;
        let over = linux.sample_policer(&self.model, probing_bandwidth, self.lost > 0.0, app_limited, now);
        if linux.policed && !policed {
            self.pacing_gain = 1.0;
        }
        linux.update_aggregation(delivery, &self.model, self.window, bps, now);
        if over {
            self.enter_probe_bw(cx);
        }
    }

    // ---- rate and window

    /// BBRSetPacingRateWithGain [BBR00 §4.2.1].
    fn set_rate(&mut self, gain: f64) {
        let rate = self.margin * gain * self.bandwidth();
        if self.model.filled || rate > self.pacing_bps {
            self.pacing_bps = rate;
        }
    }

    /// BBRSetCwnd [BBR00 §4.2.3.6].
    fn set_window(&mut self, delivery: &Delivery) {
        let delivered = delivery.bytes.as_f64();
        let in_flight = delivery.in_flight.as_f64();
        // BBRModulateCwndForRecovery                                                       [BBR00 §4.2.3.4]
        if self.lost > 0.0 {
            self.window = (self.window - self.lost).max(self.segment);
        }
        if self.entering {
            // at least one segment for the retransmission
            self.window = in_flight + delivered.max(self.segment);
            self.conserving = true;
            self.model.rounds.begin();
        } else if self.model.rounds.started() {
            self.conserving = false;
        }
        if self.recovering && !delivery.recovering {
            self.recovering = false;
            self.conserving = false;
            self.restore_window();
        }
        (self.lost, self.entering) = (0.0, false);
        if self.conserving {
            self.window = self.window.max(in_flight + delivered);
        } else {
            let target = self.target();
            if self.model.filled {
                self.window = (self.window + delivered).min(target);
            } else if self.window < target || delivery.total.as_f64() < self.initial {
                self.window += delivered;
            }
            self.window = self.window.max(self.min_window());
        }
        // BBRModulateCwndForProbeRTT                                                       [BBR00 §4.2.3.5]
        if self.state == State::ProbeRtt {
            self.window = self.window.min(self.min_window());
        }
    }
}

impl CongestionControl for Bbr {
    /// No effect: BBR uses [`CongestionControl::on_delivery`].
    fn on_ack(&mut self, _ack: &Ack, _cx: &mut Cx<'_>) {}

    fn samples_delivery(&self) -> bool {
        true
    }

    /// BBRUpdateOnACK [BBR00 §3.5.2], with the samples of [DRE00].
    fn on_delivery(&mut self, delivery: &Delivery, cx: &mut Cx<'_>) {
        let now = cx.now();
        let first_rtt = self.model.rtprop.is_none().then_some(delivery.rtt).flatten();
        let app_limited = self.model.update_rate(delivery);
        self.update_linux(delivery, app_limited, cx);
        self.check_cycle(delivery, now);
        self.model.check_full_pipe(app_limited);
        self.check_drain(delivery, cx);
        self.model.update_rtprop(delivery.rtt, now);
        self.check_probe_rtt(delivery, cx);
        if let Some(rtt) = first_rtt
            && rtt > Duration::ZERO
        {
            // pacing_gain·InitialCwnd/SRTT                                                 [BBR00 §4.2.1]
            self.pacing_bps = self.margin * self.pacing_gain * self.initial * 8.0 / rtt.as_secs_f64();
        }
        self.set_rate(self.pacing_gain);
        self.set_window(delivery);
        if cx.probing() {
            cx.probe("btlbw", self.model.btlbw());
            cx.probe("rtprop", self.model.rtprop.map_or(0.0, Duration::as_secs_f64));
            cx.probe("pacing_rate", self.pacing_bps * self.overhead);
        }
    }

    fn on_congestion(&mut self, event: &Congestion, cx: &mut Cx<'_>) {
        match event.cause {
            Cause::Timeout => {
                // one segment, then growth as usual                                        [BBR00 §4.2.3.4]
                self.save_window();
                self.window = self.segment;
                self.recovering = true;
                (self.lost, self.entering, self.conserving) = (0.0, false, false);
                if let Some(linux) = &mut self.linux {
                    // the end of a round with losses; the pipe is to be filled again [LINUX: bbr_set_state]
                    linux.note_loss(event.bytes.as_f64());
                    self.model.restart_growth();
                    let probing_bandwidth = self.state == State::ProbeBw;
                    if linux.sample_policer(&self.model, probing_bandwidth, true, false, cx.now()) {
                        self.enter_probe_bw(cx);
                    }
                }
            }
            Cause::Loss => {
                self.lost += event.bytes.as_f64();
                if let Some(linux) = &mut self.linux {
                    linux.note_loss(event.bytes.as_f64());
                }
                if event.first {
                    self.save_window();
                    self.entering = true;
                    self.recovering = true;
                }
            }
            // version 1 does not react to marks
            Cause::Mark | Cause::Refused => {}
        }
    }

    fn allowance(&self) -> Allowance {
        let rate = Rate::from_bps_f64((self.pacing_bps * self.overhead).max(1.0));
        Allowance { window: Bytes::new(self.window.max(self.segment) as u64), rate }
    }

    /// BBRHandleRestartFromIdle [BBR00 §4.3.4.4].
    fn on_sent(&mut self, sent: &Sent, cx: &mut Cx<'_>) {
        let restarts = sent.app_limited && sent.in_flight <= sent.bytes;
        self.idle_restart |= restarts;
        if let Some(linux) = &mut self.linux {
            linux.on_sent(sent.bytes.as_f64(), self.pacing_bps, cx.now());
            if restarts {
                linux.restart_epoch(cx.now());
            }
        }
    }

    /// Paces at exactly BtlBw before the first packet, with the current window [BBR00 §4.3.4.4].
    fn on_idle(&mut self, _idle: &Idle, _cx: &mut Cx<'_>) {
        if self.state == State::ProbeBw {
            self.set_rate(1.0);
        }
    }

    /// Ends a spurious recovery like another one, with the window before it [BBR00 §4.2.3.4].
    fn on_spurious(&mut self, cx: &mut Cx<'_>) {
        if let Some(linux) = &mut self.linux {
            self.model.forget_growth();
            linux.forget_policer(self.model.rounds.delivered() as f64, cx.now());
        }
        self.recovering = false;
        self.conserving = false;
        (self.lost, self.entering) = (0.0, false);
        self.restore_window();
    }
}

/// Phases of a cycle [BBR00 §4.3.4.1].
const PHASES: usize = 8;
