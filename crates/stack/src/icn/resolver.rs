//! The name resolution system (NRS): binds a group's identifier to the addresses of its tree nodes [SRMCC §3.1].

use std::collections::BTreeMap;

use contract::{
    Count, DropReason, Eid, FlowId, Header, Label, NodeCx, RESOLVED, Registration, Router, RouterInput,
    Signal,
};
use units::Time;

use super::Config;

/// Answers resolution requests. Registrations that are not refreshed are removed.
#[derive(Clone, Debug)]
pub struct Resolver {
    config: Config,
    names: BTreeMap<Eid, Vec<(Registration, Time)>>,
    /// No registration expires before this.
    next: Time,
}

impl Resolver {
    /// A resolver without registrations.
    pub fn new(config: &Config) -> Self {
        Self { config: config.clone(), names: BTreeMap::new(), next: Time::NEVER }
    }

    /// Number of names with registrations.
    pub fn names(&self) -> usize {
        self.names.len()
    }

    fn register(&mut self, gumgid: Eid, node: Registration, now: Time) {
        let known = self.names.entry(gumgid).or_default();
        let until = now + self.config.soft_state_lifetime();
        self.next = self.next.min(until);
        match known.iter_mut().find(|(old, _)| old.at == node.at) {
            Some(old) => *old = (node, until),
            None => known.push((node, until)),
        }
    }

    /// Removes registrations that were not refreshed.
    fn forget(&mut self, now: Time) {
        self.names.values_mut().for_each(|known| known.retain(|(_, until)| *until > now));
        self.names.retain(|_, known| !known.is_empty());
        let ends = self.names.values().flatten().map(|(_, until)| *until);
        self.next = ends.min().unwrap_or(Time::NEVER);
    }

    /// The tree nodes of a group that are closest to its root, as many as one answer holds.
    fn look_up(&self, gumgid: Eid, now: Time) -> (u8, [Registration; RESOLVED]) {
        let (mut count, mut nodes) = (0, [Registration::default(); RESOLVED]);
        let known = self.names.get(&gumgid).map_or(&[][..], Vec::as_slice);
        for (node, _) in known.iter().filter(|(_, until)| *until > now) {
            let nearer = |other: &Registration| (other.cost, other.at) < (node.cost, node.at);
            let at = nodes[..count].partition_point(nearer);
            if let Some(after) = nodes.get_mut(at..).filter(|after| !after.is_empty()) {
                after.rotate_right(1);
                after[0] = *node;
                count = (count + 1).min(RESOLVED);
            }
        }
        (count as u8, nodes)
    }
}

impl Router for Resolver {
    fn handle(&mut self, input: RouterInput<'_>, cx: &mut NodeCx<'_, '_>) -> Option<DropReason> {
        let now = cx.now();
        let RouterInput::Packet(packet, _) = input else {
            if self.next <= now {
                self.forget(now);
            }
            return None;
        };
        match packet.header {
            Header::Signal(Signal::Register { gumgid, node }) => self.register(gumgid, node, now),
            Header::Signal(Signal::Withdraw { gumgid }) => {
                if let Some(known) = self.names.get_mut(&gumgid) {
                    known.retain(|(node, _)| node.at != packet.source);
                    if known.is_empty() {
                        self.names.remove(&gumgid);
                    }
                }
            }
            Header::Signal(Signal::Resolve { group, gumgid }) => {
                let (count, nodes) = self.look_up(gumgid, now);
                let header = Header::Signal(Signal::Resolved { group, count, nodes });
                cx.count(Count::Signals, 1);
                let to = packet.source.into();
                cx.send_for(FlowId(group.0), to, self.config.signal, header, Label::default());
            }
            _ => cx.count(Count::Ignored, 1),
        }
        None
    }

    fn wake(&self) -> Time {
        self.next
    }
}
