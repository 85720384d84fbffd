//! Hosts: endpoints, the state machines of nodes, their clocks, and the flows of the endpoints.

mod any_node;
mod build;
mod clocks;
mod counters;
mod endpoint;
mod flows;
mod late;
mod machines;
mod ndn;
mod next_hops;
mod node_agent;
mod nodes;
mod place;
mod sdn;

use std::ops::Range;

use contract::{Address, DropReason, EndpointId, FlowId, Meter, Name, NodeId, Outputs, Packet, Random};
use stack::log::Log;
use units::{Clock, Drift, Duration, Rate, Time};

pub use build::MANY_RECEIVERS;
use clocks::Clocks;
use counters::Totals;
use endpoint::{EndpointState, RECEIVER_LINES, STATE_LINES};
pub(crate) use late::LateFlows;
use late::{LateEndpoints, Slot};
use machines::{MachineId, Machines};
use nodes::Nodes;
pub(crate) use nodes::access_routers;
pub(crate) use sdn::is_control_port;

use crate::agenda::{Agenda, AgendaEvent, Kind};
use crate::fabric::Fabric;
use crate::packet_log::{EndpointRole, EndpointRow};
use crate::trace::{FlowRecord, ReceiverRecord, Subject};
use crate::{Blueprint, Factory};
use memory::{prefetch, prefetch_line};

/// The endpoints of a flow.
struct FlowState {
    sender: EndpointId,
    /// Its receivers, as a range of indices.
    receivers: Range<u32>,
    /// With churn only.
    churn_random: Option<Box<Random>>,
    /// What is not built in.
    custom: Option<Box<Custom>>,
}

/// What replaces or observes the built-in endpoints of a flow.
#[derive(Default)]
struct Custom {
    /// Factories of endpoints that are not built in.
    sender: Option<Factory>,
    receiver: Option<Factory>,
    /// The log of its congestion controller.
    log: Option<Log>,
}

impl FlowState {
    fn receivers(&self) -> Range<usize> {
        self.receivers.start as usize..self.receivers.end as usize
    }

    /// What is not built in, for modification.
    fn custom(&mut self) -> &mut Custom {
        self.custom.get_or_insert_default()
    }
}

/// A receiver.
struct ReceiverState {
    flow: FlowId,
    /// Its number among the flow's receivers.
    number: u32,
    endpoint: EndpointId,
    /// With churn only.
    churn_random: Option<Box<Random>>,
}

/// Endpoints, nodes with a state machine, clocks, and flows.
pub(crate) struct Hosts {
    /// The endpoints before the first one of a late flow.
    endpoints: Vec<EndpointState>,
    late: LateEndpoints,
    machines: Machines,
    /// What new endpoints record.
    distributions: Distributions,
    /// No endpoint takes packets on the fast path, because each is recorded.
    screened: bool,
    /// End of the warm-up; the start of the run before it, and without one.
    warmed_at: Time,
    pub nodes: Nodes,
    clocks: Clocks,
    flows: Vec<FlowState>,
    receivers: Vec<ReceiverState>,
    /// Producers of named data.
    producers: Vec<EndpointId>,
    /// See [`endpoint::access_capacities`].
    access: Vec<Option<Rate>>,
    /// The first endpoint at each node, or [`NO_ENDPOINT`]; empty in small networks.
    first_at: Vec<u32>,
    /// The state machine of each endpoint at the start, for prefetching; empty in small networks.
    machine_of: Vec<MachineId>,
}

const NOT_RUNNING: &str = "nothing happens at endpoints of late flows before their start and after their end";

/// Distributions that endpoints keep.
#[derive(Clone, Copy)]
struct Distributions {
    /// Waits of packets at receivers and consumers.
    waits: bool,
    /// Delays that endpoints report.
    reported: bool,
}

const NO_ENDPOINT: u32 = u32::MAX;

impl Hosts {
    /// An endpoint of a flow that has not ended, and has started if it is late.
    #[inline]
    pub(crate) fn endpoint(&mut self, endpoint: EndpointId) -> &mut EndpointState {
        match self.endpoints.get_mut(endpoint.index()) {
            Some(state) => state,
            None => self.late.running_mut(endpoint).expect(NOT_RUNNING),
        }
    }

    /// An endpoint of a flow that has not ended, and has started if it is late, and the state machines.
    #[inline]
    pub(crate) fn running(&mut self, endpoint: EndpointId) -> (&mut EndpointState, &mut Machines) {
        let state = match self.endpoints.get_mut(endpoint.index()) {
            Some(state) => state,
            None => self.late.running_mut(endpoint).expect(NOT_RUNNING),
        };
        (state, &mut self.machines)
    }

    /// The state of an endpoint of a flow that has not ended, and has started if it is late.
    fn state(&self, endpoint: EndpointId) -> &EndpointState {
        self.started(endpoint).expect(NOT_RUNNING)
    }

    /// An endpoint, unless its flow is late and has not started, or has ended.
    fn started(&self, endpoint: EndpointId) -> Option<&EndpointState> {
        self.endpoints.get(endpoint.index()).or_else(|| self.late.running(endpoint))
    }

    /// Requests what an input of the endpoint needs, if it exists for the whole run.
    #[inline]
    pub(crate) fn prefetch(&self, endpoint: usize) {
        if let (Some(state), Some(&machine)) = (self.endpoints.get(endpoint), self.machine_of.get(endpoint)) {
            let receives = matches!(machine, MachineId::TcpReceiver(_) | MachineId::Sink(_));
            prefetch(state, if receives { RECEIVER_LINES } else { STATE_LINES });
            self.machines.prefetch(machine);
        }
    }

    /// The name that an endpoint will probably request next.
    pub(crate) fn next_name(&self, endpoint: EndpointId) -> Option<Name> {
        self.machines.next_name(self.started(endpoint)?.machine())
    }

    /// Requests what a packet that arrives at `node` needs. Returns whether the node has an endpoint that may answer.
    #[inline]
    pub(crate) fn prefetch_at(&self, node: NodeId) -> bool {
        let endpoint = self.first_at.get(node.index()).copied().unwrap_or(NO_ENDPOINT);
        self.prefetch(endpoint as usize);
        endpoint != NO_ENDPOINT && !matches!(self.machine_of.get(endpoint as usize), Some(MachineId::Sink(_)))
    }

    /// Requests what is needed of a packet that arrives at `node`: both lines if an endpoint or a state machine there
    /// may take it, otherwise the first, which every link reads. It has no branch, because arrivals at hosts and at
    /// routers alternate in no order.
    #[inline]
    pub(crate) fn prefetch_packet(&self, packet: &Packet, node: NodeId) {
        let has_endpoint = self.first_at.get(node.index()).is_some_and(|first| *first != NO_ENDPOINT);
        prefetch_line(packet, 0);
        prefetch_line(packet, usize::from(has_endpoint | self.nodes.at(node).is_some()));
    }

    /// Notes which endpoints are at which of `nodes` nodes, and their state machines, for [`Hosts::prefetch_at`].
    pub(crate) fn prepare_prefetch(&mut self, nodes: usize) {
        self.machine_of = self.endpoints.iter().map(EndpointState::machine).collect();
        self.first_at = vec![NO_ENDPOINT; nodes];
        for number in 0..self.count() as u32 {
            let node = self.address(EndpointId(number)).node;
            let first = &mut self.first_at[node.index()];
            *first = number.min(*first);
        }
    }

    /// The endpoint that a `Wake` is for, and the state machines; `None` if it is for the state machine of a node, or
    /// for an endpoint whose flow has ended.
    #[inline]
    pub(crate) fn wake_target(&mut self, what: AgendaEvent) -> Option<(&mut EndpointState, &mut Machines)> {
        let state = match self.endpoints.get_mut(what.index()) {
            Some(state) => state,
            None if self.late.is_empty() => return None,
            None => self.late.running_mut(EndpointId(what.index() as u32))?,
        };
        Some((state, &mut self.machines))
    }

    /// Endpoints that exist now.
    pub(crate) fn existing(&self) -> usize {
        self.endpoints.len() + self.late.existing()
    }

    /// Number of endpoints, including the endpoints of late flows.
    pub(crate) fn count(&self) -> usize {
        self.endpoints.len() + self.late.len()
    }

    /// Gives an arriving packet to an endpoint, see [`EndpointState::receive`].
    #[inline]
    pub(crate) fn receive(
        &mut self,
        endpoint: EndpointId,
        packet: (&Packet, Time),
        now: Time,
        out: &mut Outputs,
    ) -> (bool, Time) {
        let (state, machines) = self.running(endpoint);
        state.receive(now, packet, machines, out)
    }

    /// The next `Wake` of an endpoint; [`Time::NEVER`] if one is pending that is early enough.
    #[inline]
    pub(crate) fn arm(&mut self, endpoint: EndpointId, now: Time) -> Time {
        let (state, machines) = self.running(endpoint);
        let wake = machines.wake(state.machine());
        state.arm(now, wake).unwrap_or(Time::NEVER)
    }

    /// Schedules the next `Wake` of an endpoint.
    pub(crate) fn rearm(&mut self, endpoint: EndpointId, now: Time, agenda: &mut Agenda) {
        agenda.push(self.arm(endpoint, now), AgendaEvent::new(Kind::Wake, endpoint.0));
    }

    /// Whether there is a flow of this number: control messages have one that no flow has.
    pub(crate) fn has_flow(&self, flow: FlowId) -> bool {
        flow.index() < self.flows.len()
    }

    /// The endpoint that sends a flow.
    pub(crate) fn sender_of(&self, flow: FlowId) -> EndpointId {
        self.flows[flow.index()].sender
    }

    /// The endpoints that receive a flow, by receiver.
    pub(crate) fn receivers_of(&self, flow: FlowId) -> Range<usize> {
        self.flows[flow.index()].receivers()
    }

    /// The flow and the endpoint of a receiver.
    pub(crate) fn receiver(&self, receiver: usize) -> (FlowId, EndpointId) {
        let state = &self.receivers[receiver];
        (state.flow, state.endpoint)
    }

    /// The receiver of a flow at a node.
    pub(crate) fn receiver_at(&self, flow: FlowId, node: NodeId) -> Option<usize> {
        self.receivers_of(flow).find(|&index| self.address(self.receivers[index].endpoint).node == node)
    }

    /// Producers of named data.
    pub(crate) fn producers(&self) -> Vec<EndpointId> {
        self.producers.clone()
    }

    /// The address of an endpoint.
    #[inline]
    pub(crate) fn address(&self, endpoint: EndpointId) -> Address {
        match self.endpoints.get(endpoint.index()) {
            Some(state) => state.address(),
            None => self.late_address(endpoint),
        }
    }

    #[inline(never)]
    fn late_address(&self, endpoint: EndpointId) -> Address {
        match self.late.slot(endpoint).expect("there is an endpoint of this number") {
            Slot::Waiting(address) => *address,
            Slot::Running(state) => state.address(),
            Slot::Ended(state) => state.address(),
        }
    }

    pub(crate) fn is_active(&self, endpoint: EndpointId) -> bool {
        match self.endpoints.get(endpoint.index()) {
            Some(state) => state.is_active(),
            None => match self.late.slot(endpoint) {
                Some(Slot::Running(state)) => state.is_active(),
                Some(Slot::Ended(state)) => state.is_active(),
                Some(Slot::Waiting(_)) | None => false,
            },
        }
    }

    // ---- applications

    /// Bytes delivered at the receiver of a flow.
    pub(crate) fn delivered(&self, flow: FlowId) -> u64 {
        let receiver = self.receivers_of(flow).next().map(|receiver| self.receivers[receiver].endpoint);
        receiver.map_or(0, |endpoint| self.totals_of(endpoint).delivered_bytes)
    }

    /// Bytes that the sender of a flow did not send because their answer was abandoned. The receiver knows it from what
    /// comes next.
    fn skipped(&self, flow: FlowId) -> u64 {
        self.meter(self.sender_of(flow)).map_or(0, |(meter, ..)| meter.count(contract::Count::Skipped))
    }

    /// Requested bytes of a flow that have been delivered, or are not sent.
    pub(crate) fn answered(&self, flow: FlowId) -> u64 {
        self.delivered(flow) + self.skipped(flow)
    }

    /// Sets the bytes of [`Hosts::answered`] at which the application of a flow's receiver is notified.
    pub(crate) fn set_news(&mut self, flow: FlowId, at: u64) {
        let at = if at < u64::MAX { at.saturating_sub(self.skipped(flow)) } else { at };
        for receiver in self.receivers_of(flow) {
            let endpoint = self.receivers[receiver].endpoint;
            self.endpoint(endpoint).set_news(at);
        }
    }

    // ---- clocks

    /// When a packet to an endpoint was sent by true time. `None` if the endpoint does not accept it: it is not active,
    /// or the packet belongs to an earlier connection.
    pub(crate) fn sent_at(&self, endpoint: EndpointId, packet: &Packet) -> Option<Time> {
        const EXACT: Clock = Clock::new(Duration::ZERO, Drift::ZERO);
        let clock = self.clocks.of(packet.source.node).unwrap_or(EXACT);
        self.state(endpoint).sent_by_clock(clock, packet.sent_at)
    }

    /// The true time of an instant `local_time` by the clock of `node`.
    pub(crate) fn true_time(&self, node: NodeId, local_time: Time) -> Time {
        self.clocks.true_time(node, local_time)
    }

    // ---- state machines of nodes

    /// Resets the state machine of a node to its initial state. Returns whether it is to be started.
    pub(crate) fn reset_node(&mut self, index: usize, blueprint: &Blueprint, fabric: &Fabric) -> bool {
        let forwarder = self.nodes.fresh_forwarder(index, blueprint);
        let is_forwarder = forwarder.is_some();
        if let Some(fresh) = forwarder.or_else(|| self.nodes.fresh_router(index, blueprint)) {
            self.nodes.replace(index, fresh, &self.clocks);
        }
        if is_forwarder {
            self.nodes.route_names(blueprint, fabric.edges());
        }
        is_forwarder
    }

    /// Stops the controller, or replaces it by one without state that is to be started. Returns its index, or `None` if
    /// nothing changes.
    pub(crate) fn set_controller(
        &mut self,
        on: bool,
        blueprint: &Blueprint,
        fabric: &Fabric,
    ) -> Option<usize> {
        let index = self.nodes.at(blueprint.sdn.as_ref()?.controller).expect("it was placed");
        if self.nodes.controls(index) == on {
            return None;
        }
        if on {
            let controller = self.nodes.make_controller(blueprint, fabric);
            let controller = controller.expect("the same parameters were accepted before");
            self.nodes.replace(index, controller, &self.clocks);
        } else {
            self.nodes.stop_controller(index);
        }
        Some(index)
    }

    // ---- the record of packets

    /// Lets all endpoints take packets on the slow path from now on.
    pub(crate) fn screen_all(&mut self) {
        self.screened = true;
        self.endpoints.iter_mut().chain(self.late.all_running()).for_each(EndpointState::screen_all);
    }

    /// All endpoints and state machines of nodes, by number.
    pub(crate) fn endpoint_rows(&self) -> Vec<EndpointRow> {
        let endpoint = |number, role, flow| {
            let flow = Some(flow);
            EndpointRow { address: self.address(number), role, flow }
        };
        let mut rows = Vec::with_capacity(self.count() + self.nodes.len());
        for (id, flow) in (0u32..).map(FlowId).zip(&self.flows) {
            rows.push(endpoint(flow.sender, EndpointRole::Sender, id));
            let receivers = &self.receivers[flow.receivers()];
            rows.extend(receivers.iter().map(|to| endpoint(to.endpoint, EndpointRole::Receiver, id)));
        }
        rows.extend(self.producers.iter().map(|&producer| EndpointRow {
            address: self.address(producer),
            role: EndpointRole::Producer,
            flow: None,
        }));
        rows.extend(self.nodes.rows());
        rows
    }

    /// The receivers that listen from the start of the run although their flow starts later.
    pub(crate) fn listening_early(&self) -> Vec<EndpointId> {
        let endpoints = self.receivers.iter().map(|receiver| receiver.endpoint);
        endpoints.filter(|id| matches!(self.late.slot(*id), Some(Slot::Waiting(_)))).collect()
    }

    /// The counters of an endpoint or the state machine of a node, the counters of a forwarder, and the node; `None` if
    /// it does not exist now.
    pub(crate) fn meter(
        &self,
        endpoint: EndpointId,
    ) -> Option<(&Meter, Option<stack::ndn::Counters>, NodeId)> {
        if endpoint.index() >= self.count() {
            return self.nodes.meter(endpoint.index() - self.count());
        }
        let state = self.started(endpoint)?;
        Some((state.meter(), None, state.address().node))
    }

    // ---- records

    /// Frees the memory of state machines, none of which runs from now on.
    pub(crate) fn release_machines(&mut self) {
        self.machines = Machines::default();
    }

    /// Frees the memory of endpoints, to which nothing happens from now on.
    pub(crate) fn release(&mut self) {
        (self.endpoints, self.late) = (Vec::new(), LateEndpoints::default());
    }

    /// The subjects of endpoints and of state machines of nodes, in the order of their addresses.
    pub(crate) fn subjects(&self) -> Vec<Subject> {
        let mut subjects = Vec::new();
        for (flow, state) in (0u32..).zip(&self.flows) {
            subjects.push(Subject::Flow(FlowId(flow)));
            subjects.extend(state.receivers.clone().map(Subject::Receiver));
        }
        subjects.extend(self.producers.iter().map(|&producer| Subject::Node(self.address(producer).node)));
        subjects.extend(self.nodes.places().map(Subject::Node));
        subjects
    }

    /// The totals of the endpoint that sends a flow or is a receiver. Panics for other subjects.
    pub(crate) fn totals(&self, subject: Subject) -> Totals {
        let endpoint = match subject {
            Subject::Flow(flow) => self.sender_of(flow),
            Subject::Receiver(index) => self.receivers[index as usize].endpoint,
            Subject::Port(_) | Subject::Node(_) => unreachable!("series of endpoints have endpoints"),
        };
        self.totals_of(endpoint)
    }

    fn totals_of(&self, endpoint: EndpointId) -> Totals {
        match self.endpoints.get(endpoint.index()) {
            Some(state) => state.totals(),
            None => match self.late.slot(endpoint) {
                Some(Slot::Running(state)) => state.totals(),
                Some(Slot::Ended(state)) => state.totals(),
                Some(Slot::Waiting(_)) | None => Totals::default(),
            },
        }
    }

    /// The records of flows at `now`, with their drops by reason and flow. Distributions move into them unless they are
    /// to be kept for later records.
    pub(crate) fn flow_records(
        &mut self,
        now: Time,
        drops: &[Vec<u64>; DropReason::ALL.len()],
        keep: bool,
    ) -> Vec<FlowRecord> {
        let Self { endpoints, late, clocks, .. } = self;
        let record = |(index, flow): (usize, &FlowState)| {
            let drops = drops.each_ref().map(|flows| flows.get(index).copied().unwrap_or(0));
            match endpoints.get_mut(flow.sender.index()) {
                Some(state) => {
                    let mut record = state.flow_record(now, drops, keep);
                    clocks.correct(state.address().node, &mut record.meter);
                    record
                }
                None => match late.slot_mut(flow.sender) {
                    Some(Slot::Running(state)) => state.flow_record(now, drops, keep),
                    Some(Slot::Ended(state)) => state.flow_record(now, drops, keep),
                    _ => FlowRecord { drops, ..FlowRecord::default() },
                },
            }
        };
        self.flows.iter().enumerate().map(record).collect()
    }

    /// The records of receivers at `now`. Distributions move into them unless they are to be kept for later records.
    pub(crate) fn receiver_records(&mut self, now: Time, keep: bool) -> Vec<ReceiverRecord> {
        let Self { endpoints, late, distributions, warmed_at, clocks, .. } = self;
        let record = |receiver: &ReceiverState| match endpoints.get_mut(receiver.endpoint.index()) {
            Some(state) => {
                let mut record = state.receiver_record(now, keep);
                clocks.correct(state.address().node, &mut record.meter);
                record
            }
            None => match late.slot_mut(receiver.endpoint) {
                Some(Slot::Running(state)) => state.receiver_record(now, keep),
                Some(Slot::Ended(state)) => state.receiver_record(now, keep),
                // it waits for its sender from the start of the run
                Some(Slot::Waiting(address)) => ReceiverRecord {
                    flow: receiver.flow,
                    node: address.node,
                    endpoint: address.endpoint,
                    packets: 0,
                    bytes: 0,
                    delay_sum_ns: 0,
                    wait_sum_ns: 0,
                    delay_min: Duration::MAX,
                    delay_max: Duration::ZERO,
                    waits: distributions.waits.then(Box::default),
                    meter: Meter::default(),
                    active: now.saturating_since(*warmed_at),
                },
                None => unreachable!("every endpoint has a slot"),
            },
        };
        self.receivers.iter().map(record).collect()
    }

    /// Ends the warm-up.
    pub(crate) fn rebase(&mut self, now: Time) {
        self.endpoints.iter_mut().chain(self.late.all_running()).for_each(|state| state.rebase(now));
        self.warmed_at = now;
        self.nodes.rebase();
    }
}
