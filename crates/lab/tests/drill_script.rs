//! Simulated flows as scripts for packetdrill: what is exported passes the drill, and says what the flow did.

mod common;

use drill::{Exported, Options, Outcome};
use lab::{DrillScript, drillable};
use sim::{Control, Observers};

use common::plan;

/// Two seconds of one flow over a bottleneck of 10 Mbit/s and 40 ms round-trip time, whose buffer is short.
fn scenario(flow: &str) -> String {
    format!(
        r#"
title = "one flow"
duration = "2 s"

[topology]
kind = "dumbbell"
edge = {{ rate = "100 Mbit/s", delay = "1 ms" }}
bottleneck = {{ rate = "10 Mbit/s", delay = "18 ms", buffer = "20 packets" }}

[[flows]]
name = "flow"
{flow}
"#
    )
}

fn export(flow: &str) -> Result<Exported, String> {
    let plan = plan(&scenario(flow));
    let (_, id) = drillable(&plan).find(|(name, _)| *name == "flow").expect("it is over TCP");
    let (log, script) = DrillScript::begin(&plan, id);
    lab::run_observed(&plan, &Control::default(), Observers::default(), Some(log), |_| {});
    script.script(&plan)
}

#[test]
fn an_exported_flow_passes_the_drill() {
    for scheme in ["reno", "cubic", "bic", "htcp"] {
        let flow =
            format!("scheme = \"{scheme}\"\ntcp = {{ like = \"linux\", send_buffer = \"unlimited\" }}");
        let exported = export(&flow).expect("it can be expressed");
        let script = drill::parse(&exported.text).expect("it is right");
        let options = Options { scheme: Some(scheme.to_owned()), ..Options::default() };
        let report = drill::drill(&script, &options);
        assert_eq!(report.outcome, Outcome::Pass, "{scheme}");
        // two seconds at 10 Mbit/s are at most 1667 segments of 1500 bytes, and more leave, because the short buffer
        // drops some
        assert!((500..2000).contains(&report.packets), "{} packets", report.packets);
        assert!(report.assertions > 10, "{} assertions", report.assertions);
        assert!(exported.text.contains(&format!("net.ipv4.tcp_congestion_control={scheme} ")));
    }
}

#[test]
fn a_short_flow_ends_with_its_last_acknowledgement() {
    let flow =
        "scheme = \"reno\"\nsize = \"14480 B\"\ntcp = { like = \"linux\", send_buffer = \"unlimited\" }";
    let exported = export(flow).expect("it can be expressed");
    assert!(exported.text.contains("write(4, ..., 14480) = 14480"));
    assert!(exported.text.trim_end().lines().any(|line| line.contains("ack 14481 ")));
}

#[test]
fn marks_become_echoes() {
    let flow = "scheme = \"reno\"\ntcp = { like = \"linux\", send_buffer = \"unlimited\", ecn = true }";
    let exported = export(flow).expect("it can be expressed");
    assert!(exported.text.contains("< SEW 0:0(0)") && exported.text.contains("> [ect0] "));
}

#[test]
fn what_scripts_cannot_express_is_said() {
    let refused = |flow: &str| export(flow).expect_err("it cannot be expressed");
    assert!(refused("scheme = \"reno\"").contains("handshake"));
    let rate = "scheme = \"reno\"\nrate = \"1 Mbit/s\"\ntcp = { like = \"linux\" }";
    assert!(refused(rate).contains("application"));
    let gso = "scheme = \"reno\"\ntcp = { like = \"linux\", gso = true, send_buffer = \"unlimited\" }";
    assert!(refused(gso).contains("gso"));
}
