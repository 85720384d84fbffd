//! A group over real sockets: files of `thalweg send` to receivers on the loopback interface.

use std::net::{Ipv4Addr, SocketAddr};
use std::thread;

use driver::{Interface, Multicast, Udp};
use quic_net::group::{self, Group};
use quic_net::testing::{self, Folder, content, load, receive_with};
use quic_net::{Control, Credentials, End, Handshake, Scheme, Settings};
use transfer::Outgoing;
use units::Duration;

/// A socket whose groups are on the loopback interface.
fn socket() -> Udp {
    let mut socket =
        Udp::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).expect("there is a loopback device");
    let interface = Interface::Address(Ipv4Addr::LOCALHOST);
    socket.set_multicast(&Multicast { interface, ..Multicast::default() }).expect("it has groups");
    socket
}

fn settings(handshake: Handshake) -> Settings {
    let mut settings = testing::settings(handshake, Credentials::shared(b"of the tests").expect("a key"));
    settings.limits.patience = Duration::from_secs(20);
    settings
}

#[test]
fn a_file_is_sent_once_and_arrives_at_every_receiver() {
    let folder = Folder::new("group");
    let bytes = content(1_500_000);
    folder.file("film.bin", &bytes);

    let mut sender_socket = socket();
    let to = sender_socket.address().expect("it is bound");
    let group = Group { address: SocketAddr::from(([239, 255, 77, 1], to.port())), max: 8 };
    // at a rate that the socket buffers of a busy host take
    let params = ["initial_rate", "min_rate", "max_rate"].map(|name| (name.to_owned(), "8 Mbit/s".into()));
    let scheme = Scheme { params: params.to_vec(), ..Scheme::new("mca") };
    let (outgoing, about) = load(&folder.path("film.bin"), &scheme, None, 3);
    let Outgoing::Paced(payload) = outgoing else { panic!("it is paced") };
    let sending = thread::spawn(move || {
        let server_settings = settings(Handshake::Listen);
        group::send(&server_settings, &group, &scheme, payload, about, &mut sender_socket, &Control::new())
    });
    let into = |n: usize| folder.path(&format!("in/{n}"));
    let receiving: Vec<_> = (0..3)
        .map(|n| {
            std::fs::create_dir_all(into(n)).expect("a folder for a test");
            receive_with(socket(), settings(Handshake::Connect(to)), into(n))
        })
        .collect();
    let received: Vec<_> =
        receiving.into_iter().map(|thread| thread.join().expect("no thread panics")).collect();
    let (outcome, left) = sending.join().expect("no thread panics");
    assert_eq!(outcome.end, End::Complete);
    assert_eq!(left.iter().filter(|left| left.end == End::Complete).count(), 3, "{left:?}");
    for (n, outcome) in received.iter().enumerate() {
        assert_eq!(outcome.end, End::Complete);
        assert_eq!(folder.read(&format!("in/{n}/film.bin")), bytes);
        assert!(outcome.stats.packets > 0);
    }
    assert!(outcome.stats.content < 3 * bytes.len() as u64, "all got the same packets");
}
