//! Clocks of nodes: offset and drift relative to true time.
//!
//! The engine has true time. A state machine receives the time of its node's clock. Its deadlines are by that clock,
//! and so is the time stamp of a packet, which only its sender's clock can interpret. If all clocks are exact, there is
//! no conversion.

use contract::{
    Cx, DropReason, Endpoint, Header, Input, Meter, Name, NodeCx, NodeId, Packet, PortView, Router,
    RouterInput, TransitCx,
};
use units::{Clock, Drift, Duration, Time};

use super::any_node::AnyNode;
use super::endpoint::AnyEndpoint;
use crate::Blueprint;

/// The clocks of all nodes.
#[derive(Default)]
pub(super) struct Clocks {
    /// Per node; empty if all clocks are exact.
    all: Vec<Clock>,
}

impl Clocks {
    /// The clocks of a blueprint. Instants are not negative, so if a clock is behind, all others are set ahead by its
    /// offset: only differences are observable.
    pub(super) fn new(blueprint: &Blueprint) -> Self {
        if blueprint.clocks.is_empty() {
            return Self::default();
        }
        let behind = blueprint.clocks.iter().map(|clock| clock.offset.as_nanos()).min().unwrap_or(0).min(0);
        let epoch = behind.unsigned_abs();
        let mut all = vec![Clock::new(Duration::from_nanos(epoch), Drift::ZERO); blueprint.nodes.len()];
        for spec in &blueprint.clocks {
            let base = epoch.saturating_add_signed(spec.offset.as_nanos());
            if let Some(clock) = all.get_mut(spec.node.index()) {
                *clock = Clock::new(Duration::from_nanos(base), spec.drift);
            }
        }
        Self { all }
    }

    /// Whether all clocks are exact.
    pub(super) fn are_exact(&self) -> bool {
        self.all.is_empty()
    }

    /// The clock of a node; `None` if all clocks are exact.
    pub(super) fn of(&self, node: NodeId) -> Option<Clock> {
        self.all.get(node.index()).copied()
    }

    /// The true time of an instant `local_time` by the clock of `node`.
    pub(super) fn true_time(&self, node: NodeId, local_time: Time) -> Time {
        self.of(node).map_or(local_time, |clock| clock.first(local_time))
    }

    /// Makes instants by the clock of `node` that an endpoint counted ones of true time.
    pub(super) fn correct(&self, node: NodeId, meter: &mut Meter) {
        meter.completed_at = self.true_time(node, meter.completed_at);
        if meter.media().played_at < Time::NEVER {
            let played_at = &mut meter.media_mut().played_at;
            *played_at = self.true_time(node, *played_at);
        }
    }

    /// A state machine at `node`, with the clock of the node if that is not exact.
    pub(super) fn wrap<M: WithClock>(&self, node: NodeId, machine: M) -> M {
        const EXACT: Clock = Clock::new(Duration::ZERO, Drift::ZERO);
        match self.of(node) {
            Some(clock) if clock != EXACT => M::with(Clocked { clock, machine }),
            _ => machine,
        }
    }
}

/// A state machine at a node whose clock is not exact.
pub(super) struct Clocked<M> {
    clock: Clock,
    pub machine: M,
}

impl<M: Endpoint> Endpoint for Clocked<M> {
    fn handle(&mut self, input: Input<'_>, cx: &mut Cx<'_>) {
        let local_time = self.clock.local_time(cx.now());
        self.machine.handle(input, &mut cx.at(local_time));
    }

    fn wake(&self) -> Time {
        self.clock.first(self.machine.wake())
    }

    fn next_name(&self) -> Option<Name> {
        self.machine.next_name()
    }

    fn take_payload(&mut self, packet: &Packet, payload: &mut Vec<u8>) -> bool {
        self.machine.take_payload(packet, payload)
    }

    fn put_payload(&mut self, payload: &[u8], now: Time) -> Option<Header> {
        self.machine.put_payload(payload, self.clock.local_time(now))
    }
}

impl<M: Router> Router for Clocked<M> {
    fn handle(&mut self, input: RouterInput<'_>, cx: &mut NodeCx<'_, '_>) -> Option<DropReason> {
        let local_time = self.clock.local_time(cx.now());
        cx.at(local_time, |cx| self.machine.handle(input, cx))
    }

    fn takes(&self, packet: &Packet) -> bool {
        self.machine.takes(packet)
    }

    fn on_arrival(&mut self, packet: &Packet, at: &mut TransitCx<'_>) {
        let now = self.clock.local_time(at.now);
        self.machine.on_arrival(packet, &mut TransitCx { now, port: at.port, random: at.random });
    }

    fn on_enqueue(&mut self, packet: &mut Packet, port: &PortView, at: &mut TransitCx<'_>) {
        let now = self.clock.local_time(at.now);
        self.machine.on_enqueue(packet, port, &mut TransitCx { now, port: at.port, random: at.random });
    }

    fn on_dequeue(&mut self, packet: &mut Packet, port: &PortView, waited: Duration, at: &mut TransitCx<'_>) {
        let now = self.clock.local_time(at.now);
        let waited = now - self.clock.local_time(at.now - waited);
        self.machine.on_dequeue(
            packet,
            port,
            waited,
            &mut TransitCx { now, port: at.port, random: at.random },
        );
    }

    fn wake(&self) -> Time {
        self.clock.first(self.machine.wake())
    }
}

impl AnyNode {
    /// The state machine without its clock.
    pub(super) fn plain(&self) -> &Self {
        if let Self::Clocked(clocked) = self { clocked.machine.plain() } else { self }
    }

    /// The state machine without its clock.
    pub(super) fn plain_mut(&mut self) -> &mut Self {
        if let Self::Clocked(clocked) = self { clocked.machine.plain_mut() } else { self }
    }
}

/// A state machine that can be combined with a clock.
pub(super) trait WithClock: Sized {
    fn with(clocked: Clocked<Self>) -> Self;
}

impl WithClock for AnyEndpoint {
    fn with(clocked: Clocked<Self>) -> Self {
        Self::Clocked(Box::new(clocked))
    }
}

impl WithClock for AnyNode {
    fn with(clocked: Clocked<Self>) -> Self {
        Self::Clocked(Box::new(clocked))
    }
}
