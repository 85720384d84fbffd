//! Flows over transport stacks that are not ours: what is printed, how they run, and what is measured of them.
#![cfg(all(feature = "noq", feature = "quinn"))]

mod common;

use std::thread;

use lab::Cells;

use common::{plan, run, words, wrong};

const TWO: &str = r#"
duration = "8 s"
seed = 5
[topology]
kind = "dumbbell"
edge = { rate = "1 Gbit/s", delay = "1 ms" }
bottleneck = { rate = "10 Mbit/s", delay = "10 ms", buffer = "1 bdp" }
[[flows]]
name = "own"
stack = "quinn"
start_spread = "100 ms"
[[flows]]
name = "plugged"
stack = "noq"
scheme = "reno"
start_spread = "100 ms"
[record]
every = "1 s"
series = ["window", "ssthresh", "in_flight", "rtt", "srtt"]
"#;

#[test]
fn a_printed_plan_says_stack_controller_and_path_mtu_and_is_the_same_plan() {
    let first = plan(TWO);
    let text = first.to_toml();
    for line in ["stack = \"quinn\"", "controller = \"cubic\"", "packet = \"1500 B\"", "scheme = \"reno\""] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    assert_eq!(plan(&text), first);
}

#[test]
fn equal_seeds_give_equal_runs_on_any_thread_and_other_seeds_other_runs() {
    let first = plan(TWO);
    let hash = run(&first).0;
    let threads = [first.clone(), first.clone()].map(|plan| thread::spawn(move || run(&plan).0));
    for thread in threads {
        assert_eq!(thread.join().expect("it does not panic"), hash);
    }
    assert_ne!(run(&plan(&TWO.replace("seed = 5", "seed = 6"))).0, hash);
}

#[test]
fn tables_name_the_stack_and_the_controller_and_have_every_series() {
    let (_, report) = run(&plan(TWO));
    assert_eq!(words(&report, "transport"), ["quinn", "noq"]);
    assert_eq!(words(&report, "scheme"), ["cubic", "reno"]);
    assert!(report.value("link.bottleneck.utilisation").is_some_and(|share| share > 0.8));
    // both compete, though one has no scheme of the catalogue
    assert!(report.value("flows.fairness").is_some_and(|fairness| fairness > 0.5));
    for flow in ["own", "plugged"] {
        let value = |what: &str| report.value(&format!("flow.{flow}.{what}")).unwrap_or_default();
        assert!(value("goodput") > 2e6 && value("episodes") > 0.0, "{flow}");
        // 2 · (1 + 10 + 1) ms
        assert!(value("rtt_min") >= 0.024 && value("rtt_min") < 0.03, "{flow}: {}", value("rtt_min"));
    }
    let series = report.table("series").expect("some are recorded");
    for name in ["window", "ssthresh", "in_flight", "rtt", "srtt"] {
        assert!(
            matches!(series.column("series"), Some(Cells::Text(words)) if words.iter().any(|word| word == name)),
            "{name}"
        );
    }
}

#[test]
fn short_flows_over_a_stack_arrive_and_complete() {
    let arrivals = "stack = \"noq\"\narrivals = { rate = 5, count = 4, size = \"20 kB\" }";
    let (_, report) =
        run(&plan(&TWO.replace("stack = \"noq\"\nscheme = \"reno\"\nstart_spread = \"100 ms\"", arrivals)));
    let times = report.table("flows").expect("there is one").numbers("fct_s");
    // a round trip for the handshake and one for the data at least [RFC9001 §4.1]
    assert_eq!(times.iter().flatten().filter(|time| **time >= 0.048).count(), 4, "{times:?}");
}

#[test]
fn a_flow_over_a_stack_stops_and_starts_again() {
    let events = "\n[[events]]\nat = \"3 s\"\nflow = \"own\"\naction = \"stop\"\n\n[[events]]\nat = \"5 s\"\nflow = \"own\"\naction = \"start\"\n";
    let (hash, report) = run(&plan(&format!("{TWO}{events}")));
    assert_ne!(hash, run(&plan(TWO)).0);
    assert!(report.value("flow.own.active").is_some_and(|active| active < 6.1));
    assert!(report.value("flow.own.goodput").is_some_and(|goodput| goodput > 1e6));
}

/// What a receive window permits per round trip, and what limits a flow whose windows are raised.
#[test]
fn flow_control_limits_a_flow_to_its_window_per_round_trip() {
    let text = |stack: &str, quic: &str| {
        format!(
            "duration = \"4 s\"\nwarmup = \"2 s\"\n[topology]\nkind = \"dumbbell\"\nedge = {{ rate = \"10 Gbit/s\", delay = \"0 ms\" }}\n\
             bottleneck = {{ rate = \"20 Mbit/s\", delay = \"50 ms\", buffer = \"1 bdp\" }}\n\
             [[flows]]\nname = \"f\"\nscheme = \"bbr\"\nstack = \"{stack}\"\n{quic}\n"
        )
    };
    for stack in ["quinn", "noq"] {
        let printed = plan(&text(stack, "")).to_toml();
        assert!(
            printed.contains("receive_window = \"1250 kB\"")
                || printed.contains("receive_window = \"1.25 MB\""),
            "{printed}"
        );
        for (quic, low, high) in [
            // 50 kB in 100 ms are 4 Mbit/s
            ("quic = { receive_window = \"50 kB\" }", 3.0, 4.1),
            ("quic = { receive_window = \"100 kB\" }", 6.0, 8.2),
            ("quic = { send_window = \"50 kB\" }", 2.5, 4.1),
            ("quic = { receive_window = \"unlimited\" }", 15.0, 20.0),
            ("quic = { receive_window = \"20 MB\" }", 15.0, 20.0),
        ] {
            let planned = plan(&text(stack, quic));
            assert_eq!(plan(&planned.to_toml()), planned, "{stack} {quic}");
            let (_, report) = run(&planned);
            let mbps = report.value("flows.f.goodput").expect("it is measured") / 1e6;
            assert!((low..high).contains(&mbps), "{stack} {quic}: {mbps}");
        }
    }
}

#[test]
fn flow_control_of_quic_goes_with_its_stacks() {
    for (flow, message) in [
        ("scheme = \"reno\"\nquic = { receive_window = \"1 MB\" }", "`quic` is flow control of a QUIC stack"),
        (
            "stack = \"quinn\"\ntcp = { receive_window = \"1 MB\" }",
            "`tcp` does not go with stack = \"quinn\"",
        ),
        ("stack = \"noq\"\nquic = { receive_window = \"1 B\" }", "out of range"),
        ("stack = \"noq\"\nquic = { send_window = \"unlimited\" }", "out of range"),
        ("stack = \"noq\"\nquic = { recieve_window = \"1 MB\" }", "unknown key"),
    ] {
        let text = format!(
            "[topology]\nkind = \"dumbbell\"\nbottleneck = {{ rate = \"10 Mbit/s\", delay = \"5 ms\" }}\n[[flows]]\nname = \"f\"\n{flow}\n"
        );
        let refused = wrong(&text);
        assert!(refused.iter().any(|one| one.contains(message)), "{flow}: {refused:?}");
    }
}
