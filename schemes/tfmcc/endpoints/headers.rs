//! TFMCC: encoding of the messages in labels of four words. Invalid messages are refused.
//!
//! The RFC gives fields and their minimum precision, not their places; these are ours. Rates and the maximum round-trip
//! time are the floating-point numbers of the RFC, timestamps are whole milliseconds in 32 bits, compared modulo 2³²,
//! and the number of the feedback round has 8 bits.

use contract::{EndpointId, Label};
use units::{Duration, Time};

/// Content of a data packet besides its number [RFC4654 §2.2.1].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    /// ts: departure by the sender's clock.
    pub(crate) ts: Millis,
    /// X_supp: receivers with an equal or higher calculated rate do not report.
    pub(crate) suppression: RateCode,
    /// R_max: maximum round-trip time of the group.
    pub(crate) r_max: RttCode,
    /// fb_nr: number of the feedback round.
    pub(crate) round: u8,
    /// The echo of a receiver's timestamp.
    pub(crate) echo: Option<Echo>,
}

/// The timestamp of a receiver's last report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Echo {
    /// r: the receiver.
    pub(crate) endpoint: EndpointId,
    /// tr_echo: departure of the report by the receiver's clock, plus the sender's hold time.
    pub(crate) tr: Millis,
    /// is_CLR: whether the receiver is the CLR.
    pub(crate) clr: bool,
}

/// A receiver's report [RFC4654 §2.2.2]. The receiver ID is the source address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Report {
    /// tr: departure by the receiver's clock.
    pub(crate) tr: Millis,
    /// ts_echo: departure of the newest data packet by the sender's clock, plus the receiver's hold time.
    pub(crate) ts: Millis,
    /// X_r: the calculated rate.
    pub(crate) rate: RateCode,
    /// fb_nr of the newest data packet.
    pub(crate) round: u8,
    /// have_RTT: whether the receiver has measured its round-trip time.
    pub(crate) have_rtt: bool,
    /// have_loss: whether it has had a loss event.
    pub(crate) have_loss: bool,
    /// receiver_leave: whether it is about to leave.
    pub(crate) leave: bool,
}

impl Header {
    /// Encodes it in a label.
    #[inline]
    pub(crate) fn encode(&self) -> Label {
        let (endpoint, tr, flags) = match self.echo {
            Some(Echo { endpoint, tr, clr: true }) => (endpoint, tr, DATA | ECHO | CLR),
            Some(Echo { endpoint, tr, clr: false }) => (endpoint, tr, DATA | ECHO),
            None => (EndpointId(0), Millis(0), DATA),
        };
        let numbers =
            u64::from(self.suppression.0) << 20 | u64::from(self.r_max.0) << 12 | u64::from(self.round) << 4;
        Label([
            u64::from(tr.0) << 32 | u64::from(self.ts.0),
            u64::from(endpoint.0) << 32 | numbers | flags,
            0,
            0,
        ])
    }

    /// Decodes the label of a data packet; `None` for invalid content.
    #[inline]
    pub(crate) fn decode(label: Label) -> Option<Self> {
        let [times, rest, 0, 0] = label.0 else { return None };
        let (tr, endpoint) = (Millis((times >> 32) as u32), EndpointId((rest >> 32) as u32));
        let echo = match rest & 0xf {
            DATA if tr.0 == 0 && endpoint.0 == 0 => None,
            DATA_ECHO => Some(Echo { endpoint, tr, clr: false }),
            DATA_ECHO_CLR => Some(Echo { endpoint, tr, clr: true }),
            _ => return None,
        };
        Some(Self {
            ts: Millis(times as u32),
            suppression: RateCode((rest >> 20) as u16 & RateCode::MAX.0),
            r_max: RttCode((rest >> 12) as u8),
            round: (rest >> 4) as u8,
            echo,
        })
    }
}

impl Report {
    /// Encodes it in a label.
    pub(crate) fn encode(&self) -> Label {
        let flag = |is: bool, flag: u64| if is { flag } else { 0 };
        let flags = flag(self.have_rtt, HAVE_RTT)
            | flag(self.have_loss, HAVE_LOSS)
            | flag(self.leave, LEAVE)
            | REPORT;
        let numbers = u64::from(self.rate.0) << 20 | u64::from(self.round) << 4;
        Label([u64::from(self.tr.0) << 32 | u64::from(self.ts.0), numbers | flags, 0, 0])
    }

    /// Decodes the label of a feedback packet; `None` for invalid content.
    pub(crate) fn decode(label: Label) -> Option<Self> {
        let [times, rest, 0, 0] = label.0 else { return None };
        if rest & REPORT == 0 || rest & 0xff000 != 0 || rest >> 32 != 0 {
            return None;
        }
        Some(Self {
            tr: Millis((times >> 32) as u32),
            ts: Millis(times as u32),
            rate: RateCode((rest >> 20) as u16),
            round: (rest >> 4) as u8,
            have_rtt: rest & HAVE_RTT != 0,
            have_loss: rest & HAVE_LOSS != 0,
            leave: rest & LEAVE != 0,
        })
    }
}

/// An instant in milliseconds modulo 2³², which wraps after 49 days.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Millis(pub(crate) u32);

impl Millis {
    /// The millisecond of `time`.
    pub(crate) fn of(time: Time) -> Self {
        Self((time.as_nanos() / 1_000_000) as u32)
    }

    /// The instant `span` later.
    pub(crate) fn plus(self, span: Duration) -> Self {
        Self(self.0.wrapping_add((span.as_nanos() / 1_000_000) as u32))
    }

    /// Milliseconds since `earlier`, modulo 2³²; negative if that is later.
    pub(crate) const fn since(self, earlier: Self) -> i32 {
        self.0.wrapping_sub(earlier.0) as i32
    }
}

/// A rate in 12 bits: exponent e in 5, fraction m in 7. 100 bit/s to 428 Gbit/s, within 0.4 % [RFC4654 §2.2.1].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct RateCode(pub(crate) u16);

impl RateCode {
    /// The maximum: no receiver is suppressed.
    pub(crate) const MAX: Self = Self((1 << 12) - 1);

    /// The code nearest to a rate in bit/s.
    pub(crate) fn nearest(bps: f64) -> Self {
        // X = 100 bit/s · 2^e · (1 + m/128)
        Self(code(bps / 100.0, 7, 31, 0.5))
    }

    /// In bit/s.
    pub(crate) fn bps(self) -> f64 {
        value(self.0, 7) * 100.0
    }
}

/// A round-trip time in 8 bits: exponent e in 4, fraction m in 4. 1 ms to 63 s, within 6 % [RFC4654 §2.2.1].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct RttCode(pub(crate) u8);

impl RttCode {
    /// The minimum code that is not below `rtt_s` seconds, so that no round-trip time exceeds the maximum by rounding.
    pub(crate) fn at_least(rtt_s: f64) -> Self {
        // R = 1 ms · 2^e · (1 + m/16)
        Self(code(rtt_s * 1e3, 4, 15, 1.0 - ROUNDING) as u8)
    }

    /// In seconds.
    pub(crate) fn secs(self) -> f64 {
        value(u16::from(self.0), 4) / 1e3
    }
}

/// `x` as exponent and fraction of `bits` bits. `round` is added to the fraction before it is rounded down. Out of
/// range, the minimum or maximum code.
fn code(x: f64, bits: u32, max: u16, round: f64) -> u16 {
    let steps = f64::from(1u16 << bits);
    let (mut mantissa, mut exponent) = (x.max(1.0), 0);
    while mantissa >= 2.0 && exponent < max {
        mantissa /= 2.0;
        exponent += 1;
    }
    let fraction = ((mantissa - 1.0) * steps + round).floor();
    // a fraction that is rounded up to one carries into the exponent
    let code = f64::from(exponent << bits) + fraction;
    code.min(f64::from((max + 1) << bits) - 1.0) as u16
}

/// The inverse of [`code`].
fn value(code: u16, bits: u32) -> f64 {
    let fraction = f64::from(code & ((1 << bits) - 1)) / f64::from(1u16 << bits);
    f64::from(1u32 << (code >> bits)) * (1.0 + fraction)
}

const DATA: u64 = 1;
const ECHO: u64 = 2;
const CLR: u64 = 4;
const DATA_ECHO: u64 = DATA | ECHO;
const DATA_ECHO_CLR: u64 = DATA | ECHO | CLR;
const REPORT: u64 = 8;
const HAVE_RTT: u64 = 4;
const HAVE_LOSS: u64 = 2;
const LEAVE: u64 = 1;

/// Tolerance for rounding errors of exact values, in steps of the fraction.
const ROUNDING: f64 = 1e-9;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// 1 Mbit/s = 100 · 2^13 · 1.2207: the fraction 28.25/128 becomes 28, and 100 · 8192 · (1 + 28/128) = 998 400.
    /// 5 Mbit/s = 100 · 2^15 · 1.52588: 67.3/128 becomes 67, and 3 276 800 · 195/128 = 4 992 000.
    #[test]
    fn rates_are_floating_point_numbers_of_twelve_bits() {
        for (bps, code, back) in [
            (100.0, 0, 100.0),
            (150.0, 64, 150.0),
            (200.0, 1 << 7, 200.0),
            (199.7, 1 << 7, 200.0),
            (1e6, 13 << 7 | 28, 998_400.0),
            (5e6, 15 << 7 | 67, 4_992_000.0),
            // 100 · 2^31 · 255/128: more than the 400 Gbit/s that the RFC asks for
            (1e12, 4095, 427_819_008_000.0),
            (f64::INFINITY, 4095, 427_819_008_000.0),
            (1.0, 0, 100.0),
            (f64::NAN, 0, 100.0),
        ] {
            assert_eq!(RateCode::nearest(bps), RateCode(code), "{bps}");
            assert_eq!(RateCode(code).bps(), back, "{bps}");
        }
        assert_eq!(RateCode::MAX, RateCode(4095));
    }

    /// 500 ms = 2^8 ms · 1.953: the fraction 15.25/16 goes up to 16, which is 2^9 ms.
    #[test]
    fn round_trip_times_are_floating_point_numbers_of_eight_bits_rounded_up() {
        for (ms, code, back_ms) in [
            (1.0, 0, 1.0),
            (50.0, 5 << 4 | 9, 50.0),
            (50.1, 5 << 4 | 10, 52.0),
            (500.0, 9 << 4, 512.0),
            (64_000.0, 255, 63_488.0),
            (0.2, 0, 1.0),
        ] {
            assert_eq!(RttCode::at_least(ms / 1e3), RttCode(code), "{ms} ms");
            assert!((RttCode(code).secs() - back_ms / 1e3).abs() < 1e-12, "{ms} ms");
        }
    }

    #[test]
    fn every_code_stands_for_itself_and_the_next_for_more() {
        for code in 0..4096 {
            assert_eq!(RateCode::nearest(RateCode(code).bps()), RateCode(code));
            assert!(code == 0 || RateCode(code).bps() > RateCode(code - 1).bps());
        }
        for code in 0..=255 {
            assert_eq!(RttCode::at_least(RttCode(code).secs()), RttCode(code));
            assert!(code == 0 || RttCode(code).secs() > RttCode(code - 1).secs());
        }
    }

    #[test]
    fn labels_have_the_fields_where_they_are_said_to_be() {
        let echo = Echo { endpoint: EndpointId(7), tr: Millis(0x0102_0304), clr: true };
        let (suppression, r_max) = (RateCode(0xabc), RttCode(0x59));
        let header = Header { ts: Millis(0x0a0b_0c0d), suppression, r_max, round: 0xe1, echo: Some(echo) };
        assert_eq!(header.encode(), Label([0x0102_0304_0a0b_0c0d, 0x0000_0007_abc5_9e17, 0, 0]));
        let report = Report {
            tr: Millis(0x0102_0304),
            ts: Millis(0x0a0b_0c0d),
            rate: RateCode(0xabc),
            round: 0xe1,
            have_rtt: true,
            have_loss: false,
            leave: true,
        };
        assert_eq!(report.encode(), Label([0x0102_0304_0a0b_0c0d, 0xabc0_0e1d, 0, 0]));
    }

    #[test]
    fn timestamps_wrap() {
        let late = Millis(u32::MAX - 4);
        assert_eq!(late.plus(Duration::from_millis(10)), Millis(5));
        assert_eq!((Millis(5).since(late), late.since(Millis(5))), (10, -10));
        assert_eq!(Millis::of(Time::from_nanos(((1u64 << 32) + 3) * 1_000_000 + 999_999)), Millis(3));
    }

    proptest! {
        #[test]
        fn what_is_read_is_what_would_be_written(words in any::<[u64; 4]>(), plain in any::<bool>()) {
            let words = if plain { [words[0], words[1] & 0xffff_ffff, 0, 0] } else { words };
            for label in [Label(words), Label([words[0], words[1], 0, 0])] {
                if let Some(header) = Header::decode(label) {
                    prop_assert_eq!(header.encode(), label);
                    prop_assert!(Report::decode(label).is_none());
                }
                if let Some(report) = Report::decode(label) {
                    prop_assert_eq!(report.encode(), label);
                }
            }
        }

        #[test]
        fn rates_are_off_by_less_than_half_a_percent(bps in 100.0f64..4e11) {
            let back = RateCode::nearest(bps).bps();
            prop_assert!((back / bps - 1.0).abs() <= 1.0 / 256.0, "{}: {}", bps, back);
        }

        #[test]
        fn round_trip_times_are_never_below_and_at_most_a_sixteenth_above(ms in 1.0f64..63_000.0) {
            let back = RttCode::at_least(ms / 1e3).secs() * 1e3;
            prop_assert!(back >= ms * (1.0 - 1e-9) && back <= ms * (1.0 + 1.0 / 16.0) + 1e-6, "{}: {}", ms, back);
        }
    }
}
