//! PGMCC at the source: the window, controlled by the acker, and the election of the acker.

use std::collections::VecDeque;

use contract::{Allowance, Count, Cx, EndpointId, Feedback, Label, OutgoingPacket, SenderAlgorithm};
use units::{Bytes, Duration, Rate, Time};

use super::election::{Election, Outcome, slowness};
use super::headers::{AckerField, DataHeader, PacketRange, ReceiverReport, ReportKind};
use super::record::Record;
use super::timeout::Timeout;
use super::window::Window;
use crate::pgmcc::Params;

/// The source's part [PGMCC].
///
/// It sends bursts: packets leave at once while there are tokens.
#[derive(Clone, Debug)]
pub struct Sender {
    packet: Bytes,
    max_timeouts: u32,
    window: Window,
    record: Record,
    election: Election,
    timeout: Timeout,
    /// NAKs that the next data packets confirm.
    unconfirmed: VecDeque<PacketRange>,
    started_at: Time,
    /// Number of the next packet.
    next: u64,
    /// Losses of packets below this number have reduced the window already.
    reduced_up_to: u64,
    /// The window before the last halving, which is restored if its packet was only overtaken.
    before_halving: Option<f64>,
    /// The window does not change until feedback for this packet or a later one.
    resumes: Option<u64>,
    /// Expiry of the timeout; [`Time::NEVER`] before its start.
    expires: Time,
    /// Timeouts since the last feedback of the acker.
    timeouts: u32,
}

impl Sender {
    /// A source of packets of size `packet`.
    pub(crate) fn new(params: &Params, packet: Bytes) -> Self {
        Self {
            packet,
            max_timeouts: params.max_timeouts,
            window: Window::new(params),
            record: Record::new(params.dupacks),
            election: Election::new(params.hysteresis),
            timeout: Timeout::new(params),
            unconfirmed: VecDeque::with_capacity(CONFIRMATIONS),
            started_at: Time::ZERO,
            next: 0,
            reduced_up_to: 0,
            before_halving: None,
            resumes: None,
            expires: Time::NEVER,
            timeouts: 0,
        }
    }

    /// The current acker.
    #[cfg(test)]
    pub(crate) fn acker(&self) -> Option<EndpointId> {
        self.election.acker()
    }

    /// The window W and the tokens T.
    #[cfg(test)]
    pub(crate) const fn window(&self) -> &Window {
        &self.window
    }

    /// The message of `from`, if it is valid.
    fn decode_report(&self, feedback: &Feedback, now: Time) -> Option<(ReceiverReport, Duration)> {
        let report = ReceiverReport::decode(feedback.label)?;
        let sent = match report.kind {
            ReportKind::Ack { newest, .. } => newest < self.next,
            ReportKind::Nak(run) => run.end() <= self.next,
            ReportKind::Dummy => true,
        };
        let known = sent && (self.started_at..=now).contains(&report.echo);
        // RTT = now − (departure + time held)
        known.then(|| (report, now - report.echo))
    }

    /// Passes a report to the election. Returns the result.
    fn consider(
        &mut self,
        from: EndpointId,
        report: &ReceiverReport,
        rtt: Duration,
        cx: &mut Cx<'_>,
    ) -> Outcome {
        let outcome = self.election.report(from, slowness(rtt, report.p), self.next);
        match outcome {
            Outcome::Elected => {
                // T ← T + 1: the packet that requested an election has arrived, and is not acknowledged
                self.record.forget(self.next);
                self.window.return_token();
            }
            Outcome::Switched => {}
            Outcome::Kept | Outcome::Refused => return outcome,
        }
        self.timeout.restart();
        self.timeout.sample(rtt);
        self.restart_timeout(cx.now());
        cx.event("acker", f64::from(from.0));
        outcome
    }

    /// Restarts the timeout after feedback of the acker.
    fn restart_timeout(&mut self, now: Time) {
        self.timeouts = 0;
        self.expires = now + self.timeout.span();
    }

    /// Takes an acknowledgement of `newest` and the 31 before. Returns whether it is new.
    fn acknowledged(&mut self, newest: u64, bitmap: u32, cx: &mut Cx<'_>) -> bool {
        let result = self.record.on_ack(newest, bitmap);
        if result.stale {
            return false;
        }
        if result.overtaken
            && let Some(window) = self.before_halving.take()
        {
            // ours: nothing was lost (RFC 4015 §3.2)
            self.window.restore(window);
            self.resumes = None;
        }
        if self.resumes.is_some_and(|packet| newest >= packet) {
            self.resumes = None;
        }
        if result.last_lost.is_some_and(|lost| lost >= self.reduced_up_to) {
            self.before_halving = Some(self.window.window());
            self.window.halve(result.acked, result.lost);
            self.suspend();
            self.resumes = Some(self.next);
            cx.count(Count::Episodes, 1);
        } else if self.resumes.is_some() {
            self.window.hold(result.acked, result.lost);
        } else {
            self.window.grow(result.acked, result.lost);
        }
        true
    }

    /// Excludes further reductions for packets that were sent up to now.
    fn suspend(&mut self) {
        self.reduced_up_to = self.next;
    }

    /// Restarts with a window of one packet.
    fn restart(&mut self) {
        self.window.restart();
        self.before_halving = None;
        self.record.forget(self.next);
        self.suspend();
        self.resumes = None;
        self.expires = Time::NEVER;
    }

    /// Removes the acker: the next packet requests an election.
    fn remove_acker(&mut self, cx: &mut Cx<'_>) {
        self.timeout.restart();
        self.timeouts = 0;
        if self.election.remove_acker().is_some() {
            cx.event("acker", -1.0);
        }
    }

    /// Stores a NAK that the next data packets confirm.
    fn confirm(&mut self, run: PacketRange) {
        if self.unconfirmed.iter().any(|known| known.covers(&run)) {
            return;
        }
        if self.unconfirmed.len() == CONFIRMATIONS {
            self.unconfirmed.pop_front();
        }
        self.unconfirmed.push_back(run);
    }

    fn show(&self, cx: &mut Cx<'_>) {
        if cx.probing() {
            cx.probe("window", self.window.window() * self.packet.as_f64());
            cx.probe("tokens", self.window.tokens());
        }
    }
}

impl SenderAlgorithm for Sender {
    fn on_feedback(&mut self, feedback: &Feedback, cx: &mut Cx<'_>) {
        let now = cx.now();
        let Some((report, rtt)) = self.decode_report(feedback, now) else {
            cx.count(Count::Ignored, 1);
            return;
        };
        let from = feedback.from;
        match report.kind {
            ReportKind::Ack { newest, bitmap, leaving } => {
                // an acknowledgement is valid if its packet named the sender as acker
                let named = self.election.named(from, newest);
                let stale = named && !self.acknowledged(newest, bitmap, cx);
                if leaving {
                    if self.election.acker() == Some(from) {
                        self.remove_acker(cx);
                        self.restart();
                    }
                } else if stale {
                    cx.count(Count::Ignored, 1);
                    return;
                } else {
                    match self.consider(from, &report, rtt, cx) {
                        Outcome::Kept => {
                            self.timeout.sample(rtt);
                            self.restart_timeout(now);
                            cx.measured_rtt(rtt);
                        }
                        Outcome::Refused if !named => cx.count(Count::Ignored, 1),
                        Outcome::Elected | Outcome::Switched | Outcome::Refused => {}
                    }
                }
            }
            ReportKind::Nak(run) => {
                self.confirm(run);
                self.consider(from, &report, rtt, cx);
            }
            ReportKind::Dummy => {
                self.consider(from, &report, rtt, cx);
            }
        }
        if let Some(srtt) = self.timeout.smoothed_s() {
            cx.probe("srtt", srtt);
        }
        self.show(cx);
    }

    #[inline]
    fn allowance(&self) -> Allowance {
        // a window below one packet stops the stream: T < 1
        let tokens = (self.window.tokens() + ROUNDING).max(0.0) as u64;
        Allowance { window: self.packet * tokens, rate: Rate::UNLIMITED }
    }

    fn on_start(&mut self, cx: &mut Cx<'_>) {
        self.started_at = cx.now();
    }

    fn stamp(&mut self, sending: &OutgoingPacket, cx: &mut Cx<'_>) -> Label {
        self.window.send();
        self.next = sending.seq + 1;
        if self.expires == Time::NEVER {
            self.expires = cx.now() + self.timeout.span();
        }
        self.show(cx);
        let acker = self.election.acker().map_or(AckerField::Elect, AckerField::Acker);
        DataHeader { acker, confirmed: self.unconfirmed.pop_front() }.encode()
    }

    fn on_timer(&mut self, cx: &mut Cx<'_>) {
        if cx.now() < self.expires {
            return;
        }
        self.restart();
        if self.election.acker().is_some() {
            cx.count(Count::Timeouts, 1);
            self.timeout.back_off();
            self.timeouts += 1;
            if self.timeouts >= self.max_timeouts {
                self.remove_acker(cx);
            }
        }
        self.show(cx);
    }

    #[inline]
    fn wake(&self) -> Time {
        self.expires
    }
}

/// Maximum rounding error of a whole token.
const ROUNDING: f64 = 1e-9;

/// Maximum number of NAKs to confirm; older ones are dropped.
const CONFIRMATIONS: usize = 16;
