//! ASMP at a receiver: computes the rate of TCP on its path, and reports it at random intervals.

use contract::{Arrival, Count, Gap, ReceiverAlgorithm, ReceiverCx};
use units::{Bytes, Duration, Rate, Time};

use super::headers::{BYE, DataHeader, Echo, Report};
use super::loss::{Loss, Path};
use crate::asmp::{Calibration, Params};
use crate::shared::tcp_friendly_rate;

/// The receiver's part [ASMP]. Constant state, one timer.
#[derive(Clone, Debug)]
pub struct Receiver {
    params: Box<Params>,
    packet: Bytes,
    loss: Loss,
    /// Smoothed one-way delay, in seconds.
    delay: Option<f64>,
    /// a in RTT = (1 + a)·owd.
    factor: f64,
    newest: Option<Newest>,
    /// One above the highest number at the last report.
    reported_next: u64,
    reported_at: Time,
    next_report: Time,
}

/// The newest data packet, and its content.
#[derive(Clone, Copy, Debug)]
struct Newest {
    /// One above the highest number received.
    next: u64,
    sent_at: Time,
    arrived_at: Time,
    rate: Rate,
    interval: Duration,
}

impl Receiver {
    /// A receiver of packets of size `packet`.
    pub(crate) fn new(params: &Params, packet: Bytes) -> Self {
        Self {
            packet,
            loss: Loss::new(params),
            delay: None,
            factor: params.factor,
            newest: None,
            reported_next: 0,
            reported_at: Time::ZERO,
            next_report: Time::NEVER,
            params: Box::new(params.clone()),
        }
    }

    /// Round-trip time inferred from the one-way delay, in seconds; `None` before the first packet.
    pub(crate) fn rtt(&self) -> Option<f64> {
        // RTT = (1 + a)·owd
        self.delay.map(|delay| ((1.0 + self.factor) * delay).max(SHORTEST_RTT_S))
    }

    /// Updates the factor by a packet with one-way delay `owd` that echoes a report of this receiver.
    fn calibrate(&mut self, echo: &Echo, owd: Duration, cx: &mut ReceiverCx<'_, '_>) {
        let elapsed = cx.now().saturating_since(echo.reported_at);
        if echo.reported_at > self.reported_at || elapsed < echo.dlsr + owd || owd == Duration::ZERO {
            // it echoes a report that was not sent, or has an impossible delay
            cx.count(Count::Ignored, 1);
            return;
        }
        // RTT = now − LSR − DLSR                                                    [RFC3550 §6.4.1]
        let rtt = elapsed - echo.dlsr;
        let factor = rtt.as_secs_f64() / owd.as_secs_f64() - 1.0;
        self.factor += (factor - self.factor) * self.params.factor_gain;
        cx.probe("factor", self.factor);
    }

    /// The rate of TCP, in bit/s, `elapsed` after the last report, when the source sends at `rate`.
    fn tcp_rate(&self, rate: f64, p: f64, rtt_s: f64, elapsed: Duration) -> f64 {
        let tcp = if p > 0.0 {
            tcp_friendly_rate(self.packet, rtt_s, p)
        } else {
            // X = R + (8s/RTT)·(elapsed/RTT)
            rate + self.params.increase * self.packet.as_f64() * 8.0 / rtt_s * (elapsed.as_secs_f64() / rtt_s)
        };
        tcp.min(self.params.headroom * rate)
    }

    fn report(&mut self, newest: &Newest, cx: &mut ReceiverCx<'_, '_>) {
        let Some(rtt_s) = self.rtt() else { return };
        self.loss.close(newest.next - self.reported_next);
        let (rate, p) = (newest.rate.as_bps_f64(), self.loss.mean());
        let tcp = self.tcp_rate(rate, p, rtt_s, cx.now() - self.reported_at);
        cx.probe("loss", p);
        cx.probe("rtt_inferred", rtt_s);
        cx.probe("tcp_rate", tcp);
        let dlsr = cx.now() - newest.arrived_at;
        cx.feedback(Report { rate: tcp, lsr: newest.sent_at, dlsr }.encode());
        self.reported_next = newest.next;
        self.reported_at = cx.now();
    }

    /// A random interval with this mean, above zero.
    fn draw(&self, mean: Duration, cx: &mut ReceiverCx<'_, '_>) -> Duration {
        cx.random().jitter(mean, self.params.spread).max(SHORTEST_INTERVAL)
    }
}

impl ReceiverAlgorithm for Receiver {
    fn on_data(&mut self, data: &Arrival, cx: &mut ReceiverCx<'_, '_>) {
        let Some(header) = DataHeader::decode(data.label) else {
            cx.count(Count::Ignored, 1);
            return;
        };
        self.loss.arrived(data.seq, cx.now());
        let owd = cx.now().saturating_since(data.sent_at);
        let sample = owd.as_secs_f64();
        self.delay =
            Some(self.delay.map_or(sample, |delay| delay + (sample - delay) * self.params.delay_gain));
        if self.newest.is_none() {
            self.reported_next = data.seq;
            self.reported_at = cx.now();
            // the first interval is half as long                                    [RFC3550 §6.2]
            self.next_report = cx.now() + self.draw(header.interval / 2, cx);
        }
        let before = self.newest.map_or(data.seq, |newest| newest.next);
        self.newest = Some(Newest {
            next: before.max(data.seq + 1),
            sent_at: data.sent_at,
            arrived_at: cx.now(),
            rate: header.rate,
            interval: header.interval,
        });
        if let Some(echo) = header.echo.filter(|echo| echo.to == cx.me().endpoint)
            && self.params.calibration == Calibration::Echoes
        {
            self.calibrate(&echo, owd, cx);
        }
    }

    fn on_loss(&mut self, gap: &Gap, cx: &mut ReceiverCx<'_, '_>) {
        let (Some(newest), Some(rtt_s)) = (self.newest, self.rtt()) else { return };
        let path = Path { packet: self.packet, rtt_s, rate: newest.rate.as_bps_f64() };
        self.loss.lose(gap, cx.now(), &path);
    }

    fn on_late(&mut self, _data: &Arrival, _cx: &mut ReceiverCx<'_, '_>) {
        self.loss.late();
    }

    fn on_timer(&mut self, cx: &mut ReceiverCx<'_, '_>) {
        let Some(newest) = self.newest.filter(|_| self.next_report <= cx.now()) else { return };
        self.report(&newest, cx);
        self.next_report = cx.now() + self.draw(newest.interval, cx);
    }

    #[inline]
    fn wake(&self) -> Time {
        self.next_report
    }

    fn on_stop(&mut self, cx: &mut ReceiverCx<'_, '_>) {
        cx.feedback(BYE);
        self.newest = None;
        self.delay = None;
        self.loss = Loss::new(&self.params);
        self.next_report = Time::NEVER;
    }
}

/// Minimum round-trip time, whatever delay is measured.
const SHORTEST_RTT_S: f64 = 1e-6;
/// Minimum interval of reports, whatever the source requests.
const SHORTEST_INTERVAL: Duration = Duration::from_micros(1);
