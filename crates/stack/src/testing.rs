//! A test environment for state machines: a context, and a clock that follows their deadlines.

use contract::{Address, Cx, Endpoint, EndpointId, FlowId, Input, Meter, NodeId, Outputs, Packet, Random};
use units::Time;

/// One state machine with its outputs.
pub(crate) struct Bench {
    pub(crate) now: Time,
    pub(crate) meter: Meter,
    pub(crate) out: Outputs,
    random: Random,
}

impl Bench {
    /// A bench at time zero; state machines draw from `seed`.
    pub(crate) fn new(seed: u64) -> Self {
        let mut out = Outputs::default();
        out.notes.probing = true;
        out.notes.events = true;
        Self { now: Time::ZERO, meter: Meter::default(), out, random: Random::new(seed, "bench", "") }
    }

    /// Gives `input` to the state machine at the current time.
    pub(crate) fn input(&mut self, machine: &mut impl Endpoint, input: Input<'_>) {
        let mut cx = Cx::new(self.now, ME, FLOW, &mut self.random, &mut self.meter, &mut self.out);
        machine.handle(input, &mut cx);
    }

    /// Advances time through the deadlines of the state machine up to and including `end`. Returns the packets that it
    /// sent.
    pub(crate) fn run(&mut self, machine: &mut impl Endpoint, end: Time) -> Vec<Packet> {
        let mut sent = self.sent();
        while machine.wake() <= end {
            self.now = self.now.max(machine.wake());
            self.input(machine, Input::Timer);
            sent.extend(self.sent());
        }
        self.now = end;
        sent
    }

    /// Takes the packets that were sent since the last call.
    pub(crate) fn sent(&mut self) -> Vec<Packet> {
        let Outputs { arena, outbox, .. } = &mut self.out;
        outbox
            .drain(..)
            .map(|id| {
                let packet = *arena.get(id);
                arena.release(id);
                packet
            })
            .collect()
    }

    /// The values of the series `name` up to now.
    pub(crate) fn values(&self, name: &str) -> Vec<f64> {
        self.out.notes.pending.iter().filter(|note| note.name == name).map(|note| note.value).collect()
    }
}

/// The state machine under test.
pub(crate) const ME: Address = Address { node: NodeId(1), endpoint: EndpointId(11) };
/// The state machine it exchanges packets with.
pub(crate) const OTHER: Address = Address { node: NodeId(2), endpoint: EndpointId(22) };
/// Their flow.
pub(crate) const FLOW: FlowId = FlowId(5);
