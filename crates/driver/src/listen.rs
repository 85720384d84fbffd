//! Listening on several addresses until the first connection attempt arrives: a session has one socket.

use std::io::{self, ErrorKind};
use std::net::{SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

use crate::Udp;
use crate::udp::bound;

/// How long one socket is watched before the next.
const TURN: Duration = Duration::from_millis(20);

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
                socket.set_read_timeout(Some(TURN))?;
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

    /// The socket on which the first connection attempt arrives: a datagram whose first 64 bytes `is_attempt` recognises. Others are discarded.
    /// `None` if `go_on` returns false, or none arrives within `span`. With one socket it returns at once.
    ///
    /// # Errors
    ///
    /// An error of the system.
    pub fn first(
        mut self,
        is_attempt: &dyn Fn(&[u8]) -> bool,
        span: units::Duration,
        go_on: &dyn Fn() -> bool,
    ) -> io::Result<Option<Udp>> {
        let mut bytes = [0; 64];
        let began = Instant::now();
        while self.sockets.len() > 1 {
            if !go_on() || began.elapsed().as_nanos() >= u128::from(span.as_nanos()) {
                return Ok(None);
            }
            let called = self.sockets.iter().position(|socket| {
                let Ok((length, _)) = socket.peek_from(&mut bytes) else { return false };
                let calls = is_attempt(&bytes[..length]);
                if !calls {
                    let _ = socket.recv_from(&mut bytes);
                }
                calls
            });
            if let Some(at) = called {
                self.sockets = vec![self.sockets.swap_remove(at)];
            }
        }
        let Some(socket) = self.sockets.pop() else { return Ok(None) };
        socket.set_read_timeout(None)?;
        Udp::of(socket).map(Some)
    }
}
