//! Vegas' window [Linux: tcp_vegas_cong_avoid].

use contract::Cx;
use units::Duration;

use super::Params;
use crate::shared::VegasRtt;
use crate::shared::linux::{Event, Module, Socket};

/// Vegas: once per round trip, compares the window with what the path would hold without a queue.
#[derive(Clone, Debug)]
pub struct Vegas {
    params: Params,
    pub(super) rtt: VegasRtt,
}

impl Vegas {
    /// The module, with its parameters.
    pub fn new(params: &Params) -> Self {
        Self { params: params.clone(), rtt: VegasRtt::default() }
    }

    /// Adjusts the window at the end of a round with enough samples.
    fn adjust(&self, socket: &mut Socket, acked: u64, cx: &mut Cx<'_>) {
        let Params { alpha, beta, gamma, .. } = self.params;
        let VegasRtt { base, min: rtt, .. } = self.rtt;
        let cwnd = socket.cwnd as u32;
        // Expected − Actual, times BaseRTT: W·(RTT − BaseRTT)/BaseRTT in 32 bits               [BP95 §III, LINUX]
        let diff = cwnd.wrapping_mul(rtt - base) / base;
        if cx.probing() {
            cx.probe("diff", f64::from(diff));
        }
        if socket.in_slow_start() {
            if diff > gamma {
                // the actual rate times BaseRTT; the segment more is what the division rounds off
                let target = u64::from(cwnd) * u64::from(base) / u64::from(rtt);
                socket.cwnd = socket.cwnd.min(target + 1);
                socket.ssthresh = socket.ssthresh.min(socket.cwnd);
            } else {
                socket.slow_start(acked);
            }
        } else if diff > beta {
            socket.cwnd -= 1;
            socket.ssthresh = socket.ssthresh.min(socket.cwnd);
        } else if diff < alpha {
            socket.cwnd += 1;
        }
        socket.cwnd = socket.cwnd.max(MIN_CWND);
        socket.ssthresh = socket.current_ssthresh();
    }
}

impl Module for Vegas {
    const NEWEST_RTT: bool = true;

    fn cong_avoid(&mut self, socket: &mut Socket, acked: u64, cx: &mut Cx<'_>) {
        if !self.rtt.enabled {
            return socket.reno_cong_avoid(acked);
        }
        if self.rtt.round_ended(socket) {
            if self.rtt.samples < self.params.min_samples {
                socket.reno_cong_avoid(acked);
            } else {
                self.adjust(socket, acked, cx);
            }
            self.rtt.begin_round(socket);
        } else if socket.in_slow_start() {
            socket.slow_start(acked);
        }
    }

    fn pkts_acked(&mut self, _socket: &mut Socket, rtt: Option<Duration>, _cx: &mut Cx<'_>) {
        self.rtt.sample(rtt);
    }

    fn event(&mut self, socket: &mut Socket, event: Event) {
        self.rtt.event(socket, event);
    }
}

/// Minimum window after an adjustment, in segments [LINUX].
const MIN_CWND: u64 = 2;
