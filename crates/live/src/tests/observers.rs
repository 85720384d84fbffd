//! Tests with an observer on the path, who sees every datagram, including hellos, and sends from another socket. The observer opens sessions as
//! either end, forges reports, and sends wrong symbols.

use std::path::PathBuf;

use driver::testing::InFlight;
use transfer::{Destination, Receivers, Source, Tally, Task, keep};
use wire::stream::{Data, Datagram, Frame, Hello, KEY, Offer, Order, Role, TOKEN};

use super::*;
use crate::keys::{Key, KeyPair, SessionKeys};
use crate::{End, Limits, transport_of};

/// A report of a receiver that it has the whole of one block, with a proof that is wrong: kind, whole, seen, base, until, limit, complete, proof.
fn false_report() -> Vec<u8> {
    let one = 1u32.to_be_bytes();
    [&[1, 1][..], &[0; 8], &one, &one, &one, &one, &[0x66; 16]].concat()
}

/// Address of the observer's own socket.
fn observer() -> SocketAddr {
    SocketAddr::from(([10, 0, 0, 66], 66))
}

/// The end that the observer impersonates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pose {
    Sender,
    Receiver,
}

/// The observer.
struct Observer {
    pose: Pose,
    /// The end that it calls.
    to: SocketAddr,
    /// Its claimed identity: the true caller if it saw one, or itself.
    own_name: bool,
    /// The true caller's private key, if it has it.
    me: KeyPair,
    half: KeyPair,
    secret: Secret,
    seen: Option<Hello>,
    offer: Option<Offer>,
    /// Number of data datagrams before it starts.
    waits: u32,
    token: Option<[u8; TOKEN]>,
    session: Option<(u32, Key)>,
    number: u64,
    /// Welcomes that it received.
    welcomes: Shelf<u32>,
}

impl Observer {
    fn new(pose: Pose, to: SocketAddr) -> Self {
        Self {
            pose,
            to,
            own_name: false,
            me: KeyPair::new([0x66; KEY]),
            half: KeyPair::new([0x67; KEY]),
            secret: Secret::none(),
            seen: None,
            offer: None,
            waits: 40,
            token: None,
            session: None,
            number: 0,
            welcomes: Shelf::default(),
        }
    }

    /// A datagram passes; returns the observer's datagrams because of it.
    fn sees(&mut self, passing: &InFlight) -> Vec<InFlight> {
        let said = |bytes| InFlight { from: observer(), to: self.to, bytes, ..passing.after(ms(3)) };
        if passing.to == observer() {
            let said = self.is_answered(&passing.bytes);
            return said
                .into_iter()
                .map(|bytes| InFlight { from: observer(), to: self.to, bytes, ..passing.after(ms(3)) })
                .collect();
        }
        let body = Datagram::split(&passing.bytes).map(|(body, _)| body);
        match body.and_then(|body| Datagram::read(body).ok()).map(|datagram| datagram.frame) {
            Some(Frame::Hello(hello)) => {
                self.offer = hello.offer.clone().or(self.offer.take());
                self.seen = Some(*hello);
            }
            Some(Frame::Welcome(welcome)) => self.offer = welcome.offer.clone().or(self.offer.take()),
            Some(Frame::Data(_) | Frame::Segment(_)) if self.waits > 0 => self.waits -= 1,
            Some(Frame::Data(_) | Frame::Segment(_))
                if self.session.is_none() && self.number.is_multiple_of(16) =>
            {
                self.number += 1;
                return self.hello().into_iter().map(said).collect();
            }
            Some(Frame::Data(_) | Frame::Segment(_)) => {
                self.number += 1;
                if self.session.is_some() {
                    let lies = self.lies();
                    return lies
                        .into_iter()
                        .map(|bytes| InFlight {
                            from: observer(),
                            to: self.to,
                            bytes,
                            ..passing.after(ms(3))
                        })
                        .collect();
                }
            }
            _ => {}
        }
        Vec::new()
    }

    fn hello(&self) -> Option<Vec<u8>> {
        let caller = if self.own_name { self.me.public } else { self.seen.as_ref()?.caller };
        let (role, offer) = match self.pose {
            Pose::Sender => (Role::Sender, Some(self.offer.clone()?)),
            Pose::Receiver => (Role::Receiver, None),
        };
        let hello = Hello { role, public: self.half.public, caller, token: self.token, offer };
        let mut bytes = Vec::new();
        Datagram { session: 0x66, number: 0, frame: Frame::Hello(Box::new(hello)) }.write(&mut bytes);
        Key::opening(&self.secret).seal(&mut bytes, 0);
        Some(bytes)
    }

    /// An end sends a datagram to the observer.
    fn is_answered(&mut self, bytes: &[u8]) -> Vec<Vec<u8>> {
        let Some(body) = Key::answer(&self.secret, &self.half.public).open(bytes) else { return Vec::new() };
        match Datagram::read(body).map(|datagram| datagram.frame) {
            Ok(Frame::Challenge { token }) => {
                self.token = Some(token);
                self.hello().into_iter().collect()
            }
            Ok(Frame::Welcome(welcome)) => {
                self.welcomes.open(|welcomes| *welcomes += 1);
                let agreed = SessionKeys::for_caller(&self.secret, &self.half, &self.me, &welcome.public);
                self.session = Some((welcome.session, agreed.caller));
                self.lies()
            }
            _ => Vec::new(),
        }
    }

    /// Its messages in its session: that it is ready, that it has the file, that all have it; or wrong symbols of every block.
    fn lies(&mut self) -> Vec<Vec<u8>> {
        let Some((session, key)) = &self.session else { return Vec::new() };
        let whole = false_report();
        let wrong: Vec<[u8; 200]> = (0..4u8)
            .map(|block| {
                std::array::from_fn(|at| [2, 0, 0, 0, block, 0, 0, 1].get(at).copied().unwrap_or(0x66))
            })
            .collect();
        let words = match self.pose {
            Pose::Receiver => vec![
                Frame::Order { serial: 0, order: Order::Ready { window: 1 << 20 } },
                Frame::Message(&whole),
                Frame::Order { serial: 1, order: Order::Close(wire::stream::Reason::Complete) },
            ],
            Pose::Sender => wrong
                .iter()
                .map(|content| {
                    let header = contract::StreamHeader { seq: self.number, ..Default::default() };
                    let label = contract::Label::default();
                    Frame::Data(Data { sent_at: Time::ZERO, header, label, content, padding: 0 })
                })
                .collect(),
        };
        let mut said = Vec::new();
        for frame in words {
            let mut bytes = Vec::new();
            Datagram { session: *session, number: self.number, frame }.write(&mut bytes);
            self.number += 1;
            key.seal(&mut bytes, 0);
            said.push(bytes);
        }
        said
    }
}

/// A folder for a test, which is removed at its end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("thalweg-observer-{}-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(path.join("in")).expect("a folder for a test");
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Settings of a transfer.
struct Case {
    scheme: &'static str,
    secret: Secret,
    /// Whether the receiver calls the sender, or is called.
    receiver_calls: bool,
    /// When the receiver is killed.
    dies: Option<Duration>,
    caller: Option<[u8; KEY]>,
}

const LENGTH: usize = 600_000;

/// Results of a transfer.
struct After {
    sender: Outcome,
    /// `None` if it was killed.
    receiver: Option<Outcome>,
    whole: bool,
}

/// Sends a file over 8 Mbit/s in the presence of `observer`.
fn transfer(case: &Case, mut looks_on: Observer) -> After {
    let folder = Folder::new(&format!("{:?}", std::thread::current().id()).replace(['(', ')'], ""));
    let bytes: Vec<u8> =
        (0..LENGTH as u64).map(|at| (at.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as u8).collect();
    std::fs::write(folder.0.join("film.bin"), &bytes).expect("a file for a test");
    let (a, b) = addresses();
    let mut free_at = Time::ZERO;
    let net = VirtualNetwork::new(move |passing| {
        let mut arrivals = looks_on.sees(passing);
        if passing.to == observer() {
            return arrivals;
        }
        let serialise = Duration::from_micros(passing.bytes.len() as u64 + 28);
        let start = if passing.from == a { free_at.max(passing.at) } else { passing.at };
        if start.saturating_since(passing.at) > ms(60) {
            return arrivals;
        }
        if passing.from == a {
            free_at = start + serialise;
        }
        arrivals.push(passing.after(start.saturating_since(passing.at) + serialise + ms(10)));
        arrivals
    });
    let (mut here, mut there) = (net.host(a, ms(1)), net.host(b, ms(0)));
    if let Some(dies) = case.dies {
        there = there.dying(dies);
    }
    let limits =
        Limits { patience: Duration::from_secs(10), waits: Duration::from_secs(20), ..Limits::default() };
    let of = |handshake| Settings { handshake, secret: case.secret.clone(), limits, caller: case.caller };
    let (sends, receives) = if case.receiver_calls {
        (of(Handshake::Listen), of(Handshake::Connect(a)))
    } else {
        (of(Handshake::Connect(b)), of(Handshake::Listen))
    };
    let (scheme, path) = (Scheme { packet: 1000, ..Scheme::new(case.scheme) }, folder.0.clone());
    let sending = thread::spawn(move || {
        let task = Task {
            from: Source::File(path.join("film.bin")),
            name: "film.bin".to_owned(),
            deadline: None,
            rate: None,
            packet: scheme.packet,
            transport: transport_of(&scheme.name).expect("it is one"),
            id: 1,
            receivers: Receivers { min: 1 },
        };
        let tally = Arc::new(Tally::default());
        let (cargo, about) =
            task.load(&tally, &|| true).expect("the file is there").expect("nobody said stop");
        send(&sends, &scheme, cargo, about, &mut here, &Control::new())
    });
    let path = folder.0.join("in");
    let receiving = thread::spawn(move || {
        let tally = Arc::new(Tally::default());
        let mut into = Some(Destination::Folder { path, name: None, replace: false, me: None });
        let mut accept = |offer: &Offer| match into.take() {
            Some(into) => keep(offer, into, 1 << 20, &tally),
            None => Err("one thing was received already".to_owned()),
        };
        receive(&receives, &mut accept, &mut there, &Control::new())
    });
    let sender = sending.join().expect("the sender does not panic");
    let receiver = receiving.join().ok();
    let whole = std::fs::read(folder.0.join("in/film.bin")).is_ok_and(|got| got == bytes);
    After { sender, receiver, whole }
}

fn case(scheme: &'static str, secret: Secret, receiver_calls: bool) -> Case {
    Case { scheme, secret, receiver_calls, dies: None, caller: None }
}

const SCHEMES: [&str; 3] = ["cvihis", "tfrc", "cubic"];

fn secrets() -> [Secret; 2] {
    [Secret::none(), Secret::new("of the tests")]
}

/// With and without a key: a host that impersonates an end with observed data is not accepted, and the transfer is not affected.
#[test]
fn who_saw_the_hello_opens_no_session_that_counts() {
    let (a, b) = addresses();
    for scheme in SCHEMES {
        for secret in secrets() {
            for (pose, to) in [(Pose::Receiver, a), (Pose::Sender, b)] {
                for own_name in [false, true] {
                    let said = format!("{scheme}, {secret:?}, {pose:?}, own name: {own_name}");
                    let looks_on = Observer { own_name, ..Observer::new(pose, to) };
                    let welcomes = looks_on.welcomes.clone();
                    let after = transfer(&case(scheme, secret.clone(), pose == Pose::Receiver), looks_on);
                    let receiver = after.receiver.expect("it was not killed");
                    assert_eq!(
                        (&after.sender.end, &receiver.end),
                        (&End::Complete, &End::Complete),
                        "{said}"
                    );
                    assert!(after.whole, "{said}");
                    assert_eq!((after.sender.stats.sessions, receiver.stats.sessions), (1, 1), "{said}");
                    // with the true identity it must prove it; otherwise the place is taken
                    let expected = secret == Secret::none() && !own_name;
                    assert_eq!(welcomes.open(|welcomes| *welcomes > 0), expected, "{said}");
                }
            }
        }
    }
}

/// The receiver is killed when it has a part. The observer claims to be the receiver, or another one, and to have the file.
#[test]
fn a_sender_is_not_told_that_all_is_well_by_who_only_looked_on() {
    let (a, _) = addresses();
    for scheme in SCHEMES {
        for secret in secrets() {
            for own_name in [false, true] {
                let said = format!("{scheme}, {secret:?}, own name: {own_name}");
                let looks_on = Observer { own_name, ..Observer::new(Pose::Receiver, a) };
                let dies = Some(ms(400));
                let case = Case { dies, ..case(scheme, secret.clone(), true) };
                let after = transfer(&case, looks_on);
                assert!(after.receiver.is_none() && !after.whole, "{said}");
                assert_ne!(after.sender.end, End::Complete, "{said}");
            }
        }
    }
}

/// The observer of these tests is effective: with the true caller's private key its session replaces the true one.
#[test]
fn who_has_the_callers_own_half_is_taken_for_it() {
    let (a, _) = addresses();
    let caller = [77; KEY];
    let looks_on = Observer { me: KeyPair::new(caller), ..Observer::new(Pose::Receiver, a) };
    let case = Case { caller: Some(caller), ..case("cvihis", Secret::none(), true) };
    let after = transfer(&case, looks_on);
    assert!(after.sender.stats.sessions > 1, "{}", after.sender.stats.sessions);
    assert_ne!(after.sender.end, End::Complete, "and still it does not have what it says that it has");
}
