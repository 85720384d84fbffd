//! Reno's window.

use contract::{Ack, Cut, Cx, WindowUpdate};
use units::Segments;

use super::Params;
use crate::shared::{Credit, HyStart};

contract::choice! {
    /// The unit of congestion avoidance.
    pub enum Counting {
        /// Each acknowledgement of new data adds SMSS²/cwnd. With delayed ACKs the window grows half as fast.
        Acks = "acks",
        /// Each window of acknowledged bytes adds a segment.
        Bytes = "bytes",
    }
}

contract::choice! {
    /// The unit of slow start.
    pub enum SlowStart {
        /// Each acknowledgement adds at most one segment. With delayed ACKs the window grows by half per round.
        Acks = "acks",
        /// Each segment acknowledged adds a segment.
        Segments = "segments",
    }
}

contract::choice! {
    /// The arithmetic.
    pub enum Variant {
        /// That of the RFC, with fractions of a segment.
        Rfc = "rfc",
        /// That of Linux, in whole segments.
        Linux = "linux",
    }
}

/// Reno: additive increase by one segment per round trip, multiplicative decrease by half.
#[derive(Clone, Debug)]
pub struct Reno {
    counting: Counting,
    slow_start: SlowStart,
    /// Whether the window is in whole segments.
    integer_cwnd: bool,
    /// Segments acknowledged since the window last grew.
    acked: f64,
    /// The same, where they are whole.
    credit: Credit,
    hystart: Option<Box<HyStart>>,
}

impl Reno {
    /// The controller, with its parameters.
    pub fn new(params: &Params) -> Self {
        let integer_cwnd = params.variant == Variant::Linux;
        Self {
            counting: params.counting,
            slow_start: params.slow_start,
            integer_cwnd,
            acked: 0.0,
            credit: Credit::default(),
            hystart: HyStart::new(params.hystart),
        }
    }
}

impl WindowUpdate for Reno {
    #[inline]
    fn congestion_avoidance(&mut self, window: Segments, ack: &Ack, _cx: &mut Cx<'_>) -> Segments {
        if self.integer_cwnd {
            // one segment per window of acknowledged segments                          [Linux: tcp_reno_cong_avoid]
            let w = window.0 as u64;
            return Segments(self.credit.grow(w, w, u64::from(ack.packets)) as f64);
        }
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

    fn integer_cwnd(&self) -> bool {
        self.integer_cwnd
    }

    #[inline]
    fn slow_start(
        &mut self,
        window: Segments,
        step: Segments,
        ack: &Ack,
        cx: &mut Cx<'_>,
    ) -> Option<Segments> {
        // cwnd += min(N, SMSS)                                                      [RFC5681 §3.1, eq. 2]
        let by_acks = self.slow_start == SlowStart::Acks && !self.integer_cwnd;
        let acked = f64::from(ack.packets);
        let mut step = if by_acks { step.0 } else { acked };
        if let Some(hystart) = &mut self.hystart {
            step = hystart.slow_start(window.0, step, acked, ack, cx)?;
        }
        Some(Segments(window.0 + step))
    }

    fn ssthresh(&mut self, window: Segments, cut: &Cut, _cx: &mut Cx<'_>) -> Segments {
        self.acked = 0.0;
        self.credit.clear();
        if let Some(hystart) = &mut self.hystart {
            hystart.on_reduction(cut.cause);
        }
        if self.integer_cwnd {
            // ssthresh = max(cwnd/2, 2): of the window, not of the data in flight      [Linux: tcp_reno_ssthresh]
            return Segments((window.0 as u64 / 2).max(2) as f64);
        }
        // ssthresh = max(FlightSize/2, 2·SMSS)                                      [RFC5681 §3.1, eq. 4]
        Segments(cut.flight.0 / 2.0)
    }
}
