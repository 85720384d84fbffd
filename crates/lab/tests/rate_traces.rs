//! Links that follow a trace: from the scenario to the blueprint and back.

use std::sync::Arc;

use lab::Plan;
use units::{Duration, Rate, Time};

fn plan(topology: &str) -> Arc<Plan> {
    let text = format!(
        "duration = \"10 s\"\n[topology]\n{topology}\n[[flows]]\nname = \"one\"\nscheme = \"reno\"\nfrom = \"a\"\nto = \"c\"\n"
    );
    let scenario = lab::load(&text, "test.toml").unwrap_or_else(|error| panic!("{error}"));
    scenario.plan(None).expect("loaded means planned")
}

fn custom(first: &str, second: &str) -> Arc<Plan> {
    plan(&format!(
        "kind = \"custom\"\nlinks = [\n{{ name = \"l1\", ends = [\"a\", \"b\"], {first} }},\n{{ name = \"l2\", ends = [\"b\", \"c\"], {second} }},\n]"
    ))
}

#[test]
fn a_file_is_loaded_once_and_its_mean_is_the_rate() {
    let by_file = "trace = \"tests/walk.up\", delay = \"10 ms\"";
    let plan = custom(by_file, by_file);
    let [first, second] = [0, 1].map(|link| plan.blueprint.links[link].forward.clone());
    // four opportunities of 12 000 bits in 20 ms
    assert_eq!(first.rate, Rate::from_kbps(2400));
    let traces = [&first, &second].map(|port| port.trace.clone().expect("it follows the file"));
    assert!(Arc::ptr_eq(&traces[0], &traces[1]));
    assert_eq!(traces[0].period(), Duration::from_millis(20));
    assert_eq!(traces[0].bits_until(Time::ZERO + Duration::from_millis(10)), 24_000);
    // 10 bdp of 40 ms at 2.4 Mbit/s are 80 packets
    let plan = custom(&format!("{by_file}, buffer = \"10 bdp\""), by_file);
    assert_eq!(plan.blueprint.links[0].forward.queue.limit, sim::Limit::Packets(80));
}

#[test]
fn each_direction_has_its_own_rate_or_trace() {
    let plan = custom(
        "trace = \"leo\", delay = \"1 ms\", backward = { rate = \"5 Mbit/s\" }",
        "rate = \"1 Mbit/s\", delay = \"1 ms\", backward = { trace = { model = \"leo\", seed = 7 } }",
    );
    let [first, second] = [0, 1].map(|link| plan.blueprint.links[link].clone());
    let is_traced = |port: &sim::Shared<sim::PortSpec>| port.trace.is_some();
    assert_eq!([&first.forward, &first.backward].map(is_traced), [true, false]);
    assert_eq!([&second.forward, &second.backward].map(is_traced), [false, true]);
    assert_eq!((first.backward.rate, second.forward.rate), (Rate::from_mbps(5), Rate::from_mbps(1)));
    assert_ne!(first.forward.trace, second.backward.trace, "the seeds differ");
}

#[test]
fn a_link_like_another_takes_its_trace_or_has_a_rate_of_its_own() {
    let plan = custom("trace = \"dsl\", delay = \"1 ms\"", "like = \"l1\"");
    assert_eq!(plan.blueprint.links[1].forward, plan.blueprint.links[0].forward);
    let plan = custom("trace = \"dsl\", delay = \"1 ms\"", "like = \"l1\", rate = \"3 Mbit/s\"");
    let forward = &plan.blueprint.links[1].forward;
    assert_eq!((forward.rate, forward.trace.is_none()), (Rate::from_mbps(3), true));
}

#[test]
fn a_printed_plan_has_the_trace_and_gives_the_same_network() {
    let plan = custom(
        "trace = { model = \"wifi_home\", seed = 2 }, delay = \"1 ms\"",
        "trace = \"tests/walk.csv\", delay = \"1 ms\", backward = { trace = \"cable\" }",
    );
    let printed = plan.to_toml();
    for text in ["model = \"wifi_home\"", "seed = 2", "trace = \"tests/walk.csv\"", "trace = \"cable\""] {
        assert!(printed.contains(text), "{text} in\n{printed}");
    }
    let again = lab::load(&printed, "printed.toml").unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(again.plan(None).expect("loaded means planned").blueprint, plan.blueprint);
}

#[test]
fn a_template_with_a_default_rate_takes_a_trace() {
    let text = "[topology]\nkind = \"dumbbell\"\nedge = { trace = \"nr_mmwave\" }\nbottleneck = { rate = \"10 Mbit/s\", delay = \"1 ms\" }\n[[flows]]\nname = \"one\"\nscheme = \"reno\"\n";
    let scenario = lab::load(text, "test.toml").unwrap_or_else(|error| panic!("{error}"));
    let plan = scenario.plan(None).expect("loaded means planned");
    let traced = |link: &&sim::LinkSpec| link.forward.trace.is_some() && link.backward.trace.is_some();
    assert_eq!(plan.blueprint.links.iter().filter(traced).count(), 2, "both edges");
}

#[test]
fn the_models_are_listed_with_their_rates() {
    let models = lab::traces::models();
    let models = models.as_array().expect("a list");
    assert_eq!(models.len(), 13);
    for model in models {
        let [mean, low, high] =
            ["mean_bps", "low_bps", "high_bps"].map(|key| model[key].as_u64().expect(key));
        assert!(low <= high && (high / 10..=high).contains(&mean), "{model}");
        assert!(model["about"].as_str().is_some_and(|about| about.ends_with('.')), "{model}");
    }
    let outage =
        |name: &str| models.iter().find(|model| model["name"] == name).expect(name)["outage"].as_f64();
    assert_eq!(outage("dsl"), Some(0.0));
    assert!(outage("lte_tunnel") > Some(0.02));
}

#[test]
fn a_model_as_a_file_is_the_same_link() {
    let text = lab::traces::text("lte_train", 3, false).expect("a model");
    let folder = std::env::temp_dir().join(format!("thalweg-trace-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder for the test");
    let path = folder.join("train.csv");
    std::fs::write(&path, text).expect("the file is new");
    let written = format!("trace = \"{}\", delay = \"1 ms\"", path.display());
    let plan = custom("trace = { model = \"lte_train\", seed = 3 }, delay = \"1 ms\"", &written);
    std::fs::remove_dir_all(&folder).expect("it was just made");
    assert_eq!(plan.blueprint.links[0].forward.trace, plan.blueprint.links[1].forward.trace);
    assert_eq!(lab::traces::text("lte", 3, false), None);
}

#[test]
fn the_delay_of_a_trace_is_added_to_that_of_its_link() {
    let plan = custom("trace = \"leo_pass\", delay = \"10 ms\"", "rate = \"1 Gbit/s\", delay = \"1 ms\"");
    let forward = &plan.blueprint.links[0].forward;
    let trace = forward.trace.as_ref().expect("it follows a model");
    // the nearest satellite of ten minutes is at least 550 km away, there and back 3.67 ms
    assert!(trace.has_delays() && trace.min_delay() >= Duration::from_micros(3669));
    assert_eq!(forward.delay, Duration::from_millis(10) + trace.min_delay());
    let again = lab::load(&plan.to_toml(), "test.toml").expect("a printed plan is right").plan(None);
    assert_eq!(again.expect("loaded means planned").blueprint, plan.blueprint);
}

#[test]
fn an_orbit_is_part_of_a_trace() {
    let high = "trace = { model = \"leo_pass\", height_km = 1200, min_elevation_deg = 30 }, delay = \"0 ms\"";
    let plan = custom(high, "trace = \"leo_pass\", delay = \"0 ms\"");
    let [first, second] = [0, 1].map(|link| plan.blueprint.links[link].forward.delay);
    // twice 1200 km take 8 ms
    assert!(first >= Duration::from_micros(8005) && second < Duration::from_micros(7500), "{first} {second}");
    let again = lab::load(&plan.to_toml(), "test.toml").expect("a printed plan is right").plan(None);
    assert_eq!(again.expect("loaded means planned").blueprint, plan.blueprint);
}
