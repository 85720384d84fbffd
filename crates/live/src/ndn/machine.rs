//! A state machine of `stack` with its context.

use contract::{Address, Cx, Endpoint, EndpointId, FlowId, Input, Meter, NodeId, Outputs, Packet, Random};
use units::Time;

/// A machine, its chance, its counters and its outbox.
#[derive(Debug)]
pub(super) struct Machine<M> {
    pub(super) endpoint: M,
    pub(super) meter: Meter,
    random: Random,
    out: Outputs,
}

impl<M: Endpoint> Machine<M> {
    pub(super) fn new(endpoint: M, seed: u64) -> Self {
        let random = Random::new(seed, "ndn", "consumer");
        Self { endpoint, meter: Meter::default(), random, out: Outputs::default() }
    }

    /// Gives it one input.
    pub(super) fn give(&mut self, input: Input<'_>, now: Time) {
        let me = Address { node: NodeId(0), endpoint: EndpointId(0) };
        let mut cx = Cx::new(now, me, FlowId(0), &mut self.random, &mut self.meter, &mut self.out);
        self.endpoint.handle(input, &mut cx);
    }

    /// Whether there is something in its outbox.
    pub(super) fn has_output(&self) -> bool {
        !self.out.outbox.is_empty()
    }

    /// Takes what it has put into its outbox, in order.
    pub(super) fn drain(&mut self, mut each: impl FnMut(&Packet)) {
        let Outputs { arena, outbox, .. } = &mut self.out;
        for id in outbox.drain(..) {
            each(arena.get(id));
            arena.release(id);
        }
    }
}
