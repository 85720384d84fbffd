//! The trend of a queue's delays.

use contract::Packet;
use units::Time;

use super::{Params, Step};

/// The trend of a queue, updated by departures. Times are in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Trend {
    /// The trend p, from 0 to 1.
    pub value: f64,
    /// The queueing delay at the last measurement.
    queueing_delay: f64,
    /// The next measurement.
    next: Time,
    /// A reduction for the next Data; 0 for none.
    pub cut: f64,
}

impl Trend {
    /// Takes the departure of a packet after a queueing delay of `queueing_delay`. Returns whether this was a
    /// measurement.
    pub fn on_departure(&mut self, now: Time, queueing_delay: f64, params: &Params) -> bool {
        if now < self.next {
            return false;
        }
        self.next = now + params.interval;
        let target = params.target.as_secs_f64();
        // p ← clip(p + A·(d − T) + B·(d − d_old), 0, 1)                                    [VARIANT]
        let p = self.value
            + params.a * (queueing_delay - target)
            + params.b * (queueing_delay - self.queueing_delay);
        (self.value, self.queueing_delay) = (p.clamp(0.0, 1.0), queueing_delay);
        // our choice: a queue is congested if its delay is above the target and p > 0
        if queueing_delay > target && self.value > 0.0 {
            let cut = match params.step {
                Step::Change => -change(queueing_delay, self.value, target, params),
                Step::Level => self.value,
            };
            self.cut = self.cut.max(cut.clamp(0.0, params.max_cut));
        }
        true
    }
}

/// The relative change of the queueing delay for which p becomes 0, before it is limited.
pub(super) fn change(queueing_delay: f64, p: f64, target: f64, params: &Params) -> f64 {
    // x = (A·(T − d) − p)/((A + B)·d)                                                     [VARIANT]
    (params.a * (target - queueing_delay) - p) / ((params.a + params.b) * queueing_delay)
}

/// The reduction in Data; 0 for none.
pub(super) fn cut_of(data: &Packet) -> f64 {
    f64::from_bits(data.label.0[0])
}

/// Writes a reduction into Data, unless they carry a larger one. The bits of non-negative floats have the order of the
/// numbers.
pub(super) fn write_cut(data: &mut Packet, cut: f64) {
    data.label.0[0] = data.label.0[0].max(cut.to_bits());
}
