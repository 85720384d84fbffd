//! Endpoints of flows that start late and end: they exist from the start of their flow until nothing of it is left in
//! the network.

use std::mem;

use contract::{Address, Arena, EndpointId, FlowId};
use stack::tcp::Demand;
use units::Time;

use super::counters::EndedState;
use super::endpoint::EndpointState;
use super::machines::Machines;
use super::{FlowState, ReceiverState};
use crate::{Blueprint, Cast, Change, FlowKind, FlowSpec};

/// The endpoints from the first one of a late flow on.
#[derive(Default)]
pub(super) struct LateEndpoints {
    /// Number of the first one.
    first: usize,
    slots: Vec<Slot>,
    /// Late flows with endpoints.
    running: Vec<FlowId>,
    /// The number of running flows at which those that have ended are looked for.
    look_at: usize,
}

/// An endpoint, or what stands for it.
pub(super) enum Slot {
    /// Its flow has not started.
    Waiting(Address),
    Running(Box<EndpointState>),
    /// Its flow has ended: neither a packet nor a deadline can come.
    Ended(Box<EndedState>),
}

/// Minimum number of running flows at which ended ones are looked for.
const FEW: usize = 256;

impl LateEndpoints {
    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Adds the endpoint with the next number.
    pub(super) fn push(&mut self, slot: Slot, number: usize) {
        if self.slots.is_empty() {
            (self.first, self.look_at) = (number, FEW);
        }
        self.slots.push(slot);
    }

    pub(super) fn slot(&self, endpoint: EndpointId) -> Option<&Slot> {
        self.slots.get(endpoint.index().checked_sub(self.first)?)
    }

    pub(super) fn slot_mut(&mut self, endpoint: EndpointId) -> Option<&mut Slot> {
        self.slots.get_mut(endpoint.index().checked_sub(self.first)?)
    }

    /// The endpoint, if its flow has started and not ended.
    pub(super) fn running(&self, endpoint: EndpointId) -> Option<&EndpointState> {
        match self.slot(endpoint)? {
            Slot::Running(state) => Some(state),
            Slot::Waiting(_) | Slot::Ended(_) => None,
        }
    }

    /// The endpoint for modification, if its flow has started and not ended.
    #[inline(never)]
    pub(super) fn running_mut(&mut self, endpoint: EndpointId) -> Option<&mut EndpointState> {
        match self.slot_mut(endpoint)? {
            Slot::Running(state) => Some(state),
            Slot::Waiting(_) | Slot::Ended(_) => None,
        }
    }

    /// All endpoints that exist.
    pub(super) fn all_running(&mut self) -> impl Iterator<Item = &mut EndpointState> {
        self.slots.iter_mut().filter_map(|slot| match slot {
            Slot::Running(state) => Some(&mut **state),
            Slot::Waiting(_) | Slot::Ended(_) => None,
        })
    }

    /// Number of endpoints that exist.
    pub(super) fn existing(&self) -> usize {
        self.slots.iter().filter(|slot| matches!(slot, Slot::Running(_))).count()
    }

    /// Sets the endpoint of a flow that starts.
    pub(super) fn start(&mut self, endpoint: EndpointId, state: EndpointState) {
        *self.slot_mut(endpoint).expect("late flows have slots") = Slot::Running(Box::new(state));
    }

    /// Notes that the endpoints of a flow exist from now on.
    pub(super) fn note(&mut self, flow: FlowId) {
        self.running.push(flow);
    }

    /// Frees the endpoints of flows that have ended, from time to time. A flow has ended when its transfer is complete,
    /// no endpoint of it has a deadline, and no packet of it is in the network: then nothing can happen to it. `kept`
    /// are flows that have not ended in any case.
    pub(super) fn free(
        &mut self,
        flows: &[FlowState],
        receivers: &[ReceiverState],
        machines: &mut Machines,
        arena: &Arena,
        kept: impl Fn(FlowId) -> bool,
    ) {
        if self.running.len() < self.look_at {
            return;
        }
        let Some(&first) = self.running.iter().min() else { return };
        let mut present: Vec<FlowId> =
            arena.iter().map(|packet| packet.flow).filter(|flow| *flow >= first).collect();
        present.sort_unstable();
        present.dedup();
        let running = mem::take(&mut self.running);
        self.running = running
            .into_iter()
            .filter(|&flow| {
                let FlowState { sender, .. } = flows[flow.index()];
                let others = || receivers[flows[flow.index()].receivers()].iter().map(|state| state.endpoint);
                let has_no_deadline =
                    |id| self.running(id).is_some_and(|state| state.has_no_deadline(machines));
                let is_complete = self.running(sender).is_some_and(EndpointState::is_complete);
                let ended = is_complete
                    && has_no_deadline(sender)
                    && others().all(has_no_deadline)
                    && !kept(flow)
                    && present.binary_search(&flow).is_err();
                if ended {
                    [sender].into_iter().chain(others()).for_each(|id| self.end(id, machines));
                }
                !ended
            })
            .collect();
        // each look costs as much as the starts since the last one
        let looks = self.running.len() + self.running.len().max(arena.slots() / 16).max(FEW);
        self.look_at = looks;
    }

    fn end(&mut self, endpoint: EndpointId, machines: &mut Machines) {
        let Some(slot) = self.slot_mut(endpoint) else { return };
        *slot = match mem::replace(slot, Slot::Waiting(Address::default())) {
            Slot::Running(state) => {
                machines.remove(state.machine());
                Slot::Ended(Box::new((*state).into()))
            }
            other => other,
        };
    }
}

/// Which flows are late: finite transfers over TCP that start after the run has, and that nothing but their own packets
/// and deadlines changes.
pub(crate) struct LateFlows<'a> {
    /// Flows that events change.
    changed: Vec<FlowId>,
    blueprint: &'a Blueprint,
}

impl<'a> LateFlows<'a> {
    pub(crate) fn of(blueprint: &'a Blueprint) -> Self {
        let changed = blueprint.events.iter().filter_map(|(_, change)| match change {
            Change::FlowStart(flow)
            | Change::FlowStop(flow)
            | Change::Join(flow, _)
            | Change::Leave(flow, _)
            | Change::Mode(flow, _) => Some(*flow),
            Change::LinkRate(..)
            | Change::LinkDelay(..)
            | Change::LinkLoss(..)
            | Change::LinkUp(..)
            | Change::Route(_)
            | Change::Reset(_)
            | Change::Controller(_) => None,
        });
        let mut changed: Vec<FlowId> = changed.collect();
        changed.sort_unstable();
        Self { changed, blueprint }
    }

    /// Whether a flow is late.
    pub(crate) fn contain(&self, id: FlowId, flow: &FlowSpec) -> bool {
        let is_finite =
            matches!(&*flow.kind, FlowKind::Tcp(config) if matches!(config.demand, Demand::Finite(_)));
        let always =
            |to: &crate::ReceiverSpec| to.start == Time::ZERO && to.stop == Time::NEVER && to.churn.is_none();
        is_finite
            && flow.start > Time::ZERO
            && flow.start < Time::NEVER
            && flow.stop == Time::NEVER
            && flow.churn.is_none()
            && flow.emulation.is_none()
            && flow.cast == Cast::Unicast
            && flow.to.iter().all(always)
            && self.blueprint.clocks.is_empty()
            && self.changed.binary_search(&id).is_err()
            // a scheme that the program registered may do more than control its flow
            && flow.scheme.as_deref().is_some_and(schemes::is_built_in)
    }
}
