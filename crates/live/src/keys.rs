//! Keys, tags and cookies. All are BLAKE3: derivation, keyed hash.

use std::net::{IpAddr, SocketAddr};

use constant_time_eq::constant_time_eq_16;
use units::{Duration, Time};
use wire::stream::{COOKIE, Datagram, NONCE, TAG};

use crate::Secret;

/// A key that tags are made and compared by.
#[derive(Clone)]
pub(crate) struct Key([u8; blake3::KEY_LEN]);

impl Key {
    /// For hellos: all that an end knows before a session is its secret.
    pub(crate) fn opening(secret: &Secret) -> Self {
        Self::derive("thalweg 1 opening", secret, &[])
    }

    /// For answers to the hello with this nonce, so that an answer to another is none to it.
    pub(crate) fn answer(secret: &Secret, caller: &[u8; NONCE]) -> Self {
        Self::derive("thalweg 1 answer", secret, &[caller])
    }

    /// For what the caller sends in a session, and for what the called end sends.
    pub(crate) fn session(secret: &Secret, caller: &[u8; NONCE], called: &[u8; NONCE]) -> (Self, Self) {
        let derive = |context| Self::derive(context, secret, &[caller, called]);
        (derive("thalweg 1 session caller"), derive("thalweg 1 session called"))
    }

    /// For what is sent to a group.
    pub(crate) fn group(secret: &Secret, nonce: &[u8; NONCE]) -> Self {
        Self::derive("thalweg 1 group", secret, &[nonce])
    }

    fn derive(context: &str, secret: &Secret, nonces: &[&[u8; NONCE]]) -> Self {
        let mut hasher = blake3::Hasher::new_derive_key(context);
        hasher.update(&(secret.bytes().len() as u64).to_be_bytes());
        hasher.update(secret.bytes());
        nonces.iter().for_each(|nonce| {
            hasher.update(*nonce);
        });
        Self(*hasher.finalize().as_bytes())
    }

    fn tag(&self, body: &[u8]) -> [u8; TAG] {
        let hash = blake3::keyed_hash(&self.0, body);
        *hash.as_bytes().first_chunk().expect("a hash is longer than a tag")
    }

    /// Appends the tag of what stands in `bytes` from `start` on.
    pub(crate) fn seal(&self, bytes: &mut Vec<u8>, start: usize) {
        let tag = self.tag(&bytes[start..]);
        bytes.extend_from_slice(&tag);
    }

    /// What a whole datagram says, if its tag is right.
    pub(crate) fn open<'a>(&self, bytes: &'a [u8]) -> Option<&'a [u8]> {
        let (body, tag) = Datagram::split(bytes)?;
        constant_time_eq_16(&self.tag(body), tag).then_some(body)
    }
}

/// Bakes cookies and knows them again, without keeping any. A cookie proves that its bearer gets what is sent to its address.
pub(crate) struct Jar(Key);

/// A cookie is good for so long.
const FRESH: Duration = Duration::from_secs(10);

impl Jar {
    /// A jar with a key drawn at random, which nobody else needs to know.
    pub(crate) fn new(random: [u8; 32]) -> Self {
        Self(Key(random))
    }

    /// The cookie for a caller with this nonce at this address.
    pub(crate) fn bake(&self, address: SocketAddr, nonce: &[u8; NONCE], now: Time) -> [u8; COOKIE] {
        let mut text = Vec::with_capacity(8 + 17 + 2 + NONCE);
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
        text.extend_from_slice(nonce);
        let mut cookie = [0; COOKIE];
        cookie[..8].copy_from_slice(&text[..8]);
        cookie[8..].copy_from_slice(&self.0.tag(&text));
        cookie
    }

    /// Whether the cookie is from here, for this caller, and fresh.
    pub(crate) fn knows(
        &self,
        cookie: &[u8; COOKIE],
        address: SocketAddr,
        nonce: &[u8; NONCE],
        now: Time,
    ) -> bool {
        let Some(baked) = cookie.first_chunk().map(|nanos| Time::from_nanos(u64::from_be_bytes(*nanos)))
        else {
            return false;
        };
        let again = self.bake(address, nonce, baked);
        let (Some(tag), Some(known)) = (again.last_chunk::<TAG>(), cookie.last_chunk::<TAG>()) else {
            return false;
        };
        baked <= now && now.saturating_since(baked) <= FRESH && constant_time_eq_16(tag, known)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_is_right_under_its_key_only_and_for_its_bytes_only() {
        let (secret, other) = (Secret::new("a"), Secret::new("b"));
        let (caller, called) = Key::session(&secret, &[1; NONCE], &[2; NONCE]);
        let mut bytes = vec![0; 40];
        caller.seal(&mut bytes, 0);
        assert_eq!(caller.open(&bytes), Some(&[0; 40][..]));
        assert_eq!(called.open(&bytes), None, "what one end sends is not sent by the other");
        assert_eq!(Key::session(&other, &[1; NONCE], &[2; NONCE]).0.open(&bytes), None);
        assert_eq!(Key::session(&secret, &[3; NONCE], &[2; NONCE]).0.open(&bytes), None);
        for place in 0..bytes.len() {
            bytes[place] ^= 1;
            assert_eq!(caller.open(&bytes), None, "byte {place} was changed");
            bytes[place] ^= 1;
        }
        assert_eq!(caller.open(&bytes[..TAG]), None, "it is too short");
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
    fn a_cookie_is_good_for_its_bearer_and_for_ten_seconds() {
        let (jar, other) = (Jar::new([7; 32]), Jar::new([8; 32]));
        let at = |secs: u64| Time::ZERO + Duration::from_secs(secs);
        let (here, there): (SocketAddr, SocketAddr) =
            ([127, 0, 0, 1, 99, 1].into_address(), [127, 0, 0, 2, 99, 1].into_address());
        let cookie = jar.bake(here, &[1; NONCE], at(100));
        assert!(jar.knows(&cookie, here, &[1; NONCE], at(105)));
        assert!(!jar.knows(&cookie, there, &[1; NONCE], at(105)));
        assert!(!jar.knows(&cookie, here, &[2; NONCE], at(105)));
        assert!(!jar.knows(&cookie, here, &[1; NONCE], at(111)));
        assert!(!jar.knows(&cookie, here, &[1; NONCE], at(99)), "from the future");
        assert!(!other.knows(&cookie, here, &[1; NONCE], at(105)));
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
