//! Groups identified by name: joins, leaves and trees that are built over the network.

use contract::{Count, DropReason, FlowId, LinkId, NodeId};
use sim::{Blueprint, Cast, Change, Control, FlowKind, IcnSpec, NodeRole, PortSpec, Trace, World};
use stack::{icn, stream};
use units::{Bytes, Duration, Rate};

use crate::{at_ms, ms, run};

fn port(rate_mbps: u64, delay_ms: u64) -> PortSpec {
    PortSpec::new(Rate::from_mbps(rate_mbps), ms(delay_ms), 1000)
}

/// source – r0 – middle – r1 – four members, all links 10 ms; the name resolution system is attached to r0. The source
/// sends 100 packets of 1000 bytes per second.
struct Net {
    print: Blueprint,
    routers: [NodeId; 3],
    members: Vec<NodeId>,
    /// source–r0, r0–middle, middle–r1, then the members' links.
    links: Vec<LinkId>,
}

fn net(seconds: u64, members: u32) -> Net {
    let mut print = Blueprint::new(Duration::from_secs(seconds));
    let [source, r0, middle, r1, nrs] = ["source", "r0", "middle", "r1", "nrs"].map(|name| print.node(name));
    let mut links = vec![
        print.link("access", (source, r0), port(100, 10)),
        print.link("first", (r0, middle), port(100, 10)),
        print.link("second", (middle, r1), port(100, 10)),
    ];
    print.link("names", (r0, nrs), port(100, 10));
    let members: Vec<NodeId> = (0..members).map(|i| print.node(&format!("member{i}"))).collect();
    for (i, member) in members.iter().enumerate() {
        links.push(print.link(&format!("leaf{i}"), (r1, *member), port(10, 10)));
    }
    print.icn =
        Some(IcnSpec { resolver: nrs, routers: vec![r0, middle, r1], config: icn::Config::default() });
    let config = stream::Config { packet: Bytes::new(1000), jitter: 0.0, ..stream::Config::default() };
    let flow = print.flow("group", Some("mca"), FlowKind::Stream(config), source, &members);
    flow.cast = Cast::Named;
    // a controller with a constant rate, so that arrivals can be counted
    let rate = contract::ParamValue::Text("800 kbit/s".into());
    flow.params =
        ["initial_rate", "max_rate", "min_rate"].map(|name| (name.to_owned(), rate.clone())).to_vec();
    Net { print, routers: [r0, middle, r1], members, links }
}

#[test]
fn joins_travel_hop_by_hop_and_only_then_does_data_flow() {
    let Net { mut print, .. } = net(10, 4);
    print.record.every = ms(10);
    print.record.series = vec!["throughput".into()];
    let trace = run(&print);
    // a member's join takes 10 ms to r1, which queries the name system (60 ms) and joins at middle (10 ms), which
    // queries (40 ms) and joins at r0 (10 ms); from 130 ms on packets arrive in 30 ms
    let first = |receiver: usize| {
        let series = trace.series.iter().find(|s| s.subject == sim::Subject::Receiver(receiver as u32));
        let series = series.expect("it is recorded");
        let index = series.values.iter().position(|&bps| bps > 0.0).expect("data arrives");
        series.times[index]
    };
    for receiver in 0..4 {
        assert!(first(receiver) > at_ms(160) && first(receiver) <= at_ms(180), "{:?}", first(receiver));
        assert_eq!(trace.receivers[receiver].meter.count(Count::Missing), 0);
        assert!(trace.receivers[receiver].packets > 950);
    }
    let routers: Vec<u64> = trace.nodes.iter().map(|node| node.groups).collect();
    assert_eq!(routers, [1, 1, 1, 1], "three tree nodes, and one name");
    assert_eq!(trace.nodes[3].role, NodeRole::Resolver);
    // one join goes up for four members: r1 forwards four copies of each packet
    let forwarded = |node: usize| trace.nodes[node].forwarded_packets as f64;
    assert!((forwarded(2) / forwarded(1) - 4.0).abs() < 0.05, "{} {}", forwarded(2), forwarded(1));
}

#[test]
fn a_join_at_a_node_of_the_tree_goes_no_further() {
    let Net { mut print, .. } = net(10, 2);
    print.flows[0].to[1].start = at_ms(5000);
    let alone = run(&Blueprint { duration: ms(4900), ..print.clone() });
    let trace = run(&print);
    assert!(trace.receivers[1].packets > 480, "{}", trace.receivers[1].packets);
    // the second member costs r1 one answer, and the network nothing but the refreshes at 5 s
    let signals = |trace: &Trace, node: usize| trace.nodes[node].meter.count(Count::Signals);
    assert!(signals(&trace, 0) <= signals(&alone, 0) + 4, "{} {}", signals(&trace, 0), signals(&alone, 0));
}

#[test]
fn joins_cross_routers_without_names() {
    let Net { mut print, routers, .. } = net(10, 2);
    let icn = print.icn.as_mut().expect("it is there");
    icn.routers = vec![routers[0]];
    let trace = run(&print);
    assert_eq!(trace.nodes.len(), 2);
    for receiver in &trace.receivers {
        assert!(receiver.packets > 950, "{}", receiver.packets);
    }
    // r0 makes a copy for each member, and both cross the links behind it
    assert!(trace.ports[2].sent_packets > 1900, "{}", trace.ports[2].sent_packets);
}

#[test]
fn a_branch_without_members_is_pruned_over_the_network() {
    let Net { mut print, .. } = net(20, 2);
    print.flows[0].to[0].stop = at_ms(5000);
    print.flows[0].to[1].stop = at_ms(10_000);
    let trace = run(&print);
    assert!((480..500).contains(&trace.receivers[0].packets), "{}", trace.receivers[0].packets);
    // the leave reaches r0 in 30 ms; later packets find no branch at the root and end there
    let groups: Vec<u64> = trace.nodes.iter().map(|node| node.groups).collect();
    assert_eq!(groups, [1, 0, 0, 1], "only the root still holds the group");
    let ended = trace.flows[0].drops[DropReason::NotListening as usize];
    assert!((980..1030).contains(&ended), "{ended}");
    assert!(trace.ports[2].sent_packets < 1030, "{}", trace.ports[2].sent_packets);
}

#[test]
fn a_reset_router_rejoins_the_tree_within_a_refresh_period() {
    for which in 0..3 {
        let Net { mut print, routers, .. } = net(20, 4);
        print.events.push((at_ms(7000), Change::Reset(routers[which])));
        let trace = run(&print);
        for receiver in &trace.receivers {
            // at most a little more than 5 s of 20 s of data are lost
            assert!(receiver.packets > 1440, "router {which}: {}", receiver.packets);
            assert!(receiver.packets < 1960, "router {which}: something was lost: {}", receiver.packets);
        }
        let groups: Vec<u64> = trace.nodes.iter().map(|node| node.groups).collect();
        assert_eq!(groups, [1, 1, 1, 1]);
    }
}

#[test]
fn signals_that_are_lost_are_repeated() {
    for seed in 1..=10 {
        let Net { mut print, .. } = net(30, 4);
        print.seed = seed;
        for link in &mut print.links {
            link.forward.loss = 0.1;
            link.backward.loss = 0.1;
        }
        let trace = run(&print);
        for receiver in &trace.receivers {
            // 0.9⁴ = 66 % of 3000 packets arrive once all members are on the tree, which may take some seconds
            assert!(receiver.packets > 900, "seed {seed}: {}", receiver.packets);
        }
    }
}

#[test]
fn a_tree_follows_its_routes_when_a_link_fails() {
    let Net { mut print, routers, links, .. } = net(40, 2);
    let [r0, _, r1] = routers;
    print.link("detour", (r0, r1), port(100, 100));
    print.events.push((at_ms(10_000), Change::LinkUp(links[2], false)));
    let trace = run(&print);
    for receiver in &trace.receivers {
        // the refreshed join takes the new route at 10 to 15 s
        assert!(receiver.packets > 3400, "{}", receiver.packets);
    }
    assert!(trace.ports.last().map_or(0, |port| port.sent_packets) > 0);
    // no member gets a packet twice, and the old branch expires
    let groups: Vec<u64> = trace.nodes.iter().map(|node| node.groups).collect();
    assert_eq!(groups, [1, 0, 1, 1]);
}

#[test]
fn a_source_that_stops_and_starts_again_is_published_again() {
    let Net { mut print, .. } = net(30, 2);
    print.events.push((at_ms(10_000), Change::FlowStop(FlowId(0))));
    print.events.push((at_ms(20_000), Change::FlowStart(FlowId(0))));
    let trace = run(&print);
    for receiver in &trace.receivers {
        assert!((1850..2000).contains(&receiver.packets), "{}", receiver.packets);
    }
}

#[test]
fn unused_names_are_removed() {
    let Net { mut print, .. } = net(60, 2);
    print.flows[0].to.iter_mut().for_each(|member| member.stop = at_ms(10_000));
    print.flows[0].stop = at_ms(20_000);
    let groups: Vec<u64> = run(&print).nodes.iter().map(|node| node.groups).collect();
    assert_eq!(groups, [0, 0, 0, 0]);
}

#[test]
fn a_member_joins_at_the_first_router_on_its_path() {
    let Net { mut print, routers, members, links } = net(40, 1);
    // the member's link fails for a while, and its route to r1 then leads over the middle
    print.link("spare", (members[0], routers[1]), port(10, 50));
    print.events.push((at_ms(10_000), Change::LinkUp(links[3], false)));
    print.events.push((at_ms(20_000), Change::LinkUp(links[3], true)));
    let trace = run(&print);
    let receiver = &trace.receivers[0];
    assert!(receiver.packets > 3400, "{}", receiver.packets);
    // while both routers have it as a branch, for the delay of one message, one or two packets arrive from each
    let twice = receiver.packets - receiver.meter.goodput_bytes / 1000;
    assert!(twice <= 20, "{twice}");
    let groups: Vec<u64> = trace.nodes.iter().map(|node| node.groups).collect();
    assert_eq!(groups, [1, 1, 1, 1], "r1 is back on the tree");
    assert!(trace.ports.last().map_or(0, |port| port.sent_packets) > 0, "its joins went that way");
}

#[test]
fn packets_in_a_routing_loop_are_dropped() {
    // a loop of three routers behind r0, and routes that lead around it from 5 s on
    let mut print = Blueprint::new(Duration::from_secs(10));
    let [source, r0, a, b, c, nrs, member] =
        ["source", "r0", "a", "b", "c", "nrs", "member"].map(|name| print.node(name));
    for (name, ends) in
        [("access", (source, r0)), ("down", (r0, a)), ("ab", (a, b)), ("bc", (b, c)), ("names", (r0, nrs))]
    {
        print.link(name, ends, port(100, 10));
    }
    print.link("ca", (c, a), port(100, 30));
    print.link("leaf", (c, member), port(100, 10));
    print.icn = Some(IcnSpec { resolver: nrs, routers: vec![r0, a, b, c], config: icn::Config::default() });
    let config = stream::Config { jitter: 0.0, ..stream::Config::default() };
    let flow = print.flow("group", Some("mca"), FlowKind::Stream(config), source, &[member]);
    flow.cast = Cast::Named;
    let rate = contract::ParamValue::Text("800 kbit/s".into());
    flow.params =
        ["initial_rate", "max_rate", "min_rate"].map(|name| (name.to_owned(), rate.clone())).to_vec();
    for (at, via) in [(a, c), (b, a), (c, b)] {
        let route = sim::RouteSpec { at, to: r0, via };
        print.events.push((at_ms(5000), Change::Route(route)));
    }
    let trace = run(&print);
    // packets on the way from a to c when a takes c as its parent (50 ms per loop) cross 64 links, and no more
    let ended = trace.flows[0].drops[DropReason::HopLimit as usize];
    assert!((1..=8).contains(&ended), "{ended}");
    assert!(trace.receivers[0].packets > 490, "{}", trace.receivers[0].packets);
}

#[test]
fn nodes_count_own_and_forwarded_packets_separately() {
    let Net { mut print, .. } = net(20, 4);
    let whole = run(&print);
    print.duration = Duration::from_secs(12);
    let first = run(&print);
    print.duration = Duration::from_secs(20);
    print.warmup = Duration::from_secs(12);
    let rest = run(&print);
    for ((whole, first), rest) in whole.nodes.iter().zip(&first.nodes).zip(&rest.nodes) {
        assert_eq!(whole.sent_packets, whole.meter.count(Count::Signals), "nobody says anything else here");
        assert_eq!(whole.sent_bytes, whole.sent_packets * 64);
        assert_eq!(whole.sent_packets, first.sent_packets + rest.sent_packets);
        assert_eq!(whole.forwarded_packets, first.forwarded_packets + rest.forwarded_packets);
        assert!(rest.sent_packets > 0);
    }
    let [r0, middle, r1, nrs] = &whole.nodes[..] else { panic!("there are four") };
    assert!(r0.forwarded_packets.abs_diff(1988) <= 2, "{}", r0.forwarded_packets);
    assert!(middle.forwarded_packets.abs_diff(r0.forwarded_packets) <= 2);
    assert!(r1.forwarded_packets.abs_diff(4 * r0.forwarded_packets) <= 12);
    assert_eq!(nrs.forwarded_packets, 0);
    // control messages do not count among a receiver's arrivals of its group: they would have the lowest delay
    for receiver in &whole.receivers {
        assert_eq!(receiver.packets * 1000, receiver.meter.goodput_bytes);
        assert!(receiver.delay_min > ms(40), "{}", receiver.delay_min);
    }
}

#[test]
fn runs_with_names_are_deterministic() {
    let Net { print, .. } = net(5, 4);
    assert_eq!(run(&print).hash, run(&print).hash);
}

#[test]
fn a_pause_and_a_snapshot_change_nothing() {
    let Net { mut print, routers, .. } = net(20, 4);
    print.events.push((at_ms(7000), Change::Reset(routers[1])));
    let whole = run(&print);
    let mut world = World::new(&print).expect("a valid blueprint");
    let control = Control::default();
    let mut looks = 0;
    let mut forwarded = 0;
    loop {
        control.pause.store(true, std::sync::atomic::Ordering::Relaxed);
        world.run(&control);
        let so_far = world.snapshot();
        assert!(so_far.balance.holds(), "{:?}", so_far.balance);
        let now = so_far.nodes.iter().map(|node| node.forwarded_packets).sum();
        assert!(now >= forwarded, "counters go on");
        (forwarded, looks) = (now, looks + 1);
        if !world.paused() {
            break;
        }
    }
    assert!(looks > 1000, "{looks}");
    let trace = world.finish();
    assert_eq!(trace.hash, whole.hash);
    assert_eq!(format!("{:?}", trace.nodes), format!("{:?}", whole.nodes));
}

#[test]
fn hosts_routers_and_the_name_system_are_different_nodes() {
    let refused = |change: &dyn Fn(&mut Net)| {
        let mut net = net(1, 2);
        change(&mut net);
        World::new(&net.print).err().map(|error| error.to_string()).expect("it is refused")
    };
    let message = refused(&|net| net.print.icn.as_mut().expect("there").resolver = net.routers[0]);
    assert!(message.contains("no router"), "{message}");
    let message = refused(&|net| net.print.icn.as_mut().expect("there").routers.clear());
    assert!(message.contains("at least one"), "{message}");
    let message = refused(&|net| net.print.icn.as_mut().expect("there").routers.push(net.members[0]));
    assert!(message.contains("at hosts"), "{message}");
    let message = refused(&|net| net.print.icn = None);
    assert!(message.contains("name-based network"), "{message}");
}
