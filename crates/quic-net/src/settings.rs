//! Settings of a session.

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::mpsc::Receiver;

use contract::ParamList;
use stack::log::Log;
use transfer::{Incoming, Outgoing};
use units::{Duration, Time};
use wire::stream::Offer;

use crate::Credentials;

/// Settings of senders and receivers.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Whether this end connects or listens. Either end may connect.
    pub handshake: Handshake,
    /// The identity of this end, and the peers that it accepts.
    pub credentials: Credentials,
    /// Timeouts and sizes.
    pub limits: Limits,
    /// A secret by which a server recognises this client when it reconnects after a restart. Random if `None`.
    pub client_secret: Option<[u8; 32]>,
    /// Logs of its connections. A sender of a group has none.
    pub logs: Option<Logs>,
}

/// Which end of a session opens the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handshake {
    /// This end is the client and connects to this address.
    Connect(SocketAddr),
    /// This end is the server and accepts the first client.
    Listen,
}

/// Timeouts and sizes of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Time without a datagram after which an end sends a keep-alive.
    pub keep_alive: Duration,
    /// Time without a datagram from the other end after which a session is suspended: its sender pauses, and its client
    /// reconnects. A sender to a group is suspended when all receivers have been silent for three times as long.
    pub silence: Duration,
    /// Time without a datagram from the other end after which the session fails; also the maximum time of connection
    /// attempts.
    pub patience: Duration,
    /// How long a server waits for the first client.
    pub accept_timeout: Duration,
    /// How long a complete receiver keeps its session open, so that its last messages can be retransmitted.
    pub linger: Duration,
    /// Receive window of a windowed flow in bytes, which is the maximum that an end may have to store.
    pub window: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            keep_alive: Duration::from_millis(500),
            silence: Duration::from_secs(3),
            patience: Duration::from_secs(60),
            accept_timeout: Duration::MAX,
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
    /// Bytes of a data packet with all headers, including IP and UDP.
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
    pub outgoing: Outgoing,
    /// For the receiving application: the manifest. At most [`wire::stream::ABOUT`] bytes.
    pub about: Vec<u8>,
    /// Whether another object follows.
    pub more: bool,
    /// How many files and folders of the folder that is sent are not, because of their names or kinds.
    pub omitted: u32,
}

/// The objects of a sender, in order. An error is a message for users that ends the session.
pub type Objects = Receiver<Result<Object, String>>;

/// A queue with all of these objects.
pub fn objects(all: Vec<Object>) -> Objects {
    let (sender, receiver) = std::sync::mpsc::channel();
    // sending cannot fail, because the receiver still exists
    all.into_iter().for_each(|object| drop(sender.send(Ok(object))));
    receiver
}

/// What a sender proposes.
#[derive(Clone, Debug, PartialEq)]
pub struct Proposal {
    /// The folders above the object, from the outermost. Each is the valid name of one folder
    /// ([`transfer::check_name`]).
    pub folders: Vec<String>,
    /// How many files and folders of the folder that is sent are not.
    pub omitted: u32,
    /// The scheme, and the manifest.
    pub offer: Offer,
}

/// Called with each proposal. Returns where to store the content, or a message for users why it is refused.
pub type Accept<'a> = &'a mut dyn FnMut(&Proposal) -> Result<Incoming, String>;

/// A connection with a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoggedConnection {
    /// This end is the client.
    pub client: bool,
    /// The other end.
    pub to: SocketAddr,
    /// When it began. No event is earlier.
    pub began_at: Time,
}

/// Makes a log for each connection whose handshake completes.
#[derive(Clone)]
pub struct Logs(pub(crate) Arc<dyn Fn(&LoggedConnection) -> Log + Send + Sync>);

impl Logs {
    /// Logs that `make` makes.
    pub fn new(make: impl Fn(&LoggedConnection) -> Log + Send + Sync + 'static) -> Self {
        Self(Arc::new(make))
    }
}

impl fmt::Debug for Logs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Logs").finish_non_exhaustive()
    }
}
