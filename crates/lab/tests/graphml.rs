//! Rates and delays of graphs that are read from files: what the scenario says, what the file says, and what neither
//! does.

use std::fmt::Write;
use std::fs;
use std::path::PathBuf;

use lab::{Problems, Scenario};
use units::{Duration, Rate};

/// A ring of nodes: latitude and longitude, if they are in the file, and the rate of the link to the next node in
/// bit/s.
type Ring<'a> = [(Option<(f64, f64)>, &'a str)];

fn load(name: &str, ring: &Ring<'_>, topology: &str) -> Result<Scenario, Problems> {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("graphml").join(name);
    fs::create_dir_all(&folder).expect("the folder for temporary files is writable");
    let mut text = "<graphml><key id='a' attr.name='Latitude'/><key id='o' attr.name='Longitude'/>\
                    <key id='s' attr.name='LinkSpeedRaw'/><graph>"
        .to_owned();
    for (node, (location, _)) in ring.iter().enumerate() {
        let data = location.map(|(lat, lon)| format!("<data key='a'>{lat}</data><data key='o'>{lon}</data>"));
        let _ = write!(text, "<node id='n{node}'>{}</node>", data.unwrap_or_default());
    }
    for (node, (_, speed)) in ring.iter().enumerate() {
        let next = (node + 1) % ring.len();
        let data = if speed.is_empty() { String::new() } else { format!("<data key='s'>{speed}</data>") };
        let _ = write!(text, "<edge source='n{node}' target='n{next}'>{data}</edge>");
    }
    text.push_str("</graph></graphml>");
    fs::write(folder.join("ring.graphml"), text).expect("the folder was made");
    let scenario = format!(
        "duration = \"1 s\"\n[topology]\nkind = \"graphml\"\nfile = \"ring.graphml\"\n{topology}\n\
         [[flows]]\nname = \"f\"\nscheme = \"reno\"\nfrom = \"n0\"\nto = \"n1\"\n"
    );
    lab::load(&scenario, folder.join("test.toml").to_str().expect("paths are UTF-8"))
}

fn rates(scenario: &Scenario) -> Vec<u64> {
    let plan = scenario.plan(None).expect("loaded means planned");
    plan.blueprint.links.iter().map(|link| link.forward.rate.as_bps() / 1_000_000).collect()
}

fn messages(diagnostics: &Problems) -> Vec<&str> {
    diagnostics.iter().map(|problem| problem.message.as_str()).collect()
}

const NOWHERE: Option<(f64, f64)> = None;

#[test]
fn a_rate_of_the_scenario_counts_unless_the_one_of_the_file_is_wanted() {
    let some: &Ring<'_> = &[(NOWHERE, "1e9"), (NOWHERE, ""), (NOWHERE, "155000000.0")];
    let all: &Ring<'_> = &[(NOWHERE, "1e9"), (NOWHERE, "2e9"), (NOWHERE, "155e6")];
    let none: &Ring<'_> = &[(NOWHERE, ""), (NOWHERE, ""), (NOWHERE, "")];
    let both = "link = { rate = \"100 Mbit/s\", delay = \"5 ms\" }";
    let delay = "link = { delay = \"5 ms\" }";
    for (name, ring, keys, wanted, warned) in [
        ("some and rate", some, both.to_owned(), [100, 100, 100], Some("2 of 3 links")),
        ("some, true", some, format!("rate_from_file = true\n{both}"), [1000, 100, 155], None),
        ("some, false", some, format!("rate_from_file = false\n{both}"), [100, 100, 100], None),
        ("all and rate", all, both.to_owned(), [100, 100, 100], Some("3 of 3 links")),
        ("all, true", all, format!("rate_from_file = true\n{both}"), [1000, 2000, 155], Some("no effect")),
        ("all, no rate", all, delay.to_owned(), [1000, 2000, 155], None),
        ("none and rate", none, both.to_owned(), [100, 100, 100], None),
        (
            "none, true",
            none,
            format!("rate_from_file = true\n{both}"),
            [100, 100, 100],
            Some("no link of the file"),
        ),
    ] {
        let read = load(name, ring, &keys).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(rates(&read), wanted, "{name}");
        let warnings = messages(read.warnings());
        assert_eq!(warnings.len(), usize::from(warned.is_some()), "{name}: {warnings:?}");
        assert!(
            warnings.iter().all(|warning| warned.is_some_and(|word| warning.contains(word))),
            "{name}: {warnings:?}"
        );
    }
    for (name, ring, keys, word) in [
        ("some, no rate", some, delay, "1 of 3 links have no rate in the file (`LinkSpeedRaw`): n1-n2"),
        ("none, no rate", none, delay, "a link needs `rate`"),
    ] {
        let refused = load(name, ring, keys).expect_err(name);
        assert!(messages(&refused).iter().any(|message| message.contains(word)), "{name}: {refused}");
    }
}

#[test]
fn a_sweep_over_the_rate_changes_every_link() {
    let ring: &Ring<'_> = &[(NOWHERE, "1e9"), (NOWHERE, "2e9"), (NOWHERE, "155e6")];
    for link in ["link = { rate = \"100 Mbit/s\", delay = \"5 ms\" }", "link = { delay = \"5 ms\" }"] {
        let read = load("sweep", ring, link).expect("it is right");
        let changed = read.with_text("topology.link.rate", "3 Mbit/s").expect("it is right");
        assert_eq!(rates(&changed), [3, 3, 3], "{link}");
    }
    let named = "link = { delay = \"5 ms\" }\nlinks = [{ name = \"n1-n2\", rate = \"7 Mbit/s\" }]";
    assert_eq!(rates(&load("named", ring, named).expect("it is right")), [1000, 7, 155]);
    let traced = "link = { trace = \"lte_driving\", delay = \"5 ms\" }";
    let read = load("traced", ring, traced).expect("it is right");
    let plan = read.plan(None).expect("loaded means planned");
    assert!(plan.blueprint.links.iter().all(|link| link.forward.trace.is_some()));
}

#[test]
fn a_speed_that_is_no_number_of_bit_per_second_is_none() {
    for speed in ["0", "-1", "10G", "1e14", "nan", "inf", "10 Mbit/s", "1,5e9"] {
        let ring: &Ring<'_> = &[(NOWHERE, "1e9"), (NOWHERE, speed), (NOWHERE, "1e9")];
        let refused = load("speed", ring, "link = { delay = \"5 ms\" }").expect_err(speed);
        let message = messages(&refused)[0];
        assert!(
            message.contains("1 of 3 links") && message.contains(&format!("n1-n2 (`{speed}`)")),
            "{refused}"
        );
        let rate = "rate_from_file = true\nlink = { rate = \"5 Mbit/s\", delay = \"5 ms\" }";
        let warned = load("speed", ring, rate).unwrap_or_else(|error| panic!("{error}"));
        assert!(messages(warned.warnings()).iter().any(|message| message.contains(speed)), "{speed}");
    }
}

#[test]
fn links_of_nodes_without_a_location_have_the_delay_of_the_scenario() {
    let spots = [
        (48.0, 2.0),
        (48.0, 4.0),
        (50.0, 3.0),
        (51.0, 5.0),
        (52.0, 6.0),
        (53.0, 1.0),
        (54.0, 2.0),
        (55.0, 0.0),
    ];
    for holes in [vec![], vec![2], vec![0, 1, 3, 5, 6], (0..8).collect()] {
        let ring: Vec<_> = (0..8).map(|n| (Some(spots[n]).filter(|_| !holes.contains(&n)), "")).collect();
        let keys =
            |delay: &str| format!("delay_by_distance = true\nlink = {{ rate = \"10 Mbit/s\"{delay} }}");
        let with =
            load("holes", &ring, &keys(", delay = \"70 ms\"")).unwrap_or_else(|error| panic!("{error}"));
        let plan = with.plan(None).expect("loaded means planned");
        for (number, link) in plan.blueprint.links.iter().enumerate() {
            let lost = holes.contains(&number) || holes.contains(&((number + 1) % 8));
            let delay = link.forward.delay;
            assert_eq!(delay == Duration::from_millis(70), lost, "{holes:?} {}", link.name);
            assert_eq!(delay, link.backward.delay);
        }
        let warnings = messages(with.warnings());
        let without = load("holes", &ring, &keys(""));
        if holes.is_empty() {
            assert!(warnings[0].contains("no effect"), "{warnings:?}");
            assert!(without.is_ok());
            continue;
        }
        let refused = without.expect_err("a delay is missing");
        for message in [warnings[0], messages(&refused)[0]] {
            assert!(message.contains(&format!("{} of 8 nodes", holes.len())), "{message}");
            assert!(
                message.contains(&format!("n{}", holes[0]))
                    && message.contains(&format!("n{}", holes[holes.len() - 1])),
                "{message}"
            );
        }
        assert!(refused.first().hint.as_deref().is_some_and(|hint| hint.contains("`delay`")));
    }
}

#[test]
fn a_link_with_a_delay_of_its_own_needs_no_location() {
    let ring: &Ring<'_> = &[(Some((1.0, 1.0)), ""), (NOWHERE, ""), (Some((2.0, 2.0)), "")];
    let keys = "delay_by_distance = true\nlink = { rate = \"10 Mbit/s\" }\nlinks = [{ name = \"n?-n?\", delay = \"9 ms\" }]";
    let of = |links: &str| load("own", ring, &keys.replace("{ name = \"n?-n?\", delay = \"9 ms\" }", links));
    assert!(of("").is_err());
    let both = "{ name = \"n0-n1\", delay = \"9 ms\" }, { name = \"n1-n2\", delay = \"9 ms\" }";
    let read = of(both).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(read.warnings().count(), 0);
    assert_eq!(rates(&read), [Rate::from_mbps(10).as_bps() / 1_000_000; 3]);
}
