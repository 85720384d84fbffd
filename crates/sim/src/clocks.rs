//! Clocks of nodes: what machines see of time, where that is not the time itself.
//!
//! The engine keeps true time. A machine is told what its node's clock shows, its deadlines are by that clock, and so is the time
//! stamp that a packet carries, which only its sender's clock can read. Where all clocks are right nothing here is done.

use contract::{
    Cx, DropReason, Endpoint, Input, NodeCx, NodeId, Packet, PortView, Router, RouterInput, TransitCx,
};
use units::{Clock, Drift, Duration, Time};

use crate::Blueprint;
use crate::machine::AnyNode;
use crate::peer::{AnyEndpoint, Peer};
use crate::world::World;

/// The clocks by node; none where all are right.
///
/// Instants are not negative, so where a clock is behind all others are set ahead by as much: only differences can be seen.
pub(crate) fn of(blueprint: &Blueprint) -> Vec<Clock> {
    if blueprint.clocks.is_empty() {
        return Vec::new();
    }
    let behind = blueprint.clocks.iter().map(|clock| clock.offset.as_nanos()).min().unwrap_or(0).min(0);
    let epoch = behind.unsigned_abs();
    let mut clocks = vec![Clock::new(Duration::from_nanos(epoch), Drift::ZERO); blueprint.nodes.len()];
    for spec in &blueprint.clocks {
        let base = epoch.saturating_add_signed(spec.offset.as_nanos());
        if let Some(clock) = clocks.get_mut(spec.node.index()) {
            *clock = Clock::new(Duration::from_nanos(base), spec.drift);
        }
    }
    clocks
}

/// A machine at a node whose clock is not right.
pub(crate) struct Clocked<M> {
    clock: Clock,
    pub machine: M,
}

impl<M: Endpoint> Endpoint for Clocked<M> {
    fn handle(&mut self, input: Input<'_>, cx: &mut Cx<'_>) {
        let now = cx.show(self.clock.shows(cx.now()));
        self.machine.handle(input, cx);
        cx.show(now);
    }

    fn wake(&self) -> Time {
        self.clock.first(self.machine.wake())
    }
}

impl<M: Router> Router for Clocked<M> {
    fn handle(&mut self, input: RouterInput<'_>, cx: &mut NodeCx<'_, '_>) -> Option<DropReason> {
        let shown = self.clock.shows(cx.now());
        let now = cx.show(shown);
        let fate = self.machine.handle(input, cx);
        cx.show(now);
        fate
    }

    fn takes(&self, packet: &Packet) -> bool {
        self.machine.takes(packet)
    }

    fn on_arrival(&mut self, packet: &Packet, at: &mut TransitCx<'_>) {
        let now = self.clock.shows(at.now);
        self.machine.on_arrival(packet, &mut TransitCx { now, port: at.port, random: at.random });
    }

    fn on_enqueue(&mut self, packet: &mut Packet, port: &PortView, at: &mut TransitCx<'_>) {
        let now = self.clock.shows(at.now);
        self.machine.on_enqueue(packet, port, &mut TransitCx { now, port: at.port, random: at.random });
    }

    fn on_dequeue(&mut self, packet: &mut Packet, port: &PortView, waited: Duration, at: &mut TransitCx<'_>) {
        let now = self.clock.shows(at.now);
        let waited = now - self.clock.shows(at.now - waited);
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

impl AnyEndpoint {
    /// When it was what the endpoint calls `shown`.
    pub(crate) fn true_time(&self, shown: Time) -> Time {
        if let Self::Clocked(clocked) = self { clocked.clock.first(shown) } else { shown }
    }
}

impl AnyNode {
    /// The machine itself, whatever its clock.
    pub(crate) fn plain(&self) -> &Self {
        if let Self::Clocked(clocked) = self { clocked.machine.plain() } else { self }
    }

    /// The same, to be changed.
    pub(crate) fn plain_mut(&mut self) -> &mut Self {
        if let Self::Clocked(clocked) = self { clocked.machine.plain_mut() } else { self }
    }
}

/// A machine that can be given a clock.
pub(crate) trait WithClock: Sized {
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

impl World {
    /// Takes an endpoint in, with the clock of its node.
    pub(crate) fn add_peer(&mut self, mut peer: Peer) {
        peer.endpoint = self.clocked(peer.address.node, peer.endpoint);
        if !self.clocks.is_empty() {
            peer.screen = Time::NEVER;
        }
        self.peers.push(peer);
    }

    /// A machine as it runs at `node`: by the clock there, where that is not right.
    pub(crate) fn clocked<M: WithClock>(&self, node: NodeId, machine: M) -> M {
        const RIGHT: Clock = Clock::new(Duration::ZERO, Drift::ZERO);
        match self.clocks.get(node.index()) {
            Some(&clock) if clock != RIGHT => M::with(Clocked { clock, machine }),
            _ => machine,
        }
    }
}
