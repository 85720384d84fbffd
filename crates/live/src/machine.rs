//! A state machine of `stack` in a session: its context, and a monotonic clock.

use contract::{Address, Cx, Endpoint, EndpointId, FlowId, Input, Meter, NodeId, Outputs, Packet, Random};
use units::{Duration, Time};

/// Overdue deadlines are handled at their own instants, so that a high rate is kept by batches of packets; but not at instants longer ago
/// than this, which limits the size of a batch.
pub(crate) const CATCH_UP: Duration = Duration::from_millis(2);

/// The flow of a session.
pub(crate) const FLOW: FlowId = FlowId(0);
/// The address of the sender.
pub(crate) const SENDER: Address = Address { node: NodeId(0), endpoint: EndpointId(0) };

/// The address of the receiver with this number, by which schemes identify it.
pub(crate) const fn receiver(peer: u32) -> Address {
    Address { node: NodeId(peer), endpoint: EndpointId(peer) }
}

/// A state machine with its context and clock.
pub(crate) struct Machine<E> {
    pub(crate) endpoint: E,
    me: Address,
    random: Random,
    pub(crate) meter: Meter,
    out: Outputs,
    clock: Time,
}

impl<E: Endpoint> Machine<E> {
    /// The state machine at `me`, with random numbers from `seed`.
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

    /// Gives the state machine an input at `now`, or at its last instant if that is later.
    pub(crate) fn give(&mut self, input: Input<'_>, now: Time) {
        self.with(now, |endpoint, cx| endpoint.handle(input, cx));
    }

    /// Calls `act` with the state machine.
    pub(crate) fn with<T>(&mut self, now: Time, act: impl FnOnce(&mut E, &mut Cx<'_>) -> T) -> T {
        self.clock = self.clock.max(now);
        let mut cx = Cx::new(self.clock, self.me, FLOW, &mut self.random, &mut self.meter, &mut self.out);
        act(&mut self.endpoint, &mut cx)
    }

    /// Its next deadline.
    pub(crate) fn wake(&self) -> Time {
        self.endpoint.wake()
    }

    /// Handles its next deadline if it is due. Returns false if it is not.
    pub(crate) fn tick(&mut self, now: Time) -> bool {
        let due = self.endpoint.wake();
        if due > now {
            return false;
        }
        self.give(Input::Timer, due.max(now - CATCH_UP));
        true
    }

    /// Appends the packets that it sent to `packets`.
    pub(crate) fn collect(&mut self, packets: &mut Vec<Packet>) {
        let Outputs { arena, outbox, .. } = &mut self.out;
        packets.extend(outbox.drain(..).map(|id| {
            let packet = *arena.get(id);
            arena.release(id);
            packet
        }));
    }
}
