//! TCP Veno's window, in whole segments, with the fixed-point numbers of Linux.

use contract::{Ack, Cut, Cx, WindowUpdate};
use units::{Duration, Segments};

use super::Params;
use crate::shared::{Credit, LossState};

/// TCP Veno. Round-trip times are in microseconds plus one, so that none is zero; the queue is in halves of a segment.
#[derive(Clone, Debug)]
pub struct Veno {
    beta: u64,
    random_keep: f64,
    congestion_keep: f64,
    /// Whether the queue is estimated; in recovery and after a timeout the window grows as Reno's.
    estimates: bool,
    /// Minimum round-trip time since the start of transmission, and since the window could last grow.
    base_rtt: u64,
    min_rtt: u64,
    /// Samples so far, modulo 2¹⁶.
    samples: u16,
    /// Segments of the flow in the queue [Linux: diff].
    pub(super) queue: u64,
    /// Whether the next full window of acknowledged segments makes a congested window grow.
    grows: bool,
    credit: Credit,
    threshold: f64,
    /// Whether the acknowledgement ends slow start, and was measured there.
    measured: bool,
    loss: LossState,
}

impl Veno {
    /// The controller, with its parameters.
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
            credit: Credit::default(),
            threshold: f64::INFINITY,
            measured: false,
            loss: LossState::default(),
        }
    }

    /// Takes the round-trip time of an acknowledgement, in any state [Linux: tcp_veno_pkts_acked].
    #[inline]
    fn measure(&mut self, ack: &Ack) {
        let Some(rtt) = ack.rtt else { return };
        let rtt = rtt.as_nanos() / 1000 + 1;
        self.base_rtt = self.base_rtt.min(rtt);
        self.min_rtt = self.min_rtt.min(rtt);
        self.samples = self.samples.wrapping_add(1);
    }

    /// Estimates the queue from now on [Linux: veno_enable].
    fn estimate(&mut self) {
        self.estimates = true;
        self.min_rtt = NEVER;
    }

    /// Takes an acknowledgement that can make the window `w` grow, and estimates the queue.
    #[inline]
    fn on_ack(&mut self, w: u64, ack: &Ack) {
        if !self.estimates && !self.loss.is_active() {
            // a recovery is over
            self.estimate();
        }
        self.measure(ack);
        if self.loss.on_ack(ack) {
            self.estimate();
        }
        if self.is_veno() {
            // N = cwnd·(RTT − BaseRTT)/RTT, with the minimum RTT since the last acknowledgement      [FL03]
            self.queue = 2 * w - (2 * w * self.base_rtt / self.min_rtt).min(2 * w);
        }
        if self.estimates {
            self.min_rtt = NEVER;
        }
    }

    /// Whether the queue decides; otherwise there are too few samples, or there was a loss.
    #[inline]
    const fn is_veno(&self) -> bool {
        self.estimates && self.samples > 2
    }
}

impl WindowUpdate for Veno {
    #[inline]
    fn congestion_avoidance(&mut self, window: Segments, ack: &Ack, _cx: &mut Cx<'_>) -> Segments {
        let (w, acked) = (window.0 as u64, u64::from(ack.packets));
        if !std::mem::take(&mut self.measured) {
            self.on_ack(w, ack);
        }
        if !self.is_veno() || self.queue < self.beta {
            // one segment per window of acknowledged segments                           [Linux: tcp_cong_avoid_ai]
            return Segments(self.credit.grow(w, w, acked) as f64);
        }
        if self.credit.acked() < w {
            self.credit.add(acked);
            return Segments(w as f64);
        }
        // congested: one segment per two windows                                   [Linux: tcp_veno_cong_avoid]
        self.credit.clear();
        let next = w + u64::from(self.grows);
        self.grows = !self.grows;
        Segments(next as f64)
    }

    #[inline]
    fn slow_start(&mut self, window: Segments, _: Segments, ack: &Ack, _: &mut Cx<'_>) -> Option<Segments> {
        self.on_ack(window.0 as u64, ack);
        let next = window.0 + f64::from(ack.packets);
        self.measured = next > self.threshold;
        Some(Segments(next))
    }

    fn ssthresh(&mut self, window: Segments, cut: &Cut, _cx: &mut Cx<'_>) -> Segments {
        self.estimates = false;
        self.credit.clear();
        self.loss.on_congestion(cut);
        // ssthresh = max(4/5·cwnd, 2) for a random loss, max(cwnd/2, 2) otherwise      [Linux: tcp_veno_ssthresh]
        let keep = if self.queue < self.beta { self.random_keep } else { self.congestion_keep };
        let reduced = ((window.0 * keep) as u64).max(2) as f64;
        self.threshold = reduced;
        Segments(reduced)
    }

    fn integer_cwnd(&self) -> bool {
        true
    }

    fn pause(&mut self, ack: &Ack, _cx: &mut Cx<'_>) {
        if !ack.recovering && !ack.marked && self.loss.on_ack(ack) {
            self.estimate();
        }
        self.measure(ack);
    }

    /// Begins again, without a minimum round-trip time [Linux: tcp_veno_cwnd_event].
    fn on_transmission_start(&mut self, _idle: Duration, _cx: &mut Cx<'_>) {
        self.base_rtt = NEVER;
        self.grows = true;
        self.estimate();
    }
}

/// No round-trip time, in microseconds [Linux: 0x7fffffff].
const NEVER: u64 = 0x7fff_ffff;
