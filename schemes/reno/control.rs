//! Reno's window.

use contract::{Ack, Cause, Cut, Cx, WindowUpdate};
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
        /// Appropriate Byte Counting: each segment acknowledged adds a segment, at most two per acknowledgement, and
        /// one in the slow start after a timeout.
        Abc = "abc",
    }
}

contract::choice! {
    /// The arithmetic.
    pub enum Variant {
        /// Fractions of segments, as in the RFC.
        Rfc = "rfc",
        /// Whole segments, as in Linux.
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
    /// A timeout was the last reduction, and congestion avoidance has not begun since.
    after_timeout: bool,
    /// Segments acknowledged since the window last grew, for a window of whole segments.
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
            after_timeout: false,
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
        self.after_timeout = false;
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
        let acked = f64::from(ack.packets);
        let mut step = match self.slow_start {
            _ if self.integer_cwnd => acked,
            // cwnd += min(N, SMSS)                                                  [RFC5681 §3.1, eq. 2]
            SlowStart::Acks => step.0,
            SlowStart::Segments => acked,
            // cwnd += min(N, L·SMSS), L = 2, and 1 after a timeout                  [RFC3465 §2.2, §2.3]
            SlowStart::Abc => acked.min(if self.after_timeout { 1.0 } else { 2.0 }),
        };
        if let Some(hystart) = &mut self.hystart {
            step = hystart.slow_start(window.0, step, acked, ack, cx)?;
        }
        Some(Segments(window.0 + step))
    }

    fn ssthresh(&mut self, window: Segments, cut: &Cut, _cx: &mut Cx<'_>) -> Segments {
        self.acked = 0.0;
        self.after_timeout = cut.cause == Cause::Timeout;
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
