//! The bytes of datagrams on their way through the simulated network, which carries their number and size.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::BytesMut;
use units::{Duration, Time};

/// One direction of a flow, shared by its two ends.
#[derive(Clone, Debug, Default)]
pub struct DatagramStore(Arc<Mutex<Datagrams>>);

#[derive(Debug, Default)]
struct Datagrams {
    /// Number of the first of `sent`.
    first: u64,
    /// Datagrams from the oldest that may still arrive on, each until it arrives.
    sent: VecDeque<(Time, Option<BytesMut>)>,
}

impl DatagramStore {
    /// Takes a datagram that leaves now; its number.
    pub fn put(&self, datagram: BytesMut, now: Time) -> u64 {
        let mut wire = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        wire.forget(now);
        wire.sent.push_back((now, Some(datagram)));
        wire.first + wire.sent.len() as u64 - 1
    }

    /// The datagram with this number, which arrives. `None` if it arrived before, or left longer than [`LIFETIME`] ago.
    pub fn take(&self, number: u64) -> Option<BytesMut> {
        let mut wire = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let at = usize::try_from(number.checked_sub(wire.first)?).ok()?;
        wire.sent.get_mut(at)?.1.take()
    }
}

impl Datagrams {
    /// Forgets what has arrived, and what the network dropped long ago.
    fn forget(&mut self, now: Time) {
        while let Some((sent_at, datagram)) = self.sent.front()
            && (datagram.is_none() || now.saturating_since(*sent_at) > LIFETIME)
        {
            self.sent.pop_front();
            self.first += 1;
        }
    }
}

/// Maximum lifetime of a datagram in the network: the maximum segment lifetime [RFC9293 §3.4.2].
const LIFETIME: Duration = Duration::from_secs(120);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn datagrams_arrive_once_in_any_order_and_lost_ones_are_forgotten() {
        let wire = DatagramStore::default();
        let numbers: Vec<u64> = (0..4).map(|i: u8| wire.put(BytesMut::from(&[i][..]), Time::ZERO)).collect();
        assert_eq!(numbers, [0, 1, 2, 3]);
        let taken = |number| wire.take(number).map(|datagram| datagram[0]);
        assert_eq!([3, 0, 3, 9].map(taken), [Some(3), Some(0), None, None]);
        // 1 was lost
        assert_eq!(wire.put(BytesMut::new(), Time::ZERO + LIFETIME), 4);
        assert_eq!(taken(1), Some(1));
        wire.put(BytesMut::new(), Time::ZERO + LIFETIME + Duration::from_nanos(1));
        assert_eq!((taken(2), wire.0.lock().unwrap().sent.len()), (None, 2));
    }
}
