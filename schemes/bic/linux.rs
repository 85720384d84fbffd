//! BIC's window as Linux has it (net/ipv4/tcp_bic.c of 6.1), in whole segments.

use contract::Cx;
use units::{Duration, Time};

use super::Params;
use crate::shared::linux::{Event, Module, Socket};

/// BIC of Linux: after a loss the window goes a quarter of the way to the last maximum per round trip, and beyond it in
/// growing steps.
#[derive(Clone, Debug)]
pub struct LinuxBic {
    /// Below this window the scheme is Reno [low_window].
    low: u64,
    /// Maximum number of segments added per round trip [max_increment].
    max_increment: u64,
    /// Share of the window that a loss leaves, in parts of [`SCALE`] [beta].
    beta: u64,
    /// Segments per segment of growth near the maximum, in quarters of the window [smooth_part].
    smooth: u64,
    fast_convergence: bool,
    /// Segments acknowledged per segment of growth [cnt].
    pub(super) per_segment: u64,
    /// The window at the last reduction; zero before it and after a timeout [last_max_cwnd].
    pub(super) last_max: u64,
    /// The window and the time of the last update of `per_segment` [last_cwnd, last_time].
    last: Option<(u64, Time)>,
    /// Segments per acknowledgement, smoothed, times 16 [delayed_ack].
    pub(super) ack_ratio: u64,
}

impl LinuxBic {
    /// The module, with its parameters.
    pub fn new(params: &Params) -> Self {
        Self {
            low: params.low_window as u64,
            max_increment: params.max_increment as u64,
            beta: (params.beta * SCALE as f64) as u64,
            smooth: u64::from(params.smooth_part),
            fast_convergence: params.fast_convergence,
            per_segment: 0,
            last_max: 0,
            last: None,
            ack_ratio: INITIAL_ACK_RATIO,
        }
    }

    /// Determines the growth at a window of `cwnd` [bictcp_update].
    fn update(&mut self, cwnd: u64, now: Time) {
        if self.last.is_some_and(|(window, at)| window == cwnd && now - at <= UPDATE_INTERVAL) {
            return;
        }
        self.last = Some((cwnd, now));
        if cwnd <= self.low {
            self.per_segment = cwnd;
            return;
        }
        let smooth = cwnd * self.smooth / B;
        let linear = cwnd / self.max_increment;
        let mut per_segment = if cwnd < self.last_max {
            // a quarter of the distance per round trip, at most `max_increment` segments
            match (self.last_max - cwnd) / B {
                0 | 1 => smooth,
                distance if distance > self.max_increment => linear,
                distance => cwnd / distance,
            }
        } else if cwnd < self.last_max + B {
            smooth
        } else if cwnd < self.last_max + self.max_increment * (B - 1) {
            // beyond the maximum: a third of the distance from it
            cwnd * (B - 1) / (cwnd - self.last_max)
        } else {
            linear
        };
        if self.last_max == 0 {
            // the maximum is not known: at least 5 % per round trip
            per_segment = per_segment.min(MAX_WITHOUT_MAXIMUM);
        }
        // as many acknowledgements as cover that many segments
        self.per_segment = (per_segment * 16 / self.ack_ratio).max(1);
    }
}

impl Module for LinuxBic {
    const NEWEST_RTT: bool = true;

    fn cong_avoid(&mut self, socket: &mut Socket, acked: u64, _cx: &mut Cx<'_>) {
        if !socket.cwnd_limited {
            return;
        }
        let acked = if socket.in_slow_start() { socket.slow_start(acked) } else { acked };
        if acked > 0 {
            self.update(socket.cwnd, socket.now);
            socket.cong_avoid_ai(self.per_segment, acked);
        }
    }

    /// [bictcp_recalc_ssthresh]
    fn ssthresh(&mut self, socket: &Socket) -> u64 {
        let cwnd = socket.cwnd;
        self.last_max = if cwnd < self.last_max && self.fast_convergence {
            cwnd * (SCALE + self.beta) / (2 * SCALE)
        } else {
            cwnd
        };
        if cwnd <= self.low { cwnd / 2 } else { cwnd * self.beta / SCALE }.max(2)
    }

    /// Smooths the number of segments per acknowledgement [bictcp_acked].
    fn in_ack_event(&mut self, socket: &mut Socket, advance: u64, _cx: &mut Cx<'_>) {
        if !socket.is_open() {
            return;
        }
        self.ack_ratio = self.ack_ratio + advance.div_ceil(socket.mss) - (self.ack_ratio >> 4);
    }

    fn event(&mut self, _socket: &mut Socket, event: Event) {
        // [bictcp_state, bictcp_reset]
        if event == Event::Loss {
            (self.per_segment, self.last_max, self.last) = (0, 0, None);
            self.ack_ratio = INITIAL_ACK_RATIO;
        }
    }
}

/// One, in the parameter beta [BICTCP_BETA_SCALE].
const SCALE: u64 = 1024;
/// Share of the distance that the search goes per round trip: 1/B [BICTCP_B].
const B: u64 = 4;
/// Maximum of `per_segment` while no maximum is known.
const MAX_WITHOUT_MAXIMUM: u64 = 20;
/// Two segments per acknowledgement, times 16.
const INITIAL_ACK_RATIO: u64 = 32;
/// At an unchanged window the growth is determined again after HZ/32: 31 ticks of 1 ms.
const UPDATE_INTERVAL: Duration = Duration::from_millis(31);
