//! Commands of an SDN controller to a node, executed at its ports, routes and next hops.

use contract::{Command, Count, NodeId, Note, PortId};
use units::Rate;

use super::World;
use crate::RouteSpec;
use crate::fabric::NO_FLOW;
use crate::hosts::is_control_port;

impl World {
    /// Executes the commands of a controller at a node.
    #[cold]
    pub(super) fn execute_commands(&mut self, index: usize) {
        for command in std::mem::take(&mut self.out.commands) {
            let node = self.hosts.nodes.node(index);
            let own = |world: &Self, port: PortId| {
                world.fabric.owns(node, port) && !is_control_port(&world.blueprint, port)
            };
            match command {
                Command::NextHops { prefix, hops } => {
                    let state = self.hosts.nodes.get_mut(index);
                    if let Some(port) = state.prefer_next_hops(prefix, hops.list()) {
                        self.record_reroute(index, "prefix_moved", prefix.0, port);
                    }
                }
                Command::Route { to, via } if own(self, via) => self.command_route(index, to, via),
                Command::Queue { port, limit, mark_above } if own(self, port) => {
                    let limit = (limit != u32::MAX).then_some(limit);
                    self.settle(port);
                    self.fabric.port(port).set_queue(limit, mark_above);
                }
                Command::Cap { port, rate } if own(self, port) && rate > Rate::ZERO => self.cap(port, rate),
                // the node does not have what the command refers to
                _ => self.hosts.nodes.get_mut(index).count(Count::Ignored),
            }
        }
        self.record_meter(self.hosts.nodes.address_at(index).endpoint);
    }

    /// Undoes the commands of a node that loses its state: next hops, routes, queues and rate limits are again as
    /// configured.
    pub(super) fn forget_commands(&mut self, index: usize) {
        let node = self.hosts.nodes.node(index);
        for command in self.hosts.nodes.get_mut(index).forget_commands() {
            match command {
                // the forwarder is replaced, with its next hops
                Command::NextHops { .. } => {}
                Command::Route { to, .. } => {
                    self.fabric.unpin(node, to);
                    self.reroute();
                }
                Command::Queue { port, .. } => {
                    self.settle(port);
                    let link = &self.blueprint.links[port.index() / 2];
                    let spec = if port.0 % 2 == 0 { &link.forward } else { &link.backward };
                    self.fabric.port(port).reset_queue(spec);
                }
                Command::Cap { port, .. } => self.cap(port, Rate::UNLIMITED),
            }
        }
    }

    fn cap(&mut self, port: PortId, rate: Rate) {
        self.settle(port);
        let offers = self.fabric.set_cap(port, rate, self.now, &mut self.out.arena);
        self.record_transmissions(port);
        self.record_links();
        self.schedule_all(port, &offers);
        self.show_departures(port);
        self.settle(port);
    }

    fn command_route(&mut self, index: usize, to: NodeId, via: PortId) {
        let at = self.hosts.nodes.node(index);
        let before = self.fabric.next_hop(at, to, NO_FLOW);
        let via = self.fabric.edges()[via.index()].to;
        self.fabric.pin(RouteSpec { at, to, via });
        self.reroute();
        let after = self.fabric.next_hop(at, to, NO_FLOW);
        if before != after {
            self.hosts.nodes.get_mut(index).count(Count::Reroutes);
            self.record_reroute(index, "route_moved", to.0, after);
        }
    }

    /// Records that traffic changed its next hop at a node.
    fn record_reroute(&mut self, index: usize, name: &'static str, what: u32, port: Option<PortId>) {
        self.note(index, name, f64::from(what));
        if let Some(port) = port {
            self.note(index, "moved_to", f64::from(port.0));
        }
    }

    /// Records an event at a node.
    pub(super) fn note(&mut self, index: usize, name: &'static str, value: f64) {
        if self.out.notes.events {
            let from = self.hosts.nodes.address_at(index);
            self.out.notes.pending.push(Note { at: self.now, from, name, value, event: true });
            self.accounts.take_notes(self.now, &mut self.out.notes);
        }
    }

    /// The controller's configured network, before any report; `None` without a controller. For controllers of real
    /// networks.
    pub fn controller_net(&self) -> Option<contract::Net> {
        let spec = self.blueprint.sdn.as_ref()?;
        Some(self.hosts.nodes.inventory(spec, &self.blueprint, &self.fabric))
    }
}

#[cfg(test)]
mod tests {
    use contract::{
        Address, Command, Control, Ecn, FlowId, Header, Label, NodeId, Packet, PortId, RouterInput,
    };
    use stack::sdn;
    use units::{Duration, Rate, Time};

    use crate::{Blueprint, PortSpec, SdnSpec, World};

    /// Two routers with two links between them, and the controller of the first.
    fn world() -> World {
        let mut net = Blueprint::new(Duration::from_secs(1));
        let [a, b, controller] = ["a", "b", "controller"].map(|name| net.node(name));
        let mut port = PortSpec::new(Rate::from_mbps(10), Duration::from_millis(1), 100);
        port.queue.mark_above = Some(50);
        net.link("one", (a, b), port.clone());
        net.link("two", (a, b), port.clone());
        net.link("control", (controller, a), port);
        net.sdn = Some(SdnSpec {
            controller,
            nodes: vec![a],
            out_of_band: true,
            app: "least_loaded".to_owned(),
            app_params: Vec::new(),
            config: sdn::Config::default(),
        });
        World::new(&net).expect("the blueprint is right")
    }

    fn command(world: &mut World, number: u64, command: Command) {
        let index = world.hosts.nodes.at(NodeId(0)).expect("it has an agent");
        let agent = world.hosts.nodes.address(NodeId(0)).expect("it has an agent");
        let packet = Packet {
            flow: FlowId(u32::MAX),
            size_bytes: 100,
            source: Address::default(),
            to: agent.into(),
            sent_at: Time::ZERO,
            label: Label([number, 0, 0, 0]),
            header: Header::Control(Control::Command(command)),
            ecn: Ecn::NotCapable,
            hops: 0,
            waited: Default::default(),
        };
        world.run_node(index, RouterInput::Packet(&packet, PortId(5)));
        world.after_node(index);
    }

    #[test]
    fn a_reset_node_loses_commands_of_queues_and_rate_limits() {
        let mut world = world();
        let limit = |world: &mut World| world.fabric.view(PortId(0), Time::ZERO).limit.packets;
        command(&mut world, 1, Command::Queue { port: PortId(0), limit: 20, mark_above: 5 });
        command(&mut world, 2, Command::Cap { port: PortId(0), rate: Rate::from_mbps(3) });
        assert_eq!(
            (limit(&mut world), world.fabric.view(PortId(0), Time::ZERO).rate),
            (20, Rate::from_mbps(3))
        );
        world.reset_node(NodeId(0));
        assert_eq!(
            (limit(&mut world), world.fabric.view(PortId(0), Time::ZERO).rate),
            (100, Rate::from_mbps(10))
        );
        command(&mut world, 1, Command::Queue { port: PortId(0), limit: 30, mark_above: 5 });
        assert_eq!(limit(&mut world), 30, "it takes any number again");
    }
}
