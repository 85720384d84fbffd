//! TFRC at the sender: the rate of the throughput equation, limited to twice the receive rate.

use contract::{Allowance, Count, Cx, Feedback, Label, OutgoingPacket, SenderAlgorithm};
use units::{Bytes, Duration, Rate, Time};

use super::headers::{Header, Report};
use super::limited::Limited;
use super::receive_rates::ReceiveRates;
use super::sizes::Sizes;
use crate::shared::tcp_friendly_rate;
use crate::tfrc::Params;

/// The source's part [RFC5348 §4].
#[derive(Clone, Debug)]
pub struct Sender {
    params: Box<Params>,
    /// s, at the last report.
    packet: Bytes,
    sizes: Sizes,
    /// X, in bit/s.
    rate: f64,
    /// X_inst/X: the damping factor of the rate.
    damping: f64,
    /// The path according to the reports; `None` before the first.
    path: Option<Path>,
    received: ReceiveRates,
    limited: Limited,
    started_at: Time,
    /// When the last packet left.
    sent_at: Option<Time>,
    /// The application had no further data after it.
    idle: bool,
    /// Nofeedback timer: its start and expiry.
    timer: (Time, Time),
}

/// The path, from the first report on.
#[derive(Clone, Copy, Debug)]
struct Path {
    /// R, in seconds.
    rtt_s: f64,
    /// R_sqmean, in square roots of seconds.
    root_mean: f64,
    /// p.
    loss: f64,
    /// tld: when the rate was last doubled.
    doubled_at: Time,
}

impl Sender {
    /// A source of packets with the maximum size `packet`.
    pub(crate) fn new(params: &Params, packet: Bytes) -> Self {
        Self {
            packet,
            // one packet per second                                               [RFC5348 §4.2]
            rate: packet.as_f64() * 8.0,
            sizes: Sizes::new(params.size_intervals),
            damping: 1.0,
            path: None,
            received: ReceiveRates::new(Time::ZERO),
            limited: Limited::new(),
            started_at: Time::ZERO,
            sent_at: None,
            idle: false,
            timer: (Time::ZERO, Time::NEVER),
            params: Box::new(params.clone()),
        }
    }

    /// s, in bits.
    fn packet_bits(&self) -> f64 {
        self.packet.as_f64() * 8.0
    }

    /// R, in seconds.
    #[cfg(test)]
    pub(crate) fn rtt_s(&self) -> Option<f64> {
        self.path.map(|path| path.rtt_s)
    }

    /// X, in bit/s.
    #[cfg(test)]
    pub(crate) const fn rate(&self) -> f64 {
        self.rate
    }

    /// The minimum rate s/t_mbi.
    fn min(&self) -> f64 {
        self.packet_bits() / self.params.t_mbi.as_secs_f64()
    }

    /// W_init/R: the rate of an initial window per round-trip time.
    fn initial(&self, rtt_s: f64) -> f64 {
        // W_init = min(4·s, max(2·s, 4380))                                       [RFC5348 §4.2]
        let s = self.packet.as_f64();
        let window = (4.0 * s).min((2.0 * s).max(self.params.initial_window.as_f64()));
        window * 8.0 / rtt_s
    }

    /// X_Bps, in bit/s; infinite while p = 0.
    fn equation(&self, path: &Path) -> f64 {
        tcp_friendly_rate(self.packet, path.rtt_s, path.loss)
    }

    /// Step 4 of the reaction to feedback, without its first lines: the rate with the limit `limit`.
    fn recalculate(&mut self, limit: f64, now: Time) {
        let Some(mut path) = self.path else { return };
        if path.loss > 0.0 {
            // X = max(min(X_Bps, recv_limit), s/t_mbi)                            [RFC5348 §4.3]
            self.rate = self.equation(&path).min(limit).max(self.min());
        } else if now.saturating_since(path.doubled_at).as_secs_f64() >= path.rtt_s {
            // X = max(min(2X, recv_limit), initial_rate)
            self.rate = (2.0 * self.rate).min(limit).max(self.initial(path.rtt_s));
            path.doubled_at = now;
            self.path = Some(path);
        }
    }

    /// Updates s by the mean size of packets [RFC5348 §4.1].
    fn measure_size(&mut self) {
        if let (true, Some(mean)) = (self.params.mean_size, self.sizes.mean()) {
            self.packet = mean.max(Bytes::new(1));
        }
    }

    /// Halves the limit by the receive rate, which becomes `timer_limit` [RFC5348 §4.4].
    fn update_limits(&mut self, timer_limit: f64, now: Time) {
        let timer_limit = timer_limit.max(self.min());
        self.received.replace(timer_limit / 2.0, now);
        self.recalculate(timer_limit, now);
    }

    /// Duration of the nofeedback timer.
    fn timeout(&self) -> Duration {
        self.path.map_or(self.params.first_timer, |path| {
            // RTO = max(4R, 2s/X)                                                 [RFC5348 §4.3]
            let packets_s = 2.0 * self.packet_bits() / self.rate;
            Duration::from_secs_f64((self.params.timer_rtts * path.rtt_s).max(packets_s))
        })
    }

    /// Restarts the nofeedback timer.
    fn restart(&mut self, now: Time, timeout: Duration) {
        self.timer = (now, now + timeout);
    }

    /// The nofeedback timer expired [RFC5348 §4.4].
    fn on_nofeedback_timer(&mut self, cx: &mut Cx<'_>) {
        let now = cx.now();
        let idle = self.sent_at.is_none_or(|at| at < self.timer.0);
        let before = self.rate;
        let halved = (self.rate / 2.0).max(self.min());
        let received = self.received.max();
        match self.path {
            None if !idle => self.rate = halved,
            None => {}
            Some(path) => {
                // a sender that was idle all the time does not fall below the initial rate
                let recover = self.initial(path.rtt_s);
                let low = if path.loss > 0.0 { received < recover } else { self.rate < 2.0 * recover };
                let equation = self.equation(&path);
                if idle && low {
                    // no change
                } else if path.loss == 0.0 {
                    self.rate = halved;
                } else if equation > 2.0 * received {
                    self.update_limits(received, now);
                } else {
                    self.update_limits(equation / 2.0, now);
                }
            }
        }
        if self.rate < before {
            cx.count(Count::Timeouts, 1);
        }
        self.restart(now, self.timeout());
    }

    /// Records that the application did not limit the stream at the last departure, unless it had no further data.
    fn note_busy(&mut self) {
        if let Some(at) = self.sent_at.filter(|_| !self.idle) {
            self.limited.busy(at);
        }
    }
}

impl SenderAlgorithm for Sender {
    fn on_feedback(&mut self, feedback: &Feedback, cx: &mut Cx<'_>) {
        let now = cx.now();
        let report = Report::decode(feedback.label).filter(|report| {
            // about a packet that this source has sent, with a plausible hold time
            report.sent_at >= self.started_at && report.sent_at + report.t_delay <= now
        });
        let Some(report) = report else {
            cx.count(Count::Ignored, 1);
            return;
        };
        // R_sample = (t_now − t_recvdata) − t_delay                               [RFC5348 §4.3]
        let sample = (now - (report.sent_at + report.t_delay)).max(SHORTEST_RTT);
        cx.measured_rtt(sample);
        let sample_s = sample.as_secs_f64();
        self.note_busy();
        self.measure_size();
        let data_limited = self.limited.on_feedback(report.sent_at, now);
        let Some(before) = self.path else {
            let root = sample_s.sqrt();
            self.path = Some(Path { rtt_s: sample_s, root_mean: root, loss: report.loss, doubled_at: now });
            let timeout = self.timeout();
            // the first report: X = W_init/R; tld = now                           [RFC5348 §4.2]
            self.rate = self.initial(sample_s);
            self.restart(now, timeout);
            return;
        };
        // R = q·R + (1 − q)·R_sample
        let rtt_s = self.params.q * before.rtt_s + (1.0 - self.params.q) * sample_s;
        self.path = Some(Path { rtt_s, loss: report.loss, ..before });
        let rtt = Duration::from_secs_f64(rtt_s);
        let timeout = self.timeout();
        let mut received = report.received_bps as f64;
        let worse = report.loss > before.loss;
        if worse {
            cx.count(Count::Episodes, 1);
            self.sizes.lost();
        }
        let limit = if data_limited && worse {
            self.received.halve();
            received *= self.params.limited_keep;
            self.received.maximize(received, now);
            self.received.max()
        } else if data_limited {
            self.received.maximize(received, now);
            2.0 * self.received.max()
        } else {
            self.received.update(received, now, rtt);
            2.0 * self.received.max()
        };
        self.recalculate(limit, now);
        if self.params.damping {
            // R_sqmean = q2·R_sqmean + (1 − q2)·√R_sample; X_inst = X·R_sqmean/√R_sample   [RFC5348 §4.5]
            let root = sample_s.sqrt();
            let root_mean = self.params.q2 * before.root_mean + (1.0 - self.params.q2) * root;
            self.damping = root_mean / root;
            if let Some(path) = &mut self.path {
                path.root_mean = root_mean;
            }
        }
        self.restart(now, timeout);
        if cx.probing() {
            cx.probe("srtt", rtt_s);
            cx.probe("receive_limit", limit);
            if let Some(path) = self.path.filter(|path| path.loss > 0.0) {
                cx.probe("equation_rate", self.equation(&path));
            }
        }
    }

    #[inline]
    fn allowance(&self) -> Allowance {
        Allowance::rate(Rate::from_bps_f64((self.rate * self.damping).max(self.min())))
    }

    fn on_start(&mut self, cx: &mut Cx<'_>) {
        self.started_at = cx.now();
        self.received = ReceiveRates::new(cx.now());
        self.restart(cx.now(), self.timeout());
    }

    #[inline]
    fn stamp(&mut self, sending: &OutgoingPacket, cx: &mut Cx<'_>) -> Label {
        let now = cx.now();
        self.note_busy();
        self.sizes.sent(sending.size);
        self.sent_at = Some(now);
        self.idle = false;
        let rtt = self.path.map(|path| Duration::from_secs_f64(path.rtt_s));
        Header { sent_at: now, rtt }.encode()
    }

    fn on_idle(&mut self, _cx: &mut Cx<'_>) {
        self.idle = true;
    }

    fn on_timer(&mut self, cx: &mut Cx<'_>) {
        if self.timer.1 <= cx.now() {
            self.on_nofeedback_timer(cx);
        }
    }

    #[inline]
    fn wake(&self) -> Time {
        self.timer.1
    }
}

/// Minimum round-trip time, so that rates are finite.
const SHORTEST_RTT: Duration = Duration::from_micros(1);
