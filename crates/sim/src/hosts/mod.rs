//! Hosts: endpoints, the state machines of nodes, their clocks, and the flows of the endpoints.

mod any_node;
mod clocks;
mod endpoint;
mod ndn;
mod next_hops;
mod nodes;
mod sdn;

use std::collections::VecDeque;
use std::ops::Range;

use contract::{Address, EndpointId, FlowId, NodeId, PacketId, Random};
use contract::{Endpoint, ParamError};
use stack::log::Log;
use units::Time;

pub(crate) use any_node::AnyNode;
pub(crate) use clocks::Clocks;
pub use endpoint::Factory;
pub(crate) use endpoint::{AnyEndpoint, EndpointState, Tally};
pub(crate) use nodes::{Nodes, access_routers};
pub(crate) use sdn::is_control_port;

use crate::agenda::{Agenda, Kind, What};
use crate::{Blueprint, Churn};

/// The endpoints of a flow.
pub(crate) struct FlowState {
    pub sender: EndpointId,
    /// Its receivers, as a range of indices.
    pub receivers: Range<usize>,
    pub churn_random: Random,
    /// Factories of endpoints that are not built in.
    custom_sender: Option<Factory>,
    custom_receiver: Option<Factory>,
    /// The log of its congestion controller.
    log: Option<Log>,
}

/// A receiver.
pub(crate) struct ReceiverState {
    pub flow: FlowId,
    /// Its number among the flow's receivers.
    pub number: usize,
    pub endpoint: EndpointId,
    pub churn_random: Random,
}

/// A packet between an endpoint and the state machine of its node.
pub(crate) enum LocalDelivery {
    /// To the state machine with this index.
    ToNode(usize, PacketId),
    /// To an endpoint.
    ToEndpoint(EndpointId, PacketId),
}

/// Endpoints, nodes with a state machine, clocks, and flows.
pub(crate) struct Hosts {
    endpoints: Vec<EndpointState>,
    pub nodes: Nodes,
    pub clocks: Clocks,
    pub flows: Vec<FlowState>,
    pub receivers: Vec<ReceiverState>,
    /// Producers of named data.
    pub producers: Vec<EndpointId>,
    /// Packets that stay at their node; they are delivered before time advances.
    pub local: VecDeque<LocalDelivery>,
}

impl Hosts {
    pub(crate) fn new(blueprint: &Blueprint) -> Self {
        Self {
            endpoints: Vec::new(),
            nodes: Nodes::new(blueprint),
            clocks: Clocks::new(blueprint),
            flows: Vec::new(),
            receivers: Vec::new(),
            producers: Vec::new(),
            local: VecDeque::new(),
        }
    }

    /// Adds an endpoint with the clock of its node.
    pub(crate) fn add(&mut self, mut state: EndpointState) {
        state.endpoint = self.clocks.wrap(state.address.node, state.endpoint);
        if !self.clocks.are_right() {
            state.screen = Time::NEVER;
        }
        self.endpoints.push(state);
    }

    /// Adds a flow whose endpoints were added before.
    pub(crate) fn add_flow(&mut self, sender: EndpointId, receivers: Range<usize>, churn_random: Random) {
        let (custom_sender, custom_receiver) = (None, None);
        self.flows.push(FlowState {
            sender,
            receivers,
            churn_random,
            custom_sender,
            custom_receiver,
            log: None,
        });
    }

    #[inline]
    pub(crate) fn endpoint(&mut self, endpoint: EndpointId) -> &mut EndpointState {
        &mut self.endpoints[endpoint.index()]
    }

    pub(crate) fn endpoints(&self) -> &[EndpointState] {
        &self.endpoints
    }

    pub(crate) fn endpoints_mut(&mut self) -> &mut [EndpointState] {
        &mut self.endpoints
    }

    /// The endpoint that a `Wake` is for; `None` if it is for the state machine of a node.
    #[inline]
    pub(crate) fn woken(&mut self, what: What) -> Option<&mut EndpointState> {
        self.endpoints.get_mut(what.index())
    }

    /// Schedules the next `Wake` of an endpoint.
    #[inline]
    pub(crate) fn rearm(&mut self, endpoint: EndpointId, now: Time, agenda: &mut Agenda) {
        let state = &mut self.endpoints[endpoint.index()];
        let wake = state.endpoint.wake().max(now);
        if wake < state.armed && state.active {
            state.armed = wake;
            agenda.push(wake, What::new(Kind::Wake, endpoint.0));
        }
    }

    // ---- flows

    /// The endpoint that sends a flow.
    pub(crate) fn sender_of(&self, flow: FlowId) -> EndpointId {
        self.flows[flow.index()].sender
    }

    /// The endpoints that receive a flow, by receiver.
    pub(crate) fn receivers_of(&self, flow: FlowId) -> Range<usize> {
        self.flows[flow.index()].receivers.clone()
    }

    /// The address of an endpoint.
    pub(crate) fn address(&self, endpoint: EndpointId) -> Address {
        self.endpoints[endpoint.index()].address
    }

    pub(crate) fn is_active(&self, endpoint: EndpointId) -> bool {
        self.endpoints[endpoint.index()].active
    }

    /// Whether an endpoint was active before.
    pub(crate) fn has_started(&self, endpoint: EndpointId) -> bool {
        self.endpoints[endpoint.index()].started_at.is_some()
    }

    /// The receiver of a flow at a node.
    pub(crate) fn receiver_at(&self, flow: FlowId, node: NodeId) -> Option<usize> {
        self.receivers_of(flow).find(|&index| self.address(self.receivers[index].endpoint).node == node)
    }

    /// The next start, stop or churn event of a sender.
    pub(crate) fn flow_turn(&mut self, flow: FlowId, now: Time, blueprint: &Blueprint) -> Turn {
        let spec = &blueprint.flows[flow.index()];
        let on = self.is_active(self.sender_of(flow));
        Turn::new(now, on, spec.stop, spec.churn, &mut self.flows[flow.index()].churn_random)
    }

    /// The next join, leave or churn event of a receiver.
    pub(crate) fn receiver_turn(&mut self, receiver: usize, now: Time, blueprint: &Blueprint) -> Turn {
        let on = self.is_active(self.receivers[receiver].endpoint);
        let state = &mut self.receivers[receiver];
        let spec = &blueprint.flows[state.flow.index()].to[state.number];
        Turn::new(now, on, spec.stop, spec.churn, &mut state.churn_random)
    }

    // ---- endpoints made again

    fn first_receiver(&self, flow: FlowId) -> Address {
        let receiver = self.receivers.get(self.receivers_of(flow)).and_then(<[_]>::first);
        receiver.map_or(Address::default(), |receiver| self.address(receiver.endpoint))
    }

    /// A built-in endpoint that sends a flow.
    pub(crate) fn built_in_sender(&self, flow: FlowId, blueprint: &Blueprint) -> AnyEndpoint {
        let receiver = self.first_receiver(flow);
        self.make_sender(flow, receiver, blueprint).expect("the same parameters were accepted before")
    }

    /// A built-in endpoint that receives a flow.
    pub(crate) fn built_in_receiver(&self, receiver: usize, blueprint: &Blueprint) -> AnyEndpoint {
        let state = &self.receivers[receiver];
        let sender = self.address(self.sender_of(state.flow));
        let at = self.address(state.endpoint).node;
        self.make_receiver(state.flow, sender, at, blueprint)
            .expect("the same parameters were accepted before")
    }

    /// A sender of a flow towards `receiver` or the flow's group.
    pub(crate) fn make_sender(
        &self,
        flow: FlowId,
        receiver: Address,
        blueprint: &Blueprint,
    ) -> Result<AnyEndpoint, ParamError> {
        let spec = &blueprint.flows[flow.index()];
        let attachment = self.nodes.attachment(flow, spec.from, true, blueprint);
        // the first sender of a flow is made before the flow
        let log = self.flows.get(flow.index()).and_then(|state| state.log.as_ref());
        endpoint::make_sender(spec, flow, receiver, attachment, log, blueprint)
    }

    /// A receiver of a flow at the node `at` that sends its answers to `sender`.
    pub(crate) fn make_receiver(
        &self,
        flow: FlowId,
        sender: Address,
        at: NodeId,
        blueprint: &Blueprint,
    ) -> Result<AnyEndpoint, ParamError> {
        let attachment = self.nodes.attachment(flow, at, false, blueprint);
        endpoint::make_receiver(&blueprint.flows[flow.index()], sender, attachment)
    }

    /// Replaces the sender of a flow by a new one. Its parameters were accepted when the world was built.
    pub(crate) fn remake_sender(&mut self, flow: FlowId, blueprint: &Blueprint) {
        let (spec, state) = (&blueprint.flows[flow.index()], &self.flows[flow.index()]);
        let endpoint = match &state.custom_sender {
            Some(make) => {
                AnyEndpoint::Custom(make(endpoint::destination(spec, flow, self.first_receiver(flow))))
            }
            None => self.built_in_sender(flow, blueprint),
        };
        let endpoint = self.clocks.wrap(spec.from, endpoint);
        let sender = state.sender;
        self.endpoint(sender).endpoint = endpoint;
    }

    /// Replaces a receiver by a new one.
    pub(crate) fn remake_receiver(&mut self, receiver: usize, blueprint: &Blueprint) {
        let ReceiverState { flow, endpoint: id, .. } = self.receivers[receiver];
        let state = &self.flows[flow.index()];
        let endpoint = match &state.custom_receiver {
            Some(make) => AnyEndpoint::Custom(make(self.address(state.sender).into())),
            None => self.built_in_receiver(receiver, blueprint),
        };
        let endpoint = self.clocks.wrap(self.address(id).node, endpoint);
        self.endpoint(id).endpoint = endpoint;
    }

    /// Sets the factory of a flow's sender.
    pub(crate) fn set_custom_sender(&mut self, flow: FlowId, make: Factory, blueprint: &Blueprint) {
        self.flows[flow.index()].custom_sender = Some(make);
        self.remake_sender(flow, blueprint);
    }

    /// Logs the congestion controller of a flow.
    pub(crate) fn set_log(&mut self, flow: FlowId, log: Log, blueprint: &Blueprint) {
        self.flows[flow.index()].log = Some(log);
        self.remake_sender(flow, blueprint);
    }

    /// Sets the factory of a flow's receivers.
    pub(crate) fn set_custom_receiver(&mut self, flow: FlowId, make: Factory, blueprint: &Blueprint) {
        self.flows[flow.index()].custom_receiver = Some(make);
        self.receivers_of(flow).for_each(|receiver| self.remake_receiver(receiver, blueprint));
    }

    /// Ends the warm-up.
    pub(crate) fn rebase(&mut self, now: Time) {
        self.endpoints.iter_mut().for_each(|state| state.rebase(now));
        self.nodes.rebase();
    }
}

/// The next change of an endpoint's activity.
pub(crate) struct Turn {
    /// Whether it becomes active.
    pub on: bool,
    /// When the change after this one is due.
    pub next: Time,
}

impl Turn {
    /// Active at the start and inactive at `stop`; in between, with churn, the state alternates.
    fn new(now: Time, was_on: bool, stop: Time, churn: Option<Churn>, random: &mut Random) -> Self {
        if now >= stop {
            return Self { on: false, next: Time::NEVER };
        }
        let on = churn.is_none() || !was_on;
        let spell = churn.map(|churn| if on { churn.on } else { churn.off });
        Self { on, next: spell.map_or(stop, |spell| (now + spell.draw(random)).min(stop)) }
    }
}
