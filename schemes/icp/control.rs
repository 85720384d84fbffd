//! ICP's window. Windows are whole segments.

use contract::{Ack, Allowance, Cause, Congestion, CongestionControl, Cx, Setup};
use units::{Bytes, Duration, Time};

use super::Params;
use crate::shared::Recent;

/// The congestion controller ICP: a window with a variable timer.
#[derive(Clone, Debug)]
pub struct Icp {
    segment: Bytes,
    /// The window W.
    window: u64,
    /// Data since the window last changed.
    good: u64,
    recent: Recent,
    /// The timer τ.
    timer: Duration,
    decreased_at: Time,
    eta: u64,
    beta: f64,
    delta: f64,
}

impl Icp {
    /// The controller, with its parameters.
    pub fn new(params: &Params, setup: &Setup) -> Self {
        Self {
            segment: setup.segment,
            window: (setup.initial_window.as_u64() / setup.segment.as_u64()).max(1),
            good: 0,
            recent: Recent::new(params.samples),
            timer: params.initial_timeout,
            decreased_at: Time::ZERO,
            eta: u64::from(params.eta),
            beta: params.beta,
            delta: params.delta,
        }
    }

    /// The window W, in segments.
    pub const fn window(&self) -> u64 {
        self.window
    }

    #[inline]
    fn measure(&mut self, rtt: Duration) {
        self.recent.push(rtt);
        if self.recent.is_full() {
            // τ = RTTmin + δ·(RTTmax − RTTmin)                                          [ICP12, CCNPL]
            let range = self.recent.max() - self.recent.min();
            self.timer = self.recent.min() + range.scaled(self.delta);
        }
    }
}

impl CongestionControl for Icp {
    #[inline]
    fn on_ack(&mut self, ack: &Ack, cx: &mut Cx<'_>) {
        let late = cx.now().saturating_since(ack.sent_at) > self.timer;
        if let Some(rtt) = ack.rtt {
            self.measure(rtt);
        }
        // Data after their timer are delivered and do not increase the window              [CCNPL]
        // differs: nor do Data for which the window was not full
        if late || ack.app_limited {
            return;
        }
        // W ← W + η with the W-th Data                                                       [ICP12, CCNPL]
        self.good += u64::from(ack.packets);
        if self.good >= self.window {
            self.window = (self.window + self.eta).min(WIDEST);
            self.good = 0;
        }
    }

    fn on_congestion(&mut self, event: &Congestion, cx: &mut Cx<'_>) {
        // our choice: a NACK counts as a timer; marks are ignored, because no source describes them
        if event.cause == Cause::Mark {
            return;
        }
        // W ← ⌊W/2⌋, at least 1, at most once per τ, and not before there are 30 samples            [CCNPL]
        let retained = (self.window as f64 * self.beta) as u64;
        let again = cx.now().saturating_since(self.decreased_at) > self.timer;
        if retained >= 1 && again && self.recent.is_full() {
            self.window = retained;
            self.good = 0;
            self.decreased_at = cx.now();
        }
    }

    #[inline]
    fn allowance(&self) -> Allowance {
        Allowance::window(self.segment * self.window)
    }

    #[inline]
    fn timeout(&self) -> Option<Duration> {
        Some(self.timer + MOMENT)
    }
}

/// Our choice: Data that take exactly as long as the timer are not late, as on a path with constant round-trip time.
const MOMENT: Duration = Duration::from_nanos(1);
/// Maximum window. Our choice: far above any path, so that growth without loss does not overflow.
const WIDEST: u64 = 1 << 24;
