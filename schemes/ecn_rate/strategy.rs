//! Explicit rates in forwarders: Interests take the next hop whose Data carry the highest rate; a few probe the others.

use contract::{ArrivingData, ArrivingInterest, FaceId, FibEntry, Name, Pending, Strategy, StrategyCx};

use crate::shared::{Split, SplitRules, offer};

/// The strategy of a node.
#[derive(Clone, Debug)]
pub struct Choice {
    split: Split,
    probing: f64,
    /// By number of the FIB entry: the last rate of each next hop, in bit/s.
    offers: Vec<Vec<(FaceId, u64)>>,
}

impl Choice {
    /// A strategy that sends the share `probing` of the Interests to next hops other than the best.
    pub const fn new(probing: f64) -> Self {
        let rules = SplitRules { equal: false, probing: 0.0, suppress: false };
        Self { split: Split::new(rules), probing, offers: Vec::new() }
    }

    #[cfg(test)]
    pub(super) const fn split(&mut self) -> &mut Split {
        &mut self.split
    }
}

impl Strategy for Choice {
    fn on_interest(&mut self, interest: &ArrivingInterest<'_>, fib: &FibEntry<'_>, cx: &mut dyn StrategyCx) {
        self.split.on_interest(interest, fib, cx);
    }

    fn on_data(&mut self, data: &ArrivingData<'_>, fib: &FibEntry<'_>, cx: &mut dyn StrategyCx) {
        let Some(rate) = offer::offered(data.packet.label) else { return };
        if fib.hops.len() < 2 || cx.face(data.from).link.is_none() {
            return;
        }
        let index = fib.index as usize;
        if self.offers.len() <= index {
            self.offers.resize_with(index + 1, Vec::new);
        }
        let offers = &mut self.offers[index];
        match offers.iter_mut().find(|known| known.0 == data.from) {
            Some(known) => known.1 = rate.as_bps(),
            None => offers.push((data.from, rate.as_bps())),
        }
        // forwarding by explicit information about paths                                    [ZHOU15]
        // our choice: all but a few Interests to the hop with the highest rate; the cheapest among equals
        let offered = |face: FaceId| offers.iter().find(|known| known.0 == face).map_or(0, |known| known.1);
        let best = fib.hops.iter().rev().max_by_key(|hop| offered(hop.face));
        if let Some(best) = best {
            self.split.prefer(fib, best.face, cx, self.probing);
        }
    }

    fn on_expiry(&mut self, _pending: Pending, _name: Name, _fib: &FibEntry<'_>, _cx: &mut dyn StrategyCx) {}

    fn has_deadlines(&self) -> bool {
        false
    }
}
