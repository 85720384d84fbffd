//! What the two ends say to each other, in labels of four words. Reading is total: what no end would write is refused. The draft
//! uses RTP and RTCP; the encoding is ours.

use contract::Label;
use units::{Duration, Time};

/// What every data packet says beside its number and when it was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Heading {
    /// Smoothed round-trip time; none before the first report.
    pub(crate) rtt: Option<Duration>,
}

/// A receiver's report: REMB and receiver report in one [GCC02 §3].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Report {
    /// A: what the delay-based controller permits, in bit/s; at most 2⁴⁸ − 1 are said.
    pub(crate) rate_bps: u64,
    /// When the packet that this answers was sent, by the source's clock.
    pub(crate) echo: Time,
    /// Packets that arrived since the start.
    pub(crate) received: u64,
    /// Packets that did not.
    pub(crate) lost: u64,
}

impl Heading {
    /// As the label of a data packet.
    #[inline]
    pub(crate) fn encode(&self) -> Label {
        Label([DATA, self.rtt.unwrap_or(Duration::MAX).as_nanos(), 0, 0])
    }

    /// From a data packet's label; `None` when no source would write it.
    #[inline]
    pub(crate) fn decode(label: Label) -> Option<Self> {
        let [DATA, rtt, 0, 0] = label.0 else { return None };
        let rtt = Some(Duration::from_nanos(rtt)).filter(|rtt| *rtt != Duration::MAX);
        rtt.is_none_or(|rtt| rtt <= LONGEST).then_some(Self { rtt })
    }
}

impl Report {
    /// As the label of a feedback packet.
    pub(crate) fn encode(&self) -> Label {
        let rate = self.rate_bps.min(MAX_RATE);
        Label([REPORT << 48 | rate, self.echo.as_nanos(), self.received, self.lost])
    }

    /// From a feedback packet's label; `None` when no receiver would write it.
    pub(crate) fn decode(label: Label) -> Option<Self> {
        let [tag_and_rate, echo, received, lost] = label.0;
        let sensible = tag_and_rate >> 48 == REPORT && received <= MAX_PACKETS && lost <= MAX_PACKETS;
        let rate_bps = tag_and_rate & MAX_RATE;
        sensible.then_some(Self { rate_bps, echo: Time::from_nanos(echo), received, lost })
    }
}

/// Tells data of this scheme from others': "GCCD".
const DATA: u64 = 0x4743_4344;
/// Tells reports: "GR".
const REPORT: u64 = 0x4752;
const MAX_RATE: u64 = (1 << 48) - 1;
/// Packets that are believed, so that sums do not overflow.
const MAX_PACKETS: u64 = u64::MAX / 4;
/// Round-trip times above this are not believed.
const LONGEST: Duration = Duration::from_secs(1000);
