//! Who calls an end that listens, and when a new session takes the place of the one that is.

use std::net::SocketAddr;
use std::sync::atomic::Ordering;

use contract::Ecn;
use units::Time;
use wire::stream::{KEY, Offer, Order, Reason, Role, Word};

use super::{Mouth, ONLY, Open, Opened, Session, Work};
use crate::line::Line;
use crate::meeting::{Knock, Place};
use crate::{End, Outer, Phase};

/// Sessions that may wait to be shown to be their callers', at most.
const CANDIDATES: usize = 8;

/// A session that takes the place of the one that is, once its caller has spoken in it: until then anybody may have said hello in its name.
pub(super) struct Candidate {
    pub(super) line: Line,
    caller: [u8; KEY],
    offer: Option<Offer>,
}

impl<O: Outer, W: Work> Session<'_, O, W> {
    /// Something came for one who listens.
    pub(super) fn on_knock(&mut self, bytes: &[u8], from: SocketAddr, now: Time) -> Option<End> {
        let Knock::Hello(hello) = self.door.on_knock(bytes, from, now, self.outer, &mut self.stats) else {
            return None;
        };
        if [W::ROLE, Role::Agent].contains(&hello.role) {
            self.door.refuse(&hello, from, Reason::Mismatch, self.outer, &mut self.stats);
            return None;
        }
        if self.is_taken(&hello.caller) {
            self.door.refuse(&hello, from, Reason::Busy, self.outer, &mut self.stats);
            return None;
        }
        let alone = Place { peer: ONLY, group: None };
        let (line, welcome) = self.door.admit(&hello, from, now, alone, self.work.offer(), self.outer);
        let began = if self.open.is_none() {
            self.begin(&line, ONLY, hello.offer.as_ref(), now).map_err(|(reason, _)| reason)
        } else if self.would_drop(&hello.caller) {
            // what was agreed upon with the other one is forgotten
            Ok(None)
        } else {
            let opened = self.circumstances(&line, ONLY, now);
            self.work.would_open(hello.offer.as_ref(), &opened).map(|()| None)
        };
        match began {
            Ok(first) => {
                self.door.welcome(&hello, welcome, from, self.outer, &mut self.stats);
                if self.open.is_none() {
                    self.enter(line, Some(hello.caller), first, now);
                    return None;
                }
                if self.candidates.len() >= CANDIDATES {
                    self.candidates.pop_front();
                }
                let (caller, offer) = (hello.caller, hello.offer.clone());
                self.candidates.push_back(Candidate { line, caller, offer });
            }
            // whoever listens goes on listening
            Err(reason) => self.door.refuse(&hello, from, reason, self.outer, &mut self.stats),
        }
        None
    }

    /// Whether somebody is served who is not to be given up for this caller.
    fn is_taken(&self, caller: &[u8; KEY]) -> bool {
        let Some(open) = self.open.as_ref().filter(|open| open.line.known) else { return false };
        let gives_way = self.is_quiet() || (open.silent && self.work.takes_others());
        open.caller != Some(*caller) && !gives_way
    }

    /// Whether another than this caller is served, of which nothing has come.
    fn would_drop(&self, caller: &[u8; KEY]) -> bool {
        let another = self.open.as_ref().is_some_and(|open| open.caller != Some(*caller));
        another && self.work.moved() == Some(0)
    }

    /// A caller has spoken in a new session: it takes the place of the old one, unless somebody is served again meanwhile.
    pub(super) fn replace(&mut self, candidate: Candidate, now: Time) {
        let Candidate { mut line, caller, offer } = candidate;
        let began = if self.is_taken(&caller) {
            Err(Reason::Busy)
        } else {
            if self.would_drop(&caller) {
                self.drop_quiet(now);
            }
            self.begin(&line, ONLY, offer.as_ref(), now).map_err(|(reason, _)| reason)
        };
        match began {
            Ok(first) => self.enter(line, Some(caller), first, now),
            Err(reason) => {
                let (stats, trains) = (&mut self.stats, &mut self.trains);
                let mut mouth = Mouth { line: &mut line, trains, outer: self.outer, stats };
                mouth.say(Word::Order { serial: 0, order: Order::Close(reason) }, Ecn::NotCapable, now);
            }
        }
    }

    /// Has the work begin anew; its first order.
    pub(super) fn begin(
        &mut self,
        line: &Line,
        peer: u32,
        offer: Option<&Offer>,
        now: Time,
    ) -> Result<Option<Order>, (Reason, String)> {
        let opened = self.circumstances(line, peer, now);
        self.work.open(offer, &opened, &mut self.stats)
    }

    fn circumstances(&mut self, line: &Line, peer: u32, now: Time) -> Opened {
        let mut seed = [0; 8];
        self.outer.surprise(&mut seed);
        let (outer_bytes, binding, rtt) = (line.outer_bytes(), line.binding, line.rtt);
        Opened { now, peer, outer_bytes, seed: u64::from_be_bytes(seed), rtt, binding }
    }

    /// A session opens, in place of the one that was.
    pub(super) fn enter(
        &mut self,
        mut line: Line,
        caller: Option<[u8; KEY]>,
        first: Option<Order>,
        now: Time,
    ) {
        first.into_iter().for_each(|order| line.order(order, now));
        if let Some(mode) = &self.mode {
            self.work.on_mode(mode, now);
            line.order(Order::Mode(mode.clone()), now);
        }
        self.open = Some(Open::new(line, caller));
        self.stats.opened_at = self.stats.opened_at.min(now);
        self.control.progress.peers.store(1, Ordering::Relaxed);
        self.control.progress.enter(Phase::Open);
    }
}
