//! Real sockets, over the loopback interface: properties that tests with a simulated clock cannot show.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::thread;

use contract::{Ecn, EndpointId, ParamValue};
use driver::{Batch, GsoBatch, Platform, SendOutcome, Udp};
use live::{Control, End, Handshake, Outcome, Scheme, Secret, Settings};
use transfer::{ByteSink, ByteSource, Incoming, MAX_MESSAGE_BYTES, Outgoing, Payload, Sink, Status};
use units::{Duration, Time};

/// A socket at the loopback address; none if the system has no such address.
fn bind(ip: std::net::IpAddr) -> Option<Udp> {
    match Udp::bind(SocketAddr::new(ip, 0)) {
        Ok(socket) => Some(socket),
        Err(error) if ip.is_ipv6() => {
            eprintln!("IPv6 was left out: {error}");
            None
        }
        Err(error) => panic!("a socket at {ip}: {error}"),
    }
}

fn settings(handshake: Handshake) -> Settings {
    Settings { handshake, secret: Secret::new("of the tests"), limits: live::Limits::default(), caller: None }
}

/// A flow from a sender that calls to a receiver that listens at `ip`.
fn flow(
    ip: std::net::IpAddr,
    scheme: Scheme,
    cargo: impl FnOnce() -> Outgoing + Send + 'static,
    store: impl FnOnce() -> Incoming + Send + 'static,
) -> Option<(Outcome, Outcome)> {
    let mut there = bind(ip)?;
    let address = there.address().expect("it is bound");
    let receiving = thread::spawn(move || {
        let mut store = Some(store);
        let mut accept = |_: &wire::stream::Offer| Ok(store.take().expect("it is asked once")());
        live::receive(&settings(Handshake::Listen), &mut accept, &mut there, &Control::new())
    });
    let mut here = Udp::for_calling(address).expect("a socket");
    let outcome = live::send(
        &settings(Handshake::Connect(address)),
        &scheme,
        cargo(),
        Vec::new(),
        &mut here,
        &Control::new(),
    );
    Some((outcome, receiving.join().expect("the receiver does not panic")))
}

/// Numbered packets, until the receiver reports that it has enough.
struct Numbers(bool);

impl Payload for Numbers {
    fn fill(&mut self, seq: u64, _now: Time, room: &mut [u8]) -> usize {
        room[..8].copy_from_slice(&seq.to_be_bytes());
        8
    }
    fn on_message(&mut self, _from: EndpointId, _now: Time, word: &[u8]) {
        self.0 |= word == b"enough";
    }
    fn status(&self) -> Status {
        if self.0 { Status::Whole } else { Status::Going }
    }
}

/// Wants this number.
struct Wants(u64);

impl Sink for Wants {
    fn take(&mut self, seq: u64, _now: Time, content: &[u8]) {
        assert_eq!(content, seq.to_be_bytes());
        self.0 = self.0.saturating_sub(1);
    }
    fn speak(&mut self, _now: Time, word: &mut [u8; MAX_MESSAGE_BYTES]) -> usize {
        word[..6].copy_from_slice(b"enough");
        if self.0 == 0 { 6 } else { 0 }
    }
    fn status(&self) -> Status {
        if self.0 == 0 { Status::Whole } else { Status::Going }
    }
}

/// A stream of the given number of bytes, with the number of acknowledged ones.
struct Stream(u64, u64);

impl ByteSource for Stream {
    fn ready(&mut self, _now: Time) -> u64 {
        self.0
    }
    fn end(&self) -> Option<u64> {
        Some(self.0)
    }
    fn read(&mut self, offset: u64, room: &mut [u8]) {
        room.iter_mut().zip(offset..).for_each(|(place, at)| *place = (at % 251) as u8);
    }
    fn on_acknowledged(&mut self, offset: u64) {
        self.1 = offset;
    }
    fn on_message(&mut self, _from: EndpointId, _now: Time, _word: &[u8]) {}
    fn status(&self) -> Status {
        if self.1 == self.0 { Status::Whole } else { Status::Going }
    }
}

/// Wants the given number of bytes, and counts those received in order.
struct Keep(u64, u64);

impl ByteSink for Keep {
    fn write(&mut self, offset: u64, bytes: &[u8]) -> bool {
        assert!(bytes.iter().zip(offset..).all(|(have, at)| *have == (at % 251) as u8));
        true
    }
    fn on_contiguous(&mut self, offset: u64, _now: Time) {
        self.1 = offset;
    }
    fn speak(&mut self, _now: Time, _word: &mut [u8; MAX_MESSAGE_BYTES]) -> usize {
        0
    }
    fn status(&self) -> Status {
        if self.1 == self.0 { Status::Whole } else { Status::Going }
    }
}

fn fixed(rate: &str) -> Scheme {
    let knobs = ["initial_rate", "min_rate", "max_rate"];
    let params = knobs.map(|name| (name.to_owned(), ParamValue::Text(rate.to_owned())));
    Scheme { params: params.to_vec(), ..Scheme::new("mca") }
}

#[test]
fn paced_and_windowed_flows_go_over_ipv4_and_ipv6() {
    for ip in [Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()] {
        let paced = flow(
            ip,
            fixed("50 Mbit/s"),
            || Outgoing::Paced(Box::new(Numbers(false))),
            || Incoming::Paced(Box::new(Wants(2000))),
        );
        let windowed = flow(
            ip,
            Scheme::new("cubic"),
            || Outgoing::Windowed(Box::new(Stream(5_000_000, 0))),
            || Incoming::Windowed(Box::new(Keep(5_000_000, 0))),
        );
        for (sender, receiver) in [paced, windowed].into_iter().flatten() {
            assert_eq!((&sender.end, &receiver.end), (&End::Complete, &End::Complete), "{ip}");
            assert_eq!((receiver.stats.discarded.total(), sender.stats.overruns), (0, 0), "{ip}");
            assert!(receiver.stats.packets >= 2000 && receiver.stats.packets <= sender.stats.packets);
        }
    }
}

#[test]
fn trains_marks_and_addresses_cross_a_socket() {
    for ip in [Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()] {
        let (Some(mut here), Some(mut there)) = (bind(ip), bind(ip)) else { continue };
        let (from, to) = (here.address().expect("bound"), there.address().expect("bound"));
        let bytes: Vec<u8> = (0..3500u32).map(|n| (n / 1000) as u8).collect();
        for ecn in [Ecn::NotCapable, Ecn::Capable, Ecn::Marked] {
            assert_eq!(
                here.send(&GsoBatch { to, ecn, bytes: &bytes, segment_size: 1000 }),
                SendOutcome::Accepted
            );
            let (mut batch, mut got) = (Batch::new(1 << 19), Vec::new());
            while got.len() < 4 {
                let until = there.now() + Duration::from_secs(5);
                there.wait(until);
                assert!(there.now() < until, "datagrams got lost on the loopback interface");
                there.receive(&mut batch);
                got.extend(batch.iter().map(|(from, ecn, bytes)| (from, ecn, bytes.to_vec())));
            }
            let lengths: Vec<usize> = got.iter().map(|(_, _, bytes)| bytes.len()).collect();
            assert_eq!(lengths, [1000, 1000, 1000, 500]);
            for (n, (source, mark, bytes)) in got.iter().enumerate() {
                assert_eq!((*source, *mark), (from, ecn));
                assert!(bytes.iter().all(|byte| usize::from(*byte) == n));
            }
            assert!(!there.receive(&mut batch), "nothing is left");
        }
    }
}

#[test]
fn a_datagram_that_is_too_long_for_the_way_is_told_apart() {
    let mut here = bind(Ipv4Addr::LOCALHOST.into()).expect("IPv4 is there");
    let to = here.address().expect("bound");
    let bytes = vec![0; 65_508];
    assert_eq!(
        here.send(&GsoBatch { to, ecn: Ecn::NotCapable, bytes: &bytes, segment_size: 65_508 }),
        SendOutcome::TooLong
    );
}

#[test]
fn a_clock_goes_forward_and_a_wait_ends() {
    let mut here = bind(Ipv4Addr::LOCALHOST.into()).expect("IPv4 is there");
    let first = here.now();
    let until = first + Duration::from_millis(2);
    here.wait(until);
    assert!(here.now() >= until);
    here.wait(first);
    let (mut a, mut b) = ([0; 16], [0; 16]);
    here.fill_random(&mut a);
    here.fill_random(&mut b);
    assert_ne!(a, b);
}
