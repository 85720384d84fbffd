//! IPv6 between two network namespaces of the tests, joined by a pair of virtual devices: global and link-local addresses, and groups.
//! Needs the privilege to create namespaces: without it the test prints so and passes.
#![cfg(target_os = "linux")]

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::process::Command;
use std::sync::mpsc;
use std::thread;

use contract::{EndpointId, ParamValue};
use driver::{Interface, Multicast, Udp};
use live::{Control, End, Group, Handshake, Limits, Outcome, Scheme, Secret, Settings};
use nix::sched::{CloneFlags, unshare};
use transfer::{Incoming, MAX_MESSAGE_BYTES, Outgoing, Payload, Sink, Status};
use units::{Duration, Time};

const NEAR: &str = "near6";
const FAR: &str = "far6";
const PORT: u16 = 9600;

fn ip(words: &str) {
    let done = Command::new("ip").args(words.split(' ')).output().expect("`ip` is there");
    assert!(done.status.success(), "ip {words}: {}", String::from_utf8_lossy(&done.stderr));
}

/// A namespace for this thread and those that it starts. False if that is not permitted.
fn alone() -> bool {
    if let Err(error) = unshare(CloneFlags::CLONE_NEWNET) {
        eprintln!("skipped: IPv6 between namespaces: {error}");
        return false;
    }
    ip("link set lo up");
    true
}

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
    Settings { handshake, secret: Secret::new("of the tests"), limits, caller: None }
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
        if self.1.len() >= self.0 { Status::Whole } else { Status::Going }
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

/// Task of the far side: this many receivers that call this address and join groups by this interface.
struct Asked {
    call: String,
    interface: Option<&'static str>,
    receivers: usize,
}

/// The far side: its namespace, and receivers there, until there are no more tasks.
fn far_side(asked: &mpsc::Receiver<Asked>, ends: &mpsc::Sender<Vec<Outcome>>) {
    for (n, Asked { call, interface, receivers }) in asked.iter().enumerate() {
        // its device exists at the first task
        if n == 0 {
            set_up(FAR, 2);
        }
        let receiving: Vec<_> = (0..receivers)
            .map(|_| {
                let to = address(&call);
                thread::spawn(move || {
                    let mut udp = Udp::for_calling(to).expect("a socket");
                    udp.set_multicast(&by(interface)).expect("an interface");
                    let mut accept =
                        |_: &wire::stream::Offer| Ok(Incoming::Paced(Box::new(Wants(300)) as Box<dyn Sink>));
                    live::receive(&settings(Handshake::Connect(to)), &mut accept, &mut udp, &Control::new())
                })
            })
            .collect();
        let outcomes = receiving.into_iter().map(|one| one.join().expect("it does not panic")).collect();
        ends.send(outcomes).expect("somebody waits");
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
    let (ask, asked) = mpsc::channel();
    let (tell, told) = mpsc::channel();
    let (here, there) = mpsc::channel();
    let far = thread::spawn(move || {
        let alone = alone();
        here.send(alone.then(nix::unistd::gettid)).expect("somebody waits");
        if alone {
            far_side(&asked, &tell);
        }
    });
    let near = thread::spawn(move || {
        let Some(far) = there.recv().expect("the far side begins") else { return };
        assert!(alone(), "the other side was permitted to");
        ip(&format!("link add {NEAR} type veth peer name {FAR} netns {far}"));
        set_up(NEAR, 1);
        let wildcard = SocketAddr::from((std::net::Ipv6Addr::UNSPECIFIED, PORT));

        // for two receivers, by a global address and by a link-local one
        for call in [format!("[fd00:7::1]:{PORT}"), format!("[fe80::1%{FAR}]:{PORT}")] {
            let mut udp = Udp::bind(wildcard).expect("a socket");
            ask.send(Asked { call, interface: None, receivers: 1 }).expect("the far side waits");
            let cargo = Outgoing::Paced(Box::new(Numbers(1, BTreeSet::new())));
            let (settings, control) = (settings(Handshake::Listen), Control::new());
            let outcome = live::send(&settings, &steady(), cargo, Vec::new(), &mut udp, &control);
            whole(&[outcome]);
            whole(&told.recv().expect("the far side tells"));
        }

        // for two receivers of one computer: site-local and link-local groups, with the interface and without
        for (group, interface) in
            [("ff15::77", None), ("ff15::77", Some((NEAR, FAR))), ("ff12::77", Some((NEAR, FAR)))]
        {
            let mut udp = Udp::bind(wildcard).expect("a socket");
            udp.set_multicast(&by(interface.map(|(near, _)| near))).expect("an interface");
            let group = Group { address: address(&format!("[{group}]:{}", PORT + 1)), max: 4 };
            udp.check_route(group.address).expect("there is a way");
            let (call, interface) = (format!("[fd00:7::1]:{PORT}"), interface.map(|(_, far)| far));
            ask.send(Asked { call, interface, receivers: 2 }).expect("the far side waits");
            let payload = Box::new(Numbers(2, BTreeSet::new()));
            let (settings, control) = (settings(Handshake::Listen), Control::new());
            let (outcome, left) =
                live::send_to_group(&settings, &group, &steady(), payload, Vec::new(), &mut udp, &control);
            whole(&[outcome]);
            assert_eq!(left.len(), 2);
            whole(&told.recv().expect("the far side tells"));
        }
    });
    near.join().expect("the near side does not panic");
    far.join().expect("the far side does not panic");
}

#[test]
fn a_group_without_a_way_and_an_interface_that_is_not_there_are_said_before_anything_is_sent() {
    let test = thread::spawn(|| {
        if !alone() {
            return;
        }
        let udp = Udp::bind(SocketAddr::from((std::net::Ipv6Addr::UNSPECIFIED, PORT))).expect("a socket");
        assert!(
            udp.check_route(address("[ff15::77]:9601")).is_err(),
            "the loopback interface carries no groups"
        );
        assert!(udp.check_route(address("[ff12::77]:9601")).is_err(), "it is not said on which link");
        let said = |name, ipv6| Interface::named(name, ipv6).expect_err("there is none");
        assert_eq!(said("eth77", true), "eth77: there is no such interface; there are lo");
        assert!(said("192.0.2.1", true).contains("name or number"), "{}", said("192.0.2.1", true));
        ip("link add bare type veth peer name other");
        assert_eq!(said("bare", false), "bare: the interface has no IPv4 address");
        ip("addr add 192.0.2.7/24 dev bare");
        let address = Interface::Address(std::net::Ipv4Addr::new(192, 0, 2, 7));
        assert_eq!(Interface::named("bare", false), Ok(address));
        assert_eq!(Interface::named("192.0.2.7", false), Ok(address));
    });
    test.join().expect("it does not panic");
}
