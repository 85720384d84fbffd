//! A real UDP socket: several datagrams per system call if supported, ECN marks read and set, IPv4 and IPv6.

use std::io::{self, ErrorKind, IoSliceMut};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::os::fd::AsFd;
use std::time::{Instant, SystemTime};

use contract::Ecn;
use nix::poll::{PollFd, PollFlags};
use quinn_udp::{EcnCodepoint, RecvMeta, Transmit, UdpSockRef, UdpSocketState};
use socket2::{Domain, Protocol, SockAddr, SockRef, Socket, Type};
use units::{Duration, Time};

use crate::{Batch, Fate, GsoBatch, Platform};

/// Size of the socket buffers that is requested; the system may grant less.
const BUFFER: usize = 4 << 20;
/// Size of one buffer of a call, for datagrams that the system has coalesced.
const PIECE: usize = 1 << 16;
/// Maximum number of buffers of a call.
const PIECES: usize = 8;
/// Zero of the clocks: 1 January 2024 UTC, so that those of two hosts differ little, and numbers are small.
const EPOCH: std::time::Duration = std::time::Duration::from_secs(1_704_067_200);

/// A UDP socket, and another for a group.
#[derive(Debug)]
pub struct Udp {
    socket: UdpSocket,
    state: UdpSocketState,
    multicast: Multicast,
    /// The socket of the group.
    group: Option<(UdpSocket, UdpSocketState, SocketAddr)>,
    /// Whether the group is read first.
    group_first: bool,
    began: Instant,
    base: Duration,
}

/// Multicast settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Multicast {
    /// Time to live: 1 stays in the local network.
    pub ttl: u8,
    /// Whether programs on this host receive the datagrams as well.
    pub loopback: bool,
    /// The interface.
    pub interface: Interface,
}

/// An interface of this host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Interface {
    /// The interface of the route.
    #[default]
    Routed,
    /// The interface with this address; for groups of IPv4.
    Address(Ipv4Addr),
    /// The interface with this index; for groups of IPv6.
    Index(u32),
}

impl Default for Multicast {
    /// The local network and this host, through the interface of the route.
    fn default() -> Self {
        Self { ttl: 1, loopback: true, interface: Interface::Routed }
    }
}

impl Interface {
    /// The interface that a user names: by name, by index, or for IPv4 by one of its addresses.
    ///
    /// # Errors
    ///
    /// A message for users: there is no such interface, or it has no suitable address.
    pub fn called(text: &str, ipv6: bool) -> Result<Self, String> {
        let there = interfaces();
        if let Ok(address) = text.parse::<Ipv4Addr>() {
            return if ipv6 {
                Err(format!(
                    "{text}: groups of IPv6 need the interface's name or number, such as {}",
                    listed(&there)
                ))
            } else {
                Ok(Self::Address(address))
            };
        }
        let meant = there.iter().find(|one| one.name == text || text.parse() == Ok(one.index));
        let Some(meant) = meant else {
            return Err(format!("{text}: there is no such interface; there are {}", listed(&there)));
        };
        if ipv6 {
            return Ok(Self::Index(meant.index));
        }
        let address = meant.address.ok_or_else(|| format!("{text}: the interface has no IPv4 address"))?;
        Ok(Self::Address(address))
    }

    fn address(self) -> Ipv4Addr {
        if let Self::Address(address) = self { address } else { Ipv4Addr::UNSPECIFIED }
    }

    fn index(self) -> u32 {
        if let Self::Index(index) = self { index } else { 0 }
    }
}

impl Udp {
    /// A socket at this address; port 0 selects a free one.
    ///
    /// # Errors
    ///
    /// The address is not of this host, the port is in use, or the system does not support what is needed.
    pub fn bind(address: SocketAddr) -> io::Result<Self> {
        let socket = Socket::new(Domain::for_address(address), Type::DGRAM, Some(Protocol::UDP))?;
        if address.is_ipv6() {
            socket.set_only_v6(true)?;
        }
        socket.bind(&SockAddr::from(address))?;
        Self::of(socket.into())
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
        let state = UdpSocketState::new(UdpSockRef::from(&socket))?;
        // quinn-udp 0.6.3 asks for time stamps and has room for 96 bytes of what comes beside a datagram: with them the congestion mark
        // of datagrams that came joined would be cut off
        #[cfg(target_os = "linux")]
        nix::sys::socket::setsockopt(&socket, nix::sys::socket::sockopt::ReceiveTimestampns, &false)?;
        // as much as it grants
        let _ = state.set_send_buffer_size(UdpSockRef::from(&socket), BUFFER);
        let _ = state.set_recv_buffer_size(UdpSockRef::from(&socket), BUFFER);
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH + EPOCH).unwrap_or_default();
        Ok(Self {
            socket,
            state,
            multicast: Multicast::default(),
            group: None,
            group_first: false,
            began: Instant::now(),
            base: Duration::from_nanos(u64::try_from(since.as_nanos()).unwrap_or(0)),
        })
    }

    /// Its local address.
    ///
    /// # Errors
    ///
    /// The system does not know it.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }

    /// Sets the multicast settings.
    ///
    /// # Errors
    ///
    /// There is no such interface.
    pub fn set_multicast(&mut self, multicast: &Multicast) -> io::Result<()> {
        self.multicast = *multicast;
        let socket = SockRef::from(&self.socket);
        if self.socket.local_addr()?.is_ipv4() {
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
    pub fn seek(&self, group: SocketAddr) -> io::Result<()> {
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
        (self.state.max_gso_segments(), self.state.gro_segments())
    }

    fn post(&self, gso_batch: &GsoBatch<'_>, bytes: &[u8]) -> Fate {
        let transmit = Transmit {
            destination: gso_batch.to,
            ecn: codepoint(gso_batch.ecn),
            contents: bytes,
            segment_size: (bytes.len() > gso_batch.each).then_some(gso_batch.each),
            src_ip: None,
        };
        loop {
            match self.state.try_send(UdpSockRef::from(&self.socket), &transmit) {
                Ok(()) => return Fate::Taken,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if quinn_udp::is_msg_size_err(&error) => return Fate::TooLong,
                Err(error) => {
                    return match error.kind() {
                        ErrorKind::WouldBlock => Fate::Full,
                        // no buffer space: a queue of the network interface
                        _ if error.raw_os_error() == Some(nix::errno::Errno::ENOBUFS as i32) => Fate::Full,
                        _ => Fate::Unreachable,
                    };
                }
            }
        }
    }
}

impl Platform for Udp {
    fn now(&mut self) -> Time {
        let since = u64::try_from(self.began.elapsed().as_nanos()).unwrap_or(u64::MAX);
        Time::ZERO + self.base + Duration::from_nanos(since)
    }

    fn wait(&mut self, until: Time) {
        let span = until.saturating_since(self.now());
        if span > Duration::ZERO {
            let group = self.group.as_ref().map(|(socket, ..)| socket.as_fd());
            let fds = [self.socket.as_fd()].into_iter().chain(group);
            await_readable(fds.map(|fd| PollFd::new(fd, PollFlags::POLLIN)).collect(), span);
        }
    }

    fn receive(&mut self, batch: &mut Batch) -> bool {
        batch.clear();
        let Some((socket, state, group)) = &self.group else {
            return take(&self.socket, &self.state, batch);
        };
        // each has its turn, whatever comes to the other
        self.group_first = !self.group_first;
        let mut turns = [(&self.socket, &self.state, None), (socket, state, Some(*group))];
        turns.rotate_left(usize::from(self.group_first));
        turns.iter().any(|(socket, state, group)| {
            batch.group = *group;
            take(socket, state, batch)
        })
    }

    fn send(&mut self, gso_batch: &GsoBatch<'_>) -> Fate {
        // what one call takes may become less while it runs: drivers differ
        let max = self.state.max_gso_segments().max(1) * gso_batch.each.max(1);
        let mut fate = Fate::Taken;
        for bytes in gso_batch.bytes.chunks(max) {
            let mut one = self.post(gso_batch, bytes);
            if one == Fate::Unreachable && bytes.len() > gso_batch.each && self.state.max_gso_segments() == 1
            {
                // the way does not take GSO batches: one by one from now on
                for bytes in bytes.chunks(gso_batch.each) {
                    one = self.post(gso_batch, bytes);
                }
            }
            if one != Fate::Taken {
                fate = one;
            }
        }
        fate
    }

    fn join(&mut self, group: SocketAddr) -> io::Result<()> {
        let socket = Socket::new(Domain::for_address(group), Type::DGRAM, Some(Protocol::UDP))?;
        // several receivers of one computer
        socket.set_reuse_address(true)?;
        let interface = self.multicast.interface;
        match group {
            SocketAddr::V4(at) => {
                socket.bind(&SockAddr::from(at))?;
                socket.join_multicast_v4(at.ip(), &interface.address())?;
            }
            SocketAddr::V6(mut at) => {
                // a group of one link or one computer is another on each
                at.set_scope_id(interface.index());
                socket.bind(&SockAddr::from(at))?;
                socket.join_multicast_v6(at.ip(), interface.index())?;
            }
        }
        let socket: UdpSocket = socket.into();
        let state = UdpSocketState::new(UdpSockRef::from(&socket))?;
        let _ = state.set_recv_buffer_size(UdpSockRef::from(&socket), BUFFER);
        self.group = Some((socket, state, group));
        Ok(())
    }

    fn end_towards(&self, peer: SocketAddr) -> Option<SocketAddr> {
        let here = self.socket.local_addr().ok()?;
        if !here.ip().is_unspecified() {
            return Some(here);
        }
        if let (true, Interface::Address(ip)) = (peer.ip().is_multicast(), self.multicast.interface) {
            return Some(SocketAddr::from((ip, here.port())));
        }
        address_towards(peer).map(|ip| SocketAddr::new(ip, here.port()))
    }

    fn fill_random(&mut self, bytes: &mut [u8]) {
        getrandom::fill(bytes).expect("the system has chance to give");
    }
}

/// The address of this host that routes choose towards a peer.
pub(crate) fn address_towards(peer: SocketAddr) -> Option<IpAddr> {
    let any = match peer {
        SocketAddr::V4(_) => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
        SocketAddr::V6(_) => IpAddr::V6(Ipv6Addr::UNSPECIFIED),
    };
    // a socket that is connected has it, and sends nothing by that
    let asked = UdpSocket::bind((any, 0)).ok()?;
    asked.connect(peer).ok()?;
    Some(asked.local_addr().ok()?.ip())
}

/// An interface of this computer.
struct There {
    name: String,
    index: u32,
    /// Its first address of IPv4.
    address: Option<Ipv4Addr>,
}

/// The interfaces of this computer, as far as the system tells of them.
fn interfaces() -> Vec<There> {
    let names = nix::net::if_::if_nameindex();
    let names = names.iter().flat_map(|names| names.iter());
    let mut there: Vec<There> = names
        .map(|one| There {
            name: one.name().to_string_lossy().into_owned(),
            index: one.index(),
            address: None,
        })
        .collect();
    for one in nix::ifaddrs::getifaddrs().into_iter().flatten() {
        let address = one.address.as_ref().and_then(|address| address.as_sockaddr_in()).map(|at| at.ip());
        if let Some(meant) = there.iter_mut().find(|meant| meant.name == one.interface_name) {
            meant.address = meant.address.or(address);
        }
    }
    there
}

/// Their names, for people.
fn listed(there: &[There]) -> String {
    there.iter().map(|one| one.name.as_str()).collect::<Vec<_>>().join(", ")
}

const fn codepoint(ecn: Ecn) -> Option<EcnCodepoint> {
    match ecn {
        Ecn::NotCapable => None,
        Ecn::Capable => Some(EcnCodepoint::Ect0),
        Ecn::Marked => Some(EcnCodepoint::Ce),
    }
}

/// Takes in what has come to a socket.
fn take(socket: &UdpSocket, state: &UdpSocketState, batch: &mut Batch) -> bool {
    let mut metas = [RecvMeta::default(); PIECES];
    let mut pieces = batch.room.chunks_exact_mut(PIECE);
    let count = pieces.len().min(PIECES);
    let mut slices: [IoSliceMut<'_>; PIECES] =
        std::array::from_fn(|_| IoSliceMut::new(pieces.next().unwrap_or_default()));
    let received = match state.recv(UdpSockRef::from(socket), &mut slices[..count], &mut metas[..count]) {
        Ok(received) => received,
        // nothing is there, or an earlier datagram found no way: what counts is what comes
        Err(_) => return false,
    };
    for (piece, meta) in metas[..received].iter().enumerate() {
        let ecn = match meta.ecn {
            Some(EcnCodepoint::Ce) => Ecn::Marked,
            Some(_) => Ecn::Capable,
            None => Ecn::NotCapable,
        };
        let (start, end) = (piece * PIECE, piece * PIECE + meta.len.min(PIECE));
        for at in (start..end).step_by(meta.stride.max(1)) {
            batch.add(meta.addr, ecn, at..(at + meta.stride).min(end));
        }
    }
    received > 0
}

/// Returns when one of the sockets has something, or after `span`.
fn await_readable(mut fds: Vec<PollFd<'_>>, span: Duration) {
    #[cfg(any(target_os = "linux", target_os = "android", target_os = "freebsd"))]
    {
        let span = std::time::Duration::from_nanos(span.as_nanos().min(HOUR));
        let _ = nix::poll::ppoll(&mut fds, Some(span.into()), None);
    }
    #[cfg(not(any(target_os = "linux", target_os = "android", target_os = "freebsd")))]
    {
        // whole milliseconds, up
        let millis = span.as_nanos().min(HOUR).div_ceil(1_000_000) as i32;
        let _ = nix::poll::poll(&mut fds, nix::poll::PollTimeout::try_from(millis).unwrap_or_default());
    }
}

/// The longest wait at a time, in nanoseconds.
const HOUR: u64 = 3_600_000_000_000;

/// Turns off timer coalescing of this thread, for threads that pace.
pub fn wake_exactly() {
    #[cfg(target_os = "linux")]
    let _ = nix::sys::prctl::set_timerslack(1);
}
