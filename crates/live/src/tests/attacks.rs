//! Tests of attacks by other hosts.

use std::collections::BTreeMap;

use contract::{Ecn, Label, Random};
use driver::testing::InFlight;
use driver::{GsoBatch, Platform};
use wire::stream::{Datagram, Frame, HELLO, Hello, KEY, Role, TAG};

use super::*;
use crate::End;
use crate::keys::Key;

fn victim() -> SocketAddr {
    SocketAddr::from(([10, 9, 9, 9], 53))
}

/// A sender's datagrams: departure time and content.
type Seen = Shelf<Vec<(Time, Vec<u8>)>>;

/// Runs CVIHIS over a network in which `strange` adds datagrams to those of the receiver; returns the sender's datagrams, and both
/// outcomes.
fn with_stranger(mut strange: impl FnMut(&InFlight) -> Vec<InFlight> + Send + 'static) -> (Seen, Ended) {
    let seen = Seen::default();
    let seen_too = seen.clone();
    let (a, _) = addresses();
    let net = VirtualNetwork::new(move |passing| {
        let mut arrivals = vec![passing.after(ms(10))];
        if passing.from == a {
            seen_too.open(|seen| seen.push((passing.at, passing.bytes.clone())));
        }
        arrivals.extend(strange(passing));
        arrivals
    });
    let left = numbers(&net, &Scheme::new("cvihis"), 300);
    assert_eq!((&left.sender.end, &left.receiver.end), (&End::Complete, &End::Complete));
    (seen, left)
}

#[test]
fn a_strangers_feedback_does_not_move_a_sender() {
    let (quiet, _) = with_stranger(|_| Vec::new());
    let (a, b) = addresses();
    // the attacker sees every datagram, knows the session, writes from the receiver's address, and has no key
    let (attacked, left) = with_stranger(move |passing| {
        if passing.from != b || passing.bytes[2] < 16 {
            return Vec::new();
        }
        let session = u32::from_be_bytes([4, 5, 6, 7].map(|place| passing.bytes[place]));
        let mut lies = Vec::new();
        for number in 0..5 {
            let label = Label([number, u64::MAX, 0, 1]);
            let frame = Frame::Feedback { sent_at: passing.at, label };
            let mut bytes = Vec::new();
            Datagram { session, number: 1_000_000 + number, frame }.write(&mut bytes);
            Key::opening(&Secret::none()).seal(&mut bytes, 0);
            lies.push(InFlight { to: a, bytes, ..passing.after(ms(5)) });
        }
        // and the receiver's real datagrams, with one frame changed
        let mut changed = passing.after(ms(5));
        changed.bytes[30] ^= 0xFF;
        lies.push(changed);
        lies
    });
    assert!(left.sender.stats.discarded.forged > 100, "{:?}", left.sender.stats.discarded);
    let (quiet, attacked) = (quiet.open(std::mem::take), attacked.open(std::mem::take));
    assert_eq!(quiet.len(), attacked.len());
    assert!(quiet == attacked, "every datagram left at the same instant with the same bytes");
}

#[test]
fn what_was_recorded_cannot_be_replayed() {
    let (quiet, _) = with_stranger(|_| Vec::new());
    let (_, b) = addresses();
    let mut recorded: Vec<InFlight> = Vec::new();
    let (attacked, left) = with_stranger(move |passing| {
        if passing.from != b || passing.bytes[2] < 5 {
            return Vec::new();
        }
        recorded.push(passing.clone());
        // the same at once, and the oldest again
        vec![
            passing.after(ms(11)),
            InFlight { at: passing.at + ms(12), ..recorded[0].clone() },
            InFlight { at: passing.at + ms(12), ..recorded[recorded.len() / 2].clone() },
        ]
    });
    let refused = left.sender.stats.discarded;
    assert!(refused.repeated > 100 && refused.forged == 0, "{refused:?}");
    assert!(quiet.open(std::mem::take) == attacked.open(std::mem::take));
}

#[test]
fn what_one_end_says_is_not_taken_from_the_other() {
    let (a, b) = addresses();
    let (_, left) = with_stranger(move |passing| {
        if passing.from != a {
            return Vec::new();
        }
        // back to the sender, from the receiver's address
        vec![InFlight { from: b, to: a, ..passing.after(ms(3)) }]
    });
    assert!(left.sender.stats.discarded.forged > 100);
}

#[test]
fn a_session_is_bound_to_the_address_that_was_proved() {
    let (_, b) = addresses();
    let (_, left) = with_stranger(move |passing| {
        if passing.from != b { Vec::new() } else { vec![InFlight { from: victim(), ..passing.after(ms(3)) }] }
    });
    assert!(left.sender.stats.discarded.strangers > 100);
}

/// A host that even knows the secret, and sends a hello from another host's address.
#[test]
fn nobody_is_sent_more_than_was_sent_from_its_address() {
    let (a, b) = addresses();
    let sums = Shelf::<BTreeMap<SocketAddr, i64>>::default();
    let sums_too = sums.clone();
    let net = VirtualNetwork::new(move |passing| {
        if passing.from == a {
            sums_too.open(|sums| *sums.entry(passing.to).or_default() -= passing.bytes.len() as i64);
        }
        if passing.to == victim() { Vec::new() } else { vec![passing.after(ms(10))] }
    });
    let places = (net.host(a, ms(0)), net.host(b, ms(1000)));
    let mut random = Random::new(3, "attack", "");
    let start = net.now();
    for n in 0..400u64 {
        let mut public = [0; KEY];
        public.iter_mut().for_each(|byte| *byte = random.bits() as u8);
        // invented tokens
        let mut token = [n as u8; 24];
        token[..8].copy_from_slice(&start.as_nanos().to_be_bytes());
        let hello = Hello {
            role: Role::Receiver,
            public,
            caller: [n as u8; KEY],
            token: n.is_multiple_of(2).then_some(token),
            offer: None,
        };
        let mut bytes = Vec::new();
        Datagram { session: n as u32, number: 0, frame: Frame::Hello(Box::new(hello)) }.write(&mut bytes);
        Key::opening(&Secret::new("of the tests")).seal(&mut bytes, 0);
        assert_eq!(bytes.len(), HELLO);
        // a third are truncated, a third are damaged
        match n % 3 {
            0 => {}
            1 => bytes.truncate(HEADING_AND_TAG + random.below(100) as usize),
            _ => bytes[random.below(150) as usize] ^= 0x10,
        }
        sums.open(|sums| *sums.entry(victim()).or_default() += bytes.len() as i64);
        net.inject(InFlight { at: start + ms(n), from: victim(), to: a, ecn: Ecn::NotCapable, bytes });
    }
    let ends = (settings(Handshake::Listen), settings(Handshake::Connect(a)));
    let left = numbers_between(places, &steady("8 Mbit/s"), 100, ends, Controls::default());
    assert_eq!((left.sender.end, left.receiver.end), (End::Complete, End::Complete));
    sums.open(|sums| {
        assert!(sums[&victim()] > 0, "{sums:?}");
        assert!(sums[&b] < 0, "the real receiver was sent data: {sums:?}");
    });
}

const HEADING_AND_TAG: usize = wire::stream::HEADING + TAG;

/// A hello with a valid token, recorded and replayed from the same address, opens no session.
#[test]
fn a_hello_opens_one_session() {
    let (a, b) = addresses();
    let mut hellos: Vec<InFlight> = Vec::new();
    let net = VirtualNetwork::new(move |passing| {
        let mut arrivals = vec![passing.after(ms(10))];
        if passing.from == b && passing.bytes[2] == 1 {
            hellos.push(passing.clone());
        }
        if passing.from == b && passing.bytes[2] == 8 {
            arrivals.extend(hellos.iter().map(|hello| InFlight { at: passing.at, ..hello.clone() }));
        }
        arrivals
    });
    let places = (net.host(a, ms(0)), net.host(b, ms(10)));
    let ends = (settings(Handshake::Listen), settings(Handshake::Connect(a)));
    let left = numbers_between(places, &steady("800 kbit/s"), 200, ends, Controls::default());
    assert_eq!((&left.sender.end, &left.receiver.end), (&End::Complete, &End::Complete));
    assert_eq!((left.sender.stats.sessions, left.told.open(|told| told.joins)), (1, 1));
}

/// With any datagrams at either end, both continue and end properly.
#[test]
fn garbage_is_counted_and_nothing_else() {
    let (a, b) = addresses();
    let mut random = Random::new(5, "garbage", "");
    let net = VirtualNetwork::new(move |passing| {
        let mut arrivals = vec![passing.after(ms(10))];
        for to in [a, b] {
            let from = if to == a { b } else { a };
            let mut bytes = if random.chance(0.5) { passing.bytes.clone() } else { Vec::new() };
            bytes.resize(random.below(1500) as usize, 0);
            for _ in 0..1 + random.below(40) {
                let place = random.below(bytes.len().max(1) as u64) as usize;
                if let Some(byte) = bytes.get_mut(place) {
                    *byte = random.bits() as u8;
                }
            }
            if random.chance(0.5) && bytes.len() > 4 {
                bytes[..3].copy_from_slice(&[b'T', wire::stream::VERSION, random.below(24) as u8]);
            }
            arrivals.push(InFlight { from, to, bytes, ..passing.after(ms(7)) });
        }
        arrivals
    });
    let left = numbers(&net, &steady("8 Mbit/s"), 2000);
    assert_eq!((&left.sender.end, &left.receiver.end), (&End::Complete, &End::Complete));
    for outcome in [&left.sender, &left.receiver] {
        let refused = &outcome.stats.discarded;
        assert!(refused.total() > 1500 && refused.malformed > 0 && refused.strangers > 0, "{refused:?}");
    }
    left.had.open(|had| assert_eq!(had.wrong, 0));
}

/// The tests' attacker is accepted if it has the key, so that the tests above could fail.
#[test]
fn who_has_the_secret_is_believed() {
    let net = VirtualNetwork::plain(ms(1));
    let (a, b) = addresses();
    let (mut here, mut there) = (net.host(a, ms(0)), net.host(b, ms(5)));
    let listening = thread::spawn(move || {
        let mut accept = |_: &wire::stream::Offer| Err("nothing is wanted".to_owned());
        let limits = crate::Limits { waits: ms(500), ..crate::Limits::default() };
        receive(&Settings { limits, ..settings(Handshake::Listen) }, &mut accept, &mut here, &Control::new())
    });
    let calling = thread::spawn(move || {
        let hello =
            Hello { role: Role::Sender, public: [1; KEY], caller: [1; KEY], token: None, offer: None };
        let mut bytes = Vec::new();
        Datagram { session: 77, number: 0, frame: Frame::Hello(Box::new(hello)) }.write(&mut bytes);
        Key::opening(&Secret::new("of the tests")).seal(&mut bytes, 0);
        there.send(&GsoBatch { to: a, ecn: Ecn::NotCapable, bytes: &bytes, segment_size: bytes.len() });
        let mut batch = driver::Batch::new(1 << 16);
        let until = there.now() + ms(100);
        while !there.receive(&mut batch) && there.now() < until {
            there.wait(until);
        }
        batch.iter().map(|(_, _, bytes)| bytes[2]).collect::<Vec<u8>>()
    });
    assert_eq!(calling.join().expect("no panic"), [2], "a challenge");
    assert_eq!(listening.join().expect("no panic").stats.discarded.total(), 0);
}
