//! Shares of a prefix's Interests by next hop, as in PCON: an Interest selects a next hop at random by its share, and
//! shares move away from next hops with marks.

use contract::{ArrivingInterest, FaceId, FibEntry, Header, NackReason, Pending, SendResult, StrategyCx};

/// Initial shares, and the handling of probes and repeated requests.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SplitRules {
    /// All next hops have the same initial share; otherwise the cheapest has all.
    pub equal: bool,
    /// Probability that an Interest also goes to all other hops.
    pub probing: f64,
    /// An Interest for a name that is pending is not forwarded again; otherwise it is if its downstream retransmits.
    pub suppress: bool,
}

/// The shares of a node, by prefix.
#[derive(Clone, Debug)]
pub struct Split {
    rules: SplitRules,
    /// By number of the FIB entry.
    prefixes: Vec<Prefix>,
    operations: u64,
}

#[derive(Clone, Debug, Default)]
struct Prefix {
    faces: Vec<FaceId>,
    /// Per face; the sum is 1.
    shares: Vec<f64>,
}

impl Split {
    /// Without known prefixes.
    pub const fn new(rules: SplitRules) -> Self {
        Self { rules, prefixes: Vec::new(), operations: 0 }
    }

    /// Number of operations: one per hop that a choice examines, and one per changed share.
    pub const fn operations(&self) -> u64 {
        self.operations
    }

    /// The shares of a prefix, in the order of its hops.
    fn prefix(&mut self, fib: &FibEntry<'_>, cx: &mut dyn StrategyCx) -> &mut Prefix {
        let index = fib.index as usize;
        if self.prefixes.len() <= index {
            self.prefixes.resize_with(index + 1, Prefix::default);
        }
        let same = {
            let known = &self.prefixes[index].faces;
            known.len() == fib.hops.len() && known.iter().zip(fib.hops).all(|(face, hop)| *face == hop.face)
        };
        if !same {
            let fresh = self.begin(index, fib, cx);
            self.prefixes[index] = fresh;
        }
        &mut self.prefixes[index]
    }

    /// The shares of a prefix that is new or whose hops have changed.
    #[cold]
    fn begin(&self, index: usize, fib: &FibEntry<'_>, cx: &mut dyn StrategyCx) -> Prefix {
        let old = &self.prefixes[index];
        let retained =
            |face: FaceId| old.faces.iter().position(|known| *known == face).map(|at| old.shares[at]);
        let mut shares: Vec<f64> = fib.hops.iter().map(|hop| retained(hop.face).unwrap_or(0.0)).collect();
        let sum: f64 = shares.iter().sum();
        if sum > 0.0 {
            // our choice: after a change of routes, the remaining hops keep their proportions
            shares.iter_mut().for_each(|share| *share /= sum);
        } else if self.rules.equal && fib.hops.iter().all(|hop| cx.face(hop.face).link.is_some()) {
            shares.fill(1.0 / fib.hops.len() as f64);
        } else {
            shares[0] = 1.0;
        }
        Prefix { faces: fib.hops.iter().map(|hop| hop.face).collect(), shares }
    }

    /// The shares of a prefix, in the order of its hops; for tests and series.
    pub fn shares(&mut self, fib: &FibEntry<'_>, cx: &mut dyn StrategyCx) -> &[f64] {
        &self.prefix(fib, cx).shares
    }

    /// Sends an Interest, and possibly a probe.
    pub fn on_interest(
        &mut self,
        interest: &ArrivingInterest<'_>,
        fib: &FibEntry<'_>,
        cx: &mut dyn StrategyCx,
    ) {
        let ArrivingInterest { pending, from, .. } = *interest;
        let again = !self.rules.suppress && super::is_retransmission(interest, cx);
        if !interest.is_new && !again && is_awaited(interest, cx) {
            return;
        }
        let Some((face, draw)) = self.choose(pending, fib, cx) else {
            return nack_unless_pending(pending, NackReason::NoRoute, cx);
        };
        match cx.send_interest(pending, face) {
            SendResult::Refused(reason) => return nack_unless_pending(pending, reason, cx),
            SendResult::Sent | SendResult::Held | SendResult::Dropped | SendResult::Gone => {}
        }
        // the draw that selected the hop also decides about the probe
        if draw.is_some_and(|draw| draw <= self.rules.probing) {
            for hop in fib.hops {
                if hop.face != face && hop.face != from && cx.in_record(pending, hop.face).is_none() {
                    cx.probe_interest(pending, hop.face);
                }
            }
        }
    }

    /// Selects a hop and returns it with its draw; no draw if there is only one.
    fn choose(
        &mut self,
        pending: Pending,
        fib: &FibEntry<'_>,
        cx: &mut dyn StrategyCx,
    ) -> Option<(FaceId, Option<f64>)> {
        let may = |face: FaceId, cx: &dyn StrategyCx| cx.in_record(pending, face).is_none();
        if let [only] = fib.hops {
            return may(only.face, cx).then_some((only.face, None));
        }
        self.operations += fib.hops.len() as u64;
        let Prefix { faces, shares } = self.prefix(fib, cx);
        let (mut count, mut total, mut last) = (0u32, 0.0, None);
        for (face, share) in faces.iter().zip(shares.iter()) {
            if may(*face, cx) {
                (count, total) = (count + 1, total + share);
                last = last.or(Some(*face));
            }
        }
        let first = last?;
        if count == 1 || total <= 0.0 {
            // our choice: if no usable hop has a share, the cheapest one
            return Some((first, None));
        }
        let draw = cx.random().unit();
        let (mut sum, mut last) = (0.0, first);
        for (face, share) in faces.iter().zip(shares.iter()) {
            if may(*face, cx) {
                sum += share / total;
                if draw < sum {
                    return Some((*face, Some(draw)));
                }
                last = *face;
            }
        }
        Some((last, Some(draw)))
    }

    /// Reduces the share of a hop by `loss(share)`, at most to zero, and distributes it equally to the others. No
    /// effect if there is no other.
    pub fn reduce(
        &mut self,
        fib: &FibEntry<'_>,
        face: FaceId,
        cx: &mut dyn StrategyCx,
        loss: impl FnOnce(f64) -> f64,
    ) {
        let others = fib.hops.len().saturating_sub(1);
        let Prefix { faces, shares } = self.prefix(fib, cx);
        let Some(at) = faces.iter().position(|known| *known == face).filter(|_| others > 0) else { return };
        let shift = loss(shares[at]).min(shares[at]);
        for (place, share) in shares.iter_mut().enumerate() {
            *share += if place == at { -shift } else { shift / others as f64 };
        }
        let best = shares[0];
        cx.probe("share", best);
        self.operations += fib.hops.len() as u64;
    }

    /// Moves the fraction `part` of the other hops' shares to the cheapest hop.
    pub fn restore(&mut self, fib: &FibEntry<'_>, cx: &mut dyn StrategyCx, part: f64) {
        let shares = &mut self.prefix(fib, cx).shares;
        let previous = shares[0];
        shares[1..].iter_mut().for_each(|share| *share *= 1.0 - part);
        shares[0] = 1.0 - shares[1..].iter().sum::<f64>();
        let best = shares[0];
        if best != previous {
            cx.probe("share", best);
        }
        self.operations += fib.hops.len() as u64;
    }

    /// Gives a hop all shares except `rest`, which the others share equally. No effect if there is no other.
    pub fn prefer(&mut self, fib: &FibEntry<'_>, face: FaceId, cx: &mut dyn StrategyCx, rest: f64) {
        let others = fib.hops.len().saturating_sub(1);
        let Prefix { faces, shares } = self.prefix(fib, cx);
        let Some(at) = faces.iter().position(|known| *known == face).filter(|_| others > 0) else { return };
        let previous = shares[0];
        for (place, share) in shares.iter_mut().enumerate() {
            *share = if place == at { 1.0 - rest } else { rest / others as f64 };
        }
        let best = shares[0];
        if best != previous {
            cx.probe("share", best);
        }
        self.operations += fib.hops.len() as u64;
    }

    /// Handles an Interest that expired: the share of the hop that it was first sent to is reduced by `change`, once
    /// per hop that it was sent to.
    pub fn on_expiry(&mut self, pending: Pending, fib: &FibEntry<'_>, cx: &mut dyn StrategyCx, change: f64) {
        if let Some(first) = cx.upstream(pending, 0) {
            let tried = (0..).take_while(|index| cx.upstream(pending, *index).is_some()).count();
            for _ in 0..tried {
                self.reduce(fib, first.face, cx, |_| change);
            }
        }
    }
}

/// Whether the Interest was sent before and Data may still arrive.
fn is_awaited(interest: &ArrivingInterest<'_>, cx: &dyn StrategyCx) -> bool {
    let Header::Interest(header) = interest.packet.header else { return false };
    let mut records = (0..).map_while(|index| cx.upstream(interest.pending, index));
    records.any(|out| out.refused.is_none() && out.sent_at + header.lifetime() > cx.now())
}

/// Refuses an Interest, unless an upstream can still answer.
fn nack_unless_pending(pending: Pending, reason: NackReason, cx: &mut dyn StrategyCx) {
    let mut records = (0..).map_while(|index| cx.upstream(pending, index));
    if !records.any(|record| record.refused.is_none()) {
        cx.send_nacks(pending, reason);
    }
}
