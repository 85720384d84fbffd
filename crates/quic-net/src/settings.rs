//! Settings of a session.

use std::sync::mpsc::Receiver;

use live::{Handshake, Limits};
use transfer::{Incoming, Outgoing};
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
