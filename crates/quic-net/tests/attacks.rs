//! Attacks by other hosts: observers that inject datagrams, impostors at either end, clients that block a server.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::thread;

use contract::{Ecn, EndpointId, Random};
use driver::Platform;
use driver::testing::{InFlight, VirtualHost, VirtualNetwork};
use quic_net::host::{Host, Protocol};
use quic_net::testing::{
    Folder, addresses, bottleneck, content, ms, object, receive_into, receive_with, run_until, send_files,
    send_with, settings,
};
use quic_net::{
    Control, Credentials, End, Handshake, Limits, NAME, Object, Outcome, Proposal, Scheme, Settings, objects,
    receive, send,
};
use quinn_proto::{ClientConfig, Connection, ConnectionHandle, Event};
use transfer::{ByteSink, ByteSource, Incoming, MAX_MESSAGE_BYTES, Outgoing, Payload, Sink, Status};
use units::{Duration, Time};

fn stranger() -> SocketAddr {
    SocketAddr::from(([10, 0, 0, 66], 66))
}

fn open() -> Credentials {
    Credentials::insecure([1; 32])
}

/// An observer sees every datagram and injects others, from its own address and the addresses of both ends: old
/// datagrams, changed ones, reflected ones, noise. The transfer is not affected.
#[test]
fn injected_datagrams_change_nothing() {
    for scheme in ["cubic", "cvihis"] {
        let folder = Folder::new("observer");
        folder.file("film.bin", &content(300_000));
        let (a, b) = addresses();
        let mut random = Random::new(5, "observer", "");
        let mut seen: Vec<InFlight> = Vec::new();
        let net = bottleneck(move |in_flight| {
            let mut arrivals = vec![in_flight.clone()];
            if in_flight.to == stranger() {
                return Vec::new();
            }
            seen.push(in_flight.clone());
            let old = seen[random.below(seen.len() as u64) as usize].clone();
            let mut changed = in_flight.clone();
            let place = random.below(changed.bytes.len() as u64) as usize;
            changed.bytes[place] = changed.bytes[place].wrapping_add(1 + random.below(255) as u8);
            let noise = (0..1 + random.below(1400)).map(|_| random.bits() as u8).collect();
            let at = in_flight.at + ms(1);
            arrivals.extend([
                InFlight { at, from: stranger(), ..old.clone() },
                InFlight { at, ..old },
                InFlight { at, ..changed },
                InFlight { at, from: in_flight.to, to: in_flight.from, ..in_flight.clone() },
                InFlight { at, bytes: noise, ..in_flight.clone() },
            ]);
            arrivals
        });
        let (sender_host, receiver_host) = (net.host(a, ms(1)), net.host(b, ms(0)));
        let receiver = receive_into(receiver_host, open(), folder.path("in"));
        let sender = send_files(sender_host, b, open(), scheme, vec![folder.path("film.bin")]);
        let (sender, receiver) = (sender.join().expect("no panic"), receiver.join().expect("no panic"));
        assert_eq!((&sender.end, &receiver.end), (&End::Complete, &End::Complete), "{scheme}");
        assert_eq!((sender.stats.sessions, receiver.stats.sessions), (1, 1), "{scheme}");
        assert_eq!(folder.read("in/film.bin"), content(300_000), "{scheme}");
    }
}

/// Reports that it has everything, without a proof.
struct Liar;

impl Liar {
    fn lie(message: &mut [u8; MAX_MESSAGE_BYTES]) -> usize {
        // a report of completion, with an invented proof
        message[..42].fill(0x66);
        (message[0], message[1]) = (1, 1);
        42
    }
}

impl Sink for Liar {
    fn take(&mut self, _seq: u64, _now: Time, _content: &[u8]) {}
    fn write_message(&mut self, _now: Time, message: &mut [u8; MAX_MESSAGE_BYTES]) -> usize {
        Self::lie(message)
    }
    fn status(&self) -> Status {
        Status::InProgress
    }
}

impl ByteSink for Liar {
    fn write(&mut self, _offset: u64, _bytes: &[u8]) -> bool {
        true
    }
    fn on_contiguous(&mut self, _offset: u64, _now: Time) {}
    fn write_message(&mut self, _now: Time, message: &mut [u8; MAX_MESSAGE_BYTES]) -> usize {
        Self::lie(message)
    }
    fn status(&self) -> Status {
        Status::InProgress
    }
}

/// A receiver with false reports, which gives up after a while.
fn liar<P: Platform + Send + 'static>(mut platform: P, to: SocketAddr) -> thread::JoinHandle<Outcome> {
    thread::spawn(move || {
        let limits = Limits { patience: Duration::from_secs(4), ..Limits::default() };
        let settings = Settings {
            handshake: Handshake::Connect(to),
            credentials: open(),
            limits,
            client_secret: Some([0x66; 32]),
            logs: None,
        };
        let mut accept = |proposal: &Proposal| {
            Ok(match proposal.offer.transport {
                wire::stream::Transport::Paced => Incoming::Paced(Box::new(Liar)),
                wire::stream::Transport::Windowed => Incoming::Windowed(Box::new(Liar)),
            })
        };
        receive(&settings, &mut accept, &mut platform, &Control::new())
    })
}

/// The true receiver is killed when it has a part. Another one, which needs no key, claims to have the file: the sender
/// rejects the claim.
#[test]
fn a_receiver_cannot_confirm_data_that_it_does_not_have() {
    for scheme in ["cubic", "tfrc", "cvihis"] {
        let folder = Folder::new("liar");
        folder.file("film.bin", &content(1_000_000));
        let (a, b) = addresses();
        let net = bottleneck(|in_flight| vec![in_flight.clone()]);
        let (sender_host, receiver_host) = (net.host(a, ms(0)), net.host(b, ms(1)).killed_after(ms(700)));
        let other = net.host(stranger(), ms(4000));
        let killed = receive_with(receiver_host, settings(Handshake::Connect(a), open()), folder.path("in"));
        let mut server_settings = settings(Handshake::Listen, open());
        server_settings.limits.patience = Duration::from_secs(8);
        let sender =
            send_with(sender_host, server_settings, Scheme::new(scheme), vec![folder.path("film.bin")]);
        let liar = liar(other, a);
        assert!(killed.join().is_err(), "it was killed");
        let outcome = sender.join().expect("no panic");
        liar.join().expect("no panic");
        assert_ne!(outcome.end, End::Complete, "{scheme}");
        assert!(outcome.stats.sessions > 1, "{scheme}: the liar had a session");
    }
}

/// Another sender connects during a session.
#[test]
fn a_peer_that_connects_during_a_session_is_refused_as_busy() {
    for scheme in ["cubic", "tfrc"] {
        let folder = Folder::new("busy");
        folder.file("film.bin", &content(4_000_000));
        folder.file("other.bin", &content(1000));
        let (a, b) = addresses();
        let net = bottleneck(|in_flight| vec![in_flight.clone()]);
        let (sender_host, receiver_host, third) =
            (net.host(a, ms(1)), net.host(b, ms(0)), net.host(stranger(), ms(600)));
        let receiver = receive_into(receiver_host, open(), folder.path("in"));
        let sender = send_files(sender_host, b, open(), scheme, vec![folder.path("film.bin")]);
        let other = send_files(third, b, open(), "reno", vec![folder.path("other.bin")]);
        assert_eq!(other.join().expect("no panic").end, End::Refused(wire::stream::Reason::Busy), "{scheme}");
        let (sender, receiver) = (sender.join().expect("no panic"), receiver.join().expect("no panic"));
        assert_eq!((&sender.end, &receiver.end), (&End::Complete, &End::Complete), "{scheme}");
        assert_eq!((sender.stats.sessions, receiver.stats.sessions), (1, 1), "{scheme}");
        assert_eq!(folder.read("in/film.bin"), content(4_000_000), "{scheme}");
        assert!(folder.read("in/other.bin").is_empty(), "{scheme}");
    }
}

/// A sender offers one file and sends another of the same length: none of its blocks is stored, and the true file is
/// received afterwards.
#[test]
fn wrong_blocks_are_discarded() {
    for scheme in ["cubic", "tfrc"] {
        let folder = Folder::new("spoilt");
        folder.file("film.bin", &content(700_000));
        let wrong: Vec<u8> = content(700_000).iter().map(|byte| byte ^ 1).collect();
        folder.file("wrong.bin", &wrong);
        let (a, b) = addresses();
        let net = bottleneck(|in_flight| vec![in_flight.clone()]);
        let (mut sender_host, receiver_host) =
            (net.host(a, ms(1)).killed_after(ms(4000)), net.host(b, ms(0)));
        let mut server_settings = settings(Handshake::Listen, open());
        server_settings.limits = Limits {
            patience: Duration::from_secs(3),
            accept_timeout: Duration::from_secs(5),
            ..server_settings.limits
        };
        let receiver = receive_with(receiver_host, server_settings, folder.path("in"));
        let scheme_of = Scheme::new(scheme);
        let Object { about, .. } = object(&folder.path("film.bin"), &scheme_of, false);
        let spoilt = Object { about, ..object(&folder.path("wrong.bin"), &scheme_of, false) };
        let sender = thread::spawn(move || {
            let client_settings = settings(Handshake::Connect(b), open());
            send(&client_settings, &scheme_of, objects(vec![spoilt]), &mut sender_host, &Control::new()).end
        });
        assert_ne!(sender.join().ok(), Some(End::Complete), "{scheme}");
        assert_ne!(receiver.join().expect("no panic").end, End::Complete, "{scheme}");
        assert!(folder.read("in/film.bin").is_empty(), "{scheme}");

        let net = bottleneck(|in_flight| vec![in_flight.clone()]);
        let (sender_host, receiver_host) = (net.host(a, ms(1)), net.host(b, ms(0)));
        let receiver = receive_into(receiver_host, open(), folder.path("in"));
        let sender = send_files(sender_host, b, open(), scheme, vec![folder.path("film.bin")]);
        assert_eq!(sender.join().expect("no panic").end, End::Complete, "{scheme}");
        assert_eq!(receiver.join().expect("no panic").end, End::Complete, "{scheme}");
        assert_eq!(folder.read("in/film.bin"), content(700_000), "{scheme}");
    }
}

#[test]
fn the_reason_of_a_refusal_cannot_contain_terminal_escapes() {
    let folder = Folder::new("refusal");
    folder.file("a.bin", b"a");
    let (a, b) = addresses();
    let net = bottleneck(|in_flight| vec![in_flight.clone()]);
    let (sender_host, mut receiver_host) = (net.host(a, ms(1)), net.host(b, ms(0)));
    let receiver = thread::spawn(move || {
        let mut server_settings = settings(Handshake::Listen, open());
        server_settings.limits.accept_timeout = Duration::from_secs(3);
        let mut accept =
            |_: &Proposal| Err("no room\u{1b}]0;owned\u{7}\nwhole: every byte arrived".to_owned());
        receive(&server_settings, &mut accept, &mut receiver_host, &Control::new())
    });
    let sender = send_files(sender_host, b, open(), "cubic", vec![folder.path("a.bin")]);
    let End::Failed(message) = sender.join().expect("no panic").end else { panic!("it was refused") };
    assert!(message.contains("no room\\x1b]0;owned\\x07\\nwhole"), "{message:?}");
    assert!(!message.contains(|letter: char| letter.is_control()), "{message:?}");
    receiver.join().expect("no panic");
}

/// Offers something and never sends it.
struct Silent;

impl ByteSource for Silent {
    fn ready(&mut self, _now: Time) -> u64 {
        0
    }
    fn end(&self) -> Option<u64> {
        None
    }
    fn read(&mut self, _offset: u64, _room: &mut [u8]) {}
    fn on_accepted(&mut self, _offset: u64) {}
    fn on_message(&mut self, _from: EndpointId, _now: Time, _message: &[u8]) {}
    fn status(&self) -> Status {
        Status::InProgress
    }
}

/// A client that offers a file, keeps the connection alive and sends no data.
fn silent<P: Platform + Send + 'static>(
    mut platform: P,
    settings: Settings,
    path: std::path::PathBuf,
) -> thread::JoinHandle<Outcome> {
    thread::spawn(move || {
        let scheme = Scheme::new("cubic");
        let offered = object(&path, &scheme, false);
        let all = objects(vec![Object { outgoing: Outgoing::Windowed(Box::new(Silent)), ..offered }]);
        send(&settings, &scheme, all, &mut platform, &Control::new())
    })
}

#[test]
fn a_silent_client_does_not_block_a_server() {
    let folder = Folder::new("silent");
    folder.file("film.bin", &content(100_000));
    let (a, b) = addresses();
    let net = bottleneck(|in_flight| vec![in_flight.clone()]);
    let (quiet, receiver_host, honest) =
        (net.host(stranger(), ms(1)), net.host(b, ms(0)), net.host(a, ms(3000)));
    let quiet = silent(quiet, settings(Handshake::Connect(b), open()), folder.path("film.bin"));
    let receiver = receive_into(receiver_host, open(), folder.path("in"));
    let honest = send_files(honest, b, open(), "reno", vec![folder.path("film.bin")]);
    assert_eq!(honest.join().expect("no panic").end, End::Complete);
    assert_eq!(receiver.join().expect("no panic").end, End::Complete);
    assert_ne!(quiet.join().expect("no panic").end, End::Complete);
}

#[test]
fn patience_counts_progress_of_data_and_not_keep_alives() {
    let folder = Folder::new("patience");
    folder.file("film.bin", &content(100_000));
    let (a, b) = addresses();
    let net = bottleneck(|in_flight| vec![in_flight.clone()]);
    let begin = net.now();
    let (quiet, receiver_host) = (net.host(a, ms(1)), net.host(b, ms(0)));
    let mut server_settings = settings(Handshake::Listen, Credentials::shared(b"key").expect("a key"));
    server_settings.limits.patience = Duration::from_secs(3);
    let receiver = receive_with(receiver_host, server_settings, folder.path("in"));
    let client_settings = settings(Handshake::Connect(b), Credentials::shared(b"key").expect("a key"));
    let quiet = silent(quiet, client_settings, folder.path("film.bin"));
    assert_eq!(receiver.join().expect("no panic").end, End::NoProgress);
    assert_eq!(quiet.join().expect("no panic").end, End::Closed(wire::stream::Reason::NoProgress));
    let took = net.now().saturating_since(begin);
    assert!(took < Duration::from_secs(6), "{took}");
}

/// An observer repeats the first datagrams of a client from the address of a victim: a server sends it at most three
/// times what it received from it (RFC 9000 §8.1).
#[test]
fn a_server_does_not_amplify() {
    let victim = SocketAddr::from(([10, 9, 9, 9], 53));
    let folder = Folder::new("amplifies");
    folder.file("film.bin", &content(200_000));
    let (a, b) = addresses();
    let sums: Arc<Mutex<BTreeMap<&str, u64>>> = Arc::default();
    let sums_too = Arc::clone(&sums);
    let net = bottleneck(move |in_flight| {
        let mut sums = sums_too.lock().expect("no panic");
        let bytes = in_flight.bytes.len() as u64;
        if in_flight.to == victim {
            *sums.entry("to the victim").or_default() += bytes;
            return Vec::new();
        }
        let mut arrivals = vec![in_flight.clone()];
        // long headers only: packets of the handshake
        if in_flight.from == a && in_flight.bytes[0] & 0x80 != 0 {
            for again in 0..20 {
                *sums.entry("from the victim").or_default() += bytes;
                arrivals.push(InFlight { from: victim, at: in_flight.at + ms(again), ..in_flight.clone() });
            }
        }
        arrivals
    });
    let (sender_host, receiver_host) = (net.host(a, ms(1)), net.host(b, ms(0)));
    let receiver = receive_into(receiver_host, open(), folder.path("in"));
    let sender = send_files(sender_host, b, open(), "cubic", vec![folder.path("film.bin")]);
    assert_eq!(sender.join().expect("no panic").end, End::Complete);
    assert_eq!(receiver.join().expect("no panic").end, End::Complete);
    let sums = sums.lock().expect("no panic");
    let (from, to) = (sums["from the victim"], sums.get("to the victim").copied().unwrap_or(0));
    assert!(from > 20_000 && to <= 3 * from, "{sums:?}");
}

/// A sender that offers a file and sends wrong blocks of it for ever.
struct Wrong<T>(T);

impl ByteSource for Wrong<Box<dyn ByteSource>> {
    fn bind(&mut self, peer: EndpointId, binding: &[u8; 32]) {
        self.0.bind(peer, binding);
    }
    fn on_join(&mut self, peer: EndpointId) {
        self.0.on_join(peer);
    }
    fn ready(&mut self, now: Time) -> u64 {
        self.0.ready(now)
    }
    fn end(&self) -> Option<u64> {
        self.0.end()
    }
    fn read(&mut self, offset: u64, room: &mut [u8]) {
        self.0.read(offset, room);
        // the hashes, which come first, are right
        for (at, byte) in (offset..).zip(room) {
            *byte ^= u8::from(at % 1000 == 999);
        }
    }
    fn on_accepted(&mut self, offset: u64) {
        self.0.on_accepted(offset);
    }
    fn on_message(&mut self, from: EndpointId, now: Time, message: &[u8]) {
        self.0.on_message(from, now, message);
    }
    fn status(&self) -> Status {
        self.0.status()
    }
}

impl Payload for Wrong<Box<dyn Payload>> {
    fn bind(&mut self, peer: EndpointId, binding: &[u8; 32]) {
        self.0.bind(peer, binding);
    }
    fn on_join(&mut self, peer: EndpointId) {
        self.0.on_join(peer);
    }
    fn fill(&mut self, seq: u64, now: Time, room: &mut [u8]) -> usize {
        let length = self.0.fill(seq, now, room);
        // the hashes, which come first, are right
        if seq > 20 && length > 100 {
            room[length - 1] ^= 1;
        }
        length
    }
    fn ready(&mut self, now: Time) -> Time {
        self.0.ready(now)
    }
    fn on_message(&mut self, from: EndpointId, now: Time, message: &[u8]) {
        self.0.on_message(from, now, message);
    }
    fn status(&self) -> Status {
        self.0.status()
    }
}

/// Wrong blocks are no progress: a receiver times out although data keep arriving.
#[test]
fn a_sender_of_wrong_blocks_does_not_block_a_receiver() {
    for scheme in ["cubic", "tfrc"] {
        let folder = Folder::new("wrong");
        folder.file("film.bin", &content(700_000));
        let (a, b) = addresses();
        let net = bottleneck(|in_flight| vec![in_flight.clone()]);
        let begin = net.now();
        let (mut sender_host, receiver_host) = (net.host(a, ms(1)), net.host(b, ms(0)));
        let mut server_settings = settings(Handshake::Listen, Credentials::shared(b"key").expect("a key"));
        server_settings.limits.patience = Duration::from_secs(5);
        let receiver = receive_with(receiver_host, server_settings, folder.path("in"));
        let scheme_of = Scheme::new(scheme);
        let Object { folders, outgoing, about, more, omitted } =
            object(&folder.path("film.bin"), &scheme_of, false);
        let outgoing = match outgoing {
            Outgoing::Paced(payload) => Outgoing::Paced(Box::new(Wrong(payload))),
            Outgoing::Windowed(source) => Outgoing::Windowed(Box::new(Wrong(source))),
        };
        let sender = thread::spawn(move || {
            let client_settings =
                settings(Handshake::Connect(b), Credentials::shared(b"key").expect("a key"));
            let all = objects(vec![Object { folders, outgoing, about, more, omitted }]);
            send(&client_settings, &scheme_of, all, &mut sender_host, &Control::new())
        });
        assert_eq!(receiver.join().expect("no panic").end, End::NoProgress, "{scheme}");
        assert_eq!(
            sender.join().expect("no panic").end,
            End::Closed(wire::stream::Reason::NoProgress),
            "{scheme}"
        );
        let took = net.now().saturating_since(begin);
        // the time of the whole file, which depends on the scheme's random numbers, and then the patience
        assert!(took < Duration::from_secs(40), "{scheme}: {took}");
        assert!(folder.read("in/film.bin").is_empty(), "{scheme}");
    }
}

/// A network of clients at `addresses` hosts that validate their address (Retry) and never complete a handshake: what a
/// server sends them then is lost.
fn network_of_attackers(addresses: u8) -> (VirtualNetwork, Vec<SocketAddr>) {
    let address = |n| SocketAddr::from(([10, 0, 66, n], 66));
    let attackers: Vec<SocketAddr> = (0..addresses).map(address).collect();
    let lost_to = attackers.clone();
    // a Retry packet [RFC9000 §17.2.5]
    let net = VirtualNetwork::new(move |in_flight| {
        let lost = lost_to.contains(&in_flight.to) && in_flight.bytes[0] & 0xf0 != 0xf0;
        if lost { Vec::new() } else { vec![in_flight.after(ms(10))] }
    });
    (net, attackers)
}

/// Connections without an application.
struct Idle;

impl Protocol for Idle {
    fn on_packet(&mut self, _: ConnectionHandle, _: &mut Connection, _: Ecn, _: Time) {}
    fn on_event(&mut self, _: ConnectionHandle, _: &mut Connection, _: Event, _: Time) {}
}

/// Opens this many connections at once, and repeats their first packets for 20 s.
fn attack(mut platform: VirtualHost, server: SocketAddr, connections: u32) -> thread::JoinHandle<()> {
    thread::spawn(move || {
        let until = platform.now() + Duration::from_secs(20);
        let mut host = Host::new(&mut platform, None);
        let crypto = Credentials::insecure([5; 32]).client_crypto();
        for _ in 0..connections {
            let (config, now) = (ClientConfig::new(Arc::clone(&crypto) as _), host.platform.now());
            host.connect(config, server, NAME, now).expect("the address is one");
        }
        run_until(&mut host, &mut Idle, until, |_| false);
    })
}

/// One host does not occupy a server, and many do not occupy it for long: another client is served after this time at
/// the latest.
#[test]
fn handshakes_that_are_never_completed_do_not_keep_other_clients_out() {
    for (attackers, connections, within) in [(1, 100, 3), (16, 20, 16)] {
        let folder = Folder::new("handshakes");
        folder.file("film.bin", &content(50_000));
        let (a, b) = addresses();
        let (net, attackers) = network_of_attackers(attackers);
        let begin = net.now();
        let receiver_host = net.host(b, ms(0));
        let attacker_hosts: Vec<_> = attackers.iter().map(|at| net.host(*at, ms(1))).collect();
        let sender_host = net.host(a, ms(1000));
        let patient = |handshake| {
            let mut settings = settings(handshake, open());
            settings.limits.patience = Duration::from_secs(60);
            settings
        };
        let receiver = receive_with(receiver_host, patient(Handshake::Listen), folder.path("in"));
        let attacks: Vec<_> = attacker_hosts.into_iter().map(|host| attack(host, b, connections)).collect();
        let path = folder.path("film.bin");
        let sender = send_with(sender_host, patient(Handshake::Connect(b)), Scheme::new("cubic"), vec![path]);
        let (sender, receiver) = (sender.join().expect("no panic"), receiver.join().expect("no panic"));
        assert_eq!((&sender.end, &receiver.end), (&End::Complete, &End::Complete), "{}", attackers.len());
        assert!(receiver.stats.discarded.strangers > 50, "most attempts were refused");
        let took = sender.stats.ended_at.saturating_since(begin);
        assert!(took < Duration::from_secs(within), "{}: {took}", attackers.len());
        attacks.into_iter().for_each(|attack| attack.join().expect("no panic"));
    }
}
