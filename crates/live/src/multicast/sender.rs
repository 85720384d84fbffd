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
use driver::{EventLoop, Platform, drive};
use transfer::{Outgoing, Payload, Status, Waits};
use units::Time;
use wire::stream::{Frame, KEY, Order, Reason, Role};

use crate::addresses::SENDER;
use crate::channel::Channel;
use crate::handshake::{Admission, Attempt, CallerHello, Listener};
use crate::keys::Key;
use crate::patience::Patience;
use crate::send::Sending;
use crate::session::{At, CLOSE_LINGER, CLOSE_TIMEOUT, Opened, POLL_INTERVAL, Work};
use crate::tx::Transmitter;
use crate::{Control, End, Handshake, Limits, Outcome, Phase, Scheme, Settings, Stats};

/// After this many times [`Limits`]' silence of a receiver, the sender pauses if no receiver was heard; receivers send a keep-alive once
/// per silence.
const SILENT: f64 = 3.0;

/// The group of a sender, and its limit of receivers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Group {
    /// Address and port of the group: an IP multicast address.
    pub address: SocketAddr,
    /// Maximum number of receivers at a time; further callers are told that the sender is busy.
    pub max: usize,
}

/// How the session with a receiver ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReceiverOutcome {
    /// Its number for the scheme and the payload.
    pub peer: u32,
    /// Its address.
    pub address: SocketAddr,
    /// How it ended.
    pub end: End,
}

/// Number of additional callers, beyond [`Group::max`], that may be receivers that reconnect.
const AGAIN: usize = 8;
/// Maximum number of stored ends of receivers.
const LEFT: usize = 65_536;

/// Sends `payload` with the paced scheme `scheme` to a group, and returns at the end: everything was transferred, it was stopped, or it
/// failed. Receivers call the address of `platform`; `settings.handshake` is ignored. Nothing is sent while no receiver is ready. `about`
/// (at most [`wire::stream::ABOUT`] bytes) is for receiving applications.
///
/// Returns the outcome and how it ended with each receiver, in the order of their ends. A receiver that reconnects is the same one, also
/// from another process with its number ([`Settings::caller`]): it counts once, with its last end.
///
/// Errors are the outcome's end: [`End::Failed`] if the address is not that of a group, the scheme cannot be used or the sizes are out of
/// range; [`End::Silent`] if all receivers timed out, [`End::Unanswered`] if none called.
pub fn send_to_group(
    settings: &Settings,
    group: &Group,
    scheme: &Scheme,
    payload: Box<dyn Payload>,
    about: Vec<u8>,
    platform: &mut impl Platform,
    control: &Control,
) -> (Outcome, Vec<ReceiverOutcome>) {
    let failed = |why| (Outcome { end: End::Failed(why), stats: Stats::default() }, Vec::new());
    if !group.address.ip().is_multicast() {
        return failed(format!("{} is the address of no group", group.address));
    }
    let work = match Sending::new(scheme, Outgoing::Paced(payload), about, settings.limits) {
        Ok(work) => work,
        Err(why) => return failed(why),
    };
    let settings = Settings { handshake: Handshake::Listen, ..settings.clone() };
    let mut group_sender = GroupSender::new(&settings, group, work, platform, control);
    let end = drive(&mut group_sender);
    group_sender.finish(end)
}

/// A receiver.
struct Member {
    peer: u32,
    caller: [u8; KEY],
    channel: Channel,
    /// It is ready for data.
    ready: bool,
    /// Its time without progress.
    patience: Patience,
    /// Its end, and until when it is still answered.
    gone: Option<(End, Time)>,
}

/// A sender and its receivers.
struct GroupSender<'a, O> {
    limits: Limits,
    /// Whether receivers have the key.
    trusted: bool,
    max: usize,
    work: Sending,
    tx: Transmitter<'a, O>,
    control: &'a Control,
    listener: Listener,
    group: wire::stream::Group,
    /// The channel to the group, which only sends.
    channel: Channel,
    /// By session number.
    members: BTreeMap<u32, Member>,
    /// Number of ready receivers.
    ready: usize,
    /// Whether a ready receiver was heard recently. Otherwise it is unknown whether any of them receives data.
    heard: bool,
    /// Number of the next receiver.
    peers: u32,
    /// Ends of receivers, with their public keys.
    left: Vec<([u8; KEY], ReceiverOutcome)>,
    /// Since when a receiver is ready without any report of an arrival.
    unheard_since: Option<Time>,
    /// Since when there is no receiver.
    alone_since: Time,
    poll_at: Time,
    /// Number of handled changes of mode.
    asked: u32,
    /// The requested end, and its deadline.
    closing: Option<(End, Time)>,
}

impl<O: Platform> EventLoop for GroupSender<'_, O> {
    type Platform = O;
    type Outcome = End;
    const SENDS: bool = true;

    fn platform(&mut self) -> &mut O {
        self.tx.platform
    }

    fn on_datagram(&mut self, bytes: &[u8], from: SocketAddr, ecn: Ecn, now: Time) -> Option<End> {
        self.take(bytes, from, ecn, now);
        None
    }

    fn on_time(&mut self, now: Time) -> Option<End> {
        if now >= self.poll_at {
            self.poll_at = now + POLL_INTERVAL;
            if let Some(end) = self.poll(now) {
                return Some(end);
            }
        }
        let mut tx = self.tx.on(&mut self.channel);
        if self.ready > 0 && self.heard && self.closing.is_none() {
            self.work.turn(now, &mut tx);
        }
        None
    }

    fn flush(&mut self) {
        self.tx.flush();
    }

    fn wake(&self, now: Time) -> Time {
        let listens = self.closing.is_none() && self.ready > 0 && self.heard;
        let work = if listens { self.work.wake(now) } else { Time::NEVER };
        work.min(self.poll_at)
    }

    fn packets_sent(&self) -> u64 {
        self.tx.stats.packets
    }
}

impl<'a, O: Platform> GroupSender<'a, O> {
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
        let mut tx = Transmitter::new(platform);
        let opened = Opened {
            now,
            peer: SENDER.endpoint.0,
            outer_bytes: channel.outer_bytes(),
            seed: u64::from_be_bytes(seed),
            rtt: None,
            binding: [0; KEY],
        };
        // it has no machine yet, and so nothing that could be refused
        let _ = work.open(None, &opened, &mut tx.stats);
        Self {
            limits: settings.limits,
            trusted: settings.secret != crate::Secret::none(),
            max: group.max,
            work,
            tx,
            control,
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

    fn finish(mut self, end: End) -> (Outcome, Vec<ReceiverOutcome>) {
        let now = self.tx.platform.now();
        for session in self.members.keys().copied().collect::<Vec<_>>() {
            let own = if end == End::Complete { End::Complete } else { End::Stopped };
            self.give_up(session, own);
        }
        self.work.close(&mut self.tx.stats, now);
        self.work.show(&self.control.progress);
        self.control.progress.peers.store(0, Ordering::Relaxed);
        self.control.progress.enter(Phase::Over);
        self.tx.stats.ended_at = now;
        self.tx.stats.overruns = self.tx.gso_batches.overruns;
        let left = self.left.into_iter().map(|(_, left)| left).collect();
        (Outcome { end, stats: self.tx.stats }, left)
    }

    // ---- what comes

    fn take(&mut self, bytes: &[u8], from: SocketAddr, ecn: Ecn, now: Time) {
        let found = self.listener.session_of(bytes, from, self.tx.platform, &mut self.tx.stats);
        let Some((session, opening)) = found else { return };
        if opening {
            return self.on_attempt(bytes, from, now);
        }
        let Some(member) = self.members.get_mut(&session) else {
            self.tx.stats.discarded.strangers += 1;
            return;
        };
        let known = member.channel.known;
        let Some(frame) = member.channel.read(bytes, from, now, &mut self.tx.stats) else { return };
        if !known {
            self.confirm(session, now);
        }
        let Some(member) = self.members.get_mut(&session) else { return };
        let at = At { now, ecn, length: bytes.len() };
        match frame {
            Frame::KeepAlive => {}
            Frame::Ack { serial } => member.channel.on_heard(serial, now),
            Frame::Order { serial, order } => self.on_order(session, serial, &order, now),
            frame => {
                let (peer, ready) = (member.peer, member.ready);
                let mut tx = self.tx.on(&mut self.channel);
                if self.closing.is_none() && !(ready && self.work.hear(peer, &frame, &at, &mut tx)) {
                    self.tx.stats.discarded.misplaced += 1;
                }
            }
        }
    }

    fn on_order(&mut self, session: u32, serial: u32, order: &Order, now: Time) {
        let Some(member) = self.members.get_mut(&session) else { return };
        let (new, answer) = member.channel.on_order(serial);
        if answer {
            self.tx.on(&mut member.channel).say(Frame::Ack { serial }, Ecn::NotCapable, now);
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
                let mut tx = self.tx.on(&mut self.channel);
                self.work.join(peer, *window, &binding, now, &mut tx);
            }
            Order::Close(reason) => {
                let end = if *reason == Reason::Complete { End::Complete } else { End::Closed(*reason) };
                let (was_ready, peer) = (std::mem::take(&mut member.ready), member.peer);
                member.gone.get_or_insert((end, now + CLOSE_LINGER));
                if was_ready {
                    self.leave(peer);
                }
            }
            // one receiver does not decide for all
            Order::Ready { .. } | Order::Mode(_) | Order::End { .. } => {
                self.tx.stats.discarded.misplaced += 1
            }
        }
    }

    fn on_attempt(&mut self, bytes: &[u8], from: SocketAddr, now: Time) {
        let Attempt::Hello(hello) =
            self.listener.on_attempt(bytes, from, now, self.tx.platform, &mut self.tx.stats)
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
            return self.listener.refuse(&hello, from, reason, self.tx.platform, &mut self.tx.stats);
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
    fn confirm(&mut self, session: u32, now: Time) {
        let Some(caller) = self.members.get(&session).map(|member| member.caller) else { return };
        let others =
            self.members.iter().filter(|(number, other)| **number != session && other.caller == caller);
        for other in others.map(|(number, _)| *number).collect::<Vec<_>>() {
            if let Some(other) = self.members.remove(&other).filter(|other| other.ready) {
                self.leave(other.peer);
            }
        }
        self.left.retain(|(left, _)| *left != caller);
        self.tx.stats.sessions += 1;
        self.tx.stats.opened_at = self.tx.stats.opened_at.min(now);
        self.control.progress.enter(Phase::Open);
    }

    fn admit(&mut self, hello: &CallerHello, from: SocketAddr, peer: u32, now: Time) {
        let admission = Admission { peer, group: Some(self.group) };
        loop {
            let (channel, welcome) =
                self.listener.admit(hello, from, now, admission, self.work.offer(), self.tx.platform);
            if channel.session == self.group.session || self.members.contains_key(&channel.session) {
                continue;
            }
            self.listener.welcome(hello, welcome, from, self.tx.platform, &mut self.tx.stats);
            let caller = hello.caller;
            let member =
                Member { peer, caller, channel, ready: false, patience: Patience::new(now), gone: None };
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
            self.left.push((
                member.caller,
                ReceiverOutcome { peer: member.peer, address: member.channel.to, end },
            ));
        }
    }

    // ---- time

    /// Publishes progress, handles requests of other threads, and serves each receiver. Returns the outcome if the session is over.
    fn poll(&mut self, now: Time) -> Option<End> {
        self.work.show(&self.control.progress);
        self.control.progress.peers.store(self.ready as u64, Ordering::Relaxed);
        self.control.progress.forged.store(self.tx.stats.discarded.forged, Ordering::Relaxed);
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
            self.serve_member(session, now);
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
            let mut tx = self.tx.on(&mut self.channel);
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
                return Some(if self.tx.stats.sessions > 0 { End::Silent } else { End::Unanswered });
            }
            Status::Going => {}
        }
        None
    }

    /// Says what is due to a receiver, and gives it up where it is silent for too long.
    fn serve_member(&mut self, session: u32, now: Time) {
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
        member.patience.look(moved, waits && member.ready, silent, now);
        let quiet = member.patience.lasts() >= self.limits.patience;
        if quiet {
            member.channel.order(Order::Close(Reason::Quiet), now);
            member.gone = Some((End::Quiet, now + CLOSE_LINGER));
        }
        let mut tx = self.tx.on(&mut member.channel);
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
        let linger = if end == End::Complete { self.limits.linger.max(CLOSE_TIMEOUT) } else { CLOSE_TIMEOUT };
        self.closing = Some((end, now + linger));
        self.control.progress.enter(Phase::Closing);
    }
}
