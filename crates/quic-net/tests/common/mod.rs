//! A sender and receivers of a group in threads, over a network with a simulated clock.
#![allow(dead_code, reason = "each test uses a part")]

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use contract::EndpointId;
use driver::Platform;
use driver::testing::{InFlight, VirtualHost, VirtualNetwork};
use quic_net::group::{self, Group, ReceiverOutcome};
use quic_net::testing::ms;
use quic_net::{Control, Credentials, Handshake, Limits, Outcome, Proposal, Scheme, Settings};
use transfer::{Incoming, MAX_MESSAGE_BYTES, Payload, Sink, Status};
use units::{Duration, Time};

/// State that the threads of senders and receivers share with a test.
#[derive(Default)]
pub struct Shared<T>(Arc<Mutex<T>>);

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T> Shared<T> {
    pub fn with<R>(&self, act: impl FnOnce(&mut T) -> R) -> R {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Packets with their number as content, until this many receivers have reported `wanted` of them.
pub struct Numbers {
    pub wanted: u64,
    pub expected: usize,
    pub whole: BTreeSet<EndpointId>,
    pub payload_log: Shared<PayloadLog>,
}

/// Calls of a payload.
#[derive(Default)]
pub struct PayloadLog {
    pub filled: u64,
    pub joins: u32,
    pub leaves: u32,
}

pub fn numbers(wanted: u64, expected: usize, payload_log: &Shared<PayloadLog>) -> Box<dyn Payload> {
    Box::new(Numbers { wanted, expected, whole: BTreeSet::new(), payload_log: payload_log.clone() })
}

impl Payload for Numbers {
    fn fill(&mut self, seq: u64, _now: Time, room: &mut [u8]) -> usize {
        self.payload_log.with(|payload_log| payload_log.filled += 1);
        room.chunks_mut(8).for_each(|chunk| chunk.copy_from_slice(&seq.to_be_bytes()[..chunk.len()]));
        room.len()
    }
    fn on_join(&mut self, _peer: EndpointId) {
        self.payload_log.with(|payload_log| payload_log.joins += 1);
    }
    fn on_leave(&mut self, _peer: EndpointId) {
        self.payload_log.with(|payload_log| payload_log.leaves += 1);
    }
    fn on_message(&mut self, from: EndpointId, _now: Time, message: &[u8]) {
        if message.try_into().map_or(0, u64::from_be_bytes) >= self.wanted {
            self.whole.insert(from);
        }
    }
    fn status(&self) -> Status {
        if self.whole.len() >= self.expected { Status::Complete } else { Status::InProgress }
    }
}

/// Counts packets with correct content, and reports their number from time to time.
pub struct Counter {
    pub wanted: u64,
    pub received: Shared<Received>,
    pub speak_at: Time,
}

/// What a receiver received.
#[derive(Default)]
pub struct Received {
    pub right: u64,
    pub wrong: u64,
    pub ended: u32,
    /// When the last packet arrived.
    pub last: Time,
}

pub fn counter(wanted: u64, received: &Shared<Received>) -> Incoming {
    Incoming::Paced(Box::new(Counter { wanted, received: received.clone(), speak_at: Time::ZERO }))
}

impl Sink for Counter {
    fn take(&mut self, seq: u64, now: Time, content: &[u8]) {
        let right = content.chunks(8).all(|chunk| chunk == &seq.to_be_bytes()[..chunk.len()]);
        let right = right && !content.is_empty();
        self.received.with(|received| {
            *(if right { &mut received.right } else { &mut received.wrong }) += 1;
            received.last = now;
        });
    }
    fn write_message(&mut self, now: Time, message: &mut [u8; MAX_MESSAGE_BYTES]) -> usize {
        if now < self.speak_at {
            return 0;
        }
        self.speak_at = now + ms(100);
        message[..8].copy_from_slice(&self.received.with(|received| received.right).to_be_bytes());
        8
    }
    fn wake(&self) -> Time {
        self.speak_at
    }
    fn on_end(&mut self, _now: Time) {
        self.received.with(|received| received.ended += 1);
    }
    fn progress(&self) -> Option<u64> {
        Some(self.received.with(|received| received.right))
    }
    fn status(&self) -> Status {
        if self.received.with(|received| received.right) >= self.wanted {
            Status::Complete
        } else {
            Status::InProgress
        }
    }
}

pub fn group() -> SocketAddr {
    SocketAddr::from(([239, 1, 2, 3], 5000))
}

/// The address of the sender.
pub fn source() -> SocketAddr {
    SocketAddr::from(([10, 0, 0, 1], 7))
}

pub fn member(n: u8) -> SocketAddr {
    SocketAddr::from(([10, 0, 1, n], 9))
}

/// A scheme with a constant rate.
pub fn steady(rate: &str) -> Scheme {
    let params = ["initial_rate", "min_rate", "max_rate"].map(|name| (name.to_owned(), rate.into()));
    Scheme { params: params.to_vec(), ..of("mca") }
}

/// A scheme with packets of 1028 bytes.
pub fn of(name: &str) -> Scheme {
    Scheme { packet: 1028, ..Scheme::new(name) }
}

pub fn settings(handshake: Handshake, limits: Limits) -> Settings {
    let credentials = Credentials::insecure([1; 32]);
    Settings { handshake, credentials, limits, client_secret: None, logs: None }
}

/// Whether a datagram to the group has content.
pub fn is_data(bytes: &[u8]) -> bool {
    bytes.len() > group::OVERHEAD as usize
}

/// A network that copies datagrams to the group for each of `members`, 10 ms away, and passes every datagram that would
/// arrive through `impair`, with whether it was sent to the group.
pub fn network(
    members: u8,
    mut impair: impl FnMut(InFlight, bool) -> Vec<InFlight> + Send + 'static,
) -> VirtualNetwork {
    VirtualNetwork::new(move |in_flight| {
        if in_flight.to == group() {
            let copies = (0..members).map(|n| InFlight { to: member(n), ..in_flight.after(ms(10)) });
            return copies.flat_map(|copy| impair(copy, true)).collect();
        }
        impair(in_flight.after(ms(10)), false)
    })
}

/// A sender to the group.
pub fn send<P: Platform + Send + 'static>(
    mut sender_host: P,
    settings: Settings,
    max: usize,
    scheme: &Scheme,
    payload: Box<dyn Payload>,
) -> JoinHandle<(Outcome, Vec<ReceiverOutcome>)> {
    let (group, scheme) = (Group { address: group(), max }, scheme.clone());
    let about = b"numbers".to_vec();
    thread::spawn(move || {
        group::send(&settings, &group, &scheme, payload, about, &mut sender_host, &Control::new())
    })
}

/// A receiver of numbers.
pub fn receive<P: Platform + Send + 'static>(
    mut host: P,
    settings: Settings,
    wanted: u64,
    received: &Shared<Received>,
) -> JoinHandle<Outcome> {
    let received = received.clone();
    thread::spawn(move || {
        let mut accept = |proposal: &Proposal| {
            assert_eq!(proposal.offer.about, b"numbers");
            Ok(counter(wanted, &received))
        };
        quic_net::receive(&settings, &mut accept, &mut host, &Control::new())
    })
}

/// Results of the sender and all receivers.
pub struct All {
    pub sender: Outcome,
    pub left: Vec<ReceiverOutcome>,
    /// Of those that were not killed.
    pub receivers: Vec<Outcome>,
    pub received: Vec<Shared<Received>>,
    pub payload_log: Shared<PayloadLog>,
}

/// Sends numbers to `members` receivers until `expected` of them have `wanted`.
pub fn gather(
    members: u8,
    scheme: &Scheme,
    wanted: u64,
    limits: Limits,
    impair: impl FnMut(InFlight, bool) -> Vec<InFlight> + Send + 'static,
    deaths: &[(u8, Duration)],
    expected: usize,
) -> All {
    let net = network(members, impair);
    let sender_host = net.host(source(), ms(0));
    let hosts: Vec<VirtualHost> = (0..members)
        .map(|n| {
            let host = net.host(member(n), ms(1 + u64::from(n)));
            match deaths.iter().find(|(who, _)| *who == n) {
                Some((_, at)) => host.killed_after(*at),
                None => host,
            }
        })
        .collect();
    let payload_log = Shared::<PayloadLog>::default();
    let received: Vec<Shared<Received>> = hosts.iter().map(|_| Shared::default()).collect();
    let payload = numbers(wanted, expected, &payload_log);
    let sending = send(sender_host, settings(Handshake::Listen, limits), 64, scheme, payload);
    let client_settings = || settings(Handshake::Connect(source()), limits);
    let receiving: Vec<_> = hosts
        .into_iter()
        .zip(&received)
        .map(|(host, received)| receive(host, client_settings(), wanted, received))
        .collect();
    let receivers: Vec<_> = receiving.into_iter().map(JoinHandle::join).collect();
    let (sender, left) = sending.join().expect("the sender does not panic");
    All { sender, left, receivers: receivers.into_iter().flatten().collect(), received, payload_log }
}

/// A network that changes nothing.
pub fn plain(in_flight: InFlight, _group: bool) -> Vec<InFlight> {
    vec![in_flight]
}
