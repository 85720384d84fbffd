//! Captures of live endpoints: sent and received packets, in a file that other programs read.

use std::fmt;
use std::io::{self, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::ops::{Deref, DerefMut};
use std::time::SystemTime;

use contract::Ecn;
use units::{Duration, Time};
use wire::{Capture, Way};

use crate::forward::{ForwarderPlatform, Frames, Inbox, Place};
use crate::ndn::{Transport, TransportError};
use crate::{Batch, Fate, GsoBatch, Platform};

/// Numbers of the interfaces in the file.
const SENT: u32 = 0;
const RECEIVED: u32 = 1;
/// The time to live in the headers, which sockets do not report.
const HOPS: u8 = 64;
/// Interval of flushes, so that a killed program leaves nearly everything.
const EVERY: Duration = Duration::from_secs(1);
/// Maximum number of stored peers.
const PEERS: usize = 64;
/// Addresses of the ends of a stream, which has none: this end, and the forwarder's with the port of NDN.
const OURS: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 56_363);
const FORWARDER: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 6363);

/// Address of a program's end of a stream at a forwarder: the port of [`OURS`] for the first, then the following ports, which repeat.
fn program_end(number: u64) -> SocketAddr {
    let ports = u64::from(u16::MAX - OURS.port()) + 1;
    let port = OURS.port() + (number.saturating_sub(1) % ports) as u16;
    SocketAddr::new(OURS.ip(), port)
}

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
    /// Of a forwarder: peers of its links, each with an interface; then follow an interface for strangers and one for programs.
    links: Vec<SocketAddr>,
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
    /// Starts a capture. `began_ns` is the zero of the end's clock in nanoseconds since 1970; see [`Recorder::zero_of`].
    ///
    /// # Errors
    ///
    /// Errors of `out`.
    pub fn new(out: impl Write + Send + 'static, began_ns: u64) -> io::Result<Self> {
        Self::with_interfaces(out, &["sent", "received"], began_ns)
    }

    /// Starts the capture of a forwarder: one interface per link, one for other hosts and one for programs on this host. Packets have a
    /// direction.
    ///
    /// # Errors
    ///
    /// Errors of `out`.
    pub fn of_forwarder(
        out: impl Write + Send + 'static,
        links: &[(String, SocketAddr)],
        began_ns: u64,
    ) -> io::Result<Self> {
        let names = links.iter().map(|link| link.0.as_str()).chain(["strangers", "programs"]);
        let recorder = Self::with_interfaces(out, &names.collect::<Vec<_>>(), began_ns)?;
        Ok(Self { links: links.iter().map(|link| link.1).collect(), ..recorder })
    }

    fn with_interfaces(
        out: impl Write + Send + 'static,
        interfaces: &[&str],
        began_ns: u64,
    ) -> io::Result<Self> {
        let out = Out::with_capacity(BUFFER, Box::new(out));
        let file = Capture::new(out, interfaces, began_ns)?;
        Ok(Self {
            file,
            failure: None,
            packet: Vec::new(),
            flushed: Time::ZERO,
            known: Vec::new(),
            links: Vec::new(),
        })
    }

    /// The zero of a clock whose present time is `now`, in nanoseconds since 1970.
    pub fn zero_of(now: Time) -> u64 {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        u64::try_from(since.as_nanos()).unwrap_or(u64::MAX).saturating_sub(now.as_nanos())
    }

    fn write(&mut self, at: Time, interface: u32, ends: (SocketAddr, SocketAddr), ecn: Ecn, bytes: &[u8]) {
        self.write_directed(at, (interface, None), ends, ecn, bytes);
    }

    fn write_directed(
        &mut self,
        at: Time,
        (interface, way): (u32, Option<Way>),
        ends: (SocketAddr, SocketAddr),
        ecn: Ecn,
        bytes: &[u8],
    ) {
        // after the first error the file would have a gap, so nothing more is written
        if self.failure.is_none() {
            wire::between(ends.0, ends.1, ecn, HOPS, bytes, &mut self.packet);
            self.failure = self.file.directed(at, interface, way, &self.packet).err();
        }
    }

    /// Writes a frame of a face. Frames of endpoints inside the process are on no link, and a controller is not a face.
    fn write_frame(
        &mut self,
        at: Time,
        way: Way,
        place: Place,
        frame: &[u8],
        platform: &impl ForwarderPlatform,
    ) {
        let (interface, here, there) = match place {
            Place::Udp(peer) => {
                let interface = self.links.iter().position(|link| *link == peer);
                let here = self.end_towards(peer, |peer| platform.end_towards(peer));
                (interface.unwrap_or(self.links.len()), here, peer)
            }
            Place::Program(number) => (self.links.len() + 1, FORWARDER, program_end(number)),
            Place::App(_) | Place::Controller => return,
        };
        let ends = if way == Way::Out { (here, there) } else { (there, here) };
        self.write_directed(at, (interface as u32, Some(way)), ends, Ecn::NotCapable, frame);
    }

    fn flush(&mut self, now: Time) {
        if now.saturating_since(self.flushed) >= EVERY && self.failure.is_none() {
            self.flushed = now;
            self.failure = self.file.flush().err();
        }
    }

    /// The local address towards `peer`, cached because it takes system calls.
    fn end_towards(
        &mut self,
        peer: SocketAddr,
        ask: impl FnOnce(SocketAddr) -> Option<SocketAddr>,
    ) -> SocketAddr {
        if let Some((_, end)) = self.known.iter().find(|(known, _)| *known == peer) {
            return *end;
        }
        let nobody_knows = || match peer {
            SocketAddr::V4(_) => SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0)),
            SocketAddr::V6(_) => SocketAddr::from((Ipv6Addr::UNSPECIFIED, 0)),
        };
        let end = ask(peer).unwrap_or_else(nobody_knows);
        if self.known.len() == PEERS {
            self.known.clear();
        }
        self.known.push((peer, end));
        end
    }

    /// Ends the file.
    fn finish(self) -> Captured {
        let packets = self.file.packets();
        let failure = self.failure.or(self.file.finish().err());
        Captured { packets, failure }
    }
}

/// A transport of datagrams or frames with an optional capture.
///
/// Packets count as sent if the system accepted them. Frames of a stream ([`Transport::ends`]) are written as datagrams with port 6363 of
/// the loopback address.
#[derive(Debug)]
pub struct Tapped<T> {
    inner: T,
    recorder: Option<Box<Recorder>>,
}

impl<T> Tapped<T> {
    /// With or without a capture.
    pub fn new(inner: T, recorder: Option<Recorder>) -> Self {
        Self { inner, recorder: recorder.map(Box::new) }
    }

    /// Ends the capture and returns its result; `None` without one. Later packets are not recorded.
    pub fn finish(&mut self) -> Option<Captured> {
        self.recorder.take().map(|recorder| recorder.finish())
    }
}

impl<T> Deref for Tapped<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.inner
    }
}

impl<T> DerefMut for Tapped<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.inner
    }
}

impl<O: Platform> Platform for Tapped<O> {
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
                    .unwrap_or_else(|| recorder.end_towards(from, |peer| self.inner.end_towards(peer)));
                recorder.write(now, RECEIVED, (from, to), ecn, bytes);
            }
        }
        some
    }

    fn send(&mut self, gso_batch: &GsoBatch<'_>) -> Fate {
        let Some(recorder) = &mut self.recorder else { return self.inner.send(gso_batch) };
        // taken before the call, because the answer can arrive before the call returns
        let now = self.inner.now();
        let fate = self.inner.send(gso_batch);
        if fate == Fate::Taken {
            let here = recorder.end_towards(gso_batch.to, |peer| self.inner.end_towards(peer));
            for bytes in gso_batch.bytes.chunks(gso_batch.each.max(1)) {
                recorder.write(now, SENT, (here, gso_batch.to), gso_batch.ecn, bytes);
            }
        }
        fate
    }

    fn join(&mut self, group: SocketAddr) -> io::Result<()> {
        self.inner.join(group)
    }

    fn end_towards(&self, peer: SocketAddr) -> Option<SocketAddr> {
        self.inner.end_towards(peer)
    }

    fn fill_random(&mut self, bytes: &mut [u8]) {
        self.inner.fill_random(bytes);
    }
}

impl<C: Transport> Transport for Tapped<C> {
    fn now(&mut self) -> Time {
        self.inner.now()
    }

    fn wait(&mut self, until: Time) {
        if let Some(recorder) = &mut self.recorder {
            recorder.flush(self.inner.now());
        }
        self.inner.wait(until);
    }

    fn receive(&mut self, take: &mut dyn FnMut(&[u8])) -> Result<bool, TransportError> {
        let Some(recorder) = &mut self.recorder else { return self.inner.receive(take) };
        let now = self.inner.now();
        let (here, there) = self.inner.ends().unwrap_or((OURS, FORWARDER));
        self.inner.receive(&mut |frame| {
            recorder.write(now, RECEIVED, (there, here), Ecn::NotCapable, frame);
            take(frame);
        })
    }

    fn send(&mut self, frame: &[u8]) -> Result<bool, TransportError> {
        let Some(recorder) = &mut self.recorder else { return self.inner.send(frame) };
        let now = self.inner.now();
        let taken = self.inner.send(frame)?;
        if taken {
            let ends = self.inner.ends().unwrap_or((OURS, FORWARDER));
            recorder.write(now, SENT, ends, Ecn::NotCapable, frame);
        }
        Ok(taken)
    }

    fn flush(&mut self) -> Result<(), TransportError> {
        self.inner.flush()
    }

    fn is_full(&self) -> bool {
        self.inner.is_full()
    }

    fn mtu(&self) -> usize {
        self.inner.mtu()
    }

    fn is_local(&self) -> bool {
        self.inner.is_local()
    }

    fn ends(&self) -> Option<(SocketAddr, SocketAddr)> {
        self.inner.ends()
    }
}

impl<S: ForwarderPlatform> Frames for Tapped<S> {
    fn send(&mut self, to: Place, frame: &[u8]) -> bool {
        let Some(recorder) = &mut self.recorder else { return self.inner.send(to, frame) };
        let now = self.inner.now();
        let taken = self.inner.send(to, frame);
        if taken {
            recorder.write_frame(now, Way::Out, to, frame, &self.inner);
        }
        taken
    }

    fn waiting(&mut self, to: Place) -> u64 {
        self.inner.waiting(to)
    }
}

impl<S: ForwarderPlatform> ForwarderPlatform for Tapped<S> {
    fn now(&mut self) -> Time {
        self.inner.now()
    }

    fn wait(&mut self, until: Time) {
        if let Some(recorder) = &mut self.recorder {
            recorder.flush(self.inner.now());
        }
        self.inner.wait(until);
    }

    fn receive(&mut self, inbox: &mut Inbox) {
        let Some(recorder) = &mut self.recorder else { return self.inner.receive(inbox) };
        let before = inbox.frames().count();
        self.inner.receive(inbox);
        let now = self.inner.now();
        for (from, frame) in inbox.frames().skip(before) {
            recorder.write_frame(now, Way::In, from, frame, &self.inner);
        }
    }

    fn end_towards(&self, peer: SocketAddr) -> Option<SocketAddr> {
        self.inner.end_towards(peer)
    }
}
