//! Consumers for stateful forwarding. Windows are in segments.

use contract::{Ack, Allowance, Cause, Congestion, CongestionControl, Cx, Setup};
use units::{Bytes, Segments};

use super::Params;

contract::choice! {
    /// How a consumer's window changes.
    pub enum Window {
        /// +1 segment per window of Data, half after a NACK or a loss, once per window.
        Aimd = "aimd",
        /// +1 segment per Data; a loss resets it to the initial window. The network limits the flow.
        Additive = "additive",
        /// +1 segment per Data, −1 per NACK; a loss resets it to the initial window.
        Counting = "counting",
    }
}

/// A consumer's window.
#[derive(Clone, Debug)]
pub struct Consumer {
    segment: Bytes,
    allowed: Bytes,
    initial: f64,
    window: f64,
    max: f64,
    controller: Window,
}

impl Consumer {
    /// The controller, with its parameters.
    pub fn new(params: &Params, setup: &Setup) -> Self {
        let initial = setup.initial_window.in_segments(setup.segment).max(Segments(1.0)).0;
        let mut controller = Self {
            segment: setup.segment,
            allowed: Bytes::ZERO,
            initial,
            window: initial,
            max: f64::from(params.max_window),
            controller: params.consumer,
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
        // differs: the source allows a window of zero, which it probes twice per second; the minimum is one segment
        // here
        self.window = window.min(self.max).max(1.0);
        self.allowed = Segments(self.window).in_bytes_floor(self.segment);
    }
}

impl CongestionControl for Consumer {
    #[inline]
    fn on_ack(&mut self, ack: &Ack, _cx: &mut Cx<'_>) {
        if ack.app_limited {
            return;
        }
        let acked = f64::from(ack.packets);
        self.set(match self.controller {
            // W ← W + 1/W                                                                [YIC]
            Window::Aimd => self.window + acked / self.window,
            // W ← W + 1                                                                  [CAWKA, YIC]
            Window::Additive | Window::Counting => self.window + acked,
        });
    }

    fn on_congestion(&mut self, event: &Congestion, _cx: &mut Cx<'_>) {
        let reduced = match (self.controller, event.cause) {
            // our choice: half, once per window; the same after a mark
            (Window::Aimd, _) if event.first => self.window / 2.0,
            // W ← W − 1 with each NACK                                                   [YIC]
            (Window::Counting, Cause::Refused) => self.window - 1.0,
            // a timeout resets the window to the initial one                             [CAWKA, YIC]
            (Window::Additive | Window::Counting, Cause::Loss | Cause::Timeout) => self.initial,
            _ => return,
        };
        self.set(reduced);
    }

    #[inline]
    fn allowance(&self) -> Allowance {
        Allowance::window(self.allowed)
    }
}
