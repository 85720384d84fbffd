//! Settings of a forwarder.

use std::fmt;
use std::net::SocketAddr;

use contract::{ParamError, ParamList};
use quic_net::Credentials;
use stack::ndn::Store;
use units::{Bytes, Duration, Rate};
use wire::ndn::{LONGEST_FRAME, Name};

/// The settings of a forwarder.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The strategy: a built-in one, or a scheme's.
    pub strategy: String,
    /// Its parameters.
    pub strategy_params: ParamList,
    /// The scheme of the link part; `None` for none.
    pub link: Option<String>,
    /// Its parameters.
    pub link_params: ParamList,
    /// Assumed size of a Data packet on the wire, UDP and IP headers included.
    pub data: Bytes,
    /// The content store.
    pub store: Store,
    /// The configured links.
    pub links: Vec<LinkSettings>,
    /// Settings of links to strangers; `None` if only configured links are accepted.
    pub strangers: Option<LinkSettings>,
    /// Marks for queues towards programs on this host.
    pub program_marks: Option<MarkSettings>,
    /// Permanent routes.
    pub routes: Vec<RouteSettings>,
    /// The SDN controller; `None` for none.
    pub controller: Option<ControllerSettings>,
    /// The seed of the forwarder's random streams.
    pub seed: u64,
    /// Bounds.
    pub limits: Limits,
}

/// A link to another host.
#[derive(Clone, Debug)]
pub struct LinkSettings {
    /// Its name, for users and routes.
    pub name: String,
    /// The other end.
    pub to: Option<SocketAddr>,
    /// Outgoing rate, enforced by a queue. Unlimited for no queue.
    pub rate: Rate,
    /// Incoming rate, as assumed by parts.
    pub rate_in: Rate,
    /// Queue limit in packets.
    pub buffer: u32,
    /// Delay of outgoing frames, for experiments. Zero for none.
    pub delay: Duration,
    /// Maximum frame size in bytes, without UDP and IP headers.
    pub mtu: usize,
    /// Marks by queued bytes, in addition to the marks of a link part; `None` for none.
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

/// When packets to a face are marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MarkSettings {
    /// Queued bytes that are never marked.
    pub above: Bytes,
    /// Time for which more may be queued without a mark.
    pub interval: Duration,
}

impl Default for MarkSettings {
    /// The marks of NFD [NFD: congestion marking].
    fn default() -> Self {
        Self { above: Bytes::new(65_536), interval: Duration::from_millis(100) }
    }
}

/// Maximum frame size for 1500 bytes with headers of UDP, IPv6 and a tunnel.
pub const MTU: usize = 1420;
/// Maximum size of frames to programs on this host.
pub(super) const MTU_LOCAL: usize = LONGEST_FRAME;

/// A route.
#[derive(Clone, Debug)]
pub struct RouteSettings {
    /// The prefix.
    pub prefix: Name,
    /// Index of the link in the settings.
    pub link: usize,
    /// Cost; the lowest is preferred.
    pub cost: u64,
}

/// An SDN controller.
#[derive(Clone, Debug)]
pub struct ControllerSettings {
    /// Its address.
    pub address: SocketAddr,
    /// Name of this forwarder in the controller's network. Links with equal names correspond.
    pub node: String,
    /// What the agent shows, and which controller it accepts.
    pub credentials: Credentials,
    /// Timeouts of the connection.
    pub limits: quic_net::Limits,
    /// A secret random seed, from which the keys of the connection are drawn.
    pub seed: [u8; 32],
}

impl ControllerSettings {
    /// A controller at `address`, with default timeouts and random numbers of the system.
    pub fn new(address: SocketAddr, node: &str, credentials: Credentials) -> Self {
        let mut seed = [0; 32];
        getrandom::fill(&mut seed).expect("the system has random numbers");
        Self { address, node: node.to_owned(), credentials, limits: quic_net::Limits::default(), seed }
    }
}

/// Limits of the state that strangers and programs can cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Pending Interests.
    pub pending: usize,
    /// Maximum of them per face.
    pub pending_face: usize,
    /// Maximum of them for all strangers together.
    pub pending_strangers: usize,
    /// Names; at least twice the number of pending and stored ones.
    pub names: usize,
    /// Bytes of names, pending Interests and kept Data.
    pub bytes: usize,
    /// Maximum of these for stored Data.
    pub store_bytes: usize,
    /// Bytes in queues, or on links with a delay. A stranger's link holds at most its share of half of them.
    pub queue_bytes: usize,
    /// Links, strangers included.
    pub links: usize,
    /// Programs on this host, including those that disconnected recently.
    pub programs: usize,
    /// Prefixes with routes.
    pub routes: usize,
    /// Maximum lifetime of a pending Interest; longer ones are reduced.
    pub lifetime: Duration,
    /// Time without an arrival after which a stranger's link is closed.
    pub idle: Duration,
}

/// All limits are our choice: the specifications leave them to the forwarder.
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
    /// Default maximum of pending Interests per face: a quarter of all, so that four faces must flood to fill the
    /// table. With the default of all it suffices for 1 Gbit/s of Data of 4 kB over 130 ms.
    pub const fn face_of(pending: usize) -> usize {
        at_least_one(pending / 4)
    }

    /// Default maximum of pending Interests of all strangers: half of all. Their addresses can be forged, so a limit
    /// per stranger is no protection; the other half is for configured links and programs.
    pub const fn strangers_of(pending: usize) -> usize {
        at_least_one(pending / 2)
    }

    /// Default maximum of bytes of stored Data: half of all, so that there is always room for Interests.
    pub const fn store_of(bytes: usize) -> usize {
        bytes / 2
    }

    /// Minimum number of names: pending Interests and stored Data have one each, and the same number is needed to find
    /// names that can be removed.
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

/// Why a forwarder cannot be made.
#[derive(Debug)]
pub enum Error {
    /// A parameter of a part is invalid.
    Param(ParamError),
    /// There is no strategy with this name.
    NoStrategy(String),
    /// There is no scheme with this name that has a link part.
    NoLink(String),
    /// A part that needs rates is on a link without one.
    NoRate {
        /// The part's scheme.
        scheme: String,
        /// The link.
        link: String,
    },
    /// There are more links or routes than the limits allow.
    TooMany(&'static str),
    /// The limit of names is too small for pending and stored names.
    TooFewNames {
        /// The limit.
        names: usize,
        /// The required minimum.
        min: usize,
    },
    /// The link of a route does not exist.
    NoSuchLink(usize),
    /// A socket cannot be opened.
    Socket {
        /// Its address.
        place: String,
        /// The error of the system.
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
