//! TFMCC at a receiver: computes its rate, and decides when to report it.

use contract::{Arrival, Count, Gap, ReceiverAlgorithm, ReceiverCx};
use units::{Bytes, Duration, Time};

use super::headers::{Header, Millis, RateCode, Report};
use super::round_trip::RoundTrip;
use super::timer::{Timer, draw};
use crate::shared::{LossEvents, ReceiveRate, tcp_friendly_rate};
use crate::tfmcc::Params;

/// The receiver's part [RFC4654 §4].
#[derive(Clone, Debug)]
pub struct Receiver {
    params: Box<Params>,
    packet: Bytes,
    /// Content and arrival of the newest packet.
    newest: Option<Newest>,
    /// Last evidence that the source sends: data or a loss.
    alive_at: Time,
    round_trip: RoundTrip,
    arriving: ReceiveRate,
    losses: LossEvents,
    /// The round-trip time in seconds that was assumed for the interval before the first loss event, if there was no
    /// measured one.
    assumed_rtt: Option<f64>,
    /// Whether this receiver is the CLR.
    limiting: bool,
    timer: Option<Timer>,
    reported_at: Option<Time>,
    /// Data arrived since the last report.
    fresh: bool,
    /// Since when the calculated rate is below the minimum.
    below_since: Option<Time>,
    /// It leaves for this reason: until then its reports say so, and after that it sends none.
    leaves_at: Option<Time>,
}

/// Content and arrival of the newest packet.
#[derive(Clone, Copy, Debug)]
struct Newest {
    seq: u64,
    header: Header,
    at: Time,
    r_max: Duration,
}

impl Receiver {
    /// A receiver of packets of size `packet`.
    pub(crate) fn new(params: &Params, packet: Bytes) -> Self {
        Self {
            packet,
            newest: None,
            alive_at: Time::ZERO,
            round_trip: RoundTrip::default(),
            arriving: ReceiveRate::new(),
            losses: LossEvents::new(
                params.intervals as usize,
                params.discounting.then_some(params.discount_threshold),
            ),
            assumed_rtt: None,
            limiting: false,
            timer: None,
            reported_at: None,
            fresh: false,
            below_since: None,
            leaves_at: None,
            params: Box::new(params.clone()),
        }
    }

    /// R in seconds: its own round-trip time, or the group's maximum before the first measurement.
    pub(crate) fn rtt_s(&self) -> f64 {
        let r_max =
            || self.newest.map_or(self.params.initial_rtt.as_secs_f64(), |newest| newest.header.r_max.secs());
        self.round_trip.secs().unwrap_or_else(r_max)
    }

    /// The loss event rate p.
    pub(crate) fn loss_event_rate(&self) -> f64 {
        self.losses.rate()
    }

    /// X_r: the calculated rate, in bit/s.
    pub(crate) fn calculated(&self) -> f64 {
        if self.losses.any() {
            tcp_friendly_rate(self.packet, self.rtt_s(), self.losses.rate())
        } else {
            // X_r = 2·X_recv                                                      [RFC4654 §3.6]
            self.params.slowstart_factor * self.received()
        }
    }

    /// When the timer of the feedback round expires if data arrive in time.
    #[cfg(test)]
    pub(crate) fn timer(&self) -> Option<Time> {
        self.timer.map(|timer| timer.at)
    }

    /// X_recv: the receive rate, in bit/s.
    fn received(&self) -> f64 {
        let rtt_s = self.rtt_s();
        let window = Duration::from_secs_f64(rtt_s * self.params.rate_window);
        // one packet gives no rate: the first rate of a session is one packet per R_max
        self.arriving.rate_over(window, 1).unwrap_or(self.packet.as_f64() * 8.0 / rtt_s)
    }

    /// The assumed length of the interval before the first loss event in packets: the inverse of the loss event rate
    /// for the receive rate.
    fn first_interval(&self) -> f64 {
        // l₀ = (X_recv·R/(√(3/2)·8s))²                                            [RFC4654 §5.6]
        let packets = self.received() * self.rtt_s() / (1.5f64.sqrt() * 8.0 * self.packet.as_f64());
        packets * packets
    }

    /// Handles a loss or a mark that began `events` loss events.
    fn on_events(&mut self, events: u64, had_any: bool, cx: &mut ReceiverCx<'_, '_>) {
        if !had_any {
            self.assumed_rtt = self.round_trip.secs().is_none().then(|| self.rtt_s());
        }
        if events > 0 {
            cx.event("loss_event", self.losses.rate());
        }
    }

    /// Handles the end of a silence of the source: after a long one, earlier losses are removed.
    fn wake_up(&mut self, now: Time) {
        let silence = now.saturating_since(self.alive_at);
        self.alive_at = now;
        if self.newest.is_some_and(|newest| silence > newest.r_max.scaled(self.params.forget_after)) {
            self.losses.clear();
            self.assumed_rtt = None;
        }
    }

    /// Takes the round-trip time and the CLR from `header`.
    fn listen(&mut self, header: &Header, cx: &ReceiverCx<'_, '_>) {
        let now = Millis::of(cx.now());
        let own_echo = header.echo.filter(|echo| echo.endpoint == cx.me().endpoint);
        match (own_echo, header.echo) {
            (Some(own_echo), _) => self.limiting = own_echo.clr,
            // another receiver is the CLR
            (None, Some(echo)) if echo.clr => self.limiting = false,
            _ => {}
        }
        let Some(own_echo) = own_echo else {
            self.round_trip.adjust(now, header.ts);
            return;
        };
        let q = if self.limiting { self.params.limiting_q } else { self.params.q };
        let first = self.round_trip.measure(now, header.ts, own_echo.tr, q);
        if first && let Some(assumed_s) = self.assumed_rtt.take() {
            // l₀ ← l₀·(R/R_max)²                                                  [RFC4654 §5.6]
            let share = self.rtt_s() / assumed_s;
            self.losses.scale_first(share * share);
        }
    }

    /// Runs the timer of the feedback round. `previous` is the state before `header`.
    fn update_timer(&mut self, previous: Option<Newest>, newest: &Newest, cx: &mut ReceiverCx<'_, '_>) {
        if let (Some(timer), Some(previous)) = (&mut self.timer, previous) {
            timer.adjust(newest.at, newest.at.saturating_since(previous.at), previous.r_max, newest.r_max);
        }
        let (rate, rtt_s) = (self.calculated(), self.rtt_s());
        let header = &newest.header;
        if previous.is_none_or(|previous| previous.header.round != header.round) {
            // a new round ends the previous one
            self.cancel(cx);
            if !self.limiting && Timer::begins(header, rate, rtt_s) {
                let round = newest.r_max.scaled(self.params.round);
                let update_timer = draw(round, self.params.receivers, cx.random());
                self.timer = Some(Timer::new(newest.at + update_timer, rate));
                cx.event("feedback_timer", update_timer.as_secs_f64());
            }
        } else if self.limiting || self.timer.is_some_and(|timer| timer.is_cancelled(header, rate, rtt_s)) {
            self.cancel(cx);
        }
    }

    /// Cancels the report of this round. The report of the CLR is not cancelled.
    fn cancel(&mut self, cx: &mut ReceiverCx<'_, '_>) {
        if self.timer.take().is_some() && !self.limiting {
            cx.count(Count::Suppressed, 1);
        }
    }

    /// Leaves permanently if the group was faster than the calculated rate for too long [RFC4654 §4].
    fn check_leave(&mut self, newest: &Newest) {
        if self.losses.any() && self.calculated() < self.params.min_reported_rate.as_bps_f64() {
            let since = *self.below_since.get_or_insert(newest.at);
            if self.leaves_at.is_none() && newest.at.saturating_since(since) > self.params.leave_after {
                // differs: it cannot leave the tree by itself; it stops sending after the round in which it announces
                // that
                self.leaves_at = Some(newest.at + newest.r_max.scaled(self.params.round));
            }
        } else {
            self.below_since = None;
        }
    }

    /// Sends a report, unless it has left or has received nothing.
    fn report(&mut self, leave: bool, cx: &mut ReceiverCx<'_, '_>) {
        let now = cx.now();
        self.fresh = false;
        let Some(newest) = self.newest.filter(|_| self.leaves_at.is_none_or(|at| now <= at)) else { return };
        let report = Report {
            tr: Millis::of(now),
            ts: newest.header.ts.plus(now.saturating_since(newest.at)),
            rate: RateCode::nearest(self.calculated().max(self.params.min_reported_rate.as_bps_f64())),
            round: newest.header.round,
            have_rtt: self.round_trip.secs().is_some(),
            have_loss: self.losses.any(),
            leave: leave || self.leaves_at.is_some(),
        };
        cx.feedback(report.encode());
        self.reported_at = Some(now);
    }

    /// When the CLR reports next: once per round-trip time, if data arrived meanwhile.
    fn report_due(&self) -> Time {
        if !self.limiting || !self.fresh {
            return Time::NEVER;
        }
        self.reported_at.map_or(Time::ZERO, |at| at + Duration::from_secs_f64(self.rtt_s()))
    }

    /// When the timer of the feedback round expires. It is suspended while no data arrive for more than R_max.
    fn timer_due(&self) -> Time {
        match (self.timer, self.newest) {
            (Some(timer), Some(newest)) if timer.at <= newest.at + newest.r_max => timer.at,
            _ => Time::NEVER,
        }
    }
}

impl ReceiverAlgorithm for Receiver {
    fn on_data(&mut self, data: &Arrival, cx: &mut ReceiverCx<'_, '_>) {
        let now = cx.now();
        self.wake_up(now);
        self.losses.arrived(data.seq, now);
        let rtt = Duration::from_secs_f64(self.rtt_s());
        self.arriving.record(now, data.size, rtt.scaled(self.params.rate_window));
        let Some(header) = Header::decode(data.label) else {
            cx.count(Count::Ignored, 1);
            return;
        };
        if data.marked {
            // a mark counts as a loss of its packet                               [RFC4654 §5.1], [RFC5348 §5.1]
            let (had_any, first) = (self.losses.any(), self.first_interval());
            let new_event = self.losses.marked(data.seq, now, rtt, || first);
            self.on_events(u64::from(new_event), had_any, cx);
        }
        if self.newest.is_some_and(|newest| newest.seq >= data.seq) {
            // out of order: a newer packet contained this already
            return;
        }
        let r_max = Duration::from_secs_f64(header.r_max.secs());
        let newest = Newest { seq: data.seq, header, at: now, r_max };
        let previous = self.newest.replace(newest);
        self.fresh = true;
        self.listen(&header, cx);
        self.check_leave(&newest);
        self.update_timer(previous, &newest, cx);
        if self.report_due() <= now {
            self.report(false, cx);
        }
        if cx.probing() {
            cx.probe("loss_event_rate", self.loss_event_rate());
            cx.probe("calculated_rate", self.calculated());
            cx.probe("rtt", self.rtt_s());
        }
    }

    fn on_loss(&mut self, gap: &Gap, cx: &mut ReceiverCx<'_, '_>) {
        self.wake_up(cx.now());
        let rtt = Duration::from_secs_f64(self.rtt_s());
        let (had_any, first) = (self.losses.any(), self.first_interval());
        let run = (gap.first_missing, gap.packets);
        let new_event = self.losses.lost(run, (gap.before.seq, cx.now()), rtt, || first);
        self.on_events(new_event, had_any, cx);
    }

    /// It was received, and is counted so; the loss event rate keeps the event, which the reordering window makes rare.
    fn on_late(&mut self, data: &Arrival, cx: &mut ReceiverCx<'_, '_>) {
        let rtt = Duration::from_secs_f64(self.rtt_s());
        self.arriving.record(cx.now(), data.size, rtt.scaled(self.params.rate_window));
    }

    fn on_timer(&mut self, cx: &mut ReceiverCx<'_, '_>) {
        if self.timer_due() <= cx.now() {
            self.timer = None;
            self.report(false, cx);
        }
        if self.report_due() <= cx.now() {
            self.report(false, cx);
        }
    }

    #[inline]
    fn wake(&self) -> Time {
        self.report_due().min(self.timer_due())
    }

    fn on_stop(&mut self, cx: &mut ReceiverCx<'_, '_>) {
        self.report(true, cx);
    }
}
