//! Reception of packets of a group: keys of epochs, replay protection, and whether the network carries the group.

use std::net::SocketAddr;

use crate::Stats;
use crate::group::replay::Replay;
use units::{Duration, Time};

use super::packet::{EpochKey, Header, Secret};
use super::signature::{PublicKey, Verifier};

/// Epochs whose keys are held: the newest ones.
const EPOCHS: usize = 4;

/// The group of a receiver.
#[derive(Debug)]
pub struct Reception {
    address: SocketAddr,
    session: u32,
    /// By epoch, from the oldest to the newest.
    keys: Vec<(u32, EpochKey)>,
    verifier: Verifier,
    replay: Replay,
    received_at: Time,
    /// The packet that is being decrypted.
    buffer: Vec<u8>,
}

impl Reception {
    /// The group at this address, in this session of the sender that signs by `key`. Packets cannot be decrypted before
    /// the first key of an epoch.
    pub fn new(address: SocketAddr, session: u32, key: PublicKey, now: Time) -> Self {
        Self {
            address,
            session,
            keys: Vec::new(),
            verifier: Verifier::new(key),
            replay: Replay::new(),
            received_at: now,
            buffer: Vec::new(),
        }
    }

    /// Adds the secret of an epoch. It is ignored if a newer epoch is known.
    pub fn install(&mut self, epoch: u32, secret: &Secret) {
        if self.keys.last().is_some_and(|(newest, _)| *newest >= epoch) {
            return;
        }
        if self.keys.len() == EPOCHS {
            self.keys.remove(0);
        }
        self.keys.push((epoch, EpochKey::new(secret, self.session, epoch)));
    }

    /// The content of a packet; `None`, with a count of the reason, if it belongs to another session or epoch, was
    /// damaged, was forged by a stranger or a member, or was replayed. A packet without content is a keep-alive.
    pub fn open(&mut self, packet: &[u8], now: Time, stats: &mut Stats) -> Option<&[u8]> {
        let Some((header, sealed)) = Header::read(packet) else {
            stats.discarded.malformed += 1;
            return None;
        };
        let held = self.keys.iter().find(|(epoch, _)| *epoch == header.epoch);
        let Some((_, key)) = held.filter(|_| header.session == self.session) else {
            stats.discarded.strangers += 1;
            return None;
        };
        self.buffer.clear();
        self.buffer.extend_from_slice(sealed);
        let Some(proved) = key.open(header, &mut self.buffer) else {
            stats.discarded.forged += 1;
            return None;
        };
        // before its signature, which costs more to verify
        if !self.replay.is_fresh(header.number) {
            stats.discarded.repeated += 1;
            return None;
        }
        let Some(content) = self.verifier.verify(header, proved) else {
            stats.discarded.forged += 1;
            return None;
        };
        self.replay.take(header.number);
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
    use crate::group::Signer;

    const SESSION: u32 = 5;

    fn packet_of(signer: &Signer, epoch: u32, number: u64, secret: [u8; 32]) -> Vec<u8> {
        let mut packet = Vec::new();
        let (header, content) = (Header { session: SESSION, epoch, number }, [number as u8]);
        let burst = signer.sign(std::iter::once((header, &content[..])));
        EpochKey::new(&Secret(secret), SESSION, epoch).seal(header, &mut packet, |out| {
            out.extend(content);
            burst.write_proof(0, out);
        });
        packet
    }

    fn signer() -> Signer {
        Signer::new(&[4; 32])
    }

    fn packet(epoch: u32, number: u64, secret: [u8; 32]) -> Vec<u8> {
        packet_of(&signer(), epoch, number, secret)
    }

    fn at(millis: u64) -> Time {
        Time::ZERO + Duration::from_millis(millis)
    }

    fn reception() -> (Reception, Stats) {
        let address = SocketAddr::from(([239, 1, 2, 3], 5000));
        let mut reception = Reception::new(address, SESSION, signer().public_key(), at(0));
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
    fn a_member_that_has_the_key_cannot_send_in_the_name_of_the_sender() {
        let (mut reception, mut stats) = reception();
        for number in [0, 1, 2500, 1 << 61] {
            let forged = packet_of(&Signer::new(&[5; 32]), 1, number, [1; 32]);
            assert_eq!(reception.open(&forged, at(1), &mut stats), None);
        }
        assert_eq!((stats.discarded.forged, stats.discarded.total()), (4, 4));
        assert!(
            reception.is_idle(at(1), Duration::from_millis(1)),
            "they do not count as packets of the group"
        );
        for number in [1, 0, 2] {
            assert_eq!(
                reception.open(&packet(1, number, [1; 32]), at(2), &mut stats),
                Some(&[number as u8][..])
            );
        }
    }

    #[test]
    fn packets_of_an_old_epoch_are_read_after_the_change() {
        let (mut reception, mut stats) = reception();
        reception.install(2, &Secret([2; 32]));
        for (epoch, number) in [(1, 2), (2, 10), (1, 9), (2, 8)] {
            assert!(reception.open(&packet(epoch, number, [epoch as u8; 32]), at(1), &mut stats).is_some());
        }
        assert!(reception.open(&packet(1, 7, [2; 32]), at(2), &mut stats).is_none());
        assert_eq!((stats.discarded.forged, stats.discarded.total()), (1, 1));
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
