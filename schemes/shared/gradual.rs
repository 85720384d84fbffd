//! A window that is reduced in proportion to marks: slow start, growth by one segment per window, one reduction per
//! episode.

use contract::{Ack, Cause, Congestion, Setup};
use units::{Bytes, Segments};

/// The window, in segments.
#[derive(Clone, Debug)]
pub struct Gradual {
    segment: Bytes,
    allowed: Bytes,
    window: f64,
    threshold: f64,
    /// The mark of the Data that are acknowledged next may reduce the window.
    mark_pending: bool,
}

impl Gradual {
    /// In slow start with the initial window.
    pub fn new(setup: &Setup) -> Self {
        let window = setup.initial_window.in_segments(setup.segment).0.max(1.0);
        let mut controller = Self {
            segment: setup.segment,
            allowed: Bytes::ZERO,
            window,
            threshold: f64::INFINITY,
            mark_pending: false,
        };
        controller.set(window);
        controller
    }

    /// The window W.
    pub const fn window(&self) -> Segments {
        Segments(self.window)
    }

    /// The window in bytes.
    #[inline]
    pub const fn allowed(&self) -> Bytes {
        self.allowed
    }

    /// The threshold in bytes.
    pub fn ssthresh(&self) -> Bytes {
        Segments(self.threshold).in_bytes_floor(self.segment)
    }

    fn set(&mut self, window: f64) {
        self.window = window.max(1.0);
        self.allowed = Segments(self.window).in_bytes_floor(self.segment);
    }

    /// Reduces the window to the share `factor`; the result is also the threshold.
    pub fn cut(&mut self, factor: f64) {
        self.set(self.window * factor);
        self.threshold = self.window;
    }

    /// Handles a congestion event. For a mark, the reduction follows at the acknowledgement of the marked Data, which
    /// has the label. Any other event reduces the window to the share `factor`, once per episode.
    #[cold]
    pub fn on_congestion(&mut self, event: &Congestion, factor: f64) {
        match event.cause {
            Cause::Mark => self.mark_pending = event.first,
            _ if event.first => self.cut(factor),
            _ => {}
        }
    }

    /// Handles an acknowledgement. For marked Data, reduces the window to the share `factor`, once per episode.
    #[inline]
    pub fn on_ack(&mut self, ack: &Ack, factor: impl FnOnce() -> f64) {
        if ack.marked {
            if std::mem::take(&mut self.mark_pending) {
                self.cut(factor());
            }
            return;
        }
        if !ack.app_limited {
            // +1 below the threshold, +1/W above
            let more = if self.window < self.threshold { 1.0 } else { 1.0 / self.window };
            self.set(self.window + more);
        }
    }
}
