//! Tests of one sender and many receivers.

use contract::Ecn;
use driver::testing::InFlight;
use wire::stream::Frame;

use super::*;
use crate::keys::Key;
use crate::{End, Group, Limits, ReceiverOutcome, send_to_group};

fn group() -> SocketAddr {
    SocketAddr::from(([239, 1, 2, 3], 5000))
}

fn member(n: u8) -> SocketAddr {
    SocketAddr::from(([10, 0, 1, n], 9))
}

/// Results of all ends.
struct All {
    sender: Outcome,
    left: Vec<ReceiverOutcome>,
    receivers: Vec<Outcome>,
    had: Vec<Shelf<Had>>,
    told: Shelf<Told>,
}

/// Numbers each receiver's message: the payload is complete when all of them have reported `wanted`.
struct ForAll {
    wanted: u64,
    expected: usize,
    whole: std::collections::BTreeSet<EndpointId>,
    told: Shelf<Told>,
}

impl Payload for ForAll {
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
    fn on_message(&mut self, from: EndpointId, _now: Time, frame: &[u8]) {
        if frame.try_into().map_or(0, u64::from_be_bytes) >= self.wanted {
            self.whole.insert(from);
        }
        self.told.open(|told| told.words += 1);
    }
    fn status(&self) -> Status {
        if self.whole.len() >= self.expected { Status::Whole } else { Status::Going }
    }
}

/// Sends numbers to `members` receivers over a network that copies group datagrams to all of them, 10 ms away, and applies `law` to every
/// datagram that would arrive.
fn gather(
    members: u8,
    scheme: &Scheme,
    wanted: u64,
    limits: Limits,
    mut law: impl FnMut(InFlight) -> Vec<InFlight> + Send + 'static,
    deaths: &[(u8, Duration)],
    expected: usize,
) -> All {
    let net = VirtualNetwork::new(move |passing: &InFlight| {
        let copies: Vec<InFlight> = if passing.to == group() {
            (0..members).map(|n| InFlight { to: member(n), ..passing.after(ms(10)) }).collect()
        } else {
            vec![passing.after(ms(10))]
        };
        copies.into_iter().flat_map(&mut law).collect()
    });
    let (a, _) = addresses();
    let mut here = net.host(a, ms(0));
    let places: Vec<VirtualHost> = (0..members)
        .map(|n| {
            let place = net.host(member(n), ms(1 + u64::from(n)));
            match deaths.iter().find(|(who, _)| *who == n) {
                Some((_, at)) => place.dying(*at),
                None => place,
            }
        })
        .collect();
    let told = Shelf::<Told>::default();
    let had: Vec<Shelf<Had>> = places.iter().map(|_| Shelf::default()).collect();
    let of = move |handshake| Settings { limits, ..settings(handshake) };
    let payload = ForAll { wanted, expected, whole: Default::default(), told: told.clone() };
    let scheme = scheme.clone();
    let sending = thread::spawn(move || {
        let to = Group { address: group(), max: 64 };
        let payload = Box::new(payload);
        send_to_group(
            &of(Handshake::Listen),
            &to,
            &scheme,
            payload,
            b"numbers".to_vec(),
            &mut here,
            &Control::new(),
        )
    });
    let receiving: Vec<_> = places
        .into_iter()
        .zip(&had)
        .map(|(mut place, had)| {
            let had = had.clone();
            thread::spawn(move || {
                let mut accept = |_: &wire::stream::Offer| {
                    let sink = Counter { wanted, had: had.clone(), speak_at: Time::ZERO };
                    Ok(Incoming::Paced(Box::new(sink) as Box<dyn Sink>))
                };
                receive(&of(Handshake::Connect(a)), &mut accept, &mut place, &Control::new())
            })
        })
        .collect();
    let receivers: Vec<_> = receiving.into_iter().map(std::thread::JoinHandle::join).collect();
    let (sender, left) = sending.join().expect("the sender does not panic");
    let receivers = receivers.into_iter().flatten().collect();
    All { sender, left, receivers, had, told }
}

#[test]
fn everybody_gets_what_is_sent_once() {
    let all = gather(20, &steady("8 Mbit/s"), 300, Limits::default(), |passing| vec![passing], &[], 20);
    assert_eq!(all.sender.end, End::Complete);
    assert!(all.receivers.len() == 20 && all.receivers.iter().all(|outcome| outcome.end == End::Complete));
    for (had, outcome) in all.had.iter().zip(&all.receivers) {
        had.open(|had| assert_eq!((had.right >= 300, had.wrong, had.ended), (true, 0, 1)));
        assert_eq!(outcome.stats.discarded.total(), 0, "{:?}", outcome.stats.discarded);
    }
    all.told.open(|told| {
        assert_eq!((told.joins, told.leaves), (20, 20));
        assert_eq!(told.filled, all.sender.stats.packets, "each packet was sent once for all");
    });
    let mut peers: Vec<u32> = all.left.iter().map(|left| left.peer).collect();
    peers.sort_unstable();
    assert_eq!(peers, (1..=20).collect::<Vec<_>>());
    assert!(all.left.iter().all(|left| left.end == End::Complete));
}

/// MCA: the receiver with the narrowest path is the representative. One in three packets to the last of five are lost, which the law must
/// detect.
#[test]
fn the_rate_follows_the_slowest_receiver() {
    let lossy = |all: bool| {
        let mut count = 0u32;
        move |passing: InFlight| {
            if passing.bytes[2] != 16 || (passing.to != member(4) && !all) {
                return vec![passing];
            }
            count += 1;
            if count.is_multiple_of(3) { Vec::new() } else { vec![passing] }
        }
    };
    let scheme = Scheme { packet: 1028, ..Scheme::new("mca") };
    let span = |all: &All| all.sender.stats.span().as_secs_f64();
    let free = gather(5, &scheme, 1500, Limits::default(), |passing| vec![passing], &[], 5);
    let held = gather(5, &scheme, 1500, Limits::default(), lossy(false), &[], 5);
    assert_eq!((&free.sender.end, &held.sender.end), (&End::Complete, &End::Complete));
    assert!(span(&held) > 2.0 * span(&free), "{} s and {} s", span(&held), span(&free));
    assert!(held.sender.stats.meter.count(contract::Count::FeedbackReceived) > 20);
}

/// The network drops group datagrams for the first 20 s. The sender pauses after 9 s without feedback, and continues when there is
/// feedback.
#[test]
fn a_sender_that_nobody_hears_stands_still() {
    let seen = Shelf::<Vec<Duration>>::default();
    let (sent, mut began, mut session) = (seen.clone(), None, None);
    let law = move |passing: InFlight| {
        let since = passing.at.saturating_since(*began.get_or_insert(passing.at));
        // the first data show the session of the group
        let number = [passing.bytes[4], passing.bytes[5], passing.bytes[6], passing.bytes[7]];
        if passing.bytes[2] == 16 {
            session = Some(number);
            sent.open(|sent| sent.push(since));
        }
        let lost = session == Some(number) && since < ms(20_000);
        if lost { Vec::new() } else { vec![passing] }
    };
    let all = gather(2, &Scheme { packet: 1028, ..Scheme::new("mca") }, 300, Limits::default(), law, &[], 2);
    assert_eq!(all.sender.end, End::Complete);
    assert!(all.receivers.iter().all(|outcome| outcome.end == End::Complete));
    let within = |from: u64, to: u64| {
        seen.open(|seen| seen.iter().filter(|since| (ms(from)..ms(to)).contains(since)).count())
    };
    assert!(within(0, 8_000) > 0);
    assert_eq!(within(13_000, 20_000), 0);
    assert!(within(20_000, 40_000) >= 300);
}

/// TFMCC and PGMCC: a tenth of the packets to the last of five are lost. The schemes do not retransmit, so that it needs later packets
/// instead. Both reduce the rate for it: PGMCC as soon as it is the acker, TFMCC at its turn in a feedback round, some seconds later; until
/// then thousands of packets are sent in slowstart.
#[test]
fn other_laws_for_groups_serve_a_receiver_that_loses() {
    let lossy = |loses: bool| {
        let mut count = 0u32;
        move |passing: InFlight| {
            if passing.bytes[2] != 16 || passing.to != member(4) {
                return vec![passing];
            }
            count += 1;
            if loses && count.is_multiple_of(10) { Vec::new() } else { vec![passing] }
        }
    };
    for (name, wanted) in [("tfmcc", 15_000), ("pgmcc", 4000)] {
        let scheme = Scheme { packet: 1028, ..Scheme::new(name) };
        let [free, held] =
            [false, true].map(|loses| gather(5, &scheme, wanted, Limits::default(), lossy(loses), &[], 5));
        for all in [&free, &held] {
            assert_eq!((&all.sender.end, all.receivers.len()), (&End::Complete, 5), "{name}");
            for (had, outcome) in all.had.iter().zip(&all.receivers) {
                assert_eq!(outcome.end, End::Complete, "{name}");
                had.open(|had| {
                    assert_eq!((had.right >= wanted, had.wrong, had.ended), (true, 0, 1), "{name}");
                });
            }
            all.told.open(|told| {
                assert_eq!((told.joins, told.leaves), (5, 5), "{name}");
                assert_eq!(
                    told.filled, all.sender.stats.packets,
                    "{name}: each packet was sent once for all"
                );
            });
        }
        let [free, held] = [&free, &held].map(|all| all.sender.stats.span().as_secs_f64());
        assert!(held > 2.0 * free, "{name}: {held} s and {free} s");
    }
}

/// Two receivers, of which the second is killed after 300 ms and restarted at `back`, at another address and with its former number.
fn with_one_that_returns(back: Duration, patience: Duration) -> (Outcome, Vec<ReceiverOutcome>, Shelf<Told>) {
    let net = VirtualNetwork::new(move |passing: &InFlight| {
        if passing.to == group() {
            return (0..3).map(|n| InFlight { to: member(n), ..passing.after(ms(10)) }).collect();
        }
        vec![passing.after(ms(10))]
    });
    let limits = Limits { patience, ..Limits::default() };
    let (a, _) = addresses();
    let mut here = net.host(a, ms(0));
    let places = [
        (net.host(member(0), ms(1)), None),
        (net.host(member(1), ms(2)).dying(ms(300)), Some([77; 32])),
        (net.host(member(2), back), Some([77; 32])),
    ];
    let told = Shelf::<Told>::default();
    let payload = ForAll { wanted: 1500, expected: 2, whole: Default::default(), told: told.clone() };
    let sending = thread::spawn(move || {
        let to = Group { address: group(), max: 2 };
        let settings = Settings { limits, ..settings(Handshake::Listen) };
        let (scheme, payload) = (steady("1 Mbit/s"), Box::new(payload));
        send_to_group(&settings, &to, &scheme, payload, Vec::new(), &mut here, &Control::new())
    });
    let receiving = places.map(|(mut place, caller)| {
        thread::spawn(move || {
            let mut accept = |_: &wire::stream::Offer| {
                let sink = Counter { wanted: 1500, had: Shelf::default(), speak_at: Time::ZERO };
                Ok(Incoming::Paced(Box::new(sink) as Box<dyn Sink>))
            };
            let settings = Settings { limits, caller, ..settings(Handshake::Connect(a)) };
            receive(&settings, &mut accept, &mut place, &Control::new())
        })
    });
    let ends = receiving.map(|thread| thread.join().ok().map(|outcome| outcome.end));
    assert_eq!(ends, [Some(End::Complete), None, Some(End::Complete)]);
    let (outcome, left) = sending.join().expect("the sender does not panic");
    (outcome, left, told)
}

#[test]
fn a_receiver_that_is_started_again_counts_once() {
    // soon, and after it had been removed: there is a place for two, and it gets one
    for (back, patience) in [(ms(900), Duration::from_secs(60)), (ms(8000), Duration::from_secs(5))] {
        let (outcome, mut left, told) = with_one_that_returns(back, patience);
        assert_eq!(outcome.end, End::Complete);
        left.sort_unstable_by_key(|left| left.peer);
        let ends: Vec<_> = left.iter().map(|left| (left.peer, left.address, &left.end)).collect();
        assert_eq!(ends, [(1, member(0), &End::Complete), (2, member(2), &End::Complete)]);
        assert_eq!(outcome.stats.sessions, 3, "it was met twice");
        told.open(|told| assert_eq!((told.joins, told.leaves), (3, 3)));
    }
}

#[test]
fn a_receiver_that_dies_is_given_up_and_the_others_go_on() {
    let limits = Limits { patience: Duration::from_secs(5), ..Limits::default() };
    let dead = [(1, Duration::from_millis(300))];
    let all = gather(3, &steady("1 Mbit/s"), 1500, limits, |passing| vec![passing], &dead, 2);
    assert_eq!(all.sender.end, End::Complete);
    assert_eq!(all.receivers.iter().filter(|outcome| outcome.end == End::Complete).count(), 2);
    let ends: Vec<(u32, &End)> = all.left.iter().map(|left| (left.peer, &left.end)).collect();
    assert_eq!(ends[0], (2, &End::Silent));
    assert!(ends[1..].iter().all(|(_, end)| **end == End::Complete), "{ends:?}");
    all.told.open(|told| assert_eq!((told.joins, told.leaves), (3, 3)));
}

#[test]
fn what_is_duplicated_lost_damaged_or_replayed_harms_nobody() {
    let mut n = 0u64;
    let all = gather(
        4,
        &steady("4 Mbit/s"),
        400,
        Limits::default(),
        move |passing| {
            n += 1;
            match n % 11 {
                0 => Vec::new(),
                3 => vec![passing.clone(), passing.after(ms(3))],
                5 => {
                    let mut damaged = passing.clone();
                    let at = (n as usize * 7) % damaged.bytes.len();
                    damaged.bytes[at] ^= 0x10;
                    vec![damaged]
                }
                7 => vec![passing.after(ms(30))],
                _ => vec![passing],
            }
        },
        &[],
        4,
    );
    assert_eq!(all.sender.end, End::Complete);
    assert!(all.receivers.len() == 4 && all.receivers.iter().all(|outcome| outcome.end == End::Complete));
    for (had, outcome) in all.had.iter().zip(&all.receivers) {
        had.open(|had| assert_eq!((had.right >= 400, had.wrong), (true, 0)));
        assert!(outcome.stats.discarded.repeated > 0 && outcome.stats.discarded.forged > 0);
    }
}

/// A host that knows the group and its number, but not its key.
#[test]
fn a_stranger_cannot_speak_to_the_group() {
    let all = gather(
        3,
        &steady("4 Mbit/s"),
        300,
        Limits::default(),
        |passing| {
            if passing.bytes[2] != 16 {
                return vec![passing];
            }
            let session = u32::from_be_bytes([4, 5, 6, 7].map(|place| passing.bytes[place]));
            let mut lie = Vec::new();
            let frame = Frame::Data(wire::stream::Data {
                sent_at: passing.at,
                header: contract::StreamHeader { seq: 1 << 40, bytes_before: 1 << 50, ..Default::default() },
                label: contract::Label::default(),
                content: &[9; 100],
                padding: 0,
            });
            wire::stream::Datagram { session, number: 1 << 50, frame }.write(&mut lie);
            Key::opening(&Secret::none()).seal(&mut lie, 0);
            vec![passing.clone(), InFlight { bytes: lie, ecn: Ecn::NotCapable, ..passing }]
        },
        &[],
        3,
    );
    assert!(all.receivers.iter().all(|outcome| outcome.end == End::Complete));
    for (had, outcome) in all.had.iter().zip(&all.receivers) {
        assert_eq!(had.open(|had| had.wrong), 0);
        assert!(outcome.stats.discarded.forged >= 300);
        assert_eq!(outcome.stats.meter.count(contract::Count::Missing), 0);
    }
}

#[test]
fn a_network_that_does_not_carry_the_group_is_said_to_be_so() {
    let limits =
        Limits { patience: Duration::from_secs(4), waits: Duration::from_secs(8), ..Limits::default() };
    let all = gather(
        2,
        &steady("1 Mbit/s"),
        10,
        limits,
        |passing| {
            // data and keep-alives to the group have its number
            let to_group = passing.bytes[2] == 16 || (passing.bytes[2] == 7 && passing.bytes[15] > 200);
            if to_group { Vec::new() } else { vec![passing] }
        },
        &[],
        2,
    );
    assert_eq!(all.receivers.len(), 2);
    for outcome in &all.receivers {
        let End::Failed(why) = &outcome.end else { panic!("{:?}", outcome.end) };
        assert!(why.contains("239.1.2.3:5000") && why.contains("carry"), "{why}");
    }
    assert_eq!(all.sender.end, End::Silent);
}

#[test]
fn an_address_of_no_group_is_refused() {
    let net = VirtualNetwork::plain(ms(1));
    let (a, b) = addresses();
    let to = Group { address: b, max: 2 };
    let payload = Numbers { wanted: 1, done: false, told: Shelf::default() };
    let (outcome, left) = send_to_group(
        &settings(Handshake::Listen),
        &to,
        &steady("1 Mbit/s"),
        Box::new(payload),
        Vec::new(),
        &mut net.host(a, ms(0)),
        &Control::new(),
    );
    assert!(matches!(&outcome.end, End::Failed(why) if why.contains("no group")), "{:?}", outcome.end);
    assert!(left.is_empty());
}

#[test]
fn more_than_there_is_room_for_are_told_that_the_sender_is_busy() {
    let net = VirtualNetwork::new(|passing: &InFlight| {
        if passing.to == group() {
            return (0..2).map(|n| InFlight { to: member(n), ..passing.after(ms(10)) }).collect();
        }
        vec![passing.after(ms(10))]
    });
    let (a, _) = addresses();
    let mut here = net.host(a, ms(0));
    let places = [(net.host(member(0), ms(1)), 0), (net.host(member(1), ms(500)), 1)];
    let sending = thread::spawn(move || {
        let payload = Numbers { wanted: 500, done: false, told: Shelf::default() };
        let to = Group { address: group(), max: 1 };
        let (settings, scheme) = (settings(Handshake::Listen), steady("1 Mbit/s"));
        send_to_group(&settings, &to, &scheme, Box::new(payload), Vec::new(), &mut here, &Control::new())
    });
    let receiving = places.map(|(mut place, _)| {
        thread::spawn(move || {
            let mut accept = |_: &wire::stream::Offer| {
                let sink = Counter { wanted: 500, had: Shelf::default(), speak_at: Time::ZERO };
                Ok(Incoming::Paced(Box::new(sink) as Box<dyn Sink>))
            };
            receive(&settings(Handshake::Connect(a)), &mut accept, &mut place, &Control::new())
        })
    });
    let ends = receiving.map(|thread| thread.join().expect("it does not panic").end);
    assert_eq!(ends, [End::Complete, End::Refused(wire::stream::Reason::Busy)]);
    assert_eq!(sending.join().expect("it does not panic").0.end, End::Complete);
}
