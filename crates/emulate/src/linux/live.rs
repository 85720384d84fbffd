//! Live endpoints: the state machines of the simulator over UDP sockets in the namespaces of their nodes, all on one
//! thread beside the loop.
//!
//! A state machine is driven as in a simulation: it receives an input, its output is sent, and it returns its next
//! deadline. Only clock and network are the host's.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};
use std::os::fd::AsFd;
use std::sync::mpsc::{Receiver, Sender, TryRecvError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Instant;

use contract::{
    Address, Cx, Ecn, Endpoint, EndpointId, FlowId, GroupId, Header, Input, Label, NodeId, Packet,
};
use driver::{Batch, Clock, GsoBatch, Platform as _, StateMachine, Udp, exact_timers, wait_readable};
use nix::poll::{PollFd, PollFlags};
use nix::sys::eventfd::{EfdFlags, EventFd};
use nix::sys::socket::{setsockopt, sockopt};
use sim::{Blueprint, Cast, FlowEmulation, FlowKind};
use units::{Duration, Time};
use wire::stream::Envelope;

use super::calls;
use super::namespace::{Namespace, failed};
use crate::Error;
use crate::datagrams;
use crate::gates::Gates;
use crate::platform::{EndpointReport, LiveEndpoint};

/// Size of the socket buffers.
const SOCKET_BUFFER: usize = 4 << 20;
/// Size of the receive buffer: what one system call can return.
const BUFFER: usize = 1 << 19;
/// The longest wait at a time.
const MAX_WAIT: Duration = Duration::from_secs(1);

/// An endpoint with its socket; it has no state machine before its start.
struct Seat {
    me: Address,
    flow: FlowId,
    socket: Udp,
    /// The ECN field of its datagrams; `None` where each packet has its own.
    ecn: Option<Ecn>,
    /// Header bytes in the size of a TCP packet.
    header: u32,
    /// The peers from which it accepts datagrams.
    peers: Arc<BTreeMap<Ipv4Addr, Address>>,
    /// The state machine; a restarted flow continues its random stream.
    machine: Option<StateMachine<Hosted>>,
    /// Number of its next datagram.
    number: u64,
    datagram: Vec<u8>,
}

/// The state machine of the world; `None` while it is stopped.
struct Hosted(Option<Box<dyn Endpoint + Send>>);

impl Endpoint for Hosted {
    fn handle(&mut self, input: Input<'_>, cx: &mut Cx<'_>) {
        if let Some(endpoint) = &mut self.0 {
            endpoint.handle(input, cx);
        }
    }

    fn wake(&self) -> Time {
        self.0.as_ref().map_or(Time::NEVER, |endpoint| endpoint.wake())
    }

    fn take_payload(&mut self, packet: &Packet, payload: &mut Vec<u8>) -> bool {
        self.0.as_mut().is_some_and(|endpoint| endpoint.take_payload(packet, payload))
    }

    fn put_payload(&mut self, payload: &[u8], now: Time) -> Option<Header> {
        self.0.as_mut()?.put_payload(payload, now)
    }
}

/// An order of the loop to the thread; endpoints are identified by index.
enum Order {
    Begin(usize, LiveEndpoint),
    End(usize),
    Mode(usize, String),
    Over,
}

/// The endpoints of all live flows with open sockets, before their start.
pub(super) struct Opened(Vec<Seat>);

/// The loop's handle of the thread.
pub(super) struct Live {
    orders: Sender<Order>,
    bell: Arc<EventFd>,
    thread: Option<JoinHandle<()>>,
    endpoints: Vec<EndpointId>,
    reports: Arc<[Mutex<EndpointReport>]>,
}

/// Opens the sockets of all live flows, and joins their groups.
pub(super) fn open(blueprint: &Blueprint, gates: &Gates, namespaces: &[Namespace]) -> Result<Opened, Error> {
    let mut seats = Vec::new();
    for (id, flow) in (0u32..).map(FlowId).zip(&blueprint.flows) {
        let (Some(FlowEmulation::Live), Some(ends)) = (flow.emulation.as_deref(), gates.ends(id)) else {
            continue;
        };
        let peers = Arc::new(gates.known_to(id));
        let field = |capable: bool| Some(if capable { Ecn::Capable } else { Ecn::NotCapable });
        let (header, ecn) = match &*flow.kind {
            FlowKind::Tcp(config) => (config.header.as_u64() as u32, field(config.ecn)),
            FlowKind::Stream(config) => (0, field(config.ecn)),
            FlowKind::Stack(_) => (0, None),
            FlowKind::Datagram(_) | FlowKind::Ndn(_) => continue,
        };
        let group = (flow.cast == Cast::Multicast).then_some(GroupId(id.0));
        // feedback is not marked
        let back = ecn.and(field(false));
        let receivers = ends.receivers.iter().map(|receiver| (*receiver, group, back));
        for (me, group, ecn) in [(ends.sender, None, ecn)].into_iter().chain(receivers) {
            let Some(at) = gates.device_of(me.node) else { continue };
            let socket =
                namespaces[at].inside("opening a socket of a live flow", || opened(id, me.node, group))?;
            seats.push(Seat {
                me,
                flow: id,
                socket,
                ecn,
                header,
                peers: peers.clone(),
                machine: None,
                number: 0,
                datagram: Vec::new(),
            });
        }
    }
    seats.sort_unstable_by_key(|seat| seat.me.endpoint);
    Ok(Opened(seats))
}

/// Opens the socket of an endpoint in the namespace of the calling thread.
fn opened(flow: FlowId, node: NodeId, group: Option<GroupId>) -> std::io::Result<Udp> {
    let socket = UdpSocket::bind(place(Ipv4Addr::UNSPECIFIED, flow))?;
    if let Some(group) = group {
        socket.join_multicast_v4(&wire::address_of_group(group), &wire::address_of(node))?;
    }
    let socket = Udp::of(socket)?;
    setsockopt(&socket, sockopt::SndBufForce, &SOCKET_BUFFER)?;
    setsockopt(&socket, sockopt::RcvBufForce, &SOCKET_BUFFER)?;
    Ok(socket)
}

fn place(address: Ipv4Addr, flow: FlowId) -> SocketAddr {
    SocketAddr::from((address, wire::port_of(flow)))
}

impl Live {
    /// Starts the thread; `None` without live flows. `urgent` gives it real-time priority; `began` is the start of the
    /// run.
    pub(super) fn begin(
        opened: Opened,
        blueprint: &Blueprint,
        urgent: bool,
        began: Instant,
    ) -> Result<Self, Error> {
        let flags = EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK;
        let bell = EventFd::from_value_and_flags(0, flags);
        let bell = Arc::new(bell.map_err(|error| failed("making an event", error.into()))?);
        let (orders, received) = std::sync::mpsc::channel();
        let seats = opened.0;
        let endpoints = seats.iter().map(|seat| seat.me.endpoint).collect::<Vec<_>>();
        let reports: Arc<[Mutex<EndpointReport>]> = endpoints.iter().map(|_| Mutex::default()).collect();
        let record = &blueprint.record;
        let mut work = Work {
            bell: bell.clone(),
            orders: received,
            urgent,
            clock: Clock::since(began),
            seats,
            reports: reports.clone(),
            probing: record.every > Duration::ZERO && !record.series.is_empty(),
            events: record.events,
            batch: Batch::new(BUFFER),
        };
        let thread = match endpoints.is_empty() {
            true => None,
            false => {
                let thread = std::thread::Builder::new().name("thalweg-live".to_owned());
                Some(thread.spawn(move || work.run()).map_err(|error| failed("starting a thread", error))?)
            }
        };
        Ok(Self { orders, bell, thread, endpoints, reports })
    }

    pub(super) fn start(&self, endpoint: EndpointId, machine: LiveEndpoint) {
        self.order(endpoint, |index| Order::Begin(index, machine));
    }

    pub(super) fn stop(&self, endpoint: EndpointId) {
        self.order(endpoint, Order::End);
    }

    pub(super) fn mode(&self, endpoint: EndpointId, mode: &str) {
        self.order(endpoint, |index| Order::Mode(index, mode.to_owned()));
    }

    fn order(&self, endpoint: EndpointId, what: impl FnOnce(usize) -> Order) {
        if let Ok(index) = self.endpoints.binary_search(&endpoint) {
            // fails only if the thread has ended, and with it the run
            let _ = self.orders.send(what(index));
            let _ = self.bell.write(1);
        }
    }

    /// Passes on the reports since the last call.
    pub(super) fn endpoint_reports(&self, emit: &mut dyn FnMut(EndpointId, &EndpointReport)) {
        for (endpoint, report) in self.endpoints.iter().zip(self.reports.iter()) {
            emit(*endpoint, &std::mem::take(&mut *locked(report)));
        }
    }

    /// Ends the thread.
    pub(super) fn end(&mut self) {
        let _ = self.orders.send(Order::Over);
        let _ = self.bell.write(1);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.end();
    }
}

fn locked(report: &Mutex<EndpointReport>) -> MutexGuard<'_, EndpointReport> {
    report.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The state of the thread.
struct Work {
    bell: Arc<EventFd>,
    orders: Receiver<Order>,
    urgent: bool,
    clock: Clock,
    seats: Vec<Seat>,
    reports: Arc<[Mutex<EndpointReport>]>,
    /// Whether state machines note values and events for the trace.
    probing: bool,
    events: bool,
    batch: Batch,
}

impl Work {
    fn run(&mut self) {
        exact_timers();
        if self.urgent {
            // if it is rejected, the loop reports it
            let _ = calls::prefer();
        }
        let mut ready = Vec::with_capacity(self.seats.len());
        while self.obey() {
            let mut next = Time::NEVER;
            for index in 0..self.seats.len() {
                let wake = self.on_time(index);
                next = next.min(wake);
            }
            self.wait(next, &mut ready);
            for index in ready.drain(..) {
                self.take_in(index);
            }
        }
    }

    /// Executes orders. Returns false at the end.
    fn obey(&mut self) -> bool {
        let _ = self.bell.read();
        loop {
            match self.orders.try_recv() {
                Ok(Order::Begin(index, machine)) => {
                    self.begin(index, machine);
                    self.input(index, Input::Start);
                }
                Ok(Order::End(index)) => {
                    self.input(index, Input::Stop);
                    if let Some(machine) = &mut self.seats[index].machine {
                        machine.endpoint = Hosted(None);
                    }
                }
                Ok(Order::Mode(index, mode)) => self.input(index, Input::Mode(&mode)),
                Ok(Order::Over) | Err(TryRecvError::Disconnected) => return false,
                Err(TryRecvError::Empty) => return true,
            }
        }
    }

    fn begin(&mut self, index: usize, (endpoint, random): LiveEndpoint) {
        let Self { seats, probing, events, .. } = self;
        let seat = &mut seats[index];
        let endpoint = Hosted(Some(endpoint));
        match &mut seat.machine {
            Some(machine) => machine.endpoint = endpoint,
            None => {
                let mut machine = StateMachine::new(endpoint, seat.me, seat.flow, random);
                (machine.out.notes.probing, machine.out.notes.events) = (*probing, *events);
                seat.machine = Some(machine);
            }
        }
    }

    /// Handles the deadline of a state machine if it is due. Returns the next one.
    fn on_time(&mut self, index: usize) -> Time {
        let (wake, now) = (self.seats[index].wake(), self.clock.now());
        if wake > now {
            return wake;
        }
        locked(&self.reports[index]).late.record(now.saturating_since(wake));
        self.input(index, Input::Timer);
        self.seats[index].wake()
    }

    /// Gives an input to the state machine of an endpoint, and sends its output.
    fn input(&mut self, index: usize, input: Input<'_>) {
        self.seats[index].input(input, self.clock.now(), &self.reports[index]);
    }

    /// Waits for a datagram, an order, or `until`.
    fn wait(&self, until: Time, ready: &mut Vec<usize>) {
        let remaining = until.saturating_since(self.clock.now()).min(MAX_WAIT);
        let sockets = self.seats.iter().map(|seat| seat.socket.as_fd()).chain([self.bell.as_fd()]);
        let mut asked: Vec<PollFd<'_>> =
            sockets.map(|socket| PollFd::new(socket, PollFlags::POLLIN)).collect();
        if wait_readable(&mut asked, remaining) {
            let has = |asked: &PollFd<'_>| asked.any().unwrap_or(false);
            let sockets = asked[..self.seats.len()].iter().enumerate();
            ready.extend(sockets.filter(|(_, asked)| has(asked)).map(|(index, _)| index));
        }
    }

    /// Reads the datagrams of an endpoint, at most one batch.
    fn take_in(&mut self, index: usize) {
        let Self { seats, reports, batch, clock, .. } = self;
        let seat = &mut seats[index];
        if !seat.socket.receive(batch) {
            return;
        }
        for (from, ecn, bytes) in batch.iter() {
            let now = clock.now();
            if let Some(packet) = seat.packet(bytes, from, ecn, now) {
                seat.input(Input::Packet(&packet), now, &reports[index]);
            }
        }
    }
}

impl Seat {
    /// The next deadline of its state machine.
    fn wake(&self) -> Time {
        self.machine.as_ref().map_or(Time::NEVER, StateMachine::wake)
    }

    /// Gives an input to its state machine, and sends the output.
    fn input(&mut self, input: Input<'_>, now: Time, report: &Mutex<EndpointReport>) {
        let Self { machine: Some(machine), socket, flow, ecn, header, number, datagram, .. } = self else {
            return;
        };
        let mut report = locked(report);
        std::mem::swap(&mut report.meter, &mut machine.meter);
        machine.handle(input, now);
        std::mem::swap(&mut report.meter, &mut machine.meter);
        report.notes.append(&mut machine.out.notes.pending);
        drop(report);
        machine.drain_with(|endpoint, packet| {
            let content = match packet.header {
                Header::Tcp(_) => Some(packet.size_bytes.saturating_sub(*header)),
                _ => None,
            };
            let to = match (packet.to.as_group(), packet.to.node()) {
                (Some(group), _) => wire::address_of_group(group),
                (None, Some(node)) => wire::address_of(node),
                (None, None) => return,
            };
            if endpoint.take_payload(packet, datagram) || datagrams::write(packet, *number, content, datagram)
            {
                *number += 1;
                let (to, ecn) = (place(to, *flow), ecn.unwrap_or(packet.ecn));
                // a packet that the system rejects is lost, as on any network
                socket.send(&GsoBatch { to, ecn, bytes: datagram, segment_size: datagram.len() });
            }
        });
    }

    /// The packet in a datagram of a known peer.
    fn packet(&mut self, bytes: &[u8], from: SocketAddr, ecn: Ecn, now: Time) -> Option<Packet> {
        let IpAddr::V4(from) = from.ip() else { return None };
        let source = *self.peers.get(&from)?;
        if let Some(header) = self.machine.as_mut()?.endpoint.put_payload(bytes, now) {
            let (flow, to) = (self.flow, self.me.into());
            let size_bytes = datagrams::IP_UDP_HEADERS + bytes.len() as u32;
            let label = Label::default();
            return Some(Packet {
                flow,
                size_bytes,
                source,
                to,
                sent_at: now,
                label,
                header,
                ecn,
                hops: 0,
                waited: Default::default(),
            });
        }
        let envelope = Envelope {
            flow: self.flow,
            source,
            to: self.me.into(),
            ecn,
            outer_bytes: datagrams::IP_UDP_HEADERS,
        };
        let (packet, carried) = datagrams::read(bytes, &envelope)?;
        Some(match packet.header {
            Header::Tcp(_) => Packet { size_bytes: self.header + carried, ..packet },
            _ => packet,
        })
    }
}
