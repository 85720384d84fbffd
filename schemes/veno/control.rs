//! TCP Veno's window as Linux has it (net/ipv4/tcp_veno.c of 6.1): whole segments and fixed-point numbers.

use contract::Cx;
use units::Duration;

use super::Params;
use crate::shared::linux::{Event, Module, Socket};

/// TCP Veno. Round-trip times are in microseconds plus one, so that none is zero; the queue is in halves of a segment.
#[derive(Clone, Debug)]
pub struct Veno {
    beta: u64,
    random_keep: f64,
    congestion_keep: f64,
    /// Whether the queue is estimated; while something is repaired the window grows as Reno's [doing_veno_now].
    estimates: bool,
    /// Minimum round-trip time since the start of transmission [basertt], and since the window could last grow
    /// [minrtt].
    base_rtt: u64,
    min_rtt: u64,
    /// Samples so far, modulo 2¹⁶ [cntrtt].
    samples: u16,
    /// Segments of the flow in the queue [diff].
    pub(super) queue: u64,
    /// Whether the next full window of acknowledged segments makes a congested window grow [inc].
    grows: bool,
}

impl Veno {
    /// The module, with its parameters.
    pub fn new(params: &Params) -> Self {
        Self {
            beta: (params.beta * 2.0) as u64,
            random_keep: params.random_keep,
            congestion_keep: params.congestion_keep,
            estimates: true,
            base_rtt: NEVER,
            min_rtt: NEVER,
            samples: 0,
            queue: 0,
            grows: true,
        }
    }

    /// Estimates the queue from now on [veno_enable].
    fn estimate(&mut self) {
        self.estimates = true;
        self.min_rtt = NEVER;
    }

    /// The growth of the window once there are enough samples.
    fn grow(&mut self, socket: &mut Socket, acked: u64) {
        // N = cwnd·(RTT − BaseRTT)/RTT, with the minimum RTT since the last growth              [FL03]
        let cwnd = socket.cwnd;
        self.queue = 2 * cwnd - (2 * cwnd * self.base_rtt / self.min_rtt).min(2 * cwnd);
        let acked = if socket.in_slow_start() { socket.slow_start(acked) } else { acked };
        if acked == 0 {
            return;
        }
        if self.queue < self.beta {
            return socket.cong_avoid_ai(socket.cwnd, acked);
        }
        if socket.credit.acked() < socket.cwnd {
            return socket.credit.add(acked);
        }
        // congested: one segment per two windows
        socket.credit.clear();
        socket.cwnd += u64::from(self.grows);
        self.grows = !self.grows;
    }
}

impl Module for Veno {
    const NEWEST_RTT: bool = true;

    fn cong_avoid(&mut self, socket: &mut Socket, acked: u64, _cx: &mut Cx<'_>) {
        if socket.disordered {
            // data in order end the state Disorder                                  [tcp_veno_state]
            self.estimate();
        }
        if !self.estimates {
            return socket.reno_cong_avoid(acked);
        }
        if !socket.cwnd_limited {
            return;
        }
        if self.samples <= MIN_SAMPLES {
            socket.reno_cong_avoid(acked);
        } else {
            self.grow(socket, acked);
        }
        self.min_rtt = NEVER;
    }

    /// max(4/5·cwnd, 2) for a random loss, max(cwnd/2, 2) otherwise [tcp_veno_ssthresh].
    fn ssthresh(&mut self, socket: &Socket) -> u64 {
        let keep = if self.queue < self.beta { self.random_keep } else { self.congestion_keep };
        ((socket.cwnd as f64 * keep) as u64).max(2)
    }

    /// [tcp_veno_pkts_acked]
    fn pkts_acked(&mut self, _socket: &mut Socket, rtt: Option<Duration>, _cx: &mut Cx<'_>) {
        let Some(rtt) = rtt else { return };
        let rtt = rtt.as_nanos() / 1000 + 1;
        self.base_rtt = self.base_rtt.min(rtt);
        self.min_rtt = self.min_rtt.min(rtt);
        self.samples = self.samples.wrapping_add(1);
    }

    fn event(&mut self, _socket: &mut Socket, event: Event) {
        match event {
            // begins again, without a minimum                                         [tcp_veno_cwnd_event]
            Event::TransmissionStart | Event::WindowRestart => {
                (self.base_rtt, self.grows) = (NEVER, true);
                self.estimate();
            }
            Event::Open => self.estimate(),
            Event::Repairing => self.estimates = false,
            Event::Timeout | Event::Loss | Event::ReductionComplete => {}
        }
    }
}

/// Up to this number of samples the window grows as Reno's.
const MIN_SAMPLES: u16 = 2;
/// No round-trip time, in microseconds [0x7fffffff].
const NEVER: u64 = 0x7fff_ffff;
