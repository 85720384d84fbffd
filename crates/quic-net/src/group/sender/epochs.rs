//! Key epochs of a group: a new key when a member leaves, and before a key has sealed too many packets.

use units::{Duration, Time};

use crate::frames::{Record, Secret};
use crate::group::{EpochKey, Header};

/// Maximum number of packets that a key encrypts: the confidentiality limit of AES-GCM [RFC9001 §6.6].
const LIMIT: u64 = 1 << 23;
/// How long the distribution of a key may take. Receivers that do not have it then lose packets until it arrives.
const DISTRIBUTION: Duration = Duration::from_secs(1);

/// The keys of a sender, and the numbers of its packets.
#[derive(Debug)]
pub(crate) struct Epochs {
    session: u32,
    current: Epoch,
    /// The next epoch, while its key is being distributed, and the end of that time.
    next: Option<(Epoch, Time)>,
    /// The key is to be replaced.
    stale: bool,
    /// The number of the next packet, and of the first one of the current epoch.
    number: u64,
    first: u64,
    limit: u64,
}

/// An epoch.
#[derive(Debug)]
struct Epoch {
    number: u32,
    secret: Secret,
    key: EpochKey,
}

impl Epoch {
    fn new(secret: Secret, session: u32, number: u32) -> Self {
        Self { number, secret, key: EpochKey::new(&secret, session, number) }
    }

    const fn record(&self) -> Record {
        Record::Key { epoch: self.number, secret: self.secret }
    }
}

impl Epochs {
    /// The first epoch of a session.
    pub(crate) fn new(secret: Secret, session: u32) -> Self {
        Self::with_limit(secret, session, LIMIT)
    }

    fn with_limit(secret: Secret, session: u32, limit: u64) -> Self {
        let current = Epoch::new(secret, session, 0);
        Self { session, current, next: None, stale: false, number: 0, first: 0, limit }
    }

    /// The session.
    pub(crate) const fn session(&self) -> u32 {
        self.session
    }

    /// How many packets the key may still seal.
    pub(crate) const fn remaining(&self) -> u64 {
        self.limit - (self.number - self.first)
    }

    /// The header of the packet after `place` others.
    pub(crate) const fn header(&self, place: u64) -> Header {
        Header { session: self.session, epoch: self.current.number, number: self.number + place }
    }

    /// Appends the next packet with the content that `write` appends. The key must not be exhausted.
    pub(crate) fn seal(&mut self, out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
        self.current.key.seal(self.header(0), out, write);
        self.number += 1;
    }

    /// A member that has the key has left.
    pub(crate) const fn expire(&mut self) {
        self.stale = true;
    }

    /// The keys that a new member needs.
    pub(crate) fn records(&self) -> impl Iterator<Item = Record> {
        let next = self.next.iter().map(|(next, _)| next.record());
        std::iter::once(self.current.record()).chain(next)
    }

    /// Whether a new key is due: a member that left knows the current one, or it has encrypted half of its limit.
    pub(crate) const fn is_due(&self) -> bool {
        self.next.is_none() && (self.stale || self.number - self.first >= self.limit / 2)
    }

    /// Prepares the next epoch with this secret. Returns the record for all members.
    pub(crate) fn prepare(&mut self, secret: Secret, now: Time) -> Record {
        let next = Epoch::new(secret, self.session, self.current.number + 1);
        let record = next.record();
        (self.next, self.stale) = (Some((next, now + DISTRIBUTION)), false);
        record
    }

    /// The epoch whose key is being distributed, and the end of that time.
    pub(crate) fn next(&self) -> Option<(u32, Time)> {
        self.next.as_ref().map(|(next, until)| (next.number, *until))
    }

    /// Begins the next epoch.
    pub(crate) fn advance(&mut self) {
        if let Some((next, _)) = self.next.take() {
            (self.current, self.first) = (next, self.number);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use crate::Stats;
    use crate::group::{Reception, Signer};

    use super::*;

    fn signer() -> Signer {
        Signer::new(&[3; 32])
    }

    fn sealed(epochs: &mut Epochs) -> Vec<u8> {
        let (mut packet, content) = (Vec::new(), &b"content"[..]);
        let burst = signer().sign(std::iter::once((epochs.header(0), content)));
        epochs.seal(&mut packet, |out| {
            out.extend(content);
            burst.write_proof(0, out);
        });
        packet
    }

    fn member(records: impl Iterator<Item = Record>) -> Reception {
        let address = SocketAddr::from(([239, 1, 2, 3], 5000));
        let mut member = Reception::new(address, 7, signer().public_key(), Time::ZERO);
        for record in records {
            let Record::Key { epoch, secret } = record else { panic!("it is no key") };
            member.install(epoch, &secret);
        }
        member
    }

    #[test]
    fn a_member_that_left_cannot_read_the_next_epoch_and_those_that_stay_can() {
        let (mut epochs, mut stats) = (Epochs::new(Secret([1; 32]), 7), Stats::default());
        let (mut left, mut stays) = (member(epochs.records()), member(epochs.records()));
        assert!(!epochs.is_due());
        epochs.expire();
        assert!(epochs.is_due());
        let Record::Key { epoch, secret } = epochs.prepare(Secret([2; 32]), Time::ZERO) else {
            panic!("it is no key")
        };
        stays.install(epoch, &secret);
        assert!(!epochs.is_due(), "it is on its way");
        assert_eq!(epochs.next(), Some((1, Time::ZERO + DISTRIBUTION)));
        let mut joined = member(epochs.records());
        let before = sealed(&mut epochs);
        epochs.advance();
        let after = sealed(&mut epochs);
        for (packet, expected) in [(before, [true, true, true]), (after, [false, true, true])] {
            let read = [&mut left, &mut stays, &mut joined]
                .map(|one| one.open(&packet, Time::ZERO, &mut stats).is_some());
            assert_eq!(read, expected);
        }
        assert_eq!(
            member(epochs.records()).open(&sealed(&mut epochs), Time::ZERO, &mut stats),
            Some(&b"content"[..])
        );
    }

    #[test]
    fn a_key_is_replaced_before_it_has_sealed_all_that_it_may() {
        assert_eq!(LIMIT, 8_388_608);
        let mut epochs = Epochs::with_limit(Secret([1; 32]), 7, 8);
        for n in 0..8 {
            assert_eq!((epochs.is_due(), epochs.remaining()), (n >= 4, 8 - n), "{n}");
            sealed(&mut epochs);
        }
        assert_eq!(epochs.remaining(), 0);
        epochs.prepare(Secret([2; 32]), Time::ZERO);
        assert!(epochs.remaining() == 0 && !epochs.is_due(), "it is on its way");
        epochs.advance();
        assert!(epochs.remaining() == 8 && !epochs.is_due());
        let packet = sealed(&mut epochs);
        let (header, _) = Header::read(&packet).expect("it is a packet");
        assert_eq!(header, Header { session: 7, epoch: 1, number: 8 });
    }
}
