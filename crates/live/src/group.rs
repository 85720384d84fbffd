//! A sender and the many receivers of a group. Data go to all of them at once; everything else passes between the sender and each.
//!
//! Each receiver calls the sender, as in a session for two, and is told the group and a number by which the scheme knows it. What the
//! sender says to the group has a key of the group's own: who has it could also speak in the sender's place, so a group is as trustworthy
//! as its members. What a receiver says has a key that only it and the sender have.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::atomic::Ordering;

use contract::Ecn;
use units::Time;
use wire::stream::{Datagram, KEY, Malformed, Order, Reason, Role, Word};

use crate::content::{Payload, Standing, Waits};
use crate::keys::Key;
use crate::line::Line;
use crate::machine::SENDER;
use crate::meeting::{CallerHello, Door, Knock, Place};
use crate::send::Sending;
use crate::session::{At, GLANCE, GOODBYE, HEARS_OUT, Mouth, Opened, Work};
use crate::still::Still;
use crate::trains::Trains;
use crate::turns::{Turns, drive};
use crate::{Cargo, Control, End, Limits, Meet, Outcome, Outer, Phase, Scheme, Settings, Stats};

/// After so many of the silences that [`Limits`] grants one receiver, the sender stands still where no receiver was heard: those who hear the group say so
/// once in each.
const SILENT: f64 = 3.0;

/// Where a sender's data go, and who may have them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Group {
    /// Address and port of the group: an IP multicast address.
    pub address: SocketAddr,
    /// Receivers at one time, at most; who comes when there are so many is told that the sender is busy.
    pub most: usize,
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

/// So many callers beyond [`Group::most`] may say that they are one of those who are there.
const AGAIN: usize = 8;
/// What of a receiver that was given up is kept, at most.
const LEFT: usize = 65_536;

/// Sends `payload` by `scheme`, a paced one, to a group, and returns when that is over: all was done, it was stopped, or it cannot go on.
/// Receivers call the address of `outer`; `settings.meet` is not looked at. Nothing is sent while no receiver is ready. `about` (at most
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
    outer: &mut impl Outer,
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
    let settings = Settings { meet: Meet::Listen, ..settings.clone() };
    let mut gathering = Gathering::new(&settings, group, work, outer, control);
    let end = drive(&mut gathering);
    gathering.finish(end)
}

/// A receiver.
struct Member {
    peer: u32,
    caller: [u8; KEY],
    line: Line,
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
    most: usize,
    work: Sending,
    outer: &'a mut O,
    control: &'a Control,
    trains: Trains,
    stats: Stats,
    door: Door,
    group: wire::stream::Group,
    /// To the group. It is read from by nobody.
    line: Line,
    /// By the number of its session.
    members: BTreeMap<u32, Member>,
    /// So many of them are ready.
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
    glance_at: Time,
    /// Changes of mode that were asked for and taken.
    asked: u32,
    /// It is to end so, at this instant at the latest.
    closing: Option<(End, Time)>,
}

impl<O: Outer> Turns for Gathering<'_, O> {
    type Outer = O;
    const SENDS: bool = true;

    fn outer(&mut self) -> &mut O {
        self.outer
    }

    fn take(&mut self, bytes: &[u8], from: SocketAddr, ecn: Ecn, now: Time) -> Option<End> {
        self.take(bytes, from, ecn, now);
        None
    }

    fn turn(&mut self, now: Time) -> Option<End> {
        self.turn(now)
    }

    fn flush(&mut self) {
        self.trains.flush(self.outer);
    }

    fn wake(&self, now: Time) -> Time {
        self.wake(now)
    }

    fn packets(&self) -> u64 {
        self.stats.packets
    }
}

impl<'a, O: Outer> Gathering<'a, O> {
    fn new(
        settings: &Settings,
        group: &Group,
        mut work: Sending,
        outer: &'a mut O,
        control: &'a Control,
    ) -> Self {
        let now = outer.now();
        let door = Door::new(&settings.secret, group.most, outer);
        let (mut secret, mut drawn) = ([0; KEY], [0; 12]);
        outer.surprise(&mut secret);
        outer.surprise(&mut drawn);
        let [a, b, c, d, seed @ ..] = drawn;
        let session = u32::from_be_bytes([a, b, c, d]);
        let told = wire::stream::Group { address: group.address, session, secret };
        let key = Key::group(&settings.secret, &secret);
        let line = Line::new(group.address, session, [key.clone(), key], [0; KEY], now);
        let mut stats = Stats::default();
        let opened = Opened {
            now,
            peer: SENDER.endpoint.0,
            outer_bytes: line.outer_bytes(),
            seed: u64::from_be_bytes(seed),
            rtt: None,
            binding: [0; KEY],
        };
        // it has no machine yet, and so nothing that could be refused
        let _ = work.open(None, &opened, &mut stats);
        Self {
            limits: settings.limits,
            trusted: settings.secret != crate::Secret::none(),
            most: group.most,
            work,
            outer,
            control,
            trains: Trains::new(),
            stats,
            door,
            group: told,
            line,
            members: BTreeMap::new(),
            ready: 0,
            heard: true,
            peers: 1,
            left: Vec::new(),
            unheard_since: None,
            alone_since: now,
            glance_at: now,
            asked: 0,
            closing: None,
        }
    }

    fn finish(mut self, end: End) -> (Outcome, Vec<Left>) {
        let now = self.outer.now();
        for session in self.members.keys().copied().collect::<Vec<_>>() {
            let own = if end == End::Complete { End::Complete } else { End::Stopped };
            self.give_up(session, own);
        }
        self.work.close(&mut self.stats, now);
        self.work.show(&self.control.progress);
        self.control.progress.peers.store(0, Ordering::Relaxed);
        self.control.progress.enter(Phase::Over);
        self.stats.ended_at = now;
        self.stats.overruns = self.trains.overruns;
        let left = self.left.into_iter().map(|(_, left)| left).collect();
        (Outcome { end, stats: self.stats }, left)
    }

    // ---- what comes

    fn take(&mut self, bytes: &[u8], from: SocketAddr, ecn: Ecn, now: Time) {
        let (session, opening) = match Datagram::peek(bytes) {
            Ok(found) => found,
            Err(Malformed::Version) => {
                return self.door.on_other_version(bytes, from, self.outer, &mut self.stats);
            }
            Err(_) => {
                self.stats.refused.malformed += 1;
                return;
            }
        };
        if opening {
            return self.on_knock(bytes, from, now);
        }
        let Some(member) = self.members.get_mut(&session) else {
            self.stats.refused.strangers += 1;
            return;
        };
        let known = member.line.known;
        let Some(word) = member.line.read(bytes, from, now, &mut self.stats) else { return };
        if !known {
            self.know(session, now);
        }
        let Some(member) = self.members.get_mut(&session) else { return };
        let at = At { now, ecn, length: bytes.len() };
        match word {
            Word::Alive => {}
            Word::Heard { serial } => member.line.on_heard(serial, now),
            Word::Order { serial, order } => self.on_order(session, serial, &order, now),
            word => {
                let (peer, ready) = (member.peer, member.ready);
                let mut mouth = Mouth {
                    line: &mut self.line,
                    trains: &mut self.trains,
                    outer: self.outer,
                    stats: &mut self.stats,
                };
                if self.closing.is_none() && !(ready && self.work.hear(peer, &word, &at, &mut mouth)) {
                    self.stats.refused.misplaced += 1;
                }
            }
        }
    }

    fn on_order(&mut self, session: u32, serial: u32, order: &Order, now: Time) {
        let Some(member) = self.members.get_mut(&session) else { return };
        let (new, answer) = member.line.on_order(serial);
        if answer {
            let mut mouth = Mouth {
                line: &mut member.line,
                trains: &mut self.trains,
                outer: self.outer,
                stats: &mut self.stats,
            };
            mouth.say(Word::Heard { serial }, Ecn::NotCapable, now);
        }
        if !new {
            return;
        }
        match order {
            Order::Ready { window } if !member.ready && self.closing.is_none() => {
                member.ready = true;
                self.ready += 1;
                self.heard = true;
                let (peer, binding) = (member.peer, member.line.binding);
                let mut mouth = Mouth {
                    line: &mut self.line,
                    trains: &mut self.trains,
                    outer: self.outer,
                    stats: &mut self.stats,
                };
                self.work.join(peer, *window, &binding, now, &mut mouth);
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

    fn on_knock(&mut self, bytes: &[u8], from: SocketAddr, now: Time) {
        let Knock::Hello(hello) = self.door.on_knock(bytes, from, now, self.outer, &mut self.stats) else {
            return;
        };
        let again = self.members.iter().find(|(_, member)| member.caller == hello.caller);
        let again = again.map(|(_, member)| member.peer);
        let reason = match () {
            () if hello.role != Role::Receiver => Some(Reason::Mismatch),
            () if self.closing.is_some() => Some(Reason::Stopped),
            () if self.members.len() >= self.most.saturating_add(if again.is_some() { AGAIN } else { 0 }) => {
                Some(Reason::Busy)
            }
            () => None,
        };
        if let Some(reason) = reason {
            return self.door.refuse(&hello, from, reason, self.outer, &mut self.stats);
        }
        let left = self.left.iter().find(|(caller, _)| *caller == hello.caller);
        // it lost this end, or was started again; or it had been given up, or had said goodbye
        let peer = again.or(left.map(|(_, left)| left.peer)).unwrap_or_else(|| {
            self.peers += 1;
            self.peers - 1
        });
        self.admit(&hello, from, peer, now);
    }

    /// A receiver has spoken in this session for the first time: it is who it says that it is, and begins anew. Until then anybody may have
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
            let (line, welcome) = self.door.admit(hello, from, now, place, self.work.offer(), self.outer);
            if line.session == self.group.session || self.members.contains_key(&line.session) {
                continue;
            }
            self.door.welcome(hello, welcome, from, self.outer, &mut self.stats);
            let caller = hello.caller;
            let member = Member { peer, caller, line, ready: false, still: Still::new(now), gone: None };
            self.members.insert(member.line.session, member);
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
        if member.line.known && self.left.len() < LEFT {
            let end = member.gone.map_or(end, |(end, _)| end);
            self.left.push((member.caller, Left { peer: member.peer, address: member.line.to, end }));
        }
    }

    // ---- time

    fn turn(&mut self, now: Time) -> Option<End> {
        if now >= self.glance_at {
            self.glance_at = now + GLANCE;
            if let Some(end) = self.glance(now) {
                return Some(end);
            }
        }
        let mut mouth = Mouth {
            line: &mut self.line,
            trains: &mut self.trains,
            outer: self.outer,
            stats: &mut self.stats,
        };
        if self.ready > 0 && self.heard && self.closing.is_none() {
            self.work.turn(now, &mut mouth);
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
        let hears = |member: &Member| member.ready && now < member.line.heard_at + patience;
        let heard = self.ready == 0 || self.members.values().any(hears);
        if heard != self.heard {
            self.heard = heard;
            self.control.progress.enter(if heard { Phase::Open } else { Phase::Silent });
        }
        if self.members.values().any(|member| member.line.known) {
            self.alone_since = now;
            let mut mouth = Mouth {
                line: &mut self.line,
                trains: &mut self.trains,
                outer: self.outer,
                stats: &mut self.stats,
            };
            if mouth.line.too_quiet(now, self.limits.alive) {
                mouth.say(Word::Alive, Ecn::NotCapable, now);
            }
        }
        if let Some((end, until)) = &self.closing {
            let said = self.members.values().all(|member| member.line.settled());
            return (said || now >= *until).then(|| end.clone());
        }
        match self.work.standing() {
            Standing::Failed(why) => self.close(End::Failed(why), self.work.reason(), now),
            Standing::Whole => {
                if let Some(total) = self.work.total() {
                    self.order(&Order::End { total }, now);
                }
                self.close(End::Complete, Reason::Complete, now);
            }
            Standing::Going if self.control.stopped() => self.close(End::Stopped, Reason::Stopped, now),
            Standing::Going if now.saturating_since(self.alone_since) >= self.limits.waits => {
                return Some(if self.stats.sessions > 0 { End::Silent } else { End::Unanswered });
            }
            Standing::Going => {}
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
        let patience = if member.line.known { self.limits.patience } else { self.limits.silence };
        if now >= member.line.heard_at + patience {
            return self.give_up(session, End::Silent);
        }
        if !member.line.known {
            return;
        }
        // who has the key may have a program that takes nothing for a while
        let waits = self.trusted || self.work.waits() == Waits::Here;
        let moved = if member.ready { self.work.moved_by(member.peer) } else { Some(0) };
        let silent = now >= member.line.heard_at + self.limits.silence;
        member.still.look(moved, waits && member.ready, silent, now);
        let quiet = member.still.lasts() >= self.limits.patience;
        if quiet {
            member.line.order(Order::Close(Reason::Quiet), now);
            member.gone = Some((End::Quiet, now + HEARS_OUT));
        }
        let mut mouth = Mouth {
            line: &mut member.line,
            trains: &mut self.trains,
            outer: self.outer,
            stats: &mut self.stats,
        };
        if let Some((serial, order)) = mouth.line.due(now) {
            mouth.say(Word::Order { serial, order }, Ecn::NotCapable, now);
        }
        if quiet {
            let peer = member.peer;
            if std::mem::take(&mut member.ready) {
                self.leave(peer);
            }
            return;
        }
        // what the group hears says that this end lives; this, that it knows the receiver
        if mouth.line.too_quiet(now, self.limits.silence.scaled(0.5)) {
            mouth.say(Word::Alive, Ecn::NotCapable, now);
        }
    }

    /// Tells all receivers.
    fn order(&mut self, order: &Order, now: Time) {
        for member in self.members.values_mut().filter(|member| member.line.known && member.gone.is_none()) {
            member.line.order(order.clone(), now);
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
        work.min(self.glance_at)
    }
}
