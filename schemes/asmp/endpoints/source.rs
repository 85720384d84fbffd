//! ASMP at the source: follows the lowest reported rate, smoothly.

use contract::{Allowance, Count, Cx, EndpointId, Feedback, Label, OutgoingPacket, SenderAlgorithm};
use units::{Duration, Rate, Time};

use super::headers::{BYE, DataHeader, Echo, Report};
use crate::asmp::Params;

/// The source's part [ASMP]. It stores one row per active receiver.
#[derive(Clone, Debug)]
pub struct Sender {
    params: Box<Params>,
    /// Rate, in bit/s.
    rate: f64,
    /// Active receivers, sorted by id.
    receivers: Vec<ReceiverState>,
    /// Index of the receiver whose report was echoed last.
    echo_index: usize,
    /// Mean time between the reports of a receiver.
    interval: Duration,
    started_at: Time,
    /// When the last report arrived, or the rate was last halved without one.
    calm_since: Time,
}

/// The last report of a receiver.
#[derive(Clone, Copy, Debug)]
struct ReceiverState {
    endpoint: EndpointId,
    rate: f64,
    /// Time of the report, by the receiver's clock.
    reported_at: Time,
    arrived_at: Time,
}

impl Sender {
    /// A source.
    pub(crate) fn new(params: &Params) -> Self {
        let mut algorithm = Self {
            rate: 0.0,
            receivers: Vec::new(),
            echo_index: 0,
            interval: params.interval,
            started_at: Time::NEVER,
            calm_since: Time::NEVER,
            params: Box::new(params.clone()),
        };
        algorithm.set_rate(params.initial_rate.as_bps_f64());
        algorithm
    }

    /// Number of active receivers.
    #[cfg(test)]
    pub(crate) fn receivers(&self) -> usize {
        self.receivers.len()
    }

    fn set_rate(&mut self, rate: f64) {
        self.rate = rate.min(self.params.max_rate.as_bps_f64()).max(self.params.min_rate.as_bps_f64());
    }

    /// Divides the rate of reports among the active receivers.
    fn share(&mut self) {
        // T = max(T_min, n·8·size / (share·session))                                [RFC3550 §6.2]
        let bits = self.receivers.len() as f64 * self.params.report_size.as_f64() * 8.0;
        let rate = self.params.report_share * self.params.session.as_bps_f64();
        self.interval = self.params.interval.max(Duration::from_secs_f64(bits / rate).min(LONGEST_INTERVAL));
    }

    fn receiver_timeout(&self) -> Duration {
        self.interval * u64::from(self.params.timeout_intervals)
    }

    /// Stores a report. Returns false if a later one of the same receiver is stored.
    fn store(&mut self, state: ReceiverState) -> bool {
        match self.receivers.binary_search_by_key(&state.endpoint, |row| row.endpoint) {
            Ok(at) if self.receivers[at].reported_at > state.reported_at => return false,
            Ok(at) => self.receivers[at] = state,
            Err(at) => self.receivers.insert(at, state),
        }
        let receiver_timeout = self.receiver_timeout();
        self.receivers.retain(|row| state.arrived_at - row.arrived_at <= receiver_timeout);
        self.share();
        true
    }

    /// Removes a receiver that leaves.
    fn forget(&mut self, endpoint: EndpointId, cx: &mut Cx<'_>) {
        match self.receivers.binary_search_by_key(&endpoint, |row| row.endpoint) {
            Ok(at) => {
                self.receivers.remove(at);
                self.share();
            }
            Err(_) => cx.count(Count::Ignored, 1),
        }
    }

    fn nofeedback_at(&self) -> Time {
        self.calm_since + self.receiver_timeout()
    }
}

impl SenderAlgorithm for Sender {
    fn on_feedback(&mut self, feedback: &Feedback, cx: &mut Cx<'_>) {
        let now = cx.now();
        if feedback.label == BYE {
            return self.forget(feedback.from, cx);
        }
        let is_plausible = |it: &Report| it.lsr >= self.started_at && it.lsr + it.dlsr <= now;
        let Some(report) = Report::decode(feedback.label).filter(is_plausible) else {
            cx.count(Count::Ignored, 1);
            return;
        };
        let state = ReceiverState {
            endpoint: feedback.from,
            rate: report.rate,
            reported_at: feedback.sent_at,
            arrived_at: now,
        };
        if !self.store(state) {
            cx.count(Count::Ignored, 1);
            return;
        }
        // RTT = now − LSR − DLSR                                                    [RFC3550 §6.4.1]
        cx.measured_rtt(now - (report.lsr + report.dlsr));
        self.calm_since = now;

        // R ← σR + (1 − σ)·X_min
        let min = self.receivers.iter().fold(f64::INFINITY, |min, row| min.min(row.rate));
        let smoothness = if min < self.rate {
            cx.count(Count::Episodes, 1);
            self.params.smooth_down
        } else {
            self.params.smooth_up
        };
        self.set_rate(smoothness * self.rate + (1.0 - smoothness) * min);
        cx.probe("min_reported_rate", min);
        cx.probe("report_interval", self.interval.as_secs_f64());
    }

    #[inline]
    fn allowance(&self) -> Allowance {
        Allowance::rate(Rate::from_bps_f64(self.rate))
    }

    fn on_start(&mut self, cx: &mut Cx<'_>) {
        self.started_at = cx.now();
        self.calm_since = cx.now();
    }

    #[inline]
    fn stamp(&mut self, _sending: &OutgoingPacket, cx: &mut Cx<'_>) -> Label {
        self.echo_index = if self.echo_index + 1 < self.receivers.len() { self.echo_index + 1 } else { 0 };
        let echo = self.receivers.get(self.echo_index).map(|row| Echo {
            to: row.endpoint,
            reported_at: row.reported_at,
            dlsr: cx.now() - row.arrived_at,
        });
        DataHeader { rate: Rate::from_bps_f64(self.rate), interval: self.interval, echo }.encode()
    }

    fn on_timer(&mut self, cx: &mut Cx<'_>) {
        if self.nofeedback_at() <= cx.now() {
            self.receivers.clear();
            self.share();
            self.calm_since = cx.now();
            self.set_rate(self.rate / 2.0);
            cx.count(Count::Episodes, 1);
            cx.event("silence", self.rate);
        }
    }

    #[inline]
    fn wake(&self) -> Time {
        self.nofeedback_at()
    }
}

/// Maximum interval that a data packet can announce: 2³² − 1 µs.
const LONGEST_INTERVAL: Duration = Duration::from_micros(u32::MAX as u64);
