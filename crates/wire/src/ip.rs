//! The addressing plan, and reading and writing of IPv4 for emulations [RFC791].

use std::net::Ipv4Addr;

use contract::{Ecn, FlowId, GroupId, NodeId};
use etherparse::checksum::Sum16BitWords;
use etherparse::{IpEcn, IpNumber, Ipv4Header, Ipv4HeaderSlice, UdpHeader};

/// Port of flow 0.
const FIRST_PORT: u16 = 10_000;
/// Number of flows with distinct ports; further flows start over.
const PORTS: u32 = 50_000;
/// The network of all nodes: 10.0.0.0/8.
const NET: u8 = 10;
/// The network of all groups, for private use [RFC2365 §6]: 239.0.0.0/8.
const GROUPS: u8 = 239;
/// Length of an IPv4 header without options.
const MIN: usize = Ipv4Header::MIN_LEN;

/// Protocol number of IGMP [RFC3376].
pub const IGMP: u8 = 2;
pub(crate) const TCP: IpNumber = IpNumber::TCP;
pub(crate) const UDP: IpNumber = IpNumber::UDP;

/// The address of a node, in emulations and in captures: node 0 is 10.0.0.1. Nodes from 2²⁴ − 2 on share addresses.
pub fn address_of(node: NodeId) -> Ipv4Addr {
    let number = (node.0 % ((1 << 24) - 2)) + 1;
    let [_, a, b, c] = number.to_be_bytes();
    Ipv4Addr::new(NET, a, b, c)
}

/// The node with this address, if there can be one.
pub fn node_of(address: Ipv4Addr) -> Option<NodeId> {
    let [net, a, b, c] = address.octets();
    let number = u32::from_be_bytes([0, a, b, c]);
    (net == NET).then_some(NodeId(number.checked_sub(1)?))
}

/// The address of a group, in emulations and in captures: group 0 is 239.0.0.0. Groups from 2²⁴ on share addresses.
pub fn address_of_group(group: GroupId) -> Ipv4Addr {
    let [_, a, b, c] = group.0.to_be_bytes();
    Ipv4Addr::new(GROUPS, a, b, c)
}

/// The group below 2²⁴ with this address.
pub fn group_of(address: Ipv4Addr) -> Option<GroupId> {
    let [net, a, b, c] = address.octets();
    (net == GROUPS).then_some(GroupId(u32::from_be_bytes([0, a, b, c])))
}

/// The port number of a flow, at both its ends: 10000 and the flow's number. Flows from 50 000 on share numbers.
pub fn port_of(flow: FlowId) -> u16 {
    FIRST_PORT + (flow.0 % PORTS) as u16
}

/// The flow below 50 000 with this port number.
pub fn flow_of(port: u16) -> Option<FlowId> {
    Some(FlowId(u32::from(port.checked_sub(FIRST_PORT)?))).filter(|flow| flow.0 < PORTS)
}

/// The fields of an IPv4 packet that are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ipv4 {
    /// Source address.
    pub source: Ipv4Addr,
    /// Destination address.
    pub destination: Ipv4Addr,
    /// Protocol: 6 for TCP, 17 for UDP.
    pub protocol: u8,
    /// Source and destination port of TCP and UDP; `None` for other protocols and for later fragments.
    pub ports: Option<(u16, u16)>,
    /// ECN field.
    pub ecn: Ecn,
    /// Bytes after the headers of IPv4 and of TCP or UDP; after IPv4 for other protocols.
    pub payload: usize,
}

impl Ipv4 {
    /// Reads a packet. `None` for packets other than IPv4, and for packets that are shorter than their length field.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let header = Ipv4HeaderSlice::from_slice(bytes).ok()?;
        let (length, protocol) = (header.slice().len(), header.protocol());
        let behind = bytes.get(length..usize::from(header.total_len()))?;
        let first = header.fragments_offset().value() == 0;
        // ports are read even if the rest of the header is missing
        let begin = Some(behind).filter(|_| first && matches!(protocol, TCP | UDP));
        let segment_header = match (begin, protocol) {
            (Some(begin), TCP) => begin.get(12).map_or(0, |offset| usize::from(offset >> 4) * 4),
            (Some(_), UDP) => UdpHeader::LEN,
            _ => 0,
        };
        let ports = begin
            .and_then(|begin| begin.first_chunk())
            .map(|&[a, b, c, d]| (u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d])));
        let ecn = match header.ecn() {
            IpEcn::NotEct => Ecn::NotCapable,
            IpEcn::Ect0 => Ecn::Capable,
            IpEcn::Ect1 => Ecn::CapableL4s,
            IpEcn::CongestionExperienced => Ecn::Marked,
        };
        Some(Self {
            source: header.source_addr(),
            destination: header.destination_addr(),
            protocol: protocol.0,
            ports,
            ecn,
            payload: behind.len().saturating_sub(segment_header),
        })
    }
}

/// Length of IPv4 and UDP headers without options.
pub const UDP_HEADERS: usize = MIN + UdpHeader::LEN;

/// Replaces the content of `out` by an IPv4 packet [RFC791] with a UDP datagram [RFC768]. `from` and `to` are address
/// and port. Payloads that are too long for IPv4 are truncated.
pub fn datagram(
    from: (Ipv4Addr, u16),
    to: (Ipv4Addr, u16),
    ecn: Ecn,
    ttl: u8,
    payload: &[u8],
    out: &mut Vec<u8>,
) {
    let payload = &payload[..payload.len().min(usize::from(u16::MAX) - UDP_HEADERS)];
    let total = (UDP_HEADERS + payload.len()) as u16;
    let ip = header((from.0, to.0), UDP, ecn, ttl, total);
    let udp = UdpHeader::with_ipv4_checksum(from.1, to.1, &ip, payload).expect("the payload was cut");
    out.clear();
    out.extend_from_slice(&ip.to_bytes());
    out.extend_from_slice(&udp.to_bytes());
    out.extend_from_slice(payload);
}

/// An IPv4 header without options for a packet of `total` bytes, with don't-fragment flag and checksum.
pub(crate) fn header(
    (source, destination): (Ipv4Addr, Ipv4Addr),
    protocol: IpNumber,
    ecn: Ecn,
    ttl: u8,
    total: u16,
) -> Ipv4Header {
    let mut header = Ipv4Header {
        ecn: codepoint(ecn),
        total_len: total,
        dont_fragment: true,
        time_to_live: ttl,
        protocol,
        source: source.octets(),
        destination: destination.octets(),
        ..Ipv4Header::default()
    };
    header.header_checksum = header.calc_header_checksum();
    header
}

/// The ECN field [RFC3168 §5].
pub(crate) const fn codepoint(ecn: Ecn) -> IpEcn {
    match ecn {
        Ecn::NotCapable => IpEcn::NotEct,
        Ecn::Capable => IpEcn::Ect0,
        Ecn::CapableL4s => IpEcn::Ect1,
        Ecn::Marked => IpEcn::CongestionExperienced,
    }
}

/// Sets CE [RFC3168 §5] in an IPv4 packet and updates its checksum. Other bytes are not changed.
pub fn mark(bytes: &mut [u8]) {
    let length = bytes.first().map_or(0, |first| usize::from(first & 15) * 4);
    if length < MIN || bytes.len() < length || bytes[0] >> 4 != 4 {
        return;
    }
    bytes[1] |= 3;
    bytes[10..12].fill(0);
    let sum = checksum(&[&bytes[..length]]);
    bytes[10..12].copy_from_slice(&sum.to_be_bytes());
}

/// The Internet checksum [RFC1071] of consecutive pieces; each piece except the last must have even length.
pub fn checksum(pieces: &[&[u8]]) -> u16 {
    let sum = pieces.iter().fold(Sum16BitWords::new(), |sum, piece| sum.add_slice(piece));
    sum.ones_complement().to_be()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A TCP segment from 10.0.0.1 to 10.0.0.2, made by hand; ports 10007 and 80, ECT(0).
    const PACKET: [u8; 24] =
        [0x45, 0x02, 0, 24, 0, 0, 0x40, 0, 64, 6, 0x26, 0xdc, 10, 0, 0, 1, 10, 0, 0, 2, 0x27, 0x17, 0, 80];

    #[test]
    fn a_packet_says_who_sent_it_and_to_whom() {
        let read = Ipv4::read(&PACKET).expect("it is IPv4");
        assert_eq!((node_of(read.source), node_of(read.destination)), (Some(NodeId(0)), Some(NodeId(1))));
        assert_eq!(read.ports, Some((10_007, 80)));
        assert_eq!((read.protocol, read.ecn), (6, Ecn::Capable));
        assert_eq!(flow_of(10_007), Some(FlowId(7)));
        assert_eq!(flow_of(80), None);
    }

    #[test]
    fn the_checksum_of_a_right_header_is_zero_also_after_it_was_marked() {
        assert_eq!(checksum(&[&PACKET[..20]]), 0);
        let mut packet = PACKET;
        mark(&mut packet);
        assert_eq!(packet[1] & 3, 3);
        assert_eq!(checksum(&[&packet[..20]]), 0);
        assert_eq!(Ipv4::read(&packet).map(|read| read.ecn), Some(Ecn::Marked));
    }

    #[test]
    fn a_datagram_that_is_written_is_read_again_and_its_sums_are_right() {
        let mut bytes = vec![7; 3];
        let (from, to) = (address_of(NodeId(4)), address_of_group(GroupId(9)));
        datagram((from, 10_009), (to, 10_009), Ecn::Capable, 64, &[1, 2, 3, 4, 5], &mut bytes);
        let read = Ipv4::read(&bytes).expect("it is IPv4");
        assert_eq!((read.source, read.destination, read.protocol), (from, to, UDP.0));
        assert_eq!((read.ports, read.ecn, read.payload), (Some((10_009, 10_009)), Ecn::Capable, 5));
        assert_eq!(&bytes[UDP_HEADERS..], [1, 2, 3, 4, 5]);
        assert_eq!(checksum(&[&bytes[..20]]), 0);
        let mut pseudo = bytes[12..20].to_vec();
        pseudo.extend_from_slice(&[0, UDP.0, 0, 13]);
        assert_eq!(checksum(&[&pseudo, &bytes[20..]]), 0);
        datagram((from, 1), (to, 2), Ecn::NotCapable, 64, &vec![0; 70_000], &mut bytes);
        assert_eq!(bytes.len(), 65_535);
    }

    #[test]
    fn payload_is_what_is_behind_all_headers() {
        let payload = |protocol: IpNumber, offset: u8, length: usize| {
            let mut packet = vec![0; length];
            packet[..20].copy_from_slice(&PACKET[..20]);
            packet[2..4].copy_from_slice(&(length as u16).to_be_bytes());
            packet[9] = protocol.0;
            packet[32] = offset << 4;
            Ipv4::read(&packet).expect("it is IPv4").payload
        };
        assert_eq!((payload(TCP, 5, 1500), payload(TCP, 8, 1500)), (1460, 1448));
        assert_eq!((payload(UDP, 5, 128), payload(IpNumber::ICMP, 5, 84)), (100, 64));
        assert_eq!(payload(TCP, 15, 40), 0, "a header that says it is longer than the packet");
    }

    #[test]
    fn nodes_and_flows_have_numbers_of_their_own() {
        for node in [0, 1, 254, 255, 256, 65_535, 1_000_000] {
            assert_eq!(node_of(address_of(NodeId(node))), Some(NodeId(node)));
        }
        assert_eq!(node_of(Ipv4Addr::new(192, 168, 0, 1)), None);
        assert_eq!(node_of(Ipv4Addr::new(10, 0, 0, 0)), None);
        assert_eq!(flow_of(port_of(FlowId(49_999))), Some(FlowId(49_999)));
        for group in [0, 1, 256, 1_000_000] {
            assert_eq!(group_of(address_of_group(GroupId(group))), Some(GroupId(group)));
        }
        assert_eq!(group_of(Ipv4Addr::new(224, 0, 0, 22)), None);
    }

    proptest! {
        #[test]
        fn whatever_the_bytes_reading_and_marking_end(mut bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            let _ = Ipv4::read(&bytes);
            mark(&mut bytes);
        }
    }
}
