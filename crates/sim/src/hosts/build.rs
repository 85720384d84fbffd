//! From a blueprint to the hosts at the start of a run.

use contract::{Address, EndpointId, FlowId, ParamError, Random};
use stack::ndn;

use super::clocks::Clocks;
use super::endpoint::{AnyEndpoint, EndpointState};
use super::nodes::Nodes;
use super::{FlowState, Hosts, ReceiverState};
use crate::fabric::{Fabric, NO_FLOW};
use crate::{Blueprint, FlowKind, FlowSpec};

/// Maximum number of receivers and consumers for which the distribution of one-way delays is kept by default, at about 1 kB each.
pub const MANY_RECEIVERS: usize = 10_000;

impl Hosts {
    /// The hosts of a network, and their state machines as observers of its ports. Fails if a scheme rejects its parameters.
    pub(crate) fn new(blueprint: &Blueprint, fabric: &mut Fabric) -> Result<Self, ParamError> {
        let clocks = Clocks::new(blueprint);
        let mut nodes = Nodes::new(blueprint);
        nodes.place(blueprint, fabric, &clocks)?;
        let mut hosts = Self {
            endpoints: Vec::with_capacity(blueprint.endpoints()),
            nodes,
            clocks,
            flows: Vec::with_capacity(blueprint.flows.len()),
            receivers: Vec::with_capacity(blueprint.flows.iter().map(|flow| flow.to.len()).sum()),
            producers: Vec::new(),
            first_at: Vec::new(),
            footprints: Vec::new(),
        };
        for (id, flow) in (0u32..).zip(&blueprint.flows) {
            hosts.add_flow(FlowId(id), flow, blueprint)?;
            if let FlowKind::Stack(stack) = &flow.kind {
                let ends = (stack.ends.0)(flow, stack, None)?;
                hosts.set_ends(FlowId(id), ends, blueprint);
            }
        }
        hosts.add_producers(blueprint);
        if blueprint.record.distributions {
            hosts.endpoints.iter_mut().for_each(EndpointState::keep_reported_delays);
        }
        for (state, flow) in hosts.flows.iter().zip(&blueprint.flows) {
            // delays of frames, and in the RTP queue
            if flow.kind.encodes() {
                let receivers =
                    hosts.receivers[state.receivers.clone()].iter().map(|receiver| receiver.endpoint);
                for id in receivers.chain([state.sender]) {
                    hosts.endpoints[id.index()].keep_reported_delays();
                }
            }
        }
        hosts.keep_delays(blueprint);
        Ok(hosts)
    }

    /// Adds an endpoint with the clock of its node.
    fn add(&mut self, state: EndpointState) {
        self.endpoints.push(state.with_clock(&self.clocks));
    }

    fn add_flow(&mut self, id: FlowId, flow: &FlowSpec, blueprint: &Blueprint) -> Result<(), ParamError> {
        let path = format!("flow.{}", flow.name);
        let first = self.endpoints.len() as u32;
        let sender = Address { node: flow.from, endpoint: EndpointId(first) };
        let first_receiver =
            flow.to.first().map_or(sender, |to| Address { node: to.node, endpoint: EndpointId(first + 1) });
        let random = |path: &str, purpose| Random::new(blueprint.seed, path, purpose);
        let endpoint = self.make_sender(id, first_receiver, blueprint)?;
        self.add(EndpointState::new(endpoint, sender, id, random(&path, "sender")));
        let begin = self.receivers.len();
        for (number, receiver) in flow.to.iter().enumerate() {
            let path = format!("{path}.{}", blueprint.nodes[receiver.node.index()]);
            let address = Address { node: receiver.node, endpoint: EndpointId(self.endpoints.len() as u32) };
            let endpoint = self.make_receiver(id, sender, receiver.node, blueprint)?;
            self.add(EndpointState::new(endpoint, address, id, random(&path, "receiver")));
            let churn_random = random(&path, "churn");
            self.receivers.push(ReceiverState { flow: id, number, endpoint: address.endpoint, churn_random });
        }
        self.flows.push(FlowState {
            sender: sender.endpoint,
            receivers: begin..self.receivers.len(),
            churn_random: random(&path, "churn"),
            custom_sender: None,
            custom_receiver: None,
            log: None,
        });
        Ok(())
    }

    /// Adds the producers of named data, each active from the start.
    fn add_producers(&mut self, blueprint: &Blueprint) {
        let Some(spec) = &blueprint.ndn else { return };
        for producer in &spec.producers {
            let id = EndpointId(self.endpoints.len() as u32);
            let address = Address { node: producer.node, endpoint: id };
            let endpoint = AnyEndpoint::Producer(Box::new(ndn::Producer::new(&producer.config)));
            let node = &blueprint.nodes[producer.node.index()];
            let path = format!("producer.{node}{}", spec.names.text(producer.config.prefix));
            let random = Random::new(blueprint.seed, &path, "producer");
            self.add(EndpointState::new(endpoint, address, NO_FLOW, random));
            self.producers.push(id);
        }
    }

    /// Enables the distributions of one-way delays at receivers and consumers.
    fn keep_delays(&mut self, blueprint: &Blueprint) {
        let consumers = self.flows.iter().zip(&blueprint.flows);
        let consumers = consumers.filter(|(_, spec)| matches!(spec.kind, FlowKind::Ndn(_)));
        let consumers = consumers.map(|(state, _)| state.sender);
        let watched: Vec<EndpointId> =
            self.receivers.iter().map(|receiver| receiver.endpoint).chain(consumers).collect();
        if watched.len() <= MANY_RECEIVERS || blueprint.record.distributions {
            watched.iter().for_each(|id| self.endpoint(*id).keep_delays());
        }
    }
}
