//! Settings of a session.

use std::net::SocketAddr;
use std::sync::mpsc::Receiver;

use contract::ParamList;
use transfer::{Incoming, Outgoing};
use units::Duration;
use wire::stream::Offer;

use crate::Credentials;

/// Settings of both kinds of ends.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How the ends find each other. Either may call.
    pub handshake: Handshake,
    /// What this end shows, and whom it accepts.
    pub credentials: Credentials,
    /// Timeouts and sizes.
    pub limits: Limits,
    /// A secret by which a listener recognises this end when it calls again after a restart. Random if `None`.
    pub caller: Option<[u8; 32]>,
}

/// How the ends of a session find each other. Either may call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handshake {
    /// This end calls the other, which listens at this address.
    Connect(SocketAddr),
    /// This end listens, and serves the first who calls.
    Listen,
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

/// An object that a sender sends: a file, or a stream.
pub struct Object {
    /// The folders above it at the receiver, from the outermost; none for a single file.
    pub folders: Vec<String>,
    /// Its content, for the scheme's transport.
    pub cargo: Outgoing,
    /// For the receiving application: the manifest. At most [`wire::stream::ABOUT`] bytes.
    pub about: Vec<u8>,
    /// Whether another object follows.
    pub more: bool,
}

/// The objects of a sender, in order. An error is a message for users that ends the session.
pub type Objects = Receiver<Result<Object, String>>;

/// Objects that are all there.
pub fn objects(all: Vec<Object>) -> Objects {
    let (give, take) = std::sync::mpsc::channel();
    // the other half is in this function
    all.into_iter().for_each(|object| drop(give.send(Ok(object))));
    take
}

/// What a sender proposes.
#[derive(Clone, Debug, PartialEq)]
pub struct Proposal {
    /// The folders above the object, from the outermost. Each is the valid name of one folder ([`transfer::check_name`]).
    pub folders: Vec<String>,
    /// The scheme, and the manifest.
    pub offer: Offer,
}

/// Called with each proposal. Returns where to store the content, or a message for users why it is refused.
pub type Accept<'a> = &'a mut dyn FnMut(&Proposal) -> Result<Incoming, String>;
