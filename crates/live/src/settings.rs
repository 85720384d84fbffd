//! Settings of a session.

use std::fmt;
use std::net::SocketAddr;

use contract::ParamList;
use transfer::Incoming;
use units::Duration;
use wire::stream::{KEY, Offer};

/// Settings of both kinds of ends.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How the ends find each other.
    pub handshake: Handshake,
    /// The key of the two ends.
    pub secret: Secret,
    /// Timeouts and sizes.
    pub limits: Limits,
    /// The private key that identifies this end when it calls, so that a restarted program is recognised. Random if `None`.
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

/// The key that only the two ends know, from which all keys are derived.
///
/// Without one, tags protect against damage and passive observers, but not against an attacker on the path that replaces the first
/// datagrams of a session.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Secret(Vec<u8>);

impl Secret {
    /// No key.
    pub const fn none() -> Self {
        Self(Vec::new())
    }

    /// The bytes of a key file or a pass phrase.
    pub fn new(bytes: impl Into<Vec<u8>>) -> Self {
        Self(bytes.into())
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }
}

/// Shows whether there is a key, but not its content.
impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_empty() { "Secret(none)" } else { "Secret(…)" })
    }
}

/// Timeouts and sizes of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Time without a datagram after which an end sends a keep-alive.
    pub keep_alive: Duration,
    /// Time without a datagram from the other end after which a session is suspended: its sender sends nothing, and its caller calls again.
    /// A sender to a group is suspended when all receivers have been silent for three times as long.
    pub silence: Duration,
    /// Time without a datagram from the other end after which the session fails; also the maximum time of a call.
    pub patience: Duration,
    /// How long a listener waits for the first caller.
    pub waits: Duration,
    /// How long a receiver that has everything stays, so that its last messages can be retransmitted.
    pub linger: Duration,
    /// Receive window of a windowed flow in bytes, which is the maximum that it may have to hold.
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
    /// Interval of keep-alives; longer for a member of a group, to limit the load of the sender.
    pub(crate) fn alive_in(&self, group: bool) -> Duration {
        if group { self.silence.max(self.keep_alive) } else { self.keep_alive }
    }
}

/// The scheme of a sender, and its packets.
#[derive(Clone, Debug, PartialEq)]
pub struct Scheme {
    /// Name of the scheme: a stream scheme or a window scheme.
    pub name: String,
    /// Parameters that are not default.
    pub params: ParamList,
    /// The initial mode, if it has modes.
    pub mode: Option<String>,
    /// Bytes of a data packet with all headers, those of IP and UDP too.
    pub packet: u16,
    /// Whether data packets are ECN-capable.
    pub ecn: bool,
}

impl Scheme {
    /// The scheme with its defaults, and packets that fit every Ethernet.
    pub fn new(name: &str) -> Self {
        Self { name: name.to_owned(), params: ParamList::new(), mode: None, packet: 1428, ecn: true }
    }
}

/// Called with the first offer. Returns where to store the content, or a message for users why it is refused. Called again for another
/// offer if nothing arrived of the one before.
pub type Accept<'a> = &'a mut dyn FnMut(&Offer) -> Result<Incoming, String>;
