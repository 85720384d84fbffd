//! TFMCC at a receiver: computes its rate, and decides when to report it.

use contract::{Arrival, Count, Gap, ReceiverCx, ReceiverLaw};
use units::{Bytes, Duration, Time};

use super::round_trip::RoundTrip;
use super::timer::{Timer, draw};
use super::words::{Header, Millis, RateCode, Report};
use crate::shared::{LossEvents, ReceiveRate, tcp_friendly_rate};
use crate::tfmcc::Params;

/// The receiver's law [RFC4654 §4].
#[derive(Clone, Debug)]
pub struct Receiver {
    params: Box<Params>,
    packet: Bytes,
    /// What the newest packet said.
    heard: Option<Heard>,
    /// When data, or a loss, last showed that the source sends.
    alive_at: Time,
    round_trip: RoundTrip,
    arriving: ReceiveRate,
    losses: LossEvents,
    /// The round-trip time, in seconds, with which the time before the first loss event was computed, where it was none
    /// of its own.
    assumed_rtt: Option<f64>,
    /// This receiver limits the group: it is the CLR.
    limiting: bool,
    timer: Option<Timer>,
    reported_at: Option<Time>,
    /// Data arrived since the last report.
    fresh: bool,
    /// The calculated rate is below the floor since.
    below_since: Option<Time>,
    /// It leaves because of that: it says so until then, and nothing afterwards.
    leaves_at: Option<Time>,
}

/// What the newest packet said, and when it arrived.
#[derive(Clone, Copy, Debug)]
struct Heard {
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
            heard: None,
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

    /// R in seconds: its own round-trip time, or the group's maximum while it has none.
    pub(crate) fn rtt_s(&self) -> f64 {
        let r_max =
            || self.heard.map_or(self.params.initial_rtt.as_secs_f64(), |heard| heard.header.r_max.secs());
        self.round_trip.secs().unwrap_or_else(r_max)
    }

    /// p.
    pub(crate) fn loss_event_rate(&self) -> f64 {
        self.losses.rate()
    }

    /// X_r: the rate that the receiver could take, in bit/s.
    pub(crate) fn calculated(&self) -> f64 {
        if self.losses.any() {
            tcp_friendly_rate(self.packet, self.rtt_s(), self.losses.rate())
        } else {
            // X_r = 2·X_recv                                                      [RFC4654 §3.6]
            self.params.slowstart_factor * self.received()
        }
    }

    /// When the timer of the feedback round would expire if data came as they should.
    #[cfg(test)]
    pub(crate) fn timer(&self) -> Option<Time> {
        self.timer.map(|timer| timer.at)
    }

    /// X_recv: the rate at which data arrive, in bit/s.
    fn received(&self) -> f64 {
        let rtt_s = self.rtt_s();
        let window = Duration::from_secs_f64(rtt_s * self.params.rate_window);
        // one packet says nothing yet: the first rate of a session is one packet per R_max
        self.arriving.over(window, 1).unwrap_or(self.packet.as_f64() * 8.0 / rtt_s)
    }

    /// How long the time before the first loss event is taken to have been, in packets; its rate, turned around.
    fn first_interval(&self) -> f64 {
        // l₀ = (X_recv·R/(√(3/2)·8s))²                                            [RFC4654 §5.6]
        let packets = self.received() * self.rtt_s() / (1.5f64.sqrt() * 8.0 * self.packet.as_f64());
        packets * packets
    }

    /// A loss, or a mark, was found; `events` began.
    fn on_events(&mut self, events: u64, had_any: bool, cx: &mut ReceiverCx<'_, '_>) {
        if !had_any {
            self.assumed_rtt = self.round_trip.secs().is_none().then(|| self.rtt_s());
        }
        if events > 0 {
            cx.event("loss_event", self.losses.rate());
        }
    }

    /// The source sends: after a long silence losses before it are forgotten.
    fn wake_up(&mut self, now: Time) {
        let silence = now.saturating_since(self.alive_at);
        self.alive_at = now;
        if self.heard.is_some_and(|heard| silence > heard.r_max.scaled(self.params.forget_after)) {
            self.losses.clear();
            self.assumed_rtt = None;
        }
    }

    /// Takes what `header` says about the way to the source and back, and about who limits the group.
    fn listen(&mut self, header: &Header, cx: &ReceiverCx<'_, '_>) {
        let now = Millis::of(cx.now());
        let mine = header.echo.filter(|echo| echo.endpoint == cx.me().endpoint);
        match (mine, header.echo) {
            (Some(mine), _) => self.limiting = mine.clr,
            // another receiver is
            (None, Some(echo)) if echo.clr => self.limiting = false,
            _ => {}
        }
        let Some(mine) = mine else {
            self.round_trip.adjust(now, header.ts);
            return;
        };
        let q = if self.limiting { self.params.limiting_q } else { self.params.q };
        let first = self.round_trip.measure(now, header.ts, mine.tr, q);
        if first && let Some(assumed_s) = self.assumed_rtt.take() {
            // l₀ ← l₀·(R/R_max)²                                                  [RFC4654 §5.6]
            let share = self.rtt_s() / assumed_s;
            self.losses.scale_first(share * share);
        }
    }

    /// Runs the timer of the feedback round. `before` is what was heard before `header`.
    fn wait(&mut self, before: Option<Heard>, heard: &Heard, cx: &mut ReceiverCx<'_, '_>) {
        if let (Some(timer), Some(before)) = (&mut self.timer, before) {
            timer.adjust(heard.at, heard.at.saturating_since(before.at), before.r_max, heard.r_max);
        }
        let (rate, rtt_s) = (self.calculated(), self.rtt_s());
        let header = &heard.header;
        if before.is_none_or(|before| before.header.round != header.round) {
            // a new round ends the one before
            self.cancel(cx);
            if !self.limiting && Timer::begins(header, rate, rtt_s) {
                let round = heard.r_max.scaled(self.params.round);
                let wait = draw(round, self.params.receivers, cx.random());
                self.timer = Some(Timer::new(heard.at + wait, rate));
                cx.event("feedback_timer", wait.as_secs_f64());
            }
        } else if self.limiting || self.timer.is_some_and(|timer| timer.is_cancelled(header, rate, rtt_s)) {
            self.cancel(cx);
        }
    }

    /// What was to be said remains unsaid. The one that limits the group suppresses nothing: it speaks anyway.
    fn cancel(&mut self, cx: &mut ReceiverCx<'_, '_>) {
        if self.timer.take().is_some() && !self.limiting {
            cx.count(Count::Suppressed, 1);
        }
    }

    /// Leaves for good when the group has long been faster than what it could take [RFC4654 §4].
    fn consider_leaving(&mut self, heard: &Heard) {
        if self.losses.any() && self.calculated() < self.params.min_reported_rate.as_bps_f64() {
            let since = *self.below_since.get_or_insert(heard.at);
            if self.leaves_at.is_none() && heard.at.saturating_since(since) > self.params.leave_after {
                // differs: it cannot leave the tree by itself; it stops speaking after the round in which it says so
                self.leaves_at = Some(heard.at + heard.r_max.scaled(self.params.round));
            }
        } else {
            self.below_since = None;
        }
    }

    /// Sends a report, unless it has left or heard nothing yet.
    fn report(&mut self, leave: bool, cx: &mut ReceiverCx<'_, '_>) {
        let now = cx.now();
        self.fresh = false;
        let Some(heard) = self.heard.filter(|_| self.leaves_at.is_none_or(|at| now <= at)) else { return };
        let report = Report {
            tr: Millis::of(now),
            ts: heard.header.ts.plus(now.saturating_since(heard.at)),
            rate: RateCode::nearest(self.calculated().max(self.params.min_reported_rate.as_bps_f64())),
            round: heard.header.round,
            have_rtt: self.round_trip.secs().is_some(),
            have_loss: self.losses.any(),
            leave: leave || self.leaves_at.is_some(),
        };
        cx.feedback(report.encode());
        self.reported_at = Some(now);
    }

    /// When the one that limits the group speaks next: once per round-trip time, and only of data that it had meanwhile.
    fn report_due(&self) -> Time {
        if !self.limiting || !self.fresh {
            return Time::NEVER;
        }
        self.reported_at.map_or(Time::ZERO, |at| at + Duration::from_secs_f64(self.rtt_s()))
    }

    /// When the timer of the feedback round expires: it stands still while data stay away for more than R_max.
    fn timer_due(&self) -> Time {
        match (self.timer, self.heard) {
            (Some(timer), Some(heard)) if timer.at <= heard.at + heard.r_max => timer.at,
            _ => Time::NEVER,
        }
    }
}

impl ReceiverLaw for Receiver {
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
            let begun = self.losses.marked(data.seq, now, rtt, || first);
            self.on_events(u64::from(begun), had_any, cx);
        }
        if self.heard.is_some_and(|heard| heard.seq >= data.seq) {
            // overtaken: a newer packet has said all this already
            return;
        }
        let r_max = Duration::from_secs_f64(header.r_max.secs());
        let heard = Heard { seq: data.seq, header, at: now, r_max };
        let before = self.heard.replace(heard);
        self.fresh = true;
        self.listen(&header, cx);
        self.consider_leaving(&heard);
        self.wait(before, &heard, cx);
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
        let begun = self.losses.lost(run, (gap.before.seq, cx.now()), rtt, || first);
        self.on_events(begun, had_any, cx);
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
