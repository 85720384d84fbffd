//! Reaction to another end that sends keep-alives and delivers no data.

use std::sync::atomic::Ordering;

use contract::Ecn;
use driver::Platform;
use transfer::{Status, Waits};
use units::Time;
use wire::stream::{Frame, Order, Reason};

use super::{CLOSE_TIMEOUT, Session, Work};
use crate::patience::{Patience, QUIET};
use crate::{End, Phase, Secret};

impl<O: Platform, W: Work> Session<'_, O, W> {
    /// Says how far it is.
    pub(super) fn show(&self) {
        let progress = &self.control.progress;
        self.work.show(progress);
        progress.forged.store(self.tx.stats.discarded.forged, Ordering::Relaxed);
    }

    /// Gives the other end up where nothing has been delivered for too long. Words that it lives do not count.
    pub(super) fn has_lost_patience(&mut self, now: Time) -> bool {
        let silent = self.open.as_ref().is_some_and(|open| open.silent);
        let waits = match self.work.waits() {
            Waits::Here => true,
            Waits::There => self.is_trusted(),
            Waits::Nobody => self.work.status() == Status::Whole,
        };
        self.patience.look(self.work.moved(), waits, silent, now);
        if self.patience.lasts() < self.limits.patience {
            return false;
        }
        if !self.calls && self.work.moved() == Some(0) && !self.is_trusted() {
            self.drop_quiet(now);
        } else if let Some(open) = &mut self.open {
            open.channel.order(Order::Close(Reason::Quiet), now);
            open.closing = Some((End::Quiet, now + CLOSE_TIMEOUT));
            self.tx.stats.ended_at = now;
            self.control.progress.enter(Phase::Closing);
        }
        true
    }

    /// Whether an end that nobody vouches for holds this one without delivering anything: it has no claim against another caller.
    pub(super) fn is_quiet(&self) -> bool {
        !self.is_trusted() && self.work.moved() == Some(0) && self.patience.lasts() >= QUIET
    }

    /// The other end has the key, or this end chose whom to call.
    fn is_trusted(&self) -> bool {
        self.calls || self.secret != Secret::none()
    }

    /// Gives up a session of which nothing came, and goes on listening.
    pub(super) fn drop_quiet(&mut self, now: Time) {
        if self.work.moved() != Some(0) {
            return;
        }
        if let Some(mut open) = self.open.take() {
            open.channel.order(Order::Close(Reason::Quiet), now);
            if let Some((serial, order)) = open.channel.due(now) {
                self.tx.on(&mut open.channel).say(Frame::Order { serial, order }, Ecn::NotCapable, now);
            }
        }
        self.work.forget(now);
        self.patience = Patience::new(now);
        self.control.progress.enter(Phase::Connecting);
    }
}
