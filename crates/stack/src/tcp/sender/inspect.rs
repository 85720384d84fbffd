//! The state of a sender for observers: drivers that show it, and tests. Nothing here changes it.

use contract::CongestionControl;
use units::{Bytes, Duration, Rate, Time};

use super::{Phase, Sender};
use crate::tcp::receiver::FIRST_ACE;

/// The state of a connection's sender at one instant. Numbers of bytes count from 0, ranges are the first byte and one
/// past the last.
#[derive(Clone, Debug, PartialEq)]
pub struct Inspection {
    /// Whether the connection is open: the answer to its SYN has arrived, and it was not stopped.
    pub open: bool,
    /// Congestion window in bytes of payload, as it limits the sender now: in a recovery the window of proportional
    /// rate reduction.
    pub window: Bytes,
    /// Slow-start threshold in bytes; [`Bytes::UNLIMITED`] before the first reduction, and of schemes without one.
    pub ssthresh: Bytes,
    /// Rate at which segments leave, headers included; [`Rate::UNLIMITED`] for none.
    pub rate: Rate,
    /// Payload in flight, as the sender counts it [RFC6675 §4: pipe].
    pub in_flight: Bytes,
    /// The oldest byte not acknowledged [RFC9293: SND.UNA].
    pub una: u64,
    /// One past the highest byte sent.
    pub high: u64,
    /// One past the last byte that the application has produced.
    pub ready: u64,
    /// One past the last byte that the receive window allows; `u64::MAX` for no limit.
    pub edge: u64,
    /// The state of congestion control.
    pub state: State,
    /// Duplicate acknowledgements in a row; without SACK each stands for a segment that has arrived.
    pub duplicates: u32,
    /// What has arrived above a gap, with SACK.
    pub sacked: Vec<(u64, u64)>,
    /// What counts as lost and has not arrived, retransmitted or not, with SACK.
    pub lost: Vec<(u64, u64)>,
    /// The part of `lost` whose last retransmission counts as lost as well, with SACK and
    /// [`crate::tcp::LossDetection::Time`].
    pub lost_again: Vec<(u64, u64)>,
    /// Marked packets that acknowledgements reported, with accurate feedback [RFC9768 §3.2.1: s.cep, from 0].
    pub marks: u32,
    /// The part of `marks` that the controller does not know yet.
    pub marks_pending: u32,
    /// Smoothed round-trip time; the initial timeout before the first sample.
    pub srtt: Duration,
    /// Its variation, RTTVAR [RFC6298 §2]; zero before the first sample.
    pub rttvar: Duration,
    /// Minimum round-trip time; [`Duration::MAX`] before the first sample.
    pub rtt_min: Duration,
    /// Retransmission timeout, exponential backoff included.
    pub rto: Duration,
    /// Whether it has backed off since the last sample of the round-trip time.
    pub backed_off: bool,
    /// When a timer of the connection expires: retransmission, tail loss probe or reordering; [`Time::NEVER`] for none.
    pub timer_at: Time,
}

/// The state of congestion control, with the names of Linux \[`enum tcp_ca_state`\].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// No data are missing.
    Open,
    /// Data arrived above a gap, or acknowledgements were duplicate, and nothing counts as lost.
    Disorder,
    /// The window is being reduced after a mark.
    Cwr,
    /// Fast recovery.
    Recovery,
    /// After a retransmission timeout, until all data sent before it are acknowledged.
    Loss,
}

impl<C: CongestionControl> Sender<C> {
    /// The current state.
    pub fn inspect(&self) -> Inspection {
        let [sacked, lost, lost_again] =
            self.scoreboard.as_ref().map(|scoreboard| scoreboard.ranges()).unwrap_or_default();
        let rtt = self.timer.rtt();
        Inspection {
            open: self.phase == Phase::Open,
            window: Bytes::new(self.limits.window),
            ssthresh: self.controller.ssthresh(),
            rate: self.limits.rate,
            in_flight: self.in_flight(),
            una: self.seq.una,
            high: self.seq.high,
            ready: self.app_data.ready,
            edge: self.seq.edge,
            state: self.state(!sacked.is_empty()),
            duplicates: self.recovery.duplicates,
            sacked,
            lost,
            lost_again,
            marks: self.marks.seen().wrapping_sub(FIRST_ACE as u32),
            marks_pending: self.marks.pending,
            srtt: rtt.smoothed(),
            rttvar: rtt.variation(),
            rtt_min: rtt.min(),
            rto: rtt.rto(),
            backed_off: self.timer.rtt().backed_off(),
            timer_at: self.timer.expires_at(),
        }
    }

    fn state(&self, gap: bool) -> State {
        let recovery = &self.recovery;
        match () {
            () if recovery.recovering => State::Recovery,
            () if recovery.repairs(self.seq.una) => State::Loss,
            () if recovery.reducing => State::Cwr,
            () if gap || recovery.duplicates > 0 => State::Disorder,
            () => State::Open,
        }
    }
}
