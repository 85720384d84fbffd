//! Sessions with aioquic at the other end (`aioquic_peer.py`): handshake, streams, DATAGRAM frames, key update,
//! migration; and the cases of the QUIC interop runner (github.com/quic-interop/quic-interop-runner) that concern what
//! sessions use.
//!
//! `THALWEG_PYTHON` names a Python with aioquic; otherwise `python3` is tried. Without aioquic the tests print
//! `skipped` and pass.

mod relay;

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::process::{Command, Stdio};
use std::thread;

use contract::EndpointId;
use driver::Udp;
use quic_net::testing::{limits, settings};
use quic_net::{
    Control, Credentials, End, Handshake, Object, Outcome, Proposal, Scheme, objects, receive, send,
};
use relay::{Path, Relay};
use transfer::{ByteSink, ByteSource, Incoming, MAX_MESSAGE_BYTES, Outgoing, Payload, Sink, Status};
use units::{Duration, Time};

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
        if self.reported > 0 { Status::Complete } else { Status::InProgress }
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
    fn write_message(&mut self, _now: Time, message: &mut [u8; MAX_MESSAGE_BYTES]) -> usize {
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
    fn write_message(&mut self, _now: Time, message: &mut [u8; MAX_MESSAGE_BYTES]) -> usize {
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
    fn on_accepted(&mut self, _offset: u64) {}
    fn on_message(&mut self, _from: EndpointId, _now: Time, message: &[u8]) {
        self.confirmed |= message == b"whole";
    }
    fn status(&self) -> Status {
        if self.confirmed { Status::Complete } else { Status::InProgress }
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
        if self.confirmed { Status::Complete } else { Status::InProgress }
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
    let (outcome, reported, _) = from_aioquic_by(python, mode, Ipv4Addr::LOCALHOST.into(), "", None);
    (outcome, reported)
}

/// aioquic sends with these options to this address over an impaired path; also returns how often it was impaired.
fn from_aioquic_by(
    python: &str,
    mode: &str,
    at: IpAddr,
    options: &str,
    path: Option<Path>,
) -> (Outcome, Reported, u64) {
    let mut platform = Udp::bind(SocketAddr::new(at, 0)).expect("there is a loopback device");
    let address = platform.address().expect("it is bound");
    let relay = path.map(|path| Relay::new(address, path, 1));
    let port = relay.as_ref().map_or(address, |relay| relay.address).port();
    let command = [PEER, "client", &port.to_string(), mode, options].map(str::to_owned);
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
    (outcome, read(&String::from_utf8_lossy(&output.stdout)), relay.map_or(0, |relay| relay.impaired()))
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
    let (outcome, reported, _) = to_aioquic_by(python, mode, scheme, None);
    (outcome, reported)
}

/// Sends to aioquic over an impaired path; also returns how often it was impaired.
fn to_aioquic_by(python: &str, mode: &str, scheme: &str, path: Option<Path>) -> (Outcome, Reported, u64) {
    let mut peer = Command::new(python)
        .args([PEER, "server", mode])
        .stdout(Stdio::piped())
        .spawn()
        .expect("Python is there");
    let mut output = BufReader::new(peer.stdout.take().expect("it is piped"));
    let mut first = String::new();
    output.read_line(&mut first).expect("it prints its port");
    let port = first.trim().strip_prefix("port ").and_then(|port| port.parse::<u16>().ok()).expect("a port");
    let server = SocketAddr::from(([127, 0, 0, 1], port));
    let relay = path.map(|path| Relay::new(server, path, 1));
    let to = relay.as_ref().map_or(server, |relay| relay.address);
    let mut platform = Udp::for_calling(to).expect("there is a loopback device");
    let outgoing = match mode {
        "streams" => Outgoing::Windowed(Box::new(Content { confirmed: false })),
        _ => Outgoing::Paced(Box::new(Content { confirmed: false })),
    };
    let all =
        objects(vec![Object { folders: Vec::new(), outgoing, about: Vec::new(), more: false, omitted: 0 }]);
    let client_settings =
        quic_net::Settings { limits: limits(), ..settings(Handshake::Connect(to), credentials()) };
    let scheme = Scheme { packet: 1300, ..Scheme::new(scheme) };
    let outcome = send(&client_settings, &scheme, all, &mut platform, &Control::new());
    let mut text = String::new();
    output.read_to_string(&mut text).expect("it ends");
    peer.wait().expect("it ends");
    (outcome, read(&text), relay.map_or(0, |relay| relay.impaired()))
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

/// Cases of the interop runner by their names there, over paths with losses, changes, delays and rebindings.
#[test]
fn aioquic_sends_in_the_cases_of_the_interop_runner() {
    let Some(python) = python() else { return };
    let (here, elsewhere) = (Ipv4Addr::LOCALHOST.into(), Ipv4Addr::new(127, 0, 0, 2).into());
    let ms = Duration::from_millis;
    let path = Path { delay: ms(10), ..Path::default() };
    let cases = [
        ("transfer", here, "", path),
        ("longrtt", here, "", Path { delay: ms(750), ..path }),
        ("chacha20", here, "chacha20", path),
        ("ipv6", Ipv6Addr::LOCALHOST.into(), "", path),
        ("transferloss", here, "", Path { loss: 0.02, ..path }),
        ("transfercorruption", here, "", Path { corruption: 0.02, ..path }),
        ("handshakeloss", here, "", Path { loss: 0.3, lossy: 12, ..path }),
        ("blackhole", here, "", Path { blackhole: Some((ms(100), ms(2100))), ..path }),
        ("rebind-port", here, "", Path { rebinding: Some((ms(100), here)), ..path }),
        ("rebind-addr", here, "", Path { rebinding: Some((ms(100), elsewhere)), ..path }),
    ];
    thread::scope(|scope| {
        for (name, at, options, path) in cases {
            let python = &python;
            scope.spawn(move || {
                let (outcome, reported, impaired) =
                    from_aioquic_by(python, "streams", at, options, Some(path));
                assert_eq!(impaired > 0, path.impairs(), "{name}");
                assert_eq!(outcome.end, End::Complete, "{name}: {reported:?}");
                assert_eq!(
                    reported.get("message").map(String::as_str),
                    Some("whole"),
                    "{name}: {reported:?}"
                );
                assert_eq!(outcome.stats.sessions, 1, "{name}: one connection");
            });
        }
    });
}

/// Sends to aioquic, whose end serves one connection, so that nothing may keep the first from opening.
#[test]
fn aioquic_receives_in_the_cases_of_the_interop_runner() {
    let Some(python) = python() else { return };
    let ms = Duration::from_millis;
    let path = Path { delay: ms(10), ..Path::default() };
    let cases = [
        ("transferloss", Path { loss: 0.02, ..path }),
        ("transfercorruption", Path { corruption: 0.02, ..path }),
        ("blackhole", Path { blackhole: Some((ms(200), ms(2200))), ..path }),
        ("rebind-port", Path { rebinding: Some((ms(200), Ipv4Addr::LOCALHOST.into())), ..path }),
    ];
    thread::scope(|scope| {
        for (name, path) in cases {
            let python = &python;
            scope.spawn(move || {
                let (outcome, reported, impaired) = to_aioquic_by(python, "streams", "cubic", Some(path));
                assert!(impaired > 0, "{name}");
                assert_eq!(outcome.end, End::Complete, "{name}: {reported:?}");
                assert_eq!(reported.get("right").map(String::as_str), Some("1"), "{name}: {reported:?}");
            });
        }
    });
}
