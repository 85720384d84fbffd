//! Listening on several addresses until the first connection attempt arrives: a session has one socket.

use std::io::{self, ErrorKind};
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::AsFd;
use std::time::Instant;

use nix::poll::{PollFd, PollFlags};
use units::Duration;

use crate::udp::bound;
use crate::{Udp, wait_readable};

/// Interval at which `keep_going` is called.
const TURN: Duration = Duration::from_millis(20);
/// Datagrams that are read from one socket before the other: what is left of a session before must not hide an attempt.
const DATAGRAMS: usize = 256;

/// Sockets that wait for the first connection attempt.
#[derive(Debug)]
pub struct Listening {
    sockets: Vec<UdpSocket>,
}

impl Listening {
    /// Listens at these addresses. Addresses that the host does not have are skipped if one is left.
    ///
    /// # Errors
    ///
    /// No address can be used.
    pub fn at(addresses: &[SocketAddr]) -> io::Result<Self> {
        let mut sockets = Vec::new();
        let mut failed = io::Error::from(ErrorKind::AddrNotAvailable);
        for address in addresses {
            let socket = bound(*address).and_then(|socket| {
                socket.set_nonblocking(true)?;
                Ok(socket)
            });
            match socket {
                Ok(socket) => sockets.push(socket),
                // a port that is in use is so for both address families
                Err(error) if error.kind() == ErrorKind::AddrInUse => return Err(error),
                Err(error) => failed = error,
            }
        }
        if sockets.is_empty() { Err(failed) } else { Ok(Self { sockets }) }
    }

    /// The socket on which the first connection attempt arrives: a datagram whose first 64 bytes `is_attempt`
    /// recognises. Others are discarded. `None` if `keep_going` returns false, or none arrives within `span`. With one
    /// socket it returns at once.
    ///
    /// # Errors
    ///
    /// An error of the system.
    pub fn first(
        mut self,
        is_attempt: &dyn Fn(&[u8]) -> bool,
        span: Duration,
        keep_going: &dyn Fn() -> bool,
    ) -> io::Result<Option<Udp>> {
        let began = Instant::now();
        while self.sockets.len() > 1 {
            if !keep_going() || began.elapsed().as_nanos() >= u128::from(span.as_nanos()) {
                return Ok(None);
            }
            if let Some(at) = self.sockets.iter().position(|socket| has_attempt(socket, is_attempt)) {
                self.sockets = vec![self.sockets.swap_remove(at)];
                break;
            }
            let fds = self.sockets.iter().map(|socket| PollFd::new(socket.as_fd(), PollFlags::POLLIN));
            wait_readable(&mut fds.collect::<Vec<_>>(), TURN);
        }
        self.sockets.pop().map(Udp::of).transpose()
    }
}

/// Whether an attempt is the next datagram of a socket, after others that are discarded.
fn has_attempt(socket: &UdpSocket, is_attempt: &dyn Fn(&[u8]) -> bool) -> bool {
    let mut bytes = [0; 64];
    for _ in 0..DATAGRAMS {
        // an error may be an ICMP message for an earlier datagram
        match socket.peek_from(&mut bytes) {
            Ok((length, _)) if is_attempt(&bytes[..length]) => return true,
            Ok(_) => drop(socket.recv_from(&mut bytes)),
            Err(_) => return false,
        }
    }
    false
}
