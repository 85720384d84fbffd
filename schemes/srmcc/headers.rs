//! SRMCC: encoding of the messages of sources, receivers and routers in labels of four words. Invalid messages are
//! refused. The fields are those of the paper's messages, with a round and a time added; the encoding is ours.

use contract::Label;
use units::{Duration, Rate, Time};

/// Content of a data packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    /// Number of the current adaptation cycle, modulo 2³².
    pub(crate) round: u32,
    /// Duration of an adaptation cycle, in whole microseconds.
    pub(crate) t_adapt: Duration,
}

/// A multicast congestion control message, MCC [SRMCC §3.2].
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Mcc {
    /// Minimum fair share; unlimited if unknown, never zero.
    pub(crate) min_fair: Rate,
    /// Maximum occupancy, 0 … 1, with the precision of 24 bits; 0 from a receiver.
    pub(crate) max_qocc: f64,
    /// Minimum occupancy; 1 from a receiver.
    pub(crate) min_qocc: f64,
    /// The newest round in data.
    pub(crate) round: u32,
    /// Departure of the newest data packet by the source's clock, plus hold times of its messages on the way back.
    pub(crate) t_echo: Time,
    /// Duration of an adaptation cycle, in whole microseconds.
    pub(crate) t_adapt: Duration,
}

impl Header {
    /// Encodes it in the label of a data packet.
    pub(crate) fn encode(&self) -> Label {
        Label([DATA << 32 | u64::from(self.round), self.t_adapt.as_nanos(), 0, 0])
    }

    /// Decodes the label of a data packet; `None` for that of another scheme.
    #[inline]
    pub(crate) fn decode(label: Label) -> Option<Self> {
        let [tag_and_round, nanos, 0, 0] = label.0 else { return None };
        let t_adapt = Duration::from_nanos(nanos);
        let known = tag_and_round >> 32 == DATA && t_adapt == cycle(t_adapt);
        known.then_some(Self { round: tag_and_round as u32, t_adapt })
    }
}

impl Mcc {
    /// Encodes it in the label of a feedback packet.
    pub(crate) fn encode(&self) -> Label {
        let bits = |occupancy: f64| u64::from((occupancy as f32).to_bits());
        let micros = self.t_adapt.as_nanos() / 1000;
        Label([
            u64::from(self.round) << 32 | micros,
            self.min_fair.as_bps(),
            bits(self.max_qocc) << 32 | bits(self.min_qocc),
            self.t_echo.as_nanos(),
        ])
    }

    /// Decodes the label of a feedback packet; `None` for invalid content. Only the source can tell whether the time is
    /// in the past.
    pub(crate) fn decode(label: Label) -> Option<Self> {
        let [round_and_micros, bps, occupancies, t_echo] = label.0;
        let occupancy = |bits: u64| {
            let x = f64::from(f32::from_bits(bits as u32));
            (0.0..=1.0).contains(&x).then_some(x)
        };
        let t_adapt = Duration::from_micros(round_and_micros & u64::from(u32::MAX));
        let mcc = Self {
            min_fair: Rate::from_bps(bps),
            max_qocc: occupancy(occupancies >> 32)?,
            min_qocc: occupancy(occupancies)?,
            round: (round_and_micros >> 32) as u32,
            t_echo: Time::from_nanos(t_echo),
            t_adapt,
        };
        (bps > 0 && t_adapt == cycle(t_adapt)).then_some(mcc)
    }
}

/// The nearest duration of a cycle that a message can contain: whole microseconds, from ten of them to an hour.
pub(crate) fn cycle(span: Duration) -> Duration {
    Duration::from_micros(span.as_nanos() / 1000).clamp(SHORTEST, LONGEST)
}

/// Number of rounds from `earlier` to `later`, modulo 2³²; negative if `later` is earlier.
pub(crate) fn rounds_between(earlier: u32, later: u32) -> i32 {
    later.wrapping_sub(earlier) as i32
}

/// Identifies data packets of this scheme: "SRMC".
const DATA: u64 = 0x5352_4d43;
const SHORTEST: Duration = Duration::from_micros(10);
const LONGEST: Duration = Duration::from_secs(3600);
