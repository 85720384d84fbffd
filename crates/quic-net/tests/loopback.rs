//! Sessions over loopback sockets.

use std::sync::Arc;

use quic_net::testing::{Folder, content, object, pair, receive_into, receive_with, send_files, settings};
use quic_net::{Control, Credentials, End, Handshake, Identity, Object, Scheme, check, objects, send};
use transfer::{Receivers, Source, Tally, Task};

#[test]
fn a_file_arrives_and_both_ends_report_completion() {
    let folder = Folder::new("file");
    folder.file("film.bin", &content(3_000_000));
    let (sender_socket, receiver_socket, to) = pair();
    let credentials = Credentials::insecure([1; 32]);
    let receiver = receive_into(receiver_socket, credentials.clone(), folder.path("in"));
    let sender = send_files(sender_socket, to, credentials, "cubic", vec![folder.path("film.bin")]);
    let (sender, receiver) = (sender.join().expect("no panic"), receiver.join().expect("no panic"));
    assert_eq!((&sender.end, &receiver.end), (&End::Complete, &End::Complete));
    assert_eq!(folder.read("in/film.bin"), content(3_000_000));
    assert_eq!((sender.stats.sessions, receiver.stats.sessions), (1, 1));
}

#[test]
fn several_files_arrive_with_the_credentials_of_a_shared_key() {
    let folder = Folder::new("files");
    let sizes = [0, 1, 70_000, 2_000_000];
    let files: Vec<_> = sizes.iter().map(|size| format!("{size}.bin")).collect();
    files.iter().zip(sizes).for_each(|(name, size)| folder.file(name, &content(size)));
    let (sender_socket, receiver_socket, to) = pair();
    let credentials = Credentials::shared(b"of the tests").expect("a key");
    let receiver = receive_into(receiver_socket, credentials.clone(), folder.path("in"));
    let paths = files.iter().map(|name| folder.path(name)).collect();
    let sender = send_files(sender_socket, to, credentials, "reno", paths);
    let (sender, receiver) = (sender.join().expect("no panic"), receiver.join().expect("no panic"));
    assert_eq!((&sender.end, &receiver.end), (&End::Complete, &End::Complete));
    for (name, size) in files.iter().zip(sizes) {
        assert_eq!(folder.read(&format!("in/{name}")), content(size), "{name}");
    }
}

/// The message of a client if the server is not the expected one, and if the server does not accept the client.
#[test]
fn a_wrong_fingerprint_is_reported_with_the_expected_one() {
    let ends = [Identity::from_seed([1; 32]), Identity::from_seed([2; 32])];
    let stranger = Identity::from_seed([3; 32]);
    for wrong_at_sender in [true, false] {
        let folder = Folder::new("fingerprint");
        folder.file("a.bin", b"a");
        let (sender_socket, receiver_socket, to) = pair();
        let expected = |right: &Identity, wrong: bool| {
            vec![if wrong { stranger.fingerprint() } else { right.fingerprint() }]
        };
        let sends = Credentials::pinned(ends[0].clone(), expected(&ends[1], wrong_at_sender));
        let receives = Credentials::pinned(ends[1].clone(), expected(&ends[0], !wrong_at_sender));
        let mut server_settings = settings(Handshake::Listen, receives);
        server_settings.limits.accept_timeout = units::Duration::from_secs(2);
        let receiver = receive_with(receiver_socket, server_settings, folder.path("in"));
        let sender = send_files(sender_socket, to, sends, "cubic", vec![folder.path("a.bin")]);
        let End::Failed(message) = sender.join().expect("no panic").end else {
            panic!("it was not accepted")
        };
        if wrong_at_sender {
            let both = [stranger.fingerprint(), ends[1].fingerprint()].map(|one| one.to_string());
            assert!(both.iter().all(|one| message.contains(one)), "{message}");
        } else {
            assert!(message.contains(&ends[0].fingerprint().to_string()), "{message}");
        }
        let receiver = receiver.join().expect("no panic");
        assert_eq!((receiver.end, receiver.stats.sessions), (End::Unanswered, 0));
        assert!(receiver.stats.discarded.forged > 0);
    }
}

#[test]
fn an_end_without_the_shared_key_is_not_served() {
    let folder = Folder::new("key");
    folder.file("a.bin", b"a");
    let (sender_socket, receiver_socket, to) = pair();
    let mut server_settings = settings(Handshake::Listen, Credentials::shared(b"one").expect("a key"));
    server_settings.limits.accept_timeout = units::Duration::from_secs(2);
    let receiver = receive_with(receiver_socket, server_settings, folder.path("in"));
    let other = Credentials::shared(b"another").expect("a key");
    let sender = send_files(sender_socket, to, other, "cubic", vec![folder.path("a.bin")]);
    let End::Failed(message) = sender.join().expect("no panic").end else { panic!("it has another key") };
    assert!(message.contains("pre-shared key"), "{message}");
    assert_eq!(receiver.join().expect("no panic").end, End::Unanswered);
}

#[test]
fn a_file_with_folders_above_it_arrives_in_them_and_no_other_names_are_taken() {
    for (folders, fits) in
        [(vec!["photos", "2026"], true), (vec![".."], false), (vec!["a/b"], false), (vec![""], false)]
    {
        let folder = Folder::new("folders");
        folder.file("a.bin", &content(5000));
        let (mut sender_socket, receiver_socket, to) = pair();
        let credentials = Credentials::insecure([1; 32]);
        let mut server_settings = settings(Handshake::Listen, credentials.clone());
        server_settings.limits.accept_timeout = units::Duration::from_secs(2);
        let receiver = receive_with(receiver_socket, server_settings, folder.path("in"));
        let scheme = Scheme::new("cubic");
        let mut object = object(&folder.path("a.bin"), &scheme, false);
        object.folders = folders.iter().map(|name| (*name).to_owned()).collect();
        let client_settings = settings(Handshake::Connect(to), credentials);
        let sender =
            send(&client_settings, &scheme, objects(vec![object]), &mut sender_socket, &Control::new());
        receiver.join().expect("no panic");
        assert_eq!(sender.end == End::Complete, fits, "{folders:?}: {:?}", sender.end);
        assert_eq!(folder.read("in/photos/2026/a.bin").len(), if fits { 5000 } else { 0 });
    }
}

/// The first piece of a live stream is sent together with the record of its first packet number.
#[test]
fn the_first_piece_of_a_live_stream_arrives() {
    let folder = Folder::new("live");
    let (mut sender_socket, receiver_socket, to) = pair();
    let credentials = Credentials::insecure([1; 32]);
    let receiver = receive_into(receiver_socket, credentials.clone(), folder.path("in"));
    let scheme = Scheme::new("cvihis");
    let task = Task {
        from: Source::Pipe(Box::new(&b"one piece"[..])),
        name: "live".to_owned(),
        deadline: Some(units::Duration::from_secs(30)),
        rate: None,
        packet: scheme.packet,
        proof: 0,
        transport: check(&scheme).expect("it is a scheme of QUIC"),
        id: 1,
        receivers: Receivers { min: 1 },
    };
    let loaded = task.load(&Arc::new(Tally::default()), &|| true).expect("there is no file to open");
    let (outgoing, about) = loaded.expect("it was not stopped");
    let object = Object { folders: Vec::new(), outgoing, about, more: false, omitted: 0 };
    let client_settings = settings(Handshake::Connect(to), credentials);
    let sender = send(&client_settings, &scheme, objects(vec![object]), &mut sender_socket, &Control::new());
    assert_eq!((sender.end, receiver.join().expect("no panic").end), (End::Complete, End::Complete));
    assert_eq!(folder.read("in/live"), b"one piece");
}
