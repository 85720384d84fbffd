//! Our forwarder as a process over real sockets of this computer.

#![cfg(unix)]

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::os::unix::net::UnixStream;
use std::sync::atomic::Ordering;

use contract::{NameId, Setup};
use driver::Clock;
use ndn_net::forwarder::{
    App, Control, ForwarderPlatform, Frames, Inbox, LinkSettings, Listen, Node, RouteSettings, Settings,
    Sockets, Strays, TestbedLink, TestbedNode, drive, run_testbed,
};
use ndn_net::{Face, FaceUri, Fetch, Serve, connect, fetch, serve};
use stack::ndn::{ConsumerConfig, Tally};
use units::{Bytes, Duration, Rate, Time};
use wire::ndn::Name;

fn name(text: &str) -> Name {
    text.parse().expect("a name")
}

fn socket_path(what: &str) -> std::path::PathBuf {
    std::env::temp_dir().join(format!("thalweg-{}-{what}.sock", std::process::id()))
}

/// A file is transferred from a producer to a consumer, each at its own forwarder, with UDP between the two.
#[test]
fn a_file_goes_through_two_forwarders() {
    let clock = Clock::start();
    let open = |what: &str| {
        let udp = Some(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)));
        let listen = Listen { udp, unix: Some(socket_path(what)), programs: 4, ..Listen::default() };
        Sockets::open_with(&listen, clock).expect("sockets can be opened")
    };
    let (near, far) = (open("near"), open("far"));
    let node = |other: &Sockets, routes| {
        let wire =
            LinkSettings { name: "wire".to_owned(), to: other.udp_address(), ..LinkSettings::default() };
        Node::new(Settings { links: vec![wire], routes, ..Settings::default() })
            .expect("the settings are right")
    };
    let route = RouteSettings { prefix: name("/file"), link: 0, cost: 1 };
    let (here, there) = (node(&far, vec![route]), node(&near, Vec::new()));
    let nodes = [(here, near), (there, far)];
    let content: Vec<u8> = (0..300_000u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    let control = Control::default();
    let (producing, fetching) = (ndn_net::Control::new(), ndn_net::Control::new());
    let until = Time::ZERO + Duration::from_secs(60);
    std::thread::scope(|scope| {
        let run = |(mut node, mut sockets): (Node, Sockets)| {
            let control = &control;
            scope.spawn(move || {
                drive(&mut node, &mut sockets, control, until);
                node.stats()
            })
        };
        let forwarders: Vec<_> = nodes.into_iter().map(run).collect();
        let (mut served, producing) = (content.clone(), &producing);
        let producer = scope.spawn(move || {
            let socket = connect(&FaceUri::Unix(socket_path("far"))).expect("the forwarder is there");
            serve(&mut Face::new(socket, 1), &Serve::new(name("/file"), 7, 1_000_000), &mut served, producing)
        });
        while !producing.ready.load(Ordering::Relaxed) && clock.now() < Time::ZERO + Duration::from_secs(20) {
            std::thread::sleep(std::time::Duration::from_millis(2));
        }
        let socket = connect(&FaceUri::Unix(socket_path("near"))).expect("the forwarder is there");
        let mut out = Vec::new();
        let wanted = Fetch::new(name("/file"), "cubic");
        let fetched = fetch(&mut Face::new(socket, 2), &wanted, &mut out, &fetching);
        producing.stop();
        let producer = producer.join().expect("the producer ends");
        control.stop();
        let stats: Vec<_> = forwarders.into_iter().map(|thread| thread.join().expect("it ends")).collect();
        assert!(fetched.failure.is_none(), "{:?}", fetched.failure);
        assert!(out == content, "{} of {} bytes", out.len(), content.len());
        assert!(producer.failure.is_none(), "{:?}", producer.failure);
        // it registered, and may have had time to withdraw that
        assert!((1..=2).contains(&stats[1].strays.commands), "{:?}", stats[1].strays);
        assert_eq!(stats[1].strays.refused_commands, 0);
        for stats in &stats {
            assert!(stats.machine.count(Tally::DataOut) >= fetched.segments);
            assert_eq!(stats.ports.iter().map(|port| port.counts.malformed).sum::<u64>(), 0);
        }
    });
    assert!(!socket_path("near").exists() && !socket_path("far").exists(), "the sockets are removed");
}

/// Three hosts in a row with MIRCC: the rate of Interests is the rate of the slower link.
#[test]
fn a_consumer_in_the_process_asks_through_a_router() {
    let entry = schemes::find("mircc").expect("it is in the catalogue");
    let schemes::Build::Control(make) = entry.build else { panic!("it has a controller") };
    let setup = Setup { segment: Bytes::new(1250), header: Bytes::ZERO, initial_window: Bytes::UNLIMITED };
    let controller = make(&[], &setup).expect("defaults are right");
    let payload = 1100;
    let config = ConsumerConfig {
        data: Bytes::new(1250),
        ..ConsumerConfig::new(NameId(0), Bytes::new(payload), Rate::ZERO)
    };
    let span = (Time::ZERO + Duration::from_millis(100), Time::ZERO + Duration::from_millis(1100));
    let consumer = App::consumer(name("/p"), config, controller, Rate::from_mbps(4), span, 1);
    let host = |host: &str, routes, apps| TestbedNode {
        name: host.to_owned(),
        settings: Settings { link: Some("mircc".to_owned()), ..Settings::default() },
        routes,
        apps,
    };
    let hosts = vec![
        host("consumer", vec![(name("/p"), 1)], vec![consumer]),
        host("router", vec![(name("/p"), 2)], Vec::new()),
        host("producer", Vec::new(), vec![App::producer(name("/p"), payload as usize)]),
    ];
    let wire = |ends, mbps| {
        let rate = Rate::from_mbps(mbps);
        let delay = Duration::from_millis(5);
        TestbedLink { ends, settings: LinkSettings { rate, rate_in: rate, delay, ..LinkSettings::default() } }
    };
    let wires = [wire((0, 1), 4), wire((1, 2), 2)];
    let done = run_testbed(hosts, &wires, Duration::from_millis(1400), &Control::default()).expect("it runs");
    let app = &done[0].node.apps()[0];
    let (generated, received) = (app.generated().len(), app.received().len());
    // at most 400 Data per second, the rate of its own link; at least a few, under any load of the computer
    assert!((20..=410).contains(&generated), "{generated}");
    assert!(received > 10 && received <= generated, "{received} of {generated}");
    let router = done[1].node.stats();
    assert!(router.machine.count(Tally::DataOut) >= received as u64);
    assert_eq!(router.strays, Strays::default());
}

/// A program requests and does not read: frames beyond the system's buffer wait in a visible queue until they are read.
#[test]
fn what_waits_for_a_program_is_known_beyond_what_the_system_was_told_to_hold() {
    let path = socket_path("waits");
    let listen = Listen { unix: Some(path.clone()), programs: 1, held: Some(65_536), ..Listen::default() };
    let mut sockets = Sockets::open(&listen).expect("the socket can be opened");
    let mut program = UnixStream::connect(&path).expect("the forwarder is there");
    let frame = App::data_of(&name("/a"), 1, 8000);
    program.write_all(&frame).expect("it is taken");
    let mut inbox = Inbox::default();
    sockets.receive(&mut inbox);
    let (place, came) = inbox.frames().next().expect("it came");
    assert_eq!(came, frame);
    assert_eq!(sockets.waiting(place), 0);
    // the first frames fit into the system's buffer
    assert!(sockets.send(place, &frame));
    assert_eq!(sockets.waiting(place), 0);
    let mut sent = 1;
    while sockets.waiting(place) == 0 {
        assert!(sockets.send(place, &frame));
        sent += 1;
        assert!(sent <= 16, "the system holds no more than it was told");
    }
    assert!(sockets.waiting(place) > 65_536, "{}", sockets.waiting(place));
    let before = sockets.waiting(place);
    assert!(sockets.send(place, &frame));
    assert_eq!(sockets.waiting(place), before + frame.len() as u64);
    // the program reads all of them, and the forwarder passes on the rest
    let mut left = (sent + 1) * frame.len();
    program.set_read_timeout(Some(std::time::Duration::from_secs(20))).expect("it can be set");
    let mut room = [0; 4096];
    while left > 0 {
        let min = left.min(room.len());
        left -= program.read(&mut room[..min]).expect("there is more");
        sockets.receive(&mut Inbox::default());
    }
    assert_eq!(sockets.waiting(place), 0);
}
