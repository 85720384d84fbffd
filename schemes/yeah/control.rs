//! YeAH's window [Linux: tcp_yeah.c].

use contract::Cx;
use units::Duration;

use super::Params;
use crate::shared::VegasRtt;
use crate::shared::linux::{Event, Module, Socket};

/// YeAH: the growth of Scalable TCP below a queue of `alpha` packets and a queueing delay of BaseRTT/`phy`, Reno's
/// above either.
#[derive(Clone, Debug)]
pub struct Yeah {
    params: Params,
    pub(super) rtt: VegasRtt,
    /// The queue at the end of the last round, in packets [lastQ].
    pub(super) queue: u64,
    /// Rounds of Reno's growth in a row; zero for fast growth [doing_reno_now].
    pub(super) reno_rounds: u32,
    /// Estimate of the window that competing Reno flows have [reno_count].
    pub(super) reno_window: u64,
    /// Rounds of fast growth [fast_count].
    pub(super) fast_rounds: u32,
}

impl Yeah {
    /// The module, with its parameters.
    pub fn new(params: &Params) -> Self {
        Self {
            params: params.clone(),
            rtt: VegasRtt::default(),
            queue: 0,
            reno_rounds: 0,
            reno_window: MIN_CWND,
            fast_rounds: 0,
        }
    }

    /// Estimates the queue at the end of a round, reduces the window if the queue is too long, and decides how the
    /// window grows.
    fn estimate_queue(&mut self, socket: &mut Socket, cx: &mut Cx<'_>) {
        let Params { alpha, gamma, epsilon, phy, zeta, .. } = self.params;
        let VegasRtt { base, min: rtt, .. } = self.rtt;
        // Q = (RTT − BaseRTT)·W/RTT                                                        [BCV07, LINUX]
        let queue = socket.cwnd * u64::from(rtt - base) / u64::from(rtt);
        if cx.probing() {
            cx.probe("queue_estimate", queue as f64);
        }
        let long = queue > u64::from(alpha);
        if long || rtt - base > base / phy {
            if long && socket.cwnd > self.reno_window {
                let reduction = (queue / u64::from(gamma)).min(socket.cwnd >> epsilon);
                socket.cwnd = (socket.cwnd - reduction).max(self.reno_window);
                socket.ssthresh = socket.cwnd;
            }
            self.reno_window = if self.reno_window <= MIN_CWND {
                (socket.cwnd / 2).max(MIN_CWND)
            } else {
                self.reno_window + 1
            };
            self.reno_rounds = (self.reno_rounds + 1).min(MAX_ROUNDS);
        } else {
            self.fast_rounds += 1;
            if self.fast_rounds > zeta {
                self.reno_window = MIN_CWND;
                self.fast_rounds = 0;
            }
            self.reno_rounds = 0;
        }
        self.queue = queue;
    }
}

impl Module for Yeah {
    const NEWEST_RTT: bool = true;

    fn cong_avoid(&mut self, socket: &mut Socket, acked: u64, cx: &mut Cx<'_>) {
        if !socket.cwnd_limited {
            return;
        }
        let acked = if socket.in_slow_start() { socket.slow_start(acked) } else { acked };
        if acked > 0 {
            let fast = socket.cwnd.min(u64::from(self.params.fast));
            socket.cong_avoid_ai(if self.reno_rounds == 0 { fast } else { socket.cwnd }, acked);
        }
        if self.rtt.round_ended(socket) {
            if self.rtt.samples >= self.params.min_samples {
                self.estimate_queue(socket, cx);
            }
            self.rtt.begin_round(socket);
        }
        socket.cwnd = socket.cwnd.min(MAX_CWND);
    }

    fn ssthresh(&mut self, socket: &Socket) -> u64 {
        let half = (socket.cwnd / 2).max(2);
        let reduction = if self.reno_rounds < self.params.rho {
            // the queue, between an eighth and a half of the window                   [BCV07, Linux: tcp_yeah_ssthresh]
            self.queue.min(half).max(socket.cwnd >> self.params.delta)
        } else {
            half
        };
        self.fast_rounds = 0;
        self.reno_window = (self.reno_window / 2).max(MIN_CWND);
        socket.cwnd.saturating_sub(reduction).max(2)
    }

    fn pkts_acked(&mut self, _socket: &mut Socket, rtt: Option<Duration>, _cx: &mut Cx<'_>) {
        self.rtt.sample(rtt);
    }

    fn event(&mut self, socket: &mut Socket, event: Event) {
        self.rtt.event(socket, event);
    }
}

/// Minimum of the estimate of Reno's window, in segments: none [LINUX].
const MIN_CWND: u64 = 2;
/// Maximum window [Linux: tcp_yeah_init].
const MAX_CWND: u64 = 0xffff_ffff / 128;
/// Maximum number of rounds that are counted [LINUX].
const MAX_ROUNDS: u32 = 0x00ff_ffff;
