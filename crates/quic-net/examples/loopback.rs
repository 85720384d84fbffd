//! Bulk data over loopback with UDP payloads of 1400 bytes: a session of this crate, a file by a session, and the same
//! bytes by quinn on tokio, in turn.
//!
//! `cargo run --release -p quic-net --example loopback [MB] [ROUNDS]`. Each row is one transfer: Gbit/s, and seconds of
//! CPU of both ends per Gbit.

#![allow(clippy::disallowed_methods, reason = "a measurement reads the clock")]

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use driver::Udp;
use nix::sys::resource::{UsageWho, getrusage};
use quic_net::{
    Control, Credentials, End, Handshake, Limits, NAME, Object, Proposal, Scheme, Settings, objects, receive,
    send,
};
use transfer::{
    ByteSink, ByteSource, Destination, Incoming, MAX_MESSAGE_BYTES, Outgoing, Receivers, Source, Status,
    Tally, Task, keep,
};
use units::Time;
use wire::stream::Transport;

/// UDP payload, in bytes, and the packet with headers of IPv4 and UDP.
const PAYLOAD: u16 = 1400;
const PACKET: u16 = PAYLOAD + 28;

fn main() {
    let mut values = std::env::args().skip(1).map(|text| text.parse::<u64>().expect("a number"));
    let (megabytes, rounds) = (values.next().unwrap_or(1000), values.next().unwrap_or(3));
    let bytes = megabytes * 1_000_000;
    let folder = std::env::temp_dir().join(format!("thalweg-loopback-{}", std::process::id()));
    std::fs::create_dir_all(folder.join("in")).expect("a folder");
    let path = folder.join("bytes");
    let content: Vec<u8> =
        (0..bytes).map(|at| (at.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as u8).collect();
    std::fs::write(&path, content).expect("room for the file");
    println!("{megabytes} MB each, {rounds} rounds in turn");
    for _ in 0..rounds {
        row("session, stream", bytes, || session(Content::Memory(bytes)));
        row("session, file", bytes, || {
            session(Content::File(path.clone(), folder.join("in")));
            std::fs::remove_file(folder.join("in/bytes")).expect("it arrived");
        });
        row("quinn on tokio", bytes, || quinn_bulk(bytes));
    }
    std::fs::remove_dir_all(&folder).expect("it is ours");
}

fn row(name: &str, bytes: u64, transfer: impl FnOnce()) {
    let (began, used) = (Instant::now(), cpu());
    transfer();
    let (span, used) = (began.elapsed().as_secs_f64(), cpu() - used);
    let gigabits = bytes as f64 * 8e-9;
    println!("{name:16}  {:5.2} Gbit/s  {:5.3} CPU s/Gbit", gigabits / span, used / gigabits);
}

/// Seconds of CPU that this process has used.
fn cpu() -> f64 {
    let usage = getrusage(UsageWho::RUSAGE_SELF).expect("the system counts");
    [usage.user_time(), usage.system_time()]
        .iter()
        .map(|time| time.tv_sec() as f64 + time.tv_usec() as f64 * 1e-6)
        .sum()
}

fn socket() -> Udp {
    Udp::bind(SocketAddr::from(([127, 0, 0, 1], 0))).expect("there is a loopback device")
}

/// What a session carries.
enum Content {
    Memory(u64),
    File(std::path::PathBuf, std::path::PathBuf),
}

/// A session of a sender and a receiver, each in its thread.
fn session(content: Content) {
    let (mut sender_socket, mut receiver_socket) = (socket(), socket());
    let to = receiver_socket.address().expect("it is bound");
    let settings = |handshake| Settings {
        handshake,
        credentials: Credentials::insecure([1; 32]),
        limits: Limits::default(),
        client_secret: None,
        logs: None,
    };
    let scheme = Scheme { packet: PACKET, ..Scheme::new("cubic") };
    let (outgoing, about, into, bytes) = match content {
        Content::Memory(bytes) => (
            Outgoing::Windowed(Box::new(Zeros { bytes, acknowledged: 0, done: false })),
            Vec::new(),
            None,
            bytes,
        ),
        Content::File(path, into) => {
            let task = Task {
                from: Source::File(path),
                name: "bytes".to_owned(),
                deadline: None,
                rate: None,
                packet: PACKET,
                proof: 0,
                transport: Transport::Windowed,
                id: 1,
                receivers: Receivers { min: 1 },
            };
            let loaded = task.load(&Arc::new(Tally::default()), &|| true).expect("it was written");
            let (outgoing, about) = loaded.expect("it was not stopped");
            (outgoing, about, Some(into), 0)
        }
    };
    let receiving = std::thread::spawn(move || {
        let tally = Arc::new(Tally::default());
        let mut accept = |proposal: &Proposal| match &into {
            None => Ok(Incoming::Windowed(Box::new(Counter { bytes, taken: 0, reported: false }))),
            Some(path) => {
                let into = Destination::Folder { path: path.clone(), name: None, replace: false, me: None };
                keep(&proposal.offer, into, Limits::default().window, &tally)
            }
        };
        receive(&settings(Handshake::Listen), &mut accept, &mut receiver_socket, &Control::new())
    });
    let all = objects(vec![Object { folders: Vec::new(), outgoing, about, more: false, omitted: 0 }]);
    let outcome = send(&settings(Handshake::Connect(to)), &scheme, all, &mut sender_socket, &Control::new());
    assert_eq!(outcome.end, End::Complete);
    assert_eq!(receiving.join().expect("no panic").end, End::Complete);
}

/// Zeros, until the receiver reports that it has them.
struct Zeros {
    bytes: u64,
    acknowledged: u64,
    done: bool,
}

impl ByteSource for Zeros {
    fn ready(&mut self, _now: Time) -> u64 {
        self.bytes
    }
    fn end(&self) -> Option<u64> {
        Some(self.bytes)
    }
    fn read(&mut self, _offset: u64, _room: &mut [u8]) {}
    fn on_accepted(&mut self, offset: u64) {
        self.acknowledged = offset;
    }
    fn on_message(&mut self, _from: contract::EndpointId, _now: Time, _message: &[u8]) {
        self.done = true;
    }
    fn progress(&self) -> Option<u64> {
        Some(self.acknowledged)
    }
    fn status(&self) -> Status {
        if self.done { Status::Complete } else { Status::InProgress }
    }
}

/// Counts bytes, and sends a message when all have arrived.
struct Counter {
    bytes: u64,
    taken: u64,
    reported: bool,
}

impl ByteSink for Counter {
    fn write(&mut self, _offset: u64, _bytes: &[u8]) -> bool {
        true
    }
    fn on_contiguous(&mut self, offset: u64, _now: Time) {
        self.taken = offset;
    }
    fn write_message(&mut self, _now: Time, message: &mut [u8; MAX_MESSAGE_BYTES]) -> usize {
        if self.taken < self.bytes || self.reported {
            return 0;
        }
        (self.reported, message[0]) = (true, 1);
        1
    }
    fn progress(&self) -> Option<u64> {
        Some(self.taken)
    }
    fn status(&self) -> Status {
        if self.reported { Status::Complete } else { Status::InProgress }
    }
}

/// The same bytes on a stream of quinn, each end on a runtime of one thread.
fn quinn_bulk(bytes: u64) {
    let credentials = Credentials::insecure([1; 32]);
    let mut transport = quinn::TransportConfig::default();
    let mut discovery = quinn::MtuDiscoveryConfig::default();
    discovery.upper_bound(PAYLOAD);
    transport
        .mtu_discovery_config(Some(discovery))
        .max_idle_timeout(Some(Duration::from_secs(30).try_into().expect("short")));
    let transport = Arc::new(transport);
    let mut server = quinn::ServerConfig::with_crypto(credentials.server_crypto());
    server.transport_config(Arc::clone(&transport));
    let mut client = quinn::ClientConfig::new(credentials.client_crypto());
    client.transport_config(transport);
    let (address_sender, address_receiver) = std::sync::mpsc::channel();
    let any = SocketAddr::from(([127, 0, 0, 1], 0));
    let runtime = || tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let serving = std::thread::spawn(move || {
        runtime().block_on(async move {
            let endpoint = quinn::Endpoint::server(server, any).expect("a socket");
            address_sender.send(endpoint.local_addr().expect("bound")).expect("the client waits");
            let connection = endpoint.accept().await.expect("an attempt").await.expect("a connection");
            let mut stream = connection.accept_uni().await.expect("a stream");
            let mut taken = 0;
            while let Some(chunk) = stream.read_chunk(usize::MAX, true).await.expect("bytes") {
                taken += chunk.bytes.len() as u64;
            }
            connection.close(0u32.into(), b"done");
            endpoint.wait_idle().await;
            taken
        })
    });
    let to = address_receiver.recv().expect("the server listens");
    runtime().block_on(async move {
        let mut endpoint = quinn::Endpoint::client(any).expect("a socket");
        endpoint.set_default_client_config(client);
        let connection = endpoint.connect(to, NAME).expect("an address").await.expect("a connection");
        let mut stream = connection.open_uni().await.expect("a stream");
        let piece = [0; 1 << 16];
        let mut remaining = bytes;
        while remaining > 0 {
            let length = piece.len().min(remaining as usize);
            stream.write_all(&piece[..length]).await.expect("it is taken");
            remaining -= length as u64;
        }
        stream.finish().expect("it is open");
        connection.closed().await;
    });
    assert_eq!(serving.join().expect("no panic"), bytes);
}
