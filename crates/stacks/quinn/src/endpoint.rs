//! A connection of quinn-proto as a sans-IO endpoint.

use std::net::SocketAddr;
use std::sync::{Arc, LazyLock, PoisonError};
use std::time::{Duration as StdDuration, Instant, SystemTime};

use bytes::{Bytes as Chunk, BytesMut};
use contract::{Count, Cx, Destination, Ecn, Endpoint, Header, Input, Label, Packet, Random, Request};
use quinn_proto::{
    ClientConfig, Connection, ConnectionHandle, ConnectionId, ConnectionIdGenerator, DatagramEvent, Dir,
    EcnCodepoint, EndpointConfig, Event, ReadError, ServerConfig, StreamEvent, StreamId, TimeSource,
    Transmit, TransportConfig, VarInt,
};
use units::{Bytes, Time};

use crate::tap::{self, Shared};
use crate::tls::{self, seeded};
use crate::wire::Wire;
use crate::{Config, Controller, HEADERS};

/// The sender: a client that opens a stream and uploads.
pub(crate) struct Client {
    controller: Controller,
    peer: Peer,
    /// Bytes that the application has not given to the stream.
    left: u64,
    stream: Option<StreamId>,
    seen: Shared,
    /// What was counted: packets declared lost, and episodes.
    counted: (u64, u64),
}

/// The receiver: a server that reads every stream.
pub(crate) struct Server {
    peer: Peer,
    stream: Option<StreamId>,
}

/// What both have.
struct Peer {
    to: Destination,
    out: Wire,
    inward: Wire,
    mtu: u64,
    machine: Option<Machine>,
    deadline: Time,
    running: bool,
    /// Datagrams that quinn wrote and that were not yet sent.
    buffer: Vec<u8>,
}

/// quinn's state machines.
struct Machine {
    endpoint: quinn_proto::Endpoint,
    connection: Option<(ConnectionHandle, Connection)>,
    /// Random numbers of TLS.
    random: Random,
}

impl Client {
    pub(crate) fn new(config: &Config, to: Destination, out: Wire, inward: Wire) -> Self {
        Self {
            controller: config.controller.clone(),
            peer: Peer::new(config.mtu, to, out, inward),
            left: config.size.as_u64(),
            stream: None,
            seen: Shared::default(),
            counted: (0, 0),
        }
    }

    fn connect(&mut self, cx: &mut Cx<'_>) {
        let seed = cx.random().bits();
        let inner = self.controller.factory(seed).expect("it was made once when the flow was checked");
        let mut transport = TransportConfig::default();
        transport.congestion_controller_factory(Arc::new(tap::Factory { inner, seen: self.seen.clone() }));
        let mut config = ClientConfig::new(tls::CLIENT.clone());
        config.transport_config(Arc::new(transport));
        let mut destination = [0; 8];
        tls::fill(cx.random(), &mut destination);
        config.initial_dst_cid_provider(Arc::new(move || ConnectionId::new(&destination)));
        let mut machine = Machine::new(None, cx);
        let Machine { endpoint, random, connection } = &mut machine;
        let opened = seeded(random, || endpoint.connect(instant(cx.now()), config, SERVER, "server"));
        *connection = Some(opened.expect("the configuration is complete"));
        self.peer.begin(machine);
    }

    /// Gives the stream as much as it takes, and finishes it after the last byte.
    fn upload(&mut self, now: Time, cx: &mut Cx<'_>) {
        let Some(connection) = self.peer.connection() else { return };
        while let Some(event) = connection.poll() {
            if matches!(event, Event::Stream(StreamEvent::Finished { .. })) {
                cx.complete();
                connection.close(instant(now), VarInt::from_u32(0), Chunk::new());
            }
        }
        if connection.is_handshaking() || connection.is_closed() || self.left == 0 {
            return;
        }
        if self.stream.is_none() {
            self.stream = connection.streams().open(Dir::Uni);
        }
        let Some(id) = self.stream else { return };
        while self.left > 0 {
            let size = usize::try_from(self.left).map_or(CONTENT.len(), |left| left.min(CONTENT.len()));
            // it is blocked, or the connection was lost
            let Ok(written) =
                connection.send_stream(id).write_chunks(&mut [Chunk::from_static(&CONTENT[..size])])
            else {
                return;
            };
            self.left -= written.bytes as u64;
        }
        // only a stream that the other end stopped cannot be finished
        let _ = connection.send_stream(id).finish();
    }

    fn report(&mut self, cx: &mut Cx<'_>) {
        let seen = {
            let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
            let copy = *seen;
            seen.rtt = None;
            copy
        };
        if let Some(rtt) = seen.rtt {
            cx.measured_rtt(rtt);
        }
        let Some(connection) = self.peer.connection() else { return };
        let lost = connection.stats().path.lost_packets;
        cx.count(Count::Retransmits, lost - self.counted.0);
        cx.count(Count::Episodes, seen.episodes - self.counted.1);
        self.counted = (lost, seen.episodes);
        if !cx.probing() {
            return;
        }
        cx.probe("window", connection.congestion_state().metrics().congestion_window as f64);
        cx.probe("in_flight", seen.in_flight as f64);
        cx.probe("srtt", connection.rtt().as_secs_f64());
        if let Some(ssthresh) = seen.ssthresh.filter(|ssthresh| *ssthresh < u64::MAX) {
            cx.probe("ssthresh", ssthresh as f64);
        }
    }
}

impl Endpoint for Client {
    fn handle(&mut self, input: Input<'_>, cx: &mut Cx<'_>) {
        match input {
            Input::Start if !self.peer.running => self.connect(cx),
            Input::Stop => return self.peer.stop(),
            Input::Packet(packet) => self.peer.receive(packet, cx),
            Input::App(Request::Send(bytes)) => self.left = self.left.saturating_add(bytes.as_u64()),
            Input::Start | Input::Timer | Input::Mode(_) => {}
        }
        self.peer.expire(cx.now());
        self.upload(cx.now(), cx);
        self.peer.transmit(cx);
        self.report(cx);
    }

    fn wake(&self) -> Time {
        self.peer.deadline
    }
}

impl Server {
    pub(crate) fn new(mtu: Bytes, to: Destination, out: Wire, inward: Wire) -> Self {
        Self { peer: Peer::new(mtu, to, out, inward), stream: None }
    }

    fn listen(&mut self, cx: &mut Cx<'_>) {
        let mut key = [0; 64];
        tls::fill(cx.random(), &mut key);
        let token_key = ring::hkdf::Salt::new(ring::hkdf::HKDF_SHA256, &[]).extract(&key);
        let mut config = ServerConfig::new(tls::SERVER.clone(), Arc::new(token_key));
        config.time_source(Arc::new(Epoch));
        self.stream = None;
        self.peer.begin(Machine::new(Some(config), cx));
    }

    /// Reads what has arrived.
    fn read(&mut self, cx: &mut Cx<'_>) {
        let Some(connection) = self.peer.connection() else { return };
        while connection.poll().is_some() {}
        if self.stream.is_none() {
            self.stream = connection.streams().accept(Dir::Uni);
        }
        let Some(id) = self.stream else { return };
        let mut stream = connection.recv_stream(id);
        let Ok(mut chunks) = stream.read(true) else { return };
        loop {
            match chunks.next(usize::MAX) {
                Ok(Some(chunk)) => cx.deliver(Bytes::new(chunk.bytes.len() as u64)),
                Ok(None) => {
                    cx.complete();
                    break;
                }
                Err(ReadError::Blocked | ReadError::Reset(_)) => break,
            }
        }
        // what it returns says whether to transmit, which follows anyway
        let _ = chunks.finalize();
    }
}

impl Endpoint for Server {
    fn handle(&mut self, input: Input<'_>, cx: &mut Cx<'_>) {
        match input {
            Input::Start if !self.peer.running => self.listen(cx),
            Input::Stop => return self.peer.stop(),
            Input::Packet(packet) => {
                if packet.ecn == Ecn::Marked {
                    cx.count(Count::Marks, 1);
                }
                self.peer.receive(packet, cx);
            }
            Input::Start | Input::Timer | Input::Mode(_) | Input::App(_) => {}
        }
        self.peer.expire(cx.now());
        self.read(cx);
        self.peer.transmit(cx);
    }

    fn wake(&self) -> Time {
        self.peer.deadline
    }
}

impl Peer {
    fn new(mtu: Bytes, to: Destination, out: Wire, inward: Wire) -> Self {
        let mtu = mtu.saturating_sub(HEADERS).as_u64();
        let (machine, deadline, running, buffer) = (None, Time::NEVER, false, Vec::new());
        Self { to, out, inward, mtu, machine, deadline, running, buffer }
    }

    fn begin(&mut self, machine: Machine) {
        self.machine = Some(machine);
        self.running = true;
    }

    /// Falls silent, as a host that is switched off.
    fn stop(&mut self) {
        (self.machine, self.running, self.deadline) = (None, false, Time::NEVER);
    }

    fn connection(&mut self) -> Option<&mut Connection> {
        self.machine.as_mut()?.connection.as_mut().map(|(_, connection)| connection)
    }

    /// A datagram arrived.
    fn receive(&mut self, packet: &Packet, cx: &mut Cx<'_>) {
        let Header::Datagram { seq } = packet.header else { return cx.count(Count::Ignored, 1) };
        let (Some(machine), Some(datagram)) = (&mut self.machine, self.inward.take(seq)) else {
            return cx.count(Count::Ignored, 1);
        };
        let from = if machine.connection.as_ref().is_some_and(|(_, it)| it.side().is_client()) {
            SERVER
        } else {
            CLIENT
        };
        let ecn = match packet.ecn {
            Ecn::NotCapable => None,
            Ecn::Capable => Some(EcnCodepoint::Ect0),
            Ecn::Marked => Some(EcnCodepoint::Ce),
        };
        let now = instant(cx.now());
        self.buffer.clear();
        let Machine { endpoint, connection, random } = machine;
        let buffer = &mut self.buffer;
        let response = seeded(random, || match endpoint.handle(now, from, None, ecn, datagram, buffer) {
            Some(DatagramEvent::ConnectionEvent(_, event)) => {
                if let Some((_, connection)) = connection {
                    connection.handle_event(event);
                }
                None
            }
            Some(DatagramEvent::NewConnection(incoming)) => {
                match endpoint.accept(incoming, now, buffer, None) {
                    Ok(accepted) => {
                        *connection = Some(accepted);
                        None
                    }
                    Err(error) => error.response,
                }
            }
            Some(DatagramEvent::Response(transmit)) => Some(transmit),
            None => None,
        });
        if let Some(transmit) = response {
            self.send(&transmit, cx);
        }
    }

    /// Handles a deadline that has expired, and passes events between quinn's state machines.
    fn expire(&mut self, now: Time) {
        let due = self.deadline <= now;
        let Some(Machine { endpoint, connection: Some((handle, connection)), random }) = &mut self.machine
        else {
            return;
        };
        if due {
            seeded(random, || connection.handle_timeout(instant(now)));
        }
        exchange(endpoint, *handle, connection);
    }

    /// Sends what quinn permits now, and asks for its next deadline.
    fn transmit(&mut self, cx: &mut Cx<'_>) {
        let now = instant(cx.now());
        loop {
            self.buffer.clear();
            let Some(Machine { connection: Some((_, connection)), random, .. }) = &mut self.machine else {
                return;
            };
            let buffer = &mut self.buffer;
            let Some(transmit) = seeded(random, || connection.poll_transmit(now, BATCH, buffer)) else {
                break;
            };
            self.send(&transmit, cx);
        }
        self.deadline = self.connection().and_then(Connection::poll_timeout).map_or(Time::NEVER, time);
    }

    /// Sends the datagrams in the buffer.
    fn send(&mut self, transmit: &Transmit, cx: &mut Cx<'_>) {
        let ecn = if transmit.ecn.is_some() { Ecn::Capable } else { Ecn::NotCapable };
        let each = transmit.segment_size.unwrap_or(transmit.size).max(1);
        for datagram in self.buffer[..transmit.size].chunks(each) {
            let size = datagram.len() as u64;
            // a router that may not fragment it drops it                                [RFC9000 §14]
            if size <= self.mtu {
                let seq = self.out.put(BytesMut::from(datagram), cx.now());
                cx.send(self.to, Bytes::new(size) + HEADERS, ecn, Header::Datagram { seq }, Label::default());
            }
        }
    }
}

impl Machine {
    fn new(server: Option<ServerConfig>, cx: &mut Cx<'_>) -> Self {
        let (mut seed, mut key, mut ids) = ([0; 32], [0; 64], [0; 8]);
        tls::fill(cx.random(), &mut seed);
        tls::fill(cx.random(), &mut key);
        tls::fill(cx.random(), &mut ids);
        let mut config = EndpointConfig::new(Arc::new(ring::hmac::Key::new(ring::hmac::HMAC_SHA256, &key)));
        config.rng_seed(Some(seed));
        config
            .cid_generator(move || Box::new(Ids(Random::new(u64::from_le_bytes(ids), "connection ids", ""))));
        let endpoint = quinn_proto::Endpoint::new(Arc::new(config), server.map(Arc::new), true, None);
        let random = Random::new(cx.random().bits(), "tls", "");
        Self { endpoint, connection: None, random }
    }
}

/// Passes events from the connection to the endpoint and back.
fn exchange(endpoint: &mut quinn_proto::Endpoint, handle: ConnectionHandle, connection: &mut Connection) {
    while let Some(event) = connection.poll_endpoint_events() {
        if let Some(event) = endpoint.handle_event(handle, event) {
            connection.handle_event(event);
        }
    }
}

/// Connection ids of eight random bytes, as quinn's own generators make them.
struct Ids(Random);

impl ConnectionIdGenerator for Ids {
    fn generate_cid(&mut self) -> ConnectionId {
        let mut bytes = [0; 8];
        tls::fill(&mut self.0, &mut bytes);
        ConnectionId::new(&bytes)
    }

    fn cid_len(&self) -> usize {
        8
    }

    fn cid_lifetime(&self) -> Option<StdDuration> {
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

/// Instants of quinn for time zero of every simulation.
static ORIGIN: LazyLock<Instant> = LazyLock::new(|| {
    #[expect(
        clippy::disallowed_methods,
        reason = "quinn takes instants of the standard library, and uses their differences only"
    )]
    Instant::now()
});

fn instant(at: Time) -> Instant {
    *ORIGIN + StdDuration::from_nanos(at.as_nanos())
}

fn time(at: Instant) -> Time {
    let nanos = at.saturating_duration_since(*ORIGIN).as_nanos();
    u64::try_from(nanos).map_or(Time::NEVER, Time::from_nanos)
}

/// Addresses inside of quinn; the simulator's are outside.
const CLIENT: SocketAddr =
    SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 1)), 50_000);
const SERVER: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 2)), 443);

/// What is uploaded.
static CONTENT: [u8; 1 << 16] = [0; 1 << 16];

/// Datagrams that quinn writes at once, as its driver over sockets with segmentation offload.
const BATCH: usize = 10;
