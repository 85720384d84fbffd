//! The fraction of marked packets, and the window.

use contract::{Ack, Allowance, Cause, Congestion, CongestionControl, Cut, Cx, Idle, Setup, WindowUpdate};
use units::{Bytes, Segments};

use super::Params;
use crate::shared::{Classic, Credit};

contract::choice! {
    /// The arithmetic.
    pub enum Variant {
        /// Fractions, as in the RFC.
        Rfc = "rfc",
        /// Whole segments and 1024 parts of the fraction, as in Linux.
        Linux = "linux",
    }
}

/// The congestion control of one connection.
#[derive(Clone, Debug)]
pub struct Control {
    classic: Classic<Window>,
    alpha: Alpha,
    /// Packets acknowledged in the current observation window, and how many of them were marked
    /// [RFC8257 §3.3: DCTCP.BytesAcked, DCTCP.BytesMarked].
    acked: u64,
    marked: u64,
    /// Whether the current episode began with a mark and had no loss yet.
    marks_only: bool,
}

/// DCTCP.Alpha, the smoothed fraction of marked packets.
#[derive(Clone, Copy, Debug)]
enum Alpha {
    Real {
        value: f64,
        gain: f64,
    },
    /// In parts of 1024; the gain is 2 to the power of −`shift` [Linux: dctcp_alpha, dctcp_shift_g].
    Linux {
        parts: u64,
        shift: u32,
    },
}

/// 1 in Linux [Linux: DCTCP_MAX_ALPHA].
const WHOLE: u64 = 1024;

impl Alpha {
    fn value(self) -> f64 {
        match self {
            Self::Real { value, .. } => value,
            Self::Linux { parts, .. } => parts as f64 / WHOLE as f64,
        }
    }

    /// Takes an observation window in which `marked` of `acked` packets were marked.
    fn update(&mut self, marked: u64, acked: u64) {
        match self {
            Self::Real { value, gain } => {
                // M = BytesMarked/BytesAcked, Alpha = Alpha·(1 − g) + g·M       [RFC8257 §3.3, steps 4, 5; AGM10 eq. 1]
                let fraction = marked.min(acked) as f64 / acked.max(1) as f64;
                *value = *value * (1.0 - *gain) + *gain * fraction;
            }
            Self::Linux { parts, shift } => {
                // below 2^shift the share rounds to zero, and all parts go                  [Linux: dctcp_update_alpha]
                let share = *parts >> *shift;
                *parts -= if share == 0 { *parts } else { share };
                *parts = WHOLE.min(*parts + (marked << (10 - *shift)) / acked.max(1));
            }
        }
    }

    /// The window after a mark.
    fn reduced(self, window: f64) -> f64 {
        match self {
            // cwnd = cwnd·(1 − Alpha/2)                                                     [RFC8257 §3.3, step 9]
            Self::Real { value, .. } => window * (1.0 - value / 2.0),
            Self::Linux { parts, .. } => {
                let w = window as u64;
                (w - ((w * parts) >> 11)).max(2) as f64
            }
        }
    }
}

impl Control {
    pub(super) fn new(params: &Params, setup: &Setup) -> Self {
        let alpha = match params.variant {
            Variant::Rfc => Alpha::Real { value: params.initial_alpha, gain: params.gain },
            Variant::Linux => {
                let shift = (1..=10).find(|shift| 1.0 / f64::from(1 << *shift) <= params.gain).unwrap_or(10);
                Alpha::Linux { parts: (params.initial_alpha * WHOLE as f64) as u64, shift }
            }
        };
        let window =
            Window { integer_cwnd: params.variant == Variant::Linux, alpha, credit: Credit::default() };
        Self { classic: Classic::new(window, setup), alpha, acked: 0, marked: 0, marks_only: false }
    }

    /// The congestion window.
    pub fn window(&self) -> Segments {
        self.classic.window()
    }

    /// The smoothed fraction of marked packets.
    pub fn alpha(&self) -> f64 {
        self.alpha.value()
    }
}

impl CongestionControl for Control {
    #[inline]
    fn on_ack(&mut self, ack: &Ack, cx: &mut Cx<'_>) {
        self.acked += u64::from(ack.packets);
        self.marked += u64::from(ack.marked_packets);
        if ack.round_ended {
            // DCTCP.WindowEnd                                                              [RFC8257 §3.3, steps 3 to 8]
            self.alpha.update(self.marked, self.acked);
            self.classic.update_mut().alpha = self.alpha;
            (self.acked, self.marked) = (0, 0);
        }
        self.classic.on_ack(ack, cx);
        if cx.probing() {
            cx.probe("alpha", self.alpha.value());
        }
    }

    #[cold]
    fn on_congestion(&mut self, event: &Congestion, cx: &mut Cx<'_>) {
        let mut event = *event;
        match event.cause {
            Cause::Mark => self.marks_only |= event.first,
            // a loss in the window of a mark has its own effect              [RFC8257 §3.5; Linux: dctcp_react_to_loss]
            _ => event.first |= std::mem::take(&mut self.marks_only) && event.cause == Cause::Loss,
        }
        self.classic.on_congestion(&event, cx);
    }

    #[inline]
    fn allowance(&self) -> Allowance {
        self.classic.allowance()
    }

    fn on_spurious(&mut self, cx: &mut Cx<'_>) {
        self.classic.on_spurious(cx);
        // the window is restored, the fraction goes on
        self.classic.update_mut().alpha = self.alpha;
    }

    fn on_idle(&mut self, idle: &Idle, cx: &mut Cx<'_>) {
        self.classic.on_idle(idle, cx);
    }

    fn on_unused(&mut self, used: Bytes, cx: &mut Cx<'_>) {
        self.classic.on_unused(used, cx);
    }

    fn ssthresh(&self) -> Bytes {
        self.classic.ssthresh()
    }
}

/// The window of Reno, except for the reduction after a mark.
#[derive(Clone, Debug)]
struct Window {
    /// Whether it is in whole segments.
    integer_cwnd: bool,
    alpha: Alpha,
    credit: Credit,
}

impl WindowUpdate for Window {
    #[inline]
    fn congestion_avoidance(&mut self, window: Segments, ack: &Ack, _cx: &mut Cx<'_>) -> Segments {
        if self.integer_cwnd {
            let w = window.0 as u64;
            return Segments(self.credit.grow(w, w, u64::from(ack.packets)) as f64);
        }
        // cwnd += SMSS·SMSS/cwnd                                                            [RFC5681 §3.1, eq. 3]
        Segments(window.0 + 1.0 / window.0)
    }

    #[inline]
    fn slow_start(
        &mut self,
        window: Segments,
        step: Segments,
        ack: &Ack,
        _cx: &mut Cx<'_>,
    ) -> Option<Segments> {
        Some(Segments(window.0 + if self.integer_cwnd { f64::from(ack.packets) } else { step.0 }))
    }

    fn ssthresh(&mut self, window: Segments, cut: &Cut, _cx: &mut Cx<'_>) -> Segments {
        self.credit.clear();
        match cut.cause {
            Cause::Mark | Cause::Refused => Segments(self.alpha.reduced(window.0)),
            // a loss has the effect that it has on Reno                                     [RFC8257 §3.5]
            Cause::Loss | Cause::Timeout if self.integer_cwnd => {
                Segments((window.0 as u64 / 2).max(2) as f64)
            }
            Cause::Loss | Cause::Timeout => Segments(cut.flight.0 / 2.0),
        }
    }

    fn integer_cwnd(&self) -> bool {
        self.integer_cwnd
    }
}
