//! The number of groups and unicast flows that arrive on a link.

use std::collections::BTreeMap;

use contract::{NodeId, Packet, PortId, TransitCx};
use units::{Duration, Time};

use crate::srmcc::Params;

/// The flows that come in by the links that groups come in by.
#[derive(Clone, Debug)]
pub(super) struct Flows {
    sampled: f64,
    window: Duration,
    /// In the order of ports.
    links: Vec<Link>,
}

/// A link that a group comes in by.
#[derive(Clone, Debug)]
struct Link {
    port: PortId,
    /// By flow: its place in `seen`, plus one; 0 before its first packet.
    places: Vec<u32>,
    /// When each was last seen.
    seen: Vec<Time>,
    /// Places of unicast flows by their ends. Looked up at a flow's first packet only.
    ends: BTreeMap<(NodeId, NodeId), u32>,
}

impl Flows {
    pub(super) const fn new(params: &Params) -> Self {
        Self { sampled: params.sampled, window: params.window, links: Vec::new() }
    }

    /// Counts what comes in by `port` from now on.
    #[inline]
    pub(super) fn watch(&mut self, port: PortId) {
        if let Err(at) = self.links.binary_search_by_key(&port, |link| link.port) {
            let link = Link { port, places: Vec::new(), seen: Vec::new(), ends: BTreeMap::new() };
            self.links.insert(at, link);
        }
    }

    /// A stream's packet came in. Groups are known by their forwarding entries, so every packet is looked at.
    #[inline]
    pub(super) fn saw_stream(&mut self, packet: &Packet, at: &TransitCx<'_>) {
        let Some(link) = self.link(at.port) else { return };
        link.note(packet, at.now, |link| link.place());
    }

    /// A packet of another kind came in. Unicast flows are told apart by their ends [SRMCC §3.2].
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
            Some(place) => *place,
            None => {
                let place = link.place();
                link.ends.insert(ends, place);
                place
            }
        });
    }

    /// N(t): flows that came in by `port` within the window before `now`.
    pub(super) fn count(&self, port: PortId, now: Time) -> u64 {
        let Ok(at) = self.links.binary_search_by_key(&port, |link| link.port) else { return 0 };
        self.links[at].seen.iter().filter(|seen| now - **seen <= self.window).count() as u64
    }

    fn link(&mut self, port: PortId) -> Option<&mut Link> {
        let at = self.links.binary_search_by_key(&port, |link| link.port).ok()?;
        Some(&mut self.links[at])
    }
}

impl Link {
    /// Notes a packet of a flow; `find` finds the place of a flow that is new.
    #[inline]
    fn note(&mut self, packet: &Packet, now: Time, find: impl FnOnce(&mut Self) -> u32) {
        let flow = packet.flow.index();
        let known = self.places.get(flow).copied().unwrap_or(0);
        let place = if known > 0 {
            known
        } else {
            let place = find(self);
            if self.places.len() <= flow {
                self.places.resize(flow + 1, 0);
            }
            self.places[flow] = place;
            place
        };
        self.seen[place as usize - 1] = now;
    }

    /// A new place.
    fn place(&mut self) -> u32 {
        self.seen.push(Time::ZERO);
        self.seen.len() as u32
    }
}
