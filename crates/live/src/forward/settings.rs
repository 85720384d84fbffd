//! Settings of a forwarder.

use std::fmt;
use std::net::SocketAddr;

use contract::{ParamError, ParamList};
use stack::ndn::Store;
use units::{Bytes, Duration, Rate};
use wire::ndn::{LONGEST_FRAME, Name};

use crate::Secret;

/// All that a forwarder is told before it begins.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How next hops are chosen: a built-in strategy or that of a scheme.
    pub strategy: String,
    /// Its parameters.
    pub strategy_params: ParamList,
    /// The scheme whose part stands at the links; `None` for none.
    pub link: Option<String>,
    /// Its parameters.
    pub link_params: ParamList,
    /// What parts assume as the size of a Data packet on the wire, headers of UDP and IP included.
    pub data: Bytes,
    /// The content store.
    pub store: Store,
    /// The links that are known.
    pub links: Vec<LinkSettings>,
    /// What holds for links to strangers; `None` where nobody but the known is listened to.
    pub strangers: Option<LinkSettings>,
    /// Marks on what waits for programs on this host.
    pub program_marks: Option<MarkSettings>,
    /// Routes that stay.
    pub routes: Vec<RouteSettings>,
    /// The SDN controller that is reported to and that may give orders; `None` for none.
    pub controller: Option<ControllerSettings>,
    /// What the forwarder's random streams begin with.
    pub seed: u64,
    /// Bounds.
    pub limits: Limits,
}

/// A link to another host.
#[derive(Clone, Debug)]
pub struct LinkSettings {
    /// Its name, for people and routes.
    pub name: String,
    /// The other end.
    pub to: Option<SocketAddr>,
    /// Rate outwards: packets wait in a queue and leave no faster. Unlimited for as fast as the system takes them.
    pub rate: Rate,
    /// Rate inwards, as parts assume it.
    pub rate_in: Rate,
    /// Packets that may wait.
    pub buffer: u32,
    /// What leaves is held so long: a laboratory's link. Zero for none.
    pub delay: Duration,
    /// Longest frame, in bytes, without headers of UDP and IP.
    pub mtu: usize,
    /// Marks by the bytes that wait, beside those of a link part; `None` for none.
    pub marks: Option<MarkSettings>,
}

impl Default for LinkSettings {
    fn default() -> Self {
        Self {
            name: String::new(),
            to: None,
            rate: Rate::UNLIMITED,
            rate_in: Rate::UNLIMITED,
            buffer: 1000,
            delay: Duration::ZERO,
            mtu: MTU,
            marks: None,
        }
    }
}

/// When packets to a face are marked because of what waits for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MarkSettings {
    /// So much may wait for as long as it likes.
    pub above: Bytes,
    /// More may wait this long without a mark.
    pub interval: Duration,
}

impl Default for MarkSettings {
    /// Those of NFD [NFD: congestion marking].
    fn default() -> Self {
        Self { above: Bytes::new(65_536), interval: Duration::from_millis(100) }
    }
}

/// Frames that fit into 1500 bytes with the headers of UDP and IPv6, and a tunnel's.
pub const MTU: usize = 1420;
/// Frames to programs on this host are as long as any.
pub(super) const MTU_LOCAL: usize = LONGEST_FRAME;

/// A route.
#[derive(Clone, Debug)]
pub struct RouteSettings {
    /// The prefix.
    pub prefix: Name,
    /// The link, by its place among the settings' links.
    pub link: usize,
    /// Cost; the cheapest is preferred.
    pub cost: u64,
}

/// An SDN controller.
#[derive(Clone, Debug)]
pub struct ControllerSettings {
    /// Where it is.
    pub address: SocketAddr,
    /// Name of this forwarder in the controller's network. Links of the same names as there are the links of that network.
    pub node: String,
    /// What only the controller and its agents know.
    pub secret: Secret,
    /// Times of the session.
    pub limits: crate::Limits,
    /// Drawn at random where nobody sees it: what keys of sessions are drawn from.
    pub chance: [u8; 32],
}

impl ControllerSettings {
    /// A controller at `address`, with the usual times, and chance of the system.
    pub fn new(address: SocketAddr, node: &str, secret: Secret) -> Self {
        let mut chance = [0; 32];
        getrandom::fill(&mut chance).expect("the system has chance to give");
        Self { address, node: node.to_owned(), secret, limits: crate::Limits::default(), chance }
    }
}

/// Bounds on what strangers and programs can make the forwarder remember.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Pending Interests.
    pub pending: usize,
    /// Of these, those for which one face waits.
    pub pending_face: usize,
    /// Of these, those for which strangers wait, all together.
    pub pending_strangers: usize,
    /// Names that are remembered; at least twice as many as can be pending or kept.
    pub names: usize,
    /// Bytes of names, pending Interests and kept Data.
    pub bytes: usize,
    /// Of these, bytes of kept Data.
    pub store_bytes: usize,
    /// Bytes that wait in queues, or are under way where links have a delay. A stranger's link holds at most its part of half of them.
    pub queue_bytes: usize,
    /// Links, those to strangers included.
    pub links: usize,
    /// Programs on this host at once, and those that ended a while ago.
    pub programs: usize,
    /// Prefixes with routes.
    pub routes: usize,
    /// Longest life of a pending Interest: who asks for more gets this.
    pub lifetime: Duration,
    /// Links to strangers end when nothing came for this long.
    pub idle: Duration,
}

/// All are our choice: the specifications leave bounds to the forwarder.
impl Default for Limits {
    fn default() -> Self {
        let (pending, bytes) = (16_384, 256 << 20);
        Self {
            pending,
            pending_face: Self::face_of(pending),
            pending_strangers: Self::strangers_of(pending),
            names: 65_536,
            bytes,
            store_bytes: Self::store_of(bytes),
            queue_bytes: 64 << 20,
            links: 64,
            programs: 256,
            routes: 1024,
            lifetime: Duration::from_secs(10),
            idle: Duration::from_secs(60),
        }
    }
}

impl Limits {
    /// What one face may have pending where nothing is said: a quarter of all, so that it takes four that flood to fill the table. With
    /// the default for all it is 1 Gbit/s of Data of 4 kB for 130 ms.
    pub const fn face_of(pending: usize) -> usize {
        at_least_one(pending / 4)
    }

    /// What strangers may have pending together where nothing is said: half of all. Their addresses may be made up, so that a bound on
    /// each of them alone is none; the other half is for links that are known and for programs.
    pub const fn strangers_of(pending: usize) -> usize {
        at_least_one(pending / 2)
    }

    /// What kept Data may take where nothing is said: half of all bytes, so that there is always room for Interests.
    pub const fn store_of(bytes: usize) -> usize {
        bytes / 2
    }

    /// Names for which there has to be room: Interests and kept Data hold one each, and as many are looked through until one is found that
    /// nobody needs.
    pub const fn min_names(pending: usize, store: Store) -> usize {
        2 * (pending + store.size as usize)
    }
}

const fn at_least_one(number: usize) -> usize {
    if number == 0 { 1 } else { number }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            strategy: "best_route".to_owned(),
            strategy_params: Vec::new(),
            link: None,
            link_params: Vec::new(),
            data: Bytes::new(1250),
            store: Store::default(),
            links: Vec::new(),
            strangers: None,
            program_marks: Some(MarkSettings::default()),
            routes: Vec::new(),
            controller: None,
            seed: 0,
            limits: Limits::default(),
        }
    }
}

/// Why there can be no such forwarder.
#[derive(Debug)]
pub enum Error {
    /// A parameter of a part is wrong.
    Param(ParamError),
    /// There is no strategy of that name.
    NoStrategy(String),
    /// There is no scheme of that name with a part at links.
    NoLink(String),
    /// A part that needs rates is at a link without one.
    NoRate {
        /// The part's scheme.
        scheme: String,
        /// The link.
        link: String,
    },
    /// There are more links or routes than the limits allow.
    TooMany(&'static str),
    /// There is no room for the names of all that may be pending or kept.
    TooFewNames {
        /// How many there may be.
        names: usize,
        /// How many there have to be.
        min: usize,
    },
    /// A route leads over a link that is not there.
    NoSuchLink(usize),
    /// A socket cannot be had.
    Socket {
        /// Where it was to be.
        place: String,
        /// Why.
        error: std::io::Error,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Param(error) => write!(f, "parameter `{}`: {}", error.name, error.message),
            Self::NoStrategy(name) => write!(f, "there is no strategy `{name}`"),
            Self::NoLink(name) => write!(f, "there is no scheme `{name}` with a part at links"),
            Self::NoRate { scheme, link } => {
                write!(f, "`{scheme}` needs rates of links, and `{link}` has none")
            }
            Self::TooMany(what) => write!(f, "there are more {what} than the limits allow"),
            Self::TooFewNames { names, min } => write!(
                f,
                "`limits.names`: {names} are too few; at least {min}, twice what may be pending and kept"
            ),
            Self::NoSuchLink(link) => write!(f, "a route leads over link {link}, which is not there"),
            Self::Socket { place, error } => write!(f, "{place}: {error}"),
        }
    }
}

impl std::error::Error for Error {}

impl From<ParamError> for Error {
    fn from(error: ParamError) -> Self {
        Self::Param(error)
    }
}
