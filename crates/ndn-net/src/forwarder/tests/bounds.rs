//! Tests that memory is bounded for any input, and that other hosts cannot exclude a neighbour.

use super::*;

/// Interests for `count` new names from a face; returns the number of those refused for lack of memory.
fn flood(bench: &mut Bench, from: Peer, prefix: &str, count: u32, now: Time) -> u64 {
    let mut refused = 0;
    for n in 0..count {
        for messages in bench.give(from, &add_downstream(&format!("/a/{prefix}/{n}"), n), now) {
            refused += u64::from(matches!(messages, SentMessage::Nack { reason: 50, to, .. } if to == from));
        }
    }
    refused
}

/// Pending Interests, and Interests that were refused, by name of the face.
fn faces(bench: &Bench) -> BTreeMap<String, (usize, u64)> {
    let ports = bench.node.stats().ports.into_iter();
    ports.map(|port| (port.name, (port.pending, port.counts.refused))).collect()
}

#[test]
fn one_face_that_floods_leaves_room_for_the_others() {
    let limits = Limits { pending: 100, pending_face: 25, ..Limits::default() };
    let mut bench = Bench::new(Settings { limits, ..settings() });
    assert_eq!(flood(&mut bench, PROGRAM, "flood", 1000, at(0)), 975);
    let stats = bench.node.stats();
    assert_eq!((stats.machine.pending, stats.strays.crowded, stats.strays.full), (25, 975, 0));
    assert_eq!(faces(&bench)["program 1"], (25, 975));
    assert_eq!(bench.give(Peer::Program(2), &add_downstream("/a/mine", 1), at(1)).len(), 1);
    // pending Interests may be retransmitted
    let again = bench.give(PROGRAM, &add_downstream("/a/flood/3", 7777), at(900));
    assert_eq!(again, [interest_to(host(1), "/a/flood/3", 7777)]);
    // Data and expiry release memory
    assert_eq!(bench.give(host(1), &data("/a/flood/3"), at(901)).len(), 1);
    assert_eq!(faces(&bench)["program 1"], (24, 975));
    assert_eq!(flood(&mut bench, PROGRAM, "more", 2, at(902)), 1);
    bench.wait(at(2903));
    assert_eq!((faces(&bench)["program 1"], bench.node.stats().machine.pending), ((0, 976), 0));
}

#[test]
fn strangers_together_leave_half_the_table_to_others() {
    let limits = Limits {
        pending: 200,
        pending_face: 60,
        pending_strangers: Limits::strangers_of(200),
        links: 10,
        ..Limits::default()
    };
    let strangers = Some(LinkSettings::default());
    let mut bench = Bench::new(Settings { limits, strangers, ..settings() });
    let refused: Vec<u64> =
        (0..8).map(|n| flood(&mut bench, host(100 + n), &format!("flood{n}"), 80, at(0))).collect();
    assert_eq!(refused, [20, 40, 80, 80, 80, 80, 80, 80], "60 for the first, 40 for the second");
    assert_eq!(flood(&mut bench, host(2), "neighbour", 60, at(1)), 0);
    assert_eq!(flood(&mut bench, PROGRAM, "program", 40, at(1)), 0);
    assert_eq!(bench.node.stats().machine.pending, 200);
    assert_eq!(flood(&mut bench, Peer::Program(2), "late", 5, at(2)), 5, "now it is full");
    assert_eq!((bench.strays().crowded, bench.strays().full), (540, 5));
}

#[test]
fn who_waits_for_what_others_wait_for_is_counted_as_well() {
    let limits = Limits { pending_face: 3, ..Limits::default() };
    let mut bench = Bench::new(Settings { limits, ..settings() });
    for n in 0..3 {
        bench.give(PROGRAM, &add_downstream(&format!("/a/{n}"), n), at(0));
        bench.give(Peer::Program(2), &add_downstream(&format!("/a/{n}"), 100 + n), at(1000));
    }
    assert_eq!((faces(&bench)["program 1"].0, faces(&bench)["program 2"].0), (3, 3));
    // a looped Interest joins no entry, and counts for no face
    let looped = bench.give(host(2), &add_downstream("/a/1", 1), at(1001));
    assert!(matches!(looped[..], [SentMessage::Nack { reason: 100, .. }]));
    assert_eq!(faces(&bench)["link2"], (0, 0));
    bench.wait(at(2500));
    assert_eq!(faces(&bench)["program 1"].0, 3, "the entries live as long as the last of their Interests");
    bench.wait(at(3001));
    assert_eq!((faces(&bench)["program 1"].0, faces(&bench)["program 2"].0), (0, 0));
}

#[test]
fn faces_that_end_are_counted_no_longer() {
    let mut bench = Bench::new(settings());
    assert_eq!(flood(&mut bench, PROGRAM, "x", 100, at(0)), 0);
    let counts = bench.node.stats().ports[2].counts;
    bench.node.on_gone(PROGRAM, at(1));
    bench.wait(at(4002));
    let stats = bench.node.stats();
    assert_eq!(
        (stats.ports.len(), stats.ended, stats.ended.frames_in),
        (2, counts, 100),
        "what it did is not lost"
    );
    assert_eq!(flood(&mut bench, Peer::Program(2), "y", 100, at(4003)), 0);
    assert_eq!(faces(&bench)["program 2"], (100, 0));
}

#[test]
fn strangers_who_say_nothing_sensible_take_no_place() {
    let limits = Limits { links: 3, ..Limits::default() };
    let mut bench = Bench::new(Settings { limits, strangers: Some(LinkSettings::default()), ..settings() });
    for n in 0..200u8 {
        bench.give(host(n.max(3)), &[n, 200, 1, 2, 3], at(0));
    }
    assert_eq!((bench.strays().strangers, bench.node.stats().ports.len()), (200, 2));
    assert_eq!(bench.give(host(9), &add_downstream("/a/x", 1), at(1)).len(), 1);
}

#[test]
fn strangers_commands_are_not_answered() {
    let mut bench = Bench::new(Settings { strangers: Some(LinkSettings::default()), ..settings() });
    for local in [true, false] {
        let mut frame = Vec::new();
        command(local, ("rib", "register"), &Arguments::route(name("/p")), 1, 1, &mut frame);
        assert_eq!(bench.give(host(9), &frame, at(1)), []);
    }
    assert_eq!((bench.strays().refused_commands, bench.node.stats().routes), (2, 2));
}

#[test]
fn commands_that_are_too_long_for_an_answer_do_nothing() {
    let mut bench = Bench::new(settings());
    for (length, routes) in [(3500, 3), (4500, 3)] {
        let mut frame = Vec::new();
        let prefix = name(&format!("/p/{}", "x".repeat(length)));
        command(true, ("rib", "register"), &Arguments::route(prefix), 1, 1, &mut frame);
        bench.node.on_frame(PROGRAM, &frame, at(1), &mut bench.left);
        assert_eq!(bench.node.stats().routes, routes);
    }
    assert_eq!((bench.left.0.len(), bench.strays().commands, bench.strays().refused_commands), (1, 1, 1));
    let (_, answer) = bench.left.0.pop().expect("the first is answered");
    assert!(Data::read(LinkPacket::read(&answer).expect("a link packet").fragment).is_ok());
}

#[test]
fn routes_of_programs_are_bounded() {
    let limits = Limits { routes: 5, ..Limits::default() };
    let mut bench = Bench::new(Settings { limits, ..settings() });
    let mut codes = Vec::new();
    for n in 0..10 {
        let mut frame = Vec::new();
        command(true, ("rib", "register"), &Arguments::route(name(&format!("/p/{n}"))), n, 1, &mut frame);
        bench.node.on_frame(PROGRAM, &frame, at(1), &mut bench.left);
        let (_, answer) = bench.left.0.pop().expect("it is answered");
        let answer = Data::read(LinkPacket::read(&answer).expect("a link packet").fragment).expect("Data");
        codes.push(Response::read(answer.content).expect("a response").code);
    }
    assert_eq!(codes, [200, 200, 200, 503, 503, 503, 503, 503, 503, 503], "two are of the settings");
}

#[test]
fn kept_data_take_so_many_bytes_and_the_first_make_room() {
    let store = Store { policy: Policy::Lru, size: 10_000 };
    let limits = Limits { store_bytes: 10_000, ..Limits::default() };
    let mut bench = Bench::new(Settings { store, limits, ..settings() });
    for n in 0..2000u32 {
        bench.give(PROGRAM, &add_downstream(&format!("/a/{n}"), n), at(u64::from(n)));
        bench.give(
            host(1),
            &data_with(&format!("/a/{n}"), 1_000_000, LinkHeader::default()),
            at(u64::from(n)),
        );
    }
    let each = data_with("/a/1000", 1_000_000, LinkHeader::default()).len() as u64;
    let stored = bench.node.stats().machine.stored;
    assert!((10_000 / each - 5..=10_000 / each + 5).contains(&stored), "{stored} of {each} bytes");
    assert_eq!(bench.give(PROGRAM, &add_downstream("/a/1999", 1), at(2001)), [data_to(PROGRAM, "/a/1999")]);
    assert_eq!(bench.give(PROGRAM, &add_downstream("/a/3", 1), at(2001)), [interest_to(host(1), "/a/3", 1)]);
}

#[test]
fn names_have_room_for_all_that_may_be_pending_and_kept() {
    let store = Store { policy: Policy::Lru, size: 100 };
    let limits = Limits { pending: 50, names: 299, ..Limits::default() };
    let node = Node::new(Settings { store, limits, ..settings() });
    assert!(matches!(node, Err(Error::TooFewNames { names: 299, min: 300 })));
    // a full store with exactly that number excludes no face
    let limits = Limits { names: 300, ..limits };
    let mut bench = Bench::new(Settings { store, limits, ..settings() });
    for n in 0..5000u32 {
        bench.give(PROGRAM, &add_downstream(&format!("/a/{n}"), n), at(u64::from(n)));
        bench.give(host(1), &data(&format!("/a/{n}")), at(u64::from(n)));
    }
    let stats = bench.node.stats();
    assert_eq!((stats.strays.full, stats.machine.stored), (0, 100));
    assert!(stats.names.0 <= 300);
}

#[test]
fn packets_with_endless_names_are_dropped() {
    let mut bench = Bench::new(settings());
    let deep = |count: usize| format!("/a{}", "/b".repeat(count - 1));
    assert_eq!(bench.give(PROGRAM, &add_downstream(&deep(64), 1), at(1)).len(), 1);
    assert_eq!(bench.give(PROGRAM, &add_downstream(&deep(65), 1), at(1)), []);
    assert_eq!(bench.give(host(1), &data(&deep(2000)), at(1)), []);
    assert_eq!(bench.strays().long_names, 2);
}

#[test]
fn queues_take_so_many_bytes_and_strangers_only_their_share() {
    let slow = Rate::from_kbps(8);
    let limits = Limits { links: 4, queue_bytes: 80_000, ..Limits::default() };
    let strangers = Some(LinkSettings { rate: slow, rate_in: slow, ..LinkSettings::default() });
    let links = vec![known(1, Rate::UNLIMITED), known(2, slow)];
    let mut bench = Bench::new(Settings { limits, strangers, links, ..settings() });
    let mut queued = Vec::new();
    for (from, prefix) in [(host(9), "s"), (host(8), "t"), (host(2), "k")] {
        for n in 0..500u32 {
            let name = format!("/a/{prefix}{n}");
            bench.node.on_frame(from, &add_downstream(&name, n), at(0), &mut bench.left);
            bench.node.on_frame(host(1), &data(&name), at(0), &mut bench.left);
        }
        queued.push(bench.node.stats().queued);
    }
    // an eighth for each unknown host, and the rest for the neighbour; the last packet may exceed it
    assert!((10_000..10_500).contains(&queued[0]), "{queued:?}");
    assert!((20_000..21_000).contains(&queued[1]), "{queued:?}");
    assert!((80_000..80_500).contains(&queued[2]), "{queued:?}");
    let dropped: Vec<u64> = bench.node.stats().ports.iter().map(|port| port.counts.dropped).collect();
    assert!(dropped[0] == 0 && dropped[1..].iter().all(|count| *count > 200), "{dropped:?}");
    for millis in 1..2000 {
        bench.wait(at(500 * millis));
    }
    assert_eq!(bench.node.stats().queued, 0, "what waited has left");
}

#[test]
fn what_is_under_way_on_a_long_link_is_bounded() {
    let long = LinkSettings { delay: Duration::from_secs(1), ..known(1, Rate::UNLIMITED) };
    let limits = Limits { queue_bytes: 50_000, ..Limits::default() };
    let mut bench =
        Bench::new(Settings { links: vec![long], routes: vec![route("/a", 0)], limits, ..settings() });
    assert_eq!(flood(&mut bench, PROGRAM, "x", 1000, at(0)), 0);
    let stats = bench.node.stats();
    assert!((50_000..50_500).contains(&stats.queued), "{}", stats.queued);
    let left = bench.wait(at(1001)).len() as u64;
    assert_eq!((left + stats.ports[0].counts.dropped, bench.node.stats().queued), (1000, 0));
}

#[test]
fn pieces_of_packets_take_bounded_room() {
    let mut bench = Bench::new(Settings { strangers: Some(LinkSettings::default()), ..settings() });
    let piece = |base: u64, index: u64| {
        let mut frame = Vec::new();
        let content = add_downstream("/a/x", 5);
        let half = content.len() / 2;
        let fragment = if index == 0 { &content[..half] } else { &content[half..] };
        let sequence = Some(base + index);
        LinkPacket { sequence, index, count: 2, fragment, ..LinkPacket::default() }.write(&mut frame);
        frame
    };
    // of nine packets, each without its second half, the first of an unknown host is discarded
    for base in 0..9 {
        assert_eq!(bench.give(host(9), &piece(10 * base, 0), at(base)), []);
    }
    assert_eq!(bench.give(host(9), &piece(0, 1), at(20)), [], "its first half is gone");
    assert_eq!(bench.give(host(9), &piece(80, 1), at(21)).len(), 1);
}
