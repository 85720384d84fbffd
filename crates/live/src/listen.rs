//! Listening on several addresses until a caller arrives: a session has one socket.

use std::io::{self, ErrorKind};
use std::net::{SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

use socket2::{Domain, Protocol, SockAddr, Socket, Type};
use wire::stream::Datagram;

use crate::Udp;

/// How long one socket is looked at before the next.
const TURN: Duration = Duration::from_millis(20);

/// Sockets at which a first call is waited for.
#[derive(Debug)]
pub struct Listening {
    sockets: Vec<UdpSocket>,
}

impl Listening {
    /// Listens at these addresses. Addresses that the computer does not have are left out, as long as one is left.
    ///
    /// # Errors
    /// None of them can be listened at.
    pub fn at(addresses: &[SocketAddr]) -> io::Result<Self> {
        let mut sockets = Vec::new();
        let mut failed = io::Error::from(ErrorKind::AddrNotAvailable);
        for address in addresses {
            match open(*address) {
                Ok(socket) => sockets.push(socket),
                // a port that is taken is taken for both families
                Err(error) if error.kind() == ErrorKind::AddrInUse => return Err(error),
                Err(error) => failed = error,
            }
        }
        if sockets.is_empty() { Err(failed) } else { Ok(Self { sockets }) }
    }

    /// The socket at which somebody calls first; what is not a call is thrown away. `None` when `go_on` says no, or nobody has called for
    /// this long; where there is but one socket there is nothing to choose, and it comes at once.
    ///
    /// # Errors
    /// The system cannot do what is needed.
    pub fn first(mut self, waits: units::Duration, go_on: &dyn Fn() -> bool) -> io::Result<Option<Udp>> {
        let mut bytes = [0; 64];
        let began = Instant::now();
        while self.sockets.len() > 1 {
            if !go_on() || began.elapsed().as_nanos() >= u128::from(waits.as_nanos()) {
                return Ok(None);
            }
            let called = self.sockets.iter().position(|socket| {
                let Ok((length, _)) = socket.peek_from(&mut bytes) else { return false };
                let calls = matches!(Datagram::peek(&bytes[..length]), Ok((_, true)));
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

fn open(address: SocketAddr) -> io::Result<UdpSocket> {
    let socket = Socket::new(Domain::for_address(address), Type::DGRAM, Some(Protocol::UDP))?;
    if address.is_ipv6() {
        socket.set_only_v6(true)?;
    }
    socket.bind(&SockAddr::from(address))?;
    let socket: UdpSocket = socket.into();
    socket.set_read_timeout(Some(TURN))?;
    Ok(socket)
}
