//! A test environment for the parts of a stream scheme.

use contract::{
    Address, Cx, EndpointId, Feedback, FlowId, Label, Meter, NodeId, OutgoingFeedback, Outputs, Random,
    ReceiverCx, SenderAlgorithm,
};
use units::{Bytes, Duration, Time};

/// An algorithm with its clock, context and outputs.
pub(crate) struct StreamBench {
    pub(crate) now: Time,
    me: EndpointId,
    random: Random,
    pub(crate) meter: Meter,
    pub(crate) out: Outputs,
    outgoing: Vec<OutgoingFeedback>,
}

impl StreamBench {
    /// The endpoint `me`, at time zero.
    pub(crate) fn new(me: EndpointId) -> Self {
        let mut out = Outputs::default();
        out.notes.probing = true;
        out.notes.events = true;
        let random = Random::new(1, "test", "");
        Self { now: Time::ZERO, me, random, meter: Meter::default(), out, outgoing: Vec::new() }
    }

    /// Calls an algorithm at the source.
    pub(crate) fn cx<T>(&mut self, call: impl FnOnce(&mut Cx<'_>) -> T) -> T {
        let me = Address { node: NodeId(0), endpoint: self.me };
        call(&mut Cx::new(self.now, me, FlowId(0), &mut self.random, &mut self.meter, &mut self.out))
    }

    /// Calls an algorithm at a receiver. Returns its feedback.
    pub(crate) fn listen(&mut self, call: impl FnOnce(&mut ReceiverCx<'_, '_>)) -> Vec<OutgoingFeedback> {
        let mut outgoing = std::mem::take(&mut self.outgoing);
        self.cx(|cx| call(&mut ReceiverCx::new(cx, &mut outgoing)));
        outgoing
    }

    /// Advances time through the deadlines of a source's algorithm up to and including `end`.
    pub(crate) fn run(&mut self, algorithm: &mut impl SenderAlgorithm, end: Time) {
        while algorithm.wake() <= end {
            self.now = self.now.max(algorithm.wake());
            self.cx(|cx| algorithm.on_timer(cx));
        }
        self.now = end;
    }

    /// Passes feedback that `from` sent at `sent_at` to a source's algorithm.
    pub(crate) fn send_feedback(
        &mut self,
        algorithm: &mut impl SenderAlgorithm,
        from: EndpointId,
        sent_at: Time,
        label: Label,
    ) {
        self.cx(|cx| algorithm.on_feedback(&Feedback { from, sent_at, label }, cx));
    }
}

/// Packet size of all tests.
pub(crate) const PACKET: Bytes = Bytes::new(1000);

/// This many milliseconds after the start.
pub(crate) fn ms(ms: u64) -> Time {
    Time::ZERO + Duration::from_millis(ms)
}

/// Asserts that two numbers agree to nine digits.
#[track_caller]
pub(crate) fn near(found: f64, wanted: f64) {
    assert!((found - wanted).abs() <= 1e-9 * wanted.abs().max(1e-9), "{found}, not {wanted}");
}
