//! Scalable TCP's window, in whole segments.

use contract::{Ack, Cut, Cx, WindowUpdate};
use units::Segments;

use super::Params;
use crate::shared::Credit;

/// Scalable TCP: multiplicative increase and decrease.
#[derive(Clone, Debug)]
pub struct Scalable {
    ai_count: u64,
    md_shift: u32,
    credit: Credit,
}

impl Scalable {
    /// The controller, with its parameters.
    pub fn new(params: &Params) -> Self {
        Self { ai_count: u64::from(params.ai_count), md_shift: params.md_shift, credit: Credit::default() }
    }
}

impl WindowUpdate for Scalable {
    #[inline]
    fn congestion_avoidance(&mut self, window: Segments, ack: &Ack, _cx: &mut Cx<'_>) -> Segments {
        // cwnd += 1 for each min(cwnd, 100) segments acknowledged              [Linux: tcp_scalable_cong_avoid]
        let w = window.0 as u64;
        Segments(self.credit.grow(w, w.min(self.ai_count), u64::from(ack.packets)) as f64)
    }

    #[inline]
    fn slow_start(&mut self, window: Segments, _: Segments, ack: &Ack, _: &mut Cx<'_>) -> Option<Segments> {
        Some(Segments(window.0 + f64::from(ack.packets)))
    }

    fn ssthresh(&mut self, window: Segments, _cut: &Cut, _cx: &mut Cx<'_>) -> Segments {
        self.credit.clear();
        // ssthresh = max(cwnd − cwnd/8, 2)                                      [Linux: tcp_scalable_ssthresh]
        let w = window.0 as u64;
        Segments((w - (w >> self.md_shift)).max(2) as f64)
    }

    fn integer_cwnd(&self) -> bool {
        true
    }
}
