//! Settings of quinn-proto for the southbound channel.

use std::sync::Arc;

use driver::Platform;
use quinn_proto::crypto::rustls::QuicClientConfig;
use quinn_proto::{ClientConfig, Connection, IdleTimeout, ServerConfig, StreamId, TransportConfig, VarInt};
use units::Duration;
use wire::sdn::{ALPN, Attach, Task};

use crate::{Credentials, Limits, Pins, server_config, span};

/// Assumed round-trip time of a connection without a sample [RFC9002 §6.2.2]: the first Initial packet is repeated
/// after three times as long, since a controller may start after its agents.
const INITIAL_RTT: Duration = Duration::from_millis(100);
/// Bytes of messages in DATAGRAM frames that may wait at an end.
const DATAGRAMS: usize = 1 << 18;

/// Common settings. A connection without packets is over after `limits.silence`.
fn transport(limits: &Limits, stream_bytes: usize) -> TransportConfig {
    let mut config = TransportConfig::default();
    let window = VarInt::from_u32(u32::try_from(stream_bytes).unwrap_or(u32::MAX));
    let idle = limits.silence.as_nanos() / 1_000_000;
    config
        .initial_rtt(span(INITIAL_RTT))
        .max_concurrent_uni_streams(0u32.into())
        .stream_receive_window(window)
        .receive_window(window)
        .max_idle_timeout(VarInt::from_u64(idle.max(1)).ok().map(IdleTimeout::from))
        .datagram_receive_buffer_size(Some(DATAGRAMS))
        .datagram_send_buffer_size(DATAGRAMS);
    config
}

/// The configuration of an agent, and its record of a rejected certificate.
pub(crate) fn agent(credentials: &Credentials, limits: &Limits) -> (ClientConfig, Arc<Pins>) {
    let (crypto, pins): (Arc<QuicClientConfig>, _) = credentials.clone().for_protocol(ALPN).client();
    let mut transport = transport(limits, Task::LONGEST);
    transport.max_concurrent_bidi_streams(0u32.into()).keep_alive_interval(Some(span(limits.keep_alive)));
    let mut config = ClientConfig::new(crypto);
    config.transport_config(Arc::new(transport));
    (config, pins)
}

/// The configuration of a controller.
pub(crate) fn controller(
    credentials: &Credentials,
    limits: &Limits,
    platform: &mut impl Platform,
) -> ServerConfig {
    let (crypto, _) = credentials.clone().for_protocol(ALPN).server();
    let mut transport = transport(limits, Attach::LONGEST);
    transport.max_concurrent_bidi_streams(1u32.into());
    server_config(crypto, Arc::new(transport), platform)
}

/// Appends what has arrived of a stream to `inbound`; its flow control limits the sum. Returns whether the other end
/// has ended the stream.
pub(crate) fn read_whole(connection: &mut Connection, id: StreamId, inbound: &mut Vec<u8>) -> bool {
    let mut stream = connection.recv_stream(id);
    let Ok(mut chunks) = stream.read(true) else { return false };
    let ended = loop {
        match chunks.next(usize::MAX) {
            Ok(Some(chunk)) => inbound.extend_from_slice(&chunk.bytes),
            Ok(None) => break true,
            Err(_) => break false,
        }
    };
    // the connection transmits after this anyway
    let _ = chunks.finalize();
    ended
}
