//! PGMCC: encoding of the messages in labels of four words. Invalid messages are refused.

use contract::{EndpointId, Label};
use units::Time;

/// Content of a data packet besides its number and time [PGMCC]; the encoding is ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DataHeader {
    /// The receiver that acknowledges it.
    pub(crate) acker: AckerField,
    /// A NAK that reached the source, so that other receivers need not send it. PGM has a separate packet for that, the
    /// NCF [RFC3208].
    pub(crate) confirmed: Option<PacketRange>,
}

/// The acker in a data packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AckerField {
    /// This receiver acknowledges.
    Acker(EndpointId),
    /// No acker: the first receiver that reports is elected.
    Elect,
}

/// Consecutive packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PacketRange {
    /// Number of the first.
    pub(crate) first: u64,
    /// Their number, at least one.
    pub(crate) packets: u32,
}

impl PacketRange {
    /// Whether it contains all of `other`.
    pub(crate) fn covers(&self, other: &Self) -> bool {
        self.first <= other.first && other.end() <= self.end()
    }

    /// Number after the last.
    pub(crate) fn end(&self) -> u64 {
        self.first.saturating_add(u64::from(self.packets))
    }
}

/// The message of a receiver [PGMCC].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ReceiverReport {
    /// Departure of the newest data packet, plus the time since it arrived.
    pub(crate) echo: Time,
    /// Loss rate, in parts of 65536.
    pub(crate) p: u16,
    /// Its content.
    pub(crate) kind: ReportKind,
}

/// The content of a receiver's message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReportKind {
    /// A packet arrived that named the receiver.
    Ack {
        /// Highest number received.
        newest: u64,
        /// Received packets among it and the 31 before; bit 0 is `newest`.
        bitmap: u32,
        /// The acker leaves.
        leaving: bool,
    },
    /// Packets are missing.
    Nak(PacketRange),
    /// A report without a loss, because there is no acker.
    Dummy,
}

impl DataHeader {
    /// Encodes it in the label of a data packet.
    pub(crate) fn encode(&self) -> Label {
        let who = match self.acker {
            AckerField::Acker(endpoint) => u64::from(endpoint.0) << 32 | ACKER,
            AckerField::Elect => ELECT,
        };
        let (first, packets) = self.confirmed.map_or((0, 0), |run| (run.first, run.packets));
        Label([who, first, u64::from(packets), 0])
    }

    /// Decodes the label of a data packet; `None` for invalid content.
    #[inline]
    pub(crate) fn decode(label: Label) -> Option<Self> {
        let [who, first, packets, rest] = label.0;
        let endpoint = (who >> 32) as u32;
        let acker = match who & 0xffff_ffff {
            ACKER => AckerField::Acker(EndpointId(endpoint)),
            ELECT if endpoint == 0 => AckerField::Elect,
            _ => return None,
        };
        let confirmed = match u32::try_from(packets).ok()? {
            0 if first == 0 => None,
            0 => return None,
            packets => Some(PacketRange { first, packets }),
        };
        (rest == 0).then_some(Self { acker, confirmed })
    }
}

impl ReceiverReport {
    /// Encodes it in the label of a feedback packet.
    pub(crate) fn encode(&self) -> Label {
        let (kind, number, rest) = match self.kind {
            ReportKind::Ack { newest, bitmap, leaving: false } => (ACK, newest, bitmap),
            ReportKind::Ack { newest, bitmap, leaving: true } => (LEAVING, newest, bitmap),
            ReportKind::Nak(run) => (NAK, run.first, run.packets),
            ReportKind::Dummy => (DUMMY, 0, 0),
        };
        Label([u64::from(self.p) << 16 | kind, self.echo.as_nanos(), number, u64::from(rest)])
    }

    /// Decodes the label of a feedback packet; `None` for invalid content.
    #[inline]
    pub(crate) fn decode(label: Label) -> Option<Self> {
        let [head, echo, number, rest] = label.0;
        let rest = u32::try_from(rest).ok()?;
        let kind = match head & 0xffff {
            kind @ (ACK | LEAVING) if rest & 1 == 1 => {
                ReportKind::Ack { newest: number, bitmap: rest, leaving: kind == LEAVING }
            }
            NAK if rest > 0 => ReportKind::Nak(PacketRange { first: number, packets: rest }),
            DUMMY if number == 0 && rest == 0 => ReportKind::Dummy,
            _ => return None,
        };
        let p = u16::try_from(head >> 16).ok()?;
        Some(Self { echo: Time::from_nanos(echo), p, kind })
    }
}

const ACKER: u64 = 1;
const ELECT: u64 = 2;
const ACK: u64 = 1;
const LEAVING: u64 = 2;
const NAK: u64 = 3;
const DUMMY: u64 = 4;
