//! Any state machine that runs a node.

use contract::{DropReason, GroupId, NodeCx, Packet, PortId, PortView, Router, RouterInput, TransitCx};
use schemes::{AnyApp, AnyLink, AnyRouter, AnyStrategy};
use stack::icn::{self, Resolver};
use stack::ndn;
use stack::sdn::Controller;
use units::{Duration, Time};

use super::clocks::Clocked;
use crate::fabric::reverse;
use crate::trace::NodeRole;

/// Any state machine that runs a node.
pub(super) enum AnyNode {
    Router(icn::Router<AnyRouter>),
    Resolver(Resolver),
    Forwarder(Box<Forwarder>),
    /// None: the node forwards by address, and has an SDN agent.
    Switch,
    /// The SDN controller; `None` while it is stopped.
    Controller(Option<Box<Controller<AnyApp>>>),
    Clocked(Box<Clocked<Self>>),
}

/// A forwarder with any parts.
pub(super) type Forwarder = ndn::Forwarder<ndn::strategies::Any<AnyStrategy>, AnyLink>;

impl AnyNode {
    /// Whether it observes packets that are offered to a queue.
    pub(super) fn observes_offers(&self) -> bool {
        match self {
            Self::Router(router) => router.has_parts(),
            Self::Forwarder(forwarder) => forwarder.observes_enqueue(),
            Self::Clocked(clocked) => clocked.machine.observes_offers(),
            Self::Resolver(_) | Self::Switch | Self::Controller(_) => false,
        }
    }

    /// Whether it observes packets of others that arrive, or takes some of them.
    pub(super) fn observes_arrivals(&self) -> bool {
        matches!(self, Self::Router(_) | Self::Resolver(_) | Self::Clocked(_))
    }

    /// Handles an input of a node that is no forwarder with an exact clock.
    #[inline(never)]
    fn handle_other(&mut self, input: RouterInput<'_>, cx: &mut NodeCx<'_, '_>) -> Option<DropReason> {
        match self {
            Self::Router(machine) => machine.handle(input, cx),
            Self::Resolver(machine) => machine.handle(input, cx),
            Self::Forwarder(machine) => machine.handle(input, cx),
            Self::Clocked(machine) => machine.handle(input, cx),
            Self::Controller(Some(machine)) => machine.handle(input, cx),
            Self::Switch | Self::Controller(None) => match input {
                RouterInput::Packet(..) | RouterInput::Local(_) => Some(DropReason::NotListening),
                RouterInput::Timer | RouterInput::Start => None,
            },
        }
    }

    /// The deadline of a node that is no forwarder with an exact clock.
    #[inline(never)]
    fn wake_other(&self) -> Time {
        match self {
            Self::Router(machine) => machine.wake(),
            Self::Resolver(machine) => machine.wake(),
            Self::Forwarder(machine) => machine.wake(),
            Self::Clocked(machine) => machine.wake(),
            Self::Controller(Some(machine)) => machine.wake(),
            Self::Switch | Self::Controller(None) => Time::NEVER,
        }
    }

    /// Whether it observes departures from a queue.
    pub(super) fn observes_departures(&self) -> bool {
        matches!(self.plain(), Self::Forwarder(forwarder) if forwarder.observes_dequeue())
    }

    /// Whether a departure that it observes can change its deadline.
    pub(super) fn departures_move_deadlines(&self) -> bool {
        !matches!(self.plain(), Self::Forwarder(forwarder) if !forwarder.has_deadlines())
    }

    pub(super) fn groups(&self) -> usize {
        match self {
            Self::Router(router) => router.groups(),
            Self::Resolver(resolver) => resolver.names(),
            Self::Clocked(clocked) => clocked.machine.groups(),
            Self::Forwarder(_) | Self::Switch | Self::Controller(_) => 0,
        }
    }

    /// The ports that carry each group from and to this node, if it routes by name. `groups` is the number of groups.
    pub(super) fn branches(&self, groups: usize) -> Vec<(GroupId, PortId)> {
        let Self::Router(router) = self.plain() else { return Vec::new() };
        let mut ports = Vec::new();
        for id in (0..groups as u32).map(GroupId) {
            let Some(entry) = router.entry(id) else { continue };
            ports.extend(entry.incoming.map(|port| (id, reverse(port))));
            ports.extend(entry.branches.iter().map(|branch| (id, branch.port)));
        }
        ports
    }

    pub(super) fn role(&self) -> NodeRole {
        match self {
            Self::Router(_) => NodeRole::Router,
            Self::Resolver(_) => NodeRole::Resolver,
            Self::Forwarder(_) => NodeRole::Forwarder,
            Self::Switch => NodeRole::Switch,
            Self::Controller(_) => NodeRole::Controller,
            Self::Clocked(clocked) => clocked.machine.role(),
        }
    }

    pub(super) fn counters(&self) -> Option<ndn::Counters> {
        if let Self::Forwarder(forwarder) = self.plain() { Some(forwarder.counters()) } else { None }
    }
}

impl Router for AnyNode {
    #[inline(always)]
    fn handle(&mut self, input: RouterInput<'_>, cx: &mut NodeCx<'_, '_>) -> Option<DropReason> {
        match self {
            Self::Forwarder(machine) => machine.handle(input, cx),
            _ => self.handle_other(input, cx),
        }
    }

    #[inline]
    fn takes(&self, packet: &Packet) -> bool {
        match self {
            Self::Router(machine) => machine.takes(packet),
            Self::Resolver(machine) => machine.takes(packet),
            Self::Forwarder(machine) => machine.takes(packet),
            Self::Clocked(machine) => machine.takes(packet),
            Self::Switch | Self::Controller(_) => false,
        }
    }

    #[inline]
    fn on_arrival(&mut self, packet: &Packet, at: &mut TransitCx<'_>) {
        match self {
            Self::Router(machine) => machine.on_arrival(packet, at),
            Self::Clocked(machine) => machine.on_arrival(packet, at),
            // they do not observe packets of others
            Self::Resolver(_) | Self::Forwarder(_) | Self::Switch | Self::Controller(_) => {}
        }
    }

    #[inline]
    fn on_enqueue(&mut self, packet: &mut Packet, port: &PortView, at: &mut TransitCx<'_>) {
        match self {
            Self::Router(machine) => machine.on_enqueue(packet, port, at),
            Self::Resolver(machine) => machine.on_enqueue(packet, port, at),
            Self::Forwarder(machine) => machine.on_enqueue(packet, port, at),
            Self::Clocked(machine) => machine.on_enqueue(packet, port, at),
            Self::Switch | Self::Controller(_) => {}
        }
    }

    #[inline]
    fn on_dequeue(&mut self, packet: &mut Packet, port: &PortView, waited: Duration, at: &mut TransitCx<'_>) {
        match self {
            Self::Router(machine) => machine.on_dequeue(packet, port, waited, at),
            Self::Resolver(machine) => machine.on_dequeue(packet, port, waited, at),
            Self::Forwarder(machine) => machine.on_dequeue(packet, port, waited, at),
            Self::Clocked(machine) => machine.on_dequeue(packet, port, waited, at),
            Self::Switch | Self::Controller(_) => {}
        }
    }

    #[inline(always)]
    fn wake(&self) -> Time {
        match self {
            Self::Forwarder(machine) => machine.wake(),
            _ => self.wake_other(),
        }
    }
}
