//! Which packet of a program belongs to which flow, and through which device it goes.

use std::collections::BTreeMap;

use contract::{Address, Cx, Endpoint, FlowId, Input, NodeId, Parting};
use sim::{Blueprint, Outside, World};
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
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ends {
    pub(crate) sender: Address,
    pub(crate) receiver: Address,
}

/// Flows between programs, and the devices of real nodes, which are numbered in the order of [`sim::Emulation::real`].
pub(crate) struct Gates {
    real: Vec<NodeId>,
    /// By flow.
    ends: Vec<Option<Ends>>,
    /// TCP of the kernel, which is known by its ports.
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
            let Some(&receiver) = receivers.first() else { continue };
            gates.ends[id.index()] = Some(Ends { sender, receiver });
            gates.by_port[id.index()] = matches!(outside, Outside::Kernel(_));
            // what is not of TCP's ports is of commands; where there are none, such as errors about TCP, of the first flow
            let key = (sender.node, receiver.node);
            if matches!(outside, Outside::Commands { .. }) || !gates.by_nodes.contains_key(&key) {
                gates.by_nodes.insert(key, id);
            }
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
    pub(crate) fn sends(&self, flow: FlowId, peer: contract::PeerId) -> bool {
        self.ends[flow.index()].is_some_and(|ends| ends.sender.peer == peer)
    }

    /// Whether the payload of what arrives at an endpoint is what its application gets: nobody says how much that is of commands.
    pub(crate) fn counts_payload(&self, flow: FlowId, peer: contract::PeerId) -> bool {
        !self.by_port[flow.index()] && self.ends[flow.index()].is_some_and(|ends| ends.receiver.peer == peer)
    }

    pub(crate) fn ends(&self, flow: FlowId) -> Option<Ends> {
        self.ends[flow.index()]
    }

    /// Where a packet from a device enters the network and where it goes; `None` when it belongs to no flow.
    pub(crate) fn way(&self, device: usize, packet: &Ipv4) -> Option<(Address, Address)> {
        let from = *self.real.get(device)?;
        let to = wire::node_of(packet.destination)?;
        if packet.source != wire::address_of(from) {
            return None;
        }
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

    fn between(&self, flow: FlowId, from: NodeId, to: NodeId) -> Option<(Address, Address)> {
        let Ends { sender, receiver } = self.ends[flow.index()]?;
        match () {
            () if (sender.node, receiver.node) == (from, to) => Some((sender, receiver)),
            () if (receiver.node, sender.node) == (from, to) => Some((receiver, sender)),
            () => None,
        }
    }
}
