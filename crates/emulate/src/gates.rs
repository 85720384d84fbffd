//! Which packet of a program belongs to which flow, and through which device it goes.

use std::collections::BTreeMap;

use contract::{Address, Cx, Destination, Endpoint, FlowId, Input, NodeId, Parting, PeerId};
use sim::{Blueprint, Cast, Outside, World};
use wire::Ipv4;

/// The endpoint in the network of a program outside of it: what arrives is handed out.
pub(crate) struct Gate;

impl Endpoint for Gate {
    fn handle(&mut self, input: Input<'_>, cx: &mut Cx<'_>) {
        match input {
            Input::Packet(packet) => cx.hand_out(Parting::Packet(*packet)),
            Input::Start => cx.hand_out(Parting::Start),
            Input::Stop => cx.hand_out(Parting::Stop),
            Input::Timer | Input::App(_) | Input::Mode(_) => {}
        }
    }
}

/// The ends of a flow between programs.
#[derive(Clone, Debug)]
pub(crate) struct Ends {
    pub(crate) sender: Address,
    /// One, or the members of a group.
    pub(crate) receivers: Vec<Address>,
    cast: Cast,
}

impl Ends {
    fn at(&self, node: NodeId) -> Option<Address> {
        let ends = || [self.sender].into_iter().chain(self.receivers.iter().copied());
        ends().find(|end| end.node == node)
    }
}

/// Flows between programs, and the devices of real nodes, which are numbered in the order of [`sim::Emulation::real`].
pub(crate) struct Gates {
    real: Vec<NodeId>,
    /// By flow.
    ends: Vec<Option<Ends>>,
    /// TCP of the kernel and our own live endpoints, which are known by their ports.
    by_port: Vec<bool>,
    /// Of all others, by sender's and receiver's node.
    by_nodes: BTreeMap<(NodeId, NodeId), FlowId>,
}

impl Gates {
    /// Puts gates in the place of the machines of flows between programs.
    pub(crate) fn open(blueprint: &Blueprint, world: &mut World) -> Self {
        let mut gates = Self {
            real: blueprint.emulation.real.clone(),
            ends: vec![None; blueprint.flows.len()],
            by_port: vec![false; blueprint.flows.len()],
            by_nodes: BTreeMap::new(),
        };
        for (id, flow) in (0u32..).map(FlowId).zip(&blueprint.flows) {
            let Some(outside) = &flow.outside else { continue };
            world.custom_sender(id, Box::new(|_| Box::new(Gate)));
            world.custom_receiver(id, Box::new(|_| Box::new(Gate)));
            let (sender, receivers) = world.ends(id);
            gates.by_port[id.index()] = matches!(outside, Outside::Kernel(_) | Outside::Live);
            // what is not of known ports is of commands; where there are none, such as errors about TCP, of the first flow
            for receiver in &receivers {
                let key = (sender.node, receiver.node);
                if matches!(outside, Outside::Commands { .. }) || !gates.by_nodes.contains_key(&key) {
                    gates.by_nodes.insert(key, id);
                }
            }
            gates.ends[id.index()] = Some(Ends { sender, receivers, cast: flow.cast });
        }
        gates
    }

    /// How many devices there are.
    pub(crate) fn count(&self) -> usize {
        self.real.len()
    }

    /// The device of a node.
    pub(crate) fn device_of(&self, node: NodeId) -> Option<usize> {
        self.real.binary_search(&node).ok()
    }

    /// Whether an endpoint is a flow's sender.
    pub(crate) fn sends(&self, flow: FlowId, peer: PeerId) -> bool {
        self.ends(flow).is_some_and(|ends| ends.sender.peer == peer)
    }

    /// Whether the payload of what arrives at an endpoint is what its application gets: nobody says how much that is of commands.
    pub(crate) fn counts_payload(&self, flow: FlowId, peer: PeerId) -> bool {
        !self.by_port[flow.index()] && self.ends(flow).is_some_and(|ends| ends.sender.peer != peer)
    }

    pub(crate) fn ends(&self, flow: FlowId) -> Option<&Ends> {
        self.ends[flow.index()].as_ref()
    }

    /// Where a packet from a device enters the network and where it goes; `None` when it belongs to no flow.
    pub(crate) fn way(&self, device: usize, packet: &Ipv4) -> Option<(Address, Destination)> {
        let from = *self.real.get(device)?;
        if packet.source != wire::address_of(from) {
            return None;
        }
        if let Some(group) = wire::group_of(packet.destination) {
            // a group has the number of its flow
            let ends = self.ends.get(group.index())?.as_ref()?;
            let sends = ends.cast == Cast::Multicast && ends.sender.node == from;
            return sends.then(|| (ends.sender, Destination::group(group)));
        }
        let to = wire::node_of(packet.destination)?;
        let of_ports =
            packet.ports.filter(|(source, destination)| source == destination).and_then(|(port, _)| {
                let flow = wire::flow_of(port).filter(|flow| flow.index() < self.ends.len())?;
                self.by_port[flow.index()].then(|| self.between(flow, from, to)).flatten()
            });
        of_ports.or_else(|| {
            let flow = self.by_nodes.get(&(from, to)).or_else(|| self.by_nodes.get(&(to, from)))?;
            self.between(*flow, from, to)
        })
    }

    fn between(&self, flow: FlowId, from: NodeId, to: NodeId) -> Option<(Address, Destination)> {
        let ends = self.ends(flow)?;
        let (from, to) = (ends.at(from)?, ends.at(to)?);
        // members of a group do not speak to each other
        (from == ends.sender || to == ends.sender).then(|| (from, to.into()))
    }
}
