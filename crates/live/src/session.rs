//! A session between two ends: handshake, orders, keep-alive, close, and the event loop. [`Work`] handles the data.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::atomic::Ordering;

use contract::{Address, Ecn, Endpoint, Random};
use driver::{EventLoop, Platform, StateMachine, drive};
use transfer::{Status, Waits};
use units::{Duration, Time};
use wire::stream::{Datagram, Frame, KEY, Malformed, Offer, Order, Reason, Role};

use crate::addresses::FLOW;
use crate::channel::Channel;
use crate::handshake::{Caller, Listener, Reply};
use crate::multicast::MulticastReceiver;
use crate::patience::Patience;
use crate::session::attempts::Candidate;
use crate::tx::{Transmitter, TxContext};
use crate::{Control, End, Handshake, Limits, Outcome, Phase, Progress, Secret, Settings, Stats};

mod attempts;
mod quiet;

/// The number of the receiver in a session of two ends.
const ONLY: u32 = 1;
/// Interval at which progress is published and requests of other threads are read.
pub const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// How long an end waits for the acknowledgement of its close.
pub(crate) const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);
/// Interval of keep-alives of a caller until the first datagram of the other end, by which the listener recognises the session as its.
const CONFIRM_INTERVAL: Duration = Duration::from_millis(100);
/// How long an end that was closed answers repetitions.
pub const CLOSE_LINGER: Duration = Duration::from_millis(250);

/// The role of an end: sending or receiving.
pub(crate) trait Work {
    /// Which of the two.
    const ROLE: Role;

    /// The offer of a sender.
    fn offer(&self) -> Option<Offer>;

    /// Opens a session, possibly again after a timeout. A receiver gets the offer of the other end.
    ///
    /// # Errors
    ///
    /// A reason for the other end, and a message for users at this end.
    fn open(
        &mut self,
        offer: Option<&Offer>,
        opened: &Opened,
        stats: &mut Stats,
    ) -> Result<Option<Order>, (Reason, String)>;

    /// Whether [`Self::open`] would succeed while a session is open.
    ///
    /// # Errors
    ///
    /// A reason for the other end.
    fn would_open(&self, _offer: Option<&Offer>, _opened: &Opened) -> Result<(), Reason> {
        Ok(())
    }

    /// Whether another end may continue after the first one timed out.
    fn takes_others(&self) -> bool {
        true
    }

    /// The receiver is ready, with this receive window in bytes.
    fn on_ready<O: Platform>(&mut self, window: u32, now: Time, tx: &mut TxContext<'_, O>);

    /// Handles a frame that is not the session's own. Returns false if it is not valid here.
    fn on_message<O: Platform>(&mut self, heard: &Frame<'_>, at: &At, tx: &mut TxContext<'_, O>) -> bool;

    /// Handles what is due.
    fn turn<O: Platform>(&mut self, now: Time, tx: &mut TxContext<'_, O>);

    /// The next deadline.
    fn wake(&self, now: Time) -> Time;

    /// The scheme changes to this mode.
    fn on_mode(&mut self, mode: &str, now: Time);

    /// The state of the transfer.
    fn status(&self) -> Status;

    /// The reason for the other end if the transfer failed.
    fn reason(&self) -> Reason {
        Reason::Storage
    }

    /// An increasing measure of delivered data; `None` if patience does not apply.
    fn moved(&self) -> Option<u64> {
        None
    }

    /// Who causes the present time without data.
    fn waits(&self) -> Waits {
        Waits::Nobody
    }

    /// The session ended without a result: another end may offer something else.
    fn forget(&mut self, _now: Time) {}

    /// Packets or bytes of the flow, if it has ended.
    fn total(&self) -> Option<u64>;

    /// The session has ended permanently.
    fn close(&mut self, stats: &mut Stats, now: Time);

    /// Publishes its progress.
    fn show(&self, progress: &Progress);
}

/// A datagram's circumstances.
pub(crate) struct At {
    pub(crate) now: Time,
    pub(crate) ecn: Ecn,
    /// Its length in bytes, without headers of IP and UDP.
    pub(crate) length: usize,
}

/// A new session's circumstances.
#[derive(Clone, Copy)]
pub(crate) struct Opened {
    pub(crate) now: Time,
    /// The receiver's number.
    pub(crate) peer: u32,
    /// Bytes of the headers of IP and UDP.
    pub(crate) outer_bytes: u32,
    /// For the machine's chance.
    pub(crate) seed: u64,
    /// The round-trip time that the handshake took, at most; `None` where it was not timed.
    pub(crate) rtt: Option<Duration>,
    /// What only the two ends know.
    pub(crate) binding: [u8; KEY],
}

impl Opened {
    /// Hosts the state machine at `address`.
    pub(crate) fn host<E: Endpoint>(&self, endpoint: E, address: Address) -> StateMachine<E> {
        StateMachine::new(endpoint, address, FLOW, Random::new(self.seed, "live", "machine"))
    }
}

/// An open session.
struct Open {
    channel: Channel,
    /// Who called, at an end that listens.
    caller: Option<[u8; KEY]>,
    /// What is sent to a group, where data come that way.
    multicast: Option<MulticastReceiver>,
    /// The other end lets nothing be heard.
    silent: bool,
    /// Nothing of the group is heard. Until it is again, nothing is said: a sender that hears nobody stands patience.
    deaf: bool,
    /// It is to end so, at this instant at the latest.
    closing: Option<(End, Time)>,
    /// A receiver has had the whole since.
    whole_at: Time,
    /// The order to end has been given.
    ended: bool,
}

impl Open {
    fn new(channel: Channel, caller: Option<[u8; KEY]>) -> Self {
        Self {
            channel,
            caller,
            multicast: None,
            silent: false,
            deaf: false,
            closing: None,
            whole_at: Time::NEVER,
            ended: false,
        }
    }

    /// After which silence this end says that it lives.
    fn keep_alive(&self, limits: &Limits) -> Duration {
        if self.caller.is_none() && !self.channel.known && !self.silent {
            return CONFIRM_INTERVAL;
        }
        match &self.multicast {
            Some(_) if self.deaf => limits.patience,
            multicast => limits.alive_in(multicast.is_some()),
        }
    }
}

/// Runs a session until it is over.
pub(crate) fn run<O: Platform, W: Work>(
    settings: &Settings,
    work: W,
    platform: &mut O,
    control: &Control,
) -> Outcome {
    let now = platform.now();
    let listener = Listener::new(&settings.secret, 1, platform);
    let caller = match settings.handshake {
        Handshake::Connect(to) => {
            Some(Caller::new(to, &settings.secret, W::ROLE, settings.caller, work.offer(), now, platform))
        }
        Handshake::Listen => None,
    };
    let mut session = Session {
        limits: settings.limits,
        secret: settings.secret.clone(),
        work,
        tx: Transmitter::new(platform),
        control,
        listener,
        calls: caller.is_some(),
        caller,
        open: None,
        candidates: VecDeque::new(),
        began_at: now,
        poll_at: now,
        patience: Patience::new(now),
        asked: 0,
        mode: None,
    };
    let end = drive(&mut session);
    let now = session.tx.platform.now();
    session.work.close(&mut session.tx.stats, now);
    session.work.show(&control.progress);
    control.progress.peers.store(0, Ordering::Relaxed);
    control.progress.enter(Phase::Over);
    if session.tx.stats.ended_at == Time::ZERO {
        session.tx.stats.ended_at = now;
    }
    session.tx.stats.overruns = session.tx.gso_batches.overruns;
    Outcome { end, stats: session.tx.stats }
}

struct Session<'a, O, W> {
    limits: Limits,
    secret: Secret,
    work: W,
    tx: Transmitter<'a, O>,
    control: &'a Control,
    /// Takes connection attempts, at an end that listens.
    listener: Listener,
    /// This end is the one that calls.
    calls: bool,
    caller: Option<Caller>,
    open: Option<Open>,
    candidates: VecDeque<Candidate>,
    began_at: Time,
    poll_at: Time,
    /// For how long nothing has been delivered.
    patience: Patience,
    /// Changes of mode that were asked for here and taken.
    asked: u32,
    /// The mode that was asked for last, here or at the other end.
    mode: Option<String>,
}

impl<O: Platform, W: Work> EventLoop for Session<'_, O, W> {
    type Platform = O;
    type Outcome = End;
    const SENDS: bool = matches!(W::ROLE, Role::Sender);

    fn platform(&mut self) -> &mut O {
        self.tx.platform
    }

    fn on_datagram(&mut self, bytes: &[u8], from: SocketAddr, ecn: Ecn, now: Time) -> Option<End> {
        let (number, opening) = match Datagram::peek(bytes) {
            Ok(found) => found,
            Err(Malformed::Version) => {
                self.listener.on_other_version(bytes, from, self.tx.platform, &mut self.tx.stats);
                return None;
            }
            Err(_) => {
                self.tx.stats.discarded.malformed += 1;
                return None;
            }
        };
        if opening {
            return if self.calls {
                self.on_answer(bytes, from, now)
            } else {
                self.on_attempt(bytes, from, now)
            };
        }
        if let Some(open) = &mut self.open
            && let Some(multicast) = open.multicast.as_mut().filter(|multicast| multicast.session() == number)
        {
            let frame = multicast.read(bytes, now, &mut self.tx.stats)?;
            // who speaks to the group is there
            open.channel.heard_at = now;
            return self.on_message(&frame, &At { now, ecn, length: bytes.len() });
        }
        let mut found = self.candidates.iter().position(|candidate| candidate.channel.session == number);
        let channel = match (&mut self.open, found) {
            (Some(open), _) if open.channel.session == number => {
                found = None;
                &mut open.channel
            }
            (_, Some(at)) => &mut self.candidates[at].channel,
            _ => {
                self.tx.stats.discarded.strangers += 1;
                return None;
            }
        };
        let known = channel.known;
        let frame = channel.read(bytes, from, now, &mut self.tx.stats)?;
        if let Some(candidate) = found.and_then(|at| self.candidates.remove(at)) {
            self.replace(candidate, now);
            if self.open.as_ref().is_none_or(|open| open.channel.session != number) {
                return None;
            }
        }
        if !known {
            self.tx.stats.sessions += 1;
        }
        self.on_message(&frame, &At { now, ecn, length: bytes.len() })
    }

    fn on_time(&mut self, now: Time) -> Option<End> {
        if now >= self.poll_at {
            self.poll_at = now + POLL_INTERVAL;
            self.show();
            if let Some(mode) = self.control.mode(&mut self.asked) {
                self.work.on_mode(&mode, now);
                self.control.progress.set_mode(&mode);
                if let Some(open) = &mut self.open {
                    open.channel.order(Order::Mode(mode.clone()), now);
                }
                self.mode = Some(mode);
            }
            if self.control.stopped() {
                match &mut self.open {
                    None => return Some(End::Stopped),
                    Some(open) if open.closing.is_none() => {
                        open.channel.order(Order::Close(Reason::Stopped), now);
                        open.closing = Some((End::Stopped, now + CLOSE_TIMEOUT));
                        self.tx.stats.ended_at = now;
                        self.control.progress.enter(Phase::Closing);
                    }
                    Some(_) => {}
                }
            }
        }
        if let Some(end) = self.watch(now) {
            return Some(end);
        }
        if let Some(caller) = &mut self.caller {
            caller.turn(now, self.tx.platform, &mut self.tx.stats);
        }
        let open = self.open.as_mut()?;
        let keep_alive = open.keep_alive(&self.limits);
        let mut tx = self.tx.on(&mut open.channel);
        // that this end is ready comes before what it says
        if let Some((serial, order)) = tx.channel.due(now) {
            tx.say(Frame::Order { serial, order }, Ecn::NotCapable, now);
        }
        if !open.silent && !open.deaf && open.closing.is_none() {
            self.work.turn(now, &mut tx);
        }
        if tx.channel.too_quiet(now, keep_alive) {
            tx.say(Frame::KeepAlive, Ecn::NotCapable, now);
        }
        None
    }

    fn flush(&mut self) {
        self.tx.flush();
    }

    fn wake(&self, now: Time) -> Time {
        let mut wake = self.poll_at;
        if let Some(caller) = &self.caller {
            wake = wake.min(caller.wake());
        }
        let Some(open) = &self.open else {
            let limit = if self.calls { self.limits.patience } else { self.limits.waits };
            return wake.min(self.began_at + limit);
        };
        wake = wake.min(open.channel.wake(open.keep_alive(&self.limits)));
        match &open.closing {
            Some((_, until)) => wake.min(*until),
            None if open.silent || open.deaf => wake,
            None => wake
                .min(self.work.wake(now))
                .min(open.channel.heard_at + self.limits.silence)
                .min(open.whole_at + self.limits.linger),
        }
    }

    fn packets_sent(&self) -> u64 {
        self.tx.stats.packets
    }
}

impl<O: Platform, W: Work> Session<'_, O, W> {
    // ---- what comes

    fn on_message(&mut self, frame: &Frame<'_>, at: &At) -> Option<End> {
        let open = self.open.as_mut()?;
        let now = at.now;
        match frame {
            Frame::KeepAlive => {}
            Frame::Ack { serial } => open.channel.on_heard(*serial, now),
            Frame::Order { serial, order } => {
                let (new, answer) = open.channel.on_order(*serial);
                let mut tx = self.tx.on(&mut open.channel);
                if answer {
                    tx.say(Frame::Ack { serial: *serial }, Ecn::NotCapable, now);
                }
                if !new {
                    return None;
                }
                match order {
                    Order::Ready { window } => self.work.on_ready(*window, now, &mut tx),
                    Order::Mode(mode) => {
                        self.work.on_mode(mode, now);
                        self.control.progress.set_mode(mode);
                        self.mode = Some(mode.clone());
                    }
                    Order::End { .. } => {}
                    Order::Close(reason) => {
                        // that all is done is not believed because somebody says goodbye
                        let end = match self.work.status() {
                            Status::Whole => End::Complete,
                            Status::Failed(why) => End::Failed(why),
                            Status::Going => End::Closed(*reason),
                        };
                        // what this end wanted to say of its own end counts first
                        let end = open.closing.take().map_or(end, |(own, _)| own);
                        open.closing = Some((end, now + CLOSE_LINGER));
                        open.ended = true;
                        self.tx.stats.ended_at = self.tx.stats.ended_at.max(now);
                    }
                }
            }
            frame => {
                let mut tx = self.tx.on(&mut open.channel);
                if open.closing.is_none() && !self.work.on_message(frame, at, &mut tx) {
                    self.tx.stats.discarded.misplaced += 1;
                }
            }
        }
        None
    }

    // ---- handshake

    /// Something came for one who calls.
    fn on_answer(&mut self, bytes: &[u8], from: SocketAddr, now: Time) -> Option<End> {
        let Some(caller) = self.caller.as_mut() else {
            self.tx.stats.discarded.strangers += 1;
            return None;
        };
        match caller.on_answer(bytes, from, now, self.tx.platform, &mut self.tx.stats) {
            Reply::Nothing => None,
            Reply::Refused(reason) if self.open.is_none() => Some(End::Refused(reason)),
            // it was there a moment ago
            Reply::Refused(_) => None,
            Reply::Welcome { mut channel, peer, offer, group } => {
                caller.rest();
                // only a receiver listens to the group
                let group = group.filter(|_| W::ROLE == Role::Receiver);
                let begun = MulticastReceiver::open(group, &self.secret, now, self.tx.platform)
                    .and_then(|multicast| Ok((multicast, self.begin(&channel, peer, offer.as_ref(), now)?)));
                match begun {
                    Ok((multicast, first)) => {
                        self.enter(*channel, None, first, now);
                        if let Some(open) = &mut self.open {
                            open.multicast = multicast;
                        }
                    }
                    Err((reason, why)) => {
                        channel.order(Order::Close(reason), now);
                        let closing = Some((End::Failed(why), now + CLOSE_TIMEOUT));
                        self.open = Some(Open { closing, ..Open::new(*channel, None) });
                    }
                }
                None
            }
        }
    }

    // ---- time

    /// Whether the other end is there, and whether there is anything left to do.
    fn watch(&mut self, now: Time) -> Option<End> {
        let Some(open) = &mut self.open else {
            if self.caller.as_ref().is_some_and(|caller| caller.has_another_key(now)) {
                return Some(End::Refused(Reason::Key));
            }
            let limit = if self.calls { self.limits.patience } else { self.limits.waits };
            return (now >= self.began_at + limit).then_some(End::Unanswered);
        };
        if let Some((end, until)) = &open.closing {
            // its last order was heard, or nobody hears it; one that was told goodbye stays to answer once more
            let said = open.channel.settled() && !open.ended;
            return (said || now >= *until).then(|| end.clone());
        }
        if now >= open.channel.heard_at + self.limits.patience {
            return Some(End::Silent);
        }
        if self.has_lost_patience(now) {
            return None;
        }
        let open = self.open.as_mut()?;
        if let Some(multicast) = &open.multicast {
            if multicast.deaf(now, self.limits.patience) {
                open.channel.order(Order::Close(Reason::Stopped), now);
                open.closing = Some((End::Failed(multicast.complaint()), now + CLOSE_TIMEOUT));
                return None;
            }
            open.deaf = multicast.deaf(now, self.limits.silence);
            self.control.progress.deaf.store(open.deaf, Ordering::Relaxed);
        }
        let silent = now >= open.channel.heard_at + self.limits.silence;
        if silent != open.silent {
            open.silent = silent;
            self.control.progress.enter(if silent { Phase::Silent } else { Phase::Open });
            if let Some(caller) = &mut self.caller {
                if silent {
                    caller.again(now, self.tx.platform);
                } else {
                    caller.rest();
                }
            }
        }
        match self.work.status() {
            Status::Going => {}
            Status::Failed(why) => {
                open.channel.order(Order::Close(self.work.reason()), now);
                open.closing = Some((End::Failed(why), now + CLOSE_TIMEOUT));
            }
            Status::Whole if W::ROLE == Role::Receiver => {
                open.whole_at = open.whole_at.min(now);
                if now >= open.whole_at + self.limits.linger {
                    open.channel.order(Order::Close(Reason::Complete), now);
                    open.closing = Some((End::Complete, now + CLOSE_TIMEOUT));
                }
            }
            Status::Whole => {
                if let Some(total) = self.work.total() {
                    open.channel.order(Order::End { total }, now);
                }
                open.channel.order(Order::Close(Reason::Complete), now);
                open.closing = Some((End::Complete, now + self.limits.linger.max(CLOSE_TIMEOUT)));
            }
        }
        if open.closing.is_some() {
            self.tx.stats.ended_at = now;
            self.control.progress.enter(Phase::Closing);
        }
        None
    }
}
