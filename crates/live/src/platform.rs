//! The platform of a session: a clock, and datagrams.

use std::io;
use std::net::SocketAddr;
use std::ops::Range;

use contract::Ecn;
use units::Time;

/// What a session asks of the machine that it runs on. [`crate::Udp`] is the real one; tests have a clock that jumps and a network that
/// loses, doubles, reorders and changes what it carries.
pub trait Platform {
    /// The present instant, by a clock that is never set back. Only differences mean anything.
    fn now(&mut self) -> Time;

    /// Returns when a datagram may have come, or at `until`.
    fn wait(&mut self, until: Time);

    /// Takes in datagrams that have come, as many as are there and fit; false when there were none. `batch` is emptied first.
    fn receive(&mut self, batch: &mut Batch) -> bool;

    /// Sends a GSO batch of datagrams.
    fn send(&mut self, gso_batch: &GsoBatch<'_>) -> Fate;

    /// Takes in what is sent to this group as well, from now on, and no longer what is sent to another one.
    ///
    /// # Errors
    ///
    /// Where that cannot be: everywhere, unless there is more to it.
    fn join(&mut self, _group: SocketAddr) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Where what is sent to `peer` comes from, and where what it sends arrives; `None` where nobody knows. For captures.
    fn end_towards(&self, _peer: SocketAddr) -> Option<SocketAddr> {
        None
    }

    /// Fills `bytes` with random bytes that nobody can predict.
    fn fill_random(&mut self, bytes: &mut [u8]);
}

/// Datagrams of one length to one place; the last may be shorter.
#[derive(Clone, Copy, Debug)]
pub struct GsoBatch<'a> {
    /// Where they go.
    pub to: SocketAddr,
    /// What their IP headers say of congestion.
    pub ecn: Ecn,
    /// All of them, one behind the other; at most 64 and 65 507 bytes.
    pub bytes: &'a [u8],
    /// Length of each, in bytes.
    pub each: usize,
}

impl GsoBatch<'_> {
    /// How many datagrams.
    pub fn count(&self) -> usize {
        self.bytes.len().div_ceil(self.each.max(1))
    }
}

/// What became of a GSO batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// The machine took it.
    Taken,
    /// The machine's own queue is full: the datagrams are lost.
    Full,
    /// The way there does not take datagrams of this length: they are lost.
    TooLong,
    /// There is no way there at present: they are lost.
    Unreachable,
}

/// Datagrams that came.
#[derive(Debug)]
pub struct Batch {
    /// Room for them; [`Batch::push`] and those who fill it themselves say where each stands.
    pub room: Box<[u8]>,
    /// The group that all of them were sent to, if they came by one.
    pub group: Option<SocketAddr>,
    found: Vec<Found>,
}

/// A datagram in a batch.
#[derive(Clone, Debug)]
struct Found {
    from: SocketAddr,
    ecn: Ecn,
    at: Range<usize>,
}

impl Batch {
    /// A batch with this many bytes of room.
    pub fn new(room: usize) -> Self {
        Self { room: vec![0; room].into_boxed_slice(), group: None, found: Vec::new() }
    }

    /// Forgets all datagrams.
    pub fn clear(&mut self) {
        self.group = None;
        self.found.clear();
    }

    /// Says that `at` of the room is a datagram. What is not in the room is left out.
    pub fn add(&mut self, from: SocketAddr, ecn: Ecn, at: Range<usize>) {
        if at.start <= at.end && at.end <= self.room.len() {
            self.found.push(Found { from, ecn, at });
        }
    }

    /// Copies a datagram in; false where there is no room.
    pub fn push(&mut self, from: SocketAddr, ecn: Ecn, bytes: &[u8]) -> bool {
        let start = self.found.last().map_or(0, |last| last.at.end);
        let Some(place) = self.room.get_mut(start..start + bytes.len()) else { return false };
        place.copy_from_slice(bytes);
        self.found.push(Found { from, ecn, at: start..start + bytes.len() });
        true
    }

    /// The datagrams, in the order in which they came.
    pub fn iter(&self) -> impl Iterator<Item = (SocketAddr, Ecn, &[u8])> {
        self.found.iter().map(|found| (found.from, found.ecn, &self.room[found.at.clone()]))
    }
}
