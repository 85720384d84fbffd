//! Sessions over a network with a simulated clock, which loses, duplicates, reorders and damages datagrams.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use contract::Random;
use driver::testing::VirtualNetwork;
use proptest::prelude::*;
use quic_net::Credentials;
use quic_net::testing::{
    Folder, addresses, bottleneck, content, limits, ms, receive_into, receive_with, send_files, send_with,
    settings,
};
use quic_net::{End, Handshake, LoggedConnection, Logs, Outcome, Scheme, Settings};
use stack::log::{Event, Log, Metrics};
use units::{Duration, Time};

/// Sends a file of this many bytes; returns the outcomes of both ends, and whether it arrived.
fn transfer(net: &VirtualNetwork, scheme: &str, bytes: usize) -> (Outcome, Outcome, bool) {
    transfer_with(net, Scheme::new(scheme), bytes)
}

fn transfer_with(net: &VirtualNetwork, scheme: Scheme, bytes: usize) -> (Outcome, Outcome, bool) {
    let folder = Folder::new(&scheme.name);
    folder.file("film.bin", &content(bytes));
    let (a, b) = addresses();
    let (sender_host, receiver_host) = (net.host(a, ms(1)), net.host(b, ms(0)));
    let credentials = Credentials::insecure([1; 32]);
    let receiver = receive_into(receiver_host, credentials.clone(), folder.path("in"));
    let client = settings(Handshake::Connect(b), credentials);
    let sender = send_with(sender_host, client, scheme, vec![folder.path("film.bin")]);
    let (sender, receiver) = (sender.join().expect("no panic"), receiver.join().expect("no panic"));
    let whole = folder.read("in/film.bin") == content(bytes);
    (sender, receiver, whole)
}

#[test]
fn every_scheme_that_quic_carries_carries_a_file() {
    let paced = ["cvihis", "tfrc", "gcc", "mca"];
    for scheme in thalweg_quic::NAMES.iter().copied().filter(|name| !paced.contains(name)).chain(paced) {
        let net = bottleneck(|in_flight| vec![in_flight.clone()]);
        let (sender, receiver, whole) = transfer(&net, scheme, 400_000);
        assert_eq!((&sender.end, &receiver.end), (&End::Complete, &End::Complete), "{scheme}");
        assert!(whole, "{scheme}");
        assert_eq!((sender.stats.sessions, receiver.stats.sessions), (1, 1), "{scheme}");
        assert_eq!(sender.stats.discarded.total() + receiver.stats.discarded.total(), 0, "{scheme}");
    }
}

/// A path carries payloads of this many bytes, and says nothing about longer ones. QUIC needs 1200 (RFC 9000 §14).
#[test]
fn a_path_that_carries_1200_bytes_carries_a_file_in_packets_that_fit() {
    for (longest, packet) in [(1200, 1228), (1200, 1428), (1300, 1328), (1300, 1329), (1300, 9000)] {
        for (scheme, paced) in [("cubic", false), ("bbr", false), ("cvihis", true), ("tfrc", true)] {
            let net = bottleneck(move |in_flight| {
                let fits = in_flight.bytes.len() <= longest;
                if fits { vec![in_flight.clone()] } else { Vec::new() }
            });
            let scheme = Scheme { packet, ..Scheme::new(scheme) };
            let about = format!("{}, {packet} over {longest}", scheme.name);
            let (sender, _, whole) = transfer_with(&net, scheme, 200_000);
            if paced && usize::from(packet) > longest + 28 {
                let End::Failed(why) = &sender.end else { panic!("{about}: {:?}", sender.end) };
                assert!(why.contains(&format!("packets of {packet} bytes: use smaller")), "{about}: {why}");
            } else {
                assert_eq!((sender.end, whole), (End::Complete, true), "{about}");
            }
        }
    }
}

/// Half of the packets of a path are lost for a while, in turn with others that arrive: that is no path that carries
/// shorter packets only.
#[test]
fn many_losses_are_not_taken_for_a_path_of_short_packets() {
    // packets that are lost in part, of which 4000 take 2.3 s at the rate of `mca`
    let cases = [
        ("mca", 2, 400),
        ("mca", 4, 400),
        ("mca", 6, 400),
        ("mca", 2, 4000),
        ("mca", 4, 4000),
        ("mca", 10, 4000),
    ];
    for (scheme, period, until) in
        cases.into_iter().chain([("cvihis", 2, 400), ("tfrc", 4, 400), ("gcc", 6, 400)])
    {
        let params =
            ["initial_rate", "min_rate", "max_rate"].map(|name| (name.to_owned(), "20 Mbit/s".into()));
        let params = if scheme == "mca" { params.to_vec() } else { Vec::new() };
        let (to, mut number) = (addresses().1, 0);
        let net = VirtualNetwork::new(move |in_flight| {
            number += u64::from(in_flight.to == to && in_flight.bytes.len() > 1200);
            let overloaded = (100..until).contains(&number) && in_flight.bytes.len() > 1200;
            let lost = overloaded && number % period < period / 2;
            if lost { Vec::new() } else { vec![in_flight.after(ms(20))] }
        });
        let (sender, _, whole) = transfer_with(
            &net,
            Scheme { params, ..Scheme::new(scheme) },
            if until > 400 { 6_000_000 } else { 1_000_000 },
        );
        assert_eq!((sender.end, whole), (End::Complete, true), "{scheme} {period} {until}");
    }
}

/// Schemes whose packets can have any length: packets are short after the losses, and soon long again.
#[test]
fn packets_are_long_again_after_many_losses() {
    for scheme in ["cubic", "reno", "bbr", "copa"] {
        let (to, mut number, lengths) = (addresses().1, 0, Arc::new(Mutex::new((0u64, 0u64))));
        let counted = Arc::clone(&lengths);
        let net = VirtualNetwork::new(move |in_flight| {
            let (here, bytes) = (in_flight.to == to, in_flight.bytes.len());
            let mut lengths = counted.lock().expect("no panic");
            lengths.0 += u64::from(here && (1000..=1200).contains(&bytes));
            lengths.1 += u64::from(here && bytes > 1200);
            number += u64::from(here && bytes > 1200);
            let lost = here && bytes > 1200 && (100..400).contains(&number) && number % 6 < 3;
            if lost { Vec::new() } else { vec![in_flight.after(ms(20))] }
        });
        let (sender, _, whole) = transfer_with(&net, Scheme::new(scheme), 6_000_000);
        assert_eq!((sender.end, whole), (End::Complete, true), "{scheme}");
        let (short, long) = *lengths.lock().expect("no panic");
        assert!(short < long / 4, "{scheme}: {short} packets of 1000 to 1200 bytes, {long} longer ones");
    }
}

/// A tenth of the datagrams is lost, a tenth duplicated, a tenth delayed, a tenth damaged.
#[test]
fn loss_duplicates_reordering_and_damage_do_not_change_what_arrives() {
    for scheme in ["cubic", "tfrc"] {
        let mut random = Random::new(3, "network", "");
        let net = bottleneck(move |in_flight| match random.below(10) {
            0 => Vec::new(),
            1 => vec![in_flight.clone(), in_flight.after(ms(3))],
            2 => vec![in_flight.after(ms(random.below(30)))],
            3 => {
                let mut damaged = in_flight.clone();
                let place = random.below(damaged.bytes.len() as u64) as usize;
                damaged.bytes[place] ^= 0x40;
                vec![damaged]
            }
            _ => vec![in_flight.clone()],
        });
        let (sender, receiver, whole) = transfer(&net, scheme, 300_000);
        assert_eq!((&sender.end, &receiver.end), (&End::Complete, &End::Complete), "{scheme}");
        assert!(whole, "{scheme}");
    }
}

/// The receiver is killed when it has a part; another takes over, and the rest is sent, not all of it.
#[test]
fn a_file_resumes_with_what_is_missing() {
    for scheme in ["cubic", "tfrc"] {
        let folder = Folder::new("resumes");
        folder.file("film.bin", &content(2_000_000));
        let (a, b) = addresses();
        let net = bottleneck(|in_flight| vec![in_flight.clone()]);
        let (sender_host, receiver_host) = (net.host(a, ms(1)), net.host(b, ms(0)).killed_after(ms(1800)));
        let again = net.host(b, ms(1900));
        let credentials = Credentials::insecure([1; 32]);
        let killed = receive_into(receiver_host, credentials.clone(), folder.path("in"));
        let receiver = receive_into(again, credentials.clone(), folder.path("in"));
        let sender = send_files(sender_host, b, credentials, scheme, vec![folder.path("film.bin")]);
        assert!(killed.join().is_err(), "it was killed");
        let (sender, receiver) = (sender.join().expect("no panic"), receiver.join().expect("no panic"));
        assert_eq!((&sender.end, &receiver.end), (&End::Complete, &End::Complete), "{scheme}");
        assert_eq!(folder.read("in/film.bin"), content(2_000_000), "{scheme}");
        assert_eq!((sender.stats.sessions, receiver.stats.sessions), (2, 1), "{scheme}");
        let left = receiver.stats.content;
        assert!(left > 100_000 && left < 1_700_000, "{scheme}: {left} bytes came to the second receiver");
    }
}

/// The address of the client changes, as behind a NAT: the connection migrates (RFC 9000 §9).
#[test]
fn a_session_continues_when_the_address_of_the_client_changes() {
    for scheme in ["cubic", "tfrc"] {
        let (a, _) = addresses();
        let outside = SocketAddr::from(([192, 0, 2, 7], 4000));
        let begin = Time::ZERO + Duration::from_secs(1000);
        let net = bottleneck(move |in_flight| {
            let mut in_flight = in_flight.clone();
            let later = in_flight.at > begin + ms(300);
            if later && in_flight.from == a {
                in_flight.from = outside;
            } else if in_flight.to == outside {
                in_flight.to = a;
            } else if later && in_flight.to == a {
                return Vec::new();
            }
            vec![in_flight]
        });
        let (sender, receiver, whole) = transfer(&net, scheme, 600_000);
        assert_eq!((&sender.end, &receiver.end), (&End::Complete, &End::Complete), "{scheme}");
        assert!(whole && sender.stats.sessions == 1, "{scheme}: {} sessions", sender.stats.sessions);
    }
}

/// The path is interrupted for longer than a silence and shorter than the patience.
#[test]
fn a_session_outlives_an_interruption() {
    for scheme in ["cubic", "tfrc"] {
        let begin = Time::ZERO + Duration::from_secs(1000);
        let net = bottleneck(move |in_flight| {
            let cut = in_flight.at > begin + ms(300) && in_flight.at < begin + ms(5300);
            if cut { Vec::new() } else { vec![in_flight.clone()] }
        });
        let (sender, receiver, whole) = transfer(&net, scheme, 600_000);
        assert_eq!((&sender.end, &receiver.end), (&End::Complete, &End::Complete), "{scheme}");
        assert!(whole, "{scheme}");
    }
}

/// Until an interruption is noticed, a sender sends at most as much as in the second before, whatever feedback its
/// scheme expects.
#[test]
fn without_acknowledgements_a_paced_sender_slows_down_within_a_few_round_trips() {
    for scheme in ["cvihis", "tfrc", "gcc", "mca"] {
        let cut = Time::ZERO + Duration::from_secs(1003);
        let end = cut + Duration::from_secs(8);
        let sent = Arc::new(Mutex::new([0, 0]));
        let counted = Arc::clone(&sent);
        let (_, b) = addresses();
        let net = bottleneck(move |in_flight| {
            let during = in_flight.at >= cut && in_flight.at < end;
            if in_flight.to == b && in_flight.at + Duration::from_secs(1) >= cut && in_flight.at < end {
                counted.lock().expect("no panic")[usize::from(during)] += 1;
            }
            if during { Vec::new() } else { vec![in_flight.clone()] }
        });
        let (sender, receiver, whole) = transfer(&net, scheme, 4_000_000);
        let [before, during] = *sent.lock().expect("no panic");
        assert_eq!((&sender.end, &receiver.end), (&End::Complete, &End::Complete), "{scheme}");
        assert!(whole && before > 0, "{scheme}");
        assert!(
            during <= before,
            "{scheme}: {before} packets in the second before, {during} in 8 s of silence"
        );
    }
}

/// The last megabytes of a file are in the sender's send buffer for longer than its patience, on a path of 0.5 Mbit/s.
/// The receiver connected to it and is not authenticated, so that its patience counts; it reports block after block.
#[test]
fn a_slow_path_does_not_exhaust_the_patience_of_a_sender() {
    let folder = Folder::new("slow");
    folder.file("film.bin", &content(1_500_000));
    let (a, b) = addresses();
    let mut free_at = Time::ZERO;
    let net = VirtualNetwork::new(move |in_flight| {
        if in_flight.to == a {
            return vec![in_flight.after(ms(10))];
        }
        let start = free_at.max(in_flight.at);
        if start.saturating_since(in_flight.at) > ms(500) {
            return Vec::new();
        }
        // 16 µs per byte
        free_at = start + Duration::from_micros(16 * (in_flight.bytes.len() as u64 + 28));
        vec![in_flight.after(free_at.saturating_since(in_flight.at) + ms(10))]
    });
    let begin = net.now();
    let (receiver_host, sender_host) = (net.host(b, ms(1)), net.host(a, ms(0)));
    let server = settings(Handshake::Listen, Credentials::insecure([1; 32]));
    let client = settings(Handshake::Connect(a), Credentials::insecure([1; 32]));
    let patience = server.limits.patience;
    let receiver = receive_with(receiver_host, client, folder.path("in"));
    let sender = send_with(sender_host, server, Scheme::new("cubic"), vec![folder.path("film.bin")]);
    let (sender, receiver) = (sender.join().expect("no panic"), receiver.join().expect("no panic"));
    let took = net.now().saturating_since(begin);
    assert_eq!((&sender.end, &receiver.end), (&End::Complete, &End::Complete), "after {took}");
    assert!(took > patience + patience, "{took}: the path is too fast for this test");
    assert_eq!(folder.read("in/film.bin"), content(1_500_000));
}

/// No answer, no client, and a peer that is killed.
#[test]
fn an_end_without_a_peer_times_out() {
    let folder = Folder::new("alone");
    folder.file("a.bin", b"a");
    let (a, b) = addresses();
    let net = VirtualNetwork::plain(ms(10));
    let begin = net.now();
    let credentials = Credentials::insecure([1; 32]);
    let sender = send_files(net.host(a, ms(0)), b, credentials.clone(), "cubic", vec![folder.path("a.bin")]);
    assert_eq!(sender.join().expect("no panic").end, End::Unanswered);
    let took = net.now().saturating_since(begin);
    assert!(took >= Duration::from_secs(10) && took < Duration::from_secs(12), "{took}");

    let net = VirtualNetwork::plain(ms(10));
    let mut server_settings = settings(Handshake::Listen, credentials.clone());
    server_settings.limits.accept_timeout = Duration::from_secs(3);
    let receiver = receive_with(net.host(b, ms(0)), server_settings, folder.path("in"));
    assert_eq!(receiver.join().expect("no panic").end, End::Unanswered);

    folder.file("film.bin", &content(2_000_000));
    for scheme in ["cubic", "tfrc"] {
        let net = bottleneck(|in_flight| vec![in_flight.clone()]);
        let receiver_host = net.host(b, ms(0)).killed_after(ms(900));
        let sender_host = net.host(a, ms(1));
        let killed = receive_into(receiver_host, credentials.clone(), folder.path("in"));
        let sender = send_files(sender_host, b, credentials.clone(), scheme, vec![folder.path("film.bin")]);
        assert!(killed.join().is_err(), "it was killed");
        assert_eq!(sender.join().expect("no panic").end, End::Silent, "{scheme}");
    }
}

/// The receiver connects to a sender that listens, as `recv ADDRESS` does.
#[test]
fn either_end_may_connect() {
    for scheme in ["reno", "cvihis"] {
        let folder = Folder::new("connects");
        folder.file("film.bin", &content(200_000));
        let (a, b) = addresses();
        let net = bottleneck(|in_flight| vec![in_flight.clone()]);
        let (sender_host, receiver_host) = (net.host(a, ms(0)), net.host(b, ms(5)));
        let credentials = Credentials::insecure([1; 32]);
        let client_settings = settings(Handshake::Connect(a), credentials.clone());
        let receiver = receive_with(receiver_host, client_settings, folder.path("in"));
        let server_settings = settings(Handshake::Listen, credentials);
        let sender =
            send_with(sender_host, server_settings, Scheme::new(scheme), vec![folder.path("film.bin")]);
        let (sender, receiver) = (sender.join().expect("no panic"), receiver.join().expect("no panic"));
        assert_eq!((&sender.end, &receiver.end), (&End::Complete, &End::Complete), "{scheme}");
        assert_eq!(folder.read("in/film.bin"), content(200_000), "{scheme}");
    }
}

#[test]
fn two_receivers_are_refused_as_a_mismatch() {
    let folder = Folder::new("mismatch");
    folder.file("a.bin", b"a");
    let (a, b) = addresses();
    let net = VirtualNetwork::plain(ms(10));
    let (sender_host, receiver_host) = (net.host(a, ms(5)), net.host(b, ms(0)));
    let credentials = Credentials::insecure([1; 32]);
    let mut server_settings = settings(Handshake::Listen, credentials.clone());
    server_settings.limits = quic_net::Limits { accept_timeout: Duration::from_secs(5), ..limits() };
    let listener = receive_with(receiver_host, server_settings, folder.path("in"));
    let client_settings = settings(Handshake::Connect(b), credentials);
    let client = receive_with(sender_host, client_settings, folder.path("in"));
    assert_eq!(client.join().expect("no panic").end, End::Refused(wire::stream::Reason::Mismatch));
    assert_eq!(listener.join().expect("no panic").end, End::Unanswered);
}

/// Sends files of these sizes in one session over a path that loses this share of datagrams, and checks that they
/// arrive.
fn send_in_a_row(scheme: &str, sizes: &[usize], lost_of_100: u64) {
    let folder = Folder::new("several");
    let name = |number: usize| format!("{number}.bin");
    for (number, size) in sizes.iter().enumerate() {
        folder.file(&name(number), &content(*size));
    }
    let (a, b) = addresses();
    let mut random = Random::new(5, "network", "");
    let net = bottleneck(
        move |in_flight| {
            if random.below(100) < lost_of_100 { Vec::new() } else { vec![in_flight.clone()] }
        },
    );
    let (sender_host, receiver_host) = (net.host(a, ms(1)), net.host(b, ms(0)));
    let credentials = Credentials::insecure([1; 32]);
    let receiver = receive_into(receiver_host, credentials.clone(), folder.path("in"));
    let paths = (0..sizes.len()).map(|number| folder.path(&name(number))).collect();
    let sender = send_files(sender_host, b, credentials, scheme, paths);
    let (sender, receiver) = (sender.join().expect("no panic"), receiver.join().expect("no panic"));
    let about = format!("{scheme}, {} files, {lost_of_100} % lost", sizes.len());
    assert_eq!((&sender.end, &receiver.end), (&End::Complete, &End::Complete), "{about}");
    for (number, size) in sizes.iter().enumerate() {
        assert!(folder.read(&format!("in/{number}.bin")) == content(*size), "{about}: the {number}th");
    }
    assert_eq!((sender.stats.sessions, receiver.stats.sessions), (1, 1), "{about}");
}

/// Several files in one session, with every scheme: more than the streams that may be open at a time, and empty ones in
/// a row.
#[test]
fn several_files_follow_one_another_on_one_connection() {
    let sizes = [50_000, 0, 120_000, 7, 0, 0, 0, 0, 0, 1, 3000, 0];
    for scheme in thalweg_quic::NAMES.iter().copied().chain(["tfrc", "cvihis"]) {
        send_in_a_row(scheme, &sizes, 0);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]
    #[test]
    fn any_list_of_files_arrives(
        sizes in prop::collection::vec(prop_oneof![Just(0), 1..2000usize, 2000..60_000usize], 1..40),
        paced: bool,
        lossy: bool,
    ) {
        let (scheme, lost_of_100) = (if paced { "tfrc" } else { "cubic" }, if lossy { 3 } else { 0 });
        send_in_a_row(scheme, &sizes, lost_of_100);
    }
}

#[test]
fn two_thousand_files_arrive() {
    let sizes: Vec<usize> = (0..2000).map(|number| number % 3).collect();
    send_in_a_row("cubic", &sizes, 0);
}

/// Connections with their events.
type Kept = Arc<Mutex<Vec<(LoggedConnection, Vec<(Time, Event)>)>>>;

/// Logs that are kept here.
fn kept() -> (Logs, Kept) {
    let kept = Kept::default();
    let to = Arc::clone(&kept);
    let logs = Logs::new(move |of| {
        let mut all = to.lock().expect("no panic");
        all.push((*of, Vec::new()));
        let (to, at) = (Arc::clone(&to), all.len() - 1);
        Log::new(move |now, event| to.lock().expect("no panic")[at].1.push((now, *event)))
    });
    (logs, kept)
}

/// The log of each end has every datagram that its host counted, in order and with its size, and the quantities of the
/// congestion controller.
#[test]
fn logs_of_a_connection_have_the_datagrams_that_the_hosts_counted() {
    for (scheme, paced) in [("cubic", false), ("cvihis", true)] {
        let folder = Folder::new("logs");
        folder.file("film.bin", &content(400_000));
        let (a, b) = addresses();
        let net = bottleneck(|in_flight| vec![in_flight.clone()]);
        let (here, there) = (net.host(a, ms(1)), net.host(b, ms(0)));
        let open = Credentials::insecure([1; 32]);
        let ends = [kept(), kept()];
        let with = |handshake, at: usize| {
            let logs = Some(ends[at].0.clone());
            Settings { logs, ..settings(handshake, open.clone()) }
        };
        let receiver = receive_with(there, with(Handshake::Listen, 1), folder.path("in"));
        let client = with(Handshake::Connect(b), 0);
        let sender = send_with(here, client, Scheme::new(scheme), vec![folder.path("film.bin")]);
        let outcomes = [sender, receiver].map(|end| end.join().expect("no panic"));
        for ((outcome, (_, kept)), to) in outcomes.iter().zip(&ends).zip([b, a]) {
            assert_eq!(outcome.end, End::Complete, "{scheme}");
            let kept = kept.lock().expect("no panic");
            let [(of, events)] = &kept[..] else { panic!("{scheme}: {} connections", kept.len()) };
            assert_eq!((of.to, of.client), (to, to == b), "{scheme}");
            let times: Vec<Time> = events.iter().map(|(at, _)| *at).collect();
            assert!(times.is_sorted() && times[0] >= of.began_at, "{scheme}");
            let sent: Vec<(u64, u64)> = events
                .iter()
                .filter_map(|(_, event)| match event {
                    Event::Sent { number, bytes } => Some((*number, bytes.as_u64())),
                    _ => None,
                })
                .collect();
            assert!(sent.iter().map(|(number, _)| *number).eq(0..sent.len() as u64), "{scheme}");
            // with headers of IPv4 and UDP
            let (count, bytes) = (outcome.stats.sent.datagrams, outcome.stats.sent.bytes);
            let total: u64 = sent.iter().map(|(_, bytes)| bytes).sum();
            assert_eq!((sent.len() as u64, total), (count, bytes + 28 * count), "{scheme}");
            let received = events.iter().filter(|(_, event)| matches!(event, Event::Received { .. }));
            let counted = outcome.stats.received.datagrams - outcome.stats.discarded.strangers;
            assert_eq!(received.count() as u64, counted, "{scheme}");
        }
        let sender = ends[0].1.lock().expect("no panic");
        let metrics: Vec<Metrics> = sender[0]
            .1
            .iter()
            .filter_map(|(_, event)| if let Event::Metrics(metrics) = event { Some(*metrics) } else { None })
            .collect();
        // a window or a rate, not both
        assert_eq!(
            metrics.iter().filter(|metrics| metrics.window.is_some()).count() > 50,
            !paced,
            "{scheme}"
        );
        assert_eq!(metrics.iter().filter(|metrics| metrics.rate.is_some()).count() > 10, paced, "{scheme}");
        let states = sender[0].1.iter().filter(|(_, event)| matches!(event, Event::State { .. })).count();
        assert_eq!(states > 0, !paced, "{scheme}");
        // 10 ms each way, and the time that a small packet takes
        let rtt = metrics.iter().filter_map(|metrics| metrics.rtt_min).min().expect("it is measured");
        assert!(rtt > ms(20) && rtt < ms(23), "{scheme}: {rtt}");
    }
}

/// Losses at random: 20 to 79 % of 2900 packets, round trips of 5 to 154 ms.
#[test]
fn random_losses_are_not_taken_for_a_path_of_short_packets() {
    for seed in 0..20u64 {
        let mut random = Random::new(seed, "loss", "");
        let (percent, rtt) = (20 + random.below(60), 5 + random.below(150));
        let params =
            ["initial_rate", "min_rate", "max_rate"].map(|name| (name.to_owned(), "20 Mbit/s".into()));
        let (to, mut number) = (addresses().1, 0);
        let net = VirtualNetwork::new(move |in_flight| {
            let long = in_flight.to == to && in_flight.bytes.len() > 1200;
            number += u64::from(long);
            let lost = long && (100..3000).contains(&number) && random.below(100) < percent;
            if lost { Vec::new() } else { vec![in_flight.after(ms(rtt / 2))] }
        });
        let scheme = Scheme { params: params.to_vec(), ..Scheme::new("mca") };
        let (sender, _, whole) = transfer_with(&net, scheme, 2_000_000);
        assert_eq!((sender.end, whole), (End::Complete, true), "{percent} %, {rtt} ms");
    }
}
