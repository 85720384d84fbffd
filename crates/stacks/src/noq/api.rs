//! What of noq's interface differs from quinn's.

use std::any::Any;
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};
use noq_proto::congestion::{Controller, ControllerMetrics};
use noq_proto::crypto::{CryptoError, HandshakeTokenKey};
use noq_proto::{
    Connection, ConnectionIdGenerator, DatagramEvent, EcnCodepoint, Endpoint, EndpointConfig, PathId,
    RttEstimator, SendStream, ServerConfig, Transmit, TransportConfig,
};
use ring::aead::{AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};

use super::tap::{Watched, pass_on};
use crate::Counters;
use crate::tap::FrameEnd;

pub(crate) const NAME: &str = "noq";

/// The default settings.
pub(crate) fn transport(_now: Instant) -> TransportConfig {
    TransportConfig::default()
}

pub(crate) fn cid_generator(
    config: &mut EndpointConfig,
    make: impl Fn() -> Box<dyn ConnectionIdGenerator> + Send + Sync + 'static,
) {
    config.cid_generator(Arc::new(make));
}

pub(crate) fn endpoint(config: EndpointConfig, server: Option<ServerConfig>) -> Endpoint {
    Endpoint::new(Arc::new(config), server.map(Arc::new), true)
}

/// Encrypts address-validation tokens, by AES-256-GCM with a nonce of each token.
pub(crate) struct TokenKey(LessSafeKey);

pub(crate) fn token_key(key: &[u8; 64]) -> TokenKey {
    let unbound = UnboundKey::new(&AES_256_GCM, &key[..32]).expect("32 bytes are a key");
    TokenKey(LessSafeKey::new(unbound))
}

fn nonce(of_token: u128) -> Nonce {
    let mut bytes = [0; 12];
    bytes.copy_from_slice(&of_token.to_le_bytes()[..12]);
    Nonce::assume_unique_for_key(bytes)
}

impl HandshakeTokenKey for TokenKey {
    fn seal(&self, token_nonce: u128, data: &mut Vec<u8>) -> Result<(), CryptoError> {
        let sealed = self.0.seal_in_place_append_tag(nonce(token_nonce), Aad::empty(), data);
        sealed.map_err(|_| CryptoError)
    }

    fn open<'a>(&self, token_nonce: u128, data: &'a mut [u8]) -> Result<&'a [u8], CryptoError> {
        let opened = self.0.open_in_place(nonce(token_nonce), Aad::empty(), data);
        opened.map(|content| &*content).map_err(|_| CryptoError)
    }
}

pub(crate) fn handle(
    endpoint: &mut Endpoint,
    now: Instant,
    from: SocketAddr,
    ecn: Option<EcnCodepoint>,
    datagram: BytesMut,
    buffer: &mut Vec<u8>,
) -> Option<DatagramEvent> {
    endpoint.handle(now, from.into(), ecn, datagram, buffer)
}

pub(crate) fn poll_transmit(
    connection: &mut Connection,
    now: Instant,
    max: usize,
    buffer: &mut Vec<u8>,
) -> Option<Transmit> {
    connection.poll_transmit(now, NonZeroUsize::new(max)?, buffer)
}

pub(crate) fn write(stream: &mut SendStream<'_>, content: Bytes) -> Option<usize> {
    stream.write_chunks(&mut &mut [content][..]).ok()
}

/// The counters of the only path.
pub(crate) fn counters(connection: &mut Connection) -> Option<Counters> {
    let stats = connection.path_stats(PathId::ZERO)?;
    let metrics = connection.congestion_state(PathId::ZERO)?.metrics();
    Some(Counters {
        lost: stats.lost_packets - stats.lost_plpmtud_probes,
        window: metrics.congestion_window,
        srtt: stats.rtt,
        // noq's is in bytes per second
        rate_bps: metrics.pacing_rate.map(|rate| 8 * rate),
    })
}

impl Controller for Watched {
    pass_on! {}

    fn on_packet_sent(&mut self, now: Instant, bytes: u16, number: u64) {
        self.inner.on_packet_sent(now, bytes, number);
    }

    fn on_cwnd_limited(&mut self) {
        self.inner.on_cwnd_limited();
    }

    fn on_ack(
        &mut self,
        now: Instant,
        sent: Instant,
        bytes: u64,
        number: u64,
        app_limited: bool,
        rtt: &RttEstimator,
    ) {
        self.inner.on_ack(now, sent, bytes, number, app_limited, rtt);
        self.tap.acked(sent);
    }

    fn on_congestion_event(
        &mut self,
        now: Instant,
        sent: Instant,
        persistent: bool,
        marked: bool,
        lost_bytes: u64,
        largest: u64,
    ) {
        self.inner.on_congestion_event(now, sent, persistent, marked, lost_bytes, largest);
        self.tap.congested(now, sent, persistent, lost_bytes, self.inner.metrics().ssthresh);
    }

    fn on_packet_lost(&mut self, lost_bytes: u16, number: u64, now: Instant) {
        self.inner.on_packet_lost(lost_bytes, number, now);
    }

    fn on_spurious_congestion_event(&mut self) {
        self.inner.on_spurious_congestion_event();
        self.tap.nothing_lost();
    }

    fn on_ack_frequency_update(&mut self, threshold: u64, max_ack_delay: Duration) {
        self.inner.on_ack_frequency_update(threshold, max_ack_delay);
    }
}

impl std::fmt::Debug for Watched {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.inner.fmt(f)
    }
}
