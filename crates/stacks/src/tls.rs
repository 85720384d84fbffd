//! TLS 1.3 (RFC 8446, 9001) by rustls and *ring*, with every random number from a stream of the simulator.
//!
//! Sizes on the wire are as with a server that authenticates with an Ed25519 key as raw public key (RFC 7250), and
//! sends two session tickets. Keys, signatures and ciphers are real. *ring* draws ephemeral keys from the operating
//! system and offers no other source, so X25519 is from `x25519-dalek` here.

use std::cell::Cell;
use std::sync::Arc;
use std::time::Duration;

use contract::Random;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{
    ActiveKeyExchange, CryptoProvider, GetRandomFailed, SecureRandom, SharedSecret, SupportedKxGroup,
};
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer, ServerName, SubjectPublicKeyInfoDer, UnixTime};
use rustls::server::AlwaysResolvesServerRawPublicKeys;
use rustls::sign::{CertifiedKey, SigningKey};
use rustls::time_provider::TimeProvider;
use rustls::{DigitallySignedStruct, Error, NamedGroup, PeerMisbehaved, SignatureScheme};
use x25519_dalek::{PublicKey, StaticSecret};

thread_local! {
    /// The stream of the endpoint that runs on this thread.
    static STREAM: Cell<Option<Random>> = const { Cell::new(None) };
}

/// Runs `call`, in which TLS and [`draw`] draw from `random`.
pub fn seeded<T>(random: &mut Random, call: impl FnOnce() -> T) -> T {
    STREAM.set(Some(random.clone()));
    let result = call();
    if let Some(used) = STREAM.take() {
        *random = used;
    }
    result
}

/// Fills `bytes` in a call of [`seeded`]; false outside of one.
pub fn draw(bytes: &mut [u8]) -> bool {
    let Some(mut random) = STREAM.take() else { return false };
    fill(&mut random, bytes);
    STREAM.set(Some(random));
    true
}

/// Fills `bytes` from `random`.
pub fn fill(random: &mut Random, bytes: &mut [u8]) {
    for chunk in bytes.chunks_mut(8) {
        chunk.copy_from_slice(&random.bits().to_le_bytes()[..chunk.len()]);
    }
}

/// The server's side, for one server or several.
pub fn server() -> rustls::ServerConfig {
    let key = signing_key();
    let public = key.public_key().expect("an Ed25519 key has a public half").to_vec();
    let certified = CertifiedKey::new(vec![CertificateDer::from(public)], key);
    rustls::ServerConfig::builder_with_details(provider(), Arc::new(Epoch))
        .with_protocol_versions(&[&rustls::version::TLS13])
        .expect("the provider has ciphers of TLS 1.3")
        .with_no_client_auth()
        .with_cert_resolver(Arc::new(AlwaysResolvesServerRawPublicKeys::new(Arc::new(certified))))
}

/// The client's side. No session is resumed: connections do not know of each other.
pub fn client() -> rustls::ClientConfig {
    let mut config = rustls::ClientConfig::builder_with_details(provider(), Arc::new(Epoch))
        .with_protocol_versions(&[&rustls::version::TLS13])
        .expect("the provider has ciphers of TLS 1.3")
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(Pinned::new()))
        .with_no_client_auth();
    config.resumption = rustls::client::Resumption::disabled();
    config
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(CryptoProvider {
        kx_groups: vec![&X25519],
        secure_random: &Stream,
        ..rustls::crypto::ring::default_provider()
    })
}

/// The server's Ed25519 key, as PKCS #8 (RFC 8410 §7): a header and 32 bytes.
fn signing_key() -> Arc<dyn SigningKey> {
    let mut pkcs8 = vec![0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 0x22, 4, 0x20];
    pkcs8.extend(b"Thalweg: the key of the server!!");
    let key = PrivatePkcs8KeyDer::from(pkcs8);
    rustls::crypto::ring::sign::any_eddsa_type(&key).expect("32 bytes are an Ed25519 key")
}

/// Random numbers of the endpoint that runs.
#[derive(Debug)]
struct Stream;

impl SecureRandom for Stream {
    fn fill(&self, buf: &mut [u8]) -> Result<(), GetRandomFailed> {
        if draw(buf) { Ok(()) } else { Err(GetRandomFailed) }
    }
}

/// X25519 (RFC 7748) with ephemeral keys from [`Stream`].
#[derive(Debug)]
struct X25519;

struct Ephemeral {
    secret: StaticSecret,
    public: PublicKey,
}

impl SupportedKxGroup for X25519 {
    fn start(&self) -> Result<Box<dyn ActiveKeyExchange>, Error> {
        let mut bytes = [0; 32];
        Stream.fill(&mut bytes)?;
        let secret = StaticSecret::from(bytes);
        Ok(Box::new(Ephemeral { public: PublicKey::from(&secret), secret }))
    }

    fn name(&self) -> NamedGroup {
        NamedGroup::X25519
    }
}

impl ActiveKeyExchange for Ephemeral {
    fn complete(self: Box<Self>, peer_pub_key: &[u8]) -> Result<SharedSecret, Error> {
        let peer: [u8; 32] = peer_pub_key.try_into().map_err(|_| PeerMisbehaved::InvalidKeyShare)?;
        Ok(SharedSecret::from(&self.secret.diffie_hellman(&PublicKey::from(peer)).as_bytes()[..]))
    }

    fn pub_key(&self) -> &[u8] {
        self.public.as_bytes()
    }

    fn group(&self) -> NamedGroup {
        NamedGroup::X25519
    }
}

/// Accepts the server's key alone.
#[derive(Debug)]
struct Pinned {
    public: Vec<u8>,
    provider: Arc<CryptoProvider>,
}

impl Pinned {
    fn new() -> Self {
        let public = signing_key().public_key().expect("an Ed25519 key has a public half").to_vec();
        Self { public, provider: provider() }
    }
}

impl ServerCertVerifier for Pinned {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        if end_entity.as_ref() == self.public {
            Ok(ServerCertVerified::assertion())
        } else {
            Err(Error::InvalidCertificate(rustls::CertificateError::ApplicationVerificationFailure))
        }
    }

    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _cert: &CertificateDer<'_>,
        _dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Err(Error::General("QUIC uses TLS 1.3".to_owned()))
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let key = SubjectPublicKeyInfoDer::from(cert.as_ref());
        let algorithms = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls13_signature_with_raw_key(message, &key, dss, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        vec![SignatureScheme::ED25519]
    }

    fn requires_raw_public_keys(&self) -> bool {
        true
    }
}

/// Every run is on the first day of 1970.
#[derive(Debug)]
struct Epoch;

impl TimeProvider for Epoch {
    fn current_time(&self) -> Option<UnixTime> {
        Some(UnixTime::since_unix_epoch(Duration::ZERO))
    }
}
