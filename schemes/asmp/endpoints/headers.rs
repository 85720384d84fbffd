//! ASMP: encoding of the messages in labels of four words. Invalid messages are refused.

use contract::{EndpointId, Label};
use units::{Duration, Rate, Time};

/// Content of a data packet: the part of a sender report that receivers need [RFC3550 §6.4]; the encoding is ours.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct DataHeader {
    /// The sending rate.
    pub(crate) rate: Rate,
    /// Mean interval of a receiver's reports in microseconds, above zero.
    pub(crate) interval: Duration,
    /// The last report of one receiver, from which it measures its round-trip time.
    pub(crate) echo: Option<Echo>,
}

/// An echo of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Echo {
    /// The receiver.
    pub(crate) to: EndpointId,
    /// Time of the report, by the receiver's clock.
    pub(crate) reported_at: Time,
    /// Time that the source has held the report.
    pub(crate) dlsr: Duration,
}

/// A receiver report [RFC3550 §6.4.2].
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Report {
    /// The rate of TCP, in bit/s.
    pub(crate) rate: f64,
    /// When the newest data packet was sent, by the source's clock (LSR).
    pub(crate) lsr: Time,
    /// Time that the receiver has held it (DLSR).
    pub(crate) dlsr: Duration,
}

impl DataHeader {
    /// Encodes it in the label of a data packet.
    #[inline]
    pub(crate) fn encode(&self) -> Label {
        let interval = (self.interval.as_nanos() / 1000).min(u64::from(u32::MAX));
        let (to, reported_at, dlsr) = match self.echo {
            Some(echo) => (echo.to, echo.reported_at, echo.dlsr),
            None => (EndpointId(0), Time::NEVER, Duration::ZERO),
        };
        Label([u64::from(to.0) << 32 | interval, reported_at.as_nanos(), dlsr.as_nanos(), self.rate.as_bps()])
    }

    /// Decodes the label of a data packet; `None` for invalid content.
    #[inline]
    pub(crate) fn decode(label: Label) -> Option<Self> {
        let [who, reported_at, dlsr, rate] = label.0;
        let (to, interval) = (EndpointId((who >> 32) as u32), who & 0xffff_ffff);
        let reported_at = Time::from_nanos(reported_at);
        let echo = match reported_at {
            Time::NEVER if to == EndpointId(0) && dlsr == 0 => None,
            Time::NEVER => return None,
            _ => Some(Echo { to, reported_at, dlsr: Duration::from_nanos(dlsr) }),
        };
        let interval = Duration::from_micros(interval);
        (interval > Duration::ZERO && rate > 0).then_some(Self { rate: Rate::from_bps(rate), interval, echo })
    }
}

impl Report {
    /// Encodes it in the label of a feedback packet.
    pub(crate) fn encode(&self) -> Label {
        Label([REPORT, self.rate.to_bits(), self.lsr.as_nanos(), self.dlsr.as_nanos()])
    }

    /// Decodes the label of a feedback packet; `None` for invalid content.
    pub(crate) fn decode(label: Label) -> Option<Self> {
        let [kind, rate, lsr, dlsr] = label.0;
        let rate = f64::from_bits(rate);
        (kind == REPORT && rate.is_finite() && rate >= 0.0).then_some(Self {
            rate,
            lsr: Time::from_nanos(lsr),
            dlsr: Duration::from_nanos(dlsr),
        })
    }
}

/// Packet type of a receiver report [RFC3550 §6.4.2].
const REPORT: u64 = 201;

/// The message of a receiver that leaves [RFC3550 §6.6].
pub(crate) const BYE: Label = Label([203, 0, 0, 0]);
