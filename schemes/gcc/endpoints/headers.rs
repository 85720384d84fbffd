//! GCC: encoding of the messages in labels of four words. Invalid messages are refused. The draft uses RTP and RTCP;
//! the encoding is ours.

use contract::Label;
use units::{Duration, Time};

/// Content of a data packet besides its number and send time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DataHeader {
    /// Smoothed round-trip time; `None` before the first report.
    pub(crate) rtt: Option<Duration>,
}

/// A receiver's report: REMB and receiver report in one [GCC02 §3].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Report {
    /// A: the rate of the delay-based controller in bit/s, at most 2⁴⁸ − 1.
    pub(crate) rate_bps: u64,
    /// Departure of the packet that this answers, by the source's clock.
    pub(crate) echo: Time,
    /// Packets received since the start.
    pub(crate) received: u64,
    /// Packets lost since the start.
    pub(crate) lost: u64,
}

impl DataHeader {
    /// Encodes it in the label of a data packet.
    #[inline]
    pub(crate) fn encode(&self) -> Label {
        Label([DATA, self.rtt.unwrap_or(Duration::MAX).as_nanos(), 0, 0])
    }

    /// Decodes the label of a data packet; `None` for invalid content.
    #[inline]
    pub(crate) fn decode(label: Label) -> Option<Self> {
        let [DATA, rtt, 0, 0] = label.0 else { return None };
        let rtt = Some(Duration::from_nanos(rtt)).filter(|rtt| *rtt != Duration::MAX);
        rtt.is_none_or(|rtt| rtt <= LONGEST).then_some(Self { rtt })
    }
}

impl Report {
    /// Encodes it in the label of a feedback packet.
    pub(crate) fn encode(&self) -> Label {
        let rate = self.rate_bps.min(MAX_RATE);
        Label([REPORT << 48 | rate, self.echo.as_nanos(), self.received, self.lost])
    }

    /// Decodes the label of a feedback packet; `None` for invalid content.
    pub(crate) fn decode(label: Label) -> Option<Self> {
        let [tag_and_rate, echo, received, lost] = label.0;
        let sensible = tag_and_rate >> 48 == REPORT && received <= MAX_PACKETS && lost <= MAX_PACKETS;
        let rate_bps = tag_and_rate & MAX_RATE;
        sensible.then_some(Self { rate_bps, echo: Time::from_nanos(echo), received, lost })
    }
}

/// Identifies data packets of this scheme: "GCCD".
const DATA: u64 = 0x4743_4344;
/// Identifies reports of this scheme: "GR".
const REPORT: u64 = 0x4752;
const MAX_RATE: u64 = (1 << 48) - 1;
/// Maximum accepted number of packets, so that sums do not overflow.
const MAX_PACKETS: u64 = u64::MAX / 4;
/// Maximum accepted round-trip time.
const LONGEST: Duration = Duration::from_secs(1000);
