//! Self-signed X.509 certificates with an Ed25519 key (RFC 5280, RFC 8410), encoded as DER.
//!
//! A certificate depends on its key alone, so that a key has one fingerprint. Its names and dates are not checked,
//! because certificates are pinned.

use ring::signature::{Ed25519KeyPair, KeyPair};

/// The name in a certificate, and the server name that clients send.
pub const NAME: &str = "thalweg";

const INTEGER: u8 = 0x02;
const BIT_STRING: u8 = 0x03;
const OCTET_STRING: u8 = 0x04;
const OBJECT: u8 = 0x06;
const UTF8: u8 = 0x0c;
const GENERALIZED_TIME: u8 = 0x18;
const SEQUENCE: u8 = 0x30;
const SET: u8 = 0x31;
/// Context-specific tags: the version and the extensions of a certificate, and a DNS name.
const VERSION: u8 = 0xa0;
const EXTENSIONS: u8 = 0xa3;
const DNS_NAME: u8 = 0x82;

/// id-Ed25519 [RFC8410 §3].
const ED25519: [u8; 3] = [0x2b, 0x65, 0x70];
/// id-at-commonName.
const COMMON_NAME: [u8; 3] = [0x55, 0x04, 0x03];
/// id-ce-subjectAltName.
const ALTERNATIVE_NAME: [u8; 3] = [0x55, 0x1d, 0x11];

/// The certificate of a key.
pub(crate) fn self_signed(key: &Ed25519KeyPair) -> Vec<u8> {
    let algorithm = der(SEQUENCE, &[&der(OBJECT, &[&ED25519])]);
    let name = der(SEQUENCE, &[&der(OBJECT, &[&COMMON_NAME]), &der(UTF8, &[NAME.as_bytes()])]);
    let name = der(SEQUENCE, &[&der(SET, &[&name])]);
    // "no well-defined expiration date" [RFC5280 §4.1.2.5]
    let [from, until] = [b"20200101000000Z", b"99991231235959Z"].map(|date| der(GENERALIZED_TIME, &[date]));
    let key_info = der(SEQUENCE, &[&algorithm, &der(BIT_STRING, &[&[0], key.public_key().as_ref()])]);
    let names = der(SEQUENCE, &[&der(DNS_NAME, &[NAME.as_bytes()])]);
    let names = der(SEQUENCE, &[&der(OBJECT, &[&ALTERNATIVE_NAME]), &der(OCTET_STRING, &[&names])]);
    let body = der(
        SEQUENCE,
        &[
            &der(VERSION, &[&der(INTEGER, &[&[2]])]),
            &der(INTEGER, &[&[1]]),
            &algorithm,
            &name,
            &der(SEQUENCE, &[&from, &until]),
            &name,
            &key_info,
            &der(EXTENSIONS, &[&der(SEQUENCE, &[&names])]),
        ],
    );
    let signature = der(BIT_STRING, &[&[0], key.sign(&body).as_ref()]);
    der(SEQUENCE, &[&body, &algorithm, &signature])
}

/// A private key as PKCS #8 [RFC8410 §7].
pub(crate) fn pkcs8(seed: &[u8; 32]) -> Vec<u8> {
    let algorithm = der(SEQUENCE, &[&der(OBJECT, &[&ED25519])]);
    let key = der(OCTET_STRING, &[&der(OCTET_STRING, &[seed])]);
    der(SEQUENCE, &[&der(INTEGER, &[&[0]]), &algorithm, &key])
}

/// The seed of a private key that [`pkcs8`] or another program wrote; `None` if it is no Ed25519 key in that form.
pub(crate) fn seed(pkcs8_bytes: &[u8]) -> Option<[u8; 32]> {
    let seed = *pkcs8_bytes.last_chunk()?;
    (pkcs8(&seed) == pkcs8_bytes).then_some(seed)
}

/// An element with this tag and the concatenated parts as content, of at most 65 535 bytes.
fn der(tag: u8, parts: &[&[u8]]) -> Vec<u8> {
    let content = parts.concat();
    let mut out = vec![tag];
    match content.len() {
        length @ 0..0x80 => out.push(length as u8),
        length @ 0x80..0x100 => out.extend([0x81, length as u8]),
        length => out.extend([0x82, (length >> 8) as u8, length as u8]),
    }
    out.extend(content);
    out
}
