//! Reception of packets of a group: keys of epochs, replay protection, and whether the network carries the group.

use std::net::SocketAddr;

use crate::Stats;
use crate::group::replay::Replay;
use units::{Duration, Time};

use super::packet::{EpochKey, Header};
use crate::frames::Secret;

/// How long packets of an epoch are accepted after the first one of a later epoch, for reordering in the network.
const OVERLAP: Duration = Duration::from_secs(1);
/// Epochs whose keys are held: the last one, the present one, and one or two that follow.
const EPOCHS: usize = 4;

/// The group of a receiver.
#[derive(Debug)]
pub struct Reception {
    address: SocketAddr,
    session: u32,
    /// From the oldest epoch to the newest.
    keys: Vec<HeldKey>,
    replay: Replay,
    received_at: Time,
    /// The packet that is being decrypted.
    buffer: Vec<u8>,
}

/// The key of an epoch.
#[derive(Debug)]
struct HeldKey {
    epoch: u32,
    key: EpochKey,
    /// The lowest number of a packet with this key; the maximum if there was none.
    first: u64,
    /// Its packets are accepted until then.
    until: Time,
}

impl Reception {
    /// The group at this address, in this session of its sender. Packets cannot be decrypted before the first key.
    pub fn new(address: SocketAddr, session: u32, now: Time) -> Self {
        Self {
            address,
            session,
            keys: Vec::new(),
            replay: Replay::new(),
            received_at: now,
            buffer: Vec::new(),
        }
    }

    /// Adds the secret of an epoch. It is ignored if a newer epoch is known.
    pub fn install(&mut self, epoch: u32, secret: &Secret) {
        if self.keys.last().is_some_and(|newest| newest.epoch >= epoch) {
            return;
        }
        if self.keys.len() == EPOCHS {
            self.keys.remove(0);
        }
        let key = EpochKey::new(secret, self.session, epoch);
        self.keys.push(HeldKey { epoch, key, first: u64::MAX, until: Time::NEVER });
    }

    /// The content of a packet; `None`, with a count of the reason, if it belongs to another session or epoch, or was forged, damaged or replayed. A packet
    /// without content is a keep-alive.
    pub fn open(&mut self, packet: &[u8], now: Time, stats: &mut Stats) -> Option<&[u8]> {
        let Some((header, sealed)) = Header::read(packet) else {
            stats.discarded.malformed += 1;
            return None;
        };
        let position = self.keys.iter().position(|held| held.epoch == header.epoch);
        let Some(at) = position.filter(|_| header.session == self.session) else {
            stats.discarded.strangers += 1;
            return None;
        };
        let (older, newer) = self.keys.split_at_mut(at + 1);
        let held = &mut older[at];
        // a former member has the old key, and could forge packets after the change
        let late = newer.iter().any(|newer| header.number >= newer.first);
        if late || now >= held.until {
            stats.discarded.repeated += 1;
            return None;
        }
        self.buffer.clear();
        self.buffer.extend_from_slice(sealed);
        let Some(content) = held.key.open(header, &mut self.buffer) else {
            stats.discarded.forged += 1;
            return None;
        };
        if !self.replay.take(header.number) {
            stats.discarded.repeated += 1;
            return None;
        }
        held.first = held.first.min(header.number);
        for old in &mut older[..at] {
            old.until = old.until.min(now + OVERLAP);
        }
        self.received_at = now;
        Some(content)
    }

    /// Bytes of the headers of IP and UDP around a packet.
    pub fn outer_bytes(&self) -> u32 {
        u32::from(crate::transport::OUTER[usize::from(self.address.is_ipv6())])
    }

    /// Whether no packet of the group has arrived for `span`. Its sender sends keep-alives to the group.
    pub fn is_idle(&self, now: Time, span: Duration) -> bool {
        now >= self.received_at + span
    }

    /// The message for users if it stays idle although the sender is alive.
    pub fn unreachable_message(&self) -> String {
        format!(
            "no packet of the sender to the group {} has arrived: does the network carry it?",
            self.address
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SESSION: u32 = 5;

    fn packet(epoch: u32, number: u64, secret: [u8; 32]) -> Vec<u8> {
        let mut packet = Vec::new();
        let header = Header { session: SESSION, epoch, number };
        EpochKey::new(&Secret(secret), SESSION, epoch)
            .seal(header, &mut packet, |out| out.push(number as u8));
        packet
    }

    fn at(millis: u64) -> Time {
        Time::ZERO + Duration::from_millis(millis)
    }

    fn reception() -> (Reception, Stats) {
        let mut reception = Reception::new(SocketAddr::from(([239, 1, 2, 3], 5000)), SESSION, at(0));
        reception.install(1, &Secret([1; 32]));
        (reception, Stats::default())
    }

    #[test]
    fn a_packet_is_read_once() {
        let (mut reception, mut stats) = reception();
        let bytes = packet(1, 9, [1; 32]);
        assert_eq!(reception.open(&bytes, at(1), &mut stats), Some(&[9][..]));
        assert_eq!(reception.open(&bytes, at(2), &mut stats), None);
        assert_eq!((stats.discarded.repeated, stats.discarded.total()), (1, 1));
    }

    #[test]
    fn a_forged_packet_does_not_use_up_a_number() {
        let (mut reception, mut stats) = reception();
        assert_eq!(reception.open(&packet(1, 1 << 50, [2; 32]), at(1), &mut stats), None);
        assert_eq!(reception.open(&packet(1, 9, [1; 32]), at(1), &mut stats), Some(&[9][..]));
        let mut other = packet(1, 10, [1; 32]);
        other[1] ^= 1;
        assert_eq!(reception.open(&other, at(1), &mut stats), None);
        assert_eq!(reception.open(&other[..20], at(1), &mut stats), None);
        let counted = stats.discarded;
        assert_eq!((counted.forged, counted.strangers, counted.malformed, counted.total()), (1, 1, 1, 3));
    }

    #[test]
    fn an_old_epoch_is_read_below_the_change_and_for_a_short_time() {
        let (mut reception, mut stats) = reception();
        assert!(reception.open(&packet(1, 1, [1; 32]), at(1), &mut stats).is_some());
        reception.install(2, &Secret([2; 32]));
        assert!(reception.open(&packet(1, 2, [1; 32]), at(1), &mut stats).is_some(), "it is not in use yet");
        assert!(reception.open(&packet(2, 10, [2; 32]), at(2), &mut stats).is_some());
        assert!(reception.open(&packet(1, 9, [1; 32]), at(500), &mut stats).is_some(), "it was reordered");
        assert!(reception.open(&packet(1, 11, [1; 32]), at(500), &mut stats).is_none(), "of a former member");
        assert!(reception.open(&packet(1, 8, [1; 32]), at(1002), &mut stats).is_none(), "it is over");
        assert!(reception.open(&packet(2, 8, [2; 32]), at(1002), &mut stats).is_some());
        assert!(reception.open(&packet(1, 7, [2; 32]), at(1002), &mut stats).is_none());
        assert_eq!((stats.discarded.repeated, stats.discarded.total()), (3, 3));
    }

    #[test]
    fn an_epoch_that_is_not_newer_replaces_no_key() {
        let (mut reception, mut stats) = reception();
        reception.install(1, &Secret([6; 32]));
        reception.install(0, &Secret([6; 32]));
        assert!(reception.open(&packet(1, 1, [6; 32]), at(1), &mut stats).is_none());
        assert!(reception.open(&packet(0, 2, [6; 32]), at(1), &mut stats).is_none());
        assert!(reception.open(&packet(1, 1, [1; 32]), at(1), &mut stats).is_some());
        (2..20).for_each(|epoch| reception.install(epoch, &Secret([9; 32])));
        assert_eq!(reception.keys.len(), EPOCHS);
        assert!(reception.open(&packet(19, 5, [9; 32]), at(1), &mut stats).is_some());
    }
}
