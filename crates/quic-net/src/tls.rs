//! TLS 1.3 by rustls and *ring* (RFC 8446, RFC 9001): both ends present a certificate, and each pins the certificate of
//! its peer.
//!
//! If the environment variable `SSLKEYLOGFILE` names a file, the secrets of each connection are appended to it, so that
//! Wireshark can decrypt a capture.

use std::sync::{Arc, Mutex, PoisonError};

use quinn_proto::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer, ServerName, UnixTime};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::{
    CertificateError, DigitallySignedStruct, DistinguishedName, Error, KeyLogFile, SignatureScheme,
};

use crate::identity::{Fingerprint, Identity, IdentityError, derived};

/// The application protocol (ALPN, RFC 7301).
pub const ALPN: &[u8] = b"thalweg/1";

/// The identity of an end, and the peers that it accepts.
#[derive(Clone, Debug)]
pub struct Credentials {
    client: Identity,
    server: Identity,
    /// Accepted clients and servers; `None` for any.
    clients: Option<Vec<Fingerprint>>,
    servers: Option<Vec<Fingerprint>>,
    alpn: &'static [u8],
}

impl Credentials {
    /// An identity of this end, and the fingerprints of those that it accepts.
    pub fn pinned(own: Identity, peers: Vec<Fingerprint>) -> Self {
        let (clients, servers) = (Some(peers.clone()), Some(peers));
        Self { client: own.clone(), server: own, clients, servers, alpn: ALPN }
    }

    /// A pre-shared key: the bytes of a file or of a variable. It takes about a tenth of a second.
    ///
    /// # Errors
    ///
    /// The key is empty.
    pub fn shared(secret: &[u8]) -> Result<Self, IdentityError> {
        let [client, server] = derived(secret)?;
        let (clients, servers) = (Some(vec![client.fingerprint()]), Some(vec![server.fingerprint()]));
        Ok(Self { client, server, clients, servers, alpn: ALPN })
    }

    /// Accepts any peer: encryption without authentication. `seed` is random.
    pub fn insecure(seed: [u8; 32]) -> Self {
        Self::unauthenticated(Identity::from_seed(seed))
    }

    /// Accepts any peer; this end has an identity that its peer can pin.
    pub fn unauthenticated(own: Identity) -> Self {
        Self { client: own.clone(), server: own, clients: None, servers: None, alpn: ALPN }
    }

    /// Uses another application protocol than the one of transfers.
    pub fn for_protocol(self, alpn: &'static [u8]) -> Self {
        Self { alpn, ..self }
    }

    /// Whether the peer is authenticated.
    pub fn authenticate(&self) -> bool {
        self.clients.is_some()
    }

    /// The fingerprints that this end presents as a client and as a server.
    pub fn fingerprints(&self) -> (Fingerprint, Fingerprint) {
        (self.client.fingerprint(), self.server.fingerprint())
    }

    /// The configuration of a client, for a program that drives quinn itself.
    pub fn client_crypto(&self) -> Arc<QuicClientConfig> {
        self.client().0
    }

    /// The configuration of a server, for a program that drives quinn itself.
    pub fn server_crypto(&self) -> Arc<QuicServerConfig> {
        self.server().0
    }

    /// The configuration of a client, and its record of a rejected certificate.
    pub fn client(&self) -> (Arc<QuicClientConfig>, Arc<Pins>) {
        let pins = Arc::new(Pins::new(self.servers.clone()));
        let config = rustls::ClientConfig::builder_with_provider(Arc::clone(&pins.provider))
            .with_protocol_versions(&[&rustls::version::TLS13])
            .expect("the provider has ciphers of TLS 1.3")
            .dangerous()
            .with_custom_certificate_verifier(Arc::clone(&pins) as _)
            .with_client_auth_cert(vec![self.client.certificate().clone()], key(&self.client));
        let mut config = config.expect("the certificate was made with this key");
        config.resumption = rustls::client::Resumption::disabled();
        config.key_log = Arc::new(KeyLogFile::new());
        config.alpn_protocols = vec![self.alpn.to_vec()];
        let config =
            QuicClientConfig::try_from(config).expect("the provider has the cipher of Initial packets");
        (Arc::new(config), pins)
    }

    /// The configuration of a server, and its record of a rejected certificate.
    pub fn server(&self) -> (Arc<QuicServerConfig>, Arc<Pins>) {
        let pins = Arc::new(Pins::new(self.clients.clone()));
        let config = rustls::ServerConfig::builder_with_provider(Arc::clone(&pins.provider))
            .with_protocol_versions(&[&rustls::version::TLS13])
            .expect("the provider has ciphers of TLS 1.3")
            .with_client_cert_verifier(Arc::clone(&pins) as _)
            .with_single_cert(vec![self.server.certificate().clone()], key(&self.server));
        let mut config = config.expect("the certificate was made with this key");
        config.send_tls13_tickets = 0;
        config.key_log = Arc::new(KeyLogFile::new());
        config.alpn_protocols = vec![self.alpn.to_vec()];
        let config =
            QuicServerConfig::try_from(config).expect("the provider has the cipher of Initial packets");
        (Arc::new(config), pins)
    }
}

fn key(identity: &Identity) -> rustls::pki_types::PrivateKeyDer<'static> {
    PrivatePkcs8KeyDer::from(identity.pkcs8()).into()
}

/// Accepts pinned certificates, or any certificate.
#[derive(Debug)]
pub struct Pins {
    accepted: Option<Vec<Fingerprint>>,
    rejected: Mutex<Option<Fingerprint>>,
    provider: Arc<CryptoProvider>,
}

impl Pins {
    fn new(accepted: Option<Vec<Fingerprint>>) -> Self {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        Self { accepted, rejected: Mutex::new(None), provider }
    }

    /// A message for users, if a certificate was rejected.
    pub fn rejection(&self) -> Option<String> {
        let found = (*self.rejected.lock().unwrap_or_else(PoisonError::into_inner))?;
        let expected: Vec<String> = self.accepted.iter().flatten().map(Fingerprint::to_string).collect();
        Some(format!(
            "the other end is not the expected one: expected {}, found {found}. Compare this with the fingerprint that the other end prints when it \
             starts; with a pre-shared key, use the same key at both ends",
            if expected.is_empty() { "none".to_owned() } else { expected.join(" or ") }
        ))
    }

    fn check(&self, certificate: &CertificateDer<'_>) -> Result<(), Error> {
        let found = Fingerprint::of(certificate);
        if self.accepted.as_ref().is_none_or(|accepted| accepted.contains(&found)) {
            return Ok(());
        }
        *self.rejected.lock().unwrap_or_else(PoisonError::into_inner) = Some(found);
        Err(Error::InvalidCertificate(CertificateError::ApplicationVerificationFailure))
    }

    fn signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls13_signature(message, certificate, signed, algorithms)
    }

    fn only_tls13() -> Error {
        Error::General("QUIC uses TLS 1.3".to_owned())
    }
}

impl ServerCertVerifier for Pins {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        self.check(end_entity).map(|()| ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _certificate: &CertificateDer<'_>,
        _signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Err(Self::only_tls13())
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

impl ClientCertVerifier for Pins {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn client_auth_mandatory(&self) -> bool {
        self.accepted.is_some()
    }

    fn verify_client_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _now: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        self.check(end_entity).map(|()| ClientCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _certificate: &CertificateDer<'_>,
        _signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Err(Self::only_tls13())
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
