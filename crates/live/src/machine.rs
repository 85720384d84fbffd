//! A state machine of `stack` in a session: its context, and a monotonic clock.

use contract::{Address, Cx, Endpoint, EndpointId, FlowId, Input, Meter, NodeId, Outputs, Packet, Random};
use units::{Duration, Time};

/// Deadlines are handled at their own instants though the loop comes late, so that a high rate is kept by batches of packets; but not at
/// instants longer ago than this, so that no batch is longer.
pub(crate) const CATCH_UP: Duration = Duration::from_millis(2);

/// The flow that a session is.
pub(crate) const FLOW: FlowId = FlowId(0);
/// The sender's place.
pub(crate) const SENDER: Address = Address { node: NodeId(0), endpoint: EndpointId(0) };

/// The place of the receiver with this number. Schemes know it by this.
pub(crate) const fn receiver(peer: u32) -> Address {
    Address { node: NodeId(peer), endpoint: EndpointId(peer) }
}

/// A machine, its context, and its clock.
pub(crate) struct Machine<E> {
    pub(crate) endpoint: E,
    me: Address,
    random: Random,
    pub(crate) meter: Meter,
    out: Outputs,
    clock: Time,
}

impl<E: Endpoint> Machine<E> {
    /// The machine at `me`, which draws from `seed`.
    pub(crate) fn new(endpoint: E, me: Address, seed: u64) -> Self {
        Self {
            endpoint,
            me,
            random: Random::new(seed, "live", "machine"),
            meter: Meter::default(),
            out: Outputs::default(),
            clock: Time::ZERO,
        }
    }

    /// Runs the machine on one input at `now`, or at the last instant that it saw, whichever is later.
    pub(crate) fn give(&mut self, input: Input<'_>, now: Time) {
        self.with(now, |endpoint, cx| endpoint.handle(input, cx));
    }

    /// Runs `act` on the machine.
    pub(crate) fn with<T>(&mut self, now: Time, act: impl FnOnce(&mut E, &mut Cx<'_>) -> T) -> T {
        self.clock = self.clock.max(now);
        let mut cx = Cx::new(self.clock, self.me, FLOW, &mut self.random, &mut self.meter, &mut self.out);
        act(&mut self.endpoint, &mut cx)
    }

    /// When it has something to do.
    pub(crate) fn wake(&self) -> Time {
        self.endpoint.wake()
    }

    /// Handles its next deadline if that has come; false where it has not.
    pub(crate) fn tick(&mut self, now: Time) -> bool {
        let due = self.endpoint.wake();
        if due > now {
            return false;
        }
        self.give(Input::Timer, due.max(now - CATCH_UP));
        true
    }

    /// Moves what it sent to the end of `packets`.
    pub(crate) fn collect(&mut self, packets: &mut Vec<Packet>) {
        let Outputs { arena, outbox, .. } = &mut self.out;
        packets.extend(outbox.drain(..).map(|id| {
            let packet = *arena.get(id);
            arena.release(id);
            packet
        }));
    }
}
