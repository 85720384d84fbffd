//! Reno's window law.

use contract::{Ack, Cut, Cx, WindowLaw};
use units::Segments;

use super::Params;

contract::choice! {
    /// What congestion avoidance counts.
    pub enum Counting {
        /// Each acknowledgement of new data adds SMSS²/cwnd. With delayed acknowledgements the window grows half as fast.
        Acks = "acks",
        /// Each window of acknowledged bytes adds a segment.
        Bytes = "bytes",
    }
}

contract::choice! {
    /// What slow start counts.
    pub enum SlowStart {
        /// Each acknowledgement adds a segment at most. With delayed acknowledgements the window grows by half each round.
        Acks = "acks",
        /// Each segment acknowledged adds a segment.
        Segments = "segments",
    }
}

/// Additive increase by one segment per round trip, multiplicative decrease by half.
#[derive(Clone, Debug)]
pub struct Reno {
    counting: Counting,
    slow_start: SlowStart,
    /// Segments acknowledged that have not yet made the window grow.
    acked: f64,
}

impl Reno {
    /// The law, with its parameters.
    pub fn new(params: &Params) -> Self {
        Self { counting: params.counting, slow_start: params.slow_start, acked: 0.0 }
    }
}

impl WindowLaw for Reno {
    #[inline]
    fn grow(&mut self, window: Segments, ack: &Ack, _cx: &mut Cx<'_>) -> Segments {
        match self.counting {
            // cwnd += SMSS·SMSS/cwnd                                                [RFC5681 §3.1, eq. 3]
            Counting::Acks => Segments(window.0 + 1.0 / window.0),
            Counting::Bytes => {
                // when the bytes acknowledged reach cwnd, cwnd += SMSS                  [RFC5681 §3.1]
                self.acked += f64::from(ack.packets);
                if self.acked < window.0 {
                    return window;
                }
                self.acked -= window.0;
                Segments(window.0 + 1.0)
            }
        }
    }

    #[inline]
    fn climb(&mut self, window: Segments, step: Segments, ack: &Ack, _cx: &mut Cx<'_>) -> Option<Segments> {
        // cwnd += min(N, SMSS)                                                      [RFC5681 §3.1, eq. 2]
        let step = if self.slow_start == SlowStart::Acks { step.0 } else { f64::from(ack.packets) };
        Some(Segments(window.0 + step))
    }

    fn shrink(&mut self, _window: Segments, cut: &Cut, _cx: &mut Cx<'_>) -> Segments {
        self.acked = 0.0;
        // ssthresh = max(FlightSize/2, 2·SMSS)                                      [RFC5681 §3.1, eq. 4]
        Segments(cut.flight.0 / 2.0)
    }
}
