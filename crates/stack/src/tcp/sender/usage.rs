//! How much of the congestion window is used: whether it limits the connection, so that it may grow, and its decay
//! while it is not used \[RFC2861, RFC7661; Linux: tcp_cwnd_validate\].

use contract::{CongestionControl, Cx};
use units::{Bytes, Time};

use super::Sender;

/// The fullest moment of the window in the current round.
#[derive(Clone, Debug, Default)]
pub(super) struct Usage {
    /// Whether the window was full then.
    full: bool,
    /// Otherwise: bytes sent and not acknowledged then.
    maximum: u64,
    /// The round ends when this byte is acknowledged.
    end: u64,
    /// With decay only.
    decay: Option<Box<Decay>>,
}

/// The time in which the window was not used.
#[derive(Clone, Copy, Debug, Default)]
struct Decay {
    /// Most bytes sent and not acknowledged in that time [Linux: snd_cwnd_used].
    used: u64,
    /// When it began [Linux: snd_cwnd_stamp].
    since: Time,
}

impl Usage {
    /// Before the first departure. `decays` means that an unused window shrinks.
    pub(super) fn new(decays: bool) -> Self {
        Self { decay: decays.then(Box::default), ..Self::default() }
    }

    /// An acknowledgement came for which the window may grow, whether or not it did [Linux: tcp_cong_avoid].
    pub(super) fn postpone_decay(&mut self, now: Time) {
        if let Some(decay) = &mut self.decay {
            decay.since = now;
        }
    }

    /// The window has changed, or was used.
    pub(super) fn restart_decay(&mut self, now: Time) {
        if let Some(decay) = &mut self.decay {
            **decay = Decay { used: 0, since: now };
        }
    }
}

impl<C: CongestionControl> Sender<C> {
    /// Whether the window may grow: it was full in this round, or slow start doubles what is used of it
    /// [Linux: tcp_is_cwnd_limited].
    #[inline]
    pub(super) fn is_window_limited(&self) -> bool {
        self.usage.full || self.doubles_usage()
    }

    #[cold]
    fn doubles_usage(&self) -> bool {
        let window = self.limits.window;
        window < self.controller.ssthresh().as_u64() && window < 2 * self.usage.maximum
    }

    /// Called when as much was sent as may be. `full` means that the window has no room for a further segment.
    #[inline]
    pub(super) fn record_usage(&mut self, full: bool, cx: &mut Cx<'_>) {
        let out = self.seq.high - self.seq.una;
        let usage = &mut self.usage;
        if full || self.seq.una >= usage.end || (!usage.full && out > usage.maximum) {
            (usage.full, usage.maximum, usage.end) = (full, out, self.seq.high);
        }
        if self.usage.decay.is_some() {
            self.decay_unused_window(out, cx);
        }
    }

    /// Tells the controller of a window that was not used for a retransmission timeout
    /// [Linux: tcp_cwnd_validate, tcp_cwnd_application_limited].
    #[inline(never)]
    fn decay_unused_window(&mut self, out: u64, cx: &mut Cx<'_>) {
        let now = cx.now();
        if self.is_window_limited() {
            return self.usage.restart_decay(now);
        }
        let rto = self.timer.rtt().rto();
        let quiet = self.recovery.is_clear() && !self.recovery.reducing;
        let Some(decay) = &mut self.usage.decay else { return };
        decay.used = decay.used.max(out);
        if now.saturating_since(decay.since) < rto {
            return;
        }
        let used = Bytes::new(decay.used);
        **decay = Decay { used: 0, since: now };
        if quiet {
            self.controller.on_unused(used, cx);
            self.read_allowance();
        }
    }
}
