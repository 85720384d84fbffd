//! Transfers between namespaces, by our own programs. They need the right to make network namespaces: without it each says so and does
//! nothing. All traffic stays in namespaces that the tests make, and ends with them.
#![cfg(target_os = "linux")]

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use emulate::Settings;
use live::transfer::{Collector, FileStore, Fountain, Into, Receivers, Tally};
use live::{Control, End, Group, Limits, Meet, Multicast, Scheme, Secret, Store, Udp};

/// Whether it can be tried here; if not, that is said.
fn possible(test: &str) -> bool {
    match emulate::permitted() {
        Ok(()) => true,
        Err(error) => {
            eprintln!("skipped: {test}: {error}");
            false
        }
    }
}

/// Bytes that look like chance, the same each time.
fn content(length: usize) -> Vec<u8> {
    let mut state = 1u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as u8
    };
    (0..length).map(|_| next()).collect()
}

fn said(name: &str) -> String {
    std::env::var(name).expect("the test says it")
}

fn settings(meet: Meet) -> live::Settings {
    let limits = Limits { patience: units::Duration::from_secs(20), ..Limits::default() };
    live::Settings { meet, secret: Secret::new("between namespaces"), limits }
}

/// For [`a_file_for_twenty_arrives_whole_on_all`]: sends a file to a group, or takes it.
#[test]
#[ignore = "runs inside an emulation"]
fn a_program_of_a_transfer() {
    let (folder, group) = (
        PathBuf::from(said("FOLDER")),
        SocketAddr::new(said("GROUP").parse().unwrap(), said("PORT").parse().unwrap()),
    );
    let sender = SocketAddr::new(said("SENDER").parse().unwrap(), group.port());
    let tally = Arc::new(Tally::default());
    if said("ROLE") == "sender" {
        let mut udp = Udp::bind(sender).unwrap();
        udp.set_multicast(&Multicast::default()).unwrap();
        let scheme = Scheme { packet: 1000, ..Scheme::new(&said("SCHEME")) };
        let room = 1000 - wire::UDP_HEADERS - wire::stream::DATA;
        let symbol = Fountain::symbol_bytes(room).unwrap();
        let opened = FileStore::open(&folder.join("file"), "file", symbol, &tally, &|| true).unwrap();
        let (store, manifest) = opened.unwrap();
        let least = said("RECEIVERS").parse().unwrap();
        let fountain = Fountain::new(manifest, Box::new(store), Receivers { least }, tally);
        let to = Group { address: group, most: 64 };
        let (outcome, left) = live::send_to_group(
            &settings(Meet::Listen),
            &to,
            &scheme,
            Box::new(fountain),
            Vec::new(),
            &mut udp,
            &Control::new(),
        );
        assert_eq!((&outcome.end, left.len()), (&End::Complete, least), "{:?}", outcome.stats);
        fs::write(folder.join("sent"), format!("{} packets", outcome.stats.packets)).unwrap();
        return;
    }
    let own = folder.join(said("HERE"));
    fs::create_dir_all(&own).unwrap();
    let mut udp = Udp::for_calling(sender).unwrap();
    let into = own.clone();
    let mut accept = move |_: &wire::stream::Offer| {
        let into = Into::Folder { path: into.clone(), name: None, replace: false };
        Ok(Store::Paced(Box::new(Collector::new(into, tally.clone()))))
    };
    let outcome = live::receive(&settings(Meet::Call(sender)), &mut accept, &mut udp, &Control::new());
    let word = format!("{:?} after {} packets", outcome.end, outcome.stats.packets);
    fs::write(own.join("done"), word).unwrap();
}

/// How far everybody is: receivers that are done.
fn done(folder: &Path) -> usize {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter(|entry| entry.path().join("done").exists()).count()
}

/// Over ways with losses of their own: 20 namespaces, and one for the sender.
#[test]
fn a_file_for_twenty_arrives_whole_on_all() {
    let test = "a file for twenty";
    if !possible(test) {
        return;
    }
    const RECEIVERS: usize = 20;
    let folder = std::env::temp_dir().join(format!("thalweg-transfer-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let sent = content(1_000_000);
    fs::write(folder.join("file"), &sent).unwrap();
    let command = |role: &str| {
        format!(
            "ROLE={role} SCHEME=mca RECEIVERS={RECEIVERS} FOLDER={} GROUP={{to}} PORT={{port}} SENDER={{from}} HERE={{here}} \
             exec {} --exact a_program_of_a_transfer --ignored --nocapture",
            folder.display(),
            std::env::current_exe().unwrap().display(),
        )
    };
    let edges: String = (1..=RECEIVERS)
        .map(|n| {
            format!(
                "  {{ name = \"e{n}\", ends = [\"r\", \"m{n}\"], rate = \"10 Mbit/s\", delay = \"2 ms\", buffer = \"50 packets\", loss = 0.005 }},\n"
            )
        })
        .collect();
    let text = format!(
        r#"
duration = "60 s"

[topology]
kind = "custom"
links = [
  {{ name = "core", ends = ["source", "r"], rate = "10 Mbit/s", delay = "5 ms", buffer = "50 packets" }},
{edges}]

[[flows]]
name = "file"
source = {{ kind = "constant", rate = "1 Mbit/s" }}
from = "source"
to = ["m*"]
start = "100 ms"
commands = {{ sender = "{}", receiver = "{}" }}
"#,
        command("sender"),
        command("receiver"),
    );
    let scenario = lab::load(&text, "test.toml").unwrap_or_else(|problems| panic!("{problems}"));
    let plan = scenario.plan(None).unwrap_or_else(|problems| panic!("{problems}"));
    let control = sim::Control::default();
    let logs = folder.join("logs");
    let outcome = std::thread::scope(|scope| {
        let settings = Settings { logs: Some(logs.clone()), ..Settings::default() };
        let (plan, control) = (&plan, &control);
        let run = scope.spawn(move || emulate::run(&plan.blueprint, &settings, control, None));
        let patience = Instant::now();
        while !run.is_finished() && patience.elapsed() < Duration::from_secs(60) {
            if done(&folder) == RECEIVERS && folder.join("sent").exists() {
                break;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        control.stop.store(true, Ordering::Relaxed);
        run.join().unwrap()
    });
    let mut words = Vec::new();
    let mut whole = 0;
    for receiver in plan.blueprint.flows[0].to.iter().map(|to| wire::address_of(to.node).to_string()) {
        let own = folder.join(&receiver);
        words.push(format!("{receiver}: {}", fs::read_to_string(own.join("done")).unwrap_or_default()));
        whole += usize::from(fs::read(own.join("file")).is_ok_and(|got| got == sent));
    }
    let log = fs::read_to_string(logs.join("file-sender.log")).unwrap_or_default();
    let sent_word = fs::read_to_string(folder.join("sent")).unwrap_or_default();
    let _ = fs::remove_dir_all(&folder);
    let outcome = outcome.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(whole, RECEIVERS, "{words:#?}\n{log}");
    assert!(words.iter().all(|word| word.contains("Complete")), "{words:#?}");
    assert!(sent_word.ends_with("packets"), "{log}");
    // what twenty got was sent little more than once
    let copies = outcome.trace.flows[0].sent_bytes as f64 / sent.len() as f64;
    assert!(copies < 3.0, "{copies} times the file was sent");
}
