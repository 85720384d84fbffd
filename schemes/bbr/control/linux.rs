//! What Linux' BBR has beyond the draft (net/ipv4/tcp_bbr.c of 6.1): windows of whole segments, an allowance for
//! aggregated acknowledgements, and the estimate of token-bucket policers.

use contract::Delivery;
use units::Time;

use super::model::Model;

/// The additional state of `variant = "linux"`. Rates are in bit/s of payload.
#[derive(Clone, Debug)]
pub(super) struct Linux {
    segment: f64,
    /// When the pacer allows the next segment [tcp_wstamp_ns].
    departure: Time,
    // ---- aggregation
    /// Start of the epoch, and segments delivered in it [ack_epoch_mstamp, ack_epoch_acked].
    epoch: Time,
    pub(super) epoch_acked: u64,
    /// Maximum of the segments beyond the expected ones, in the current and the last interval of [`EXTRA_ROUNDS`]
    /// rounds [extra_acked].
    pub(super) extra_acked: [u64; 2],
    /// Rounds of the current interval [extra_acked_win_rtts].
    extra_rounds: u32,
    // ---- policer
    /// Payload declared lost so far [tp->lost].
    lost_total: f64,
    /// An interval is being measured [lt_is_sampling].
    sampling: bool,
    /// Rounds of the interval, or with the policed rate [lt_rtt_cnt].
    interval_rounds: u32,
    /// The interval's start: time, payload delivered, payload lost [lt_last_stamp, lt_last_delivered, lt_last_lost].
    interval: (Time, f64, f64),
    /// The rate of the last interval; zero for none [lt_bw].
    pub(super) policed_bps: f64,
    /// The sender is policed, at that rate [lt_use_bw].
    pub(super) policed: bool,
}

impl Linux {
    pub(super) fn new(segment: f64) -> Self {
        Self {
            segment,
            departure: Time::ZERO,
            epoch: Time::ZERO,
            epoch_acked: 0,
            extra_acked: [0; 2],
            extra_rounds: 0,
            lost_total: 0.0,
            sampling: false,
            interval_rounds: 0,
            interval: (Time::ZERO, 0.0, 0.0),
            policed_bps: 0.0,
            policed: false,
        }
    }

    /// Segments of `bps` in `seconds`.
    fn segments(&self, bps: f64, seconds: f64) -> f64 {
        bps * seconds / (8.0 * self.segment)
    }

    // ---- data in flight, in segments

    /// A bandwidth-delay product times `gain`, rounded up [bbr_bdp].
    pub(super) fn bdp(&self, bps: f64, rtprop: f64, gain: f64) -> u64 {
        self.segments(bps * gain, rtprop).ceil() as u64
    }

    /// The number of segments that leave together [bbr_tso_segs_goal].
    pub(super) fn quantum(&self, pacing_bps: f64) -> u64 {
        let minimum = if pacing_bps < 1.2e6 { 1 } else { 2 };
        // the bytes of 1/1024 s
        let bytes = (pacing_bps / 8.0 / 1024.0).min(LARGEST_QUANTUM);
        ((bytes / self.segment) as u64).clamp(minimum, 127)
    }

    /// Room for data in the hosts, an even number, and a little more to probe with [bbr_quantization_budget].
    pub(super) fn budget(&self, segments: u64, pacing_bps: f64, probing: bool) -> u64 {
        let even = (segments + 3 * self.quantum(pacing_bps)).next_multiple_of(2);
        if probing { even + 2 } else { even }
    }

    /// The data that will be in flight when the next segment may leave [bbr_packets_in_net_at_edt].
    pub(super) fn in_flight_at_departure(
        &self,
        in_flight: f64,
        bps: f64,
        pacing: (f64, f64),
        now: Time,
    ) -> u64 {
        let (gain, pacing_bps) = pacing;
        let delivered = self.segments(bps, self.departure.saturating_since(now).as_secs_f64()).floor() as u64;
        let more = if gain > 1.0 { self.quantum(pacing_bps) } else { 0 };
        ((in_flight / self.segment) as u64 + more).saturating_sub(delivered)
    }

    /// A segment of `bytes` leaves.
    pub(super) fn on_sent(&mut self, bytes: f64, pacing_bps: f64, now: Time) {
        let nanos = (8e9 * bytes / pacing_bps.max(1.0)) as u64;
        self.departure = self.departure.max(now) + units::Duration::from_nanos(nanos);
    }

    // ---- aggregation

    /// Segments that acknowledgements may deliver at once beyond the expected ones [bbr_ack_aggregation_cwnd].
    pub(super) fn aggregation(&self, bps: f64, filled: bool) -> u64 {
        let limit = self.segments(bps, EXTRA_SECONDS) as u64;
        if filled { self.extra_acked[0].max(self.extra_acked[1]).min(limit) } else { 0 }
    }

    /// Measures how many segments are acknowledged beyond those that `bps` would have delivered
    /// [bbr_update_ack_aggregation].
    pub(super) fn update_aggregation(
        &mut self,
        delivery: &Delivery,
        model: &Model,
        window: f64,
        bps: f64,
        now: Time,
    ) {
        if delivery.rate.is_none() {
            return;
        }
        if model.rounds.started() {
            self.extra_rounds += 1;
            if self.extra_rounds >= EXTRA_ROUNDS {
                self.extra_rounds = 0;
                self.extra_acked = [0, self.extra_acked[0]];
            }
        }
        let mut expected = self.segments(bps, now.saturating_since(self.epoch).as_secs_f64()) as u64;
        // at no more than the expected rate, a new epoch begins
        if self.epoch_acked <= expected {
            (self.epoch_acked, self.epoch, expected) = (0, now, 0);
        }
        self.epoch_acked += (delivery.bytes.as_f64() / self.segment) as u64;
        let extra = (self.epoch_acked - expected).min((window / self.segment) as u64);
        self.extra_acked[0] = self.extra_acked[0].max(extra);
    }

    /// A flow resumes after an idle time [bbr_cwnd_event].
    pub(super) fn restart_epoch(&mut self, now: Time) {
        (self.epoch, self.epoch_acked) = (now, 0);
    }

    // ---- policer

    /// `bytes` are lost.
    pub(super) fn note_loss(&mut self, bytes: f64) {
        self.lost_total += bytes;
    }

    /// Looks for a policer: two successive intervals that end with a loss, lose a fifth or more, and have about the
    /// same rate [bbr_lt_bw_sampling]. Returns whether the policed rate has been in use for long enough, so that the
    /// gains cycle again.
    pub(super) fn sample_policer(
        &mut self,
        model: &Model,
        probing_bandwidth: bool,
        losses: bool,
        app_limited: bool,
        now: Time,
    ) -> bool {
        let delivered = model.rounds.delivered() as f64;
        let round = u32::from(model.rounds.started());
        if self.policed {
            if probing_bandwidth {
                self.interval_rounds += round;
                if round > 0 && self.interval_rounds >= POLICED_ROUNDS {
                    self.forget_policer(delivered, now);
                    return true;
                }
            }
            return false;
        }
        if !self.sampling {
            // the first loss: the tokens are used up
            if !losses {
                return false;
            }
            self.begin_interval(delivered, now);
            self.sampling = true;
        }
        if app_limited {
            self.forget_policer(delivered, now);
            return false;
        }
        self.interval_rounds += round;
        if self.interval_rounds < INTERVAL_ROUNDS {
            return false;
        }
        if self.interval_rounds > 4 * INTERVAL_ROUNDS {
            self.forget_policer(delivered, now);
            return false;
        }
        let (since, delivered_before, lost_before) = self.interval;
        let (delivered_since, lost) = (delivered - delivered_before, self.lost_total - lost_before);
        // it ends with a loss, when the tokens are used up again
        if !losses || delivered_since <= 0.0 || lost * 256.0 < LOSS_THRESHOLD * delivered_since {
            return false;
        }
        // in whole milliseconds
        let millis = now.as_nanos() / 1_000_000 - since.as_nanos() / 1_000_000;
        if millis >= 1 {
            self.end_interval(8e3 * delivered_since / millis as f64, delivered, now);
        }
        false
    }

    /// [bbr_lt_bw_interval_done]
    fn end_interval(&mut self, bps: f64, delivered: f64, now: Time) {
        let difference = (bps - self.policed_bps).abs();
        if self.policed_bps > 0.0 && (difference * 8.0 <= self.policed_bps || 0.99 * difference <= SAME_BPS) {
            self.policed_bps = f64::midpoint(bps, self.policed_bps);
            (self.policed, self.interval_rounds) = (true, 0);
            return;
        }
        self.policed_bps = bps;
        self.begin_interval(delivered, now);
    }

    /// [bbr_reset_lt_bw_sampling_interval]
    fn begin_interval(&mut self, delivered: f64, now: Time) {
        self.interval = (now, delivered, self.lost_total);
        self.interval_rounds = 0;
    }

    /// [bbr_reset_lt_bw_sampling]
    pub(super) fn forget_policer(&mut self, delivered: f64, now: Time) {
        (self.policed_bps, self.policed, self.sampling) = (0.0, false, false);
        self.begin_interval(delivered, now);
    }
}

/// Maximum bytes of a quantum [GSO_LEGACY_MAX_SIZE − 1 − MAX_TCP_HEADER].
const LARGEST_QUANTUM: f64 = 65_536.0 - 1.0 - 320.0;
/// Rounds of an interval of aggregation [bbr_extra_acked_win_rtts].
const EXTRA_ROUNDS: u32 = 5;
/// Time whose delivery limits the allowance for aggregation [bbr_extra_acked_max_us].
const EXTRA_SECONDS: f64 = 0.1;
/// Minimum rounds of an interval [bbr_lt_intvl_min_rtts].
const INTERVAL_ROUNDS: u32 = 4;
/// Lost over delivered payload of a policed interval, in parts of 256 [bbr_lt_loss_thresh].
const LOSS_THRESHOLD: f64 = 50.0;
/// Rates with this difference are the same [bbr_lt_bw_diff].
const SAME_BPS: f64 = 4000.0;
/// Rounds with the policed rate [bbr_lt_bw_max_rtts].
const POLICED_ROUNDS: u32 = 48;
