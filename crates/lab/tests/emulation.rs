//! Scenarios with flow ends outside of the network.

mod common;

use sim::{Control, FlowEmulation, FlowKind, Observers};
use units::Duration;

use common::plan;

const TEXT: &str = r#"
duration = "2 s"

[topology]
kind = "dumbbell"
bottleneck = { rate = "2 Mbit/s", delay = "5 ms", buffer = "20 packets" }

[[flows]]
name = "kernel"
kernel = "cubic"

[[flows]]
name = "command"
scheme = "reno"
commands = { sender = "iperf3 -c {to}", receiver = "iperf3 -s -1" }

[[flows]]
name = "ours"
scheme = "reno"

[emulation]
max_lateness = "5 ms"
"#;

#[test]
fn endpoints_of_emulated_flows_are_real_nodes_and_the_plan_prints_them() {
    let first = plan(TEXT);
    let names: Vec<&str> = first
        .blueprint
        .emulation
        .real
        .iter()
        .map(|node| first.blueprint.nodes[node.index()].as_str())
        .collect();
    assert_eq!(names, ["left1", "left2", "right1", "right2"]);
    assert_eq!(first.blueprint.emulation.max_lateness, Duration::from_millis(5));
    let flows = &first.blueprint.flows;
    assert_eq!(flows[0].emulation.as_deref(), Some(&FlowEmulation::Kernel("cubic".to_owned())));
    assert!(
        matches!(flows[1].emulation.as_deref(), Some(FlowEmulation::Commands { receiver: Some(text), .. }) if text.ends_with("-1"))
    );
    assert_eq!(flows[2].emulation, None);
    assert_eq!(plan(&first.to_toml()), first);
}

#[test]
fn a_simulation_of_an_emulation_uses_our_tcp_with_linux_headers() {
    let plan = plan(TEXT);
    let flow = &plan.blueprint.flows[0];
    assert_eq!(flow.scheme.as_deref(), Some("cubic"));
    let FlowKind::Tcp(config) = &*flow.kind else { panic!("TCP: {:?}", flow.kind) };
    assert_eq!((config.segment.as_u64(), config.header.as_u64()), (1448, 52));
    let report = lab::run(&plan, &Control::default()).report;
    assert!(report.value("flow.kernel.goodput").expect("it ran") > 1e5);
    assert!(report.value("flow.command.goodput").expect("it ran") > 1e5);
}

#[test]
fn tables_of_an_emulation_name_the_congestion_control_of_the_kernel() {
    let text = TEXT.replace("kernel = \"cubic\"", "kernel = \"bbr\"\nscheme = \"cubic\"");
    let flows = plan(&text).as_emulated().blueprint.flows.clone();
    let schemes: Vec<Option<&str>> = flows.iter().map(|flow| flow.scheme.as_deref()).collect();
    assert_eq!(schemes, [Some("bbr"), None, Some("reno")]);
}

#[test]
fn a_capture_has_a_block_for_each_packet_that_passed() {
    let plan = plan(TEXT);
    let folder = std::env::temp_dir().join(format!("thalweg-lab-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder for the test");
    let path = folder.join("core.pcapng");
    let links = vec![plan.link("bottleneck").expect("a dumbbell has one")];
    let (capture, captured) = lab::Capture::create(&plan, &links, &path, 0).expect("the folder is there");
    let plain = lab::run(&plan, &Control::default());
    let observers = Observers { tap: Some((links, Box::new(capture))), ..Observers::default() };
    let outcome = lab::run_observed(&plan, &Control::default(), observers, None, |_| {});
    let bytes = std::fs::read(&path).expect("it was written");
    std::fs::remove_dir_all(&folder).expect("it is ours");
    assert_eq!(outcome.trace.hash, plain.trace.hash, "observation changes nothing");
    assert_eq!(captured.failure(), None);
    // blocks of packets are of kind 6; packets in flight at the end have not passed
    let (mut at, mut packets) = (0, 0);
    let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
    while at < bytes.len() {
        packets += u64::from(word(at) == 6);
        at += word(at + 4) as usize;
    }
    assert_eq!(captured.records(), packets);
    let sent: u64 = outcome.trace.ports[..2].iter().map(|port| port.sent_packets).sum();
    assert!(packets <= sent && packets + 20 > sent, "{packets} of {sent}");
}

#[test]
fn commands_send_nothing_in_a_simulation() {
    let text = "[topology]\nkind = \"dumbbell\"\nbottleneck = { rate = \"1 Mbit/s\", delay = \"1 ms\" }\n\
                [[flows]]\nname = \"program\"\ncommands = { sender = \"true\" }\n";
    let scenario = lab::load(text, "test.toml").unwrap_or_else(|diagnostics| panic!("{diagnostics}"));
    let plan = scenario.plan(None).expect("it was loaded");
    let printed = plan.to_toml();
    let again = lab::load(&printed, "test.toml").unwrap_or_else(|diagnostics| panic!("{diagnostics}"));
    assert_eq!(again.plan(None).expect("it was loaded").blueprint, plan.blueprint);
    let outcome = lab::run(&plan, &sim::Control::default());
    assert_eq!(outcome.report.value("flow.program.sent_packets"), Some(0.0));
    let refused = lab::load(&text.replace("sender =", "size = \"1 MB\", sender ="), "test.toml");
    assert!(refused.is_err(), "a size is no key of commands");
}
