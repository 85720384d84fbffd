//! H-TCP's window, in whole segments, with the fixed-point numbers and the clock ticks of Linux.

use contract::{Ack, Cut, Cx, WindowUpdate};
use units::{Duration, Segments, Time};

use super::Params;
use crate::shared::LossState;

/// H-TCP. Times are in ticks of the kernel's clock (jiffies), α and β in parts of [`ONE`].
#[derive(Clone, Debug)]
pub struct Htcp {
    rules: Rules,
    /// Segments per round trip, as a multiple of [`ONE`].
    pub(super) alpha: u32,
    /// Share of the window kept, in parts of [`ONE`].
    pub(super) beta: u32,
    /// Whether β can follow the round-trip times at the next congestion event.
    modeswitch: bool,
    /// Segments that the present acknowledgement counts for; one after it was counted.
    pkts_acked: u32,
    /// Segments acknowledged since the window last grew [Linux: snd_cwnd_cnt].
    cwnd_cnt: u32,
    /// The window when it could last grow.
    window: u32,
    /// Minimum round-trip time, zero before the first sample; maximum, outside of recoveries.
    min_rtt: u32,
    pub(super) max_rtt: u32,
    /// End of the last congestion event, or its beginning while it lasts; at first, the time of the first transmission.
    last_cong: Option<u32>,
    throughput: Throughput,
    loss: LossState,
}

/// Estimate of the throughput, in segments per second.
#[derive(Clone, Copy, Debug, Default)]
struct Throughput {
    /// Segments since the last estimate.
    packets: u32,
    /// Time of the last estimate.
    since: Option<u32>,
    /// Smoothed estimate; its maximum since the last congestion event, and before that.
    present: u32,
    max: u32,
    old_max: u32,
}

/// The parameters, in ticks and fixed point.
#[derive(Clone, Copy, Debug)]
struct Rules {
    hz: u32,
    low_speed: u32,
    linear: u32,
    square_divisor: u32,
    /// Eighths of the reference round-trip time in ticks, if the increase is scaled.
    reference: Option<u32>,
    min_ratio: u32,
    max_ratio: u32,
    min_beta: u32,
    max_beta: u32,
    switch_share: Option<f64>,
    adaptive_above: u32,
    max_rtt_step: u32,
    max_rtt_memory: f64,
}

impl Htcp {
    /// The controller, with its parameters.
    pub fn new(params: &Params) -> Self {
        let hz = params.hz;
        let rules = Rules {
            hz,
            low_speed: whole_ticks(params.low_speed, hz),
            linear: params.linear,
            square_divisor: params.square_divisor,
            reference: params.use_rtt_scaling.then(|| whole_ticks(params.reference_rtt * 8, hz)),
            min_ratio: (params.min_rtt_ratio * 8.0) as u32,
            max_ratio: (params.max_rtt_ratio * 8.0) as u32,
            min_beta: (params.min_beta * f64::from(ONE)) as u32,
            max_beta: (params.max_beta * f64::from(ONE)) as u32,
            switch_share: params.use_bandwidth_switch.then_some(params.switch_share),
            adaptive_above: ticks_up(params.adaptive_above, hz),
            max_rtt_step: ticks_up(params.max_rtt_step, hz),
            max_rtt_memory: params.max_rtt_memory,
        };
        Self {
            rules,
            alpha: ONE,
            beta: rules.min_beta,
            modeswitch: false,
            pkts_acked: 1,
            cwnd_cnt: 0,
            window: 0,
            min_rtt: 0,
            max_rtt: 0,
            last_cong: None,
            throughput: Throughput::default(),
            loss: LossState::default(),
        }
    }

    fn ticks(&self, time: Time) -> u32 {
        whole_ticks(time - Time::ZERO, self.rules.hz)
    }

    /// Ticks since the last congestion event.
    fn cong_time(&self, now: u32) -> u32 {
        now.wrapping_sub(self.last_cong.unwrap_or(now))
    }

    /// Takes the samples of an acknowledgement, in any state [Linux: measure_achieved_throughput].
    #[inline]
    fn measure(&mut self, ack: &Ack, now: Time) {
        let now = self.ticks(now);
        if self.last_cong.is_none() {
            self.last_cong = Some(self.ticks(ack.sent_at));
        }
        let reducing = ack.recovering || ack.marked;
        let open = !reducing && !self.loss.is_active();
        if open {
            self.pkts_acked = ack.packets;
        }
        if let Some(rtt) = ack.rtt.map(|rtt| ticks_up(rtt, self.rules.hz)).filter(|rtt| *rtt > 0) {
            self.measure_rtt(rtt, open);
        }
        if self.rules.switch_share.is_some() {
            self.measure_throughput(ack, open, now);
        }
        // the event ends with the state, so that its end is the last acknowledgement of it  [Linux: htcp_state]
        if reducing || self.loss.on_ack(ack) {
            self.last_cong = Some(now);
        }
    }

    fn measure_rtt(&mut self, rtt: u32, open: bool) {
        if self.min_rtt > rtt || self.min_rtt == 0 {
            self.min_rtt = rtt;
        }
        if open {
            self.max_rtt = self.max_rtt.max(self.min_rtt);
            if self.max_rtt < rtt && rtt <= self.max_rtt.saturating_add(self.rules.max_rtt_step) {
                self.max_rtt = rtt;
            }
        }
    }

    fn measure_throughput(&mut self, ack: &Ack, open: bool, now: u32) {
        if !open {
            (self.throughput.packets, self.throughput.since) = (0, Some(now));
            return;
        }
        let just_after = self.min_rtt > 0 && self.cong_time(now) / self.min_rtt <= 3;
        let t = &mut self.throughput;
        t.packets = t.packets.saturating_add(ack.packets);
        // about a window, and at least a round-trip time
        let elapsed = t.since.map(|since| now.wrapping_sub(since));
        let enough = i64::from(t.packets) >= i64::from(self.window) - i64::from((self.alpha / ONE).max(1));
        if !enough || self.min_rtt == 0 || elapsed.is_some_and(|ticks| ticks < self.min_rtt) {
            return;
        }
        // the kernel's first interval begins at zero of its clock, so that the first estimate is nearly zero
        let latest = elapsed
            .map_or(0, |ticks| (u64::from(t.packets) * u64::from(self.rules.hz) / u64::from(ticks)) as u32);
        if just_after {
            (t.present, t.max) = (latest, latest);
        } else {
            t.present = ((3 * u64::from(t.present) + u64::from(latest)) / 4) as u32;
            t.max = t.max.max(t.present);
        }
        (t.packets, t.since) = (0, Some(now));
    }

    /// The share that the next reduction keeps [Linux: htcp_beta_update].
    fn update_beta(&mut self) {
        let Rules { min_beta, max_beta, adaptive_above, switch_share, .. } = self.rules;
        if let Some(share) = switch_share {
            let Throughput { max, old_max, .. } = self.throughput;
            self.throughput.old_max = max;
            if f64::from(max.abs_diff(old_max)) > share * f64::from(old_max) {
                self.beta = min_beta;
                self.modeswitch = false;
                return;
            }
        }
        if self.modeswitch && self.min_rtt > adaptive_above && self.max_rtt > 0 {
            // β = RTT_min/RTT_max, from 0.5 to 0.8                                          [LS08]
            let ratio = u64::from(self.min_rtt) * u64::from(ONE) / u64::from(self.max_rtt);
            self.beta = (ratio as u32).clamp(min_beta, max_beta);
        } else {
            self.beta = min_beta;
            self.modeswitch = true;
        }
    }

    /// The increase [Linux: htcp_alpha_update].
    fn update_alpha(&mut self, now: u32) {
        let Rules { hz, low_speed, linear, square_divisor, reference, min_ratio, max_ratio, .. } = self.rules;
        let mut factor: u32 = 1;
        let elapsed = self.cong_time(now);
        if elapsed > low_speed {
            // 1 + 10·(Δ − Δ_L) + ((Δ − Δ_L)/2)²; the products are of 32 bits, and overflow     [LS04]
            let high_speed_time = elapsed - low_speed;
            let part = high_speed_time / square_divisor;
            factor = 1 + linear.wrapping_mul(high_speed_time).wrapping_add(part.wrapping_mul(part) / hz) / hz;
        }
        if let Some(reference) = reference
            && self.min_rtt > 0
        {
            let scale = (reference / self.min_rtt).max(min_ratio).min(max_ratio);
            factor = ((factor << 3) / scale).max(1);
        }
        // α = 2·(1 − β)·α(Δ)                                                        [LS04]
        self.alpha = (2 * (ONE - self.beta)).wrapping_mul(factor);
        if self.alpha == 0 {
            self.alpha = ONE;
        }
    }
}

impl WindowUpdate for Htcp {
    #[inline]
    fn congestion_avoidance(&mut self, window: Segments, ack: &Ack, cx: &mut Cx<'_>) -> Segments {
        self.measure(ack, cx.now());
        let mut w = window.0 as u32;
        // cwnd += 1 when α·acknowledged ≥ cwnd                                      [Linux: htcp_cong_avoid]
        if u64::from(self.cwnd_cnt) * u64::from(self.alpha) / u64::from(ONE) >= u64::from(w) {
            w += 1;
            self.cwnd_cnt = 0;
            self.update_alpha(self.ticks(cx.now()));
        } else {
            self.cwnd_cnt += self.pkts_acked;
        }
        self.pkts_acked = 1;
        self.window = w;
        Segments(f64::from(w))
    }

    #[inline]
    fn slow_start(&mut self, window: Segments, _: Segments, ack: &Ack, cx: &mut Cx<'_>) -> Option<Segments> {
        self.window = window.0 as u32;
        self.measure(ack, cx.now());
        Some(Segments(window.0 + f64::from(ack.packets)))
    }

    fn ssthresh(&mut self, window: Segments, cut: &Cut, cx: &mut Cx<'_>) -> Segments {
        let now = self.ticks(cx.now());
        self.update_beta();
        self.update_alpha(now);
        // the maximum fades, so that it follows changes of the route               [Linux: htcp_param_update]
        if self.min_rtt > 0 && self.max_rtt > self.min_rtt {
            let above = f64::from(self.max_rtt - self.min_rtt);
            self.max_rtt = self.min_rtt + (above * self.rules.max_rtt_memory) as u32;
        }
        self.last_cong = Some(now);
        self.cwnd_cnt = 0;
        self.loss.on_congestion(cut);
        // ssthresh = max(β·cwnd, 2)                                             [Linux: htcp_recalc_ssthresh]
        let reduced = (window.0 as u64 * u64::from(self.beta) / u64::from(ONE)).max(2);
        self.window = reduced as u32;
        Segments(reduced as f64)
    }

    fn integer_cwnd(&self) -> bool {
        true
    }

    fn counts_excess(&self) -> bool {
        false
    }

    fn pause(&mut self, ack: &Ack, cx: &mut Cx<'_>) {
        self.measure(ack, cx.now());
    }
}

/// Ticks in the whole microseconds of `time`, rounded down.
fn whole_ticks(time: Duration, hz: u32) -> u32 {
    (time.as_nanos() / 1000 * u64::from(hz) / 1_000_000) as u32
}

/// Ticks in the whole microseconds of `time`, rounded up [Linux: usecs_to_jiffies, msecs_to_jiffies].
fn ticks_up(time: Duration, hz: u32) -> u32 {
    (time.as_nanos() / 1000 * u64::from(hz)).div_ceil(1_000_000) as u32
}

/// One, in the fixed point of α and β [Linux: ALPHA_BASE].
pub(super) const ONE: u32 = 1 << 7;
