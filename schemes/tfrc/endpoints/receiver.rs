//! TFRC at the receiver: the loss event rate, the receive rate, and the times of reports.

use contract::{Arrival, Count, Gap, ReceiverAlgorithm, ReceiverCx};
use units::{Bytes, Duration, Time};

use super::headers::{Header, Report};
use super::sizes::mean_size;
use crate::shared::{LossEvents, ReceiveRate, loss_event_rate_of};
use crate::tfrc::Params;

/// The receiver's part [RFC5348 §5, §6].
#[derive(Clone, Debug)]
pub struct Receiver {
    params: Box<Params>,
    /// Size of a full packet.
    packet: Bytes,
    /// Bytes and packets received.
    arrived: (u64, u64),
    /// Content and arrival of the newest packet.
    newest: Option<Newest>,
    losses: LossEvents,
    arriving: ReceiveRate,
    /// Maximum X_recv so far, in bit/s.
    fastest: f64,
    /// Expiry of the feedback timer.
    feedback_deadline: Time,
    /// Data arrived since the last report.
    fresh: bool,
    /// p has increased since the last report, so the next one is sent at once.
    urgent: bool,
}

#[derive(Clone, Copy, Debug)]
struct Newest {
    seq: u64,
    at: Time,
    header: Header,
}

impl Receiver {
    /// A receiver of packets with the maximum size `packet`.
    pub(crate) fn new(params: &Params, packet: Bytes) -> Self {
        let discount = params.discounting.then_some(params.discount_threshold);
        Self {
            packet,
            arrived: (0, 0),
            newest: None,
            losses: LossEvents::new(params.intervals as usize, discount),
            arriving: ReceiveRate::new(),
            fastest: 0.0,
            feedback_deadline: Time::ZERO,
            fresh: false,
            urgent: false,
            params: Box::new(params.clone()),
        }
    }

    /// The loss event rate p.
    #[cfg(test)]
    pub(crate) fn loss_event_rate(&self) -> f64 {
        self.losses.rate()
    }

    /// R_m: the round-trip time in the newest packet, or in `packet_header` if that is newer.
    fn rtt(&self, packet_header: Option<Header>) -> Option<Duration> {
        packet_header.or(self.newest.map(|newest| newest.header)).and_then(|header| header.rtt)
    }

    /// The assumed length of the interval before the first loss event, in packets.
    fn first_interval(&self, rtt: Duration) -> f64 {
        // the right rate is half of the rate before the loss; in slow start the receive rate is that half
        // X_target = max X_recv; first interval = 1/p with equation(p) = X_target within 5 %    [RFC5348 §6.3.1]
        let rtt_s = rtt.as_secs_f64();
        let packet = self.size();
        // our choice: at least a packet per round trip, because the loss of the first packet leaves no receive rate
        let target = self.fastest.max(self.arriving.within(rtt)).max(packet.as_f64() * 8.0 / rtt_s);
        1.0 / loss_event_rate_of(packet, rtt_s, target, self.params.tolerance)
    }

    /// s: the mean size of received packets [RFC5348 §4.1]; the maximum size before the first.
    fn size(&self) -> Bytes {
        let mean = mean_size(self.arrived.0, self.arrived.1).filter(|_| self.params.mean_size);
        mean.map_or(self.packet, |mean| mean.max(Bytes::new(1)))
    }

    /// Adds losses or a mark to the history by `take`, which gets the round-trip time and the first interval.
    fn lose(
        &mut self,
        packet_header: Option<Header>,
        cx: &mut ReceiverCx<'_, '_>,
        take: impl FnOnce(&mut LossEvents, Duration, f64),
    ) {
        let rtt = self.rtt(packet_header).unwrap_or(self.params.initial_rtt);
        let before = self.losses.rate();
        let first = if self.losses.any() { 1.0 } else { self.first_interval(rtt) };
        take(&mut self.losses, rtt, first);
        let after = self.losses.rate();
        if after > before {
            // p > p_prev: the feedback timer expires                                [RFC5348 §6.1]
            self.urgent = true;
            cx.event("loss_event", after);
        }
    }

    fn report(&mut self, cx: &mut ReceiverCx<'_, '_>) {
        let now = cx.now();
        let Some(newest) = self.newest else { return };
        let rtt = newest.header.rtt;
        // X_recv over the previous R_m, unknown before there is one                [RFC5348 §6.2, §6.3]
        let received = rtt.map_or(0.0, |rtt| self.arriving.within(rtt));
        self.fastest = self.fastest.max(received);
        let report = Report {
            sent_at: newest.header.sent_at,
            t_delay: now.saturating_since(newest.at),
            received_bps: (received + 0.5) as u64,
            loss: self.losses.rate(),
        };
        cx.feedback(report.encode());
        // without a round-trip time each packet is answered                        [RFC5348 §6.3]
        self.feedback_deadline = rtt.map_or(now, |rtt| now + rtt);
        (self.fresh, self.urgent) = (false, false);
        if cx.probing() {
            cx.probe("loss_event_rate", report.loss);
            cx.probe("receive_rate", received);
        }
    }
}

impl ReceiverAlgorithm for Receiver {
    fn on_data(&mut self, data: &Arrival, cx: &mut ReceiverCx<'_, '_>) {
        let now = cx.now();
        self.losses.arrived(data.seq, now);
        let Some(header) = Header::decode(data.label) else {
            cx.count(Count::Ignored, 1);
            return;
        };
        let window = self.rtt(Some(header)).unwrap_or(self.params.initial_rtt);
        self.arriving.record(now, data.size, window);
        self.arrived = (self.arrived.0 + data.size.as_u64(), self.arrived.1 + 1);
        if self.newest.is_none_or(|newest| newest.seq < data.seq) {
            self.newest = Some(Newest { seq: data.seq, at: now, header });
        }
        if data.marked {
            // a mark counts as a loss                                              [RFC5348 §5.1]
            self.lose(Some(header), cx, |losses, rtt, first| {
                losses.marked(data.seq, now, rtt, || first);
            });
        }
        self.fresh = true;
        // once per round-trip time; at once if p increased or the timer expired without new data   [RFC5348 §6.1, §6.2]
        if self.urgent || self.feedback_deadline <= now {
            self.report(cx);
        }
    }

    fn on_loss(&mut self, gap: &Gap, cx: &mut ReceiverCx<'_, '_>) {
        let (run, shown) = ((gap.first_missing, gap.packets), (gap.before.seq, cx.now()));
        self.lose(Header::decode(gap.before.label), cx, |losses, rtt, first| {
            losses.lost(run, shown, rtt, || first);
        });
    }

    /// It was received, and is counted so; the loss event rate keeps the event, which the reordering window makes rare.
    fn on_late(&mut self, data: &Arrival, cx: &mut ReceiverCx<'_, '_>) {
        let window = self.rtt(None).unwrap_or(self.params.initial_rtt);
        self.arriving.record(cx.now(), data.size, window);
        self.arrived = (self.arrived.0 + data.size.as_u64(), self.arrived.1 + 1);
    }

    fn on_timer(&mut self, cx: &mut ReceiverCx<'_, '_>) {
        if self.wake() <= cx.now() {
            self.report(cx);
        }
    }

    #[inline]
    fn wake(&self) -> Time {
        if self.fresh { self.feedback_deadline } else { Time::NEVER }
    }
}
