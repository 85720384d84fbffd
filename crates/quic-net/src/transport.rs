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
/// Maximum bytes of DATAGRAM frames in a send or receive buffer.
const DATAGRAM_BUFFER: usize = 4 << 20;
/// Unidirectional streams that the peer may have open: one for the current object, and one for each earlier object
/// whose end has not arrived.
const STREAMS: u32 = 4;
/// Payload of a UDP datagram that every path of QUIC carries [RFC9000 §14].
pub(crate) const MIN_PAYLOAD: u16 = 1200;

/// Packets that may be acknowledged before an earlier one without its loss. RFC 9002 §6.1.1 has three, which a path
/// that reorders by a millisecond exceeds at any rate above some Mbit/s, and asks for a larger one where the path shows
/// it. quinn cannot learn that a loss was spurious, and its thresholds do not change in a connection, so that losses
/// are found by time alone.
const PACKET_THRESHOLD: u32 = u32::MAX;
/// Round-trip times after which a packet is lost, if a later one is acknowledged: one more than a round trip, the
/// largest reordering window of RACK [RFC8985 §6.2 step 4]. RACK begins with a quarter and learns; with a quarter a
/// fifth of the packets 5 ms late on a path of 10 ms took CUBIC 33 s for 10 MB, and with this a second. RFC 9002 §6.1.2
/// has 9/8, and allows more. A queue that overflows in slow start loses more until that is seen: 19 % of 10 MB at 50
/// Mbit/s were retransmitted, and 12 % with a quarter.
const TIME_THRESHOLD: f32 = 2.0;

/// Interval at which the length that a paced scheme needs is tried again, if the path seems not to carry it.
const MTU_INTERVAL: StdDuration = StdDuration::from_millis(100);

/// Bytes that a group's sender buffers per receiver: of its control stream, and of DATAGRAM frames.
const GROUP_BUFFER: u32 = 1 << 16;

/// How an endpoint send_config packets.
#[derive(Clone)]
pub(crate) struct SendConfig {
    /// The congestion controller.
    pub(crate) controller: Arc<dyn ControllerFactory + Send + Sync>,
    /// Maximum payload of a UDP datagram.
    pub(crate) payload: u16,
    /// The initial MTU is `payload`, because the scheme needs packets of one size.
    pub(crate) fixed: bool,
}

/// The transport parameters and settings of an endpoint.
pub(crate) fn transport(limits: &Limits, send_config: &SendConfig) -> TransportConfig {
    let mut config = TransportConfig::default();
    let window = VarInt::from_u32(limits.window);
    let mut discovery = MtuDiscoveryConfig::default();
    // many losses can look like the losses of a path that carries shorter packets only: longer ones are then tried
    // again, at once
    discovery.upper_bound(send_config.payload.max(MIN_PAYLOAD)).black_hole_cooldown(StdDuration::ZERO);
    if send_config.fixed {
        // only the length that the scheme needs
        let change = send_config.payload.saturating_sub(MIN_PAYLOAD).max(1);
        discovery.interval(MTU_INTERVAL).minimum_change(change);
    }
    let idle = limits.patience.as_nanos() / 1_000_000;
    config
        .congestion_controller_factory(Arc::clone(&send_config.controller))
        .max_concurrent_bidi_streams(1u32.into())
        .max_concurrent_uni_streams(STREAMS.into())
        .stream_receive_window(window)
        .receive_window(VarInt::from_u64(2 * u64::from(limits.window)).unwrap_or(VarInt::MAX))
        .send_window(SEND_WINDOW)
        .keep_alive_interval(Some(span(limits.keep_alive).max(StdDuration::from_millis(1))))
        .max_idle_timeout(VarInt::from_u64(idle.max(1)).ok().map(IdleTimeout::from))
        .mtu_discovery_config(Some(discovery))
        .packet_threshold(PACKET_THRESHOLD)
        .time_threshold(TIME_THRESHOLD)
        .datagram_receive_buffer_size(Some(DATAGRAM_BUFFER))
        .datagram_send_buffer_size(DATAGRAM_BUFFER);
    if send_config.fixed {
        config.initial_mtu(send_config.payload);
    }
    config
}

/// The configuration of a server.
pub fn server_config(
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

/// The server configuration of the sender of a multicast group, to which its receivers connect. The receivers send the
/// keep-alives, and use a control stream and DATAGRAM frames only.
pub fn group_server_config(settings: &Settings, platform: &mut impl Platform) -> ServerConfig {
    let controller = Arc::new(quinn_proto::congestion::NewRenoConfig::default());
    let mut config =
        transport(&settings.limits, &SendConfig { controller, payload: MIN_PAYLOAD, fixed: false });
    config
        .keep_alive_interval(None)
        .max_concurrent_uni_streams(0u32.into())
        .stream_receive_window(GROUP_BUFFER.into())
        .receive_window((2 * GROUP_BUFFER).into())
        .datagram_receive_buffer_size(Some(GROUP_BUFFER as usize))
        .datagram_send_buffer_size(GROUP_BUFFER as usize);
    server_config(settings.credentials.server().0, Arc::new(config), platform)
}
