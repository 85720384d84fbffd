//! The order of arrivals at a receiver.

use contract::Gap;

/// Where an arrival stands among those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Nothing is missing between it and the newest before it.
    Next,
    /// The packets just before it are lost.
    AfterLoss,
    /// Packets before it have not arrived, and are not lost: it overtook them. It has not waited where the others wait,
    /// so that its delay says nothing of the path. So does the next one while they are missing.
    Overtaking,
    /// A newer one has arrived: it was overtaken.
    Behind,
}

/// The next number in order, and the end of the last loss.
#[derive(Clone, Copy, Debug, Default)]
pub struct Order {
    next: Option<u64>,
    lost_before: Option<u64>,
    /// Packets below `next` that have neither arrived nor are lost.
    missing: u64,
    /// The newest overtook them.
    overtaking: bool,
}

impl Order {
    /// Takes a loss, before the arrival at which it is found.
    #[inline]
    pub fn lost(&mut self, gap: &Gap) {
        self.lost_before = Some(gap.first_missing.saturating_add(gap.packets));
        self.missing = self.missing.saturating_sub(gap.packets);
    }

    /// Takes the arrival of packet `seq`.
    #[inline]
    pub fn take(&mut self, seq: u64) -> Place {
        let next = self.next.unwrap_or(seq);
        if seq < next {
            self.missing = self.missing.saturating_sub(1);
            return Place::Behind;
        }
        self.next = Some(seq.saturating_add(1));
        let lost = seq > next && self.lost_before == Some(seq);
        if seq > next && !lost {
            self.missing = self.missing.saturating_add(seq - next);
            self.overtaking = true;
        }
        self.overtaking &= self.missing > 0;
        match (lost, self.overtaking) {
            (true, _) => Place::AfterLoss,
            (false, true) => Place::Overtaking,
            (false, false) => Place::Next,
        }
    }
}

#[cfg(test)]
mod tests {
    use contract::{Arrival, Label};
    use units::{Bytes, Time};

    use super::*;

    #[test]
    fn an_arrival_is_next_or_behind_or_after_a_loss_or_overtakes() {
        use Place::{AfterLoss, Behind, Next, Overtaking};
        let mut order = Order::default();
        let places = [7, 8, 11, 9, 12, 10, 13].map(|seq| order.take(seq));
        assert_eq!(places, [Next, Next, Overtaking, Behind, Overtaking, Behind, Next]);
        let before = Arrival {
            seq: 16,
            size: Bytes::new(1000),
            bytes_before: 16_000,
            sent_at: Time::ZERO,
            marked: false,
            label: Label::default(),
        };
        order.lost(&Gap { first_missing: 14, packets: 2, before });
        assert_eq!([16, 17, 19, 20].map(|seq| order.take(seq)), [AfterLoss, Next, Overtaking, Overtaking]);
        // 18 is given up
        order.lost(&Gap { first_missing: 18, packets: 1, before });
        assert_eq!(order.take(21), Next);
    }
}
