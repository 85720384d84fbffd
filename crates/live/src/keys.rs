//! Keys, tags and address-validation tokens: keys are agreed upon by X25519 and derived by BLAKE3, whose keyed hash makes tags and tokens.

use std::net::{IpAddr, SocketAddr};

use constant_time_eq::constant_time_eq_16;
use units::{Duration, Time};
use wire::stream::{Datagram, KEY, TAG, TOKEN};
use x25519_dalek::{PublicKey, StaticSecret};

use crate::Secret;

/// A key of tags.
#[derive(Clone)]
pub(crate) struct Key([u8; blake3::KEY_LEN]);

impl Key {
    /// The key of hellos, which depends on the secret only.
    pub(crate) fn opening(secret: &Secret) -> Self {
        Self::derive("thalweg 2 opening", secret, &[])
    }

    /// The key of answers to the hello with this public key, so that they are not valid for another hello.
    pub(crate) fn answer(secret: &Secret, caller: &[u8; KEY]) -> Self {
        Self::derive("thalweg 2 answer", secret, &[caller])
    }

    /// The key of datagrams to a group with this secret.
    pub(crate) fn group(secret: &Secret, group: &[u8; KEY]) -> Self {
        Self::derive("thalweg 2 group", secret, &[group])
    }

    /// As [`Self::opening`] in version 1 of the format.
    pub(crate) fn opening_of_first_version(secret: &Secret) -> Self {
        Self::derive("thalweg 1 opening", secret, &[])
    }

    /// As [`Self::answer`] in version 1 of the format.
    pub(crate) fn answer_of_first_version(secret: &Secret, caller: &[u8; KEY]) -> Self {
        Self::derive("thalweg 1 answer", secret, &[caller])
    }

    fn derive(context: &str, secret: &Secret, parts: &[&[u8; KEY]]) -> Self {
        let mut hasher = blake3::Hasher::new_derive_key(context);
        hasher.update(&(secret.bytes().len() as u64).to_be_bytes());
        hasher.update(secret.bytes());
        parts.iter().for_each(|part| {
            hasher.update(*part);
        });
        Self(*hasher.finalize().as_bytes())
    }

    fn tag(&self, body: &[u8]) -> [u8; TAG] {
        let hash = blake3::keyed_hash(&self.0, body);
        *hash.as_bytes().first_chunk().expect("a hash is longer than a tag")
    }

    /// Appends the tag of the bytes from `start` on.
    pub(crate) fn seal(&self, bytes: &mut Vec<u8>, start: usize) {
        let tag = self.tag(&bytes[start..]);
        bytes.extend_from_slice(&tag);
    }

    /// The content of a whole datagram if its tag is valid.
    pub(crate) fn open<'a>(&self, bytes: &'a [u8]) -> Option<&'a [u8]> {
        let (body, tag) = Datagram::split(bytes)?;
        constant_time_eq_16(&self.tag(body), tag).then_some(body)
    }
}

/// The key pair of an end for one session. The agreed keys cannot be computed from the public keys, which are sent in clear text.
pub(crate) struct KeyPair {
    own: StaticSecret,
    /// The public key.
    pub(crate) public: [u8; KEY],
}

impl KeyPair {
    pub(crate) fn new(random: [u8; KEY]) -> Self {
        let own = StaticSecret::from(random);
        let public = PublicKey::from(&own).to_bytes();
        Self { own, public }
    }

    fn with(&self, other: &[u8; KEY]) -> [u8; KEY] {
        self.own.diffie_hellman(&PublicKey::from(*other)).to_bytes()
    }
}

/// The keys that the ends of a session agree on ([RFC7748 §6.1]). Two agreements are combined, as in the handshakes of the Noise framework
/// that authenticate the caller (`ee` and `se`): one of the key pairs for this session, and one with the permanent key pair of the caller,
/// so that no other host can open a session as the caller. If there is a secret, both ends must know it.
pub(crate) struct SessionKeys {
    /// Of datagrams of the caller.
    pub(crate) caller: Key,
    /// Of datagrams of the listener.
    pub(crate) called: Key,
    mask: Key,
    /// A value that applications at both ends can bind their messages to; no other host knows it.
    pub(crate) binding: [u8; KEY],
}

/// The public keys of a session in the order of transmission: the caller's for this session, the caller's permanent one, that of the
/// listener.
type Publics<'a> = [&'a [u8; KEY]; 3];

impl SessionKeys {
    /// As computed by the caller, with its key pairs for this session (`half`) and its permanent one (`me`).
    pub(crate) fn for_caller(secret: &Secret, half: &KeyPair, me: &KeyPair, called: &[u8; KEY]) -> Self {
        let shared = [half.with(called), me.with(called)];
        Self::new(secret, &shared, [&half.public, &me.public, called])
    }

    /// As computed by the listener.
    pub(crate) fn for_listener(
        secret: &Secret,
        half: &KeyPair,
        call: &[u8; KEY],
        caller: &[u8; KEY],
    ) -> Self {
        let shared = [half.with(call), half.with(caller)];
        Self::new(secret, &shared, [call, caller, &half.public])
    }

    fn new(secret: &Secret, shared: &[[u8; KEY]; 2], [call, caller, called]: Publics<'_>) -> Self {
        let parts = [&shared[0], &shared[1], call, caller, called];
        let derive = |context| Key::derive(context, secret, &parts);
        Self {
            caller: derive("thalweg 2 session caller"),
            called: derive("thalweg 2 session called"),
            mask: derive("thalweg 2 session mask"),
            binding: derive("thalweg 2 session binding").0,
        }
    }

    /// Masks or unmasks a group's secret. A session has one such secret, so the mask is used once.
    pub(crate) fn mask(&self, secret: &mut [u8; KEY]) {
        secret.iter_mut().zip(self.mask.0).for_each(|(byte, mask)| *byte ^= mask);
    }
}

/// Issues and verifies address-validation tokens (as RFC 9000 §8.1) without state. A token proves that a caller receives packets at its
/// address.
pub(crate) struct TokenKey(Key);

/// Lifetime of an address-validation token.
const FRESH: Duration = Duration::from_secs(10);

impl TokenKey {
    /// A random key of address-validation tokens.
    pub(crate) fn new(random: [u8; 32]) -> Self {
        Self(Key(random))
    }

    /// The token for a caller with this public key at this address.
    pub(crate) fn issue(&self, address: SocketAddr, caller: &[u8; KEY], now: Time) -> [u8; TOKEN] {
        let mut text = Vec::with_capacity(8 + 17 + 2 + KEY);
        text.extend_from_slice(&now.as_nanos().to_be_bytes());
        match address.ip() {
            IpAddr::V4(ip) => {
                text.push(4);
                text.extend_from_slice(&ip.octets());
            }
            IpAddr::V6(ip) => {
                text.push(6);
                text.extend_from_slice(&ip.octets());
            }
        }
        text.extend_from_slice(&address.port().to_be_bytes());
        text.extend_from_slice(caller);
        let mut token = [0; TOKEN];
        token[..8].copy_from_slice(&text[..8]);
        token[8..].copy_from_slice(&self.0.tag(&text));
        token
    }

    /// When a valid token was issued.
    pub(crate) fn issued_at(token: &[u8; TOKEN]) -> Time {
        token.first_chunk().map_or(Time::ZERO, |nanos| Time::from_nanos(u64::from_be_bytes(*nanos)))
    }

    /// Whether the token was issued here, for this caller, and is fresh.
    pub(crate) fn knows(
        &self,
        token: &[u8; TOKEN],
        address: SocketAddr,
        caller: &[u8; KEY],
        now: Time,
    ) -> bool {
        let Some(issued_at) = token.first_chunk().map(|nanos| Time::from_nanos(u64::from_be_bytes(*nanos)))
        else {
            return false;
        };
        let again = self.issue(address, caller, issued_at);
        let (Some(tag), Some(known)) = (again.last_chunk::<TAG>(), token.last_chunk::<TAG>()) else {
            return false;
        };
        issued_at <= now && now.saturating_since(issued_at) <= FRESH && constant_time_eq_16(tag, known)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What both ends find when each has drawn its half.
    fn agreed(secret: &Secret, caller: u8, called: u8) -> [SessionKeys; 2] {
        let (caller, called, me) =
            (KeyPair::new([caller; KEY]), KeyPair::new([called; KEY]), KeyPair::new([9; KEY]));
        [
            SessionKeys::for_caller(secret, &caller, &me, &called.public),
            SessionKeys::for_listener(secret, &called, &caller.public, &me.public),
        ]
    }

    #[test]
    fn a_tag_is_right_under_its_key_only_and_for_its_bytes_only() {
        let (secret, other) = (Secret::new("a"), Secret::new("b"));
        let [ours, theirs] = agreed(&secret, 1, 2);
        let mut bytes = vec![0; 40];
        ours.caller.seal(&mut bytes, 0);
        assert_eq!(theirs.caller.open(&bytes), Some(&[0; 40][..]));
        assert_eq!(theirs.called.open(&bytes), None, "what one end sends is not sent by the other");
        assert_eq!(agreed(&other, 1, 2)[1].caller.open(&bytes), None);
        assert_eq!(agreed(&secret, 3, 2)[1].caller.open(&bytes), None);
        for place in 0..bytes.len() {
            bytes[place] ^= 1;
            assert_eq!(theirs.caller.open(&bytes), None, "byte {place} was changed");
            bytes[place] ^= 1;
        }
        assert_eq!(theirs.caller.open(&bytes[..TAG]), None, "it is too short");
    }

    #[test]
    fn both_halves_make_what_rfc_7748_says() {
        // [RFC7748 §5.2], the first pair
        let bytes = |text: &str| -> [u8; KEY] {
            std::array::from_fn(|at| u8::from_str_radix(&text[2 * at..2 * at + 2], 16).unwrap())
        };
        let own = KeyPair::new(bytes("a546e36bf0527c9d3b16154b82465edd62144c0ac1fc5a18506a2244ba449ac4"));
        let other = bytes("e6db6867583030db3594c1a424b15f7c726624ec26b3353b10a903a6d0ab1c4c");
        let shared = bytes("c3da55379de9c6908e94ea4df28d084f32eccf03491c71f754b4075577a28552");
        assert_eq!(own.with(&other), shared);
    }

    #[test]
    fn whoever_sees_both_public_halves_finds_another_key() {
        let [ours, theirs] = agreed(&Secret::none(), 1, 2);
        let mut bytes = vec![0; 40];
        ours.caller.seal(&mut bytes, 0);
        // all that passes by: the two public halves; the stranger has a half of its own
        let [call, called, me] = [1, 2, 9].map(|own| KeyPair::new([own; KEY]).public);
        let own = KeyPair::new([3; KEY]);
        for public in [&call, &called, &me] {
            let shared = [own.with(public), own.with(public)];
            let stranger = SessionKeys::new(&Secret::none(), &shared, [&call, &me, &called]);
            assert_eq!(stranger.caller.open(&bytes), None);
        }
        assert!(theirs.caller.open(&bytes).is_some());
    }

    #[test]
    fn who_calls_in_anothers_name_finds_another_key() {
        // the stranger draws a half for its call and says that it is the caller, whose public half it saw
        let (call, called, me) = (KeyPair::new([3; KEY]), KeyPair::new([2; KEY]), KeyPair::new([9; KEY]));
        let theirs = SessionKeys::for_listener(&Secret::none(), &called, &call.public, &me.public);
        for own in [&call, &KeyPair::new([4; KEY])] {
            let shared = [call.with(&called.public), own.with(&called.public)];
            let stranger =
                SessionKeys::new(&Secret::none(), &shared, [&call.public, &me.public, &called.public]);
            let mut bytes = vec![0; 40];
            stranger.caller.seal(&mut bytes, 0);
            assert_eq!(theirs.caller.open(&bytes), None);
            assert_ne!(stranger.binding, theirs.binding);
        }
        let right = SessionKeys::for_caller(&Secret::none(), &call, &me, &called.public);
        assert_eq!(right.binding, theirs.binding);
    }

    #[test]
    fn a_groups_secret_is_read_by_the_other_end_only() {
        let [ours, theirs] = agreed(&Secret::none(), 1, 2);
        let mut travels = [9; KEY];
        theirs.mask(&mut travels);
        let mut strange = travels;
        agreed(&Secret::none(), 3, 2)[0].mask(&mut strange);
        ours.mask(&mut travels);
        assert_eq!(travels, [9; KEY]);
        assert_ne!(strange, [9; KEY]);
    }

    #[test]
    fn a_secret_of_another_length_is_another_secret() {
        let (a, b) = (Secret::new(vec![1; 8]), Secret::new(vec![1; 9]));
        let mut bytes = vec![0; 40];
        Key::opening(&a).seal(&mut bytes, 0);
        assert!(Key::opening(&a).open(&bytes).is_some());
        assert!(Key::opening(&b).open(&bytes).is_none());
    }

    #[test]
    fn a_token_is_good_for_its_bearer_and_for_ten_seconds() {
        let (token_key, other) = (TokenKey::new([7; 32]), TokenKey::new([8; 32]));
        let at = |secs: u64| Time::ZERO + Duration::from_secs(secs);
        let (here, there): (SocketAddr, SocketAddr) =
            ([127, 0, 0, 1, 99, 1].into_address(), [127, 0, 0, 2, 99, 1].into_address());
        let token = token_key.issue(here, &[1; KEY], at(100));
        assert!(token_key.knows(&token, here, &[1; KEY], at(105)));
        assert!(!token_key.knows(&token, there, &[1; KEY], at(105)));
        assert!(!token_key.knows(&token, here, &[2; KEY], at(105)));
        assert!(!token_key.knows(&token, here, &[1; KEY], at(111)));
        assert!(!token_key.knows(&token, here, &[1; KEY], at(99)), "from the future");
        assert!(!other.knows(&token, here, &[1; KEY], at(105)));
    }

    trait IntoAddress {
        fn into_address(self) -> SocketAddr;
    }

    impl IntoAddress for [u8; 6] {
        fn into_address(self) -> SocketAddr {
            let [a, b, c, d, high, low] = self;
            SocketAddr::from(([a, b, c, d], u16::from_be_bytes([high, low])))
        }
    }
}
