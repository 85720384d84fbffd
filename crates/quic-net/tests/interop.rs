//! Sessions with aioquic at the other end (`aioquic_peer.py`): handshake, streams, DATAGRAM frames, key update, migration.
//!
//! `THALWEG_PYTHON` names a Python with aioquic; otherwise `python3` is tried. Without aioquic the tests print `skipped` and pass.

mod common;

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::process::{Command, Stdio};

use common::{limits, settings};
use contract::EndpointId;
use driver::Udp;
use quic_net::{
    Control, Credentials, End, Handshake, Object, Outcome, Proposal, Scheme, objects, receive, send,
};
use transfer::{ByteSink, ByteSource, Incoming, MAX_MESSAGE_BYTES, Outgoing, Payload, Sink, Status};
use units::Time;

const LENGTH: u64 = 2_000_000;
const PACKETS: u64 = 300;
const PEER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/aioquic_peer.py");

/// The Python that has aioquic; `None` without one.
fn python() -> Option<String> {
    let python = std::env::var("THALWEG_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let found = Command::new(&python).args(["-c", "import aioquic"]).stderr(Stdio::null()).status();
    let installed = found.is_ok_and(|status| status.success());
    if !installed {
        println!(
            "skipped: {python} has no aioquic; `pip install aioquic`, or name another Python in THALWEG_PYTHON"
        );
    }
    installed.then_some(python)
}

fn byte(at: u64) -> u8 {
    (at * 31 % 251) as u8
}

fn credentials() -> Credentials {
    Credentials::insecure([1; 32])
}

/// Stores nothing, and sends the message `whole` when all content has arrived and was right.
struct Expect {
    taken: u64,
    right: bool,
    reported: u32,
    packets: bool,
}

impl Expect {
    fn new(packets: bool) -> Self {
        Self { taken: 0, right: true, reported: 0, packets }
    }

    fn whole(&self) -> bool {
        // datagrams can be lost, on the way to another address too
        self.right && if self.packets { self.taken >= PACKETS * 9 / 10 } else { self.taken == LENGTH }
    }

    fn message(&mut self, message: &mut [u8; MAX_MESSAGE_BYTES]) -> usize {
        if !self.whole() || self.reported > 0 {
            return 0;
        }
        self.reported = 1;
        message[..5].copy_from_slice(b"whole");
        5
    }

    fn status(&self) -> Status {
        if self.reported > 0 { Status::Whole } else { Status::Going }
    }
}

impl ByteSink for Expect {
    fn write(&mut self, offset: u64, bytes: &[u8]) -> bool {
        self.right &= bytes.iter().zip(offset..).all(|(have, at)| *have == byte(at));
        true
    }
    fn on_contiguous(&mut self, offset: u64, _now: Time) {
        self.taken = offset;
    }
    fn speak(&mut self, _now: Time, message: &mut [u8; MAX_MESSAGE_BYTES]) -> usize {
        self.message(message)
    }
    fn status(&self) -> Status {
        self.status()
    }
}

impl Sink for Expect {
    fn take(&mut self, seq: u64, _now: Time, content: &[u8]) {
        self.right &= content == seq.to_be_bytes();
        self.taken += 1;
    }
    fn speak(&mut self, _now: Time, message: &mut [u8; MAX_MESSAGE_BYTES]) -> usize {
        self.message(message)
    }
    fn status(&self) -> Status {
        self.status()
    }
}

/// Bytes, or numbered packets, until the peer reports that it has them.
struct Content {
    confirmed: bool,
}

impl ByteSource for Content {
    fn ready(&mut self, _now: Time) -> u64 {
        LENGTH
    }
    fn end(&self) -> Option<u64> {
        Some(LENGTH)
    }
    fn read(&mut self, offset: u64, room: &mut [u8]) {
        room.iter_mut().zip(offset..).for_each(|(place, at)| *place = byte(at));
    }
    fn on_acknowledged(&mut self, _offset: u64) {}
    fn on_message(&mut self, _from: EndpointId, _now: Time, message: &[u8]) {
        self.confirmed |= message == b"whole";
    }
    fn status(&self) -> Status {
        if self.confirmed { Status::Whole } else { Status::Going }
    }
}

impl Payload for Content {
    fn fill(&mut self, seq: u64, _now: Time, room: &mut [u8]) -> usize {
        room[..8].copy_from_slice(&seq.to_be_bytes());
        8
    }
    fn on_message(&mut self, _from: EndpointId, _now: Time, message: &[u8]) {
        self.confirmed |= message == b"whole";
    }
    fn status(&self) -> Status {
        if self.confirmed { Status::Whole } else { Status::Going }
    }
}

type Reported = BTreeMap<String, String>;

fn read(text: &str) -> Reported {
    let pair =
        |line: &str| line.split_once(' ').map(|(name, value)| (name.to_owned(), value.trim().to_owned()));
    text.lines().filter_map(pair).collect()
}

/// aioquic connects and sends. Returns the outcome of the receiver, and the output of aioquic.
fn from_aioquic(python: &str, mode: &str) -> (Outcome, Reported) {
    let mut platform = Udp::bind(SocketAddr::from(([127, 0, 0, 1], 0))).expect("there is a loopback device");
    let port = platform.address().expect("it is bound").port();
    let command = [PEER, "client", &port.to_string(), mode].map(str::to_owned);
    let peer = Command::new(python).args(command).stdout(Stdio::piped()).spawn().expect("Python is there");
    let mut accept = |proposal: &Proposal| {
        Ok(match proposal.offer.transport {
            wire::stream::Transport::Paced => Incoming::Paced(Box::new(Expect::new(true))),
            wire::stream::Transport::Windowed => Incoming::Windowed(Box::new(Expect::new(false))),
        })
    };
    let outcome =
        receive(&settings(Handshake::Listen, credentials()), &mut accept, &mut platform, &Control::new());
    let output = peer.wait_with_output().expect("it ends");
    (outcome, read(&String::from_utf8_lossy(&output.stdout)))
}

#[test]
fn aioquic_sends_on_a_stream_updates_its_keys_and_moves() {
    let Some(python) = python() else { return };
    let (outcome, reported) = from_aioquic(&python, "streams");
    assert_eq!(outcome.end, End::Complete, "{reported:?}");
    let expected = [
        ("handshake", "thalweg/1"),
        ("hello", "1 1"),
        ("key-update", "1"),
        ("migrated", "1"),
        ("message", "whole"),
    ];
    for (name, value) in expected {
        assert_eq!(reported.get(name).map(String::as_str), Some(value), "{reported:?}");
    }
    assert!(reported["closed"].starts_with('0'), "{reported:?}");
    assert_eq!(outcome.stats.sessions, 1, "the connection outlived the change of address");
}

#[test]
fn aioquic_sends_datagrams_and_receives_feedback() {
    let Some(python) = python() else { return };
    let (outcome, reported) = from_aioquic(&python, "datagrams");
    assert_eq!(outcome.end, End::Complete, "{reported:?}");
    assert!(reported["feedback"].parse::<u32>().expect("a number") > 0, "{reported:?}");
    assert_eq!(reported.get("migrated").map(String::as_str), Some("1"), "{reported:?}");
    assert_eq!((outcome.stats.sessions, outcome.stats.discarded.misplaced), (1, 0));
    assert!(outcome.stats.packets >= PACKETS * 9 / 10);
}

/// Connects to aioquic and sends.
fn to_aioquic(python: &str, mode: &str, scheme: &str) -> (Outcome, Reported) {
    let mut peer = Command::new(python)
        .args([PEER, "server", mode])
        .stdout(Stdio::piped())
        .spawn()
        .expect("Python is there");
    let mut output = BufReader::new(peer.stdout.take().expect("it is piped"));
    let mut first = String::new();
    output.read_line(&mut first).expect("it prints its port");
    let port = first.trim().strip_prefix("port ").and_then(|port| port.parse::<u16>().ok()).expect("a port");
    let to = SocketAddr::from(([127, 0, 0, 1], port));
    let mut platform = Udp::for_calling(to).expect("there is a loopback device");
    let outgoing = match mode {
        "streams" => Outgoing::Windowed(Box::new(Content { confirmed: false })),
        _ => Outgoing::Paced(Box::new(Content { confirmed: false })),
    };
    let all = objects(vec![Object { folders: Vec::new(), outgoing, about: Vec::new(), more: false }]);
    let client_settings =
        quic_net::Settings { limits: limits(), ..settings(Handshake::Connect(to), credentials()) };
    let scheme = Scheme { packet: 1300, ..Scheme::new(scheme) };
    let outcome = send(&client_settings, &scheme, all, &mut platform, &Control::new());
    let mut text = String::new();
    output.read_to_string(&mut text).expect("it ends");
    peer.wait().expect("it ends");
    (outcome, read(&text))
}

#[test]
fn aioquic_receives_a_stream_and_updates_its_keys() {
    let Some(python) = python() else { return };
    let (outcome, reported) = to_aioquic(&python, "streams", "cubic");
    assert_eq!(outcome.end, End::Complete, "{reported:?}");
    let expected =
        [("handshake", "thalweg/1"), ("hello", "1 0"), ("key-update", "1"), ("right", "1"), ("done", "1")];
    for (name, value) in expected {
        assert_eq!(reported.get(name).map(String::as_str), Some(value), "{reported:?}");
    }
}

#[test]
fn aioquic_receives_datagrams() {
    let Some(python) = python() else { return };
    let (outcome, reported) = to_aioquic(&python, "datagrams", "cvihis");
    assert_eq!(outcome.end, End::Complete, "{reported:?}");
    assert!(reported["datagrams"].parse::<u32>().expect("a number") >= 50, "{reported:?}");
    assert_eq!(reported.get("done").map(String::as_str), Some("1"), "{reported:?}");
}
