//! What an endpoint draws when it starts.

use contract::Random;

use crate::tls::fill;

/// Random numbers of one endpoint.
pub struct Secrets {
    /// Seed of the stack's own generator.
    pub seed: [u8; 32],
    /// Key of the tokens of stateless resets [RFC9000 §10.3.2].
    pub reset_key: ring::hmac::Key,
    /// Connection ids.
    pub ids: Ids,
}

impl Secrets {
    pub(crate) fn draw(random: &mut Random) -> Self {
        let seed = drawn(random);
        let key: [u8; 64] = drawn(random);
        let ids = Random::new(u64::from_le_bytes(drawn(random)), "connection ids", "");
        Self { seed, reset_key: ring::hmac::Key::new(ring::hmac::HMAC_SHA256, &key), ids: Ids(ids) }
    }
}

/// Connection ids of eight random bytes, as the generators of quinn and noq make them.
#[derive(Clone, Debug)]
pub struct Ids(Random);

impl Ids {
    /// Bytes of a connection id.
    pub const LENGTH: usize = 8;

    /// The next connection id.
    pub fn draw(&mut self) -> [u8; Self::LENGTH] {
        drawn(&mut self.0)
    }
}

/// Bytes drawn from `random`.
pub(crate) fn drawn<const N: usize>(random: &mut Random) -> [u8; N] {
    let mut bytes = [0; N];
    fill(random, &mut bytes);
    bytes
}
