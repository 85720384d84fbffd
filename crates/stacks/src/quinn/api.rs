//! What of quinn's interface differs from noq's.

use std::any::Any;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

use bytes::{Bytes, BytesMut};
use quinn_proto::congestion::{Controller, ControllerMetrics};
use quinn_proto::{
    Connection, ConnectionIdGenerator, DatagramEvent, EcnCodepoint, Endpoint, EndpointConfig, RttEstimator,
    SendStream, ServerConfig, Transmit, TransportConfig,
};

use super::tap::{Watched, pass_on};
use crate::Counters;
use crate::tap::FrameEnd;

pub(crate) const NAME: &str = "quinn";

/// The default settings of a connection that begins at `now`; in tests with quinn's own log.
pub(crate) fn transport(now: Instant) -> TransportConfig {
    #[cfg(test)]
    return super::tests::transport(now);
    #[cfg(not(test))]
    {
        let _ = now;
        TransportConfig::default()
    }
}

pub(crate) fn cid_generator(
    config: &mut EndpointConfig,
    make: impl Fn() -> Box<dyn ConnectionIdGenerator> + Send + Sync + 'static,
) {
    config.cid_generator(make);
}

pub(crate) fn endpoint(config: EndpointConfig, server: Option<ServerConfig>) -> Endpoint {
    Endpoint::new(Arc::new(config), server.map(Arc::new), true, None)
}

pub(crate) fn token_key(key: &[u8; 64]) -> ring::hkdf::Prk {
    ring::hkdf::Salt::new(ring::hkdf::HKDF_SHA256, &[]).extract(key)
}

pub(crate) fn handle(
    endpoint: &mut Endpoint,
    now: Instant,
    from: SocketAddr,
    ecn: Option<EcnCodepoint>,
    datagram: BytesMut,
    buffer: &mut Vec<u8>,
) -> Option<DatagramEvent> {
    endpoint.handle(now, from, None, ecn, datagram, buffer)
}

pub(crate) fn poll_transmit(
    connection: &mut Connection,
    now: Instant,
    max: usize,
    buffer: &mut Vec<u8>,
) -> Option<Transmit> {
    connection.poll_transmit(now, max, buffer)
}

pub(crate) fn write(stream: &mut SendStream<'_>, content: Bytes) -> Option<usize> {
    stream.write_chunks(&mut [content]).ok().map(|written| written.bytes)
}

/// What quinn counts of a connection.
pub fn counters(connection: &mut Connection) -> Option<Counters> {
    let window = connection.congestion_state().metrics().congestion_window;
    // quinn paces at 1.25 windows per round trip, whatever rate the controller tells
    Some(Counters {
        lost: connection.stats().path.lost_packets,
        window,
        srtt: connection.rtt(),
        rate_bps: None,
    })
}

impl Controller for Watched {
    pass_on! {}

    fn on_ack(&mut self, now: Instant, sent: Instant, bytes: u64, app_limited: bool, rtt: &RttEstimator) {
        self.inner.on_ack(now, sent, bytes, app_limited, rtt);
        self.tap.acked(sent);
    }

    fn on_congestion_event(&mut self, now: Instant, sent: Instant, persistent: bool, lost_bytes: u64) {
        self.inner.on_congestion_event(now, sent, persistent, lost_bytes);
        self.tap.congested(now, sent, persistent, lost_bytes, self.inner.metrics().ssthresh);
    }
}
