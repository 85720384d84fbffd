//! Captures (pcapng): sent and received packets, in a file that other programs read.

use std::fmt;
use std::io::{self, Write};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::ops::{Deref, DerefMut};
use std::time::SystemTime;

use contract::Ecn;
use units::{Duration, Time};
use wire::{Capture, Way};

use crate::{Batch, GsoBatch, Platform, SendOutcome};

/// The time to live in the headers, which sockets do not report.
const TTL: u8 = 64;
/// Interval of flushes, so that a killed program leaves nearly everything.
const EVERY: Duration = Duration::from_secs(1);
/// Maximum number of stored peers.
const PEERS: usize = 64;
/// The buffered output of a capture.
type Out = io::BufWriter<Box<dyn Write + Send>>;
/// Bytes of that buffer.
const BUFFER: usize = 256 << 10;

/// Writes the capture of one end.
pub struct Recorder {
    file: Capture<Out>,
    failure: Option<io::Error>,
    packet: Vec<u8>,
    flushed: Time,
    /// Peers with the local address towards each.
    known: Vec<(SocketAddr, SocketAddr)>,
}

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorder").field("packets", &self.file.packets()).finish_non_exhaustive()
    }
}

/// The result of a capture.
#[derive(Debug)]
pub struct Captured {
    /// Packets in it.
    pub packets: u64,
    /// Why it is incomplete; `None` if it is complete.
    pub failure: Option<io::Error>,
}

impl Recorder {
    /// The interface of sent packets in a capture of one end.
    pub const SENT: (u32, Option<Way>) = (0, None);
    /// The interface of received packets in a capture of one end.
    pub const RECEIVED: (u32, Option<Way>) = (1, None);

    /// Starts a capture. `began_ns` is the zero of the end's clock in nanoseconds since 1970; see
    /// [`Recorder::zero_of`].
    ///
    /// # Errors
    ///
    /// Errors of `out`.
    pub fn new(out: impl Write + Send + 'static, began_ns: u64) -> io::Result<Self> {
        Self::with_interfaces(out, &["sent", "received"], began_ns)
    }

    /// Starts a capture with these interfaces, numbered from 0.
    ///
    /// # Errors
    ///
    /// Errors of `out`.
    pub fn with_interfaces(
        out: impl Write + Send + 'static,
        interfaces: &[&str],
        began_ns: u64,
    ) -> io::Result<Self> {
        let out = Out::with_capacity(BUFFER, Box::new(out));
        let file = Capture::new(out, interfaces, began_ns)?;
        Ok(Self { file, failure: None, packet: Vec::new(), flushed: Time::ZERO, known: Vec::new() })
    }

    /// The zero of a clock whose present time is `now`, in nanoseconds since 1970.
    pub fn zero_of(now: Time) -> u64 {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        u64::try_from(since.as_nanos()).unwrap_or(u64::MAX).saturating_sub(now.as_nanos())
    }

    /// Writes a datagram of `ends` (source, destination) on an interface. After the first error nothing more is
    /// written, because the file would have a gap.
    pub fn write(
        &mut self,
        at: Time,
        (interface, direction): (u32, Option<Way>),
        ends: (SocketAddr, SocketAddr),
        ecn: Ecn,
        bytes: &[u8],
    ) {
        if self.failure.is_none() {
            wire::between(ends.0, ends.1, ecn, TTL, bytes, &mut self.packet);
            self.failure = self.file.directed(at, interface, direction, &self.packet).err();
        }
    }

    /// Writes what is buffered to the file, once per second.
    pub fn flush(&mut self, now: Time) {
        if now.saturating_since(self.flushed) >= EVERY && self.failure.is_none() {
            self.flushed = now;
            self.failure = self.file.flush().err();
        }
    }

    /// The local address towards `peer`, cached because it takes system calls.
    pub fn local_address(
        &mut self,
        peer: SocketAddr,
        look_up: impl FnOnce(SocketAddr) -> Option<SocketAddr>,
    ) -> SocketAddr {
        if let Some((_, end)) = self.known.iter().find(|(known, _)| *known == peer) {
            return *end;
        }
        let unknown = || match peer {
            SocketAddr::V4(_) => SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0)),
            SocketAddr::V6(_) => SocketAddr::from((Ipv6Addr::UNSPECIFIED, 0)),
        };
        let end = look_up(peer).unwrap_or_else(unknown);
        if self.known.len() == PEERS {
            self.known.clear();
        }
        self.known.push((peer, end));
        end
    }

    /// Ends the file.
    pub fn finish(self) -> Captured {
        let packets = self.file.packets();
        let failure = self.failure.or(self.file.finish().err());
        Captured { packets, failure }
    }
}

impl From<Recorder> for Captured {
    fn from(recorder: Recorder) -> Self {
        recorder.finish()
    }
}

/// A platform or transport with an optional capture by a recorder `R`. Packets count as sent if the system accepted
/// them.
#[derive(Debug)]
pub struct Tapped<T, R = Recorder> {
    inner: T,
    recorder: Option<Box<R>>,
}

impl<T, R: Into<Captured>> Tapped<T, R> {
    /// With or without a capture.
    pub fn new(inner: T, recorder: Option<R>) -> Self {
        Self { inner, recorder: recorder.map(Box::new) }
    }

    /// The tapped transport, and the recorder of the capture if there is one.
    pub fn parts(&mut self) -> (&mut T, Option<&mut R>) {
        (&mut self.inner, self.recorder.as_deref_mut())
    }

    /// Ends the capture and returns its result; `None` without one. Later packets are not recorded.
    pub fn finish(&mut self) -> Option<Captured> {
        self.recorder.take().map(|recorder| (*recorder).into())
    }
}

impl<T, R> Deref for Tapped<T, R> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.inner
    }
}

impl<T, R> DerefMut for Tapped<T, R> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.inner
    }
}

impl<P: Platform> Platform for Tapped<P> {
    fn now(&mut self) -> Time {
        self.inner.now()
    }

    fn wait(&mut self, until: Time) {
        if let Some(recorder) = &mut self.recorder {
            recorder.flush(self.inner.now());
        }
        self.inner.wait(until);
    }

    fn receive(&mut self, batch: &mut Batch) -> bool {
        let some = self.inner.receive(batch);
        if let (true, Some(recorder)) = (some, &mut self.recorder) {
            let now = self.inner.now();
            for (from, ecn, bytes) in batch.iter() {
                let to = batch
                    .group
                    .unwrap_or_else(|| recorder.local_address(from, |peer| self.inner.local_address(peer)));
                recorder.write(now, Recorder::RECEIVED, (from, to), ecn, bytes);
            }
        }
        some
    }

    fn send(&mut self, gso_batch: &GsoBatch<'_>) -> SendOutcome {
        let Some(recorder) = &mut self.recorder else { return self.inner.send(gso_batch) };
        // taken before the call, because the answer can arrive before the call returns
        let now = self.inner.now();
        let outcome = self.inner.send(gso_batch);
        if outcome == SendOutcome::Accepted {
            let here = recorder.local_address(gso_batch.to, |peer| self.inner.local_address(peer));
            for bytes in gso_batch.bytes.chunks(gso_batch.segment_size.max(1)) {
                recorder.write(now, Recorder::SENT, (here, gso_batch.to), gso_batch.ecn, bytes);
            }
        }
        outcome
    }

    fn join(&mut self, group: SocketAddr) -> io::Result<()> {
        self.inner.join(group)
    }

    fn local_address(&self, peer: SocketAddr) -> Option<SocketAddr> {
        self.inner.local_address(peer)
    }

    fn fill_random(&mut self, bytes: &mut [u8]) {
        self.inner.fill_random(bytes);
    }
}
