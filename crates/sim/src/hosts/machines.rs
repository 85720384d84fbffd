//! The state machines of endpoints, in one list per kind, so that each takes the memory of its kind only.

use contract::{Cx, Endpoint, Input, Name, Random};
use schemes::{AnyControl, AnyReceiver, AnySender};
use stack::{datagram, stream, tcp};
use units::Time;

use super::endpoint::{AnyEndpoint, run};
use memory::{LINE, list_in_large_pages, prefetch};

type TcpSender = tcp::Sender<AnyControl>;
type StreamSender = stream::Sender<AnySender>;
type StreamReceiver = stream::Receiver<AnyReceiver>;

/// The place of a state machine.
#[derive(Clone, Copy, Debug)]
pub(super) enum MachineId {
    TcpSender(u32),
    TcpReceiver(u32),
    Sink(u32),
    StreamSender(u32),
    StreamReceiver(u32),
    Other(u32),
}

/// The state machines of all endpoints.
#[derive(Default)]
pub(crate) struct Machines {
    tcp_senders: Places<TcpSender, Line>,
    tcp_receivers: Places<tcp::Receiver, Line>,
    sinks: Places<datagram::Sink>,
    stream_senders: Places<StreamSender>,
    stream_receivers: Places<StreamReceiver>,
    others: Places<AnyEndpoint>,
}

/// Numbers of state machines by kind, of which memory is taken at once.
#[derive(Clone, Copy, Default)]
pub(super) struct MachineCounts {
    pub tcp_senders: usize,
    pub tcp_receivers: usize,
    pub sinks: usize,
}

/// State machines of one kind, and the places that are free. Each is aligned as `A`.
struct Places<E, A = ()> {
    all: Vec<Machine<E, A>>,
    free: Vec<u32>,
}

/// A state machine with its random stream, which few packets need.
#[repr(C)]
struct Machine<E, A> {
    align: [A; 0],
    endpoint: E,
    random: Random,
}

/// The alignment of state machines that are laid out by cache lines.
#[repr(align(64))]
struct Line;

impl Machines {
    /// No state machines, and memory for as many as `counts` says.
    pub(super) fn new(counts: MachineCounts) -> Self {
        Self {
            tcp_senders: Places::new(counts.tcp_senders),
            tcp_receivers: Places::new(counts.tcp_receivers),
            sinks: Places::new(counts.sinks),
            stream_senders: Places::default(),
            stream_receivers: Places::default(),
            others: Places::default(),
        }
    }

    /// Adds a state machine.
    pub(super) fn add(&mut self, endpoint: AnyEndpoint, random: Random) -> MachineId {
        match endpoint {
            AnyEndpoint::TcpSender(sender) => MachineId::TcpSender(self.tcp_senders.add(*sender, random)),
            AnyEndpoint::TcpReceiver(receiver) => {
                MachineId::TcpReceiver(self.tcp_receivers.add(*receiver, random))
            }
            AnyEndpoint::Sink(sink) => MachineId::Sink(self.sinks.add(sink, random)),
            AnyEndpoint::StreamSender(sender) => {
                MachineId::StreamSender(self.stream_senders.add(*sender, random))
            }
            AnyEndpoint::StreamReceiver(receiver) => {
                MachineId::StreamReceiver(self.stream_receivers.add(*receiver, random))
            }
            other => MachineId::Other(self.others.add(other, random)),
        }
    }

    /// Removes a state machine. Returns its random stream.
    pub(super) fn remove(&mut self, id: MachineId) -> Random {
        match id {
            MachineId::TcpSender(place) => self.tcp_senders.remove(place),
            MachineId::TcpReceiver(place) => self.tcp_receivers.remove(place),
            MachineId::Sink(place) => self.sinks.remove(place),
            MachineId::StreamSender(place) => self.stream_senders.remove(place),
            MachineId::StreamReceiver(place) => self.stream_receivers.remove(place),
            MachineId::Other(place) => self.others.remove(place),
        }
    }

    /// Gives an input to a state machine, with the context that `cx` makes of its random stream. Returns its deadline.
    #[inline(always)]
    pub(super) fn handle<'a>(
        &'a mut self,
        id: MachineId,
        input: Input<'_>,
        cx: impl FnOnce(&'a mut Random) -> Cx<'a>,
    ) -> Time {
        match id {
            MachineId::TcpSender(place) => self.tcp_senders.all[place as usize].handle(input, cx),
            MachineId::TcpReceiver(place) => self.tcp_receivers.all[place as usize].handle(input, cx),
            MachineId::Sink(place) => self.sinks.all[place as usize].handle(input, cx),
            MachineId::StreamSender(place) => self.stream_senders.all[place as usize].handle(input, cx),
            MachineId::StreamReceiver(place) => self.stream_receivers.all[place as usize].handle(input, cx),
            MachineId::Other(place) => {
                let Machine { endpoint, random, .. } = &mut self.others.all[place as usize];
                endpoint.run(input, &mut cx(random))
            }
        }
    }

    /// The deadline of a state machine.
    #[inline]
    pub(super) fn wake(&self, id: MachineId) -> Time {
        match id {
            MachineId::TcpSender(place) => self.tcp_senders.all[place as usize].endpoint.wake(),
            MachineId::TcpReceiver(place) => self.tcp_receivers.all[place as usize].endpoint.wake(),
            MachineId::Sink(place) => self.sinks.all[place as usize].endpoint.wake(),
            MachineId::StreamSender(place) => self.stream_senders.all[place as usize].endpoint.wake(),
            MachineId::StreamReceiver(place) => self.stream_receivers.all[place as usize].endpoint.wake(),
            MachineId::Other(place) => self.others.all[place as usize].endpoint.wake(),
        }
    }

    /// Bytes that have arrived above a gap, so that the application does not have them yet.
    pub(super) fn held_bytes(&self, id: MachineId) -> u64 {
        match id {
            MachineId::TcpReceiver(place) => self.tcp_receivers.all[place as usize].endpoint.held_bytes(),
            MachineId::Other(place) => self.others.all[place as usize].endpoint.held_bytes(),
            _ => 0,
        }
    }

    /// The random stream of a state machine.
    pub(super) fn random(&mut self, id: MachineId) -> &mut Random {
        match id {
            MachineId::TcpSender(place) => &mut self.tcp_senders.all[place as usize].random,
            MachineId::TcpReceiver(place) => &mut self.tcp_receivers.all[place as usize].random,
            MachineId::Sink(place) => &mut self.sinks.all[place as usize].random,
            MachineId::StreamSender(place) => &mut self.stream_senders.all[place as usize].random,
            MachineId::StreamReceiver(place) => &mut self.stream_receivers.all[place as usize].random,
            MachineId::Other(place) => &mut self.others.all[place as usize].random,
        }
    }

    /// The name that a state machine will probably request next.
    pub(super) fn next_name(&self, id: MachineId) -> Option<Name> {
        if let MachineId::Other(place) = id {
            self.others.all[place as usize].endpoint.next_name()
        } else {
            None
        }
    }

    /// Requests what an input of a state machine needs.
    #[inline]
    pub(super) fn prefetch(&self, id: MachineId) {
        match id {
            MachineId::TcpSender(place) => self.tcp_senders.prefetch(place, TcpSender::LINES),
            MachineId::TcpReceiver(place) => self.tcp_receivers.prefetch(place, tcp::Receiver::LINES),
            MachineId::Sink(place) => self.sinks.prefetch(place, lines::<datagram::Sink>()),
            MachineId::StreamSender(place) => self.stream_senders.prefetch(place, lines::<StreamSender>()),
            MachineId::StreamReceiver(place) => {
                self.stream_receivers.prefetch(place, lines::<StreamReceiver>());
            }
            MachineId::Other(place) => self.others.prefetch(place, lines::<AnyEndpoint>()),
        }
    }
}

/// The cache lines of a state machine.
const fn lines<E>() -> usize {
    size_of::<E>().div_ceil(LINE)
}

impl<E, A> Default for Places<E, A> {
    fn default() -> Self {
        Self { all: Vec::new(), free: Vec::new() }
    }
}

impl<E, A> Places<E, A> {
    fn new(count: usize) -> Self {
        Self { all: list_in_large_pages(count), free: Vec::new() }
    }

    fn add(&mut self, endpoint: E, random: Random) -> u32 {
        let machine = Machine { align: [], endpoint, random };
        match self.free.pop() {
            Some(place) => {
                self.all[place as usize] = machine;
                place
            }
            None => {
                self.all.push(machine);
                self.all.len() as u32 - 1
            }
        }
    }

    /// Frees a place. What the state machine there refers to is freed when another one takes the place.
    fn remove(&mut self, place: u32) -> Random {
        self.free.push(place);
        self.all[place as usize].random.clone()
    }

    #[inline]
    fn prefetch(&self, place: u32, lines: usize) {
        if let Some(machine) = self.all.get(place as usize) {
            prefetch(machine, lines);
        }
    }
}

impl<E: Endpoint, A> Machine<E, A> {
    #[inline(always)]
    fn handle<'a>(&'a mut self, input: Input<'_>, cx: impl FnOnce(&'a mut Random) -> Cx<'a>) -> Time {
        run(&mut self.endpoint, input, &mut cx(&mut self.random))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_of_a_removed_state_machine_is_used_again() {
        let mut machines = Machines::default();
        let random = |purpose| Random::new(1, "machines", purpose);
        let sink = || AnyEndpoint::Sink(datagram::Sink::new());
        let (first, second) = (machines.add(sink(), random("first")), machines.add(sink(), random("second")));
        assert_eq!(machines.remove(first).bits(), random("first").bits());
        let third = machines.add(sink(), random("third"));
        assert!(matches!(
            [first, second, third],
            [MachineId::Sink(0), MachineId::Sink(1), MachineId::Sink(0)]
        ));
        assert_eq!(machines.random(second).bits(), random("second").bits());
        assert_eq!(machines.random(third).bits(), random("third").bits());
    }
}
