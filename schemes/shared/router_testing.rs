//! A test environment for a scheme's part in a router.

use contract::{
    Address, Backlog, Cx, Destination, Ecn, EndpointId, Entry, FlowId, GroupId, GroupMessage, Header, Label,
    Meter, NodeCx, NodeId, NodeView, Outputs, Packet, PortId, PortView, Random, Report, RouterAlgorithm,
    RouterCx, TransitCx,
};
use units::{Bytes, Rate, Time};

/// The context of a part in a router: clock, ports, random stream and outputs.
pub(crate) struct Node {
    pub(crate) now: Time,
    pub(crate) ports: Ports,
    pub(crate) meter: Meter,
    pub(crate) out: Outputs,
    /// Other groups in the node's table that have the same incoming interface, with higher numbers than the first.
    pub(crate) neighbours: Vec<GroupId>,
    random: Random,
    messages: Vec<GroupMessage>,
}

/// The node's ports.
pub(crate) struct Ports(Vec<PortView>);

impl Ports {
    /// A port, for changes.
    pub(crate) fn get(&mut self, port: PortId) -> &mut PortView {
        &mut self.0[port.index()]
    }
}

impl NodeView for Ports {
    fn port(&mut self, port: PortId) -> PortView {
        self.0[port.index()]
    }

    fn next(&self, _to: NodeId) -> Option<PortId> {
        None
    }

    fn cost(&self, _to: NodeId) -> Option<u64> {
        None
    }
}

impl Node {
    /// A node at time zero with this many ports of 10 Mbit/s both ways and 50 packets.
    pub(crate) fn new(ports: u32) -> Self {
        let port = |i| PortView {
            port: PortId(i),
            to: NodeId(100 + i),
            rate: Rate::from_mbps(10),
            rate_in: Rate::from_mbps(10),
            backlog: Backlog::default(),
            busy: false,
            limit: Backlog { packets: 50, bytes: Bytes::UNLIMITED },
        };
        let mut out = Outputs::default();
        out.notes.probing = true;
        out.notes.events = true;
        Self {
            now: Time::ZERO,
            ports: Ports((0..ports).map(port).collect()),
            meter: Meter::default(),
            out,
            neighbours: Vec::new(),
            random: Random::new(1, "router", ""),
            messages: Vec::new(),
        }
    }

    /// Shows the part a packet that arrived on `port`.
    pub(crate) fn arrive(&mut self, algorithm: &mut impl RouterAlgorithm, packet: &Packet, port: PortId) {
        algorithm.on_arrival(packet, &mut TransitCx { now: self.now, port, random: &mut self.random });
    }

    /// Shows the part a packet that is about to be offered to the queue of `port`, in which `waiting` packets wait.
    pub(crate) fn enqueue(
        &mut self,
        algorithm: &mut impl RouterAlgorithm,
        packet: &Packet,
        port: PortId,
        waiting: u32,
    ) {
        self.ports.get(port).backlog.packets = waiting;
        let view = self.ports.port(port);
        let mut passing = TransitCx { now: self.now, port, random: &mut self.random };
        algorithm.on_enqueue(&mut packet.clone(), &view, &mut passing);
    }

    /// Passes a child's report to the part. Returns its messages.
    pub(crate) fn report(
        &mut self,
        algorithm: &mut impl RouterAlgorithm,
        group: GroupId,
        from: Address,
        label: Label,
        entry: Entry<'_>,
    ) -> Vec<GroupMessage> {
        let mut neighbours = vec![group];
        neighbours.extend_from_slice(&self.neighbours);
        if entry.incoming.is_none() {
            neighbours.clear();
        }
        let report = Report { group, from, sent_at: self.now, label, entry, neighbours: &neighbours };
        self.within(|cx| algorithm.on_report(&report, cx))
    }

    /// Advances time through the part's deadlines up to and including `end`. Returns its messages with their times.
    pub(crate) fn run(
        &mut self,
        algorithm: &mut impl RouterAlgorithm,
        end: Time,
    ) -> Vec<(Time, GroupMessage)> {
        let mut output = Vec::new();
        while algorithm.wake() <= end {
            self.now = self.now.max(algorithm.wake());
            let messages = self.within(|cx| algorithm.on_timer(cx));
            output.extend(messages.into_iter().map(|message| (self.now, message)));
            assert!(algorithm.wake() > self.now, "a deadline that has passed stays");
        }
        self.now = end;
        output
    }

    fn within(&mut self, call: impl FnOnce(&mut RouterCx<'_, '_, '_>)) -> Vec<GroupMessage> {
        let me = Address { node: NodeId(0), endpoint: EndpointId(0) };
        let mut cx = Cx::new(self.now, me, FlowId(0), &mut self.random, &mut self.meter, &mut self.out);
        let mut node = NodeCx::new(&mut cx, &mut self.ports);
        call(&mut RouterCx::new(&mut node, &mut self.messages));
        std::mem::take(&mut self.messages)
    }
}

/// A packet of `flow` between two nodes.
pub(crate) fn packet(flow: u32, from: u32, to: u32, header: Header, label: Label) -> Packet {
    Packet {
        flow: FlowId(flow),
        size_bytes: 1000,
        source: Address { node: NodeId(from), endpoint: EndpointId(flow) },
        to: Destination::from(Address { node: NodeId(to), endpoint: EndpointId(flow) }),
        sent_at: Time::ZERO,
        label,
        header,
        ecn: Ecn::NotCapable,
        hops: 0,
        waited: Default::default(),
    }
}
