//! A packet to a group: a header of 17 bytes, encrypted content with the proof of its sender, and a tag of 16 bytes.

use std::fmt;

use ring::aead::{AES_128_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::hkdf::{HKDF_SHA256, KeyType, Okm, Prk};

/// First byte of a packet. Its two highest bits are zero, as in no packet of QUIC version 1 [RFC9000 §17].
const FORM: u8 = 0x01;
/// Bytes of the header, and of the tag.
pub(super) const HEADER: usize = 1 + 4 + 4 + 8;
pub(super) const TAG: usize = 16;
/// Packet numbers are smaller than this.
const NUMBERS: u64 = 1 << 62;

/// The header of a packet, which is sent in the clear and authenticated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The session of the group's sender.
    pub session: u32,
    /// The epoch of the key.
    pub epoch: u32,
    /// The packet number, below 2⁶², which counts from 0 over all epochs of the session. None is used twice.
    pub number: u64,
}

impl Header {
    /// The header as bytes.
    pub(super) fn bytes(self) -> [u8; HEADER] {
        let mut bytes = [FORM; HEADER];
        bytes[1..5].copy_from_slice(&self.session.to_be_bytes());
        bytes[5..9].copy_from_slice(&self.epoch.to_be_bytes());
        bytes[9..].copy_from_slice(&self.number.to_be_bytes());
        bytes
    }

    /// Reads the header of a packet, and the sealed bytes after it; `None` if it is no packet to a group.
    pub fn read(packet: &[u8]) -> Option<(Self, &[u8])> {
        let (header, sealed) = packet.split_first_chunk::<HEADER>()?;
        let word = |at: usize| u32::from_be_bytes(std::array::from_fn(|byte| header[at + byte]));
        let number = u64::from(word(9)) << 32 | u64::from(word(13));
        let valid = header[0] == FORM && sealed.len() >= TAG && number < NUMBERS;
        valid.then_some((Self { session: word(1), epoch: word(5), number }, sealed))
    }
}

/// The secret of an epoch of a group, from which its keys are derived.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Secret(pub [u8; 32]);

/// Does not show its content.
impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// The key and the initialization vector of an epoch.
#[derive(Debug)]
pub struct EpochKey {
    key: LessSafeKey,
    iv: [u8; NONCE_LEN],
}

/// The length of an initialization vector.
struct IvLength;

impl KeyType for IvLength {
    fn len(&self) -> usize {
        NONCE_LEN
    }
}

impl EpochKey {
    /// Derives both from the secret of an epoch, by HKDF-Expand with SHA-256 (RFC 5869) and a label, the session and
    /// the epoch.
    pub fn new(secret: &Secret, session: u32, epoch: u32) -> Self {
        let secret = Prk::new_less_safe(HKDF_SHA256, &secret.0);
        let (session, epoch) = (session.to_be_bytes(), epoch.to_be_bytes());
        let [key, iv] =
            [&b"thalweg group key"[..], b"thalweg group iv"].map(|label| [label, &session, &epoch]);
        let key: Okm<'_, _> =
            secret.expand(&key, &AES_128_GCM).expect("a key is shorter than HKDF's maximum");
        let key = LessSafeKey::new(UnboundKey::from(key));
        let mut bytes = [0; NONCE_LEN];
        let filled = secret.expand(&iv, IvLength).and_then(|iv| iv.fill(&mut bytes));
        filled.expect("the vector has this length");
        Self { key, iv: bytes }
    }

    /// The exclusive or of the vector and the packet number [RFC9001 §5.3].
    fn nonce(&self, number: u64) -> Nonce {
        let mut nonce = self.iv;
        nonce[4..].iter_mut().zip(number.to_be_bytes()).for_each(|(place, byte)| *place ^= byte);
        Nonce::assume_unique_for_key(nonce)
    }

    /// Appends a packet with the content that `write` appends. A number must be used once per key.
    pub fn seal(&self, header: Header, out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
        let bytes = header.bytes();
        out.extend(bytes);
        let start = out.len();
        write(out);
        let sealed = self.key.seal_in_place_separate_tag(
            self.nonce(header.number),
            Aad::from(bytes),
            &mut out[start..],
        );
        out.extend(sealed.expect("a datagram is shorter than the cipher's maximum").as_ref());
    }

    /// Decrypts the bytes after a header in place. Returns the content; `None` if they were not sealed with this key
    /// and header.
    pub fn open<'a>(&self, header: Header, sealed: &'a mut [u8]) -> Option<&'a [u8]> {
        let opened = self.key.open_in_place(self.nonce(header.number), Aad::from(header.bytes()), sealed);
        opened.ok().map(|content| &*content)
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    fn key() -> EpochKey {
        EpochKey::new(&Secret([7; 32]), 0xa1b2_c3d4, 2)
    }

    const HEAD: Header = Header { session: 0xa1b2_c3d4, epoch: 2, number: 9 };

    fn sealed(content: &[u8]) -> Vec<u8> {
        let mut packet = Vec::new();
        key().seal(HEAD, &mut packet, |out| out.extend(content));
        packet
    }

    #[test]
    fn the_header_is_in_the_clear_and_the_content_is_not() {
        let packet = sealed(b"some content of a packet");
        assert_eq!(packet.len(), 24 + HEADER + TAG);
        assert_eq!(packet[..17], [1, 0xa1, 0xb2, 0xc3, 0xd4, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 9]);
        assert!(!packet.windows(4).any(|four| b"some content".windows(4).any(|clear| clear == four)));
        let (header, rest) = Header::read(&packet).expect("it is a packet");
        assert_eq!(header, HEAD);
        assert_eq!(key().open(header, &mut rest.to_vec()), Some(&b"some content of a packet"[..]));
    }

    #[test]
    fn another_secret_session_or_epoch_is_another_key() {
        let packet = sealed(b"content");
        let (header, rest) = Header::read(&packet).expect("it is a packet");
        for other in [
            EpochKey::new(&Secret([8; 32]), HEAD.session, HEAD.epoch),
            EpochKey::new(&Secret([7; 32]), 1, HEAD.epoch),
            EpochKey::new(&Secret([7; 32]), HEAD.session, 3),
        ] {
            assert_eq!(other.open(header, &mut rest.to_vec()), None);
        }
    }

    proptest! {
        #[test]
        fn any_input_is_rejected_or_has_a_header_that_is_encoded_as_it_was_read(bytes in vec(any::<u8>(), 0..80), form: bool) {
            let mut bytes = bytes;
            if let (true, Some(first)) = (form, bytes.first_mut()) {
                *first = FORM;
            }
            match Header::read(&bytes) {
                Some((header, rest)) => {
                    prop_assert_eq!(&header.bytes()[..], &bytes[..HEADER]);
                    prop_assert_eq!(rest, &bytes[HEADER..]);
                    prop_assert!(key().open(header, &mut rest.to_vec()).is_none());
                }
                None => prop_assert!(bytes.len() < HEADER + TAG || bytes[0] != FORM || bytes[9] >= 0x40),
            }
        }

        #[test]
        fn a_packet_is_opened_as_it_was_sealed_and_no_bit_of_it_can_change(
            content in vec(any::<u8>(), 0..100),
            place: prop::sample::Index,
            bit in 0..8u32,
        ) {
            let mut packet = sealed(&content);
            let opened = |packet: &[u8]| {
                let (header, rest) = Header::read(packet)?;
                key().open(header, &mut rest.to_vec()).map(<[u8]>::to_vec)
            };
            prop_assert_eq!(opened(&packet), Some(content));
            let at = place.index(packet.len());
            packet[at] ^= 1 << bit;
            prop_assert_eq!(opened(&packet), None);
        }
    }
}
