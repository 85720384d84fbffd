//! A session between two ends over QUIC: who calls, who is served, keep-alive and patience, close, and the event loop. [`Work`] handles the data.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::{Control, End, Handshake, Limits, Outcome, Patience, Phase, Progress, QUIET, Stats};
use contract::Ecn;
use driver::Platform;
use quinn_proto::crypto::rustls::QuicClientConfig;
use quinn_proto::{ClientConfig, Connection, ConnectionHandle, Dir, Event, StreamEvent, TransportConfig};
use transfer::{Status, Waits};
use units::{Duration, Time};
use wire::stream::{Reason, Role};

use crate::certificate::NAME;
use crate::frames::{Record, VERSION};
use crate::host::{Host, Hosted, Protocol, drive};
use crate::lane::{Lane, Link, Pool};
use crate::settings::Settings;
use crate::tls::Pins;
use crate::transport::{Sends, listener, transport};

mod ends;

pub use ends::{code, reason};

/// Interval at which progress is published and requests of other threads are read.
const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// How long an end waits for the other to close, and for its own closing period.
const GOODBYE: Duration = Duration::from_secs(1);
/// Time until a call that is not answered is repeated as a new one; it doubles this many times. quinn's own repetitions soon become rare, and the other
/// end may start to listen at any time.
const CALL_AGAIN: Duration = Duration::from_secs(1);
const MAX_DOUBLINGS: u32 = 2;
/// Connections at a listener that have not said hello, or were not taken.
const LANES: usize = 16;

/// The role of an end: sending or receiving.
pub(crate) trait Work {
    /// Which of the two.
    const ROLE: Role;

    /// How its packets are sent.
    fn sends(&self) -> Sends;

    /// A session opens, possibly again after a connection was lost.
    fn open(&mut self, link: &mut Link<'_>);

    /// Handles a record of the other end.
    ///
    /// # Errors
    ///
    /// A reason for the other end, and a message for users at this end.
    fn on_record(&mut self, record: Record, link: &mut Link<'_>) -> Result<(), (Reason, String)>;

    /// Handles the content of a DATAGRAM frame.
    fn on_datagram(&mut self, bytes: &[u8], ecn: Ecn, link: &mut Link<'_>);

    /// A multicast group that this end is to join, once.
    fn joins(&mut self) -> Option<SocketAddr> {
        None
    }

    /// Handles a datagram of the group.
    fn on_group(&mut self, _bytes: &[u8], _ecn: Ecn, link: &mut Link<'_>) {
        link.stats.discarded.strangers += 1;
    }

    /// Handles what is due.
    fn turn(&mut self, link: &mut Link<'_>);

    /// The next deadline.
    fn wake(&self, now: Time) -> Time;

    /// Data packets sent, where the work and not QUIC decides when they leave.
    fn paced(&self) -> Option<u64>;

    /// The scheme changes to this mode.
    fn on_mode(&mut self, mode: &str, now: Time);

    /// The state of all objects.
    fn status(&self) -> Status;

    /// The reason for the other end if the transfer failed.
    fn reason(&self) -> Reason {
        Reason::Storage
    }

    /// An increasing measure of delivered data; `None` if patience does not apply.
    fn moved(&self) -> Option<u64>;

    /// Who causes the present time without data.
    fn waits(&self) -> Waits;

    /// Whether another end may continue after the first one was lost.
    fn takes_others(&self) -> bool {
        true
    }

    /// The session ended without a result: another end may offer something else.
    fn forget(&mut self, _now: Time) {}

    /// The session has ended permanently.
    fn close(&mut self, stats: &mut Stats, now: Time);

    /// Publishes its progress.
    fn show(&self, progress: &Progress);
}

/// Runs a session until it is over.
pub(crate) fn run<P: Platform, W: Work>(
    settings: &Settings,
    work: W,
    platform: &mut P,
    control: &Control,
) -> Outcome {
    let now = platform.now();
    let mut caller = [0; 32];
    platform.fill_random(&mut caller);
    let caller = settings.caller.unwrap_or(caller);
    let transport = Arc::new(transport(&settings.limits, &work.sends()));
    let (mut calls, mut server) = (None, None);
    let pins = match settings.handshake {
        Handshake::Connect(to) => {
            let (crypto, pins) = settings.credentials.client();
            calls = Some(Calls { to, crypto, transport, next_at: now, unanswered: 0 });
            pins
        }
        Handshake::Listen => {
            let (crypto, pins) = settings.credentials.server();
            server = Some(listener(crypto, transport, platform));
            pins
        }
    };
    let mut host = Host::new(platform, server);
    let mut session = Session {
        limits: settings.limits,
        trusted: calls.is_some() || settings.credentials.authenticate(),
        own: settings.credentials.fingerprints(),
        work,
        control,
        pins,
        calls,
        caller,
        lanes: Vec::new(),
        active: None,
        pool: Pool::default(),
        stats: Stats::default(),
        heard_at: now,
        began_at: now,
        poll_at: now,
        patience: Patience::new(now),
        asked: 0,
        mode: None,
        silent: false,
        whole_at: Time::NEVER,
        done: None,
        seen: (None, [0; 2]),
        outer_bytes: 0,
        closing: None,
    };
    let end = drive(&mut host, &mut session);
    let now = host.platform.now();
    session.finish(&mut host, now);
    Outcome { end, stats: session.stats }
}

/// An end that calls.
struct Calls {
    to: SocketAddr,
    crypto: Arc<QuicClientConfig>,
    transport: Arc<TransportConfig>,
    /// When it may call again.
    next_at: Time,
    /// Calls that were not answered.
    unanswered: u32,
}

pub(crate) struct Session<'a, W> {
    limits: Limits,
    /// The other end is authenticated, or this end chose whom to call.
    trusted: bool,
    /// Fingerprints of this end when it calls, and when it listens.
    own: (crate::Fingerprint, crate::Fingerprint),
    work: W,
    control: &'a Control,
    pins: Arc<Pins>,
    calls: Option<Calls>,
    /// At an end that calls its own secret; at one that listens that of whom it serves.
    caller: [u8; 32],
    lanes: Vec<Lane>,
    /// The connection of the session.
    active: Option<ConnectionHandle>,
    pool: Pool,
    stats: Stats,
    /// When something last came from the other end of the session.
    heard_at: Time,
    began_at: Time,
    poll_at: Time,
    patience: Patience,
    /// Changes of mode that were asked for here and taken.
    asked: u32,
    /// The mode that was asked for last, here or at the other end.
    mode: Option<String>,
    silent: bool,
    /// A receiver has had everything since.
    whole_at: Time,
    /// The sender has said that all is done, and waits for the other end to close until then.
    done: Option<Time>,
    /// Packets lost and congestion events, as the connection last counted them.
    seen: (Option<ConnectionHandle>, [u64; 2]),
    /// Bytes of the headers of IP and UDP.
    outer_bytes: u64,
    /// It is to end so, at this instant at the latest.
    closing: Option<(End, Time)>,
}

impl<W: Work> Protocol for Session<'_, W> {
    fn on_packet(&mut self, id: ConnectionHandle, connection: &mut Connection, ecn: Ecn, now: Time) {
        let Self { lanes, work, pool, stats, .. } = self;
        let Some(lane) = lanes.iter_mut().find(|lane| lane.id == id && lane.lost.is_none()) else { return };
        lane.heard_at = now;
        if self.active != Some(id) || self.closing.is_some() {
            return;
        }
        self.heard_at = now;
        while let Some(bytes) = connection.datagrams().recv() {
            let mut link = Link { connection, control: &mut lane.control, pool, stats, now };
            work.on_datagram(&bytes, ecn, &mut link);
        }
    }

    fn member(&self) -> Option<ConnectionHandle> {
        self.active
    }

    fn on_group(&mut self, connection: &mut Connection, bytes: &[u8], ecn: Ecn, now: Time) {
        let Self { lanes, work, pool, stats, active, .. } = self;
        let found = lanes.iter_mut().find(|lane| Some(lane.id) == *active);
        let Some(lane) = found.filter(|_| self.closing.is_none()) else { return };
        work.on_group(bytes, ecn, &mut Link { connection, control: &mut lane.control, pool, stats, now });
    }

    fn on_event(&mut self, id: ConnectionHandle, connection: &mut Connection, event: Event, now: Time) {
        let found = self.lanes.iter().position(|lane| lane.id == id && lane.lost.is_none());
        let lane = match (found, &event) {
            (Some(at), _) => &mut self.lanes[at],
            (None, Event::Connected) if connection.side().is_server() => {
                self.lanes.push(Lane::new(id, now));
                self.lanes.last_mut().expect("one was pushed")
            }
            (None, Event::ConnectionLost { .. }) => {
                // a caller that is not accepted, or gave up
                self.stats.discarded.forged += 1;
                return;
            }
            (None, _) => return,
        };
        match event {
            Event::Connected => {
                lane.connected = true;
                if connection.side().is_client() {
                    lane.control.say(&Record::Hello { version: VERSION, role: W::ROLE, caller: self.caller });
                }
            }
            Event::Stream(StreamEvent::Opened { dir: Dir::Bi }) => lane.control.open(connection),
            Event::ConnectionLost { reason } => lane.lost = Some(reason),
            _ => {}
        }
    }
}

impl<P: Platform, W: Work> Hosted<P> for Session<'_, W> {
    fn turn(&mut self, host: &mut Host<P>, now: Time) -> Option<End> {
        if let Some((end, until)) = &self.closing {
            return (host.count() == 0 || now >= *until).then(|| end.clone());
        }
        if now >= self.poll_at {
            self.poll(host, now);
        }
        let mut lanes = std::mem::take(&mut self.lanes);
        for lane in &mut lanes {
            self.read(lane, host, now);
        }
        lanes.retain_mut(|lane| match lane.lost.take() {
            Some(reason) => {
                self.on_lost(lane, reason, now);
                false
            }
            None => true,
        });
        lanes.append(&mut self.lanes);
        self.lanes = lanes;
        self.drop_idle(host, now);
        if self.closing.is_none() {
            self.watch(host, now);
        }
        if self.closing.is_none() && !self.is_suspended() {
            self.with_link(host, now, |work, link| work.turn(link));
        }
        None
    }

    fn wake(&self, now: Time) -> Time {
        let mut wake = self.poll_at;
        if let Some((_, until)) = &self.closing {
            return *until;
        }
        if let Some(calls) = self.calls.as_ref().filter(|_| self.active.is_none()) {
            wake = wake.min(calls.next_at.max(now));
        }
        let works = self.active.is_some() && !self.is_suspended();
        if works { wake.min(self.work.wake(now)) } else { wake }
    }

    fn paced(&self) -> Option<u64> {
        self.work.paced()
    }
}

impl<W: Work> Session<'_, W> {
    /// A sender sends nothing while nothing comes from the receiver: its effect on the network is unknown.
    fn is_suspended(&self) -> bool {
        self.silent && W::ROLE == Role::Sender
    }

    /// Calls `act` with the work and the connection of the session, if there is one.
    fn with_link<P: Platform>(
        &mut self,
        host: &mut Host<P>,
        now: Time,
        act: impl FnOnce(&mut W, &mut Link<'_>),
    ) {
        let Self { lanes, work, pool, stats, .. } = self;
        let Some(id) = self.active else { return };
        let (Some(lane), Some(connection)) =
            (lanes.iter_mut().find(|lane| lane.id == id), host.connection(id))
        else {
            return;
        };
        if connection.is_closed() {
            return;
        }
        act(work, &mut Link { connection, control: &mut lane.control, pool, stats, now });
        lane.control.exchange(connection);
    }

    /// Publishes progress, and reads what other threads ask for.
    fn poll<P: Platform>(&mut self, host: &mut Host<P>, now: Time) {
        self.poll_at = now + POLL_INTERVAL;
        self.show(host);
        if let Some(mode) = self.control.mode(&mut self.asked) {
            self.work.on_mode(&mode, now);
            self.control.progress.set_mode(&mode);
            self.with_link(host, now, |_, link| link.say(&Record::Mode(mode.clone())));
            self.mode = Some(mode);
        }
        if self.control.stopped() {
            self.end(host, End::Stopped, Reason::Stopped, "", now);
        }
    }

    // ---- what comes

    /// Reads the control stream of a connection.
    fn read<P: Platform>(&mut self, lane: &mut Lane, host: &mut Host<P>, now: Time) {
        let Some(connection) = host.connection(lane.id) else {
            lane.lost.get_or_insert(quinn_proto::ConnectionError::TimedOut);
            return;
        };
        if !lane.connected || connection.is_closed() {
            return;
        }
        lane.control.exchange(connection);
        loop {
            let record = match lane.control.next_record() {
                Ok(Some(record)) => record,
                Ok(None) => return,
                Err(_) => {
                    self.stats.discarded.malformed += 1;
                    return host.close(lane.id, ends::code(Reason::Mismatch), "not a record of Thalweg", now);
                }
            };
            let served = self.active == Some(lane.id);
            match record {
                Record::Hello { version, role, caller } if !lane.greeted => {
                    lane.greeted = true;
                    lane.caller = caller;
                    self.on_hello(lane, version, role, host, now);
                }
                Record::Mode(mode) if served => {
                    self.work.on_mode(&mode, now);
                    self.control.progress.set_mode(&mode);
                    self.mode = Some(mode);
                }
                Record::Done if served && W::ROLE == Role::Receiver => {
                    if self.work.status() == Status::Whole {
                        self.end(host, End::Complete, Reason::Complete, "", now);
                    }
                }
                record if served && self.closing.is_none() => self.on_record(lane, record, host, now),
                _ => self.stats.discarded.misplaced += 1,
            }
            if self.closing.is_some() {
                return;
            }
        }
    }

    fn on_record<P: Platform>(&mut self, lane: &mut Lane, record: Record, host: &mut Host<P>, now: Time) {
        let Some(connection) = host.connection(lane.id) else { return };
        let Self { work, pool, stats, .. } = self;
        let mut link = Link { connection, control: &mut lane.control, pool, stats, now };
        if let Err((reason, why)) = work.on_record(record, &mut link) {
            lane.control.exchange(connection);
            return self.end(host, End::Failed(why.clone()), reason, &why, now);
        }
        if let Some(group) = self.work.joins()
            && let Err(error) = host.platform.join(group)
        {
            let why = format!("the group {group} cannot be joined: {error}");
            self.end(host, End::Failed(why.clone()), Reason::Offer, &why, now);
        }
    }

    /// The other end of a connection says hello: it is served, or it is told why not.
    fn on_hello<P: Platform>(
        &mut self,
        lane: &mut Lane,
        version: u8,
        role: Role,
        host: &mut Host<P>,
        now: Time,
    ) {
        let refused = if version != VERSION {
            Some((Reason::Mismatch, format!("version {VERSION} is spoken here, not {version}")))
        } else if role == W::ROLE {
            Some((Reason::Mismatch, String::new()))
        } else if self.is_taken(&lane.caller) {
            Some((Reason::Busy, String::new()))
        } else {
            None
        };
        if let Some((reason, why)) = refused {
            return host.close(lane.id, ends::code(reason), &why, now);
        }
        let same = self.calls.is_some() || self.caller == lane.caller;
        if self.calls.is_none() {
            lane.control.say(&Record::Hello { version: VERSION, role: W::ROLE, caller: [0; 32] });
            if self.caller != lane.caller && self.stats.sessions > 0 && self.work.moved() == Some(0) {
                self.work.forget(now);
            }
            self.caller = lane.caller;
        }
        if let Some(before) = self.active.replace(lane.id).filter(|before| *before != lane.id) {
            let code = if same { ends::REPLACED } else { ends::code(Reason::Stopped) };
            host.close(before, code, "another connection takes its place", now);
        }
        self.enter(lane, host, now);
    }

    /// Whether another caller is served that is not to be given up for this one.
    fn is_taken(&self, caller: &[u8; 32]) -> bool {
        if self.calls.is_some() || self.stats.sessions == 0 || self.caller == *caller {
            return false;
        }
        let quiet = !self.trusted && self.work.moved() == Some(0) && self.patience.lasts() >= QUIET;
        let lost = self.active.is_none() || self.silent;
        !(quiet || (lost && self.work.takes_others()))
    }

    /// A session opens on this connection.
    fn enter<P: Platform>(&mut self, lane: &mut Lane, host: &mut Host<P>, now: Time) {
        self.stats.sessions += 1;
        self.stats.opened_at = self.stats.opened_at.min(now);
        (self.heard_at, self.silent, self.whole_at, self.done) = (now, false, Time::NEVER, None);
        if let Some(calls) = &mut self.calls {
            calls.unanswered = 0;
        }
        self.patience = Patience::new(now);
        self.control.progress.peers.store(1, Ordering::Relaxed);
        self.control.progress.enter(Phase::Open);
        let Some(connection) = host.connection(lane.id) else { return };
        let Self { work, pool, stats, mode, .. } = self;
        if let Some(mode) = mode {
            work.on_mode(mode, now);
            lane.control.say(&Record::Mode(mode.clone()));
        }
        work.open(&mut Link { connection, control: &mut lane.control, pool, stats, now });
    }

    /// Calls the other end, in place of a call that was not answered.
    fn call<P: Platform>(&mut self, host: &mut Host<P>, now: Time) {
        let Some(calls) = self.calls.as_mut().filter(|calls| now >= calls.next_at) else { return };
        let active = self.active;
        self.lanes.retain(|lane| {
            let stays = active == Some(lane.id) || lane.connected;
            if !stays {
                host.close(lane.id, ends::code(Reason::Stopped), "", now);
            }
            stays
        });
        calls.next_at = now + CALL_AGAIN * (1 << calls.unanswered.min(MAX_DOUBLINGS));
        calls.unanswered += 1;
        let mut config = ClientConfig::new(Arc::clone(&calls.crypto) as _);
        config.transport_config(Arc::clone(&calls.transport));
        match host.connect(config, calls.to, NAME, now) {
            Ok(id) => self.lanes.push(Lane::new(id, now)),
            Err(error) => {
                self.closing = Some((End::Failed(format!("{}: {error}", calls.to)), now));
            }
        }
    }

    /// Closes connections that say nothing, and of too many those that came first.
    fn drop_idle<P: Platform>(&mut self, host: &mut Host<P>, now: Time) {
        let mut spare = self.lanes.len().saturating_sub(LANES);
        for lane in &self.lanes {
            let idle = !lane.greeted && now >= lane.began_at + self.limits.patience;
            if self.active != Some(lane.id) && (idle || spare > 0) {
                spare = spare.saturating_sub(1);
                host.close(lane.id, ends::code(Reason::Quiet), "", now);
            }
        }
    }
}
