//! The table `tcp` of a flow, and its words.

use stack::tcp::{LossDetection, RecoveryTimer, Reduction, RtoFloor};
use units::{Bytes, Duration};

use crate::file::{count, within};
use crate::read::{tables, words};

tables! {
    /// Settings of TCP; all have defaults.
    pub(crate) struct Tcp = "TCP settings" {
        /// Whose TCP: what is not written, of this table and of the parameters of `reno`, `cubic` and `bbr`, is as there. `linux` with
        /// `kernel`, else `standard` when not given.
        like: LikeWord,
        /// Selective acknowledgements; true when not given.
        sack: bool,
        /// Send new data on the first two duplicate acknowledgements; true when not given.
        limited_transmit: bool,
        /// When the retransmission timer starts anew in a recovery without SACK; impatient when not given.
        recovery_timer: TimerWord,
        /// What shows a loss, with SACK; count when not given, time as in Linux.
        loss_detection: DetectionWord,
        /// Send a segment more after two round-trip times without news; false when not given, true as in Linux. Only where losses are found
        /// by time.
        tail_probe: bool,
        /// How what is in flight comes down to the new window after losses and marks; halt when not given, proportional as in Linux.
        reduction: ReductionWord,
        /// Detect needless retransmissions by timestamps and undo what they did; true when not given.
        undo: bool,
        /// Tell the law when the connection sends again after a silence; true when not given.
        idle_restart: bool,
        /// Acknowledge every second segment; true when not given.
        delayed_ack: bool,
        /// Longest wait of a delayed acknowledgement; 40 ms when not given.
        ack_delay: Duration where within("1 ns", "1000 s"),
        /// How many acknowledgements are sent at once, not delayed, at the beginning, after a silence of more than `min_rto` and after data
        /// that came twice; 0 when not given, 16 as in Linux.
        quick_acks: u32 where count(0, 1_000_000),
        /// Explicit congestion notification; false when not given.
        ecn: bool,
        /// Initial window in segments; 10 when not given.
        initial_window: u32 where count(1, 1_000_000),
        /// Retransmission timeout before the first sample; 1 s when not given.
        initial_rto: Duration where within("1 us", "1000 s"),
        /// Least retransmission timeout; 200 ms when not given.
        min_rto: Duration where within("1 us", "1000 s"),
        /// What `min_rto` is the least of; timeout when not given, variation as in Linux.
        rto_floor: FloorWord,
        /// Greatest retransmission timeout; 60 s when not given.
        max_rto: Duration where within("1 us", "100000 s"),
        /// Bytes the receiver is ready to take; unlimited when not given.
        receive_window: Bytes where receive_window,
        /// Open the connection with SYN and SYN-ACK; false when not given, true as in Linux.
        handshake: bool,
        /// Bytes of header on every packet, and size of an acknowledgement; 40 B when not given, 52 B with `kernel`, which has
        /// timestamps, 76 B with `live`.
        header: Bytes where within("1 B", "65534 B"),
    }
}

words! {
    /// When the retransmission timer starts anew in a recovery without SACK.
    pub(crate) enum TimerWord = "a recovery timer" {
        /// At the first partial acknowledgement only.
        Impatient = "impatient",
        /// At each.
        Steady = "steady",
    }

    /// What shows a loss, with SACK.
    pub(crate) enum DetectionWord = "a detection of losses" {
        /// Three segments above it that have arrived. What was sent again and lost again waits for the timer.
        Count = "count",
        /// Something that was sent later and has arrived, and a quarter of a round trip while that may be reordering (RACK).
        Time = "time",
    }

    /// What the least retransmission timeout is the least of.
    pub(crate) enum FloorWord = "a floor of the timeout" {
        /// Of the timeout.
        Timeout = "timeout",
        /// Of what is added to the smoothed round-trip time.
        Variation = "variation",
    }

    /// How what is in flight comes down to the law's new window in a recovery.
    pub(crate) enum ReductionWord = "a reduction" {
        /// Nothing but the first repair is sent until it has come down.
        Halt = "halt",
        /// Over a round, in proportion to what arrives, after losses and after marks. Laws without a threshold are left alone.
        Proportional = "proportional",
    }

    /// Whose TCP.
    pub(crate) enum LikeWord = "a TCP to be like" {
        /// What the RFCs ask for, each where it was first asked for.
        Standard = "standard",
        /// The kernel of Linux.
        Linux = "linux",
    }
}

impl TimerWord {
    /// As TCP is told.
    pub(crate) const fn timer(self) -> RecoveryTimer {
        match self {
            Self::Impatient => RecoveryTimer::Impatient,
            Self::Steady => RecoveryTimer::Steady,
        }
    }
}

impl DetectionWord {
    /// As TCP is told.
    pub(crate) const fn detection(self) -> LossDetection {
        match self {
            Self::Count => LossDetection::Count,
            Self::Time => LossDetection::Time,
        }
    }
}

impl FloorWord {
    /// As TCP is told.
    pub(crate) const fn floor(self) -> RtoFloor {
        match self {
            Self::Timeout => RtoFloor::Timeout,
            Self::Variation => RtoFloor::Variation,
        }
    }
}

impl ReductionWord {
    /// As TCP is told.
    pub(crate) const fn reduction(self) -> Reduction {
        match self {
            Self::Halt => Reduction::Halt,
            Self::Proportional => Reduction::Proportional,
        }
    }
}

fn receive_window(value: &Bytes) -> Result<(), (String, String)> {
    if *value == Bytes::UNLIMITED { Ok(()) } else { within("1 B", "4000000000 B")(value) }
}
