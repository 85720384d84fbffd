//! Settings of a TCP connection.

use contract::SeriesInfo;
use units::{Bytes, Duration, Rate};

/// Series that a TCP sender offers: name, unit, subject, meaning.
pub const SERIES: &[SeriesInfo] = &[
    ("window", "bytes", "flow", "congestion window"),
    ("ssthresh", "bytes", "flow", "slow-start threshold"),
    ("in_flight", "bytes", "flow", "payload in flight: sent and neither acknowledged nor declared lost"),
    ("rtt", "s", "flow", "latest sample of the round-trip time"),
    ("srtt", "s", "flow", "smoothed round-trip time"),
];

/// Settings of one connection.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// Payload of a full segment.
    pub segment: Bytes,
    /// Bytes of header on every packet; also the size of an acknowledgement.
    pub header: Bytes,
    /// Initial window, in segments [RFC5681 §3.1, RFC6928].
    pub initial_window: u32,
    /// Retransmission timeout before the first sample [RFC6298 §2.1].
    pub initial_rto: Duration,
    /// Minimum retransmission timeout [RFC6298 §2.4 asks for 1 s; ns-2 and Linux use 0.2 s].
    pub min_rto: Duration,
    /// What `min_rto` bounds.
    pub rto_floor: RtoFloor,
    /// Maximum retransmission timeout [RFC6298 §2.5].
    pub max_rto: Duration,
    /// Selective acknowledgements [RFC2018, RFC6675].
    pub sack: bool,
    /// Send new data on the first two duplicate acknowledgements [RFC3042]. On in ns-2 and Linux.
    pub limited_transmit: bool,
    /// Fast recovery after a fast retransmit [RFC5681 §3.2, RFC6582]. Without it, and without SACK: TCP Tahoe, which after the third duplicate
    /// acknowledgement does what it does after a timeout, slow start from one segment over all that is out [J88; ns-2: `Agent/TCP`].
    pub fast_recovery: bool,
    /// When the retransmission timer starts again during a recovery without SACK.
    pub recovery_timer: RecoveryTimer,
    /// What shows a loss, with SACK.
    pub loss_detection: LossDetection,
    /// Send a segment more after two round-trip times without news, so that a loss of the last segments is seen [RFC8985 §7]. With losses
    /// found by time only.
    pub tail_probe: bool,
    /// How what is in flight comes down to the new window in a recovery.
    pub reduction: Reduction,
    /// Detect by the echoed timestamp that a retransmission was needless [RFC3522], tell the law, and go on where the
    /// connection was [RFC4015].
    pub undo: bool,
    /// Tell the law when the connection resumes sending after a silence of one retransmission timeout [RFC5681 §4.1].
    pub idle_restart: bool,
    /// Acknowledge every second segment, or after `ack_delay` [RFC5681 §4.2].
    pub delayed_ack: bool,
    /// Longest wait of a delayed acknowledgement.
    pub ack_delay: Duration,
    /// How many acknowledgements are not delayed at the beginning, after a silence of more than `min_rto`, and after data that came twice.
    /// With any, the first two after a mark and those of segments with CWR are not delayed either, and other marked segments wait as
    /// all do [Linux: tcp_event_data_recv].
    pub quick_acks: u32,
    /// Explicit congestion notification [RFC3168].
    pub ecn: bool,
    /// Bytes the receiver is ready to take; unlimited unless asked for.
    pub receive_window: Bytes,
    /// Open the connection with SYN and SYN-ACK before data.
    pub handshake: bool,
    /// What there is to send.
    pub demand: Demand,
}

/// When the retransmission timer starts again as partial acknowledgements arrive in a recovery without SACK [RFC6582 §4].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecoveryTimer {
    /// At the first only: many losses in one window end in a timeout, which is quicker. What RFC 6582 asks for.
    Impatient,
    /// At each: one segment per round trip is repaired, however long it takes.
    Steady,
}

/// What the minimum retransmission timeout bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RtoFloor {
    /// Of the timeout [RFC6298 §2.4].
    Timeout,
    /// Of what is added to the smoothed round-trip time, as in Linux.
    Variation,
}

/// What shows a loss, with SACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossDetection {
    /// Three segments above it that have arrived [RFC6675]. What was retransmitted and lost again waits for the timer.
    Count,
    /// Something that was sent later and has arrived [RFC8985: RACK].
    Time,
}

/// How what is in flight comes down to the law's new window in a recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reduction {
    /// Nothing but the first repair is sent until it has come down: half a round of silence where the window is halved
    /// [RFC5681 §3.2, RFC6675 §5].
    Halt,
    /// Over a round, in proportion to what arrives [RFC9937]; as in Linux also after a mark, and a timeout in such a round leaves the
    /// threshold as it is. Laws without a threshold are left alone.
    Proportional,
}

/// What a source has to send.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Demand {
    /// Always more.
    Bulk,
    /// This many bytes of payload, then done.
    Finite(Bytes),
    /// The application produces payload at this rate.
    Limited(Rate),
}

impl Config {
    /// As TCP of Linux has it, with timestamps.
    pub fn linux() -> Self {
        Self {
            segment: Bytes::new(1448),
            header: Bytes::new(52),
            rto_floor: RtoFloor::Variation,
            recovery_timer: RecoveryTimer::Steady,
            loss_detection: LossDetection::Time,
            tail_probe: true,
            reduction: Reduction::Proportional,
            quick_acks: 16,
            handshake: true,
            ..Self::default()
        }
    }
}

impl Default for Config {
    fn default() -> Self {
        Self {
            segment: Bytes::new(1460),
            header: Bytes::new(40),
            initial_window: 10,
            initial_rto: Duration::from_secs(1),
            min_rto: Duration::from_millis(200),
            rto_floor: RtoFloor::Timeout,
            max_rto: Duration::from_secs(60),
            sack: true,
            limited_transmit: true,
            fast_recovery: true,
            recovery_timer: RecoveryTimer::Impatient,
            loss_detection: LossDetection::Count,
            tail_probe: false,
            reduction: Reduction::Halt,
            undo: true,
            idle_restart: true,
            delayed_ack: true,
            ack_delay: Duration::from_millis(40),
            quick_acks: 0,
            ecn: false,
            receive_window: Bytes::UNLIMITED,
            handshake: false,
            demand: Demand::Bulk,
        }
    }
}
