//! What the forwarder does for its SDN agent: it takes tasks, and executes commands.

use contract::{Command, Count, NextHop, PortId, RouterInput};
use quic_net::sdn::{Received, SouthboundChannel};
use units::{Rate, Time};
use wire::sdn::Task;

use super::super::Frames;
use super::super::agent::ForwarderAgent;
use super::Node;

impl Node {
    /// Handles a datagram of the controller.
    pub(super) fn take_control(&mut self, bytes: &[u8], now: Time, frames: &mut dyn Frames) {
        let Some(mut attached) = self.attached.take() else {
            self.strays.strangers += 1;
            return;
        };
        attached.channel.on_datagram(bytes, now);
        let mut new_task = false;
        while let Some(received) = attached.channel.received() {
            let commands = match received {
                Received::Message(message) => {
                    let packet = SouthboundChannel::packet(&message);
                    attached.run(RouterInput::Packet(&packet, PortId(0)), now, &self.ports)
                }
                // the same task again, as after a controller's restart: commands stay in force
                Received::Task(task) if attached.task.as_ref() == Some(&*task) => Vec::new(),
                Received::Task(task) => {
                    self.take_task(&mut attached, *task, now);
                    new_task = true;
                    attached.run(RouterInput::Start, now, &self.ports)
                }
            };
            self.execute(&mut attached, commands);
        }
        attached.flush(now, frames);
        self.attached = Some(attached);
        if new_task {
            self.rerouted();
        }
    }

    /// Handles what is due at the agent.
    pub(super) fn turn_agent(&mut self, at: Time, frames: &mut dyn Frames) {
        let Some(mut attached) = self.attached.take() else { return };
        attached.channel.on_time(at);
        if attached.channel.machine_is_due(at) {
            let commands = attached.run(RouterInput::Timer, at, &self.ports);
            self.execute(&mut attached, commands);
        }
        attached.flush(at, frames);
        self.attached = Some(attached);
    }

    /// The forwarder ends: its agent closes the connection with the controller.
    pub fn end(&mut self, now: Time, frames: &mut dyn Frames) {
        if let Some(attached) = self.attached.as_deref_mut() {
            attached.channel.close(now);
            attached.flush(now, frames);
        }
    }

    /// A task that is another than before: commands are forgotten, links and prefixes have other numbers.
    fn take_task(&mut self, attached: &mut ForwarderAgent, task: Task, now: Time) {
        for (slot, link) in self.settings.links.iter().enumerate() {
            let existing = task.ports.iter().find(|(_, name)| *name == link.name && !name.is_empty());
            attached.ports[slot] = existing.map(|(port, _)| *port);
            self.ports[slot].forget_commands(link);
        }
        let mut ports: Vec<PortId> = attached.ports.iter().flatten().copied().collect();
        ports.sort_unstable();
        attached.channel.begin(&task, &ports);
        let announced: Vec<_> = task
            .prefixes
            .iter()
            .map(|prefix| {
                let hops = prefix.hops.iter().filter_map(|hop| attached.next_hop(hop)).collect();
                (prefix.id, prefix.name.view(), hops)
            })
            .collect();
        let without_room = self.routes.set_controller_prefixes(&announced, now);
        attached.channel.meter.counts[Count::Ignored as usize] += without_room;
        attached.task = Some(task);
    }

    fn execute(&mut self, attached: &mut ForwarderAgent, commands: Vec<Command>) {
        for command in commands {
            let done = match command {
                Command::NextHops { prefix, hops } => {
                    let hops: Vec<NextHop> =
                        hops.list().iter().filter_map(|hop| attached.next_hop(hop)).collect();
                    let prefix = self.routes.number_of(prefix).filter(|_| !hops.is_empty());
                    prefix.map(|prefix| self.prefer(prefix, &hops))
                }
                Command::Queue { port, limit, mark_above } => attached.slot(port).map(|slot| {
                    self.ports[slot].command_queue((limit != u32::MAX).then_some(limit), mark_above);
                    false
                }),
                Command::Cap { port, rate } if rate > Rate::ZERO => attached.slot(port).map(|slot| {
                    self.ports[slot].command_cap(rate.min(self.settings.links[slot].rate));
                    false
                }),
                // nothing is forwarded by address, and nothing with no rate
                Command::Route { .. } | Command::Cap { .. } => None,
            };
            let count = match done {
                Some(true) => Count::Reroutes,
                Some(false) => continue,
                None => Count::Ignored,
            };
            attached.channel.meter.counts[count as usize] += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use contract::{Backlog, FaceId, Hop, Hops, NameId, NodeId};
    use units::{Bytes, Duration};
    use wire::sdn::Prefix;

    use super::*;
    use crate::forwarder::{ControllerSettings, LinkSettings, Peer, RouteSettings, Settings};
    use quic_net::Credentials;

    /// Takes everything.
    struct Gone;

    impl Frames for Gone {
        fn send(&mut self, _to: Peer, _frame: &[u8]) -> bool {
            true
        }
    }

    const RATE: Rate = Rate::from_mbps(10);

    /// A forwarder with two links, which the controller calls 8 and 6, and a third that it does not know; the prefix
    /// `/film` has number 3.
    fn attached() -> (Node, Box<ForwarderAgent>) {
        let link = |name: &str, host| LinkSettings {
            name: name.to_owned(),
            to: Some(SocketAddr::from(([10, 0, 0, host], 6363))),
            rate: RATE,
            ..LinkSettings::default()
        };
        let controller = ControllerSettings::new(
            SocketAddr::from(([10, 0, 0, 9], 1)),
            "r1",
            Credentials::insecure([7; 32]),
        );
        let film = "/film".parse().expect("a name");
        let settings = Settings {
            links: vec![link("first", 1), link("second", 2), link("third", 3)],
            routes: vec![RouteSettings { prefix: film, link: 2, cost: 1 }],
            controller: Some(controller),
            ..Settings::default()
        };
        let mut node = Node::new(settings).expect("the settings are right");
        node.start(Time::ZERO, &mut Gone);
        let mut attached = node.attached.take().expect("it has one");
        node.take_task(&mut attached, task(), Time::ZERO);
        node.attached = Some(attached);
        node.rerouted();
        let attached = node.attached.take().expect("it has one");
        (node, attached)
    }

    fn task() -> Task {
        let ports = [(8, "first"), (6, "second"), (4, "elsewhere")];
        let hop = |port| Hop { port: PortId(port), cost: 20 };
        Task {
            period: Duration::from_millis(500),
            phase: Duration::ZERO,
            signal_above: None,
            detection: None,
            ports: ports.map(|(port, name)| (PortId(port), name.to_owned())).to_vec(),
            prefixes: vec![Prefix {
                id: NameId(3),
                name: "/film".parse().expect("a name"),
                hops: vec![hop(8), hop(6), hop(4)],
            }],
        }
    }

    fn give(node: &mut Node, attached: &mut ForwarderAgent, command: Command) -> (u64, u64) {
        node.execute(attached, vec![command]);
        (attached.stats().moves, attached.stats().ignored)
    }

    #[test]
    fn commands_of_queues_caps_and_next_hops_are_executed_and_others_counted() {
        let (mut node, mut attached) = attached();
        let film = node.routes.number_of(NameId(3)).expect("it was told");
        let hops = |hops: &[u32]| {
            let hops: Vec<Hop> = hops.iter().map(|port| Hop { port: PortId(*port), cost: 1 }).collect();
            Command::NextHops { prefix: NameId(3), hops: Hops::new(&hops) }
        };
        // the first of equals at the beginning, whatever the settings prefer
        assert!(!node.prefer(film, &[NextHop { face: FaceId(0), cost: 1 }]));
        assert_eq!(give(&mut node, &mut attached, hops(&[6, 8])), (0, 0), "of equals the current one stays");
        assert_eq!(give(&mut node, &mut attached, hops(&[6])), (1, 0));
        // what is not here: a link that is elsewhere, a prefix, a route to a node
        assert_eq!(give(&mut node, &mut attached, hops(&[4])), (1, 1));
        let elsewhere = Command::NextHops { prefix: NameId(9), hops: Hops::new(&[]) };
        assert_eq!(give(&mut node, &mut attached, elsewhere), (1, 2));
        let route = Command::Route { to: NodeId(1), via: PortId(6) };
        assert_eq!(give(&mut node, &mut attached, route), (1, 3));

        let port = PortId(6);
        let queue = Command::Queue { port, limit: 7, mark_above: 0 };
        assert_eq!(give(&mut node, &mut attached, queue), (1, 3));
        let cap = |mbps| Command::Cap { port, rate: Rate::from_mbps(mbps) };
        let view = |node: &Node| node.ports[1].view(port, Time::ZERO);
        assert_eq!(view(&node).limit, Backlog { packets: 7, bytes: Bytes::UNLIMITED });
        assert!(node.ports[1].marks() && !node.ports[0].marks());
        give(&mut node, &mut attached, cap(3));
        assert_eq!(view(&node).rate, Rate::from_mbps(3));
        give(&mut node, &mut attached, cap(30));
        assert_eq!(view(&node).rate, RATE, "a link carries no more than it can");
        assert_eq!(give(&mut node, &mut attached, Command::Cap { port, rate: Rate::ZERO }), (1, 4));
        give(&mut node, &mut attached, cap(3));

        // another task: all of that is forgotten
        let other = Task { signal_above: Some(1), ..task() };
        node.take_task(&mut attached, other, Time::ZERO);
        assert_eq!((view(&node).rate, view(&node).limit.packets, node.ports[1].marks()), (RATE, 1000, false));
    }

    #[test]
    fn statuses_are_of_the_links_that_both_know() {
        let (mut node, mut attached) = attached();
        attached.run(RouterInput::Start, Time::ZERO, &node.ports);
        let due = Time::ZERO + Duration::from_millis(500);
        assert!(attached.channel.machine_is_due(due) && attached.wake() <= due);
        node.attached = Some(attached);
        node.turn_agent(due, &mut Gone);
        // a status of each of the two links that both know
        assert_eq!(node.stats().agent.map(|agent| (agent.statuses, agent.connected)), Some((2, false)));
    }
}
