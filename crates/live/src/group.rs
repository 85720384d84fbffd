//! A sender and the receivers of a multicast group. Data are sent to all of them at once; all other datagrams are sent between the sender and each
//! receiver.
//!
//! Each receiver opens a session with the sender, as in unicast, and receives the group and a number by which the scheme identifies it. Datagrams to
//! the group have a key of the group. Whoever has it could forge the sender's datagrams, so that a group is as trustworthy as its members. Datagrams
//! of a receiver have a key that only it and the sender know.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::atomic::Ordering;

use contract::Ecn;
use units::Time;
use wire::stream::{Datagram, Frame, KEY, Malformed, Order, Reason, Role};

use crate::channel::Channel;
use crate::content::{Payload, Status, Waits};
use crate::event_loop::{EventLoop, drive};
use crate::gso::GsoBatches;
use crate::handshake::{Attempt, CallerHello, Listener, Place};
use crate::keys::Key;
use crate::machine::SENDER;
use crate::send::Sending;
use crate::session::{At, GOODBYE, HEARS_OUT, Opened, POLL_INTERVAL, TxContext, Work};
use crate::still::Still;
use crate::{Cargo, Control, End, Handshake, Limits, Outcome, Phase, Platform, Scheme, Settings, Stats};

/// After this many of the silences that [`Limits`] grants one receiver, the sender stands still where no receiver was heard: those who hear the group say so
/// once in each.
const SILENT: f64 = 3.0;

/// Where a sender's data go, and who may have them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Group {
    /// Address and port of the group: an IP multicast address.
    pub address: SocketAddr,
    /// Receivers at one time, at most; who comes when there are so many is told that the sender is busy.
    pub max: usize,
}

/// How it ended with one receiver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Left {
    /// Its number, by which the scheme and the payload knew it.
    pub peer: u32,
    /// Where it was.
    pub address: SocketAddr,
    /// How it ended.
    pub end: End,
}

/// This many callers beyond [`Group::max`] may say that they are one of those who are there.
const AGAIN: usize = 8;
/// What of a receiver that was given up is kept, at most.
const LEFT: usize = 65_536;

/// Sends `payload` by `scheme`, a paced one, to a group, and returns when that is over: all was done, it was stopped, or it cannot go on.
/// Receivers call the address of `platform`; `settings.handshake` is not looked at. Nothing is sent while no receiver is ready. `about` (at most
/// [`wire::stream::ABOUT`] bytes) tells receiving applications what comes.
///
/// Returns the outcome and how it ended with each receiver, in the order in which they left. A receiver that comes back is the one that it
/// was, also in another process if that has its number ([`Settings::caller`]): it counts once, as it ended last.
///
/// What goes wrong is the outcome's end: [`End::Failed`] where the address is of no group, the scheme does not carry this or the sizes are
/// out of range; [`End::Silent`] where nobody is left for as long as the limits say, [`End::Unanswered`] where nobody came.
pub fn send_to_group(
    settings: &Settings,
    group: &Group,
    scheme: &Scheme,
    payload: Box<dyn Payload>,
    about: Vec<u8>,
    platform: &mut impl Platform,
    control: &Control,
) -> (Outcome, Vec<Left>) {
    let failed = |why| (Outcome { end: End::Failed(why), stats: Stats::default() }, Vec::new());
    if !group.address.ip().is_multicast() {
        return failed(format!("{} is the address of no group", group.address));
    }
    let work = match Sending::new(scheme, Cargo::Paced(payload), about, settings.limits) {
        Ok(work) => work,
        Err(why) => return failed(why),
    };
    let settings = Settings { handshake: Handshake::Listen, ..settings.clone() };
    let mut gathering = Gathering::new(&settings, group, work, platform, control);
    let end = drive(&mut gathering);
    gathering.finish(end)
}

/// A receiver.
struct Member {
    peer: u32,
    caller: [u8; KEY],
    channel: Channel,
    /// It is ready, and data are for it.
    ready: bool,
    /// For how long it has taken nothing.
    still: Still,
    /// It has gone, and is answered until then.
    gone: Option<(End, Time)>,
}

/// A sender and its receivers.
struct Gathering<'a, O> {
    limits: Limits,
    /// Receivers have the key.
    trusted: bool,
    max: usize,
    work: Sending,
    platform: &'a mut O,
    control: &'a Control,
    gso_batches: GsoBatches,
    stats: Stats,
    listener: Listener,
    group: wire::stream::Group,
    /// To the group. It is read from by nobody.
    channel: Channel,
    /// By the number of its session.
    members: BTreeMap<u32, Member>,
    /// This many of them are ready.
    ready: usize,
    /// Whether any of those who are ready was heard lately. Nobody may hear what is sent where none was.
    heard: bool,
    /// Number of the next receiver.
    peers: u32,
    /// Who left, and what it called itself.
    left: Vec<([u8; KEY], Left)>,
    /// The first receiver is ready since, and none has said that anything came.
    unheard_since: Option<Time>,
    /// Nobody is there since.
    alone_since: Time,
    poll_at: Time,
    /// Changes of mode that were asked for and taken.
    asked: u32,
    /// It is to end so, at this instant at the latest.
    closing: Option<(End, Time)>,
}

impl<O: Platform> EventLoop for Gathering<'_, O> {
    type Platform = O;
    const SENDS: bool = true;

    fn platform(&mut self) -> &mut O {
        self.platform
    }

    fn take(&mut self, bytes: &[u8], from: SocketAddr, ecn: Ecn, now: Time) -> Option<End> {
        self.take(bytes, from, ecn, now);
        None
    }

    fn turn(&mut self, now: Time) -> Option<End> {
        self.turn(now)
    }

    fn flush(&mut self) {
        self.gso_batches.flush(self.platform);
    }

    fn wake(&self, now: Time) -> Time {
        self.wake(now)
    }

    fn packets(&self) -> u64 {
        self.stats.packets
    }
}

impl<'a, O: Platform> Gathering<'a, O> {
    fn new(
        settings: &Settings,
        group: &Group,
        mut work: Sending,
        platform: &'a mut O,
        control: &'a Control,
    ) -> Self {
        let now = platform.now();
        let listener = Listener::new(&settings.secret, group.max, platform);
        let (mut secret, mut drawn) = ([0; KEY], [0; 12]);
        platform.fill_random(&mut secret);
        platform.fill_random(&mut drawn);
        let [a, b, c, d, seed @ ..] = drawn;
        let session = u32::from_be_bytes([a, b, c, d]);
        let told = wire::stream::Group { address: group.address, session, secret };
        let key = Key::group(&settings.secret, &secret);
        let channel = Channel::new(group.address, session, [key.clone(), key], [0; KEY], now);
        let mut stats = Stats::default();
        let opened = Opened {
            now,
            peer: SENDER.endpoint.0,
            outer_bytes: channel.outer_bytes(),
            seed: u64::from_be_bytes(seed),
            rtt: None,
            binding: [0; KEY],
        };
        // it has no machine yet, and so nothing that could be refused
        let _ = work.open(None, &opened, &mut stats);
        Self {
            limits: settings.limits,
            trusted: settings.secret != crate::Secret::none(),
            max: group.max,
            work,
            platform,
            control,
            gso_batches: GsoBatches::new(),
            stats,
            listener,
            group: told,
            channel,
            members: BTreeMap::new(),
            ready: 0,
            heard: true,
            peers: 1,
            left: Vec::new(),
            unheard_since: None,
            alone_since: now,
            poll_at: now,
            asked: 0,
            closing: None,
        }
    }

    fn finish(mut self, end: End) -> (Outcome, Vec<Left>) {
        let now = self.platform.now();
        for session in self.members.keys().copied().collect::<Vec<_>>() {
            let own = if end == End::Complete { End::Complete } else { End::Stopped };
            self.give_up(session, own);
        }
        self.work.close(&mut self.stats, now);
        self.work.show(&self.control.progress);
        self.control.progress.peers.store(0, Ordering::Relaxed);
        self.control.progress.enter(Phase::Over);
        self.stats.ended_at = now;
        self.stats.overruns = self.gso_batches.overruns;
        let left = self.left.into_iter().map(|(_, left)| left).collect();
        (Outcome { end, stats: self.stats }, left)
    }

    // ---- what comes

    fn take(&mut self, bytes: &[u8], from: SocketAddr, ecn: Ecn, now: Time) {
        let (session, opening) = match Datagram::peek(bytes) {
            Ok(found) => found,
            Err(Malformed::Version) => {
                return self.listener.on_other_version(bytes, from, self.platform, &mut self.stats);
            }
            Err(_) => {
                self.stats.refused.malformed += 1;
                return;
            }
        };
        if opening {
            return self.on_attempt(bytes, from, now);
        }
        let Some(member) = self.members.get_mut(&session) else {
            self.stats.refused.strangers += 1;
            return;
        };
        let known = member.channel.known;
        let Some(frame) = member.channel.read(bytes, from, now, &mut self.stats) else { return };
        if !known {
            self.know(session, now);
        }
        let Some(member) = self.members.get_mut(&session) else { return };
        let at = At { now, ecn, length: bytes.len() };
        match frame {
            Frame::KeepAlive => {}
            Frame::Ack { serial } => member.channel.on_heard(serial, now),
            Frame::Order { serial, order } => self.on_order(session, serial, &order, now),
            frame => {
                let (peer, ready) = (member.peer, member.ready);
                let mut tx = TxContext {
                    channel: &mut self.channel,
                    gso_batches: &mut self.gso_batches,
                    platform: self.platform,
                    stats: &mut self.stats,
                };
                if self.closing.is_none() && !(ready && self.work.hear(peer, &frame, &at, &mut tx)) {
                    self.stats.refused.misplaced += 1;
                }
            }
        }
    }

    fn on_order(&mut self, session: u32, serial: u32, order: &Order, now: Time) {
        let Some(member) = self.members.get_mut(&session) else { return };
        let (new, answer) = member.channel.on_order(serial);
        if answer {
            let mut tx = TxContext {
                channel: &mut member.channel,
                gso_batches: &mut self.gso_batches,
                platform: self.platform,
                stats: &mut self.stats,
            };
            tx.say(Frame::Ack { serial }, Ecn::NotCapable, now);
        }
        if !new {
            return;
        }
        match order {
            Order::Ready { window } if !member.ready && self.closing.is_none() => {
                member.ready = true;
                self.ready += 1;
                self.heard = true;
                let (peer, binding) = (member.peer, member.channel.binding);
                let mut tx = TxContext {
                    channel: &mut self.channel,
                    gso_batches: &mut self.gso_batches,
                    platform: self.platform,
                    stats: &mut self.stats,
                };
                self.work.join(peer, *window, &binding, now, &mut tx);
            }
            Order::Close(reason) => {
                let end = if *reason == Reason::Complete { End::Complete } else { End::Closed(*reason) };
                let (was_ready, peer) = (std::mem::take(&mut member.ready), member.peer);
                member.gone.get_or_insert((end, now + HEARS_OUT));
                if was_ready {
                    self.leave(peer);
                }
            }
            // one receiver does not decide for all
            Order::Ready { .. } | Order::Mode(_) | Order::End { .. } => self.stats.refused.misplaced += 1,
        }
    }

    fn on_attempt(&mut self, bytes: &[u8], from: SocketAddr, now: Time) {
        let Attempt::Hello(hello) =
            self.listener.on_attempt(bytes, from, now, self.platform, &mut self.stats)
        else {
            return;
        };
        let again = self.members.iter().find(|(_, member)| member.caller == hello.caller);
        let again = again.map(|(_, member)| member.peer);
        let reason = match () {
            () if hello.role != Role::Receiver => Some(Reason::Mismatch),
            () if self.closing.is_some() => Some(Reason::Stopped),
            () if self.members.len() >= self.max.saturating_add(if again.is_some() { AGAIN } else { 0 }) => {
                Some(Reason::Busy)
            }
            () => None,
        };
        if let Some(reason) = reason {
            return self.listener.refuse(&hello, from, reason, self.platform, &mut self.stats);
        }
        let left = self.left.iter().find(|(caller, _)| *caller == hello.caller);
        // it lost this end, or was started again; or it had been given up, or had said goodbye
        let peer = again.or(left.map(|(_, left)| left.peer)).unwrap_or_else(|| {
            self.peers += 1;
            self.peers - 1
        });
        self.admit(&hello, from, peer, now);
    }

    /// A receiver has spoken in this session for the first time: it is who it says that it is, and starts over. Until then anybody may have
    /// said hello in its name.
    fn know(&mut self, session: u32, now: Time) {
        let Some(caller) = self.members.get(&session).map(|member| member.caller) else { return };
        let others =
            self.members.iter().filter(|(number, other)| **number != session && other.caller == caller);
        for other in others.map(|(number, _)| *number).collect::<Vec<_>>() {
            if let Some(other) = self.members.remove(&other).filter(|other| other.ready) {
                self.leave(other.peer);
            }
        }
        self.left.retain(|(left, _)| *left != caller);
        self.stats.sessions += 1;
        self.stats.opened_at = self.stats.opened_at.min(now);
        self.control.progress.enter(Phase::Open);
    }

    fn admit(&mut self, hello: &CallerHello, from: SocketAddr, peer: u32, now: Time) {
        let place = Place { peer, group: Some(self.group) };
        loop {
            let (channel, welcome) =
                self.listener.admit(hello, from, now, place, self.work.offer(), self.platform);
            if channel.session == self.group.session || self.members.contains_key(&channel.session) {
                continue;
            }
            self.listener.welcome(hello, welcome, from, self.platform, &mut self.stats);
            let caller = hello.caller;
            let member = Member { peer, caller, channel, ready: false, still: Still::new(now), gone: None };
            self.members.insert(member.channel.session, member);
            break;
        }
    }

    /// Data are for one receiver less.
    fn leave(&mut self, peer: u32) {
        self.ready -= 1;
        self.work.leave(peer);
    }

    /// A receiver is no longer there.
    fn give_up(&mut self, session: u32, end: End) {
        let Some(member) = self.members.remove(&session) else { return };
        if member.ready {
            self.leave(member.peer);
        }
        if member.channel.known && self.left.len() < LEFT {
            let end = member.gone.map_or(end, |(end, _)| end);
            self.left.push((member.caller, Left { peer: member.peer, address: member.channel.to, end }));
        }
    }

    // ---- time

    fn turn(&mut self, now: Time) -> Option<End> {
        if now >= self.poll_at {
            self.poll_at = now + POLL_INTERVAL;
            if let Some(end) = self.glance(now) {
                return Some(end);
            }
        }
        let mut tx = TxContext {
            channel: &mut self.channel,
            gso_batches: &mut self.gso_batches,
            platform: self.platform,
            stats: &mut self.stats,
        };
        if self.ready > 0 && self.heard && self.closing.is_none() {
            self.work.turn(now, &mut tx);
        }
        None
    }

    /// Looks after everybody; why it is over, if it is.
    fn glance(&mut self, now: Time) -> Option<End> {
        self.work.show(&self.control.progress);
        self.control.progress.peers.store(self.ready as u64, Ordering::Relaxed);
        self.control.progress.forged.store(self.stats.refused.forged, Ordering::Relaxed);
        let awaited = self.ready > 0 && self.work.moved() == Some(0) && self.work.waits() != Waits::Here;
        let since = awaited.then(|| self.unheard_since.unwrap_or(now));
        self.unheard_since = since;
        let deaf = since.is_some_and(|since| now >= since + self.limits.silence);
        self.control.progress.deaf.store(deaf, Ordering::Relaxed);
        if let Some(mode) = self.control.mode(&mut self.asked) {
            self.work.on_mode(&mode, now);
            self.control.progress.set_mode(&mode);
            self.order(&Order::Mode(mode), now);
        }
        for session in self.members.keys().copied().collect::<Vec<_>>() {
            self.look_after(session, now);
        }
        let patience = self.limits.silence.scaled(SILENT);
        let hears = |member: &Member| member.ready && now < member.channel.heard_at + patience;
        let heard = self.ready == 0 || self.members.values().any(hears);
        if heard != self.heard {
            self.heard = heard;
            self.control.progress.enter(if heard { Phase::Open } else { Phase::Silent });
        }
        if self.members.values().any(|member| member.channel.known) {
            self.alone_since = now;
            let mut tx = TxContext {
                channel: &mut self.channel,
                gso_batches: &mut self.gso_batches,
                platform: self.platform,
                stats: &mut self.stats,
            };
            if tx.channel.too_quiet(now, self.limits.keep_alive) {
                tx.say(Frame::KeepAlive, Ecn::NotCapable, now);
            }
        }
        if let Some((end, until)) = &self.closing {
            let said = self.members.values().all(|member| member.channel.settled());
            return (said || now >= *until).then(|| end.clone());
        }
        match self.work.status() {
            Status::Failed(why) => self.close(End::Failed(why), self.work.reason(), now),
            Status::Whole => {
                if let Some(total) = self.work.total() {
                    self.order(&Order::End { total }, now);
                }
                self.close(End::Complete, Reason::Complete, now);
            }
            Status::Going if self.control.stopped() => self.close(End::Stopped, Reason::Stopped, now),
            Status::Going if now.saturating_since(self.alone_since) >= self.limits.waits => {
                return Some(if self.stats.sessions > 0 { End::Silent } else { End::Unanswered });
            }
            Status::Going => {}
        }
        None
    }

    /// Says what is due to a receiver, and gives it up where it is silent for too long.
    fn look_after(&mut self, session: u32, now: Time) {
        let Some(member) = self.members.get_mut(&session) else { return };
        if let Some((_, until)) = &member.gone {
            if now >= *until {
                self.give_up(session, End::Complete);
            }
            return;
        }
        let patience = if member.channel.known { self.limits.patience } else { self.limits.silence };
        if now >= member.channel.heard_at + patience {
            return self.give_up(session, End::Silent);
        }
        if !member.channel.known {
            return;
        }
        // who has the key may have a program that takes nothing for a while
        let waits = self.trusted || self.work.waits() == Waits::Here;
        let moved = if member.ready { self.work.moved_by(member.peer) } else { Some(0) };
        let silent = now >= member.channel.heard_at + self.limits.silence;
        member.still.look(moved, waits && member.ready, silent, now);
        let quiet = member.still.lasts() >= self.limits.patience;
        if quiet {
            member.channel.order(Order::Close(Reason::Quiet), now);
            member.gone = Some((End::Quiet, now + HEARS_OUT));
        }
        let mut tx = TxContext {
            channel: &mut member.channel,
            gso_batches: &mut self.gso_batches,
            platform: self.platform,
            stats: &mut self.stats,
        };
        if let Some((serial, order)) = tx.channel.due(now) {
            tx.say(Frame::Order { serial, order }, Ecn::NotCapable, now);
        }
        if quiet {
            let peer = member.peer;
            if std::mem::take(&mut member.ready) {
                self.leave(peer);
            }
            return;
        }
        // what the group hears says that this end lives; this, that it knows the receiver
        if tx.channel.too_quiet(now, self.limits.silence.scaled(0.5)) {
            tx.say(Frame::KeepAlive, Ecn::NotCapable, now);
        }
    }

    /// Tells all receivers.
    fn order(&mut self, order: &Order, now: Time) {
        for member in self.members.values_mut().filter(|member| member.channel.known && member.gone.is_none())
        {
            member.channel.order(order.clone(), now);
        }
    }

    fn close(&mut self, end: End, reason: Reason, now: Time) {
        self.order(&Order::Close(reason), now);
        let linger = if end == End::Complete { self.limits.linger.max(GOODBYE) } else { GOODBYE };
        self.closing = Some((end, now + linger));
        self.control.progress.enter(Phase::Closing);
    }

    fn wake(&self, now: Time) -> Time {
        let listens = self.closing.is_none() && self.ready > 0 && self.heard;
        let work = if listens { self.work.wake(now) } else { Time::NEVER };
        work.min(self.poll_at)
    }
}
