//! Attacks on groups: hosts that send to the group without its key, or as its members, clients that flood its sender,
//! and members that accept no data.

mod common;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::thread;

use common::{
    Received, Shared, counter, gather, is_data, member, network, numbers, plain, receive, send, settings,
    source, steady,
};
use contract::{Ecn, EndpointId};
use driver::testing::InFlight;
use driver::{Batch, GsoBatch, Platform, SendOutcome};
use quic_net::frames::Secret;
use quic_net::group::{EpochKey, Group, Header, PROOF, Signer};
use quic_net::host::{Host, Protocol};
use quic_net::testing::{ms, run_until};
use quic_net::{Control, End, Handshake, Limits};
use quic_net::{Credentials, Proposal, Settings};
use quinn_proto::{ClientConfig, Connection, ConnectionHandle, Dir, Event};
use transfer::{Incoming, MAX_MESSAGE_BYTES, Payload, Sink, Status};
use units::{Duration, Time};
use wire::stream::Reason;

/// A host that knows the group, its session and its epoch, but not its key.
#[test]
fn a_host_without_the_key_cannot_send_to_the_group() {
    let impair = |in_flight: InFlight, group: bool| {
        let Some((header, sealed)) = Header::read(&in_flight.bytes).filter(|_| group) else {
            return vec![in_flight];
        };
        let key = EpochKey::new(&Secret([9; 32]), header.session, header.epoch);
        let lie = |header: Header, content: &[u8]| {
            let mut bytes = Vec::new();
            key.seal(header, &mut bytes, |out| out.extend(content));
            InFlight { bytes, ecn: Ecn::NotCapable, ..in_flight.clone() }
        };
        let next = Header { number: header.number + 1, ..header };
        let mut renumbered = in_flight.clone();
        renumbered.bytes[..17].copy_from_slice(&lie(next, &[]).bytes[..17]);
        // before the true packet, with its number and with a high one; and the true one under another number
        vec![
            lie(header, sealed),
            lie(Header { number: 1 << 50, ..header }, sealed),
            renumbered,
            in_flight.clone(),
        ]
    };
    let all = gather(3, &steady("4 Mbit/s"), 300, Limits::default(), impair, &[], 3);
    assert!(all.receivers.len() == 3 && all.receivers.iter().all(|outcome| outcome.end == End::Complete));
    for (received, outcome) in all.received.iter().zip(&all.receivers) {
        assert_eq!(received.with(|received| received.wrong), 0);
        assert!(outcome.stats.discarded.forged >= 900, "{:?}", outcome.stats.discarded);
        assert_eq!(outcome.stats.discarded.repeated, 0, "a forged number is not used up");
        assert_eq!(outcome.stats.meter.count(contract::Count::Missing), 0);
    }
}

/// The host of a sender whose first random numbers are known to a test: they are the secret that all members get.
struct Watched<P>(P, Shared<Vec<u8>>);

impl<P: Platform> Platform for Watched<P> {
    fn now(&mut self) -> Time {
        self.0.now()
    }
    fn wait(&mut self, until: Time) {
        self.0.wait(until);
    }
    fn receive(&mut self, batch: &mut Batch) -> bool {
        self.0.receive(batch)
    }
    fn send(&mut self, gso_batch: &GsoBatch<'_>) -> SendOutcome {
        self.0.send(gso_batch)
    }
    fn local_address(&self, peer: SocketAddr) -> Option<SocketAddr> {
        self.0.local_address(peer)
    }
    fn fill_random(&mut self, bytes: &mut [u8]) {
        self.0.fill_random(bytes);
        self.1.with(|drawn| drawn.extend_from_slice(bytes));
    }
}

/// A member sends keep-alives with numbers far ahead, other content under the number of each packet, and proofs of
/// other packets or of a key of its own.
#[test]
fn a_member_cannot_send_in_the_name_of_the_sender() {
    let drawn = Shared::<Vec<u8>>::default();
    let (secret, own) = (drawn.clone(), Signer::new(&[6; 32]));
    let forge = move |in_flight: InFlight, group: bool| {
        let Some((header, sealed)) = Header::read(&in_flight.bytes).filter(|_| group) else {
            return vec![in_flight];
        };
        let secret = secret.with(|drawn| Secret(std::array::from_fn(|at| drawn[at])));
        let key = EpochKey::new(&secret, header.session, header.epoch);
        let mut sealed = sealed.to_vec();
        let proved = key.open(header, &mut sealed).expect("it has the key of the group");
        let (content, proof) = proved.split_at(proved.len() - usize::from(PROOF));
        let lie = |header: Header, content: &[u8], proof: Option<&[u8]>| {
            let mut bytes = Vec::new();
            key.seal(header, &mut bytes, |out| {
                out.extend(content);
                match proof {
                    Some(proof) => out.extend(proof),
                    None => own.sign(std::iter::once((header, content))).write_proof(0, out),
                }
            });
            InFlight { bytes, ..in_flight.clone() }
        };
        let at = |number| Header { number, ..header };
        let junk: Vec<u8> = content.iter().map(|byte| !byte).collect();
        vec![
            lie(at(header.number + 2500), &[], None),
            lie(at(1 << 61), &[], Some(proof)),
            lie(header, &junk, None),
            lie(header, &junk, Some(proof)),
            lie(at(header.number + 1), content, Some(proof)),
            in_flight.clone(),
        ]
    };
    let net = network(2, forge);
    let sender_host = Watched(net.host(source(), ms(0)), drawn);
    let hosts = [net.host(member(0), ms(1)), net.host(member(1), ms(2))];
    let limits = Limits::default();
    let payload = numbers(300, 2, &Shared::default());
    let sending = send(sender_host, settings(Handshake::Listen, limits), 4, &steady("4 Mbit/s"), payload);
    let received: [Shared<Received>; 2] = std::array::from_fn(|_| Shared::default());
    let receiving: Vec<_> = hosts
        .into_iter()
        .zip(&received)
        .map(|(host, received)| receive(host, settings(Handshake::Connect(source()), limits), 300, received))
        .collect();
    for (thread, received) in receiving.into_iter().zip(&received) {
        let outcome = thread.join().expect("it does not panic");
        assert_eq!(outcome.end, End::Complete);
        assert_eq!(received.with(|received| received.wrong), 0);
        assert!(outcome.stats.discarded.forged >= 1500, "{:?}", outcome.stats.discarded);
        assert_eq!(outcome.stats.discarded.repeated, 0, "a forged number is not used up");
        assert_eq!(outcome.stats.meter.count(contract::Count::Missing), 0);
    }
    assert_eq!(sending.join().expect("it does not panic").0.end, End::Complete);
}

/// An observer records all packets to the group, and repeats each soon and late.
#[test]
fn a_recorded_packet_is_not_read_again() {
    let impair = |in_flight: InFlight, group: bool| {
        if !group {
            return vec![in_flight];
        }
        vec![in_flight.clone(), in_flight.after(ms(1)), in_flight.after(ms(400)), in_flight.after(ms(5000))]
    };
    let all = gather(2, &steady("8 Mbit/s"), 6000, Limits::default(), impair, &[], 2);
    assert!(all.receivers.len() == 2 && all.receivers.iter().all(|outcome| outcome.end == End::Complete));
    for outcome in &all.receivers {
        assert!(outcome.stats.packets <= all.sender.stats.packets);
        // the third copy comes beyond the replay window
        assert!(outcome.stats.discarded.repeated > 2 * 6000, "{:?}", outcome.stats.discarded);
        assert_eq!(outcome.stats.meter.count(contract::Count::Missing), 0);
    }
}

/// After a member has left, packets are sealed with a key that it never got, and the others miss none of them.
#[test]
fn a_member_that_left_gets_no_key_of_the_next_epoch() {
    let epochs = Shared::<BTreeMap<u32, (Time, Time)>>::default();
    let seen = epochs.clone();
    let net = network(3, move |in_flight, group| {
        if let Some((header, _)) =
            Header::read(&in_flight.bytes).filter(|_| group && is_data(&in_flight.bytes))
        {
            seen.with(|seen| {
                let span = seen.entry(header.epoch).or_insert((in_flight.at, in_flight.at));
                span.1 = span.1.max(in_flight.at);
            });
        }
        vec![in_flight]
    });
    let sender_host = net.host(source(), ms(0));
    let hosts = [net.host(member(0), ms(1)), net.host(member(1), ms(2)), net.host(member(2), ms(3))];
    let server_settings = settings(Handshake::Listen, Limits::default());
    let sending =
        send(sender_host, server_settings, 8, &steady("1 Mbit/s"), numbers(600, 2, &Shared::default()));
    let received: [Shared<Received>; 3] = std::array::from_fn(|_| Shared::default());
    // the last one has enough after a while, and leaves
    let wanted = [600, 600, 100];
    let mut receiving = Vec::new();
    for (host, (received, wanted)) in hosts.into_iter().zip(received.iter().zip(wanted)) {
        let linger = if wanted == 600 { Limits::default().linger } else { ms(0) };
        let client_settings = settings(Handshake::Connect(source()), Limits { linger, ..Limits::default() });
        receiving.push(receive(host, client_settings, wanted, received));
    }
    for thread in receiving {
        let outcome = thread.join().expect("it does not panic");
        assert_eq!(outcome.end, End::Complete);
        assert_eq!(outcome.stats.discarded.total(), 0, "{:?}", outcome.stats.discarded);
    }
    let (outcome, left) = sending.join().expect("it does not panic");
    assert_eq!((outcome.end, left.len()), (End::Complete, 3));
    let left_at = received[2].with(|received| received.last);
    epochs.with(|epochs| {
        let (before, after) = (epochs[&0], epochs[&1]);
        assert!(before.1 <= after.0, "one epoch follows the other");
        assert!(after.0 > left_at && after.0 < left_at + ms(200), "{} after {left_at}", after.0);
        assert!(after.1 > left_at + ms(1000), "most of the content has the second key");
    });
    assert_eq!(outcome.stats.meter.count(contract::Count::Missing), 0);
}

/// A member whose connection is cut does not confirm the next key: the others get it after the time for its
/// distribution.
#[test]
fn a_member_that_does_not_confirm_a_key_does_not_delay_it_for_long() {
    let begin = Shared::<Option<Time>>::default();
    let second = Shared::<Option<Time>>::default();
    let (began, seen) = (begin.clone(), second.clone());
    let net = network(3, move |in_flight, group| {
        let start = began.with(|began| *began.get_or_insert(in_flight.at));
        if let Some((header, _)) = Header::read(&in_flight.bytes).filter(|_| group)
            && header.epoch == 1
        {
            seen.with(|seen| *seen.get_or_insert(in_flight.at));
        }
        // only data still reach the second member, and nothing is received from it
        let cut = [in_flight.from, in_flight.to].contains(&member(1)) && !group;
        if cut && in_flight.at > start + ms(500) { Vec::new() } else { vec![in_flight] }
    });
    let sender_host = net.host(source(), ms(0));
    let limits = Limits { patience: Duration::from_secs(5), ..Limits::default() };
    let hosts = [
        (net.host(member(0), ms(1)), 600),
        (net.host(member(1), ms(2)), 600),
        (net.host(member(2), ms(3)), 100),
    ];
    let server_settings = settings(Handshake::Listen, limits);
    let sending =
        send(sender_host, server_settings, 8, &steady("1 Mbit/s"), numbers(600, 1, &Shared::default()));
    let receiving = hosts.map(|(host, wanted)| {
        // a receiver that is complete leaves at once
        let linger = if wanted == 600 { limits.linger } else { ms(0) };
        let client_settings = settings(Handshake::Connect(source()), Limits { linger, ..limits });
        receive(host, client_settings, wanted, &Shared::default())
    });
    let ends = receiving.map(|thread| thread.join().expect("it does not panic").end);
    assert_eq!((&ends[0], &ends[2]), (&End::Complete, &End::Complete));
    assert_eq!(sending.join().expect("it does not panic").0.end, End::Complete);
    let start = begin.with(|begin| begin.expect("something was sent"));
    let changed = second.with(|second| second.expect("there was a second epoch")).saturating_since(start);
    // the third has its 100 packets of 1028 bytes after 0.9 s
    assert!(changed > ms(1800) && changed < ms(2500), "{changed}");
}

/// Opens connections and sends nothing, or invalid records.
#[derive(Default)]
struct Flood {
    nonsense: bool,
    lost: u32,
}

impl Protocol for Flood {
    fn on_packet(&mut self, _id: ConnectionHandle, _connection: &mut Connection, _ecn: Ecn, _now: Time) {}
    fn on_event(&mut self, _id: ConnectionHandle, connection: &mut Connection, event: Event, _now: Time) {
        match event {
            Event::Connected if self.nonsense => {
                let stream = connection.streams().open(Dir::Bi).expect("the sender takes one");
                connection.send_stream(stream).write(&[0xff; 100]).expect("there is room");
            }
            Event::ConnectionLost { .. } => self.lost += 1,
            _ => {}
        }
    }
}

/// Opens this many connections to the sender at once. Returns how many of the connections it has closed after this
/// time.
fn flood<P: Platform + Send + 'static>(
    mut platform: P,
    attempts: u32,
    nonsense: bool,
    span: Duration,
) -> thread::JoinHandle<u32> {
    thread::spawn(move || {
        let until = platform.now() + span;
        let mut host = Host::new(&mut platform, None);
        let mut flood = Flood { nonsense, lost: 0 };
        let crypto = Credentials::insecure([5; 32]).client_crypto();
        for _ in 0..attempts {
            let now = host.platform.now();
            let config = ClientConfig::new(Arc::clone(&crypto) as _);
            host.connect(config, source(), quic_net::NAME, now).expect("the address is one");
        }
        run_until(&mut host, &mut flood, until, |_| false);
        flood.lost
    })
}

#[test]
fn clients_without_a_valid_hello_do_not_keep_receivers_from_joining() {
    for nonsense in [false, true] {
        let net = network(1, plain);
        let sender_host = net.host(source(), ms(0));
        let (host, flooder) = (net.host(member(0), ms(50)), net.host(member(7), ms(1)));
        let server_settings = settings(Handshake::Listen, Limits::default());
        let payload = numbers(1000, 1, &Shared::default());
        let sending = send(sender_host, server_settings, 4, &steady("1 Mbit/s"), payload);
        let client_settings = settings(Handshake::Connect(source()), Limits::default());
        let receiving = receive(host, client_settings, 1000, &Shared::default());
        let flooding = flood(flooder, 200, nonsense, Duration::from_secs(6));
        assert_eq!(receiving.join().expect("it does not panic").end, End::Complete, "{nonsense}");
        let (outcome, left) = sending.join().expect("it does not panic");
        assert_eq!((outcome.end, left.len()), (End::Complete, 1), "{nonsense}");
        assert_eq!(outcome.stats.sessions, 1, "{nonsense}");
        assert_eq!(flooding.join().expect("it does not panic"), 200, "{nonsense}: all were closed");
        assert!(outcome.stats.discarded.strangers > 100, "most were refused at once");
        assert_eq!(outcome.stats.discarded.malformed > 0, nonsense);
    }
}

/// Receivers that prove no knowledge of the pre-shared key get neither data nor keys.
#[test]
fn a_receiver_without_the_key_of_the_sender_is_no_member() {
    let net = network(2, plain);
    let sender_host = net.host(source(), ms(0));
    let hosts = [(net.host(member(0), ms(1)), "one"), (net.host(member(1), ms(2)), "another")];
    let with = |handshake, key: &str| Settings {
        credentials: Credentials::shared(key.as_bytes()).expect("a key"),
        ..settings(handshake, Limits::default())
    };
    let server_settings = with(Handshake::Listen, "one");
    let sending =
        send(sender_host, server_settings, 4, &steady("1 Mbit/s"), numbers(200, 1, &Shared::default()));
    let received = [Shared::<Received>::default(), Shared::default()];
    let mut receiving = Vec::new();
    for ((host, key), received) in hosts.into_iter().zip(&received) {
        receiving.push(receive(host, with(Handshake::Connect(source()), key), 200, received));
    }
    let mut ends = receiving.into_iter().map(|thread| thread.join().expect("it does not panic").end);
    assert_eq!(ends.next(), Some(End::Complete));
    let Some(End::Failed(why)) = ends.next() else { panic!("it has another key") };
    assert!(why.contains("pre-shared key"), "{why}");
    assert_eq!(received[1].with(|received| received.right + received.wrong), 0);
    let (outcome, left) = sending.join().expect("it does not panic");
    assert_eq!((outcome.end, left.len(), outcome.stats.sessions), (End::Complete, 1, 1));
    assert!(outcome.stats.discarded.forged > 0);
}

#[test]
fn a_sender_that_connects_is_refused_as_a_mismatch() {
    let net = network(1, plain);
    let sender_host = net.host(source(), ms(0));
    let (host, mut other) = (net.host(member(0), ms(300)), net.host(member(7), ms(1)));
    let server_settings = settings(Handshake::Listen, Limits::default());
    let sending =
        send(sender_host, server_settings, 4, &steady("1 Mbit/s"), numbers(100, 1, &Shared::default()));
    let other = thread::spawn(move || {
        let client_settings = settings(Handshake::Connect(source()), Limits::default());
        let scheme = steady("1 Mbit/s");
        let scheme = quic_net::Scheme { packet: 1428, ..scheme };
        let outgoing = transfer::Outgoing::Paced(numbers(1, 1, &Shared::default()));
        let object =
            quic_net::Object { folders: Vec::new(), outgoing, about: Vec::new(), more: false, omitted: 0 };
        quic_net::send(
            &client_settings,
            &scheme,
            quic_net::objects(vec![object]),
            &mut other,
            &Control::new(),
        )
        .end
    });
    let client_settings = settings(Handshake::Connect(source()), Limits::default());
    let receiving = receive(host, client_settings, 100, &Shared::default());
    assert_eq!(other.join().expect("it does not panic"), End::Refused(Reason::Mismatch));
    assert_eq!(receiving.join().expect("it does not panic").end, End::Complete);
    assert_eq!(sending.join().expect("it does not panic").0.end, End::Complete);
}

/// Packets to a group, until a receiver had 300 of them and no present receiver has fewer.
#[derive(Default)]
struct ToAll {
    received: BTreeMap<EndpointId, u64>,
    whole: bool,
}

impl Payload for ToAll {
    fn fill(&mut self, seq: u64, _now: Time, room: &mut [u8]) -> usize {
        room.chunks_mut(8).for_each(|chunk| chunk.copy_from_slice(&seq.to_be_bytes()[..chunk.len()]));
        room.len()
    }
    fn on_join(&mut self, peer: EndpointId) {
        self.received.insert(peer, 0);
    }
    fn on_leave(&mut self, peer: EndpointId) {
        self.received.remove(&peer);
    }
    fn on_message(&mut self, from: EndpointId, _now: Time, message: &[u8]) {
        let received = message.try_into().map_or(0, u64::from_be_bytes);
        self.whole |= received >= 300;
        self.received.entry(from).and_modify(|before| *before = received.max(*before));
    }
    fn progress_of(&self, peer: EndpointId) -> Option<u64> {
        self.received.get(&peer).copied()
    }
    fn status(&self) -> Status {
        if self.whole && self.received.values().all(|received| *received >= 300) {
            Status::Complete
        } else {
            Status::InProgress
        }
    }
}

/// Receives the group, and reports that it is alive and has nothing.
struct Stuck(Time);

impl Sink for Stuck {
    fn take(&mut self, _seq: u64, _now: Time, _content: &[u8]) {}
    fn write_message(&mut self, now: Time, message: &mut [u8; MAX_MESSAGE_BYTES]) -> usize {
        if now < self.0 {
            return 0;
        }
        self.0 = now + ms(100);
        message[..8].fill(0);
        8
    }
    fn status(&self) -> Status {
        Status::InProgress
    }
}

#[test]
fn a_receiver_that_accepts_nothing_does_not_delay_the_others() {
    let net = network(2, plain);
    let sender_host = net.host(source(), ms(0));
    let limits = Limits { patience: Duration::from_secs(4), ..Limits::default() };
    let receiving = [(net.host(member(0), ms(1)), true), (net.host(member(1), ms(2)), false)];
    let began = net.now();
    let receiving = receiving.map(|(mut host, takes)| {
        thread::spawn(move || {
            let mut accept = |_: &Proposal| {
                Ok(if takes {
                    counter(300, &Shared::default())
                } else {
                    Incoming::Paced(Box::new(Stuck(Time::ZERO)))
                })
            };
            let client_settings = settings(Handshake::Connect(source()), limits);
            quic_net::receive(&client_settings, &mut accept, &mut host, &Control::new()).end
        })
    });
    let server_settings = settings(Handshake::Listen, limits);
    let sending = send(sender_host, server_settings, 8, &steady("1 Mbit/s"), Box::new(ToAll::default()));
    let (outcome, left) = sending.join().expect("it does not panic");
    assert_eq!(outcome.end, End::Complete);
    assert_eq!(left.iter().filter(|left| left.end == End::NoProgress).count(), 1, "{left:?}");
    let ends = receiving.map(|thread| thread.join().expect("no end panics"));
    assert_eq!(ends, [End::Complete, End::Closed(Reason::NoProgress)]);
    assert!(net.now().saturating_since(began) < Duration::from_secs(7));
}

/// A sender announces an address that is not a multicast address.
#[test]
fn an_offer_of_no_group_is_refused_by_the_receiver() {
    let address: SocketAddr = member(3);
    let group = Group { address, max: 1 };
    assert!(!group.address.ip().is_multicast());
    let mut record = Vec::new();
    let key = Signer::new(&[1; 32]).public_key();
    quic_net::frames::Record::Group { address, session: 1, peer: 1, key }.write(&mut record);
    let net = network(1, plain);
    let (mut sender_host, host) = (net.host(source(), ms(0)), net.host(member(0), ms(1)));
    let client_settings = settings(Handshake::Connect(source()), Limits::default());
    let receiving = receive(host, client_settings, 1, &Shared::default());
    let sender = thread::spawn(move || {
        let server_settings = settings(Handshake::Listen, Limits::default());
        let config = quic_net::group_server_config(&server_settings, &mut sender_host);
        let mut host = Host::new(&mut sender_host, Some(config));
        let mut liar = Liar { record, closed: None };
        let until = host.platform.now() + Duration::from_secs(5);
        run_until(&mut host, &mut liar, until, |liar| liar.closed.is_some());
        liar.closed
    });
    let end = receiving.join().expect("it does not panic").end;
    assert!(
        matches!(&end, End::Failed(why) if why.contains("not the address of a multicast group")),
        "{end:?}"
    );
    assert_eq!(sender.join().expect("it does not panic"), Some(Reason::Offer));
}

/// Sends a hello and one record on every control stream.
struct Liar {
    record: Vec<u8>,
    closed: Option<Reason>,
}

impl Protocol for Liar {
    fn on_packet(&mut self, _id: ConnectionHandle, _connection: &mut Connection, _ecn: Ecn, _now: Time) {}
    fn on_event(&mut self, _id: ConnectionHandle, connection: &mut Connection, event: Event, _now: Time) {
        match event {
            Event::Stream(quinn_proto::StreamEvent::Opened { dir: Dir::Bi }) => {
                let stream = connection.streams().accept(Dir::Bi).expect("it was opened");
                let mut records = Vec::new();
                let (version, role) = (quic_net::frames::VERSION, wire::stream::Role::Sender);
                quic_net::frames::Record::Hello { version, role, client_secret: [0; 32] }.write(&mut records);
                records.extend(&self.record);
                connection.send_stream(stream).write(&records).expect("there is room");
            }
            Event::ConnectionLost { reason: quinn_proto::ConnectionError::ApplicationClosed(close) } => {
                self.closed = Some(quic_net::reason(close.error_code.into_inner()));
            }
            _ => {}
        }
    }
}
