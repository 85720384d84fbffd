//! An endpoint of `stack` with its context: random stream, counters, outputs, and a clock that never goes back.

use contract::{Address, Cx, Endpoint, FlowId, Input, Meter, Outputs, Packet, Random};
use units::{Duration, Time};

/// Overdue deadlines are handled at their own instants, so that a high rate is kept by batches of packets; but not at
/// instants longer ago than this, which limits the size of a batch.
const CATCH_UP: Duration = Duration::from_millis(2);

/// A state machine with its context and clock.
#[derive(Debug)]
pub struct StateMachine<E> {
    /// The state machine.
    pub endpoint: E,
    /// Its counters.
    pub meter: Meter,
    /// What it has put out since the outputs were last drained.
    pub out: Outputs,
    address: Address,
    flow: FlowId,
    random: Random,
    clock: Time,
}

impl<E: Endpoint> StateMachine<E> {
    /// The state machine at `address`, as an end of `flow`.
    pub fn new(endpoint: E, address: Address, flow: FlowId, random: Random) -> Self {
        Self {
            endpoint,
            meter: Meter::default(),
            out: Outputs::default(),
            address,
            flow,
            random,
            clock: Time::ZERO,
        }
    }

    /// Gives the state machine an input at `now`, or at its last instant if that is later.
    pub fn handle(&mut self, input: Input<'_>, now: Time) {
        self.with(now, |endpoint, cx| endpoint.handle(input, cx));
    }

    /// Calls `act` with the state machine.
    pub fn with<T>(&mut self, now: Time, act: impl FnOnce(&mut E, &mut Cx<'_>) -> T) -> T {
        self.clock = self.clock.max(now);
        let Self { address, flow, random, meter, out, .. } = self;
        act(&mut self.endpoint, &mut Cx::new(self.clock, *address, *flow, random, meter, out))
    }

    /// Its next deadline.
    pub fn wake(&self) -> Time {
        self.endpoint.wake()
    }

    /// Handles its next deadline if it is due, at its own instant or 2 ms before `now`. Returns false if it is not due.
    pub fn on_time(&mut self, now: Time) -> bool {
        let due = self.endpoint.wake();
        if due > now {
            return false;
        }
        self.handle(Input::Timer, due.max(now - CATCH_UP));
        true
    }

    /// Whether packets wait in its outbox.
    pub fn has_output(&self) -> bool {
        !self.out.outbox.is_empty()
    }

    /// Takes the packets of its outbox, in order.
    pub fn drain(&mut self, mut each: impl FnMut(&Packet)) {
        self.drain_with(|_, packet| each(packet));
    }

    /// Takes the packets of its outbox with the state machine, which can have the payloads of packets.
    pub fn drain_with(&mut self, mut each: impl FnMut(&mut E, &Packet)) {
        let Self { endpoint, out: Outputs { arena, outbox, .. }, .. } = self;
        for id in outbox.drain(..) {
            each(endpoint, arena.get(id));
            arena.release(id);
        }
    }
}
