//! TFMCC at the source: the rate of the current limiting receiver (CLR), and the feedback rounds of the other
//! receivers.

use contract::{Allowance, Count, Cx, EndpointId, Feedback, Label, OutgoingPacket, SenderAlgorithm};
use units::{Bytes, Duration, Rate, Time};

use super::echoes::{Echoes, Stamp};
use super::headers::{Echo, Header, Millis, RateCode, Report, RttCode};
use crate::tfmcc::Params;

/// The source's part [RFC4654 §3].
#[derive(Clone, Debug)]
pub struct Sender {
    params: Box<Params>,
    packet_bits: f64,
    /// X, in bit/s.
    rate: f64,
    rise: Option<Rise>,
    /// The rate does not increase before this.
    paused_until: Time,
    /// No receiver has reported a loss yet.
    slowstart: bool,
    /// R_max, in seconds.
    r_max: f64,
    /// R_max as in packets.
    r_max_said: RttCode,
    clr: Option<Limiting>,
    /// The last CLR left or timed out.
    clr_lost: bool,
    round: Round,
    suppression: RateCode,
    echoes: Echoes,
    started_at: Time,
    /// Last report of any receiver, or last reduction because no report came.
    heard_at: Time,
}

/// The current limiting receiver (CLR).
#[derive(Clone, Copy, Debug)]
struct Limiting {
    chosen_at: Time,
    heard_at: Time,
    /// The rate was halved since its last report.
    halved: bool,
    stamp: Stamp,
    /// When a packet last echoed its timestamp; `None` before the first, which informs it that it is the CLR.
    echoed_at: Option<Time>,
    /// It has no round-trip time, and the timestamp of its last report was not echoed yet.
    lacks_rtt: bool,
}

/// A feedback round.
#[derive(Clone, Copy, Debug)]
struct Round {
    /// Its number; packets contain the last 8 bits.
    number: u64,
    began_at: Time,
    /// Whether a receiver other than the CLR reported.
    has_reports: bool,
    /// Whether the round-trip time of a receiver was above R_max.
    exceeded: bool,
    /// R_peak: the maximum round-trip time in this round, in seconds.
    peak: f64,
}

/// A linear increase of the rate.
#[derive(Clone, Copy, Debug)]
struct Rise {
    from: f64,
    since: Time,
    to: f64,
    ends_at: Time,
}

impl Sender {
    /// A source of packets of size `packet`.
    pub(crate) fn new(params: &Params, packet: Bytes) -> Self {
        let packet_bits = packet.as_f64() * 8.0;
        let r_max = params.initial_rtt.as_secs_f64();
        let mut algorithm = Self {
            packet_bits,
            // one packet per R_max                                                [RFC4654 §3.1]
            rate: packet_bits / r_max,
            rise: None,
            paused_until: Time::ZERO,
            slowstart: true,
            r_max,
            r_max_said: RttCode::at_least(r_max),
            clr: None,
            clr_lost: false,
            round: Round { number: 0, began_at: Time::ZERO, has_reports: false, exceeded: false, peak: 0.0 },
            suppression: RateCode::MAX,
            echoes: Echoes::new(),
            started_at: Time::ZERO,
            heard_at: Time::ZERO,
            params: Box::new(params.clone()),
        };
        algorithm.set_rate(algorithm.rate);
        algorithm
    }

    /// The CLR.
    pub(crate) fn limiting(&self) -> Option<EndpointId> {
        self.clr.map(|clr| clr.stamp.endpoint)
    }

    /// R_max in seconds.
    #[cfg(test)]
    pub(crate) const fn r_max_s(&self) -> f64 {
        self.r_max
    }

    /// `n` times R_max.
    fn times_r_max(&self, n: f64) -> Duration {
        Duration::from_secs_f64(self.r_max * n)
    }

    /// The duration of `n` feedback rounds T. It is computed from R_max as in packets, which is rounded up, like at
    /// receivers: most timers expire late in a round, and those that expire after it are cancelled.
    fn rounds(&self, n: f64) -> Duration {
        // T = 6·R_max                                                              [RFC4654 §3.4]
        Duration::from_secs_f64(self.r_max_said.secs() * self.params.round * n)
    }

    fn set_r_max(&mut self, r_max: f64) {
        self.r_max = r_max;
        self.r_max_said = RttCode::at_least(r_max);
    }

    fn set_rate(&mut self, rate: f64) {
        self.rate = rate.max(self.packet_bits / self.params.max_packet_interval.as_secs_f64());
        self.rise = None;
    }

    /// Increases the rate up to `now`.
    fn advance(&mut self, now: Time) {
        let Some(rise) = self.rise else { return };
        if now >= rise.ends_at {
            self.set_rate(rise.to);
        } else {
            let share =
                (now.saturating_since(rise.since)).as_secs_f64() / (rise.ends_at - rise.since).as_secs_f64();
            self.rate = rise.from + (rise.to - rise.from) * share;
        }
    }

    /// The rate, or the end of its increase.
    fn aim(&self) -> f64 {
        self.rise.map_or(self.rate, |rise| rise.to)
    }

    /// Follows the calculated rate of the CLR: down at once, up linearly over R_max.
    fn follow(&mut self, rate: f64, now: Time) {
        if rate <= self.rate {
            self.set_rate(rate);
            return;
        }
        if now < self.paused_until {
            self.set_rate(self.rate);
            return;
        }
        // X ← min(X_r, X + 8s/R_max), every R_max                                  [RFC4654 §3.3]
        // in slowstart X approaches X_r over R_max                                 [RFC4654 §3.6]
        let step = if self.slowstart { f64::INFINITY } else { self.packet_bits / self.r_max };
        let to = rate.min(self.rate + step);
        let share = if self.slowstart { 1.0 } else { (to - self.rate) / step };
        let over = self.times_r_max(share).max(SHORTEST_RISE);
        self.rise = Some(Rise { from: self.rate, since: now, to, ends_at: now + over });
    }

    /// Makes the receiver of `stamp` the CLR.
    fn choose(&mut self, stamp: Stamp, now: Time, cx: &mut Cx<'_>) {
        self.clr = Some(Limiting {
            chosen_at: now,
            heard_at: now,
            halved: false,
            stamp,
            echoed_at: None,
            lacks_rtt: stamp.lacks_rtt(),
        });
        self.clr_lost = false;
        self.echoes.forget(stamp.endpoint);
        cx.event("clr", f64::from(stamp.endpoint.0));
    }

    /// Removes the CLR.
    fn remove_clr(&mut self, cx: &mut Cx<'_>) {
        self.clr = None;
        self.clr_lost = true;
        // the target of the increase is unknown
        self.set_rate(self.rate);
        cx.event("clr", -1.0);
    }

    /// Takes a report of a receiver that stays [RFC4654 §3.3]. `rate` is the reported rate, corrected for its
    /// round-trip time.
    fn decide(&mut self, stamp: Stamp, rate: f64, cx: &mut Cx<'_>) {
        let now = cx.now();
        match self.clr {
            // case 4: the CLR itself
            Some(ref mut clr) if clr.stamp.endpoint == stamp.endpoint => {
                clr.heard_at = now;
                clr.halved = false;
                clr.stamp = stamp;
                clr.lacks_rtt = stamp.lacks_rtt();
                self.follow(rate, now);
                return;
            }
            // case 2: another receiver has a lower rate; in slow start, lower than the target
            Some(_) if rate < if self.slowstart { self.aim() } else { self.rate } => {
                self.choose(stamp, now, cx);
                self.follow(rate, now);
                return;
            }
            Some(_) => {}
            // case 3: the last CLR left; the rate does not increase for a feedback round
            None if self.clr_lost => {
                self.paused_until = now + self.rounds(self.params.pause);
                self.choose(stamp, now, cx);
                self.follow(rate, now);
                return;
            }
            // case 1: the first one
            None => {
                self.choose(stamp, now, cx);
                self.follow(rate, now);
                return;
            }
        }
        self.echoes.push(stamp);
    }

    /// Updates the maximum round-trip time of the group [RFC4654 §3.2].
    fn measure(&mut self, rtt_s: f64, cx: &mut Cx<'_>) {
        self.round.peak = self.round.peak.max(rtt_s);
        if rtt_s > self.r_max {
            self.set_r_max(rtt_s);
            self.round.exceeded = true;
            cx.probe("r_max", self.r_max);
        }
    }

    /// Handles a report of a receiver other than the CLR in this round [RFC4654 §3.4]; it may become the CLR.
    fn hear_other(&mut self, rate: f64, leaves: bool, cx: &mut Cx<'_>) {
        self.round.has_reports = true;
        if !leaves && rate < self.suppression.bps() {
            // X_supp ← (1 − g)·X_r, as it was reported
            self.suppression = RateCode::nearest((1.0 - self.params.slack) * rate);
            cx.probe("suppression_rate", self.suppression.bps());
        }
        if self.round_ends_at() <= cx.now() {
            self.end_round(cx);
        }
    }

    /// End of the feedback round: after T if a receiver has reported, otherwise at the first report, at most after 2T.
    fn round_ends_at(&self) -> Time {
        self.round.began_at + self.rounds(if self.round.has_reports { 1.0 } else { self.params.round_limit })
    }

    fn end_round(&mut self, cx: &mut Cx<'_>) {
        let now = cx.now();
        let decays = !self.round.exceeded;
        // R_max ← max(0.9·R_max, R_peak)                                           [RFC4654 §3.2]
        let lower = (self.r_max * self.params.rtt_decay).max(self.round.peak);
        let r_max = if decays { lower } else { self.r_max };
        // R_max ≥ 8s/X + granularity                                               [RFC4654 §3.2]
        self.set_r_max(r_max.max(self.packet_bits / self.rate + self.params.clock.as_secs_f64()));
        let number = self.round.number + 1;
        self.round = Round { number, began_at: now, has_reports: false, exceeded: false, peak: 0.0 };
        self.suppression = RateCode::MAX;
        cx.event("round", number as f64);
        cx.probe("r_max", self.r_max);
        cx.probe("suppression_rate", self.suppression.bps());
    }

    /// When the rate is halved if the CLR does not report.
    fn halving_at(&self) -> Time {
        match self.clr {
            Some(clr) if !clr.halved => {
                let silent = clr.heard_at + self.times_r_max(self.params.halve_after);
                silent.max(clr.chosen_at + self.times_r_max(self.params.grace))
            }
            _ => Time::NEVER,
        }
    }

    /// When the CLR is removed if it does not report.
    fn gone_at(&self) -> Time {
        self.clr.map_or(Time::NEVER, |clr| clr.heard_at + self.times_r_max(self.params.gone_after))
    }

    /// When the rate is halved if no receiver reports.
    fn nofeedback_at(&self) -> Time {
        self.heard_at + self.times_r_max(self.params.feedback_timeout)
    }

    fn halve(&mut self, cx: &mut Cx<'_>) {
        self.set_rate(self.rate / 2.0);
        cx.count(Count::Episodes, 1);
    }

    /// The timestamp that the next packet echoes [RFC4654 §3.5].
    fn next_echo(&mut self, now: Time) -> Option<Echo> {
        let round = self.rounds(1.0);
        if let Some(clr) = &mut self.clr {
            // a new CLR, one without a round-trip time, and the CLR once per round
            let overdue = clr.echoed_at.is_none_or(|at| now.saturating_since(at) >= round);
            if overdue || clr.lacks_rtt {
                clr.echoed_at = Some(now);
                clr.lacks_rtt = false;
                return Some(clr.stamp.echo(now, true));
            }
        }
        if let Some(stamp) = self.echoes.pop() {
            return Some(stamp.echo(now, false));
        }
        let clr = self.clr.as_mut()?;
        clr.echoed_at = Some(now);
        Some(clr.stamp.echo(now, true))
    }
}

impl SenderAlgorithm for Sender {
    fn on_feedback(&mut self, feedback: &Feedback, cx: &mut Cx<'_>) {
        let now = cx.now();
        let this_round = self.round.number as u8;
        let since_start =
            (now.saturating_since(self.started_at).as_nanos() / 1_000_000).min(i32::MAX as u64) as i32;
        let report = Report::decode(feedback.label).filter(|report| {
            // about a packet that this source has sent, and of this round or the one before
            let age = Millis::of(now).since(report.ts);
            (0..=since_start).contains(&age) && this_round.wrapping_sub(report.round) <= 1
        });
        let Some(report) = report else {
            cx.count(Count::Ignored, 1);
            return;
        };
        self.advance(now);
        // R_r = max(now − ts_echo, 1 ms)                                           [RFC4654 §3.2]
        let rtt = Duration::from_millis(Millis::of(now).since(report.ts).max(1) as u64);
        cx.measured_rtt(rtt);
        self.measure(rtt.as_secs_f64(), cx);
        self.heard_at = now;
        let endpoint = feedback.from;
        let from_limiting = self.limiting() == Some(endpoint);
        let reported = report.rate.bps();
        cx.event(if from_limiting { "feedback_clr" } else { "feedback_other" }, reported / self.rate);

        if report.leave {
            self.echoes.forget(endpoint);
            if from_limiting {
                self.remove_clr(cx);
            }
        } else {
            if report.have_loss && self.slowstart {
                self.slowstart = false;
                self.set_rate(self.rate);
                cx.event("slowstart_ends", self.rate);
            }
            // X_r·R_max/R_r while the receiver uses R_max instead of its own    [RFC4654 §3.3]
            let unknown = report.have_loss && !report.have_rtt;
            let rate = if unknown { reported * self.r_max_said.secs() / rtt.as_secs_f64() } else { reported };
            self.decide(Stamp::new(endpoint, &report, now, self.round.number), rate, cx);
        }
        if !from_limiting && report.round == this_round {
            self.hear_other(reported, report.leave, cx);
        }
    }

    #[inline]
    fn allowance(&self) -> Allowance {
        Allowance::rate(Rate::from_bps_f64(self.rate))
    }

    fn on_start(&mut self, cx: &mut Cx<'_>) {
        let now = cx.now();
        self.started_at = now;
        self.heard_at = now;
        self.round.began_at = now;
        cx.probe("r_max", self.r_max);
        cx.probe("suppression_rate", self.suppression.bps());
    }

    fn stamp(&mut self, _sending: &OutgoingPacket, cx: &mut Cx<'_>) -> Label {
        let now = cx.now();
        self.advance(now);
        let header = Header {
            ts: Millis::of(now),
            suppression: self.suppression,
            r_max: self.r_max_said,
            round: self.round.number as u8,
            echo: self.next_echo(now),
        };
        header.encode()
    }

    fn on_timer(&mut self, cx: &mut Cx<'_>) {
        let now = cx.now();
        self.advance(now);
        // first, because other deadlines depend on R_max
        if self.round_ends_at() <= now {
            self.end_round(cx);
        }
        if self.gone_at() <= now {
            self.remove_clr(cx);
        }
        if self.halving_at() <= now {
            self.halve(cx);
            if let Some(clr) = &mut self.clr {
                clr.halved = true;
            }
        }
        if self.nofeedback_at() <= now {
            self.halve(cx);
            self.heard_at = now;
        }
    }

    #[inline]
    fn wake(&self) -> Time {
        let rise = self.rise.map_or(Time::NEVER, |rise| rise.ends_at);
        rise.min(self.gone_at()).min(self.halving_at()).min(self.nofeedback_at()).min(self.round_ends_at())
    }
}

/// Minimum duration of an increase, so that its end is after its start.
const SHORTEST_RISE: Duration = Duration::from_micros(1);
