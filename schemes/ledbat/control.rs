//! LEDBAT's window.

use contract::{Ack, Allowance, Cause, Congestion, CongestionControl, Cx, Idle, Setup};
use units::{Bytes, Duration, Segments};

use super::Params;
use crate::shared::Delays;

/// The congestion controller LEDBAT. It needs only TCP timestamps of the receiver.
#[derive(Clone, Debug)]
pub struct Ledbat {
    params: Params,
    /// In segments.
    window: f64,
    /// The window in bytes.
    allowed: Bytes,
    segment: Bytes,
    delays: Delays,
    /// The window before the last reduction.
    undo: Option<f64>,
}

impl Ledbat {
    /// The controller, with its parameters.
    pub fn new(params: &Params, setup: &Setup) -> Self {
        let delays = Delays::new(params.base_history, params.current_filter);
        let (segment, allowed) = (setup.segment, Bytes::ZERO);
        let mut controller =
            Self { params: params.clone(), window: 0.0, allowed, segment, delays, undo: None };
        controller.set(params.init_cwnd);
        controller
    }

    /// The congestion window.
    pub fn window(&self) -> Segments {
        Segments(self.window)
    }

    /// The estimated queueing delay.
    pub fn queue_delay(&self) -> Duration {
        self.delays.queueing()
    }

    fn set(&mut self, window: f64) {
        self.window = window.max(LOSS_WINDOW);
        self.allowed = Segments(self.window).in_bytes_floor(self.segment);
    }
}

impl CongestionControl for Ledbat {
    fn on_ack(&mut self, ack: &Ack, cx: &mut Cx<'_>) {
        if let Some(delay) = ack.delay() {
            self.delays.take(delay, ack.rtt_smoothed, cx.now());
        }
        let queueing = self.delays.queueing();
        cx.probe("queue_delay", queueing.as_secs_f64());
        // differs: no growth in recovery, as in TCP
        if ack.recovering {
            return;
        }
        let Params { target, gain, allowed_increase, min_cwnd, .. } = self.params;
        // off_target = (TARGET − queuing_delay)/TARGET                                     [RFC6817 §2.4.2]
        let off_target = 1.0 - queueing.as_secs_f64() / target.as_secs_f64();
        // cwnd += GAIN·off_target·bytes_newly_acked·MSS/cwnd
        let acked = ack.bytes.in_segments(self.segment).0;
        let aim = self.window + gain * off_target * acked / self.window;
        // max_allowed_cwnd = flightsize + ALLOWED_INCREASE·MSS, flightsize before this acknowledgement
        let max = ack.in_flight.in_segments(self.segment).0 + allowed_increase;
        // the limit is for an application that does not use the window; segments that were overtaken are neither in
        // flight nor acknowledged in order
        let max = if ack.app_limited { max } else { max.max(self.window) };
        // cwnd = max(min(cwnd, max_allowed_cwnd), MIN_CWND·MSS)
        self.set(aim.min(max).max(min_cwnd));
    }

    fn on_congestion(&mut self, event: &Congestion, _cx: &mut Cx<'_>) {
        if event.cause == Cause::Timeout {
            // cwnd = 1·MSS; the transport doubles the timeout                              [RFC6817 §2.4.2: CTO]
            self.set(LOSS_WINDOW);
        } else if event.first {
            self.undo = Some(self.window);
            // once per round trip: cwnd = min(cwnd, max(cwnd/2, MIN_CWND·MSS))             [RFC6817 §2.4.2]
            self.set(self.window.min((self.window / 2.0).max(self.params.min_cwnd)));
        }
    }

    /// The packets were overtaken, not lost: the window is that before the reduction (RFC 4015 §3.2).
    fn on_spurious(&mut self, _cx: &mut Cx<'_>) {
        if let Some(window) = self.undo.take() {
            self.set(self.window.max(window));
        }
    }

    fn allowance(&self) -> Allowance {
        Allowance::window(self.allowed)
    }

    /// After an idle time the window is at most the initial window [RFC5681 §4.1].
    fn on_idle(&mut self, _idle: &Idle, _cx: &mut Cx<'_>) {
        self.set(self.window.min(self.params.init_cwnd));
    }
}

/// Window after a timeout, in segments.
const LOSS_WINDOW: f64 = 1.0;
