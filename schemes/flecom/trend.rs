//! The trend of a queue's delays.

use contract::Packet;
use units::Time;

use super::{Params, Step};

/// A queue, by what leaves it. Times are in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Trend {
    /// p, within 0 and 1.
    pub value: f64,
    /// The wait at the last look.
    waited: f64,
    /// No look before then.
    next: Time,
    /// A cut waits for its Data; 0 for none.
    pub cut: f64,
}

impl Trend {
    /// A packet leaves that waited for `waited`. Looks at the trend, if it is time; whether it was.
    pub fn on_departure(&mut self, now: Time, waited: f64, params: &Params) -> bool {
        if now < self.next {
            return false;
        }
        self.next = now + params.interval;
        let target = params.target.as_secs_f64();
        // p ← clip(p + A·(d − T) + B·(d − d_old), 0, 1)                                    [VARIANT]
        let p = self.value + params.a * (waited - target) + params.b * (waited - self.waited);
        (self.value, self.waited) = (p.clamp(0.0, 1.0), waited);
        // our choice: congested is what waits too long and has p > 0
        if waited > target && self.value > 0.0 {
            let cut = match params.step {
                Step::Change => -change(waited, self.value, target, params),
                Step::Level => self.value,
            };
            self.cut = self.cut.max(cut.clamp(0.0, params.max_cut));
        }
        true
    }
}

/// The relative change of the wait that would bring p back to 0, before it is limited.
pub(super) fn change(waited: f64, p: f64, target: f64, params: &Params) -> f64 {
    // x = (A·(T − d) − p)/((A + B)·d)                                                     [VARIANT]
    (params.a * (target - waited) - p) / ((params.a + params.b) * waited)
}

/// The cut that Data carries; 0 where there is none.
pub(super) fn cut_of(data: &Packet) -> f64 {
    f64::from_bits(data.label.0[0])
}

/// Writes the cut into Data, unless it carries a greater one. Numbers of no sign are ordered as their bits are.
pub(super) fn write_cut(data: &mut Packet, cut: f64) {
    data.label.0[0] = data.label.0[0].max(cut.to_bits());
}
