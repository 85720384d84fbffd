//! The order of arrivals at a receiver.

use contract::Gap;

/// Where an arrival stands among those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Nothing is missing between it and the newest before it.
    Next,
    /// The packets just before it are lost.
    AfterLoss,
    /// Packets before it have not arrived, and are not lost: it overtook them. It has not waited where the others wait, so that its delay says nothing
    /// of the path.
    Overtaking,
    /// A newer one has arrived: it was overtaken.
    Behind,
}

/// The next number in order, and the end of the last loss.
#[derive(Clone, Copy, Debug, Default)]
pub struct Order {
    next: Option<u64>,
    lost_before: Option<u64>,
}

impl Order {
    /// Takes a loss, before the arrival at which it is found.
    #[inline]
    pub fn lost(&mut self, gap: &Gap) {
        self.lost_before = Some(gap.first_missing.saturating_add(gap.packets));
    }

    /// Takes the arrival of packet `seq`.
    #[inline]
    pub fn take(&mut self, seq: u64) -> Place {
        let next = self.next.unwrap_or(seq);
        if seq < next {
            return Place::Behind;
        }
        self.next = Some(seq + 1);
        match seq > next {
            false => Place::Next,
            true if self.lost_before == Some(seq) => Place::AfterLoss,
            true => Place::Overtaking,
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
        let places = [7, 8, 11, 9, 12, 10].map(|seq| order.take(seq));
        assert_eq!(places, [Next, Next, Overtaking, Behind, Next, Behind]);
        let before = Arrival {
            seq: 15,
            size: Bytes::new(1000),
            bytes_before: 15_000,
            sent_at: Time::ZERO,
            marked: false,
            label: Label::default(),
        };
        order.lost(&Gap { first_missing: 13, packets: 2, before });
        assert_eq!([15, 16, 14].map(|seq| order.take(seq)), [AfterLoss, Next, Behind]);
    }
}
