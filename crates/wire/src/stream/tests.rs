use contract::{Address, Eid, EndpointId, Fragment, GroupId, NodeId, ParamValue, SackBlocks, TcpFlags};
use proptest::prelude::*;

use super::*;
use crate::testing::{at, hex};

fn written(datagram: &Datagram<'_>) -> Vec<u8> {
    let mut bytes = Vec::new();
    datagram.write(&mut bytes);
    bytes
}

/// The example of the reference page, byte by byte.
#[test]
fn a_packet_of_a_stream_is_what_the_reference_says() {
    let header = StreamHeader { seq: 7, bytes_before: 9996, fragment: Fragment::default() };
    let (label, content) = (Label([1, 2, 3, 4]), b"hello".as_slice());
    let frame = Frame::Data(Data { sent_at: at(0x0102_0304), header, label, content, padding: 3 });
    let datagram = Datagram { session: 0xA1B2_C3D4, number: 9, frame };
    let expected = hex("54 02 10 00  a1b2c3d4  0000000000000009
         0000000001020304  0000000000000007  000000000000270c
         0000000000000001 0000000000000002 0000000000000003 0000000000000004
         0005 68656c6c6f 000000");
    assert_eq!(written(&datagram), expected);
    assert_eq!(expected.len() + TAG, DATA + 5 + 3);
    assert_eq!(Datagram::read(&expected), Ok(datagram));
}

#[test]
fn an_acknowledgement_is_what_the_reference_says() {
    let header = TcpHeader {
        seq: 0,
        ack: 2804,
        echo: at(5),
        sack: SackBlocks([(1402, 2804), (0, 0), (0, 0)]),
        window_bytes: 65_536,
        flags: TcpFlags { ace: TcpFlags::ECE, ..TcpFlags::default() },
    };
    let frame = Frame::Segment(Segment { sent_at: at(6), header, content: &[] });
    let datagram = Datagram { session: 1, number: 2, frame };
    let expected = hex("54 02 13 34  00000001  0000000000000002
         0000000000000006 0000000000000000
         0000000000000af4 0000000000000005 00010000  0000057a 00000af4");
    assert_eq!(written(&datagram), expected);
    assert_eq!(expected.len() + TAG, SEGMENT + ACKNOWLEDGES + BLOCK);
    assert_eq!(Datagram::read(&expected), Ok(datagram));
}

#[test]
fn packets_of_machines_go_over_the_wire_and_come_back() {
    let envelope = Envelope {
        flow: FlowId(3),
        source: Address { node: NodeId(1), endpoint: EndpointId(4) },
        to: Address { node: NodeId(2), endpoint: EndpointId(9) }.into(),
        ecn: Ecn::Capable,
        outer_bytes: 28,
    };
    let header =
        StreamHeader { seq: 7, bytes_before: 9996, fragment: Fragment { frame: 2, frame_bytes: 9000 } };
    let data = Packet {
        flow: envelope.flow,
        size_bytes: 28 + (DATA + FRAGMENT) as u32 + 100,
        source: envelope.source,
        to: envelope.to,
        sent_at: at(77),
        label: Label([9, 8, 7, 6]),
        header: Header::Stream(header),
        ecn: Ecn::Capable,
        hops: 0,
        waited: Default::default(),
    };
    let ack = Packet {
        size_bytes: 28 + SEGMENT as u32 + 50,
        label: Label::default(),
        header: Header::Tcp(TcpHeader { seq: 1, ack: 2, window_bytes: 3, ..TcpHeader::default() }),
        ..data
    };
    let feedback = Packet { size_bytes: 28 + FEEDBACK as u32, header: Header::Feedback, ..data };
    for (packet, content) in [(data, vec![5; 90]), (ack, vec![5; 50]), (feedback, Vec::new())] {
        let padding = if matches!(packet.header, Header::Stream(_)) { 10 } else { 0 };
        let frame = Frame::of(&packet, &content, padding).expect("it travels");
        let bytes = written(&Datagram { session: 1, number: 2, frame });
        let read = Datagram::read(&bytes).expect("it was written");
        let again = read.frame.packet(bytes.len() + TAG, &envelope);
        assert_eq!(format!("{again:?}"), format!("{packet:?}"));
    }
    assert!(Frame::of(&Packet { header: Header::Datagram { seq: 1 }, ..data }, &[], 0).is_none());
}

#[test]
fn words_of_hosts_and_routers_travel_and_those_of_routers_among_themselves_do_not() {
    let envelope = Envelope {
        flow: FlowId(3),
        source: Address { node: NodeId(1), endpoint: EndpointId(4) },
        to: Address { node: NodeId(2), endpoint: EndpointId(9) }.into(),
        ecn: Ecn::NotCapable,
        outer_bytes: 28,
    };
    let join = Signal::Join { group: GroupId(3), gumgid: Eid(0x0102_0304_0506_0708) };
    let packet = Packet {
        flow: envelope.flow,
        size_bytes: 28 + SIGNAL as u32 + 5,
        source: envelope.source,
        to: envelope.to,
        sent_at: at(77),
        label: Label::default(),
        header: Header::Signal(join),
        ecn: Ecn::NotCapable,
        hops: 0,
        waited: Default::default(),
    };
    let frame = Frame::of(&packet, &[], 5).expect("it travels");
    let bytes = written(&Datagram { session: 1, number: 2, frame });
    let expected = hex("54 02 14 00  00000001  0000000000000002
         000000000000004d 02 00000003 0102030405060708 0000000000");
    assert_eq!(bytes, expected);
    let read = Datagram::read(&bytes).expect("it was written");
    let again = read.frame.packet(bytes.len() + TAG, &envelope);
    assert_eq!(format!("{again:?}"), format!("{packet:?}"));
    let among = Header::Signal(Signal::Withdraw { gumgid: Eid(1) });
    assert_eq!(Frame::of(&Packet { header: among, ..packet }, &[], 0), None);
}

#[test]
fn other_formats_versions_kinds_flags_and_lengths_are_refused() {
    let frame = Frame::Feedback { sent_at: at(3), label: Label::default() };
    let mut bytes = written(&Datagram { session: 1, number: 2, frame });
    for (place, value, why) in [
        (0, b'Q', Malformed::Foreign),
        (1, 1, Malformed::Version),
        (2, 99, Malformed::Kind),
        (3, 1, Malformed::Flags),
    ] {
        let was = std::mem::replace(&mut bytes[place], value);
        assert_eq!(Datagram::read(&bytes), Err(why));
        bytes[place] = was;
    }
    bytes.push(0);
    assert_eq!(Datagram::read(&bytes), Err(Malformed::Length));
    assert_eq!(Datagram::read(&bytes[..10]), Err(Malformed::Length));
    assert_eq!(Datagram::split(&bytes[..31]), None, "there is no room for a tag");
}

#[test]
fn numbers_that_could_wrap_are_refused() {
    let header = TcpHeader { seq: u64::MAX - 1, window_bytes: u32::MAX, ..TcpHeader::default() };
    let frame = Frame::Segment(Segment { sent_at: at(0), header, content: &[0; 10] });
    let bytes = written(&Datagram { session: 1, number: 2, frame });
    assert_eq!(Datagram::read(&bytes), Err(Malformed::Value));
    let frame = Frame::Feedback { sent_at: Time::NEVER, label: Label::default() };
    let bytes = written(&Datagram { session: 1, number: 2, frame });
    assert_eq!(Datagram::read(&bytes), Err(Malformed::Value));
}

const MAX: u64 = 1 << 62;

fn time() -> impl Strategy<Value = Time> {
    (0..MAX).prop_map(at)
}

fn value() -> impl Strategy<Value = ParamValue> {
    prop_oneof![
        (-1e300..1e300f64).prop_map(ParamValue::Float),
        any::<i64>().prop_map(ParamValue::Int),
        any::<bool>().prop_map(ParamValue::Bool),
        "[^\\p{C}\\p{Zl}\\p{Zp}]{0,30}".prop_map(ParamValue::Text),
    ]
}

fn offer() -> impl Strategy<Value = Offer> {
    let params = proptest::collection::vec(("[a-z_]{1,20}", value()), 0..5);
    let about = proptest::collection::vec(any::<u8>(), 0..ABOUT);
    ("[a-z_]{1,20}", params, any::<bool>(), any::<u16>(), any::<bool>(), any::<Option<u64>>(), about)
        .prop_map(|(scheme, params, windowed, packet, ecn, size, about)| Offer {
            scheme,
            params,
            transport: if windowed { Transport::Windowed } else { Transport::Paced },
            packet,
            ecn,
            size,
            about,
        })
}

fn header() -> impl Strategy<Value = TcpHeader> {
    let block = (0u32..1 << 30, 1u32..1000).prop_map(|(from, bytes)| (from, from + bytes));
    let sack = proptest::collection::vec(block, 0..4).prop_map(|blocks| {
        let mut sack = SackBlocks::default();
        sack.0.iter_mut().zip(blocks).for_each(|(place, block)| *place = block);
        sack
    });
    (0..MAX, 0..MAX, time(), sack, any::<u32>(), any::<[bool; 2]>(), 0u8..8).prop_map(
        |(seq, ack, echo, sack, window_bytes, [syn, fin], ace)| {
            let flags = TcpFlags { syn, fin, ace, psh: false };
            TcpHeader { seq, ack, echo, sack, window_bytes, flags }
        },
    )
}

fn signal() -> impl Strategy<Value = Signal> {
    (0..7, any::<u32>(), any::<u64>(), any::<u8>()).prop_map(|(code, group, name, count)| {
        let (group, gumgid) = (GroupId(group), Eid(name));
        match code {
            0 => Signal::Publish { group, gumgid },
            1 => Signal::Unpublish { group },
            2 => Signal::Join { group, gumgid },
            3 => Signal::Leave { group },
            4 => Signal::Accepted { group },
            5 => Signal::Probe { group, packets: count },
            _ => Signal::Probed { group, index: count },
        }
    })
}

/// A datagram of any kind with content.
fn any_datagram() -> impl Strategy<Value = (u32, u64, Frame<'static>)> {
    let fragment =
        (any::<u32>(), 1..u32::MAX).prop_map(|(frame, frame_bytes)| Fragment { frame, frame_bytes });
    let content = proptest::collection::vec(any::<u8>(), 0..1500).prop_map(|bytes| &*bytes.leak());
    let label = any::<[u64; 4]>().prop_map(Label);
    let frame = prop_oneof![
        (time(), 0..MAX, 0..MAX, proptest::option::of(fragment), label.clone(), content.clone(), 0..200usize)
            .prop_map(|(sent_at, seq, bytes_before, fragment, label, content, padding)| {
                let header = StreamHeader { seq, bytes_before, fragment: fragment.unwrap_or_default() };
                Frame::Data(Data { sent_at, header, label, content, padding })
            }),
        (time(), label).prop_map(|(sent_at, label)| Frame::Feedback { sent_at, label }),
        (time(), any::<bool>()).prop_map(|(sent_at, full)| Frame::Player { sent_at, full }),
        (time(), header(), content).prop_map(|(sent_at, header, content)| Frame::Segment(Segment {
            sent_at,
            header,
            content
        })),
        (time(), signal(), 0..200usize).prop_map(|(sent_at, signal, padding)| Frame::Signal {
            sent_at,
            signal,
            padding
        }),
    ];
    (any::<u32>(), any::<u64>(), frame)
}

proptest! {
    #[test]
    fn an_offer_is_read_as_it_was_written(offer in offer(), more in any::<u8>()) {
        let mut bytes = Vec::new();
        offer.encode(&mut bytes);
        prop_assert_eq!(Offer::decode(&bytes), Ok(offer));
        bytes.push(more);
        prop_assert_eq!(Offer::decode(&bytes), Err(Malformed::Length));
    }

    #[test]
    fn random_bytes_are_an_offer_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        if let Ok(offer) = Offer::decode(&bytes) {
            let (mut once, mut twice) = (Vec::new(), Vec::new());
            offer.encode(&mut once);
            Offer::decode(&once).expect("what was written is read").encode(&mut twice);
            prop_assert_eq!(once, twice);
        }
    }

    #[test]
    fn what_is_written_is_read_again((session, number, frame) in any_datagram()) {
        let datagram = Datagram { session, number, frame };
        let bytes = written(&datagram);
        prop_assert_eq!(Datagram::read(&bytes), Ok(datagram));
    }

    #[test]
    fn whatever_is_read_can_be_written_and_read_again((session, number, frame) in any_datagram(), changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8), cut in any::<prop::sample::Index>()) {
        let mut bytes = written(&Datagram { session, number, frame });
        for (place, value) in changes {
            let place = place.index(bytes.len());
            bytes[place] = value;
        }
        for bytes in [&bytes[..], &bytes[..cut.index(bytes.len())]] {
            if let Ok(read) = Datagram::read(bytes) {
                let again = written(&read);
                // NaN is not equal to itself, and padding may have any content: the written bytes are compared
                let twice = Datagram::read(&again).expect("what was written is read");
                prop_assert_eq!(written(&twice), again);
            }
        }
    }

    #[test]
    fn random_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..300), kind in 0..28u8) {
        let _ = (Datagram::read(&bytes), Datagram::split(&bytes));
        let mut ours = vec![MAGIC, VERSION, kind, 0];
        ours.extend_from_slice(&bytes);
        if let Ok(read) = Datagram::read(&ours) {
            let again = written(&read);
            prop_assert!(Datagram::read(&again).is_ok());
        }
    }
}
