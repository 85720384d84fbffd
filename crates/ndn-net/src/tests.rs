//! Tests of consumer and producer in a network with a simulated clock.

use std::sync::Arc;

use contract::{Count, Family, NackReason};
use schemes::Build;
use units::{Bytes, Duration, Rate, Time};
use wire::ndn::{
    Command, Data, Interest, LinkHeader, Metadata, Name, Packet, Reason, Response, Token, Unsigned, kind,
    sha256,
};

use super::testing::{Faults, File, Net};
use super::*;

fn name(text: &str) -> Name {
    text.parse().expect("a name")
}

fn wanted(scheme: &str) -> Fetch {
    Fetch::new(name("/test/file"), scheme)
}

/// Fetches over this network: what came, and the bytes.
fn run(net: Net<'_>, wanted: &Fetch) -> (Fetched, Vec<u8>) {
    let mut out = Vec::new();
    let fetched = fetch(&mut net.face(), wanted, &mut out, &Control::new());
    (fetched, out)
}

fn whole(fetched: &Fetched) {
    if let Some(failure) = &fetched.failure {
        panic!("{failure}");
    }
}

/// 200 segments over 50 Mbit/s and 2 · 5 ms.
#[test]
fn a_file_is_fetched_whole() {
    let file = File::new(199_500);
    let (fetched, out) = run(Net::new(1420, file.clone().serve()), &wanted("cubic"));
    whole(&fetched);
    assert_eq!(out, file.content);
    assert_eq!(fetched.sha256, None, "nobody asked for it");
    assert_eq!((fetched.segments, fetched.written, fetched.bytes), (200, 200, 199_500));
    assert_eq!(fetched.name, Some(name("/test/file/v=7")));
    assert_eq!(fetched.meter.count(Count::Retransmits), 0);
    // one question for the metadata, one for the first segment, 10 ms each and some for the link
    let finding = fetched.finding.as_nanos() / 1_000_000;
    assert!((20..22).contains(&finding), "{finding} ms");
    // 1, 2, 4 … segments a round trip: 199 need 7 of them from a window of 2; the link needs 36 ms for all
    let span = fetched.span.as_nanos() / 1_000_000;
    assert!((90..130).contains(&span), "{span} ms");
    let rtt = fetched.meter.rtt_min.as_nanos() / 1_000;
    assert!((10_000..10_400).contains(&rtt), "{rtt} µs");
}

#[test]
fn every_scheme_of_consumers_fetches_a_file() {
    let mut tried = 0;
    for entry in schemes::catalogue() {
        if !entry.scheme.families.contains(&Family::Ndn) || !matches!(entry.build, Build::Control(_)) {
            continue;
        }
        tried += 1;
        let file = File::new(300_000);
        let mut net = Net::new(8800, file.clone().serve());
        net.marks = Duration::from_millis(10);
        let how = Fetch { access: Some(Rate::from_mbps(50)), ..wanted(entry.scheme.name) };
        let (fetched, out) = run(net, &how);
        whole(&fetched);
        assert_eq!(out, file.content, "{}", entry.scheme.name);
    }
    assert!(tried >= 8, "{tried}");
}

/// What a bad network does: losses, copies, changed bytes, another order, in pieces.
#[test]
fn a_file_comes_whole_through_a_bad_network() {
    let mut file = File::new(400_000);
    file.segment = 4000;
    for scheme in ["aimd", "cubic", "icp", "raaqm"] {
        let mut net = Net::new(1420, file.clone().serve());
        net.faults = Faults { loss: 0.01, double: 0.02, damage: 0.01, late: 0.05 };
        let (fetched, out) = run(net, &wanted(scheme));
        whole(&fetched);
        assert_eq!(sha256(&[&out]), sha256(&[&file.content]), "{scheme}");
        assert!(fetched.meter.count(Count::Retransmits) > 0);
        assert!(fetched.traffic.malformed + fetched.damaged > 0);
    }
}

/// A queue of 50 ms at 50 Mbit/s holds 312 kB and is marked from 10 ms on.
#[test]
fn marks_reach_the_controller() {
    let file = File::new(3_000_000);
    let mut net = Net::new(1420, file.clone().serve());
    net.marks = Duration::from_millis(10);
    let (fetched, _) = run(net, &wanted("cubic"));
    whole(&fetched);
    assert!(fetched.meter.count(Count::Marks) > 0);
    assert!(fetched.meter.count(Count::Episodes) > 0);
    assert_eq!(fetched.meter.count(Count::Retransmits), 0, "nothing was lost");

    let mut net = Net::new(1420, file.serve());
    net.marks = Duration::from_millis(10);
    let (deaf, _) = run(net, &Fetch { marks: false, ..wanted("cubic") });
    whole(&deaf);
    assert_eq!(deaf.meter.count(Count::Marks), 0);
    assert!(deaf.meter.count(Count::Retransmits) > 0, "the queue overflows when nobody listens");
}

#[test]
fn refusals_reach_the_controller() {
    let file = File::new(300_000);
    let mut count = 0;
    let served = file.clone();
    let net = Net::new(
        1420,
        Box::new(move |_, _, packet| {
            let Packet::Interest(interest) = packet else { return Vec::new() };
            count += 1;
            if count % 40 == 39 {
                let mut back = Vec::new();
                interest.write(&mut back);
                let nack = Some(Reason::from(NackReason::Congestion));
                return vec![(LinkHeader { nack, ..LinkHeader::default() }, back)];
            }
            served.answer(interest).map(|data| (LinkHeader::default(), data)).into_iter().collect()
        }),
    );
    let (fetched, out) = run(net, &wanted("aimd"));
    whole(&fetched);
    assert_eq!(out, file.content);
    let refusals = fetched.meter.count(Count::Nacks);
    assert!(refusals >= 7, "{refusals}");
    assert_eq!(fetched.meter.count(Count::Retransmits), refusals);
    assert!(fetched.meter.count(Count::Episodes) > 0);
}

#[test]
fn versions_are_found_in_three_ways() {
    let file = File::new(2500);
    for (text, discovery) in [
        ("/test/file", Discovery::Metadata),
        ("/test/file", Discovery::Prefix),
        ("/test/file/v=7", Discovery::Metadata),
        ("/test/file/v=7", Discovery::None),
    ] {
        let how = Fetch { name: name(text), discovery, ..wanted("reno") };
        let (fetched, out) = run(Net::new(1420, file.clone().serve()), &how);
        whole(&fetched);
        assert_eq!((fetched.name, out.len()), (Some(name("/test/file/v=7")), 2500), "{text}");
    }
}

#[test]
fn small_files_are_files() {
    for size in [0, 1, 1000, 1001] {
        let file = File::new(size);
        let (fetched, out) = run(Net::new(1420, file.clone().serve()), &wanted("cubic"));
        whole(&fetched);
        assert_eq!(out, file.content);
        assert_eq!(fetched.segments, if size > 1000 { 2 } else { 1 });
    }
}

#[test]
fn nobody_there_is_said_after_four_tries() {
    let (fetched, _) = run(Net::new(1420, Box::new(|_, _, _| Vec::new())), &wanted("cubic"));
    let Some(Failure::Unanswered { name, waited }) = &fetched.failure else {
        panic!("{:?}", fetched.failure)
    };
    assert_eq!(name, "/test/file/32=metadata");
    assert_eq!(waited.as_nanos() / 1_000_000_000, 4);
    assert_eq!(fetched.traffic.frames_out, 4);
    assert!(fetched.failure.is_some_and(|failure| failure.hint().is_some()));
}

#[test]
fn a_forwarder_without_a_route_says_so() {
    let refuse: testing::Answer<'_> = Box::new(|_, _, packet| {
        let Packet::Interest(interest) = packet else { return Vec::new() };
        let mut back = Vec::new();
        interest.write(&mut back);
        let nack = Some(Reason::from(NackReason::NoRoute));
        vec![(LinkHeader { nack, ..LinkHeader::default() }, back)]
    });
    let (fetched, _) = run(Net::new(1420, refuse), &wanted("cubic"));
    assert!(matches!(fetched.failure, Some(Failure::NoRoute(_))), "{:?}", fetched.failure);
    assert!(fetched.span < Duration::from_secs(2), "it does not wait for long");
}

#[test]
fn a_producer_that_ends_is_noticed() {
    let file = File::new(500_000);
    let served = file.clone();
    let until = Time::ZERO + Duration::from_millis(60);
    let net = Net::new(
        1420,
        Box::new(move |now, _, packet| match packet {
            Packet::Interest(interest) if now < until => {
                served.answer(interest).map(|data| (LinkHeader::default(), data)).into_iter().collect()
            }
            _ => Vec::new(),
        }),
    );
    let (fetched, out) = run(net, &Fetch { patience: Duration::from_secs(5), ..wanted("cubic") });
    let Some(Failure::Stalled { received, all, .. }) = fetched.failure else {
        panic!("{:?}", fetched.failure)
    };
    assert!(received > 10 && received < 500 && all == 500, "{received} of {all}");
    assert_eq!(out, file.content[..out.len()], "what was written is right");
    assert_eq!(fetched.bytes, out.len() as u64);
}

#[test]
fn a_connection_that_breaks_is_said() {
    let mut net = Net::new(1420, File::new(5_000_000).serve());
    net.breaks_at = Time::ZERO + Duration::from_millis(100);
    let (fetched, _) = run(net, &wanted("cubic"));
    assert!(
        matches!(fetched.failure, Some(Failure::Broken(TransportError::Closed))),
        "{:?}",
        fetched.failure
    );
}

#[test]
fn who_stops_it_keeps_what_is_there() {
    let file = File::new(5_000_000);
    let mut net = Net::new(1420, file.clone().serve());
    let control = Arc::new(Control::new());
    net.stop_at = Some((Time::ZERO + Duration::from_millis(200), Arc::clone(&control)));
    let mut out = Vec::new();
    let fetched = fetch(&mut net.face(), &wanted("cubic"), &mut out, &control);
    assert!(matches!(fetched.failure, Some(Failure::Stopped)), "{:?}", fetched.failure);
    assert!(!out.is_empty() && out[..] == file.content[..out.len()]);
}

#[test]
fn what_is_not_as_wanted_is_said() {
    let file = File::new(5000);
    let right = Some(sha256(&[&file.content]));
    let (fetched, _) = run(Net::new(1420, file.clone().serve()), &Fetch { sha256: right, ..wanted("cubic") });
    whole(&fetched);
    assert_eq!(fetched.sha256, right);
    let (fetched, _) = run(Net::new(1420, file.serve()), &Fetch { sha256: Some([0; 32]), ..wanted("cubic") });
    assert!(matches!(fetched.failure, Some(Failure::NotWhole(_))), "{:?}", fetched.failure);

    let (fetched, _) = run(Net::new(1420, File::new(1).serve()), &wanted("bbr"));
    let Some(Failure::Scheme(why)) = fetched.failure else { panic!("{:?}", fetched.failure) };
    assert!(why.contains("aimd") && why.contains("cubic"), "{why}");
    assert_eq!(fetched.traffic.frames_out, 0);
    let params = vec![("beta".to_owned(), contract::ParamValue::Float(7.0))];
    let (fetched, _) = run(Net::new(1420, File::new(1).serve()), &Fetch { params, ..wanted("cubic") });
    assert!(matches!(fetched.failure, Some(Failure::Scheme(_))), "{:?}", fetched.failure);
}

/// Every parameter of a scheme of consumers that needs what only TCP and QUIC tell.
#[test]
fn a_parameter_that_needs_deliveries_is_refused() {
    let mut refused = 0;
    for entry in schemes::catalogue() {
        for need in entry.scheme.needs.iter().filter(|_| entry.scheme.families.contains(&Family::Ndn)) {
            let contract::Need::Deliveries { param, value } = need else { continue };
            let params = vec![((*param).to_owned(), contract::ParamValue::from(*value))];
            let how = Fetch { params, ..wanted(entry.scheme.name) };
            let (fetched, _) = run(Net::new(1420, File::new(100_000).serve()), &how);
            let Some(Failure::Scheme(why)) = fetched.failure else { panic!("{:?}", fetched.failure) };
            assert!(why.contains(entry.scheme.name) && why.contains(param) && why.contains(value), "{why}");
            assert_eq!(fetched.traffic.frames_out, 0);
            refused += 1;
        }
    }
    assert!(refused > 0);
}

/// Metadata about another file, and a first segment that does not say where the end is.
#[test]
fn answers_that_are_no_use_are_refused() {
    let answer = |content: Vec<u8>| -> testing::Answer<'static> {
        Box::new(move |_, _, packet| {
            let Packet::Interest(interest) = packet else { return Vec::new() };
            let mut out = Vec::new();
            Unsigned { name: interest.name, content: &content, ..Unsigned::default() }.sign(&mut out);
            vec![(LinkHeader::default(), out)]
        })
    };
    let mut other = Vec::new();
    Metadata { name: name("/other/v=1"), last_segment: None, size: None }.write(&mut other);
    let mut endless = Vec::new();
    Metadata { name: name("/test/file/v=1"), last_segment: None, size: None }.write(&mut endless);
    for (content, why) in [(other, "/other/v=1"), (endless, "the last"), (vec![8, 0], "missing")] {
        let (fetched, _) = run(Net::new(1420, answer(content)), &wanted("cubic"));
        let failure = fetched.failure.expect("it is no use").to_string();
        assert!(failure.contains(why), "{failure}");
    }
}

// ---- the producer

/// A packet that was sent, and what was said about it.
type Sent = (LinkHeader, Vec<u8>);

/// A producer with a forwarder at the far end that takes commands; Interests come in at the given milliseconds. What
/// was served, and what it sent.
fn produce(
    serving: &Serve,
    content: &[u8],
    code: u64,
    interests: &[(u64, Interest<'_>)],
) -> (Served, Vec<Sent>, Vec<Command>) {
    let sent = std::cell::RefCell::new(Vec::new());
    let commands = std::cell::RefCell::new(Vec::new());
    let control = Arc::new(Control::new());
    let served = {
        let (sent, commands) = (&sent, &commands);
        let mut net = Net::new(
            1420,
            Box::new(move |_, header, packet| match packet {
                Packet::Interest(interest) => {
                    assert!(interest.intact());
                    commands.borrow_mut().push(Command::read(interest.name).expect("a command"));
                    let mut content = Vec::new();
                    Response { code, text: "so".to_owned(), arguments: None }.write(&mut content);
                    let mut out = Vec::new();
                    Unsigned { name: interest.name, content: &content, ..Unsigned::default() }.sign(&mut out);
                    vec![(LinkHeader::default(), out)]
                }
                Packet::Data(data) => {
                    sent.borrow_mut().push((*header, data.packet().to_vec()));
                    Vec::new()
                }
            }),
        );
        net.rate = Rate::from_mbps(1000);
        net.stop_at = Some((Time::ZERO + Duration::from_secs(2), Arc::clone(&control)));
        for (at_ms, interest) in interests {
            let token = Token::new(&at_ms.to_be_bytes()).expect("it is short");
            let mut packet = Vec::new();
            interest.write(&mut packet);
            net.delay = Duration::from_millis(*at_ms);
            net.push(LinkHeader { token, ..LinkHeader::default() }, &packet);
        }
        net.delay = Duration::from_millis(5);
        serve(&mut net.face(), serving, &mut content.to_vec(), &control)
    };
    (served, sent.into_inner(), commands.into_inner())
}

#[test]
fn a_producer_registers_answers_and_goes() {
    let serving = Serve::new(name("/test/file"), 9, 1_600_000_000_000);
    let content: Vec<u8> = (0..20_000u32).map(|i| i as u8).collect();
    let (segment, metadata) = (name("/test/file/v=9/seg=2"), name("/test/file/32=metadata"));
    let (file, beyond) = (name("/test/file"), name("/test/file/v=9/seg=3"));
    let exact = Interest { name: segment.view(), nonce: Some(1), ..Interest::default() };
    let below = Interest { can_be_prefix: true, must_be_fresh: true, name: metadata.view(), ..exact };
    let interests = [
        (100, exact),
        (110, below),
        (120, Interest { name: file.view(), ..below }),
        (130, Interest { name: beyond.view(), ..exact }),
        (140, Interest { can_be_prefix: false, ..below }),
    ];
    let (served, sent, commands) = produce(&serving, &content, 200, &interests);
    assert!(served.failure.is_none(), "{:?}", served.failure);
    let verbs: Vec<&str> = commands.iter().map(|command| command.verb.as_str()).collect();
    assert_eq!(verbs, ["register", "unregister"]);
    assert_eq!(commands[0].arguments.name, Some(name("/test/file")));

    let tokens: Vec<Vec<u8>> = sent.iter().map(|(header, _)| header.token.bytes().to_vec()).collect();
    assert_eq!(tokens, [100u64, 110, 120].map(|at| at.to_be_bytes().to_vec()));
    let data: Vec<Data<'_>> = sent.iter().map(|(_, data)| Data::read(data).expect("Data")).collect();
    assert!(data.iter().all(|data| data.intact() == Some(true)));
    assert_eq!((data[0].name, data[0].content), (segment.view(), &content[16_000..]));
    assert_eq!(data[0].final_block.and_then(|last| last.segment()), Some(2));
    let messages = Metadata::read(data[1].content).expect("metadata");
    assert_eq!(
        (messages.name, messages.last_segment, messages.size),
        (name("/test/file/v=9"), Some(2), Some(20_000))
    );
    assert_eq!(data[1].name.to_string(), "/test/file/32=metadata/v=9/seg=0");
    assert_eq!(data[2].name.last().and_then(|last| last.segment()), Some(0));
    assert_eq!((served.interests, served.segments, served.metadata, served.unknown), (5, 2, 1, 2));
    assert_eq!(served.bytes, 12_000);
}

#[test]
fn a_forwarder_that_refuses_is_said() {
    let serving = Serve::new(name("/test/file"), 9, 0);
    let (served, _, _) = produce(&serving, b"x", 403, &[]);
    let Some(Failure::Refused { code, .. }) = served.failure else { panic!("{:?}", served.failure) };
    assert_eq!(code, 403);
    let mut net = Net::new(1420, Box::new(|_, _, _| Vec::new()));
    net.local = false;
    let served = serve(&mut net.face(), &serving, &mut b"x".to_vec(), &Control::new());
    assert!(matches!(served.failure, Some(Failure::Refused { code: 0, .. })), "{:?}", served.failure);
}

#[test]
fn without_a_route_of_its_own_a_producer_only_answers() {
    let serving = Serve { register: false, segment: 1000, ..Serve::new(name("/test/file"), 9, 0) };
    let mut first = name("/test/file/v=9");
    first.push_number(kind::SEGMENT, 0);
    let interest = Interest { name: first.view(), nonce: Some(1), ..Interest::default() };
    let (served, sent, commands) = produce(&serving, &[7; 1500], 200, &[(10, interest)]);
    assert!(served.failure.is_none() && commands.is_empty());
    assert_eq!(Data::read(&sent[0].1).expect("Data").content, [7; 1000]);
    assert_eq!(Bytes::new(served.bytes), Bytes::new(1000));
}

// ---- sockets

/// Consumer and producer at the two ends of this socket, without a forwarder between them.
#[cfg(unix)]
fn between(mut near: Face<Socket>, far: Socket, size: usize) {
    let content: Vec<u8> = (0..size).map(|i| (i / 3) as u8).collect();
    let control = Arc::new(Control::new());
    let producer = {
        let (control, mut content) = (Arc::clone(&control), content.clone());
        let serving = Serve { register: false, ..Serve::new(name("/test/file"), 3, 0) };
        std::thread::spawn(move || serve(&mut Face::new(far, 1), &serving, &mut content, &control))
    };
    let mut out = Vec::new();
    let fetched = fetch(&mut near, &wanted("cubic"), &mut out, &Control::new());
    control.stop();
    let served = producer.join().expect("it ends");
    whole(&fetched);
    assert!(out == content, "it is what was served");
    assert_eq!(fetched.damaged + fetched.traffic.malformed + served.traffic.malformed, 0);
    assert!(served.segments >= fetched.segments && served.metadata == 1);
}

#[cfg(unix)]
#[test]
fn a_file_goes_over_a_unix_socket() {
    let (near, far) = std::os::unix::net::UnixStream::pair().expect("a pair of sockets");
    let socket = |stream| Socket::of_stream(stream).expect("a socket");
    between(Face::new(socket(near), 5), socket(far), 2_000_000);
}

#[cfg(unix)]
#[test]
fn a_file_goes_over_udp_in_pieces() {
    let far = std::net::UdpSocket::bind("127.0.0.1:0").expect("a port");
    let there = far.local_addr().expect("it has one");
    let near = connect(&format!("udp://{there}").parse().expect("a place")).expect("it is bound");
    far.connect(near.local_address().expect("it has one")).expect("it is on this host");
    between(Face::new(near, 5), Socket::of_datagrams(far).expect("a socket"), 300_000);
}

#[cfg(unix)]
#[test]
fn no_forwarder_is_said_at_once() {
    for place in ["unix:///nowhere/nfd.sock", "udp://nowhere.invalid"] {
        let failure = connect(&place.parse().expect("a place")).expect_err(place);
        assert!(matches!(failure, Failure::NoForwarder { .. }) && failure.hint().is_some(), "{failure}");
        assert!(failure.to_string().contains(place), "{failure}");
    }
    // UDP hears only from the other host that nobody is there
    let closed =
        std::net::UdpSocket::bind("127.0.0.1:0").and_then(|socket| socket.local_addr()).expect("a port");
    let near = connect(&format!("udp://{closed}").parse().expect("a place")).expect("it is a place");
    let fetched = fetch(&mut Face::new(near, 5), &wanted("cubic"), &mut Nowhere, &Control::new());
    assert!(matches!(fetched.failure, Some(Failure::Broken(_))), "{:?}", fetched.failure);
}
