//! Connections of quinn-proto over one bottleneck, in virtual time: a FIFO queue with a limit, a rate and a delay
//! towards the servers, a delay back.

use std::collections::{BTreeMap, VecDeque};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use quinn_proto::congestion::ControllerFactory;
use quinn_proto::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use quinn_proto::{
    ClientConfig, Connection, ConnectionHandle, DatagramEvent, Dir, EcnCodepoint, Endpoint, EndpointConfig,
    ReadError, ServerConfig, StreamId, TransportConfig, WriteError,
};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer, ServerName, SubjectPublicKeyInfoDer, UnixTime};

/// The bottleneck.
#[derive(Clone, Copy)]
pub struct Path {
    /// Rate in bits per second.
    pub bps: u64,
    /// Delay in each direction.
    pub delay: Duration,
    /// Bytes that wait at most.
    pub queue: u64,
    /// Bytes in the queue from which packets are marked instead of queued silently.
    pub mark_from: Option<u64>,
    /// Largest UDP payload that passes.
    pub mtu: usize,
}

impl Path {
    /// A rate in Mbit/s, a delay in each direction in milliseconds, and a queue of `queue` bandwidth-delay products.
    pub fn new(mbps: u64, delay_ms: u64, queue: f64) -> Self {
        let bdp = mbps * 1_000_000 / 8 * 2 * delay_ms / 1000;
        let (bps, delay) = (mbps * 1_000_000, Duration::from_millis(delay_ms));
        Self { bps, delay, queue: (bdp as f64 * queue) as u64, mark_from: None, mtu: 1472 }
    }
}

/// One end of a connection.
struct End {
    endpoint: Endpoint,
    connection: Option<(ConnectionHandle, Connection)>,
    address: SocketAddr,
}

/// A client that uploads to its server.
struct Flow {
    ends: [End; 2],
    /// The client's and the server's name of the stream.
    streams: [Option<StreamId>; 2],
    /// Bytes still to be given to the stream.
    left: u64,
    begins: Instant,
    received: u64,
    done_at: Option<Instant>,
}

/// What a flow achieved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outcome {
    /// Bytes that reached the server's application.
    pub received: u64,
    /// Time from the start to the last byte; `None` if the transfer is not complete.
    pub took: Option<Duration>,
    /// Packets that quinn declared lost.
    pub lost: u64,
    /// Congestion events that quinn counted.
    pub events: u64,
    /// Congestion window at the end, in bytes.
    pub window: u64,
    /// Payload of a datagram at the end, in bytes.
    pub mtu: u16,
    /// Smoothed round-trip time at the end.
    pub rtt: Duration,
}

/// A factory of controllers.
pub type Factory = Arc<dyn ControllerFactory + Send + Sync>;

type Datagram = (usize, usize, Vec<u8>, Option<EcnCodepoint>);

/// The network.
pub struct Net {
    path: Path,
    epoch: Instant,
    now: Instant,
    flows: Vec<Flow>,
    under_way: BTreeMap<(Instant, u64), Datagram>,
    number: u64,
    free_at: Instant,
}

impl Net {
    pub fn new(path: Path) -> Self {
        #[expect(
            clippy::disallowed_methods,
            reason = "quinn takes instants; the tests use their differences only"
        )]
        let epoch = Instant::now();
        let (flows, under_way) = (Vec::new(), BTreeMap::new());
        Self { path, epoch, now: epoch, flows, under_way, number: 0, free_at: epoch }
    }

    /// Time zero.
    pub const fn epoch(&self) -> Instant {
        self.epoch
    }

    /// Adds a client that uploads `bytes` from `begins` on, with controllers of this factory.
    pub fn upload(&mut self, factory: Factory, bytes: u64, begins: Duration) {
        let mut transport = TransportConfig::default();
        transport.congestion_controller_factory(factory);
        self.upload_with(transport, bytes, begins);
    }

    /// Adds a client with these settings.
    pub fn upload_with(&mut self, transport: TransportConfig, bytes: u64, begins: Duration) {
        let number = self.flows.len() as u8;
        let server = ServerConfig::with_crypto(Arc::new(server_crypto()));
        let end = |seed: u8, server: Option<ServerConfig>| {
            let mut config = EndpointConfig::default();
            config.rng_seed(Some([seed; 32]));
            let endpoint = Endpoint::new(Arc::new(config), server.map(Arc::new), true, None);
            End { endpoint, connection: None, address: SocketAddr::from(([10, 0, 0, seed], 443)) }
        };
        let mut ends = [end(2 * number, None), end(2 * number + 1, Some(server))];
        let mut client = ClientConfig::new(Arc::new(client_crypto()));
        client.transport_config(Arc::new(transport));
        let begins = self.epoch + begins;
        let to = ends[1].address;
        ends[0].connection = Some(
            ends[0].endpoint.connect(begins, client, to, "server").expect("the configuration is complete"),
        );
        self.flows.push(Flow { ends, streams: [None; 2], left: bytes, begins, received: 0, done_at: None });
    }

    /// Runs until `until` after the start, or until every transfer is complete.
    pub fn run(&mut self, until: Duration) -> Vec<Outcome> {
        let end = self.epoch + until;
        while self.now <= end && self.flows.iter().any(|flow| flow.done_at.is_none()) {
            for flow in 0..self.flows.len() {
                for side in 0..2 {
                    self.drive(flow, side);
                }
            }
            let arrival = self.under_way.keys().next().map(|(at, _)| *at);
            let Some(next) = self.deadlines().chain(arrival).min() else { break };
            self.now = self.now.max(next);
            self.arrive();
        }
        self.flows.iter_mut().map(outcome).collect()
    }

    fn deadlines(&mut self) -> impl Iterator<Item = Instant> + '_ {
        let now = self.now;
        self.flows.iter_mut().flat_map(move |flow| {
            let begins = (flow.begins > now).then_some(flow.begins);
            let started = flow.begins <= now;
            let timers = flow.ends.iter_mut().filter_map(move |end| {
                end.connection
                    .as_mut()
                    .filter(|_| started)
                    .and_then(|(_, connection)| connection.poll_timeout())
            });
            timers.chain(begins).collect::<Vec<_>>()
        })
    }

    fn arrive(&mut self) {
        while let Some(first) = self.under_way.first_entry()
            && first.key().0 <= self.now
        {
            let (flow, side, bytes, ecn) = first.remove();
            let Flow { ends, .. } = &mut self.flows[flow];
            let from = ends[1 - side].address;
            let End { endpoint, connection, .. } = &mut ends[side];
            let mut answer = Vec::new();
            match endpoint.handle(self.now, from, None, ecn, bytes[..].into(), &mut answer) {
                Some(DatagramEvent::NewConnection(incoming)) => {
                    let accepted = endpoint.accept(incoming, self.now, &mut answer, None);
                    *connection = Some(accepted.expect("the client is welcome"));
                }
                Some(DatagramEvent::ConnectionEvent(_, event)) => {
                    connection.as_mut().expect("it is open").1.handle_event(event);
                }
                Some(DatagramEvent::Response(_)) => panic!("no packet is refused"),
                None => {}
            }
        }
    }

    /// Timers, events, application and departures of one end.
    fn drive(&mut self, number: usize, side: usize) {
        let flow = &mut self.flows[number];
        if flow.begins > self.now {
            return;
        }
        let End { endpoint, connection, .. } = &mut flow.ends[side];
        let Some((handle, connection)) = connection else { return };
        if connection.poll_timeout().is_some_and(|at| at <= self.now) {
            connection.handle_timeout(self.now);
        }
        while let Some(event) = connection.poll_endpoint_events() {
            if let Some(event) = endpoint.handle_event(*handle, event) {
                connection.handle_event(event);
            }
        }
        while connection.poll().is_some() {}
        if side == 0 {
            write(connection, &mut flow.streams[0], &mut flow.left);
        } else {
            let (bytes, ended) = read(connection, &mut flow.streams[1]);
            flow.received += bytes;
            if ended {
                flow.done_at = Some(self.now);
            }
        }
        let mut sent = VecDeque::new();
        loop {
            let mut datagram = Vec::new();
            let Some(transmit) = connection.poll_transmit(self.now, 1, &mut datagram) else { break };
            sent.push_back((datagram, transmit.ecn));
        }
        for (datagram, ecn) in sent {
            self.send(number, 1 - side, datagram, ecn);
        }
    }

    /// Puts a datagram on the way to `side`, through the bottleneck if that is the server.
    fn send(&mut self, flow: usize, side: usize, datagram: Vec<u8>, mut ecn: Option<EcnCodepoint>) {
        let mut at = self.now + self.path.delay;
        if side == 1 {
            let nanos = |bytes: u64| Duration::from_nanos(bytes * 8_000_000_000 / self.path.bps);
            let waits = self.free_at.saturating_duration_since(self.now);
            let size = datagram.len() as u64;
            if datagram.len() > self.path.mtu || waits + nanos(size) > nanos(self.path.queue) {
                return;
            }
            if self.path.mark_from.is_some_and(|from| waits > nanos(from)) && ecn.is_some() {
                ecn = Some(EcnCodepoint::Ce);
            }
            self.free_at = self.now + waits + nanos(size);
            at = self.free_at + self.path.delay;
        }
        self.number += 1;
        self.under_way.insert((at, self.number), (flow, side, datagram, ecn));
    }
}

/// Fills the client's stream, and finishes it after the last byte.
fn write(connection: &mut Connection, stream: &mut Option<StreamId>, left: &mut u64) {
    if connection.is_handshaking() {
        return;
    }
    let id = match *stream {
        Some(id) => id,
        None if *left == 0 => return,
        None => *stream.insert(connection.streams().open(Dir::Uni).expect("the server permits one")),
    };
    let content = [0; 1 << 16];
    while *left > 0 {
        let size = usize::try_from(*left).map_or(content.len(), |left| left.min(content.len()));
        match connection.send_stream(id).write(&content[..size]) {
            Ok(written) => *left -= written as u64,
            Err(WriteError::Blocked) => return,
            Err(error) => panic!("{error}"),
        }
        if *left == 0 {
            connection.send_stream(id).finish().expect("it is open");
        }
    }
}

/// Reads what arrived: bytes, and whether the last of them is among these.
fn read(connection: &mut Connection, stream: &mut Option<StreamId>) -> (u64, bool) {
    if stream.is_none() {
        *stream = connection.streams().accept(Dir::Uni);
    }
    let (mut taken, mut ended) = (0, false);
    let Some(id) = *stream else { return (taken, ended) };
    let mut receive = connection.recv_stream(id);
    let Ok(mut chunks) = receive.read(true) else { return (taken, ended) };
    loop {
        match chunks.next(usize::MAX) {
            Ok(Some(chunk)) => taken += chunk.bytes.len() as u64,
            Ok(None) => {
                ended = true;
                break;
            }
            Err(ReadError::Blocked) => break,
            Err(error) => panic!("{error}"),
        }
    }
    let _ = chunks.finalize();
    (taken, ended)
}

fn outcome(flow: &mut Flow) -> Outcome {
    let connection = &flow.ends[0].connection.as_ref().expect("it was opened").1;
    let path = connection.stats().path;
    Outcome {
        received: flow.received,
        took: flow.done_at.map(|at| at - flow.begins),
        lost: path.lost_packets,
        events: path.congestion_events,
        window: path.cwnd,
        mtu: path.current_mtu,
        rtt: path.rtt,
    }
}

// ---- TLS 1.3 with a raw public key (RFC 7250) that the client knows

fn provider() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

/// An Ed25519 key as PKCS #8 (RFC 8410 §7): the header, and 32 bytes.
fn key() -> Arc<dyn rustls::sign::SigningKey> {
    let mut pkcs8 = vec![0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 0x22, 4, 0x20];
    pkcs8.extend([7; 32]);
    rustls::crypto::ring::sign::any_eddsa_type(&PrivatePkcs8KeyDer::from(pkcs8)).expect("it is a key")
}

fn server_crypto() -> QuicServerConfig {
    let key = key();
    let public = key.public_key().expect("it has one").to_vec();
    let certified = rustls::sign::CertifiedKey::new(vec![CertificateDer::from(public)], key);
    let resolver = rustls::server::AlwaysResolvesServerRawPublicKeys::new(Arc::new(certified));
    let config = rustls::ServerConfig::builder_with_provider(provider())
        .with_protocol_versions(&[&rustls::version::TLS13])
        .expect("it is supported")
        .with_no_client_auth()
        .with_cert_resolver(Arc::new(resolver));
    QuicServerConfig::try_from(config).expect("it has the cipher of initial packets")
}

fn client_crypto() -> QuicClientConfig {
    let config = rustls::ClientConfig::builder_with_provider(provider())
        .with_protocol_versions(&[&rustls::version::TLS13])
        .expect("it is supported")
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(Pinned))
        .with_no_client_auth();
    QuicClientConfig::try_from(config).expect("it has the cipher of initial packets")
}

/// Accepts the one key.
#[derive(Debug)]
struct Pinned;

impl rustls::client::danger::ServerCertVerifier for Pinned {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<rustls::client::danger::ServerCertVerified, rustls::Error> {
        assert_eq!(Some(end_entity.as_ref()), key().public_key().as_deref(), "the server has the key");
        Ok(rustls::client::danger::ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _cert: &CertificateDer<'_>,
        _dss: &rustls::DigitallySignedStruct,
    ) -> Result<rustls::client::danger::HandshakeSignatureValid, rustls::Error> {
        unreachable!("QUIC uses TLS 1.3")
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &rustls::DigitallySignedStruct,
    ) -> Result<rustls::client::danger::HandshakeSignatureValid, rustls::Error> {
        let algorithms = provider().signature_verification_algorithms;
        let key = SubjectPublicKeyInfoDer::from(cert.as_ref());
        rustls::crypto::verify_tls13_signature_with_raw_key(message, &key, dss, &algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<rustls::SignatureScheme> {
        vec![rustls::SignatureScheme::ED25519]
    }

    fn requires_raw_public_keys(&self) -> bool {
        true
    }
}
