//! Transmission to the group: signed and encrypted packets in GSO batches.

use std::net::SocketAddr;

use contract::Ecn;
use driver::{GsoBatches, Platform};
use units::{Duration, Time};

use super::epochs::Epochs;
use crate::Traffic;
use crate::group::{BURST, PublicKey, Signer};

/// Sends packets to the group.
pub(crate) struct Channel {
    to: SocketAddr,
    /// The keys of the group.
    pub(crate) epochs: Epochs,
    signer: Signer,
    /// The contents of packets that will share a signature, and the length and the codepoint of each.
    contents: Vec<u8>,
    unsigned: Vec<(usize, Ecn)>,
    /// Datagrams that wait for a GSO batch.
    gso_batches: GsoBatches,
    /// Datagrams sent to the group.
    pub(crate) sent: Traffic,
    /// Packets that could not be encrypted, because the next key was not distributed in time.
    unsealed: u64,
    sent_at: Time,
}

impl Channel {
    pub(crate) fn new(to: SocketAddr, epochs: Epochs, signer: Signer, now: Time) -> Self {
        Self {
            to,
            epochs,
            signer,
            contents: Vec::new(),
            unsigned: Vec::with_capacity(BURST),
            gso_batches: GsoBatches::default(),
            sent: Traffic::default(),
            unsealed: 0,
            sent_at: now,
        }
    }

    /// The group.
    pub(crate) const fn address(&self) -> SocketAddr {
        self.to
    }

    /// Bytes of the headers of IP and UDP.
    pub(crate) fn outer_bytes(&self) -> u32 {
        u32::from(crate::OUTER[usize::from(self.to.is_ipv6())])
    }

    /// The key that verifies its packets.
    pub(crate) fn public_key(&self) -> PublicKey {
        self.signer.public_key()
    }

    /// Datagrams that the system did not send, and packets that could not be encrypted.
    pub(crate) const fn overruns(&self) -> u64 {
        self.gso_batches.overruns + self.unsealed
    }

    /// Whether the path accepts only shorter datagrams.
    pub(crate) const fn is_too_long(&self) -> bool {
        self.gso_batches.too_long
    }

    /// Sends a packet with the content that `write` appends, at the latest at the next [`Channel::flush`].
    pub(crate) fn send(
        &mut self,
        ecn: Ecn,
        now: Time,
        platform: &mut impl Platform,
        write: impl FnOnce(&mut Vec<u8>),
    ) {
        let start = self.contents.len();
        write(&mut self.contents);
        self.unsigned.push((self.contents.len() - start, ecn));
        self.sent_at = now;
        if self.unsigned.len() == BURST {
            self.sign(platform);
        }
    }

    /// Sends the packets that wait.
    pub(crate) fn flush(&mut self, platform: &mut impl Platform) {
        self.sign(platform);
        self.gso_batches.flush(platform);
    }

    /// Signs and encrypts the packets that wait for it.
    fn sign(&mut self, platform: &mut impl Platform) {
        let Self { to, epochs, signer, contents, unsigned, gso_batches, sent, .. } = self;
        let allowed = epochs.remaining().min(unsigned.len() as u64) as usize;
        self.unsealed += (unsigned.len() - allowed) as u64;
        unsigned.truncate(allowed);
        if allowed > 0 {
            let packets = || {
                unsigned.iter().scan(&contents[..], |rest, (length, ecn)| {
                    let (content, after) = rest.split_at(*length);
                    *rest = after;
                    Some((content, *ecn))
                })
            };
            let headers = (0..).map(|place| epochs.header(place));
            let burst = signer.sign(headers.zip(packets().map(|(content, _)| content)));
            for (place, (content, ecn)) in packets().enumerate() {
                let length = gso_batches.push(*to, ecn, platform, |out| {
                    epochs.seal(out, |out| {
                        out.extend_from_slice(content);
                        burst.write_proof(place, out);
                    });
                });
                sent.add(length);
            }
        }
        contents.clear();
        unsigned.clear();
    }

    /// Sends a packet without content if no packet was sent for `span`, so that receivers know that the network carries
    /// the group.
    pub(crate) fn keep_alive(&mut self, span: Duration, now: Time, platform: &mut impl Platform) {
        if now >= self.sent_at + span {
            self.send(Ecn::NotCapable, now, platform, |_| {});
        }
    }
}
