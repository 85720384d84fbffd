//! Consumers for HIS. Windows are in segments.

use contract::{Ack, Allowance, Cause, Congestion, CongestionControl, Cx, Setup};
use units::{Bytes, Segments};

use super::Params;

contract::choice! {
    /// The reaction of a consumer to a NACK.
    pub enum NackReaction {
        /// It halves the data in flight, once per window.
        Aimd = "aimd",
        /// It reduces the window by the one refused segment, each time.
        Relentless = "relentless",
    }
}

/// A window with slow start.
#[derive(Clone, Debug)]
pub struct Consumer {
    segment: Bytes,
    allowed: Bytes,
    window: f64,
    threshold: f64,
    nack_reaction: NackReaction,
}

impl Consumer {
    /// The controller, with its parameters.
    pub fn new(params: &Params, setup: &Setup) -> Self {
        let initial = setup.initial_window.in_segments(setup.segment).0;
        let mut controller = Self {
            segment: setup.segment,
            allowed: Bytes::ZERO,
            window: 1.0,
            threshold: f64::INFINITY,
            nack_reaction: params.consumer,
        };
        controller.set(initial);
        controller
    }

    /// The window W, in segments.
    pub const fn window(&self) -> Segments {
        Segments(self.window)
    }

    #[inline]
    fn set(&mut self, window: f64) {
        self.window = window.clamp(1.0, WIDEST);
        self.allowed = Segments(self.window).in_bytes_floor(self.segment);
    }
}

impl CongestionControl for Consumer {
    #[inline]
    fn on_ack(&mut self, ack: &Ack, _cx: &mut Cx<'_>) {
        if ack.app_limited {
            return;
        }
        // +1 per Data in slow start, +1 per window of Data after it                        [CCNEW]
        let acked = f64::from(ack.packets);
        self.set(self.window + if self.window < self.threshold { acked } else { acked / self.window });
    }

    fn on_congestion(&mut self, event: &Congestion, _cx: &mut Cx<'_>) {
        if self.nack_reaction == NackReaction::Relentless && event.cause == Cause::Refused {
            // cwnd ← cwnd − 1, at least 1; ssthresh = cwnd                                 [CCNEW]
            self.set(self.window - 1.0);
            self.threshold = self.window;
            return;
        }
        // differs: the transport assigns events to episodes; the source compares the Interest's time with the last
        // reduction
        if !event.first {
            return;
        }
        // ssthresh = max(2, in_flight/2), cwnd = ssthresh; after a timeout as well          [CCNEW]
        self.threshold = (event.in_flight.in_segments(self.segment).0 / 2.0).max(2.0);
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
