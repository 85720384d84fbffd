//! For tests of sessions: senders and receivers in threads, networks with a simulated clock, folders, and content.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::{self, JoinHandle};

use driver::testing::{InFlight, VirtualNetwork};
use driver::{Platform, Udp};
use transfer::{Destination, Outgoing, Receivers, Source, Tally, Task, keep};
use units::{Duration, Rate, Time};

use crate::host::{Host, Protocol};
use crate::{
    Control, Credentials, Handshake, Limits, Object, Outcome, Proposal, Scheme, Settings, check, objects,
    receive, send,
};

/// Milliseconds.
pub fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// The sender's and the receiver's address.
pub fn addresses() -> (SocketAddr, SocketAddr) {
    (SocketAddr::from(([10, 0, 0, 1], 7)), SocketAddr::from(([10, 0, 0, 2], 9)))
}

/// A bottleneck of 8 Mbit/s towards the second address with a queue of 60 ms, 10 ms each way; then `impair`.
pub fn bottleneck(mut impair: impl FnMut(&InFlight) -> Vec<InFlight> + Send + 'static) -> VirtualNetwork {
    let (_, b) = addresses();
    let mut free_at = Time::ZERO;
    VirtualNetwork::new(move |in_flight| {
        let serialise = Duration::from_micros(in_flight.bytes.len() as u64 + 28);
        let start = if in_flight.to == b { free_at.max(in_flight.at) } else { in_flight.at };
        if start.saturating_since(in_flight.at) > ms(60) {
            return Vec::new();
        }
        if in_flight.to == b {
            free_at = start + serialise;
        }
        impair(&in_flight.after(start.saturating_since(in_flight.at) + serialise + ms(10)))
    })
}

/// A folder of a test, which is removed at its end.
pub struct Folder(PathBuf);

impl Folder {
    /// An empty one, with a folder `in` in it.
    pub fn new(name: &str) -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("thalweg-quic-{}-{number}-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(path.join("in")).expect("a folder for a test");
        Self(path)
    }

    /// The path of a file in it.
    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Writes a file.
    pub fn file(&self, name: &str, bytes: &[u8]) {
        std::fs::write(self.path(name), bytes).expect("a file for a test");
    }

    /// What is in a file; nothing if it is not there.
    pub fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap_or_default()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Bytes that differ everywhere.
pub fn content(length: usize) -> Vec<u8> {
    (0..length as u64).map(|at| (at.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as u8).collect()
}

/// Two sockets, and the address of the second.
pub fn pair() -> (Udp, Udp, SocketAddr) {
    let bind = || Udp::bind(SocketAddr::from(([127, 0, 0, 1], 0))).expect("there is a loopback device");
    let (sender_socket, receiver_socket) = (bind(), bind());
    let to = receiver_socket.address().expect("it is bound");
    (sender_socket, receiver_socket, to)
}

/// Timeouts of tests: a patience of 10 s.
pub fn limits() -> Limits {
    Limits { patience: Duration::from_secs(10), accept_timeout: Duration::from_secs(20), ..Limits::default() }
}

/// Settings with these timeouts.
pub fn settings(handshake: Handshake, credentials: Credentials) -> Settings {
    Settings { handshake, credentials, limits: limits(), client_secret: None, logs: None }
}

/// The content of a file and its manifest, for this many receivers; a group if there are several.
pub fn load(path: &Path, scheme: &Scheme, rate: Option<Rate>, receivers: usize) -> (Outgoing, Vec<u8>) {
    let name = path.file_name().expect("it has a name").to_string_lossy().into_owned();
    let task = Task {
        from: Source::File(path.to_owned()),
        name,
        deadline: None,
        rate,
        packet: scheme.packet,
        proof: if receivers > 1 { crate::group::PROOF } else { 0 },
        transport: check(scheme).expect("it goes over QUIC"),
        id: 1,
        receivers: Receivers { min: receivers },
    };
    let loaded = task.load(&Arc::new(Tally::default()), &|| true).expect("the file is there");
    loaded.expect("it was not stopped")
}

/// An object of a file.
pub fn object(path: &Path, scheme: &Scheme, more: bool) -> Object {
    let (outgoing, about) = load(path, scheme, None, 1);
    Object { folders: Vec::new(), outgoing, about, more, omitted: 0 }
}

/// A sender of files, which connects.
pub fn send_files<P: Platform + Send + 'static>(
    platform: P,
    to: SocketAddr,
    credentials: Credentials,
    scheme: &str,
    files: Vec<PathBuf>,
) -> JoinHandle<Outcome> {
    send_with(platform, settings(Handshake::Connect(to), credentials), Scheme::new(scheme), files)
}

/// A sender of files.
pub fn send_with<P: Platform + Send + 'static>(
    mut platform: P,
    settings: Settings,
    scheme: Scheme,
    files: Vec<PathBuf>,
) -> JoinHandle<Outcome> {
    thread::spawn(move || {
        let count = files.len();
        let all = files.iter().enumerate().map(|(at, path)| object(path, &scheme, at + 1 < count)).collect();
        send(&settings, &scheme, objects(all), &mut platform, &Control::new())
    })
}

/// A receiver into a folder, which listens.
pub fn receive_into<P: Platform + Send + 'static>(
    platform: P,
    credentials: Credentials,
    folder: PathBuf,
) -> JoinHandle<Outcome> {
    receive_with(platform, settings(Handshake::Listen, credentials), folder)
}

/// A receiver into a folder.
pub fn receive_with<P: Platform + Send + 'static>(
    mut platform: P,
    settings: Settings,
    folder: PathBuf,
) -> JoinHandle<Outcome> {
    thread::spawn(move || {
        let tally = Arc::new(Tally::default());
        let window = settings.limits.window;
        let mut accept = |proposal: &Proposal| {
            let path = proposal.folders.iter().fold(folder.clone(), |path, folder| path.join(folder));
            std::fs::create_dir_all(&path).expect("a folder for a test");
            keep(
                &proposal.offer,
                Destination::Folder { path, name: None, replace: false, me: None },
                window,
                &tally,
            )
        };
        receive(&settings, &mut accept, &mut platform, &Control::new())
    })
}

/// Runs a host until this time, or until `done` with its protocol.
pub fn run_until<P: Platform, T: Protocol>(
    host: &mut Host<P>,
    protocol: &mut T,
    until: Time,
    done: impl Fn(&T) -> bool,
) {
    loop {
        host.receive(protocol);
        let now = host.platform.now();
        host.expire(protocol, now);
        host.transmit(now);
        if now >= until || done(protocol) {
            return;
        }
        let wake = host.wake().min(until);
        host.platform.wait(wake);
    }
}
