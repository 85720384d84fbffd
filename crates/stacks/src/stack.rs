//! What a QUIC stack provides.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Instant;

use bytes::{Bytes, BytesMut};
use contract::{Ecn, ParamError, ParamValue};

use crate::tap::Shared;
use crate::{Counters, FlowControl, Secrets};

/// One end of a connection in the hands of a stack, with one stream from client to server.
///
/// Calls happen in the order of their instants. Between two of them nothing happens: a stack has no thread, and reads
/// no clock. In every call that can make TLS draw random numbers, those come from the endpoint's stream.
pub trait Stack: Send + Sized + 'static {
    /// Makes the congestion controllers of a connection.
    type Controllers: Send + 'static;

    /// Name of the stack, for messages.
    const NAME: &'static str;
    /// Names of its own controllers that a deterministic run can use.
    const OWN: &'static [&'static str];
    /// Names of the schemes that can control it.
    const SCHEMES: &'static [&'static str];

    /// One of its own controllers; `None` if it is not in [`Stack::OWN`].
    fn own(name: &str) -> Option<Self::Controllers>;

    /// A scheme, which draws from `seed`; `None` if it is not in [`Stack::SCHEMES`].
    ///
    /// # Errors
    ///
    /// A parameter that the scheme does not have, or a value out of its range.
    fn scheme(
        name: &str,
        params: &[(String, ParamValue)],
        seed: u64,
    ) -> Result<Option<Self::Controllers>, ParamError>;

    /// A client that begins to connect to [`SERVER`]. `first_id` is the connection id by which it calls the server
    /// first, `observations` records what the controllers are shown.
    fn connect(
        controllers: Self::Controllers,
        flow_control: FlowControl,
        observations: Shared,
        first_id: [u8; 8],
        secrets: Secrets,
        now: Instant,
    ) -> Self;

    /// A server that waits for [`CLIENT`]. `token_key` encrypts its address-validation tokens.
    fn listen(token_key: [u8; 64], flow_control: FlowControl, secrets: Secrets) -> Self;

    /// A datagram arrives. What answers it at once, without a connection, is written to `buffer`.
    fn receive(
        &mut self,
        now: Instant,
        ecn: Ecn,
        datagram: BytesMut,
        buffer: &mut Vec<u8>,
    ) -> Option<Transmit>;

    /// The deadline has expired.
    fn expire(&mut self, now: Instant);

    /// Passes events between the state machines of the stack, if it has several.
    fn exchange(&mut self);

    /// Writes up to `max` datagrams that may leave now to `buffer`; `None` if none may.
    fn transmit(&mut self, now: Instant, max: usize, buffer: &mut Vec<u8>) -> Option<Transmit>;

    /// The next deadline.
    fn deadline(&mut self) -> Option<Instant>;

    /// The client: whether the server acknowledged the end of the stream since the last call.
    fn delivered(&mut self) -> bool;

    /// The client: whether data can be written. Before the handshake and after the end they cannot.
    fn writable(&self) -> bool;

    /// The client: gives the stream the first bytes of `content`; how many it took. `None` if it is blocked, or lost.
    fn write(&mut self, content: Bytes) -> Option<usize>;

    /// The client: ends the stream.
    fn finish(&mut self);

    /// Closes the connection.
    fn close(&mut self, now: Instant);

    /// The server: passes the sizes of the pieces that have arrived in order to `take`. Returns whether the stream
    /// ended since the last call.
    fn read(&mut self, take: impl FnMut(u64)) -> bool;

    /// Why the connection was lost since the last call; `None` if it was not, or one of the ends closed it in order.
    fn lost(&mut self) -> Option<String>;

    /// What the stack counts; `None` without a connection.
    fn counters(&mut self) -> Option<Counters>;
}

/// Datagrams that a stack wrote.
#[derive(Clone, Copy, Debug)]
pub struct Transmit {
    /// Bytes in all.
    pub size: usize,
    /// Bytes of each datagram but the last, which can be shorter; `None` for one datagram.
    pub each: Option<usize>,
    /// Whether they may be marked instead of dropped.
    pub ecn: bool,
}

/// Address of the client inside of a stack; the simulator's are outside.
pub const CLIENT: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)), 50_000);
/// Address of the server inside of a stack.
pub const SERVER: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(192, 0, 2, 2)), 443);
/// Name of the server in TLS.
pub const SERVER_NAME: &str = "server";
