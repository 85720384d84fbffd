//! Copies of a group's packet for the branches of its tree at a node.

use contract::{EndpointId, GroupId, NodeId, PacketId, PortId};
use units::Time;

use super::{Fabric, Offer};
use crate::agenda::Agenda;

/// Copies request ports so many copies ahead, and the slots of their rings, which the ports name, so many.
const PORTS_AHEAD: usize = 16;
const SLOTS_AHEAD: usize = 8;

impl Fabric {
    /// Offers one packet for all of them to the branches of a group's tree at `node` from number `first` on, as long as
    /// their links are idle, and schedules its arrivals. Returns the number of the first branch whose link is not.
    #[inline]
    pub(crate) fn launch<const LARGE: bool>(
        &mut self,
        (group, node): (GroupId, NodeId),
        first: usize,
        (id, size_bytes): (PacketId, u32),
        now: Time,
        agenda: &mut Agenda,
    ) -> usize {
        let Self { ports, trees, spare, .. } = self;
        let branches =
            trees.get(group.index()).and_then(Option::as_ref).map_or(&[][..], |tree| &tree.at(node).branches);
        for (number, &branch) in branches.iter().enumerate().skip(first) {
            if LARGE {
                if let Some(&port) = branches.get(number + PORTS_AHEAD) {
                    ports[port.index()].prefetch_offer();
                }
                if let Some(&port) = branches.get(number + SLOTS_AHEAD) {
                    ports[port.index()].prefetch_slot();
                }
            }
            let port = &mut ports[branch.index()];
            if !port.is_idle(now) {
                return number;
            }
            if let Offer::Arrive(at) = port.launch(now, id, size_bytes, spare) {
                agenda.push_arrival(at, branch.0);
            }
        }
        branches.len()
    }

    /// The branch `number` of a group's tree at `node`.
    pub(crate) fn branch(&self, group: GroupId, node: NodeId, number: usize) -> Option<PortId> {
        self.tree_at(group, node)?.branches.get(number).copied()
    }

    /// The member of a group at `node`, if it is the only one and no branch of the tree leads on from there.
    #[inline]
    pub(crate) fn only_member(&self, group: GroupId, node: NodeId) -> Option<EndpointId> {
        self.trees.get(group.index())?.as_ref()?.only_member(node)
    }
}
