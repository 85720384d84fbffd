//! The handshake of a session: one end calls, the other listens.
//!
//! A caller must prove, by an address-validation token, that it receives packets at its address. Before that, the listener keeps no state and sends
//! nothing that is longer than the caller's hello.

use std::collections::VecDeque;
use std::net::SocketAddr;

use contract::Ecn;
use driver::{GsoBatch, Platform};
use units::{Duration, Time};
use wire::stream::{Datagram, Frame, Group, Hello, KEY, Malformed, Offer, Reason, Role, TOKEN, Welcome};

use crate::channel::Channel;
use crate::keys::{Key, KeyPair, SessionKeys, TokenKey};
use crate::{Secret, Stats};

/// Retransmission of a hello: initial timeout, which grows by a half, and its maximum.
const AGAIN: (Duration, Duration) = (Duration::from_millis(200), Duration::from_secs(2));
/// Time without a valid answer after which a hint about another key is shown.
const HINTED: Duration = Duration::from_secs(2);
/// Number of stored public keys of callers, so that a recorded hello opens no session while its token is fresh.
const USED: usize = 64;

/// Sends one datagram without batching.
fn post(to: SocketAddr, bytes: &[u8], platform: &mut impl Platform, stats: &mut Stats) {
    let _ = platform.send(&GsoBatch { to, ecn: Ecn::NotCapable, bytes, segment_size: bytes.len() });
    stats.sent.add(bytes.len());
}

/// A datagram outside of sessions, with its tag.
fn sealed(session: u32, frame: Frame<'_>, key: &Key) -> Vec<u8> {
    let mut bytes = Vec::new();
    Datagram { session, number: 0, frame }.write(&mut bytes);
    key.seal(&mut bytes, 0);
    bytes
}

fn draw<const N: usize>(platform: &mut impl Platform) -> [u8; N] {
    let mut bytes = [0; N];
    platform.fill_random(&mut bytes);
    bytes
}

/// The end that calls.
pub struct Caller {
    to: SocketAddr,
    secret: Secret,
    role: Role,
    offer: Option<Offer>,
    /// Its permanent key pair, without which no other host can call as this one.
    me: KeyPair,
    /// Number of this call.
    call: u32,
    half: KeyPair,
    token: Option<[u8; TOKEN]>,
    /// Time of the first hello with a token in this call.
    shown_at: Option<Time>,
    /// Time of the first hint, which is sent without a key, that the other end has another key, if no valid answer arrived since.
    hinted_at: Option<Time>,
    say_at: Time,
    wait: Duration,
}

/// The result of an answer to a call.
pub enum Reply {
    /// Nothing yet: it was not valid, or the handshake continues.
    Nothing,
    /// The listener refused the call for this reason.
    Refused(Reason),
    /// The session is open.
    Welcome {
        /// Its channel.
        channel: Box<Channel>,
        /// The number of this end among the receivers.
        peer: u32,
        /// What a sender offers.
        offer: Option<Offer>,
        /// The group of the data.
        group: Option<Group>,
    },
}

impl Caller {
    /// Calls `to` in this role. `me` is the permanent private key of this end; random if `None`.
    pub fn new(
        to: SocketAddr,
        secret: &Secret,
        role: Role,
        me: Option<[u8; KEY]>,
        offer: Option<Offer>,
        now: Time,
        platform: &mut impl Platform,
    ) -> Self {
        let me = KeyPair::new(me.unwrap_or_else(|| draw(platform)));
        let mut caller = Self {
            to,
            secret: secret.clone(),
            role,
            offer,
            me,
            call: 0,
            half: KeyPair::new(draw(platform)),
            token: None,
            shown_at: None,
            hinted_at: None,
            say_at: Time::NEVER,
            wait: AGAIN.0,
        };
        caller.again(now, platform);
        caller
    }

    /// Calls again with a new key.
    pub fn again(&mut self, now: Time, platform: &mut impl Platform) {
        self.call = u32::from_be_bytes(draw(platform));
        self.half = KeyPair::new(draw(platform));
        (self.token, self.shown_at) = (None, None);
        (self.say_at, self.wait) = (now, AGAIN.0);
    }

    /// Whether the other end probably has another key: a hint says so, and no valid answer has arrived for a while. An attacker that can
    /// send the hint could also suppress the answers.
    pub fn has_another_key(&self, now: Time) -> bool {
        self.hinted_at.is_some_and(|at| now >= at + HINTED)
    }

    /// Stops calling.
    pub fn rest(&mut self) {
        self.say_at = Time::NEVER;
    }

    /// When the next hello is due.
    pub fn wake(&self) -> Time {
        self.say_at
    }

    /// Sends a hello if it is due.
    pub fn turn(&mut self, now: Time, platform: &mut impl Platform, stats: &mut Stats) {
        if self.say_at > now {
            return;
        }
        let hello = Hello {
            role: self.role,
            public: self.half.public,
            caller: self.me.public,
            token: self.token,
            offer: self.offer.clone(),
        };
        let bytes = sealed(self.call, Frame::Hello(Box::new(hello)), &Key::opening(&self.secret));
        post(self.to, &bytes, platform, stats);
        self.say_at = now + self.wait;
        self.wait = (self.wait * 3 / 2).min(AGAIN.1);
    }

    /// Handles an answer, or a datagram that looks like one.
    pub fn on_answer(
        &mut self,
        bytes: &[u8],
        from: SocketAddr,
        now: Time,
        platform: &mut impl Platform,
        stats: &mut Stats,
    ) -> Reply {
        if from != self.to || self.say_at == Time::NEVER || Datagram::peek(bytes) != Ok((self.call, true)) {
            stats.discarded.strangers += 1;
            return Reply::Nothing;
        }
        let Some(body) = Key::answer(&self.secret, &self.half.public).open(bytes) else {
            let open = Key::answer(&Secret::none(), &self.half.public);
            let hint = open.open(bytes).and_then(|body| Datagram::read(body).ok());
            if hint.is_some_and(|hint| matches!(hint.frame, Frame::Refusal(Reason::Key))) {
                self.hinted_at.get_or_insert(now);
            } else {
                stats.discarded.forged += 1;
            }
            return Reply::Nothing;
        };
        let frame = Datagram::read(body).map(|datagram| datagram.frame);
        if let Ok(Frame::Refusal(Reason::Key)) = frame {
            self.hinted_at.get_or_insert(now);
            return Reply::Nothing;
        }
        // a valid answer proves that the other end has the key
        self.hinted_at = None;
        if frame.is_ok() {
            stats.received.add(bytes.len());
        }
        match frame {
            Ok(Frame::Challenge { token }) => {
                if self.token != Some(token) {
                    self.token = Some(token);
                    self.shown_at.get_or_insert(now);
                    (self.say_at, self.wait) = (now, AGAIN.0);
                    self.turn(now, platform, stats);
                }
                Reply::Nothing
            }
            Ok(Frame::Refusal(reason)) => Reply::Refused(reason),
            // a receiver must get an offer, a sender must not
            Ok(Frame::Welcome(welcome)) if (self.role == Role::Receiver) == welcome.offer.is_some() => {
                let Welcome { session, public, peer, offer, mut group } = *welcome;
                let agreed = SessionKeys::for_caller(&self.secret, &self.half, &self.me, &public);
                if let Some(group) = &mut group {
                    agreed.mask(&mut group.secret);
                }
                let keys = [agreed.caller, agreed.called];
                let mut channel = Box::new(Channel::new(self.to, session, keys, agreed.binding, now));
                channel.rtt = self.shown_at.map(|at| now.saturating_since(at));
                Reply::Welcome { channel, peer, offer, group }
            }
            Ok(_) => {
                stats.discarded.misplaced += 1;
                Reply::Nothing
            }
            Err(_) => {
                stats.discarded.malformed += 1;
                Reply::Nothing
            }
        }
    }
}

/// Handles connection attempts: answers a hello with a challenge, and a returned token with a session.
pub struct Listener {
    secret: Secret,
    opening: Key,
    token_key: TokenKey,
    /// Maximum number of sessions at a time.
    max: usize,
    /// The last admitted callers, by their public keys, and their welcomes.
    inside: VecDeque<Inside>,
    /// Public keys and addresses of admitted callers.
    used: VecDeque<([u8; KEY], SocketAddr)>,
}

/// Number of stored welcomes beyond the maximum number of sessions, for callers that reconnect.
const BESIDE: usize = 8;

struct Inside {
    from: SocketAddr,
    caller: [u8; KEY],
    public: [u8; KEY],
    welcome: Vec<u8>,
}

/// The place of an admitted caller.
#[derive(Clone, Copy)]
pub struct Admission {
    /// Its number among the receivers.
    pub peer: u32,
    /// The group of the data.
    pub group: Option<Group>,
}

/// The result of a connection attempt.
pub enum Attempt {
    /// None: it was answered, or is ignored.
    Nothing,
    /// A new session. The caller's address is validated, and its key is new.
    Hello(Box<CallerHello>),
}

/// A hello with a valid token, and the number of its call.
pub struct CallerHello {
    hello: Hello,
    call: u32,
}

impl std::ops::Deref for CallerHello {
    type Target = Hello;
    fn deref(&self) -> &Hello {
        &self.hello
    }
}

impl Listener {
    /// A listener for at most `max` sessions at a time.
    pub fn new(secret: &Secret, max: usize, platform: &mut impl Platform) -> Self {
        Self {
            secret: secret.clone(),
            opening: Key::opening(secret),
            token_key: TokenKey::new(draw(platform)),
            max,
            inside: VecDeque::new(),
            used: VecDeque::new(),
        }
    }

    /// The session of a datagram, and whether it is one of a connection attempt. Counts and answers what is of none.
    pub fn session_of(
        &self,
        bytes: &[u8],
        from: SocketAddr,
        platform: &mut impl Platform,
        stats: &mut Stats,
    ) -> Option<(u32, bool)> {
        match Datagram::peek(bytes) {
            Ok(found) => return Some(found),
            Err(Malformed::Version) => self.on_other_version(bytes, from, platform, stats),
            Err(_) => stats.discarded.malformed += 1,
        }
        None
    }

    /// Handles a datagram of another version. A caller of version 1, which would retry for a minute, gets a refusal of that version, which
    /// is shorter than its hello.
    pub fn on_other_version(
        &self,
        bytes: &[u8],
        from: SocketAddr,
        platform: &mut impl Platform,
        stats: &mut Stats,
    ) {
        stats.discarded.versions += 1;
        if let Some(answer) = first_version::refusal(bytes, &self.secret) {
            post(from, &answer, platform, stats);
        }
    }

    /// Handles a datagram of a connection attempt.
    pub fn on_attempt(
        &mut self,
        bytes: &[u8],
        from: SocketAddr,
        now: Time,
        platform: &mut impl Platform,
        stats: &mut Stats,
    ) -> Attempt {
        let Some(body) = self.opening.open(bytes) else {
            stats.discarded.forged += 1;
            self.hint(bytes, from, platform, stats);
            return Attempt::Nothing;
        };
        let Ok(Datagram { session: call, frame, .. }) = Datagram::read(body) else {
            stats.discarded.malformed += 1;
            return Attempt::Nothing;
        };
        let Frame::Hello(hello) = frame else {
            stats.discarded.misplaced += 1;
            return Attempt::Nothing;
        };
        stats.received.add(bytes.len());
        let proved = hello.token.is_some_and(|token| self.token_key.knows(&token, from, &hello.public, now));
        if !proved {
            let token = self.token_key.issue(from, &hello.public, now);
            let answer = self.answer(call, &hello.public, Frame::Challenge { token });
            // guaranteed by the minimum length of a hello
            if answer.len() <= bytes.len() {
                post(from, &answer, platform, stats);
            }
            return Attempt::Nothing;
        }
        let same = |inside: &&Inside| inside.public == hello.public && inside.from == from;
        if let Some(inside) = self.inside.iter().find(same) {
            // the welcome was lost
            post(from, &inside.welcome, platform, stats);
            return Attempt::Nothing;
        }
        if self.used.contains(&(hello.public, from)) {
            stats.discarded.repeated += 1;
            return Attempt::Nothing;
        }
        // a sender must have an offer
        if (hello.role == Role::Sender) != hello.offer.is_some() {
            stats.discarded.misplaced += 1;
            return Attempt::Nothing;
        }
        Attempt::Hello(Box::new(CallerHello { hello: *hello, call }))
    }

    /// Informs a caller with a wrong tag that its key is another one. This is not authenticated, so it is only a hint for users. It is
    /// shorter than the hello.
    fn hint(&self, bytes: &[u8], from: SocketAddr, platform: &mut impl Platform, stats: &mut Stats) {
        let Some((body, _)) = Datagram::split(bytes) else { return };
        let Ok(Datagram { session: call, frame: Frame::Hello(hello), .. }) = Datagram::read(body) else {
            return;
        };
        let key = Key::answer(&Secret::none(), &hello.public);
        let answer = sealed(call, Frame::Refusal(Reason::Key), &key);
        if answer.len() <= bytes.len() {
            post(from, &answer, platform, stats);
        }
    }

    /// Informs a caller why it is refused.
    pub fn refuse(
        &self,
        hello: &CallerHello,
        to: SocketAddr,
        reason: Reason,
        platform: &mut impl Platform,
        stats: &mut Stats,
    ) {
        post(to, &self.answer(hello.call, &hello.public, Frame::Refusal(reason)), platform, stats);
    }

    /// Makes a session for a caller: its channel, and the welcome to send.
    pub fn admit(
        &mut self,
        hello: &CallerHello,
        from: SocketAddr,
        now: Time,
        place: Admission,
        offer: Option<Offer>,
        platform: &mut impl Platform,
    ) -> (Channel, Vec<u8>) {
        let Admission { peer, mut group } = place;
        let (session, half) = (u32::from_be_bytes(draw(platform)), KeyPair::new(draw(platform)));
        let agreed = SessionKeys::for_listener(&self.secret, &half, &hello.public, &hello.caller);
        if let Some(group) = &mut group {
            agreed.mask(&mut group.secret);
        }
        let welcome = Frame::Welcome(Box::new(Welcome { session, public: half.public, peer, offer, group }));
        let welcome = self.answer(hello.call, &hello.public, welcome);
        if self.used.len() >= USED.max(self.max.saturating_mul(2)) {
            self.used.pop_front();
        }
        self.used.push_back((hello.public, from));
        let mut channel = Channel::new(from, session, [agreed.called, agreed.caller], agreed.binding, now);
        channel.rtt = hello.token.map(|token| now.saturating_since(TokenKey::issued_at(&token)));
        (channel, welcome)
    }

    /// Sends the welcome and stores it for retransmission.
    pub fn welcome(
        &mut self,
        hello: &CallerHello,
        welcome: Vec<u8>,
        to: SocketAddr,
        platform: &mut impl Platform,
        stats: &mut Stats,
    ) {
        post(to, &welcome, platform, stats);
        self.inside.retain(|inside| (inside.caller, inside.from) != (hello.caller, to));
        if self.inside.len() >= self.max.saturating_add(BESIDE) {
            self.inside.pop_front();
        }
        self.inside.push_back(Inside { from: to, caller: hello.caller, public: hello.public, welcome });
    }

    fn answer(&self, call: u32, caller: &[u8; KEY], frame: Frame<'_>) -> Vec<u8> {
        sealed(call, frame, &Key::answer(&self.secret, caller))
    }
}

/// The part of version 1 of the format that is needed to refuse a caller.
mod first_version {
    use wire::stream::{HEADING, HELLO, KEY, TAG};

    use crate::Secret;
    use crate::keys::Key;

    const HELLO_KIND: u8 = 1;
    const REFUSAL_KIND: u8 = 4;
    /// The code of [`wire::stream::Reason::Offer`].
    const OFFER: u8 = 4;

    /// The refusal of a hello of version 1 with a valid tag.
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
