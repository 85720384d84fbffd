//! Changes during a run: flows start and stop, receivers join and leave, links change, routes follow.

use contract::{DropReason, EndpointId, FlowId, Input, LinkAlgorithm, LinkId, NodeId, PortId, Random};
use stack::log::Log;
use units::Rate;

use super::World;
use crate::agenda::{AgendaEvent, Kind};
use crate::fabric::{Offer, both};
use crate::trace::Subject;
use crate::{Change, Factory};

impl World {
    /// Handles a sender's start, stop or churn event.
    pub(super) fn on_toggle_flow(&mut self, flow: FlowId) {
        let turn = self.hosts.next_flow_change(flow, self.now, &self.blueprint);
        if turn.on {
            self.start_flow(flow)
        } else {
            self.stop_flow(flow)
        }
        self.agenda.push(turn.next, AgendaEvent::new(Kind::ToggleFlow, flow.0));
    }

    /// Handles a receiver's join, leave or churn event.
    pub(super) fn on_toggle_receiver(&mut self, receiver: usize) {
        let turn = self.hosts.next_receiver_change(receiver, self.now, &self.blueprint);
        if turn.on {
            self.join(receiver)
        } else {
            self.leave(receiver)
        }
        self.agenda.push(turn.next, AgendaEvent::new(Kind::ToggleReceiver, receiver as u32));
    }

    /// Handles a change of the scenario.
    pub(super) fn on_change(&mut self, index: usize) {
        match self.blueprint.events[index].1.clone() {
            Change::LinkRate(link, rate) if rate == Rate::ZERO => self.set_up(link, false),
            Change::LinkRate(link, rate) => {
                for port in both(link) {
                    self.settle(port);
                    let offers = self.fabric.set_rate(port, rate, self.now, &mut self.out.arena);
                    self.record_transmissions(port);
                    self.schedule_all(port, &offers);
                    self.show_departures(port);
                    self.settle(port);
                }
            }
            Change::LinkDelay(link, delay) => {
                for port in both(link) {
                    self.settle(port);
                    let offers = self.fabric.set_delay(port, delay, self.now);
                    self.schedule_all(port, &offers);
                }
                self.reroute();
            }
            Change::LinkLoss(link, loss) => {
                for (port, name) in both(link).into_iter().zip(["forward", "backward"]) {
                    let path = format!("link.{}.{name}", self.blueprint.links[link.index()].name);
                    let random = || Random::new(self.blueprint.seed, &path, "loss");
                    self.fabric.port(port).set_loss(loss, random);
                }
            }
            Change::LinkUp(link, up) => self.set_up(link, up),
            Change::Route(route) => {
                self.fabric.pin(route);
                self.reroute();
            }
            Change::FlowStart(flow) => self.start_flow(flow),
            Change::FlowStop(flow) => self.stop_flow(flow),
            Change::Join(flow, node) => {
                if let Some(receiver) = self.hosts.receiver_at(flow, node) {
                    self.join(receiver);
                }
            }
            Change::Leave(flow, node) => {
                if let Some(receiver) = self.hosts.receiver_at(flow, node) {
                    self.leave(receiver);
                }
            }
            Change::Reset(node) => self.reset_node(node),
            Change::Controller(on) => self.set_controller(on),
            Change::Mode(flow, mode) => {
                self.give_input(self.hosts.sender_of(flow), Input::Mode(&mode));
                for receiver in self.hosts.receivers_of(flow) {
                    self.give_input(self.hosts.receiver(receiver).1, Input::Mode(&mode));
                }
            }
        }
        self.record_links();
    }

    pub(super) fn start_flow(&mut self, flow: FlowId) {
        self.hosts.begin(flow, &self.blueprint);
        self.hosts.free_ended(&self.out.arena, &self.blueprint);
        let sender = self.hosts.sender_of(flow);
        if self.hosts.is_active(sender) {
            return;
        }
        for receiver in self.hosts.restart(flow, self.now, &self.blueprint) {
            self.give_input(receiver, Input::Start);
        }
        self.activate(sender);
    }

    pub(super) fn stop_flow(&mut self, flow: FlowId) {
        self.deactivate(self.hosts.sender_of(flow));
    }

    fn join(&mut self, receiver: usize) {
        if !self.hosts.admit(receiver, &self.blueprint) {
            return;
        }
        let (flow, endpoint) = self.hosts.receiver(receiver);
        self.fabric.join(flow, endpoint, self.hosts.address(endpoint).node);
        self.activate(endpoint);
    }

    fn leave(&mut self, receiver: usize) {
        let (flow, endpoint) = self.hosts.receiver(receiver);
        self.deactivate(endpoint);
        self.fabric.leave(flow, endpoint, self.hosts.address(endpoint).node);
    }

    /// Sets the factory of a flow's sender. Call it before the run.
    pub fn custom_sender(&mut self, flow: FlowId, make: Factory) {
        self.hosts.set_custom_sender(flow, make, &self.blueprint);
    }

    /// Logs the congestion controller at a flow's sender. Call it before the run. It has no effect on datagrams and
    /// custom senders.
    pub fn log(&mut self, flow: FlowId, log: Log) {
        self.hosts.set_log(flow, log, &self.blueprint);
    }

    /// Sets the factory of a flow's receivers. Call it before the run.
    pub fn custom_receiver(&mut self, flow: FlowId, make: Factory) {
        self.hosts.set_custom_receiver(flow, make, &self.blueprint);
    }

    /// Replaces the link part of the NDN forwarder of `node`. Call it before the run. It has no effect without a
    /// forwarder.
    pub fn custom_link(&mut self, node: NodeId, algorithm: Box<dyn LinkAlgorithm + Send>) {
        let Some(index) = self.hosts.nodes.at(node) else { return };
        if self.hosts.nodes.get_mut(index).set_link_algorithm(algorithm) {
            self.hosts.nodes.observe_ports(&mut self.fabric);
            self.start_node(index);
        }
    }

    /// Activates an endpoint, which then accepts packets.
    pub(super) fn activate(&mut self, endpoint: EndpointId) {
        self.hosts.endpoint(endpoint).activate(self.now);
        self.record_activity(endpoint, true);
        self.give_input(endpoint, Input::Start);
    }

    fn deactivate(&mut self, endpoint: EndpointId) {
        if self.hosts.is_active(endpoint) {
            self.give_input(endpoint, Input::Stop);
            self.hosts.endpoint(endpoint).deactivate(self.now);
            self.record_activity(endpoint, false);
        }
    }

    /// Gives an input to an active endpoint.
    fn give_input(&mut self, endpoint: EndpointId, input: Input<'_>) {
        let (state, machines) = self.hosts.running(endpoint);
        if state.is_active() {
            state.handle(self.now, input, machines, &mut self.out);
            self.after(endpoint);
            self.deliver_local();
        }
    }

    fn set_up(&mut self, link: LinkId, up: bool) {
        let hidden = self.blueprint.is_control(link);
        for port in both(link) {
            self.settle(port);
            for id in self.fabric.set_up(port, up, hidden, self.now) {
                self.drop(id, DropReason::LinkDown, Subject::Port(port));
            }
        }
        self.reroute();
    }

    /// Schedules the events of a port after a change.
    pub(super) fn schedule_all(&mut self, port: PortId, offers: &[Offer]) {
        for offer in offers {
            match *offer {
                Offer::Arrive(at) => self.agenda.push(at, AgendaEvent::new(Kind::Arrive, port.0)),
                Offer::Depart(at) => self.agenda.push(at, AgendaEvent::new(Kind::Depart, port.0)),
                Offer::Accepted | Offer::Dropped(_) => {}
            }
        }
    }

    /// Recomputes every route, every tree and every next hop of named data.
    pub(super) fn reroute(&mut self) {
        self.fabric.reroute(&self.blueprint);
        self.hosts.nodes.route_names(&self.blueprint, self.fabric.edges());
    }

    /// Resets the state machine of a node to its initial state.
    pub(super) fn reset_node(&mut self, node: NodeId) {
        let Some(index) = self.hosts.nodes.at(node) else { return };
        self.forget_commands(index);
        if self.hosts.reset_node(index, &self.blueprint, &self.fabric) {
            self.start_node(index);
        }
    }

    /// Stops the controller, or starts it without state.
    fn set_controller(&mut self, on: bool) {
        let Some(index) = self.hosts.set_controller(on, &self.blueprint, &self.fabric) else { return };
        self.note(index, if on { "controller_started" } else { "controller_stopped" }, 0.0);
        if on {
            self.start_node(index);
        }
    }
}
