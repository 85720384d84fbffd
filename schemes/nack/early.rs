//! Early refusals: random early detection on the queue that the Data would enter.

use contract::Random;

use super::Params;

/// The mean queue of a face, and what was refused because of it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Early {
    pub mean: f64,
    /// It was beyond the lower threshold the last time.
    beyond: bool,
    /// Interests since then, or since the last refusal.
    count: u32,
}

impl Early {
    /// An Interest came in by the face, in whose queue `waiting` packets wait. Whether it is refused.
    pub(super) fn refuses(&mut self, waiting: u32, params: &Params, random: &mut Random) -> bool {
        // avg ← (1 − w)·avg + w·q                                                         [YIC]
        // differs: with every Interest that comes in, not with every packet that joins the queue, which a strategy does not see
        self.mean += params.early_weight * (f64::from(waiting) - self.mean);
        if self.mean < params.early_min_th || waiting <= 1 {
            self.beyond = false;
            return false;
        }
        if self.mean >= params.early_max_th {
            return true;
        }
        if !self.beyond {
            (self.beyond, self.count) = (true, 1);
            return false;
        }
        self.count += 1;
        // p = max_p·(avg − min)/(max − min), spread by p/(1 − count·p)                    [YIC]
        let p = params.early_max_p * (self.mean - params.early_min_th)
            / (params.early_max_th - params.early_min_th);
        let spread = f64::from(self.count) * p;
        let p = if spread < 1.0 { p / (1.0 - spread) } else { 1.0 };
        let refused = random.chance(p);
        if refused {
            self.count = 0;
        }
        refused
    }
}
