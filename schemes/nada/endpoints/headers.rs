//! NADA: encoding of the messages in labels of four words. Invalid messages are refused. RFC 8698 §5.3 lists the
//! content of a report; the encoding is ours.

use contract::Label;
use units::{Duration, Time};

/// Content of a data packet besides its number and send time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DataHeader {
    /// Smoothed round-trip time; `None` before the first report.
    pub(crate) rtt: Option<Duration>,
}

/// A receiver's report [RFC8698 §5.3].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Report {
    /// rmode: whether the source may ramp up.
    pub(crate) ramp_up: bool,
    /// x_curr.
    pub(crate) signal: Duration,
    /// r_recv in bit/s, at most 2⁴⁷ − 1.
    pub(crate) received_bps: u64,
    /// Departure of the packet that this answers, by the source's clock.
    pub(crate) echo: Time,
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
        let rate = self.received_bps.min(MAX_RATE);
        let mode = u64::from(self.ramp_up) << MODE;
        Label([REPORT << 48 | mode | rate, self.signal.as_nanos(), self.echo.as_nanos(), 0])
    }

    /// Decodes the label of a feedback packet; `None` for invalid content.
    pub(crate) fn decode(label: Label) -> Option<Self> {
        let [first, signal, echo, 0] = label.0 else { return None };
        let signal = Duration::from_nanos(signal);
        (first >> 48 == REPORT && signal <= LONGEST).then_some(Self {
            ramp_up: first >> MODE & 1 == 1,
            signal,
            received_bps: first & MAX_RATE,
            echo: Time::from_nanos(echo),
        })
    }
}

/// Identifies data packets of this scheme: "NADA".
const DATA: u64 = 0x4e41_4441;
/// Identifies reports of this scheme: "NR".
const REPORT: u64 = 0x4e52;
/// The bit of the mode.
const MODE: u32 = 47;
const MAX_RATE: u64 = (1 << MODE) - 1;
/// Maximum accepted duration.
const LONGEST: Duration = Duration::from_secs(1000);
