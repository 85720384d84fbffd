//! The accumulation of a flow (its bytes in queues), estimated at a receiver [MCA §2.2].

use std::collections::VecDeque;

use units::{Bytes, Duration, Time};

use crate::mca::{Early, Form, Params};

/// Accumulation with hysteresis and resynchronisation.
///
/// On a FIFO path the bytes that arrive between the expected and the actual arrival of a control packet are those that
/// waited before it. In this form, lost bytes need no correction.
#[derive(Clone, Debug)]
pub(crate) struct Accumulation {
    enter_bytes: f64,
    leave_bytes: f64,
    packet_bytes: f64,
    form: Form,
    early: Early,
    /// Arrival minus departure of a control packet that is assumed to have met no queue, in nanoseconds; the two clocks
    /// need not agree. `None` before the first.
    baseline_ns: Option<i64>,
    /// Bytes that waited before that packet nevertheless, as the last epoch showed.
    residue: f64,
    congested: bool,
    bytes: f64,
}

/// Times and sizes of the packets that arrived since the last control packet was expected, at most [`KEPT`].
#[derive(Clone, Debug, Default)]
pub(super) struct Arrivals(VecDeque<(Time, Bytes)>);

impl Arrivals {
    /// Takes a packet, in the order of arrival.
    pub(super) fn add(&mut self, at: Time, size: Bytes) {
        if self.0.len() == KEPT {
            self.0.pop_front();
        }
        self.0.push_back((at, size));
    }

    /// Bytes that arrived after `expected`; forgets earlier ones, because later control packets are expected later.
    pub(super) fn after(&mut self, expected: Time) -> f64 {
        while self.0.front().is_some_and(|(at, _)| *at <= expected) {
            self.0.pop_front();
        }
        self.0.iter().map(|(_, size)| size.as_f64()).sum()
    }
}

/// The result of a control packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Finding {
    /// No congestion.
    Clear,
    /// Congestion starts.
    Begins,
    /// Congestion continues.
    GoesOn,
    /// Congestion ends.
    Ends,
}

impl Accumulation {
    /// An estimator that is not synchronised.
    pub(crate) fn new(params: &Params, packet: Bytes) -> Self {
        let packet_bytes = packet.as_f64();
        Self {
            enter_bytes: params.enter * packet_bytes,
            leave_bytes: params.leave * packet_bytes,
            packet_bytes,
            form: params.accumulation,
            early: params.early,
            baseline_ns: None,
            residue: 0.0,
            congested: false,
            bytes: 0.0,
        }
    }

    /// Takes a control packet that was sent at `sent` and arrived at `arrived`, while the flow is received at
    /// `rate_bps()` bit/s. Calls `rate_bps` only if the packet was early or late. `counted(expected)` is the number of
    /// bytes that arrived after `expected`, this packet included; it is called for [`Form::Bytes`] only.
    pub(crate) fn on_control(
        &mut self,
        sent: Time,
        arrived: Time,
        rate_bps: impl FnOnce() -> f64,
        counted: impl FnOnce(Time) -> f64,
    ) -> Finding {
        // the clock offset can be large: only differences have a meaning
        let transit_ns = arrived.as_nanos().wrapping_sub(sent.as_nanos()) as i64;
        let Some(baseline_ns) = self.baseline_ns else {
            self.synchronise(transit_ns, 0.0);
            return Finding::Clear;
        };
        let late_ns = transit_ns.saturating_sub(baseline_ns);
        let expected = arrived - Duration::from_nanos(late_ns.max(0).unsigned_abs());
        let counted = if self.form == Form::Bytes { counted(expected) } else { 0.0 };
        let waited = if late_ns == 0 { 0.0 } else { late_ns as f64 / 1e9 * rate_bps() / 8.0 };
        if late_ns <= 0 {
            // as early as expected or earlier: the baseline was too high
            let residue = match self.early {
                Early::Zero => 0.0,
                Early::Residue => (self.residue + waited).max(0.0),
            };
            self.synchronise(transit_ns, residue);
            let ends = std::mem::replace(&mut self.congested, false);
            return if ends { Finding::Ends } else { Finding::Clear };
        }
        // in − out: on a FIFO path this is what arrives in (E, T]                   [MCA §2.2]
        self.bytes = self.residue
            + match self.form {
                // ours: (T − E)·r, of a fluid
                Form::Fluid => waited,
                Form::Packets => (waited / self.packet_bytes).ceil() * self.packet_bytes,
                Form::Bytes => counted,
            };
        let finding = self.decide();
        if finding == Finding::Ends {
            self.synchronise(transit_ns, self.bytes);
        }
        finding
    }

    /// Takes an out-of-band control packet that has overtaken `waiting` bytes of the flow. This is the accumulation:
    /// bytes that entered the network before the control packet, minus those that have left it [MCA §2.1 Eq. (3), (5)].
    /// It needs no synchronisation.
    pub(crate) fn on_overtaking(&mut self, waiting: u64) -> Finding {
        self.bytes = waiting as f64;
        self.decide()
    }

    /// Hysteresis [MCA §2.2].
    fn decide(&mut self) -> Finding {
        let was = self.congested;
        self.congested = if was { self.bytes >= self.leave_bytes } else { self.bytes > self.enter_bytes };
        match (was, self.congested) {
            (false, false) => Finding::Clear,
            (false, true) => Finding::Begins,
            (true, true) => Finding::GoesOn,
            (true, false) => Finding::Ends,
        }
    }

    /// The accumulation at the last control packet, in bytes.
    pub(crate) const fn bytes(&self) -> f64 {
        self.bytes
    }

    /// Whether congestion is declared.
    #[cfg(test)]
    pub(crate) const fn is_congested(&self) -> bool {
        self.congested
    }

    /// The current estimate of arrival minus departure without queues, in nanoseconds.
    pub(crate) const fn baseline_ns(&self) -> Option<i64> {
        self.baseline_ns
    }

    fn synchronise(&mut self, transit_ns: i64, residue: f64) {
        self.baseline_ns = Some(transit_ns);
        self.residue = residue;
        self.bytes = residue;
    }
}

/// Maximum number of packets in [`Arrivals`]: more than the maximum of `enter`.
const KEPT: usize = 2048;
