//! SCReAM: encoding of the messages in labels of four words. Invalid messages are refused. A report has what RFC 8888
//! reports of 64 packets: which arrived, and with which mark; of the newest also its arrival time. Packets further
//! behind it come in reports of their own. The encoding is ours.

use contract::Label;
use units::Time;

/// Content of a data packet besides its number and send time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DataHeader {
    /// No further packet waits in the RTP queue: the marker bit.
    pub(crate) last: bool,
}

/// A receiver's report: what a report block has for each packet, received or not and its ECN mark [RFC8888 §3.1].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Report {
    /// Highest number of the packets that it is about, which arrived.
    pub(crate) highest: u64,
    /// When the newest packet arrived, by the receiver's clock: this one, if no later report is about a newer one.
    pub(crate) arrived_at: Time,
    /// Packets before it were missing when it arrived: it may have overtaken them.
    pub(crate) after_gap: bool,
    /// Bit i: packet `highest` − i arrived; bit 0 is set.
    pub(crate) received: u64,
    /// Bit i: packet `highest` − i arrived with a mark.
    pub(crate) marked: u64,
}

impl DataHeader {
    /// Encodes it in the label of a data packet.
    #[inline]
    pub(crate) fn encode(self) -> Label {
        Label([DATA, u64::from(self.last), 0, 0])
    }

    /// Decodes the label of a data packet; `None` for invalid content.
    #[inline]
    pub(crate) fn decode(label: Label) -> Option<Self> {
        let [DATA, last @ (0 | 1), 0, 0] = label.0 else { return None };
        Some(Self { last: last == 1 })
    }
}

impl Report {
    /// Encodes it in the label of a feedback packet.
    pub(crate) fn encode(&self) -> Label {
        let highest = self.highest.min(MAX_NUMBER);
        let kind = if self.after_gap { REPORT_AFTER_GAP } else { REPORT };
        Label([kind << 48 | highest, self.arrived_at.as_nanos(), self.received, self.marked])
    }

    /// Decodes the label of a feedback packet; `None` for invalid content.
    pub(crate) fn decode(label: Label) -> Option<Self> {
        let [first, arrived_at, received, marked] = label.0;
        let after_gap = first >> 48 == REPORT_AFTER_GAP;
        let sensible = (after_gap || first >> 48 == REPORT) && received & 1 == 1 && marked & !received == 0;
        let arrived_at = Time::from_nanos(arrived_at);
        sensible.then_some(Self { highest: first & MAX_NUMBER, arrived_at, after_gap, received, marked })
    }
}

/// Identifies data packets of this scheme: "SCRM".
const DATA: u64 = 0x5343_524d;
/// Identifies reports of this scheme: "SR".
const REPORT: u64 = 0x5352;
/// Those whose newest packet came after a gap: "SG".
const REPORT_AFTER_GAP: u64 = 0x5347;
const MAX_NUMBER: u64 = (1 << 48) - 1;
/// Number of packets in a report.
pub(crate) const REPORTED: u64 = 64;
