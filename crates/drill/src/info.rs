//! The names of `struct tcp_info` of Linux, for assertions.

use stack::tcp::{Inspection, State};
use units::{Bytes, Duration, Rate, Time};

use crate::code::{Lookup, Names, Value};
use crate::connection::{Connection, Segment};
use crate::problem::nearest;
use crate::report::Window;

/// The state of a connection for assertions. Numbers of segments are of those that left, also short ones.
pub(crate) struct Info<'a> {
    /// `None` before the connection is opened.
    pub(crate) connection: Option<&'a Connection>,
}

/// The names that are known. This TCP does not keep the values of the second list.
const KNOWN: [&str; 35] = [
    "tcpi_state",
    "tcpi_ca_state",
    "tcpi_snd_cwnd",
    "tcpi_snd_ssthresh",
    "tcpi_unacked",
    "tcpi_sacked",
    "tcpi_lost",
    "tcpi_retrans",
    "tcpi_total_retrans",
    "tcpi_retransmits",
    "tcpi_backoff",
    "tcpi_rto",
    "tcpi_rtt",
    "tcpi_rttvar",
    "tcpi_min_rtt",
    "tcpi_snd_mss",
    "tcpi_reordering",
    "tcpi_reord_seen",
    "tcpi_delivered",
    "tcpi_delivered_ce",
    "tcpi_delivered_e0_bytes",
    "tcpi_delivered_e1_bytes",
    "tcpi_delivered_ce_bytes",
    "tcpi_received_ce",
    "tcpi_marked_told",
    "tcpi_segs_out",
    "tcpi_data_segs_out",
    "tcpi_bytes_sent",
    "tcpi_bytes_acked",
    "tcpi_bytes_received",
    "tcpi_bytes_retrans",
    "tcpi_notsent_bytes",
    "tcpi_pacing_rate",
    "tcpi_snd_wnd",
    "tcpi_total_rto",
];

const NOT_KEPT: [&str; 27] = [
    "tcpi_options",
    "tcpi_probes",
    "tcpi_ato",
    "tcpi_rcv_mss",
    "tcpi_advmss",
    "tcpi_pmtu",
    "tcpi_fackets",
    "tcpi_last_data_sent",
    "tcpi_last_ack_sent",
    "tcpi_last_data_recv",
    "tcpi_last_ack_recv",
    "tcpi_rcv_ssthresh",
    "tcpi_rcv_rtt",
    "tcpi_rcv_space",
    "tcpi_busy_time",
    "tcpi_rwnd_limited",
    "tcpi_sndbuf_limited",
    "tcpi_dsack_dups",
    "tcpi_rcv_ooopack",
    "tcpi_rcv_wnd",
    "tcpi_rehash",
    "tcpi_segs_in",
    "tcpi_data_segs_in",
    "tcpi_delivery_rate",
    "tcpi_max_pacing_rate",
    "tcpi_received_e0_bytes",
    "tcpi_received_ce_bytes",
];

/// Constants of `linux/tcp.h` and `net/tcp_states.h`.
const CONSTANTS: [(&str, i128); 17] = [
    ("TCP_CA_Open", 0),
    ("TCP_CA_Disorder", 1),
    ("TCP_CA_CWR", 2),
    ("TCP_CA_Recovery", 3),
    ("TCP_CA_Loss", 4),
    ("TCP_ESTABLISHED", 1),
    ("TCP_SYN_SENT", 2),
    ("TCP_SYN_RECV", 3),
    ("TCP_FIN_WAIT1", 4),
    ("TCP_FIN_WAIT2", 5),
    ("TCP_TIME_WAIT", 6),
    ("TCP_CLOSE", 7),
    ("TCP_CLOSE_WAIT", 8),
    ("TCP_LAST_ACK", 9),
    ("TCP_LISTEN", 10),
    ("TCP_CLOSING", 11),
    ("TCP_INFINITE_SSTHRESH", INFINITE_SSTHRESH),
];

/// The threshold of a connection that never reduced its window.
const INFINITE_SSTHRESH: i128 = 0x7fff_ffff;

impl Names for Info<'_> {
    fn look_up(&self, name: &str) -> Lookup {
        if let Some((_, value)) = CONSTANTS.iter().find(|known| known.0 == name) {
            return Lookup::Found(Value::Int(*value));
        }
        if NOT_KEPT.contains(&name) {
            return Lookup::Missing("this TCP does not keep it".to_owned());
        }
        if !KNOWN.contains(&name) {
            let known = KNOWN.iter().chain(&NOT_KEPT).copied().chain(CONSTANTS.iter().map(|known| known.0));
            return Lookup::Unknown(match nearest(name, known) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "write a name of `struct tcp_info`, such as `tcpi_snd_cwnd`".to_owned(),
            });
        }
        let Some(connection) = self.connection else {
            return Lookup::Unknown("there is no connection yet".to_owned());
        };
        match value(connection, name) {
            Some(value) => Lookup::Found(Value::Int(value)),
            None => Lookup::Missing("it is kept with accurate ECN feedback only".to_owned()),
        }
    }
}

fn value(connection: &Connection, name: &str) -> Option<i128> {
    let state = connection.inspect();
    let count = Counts::new(connection, &state);
    let segment = connection.config.segment.as_u64();
    let accurate = connection.config.ecn_feedback == contract::EcnFeedback::Accurate && connection.config.ecn;
    let value = match name {
        "tcpi_state" => i128::from(if connection.is_open() { 1u8 } else { 3 }),
        "tcpi_ca_state" => match state.state {
            State::Open => 0,
            State::Disorder => 1,
            State::Cwr => 2,
            State::Recovery => 3,
            State::Loss => 4,
        },
        "tcpi_snd_cwnd" => segments(state.window, segment),
        "tcpi_snd_ssthresh" => {
            if state.ssthresh == Bytes::UNLIMITED {
                INFINITE_SSTHRESH
            } else {
                segments(state.ssthresh, segment)
            }
        }
        "tcpi_unacked" => count.unacked,
        "tcpi_sacked" => count.sacked,
        "tcpi_lost" => count.lost,
        "tcpi_retrans" => count.retransmitted,
        "tcpi_total_retrans" => connection.retransmissions.into(),
        "tcpi_retransmits" => connection.retransmits.into(),
        "tcpi_backoff" => connection.backoff.into(),
        "tcpi_total_rto" => connection.timeouts().into(),
        "tcpi_rto" => micros(state.rto),
        // zero before the first sample
        "tcpi_rtt" if state.rtt_min == Duration::MAX => 0,
        "tcpi_rtt" => micros(state.srtt),
        "tcpi_rttvar" => micros(state.rttvar),
        "tcpi_min_rtt" if state.rtt_min == Duration::MAX => i128::from(u32::MAX),
        "tcpi_min_rtt" => micros(state.rtt_min),
        "tcpi_snd_mss" => segment.into(),
        "tcpi_reordering" => connection.reordering.into(),
        "tcpi_reord_seen" => connection.reordered.into(),
        // Linux counts the SYN as well
        "tcpi_delivered" => count.delivered + i128::from(connection.is_open()),
        "tcpi_delivered_ce" if accurate => state.marks.into(),
        "tcpi_delivered_ce" => connection.echoed.into(),
        "tcpi_delivered_e0_bytes" if accurate => connection.reported("e0b", 1).into(),
        "tcpi_delivered_e1_bytes" if accurate => connection.reported("e1b", 1).into(),
        "tcpi_delivered_ce_bytes" if accurate => connection.reported("ceb", 0).into(),
        "tcpi_received_ce" if accurate => connection.marks_arrived.into(),
        "tcpi_marked_told" if accurate => i128::from(state.marks) - i128::from(state.marks_pending),
        "tcpi_segs_out" => connection.packets_out.into(),
        "tcpi_data_segs_out" => connection.data_packets_out.into(),
        "tcpi_bytes_sent" => connection.payload_out.into(),
        "tcpi_bytes_acked" => {
            i128::from(state.una) + i128::from(connection.is_open() && connection.is_active())
        }
        "tcpi_bytes_received" => connection.expected().into(),
        "tcpi_bytes_retrans" => connection.payload_again.into(),
        "tcpi_notsent_bytes" => i128::from(state.ready) - i128::from(state.high),
        "tcpi_pacing_rate" if state.rate == Rate::UNLIMITED => -1,
        // bytes per second, as Linux has it
        "tcpi_pacing_rate" => i128::from(state.rate.as_bps() / 8),
        "tcpi_snd_wnd" => i128::from(state.edge.saturating_sub(state.una)),
        _ => return None,
    };
    Some(value)
}

/// Counts of segments, as Linux has them.
struct Counts {
    unacked: i128,
    sacked: i128,
    lost: i128,
    retransmitted: i128,
    delivered: i128,
}

impl Counts {
    fn new(connection: &Connection, state: &Inspection) -> Self {
        let in_any = |blocks: &[(u64, u64)], segment: &Segment| {
            blocks.iter().any(|block| block.0 <= segment.start && segment.start < block.1)
        };
        let mut counts = Self { unacked: 0, sacked: 0, lost: 0, retransmitted: 0, delivered: 0 };
        let from = connection.segments.partition_point(|segment| segment.end <= state.una);
        for segment in &connection.segments[from..] {
            let sacked = in_any(&state.sacked, segment);
            let lost_again = in_any(&state.lost_again, segment);
            counts.unacked += 1;
            counts.sacked += i128::from(sacked);
            counts.lost += i128::from(!sacked && in_any(&state.lost, segment));
            counts.retransmitted += i128::from(!sacked && !lost_again && segment.sent.len() > 1);
        }
        counts.delivered = connection.segments.iter().filter(|segment| segment.arrived).count() as i128;
        if !connection.agreed.sack {
            // without SACK, duplicate acknowledgements stand for arrivals
            counts.sacked = i128::from(state.duplicates).min((counts.unacked - 1).max(0));
            counts.lost = match state.state {
                State::Recovery => counts.unacked.min(1),
                State::Loss => counts.unacked,
                _ => 0,
            };
        }
        counts
    }
}

/// A number of whole segments.
fn segments(bytes: Bytes, segment: u64) -> i128 {
    i128::from(bytes.as_u64() / segment)
}

fn micros(time: Duration) -> i128 {
    i128::from(time.as_nanos() / 1000)
}

/// The window and the state, for the report.
pub(crate) fn window(connection: &Connection) -> Window {
    let state = connection.inspect();
    let segment = connection.config.segment.as_u64();
    let counts = Counts::new(connection, &state);
    Window {
        cwnd: state.window.as_u64() / segment,
        ssthresh: (state.ssthresh != Bytes::UNLIMITED).then(|| state.ssthresh.as_u64() / segment),
        state: match state.state {
            State::Open => "open",
            State::Disorder => "disorder",
            State::Cwr => "cwr",
            State::Recovery => "recovery",
            State::Loss => "loss",
        },
        unacked: counts.unacked as u64,
        sacked: counts.sacked as u64,
        lost: counts.lost as u64,
        retransmitted: counts.retransmitted as u64,
        rtt: (state.rtt_min != Duration::MAX).then_some(state.srtt),
        timer_in: (state.timer_at != Time::NEVER).then(|| state.timer_at.saturating_since(connection.now)),
    }
}
