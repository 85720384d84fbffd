//! After any events in a network of names, once it is undisturbed every member gets every packet exactly once.

use contract::{Count, FlowId, LinkId, NodeId, ParamValue};
use proptest::prelude::*;
use sim::{Blueprint, Cast, Change, Control, FlowKind, IcnSpec, Metric, PortSpec, Trace, World};
use stack::{icn, stream};
use units::{Duration, Rate, Time};

/// Time of the last change.
const CHANGES_MS: u64 = 5000;
/// Packets are counted for this time, at the end.
const COUNTED_MS: u64 = 1000;

/// A network and its events. Indices of places and links are taken modulo their number.
#[derive(Clone, Debug)]
struct Case {
    /// For each router but the first: its neighbour among those before it, the delay in ms, whether it knows names.
    routers: Vec<(usize, u64, bool)>,
    /// Further links: two routers, the delay in ms.
    links: Vec<(usize, usize, u64)>,
    resolver: Host,
    groups: Vec<Group>,
    /// Links that fail: index, start, duration.
    failures: Vec<(usize, u64, u64)>,
    /// Nodes that lose their state: index, time.
    resets: Vec<(usize, u64)>,
    /// Links with 10 % loss until the last change.
    lossy: Vec<usize>,
    hops: bool,
}

/// The router to which a host is attached, and an optional second one.
#[derive(Clone, Debug)]
struct Host(usize, Option<usize>);

/// A group of the network.
#[derive(Clone, Debug)]
struct Group {
    source: Host,
    /// Start and duration of its pause.
    pauses: Vec<(u64, u64)>,
    /// The members, and the times at which each joins, leaves, joins …
    members: Vec<(Host, Vec<u64>)>,
}

fn case() -> impl Strategy<Value = Case> {
    let (place, at) = (|| 0usize..60, || 0..CHANGES_MS);
    let router = (place(), 0u64..8, prop::bool::weighted(0.7));
    let host = || (place(), prop::option::weighted(0.2, place())).prop_map(|(at, second)| Host(at, second));
    let member = (host(), prop::collection::vec(at(), 1..4));
    let pauses = prop::collection::vec((at(), at()), 0..2);
    let group = (host(), pauses, prop::collection::vec(member, 1..6))
        .prop_map(|(source, pauses, members)| Group { source, pauses, members });
    (
        prop::collection::vec(router, 1..10),
        prop::collection::vec((place(), place(), 0u64..8), 0..6),
        host(),
        prop::collection::vec(group, 1..3),
        prop::collection::vec((place(), at(), at()), 0..4),
        prop::collection::vec((place(), at()), 0..3),
        prop::collection::vec(place(), 0..3),
        any::<bool>(),
    )
        .prop_map(|(routers, links, resolver, groups, failures, resets, lossy, hops)| Case {
            routers,
            links,
            resolver,
            groups,
            failures,
            resets,
            lossy,
            hops,
        })
}

fn at_ms(millis: u64) -> Time {
    Time::ZERO + Duration::from_millis(millis)
}

fn config() -> icn::Config {
    icn::Config {
        refresh: Duration::from_millis(1000),
        retry: Duration::from_millis(200),
        ..icn::Config::default()
    }
}

/// The blueprint of a case, and whether each member is present at its end. Either sources have constant rates below the
/// capacity of links, or groups are of the schemes with parts in routers, and congest the links.
fn blueprint(case: &Case, steady: bool) -> (Blueprint, Vec<bool>) {
    let config = config();
    let settled = Duration::from_millis(CHANGES_MS) + config.refresh * (2 * u64::from(config.lifetime));
    let mut print = Blueprint::new(settled + Duration::from_millis(COUNTED_MS));
    print.warmup = settled;
    print.metric = if case.hops { Metric::Hops } else { Metric::Delay };
    let (rate, packets) = if steady { (Rate::from_mbps(10), 1000) } else { (Rate::from_mbps(1), 20) };
    let port = |delay_ms| PortSpec::new(rate, Duration::from_millis(delay_ms), packets);
    let routers: Vec<NodeId> = (0..=case.routers.len()).map(|i| print.node(&format!("r{i}"))).collect();
    for (i, (to, delay, _)) in case.routers.iter().enumerate() {
        print.link(&format!("l{i}"), (routers[i + 1], routers[to % (i + 1)]), port(*delay));
    }
    // links that the others can replace
    let mut spare = Vec::new();
    for (i, (a, b, delay)) in case.links.iter().enumerate() {
        let ends = (routers[a % routers.len()], routers[b % routers.len()]);
        if ends.0 != ends.1 {
            spare.push(print.link(&format!("x{i}"), ends, port(*delay)));
        }
    }
    let mut host = |print: &mut Blueprint, name: &str, Host(at, second): &Host| {
        let node = print.node(name);
        print.link(name, (node, routers[at % routers.len()]), port(1));
        if let Some(second) = second {
            spare.push(print.link(&format!("{name}.2"), (node, routers[second % routers.len()]), port(2)));
        }
        node
    };
    let resolver = host(&mut print, "nrs", &case.resolver);
    let knows = |index: &usize| *index == 0 || case.routers[*index - 1].2;
    let known: Vec<NodeId> = (0..routers.len()).filter(knows).map(|index| routers[index]).collect();
    let mut present = Vec::new();
    for (g, group) in case.groups.iter().enumerate() {
        let flow_id = FlowId(g as u32);
        let source = host(&mut print, &format!("s{g}"), &group.source);
        let numbered = group.members.iter().enumerate();
        let members: Vec<NodeId> =
            numbered.map(|(i, (at, _))| host(&mut print, &format!("m{g}.{i}"), at)).collect();
        let stream = stream::Config { jitter: 0.0, ..stream::Config::default() };
        let scheme = if steady { "mca" } else { ["srmcc", "perif_ecn"][g % 2] };
        let flow = print.flow(&format!("g{g}"), Some(scheme), FlowKind::Stream(stream), source, &members);
        flow.cast = Cast::Named;
        if steady {
            let rate = ParamValue::Text("400 kbit/s".into());
            flow.params =
                ["initial_rate", "max_rate", "min_rate"].map(|name| (name.to_owned(), rate.clone())).to_vec();
        }
        for (stop, span) in &group.pauses {
            let start = (stop + span).min(CHANGES_MS);
            print.events.push((at_ms(*stop), Change::FlowStop(flow_id)));
            print.events.push((at_ms(start), Change::FlowStart(flow_id)));
        }
        for (member, (_, turns)) in group.members.iter().enumerate() {
            let mut turns = turns.clone();
            turns.sort_unstable();
            print.flows[g].to[member].start = at_ms(turns[0]);
            present.push(turns.len() % 2 == 1);
            for (turn, at) in turns.iter().enumerate().skip(1) {
                let change = if turn % 2 == 1 { Change::Leave } else { Change::Join };
                print.events.push((at_ms(*at), change(flow_id, members[member])));
            }
        }
    }
    for (link, at, span) in &case.failures {
        let link = LinkId((link % print.links.len()) as u32);
        print.events.push((at_ms(*at), Change::LinkUp(link, false)));
        if !spare.contains(&link) || span % 2 == 0 {
            let back = (at + span).min(CHANGES_MS);
            print.events.push((at_ms(back), Change::LinkUp(link, true)));
        }
    }
    for link in &case.lossy {
        let link = LinkId((link % print.links.len()) as u32);
        print.events.push((at_ms(0), Change::LinkLoss(link, 0.1)));
        print.events.push((at_ms(CHANGES_MS), Change::LinkLoss(link, 0.0)));
    }
    let machines = [known.as_slice(), &[resolver]].concat();
    for (node, at) in &case.resets {
        print.events.push((at_ms(*at), Change::Reset(machines[node % machines.len()])));
    }
    print.icn = Some(IcnSpec { resolver, routers: known, config });
    (print, present)
}

fn run(print: &Blueprint) -> Trace {
    let mut world = World::new(print).expect("a valid blueprint");
    world.run(&Control::default());
    // asserts that packets are conserved
    world.finish()
}

/// Errors at the end of a case.
fn check_case(case: &Case) -> Result<(), String> {
    let (print, present) = blueprint(case, true);
    let trace = run(&print);
    for (number, flow) in trace.flows.iter().enumerate() {
        let sent = flow.sent_packets - flow.meter.count(Count::Signals);
        let receivers = trace.receivers.iter().zip(&present);
        let mut anybody = false;
        for (receiver, &here) in receivers.filter(|(receiver, _)| receiver.flow.index() == number) {
            anybody |= here;
            let new = receiver.meter.goodput_bytes / 1000;
            let (came, missing) = (receiver.packets, receiver.meter.count(Count::Missing));
            let whole = if here { missing == 0 && new.abs_diff(sent) <= 1 } else { came == 0 };
            if !whole || came != new {
                return Err(format!("of {sent} sent {came} came, {new} of them new, {missing} are missing"));
            }
        }
        // no copies are sent where there is no member; without members the root drops the packets of the source
        let dropped: u64 = flow.drops.iter().sum();
        if dropped.abs_diff(if anybody { 0 } else { sent }) > u64::from(!anybody) {
            return Err(format!("of {sent} sent {dropped} were dropped on the way: {:?}", flow.drops));
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_tree_recovers_from_random_events(case in case()) {
        if let Err(what) = check_case(&case) {
            prop_assert!(false, "{what}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn router_parts_tolerate_random_events(case in case()) {
        let (print, _) = blueprint(&case, false);
        let (trace, again) = (run(&print), run(&print));
        prop_assert_eq!(trace.hash, again.hash);
        for (node, again) in trace.nodes.iter().zip(&again.nodes) {
            prop_assert_eq!(node.sent_packets, again.sent_packets);
            let spoken = node.meter.count(Count::Signals) + node.meter.count(Count::Feedback);
            prop_assert_eq!(node.sent_packets, spoken, "signals and feedback are all that a node says");
        }
    }
}

#[test]
fn a_reset_while_two_links_fail_leaves_no_branch_behind() {
    let host = |at| Host(at, None);
    let case = Case {
        routers: vec![(0, 7, true), (19, 0, true), (8, 0, true)],
        links: vec![(11, 44, 0), (12, 11, 1)],
        resolver: host(22),
        groups: vec![
            Group {
                source: host(0),
                pauses: vec![],
                members: vec![
                    (host(0), vec![0]),
                    (Host(31, Some(6)), vec![0]),
                    (host(0), vec![0]),
                    (host(0), vec![0]),
                ],
            },
            Group { source: host(14), pauses: vec![], members: vec![(host(21), vec![1586])] },
        ],
        failures: vec![(26, 2407, 2400), (43, 2190, 2417)],
        resets: vec![(54, 1003), (7, 2406)],
        lossy: vec![40],
        hops: true,
    };
    assert_eq!(check_case(&case), Ok(()));
}
