//! TCP-LP's window.

use contract::{Ack, Allowance, Cause, Congestion, CongestionControl, Cx, Delivery, Idle, Setup};
use units::{Bytes, Duration, Segments, Time};

use super::Params;

contract::choice! {
    /// Which segment's one-way delay is a sample.
    pub enum Sample {
        /// The newest covered segment. Acknowledgements of one segment are excluded if the receiver delays ACKs.
        Newest = "newest",
        /// The segment with the echoed timestamp. Its sample includes the delay of a delayed ACK.
        Echoed = "echoed",
    }
}

contract::choice! {
    /// The algorithm.
    pub enum Variant {
        /// The algorithm of the paper.
        Paper = "paper",
        /// The algorithm of Linux.
        Linux = "linux",
    }
}

/// The congestion controller TCP-LP. It needs only TCP timestamps of the receiver.
#[derive(Clone, Debug)]
pub struct TcpLp {
    params: Params,
    /// In segments.
    window: f64,
    threshold: f64,
    /// The window in bytes.
    allowed: Bytes,
    segment: Bytes,
    initial: f64,
    delays: Option<Delays>,
    /// Window and threshold before the last reduction.
    undo: Option<(f64, f64)>,
    /// Time of the last early reduction.
    reduced_at: Time,
    /// End of the inference phase.
    inferring_until: Time,
    rtt: Duration,
    /// Smoothed share of acknowledgements that cover two segments or more.
    pairs: f64,
}

/// One-way delays relative to the first one, in nanoseconds; the two clocks need not agree. The difference keeps the
/// smoothed delay exact.
#[derive(Clone, Copy, Debug)]
struct Delays {
    first: i64,
    smoothed: f64,
    min: f64,
    max: f64,
    /// The sample of the current acknowledgement, if there is one, and the departure of its segment.
    last: Option<(f64, Time)>,
}

impl TcpLp {
    /// The controller, with its parameters.
    pub fn new(params: &Params, setup: &Setup) -> Self {
        let initial = setup.initial_window.in_segments(setup.segment).0.max(MIN_WINDOW);
        let mut controller = Self {
            params: params.clone(),
            window: 0.0,
            threshold: f64::INFINITY,
            allowed: Bytes::ZERO,
            segment: setup.segment,
            initial,
            delays: None,
            undo: None,
            reduced_at: Time::ZERO,
            inferring_until: Time::ZERO,
            rtt: Duration::ZERO,
            pairs: 0.0,
        };
        controller.set(initial);
        controller
    }

    /// The congestion window.
    pub fn window(&self) -> Segments {
        Segments(self.window)
    }

    fn set(&mut self, window: f64) {
        self.window = window.max(MIN_WINDOW);
        self.allowed = Segments(self.window).in_bytes_floor(self.segment);
    }

    /// Takes a sample of the one-way delay.
    fn sample(&mut self, delay: i64, sent_at: Time) {
        let Some(d) = &mut self.delays else {
            self.delays = Some(Delays { first: delay, smoothed: 0.0, min: 0.0, max: 0.0, last: None });
            return;
        };
        let sample = delay.saturating_sub(d.first) as f64;
        // sd = (1 − γ)·sd + γ·d                                                            [KK03 §III]
        d.smoothed += self.params.gamma * (sample - d.smoothed);
        d.min = d.min.min(sample);
        d.max = d.max.max(sample);
        d.last = Some((sample, sent_at));
    }

    /// Whether the last sample indicates congestion. Each sample counts once.
    fn is_early(&mut self) -> bool {
        let Some(d) = &mut self.delays else { return false };
        let Some((last, sent_at)) = d.last.take() else { return false };
        // sd > d_min + (d_max − d_min)·δ                                                   [KK03 §III]
        let threshold = d.min + (d.max - d.min) * self.params.delta;
        let (fresh, after_cut) = (last > threshold, sent_at >= self.reduced_at);
        d.smoothed > threshold && (fresh || !self.params.fresh) && (after_cut || !self.params.after_cut)
    }

    /// Handles early congestion [KK03 §III].
    fn infer(&mut self, cx: &mut Cx<'_>) {
        let now = cx.now();
        if now < self.inferring_until {
            // a second indication within the phase: other traffic is present, so the window becomes one segment
            self.set(MIN_WINDOW);
            cx.event("persistent", 1.0);
        } else {
            self.set(self.window / 2.0);
            cx.event("early", self.window);
        }
        // the window grows from here without slow start
        self.threshold = self.window;
        self.reduced_at = now;
        self.inferring_until = now + self.rtt.scaled(self.params.inference);
    }
}

impl CongestionControl for TcpLp {
    fn on_ack(&mut self, ack: &Ack, cx: &mut Cx<'_>) {
        self.rtt = ack.rtt_smoothed;
        if let (Sample::Echoed, Some(delay)) = (self.params.sample, ack.delay()) {
            self.sample(delay, ack.sent_at);
        }
        if let Some(d) = self.delays
            && cx.probing()
        {
            cx.probe("queue_delay", (d.smoothed - d.min) * 1e-9);
        }
        let early = self.is_early();
        if ack.recovering || ack.marked {
            return;
        }
        let slow_start = self.window < self.threshold;
        if early && (!slow_start || self.params.early_in_slow_start) {
            return self.infer(cx);
        }
        // no growth in the inference phase                                                 [KK03 §III]
        if ack.app_limited || cx.now() < self.inferring_until {
            return;
        }
        let acked = ack.bytes.in_segments(self.segment).0.min(1.0);
        if slow_start {
            // cwnd += min(N, SMSS)                                                         [RFC5681 §3.1, eq. 2]
            self.set(self.window + acked);
        } else {
            // cwnd += 1/cwnd                                                           [KK03 §III, RFC5681 §3.1, eq. 3]
            self.set(self.window + 1.0 / self.window);
        }
    }

    fn samples_delivery(&self) -> bool {
        self.params.sample == Sample::Newest
    }

    fn on_delivery(&mut self, delivery: &Delivery, cx: &mut Cx<'_>) {
        let pair = delivery.bytes >= self.segment * 2;
        // with few segments in flight the receiver has none to wait for
        let enough = Segments(self.params.pairs_flight).in_bytes_floor(self.segment);
        if delivery.in_flight_before >= enough && !delivery.recovering {
            self.pairs += self.params.pairs_weight * (f64::from(u8::from(pair)) - self.pairs);
        }
        if let (Some(delay), Some(rtt)) = (delivery.delay, delivery.rtt)
            && (pair || self.pairs <= self.params.pairs)
        {
            self.sample(delay, cx.now() - rtt);
        }
    }

    fn on_congestion(&mut self, event: &Congestion, _cx: &mut Cx<'_>) {
        if event.first {
            self.undo = Some((self.window, self.threshold));
            // ssthresh = max(FlightSize/2, 2·SMSS)                                         [RFC5681 §3.1, eq. 4]
            let flight = event.in_flight.in_segments(self.segment).0;
            self.threshold = (flight / 2.0).max(MIN_THRESHOLD);
            self.set(self.threshold);
        }
        if event.cause == Cause::Timeout {
            self.set(MIN_WINDOW);
        }
    }

    /// The segments were overtaken, not lost: window and threshold are those before the reduction (RFC 4015 §3.2).
    fn on_spurious(&mut self, _cx: &mut Cx<'_>) {
        if let Some((window, threshold)) = self.undo.take() {
            self.threshold = threshold;
            self.set(self.window.max(window));
        }
    }

    fn allowance(&self) -> Allowance {
        Allowance::window(self.allowed)
    }

    /// After an idle time the window is at most the initial window [RFC5681 §4.1], or halved (RFC 2861 §3.2).
    fn on_idle(&mut self, idle: &Idle, _cx: &mut Cx<'_>) {
        self.set(idle.restart(self.window, self.initial));
    }

    /// The window goes half of the way to what is used of it, at least the initial window (RFC 2861 §3.2).
    fn on_unused(&mut self, used: Bytes, _cx: &mut Cx<'_>) {
        let used = used.in_segments(self.segment).0.max(self.initial);
        if used < self.window {
            self.set((self.window + used) / 2.0);
        }
    }

    fn ssthresh(&self) -> Bytes {
        Segments(self.threshold.max(MIN_WINDOW)).in_bytes_floor(self.segment)
    }
}

/// Minimum window, in segments.
const MIN_WINDOW: f64 = 1.0;
/// Minimum threshold after a loss, in segments.
const MIN_THRESHOLD: f64 = 2.0;
