use contract::{
    Address, Control, Eid, EndpointId, GroupId, Hop, Hops, NameId, NodeId, ParamValue, Piece, PortId,
    SackBlocks, Share, Status, TcpFlags, Traffic,
};
use proptest::prelude::*;
use units::{Duration, Rate};

use super::*;

fn written(datagram: &Datagram<'_>) -> Vec<u8> {
    let mut bytes = Vec::new();
    datagram.write(&mut bytes);
    bytes
}

fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    let pairs = digits.chunks(2).map(|pair| std::str::from_utf8(pair).expect("hexadecimal digits"));
    pairs.map(|pair| u8::from_str_radix(pair, 16).expect("hexadecimal digits")).collect()
}

fn at(nanos: u64) -> Time {
    Time::from_nanos(nanos)
}

/// The example of the reference page, byte by byte.
#[test]
fn a_packet_of_a_stream_is_what_the_reference_says() {
    let header = StreamHeader { seq: 7, bytes_before: 9996, piece: Piece::default() };
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
        flags: TcpFlags { ece: true, ..TcpFlags::default() },
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
fn a_hello_is_as_long_as_any_answer_before_the_address_is_proved() {
    let hello = |token| {
        let frame = Frame::Hello(Box::new(Hello {
            role: Role::Receiver,
            public: [1; KEY],
            caller: [7; KEY],
            token,
            offer: None,
        }));
        written(&Datagram { session: 5, number: 0, frame }).len() + TAG
    };
    let challenge = Frame::Challenge { token: [2; TOKEN] };
    let answer = written(&Datagram { session: 5, number: 0, frame: challenge }).len() + TAG;
    assert_eq!((hello(None), hello(Some([2; TOKEN])), answer), (HELLO, HELLO, HEADING + TOKEN + TAG));
    assert!(answer < HELLO);
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
    let header = StreamHeader { seq: 7, bytes_before: 9996, piece: Piece { frame: 2, frame_bytes: 9000 } };
    let data = Packet {
        flow: envelope.flow,
        size_bytes: 28 + (DATA + PIECE) as u32 + 100,
        source: envelope.source,
        to: envelope.to,
        sent_at: at(77),
        label: Label([9, 8, 7, 6]),
        header: Header::Stream(header),
        ecn: Ecn::Capable,
        hops: 0,
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
        let again = read.frame.packet(bytes.len() + TAG, &envelope).expect("it is for a machine");
        assert_eq!(format!("{again:?}"), format!("{packet:?}"));
    }
    assert!(Frame::of(&Packet { header: Header::Datagram { seq: 1 }, ..data }, &[], 0).is_none());
    assert!(Frame::KeepAlive.packet(32, &envelope).is_none());
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
    };
    let frame = Frame::of(&packet, &[], 5).expect("it travels");
    let bytes = written(&Datagram { session: 1, number: 2, frame });
    let expected = hex("54 02 14 00  00000001  0000000000000002
         000000000000004d 02 00000003 0102030405060708 0000000000");
    assert_eq!(bytes, expected);
    let read = Datagram::read(&bytes).expect("it was written");
    let again = read.frame.packet(bytes.len() + TAG, &envelope).expect("it is for a machine");
    assert_eq!(format!("{again:?}"), format!("{packet:?}"));
    let among = Header::Signal(Signal::Withdraw { gumgid: Eid(1) });
    assert_eq!(Frame::of(&Packet { header: among, ..packet }, &[], 0), None);
}

/// The examples of the reference page.
#[test]
fn words_of_a_controller_and_its_agents_are_what_the_reference_says() {
    let number = |number| Label([number, 0, 0, 0]);
    let hops = Hops::new(&[Hop { port: PortId(4), cost: 3 }, Hop { port: PortId(2), cost: 9 }]);
    let frame = Control::Command(contract::Command::NextHops { prefix: NameId(1), hops });
    let said = Said { sent_at: at(77), label: number(10), frame };
    let datagram = Datagram { session: 1, number: 2, frame: Frame::Control(said) };
    let expected = hex("54 02 17 00  00000001  0000000000000002
         000000000000004d  000000000000000a 0000000000000000 0000000000000000 0000000000000000
         03  00 00000001 02  00000004 00000003  00000002 00000009");
    assert_eq!(written(&datagram), expected);
    assert_eq!(Datagram::read(&expected), Ok(datagram));

    let status = Status {
        port: PortId(3),
        rate: Rate::from_mbps(10),
        load: 870_000,
        occupancy: 6000,
        backlog: 3,
        shares: 1,
    };
    let label = Share::pack(&[Share { what: Traffic::Prefix(NameId(1)), bytes: 500_000 }]);
    let said = Said { sent_at: at(77), label, frame: Control::Status(status) };
    let datagram = Datagram { session: 1, number: 2, frame: Frame::Control(said) };
    let expected = hex("54 02 17 00  00000001  0000000000000002
         000000000000004d  000000010007a120 0000000000000000 0000000000000000 0000000000000000
         00  00000003 0000000000989680 000d4670 00001770 00000003 0001");
    assert_eq!(written(&datagram), expected);
    assert_eq!(Datagram::read(&expected), Ok(datagram));

    let task = Task {
        period: Duration::from_nanos(500),
        phase: Duration::from_nanos(0),
        signal_above: Some(850_000),
        ports: vec![(PortId(2), "first".to_owned())],
        prefixes: vec![Prefix {
            id: NameId(1),
            name: "/film".parse().expect("a name"),
            hops: vec![Hop { port: PortId(2), cost: 20 }],
        }],
    };
    assert!(task.fits());
    let datagram = Datagram { session: 1, number: 2, frame: Frame::Task(Box::new(task)) };
    let expected = hex("54 02 16 01  00000001  0000000000000002
         00000000000001f4 0000000000000000 000cf850
         0001  00000002 05 6669727374
         0001  00000001 0006 0804 66696c6d  01 00000002 00000014");
    assert_eq!(written(&datagram), expected);
    assert_eq!(Datagram::read(&expected), Ok(datagram));
}

#[test]
fn control_words_with_numbers_out_of_range_are_refused() {
    let frame = Control::Shares { port: PortId(3), count: 5 };
    let said = |frame| Said { sent_at: at(1), label: Label::default(), frame };
    let bytes = |frame| written(&Datagram { session: 1, number: 2, frame: Frame::Control(said(frame)) });
    assert_eq!(Datagram::read(&bytes(frame)), Err(Malformed::Value));
    let hops = Hops::new(&[Hop { port: PortId(4), cost: 3 }]);
    let mut order =
        bytes(Control::Command(contract::Command::NextHops { prefix: NameId(Prefix::NUMBERS), hops }));
    assert_eq!(Datagram::read(&order), Err(Malformed::Value), "the number of a prefix is that of a node");
    // more next hops than an order holds
    let count = HEADING + 8 + 32 + 1 + 1 + 4;
    order[count - 4] = 0;
    assert!(Datagram::read(&order).is_ok());
    order[count] = 5;
    assert_eq!(Datagram::read(&order), Err(Malformed::Length));
    let post = Task {
        period: Duration::ZERO,
        phase: Duration::ZERO,
        signal_above: None,
        ports: Vec::new(),
        prefixes: Vec::new(),
    };
    let bytes = written(&Datagram { session: 1, number: 2, frame: Frame::Task(Box::new(post)) });
    assert_eq!(Datagram::read(&bytes), Err(Malformed::Value), "a period takes time");
}

#[test]
fn reasons_have_the_codes_of_the_reference() {
    let codes: Vec<u8> = Reason::ALL.iter().map(|reason| super::write::code(*reason)).collect();
    assert_eq!(codes, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
}

#[test]
fn what_is_not_version_1_is_told_apart() {
    let mut bytes = written(&Datagram { session: 1, number: 2, frame: Frame::KeepAlive });
    assert_eq!(Datagram::peek(&bytes), Ok((1, false)));
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
    assert_eq!(Datagram::split(&bytes), None, "there is no room for a tag");
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

fn reason() -> impl Strategy<Value = Reason> {
    proptest::sample::select(&Reason::ALL[..])
}

fn order() -> impl Strategy<Value = Order> {
    prop_oneof![
        any::<u32>().prop_map(|window| Order::Ready { window }),
        "[a-z-]{0,20}".prop_map(Order::Mode),
        any::<u64>().prop_map(|total| Order::End { total }),
        reason().prop_map(Order::Close),
    ]
}

fn header() -> impl Strategy<Value = TcpHeader> {
    let block = (0u32..1 << 30, 1u32..1000).prop_map(|(from, bytes)| (from, from + bytes));
    let sack = proptest::collection::vec(block, 0..4).prop_map(|blocks| {
        let mut sack = SackBlocks::default();
        sack.0.iter_mut().zip(blocks).for_each(|(place, block)| *place = block);
        sack
    });
    (0..MAX, 0..MAX, time(), sack, any::<u32>(), any::<[bool; 4]>()).prop_map(
        |(seq, ack, echo, sack, window_bytes, [syn, fin, ece, cwr])| {
            let flags = TcpFlags { syn, fin, ece, cwr };
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

fn hop() -> impl Strategy<Value = Hop> {
    (0..u32::MAX, any::<u32>()).prop_map(|(port, cost)| Hop { port: PortId(port), cost })
}

fn sdn_command() -> impl Strategy<Value = contract::Command> {
    use contract::Command;
    let hops = proptest::collection::vec(hop(), 0..=Hops::MAX);
    prop_oneof![
        (0..Prefix::NUMBERS, hops)
            .prop_map(|(prefix, hops)| Command::NextHops { prefix: NameId(prefix), hops: Hops::new(&hops) }),
        any::<(u32, u32)>().prop_map(|(to, via)| Command::Route { to: NodeId(to), via: PortId(via) }),
        any::<(u32, u32, u32)>().prop_map(|(port, limit, mark_above)| Command::Queue {
            port: PortId(port),
            limit,
            mark_above
        }),
        any::<(u32, u64)>()
            .prop_map(|(port, bps)| Command::Cap { port: PortId(port), rate: Rate::from_bps(bps) }),
    ]
}

fn said() -> impl Strategy<Value = Said> {
    let status = any::<(u32, u64, [u32; 3], u16)>().prop_map(|(port, bps, numbers, shares)| {
        let [load, occupancy, backlog] = numbers;
        let (port, rate) = (PortId(port), Rate::from_bps(bps));
        Control::Status(Status { port, rate, load, occupancy, backlog, shares })
    });
    let frame = prop_oneof![
        status,
        (any::<u32>(), 0..=4u8).prop_map(|(port, count)| Control::Shares { port: PortId(port), count }),
        any::<u32>().prop_map(|port| Control::Signal { port: PortId(port) }),
        sdn_command().prop_map(Control::Command),
        Just(Control::Ack),
        Just(Control::Hello),
        sdn_command().prop_map(Control::Kept),
        any::<u32>().prop_map(|kept| Control::Welcome { kept }),
    ];
    (time(), any::<[u64; 4]>(), frame).prop_map(|(sent_at, label, frame)| Said {
        sent_at,
        label: Label(label),
        frame,
    })
}

fn task() -> impl Strategy<Value = Task> {
    let ports = proptest::collection::vec((any::<u32>().prop_map(PortId), "[a-z0-9 ]{0,20}"), 0..6);
    let name = proptest::collection::vec("[a-z]{1,8}", 0..4);
    let prefix = (0..Prefix::NUMBERS, name, proptest::collection::vec(hop(), 0..6)).prop_map(
        |(id, components, hops)| {
            let name = format!("/{}", components.join("/")).parse().expect("a name");
            Prefix { id: NameId(id), name, hops }
        },
    );
    let prefixes = proptest::collection::vec(prefix, 0..6);
    (1..MAX, 0..MAX, any::<Option<u32>>(), ports, prefixes).prop_map(
        |(period, phase, signal_above, ports, prefixes)| Task {
            period: Duration::from_nanos(period),
            phase: Duration::from_nanos(phase),
            signal_above,
            ports,
            prefixes,
        },
    )
}

/// A datagram of any kind with content.
fn any_datagram() -> impl Strategy<Value = (u32, u64, Frame<'static>)> {
    let hello =
        (any::<bool>(), any::<[u8; KEY]>(), any::<[u8; KEY]>(), any::<Option<[u8; TOKEN]>>(), offer());
    let group = (any::<std::net::IpAddr>(), any::<u16>(), any::<u32>(), any::<[u8; KEY]>()).prop_map(
        |(ip, port, session, secret)| Group { address: std::net::SocketAddr::new(ip, port), session, secret },
    );
    let piece = (any::<u32>(), 1..u32::MAX).prop_map(|(frame, frame_bytes)| Piece { frame, frame_bytes });
    let content = proptest::collection::vec(any::<u8>(), 0..1500).prop_map(|bytes| &*bytes.leak());
    let label = any::<[u64; 4]>().prop_map(Label);
    let frame = prop_oneof![
        (hello, any::<bool>(), any::<bool>()).prop_map(
            |((sends, public, caller, token, offer), offers, takes)| {
                let role = match (sends, takes) {
                    (true, _) => Role::Sender,
                    (_, true) => Role::Receiver,
                    _ => Role::Agent,
                };
                let offer = offers.then_some(offer);
                Frame::Hello(Box::new(Hello { role, public, caller, token, offer }))
            }
        ),
        any::<[u8; TOKEN]>().prop_map(|token| Frame::Challenge { token }),
        (any::<(u32, [u8; KEY], u32)>(), proptest::option::of(offer()), proptest::option::of(group))
            .prop_map(|((session, public, peer), offer, group)| {
                Frame::Welcome(Box::new(Welcome { session, public, peer, offer, group }))
            }),
        reason().prop_map(Frame::Refusal),
        (any::<u32>(), order()).prop_map(|(serial, order)| Frame::Order { serial, order }),
        any::<u32>().prop_map(|serial| Frame::Ack { serial }),
        Just(Frame::KeepAlive),
        content.clone().prop_map(Frame::Message),
        (time(), 0..MAX, 0..MAX, proptest::option::of(piece), label.clone(), content.clone(), 0..200usize)
            .prop_map(|(sent_at, seq, bytes_before, piece, label, content, padding)| {
                let header = StreamHeader { seq, bytes_before, piece: piece.unwrap_or_default() };
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
        "[a-z0-9]{0,20}".prop_map(|node| Frame::Attach { node }),
        task().prop_map(|task| Frame::Task(Box::new(task))),
        said().prop_map(Frame::Control),
    ];
    (any::<u32>(), any::<u64>(), frame)
}

proptest! {
    #[test]
    fn what_is_written_is_read_again((session, number, frame) in any_datagram()) {
        let datagram = Datagram { session, number, frame };
        let bytes = written(&datagram);
        prop_assert_eq!(Datagram::peek(&bytes).map(|peeked| peeked.0), Ok(session));
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
        let _ = (Datagram::read(&bytes), Datagram::peek(&bytes), Datagram::split(&bytes));
        let mut ours = vec![MAGIC, VERSION, kind, 0];
        ours.extend_from_slice(&bytes);
        if let Ok(read) = Datagram::read(&ours) {
            let again = written(&read);
            prop_assert!(Datagram::read(&again).is_ok());
        }
    }
}

/// Names of schemes, parameters, modes and nodes become part of messages.
#[test]
fn names_with_control_characters_are_refused() {
    for name in ["cvi\x1b]0;owned\x07", "cvi\nerror: x", "cvi\u{9b}2J", "cvi\u{202e}"] {
        for order in [Order::Mode(name.to_owned()), Order::Mode("background".to_owned())] {
            let right = matches!(&order, Order::Mode(mode) if mode == "background");
            let mut bytes = Vec::new();
            Datagram { session: 1, number: 0, frame: Frame::Order { serial: 0, order } }.write(&mut bytes);
            assert_eq!(Datagram::read(&bytes).is_ok(), right, "{name:?}");
        }
        let mut bytes = Vec::new();
        Datagram { session: 1, number: 0, frame: Frame::Attach { node: name.to_owned() } }.write(&mut bytes);
        assert_eq!(Datagram::read(&bytes), Err(Malformed::Text), "{name:?}");
    }
}
