//! TCP-Illinois' window, in whole segments, with the fixed-point numbers of Linux.

use contract::{Ack, Cause, Cut, Cx, WindowUpdate};
use units::{Segments, Time};

use super::Params;
use crate::shared::LossState;

/// TCP-Illinois. Delays are in microseconds, α in parts of [`ALPHA_SCALE`], β in parts of [`BETA_SCALE`].
#[derive(Clone, Debug)]
pub struct Illinois {
    rules: Rules,
    /// Segments added per round trip.
    pub(super) alpha: u64,
    /// Share of the window that a loss takes.
    pub(super) beta: u64,
    /// Minimum and maximum round-trip time.
    base_rtt: u64,
    max_rtt: u64,
    /// Round-trip times of the current round: their sum and their number.
    sum_rtt: u64,
    cnt_rtt: u64,
    /// Whether the delay was above the low threshold, and the rounds below it since.
    rtt_above: bool,
    rtt_low: u32,
    /// Segments acknowledged since the window last grew [Linux: snd_cwnd_cnt].
    cwnd_cnt: u64,
    /// The window when it could last grow.
    window: u64,
    /// Start of the current round, which ends with the first acknowledgement of a segment that was sent from then on.
    round_began: Time,
    /// Data of before a timeout belong to no round.
    loss: LossState,
}

/// The parameters, in fixed point.
#[derive(Clone, Copy, Debug)]
struct Rules {
    win_thresh: u64,
    theta: u32,
    min_alpha: u64,
    max_alpha: u64,
    base_alpha: u64,
    min_beta: u64,
    max_beta: u64,
    alpha_delay: f64,
    low_delay: f64,
    high_delay: f64,
}

impl Illinois {
    /// The controller, with its parameters.
    pub fn new(params: &Params) -> Self {
        let alpha = |value: f64| (value * ALPHA_SCALE as f64) as u64;
        let beta = |value: f64| (value * BETA_SCALE as f64) as u64;
        let rules = Rules {
            win_thresh: u64::from(params.win_thresh),
            theta: params.theta,
            min_alpha: alpha(params.min_alpha),
            max_alpha: alpha(params.max_alpha),
            base_alpha: alpha(params.base_alpha),
            min_beta: beta(params.min_beta),
            max_beta: beta(params.max_beta),
            alpha_delay: params.alpha_delay,
            low_delay: params.low_delay,
            high_delay: params.high_delay,
        };
        Self {
            rules,
            alpha: rules.max_alpha,
            beta: rules.max_beta,
            base_rtt: u64::MAX,
            max_rtt: 0,
            sum_rtt: 0,
            cnt_rtt: 0,
            rtt_above: false,
            rtt_low: 0,
            cwnd_cnt: 0,
            window: 0,
            round_began: Time::ZERO,
            loss: LossState::default(),
        }
    }

    /// Takes the round-trip time of an acknowledgement, in any state [Linux: tcp_illinois_acked].
    #[inline]
    fn measure(&mut self, ack: &Ack) {
        let Some(rtt) = ack.rtt else { return };
        let rtt = (rtt.as_nanos() / 1000).min(MAX_RTT);
        self.base_rtt = self.base_rtt.min(rtt);
        self.max_rtt = self.max_rtt.max(rtt);
        self.cnt_rtt += 1;
        self.sum_rtt += rtt;
    }

    /// Takes an acknowledgement outside of recoveries: at the end of a round, computes α and β
    /// [Linux: tcp_illinois_cong_avoid].
    #[inline]
    fn on_ack(&mut self, ack: &Ack, now: Time) {
        self.measure(ack);
        if self.loss.is_active() {
            self.loss.on_ack(ack);
        } else if ack.sent_at >= self.round_began {
            self.update_params(now);
        }
    }

    /// α and β for the next round [Linux: update_params].
    fn update_params(&mut self, now: Time) {
        let Rules { win_thresh, base_alpha, max_beta, .. } = self.rules;
        if self.window < win_thresh {
            (self.alpha, self.beta) = (base_alpha, max_beta);
        } else if let Some(average) = self.sum_rtt.checked_div(self.cnt_rtt) {
            let delay = average - self.base_rtt;
            let max_delay = self.max_rtt - self.base_rtt;
            self.alpha = self.alpha_at(delay, max_delay);
            self.beta = self.rules.beta_at(delay, max_delay);
        }
        self.begin_round(now);
    }

    fn begin_round(&mut self, now: Time) {
        self.round_began = now;
        (self.sum_rtt, self.cnt_rtt) = (0, 0);
    }

    /// α at an average and a maximum queueing delay [Linux: alpha].
    fn alpha_at(&mut self, delay: u64, max_delay: u64) -> u64 {
        let Rules { theta, min_alpha, max_alpha, alpha_delay, .. } = self.rules;
        let low = share(max_delay, alpha_delay);
        if delay <= low {
            if !self.rtt_above {
                return max_alpha;
            }
            // one round with a small delay is no sign of an empty queue
            self.rtt_low += 1;
            if self.rtt_low < theta {
                return self.alpha;
            }
            (self.rtt_low, self.rtt_above) = (0, false);
            return max_alpha;
        }
        self.rtt_above = true;
        // α = κ₁/(κ₂ + d), which is max_alpha at the low threshold and min_alpha at the maximum delay     [LBS08]
        let (above, range) = (delay - low, max_delay - low);
        range * max_alpha / (range + above * (max_alpha - min_alpha) / min_alpha)
    }
}

impl Rules {
    /// β at an average and a maximum queueing delay [Linux: beta].
    fn beta_at(&self, delay: u64, max_delay: u64) -> u64 {
        let low = share(max_delay, self.low_delay);
        if delay <= low {
            return self.min_beta;
        }
        let high = share(max_delay, self.high_delay);
        if delay >= high || high <= low {
            return self.max_beta;
        }
        // β = κ₃ + κ₄·d, linear between the two thresholds                                       [LBS08]
        (self.min_beta * (high - delay) + self.max_beta * (delay - low)) / (high - low)
    }
}

impl WindowUpdate for Illinois {
    #[inline]
    fn congestion_avoidance(&mut self, window: Segments, ack: &Ack, cx: &mut Cx<'_>) -> Segments {
        let mut w = window.0 as u64;
        self.window = w;
        self.on_ack(ack, cx.now());
        // cwnd += α per cwnd segments acknowledged                           [Linux: tcp_illinois_cong_avoid]
        self.cwnd_cnt += u64::from(ack.packets);
        let delta = self.cwnd_cnt * self.alpha / ALPHA_SCALE;
        if delta >= w {
            w += delta / w;
            self.cwnd_cnt = 0;
        }
        Segments(w as f64)
    }

    #[inline]
    fn slow_start(&mut self, window: Segments, _: Segments, ack: &Ack, cx: &mut Cx<'_>) -> Option<Segments> {
        self.window = window.0 as u64;
        self.on_ack(ack, cx.now());
        Some(Segments(window.0 + f64::from(ack.packets)))
    }

    fn ssthresh(&mut self, window: Segments, cut: &Cut, cx: &mut Cx<'_>) -> Segments {
        // ssthresh = max(cwnd − β·cwnd, 2)                                     [Linux: tcp_illinois_ssthresh]
        let w = window.0 as u64;
        let reduced = w.saturating_sub(w * self.beta / BETA_SCALE).max(2);
        self.cwnd_cnt = 0;
        self.window = reduced;
        self.loss.on_congestion(cut);
        if cut.cause == Cause::Timeout {
            // Reno until the next round                                            [Linux: tcp_illinois_state]
            (self.alpha, self.beta) = (self.rules.base_alpha, self.rules.max_beta);
            (self.rtt_low, self.rtt_above) = (0, false);
            self.begin_round(cx.now());
        }
        Segments(reduced as f64)
    }

    fn integer_cwnd(&self) -> bool {
        true
    }

    fn counts_excess(&self) -> bool {
        false
    }

    /// In recovery only the round-trip time counts; with an application that lacks data, the round can end as well.
    fn pause(&mut self, ack: &Ack, cx: &mut Cx<'_>) {
        if ack.recovering || ack.marked {
            self.measure(ack);
        } else {
            self.on_ack(ack, cx.now());
        }
    }
}

/// A share of a delay, in whole microseconds.
fn share(delay: u64, share: f64) -> u64 {
    (delay as f64 * share) as u64
}

/// One, in the fixed point of α [Linux: ALPHA_SCALE].
pub(super) const ALPHA_SCALE: u64 = 1 << 7;
/// One, in the fixed point of β [Linux: BETA_SCALE].
pub(super) const BETA_SCALE: u64 = 1 << 6;
/// Maximum round-trip time that counts, in microseconds: 3.355 s [Linux: RTT_MAX].
const MAX_RTT: u64 = u32::MAX as u64 / (10 * ALPHA_SCALE);
