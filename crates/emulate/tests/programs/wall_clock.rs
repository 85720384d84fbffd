use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use emulate::{Outcome, Settings};
use sim::{Control, Observers};

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

fn plan(text: &str) -> std::sync::Arc<lab::Plan> {
    let scenario = lab::load(text, "test.toml").unwrap_or_else(|diagnostics| panic!("{diagnostics}"));
    scenario.plan(None).unwrap_or_else(|diagnostics| panic!("{diagnostics}"))
}

/// With scheduling priority, since a few thousand packets per second are a small load.
fn emulated(plan: &lab::Plan) -> Outcome {
    let settings = Settings { urgent: true, ..Settings::default() };
    emulate::run(&plan.blueprint, &settings, &Control::default(), Observers::default())
        .unwrap_or_else(|error| panic!("{error}"))
}

/// Whether the machine kept up; if not, times and amounts cannot be compared, and a message says so.
fn kept_up(test: &str, outcome: &Outcome) -> bool {
    let faults = outcome.accuracy.faults();
    if !faults.is_empty() {
        eprintln!("skipped: {test}: the machine could not keep up: {}", faults.join("; "));
    }
    faults.is_empty()
}

/// Names of namespaces that this process has used.
fn names() -> Vec<String> {
    names_of(std::process::id())
}

fn names_of(process: u32) -> Vec<String> {
    let prefix = format!("{}{process}-", emulate::PREFIX);
    let entries = fs::read_dir("/run/netns").into_iter().flatten().flatten();
    entries
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| name.starts_with(&prefix))
        .collect()
}

/// A lock, so that a test does not see the namespaces of another.
static ALONE: std::sync::Mutex<()> = std::sync::Mutex::new(());

const PAIR: &str = r#"
duration = "2 s"

[topology]
kind = "dumbbell"
bottleneck = { rate = "8 Mbit/s", delay = "5 ms", buffer = "40 packets" }

[[flows]]
name = "file"
kernel = "reno"
size = "500 kB"

[record]
every = "100 ms"
series = ["window", "goodput", "backlog"]
"#;

#[test]
fn a_file_is_transferred_by_the_kernel_and_all_resources_are_removed() {
    let _alone = ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if !possible("a file through the kernel's TCP") {
        return;
    }
    let plan = plan(PAIR);
    let outcome = emulated(&plan);
    assert!(outcome.complete);
    assert_eq!(outcome.accuracy.notes, Vec::<String>::new());
    assert_eq!(outcome.accuracy.strays, 0, "nothing but TCP is sent");
    assert_eq!(names(), Vec::<String>::new());
    if !kept_up("a file through the kernel's TCP", &outcome) {
        return;
    }
    let report = lab::report(&plan, &outcome.trace);
    assert_eq!(outcome.trace.receivers[0].meter.goodput_bytes, 500_000);
    let took = report.value("flow.file.fct").expect("the file arrived");
    assert!(took > 0.5, "{took} s is faster than the bottleneck");
    let windows = outcome.trace.series.iter().filter(|series| series.name == "window").count();
    assert_eq!(windows, 1, "its window was looked at");
}

#[test]
fn a_flow_without_end_is_cut_at_its_stop_and_may_start_again() {
    let _alone = ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if !possible("a flow that stops and starts again") {
        return;
    }
    let text = PAIR.replace("size = \"500 kB\"", "stop = \"600 ms\"")
        + "[[events]]\nat = \"1200 ms\"\nflow = \"file\"\naction = \"start\"\n";
    let plan = plan(&text);
    let outcome = emulated(&plan);
    assert_eq!(outcome.accuracy.notes, Vec::<String>::new());
    if !kept_up("a flow that stops and starts again", &outcome) {
        return;
    }
    let goodput =
        outcome.trace.series.iter().find(|series| series.name == "goodput").expect("it was recorded");
    let at = |tenth: usize| goodput.values[tenth - 1];
    assert!(at(5) > 1e6, "before the stop: {:?}", goodput.values);
    assert!((8..=11).all(|tenth| at(tenth) == 0.0), "in between: {:?}", goodput.values);
    assert!(at(18) > 1e6, "after the second start: {:?}", goodput.values);
}

#[test]
fn a_congestion_control_that_the_kernel_lacks_is_refused() {
    let _alone = ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if !possible("an unknown congestion control") {
        return;
    }
    let plan = plan(&PAIR.replace("kernel = \"reno\"", "kernel = \"no_such\"\nscheme = \"reno\""));
    let error =
        emulate::run(&plan.blueprint, &Settings::default(), &Control::default(), Observers::default());
    let message = error.expect_err("no kernel has it").to_string();
    assert!(message.contains("no congestion control `no_such`") && message.contains("reno"), "{message}");
    assert_eq!(names(), Vec::<String>::new());
}

#[test]
fn commands_run_at_both_ends_and_are_gone_afterwards() {
    let _alone = ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if !possible("commands") {
        return;
    }
    let folder = std::env::temp_dir().join(format!("thalweg-test-{}", std::process::id()));
    let text = PAIR.replace(
        "kernel = \"reno\"\nsize = \"500 kB\"",
        "source = { kind = \"constant\", rate = \"1 Mbit/s\" }\n[flows.commands]\nsender = \"sleep 1000 & echo from {from}; exit 3\"\nreceiver = \"echo to {to}; sleep 1000\"",
    );
    let text = text.replace("\"window\", ", "").replace("duration = \"2 s\"", "duration = \"300 ms\"");
    let plan = plan(&text);
    let settings = Settings { logs: Some(folder.clone()), ..Settings::default() };
    let outcome =
        emulate::run(&plan.blueprint, &settings, &Control::default(), Observers::default()).unwrap();
    let read = |name: &str| fs::read_to_string(folder.join(name)).unwrap_or_default();
    let (sender, receiver) = (read("file-sender.log"), read("file-receiver.log"));
    let _ = fs::remove_dir_all(&folder);
    assert!(sender.starts_with("from 10.0.0."), "{sender:?}");
    assert!(receiver.starts_with("to 10.0.0."), "{receiver:?}");
    let [note] = outcome.accuracy.notes.as_slice() else { panic!("{:?}", outcome.accuracy.notes) };
    assert!(note.contains("flow `file`") && note.ends_with("code 3"), "{note}");
    assert_eq!(names(), Vec::<String>::new());
}

/// Two kernel flows compared with two simulated ones at the same bottleneck: their shares and its mean queue. The
/// tolerances are wide because the runs are short; if the machine did not keep up there is no comparison, and a message
/// says so.
#[test]
fn reno_of_the_kernel_fills_a_queue_as_reno_of_the_simulator_does() {
    let _alone = ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if !possible("the kernel's Reno beside the simulator's") {
        return;
    }
    let plan = plan(
        r#"
duration = "12 s"
warmup = "3 s"

[topology]
kind = "dumbbell"
edge = { rate = "100 Mbit/s", delay = "1 ms" }
bottleneck = { rate = "8 Mbit/s", delay = "10 ms", buffer = "30 packets" }

[[flows]]
name = "tcp"
count = 2
kernel = "reno"
"#,
    );
    let simulated = lab::run(&plan, &Control::default()).report;
    let outcome = emulated(&plan);
    if !kept_up("the kernel's Reno beside the simulator's", &outcome) {
        return;
    }
    let report = lab::report(&plan, &outcome.trace);
    let both = |key: &str| {
        let value = |report: &lab::Report| report.value(key).unwrap_or_else(|| panic!("{key}"));
        (value(&simulated), value(&report))
    };
    let (expected, found) = both("flows.goodput");
    assert!((found / expected - 1.0).abs() < 0.1, "goodput {found} for {expected} bit/s");
    let (expected, found) = both("link.bottleneck.queue_packets");
    assert!((found / expected - 1.0).abs() < 0.4, "{found} packets wait instead of {expected}");
    let (_, fairness) = both("flows.fairness");
    assert!(fairness > 0.7, "{fairness}");
}

/// A kernel flow over a round-trip time of 100 ms: its initial window in segments, and acknowledgements per segment. It
/// is long enough for the receiver's window to open, since Linux acknowledges each segment while that grows.
fn observed(tcp: &str) -> Option<(f64, f64)> {
    let text = PAIR
        .replace("duration = \"2 s\"", "duration = \"5 s\"")
        .replace("rate = \"8 Mbit/s\", delay = \"5 ms\"", "rate = \"16 Mbit/s\", delay = \"50 ms\"")
        .replace("size = \"500 kB\"", &format!("tcp = {{ {tcp} }}"))
        .replace("every = \"100 ms\"", "every = \"20 ms\"");
    let outcome = emulated(&plan(&text));
    if !kept_up("settings of TCP", &outcome) {
        return None;
    }
    let windows =
        outcome.trace.series.iter().find(|series| series.name == "window").expect("it was recorded");
    // the kernel's own value is shown until the connection is open, after 100 ms; there is no acknowledgement before
    // 200 ms
    let first = windows.values[..9].iter().copied().fold(f64::INFINITY, f64::min);
    let (sent, answers) = (outcome.trace.receivers[0].packets, outcome.trace.flows[0].arrived.packets);
    Some((first / 1448.0, answers as f64 / sent as f64))
}

#[test]
fn tcp_settings_of_the_scenario_are_applied_in_the_kernel() {
    let _alone = ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if !possible("settings of TCP") {
        return;
    }
    let Some((window, answers)) = observed("") else { return };
    assert_eq!(window, 10.0, "the kernel's own");
    assert!(answers < 0.8, "{answers} acknowledgements a segment, though they are delayed");
    let Some((window, answers)) = observed("initial_window = 3, delayed_ack = false") else { return };
    assert_eq!(window, 3.0);
    assert!(answers > 0.95, "{answers} acknowledgements a segment");
}

#[test]
fn settings_that_the_kernel_lacks_are_refused() {
    let _alone = ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if !possible("settings that the kernel has not") {
        return;
    }
    let plan = plan(&PAIR.replace("size = \"500 kB\"", "tcp = { undo = false }"));
    let error =
        emulate::run(&plan.blueprint, &Settings::default(), &Control::default(), Observers::default());
    let message = error.expect_err("there is no such setting").to_string();
    assert!(message.contains("flow `file`") && message.contains("`tcp.undo`"), "{message}");
}

/// Two emulations of one process at once, with equal node names.
#[test]
fn emulations_in_one_process_are_isolated() {
    let _alone = ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if !possible("two emulations at once") {
        return;
    }
    let plan = plan(PAIR);
    let both = std::thread::scope(|scope| {
        let started = [(); 2].map(|()| scope.spawn(|| emulated(&plan)));
        started.map(|run| run.join().expect("it returns"))
    });
    for outcome in both {
        assert_eq!(outcome.accuracy.strays, 0);
        if kept_up("two emulations at once", &outcome) {
            assert_eq!(outcome.trace.receivers[0].meter.goodput_bytes, 500_000);
        }
    }
    assert_eq!(names(), Vec::<String>::new());
}

/// For [`a_group_of_programs_gets_what_its_source_sends`]: sends numbered datagrams to a group, or records those that
/// arrive.
#[test]
#[ignore = "runs inside an emulation"]
fn a_program_of_a_group() {
    let env_var = |name: &str| std::env::var(name).unwrap();
    let group: std::net::Ipv4Addr = env_var("GROUP").parse().unwrap();
    let port: u16 = env_var("PORT").parse().unwrap();
    if env_var("ROLE") == "sender" {
        let socket = std::net::UdpSocket::bind((env_var("HERE").as_str(), port)).unwrap();
        for number in 0..20u8 {
            socket.send_to(&[number; 400], (group, port)).unwrap();
            std::thread::sleep(Duration::from_millis(10));
        }
        return;
    }
    let socket = std::net::UdpSocket::bind((group, port)).unwrap();
    socket.join_multicast_v4(&group, &std::net::Ipv4Addr::UNSPECIFIED).unwrap();
    let mut received = [0u8; 1500];
    loop {
        let (length, from) = socket.recv_from(&mut received).unwrap();
        eprintln!("got {} of {length} from {from}", received[0]);
    }
}

#[test]
fn a_group_of_programs_gets_what_its_source_sends() {
    let _alone = ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if !possible("a group of programs") {
        return;
    }
    let folder = std::env::temp_dir().join(format!("thalweg-test-group-{}", std::process::id()));
    let program = std::env::current_exe().unwrap();
    let command = |role: &str| {
        format!(
            "ROLE={role} GROUP={{to}} PORT={{port}} HERE={{here}} exec {} --exact wall_clock::a_program_of_a_group --ignored --nocapture",
            program.display()
        )
    };
    let text = format!(
        r#"
duration = "1500 ms"

[topology]
kind = "dumbbell"
bottleneck = {{ rate = "8 Mbit/s", delay = "5 ms", buffer = "40 packets" }}

[[flows]]
name = "film"
source = {{ kind = "constant", rate = "1 Mbit/s" }}
from = "left1"
to = ["right1", "right2", "right3"]
start = "300 ms"
commands = {{ sender = "{}", receiver = "{}" }}
"#,
        command("sender"),
        command("receiver"),
    );
    let plan = plan(&text);
    let settings = Settings { logs: Some(folder.clone()), ..Settings::default() };
    let outcome = emulate::run(&plan.blueprint, &settings, &Control::default(), Observers::default());
    let read =
        |node: &str| fs::read_to_string(folder.join(format!("film-receiver-{node}.log"))).unwrap_or_default();
    let logs = ["right1", "right2", "right3"].map(read);
    let _ = fs::remove_dir_all(&folder);
    let outcome = outcome.unwrap_or_else(|error| panic!("{error}"));
    for log in &logs {
        let received = log.lines().filter(|line| line.starts_with("got ")).count();
        assert_eq!(received, 20, "{log}");
        assert!(log.contains("got 19 of 400 from 10.0.0."), "{log}");
    }
    assert_eq!(outcome.trace.receivers.len(), 3);
    assert!(outcome.trace.receivers.iter().all(|receiver| receiver.meter.goodput_bytes == 20 * 400));
    assert_eq!((outcome.trace.flows[0].sent_packets, outcome.accuracy.strays), (20, 0));
    assert_eq!(names(), Vec::<String>::new());
}

/// For [`a_run_that_was_killed_is_cleaned_by_the_next`].
#[test]
#[ignore = "runs until it is killed"]
fn a_run_to_be_killed() {
    let text = PAIR.replace("duration = \"2 s\"", "duration = \"60 s\"").replace(
        "kernel = \"reno\"\nsize = \"500 kB\"",
        "source = { kind = \"constant\", rate = \"1 Mbit/s\" }\n[flows.commands]\nsender = \"sleep 60\"",
    );
    emulated(&plan(&text.replace("\"window\", ", "")));
}

#[test]
fn a_run_that_was_killed_is_cleaned_by_the_next() {
    let _alone = ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if !possible("a run that is killed") {
        return;
    }
    let program = std::env::current_exe().unwrap();
    let mut child = Command::new(program)
        .args(["--exact", "wall_clock::a_run_to_be_killed", "--ignored"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let process = child.id();
    let patience = Instant::now();
    let in_it = |name: &str| {
        let listed = Command::new("ip").args(["netns", "pids", name]).output();
        listed.is_ok_and(|listed| !listed.stdout.is_empty())
    };
    while !names_of(process).iter().any(|name| in_it(name)) && patience.elapsed() < Duration::from_secs(20) {
        std::thread::sleep(Duration::from_millis(20));
    }
    let left = names_of(process);
    child.kill().unwrap();
    child.wait().unwrap();
    if left.is_empty() {
        eprintln!("skipped: namespaces have no names here");
        return;
    }
    assert_eq!(names_of(process), left, "nobody removes the names of a process that was killed");
    let removed = emulate::clean();
    assert!(left.iter().all(|name| removed.contains(name)), "{removed:?}");
    assert_eq!(names_of(process), Vec::<String>::new());
    assert!(left.iter().all(|name| !Path::new("/run/netns").join(name).exists()));
}

/// A stream to three members, simulated and over sockets: all of them get about equal amounts, at equal rates.
#[test]
fn a_live_group_stream_performs_as_in_the_simulator() {
    let _alone = ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if !possible("a live stream to a group") {
        return;
    }
    let plan = plan(
        r#"
duration = "10 s"
warmup = "5 s"

[topology]
kind = "dumbbell"
bottleneck = { rate = "2 Mbit/s", delay = "10 ms", buffer = "40 packets" }

[[flows]]
name = "film"
scheme = "mca"
live = true
from = "left1"
to = ["right1", "right2", "right3"]

[record]
every = "100 ms"
series = ["allowed_rate"]
"#,
    );
    let simulated = lab::run(&plan, &Control::default()).report;
    let outcome = emulated(&plan);
    assert!(outcome.complete);
    assert_eq!((outcome.accuracy.strays, outcome.accuracy.notes.len()), (0, 0));
    assert_eq!(names(), Vec::<String>::new());
    if !kept_up("a live stream to a group", &outcome) {
        return;
    }
    let report = lab::report(&plan, &outcome.trace);
    for key in ["flow.film.throughput_worst", "link.bottleneck.utilisation"] {
        let value = |report: &lab::Report| report.value(key).unwrap_or_else(|| panic!("{key}"));
        let (expected, found) = (value(&simulated), value(&report));
        assert!((found / expected - 1.0).abs() < 0.1, "{key}: {found} for {expected}");
    }
    assert!(outcome.trace.receivers.iter().all(|receiver| receiver.meter.goodput_bytes > 500_000));
    assert!(outcome.trace.series.iter().any(|series| series.name == "allowed_rate"));
}

/// A window scheme over Thalweg's own datagrams, with selective acknowledgements.
#[test]
fn a_live_connection_fills_the_link_and_completes() {
    let _alone = ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if !possible("a live connection") {
        return;
    }
    let text = PAIR.replace("kernel = \"reno\"", "scheme = \"reno\"\nlive = true");
    let plan = plan(&text);
    let outcome = emulated(&plan);
    assert_eq!((outcome.accuracy.strays, outcome.accuracy.notes.len()), (0, 0));
    if !kept_up("a live connection", &outcome) {
        return;
    }
    assert_eq!(outcome.trace.receivers[0].meter.goodput_bytes, 500_000);
    let took = lab::report(&plan, &outcome.trace).value("flow.file.fct").expect("the file arrived");
    let simulated = lab::run(&plan, &Control::default()).report.value("flow.file.fct").expect("it arrives");
    assert!((took / simulated - 1.0).abs() < 0.15, "{took} s for {simulated} s");
}

/// Connections of quinn and noq over UDP sockets, beside the kernel's TCP: an upload completes as in virtual time, and
/// both ends speak TLS and QUIC through the emulated queue.
#[test]
fn connections_of_quic_stacks_complete_over_sockets_as_in_virtual_time() {
    let _alone = ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if !possible("connections of QUIC stacks") {
        return;
    }
    for stack in ["quinn", "noq"] {
        let keys = format!("stack = \"{stack}\"\ncontroller = \"newreno\"\nlive = true");
        let text = PAIR.replace("kernel = \"reno\"", &keys).replace("40 packets", "10 packets");
        let plan = plan(&text);
        let outcome = emulated(&plan);
        assert_eq!((outcome.accuracy.strays, outcome.accuracy.notes.len()), (0, 0), "{stack}");
        assert_eq!(names(), Vec::<String>::new());
        if !kept_up("connections of QUIC stacks", &outcome) {
            return;
        }
        assert_eq!(outcome.trace.receivers[0].meter.goodput_bytes, 500_000, "{stack}");
        assert!(outcome.accuracy.endpoints.percentile(0.99).is_some(), "its deadlines were measured");
        // no packet is longer than in virtual time, and the queue has dropped some
        let flow = &outcome.trace.flows[0];
        assert!(flow.meter.count(contract::Count::Retransmits) > 0, "{stack}: {:?}", flow.meter);
        let run = lab::run(&plan, &Control::default());
        let sizes = |trace: &sim::Trace| trace.flows[0].sent_bytes / trace.flows[0].sent_packets;
        assert!(sizes(&outcome.trace).abs_diff(sizes(&run.trace)) < 50, "{stack}: mean packets");
        let took = lab::report(&plan, &outcome.trace).value("flow.file.fct").expect("the file arrived");
        let simulated = run.report.value("flow.file.fct").expect("it arrives");
        assert!((took / simulated - 1.0).abs() < 0.25, "{stack}: {took} s for {simulated} s");
        let windows = outcome.trace.series.iter().filter(|series| series.name == "window").count();
        assert_eq!(windows, 1, "{stack}: its window was recorded");
    }
}

/// A QUIC stack that stops and starts again opens a new connection; what it sends is marked by an ECN queue.
#[test]
fn a_quic_stack_over_sockets_starts_again_and_hears_marks() {
    let _alone = ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if !possible("a QUIC stack that starts again") {
        return;
    }
    let text = PAIR
        .replace("kernel = \"reno\"", "stack = \"quinn\"\nlive = true")
        .replace("size = \"500 kB\"", "stop = \"700 ms\"")
        .replace("buffer = \"40 packets\"", "buffer = \"400 packets\", mark_above = 10")
        + "[[events]]\nat = \"1 s\"\nflow = \"file\"\naction = \"start\"\n";
    let outcome = emulated(&plan(&text));
    if !kept_up("a QUIC stack that starts again", &outcome) {
        return;
    }
    let goodput = outcome.trace.series.iter().find(|series| series.name == "goodput").expect("recorded");
    let at = |tenth: usize| goodput.values[tenth - 1];
    assert!(at(6) > 1e6 && at(9) == 0.0 && at(18) > 1e6, "{:?}", goodput.values);
    let (sender, receiver) = (&outcome.trace.flows[0].meter, &outcome.trace.receivers[0].meter);
    assert!(receiver.count(contract::Count::Marks) > 0, "{receiver:?}");
    assert!(sender.count(contract::Count::Episodes) > 0, "{sender:?}");
}
