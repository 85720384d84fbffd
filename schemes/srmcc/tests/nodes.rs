//! The part in routers.

use contract::{
    Address, Branch, Count, EndpointId, Entry, GroupMessage, Header, NodeId, PortId, RouterAlgorithm, Signal,
    StreamHeader, TcpHeader,
};
use contract::{FeedbackTarget, Packet};
use proptest::prelude::*;
use units::Bytes;

use super::super::headers;
use super::*;
use crate::shared::router_testing::{Node, packet};

/// Children of a node: `n` of them, each behind a port of its own; port 0 leads up.
fn branches(n: u32) -> Vec<Branch> {
    (1..=n).map(|i| Branch { port: PortId(i), child: child(i) }).collect()
}

fn child(i: u32) -> Address {
    Address { node: NodeId(i), endpoint: EndpointId(1000 + i) }
}

fn entry(branches: &[Branch]) -> Entry<'_> {
    Entry { incoming: Some(UP), branches }
}

/// A node with this many children, and its part.
fn node(children: u32, params: &Params) -> (Node, Router, Vec<Branch>) {
    (Node::new(children + 1), Router::new(params, Bytes::new(1000)), branches(children))
}

/// A data packet of the group, on its way from the source's node 50.
fn data(round: u32, t_adapt_ms: u64) -> Packet {
    let label = headers::Header { round, t_adapt: Duration::from_millis(t_adapt_ms) }.encode();
    packet(GROUP.0, 50, 0, Header::Stream(StreamHeader::default()), label)
}

fn tcp(flow: u32, from: u32, to: u32) -> Packet {
    packet(flow, from, to, Header::Tcp(TcpHeader::default()), Label::default())
}

/// Lets a queue's average be `waiting` packets of fifty for certain.
fn fill(node: &mut Node, algorithm: &mut Router, port: PortId, waiting: u32) {
    for _ in 0..20 {
        node.enqueue(algorithm, &tcp(1, 60, 61), port, waiting);
    }
}

/// Child `i` speaks; what the node says upstream.
fn send_mcc(node: &mut Node, algorithm: &mut Router, i: u32, label: Label, branches: &[Branch]) -> Vec<Mcc> {
    messages(node.report(algorithm, GROUP, child(i), label, entry(branches)))
}

fn messages(words: Vec<GroupMessage>) -> Vec<Mcc> {
    let message = |message: GroupMessage| {
        assert_eq!((message.group, message.target), (GROUP, FeedbackTarget::Parent));
        read(message.label)
    };
    words.into_iter().map(message).collect()
}

const UP: PortId = PortId(0);
const FAST: Rate = Rate::from_mbps(100);

// ---- occupancy ----

/// What a lone child's node says of its only queue after samples of this many packets.
fn said_of(samples: &[u32], params: &Params, busy: bool) -> Mcc {
    let (mut node, mut algorithm, branches) = node(1, params);
    node.ports.get(PortId(1)).busy = busy;
    for waiting in samples {
        node.enqueue(&mut algorithm, &tcp(1, 60, 61), PortId(1), *waiting);
    }
    node.now = ms(100);
    send_mcc(&mut node, &mut algorithm, 1, mcc(ms(100), 50, 0, 0.0, 1.0, FAST), &branches)[0]
}

fn near(found: f64, wanted: f64) {
    assert!((found - wanted).abs() < 1e-7, "{found} is not {wanted}");
}

/// S000-03, eq. 1: the weight is that of the newest sample.
#[test]
fn the_average_takes_nine_tenths_of_the_newest_sample() {
    near(said_of(&[50], &Params::default(), false).max_qocc, 0.9);
    near(said_of(&[50, 50], &Params::default(), false).max_qocc, 0.99);
    near(said_of(&[50, 25], &Params::default(), false).max_qocc, 0.9 * 0.5 + 0.1 * 0.9);
    // one queue alone is both the fullest and the emptiest
    let one = said_of(&[50, 25], &Params::default(), false);
    assert_eq!(one.max_qocc, one.min_qocc);
}

/// Our choice: half a packet is nothing. 0.9·50, 0.09·50 and so on after a full queue was found empty.
#[test]
fn a_queue_comes_back_to_exactly_empty() {
    let left = |empty_samples: usize| {
        let mut samples = vec![50];
        samples.resize(1 + empty_samples, 0);
        said_of(&samples, &Params::default(), false).max_qocc
    };
    near(left(1), 0.09);
    assert_eq!(left(2), 0.0, "0.45 packets");
    let exact = Params { empty: 0.0, ..Params::default() };
    near(said_of(&[50, 0, 0], &exact, false).max_qocc, 0.009);
    assert_eq!(said_of(&[], &exact, false).max_qocc, 0.0);
}

#[test]
fn the_packet_in_service_counts_where_asked_for() {
    let counted = Params { in_service: true, ..Params::default() };
    assert_eq!(said_of(&[0], &Params::default(), true).max_qocc, 0.0);
    near(said_of(&[0], &counted, true).max_qocc, 0.018);
    assert_eq!(said_of(&[0], &counted, false).max_qocc, 0.0);
    // a full queue is not more than full
    near(said_of(&[50], &counted, true).max_qocc, 0.9);
}

#[test]
fn limits_in_bytes_and_no_limit_at_all_are_understood() {
    let with = |limit_packets: u32, limit_bytes: Bytes| {
        let (mut node, mut algorithm, branches) = node(1, &Params { in_service: true, ..Params::default() });
        let port = node.ports.get(PortId(1));
        port.busy = true;
        (port.limit.packets, port.limit.bytes, port.backlog.bytes) =
            (limit_packets, limit_bytes, Bytes::new(9000));
        node.enqueue(&mut algorithm, &tcp(1, 60, 61), PortId(1), 9);
        node.now = ms(100);
        send_mcc(&mut node, &mut algorithm, 1, mcc(ms(100), 50, 0, 0.0, 1.0, FAST), &branches)[0].max_qocc
    };
    near(with(u32::MAX, Bytes::new(20_000)), 0.9 * 0.5);
    near(with(40, Bytes::new(20_000)), 0.9 * 0.5);
    near(with(20, Bytes::new(100_000)), 0.9 * 0.5);
    assert_eq!(with(u32::MAX, Bytes::UNLIMITED), 0.0);
    assert_eq!(with(0, Bytes::UNLIMITED), 0.0);
}

/// Our choice of the paper's two readings: the other looks at queues when a message passes.
#[test]
fn queues_can_be_sampled_when_a_message_passes() {
    let params = Params { sampling: Sampling::Mcc, ..Params::default() };
    let (mut node, mut algorithm, branches) = node(1, &params);
    node.enqueue(&mut algorithm, &tcp(1, 60, 61), PortId(1), 50);
    node.ports.get(PortId(1)).backlog.packets = 25;
    node.now = ms(100);
    let aggregate = send_mcc(&mut node, &mut algorithm, 1, mcc(ms(100), 50, 0, 0.0, 1.0, FAST), &branches);
    near(aggregate[0].max_qocc, 0.45);
}

// ---- folding ----

/// §3.2: Max qocc and Min qocc of one queue, read as its extremes since the message before.
#[test]
fn extremes_are_those_since_the_message_before() {
    let extremes = Params { occupancy: Occupancy::Extremes, ..Params::default() };
    for (params, wanted) in [
        (Params::default(), [(0.5, 0.5), (0.2, 0.2), (0.2, 0.2)]),
        (extremes, [(0.5, 0.5), (0.8, 0.0), (0.2, 0.2)]),
    ] {
        let (mut node, mut algorithm, branches) = node(1, &params);
        let mut told = |levels: &[u32], at: u64| {
            node.now = ms(at);
            levels.iter().for_each(|waiting| {
                // the average becomes this level
                (0..20).for_each(|_| node.enqueue(&mut algorithm, &tcp(1, 60, 61), PortId(1), *waiting));
            });
            let label = mcc(ms(at), 50, 0, 0.0, 1.0, FAST);
            let sent = send_mcc(&mut node, &mut algorithm, 1, label, &branches);
            (sent[0].max_qocc, sent[0].min_qocc)
        };
        for ((levels, at), wanted) in
            [(&[25][..], 1000), (&[40, 0, 10][..], 2000), (&[][..], 3000)].into_iter().zip(wanted)
        {
            let found = told(levels, at);
            near(found.0, wanted.0);
            near(found.1, wanted.1);
        }
    }
}

/// S000-06, Fig. 3: the maximum, the minimum, the minimum; nothing of an earlier period.
#[test]
fn messages_are_aggregated_by_maximum_and_minima() {
    let (mut node, mut algorithm, branches) = node(3, &Params::default());
    fill(&mut node, &mut algorithm, PortId(2), 10);
    fill(&mut node, &mut algorithm, PortId(3), 15);
    fill(&mut node, &mut algorithm, PortId(1), 20);
    let bps = Rate::from_bps;
    let mut period = |at: u64, words: [(f64, f64, u64); 3]| {
        node.now = ms(at);
        let mut aggregate = Vec::new();
        for (i, (max, min, fair)) in (1..).zip(words) {
            let label = mcc(node.now, 50, 0, max, min, bps(fair));
            aggregate.extend(send_mcc(&mut node, &mut algorithm, i, label, &branches));
        }
        let last = node.run(&mut algorithm, ms(at + 500)).into_iter().map(|row| row.1).collect();
        aggregate.extend(messages(last));
        aggregate
    };
    // the first child alone is known at first; the others are heard of within the cycle
    let first = period(1000, [(0.5, 0.5, 5_000_000), (0.25, 0.125, 3_000_000), (0.75, 0.5, 4_000_000)]);
    assert_eq!(first.len(), 2);
    // now all three are
    let second = period(2000, [(0.5, 0.5, 5_000_000), (0.25, 0.125, 3_000_000), (0.75, 0.5, 4_000_000)]);
    assert_eq!(second.len(), 1);
    assert_eq!((second[0].max_qocc, second[0].min_qocc, second[0].min_fair), (0.75, 0.125, bps(3_000_000)));
    let third = period(3000, [(0.0, 1.0, 9_000_000), (0.0, 1.0, 8_000_000), (0.0, 1.0, 20_000_000)]);
    assert_eq!((third.len(), third[0].min_fair), (1, bps(8_000_000)));
    // what is left is this node's own
    near(third[0].max_qocc, 0.4);
    near(third[0].min_qocc, 0.2);
}

/// The other reading keeps the extremes for ever.
#[test]
fn without_a_reset_extremes_stay() {
    let (mut node, mut algorithm, branches) = node(1, &Params { reset: false, ..Params::default() });
    node.now = ms(1000);
    send_mcc(
        &mut node,
        &mut algorithm,
        1,
        mcc(ms(1000), 50, 0, 0.75, 0.125, Rate::from_kbps(300)),
        &branches,
    );
    node.now = ms(2000);
    let aggregate = send_mcc(&mut node, &mut algorithm, 1, mcc(ms(2000), 70, 0, 0.5, 0.25, FAST), &branches);
    assert_eq!(
        (aggregate[0].max_qocc, aggregate[0].min_qocc, aggregate[0].min_fair),
        (0.75, 0.0, Rate::from_kbps(300))
    );
    assert_eq!(aggregate[0].t_echo, ms(1930), "times are not extremes");
}

/// S000-07, eq. 2.
#[test]
fn the_fair_share_is_the_minimum_of_all_links_and_access_links() {
    // a node below: 4 Mbit/s up, two flows; above: 9 Mbit/s up, five flows; an access link of 2.5 Mbit/s
    let (mut below, mut algorithm_below, one) = node(1, &Params::default());
    let (mut above, mut algorithm_above, _) = node(1, &Params::default());
    below.ports.get(UP).rate_in = Rate::from_mbps(4);
    above.ports.get(UP).rate_in = Rate::from_mbps(9);
    let through =
        |access: Rate, flows_above: u32, below: &mut Node, above: &mut Node, algorithms: [&mut Router; 2]| {
            let [algorithm_below, algorithm_above] = algorithms;
            for (node, algorithm, flows) in
                [(below, algorithm_below, 2), (above, algorithm_above, flows_above)]
            {
                node.now += Duration::from_secs(5);
                node.arrive(algorithm, &data(0, 400), UP);
                (1..flows).for_each(|i| node.arrive(algorithm, &tcp(100 + i, i, 200), UP));
            }
            access
        };
    let mut fair = |access: Rate, flows_above: u32| {
        through(access, flows_above, &mut below, &mut above, [&mut algorithm_below, &mut algorithm_above]);
        let now = below.now;
        let up = send_mcc(&mut below, &mut algorithm_below, 1, mcc(now, 50, 0, 0.0, 1.0, access), &one);
        send_mcc(&mut above, &mut algorithm_above, 1, up[0].encode(), &one)[0].min_fair
    };
    // 4/2 = 2, 9/5 = 1.8
    assert_eq!(fair(Rate::from_kbps(2500), 5), Rate::from_kbps(1800));
    assert_eq!(fair(Rate::from_kbps(2500), 4), Rate::from_kbps(2000));
    assert_eq!(fair(Rate::from_kbps(1500), 4), Rate::from_kbps(1500));
}

// ---- counting flows ----

/// The fair share that a node with 10 Mbit/s up says at `at`.
fn share(node: &mut Node, algorithm: &mut Router, at: Time, branches: &[Branch]) -> u64 {
    node.now = at;
    let label = mcc(at, 50, 0, 0.0, 1.0, FAST);
    send_mcc(node, algorithm, 1, label, branches)[0].min_fair.as_bps()
}

/// §3.2: groups by identifier, unicast flows by their ends, from upstream alone.
#[test]
fn groups_and_unicast_flows_from_upstream_are_counted() {
    let (mut node, mut algorithm, branches) = node(2, &Params::default());
    let mut shown = |packet: Packet, port: u32, at: u64| {
        node.now = ms(at - 499);
        node.arrive(&mut algorithm, &data(0, 400), UP);
        node.arrive(&mut algorithm, &packet, PortId(port));
        10_000_000 / share(&mut node, &mut algorithm, ms(at), &branches)
    };
    let stream = |flow, to| packet(flow, 51, to, Header::Stream(StreamHeader::default()), Label::default());
    let other = |flow, header| packet(flow, 63, 70, header, Label::default());
    assert_eq!(shown(data(0, 400), 0, 1000), 1);
    assert_eq!(shown(tcp(20, 60, 70), 0, 1500), 2);
    assert_eq!(shown(tcp(21, 60, 70), 0, 2000), 2, "another connection of the same hosts");
    assert_eq!(shown(tcp(22, 61, 70), 0, 2500), 3);
    assert_eq!(shown(tcp(23, 70, 62), 1, 3000), 3, "from downstream");
    // the group of another scheme, under two addresses on its way to two tree nodes
    assert_eq!(shown(stream(30, 80), 0, 3500), 4);
    // the first two were last seen at 1.5 s, the third at 2.0 s
    assert_eq!(shown(stream(30, 81), 0, 4000), 3);
    assert_eq!(shown(other(31, Header::Signal(Signal::Leave { group: GROUP })), 0, 4500), 2);
    assert_eq!(shown(other(32, Header::Feedback), 0, 5000), 2);
    assert_eq!(shown(other(33, Header::Datagram { seq: 0 }), 0, 5500), 3);
}

/// Our choice: two seconds.
#[test]
fn flows_count_as_long_as_the_window_and_one_always_does() {
    let (mut node, mut algorithm, branches) = node(1, &Params::default());
    node.arrive(&mut algorithm, &data(0, 400), UP);
    node.arrive(&mut algorithm, &tcp(20, 60, 70), UP);
    assert_eq!(share(&mut node, &mut algorithm, ms(2000), &branches), 5_000_000);
    assert_eq!(share(&mut node, &mut algorithm, ms(2500), &branches), 10_000_000);
    node.arrive(&mut algorithm, &tcp(20, 60, 70), UP);
    node.arrive(&mut algorithm, &tcp(21, 61, 70), UP);
    // with the group, whose last packet is three seconds old and whose entry is there
    assert_eq!(share(&mut node, &mut algorithm, ms(3000), &branches), 10_000_000 / 3);
}

/// §3.2: groups are counted in the forwarding table, whether they send or not.
#[test]
fn groups_count_while_they_have_a_forwarding_entry() {
    let (mut node, mut algorithm, branches) = node(1, &Params::default());
    let other = || packet(OTHER.0, 51, 80, Header::Stream(StreamHeader::default()), Label::default());
    node.arrive(&mut algorithm, &data(0, 400), UP);
    node.arrive(&mut algorithm, &tcp(20, 60, 70), UP);
    // it has an entry and has sent nothing yet; then it sends, and is one group still
    node.neighbours = vec![OTHER];
    assert_eq!(share(&mut node, &mut algorithm, ms(500), &branches), 10_000_000 / 3);
    node.arrive(&mut algorithm, &other(), UP);
    assert_eq!(share(&mut node, &mut algorithm, ms(1000), &branches), 10_000_000 / 3);
    // after ten seconds the connection has ended as far as the node can tell, and the silent group has not
    assert_eq!(share(&mut node, &mut algorithm, ms(11_000), &branches), 10_000_000 / 2);
    // its entry is removed; a packet that still passes is one of a flow
    node.neighbours = Vec::new();
    assert_eq!(share(&mut node, &mut algorithm, ms(11_500), &branches), 10_000_000);
    node.arrive(&mut algorithm, &other(), UP);
    assert_eq!(share(&mut node, &mut algorithm, ms(12_000), &branches), 10_000_000 / 2);
}

/// With one packet in ten looked at, a flow of 25 packets per second is missed now and then, 0.9⁵⁰ ≈ 0.5 % of the time.
#[test]
fn sampling_misses_few_flows() {
    let (mut node, mut algorithm, branches) = node(1, &Params { sampled: 0.1, ..Params::default() });
    let (mut missed, mut reports) = (0, 0);
    for i in 1..=50_000u64 {
        node.now = ms(40 * i);
        node.arrive(&mut algorithm, &data(0, 400), UP);
        node.arrive(&mut algorithm, &tcp(20, 60, 70), UP);
        if i % 50 == 0 {
            let found = share(&mut node, &mut algorithm, ms(40 * i), &branches);
            assert!(found == 5_000_000 || found == 10_000_000, "{found}");
            missed += u64::from(found == 10_000_000);
            reports += 1;
        }
    }
    assert!(missed > 0 && missed * 50 < reports, "{missed} of {reports}");
}

#[test]
fn without_a_link_above_there_is_no_share() {
    let (mut node, mut algorithm, branches) = node(1, &Params::default());
    node.now = ms(100);
    let label = mcc(ms(100), 50, 0, 0.0, 1.0, FAST);
    let root = Entry { incoming: None, branches: &branches };
    let aggregate = messages(node.report(&mut algorithm, GROUP, child(1), label, root));
    assert_eq!(aggregate[0].min_fair, FAST);
}

// ---- when messages leave ----

/// S000-05: one message a cycle however many children there are.
#[test]
fn a_node_says_one_message_a_cycle_for_any_number_of_children() {
    for children in [1u32, 4, 64] {
        let (mut node, mut algorithm, branches) = node(children, &Params::default());
        node.arrive(&mut algorithm, &data(0, 400), UP);
        let mut aggregate = Vec::new();
        for cycle in 0..20u64 {
            for i in 1..=children {
                // each child at a phase of its own
                let at = ms(1000 + 400 * cycle) + Duration::from_micros(u64::from(i) * 5000);
                aggregate.extend(node.run(&mut algorithm, at).into_iter().map(|row| row.0));
                let label = mcc(at, 50, 0, 0.0, 1.0, FAST);
                aggregate.extend(send_mcc(&mut node, &mut algorithm, i, label, &branches).iter().map(|_| at));
            }
        }
        // after the first child, alone at first, always with the last child of the cycle
        let last = |cycle: u64| ms(1000 + 400 * cycle) + Duration::from_micros(u64::from(children) * 5000);
        assert_eq!(aggregate[0], ms(1005));
        assert_eq!(aggregate[1..], (1..20).map(last).collect::<Vec<_>>(), "{children}");
        assert_eq!(node.meter.count(Count::Ignored), 0);
    }
}

#[test]
fn a_message_leaves_when_all_known_children_spoke_or_the_wait_is_over() {
    let (mut node, mut algorithm, branches) = node(2, &Params::default());
    let mut at = |t: u64, i: u32| {
        let mut aggregate: Vec<Time> = node.run(&mut algorithm, ms(t)).into_iter().map(|row| row.0).collect();
        let label = mcc(ms(t), 50, 0, 0.0, 1.0, FAST);
        aggregate.extend(send_mcc(&mut node, &mut algorithm, i, label, &branches).iter().map(|_| ms(t)));
        aggregate
    };
    assert_eq!(at(1000, 1), [ms(1000)]);
    // the second is new, too late for the first message
    assert_eq!(at(1100, 2), []);
    assert_eq!(at(1400, 1), []);
    assert_eq!(at(1500, 2), [ms(1500)]);
    assert_eq!(at(1800, 1), []);
    assert_eq!(at(1900, 2), [ms(1900)]);
    // the first falls silent, and is forgotten at the message of 3.1 s, more than three cycles later
    assert_eq!(at(2300, 2), []);
    assert_eq!(at(2700, 2), [ms(2700)]);
    assert_eq!(at(3100, 2), [ms(3100)]);
    // what that wait has held back comes ever less late
    let late: Vec<Time> = (0..10).flat_map(|cycle| at(3500 + 400 * cycle, 2)).collect();
    assert_eq!(late, [3460, 3820, 4180, 4540, 4900, 5260, 5620, 5980, 6340, 6700, 7100].map(ms));
}

/// After a message was lost the node is out of step with its children, and gains on them in each cycle.
#[test]
fn a_node_comes_back_into_step_after_a_loss() {
    let (mut node, mut algorithm, branches) = node(2, &Params::default());
    let mut aggregate = Vec::new();
    for cycle in 0..16u64 {
        for (i, phase) in [(1, 0), (2, 20)] {
            // one is lost
            if (cycle, i) == (3, 2) {
                continue;
            }
            let at = ms(1000 + 400 * cycle + phase);
            aggregate.extend(node.run(&mut algorithm, at).into_iter().map(|row| row.0));
            let label = mcc(at, 50, 0, 0.0, 1.0, FAST);
            aggregate.extend(send_mcc(&mut node, &mut algorithm, i, label, &branches).iter().map(|_| at));
        }
    }
    let (before, after) = aggregate.split_at(3);
    assert_eq!(before, [1000, 1420, 1820].map(ms));
    // the lost one was waited for to the end of the cycle, and the next of the same child came just too late
    assert_eq!(after[..4], [2600, 3000, 3360, 3720].map(ms));
    assert_eq!(after[after.len() - 2..], [6620, 7020].map(ms));
}

/// The other reading of "after a period of time".
#[test]
fn messages_can_wait_for_a_whole_period() {
    let params = Params { aggregate: Aggregate::Period, wait: 0.5, ..Params::default() };
    let (mut node, mut algorithm, branches) = node(1, &params);
    node.now = ms(1000);
    assert!(
        send_mcc(&mut node, &mut algorithm, 1, mcc(ms(1000), 50, 0, 0.0, 1.0, FAST), &branches).is_empty()
    );
    assert_eq!(algorithm.wake(), ms(1200));
    assert_eq!(node.run(&mut algorithm, ms(1300)).len(), 1);
}

/// Time spent in a node does not count, and the slowest member's does, whenever it spoke.
#[test]
fn held_time_is_left_out_of_the_echo() {
    let (mut node, mut algorithm, branches) = node(2, &Params::default());
    let mut at = |t: u64, i: u32, age: u64| {
        node.now = ms(t);
        send_mcc(&mut node, &mut algorithm, i, mcc(ms(t), age, 0, 0.0, 1.0, FAST), &branches)
    };
    assert_eq!(at(1000, 1, 80)[0].t_echo, ms(920));
    assert_eq!(at(1100, 2, 130), []);
    assert_eq!(at(1400, 1, 90), []);
    assert_eq!(at(1500, 2, 120)[0].t_echo, ms(1500 - 130));
}

/// The cycle is that of the newest data and of the message, whichever is shorter.
#[test]
fn the_cycle_follows_the_data() {
    let (mut node, mut algorithm, branches) = node(1, &Params::default());
    let at = |t: u64, node: &mut Node, algorithm: &mut Router| {
        node.now = ms(t);
        send_mcc(node, algorithm, 1, mcc(ms(t), 50, 0, 0.0, 1.0, FAST), &branches).len()
    };
    assert_eq!((at(1000, &mut node, &mut algorithm), algorithm.wake()), (1, Time::NEVER));
    assert_eq!((at(1100, &mut node, &mut algorithm), algorithm.wake()), (0, ms(1360)));
    node.run(&mut algorithm, ms(1400));
    node.arrive(&mut algorithm, &data(0, 200), UP);
    assert_eq!((at(1500, &mut node, &mut algorithm), algorithm.wake()), (0, ms(1540)));
    let aggregate = node.run(&mut algorithm, ms(1600));
    assert_eq!(read(aggregate[0].1.label).t_adapt, Duration::from_millis(200));
    node.arrive(&mut algorithm, &data(0, 600), UP);
    assert_eq!((at(1800, &mut node, &mut algorithm), algorithm.wake()), (0, ms(1900)));
}

// ---- what is ignored ----

#[test]
fn a_node_ignores_strangers_and_words_that_nobody_would_write() {
    let (mut node, mut algorithm, branches) = node(1, &Params::default());
    node.arrive(&mut algorithm, &data(20, 400), UP);
    node.now = ms(10_000);
    let good = mcc(node.now, 50, 20, 0.0, 1.0, FAST);
    let with = |message: usize, value: u64| {
        let mut label = good;
        label.0[message] = value;
        label
    };
    let bad = [
        with(2, u64::from(f32::NAN.to_bits())),
        with(2, u64::from(1.01_f32.to_bits()) << 32),
        with(1, 0),
        mcc(node.now, 50, 21, 0.0, 1.0, FAST), // of a round that no data had
        Label::default(),
    ];
    for label in bad {
        assert!(send_mcc(&mut node, &mut algorithm, 1, label, &branches).is_empty());
    }
    assert!(send_mcc(&mut node, &mut algorithm, 2, good, &branches).is_empty(), "not a branch");
    assert_eq!(node.meter.count(Count::Ignored), bad.len() as u64 + 1);
    assert_eq!(algorithm.wake(), Time::NEVER, "nothing was folded");
    assert_eq!(send_mcc(&mut node, &mut algorithm, 1, good, &branches).len(), 1);
    // nine rounds behind what was passed on, and eight
    node.now = ms(10_500);
    let late = |round| mcc(ms(10_500), 50, round, 0.0, 1.0, FAST);
    assert!(send_mcc(&mut node, &mut algorithm, 1, late(11), &branches).is_empty());
    assert_eq!(node.meter.count(Count::Ignored), bad.len() as u64 + 2);
    assert_eq!(send_mcc(&mut node, &mut algorithm, 1, late(12), &branches).len(), 1);
    // the source begins again
    node.arrive(&mut algorithm, &data(0, 400), UP);
    node.now = ms(11_000);
    let label = mcc(node.now, 50, 0, 0.0, 1.0, FAST);
    assert_eq!(send_mcc(&mut node, &mut algorithm, 1, label, &branches).len(), 1);
}

/// Only differences on one clock mean anything: the times in messages are the source's, and a node passes on such a
/// one.
#[test]
fn a_nodes_clock_need_not_agree_with_the_sources() {
    for ahead_s in [0, 3600] {
        let (mut node, mut algorithm, branches) = node(2, &Params::default());
        node.now = ms(10_000);
        let source = |now: Time| now + Duration::from_secs(ahead_s);
        let label = |now: Time, age: u64| mcc(source(now), age, 0, 0.0, 1.0, FAST);
        let mut aggregate = Vec::new();
        for cycle in 0..4 {
            node.now = ms(10_000 + 400 * cycle);
            let (one, other) = (label(node.now, 50), label(node.now, 80));
            aggregate = send_mcc(&mut node, &mut algorithm, 2, other, &branches);
            aggregate.extend(send_mcc(&mut node, &mut algorithm, 1, one, &branches));
        }
        assert_eq!(aggregate.len(), 1, "{aggregate:?}");
        assert_eq!(
            aggregate[0].t_echo,
            source(ms(11_200)) - Duration::from_millis(80),
            "the slowest member's"
        );
    }
}

/// A router that loses its memory is a new one: what it says is right again within two cycles.
#[test]
fn a_node_that_lost_its_memory_goes_on() {
    let (mut node, mut algorithm, branches) = node(2, &Params::default());
    let mut aggregate = Vec::new();
    for cycle in 0..8u64 {
        if cycle == 4 {
            algorithm = Router::new(&Params::default(), Bytes::new(1000));
        }
        for i in [1, 2] {
            let at = ms(1000 + 400 * cycle + 10 * u64::from(i));
            let words = node.run(&mut algorithm, at);
            aggregate.extend(words.into_iter().map(|(at, message)| (cycle, at, read(message.label))));
            node.arrive(&mut algorithm, &data(cycle as u32 + 90, 400), UP);
            fill(&mut node, &mut algorithm, PortId(1), 30);
            let label = mcc(at, 50, cycle as u32 + 90, 0.0, 1.0, FAST);
            aggregate.extend(
                send_mcc(&mut node, &mut algorithm, i, label, &branches)
                    .into_iter()
                    .map(|mcc| (cycle, at, mcc)),
            );
        }
    }
    assert_eq!(aggregate.iter().map(|row| row.0).collect::<Vec<_>>(), (0..8).collect::<Vec<u64>>());
    assert_eq!(node.meter.count(Count::Ignored), 0);
    for (cycle, at, mcc) in aggregate {
        // the first message after the start and after the loss is about the first child alone
        let phase = if cycle == 0 || cycle == 4 { 10 } else { 20 };
        assert_eq!(at, ms(1000 + 400 * cycle + phase));
        near(mcc.max_qocc, 0.6);
        assert_eq!((mcc.min_qocc, mcc.min_fair), (0.0, Rate::from_mbps(10)));
    }
}

/// A branch that left is not waited for, and its port not measured.
#[test]
fn a_branch_that_left_is_out() {
    let (mut node, mut algorithm, branches) = node(2, &Params::default());
    fill(&mut node, &mut algorithm, PortId(1), 40);
    for t in [1000, 1400, 1800] {
        node.run(&mut algorithm, ms(t));
        for i in [1, 2] {
            let aggregate =
                send_mcc(&mut node, &mut algorithm, i, mcc(ms(t), 50, 0, 0.0, 1.0, FAST), &branches);
            aggregate.iter().for_each(|mcc| near(mcc.max_qocc, 0.8));
        }
    }
    node.run(&mut algorithm, ms(2600));
    let aggregate =
        send_mcc(&mut node, &mut algorithm, 2, mcc(ms(2600), 50, 0, 0.0, 1.0, FAST), &branches[1..]);
    assert_eq!((aggregate.len(), aggregate[0].max_qocc), (1, 0.0));
}

// ---- nothing is lost and nothing is made up ----

proptest! {
    /// Every accepted message is in exactly one message upstream: that of the period in which it came.
    #[test]
    fn each_message_is_folded_once(
        words in prop::collection::vec((1u32..6, 0u64..300, 0.5f32..=1.0, 0.0f32..=0.5, 1u64..10_000_000, 0u64..900), 1..200),
        period in any::<bool>(),
    ) {
        let aggregate = if period { Aggregate::Period } else { Aggregate::WhenAll };
        let (mut node, mut algorithm, branches) = node(5, &Params { aggregate, ..Params::default() });
        for i in 1..=5 {
            fill(&mut node, &mut algorithm, PortId(i), 25);
        }
        node.now = ms(1000);
        // what the current period's message must say
        let mut pending: Option<(f64, f64, u64, Time)> = None;
        let (mut accepted, mut passed_on, mut last) = (0, 0, None);
        for (i, wait, max, min, fair, age) in words {
            let until = node.now + Duration::from_millis(wait);
            let aggregate = node.run(&mut algorithm, until);
            prop_assert!(aggregate.len() <= 1);
            let mut aggregate: Vec<(Time, Mcc)> = aggregate.into_iter().map(|(at, message)| (at, read(message.label))).collect();
            let label = mcc(until, age, 0, f64::from(max), f64::from(min), Rate::from_bps(fair));
            for round in 0..2 {
                for (at, up) in aggregate.drain(..) {
                    let (max, min, fair, echo) = pending.take().expect("something was said");
                    prop_assert_eq!((up.max_qocc, up.min_qocc, up.min_fair.as_bps()), (max, min, fair));
                    // ages, for held time does not count
                    prop_assert_eq!(at - up.t_echo, echo.saturating_since(Time::ZERO));
                    prop_assert!(last.is_none_or(|last| at - last >= Duration::from_millis(360)));
                    last = Some(at);
                    passed_on += 1;
                }
                if round == 0 {
                    accepted += 1;
                    let aged = Time::ZERO + Duration::from_millis(age);
                    let fold = pending.unwrap_or((0.5, 0.5, 10_000_000, Time::ZERO));
                    pending = Some((
                        fold.0.max(f64::from(max)),
                        fold.1.min(f64::from(min)),
                        fold.2.min(fair),
                        fold.3.max(aged),
                    ));
                    aggregate = send_mcc(&mut node, &mut algorithm, i, label, &branches).into_iter().map(|up| (until, up)).collect();
                }
            }
        }
        prop_assert_eq!(node.meter.count(Count::Ignored), 0);
        prop_assert!(passed_on <= accepted);
        let events = node.out.notes.pending.iter().filter(|note| note.name == "mcc").count();
        prop_assert_eq!(events, passed_on);
        // a cycle after the last word nothing is left
        node.run(&mut algorithm, ms(1_000_000));
        prop_assert_eq!(algorithm.wake(), Time::NEVER);
    }
}
