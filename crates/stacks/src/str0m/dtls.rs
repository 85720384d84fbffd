//! DTLS 1.2 (RFC 6347, 5764) by dimpl, with every random number from a stream of the simulator.
//!
//! dimpl uses a seed for values that are not secret, and draws ephemeral keys from the operating system; X25519 is from
//! `x25519-dalek` here. Signatures are deterministic [RFC6979].

use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use dimpl::crypto::{ActiveKeyExchange, Buf, NamedGroup, SecureRandom, SupportedKxGroup};
use dimpl::{Config, CryptoError, CryptoOperation};
use str0m::crypto::dtls::{
    DtlsCert, DtlsImplError, DtlsInstance, DtlsOutput, DtlsProvider, DtlsVersion, ProtocolVersion,
};
use x25519_dalek::{PublicKey, StaticSecret};

use crate::tls::draw;

/// Makes ends of DTLS connections. It is called inside of [`crate::tls::seeded`].
#[derive(Debug)]
pub(crate) struct Dtls;

/// The key of every end, on the curve P-256, and a certificate that it signed: WebRTC compares fingerprints of
/// certificates.
pub(crate) fn certificate() -> DtlsCert {
    DtlsCert {
        certificate: include_bytes!("certificate.der").to_vec(),
        private_key: include_bytes!("key.der").to_vec(),
    }
}

impl DtlsProvider for Dtls {
    fn generate_certificate(&self) -> Option<DtlsCert> {
        Some(certificate())
    }

    fn new_dtls(
        &self,
        cert: &DtlsCert,
        now: Instant,
        _version: DtlsVersion,
        mtu: Option<usize>,
    ) -> Result<Box<dyn DtlsInstance>, str0m::crypto::CryptoError> {
        let mut seed = [0; 8];
        let drawn = draw(&mut seed);
        debug_assert!(drawn, "str0m makes it inside of a seeded call");
        let provider = dimpl::crypto::CryptoProvider {
            kx_groups: &[&X25519],
            secure_random: &Stream,
            ..dimpl::crypto::rust_crypto::default_provider()
        };
        // ICE has shown that the address is the peer's, as str0m's own providers assume
        let mut builder = Config::builder()
            .use_server_cookie(false)
            .with_crypto_provider(provider)
            .dangerously_set_rng_seed(u64::from_le_bytes(seed));
        if let Some(mtu) = mtu {
            builder = builder.mtu(mtu);
        }
        let config = builder.build().map_err(|error| str0m::crypto::CryptoError::Other(error.to_string()))?;
        Ok(Box::new(End(dimpl::Dtls::new_12(Arc::new(config), cert.clone(), now))))
    }
}

/// One end.
struct End(dimpl::Dtls);

impl fmt::Debug for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("End")
    }
}

impl DtlsInstance for End {
    fn set_active(&mut self, active: bool) {
        self.0.set_active(active);
    }

    fn handle_packet(&mut self, packet: &[u8]) -> Result<(), DtlsImplError> {
        self.0.handle_packet(packet)
    }

    fn poll_output<'a>(&mut self, buf: &'a mut [u8]) -> DtlsOutput<'a> {
        self.0.poll_output(buf)
    }

    fn handle_timeout(&mut self, now: Instant) -> Result<(), DtlsImplError> {
        self.0.handle_timeout(now)
    }

    fn send_application_data(&mut self, data: &[u8]) -> Result<usize, DtlsImplError> {
        self.0.send_application_data(data)
    }

    fn is_active(&self) -> bool {
        self.0.is_active()
    }

    fn protocol_version(&self) -> Option<ProtocolVersion> {
        self.0.protocol_version()
    }

    fn is_closing(&self) -> bool {
        self.0.is_closing()
    }

    fn is_closed(&self) -> bool {
        self.0.is_closed()
    }

    fn close(&mut self) -> Result<(), DtlsImplError> {
        self.0.close()
    }
}

/// Random numbers of the endpoint that runs.
#[derive(Debug)]
struct Stream;

impl SecureRandom for Stream {
    fn fill(&self, buf: &mut [u8]) -> Result<(), CryptoError> {
        if draw(buf) { Ok(()) } else { Err(CryptoError::OperationFailed(CryptoOperation::FillRandom)) }
    }
}

/// X25519 (RFC 7748) with ephemeral keys from [`Stream`].
#[derive(Debug)]
struct X25519;

struct Ephemeral {
    secret: StaticSecret,
    public: PublicKey,
}

impl fmt::Debug for Ephemeral {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.public.fmt(f)
    }
}

impl SupportedKxGroup for X25519 {
    fn name(&self) -> NamedGroup {
        NamedGroup::X25519
    }

    fn start_exchange(&self, _buf: Buf) -> Result<Box<dyn ActiveKeyExchange>, CryptoError> {
        let mut bytes = [0; 32];
        Stream.fill(&mut bytes)?;
        let secret = StaticSecret::from(bytes);
        Ok(Box::new(Ephemeral { public: PublicKey::from(&secret), secret }))
    }
}

impl ActiveKeyExchange for Ephemeral {
    fn pub_key(&self) -> &[u8] {
        self.public.as_bytes()
    }

    fn complete(self: Box<Self>, peer_pub: &[u8], out: &mut Buf) -> Result<(), CryptoError> {
        let peer: [u8; 32] =
            peer_pub.try_into().map_err(|_| CryptoError::InvalidPublicKey(NamedGroup::X25519))?;
        out.clear();
        out.extend_from_slice(self.secret.diffie_hellman(&PublicKey::from(peer)).as_bytes());
        Ok(())
    }

    fn group(&self) -> NamedGroup {
        NamedGroup::X25519
    }
}
