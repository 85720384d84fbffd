//! How the ends of a session find each other: one calls, the other has a door.
//!
//! Whoever calls must show, by a cookie, that it gets what is sent to its address, before anything is remembered of it or anything longer
//! than its own hello is sent there.

use std::collections::VecDeque;
use std::net::SocketAddr;

use contract::Ecn;
use units::{Duration, Time};
use wire::stream::{COOKIE, Datagram, Group, Hello, KEY, Offer, Reason, Role, Welcome, Word};

use crate::keys::{Agreed, Half, Jar, Key};
use crate::line::Line;
use crate::{Outer, Secret, Stats, Train};

/// A hello that is not answered is said again after this, then half as long again, up to the second.
const AGAIN: (Duration, Duration) = (Duration::from_millis(200), Duration::from_secs(2));
/// A hint that the other end has another key is shown after so long without a valid answer.
const HINTED: Duration = Duration::from_secs(2);
/// Public keys of callers that are remembered, so that a hello that was recorded opens nothing while its cookie is fresh.
const USED: usize = 64;

/// Sends one datagram by itself.
fn post(to: SocketAddr, bytes: &[u8], outer: &mut impl Outer, stats: &mut Stats) {
    let _ = outer.send(&Train { to, ecn: Ecn::NotCapable, bytes, each: bytes.len() });
    stats.sent.add(bytes.len());
}

/// A datagram outside of sessions, with its tag.
fn sealed(session: u32, word: Word<'_>, key: &Key) -> Vec<u8> {
    let mut bytes = Vec::new();
    Datagram { session, number: 0, word }.write(&mut bytes);
    key.seal(&mut bytes, 0);
    bytes
}

fn draw<const N: usize>(outer: &mut impl Outer) -> [u8; N] {
    let mut bytes = [0; N];
    outer.surprise(&mut bytes);
    bytes
}

/// The end that calls.
pub(crate) struct Caller {
    to: SocketAddr,
    secret: Secret,
    role: Role,
    offer: Option<Offer>,
    /// Who it is, all its life: nobody who does not have this half can call in its name.
    me: Half,
    /// Number of this call.
    call: u32,
    half: Half,
    cookie: Option<[u8; COOKIE]>,
    /// When it first said hello with a cookie, in this call.
    shown_at: Option<Time>,
    /// When somebody first said, without a key, that the other end has another key, and no valid answer has come since.
    hinted_at: Option<Time>,
    say_at: Time,
    wait: Duration,
}

/// What an answer to a call was.
pub(crate) enum Heard {
    Nothing,
    Refused(Reason),
    Welcome { line: Box<Line>, peer: u32, offer: Option<Offer>, group: Option<Group> },
}

impl Caller {
    pub(crate) fn new(
        to: SocketAddr,
        secret: &Secret,
        role: Role,
        me: Option<[u8; KEY]>,
        offer: Option<Offer>,
        now: Time,
        outer: &mut impl Outer,
    ) -> Self {
        let me = Half::new(me.unwrap_or_else(|| draw(outer)));
        let mut caller = Self {
            to,
            secret: secret.clone(),
            role,
            offer,
            me,
            call: 0,
            half: Half::new(draw(outer)),
            cookie: None,
            shown_at: None,
            hinted_at: None,
            say_at: Time::NEVER,
            wait: AGAIN.0,
        };
        caller.again(now, outer);
        caller
    }

    /// Calls, with a key that was not used before.
    pub(crate) fn again(&mut self, now: Time, outer: &mut impl Outer) {
        self.call = u32::from_be_bytes(draw(outer));
        self.half = Half::new(draw(outer));
        (self.cookie, self.shown_at) = (None, None);
        (self.say_at, self.wait) = (now, AGAIN.0);
    }

    /// Whether it is likely that the other end has another key: that was said, and nobody has answered for a while. Whoever says so without
    /// being the other end could as well keep its answers away.
    pub(crate) fn has_another_key(&self, now: Time) -> bool {
        self.hinted_at.is_some_and(|at| now >= at + HINTED)
    }

    /// Calls no more.
    pub(crate) fn rest(&mut self) {
        self.say_at = Time::NEVER;
    }

    pub(crate) fn wake(&self) -> Time {
        self.say_at
    }

    /// Says hello when that is due.
    pub(crate) fn turn(&mut self, now: Time, outer: &mut impl Outer, stats: &mut Stats) {
        if self.say_at > now {
            return;
        }
        let hello = Hello {
            role: self.role,
            public: self.half.public,
            caller: self.me.public,
            cookie: self.cookie,
            offer: self.offer.clone(),
        };
        let bytes = sealed(self.call, Word::Hello(Box::new(hello)), &Key::opening(&self.secret));
        post(self.to, &bytes, outer, stats);
        self.say_at = now + self.wait;
        self.wait = (self.wait * 3 / 2).min(AGAIN.1);
    }

    /// An answer came, or something that looks like one.
    pub(crate) fn on_answer(
        &mut self,
        bytes: &[u8],
        from: SocketAddr,
        now: Time,
        outer: &mut impl Outer,
        stats: &mut Stats,
    ) -> Heard {
        if from != self.to || self.say_at == Time::NEVER || Datagram::peek(bytes) != Ok((self.call, true)) {
            stats.refused.strangers += 1;
            return Heard::Nothing;
        }
        let Some(body) = Key::answer(&self.secret, &self.half.public).open(bytes) else {
            let open = Key::answer(&Secret::none(), &self.half.public);
            let hint = open.open(bytes).and_then(|body| Datagram::read(body).ok());
            if hint.is_some_and(|hint| matches!(hint.word, Word::Refusal(Reason::Key))) {
                self.hinted_at.get_or_insert(now);
            } else {
                stats.refused.forged += 1;
            }
            return Heard::Nothing;
        };
        let word = Datagram::read(body).map(|datagram| datagram.word);
        if let Ok(Word::Refusal(Reason::Key)) = word {
            self.hinted_at.get_or_insert(now);
            return Heard::Nothing;
        }
        // who has the key answers, whatever others say
        self.hinted_at = None;
        if word.is_ok() {
            stats.received.add(bytes.len());
        }
        match word {
            Ok(Word::Challenge { cookie }) => {
                if self.cookie != Some(cookie) {
                    self.cookie = Some(cookie);
                    self.shown_at.get_or_insert(now);
                    (self.say_at, self.wait) = (now, AGAIN.0);
                    self.turn(now, outer, stats);
                }
                Heard::Nothing
            }
            Ok(Word::Refusal(reason)) => Heard::Refused(reason),
            // whoever sends must be told what for; whoever receives, what comes
            Ok(Word::Welcome(welcome)) if (self.role == Role::Receiver) == welcome.offer.is_some() => {
                let Welcome { session, public, peer, offer, mut group } = *welcome;
                let agreed = Agreed::by_caller(&self.secret, &self.half, &self.me, &public);
                if let Some(group) = &mut group {
                    agreed.mask(&mut group.secret);
                }
                let keys = [agreed.caller, agreed.called];
                let mut line = Box::new(Line::new(self.to, session, keys, agreed.binding, now));
                line.rtt = self.shown_at.map(|at| now.saturating_since(at));
                Heard::Welcome { line, peer, offer, group }
            }
            Ok(_) => {
                stats.refused.misplaced += 1;
                Heard::Nothing
            }
            Err(_) => {
                stats.refused.malformed += 1;
                Heard::Nothing
            }
        }
    }
}

/// Where callers knock.
pub(crate) struct Door {
    secret: Secret,
    opening: Key,
    jar: Jar,
    /// So many are inside at one time, at most.
    most: usize,
    /// Who was let in last, by their public keys, and the welcomes that they got.
    inside: VecDeque<Inside>,
    /// Public keys of those who were let in, and where they were.
    used: VecDeque<([u8; KEY], SocketAddr)>,
}

/// Welcomes are remembered of so many more than may be inside: of those who say that they are one of them, too.
const BESIDE: usize = 8;

struct Inside {
    from: SocketAddr,
    caller: [u8; KEY],
    public: [u8; KEY],
    welcome: Vec<u8>,
}

/// What a caller who is let in is told of its place.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    /// Its number among those who are served.
    pub(crate) peer: u32,
    /// The group to which data go.
    pub(crate) group: Option<Group>,
}

/// What somebody who knocked wants.
pub(crate) enum Knock {
    /// Nothing more: it was answered, or is not to be.
    Nothing,
    /// A session. The caller's address is proved, and its key is new.
    Hello(Box<CallerHello>),
}

/// A hello with a right cookie, and the number of its call.
pub(crate) struct CallerHello {
    hello: Hello,
    call: u32,
}

impl std::ops::Deref for CallerHello {
    type Target = Hello;
    fn deref(&self) -> &Hello {
        &self.hello
    }
}

impl Door {
    /// A door for so many at one time.
    pub(crate) fn new(secret: &Secret, most: usize, outer: &mut impl Outer) -> Self {
        Self {
            secret: secret.clone(),
            opening: Key::opening(secret),
            jar: Jar::new(draw(outer)),
            most,
            inside: VecDeque::new(),
            used: VecDeque::new(),
        }
    }

    /// Something of another version of the format came. A caller of version 1, which would try for a minute, is told in its own words that it is
    /// not understood, in less bytes than its own.
    pub(crate) fn on_other_version(
        &self,
        bytes: &[u8],
        from: SocketAddr,
        outer: &mut impl Outer,
        stats: &mut Stats,
    ) {
        stats.refused.versions += 1;
        if let Some(answer) = first_version::refusal(bytes, &self.secret) {
            post(from, &answer, outer, stats);
        }
    }

    /// Somebody knocks.
    pub(crate) fn on_knock(
        &mut self,
        bytes: &[u8],
        from: SocketAddr,
        now: Time,
        outer: &mut impl Outer,
        stats: &mut Stats,
    ) -> Knock {
        let Some(body) = self.opening.open(bytes) else {
            stats.refused.forged += 1;
            self.hint(bytes, from, outer, stats);
            return Knock::Nothing;
        };
        let Ok(Datagram { session: call, word, .. }) = Datagram::read(body) else {
            stats.refused.malformed += 1;
            return Knock::Nothing;
        };
        let Word::Hello(hello) = word else {
            stats.refused.misplaced += 1;
            return Knock::Nothing;
        };
        stats.received.add(bytes.len());
        let proved = hello.cookie.is_some_and(|cookie| self.jar.knows(&cookie, from, &hello.public, now));
        if !proved {
            let cookie = self.jar.bake(from, &hello.public, now);
            let answer = self.answer(call, &hello.public, Word::Challenge { cookie });
            // the format sees to it that a hello is longer; it must never be otherwise
            if answer.len() <= bytes.len() {
                post(from, &answer, outer, stats);
            }
            return Knock::Nothing;
        }
        let same = |inside: &&Inside| inside.public == hello.public && inside.from == from;
        if let Some(inside) = self.inside.iter().find(same) {
            // the welcome was lost
            post(from, &inside.welcome, outer, stats);
            return Knock::Nothing;
        }
        if self.used.contains(&(hello.public, from)) {
            stats.refused.repeated += 1;
            return Knock::Nothing;
        }
        // whoever sends must say what
        if (hello.role == Role::Sender) != hello.offer.is_some() {
            stats.refused.misplaced += 1;
            return Knock::Nothing;
        }
        Knock::Hello(Box::new(CallerHello { hello: *hello, call }))
    }

    /// Tells a caller whose tag is wrong that its key is another. Everybody can say that, so it is a hint to people and no answer; it is shorter
    /// than the hello.
    fn hint(&self, bytes: &[u8], from: SocketAddr, outer: &mut impl Outer, stats: &mut Stats) {
        let Some((body, _)) = Datagram::split(bytes) else { return };
        let Ok(Datagram { session: call, word: Word::Hello(hello), .. }) = Datagram::read(body) else {
            return;
        };
        let key = Key::answer(&Secret::none(), &hello.public);
        let answer = sealed(call, Word::Refusal(Reason::Key), &key);
        if answer.len() <= bytes.len() {
            post(from, &answer, outer, stats);
        }
    }

    /// Tells a caller why it is not let in.
    pub(crate) fn refuse(
        &self,
        hello: &CallerHello,
        to: SocketAddr,
        reason: Reason,
        outer: &mut impl Outer,
        stats: &mut Stats,
    ) {
        post(to, &self.answer(hello.call, &hello.public, Word::Refusal(reason)), outer, stats);
    }

    /// Makes a session for a caller: this end of it, and the welcome to send.
    pub(crate) fn admit(
        &mut self,
        hello: &CallerHello,
        from: SocketAddr,
        now: Time,
        place: Place,
        offer: Option<Offer>,
        outer: &mut impl Outer,
    ) -> (Line, Vec<u8>) {
        let Place { peer, mut group } = place;
        let (session, half) = (u32::from_be_bytes(draw(outer)), Half::new(draw(outer)));
        let agreed = Agreed::by_called(&self.secret, &half, &hello.public, &hello.caller);
        if let Some(group) = &mut group {
            agreed.mask(&mut group.secret);
        }
        let welcome = Word::Welcome(Box::new(Welcome { session, public: half.public, peer, offer, group }));
        let welcome = self.answer(hello.call, &hello.public, welcome);
        if self.used.len() >= USED.max(self.most.saturating_mul(2)) {
            self.used.pop_front();
        }
        self.used.push_back((hello.public, from));
        let mut line = Line::new(from, session, [agreed.called, agreed.caller], agreed.binding, now);
        line.rtt = hello.cookie.map(|cookie| now.saturating_since(Jar::baked(&cookie)));
        (line, welcome)
    }

    /// Sends the welcome, and remembers it: it may be lost.
    pub(crate) fn welcome(
        &mut self,
        hello: &CallerHello,
        welcome: Vec<u8>,
        to: SocketAddr,
        outer: &mut impl Outer,
        stats: &mut Stats,
    ) {
        post(to, &welcome, outer, stats);
        self.inside.retain(|inside| (inside.caller, inside.from) != (hello.caller, to));
        if self.inside.len() >= self.most.saturating_add(BESIDE) {
            self.inside.pop_front();
        }
        self.inside.push_back(Inside { from: to, caller: hello.caller, public: hello.public, welcome });
    }

    fn answer(&self, call: u32, caller: &[u8; KEY], word: Word<'_>) -> Vec<u8> {
        sealed(call, word, &Key::answer(&self.secret, caller))
    }
}

/// What is still known of version 1 of the format: how to say no to a caller.
mod first_version {
    use wire::stream::{HEADING, HELLO, KEY, TAG};

    use crate::Secret;
    use crate::keys::Key;

    const HELLO_KIND: u8 = 1;
    const REFUSAL_KIND: u8 = 4;
    /// The code of [`wire::stream::Reason::Offer`].
    const OFFER: u8 = 4;

    /// The refusal of a hello of version 1 with a right tag.
    pub(super) fn refusal(hello: &[u8], secret: &Secret) -> Option<Vec<u8>> {
        let ([magic, version, kind, _], public) =
            (hello.first_chunk()?, hello.get(HEADING..)?.first_chunk::<KEY>()?);
        if (*version, *kind) != (1, HELLO_KIND) || hello.len() < HELLO {
            return None;
        }
        Key::opening_of_first_version(secret).open(hello)?;
        let mut answer = vec![*magic, *version, REFUSAL_KIND, 0];
        answer.extend_from_slice(&hello[4..8]);
        answer.extend_from_slice(&[0; 8]);
        answer.push(OFFER);
        Key::answer_of_first_version(secret, public).seal(&mut answer, 0);
        debug_assert_eq!(answer.len(), HEADING + 1 + TAG);
        Some(answer)
    }
}
