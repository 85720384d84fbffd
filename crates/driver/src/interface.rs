//! Network interfaces of this host, and the settings of multicast on them.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};

/// Multicast settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Multicast {
    /// Time to live: 1 stays in the local network.
    pub ttl: u8,
    /// Whether programs on this host receive the datagrams as well.
    pub loopback: bool,
    /// The interface.
    pub interface: Interface,
}

/// An interface of this host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Interface {
    /// The interface of the route.
    #[default]
    Routed,
    /// The interface with this address; for groups of IPv4.
    Address(Ipv4Addr),
    /// The interface with this index; for groups of IPv6.
    Index(u32),
}

impl Default for Multicast {
    /// The local network and this host, through the interface of the route.
    fn default() -> Self {
        Self { ttl: 1, loopback: true, interface: Interface::Routed }
    }
}

impl Interface {
    /// The interface that a user names: by name, by index, or for IPv4 by one of its addresses.
    ///
    /// # Errors
    ///
    /// A message for users: there is no such interface, or it has no suitable address.
    pub fn named(text: &str, ipv6: bool) -> Result<Self, String> {
        let known = interfaces();
        if let Ok(address) = text.parse::<Ipv4Addr>() {
            return if ipv6 {
                Err(format!(
                    "{text}: groups of IPv6 need the interface's name or number, such as {}",
                    listed(&known)
                ))
            } else {
                Ok(Self::Address(address))
            };
        }
        let found = known.iter().find(|one| one.name == text || text.parse() == Ok(one.index));
        let Some(found) = found else {
            return Err(format!("{text}: there is no such interface; there are {}", listed(&known)));
        };
        if ipv6 {
            return Ok(Self::Index(found.index));
        }
        let address = found.address.ok_or_else(|| format!("{text}: the interface has no IPv4 address"))?;
        Ok(Self::Address(address))
    }

    pub(crate) fn address(self) -> Ipv4Addr {
        if let Self::Address(address) = self { address } else { Ipv4Addr::UNSPECIFIED }
    }

    pub(crate) fn index(self) -> u32 {
        if let Self::Index(index) = self { index } else { 0 }
    }
}

/// The address of this host that routes choose towards a peer.
pub fn address_towards(peer: SocketAddr) -> Option<IpAddr> {
    let any = match peer {
        SocketAddr::V4(_) => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
        SocketAddr::V6(_) => IpAddr::V6(Ipv6Addr::UNSPECIFIED),
    };
    // connecting a UDP socket chooses the address and sends nothing
    let socket = UdpSocket::bind((any, 0)).ok()?;
    socket.connect(peer).ok()?;
    Some(socket.local_addr().ok()?.ip())
}

/// An interface of this host.
struct Found {
    name: String,
    index: u32,
    /// Its first IPv4 address.
    address: Option<Ipv4Addr>,
}

/// The interfaces of this host, as far as the system lists them.
fn interfaces() -> Vec<Found> {
    let names = nix::net::if_::if_nameindex();
    let names = names.iter().flat_map(|names| names.iter());
    let mut known: Vec<Found> = names
        .map(|one| Found {
            name: one.name().to_string_lossy().into_owned(),
            index: one.index(),
            address: None,
        })
        .collect();
    for one in nix::ifaddrs::getifaddrs().into_iter().flatten() {
        let address = one.address.as_ref().and_then(|address| address.as_sockaddr_in()).map(|at| at.ip());
        if let Some(found) = known.iter_mut().find(|found| found.name == one.interface_name) {
            found.address = found.address.or(address);
        }
    }
    known
}

/// Their names, for people.
fn listed(known: &[Found]) -> String {
    known.iter().map(|one| one.name.as_str()).collect::<Vec<_>>().join(", ")
}
