//! Tests of handshakes.

use wire::stream::Reason;

use super::*;
use crate::{End, Limits};

/// The outcome of a receiver at `place`.
fn receiver_at(mut place: VirtualHost, settings: Settings) -> thread::JoinHandle<Outcome> {
    thread::spawn(move || {
        let mut accept = |_: &wire::stream::Offer| {
            let sink = Counter { wanted: 500, had: Shelf::default(), speak_at: Time::ZERO };
            Ok(Incoming::Paced(Box::new(sink)))
        };
        receive(&settings, &mut accept, &mut place, &Control::new())
    })
}

/// The outcome of a sender at `place`.
fn sender_at(mut place: VirtualHost, settings: Settings, scheme: Scheme) -> thread::JoinHandle<Outcome> {
    thread::spawn(move || {
        let payload = Numbers { wanted: 500, done: false, told: Shelf::default() };
        send(&settings, &scheme, Outgoing::Paced(Box::new(payload)), Vec::new(), &mut place, &Control::new())
    })
}

fn short(handshake: Handshake) -> Settings {
    let limits =
        Limits { patience: Duration::from_secs(5), waits: Duration::from_secs(9), ..Limits::default() };
    Settings { limits, ..settings(handshake) }
}

fn end(thread: thread::JoinHandle<Outcome>) -> End {
    thread.join().expect("no end panics").end
}

#[test]
fn either_end_may_call() {
    for sender_calls in [true, false] {
        let net = VirtualNetwork::plain(ms(10));
        let (a, b) = addresses();
        let (here, there) = (net.host(a, ms(0)), net.host(b, ms(0)));
        let (sends, receives) = if sender_calls {
            (Handshake::Connect(b), Handshake::Listen)
        } else {
            (Handshake::Listen, Handshake::Connect(a))
        };
        let sender = sender_at(here, settings(sends), steady("8 Mbit/s"));
        let receiver = receiver_at(there, settings(receives));
        assert_eq!((end(sender), end(receiver)), (End::Complete, End::Complete));
    }
}

#[test]
fn ends_with_other_secrets_do_not_meet() {
    let net = VirtualNetwork::plain(ms(10));
    let (a, b) = addresses();
    let (here, there) = (net.host(a, ms(0)), net.host(b, ms(0)));
    let other = Settings { secret: Secret::new("another"), ..short(Handshake::Connect(b)) };
    let sender = sender_at(here, other, steady("8 Mbit/s"));
    let receiver = receiver_at(there, short(Handshake::Listen));
    // the sender gets the reason, before its timeout
    assert_eq!(end(sender), End::Refused(Reason::Key));
    let receiver = receiver.join().expect("no end panics");
    assert_eq!(receiver.end, End::Unanswered);
    let stats = receiver.stats;
    assert!(stats.discarded.forged > 0 && stats.sessions == 0);
    assert!(stats.sent.datagrams <= stats.discarded.forged, "a hint a hello");
    assert!(stats.sent.bytes < stats.discarded.forged * wire::stream::HELLO as u64, "shorter than a hello");
}

/// Any host can claim that a key is wrong: the claim is ignored if the other end answers.
#[test]
fn a_hint_that_the_key_is_another_stops_nobody_whose_key_is_right() {
    let (a, b) = addresses();
    let net = VirtualNetwork::new(move |passing| {
        let mut arrivals = vec![passing.after(ms(300))];
        if passing.from == a
            && passing.bytes[2] == 1
            && let Ok(datagram) = wire::stream::Datagram::read(&passing.bytes[..passing.bytes.len() - 16])
            && let wire::stream::Frame::Hello(hello) = datagram.frame
        {
            let frame = wire::stream::Frame::Refusal(Reason::Key);
            let mut bytes = Vec::new();
            wire::stream::Datagram { session: datagram.session, number: 0, frame }.write(&mut bytes);
            crate::keys::Key::answer(&Secret::none(), &hello.public).seal(&mut bytes, 0);
            arrivals.push(driver::testing::InFlight { from: b, to: a, bytes, ..passing.after(ms(1)) });
        }
        arrivals
    });
    let left = numbers(&net, &steady("8 Mbit/s"), 500);
    assert_eq!((left.sender.end, left.receiver.end), (End::Complete, End::Complete));
}

#[test]
fn two_senders_do_not_meet_and_a_second_receiver_is_told_that_another_is_served() {
    let net = VirtualNetwork::plain(ms(10));
    let (a, b) = addresses();
    let c = SocketAddr::from(([10, 0, 0, 3], 9));
    let places = [net.host(a, ms(0)), net.host(b, ms(100)), net.host(c, ms(200))];
    let [here, there, other] = places;
    let sender = sender_at(here, short(Handshake::Listen), steady("800 kbit/s"));
    let first = receiver_at(there, short(Handshake::Connect(a)));
    let second = receiver_at(other, short(Handshake::Connect(a)));
    assert_eq!(end(second), End::Refused(Reason::Busy));
    assert_eq!((end(sender), end(first)), (End::Complete, End::Complete));

    let net = VirtualNetwork::plain(ms(10));
    let (here, there) = (net.host(a, ms(0)), net.host(b, ms(0)));
    let sender = sender_at(here, short(Handshake::Listen), steady("8 Mbit/s"));
    let other = sender_at(there, short(Handshake::Connect(a)), steady("8 Mbit/s"));
    assert_eq!((end(other), end(sender)), (End::Refused(Reason::Mismatch), End::Unanswered));
}

#[test]
fn an_offer_that_the_application_does_not_want_is_refused() {
    let net = VirtualNetwork::plain(ms(10));
    let (a, b) = addresses();
    let (here, mut there) = (net.host(a, ms(0)), net.host(b, ms(0)));
    let sender = sender_at(here, short(Handshake::Connect(b)), steady("8 Mbit/s"));
    let receiver = thread::spawn(move || {
        let mut accept = |_: &wire::stream::Offer| Err("the disk is full".to_owned());
        receive(&short(Handshake::Listen), &mut accept, &mut there, &Control::new())
    });
    assert_eq!((end(sender), end(receiver)), (End::Refused(Reason::Offer), End::Unanswered));

    let net = VirtualNetwork::plain(ms(10));
    let (here, mut there) = (net.host(a, ms(0)), net.host(b, ms(0)));
    let sender = sender_at(here, short(Handshake::Listen), steady("8 Mbit/s"));
    let receiver = thread::spawn(move || {
        let mut accept = |_: &wire::stream::Offer| Err("the disk is full".to_owned());
        receive(&short(Handshake::Connect(a)), &mut accept, &mut there, &Control::new())
    });
    assert_eq!(end(sender), End::Closed(Reason::Offer));
    assert_eq!(end(receiver), End::Failed("the disk is full".to_owned()));
}

#[test]
fn a_scheme_that_is_not_or_does_not_fit_fails_at_once() {
    let net = VirtualNetwork::plain(ms(10));
    let (a, b) = addresses();
    for (scheme, why) in [
        (Scheme::new("swift"), "there is no scheme `swift`"),
        (Scheme::new("cubic"), "`cubic` does not carry data of this kind"),
        (Scheme { packet: 100, ..Scheme::new("mca") }, "packets of 100 bytes have no room for their headers"),
        (Scheme::new("least_loaded"), "`least_loaded` has no part at the ends of a network"),
    ] {
        let sender = sender_at(net.host(a, ms(0)), short(Handshake::Connect(b)), scheme);
        assert_eq!(end(sender), End::Failed(why.to_owned()));
    }
    let wrong = Scheme { params: vec![("speed".to_owned(), 1.0.into())], ..Scheme::new("mca") };
    let sender = sender_at(net.host(a, ms(0)), short(Handshake::Connect(b)), wrong);
    assert!(matches!(end(sender), End::Failed(_)));
}

#[test]
fn a_lossy_network_delays_meeting_and_parting_and_no_more() {
    // half of the datagrams other than data are lost
    let mut random = contract::Random::new(3, "net", "loss");
    let net = VirtualNetwork::new(move |passing| {
        if passing.bytes[2] < 16 && random.chance(0.5) { Vec::new() } else { vec![passing.after(ms(10))] }
    });
    let left = numbers(&net, &steady("8 Mbit/s"), 500);
    assert_eq!((left.sender.end, left.receiver.end), (End::Complete, End::Complete));
    assert_eq!((left.sender.stats.sessions, left.receiver.stats.sessions), (1, 1));
}

#[test]
fn sessions_over_ipv6_count_its_longer_headers() {
    let net = VirtualNetwork::plain(ms(10));
    let (a, b) =
        (SocketAddr::from(([0, 0, 0, 0, 0, 0, 0, 1], 7)), SocketAddr::from(([0, 0, 0, 0, 0, 0, 0, 2], 9)));
    let places = (net.host(a, ms(1)), net.host(b, ms(0)));
    let ends = (settings(Handshake::Connect(b)), settings(Handshake::Listen));
    let left = numbers_between(places, &steady("8 Mbit/s"), 500, ends, Controls::default());
    assert_eq!((&left.sender.end, &left.receiver.end), (&End::Complete, &End::Complete));
    let stats = &left.receiver.stats;
    assert_eq!(stats.bytes, stats.packets * 1028);
    assert_eq!(stats.content, stats.packets * (1028 - 48 - wire::stream::DATA as u64));
}
