//! A sender and the connections of its receivers.

use std::sync::atomic::Ordering;

use bytes::Bytes;
use contract::{Ecn, EndpointId};
use driver::Platform;
use quic_net::Settings;
use quic_net::frames::{Record, Secret, VERSION};
use quic_net::host::{Host, Hosted, Protocol};
use quic_net::lane::{Lane, binding};
use quic_net::{Control, End, Limits, Outcome, Phase, Stats};
use quinn_proto::{Connection, ConnectionError, ConnectionHandle, Dir, Event, StreamEvent};
use transfer::Waits;
use units::{Duration, Time};
use wire::stream::{Reason, Role};

use crate::channel::Channel;
use crate::flow::Flow;
use crate::member::{Left, Member};
use crate::send::ReceiverOutcome;

mod ends;

/// Interval at which progress is published, receivers are looked after, and requests of other threads are read.
const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// How long the end waits for closing periods of connections.
const GOODBYE: Duration = Duration::from_secs(1);
/// The sender pauses where packets of the group arrive at no receiver, or after this many times [`Limits`]' silence of all of them.
const SILENT: f64 = 3.0;
/// Connections that have not said hello. Of more, those that came first are closed.
const STRANGERS: usize = 64;

/// A sender to a group.
pub(crate) struct Sender<'a> {
    limits: Limits,
    /// Receivers are authenticated.
    trusted: bool,
    max: usize,
    flow: Flow,
    channel: Channel,
    control: &'a Control,
    /// By the number of the connection's handle.
    members: Vec<Option<Member>>,
    /// Numbers of members whose control stream is to be read and written.
    pending: Vec<usize>,
    /// What came in DATAGRAM frames since the last turn.
    inbox: Vec<Heard>,
    /// Number of ready receivers.
    ready: usize,
    /// Whether a ready receiver was heard recently. Otherwise it is unknown whether any of them receives data.
    heard: bool,
    /// Number of the next receiver.
    peers: u32,
    left: Left,
    /// Since when a receiver is ready without any report of an arrival.
    unheard_since: Option<Time>,
    /// Since when there is no receiver.
    alone_since: Time,
    poll_at: Time,
    /// Changes of mode that were asked for and taken, and the last one.
    asked: u32,
    mode: Option<String>,
    stats: Stats,
    closing: Option<Closing>,
}

/// The content of a DATAGRAM frame.
struct Heard {
    member: usize,
    bytes: Bytes,
    ecn: Ecn,
    at: Time,
}

/// The end of the session.
struct Closing {
    end: End,
    /// Receivers close by themselves until then, and connections are in their closing period afterwards.
    until: Time,
    /// All connections have been closed.
    closed: bool,
}

impl Protocol for Sender<'_> {
    fn on_packet(&mut self, id: ConnectionHandle, connection: &mut Connection, ecn: Ecn, now: Time) {
        let Some(member) = self.members.get_mut(id.0).and_then(Option::as_mut) else { return };
        member.lane.heard_at = now;
        while let Some(bytes) = connection.datagrams().recv() {
            self.inbox.push(Heard { member: id.0, bytes, ecn, at: now });
        }
    }

    fn on_event(&mut self, id: ConnectionHandle, connection: &mut Connection, event: Event, now: Time) {
        match event {
            Event::Connected => {
                if self.members.len() <= id.0 {
                    self.members.resize_with(id.0 + 1, || None);
                }
                let mut lane = Lane::new(id, now);
                lane.connected = true;
                self.members[id.0] = Some(Member::new(lane, connection.remote_address(), now));
                self.pending.push(id.0);
            }
            Event::ConnectionLost { reason } => match self.members.get_mut(id.0).and_then(Option::as_mut) {
                Some(member) => {
                    member.lane.lost = Some(reason);
                    self.note(id.0);
                }
                // a caller that is not accepted, or gave up
                None => self.stats.discarded.forged += 1,
            },
            Event::Stream(
                StreamEvent::Opened { dir: Dir::Bi }
                | StreamEvent::Readable { .. }
                | StreamEvent::Writable { .. },
            ) => self.note(id.0),
            _ => {}
        }
    }
}

impl<P: Platform> Hosted<P> for Sender<'_> {
    fn turn(&mut self, host: &mut Host<P>, now: Time) -> Option<End> {
        self.exchange(host, now);
        self.listen(host, now);
        if now >= self.poll_at {
            self.poll_at = now + POLL_INTERVAL;
            self.poll(host, now);
        }
        if self.sends() {
            self.flow.turn(now, &mut self.channel, &mut host.platform, &mut self.stats);
        }
        self.exchange(host, now);
        self.channel.gso_batches.flush(&mut host.platform);
        self.over(host, now)
    }

    fn wake(&self, now: Time) -> Time {
        let flow = if self.sends() { self.flow.wake(now) } else { Time::NEVER };
        flow.min(self.poll_at)
    }

    fn paced(&self) -> Option<u64> {
        Some(self.flow.packets())
    }
}

impl<'a> Sender<'a> {
    pub(crate) fn new(
        settings: &Settings,
        max: usize,
        flow: Flow,
        channel: Channel,
        control: &'a Control,
        now: Time,
    ) -> Self {
        Self {
            limits: settings.limits,
            trusted: settings.credentials.authenticate(),
            max,
            flow,
            channel,
            control,
            members: Vec::new(),
            pending: Vec::new(),
            inbox: Vec::new(),
            ready: 0,
            heard: true,
            peers: 1,
            left: Left::default(),
            unheard_since: None,
            alone_since: now,
            poll_at: now,
            asked: 0,
            mode: None,
            stats: Stats::default(),
            closing: None,
        }
    }

    /// The event loop is over.
    pub(crate) fn finish<P: Platform>(
        mut self,
        end: End,
        host: &mut Host<P>,
    ) -> (Outcome, Vec<ReceiverOutcome>) {
        self.flow.retire(&mut self.stats);
        self.flow.show(&self.control.progress);
        self.control.progress.peers.store(0, Ordering::Relaxed);
        self.control.progress.enter(Phase::Over);
        let (counters, channel) = (host.counters, &self.channel);
        self.stats.sent = counters.sent;
        self.stats.sent.datagrams += channel.sent.datagrams;
        self.stats.sent.bytes += channel.sent.bytes;
        self.stats.received = counters.received;
        self.stats.discarded.strangers = counters.strangers + counters.refused;
        self.stats.overruns = counters.overruns + channel.gso_batches.overruns + channel.unsealed;
        (Outcome { end, stats: self.stats }, self.left.outcomes())
    }

    /// Whether data may be sent now.
    fn sends(&self) -> bool {
        self.ready > 0 && self.heard && self.closing.is_none()
    }

    /// The members that have said hello.
    fn admitted(&self) -> impl Iterator<Item = &Member> {
        self.members.iter().flatten().filter(|member| member.peer.is_some())
    }

    /// The control stream of a member is to be read and written in the next turn.
    fn note(&mut self, number: usize) {
        if let Some(Some(member)) = self.members.get_mut(number)
            && !member.pending
        {
            member.pending = true;
            self.pending.push(number);
        }
    }

    // ---- what comes

    /// Handles what came in DATAGRAM frames.
    fn listen<P: Platform>(&mut self, host: &mut Host<P>, now: Time) {
        let mut inbox = std::mem::take(&mut self.inbox);
        for Heard { member, bytes, ecn, at } in inbox.drain(..) {
            let Some(Some(member)) = self.members.get(member) else { continue };
            let (Some(peer), true, None) = (member.peer, member.ready, &self.closing) else {
                self.stats.discarded.misplaced += 1;
                continue;
            };
            let outer_bytes = member.outer_bytes;
            // what was due before comes first: a machine that is shown the present has missed its deadlines
            if self.sends() {
                self.flow.turn(now, &mut self.channel, &mut host.platform, &mut self.stats);
            }
            if !self.flow.hear(peer, &bytes, outer_bytes, ecn, at) {
                self.stats.discarded.misplaced += 1;
            }
        }
        self.inbox = inbox;
    }

    /// Reads and writes the control streams on which something came, or is to be said.
    fn exchange<P: Platform>(&mut self, host: &mut Host<P>, now: Time) {
        let mut at = 0;
        // a record can have something said to other members
        while let Some(&number) = self.pending.get(at) {
            at += 1;
            if let Some(Some(member)) = self.members.get_mut(number) {
                member.pending = false;
                self.read(number, host, now);
            }
        }
        self.pending.clear();
    }

    /// Reads the control stream of a member.
    fn read<P: Platform>(&mut self, number: usize, host: &mut Host<P>, now: Time) {
        loop {
            let Some(Some(member)) = self.members.get_mut(number) else { return };
            let Some(connection) = host.connection(member.lane.id) else {
                return self.on_lost(number, &ConnectionError::TimedOut);
            };
            member.lane.control.exchange(connection);
            match member.lane.control.next_record() {
                Ok(Some(record)) => self.on_record(number, record, host, now),
                Ok(None) => match member.lane.lost.take() {
                    Some(lost) => return self.on_lost(number, &lost),
                    None => return,
                },
                Err(_) => {
                    self.stats.discarded.malformed += 1;
                    let end = End::Failed("it sends no records of Thalweg".to_owned());
                    return self.dismiss(number, end, Reason::Mismatch, host, now);
                }
            }
        }
    }

    fn on_record<P: Platform>(&mut self, number: usize, record: Record, host: &mut Host<P>, now: Time) {
        let Some(Some(member)) = self.members.get_mut(number) else { return };
        match (record, member.peer) {
            (Record::Hello { version, role, caller }, None) => {
                self.on_hello(number, version, role, caller, host, now);
            }
            (Record::Ready { object: 0 }, Some(peer)) if !member.ready && self.closing.is_none() => {
                let Some(connection) = host.connection(member.lane.id) else { return };
                member.ready = true;
                self.ready += 1;
                self.heard = true;
                self.flow.join(peer, &binding(connection));
            }
            (Record::Message { object: 0, bytes }, Some(peer)) if member.ready && self.closing.is_none() => {
                self.flow.on_message(peer, &bytes, now);
            }
            (Record::Hears(hears), Some(_)) => member.hears = hears,
            (Record::HasKey { epoch }, Some(_)) => member.epoch = member.epoch.max(Some(epoch)),
            // one receiver does not decide for all
            _ => self.stats.discarded.misplaced += 1,
        }
    }

    /// The receiver of a connection says hello: it becomes a member, or it is told why not.
    fn on_hello<P: Platform>(
        &mut self,
        number: usize,
        version: u8,
        role: Role,
        caller: [u8; 32],
        host: &mut Host<P>,
        now: Time,
    ) {
        let again = self.members.iter().position(|member| {
            member.as_ref().is_some_and(|member| member.peer.is_some() && member.lane.caller == caller)
        });
        let refused = match () {
            () if version != VERSION || role != Role::Receiver => Some(Reason::Mismatch),
            () if self.closing.is_some() => Some(Reason::Stopped),
            () if again.is_none() && self.admitted().count() >= self.max => Some(Reason::Busy),
            () => None,
        };
        if let Some(reason) = refused {
            return self.dismiss(number, End::Refused(reason), reason, host, now);
        }
        // it lost this end, or was started again; or it had been given up, or had left
        let before = again.and_then(|again| self.replace(again, host, now));
        let peer = before.or(self.left.back(&caller)).unwrap_or_else(|| {
            self.peers += 1;
            self.peers - 1
        });
        let Some(Some(member)) = self.members.get_mut(number) else { return };
        (member.peer, member.lane.caller) = (Some(peer), caller);
        let control = &mut member.lane.control;
        control.say(&Record::Hello { version: VERSION, role: Role::Sender, caller: [0; 32] });
        let (address, session) = (self.channel.address(), self.channel.epochs.session());
        control.say(&Record::Group { address, session, peer });
        self.channel.epochs.records().for_each(|key| control.say(&key));
        if let Some(mode) = &self.mode {
            control.say(&Record::Mode(mode.clone()));
        }
        let offer = self.flow.offer().clone();
        control.say(&Record::Offer { object: 0, more: false, folders: Vec::new(), offer });
        control.say(&Record::First { object: 0, seq: 0 });
        self.stats.sessions += 1;
        self.stats.opened_at = self.stats.opened_at.min(now);
        self.control.progress.enter(Phase::Open);
    }

    // ---- time

    /// Publishes progress, handles requests of other threads, and looks after each receiver.
    fn poll<P: Platform>(&mut self, host: &mut Host<P>, now: Time) {
        self.show(now);
        if let Some(mode) = self.control.mode(&mut self.asked) {
            self.flow.on_mode(&mode, now);
            self.control.progress.set_mode(&mode);
            self.say(&Record::Mode(mode.clone()));
            self.mode = Some(mode);
        }
        for number in 0..self.members.len() {
            self.look_after(number, host, now);
        }
        self.drop_strangers(host, now);
        let patience = self.limits.silence.scaled(SILENT);
        let hears = |member: &Member| member.ready && member.hears && now < member.lane.heard_at + patience;
        let heard = self.ready == 0 || self.admitted().any(hears);
        if heard != self.heard && self.closing.is_none() {
            self.control.progress.enter(if heard { Phase::Open } else { Phase::Silent });
        }
        self.heard = heard;
        if self.admitted().next().is_some() {
            self.alone_since = now;
            self.renew_key(host, now);
            self.channel.keep_alive(self.limits.keep_alive, now, &mut host.platform);
        }
        if self.closing.is_none() {
            self.watch(host, now);
        }
    }

    fn show(&mut self, now: Time) {
        let progress = &self.control.progress;
        self.flow.show(progress);
        progress.peers.store(self.ready as u64, Ordering::Relaxed);
        progress.forged.store(self.stats.discarded.forged, Ordering::Relaxed);
        let awaited =
            self.ready > 0 && self.flow.payload().moved() == Some(0) && self.flow.waits() != Waits::Here;
        self.unheard_since = awaited.then(|| self.unheard_since.unwrap_or(now));
        let deaf = !self.heard || self.unheard_since.is_some_and(|since| now >= since + self.limits.silence);
        progress.deaf.store(deaf, Ordering::Relaxed);
    }

    /// Gives a receiver up where it is silent for too long, or takes nothing for too long.
    fn look_after<P: Platform>(&mut self, number: usize, host: &mut Host<P>, now: Time) {
        let Some(Some(member)) = self.members.get_mut(number) else { return };
        let Some(peer) = member.peer else { return };
        if now >= member.lane.heard_at + self.limits.patience {
            return self.dismiss(number, End::Silent, Reason::Quiet, host, now);
        }
        // one that is authenticated may have a program that takes nothing for a while
        let waits = self.trusted || self.flow.waits() == Waits::Here;
        let moved = if member.ready { self.flow.payload().moved_by(EndpointId(peer)) } else { Some(0) };
        let silent = now >= member.lane.heard_at + self.limits.silence;
        member.patience.look(moved, waits && member.ready, silent, now);
        if member.patience.lasts() >= self.limits.patience && self.closing.is_none() {
            self.dismiss(number, End::Quiet, Reason::Quiet, host, now);
        }
    }

    /// Closes connections that do not say hello, and of too many those that came first.
    fn drop_strangers<P: Platform>(&mut self, host: &mut Host<P>, now: Time) {
        let strangers = self.members.iter().enumerate().filter_map(|(number, member)| {
            let member = member.as_ref().filter(|member| member.peer.is_none())?;
            Some((member.lane.began_at, number))
        });
        let mut strangers: Vec<(Time, usize)> = strangers.collect();
        strangers.sort_unstable();
        let spare = strangers.len().saturating_sub(STRANGERS);
        for (place, (began_at, number)) in strangers.into_iter().enumerate() {
            if place < spare || now >= began_at + self.limits.silence {
                self.dismiss(number, End::Quiet, Reason::Quiet, host, now);
            }
        }
    }

    /// Distributes the next key where it is due, and uses it when all have it, or the time for that is over.
    fn renew_key<P: Platform>(&mut self, host: &mut Host<P>, now: Time) {
        if let Some((epoch, until)) = self.channel.epochs.next() {
            let all = self.admitted().all(|member| !member.ready || member.epoch >= Some(epoch));
            if all || now >= until {
                self.channel.epochs.advance();
            }
        }
        if self.channel.epochs.is_due() {
            let mut secret = [0; 32];
            host.platform.fill_random(&mut secret);
            let key = self.channel.epochs.prepare(Secret(secret), now);
            self.say(&key);
        }
    }

    /// Says something to all members.
    fn say(&mut self, record: &Record) {
        for number in 0..self.members.len() {
            if let Some(member) = self.members[number].as_mut().filter(|member| member.peer.is_some()) {
                member.lane.control.say(record);
                self.note(number);
            }
        }
    }
}
