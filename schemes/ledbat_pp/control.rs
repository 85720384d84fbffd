//! LEDBAT++'s window.

use contract::{Ack, Allowance, Cause, Congestion, CongestionControl, Cx, Idle, Setup};
use units::{Bytes, Duration, Segments, Time};

use super::Params;
use crate::shared::Delays;

/// The congestion controller LEDBAT++, which needs no support of the receiver.
#[derive(Clone, Debug)]
pub struct LedbatPp {
    params: Params,
    /// In segments.
    window: f64,
    /// Slow-start threshold; infinite before the end of the first slow start.
    threshold: f64,
    /// The window in bytes.
    allowed: Bytes,
    segment: Bytes,
    delays: Delays,
    /// Smoothed round-trip time.
    rtt: Duration,
    /// Start of the next slowdown; [`Time::NEVER`] while none is planned.
    slowdown_at: Time,
    /// Window and threshold before the last reduction.
    undo: Option<(f64, f64)>,
    /// Start of the current slowdown.
    slowed_at: Option<Time>,
    /// The window stays at its minimum until then.
    frozen_until: Time,
}

impl LedbatPp {
    /// The controller, with its parameters.
    pub fn new(params: &Params, setup: &Setup) -> Self {
        let mut controller = Self {
            params: params.clone(),
            window: 0.0,
            threshold: f64::INFINITY,
            allowed: Bytes::ZERO,
            segment: setup.segment,
            delays: Delays::new(params.base_history, params.current_filter),
            rtt: Duration::ZERO,
            slowdown_at: Time::NEVER,
            undo: None,
            slowed_at: None,
            frozen_until: Time::ZERO,
        };
        controller.set(params.min_cwnd);
        controller
    }

    /// The congestion window.
    pub fn window(&self) -> Segments {
        Segments(self.window)
    }

    /// Start of the next slowdown; [`Time::NEVER`] while none is planned.
    pub fn next_slowdown(&self) -> Time {
        self.slowdown_at
    }

    /// The gain relative to Reno, from the round-trip time of an empty queue.
    pub fn gain(&self) -> f64 {
        // GAIN = 1/min(16, ⌈2·TARGET/base⌉)                                                [LEDBATPP §4.2]
        let base = self.delays.base().unwrap_or(0).max(1) as u64;
        let ratio = (2 * self.params.target.as_nanos()).div_ceil(base);
        1.0 / self.params.gain_divisor.min(ratio as f64)
    }

    fn set(&mut self, window: f64) {
        self.window = window.max(LOSS_WINDOW);
        self.allowed = Segments(self.window).in_bytes_floor(self.segment);
    }

    /// Ends slow start and plans the next slowdown.
    fn end_slow_start(&mut self, cx: &mut Cx<'_>) {
        let now = cx.now();
        if let Some(began) = self.slowed_at.take() {
            // the next slowdown after nine times the duration of this one, from its start until the window is restored
            // [LEDBATPP §4.4]
            let took = now.saturating_since(began);
            self.slowdown_at = now + took.scaled(self.params.interval);
            cx.event("slowdown", took.as_secs_f64());
        } else if self.slowdown_at == Time::NEVER {
            // the first, two round trips after the first slow start                            [LEDBATPP §4.4]
            self.slowdown_at = now + self.rtt.scaled(self.params.first_wait);
        }
    }

    fn grow(&mut self, ack: &Ack, queueing: Duration, cx: &mut Cx<'_>) {
        let acked = ack.bytes.in_segments(self.segment).0;
        if self.window < self.threshold {
            // the first slow start ends at 3/4 of the target; later ones at the former window  [LEDBATPP §4.1]
            let full = queueing > self.params.target.scaled(self.params.exit_share);
            if full && self.threshold == f64::INFINITY {
                self.threshold = self.window;
                return self.end_slow_start(cx);
            }
            // cwnd += GAIN per segment acknowledged                                            [LEDBATPP §4.1]
            self.set((self.window + self.gain() * acked).min(self.threshold));
            if self.window >= self.threshold {
                self.end_slow_start(cx);
            }
        } else if queueing <= self.params.target {
            // Reno's step, scaled: W += GAIN/W per segment                                     [LEDBATPP §4.2]
            self.set(self.window + self.gain() * acked / self.window);
        }
    }
}

impl CongestionControl for LedbatPp {
    fn on_ack(&mut self, ack: &Ack, cx: &mut Cx<'_>) {
        let now = cx.now();
        self.rtt = ack.rtt_smoothed;
        if let Some(rtt) = ack.rtt {
            // differs from LEDBAT: round-trip times, which need only one clock                 [LEDBATPP §4.5]
            let nanos = i64::try_from(rtt.as_nanos()).unwrap_or(i64::MAX);
            self.delays.take(nanos, ack.rtt_smoothed, now);
        }
        let queueing = self.delays.queueing();
        cx.probe("queue_delay", queueing.as_secs_f64());
        // differs: no growth in recovery, as in TCP
        if ack.recovering || now < self.frozen_until {
            return;
        }
        let avoiding = self.window >= self.threshold;
        if avoiding && now >= self.slowdown_at {
            // ssthresh = W, W = 2 for two round trips, then slow start                         [LEDBATPP §4.4]
            self.threshold = self.window;
            self.slowed_at = Some(now);
            self.slowdown_at = Time::NEVER;
            self.frozen_until = now + self.rtt.scaled(self.params.freeze);
            return self.set(self.params.min_cwnd);
        }
        if avoiding && queueing > self.params.target {
            // per round trip: W += max(GAIN − C·W·(queueing/TARGET − 1), −W/2), at least 2     [LEDBATPP §4.3]
            if ack.round_ended {
                let excess = queueing.as_secs_f64() / self.params.target.as_secs_f64() - 1.0;
                let step = self.gain() - self.params.constant * self.window * excess;
                self.set((self.window + step.max(-self.window / 2.0)).max(self.params.min_cwnd));
                self.threshold = self.threshold.min(self.window);
            }
            return;
        }
        // no growth with a window that is not full
        if !ack.app_limited {
            self.grow(ack, queueing, cx);
        }
    }

    fn on_congestion(&mut self, event: &Congestion, cx: &mut Cx<'_>) {
        let min = self.params.min_cwnd;
        if event.first {
            self.undo = Some((self.window, self.threshold));
            if cx.now() < self.frozen_until {
                // the lost packets were sent before the slowdown: half of the former window        [RFC6817 §2.4.2]
                self.threshold = (self.threshold / 2.0).max(min);
            } else {
                // half, at most once per round trip                                                [RFC6817 §2.4.2]
                self.threshold = (self.window / 2.0).max(min);
                self.set(self.window.min(self.threshold));
            }
        }
        if event.cause == Cause::Timeout {
            // slow start from one segment                                                      [RFC5681 §3.1]
            self.set(LOSS_WINDOW);
            self.frozen_until = Time::ZERO;
        } else if event.first && self.window >= self.threshold {
            self.end_slow_start(cx);
        }
    }

    /// The packets were overtaken, not lost: window and threshold are those before the reduction (RFC 4015 §3.2).
    fn on_spurious(&mut self, _cx: &mut Cx<'_>) {
        if let Some((window, threshold)) = self.undo.take() {
            self.threshold = threshold;
            self.set(self.window.max(window));
        }
    }

    fn allowance(&self) -> Allowance {
        Allowance::window(self.allowed)
    }

    /// After an idle time, in which the queue was empty, the window is at most the initial window [RFC5681 §4.1].
    fn on_idle(&mut self, _idle: &Idle, _cx: &mut Cx<'_>) {
        self.set(self.window.min(self.params.min_cwnd));
    }

    fn ssthresh(&self) -> Bytes {
        Segments(self.threshold).in_bytes_floor(self.segment)
    }
}

/// Window after a timeout, in segments.
const LOSS_WINDOW: f64 = 1.0;
