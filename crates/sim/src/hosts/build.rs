//! From a blueprint to the hosts at the start of a run.

use contract::{Address, EndpointId, FlowId, ParamError, Random};
use stack::ndn;
use units::Time;

use super::clocks::Clocks;
use super::endpoint::{AnyEndpoint, EndpointState, access_capacities};
use super::late::{LateEndpoints, LateFlows, Slot};
use super::machines::{MachineCounts, Machines};
use super::nodes::Nodes;
use super::{Distributions, FlowState, Hosts, ReceiverState};
use crate::fabric::{Fabric, NO_FLOW};
use crate::{Blueprint, FlowKind, FlowSpec, ReceiverSpec};
use memory::list_in_large_pages;

/// Maximum number of receivers and consumers for which the distribution of waits is kept by default, at about 1 kB
/// each.
pub const MANY_RECEIVERS: usize = 10_000;

impl Hosts {
    /// The hosts of a network, and their state machines as observers of its ports. Fails if a scheme rejects its
    /// parameters.
    pub(crate) fn new(blueprint: &Blueprint, fabric: &mut Fabric) -> Result<Self, ParamError> {
        let clocks = Clocks::new(blueprint);
        let mut nodes = Nodes::new(blueprint);
        nodes.place(blueprint, fabric, &clocks)?;
        let late = LateFlows::of(blueprint);
        let is_late = |(id, flow): (u32, &FlowSpec)| late.contain(FlowId(id), flow);
        let flows = || (0u32..).zip(&blueprint.flows);
        let before_late = flows().take_while(|flow| !is_late(*flow)).map(|(_, flow)| 1 + flow.to.len());
        let mut counts = MachineCounts::default();
        flows().take_while(|flow| !is_late(*flow)).for_each(|(_, flow)| match &*flow.kind {
            FlowKind::Tcp(_) => {
                counts.tcp_senders += 1;
                counts.tcp_receivers += flow.to.len();
            }
            FlowKind::Datagram(_) => counts.sinks += flow.to.len(),
            FlowKind::Stream(_) | FlowKind::Ndn(_) | FlowKind::Stack(_) => {}
        });
        let watched = flows().map(|(_, flow)| flow.to.len() + usize::from(consumes(flow))).sum::<usize>();
        let distributions = Distributions {
            waits: watched <= MANY_RECEIVERS || blueprint.record.distributions,
            reported: blueprint.record.distributions,
        };
        let mut hosts = Self {
            endpoints: list_in_large_pages(match flows().any(is_late) {
                true => before_late.sum(),
                false => blueprint.endpoints(),
            }),
            late: LateEndpoints::default(),
            machines: Machines::new(counts),
            distributions,
            screened: false,
            warmed_at: Time::ZERO,
            nodes,
            clocks,
            flows: Vec::with_capacity(blueprint.flows.len()),
            receivers: Vec::with_capacity(blueprint.flows.iter().map(|flow| flow.to.len()).sum()),
            producers: Vec::new(),
            access: access_capacities(blueprint),
            first_at: Vec::new(),
            machine_of: Vec::new(),
        };
        for (id, flow) in flows() {
            hosts.add_flow(FlowId(id), flow, is_late((id, flow)), blueprint)?;
            if let FlowKind::Stack(stack) = &*flow.kind {
                let ends = (stack.ends.0)(flow, stack, None)?;
                hosts.set_ends(FlowId(id), ends, blueprint);
            }
        }
        hosts.add_producers(blueprint);
        Ok(hosts)
    }

    /// Adds the endpoint with the next number.
    fn add(&mut self, state: EndpointState) {
        match self.late.is_empty() {
            true => self.endpoints.push(state),
            false => self.late.push(Slot::Running(Box::new(state)), self.endpoints.len()),
        }
    }

    /// Adds the endpoint with the next number, or notes that its flow is late.
    fn add_to_flow(&mut self, state: EndpointState, late: bool) {
        match late {
            true => {
                self.machines.remove(state.machine());
                self.late.push(Slot::Waiting(state.address()), self.endpoints.len());
            }
            false => self.add(state),
        }
    }

    /// Adds a flow. The endpoints of one that is `late` are made when it starts.
    fn add_flow(
        &mut self,
        id: FlowId,
        flow: &FlowSpec,
        late: bool,
        blueprint: &Blueprint,
    ) -> Result<(), ParamError> {
        let first = self.count() as u32;
        let begin = self.receivers.len() as u32;
        let path = format!("flow.{}", flow.name);
        for (number, receiver) in (0u32..).zip(&flow.to) {
            let churn = |_| {
                let path = format!("{path}.{}", blueprint.nodes[receiver.node.index()]);
                Box::new(Random::new(blueprint.seed, &path, "churn"))
            };
            self.receivers.push(ReceiverState {
                flow: id,
                number,
                endpoint: EndpointId(first + 1 + number),
                churn_random: receiver.churn.as_ref().map(churn),
            });
        }
        self.flows.push(FlowState {
            sender: EndpointId(first),
            receivers: begin..self.receivers.len() as u32,
            churn_random: flow.churn.as_ref().map(|_| Box::new(Random::new(blueprint.seed, &path, "churn"))),
            custom: None,
        });
        // the parameters of late flows are checked here as well
        let state = self.new_sender(id, blueprint)?;
        self.add_to_flow(state, late);
        for index in self.receivers_of(id) {
            let state = self.new_receiver(index, blueprint)?;
            self.add_to_flow(state, late);
        }
        Ok(())
    }

    /// The built-in sender of a flow in its initial state, with the clock of its node.
    pub(super) fn new_sender(
        &mut self,
        id: FlowId,
        blueprint: &Blueprint,
    ) -> Result<EndpointState, ParamError> {
        let flow = &blueprint.flows[id.index()];
        let first = self.sender_of(id);
        let address = Address { node: flow.from, endpoint: first };
        let receiver = |to: &ReceiverSpec| Address { node: to.node, endpoint: EndpointId(first.0 + 1) };
        let endpoint = self.make_sender(id, flow.to.first().map_or(address, receiver), blueprint)?;
        let random = Random::new(blueprint.seed, &format!("flow.{}", flow.name), "sender");
        let mut state = self.new_state(endpoint, address, id, random);
        if self.distributions.reported || flow.kind.encodes() {
            // delays in the RTP queue
            state.keep_reported_delays();
        }
        if self.distributions.waits && consumes(flow) {
            state.keep_waits();
        }
        Ok(state)
    }

    /// The built-in endpoint of a receiver in its initial state, with the clock of its node.
    pub(super) fn new_receiver(
        &mut self,
        receiver: usize,
        blueprint: &Blueprint,
    ) -> Result<EndpointState, ParamError> {
        let ReceiverState { flow: id, number, endpoint, .. } = self.receivers[receiver];
        let flow = &blueprint.flows[id.index()];
        let node = flow.to[number as usize].node;
        let sender = Address { node: flow.from, endpoint: self.sender_of(id) };
        let made = self.make_receiver(id, sender, node, blueprint)?;
        let path = format!("flow.{}.{}", flow.name, blueprint.nodes[node.index()]);
        let random = Random::new(blueprint.seed, &path, "receiver");
        let mut state = self.new_state(made, Address { node, endpoint }, id, random);
        if self.distributions.reported || flow.kind.encodes() {
            // delays of frames
            state.keep_reported_delays();
        }
        if self.distributions.waits {
            state.keep_waits();
        }
        Ok(state)
    }

    /// An endpoint with the clock of its node.
    fn new_state(
        &mut self,
        endpoint: AnyEndpoint,
        address: Address,
        flow: FlowId,
        random: Random,
    ) -> EndpointState {
        let endpoint = self.clocks.wrap(address.node, endpoint);
        let mut state = EndpointState::new(endpoint, address, flow, random, &mut self.machines);
        if self.screened || !self.clocks.are_exact() {
            state.screen_all();
        }
        state
    }

    /// Adds the producers of named data, each active from the start.
    fn add_producers(&mut self, blueprint: &Blueprint) {
        let Some(spec) = &blueprint.ndn else { return };
        for producer in &spec.producers {
            let id = EndpointId(self.count() as u32);
            let address = Address { node: producer.node, endpoint: id };
            let endpoint = AnyEndpoint::Producer(Box::new(ndn::Producer::new(&producer.config)));
            let node = &blueprint.nodes[producer.node.index()];
            let path = format!("producer.{node}{}", spec.names.text(producer.config.prefix));
            let random = Random::new(blueprint.seed, &path, "producer");
            let mut state = self.new_state(endpoint, address, NO_FLOW, random);
            if self.distributions.reported {
                state.keep_reported_delays();
            }
            self.add(state);
            self.producers.push(id);
        }
    }
}

/// Whether a flow is a consumer of named data.
fn consumes(flow: &FlowSpec) -> bool {
    matches!(*flow.kind, FlowKind::Ndn(_))
}
