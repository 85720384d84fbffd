//! Every scheme of the catalogue works in every kind of network that its row lists, or says at load why it cannot.

mod common;

use contract::{Family, ParamValue};
use lab::{Report, load};
use schemes::{Build, Entry};
use units::{Rate, UnitText};

/// An ordinary network: rates of the links beside the bottleneck, of the bottleneck, and its one-way delay. The buffer
/// holds two bandwidth-delay products, as a router of an access network does.
struct Network {
    edge: &'static str,
    bottleneck: &'static str,
    delay: &'static str,
}

const NETWORKS: [Network; 3] = [
    Network { edge: "100 Mbit/s", bottleneck: "2 Mbit/s", delay: "10 ms" },
    Network { edge: "100 Mbit/s", bottleneck: "5 Mbit/s", delay: "40 ms" },
    Network { edge: "100 Mbit/s", bottleneck: "20 Mbit/s", delay: "5 ms" },
];

/// Use of the link below which a scheme does not work.
const LOWEST: f64 = 0.2;

/// A scenario with one flow of the scheme; its receivers are behind the bottleneck.
fn scenario(entry: &Entry, family: Family, network: &Network) -> String {
    let name = entry.scheme.name;
    let Network { edge, bottleneck, delay } = network;
    let parts = |table: &str| {
        let strategy = entry.strategy.map(|_| format!("strategy = \"{name}\"\n"));
        let link = entry.link.map(|_| format!("link = \"{name}\"\n"));
        format!("[{table}]\n{}{}", strategy.unwrap_or_default(), link.unwrap_or_default())
    };
    let flow = match family {
        Family::Ip => format!("[[flows]]\nname = \"f\"\nscheme = \"{name}\"\nfrom = \"s\"\nto = \"d1\"\n"),
        Family::Multicast => {
            format!("[[flows]]\nname = \"f\"\nscheme = \"{name}\"\nfrom = \"s\"\nto = [\"d1\", \"d2\"]\n")
        }
        Family::Icn => format!(
            "[[flows]]\nname = \"f\"\nscheme = \"{name}\"\nnetwork = \"icn\"\nfrom = \"s\"\nto = [\"d1\", \"d2\"]\n"
        ),
        Family::Ndn => format!(
            "{}[[producers]]\nprefix = \"/films\"\nnode = \"s\"\n\
             [[flows]]\nname = \"f\"\nscheme = \"{name}\"\nnetwork = \"ndn\"\nfrom = \"d1\"\nprefix = \"/films\"\n",
            parts("ndn")
        ),
        Family::Sdn => format!(
            "[sdn]\napp = \"{name}\"\n[[flows]]\nname = \"f\"\nscheme = \"reno\"\nfrom = \"s\"\nto = \"d1\"\n"
        ),
    };
    format!(
        r#"
duration = "60 s"
warmup = "30 s"
[topology]
kind = "custom"
links = [
  {{ name = "access", ends = ["s", "r1"], rate = "{edge}", delay = "2 ms" }},
  {{ name = "bottleneck", ends = ["r1", "r2"], rate = "{bottleneck}", delay = "{delay}", buffer = "2 bdp" }},
  {{ name = "leaf1", ends = ["r2", "d1"], rate = "{edge}", delay = "2 ms" }},
  {{ name = "leaf2", ends = ["r2", "d2"], rate = "{edge}", delay = "2 ms" }},
]
{flow}"#
    )
}

/// The rate that a scheme never exceeds by default, such as that of a call.
fn max_rate(entry: &Entry) -> f64 {
    let max = (entry.params)().into_iter().find(|param| param.name == "max_rate").map(|param| param.default);
    match max {
        Some(ParamValue::Text(text)) => {
            Rate::from_text(&text).map_or(f64::INFINITY, |rate| rate.as_bps_f64())
        }
        _ => f64::INFINITY,
    }
}

/// What the slowest receiver of the flow gets, in bit/s.
fn received(report: &Report) -> f64 {
    let table = report.table("receivers").expect("every report has it");
    let of_receivers = table.numbers("throughput_bps").into_iter().map(Option::unwrap_or_default);
    let of_flow = report.table("flows").expect("every report has it").numbers("throughput_bps");
    of_receivers.reduce(f64::min).or(of_flow[0]).unwrap_or(0.0)
}

#[test]
fn every_scheme_works_where_its_row_puts_it_or_says_why_not() {
    let (mut runs, mut wrong) = (0, Vec::new());
    for entry in schemes::catalogue() {
        let name = entry.scheme.name;
        assert!(!entry.scheme.families.is_empty(), "{name}");
        for &family in entry.scheme.families {
            for network in &NETWORKS {
                let what = format!("{name} over {}, {}", family.name(), network.bottleneck);
                let scenario = match load(&scenario(&entry, family, network), "test.toml") {
                    Ok(scenario) => scenario,
                    // a row that lists a family that is refused is not true
                    Err(diagnostics) => {
                        wrong.push(format!("{what}: refused: {diagnostics}"));
                        continue;
                    }
                };
                let (_, report) = common::run(&scenario.plan(None).expect("it was loaded"));
                runs += 1;
                let capacity = Rate::from_text(network.bottleneck).expect("a rate").as_bps_f64();
                let share = received(&report) / capacity.min(max_rate(&entry));
                let warned = scenario.warnings().count() > 0;
                if share < LOWEST && !warned {
                    wrong.push(format!("{what}: uses {share:.3} of the link, and nothing is said"));
                }
            }
        }
    }
    assert!(runs > 150, "{runs} runs");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Stream schemes are refused in the networks that their row does not list, with a hint.
#[test]
fn a_network_that_is_not_in_the_row_is_refused() {
    let mut refused = 0;
    for entry in schemes::catalogue() {
        if !matches!(entry.build, Build::Stream { .. }) {
            continue;
        }
        for family in [Family::Ip, Family::Multicast, Family::Icn] {
            if entry.scheme.families.contains(&family) {
                continue;
            }
            let error = load(&scenario(&entry, family, &NETWORKS[0]), "test.toml");
            let error = error.expect_err(entry.scheme.name);
            assert!(error.iter().all(|one| one.hint.is_some() && one.line > 0), "{error}");
            refused += 1;
        }
    }
    assert!(refused >= 10, "{refused}");
}

/// A tree of three links in a row with these rates in Mbit/s, and a group whose scheme has a part in routers.
fn named(scheme: &str, rates: [u32; 3], routers: &str) -> String {
    let [first, second, third] = rates;
    format!(
        r#"
duration = "40 s"
warmup = "20 s"
[topology]
kind = "custom"
links = [
  {{ name = "up", ends = ["s", "r1"], rate = "{first} Mbit/s", delay = "5 ms", buffer = "50 packets" }},
  {{ name = "middle", ends = ["r1", "r2"], rate = "{second} Mbit/s", delay = "10 ms", buffer = "50 packets" }},
  {{ name = "down", ends = ["r2", "d1"], rate = "{third} Mbit/s", delay = "5 ms", buffer = "50 packets" }},
]
[icn]
{routers}
[[flows]]
name = "f"
scheme = "{scheme}"
network = "icn"
from = "s"
to = ["d1"]
"#
    )
}

/// A group that loses most of its packets, because no router sees the bottleneck, is warned of; one that does not, is
/// not.
#[test]
fn a_bottleneck_that_no_router_by_name_sees_is_warned_of() {
    let with_parts = schemes::catalogue().into_iter();
    let with_parts = with_parts.filter(|entry| matches!(entry.build, Build::Stream { router: Some(_), .. }));
    let cases = [
        ([100, 5, 20], "", false),
        ([20, 20, 5], "", false),
        ([5, 20, 20], "", true),
        ([5, 5, 5], "", true),
        ([100, 5, 20], "routers = [\"r2\"]", true),
    ];
    let mut checked = 0;
    for entry in with_parts {
        for (rates, routers, blind) in cases {
            let name = entry.scheme.name;
            let scenario = load(&named(name, rates, routers), "test.toml").unwrap_or_else(|e| panic!("{e}"));
            let (_, report) = common::run(&scenario.plan(None).expect("it was loaded"));
            // of what the source sends
            let sent = report.table("flows").expect("every report has it").numbers("rate_bps")[0];
            let lost = 1.0 - received(&report) / sent.expect("it sends");
            assert_eq!(lost > 0.5, blind, "{name} {rates:?} {routers}: {lost}");
            assert_eq!(scenario.warnings().count() > 0, blind, "{name} {rates:?} {}", scenario.warnings());
            checked += 1;
        }
    }
    assert!(checked >= 10, "{checked}");
}
