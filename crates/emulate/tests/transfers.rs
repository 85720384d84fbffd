//! Transfers between namespaces, by our own programs. They need the privilege to create network namespaces: without it
//! each test prints so and passes. All traffic stays in namespaces that the tests create, and ends with them.
#![cfg(target_os = "linux")]

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use driver::{Multicast, Udp};
use emulate::Settings;
use quic_net::group::{self, Group};
use quic_net::testing::{content, load};
use quic_net::{Control, Credentials, End, Handshake, Limits, Object, Proposal, Scheme, objects};
use transfer::{Destination, Outgoing, keep};
use units::Rate;

/// Whether the test can run here; if not, a message says so.
fn possible(test: &str) -> bool {
    match emulate::permitted() {
        Ok(()) => true,
        Err(error) => {
            eprintln!("skipped: {test}: {error}");
            false
        }
    }
}

fn env_var(name: &str) -> String {
    std::env::var(name).expect("the test says it")
}

fn settings(handshake: Handshake) -> quic_net::Settings {
    let credentials = Credentials::shared(b"between namespaces").expect("the key is not empty");
    // longer than a program of a busy machine waits for a processor
    let limits = Limits { patience: units::Duration::from_secs(120), ..Limits::default() };
    quic_net::Settings { handshake, credentials, limits, client_secret: None, logs: None }
}

/// Receives a file from this sender into a folder, where `done` says at last how it ended.
fn receive(sender: SocketAddr, into: &Path) {
    fs::create_dir_all(into).expect("a folder of the test");
    let mut udp = Udp::for_calling(sender).expect("a socket");
    let client_settings = settings(Handshake::Connect(sender));
    let mut accept = |proposal: &Proposal| {
        let into = Destination::Folder { path: into.to_owned(), name: None, replace: false, me: None };
        keep(&proposal.offer, into, client_settings.limits.window, &Arc::default())
    };
    let outcome = quic_net::receive(&client_settings, &mut accept, &mut udp, &Control::new());
    let word = format!("{:?} after {} packets", outcome.end, outcome.stats.packets);
    fs::write(into.join("done"), word).expect("a folder of the test");
}

/// For [`wall_clock::a_file_for_twenty_arrives_whole_on_all`]: sends a file to a group, or receives it.
#[test]
#[ignore = "runs inside an emulation"]
fn a_program_of_a_transfer() {
    let (folder, port) = (PathBuf::from(env_var("FOLDER")), env_var("PORT").parse().unwrap());
    let sender = SocketAddr::new(env_var("SENDER").parse().unwrap(), port);
    if env_var("ROLE") == "receiver" {
        return receive(sender, &folder.join(env_var("HERE")));
    }
    let mut udp = Udp::bind(sender).unwrap();
    udp.set_multicast(&Multicast::default()).unwrap();
    let scheme = Scheme { packet: 1250, ..Scheme::new(&env_var("SCHEME")) };
    let min = env_var("RECEIVERS").parse().unwrap();
    let (Outgoing::Paced(payload), about) = load(&folder.join("file"), &scheme, None, min) else {
        panic!("{} paces", scheme.name)
    };
    let group = Group { address: SocketAddr::new(env_var("GROUP").parse().unwrap(), port), max: 64 };
    let server_settings = settings(Handshake::Listen);
    let (outcome, left) =
        group::send(&server_settings, &group, &scheme, payload, about, &mut udp, &Control::new());
    assert_eq!((&outcome.end, left.len()), (&End::Complete, min), "{:?}", outcome.stats);
    fs::write(folder.join("sent"), format!("{} packets", outcome.stats.packets)).unwrap();
}

/// Progress of the group: number of receivers that have the file.
fn done(folder: &Path) -> usize {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter(|entry| entry.path().join("done").exists()).count()
}

/// For [`wall_clock::files_arrive_after_a_route_change_and_a_lossy_path`]: sends a file to one receiver, or receives
/// it.
#[test]
#[ignore = "runs inside an emulation"]
fn a_program_of_a_file() {
    let folder = PathBuf::from(env_var("FOLDER"));
    let sender = SocketAddr::new(env_var("SENDER").parse().unwrap(), env_var("PORT").parse().unwrap());
    if env_var("ROLE") == "receiver" {
        return receive(sender, &folder.join(env_var("SCHEME")));
    }
    let scheme = Scheme::new(&env_var("SCHEME"));
    let (outgoing, about) = load(&folder.join("file"), &scheme, Some(Rate::from_mbps(2)), 1);
    let mut udp = Udp::bind(sender).unwrap();
    let all = objects(vec![Object { folders: Vec::new(), outgoing, about, more: false, omitted: 0 }]);
    let outcome = quic_net::send(&settings(Handshake::Listen), &scheme, all, &mut udp, &Control::new());
    let word = format!("{:?} after {} packets", outcome.end, outcome.stats.packets);
    fs::write(folder.join(format!("sent-{}", scheme.name)), word).unwrap();
}

/// Until a test gives up. The transfers take seconds on an idle machine.
const PATIENCE: Duration = Duration::from_secs(300);

/// Runs the programs of a plan in their namespaces until all is `over`, or the test gives up.
fn run_until(
    plan: &lab::Plan,
    logs: &Path,
    over: impl Fn() -> bool,
) -> Result<emulate::Outcome, emulate::Error> {
    let control = sim::Control::default();
    std::thread::scope(|scope| {
        let settings = Settings { logs: Some(logs.to_owned()), ..Settings::default() };
        let control = &control;
        let run =
            scope.spawn(move || emulate::run(&plan.blueprint, &settings, control, sim::Observers::default()));
        let patience = Instant::now();
        while !run.is_finished() && patience.elapsed() < PATIENCE && !over() {
            std::thread::sleep(Duration::from_millis(50));
        }
        control.stop.store(true, Ordering::Relaxed);
        run.join().expect("the emulation does not panic")
    })
}

mod wall_clock {
    use super::*;

    /// Over paths with independent losses: 20 namespaces, and one for the sender.
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
duration = "400 s"

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
        let scenario = lab::load(&text, "test.toml").unwrap_or_else(|diagnostics| panic!("{diagnostics}"));
        let plan = scenario.plan(None).unwrap_or_else(|diagnostics| panic!("{diagnostics}"));
        let logs = folder.join("logs");
        let over = || done(&folder) == RECEIVERS && folder.join("sent").exists();
        let outcome = run_until(&plan, &logs, over);
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
        // the data for twenty was sent little more than once
        let copies = outcome.trace.flows[0].sent_bytes as f64 / sent.len() as f64;
        assert!(copies < 3.0, "{copies} times the file was sent");
    }

    /// A scheme with pacing and one with a window, at the same time. The short path fails and returns repeatedly, and
    /// the long one has a lower rate and a higher delay; when the short one returns, its packets overtake those in
    /// flight on the long one. Both have losses. At its limit of 2 Mbit/s a file takes at least 4 s, so that both
    /// changes happen during it, whenever the programs start.
    #[test]
    fn files_arrive_after_a_route_change_and_a_lossy_path() {
        let test = "files over a route that changes";
        if !possible(test) {
            return;
        }
        const SCHEMES: [&str; 2] = ["tfrc", "cubic"];
        let folder = std::env::temp_dir().join(format!("thalweg-ways-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let sent = content(1_000_000);
        fs::write(folder.join("file"), &sent).unwrap();
        let flows: String = SCHEMES
            .iter()
            .enumerate()
            .map(|(n, scheme)| {
                let command = |role: &str, sender: &str| {
                    format!(
                        "ROLE={role} SCHEME={scheme} FOLDER={} PORT={{port}} SENDER={sender} \
                         exec {} --exact a_program_of_a_file --ignored --nocapture",
                        folder.display(),
                        std::env::current_exe().unwrap().display(),
                    )
                };
                format!(
                    r#"
[[flows]]
name = "{scheme}"
source = {{ kind = "constant", rate = "1 Mbit/s" }}
from = "host{n}"
to = "server{n}"
start = "100 ms"
commands = {{ sender = "{}", receiver = "{}" }}
"#,
                    command("sender", "{from}"),
                    command("receiver", "{from}"),
                )
            })
            .collect();
        let events: String = (1..45)
            .map(|n| {
                let (at, up) = (1300 * n, n % 2 == 0);
                format!("[[events]]\nat = \"{at} ms\"\nlink = \"north2\"\nup = {up}\n\n")
            })
            .collect();
        let text = format!(
            r#"
duration = "400 s"

[topology]
kind = "custom"
links = [
  {{ name = "access0", ends = ["host0", "west"], rate = "20 Mbit/s", delay = "1 ms", buffer = "50 packets" }},
  {{ name = "access1", ends = ["host1", "west"], like = "access0" }},
  {{ name = "north1", ends = ["west", "north"], rate = "8 Mbit/s", delay = "3 ms", buffer = "40 packets", loss = 0.005 }},
  {{ name = "north2", ends = ["north", "east"], like = "north1" }},
  {{ name = "south1", ends = ["west", "south"], rate = "4 Mbit/s", delay = "25 ms", buffer = "40 packets", loss = 0.01 }},
  {{ name = "south2", ends = ["south", "east"], like = "south1" }},
  {{ name = "server0", ends = ["east", "server0"], like = "access0" }},
  {{ name = "server1", ends = ["east", "server1"], like = "access0" }},
]
{flows}
{events}"#
        );
        let scenario = lab::load(&text, "test.toml").unwrap_or_else(|diagnostics| panic!("{diagnostics}"));
        let plan = scenario.plan(None).unwrap_or_else(|diagnostics| panic!("{diagnostics}"));
        let logs = folder.join("logs");
        let over = || {
            done(&folder) == SCHEMES.len()
                && SCHEMES.iter().all(|scheme| folder.join(format!("sent-{scheme}")).exists())
        };
        let outcome = run_until(&plan, &logs, over);
        let found = SCHEMES.map(|scheme| {
            let own = folder.join(scheme);
            let read = |path: PathBuf| fs::read_to_string(path).unwrap_or_default();
            let words = format!(
                "{scheme}: sender {:?}, receiver {:?}\n{}{}",
                read(folder.join(format!("sent-{scheme}"))),
                read(own.join("done")),
                read(logs.join(format!("{scheme}-sender.log"))),
                read(logs.join(format!("{scheme}-receiver.log"))),
            );
            (fs::read(own.join("file")).is_ok_and(|got| got == sent), words)
        });
        let _ = fs::remove_dir_all(&folder);
        let outcome = outcome.unwrap_or_else(|error| panic!("{error}"));
        for (whole, words) in &found {
            eprintln!("{}", words.lines().next().unwrap_or_default());
            assert!(whole, "{words}");
            assert_eq!(words.matches("Complete after").count(), 2, "{words}");
        }
        let used = |name: &str| {
            let link = plan.blueprint.links.iter().position(|link| link.name == name).expect("it is there");
            outcome.trace.ports[2 * link].sent_packets
        };
        assert!(used("north1") > 300, "{} packets one way", used("north1"));
        assert!(used("south1") > 300, "{} packets the other", used("south1"));
    }
}
