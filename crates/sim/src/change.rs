//! What changes during a run: flows start and stop, receivers join and leave, links change, routes follow.

use contract::{Address, DropReason, FlowId, Input, NodeId, PortId, QueueDiscipline, Random};
use units::{Rate, Time};

use crate::agenda::{Kind, What};
use crate::peer::{AnyEndpoint, Factory, destination, make_receiver, make_sender};
use crate::port::Offer;
use crate::world::World;
use crate::{Change, Churn, build};

impl World {
    /// A sender's start, stop, or the next turn of its churn.
    pub(crate) fn on_toggle_flow(&mut self, index: usize) {
        let flow = FlowId(index as u32);
        let on = self.peers[self.sender_of(flow)].active;
        let spec = &self.blueprint.flows[index];
        let turn = Turn::new(self.now, on, spec.stop, spec.churn, &mut self.flows[index].churn_random);
        if turn.on {
            self.start_flow(flow)
        } else {
            self.stop_flow(flow)
        }
        self.agenda.push(turn.next, What::new(Kind::ToggleFlow, index as u32));
    }

    /// A receiver's join, leave, or the next turn of its churn.
    pub(crate) fn on_toggle_receiver(&mut self, index: usize) {
        let state = &mut self.receivers[index];
        let on = self.peers[state.endpoint.index()].active;
        let spec = &self.blueprint.flows[state.flow.index()].to[state.number];
        let turn = Turn::new(self.now, on, spec.stop, spec.churn, &mut state.churn_random);
        if turn.on {
            self.join(index)
        } else {
            self.leave(index)
        }
        self.agenda.push(turn.next, What::new(Kind::ToggleReceiver, index as u32));
    }

    /// A change that the scenario lists.
    pub(crate) fn on_change(&mut self, index: usize) {
        match self.blueprint.events[index].1.clone() {
            Change::LinkRate(link, rate) if rate == Rate::ZERO => self.set_up(link.0, false),
            Change::LinkRate(link, rate) => {
                for port in both(link.0) {
                    let offers = self.ports[port.index()].set_rate(self.now, rate);
                    self.schedule_all(port, &offers);
                    self.show_departures(port);
                }
            }
            Change::LinkDelay(link, delay) => {
                for port in both(link.0) {
                    let offers = self.ports[port.index()].set_delay(self.now, delay);
                    self.schedule_all(port, &offers);
                    self.edges[port.index()].delay_ns = delay.as_nanos();
                }
                self.reroute();
            }
            Change::LinkLoss(link, loss) => {
                both(link.0).into_iter().for_each(|port| self.ports[port.index()].set_loss(loss));
            }
            Change::LinkUp(link, up) => self.set_up(link.0, up),
            Change::Route(route) => {
                self.blueprint.routes.retain(|old| (old.at, old.to) != (route.at, route.to));
                self.blueprint.routes.push(route);
                self.reroute();
            }
            Change::FlowStart(flow) => self.start_flow(flow),
            Change::FlowStop(flow) => self.stop_flow(flow),
            Change::Join(flow, node) => {
                if let Some(receiver) = self.receiver_at(flow, node) {
                    self.join(receiver);
                }
            }
            Change::Leave(flow, node) => {
                if let Some(receiver) = self.receiver_at(flow, node) {
                    self.leave(receiver);
                }
            }
            Change::Reset(node) => self.reset_node(node),
            Change::Controller(on) => self.set_controller(on),
            Change::Mode(flow, mode) => {
                let sender = self.sender_of(flow);
                self.tell(sender, Input::Mode(&mode));
                for receiver in self.flows[flow.index()].receivers.clone() {
                    self.tell(self.receivers[receiver].endpoint.index(), Input::Mode(&mode));
                }
            }
        }
    }

    fn start_flow(&mut self, flow: FlowId) {
        let sender = self.sender_of(flow);
        if self.peers[sender].active {
            return;
        }
        if self.peers[sender].started_at.is_some() {
            self.remake_sender(flow);
            // a new sender numbers its packets anew, so its receivers begin anew as well
            self.begin_epoch(sender);
            for receiver in self.flows[flow.index()].receivers.clone() {
                self.begin_epoch(self.receivers[receiver].endpoint.index());
                if self.peers[self.receivers[receiver].endpoint.index()].active {
                    self.remake_receiver(receiver);
                    self.tell(self.receivers[receiver].endpoint.index(), Input::Start);
                }
            }
        }
        self.activate(sender);
    }

    /// Packets to this endpoint that were sent before now are of an earlier connection.
    fn begin_epoch(&mut self, peer: usize) {
        let now = self.now;
        let peer = &mut self.peers[peer];
        peer.epoch = now;
        peer.screen = peer.screen.max(now);
    }

    fn stop_flow(&mut self, flow: FlowId) {
        self.deactivate(self.sender_of(flow));
    }

    fn join(&mut self, receiver: usize) {
        let (peer, flow) = (self.receivers[receiver].endpoint, self.receivers[receiver].flow);
        if self.peers[peer.index()].active {
            return;
        }
        if self.peers[peer.index()].started_at.is_some() {
            self.remake_receiver(receiver);
        }
        if let Some(tree) = self.trees[flow.index()].as_mut() {
            tree.join(peer, self.peers[peer.index()].address.node, &self.routes, &self.edges);
        }
        self.activate(peer.index());
    }

    fn leave(&mut self, receiver: usize) {
        let (peer, flow) = (self.receivers[receiver].endpoint, self.receivers[receiver].flow);
        self.deactivate(peer.index());
        if let Some(tree) = self.trees[flow.index()].as_mut() {
            tree.leave(peer, self.peers[peer.index()].address.node, &self.edges);
        }
    }

    /// Makes the sender's machine anew. The parameters were accepted when the world was built.
    fn remake_sender(&mut self, flow: FlowId) {
        let (spec, state) = (&self.blueprint.flows[flow.index()], &self.flows[flow.index()]);
        let endpoint = match &state.custom_sender {
            Some(make) => AnyEndpoint::Custom(make(destination(spec, flow, self.first_receiver(flow)))),
            None => self.house_sender(flow),
        };
        let sender = state.sender.index();
        self.peers[sender].endpoint = self.clocked(spec.from, endpoint);
    }

    fn first_receiver(&self, flow: FlowId) -> Address {
        let receiver = self.receivers.get(self.flows[flow.index()].receivers.clone()).and_then(<[_]>::first);
        receiver.map_or(Address::default(), |receiver| self.peers[receiver.endpoint.index()].address)
    }

    /// A machine of the house that sends a flow.
    pub(crate) fn house_sender(&self, flow: FlowId) -> AnyEndpoint {
        let spec = &self.blueprint.flows[flow.index()];
        let attachment = self.attachment(flow, spec.from, true);
        make_sender(spec, flow, self.first_receiver(flow), attachment, &self.blueprint)
            .expect("the same parameters were accepted before")
    }

    /// Makes a receiver's machine anew.
    fn remake_receiver(&mut self, receiver: usize) {
        let (flow, peer) = (self.receivers[receiver].flow, self.receivers[receiver].endpoint);
        let state = &self.flows[flow.index()];
        let endpoint = match &state.custom_receiver {
            Some(make) => AnyEndpoint::Custom(make(self.peers[state.sender.index()].address.into())),
            None => self.house_receiver(receiver),
        };
        let at = self.peers[peer.index()].address.node;
        self.peers[peer.index()].endpoint = self.clocked(at, endpoint);
    }

    /// A machine of the house that receives a flow.
    pub(crate) fn house_receiver(&self, receiver: usize) -> AnyEndpoint {
        let (flow, peer) = (self.receivers[receiver].flow, self.receivers[receiver].endpoint);
        let sender = self.peers[self.sender_of(flow)].address;
        let at = self.peers[peer.index()].address.node;
        make_receiver(&self.blueprint.flows[flow.index()], sender, self.attachment(flow, at, false))
            .expect("the same parameters were accepted before")
    }

    /// Lets a flow be sent by an endpoint that is not of the house. Call before the run.
    pub fn custom_sender(&mut self, flow: FlowId, make: Factory) {
        self.flows[flow.index()].custom_sender = Some(make);
        self.remake_sender(flow);
    }

    /// Lets a flow be received by endpoints that are not of the house. Call before the run.
    pub fn custom_receiver(&mut self, flow: FlowId, make: Factory) {
        self.flows[flow.index()].custom_receiver = Some(make);
        self.flows[flow.index()].receivers.clone().for_each(|receiver| self.remake_receiver(receiver));
    }

    pub(crate) fn activate(&mut self, peer: usize) {
        let state = &mut self.peers[peer];
        state.active = true;
        state.active_since = self.now;
        state.started_at.get_or_insert(self.now);
        self.tell(peer, Input::Start);
    }

    fn deactivate(&mut self, peer: usize) {
        if !self.peers[peer].active {
            return;
        }
        self.tell(peer, Input::Stop);
        let state = &mut self.peers[peer];
        state.active_for = state.active_until(self.now);
        state.active = false;
    }

    fn tell(&mut self, peer: usize, input: Input<'_>) {
        if self.peers[peer].active {
            self.peers[peer].handle(self.now, input, &mut self.out);
            self.after(peer);
            self.hand_over();
        }
    }

    fn receiver_at(&self, flow: FlowId, node: NodeId) -> Option<usize> {
        let mut receivers = self.flows[flow.index()].receivers.clone();
        receivers.find(|&index| self.peers[self.receivers[index].endpoint.index()].address.node == node)
    }

    fn set_up(&mut self, link: u32, up: bool) {
        for port in both(link) {
            self.count_backlog(port);
            let mut lost = self.ports[port.index()].set_up(self.now, up);
            if !up {
                lost.extend(self.flush(port));
            }
            for id in lost {
                self.ports[port.index()].count_drop(DropReason::LinkDown);
                self.drop(id, DropReason::LinkDown);
            }
            self.edges[port.index()].up = up && !self.blueprint.is_control(contract::LinkId(link));
        }
        self.reroute();
    }

    /// Empties the queue of a port with a discipline.
    fn flush(&mut self, port: PortId) -> Vec<contract::PacketId> {
        let Some(discipline) = self.ports[port.index()].discipline.as_mut() else { return Vec::new() };
        discipline.queue.drain()
    }

    pub(crate) fn schedule_all(&mut self, port: PortId, offers: &[Offer]) {
        for offer in offers {
            match *offer {
                Offer::Arrive(at) => self.agenda.push(at, What::new(Kind::Arrive, port.0)),
                Offer::Depart(at) => self.agenda.push(at, What::new(Kind::Depart, port.0)),
                Offer::Accepted | Offer::Dropped(_) => {}
            }
        }
    }

    /// Recomputes every route and every tree.
    pub(crate) fn reroute(&mut self) {
        self.routes = build::routes(&self.blueprint, &self.edges);
        self.trees.iter_mut().flatten().for_each(|tree| tree.rebuild(&self.routes, &self.edges));
        self.route_names();
    }
}

/// What an endpoint does when its time has come.
struct Turn {
    /// It is on from now on.
    on: bool,
    /// When its time comes again.
    next: Time,
}

impl Turn {
    /// On at its start and off at `stop`; in between, with churn, the other way round after each spell.
    fn new(now: Time, was_on: bool, stop: Time, churn: Option<Churn>, random: &mut Random) -> Self {
        if now >= stop {
            return Self { on: false, next: Time::NEVER };
        }
        let on = churn.is_none() || !was_on;
        let spell = churn.map(|churn| if on { churn.on } else { churn.off });
        Self { on, next: spell.map_or(stop, |spell| (now + spell.draw(random)).min(stop)) }
    }
}

const fn both(link: u32) -> [PortId; 2] {
    [PortId(2 * link), PortId(2 * link + 1)]
}
