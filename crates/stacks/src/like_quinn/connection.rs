//! One end of a connection of quinn-proto, or of noq-proto, which is a fork of it.
//!
//! The two have the same names and are different types, so that this file is a module of `quinn` and of `noq`. `proto`
//! is the stack; where their interfaces differ, `api` of each has the call.

use std::net::SocketAddr;
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant, SystemTime};

use bytes::{Bytes, BytesMut};
use contract::{Ecn, ParamError, ParamValue};

use super::api;
use super::controllers::{Factory, by_name};
use super::proto::congestion::{CubicConfig, NewRenoConfig};
use super::proto::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use super::proto::{
    ClientConfig, Connection, ConnectionError, ConnectionHandle, ConnectionId, ConnectionIdGenerator,
    DatagramEvent, Dir, EcnCodepoint, Endpoint, EndpointConfig, Event, ReadError, ServerConfig, StreamEvent,
    StreamId, TimeSource, TransportConfig, VarInt,
};
use super::tap::Tapped;
use crate::tap::Shared;
use crate::{CLIENT, Counters, FlowControl, SERVER, SERVER_NAME, Secrets, Stack, Transmit, tls};

/// The state machines of the stack.
pub(crate) struct End {
    endpoint: Endpoint,
    connection: Option<(ConnectionHandle, Connection)>,
    stream: Option<StreamId>,
    other_end: SocketAddr,
    /// Why the connection was lost, until it is asked for.
    lost: Option<String>,
}

impl End {
    fn new(server: Option<ServerConfig>, other_end: SocketAddr, secrets: Secrets) -> Self {
        let Secrets { seed, reset_key, ids } = secrets;
        let mut config = EndpointConfig::new(Arc::new(reset_key));
        config.rng_seed(Some(seed));
        api::cid_generator(&mut config, move || Box::new(Ids(ids.clone())));
        let endpoint = api::endpoint(config, server);
        Self { endpoint, connection: None, stream: None, other_end, lost: None }
    }

    fn connection(&mut self) -> Option<&mut Connection> {
        self.connection.as_mut().map(|(_, connection)| connection)
    }

    /// Takes what the connection has to tell. Returns whether the other end acknowledged the end of the stream.
    fn take_events(&mut self) -> bool {
        let serves = self.other_end == CLIENT;
        let Some((_, connection)) = &mut self.connection else { return false };
        let mut finished = false;
        while let Some(event) = connection.poll() {
            match event {
                Event::Stream(StreamEvent::Finished { .. }) => finished = true,
                Event::ConnectionLost { reason } => match reason {
                    // the client closes it after the last byte; one that stops falls silent
                    ConnectionError::LocallyClosed | ConnectionError::ApplicationClosed(_) => {}
                    ConnectionError::TimedOut if serves => {}
                    reason => self.lost = Some(reason.to_string()),
                },
                _ => {}
            }
        }
        finished
    }
}

impl Stack for End {
    type Controllers = Factory;

    const NAME: &'static str = api::NAME;
    const OWN: &'static [&'static str] = super::OWN;
    const SCHEMES: &'static [&'static str] = thalweg_quic::NAMES;

    fn own(name: &str) -> Option<Factory> {
        match name {
            "cubic" => Some(Arc::new(CubicConfig::default())),
            "newreno" => Some(Arc::new(NewRenoConfig::default())),
            _ => None,
        }
    }

    fn scheme(name: &str, params: &[(String, ParamValue)], seed: u64) -> Result<Option<Factory>, ParamError> {
        by_name(name, params, seed)
    }

    fn connect(
        inner: Factory,
        flow_control: FlowControl,
        observations: Shared,
        first_id: [u8; 8],
        secrets: Secrets,
        now: Instant,
    ) -> Self {
        let mut transport = api::transport(now);
        transport.send_window(flow_control.send_window.as_u64());
        transport.congestion_controller_factory(Arc::new(Tapped::new(inner, observations)));
        let mut config = ClientConfig::new(CLIENT_CRYPTO.clone());
        config.transport_config(Arc::new(transport));
        config.initial_dst_cid_provider(Arc::new(move || ConnectionId::new(&first_id)));
        let mut end = Self::new(None, SERVER, secrets);
        let opened = end.endpoint.connect(now, config, SERVER, SERVER_NAME);
        end.connection = Some(opened.expect("the configuration is complete"));
        end
    }

    fn listen(token_key: [u8; 64], flow_control: FlowControl, secrets: Secrets) -> Self {
        let token_key = Arc::new(api::token_key(&token_key));
        let mut config = ServerConfig::new(SERVER_CRYPTO.clone(), token_key);
        config.time_source(Arc::new(Epoch));
        let mut transport = TransportConfig::default();
        let window = VarInt::from_u64(flow_control.receive_window.as_u64()).unwrap_or(VarInt::MAX);
        transport.stream_receive_window(window);
        config.transport_config(Arc::new(transport));
        Self::new(Some(config), CLIENT, secrets)
    }

    fn receive(
        &mut self,
        now: Instant,
        ecn: Ecn,
        datagram: BytesMut,
        buffer: &mut Vec<u8>,
    ) -> Option<Transmit> {
        let ecn = match ecn {
            Ecn::NotCapable => None,
            Ecn::Capable => Some(EcnCodepoint::Ect0),
            Ecn::CapableL4s => Some(EcnCodepoint::Ect1),
            Ecn::Marked => Some(EcnCodepoint::Ce),
        };
        let answer = match api::handle(&mut self.endpoint, now, self.other_end, ecn, datagram, buffer)? {
            DatagramEvent::ConnectionEvent(_, event) => {
                self.connection()?.handle_event(event);
                return None;
            }
            DatagramEvent::NewConnection(incoming) => {
                match self.endpoint.accept(incoming, now, buffer, None) {
                    Ok(accepted) => {
                        self.connection = Some(accepted);
                        return None;
                    }
                    Err(error) => error.response?,
                }
            }
            DatagramEvent::Response(answer) => answer,
        };
        Some(transmit(&answer))
    }

    fn expire(&mut self, now: Instant) {
        if let Some(connection) = self.connection() {
            connection.handle_timeout(now);
        }
    }

    fn exchange(&mut self) {
        let Some((handle, connection)) = &mut self.connection else { return };
        while let Some(event) = connection.poll_endpoint_events() {
            if let Some(event) = self.endpoint.handle_event(*handle, event) {
                connection.handle_event(event);
            }
        }
    }

    fn transmit(&mut self, now: Instant, max: usize, buffer: &mut Vec<u8>) -> Option<Transmit> {
        api::poll_transmit(self.connection()?, now, max, buffer).as_ref().map(transmit)
    }

    fn deadline(&mut self) -> Option<Instant> {
        self.connection()?.poll_timeout()
    }

    fn delivered(&mut self) -> bool {
        self.take_events()
    }

    fn writable(&self) -> bool {
        let connection = self.connection.as_ref().map(|(_, connection)| connection);
        connection.is_some_and(|connection| !connection.is_handshaking() && !connection.is_closed())
    }

    fn write(&mut self, content: Bytes) -> Option<usize> {
        let (_, connection) = self.connection.as_mut()?;
        if self.stream.is_none() {
            self.stream = connection.streams().open(Dir::Uni);
        }
        api::write(&mut connection.send_stream(self.stream?), content)
    }

    fn finish(&mut self) {
        if let (Some((_, connection)), Some(id)) = (&mut self.connection, self.stream) {
            // only a stream that the other end stopped cannot be finished
            let _ = connection.send_stream(id).finish();
        }
    }

    fn close(&mut self, now: Instant) {
        if let Some(connection) = self.connection() {
            connection.close(now, VarInt::from_u32(0), Bytes::new());
        }
    }

    fn read(&mut self, mut take: impl FnMut(u64)) -> bool {
        self.take_events();
        let Some((_, connection)) = &mut self.connection else { return false };
        if self.stream.is_none() {
            self.stream = connection.streams().accept(Dir::Uni);
        }
        let Some(id) = self.stream else { return false };
        let mut stream = connection.recv_stream(id);
        let Ok(mut chunks) = stream.read(true) else { return false };
        let ended = loop {
            match chunks.next(usize::MAX) {
                Ok(Some(chunk)) => take(chunk.bytes.len() as u64),
                Ok(None) => break true,
                Err(ReadError::Blocked | ReadError::Reset(_)) => break false,
            }
        };
        // what it returns says whether to transmit, which follows anyway
        let _ = chunks.finalize();
        ended
    }

    fn lost(&mut self) -> Option<String> {
        self.lost.take()
    }

    fn counters(&mut self) -> Option<Counters> {
        api::counters(self.connection()?)
    }
}

fn transmit(transmit: &super::proto::Transmit) -> Transmit {
    Transmit { size: transmit.size, each: transmit.segment_size, ecn: transmit.ecn.is_some() }
}

struct Ids(crate::Ids);

impl ConnectionIdGenerator for Ids {
    fn generate_cid(&mut self) -> ConnectionId {
        ConnectionId::new(&self.0.draw())
    }

    fn cid_len(&self) -> usize {
        crate::Ids::LENGTH
    }

    fn cid_lifetime(&self) -> Option<Duration> {
        None
    }
}

/// Every run is on the first day of 1970.
struct Epoch;

impl TimeSource for Epoch {
    fn now(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH
    }
}

static CLIENT_CRYPTO: LazyLock<Arc<QuicClientConfig>> = LazyLock::new(|| {
    Arc::new(QuicClientConfig::try_from(tls::client()).expect("it has the cipher of Initial packets"))
});

static SERVER_CRYPTO: LazyLock<Arc<QuicServerConfig>> = LazyLock::new(|| {
    Arc::new(QuicServerConfig::try_from(tls::server()).expect("it has the cipher of Initial packets"))
});
