//! Sockets: UDP, one frame per datagram, and Unix streams of concatenated frames.

use std::io::{self, Read, Write};
use std::net::{IpAddr, SocketAddr, ToSocketAddrs, UdpSocket};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;

use driver::{Clock, wait_readable};
use nix::poll::{PollFd, PollFlags};
use nix::sys::socket::{setsockopt, sockopt};
use units::{Duration, Time};
use wire::ndn::{LONGEST_FRAME, frame_length};

use super::{FaceUri, Failure, Transport, TransportError};

/// A socket to a forwarder.
#[derive(Debug)]
pub struct Socket {
    wire: Wire,
    clock: Clock,
    local: bool,
    mtu: usize,
    room: Box<[u8]>,
    /// Of a stream: the end of the received bytes in the buffer.
    filled: usize,
    /// Of a stream: bytes that the system has not accepted yet.
    waiting: Vec<u8>,
    /// Number of these bytes that have been sent.
    sent: usize,
}

#[derive(Debug)]
enum Wire {
    Udp(UdpSocket),
    Unix(UnixStream),
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match &self.wire {
            Wire::Udp(socket) => socket.as_fd(),
            Wire::Unix(stream) => stream.as_fd(),
        }
    }
}

/// Connects to the forwarder at `place`. Over UDP nothing is sent yet, so that a missing forwarder is noticed only
/// later.
pub fn connect(place: &FaceUri) -> Result<Socket, Failure> {
    let failed = |error| Failure::NoForwarder { place: place.clone(), error };
    match place {
        FaceUri::Unix(path) => UnixStream::connect(path).and_then(Socket::of_stream).map_err(failed),
        FaceUri::Udp(host, port) => {
            let mut addresses = (host.as_str(), *port).to_socket_addrs().map_err(failed)?;
            let none = || io::Error::new(io::ErrorKind::NotFound, "the host has no address");
            let there = addresses.next().ok_or_else(none).map_err(failed)?;
            let any = if there.is_ipv4() { IpAddr::from([0u8; 4]) } else { IpAddr::from([0u16; 8]) };
            let socket = UdpSocket::bind((any, 0)).map_err(failed)?;
            socket.connect(there).map_err(failed)?;
            Socket::of_datagrams(socket).map_err(failed)
        }
    }
}

impl Socket {
    /// A face of a connected stream.
    pub fn of_stream(stream: UnixStream) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        widen(&stream);
        Ok(Self::new(Wire::Unix(stream), true, LONGEST_FRAME))
    }

    /// A face of a connected UDP socket.
    pub fn of_datagrams(socket: UdpSocket) -> io::Result<Self> {
        socket.set_nonblocking(true)?;
        widen(&socket);
        Ok(Self::new(Wire::Udp(socket), false, UDP_FRAME))
    }

    /// Its own address; an error for streams, which have none.
    pub fn local_address(&self) -> io::Result<SocketAddr> {
        match &self.wire {
            Wire::Udp(socket) => socket.local_addr(),
            Wire::Unix(_) => Err(io::ErrorKind::Unsupported.into()),
        }
    }

    fn new(wire: Wire, local: bool, mtu: usize) -> Self {
        let room = vec![0; ROOM].into_boxed_slice();
        Self { wire, clock: Clock::start(), local, mtu, room, filled: 0, waiting: Vec::new(), sent: 0 }
    }

    fn pending(&self) -> usize {
        self.waiting.len() - self.sent
    }

    /// Passes on the complete frames of the stream, and moves the rest to the start of the buffer.
    fn pass_frames(&mut self, take: &mut dyn FnMut(&[u8])) -> Result<(), TransportError> {
        let mut at = 0;
        while let Some(length) =
            frame_length(&self.room[at..self.filled]).map_err(TransportError::Malformed)?
        {
            let Some(frame) = self.room[..self.filled].get(at..at + length) else { break };
            take(frame);
            at += length;
        }
        self.room.copy_within(at..self.filled, 0);
        self.filled -= at;
        Ok(())
    }
}

impl Transport for Socket {
    fn now(&mut self) -> Time {
        // not zero, which is the start time of state machines
        self.clock.now() + Duration::from_nanos(1)
    }

    fn wait(&mut self, until: Time) {
        let span = until.saturating_since(self.now());
        if span == Duration::ZERO {
            return;
        }
        let mut flags = PollFlags::POLLIN;
        flags.set(PollFlags::POLLOUT, self.pending() > 0);
        // in any case the caller checks the socket and the clock
        wait_readable(&mut [PollFd::new(self.as_fd(), flags)], span.min(LONGEST_WAIT));
    }

    fn receive(&mut self, take: &mut dyn FnMut(&[u8])) -> Result<bool, TransportError> {
        let mut some = false;
        match &mut self.wire {
            Wire::Udp(socket) => {
                for _ in 0..BATCH {
                    match socket.recv(&mut self.room) {
                        Ok(length) => {
                            some = true;
                            take(&self.room[..length]);
                        }
                        Err(error) if would_block(&error) => break,
                        Err(error) => return Err(error.into()),
                    }
                }
                Ok(some)
            }
            Wire::Unix(stream) => {
                match stream.read(&mut self.room[self.filled..]) {
                    Ok(0) => return Err(TransportError::Closed),
                    Ok(length) => self.filled += length,
                    Err(error) if would_block(&error) => return Ok(false),
                    Err(error) => return Err(error.into()),
                }
                self.pass_frames(take)?;
                Ok(true)
            }
        }
    }

    fn send(&mut self, frame: &[u8]) -> Result<bool, TransportError> {
        let pending = self.pending();
        match &mut self.wire {
            Wire::Udp(socket) => match socket.send(frame) {
                Ok(_) => Ok(true),
                Err(error) if would_block(&error) => Ok(false),
                Err(error) => Err(error.into()),
            },
            Wire::Unix(_) if pending + frame.len() > MAX_WAITING => Ok(false),
            Wire::Unix(_) => {
                self.waiting.extend_from_slice(frame);
                if pending > TOGETHER {
                    self.flush()?;
                }
                Ok(true)
            }
        }
    }

    fn flush(&mut self) -> Result<(), TransportError> {
        let Wire::Unix(stream) = &mut self.wire else { return Ok(()) };
        while self.sent < self.waiting.len() {
            match stream.write(&self.waiting[self.sent..]) {
                Ok(0) => return Err(TransportError::Closed),
                Ok(length) => self.sent += length,
                Err(error) if would_block(&error) => break,
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                    return Err(TransportError::Closed);
                }
                Err(error) => return Err(error.into()),
            }
        }
        if self.sent == self.waiting.len() {
            self.waiting.clear();
            self.sent = 0;
        } else if self.sent > MAX_WAITING {
            self.waiting.drain(..self.sent);
            self.sent = 0;
        }
        Ok(())
    }

    fn is_full(&self) -> bool {
        self.pending() > MAX_WAITING / 4
    }

    fn mtu(&self) -> usize {
        self.mtu
    }

    fn is_local(&self) -> bool {
        self.local
    }

    fn ends(&self) -> Option<(SocketAddr, SocketAddr)> {
        match &self.wire {
            Wire::Udp(socket) => Some((socket.local_addr().ok()?, socket.peer_addr().ok()?)),
            Wire::Unix(_) => None,
        }
    }
}

/// Raises the buffer of the socket to the maximum that the system permits; its default is a few packets.
fn widen(socket: &impl AsFd) {
    let _ = setsockopt(socket, sockopt::RcvBuf, &KERNEL_BUFFER);
    let _ = setsockopt(socket, sockopt::SndBuf, &KERNEL_BUFFER);
}

/// Whether an error only means that nothing can be read or written now.
fn would_block(error: &io::Error) -> bool {
    use io::ErrorKind::{Interrupted, WouldBlock};
    // a full queue of the system drops datagrams
    [WouldBlock, Interrupted].contains(&error.kind()) || error.raw_os_error() == Some(NO_BUFFERS)
}

/// ENOBUFS on Linux.
const NO_BUFFERS: i32 = 105;
/// Maximum bytes per read. The longest frame of a stream fits with the start of the next one.
const ROOM: usize = 256 << 10;
/// Maximum number of datagrams that are read before the state machine is polled.
const BATCH: usize = 64;
/// Requested size of the socket buffer.
const KERNEL_BUFFER: usize = 4 << 20;
/// Maximum frame over UDP: as in ndnd, it leaves space for tunnels in 1500 bytes [ndnd: fw, default_mtu].
const UDP_FRAME: usize = 1420;
/// Maximum bytes that wait for the forwarder to read.
const MAX_WAITING: usize = 4 << 20;
/// Bytes that are collected before a write.
const TOGETHER: usize = 128 << 10;
/// Maximum time of a wait.
const LONGEST_WAIT: Duration = Duration::from_secs(1);

const _: () = assert!(ROOM > 2 * LONGEST_FRAME);
