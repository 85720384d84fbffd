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

/// Where a forwarder listens.
#[derive(Clone, Debug, Default)]
pub struct Listen {
    /// For other hosts.
    pub udp: Option<SocketAddr>,
    /// For programs on this host.
    pub unix: Option<PathBuf>,
    /// Programs at once.
    pub programs: usize,
    /// What the system is to hold for a program that does not read, in bytes of the system's memory: what is more waits here. `None` for as
    /// much as it likes.
    pub held: Option<usize>,
    /// The SDN controller that an agent speaks with.
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
    /// The loop does not sleep when something is due within this.
    spin: Duration,
}

#[derive(Debug)]
struct Program {
    stream: UnixStream,
    /// What came and is no whole frame yet.
    coming: Vec<u8>,
    /// What the system has not taken yet, behind what it has taken.
    going: Vec<u8>,
    taken: usize,
    /// What the system holds when it takes no more.
    system: usize,
    gone: bool,
}

/// Bytes that wait for a program that does not read, and for all of them; what is more is dropped. Our choice: about what one face may have
/// asked for, since a consumer that fills its window at once is no faster for what is lost of it.
const MAX_GOING: usize = 32 << 20;
const MAX_GOING_TO_ALL: usize = 64 << 20;
/// Frames taken in before the loop looks at the clock for everybody else.
const BATCH: usize = 64;
/// Bytes of a program's stream that are read at once.
const CHUNK: usize = 65_536;
/// What the system is asked to hold for the socket: a burst of a second at 30 Mbit/s.
const SYSTEM_BUFFER: usize = 4 << 20;

impl Sockets {
    /// Opens them; the forwarder's clock begins now.
    pub fn open(listen: &Listen) -> Result<Self, Error> {
        Self::open_with(listen, Clock::start())
    }

    /// Opens them for a forwarder with this clock, perhaps shared with others.
    pub fn open_with(listen: &Listen, clock: Clock) -> Result<Self, Error> {
        let failed = |place: String| move |error| Error::Socket { place, error };
        let udp = listen.udp.map(|address| {
            let socket = UdpSocket::bind(address)?;
            socket.set_nonblocking(true)?;
            // less is no failure: the system has a limit
            let _ = nix::sys::socket::setsockopt(&socket, nix::sys::socket::sockopt::RcvBuf, &SYSTEM_BUFFER);
            let _ = nix::sys::socket::setsockopt(&socket, nix::sys::socket::sockopt::SndBuf, &SYSTEM_BUFFER);
            Ok(socket)
        });
        let controller = listen.controller.map(|address| {
            let any: IpAddr =
                if address.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
            let socket = UdpSocket::bind(SocketAddr::new(any, 0))?;
            // what comes from elsewhere is not even seen
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

    /// The loop does not sleep when something is due within `spin`.
    pub fn spin(&mut self, spin: Duration) {
        self.spin = spin;
    }

    /// Where it listens for other hosts.
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
            let program =
                Program { stream, coming: Vec::new(), going: Vec::new(), taken: 0, system, gone: false };
            self.programs.insert(self.next, program);
        }
    }

    fn receive_datagrams(&mut self, inbox: &mut Inbox) {
        let Some(udp) = &self.udp else { return };
        while inbox.len() < BATCH {
            match udp.recv_from(&mut self.buffer) {
                Ok((length, from)) => inbox.frame(Peer::Udp(plain(from)), &self.buffer[..length]),
                // an answer of the network to what was sent earlier
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
                // it is not there: an answer of the network to what was sent earlier
                Err(error) if error.kind() == ErrorKind::ConnectionRefused => {}
                Err(_) => return,
            }
        }
    }

    fn receive_streams(&mut self, inbox: &mut Inbox) {
        for (&number, program) in &mut self.programs {
            program.flush();
            while inbox.len() < BATCH && !program.gone {
                if !program.take_frames(Peer::Program(number), inbox) {
                    program.gone = true;
                    break;
                }
                match program.stream.read(&mut self.buffer) {
                    Ok(0) => program.gone = true,
                    Ok(length) => {
                        program.coming.extend_from_slice(&self.buffer[..length]);
                        program.gone |= !program.take_frames(Peer::Program(number), inbox);
                    }
                    Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    Err(_) => program.gone = true,
                }
            }
        }
        self.programs.retain(|number, program| {
            if program.gone {
                inbox.gone(Peer::Program(*number));
            }
            !program.gone
        });
    }
}

impl Program {
    /// Takes whole frames out of what came; false where it cannot be followed any further.
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
        while self.taken < self.going.len() {
            match self.stream.write(&self.going[self.taken..]) {
                Ok(0) => return,
                Ok(length) => self.taken += length,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => {
                    self.gone |= error.kind() != ErrorKind::WouldBlock;
                    break;
                }
            }
        }
        // each byte is moved once at most
        if self.taken * 2 >= self.going.len() {
            self.going.drain(..self.taken);
            self.taken = 0;
        }
    }

    /// Bytes that wait.
    fn waiting(&self) -> usize {
        self.going.len() - self.taken
    }

    /// Hands over a frame, or lets it wait where `room` is left.
    fn send(&mut self, frame: &[u8], room: usize) -> bool {
        let taken = if self.waiting() == 0 { self.stream.write(frame).unwrap_or(0) } else { 0 };
        if taken == 0 && frame.len() > room {
            return false;
        }
        self.going.extend_from_slice(&frame[taken..]);
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

    /// Of a program: what waits here, and then what the system holds as well. What it holds before it is full nobody tells without calls for
    /// each packet; it was told to hold no more than may wait for as long as it likes.
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
        let left = until.saturating_since(self.clock.now()).saturating_sub(self.spin);
        // woken early or late, the loop checks again
        wait_readable(&mut fds, left.min(MAX_WAIT));
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

/// Tells the system how much to hold for a stream, and how much it holds when it is full.
fn hold(stream: &UnixStream, max: Option<usize>) -> usize {
    if let Some(max) = max {
        // it takes twice what it is told, for its own needs; where it has bounds, those hold
        let _ = nix::sys::socket::setsockopt(stream, nix::sys::socket::sockopt::SndBuf, &(max / 2));
    }
    nix::sys::socket::getsockopt(stream, nix::sys::socket::sockopt::SndBuf).unwrap_or(0)
}

/// Listens at a path. What a forwarder that was killed left there is removed; a living one is not.
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

/// An IPv4 address that an IPv6 socket tells of, as what it is.
fn plain(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}

/// The longest wait at a time.
const MAX_WAIT: Duration = Duration::from_secs(1);

const _: () = assert!(CHUNK >= LONGEST_FRAME);
