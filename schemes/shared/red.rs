//! Random early detection (RED): the probability of a mark or drop grows with the mean queue, and marks are spread
//! evenly [FJ93, as in ns-2].
//!
//! The queue discipline `red` of crate `stack` is apart: this one observes queues that it does not own, without idle
//! time and in parts of their limit.

use contract::Random;

/// Parameters of RED. The queue is in any unit, the same for all.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RedRules {
    /// w: weight of the current queue in the mean, per packet.
    pub gain: f64,
    /// min_th: mean queue below which no packet is selected.
    pub min: f64,
    /// max_th: mean queue from which every packet is selected.
    pub max: f64,
    /// max_p: probability just below `max`.
    pub share: f64,
}

/// The state of RED for one queue.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Red {
    mean: f64,
    /// The mean was above the lower threshold at the last packet.
    above_min: bool,
    /// Packets since then, or since the last selected packet.
    count: u32,
}

impl Red {
    /// The mean queue.
    pub const fn mean(&self) -> f64 {
        self.mean
    }

    /// Whether an arriving packet is selected. `queue` is the queue length; with `short`, at most one packet waits and
    /// the packet is not selected.
    pub fn hits(&mut self, queue: f64, short: bool, rules: &RedRules, random: &mut Random) -> bool {
        // avg ← (1 − w)·avg + w·q
        self.mean += rules.gain * (queue - self.mean);
        if self.mean < rules.min || short {
            self.above_min = false;
            return false;
        }
        if self.mean >= rules.max {
            return true;
        }
        if !self.above_min {
            (self.above_min, self.count) = (true, 1);
            return false;
        }
        self.count += 1;
        // p = max_p·(avg − min)/(max − min), spread by p/(1 − count·p)
        let p = rules.share * (self.mean - rules.min) / (rules.max - rules.min);
        let spread = f64::from(self.count) * p;
        let p = if spread < 1.0 { p / (1.0 - spread) } else { 1.0 };
        let hit = random.chance(p);
        if hit {
            self.count = 0;
        }
        hit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With w = 1 the mean is the queue. Below 5: never. At 15: always. At 10: p = 0.02·5/10 = 0.01, which p/(1 −
    /// count·p) spreads evenly over the next 100 packets, so that about one in 50 is selected.
    #[test]
    fn hits_follow_the_mean_queue() {
        let rules = RedRules { gain: 1.0, min: 5.0, max: 15.0, share: 0.02 };
        let mut random = Random::new(1, "red", "");
        let mut red = Red::default();
        let mut hits = |red: &mut Red, queue, count: u32| {
            (0..count).filter(|_| red.hits(queue, queue <= 1.0, &rules, &mut random)).count()
        };
        assert_eq!(hits(&mut red, 4.0, 1000), 0);
        assert_eq!(hits(&mut red, 15.0, 1000), 1000);
        let some = hits(&mut red, 10.0, 10_000);
        assert!((180..=220).contains(&some), "{some}");
    }

    /// w = 0.002 from nothing: after n packets at 15 the mean is 15·(1 − 0.998ⁿ); 5 after 203.
    #[test]
    fn the_mean_follows_slowly() {
        let rules = RedRules { gain: 0.002, min: 5.0, max: 15.0, share: 0.02 };
        let (mut random, mut red, mut slow) = (Random::new(1, "red", ""), Red::default(), 0);
        while red.mean() < 5.0 {
            red.hits(15.0, false, &rules, &mut random);
            slow += 1;
        }
        assert_eq!(slow, 203);
    }
}
