//! The common frame of window schemes: slow start, threshold, minimum, one reduction per episode, undo.

use contract::{Ack, Allowance, Cause, Congestion, CongestionControl, Cut, Cx, Setup, WindowLaw};
use units::{Bytes, Duration, Segments};

/// A congestion control made of a [`WindowLaw`], which says how the window grows in congestion avoidance and how it is cut.
///
/// Slow start adds a segment for each acknowledgement of a segment or more [RFC5681 §3.1, eq. 2] unless the law says otherwise. The window and the
/// threshold are in segments; `allowance` rounds the window down to whole bytes.
#[derive(Clone, Debug)]
pub struct Classic<L> {
    window: f64,
    threshold: f64,
    /// `window` in bytes.
    allowed: Bytes,
    segment: Bytes,
    law: L,
    /// What there was before the last cut.
    before: Option<Before<L>>,
    initial: f64,
}

#[derive(Clone, Debug)]
struct Before<L> {
    window: f64,
    threshold: f64,
    law: L,
}

impl<L: WindowLaw> Classic<L> {
    /// Begins in slow start with the initial window and no threshold [RFC5681 §3.1].
    pub fn new(law: L, setup: &Setup) -> Self {
        let initial = setup.initial_window.in_segments(setup.segment).max(Segments(1.0)).0;
        let mut classic = Self {
            window: initial,
            threshold: f64::INFINITY,
            allowed: Bytes::ZERO,
            segment: setup.segment,
            law,
            before: None,
            initial,
        };
        classic.set(initial);
        classic
    }

    /// The window.
    pub fn window(&self) -> Segments {
        Segments(self.window)
    }

    /// The law.
    pub fn law(&self) -> &L {
        &self.law
    }

    /// Whether the window is below the threshold.
    #[inline]
    pub fn in_slow_start(&self) -> bool {
        self.window < self.threshold
    }

    /// Slow start comes to the threshold, and `left` segments acknowledged are left [Linux: tcp_slow_start].
    #[cold]
    fn cross(&mut self, left: f64, ack: &Ack, cx: &mut Cx<'_>) {
        let rest = Ack { packets: left as u32, bytes: self.segment * left as u64, ..*ack };
        let grown = self.law.grow(Segments(self.threshold), &rest, cx);
        self.set(grown.0);
    }

    #[inline]
    fn set(&mut self, window: f64) {
        self.window = if window >= LEAST_WINDOW { window } else { LEAST_WINDOW };
        self.allowed = Segments(self.window).in_bytes_floor(self.segment);
    }
}

impl<L: WindowLaw> CongestionControl for Classic<L> {
    #[inline]
    fn on_ack(&mut self, ack: &Ack, cx: &mut Cx<'_>) {
        // repairs under way, a mark echoed [RFC3168 §6.1.2], or a window that was not filled [RFC7661]: it stands still
        if ack.recovering || ack.marked || ack.app_limited {
            return self.law.pause(ack, cx);
        }
        if self.window < self.threshold {
            // cwnd += min(N, SMSS)                                                      [RFC5681 §3.1, eq. 2]
            let acked = if ack.bytes >= self.segment { 1.0 } else { ack.bytes.in_segments(self.segment).0 };
            match self.law.climb(Segments(self.window), Segments(acked), ack, cx) {
                Some(grown) if grown.0 > self.threshold && self.law.is_whole() => {
                    return self.cross(grown.0 - self.threshold, ack, cx);
                }
                Some(grown) => return self.set(grown.0),
                None => self.threshold = self.window,
            }
        }
        let grown = self.law.grow(Segments(self.window), ack, cx);
        self.set(grown.0);
    }

    #[cold]
    fn on_congestion(&mut self, event: &Congestion, cx: &mut Cx<'_>) {
        if event.first {
            self.before =
                Some(Before { window: self.window, threshold: self.threshold, law: self.law.clone() });
            let cut = Cut { cause: event.cause, flight: event.in_flight.in_segments(self.segment) };
            let kept = self.law.shrink(Segments(self.window), &cut, cx).0;
            // ssthresh = max(…, 2·SMSS)                                                 [RFC5681 §3.1, eq. 4]
            self.threshold = if kept >= LEAST_THRESHOLD { kept } else { LEAST_THRESHOLD };
            match event.cause {
                Cause::Loss => self.set(self.threshold),
                // a mark may leave one segment                                          [RFC9438 §4.6, RFC3168 §6.1.2]
                // our choice: so may a refusal, which as well tells that the network holds no less than before
                Cause::Mark | Cause::Refused => self.set(kept),
                Cause::Timeout => {}
            }
        }
        if event.cause == Cause::Timeout {
            // the loss window                                                           [RFC5681 §3.1]
            self.set(LEAST_WINDOW);
        }
    }

    #[inline]
    fn allowance(&self) -> Allowance {
        Allowance::window(self.allowed)
    }

    /// Puts back what there was before the last cut.
    fn on_spurious(&mut self, _cx: &mut Cx<'_>) {
        let Some(before) = self.before.take() else { return };
        self.law = before.law;
        self.threshold = before.threshold;
        self.set(self.window.max(before.window));
    }

    /// After a silence the window is at most the initial one [RFC5681 §4.1].
    fn on_idle(&mut self, _idle: Duration, _cx: &mut Cx<'_>) {
        if self.window > self.initial {
            self.set(self.initial);
        }
    }

    fn threshold(&self) -> Bytes {
        if self.threshold == f64::INFINITY {
            Bytes::UNLIMITED
        } else {
            Segments(self.threshold).in_bytes_floor(self.segment)
        }
    }
}

/// Minimum window, in segments.
const LEAST_WINDOW: f64 = 1.0;
/// Least threshold, in segments.
const LEAST_THRESHOLD: f64 = 2.0;
