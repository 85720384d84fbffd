//! Tests of captures of faces and forwarders.

use std::net::SocketAddr;

use contract::Ecn;
use driver::testing::CaptureFile;
use driver::{Recorder, Tapped};
use ndn_net::forwarder::{FaceRecorder, ForwarderPlatform, Frames, Inbox, Peer};
use ndn_net::{Transport, TransportError};
use units::Time;

fn host(n: u8) -> SocketAddr {
    SocketAddr::from(([10, 0, 0, n], 7000 + u16::from(n)))
}

fn tap<T>(inner: T, began_ns: u64) -> (Tapped<T>, CaptureFile) {
    let page = CaptureFile::default();
    let recorder = Recorder::new(page.clone(), began_ns).expect("memory");
    (Tapped::new(inner, Some(recorder)), page)
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
    for (ends, messages) in
        [(None, (loopback(56_363), loopback(6363))), (Some((host(1), host(2))), (host(1), host(2)))]
    {
        let (mut face, page) = tap(Echo(Vec::new(), ends), 100);
        let mut came: Vec<Vec<u8>> = Vec::new();
        for frame in [&b"one"[..], b"two", b"lost"] {
            assert_eq!(face.send(frame).expect("it works"), frame != b"lost");
        }
        assert!(face.receive(&mut |frame| came.push(frame.to_vec())).expect("it works"));
        assert_eq!(came, [b"one", b"two"]);
        let captured = face.finish().expect("there is one");
        assert_eq!((captured.packets, captured.failure.is_none()), (4, true));
        let seen = page.packets();
        for (packet, (interface, at_ns, content)) in
            seen.iter().zip([(0, 101, b"one"), (0, 102, b"two"), (1, 103, b"one"), (1, 103, b"two")])
        {
            assert_eq!((packet.interface, packet.at_ns), (interface, at_ns));
            let (from, to) = if interface == 0 { messages } else { (messages.1, messages.0) };
            assert_eq!(packet.datagram(), (from, to, Ecn::NotCapable, &content[..]));
        }
    }
}

/// Faces of a forwarder: each arrival once, and the number of accepted frames.
struct Faces(Vec<(Peer, Vec<u8>)>, usize);

impl Frames for Faces {
    fn send(&mut self, _to: Peer, _frame: &[u8]) -> bool {
        self.1 = self.1.saturating_sub(1);
        self.1 > 0
    }
    fn waiting(&mut self, _to: Peer) -> u64 {
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
    use Peer::{App, Program, Udp};
    let links = [("core".to_owned(), host(2)), ("edge".to_owned(), host(3))];
    let page = CaptureFile::default();
    let recorder = FaceRecorder::new(page.clone(), &links, 1000).expect("memory");
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
    let seen: Vec<_> = page.packets();
    let seen: Vec<_> = seen
        .iter()
        .map(|packet| {
            let (from, to, _, content) = packet.datagram();
            (packet.interface, packet.at_ns, packet.direction, (from, to), content)
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
