//! Signatures of the sender in packets to a group: one Ed25519 signature [RFC8032] for the root of a hash tree over a
//! few packets.
//!
//! Every member has the key that encrypts packets, so that a packet that can be decrypted may be a member's. Each
//! therefore contains a proof that it is the sender's: the signature, and the hashes by which the receiver computes the
//! root of the tree from the packet alone. A packet is verified when it arrives, whichever others are lost; the
//! signature of a tree is verified once. The tree is as in Wong and Lam (Digital Signatures for Flows and Multicasts,
//! IEEE/ACM Transactions on Networking 7(4), 1999), with SHA-256 shortened to 128 bits.

use ring::digest::{Context, SHA256};
use ring::signature::{ED25519, Ed25519KeyPair, KeyPair, UnparsedPublicKey};

use super::packet::Header;

/// Levels of the tree below its root, and the packets at its leaves.
const LEVELS: usize = 3;
/// Maximum number of packets that share a signature.
pub const BURST: usize = 1 << LEVELS;
const HASH: usize = 16;
const SIGNATURE: usize = 64;
/// Bytes of the proof at the end of a packet's content: the hashes beside its path, lowest first, its place, and the
/// signature.
pub const PROOF: u16 = (LEVELS * HASH + 1 + SIGNATURE) as u16;
/// Roots that are remembered, for packets that overtake packets of the tree before.
const ROOTS: usize = 4;
/// What stands before the root in the signed message.
const PURPOSE: &[u8] = b"thalweg group packets";

type Hash = [u8; HASH];

/// The hash of a packet, or of two hashes below a node.
fn hash(kind: u8, parts: [&[u8]; 2]) -> Hash {
    let mut context = Context::new(&SHA256);
    context.update(&[kind]);
    parts.iter().for_each(|part| context.update(part));
    let digest = context.finish();
    std::array::from_fn(|at| digest.as_ref()[at])
}

fn leaf(header: Header, content: &[u8]) -> Hash {
    hash(0, [&header.bytes(), content])
}

fn node(left: &Hash, right: &Hash) -> Hash {
    hash(1, [left, right])
}

/// The signed message of a tree.
fn message(root: &Hash) -> [u8; PURPOSE.len() + HASH] {
    std::array::from_fn(|at| PURPOSE.get(at).copied().unwrap_or_else(|| root[at - PURPOSE.len()]))
}

/// The key of a sender. It signs for one session.
pub struct Signer(Ed25519KeyPair);

/// The key that verifies a sender's signatures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PublicKey(pub [u8; 32]);

impl Signer {
    /// The key of this seed, which must be random and secret.
    ///
    /// # Panics
    ///
    /// Never: each seed is a key.
    pub fn new(seed: &[u8; 32]) -> Self {
        Self(Ed25519KeyPair::from_seed_unchecked(seed).expect("a seed has 32 bytes"))
    }

    /// The key that verifies its signatures.
    pub fn public_key(&self) -> PublicKey {
        PublicKey(std::array::from_fn(|at| self.0.public_key().as_ref()[at]))
    }

    /// Signs packets with these headers and contents, of which there are at most [`BURST`].
    pub fn sign<'a>(&self, packets: impl Iterator<Item = (Header, &'a [u8])>) -> SignedBurst {
        let mut levels = [[[0; HASH]; BURST]; LEVELS + 1];
        for (place, (header, content)) in levels[0].iter_mut().zip(packets) {
            *place = leaf(header, content);
        }
        for level in 0..LEVELS {
            for at in 0..BURST >> (level + 1) {
                levels[level + 1][at] = node(&levels[level][2 * at], &levels[level][2 * at + 1]);
            }
        }
        let signed = self.0.sign(&message(&levels[LEVELS][0]));
        SignedBurst { levels, signature: std::array::from_fn(|at| signed.as_ref()[at]) }
    }
}

/// A signed tree over packets.
pub struct SignedBurst {
    /// From the leaves to the root; a place without a packet is zero.
    levels: [[Hash; BURST]; LEVELS + 1],
    signature: [u8; SIGNATURE],
}

impl SignedBurst {
    /// Appends the proof of the packet at this place.
    pub fn write_proof(&self, place: usize, out: &mut Vec<u8>) {
        for (level, hashes) in self.levels[..LEVELS].iter().enumerate() {
            out.extend(hashes[(place >> level) ^ 1]);
        }
        out.push(place as u8);
        out.extend(self.signature);
    }
}

/// Verifies proofs.
#[derive(Debug)]
pub(super) struct Verifier {
    key: UnparsedPublicKey<[u8; 32]>,
    /// The roots that were verified last, in turn.
    roots: [Option<Hash>; ROOTS],
    next: usize,
}

impl Verifier {
    pub(super) fn new(key: PublicKey) -> Self {
        Self { key: UnparsedPublicKey::new(&ED25519, key.0), roots: [None; ROOTS], next: 0 }
    }

    /// The content before the proof; `None` if the packet is not the sender's.
    pub(super) fn verify<'a>(&mut self, header: Header, proved: &'a [u8]) -> Option<&'a [u8]> {
        let (content, proof) = proved.split_at_checked(proved.len().checked_sub(PROOF.into())?)?;
        let (siblings, rest) = proof.split_at(LEVELS * HASH);
        let (place, signature) = (usize::from(rest[0]), &rest[1..]);
        if place >= BURST {
            return None;
        }
        let mut root = leaf(header, content);
        for (level, sibling) in siblings.as_chunks::<HASH>().0.iter().enumerate() {
            root = if place >> level & 1 == 0 { node(&root, sibling) } else { node(sibling, &root) };
        }
        if !self.roots.contains(&Some(root)) {
            self.key.verify(&message(&root), signature).ok()?;
            self.roots[self.next] = Some(root);
            self.next = (self.next + 1) % ROOTS;
        }
        Some(content)
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    fn header(number: u64) -> Header {
        Header { session: 3, epoch: 1, number }
    }

    /// Contents followed by their proofs.
    fn proved(signer: &Signer, first: u64, contents: &[Vec<u8>]) -> Vec<Vec<u8>> {
        let packets = contents.iter().enumerate();
        let burst = signer.sign(packets.map(|(at, content)| (header(first + at as u64), &content[..])));
        let mut packets = contents.to_vec();
        packets.iter_mut().enumerate().for_each(|(at, packet)| burst.write_proof(at, packet));
        packets
    }

    #[test]
    fn a_packet_without_room_for_a_proof_and_one_beyond_the_tree_are_refused() {
        let signer = Signer::new(&[1; 32]);
        let mut verifier = Verifier::new(signer.public_key());
        let packet = &mut proved(&signer, 0, &[b"content".to_vec()])[0];
        assert_eq!(verifier.verify(header(0), packet), Some(&b"content"[..]));
        assert_eq!(verifier.verify(header(0), &packet[8..]), None);
        packet[7 + LEVELS * HASH] = BURST as u8;
        assert_eq!(verifier.verify(header(0), packet), None);
    }

    fn hex(text: &str) -> Vec<u8> {
        let pairs = text.as_bytes().chunks(2).map(|pair| std::str::from_utf8(pair).expect("it is ASCII"));
        pairs.map(|pair| u8::from_str_radix(pair, 16).expect("it is hexadecimal")).collect()
    }

    #[test]
    fn the_key_of_a_seed_is_that_of_rfc_8032() {
        // section 7.1, test 1
        let seed = hex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60");
        let public = hex("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a");
        let signer = Signer::new(&seed.try_into().expect("it has 32 bytes"));
        assert_eq!(signer.public_key().0[..], public[..]);
    }

    /// The third of three packets; the proof was computed from the description in `docs/reference/wire-formats.md` by
    /// hashlib of Python and by OpenSSL.
    #[test]
    fn a_proof_is_as_another_program_computes_it() {
        let signer = Signer::new(&std::array::from_fn(|at| at as u8));
        let contents = [b"one".to_vec(), b"two".to_vec(), b"three".to_vec()];
        let expected = [
            "00000000000000000000000000000000ca24ce3f783d5e2c4b448c198f03497e59b05dd503a4ab780459c72cd0d7ff15",
            "02d08bd642a5352694a843771130dbdaa75dba1e94031cb9e0e2512da43b1404f744b06e5e55b18324d0c4f8b7725ed9",
            "b273d989fa10583c2f942c393e3a88740a",
        ];
        assert_eq!(proved(&signer, 10, &contents)[2][5..], hex(&expected.concat()));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn each_packet_is_verified_alone_and_no_bit_place_or_header_of_it_can_change(
            contents in vec(vec(any::<u8>(), 0..40), 1..=BURST),
            which: prop::sample::Index,
            place: prop::sample::Index,
            bit in 0..8u32,
        ) {
            let signer = Signer::new(&[1; 32]);
            let packets = proved(&signer, 10, &contents);
            let at = which.index(packets.len());
            let mut verifier = Verifier::new(signer.public_key());
            let mut changed = packets[at].clone();
            let flipped = place.index(changed.len());
            changed[flipped] ^= 1 << bit;
            prop_assert_eq!(verifier.verify(header(10 + at as u64), &changed), None);
            prop_assert_eq!(verifier.verify(header(11 + at as u64), &packets[at]), None);
            prop_assert_eq!(Verifier::new(Signer::new(&[2; 32]).public_key()).verify(header(10 + at as u64), &packets[at]), None);
            prop_assert_eq!(verifier.verify(header(10 + at as u64), &packets[at]), Some(&contents[at][..]));
            // the tree is known now: a packet that is not in it is still refused, unless only the signature of a known
            // root is changed
            let known = verifier.verify(header(10 + at as u64), &changed).is_some();
            prop_assert_eq!(known, flipped > contents[at].len() + LEVELS * HASH);
            for (other, content) in packets.iter().zip(&contents).enumerate().filter(|(other, _)| *other != at).map(|(_, pair)| pair) {
                let number = packets.iter().position(|one| one == other).expect("it is one of them");
                prop_assert_eq!(verifier.verify(header(10 + number as u64), other), Some(&content[..]));
            }
        }
    }
}
