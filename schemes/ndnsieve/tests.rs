//! Tests of the rules with numbers computed by hand, of the app without a network, and of the consumer and the marks
//! step by step.

use contract::{
    Ack, App as _, Command, CongestionControl, Count, Ecn, FaceId, Hop, LinkAlgorithm, Name, NameId, Names,
    NodeId, PortId, Share, Traffic,
};
use units::{Duration, Rate, Time};

use super::rules::{Rules, State, cost, improves_balance, metric};
use super::{App, Control, Link, Params, Profile};
use crate::shared::forwarders::{LinkBench, data, faces};
use crate::shared::sdn_testing::{AppBench, net};
use crate::shared::testing::{Bench, SEGMENT, setup};

fn rules(profile: Profile) -> Rules {
    Rules::new(&Params { profile, ..Params::default() })
}

fn literal() -> Rules {
    rules(Profile::Literal)
}

fn calibrated() -> Rules {
    rules(Profile::Calibrated)
}

// ---- Table 2, equations 1 to 3

#[test]
fn states_are_those_of_the_table_and_equality_belongs_to_the_lower() {
    use State::{Free, Mild, Severe};
    let rules = literal();
    // 449, 450 and 451 packets of 500 against th2 = 0.9; loads below, at and above th1 = 0.85
    let queues = [449, 450, 451];
    let loads = [0.84, 0.85, 0.86];
    let table = loads.map(|load| queues.map(|q| rules.state(load, q, f64::from(q) / 500.0)));
    assert_eq!(table, [[Free, Free, Severe], [Free, Free, Severe], [Mild, Mild, Severe]]);
    let rules = calibrated();
    let table = loads.map(|load| [2, 3, 4].map(|q| rules.state(load, q, f64::from(q) / 500.0)));
    assert_eq!(table, [[Free, Free, Severe], [Free, Free, Severe], [Mild, Mild, Severe]]);
}

#[test]
fn occupancy_is_of_the_limit_or_of_the_packets_that_are_severe() {
    assert!((literal().occupancy(50, 50.0 / 500.0) - 0.1).abs() < 1e-12);
    // 0.9 at 3 packets, 0.3 at one, and never above 1
    let rules = calibrated();
    assert!((rules.occupancy(3, 0.006) - 0.9).abs() < 1e-12);
    assert!((rules.occupancy(1, 0.002) - 0.3).abs() < 1e-12);
    assert_eq!(rules.occupancy(400, 0.8), 1.0);
}

/// A Data packet of 1100 bytes that waits is more than 0.9 of 500, if bytes are compared with packets.
#[test]
fn with_a_level_of_nothing_one_packet_that_waits_is_severe() {
    let rules = Rules::new(&Params { severe: 0, ..Params::default() });
    assert_eq!([0, 1, 2].map(|q| rules.occupancy(q, f64::from(q) / 500.0)), [0.0, 1.0, 1.0]);
    assert_eq!([0, 1].map(|q| rules.state(0.9, q, 0.0)), [State::Mild, State::Severe]);
}

#[test]
fn the_metric_of_a_link_is_ten_loads_times_e_to_the_occupancy() {
    assert_eq!(metric(0.0, 0.9), 0.0);
    assert!((metric(0.5, 0.0) - 5.0).abs() < 1e-12);
    // 10 · 0.9 · e^0.1 = 9.946538; 10 · e = 27.182818, the maximum of a link that is offered no more than it carries
    assert!((metric(0.9, 0.1) - 9.946_538).abs() < 1e-6);
    assert!((metric(1.0, 1.0) - 27.182_818).abs() < 1e-6);
    assert_eq!([cost(9.946_538), cost(0.0), cost(27.182_818)], [9947, 0, 27_183]);
}

#[test]
fn at_least_one_prefix_is_moved_and_at_most_the_share() {
    let rules = literal();
    assert_eq!([0, 1, 2, 3, 6, 100].map(|n| rules.prefixes_to_move(n)), [1, 1, 1, 1, 2, 34]);
}

#[test]
fn a_move_evens_out_or_is_the_prefix_first() {
    assert!(improves_balance(3, 1, true) && improves_balance(3, 1, false) && improves_balance(1, 0, false));
    assert!(
        !improves_balance(1, 0, true) && !improves_balance(1, 1, false) && !improves_balance(2, 3, false)
    );
}

#[test]
fn each_rule_can_be_set_apart_from_its_profile() {
    use super::{Detection, Level, Moves, Refresh, Steps};
    let mixed = Params {
        profile: Profile::Literal,
        level: Level::Packets,
        detection: Detection::Period,
        steps: Steps::Round,
        moves: Moves::Count,
        refresh: Refresh::Signal,
        ..Params::default()
    };
    assert_eq!(Rules::new(&mixed), calibrated());
    let back = Params {
        level: Level::Limit,
        detection: Detection::Departure,
        steps: Steps::Data,
        moves: Moves::Any,
        refresh: Refresh::Status,
        ..Params::default()
    };
    assert_eq!(Rules::new(&back), literal());
}

// ---- the app

/// Scenario 3 of the paper: consumers 0 to 2, routers 3 to 5, producers 6 to 8 at router 4. Router 3 asks 4 over port
/// 6, or 5 over port 8; port 7 is 4 → 3.
fn scenario3() -> contract::Net {
    let links = [
        (0, 3, 10),
        (1, 3, 10),
        (2, 3, 10),
        (3, 4, 10),
        (3, 5, 10),
        (5, 4, 15),
        (4, 6, 1),
        (4, 7, 1),
        (4, 8, 1),
    ];
    let mut net = net(9, &links);
    let mut names = Names::new();
    for (number, text) in ["/a", "/b", "/c"].into_iter().enumerate() {
        let (prefix, producer) = (names.intern(text), 6 + number as u32);
        net.origins.insert(prefix, vec![NodeId(producer)]);
        let hop = |port, cost| Hop { port: PortId(port), cost };
        net.hops.insert((NodeId(number as u32), prefix), vec![hop(2 * number as u32, 1)]);
        net.hops.insert((NodeId(3), prefix), vec![hop(6, 11), hop(8, 26)]);
        net.hops.insert((NodeId(4), prefix), vec![hop(12 + 2 * number as u32, 1)]);
        net.hops.insert((NodeId(5), prefix), vec![hop(10, 16), hop(9, 21)]);
    }
    net.names = std::sync::Arc::new(names);
    net
}

fn desk(rules: &Rules) -> AppBench<App> {
    AppBench::new(App::new(rules), scenario3())
}

fn shares(prefixes: &[u32]) -> Vec<Share> {
    prefixes.iter().map(|prefix| Share { what: Traffic::Prefix(NameId(*prefix)), bytes: 100_000 }).collect()
}

/// Every port has reported; the Data of `prefixes` cross 4 → 3 at `load`, with `backlog` packets there, and nothing
/// goes by 5.
fn report(desk: &mut AppBench<App>, load: f64, backlog: u32, prefixes: &[u32]) {
    for port in 0..18 {
        if port != 7 {
            desk.status(port, 0.0, 0, &[]);
        }
    }
    desk.status(7, load, backlog, &shares(prefixes));
}

fn prefixes_to_move(commands: &[(NodeId, Command)]) -> Vec<(u32, u32, u32)> {
    let row = |(node, command): &(NodeId, Command)| match command {
        Command::NextHops { prefix, hops } => (node.0, prefix.0, hops.list()[0].port.0),
        other => panic!("{other:?}"),
    };
    commands.iter().map(row).collect()
}

#[test]
fn what_is_mild_moves_a_prefix_at_the_first_router_that_can_ask_elsewhere() {
    for rules in [literal(), calibrated()] {
        let mut desk = desk(&rules);
        report(&mut desk, 0.95, 2, &[1, 2, 3]);
        let commands = desk.signal(7);
        let [(node, prefix, port)] = prefixes_to_move(&commands)[..] else { panic!("{commands:?}") };
        assert_eq!((node, port), (3, 8));
        assert!((1..=3).contains(&prefix));
        assert_eq!(desk.meter.count(Count::Reroutes), 1);
    }
}

#[test]
fn what_is_severe_is_left_to_consumers() {
    let mut desk = desk(&literal());
    report(&mut desk, 1.2, 451, &[1, 2, 3]);
    assert_eq!(desk.signal(7), []);
    let mut desk = self::desk(&calibrated());
    report(&mut desk, 1.2, 4, &[1, 2, 3]);
    assert_eq!(desk.signal(7), []);
    assert_eq!((desk.meter.count(Count::Filtering), desk.meter.count(Count::Switching)), (1, 0));
}

#[test]
fn the_metric_of_a_path_is_that_of_its_worst_link_in_the_direction_of_data() {
    let mut desk = desk(&literal());
    report(&mut desk, 0.9, 50, &[1]);
    desk.now += Duration::from_millis(1);
    // the other way: producer 6 → 4, 4 → 5 (port 11), 5 → 3 (port 9)
    desk.status(11, 0.4, 100, &[]);
    desk.status(9, 0.5, 0, &[]);
    // what flows against Data does not count
    desk.status(8, 3.0, 400, &[]);
    let commands = desk.signal(7);
    let [(_, Command::NextHops { hops, .. })] = commands[..] else { panic!("{commands:?}") };
    // 10 · 0.5 · e^0 = 5 beats 10 · 0.4 · e^0.2 = 4.886; here 10 · 0.9 · e^0.1 = 9.947
    assert_eq!(hops.list(), [Hop { port: PortId(8), cost: 5000 }, Hop { port: PortId(6), cost: 9947 }]);
}

/// [SIEVE eq. 2, eq. 3]: literally ε in a metric is the queue over its limit of 500, whatever th2 is compared with.
#[test]
fn the_literal_metric_has_the_occupancy_of_the_queue_limit() {
    let mut costs = [literal(), calibrated()].into_iter().map(|rules| {
        let mut desk = desk(&rules);
        report(&mut desk, 0.9416, 2, &[1]);
        let [(_, Command::NextHops { hops, .. })] = desk.signal(7)[..] else { panic!("one command") };
        hops.list().iter().find(|hop| hop.port == PortId(6)).expect("its next hop").cost
    });
    // 9.416 · e^(2/500) = 9.454; with th2 at 3 packets 9.416 · e^0.6 = 17.157
    assert_eq!((costs.next(), costs.next()), (Some(9454), Some(17_157)));
}

/// [SIEVE §4.1, §4.2]: a signal says that β > th1, whatever the status of a whole T_p says; the filter looks at the
/// queue.
#[test]
fn the_filter_of_a_signal_between_statuses_is_by_the_queue() {
    for (backlog, commands) in [(3, 1), (4, 0)] {
        let mut desk = desk(&calibrated());
        report(&mut desk, 0.5, backlog, &[1]);
        desk.now += Duration::from_millis(100);
        assert_eq!(desk.signal(7).len(), commands);
    }
}

/// [SIEVE §4.2.1]: metrics are periodically refreshed, and the router diverts traffic to the interface of the lowest.
#[test]
fn literally_metrics_are_refreshed_and_the_lowest_is_used() {
    for (rules, refreshes) in [(literal(), true), (calibrated(), false)] {
        let mut desk = desk(&rules);
        report(&mut desk, 0.9, 0, &[1]);
        assert_eq!(prefixes_to_move(&desk.signal(7)), [(3, 1, 8)]);
        // half a second later the other link has its traffic, below th1, so that nothing is signalled
        desk.now += Duration::from_millis(500);
        desk.status(7, 0.0, 0, &[]);
        assert_eq!(desk.reported(7), [], "the other next hop has not reported");
        desk.status(9, 0.84, 0, &shares(&[1]));
        let moved = prefixes_to_move(&desk.reported(9));
        assert_eq!(moved, if refreshes { vec![(3, 1, 6)] } else { vec![] });
        // the same statuses again change nothing
        desk.now += Duration::from_millis(500);
        for (port, load) in [(7, 0.0), (9, 0.84)] {
            desk.status(port, load, 0, &[]);
            assert_eq!(desk.reported(port), []);
        }
    }
}

/// [SIEVE §3]: the controller has the topology of all links; a prefix that it moved leaves a path that fails.
#[test]
fn a_moved_prefix_leaves_a_path_whose_link_fails() {
    for rules in [literal(), calibrated()] {
        let mut desk = desk(&rules);
        report(&mut desk, 0.95, 2, &[1, 2, 3]);
        let [(node, prefix, _)] = prefixes_to_move(&desk.signal(7))[..] else { panic!("one prefix") };
        desk.now += Duration::from_millis(500);
        report(&mut desk, 0.6, 0, &[]);
        // a link of another way, and one against the direction of Interests, are none of it
        assert_eq!(desk.link(0, Rate::ZERO), []);
        assert_eq!(desk.link(11, Rate::ZERO), []);
        // 5 → 4, two links from the shunt router
        assert_eq!(prefixes_to_move(&desk.link(10, Rate::ZERO)), [(node, prefix, 6)]);
        // the repaired link does not bring it back by itself
        assert_eq!(desk.link(10, Rate::from_mbps(10)), []);
    }
}

#[test]
fn equal_metrics_keep_the_present_path() {
    for rules in [literal(), calibrated()] {
        let mut desk = desk(&rules);
        report(&mut desk, 0.9, 0, &[1]);
        desk.now += Duration::from_millis(1);
        desk.status(9, 0.9, 0, &[]);
        let commands = desk.signal(7);
        assert_eq!(prefixes_to_move(&commands), [(3, 1, 6)]);
        assert_eq!(desk.meter.count(Count::Reroutes), 0);
    }
}

#[test]
fn the_search_follows_the_data_from_a_link_further_up() {
    let mut desk = desk(&calibrated());
    report(&mut desk, 0.95, 2, &[1, 2]);
    desk.now += Duration::from_millis(1);
    // producer 7 → 4 is port 15; metrics of both ways are that of this link
    desk.status(15, 0.99, 2, &shares(&[2]));
    let commands = desk.signal(15);
    assert_eq!(prefixes_to_move(&commands), [(3, 2, 6)]);
    // 4, then 3
    assert_eq!(desk.meter.count(Count::Searching), 2);
}

#[test]
fn a_next_hop_from_which_interests_would_come_back_is_none() {
    let mut desk = desk(&calibrated());
    // node 5 asks node 3 first
    desk.net.hops.insert(
        (NodeId(5), NameId(1)),
        vec![Hop { port: PortId(9), cost: 1 }, Hop { port: PortId(10), cost: 2 }],
    );
    report(&mut desk, 0.95, 2, &[1]);
    assert_eq!(desk.signal(7), []);
}

#[test]
fn without_a_second_way_there_is_no_shunt_and_no_command() {
    // a dumbbell: 0 – 1 – 2 – 3
    let mut net = net(4, &[(0, 1, 10), (1, 2, 10), (2, 3, 10)]);
    let prefix = NameId(1);
    net.origins.insert(prefix, vec![NodeId(3)]);
    for (node, port) in [(0, 0), (1, 2), (2, 4)] {
        net.hops.insert((NodeId(node), prefix), vec![Hop { port: PortId(port), cost: 1 }]);
    }
    let mut desk = AppBench::new(App::new(&calibrated()), net);
    for port in [1, 3, 5] {
        desk.status(port, 0.95, 1, &shares(&[1]));
    }
    for port in [1, 3, 5] {
        assert_eq!(desk.signal(port), []);
    }
}

/// Signals every half second while `port` 7 or 9 has traffic, as the prefixes go; how often each prefix moved.
fn rounds(rules: &Rules, prefixes: &[u32], n: u32) -> u32 {
    let mut desk = desk(rules);
    let mut moves = 0;
    for _ in 0..n {
        let at = |desk: &AppBench<App>, port: u32| -> Vec<u32> {
            let first = |prefix: &&u32| desk.net.hops(NodeId(3), NameId(**prefix))[0].port == PortId(port);
            prefixes.iter().filter(first).copied().collect()
        };
        let (short, long) = (at(&desk, 6), at(&desk, 8));
        report(&mut desk, if short.is_empty() { 0.0 } else { 0.95 }, 0, &short);
        desk.now += Duration::from_millis(1);
        desk.status(9, if long.is_empty() { 0.0 } else { 0.95 }, 0, &shares(&long));
        for port in [7, 9] {
            let before = [at(&desk, 6), at(&desk, 8)];
            if (port == 7 && !short.is_empty()) || (port == 9 && !long.is_empty()) {
                desk.signal(port);
            }
            moves += u32::from(before != [at(&desk, 6), at(&desk, 8)]);
        }
        desk.now += Duration::from_millis(499);
    }
    moves
}

#[test]
fn with_the_count_rule_one_prefix_moves_once_and_without_it_for_ever() {
    assert_eq!(rounds(&calibrated(), &[1], 20), 1);
    assert!(rounds(&literal(), &[1], 20) >= 19);
}

#[test]
fn a_command_that_is_under_way_counts_as_done() {
    let mut desk = desk(&calibrated());
    report(&mut desk, 0.95, 2, &[1, 2, 3]);
    let before = desk.net.clone();
    assert_eq!(prefixes_to_move(&desk.signal(7)).len(), 1);
    // nobody has acknowledged it yet, and the same congestion is signalled again: two and one are even enough, but each
    // of the two may still move for its first time; the one that is under way stays
    desk.net = before;
    let second = desk.signal(7);
    assert!(prefixes_to_move(&second).iter().all(|row| row.2 == 8 || row.2 == 6), "{second:?}");
    let long = [1, 2, 3]
        .into_iter()
        .filter(|prefix| desk.app.commands_to(NodeId(3), NameId(*prefix)) == Some(PortId(8)));
    assert!(long.count() <= 2);
}

#[test]
fn a_status_that_is_old_or_missing_moves_nothing_and_attracts_nothing() {
    let mut desk = desk(&calibrated());
    assert_eq!(desk.signal(7), [], "nothing is known at all");
    report(&mut desk, 0.95, 2, &[1]);
    desk.now += Duration::from_millis(1501);
    assert_eq!(desk.signal(7), [], "all that is known is old");
    // the congested link reports, the other way has fallen silent
    desk.status(7, 0.95, 2, &shares(&[1]));
    for port in [13, 15, 17] {
        desk.status(port, 0.0, 0, &[]);
    }
    let commands = desk.signal(7);
    assert!(prefixes_to_move(&commands).iter().all(|row| row.2 == 6), "{commands:?}");
}

#[test]
fn operations_are_bounded_as_the_paper_says() {
    let mut desk = desk(&literal());
    report(&mut desk, 0.95, 2, &[1, 2, 3]);
    // eq. 7: one operation for each signal; no prefix crosses the second and the third
    for port in [7, 9, 11] {
        desk.signal(port);
    }
    assert_eq!(desk.meter.count(Count::Filtering), 3);
    // eq. 8: one for each mild signal, three searches of one node, and the links of two paths: 2 and 3 with that to the
    // producer
    assert_eq!(desk.meter.count(Count::Searching), 3);
    assert_eq!(desk.meter.count(Count::Switching), 3 + 2 + 3);
    assert_eq!(desk.meter.count(Count::Operations), 3 + 3 + 8);
}

#[test]
fn a_new_app_has_moved_nothing_yet() {
    assert_eq!(App::new(&calibrated()).requirements().signal_above, Some(850_000));
    // after a restart every prefix may move for its first time again, but not to where more already are
    let mut desk = desk(&calibrated());
    for prefix in [1, 2] {
        let hop = |port| Hop { port: PortId(port), cost: 1 };
        desk.net.hops.insert((NodeId(3), NameId(prefix)), vec![hop(8), hop(6)]);
    }
    report(&mut desk, 0.95, 2, &[3]);
    desk.now += Duration::from_millis(1);
    desk.status(9, 0.95, 2, &shares(&[1, 2]));
    assert_eq!(desk.signal(7), []);
}

// ---- marks

/// Whether Data that leave a queue at these milliseconds, with so much behind them, are marked.
fn marks(rules: &Rules, results: &[(u64, u32)]) -> Vec<bool> {
    let mut controller = Link::new(rules);
    let mut faces = faces(1, Rate::from_mbps(10), 0);
    faces[0].link.as_mut().expect("it is a link").limit.packets = 500;
    let mut gate = LinkBench::new(faces);
    gate.now = Time::ZERO;
    controller.on_start(&mut gate);
    let name = Name { prefix: NameId(1), segment: 0 };
    let marked = |&(ms, backlog): &(u64, u32)| {
        gate.now = Time::ZERO + Duration::from_millis(ms);
        gate.link(FaceId(0)).backlog.packets = backlog;
        let mut packet = data(name);
        gate.dequeue(&mut controller, &mut packet, FaceId(0), Duration::ZERO);
        packet.ecn == Ecn::Marked
    };
    results.iter().map(marked).collect()
}

#[test]
fn literally_data_are_marked_that_leave_more_than_450_packets_behind() {
    assert_eq!(marks(&literal(), &[(0, 451), (1, 450), (2, 500), (3, 0)]), [true, false, true, false]);
}

#[test]
fn calibrated_the_minimum_queue_of_a_period_of_20_ms_decides_the_next() {
    let rules = calibrated();
    // in the first period the minimum is 4, in the second 3
    let results = [(0, 9), (10, 4), (19, 30), (20, 9), (30, 3), (39, 50), (40, 50), (59, 60), (60, 4)];
    let expected = [false, false, false, true, true, true, false, false, true];
    assert_eq!(marks(&rules, &results), expected);
    // a period without departures says nothing
    assert_eq!(marks(&rules, &[(0, 9), (45, 9), (61, 9)]), [false, false, true]);
}

// ---- the consumer

/// The consumer's window after each Data packet, which come in milliseconds 100, 101 and so on: whether it was marked,
/// and in which millisecond its Interest left.
fn windows(rules: &Rules, data: &[(bool, u64)]) -> Vec<u64> {
    let mut controller = Control::new(rules, &setup(1));
    let mut bench = Bench::new();
    assert_eq!(controller.window(), 1);
    let at = |ms| Time::ZERO + Duration::from_millis(ms);
    let window = |(&(marked, sent_ms), now_ms): (&(bool, u64), u64)| {
        bench.now = at(now_ms);
        let ack = Ack { marked, sent_at: at(sent_ms), ..bench.an_ack(&controller) };
        bench.deliver_ack(&mut controller, &ack);
        assert_eq!(controller.allowance().window, SEGMENT * controller.window());
        controller.window()
    };
    data.iter().zip(100..).map(window).collect()
}

#[test]
fn literally_each_data_packet_moves_the_window_by_one_and_it_is_never_below_one() {
    let data = [false, false, true, false, true, true, true, true, false].map(|marked| (marked, 0));
    assert_eq!(windows(&literal(), &data), [2, 3, 2, 3, 2, 1, 1, 1, 2]);
}

#[test]
fn calibrated_the_window_starts_data_by_data_drains_and_then_moves_once_a_round() {
    let (plain, mark) = (false, true);
    let data = [
        // start-up: 2, 3, 4; the first mark ends it
        (plain, 0),
        (plain, 1),
        (plain, 2),
        (mark, 3),
        // what was too much drains; the first Data without a mark, at 106 ms, begins the first round
        (mark, 4),
        (mark, 5),
        (plain, 6),
        // Data of Interests from before, marked or not, change nothing
        (plain, 50),
        (plain, 106),
        // the first that was asked for later ends the round: none was marked; the next round begins at 109 ms
        (plain, 107),
        (mark, 108),
        (plain, 109),
        // one of that round was marked
        (plain, 110),
        (plain, 112),
        (plain, 113),
    ];
    assert_eq!(windows(&calibrated(), &data), [2, 3, 4, 3, 2, 1, 1, 1, 1, 2, 2, 2, 1, 1, 2]);
}

/// One for each packet that leaves, one for each mark, and in the calibrated profile one at the end of each period of
/// 20 ms.
#[test]
fn operations_at_the_links_are_one_for_each_departure_and_each_mark() {
    let run = |rules: &Rules, results: u64, backlog: u32| {
        let mut gate = LinkBench::new(faces(1, Rate::from_mbps(10), 0));
        gate.now = Time::ZERO;
        let mut controller = Link::new(rules);
        controller.on_start(&mut gate);
        for _ in 0..results {
            gate.link(FaceId(0)).limit.packets = 500;
            gate.link(FaceId(0)).backlog.packets = backlog;
            gate.dequeue(
                &mut controller,
                &mut data(Name { prefix: NameId(1), segment: 1 }),
                FaceId(0),
                Duration::ZERO,
            );
            gate.now += Duration::from_millis(1);
        }
        controller.operations()
    };
    assert_eq!(run(&literal(), 100, 450), 100);
    assert_eq!(run(&literal(), 100, 451), 200, "all are marked");
    // periods of 20 ms: four ends within 100 ms
    assert_eq!(run(&calibrated(), 100, 0), 104);
}
