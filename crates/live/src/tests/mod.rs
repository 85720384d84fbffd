//! Tests of sessions over a simulated network.

mod attacks;
mod captures;
mod flows;
mod groups;
mod handshakes;
mod observers;
mod patience;
mod streams;

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use contract::EndpointId;
use driver::Platform;
use driver::testing::{VirtualHost, VirtualNetwork};
use transfer::{ByteSink, ByteSource, Incoming, MAX_MESSAGE_BYTES, Outgoing, Payload, Sink, Status};
use units::{Duration, Time};

use crate::{Control, Handshake, Outcome, Scheme, Secret, Settings, receive, send};

/// State that ends in threads share with a test.
#[derive(Default)]
struct Shelf<T>(Arc<Mutex<T>>);

impl<T> Clone for Shelf<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T> Shelf<T> {
    fn open<R>(&self, act: impl FnOnce(&mut T) -> R) -> R {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Packets with their number as content, until the receiver has reported `wanted` of them.
struct Numbers {
    wanted: u64,
    done: bool,
    /// Numbers of filled packets, joins, leaves, messages.
    told: Shelf<Told>,
}

#[derive(Default)]
struct Told {
    filled: u64,
    joins: u32,
    leaves: u32,
    words: u64,
    had: u64,
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
    fn on_message(&mut self, _from: EndpointId, _now: Time, frame: &[u8]) {
        let had = frame.try_into().map_or(0, u64::from_be_bytes);
        self.done |= had >= self.wanted;
        self.told.open(|told| {
            told.words += 1;
            told.had = told.had.max(had);
        });
    }
    fn status(&self) -> Status {
        if self.done { Status::Whole } else { Status::Going }
    }
}

/// Counts packets with correct content, and reports their number from time to time.
struct Counter {
    wanted: u64,
    had: Shelf<Had>,
    speak_at: Time,
}

#[derive(Default)]
struct Had {
    right: u64,
    wrong: u64,
    ended: u32,
    /// Arrival times.
    times: Vec<Time>,
}

impl Sink for Counter {
    fn take(&mut self, seq: u64, now: Time, content: &[u8]) {
        let right = content.chunks(8).all(|chunk| chunk == &seq.to_be_bytes()[..chunk.len()]);
        let right = right && !content.is_empty();
        self.had.open(|had| {
            *(if right { &mut had.right } else { &mut had.wrong }) += 1;
            had.times.push(now);
        });
    }
    fn speak(&mut self, now: Time, frame: &mut [u8; MAX_MESSAGE_BYTES]) -> usize {
        if now < self.speak_at {
            return 0;
        }
        self.speak_at = now + Duration::from_millis(100);
        frame[..8].copy_from_slice(&self.had.open(|had| had.right).to_be_bytes());
        8
    }
    fn wake(&self) -> Time {
        self.speak_at
    }
    fn on_end(&mut self, _now: Time) {
        self.had.open(|had| had.ended += 1);
    }
    fn status(&self) -> Status {
        if self.had.open(|had| had.right) >= self.wanted { Status::Whole } else { Status::Going }
    }
}

/// The byte at an offset of every test's stream.
fn byte(offset: u64) -> u8 {
    (offset ^ offset >> 8 ^ offset >> 16) as u8
}

/// A stream of this many bytes, of which `rate` more are available each millisecond.
struct Stream {
    length: u64,
    began: Time,
    rate: u64,
    acknowledged: u64,
    /// Reads of bytes that were not available or already released.
    wrong: Shelf<u64>,
    ready: u64,
}

impl Stream {
    fn new(length: u64, rate: u64) -> (Self, Shelf<u64>) {
        let wrong = Shelf::default();
        let stream =
            Self { length, began: Time::NEVER, rate, acknowledged: 0, wrong: wrong.clone(), ready: 0 };
        (stream, wrong)
    }
}

impl ByteSource for Stream {
    fn ready(&mut self, now: Time) -> u64 {
        self.began = self.began.min(now);
        let millis = now.saturating_since(self.began).as_nanos() / 1_000_000;
        self.ready = self.rate.saturating_mul(millis + 1).min(self.length);
        self.ready
    }
    fn end(&self) -> Option<u64> {
        (self.ready == self.length).then_some(self.length)
    }
    fn read(&mut self, offset: u64, room: &mut [u8]) {
        if offset < self.acknowledged || offset + room.len() as u64 > self.ready {
            self.wrong.open(|wrong| *wrong += 1);
        }
        room.iter_mut().zip(offset..).for_each(|(place, at)| *place = byte(at));
    }
    fn on_acknowledged(&mut self, offset: u64) {
        self.acknowledged = offset;
    }
    fn on_join(&mut self, _peer: EndpointId) {
        self.acknowledged = 0;
    }
    fn on_message(&mut self, _from: EndpointId, _now: Time, _word: &[u8]) {}
    fn status(&self) -> Status {
        if self.acknowledged == self.length { Status::Whole } else { Status::Going }
    }
}

/// Stores a byte stream of known length.
struct Keep {
    length: u64,
    kept: Shelf<Kept>,
}

#[derive(Default)]
struct Kept {
    contiguous: u64,
    wrong: u64,
    /// End of the received bytes.
    max: u64,
}

impl ByteSink for Keep {
    fn write(&mut self, offset: u64, bytes: &[u8]) -> bool {
        let wrong = bytes.iter().zip(offset..).filter(|(have, at)| **have != byte(*at)).count();
        self.kept.open(|kept| {
            kept.wrong += wrong as u64;
            kept.max = kept.max.max(offset + bytes.len() as u64);
        });
        true
    }
    fn on_contiguous(&mut self, offset: u64, _now: Time) {
        self.kept.open(|kept| kept.contiguous = kept.contiguous.max(offset));
    }
    fn speak(&mut self, _now: Time, _word: &mut [u8; MAX_MESSAGE_BYTES]) -> usize {
        0
    }
    fn status(&self) -> Status {
        let whole = self.kept.open(|kept| kept.contiguous) >= self.length;
        if whole { Status::Whole } else { Status::Going }
    }
}

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// The sender's and the receiver's address.
fn addresses() -> (SocketAddr, SocketAddr) {
    (SocketAddr::from(([10, 0, 0, 1], 7)), SocketAddr::from(([10, 0, 0, 2], 9)))
}

fn settings(handshake: Handshake) -> Settings {
    Settings {
        handshake,
        secret: Secret::new("of the tests"),
        limits: crate::Limits::default(),
        caller: None,
    }
}

/// A stream with a constant rate.
fn steady(rate: &str) -> Scheme {
    let params = ["initial_rate", "min_rate", "max_rate"].map(|name| (name.to_owned(), rate.into()));
    Scheme { params: params.to_vec(), packet: 1028, ..Scheme::new("mca") }
}

/// Results of both ends of a flow of numbered packets.
struct Ended {
    sender: Outcome,
    receiver: Outcome,
    told: Shelf<Told>,
    had: Shelf<Had>,
}

/// Sends numbered packets until the receiver has `wanted`. The receiver listens.
fn numbers(net: &VirtualNetwork, scheme: &Scheme, wanted: u64) -> Ended {
    let (a, b) = addresses();
    let places = (net.host(a, ms(1)), net.host(b, ms(0)));
    numbers_between(
        places,
        scheme,
        wanted,
        (settings(Handshake::Connect(b)), settings(Handshake::Listen)),
        Controls::default(),
    )
}

/// State of both ends that other threads could read.
#[derive(Clone, Default)]
struct Controls {
    sender: Arc<Control>,
    receiver: Arc<Control>,
}

fn numbers_between<O: Platform + Send + 'static>(
    (here, there): (O, O),
    scheme: &Scheme,
    wanted: u64,
    (sends, receives): (Settings, Settings),
    controls: Controls,
) -> Ended {
    let (told, had) = (Shelf::<Told>::default(), Shelf::<Had>::default());
    let (scheme, told_too, had_too) = (scheme.clone(), told.clone(), had.clone());
    let Controls { sender, receiver } = controls;
    let sending = thread::spawn(move || {
        let mut here = here;
        let payload = Numbers { wanted, done: false, told: told_too };
        send(&sends, &scheme, Outgoing::Paced(Box::new(payload)), b"numbers".to_vec(), &mut here, &sender)
    });
    let receiving = thread::spawn(move || {
        let mut there = there;
        let mut accept = |offer: &wire::stream::Offer| {
            assert_eq!(offer.about, b"numbers");
            let sink = Counter { wanted, had: had_too.clone(), speak_at: Time::ZERO };
            Ok(Incoming::Paced(Box::new(sink)))
        };
        receive(&receives, &mut accept, &mut there, &receiver)
    });
    let sender = sending.join().expect("the sender does not panic");
    let receiver = receiving.join().expect("the receiver does not panic");
    Ended { sender, receiver, told, had }
}

/// Sends a stream of bytes. The sender listens. Returns the results of the sender and of the receiver, the stored bytes, and the invalid
/// reads.
fn bytes(
    net: &VirtualNetwork,
    scheme: &Scheme,
    length: u64,
    rate: u64,
) -> (Outcome, Outcome, Shelf<Kept>, u64) {
    let (a, b) = addresses();
    let (mut here, mut there) = (net.host(a, ms(0)), net.host(b, ms(1)));
    let (stream, wrong) = Stream::new(length, rate);
    let (scheme, kept) = (scheme.clone(), Shelf::<Kept>::default());
    let sending = thread::spawn(move || {
        let cargo = Outgoing::Windowed(Box::new(stream));
        send(&settings(Handshake::Listen), &scheme, cargo, Vec::new(), &mut here, &Control::new())
    });
    let kept_too = kept.clone();
    let receiving = thread::spawn(move || {
        let mut accept = |_: &wire::stream::Offer| {
            Ok(Incoming::Windowed(Box::new(Keep { length, kept: kept_too.clone() })))
        };
        receive(&settings(Handshake::Connect(a)), &mut accept, &mut there, &Control::new())
    });
    let sender = sending.join().expect("the sender does not panic");
    let receiver = receiving.join().expect("the receiver does not panic");
    let wrong = wrong.open(|wrong| *wrong);
    (sender, receiver, kept, wrong)
}
