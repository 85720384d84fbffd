//! A packet on a link. Its size is two cache lines, which is asserted.

use units::{Bytes, Duration, Time};

use crate::{Address, Control, Data, Destination, FlowId, Interest, Nack, PayloadId, Signal};

/// A packet with its header. The payload has a size and no content. What every link reads is in the first cache line.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub struct Packet {
    /// The flow it belongs to.
    pub flow: FlowId,
    /// Size on the wire, headers included, in bytes.
    pub size_bytes: u32,
    /// Its destination.
    pub to: Destination,
    /// Its source.
    pub source: Address,
    /// Send time. [`crate::Cx::send`] sets it.
    pub sent_at: Time,
    /// Explicit congestion notification field [RFC3168 §5].
    pub ecn: Ecn,
    /// Links crossed so far.
    pub hops: u8,
    /// Time in queues so far.
    pub waited: Waited,
    /// The protocol's header.
    pub header: Header,
    /// The label: header fields of a scheme.
    pub label: Label,
}

impl Packet {
    /// Size on the wire.
    #[inline]
    pub const fn size(&self) -> Bytes {
        Bytes::new(self.size_bytes as u64)
    }
}

/// The sum of the times that a packet has spent in queues, each from its offer to the start of its transmission, in
/// nanoseconds modulo 2^48: exact up to 78 hours. In six bytes, because a packet has no more to spare.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C, packed(2))]
pub struct Waited {
    low: u32,
    high: u16,
}

impl Waited {
    /// Adds a time in a queue.
    #[inline]
    pub fn add(&mut self, wait: Duration) {
        self.shift(wait.as_nanos());
    }

    /// Corrects a time in a queue by `nanos`, which may be negative.
    pub fn correct(&mut self, nanos: i64) {
        self.shift(nanos as u64);
    }

    /// Begins a time in a queue at `now`; [`Waited::end`] ends it. In between the sum has no meaning.
    #[inline]
    pub fn begin(&mut self, now: Time) {
        self.shift(now.as_nanos().wrapping_neg());
    }

    /// Ends the time in a queue at `start`, the start of the transmission.
    #[inline]
    pub fn end(&mut self, start: Time) {
        self.shift(start.as_nanos());
    }

    /// The sum.
    #[inline]
    pub fn total(self) -> Duration {
        Duration::from_nanos(self.nanos())
    }

    #[inline]
    fn nanos(self) -> u64 {
        u64::from(self.low) | u64::from(self.high) << 32
    }

    #[inline]
    fn shift(&mut self, nanos: u64) {
        let sum = self.nanos().wrapping_add(nanos);
        *self = Self { low: sum as u32, high: (sum >> 32) as u16 };
    }
}

/// Explicit congestion notification [RFC3168 §5].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ecn {
    /// Not ECN-capable: such a packet is dropped instead of marked.
    #[default]
    NotCapable,
    /// ECN-capable, ECT(0).
    Capable,
    /// ECN-capable of a sender with low latency, low loss and scalable throughput (L4S), ECT(1) [RFC9331 §4.1].
    CapableL4s,
    /// Marked: congestion experienced (CE).
    Marked,
}

impl Ecn {
    /// Whether it is ECN-capable and not marked yet.
    #[inline]
    pub const fn is_unmarked(self) -> bool {
        matches!(self, Self::Capable | Self::CapableL4s)
    }
}

/// The label of a scheme: four words with a meaning that the scheme defines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Label(pub [u64; 4]);

/// The protocol's header.
#[derive(Clone, Copy, Debug)]
pub enum Header {
    /// A datagram of a traffic source, numbered from 0.
    Datagram {
        /// Number of the datagram.
        seq: u64,
    },
    /// A TCP segment, data or acknowledgement.
    Tcp(TcpHeader),
    /// A stream's data.
    Stream(StreamHeader),
    /// A control packet of a stream's source, without data; its content is the label. Queues with classes put it into
    /// the last class.
    StreamControl(StreamHeader),
    /// Feedback of a stream receiver to its sender; its content is the label.
    Feedback,
    /// A request of the receiver's application to the sender, cumulative: the bytes requested so far.
    Request {
        /// Bytes requested since the start of the connection.
        total: u64,
        /// Of these, the bytes of answers that the receiver has abandoned and those before them: what has not been sent
        /// of them is not wanted.
        abandoned: u64,
    },
    /// A player's periodic message to the source of its stream: whether its buffer is full.
    Player {
        /// Whether the buffer is full.
        full: bool,
    },
    /// A signal of a name-based network.
    Signal(Signal),
    /// An Interest.
    Interest(Interest),
    /// Data.
    Data(Data),
    /// A NACK.
    Nack(Nack),
    /// A message between an SDN controller and an agent (southbound channel).
    Control(Control),
    /// A packet of a real program, with its header: its bytes are in the driver.
    External(PayloadId),
}

impl Header {
    /// What it is, as tables name it.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Datagram { .. } => "datagram",
            Self::Tcp(_) => "tcp",
            Self::Stream(_) => "stream",
            Self::StreamControl(_) => "stream_control",
            Self::Feedback => "feedback",
            Self::Request { .. } => "request",
            Self::Player { .. } => "player",
            Self::Signal(_) => "signal",
            Self::Interest(_) => "interest",
            Self::Data(_) => "data",
            Self::Nack(_) => "nack",
            Self::Control(_) => "sdn",
            Self::External(_) => "external",
        }
    }
}

/// A TCP header. Sequence numbers are 64 bits wide and count bytes from 0, so they never wrap.
#[derive(Clone, Copy, Debug, Default)]
pub struct TcpHeader {
    /// First byte of the segment.
    pub seq: u64,
    /// Next byte expected, cumulative.
    pub ack: u64,
    /// Echo of the `sent_at` of the segment that caused the acknowledgement [RFC7323 §3].
    pub echo: Time,
    /// Selective acknowledgements [RFC2018 §3].
    pub sack: SackBlocks,
    /// Bytes that the receiver accepts beyond `ack`; `u32::MAX` is no limit.
    pub window_bytes: u32,
    /// Flags.
    pub flags: TcpFlags,
}

/// TCP flags that a simulated connection uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpFlags {
    /// SYN: opens a connection.
    pub syn: bool,
    /// FIN: the last byte of the flow is in this segment.
    pub fin: bool,
    /// PSH: the last segment of a batch.
    pub psh: bool,
    /// The flags AE, CWR and ECE, ECE in the lowest bit [RFC3168 §6.1]. With accurate feedback, the flags of an
    /// acknowledgement are the ACE field, the low three bits of the number of marked packets [RFC9768 §3.2.2].
    pub ace: u8,
}

impl TcpFlags {
    /// ECN-echo, in [`TcpFlags::ace`].
    pub const ECE: u8 = 0b001;
    /// Congestion window reduced, in [`TcpFlags::ace`].
    pub const CWR: u8 = 0b010;

    /// Whether ECE is set.
    #[inline]
    pub const fn ece(self) -> bool {
        self.ace & Self::ECE != 0
    }

    /// Whether CWR is set.
    #[inline]
    pub const fn cwr(self) -> bool {
        self.ace & Self::CWR != 0
    }
}

/// Up to three blocks [RFC2018 §3], each as offsets from the acknowledgement number; an empty block is `(0, 0)`.
///
/// The first can report data that arrived twice (D-SACK). If they are below the acknowledgement number, their offsets
/// are distances below it, the larger one first; if they are above it, the second block contains the first
/// [RFC2883 §4].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SackBlocks(pub [(u32, u32); 3]);

impl SackBlocks {
    /// Number of blocks.
    #[inline]
    pub fn len(&self) -> usize {
        self.0.iter().take_while(|block| **block != (0, 0)).count()
    }

    /// Whether there is no block.
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.0[0].0 == 0 && self.0[0].1 == 0
    }

    /// The blocks above the acknowledgement number `ack`, as sequence numbers. One that reports data twice is among
    /// them if it is above.
    pub fn arrived(&self, ack: u64) -> impl Iterator<Item = (u64, u64)> {
        let above = self.0.into_iter().filter(|(start, end)| start < end);
        above.map(move |(start, end)| (ack + u64::from(start), ack + u64::from(end)))
    }

    /// Data that arrived twice, as sequence numbers.
    pub fn duplicate(&self, ack: u64) -> Option<(u64, u64)> {
        let [first, second, _] = self.0;
        if first.0 > first.1 {
            return Some((ack.saturating_sub(first.0.into()), ack.saturating_sub(first.1.into())));
        }
        let contained = first.0 < first.1 && second.0 <= first.0 && first.1 <= second.1;
        contained.then(|| (ack + u64::from(first.0), ack + u64::from(first.1)))
    }
}

/// Header of a stream's data packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StreamHeader {
    /// Number of the packet, from 0.
    pub seq: u64,
    /// Bytes the sender had sent before this packet.
    pub bytes_before: u64,
    /// The fragment of a frame that it carries.
    pub fragment: Fragment,
}

/// The frame of a stream packet's fragment, from which a receiver knows under any loss which frames are complete.
/// Packets of streams without frames have the default, of size zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fragment {
    /// Number of the frame, from 0.
    pub frame: u32,
    /// Size of the whole frame, in bytes on the wire.
    pub frame_bytes: u32,
}

const _: () = assert!(size_of::<Packet>() == 128, "a packet is two cache lines");

#[cfg(test)]
mod tests {
    use super::*;

    /// 3 ms in the first queue, from 2 s to 2.5 s in the second, whose start moves 100 ms earlier, and two days in the
    /// third.
    #[test]
    fn times_in_queues_add_up() {
        let mut waited = Waited::default();
        waited.add(Duration::from_millis(3));
        waited.begin(Time::from_nanos(2_000_000_000));
        waited.end(Time::from_nanos(2_500_000_000));
        waited.correct(-100_000_000);
        assert_eq!(waited.total(), Duration::from_millis(403));
        waited.add(Duration::from_secs(2 * 86_400));
        assert_eq!(waited.total(), Duration::from_secs(2 * 86_400) + Duration::from_millis(403));
    }
}
