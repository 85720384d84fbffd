//! The table `tcp` of a flow, and its words.

use units::{Bytes, Duration};

use crate::schema::bounds::{count, within};
use crate::schema::read::{tables, words};

tables! {
    /// Settings of TCP. All have defaults.
    pub(crate) struct Tcp = "TCP settings" {
        /// The TCP that supplies the defaults of this table and of the parameters of `reno`, `cubic`, `bbr` and `tcp_lp`. Default: `linux`
        /// with `kernel`, otherwise `standard`.
        like: LikeWord,
        /// Selective acknowledgements. Default: true.
        sack: bool,
        /// Report data that arrived twice (D-SACK, RFC 2883). The sender then undoes a recovery in which nothing was lost, and RACK waits longer
        /// for reordered segments. Requires `sack`. Default: false; Linux: true.
        dsack: bool,
        /// Send new data on the first two duplicate acknowledgements. Default: true.
        limited_transmit: bool,
        /// Fast recovery after three duplicate acknowledgements (RFC 6582). Without it, and with `sack = false`: TCP Tahoe, whose window
        /// is then one segment, in slow start, as in `Agent/TCP` of ns-2. Default: true.
        fast_recovery: bool,
        /// When the retransmission timer restarts in NewReno recovery without SACK (RFC 6582 §4). Default: impatient.
        recovery_timer: TimerWord,
        /// How losses are detected with SACK. Default: count; Linux, and schemes that are defined with RACK-TLP (`bbr3`, `prague`): time.
        loss_detection: DetectionWord,
        /// Send a tail loss probe (TLP) after two round-trip times without an acknowledgement. Requires `loss_detection = "time"`.
        /// Default: false; Linux, and schemes that are defined with RACK-TLP: true.
        tail_probe: bool,
        /// How the data in flight are reduced to the new window after losses and marks. Default: halt; Linux: proportional.
        reduction: ReductionWord,
        /// Detect spurious retransmissions by timestamps (Eifel) and undo the reduction of the window. Default: true.
        undo: bool,
        /// Time stamps (RFC 7323), which tell a retransmission from the first transmission. Without them an acknowledgement of retransmitted data
        /// has no round-trip time, and `undo` needs `dsack` or `frto`. They do not change `header`. Default: true.
        time_stamps: bool,
        /// Forward RTO recovery (F-RTO, RFC 5682): after a timeout, new data are sent before lost data once an acknowledgement advances, and the
        /// timeout is undone if data arrive that were never retransmitted. Requires `sack`. Default: false; Linux: true.
        frto: bool,
        /// Inform the congestion controller when the connection resumes sending after an idle period. Default: true.
        idle_restart: bool,
        /// After an idle period, halve the window once per retransmission timeout rather than restart at the initial window, and let a window
        /// shrink of which the application uses only a part (RFC 2861). Requires `idle_restart`. Default: false; Linux: true.
        idle_decay: bool,
        /// Acknowledge every second segment. Default: true.
        delayed_ack: bool,
        /// Maximum delay of a delayed acknowledgement. Default: 40 ms.
        ack_delay: Duration where within("1 ns", "1000 s"),
        /// Number of acknowledgements that are not delayed at the start, after an idle period longer than `min_rto`, and after
        /// duplicate data. Default: 0; Linux: 16.
        quick_acks: u32 where count(0, 1_000_000),
        /// Hold acknowledgements of segments above a gap back, after the first three, for 5 % of the round-trip time of the handshake and at
        /// most this long, as Linux does (`net.ipv4.tcp_comp_sack_delay_ns`). Requires `handshake`. Default: 0 s; Linux: 1 ms.
        sack_compression: Duration where within("0 s", "1 s"),
        /// Explicit congestion notification. Default: false; true for schemes that need it (`dctcp`).
        ecn: bool,
        /// How the receiver reports congestion marks. Default: classic, or what the scheme needs.
        ecn_feedback: FeedbackWord,
        /// Mark data packets as those of a scalable sender (L4S, RFC 9331): ECT(1) in place of ECT(0). Default: false, or what the scheme
        /// needs.
        l4s: bool,
        /// Initial window in segments. Default: 10.
        initial_window: u32 where count(1, 1_000_000),
        /// Retransmission timeout before the first round-trip time sample. Default: 1 s.
        initial_rto: Duration where within("1 us", "1000 s"),
        /// Minimum retransmission timeout. Default: 200 ms.
        min_rto: Duration where within("1 us", "1000 s"),
        /// What `min_rto` is the minimum of. Default: timeout; Linux: variation.
        rto_floor: FloorWord,
        /// Maximum retransmission timeout. Default: 60 s.
        max_rto: Duration where within("1 us", "100000 s"),
        /// Receive window. Default: unlimited.
        receive_window: Bytes where unlimited_or,
        /// Memory of the receive buffer. The window is at most half of it, begins at 65535 B, and grows by two segments with
        /// each segment, as in Linux, where segments are acknowledged at once in that time. The buffer itself does not grow.
        /// Default: unlimited, without growth of the window.
        receive_buffer: Bytes where unlimited_or,
        /// Memory of the send buffer at the start. It counts segments with the overhead of the kernel, and grows with the
        /// congestion window. Default: unlimited; Linux: 16384 B.
        send_buffer: Bytes where unlimited_or,
        /// Send new segments in batches of at least two, as far as the window allows, as Linux does with segmentation offload. The
        /// last one has PSH and is acknowledged at once; a batch that is not full may wait for the next acknowledgement.
        /// Default: false.
        gso: bool,
        /// The rate at which the segments of a window leave. A scheme with a rate of its own, such as `bbr`, keeps it. Default: off, also in Linux,
        /// where the queue discipline `fq` turns it on.
        pacing: PacingWord,
        /// Number of segments at the start that leave without pacing. Above 0, a segment that leaves late is charged less for it, as in
        /// Linux. Default: 0; Linux: 10.
        unpaced: u32 where count(0, 1_000_000),
        /// Time added to the deadlines of loss detection by time and of tail loss probes. Default: 0 s; Linux: 2 ms.
        timer_slack: Duration where within("0 s", "1 s"),
        /// When a delivery rate counts as that of an application that had no more data, which schemes such as `bbr` ignore unless it is higher.
        /// Default: at_end; Linux: at_write.
        app_limited: AppLimitedWord,
        /// Open the connection with SYN and SYN-ACK. Default: false; Linux: true.
        handshake: bool,
        /// How the receiver acknowledges: honestly, or such that a sender that believes it sends faster. Default: honest.
        acks: AcksWord,
        /// Header of every packet, and size of an acknowledgement. Default: 40 B; 52 B with `kernel`, which has timestamps; 76 B
        /// with `live`.
        header: Bytes where within("1 B", "65534 B"),
    }
}

words! {
    /// When the retransmission timer restarts in NewReno recovery without SACK.
    pub(crate) enum TimerWord = "a recovery timer" {
        /// At the first partial acknowledgement only (Impatient variant).
        Impatient = "impatient",
        /// At every partial acknowledgement (Slow-but-Steady variant).
        Steady = "steady",
    }

    /// How losses are detected with SACK.
    pub(crate) enum DetectionWord = "a detection of losses" {
        /// A segment is lost when three later segments have been acknowledged (RFC 6675). The loss of a retransmission is detected
        /// by the timer.
        Count = "count",
        /// A segment is lost when one sent later has been acknowledged and a reordering window of a quarter of a round-trip time
        /// has passed (RACK, RFC 8985).
        Time = "time",
    }

    /// What the minimum retransmission timeout is the minimum of.
    pub(crate) enum FloorWord = "a floor of the timeout" {
        /// The timeout.
        Timeout = "timeout",
        /// The term added to the smoothed round-trip time.
        Variation = "variation",
    }

    /// When a connection is limited by its application.
    pub(crate) enum AppLimitedWord = "a mark of limited applications" {
        /// From when nothing more can be sent though the window has room, because all data have been sent, or the receive window or the send buffer is full, until what is then in flight has been delivered (draft-cheng-iccrg-delivery-rate-estimation).
        AtEnd = "at_end",
        /// From the next write of the application on, its first one included, if then all data have been sent and the window has room. The receive window and the send buffer are no reason.
        AtWrite = "at_write",
    }

    /// How the data in flight are reduced to the new window in recovery.
    pub(crate) enum ReductionWord = "a reduction" {
        /// Only the first retransmission is sent until the data in flight fit into the window.
        Halt = "halt",
        /// Proportional rate reduction (RFC 6937) over one round trip, after losses and after marks. Does not apply to congestion
        /// controllers without a slow-start threshold.
        Proportional = "proportional",
    }

    /// The rate at which the segments of a window leave.
    pub(crate) enum PacingWord = "a pacing of windows" {
        /// Acknowledgements alone release segments.
        Off = "off",
        /// 1.25 windows per smoothed round-trip time (RFC 9002, section 7.7).
        Quic = "quic",
        /// 1.2 windows per smoothed round-trip time, and 2 while the window is below half of the slow-start threshold, as in Linux.
        Linux = "linux",
    }

    /// How the receiver acknowledges (Savage et al., TCP Congestion Control with a Misbehaving Receiver, 1999).
    pub(crate) enum AcksWord = "a way to acknowledge" {
        /// As RFC 5681 requires.
        Honest = "honest",
        /// ACK division: eight acknowledgements per segment, each of another part.
        Divided = "divided",
        /// DupACK spoofing: four more copies of each acknowledgement.
        Repeated = "repeated",
        /// Optimistic acknowledgements: of everything below the newest byte, lost or not, and of four segments in advance.
        Optimistic = "optimistic",
    }

    /// How the receiver reports congestion marks.
    pub(crate) enum FeedbackWord = "a kind of ECN feedback" {
        /// A mark sets ECE on every acknowledgement until the sender has reduced its window (RFC 3168).
        Classic = "classic",
        /// ECE of an acknowledgement says whether its packets were marked (RFC 8257).
        Dctcp = "dctcp",
        /// Every acknowledgement carries the low three bits of the number of marked packets (AccECN, RFC 9768).
        Accurate = "accurate",
    }

    /// The TCP that supplies the defaults.
    pub(crate) enum LikeWord = "a TCP to be like" {
        /// The RFCs.
        Standard = "standard",
        /// The Linux kernel.
        Linux = "linux",
    }
}

fn unlimited_or(value: &Bytes) -> Result<(), (String, String)> {
    if *value == Bytes::UNLIMITED { Ok(()) } else { within("1 B", "4000000000 B")(value) }
}
