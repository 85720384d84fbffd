use std::sync::Arc;

use contract::{Count, DropReason, EndpointId, FlowId, NodeId, PortId};
use sim::{
    Arrivals, Blueprint, EventRecord, FlowKind, FlowRecord, NodeRecord, NodeRole, PortRecord, PortSpec,
    ReceiverRecord, SeriesRecord, Subject, Trace,
};
use stack::{datagram, ndn, stream, tcp};
use units::{Bytes, Duration, Rate, Time};

use super::*;
use crate::{Cells, Expectation, Group, METRICS, Report, Sides, Table};

/// A link of 8 Mbit/s and 10 ms from `a` to `b` with TCP, and a stream to nodes behind both ends.
fn plan() -> Plan {
    let mut blueprint = Blueprint::new(Duration::from_secs(12));
    blueprint.warmup = Duration::from_secs(2);
    let (a, b, c) = (blueprint.node("a"), blueprint.node("b"), blueprint.node("c"));
    let wire = PortSpec::new(Rate::from_mbps(8), Duration::from_millis(10), 50);
    blueprint.link("wire", (a, b), wire.clone());
    blueprint.link("tail", (b, c), wire);
    blueprint.flow("bulk", Some("reno"), FlowKind::Tcp(tcp::Config::default()), a, &[b]);
    blueprint.flow("talk", Some("mca"), FlowKind::Stream(stream::Config::default()), a, &[b, c]);
    plan_of(blueprint)
}

fn plan_of(blueprint: impl Into<sim::Shared<Blueprint>>) -> Plan {
    let blueprint = blueprint.into();
    let groups = (0..blueprint.flows.len() as u32)
        .map(|flow| Group {
            name: blueprint.flows[flow as usize].name.to_string(),
            flows: vec![FlowId(flow)],
        })
        .collect();
    let positions = vec![(0.0, 0.0); blueprint.nodes.len()];
    let printed = Arc::default();
    Plan { title: "by hand".to_owned(), blueprint, expect: Vec::new(), groups, positions, printed }
}

fn receiver(flow: u32, node: u32, packets: u64, bytes: u64) -> ReceiverRecord {
    ReceiverRecord {
        flow: FlowId(flow),
        node: NodeId(node),
        endpoint: EndpointId(10 + flow + node),
        packets,
        bytes,
        delay_sum_ns: packets * 15_000_000,
        wait_sum_ns: packets * 4_500_000,
        delay_min: Duration::from_millis(11),
        delay_max: Duration::from_millis(30),
        waits: None,
        meter: Default::default(),
        active: Duration::from_secs(10),
    }
}

/// A possible trace of [`plan`]: 10 s after the warm-up.
fn trace() -> Trace {
    let mut bulk = FlowRecord {
        sent_packets: 1000,
        sent_bytes: 1_500_000,
        started_at: Some(Time::ZERO),
        active: Duration::from_secs(10),
        ..FlowRecord::default()
    };
    bulk.drops[DropReason::QueueFull as usize] = 20;
    bulk.drops[DropReason::Early as usize] = 6;
    bulk.drops[DropReason::NotListening as usize] = 5;
    // the others are acknowledgements
    bulk.data_drops = 20;
    bulk.arrived.packets = 494;
    bulk.meter.counts[Count::Retransmits as usize] = 21;
    bulk.meter.counts[Count::Marks as usize] = 7;
    bulk.meter.rtt_count = 4;
    bulk.meter.rtt_sum_ns = 120_000_000;
    bulk.meter.rtt_min = Duration::from_millis(22);
    let bursty = FlowRecord {
        sent_packets: 500,
        sent_bytes: 500_000,
        started_at: Some(Time::from_nanos(4_000_000_000)),
        active: Duration::from_secs(8),
        ..FlowRecord::default()
    };
    let mut receivers =
        vec![receiver(0, 1, 980, 1_470_000), receiver(1, 1, 480, 480_000), receiver(1, 2, 240, 240_000)];
    receivers[0].meter.goodput_bytes = 1_250_000;
    receivers[1].meter.goodput_bytes = 480_000;
    receivers[1].meter.counts[Count::Missing as usize] = 20;
    receivers[1].meter.counts[Count::Feedback as usize] = 6;
    receivers[2].meter.goodput_bytes = 240_000;
    receivers[2].meter.counts[Count::Missing as usize] = 160;
    receivers[2].meter.counts[Count::Feedback as usize] = 2;
    let mut ports = vec![PortRecord::default(); 4];
    ports[0] = PortRecord {
        offered_packets: 1500,
        sent_packets: 1480,
        sent_bytes: 2_000_000,
        backlog_packet_ns: 74_000_000_000,
        backlog_byte_ns: 100_000_000_000_000,
        backlog_max: 50,
        capacity_bits: 80_000_000,
        ..PortRecord::default()
    };
    ports[0].drops[DropReason::QueueFull as usize] = 20;
    Trace {
        hash: 1,
        ended_at: Time::from_nanos(12_000_000_000),
        warmup: Time::from_nanos(2_000_000_000),
        packet_hops: 4000,
        events_handled: 9000,
        flows: vec![bulk, bursty],
        receivers,
        nodes: Vec::new(),
        apps: Vec::new(),
        queueing_delays: Vec::new(),
        ports,
        series: Vec::new(),
        events: Vec::new(),
        reasons: Vec::new(),
        packets: Vec::new(),
        balance: Default::default(),
    }
}

fn cell(table: &Table, column: &str, row: usize) -> f64 {
    table.numbers(column)[row].unwrap_or_else(|| panic!("{} {column} {row} was measured", table.name))
}

fn texts(table: &Table, column: &str) -> Vec<String> {
    match table.column(column) {
        Some(Cells::Text(words)) => words.iter().map(str::to_owned).collect(),
        Some(Cells::Keys(keys)) => keys.iter().collect(),
        other => panic!("{column} holds no text: {other:?}"),
    }
}

fn near(measured: f64, expected: f64) {
    assert!((measured - expected).abs() <= 1e-9 * expected.abs(), "{measured} is not {expected}");
}

fn of<'a>(report: &'a Report, name: &str) -> &'a Table {
    report.table(name).unwrap_or_else(|| panic!("there is a table {name}"))
}

#[test]
fn rates_are_over_the_measured_time_and_active_rates_over_the_time_that_a_flow_was_on() {
    let report = report(&plan(), &trace());
    let flows = of(&report, "flows");
    near(cell(flows, "rate_bps", 0), 1_500_000.0 * 8.0 / 10.0);
    near(cell(flows, "throughput_bps", 0), 1_470_000.0 * 8.0 / 10.0);
    near(cell(flows, "goodput_bps", 0), 1_000_000.0);
    // the stream's receivers were members for 10 s, its sender was active for 8 s of them
    let receivers = of(&report, "receivers");
    near(cell(receivers, "throughput_bps", 1), 384_000.0);
    near(cell(receivers, "throughput_bps", 2), 192_000.0);
    near(cell(receivers, "active_throughput_bps", 1), 480_000.0);
    near(cell(flows, "throughput_bps", 1), 288_000.0);
    near(cell(flows, "active_throughput_bps", 1), 360_000.0);
    near(cell(flows, "active_goodput_bps", 1), 360_000.0);
}

#[test]
fn the_worst_receiver_is_named_and_each_measure_has_its_worst() {
    let mut trace = trace();
    trace.receivers[1].wait_sum_ns = 480 * 9_000_000;
    let report = report(&plan(), &trace);
    assert_eq!(texts(of(&report, "flows"), "worst_receiver"), ["b", "c"]);
    let value = |key: &str| report.value(&format!("flow.talk.{key}")).expect("it is measured");
    near(value("throughput_worst"), 192_000.0);
    near(value("throughput_best"), 384_000.0);
    near(value("goodput_worst"), 192_000.0);
    near(value("loss_ratio_worst"), 0.4);
    near(value("queueing_delay_worst"), 0.009);
    near(value("owd_worst"), 0.015);
    // the flow with one receiver has that as its worst
    near(report.value("flows.throughput_worst").expect("two flows"), 192_000.0);
    near(report.value("flow.bulk.loss_ratio_worst").expect("one receiver"), 0.02);
}

#[test]
fn losses_are_what_streams_miss_and_what_is_dropped_of_the_others() {
    let report = report(&plan(), &trace());
    let flows = of(&report, "flows");
    near(cell(flows, "loss_ratio", 0), 0.02);
    near(cell(flows, "drops", 0), 26.0);
    near(cell(flows, "data_drops", 0), 20.0);
    near(cell(flows, "ack_drops", 0), 6.0);
    near(cell(flows, "ack_loss_ratio", 0), 6.0 / 500.0);
    near(cell(flows, "drops_queue_full", 0), 20.0);
    near(cell(flows, "drops_not_listening", 0), 5.0);
    // (20 / 500 + 160 / 400) / 2
    near(cell(flows, "loss_ratio", 1), 0.22);
    near(cell(flows, "missing", 1), 180.0);
    near(cell(flows, "feedback_packets", 1), 8.0);
    near(cell(flows, "retransmits", 0), 21.0);
    near(cell(flows, "marks", 0), 7.0);
}

#[test]
fn delays_include_propagation_and_queueing_delay_does_not() {
    let report = report(&plan(), &trace());
    let flows = of(&report, "flows");
    near(cell(flows, "owd_s", 0), 0.015);
    near(cell(flows, "owd_min_s", 0), 0.011);
    near(cell(flows, "owd_max_s", 1), 0.03);
    near(cell(flows, "queueing_delay_s", 1), 0.0045);
    near(cell(flows, "base_delay_s", 1), 0.0105);
    near(cell(flows, "rtt_s", 0), 0.03);
    near(cell(flows, "rtt_min_s", 0), 0.022);
    assert_eq!(flows.numbers("rtt_s")[1], None, "the stream measured no round trip");
}

#[test]
fn a_port_says_how_full_it_was() {
    let report = report(&plan(), &trace());
    let links = of(&report, "links");
    assert_eq!(texts(links, "direction"), ["forward", "backward", "forward", "backward"]);
    assert_eq!(texts(links, "from"), ["a", "b", "b", "c"]);
    near(cell(links, "utilisation", 0), 0.2);
    near(cell(links, "queue_packets", 0), 7.4);
    near(cell(links, "queue_bytes", 0), 10_000.0);
    near(cell(links, "queue_s", 0), 0.05);
    near(cell(links, "loss_ratio", 0), 20.0 / 1500.0);
    near(cell(links, "drops_queue_full", 0), 20.0);
    assert_eq!(links.numbers("utilisation")[1], None, "nothing is known of a port without capacity");
    assert_eq!(report.value("link.wire.utilisation"), Some(0.2));
    assert_eq!(report.value("link.wire.backward.drops"), Some(0.0));
}

#[test]
fn a_finite_transfer_ends_with_its_completion() {
    let mut trace = trace();
    trace.receivers[0].meter.completed_at = Time::from_nanos(6_980_000_000);
    let before = super::report(&plan(), &trace);
    assert_eq!(before.value("flow.bulk.fct"), None, "the sender does not know it yet");
    trace.flows[0].meter.completed_at = Time::from_nanos(7_000_000_000);
    let report = report(&plan(), &trace);
    let flows = of(&report, "flows");
    near(cell(flows, "completed_s", 0), 7.0);
    near(cell(flows, "fct_s", 0), 7.0);
    near(cell(of(&report, "receivers"), "completed_s", 0), 6.98);
    // from the end of the warm-up at 2 s
    near(cell(flows, "active_s", 0), 5.0);
    near(cell(flows, "goodput_bps", 0), 1_000_000.0);
    near(cell(flows, "active_goodput_bps", 0), 2_000_000.0);
    assert_eq!(flows.numbers("fct_s")[1], None);
}

#[test]
fn fairness_is_over_the_goodput_of_flows_with_a_scheme() {
    let report = report(&plan(), &trace());
    // goodputs 1 Mbit/s and (480 + 240) / 2 kbit/s
    let (x, y) = (1_000_000.0f64, 360_000.0f64);
    near(report.value("flows.fairness").expect("two flows"), (x + y) * (x + y) / (2.0 * (x * x + y * y)));
    assert_eq!(report.value("flows.bulk.fairness"), None, "one flow has nobody to be fair to");
    assert_eq!(report.value("flows.count"), Some(2.0));
    // over 10 s: 1 250 000 B, and the mean of 480 000 B and 240 000 B, though the stream was active for 8 s only
    near(report.value("flows.goodput").expect("two flows"), (1_250_000.0 + 360_000.0) * 8.0 / 10.0);
    near(report.value("flows.throughput").expect("two flows"), (1_470_000.0 + 360_000.0) * 8.0 / 10.0);
    near(report.value("flows.talk.throughput").expect("one flow"), 360_000.0 * 8.0 / 10.0);
    assert_eq!(report.value("flows.sent_packets"), Some(1500.0), "counts are summed");
    near(report.value("flows.throughput_mean").expect("two flows"), (1_176_000.0 + 288_000.0) / 2.0);
    near(report.value("flows.active_throughput").expect("two flows"), (1_176_000.0 + 360_000.0) / 2.0);
    // each of the 980 + 720 packets counts once; a stream to several receivers has losses of each of these
    near(report.value("flows.queueing_delay").expect("two flows"), 0.0045);
    near(report.value("flows.loss_ratio").expect("two flows"), (0.02 + 0.22) / 2.0);
}

/// Three transfers of 1 MB over 8 Mbit/s, one after the other, each in a second: the total is what the link carried in
/// the ten seconds.
#[test]
fn a_total_is_over_the_measured_span_and_not_over_the_time_of_each_flow() {
    let mut blueprint = plan().blueprint;
    blueprint.flows.clear();
    let (a, b) = (NodeId(0), NodeId(1));
    let mut trace = trace();
    (trace.flows, trace.receivers) = (Vec::new(), Vec::new());
    for i in 0..3u32 {
        let config =
            tcp::Config { demand: tcp::Demand::Finite(Bytes::new(1_000_000)), ..tcp::Config::default() };
        blueprint.flow(&format!("file.{i}"), Some("reno"), FlowKind::Tcp(config), a, &[b]);
        let start = Time::from_nanos(2_000_000_000 + 1_000_000_000 * u64::from(i));
        let mut record =
            FlowRecord { started_at: Some(start), active: Duration::from_secs(8), ..FlowRecord::default() };
        record.meter.completed_at = start + Duration::from_millis(1000 + 100 * u64::from(i));
        trace.flows.push(record);
        trace.receivers.push(receiver(i, 1, 1000, 1_000_000));
    }
    let mut plan = plan_of(blueprint);
    plan.groups = vec![Group { name: "file".to_owned(), flows: (0..3).map(FlowId).collect() }];
    let report = report(&plan, &trace);
    let value = |key: &str| report.value(key);
    near(value("flow.file.0.throughput").expect("it was on"), 0.8e6);
    near(value("flow.file.0.active_throughput").expect("it was on"), 8e6);
    near(value("flows.throughput").expect("measured"), 3e6 * 8.0 / 10.0);
    near(value("flows.file.throughput").expect("measured"), 3e6 * 8.0 / 10.0);
    assert_eq!(value("flows.fairness"), None, "transfers that end are not held against each other");
    assert_eq!(value("flows.file.completions"), Some(3.0));
    assert_eq!((value("flows.file.transfers"), value("flows.file.unfinished")), (Some(3.0), Some(0.0)));
    near(value("flows.file.fct").expect("three"), 1.1);
    // ranks 1.5, 2.85 and 2.97 of three
    assert_eq!(
        ["fct_p50", "fct_p95", "fct_p99"].map(|key| value(&format!("flows.file.{key}"))),
        [Some(1.1), Some(1.2), Some(1.2)]
    );
}

#[test]
fn fairness_is_of_flows_that_are_on_together() {
    let at = |s: u64| Time::from_nanos(s * 1_000_000_000);
    let index = |bulk: (u64, u64), bursty: (u64, u64)| {
        let mut plan = plan();
        let mut trace = trace();
        for (flow, (start, stop)) in [bulk, bursty].into_iter().enumerate() {
            plan.blueprint.flows[flow].stop = at(stop);
            trace.flows[flow].started_at = Some(at(start));
            trace.flows[flow].active = at(stop).saturating_since(at(start).max(trace.warmup));
        }
        report(&plan, &trace).value("flows.fairness")
    };
    assert!(index((0, 12), (4, 12)).is_some());
    assert!(index((0, 7), (6, 12)).is_some());
    assert_eq!(index((0, 6), (6, 12)), None, "one ends as the other starts");
    assert_eq!(index((0, 2), (0, 12)), None, "one was on in the warm-up only: the other is alone");
}

/// Queueing delays of 0, 1, …, 99 ms at one receiver, and one of 1 s at another.
#[test]
fn percentiles_of_queueing_delays_are_over_all_packets() {
    let mut trace = trace();
    let mut kept = |row: usize, waits_ms: &[u64]| {
        let mut waits = sim::Delays::default();
        waits_ms.iter().for_each(|wait| waits.add(Duration::from_millis(*wait)));
        trace.receivers[row].waits = Some(Box::new(waits));
    };
    kept(0, &(0..100).collect::<Vec<_>>());
    kept(1, &[0, 0, 1000]);
    kept(2, &[7]);
    let report = report(&plan(), &trace);
    let check = |subject: &str, expected: [f64; 3]| {
        for (key, expected) in ["p50", "p95", "p99"].iter().zip(expected) {
            let found = report.value(&format!("{subject}.queueing_delay_{key}")).expect("they are kept");
            assert!(
                (found - expected).abs() <= 0.004 * expected + 0.000_06,
                "{subject} {key}: {found} for {expected}"
            );
        }
    };
    check("flow.bulk", [0.049, 0.094, 0.098]);
    // 0, 0, 7, 1000
    check("flow.talk", [0.0, 1.0, 1.0]);
    // 104 packets: the 52nd, the 99th and the 103rd
    check("flows", [0.048, 0.095, 0.099]);
    let none = super::report(&plan(), &self::trace());
    assert_eq!(none.value("flow.bulk.queueing_delay_p95"), None, "nothing was kept");
}

/// 10 Mbit/s and 10 ms each way; a SYN, its answer, three segments of 1500 B and their acknowledgement, of 40 B each.
#[test]
fn a_completion_time_is_until_the_sender_knows_that_all_is_there() {
    let mut blueprint = Blueprint::new(Duration::from_secs(2));
    let (a, b) = (blueprint.node("a"), blueprint.node("b"));
    blueprint.link("wire", (a, b), PortSpec::new(Rate::from_mbps(10), Duration::from_millis(10), 50));
    let config = tcp::Config {
        demand: tcp::Demand::Finite(Bytes::new(3 * 1460)),
        segment: Bytes::new(1460),
        header: Bytes::new(40),
        initial_window: 10,
        handshake: true,
        ..tcp::Config::default()
    };
    blueprint.flow("file", Some("reno"), FlowKind::Tcp(config), a, &[b]);
    blueprint.flows[0].start = Time::from_nanos(500_000_000);
    let outcome = crate::run(&plan_of(blueprint), &sim::Control::default());
    let value = |key| outcome.report.value(key).unwrap_or_else(|| panic!("{key} was measured"));
    let opening = 2.0 * (0.000_032 + 0.010);
    let data = 3.0 * 0.0012 + 0.010;
    near(value("receiver.file@b.completed"), 0.5 + opening + data);
    near(value("flow.file.completed"), 0.5 + opening + data + 0.010_032);
    near(value("flow.file.fct"), opening + data + 0.010_032);
    // the packet with the longest wait waits for two others
    near(value("flow.file.owd_max"), 0.010 + 3.0 * 0.0012);
}

/// The middle node of [`plan`] as a name router, and the last as the name resolution system.
fn nodes() -> Vec<NodeRecord> {
    let record = |node, role, groups| NodeRecord {
        node: NodeId(node),
        role,
        groups,
        sent_packets: 30 + u64::from(node),
        sent_bytes: 1920,
        forwarded_packets: 700,
        meter: Default::default(),
        ndn: None,
    };
    let mut router = record(1, NodeRole::Router, 2);
    for (what, n) in
        [(Count::FeedbackReceived, 8), (Count::Feedback, 4), (Count::Signals, 26), (Count::Ignored, 3)]
    {
        router.meter.counts[what as usize] = n;
    }
    vec![router, record(2, NodeRole::Resolver, 5)]
}

#[test]
fn nodes_that_know_names_have_a_table_and_keys_of_their_own() {
    let mut trace = trace();
    assert_eq!(of(&report(&plan(), &trace), "nodes").rows(), 0, "a network that routes by address has none");
    trace.nodes = nodes();
    let report = report(&plan(), &trace);
    let nodes = of(&report, "nodes");
    assert_eq!(texts(nodes, "node"), ["b", "c"]);
    assert_eq!(texts(nodes, "role"), ["router", "resolver"]);
    for (column, router, resolver) in [
        ("groups", 2.0, 5.0),
        ("sent_packets", 31.0, 32.0),
        ("sent_bytes", 1920.0, 1920.0),
        ("forwarded_packets", 700.0, 700.0),
        ("feedback_received", 8.0, 0.0),
        ("feedback_packets", 4.0, 0.0),
        ("signals", 26.0, 0.0),
        ("ignored", 3.0, 0.0),
    ] {
        assert_eq!(nodes.numbers(column), [Some(router), Some(resolver)], "{column}");
        assert_eq!(report.value(&format!("node.b.{column}")), Some(router));
        assert_eq!(report.value(&format!("node.c.{column}")), Some(resolver));
    }
}

/// A consumer received 900 Data of 1100 B, 880 of them pending, in 10 s; four delays are known: 60, 60, 100 and 180 ms.
/// Their mean is 100 ms, and (40² + 40² + 0 + 80²)/4 = 2400 = 48.99² ms².
#[test]
fn a_consumer_is_measured_where_its_data_arrive() {
    let mut blueprint = plan().blueprint;
    let mut spec = sim::NdnSpec { nodes: vec![NodeId(0), NodeId(1)], ..sim::NdnSpec::default() };
    let prefix = spec.names.intern("/films/new");
    blueprint.ndn = Some(spec);
    let config = ndn::ConsumerConfig::with_controller(prefix, Bytes::new(1024));
    blueprint.flow("viewer", Some("aimd"), FlowKind::Ndn(config), NodeId(0), &[]);
    let mut trace = trace();
    let mut record = FlowRecord {
        sent_packets: 1000,
        sent_bytes: 50_000,
        started_at: Some(Time::ZERO),
        active: Duration::from_secs(10),
        ..FlowRecord::default()
    };
    record.arrived = Arrivals {
        packets: 889,
        bytes: 990_000,
        refused_packets: 11,
        refused_bytes: 20_000,
        delay_sum_ns: 889 * 45_000_000,
        wait_sum_ns: 889 * 15_000_000,
        delay_min: Duration::from_millis(30),
        delay_max: Duration::from_millis(90),
    };
    // an Interest, and Data
    record.drops[DropReason::QueueFull as usize] = 12;
    record.data_drops = 11;
    let counts = [
        (Count::Missing, 3),
        (Count::Reordered, 5),
        (Count::Late, 4),
        (Count::Marks, 7),
        (Count::Nacks, 11),
        (Count::Suppressed, 2),
    ];
    for (what, n) in counts {
        record.meter.counts[what as usize] = n;
    }
    record.meter.goodput_bytes = 880 * 1024;
    let delays_ms: [u128; 4] = [60, 60, 100, 180];
    record.meter.media_mut().delay_count = 4;
    record.meter.media_mut().delay_sum_ns = 400_000_000;
    record.meter.media_mut().delay_square_sum_ns2 = delays_ms.iter().map(|ms| (ms * 1_000_000).pow(2)).sum();
    record.meter.media_mut().delay_min = Duration::from_millis(60);
    record.meter.media_mut().delay_max = Duration::from_millis(180);
    trace.flows.push(record);
    let mut counters = ndn::Counters::default();
    (counters.pending, counters.pending_peak, counters.stored) = (5, 40, 9);
    let mut forwarder = nodes().remove(0);
    (forwarder.role, forwarder.ndn) = (NodeRole::Forwarder, Some(counters));
    trace.nodes = nodes();
    trace.nodes.push(forwarder);

    let report = report(&plan_of(blueprint), &trace);
    let flows = of(&report, "flows");
    assert_eq!(texts(flows, "transport"), ["tcp", "stream", "ndn"]);
    assert_eq!(texts(flows, "prefix"), ["", "", "/films/new"]);
    let value = |key: &str| report.value(&format!("flow.viewer.{key}")).unwrap_or_else(|| panic!("{key}"));
    assert_eq!((value("receivers"), value("arrived_packets")), (0.0, 900.0));
    near(value("throughput"), 990_000.0 * 8.0 / 10.0);
    near(value("throughput_best"), 792_000.0);
    near(value("goodput"), 880.0 * 1024.0 * 8.0 / 10.0);
    near(value("interests"), 40_000.0);
    assert_eq!(report.value("flow.viewer.rate"), None, "what a consumer sends has a name of its own");
    near(report.value("flows.viewer.throughput").expect("Data"), 792_000.0);
    near(value("loss_ratio"), 11.0 / 900.0);
    near(value("ack_loss_ratio"), 1.0 / 1000.0);
    assert_eq!(
        (value("missing"), value("marks"), value("nacks"), value("suppressed")),
        (3.0, 7.0, 11.0, 2.0)
    );
    assert_eq!((value("reordered"), value("late")), (5.0, 4.0));
    near(value("delay"), 0.1);
    near(value("delay_std"), 2400f64.sqrt() / 1e3);
    assert_eq!((value("delay_min"), value("delay_max")), (0.06, 0.18));
    near(value("owd"), 0.045);
    near(value("queueing_delay"), 0.015);
    assert_eq!(flows.numbers("arrived_packets")[..2], [Some(980.0), Some(720.0)]);
    assert_eq!(flows.numbers("delay_s")[..2], [None, None]);

    let nodes = of(&report, "nodes");
    assert_eq!(nodes.numbers("pending_peak"), [None, None, Some(40.0)]);
    assert_eq!(nodes.numbers("hits"), [None, None, Some(0.0)]);
    assert_eq!(nodes.numbers("hit_ratio"), [None, None, None], "nobody asked its store");
}

#[test]
fn feedback_is_counted_where_it_is_sent_and_where_it_is_heard() {
    let mut trace = trace();
    trace.flows[1].meter.counts[Count::FeedbackReceived as usize] = 3;
    trace.flows[1].meter.counts[Count::Signals as usize] = 10;
    trace.receivers[1].meter.counts[Count::Signals as usize] = 11;
    trace.receivers[2].meter.counts[Count::Signals as usize] = 12;
    let report = report(&plan(), &trace);
    let flows = of(&report, "flows");
    assert_eq!(flows.numbers("feedback_packets"), [Some(0.0), Some(8.0)], "what its receivers said");
    assert_eq!(flows.numbers("feedback_received"), [Some(0.0), Some(3.0)], "what came of it to the source");
    assert_eq!(flows.numbers("signals"), [Some(0.0), Some(33.0)], "source and members");
    assert_eq!(of(&report, "receivers").numbers("signals"), [Some(0.0), Some(11.0), Some(12.0)]);
    assert_eq!(report.value("flows.talk.feedback_received"), Some(3.0));
}

#[test]
fn what_was_recorded_is_listed_by_the_names_of_its_subjects() {
    let mut trace = trace();
    let times = vec![Time::from_nanos(1_000_000_000), Time::from_nanos(2_000_000_000)];
    for (subject, name) in [
        (Subject::Flow(FlowId(0)), "rate"),
        (Subject::Receiver(2), "goodput"),
        (Subject::Port(PortId(1)), "backlog"),
        (Subject::Node(NodeId(2)), "occupancy"),
    ] {
        trace.series.push(SeriesRecord { subject, name, times: times.clone(), values: vec![1.5, f64::NAN] });
    }
    for value in [12.0, 13.0, -1.0] {
        trace.events.push(EventRecord {
            at: Time::from_nanos(500_000_000),
            subject: Subject::Flow(FlowId(1)),
            name: "representative",
            value,
        });
    }
    for value in [1.0, -1.0] {
        trace.events.push(EventRecord {
            at: Time::from_nanos(600_000_000),
            subject: Subject::Port(PortId(1)),
            name: "dropped_queue_full",
            value,
        });
    }
    let report = report(&plan(), &trace);
    let series = of(&report, "series");
    let subjects = texts(series, "subject");
    assert_eq!(
        subjects.iter().step_by(2).collect::<Vec<_>>(),
        ["flow.bulk", "receiver.talk@c", "link.wire.backward", "node.c"]
    );
    assert_eq!(series.numbers("time_s"), [1.0, 2.0].repeat(4).into_iter().map(Some).collect::<Vec<_>>());
    assert_eq!(series.numbers("value")[..2], [Some(1.5), None]);
    let events = of(&report, "events");
    assert_eq!(texts(events, "text"), ["receiver.talk@b", "receiver.talk@c", "", "flow.talk", ""]);
    assert_eq!(texts(events, "subject")[3], "link.wire.backward");
    assert_eq!(cell(events, "value", 2), -1.0);
}

#[test]
fn the_rate_series_tells_when_a_flow_converged_and_how_it_varies() {
    let mut trace = trace();
    let clock: Vec<Time> = (1..=24).map(|tick| Time::from_nanos(tick * 500_000_000)).collect();
    let bulk: Vec<f64> = (1..=24).map(|tick| if tick <= 12 { 8e6 } else { 4e6 }).collect();
    let bursty: Vec<f64> = (1..=24)
        .map(|tick| {
            if tick <= 8 {
                0.0
            } else if tick <= 12 {
                1e6
            } else {
                4e6
            }
        })
        .collect();
    for (flow, values) in [bulk, bursty].into_iter().enumerate() {
        let subject = Subject::Flow(FlowId(flow as u32));
        trace.series.push(SeriesRecord { subject, name: "rate", times: clock.clone(), values });
    }
    let report = report(&plan(), &trace);
    assert_eq!(
        report.value("flow.bulk.convergence"),
        Some(6.0),
        "alone for 4 s only, fair again from 6 s on"
    );
    assert_eq!(report.value("flow.talk.convergence"), Some(2.0), "started at 4 s, fair from 6 s on");
    // 4 values of 1 and 12 of 4: mean 3.25, squares 4 · 2.25² + 12 · 0.75² = 27, n − 1 = 15
    near(report.value("flow.talk.cov").expect("a series"), (27.0f64 / 15.0).sqrt() / 3.25);
    assert_eq!(super::report(&plan(), &self::trace()).value("flow.talk.cov"), None, "nothing was recorded");
}

#[test]
fn expectations_are_held_against_the_summary() {
    let mut plan = plan();
    for (key, text) in [
        ("link.wire.utilisation", ">= 0.2"),
        ("link.wire.utilisation", "< 20 %"),
        ("link.wier.utilisation", ">= 0"),
    ] {
        let sides = Sides::read(text).expect("a relation");
        plan.expect.push(Expectation { key: key.to_owned(), text: text.to_owned(), sides });
    }
    let report = report(&plan, &trace());
    let expect = of(&report, "expect");
    assert_eq!(expect.column("pass"), Some(&Cells::Switch(vec![true, false, false])));
    assert_eq!(expect.numbers("measured"), [Some(0.2), Some(0.2), None]);
    assert_eq!(texts(expect, "expected")[1], "< 20 %");
}

#[test]
fn of_many_subjects_only_some_have_keys_of_their_own() {
    let mut blueprint = Blueprint::new(Duration::from_secs(1));
    let nodes = ["a", "b", "c", "d"].map(|name| blueprint.node(name));
    let wire = PortSpec::new(Rate::from_mbps(8), Duration::from_millis(10), 50);
    for (name, ends) in [("left", [0, 1]), ("middle", [1, 2]), ("right", [2, 3])] {
        blueprint.link(name, (nodes[ends[0]], nodes[ends[1]]), wire.clone());
    }
    for name in ["one", "two"] {
        blueprint.flow(name, Some("reno"), FlowKind::Tcp(tcp::Config::default()), nodes[0], &nodes[3..]);
    }
    let mut plan = plan_of(blueprint);
    for key in ["flow.two.goodput", "link.left.backward.utilisation"] {
        let sides = Sides::read(">= 0").expect("a relation");
        plan.expect.push(Expectation { key: key.to_owned(), text: ">= 0".to_owned(), sides });
    }
    let mut world = sim::World::shared(plan.blueprint.clone()).expect("valid");
    world.run(&sim::Control::default());
    let trace = world.finish();
    let (all, few) = (report(&plan, &trace), report_of(&plan, &trace, 1));
    let subjects = |report: &Report| {
        let mut subjects: Vec<String> = texts(of(report, "summary"), "metric")
            .iter()
            .filter_map(|key| Some(key.rsplit_once('.')?.0.to_owned()))
            .collect();
        subjects.dedup();
        subjects
    };
    assert_eq!(
        subjects(&few),
        [
            "flows",
            "flows.one",
            "flows.two",
            "flow.two",
            "link.left.backward",
            "link.middle",
            "link.middle.backward",
            "run"
        ]
    );
    assert_eq!(subjects(&all).len(), 3 + 2 + 2 + 6 + 1);
    for (key, value) in few.values() {
        assert_eq!(all.value(&key), value, "{key}");
    }
    let passes = Cells::Switch(vec![true, true]);
    assert_eq!(of(&few, "expect").column("pass"), Some(&passes), "what is expected is measured");
    assert_eq!(of(&few, "flows"), of(&all, "flows"));
}

#[test]
fn every_column_is_documented_and_every_documented_column_is_there() {
    let mut trace = trace();
    trace.nodes = nodes();
    let report = report(&plan(), &trace);
    let found: Vec<(&str, &str)> = report
        .tables
        .iter()
        .flat_map(|table| table.columns.iter().map(|column| (table.name, column.name)))
        .collect();
    let keys = texts(of(&report, "summary"), "metric");
    for row in METRICS {
        let column = found.contains(&(row.table, row.name));
        let key = row.table == "summary" && keys.iter().any(|key| key.rsplit('.').next() == Some(row.name));
        assert!(column || key, "{}.{} is documented and nowhere", row.table, row.name);
        assert!(!row.definition.is_empty() && !row.measured.is_empty());
    }
    let documented = METRICS.iter().filter(|row| found.contains(&(row.table, row.name))).count();
    assert_eq!(documented, found.len(), "each column is documented once");
}

#[test]
fn a_key_stands_once_in_the_summary() {
    let mut trace = trace();
    trace.nodes = nodes();
    let report = report(&plan(), &trace);
    let mut keys = texts(of(&report, "summary"), "metric");
    let all = keys.len();
    keys.sort();
    keys.dedup();
    assert_eq!(keys.len(), all);
}

#[test]
fn a_constant_source_on_an_idle_wire_gives_the_numbers_of_the_back_of_an_envelope() {
    let mut blueprint = Blueprint::new(Duration::from_secs(20));
    blueprint.warmup = Duration::from_secs(10);
    let (a, b) = (blueprint.node("a"), blueprint.node("b"));
    blueprint.link("wire", (a, b), PortSpec::new(Rate::from_mbps(10), Duration::from_millis(5), 10));
    let source = datagram::Config {
        packet: Bytes::new(1250),
        pattern: datagram::Pattern::Constant { rate: Rate::from_mbps(1) },
    };
    blueprint.flow("clock", None, FlowKind::Datagram(source), a, &[b]);
    let outcome = crate::run(&plan_of(blueprint), &sim::Control::default());
    assert!(outcome.complete);
    let value = |key| outcome.report.value(key).unwrap_or_else(|| panic!("{key} was measured"));
    assert_eq!(value("flow.clock.rate"), 1e6);
    assert_eq!(value("link.wire.utilisation"), 0.1);
    near(value("flow.clock.owd"), 0.006);
    assert_eq!(value("flow.clock.queueing_delay"), 0.0);
    assert_eq!(value("flow.clock.loss_ratio"), 0.0);
    assert_eq!(outcome.report.value("flows.fairness"), None, "a source without a scheme shares nothing");
}

#[test]
fn a_run_that_is_stopped_leaves_its_tables() {
    let mut blueprint = Blueprint::new(Duration::from_secs(1000));
    let (a, b) = (blueprint.node("a"), blueprint.node("b"));
    blueprint.link("wire", (a, b), PortSpec::new(Rate::from_mbps(10), Duration::from_millis(5), 10));
    blueprint.flow("bulk", Some("reno"), FlowKind::Tcp(tcp::Config::default()), a, &[b]);
    let control = sim::Control::default();
    control.stop.store(true, std::sync::atomic::Ordering::Relaxed);
    let outcome = crate::run(&plan_of(blueprint), &control);
    assert!(!outcome.complete);
    assert_eq!(outcome.report.tables.len(), 12);
    assert!(outcome.report.value("run.ended").is_some_and(|ended| ended < 1000.0));
}

#[test]
fn a_run_that_pauses_shows_its_tables_and_ends_as_one_that_does_not() {
    let mut plan = plan();
    plan.blueprint.record = sim::Record {
        every: Duration::from_millis(100),
        series: vec!["rate".to_owned(), "backlog".to_owned(), "window".to_owned()],
        events: true,
        ..sim::Record::default()
    };
    let straight = crate::run(&plan, &sim::Control::default());
    let control = sim::Control::default();
    let pause = || control.pause.store(true, std::sync::atomic::Ordering::Relaxed);
    let mut seen = Vec::new();
    pause();
    let paused = crate::run_saving(&plan, &control, |report| {
        seen.push(report.clone());
        if seen.len() < 3000 {
            pause();
        }
    });
    assert!(seen.len() > 1000);
    let ended: Vec<_> = seen.iter().map(|report| report.value("run.ended")).collect();
    assert!(ended.is_sorted());
    assert!(seen.iter().all(|report| report.tables.len() == 12));
    assert!(of(&seen[1000], "series").rows() > 0);
    assert_eq!(paused.trace.hash, straight.trace.hash);
    assert_eq!(paused.report, straight.report);
    assert!(paused.complete);
}

/// Throughput of the bulk flow 980 kB · 8 / 10 s over 15 ms, the mean of all its packets.
#[test]
fn power_is_throughput_over_delay() {
    let report = report(&plan(), &trace());
    let (throughput, delay) = (report.value("flow.bulk.throughput"), report.value("flow.bulk.owd"));
    assert_eq!(delay, Some(0.015));
    near(report.value("flow.bulk.power").expect("measured"), throughput.expect("measured") / 0.015);
}

/// Rates of 1 s in bit/s: 6 and 2, then 4 and 4. Jain: 64 / (2 · 40) = 0.8, and 1.
#[test]
fn fairness_over_time_is_the_index_of_each_window() {
    let mut trace = trace();
    trace.warmup = Time::ZERO;
    trace.flows[1].started_at = Some(Time::ZERO);
    for (flow, values) in [(0, [6.0, 4.0]), (1, [2.0, 4.0])] {
        let times = [1u64, 2].map(|s| Time::from_nanos(s * 1_000_000_000)).to_vec();
        let (subject, values) = (Subject::Flow(FlowId(flow)), values.to_vec());
        trace.series.push(SeriesRecord { subject, name: "rate", times, values });
    }
    let report = report(&plan(), &trace);
    near(report.value("flows.fairness_mean").expect("measured"), 0.9);
    near(report.value("flows.fairness_min").expect("measured"), 0.8);
    assert_eq!(report.value("flows.bulk.fairness_mean"), None, "a flow alone");
    assert_eq!(report.value("flows.recovery"), None, "nothing changes");
}

/// Packets of 1250 B at 10 Mbit/s take 1 ms. Four that come at once wait 0, 1, 2, 3 ms, eight times in the run: p50 is
/// 1 ms, p95 and p99 3 ms. A discipline has the same waiting times as the plain FIFO.
#[test]
fn waiting_times_in_a_queue_have_percentiles() {
    let waits = |discipline: Option<stack::queue::DisciplineSpec>| {
        let mut blueprint = Blueprint::new(Duration::from_secs(4));
        blueprint.record.distributions = true;
        let (a, b) = (blueprint.node("a"), blueprint.node("b"));
        let mut wire = PortSpec::new(Rate::from_mbps(10), Duration::from_millis(5), 100);
        wire.queue.discipline = discipline;
        blueprint.link("wire", (a, b), wire);
        for n in 0..4 {
            let pattern = datagram::Pattern::Constant { rate: Rate::from_bps(20_000) };
            let source = datagram::Config { packet: Bytes::new(1250), pattern };
            blueprint.flow(&format!("s{n}"), None, FlowKind::Datagram(source), a, &[b]);
        }
        crate::run(&plan_of(blueprint), &sim::Control::default()).report
    };
    let fifo = waits(None);
    for (key, is) in [("p50", 0.001), ("p95", 0.003), ("p99", 0.003)] {
        let value = fifo.value(&format!("link.wire.queue_{key}")).expect("measured");
        assert!((value - is).abs() < 0.000_02, "{key}: {value}");
    }
    let table = of(&fifo, "distributions");
    let wire: Vec<f64> = texts(table, "subject")
        .iter()
        .zip(table.numbers("share"))
        .filter(|(subject, _)| *subject == "link.wire")
        .filter_map(|(_, share)| share)
        .collect();
    assert_eq!(wire, [0.25, 0.5, 0.75, 1.0]);
    let other = waits(Some(stack::queue::DisciplineSpec::PfifoHeadDrop(Default::default())));
    let keys = ["link.wire.queue_p50", "link.wire.queue_p99"];
    assert_eq!(keys.map(|key| fifo.value(key)), keys.map(|key| other.value(key)));
}

/// Packets of 1250 B at 10 Mbit/s take 1 ms, and the link 5 ms: of four that come at once at 0 and at 0.5 s two find
/// the buffer full, and the others arrive after 6 and 7 ms. Recording changes nothing of the run.
#[test]
fn packets_are_recorded_at_the_end_of_their_link_or_where_they_are_dropped() {
    let run = |packets| {
        let mut blueprint = Blueprint::new(Duration::from_secs(1));
        blueprint.record.packets = packets;
        let (a, b) = (blueprint.node("a"), blueprint.node("b"));
        blueprint.link("wire", (a, b), PortSpec::new(Rate::from_mbps(10), Duration::from_millis(5), 1));
        for n in 0..4 {
            let pattern = datagram::Pattern::Constant { rate: Rate::from_bps(20_000) };
            let source = datagram::Config { packet: Bytes::new(1250), pattern };
            blueprint.flow(&format!("s{n}"), None, FlowKind::Datagram(source), a, &[b]);
        }
        crate::run(&plan_of(blueprint), &sim::Control::default())
    };
    let at = |millis| Time::ZERO + Duration::from_millis(millis);
    let recorded = run(Some((at(500), at(507))));
    let none = run(None);
    assert_eq!(recorded.trace.hash, none.trace.hash);
    assert!(none.trace.packets.is_empty());
    let table = of(&recorded.report, "packets");
    // the end, 507 ms, is not in it
    assert_eq!(texts(table, "event"), ["dropped_queue_full", "dropped_queue_full", "arrived"]);
    assert_eq!(texts(table, "flow"), ["s2", "s3", "s0"]);
    assert_eq!(texts(table, "link"), ["wire"; 3]);
    assert_eq!(texts(table, "direction"), ["forward"; 3]);
    assert_eq!(texts(table, "kind"), ["datagram"; 3]);
    let times: Vec<f64> = table.numbers("time_s").into_iter().flatten().collect();
    assert_eq!(times, [0.5, 0.5, 0.506]);
}
