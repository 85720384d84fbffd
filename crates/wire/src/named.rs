//! Simulated packets of named data as packets of NDN.

use contract::{Ecn, Header, Names, Packet};

use crate::ndn::{Component, Interest, LONGEST, LinkHeader, LinkPacket, Name, Reason, Unsigned, kind};

/// Appends `packet` as an Interest or a Data packet, in a link packet if it has link fields. The content of Data is
/// zeros, as many as fill `room` bytes in all if possible.
pub(crate) fn write(packet: &Packet, names: &Names, room: usize, out: &mut Vec<u8>) {
    let mark = u64::from(packet.ecn == Ecn::Marked);
    let mut header = LinkHeader { mark, label: packet.label, ..LinkHeader::default() };
    let mut inner = Vec::new();
    match &packet.header {
        Header::Interest(asked) => {
            let name = name_of(asked.name, names);
            let lifetime_ms = Some(u64::from(asked.lifetime_ms));
            let nonce = Some(asked.nonce);
            Interest { name: name.view(), nonce, lifetime_ms, ..Interest::default() }.write(&mut inner);
        }
        Header::Nack(nack) => {
            let name = name_of(nack.name, names);
            header.nack = Some(Reason::from(nack.reason));
            Interest { name: name.view(), nonce: Some(nack.nonce), ..Interest::default() }.write(&mut inner);
        }
        Header::Data(data) => {
            let name = name_of(data.name, names);
            let mut content = room.min(LONGEST);
            loop {
                let data = Unsigned { name: name.view(), content: &ZEROS[..content], ..Unsigned::default() };
                inner.clear();
                data.sign(&mut inner);
                let over =
                    framed(header, &inner).saturating_sub(room).max(inner.len().saturating_sub(LONGEST));
                if over == 0 || content == 0 {
                    break;
                }
                content = content.saturating_sub(over);
            }
        }
        _ => {}
    }
    LinkPacket::whole(header, &inner).write(out);
}

/// Length of a packet with its link packet.
fn framed(header: LinkHeader, packet: &[u8]) -> usize {
    let mut out = Vec::new();
    LinkPacket::whole(header, packet).write(&mut out);
    out.len()
}

/// A simulated name as components, and the number of the segment.
fn name_of(name: contract::Name, names: &Names) -> Name {
    let mut whole = Name::new();
    if name.prefix.index() < names.count() {
        for component in names.text(name.prefix).split('/').filter(|component| !component.is_empty()) {
            whole.push(Component::generic(component.as_bytes()));
        }
    }
    whole.push_number(kind::SEGMENT, name.segment);
    whole
}

/// Content of all simulated packets.
static ZEROS: [u8; LONGEST] = [0; LONGEST];

#[cfg(test)]
mod tests {
    use contract::{Address, EndpointId, FlowId, Label, Nack, NackReason, NameId, NodeId};
    use units::Time;

    use super::*;
    use crate::ndn::Data;

    fn packet(header: Header, size_bytes: u32) -> Packet {
        let here = Address { node: NodeId(0), endpoint: EndpointId(0) };
        let (sent_at, label) = (Time::ZERO, Label::default());
        Packet {
            flow: FlowId(0),
            size_bytes,
            source: here,
            to: here.into(),
            sent_at,
            label,
            header,
            ecn: Ecn::Capable,
            hops: 0,
            waited: Default::default(),
        }
    }

    fn written(packet: &Packet, names: &Names) -> Vec<u8> {
        let mut out = Vec::new();
        write(packet, names, packet.size_bytes as usize, &mut out);
        out
    }

    #[test]
    fn simulated_packets_are_packets_of_ndn() {
        let mut names = Names::new();
        let name = contract::Name { prefix: names.intern("/isp/video"), segment: 300 };
        let asked = contract::Interest { name, nonce: 7, lifetime_ms: 2000 };
        let out = written(&packet(Header::Interest(asked), 50), &names);
        let interest = Interest::read(&out).expect("an Interest");
        assert_eq!(interest.name.to_string(), "/isp/video/seg=300");
        assert_eq!((interest.nonce, interest.lifetime_ms), (Some(7), Some(2000)));

        let nack = Nack { name, nonce: 7, reason: NackReason::Congestion };
        let out = written(&packet(Header::Nack(nack), 50), &names);
        let link = LinkPacket::read(&out).expect("a link packet");
        assert_eq!(link.header.nack.and_then(Reason::known), Some(NackReason::Congestion));

        let data = contract::Data { name, payload_bytes: 1000 };
        for size in [20, 90, 300, 1100, 1501, 9000] {
            let mut sent = packet(Header::Data(data), size);
            for ecn in [Ecn::Capable, Ecn::Marked] {
                sent.ecn = ecn;
                let out = written(&sent, &names);
                let link = LinkPacket::read(&out).expect("a link packet");
                assert_eq!(link.header.mark, u64::from(ecn == Ecn::Marked));
                let read = Data::read(link.fragment).expect("Data");
                assert_eq!(
                    (read.intact(), read.name.to_string().as_str()),
                    (Some(true), "/isp/video/seg=300")
                );
                let exact = (200..8000).contains(&size);
                assert!(
                    !exact || (size as usize - 3..=size as usize).contains(&out.len()),
                    "{size}: {}",
                    out.len()
                );
                assert_eq!(read.content.is_empty(), size < 90);
            }
        }
        // a name that nobody interned
        let unknown = contract::Name { prefix: NameId(99), segment: 0 };
        let out =
            written(&packet(Header::Data(contract::Data { name: unknown, payload_bytes: 0 }), 100), &names);
        assert_eq!(Data::read(&out).expect("Data").name.to_string(), "/seg=0");
    }
}
