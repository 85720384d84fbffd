//! Videos over streams, from the text of a scenario to the counts of their players.

use lab::Plan;

fn plan(text: &str) -> std::sync::Arc<Plan> {
    // paths are relative to this file
    let name = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/video.toml");
    let scenario = lab::load(text, name).unwrap_or_else(|diagnostics| panic!("{diagnostics}"));
    let plan = scenario.plan(None).expect("loaded means planned");
    let printed = plan.to_toml();
    let again = lab::load(&printed, name).unwrap_or_else(|diagnostics| panic!("{diagnostics}\n{printed}"));
    assert_eq!(again.plan(None).expect("loaded means planned"), plan, "{printed}");
    plan
}

/// The results of one flow over TFRC, a link of 10 Mbit/s and a round-trip time of 44 ms.
fn run(seconds: u32, flow: &str, more: &str) -> lab::Report {
    run_after(0, seconds, flow, more)
}

/// The results of such a flow without the first `warmup` seconds.
fn run_after(warmup: u32, seconds: u32, flow: &str, more: &str) -> lab::Report {
    let text = format!(
        "duration = \"{seconds} s\"\nwarmup = \"{warmup} s\"\n[topology]\nkind = \"dumbbell\"\n\
         edge = {{ rate = \"100 Mbit/s\", delay = \"2 ms\" }}\n\
         bottleneck = {{ rate = \"10 Mbit/s\", delay = \"20 ms\" }}\n\
         [[flows]]\nname = \"film\"\nscheme = \"tfrc\"\n{flow}\n{more}\n"
    );
    let outcome = lab::run(&plan(&text), &sim::Control::default());
    assert!(outcome.complete);
    outcome.report
}

fn value(report: &lab::Report, key: &str) -> f64 {
    report.value(key).unwrap_or_else(|| panic!("{key}"))
}

#[test]
fn a_video_from_a_list_of_frames_is_played_to_its_end() {
    let source = "source = { kind = \"trace\", file = \"frames.txt\", live = false }";
    let report = run(20, &format!("{source}\nplayer = {{ startup = \"500 ms\" }}"), "");
    assert_eq!(value(&report, "flow.film.frames_played"), 60.0);
    for nothing in ["frames_lost", "frames_late", "frames_dropped", "stalls", "stalled"] {
        assert_eq!(value(&report, &format!("flow.film.{nothing}")), 0.0, "{nothing}");
    }
    // 5 I frames, 15 P frames and 40 B frames, and 37·(0 + 1 + 2 + 3 + 4) in each five
    let sizes = 5.0 * 9000.0 + 15.0 * 4000.0 + 40.0 * 1500.0 + 12.0 * 370.0;
    assert_eq!(value(&report, "flow.film.sent_bytes"), sizes);
    // scaled to 1 Mbit/s of live frames: 60 frames in 2.4 s
    let source = "source = { kind = \"trace\", file = \"frames.txt\", rate = \"1 Mbit/s\" }";
    let report = run(20, source, "");
    assert!((value(&report, "flow.film.sent_bytes") - 300_000.0).abs() <= 1.0);
    assert_eq!(report.value("flow.film.frames_played"), None);
    // the list repeats
    let report = run(24, &source.replace(" }", ", repeat = true }"), "");
    assert!((value(&report, "flow.film.sent_bytes") / 3e6 - 1.0).abs() < 0.01);
}

/// The link is down from 10 s to 13 s. The film is live, so that frames of that time are lost.
#[test]
fn an_outage_causes_a_stall_and_loses_the_frames_of_its_time() {
    let report = run(
        30,
        "source = { kind = \"constant\", rate = \"1 Mbit/s\", drop_after = \"500 ms\" }\nplayer = { startup = \"1 s\" }",
        "[[events]]\nat = \"10 s\"\nlink = \"bottleneck\"\nup = false\n\
         [[events]]\nat = \"13 s\"\nlink = \"bottleneck\"\nup = true\n\
         [record]\nseries = [\"buffer\", \"waiting\"]\nevents = true",
    );
    assert_eq!(value(&report, "flow.film.stalls"), 1.0);
    // the buffer of one second lasts until 11 s, and has to fill again after 13 s
    let stalled = value(&report, "flow.film.stalled");
    assert!((2.5..=5.0).contains(&stalled), "{stalled}");
    let lost = value(&report, "flow.film.frames_lost");
    // 75 in the outage, and those for which TFRC is too slow after it
    assert!((70.0..=250.0).contains(&lost), "{lost}");
    let played = value(&report, "flow.film.frames_played");
    assert!(played + lost <= 750.0 && played + stalled * 25.0 <= 750.0, "{played}, {lost}, {stalled}");
    assert!(played > 400.0, "{played}");
    assert_eq!(report.value("receiver.film@right1.stalls"), Some(1.0));
}

/// Frames before the end of the warm-up count for the start only.
#[test]
fn the_start_of_playback_is_reported_and_frames_count_after_the_warm_up() {
    let report = run(
        20,
        "start = \"2 s\"\nsource = { kind = \"constant\", rate = \"1 Mbit/s\" }\nplayer = { startup = \"1 s\" }",
        "",
    );
    let startup = value(&report, "flow.film.startup");
    assert!((0.9..=2.2).contains(&startup), "{startup}");
    let whole = value(&report, "flow.film.frames_played");
    let text = "start = \"2 s\"\nsource = { kind = \"constant\", rate = \"1 Mbit/s\" }\nplayer = { startup = \"1 s\" }";
    let plan_text = format!(
        "duration = \"20 s\"\nwarmup = \"10 s\"\n[topology]\nkind = \"dumbbell\"\n\
         edge = {{ rate = \"100 Mbit/s\", delay = \"2 ms\" }}\n\
         bottleneck = {{ rate = \"10 Mbit/s\", delay = \"20 ms\" }}\n\
         [[flows]]\nname = \"film\"\nscheme = \"tfrc\"\n{text}\n"
    );
    let report = lab::run(&plan(&plan_text), &sim::Control::default()).report;
    assert_eq!(report.value("flow.film.startup"), Some(startup));
    // a frame each 40 ms for ten seconds
    assert_eq!(value(&report, "flow.film.frames_played"), 250.0);
    assert!(whole > 250.0 + 150.0, "{whole}");
}

/// The player has no effect on the network: a film over a link that loses one packet in two hundred.
#[test]
fn frames_that_depend_on_a_lost_frame_are_undecodable() {
    let lossy = |player: &str| {
        let text = format!(
            "duration = \"60 s\"\n[topology]\nkind = \"dumbbell\"\n\
             edge = {{ rate = \"100 Mbit/s\", delay = \"2 ms\" }}\n\
             bottleneck = {{ rate = \"10 Mbit/s\", delay = \"20 ms\", loss = 0.005 }}\n\
             [[flows]]\nname = \"film\"\nscheme = \"tfrc\"\n\
             source = {{ kind = \"trace\", file = \"frames.txt\", rate = \"1 Mbit/s\", repeat = true }}\n\
             player = {{ {player} }}\n"
        );
        let report = lab::run(&plan(&text), &sim::Control::default()).report;
        ["frames_played", "frames_lost", "frames_undecodable"]
            .map(|name| value(&report, &format!("flow.film.{name}")))
    };
    let [played, lost, none] = lossy("depends = \"nothing\"");
    assert!(lost >= 10.0 && none == 0.0, "{lost} {none}");
    let mut before = 0.0;
    for depends in ["intra", "references"] {
        let [shown, missing, spoiled] = lossy(&format!("depends = \"{depends}\""));
        assert_eq!((shown + spoiled, missing), (played, lost), "{depends}");
        assert!(spoiled > before, "{depends}: {spoiled}");
        before = spoiled;
    }
    // the list has types, so that frames depend on their I frames by default
    assert_eq!(lossy(""), lossy("depends = \"intra\""));
}

/// 1.5 Mbit/s at 30 frames per second are 6250 bytes: seven packets of at most 1000 bytes. The path takes 22 ms of
/// propagation, and at least the transmission of 250 bytes of the last packet.
#[test]
fn an_encoder_follows_the_scheme_up_to_its_highest_rate() {
    let encoder =
        "encoder = { variation = 0.0, key_ratio = 1.0 }\nplayer = { startup = \"200 ms\", late = \"skip\" }";
    let report = run_after(20, 60, encoder, "");
    assert!((value(&report, "flow.film.throughput") / 1.5e6 - 1.0).abs() < 0.01);
    let delays = ["delay_min", "delay_p50", "delay_p95", "delay_max"]
        .map(|key| value(&report, &format!("flow.film.{key}")));
    assert!(delays.is_sorted() && delays[0] > 0.022 && delays[3] < 0.1, "{delays:?}");
    // frames leave before the next one is encoded
    let queue = ["rtp_queue", "rtp_queue_p95", "rtp_queue_max"]
        .map(|key| value(&report, &format!("flow.film.{key}")));
    assert!(queue[2] < 0.034 && queue[0] <= queue[1], "{queue:?}");
    assert_eq!(value(&report, "flow.film.frames_late"), 0.0);
}

/// Frames of a source that does not follow have no frame delays.
#[test]
fn only_an_encoder_that_follows_the_scheme_has_frame_delays() {
    let report = run(20, "source = { kind = \"constant\", rate = \"1 Mbit/s\" }", "");
    for key in ["delay", "delay_p95", "rtp_queue"] {
        assert_eq!(report.value(&format!("flow.film.{key}")), None, "{key}");
    }
}

/// The player's clock is an hour fast: playback starts after as long by true time.
#[test]
fn the_start_of_playback_is_by_true_time() {
    let flow = "source = { kind = \"constant\", rate = \"1 Mbit/s\" }\nplayer = { startup = \"1 s\" }";
    let startup = |more| value(&run(10, flow, more), "flow.film.startup");
    let (exact, fast) = (startup(""), startup("[[clocks]]\nnode = \"right1\"\noffset = \"1 h\""));
    assert!((exact - fast).abs() < 1e-6, "{exact} and {fast}");
}
