//! IPv6 between two network namespaces of the tests, joined by a pair of virtual devices: global and link-local
//! addresses, and groups. Needs the privilege to create namespaces: without it the test prints so and passes.
#![cfg(target_os = "linux")]

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::sync::mpsc;
use std::thread;

use contract::{EndpointId, ParamValue};
use driver::testing::{ip, network_namespace};
use driver::{Interface, Multicast, Udp};
use quic_net::group::{self, Group};
use quic_net::{
    Control, Credentials, End, Handshake, Limits, Object, Outcome, Proposal, Scheme, Settings, objects,
};
use transfer::{Incoming, MAX_MESSAGE_BYTES, Outgoing, Payload, Sink, Status};
use units::{Duration, Time};

const NEAR: &str = "near6";
const FAR: &str = "far6";
const PORT: u16 = 9600;

/// Addresses without duplicate address detection.
fn set_up(device: &str, n: u8) {
    ip(&format!("link set {device} addrgenmode none"));
    ip(&format!("link set {device} up"));
    ip(&format!("addr add fd00:7::{n}/64 dev {device} nodad"));
    ip(&format!("addr add fe80::{n}/64 dev {device} nodad"));
}

fn settings(handshake: Handshake) -> Settings {
    let limits =
        Limits { patience: Duration::from_secs(20), linger: Duration::from_millis(200), ..Limits::default() };
    Settings {
        handshake,
        credentials: Credentials::insecure([6; 32]),
        limits,
        client_secret: None,
        logs: None,
    }
}

fn steady() -> Scheme {
    let knobs = ["initial_rate", "min_rate", "max_rate"];
    let params = knobs.map(|name| (name.to_owned(), ParamValue::Text("8 Mbit/s".to_owned())));
    Scheme { params: params.to_vec(), ..Scheme::new("mca") }
}

/// Numbered packets, until this many receivers have enough.
struct Numbers(usize, BTreeSet<EndpointId>);

impl Payload for Numbers {
    fn fill(&mut self, seq: u64, _now: Time, room: &mut [u8]) -> usize {
        room[..8].copy_from_slice(&seq.to_be_bytes());
        8
    }
    fn on_message(&mut self, from: EndpointId, _now: Time, _word: &[u8]) {
        self.1.insert(from);
    }
    fn status(&self) -> Status {
        if self.1.len() >= self.0 { Status::Complete } else { Status::InProgress }
    }
}

/// Wants this number.
struct Requirements(u64);

impl Sink for Requirements {
    fn take(&mut self, seq: u64, _now: Time, content: &[u8]) {
        assert_eq!(content, seq.to_be_bytes());
        self.0 = self.0.saturating_sub(1);
    }
    fn write_message(&mut self, _now: Time, word: &mut [u8; MAX_MESSAGE_BYTES]) -> usize {
        word[..6].copy_from_slice(b"enough");
        if self.0 == 0 { 6 } else { 0 }
    }
    fn status(&self) -> Status {
        if self.0 == 0 { Status::Complete } else { Status::InProgress }
    }
}

/// Task of the far side: this many receivers that connect to this address and join groups by this interface.
struct Request {
    to: String,
    interface: Option<&'static str>,
    receivers: usize,
}

/// The far side: its namespace, and receivers there, until there are no more tasks.
fn far_side(requests: &mpsc::Receiver<Request>, ends: &mpsc::Sender<Vec<Outcome>>) {
    for (n, Request { to, interface, receivers }) in requests.iter().enumerate() {
        // its device exists at the first task
        if n == 0 {
            set_up(FAR, 2);
        }
        let receiving: Vec<_> = (0..receivers)
            .map(|_| {
                let to = address(&to);
                thread::spawn(move || {
                    let mut udp = Udp::for_calling(to).expect("a socket");
                    udp.set_multicast(&by(interface)).expect("an interface");
                    let mut accept =
                        |_: &Proposal| Ok(Incoming::Paced(Box::new(Requirements(300)) as Box<dyn Sink>));
                    quic_net::receive(
                        &settings(Handshake::Connect(to)),
                        &mut accept,
                        &mut udp,
                        &Control::new(),
                    )
                })
            })
            .collect();
        let outcomes = receiving.into_iter().map(|one| one.join().expect("it does not panic")).collect();
        ends.send(outcomes).expect("the other thread waits");
    }
}

/// An address whose zone is a name.
fn address(text: &str) -> SocketAddr {
    let named = |device| match Interface::named(device, true) {
        Ok(Interface::Index(index)) => index.to_string(),
        other => panic!("{device}: {other:?}"),
    };
    let text = if text.contains(FAR) { text.replace(FAR, &named(FAR)) } else { text.to_owned() };
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn by(interface: Option<&str>) -> Multicast {
    let called = |name| Interface::named(name, true).unwrap_or_else(|why| panic!("{why}"));
    Multicast { interface: interface.map_or(Interface::Routed, called), ..Multicast::default() }
}

fn whole(outcomes: &[Outcome]) {
    for Outcome { end, stats } in outcomes {
        assert_eq!(end, &End::Complete);
        assert_eq!(stats.discarded.total(), 0, "{:?}", stats.discarded);
    }
}

#[test]
fn sessions_and_groups_between_two_computers() {
    let (request, requests) = mpsc::channel();
    let (send_feedback, observed) = mpsc::channel();
    let (here, there) = mpsc::channel();
    let far = thread::spawn(move || {
        let alone = network_namespace();
        here.send(alone.then(nix::unistd::gettid)).expect("the other thread waits");
        if alone {
            far_side(&requests, &send_feedback);
        }
    });
    let near = thread::spawn(move || {
        let Some(far) = there.recv().expect("the far side begins") else { return };
        assert!(network_namespace(), "the other side was permitted to");
        ip(&format!("link add {NEAR} type veth peer name {FAR} netns {far}"));
        set_up(NEAR, 1);
        let wildcard = SocketAddr::from((std::net::Ipv6Addr::UNSPECIFIED, PORT));

        // one receiver by a global address, and one by a link-local address
        for to in [format!("[fd00:7::1]:{PORT}"), format!("[fe80::1%{FAR}]:{PORT}")] {
            let mut udp = Udp::bind(wildcard).expect("a socket");
            request.send(Request { to, interface: None, receivers: 1 }).expect("the far side waits");
            let outgoing = Outgoing::Paced(Box::new(Numbers(1, BTreeSet::new())));
            let (settings, control) = (settings(Handshake::Listen), Control::new());
            let all = objects(vec![Object {
                folders: Vec::new(),
                outgoing,
                about: Vec::new(),
                more: false,
                omitted: 0,
            }]);
            let outcome = quic_net::send(&settings, &steady(), all, &mut udp, &control);
            whole(&[outcome]);
            whole(&observed.recv().expect("the far side tells"));
        }

        // for two receivers of one computer: site-local and link-local groups, with the interface and without
        for (group, interface) in
            [("ff15::77", None), ("ff15::77", Some((NEAR, FAR))), ("ff12::77", Some((NEAR, FAR)))]
        {
            let mut udp = Udp::bind(wildcard).expect("a socket");
            udp.set_multicast(&by(interface.map(|(near, _)| near))).expect("an interface");
            let group = Group { address: address(&format!("[{group}]:{}", PORT + 1)), max: 4 };
            udp.check_route(group.address).expect("there is a way");
            let (to, interface) = (format!("[fd00:7::1]:{PORT}"), interface.map(|(_, far)| far));
            request.send(Request { to, interface, receivers: 2 }).expect("the far side waits");
            let payload = Box::new(Numbers(2, BTreeSet::new()));
            let (settings, control) = (settings(Handshake::Listen), Control::new());
            let (outcome, left) =
                group::send(&settings, &group, &steady(), payload, Vec::new(), &mut udp, &control);
            whole(&[outcome]);
            assert_eq!(left.len(), 2);
            whole(&observed.recv().expect("the far side tells"));
        }
    });
    near.join().expect("the near side does not panic");
    far.join().expect("the far side does not panic");
}
