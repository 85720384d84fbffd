//! The interface of event loops to the host: a clock, datagrams, random numbers.

use std::io;
use std::net::SocketAddr;
use std::ops::Range;

use contract::Ecn;
use units::Time;

/// The interface of an event loop to the host. [`crate::Udp`] is the real one. Tests have a simulated clock and a
/// network that loses, duplicates, reorders and modifies datagrams ([`crate::testing`]).
pub trait Platform {
    /// The current time of a monotonic clock. Only differences have a meaning.
    fn now(&mut self) -> Time;

    /// Waits until a datagram may have arrived, or until `until`.
    fn wait(&mut self, until: Time);

    /// Receives datagrams, as many as have arrived and fit into `batch`, which is cleared first. Returns false if no
    /// datagram had arrived.
    fn receive(&mut self, batch: &mut Batch) -> bool;

    /// Sends a GSO batch of datagrams.
    fn send(&mut self, gso_batch: &GsoBatch<'_>) -> SendOutcome;

    /// Receives datagrams of this group as well from now on, instead of another group.
    ///
    /// # Errors
    ///
    /// Always, unless the platform supports groups.
    fn join(&mut self, _group: SocketAddr) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// The local address of datagrams from and to `peer`; `None` if unknown. For captures.
    fn local_address(&self, _peer: SocketAddr) -> Option<SocketAddr> {
        None
    }

    /// Fills `bytes` with unpredictable random bytes.
    fn fill_random(&mut self, bytes: &mut [u8]);
}

impl<P: Platform> Platform for &mut P {
    fn now(&mut self) -> Time {
        P::now(self)
    }

    fn wait(&mut self, until: Time) {
        P::wait(self, until);
    }

    fn receive(&mut self, batch: &mut Batch) -> bool {
        P::receive(self, batch)
    }

    fn send(&mut self, gso_batch: &GsoBatch<'_>) -> SendOutcome {
        P::send(self, gso_batch)
    }

    fn join(&mut self, group: SocketAddr) -> io::Result<()> {
        P::join(self, group)
    }

    fn local_address(&self, peer: SocketAddr) -> Option<SocketAddr> {
        P::local_address(self, peer)
    }

    fn fill_random(&mut self, bytes: &mut [u8]) {
        P::fill_random(self, bytes);
    }
}

/// A GSO batch: datagrams of one length to one destination; the last may be shorter.
#[derive(Clone, Copy, Debug)]
pub struct GsoBatch<'a> {
    /// Their destination.
    pub to: SocketAddr,
    /// Their ECN field.
    pub ecn: Ecn,
    /// The concatenated datagrams: at most 64, with 65 507 bytes.
    pub bytes: &'a [u8],
    /// Length of each, in bytes.
    pub segment_size: usize,
}

impl GsoBatch<'_> {
    /// Number of datagrams.
    pub fn count(&self) -> usize {
        self.bytes.len().div_ceil(self.segment_size.max(1))
    }
}

/// The result of sending a GSO batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendOutcome {
    /// The host accepted it.
    Accepted,
    /// The host's queue is full: the datagrams are lost.
    QueueFull,
    /// The path does not accept datagrams of this length: they are lost.
    TooLong,
    /// There is no route now: they are lost.
    Unreachable,
}

/// Received datagrams.
#[derive(Debug)]
pub struct Batch {
    /// The receive buffer. [`Batch::add`] records the positions of datagrams in it.
    pub buffer: Box<[u8]>,
    /// The group that they were sent to; `None` for unicast.
    pub group: Option<SocketAddr>,
    datagrams: Vec<Received>,
}

/// A datagram in a batch.
#[derive(Clone, Debug)]
struct Received {
    from: SocketAddr,
    ecn: Ecn,
    at: Range<usize>,
}

impl Batch {
    /// A batch with a buffer of this many bytes.
    pub fn new(bytes: usize) -> Self {
        Self { buffer: vec![0; bytes].into_boxed_slice(), group: None, datagrams: Vec::new() }
    }

    /// Removes all datagrams.
    pub fn clear(&mut self) {
        self.group = None;
        self.datagrams.clear();
    }

    /// Records a datagram at `at` of the buffer. A range outside of the buffer is ignored.
    pub fn add(&mut self, from: SocketAddr, ecn: Ecn, at: Range<usize>) {
        if at.start <= at.end && at.end <= self.buffer.len() {
            self.datagrams.push(Received { from, ecn, at });
        }
    }

    /// Copies a datagram into the buffer. Returns false if it does not fit.
    pub fn push(&mut self, from: SocketAddr, ecn: Ecn, bytes: &[u8]) -> bool {
        let start = self.datagrams.last().map_or(0, |last| last.at.end);
        let Some(slot) = self.buffer.get_mut(start..start + bytes.len()) else { return false };
        slot.copy_from_slice(bytes);
        self.datagrams.push(Received { from, ecn, at: start..start + bytes.len() });
        true
    }

    /// The datagrams in order of arrival.
    pub fn iter(&self) -> impl Iterator<Item = (SocketAddr, Ecn, &[u8])> {
        self.datagrams.iter().map(|one| (one.from, one.ecn, &self.buffer[one.at.clone()]))
    }
}
