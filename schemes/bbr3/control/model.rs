//! BBRv3's model of the path [BBR06 §5.5]: bandwidth, round-trip time, aggregation of acknowledgements, and the bounds
//! that losses set.
//!
//! Volumes are in bytes of payload, rates in bytes of payload per second. Names are as in the draft.

use contract::Delivery;
use units::{Duration, Time};

use super::super::Params;
use crate::shared::{Rounds, WindowedMax};

/// The rate sample RS of an acknowledgement [BBR06 §2.3].
#[derive(Clone, Copy, Debug)]
pub(super) struct Sample {
    /// RS.delivery_rate; `None` without a valid sample.
    pub(super) rate: Option<f64>,
    pub(super) delivered: f64,
    /// RS.prior_delivered.
    prior_delivered: u64,
    pub(super) newly_acked: f64,
    pub(super) app_limited: bool,
    pub(super) lost: f64,
    pub(super) tx_in_flight: f64,
    pub(super) rtt: Option<Duration>,
    /// C.inflight.
    pub(super) in_flight: f64,
    /// C.delivered.
    pub(super) total: f64,
}

impl Sample {
    /// RS.delivery_rate, zero without a valid sample [BBR06 §4.1.2.3: InitRateSample].
    pub(super) fn delivery_rate(&self) -> f64 {
        self.rate.unwrap_or(0.0)
    }
}

/// The model, and the count of rounds.
#[derive(Clone, Debug)]
pub(super) struct Model {
    /// Rounds [BBR06 §5.5.1], and samples that count as application-limited because BBR limited itself
    /// [BBR06 §5.3.4.3].
    pub(super) rounds: Rounds,

    // ---- rates
    /// max_bw_filter, by cycle.
    bandwidths: WindowedMax,
    /// cycle_count.
    cycles: u64,
    pub(super) bw: f64,
    pub(super) bw_shortterm: f64,
    bw_latest: f64,

    // ---- volumes
    pub(super) inflight_shortterm: f64,
    pub(super) inflight_longterm: f64,
    pub(super) inflight_latest: f64,

    // ---- losses
    /// loss_round_delivered.
    loss_round_end: u64,
    pub(super) loss_round_start: bool,
    pub(super) loss_in_round: bool,

    // ---- round-trip times; `None` before the first
    pub(super) min_rtt: Option<Duration>,
    min_rtt_stamp: Time,
    min_rtt_window: Duration,
    probe_rtt_min_delay: Option<Duration>,
    probe_rtt_min_stamp: Time,
    probe_rtt_interval: Duration,
    pub(super) probe_rtt_expired: bool,

    // ---- aggregation
    extra_acked: WindowedMax,
    extra_acked_rounds: u64,
    extra_acked_start: Time,
    extra_acked_delivered: f64,

    // ---- full pipe
    pub(super) full_bw_reached: bool,
    pub(super) full_bw_now: bool,
    full_bw: f64,
    full_bw_count: u32,
    full_growth: f64,
    full_rounds: u32,
}

impl Model {
    /// OnInit [BBR06 §5.2.1]; its times are set by [`Model::start`].
    pub(super) fn new(params: &Params) -> Self {
        Self {
            rounds: Rounds::default(),
            bandwidths: WindowedMax::new(MAX_BW_FILTER_LEN as u32),
            cycles: 0,
            bw: 0.0,
            bw_shortterm: f64::INFINITY,
            bw_latest: 0.0,
            inflight_shortterm: f64::INFINITY,
            inflight_longterm: f64::INFINITY,
            inflight_latest: 0.0,
            loss_round_end: 0,
            loss_round_start: false,
            loss_in_round: false,
            min_rtt: None,
            min_rtt_stamp: Time::ZERO,
            min_rtt_window: params.min_rtt_window,
            probe_rtt_min_delay: None,
            probe_rtt_min_stamp: Time::ZERO,
            probe_rtt_interval: params.probe_rtt_interval,
            probe_rtt_expired: false,
            extra_acked: WindowedMax::new(params.extra_acked_rounds),
            extra_acked_rounds: u64::from(params.extra_acked_rounds),
            extra_acked_start: Time::ZERO,
            extra_acked_delivered: 0.0,
            full_bw_reached: false,
            full_bw_now: false,
            full_bw: 0.0,
            full_bw_count: 0,
            full_growth: params.full_growth,
            full_rounds: params.full_rounds,
        }
    }

    /// The connection begins [BBR06 §5.2.1: OnInit].
    pub(super) fn start(&mut self, now: Time) {
        (self.min_rtt_stamp, self.probe_rtt_min_stamp, self.extra_acked_start) = (now, now, now);
    }

    /// max_bw, zero before the first sample.
    pub(super) fn max_bw(&self) -> f64 {
        self.bandwidths.max()
    }

    /// extra_acked, zero before the first sample.
    pub(super) fn extra_acked(&self) -> f64 {
        self.extra_acked.max()
    }

    /// The sample of an acknowledgement. Counts rounds [BBR06 §5.5.1: UpdateRound].
    pub(super) fn sample(&mut self, delivery: &Delivery) -> Sample {
        let app_limited = self.rounds.update(delivery);
        Sample {
            rate: delivery.rate.map(|rate| rate.as_bps_f64() / 8.0),
            delivered: delivery.total.saturating_sub(delivery.total_when_sent).as_f64(),
            prior_delivered: delivery.total_when_sent.as_u64(),
            newly_acked: delivery.bytes.as_f64(),
            app_limited,
            lost: delivery.lost.as_f64(),
            tx_in_flight: delivery.in_flight_when_sent.as_f64(),
            rtt: delivery.rtt,
            in_flight: delivery.in_flight.as_f64(),
            total: delivery.total.as_f64(),
        }
    }

    // ---- rates

    /// UpdateLatestDeliverySignals [BBR06 §5.5.10.3].
    pub(super) fn update_latest(&mut self, sample: &Sample) {
        self.bw_latest = self.bw_latest.max(sample.delivery_rate());
        self.inflight_latest = self.inflight_latest.max(sample.delivered);
        self.loss_round_start = sample.prior_delivered >= self.loss_round_end;
        if self.loss_round_start {
            self.loss_round_end = self.rounds.delivered();
        }
    }

    /// AdvanceLatestDeliverySignals [BBR06 §5.5.10.3].
    pub(super) fn advance_latest(&mut self, sample: &Sample) {
        if self.loss_round_start {
            (self.bw_latest, self.inflight_latest) = (sample.delivery_rate(), sample.delivered);
        }
    }

    /// UpdateMaxBw [BBR06 §5.5.5].
    pub(super) fn update_max_bw(&mut self, sample: &Sample) {
        if let Some(rate) = sample.rate
            && rate > 0.0
            && (rate >= self.max_bw() || !sample.app_limited)
        {
            self.bandwidths.update(rate, self.cycles, MAX_BW_FILTER_LEN);
        }
    }

    /// AdvanceMaxBwFilter [BBR06 §5.5.6].
    pub(super) fn advance_max_bw_filter(&mut self) {
        self.cycles += 1;
    }

    /// BoundBWForModel [BBR06 §5.5.10.3].
    pub(super) fn bound_bw(&mut self) {
        self.bw = self.max_bw().min(self.bw_shortterm);
    }

    // ---- losses

    /// NoteLoss [BBR06 §5.5.10.2]. Returns whether it is the first loss of the round.
    pub(super) fn note_loss(&mut self) -> bool {
        let first = !std::mem::replace(&mut self.loss_in_round, true);
        if first {
            self.loss_round_end = self.rounds.delivered();
        }
        first
    }

    /// InitLowerBounds and LossLowerBounds, with the window `cwnd` [BBR06 §5.5.10.3].
    pub(super) fn lower_bounds(&mut self, beta: f64, cwnd: f64) {
        if self.bw_shortterm == f64::INFINITY {
            self.bw_shortterm = self.max_bw();
        }
        if self.inflight_shortterm == f64::INFINITY {
            self.inflight_shortterm = cwnd;
        }
        // bw_shortterm = max(bw_latest, Beta·bw_shortterm), and inflight_shortterm in the same way
        self.bw_shortterm = self.bw_latest.max(beta * self.bw_shortterm);
        self.inflight_shortterm = self.inflight_latest.max(beta * self.inflight_shortterm);
    }

    /// ResetShortTermModel [BBR06 §5.5.10.3].
    pub(super) fn reset_shortterm(&mut self) {
        (self.bw_shortterm, self.inflight_shortterm) = (f64::INFINITY, f64::INFINITY);
    }

    /// ResetCongestionSignals [BBR06 §5.5.10.3].
    pub(super) fn reset_congestion_signals(&mut self) {
        self.loss_in_round = false;
        (self.bw_latest, self.inflight_latest) = (0.0, 0.0);
    }

    // ---- full pipe

    /// ResetFullBW, with the baseline `full_bw` [BBR06 §5.3.1.2].
    pub(super) fn reset_full_bw(&mut self, full_bw: f64) {
        (self.full_bw, self.full_bw_count, self.full_bw_now) = (full_bw, 0, false);
    }

    /// CheckFullBWReached [BBR06 §5.3.1.2].
    pub(super) fn check_full_bw(&mut self, sample: &Sample) {
        if self.full_bw_now || !self.rounds.started() || sample.app_limited {
            return;
        }
        // differs: a round whose first acknowledgement has no valid sample says nothing
        let Some(rate) = sample.rate else { return };
        if rate >= self.full_bw * self.full_growth {
            // still growing: a new baseline
            return self.reset_full_bw(rate);
        }
        self.full_bw_count += 1;
        self.full_bw_now = self.full_bw_count >= self.full_rounds;
        self.full_bw_reached |= self.full_bw_now;
    }

    // ---- round-trip times

    /// Takes the round-trip time of the handshake as the first one of the connection [BBR06 §5.2.1: min_rtt = C.srtt].
    pub(super) fn set_first_rtt(&mut self, rtt: Duration) {
        self.min_rtt = Some(rtt);
    }

    /// UpdateMinRTT [BBR06 §5.3.4.3].
    pub(super) fn update_min_rtt(&mut self, rtt: Option<Duration>, now: Time) {
        self.probe_rtt_expired = now > self.probe_rtt_min_stamp + self.probe_rtt_interval;
        if let Some(rtt) = rtt
            && (self.probe_rtt_expired || self.probe_rtt_min_delay.is_none_or(|min| rtt < min))
        {
            (self.probe_rtt_min_delay, self.probe_rtt_min_stamp) = (Some(rtt), now);
        }
        let expired = now > self.min_rtt_stamp + self.min_rtt_window;
        if let Some(delay) = self.probe_rtt_min_delay
            && (expired || self.min_rtt.is_none_or(|min| delay < min))
        {
            (self.min_rtt, self.min_rtt_stamp) = (Some(delay), self.probe_rtt_min_stamp);
        }
    }

    /// The round-trip time was probed: the next probe is due an interval later [BBR06 §5.3.4.3: CheckProbeRTTDone].
    pub(super) fn schedule_probe_rtt(&mut self, now: Time) {
        self.probe_rtt_min_stamp = now;
    }

    // ---- aggregation

    /// The interval of aggregation begins again, after an idle time [BBR06 §5.4.1].
    pub(super) fn restart_aggregation(&mut self, now: Time) {
        self.extra_acked_start = now;
    }

    /// UpdateACKAggregation, with the window `cwnd` [BBR06 §5.5.9].
    pub(super) fn update_aggregation(&mut self, newly_acked: f64, cwnd: f64, now: Time) {
        // expected_delivered = bw·interval
        let mut expected = self.bw * now.saturating_since(self.extra_acked_start).as_secs_f64();
        if self.extra_acked_delivered <= expected {
            self.extra_acked_delivered = 0.0;
            self.extra_acked_start = now;
            expected = 0.0;
        }
        self.extra_acked_delivered += newly_acked;
        let extra = (self.extra_acked_delivered - expected).min(cwnd);
        let window = if self.full_bw_reached { self.extra_acked_rounds } else { 1 };
        self.extra_acked.update(extra, self.rounds.count(), window);
    }
}

/// MaxBwFilterLen: the current cycle of bandwidth probes and the one before it [BBR06 §2.11].
const MAX_BW_FILTER_LEN: u64 = 2;
