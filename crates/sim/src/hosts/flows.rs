//! Flows during a run: their starts, stops and churn, and endpoints that are replaced at a restart.

use contract::{Address, Arena, Endpoint, EndpointId, FlowId, NodeId, ParamError, Random};
use stack::log::Log;
use units::Time;

use super::endpoint::{self, AnyEndpoint};
use super::late::Slot;
use super::{Hosts, ReceiverState};
use crate::{Blueprint, Churn, Factory, FlowKind};

/// The next change of an endpoint's activity.
pub(crate) struct ActivityChange {
    /// Whether it becomes active.
    pub on: bool,
    /// When the change after this one is due.
    pub next: Time,
}

impl ActivityChange {
    /// Active at the start and inactive at `stop`; in between, with churn, the state alternates.
    fn new(
        now: Time,
        was_on: bool,
        stop: Time,
        churn: Option<&Churn>,
        random: &mut Option<Box<Random>>,
    ) -> Self {
        if now >= stop {
            return Self { on: false, next: Time::NEVER };
        }
        let on = churn.is_none() || !was_on;
        let spell = churn.zip(random.as_deref_mut());
        let spell = spell.map(|(churn, random)| (if on { churn.on } else { churn.off }).draw(random));
        Self { on, next: spell.map_or(stop, |spell| (now + spell).min(stop)) }
    }
}

impl Hosts {
    /// The next start, stop or churn event of a sender.
    pub(crate) fn next_flow_change(
        &mut self,
        flow: FlowId,
        now: Time,
        blueprint: &Blueprint,
    ) -> ActivityChange {
        let spec = &blueprint.flows[flow.index()];
        let on = self.is_active(self.sender_of(flow));
        let random = &mut self.flows[flow.index()].churn_random;
        ActivityChange::new(now, on, spec.stop, spec.churn.as_deref(), random)
    }

    /// The next join, leave or churn event of a receiver.
    pub(crate) fn next_receiver_change(
        &mut self,
        receiver: usize,
        now: Time,
        blueprint: &Blueprint,
    ) -> ActivityChange {
        let on = self.is_active(self.receivers[receiver].endpoint);
        let state = &mut self.receivers[receiver];
        let spec = &blueprint.flows[state.flow.index()].to[state.number as usize];
        ActivityChange::new(now, on, spec.stop, spec.churn.as_deref(), &mut state.churn_random)
    }

    /// Makes the endpoints of a late flow, which starts now.
    pub(crate) fn begin(&mut self, flow: FlowId, blueprint: &Blueprint) {
        let sender = self.sender_of(flow);
        if !matches!(self.late.slot(sender), Some(Slot::Waiting(_))) {
            return;
        }
        let accepted = "the same parameters were accepted before";
        let state = self.new_sender(flow, blueprint).expect(accepted);
        self.late.start(sender, state);
        for receiver in self.receivers_of(flow) {
            let mut state = self.new_receiver(receiver, blueprint).expect(accepted);
            // it listens from the start of the run
            state.activate(self.warmed_at);
            self.late.start(self.receivers[receiver].endpoint, state);
        }
        let custom = self.flows[flow.index()].custom.as_ref();
        let custom = custom.map(|custom| (custom.sender.is_some(), custom.receiver.is_some()));
        if matches!(custom, Some((true, _))) {
            self.remake_sender(flow, blueprint);
        }
        if matches!(custom, Some((_, true))) {
            self.receivers_of(flow).for_each(|receiver| self.remake_receiver(receiver, blueprint));
        }
        self.late.note(flow);
    }

    /// Frees the endpoints of late flows of which nothing is left in the network, from time to time.
    pub(crate) fn free_ended(&mut self, arena: &Arena, blueprint: &Blueprint) {
        // what ends in the warm-up is counted relative to its end
        if self.warmed_at.as_nanos() < blueprint.warmup.as_nanos() {
            return;
        }
        let Self { late, flows, receivers, machines, .. } = self;
        late.free(flows, receivers, machines, arena, |flow| flows[flow.index()].custom.is_some());
    }

    /// Replaces the endpoints of a flow that was active before by new ones. A new sender numbers its packets from 0, so
    /// active receivers restart as well; they are returned, and are to be started before the sender.
    pub(crate) fn restart(&mut self, flow: FlowId, now: Time, blueprint: &Blueprint) -> Vec<EndpointId> {
        let sender = self.sender_of(flow);
        let mut restarted = Vec::new();
        if !self.endpoint(sender).has_started() {
            return restarted;
        }
        self.remake_sender(flow, blueprint);
        self.endpoint(sender).begin_epoch(now);
        for receiver in self.receivers_of(flow) {
            let endpoint = self.receivers[receiver].endpoint;
            self.endpoint(endpoint).begin_epoch(now);
            if self.is_active(endpoint) {
                self.remake_receiver(receiver, blueprint);
                restarted.push(endpoint);
            }
        }
        restarted
    }

    /// Prepares the join of a receiver: one that was a member before is replaced by a new one. Returns whether it
    /// joins, which it does not if it is a member.
    pub(crate) fn admit(&mut self, receiver: usize, blueprint: &Blueprint) -> bool {
        let endpoint = self.receivers[receiver].endpoint;
        if self.is_active(endpoint) {
            return false;
        }
        if self.endpoint(endpoint).has_started() {
            self.remake_receiver(receiver, blueprint);
        }
        true
    }

    /// Sets the factory of a flow's sender.
    pub(crate) fn set_custom_sender(&mut self, flow: FlowId, make: Factory, blueprint: &Blueprint) {
        self.flows[flow.index()].custom().sender = Some(make);
        if self.started(self.sender_of(flow)).is_some() {
            self.remake_sender(flow, blueprint);
        }
    }

    /// Sets the factories of both ends of a flow over a stack.
    pub(super) fn set_ends(
        &mut self,
        flow: FlowId,
        (sender, receiver): (Factory, Factory),
        blueprint: &Blueprint,
    ) {
        self.set_custom_sender(flow, sender, blueprint);
        self.set_custom_receiver(flow, receiver, blueprint);
    }

    /// Logs the congestion controller of a flow.
    pub(crate) fn set_log(&mut self, flow: FlowId, log: Log, blueprint: &Blueprint) {
        let spec = &blueprint.flows[flow.index()];
        if let FlowKind::Stack(stack) = &*spec.kind {
            let ends =
                (stack.ends.0)(spec, stack, Some(&log)).expect("they were made when the world was built");
            return self.set_ends(flow, ends, blueprint);
        }
        self.flows[flow.index()].custom().log = Some(log);
        if self.started(self.sender_of(flow)).is_some() {
            self.remake_sender(flow, blueprint);
        }
    }

    /// Sets the factory of a flow's receivers.
    pub(crate) fn set_custom_receiver(&mut self, flow: FlowId, make: Factory, blueprint: &Blueprint) {
        self.flows[flow.index()].custom().receiver = Some(make);
        if self.started(self.sender_of(flow)).is_some() {
            self.receivers_of(flow).for_each(|receiver| self.remake_receiver(receiver, blueprint));
        }
    }

    /// A built-in endpoint, or one of a transport stack, in its initial state, with the clock of its node, and its
    /// random stream.
    pub(crate) fn detached(
        &mut self,
        endpoint: EndpointId,
        blueprint: &Blueprint,
    ) -> (Box<dyn Endpoint + Send>, Random) {
        let state = self.state(endpoint);
        let (machine, Address { node, .. }) = (state.machine(), state.address());
        let receiver = self.receivers.iter().position(|receiver| receiver.endpoint == endpoint);
        let flow = &blueprint.flows[state.flow().index()];
        let detached = match (&*flow.kind, receiver) {
            (FlowKind::Stack(stack), _) => {
                let (sender, receives) =
                    (stack.ends.0)(flow, stack, None).expect("the same parameters were accepted before");
                AnyEndpoint::Custom(match receiver {
                    Some(_) => receives(self.address(self.sender_of(state.flow())).into()),
                    None => sender(self.first_receiver(state.flow()).into()),
                })
            }
            (_, Some(receiver)) => self.built_in_receiver(receiver, blueprint),
            (_, None) => self.built_in_sender(state.flow(), blueprint),
        };
        (Box::new(self.clocks.wrap(node, detached)), self.machines.random(machine).clone())
    }

    /// A sender of a flow towards `receiver` or the flow's group.
    pub(super) fn make_sender(
        &self,
        flow: FlowId,
        receiver: Address,
        blueprint: &Blueprint,
    ) -> Result<AnyEndpoint, ParamError> {
        let spec = &blueprint.flows[flow.index()];
        let attachment = self.nodes.attachment(flow, spec.from, true, blueprint);
        // the first sender of a flow is made before the flow
        let log = self.flows.get(flow.index()).and_then(|state| state.custom.as_ref()?.log.as_ref());
        let capacity = self.access.get(spec.from.index()).copied().flatten();
        endpoint::make_sender(spec, flow, receiver, attachment, log, capacity)
    }

    /// A receiver of a flow at the node `at` that sends its answers to `sender`.
    pub(super) fn make_receiver(
        &self,
        flow: FlowId,
        sender: Address,
        at: NodeId,
        blueprint: &Blueprint,
    ) -> Result<AnyEndpoint, ParamError> {
        let attachment = self.nodes.attachment(flow, at, false, blueprint);
        endpoint::make_receiver(&blueprint.flows[flow.index()], sender, attachment)
    }

    fn first_receiver(&self, flow: FlowId) -> Address {
        let receiver = self.receivers.get(self.receivers_of(flow)).and_then(<[_]>::first);
        receiver.map_or(Address::default(), |receiver| self.address(receiver.endpoint))
    }

    /// A built-in endpoint that sends a flow.
    fn built_in_sender(&self, flow: FlowId, blueprint: &Blueprint) -> AnyEndpoint {
        let receiver = self.first_receiver(flow);
        self.make_sender(flow, receiver, blueprint).expect("the same parameters were accepted before")
    }

    /// A built-in endpoint that receives a flow.
    fn built_in_receiver(&self, receiver: usize, blueprint: &Blueprint) -> AnyEndpoint {
        let state = &self.receivers[receiver];
        let sender = self.address(self.sender_of(state.flow));
        let at = self.address(state.endpoint).node;
        self.make_receiver(state.flow, sender, at, blueprint)
            .expect("the same parameters were accepted before")
    }

    /// Replaces the sender of a flow by a new one. Its parameters were accepted when the world was built.
    fn remake_sender(&mut self, flow: FlowId, blueprint: &Blueprint) {
        let (spec, state) = (&blueprint.flows[flow.index()], &self.flows[flow.index()]);
        let endpoint = match state.custom.as_ref().and_then(|custom| custom.sender.as_ref()) {
            Some(make) => {
                AnyEndpoint::Custom(make(endpoint::destination(spec, flow, self.first_receiver(flow))))
            }
            None => self.built_in_sender(flow, blueprint),
        };
        let endpoint = self.clocks.wrap(spec.from, endpoint);
        let sender = state.sender;
        self.replace(sender, endpoint);
    }

    /// Replaces a receiver by a new one.
    fn remake_receiver(&mut self, receiver: usize, blueprint: &Blueprint) {
        let ReceiverState { flow, endpoint: id, .. } = self.receivers[receiver];
        let state = &self.flows[flow.index()];
        let endpoint = match state.custom.as_ref().and_then(|custom| custom.receiver.as_ref()) {
            Some(make) => AnyEndpoint::Custom(make(self.address(state.sender).into())),
            None => self.built_in_receiver(receiver, blueprint),
        };
        let endpoint = self.clocks.wrap(self.address(id).node, endpoint);
        self.replace(id, endpoint);
    }

    fn replace(&mut self, id: EndpointId, endpoint: AnyEndpoint) {
        let (state, machines) = self.running(id);
        state.replace(endpoint, machines);
    }
}
