//! Copies of a group's packet for many branches of its tree. Links that are idle carry one packet for all of them, and
//! copies that arrive at one instant have one entry in the agenda.

use contract::{Arena, DropReason, GroupId, NodeId, PacketId, PortId};

use units::Time;

use super::World;
use crate::agenda::{AgendaEvent, Burst, FanId, Kind};
use crate::fabric::{ArrivalPath, FanOffer};
use crate::trace::Subject;

/// See [`Shares::min_branches`].
const MIN_BRANCHES: usize = 4;
/// In the number of hops of a packet: it stands for its copies on several links.
const SHARED: u8 = 0x80;
/// Arrivals of a burst request ports so many arrivals ahead, and what those lead to so many.
const PORTS_AHEAD: usize = 16;
const HOSTS_AHEAD: usize = 8;

/// Packets that stand for several copies.
#[derive(Debug)]
pub(super) struct Shares {
    /// Packets for fewer branches are copied.
    min_branches: usize,
    /// The number of copies, by packet.
    copies: Vec<u32>,
    /// Copies beyond the first of each packet, which the arena does not count.
    more: usize,
}

impl Default for Shares {
    fn default() -> Self {
        Self { min_branches: MIN_BRANCHES, copies: Vec::new(), more: 0 }
    }
}

impl Shares {
    /// Gives every copy a packet of its own from now on.
    pub(super) const fn share_nothing(&mut self) {
        self.min_branches = usize::MAX;
    }

    /// Copies that have no place in the arena.
    pub(super) const fn more(&self) -> usize {
        self.more
    }

    /// Lets a packet stand for `count` copies, at least one.
    fn share(&mut self, id: PacketId, count: usize) {
        if self.copies.len() <= id.index() {
            self.copies.resize(id.index() + 1, 0);
        }
        self.copies[id.index()] = count as u32;
        self.more += count - 1;
    }

    /// Ends one of the copies that a packet stands for. The last one is the packet itself.
    #[inline]
    fn release(&mut self, arena: &mut Arena, id: PacketId) {
        let copies = &mut self.copies[id.index()];
        *copies -= 1;
        match *copies {
            0 => arena.release(id),
            _ => self.more -= 1,
        }
    }

    /// A packet of its own for one of the copies that a packet stands for.
    fn unshare(&mut self, arena: &mut Arena, id: PacketId) -> PacketId {
        let mut packet = *arena.get(id);
        packet.hops &= !SHARED;
        self.release(arena, id);
        arena.insert(packet)
    }
}

impl World {
    /// Sends copies of a group's packet along the branches of its tree at `node`, if these are many. Returns whether
    /// they are; then `id` is no longer live, unless it stands for copies.
    #[inline]
    pub(super) fn send_copies(
        &mut self,
        node: NodeId,
        group: GroupId,
        id: PacketId,
        branches: usize,
    ) -> bool {
        if branches < self.shares.min_branches {
            return false;
        }
        if self.is_large {
            self.share_among::<true>(node, group, id, branches);
        } else {
            self.share_among::<false>(node, group, id, branches);
        }
        true
    }

    #[inline(never)]
    fn share_among<const LARGE: bool>(
        &mut self,
        node: NodeId,
        group: GroupId,
        id: PacketId,
        branches: usize,
    ) {
        let packet = *self.out.arena.get(id);
        self.out.arena.get_mut(id).hops |= SHARED;
        let offer = self.fabric.launch_fan((group, node), (id, packet.size_bytes), self.now);
        if let Some(FanOffer { fan, ports, arrive }) = offer {
            if let Some(at) = arrive {
                self.fabric.schedule_fan(fan, at, &mut self.agenda);
            }
            self.shares.share(id, ports);
            return self.accounts.count_hops(ports as u64);
        }
        let (mut number, mut shared) = (0, 0);
        loop {
            let Self { now, agenda, fabric, .. } = self;
            let end = fabric.launch::<LARGE>((group, node), number, (id, packet.size_bytes), *now, agenda);
            if end - number == branches {
                fabric.form_fan(group, node, *now, agenda);
            }
            shared += end - number;
            number = end;
            let Some(branch) = self.fabric.branch(group, node, number) else { break };
            let copy = self.out.arena.insert(packet);
            self.offer(branch, copy);
            number += 1;
        }
        debug_assert!(number == branches, "offers do not change the tree");
        if shared == 0 {
            self.out.arena.release(id);
        } else {
            self.shares.share(id, shared);
            self.accounts.count_hops(shared as u64);
        }
    }

    /// Handles an arrival event that no packet of its port explains: a burst of arrivals, a packet that an impaired
    /// link held, or a stale event.
    #[inline(never)]
    pub(super) fn arrive_otherwise(&mut self, port: PortId, what: AgendaEvent) {
        let Some((mut burst, [begin, end])) = self.agenda.take_burst(self.now, what) else {
            return self.arrive_held(port, what);
        };
        let of_fan = burst.fan.is_some_and(|fan| self.arrive_of_fan(fan, &mut burst, begin, end));
        for number in if of_fan { end..end } else { begin..end } {
            if self.is_large {
                self.prefetch_burst(|ahead| Some(PortId(burst.port(number + ahead)?)));
            }
            let Some(port) = burst.port(number) else { break };
            self.arrive_in_burst(PortId(port));
        }
        self.agenda.return_burst(self.now, what, burst, end);
    }

    /// Lets a packet arrive at the ends of the links `begin..end` of a fan. Returns false if the fan has ended.
    #[inline]
    fn arrive_of_fan(&mut self, fan: FanId, burst: &mut Burst, begin: usize, end: usize) -> bool {
        let Some((id, next)) = self.fabric.first_of_fan(fan, self.now) else { return false };
        for index in begin..end {
            let (port, node) = self.fabric.pass_fan(fan, index);
            if self.is_large
                && let Some(node) = self.fabric.end_of_fan(fan, index + HOSTS_AHEAD)
            {
                self.hosts.prefetch_at(node);
            }
            if next != Time::NEVER {
                match index {
                    0 => burst.next_of_fan = self.agenda.begin_fan(next, port, fan),
                    _ => self.agenda.push_of_fan(burst.next_of_fan, port),
                }
            }
            self.accounts.count_event(self.now, AgendaEvent::new(Kind::Arrive, port.0));
            self.arrive_shared(node, id);
        }
        self.fabric.take_from_fan(fan, self.now);
        true
    }

    /// Requests what later arrivals of a burst need.
    #[inline]
    fn prefetch_burst(&self, port: impl Fn(usize) -> Option<PortId>) {
        if let Some(port) = port(PORTS_AHEAD) {
            self.fabric.prefetch_armed(port);
        }
        if let Some((_, node)) = port(HOSTS_AHEAD).and_then(|port| self.fabric.prefetch_arrival(port)) {
            self.hosts.prefetch_at(node);
        }
    }

    #[inline]
    fn arrive_in_burst(&mut self, port: PortId) {
        let what = AgendaEvent::new(Kind::Arrive, port.0);
        let Some(arrival) = self.fabric.arrive(port, self.now) else { return self.arrive_held(port, what) };
        self.agenda.push_arrival(arrival.next, port.0);
        let (id, node) = (arrival.packet, arrival.node);
        if arrival.path == ArrivalPath::Fast && self.out.arena.get(id).hops & SHARED != 0 {
            self.accounts.count_event(self.now, what);
            return self.arrive_shared(node, id);
        }
        self.end_arrival(port, arrival, what);
    }

    /// Delivers one of the copies that a packet stands for, or sends it on as a packet of its own.
    #[inline]
    fn arrive_shared(&mut self, node: NodeId, id: PacketId) {
        let mut packet = *self.out.arena.get(id);
        packet.hops = (packet.hops & !SHARED) + 1;
        let member = packet.to.as_group().and_then(|group| self.fabric.only_member(group, node));
        if let Some(member) = member
            && self.hosts.endpoint(member).accepts(packet.sent_at)
        {
            self.shares.release(&mut self.out.arena, id);
            return self.give_packet(member, &packet, packet.sent_at);
        }
        let id = self.shares.unshare(&mut self.out.arena, id);
        self.arrive(node, id);
    }

    /// Handles a packet with too many hops, or one that stands for several copies, whose hops were counted up.
    #[cold]
    pub(super) fn exceed_hops(&mut self, node: NodeId, id: PacketId) {
        let packet = self.out.arena.get_mut(id);
        if packet.hops & SHARED == 0 {
            return self.drop(id, DropReason::HopLimit, Subject::Node(node));
        }
        packet.hops -= 1;
        self.arrive_shared(node, id);
    }

    /// Ends a packet that is delivered or dropped.
    #[inline]
    pub(super) fn release(&mut self, id: PacketId) {
        if self.out.arena.get(id).hops & SHARED != 0 {
            self.shares.release(&mut self.out.arena, id);
        } else {
            self.out.arena.release(id);
        }
    }
}

#[cfg(test)]
mod tests;
