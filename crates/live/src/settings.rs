//! Settings of a session.

use std::fmt;
use std::net::SocketAddr;

use contract::ParamList;
use units::Duration;
use wire::stream::{KEY, Offer};

use crate::content::{ByteSink, ByteSource, Payload, Sink};

/// What both kinds of ends are told.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How the ends find each other.
    pub handshake: Handshake,
    /// What only the ends know.
    pub secret: Secret,
    /// Times and sizes.
    pub limits: Limits,
    /// Who this end is where it calls, so that a program that is started again is taken for the one that it was: a private key, from which the
    /// name that it calls itself is made. Drawn by chance where not given.
    pub caller: Option<[u8; KEY]>,
}

/// How the ends of a session find each other. Either may call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handshake {
    /// This end calls the other, which listens at this address.
    Connect(SocketAddr),
    /// This end listens, and serves the first who calls.
    Listen,
}

/// What only the two ends know, and all keys are made from.
///
/// Without one, tags protect against damage and against whoever only listens, and not against somebody on the way who replaces the first
/// datagrams of a session and poses as the other end.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Secret(Vec<u8>);

impl Secret {
    /// None.
    pub const fn none() -> Self {
        Self(Vec::new())
    }

    /// These bytes: the content of a key file, or a pass phrase.
    pub fn new(bytes: impl Into<Vec<u8>>) -> Self {
        Self(bytes.into())
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }
}

/// Says whether there is one, and nothing of it.
impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_empty() { "Secret(none)" } else { "Secret(…)" })
    }
}

/// Times and sizes that a session keeps to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// An end that has nothing to say says so after this silence, so that the other knows that it lives.
    pub keep_alive: Duration,
    /// After such a silence of the other end a session stands still: its sender sends nothing, and whoever called calls again. A sender to a
    /// group stands still when all receivers have been silent for three times as long.
    pub silence: Duration,
    /// After such a silence of the other end it is given up. A caller tries as long to be answered at first, too.
    pub patience: Duration,
    /// How long one who listens waits for a first caller.
    pub waits: Duration,
    /// A receiver that has the whole stays as long, so that its last messages can be retransmitted.
    pub linger: Duration,
    /// Bytes of a windowed flow that a receiver takes beyond those in order: what it may have to hold.
    pub window: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            keep_alive: Duration::from_millis(500),
            silence: Duration::from_secs(3),
            patience: Duration::from_secs(60),
            waits: Duration::MAX,
            linger: Duration::from_secs(2),
            window: 8 << 20,
        }
    }
}

impl Limits {
    /// After which silence an end says that it lives: a member of a group later, since it is one of many and its sender does not mind.
    pub(crate) fn alive_in(&self, group: bool) -> Duration {
        if group { self.silence.max(self.keep_alive) } else { self.keep_alive }
    }
}

/// The scheme by which a sender sends, and its packets.
#[derive(Clone, Debug, PartialEq)]
pub struct Scheme {
    /// Its name in the catalogue: a stream scheme, or a window law.
    pub name: String,
    /// Its parameters; others have their defaults.
    pub params: ParamList,
    /// The mode that it starts in, where it has modes.
    pub mode: Option<String>,
    /// Bytes of a data packet with all headers, those of IP and UDP too.
    pub packet: u16,
    /// Data packets say that they understand congestion marks.
    pub ecn: bool,
}

impl Scheme {
    /// The scheme with its defaults, and packets that cross every Ethernet.
    pub fn new(name: &str) -> Self {
        Self { name: name.to_owned(), params: ParamList::new(), mode: None, packet: 1428, ecn: true }
    }
}

/// What a sender sends.
pub enum Cargo {
    /// By a paced scheme.
    Paced(Box<dyn Payload>),
    /// By a windowed scheme.
    Windowed(Box<dyn ByteSource>),
}

/// Where a receiver puts what comes.
pub enum Store {
    /// By a paced scheme.
    Paced(Box<dyn Sink>),
    /// By a windowed scheme.
    Windowed(Box<dyn ByteSink>),
}

/// Asked when the first offer has come: where to put it, or why not, in a sentence for people. Called again for another offer where nothing
/// came of the one before.
pub type Accept<'a> = &'a mut dyn FnMut(&Offer) -> Result<Store, String>;
