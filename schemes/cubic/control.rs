//! CUBIC's window. Windows are in segments, times in seconds, as in the RFC.

use contract::{Ack, Cause, Cut, Cx, WindowUpdate};
use units::{Duration, Segments, Time, math};

use super::Params;
use super::linux::LinuxCubic;
use crate::shared::HyStart;

contract::choice! {
    /// What counts as a step towards the cubic function.
    pub enum Counting {
        /// Each acknowledgement, as in the RFC. With delayed ACKs the window grows half as fast.
        Acks = "acks",
        /// Each segment acknowledged.
        Segments = "segments",
    }
}

contract::choice! {
    /// The growth function.
    pub enum Variant {
        /// The function of the RFC.
        Rfc = "rfc",
        /// The function of Linux.
        Linux = "linux",
    }
}

/// CUBIC with its Reno-friendly region.
#[derive(Clone, Debug)]
pub struct Cubic {
    c: f64,
    beta: f64,
    /// α of the Reno-friendly region, until `w_est` is back at `w_prior`.
    alpha: f64,
    fast_convergence: bool,
    reno_friendly: bool,
    counting: Counting,
    /// The window at the last reduction, or below it by fast convergence. Zero before the first.
    w_max: f64,
    /// The window just before the last reduction, or at the end of the first slow start [RFC9438 §4.1.2: cwnd_prior].
    w_prior: f64,
    /// The window of Reno.
    w_est: f64,
    /// Time from the epoch to the plateau.
    k: f64,
    /// Start of the current epoch of congestion avoidance, moved by pauses; [`Time::NEVER`] before it.
    epoch: Time,
    /// The last acknowledgement.
    last_at: Time,
    /// The epoch follows a timeout or slow start without a reduction: K is 0.
    after_timeout: bool,
    /// The growth of Linux, with `variant = "linux"`.
    kernel: Option<Box<LinuxCubic>>,
    hystart: Option<Box<HyStart>>,
}

impl Cubic {
    /// The controller, with its parameters.
    pub fn new(params: &Params) -> Self {
        Self {
            c: params.c,
            beta: params.beta,
            // α = 3·(1 − β)/(1 + β)                                              [RFC9438 §4.3]
            alpha: 3.0 * (1.0 - params.beta) / (1.0 + params.beta),
            fast_convergence: params.fast_convergence,
            reno_friendly: params.reno_friendly,
            counting: params.counting,
            w_max: 0.0,
            w_prior: 0.0,
            w_est: 0.0,
            k: 0.0,
            epoch: Time::NEVER,
            last_at: Time::ZERO,
            after_timeout: true,
            kernel: (params.variant == Variant::Linux).then(|| Box::new(LinuxCubic::new(params))),
            hystart: HyStart::new(params.hystart),
        }
    }

    /// Starts an epoch of congestion avoidance with the window `w`.
    fn begin_epoch(&mut self, w: f64, now: Time) {
        self.epoch = now;
        self.w_est = w;
        if self.w_prior == 0.0 {
            self.w_prior = w;
        }
        if self.after_timeout || w >= self.w_max {
            // K = 0 and W_max = cwnd                                              [RFC9438 §4.8, §4.10]
            self.k = 0.0;
            self.w_max = w;
        } else {
            // K = ∛((W_max − cwnd_epoch)/C)                                       [RFC9438 §4.2, eq. 2]
            self.k = math::cbrt((self.w_max - w) / self.c);
        }
        self.after_timeout = false;
    }

    /// The target window `t` seconds after the start of the epoch. Concave before `k`, convex after it.
    #[inline]
    pub(super) fn w_cubic(&self, t: f64) -> f64 {
        // W_cubic(t) = C·(t − K)³ + W_max                                         [RFC9438 §4.2, eq. 1]
        self.c * math::cube(t - self.k) + self.w_max
    }

    /// Time from the epoch to the plateau, in seconds.
    pub fn k(&self) -> f64 {
        self.k
    }

    /// The window of the plateau, in segments.
    pub fn w_max(&self) -> Segments {
        Segments(self.w_max)
    }
}

impl WindowUpdate for Cubic {
    #[inline]
    fn congestion_avoidance(&mut self, window: Segments, ack: &Ack, cx: &mut Cx<'_>) -> Segments {
        let (w, now) = (window.0, cx.now());
        if let Some(kernel) = &mut self.kernel {
            return Segments(kernel.congestion_avoidance(w, ack, now));
        }
        if self.epoch == Time::NEVER {
            self.begin_epoch(w, now);
        }
        self.last_at = now;
        let t = (now - self.epoch).as_secs_f64();
        let acked = f64::from(ack.packets);
        if self.reno_friendly {
            // W_est += α·segments_acked/cwnd, with α = 1 from cwnd_prior on        [RFC9438 §4.3, eq. 4]
            let alpha = if self.w_est < self.w_prior { self.alpha } else { 1.0 };
            self.w_est += alpha * acked / w;
            if self.w_cubic(t) < self.w_est {
                // differs: the window does not decrease
                return Segments(self.w_est.max(w));
            }
        }
        // target = W_cubic(t + RTT) within cwnd and 1.5·cwnd                       [RFC9438 §4.2]
        let aim = self.w_cubic(t + ack.rtt_smoothed.as_secs_f64());
        let target = if aim < w { w } else { aim.min(1.5 * w) };
        // cwnd += (target − cwnd)/cwnd                                             [RFC9438 §4.4, §4.5]
        let steps = if self.counting == Counting::Acks { 1.0 } else { acked };
        Segments(w + steps * (target - w) / w)
    }

    fn integer_cwnd(&self) -> bool {
        self.kernel.is_some()
    }

    #[inline]
    fn slow_start(
        &mut self,
        window: Segments,
        step: Segments,
        ack: &Ack,
        cx: &mut Cx<'_>,
    ) -> Option<Segments> {
        let mut step = step.0;
        if let Some(kernel) = &mut self.kernel {
            kernel.sample(ack, cx.now());
            step = f64::from(ack.packets);
        }
        if let Some(hystart) = &mut self.hystart {
            step = hystart.slow_start(window.0, step, f64::from(ack.packets), ack, cx)?;
        }
        Some(Segments(window.0 + step))
    }

    fn ssthresh(&mut self, window: Segments, cut: &Cut, _cx: &mut Cx<'_>) -> Segments {
        let w = window.0;
        if let Some(hystart) = &mut self.hystart {
            hystart.on_reduction(cut.cause);
        }
        if let Some(kernel) = &mut self.kernel {
            return Segments(kernel.ssthresh(w, cut.cause));
        }
        self.w_prior = w;
        // W_max = cwnd·(1 + β)/2 if the window did not come back, cwnd otherwise   [RFC9438 §4.7]
        self.w_max = if self.fast_convergence && w < self.w_max { w * (1.0 + self.beta) / 2.0 } else { w };
        self.epoch = Time::NEVER;
        self.after_timeout = cut.cause == Cause::Timeout;
        // ssthresh = flight_size·β                                                 [RFC9438 §4.6]
        Segments(cut.flight.0 * self.beta)
    }

    /// Excludes the idle time from the epoch [RFC9438 §4.2].
    fn on_transmission_start(&mut self, idle: Duration, cx: &mut Cx<'_>) {
        if let Some(kernel) = &mut self.kernel {
            return kernel.on_transmission_start(idle, cx.now());
        }
        if self.epoch != Time::NEVER {
            self.epoch += cx.now() - self.last_at;
            self.last_at = cx.now();
        }
    }

    /// Excludes time in which the window may not grow [RFC9438 §5.8].
    #[inline]
    fn pause(&mut self, ack: &Ack, cx: &mut Cx<'_>) {
        if let Some(hystart) = &mut self.hystart {
            hystart.observe(ack);
        }
        if let Some(kernel) = &mut self.kernel {
            return kernel.sample(ack, cx.now());
        }
        if self.epoch != Time::NEVER {
            self.epoch += cx.now() - self.last_at;
            self.last_at = cx.now();
        }
    }
}
