//! What schemes need of their flow is the default of a scenario, is in the printed plan, and can be set otherwise.

mod common;

use contract::Family;
use lab::load;
use schemes::Build;
use sim::FlowKind;
use stack::tcp::{Config, LossDetection};

/// One flow over TCP, with these settings.
fn scenario(scheme: &str, tcp: &str) -> String {
    format!(
        "duration = \"20 s\"\nwarmup = \"5 s\"\n[topology]\nkind = \"dumbbell\"\n\
         bottleneck = {{ rate = \"10 Mbit/s\", delay = \"10 ms\", buffer = \"1 bdp\" }}\n\
         [[flows]]\nname = \"f\"\nscheme = \"{scheme}\"\ntcp = {{ {tcp} }}\n"
    )
}

fn config(text: &str) -> Config {
    let plan = common::plan(text);
    match &*plan.blueprint.flows[0].kind {
        FlowKind::Tcp(config) => config.clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn flows_over_tcp_have_the_settings_that_their_scheme_needs() {
    let (mut by_time, mut by_count) = (Vec::new(), 0);
    for entry in schemes::catalogue() {
        let name = entry.scheme.name;
        if !matches!(entry.build, Build::Control(_)) || !entry.scheme.families.contains(&Family::Ip) {
            continue;
        }
        let rack = entry.scheme.has_rack();
        let detection = |of_scheme: bool| if of_scheme { LossDetection::Time } else { LossDetection::Count };
        for (tcp, time, probe) in [
            ("", rack, rack),
            ("like = \"standard\"", rack, rack),
            ("like = \"linux\"", true, true),
            ("loss_detection = \"count\"", false, false),
            ("loss_detection = \"time\"", true, rack),
            ("like = \"linux\", loss_detection = \"count\"", false, false),
            ("tail_probe = false", rack, false),
            ("sack = false", false, false),
            ("like = \"linux\", sack = false", false, false),
        ] {
            let text = scenario(name, tcp);
            let settings = config(&text);
            let found = (settings.loss_detection, settings.tail_probe);
            assert_eq!(found, (detection(time), probe), "{name}: {tcp}");
            let ecn = entry.scheme.ecn();
            assert_eq!(settings.ecn, ecn.is_some(), "{name}: {tcp}");
            if let Some(ecn) = ecn {
                assert_eq!((settings.ecn_feedback, settings.l4s), (ecn.feedback, ecn.l4s), "{name}");
            }
            // a printed plan has these settings, and says nothing about them
            let printed = common::plan(&text).to_toml();
            let again = load(&printed, "plan").unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(config(&printed), settings, "{name}: {tcp}");
            let about_tcp = again.warnings().iter().any(|warning| warning.message.contains("loss_detection"));
            assert!(!about_tcp, "{name}: {tcp}: {}", again.warnings());
        }
        if rack { by_time.push(name) } else { by_count += 1 }
    }
    assert!(by_time.contains(&"bbr3") && by_time.contains(&"prague"), "{by_time:?}");
    assert!(by_count > 15, "{by_count}");
}

/// A BBRv3 flow alone never waits for a timeout; with loss detection by count it does, so that this test would see one.
#[test]
fn bbr3_alone_has_no_timeouts() {
    let timeouts = |path: &str, tcp: &str| {
        let text = format!(
            "duration = \"20 s\"\nwarmup = \"5 s\"\n[topology]\nkind = \"custom\"\nlinks = [{path}]\n\
             [[flows]]\nname = \"f\"\nscheme = \"bbr3\"\nfrom = \"a\"\nto = \"c\"\ntcp = {{ {tcp} }}\n"
        );
        let (_, report) = common::run(&common::plan(&text));
        report.value("flow.f.timeouts").expect("it is counted")
    };
    let link = |name: &str, ends: [&str; 2], mbps: u32, delay: &str, buffer: &str| {
        format!(
            "{{ name = \"{name}\", ends = {ends:?}, rate = \"{mbps} Mbit/s\", delay = \"{delay}\", buffer = \"{buffer}\" }}"
        )
    };
    let mut by_count = 0.0;
    for mbps in [2, 10, 50] {
        for delay in ["4.39 ms", "20 ms"] {
            for buffer in ["0.5 bdp", "1 bdp", "4 bdp"] {
                let path = format!(
                    "{}, {}",
                    link("ab", ["a", "b"], mbps, delay, buffer),
                    link("bc", ["b", "c"], 2 * mbps, "5.27 ms", buffer)
                );
                assert_eq!(timeouts(&path, ""), 0.0, "{path}");
                by_count += timeouts(&path, "loss_detection = \"count\"");
            }
        }
    }
    assert!(by_count > 20.0, "{by_count}");
}
