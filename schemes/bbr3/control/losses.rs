//! BBRv3's response to losses and marks, and its undo [BBR06 §5.3.1.3, §5.5.10, §5.5.11].

use contract::{Cause, Cx, Lost};

use super::model::Sample;
use super::{Bbr3, State};

/// What is restored when a loss recovery was spurious [BBR06 §2.15].
#[derive(Clone, Debug, Default)]
pub(super) struct Undo {
    /// The state that a loss ended.
    state: Option<State>,
    bw_shortterm: f64,
    inflight_shortterm: f64,
    inflight_longterm: f64,
}

impl Bbr3 {
    /// IsInflightTooHigh, for `lost` bytes since a packet was sent that made `tx_in_flight` in flight
    /// [BBR06 §5.5.10.2].
    pub(super) fn is_inflight_too_high(&self, lost: f64, tx_in_flight: f64) -> bool {
        lost > tx_in_flight * self.params.loss_thresh || (lost > 0.0 && !self.selective)
    }

    /// CheckStartupHighLoss [BBR06 §5.3.1.3].
    pub(super) fn check_startup_high_loss(&mut self, sample: &Sample) {
        let in_fast_recovery = self.recovery == Some(Cause::Loss);
        let gaps = self.gaps;
        if self.model.loss_round_start {
            self.gaps = 0;
        }
        let lossy = if self.selective {
            // for a round at least, at more than the tolerable rate, with several gaps
            self.model.loss_round_start
                && gaps >= self.params.full_losses
                && self.is_inflight_too_high(sample.lost, sample.tx_in_flight)
        } else {
            gaps > 0
        };
        if self.state == State::Startup && in_fast_recovery && lossy {
            self.leave_startup();
        }
    }

    /// Losses or marks show that the pipe is full [BBR06 §5.3.1.3].
    fn leave_startup(&mut self) {
        self.undo.state = Some(State::Startup);
        (self.model.full_bw_now, self.model.full_bw_reached) = (true, true);
        // inflight_longterm = max(bdp, inflight_latest)
        let bdp = self.bdp_multiple(self.model.bw, 1.0);
        self.model.inflight_longterm = bdp.max(self.model.inflight_latest);
    }

    /// UpdateCongestionSignals and AdaptLowerBoundsFromCongestion [BBR06 §5.5.10.3].
    pub(super) fn update_congestion_signals(&mut self, sample: &Sample) {
        self.model.update_max_bw(sample);
        if self.model.loss_round_start {
            if self.model.loss_in_round && !self.is_probing_bw() {
                self.model.lower_bounds(self.params.beta, self.cwnd);
            }
            self.model.loss_in_round = false;
        }
    }

    /// NoteLoss [BBR06 §5.5.10.2].
    fn note_loss(&mut self) {
        if self.model.note_loss() {
            self.save_state_upon_loss();
        }
    }

    /// HandleLostPacket [BBR06 §5.5.10.2].
    pub(super) fn handle_lost_packet(&mut self, lost: &Lost, cx: &mut Cx<'_>) {
        self.selective = lost.selective;
        self.gaps += u32::from(!lost.adjoins);
        self.model.rounds.set_delivered(lost.total);
        self.note_loss();
        let (total, tx_in_flight) = (lost.lost.as_f64(), lost.in_flight_when_sent.as_f64());
        if self.cycle.is_probe_sample && self.is_inflight_too_high(total, tx_in_flight) {
            let at_loss = self.inflight_at_loss(lost.bytes.as_f64(), total, tx_in_flight);
            self.handle_inflight_too_high(at_loss, lost.app_limited, cx);
        }
    }

    /// InflightAtLoss: the data in flight at which losses passed the threshold, within a packet of `size` bytes
    /// [BBR06 §5.5.10.2].
    fn inflight_at_loss(&self, size: f64, lost: f64, tx_in_flight: f64) -> f64 {
        let (inflight_prev, lost_prev) = (tx_in_flight - size, lost - size);
        let thresh = self.params.loss_thresh;
        // lost_prefix = (LossThresh·inflight_prev − lost_prev)/(1 − LossThresh)
        let lost_prefix = (thresh * inflight_prev - lost_prev) / (1.0 - thresh);
        inflight_prev + lost_prefix
    }

    /// HandleInflightTooHigh [BBR06 §5.5.10.2].
    fn handle_inflight_too_high(&mut self, tx_in_flight: f64, app_limited: bool, cx: &mut Cx<'_>) {
        self.cycle.prev_probe_too_high = true;
        // one response per probe
        self.cycle.is_probe_sample = false;
        if !app_limited {
            // inflight_longterm = max(tx_in_flight, TargetInflight()·Beta)
            self.model.inflight_longterm = tx_in_flight.max(self.target_inflight() * self.params.beta);
        }
        if self.state == State::ProbeBwUp {
            self.undo.state = Some(State::ProbeBwUp);
            self.start_down(cx);
        }
    }

    /// A congestion mark, with `in_flight` bytes in flight: the draft asks for a response as to congestion and leaves
    /// it open which [BBR06 §3.7].
    ///
    /// our choice: the response to a loss, and in a probe for bandwidth to a loss rate above the threshold, which
    /// tolerates noise: a mark is none. A mark ends Startup, as it ends slow start [RFC3168 §6.1.2].
    pub(super) fn on_mark(&mut self, in_flight: f64, cx: &mut Cx<'_>) {
        self.note_loss();
        if self.state == State::Startup {
            self.leave_startup();
        } else if self.cycle.is_probe_sample {
            self.handle_inflight_too_high(in_flight, false, cx);
        }
    }

    // ---- recoveries

    /// SaveStateUponLoss [BBR06 §5.5.11.1].
    fn save_state_upon_loss(&mut self) {
        self.save_cwnd();
        self.undo = Undo {
            state: None,
            bw_shortterm: self.model.bw_shortterm,
            inflight_shortterm: self.model.inflight_shortterm,
            inflight_longterm: self.model.inflight_longterm,
        };
    }

    /// OnEnterFastRecovery, and the common part of OnEnterRTO [BBR06 §5.6.4.4]. Called before the lost packets are
    /// reported one by one.
    pub(super) fn on_recovery(&mut self, cause: Cause) {
        self.save_state_upon_loss();
        self.recovery = Some(cause);
        // losses that a tail loss probe has repaired are not reported one by one
        self.note_loss();
    }

    /// The end of a recovery: the window from before it, within the bounds of the model [BBR06 §5.6.4.4].
    pub(super) fn on_recovery_end(&mut self) {
        self.recovery = None;
        self.restore_cwnd();
        self.set_cwnd(0.0, f64::INFINITY);
    }

    /// HandleSpuriousLossDetection [BBR06 §5.5.11.2].
    pub(super) fn handle_spurious_loss(&mut self, cx: &mut Cx<'_>) {
        self.recovery = None;
        self.restore_cwnd();
        self.model.loss_in_round = false;
        self.model.reset_full_bw(0.0);
        self.model.bw_shortterm = self.model.bw_shortterm.max(self.undo.bw_shortterm);
        self.model.inflight_shortterm = self.model.inflight_shortterm.max(self.undo.inflight_shortterm);
        self.model.inflight_longterm = self.model.inflight_longterm.max(self.undo.inflight_longterm);
        match self.undo.state.take() {
            Some(State::Startup) if self.state != State::Startup => {
                self.model.full_bw_reached = false;
                if self.state != State::ProbeRtt {
                    self.enter(State::Startup, cx);
                }
            }
            Some(State::ProbeBwUp) if self.state != State::ProbeBwUp && self.state != State::ProbeRtt => {
                self.start_refill(cx);
            }
            _ => {}
        }
    }
}
