//! Interfaces and routes of the calling thread's namespace, by rtnetlink messages (`man 7 rtnetlink`).

use std::io::{self, ErrorKind};
use std::net::Ipv4Addr;
use std::os::fd::AsRawFd;

use netlink_packet_core::{
    NLM_F_ACK, NLM_F_CREATE, NLM_F_REPLACE, NLM_F_REQUEST, NetlinkHeader, NetlinkMessage, NetlinkPayload,
};
use netlink_packet_route::link::{LinkFlags, LinkMessage};
use netlink_packet_route::route::{
    RouteAddress, RouteAttribute, RouteHeader, RouteMessage, RouteMetric, RouteProtocol, RouteScope,
    RouteType,
};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};
use nix::net::if_::if_nametoindex;
use nix::sys::socket::{
    AddressFamily as SocketFamily, MsgFlags, NetlinkAddr, SockFlag, SockProtocol, SockType, recv, sendto,
    socket,
};

/// TCP attributes of a route. Zero keeps the kernel's default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Metrics {
    /// Initial window in segments.
    pub(super) initial_window: u32,
    /// Minimum retransmission timeout in milliseconds.
    pub(super) min_rto_ms: u32,
    /// 1 acknowledges each segment at once.
    pub(super) quick_ack: u32,
    /// Maximum receive window in bytes.
    pub(super) window: u32,
}

/// Brings an interface up.
pub(super) fn bring_up(interface: &str) -> io::Result<()> {
    let mut link = LinkMessage::default();
    link.header.index = if_nametoindex(interface)?;
    (link.header.flags, link.header.change_mask) = (LinkFlags::Up, LinkFlags::Up);
    send_request(NLM_F_REQUEST | NLM_F_ACK, RouteNetlinkMessage::SetLink(link))
}

/// Adds a route to `destination` (address and prefix length) through `interface`.
pub(super) fn add(interface: &str, destination: (Ipv4Addr, u8), metrics: &Metrics) -> io::Result<()> {
    let message = route(if_nametoindex(interface)?, destination, metrics);
    send_request(
        NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE | NLM_F_REPLACE,
        RouteNetlinkMessage::NewRoute(message),
    )
}

fn route(interface: u32, (destination, bits): (Ipv4Addr, u8), metrics: &Metrics) -> RouteMessage {
    let settings = [
        (RouteMetric::Window as fn(u32) -> RouteMetric, metrics.window),
        (RouteMetric::InitCwnd, metrics.initial_window),
        (RouteMetric::RtoMin, metrics.min_rto_ms),
        (RouteMetric::QuickAck, metrics.quick_ack),
    ];
    let settings = settings.into_iter().filter(|(_, value)| *value > 0);
    let mut message = RouteMessage::default();
    message.header = RouteHeader {
        address_family: AddressFamily::Inet,
        destination_prefix_length: bits,
        table: RouteHeader::RT_TABLE_MAIN,
        protocol: RouteProtocol::Static,
        scope: RouteScope::Link,
        kind: RouteType::Unicast,
        ..RouteHeader::default()
    };
    message.attributes = vec![
        RouteAttribute::Destination(RouteAddress::Inet(destination)),
        RouteAttribute::Oif(interface),
        RouteAttribute::Metrics(settings.map(|(kind, value)| kind(value)).collect()),
    ];
    message
}

/// Sends a request and waits for the acknowledgement of the kernel.
fn send_request(flags: u16, message: RouteNetlinkMessage) -> io::Result<()> {
    let mut header = NetlinkHeader::default();
    (header.flags, header.sequence_number) = (flags, 1);
    let mut request = NetlinkMessage::new(header, NetlinkPayload::from(message));
    request.finalize();
    let mut bytes = vec![0; request.buffer_len()];
    request.serialize(&mut bytes);
    let asked =
        socket(SocketFamily::Netlink, SockType::Raw, SockFlag::SOCK_CLOEXEC, SockProtocol::NetlinkRoute)?;
    sendto(asked.as_raw_fd(), &bytes, &NetlinkAddr::new(0, 0), MsgFlags::empty())?;
    let mut answer = [0u8; 1024];
    let length = recv(asked.as_raw_fd(), &mut answer, MsgFlags::empty())?;
    answered(&answer[..length])
}

/// Reads the acknowledgement: an error number, 0 for success.
fn answered(bytes: &[u8]) -> io::Result<()> {
    match NetlinkMessage::<RouteNetlinkMessage>::deserialize(bytes).map(|answer| answer.payload) {
        Ok(NetlinkPayload::Error(error)) if error.code.is_none() => Ok(()),
        Ok(NetlinkPayload::Error(error)) => Err(error.to_io()),
        _ => Err(io::Error::new(ErrorKind::InvalidData, "the kernel's answer cannot be read")),
    }
}

#[cfg(test)]
mod tests {
    use netlink_packet_core::Emitable;

    use super::*;

    #[test]
    fn a_route_message_has_the_layout_of_netlink() {
        let metrics = Metrics { initial_window: 3, quick_ack: 1, ..Metrics::default() };
        let message = route(7, (Ipv4Addr::new(10, 0, 0, 2), 32), &metrics);
        let mut bytes = vec![0; message.buffer_len()];
        message.emit(&mut bytes);
        // family, bits, table, protocol, scope and kind; then attributes: length, kind, value
        assert_eq!(bytes[..8], [2, 32, 0, 0, 254, 4, 253, 1]);
        assert_eq!(bytes[12..20], [8, 0, 1, 0, 10, 0, 0, 2]);
        assert_eq!(bytes[20..28], [8, 0, 4, 0, 7, 0, 0, 0]);
        assert_eq!(bytes[28..], [20, 0, 8, 0, 8, 0, 11, 0, 3, 0, 0, 0, 8, 0, 15, 0, 1, 0, 0, 0]);
    }

    #[test]
    fn a_netlink_answer_is_an_error_number() {
        const ANSWER: u16 = 2;
        const NEW_ROUTE: u16 = 24;
        let answer = |kind: u16, number: i32| {
            let mut bytes = vec![0u8; 36];
            bytes[..4].copy_from_slice(&36u32.to_ne_bytes());
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
