//! Fans: the ports to the branches of a multicast tree at a node, as long as their links are idle and in equal states.
//!
//! The packets on these links and their transmitters are kept once, by a model of all these ports; counters of packets
//! are added to the counters of the ports when the fan ends. It ends when anything but a packet of the group is offered
//! to one of its ports, when such a port is read or changed, and when the tree changes. Its ports then have the states
//! that they would have without it.

use contract::{FlowId, GroupId, NodeId, PacketId, PortId};
use units::Time;

use super::{Fabric, Offer, Port};
use crate::agenda::{Agenda, FanId};

/// A fan needs this number of ports.
const MIN_PORTS: usize = 8;
/// After a fan that did not last, at most two to the power of this number of packets pass until the next one.
const MAX_PATIENCE: u8 = 6;
const NONE: u32 = u32::MAX;

/// The ports of a tree at a node, with one state.
#[derive(Default)]
struct Fan {
    group: GroupId,
    node: NodeId,
    /// The ports in the order of their arrival events, and the nodes that they lead to.
    ports: Vec<(PortId, NodeId)>,
    /// Whether that order is the order of the branches.
    is_ordered: bool,
    /// The state of each port; `None` if the fan has ended.
    model: Option<Box<Port>>,
    generation: u32,
    /// The model's first packet has arrived at the end of this number of links. The model still has it.
    passed: usize,
    /// When.
    passed_at: Time,
    /// Packets that were offered.
    packets: u32,
}

/// The fans of a network.
#[derive(Default)]
pub(super) struct Fans {
    list: Vec<Fan>,
    /// Numbers of fans that have ended.
    free: Vec<u32>,
    /// Up to then, there may be stale arrival events.
    stale_until: Time,
}

/// The fan of the branches at a node.
#[derive(Clone, Debug)]
pub(super) struct FanOfBranches {
    number: u32,
    /// Packets to pass until it is formed.
    wait: u32,
    /// Its logarithm after the next fan that does not last.
    patience: u8,
}

impl Default for FanOfBranches {
    fn default() -> Self {
        Self { number: NONE, wait: 0, patience: 0 }
    }
}

impl FanOfBranches {
    /// Notes that a fan ended after this number of packets, or could not be formed.
    fn end(&mut self, packets: u32) {
        self.number = NONE;
        self.patience = match packets >> self.patience {
            0 => (self.patience + 1).min(MAX_PATIENCE),
            _ => self.patience.saturating_sub(1),
        };
        self.wait = (1 << self.patience) - 1;
    }
}

/// A packet that was offered to all ports of a fan.
pub(crate) struct FanOffer {
    pub fan: FanId,
    /// The number of ports.
    pub ports: usize,
    /// When it arrives, if that is to be scheduled.
    pub arrive: Option<Time>,
}

impl Fabric {
    /// Offers one packet to all branches of a group's tree at `node`. `None` if they are no fan, or one whose links are
    /// not idle, which ends.
    #[inline]
    pub(crate) fn launch_fan(
        &mut self,
        (group, node): (GroupId, NodeId),
        (id, size_bytes): (PacketId, u32),
        now: Time,
    ) -> Option<FanOffer> {
        let number = self.tree_at(group, node)?.fan.number;
        let fan = self.fans.list.get_mut(number as usize)?;
        let model = fan.model.as_mut()?;
        if fan.passed > 0 || !model.is_idle(now) || (model.queued() == 0 && !fan.is_ordered) {
            self.end_fan(number);
            return None;
        }
        fan.packets += 1;
        let arrive = match model.launch(now, id, size_bytes, &mut self.spare) {
            Offer::Arrive(at) => Some(at),
            _ => None,
        };
        Some(FanOffer { fan: FanId { number, generation: fan.generation }, ports: fan.ports.len(), arrive })
    }

    /// Makes a fan of the branches of a group's tree at `node`, whose links were all idle when a packet was offered to
    /// them now, if their states are equal and one burst has their next arrivals.
    pub(crate) fn form_fan(&mut self, group: GroupId, node: NodeId, now: Time, agenda: &mut Agenda) {
        let Self { ports, trees, spare, fans, .. } = self;
        let Some(Some(tree)) = trees.get_mut(group.index()) else { return };
        let here = tree.at_mut(node);
        if here.branches.len() < MIN_PORTS || now <= fans.stale_until || !agenda.has_fans() {
            return;
        }
        if here.fan.wait > 0 {
            here.fan.wait -= 1;
            return;
        }
        let branches = &here.branches;
        let model = Box::new(ports[branches[0].index()].model(spare));
        let number = fans.free.last().copied().unwrap_or(fans.list.len() as u32);
        let generation = fans.list.get(number as usize).map_or(0, |fan| fan.generation);
        let fan = FanId { number, generation };
        // equal ports have the packet that was offered now, and only the branches have it
        let is_equal = |port: PortId| ports[port.index()].is_as(&model);
        let Some(order) = agenda.name_fan(model.armed(), branches.len(), is_equal, fan) else {
            return here.fan.end(0);
        };
        if fans.free.pop().is_none() {
            fans.list.push(Fan::default());
        }
        let fan = &mut fans.list[number as usize];
        (fan.group, fan.node, fan.passed, fan.packets) = (group, node, 0, 0);
        fan.ports = order.map(|port| (port, ports[port.index()].leads_to())).collect();
        fan.model = Some(model);
        fan.is_ordered = fan.ports.iter().map(|(port, _)| port).eq(branches);
        for (port, _) in &fan.ports {
            let port = &mut ports[port.index()];
            debug_assert!(port.fan().is_none(), "a port has one arrival event that is not stale");
            port.enter_fan(number);
        }
        here.fan.number = number;
    }

    /// Schedules arrivals at the ends of all links of a fan.
    pub(crate) fn schedule_fan(&self, fan: FanId, at: Time, agenda: &mut Agenda) {
        let ports = &self.fans.list[fan.number as usize].ports;
        let burst = agenda.begin_fan(at, ports[0].0, fan);
        ports[1..].iter().for_each(|(port, _)| agenda.push_of_fan(burst, *port));
    }

    /// The first packet on the links of a fan, which arrives now, and when the next one does; `None` if the fan has
    /// ended.
    #[inline]
    pub(crate) fn first_of_fan(&mut self, fan: FanId, now: Time) -> Option<(PacketId, Time)> {
        let state = self.fans.list.get_mut(fan.number as usize)?;
        if state.generation != fan.generation {
            return None;
        }
        state.passed_at = now;
        Some(state.model.as_ref()?.first_arrival())
    }

    /// Notes that the first packet arrives at the end of the link `index` of a fan. Returns its port and the node.
    #[inline]
    pub(crate) fn pass_fan(&mut self, fan: FanId, index: usize) -> (PortId, NodeId) {
        let state = &mut self.fans.list[fan.number as usize];
        debug_assert!(state.generation == fan.generation, "an arrival at another node ends no fan");
        state.passed = index + 1;
        state.ports[index]
    }

    /// The node at the end of the link `index` of a fan.
    #[inline]
    pub(crate) fn end_of_fan(&self, fan: FanId, index: usize) -> Option<NodeId> {
        Some(self.fans.list[fan.number as usize].ports.get(index)?.1)
    }

    /// Takes the first packet of a fan once it has arrived at the end of all links.
    pub(crate) fn take_from_fan(&mut self, fan: FanId, now: Time) {
        let state = &mut self.fans.list[fan.number as usize];
        if state.passed == state.ports.len()
            && let Some(model) = &mut state.model
        {
            state.passed = 0;
            model.take_arrival(now, &mut self.spare);
        }
    }

    /// Ends the fan of which a port is, before the port is read or changed. No effect at other ports.
    #[inline]
    pub(crate) fn settle_fan(&mut self, port: PortId) {
        if let Some(number) = self.ports[port.index()].fan() {
            self.end_fan(number);
        }
    }

    /// Ends all fans.
    pub(crate) fn settle_fans(&mut self) {
        for number in 0..self.fans.list.len() as u32 {
            self.end_fan(number);
        }
    }

    /// Ends the fans of a group's tree.
    pub(super) fn settle_fans_of(&mut self, flow: FlowId) {
        for number in 0..self.fans.list.len() {
            if self.fans.list[number].group.index() == flow.index() {
                self.end_fan(number as u32);
            }
        }
    }

    /// The number of fans that were formed.
    #[cfg(test)]
    pub(crate) fn fans_so_far(&self) -> usize {
        let formed = |fan: &Fan| fan.generation as usize + usize::from(fan.model.is_some());
        self.fans.list.iter().map(formed).sum()
    }

    /// Notes that a pending arrival event of a port may become stale.
    pub(super) fn note_change(&mut self, port: PortId) {
        self.settle_fan(port);
        let armed = self.ports[port.index()].armed();
        if armed != Time::NEVER {
            self.fans.stale_until = self.fans.stale_until.max(armed);
        }
    }

    /// Ends a fan: each port gets the state of the model.
    #[inline(never)]
    fn end_fan(&mut self, number: u32) {
        let Self { ports, trees, spare, fans, .. } = self;
        let fan = &mut fans.list[number as usize];
        let Some(mut model) = fan.model.take() else { return };
        for (index, (port, _)) in fan.ports.iter().enumerate() {
            let port = &mut ports[port.index()];
            port.leave_fan(&model, spare);
            if index < fan.passed {
                port.take_arrival(fan.passed_at, spare);
            }
        }
        model.give_ring(spare);
        fan.generation += 1;
        fans.free.push(number);
        if let Some(Some(tree)) = trees.get_mut(fan.group.index()) {
            tree.at_mut(fan.node).fan.end(fan.packets);
        }
    }
}
