//! The number of groups and unicast flows that arrive on a link.

use std::collections::BTreeMap;

use contract::{FlowId, GroupId, NodeId, Packet, PortId, TransitCx};
use units::{Duration, Time};

use crate::srmcc::Params;

/// The flows on the incoming links of groups.
#[derive(Clone, Debug)]
pub(super) struct Flows {
    sampled: f64,
    window: Duration,
    /// Sorted by port.
    links: Vec<Link>,
}

/// An incoming link of a group.
#[derive(Clone, Debug)]
struct Link {
    port: PortId,
    /// By flow: its index in `last_seen` plus one; 0 before its first packet.
    indices: Vec<u32>,
    /// Time of the last packet of each.
    last_seen: Vec<Time>,
    /// Indices of unicast flows by their ends; used at a flow's first packet only.
    ends: BTreeMap<(NodeId, NodeId), u32>,
}

impl Flows {
    pub(super) const fn new(params: &Params) -> Self {
        Self { sampled: params.sampled, window: params.window, links: Vec::new() }
    }

    /// Starts counting on `port`.
    #[inline]
    pub(super) fn watch(&mut self, port: PortId) {
        if let Err(at) = self.links.binary_search_by_key(&port, |link| link.port) {
            let link = Link { port, indices: Vec::new(), last_seen: Vec::new(), ends: BTreeMap::new() };
            self.links.insert(at, link);
        }
    }

    /// Records a stream's packet. It counts if the stream has no forwarding entry here: it passes to another tree node,
    /// or to one receiver.
    #[inline]
    pub(super) fn saw_stream(&mut self, packet: &Packet, at: &TransitCx<'_>) {
        let Some(link) = self.link(at.port) else { return };
        link.note(packet, at.now, |link| link.new_index());
    }

    /// Records another packet. Unicast flows are identified by their ends [SRMCC §3.2].
    #[inline]
    pub(super) fn saw_unicast(&mut self, packet: &Packet, at: &mut TransitCx<'_>) {
        let sampled = self.sampled;
        let Some(link) = self.link(at.port) else { return };
        let Some(to) = packet.to.node() else { return };
        if sampled < 1.0 && !at.random.chance(sampled) {
            return;
        }
        let ends = (packet.source.node, to);
        link.note(packet, at.now, |link| match link.ends.get(&ends) {
            Some(index) => *index,
            None => {
                let index = link.new_index();
                link.ends.insert(ends, index);
                index
            }
        });
    }

    /// N(t) of `port`: the groups in the forwarding table, and the other flows with packets in the window before `now`
    /// [SRMCC §3.2].
    pub(super) fn count(&self, port: PortId, groups: &[GroupId], now: Time) -> u64 {
        let entries = groups.len() as u64;
        let Ok(at) = self.links.binary_search_by_key(&port, |link| link.port) else { return entries };
        let link = &self.links[at];
        let recent = |last_seen: &Time| now - *last_seen <= self.window;
        let seen = link.last_seen.iter().filter(|last_seen| recent(last_seen)).count() as u64;
        // a group and its flow have the same number
        let last_seen = |group: &&GroupId| link.last_seen(FlowId(group.0)).is_some_and(|at| recent(&at));
        entries + seen - groups.iter().filter(last_seen).count() as u64
    }

    fn link(&mut self, port: PortId) -> Option<&mut Link> {
        let at = self.links.binary_search_by_key(&port, |link| link.port).ok()?;
        Some(&mut self.links[at])
    }
}

impl Link {
    /// Time of the last packet of a flow.
    fn last_seen(&self, flow: FlowId) -> Option<Time> {
        let index = self.indices.get(flow.index()).copied().filter(|index| *index > 0)?;
        Some(self.last_seen[index as usize - 1])
    }

    /// Records a packet of a flow. `find` returns the index of a new flow.
    #[inline]
    fn note(&mut self, packet: &Packet, now: Time, find: impl FnOnce(&mut Self) -> u32) {
        let flow = packet.flow.index();
        let known = self.indices.get(flow).copied().unwrap_or(0);
        let index = if known > 0 {
            known
        } else {
            let index = find(self);
            if self.indices.len() <= flow {
                self.indices.resize(flow + 1, 0);
            }
            self.indices[flow] = index;
            index
        };
        self.last_seen[index as usize - 1] = now;
    }

    /// A new index.
    fn new_index(&mut self) -> u32 {
        self.last_seen.push(Time::ZERO);
        self.last_seen.len() as u32
    }
}
