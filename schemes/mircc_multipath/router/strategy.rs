//! The path of an Interest. Only a consumer's own node selects; other nodes use the next hop with the lowest cost.

use contract::{ArrivingData, ArrivingInterest, FaceId, FibEntry, NackReason, SendResult, StrategyCx};
use units::{Duration, Time};

use crate::mircc_multipath::paths::Paths;
use crate::mircc_multipath::{Params, headers};

/// The strategy of a node [MIRCC].
#[derive(Clone, Debug)]
pub struct Strategy {
    params: Box<Params>,
    /// By number of the entry of the FIB.
    flows: Vec<Division>,
}

/// Minimum time before an Interest is retransmitted on the same path. Our choice: as in the built-in strategies.
const AGAIN: Duration = Duration::from_millis(10);

/// The past division of one prefix's Interests.
#[derive(Clone, Debug, Default)]
struct Division {
    paths: Paths,
    /// Interests that each next hop is entitled to, in the order of the FIB.
    owed: Vec<f64>,
    weights: Vec<f64>,
}

impl Strategy {
    /// The choice, with its parameters.
    pub(crate) fn new(params: &Params) -> Self {
        Self { params: Box::new(params.clone()), flows: Vec::new() }
    }
}

/// The division of a prefix, made at its first use.
fn entry(flows: &mut Vec<Division>, index: u32) -> &mut Division {
    let index = index as usize;
    if index >= flows.len() {
        flows.resize_with(index + 1, Division::default);
    }
    &mut flows[index]
}

impl Division {
    /// The next hop for the next Interest: the one with the largest entitlement.
    fn choose(&mut self, params: &Params, fib: &FibEntry<'_>, now: Time) -> FaceId {
        self.owed.resize(fib.hops.len(), 0.0);
        self.weights.clear();
        self.weights.resize(fib.hops.len(), 0.0);
        for (face, share) in self.paths.shares(params, now) {
            if let Some(at) = fib.hops.iter().position(|hop| hop.face == face) {
                self.weights[at] = share.total();
            }
        }
        // an unknown path counts like the best known one
        let best = self.weights.iter().copied().fold(1.0, f64::max);
        for (weight, hop) in self.weights.iter_mut().zip(fib.hops) {
            if !self.paths.has_path(hop.face) {
                *weight = best;
            }
        }
        let total: f64 = self.weights.iter().sum();
        let min = params.min_path_share * total;
        let total: f64 = self.weights.iter().map(|weight| weight.max(min)).sum();
        for (owed, weight) in self.owed.iter_mut().zip(&self.weights) {
            *owed += weight.max(min) / total;
        }
        let mut chosen = 0;
        for at in 1..self.owed.len() {
            if self.owed[at] > self.owed[chosen] {
                chosen = at;
            }
        }
        self.owed[chosen] -= 1.0;
        fib.hops[chosen].face
    }
}

impl contract::Strategy for Strategy {
    fn on_interest(&mut self, interest: &ArrivingInterest<'_>, fib: &FibEntry<'_>, cx: &mut dyn StrategyCx) {
        let pending = interest.pending;
        let others = |face: FaceId| face != interest.from;
        let own = cx.face(interest.from).link.is_none();
        let face = if own && interest.is_new && fib.hops.len() > 1 {
            Some(entry(&mut self.flows, fib.index).choose(&self.params, fib, cx.now()))
        } else {
            // a retransmission takes an untried path, otherwise the one that was used longest ago
            let faces = || fib.hops.iter().map(|hop| hop.face).filter(|face| others(*face));
            let untried = faces().find(|face| cx.out_record(pending, *face).is_none());
            untried.or_else(|| {
                let tried =
                    faces().filter_map(|face| Some((cx.out_record(pending, face)?.sent_at + AGAIN, face)));
                tried.min().filter(|(from, _)| *from <= cx.now()).map(|(_, face)| face)
            })
        };
        match face {
            Some(face) => {
                if let SendResult::Refused(reason) = cx.send_interest(pending, face) {
                    cx.send_nack(pending, interest.from, reason);
                }
            }
            None if interest.is_new => cx.send_nack(pending, interest.from, NackReason::NoRoute),
            None => {}
        }
    }

    fn on_data(&mut self, data: &ArrivingData<'_>, fib: &FibEntry<'_>, cx: &mut dyn StrategyCx) {
        if fib.hops.len() > 1
            && let Some(offer) = headers::offered(data.packet.label)
        {
            entry(&mut self.flows, fib.index).paths.on_offer(&offer, cx.now());
        }
    }
}
