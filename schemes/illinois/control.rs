//! TCP-Illinois' window as Linux has it (net/ipv4/tcp_illinois.c of 6.1): whole segments and fixed-point numbers.

use contract::Cx;
use units::Duration;

use super::Params;
use crate::shared::linux::{Event, Module, Socket};

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
    /// Segments that the current acknowledgement covers cumulatively, also those that had arrived before; one after it was counted [acked].
    acked: u64,
    /// The round ends when a byte above this is acknowledged [end_seq].
    end: u64,
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
            base_rtt: MAX_RTT,
            max_rtt: 0,
            sum_rtt: 0,
            cnt_rtt: 0,
            rtt_above: false,
            rtt_low: 0,
            acked: 1,
            end: 0,
        }
    }

    /// α and β for the next round [update_params].
    fn update_params(&mut self, socket: &Socket) {
        let Rules { win_thresh, base_alpha, max_beta, .. } = self.rules;
        if socket.cwnd < win_thresh {
            (self.alpha, self.beta) = (base_alpha, max_beta);
        } else if let Some(average) = self.sum_rtt.checked_div(self.cnt_rtt) {
            let delay = average - self.base_rtt;
            let max_delay = self.max_rtt - self.base_rtt;
            self.alpha = self.alpha_at(delay, max_delay);
            self.beta = self.rules.beta_at(delay, max_delay);
        }
        self.begin_round(socket);
    }

    /// [rtt_reset]
    fn begin_round(&mut self, socket: &Socket) {
        self.end = socket.nxt;
        (self.sum_rtt, self.cnt_rtt) = (0, 0);
    }

    /// α at an average and a maximum queueing delay [alpha].
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
    /// β at an average and a maximum queueing delay [beta].
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

impl Module for Illinois {
    const NEWEST_RTT: bool = true;

    fn cong_avoid(&mut self, socket: &mut Socket, acked: u64, cx: &mut Cx<'_>) {
        if socket.una > self.end {
            self.update_params(socket);
            if cx.probing() {
                cx.probe("increase", self.alpha as f64 / ALPHA_SCALE as f64);
                cx.probe("decrease", self.beta as f64 / BETA_SCALE as f64);
            }
        }
        if !socket.cwnd_limited {
            return;
        }
        if socket.in_slow_start() {
            socket.slow_start(acked);
            return;
        }
        // cwnd += α per cwnd segments acknowledged
        socket.credit.add(std::mem::replace(&mut self.acked, 1));
        let delta = socket.credit.acked() * self.alpha / ALPHA_SCALE;
        if delta >= socket.cwnd {
            socket.cwnd += delta / socket.cwnd;
            socket.credit.clear();
        }
    }

    /// ssthresh = max(cwnd − β·cwnd, 2) [tcp_illinois_ssthresh]
    fn ssthresh(&mut self, socket: &Socket) -> u64 {
        socket.cwnd.saturating_sub(socket.cwnd * self.beta / BETA_SCALE).max(2)
    }

    fn in_ack_event(&mut self, socket: &mut Socket, advance: u64, _cx: &mut Cx<'_>) {
        self.acked = advance.div_ceil(socket.mss);
    }

    /// [tcp_illinois_acked]
    fn pkts_acked(&mut self, _socket: &mut Socket, rtt: Option<Duration>, _cx: &mut Cx<'_>) {
        let Some(rtt) = rtt else { return };
        let rtt = (rtt.as_nanos() / 1000).min(MAX_RTT);
        self.base_rtt = self.base_rtt.min(rtt);
        self.max_rtt = self.max_rtt.max(rtt);
        self.cnt_rtt += 1;
        self.sum_rtt += rtt;
    }

    fn event(&mut self, socket: &mut Socket, event: Event) {
        // Reno until the next round [tcp_illinois_state]
        if event == Event::Loss {
            (self.alpha, self.beta) = (self.rules.base_alpha, self.rules.max_beta);
            (self.rtt_low, self.rtt_above) = (0, false);
            self.begin_round(socket);
        }
    }
}

/// A share of a delay, in whole microseconds.
fn share(delay: u64, share: f64) -> u64 {
    (delay as f64 * share) as u64
}

/// One, in the fixed point of α [ALPHA_SCALE].
pub(super) const ALPHA_SCALE: u64 = 1 << 7;
/// One, in the fixed point of β [BETA_SCALE].
pub(super) const BETA_SCALE: u64 = 1 << 6;
/// Maximum round-trip time that counts, in microseconds: 3.355 s [Linux: RTT_MAX].
const MAX_RTT: u64 = u32::MAX as u64 / (10 * ALPHA_SCALE);
