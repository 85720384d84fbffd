//! NDN packets of another implementation, round trips of any packet, and malformed packets.

use contract::Label;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use wire::ndn::{
    Arguments, Command, Component, Data, Fragmenter, Interest, LONGEST, LinkHeader, LinkPacket, Metadata,
    Name, NameView, Packet, Reason, Reassembly, Response, Token, Unsigned, frame_length, kind,
};

/// Packets of python-ndn 0.5.2; `python_ndn.py` wrote them.
const PYTHON_NDN: &str = include_str!("python_ndn.txt");

fn made(name: &str) -> Vec<u8> {
    let line = PYTHON_NDN.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    let digits = line.expect("a packet of this name").as_bytes();
    let digit = |byte: u8| (byte as char).to_digit(16).expect("a hexadecimal digit") as u8;
    digits.chunks(2).map(|pair| digit(pair[0]) << 4 | digit(pair[1])).collect()
}

fn name(text: &str) -> Name {
    text.parse().expect("a name")
}

fn written(interest: &Interest<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    interest.write(&mut out);
    out
}

#[test]
fn interests_of_another_implementation_are_read_and_written_alike() {
    let packet = made("interest");
    let interest = Interest::read(&packet).expect("an Interest");
    assert_eq!(interest.name, name("/a/b").view());
    assert_eq!((interest.nonce, interest.lifetime_ms), (Some(0x0102_0304), Some(4000)));
    assert_eq!((interest.can_be_prefix, interest.must_be_fresh, interest.hop_limit), (false, false, None));
    assert_eq!(written(&interest), packet);

    let packet = made("interest.full");
    let interest = Interest::read(&packet).expect("an Interest");
    assert_eq!(interest.name.to_string(), "/test/v=7/seg=300");
    assert_eq!((interest.nonce, interest.lifetime_ms), (Some(u32::MAX), Some(60_000)));
    assert_eq!((interest.can_be_prefix, interest.must_be_fresh, interest.hop_limit), (true, true, Some(255)));
    let hint = interest.forwarding_hint.expect("there is one");
    assert_eq!(hint[2..], *name("/isp").view().bytes());
    assert_eq!(written(&interest), packet);

    for which in ["interest.parameters", "interest.signed"] {
        let packet = made(which);
        let interest = Interest::read(&packet).expect("an Interest");
        assert!(interest.intact(), "{which}");
        let parameters = interest.parameters.expect("there are some");
        assert_eq!((parameters.value, parameters.signature.is_some()), (&b"hello"[..], which.ends_with('d')));
        assert_eq!(written(&interest), packet);
    }
}

#[test]
fn a_command_is_the_same_as_another_implementation_makes_it() {
    let packet = made("command");
    let interest = Interest::read(&packet).expect("an Interest");
    assert!(interest.intact() && Command::is_command(interest.name));
    let arguments = Arguments { cost: Some(10), ..Arguments::route(name("/test/f")) };
    let read = Command::read(interest.name).expect("a command");
    assert_eq!((read.module.as_str(), read.verb.as_str(), &read.arguments), ("rib", "register", &arguments));
    let mut own = Vec::new();
    wire::ndn::command(
        true,
        ("rib", "register"),
        &arguments,
        0x0102_0304_0506_0708,
        1_600_000_000_000,
        &mut own,
    );
    let own = Interest::read(&own).expect("an Interest");
    assert_eq!(own.name, interest.name, "the digest in the name is of parameters and signature");
    assert_eq!(own.parameters, interest.parameters);
}

#[test]
fn data_of_another_implementation_are_read_verified_and_written_alike() {
    for (which, uri, freshness_ms, content_type, content) in
        [("data", "/test/v=7/seg=300", 4000, 0, b"hello".to_vec()), ("data.long", "/a", 0, 3, vec![0; 2000])]
    {
        let packet = made(which);
        let data = Data::read(&packet).expect("a Data packet");
        assert_eq!(data.intact(), Some(true), "{which}");
        assert_eq!((data.name.to_string().as_str(), data.freshness_ms), (uri, freshness_ms));
        assert_eq!((data.content, data.content_type), (&content[..], content_type));
        let last = data.final_block;
        assert_eq!(last.and_then(|last| last.segment()), (which == "data").then_some(300));
        let mut own = Vec::new();
        Unsigned { name: data.name, content_type, freshness_ms, final_block: last, content: &content }
            .sign(&mut own);
        if which == "data" {
            // a content type of 0 is written by that implementation, and not by this one
            assert_eq!(Data::read(&own).map(|own| own.content), Ok(&content[..]));
        } else {
            assert_eq!(own, packet);
        }
    }
    let packet = made("data.empty");
    let empty = Data::read(&packet).expect("a Data packet");
    assert!(empty.content.is_empty() && empty.intact() == Some(true));
    let packet = made("data.hmac");
    let other = Data::read(&packet).expect("a Data packet");
    assert_eq!((other.intact(), other.signature.kind, other.signature.value.len()), (None, 4, 32));
    assert!(other.signature.key_locator.is_some());
}

#[test]
fn link_packets_of_another_implementation_are_read() {
    let (interest, data) = (made("interest"), made("data"));
    let packet = made("link.nack");
    let nack = LinkPacket::read(&packet).expect("a link packet");
    assert_eq!((nack.header.nack, nack.fragment), (Some(Reason(150)), &interest[..]));
    let expect = [
        (
            "link.token",
            LinkHeader { token: Token::new(&[0, 1, 2, 3, 4, 5]).expect("short"), ..LinkHeader::default() },
        ),
        ("link.marked", LinkHeader { incoming_face: Some(300), mark: 1, ..LinkHeader::default() }),
        (
            "link.policy",
            LinkHeader { next_hop_face: Some(4), cache_policy: Some(1), ..LinkHeader::default() },
        ),
    ];
    for (which, header) in expect {
        let packet = made(which);
        assert_eq!(LinkPacket::read(&packet), Ok(LinkPacket::whole(header, &data)), "{which}");
        let mut own = Vec::new();
        LinkPacket::whole(header, &data).write(&mut own);
        assert_eq!(own, packet, "{which}");
    }
}

// ---- round trips of any packet

fn any_name() -> impl Strategy<Value = Name> {
    let component =
        (prop_oneof![Just(kind::GENERIC), Just(kind::SEGMENT), 9..=65_535u32], vec(any::<u8>(), 0..40));
    vec(component, 1..8).prop_map(|components| {
        let mut name = Name::new();
        for (kind, value) in &components {
            name.push(Component { kind: *kind, value });
        }
        name
    })
}

fn any_header() -> impl Strategy<Value = LinkHeader> {
    let number = || option::of(any::<u64>());
    (vec(any::<u8>(), 0..=32), number(), number(), number(), number(), any::<u64>(), any::<[u64; 4]>())
        .prop_map(|(token, nack, incoming_face, next_hop_face, cache_policy, mark, label)| LinkHeader {
            token: Token::new(&token).expect("it is short"),
            nack: nack.map(Reason),
            incoming_face,
            next_hop_face,
            cache_policy,
            mark,
            label: Label(label),
        })
}

/// Parses bytes with every parser; each must return.
fn read_all(bytes: &[u8]) {
    let _ = frame_length(bytes);
    if let Ok(packet) = LinkPacket::read(bytes) {
        let _ = Packet::read(packet.fragment);
        let _ = Reassembly::new().take(&packet, units::Time::ZERO);
    }
    if let Ok(interest) = Interest::read(bytes) {
        let _ = interest.intact();
        let _ = Command::read(interest.name);
        let mut again = Vec::new();
        interest.write(&mut again);
        // ignored elements are gone; the others are equal
        assert_eq!(Interest::read(&again).map(|again| again.name), Ok(interest.name));
    }
    if let Ok(data) = Data::read(bytes) {
        let _ = data.intact();
    }
    if let Ok(name) = NameView::read(bytes) {
        assert_eq!(name.to_string().parse::<Name>().as_ref().map(Name::view), Ok(name));
        assert_eq!(name.components().count(), name.count());
        assert_eq!(name.prefix(name.count()), name);
    }
    let _ = Response::read(bytes);
    let _ = Metadata::read(bytes);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn names_are_the_same_after_they_were_written_as_text(name in any_name()) {
        prop_assert_eq!(NameView::read(name.view().bytes()), Ok(name.view()));
        prop_assert_eq!(name.to_string().parse::<Name>(), Ok(name));
    }

    #[test]
    fn interests_are_the_same_after_they_were_written(
        name in any_name(),
        (can_be_prefix, must_be_fresh) in any::<(bool, bool)>(),
        (nonce, lifetime_ms, hop_limit) in (option::of(any::<u32>()), option::of(any::<u64>()), option::of(any::<u8>())),
        signed in option::of((vec(any::<u8>(), 0..300), any::<u64>(), any::<u64>())),
    ) {
        let interest = Interest { name: name.view(), can_be_prefix, must_be_fresh, nonce, lifetime_ms, hop_limit, ..Interest::default() };
        let mut out = Vec::new();
        match &signed {
            Some((parameters, nonce, time)) => interest.write_signed(parameters, *nonce, *time, &mut out),
            None => interest.write(&mut out),
        }
        prop_assert_eq!(frame_length(&out), Ok(Some(out.len())));
        let read = Interest::read(&out).expect("an Interest");
        prop_assert!(read.intact());
        prop_assert!(read.name.starts_with(name.view()));
        prop_assert_eq!(read.parameters.map(|read| read.value.to_vec()), signed.map(|signed| signed.0));
        prop_assert_eq!(read.nonce_at.map(|at| out[at..at + 4].to_vec()), nonce.map(|nonce| nonce.to_be_bytes().to_vec()));
        prop_assert_eq!(read.hop_limit_at.map(|at| out[at]), hop_limit);
        let same = Interest { name: name.view(), parameters: None, nonce_at: None, hop_limit_at: None, ..read };
        prop_assert_eq!(same, interest);
    }

    #[test]
    fn data_are_the_same_after_they_were_signed(
        name in any_name(),
        (content_type, freshness_ms) in any::<(u64, u64)>(),
        last in option::of(any::<u64>()),
        content in vec(any::<u8>(), 0..2000),
    ) {
        let mut block = Name::new();
        if let Some(last) = last {
            block.push_number(kind::SEGMENT, last);
        }
        let final_block = block.view().last();
        let unsigned = Unsigned { name: name.view(), content_type, freshness_ms, final_block, content: &content };
        let mut out = Vec::new();
        unsigned.sign(&mut out);
        prop_assert_eq!(out.len(), unsigned.size());
        let read = Data::read(&out).expect("a Data packet");
        let same = Unsigned {
            name: read.name,
            content_type: read.content_type,
            freshness_ms: read.freshness_ms,
            final_block: read.final_block,
            content: read.content,
        };
        prop_assert_eq!((same, read.intact()), (unsigned, Some(true)));
    }

    #[test]
    fn link_packets_are_the_same_after_they_were_written(
        header in any_header(),
        sequence in any::<u64>(),
        (index, more) in (0..1000u64, 1..1000u64),
        fragment in vec(any::<u8>(), 1..500),
    ) {
        let count = index + more;
        let packet = LinkPacket { header, sequence: Some(sequence), index, count, fragment: &fragment };
        let mut out = Vec::new();
        packet.write(&mut out);
        prop_assert_eq!(LinkPacket::read(&out), Ok(packet));
    }

    /// Pieces of several packets in any order.
    #[test]
    fn packets_come_together_from_their_pieces(
        lengths in vec(500..8000usize, 1..6),
        mtu in Fragmenter::MIN_MTU..1500,
        header in any_header(),
        first in any::<u64>(),
        keys in vec(any::<u32>(), 512),
    ) {
        let name = name("/a/seg=0");
        let mut fragmenter = Fragmenter::new(mtu, first);
        let mut frames = Vec::new();
        let packets: Vec<Vec<u8>> = lengths.iter().map(|length| {
            let mut packet = Vec::new();
            Unsigned { name: name.view(), content: &vec![*length as u8; *length], ..Unsigned::default() }.sign(&mut packet);
            fragmenter.cut(&packet, header, |frame| frames.push(frame.to_vec()));
            packet
        }).collect();
        prop_assert!(frames.iter().all(|frame| frame.len() <= mtu));
        let mut order: Vec<usize> = (0..frames.len()).collect();
        order.sort_by_key(|at| keys[at % keys.len()]);
        let mut reassembly = Reassembly::new();
        let mut whole = Vec::new();
        for at in order {
            let piece = LinkPacket::read(&frames[at]).expect("a link packet");
            if let Some((found, packet)) = reassembly.take(&piece, units::Time::ZERO).expect("it is kept") {
                prop_assert_eq!(found, header);
                whole.push(packet.to_vec());
            }
        }
        whole.sort();
        let mut packets = packets;
        packets.sort();
        prop_assert_eq!(whole, packets);
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in vec(any::<u8>(), 0..200)) {
        read_all(&bytes);
    }

    /// Valid packets with some bytes changed, cut off or inserted reach more paths of a decoder than random bytes.
    #[test]
    fn changed_packets_are_read_or_refused(
        which in 0..PYTHON_NDN.lines().count(),
        changes in vec((any::<u16>(), any::<u8>(), 0..3u8), 1..6),
    ) {
        let line = PYTHON_NDN.lines().nth(which).expect("a line");
        let mut packet = made(line.split(' ').next().expect("a name"));
        packet.truncate(300);
        for (at, byte, how) in changes {
            let at = usize::from(at) % packet.len().max(1);
            match how {
                0 if at < packet.len() => packet[at] = byte,
                1 => packet.truncate(at),
                _ => packet.insert(at.min(packet.len()), byte),
            }
        }
        read_all(&packet);
        // the value of a name, which is where lengths are nested deepest
        read_all(packet.get(4..).unwrap_or_default());
    }
}

/// A false length cannot cause a large allocation: the size of packets is limited before they are parsed.
#[test]
fn what_is_too_long_is_refused() {
    let mut packet = vec![0x05, 0xfd, 0x40, 0x00, 0x07, 0x03, 0x08, 0x01, b'a'];
    packet.resize(4 + 0x4000, 0);
    assert!(packet.len() > LONGEST);
    assert_eq!(Interest::read(&packet), Err(wire::ndn::Malformed::TooLong));
    assert_eq!(LinkPacket::read(&packet), Err(wire::ndn::Malformed::TooLong));
    assert_eq!(frame_length(&packet), Err(wire::ndn::Malformed::TooLong));
}

/// The example in docs/reference/wire-formats.md.
#[test]
fn the_example_of_the_reference_is_right() {
    let name = name("/a/v=7/seg=1");
    let interest = Interest {
        name: name.view(),
        nonce: Some(0x0102_0304),
        lifetime_ms: Some(4000),
        ..Interest::default()
    };
    let mut data = Vec::new();
    Unsigned { name: name.view(), final_block: name.view().last(), content: b"hello", ..Unsigned::default() }
        .sign(&mut data);
    let page = include_str!("../../../docs/reference/wire-formats.md");
    let digits = |line: &str| line.chars().filter(char::is_ascii_hexdigit).collect::<String>();
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let wanted = hex(&written(&interest));
    assert!(page.lines().any(|line| digits(line) == wanted), "{wanted}");
    let wanted = hex(&data[..data.len() - 34]);
    assert!(page.lines().any(|line| digits(line) == wanted), "{wanted}");
}
