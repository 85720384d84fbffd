//! One sender and many receivers over a network with a simulated clock, which loses, duplicates, reorders and damages datagrams.

mod common;

use std::thread;

use common::{
    All, Shelf, Told, gather, group, is_data, member, ms, network, numbers, of, plain, receive, send,
    settings, source, steady,
};
use driver::testing::{InFlight, VirtualNetwork};
use multicast::{Group, ReceiverOutcome};
use quic_net::{Control, End, Handshake, Limits, Outcome};
use units::Duration;
use wire::stream::Reason;

#[test]
fn everybody_gets_what_is_sent_once() {
    let all = gather(20, &steady("8 Mbit/s"), 300, Limits::default(), plain, &[], 20);
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

/// Datagrams with data have the size that was asked for, with headers of IP and UDP.
#[test]
fn packets_have_the_size_that_was_asked_for() {
    let sizes = Shelf::<Vec<usize>>::default();
    let seen = sizes.clone();
    let law = move |passing: InFlight, group: bool| {
        if group && is_data(&passing.bytes) {
            seen.open(|sizes| sizes.push(passing.bytes.len() + 28));
        }
        vec![passing]
    };
    let all = gather(1, &steady("4 Mbit/s"), 100, Limits::default(), law, &[], 1);
    assert_eq!(all.sender.end, End::Complete);
    sizes.open(|sizes| assert!(sizes.len() >= 100 && sizes.iter().all(|size| *size == 1028), "{sizes:?}"));
    assert_eq!(all.sender.stats.bytes, 1028 * all.sender.stats.packets);
    assert_eq!(all.receivers[0].stats.bytes, 1028 * all.receivers[0].stats.packets);
}

/// MCA: the receiver with the narrowest path is the representative. One in three packets to the last of five are lost, which the law must
/// detect.
#[test]
fn the_rate_follows_the_slowest_receiver() {
    let lossy = || {
        let mut count = 0u32;
        move |passing: InFlight, group: bool| {
            if !group || !is_data(&passing.bytes) || passing.to != member(4) {
                return vec![passing];
            }
            count += 1;
            if count.is_multiple_of(3) { Vec::new() } else { vec![passing] }
        }
    };
    let span = |all: &All| all.sender.stats.span().as_secs_f64();
    let free = gather(5, &of("mca"), 1500, Limits::default(), plain, &[], 5);
    let held = gather(5, &of("mca"), 1500, Limits::default(), lossy(), &[], 5);
    assert_eq!((&free.sender.end, &held.sender.end), (&End::Complete, &End::Complete));
    assert!(span(&held) > 2.0 * span(&free), "{} s and {} s", span(&held), span(&free));
    assert!(held.sender.stats.meter.count(contract::Count::FeedbackReceived) > 20);
}

/// The network marks packets instead of losing them: the law reads the marks.
#[test]
fn congestion_marks_reach_the_scheme() {
    let marks = || {
        let mut count = 0u32;
        move |mut passing: InFlight, group: bool| {
            if group && passing.ecn == contract::Ecn::Capable {
                count += 1;
                if count.is_multiple_of(5) {
                    passing.ecn = contract::Ecn::Marked;
                }
            }
            vec![passing]
        }
    };
    let all = gather(1, &of("tfmcc"), 500, Limits::default(), marks(), &[], 1);
    assert_eq!(all.sender.end, End::Complete);
    let stats = &all.receivers[0].stats;
    assert!(stats.marked > 50, "{} of {} packets were marked", stats.marked, stats.packets);
}

/// The network drops group datagrams for the first 20 s. The sender pauses when no feedback comes, and continues when there is some.
#[test]
fn a_sender_that_nobody_hears_stands_still() {
    let seen = Shelf::<Vec<Duration>>::default();
    let (sent, mut began) = (seen.clone(), None);
    let law = move |passing: InFlight, group: bool| {
        let since = passing.at.saturating_since(*began.get_or_insert(passing.at));
        if group && is_data(&passing.bytes) && passing.to == member(0) {
            sent.open(|sent| sent.push(since));
        }
        if group && since < ms(20_000) { Vec::new() } else { vec![passing] }
    };
    let all = gather(2, &of("mca"), 300, Limits::default(), law, &[], 2);
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
        move |passing: InFlight, group: bool| {
            if !group || passing.to != member(4) {
                return vec![passing];
            }
            count += 1;
            if loses && count.is_multiple_of(10) { Vec::new() } else { vec![passing] }
        }
    };
    for (name, wanted) in [("tfmcc", 15_000), ("pgmcc", 4000)] {
        let [free, held] =
            [false, true].map(|loses| gather(5, &of(name), wanted, Limits::default(), lossy(loses), &[], 5));
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

/// Two receivers, of which the second is killed after 300 ms and restarted at `back`, at another address and with its former secret.
fn with_one_that_returns(back: Duration, patience: Duration) -> (Outcome, Vec<ReceiverOutcome>, Shelf<Told>) {
    let net = network(3, plain);
    let limits = Limits { patience, ..Limits::default() };
    let here = net.host(source(), ms(0));
    let places = [
        (net.host(member(0), ms(1)), None),
        (net.host(member(1), ms(2)).dying(ms(300)), Some([77; 32])),
        (net.host(member(2), back), Some([77; 32])),
    ];
    let told = Shelf::default();
    let listens = settings(Handshake::Listen, limits);
    let sending = send(here, listens, 2, &steady("1 Mbit/s"), numbers(1500, 2, &told));
    let receiving = places.map(|(place, caller)| {
        let calls = quic_net::Settings { caller, ..settings(Handshake::Connect(source()), limits) };
        receive(place, calls, 1500, &Shelf::default())
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
    let all = gather(3, &steady("1 Mbit/s"), 1500, limits, plain, &dead, 2);
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
    let law = move |passing: InFlight, _group: bool| {
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
    };
    let all = gather(4, &steady("4 Mbit/s"), 400, Limits::default(), law, &[], 4);
    assert_eq!(all.sender.end, End::Complete);
    assert!(all.receivers.len() == 4 && all.receivers.iter().all(|outcome| outcome.end == End::Complete));
    for (had, outcome) in all.had.iter().zip(&all.receivers) {
        had.open(|had| assert_eq!((had.right >= 400, had.wrong), (true, 0)));
        assert!(outcome.stats.discarded.repeated > 0 && outcome.stats.discarded.forged > 0);
    }
}

#[test]
fn a_network_that_does_not_carry_the_group_is_said_to_be_so() {
    let limits =
        Limits { patience: Duration::from_secs(4), waits: Duration::from_secs(8), ..Limits::default() };
    let law = |passing: InFlight, group: bool| if group { Vec::new() } else { vec![passing] };
    let all = gather(2, &steady("1 Mbit/s"), 10, limits, law, &[], 2);
    assert_eq!(all.receivers.len(), 2);
    for outcome in &all.receivers {
        let End::Failed(why) = &outcome.end else { panic!("{:?}", outcome.end) };
        assert!(why.contains("239.1.2.3:5000") && why.contains("carry"), "{why}");
    }
    assert_eq!(all.sender.end, End::Silent);
}

#[test]
fn an_address_of_no_group_a_scheme_with_a_window_and_sizes_out_of_range_are_refused() {
    let refused = |address, scheme: &quic_net::Scheme, about: usize| {
        let net = VirtualNetwork::plain(ms(1));
        let group = Group { address, max: 2 };
        let payload = numbers(1, 1, &Shelf::default());
        let (outcome, left) = multicast::send(
            &settings(Handshake::Listen, Limits::default()),
            &group,
            scheme,
            payload,
            vec![0; about],
            &mut net.host(source(), ms(0)),
            &Control::new(),
        );
        assert!(left.is_empty());
        match outcome.end {
            End::Failed(why) => why,
            end => panic!("{end:?}"),
        }
    };
    assert!(refused(member(1), &steady("1 Mbit/s"), 0).contains("no group"));
    assert!(refused(group(), &of("cubic"), 0).contains("scheme that paces"));
    assert!(refused(group(), &of("nothing"), 0).contains("no scheme `nothing`"));
    assert!(refused(group(), &of("mca"), 513).contains("513 bytes"));
    for packet in [201, 9001] {
        assert!(refused(group(), &quic_net::Scheme { packet, ..of("mca") }, 0).contains("202 to 9000"));
    }
}

#[test]
fn more_than_there_is_room_for_are_told_that_the_sender_is_busy() {
    let net = network(2, plain);
    let here = net.host(source(), ms(0));
    let places = [net.host(member(0), ms(1)), net.host(member(1), ms(500))];
    let listens = settings(Handshake::Listen, Limits::default());
    let sending = send(here, listens, 1, &steady("1 Mbit/s"), numbers(500, 1, &Shelf::default()));
    let calls = || settings(Handshake::Connect(source()), Limits::default());
    let receiving = places.map(|place| receive(place, calls(), 500, &Shelf::default()));
    let ends = receiving.map(|thread| thread.join().expect("it does not panic").end);
    assert_eq!(ends, [End::Complete, End::Refused(Reason::Busy)]);
    assert_eq!(sending.join().expect("it does not panic").0.end, End::Complete);
}

/// A change of mode at the sender reaches every receiver, also one that joins later.
#[test]
fn a_change_of_mode_reaches_every_receiver() {
    let net = network(2, plain);
    let mut here = net.host(source(), ms(0));
    let places = [net.host(member(0), ms(1)), net.host(member(1), ms(900))];
    let control = Control::new();
    control.change_mode("background");
    let sending = thread::spawn(move || {
        let group = Group { address: group(), max: 2 };
        let listens = settings(Handshake::Listen, Limits::default());
        let payload = numbers(500, 2, &Shelf::default());
        let about = b"numbers".to_vec();
        multicast::send(&listens, &group, &steady("1 Mbit/s"), payload, about, &mut here, &control).0
    });
    let receiving = places.map(|mut place| {
        thread::spawn(move || {
            let control = Control::new();
            let calls = settings(Handshake::Connect(source()), Limits::default());
            let mut accept = |_: &quic_net::Proposal| Ok(common::counter(500, &Shelf::default()));
            let outcome = quic_net::receive(&calls, &mut accept, &mut place, &control);
            (outcome.end, control.progress.mode())
        })
    });
    for thread in receiving {
        let (end, mode) = thread.join().expect("it does not panic");
        assert_eq!((end, mode.as_deref()), (End::Complete, Some("background")));
    }
    assert_eq!(sending.join().expect("it does not panic").end, End::Complete);
}
