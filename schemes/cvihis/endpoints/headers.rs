//! CVIHIS: encoding of the messages in labels of four words. Invalid messages are refused. The encoding is ours.

use contract::Label;
use units::{Duration, Time};

use crate::cvihis::Mode;

/// A numbered rate adaptation command [CVIHIS Fig. 1].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Command {
    /// 0: no change. The number is ours.
    Hold = 0,
    /// 1: − − −
    DownFar = 1,
    /// 2: − −
    Down = 2,
    /// 3: + +
    Up = 3,
    /// 4: + + +
    UpFar = 4,
    /// 5: multiplicative decrease, after a loss.
    Decrease = 5,
    /// 6: −, the delay grows.
    DownGradient = 6,
    /// 7: +, the delay falls.
    UpGradient = 7,
}

impl Command {
    const ALL: [Self; 8] = [
        Self::Hold,
        Self::DownFar,
        Self::Down,
        Self::Up,
        Self::UpFar,
        Self::Decrease,
        Self::DownGradient,
        Self::UpGradient,
    ];

    /// The number of the command.
    pub(crate) const fn number(self) -> u64 {
        self as u64
    }

    fn of(number: u64) -> Option<Self> {
        Self::ALL.get(usize::try_from(number).ok()?).copied()
    }
}

/// Content of a data packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DataHeader {
    /// The mode from this packet on.
    pub(crate) mode: Mode,
    /// Minimum round-trip time at the source; `None` before the first sample.
    pub(crate) rtt_min: Option<Duration>,
    /// Smoothed round-trip time.
    pub(crate) srtt: Duration,
}

/// The answer of the receiver to a data packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    /// The command for the source.
    pub(crate) command: Command,
    /// Departure of the packet, by the source's clock.
    pub(crate) echo: Time,
}

impl DataHeader {
    /// Encodes it in the label of a data packet.
    #[inline]
    pub(crate) fn encode(&self) -> Label {
        let mode = match self.mode {
            Mode::Background => 0,
            Mode::RealTime => 1,
        };
        let rtt_min = self.rtt_min.unwrap_or(Duration::MAX);
        Label([DATA << 32 | mode, rtt_min.as_nanos(), self.srtt.as_nanos(), 0])
    }

    /// Decodes the label of a data packet; `None` for invalid content.
    #[inline]
    pub(crate) fn decode(label: Label) -> Option<Self> {
        let [tag_and_mode, rtt_min, srtt, 0] = label.0 else { return None };
        let mode = match tag_and_mode ^ DATA << 32 {
            0 => Mode::Background,
            1 => Mode::RealTime,
            _ => return None,
        };
        let rtt_min = Some(Duration::from_nanos(rtt_min)).filter(|rtt| *rtt != Duration::MAX);
        let sensible = srtt <= LONGEST.as_nanos() && rtt_min.is_none_or(|rtt| rtt <= LONGEST);
        sensible.then_some(Self { mode, rtt_min, srtt: Duration::from_nanos(srtt) })
    }
}

impl Answer {
    /// Encodes it in the label of a feedback packet.
    #[inline]
    pub(crate) fn encode(&self) -> Label {
        Label([COMMAND << 32 | self.command.number(), self.echo.as_nanos(), 0, 0])
    }

    /// Decodes the label of a feedback packet; `None` for invalid content.
    #[inline]
    pub(crate) fn decode(label: Label) -> Option<Self> {
        let [tag_and_number, echo, 0, 0] = label.0 else { return None };
        let command = Command::of(tag_and_number ^ COMMAND << 32)?;
        Some(Self { command, echo: Time::from_nanos(echo) })
    }
}

/// Identifies data packets of this scheme: "CVID".
const DATA: u64 = 0x4356_4944;
/// Identifies answers of this scheme: "CVIC".
const COMMAND: u64 = 0x4356_4943;
/// Maximum accepted round-trip time.
const LONGEST: Duration = Duration::from_secs(1000);
