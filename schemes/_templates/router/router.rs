//! The part in a router: it observes the queue that a group's packet is about to join, and notifies the source.

use contract::{GroupId, Header, Label, Packet, PortView, RouterAlgorithm, RouterCx, TransitCx};
use units::Time;

use super::{Params, mark};

/// The router's algorithm.
#[derive(Clone, Debug)]
pub struct Router {
    mark: u64,
    threshold: f64,
    /// Groups to notify at once, and since when.
    pending: Vec<GroupId>,
    found_at: Time,
}

impl Router {
    /// The algorithm, with its parameters.
    pub fn new(params: &Params) -> Self {
        Self { mark: mark(params), threshold: params.threshold, pending: Vec::new(), found_at: Time::NEVER }
    }
}

impl RouterAlgorithm for Router {
    fn on_enqueue(&mut self, packet: &mut Packet, port: &PortView, at: &mut TransitCx<'_>) {
        if !matches!(packet.header, Header::Stream(_)) || packet.label.0[0] != self.mark {
            return;
        }
        // the binary signal: the resource is above its knee                                     [CJ89 §2]
        if f64::from(port.backlog.packets) < self.threshold * f64::from(port.limit.packets) {
            return;
        }
        // a group has the number of its flow
        let group = GroupId(packet.flow.0);
        if !self.pending.contains(&group) {
            self.pending.push(group);
            self.found_at = at.now;
        }
    }

    fn on_timer(&mut self, cx: &mut RouterCx<'_, '_, '_>) {
        for group in self.pending.drain(..) {
            cx.notify(group, Label([self.mark, 0, 0, 0]));
        }
    }

    fn wake(&self) -> Time {
        if self.pending.is_empty() { Time::NEVER } else { self.found_at }
    }
}
