//! Conversion between packets of live flows and datagrams.
//!
//! Endpoints in namespaces and gates in the network use the datagram format of [`wire::stream`]. In the network a
//! datagram is the packet that it describes, with header and label, so that routers see them. The content is zeros,
//! which are not stored. The tag is zero, because these namespaces have no other users.

use contract::{FlowId, Header, NodeId, Packet};
use wire::UDP_HEADERS;
use wire::stream::{Datagram, Envelope, Frame, TAG};

/// Bytes of the headers of IP and UDP.
pub(crate) const IP_UDP_HEADERS: u32 = UDP_HEADERS as u32;

/// Writes a packet into `out` as a datagram. The content is zeros up to the size of the packet, and empty if the size
/// has no room for the headers. For a TCP segment, `content` is its length if the packet's size is not. Feedback has no
/// content. Returns false for packets that have no datagram.
pub(crate) fn write(packet: &Packet, number: u64, content: Option<u32>, out: &mut Vec<u8>) -> bool {
    out.clear();
    let Some(frame) = Frame::of(packet, &[], 0) else { return false };
    Datagram { session: packet.flow.0, number, frame }.write(out);
    let whole = match (packet.header, content) {
        (Header::Feedback | Header::Player { .. }, _) => 0,
        (Header::Tcp(_), Some(content)) => out.len() + content as usize,
        _ => (packet.size_bytes.saturating_sub(IP_UDP_HEADERS) as usize).saturating_sub(TAG),
    };
    out.resize(whole.max(out.len()) + TAG, 0);
    true
}

/// Writes packets of state machines as IPv4 and UDP packets for a device.
#[derive(Debug, Default)]
pub(crate) struct Writer {
    datagram: Vec<u8>,
    ip_packet: Vec<u8>,
    /// Number of packets written.
    count: u64,
}

impl Writer {
    /// A packet of `flow` at `node` as IPv4; `None` for a packet that has no datagram.
    pub(crate) fn write(&mut self, packet: &Packet, flow: FlowId, node: NodeId) -> Option<&[u8]> {
        self.count += 1;
        if !write(packet, self.count, None, &mut self.datagram) {
            return None;
        }
        let port = wire::port_of(flow);
        let to = packet.to.as_group().map_or_else(|| wire::address_of(node), wire::address_of_group);
        let from = wire::address_of(packet.source.node);
        let ttl = 64u8.saturating_sub(packet.hops).max(1);
        wire::datagram((from, port), (to, port), packet.ecn, ttl, &self.datagram, &mut self.ip_packet);
        Some(&self.ip_packet)
    }
}

/// Reads a datagram: its packet, with the size on the wire, and the length of its content. `None` for other datagrams.
pub(crate) fn read(datagram: &[u8], envelope: &Envelope) -> Option<(Packet, u32)> {
    let (body, _) = Datagram::split(datagram)?;
    let frame = Datagram::read(body).ok()?.frame;
    let packet = frame.packet(datagram.len(), envelope);
    let content_length = match frame {
        Frame::Data(data) => data.content.len() + data.padding,
        Frame::Segment(segment) => segment.content.len(),
        _ => 0,
    };
    Some((Packet { size_bytes: IP_UDP_HEADERS + datagram.len() as u32, ..packet }, content_length as u32))
}

#[cfg(test)]
mod tests {
    use contract::{Address, Ecn, EndpointId, FlowId, Label, NodeId, StreamHeader, TcpHeader};
    use units::Time;

    use super::*;

    const FROM: Address = Address { node: NodeId(1), endpoint: EndpointId(4) };
    const TO: Address = Address { node: NodeId(2), endpoint: EndpointId(5) };

    fn packet(header: Header, size_bytes: u32) -> Packet {
        Packet {
            flow: FlowId(3),
            size_bytes,
            source: FROM,
            to: TO.into(),
            sent_at: Time::from_nanos(77),
            label: if matches!(header, Header::Tcp(_)) { Label::default() } else { Label([1, 2, 3, 4]) },
            header,
            ecn: Ecn::Capable,
            hops: 0,
            waited: Default::default(),
        }
    }

    #[test]
    fn a_packet_is_unchanged_by_its_datagram() {
        let header = StreamHeader { seq: 5, bytes_before: 5000, ..StreamHeader::default() };
        let ack = TcpHeader { ack: 9, window_bytes: 1000, ..TcpHeader::default() };
        let envelope = Envelope {
            flow: FlowId(3),
            source: FROM,
            to: TO.into(),
            ecn: Ecn::Capable,
            outer_bytes: IP_UDP_HEADERS,
        };
        for (sent, content, size, content_length) in [
            (packet(Header::Stream(header), 1000), None, 1000, 882),
            (packet(Header::Feedback, 100), None, 100, 0),
            // as long as their headers, regardless of the given size
            (packet(Header::Feedback, 40), None, 100, 0),
            (packet(Header::Feedback, 400), None, 100, 0),
            (packet(Header::Stream(header), 40), None, 118, 0),
            (
                packet(Header::Tcp(TcpHeader { window_bytes: u32::MAX, ..TcpHeader::default() }), 1500),
                Some(1424),
                1500,
                1424,
            ),
            (packet(Header::Tcp(ack), 76), Some(0), 96, 0),
            (packet(Header::Tcp(ack), 96), None, 96, 0),
        ] {
            let mut bytes = Vec::new();
            assert!(write(&sent, 7, content, &mut bytes));
            let (received, bytes) = read(&bytes, &envelope).expect("it was written");
            let expected = Packet { size_bytes: size, ..sent };
            assert_eq!((format!("{received:?}"), bytes), (format!("{expected:?}"), content_length));
        }
        assert!(!write(&packet(Header::Datagram { seq: 1 }, 100), 1, None, &mut Vec::new()));
        assert!(read(&[0; 100], &envelope).is_none());
    }
}
