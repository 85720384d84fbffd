//! The common frame of window schemes: slow start, threshold, minimum, one reduction per episode, undo.

use contract::{
    Ack, Allowance, Cause, Congestion, CongestionControl, Cut, Cx, Idle, Sent, Setup, WindowUpdate,
};
use units::{Bytes, Segments};

/// A congestion controller made of a [`WindowUpdate`], which determines congestion avoidance and the reduction.
///
/// Slow start adds one segment per acknowledgement of a segment or more [RFC5681 §3.1, eq. 2], unless the window update
/// differs. The window and the threshold are in segments; `allowance` rounds the window down to whole bytes.
#[derive(Clone, Debug)]
pub struct Classic<L> {
    window: f64,
    ssthresh: f64,
    /// `window` in bytes.
    allowed: Bytes,
    segment: Bytes,
    update: L,
    /// The state before the last reduction, which a spurious one restores. Beside the others, because few packets need
    /// it.
    undo: Option<Box<UndoState<L>>>,
    initial: f64,
}

#[derive(Clone, Debug)]
struct UndoState<L> {
    window: f64,
    ssthresh: f64,
    update: L,
}

impl<L: WindowUpdate> Classic<L> {
    /// Starts in slow start with the initial window and no threshold [RFC5681 §3.1].
    pub fn new(update: L, setup: &Setup) -> Self {
        let initial = setup.initial_window.in_segments(setup.segment).max(Segments(1.0)).0;
        let mut classic = Self {
            window: initial,
            ssthresh: f64::INFINITY,
            allowed: Bytes::ZERO,
            segment: setup.segment,
            update,
            undo: None,
            initial,
        };
        classic.set(initial);
        classic
    }

    /// The congestion window.
    pub fn window(&self) -> Segments {
        Segments(self.window)
    }

    /// The window update.
    pub fn update(&self) -> &L {
        &self.update
    }

    /// Takes a reduction back: the window was this one.
    pub fn restore(&mut self, window: f64) {
        self.set(window);
    }

    /// The window update, to change.
    pub fn update_mut(&mut self) -> &mut L {
        &mut self.update
    }

    /// Whether the window is below the threshold.
    #[inline]
    pub fn in_slow_start(&self) -> bool {
        self.window < self.ssthresh
    }

    /// Slow start reaches the threshold with `excess` acknowledged segments left over [Linux: tcp_slow_start].
    #[cold]
    fn cross_ssthresh(&mut self, excess: f64, ack: &Ack, cx: &mut Cx<'_>) {
        if !self.update.counts_excess() {
            return self.set(self.ssthresh);
        }
        let excess_ack = Ack { packets: excess as u32, bytes: self.segment * excess as u64, ..*ack };
        let next = self.update.congestion_avoidance(Segments(self.ssthresh), &excess_ack, cx);
        self.set(next.0);
    }

    /// Remembers three quarters of the window [RFC2861 §3.2; Linux: tcp_current_ssthresh].
    fn raise_ssthresh(&mut self) {
        let remembered = if self.update.integer_cwnd() {
            let window = self.window as u64;
            (window / 2 + window / 4) as f64
        } else {
            0.75 * self.window
        };
        self.ssthresh = self.ssthresh.max(remembered);
    }

    fn set_decayed(&mut self, window: f64) {
        self.set(if self.update.integer_cwnd() { window.floor() } else { window });
    }

    #[inline]
    fn set(&mut self, window: f64) {
        self.window = if window >= MIN_CWND { window } else { MIN_CWND };
        self.allowed = Segments(self.window).in_bytes_floor(self.segment);
    }
}

impl<L: WindowUpdate> CongestionControl for Classic<L> {
    #[inline]
    fn on_ack(&mut self, ack: &Ack, cx: &mut Cx<'_>) {
        // in recovery, with an echoed mark [RFC3168 §6.1.2], or with a window that was not full [RFC7661]: no growth
        if ack.recovering || ack.marked || ack.app_limited {
            return self.update.pause(ack, cx);
        }
        if self.window < self.ssthresh {
            // cwnd += min(N, SMSS)                                                      [RFC5681 §3.1, eq. 2]
            let acked = if ack.bytes >= self.segment { 1.0 } else { ack.bytes.in_segments(self.segment).0 };
            match self.update.slow_start(Segments(self.window), Segments(acked), ack, cx) {
                Some(next) if next.0 > self.ssthresh && self.update.integer_cwnd() => {
                    return self.cross_ssthresh(next.0 - self.ssthresh, ack, cx);
                }
                Some(next) => return self.set(next.0),
                None => self.ssthresh = self.window,
            }
        }
        let next = self.update.congestion_avoidance(Segments(self.window), ack, cx);
        self.set(next.0);
    }

    #[cold]
    fn on_congestion(&mut self, event: &Congestion, cx: &mut Cx<'_>) {
        if event.first {
            let state =
                UndoState { window: self.window, ssthresh: self.ssthresh, update: self.update.clone() };
            match &mut self.undo {
                Some(undo) => **undo = state,
                None => self.undo = Some(Box::new(state)),
            }
            let cut = Cut { cause: event.cause, flight: event.in_flight.in_segments(self.segment) };
            let reduced = self.update.ssthresh(Segments(self.window), &cut, cx).0;
            // ssthresh = max(…, 2·SMSS)                                                 [RFC5681 §3.1, eq. 4]
            self.ssthresh = if reduced >= MIN_SSTHRESH { reduced } else { MIN_SSTHRESH };
            match event.cause {
                Cause::Loss => self.set(self.ssthresh),
                // a mark may leave one segment                                          [RFC9438 §4.6, RFC3168 §6.1.2]
                // our choice: a NACK as well, because it does not show that the network holds less than before
                Cause::Mark | Cause::Refused => self.set(reduced),
                Cause::Timeout => {}
            }
        }
        if event.cause == Cause::Timeout {
            // the loss window                                                           [RFC5681 §3.1]
            self.set(MIN_CWND);
        }
    }

    #[inline]
    fn allowance(&self) -> Allowance {
        Allowance::window(self.allowed)
    }

    #[inline]
    fn on_sent(&mut self, sent: &Sent, cx: &mut Cx<'_>) {
        if sent.in_flight == sent.bytes {
            self.update.on_transmission_start(sent.idle, cx);
        }
    }

    /// Restores the state before the last reduction.
    fn on_spurious(&mut self, _cx: &mut Cx<'_>) {
        let Some(undo) = self.undo.take() else { return };
        self.update = undo.update;
        self.ssthresh = undo.ssthresh;
        self.set(self.window.max(undo.window));
    }

    /// After an idle time the window is at most the initial window [RFC5681 §4.1]. With a window that decays it is
    /// halved, and three quarters of it are a minimum of the threshold [RFC2861 §3.2].
    fn on_idle(&mut self, idle: &Idle, _cx: &mut Cx<'_>) {
        if idle.halvings.is_some() {
            self.raise_ssthresh();
        }
        if self.window > self.initial {
            self.set_decayed(idle.restart(self.window, self.initial));
        }
    }

    /// The window goes half of the way to what is used of it, at least the initial window [RFC2861 §3.2].
    fn on_unused(&mut self, used: Bytes, _cx: &mut Cx<'_>) {
        let used = used.in_segments(self.segment).0.max(self.initial);
        if used < self.window {
            self.raise_ssthresh();
            self.set_decayed((self.window + used) / 2.0);
        }
    }

    fn ssthresh(&self) -> Bytes {
        if self.ssthresh == f64::INFINITY {
            Bytes::UNLIMITED
        } else {
            Segments(self.ssthresh).in_bytes_floor(self.segment)
        }
    }
}

/// Minimum window, in segments.
const MIN_CWND: f64 = 1.0;
/// Minimum slow-start threshold, in segments.
const MIN_SSTHRESH: f64 = 2.0;
