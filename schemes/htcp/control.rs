//! H-TCP's window as Linux has it (net/ipv4/tcp_htcp.c of 6.1): whole segments, fixed-point numbers and clock ticks.

use contract::Cx;
use units::{Duration, Time};

use super::Params;
use crate::shared::linux::{Event, Module, Socket};

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
    /// Segments that the current acknowledgement covers cumulatively.
    advance: u32,
    /// Segments that it counts for, outside of recoveries; one after it was counted.
    pkts_acked: u32,
    /// Minimum round-trip time, zero before the first sample; maximum, outside of recoveries.
    min_rtt: u32,
    pub(super) max_rtt: u32,
    /// End of the last congestion event, or its beginning while it lasts; at first, the time of the first transmission.
    last_cong: Option<u32>,
    throughput: Throughput,
    /// What the last congestion event replaced, while it lasts [undo_last_cong, undo_maxRTT, undo_old_maxB].
    before: Option<Before>,
}

/// What a congestion event replaces.
#[derive(Clone, Copy, Debug)]
struct Before {
    last_cong: u32,
    max_rtt: u32,
    old_max: u32,
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
            advance: 0,
            pkts_acked: 1,
            min_rtt: 0,
            max_rtt: 0,
            last_cong: None,
            throughput: Throughput::default(),
            before: None,
        }
    }

    fn ticks(&self, time: Time) -> u32 {
        whole_ticks(time - Time::ZERO, self.rules.hz)
    }

    /// Ticks since the last congestion event.
    fn cong_time(&self, now: u32) -> u32 {
        now.wrapping_sub(self.last_cong.unwrap_or(now))
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

    fn measure_throughput(&mut self, socket: &Socket, now: u32) {
        if socket.repairing {
            (self.throughput.packets, self.throughput.since) = (0, Some(now));
            return;
        }
        let just_after = self.min_rtt > 0 && self.cong_time(now) / self.min_rtt <= 3;
        let t = &mut self.throughput;
        t.packets = t.packets.saturating_add(self.advance);
        // about a window, and at least a round-trip time
        let elapsed = t.since.map(|since| now.wrapping_sub(since));
        // in 32 bits: an increase above the window ends no interval
        let enough = t.packets >= (socket.cwnd as u32).wrapping_sub((self.alpha / ONE).max(1));
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

impl Module for Htcp {
    const NEWEST_RTT: bool = true;

    fn in_ack_event(&mut self, socket: &mut Socket, advance: u64, _cx: &mut Cx<'_>) {
        self.advance = advance.div_ceil(socket.mss) as u32;
    }

    /// [measure_achieved_throughput]
    #[inline]
    fn pkts_acked(&mut self, socket: &mut Socket, rtt: Option<Duration>, cx: &mut Cx<'_>) {
        if socket.is_open() {
            self.pkts_acked = self.advance;
        }
        if let Some(rtt) = rtt.map(|rtt| ticks_up(rtt, self.rules.hz)).filter(|rtt| *rtt > 0) {
            self.measure_rtt(rtt, socket.is_open());
        }
        if self.rules.switch_share.is_some() {
            let now = self.ticks(cx.now());
            self.measure_throughput(socket, now);
        }
    }

    /// [htcp_cong_avoid]
    #[inline]
    fn cong_avoid(&mut self, socket: &mut Socket, acked: u64, cx: &mut Cx<'_>) {
        if !socket.cwnd_limited {
            return;
        }
        if socket.in_slow_start() {
            socket.slow_start(acked);
            return;
        }
        // cwnd += 1 when α·acknowledged ≥ cwnd
        if socket.credit.acked() * u64::from(self.alpha) / u64::from(ONE) >= socket.cwnd {
            socket.cwnd += 1;
            socket.credit.clear();
            self.update_alpha(self.ticks(cx.now()));
        } else {
            socket.credit.add(u64::from(self.pkts_acked));
        }
        self.pkts_acked = 1;
    }

    /// [htcp_recalc_ssthresh]
    fn ssthresh(&mut self, socket: &Socket) -> u64 {
        self.update_beta();
        self.update_alpha(self.ticks(socket.now));
        // the maximum fades, so that it follows changes of the route                           [htcp_param_update]
        if self.min_rtt > 0 && self.max_rtt > self.min_rtt {
            let above = f64::from(self.max_rtt - self.min_rtt);
            self.max_rtt = self.min_rtt + (above * self.rules.max_rtt_memory) as u32;
        }
        (socket.cwnd * u64::from(self.beta) / u64::from(ONE)).max(2)
    }

    /// [htcp_state, htcp_reset]
    fn event(&mut self, socket: &mut Socket, event: Event) {
        let now = self.ticks(socket.now);
        match event {
            Event::TransmissionStart if self.last_cong.is_none() => self.last_cong = Some(now),
            Event::Repairing => {
                let last_cong = self.last_cong.replace(now).unwrap_or(now);
                self.before =
                    Some(Before { last_cong, max_rtt: self.max_rtt, old_max: self.throughput.old_max });
            }
            // the event ends with the last acknowledgement of the recovery
            Event::Open if self.before.take().is_some() => self.last_cong = Some(now),
            _ => {}
        }
    }

    /// [htcp_cwnd_undo]
    fn undo(&mut self) {
        if let Some(before) = self.before.take() {
            self.last_cong = Some(before.last_cong);
            self.max_rtt = before.max_rtt;
            self.throughput.old_max = before.old_max;
        }
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
