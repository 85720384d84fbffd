//! MCA: encoding of the messages in labels of four words. Invalid messages are refused.

use contract::{EndpointId, Label};
use units::{Duration, Time};

/// Content of a control packet [MCA §3.2]; the encoding is ours. All other data packets have an empty label.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Announcement {
    /// The representative, if there is one.
    pub(crate) representative: Option<EndpointId>,
    /// Mean of its G-TRAC, in bit/s.
    pub(crate) u: f64,
    /// Deviation of its G-TRAC, in bit/s.
    pub(crate) d: f64,
    /// Smoothed round-trip time.
    pub(crate) srtt: Duration,
}

/// A congestion indication, CI [MCA §3].
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Indication {
    /// Its cause.
    pub(crate) kind: Kind,
    /// Departure of the packet that triggered it.
    pub(crate) trigger_sent_at: Time,
    /// Mean and deviation of G-TRAC, in bit/s.
    pub(crate) g: (f64, f64),
    /// Mean and deviation of TRAC, in bit/s.
    pub(crate) trac: (f64, f64),
}

/// The cause of an indication.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Accumulation above its threshold.
    Accumulation,
    /// Lost packets.
    Loss,
}

impl Announcement {
    /// Encodes it in the label of a control packet.
    pub(crate) fn encode(&self) -> Label {
        let (flags, endpoint) = match self.representative {
            Some(endpoint) => (CONTROL | REPRESENTED, endpoint),
            None => (CONTROL, EndpointId(0)),
        };
        Label([u64::from(endpoint.0) << 32 | flags, pair(self.u, self.d), self.srtt.as_nanos(), 0])
    }

    /// Decodes the label of a data packet; `None` without an announcement.
    #[inline]
    pub(crate) fn decode(label: Label) -> Option<Self> {
        let [who, rates, srtt, rest] = label.0;
        let (endpoint, flags) = ((who >> 32) as u32, who & 0xffff_ffff);
        let representative = match flags {
            CONTROL if endpoint == 0 => None,
            REPRESENTED_CONTROL => Some(EndpointId(endpoint)),
            _ => return None,
        };
        let (u, d) = decode_rates(rates)?;
        (rest == 0).then_some(Self { representative, u, d, srtt: Duration::from_nanos(srtt) })
    }
}

impl Indication {
    /// Encodes it in the label of a feedback packet.
    pub(crate) fn encode(&self) -> Label {
        let kind = match self.kind {
            Kind::Accumulation => ACCUMULATION,
            Kind::Loss => LOSS,
        };
        Label([
            kind,
            self.trigger_sent_at.as_nanos(),
            pair(self.g.0, self.g.1),
            pair(self.trac.0, self.trac.1),
        ])
    }

    /// Decodes the label of a feedback packet; `None` for invalid content.
    pub(crate) fn decode(label: Label) -> Option<Self> {
        let [kind, trigger_sent_at, g, trac] = label.0;
        let kind = match kind {
            ACCUMULATION => Kind::Accumulation,
            LOSS => Kind::Loss,
            _ => return None,
        };
        Some(Self {
            kind,
            trigger_sent_at: Time::from_nanos(trigger_sent_at),
            g: decode_rates(g)?,
            trac: decode_rates(trac)?,
        })
    }
}

/// Two rates in one word, with seven significant digits.
fn pair(high: f64, low: f64) -> u64 {
    let bits = |x: f64| u64::from((x as f32).to_bits());
    bits(high) << 32 | bits(low)
}

/// The two rates of a word, if both are valid.
fn decode_rates(word: u64) -> Option<(f64, f64)> {
    let rate = |bits: u32| {
        let x = f32::from_bits(bits);
        (x.is_finite() && x >= 0.0).then_some(f64::from(x))
    };
    Some((rate((word >> 32) as u32)?, rate(word as u32)?))
}

const CONTROL: u64 = 1;
const REPRESENTED: u64 = 2;
const REPRESENTED_CONTROL: u64 = CONTROL | REPRESENTED;
const ACCUMULATION: u64 = 1;
const LOSS: u64 = 2;
