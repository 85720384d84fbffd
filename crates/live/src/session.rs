//! A session between two ends: meeting, orders, silence, goodbye, and the loop. What data are is the business of its [`Work`].

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::atomic::Ordering;

use contract::Ecn;
use units::{Duration, Time};
use wire::stream::{Datagram, KEY, Malformed, Offer, Order, Reason, Role, Word};

use crate::content::{Standing, Waits};
use crate::ear::Ear;
use crate::line::Line;
use crate::meeting::{Caller, Door, Heard};
use crate::session::knocks::Candidate;
use crate::still::Still;
use crate::trains::Trains;
use crate::turns::{Turns, drive};
use crate::{Control, End, Limits, Meet, Outcome, Outer, Phase, Progress, Secret, Settings, Stats};

mod knocks;
mod quiet;

/// The number of the one receiver of a session for two.
const ONLY: u32 = 1;
/// Progress is brought up to date, and wishes of other threads are read, so often.
pub(crate) const GLANCE: Duration = Duration::from_millis(20);
/// How long an end tries to be heard when it says goodbye.
pub(crate) const GOODBYE: Duration = Duration::from_secs(1);
/// A caller says that it lives so often until it has heard the other end: that the session is its own is known by what it says.
const SHOWN_AGAIN: Duration = Duration::from_millis(100);
/// How long an end that was told goodbye answers when that is said again.
pub(crate) const HEARS_OUT: Duration = Duration::from_millis(250);

/// What is said with, inside a session.
pub(crate) struct Mouth<'a, O> {
    pub(crate) line: &'a mut Line,
    pub(crate) trains: &'a mut Trains,
    pub(crate) outer: &'a mut O,
    pub(crate) stats: &'a mut Stats,
}

impl<O: Outer> Mouth<'_, O> {
    /// Says something to the other end; how many bytes that is without headers of IP and UDP.
    pub(crate) fn say(&mut self, word: Word<'_>, ecn: Ecn, now: Time) -> usize {
        self.line.say(word, ecn, now, self.outer, self.trains, self.stats)
    }
}

/// What a session does: send, or receive.
pub(crate) trait Work {
    /// Which of the two.
    const ROLE: Role;

    /// What it offers, where it sends.
    fn offer(&self) -> Option<Offer>;

    /// A session opens, the first or a new one after the ends had lost each other. A receiver is given what the other end offers.
    ///
    /// # Errors
    ///
    /// A reason for the other end, and a sentence for people here, where that cannot be.
    fn open(
        &mut self,
        offer: Option<&Offer>,
        opened: &Opened,
        stats: &mut Stats,
    ) -> Result<Option<Order>, (Reason, String)>;

    /// Whether [`Self::open`] would succeed where a session is open already.
    ///
    /// # Errors
    ///
    /// A reason for the other end.
    fn would_open(&self, _offer: Option<&Offer>, _opened: &Opened) -> Result<(), Reason> {
        Ok(())
    }

    /// Whether another end may go on where the one that began has fallen silent.
    fn takes_others(&self) -> bool {
        true
    }

    /// The receiver is ready to take data, and so many bytes beyond those in order.
    fn on_ready<O: Outer>(&mut self, window: u32, now: Time, mouth: &mut Mouth<'_, O>);

    /// The other end said something of a kind that is not the session's own; false where it should not have.
    fn on_word<O: Outer>(&mut self, heard: &Word<'_>, at: &At, mouth: &mut Mouth<'_, O>) -> bool;

    /// Does what is due.
    fn turn<O: Outer>(&mut self, now: Time, mouth: &mut Mouth<'_, O>);

    /// When something is due.
    fn wake(&self, now: Time) -> Time;

    /// The scheme changes to this mode.
    fn on_mode(&mut self, mode: &str, now: Time);

    /// How it stands.
    fn standing(&self) -> Standing;

    /// Where it cannot go on: what the other end is told of that.
    fn reason(&self) -> Reason {
        Reason::Storage
    }

    /// What has been delivered, in any unit that grows; `None` where patience is not to count it.
    fn moved(&self) -> Option<u64> {
        None
    }

    /// Who may be waited for though nothing is delivered.
    fn waits(&self) -> Waits {
        Waits::Nobody
    }

    /// The session was given up before anything came of it: another end may offer something else.
    fn forget(&mut self, _now: Time) {}

    /// How many packets or bytes the flow had, where it has ended.
    fn total(&self) -> Option<u64>;

    /// The session is over, for good.
    fn close(&mut self, stats: &mut Stats, now: Time);

    /// Says how far it is.
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

/// An open session.
struct Open {
    line: Line,
    /// Who called, at an end that listens.
    caller: Option<[u8; KEY]>,
    /// What is sent to a group, where data come that way.
    ear: Option<Ear>,
    /// The other end lets nothing be heard.
    silent: bool,
    /// Nothing of the group is heard. Until it is again, nothing is said: a sender that hears nobody stands still.
    deaf: bool,
    /// It is to end so, at this instant at the latest.
    closing: Option<(End, Time)>,
    /// A receiver has had the whole since.
    whole_at: Time,
    /// The order to end has been given.
    ended: bool,
}

impl Open {
    fn new(line: Line, caller: Option<[u8; KEY]>) -> Self {
        Self {
            line,
            caller,
            ear: None,
            silent: false,
            deaf: false,
            closing: None,
            whole_at: Time::NEVER,
            ended: false,
        }
    }

    /// After which silence this end says that it lives.
    fn alive(&self, limits: &Limits) -> Duration {
        if self.caller.is_none() && !self.line.known && !self.silent {
            return SHOWN_AGAIN;
        }
        match &self.ear {
            Some(_) if self.deaf => limits.patience,
            ear => limits.alive_in(ear.is_some()),
        }
    }
}

/// Runs a session until it is over.
pub(crate) fn run<O: Outer, W: Work>(
    settings: &Settings,
    work: W,
    outer: &mut O,
    control: &Control,
) -> Outcome {
    let now = outer.now();
    let door = Door::new(&settings.secret, 1, outer);
    let caller = match settings.meet {
        Meet::Call(to) => {
            Some(Caller::new(to, &settings.secret, W::ROLE, settings.caller, work.offer(), now, outer))
        }
        Meet::Listen => None,
    };
    let mut session = Session {
        limits: settings.limits,
        secret: settings.secret.clone(),
        work,
        outer,
        control,
        trains: Trains::new(),
        stats: Stats::default(),
        door,
        calls: caller.is_some(),
        caller,
        open: None,
        candidates: VecDeque::new(),
        began_at: now,
        glance_at: now,
        still: Still::new(now),
        asked: 0,
        mode: None,
    };
    let end = drive(&mut session);
    let now = session.outer.now();
    session.work.close(&mut session.stats, now);
    session.work.show(&control.progress);
    control.progress.peers.store(0, Ordering::Relaxed);
    control.progress.enter(Phase::Over);
    if session.stats.ended_at == Time::ZERO {
        session.stats.ended_at = now;
    }
    session.stats.overruns = session.trains.overruns;
    Outcome { end, stats: session.stats }
}

struct Session<'a, O, W> {
    limits: Limits,
    secret: Secret,
    work: W,
    outer: &'a mut O,
    control: &'a Control,
    trains: Trains,
    stats: Stats,
    /// Where callers knock, at an end that listens.
    door: Door,
    /// This end is the one that calls.
    calls: bool,
    caller: Option<Caller>,
    open: Option<Open>,
    candidates: VecDeque<Candidate>,
    began_at: Time,
    glance_at: Time,
    /// For how long nothing has been delivered.
    still: Still,
    /// Changes of mode that were asked for here and taken.
    asked: u32,
    /// The mode that was asked for last, here or at the other end.
    mode: Option<String>,
}

impl<O: Outer, W: Work> Turns for Session<'_, O, W> {
    type Outer = O;
    const SENDS: bool = matches!(W::ROLE, Role::Sender);

    fn outer(&mut self) -> &mut O {
        self.outer
    }

    fn take(&mut self, bytes: &[u8], from: SocketAddr, ecn: Ecn, now: Time) -> Option<End> {
        self.take(bytes, from, ecn, now)
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

impl<O: Outer, W: Work> Session<'_, O, W> {
    // ---- what comes

    fn take(&mut self, bytes: &[u8], from: SocketAddr, ecn: Ecn, now: Time) -> Option<End> {
        let (number, opening) = match Datagram::peek(bytes) {
            Ok(found) => found,
            Err(Malformed::Version) => {
                self.door.on_other_version(bytes, from, self.outer, &mut self.stats);
                return None;
            }
            Err(_) => {
                self.stats.refused.malformed += 1;
                return None;
            }
        };
        if opening {
            return if self.calls {
                self.on_answer(bytes, from, now)
            } else {
                self.on_knock(bytes, from, now)
            };
        }
        if let Some(open) = &mut self.open
            && let Some(ear) = open.ear.as_mut().filter(|ear| ear.session() == number)
        {
            let word = ear.read(bytes, now, &mut self.stats)?;
            // who speaks to the group is there
            open.line.heard_at = now;
            return self.on_word(&word, &At { now, ecn, length: bytes.len() });
        }
        let mut found = self.candidates.iter().position(|candidate| candidate.line.session == number);
        let line = match (&mut self.open, found) {
            (Some(open), _) if open.line.session == number => {
                found = None;
                &mut open.line
            }
            (_, Some(at)) => &mut self.candidates[at].line,
            _ => {
                self.stats.refused.strangers += 1;
                return None;
            }
        };
        let known = line.known;
        let word = line.read(bytes, from, now, &mut self.stats)?;
        if let Some(candidate) = found.and_then(|at| self.candidates.remove(at)) {
            self.replace(candidate, now);
            if self.open.as_ref().is_none_or(|open| open.line.session != number) {
                return None;
            }
        }
        if !known {
            self.stats.sessions += 1;
        }
        self.on_word(&word, &At { now, ecn, length: bytes.len() })
    }

    fn on_word(&mut self, word: &Word<'_>, at: &At) -> Option<End> {
        let open = self.open.as_mut()?;
        let now = at.now;
        match word {
            Word::Alive => {}
            Word::Heard { serial } => open.line.on_heard(*serial, now),
            Word::Order { serial, order } => {
                let (new, answer) = open.line.on_order(*serial);
                let mut mouth = Mouth {
                    line: &mut open.line,
                    trains: &mut self.trains,
                    outer: self.outer,
                    stats: &mut self.stats,
                };
                if answer {
                    mouth.say(Word::Heard { serial: *serial }, Ecn::NotCapable, now);
                }
                if !new {
                    return None;
                }
                match order {
                    Order::Ready { window } => self.work.on_ready(*window, now, &mut mouth),
                    Order::Mode(mode) => {
                        self.work.on_mode(mode, now);
                        self.control.progress.set_mode(mode);
                        self.mode = Some(mode.clone());
                    }
                    Order::End { .. } => {}
                    Order::Close(reason) => {
                        // that all is done is not believed because somebody says goodbye
                        let end = match self.work.standing() {
                            Standing::Whole => End::Complete,
                            Standing::Failed(why) => End::Failed(why),
                            Standing::Going => End::Closed(*reason),
                        };
                        // what this end wanted to say of its own end counts first
                        let end = open.closing.take().map_or(end, |(own, _)| own);
                        open.closing = Some((end, now + HEARS_OUT));
                        open.ended = true;
                        self.stats.ended_at = self.stats.ended_at.max(now);
                    }
                }
            }
            word => {
                let mut mouth = Mouth {
                    line: &mut open.line,
                    trains: &mut self.trains,
                    outer: self.outer,
                    stats: &mut self.stats,
                };
                if open.closing.is_none() && !self.work.on_word(word, at, &mut mouth) {
                    self.stats.refused.misplaced += 1;
                }
            }
        }
        None
    }

    // ---- meeting

    /// Something came for one who calls.
    fn on_answer(&mut self, bytes: &[u8], from: SocketAddr, now: Time) -> Option<End> {
        let Some(caller) = self.caller.as_mut() else {
            self.stats.refused.strangers += 1;
            return None;
        };
        match caller.on_answer(bytes, from, now, self.outer, &mut self.stats) {
            Heard::Nothing => None,
            Heard::Refused(reason) if self.open.is_none() => Some(End::Refused(reason)),
            // it was there a moment ago
            Heard::Refused(_) => None,
            Heard::Welcome { mut line, peer, offer, group } => {
                caller.rest();
                // only who receives has ears
                let group = group.filter(|_| W::ROLE == Role::Receiver);
                let begun = Ear::open(group, &self.secret, now, self.outer)
                    .and_then(|ear| Ok((ear, self.begin(&line, peer, offer.as_ref(), now)?)));
                match begun {
                    Ok((ear, first)) => {
                        self.enter(*line, None, first, now);
                        if let Some(open) = &mut self.open {
                            open.ear = ear;
                        }
                    }
                    Err((reason, why)) => {
                        line.order(Order::Close(reason), now);
                        let closing = Some((End::Failed(why), now + GOODBYE));
                        self.open = Some(Open { closing, ..Open::new(*line, None) });
                    }
                }
                None
            }
        }
    }

    // ---- time

    fn turn(&mut self, now: Time) -> Option<End> {
        if now >= self.glance_at {
            self.glance_at = now + GLANCE;
            self.show();
            if let Some(mode) = self.control.mode(&mut self.asked) {
                self.work.on_mode(&mode, now);
                self.control.progress.set_mode(&mode);
                if let Some(open) = &mut self.open {
                    open.line.order(Order::Mode(mode.clone()), now);
                }
                self.mode = Some(mode);
            }
            if self.control.stopped() {
                match &mut self.open {
                    None => return Some(End::Stopped),
                    Some(open) if open.closing.is_none() => {
                        open.line.order(Order::Close(Reason::Stopped), now);
                        open.closing = Some((End::Stopped, now + GOODBYE));
                        self.stats.ended_at = now;
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
            caller.turn(now, self.outer, &mut self.stats);
        }
        let open = self.open.as_mut()?;
        let alive = open.alive(&self.limits);
        let mut mouth = Mouth {
            line: &mut open.line,
            trains: &mut self.trains,
            outer: self.outer,
            stats: &mut self.stats,
        };
        // that this end is ready comes before what it says
        if let Some((serial, order)) = mouth.line.due(now) {
            mouth.say(Word::Order { serial, order }, Ecn::NotCapable, now);
        }
        if !open.silent && !open.deaf && open.closing.is_none() {
            self.work.turn(now, &mut mouth);
        }
        if mouth.line.too_quiet(now, alive) {
            mouth.say(Word::Alive, Ecn::NotCapable, now);
        }
        None
    }

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
            let said = open.line.settled() && !open.ended;
            return (said || now >= *until).then(|| end.clone());
        }
        if now >= open.line.heard_at + self.limits.patience {
            return Some(End::Silent);
        }
        if self.has_lost_patience(now) {
            return None;
        }
        let open = self.open.as_mut()?;
        if let Some(ear) = &open.ear {
            if ear.deaf(now, self.limits.patience) {
                open.line.order(Order::Close(Reason::Stopped), now);
                open.closing = Some((End::Failed(ear.complaint()), now + GOODBYE));
                return None;
            }
            open.deaf = ear.deaf(now, self.limits.silence);
            self.control.progress.deaf.store(open.deaf, Ordering::Relaxed);
        }
        let silent = now >= open.line.heard_at + self.limits.silence;
        if silent != open.silent {
            open.silent = silent;
            self.control.progress.enter(if silent { Phase::Silent } else { Phase::Open });
            if let Some(caller) = &mut self.caller {
                if silent {
                    caller.again(now, self.outer);
                } else {
                    caller.rest();
                }
            }
        }
        match self.work.standing() {
            Standing::Going => {}
            Standing::Failed(why) => {
                open.line.order(Order::Close(self.work.reason()), now);
                open.closing = Some((End::Failed(why), now + GOODBYE));
            }
            Standing::Whole if W::ROLE == Role::Receiver => {
                open.whole_at = open.whole_at.min(now);
                if now >= open.whole_at + self.limits.linger {
                    open.line.order(Order::Close(Reason::Complete), now);
                    open.closing = Some((End::Complete, now + GOODBYE));
                }
            }
            Standing::Whole => {
                if let Some(total) = self.work.total() {
                    open.line.order(Order::End { total }, now);
                }
                open.line.order(Order::Close(Reason::Complete), now);
                open.closing = Some((End::Complete, now + self.limits.linger.max(GOODBYE)));
            }
        }
        if open.closing.is_some() {
            self.stats.ended_at = now;
            self.control.progress.enter(Phase::Closing);
        }
        None
    }

    fn wake(&self, now: Time) -> Time {
        let mut wake = self.glance_at;
        if let Some(caller) = &self.caller {
            wake = wake.min(caller.wake());
        }
        let Some(open) = &self.open else {
            let limit = if self.calls { self.limits.patience } else { self.limits.waits };
            return wake.min(self.began_at + limit);
        };
        wake = wake.min(open.line.wake(open.alive(&self.limits)));
        match &open.closing {
            Some((_, until)) => wake.min(*until),
            None if open.silent || open.deaf => wake,
            None => wake
                .min(self.work.wake(now))
                .min(open.line.heard_at + self.limits.silence)
                .min(open.whole_at + self.limits.linger),
        }
    }
}
