//! Live endpoints: the state machines of the simulator over UDP sockets in the namespaces of their nodes, all on one thread beside the
//! loop.
//!
//! A state machine is driven as in a simulation: it receives an input, its output is sent, and it returns its next deadline. Only clock and
//! network are those of the host.

use std::collections::BTreeMap;
use std::io::{self, IoSliceMut};
use std::net::Ipv4Addr;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::sync::mpsc::{Receiver, Sender, TryRecvError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Instant;

use contract::{
    Address, Cx, Ecn, Endpoint, EndpointId, FlowId, GroupId, Header, Input, NodeId, Outputs, Packet, Random,
};
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::eventfd::{EfdFlags, EventFd};
use nix::sys::socket::{
    AddressFamily, ControlMessageOwned, IpMembershipRequest, MsgFlags, SockFlag, SockType, SockaddrIn, bind,
    recvmsg, sendto, setsockopt, socket, sockopt,
};
use nix::sys::time::{TimeSpec, TimeValLike};
use sim::{Blueprint, Cast, FlowEmulation, FlowKind};
use units::{Duration, Time};
use wire::stream::Envelope;

use super::calls;
use super::namespace::{Namespace, failed};
use crate::Error;
use crate::datagrams;
use crate::gates::Gates;
use crate::platform::{LiveMachine, Said};
use crate::run::since;

/// Size of the socket buffers.
const WAITING: usize = 4 << 20;
/// Maximum number of datagrams that are read from one socket before the others.
const BATCH: usize = 16;
/// Maximum size of a datagram.
const LONGEST: usize = 65_536;
/// ECT(0) in the IP header.
const CAPABLE: i32 = 2;

/// An endpoint with its socket; it has no state machine before its start.
struct Seat {
    me: Address,
    flow: FlowId,
    socket: OwnedFd,
    /// Header bytes in the size of a TCP packet.
    header: u32,
    /// The peers from which it accepts datagrams.
    known: Arc<BTreeMap<Ipv4Addr, Address>>,
    machine: Option<Box<dyn Endpoint + Send>>,
    random: Option<Random>,
    /// Number of its next datagram.
    number: u64,
}

/// An order of the loop to the thread; endpoints are identified by index.
enum Order {
    Begin(usize, LiveMachine),
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
    said: Arc<[Mutex<Said>]>,
}

/// Opens the sockets of all live flows, and joins their groups.
pub(super) fn open(blueprint: &Blueprint, gates: &Gates, namespaces: &[Namespace]) -> Result<Opened, Error> {
    let mut seats = Vec::new();
    for (id, flow) in (0u32..).map(FlowId).zip(&blueprint.flows) {
        let (Some(FlowEmulation::Live), Some(ends)) = (&flow.emulation, gates.ends(id)) else { continue };
        let known = Arc::new(gates.known_to(id));
        let (header, ecn) = match &flow.kind {
            FlowKind::Tcp(config) => (config.header.as_u64() as u32, config.ecn),
            FlowKind::Stream(config) => (0, config.ecn),
            FlowKind::Datagram(_) | FlowKind::Ndn(_) => continue,
        };
        let group = (flow.cast == Cast::Multicast).then_some(GroupId(id.0));
        let receivers = ends.receivers.iter().map(|receiver| (*receiver, group, false));
        for (me, group, ecn) in [(ends.sender, None, ecn)].into_iter().chain(receivers) {
            let Some(at) = gates.device_of(me.node) else { continue };
            let socket = namespaces[at]
                .inside("opening a socket of a live flow", || Ok(opened(id, me.node, group, ecn)?))?;
            seats.push(Seat {
                me,
                flow: id,
                socket,
                header,
                known: known.clone(),
                machine: None,
                random: None,
                number: 0,
            });
        }
    }
    seats.sort_unstable_by_key(|seat| seat.me.endpoint);
    Ok(Opened(seats))
}

/// Opens the socket of an endpoint in the namespace of the calling thread.
fn opened(flow: FlowId, node: NodeId, group: Option<GroupId>, ecn: bool) -> nix::Result<OwnedFd> {
    let flags = SockFlag::SOCK_NONBLOCK | SockFlag::SOCK_CLOEXEC;
    let fd = socket(AddressFamily::Inet, SockType::Datagram, flags, None)?;
    setsockopt(&fd, sockopt::IpRecvTos, &true)?;
    setsockopt(&fd, sockopt::SndBufForce, &WAITING)?;
    setsockopt(&fd, sockopt::RcvBufForce, &WAITING)?;
    if ecn {
        setsockopt(&fd, sockopt::Ipv4Tos, &CAPABLE)?;
    }
    bind(fd.as_raw_fd(), &place(Ipv4Addr::UNSPECIFIED, flow))?;
    if let Some(group) = group {
        let asked = IpMembershipRequest::new(wire::address_of_group(group), Some(wire::address_of(node)));
        setsockopt(&fd, sockopt::IpAddMembership, &asked)?;
    }
    Ok(fd)
}

fn place(address: Ipv4Addr, flow: FlowId) -> SockaddrIn {
    SockaddrIn::from(std::net::SocketAddrV4::new(address, wire::port_of(flow)))
}

impl Live {
    /// Starts the thread; `None` without live flows. `urgent` gives it real-time priority; `began` is the start of the run.
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
        let said: Arc<[Mutex<Said>]> = endpoints.iter().map(|_| Mutex::default()).collect();
        let mut out = Outputs::default();
        out.notes.probing = blueprint.record.every > Duration::ZERO && !blueprint.record.series.is_empty();
        out.notes.events = blueprint.record.events;
        let mut work = Work {
            bell: bell.clone(),
            orders: received,
            urgent,
            began,
            seats,
            said: said.clone(),
            out,
            datagram: Vec::new(),
            buffer: vec![0; LONGEST],
        };
        let thread = match endpoints.is_empty() {
            true => None,
            false => {
                let thread = std::thread::Builder::new().name("thalweg-live".to_owned());
                Some(thread.spawn(move || work.run()).map_err(|error| failed("starting a thread", error))?)
            }
        };
        Ok(Self { orders, bell, thread, endpoints, said })
    }

    pub(super) fn start(&self, endpoint: EndpointId, machine: LiveMachine) {
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
    pub(super) fn words(&self, tell: &mut dyn FnMut(EndpointId, &Said)) {
        for (endpoint, said) in self.endpoints.iter().zip(self.said.iter()) {
            tell(*endpoint, &std::mem::take(&mut *locked(said)));
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

fn locked(said: &Mutex<Said>) -> MutexGuard<'_, Said> {
    said.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The state of the thread.
struct Work {
    bell: Arc<EventFd>,
    orders: Receiver<Order>,
    urgent: bool,
    began: Instant,
    seats: Vec<Seat>,
    said: Arc<[Mutex<Said>]>,
    out: Outputs,
    datagram: Vec<u8>,
    buffer: Vec<u8>,
}

impl Work {
    fn run(&mut self) {
        // exact timers, without coalescing
        let _ = nix::sys::prctl::set_timerslack(1);
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
                Ok(Order::Begin(index, (machine, random))) => {
                    let seat = &mut self.seats[index];
                    // a restarted flow continues its random stream
                    seat.random.get_or_insert(random);
                    seat.machine = Some(machine);
                    self.give(index, Input::Start);
                }
                Ok(Order::End(index)) => {
                    self.give(index, Input::Stop);
                    self.seats[index].machine = None;
                }
                Ok(Order::Mode(index, mode)) => self.give(index, Input::Mode(&mode)),
                Ok(Order::Over) | Err(TryRecvError::Disconnected) => return false,
                Err(TryRecvError::Empty) => return true,
            }
        }
    }

    /// Handles the deadline of a state machine if it is due. Returns the next one.
    fn on_time(&mut self, index: usize) -> Time {
        let Some(machine) = &self.seats[index].machine else { return Time::NEVER };
        let (wake, now) = (machine.wake(), since(self.began));
        if wake > now {
            return wake;
        }
        locked(&self.said[index]).late.record(now.saturating_since(wake));
        self.give(index, Input::Timer);
        self.seats[index].machine.as_ref().map_or(Time::NEVER, |machine| machine.wake())
    }

    /// Gives an input to the state machine of an endpoint, and sends its output.
    fn give(&mut self, index: usize, input: Input<'_>) {
        let now = since(self.began);
        let seat = &mut self.seats[index];
        let (Some(machine), Some(random)) = (&mut seat.machine, &mut seat.random) else { return };
        let mut said = locked(&self.said[index]);
        let mut cx = Cx::new(now, seat.me, seat.flow, random, &mut said.meter, &mut self.out);
        machine.handle(input, &mut cx);
        said.notes.append(&mut self.out.notes.pending);
        drop(said);
        for id in self.out.outbox.drain(..) {
            let packet = *self.out.arena.get(id);
            self.out.arena.release(id);
            let content = match packet.header {
                Header::Tcp(_) => Some(packet.size_bytes.saturating_sub(seat.header)),
                _ => None,
            };
            if datagrams::write(&packet, seat.number, content, &mut self.datagram) {
                seat.number += 1;
                let to = match (packet.to.as_group(), packet.to.node()) {
                    (Some(group), _) => wire::address_of_group(group),
                    (None, Some(node)) => wire::address_of(node),
                    (None, None) => continue,
                };
                let to = place(to, seat.flow);
                // a packet that the system rejects is lost, as on any network
                let _ = sendto(seat.socket.as_raw_fd(), &self.datagram, &to, MsgFlags::MSG_DONTWAIT);
            }
        }
    }

    /// Waits for a datagram, an order, or `until`.
    fn wait(&self, until: Time, ready: &mut Vec<usize>) {
        let left = until.saturating_since(since(self.began));
        let sockets = self.seats.iter().map(|seat| seat.socket.as_fd()).chain([self.bell.as_fd()]);
        let mut asked: Vec<PollFd<'_>> =
            sockets.map(|socket| PollFd::new(socket, PollFlags::POLLIN)).collect();
        let timeout = TimeSpec::nanoseconds(left.as_nanos().min(1_000_000_000) as i64);
        if ppoll(&mut asked, Some(timeout), None).is_ok_and(|count| count > 0) {
            let has = |asked: &PollFd<'_>| asked.any().unwrap_or(false);
            let sockets = asked[..self.seats.len()].iter().enumerate();
            ready.extend(sockets.filter(|(_, asked)| has(asked)).map(|(index, _)| index));
        }
    }

    /// Reads the datagrams of an endpoint, at most one batch.
    fn take_in(&mut self, index: usize) {
        for _ in 0..BATCH {
            let Ok((length, from, ecn)) = receive(&self.seats[index].socket, &mut self.buffer) else {
                return;
            };
            if let Some(packet) = self.packet(index, length, from, ecn) {
                self.give(index, Input::Packet(&packet));
            }
        }
    }

    fn packet(&self, index: usize, length: usize, from: Ipv4Addr, ecn: Ecn) -> Option<Packet> {
        let seat = &self.seats[index];
        let source = *seat.known.get(&from)?;
        let envelope =
            Envelope { flow: seat.flow, source, to: seat.me.into(), ecn, outer_bytes: datagrams::OUTER };
        let (packet, carried) = datagrams::read(&self.buffer[..length], &envelope)?;
        Some(match packet.header {
            Header::Tcp(_) => Packet { size_bytes: seat.header + carried, ..packet },
            _ => packet,
        })
    }
}

/// Reads a datagram into `buffer`: its length, source address and ECN field.
fn receive(socket: &OwnedFd, buffer: &mut [u8]) -> io::Result<(usize, Ipv4Addr, Ecn)> {
    let mut room = nix::cmsg_space!(u8);
    let mut pieces = [IoSliceMut::new(buffer)];
    let flags = MsgFlags::MSG_DONTWAIT;
    let got = recvmsg::<SockaddrIn>(socket.as_raw_fd(), &mut pieces, Some(&mut room), flags)?;
    let from = got.address.map_or(Ipv4Addr::UNSPECIFIED, |address| address.ip());
    let mut ecn = Ecn::NotCapable;
    for word in got.cmsgs()? {
        if let ControlMessageOwned::Ipv4Tos(tos) = word {
            ecn = match tos & 3 {
                0 => Ecn::NotCapable,
                3 => Ecn::Marked,
                _ => Ecn::Capable,
            };
        }
    }
    Ok((got.bytes, from, ecn))
}
