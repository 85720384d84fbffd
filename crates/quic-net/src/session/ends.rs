//! How sessions end: close, loss of the connection, patience.

use std::sync::atomic::Ordering;

use crate::{End, Patience, Phase};
use contract::Count;
use driver::Platform;
use quinn_proto::{ConnectionError, PathStats, TransportErrorCode};
use transfer::{Pause, Status};
use units::{Duration, Time};
use wire::stream::{Reason, Role};

use super::{Application, CLOSE_TIMEOUT, RECONNECT_INTERVAL, Session};
use crate::connection::ConnectionState;
use crate::frames::Record;
use crate::host::Host;

/// The application error code of a connection that another connection of the same client replaces.
pub const REPLACED: u32 = 0x100;

/// The application error code of a reason: its index in [`Reason::ALL`].
pub fn code(reason: Reason) -> u32 {
    Reason::ALL.iter().position(|one| *one == reason).unwrap_or(0) as u32
}

/// The reason of an application error code.
pub fn reason(code: u64) -> Reason {
    usize::try_from(code).ok().and_then(|at| Reason::ALL.get(at).copied()).unwrap_or(Reason::Stopped)
}

impl<A: Application> Session<'_, A> {
    /// Ends the session, and closes its connection.
    pub(super) fn end<P: Platform>(
        &mut self,
        host: &mut Host<P>,
        end: End,
        reason: Reason,
        why: &str,
        now: Time,
    ) {
        self.with_context(host, now, |_, _| {});
        for number in 0..self.connections.len() {
            host.close(self.connections[number].id, code(reason), why, now);
        }
        if let Some(id) = self.active {
            host.close(id, code(reason), why, now);
        }
        self.stats.ended_at = self.stats.ended_at.max(now);
        self.control.progress.enter(Phase::Closing);
        self.closing = Some((end, now + CLOSE_TIMEOUT));
    }

    /// A connection was lost.
    pub(super) fn on_lost(&mut self, state: &ConnectionState, lost: ConnectionError, now: Time) {
        if self.active != Some(state.id) {
            return self.on_failed_attempt(&lost, now);
        }
        self.active = None;
        if let Some(client) = &mut self.client {
            client.next_at = now;
        }
        let end = match (self.application.status(), lost) {
            (Status::Complete, _) => End::Complete,
            (Status::Failed(why), _) => End::Failed(why),
            (Status::InProgress, ConnectionError::ApplicationClosed(close))
                if close.error_code.into_inner() != u64::from(REPLACED) =>
            {
                let (reason, text) = (reason(close.error_code.into_inner()), &close.reason[..]);
                let unmoved = self.application.progress() == Some(0);
                if self.client.is_none() && !self.trusted && unmoved {
                    // a server continues to listen
                    self.reset(now);
                    return;
                }
                match (reason, wire::printable(&String::from_utf8_lossy(text))) {
                    (Reason::Offer | Reason::Storage, text) if !text.is_empty() => {
                        End::Failed(format!("the other end closed the session: {text}"))
                    }
                    (reason, _) => End::Closed(reason),
                }
            }
            // the client reconnects; where a newer connection has replaced this one, its hello soon arrives
            (Status::InProgress, lost) => {
                if let (ConnectionError::ApplicationClosed(_), Some(client)) = (lost, &mut self.client) {
                    client.next_at = now + RECONNECT_INTERVAL;
                }
                self.control.progress.enter(Phase::Silent);
                return;
            }
        };
        self.stats.ended_at = self.stats.ended_at.max(now);
        self.closing = Some((end, now));
    }

    /// A connection was lost that was not the session's.
    fn on_failed_attempt(&mut self, lost: &ConnectionError, now: Time) {
        let Some(client) = &mut self.client else { return };
        client.next_at = now + RECONNECT_INTERVAL;
        let failed = match lost {
            ConnectionError::TransportError(_) if self.pins.rejection().is_some() => self.pins.rejection(),
            ConnectionError::ConnectionClosed(close)
                if u64::from(close.error_code) == NO_APPLICATION_PROTOCOL =>
            {
                Some(
                    "the other end uses another application protocol than `thalweg send` and `thalweg recv`"
                        .to_owned(),
                )
            }
            ConnectionError::ConnectionClosed(close) if is_crypto(close.error_code) => Some(format!(
                "the other end does not accept this one, whose fingerprint is {}: configure this fingerprint there, or the same pre-shared key at \
                 both ends ({})",
                self.own.0,
                wire::printable(&String::from_utf8_lossy(&close.reason))
            )),
            ConnectionError::VersionMismatch => {
                Some("the other end does not support QUIC version 1".to_owned())
            }
            ConnectionError::ApplicationClosed(close)
                if self.stats.sessions == 0 && close.error_code.into_inner() != u64::from(REPLACED) =>
            {
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

    /// Checks the timeouts of the peer, and whether the transfer is over.
    pub(super) fn watch<P: Platform>(&mut self, host: &mut Host<P>, now: Time) {
        if self.active.is_none() {
            return self.watch_disconnected(host, now);
        }
        if now >= self.received_at + self.limits.patience {
            return self.end(host, End::Silent, Reason::NoProgress, "", now);
        }
        if self.has_lost_patience(host, now) {
            return;
        }
        let silent = now >= self.received_at + self.limits.silence;
        if silent != self.silent {
            self.silent = silent;
            self.control.progress.enter(if silent { Phase::Silent } else { Phase::Open });
        }
        if silent {
            self.connect(host, now);
        }
        match self.application.status() {
            Status::InProgress => {}
            Status::Failed(why) => {
                let reason = self.application.reason();
                self.end(host, End::Failed(why.clone()), reason, &why, now);
            }
            Status::Complete if A::ROLE == Role::Receiver => {
                self.whole_at = self.whole_at.min(now);
                if now >= self.whole_at + self.limits.linger {
                    self.end(host, End::Complete, Reason::Complete, "", now);
                }
            }
            Status::Complete => match self.done_until {
                None => {
                    self.done_until = Some(now + self.limits.linger.max(CLOSE_TIMEOUT));
                    self.stats.ended_at = now;
                    self.control.progress.enter(Phase::Closing);
                    self.with_context(host, now, |_, context| context.send_record(&Record::Done));
                }
                Some(until) if now >= until => self.end(host, End::Complete, Reason::Complete, "", now),
                Some(_) => {}
            },
        }
    }

    /// Without a session: this end connects, or waits.
    fn watch_disconnected<P: Platform>(&mut self, host: &mut Host<P>, now: Time) {
        let (since, limit, end) = if self.stats.sessions > 0 {
            (self.received_at, self.limits.patience, End::Silent)
        } else {
            let limit = if self.client.is_some() { self.limits.patience } else { self.limits.accept_timeout };
            (self.started_at, limit, End::Unanswered)
        };
        if now >= since + limit {
            let end = match self.application.status() {
                Status::Complete => End::Complete,
                Status::Failed(why) => End::Failed(why),
                Status::InProgress => end,
            };
            return self.end(host, end, Reason::Stopped, "", now);
        }
        self.connect(host, now);
    }

    /// Ends the session if no data have been delivered for too long. Keep-alives do not count.
    fn has_lost_patience<P: Platform>(&mut self, host: &mut Host<P>, now: Time) -> bool {
        let waits = match self.application.pause() {
            Pause::Local => true,
            Pause::Remote => self.trusted,
            Pause::None => self.application.status() == Status::Complete,
        };
        self.patience.update(self.application.progress(), waits, self.silent, now);
        if self.patience.stalled() < self.limits.patience {
            return false;
        }
        if self.client.is_none() && self.application.progress() == Some(0) && !self.trusted {
            if let Some(id) = self.active.take() {
                host.close(id, code(Reason::NoProgress), "", now);
            }
            self.reset(now);
        } else {
            self.end(host, End::NoProgress, Reason::NoProgress, "", now);
        }
        true
    }

    /// The session had no result and starts over.
    fn reset(&mut self, now: Time) {
        self.application.reset(now);
        self.patience = Patience::new(now);
        self.stats.sessions = 0;
        self.control.progress.enter(Phase::Connecting);
    }

    /// Publishes progress.
    pub(super) fn show<P: Platform>(&mut self, host: &mut Host<P>) {
        let progress = &self.control.progress;
        self.application.show(progress);
        progress.forged.store(self.stats.discarded.forged, Ordering::Relaxed);
        let counters = host.counters;
        (self.stats.sent, self.stats.received) = (counters.sent, counters.received);
        self.stats.discarded.strangers = counters.strangers + counters.refused;
        self.stats.overruns = counters.overruns;
        // datagrams of clients that were not accepted carried no data
        if self.application.paced().is_some() || self.stats.sessions == 0 {
            return;
        }
        if let Some(connection) = self.active.and_then(|id| host.connection(id)) {
            self.outer_bytes =
                u64::from(crate::transport::OUTER[usize::from(connection.remote_address().is_ipv6())]);
            let path = connection.stats().path;
            self.count(&path, connection.is_handshaking());
        }
        // the last datagrams leave when the connection is over
        let traffic = if A::ROLE == Role::Sender { counters.sent } else { counters.received };
        self.stats.packets = traffic.datagrams;
        self.stats.bytes = traffic.bytes + self.outer_bytes * traffic.datagrams;
        let progress = &self.control.progress;
        progress.packets.store(self.stats.packets, Ordering::Relaxed);
        progress.bytes.store(self.stats.bytes, Ordering::Relaxed);
        progress.content.store(self.stats.content, Ordering::Relaxed);
    }

    /// Counters of the path of a windowed flow. The round-trip time is quinn's smoothed one, sampled at each
    /// invocation.
    fn count(&mut self, path: &PathStats, handshaking: bool) {
        let meter = &mut self.stats.meter;
        if !handshaking {
            let rtt = Duration::from_nanos(u64::try_from(path.rtt.as_nanos()).unwrap_or(u64::MAX));
            (meter.rtt_last, meter.rtt_min) = (rtt, meter.rtt_min.min(rtt));
            meter.rtt_count += 1;
            meter.rtt_sum_ns = meter.rtt_sum_ns.saturating_add(rtt.as_nanos());
            self.control.progress.rtt_ns.store(rtt.as_nanos(), Ordering::Relaxed);
        }
        if A::ROLE == Role::Receiver {
            return;
        }
        // of the connections before, and of this one
        let now = [path.lost_packets, path.congestion_events];
        let counted = std::mem::replace(&mut self.counted, (self.active, now));
        for (at, count) in [Count::Retransmits, Count::Episodes].into_iter().enumerate() {
            let before = if counted.0 == self.active { counted.1[at] } else { 0 };
            meter.counts[count as usize] += now[at].saturating_sub(before);
        }
        self.control.progress.lost.store(meter.count(Count::Retransmits), Ordering::Relaxed);
    }

    /// The event loop is over.
    pub(super) fn finish<P: Platform>(&mut self, host: &mut Host<P>, now: Time) {
        self.application.close(&mut self.stats, now);
        self.show(host);
        self.control.progress.peers.store(0, Ordering::Relaxed);
        self.control.progress.enter(Phase::Over);
        if self.stats.ended_at == Time::ZERO {
            self.stats.ended_at = now;
        }
    }
}

/// The alert of TLS of an end that supports none of its peer's application protocols [RFC7301 §3.2, RFC9001 §4.8].
const NO_APPLICATION_PROTOCOL: u64 = 0x100 + 120;

/// Whether an error is an alert of TLS [RFC9001 §4.8].
fn is_crypto(code: TransportErrorCode) -> bool {
    (0x100..0x200).contains(&u64::from(code))
}
