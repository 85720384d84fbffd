//! BBR's model of the path: the bottleneck bandwidth and the round-trip time without a queue [BBR00 §4.1].

use contract::Delivery;
use units::{Duration, Time};

use super::super::Params;
use super::Refresh;
use crate::shared::{Rounds, WindowedMax};

/// The model, and the count of rounds.
#[derive(Clone, Debug)]
pub(super) struct Model {
    /// Delivery rates in bit/s of payload, by round.
    rates: WindowedMax,
    /// Rounds whose rates count, besides the current one.
    window: u64,
    /// Rounds [BBR00 §4.1.1.3], and samples that are ignored [BBR00 §4.3.5].
    pub(super) rounds: Rounds,
    /// Minimum round-trip time; `None` before the first.
    pub(super) rtprop: Option<Duration>,
    rtprop_at: Time,
    rtprop_window: Duration,
    refresh: Refresh,
    /// RTprop has expired.
    pub(super) expired: bool,
    // ---- full pipe [BBR00 §4.3.2.2]
    pub(super) filled: bool,
    full_rate: f64,
    full_count: u32,
    full_growth: f64,
    full_rounds: u32,
}

impl Model {
    pub(super) fn new(params: &Params) -> Self {
        Self {
            rates: WindowedMax::new(params.btlbw_rounds + 1),
            window: u64::from(params.btlbw_rounds),
            rounds: Rounds::default(),
            rtprop: None,
            rtprop_at: Time::ZERO,
            rtprop_window: params.rtprop_window,
            refresh: params.rtprop_refresh,
            expired: false,
            filled: false,
            full_rate: 0.0,
            full_count: 0,
            full_growth: params.full_growth,
            full_rounds: params.full_rounds,
        }
    }

    /// BtlBw in bit/s of payload; zero before the first sample.
    pub(super) fn btlbw(&self) -> f64 {
        self.rates.max()
    }

    /// BBRUpdateBtlBw [BBR00 §4.1.1]. Returns whether the sample was app-limited.
    pub(super) fn update_rate(&mut self, delivery: &Delivery) -> bool {
        let app_limited = self.rounds.update(delivery);
        if let Some(rate) = delivery.rate {
            let rate = rate.as_bps_f64();
            // rs.delivery_rate ≥ BBR.BtlBw or not rs.is_app_limited                        [BBR00 §4.1.1.5]
            if rate >= self.btlbw() || !app_limited {
                // the windowed maximum, by rounds                                          [BBR00 §4.1.1.2]
                self.rates.update(rate, self.rounds.count(), self.window + 1);
            }
        }
        app_limited
    }

    /// BBRCheckFullPipe [BBR00 §4.3.2.2].
    pub(super) fn check_full_pipe(&mut self, app_limited: bool) {
        if self.filled || !self.rounds.started() || app_limited {
            return;
        }
        // still growing
        if self.btlbw() >= self.full_rate * self.full_growth {
            self.full_rate = self.btlbw();
            self.full_count = 0;
            return;
        }
        self.full_count += 1;
        self.filled = self.full_count >= self.full_rounds;
    }

    /// The next rate is growth [LINUX: bbr_set_state].
    pub(super) fn restart_growth(&mut self) {
        self.full_rate = 0.0;
        self.rounds.start();
    }

    /// Makes the next rate count as growth, and forgets rounds without growth [LINUX: bbr_undo_cwnd].
    pub(super) fn forget_growth(&mut self) {
        (self.full_rate, self.full_count) = (0.0, 0);
    }

    /// BBRUpdateRTprop [BBR00 §4.1.2.3].
    pub(super) fn update_rtprop(&mut self, rtt: Option<Duration>, now: Time) {
        self.expired = self.rtprop.is_some() && now > self.rtprop_at + self.rtprop_window;
        let Some(rtt) = rtt else { return };
        let renews = |min| rtt < min || (rtt == min && self.refresh == Refresh::Equal);
        if self.expired || self.rtprop.is_none_or(renews) {
            self.rtprop = Some(rtt);
            self.rtprop_at = now;
        }
    }

    /// Renews RTprop after a probe.
    pub(super) fn refresh_rtprop(&mut self, now: Time) {
        self.rtprop_at = now;
    }
}
