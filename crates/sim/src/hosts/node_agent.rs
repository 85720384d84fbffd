//! The SDN agent of a node, with the node's clock.

use contract::{DropReason, NodeCx, RouterInput};
use stack::sdn::Agent;
use units::{Clock, Time};

/// The agent of a node, with the node's clock if that is not exact.
pub(super) struct NodeAgent {
    pub(super) machine: Agent,
    pub(super) clock: Option<Clock>,
}

impl NodeAgent {
    pub(super) fn handle(&mut self, input: RouterInput<'_>, cx: &mut NodeCx<'_, '_>) -> Option<DropReason> {
        let Some(clock) = self.clock else { return self.machine.handle(input, cx) };
        cx.at(clock.local_time(cx.now()), |cx| self.machine.handle(input, cx))
    }

    #[inline]
    pub(super) fn wake(&self) -> Time {
        self.clock.map_or(self.machine.wake(), |clock| clock.first(self.machine.wake()))
    }
}
