//! Random next hops; a next hop with fewer pending Interests of the prefix has a higher probability.

use contract::{
    ArrivingData, ArrivingInterest, ArrivingNack, FaceId, FibEntry, NackReason, Name, Pending, SendResult,
    Strategy, StrategyCx,
};

use super::Params;
use crate::shared::is_retransmission;

/// The strategy of a node.
#[derive(Clone, Debug)]
pub struct Balance {
    gain: f64,
    floor: f64,
    /// By number of the FIB entry.
    prefixes: Vec<Vec<Hop>>,
}

/// The state of a next hop for a prefix.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Hop {
    pub face: FaceId,
    /// n: pending Interests.
    pub pending: u32,
    /// a: its mean over changes.
    pub mean: f64,
}

impl Balance {
    /// The part, with its parameters.
    pub const fn new(params: &Params) -> Self {
        Self { gain: params.gain, floor: params.min_pending, prefixes: Vec::new() }
    }

    pub(super) fn hop(&mut self, fib: &FibEntry<'_>, face: FaceId) -> &mut Hop {
        let index = fib.index as usize;
        if self.prefixes.len() <= index {
            self.prefixes.resize_with(index + 1, Vec::new);
        }
        let hops = &mut self.prefixes[index];
        let at = hops.iter().position(|hop| hop.face == face).unwrap_or_else(|| {
            // a = 1 at first                                                           [CCNPL]
            hops.push(Hop { face, pending: 0, mean: 1.0 });
            hops.len() - 1
        });
        &mut hops[at]
    }

    /// Counts one pending Interest more or less.
    fn change(&mut self, fib: &FibEntry<'_>, face: FaceId, more: bool) {
        let (gain, floor) = (self.gain, self.floor);
        let hop = self.hop(fib, face);
        hop.pending = if more { hop.pending + 1 } else { hop.pending.saturating_sub(1) };
        // a ← 0.9·a + 0.1·n, at least 0.1                                              [CGMPW13, CCNPL]
        hop.mean = ((1.0 - gain) * hop.mean + gain * f64::from(hop.pending)).max(floor);
    }

    /// Counts the Interests of an entry that ends as answered.
    fn count_answered(&mut self, pending: Pending, fib: &FibEntry<'_>, cx: &dyn StrategyCx) {
        for index in 0.. {
            let Some(record) = cx.upstream(pending, index) else { break };
            if record.refused.is_none() {
                self.change(fib, record.face, false);
            }
        }
    }

    /// Draws a next hop with a probability in proportion to 1/a. Returns its index in the FIB entry. Next hops in
    /// `not`, and downstreams, are excluded.
    fn draw(
        &mut self,
        pending: Pending,
        fib: &FibEntry<'_>,
        not: u64,
        cx: &mut dyn StrategyCx,
    ) -> Option<usize> {
        let may = |hop_index: usize, cx: &dyn StrategyCx| {
            not & bit(hop_index) == 0 && cx.in_record(pending, fib.hops[hop_index].face).is_none()
        };
        // weight = 1/a                                                                 [CGMPW13, CCNPL]
        let (mut total, mut count, mut last) = (0.0, 0, None);
        for hop_index in 0..fib.hops.len() {
            if may(hop_index, cx) {
                total += 1.0 / self.hop(fib, fib.hops[hop_index].face).mean;
                (count, last) = (count + 1, Some(hop_index));
            }
        }
        if count < 2 {
            return last;
        }
        let mut remaining = cx.random().uniform(0.0, total);
        for hop_index in 0..fib.hops.len() {
            if may(hop_index, cx) {
                remaining -= 1.0 / self.hop(fib, fib.hops[hop_index].face).mean;
                if remaining < 0.0 {
                    return Some(hop_index);
                }
            }
        }
        last
    }

    /// Sends the Interest to a next hop. Returns the reason if none takes it.
    fn forward(
        &mut self,
        pending: Pending,
        fib: &FibEntry<'_>,
        tried: u64,
        cx: &mut dyn StrategyCx,
    ) -> Option<NackReason> {
        let mut not = tried;
        let mut reason = NackReason::NoRoute;
        while let Some(hop_index) = self.draw(pending, fib, not, cx) {
            let face = fib.hops[hop_index].face;
            let out = cx.out_record(pending, face).is_some_and(|record| record.refused.is_none());
            match cx.send_interest(pending, face) {
                SendResult::Sent | SendResult::Held => {
                    if !out {
                        self.change(fib, face, true);
                    }
                    return None;
                }
                SendResult::Dropped => return None,
                SendResult::Refused(why) => reason = reason.min(why),
                SendResult::Gone => {}
            }
            if hop_index >= 64 {
                break;
            }
            not |= bit(hop_index);
        }
        Some(reason)
    }
}

/// The bit of an index; 0 from 64 on.
const fn bit(hop_index: usize) -> u64 {
    if hop_index < 64 { 1 << hop_index } else { 0 }
}

impl Strategy for Balance {
    fn on_interest(&mut self, interest: &ArrivingInterest<'_>, fib: &FibEntry<'_>, cx: &mut dyn StrategyCx) {
        let again = is_retransmission(interest, cx);
        if !interest.is_new && !again {
            return;
        }
        let pending = interest.pending;
        let refused = self.forward(pending, fib, 0, cx);
        let waiting =
            (0..).map_while(|index| cx.upstream(pending, index)).any(|record| record.refused.is_none());
        if let Some(reason) = refused
            && !waiting
        {
            cx.send_nacks(pending, reason);
        }
    }

    fn on_data(&mut self, data: &ArrivingData<'_>, fib: &FibEntry<'_>, cx: &mut dyn StrategyCx) {
        self.count_answered(data.pending, fib, cx);
    }

    fn on_nack(&mut self, nack: &ArrivingNack<'_>, fib: &FibEntry<'_>, cx: &mut dyn StrategyCx) {
        self.change(fib, nack.from, false);
        let Some(reason) = cx.all_nacked(nack.pending) else { return };
        // our choice: as in stateful forwarding, other faces are tried before the Interest is refused
        let mut tried = 0;
        for (hop_index, hop) in fib.hops.iter().enumerate() {
            if cx.out_record(nack.pending, hop.face).is_some() {
                tried |= bit(hop_index);
            }
        }
        if fib.hops.len() > 64 || self.forward(nack.pending, fib, tried, cx).is_some() {
            cx.send_nacks(nack.pending, reason);
        }
    }

    fn on_expiry(&mut self, pending: Pending, _name: Name, fib: &FibEntry<'_>, cx: &mut dyn StrategyCx) {
        self.count_answered(pending, fib, cx);
    }

    fn has_deadlines(&self) -> bool {
        false
    }
}
