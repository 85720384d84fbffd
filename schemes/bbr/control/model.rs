//! BBR's model of the path: the bottleneck bandwidth and the round-trip time without a queue [BBR00 §4.1].

use std::collections::VecDeque;

use contract::Delivery;
use units::{Duration, Time};

use super::super::Params;
use super::Refresh;

/// The model, and the count of rounds.
#[derive(Clone, Debug)]
pub(super) struct Model {
    /// Candidates for the windowed maximum: round and rate in bit/s of payload, in decreasing order of rate.
    rates: VecDeque<(u64, f64)>,
    rounds: u64,
    /// Rounds so far [BBR00 §4.1.1.3].
    pub(super) round: u64,
    /// Whether the present acknowledgement starts a round.
    pub(super) round_start: bool,
    /// The round ends with a packet that was sent when at least this was delivered.
    next_round: u64,
    /// Payload delivered so far.
    pub(super) delivered: u64,
    /// Samples of packets sent between these counts of delivered payload are ignored [BBR00 §4.3.5].
    ignored: Option<(u64, u64)>,
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
            rates: VecDeque::with_capacity(params.btlbw_rounds as usize + 2),
            rounds: u64::from(params.btlbw_rounds),
            round: 0,
            round_start: false,
            next_round: 0,
            delivered: 0,
            ignored: None,
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
        self.rates.front().map_or(0.0, |(_, rate)| *rate)
    }

    /// A new round begins now.
    pub(super) fn begin_round(&mut self) {
        self.next_round = self.delivered;
    }

    /// Ignores samples of data that are in flight now or were sent before.
    pub(super) fn ignore(&mut self, in_flight: u64) {
        let from =
            self.ignored.map_or(
                self.delivered,
                |(from, until)| {
                    if until >= self.delivered { from } else { self.delivered }
                },
            );
        self.ignored = Some((from, self.delivered + in_flight));
    }

    /// BBRUpdateBtlBw [BBR00 §4.1.1]. Returns whether the sample was app-limited.
    pub(super) fn update_rate(&mut self, delivery: &Delivery) -> bool {
        // BBRUpdateRound: packet.delivered ≥ BBR.next_round_delivered                      [BBR00 §4.1.1.3]
        self.delivered = delivery.total.as_u64();
        let when_sent = delivery.total_when_sent.as_u64();
        self.round_start = when_sent >= self.next_round;
        if self.round_start {
            self.begin_round();
            self.round += 1;
        }
        let ignored = self.ignored.is_some_and(|(from, until)| (from..=until).contains(&when_sent));
        let app_limited = delivery.app_limited || ignored;
        if let Some(rate) = delivery.rate {
            let rate = rate.as_bps_f64();
            // rs.delivery_rate ≥ BBR.BtlBw or not rs.is_app_limited                        [BBR00 §4.1.1.5]
            if rate >= self.btlbw() || !app_limited {
                self.take_rate(rate);
            }
        }
        app_limited
    }

    /// The windowed maximum, by rounds [BBR00 §4.1.1.2].
    fn take_rate(&mut self, rate: f64) {
        while self.rates.back().is_some_and(|(_, smaller)| *smaller <= rate) {
            self.rates.pop_back();
        }
        self.rates.push_back((self.round, rate));
        while self.rates.front().is_some_and(|(round, _)| self.round - round > self.rounds) {
            self.rates.pop_front();
        }
    }

    /// BBRCheckFullPipe [BBR00 §4.3.2.2].
    pub(super) fn check_full_pipe(&mut self, app_limited: bool) {
        if self.filled || !self.round_start || app_limited {
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
