//! UDP sockets of a media program on this host, such as an encoder that sends MPEG-TS, as source and destination of a
//! live stream. A datagram is a piece, so that its boundaries are kept.

use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, UdpSocket};
use std::time::Duration;

/// Maximum payload of a datagram, in bytes.
const MAX_DATAGRAM: usize = 65_507;

/// Datagrams that a program sends here. A read returns one; what is longer than the buffer follows with the next reads.
/// It ends when no datagram has arrived for a time, since UDP has no end.
pub struct FromDatagrams {
    socket: UdpSocket,
    /// Whether a datagram has arrived.
    started: bool,
    unread: VecDeque<u8>,
    buffer: Box<[u8]>,
}

impl FromDatagrams {
    /// Listens at `at`. After the first datagram, it ends when none has arrived for `patience`.
    ///
    /// # Errors
    ///
    /// The address is not of this host, or is taken.
    pub fn listen(at: SocketAddr, patience: Duration) -> io::Result<Self> {
        let socket = UdpSocket::bind(at)?;
        socket.set_read_timeout(Some(patience))?;
        Ok(Self {
            socket,
            started: false,
            unread: VecDeque::new(),
            buffer: vec![0; MAX_DATAGRAM].into_boxed_slice(),
        })
    }

    /// Its address.
    ///
    /// # Errors
    ///
    /// An error of the system.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }
}

impl Read for FromDatagrams {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        while self.unread.is_empty() {
            let received = self.socket.recv(&mut self.buffer);
            self.started |= received.is_ok();
            match received {
                // a datagram without payload is not an end
                Ok(0) => {}
                Ok(length) if length <= into.len() => {
                    into[..length].copy_from_slice(&self.buffer[..length]);
                    return Ok(length);
                }
                Ok(length) => self.unread.extend(&self.buffer[..length]),
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                    if self.started {
                        return Ok(0);
                    }
                }
                Err(error) => return Err(error),
            }
        }
        self.unread.read(into)
    }
}

/// A program that receives datagrams: each write sends one. A program that does not listen yet, or no longer, loses
/// them and is no error.
pub struct ToDatagrams(UdpSocket);

impl ToDatagrams {
    /// Sends to `to`.
    ///
    /// # Errors
    ///
    /// There is no route to this address.
    pub fn connect(to: SocketAddr) -> io::Result<Self> {
        let any: SocketAddr = if to.is_ipv4() { ([0; 4], 0).into() } else { ([0; 16], 0).into() };
        let socket = UdpSocket::bind(any)?;
        socket.connect(to)?;
        Ok(Self(socket))
    }
}

impl Write for ToDatagrams {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let part = &bytes[..bytes.len().min(MAX_DATAGRAM)];
        match self.0.send(part) {
            Err(error) if error.kind() != ErrorKind::ConnectionRefused => Err(error),
            _ => Ok(part.len()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn datagrams_keep_their_boundaries() {
        let mut source = FromDatagrams::listen(([127, 0, 0, 1], 0).into(), Duration::from_millis(200))
            .expect("a free port");
        let mut program = ToDatagrams::connect(source.address().expect("it is bound")).expect("loopback");
        program.write_all(&[1; 1316]).expect("the source listens");
        program.write_all(&[]).expect("the source listens");
        program.write_all(&[2; 3000]).expect("the source listens");
        let mut buffer = [0; 1400];
        let mut lengths = Vec::new();
        while let Ok(length @ 1..) = source.read(&mut buffer) {
            lengths.push((length, buffer[0]));
        }
        // the long one in parts; then nothing comes for a time, which is the end
        assert_eq!(lengths, [(1316, 1), (1400, 2), (1400, 2), (200, 2)]);
    }

    #[test]
    fn a_program_that_does_not_listen_is_no_error() {
        let nobody =
            UdpSocket::bind("127.0.0.1:0").and_then(|socket| socket.local_addr()).expect("a free port");
        let mut out = ToDatagrams::connect(nobody).expect("loopback");
        for _ in 0..3 {
            assert_eq!(out.write(&[0; 100]).expect("it is lost"), 100);
        }
    }
}
