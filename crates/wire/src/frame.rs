//! Generated headers for simulated packets: IPv4 with TCP or UDP, so that other programs can read a capture.
//!
//! | simulated | in the capture |
//! | --- | --- |
//! | TCP | TCP between ports 10000 + flow; sequence numbers from 1; selective acknowledgements as an option |
//! | stream | UDP between the same ports; payload in words of 8 bytes: packet number, bytes sent before, label |
//! | feedback | UDP between the same ports; payload: the scheme's label |
//! | datagram | UDP between the same ports; payload: number of the datagram |
//! | a player's message | UDP between the same ports, without payload |
//! | named data | UDP to port 6363; whole packets with zeros as content; marks, refusals and labels in a link packet |
//! | signals, control messages | UDP to port 6653, without payload |
//!
//! Payloads that are not listed are zero and cut off. The length on the wire is the simulated one, or the length of the
//! headers if the simulated packet is shorter.

use std::net::Ipv4Addr;

use contract::{Destination, Header, Names, Packet, TcpHeader};
use etherparse::TcpOptionElement::{Noop, SelectiveAcknowledgement, Timestamp};
use etherparse::{Ipv4Header, UdpHeader};

use crate::ip::{self, TCP, UDP, address_of, address_of_group, checksum, port_of};
use crate::named;

/// Port of SDN controllers.
const CONTROL_PORT: u16 = 6653;
/// Port of NDN over UDP.
const NDN_PORT: u16 = 6363;
const IP_BYTES: usize = Ipv4Header::MIN_LEN;

/// Writes the headers of `packet` and its known payload into `out`. Returns its length on the wire.
///
/// `header_bytes` is the part of a TCP packet's size that is header: 40 without options, 52 or more with timestamps.
/// Selective acknowledgements are added and make the packet longer. `names` are the names of named data.
pub fn frame(packet: &Packet, header_bytes: u32, names: &Names, out: &mut Vec<u8>) -> u32 {
    let (source, destination) = (address_of(packet.source.node), destination_of(packet.to));
    let (protocol, segment) = match &packet.header {
        Header::Tcp(header) => (TCP, tcp(packet, header, header_bytes as usize)),
        Header::Stream(header) | Header::StreamControl(header) => {
            let words = [header.seq, header.bytes_before].into_iter().chain(packet.label.0);
            (UDP, udp(packet, port_of(packet.flow), words))
        }
        Header::Feedback => (UDP, udp(packet, port_of(packet.flow), packet.label.0.into_iter())),
        Header::Player { .. } | Header::Request { .. } => {
            (UDP, udp(packet, port_of(packet.flow), std::iter::empty()))
        }
        Header::Control(_) => (UDP, udp(packet, CONTROL_PORT, std::iter::empty())),
        Header::Datagram { seq } => (UDP, udp(packet, port_of(packet.flow), [*seq].into_iter())),
        Header::Interest(_) | Header::Data(_) | Header::Nack(_) => (UDP, ndn(packet, names)),
        Header::Signal(_) | Header::External(_) => (UDP, udp(packet, CONTROL_PORT, std::iter::empty())),
    };
    let Segment { mut bytes, length, sum_at } = segment;
    let total = IP_BYTES + length;

    let mut pseudo = [0u8; 12];
    pseudo[..4].copy_from_slice(&source.octets());
    pseudo[4..8].copy_from_slice(&destination.octets());
    pseudo[9] = protocol.0;
    pseudo[10..].copy_from_slice(&(length as u16).to_be_bytes());
    // the part that is cut off is zero and does not change the checksum
    let sum = match checksum(&[&pseudo, &bytes]) {
        0 if protocol == UDP => u16::MAX,
        sum => sum,
    };
    bytes[sum_at..sum_at + 2].copy_from_slice(&sum.to_be_bytes());

    let ttl = 64u8.saturating_sub(packet.hops);
    out.clear();
    out.extend_from_slice(
        &ip::header((source, destination), protocol, packet.ecn, ttl, total as u16).to_bytes(),
    );
    out.extend_from_slice(&bytes);
    total as u32
}

fn destination_of(to: Destination) -> Ipv4Addr {
    match (to.as_group(), to.node()) {
        (Some(group), _) => address_of_group(group),
        (None, Some(node)) => address_of(node),
        (None, None) => Ipv4Addr::UNSPECIFIED,
    }
}

/// A TCP or UDP header with the known payload.
struct Segment {
    bytes: Vec<u8>,
    /// Length including the payload that is cut off.
    length: usize,
    /// Offset of the checksum.
    sum_at: usize,
}

/// Maximum length of an IPv4 packet without its header.
const MAX: usize = u16::MAX as usize - IP_BYTES;

fn udp(packet: &Packet, port: u16, payload: impl Iterator<Item = u64>) -> Segment {
    let length = (packet.size_bytes as usize).saturating_sub(IP_BYTES).clamp(8, MAX);
    let mut bytes = Vec::with_capacity(64);
    bytes.extend_from_slice(&udp_header(packet, port, length));
    payload.for_each(|word| bytes.extend_from_slice(&word.to_be_bytes()));
    // an odd last byte counts as followed by a zero, which is right whether it is cut off or the end
    bytes.truncate(length);
    Segment { bytes, length, sum_at: 6 }
}

/// A UDP header to `port` with checksum zero.
fn udp_header(packet: &Packet, port: u16, length: usize) -> [u8; UdpHeader::LEN] {
    let (source_port, length) = (port_of(packet.flow), length as u16);
    UdpHeader { source_port, destination_port: port, length, checksum: 0 }.to_bytes()
}

/// UDP with a complete NDN packet.
fn ndn(packet: &Packet, names: &Names) -> Segment {
    let room = (packet.size_bytes as usize).clamp(IP_BYTES + 8, MAX) - IP_BYTES - 8;
    let mut bytes = vec![0; 8];
    named::write(packet, names, room, &mut bytes);
    let length = bytes.len();
    bytes[..8].copy_from_slice(&udp_header(packet, NDN_PORT, length));
    Segment { bytes, length, sum_at: 6 }
}

fn tcp(packet: &Packet, header: &TcpHeader, header_bytes: usize) -> Segment {
    let flags = header.flags;
    // the first data byte has number 1, after a SYN with number 0
    let number = |at: u64| (at.wrapping_add(u64::from(!flags.syn))) as u32;
    let blocks = header.sack.len();
    // timestamps if the simulated header has room for them; other options are not written
    let max_options = 40 - if blocks == 0 { 0 } else { 4 + 8 * blocks };
    let plain = header_bytes.saturating_sub(IP_BYTES + 20).min(max_options) / 4 * 4;
    let stamped = plain >= 12;
    let options = plain + if blocks == 0 { 0 } else { 4 + 8 * blocks };
    let acked = header.ack.wrapping_add(1) as u32;
    let port = port_of(packet.flow);
    let window = header.window_bytes.min(u32::from(u16::MAX)) as u16;
    let mut segment = etherparse::TcpHeader::new(port, port, number(header.seq), window);
    segment.acknowledgment_number = acked;
    (segment.syn, segment.fin, segment.ack) = (flags.syn, flags.fin, !flags.syn || header.ack > 0);
    segment.psh = flags.psh;
    (segment.ece, segment.cwr) = (flags.ece(), flags.cwr());
    // the flag AE, which was the nonce sum                                              [RFC9768 §3.1]
    segment.ns = flags.ace & 0b100 != 0;
    let mut elements = Vec::with_capacity(40);
    if stamped {
        let millis = |at: units::Time| (at.as_nanos() / 1_000_000) as u32;
        elements.extend([Noop, Noop, Timestamp(millis(packet.sent_at), millis(header.echo))]);
    }
    elements.extend((if stamped { 12 } else { 0 }..plain).map(|_| Noop));
    let block = |index: usize| {
        let (from, to) = header.sack.0[index];
        if from > to {
            // below the acknowledgement number                                            [RFC2883 §4.1]
            return (acked.wrapping_sub(from), acked.wrapping_sub(to));
        }
        (acked.wrapping_add(from), acked.wrapping_add(to))
    };
    if blocks > 0 {
        let others = [1, 2, 3].map(|index| (index < blocks).then(|| block(index)));
        elements.extend([Noop, Noop, SelectiveAcknowledgement(block(0), others)]);
    }
    segment.set_options(&elements).expect("they were cut to 40 bytes");
    let bytes = segment.to_bytes().to_vec();
    let payload = (packet.size_bytes as usize).saturating_sub(header_bytes);
    let length = (20 + options + payload).min(MAX);
    Segment { bytes, length, sum_at: 16 }
}

#[cfg(test)]
mod tests {
    use contract::{Address, Ecn, EndpointId, FlowId, GroupId, Label, NodeId, SackBlocks, StreamHeader};
    use units::Time;

    use super::*;
    use crate::Ipv4;

    fn packet(header: Header, size_bytes: u32) -> Packet {
        Packet {
            flow: FlowId(3),
            size_bytes,
            source: Address { node: NodeId(0), endpoint: EndpointId(0) },
            to: Address { node: NodeId(1), endpoint: EndpointId(1) }.into(),
            sent_at: Time::ZERO,
            label: Label([7, 0, 0, u64::MAX]),
            header,
            ecn: Ecn::Capable,
            hops: 2,
            waited: Default::default(),
        }
    }

    /// The checksum over pseudo header and segment, with zeros for what is cut off.
    fn sum_of_segment(bytes: &[u8]) -> u16 {
        let total = usize::from(u16::from_be_bytes([bytes[2], bytes[3]]));
        let mut whole = bytes[20..].to_vec();
        whole.resize(total - 20, 0);
        let mut pseudo = bytes[12..20].to_vec();
        pseudo.extend_from_slice(&[0, bytes[9]]);
        pseudo.extend_from_slice(&((total - 20) as u16).to_be_bytes());
        checksum(&[&pseudo, &whole])
    }

    #[test]
    fn a_segment_of_tcp_has_its_numbers_and_right_sums() {
        let header = TcpHeader { seq: 1460, window_bytes: u32::MAX, ..TcpHeader::default() };
        let mut bytes = Vec::new();
        assert_eq!(frame(&packet(Header::Tcp(header), 1500), 40, &Names::new(), &mut bytes), 1500);
        let read = Ipv4::read(&{
            let mut whole = bytes.clone();
            whole.resize(1500, 0);
            whole
        });
        let read = read.expect("it is IPv4");
        assert_eq!((read.ports, read.ecn), (Some((10_003, 10_003)), Ecn::Capable));
        assert_eq!(checksum(&[&bytes[..20]]), 0);
        assert_eq!(sum_of_segment(&bytes), 0);
        assert_eq!(u32::from_be_bytes([bytes[24], bytes[25], bytes[26], bytes[27]]), 1461);
        assert_eq!(bytes[33], 0x10, "every segment but a SYN acknowledges");
        assert_eq!(bytes[8], 62, "two hops are behind it");
    }

    #[test]
    fn an_acknowledgement_with_blocks_grows_by_them() {
        let header =
            TcpHeader { ack: 1000, sack: SackBlocks([(500, 1000), (0, 0), (0, 0)]), ..TcpHeader::default() };
        let mut bytes = Vec::new();
        assert_eq!(frame(&packet(Header::Tcp(header), 40), 40, &Names::new(), &mut bytes), 52);
        assert_eq!(&bytes[40..44], [1, 1, 5, 10]);
        assert_eq!(u32::from_be_bytes([bytes[44], bytes[45], bytes[46], bytes[47]]), 1501);
        assert_eq!(bytes[32] >> 4, 8, "the header is eight words");
        assert_eq!(sum_of_segment(&bytes), 0);
    }

    #[test]
    fn a_header_with_room_for_them_has_timestamps() {
        let header = TcpHeader { seq: 1448, echo: Time::from_nanos(7_000_000), ..TcpHeader::default() };
        let mut bytes = Vec::new();
        assert_eq!(frame(&packet(Header::Tcp(header), 1500), 52, &Names::new(), &mut bytes), 1500);
        assert_eq!(bytes[32] >> 4, 8, "the header is eight words, so that 1448 bytes of payload are left");
        assert_eq!(&bytes[40..44], [1, 1, 8, 10]);
        assert_eq!(bytes[51], 7);
        assert_eq!(sum_of_segment(&bytes), 0);
        let sack = SackBlocks([(0, 1), (2, 3), (4, 5)]);
        let full = TcpHeader { sack, ..header };
        assert_eq!(
            frame(&packet(Header::Tcp(full), 52), 52, &Names::new(), &mut bytes),
            80,
            "all options that fit"
        );
        assert_eq!(sum_of_segment(&bytes), 0);
    }

    #[test]
    fn streams_are_datagrams_to_their_group() {
        let header = StreamHeader { seq: 5, bytes_before: 5000, ..StreamHeader::default() };
        let mut packet = packet(Header::Stream(header), 1000);
        packet.to = Destination::group(GroupId(3));
        let mut bytes = Vec::new();
        assert_eq!(frame(&packet, 40, &Names::new(), &mut bytes), 1000);
        assert_eq!(bytes[16..20], [239, 0, 0, 3]);
        assert_eq!(bytes.len(), 20 + 8 + 6 * 8);
        assert_eq!(bytes[35], 5);
        assert_eq!(sum_of_segment(&bytes), 0);
    }

    #[test]
    fn packets_without_room_for_their_headers_are_as_long_as_these() {
        let mut bytes = Vec::new();
        assert_eq!(frame(&packet(Header::Datagram { seq: 1 }, 1), 40, &Names::new(), &mut bytes), 28);
        assert_eq!(bytes.len(), 28);
        assert_eq!(sum_of_segment(&bytes), 0);
        assert_eq!(
            frame(&packet(Header::Datagram { seq: 1 }, 1_000_000), 40, &Names::new(), &mut bytes),
            65_535
        );
    }
}
