//! Classification of packets of programs: the flow and the device of each.

use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;
use std::sync::Arc;

use contract::{Address, Cx, Destination, EgressEvent, Endpoint, EndpointId, FlowId, Input, NodeId};
use sim::{Blueprint, Cast, Change, Factory, FlowEmulation, FlowKind, World};
use wire::Ipv4;

/// The endpoint in the network that represents a real program: arriving packets become egress events.
pub(crate) struct Gate {
    /// Modes of the scenario.
    modes: Arc<[String]>,
}

impl Endpoint for Gate {
    fn handle(&mut self, input: Input<'_>, cx: &mut Cx<'_>) {
        match input {
            Input::Packet(packet) => cx.egress(EgressEvent::Packet(*packet)),
            Input::Start => cx.egress(EgressEvent::Start),
            Input::Stop => cx.egress(EgressEvent::Stop),
            Input::Mode(mode) => {
                if let Some(number) = self.modes.iter().position(|known| known == mode) {
                    cx.egress(EgressEvent::Mode(number as u32));
                }
            }
            Input::Timer | Input::App(_) => {}
        }
    }
}

/// Where a packet of a program enters the network, and its destination.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Way {
    pub(crate) flow: FlowId,
    pub(crate) from: Address,
    pub(crate) to: Destination,
    /// Whether it is a datagram that describes a packet, which takes its place in the network.
    pub(crate) described: bool,
}

/// The ends of a flow between programs.
#[derive(Clone, Debug)]
pub(crate) struct Ends {
    pub(crate) sender: Address,
    /// One receiver, or the members of a group.
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
    /// Whether the flow has its own port: TCP of the kernel, and live endpoints.
    by_port: Vec<bool>,
    /// Whether the flow is between live endpoints.
    live: Vec<bool>,
    /// Whether the datagrams of the flow describe packets: the datagrams of live endpoints do, except the datagrams of
    /// transport stacks, whose bytes are real.
    described: Vec<bool>,
    /// State machines of nodes, which live endpoints may address.
    machines: BTreeMap<NodeId, Address>,
    /// Modes of the scenario.
    modes: Arc<[String]>,
    /// All other flows, by nodes of sender and receiver.
    by_nodes: BTreeMap<(NodeId, NodeId), FlowId>,
}

impl Gates {
    /// Replaces the endpoints of flows between programs by gates.
    pub(crate) fn open(blueprint: &Blueprint, world: &mut World) -> Self {
        let nodes = (0u32..).map(NodeId).take(blueprint.nodes.len());
        let modes = blueprint.events.iter().filter_map(|(_, change)| match change {
            Change::Mode(_, mode) => Some(mode.clone()),
            _ => None,
        });
        let mut gates = Self {
            real: blueprint.emulation.real.clone(),
            ends: vec![None; blueprint.flows.len()],
            by_port: vec![false; blueprint.flows.len()],
            live: vec![false; blueprint.flows.len()],
            described: vec![false; blueprint.flows.len()],
            machines: nodes.filter_map(|node| Some((node, world.node_address(node)?))).collect(),
            modes: modes.collect::<BTreeSet<_>>().into_iter().collect(),
            by_nodes: BTreeMap::new(),
        };
        for (id, flow) in (0u32..).map(FlowId).zip(&blueprint.flows) {
            let Some(emulation) = flow.emulation.as_deref() else { continue };
            let gate = || -> Factory {
                let modes = gates.modes.clone();
                Box::new(move |_| Box::new(Gate { modes: modes.clone() }))
            };
            world.custom_sender(id, gate());
            world.custom_receiver(id, gate());
            let (sender, receivers) = world.ends(id);
            gates.by_port[id.index()] = matches!(emulation, FlowEmulation::Kernel(_) | FlowEmulation::Live);
            let live = matches!(emulation, FlowEmulation::Live);
            gates.live[id.index()] = live;
            gates.described[id.index()] = live && !matches!(*flow.kind, FlowKind::Stack(_));
            // packets of unknown ports belong to commands; without commands, as for ICMP errors of TCP, to the first
            // flow
            for receiver in &receivers {
                let key = (sender.node, receiver.node);
                if matches!(emulation, FlowEmulation::Commands { .. }) || !gates.by_nodes.contains_key(&key) {
                    gates.by_nodes.insert(key, id);
                }
            }
            gates.ends[id.index()] = Some(Ends { sender, receivers, cast: flow.cast });
        }
        gates
    }

    /// Number of devices.
    pub(crate) fn count(&self) -> usize {
        self.real.len()
    }

    /// The device of a node.
    pub(crate) fn device_of(&self, node: NodeId) -> Option<usize> {
        self.real.binary_search(&node).ok()
    }

    /// Whether an endpoint is a flow's sender.
    pub(crate) fn sends(&self, flow: FlowId, endpoint: EndpointId) -> bool {
        self.ends(flow).is_some_and(|ends| ends.sender.endpoint == endpoint)
    }

    /// Whether the payload of packets at an endpoint is its goodput. For commands the application's share is unknown.
    pub(crate) fn counts_payload(&self, flow: FlowId, endpoint: EndpointId) -> bool {
        !self.by_port[flow.index()] && self.ends(flow).is_some_and(|ends| ends.sender.endpoint != endpoint)
    }

    pub(crate) fn ends(&self, flow: FlowId) -> Option<&Ends> {
        self.ends[flow.index()].as_ref()
    }

    /// Whether a flow is between live endpoints.
    pub(crate) fn is_live(&self, flow: FlowId) -> bool {
        self.live[flow.index()]
    }

    /// The mode with this number.
    pub(crate) fn mode(&self, number: u32) -> &str {
        self.modes.get(number as usize).map_or("", String::as_str)
    }

    /// The peers of a live flow's ends: each other, and the state machines of nodes.
    pub(crate) fn known_to(&self, flow: FlowId) -> BTreeMap<Ipv4Addr, Address> {
        let ends = self.ends(flow).into_iter();
        let ends = ends.flat_map(|ends| [ends.sender].into_iter().chain(ends.receivers.iter().copied()));
        let all = self.machines.values().copied().chain(ends);
        all.map(|address| (wire::address_of(address.node), address)).collect()
    }

    /// Where a packet from a device enters the network, and its destination; `None` if it belongs to no flow.
    pub(crate) fn way(&self, device: usize, packet: &Ipv4) -> Option<Way> {
        let from = *self.real.get(device)?;
        if packet.source != wire::address_of(from) {
            return None;
        }
        if let Some(group) = wire::group_of(packet.destination) {
            // the number of a group is the number of its flow
            let (flow, to) = (FlowId(group.0), Destination::group(group));
            let ends = self.ends.get(flow.index())?.as_ref()?;
            let sends = ends.cast == Cast::Multicast && ends.sender.node == from;
            let described = self.described[flow.index()];
            return sends.then_some(Way { flow, from: ends.sender, to, described });
        }
        let to = wire::node_of(packet.destination)?;
        let of_ports =
            packet.ports.filter(|(source, destination)| source == destination).and_then(|(port, _)| {
                let flow = wire::flow_of(port).filter(|flow| flow.index() < self.ends.len())?;
                let way = self.by_port[flow.index()].then(|| self.between(flow, from, to)).flatten()?;
                Some(Way { described: self.described[flow.index()], ..way })
            });
        of_ports.or_else(|| {
            let flow = self.by_nodes.get(&(from, to)).or_else(|| self.by_nodes.get(&(to, from)))?;
            self.between(*flow, from, to)
        })
    }

    fn between(&self, flow: FlowId, from: NodeId, to: NodeId) -> Option<Way> {
        let ends = self.ends(flow)?;
        let from = ends.at(from)?;
        let to = match ends.at(to) {
            // members of a group do not send to each other
            Some(to) if from != ends.sender && to != ends.sender => return None,
            Some(to) => to,
            None if self.is_live(flow) => *self.machines.get(&to)?,
            None => return None,
        };
        Some(Way { flow, from, to: to.into(), described: false })
    }
}
