//! TFRC: encoding of the messages in labels of four words. Invalid messages are refused.
//!
//! The RFC gives fields, not formats; these are ours. Instants are read from the sender's clock, in nanoseconds, and
//! only the sender compares them, so that clock offsets have no effect.

use contract::Label;
use units::{Duration, Time};

/// Content of a data packet besides its number [RFC5348 §3.2.1].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    /// ts: departure by the sender's clock.
    pub(crate) sent_at: Time,
    /// R: the sender's round-trip time; `None` before the first sample.
    pub(crate) rtt: Option<Duration>,
}

/// A receiver's report [RFC5348 §3.2.2].
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Report {
    /// t_recvdata: departure of the newest data packet by the sender's clock.
    pub(crate) sent_at: Time,
    /// t_delay: time that the receiver has held it.
    pub(crate) t_delay: Duration,
    /// X_recv in bit/s: receive rate over the last round-trip time.
    pub(crate) received_bps: u64,
    /// p: loss event rate, within 0 and 1.
    pub(crate) loss: f64,
}

impl Header {
    /// Encodes it in a label.
    #[inline]
    pub(crate) fn encode(&self) -> Label {
        Label([self.sent_at.as_nanos(), self.rtt.map_or(0, Duration::as_nanos), 0, DATA])
    }

    /// Decodes the label of a data packet; `None` for invalid content.
    #[inline]
    pub(crate) fn decode(label: Label) -> Option<Self> {
        let [sent_at, rtt, 0, DATA] = label.0 else { return None };
        if sent_at == u64::MAX || rtt > LONGEST {
            return None;
        }
        let rtt = (rtt > 0).then(|| Duration::from_nanos(rtt));
        Some(Self { sent_at: Time::from_nanos(sent_at), rtt })
    }
}

impl Report {
    /// Encodes it in a label.
    pub(crate) fn encode(&self) -> Label {
        // p is not negative, so its sign bit can distinguish a report from data
        let loss = self.loss.to_bits() | REPORT;
        Label([self.sent_at.as_nanos(), self.t_delay.as_nanos(), self.received_bps, loss])
    }

    /// Decodes the label of a feedback packet; `None` for invalid content.
    pub(crate) fn decode(label: Label) -> Option<Self> {
        let [sent_at, t_delay, received_bps, loss] = label.0;
        let p = f64::from_bits(loss & !REPORT);
        if loss & REPORT == 0 || !(0.0..=1.0).contains(&p) || sent_at == u64::MAX || t_delay > LONGEST {
            return None;
        }
        let (sent_at, t_delay) = (Time::from_nanos(sent_at), Duration::from_nanos(t_delay));
        Some(Self { sent_at, t_delay, received_bps, loss: p })
    }
}

const DATA: u64 = 0x7466_7263;
const REPORT: u64 = 1 << 63;
/// Maximum accepted time: 292 years, so that sums do not overflow.
const LONGEST: u64 = u64::MAX / 2;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn labels_have_the_fields_where_they_are_said_to_be() {
        let header = Header { sent_at: Time::from_nanos(7), rtt: Some(Duration::from_nanos(9)) };
        assert_eq!(header.encode(), Label([7, 9, 0, 0x7466_7263]));
        let report = Report {
            sent_at: Time::from_nanos(7),
            t_delay: Duration::from_nanos(3),
            received_bps: 80_000,
            loss: 1.0,
        };
        assert_eq!(report.encode(), Label([7, 3, 80_000, 0xbff0_0000_0000_0000]));
        assert_eq!(Header::decode(report.encode()), None);
        assert_eq!(Report::decode(header.encode()), None);
    }

    #[test]
    fn a_loss_rate_that_is_no_probability_is_refused() {
        for p in [-0.5, 1.000_001, f64::NAN, f64::INFINITY] {
            assert_eq!(
                Report::decode(Label([7, 3, 80_000, p.to_bits() | REPORT])).map(|it| it.loss),
                match p {
                    // the sign marks a report
                    -0.5 => Some(0.5),
                    _ => None,
                }
            );
        }
    }

    proptest! {
        #[test]
        fn what_is_read_is_what_would_be_written(words in any::<[u64; 4]>(), p in 0.0f64..=1.0) {
            let (report, data) = ([words[0], words[1], words[2], p.to_bits() | REPORT], [words[0], words[1], 0, DATA]);
            for label in [Label(words), Label(report), Label(data)] {
                if let Some(header) = Header::decode(label) {
                    prop_assert_eq!(header.encode(), label);
                }
                if let Some(report) = Report::decode(label) {
                    prop_assert_eq!(report.encode(), label);
                }
            }
        }
    }
}
