//! UDP sockets as a [`Platform`]: IPv4 and IPv6, with GSO, GRO, batched reception and ECN by quinn-udp, and a second
//! socket for a multicast group.

use std::io::{self, ErrorKind, IoSliceMut};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::os::fd::{AsFd, BorrowedFd};

use contract::Ecn;
use nix::poll::{PollFd, PollFlags};
use quinn_udp::{EcnCodepoint, RecvMeta, Transmit, UdpSockRef, UdpSocketState};
use socket2::{Domain, Protocol, SockAddr, SockRef, Socket, Type};
use units::{Duration, Time};

use crate::interface::{Interface, Multicast, address_towards};
use crate::{Batch, Clock, GsoBatch, Platform, SendOutcome, wait_readable};

/// Size of the socket buffers that is requested; the system may grant less.
const SOCKET_BUFFER: usize = 4 << 20;
/// Size of one buffer of a call, for datagrams that the system has coalesced.
const RECEIVE_BUFFER: usize = 1 << 16;
/// Maximum number of buffers of a call.
const RECEIVE_BUFFERS: usize = 8;

/// A UDP socket, and another for a group.
#[derive(Debug)]
pub struct Udp {
    unicast: Port,
    multicast: Multicast,
    /// The socket of the group, and its address.
    group: Option<(Port, SocketAddr)>,
    /// Whether the group is read first.
    group_first: bool,
    clock: Clock,
}

/// A socket with what quinn-udp knows of it.
#[derive(Debug)]
struct Port {
    socket: UdpSocket,
    state: UdpSocketState,
}

impl Udp {
    /// A socket at this address; port 0 selects a free one.
    ///
    /// # Errors
    ///
    /// The address is not of this host, the port is in use, or the system does not support what is needed.
    pub fn bind(address: SocketAddr) -> io::Result<Self> {
        Self::of(bound(address)?)
    }

    /// A socket for calls to `to`, at any local address and port.
    ///
    /// # Errors
    ///
    /// The system does not support what is needed.
    pub fn for_calling(to: SocketAddr) -> io::Result<Self> {
        Self::bind(if to.is_ipv4() {
            SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0))
        } else {
            SocketAddr::from((Ipv6Addr::UNSPECIFIED, 0))
        })
    }

    /// An existing socket.
    ///
    /// # Errors
    ///
    /// The system does not support what is needed.
    pub fn of(socket: UdpSocket) -> io::Result<Self> {
        let unicast = Port::new(socket)?;
        // as much as it grants
        let _ = unicast.state.set_send_buffer_size(UdpSockRef::from(&unicast.socket), SOCKET_BUFFER);
        Ok(Self {
            unicast,
            multicast: Multicast::default(),
            group: None,
            group_first: false,
            clock: Clock::wall(),
        })
    }

    /// Its local address.
    ///
    /// # Errors
    ///
    /// The system does not know it.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.unicast.socket.local_addr()
    }

    /// Sets the multicast settings.
    ///
    /// # Errors
    ///
    /// There is no such interface.
    pub fn set_multicast(&mut self, multicast: &Multicast) -> io::Result<()> {
        self.multicast = *multicast;
        let socket = SockRef::from(&self.unicast.socket);
        if self.address()?.is_ipv4() {
            socket.set_multicast_ttl_v4(u32::from(multicast.ttl))?;
            socket.set_multicast_loop_v4(multicast.loopback)?;
            socket.set_multicast_if_v4(&multicast.interface.address())
        } else {
            socket.set_multicast_hops_v6(u32::from(multicast.ttl))?;
            socket.set_multicast_loop_v6(multicast.loopback)?;
            socket.set_multicast_if_v6(multicast.interface.index())
        }
    }

    /// Checks for a route to this group, without sending.
    ///
    /// # Errors
    ///
    /// There is no route through the interface.
    pub fn check_route(&self, group: SocketAddr) -> io::Result<()> {
        let socket = Socket::new(Domain::for_address(group), Type::DGRAM, Some(Protocol::UDP))?;
        match (group, self.multicast.interface) {
            (SocketAddr::V4(_), Interface::Address(address)) => socket.set_multicast_if_v4(&address)?,
            (SocketAddr::V6(_), Interface::Index(index)) => socket.set_multicast_if_v6(index)?,
            _ => {}
        }
        socket.connect(&SockAddr::from(group))
    }

    /// Number of datagrams that one call can send, and that one buffer can receive: above 1 with GSO and GRO.
    pub fn offloads(&self) -> (usize, usize) {
        (self.unicast.state.max_gso_segments(), self.unicast.state.gro_segments())
    }
}

/// A socket at this address; one of IPv6 takes no datagrams of IPv4.
pub(crate) fn bound(address: SocketAddr) -> io::Result<UdpSocket> {
    let socket = Socket::new(Domain::for_address(address), Type::DGRAM, Some(Protocol::UDP))?;
    if address.is_ipv6() {
        socket.set_only_v6(true)?;
    }
    socket.bind(&SockAddr::from(address))?;
    Ok(socket.into())
}

impl AsFd for Udp {
    /// The socket for unicast.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.unicast.socket.as_fd()
    }
}

impl Platform for Udp {
    fn now(&mut self) -> Time {
        self.clock.now()
    }

    fn wait(&mut self, until: Time) {
        let span = until.saturating_since(self.clock.now());
        if span > Duration::ZERO {
            match &self.group {
                None => wait_readable(&mut [self.unicast.poll()], span),
                Some((port, _)) => wait_readable(&mut [self.unicast.poll(), port.poll()], span),
            };
        }
    }

    fn receive(&mut self, batch: &mut Batch) -> bool {
        batch.clear();
        let Some((port, group)) = &self.group else { return self.unicast.receive(batch) };
        // each has its turn, whatever comes to the other
        self.group_first = !self.group_first;
        let mut turns = [(&self.unicast, None), (port, Some(*group))];
        turns.rotate_left(usize::from(self.group_first));
        turns.iter().any(|(port, group)| {
            batch.group = *group;
            port.receive(batch)
        })
    }

    fn send(&mut self, batch: &GsoBatch<'_>) -> SendOutcome {
        let mut outcome = SendOutcome::Accepted;
        let mut rest = batch.bytes;
        while !rest.is_empty() {
            let segments = self.unicast.state.max_gso_segments().max(1);
            let (bytes, behind) = rest.split_at(rest.len().min(segments * batch.segment_size.max(1)));
            match self.unicast.send(batch, bytes) {
                SendOutcome::Accepted => {}
                // the interface does not take GSO, as quinn-udp has just found: one by one from now on
                SendOutcome::Unreachable if segments > 1 && self.unicast.state.max_gso_segments() == 1 => {
                    continue;
                }
                other => outcome = other,
            }
            rest = behind;
        }
        outcome
    }

    fn join(&mut self, group: SocketAddr) -> io::Result<()> {
        let socket = Socket::new(Domain::for_address(group), Type::DGRAM, Some(Protocol::UDP))?;
        // several receivers of one host
        socket.set_reuse_address(true)?;
        let interface = self.multicast.interface;
        match group {
            SocketAddr::V4(at) => {
                socket.bind(&SockAddr::from(at))?;
                socket.join_multicast_v4(at.ip(), &interface.address())?;
            }
            SocketAddr::V6(mut at) => {
                // a group of link or host scope is a different one on each
                at.set_scope_id(interface.index());
                socket.bind(&SockAddr::from(at))?;
                socket.join_multicast_v6(at.ip(), interface.index())?;
            }
        }
        self.group = Some((Port::new(socket.into())?, group));
        Ok(())
    }

    fn local_address(&self, peer: SocketAddr) -> Option<SocketAddr> {
        let here = self.address().ok()?;
        if !here.ip().is_unspecified() {
            return Some(here);
        }
        if let (true, Interface::Address(ip)) = (peer.ip().is_multicast(), self.multicast.interface) {
            return Some(SocketAddr::from((ip, here.port())));
        }
        address_towards(peer).map(|ip| SocketAddr::new(ip, here.port()))
    }

    fn fill_random(&mut self, bytes: &mut [u8]) {
        getrandom::fill(bytes).expect("the system has random numbers");
    }
}

impl Port {
    fn new(socket: UdpSocket) -> io::Result<Self> {
        let state = UdpSocketState::new(UdpSockRef::from(&socket))?;
        // quinn-udp 0.6.3 asks for time stamps and has room for 96 bytes of ancillary data: with time stamps the
        // congestion mark of datagrams that came joined would be cut off
        #[cfg(target_os = "linux")]
        nix::sys::socket::setsockopt(&socket, nix::sys::socket::sockopt::ReceiveTimestampns, &false)?;
        // as much as it grants
        let _ = state.set_recv_buffer_size(UdpSockRef::from(&socket), SOCKET_BUFFER);
        Ok(Self { socket, state })
    }

    fn poll(&self) -> PollFd<'_> {
        PollFd::new(self.socket.as_fd(), PollFlags::POLLIN)
    }

    /// Sends datagrams of a batch by one call.
    fn send(&self, batch: &GsoBatch<'_>, bytes: &[u8]) -> SendOutcome {
        let transmit = Transmit {
            destination: batch.to,
            ecn: codepoint(batch.ecn),
            contents: bytes,
            segment_size: Some(batch.segment_size),
            src_ip: None,
        };
        match self.state.try_send(UdpSockRef::from(&self.socket), &transmit) {
            Ok(()) => SendOutcome::Accepted,
            Err(error) if quinn_udp::is_msg_size_err(&error) => SendOutcome::TooLong,
            Err(error) if error.kind() == ErrorKind::WouldBlock => SendOutcome::QueueFull,
            // no buffer space: a queue of the network interface
            Err(error) if error.raw_os_error() == Some(nix::errno::Errno::ENOBUFS as i32) => {
                SendOutcome::QueueFull
            }
            Err(_) => SendOutcome::Unreachable,
        }
    }

    /// Receives what has arrived. Returns false if there was nothing.
    fn receive(&self, batch: &mut Batch) -> bool {
        let mut metas = [RecvMeta::default(); RECEIVE_BUFFERS];
        let mut buffers = batch.buffer.chunks_exact_mut(RECEIVE_BUFFER);
        let count = buffers.len().min(RECEIVE_BUFFERS);
        let mut slices: [IoSliceMut<'_>; RECEIVE_BUFFERS] =
            std::array::from_fn(|_| IoSliceMut::new(buffers.next().unwrap_or_default()));
        let socket = UdpSockRef::from(&self.socket);
        // nothing is there, or an earlier datagram was not delivered: only what arrives counts
        let Ok(received) = self.state.recv(socket, &mut slices[..count], &mut metas[..count]) else {
            return false;
        };
        for (buffer, meta) in metas[..received].iter().enumerate() {
            let ecn = match meta.ecn {
                Some(EcnCodepoint::Ce) => Ecn::Marked,
                Some(EcnCodepoint::Ect0) => Ecn::Capable,
                Some(EcnCodepoint::Ect1) => Ecn::CapableL4s,
                None => Ecn::NotCapable,
            };
            let start = buffer * RECEIVE_BUFFER;
            let end = start + meta.len.min(RECEIVE_BUFFER);
            for at in (start..end).step_by(meta.stride.max(1)) {
                batch.add(meta.addr, ecn, at..(at + meta.stride).min(end));
            }
        }
        received > 0
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
