//! NADA at the receiver: delay, losses, marks and receive rate of the last window, and reports.

use std::collections::VecDeque;

use contract::{Arrival, Count, Gap, ReceiverAlgorithm, ReceiverCx};
use units::{Duration, Rate, Time};

use super::headers::{DataHeader, Report};
use super::signal::{Ratio, blended, signal};
use crate::nada::Params;
use crate::shared::{LossEvents, Order, Place, ReceiveRate};

/// The receiver's part [RFC8698 §5.1]. It sends a report with the first data packet that arrives `delta` after the last
/// report.
#[derive(Clone, Debug)]
pub struct Receiver {
    params: Box<Params>,
    /// d_base: minimum of arrival − send time in nanoseconds, which clocks may shift.
    base: Option<i64>,
    /// The last delays above it, for the minimum filter.
    delays: VecDeque<Duration>,
    /// Counts of consecutive intervals between reports, which cover the window: arrived, lost, marked.
    counts: VecDeque<Counts>,
    loss_events: LossEvents,
    /// Whether a loss was found.
    lossy: bool,
    loss_ratio: Ratio,
    mark_ratio: Ratio,
    arriving: ReceiveRate,
    order: Order,
    /// The last time of a loss, of a mark, or of a delay of QEPS or more.
    congested_at: Option<Time>,
    /// The round-trip time in the newest data packet.
    rtt: Duration,
    next_report: Time,
}

/// Packets of an interval that began at `since`.
#[derive(Clone, Copy, Debug)]
struct Counts {
    since: Time,
    arrived: u64,
    lost: u64,
    marked: u64,
}

impl Receiver {
    /// A receiver.
    pub(crate) fn new(params: &Params) -> Self {
        Self {
            base: None,
            delays: VecDeque::with_capacity(params.filter as usize + 1),
            counts: VecDeque::new(),
            loss_events: LossEvents::new(8, None),
            lossy: false,
            loss_ratio: Ratio::default(),
            mark_ratio: Ratio::default(),
            arriving: ReceiveRate::new(),
            order: Order::default(),
            congested_at: None,
            rtt: Duration::ZERO,
            next_report: Time::ZERO,
            params: Box::new(params.clone()),
        }
    }

    /// Takes the delay of a packet.
    fn measure(&mut self, data: &Arrival, after_gap: bool, now: Time) {
        // the difference of two clocks can be negative
        let forward = now.as_nanos().wrapping_sub(data.sent_at.as_nanos()) as i64;
        let base = match self.base {
            // packets are missing before it: it may have overtaken them on a shorter way
            Some(base) if after_gap => base,
            Some(base) => base.min(forward),
            None => forward,
        };
        self.base = Some(base);
        let delay = Duration::from_nanos(forward.wrapping_sub(base).max(0) as u64);
        if delay >= self.params.q_eps {
            self.congested_at = Some(now);
        }
        if self.delays.len() == self.params.filter as usize {
            self.delays.pop_front();
        }
        self.delays.push_back(delay);
    }

    fn counts(&mut self, now: Time) -> &mut Counts {
        if self.counts.is_empty() {
            self.counts.push_back(Counts { since: now, arrived: 0, lost: 0, marked: 0 });
        }
        let last = self.counts.len() - 1;
        &mut self.counts[last]
    }

    /// d_queue after the minimum filter [RFC8698 §5.1.1].
    fn queueing(&self) -> f64 {
        self.delays.iter().min().map_or(0.0, |delay| delay.as_secs_f64())
    }

    /// x_curr, after an update of the ratios.
    fn signal(&mut self, now: Time) -> f64 {
        let until = now - self.params.window;
        while self.counts.len() > 1 && self.counts[1].since <= until {
            self.counts.pop_front();
        }
        let sum = |of: fn(&Counts) -> u64| self.counts.iter().map(of).sum::<u64>() as f64;
        let (arrived, lost, marked) = (sum(|it| it.arrived), sum(|it| it.lost), sum(|it| it.marked));
        if arrived + lost > 0.0 {
            self.loss_ratio.add(lost / (arrived + lost), self.params.alpha);
            self.mark_ratio.add(marked / (arrived + lost), self.params.alpha);
        }
        self.counts.push_back(Counts { since: now, arrived: 0, lost: 0, marked: 0 });
        let delay = match self.loss_events.intervals() {
            Some((since_loss, mean)) if self.lossy => {
                blended(self.queueing(), since_loss, mean, &self.params)
            }
            _ => self.queueing(),
        };
        signal(delay, self.loss_ratio.value(), self.mark_ratio.value(), &self.params)
    }

    fn report(&mut self, data: &Arrival, cx: &mut ReceiverCx<'_, '_>) {
        let now = cx.now();
        let signal = self.signal(now);
        // no losses and no delay of QEPS or more within LOGWIN                                 [RFC8698 §4.2]
        // differs: no marks either; otherwise the source would ramp up through a queue that marks below QEPS
        let ramp_up = self.congested_at.is_none_or(|at| now.saturating_since(at) > self.params.window);
        let received = self.arriving.rate_over(self.params.window, 1).unwrap_or(0.0);
        let received_bps = Rate::from_bps_f64(received).as_bps();
        let report =
            Report { ramp_up, signal: Duration::from_secs_f64(signal), received_bps, echo: data.sent_at };
        cx.feedback(report.encode());
        self.next_report = now + self.params.delta;
        if cx.probing() {
            cx.probe("congestion_signal", signal);
            cx.probe("queue_estimate", self.queueing());
            cx.probe("receive_rate", received);
        }
    }
}

impl ReceiverAlgorithm for Receiver {
    fn on_loss(&mut self, gap: &Gap, cx: &mut ReceiverCx<'_, '_>) {
        let now = cx.now();
        self.order.lost(gap);
        self.counts(now).lost += gap.packets;
        self.congested_at = Some(now);
        self.lossy = true;
        // the interval before the first event: all packets so far                              [RFC5348 §5.4]
        self.loss_events.lost((gap.first_missing, gap.packets), (gap.before.seq, now), self.rtt, || {
            gap.first_missing.max(1) as f64
        });
    }

    fn on_late(&mut self, data: &Arrival, cx: &mut ReceiverCx<'_, '_>) {
        let now = cx.now();
        self.arriving.record(now, data.size, self.params.window);
        // it was counted as lost, in this interval or in an earlier one of the window
        self.counts(now).arrived += 1;
        if let Some(counts) = self.counts.iter_mut().rev().find(|counts| counts.lost > 0) {
            counts.lost -= 1;
        }
    }

    fn on_data(&mut self, data: &Arrival, cx: &mut ReceiverCx<'_, '_>) {
        let Some(header) = DataHeader::decode(data.label) else {
            cx.count(Count::Ignored, 1);
            return;
        };
        let now = cx.now();
        self.arriving.record(now, data.size, self.params.window);
        let counts = self.counts(now);
        counts.arrived += 1;
        if data.marked {
            counts.marked += 1;
            self.congested_at = Some(now);
        }
        let place = self.order.take(data.seq);
        if place != Place::Behind {
            self.rtt = header.rtt.unwrap_or(self.rtt);
        }
        self.loss_events.arrived(data.seq, now);
        // a packet that overtook others has not waited in their queue
        if place != Place::Overtaking {
            self.measure(data, place == Place::AfterLoss, now);
        }
        if now >= self.next_report {
            self.report(data, cx);
        }
    }

    fn on_start(&mut self, cx: &mut ReceiverCx<'_, '_>) {
        *self = Self::new(&self.params);
        self.next_report = cx.now() + self.params.delta;
    }
}
