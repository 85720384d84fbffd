//! A group over real sockets: files of `thalweg send` to receivers on the loopback interface.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;

use driver::{Interface, Multicast, Udp};
use multicast::Group;
use quic_net::{Control, Credentials, End, Handshake, Limits, Proposal, Scheme, Settings};
use transfer::{Destination, Outgoing, Receivers, Source, Tally, Task, keep};
use units::Duration;
use wire::stream::Transport;

/// A socket whose groups are on the loopback interface.
fn socket() -> Udp {
    let mut socket =
        Udp::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).expect("there is a loopback device");
    let interface = Interface::Address(Ipv4Addr::LOCALHOST);
    socket.set_multicast(&Multicast { interface, ..Multicast::default() }).expect("it has groups");
    socket
}

fn settings(handshake: Handshake) -> Settings {
    let patience = Duration::from_secs(20);
    let limits = Limits { patience, waits: patience, ..Limits::default() };
    let credentials = Credentials::shared(b"of the tests").expect("a key");
    Settings { handshake, credentials, limits, client_secret: None }
}

#[test]
fn a_file_is_sent_once_and_arrives_at_every_receiver() {
    let folder = std::env::temp_dir().join(format!("thalweg-multicast-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder for a test");
    let content: Vec<u8> = (0..1_500_000u64).map(|at| (at.wrapping_mul(0x9e37_79b9) >> 13) as u8).collect();
    let path = folder.join("film.bin");
    std::fs::write(&path, &content).expect("a file for a test");

    let mut sender_socket = socket();
    let to = sender_socket.address().expect("it is bound");
    let port = to.port();
    let group = Group { address: SocketAddr::from(([239, 255, 77, 1], port)), max: 8 };
    // at a rate that the socket buffers of a busy host take
    let params = ["initial_rate", "min_rate", "max_rate"].map(|name| (name.to_owned(), "8 Mbit/s".into()));
    let scheme = Scheme { params: params.to_vec(), ..Scheme::new("mca") };
    let task = Task {
        from: Source::File(path),
        name: "film.bin".to_owned(),
        deadline: None,
        rate: None,
        packet: scheme.packet,
        transport: Transport::Paced,
        id: 1,
        receivers: Receivers { min: 3 },
    };
    let (outgoing, about) = task
        .load(&Arc::new(Tally::default()), &|| true)
        .expect("the file is there")
        .expect("it was not stopped");
    let Outgoing::Paced(payload) = outgoing else { panic!("it is paced") };
    let sending = thread::spawn(move || {
        let server_settings = settings(Handshake::Listen);
        multicast::send(
            &server_settings,
            &group,
            &scheme,
            payload,
            about,
            &mut sender_socket,
            &Control::new(),
        )
    });
    let receiving: Vec<_> = (0..3)
        .map(|n| {
            let into: PathBuf = folder.join(n.to_string());
            std::fs::create_dir_all(&into).expect("a folder for a test");
            thread::spawn(move || {
                let tally = Arc::new(Tally::default());
                let mut accept = |proposal: &Proposal| {
                    let into =
                        Destination::Folder { path: into.clone(), name: None, replace: false, me: None };
                    keep(&proposal.offer, into, 1 << 20, &tally)
                };
                let client_settings = settings(Handshake::Connect(to));
                quic_net::receive(&client_settings, &mut accept, &mut socket(), &Control::new())
            })
        })
        .collect();
    let received: Vec<_> =
        receiving.into_iter().map(|thread| thread.join().expect("no thread panics")).collect();
    let (outcome, left) = sending.join().expect("no thread panics");
    assert_eq!(outcome.end, End::Complete);
    assert_eq!(left.iter().filter(|left| left.end == End::Complete).count(), 3, "{left:?}");
    for (n, outcome) in received.iter().enumerate() {
        assert_eq!(outcome.end, End::Complete);
        assert_eq!(std::fs::read(folder.join(n.to_string()).join("film.bin")).expect("it is there"), content);
        assert!(outcome.stats.packets > 0);
    }
    assert!(outcome.stats.content < 3 * content.len() as u64, "all got the same packets");
    std::fs::remove_dir_all(&folder).expect("it is ours");
}
