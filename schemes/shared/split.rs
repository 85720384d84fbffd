//! Shares of a prefix's Interests by next hop, as in PCON: an Interest selects a next hop at random by its share, and shares move away from next hops
//! with marks.

use contract::{Arrived, Departure, FaceId, FibEntry, Header, NackReason, Pending, StrategyCx};

/// How shares begin, and what is tried beside them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SplitRules {
    /// Each hop has the same share at first; otherwise the cheapest has all.
    pub equal: bool,
    /// Probability that an Interest also goes to all other hops.
    pub probing: f64,
    /// A name that was asked for and is still awaited is not asked for again; otherwise the downstream that requests again is heard.
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
    /// Of all faces together 1.
    shares: Vec<f64>,
}

impl Split {
    /// No prefix is known yet.
    pub const fn new(rules: SplitRules) -> Self {
        Self { rules, prefixes: Vec::new(), operations: 0 }
    }

    /// Operations so far: a share for each hop that a choice looks at, and each share that is changed.
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

    /// Shares of a prefix that is new, or whose hops have changed.
    #[cold]
    fn begin(&self, index: usize, fib: &FibEntry<'_>, cx: &mut dyn StrategyCx) -> Prefix {
        let old = &self.prefixes[index];
        let kept = |face: FaceId| old.faces.iter().position(|known| *known == face).map(|at| old.shares[at]);
        let mut shares: Vec<f64> = fib.hops.iter().map(|hop| kept(hop.face).unwrap_or(0.0)).collect();
        let sum: f64 = shares.iter().sum();
        if sum > 0.0 {
            // our choice: where routes change, those that stay keep their proportions
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

    /// Sends an Interest on its way, and perhaps a probe beside it.
    pub fn on_interest(&mut self, interest: &Arrived<'_>, fib: &FibEntry<'_>, cx: &mut dyn StrategyCx) {
        let Arrived { pending, from, .. } = *interest;
        let again = !self.rules.suppress && super::asks_again(interest, cx);
        if !interest.is_new && !again && is_awaited(interest, cx) {
            return;
        }
        let Some((face, draw)) = self.choose(pending, fib, cx) else {
            return give_up(pending, NackReason::NoRoute, cx);
        };
        match cx.send_interest(pending, face) {
            Departure::Refused(reason) => return give_up(pending, reason, cx),
            Departure::Sent | Departure::Held | Departure::Dropped | Departure::Gone => {}
        }
        // the draw that chose the hop decides about the probe as well
        if draw.is_some_and(|draw| draw <= self.rules.probing) {
            for hop in fib.hops {
                if hop.face != face && hop.face != from && cx.awaited_by(pending, hop.face).is_none() {
                    cx.probe_interest(pending, hop.face);
                }
            }
        }
    }

    /// A hop, and the draw that led to it; no draw where there is no choice.
    fn choose(
        &mut self,
        pending: Pending,
        fib: &FibEntry<'_>,
        cx: &mut dyn StrategyCx,
    ) -> Option<(FaceId, Option<f64>)> {
        let may = |face: FaceId, cx: &dyn StrategyCx| cx.awaited_by(pending, face).is_none();
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
            // our choice: where none that may be taken has a share, the cheapest
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

    /// Takes `loss(share)` away from a hop, at most what it has, and gives the others equal parts of it. Nothing where there is no other.
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
        let moved = loss(shares[at]).min(shares[at]);
        for (place, share) in shares.iter_mut().enumerate() {
            *share += if place == at { -moved } else { moved / others as f64 };
        }
        let best = shares[0];
        cx.probe("share", best);
        self.operations += fib.hops.len() as u64;
    }

    /// Gives the cheapest hop the part `part` of what the others have.
    pub fn restore(&mut self, fib: &FibEntry<'_>, cx: &mut dyn StrategyCx, part: f64) {
        let shares = &mut self.prefix(fib, cx).shares;
        let before = shares[0];
        shares[1..].iter_mut().for_each(|share| *share *= 1.0 - part);
        shares[0] = 1.0 - shares[1..].iter().sum::<f64>();
        let best = shares[0];
        if best != before {
            cx.probe("share", best);
        }
        self.operations += fib.hops.len() as u64;
    }

    /// Gives a hop all but the part `rest`, of which the others have equal parts. Nothing where there is no other.
    pub fn prefer(&mut self, fib: &FibEntry<'_>, face: FaceId, cx: &mut dyn StrategyCx, rest: f64) {
        let others = fib.hops.len().saturating_sub(1);
        let Prefix { faces, shares } = self.prefix(fib, cx);
        let Some(at) = faces.iter().position(|known| *known == face).filter(|_| others > 0) else { return };
        let before = shares[0];
        for (place, share) in shares.iter_mut().enumerate() {
            *share = if place == at { 1.0 - rest } else { rest / others as f64 };
        }
        let best = shares[0];
        if best != before {
            cx.probe("share", best);
        }
        self.operations += fib.hops.len() as u64;
    }

    /// An Interest was answered by nobody: the hop that it was sent to first loses `change`, once for each hop that it was sent to.
    pub fn on_expiry(&mut self, pending: Pending, fib: &FibEntry<'_>, cx: &mut dyn StrategyCx, change: f64) {
        if let Some(first) = cx.upstream(pending, 0) {
            let tried = (0..).take_while(|index| cx.upstream(pending, *index).is_some()).count();
            for _ in 0..tried {
                self.reduce(fib, first.face, cx, |_| change);
            }
        }
    }
}

/// Whether the name has been asked for, and Data may still come.
fn is_awaited(interest: &Arrived<'_>, cx: &dyn StrategyCx) -> bool {
    let Header::Interest(header) = interest.packet.header else { return false };
    let mut records = (0..).map_while(|index| cx.upstream(interest.pending, index));
    records.any(|out| out.refused.is_none() && out.sent_at + header.lifetime() > cx.now())
}

/// Refuses an Interest, unless an answer is pending.
fn give_up(pending: Pending, reason: NackReason, cx: &mut dyn StrategyCx) {
    let mut records = (0..).map_while(|index| cx.upstream(pending, index));
    if !records.any(|record| record.refused.is_none()) {
        cx.send_nacks(pending, reason);
    }
}
