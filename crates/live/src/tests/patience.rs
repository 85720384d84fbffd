//! Tests that idle timeouts count delivered data, not keep-alives.

use transfer::Waits;

use super::*;
use crate::End;

/// Sends this many packets and then no more, for ever or until the given time.
struct Pausing {
    inner: Numbers,
    after: u64,
    until: Time,
}

impl Payload for Pausing {
    fn fill(&mut self, seq: u64, now: Time, room: &mut [u8]) -> usize {
        // the law may permit a packet although there is no data
        if self.ready(now) > now { 0 } else { self.inner.fill(seq, now, room) }
    }
    fn ready(&mut self, now: Time) -> Time {
        let sent = self.inner.told.open(|told| told.filled);
        if sent >= self.after && now < self.until { self.until } else { now }
    }
    fn on_message(&mut self, from: EndpointId, now: Time, frame: &[u8]) {
        self.inner.on_message(from, now, frame);
    }
    fn status(&self) -> Status {
        self.inner.status()
    }
}

/// Accepts all data, and expects a pause.
struct Taking {
    inner: Counter,
    waits: Waits,
}

impl Sink for Taking {
    fn take(&mut self, seq: u64, now: Time, content: &[u8]) {
        self.inner.take(seq, now, content);
    }
    fn speak(&mut self, now: Time, frame: &mut [u8; MAX_MESSAGE_BYTES]) -> usize {
        self.inner.speak(now, frame)
    }
    fn wake(&self) -> Time {
        self.inner.wake()
    }
    fn moved(&self) -> Option<u64> {
        Some(self.inner.had.open(|had| had.right))
    }
    fn waits(&self) -> Waits {
        self.waits
    }
    fn status(&self) -> Status {
        self.inner.status()
    }
}

/// Counts the packets that the receiver reports.
struct Counted(Numbers);

impl Payload for Counted {
    fn fill(&mut self, seq: u64, now: Time, room: &mut [u8]) -> usize {
        self.0.fill(seq, now, room)
    }
    fn on_message(&mut self, from: EndpointId, now: Time, frame: &[u8]) {
        self.0.on_message(from, now, frame);
    }
    fn moved(&self) -> Option<u64> {
        Some(self.0.told.open(|told| told.had))
    }
    fn status(&self) -> Status {
        self.0.status()
    }
}

fn told(handshake: Handshake, key: &str) -> Settings {
    let limits = crate::Limits { patience: Duration::from_secs(5), ..crate::Limits::default() };
    Settings { limits, secret: Secret::new(key), ..settings(handshake) }
}

fn numbers_of(wanted: u64) -> Numbers {
    Numbers { wanted, done: false, told: Shelf::default() }
}

/// A sender that pauses after this many packets, until the given time.
fn pausing(
    mut place: VirtualHost,
    settings: Settings,
    after: u64,
    until: Time,
    about: &'static [u8],
) -> thread::JoinHandle<Outcome> {
    thread::spawn(move || {
        let payload = Pausing { inner: numbers_of(500), after, until };
        let cargo = Outgoing::Paced(Box::new(payload));
        send(&settings, &steady("8 Mbit/s"), cargo, about.to_vec(), &mut place, &Control::new())
    })
}

/// A receiver that listens; returns the number of offers it accepted.
fn receiver(
    mut place: VirtualHost,
    settings: Settings,
    waits: Waits,
) -> thread::JoinHandle<(Outcome, u32, Time)> {
    thread::spawn(move || {
        let mut agreed = 0;
        let mut accept = |_: &wire::stream::Offer| {
            agreed += 1;
            let inner = Counter { wanted: 500, had: Shelf::default(), speak_at: Time::ZERO };
            Ok(Incoming::Paced(Box::new(Taking { inner, waits })))
        };
        let outcome = receive(&settings, &mut accept, &mut place, &Control::new());
        let now = place.now();
        (outcome, agreed, now)
    })
}

fn third() -> SocketAddr {
    SocketAddr::from(([10, 0, 0, 3], 9))
}

#[test]
fn a_quiet_caller_without_a_key_does_not_keep_a_listener_from_another() {
    let (a, b) = addresses();
    let net = VirtualNetwork::plain(ms(10));
    let (quiet, there, honest) = (net.host(third(), ms(0)), net.host(b, ms(0)), net.host(a, ms(2500)));
    let quiet = pausing(quiet, told(Handshake::Connect(b), ""), 0, Time::NEVER, b"quiet");
    let honest = pausing(honest, told(Handshake::Connect(b), ""), u64::MAX, Time::NEVER, b"honest");
    let receiver = receiver(there, told(Handshake::Listen, ""), Waits::There);
    assert_eq!(honest.join().expect("no end panics").end, End::Complete);
    let (receiver, agreed, _) = receiver.join().expect("no end panics");
    assert_eq!((receiver.end, agreed), (End::Complete, 2));
    assert_ne!(quiet.join().expect("no end panics").end, End::Complete);
}

#[test]
fn a_quiet_caller_is_given_up_and_the_listener_goes_on_listening() {
    let (a, b) = addresses();
    let net = VirtualNetwork::plain(ms(10));
    let start = net.now();
    let (quiet, there) = (net.host(a, ms(0)), net.host(b, ms(0)));
    let quiet = pausing(quiet, told(Handshake::Connect(b), ""), 0, Time::NEVER, b"quiet");
    let mut settings = told(Handshake::Listen, "");
    settings.limits.waits = Duration::from_secs(8);
    let (receiver, _, ended) = receiver(there, settings, Waits::Nobody).join().expect("no end panics");
    assert_eq!(receiver.end, End::Unanswered);
    assert!(ended < start + Duration::from_secs(9), "{}", ended.saturating_since(start));
    assert_ne!(quiet.join().expect("no end panics").end, End::Complete);
}

#[test]
fn a_sender_that_lives_and_sends_no_more_is_given_up_after_the_patience() {
    let (a, b) = addresses();
    let net = VirtualNetwork::plain(ms(10));
    let start = net.now();
    let (here, there) = (net.host(a, ms(0)), net.host(b, ms(0)));
    let sender = pausing(here, told(Handshake::Connect(b), "key"), 100, Time::NEVER, b"file");
    let (receiver, _, ended) =
        receiver(there, told(Handshake::Listen, "key"), Waits::Nobody).join().expect("no end panics");
    assert_eq!(receiver.end, End::Quiet);
    assert!(ended < start + Duration::from_secs(7), "{}", ended.saturating_since(start));
    assert_eq!(sender.join().expect("no end panics").end, End::Closed(wire::stream::Reason::Quiet));
}

#[test]
fn a_program_may_be_idle_for_longer_than_the_patience_where_the_ends_have_a_key() {
    for (key, whole) in [("key", true), ("", false)] {
        let (a, b) = addresses();
        let net = VirtualNetwork::plain(ms(10));
        let until = net.now() + Duration::from_secs(30);
        let (here, there) = (net.host(a, ms(0)), net.host(b, ms(0)));
        let sender = pausing(here, told(Handshake::Connect(b), key), 100, until, b"stream");
        let (receiver, ..) =
            receiver(there, told(Handshake::Listen, key), Waits::There).join().expect("no end panics");
        assert_eq!(receiver.end, if whole { End::Complete } else { End::Quiet });
        assert_eq!(sender.join().expect("no end panics").end == End::Complete, whole);
    }
}

#[test]
fn a_receiver_that_lives_and_takes_nothing_is_given_up_after_the_patience() {
    let (a, b) = addresses();
    // all data datagrams are lost
    let net =
        VirtualNetwork::new(
            |passing| if passing.bytes.len() > 500 { Vec::new() } else { vec![passing.after(ms(10))] },
        );
    let (mut here, there) = (net.host(a, ms(0)), net.host(b, ms(0)));
    let sender = thread::spawn(move || {
        let cargo = Outgoing::Paced(Box::new(Counted(numbers_of(500))));
        let told = told(Handshake::Connect(b), "key");
        send(&told, &steady("8 Mbit/s"), cargo, Vec::new(), &mut here, &Control::new())
    });
    let receiver = receiver(there, told(Handshake::Listen, "key"), Waits::There);
    assert_eq!(sender.join().expect("no end panics").end, End::Quiet);
    let (receiver, ..) = receiver.join().expect("no end panics");
    assert_eq!(receiver.end, End::Closed(wire::stream::Reason::Quiet));
}

/// Packets to a group, until a receiver had 300 of them and no present receiver has fewer.
#[derive(Default)]
struct ToAll {
    had: std::collections::BTreeMap<EndpointId, u64>,
    whole: bool,
}

impl Payload for ToAll {
    fn fill(&mut self, seq: u64, _now: Time, room: &mut [u8]) -> usize {
        room.chunks_mut(8).for_each(|chunk| chunk.copy_from_slice(&seq.to_be_bytes()[..chunk.len()]));
        room.len()
    }
    fn on_join(&mut self, peer: EndpointId) {
        self.had.insert(peer, 0);
    }
    fn on_leave(&mut self, peer: EndpointId) {
        self.had.remove(&peer);
    }
    fn on_message(&mut self, from: EndpointId, _now: Time, frame: &[u8]) {
        let had = frame.try_into().map_or(0, u64::from_be_bytes);
        self.whole |= had >= 300;
        self.had.entry(from).and_modify(|before| *before = had.max(*before));
    }
    fn moved_by(&self, peer: EndpointId) -> Option<u64> {
        self.had.get(&peer).copied()
    }
    fn status(&self) -> Status {
        if self.whole && self.had.values().all(|had| *had >= 300) { Status::Whole } else { Status::Going }
    }
}

/// Receives the group, and reports that it is alive and has nothing.
struct Stuck(Time);

impl Sink for Stuck {
    fn take(&mut self, _seq: u64, _now: Time, _content: &[u8]) {}
    fn speak(&mut self, now: Time, frame: &mut [u8; MAX_MESSAGE_BYTES]) -> usize {
        if now < self.0 {
            return 0;
        }
        self.0 = now + ms(100);
        frame[..8].fill(0);
        8
    }
    fn status(&self) -> Status {
        Status::Going
    }
}

#[test]
fn a_receiver_of_a_group_that_takes_nothing_does_not_keep_the_others_waiting() {
    let group = SocketAddr::from(([239, 1, 2, 3], 5000));
    let (a, b) = addresses();
    let net = VirtualNetwork::new(move |passing| {
        let to = if passing.to == group { vec![b, third()] } else { vec![passing.to] };
        to.into_iter().map(|to| driver::testing::InFlight { to, ..passing.after(ms(10)) }).collect()
    });
    let mut here = net.host(a, ms(0));
    let receiving =
        [(net.host(b, ms(1)), true), (net.host(third(), ms(2)), false)].map(|(mut place, takes)| {
            thread::spawn(move || {
                let mut accept = |_: &wire::stream::Offer| {
                    let counter = Counter { wanted: 300, had: Shelf::default(), speak_at: Time::ZERO };
                    let sink: Box<dyn Sink> =
                        if takes { Box::new(counter) } else { Box::new(Stuck(Time::ZERO)) };
                    Ok(Incoming::Paced(sink))
                };
                receive(&told(Handshake::Connect(a), ""), &mut accept, &mut place, &Control::new()).end
            })
        });
    let to = crate::Group { address: group, max: 8 };
    let (outcome, left) = crate::send_to_group(
        &told(Handshake::Listen, ""),
        &to,
        &steady("1 Mbit/s"),
        Box::new(ToAll::default()),
        Vec::new(),
        &mut here,
        &Control::new(),
    );
    // the clock waits for every present place
    drop(here);
    assert_eq!(outcome.end, End::Complete);
    assert_eq!(left.iter().filter(|left| left.end == End::Quiet).count(), 1, "{left:?}");
    let ends = receiving.map(|thread| thread.join().expect("no end panics"));
    assert_eq!(ends, [End::Complete, End::Closed(wire::stream::Reason::Quiet)]);
}
