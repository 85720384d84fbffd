//! How sessions end: close, loss of the connection, patience.

use std::sync::atomic::Ordering;

use crate::{End, Patience, Phase};
use contract::Count;
use driver::Platform;
use quinn_proto::{ConnectionError, PathStats, TransportErrorCode};
use transfer::{Status, Waits};
use units::{Duration, Time};
use wire::stream::{Reason, Role};

use super::{CALL_AGAIN, GOODBYE, Session, Work};
use crate::frames::Record;
use crate::host::Host;
use crate::lane::Lane;

/// The application error code of a connection whose place another connection of the same end takes.
pub(super) const REPLACED: u32 = 0x100;

/// The application error code of a reason: its place in [`Reason::ALL`].
pub fn code(reason: Reason) -> u32 {
    Reason::ALL.iter().position(|one| *one == reason).unwrap_or(0) as u32
}

/// The reason of an application error code.
pub fn reason(code: u64) -> Reason {
    usize::try_from(code).ok().and_then(|at| Reason::ALL.get(at).copied()).unwrap_or(Reason::Stopped)
}

impl<W: Work> Session<'_, W> {
    /// Ends the session, and closes its connection.
    pub(super) fn end<P: Platform>(
        &mut self,
        host: &mut Host<P>,
        end: End,
        reason: Reason,
        why: &str,
        now: Time,
    ) {
        self.with_link(host, now, |_, _| {});
        for number in 0..self.lanes.len() {
            host.close(self.lanes[number].id, code(reason), why, now);
        }
        if let Some(id) = self.active {
            host.close(id, code(reason), why, now);
        }
        self.stats.ended_at = self.stats.ended_at.max(now);
        self.control.progress.enter(Phase::Closing);
        self.closing = Some((end, now + GOODBYE));
    }

    /// A connection was lost.
    pub(super) fn on_lost(&mut self, lane: &Lane, lost: ConnectionError, now: Time) {
        if self.active != Some(lane.id) {
            return self.on_failed_call(&lost, now);
        }
        self.active = None;
        if let Some(calls) = &mut self.calls {
            calls.next_at = now;
        }
        let end = match (self.work.status(), lost) {
            (Status::Whole, _) => End::Complete,
            (Status::Failed(why), _) => End::Failed(why),
            (Status::Going, ConnectionError::ApplicationClosed(close))
                if close.error_code.into_inner() != u64::from(REPLACED) =>
            {
                let (reason, said) = (reason(close.error_code.into_inner()), &close.reason[..]);
                let unmoved = self.work.moved() == Some(0);
                if self.calls.is_none() && !self.trusted && unmoved {
                    // a listener goes on listening
                    self.forget(now);
                    return;
                }
                match (reason, wire::printable(&String::from_utf8_lossy(said))) {
                    (Reason::Offer | Reason::Storage, said) if !said.is_empty() => {
                        End::Failed(format!("the other end ended the session: {said}"))
                    }
                    (reason, _) => End::Closed(reason),
                }
            }
            // the same end may come back, or be called again; where a newer connection takes the place of this one, it soon says hello
            (Status::Going, lost) => {
                if let (ConnectionError::ApplicationClosed(_), Some(calls)) = (lost, &mut self.calls) {
                    calls.next_at = now + CALL_AGAIN;
                }
                self.control.progress.enter(Phase::Silent);
                return;
            }
        };
        self.stats.ended_at = self.stats.ended_at.max(now);
        self.closing = Some((end, now));
    }

    /// A connection was lost that was not that of the session.
    fn on_failed_call(&mut self, lost: &ConnectionError, now: Time) {
        let Some(calls) = &mut self.calls else { return };
        calls.next_at = now + CALL_AGAIN;
        let failed = match lost {
            ConnectionError::TransportError(_) if self.pins.complaint().is_some() => self.pins.complaint(),
            ConnectionError::ConnectionClosed(close)
                if u64::from(close.error_code) == NO_APPLICATION_PROTOCOL =>
            {
                Some(
                    "the other end runs another protocol over QUIC than `thalweg send` and `recv`".to_owned(),
                )
            }
            ConnectionError::ConnectionClosed(close) if is_crypto(close.error_code) => Some(format!(
                "the other end does not accept this one, which shows {}: name this fingerprint there, or give both ends the same pre-shared key \
                 ({})",
                self.own.0,
                wire::printable(&String::from_utf8_lossy(&close.reason))
            )),
            ConnectionError::VersionMismatch => {
                Some("the other end does not speak QUIC version 1".to_owned())
            }
            ConnectionError::ApplicationClosed(close) if self.stats.sessions == 0 => {
                let reason = reason(close.error_code.into_inner());
                self.closing = Some((End::Refused(reason), now));
                None
            }
            _ => None,
        };
        if let Some(why) = failed {
            self.closing = Some((End::Failed(why), now));
        }
    }

    /// Whether the other end is there, and whether there is anything left to do.
    pub(super) fn watch<P: Platform>(&mut self, host: &mut Host<P>, now: Time) {
        if self.active.is_none() {
            return self.watch_for_others(host, now);
        }
        if now >= self.heard_at + self.limits.patience {
            return self.end(host, End::Silent, Reason::Quiet, "", now);
        }
        if self.has_lost_patience(host, now) {
            return;
        }
        let silent = now >= self.heard_at + self.limits.silence;
        if silent != self.silent {
            self.silent = silent;
            self.control.progress.enter(if silent { Phase::Silent } else { Phase::Open });
        }
        if silent {
            self.call(host, now);
        }
        match self.work.status() {
            Status::Going => {}
            Status::Failed(why) => {
                let reason = self.work.reason();
                self.end(host, End::Failed(why.clone()), reason, &why, now);
            }
            Status::Whole if W::ROLE == Role::Receiver => {
                self.whole_at = self.whole_at.min(now);
                if now >= self.whole_at + self.limits.linger {
                    self.end(host, End::Complete, Reason::Complete, "", now);
                }
            }
            Status::Whole => match self.done {
                None => {
                    self.done = Some(now + self.limits.linger.max(GOODBYE));
                    self.stats.ended_at = now;
                    self.control.progress.enter(Phase::Closing);
                    self.with_link(host, now, |_, link| link.say(&Record::Done));
                }
                Some(until) if now >= until => self.end(host, End::Complete, Reason::Complete, "", now),
                Some(_) => {}
            },
        }
    }

    /// Nobody is there: this end calls, or waits.
    fn watch_for_others<P: Platform>(&mut self, host: &mut Host<P>, now: Time) {
        let (since, limit, end) = if self.stats.sessions > 0 {
            (self.heard_at, self.limits.patience, End::Silent)
        } else {
            let limit = if self.calls.is_some() { self.limits.patience } else { self.limits.waits };
            (self.began_at, limit, End::Unanswered)
        };
        if now >= since + limit {
            let end = match self.work.status() {
                Status::Whole => End::Complete,
                Status::Failed(why) => End::Failed(why),
                Status::Going => end,
            };
            return self.end(host, end, Reason::Stopped, "", now);
        }
        self.call(host, now);
    }

    /// Gives the other end up where nothing has been delivered for too long. Keep-alives do not count.
    fn has_lost_patience<P: Platform>(&mut self, host: &mut Host<P>, now: Time) -> bool {
        let waits = match self.work.waits() {
            Waits::Here => true,
            Waits::There => self.trusted,
            Waits::Nobody => self.work.status() == Status::Whole,
        };
        self.patience.look(self.work.moved(), waits, self.silent, now);
        if self.patience.lasts() < self.limits.patience {
            return false;
        }
        if self.calls.is_none() && self.work.moved() == Some(0) && !self.trusted {
            if let Some(id) = self.active.take() {
                host.close(id, code(Reason::Quiet), "", now);
            }
            self.forget(now);
        } else {
            self.end(host, End::Quiet, Reason::Quiet, "", now);
        }
        true
    }

    /// Nobody was served after all: the session starts over.
    fn forget(&mut self, now: Time) {
        self.work.forget(now);
        self.patience = Patience::new(now);
        self.stats.sessions = 0;
        self.control.progress.enter(Phase::Connecting);
    }

    /// Publishes progress.
    pub(super) fn show<P: Platform>(&mut self, host: &mut Host<P>) {
        let progress = &self.control.progress;
        self.work.show(progress);
        progress.forged.store(self.stats.discarded.forged, Ordering::Relaxed);
        let counters = host.counters;
        (self.stats.sent, self.stats.received) = (counters.sent, counters.received);
        self.stats.discarded.strangers = counters.strangers + counters.refused;
        self.stats.overruns = counters.overruns;
        // datagrams of callers that were not accepted carried no data
        if self.work.paced().is_some() || self.stats.sessions == 0 {
            return;
        }
        if let Some(connection) = self.active.and_then(|id| host.connection(id)) {
            self.outer_bytes =
                u64::from(crate::transport::OUTER[usize::from(connection.remote_address().is_ipv6())]);
            let path = connection.stats().path;
            self.count(&path, connection.is_handshaking());
        }
        // the last datagrams leave when the connection is over
        let traffic = if W::ROLE == Role::Sender { counters.sent } else { counters.received };
        self.stats.packets = traffic.datagrams;
        self.stats.bytes = traffic.bytes + self.outer_bytes * traffic.datagrams;
        let progress = &self.control.progress;
        progress.packets.store(self.stats.packets, Ordering::Relaxed);
        progress.bytes.store(self.stats.bytes, Ordering::Relaxed);
        progress.content.store(self.stats.content, Ordering::Relaxed);
    }

    /// Counters of the path of a windowed flow. A round-trip time is quinn's smoothed one, sampled at each call.
    fn count(&mut self, path: &PathStats, handshaking: bool) {
        let meter = &mut self.stats.meter;
        if !handshaking {
            let rtt = Duration::from_nanos(u64::try_from(path.rtt.as_nanos()).unwrap_or(u64::MAX));
            (meter.rtt_last, meter.rtt_min) = (rtt, meter.rtt_min.min(rtt));
            meter.rtt_count += 1;
            meter.rtt_sum_ns = meter.rtt_sum_ns.saturating_add(rtt.as_nanos());
            self.control.progress.rtt_ns.store(rtt.as_nanos(), Ordering::Relaxed);
        }
        if W::ROLE == Role::Receiver {
            return;
        }
        // of the connections before, and of this one
        let now = [path.lost_packets, path.congestion_events];
        let seen = std::mem::replace(&mut self.seen, (self.active, now));
        for (at, count) in [Count::Retransmits, Count::Episodes].into_iter().enumerate() {
            let before = if seen.0 == self.active { seen.1[at] } else { 0 };
            meter.counts[count as usize] += now[at].saturating_sub(before);
        }
        self.control.progress.lost.store(meter.count(Count::Retransmits), Ordering::Relaxed);
    }

    /// The event loop is over.
    pub(super) fn finish<P: Platform>(&mut self, host: &mut Host<P>, now: Time) {
        self.work.close(&mut self.stats, now);
        self.show(host);
        self.control.progress.peers.store(0, Ordering::Relaxed);
        self.control.progress.enter(Phase::Over);
        if self.stats.ended_at == Time::ZERO {
            self.stats.ended_at = now;
        }
    }
}

/// The alert of TLS of an end that knows none of the other's application protocols [RFC7301 §3.2, RFC9001 §4.8].
const NO_APPLICATION_PROTOCOL: u64 = 0x100 + 120;

/// Whether an error is an alert of TLS [RFC9001 §4.8].
fn is_crypto(code: TransportErrorCode) -> bool {
    (0x100..0x200).contains(&u64::from(code))
}
