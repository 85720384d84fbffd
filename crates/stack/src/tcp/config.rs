//! Settings of a TCP connection.

use contract::{EcnFeedback, SeriesInfo};
use units::{Bytes, Duration, Rate};

/// Time series of a TCP sender: name, unit, subject, meaning.
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
    /// Whether `min_rto` is the minimum of the timeout or of its variation term.
    pub rto_floor: RtoFloor,
    /// Maximum retransmission timeout [RFC6298 §2.5].
    pub max_rto: Duration,
    /// Selective acknowledgements [RFC2018, RFC6675].
    pub sack: bool,
    /// Duplicate selective acknowledgements, with `sack`: the receiver reports data that arrived twice [RFC2883]. The
    /// sender then takes a recovery back in which nothing was lost [RFC3708], and RACK allows for more reordering
    /// [RFC8985 §6.2].
    pub dsack: bool,
    /// Sends new data on the first two duplicate acknowledgements [RFC3042], as ns-2 and Linux do.
    pub limited_transmit: bool,
    /// Fast recovery after a fast retransmit [RFC5681 §3.2, RFC6582]. If false, and without SACK, the sender is TCP
    /// Tahoe: the third duplicate acknowledgement has the effect of a timeout, slow start from one segment over all
    /// data in flight [J88; ns-2: `Agent/TCP`].
    pub fast_recovery: bool,
    /// When partial acknowledgements restart the retransmission timer, in a recovery without SACK.
    pub recovery_timer: RecoveryTimer,
    /// How losses are detected, with SACK.
    pub loss_detection: LossDetection,
    /// Tail loss probe: sends one more segment after two round-trip times without an acknowledgement, so that a loss of
    /// the last segments is detected [RFC8985 §7]. It requires [`LossDetection::Time`].
    pub tail_probe: bool,
    /// How the data in flight decrease to the new window in a recovery.
    pub reduction: Reduction,
    /// Detects spurious retransmissions by the echoed timestamp [RFC3522], notifies the controller, and resumes sending
    /// where the connection was [RFC4015].
    pub undo: bool,
    /// Time stamps (RFC 7323): a retransmission is told from the first transmission. Without them an acknowledgement of
    /// retransmitted data has no round-trip time [RFC6298 §3], and only what arrives twice, or F-RTO, shows that a
    /// retransmission was spurious.
    pub time_stamps: bool,
    /// Forward RTO recovery, with `sack`: after a timeout, once an acknowledgement advances, new data are sent before
    /// lost data; if data arrive that were never retransmitted, the timeout was spurious and is undone, without time
    /// stamps [RFC5682 §3; Linux: tcp_frto].
    pub frto: bool,
    /// Notifies the controller when the sender resumes after an idle time of one retransmission timeout [RFC5681 §4.1].
    pub idle_restart: bool,
    /// How a window that was not used is taken back, with `idle_restart`. If true, it is halved once for each
    /// retransmission timeout of an idle time, and while the application uses only a part of it, it goes half of the
    /// way to that part in each timeout; the threshold remembers three quarters of it [RFC2861 §3.2; Linux:
    /// tcp_cwnd_restart, tcp_cwnd_application_limited]. If false, it is the initial window after an idle time
    /// [RFC5681 §4.1].
    pub idle_decay: bool,
    /// Delayed acknowledgements: one per second segment, or after `ack_delay` [RFC5681 §4.2].
    pub delayed_ack: bool,
    /// Maximum delay of an acknowledgement.
    pub ack_delay: Duration,
    /// Number of quick (not delayed) acknowledgements at the start, after an idle time of more than `min_rto`, and
    /// after duplicate data. If above zero, the first two after a CE mark and acknowledgements of segments with CWR are
    /// quick as well, and other marked segments are delayed like the rest [Linux: tcp_event_data_recv].
    pub quick_acks: u32,
    /// Maximum delay of acknowledgements of segments above a gap, with SACK: after the first three they are held back
    /// for 5 % of the round-trip time, at most this long, and one replaces them [Linux: tcp_comp_sack_delay_ns]. Zero:
    /// each is sent at once, as [RFC5681 §4.2] requires. It needs `handshake`, which measures the round-trip time.
    pub sack_compression: Duration,
    /// Explicit congestion notification [RFC3168].
    pub ecn: bool,
    /// How the receiver reports marks.
    pub ecn_feedback: EcnFeedback,
    /// Data packets are ECT(1) in place of ECT(0), with `ecn` [RFC9331 §4.1].
    pub l4s: bool,
    /// Receive window that the receiver advertises, in bytes of payload; [`Bytes::UNLIMITED`] for no limit.
    pub receive_window: Bytes,
    /// Memory of the receiver's buffer, whose half is the maximum window. The window begins at 65 535 bytes and grows
    /// by two segments with each segment, which is acknowledged at once in that time
    /// [Linux: tcp_rmem, tcp_grow_window]. [`Bytes::UNLIMITED`]: the window is `receive_window` from the start.
    pub receive_buffer: Bytes,
    /// Memory of the sender's buffer at the start, which grows with the congestion window
    /// [Linux: tcp_wmem, tcp_sndbuf_expand]; [`Bytes::UNLIMITED`] for no limit.
    pub send_buffer: Bytes,
    /// New segments leave in batches of at least two, as far as the window allows; the last segment of a batch has PSH,
    /// and a batch that is not full may wait for the next acknowledgement [Linux: generic segmentation offload]. Needs
    /// [`LossDetection::Time`] to wait.
    pub gso: bool,
    /// At what rate the segments of a window leave. Controllers with a rate of their own keep it.
    pub pacing: WindowPacing,
    /// Segments at the start that leave without pacing. If there are any, a segment that leaves later than the pacer
    /// allows is charged less, by that time and by half at most [Linux: tcp_update_skb_after_send].
    pub unpaced: u32,
    /// Time that is added to the deadlines of loss detection by time and of tail loss probes [Linux: TCP_TIMEOUT_MIN].
    pub timer_slack: Duration,
    /// Opens the connection with SYN and SYN-ACK before data.
    pub handshake: bool,
    /// When delivery-rate samples count as app-limited: the application has no more data.
    pub app_limited: AppLimited,
    /// How the receiver acknowledges.
    pub acks: Acks,
    /// How much data the application has.
    pub demand: Demand,
}

/// When a connection with room in its window is marked as limited by its application.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AppLimited {
    /// When all data have been sent, or the receive window or the send buffer leaves the window unused [DRE §3.4].
    AtEnd,
    /// When the application writes, if all data were sent and all lost ones retransmitted; also at its first write
    /// [Linux: tcp_rate_check_app_limited]. An application without end writes once.
    AtWrite,
}

/// When partial acknowledgements restart the retransmission timer in a recovery without SACK [RFC6582 §4].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecoveryTimer {
    /// Only the first one, as RFC 6582 requires. Many losses in one window end in a timeout, which is faster than
    /// repairs.
    Impatient,
    /// Each one. One segment is repaired per round trip, however long that takes.
    Steady,
}

/// What the minimum retransmission timeout applies to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RtoFloor {
    /// The whole timeout [RFC6298 §2.4].
    Timeout,
    /// The variation term that is added to the smoothed round-trip time, as in Linux.
    Variation,
}

/// How losses are detected, with SACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossDetection {
    /// By number: three segments above it have arrived [RFC6675]. A retransmission that is lost is detected by the
    /// retransmission timer only.
    Count,
    /// By time: a segment that was sent later has arrived [RFC8985: RACK].
    Time,
}

/// How the data in flight decrease to the controller's new window in a recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reduction {
    /// By a pause: after the first retransmission nothing is sent until the data in flight are below the window. If the
    /// window is halved, the pause is half a round trip [RFC5681 §3.2, RFC6675 §5].
    Halt,
    /// Proportional rate reduction: over one round trip, in proportion to the data that arrive [RFC9937]. As in Linux
    /// it also follows a CE mark, and a timeout in such a round does not change the slow-start threshold. It has no
    /// effect on controllers without a threshold.
    Proportional,
}

/// The rate at which the segments of a congestion window leave, after the first sample of the round-trip time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowPacing {
    /// Acknowledgements alone release segments.
    Off,
    /// 1.25 windows per smoothed round-trip time [RFC9002 §7.7].
    Quic,
    /// 1.2 windows or data in flight, whichever is more, per smoothed round-trip time; 2 while the window is below half
    /// of the slow-start threshold [Linux: tcp_update_pacing_rate].
    Linux,
}

/// How a receiver acknowledges: as RFC 5681 requires, or such that a sender that believes it sends faster [SCWA99:
/// Savage, Cardwell, Wetherall, Anderson, TCP Congestion Control with a Misbehaving Receiver, CCR 29(5), 1999].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Acks {
    /// As RFC 5681 §4.2 requires.
    Honest,
    /// ACK division: eight acknowledgements per segment, each of another part [SCWA99 §2.1].
    Divided,
    /// DupACK spoofing: four more copies of each acknowledgement [SCWA99 §2.2].
    Repeated,
    /// Optimistic acknowledgements: of everything below the newest byte, lost or not, and of four segments above it in
    /// advance [SCWA99 §2.3].
    Optimistic,
}

/// How much data an application has to send.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Demand {
    /// Unlimited.
    Bulk,
    /// This many bytes of payload; then the flow is complete.
    Finite(Bytes),
    /// The application produces payload at this rate; at [`Rate::ZERO`] what the receiver's application requests, and
    /// no more.
    Limited(Rate),
}

impl Config {
    /// The window that the receiver advertises first.
    pub(super) fn first_window(&self) -> Bytes {
        // [Linux: tcp_select_initial_window]
        let first =
            if self.receive_buffer == Bytes::UNLIMITED { Bytes::UNLIMITED } else { Bytes::new(65_535) };
        // half of the memory is for what segments take beside their payload             [Linux: tcp_adv_win_scale = 1]
        self.receive_window.min(first).min(Bytes::new(self.receive_buffer.as_u64() / 2))
    }

    /// The defaults of Linux's TCP, with timestamps.
    pub fn linux() -> Self {
        Self {
            segment: Bytes::new(1448),
            header: Bytes::new(52),
            rto_floor: RtoFloor::Variation,
            max_rto: Duration::from_secs(120),
            recovery_timer: RecoveryTimer::Steady,
            loss_detection: LossDetection::Time,
            tail_probe: true,
            reduction: Reduction::Proportional,
            dsack: true,
            time_stamps: true,
            frto: true,
            idle_decay: true,
            unpaced: 10,
            timer_slack: Duration::from_millis(2),
            quick_acks: 16,
            sack_compression: Duration::from_millis(1),
            send_buffer: Bytes::new(16_384),
            handshake: true,
            app_limited: AppLimited::AtWrite,
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
            dsack: false,
            limited_transmit: true,
            fast_recovery: true,
            recovery_timer: RecoveryTimer::Impatient,
            loss_detection: LossDetection::Count,
            tail_probe: false,
            reduction: Reduction::Halt,
            undo: true,
            time_stamps: true,
            frto: false,
            idle_restart: true,
            idle_decay: false,
            delayed_ack: true,
            ack_delay: Duration::from_millis(40),
            quick_acks: 0,
            sack_compression: Duration::ZERO,
            ecn: false,
            ecn_feedback: EcnFeedback::Classic,
            l4s: false,
            receive_window: Bytes::UNLIMITED,
            receive_buffer: Bytes::UNLIMITED,
            send_buffer: Bytes::UNLIMITED,
            gso: false,
            pacing: WindowPacing::Off,
            unpaced: 0,
            timer_slack: Duration::ZERO,
            handshake: false,
            app_limited: AppLimited::AtEnd,
            acks: Acks::Honest,
            demand: Demand::Bulk,
        }
    }
}
