//! The identity of a receiver. It is stored beside an unfinished file, so that the sender recognises a restarted
//! receiver: a sender to a group does not count it twice, and does not wait for its former session.

use std::io::Read;
use std::net::{IpAddr, Ipv6Addr, SocketAddr, SocketAddrV6};
use std::path::Path;

use crate::KEY;

use super::names::{STATE, with_suffix};

/// The identity of a receiver for the sender that it calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    /// A random private key, from which its public identity is derived.
    pub secret: [u8; KEY],
    /// The sender.
    pub sender: SocketAddr,
}

/// Magic number of a list of blocks. It is followed by the receiver, two bytes length of the manifest, the manifest,
/// and four bytes per block.
pub(crate) const MAGIC: &[u8] = b"thalweg-state 3\n";
/// Bytes of an identity.
pub(crate) const IDENTITY: usize = KEY + 22;

impl Identity {
    /// The identity of an earlier receiver that called `sender`, stored data in `folder` under `name`, if given, and
    /// ended before it was complete; otherwise a new one, with random bytes of `fill_random`. The identity of a running
    /// receiver is not used.
    pub fn of(
        folder: &Path,
        name: Option<&str>,
        sender: SocketAddr,
        fill_random: impl FnOnce(&mut [u8]),
    ) -> Self {
        let left = Self::left(folder, name, sender);
        left.unwrap_or_else(|| {
            let mut secret = [0; KEY];
            fill_random(&mut secret);
            Self { secret, sender }
        })
    }

    fn left(folder: &Path, name: Option<&str>, sender: SocketAddr) -> Option<Self> {
        let states = std::fs::read_dir(folder).ok()?.flatten().filter(|entry| {
            let called = entry.file_name();
            let called = called.to_str().filter(|called| called.ends_with(STATE));
            called.is_some_and(|called| name.is_none_or(|name| with_suffix(name, STATE) == called))
        });
        let mut found = states.filter_map(|entry| {
            let mut state = super::new_file::reopen(&entry.path()).ok()?;
            // the writer holds the lock
            state.try_lock_shared().ok()?;
            let mut head = [0; MAGIC.len() + IDENTITY];
            state.read_exact(&mut head).ok()?;
            Self::read(head.strip_prefix(MAGIC)?.first_chunk()?).filter(|left| left.sender == sender)
        });
        // several identities would be ambiguous
        found.next().filter(|_| found.next().is_none())
    }

    /// As bytes: 32 secret, 16 address, 2 port, 4 zone. Zeros for no identity.
    pub(crate) fn write(of: Option<&Self>) -> [u8; IDENTITY] {
        let mut bytes = [0; IDENTITY];
        let Some(Self { secret, sender }) = of else { return bytes };
        let (ip, zone) = match sender {
            SocketAddr::V4(sender) => (sender.ip().to_ipv6_mapped(), 0),
            SocketAddr::V6(sender) => (*sender.ip(), sender.scope_id()),
        };
        bytes[..KEY].copy_from_slice(secret);
        bytes[KEY..KEY + 16].copy_from_slice(&ip.octets());
        bytes[KEY + 16..KEY + 18].copy_from_slice(&sender.port().to_be_bytes());
        bytes[KEY + 18..].copy_from_slice(&zone.to_be_bytes());
        bytes
    }

    fn read(bytes: &[u8; IDENTITY]) -> Option<Self> {
        let (secret, rest) = bytes.split_first_chunk::<KEY>()?;
        let (ip, rest) = rest.split_first_chunk::<16>()?;
        let (port, zone) = rest.split_first_chunk()?;
        let (port, zone) = (u16::from_be_bytes(*port), u32::from_be_bytes(*zone.first_chunk()?));
        let ip = Ipv6Addr::from(*ip);
        let sender = match ip.to_ipv4_mapped() {
            Some(ip) => SocketAddr::new(IpAddr::V4(ip), port),
            None => SocketAddrV6::new(ip, port, 0, zone).into(),
        };
        (port > 0).then_some(Self { secret: *secret, sender })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        for sender in ["192.0.2.7:9000", "[2001:db8::7]:9000", "[fe80::7%3]:9000"] {
            let me = Identity { secret: [7; KEY], sender: sender.parse().expect("an address") };
            assert_eq!(Identity::read(&Identity::write(Some(&me))), Some(me));
        }
        assert_eq!(Identity::read(&Identity::write(None)), None);
    }
}
