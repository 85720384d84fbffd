//! HighSpeed TCP's table and window, in whole segments.

use contract::{Ack, Cut, Cx, WindowUpdate};
use units::{Segments, math};

use super::Params;
use crate::shared::Credit;

/// HighSpeed TCP: AIMD with an increase and a reduction by the window.
#[derive(Clone, Debug)]
pub struct HighSpeed {
    table: Box<[Row]>,
    /// Index of the current row; the increase is one more.
    pub(super) row: usize,
    credit: Credit,
}

/// A row of the table: it applies to windows above the row before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Row {
    /// Maximum window, in segments.
    pub(super) window: u64,
    /// Share of the window that a loss takes, in parts of 256.
    pub(super) decrease: u64,
}

impl HighSpeed {
    /// The controller, with its parameters.
    pub fn new(params: &Params) -> Self {
        Self { table: table(params), row: 0, credit: Credit::default() }
    }
}

impl WindowUpdate for HighSpeed {
    #[inline]
    fn congestion_avoidance(&mut self, window: Segments, _ack: &Ack, _cx: &mut Cx<'_>) -> Segments {
        let w = window.0 as u64;
        while w > self.table[self.row].window && self.row + 1 < self.table.len() {
            self.row += 1;
        }
        while self.row > 0 && w <= self.table[self.row - 1].window {
            self.row -= 1;
        }
        // cwnd += a(w)/cwnd per acknowledgement, whatever it covers                  [RFC3649; Linux: hstcp_cong_avoid]
        self.credit.add(self.row as u64 + 1);
        Segments(self.credit.spend(w) as f64)
    }

    #[inline]
    fn slow_start(&mut self, window: Segments, _: Segments, ack: &Ack, _: &mut Cx<'_>) -> Option<Segments> {
        Some(Segments(window.0 + f64::from(ack.packets)))
    }

    fn ssthresh(&mut self, window: Segments, _cut: &Cut, _cx: &mut Cx<'_>) -> Segments {
        self.credit.clear();
        // ssthresh = max(cwnd − b(w)·cwnd, 2), with the row of the last growth             [Linux: hstcp_ssthresh]
        let w = window.0 as u64;
        Segments((w - ((w * self.table[self.row].decrease) >> 8)).max(2) as f64)
    }

    fn integer_cwnd(&self) -> bool {
        true
    }

    fn counts_excess(&self) -> bool {
        false
    }
}

/// The table of RFC 3649: a row ends at the first window whose increase is more than one above the increase of the row
/// before. [RFC3649 appendix B]
pub(super) fn table(params: &Params) -> Box<[Row]> {
    let low = f64::from(params.low_window);
    let span = math::ln(f64::from(params.high_window)) - math::ln(low);
    // b(w) = (High_Decrease − 0.5)·(ln w − ln Low_Window)/(ln High_Window − ln Low_Window) + 0.5      [RFC3649]
    let decrease = |w: f64| (params.high_decrease - 0.5) * (math::ln(w) - math::ln(low)) / span + 0.5;
    // a(w) = w²·p(w)·2·b(w)/(2 − b(w))                                                          [RFC3649]
    let increase = |w: f64| {
        let b = decrease(w);
        w * w * 2.0 * b / ((2.0 - b) * math::pow(w, params.exponent) * params.response)
    };
    let mut rows = vec![Row { window: u64::from(params.low_window), decrease: 128 }];
    let mut last = 1.0;
    while rows.len() < params.rows as usize {
        let below = rows[rows.len() - 1].window;
        let Some(window) = first_above(below, |w| increase(w as f64) > last + 1.0) else { break };
        last = increase(window as f64);
        rows.push(Row { window, decrease: (256.0 * decrease(window as f64)) as u64 });
    }
    rows.into()
}

/// The first number above `below` for which `holds`, if it holds for all from there on; `None` if it holds nowhere up
/// to [`WIDEST`].
fn first_above(below: u64, holds: impl Fn(u64) -> bool) -> Option<u64> {
    let (mut not, mut yes) = (below, below + 1);
    while !holds(yes) {
        (not, yes) = (yes, yes * 2);
        if yes > WIDEST {
            return None;
        }
    }
    while yes - not > 1 {
        let middle = not.midpoint(yes);
        if holds(middle) { yes = middle } else { not = middle }
    }
    Some(yes)
}

/// Maximum window of a row, above any that a path can have.
const WIDEST: u64 = 100_000_000;
