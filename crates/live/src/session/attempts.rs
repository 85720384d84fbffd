//! Connection attempts at a listening end, and the replacement of a session by a new one.

use std::net::SocketAddr;
use std::sync::atomic::Ordering;

use contract::Ecn;
use driver::Platform;
use units::Time;
use wire::stream::{Frame, KEY, Offer, Order, Reason, Role};

use super::{ONLY, Open, Opened, Session, Work};
use crate::channel::Channel;
use crate::handshake::{Admission, Attempt};
use crate::{End, Phase};

/// Sessions that may wait to be shown to be their callers', at most.
const CANDIDATES: usize = 8;

/// A session that takes the place of the one that is, once its caller has spoken in it: until then anybody may have said hello in its name.
pub(super) struct Candidate {
    pub(super) channel: Channel,
    caller: [u8; KEY],
    offer: Option<Offer>,
}

impl<O: Platform, W: Work> Session<'_, O, W> {
    /// Something came for one who listens.
    pub(super) fn on_attempt(&mut self, bytes: &[u8], from: SocketAddr, now: Time) -> Option<End> {
        let Attempt::Hello(hello) =
            self.listener.on_attempt(bytes, from, now, self.tx.platform, &mut self.tx.stats)
        else {
            return None;
        };
        if [W::ROLE, Role::Agent].contains(&hello.role) {
            self.listener.refuse(&hello, from, Reason::Mismatch, self.tx.platform, &mut self.tx.stats);
            return None;
        }
        if self.is_taken(&hello.caller) {
            self.listener.refuse(&hello, from, Reason::Busy, self.tx.platform, &mut self.tx.stats);
            return None;
        }
        let alone = Admission { peer: ONLY, group: None };
        let (channel, welcome) =
            self.listener.admit(&hello, from, now, alone, self.work.offer(), self.tx.platform);
        let began = if self.open.is_none() {
            self.begin(&channel, ONLY, hello.offer.as_ref(), now).map_err(|(reason, _)| reason)
        } else if self.would_drop(&hello.caller) {
            // what was agreed upon with the other one is forgotten
            Ok(None)
        } else {
            let opened = self.circumstances(&channel, ONLY, now);
            self.work.would_open(hello.offer.as_ref(), &opened).map(|()| None)
        };
        match began {
            Ok(first) => {
                self.listener.welcome(&hello, welcome, from, self.tx.platform, &mut self.tx.stats);
                if self.open.is_none() {
                    self.enter(channel, Some(hello.caller), first, now);
                    return None;
                }
                if self.candidates.len() >= CANDIDATES {
                    self.candidates.pop_front();
                }
                let (caller, offer) = (hello.caller, hello.offer.clone());
                self.candidates.push_back(Candidate { channel, caller, offer });
            }
            // whoever listens goes on listening
            Err(reason) => self.listener.refuse(&hello, from, reason, self.tx.platform, &mut self.tx.stats),
        }
        None
    }

    /// Whether somebody is served who is not to be given up for this caller.
    fn is_taken(&self, caller: &[u8; KEY]) -> bool {
        let Some(open) = self.open.as_ref().filter(|open| open.channel.known) else { return false };
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
        let Candidate { mut channel, caller, offer } = candidate;
        let began = if self.is_taken(&caller) {
            Err(Reason::Busy)
        } else {
            if self.would_drop(&caller) {
                self.drop_quiet(now);
            }
            self.begin(&channel, ONLY, offer.as_ref(), now).map_err(|(reason, _)| reason)
        };
        match began {
            Ok(first) => self.enter(channel, Some(caller), first, now),
            Err(reason) => {
                self.tx.on(&mut channel).say(
                    Frame::Order { serial: 0, order: Order::Close(reason) },
                    Ecn::NotCapable,
                    now,
                );
            }
        }
    }

    /// Has the work start over; its first order.
    pub(super) fn begin(
        &mut self,
        channel: &Channel,
        peer: u32,
        offer: Option<&Offer>,
        now: Time,
    ) -> Result<Option<Order>, (Reason, String)> {
        let opened = self.circumstances(channel, peer, now);
        self.work.open(offer, &opened, &mut self.tx.stats)
    }

    fn circumstances(&mut self, channel: &Channel, peer: u32, now: Time) -> Opened {
        let mut seed = [0; 8];
        self.tx.platform.fill_random(&mut seed);
        let (outer_bytes, binding, rtt) = (channel.outer_bytes(), channel.binding, channel.rtt);
        Opened { now, peer, outer_bytes, seed: u64::from_be_bytes(seed), rtt, binding }
    }

    /// A session opens, in place of the one that was.
    pub(super) fn enter(
        &mut self,
        mut channel: Channel,
        caller: Option<[u8; KEY]>,
        first: Option<Order>,
        now: Time,
    ) {
        first.into_iter().for_each(|order| channel.order(order, now));
        if let Some(mode) = &self.mode {
            self.work.on_mode(mode, now);
            channel.order(Order::Mode(mode.clone()), now);
        }
        self.open = Some(Open::new(channel, caller));
        self.tx.stats.opened_at = self.tx.stats.opened_at.min(now);
        self.control.progress.peers.store(1, Ordering::Relaxed);
        self.control.progress.enter(Phase::Open);
    }
}
