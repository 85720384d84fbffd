//! CUBIC of ndn-tools at consumers. Windows are in segments, times in seconds.

use contract::{Ack, Allowance, Congestion, CongestionControl, Cx, Setup};
use units::{Bytes, Segments, Time, math};

use super::Params;

/// A consumer's window.
#[derive(Clone, Debug)]
pub struct Control {
    segment: Bytes,
    allowed: Bytes,
    c: f64,
    beta: f64,
    fast_convergence: bool,
    reno_friendly: bool,
    /// The initial window W₀, also the minimum of the threshold.
    initial: f64,
    window: f64,
    threshold: f64,
    /// W_max.
    max: f64,
    /// The window at the last reduction.
    last: f64,
    reduced_at: Time,
}

impl Control {
    /// The controller, with its parameters.
    pub fn new(params: &Params, setup: &Setup) -> Self {
        let initial = setup.initial_window.in_segments(setup.segment).0.max(1.0);
        let mut controller = Self {
            segment: setup.segment,
            allowed: Bytes::ZERO,
            c: params.c,
            beta: params.beta,
            fast_convergence: params.fast_convergence,
            reno_friendly: params.reno_friendly,
            initial,
            window: initial,
            threshold: f64::INFINITY,
            max: 0.0,
            last: 0.0,
            reduced_at: Time::ZERO,
        };
        controller.set(initial);
        controller
    }

    /// The window W, in segments.
    pub const fn window(&self) -> Segments {
        Segments(self.window)
    }

    fn set(&mut self, window: f64) {
        self.window = window;
        self.allowed = Segments(window).in_bytes_floor(self.segment);
    }

    /// The target window `t` seconds after the reduction, with a smoothed round-trip time of `srtt` seconds.
    pub(super) fn aim(&self, t: f64, srtt: f64) -> f64 {
        // K = ∛(W_max·(1 − β)/C); W(t) = C·(t − K)³ + W_max                       [NDNTOOLS, RFC8312 eq. 1, 2]
        let k = math::cbrt(self.max * (1.0 - self.beta) / self.c);
        let cubic = self.c * math::cube(t - k) + self.max;
        if !self.reno_friendly || srtt <= 0.0 {
            return cubic;
        }
        // W_est = β·W_max + 3·(1 − β)/(1 + β)·t/srtt                              [NDNTOOLS, RFC8312 eq. 4]
        let reno = self.beta * self.max + 3.0 * (1.0 - self.beta) / (1.0 + self.beta) * t / srtt;
        cubic.max(reno)
    }
}

impl CongestionControl for Control {
    #[inline]
    fn on_ack(&mut self, ack: &Ack, cx: &mut Cx<'_>) {
        // the window does not grow with a mark, even if that causes no reduction       [NDNTOOLS]
        // differs: nor with Data for which the window was not full
        if ack.marked || ack.app_limited {
            return;
        }
        if self.window < self.threshold {
            return self.set(self.window + 1.0);
        }
        let t = (cx.now() - self.reduced_at).as_secs_f64();
        // W ← W + max(0, max(W(t), W_est) − W)/W                                  [NDNTOOLS]
        let more = (self.aim(t, ack.rtt_smoothed.as_secs_f64()) - self.window).max(0.0);
        self.set((self.window + more / self.window).min(WIDEST));
    }

    fn on_congestion(&mut self, event: &Congestion, cx: &mut Cx<'_>) {
        // one reduction per window of Data, for any cause                         [NDNTOOLS]
        if !event.first {
            return;
        }
        let w = self.window;
        // W_max = W·(1 + β)/2 if the window did not come back, W otherwise        [NDNTOOLS, RFC8312 §4.6]
        let released = self.fast_convergence && w < self.last;
        self.max = if released { w * (1.0 + self.beta) / 2.0 } else { w };
        self.last = w;
        // ssthresh = max(W₀, β·W), W = ssthresh                                   [NDNTOOLS]
        self.threshold = (self.beta * w).max(self.initial);
        self.reduced_at = cx.now();
        self.set(self.threshold);
    }

    #[inline]
    fn allowance(&self) -> Allowance {
        Allowance::window(self.allowed)
    }

    fn ssthresh(&self) -> Bytes {
        Segments(self.threshold).in_bytes_floor(self.segment)
    }
}

/// Maximum window. Our choice: far above any path, so that growth without loss ends.
const WIDEST: f64 = 1e6;
