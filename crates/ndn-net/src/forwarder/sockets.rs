//! The platform of a forwarder on a real host: a UDP socket, and a Unix socket for programs.

use std::collections::BTreeMap;
use std::io::{ErrorKind, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::os::fd::AsFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

use driver::{Clock, address_towards, wait_readable};
use nix::poll::{PollFd, PollFlags};
use units::{Duration, Time};
use wire::ndn::{LONGEST_FRAME, frame_length};

use super::event_loop::{ForwarderPlatform, Inbox};
use super::{Error, Frames, Peer};

/// Listening addresses of a forwarder.
#[derive(Clone, Debug, Default)]
pub struct Listen {
    /// For other hosts.
    pub udp: Option<SocketAddr>,
    /// For programs on this host.
    pub unix: Option<PathBuf>,
    /// Maximum number of connected programs.
    pub programs: usize,
    /// Send buffer of the system for a program that does not read, in bytes; further packets wait in the forwarder.
    /// `None` for the system's default.
    pub held: Option<usize>,
    /// The SDN controller of the agent.
    pub controller: Option<SocketAddr>,
}

/// The real clock and sockets.
pub struct Sockets {
    clock: Clock,
    udp: Option<UdpSocket>,
    controller: Option<UdpSocket>,
    unix: Option<(UnixListener, PathBuf)>,
    programs: BTreeMap<u64, Program>,
    max_programs: usize,
    held: Option<usize>,
    next: u64,
    buffer: Box<[u8]>,
    /// The loop polls instead of sleeping when a deadline is within this time.
    spin: Duration,
}

#[derive(Debug)]
struct Program {
    stream: UnixStream,
    /// Received bytes of an incomplete frame.
    coming: Vec<u8>,
    /// Bytes to send; the system has accepted the first ones.
    going: Vec<u8>,
    sent_bytes: usize,
    /// Bytes that the system holds when its buffer is full.
    system: usize,
    disconnected: bool,
}

/// Maximum bytes that wait for a program that does not read, and for all of them; more are dropped. Our choice: about
/// the Data of all pending requests of a face, because a consumer with a large initial burst would only lose more
/// packets.
const MAX_GOING: usize = 32 << 20;
const MAX_GOING_TO_ALL: usize = 64 << 20;
/// Maximum number of frames that are received before deadlines are checked.
const BATCH: usize = 64;
/// Maximum bytes per read of a program's stream.
const CHUNK: usize = 65_536;
/// Requested size of the socket buffer: a burst of a second at 30 Mbit/s.
const SYSTEM_BUFFER: usize = 4 << 20;

impl Sockets {
    /// Opens the sockets; the forwarder's clock starts now.
    pub fn open(listen: &Listen) -> Result<Self, Error> {
        Self::open_with(listen, Clock::start())
    }

    /// Opens the sockets for a forwarder with this clock, which several forwarders can share.
    pub fn open_with(listen: &Listen, clock: Clock) -> Result<Self, Error> {
        let failed = |place: String| move |error| Error::Socket { place, error };
        let udp = listen.udp.map(|address| {
            let socket = UdpSocket::bind(address)?;
            socket.set_nonblocking(true)?;
            // a smaller buffer is no error: the system has a limit
            let _ = nix::sys::socket::setsockopt(&socket, nix::sys::socket::sockopt::RcvBuf, &SYSTEM_BUFFER);
            let _ = nix::sys::socket::setsockopt(&socket, nix::sys::socket::sockopt::SndBuf, &SYSTEM_BUFFER);
            Ok(socket)
        });
        let controller = listen.controller.map(|address| {
            let any: IpAddr =
                if address.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
            let socket = UdpSocket::bind(SocketAddr::new(any, 0))?;
            // packets from other addresses are not received
            socket.connect(address)?;
            socket.set_nonblocking(true)?;
            Ok(socket)
        });
        let place = listen.controller.map(|address| format!("controller {address}")).unwrap_or_default();
        let controller = controller.transpose().map_err(failed(place))?;
        let place = listen.udp.map(|address| format!("udp://{address}")).unwrap_or_default();
        let udp = udp.transpose().map_err(failed(place))?;
        let unix = listen.unix.as_deref().map(|path| {
            listen_at(path)
                .map(|listener| (listener, path.to_owned()))
                .map_err(failed(path.display().to_string()))
        });
        Ok(Self {
            clock,
            udp,
            controller,
            unix: unix.transpose()?,
            programs: BTreeMap::new(),
            max_programs: listen.programs,
            held: listen.held,
            next: 0,
            buffer: vec![0; CHUNK].into_boxed_slice(),
            spin: Duration::ZERO,
        })
    }

    /// The loop polls instead of sleeping when a deadline is within `spin`.
    pub fn spin(&mut self, spin: Duration) {
        self.spin = spin;
    }

    /// Its address for other hosts.
    pub fn udp_address(&self) -> Option<SocketAddr> {
        self.udp.as_ref()?.local_addr().ok()
    }

    fn accept(&mut self) {
        let Some((listener, _)) = &self.unix else { return };
        while let Ok((stream, _)) = listener.accept() {
            if self.programs.len() >= self.max_programs || stream.set_nonblocking(true).is_err() {
                continue;
            }
            self.next += 1;
            let system = hold(&stream, self.held);
            let program = Program {
                stream,
                coming: Vec::new(),
                going: Vec::new(),
                sent_bytes: 0,
                system,
                disconnected: false,
            };
            self.programs.insert(self.next, program);
        }
    }

    fn receive_datagrams(&mut self, inbox: &mut Inbox) {
        let Some(udp) = &self.udp else { return };
        while inbox.len() < BATCH {
            match udp.recv_from(&mut self.buffer) {
                Ok((length, from)) => inbox.frame(Peer::Udp(plain(from)), &self.buffer[..length]),
                // an ICMP error for an earlier packet
                Err(error) if error.kind() == ErrorKind::ConnectionRefused => {}
                Err(_) => return,
            }
        }
    }

    fn receive_control(&mut self, inbox: &mut Inbox) {
        let Some(controller) = &self.controller else { return };
        while inbox.len() < BATCH {
            match controller.recv(&mut self.buffer) {
                Ok(length) => inbox.frame(Peer::Controller, &self.buffer[..length]),
                // unreachable: an ICMP error for an earlier packet
                Err(error) if error.kind() == ErrorKind::ConnectionRefused => {}
                Err(_) => return,
            }
        }
    }

    fn receive_streams(&mut self, inbox: &mut Inbox) {
        for (&number, program) in &mut self.programs {
            program.flush();
            while inbox.len() < BATCH && !program.disconnected {
                if !program.take_frames(Peer::Program(number), inbox) {
                    program.disconnected = true;
                    break;
                }
                match program.stream.read(&mut self.buffer) {
                    Ok(0) => program.disconnected = true,
                    Ok(length) => {
                        program.coming.extend_from_slice(&self.buffer[..length]);
                        program.disconnected |= !program.take_frames(Peer::Program(number), inbox);
                    }
                    Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    Err(_) => program.disconnected = true,
                }
            }
        }
        self.programs.retain(|number, program| {
            if program.disconnected {
                inbox.disconnected(Peer::Program(*number));
            }
            !program.disconnected
        });
    }
}

impl Program {
    /// Passes on complete frames of the received bytes. Returns false if the stream is invalid.
    fn take_frames(&mut self, from: Peer, inbox: &mut Inbox) -> bool {
        let mut at = 0;
        let followed = loop {
            match frame_length(&self.coming[at..]) {
                Ok(Some(length)) if length <= self.coming.len() - at => {
                    inbox.frame(from, &self.coming[at..at + length]);
                    at += length;
                }
                Ok(_) => break true,
                Err(_) => break false,
            }
        };
        self.coming.drain(..at);
        followed
    }

    fn flush(&mut self) {
        while self.sent_bytes < self.going.len() {
            match self.stream.write(&self.going[self.sent_bytes..]) {
                Ok(0) => return,
                Ok(length) => self.sent_bytes += length,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => {
                    self.disconnected |= error.kind() != ErrorKind::WouldBlock;
                    break;
                }
            }
        }
        // each byte is moved at most once
        if self.sent_bytes * 2 >= self.going.len() {
            self.going.drain(..self.sent_bytes);
            self.sent_bytes = 0;
        }
    }

    /// Bytes that wait.
    fn waiting(&self) -> usize {
        self.going.len() - self.sent_bytes
    }

    /// Sends a frame, or stores what the system does not accept, up to `room` bytes. Returns false if the frame was
    /// dropped.
    fn send(&mut self, frame: &[u8], room: usize) -> bool {
        let sent_bytes = if self.waiting() == 0 { self.stream.write(frame).unwrap_or(0) } else { 0 };
        if sent_bytes == 0 && frame.len() > room {
            return false;
        }
        self.going.extend_from_slice(&frame[sent_bytes..]);
        true
    }
}

impl Frames for Sockets {
    fn send(&mut self, to: Peer, frame: &[u8]) -> bool {
        match to {
            Peer::Udp(address) => self.udp.as_ref().is_some_and(|udp| udp.send_to(frame, address).is_ok()),
            Peer::Program(number) => {
                let all: usize = self.programs.values().map(Program::waiting).sum();
                self.programs.get_mut(&number).is_some_and(|program| {
                    let own = MAX_GOING.saturating_sub(program.waiting());
                    program.send(frame, own.min(MAX_GOING_TO_ALL.saturating_sub(all)))
                })
            }
            Peer::Controller => self.controller.as_ref().is_some_and(|socket| socket.send(frame).is_ok()),
            Peer::App(_) => false,
        }
    }

    /// For a program: the bytes that wait here and, while there are any, those in the system's buffer. Below that the
    /// fill of the system's buffer is unknown without a system call per packet; the buffer is limited to an acceptable
    /// delay.
    fn waiting(&mut self, to: Peer) -> u64 {
        let Peer::Program(number) = to else { return 0 };
        let program = self.programs.get(&number);
        program.map_or(0, |program| match program.waiting() {
            0 => 0,
            waiting => (waiting + program.system) as u64,
        })
    }
}

impl ForwarderPlatform for Sockets {
    fn now(&mut self) -> Time {
        self.clock.now()
    }

    fn wait(&mut self, until: Time) {
        let mut fds = Vec::with_capacity(3 + self.programs.len());
        if let Some(udp) = &self.udp {
            fds.push(PollFd::new(udp.as_fd(), PollFlags::POLLIN));
        }
        if let Some(controller) = &self.controller {
            fds.push(PollFd::new(controller.as_fd(), PollFlags::POLLIN));
        }
        if let Some((listener, _)) = &self.unix {
            fds.push(PollFd::new(listener.as_fd(), PollFlags::POLLIN));
        }
        for program in self.programs.values() {
            let writes = if program.waiting() == 0 { PollFlags::empty() } else { PollFlags::POLLOUT };
            fds.push(PollFd::new(program.stream.as_fd(), PollFlags::POLLIN | writes));
        }
        let remaining = until.saturating_since(self.clock.now()).saturating_sub(self.spin);
        // woken early or late, the loop checks again
        wait_readable(&mut fds, remaining.min(MAX_WAIT));
    }

    fn receive(&mut self, inbox: &mut Inbox) {
        self.accept();
        self.receive_control(inbox);
        self.receive_datagrams(inbox);
        self.receive_streams(inbox);
    }

    fn local_address(&self, peer: SocketAddr) -> Option<SocketAddr> {
        let here = plain(self.udp_address()?);
        match here.ip().is_unspecified() {
            true => address_towards(peer).map(|ip| SocketAddr::new(ip, here.port())),
            false => Some(here),
        }
    }
}

impl Drop for Sockets {
    fn drop(&mut self) {
        if let Some((_, path)) = &self.unix {
            let _ = std::fs::remove_file(path);
        }
    }
}

/// Sets the send buffer of a stream. Returns how many bytes it holds when it is full.
fn hold(stream: &UnixStream, max: Option<usize>) -> usize {
    if let Some(max) = max {
        // Linux doubles the value for its own overhead, and applies its limits
        let _ = nix::sys::socket::setsockopt(stream, nix::sys::socket::sockopt::SndBuf, &(max / 2));
    }
    nix::sys::socket::getsockopt(stream, nix::sys::socket::sockopt::SndBuf).unwrap_or(0)
}

/// Listens at a path. The socket file of a killed forwarder is replaced; the file of a running one is not.
fn listen_at(path: &Path) -> std::io::Result<UnixListener> {
    let listener = match UnixListener::bind(path) {
        Err(error) if error.kind() == ErrorKind::AddrInUse && UnixStream::connect(path).is_err() => {
            std::fs::remove_file(path)?;
            UnixListener::bind(path)?
        }
        other => other?,
    };
    listener.set_nonblocking(true)?;
    Ok(listener)
}

/// The IPv4 address in an IPv4-mapped address of an IPv6 socket.
fn plain(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}

/// Maximum time of a wait.
const MAX_WAIT: Duration = Duration::from_secs(1);

const _: () = assert!(CHUNK >= LONGEST_FRAME);
