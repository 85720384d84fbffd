//! One sender and many receivers over a network with a simulated clock, which loses, duplicates, reorders and damages
//! datagrams.

mod common;

use std::thread;

use common::{
    All, PayloadLog, Shared, gather, group, is_data, member, network, numbers, of, plain, receive, send,
    settings, source, steady,
};
use driver::testing::{InFlight, VirtualNetwork};
use quic_net::group::{self, Group, ReceiverOutcome};
use quic_net::testing::{Folder, content, load, ms, receive_with};
use quic_net::{Control, Credentials, End, Handshake, Limits, Outcome, Scheme, Settings};
use transfer::Outgoing;
use units::Duration;
use wire::stream::Reason;

#[test]
fn every_receiver_gets_packets_that_are_sent_once() {
    let all = gather(20, &steady("8 Mbit/s"), 300, Limits::default(), plain, &[], 20);
    assert_eq!(all.sender.end, End::Complete);
    assert!(all.receivers.len() == 20 && all.receivers.iter().all(|outcome| outcome.end == End::Complete));
    for (received, outcome) in all.received.iter().zip(&all.receivers) {
        received.with(|received| {
            assert_eq!((received.right >= 300, received.wrong, received.ended), (true, 0, 1))
        });
        assert_eq!(outcome.stats.discarded.total(), 0, "{:?}", outcome.stats.discarded);
    }
    all.payload_log.with(|payload_log| {
        assert_eq!((payload_log.joins, payload_log.leaves), (20, 20));
        assert_eq!(payload_log.filled, all.sender.stats.packets, "each packet was sent once for all");
    });
    let mut peers: Vec<u32> = all.left.iter().map(|left| left.peer).collect();
    peers.sort_unstable();
    assert_eq!(peers, (1..=20).collect::<Vec<_>>());
    assert!(all.left.iter().all(|left| left.end == End::Complete));
}

/// Datagrams with data have the configured size, with headers of IP and UDP.
#[test]
fn packets_have_the_configured_size() {
    let sizes = Shared::<Vec<usize>>::default();
    let seen = sizes.clone();
    let impair = move |in_flight: InFlight, group: bool| {
        if group && is_data(&in_flight.bytes) {
            seen.with(|sizes| sizes.push(in_flight.bytes.len() + 28));
        }
        vec![in_flight]
    };
    let all = gather(1, &steady("4 Mbit/s"), 100, Limits::default(), impair, &[], 1);
    assert_eq!(all.sender.end, End::Complete);
    sizes.with(|sizes| assert!(sizes.len() >= 100 && sizes.iter().all(|size| *size == 1028), "{sizes:?}"));
    assert_eq!(all.sender.stats.bytes, 1028 * all.sender.stats.packets);
    assert_eq!(all.receivers[0].stats.bytes, 1028 * all.receivers[0].stats.packets);
}

/// MCA: the receiver with the narrowest path is the representative. One in three packets to the last of five is lost,
/// which the scheme must detect.
#[test]
fn the_rate_follows_the_slowest_receiver() {
    let lossy = || {
        let mut count = 0u32;
        move |in_flight: InFlight, group: bool| {
            if !group || !is_data(&in_flight.bytes) || in_flight.to != member(4) {
                return vec![in_flight];
            }
            count += 1;
            if count.is_multiple_of(3) { Vec::new() } else { vec![in_flight] }
        }
    };
    let span = |all: &All| all.sender.stats.span().as_secs_f64();
    let free = gather(5, &of("mca"), 1500, Limits::default(), plain, &[], 5);
    let held = gather(5, &of("mca"), 1500, Limits::default(), lossy(), &[], 5);
    assert_eq!((&free.sender.end, &held.sender.end), (&End::Complete, &End::Complete));
    assert!(span(&held) > 2.0 * span(&free), "{} s and {} s", span(&held), span(&free));
    assert!(held.sender.stats.meter.count(contract::Count::FeedbackReceived) > 20);
}

/// The network marks packets instead of losing them: the scheme reads the marks.
#[test]
fn congestion_marks_reach_the_scheme() {
    let marks = || {
        let mut count = 0u32;
        move |mut in_flight: InFlight, group: bool| {
            if group && in_flight.ecn == contract::Ecn::Capable {
                count += 1;
                if count.is_multiple_of(5) {
                    in_flight.ecn = contract::Ecn::Marked;
                }
            }
            vec![in_flight]
        }
    };
    let all = gather(1, &of("tfmcc"), 500, Limits::default(), marks(), &[], 1);
    assert_eq!(all.sender.end, End::Complete);
    let stats = &all.receivers[0].stats;
    assert!(stats.marked > 50, "{} of {} packets were marked", stats.marked, stats.packets);
}

/// The network drops group datagrams for the first 20 s. The sender pauses without feedback, and continues when it
/// arrives.
#[test]
fn a_sender_without_feedback_pauses() {
    let seen = Shared::<Vec<Duration>>::default();
    let (sent, mut began) = (seen.clone(), None);
    let impair = move |in_flight: InFlight, group: bool| {
        let since = in_flight.at.saturating_since(*began.get_or_insert(in_flight.at));
        if group && is_data(&in_flight.bytes) && in_flight.to == member(0) {
            sent.with(|sent| sent.push(since));
        }
        if group && since < ms(20_000) { Vec::new() } else { vec![in_flight] }
    };
    let all = gather(2, &of("mca"), 300, Limits::default(), impair, &[], 2);
    assert_eq!(all.sender.end, End::Complete);
    assert!(all.receivers.iter().all(|outcome| outcome.end == End::Complete));
    let within = |from: u64, to: u64| {
        seen.with(|seen| seen.iter().filter(|since| (ms(from)..ms(to)).contains(since)).count())
    };
    assert!(within(0, 8_000) > 0);
    assert_eq!(within(13_000, 20_000), 0);
    assert!(within(20_000, 40_000) >= 300);
}

/// TFMCC and PGMCC: a tenth of the packets to the last of five are lost. The schemes do not retransmit, so that it
/// needs later packets instead. Both reduce the rate for it: PGMCC as soon as it is the acker, TFMCC at its turn in a
/// feedback round, some seconds later; until then thousands of packets are sent in slowstart.
#[test]
fn other_schemes_for_groups_serve_a_receiver_with_losses() {
    let lossy = |loses: bool| {
        let mut count = 0u32;
        move |in_flight: InFlight, group: bool| {
            if !group || in_flight.to != member(4) {
                return vec![in_flight];
            }
            count += 1;
            if loses && count.is_multiple_of(10) { Vec::new() } else { vec![in_flight] }
        }
    };
    for (name, wanted) in [("tfmcc", 15_000), ("pgmcc", 4000)] {
        let [free, held] =
            [false, true].map(|loses| gather(5, &of(name), wanted, Limits::default(), lossy(loses), &[], 5));
        for all in [&free, &held] {
            assert_eq!((&all.sender.end, all.receivers.len()), (&End::Complete, 5), "{name}");
            for (received, outcome) in all.received.iter().zip(&all.receivers) {
                assert_eq!(outcome.end, End::Complete, "{name}");
                received.with(|received| {
                    assert_eq!(
                        (received.right >= wanted, received.wrong, received.ended),
                        (true, 0, 1),
                        "{name}"
                    );
                });
            }
            all.payload_log.with(|payload_log| {
                assert_eq!((payload_log.joins, payload_log.leaves), (5, 5), "{name}");
                assert_eq!(
                    payload_log.filled, all.sender.stats.packets,
                    "{name}: each packet was sent once for all"
                );
            });
        }
        let [free, held] = [&free, &held].map(|all| all.sender.stats.span().as_secs_f64());
        assert!(held > 2.0 * free, "{name}: {held} s and {free} s");
    }
}

/// Two receivers, of which the second is killed after 300 ms and restarted at `back`, at another address and with its
/// former secret.
fn with_one_that_returns(
    back: Duration,
    patience: Duration,
) -> (Outcome, Vec<ReceiverOutcome>, Shared<PayloadLog>) {
    let net = network(3, plain);
    let limits = Limits { patience, ..Limits::default() };
    let sender_host = net.host(source(), ms(0));
    let hosts = [
        (net.host(member(0), ms(1)), None),
        (net.host(member(1), ms(2)).killed_after(ms(300)), Some([77; 32])),
        (net.host(member(2), back), Some([77; 32])),
    ];
    let payload_log = Shared::default();
    let server_settings = settings(Handshake::Listen, limits);
    let sending = send(sender_host, server_settings, 2, &steady("1 Mbit/s"), numbers(1500, 2, &payload_log));
    let receiving = hosts.map(|(host, client_secret)| {
        let client_settings =
            quic_net::Settings { client_secret, ..settings(Handshake::Connect(source()), limits) };
        receive(host, client_settings, 1500, &Shared::default())
    });
    let ends = receiving.map(|thread| thread.join().ok().map(|outcome| outcome.end));
    assert_eq!(ends, [Some(End::Complete), None, Some(End::Complete)]);
    let (outcome, left) = sending.join().expect("the sender does not panic");
    (outcome, left, payload_log)
}

#[test]
fn a_restarted_receiver_counts_once() {
    // soon, and after it had been removed: the maximum is two, and it is admitted
    for (back, patience) in [(ms(900), Duration::from_secs(60)), (ms(8000), Duration::from_secs(5))] {
        let (outcome, mut left, payload_log) = with_one_that_returns(back, patience);
        assert_eq!(outcome.end, End::Complete);
        left.sort_unstable_by_key(|left| left.peer);
        let ends: Vec<_> = left.iter().map(|left| (left.peer, left.address, &left.end)).collect();
        assert_eq!(ends, [(1, member(0), &End::Complete), (2, member(2), &End::Complete)]);
        assert_eq!(outcome.stats.sessions, 3, "one receiver had two sessions");
        payload_log.with(|payload_log| assert_eq!((payload_log.joins, payload_log.leaves), (3, 3)));
    }
}

#[test]
fn a_killed_receiver_is_removed_and_the_others_continue() {
    let limits = Limits { patience: Duration::from_secs(5), ..Limits::default() };
    let dead = [(1, Duration::from_millis(300))];
    let all = gather(3, &steady("1 Mbit/s"), 1500, limits, plain, &dead, 2);
    assert_eq!(all.sender.end, End::Complete);
    assert_eq!(all.receivers.iter().filter(|outcome| outcome.end == End::Complete).count(), 2);
    let ends: Vec<(u32, &End)> = all.left.iter().map(|left| (left.peer, &left.end)).collect();
    assert_eq!(ends[0], (2, &End::Silent));
    assert!(ends[1..].iter().all(|(_, end)| **end == End::Complete), "{ends:?}");
    all.payload_log.with(|payload_log| assert_eq!((payload_log.joins, payload_log.leaves), (3, 3)));
}

#[test]
fn loss_duplicates_damage_and_replays_harm_no_receiver() {
    let mut n = 0u64;
    let impair = move |in_flight: InFlight, _group: bool| {
        n += 1;
        match n % 11 {
            0 => Vec::new(),
            3 => vec![in_flight.clone(), in_flight.after(ms(3))],
            5 => {
                let mut damaged = in_flight.clone();
                let at = (n as usize * 7) % damaged.bytes.len();
                damaged.bytes[at] ^= 0x10;
                vec![damaged]
            }
            7 => vec![in_flight.after(ms(30))],
            _ => vec![in_flight],
        }
    };
    let all = gather(4, &steady("4 Mbit/s"), 400, Limits::default(), impair, &[], 4);
    assert_eq!(all.sender.end, End::Complete);
    assert!(all.receivers.len() == 4 && all.receivers.iter().all(|outcome| outcome.end == End::Complete));
    for (received, outcome) in all.received.iter().zip(&all.receivers) {
        received.with(|received| assert_eq!((received.right >= 400, received.wrong), (true, 0)));
        assert!(outcome.stats.discarded.repeated > 0 && outcome.stats.discarded.forged > 0);
    }
}

#[test]
fn a_network_that_does_not_carry_the_group_is_reported() {
    let limits = Limits {
        patience: Duration::from_secs(4),
        accept_timeout: Duration::from_secs(8),
        ..Limits::default()
    };
    let impair = |in_flight: InFlight, group: bool| if group { Vec::new() } else { vec![in_flight] };
    let all = gather(2, &steady("1 Mbit/s"), 10, limits, impair, &[], 2);
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
        let payload = numbers(1, 1, &Shared::default());
        let (outcome, left) = group::send(
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
    assert!(refused(member(1), &steady("1 Mbit/s"), 0).contains("not the address of a multicast group"));
    assert!(refused(group(), &of("cubic"), 0).contains("paced scheme"));
    assert!(refused(group(), &of("nothing"), 0).contains("no scheme `nothing`"));
    assert!(refused(group(), &of("mca"), 513).contains("513 bytes"));
    for packet in [314, 9001] {
        assert!(refused(group(), &quic_net::Scheme { packet, ..of("mca") }, 0).contains("315 to 9000"));
    }
}

#[test]
fn receivers_above_the_maximum_are_refused_as_busy() {
    let net = network(2, plain);
    let sender_host = net.host(source(), ms(0));
    let hosts = [net.host(member(0), ms(1)), net.host(member(1), ms(500))];
    let server_settings = settings(Handshake::Listen, Limits::default());
    let sending =
        send(sender_host, server_settings, 1, &steady("1 Mbit/s"), numbers(500, 1, &Shared::default()));
    let client_settings = || settings(Handshake::Connect(source()), Limits::default());
    let receiving = hosts.map(|host| receive(host, client_settings(), 500, &Shared::default()));
    let ends = receiving.map(|thread| thread.join().expect("it does not panic").end);
    assert_eq!(ends, [End::Complete, End::Refused(Reason::Busy)]);
    assert_eq!(sending.join().expect("it does not panic").0.end, End::Complete);
}

/// A change of mode at the sender reaches every receiver, also one that joins later.
#[test]
fn a_change_of_mode_reaches_every_receiver() {
    let net = network(2, plain);
    let mut sender_host = net.host(source(), ms(0));
    let hosts = [net.host(member(0), ms(1)), net.host(member(1), ms(900))];
    let control = Control::new();
    control.change_mode("background");
    let sending = thread::spawn(move || {
        let group = Group { address: group(), max: 2 };
        let server_settings = settings(Handshake::Listen, Limits::default());
        let payload = numbers(500, 2, &Shared::default());
        let about = b"numbers".to_vec();
        group::send(&server_settings, &group, &steady("1 Mbit/s"), payload, about, &mut sender_host, &control)
            .0
    });
    let receiving = hosts.map(|mut host| {
        thread::spawn(move || {
            let control = Control::new();
            let client_settings = settings(Handshake::Connect(source()), Limits::default());
            let mut accept = |_: &quic_net::Proposal| Ok(common::counter(500, &Shared::default()));
            let outcome = quic_net::receive(&client_settings, &mut accept, &mut host, &control);
            (outcome.end, control.progress.mode())
        })
    });
    for thread in receiving {
        let (end, mode) = thread.join().expect("it does not panic");
        assert_eq!((end, mode.as_deref()), (End::Complete, Some("background")));
    }
    assert_eq!(sending.join().expect("it does not panic").end, End::Complete);
}

/// A sender that waits for two receivers announces its file to the first for longer than the patience of both.
#[test]
fn a_receiver_waits_for_the_last_one_of_its_group() {
    let folder = Folder::new("waits");
    folder.file("film.bin", &content(200_000));
    let net = network(2, plain);
    let limits = Limits { patience: Duration::from_secs(5), ..Limits::default() };
    let credentials = || Credentials::shared(b"key").expect("a key");
    let with = |handshake| Settings { limits, ..quic_net::testing::settings(handshake, credentials()) };
    let scheme = Scheme { packet: 1250, ..steady("4 Mbit/s") };
    let (Outgoing::Paced(payload), about) = load(&folder.path("film.bin"), &scheme, None, 2) else {
        panic!("the scheme is paced")
    };
    let (mut sender_host, server_settings) = (net.host(source(), ms(0)), with(Handshake::Listen));
    let hosts = [net.host(member(0), ms(1)), net.host(member(1), ms(30_000))];
    let sending = thread::spawn(move || {
        let group = Group { address: group(), max: 2 };
        group::send(&server_settings, &group, &scheme, payload, about, &mut sender_host, &Control::new()).0
    });
    let receiving = [0, 1].into_iter().zip(hosts).map(|(n, host)| {
        receive_with(host, with(Handshake::Connect(source())), folder.path(&format!("in{n}")))
    });
    let receiving: Vec<_> = receiving.collect();
    let ends: Vec<_> = receiving.into_iter().map(|thread| thread.join().expect("no panic").end).collect();
    assert_eq!(ends, [End::Complete, End::Complete]);
    assert_eq!(sending.join().expect("no panic").end, End::Complete);
    assert_eq!(folder.read("in0/film.bin"), content(200_000));
}

/// The answer to the hello of a receiver is late, so that it connects again after a second, and the sender closes its
/// first connection: before the answer there arrives, or after it. One of the datagrams that the sender sends it then
/// is lost, such as the answer to the second hello.
#[test]
fn a_receiver_with_two_attempts_is_a_member() {
    let mut replaced = 0;
    for (answered_at, lost) in (995..1060).step_by(10).flat_map(|at| (0..8).map(move |lost| (ms(at), lost))) {
        let (mut began, mut arrived) = (None, 0);
        let late = move |in_flight: InFlight, to_group: bool| {
            let start = *began.get_or_insert(in_flight.at);
            let age = in_flight.at - start;
            if to_group || in_flight.to != member(0) || age < ms(19) {
                return vec![in_flight];
            }
            if age < ms(990) {
                return vec![InFlight { at: start + answered_at, ..in_flight }];
            }
            arrived += 1;
            if arrived == lost + 1 { Vec::new() } else { vec![in_flight] }
        };
        let all = gather(2, &steady("4 Mbit/s"), 100, Limits::default(), late, &[], 2);
        let ends: Vec<_> = all.receivers.iter().map(|outcome| &outcome.end).collect();
        assert_eq!(
            (&all.sender.end, ends),
            (&End::Complete, vec![&End::Complete; 2]),
            "{answered_at:?} {lost}"
        );
        assert_eq!(all.left.len(), 2);
        replaced += u32::from(all.sender.stats.sessions > 2);
    }
    assert!(replaced >= 20, "the receiver connected twice {replaced} times");
}
