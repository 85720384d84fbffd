//! A QUIC endpoint on a [`Platform`]: quinn-proto's state machines with the platform's clock, sockets, GSO batches and
//! ECN, in one thread.
//!
//! The host handles datagrams and deadlines. A [`Protocol`] decides what connections are used for.

use std::collections::BTreeSet;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use crate::{End, Traffic};
use bytes::BytesMut;
use contract::Ecn;
use driver::{Batch, GsoBatch, Platform, SendOutcome};
use quinn_proto::{
    ClientConfig, ConnectError, Connection, ConnectionHandle, DatagramEvent, EcnCodepoint, EndpointConfig,
    Event, Incoming, ServerConfig, Transmit,
};
use units::{Duration, Rate, Time};

use crate::clock::{instant, time};
use crate::log::{ConnectionLog, Watch};

/// Maximum number of receive calls before other work.
const BATCHES: usize = 4;
/// Size of the receive buffer: what one system call can return.
const RECEIVE_BUFFER: usize = 1 << 19;
/// Bytes per allocation for received datagrams, which quinn keeps until their content is read.
const PIECE: usize = 1 << 16;
/// Maximum number of datagrams of a GSO batch, and of their bytes: the limits of one system call.
const GSO: (usize, usize) = (64, 65_000);
/// Maximum number of GSO batches of a connection before other work.
const TURN: usize = 16;
/// How long a sender at a high packet rate pauses, so that packets leave in GSO batches, and the mean gap below which
/// the rate is high.
const GSO_SPAN: Duration = Duration::from_micros(250);
const SHORT_GAP: Duration = Duration::from_micros(50);
/// Numbers of handshakes in progress from which clients have to validate their address first (Retry, [RFC9000 §8.1.2]),
/// and from which they are refused.
const HANDSHAKES: (usize, usize) = (8, 64);
/// Handshakes in progress with clients that validated the same address.
const HANDSHAKES_PER_ADDRESS: usize = 8;
/// How long a handshake with a client may take. Clients repeat what is lost after 1, 3 and 7 s (probe timeouts
/// [RFC9002 §6.2]).
const HANDSHAKE_TIME: Duration = Duration::from_secs(10);

/// Whether a datagram is a connection attempt: an Initial packet of QUIC version 1 [RFC9000 §17.2.2]. Its first five
/// bytes are enough.
pub fn is_attempt(bytes: &[u8]) -> bool {
    // header form, fixed bit and packet type; the other four bits are protected
    matches!(bytes, [first, 0, 0, 0, 1, ..] if first & 0xf0 == 0xc0)
}

/// The use of the connections of a [`Host`].
pub trait Protocol {
    /// A datagram of this connection has been decrypted: its DATAGRAM frames can be read with its arrival time and its
    /// ECN field.
    fn on_packet(&mut self, id: ConnectionHandle, connection: &mut Connection, ecn: Ecn, now: Time);

    /// An event of a connection.
    fn on_event(&mut self, id: ConnectionHandle, connection: &mut Connection, event: Event, now: Time);

    /// The connection to the sender of a multicast group, whose packets are passed to [`Protocol::on_group`].
    fn group_connection(&self) -> Option<ConnectionHandle> {
        None
    }

    /// A datagram to the group arrived.
    fn on_group(&mut self, _connection: &mut Connection, _bytes: &[u8], _ecn: Ecn, _now: Time) {}
}

/// A protocol that [`drive`] runs on a host until it ends.
pub trait Hosted<P>: Protocol {
    /// Handles what is due. Returns the end if it is over.
    fn turn(&mut self, host: &mut Host<P>, now: Time) -> Option<End>;

    /// The next deadline.
    fn wake(&self, now: Time) -> Time;

    /// Data packets sent, where a scheme and not QUIC decides when they leave.
    fn paced(&self) -> Option<u64>;
}

/// The event loop: receives, handles what is due, sends, waits.
pub fn drive<P: Platform, H: Hosted<P>>(host: &mut Host<P>, hosted: &mut H) -> End {
    // packets sent, and the time, at the last turn
    let (mut packets, mut turned_at) = (0, Time::ZERO);
    loop {
        host.receive(hosted);
        let now = host.platform.now();
        host.expire(hosted, now);
        let end = hosted.turn(host, now);
        let more = host.transmit(now);
        if let Some(end) = end {
            return end;
        }
        if more {
            continue;
        }
        let until = hosted.wake(now).min(host.wake());
        let sent = hosted.paced().map_or(0, |sent| sent - packets);
        let fast = sent > 1 && now.saturating_since(turned_at) < SHORT_GAP * sent;
        (packets, turned_at) = (packets + sent, now);
        host.platform.wait(if fast { until.max(now + GSO_SPAN) } else { until });
    }
}

/// A QUIC endpoint on a platform.
pub struct Host<P> {
    /// The platform.
    pub platform: P,
    endpoint: quinn_proto::Endpoint,
    /// By the number of their handle.
    connections: Vec<Option<Slot>>,
    /// Numbers of those with input since they were last polled for events and packets, so that idle ones cost nothing.
    touched: Vec<usize>,
    /// Their deadlines.
    deadlines: BTreeSet<(Time, usize)>,
    batch: Batch,
    /// Received datagrams, of which quinn gets slices.
    buffer: BytesMut,
    /// Datagrams that are being sent.
    out: Vec<u8>,
    /// Counters.
    pub counters: Counters,
    /// Watches the controllers of its connections, if these have logs.
    pub(crate) watch: Option<Arc<Watch>>,
}

/// A connection.
struct Slot {
    connection: Box<Connection>,
    /// Its deadline in the set.
    due: Time,
    /// It is in the list of the touched ones.
    touched: bool,
    /// It has sent what it may since, and is polled for events once more.
    sent: bool,
    /// The handshake with a client.
    handshake: Option<ClientHandshake>,
    log: Option<ConnectionLog>,
}

/// A handshake with a client.
#[derive(Clone, Copy)]
struct ClientHandshake {
    /// The address, if the client has validated it [RFC9000 §8.1].
    validated: Option<IpAddr>,
    /// When it has to be complete.
    until: Time,
}

impl Slot {
    /// The handshake with a client, while it is in progress.
    fn in_progress(&self) -> Option<ClientHandshake> {
        self.handshake.filter(|_| self.connection.is_handshaking())
    }

    /// Calls `act` with the log at this time, if there is one.
    fn log(&mut self, now: Time, act: impl FnOnce(&mut ConnectionLog)) {
        if let Some(log) = &mut self.log {
            log.at(now);
            act(log);
        }
    }
}

/// Counters of a [`Host`]. Bytes are UDP payloads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Datagrams sent.
    pub sent: Traffic,
    /// Datagrams received, for connections or from strangers.
    pub received: Traffic,
    /// Datagrams received that belong to no connection and opened none.
    pub strangers: u64,
    /// Datagrams that the operating system did not send.
    pub overruns: u64,
    /// The path does not accept datagrams of a size that was tried.
    pub too_long: bool,
    /// Connection attempts that were refused because too many were in progress, or given up because they took too long.
    pub refused: u64,
}

impl<P: Platform> Host<P> {
    /// An endpoint that accepts connection attempts if it has a server configuration. Its secrets are random.
    pub fn new(mut platform: P, server: Option<ServerConfig>) -> Self {
        let (mut seed, mut key) = ([0; 32], [0; 64]);
        platform.fill_random(&mut seed);
        platform.fill_random(&mut key);
        let mut config = EndpointConfig::new(Arc::new(ring::hmac::Key::new(ring::hmac::HMAC_SHA256, &key)));
        config.rng_seed(Some(seed));
        Self {
            platform,
            endpoint: quinn_proto::Endpoint::new(Arc::new(config), server.map(Arc::new), true, None),
            connections: Vec::new(),
            touched: Vec::new(),
            deadlines: BTreeSet::new(),
            batch: Batch::new(RECEIVE_BUFFER),
            buffer: BytesMut::with_capacity(PIECE),
            out: Vec::with_capacity(GSO.1 + 2048),
            counters: Counters::default(),
            watch: None,
        }
    }

    /// Opens a connection to `to`.
    ///
    /// # Errors
    ///
    /// QUIC cannot connect to this address.
    pub fn connect(
        &mut self,
        config: ClientConfig,
        to: SocketAddr,
        name: &str,
        now: Time,
    ) -> Result<ConnectionHandle, ConnectError> {
        let (id, connection) = self.endpoint.connect(instant(now), config, to, name)?;
        self.insert(id, connection, None, now);
        Ok(id)
    }

    /// The connection with this handle; `None` once it is over and its closing period has passed.
    pub fn connection(&mut self, id: ConnectionHandle) -> Option<&mut Connection> {
        touch(&mut self.connections, &mut self.touched, id.0).map(|slot| &mut *slot.connection)
    }

    /// Logs the rate that the scheme of a connection permits.
    pub(crate) fn permit(&mut self, id: ConnectionHandle, rate: Rate) {
        let slot = self.connections.get_mut(id.0).and_then(Option::as_mut);
        if let Some(log) = slot.and_then(|slot| slot.log.as_mut()) {
            log.permit(rate);
        }
    }

    /// Closes a connection with an application error code [RFC9000 §10.2].
    pub fn close(&mut self, id: ConnectionHandle, code: u32, reason: &str, now: Time) {
        if let Some(connection) = self.connection(id) {
            let reason = bytes::Bytes::copy_from_slice(reason.as_bytes());
            connection.close(instant(now), code.into(), reason);
        }
    }

    /// Number of connections, those in their closing period too.
    pub fn count(&self) -> usize {
        self.connections.iter().flatten().count()
    }

    fn insert(
        &mut self,
        id: ConnectionHandle,
        connection: Connection,
        handshake: Option<ClientHandshake>,
        now: Time,
    ) {
        if self.connections.len() <= id.0 {
            self.connections.resize_with(id.0 + 1, || None);
        }
        let log = self.watch.as_ref().and_then(|watch| ConnectionLog::new(watch, &connection, now));
        let (connection, due) = (Box::new(connection), Time::NEVER);
        self.connections[id.0] = Some(Slot { connection, due, touched: false, sent: false, handshake, log });
        touch(&mut self.connections, &mut self.touched, id.0);
    }

    // ---- reception

    /// Receives what has arrived, up to a few batches.
    pub fn receive(&mut self, protocol: &mut impl Protocol) {
        let mut batch = std::mem::replace(&mut self.batch, Batch::new(0));
        for _ in 0..BATCHES {
            if !self.platform.receive(&mut batch) {
                break;
            }
            let now = self.platform.now();
            for (from, ecn, bytes) in batch.iter() {
                if batch.group.is_some() {
                    self.handle_group_datagram(bytes, ecn, now, protocol);
                } else {
                    self.handle_datagram(bytes, from, ecn, now, protocol);
                }
            }
            self.process_events(protocol, now);
        }
        self.batch = batch;
    }

    /// Handles a datagram that was received outside of the host.
    pub fn on_datagram(&mut self, bytes: &[u8], from: SocketAddr, ecn: Ecn, protocol: &mut impl Protocol) {
        let now = self.platform.now();
        self.handle_datagram(bytes, from, ecn, now, protocol);
        self.process_events(protocol, now);
    }

    fn handle_datagram(
        &mut self,
        bytes: &[u8],
        from: SocketAddr,
        ecn: Ecn,
        now: Time,
        protocol: &mut impl Protocol,
    ) {
        self.counters.received.add(bytes.len());
        if self.buffer.capacity() < bytes.len() {
            self.buffer.reserve(PIECE.max(bytes.len()));
        }
        self.buffer.extend_from_slice(bytes);
        let datagram = self.buffer.split();
        self.out.clear();
        let event = self.endpoint.handle(instant(now), from, None, codepoint(ecn), datagram, &mut self.out);
        match event {
            Some(DatagramEvent::ConnectionEvent(id, event)) => {
                if let Some(slot) = touch(&mut self.connections, &mut self.touched, id.0) {
                    slot.log(now, |log| log.received(bytes.len(), now));
                    slot.connection.handle_event(event);
                    slot.log(now, |_| {});
                    protocol.on_packet(id, &mut slot.connection, ecn, now);
                }
            }
            Some(DatagramEvent::NewConnection(incoming)) => self.accept(incoming, bytes.len(), now),
            Some(DatagramEvent::Response(transmit)) => {
                self.counters.strangers += 1;
                self.send(&transmit);
            }
            None => self.counters.strangers += 1,
        }
    }

    fn handle_group_datagram(&mut self, bytes: &[u8], ecn: Ecn, now: Time, protocol: &mut impl Protocol) {
        self.counters.received.add(bytes.len());
        let id = protocol.group_connection();
        match id.and_then(|id| touch(&mut self.connections, &mut self.touched, id.0)) {
            Some(slot) => protocol.on_group(&mut slot.connection, bytes, ecn, now),
            None => self.counters.strangers += 1,
        }
    }

    /// Accepts a client, has it validate its address, or refuses it, depending on the number of handshakes in progress.
    fn accept(&mut self, incoming: Incoming, length: usize, now: Time) {
        let validated = incoming.remote_address_validated();
        let from = network(incoming.remote_address().ip());
        let (mut busy, mut same) = (0, 0);
        for handshake in self.connections.iter().flatten().filter_map(Slot::in_progress) {
            busy += 1;
            same += usize::from(handshake.validated == Some(from));
        }
        let response = if busy >= HANDSHAKES.0 && !validated {
            self.endpoint.retry(incoming, &mut self.out).ok()
        } else if busy >= HANDSHAKES.1 || (validated && same >= HANDSHAKES_PER_ADDRESS) {
            self.counters.refused += 1;
            Some(self.endpoint.refuse(incoming, &mut self.out))
        } else {
            match self.endpoint.accept(incoming, instant(now), &mut self.out, None) {
                Ok((id, connection)) => {
                    let validated = validated.then_some(from);
                    let handshake = ClientHandshake { validated, until: now + HANDSHAKE_TIME };
                    self.insert(id, connection, Some(handshake), now);
                    if let Some(slot) = touch(&mut self.connections, &mut self.touched, id.0) {
                        slot.log(now, |log| log.received(length, now));
                    }
                    None
                }
                Err(error) => error.response,
            }
        };
        if let Some(transmit) = response {
            self.send(&transmit);
        }
    }

    /// Handles deadlines that have expired.
    pub fn expire(&mut self, protocol: &mut impl Protocol, now: Time) {
        while let Some(&(due, number)) = self.deadlines.first()
            && due <= now
        {
            self.deadlines.pop_first();
            if let Some(Some(slot)) = self.connections.get_mut(number) {
                slot.due = Time::NEVER;
            }
            let slow = self.connections.get(number).and_then(Option::as_ref).and_then(Slot::in_progress);
            if let Some(slot) = touch(&mut self.connections, &mut self.touched, number) {
                slot.log(now, |_| {});
                slot.connection.handle_timeout(instant(now));
                if slow.is_some_and(|handshake| now >= handshake.until) {
                    self.counters.refused += 1;
                    slot.connection.close(instant(now), 0u32.into(), bytes::Bytes::from_static(b"too slow"));
                }
            }
        }
        self.process_events(protocol, now);
    }

    /// Passes events between quinn's state machines, and to the protocol. Removes connections that are drained.
    fn process_events(&mut self, protocol: &mut impl Protocol, now: Time) {
        let Self { connections, touched, deadlines, endpoint, .. } = self;
        touched.retain(|&number| {
            let Some(slot) = &mut connections[number] else { return false };
            let (id, connection) = (ConnectionHandle(number), &mut slot.connection);
            while let Some(event) = connection.poll_endpoint_events() {
                if let Some(event) = endpoint.handle_event(id, event) {
                    connection.handle_event(event);
                    slot.sent = false;
                }
            }
            while let Some(event) = connection.poll() {
                if let (Event::Connected, Some(log)) = (&event, &mut slot.log) {
                    log.open();
                }
                protocol.on_event(id, connection, event, now);
                slot.sent = false;
            }
            if connection.is_drained() {
                deadlines.remove(&(slot.due, number));
                connections[number] = None;
                return false;
            }
            slot.touched = !slot.sent;
            slot.touched
        });
    }

    // ---- transmission

    /// Sends what quinn permits now. Returns whether there may be more at once.
    pub fn transmit(&mut self, now: Time) -> bool {
        let mut more = false;
        for at in 0..self.touched.len() {
            let number = self.touched[at];
            let mut turns = 0;
            while let Some(slot) = &mut self.connections[number] {
                if turns == TURN {
                    more = true;
                    break;
                }
                turns += 1;
                slot.log(now, |_| {});
                let maximum = (GSO.1 / usize::from(slot.connection.current_mtu())).clamp(1, GSO.0);
                self.out.clear();
                let Some(transmit) = slot.connection.poll_transmit(instant(now), maximum, &mut self.out)
                else {
                    slot.sent = true;
                    break;
                };
                slot.log(now, |log| log.sent(&transmit, now));
                self.send(&transmit);
            }
            self.schedule(number, now);
        }
        more
    }

    /// Notes the next deadline of a connection.
    fn schedule(&mut self, number: usize, now: Time) {
        let Some(slot) = &mut self.connections[number] else { return };
        if let Some(log) = &mut slot.log {
            log.report(&mut slot.connection, now);
        }
        let due = slot.connection.poll_timeout().map_or(Time::NEVER, time);
        let due = slot.in_progress().map_or(due, |handshake| due.min(handshake.until));
        if due != slot.due {
            self.deadlines.remove(&(slot.due, number));
            slot.due = due;
            if due != Time::NEVER {
                self.deadlines.insert((due, number));
            }
        }
    }

    /// Sends the datagrams in the buffer.
    fn send(&mut self, transmit: &Transmit) {
        let each = transmit.segment_size.unwrap_or(transmit.size).max(1);
        let ecn = if transmit.ecn.is_some() { Ecn::Capable } else { Ecn::NotCapable };
        let bytes = &self.out[..transmit.size];
        let batch = GsoBatch { to: transmit.destination, ecn, bytes, segment_size: each };
        let count = batch.count() as u64;
        self.counters.sent.datagrams += count;
        self.counters.sent.bytes += transmit.size as u64;
        match self.platform.send(&batch) {
            SendOutcome::Accepted => {}
            SendOutcome::TooLong => {
                self.counters.too_long = true;
                self.counters.overruns += count;
            }
            SendOutcome::QueueFull | SendOutcome::Unreachable => self.counters.overruns += count,
        }
    }

    /// The next deadline of a connection.
    pub fn wake(&self) -> Time {
        self.deadlines.first().map_or(Time::NEVER, |(due, _)| *due)
    }
}

/// The connection with this number, which is to be polled for events and packets.
fn touch<'a>(
    connections: &'a mut [Option<Slot>],
    touched: &mut Vec<usize>,
    number: usize,
) -> Option<&'a mut Slot> {
    let slot = connections.get_mut(number)?.as_mut()?;
    slot.sent = false;
    if !std::mem::replace(&mut slot.touched, true) {
        touched.push(number);
    }
    Some(slot)
}

/// The address of a client, by which handshakes are counted: of IPv6 the network of 64 bits, which one host has to
/// itself [RFC4291 §2.5.1].
fn network(of: IpAddr) -> IpAddr {
    match of {
        IpAddr::V4(_) => of,
        IpAddr::V6(ip) => IpAddr::from((u128::from(ip) >> 64 << 64).to_be_bytes()),
    }
}

const fn codepoint(ecn: Ecn) -> Option<EcnCodepoint> {
    match ecn {
        Ecn::NotCapable => None,
        Ecn::Capable => Some(EcnCodepoint::Ect0),
        Ecn::CapableL4s => Some(EcnCodepoint::Ect1),
        Ecn::Marked => Some(EcnCodepoint::Ce),
    }
}
