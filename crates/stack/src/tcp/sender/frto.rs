//! Forward RTO recovery with SACK (RFC 5682 §3): after a timeout, what is acknowledged next shows whether data were
//! lost or late. It needs no time stamps.

use contract::{CongestionControl, Cx};

use super::Sender;

/// The state of the detection after a timeout.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Frto {
    /// The timeout may still turn out to be spurious [Linux: frto].
    pub(super) active: bool,
    /// The current acknowledgement is the first of data that were sent before the timeout and never again
    /// [Linux: FLAG_ORIG_SACK_ACKED].
    original_arrived: bool,
    /// New data leave before lost data are retransmitted, this once [Linux: REXMIT_NEW].
    new_data_first: bool,
}

impl Frto {
    /// A timeout begins, or is one more of the same segment.
    pub(super) fn begin(&mut self, active: bool) {
        *self = Self { active, ..Self::default() };
    }

    /// Data were newly acknowledged of which some were never retransmitted, between byte `first` and byte `end`.
    pub(super) fn on_arrival(&mut self, first: u64, end: u64) {
        self.original_arrived |= self.active && first < end;
    }

    /// Whether lost data wait for new data.
    pub(super) const fn holds_back(&self) -> bool {
        self.new_data_first
    }
}

impl<C: CongestionControl> Sender<C> {
    /// Reads what an acknowledgement says of the last timeout: `advanced`, it acknowledges new data in sequence;
    /// otherwise it is a duplicate, or reports data above a gap [RFC5682 §3.1; Linux: tcp_process_loss].
    #[cold]
    pub(super) fn check_timeout(&mut self, newly_sacked: u64, advanced: bool, cx: &mut Cx<'_>) {
        let original_arrived = std::mem::take(&mut self.recovery.frto.original_arrived);
        if original_arrived {
            // step 3.b: not all data were lost that were in flight, so the timeout was spurious
            self.recovery.frto.active = false;
            self.undo(cx);
        } else if self.seq.high > self.recovery.recover {
            // step 3.a: new data arrived above a gap, so the loss is real
            self.recovery.frto.active = newly_sacked == 0 && advanced && self.repairing();
        } else if advanced {
            // step 2.b: two segments of new data show which it is, if there are any that may be sent
            let (unsent, room) = (self.unsent(cx.now()), self.edge().saturating_sub(self.seq.next));
            self.recovery.frto.active = self.repairing() && unsent > 0 && room >= unsent.min(self.segment());
            self.recovery.frto.new_data_first = self.recovery.frto.active;
        }
    }

    /// After new data had their turn: if none could be sent, the loss is repaired as usual. Returns whether that is so.
    #[cold]
    pub(super) fn give_up_frto(&mut self) -> bool {
        self.recovery.frto.new_data_first = false;
        let none = self.seq.high == self.recovery.recover;
        self.recovery.frto.active &= !none;
        none
    }
}
