//! CUBIC's growth as in Linux (net/ipv4/tcp_cubic.c of 6.18): the window grows by one segment per a whole number of
//! acknowledged segments.

use contract::{Ack, Cause};
use units::{Duration, Time, math};

use super::Params;
use crate::shared::Credit;

/// The state of the kernel for one connection. Windows are in whole segments.
#[derive(Clone, Debug)]
pub(super) struct LinuxCubic {
    c: f64,
    beta: f64,
    fast_convergence: bool,
    reno_friendly: bool,
    /// The window at the last reduction, or below it by fast convergence. Zero before the first and after a timeout.
    w_max: u64,
    /// The window of the plateau.
    origin: u64,
    /// Time from the epoch to the plateau, in seconds.
    k: f64,
    /// Start of the current epoch of congestion avoidance; [`Time::NEVER`] before it.
    epoch: Time,
    /// Minimum round-trip time; `MAX` before the first sample.
    min: Duration,
    /// The window of Reno, and the segments acknowledged towards its next growth.
    w_est: u64,
    towards: u64,
    /// Number of acknowledged segments for which the window grows by one.
    per_segment: u64,
    /// Segments acknowledged towards that.
    credit: Credit,
    /// When `per_segment` was last computed, and for which window.
    last: (Time, u64),
}

impl LinuxCubic {
    pub(super) fn new(params: &Params) -> Self {
        Self {
            c: params.c,
            beta: params.beta,
            fast_convergence: params.fast_convergence,
            reno_friendly: params.reno_friendly,
            w_max: 0,
            origin: 0,
            k: 0.0,
            epoch: Time::NEVER,
            min: Duration::MAX,
            w_est: 0,
            towards: 0,
            per_segment: MIN_PER_SEGMENT,
            credit: Credit::default(),
            last: (Time::NEVER, 0),
        }
    }

    /// Takes a round-trip time sample, except in the first second of an epoch, in which retransmissions may have queued
    /// for long.
    pub(super) fn sample(&mut self, ack: &Ack, now: Time) {
        if self.epoch != Time::NEVER && now - self.epoch < Duration::from_secs(1) {
            return;
        }
        if let Some(rtt) = ack.rtt {
            self.min = self.min.min(rtt);
        }
    }

    /// The window after `ack`, in congestion avoidance.
    pub(super) fn congestion_avoidance(&mut self, window: f64, ack: &Ack, now: Time) -> f64 {
        self.sample(ack, now);
        let (w, acked) = (window as u64, u64::from(ack.packets));
        self.count(w, acked, now);
        self.credit.grow(w, self.per_segment, acked) as f64
    }

    /// Computes the number of acknowledged segments for which the window `w` grows by one.
    fn count(&mut self, w: u64, acked: u64, now: Time) {
        self.towards += acked;
        let (last_at, last_w) = self.last;
        if last_w == w && last_at != Time::NEVER && now - last_at <= AGAIN_AFTER {
            return;
        }
        self.last = (now, w);
        if self.epoch == Time::NEVER {
            self.epoch = now;
            (self.towards, self.w_est) = (acked, w);
            // K = ∛((W_max − cwnd)/C)                                              [RFC9438 §4.2, eq. 2]
            let below = self.w_max.saturating_sub(w);
            self.k = math::cbrt(below as f64 / self.c);
            self.origin = self.w_max.max(w);
        }
        let ahead = if self.min == Duration::MAX { Duration::ZERO } else { self.min };
        let t = (now - self.epoch + ahead).as_secs_f64() - self.k;
        // W_cubic(t + RTT_min), the difference to the plateau in whole segments
        let off = (self.c * math::cube(t.abs())) as u64;
        let target = if t < 0.0 { self.origin.saturating_sub(off) } else { self.origin + off };
        // one segment per cwnd/(target − cwnd) acknowledged; at the plateau one per hundred windows
        self.per_segment = if target > w { w / (target - w) } else { 100 * w };
        if self.w_max == 0 {
            // without any loss yet: at least 5 % per round
            self.per_segment = self.per_segment.min(20);
        }
        if self.reno_friendly {
            self.be_friendly(w);
        }
        // at most 50 % per round                                                    [RFC9438 §4.2]
        self.per_segment = self.per_segment.max(MIN_PER_SEGMENT);
    }

    /// Makes the window reach Reno's within a round, if Reno's is larger.
    fn be_friendly(&mut self, w: u64) {
        // W_est += α per window, α = 3·(1 − β)/(1 + β), in whole eighths of segments  [RFC9438 §4.3]
        let eighths = (8.0 * (1.0 + self.beta) / (3.0 * (1.0 - self.beta))) as u64;
        let each = (w * eighths / 8).max(1);
        while self.towards > each {
            self.towards -= each;
            self.w_est += 1;
        }
        if self.w_est > w {
            self.per_segment = self.per_segment.min(w / (self.w_est - w));
        }
    }

    /// Excludes an idle time from the epoch [Linux: cubictcp_cwnd_event].
    pub(super) fn on_transmission_start(&mut self, idle: Duration, now: Time) {
        if self.epoch != Time::NEVER {
            self.epoch = (self.epoch + idle).min(now);
        }
    }

    /// The threshold after a reduction of `window`.
    pub(super) fn ssthresh(&mut self, window: f64, cause: Cause) -> f64 {
        let w = window as u64;
        // W_max = cwnd·(1 + β)/2 if the window did not come back, cwnd otherwise    [RFC9438 §4.7]
        let lowered = (window * (1.0 + self.beta) / 2.0) as u64;
        self.w_max = if self.fast_convergence && w < self.w_max { lowered } else { w };
        self.epoch = Time::NEVER;
        // acknowledgements before a reduction do not count after it    [Linux: tcp_init_cwnd_reduction, tcp_enter_loss]
        self.credit.clear();
        if cause == Cause::Timeout {
            // a timeout resets the state
            self.w_max = 0;
            self.min = Duration::MAX;
            self.last = (Time::NEVER, 0);
            self.per_segment = MIN_PER_SEGMENT;
            (self.towards, self.w_est) = (0, 0);
        }
        // ssthresh = cwnd·β: of the window, not of the data in flight
        ((window * self.beta) as u64).max(2) as f64
    }
}

/// Minimum number of acknowledged segments per segment of growth.
const MIN_PER_SEGMENT: u64 = 2;
/// Lifetime of the computed value while the window does not change.
const AGAIN_AFTER: Duration = Duration::from_micros(31_250);
