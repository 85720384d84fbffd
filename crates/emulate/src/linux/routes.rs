//! Routes with settings of TCP, asked for by rtnetlink messages (`man 7 rtnetlink`).

use std::io::{self, ErrorKind};
use std::net::Ipv4Addr;
use std::os::fd::AsRawFd;

use nix::net::if_::if_nametoindex;
use nix::sys::socket::{
    AddressFamily, MsgFlags, NetlinkAddr, SockFlag, SockProtocol, SockType, recv, sendto, socket,
};

/// What a route says of TCP connections along it. Zero leaves a setting to the kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Metrics {
    /// Segments.
    pub(super) initial_window: u32,
    /// Least retransmission timeout in milliseconds.
    pub(super) min_rto_ms: u32,
    /// 1: each segment is acknowledged at once.
    pub(super) quick_ack: u32,
    /// Most bytes that this end is ready to take.
    pub(super) window: u32,
}

// numbers of `linux/rtnetlink.h`
const NEW_ROUTE: u16 = 24;
const REQUEST_ACK_CREATE_REPLACE: u16 = 0x1 | 0x4 | 0x400 | 0x100;
const ANSWER: u16 = 2;
const MAIN_TABLE: u8 = 254;
const BY_ADMINISTRATOR: u8 = 4;
const ON_THE_LINK: u8 = 253;
const TO_ONE: u8 = 1;
const DESTINATION: u16 = 1;
const INTERFACE: u16 = 4;
const METRICS: u16 = 8;
const WINDOW: u16 = 3;
const INITIAL_WINDOW: u16 = 11;
const MIN_RTO: u16 = 13;
const QUICK_ACK: u16 = 15;

/// In the namespace of the calling thread: packets to `destination` go out by `interface`, with these settings.
pub(super) fn add(interface: &str, destination: Ipv4Addr, metrics: &Metrics) -> io::Result<()> {
    let message = message(if_nametoindex(interface)?, destination, metrics);
    let asked =
        socket(AddressFamily::Netlink, SockType::Raw, SockFlag::SOCK_CLOEXEC, SockProtocol::NetlinkRoute)?;
    sendto(asked.as_raw_fd(), &message, &NetlinkAddr::new(0, 0), MsgFlags::empty())?;
    let mut answer = [0u8; 1024];
    let length = recv(asked.as_raw_fd(), &mut answer, MsgFlags::empty())?;
    answered(&answer[..length])
}

/// A header of 16 bytes, the route, attributes.
fn message(interface: u32, destination: Ipv4Addr, metrics: &Metrics) -> Vec<u8> {
    let mut bytes = vec![0u8; 16];
    bytes.extend([libc::AF_INET as u8, 32, 0, 0, MAIN_TABLE, BY_ADMINISTRATOR, ON_THE_LINK, TO_ONE]);
    bytes.extend(0u32.to_ne_bytes());
    attribute(&mut bytes, DESTINATION, &destination.octets());
    attribute(&mut bytes, INTERFACE, &interface.to_ne_bytes());
    let mut nested = Vec::new();
    for (kind, value) in [
        (WINDOW, metrics.window),
        (INITIAL_WINDOW, metrics.initial_window),
        (MIN_RTO, metrics.min_rto_ms),
        (QUICK_ACK, metrics.quick_ack),
    ] {
        if value > 0 {
            attribute(&mut nested, kind, &value.to_ne_bytes());
        }
    }
    attribute(&mut bytes, METRICS, &nested);
    let length = bytes.len() as u32;
    bytes[..4].copy_from_slice(&length.to_ne_bytes());
    bytes[4..6].copy_from_slice(&NEW_ROUTE.to_ne_bytes());
    bytes[6..8].copy_from_slice(&REQUEST_ACK_CREATE_REPLACE.to_ne_bytes());
    bytes[8..12].copy_from_slice(&1u32.to_ne_bytes());
    bytes
}

/// Length, kind, value; all lengths here are multiples of four, so there is nothing to fill.
fn attribute(bytes: &mut Vec<u8>, kind: u16, value: &[u8]) {
    bytes.extend((4 + value.len() as u16).to_ne_bytes());
    bytes.extend(kind.to_ne_bytes());
    bytes.extend(value);
}

/// The answer is an error number, 0 when all went well, behind the header.
fn answered(bytes: &[u8]) -> io::Result<()> {
    let number = bytes.get(16..20).map(|four| i32::from_ne_bytes([four[0], four[1], four[2], four[3]]));
    match number {
        Some(0) if bytes[4..6] == ANSWER.to_ne_bytes() => Ok(()),
        Some(number) if bytes[4..6] == ANSWER.to_ne_bytes() => Err(io::Error::from_raw_os_error(-number)),
        _ => Err(io::Error::new(ErrorKind::InvalidData, "the kernel's answer cannot be read")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_has_the_lengths_that_it_says() {
        let metrics = Metrics { initial_window: 3, quick_ack: 1, ..Metrics::default() };
        let bytes = message(7, Ipv4Addr::new(10, 0, 0, 2), &metrics);
        // header 16, route 12, two attributes of 8, the metrics 4 + 2 · 8
        assert_eq!(bytes.len(), 16 + 12 + 16 + 20);
        assert_eq!(bytes[..4], 64u32.to_ne_bytes());
        assert_eq!(bytes[32..36], [10, 0, 0, 2]);
        assert_eq!(bytes[44..46], 20u16.to_ne_bytes());
    }

    #[test]
    fn an_answer_is_an_error_number() {
        let answer = |kind: u16, number: i32| {
            let mut bytes = vec![0u8; 36];
            bytes[4..6].copy_from_slice(&kind.to_ne_bytes());
            bytes[16..20].copy_from_slice(&number.to_ne_bytes());
            answered(&bytes).map_err(|error| error.raw_os_error())
        };
        assert_eq!(answer(ANSWER, 0), Ok(()));
        assert_eq!(answer(ANSWER, -libc::ENETUNREACH), Err(Some(libc::ENETUNREACH)));
        assert_eq!(answer(NEW_ROUTE, 0), Err(None));
        assert!(answered(&[0; 10]).is_err());
    }
}
