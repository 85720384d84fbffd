//! BBRv3's cycle of bandwidth probes: DOWN, CRUISE, REFILL, UP [BBR06 §5.3.3].

use contract::Cx;
use units::{Duration, Time};

use super::model::Sample;
use super::{Bbr3, State};

/// What the acknowledgements of this round show of a probe for bandwidth [BBR06 §2.14: ack_phase].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum AckPhase {
    /// Nothing.
    #[default]
    Init,
    /// The pipe is being filled.
    Refilling,
    /// The data in flight begin to rise.
    ProbeStarting,
    /// The probe.
    ProbeFeedback,
    /// The end of the probe, which is over.
    ProbeStopping,
}

/// The state of the cycle [BBR06 §2.14].
#[derive(Clone, Debug)]
pub(super) struct Cycle {
    ack_phase: AckPhase,
    /// Whether the samples come from a probe.
    pub(super) is_probe_sample: bool,
    /// bw_probe_up_acked.
    up_acked: f64,
    /// probe_up_acked_per_inc.
    acked_per_inc: f64,
    /// bw_probe_up_rounds.
    up_rounds: u32,
    rounds_since_probe_up: u64,
    /// bw_probe_wait.
    wait: Duration,
    /// cycle_stamp.
    stamp: Time,
    /// The last probe lost too much.
    pub(super) prev_probe_too_high: bool,
    /// The last probe stopped early, where the one before it had lost too much.
    prev_probe_precautionary: bool,
}

impl Default for Cycle {
    /// The state before the first cycle [BBR06 §5.2.1].
    fn default() -> Self {
        Self {
            ack_phase: AckPhase::Init,
            is_probe_sample: false,
            up_acked: 0.0,
            acked_per_inc: f64::INFINITY,
            up_rounds: 0,
            rounds_since_probe_up: 0,
            wait: Duration::ZERO,
            stamp: Time::ZERO,
            prev_probe_too_high: false,
            prev_probe_precautionary: false,
        }
    }
}

impl Cycle {
    /// A round has begun.
    pub(super) fn count_round(&mut self) {
        self.rounds_since_probe_up += 1;
    }

    /// A probe for bandwidth is over, though its last acknowledgements may be to come.
    pub(super) fn stop(&mut self) {
        self.ack_phase = AckPhase::ProbeStopping;
    }
}

impl Bbr3 {
    /// IsInAProbeBWState [BBR06 §5.3.3.9].
    pub(super) fn is_in_probe_bw(&self) -> bool {
        matches!(
            self.state,
            State::ProbeBwDown | State::ProbeBwCruise | State::ProbeBwRefill | State::ProbeBwUp
        )
    }

    /// IsProbingBW [BBR06 §5.3.3.9].
    pub(super) fn is_probing_bw(&self) -> bool {
        matches!(self.state, State::Startup | State::ProbeBwRefill | State::ProbeBwUp)
    }

    // ---- the states

    /// StartProbeBW_DOWN [BBR06 §5.3.3.9].
    pub(super) fn start_down(&mut self, cx: &mut Cx<'_>) {
        self.model.reset_congestion_signals();
        self.cycle.acked_per_inc = f64::INFINITY;
        // PickProbeWait                                                                       [BBR06 §5.3.3.8.3]
        self.cycle.rounds_since_probe_up = cx.random().below(2);
        let random = self.params.probe_wait_random.scaled(cx.random().unit());
        self.cycle.wait = self.params.probe_wait + random;
        self.cycle.stamp = cx.now();
        self.cycle.stop();
        self.model.rounds.begin();
        self.enter(State::ProbeBwDown, cx);
    }

    /// StartProbeBW_REFILL [BBR06 §5.3.3.9].
    pub(super) fn start_refill(&mut self, cx: &mut Cx<'_>) {
        self.model.reset_shortterm();
        (self.cycle.up_rounds, self.cycle.up_acked) = (0, 0.0);
        self.cycle.prev_probe_precautionary = false;
        self.cycle.ack_phase = AckPhase::Refilling;
        self.model.rounds.begin();
        self.enter(State::ProbeBwRefill, cx);
    }

    /// StartProbeBW_UP [BBR06 §5.3.3.9].
    fn start_up(&mut self, sample: &Sample, cx: &mut Cx<'_>) {
        self.cycle.ack_phase = AckPhase::ProbeStarting;
        self.model.rounds.begin();
        self.model.reset_full_bw(sample.delivery_rate());
        self.enter(State::ProbeBwUp, cx);
        self.raise_slope();
    }

    // ---- their order

    /// UpdateProbeBWCyclePhase [BBR06 §5.3.3.9].
    pub(super) fn update_cycle(&mut self, sample: &Sample, cx: &mut Cx<'_>) {
        if !self.model.full_bw_reached || self.adapt_long_term_model(sample, cx) {
            return;
        }
        let state = self.state;
        match state {
            State::ProbeBwDown | State::ProbeBwCruise if self.is_time_to_probe_bw(cx.now()) => {
                self.start_refill(cx);
            }
            State::ProbeBwDown if self.is_time_to_cruise(sample) => self.enter(State::ProbeBwCruise, cx),
            State::ProbeBwRefill if self.model.rounds.started() => {
                self.cycle.is_probe_sample = true;
                self.start_up(sample, cx);
            }
            State::ProbeBwUp if self.is_time_to_go_down(sample) => {
                // no high loss yet
                self.cycle.prev_probe_too_high = false;
                self.start_down(cx);
            }
            _ => {}
        }
    }

    /// IsTimeToProbeBW, IsRenoCoexistenceProbeTime, HasElapsedInPhase [BBR06 §5.3.3.8.3, §5.3.3.9].
    fn is_time_to_probe_bw(&self, now: Time) -> bool {
        let reno_rounds = self.target_inflight() / self.segment;
        now > self.cycle.stamp + self.cycle.wait
            || self.cycle.rounds_since_probe_up as f64 >= reno_rounds.min(f64::from(self.params.probe_rounds))
    }

    /// IsTimeToCruise [BBR06 §5.3.3.9].
    fn is_time_to_cruise(&self, sample: &Sample) -> bool {
        sample.in_flight <= self.inflight_with_headroom()
            && sample.in_flight <= self.inflight(self.model.max_bw(), 1.0)
    }

    /// IsTimeToGoDown [BBR06 §5.3.3.9].
    fn is_time_to_go_down(&mut self, sample: &Sample) -> bool {
        let longterm = self.model.inflight_longterm;
        if self.cycle.prev_probe_too_high && sample.in_flight >= longterm {
            self.cycle.prev_probe_precautionary = true;
            return true;
        }
        if self.is_cwnd_limited() && self.cwnd >= longterm {
            // the rate is limited by inflight_longterm
            self.model.reset_full_bw(sample.delivery_rate());
            return false;
        }
        self.model.full_bw_now
    }

    // ---- the long-term model

    /// InflightWithHeadroom [BBR06 §5.3.3.9].
    pub(super) fn inflight_with_headroom(&self) -> f64 {
        let longterm = self.model.inflight_longterm;
        if longterm == f64::INFINITY {
            return f64::INFINITY;
        }
        let headroom = self.segment.max(self.params.headroom * longterm);
        (longterm - headroom).max(self.min_pipe_cwnd())
    }

    /// RaiseInflightLongtermSlope [BBR06 §5.3.3.9].
    fn raise_slope(&mut self) {
        let growth_this_round = f64::from(1u32 << self.cycle.up_rounds);
        self.cycle.up_rounds = (self.cycle.up_rounds + 1).min(30);
        self.cycle.acked_per_inc = (self.cwnd / growth_this_round).max(self.segment);
    }

    /// ProbeInflightLongtermUpward [BBR06 §5.3.3.9].
    fn raise_inflight_longterm(&mut self, sample: &Sample) {
        if !self.is_cwnd_limited() || self.cwnd < self.model.inflight_longterm {
            return;
        }
        self.cycle.up_acked += sample.newly_acked;
        let delta = (self.cycle.up_acked / self.cycle.acked_per_inc).floor();
        if delta >= 1.0 {
            self.cycle.up_acked -= delta * self.cycle.acked_per_inc;
            self.model.inflight_longterm += delta * self.segment;
        }
        if self.model.rounds.started() {
            self.raise_slope();
        }
    }

    /// AdaptLongTermModel. Returns whether it has changed the state [BBR06 §5.3.3.9].
    fn adapt_long_term_model(&mut self, sample: &Sample, cx: &mut Cx<'_>) -> bool {
        let round_start = self.model.rounds.started();
        if self.cycle.ack_phase == AckPhase::ProbeStarting && round_start {
            self.cycle.ack_phase = AckPhase::ProbeFeedback;
        }
        if self.cycle.ack_phase == AckPhase::ProbeStopping && round_start {
            self.cycle.is_probe_sample = false;
            self.cycle.ack_phase = AckPhase::Init;
            if self.is_in_probe_bw() && !sample.app_limited {
                self.model.advance_max_bw_filter();
            }
            // the precautionary probe lost little: the next one need not be cautious
            if self.is_in_probe_bw() && self.cycle.prev_probe_precautionary && !self.cycle.prev_probe_too_high
            {
                self.start_refill(cx);
                return true;
            }
        }
        if self.is_inflight_too_high(sample.lost, sample.tx_in_flight)
            || self.model.inflight_longterm == f64::INFINITY
        {
            return false;
        }
        self.model.inflight_longterm = self.model.inflight_longterm.max(sample.tx_in_flight);
        if self.state == State::ProbeBwUp {
            self.raise_inflight_longterm(sample);
        }
        false
    }
}
