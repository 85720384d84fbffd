//! Runs a network with and without a record of packets, and compares the rows with each other and with the counters of
//! the run.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use contract::{Count, DropReason, FlowId, Header, Meter};
use sim::{
    ActivityRow, Blueprint, Control, EndpointRole, EndpointRow, HopRow, MeterRow, PacketEnd, PacketLog,
    PacketRow, Trace, World,
};
use units::Time;

/// All rows of a record.
#[derive(Clone, Debug, Default)]
pub struct Rows {
    pub endpoints: Vec<EndpointRow>,
    pub packets: Vec<PacketRow>,
    pub hops: Vec<HopRow>,
    pub meters: Vec<MeterRow>,
    pub activity: Vec<ActivityRow>,
}

struct Log(Arc<Mutex<Rows>>);

impl Log {
    fn rows(&self) -> std::sync::MutexGuard<'_, Rows> {
        self.0.lock().expect("no other thread has it")
    }
}

impl PacketLog for Log {
    fn begin(&mut self, endpoints: &[EndpointRow]) {
        self.rows().endpoints = endpoints.to_vec();
    }

    fn packet(&mut self, row: &PacketRow) {
        self.rows().packets.push(*row);
    }

    fn hop(&mut self, row: &HopRow) {
        self.rows().hops.push(*row);
    }

    fn meter(&mut self, row: &MeterRow) {
        self.rows().meters.push(*row);
    }

    fn activity(&mut self, row: &ActivityRow) {
        self.rows().activity.push(*row);
    }
}

/// Runs a network with a record.
pub fn recorded(blueprint: &Blueprint) -> (Trace, Rows) {
    let rows = Arc::default();
    let log = Box::new(Log(Arc::clone(&rows)));
    let mut world = World::recorded(blueprint.clone().into(), Some(log)).expect("a valid blueprint");
    world.run(&Control::default());
    let trace = world.finish();
    let rows = Arc::into_inner(rows).expect("the log is dropped").into_inner().expect("no thread failed");
    (trace, rows)
}

/// Checks the record of a network.
pub fn check(blueprint: &Blueprint) {
    let mut world = World::new(blueprint).expect("a valid blueprint");
    world.run(&Control::default());
    let plain = world.finish();
    let (trace, rows) = recorded(blueprint);
    assert_eq!((trace.hash, trace.events_handled), (plain.hash, plain.events_handled), "the same run");
    assert_eq!(format!("{:?}", trace.ports), format!("{:?}", plain.ports));
    assert_eq!(format!("{:?}", trace.flows), format!("{:?}", plain.flows));
    assert_eq!(format!("{:?}", trace.receivers), format!("{:?}", plain.receivers));
    check_packets(blueprint, &trace, &rows);
    check_hops(&trace, &rows);
    check_waits(&rows);
    check_ports(&trace, &rows);
    check_endpoints(&trace, &rows);
}

/// Each packet begins and ends once, and of each flow as many as began.
fn check_packets(blueprint: &Blueprint, trace: &Trace, rows: &Rows) {
    let mut numbers: Vec<u64> = rows.packets.iter().map(|row| row.number).collect();
    numbers.sort_unstable();
    assert!(numbers.iter().copied().eq(1..=numbers.len() as u64), "each number is there once");
    for row in &rows.packets {
        assert!(row.sent_at <= row.created_at && row.created_at <= row.ended_at.unwrap_or(trace.ended_at));
        assert_eq!(row.ended_at.is_none(), row.end == PacketEnd::InFlight);
        if let Some(original) = row.copy_of {
            assert!(original < row.number, "an original is older than its copies");
        } else {
            assert_eq!(row.sent_at, row.created_at, "{row:?}");
        }
    }
    let balance = &trace.balance;
    let count = |of: fn(&PacketRow) -> bool| rows.packets.iter().filter(|row| of(row)).count() as u64;
    assert_eq!(count(|row| row.copy_of.is_none()), balance.sent);
    assert_eq!(count(|row| matches!(row.end, PacketEnd::Dropped(..))), balance.dropped);
    assert_eq!(count(|row| row.end == PacketEnd::InFlight), balance.in_flight);
    // a packet that a state machine sends on counts in the balance as delivered and copied
    let sent_on = balance.copied - count(|row| row.copy_of.is_some());
    assert_eq!(count(|row| matches!(row.end, PacketEnd::Delivered(_))) + sent_on, balance.delivered);
    for (flow, record) in trace.flows.iter().enumerate() {
        let of_flow =
            |row: &&PacketRow| row.packet.flow.index() == flow && row.ended_at >= Some(trace.warmup);
        let mut drops = [0; DropReason::ALL.len()];
        for row in rows.packets.iter().filter(of_flow) {
            if let PacketEnd::Dropped(why, _) = row.end {
                drops[why as usize] += 1;
            }
        }
        assert_eq!(drops, record.drops, "{}", blueprint.flows[flow].name);
    }
}

/// The instants of a hop are in order, and so are the hops of a packet.
fn check_hops(trace: &Trace, rows: &Rows) {
    let mut last = vec![Time::ZERO; rows.packets.len() + 1];
    for hop in &rows.hops {
        let before = &mut last[hop.packet as usize];
        assert!(hop.offered_at.is_none_or(|at| *before <= at), "{hop:?}");
        let dropped = hop.dropped.map(|(at, _)| at);
        let mut instants: Vec<Time> = hop.offered_at.into_iter().collect();
        instants.extend(hop.started_at);
        instants.extend(hop.departed_at);
        instants.extend(hop.arrived_at.or(dropped));
        assert!(instants.is_sorted(), "{hop:?}");
        assert!(hop.departed_at.is_none() || hop.started_at.is_some(), "{hop:?}");
        let is_sent = hop.departed_at.is_some() || hop.offered_at.is_none();
        assert!(hop.arrived_at.is_none() || (is_sent && dropped.is_none()), "{hop:?}");
        if let Some(marked) = hop.marked_at {
            assert!(
                Some(marked) == hop.offered_at
                    || Some(marked) == hop.started_at
                    || hop.started_at.is_none_or(|at| marked < at),
                "{hop:?}"
            );
        }
        *before = hop.arrived_at.or(dropped).unwrap_or(trace.ended_at);
    }
}

/// The time that each packet has waited by its own account is the sum over its hops and those of the packets that it is
/// a copy of.
fn check_waits(rows: &Rows) {
    let mut hops: Vec<Vec<&HopRow>> = vec![Vec::new(); rows.packets.len() + 1];
    rows.hops.iter().for_each(|hop| hops[hop.packet as usize].push(hop));
    let mut packets = vec![None; rows.packets.len() + 1];
    rows.packets.iter().for_each(|row| packets[row.number as usize] = Some(row));
    for row in &rows.packets {
        let PacketEnd::Delivered(_) = row.end else { continue };
        let (mut at, mut until, mut waited_ns) = (Some(row), Time::NEVER, 0);
        while let Some(packet) = at {
            let before = hops[packet.number as usize]
                .iter()
                .filter(|hop| hop.departed_at.is_some_and(|at| at <= until));
            let waits =
                before.filter_map(|hop| Some(hop.started_at?.saturating_since(hop.offered_at?).as_nanos()));
            waited_ns += waits.sum::<u64>();
            // a packet that a forwarder makes in answer and delivers at its own node is not a copy of what it answers
            let Some(original) = packet.copy_of.filter(|_| packet.sent_at < packet.created_at) else { break };
            until = packet.created_at;
            at = packets[original as usize];
        }
        // of a copy whose original a state machine had kept, the beginning is not known
        if at.is_some() {
            assert_eq!(waited_ns, row.packet.waited.total().as_nanos(), "{row:?}");
        }
    }
}

/// The counters of ports follow from hops.
fn check_ports(trace: &Trace, rows: &Rows) {
    let (warm, end) = (trace.warmup, trace.ended_at);
    let mut hops: Vec<Vec<&HopRow>> = trace.ports.iter().map(|_| Vec::new()).collect();
    rows.hops.iter().for_each(|hop| hops[hop.port.index()].push(hop));
    let mut sizes = vec![0; rows.packets.len() + 1];
    rows.packets.iter().for_each(|row| sizes[row.number as usize] = u128::from(row.packet.size_bytes));
    for (port, (record, hops)) in trace.ports.iter().zip(&hops).enumerate() {
        let offered = hops.iter().filter(|hop| hop.offered_at >= Some(warm)).count() as u64;
        assert_eq!(offered, record.offered_packets, "offered to port {port}");
        // what takes no time at the instant of the reset is before it
        let leaves = |hop: &HopRow| hop.departed_at.is_some_and(|at| at > warm || warm == Time::ZERO);
        let sent =
            hops.iter().filter(|hop| hop.started_at.is_some_and(|at| at >= warm) && leaves(hop)).count();
        assert_eq!(sent as u64, record.sent_packets, "sent by port {port}");
        let (mut packet_ns, mut byte_ns) = (0, 0);
        for hop in hops {
            let Some(offered_at) = hop.offered_at else { continue };
            let until = hop.started_at.or(hop.dropped.map(|(at, _)| at)).unwrap_or(end);
            let wait = until.saturating_since(offered_at.max(warm)).as_nanos();
            packet_ns += u128::from(wait);
            byte_ns += u128::from(wait) * sizes[hop.packet as usize];
        }
        assert_eq!(
            (packet_ns, byte_ns),
            (record.backlog_packet_ns, record.backlog_byte_ns),
            "backlog of port {port}"
        );
        let marked = hops.iter().filter(|hop| hop.marked_at.is_some_and(|at| at >= warm)).count() as u64;
        assert_eq!(marked, record.marked_packets, "marked by port {port}");
        let mut drops = [0; DropReason::ALL.len()];
        for (at, why) in hops.iter().filter_map(|hop| hop.dropped) {
            drops[why as usize] += u64::from(at >= warm);
        }
        assert_eq!(drops, record.drops, "dropped by port {port}");
    }
}

/// What packets and meters of a record say of an endpoint, after the warm-up.
#[derive(Clone, Default)]
struct Seen {
    sent: u64,
    packets: u64,
    bytes: u64,
    delay_sum_ns: u64,
    wait_sum_ns: u64,
    counters: BTreeMap<&'static str, i64>,
}

impl Seen {
    fn of(trace: &Trace, rows: &Rows) -> Vec<Self> {
        let warm = trace.warmup;
        let mut all = vec![Self::default(); rows.endpoints.len()];
        for row in &rows.packets {
            if row.copy_of.is_none() && row.created_at >= warm {
                all[row.packet.source.endpoint.index()].sent += 1;
            }
            let counts = !matches!(row.packet.header, Header::Signal(_) | Header::Nack(_));
            if let (PacketEnd::Delivered(endpoint), Some(at)) = (row.end, row.ended_at)
                && at >= warm
                && counts
            {
                let seen = &mut all[endpoint.index()];
                seen.packets += 1;
                seen.bytes += u64::from(row.packet.size_bytes);
                seen.delay_sum_ns += at.saturating_since(row.sent_at).as_nanos();
                seen.wait_sum_ns += row.packet.waited.total().as_nanos();
            }
        }
        for row in rows.meters.iter().filter(|row| row.at >= warm) {
            *all[row.endpoint.index()].counters.entry(row.counter).or_default() += row.change;
        }
        all
    }

    fn counter(&self, name: &str) -> u64 {
        self.counters.get(name).map_or(0, |sum| *sum as u64)
    }

    fn check(&self, meter: &Meter, what: &str) {
        assert_eq!(self.counter("goodput_bytes"), meter.goodput_bytes, "{what}");
        assert_eq!(self.counter("rtt_ns"), meter.rtt_sum_ns, "{what}");
        assert_eq!(self.counter("delay_ns"), meter.media().delay_sum_ns, "{what}");
        for count in Count::ALL {
            assert_eq!(self.counter(count.name()), meter.count(count), "{} of {what}", count.name());
        }
    }
}

/// What reached endpoints, and what they count, follow from packets and meters.
fn check_endpoints(trace: &Trace, rows: &Rows) {
    let all = Seen::of(trace, rows);
    for record in &trace.receivers {
        let seen = &all[record.endpoint.index()];
        assert_eq!(rows.endpoints[record.endpoint.index()].address.node, record.node);
        let arrived = (seen.packets, seen.bytes, seen.delay_sum_ns, seen.wait_sum_ns);
        let counted = (record.packets, record.bytes, record.delay_sum_ns, record.wait_sum_ns);
        assert_eq!(arrived, counted, "{:?}", record.endpoint);
        seen.check(&record.meter, "a receiver");
    }
    let with_role = |role: fn(EndpointRole) -> bool| {
        rows.endpoints.iter().zip(&all).filter(move |(row, _)| role(row.role))
    };
    let senders = with_role(|role| role == EndpointRole::Sender);
    for ((flow, record), (row, seen)) in trace.flows.iter().enumerate().zip(senders) {
        assert_eq!(row.flow.map(FlowId::index), Some(flow), "senders are in the order of flows");
        assert_eq!(seen.sent, record.sent_packets, "sent of flow {flow}");
        let arrived = &record.arrived;
        assert_eq!((seen.packets, seen.delay_sum_ns), (arrived.packets, arrived.delay_sum_ns), "flow {flow}");
        seen.check(&record.meter, "a sender");
    }
    let nodes = with_role(|role| matches!(role, EndpointRole::Node(_)));
    for (record, (row, seen)) in trace.nodes.iter().zip(nodes) {
        assert_eq!(row.address.node, record.node, "state machines are in the order of records");
        assert_eq!(seen.sent, record.sent_packets, "sent by {:?}", record.node);
        seen.check(&record.meter, "a node");
        for tally in stack::ndn::Tally::ALL {
            let count = record.ndn.as_ref().map_or(0, |counters| counters.count(tally));
            assert_eq!(seen.counter(tally.name()), count, "{} of {:?}", tally.name(), record.node);
        }
    }
}
