//! Identities of the ends of a session: an Ed25519 key, its certificate and its fingerprint; key files; keys derived
//! from a pre-shared key.

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;
use std::str::FromStr;

use ring::signature::Ed25519KeyPair;
use rustls::pki_types::CertificateDer;

use crate::certificate::{pkcs8, seed, self_signed};

/// SHA-256 of a certificate, as `openssl x509 -fingerprint -sha256` prints it, in the form `sha256:` and 64 hexadecimal
/// digits.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Fingerprint([u8; 32]);

impl Fingerprint {
    /// The fingerprint of a certificate (DER).
    pub fn of(certificate: &[u8]) -> Self {
        let digest = ring::digest::digest(&ring::digest::SHA256, certificate);
        Self(std::array::from_fn(|at| digest.as_ref()[at]))
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("sha256:")?;
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Fingerprint {
    type Err = IdentityError;

    /// Reads `sha256:` and 64 hexadecimal digits, with or without colons between the bytes.
    fn from_str(text: &str) -> Result<Self, IdentityError> {
        let wrong = || IdentityError::Fingerprint(wire::printable(text));
        let digits = text.strip_prefix("sha256:").ok_or_else(wrong)?.replace(':', "");
        if digits.len() != 64 || !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return Err(wrong());
        }
        let byte = |at: usize| u8::from_str_radix(&digits[2 * at..2 * at + 2], 16).unwrap_or(0);
        Ok(Self(std::array::from_fn(byte)))
    }
}

/// Why there is no identity or no fingerprint.
#[derive(Debug, thiserror::Error)]
pub enum IdentityError {
    /// The key file could not be read or written.
    #[error("{path}: {source}")]
    File {
        /// The file.
        path: String,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The file does not contain a key.
    #[error(
        "{0}: not an Ed25519 private key (PKCS #8, PEM); create one by `openssl genpkey -algorithm ed25519 -out FILE`, or \
         name a file that does not exist, which is then created"
    )]
    Key(String),
    /// Others may read the key.
    #[error(
        "{0}: other users can read this private key; restrict its permissions by `chmod 600`, or use another key"
    )]
    Permissions(String),
    /// Not a fingerprint.
    #[error(
        "{0:?} is not a fingerprint: `sha256:` and 64 hexadecimal digits, as the other end prints it when it starts"
    )]
    Fingerprint(String),
    /// An empty pre-shared key.
    #[error(
        "the pre-shared key is empty: use a file or an environment variable with at least 16 characters that cannot be guessed"
    )]
    Empty,
}

/// An Ed25519 key pair and its self-signed certificate.
#[derive(Clone)]
pub struct Identity {
    seed: [u8; 32],
    certificate: CertificateDer<'static>,
    fingerprint: Fingerprint,
}

/// Shows the fingerprint, but not the key.
impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Identity({})", self.fingerprint)
    }
}

impl Identity {
    /// The identity with this private key, which must be random or derived from a secret.
    pub fn from_seed(seed: [u8; 32]) -> Self {
        let key = Ed25519KeyPair::from_seed_unchecked(&seed).expect("any 32 bytes are an Ed25519 key");
        let certificate = self_signed(&key);
        let fingerprint = Fingerprint::of(&certificate);
        Self { seed, certificate: certificate.into(), fingerprint }
    }

    /// The identity in a key file. If there is no such file, it is created with this seed, readable by its owner only.
    ///
    /// # Errors
    ///
    /// The file cannot be read or created, other users can read it, or it holds another kind of key.
    pub fn open(path: &Path, seed_of_new: impl FnOnce(&mut [u8; 32])) -> Result<Self, IdentityError> {
        let shown = || path.display().to_string();
        let failed = |source| IdentityError::File { path: shown(), source };
        let mut file = match File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let mut fresh = [0; 32];
                seed_of_new(&mut fresh);
                let mut file =
                    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path).map_err(failed)?;
                file.write_all(to_pem(&pkcs8(&fresh)).as_bytes()).map_err(failed)?;
                return Ok(Self::from_seed(fresh));
            }
            Err(error) => return Err(failed(error)),
        };
        if file.metadata().map_err(failed)?.permissions().mode() & 0o077 != 0 {
            return Err(IdentityError::Permissions(shown()));
        }
        let mut text = String::new();
        let read = (&mut file).take(MAX_FILE).read_to_string(&mut text);
        let parsed = read.ok().and_then(|_| seed(&from_pem(&text)?));
        Ok(Self::from_seed(parsed.ok_or_else(|| IdentityError::Key(shown()))?))
    }

    /// The fingerprint by which others pin it.
    pub const fn fingerprint(&self) -> Fingerprint {
        self.fingerprint
    }

    /// The certificate (DER).
    pub fn certificate(&self) -> &CertificateDer<'static> {
        &self.certificate
    }

    /// The private key as PKCS #8.
    pub(crate) fn pkcs8(&self) -> Vec<u8> {
        pkcs8(&self.seed)
    }
}

/// A key file is shorter than this.
const MAX_FILE: u64 = 4096;
const BEGIN: &str = "-----BEGIN PRIVATE KEY-----";
const END: &str = "-----END PRIVATE KEY-----";
const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// PEM [RFC7468 §10].
fn to_pem(bytes: &[u8]) -> String {
    let mut text = String::new();
    for three in bytes.chunks(3) {
        let bits =
            three.iter().fold(0u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - three.len()));
        for digit in 0..4 {
            let value = bits >> (18 - 6 * digit) & 63;
            text.push(if digit <= three.len() { char::from(DIGITS[value as usize]) } else { '=' });
        }
    }
    format!("{BEGIN}\n{text}\n{END}\n")
}

fn from_pem(text: &str) -> Option<Vec<u8>> {
    let (_, rest) = text.split_once(BEGIN)?;
    let (body, _) = rest.split_once(END)?;
    let (mut bytes, mut bits, mut count) = (Vec::new(), 0u32, 0);
    for digit in body.bytes().filter(|byte| !byte.is_ascii_whitespace() && *byte != b'=') {
        bits = bits << 6 | DIGITS.iter().position(|known| *known == digit)? as u32;
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
        }
    }
    Some(bytes)
}

/// The identities of client and server that both ends derive from a pre-shared key.
///
/// rustls has no external pre-shared keys (RFC 8446 §2.2). The key is therefore stretched with Argon2id, and two
/// Ed25519 keys are derived from the result with HKDF (RFC 5869). Each end pins the certificate of the other. A server
/// presents its certificate to every client, so that a client can guess keys offline: with Argon2id each guess costs 64
/// MiB and three passes, and a key from a random generator cannot be guessed.
///
/// # Errors
///
/// The key is empty.
pub(crate) fn derived(secret: &[u8]) -> Result<[Identity; 2], IdentityError> {
    if secret.is_empty() {
        return Err(IdentityError::Empty);
    }
    // the second recommended option [RFC9106 §4]
    let params =
        argon2::Params::new(1 << 16, 3, 4, Some(32)).expect("the parameters of RFC 9106 are in range");
    let argon2 = argon2::Argon2::new(argon2::Algorithm::Argon2id, argon2::Version::V0x13, params);
    let mut stretched = [0; 32];
    argon2.hash_password_into(secret, SALT, &mut stretched).map_err(|_| IdentityError::Empty)?;
    let extracted = ring::hkdf::Salt::new(ring::hkdf::HKDF_SHA256, &[]).extract(&stretched);
    Ok([b"client", b"server"].map(|label| {
        let mut seed = [0; 32];
        let info = [&label[..]];
        let filled = extracted.expand(&info, ring::hkdf::HKDF_SHA256).and_then(|okm| okm.fill(&mut seed));
        filled.expect("HKDF outputs 32 bytes");
        Identity::from_seed(seed)
    }))
}

/// The salt is fixed, because both ends derive the same keys without exchanging one.
const SALT: &[u8; 16] = b"thalweg sessions";

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str) -> std::path::PathBuf {
        std::env::temp_dir().join(format!("thalweg-identity-{}-{name}", std::process::id()))
    }

    #[test]
    fn a_key_file_is_made_once_and_keeps_its_fingerprint() {
        let path = file("made");
        let _ = std::fs::remove_file(&path);
        let created = Identity::open(&path, |seed| seed.fill(7)).expect("it can be made");
        let read = Identity::open(&path, |_| panic!("it is there")).expect("it can be read");
        assert_eq!(created.fingerprint(), read.fingerprint());
        assert_eq!(created.fingerprint(), Identity::from_seed([7; 32]).fingerprint());
        assert_eq!(std::fs::metadata(&path).expect("it is there").permissions().mode() & 0o777, 0o600);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).expect("it is ours");
        let message = Identity::open(&path, |_| {}).expect_err("others can read it").to_string();
        assert!(message.contains("chmod 600"), "{message}");
        std::fs::remove_file(&path).expect("it is ours");
    }

    #[test]
    fn what_is_no_key_is_refused_with_advice() {
        let path = file("wrong");
        for text in ["", "hello", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"] {
            let _ = std::fs::remove_file(&path);
            let mut file = OpenOptions::new()
                .write(true)
                .create(true)
                .truncate(true)
                .mode(0o600)
                .open(&path)
                .expect("ours");
            file.write_all(text.as_bytes()).expect("ours");
            let message = Identity::open(&path, |_| {}).expect_err("no key").to_string();
            assert!(message.contains("openssl genpkey"), "{message}");
        }
        std::fs::remove_file(&path).expect("it is ours");
    }

    /// RFC 8410 §10.3 has this key and this encoding.
    #[test]
    fn a_key_is_written_as_the_example_of_rfc_8410() {
        let pem = "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC\n-----END PRIVATE KEY-----\n";
        let seed = seed(&from_pem(pem).expect("it is PEM")).expect("it is a key");
        assert_eq!(seed[..4], [0xd4, 0xee, 0x72, 0xdb]);
        assert_eq!(to_pem(&pkcs8(&seed)), pem);
    }

    #[test]
    fn fingerprints_are_read_as_people_write_them() {
        let fingerprint = Identity::from_seed([1; 32]).fingerprint();
        let text = fingerprint.to_string();
        assert_eq!(text.parse::<Fingerprint>().expect("printed"), fingerprint);
        let bytes: Vec<String> = fingerprint.0.iter().map(|byte| format!("{byte:02X}")).collect();
        assert_eq!(
            format!("sha256:{}", bytes.join(":")).parse::<Fingerprint>().expect("of openssl"),
            fingerprint
        );
        for wrong in ["", "sha256:", "sha1:00", &text[..70], "sha256:zz\u{1b}[2J"] {
            let message = wrong.parse::<Fingerprint>().expect_err("wrong").to_string();
            assert!(message.contains("64 hexadecimal digits") && !message.contains('\u{1b}'), "{message}");
        }
    }

    #[test]
    fn both_ends_derive_the_same_two_keys_from_a_secret() {
        let [client, server] = derived(b"of the tests").expect("a key");
        let [again, _] = derived(b"of the tests").expect("a key");
        let [other, _] = derived(b"of the tests\n").expect("a key");
        assert_eq!(client.fingerprint(), again.fingerprint());
        assert_ne!(client.fingerprint(), server.fingerprint());
        assert_ne!(client.fingerprint(), other.fingerprint());
        assert!(matches!(derived(b""), Err(IdentityError::Empty)));
    }
}
