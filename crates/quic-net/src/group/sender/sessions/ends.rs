//! How sessions with receivers end, and the end of the sender.

use driver::Platform;
use quinn_proto::ConnectionError;
use transfer::Status;
use units::Time;
use wire::stream::Reason;

use super::{CLOSE_TIMEOUT, Closing, Sender};
use crate::frames::Record;
use crate::host::Host;
use crate::{End, Phase};

impl Sender<'_> {
    // ---- members that leave

    /// A member has opened another connection. Returns its number.
    pub(super) fn replace<P: Platform>(
        &mut self,
        number: usize,
        host: &mut Host<P>,
        now: Time,
    ) -> Option<u32> {
        let member = self.members.get_mut(number)?.take()?;
        if member.ready {
            self.ready -= 1;
            self.flow.leave(member.peer?);
        }
        let why = "replaced by another connection";
        host.close(member.state.id, crate::REPLACED, why, now);
        member.peer
    }

    /// The connection of a member was lost, or closed by it.
    pub(super) fn on_lost(&mut self, number: usize, lost: &ConnectionError) {
        let end = match lost {
            ConnectionError::ApplicationClosed(close) => match crate::reason(close.error_code.into_inner()) {
                Reason::Complete => End::Complete,
                reason => End::Closed(reason),
            },
            _ => End::Silent,
        };
        self.leave(number, end);
    }

    /// Closes the connection of a member.
    pub(super) fn close_member<P: Platform>(
        &mut self,
        number: usize,
        end: End,
        reason: Reason,
        host: &mut Host<P>,
        now: Time,
    ) {
        let Some(Some(member)) = self.members.get(number) else { return };
        host.close(member.state.id, crate::code(reason), "", now);
        self.leave(number, end);
    }

    /// A member leaves.
    pub(super) fn leave(&mut self, number: usize, end: End) {
        let Some(member) = self.members.get_mut(number).and_then(Option::take) else { return };
        let Some(peer) = member.peer else { return };
        if member.ready {
            self.ready -= 1;
            self.flow.leave(peer);
        }
        self.left.add(&member, end);
        self.channel.epochs.expire();
    }

    // ---- the end

    /// Checks whether the transfer is over.
    pub(super) fn watch<P: Platform>(&mut self, host: &mut Host<P>, now: Time) {
        match self.flow.status() {
            Status::Failed(why) => {
                let reason = self.flow.payload().reason();
                self.close(End::Failed(why), reason, host, now);
            }
            Status::Complete => {
                self.send_to_all(&Record::Done);
                let until = now + self.limits.linger.max(CLOSE_TIMEOUT);
                self.closing = Some(Closing { end: End::Complete, until, closed: false });
                self.stats.ended_at = now;
                self.control.progress.enter(Phase::Closing);
            }
            Status::InProgress if self.control.stopped() => {
                self.close(End::Stopped, Reason::Stopped, host, now)
            }
            Status::InProgress if now.saturating_since(self.empty_since) >= self.limits.accept_timeout => {
                let end = if self.stats.sessions > 0 { End::Silent } else { End::Unanswered };
                self.close(end, Reason::Stopped, host, now);
            }
            Status::InProgress => {}
        }
    }

    /// Closes all connections.
    pub(super) fn close<P: Platform>(&mut self, end: End, reason: Reason, host: &mut Host<P>, now: Time) {
        self.exchange(host, now);
        let own = if end == End::Complete { End::Complete } else { End::Stopped };
        for number in 0..self.members.len() {
            self.close_member(number, own.clone(), reason, host, now);
        }
        if self.stats.ended_at == Time::ZERO {
            self.stats.ended_at = now;
        }
        self.control.progress.enter(Phase::Closing);
        self.closing = Some(Closing { end, until: now + CLOSE_TIMEOUT, closed: true });
    }

    /// The end, if it is over.
    pub(super) fn over<P: Platform>(&mut self, host: &mut Host<P>, now: Time) -> Option<End> {
        let Closing { end, until, closed } = self.closing.as_ref()?;
        if !closed && (now >= *until || self.admitted().next().is_none()) {
            let end = end.clone();
            self.close(end, Reason::Complete, host, now);
            return None;
        }
        (*closed && (host.count() == 0 || now >= *until)).then(|| end.clone())
    }
}
