//! Tests of the contents of captures.

use std::io::{self, Write};

use contract::Ecn;
use driver::{Batch, Recorder, Tapped};
use wire::checksum;

use super::*;
use crate::End;
use crate::forward::{self, ForwarderPlatform, Frames, Inbox};
use crate::ndn::{Transport, TransportError};

/// A file in memory that a test can read while it is written.
#[derive(Clone, Default)]
struct Page(Shelf<Vec<u8>>);

impl Write for Page {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.open(|page| page.extend_from_slice(bytes));
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A packet of a capture.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Seen {
    interface: u32,
    at_ns: u64,
    /// 1 for received, 2 for sent; 0 if its interface shows the direction.
    way: u32,
    bytes: Vec<u8>,
}

/// The packets of a capture; each block has to be whole.
fn packets(page: &Page) -> Vec<Seen> {
    let page = page.0.open(|page| page.clone());
    let frame = |at: usize| u32::from_le_bytes(page[at..at + 4].try_into().expect("four bytes"));
    let (mut at, mut seen) = (0, Vec::new());
    while at < page.len() {
        let length = frame(at + 4) as usize;
        assert_eq!(frame(at + length - 4) as usize, length, "a block ends with its length");
        if frame(at) == 6 {
            let kept = frame(at + 20) as usize;
            seen.push(Seen {
                interface: frame(at + 8),
                at_ns: u64::from(frame(at + 12)) << 32 | u64::from(frame(at + 16)),
                // behind the packet, the head of the option and its four bytes
                way: if length > 32 + kept.next_multiple_of(4) {
                    frame(at + 32 + kept.next_multiple_of(4))
                } else {
                    0
                },
                bytes: page[at + 28..at + 28 + kept].to_vec(),
            });
        }
        at += length;
    }
    seen
}

/// Source, destination, mark and content of a datagram over IPv4 with correct checksums.
fn read(bytes: &[u8]) -> (SocketAddr, SocketAddr, Ecn, &[u8]) {
    let ip = wire::Ipv4::read(bytes).expect("it is IPv4");
    let (from, to) = ip.ports.expect("it is UDP");
    assert_eq!(checksum(&[&bytes[..20]]), 0);
    let mut pseudo = bytes[12..20].to_vec();
    pseudo.extend_from_slice(&[0, 17, bytes[24], bytes[25]]);
    assert_eq!(checksum(&[&pseudo, &bytes[20..]]), 0);
    ((ip.source, from).into(), (ip.destination, to).into(), ip.ecn, &bytes[28..])
}

fn tap<T>(inner: T, began_ns: u64) -> (Tapped<T>, Page) {
    let page = Page::default();
    let recorder = Recorder::new(page.clone(), began_ns).expect("memory");
    (Tapped::new(inner, Some(recorder)), page)
}

#[test]
fn what_one_end_sent_is_what_the_other_received() {
    let net = VirtualNetwork::plain(ms(10));
    let (a, b) = addresses();
    let ((here, sent), (there, received)) = (tap(net.host(a, ms(1)), 5), tap(net.host(b, ms(0)), 7));
    let meets = (settings(Handshake::Connect(b)), settings(Handshake::Listen));
    let left = numbers_between((here, there), &steady("8 Mbit/s"), 300, meets, Controls::default());
    // both ends are gone: buffers have been written out
    assert_eq!((&left.sender.end, &left.receiver.end), (&End::Complete, &End::Complete));
    let (sent, received) = (packets(&sent), packets(&received));
    let count = |list: &[Seen], interface| list.iter().filter(|p| p.interface == interface).count() as u64;
    let (sender, receiver) = (&left.sender.stats, &left.receiver.stats);
    assert_eq!((count(&sent, 0), count(&sent, 1)), (sender.sent.datagrams, sender.received.datagrams));
    assert_eq!(
        (count(&received, 0), count(&received, 1)),
        (receiver.sent.datagrams, receiver.received.datagrams)
    );
    assert!(count(&sent, 0) >= 300);
    // to the nanosecond: a delay of ten milliseconds, and clocks whose zeros differ by two nanoseconds
    let left_here: Vec<Seen> = sent.iter().filter(|p| p.interface == 0).cloned().collect();
    let came_there: Vec<Seen> = received
        .iter()
        .filter(|p| p.interface == 1)
        .map(|p| Seen { interface: 0, at_ns: p.at_ns - 2 - 10_000_000, ..p.clone() })
        .collect();
    assert_eq!(left_here[..came_there.len()], came_there);
    for packet in &sent {
        let (from, to, _, content) = read(&packet.bytes);
        assert_eq!((from, to), if packet.interface == 0 { (a, b) } else { (b, a) });
        assert!(wire::stream::Datagram::peek(content).is_ok(), "it is a datagram of ours");
    }
    assert!(sent.is_sorted_by_key(|packet| packet.at_ns));
}

#[test]
fn a_capture_that_cannot_be_written_on_harms_nothing_and_says_why() {
    /// Room for this many bytes.
    struct Full(usize);
    impl Write for Full {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let taken = bytes.len().min(self.0);
            self.0 -= taken;
            if taken == 0 { Err(io::ErrorKind::StorageFull.into()) } else { Ok(taken) }
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let net = VirtualNetwork::plain(ms(10));
    let (a, b) = addresses();
    let recorder = Recorder::new(Full(2000), 0).expect("it is begun in the buffer");
    let mut here = Tapped::new(net.host(a, ms(0)), Some(recorder));
    let bytes = [1; 5000];
    for _ in 0..200 {
        let gso_batch = driver::GsoBatch { to: b, ecn: Ecn::Capable, bytes: &bytes, segment_size: 1000 };
        assert_eq!(here.send(&gso_batch), driver::SendOutcome::Accepted);
    }
    let captured = here.finish().expect("there was one");
    assert_eq!(captured.failure.map(|error| error.kind()), Some(io::ErrorKind::StorageFull));
    assert!(captured.packets < 1000);
    assert!(here.finish().is_none());
}

#[test]
fn what_waits_is_written_out_each_second_and_groups_and_marks_are_in_it() {
    let net = VirtualNetwork::plain(ms(1));
    let (a, b) = addresses();
    let (mut here, page) = tap(net.host(a, ms(0)), 0);
    let group = SocketAddr::from(([239, 1, 2, 3], 9));
    net.inject(driver::testing::InFlight {
        at: net.now() + ms(5),
        from: b,
        to: a,
        ecn: Ecn::Marked,
        bytes: b"marked".to_vec(),
    });
    let until = here.now() + ms(1);
    here.wait(until);
    here.send(&driver::GsoBatch { to: group, ecn: Ecn::Capable, bytes: b"to all", segment_size: 1400 });
    let until = here.now() + ms(10);
    here.wait(until);
    assert!(here.receive(&mut Batch::new(1 << 16)));
    assert!(!here.receive(&mut Batch::new(1 << 16)), "nothing more is there, and nothing is recorded");
    let until = here.now() + ms(1000);
    here.wait(until);
    let until = here.now() + ms(1);
    here.wait(until);
    let seen = packets(&page);
    let seen: Vec<_> = seen.iter().map(|packet| (packet.interface, read(&packet.bytes))).collect();
    assert_eq!(
        seen,
        [(0, (a, group, Ecn::Capable, &b"to all"[..])), (1, (b, a, Ecn::Marked, &b"marked"[..]))]
    );
}

/// Returns what it is sent, and is full at the third frame.
struct Echo(Vec<Vec<u8>>, Option<(SocketAddr, SocketAddr)>);

impl Transport for Echo {
    fn now(&mut self) -> Time {
        Time::from_nanos(1 + self.0.len() as u64)
    }
    fn wait(&mut self, _until: Time) {}
    fn receive(&mut self, take: &mut dyn FnMut(&[u8])) -> Result<bool, TransportError> {
        self.0.iter().for_each(|frame| take(frame));
        Ok(!std::mem::take(&mut self.0).is_empty())
    }
    fn send(&mut self, frame: &[u8]) -> Result<bool, TransportError> {
        if self.0.len() == 2 {
            return Ok(false);
        }
        self.0.push(frame.to_vec());
        Ok(true)
    }
    fn flush(&mut self) -> Result<(), TransportError> {
        Ok(())
    }
    fn is_full(&self) -> bool {
        false
    }
    fn mtu(&self) -> usize {
        1000
    }
    fn is_local(&self) -> bool {
        true
    }
    fn ends(&self) -> Option<(SocketAddr, SocketAddr)> {
        self.1
    }
}

#[test]
fn frames_of_named_data_are_datagrams_to_the_port_where_dissectors_look() {
    let loopback = |port: u16| SocketAddr::from(([127, 0, 0, 1], port));
    for (ends, said) in [(None, (loopback(56_363), loopback(6363))), (Some(addresses()), addresses())] {
        let (mut face, page) = tap(Echo(Vec::new(), ends), 100);
        let mut came: Vec<Vec<u8>> = Vec::new();
        for frame in [&b"one"[..], b"two", b"lost"] {
            assert_eq!(face.send(frame).expect("it works"), frame != b"lost");
        }
        assert!(face.receive(&mut |frame| came.push(frame.to_vec())).expect("it works"));
        assert_eq!(came, [b"one", b"two"]);
        let captured = face.finish().expect("there is one");
        assert_eq!((captured.packets, captured.failure.is_none()), (4, true));
        let seen: Vec<(u32, u64, Vec<u8>)> =
            packets(&page).into_iter().map(|p| (p.interface, p.at_ns, p.bytes)).collect();
        for (packet, (interface, at_ns, content)) in
            seen.iter().zip([(0, 101, b"one"), (0, 102, b"two"), (1, 103, b"one"), (1, 103, b"two")])
        {
            assert_eq!((packet.0, packet.1), (interface, at_ns));
            let (from, to) = if interface == 0 { said } else { (said.1, said.0) };
            assert_eq!(read(&packet.2), (from, to, Ecn::NotCapable, &content[..]));
        }
    }
}

/// Faces of a forwarder: each arrival once, and the number of accepted frames.
struct Faces(Vec<(forward::Place, Vec<u8>)>, usize);

impl Frames for Faces {
    fn send(&mut self, _to: forward::Place, _frame: &[u8]) -> bool {
        self.1 = self.1.saturating_sub(1);
        self.1 > 0
    }
    fn waiting(&mut self, _to: forward::Place) -> u64 {
        7
    }
}

impl ForwarderPlatform for Faces {
    fn now(&mut self) -> Time {
        Time::from_nanos(self.1 as u64)
    }
    fn wait(&mut self, _until: Time) {}
    fn receive(&mut self, inbox: &mut Inbox) {
        self.0.drain(..).for_each(|(from, frame)| inbox.frame(from, &frame));
    }
    fn local_address(&self, peer: SocketAddr) -> Option<SocketAddr> {
        Some(SocketAddr::from(([10, 0, 0, 1], peer.port() + 1)))
    }
}

#[test]
fn frames_of_a_forwarder_have_the_interface_of_their_face_and_their_direction() {
    use forward::Place::{App, Program, Udp};
    let host = |n: u8| SocketAddr::from(([10, 0, 0, n], 7000 + u16::from(n)));
    let links = [("core".to_owned(), host(2)), ("edge".to_owned(), host(3))];
    let page = Page::default();
    let recorder = forward::FaceRecorder::new(page.clone(), &links, 1000).expect("memory");
    let came = vec![
        (Udp(host(3)), b"edge".to_vec()),
        (Udp(host(9)), b"stranger".to_vec()),
        (Program(1), b"first".to_vec()),
        (Program(9174), b"again".to_vec()),
        (App(0), b"inside".to_vec()),
    ];
    let mut faces = Tapped::new(Faces(came, 5), Some(recorder));
    let mut inbox = Inbox::default();
    faces.receive(&mut inbox);
    assert_eq!(inbox.len(), 5, "the forwarder gets all");
    let taken =
        [Udp(host(2)), Program(2), App(0), Udp(host(3)), Udp(host(2))].map(|to| faces.send(to, b"out"));
    assert_eq!((taken, faces.waiting(Program(1))), ([true, true, true, true, false], 7));
    assert_eq!(faces.finish().map(|captured| captured.packets), Some(7));
    faces.send(Udp(host(2)), b"after the end");
    let loopback = |port: u16| SocketAddr::from(([127, 0, 0, 1], port));
    let own = |n: u8| SocketAddr::from(([10, 0, 0, 1], host(n).port() + 1));
    let seen: Vec<_> = packets(&page);
    let seen: Vec<_> = seen
        .iter()
        .map(|packet| {
            let (from, to, _, content) = read(&packet.bytes);
            (packet.interface, packet.at_ns, packet.way, (from, to), content)
        })
        .collect();
    let forwarder = loopback(6363);
    assert_eq!(
        seen,
        [
            (1, 1005, 1, (host(3), own(3)), &b"edge"[..]),
            (2, 1005, 1, (host(9), own(9)), b"stranger"),
            (3, 1005, 1, (loopback(56_363), forwarder), b"first"),
            (3, 1005, 1, (loopback(56_363), forwarder), b"again"),
            (0, 1005, 2, (own(2), host(2)), b"out"),
            (3, 1004, 2, (forwarder, loopback(56_364)), b"out"),
            (1, 1002, 2, (own(3), host(3)), b"out"),
        ]
    );
}
