//! Tests of one state machine of the name-based network, with simulated neighbours.

use contract::{
    Address, Backlog, Cx, DropReason, Ecn, Eid, EndpointId, FlowId, GroupId, Header, Label, Meter, NodeCx,
    NodeId, NodeView, Outputs, Packet, PortId, PortView, Random, Router as _, RouterInput, Signal,
};
use units::{Bytes, Duration, Rate, Time};

use super::Config;

mod attachment;
mod chance;
mod resolver;
mod router;

/// Node of the state machine under test.
const ME: Address = address(1);
/// The name resolution system.
const NRS: Address = address(9);
/// The source of all groups.
const SOURCE: Address = address(80);
const G: GroupId = GroupId(0);
const NAME: Eid = Eid::of("group");

const fn address(node: u32) -> Address {
    Address { node: NodeId(node), endpoint: EndpointId(node + 100) }
}

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn at_ms(millis: u64) -> Time {
    Time::ZERO + ms(millis)
}

/// A packet on arrival.
fn packet(source: Address, header: Header) -> Packet {
    Packet {
        flow: FlowId(G.0),
        size_bytes: 1000,
        source,
        to: ME.into(),
        sent_at: Time::ZERO,
        label: Label::default(),
        header,
        ecn: Ecn::NotCapable,
        hops: 3,
        waited: Default::default(),
    }
}

/// A message of a state machine: the port, if it chose one, and the packet.
#[derive(Clone, Copy, Debug)]
struct SentMessage {
    port: Option<PortId>,
    packet: Packet,
}

impl SentMessage {
    fn to(&self) -> NodeId {
        self.packet.to.node().expect("nothing is sent to groups here")
    }

    fn signal(&self) -> Signal {
        let Header::Signal(signal) = self.packet.header else { panic!("no signal: {self:?}") };
        signal
    }
}

/// A test bench for one state machine. Port `n` leads to node `n`; the cost of a path is the node's number, or that in
/// `costs`.
struct TestBench {
    now: Time,
    meter: Meter,
    out: Outputs,
    random: Random,
    around: Place,
}

#[derive(Default)]
struct Place {
    costs: Vec<(NodeId, Option<u64>)>,
}

impl NodeView for Place {
    fn port(&mut self, port: PortId) -> PortView {
        let backlog = Backlog { packets: 0, bytes: Bytes::ZERO };
        let rate = Rate::from_mbps(10);
        PortView {
            port,
            to: NodeId(port.0),
            rate,
            rate_in: rate,
            backlog,
            busy: false,
            limit: Backlog { packets: 100, bytes: Bytes::UNLIMITED },
        }
    }

    fn next(&self, to: NodeId) -> Option<PortId> {
        self.cost(to).map(|_| PortId(to.0))
    }

    fn cost(&self, to: NodeId) -> Option<u64> {
        let known = self.costs.iter().find(|(node, _)| *node == to);
        known.map_or(Some(u64::from(to.0)), |(_, cost)| *cost)
    }
}

impl TestBench {
    fn new() -> Self {
        Self {
            now: Time::ZERO,
            meter: Meter::default(),
            out: Outputs::default(),
            random: Random::new(1, "bed", ""),
            around: Place::default(),
        }
    }

    /// Calls a host's side, and returns its messages.
    fn host<T>(&mut self, act: impl FnOnce(&mut Cx<'_>) -> T) -> T {
        let mut cx = Cx::new(self.now, ME, FlowId(G.0), &mut self.random, &mut self.meter, &mut self.out);
        act(&mut cx)
    }

    fn handle(&mut self, machine: &mut impl contract::Router, input: RouterInput<'_>) -> Option<DropReason> {
        let mut cx =
            Cx::new(self.now, ME, FlowId(u32::MAX), &mut self.random, &mut self.meter, &mut self.out);
        machine.handle(input, &mut NodeCx::new(&mut cx, &mut self.around))
    }

    /// A signal arrives from `source` by `port`.
    fn receive(&mut self, machine: &mut impl contract::Router, source: Address, port: u32, signal: Signal) {
        let packet = packet(source, Header::Signal(signal));
        let fate = self.handle(machine, RouterInput::Packet(&packet, PortId(port)));
        assert_eq!(fate, None, "signals are taken");
    }

    /// Handles the timers of a state machine up to and including `end`, and returns its messages with their times.
    fn run(&mut self, machine: &mut impl contract::Router, end: Time) -> Vec<(Time, SentMessage)> {
        let mut messages: Vec<(Time, SentMessage)> =
            self.messages().into_iter().map(|messages| (self.now, messages)).collect();
        while machine.wake() <= end {
            self.now = self.now.max(machine.wake());
            self.handle(machine, RouterInput::Timer);
            assert!(machine.wake() > self.now, "the deadline moves on");
            messages.extend(self.messages().into_iter().map(|messages| (self.now, messages)));
        }
        self.now = end;
        messages
    }

    /// Messages since the last call: first those offered to ports, then those by address.
    fn messages(&mut self) -> Vec<SentMessage> {
        let Outputs { arena, outbox, forwards, .. } = &mut self.out;
        let forwarded = forwards.drain(..).map(|(id, port)| (id, Some(port)));
        let sent: Vec<_> = forwarded.chain(outbox.drain(..).map(|id| (id, None))).collect();
        let take = |(id, port)| {
            let packet = *arena.get(id);
            arena.release(id);
            SentMessage { port, packet }
        };
        sent.into_iter().map(take).collect()
    }

    /// The signals among the messages, with their destinations.
    fn signals(&mut self) -> Vec<(u32, Signal)> {
        self.messages().iter().map(|messages| (messages.to().0, messages.signal())).collect()
    }
}

fn accepted() -> Signal {
    Signal::Accepted { group: G }
}

fn join() -> Signal {
    Signal::Join { group: G, gumgid: NAME }
}

fn leave() -> Signal {
    Signal::Leave { group: G }
}

/// The settings of the tests: a refresh each 5 s, a lifetime of three refreshes, retries after 500 ms.
fn config() -> Config {
    Config::default()
}

/// Lifetime of a message's state with these settings.
const STATE_LIFETIME_MS: u64 = 15_500;
