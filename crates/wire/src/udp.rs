//! UDP datagrams between any two addresses, in IPv4 [RFC791] or IPv6 [RFC8200] packets.

use std::net::{IpAddr, SocketAddr};

use contract::Ecn;
use etherparse::{Ipv6Header, UdpHeader};

use crate::ip::{UDP, codepoint, datagram};

/// Replaces the content of `out` by an IP packet with a UDP datagram [RFC768] and correct checksums: IPv4 if both
/// addresses are IPv4, otherwise IPv6. `hops` is the time to live. Payloads that are too long are truncated.
pub fn between(from: SocketAddr, to: SocketAddr, ecn: Ecn, hops: u8, payload: &[u8], out: &mut Vec<u8>) {
    if let (IpAddr::V4(source), IpAddr::V4(destination)) = (from.ip(), to.ip()) {
        return datagram((source, from.port()), (destination, to.port()), ecn, hops, payload, out);
    }
    let six = |address: SocketAddr| match address.ip() {
        IpAddr::V4(ip) => ip.to_ipv6_mapped().octets(),
        IpAddr::V6(ip) => ip.octets(),
    };
    let payload = &payload[..payload.len().min(usize::from(u16::MAX) - UdpHeader::LEN)];
    let ip = Ipv6Header {
        // the ECN field is the last two bits of the traffic class
        traffic_class: codepoint(ecn).value(),
        payload_length: (UdpHeader::LEN + payload.len()) as u16,
        next_header: UDP,
        hop_limit: hops,
        source: six(from),
        destination: six(to),
        ..Ipv6Header::default()
    };
    let udp =
        UdpHeader::with_ipv6_checksum(from.port(), to.port(), &ip, payload).expect("the payload was cut");
    out.clear();
    out.extend_from_slice(&ip.to_bytes());
    out.extend_from_slice(&udp.to_bytes());
    out.extend_from_slice(payload);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Ipv4;
    use crate::ip::checksum;

    fn place(text: &str) -> SocketAddr {
        text.parse().expect("an address")
    }

    #[test]
    fn of_ipv4_it_is_a_packet_of_ipv4() {
        let mut bytes = vec![9; 4];
        between(place("192.0.2.1:7"), place("192.0.2.2:9"), Ecn::Marked, 3, b"word", &mut bytes);
        let read = Ipv4::read(&bytes).expect("it is IPv4");
        assert_eq!((read.ports, read.ecn, read.payload), (Some((7, 9)), Ecn::Marked, 4));
        assert_eq!((bytes[8], &bytes[28..]), (3, &b"word"[..]));
    }

    #[test]
    fn of_ipv6_its_header_and_sum_are_right() {
        for payload in [&b"words"[..], b"", b"four"] {
            let mut bytes = Vec::new();
            between(
                place("[2001:db8::1]:7"),
                place("[2001:db8::2]:9"),
                Ecn::Capable,
                64,
                payload,
                &mut bytes,
            );
            assert_eq!(bytes.len(), 48 + payload.len());
            // version 6, ECT(0) in the traffic class
            assert_eq!(bytes[..4], [0x60, 0x20, 0, 0]);
            assert_eq!(bytes[4..8], [0, 8 + payload.len() as u8, 17, 64]);
            assert_eq!(bytes[8..12], [0x20, 0x01, 0x0d, 0xb8]);
            assert_eq!((bytes[23], bytes[39]), (1, 2));
            assert_eq!(bytes[40..46], [0, 7, 0, 9, 0, 8 + payload.len() as u8]);
            assert_eq!(&bytes[48..], payload);
            // the checksum over addresses, protocol, length and datagram, the checksum included, is zero
            let last = [0, UDP.0, 0, 8 + payload.len() as u8];
            assert_eq!(checksum(&[&bytes[8..40], &last, &bytes[40..]]), 0);
        }
    }

    #[test]
    fn what_a_packet_cannot_hold_is_cut_off() {
        let mut bytes = Vec::new();
        between(place("[::1]:7"), place("127.0.0.1:9"), Ecn::NotCapable, 64, &vec![1; 70_000], &mut bytes);
        assert_eq!(bytes.len(), 40 + 65_535);
        assert_eq!(bytes[34..40], [0xff, 0xff, 127, 0, 0, 1], "an address of IPv4 among addresses of IPv6");
    }
}
