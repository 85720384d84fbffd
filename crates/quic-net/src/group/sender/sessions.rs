//! A sender and its sessions with receivers.

use std::sync::atomic::Ordering;

use bytes::Bytes;
use contract::{Ecn, EndpointId};
use driver::Platform;
use quinn_proto::{Connection, ConnectionError, ConnectionHandle, Dir, Event, StreamEvent};
use transfer::Pause;
use units::{Duration, Time};
use wire::stream::{Reason, Role};

use super::channel::Channel;
use super::flow::Flow;
use super::member::{Left, Member};
use super::outcome::ReceiverOutcome;
use crate::Settings;
use crate::connection::{ConnectionState, binding};
use crate::frames::{Record, Secret, VERSION};
use crate::host::{Host, Hosted, Protocol};
use crate::{Control, End, Limits, Outcome, Phase, Stats};

mod ends;

/// Interval at which progress is published, timeouts of receivers are checked, and requests of other threads are read.
const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// How long a sender waits at its end for the closing periods of its connections.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);
/// The sender pauses if packets of the group arrive at no receiver, or if no receiver has sent anything for this
/// multiple of `silence` in [`Limits`].
const SILENCES: f64 = 3.0;
/// Maximum number of connections without a hello. The oldest of more are closed.
const MAX_WITHOUT_HELLO: usize = 64;

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
    /// DATAGRAM frames that arrived since the last turn.
    inbox: Vec<ReceivedDatagram>,
    /// Number of ready receivers.
    ready: usize,
    /// Whether a ready receiver has sent anything recently. Otherwise it is unknown whether any of them receives data.
    reachable: bool,
    /// Number of the next receiver.
    peers: u32,
    left: Left,
    /// Since when a receiver is ready and none has reported data.
    no_report_since: Option<Time>,
    /// Since when there is no receiver.
    empty_since: Time,
    poll_at: Time,
    /// Number of changes of mode that were handled, and the last mode.
    mode_changes: u32,
    mode: Option<String>,
    stats: Stats,
    closing: Option<Closing>,
}

/// A received DATAGRAM frame.
struct ReceivedDatagram {
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
        member.state.received_at = now;
        while let Some(bytes) = connection.datagrams().recv() {
            self.inbox.push(ReceivedDatagram { member: id.0, bytes, ecn, at: now });
        }
    }

    fn on_event(&mut self, id: ConnectionHandle, connection: &mut Connection, event: Event, now: Time) {
        match event {
            Event::Connected => {
                if self.members.len() <= id.0 {
                    self.members.resize_with(id.0 + 1, || None);
                }
                let mut state = ConnectionState::new(id, now);
                state.connected = true;
                self.members[id.0] = Some(Member::new(state, connection.remote_address(), now));
                self.pending.push(id.0);
            }
            Event::ConnectionLost { reason } => match self.members.get_mut(id.0).and_then(Option::as_mut) {
                Some(member) => {
                    member.state.lost = Some(reason);
                    self.mark_pending(id.0);
                }
                // a client that was not accepted, or gave up
                None => self.stats.discarded.forged += 1,
            },
            Event::Stream(
                StreamEvent::Opened { dir: Dir::Bi }
                | StreamEvent::Readable { .. }
                | StreamEvent::Writable { .. },
            ) => self.mark_pending(id.0),
            _ => {}
        }
    }
}

impl<P: Platform> Hosted<P> for Sender<'_> {
    fn turn(&mut self, host: &mut Host<P>, now: Time) -> Option<End> {
        self.exchange(host, now);
        self.handle_datagrams(host, now);
        if now >= self.poll_at {
            self.poll_at = now + POLL_INTERVAL;
            self.poll(host, now);
        }
        if self.sends() {
            self.flow.turn(now, &mut self.channel, &mut host.platform, &mut self.stats);
        }
        self.exchange(host, now);
        self.channel.flush(&mut host.platform);
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
            reachable: true,
            peers: 1,
            left: Left::default(),
            no_report_since: None,
            empty_since: now,
            poll_at: now,
            mode_changes: 0,
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
        self.stats.overruns = counters.overruns + channel.overruns();
        (Outcome { end, stats: self.stats }, self.left.outcomes())
    }

    /// Whether data may be sent now.
    fn sends(&self) -> bool {
        self.ready > 0 && self.reachable && self.closing.is_none()
    }

    /// The members whose hello has arrived.
    fn admitted(&self) -> impl Iterator<Item = &Member> {
        self.members.iter().flatten().filter(|member| member.peer.is_some())
    }

    /// The control stream of a member is to be read and written in the next turn.
    fn mark_pending(&mut self, number: usize) {
        if let Some(Some(member)) = self.members.get_mut(number)
            && !member.pending
        {
            member.pending = true;
            self.pending.push(number);
        }
    }

    // ---- received frames and records

    /// Handles received DATAGRAM frames.
    fn handle_datagrams<P: Platform>(&mut self, host: &mut Host<P>, now: Time) {
        let mut inbox = std::mem::take(&mut self.inbox);
        for ReceivedDatagram { member, bytes, ecn, at } in inbox.drain(..) {
            let Some(Some(member)) = self.members.get(member) else { continue };
            // members send feedback until they are told that the session is over
            if self.closing.is_some() {
                continue;
            }
            let (Some(peer), true) = (member.peer, member.ready) else {
                self.stats.discarded.misplaced += 1;
                continue;
            };
            let outer_bytes = member.outer_bytes;
            // deadlines before the arrival come first, because the state machine's time cannot go back
            if self.sends() {
                self.flow.turn(now, &mut self.channel, &mut host.platform, &mut self.stats);
            }
            if !self.flow.on_datagram(peer, &bytes, outer_bytes, ecn, at) {
                self.stats.discarded.misplaced += 1;
            }
        }
        self.inbox = inbox;
    }

    /// Reads and writes the control streams with received or pending records.
    fn exchange<P: Platform>(&mut self, host: &mut Host<P>, now: Time) {
        let mut at = 0;
        // a record can cause records for other members
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
            let Some(connection) = host.connection(member.state.id) else {
                return self.on_lost(number, &ConnectionError::TimedOut);
            };
            member.state.control.exchange(connection);
            match member.state.control.next_record() {
                Ok(Some(record)) => self.on_record(number, record, host, now),
                Ok(None) => match member.state.lost.take() {
                    Some(lost) => return self.on_lost(number, &lost),
                    None => return,
                },
                Err(_) => {
                    self.stats.discarded.malformed += 1;
                    let end =
                        End::Failed("its control stream does not contain records of Thalweg".to_owned());
                    return self.close_member(number, end, Reason::Mismatch, host, now);
                }
            }
        }
    }

    fn on_record<P: Platform>(&mut self, number: usize, record: Record, host: &mut Host<P>, now: Time) {
        let Some(Some(member)) = self.members.get_mut(number) else { return };
        match (record, member.peer) {
            (Record::Hello { version, role, client_secret }, None) => {
                self.on_hello(number, version, role, client_secret, host, now);
            }
            (Record::Ready { object: 0 }, Some(peer)) if !member.ready && self.closing.is_none() => {
                let Some(connection) = host.connection(member.state.id) else { return };
                member.ready = true;
                self.ready += 1;
                self.reachable = true;
                self.flow.join(peer, &binding(connection));
            }
            (Record::Message { object: 0, bytes }, Some(peer)) if member.ready && self.closing.is_none() => {
                self.flow.on_message(peer, &bytes, now);
            }
            (Record::GroupReception(arrives), Some(_)) => member.receives_group = arrives,
            (Record::HasKey { epoch }, Some(_)) => member.epoch = member.epoch.max(Some(epoch)),
            // a receiver cannot change the mode of the group
            _ => self.stats.discarded.misplaced += 1,
        }
    }

    /// The hello of a receiver: it becomes a member, or its connection is closed with the reason.
    fn on_hello<P: Platform>(
        &mut self,
        number: usize,
        version: u8,
        role: Role,
        client_secret: [u8; 32],
        host: &mut Host<P>,
        now: Time,
    ) {
        let existing = self.members.iter().position(|member| {
            member
                .as_ref()
                .is_some_and(|member| member.peer.is_some() && member.state.client_secret == client_secret)
        });
        let refused = match () {
            () if version != VERSION || role != Role::Receiver => Some(Reason::Mismatch),
            () if self.closing.is_some() => Some(Reason::Stopped),
            () if existing.is_none() && self.admitted().count() >= self.max => Some(Reason::Busy),
            () => None,
        };
        if let Some(reason) = refused {
            return self.close_member(number, End::Refused(reason), reason, host, now);
        }
        // a receiver that lost its connection or was restarted, or one that had left or timed out
        let before = existing.and_then(|existing| self.replace(existing, host, now));
        let peer = before.or(self.left.rejoin(&client_secret)).unwrap_or_else(|| {
            self.peers += 1;
            self.peers - 1
        });
        let Some(Some(member)) = self.members.get_mut(number) else { return };
        (member.peer, member.state.client_secret) = (Some(peer), client_secret);
        let control = &mut member.state.control;
        control.send_record(&Record::Hello { version: VERSION, role: Role::Sender, client_secret: [0; 32] });
        let (address, session) = (self.channel.address(), self.channel.epochs.session());
        let key = self.channel.public_key();
        control.send_record(&Record::Group { address, session, peer, key });
        self.channel.epochs.records().for_each(|key| control.send_record(&key));
        if let Some(mode) = &self.mode {
            control.send_record(&Record::Mode(mode.clone()));
        }
        let offer = self.flow.offer().clone();
        control.send_record(&Record::Offer {
            object: 0,
            more: false,
            omitted: 0,
            folders: Vec::new(),
            offer,
        });
        control.send_record(&Record::First { object: 0, seq: 0 });
        self.stats.sessions += 1;
        self.stats.opened_at = self.stats.opened_at.min(now);
        self.control.progress.enter(Phase::Open);
    }

    // ---- time

    /// Publishes progress, handles requests of other threads, and checks the timeouts of each receiver.
    fn poll<P: Platform>(&mut self, host: &mut Host<P>, now: Time) {
        self.show(now);
        if let Some(mode) = self.control.mode(&mut self.mode_changes) {
            self.flow.on_mode(&mode, now);
            self.control.progress.set_mode(&mode);
            self.send_to_all(&Record::Mode(mode.clone()));
            self.mode = Some(mode);
        }
        for number in 0..self.members.len() {
            self.check_member(number, host, now);
        }
        self.drop_without_hello(host, now);
        let patience = self.limits.silence.scaled(SILENCES);
        let answers = |member: &Member| {
            member.ready && member.receives_group && now < member.state.received_at + patience
        };
        let reachable = self.ready == 0 || self.admitted().any(answers);
        if reachable != self.reachable && self.closing.is_none() {
            self.control.progress.enter(if reachable { Phase::Open } else { Phase::Silent });
        }
        self.reachable = reachable;
        if self.admitted().next().is_some() {
            self.empty_since = now;
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
            self.ready > 0 && self.flow.payload().progress() == Some(0) && self.flow.pause() != Pause::Local;
        self.no_report_since = awaited.then(|| self.no_report_since.unwrap_or(now));
        let unreachable =
            !self.reachable || self.no_report_since.is_some_and(|since| now >= since + self.limits.silence);
        progress.group_unreachable.store(unreachable, Ordering::Relaxed);
    }

    /// Removes a receiver that is silent for too long, or does not progress for too long.
    fn check_member<P: Platform>(&mut self, number: usize, host: &mut Host<P>, now: Time) {
        let Some(Some(member)) = self.members.get_mut(number) else { return };
        let Some(peer) = member.peer else { return };
        if now >= member.state.received_at + self.limits.patience {
            return self.close_member(number, End::Silent, Reason::NoProgress, host, now);
        }
        // the program of an authenticated receiver may pause for a while
        let paused = self.trusted || self.flow.pause() == Pause::Local;
        let progress = if member.ready { self.flow.payload().progress_of(EndpointId(peer)) } else { Some(0) };
        let silent = now >= member.state.received_at + self.limits.silence;
        member.patience.update(progress, paused && member.ready, silent, now);
        if member.patience.stalled() >= self.limits.patience && self.closing.is_none() {
            self.close_member(number, End::NoProgress, Reason::NoProgress, host, now);
        }
    }

    /// Closes connections without a hello after a while, and the oldest of too many.
    fn drop_without_hello<P: Platform>(&mut self, host: &mut Host<P>, now: Time) {
        let waiting = self.members.iter().enumerate().filter_map(|(number, member)| {
            let member = member.as_ref().filter(|member| member.peer.is_none())?;
            Some((member.state.started_at, number))
        });
        let mut waiting: Vec<(Time, usize)> = waiting.collect();
        waiting.sort_unstable();
        let spare = waiting.len().saturating_sub(MAX_WITHOUT_HELLO);
        for (place, (started_at, number)) in waiting.into_iter().enumerate() {
            if place < spare || now >= started_at + self.limits.silence {
                self.close_member(number, End::NoProgress, Reason::NoProgress, host, now);
            }
        }
    }

    /// Distributes the next key when it is due, and uses it when all members have it, or the time for the distribution
    /// is over.
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
            self.send_to_all(&key);
        }
    }

    /// Sends a record to all members.
    fn send_to_all(&mut self, record: &Record) {
        for number in 0..self.members.len() {
            if let Some(member) = self.members[number].as_mut().filter(|member| member.peer.is_some()) {
                member.state.control.send_record(record);
                self.mark_pending(number);
            }
        }
    }
}
