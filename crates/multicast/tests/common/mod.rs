//! A sender and receivers of a group in threads, over a network with a simulated clock.
#![allow(dead_code, reason = "each test uses a part")]

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use contract::EndpointId;
use driver::Platform;
use driver::testing::{InFlight, VirtualHost, VirtualNetwork};
use multicast::{Group, ReceiverOutcome};
use quic_net::{Control, Credentials, Handshake, Limits, Outcome, Proposal, Scheme, Settings};
use transfer::{Incoming, MAX_MESSAGE_BYTES, Payload, Sink, Status};
use units::{Duration, Time};

/// State that ends in threads share with a test.
#[derive(Default)]
pub struct Shelf<T>(Arc<Mutex<T>>);

impl<T> Clone for Shelf<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T> Shelf<T> {
    pub fn open<R>(&self, act: impl FnOnce(&mut T) -> R) -> R {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Packets with their number as content, until this many receivers have reported `wanted` of them.
pub struct Numbers {
    pub wanted: u64,
    pub expected: usize,
    pub whole: BTreeSet<EndpointId>,
    pub told: Shelf<Told>,
}

/// What a payload was told.
#[derive(Default)]
pub struct Told {
    pub filled: u64,
    pub joins: u32,
    pub leaves: u32,
}

pub fn numbers(wanted: u64, expected: usize, told: &Shelf<Told>) -> Box<dyn Payload> {
    Box::new(Numbers { wanted, expected, whole: BTreeSet::new(), told: told.clone() })
}

impl Payload for Numbers {
    fn fill(&mut self, seq: u64, _now: Time, room: &mut [u8]) -> usize {
        self.told.open(|told| told.filled += 1);
        room.chunks_mut(8).for_each(|chunk| chunk.copy_from_slice(&seq.to_be_bytes()[..chunk.len()]));
        room.len()
    }
    fn on_join(&mut self, _peer: EndpointId) {
        self.told.open(|told| told.joins += 1);
    }
    fn on_leave(&mut self, _peer: EndpointId) {
        self.told.open(|told| told.leaves += 1);
    }
    fn on_message(&mut self, from: EndpointId, _now: Time, message: &[u8]) {
        if message.try_into().map_or(0, u64::from_be_bytes) >= self.wanted {
            self.whole.insert(from);
        }
    }
    fn status(&self) -> Status {
        if self.whole.len() >= self.expected { Status::Whole } else { Status::Going }
    }
}

/// Counts packets with correct content, and reports their number from time to time.
pub struct Counter {
    pub wanted: u64,
    pub had: Shelf<Had>,
    pub speak_at: Time,
}

/// What a receiver had.
#[derive(Default)]
pub struct Had {
    pub right: u64,
    pub wrong: u64,
    pub ended: u32,
    /// When the last packet arrived.
    pub last: Time,
}

pub fn counter(wanted: u64, had: &Shelf<Had>) -> Incoming {
    Incoming::Paced(Box::new(Counter { wanted, had: had.clone(), speak_at: Time::ZERO }))
}

impl Sink for Counter {
    fn take(&mut self, seq: u64, now: Time, content: &[u8]) {
        let right = content.chunks(8).all(|chunk| chunk == &seq.to_be_bytes()[..chunk.len()]);
        let right = right && !content.is_empty();
        self.had.open(|had| {
            *(if right { &mut had.right } else { &mut had.wrong }) += 1;
            had.last = now;
        });
    }
    fn speak(&mut self, now: Time, message: &mut [u8; MAX_MESSAGE_BYTES]) -> usize {
        if now < self.speak_at {
            return 0;
        }
        self.speak_at = now + ms(100);
        message[..8].copy_from_slice(&self.had.open(|had| had.right).to_be_bytes());
        8
    }
    fn wake(&self) -> Time {
        self.speak_at
    }
    fn on_end(&mut self, _now: Time) {
        self.had.open(|had| had.ended += 1);
    }
    fn moved(&self) -> Option<u64> {
        Some(self.had.open(|had| had.right))
    }
    fn status(&self) -> Status {
        if self.had.open(|had| had.right) >= self.wanted { Status::Whole } else { Status::Going }
    }
}

pub fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
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
    Settings { handshake, credentials: Credentials::insecure([1; 32]), limits, caller: None }
}

/// Whether a datagram to the group has content.
pub fn is_data(bytes: &[u8]) -> bool {
    bytes.len() > quic_net::group::AROUND as usize
}

/// A network that copies datagrams to the group for each of `members`, 10 ms away, and applies `law` to every datagram that would arrive, which is told
/// whether it was sent to the group.
pub fn network(
    members: u8,
    mut law: impl FnMut(InFlight, bool) -> Vec<InFlight> + Send + 'static,
) -> VirtualNetwork {
    VirtualNetwork::new(move |passing| {
        if passing.to == group() {
            let copies = (0..members).map(|n| InFlight { to: member(n), ..passing.after(ms(10)) });
            return copies.flat_map(|copy| law(copy, true)).collect();
        }
        law(passing.after(ms(10)), false)
    })
}

/// A sender to the group.
pub fn send<P: Platform + Send + 'static>(
    mut here: P,
    settings: Settings,
    max: usize,
    scheme: &Scheme,
    payload: Box<dyn Payload>,
) -> JoinHandle<(Outcome, Vec<ReceiverOutcome>)> {
    let (group, scheme) = (Group { address: group(), max }, scheme.clone());
    let about = b"numbers".to_vec();
    thread::spawn(move || {
        multicast::send(&settings, &group, &scheme, payload, about, &mut here, &Control::new())
    })
}

/// A receiver of numbers.
pub fn receive<P: Platform + Send + 'static>(
    mut place: P,
    settings: Settings,
    wanted: u64,
    had: &Shelf<Had>,
) -> JoinHandle<Outcome> {
    let had = had.clone();
    thread::spawn(move || {
        let mut accept = |proposal: &Proposal| {
            assert_eq!(proposal.offer.about, b"numbers");
            Ok(counter(wanted, &had))
        };
        quic_net::receive(&settings, &mut accept, &mut place, &Control::new())
    })
}

/// Results of all ends.
pub struct All {
    pub sender: Outcome,
    pub left: Vec<ReceiverOutcome>,
    /// Of those that were not killed.
    pub receivers: Vec<Outcome>,
    pub had: Vec<Shelf<Had>>,
    pub told: Shelf<Told>,
}

/// Sends numbers to `members` receivers until `expected` of them have `wanted`.
pub fn gather(
    members: u8,
    scheme: &Scheme,
    wanted: u64,
    limits: Limits,
    law: impl FnMut(InFlight, bool) -> Vec<InFlight> + Send + 'static,
    deaths: &[(u8, Duration)],
    expected: usize,
) -> All {
    let net = network(members, law);
    let here = net.host(source(), ms(0));
    let places: Vec<VirtualHost> = (0..members)
        .map(|n| {
            let place = net.host(member(n), ms(1 + u64::from(n)));
            match deaths.iter().find(|(who, _)| *who == n) {
                Some((_, at)) => place.dying(*at),
                None => place,
            }
        })
        .collect();
    let told = Shelf::<Told>::default();
    let had: Vec<Shelf<Had>> = places.iter().map(|_| Shelf::default()).collect();
    let payload = numbers(wanted, expected, &told);
    let sending = send(here, settings(Handshake::Listen, limits), 64, scheme, payload);
    let calls = || settings(Handshake::Connect(source()), limits);
    let receiving: Vec<_> =
        places.into_iter().zip(&had).map(|(place, had)| receive(place, calls(), wanted, had)).collect();
    let receivers: Vec<_> = receiving.into_iter().map(JoinHandle::join).collect();
    let (sender, left) = sending.join().expect("the sender does not panic");
    All { sender, left, receivers: receivers.into_iter().flatten().collect(), had, told }
}

/// A network that changes nothing.
pub fn plain(passing: InFlight, _group: bool) -> Vec<InFlight> {
    vec![passing]
}
