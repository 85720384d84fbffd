//! The SDN agent of a forwarder: its reports. The forwarder executes its commands (`node/control.rs`).

use contract::{
    Command, Count, FaceId, Header, NameId, NextHop, NodeId, NodeView, Packet, PortId, PortView, RouterInput,
    Traffic,
};
use quic_net::Discarded;
use quic_net::sdn::SouthboundChannel;
use stack::ndn::preferred;
use stack::sdn::Agent;
use units::Time;
use wire::sdn::Task;

use super::ports::Port;
use super::routes::Routes;
use super::settings::ControllerSettings;
use super::{Frames, Peer};

/// The agent of a forwarder.
pub(super) struct ForwarderAgent {
    pub(super) channel: SouthboundChannel,
    pub(super) task: Option<Task>,
    /// Ports in the controller's numbering, by link.
    pub(super) ports: Vec<Option<PortId>>,
    /// Prefixes in the controller's numbering, by the forwarder's own numbers.
    served: Vec<Option<NameId>>,
}

/// Counters of an agent.
#[derive(Clone, Debug)]
pub struct AgentStats {
    /// Whether the agent is connected to a controller and has a task.
    pub connected: bool,
    /// Why the controller last refused it, if it did.
    pub last_refusal: Option<String>,
    /// Connections on which a controller has assigned a task.
    pub sessions: u32,
    /// Statuses sent.
    pub statuses: u64,
    /// Signals sent.
    pub signals: u64,
    /// Commands executed.
    pub commands: u64,
    /// Commands that rerouted traffic.
    pub moves: u64,
    /// Commands that were not executed: outdated, or for something unknown here.
    pub ignored: u64,
    /// Failed handshakes (`forged`), and messages of the controller that were not accepted.
    pub discarded: Discarded,
}

impl ForwarderAgent {
    pub(super) fn new(settings: &ControllerSettings, links: usize, now: Time) -> Self {
        let ControllerSettings { address, node, credentials, limits, seed } = settings;
        let channel = SouthboundChannel::new(node, *address, credentials, limits, *seed, now);
        Self { channel, task: None, ports: vec![None; links], served: Vec::new() }
    }

    /// When something is due.
    pub(super) fn wake(&self) -> Time {
        self.channel.wake()
    }

    /// A packet is about to be offered to a link.
    pub(super) fn on_offer(&mut self, packet: &Packet, slot: usize) {
        let Some(port) = self.ports[slot] else { return };
        let what = match packet.header {
            Header::Data(data) => self.served.get(data.name.prefix.index()).copied().flatten(),
            _ => None,
        };
        self.channel.on_offer(packet.size_bytes, what.map(Traffic::Prefix), port);
    }

    /// Puts next hops that were commanded into a table of routes.
    pub(super) fn keep_commands(&mut self, table: &mut Vec<(NameId, Vec<NextHop>)>, routes: &Routes) {
        self.served = routes.controller_ids();
        for (prefix, hops) in self.channel.machine().into_iter().flat_map(Agent::next_hops) {
            let Some(prefix) = routes.number_of(prefix) else { continue };
            let hops: Vec<NextHop> = hops.iter().filter_map(|hop| self.next_hop(hop)).collect();
            match table.iter_mut().find(|entry| entry.0 == prefix) {
                Some((_, existing)) => preferred(existing, &hops),
                None => table.push((prefix, hops)),
            }
        }
    }

    pub(super) fn stats(&self) -> AgentStats {
        let count = |what| self.channel.meter.count(what);
        AgentStats {
            connected: self.channel.has_task(),
            last_refusal: self.channel.last_refusal().map(str::to_owned),
            sessions: self.channel.sessions(),
            statuses: count(Count::Statuses),
            signals: count(Count::Signals),
            commands: count(Count::Commands),
            moves: count(Count::Reroutes),
            ignored: count(Count::Ignored),
            discarded: self.channel.discarded(),
        }
    }

    /// The link that the controller gives this number.
    pub(super) fn slot(&self, port: PortId) -> Option<usize> {
        self.ports.iter().position(|existing| *existing == Some(port))
    }

    pub(super) fn next_hop(&self, hop: &contract::Hop) -> Option<NextHop> {
        let face = FaceId(self.slot(hop.port)? as u32);
        Some(NextHop { face, cost: u64::from(hop.cost) })
    }

    pub(super) fn run(&mut self, input: RouterInput<'_>, now: Time, ports: &[Port]) -> Vec<Command> {
        let mut view = AgentView { ports, numbers: &self.ports, now };
        self.channel.handle(input, now, &mut view)
    }

    /// Sends what waits for the controller.
    pub(super) fn flush(&mut self, now: Time, frames: &mut dyn Frames) {
        // a datagram that the socket does not take is lost, and QUIC repeats what matters
        self.channel.flush(now, |bytes| {
            let _ = frames.send(Peer::Controller, bytes);
        });
    }
}

/// The agent's view of the forwarder: links as the controller numbers them.
struct AgentView<'a> {
    ports: &'a [Port],
    numbers: &'a [Option<PortId>],
    now: Time,
}

impl NodeView for AgentView<'_> {
    fn port(&mut self, port: PortId) -> PortView {
        let slot = self.numbers.iter().position(|existing| *existing == Some(port));
        self.ports[slot.expect("an agent has ports that there are")].view(port, self.now)
    }

    fn next(&self, _to: NodeId) -> Option<PortId> {
        None
    }

    fn cost(&self, _to: NodeId) -> Option<u64> {
        None
    }
}
