//! Settings of quinn-proto for a session.

use std::sync::Arc;
use std::time::Duration as StdDuration;

use crate::Limits;
use driver::Platform;
use quinn_proto::congestion::ControllerFactory;
use quinn_proto::crypto::rustls::QuicServerConfig;
use quinn_proto::{IdleTimeout, MtuDiscoveryConfig, ServerConfig, TransportConfig, VarInt};

use crate::clock::span;
use crate::settings::Settings;

/// Headers of IPv4 and UDP, and of IPv6 and UDP.
pub const OUTER: [u16; 2] = [28, 48];
/// Bytes that a sender keeps until they are acknowledged.
const SEND_WINDOW: u64 = 16 << 20;
/// Bytes of DATAGRAM frames that may wait at an end.
const DATAGRAMS: usize = 4 << 20;
/// Streams of one direction that the other end may have open: the control stream; the object that is sent, and those before it that have not been
/// read to their end.
const STREAMS: u32 = 4;
/// The smallest payload of a UDP datagram that every path carries [RFC9000 §14].
const SMALLEST: u16 = 1200;

/// Bytes of records or of DATAGRAM frames of one receiver of a group that its sender keeps.
const CONTROL: u32 = 1 << 16;

/// How packets of an end are sent.
#[derive(Clone)]
pub(crate) struct Sends {
    /// The congestion controller.
    pub(crate) controller: Arc<dyn ControllerFactory + Send + Sync>,
    /// Maximum payload of a UDP datagram.
    pub(crate) payload: u16,
    /// Packets have this size from the beginning, because a scheme counts on it.
    pub(crate) fixed: bool,
}

/// The transport parameters and settings of an end.
pub(crate) fn transport(limits: &Limits, sends: &Sends) -> TransportConfig {
    let mut config = TransportConfig::default();
    let window = VarInt::from_u32(limits.window);
    let mut discovery = MtuDiscoveryConfig::default();
    discovery.upper_bound(sends.payload.max(SMALLEST));
    let idle = limits.patience.as_nanos() / 1_000_000;
    config
        .congestion_controller_factory(Arc::clone(&sends.controller))
        .max_concurrent_bidi_streams(1u32.into())
        .max_concurrent_uni_streams(STREAMS.into())
        .stream_receive_window(window)
        .receive_window(VarInt::from_u64(2 * u64::from(limits.window)).unwrap_or(VarInt::MAX))
        .send_window(SEND_WINDOW)
        .keep_alive_interval(Some(span(limits.keep_alive).max(StdDuration::from_millis(1))))
        .max_idle_timeout(VarInt::from_u64(idle.max(1)).ok().map(IdleTimeout::from))
        .mtu_discovery_config(Some(discovery))
        .datagram_receive_buffer_size(Some(DATAGRAMS))
        .datagram_send_buffer_size(DATAGRAMS);
    if sends.fixed {
        config.initial_mtu(sends.payload);
    }
    config
}

/// The configuration of an end that listens.
pub fn listener(
    crypto: Arc<QuicServerConfig>,
    transport: Arc<TransportConfig>,
    platform: &mut impl Platform,
) -> ServerConfig {
    let mut key = [0; 64];
    platform.fill_random(&mut key);
    let token_key = ring::hkdf::Salt::new(ring::hkdf::HKDF_SHA256, &[]).extract(&key);
    let mut config = ServerConfig::new(crypto, Arc::new(token_key));
    config.transport_config(transport);
    config
}

/// The configuration of the sender of a multicast group, whom its receivers call. They keep their connections alive, and have a control stream and
/// DATAGRAM frames only.
pub fn group_listener(settings: &Settings, platform: &mut impl Platform) -> ServerConfig {
    let controller = Arc::new(quinn_proto::congestion::NewRenoConfig::default());
    let mut config = transport(&settings.limits, &Sends { controller, payload: SMALLEST, fixed: false });
    config
        .keep_alive_interval(None)
        .max_concurrent_uni_streams(0u32.into())
        .stream_receive_window(CONTROL.into())
        .receive_window((2 * CONTROL).into())
        .datagram_receive_buffer_size(Some(CONTROL as usize))
        .datagram_send_buffer_size(CONTROL as usize);
    listener(settings.credentials.server().0, Arc::new(config), platform)
}
