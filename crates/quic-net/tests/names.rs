//! Names of files and folders, of any length and in any script, from a sender's folder to a receiver's.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread;

use proptest::collection::vec;
use proptest::prelude::*;
use quic_net::frames::Record;
use quic_net::testing::{Folder, load, pair, settings};
use quic_net::{Control, Credentials, End, Handshake, Object, Proposal, Scheme, objects, receive, send};
use transfer::{Destination, FolderFiles, Kind, Layout, Manifest, Placed, Tally, check_name, keep};
use units::Duration;
use wire::stream::{Offer, Transport};

/// Names that some file systems take for one.
const TWINS: [&str; 8] = ["README", "readme", "é", "e\u{301}", "ÅNGSTRÖM", "ångström", "ﬁle", "file"];

/// Names with long common beginnings, of letters of several bytes, that differ in case or in the form of a letter only,
/// and whatever can be typed.
fn names() -> impl Strategy<Value = String> {
    prop_oneof![
        (0usize..300, "[a-c]{0,3}").prop_map(|(length, end)| format!("{}{end}", "p".repeat(length))),
        (100usize..130, "[xy]").prop_map(|(length, end)| format!("{}{end}", "ö".repeat(length))),
        "[ö数😀e\u{301}]{1,90}",
        prop::sample::select(&TWINS[..]).prop_map(str::to_owned),
        "[ -.0-~]{1,20}",
        "\\PC{1,20}",
    ]
}

/// The files below a folder with their contents.
fn files(of: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![of.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("it is there") {
            let path = entry.expect("it can be listed").path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(of).expect("it is in it").to_str().expect("it is UTF-8");
                found.insert(name.to_owned(), fs::read(&path).expect("it can be read"));
            }
        }
    }
    found
}

/// Sends the folder `out` into the folder `in`; returns how many entries the sender and the receiver know not to be
/// sent.
fn transfer(folder: &Folder, scheme: &str) -> (usize, usize) {
    let (mut sender_socket, mut receiver_socket, to) = pair();
    let credentials = Credentials::insecure([1; 32]);
    let omitted = Arc::new(Mutex::new(0));
    let receiver = {
        let (credentials, into, omitted) = (credentials.clone(), folder.path("in"), Arc::clone(&omitted));
        thread::spawn(move || {
            let settings = settings(Handshake::Listen, credentials);
            let (tally, mut placed) = (Arc::new(Tally::default()), Placed::default());
            let mut accept = |proposal: &Proposal| {
                *omitted.lock().expect("no panic") = proposal.omitted as usize;
                let name = transfer::offered(&proposal.offer).expect("a file").name;
                let path =
                    placed.enter(&into, &proposal.folders, &name).map_err(|error| error.to_string())?;
                let into = Destination::Folder { path, name: None, replace: true, me: None };
                keep(&proposal.offer, into, settings.limits.window, &tally)
            };
            receive(&settings, &mut accept, &mut receiver_socket, &Control::new())
        })
    };
    let scheme = Scheme::new(scheme);
    let listed = FolderFiles::list(&folder.path("out"), "out").expect("it has a file");
    let count = listed.files.len();
    let all = listed.files.into_iter().enumerate().map(|(at, file)| {
        let (outgoing, about) = load(&file.path, &scheme, None, 1);
        let omitted = listed.skipped.len() as u32;
        Object { folders: file.folders, outgoing, about, more: at + 1 < count, omitted }
    });
    let client_settings = settings(Handshake::Connect(to), credentials);
    let sent = send(&client_settings, &scheme, objects(all.collect()), &mut sender_socket, &Control::new());
    assert_eq!((sent.end, receiver.join().expect("no panic").end), (End::Complete, End::Complete));
    let omitted = *omitted.lock().expect("no panic");
    (listed.skipped.len(), omitted)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    /// A file arrives under its own name, or both ends know that it was not sent.
    #[test]
    fn no_name_is_shortened_or_merged(paths in vec(vec(names(), 1..4), 1..25), paced: bool) {
        let folder = Folder::new("names");
        let top = folder.path("out");
        fs::create_dir_all(&top).expect("a folder for a test");
        fs::write(top.join("first"), "first").expect("a file for a test");
        for (number, path) in paths.iter().enumerate() {
            let path = path.iter().fold(top.clone(), |path, name| path.join(name));
            // this file system may not take the name
            let within = path.starts_with(&top) && !path.components().any(|part| part.as_os_str() == "..");
            if within && path.parent().is_some_and(|folder| fs::create_dir_all(folder).is_ok()) {
                let _ = fs::write(&path, number.to_string());
            }
        }
        let (skipped, omitted) = transfer(&folder, if paced { "tfrc" } else { "cubic" });
        prop_assert_eq!(skipped, omitted);
        let (sent, mut arrived) = (files(&top), files(&folder.path("in/out")));
        for (name, content) in sent {
            if name.split('/').all(|part| check_name(part).is_ok()) {
                prop_assert_eq!(arrived.remove(&name), Some(content), "{}", name);
            } else {
                prop_assert!(omitted > 0, "{}", name);
            }
        }
        prop_assert_eq!(arrived, BTreeMap::new());
    }

    /// Of folders and files alike; groups and single files use the same records.
    #[test]
    fn a_valid_name_is_read_as_it_was_written(name in names(), folders in vec(names(), 0..32)) {
        prop_assume!([&name].into_iter().chain(&folders).all(|name| check_name(name).is_ok()));
        let manifest = Manifest {
            kind: Kind::File,
            id: 1,
            name,
            layout: Layout::of_file(1, 1000),
            hash: Some([1; 32]),
            report_every: Duration::from_millis(50),
        };
        let mut about = Vec::new();
        manifest.write(&mut about);
        let (scheme, transport) = ("cubic".to_owned(), Transport::Windowed);
        let offer = Offer { scheme, params: vec![], transport, packet: 1400, ecn: true, size: None, about };
        let record = Record::Offer { object: 0, more: false, omitted: 0, folders, offer: offer.clone() };
        let mut bytes = Vec::new();
        record.write(&mut bytes);
        prop_assert_eq!(Record::read(&bytes), Ok(Some((record, bytes.len()))));
        prop_assert_eq!(transfer::offered(&offer), Some(manifest));
    }
}
