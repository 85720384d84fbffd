//! A stream whose packets overtake is not a stream that loses: every scheme for streams, groups and named data keeps
//! half of its throughput or more, and its queue drops hardly more than in order, or the reason is listed.

mod common;

use contract::Family;
use lab::{Report, load};
use schemes::{Build, Entry};

/// A bottleneck: rate, one-way delay, and a buffer in packets. A packet takes 1, 0.25, 1 and 5 ms.
struct Network {
    rate: &'static str,
    delay: &'static str,
    buffer: u32,
}

const NETWORKS: [Network; 4] = [
    Network { rate: "10 Mbit/s", delay: "16 ms", buffer: 50 },
    Network { rate: "2 Mbit/s", delay: "36 ms", buffer: 30 },
    Network { rate: "40 Mbit/s", delay: "12 ms", buffer: 200 },
    Network { rate: "10 Mbit/s", delay: "46 ms", buffer: 100 },
];

/// One packet in a thousand and in a hundred overtakes all others on the way; delays vary by ± 1 and ± 5 ms, and
/// packets overtake.
const FORMS: [(&str, &str); 4] = [
    ("0.1 %", "impair = { reorder = 0.001 }"),
    ("1 %", "impair = { reorder = 0.01 }"),
    ("1 ms", "impair = { jitter = \"1 ms\" }"),
    ("5 ms", "impair = { jitter = \"5 ms\" }"),
];

/// A long path with a deep queue, and delays that vary by ± 2 and ± 5 ms: of 8 and 20 packets, nearly every one
/// overtakes.
const LONG: Network = Network { rate: "40 Mbit/s", delay: "46 ms", buffer: 500 };
const VARYING: [(&str, &str); 2] =
    [("2 ms", "impair = { jitter = \"2 ms\" }"), ("5 ms", "impair = { jitter = \"5 ms\" }")];

/// Share of the throughput in order that a scheme keeps.
const LOWEST: f64 = 0.5;
/// What the bottleneck drops more than in order, as a share of the packets offered to it.
const MORE_LOSS: f64 = 0.05;

/// Schemes that keep less, the forms in which they do, and why.
const REASONS: [(&str, &[&str], &str); 1] = [(
    "mca",
    &["1 ms", "5 ms"],
    "its accumulation is a delay times a rate [MCA §2.2], so that a delay that varies is data in a queue, in order as well",
)];

fn scenario(entry: &Entry, family: Family, network: &Network, impair: &str) -> String {
    let name = entry.scheme.name;
    let parts = |table: &str| {
        let strategy = entry.strategy.map(|_| format!("strategy = \"{name}\"\n"));
        let link = entry.link.map(|_| format!("link = \"{name}\"\n"));
        format!("[{table}]\n{}{}", strategy.unwrap_or_default(), link.unwrap_or_default())
    };
    let flow = format!("[[flows]]\nname = \"f\"\nscheme = \"{name}\"\npacket = \"1250 B\"\n");
    let flow = match family {
        Family::Ip => format!("{flow}from = \"s\"\nto = \"d1\"\n"),
        Family::Multicast => format!("{flow}from = \"s\"\nto = [\"d1\", \"d2\"]\n"),
        Family::Icn => format!("{flow}network = \"icn\"\nfrom = \"s\"\nto = [\"d1\", \"d2\"]\n"),
        Family::Ndn => format!(
            "{}[[producers]]\nprefix = \"/films\"\nnode = \"s\"\npayload = \"1174 B\"\ndata = \"1250 B\"\n\
             [[flows]]\nname = \"f\"\nscheme = \"{name}\"\nnetwork = \"ndn\"\nfrom = \"d1\"\nprefix = \"/films\"\n",
            parts("ndn")
        ),
        Family::Sdn => unreachable!("controllers send no data"),
    };
    let Network { rate, delay, buffer } = network;
    let comma = if impair.is_empty() { "" } else { ", " };
    format!(
        r#"
duration = "40 s"
warmup = "15 s"
[topology]
kind = "custom"
links = [
  {{ name = "access", ends = ["s", "r1"], rate = "1 Gbit/s", delay = "2 ms" }},
  {{ name = "bottleneck", ends = ["r1", "r2"], rate = "{rate}", delay = "{delay}", buffer = "{buffer} packets"{comma}{impair} }},
  {{ name = "leaf1", ends = ["r2", "d1"], rate = "1 Gbit/s", delay = "2 ms" }},
  {{ name = "leaf2", ends = ["r2", "d2"], rate = "1 Gbit/s", delay = "2 ms" }},
]
{flow}"#
    )
}

/// What the slowest receiver of the flow gets, in bit/s.
fn received(report: &Report) -> f64 {
    let table = report.table("flows").expect("every report has it");
    table.numbers("throughput_worst_bps")[0].unwrap_or(0.0)
}

/// The throughput in bit/s, and the share of packets that the bottleneck drops.
fn measured(entry: &Entry, family: Family, network: &Network, impair: &str) -> (f64, f64) {
    let text = scenario(entry, family, network, impair);
    let scenario = load(&text, "test.toml").unwrap_or_else(|why| panic!("{}: {why}", entry.scheme.name));
    let (_, report) = common::run(&scenario.plan(None).expect("it was loaded"));
    (received(&report), report.value("link.bottleneck.loss_ratio").expect("packets were offered"))
}

/// Schemes of streams, of groups and of named data; windows over TCP have the tests of TCP.
fn cases() -> Vec<(Entry, Family)> {
    let schemes = schemes::catalogue().into_iter();
    let families = |entry: Entry| entry.scheme.families.iter().map(move |&family| (entry, family));
    let streams = |entry: &Entry| matches!(entry.build, Build::Stream { .. });
    schemes
        .flat_map(families)
        .filter(|(entry, family)| {
            matches!(family, Family::Ndn | Family::Icn | Family::Multicast)
                || (*family == Family::Ip && streams(entry))
        })
        .collect()
}

/// Two networks, and with `THALWEG_SLOW=1` all four.
#[test]
fn a_stream_whose_packets_overtake_is_not_a_stream_that_loses() {
    let networks = if std::env::var_os("THALWEG_SLOW").is_some() { 4 } else { 2 };
    let (mut wrong, mut runs, mut reasons) = (Vec::new(), 0, Vec::new());
    for (entry, family) in cases() {
        for network in &NETWORKS[..networks] {
            let (in_order, lost_in_order) = measured(&entry, family, network, "");
            for (form, impair) in FORMS {
                runs += 1;
                let (rate, lost) = measured(&entry, family, network, impair);
                let name = entry.scheme.name;
                if lost > lost_in_order + MORE_LOSS {
                    wrong.push(loses(name, family, network, form, (lost, lost_in_order)));
                }
                let share = rate / in_order;
                if share >= LOWEST {
                    continue;
                }
                match REASONS.iter().find(|(scheme, forms, _)| *scheme == name && forms.contains(&form)) {
                    Some((scheme, ..)) => reasons.push(*scheme),
                    None => wrong.push(format!(
                        "{name} over {}, {}, {form}: {share:.2} of {in_order:.0} bit/s",
                        family.name(),
                        network.rate
                    )),
                }
            }
        }
    }
    assert!(runs > 250, "{runs} runs");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // a reason that is needed no more is removed
    assert!(REASONS.iter().all(|(scheme, ..)| reasons.contains(scheme)), "{reasons:?}");
}

fn loses(name: &str, family: Family, network: &Network, form: &str, (lost, in_order): (f64, f64)) -> String {
    let (family, rate) = (family.name(), network.rate);
    format!("{name} over {family}, {rate}, {form}: loses {lost:.3}, in order {in_order:.3}")
}

/// Where nearly every packet overtakes, there are few samples of packets in order, and losses among packets that are
/// late: a scheme that takes neither sends ever more. SCReAM sent 100 Mbit/s over 40.
#[test]
fn where_nearly_all_packets_overtake_a_queue_that_overflows_is_noticed() {
    let mut wrong = Vec::new();
    for (entry, family) in cases() {
        let (_, in_order) = measured(&entry, family, &LONG, "");
        for (form, impair) in VARYING {
            let (_, lost) = measured(&entry, family, &LONG, impair);
            if lost > in_order + MORE_LOSS {
                wrong.push(loses(entry.scheme.name, family, &LONG, form, (lost, in_order)));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The network with which CVIHIS ended at its minimum of 8 kbit/s for ever, with every seed; and the same with 0.1, 1
/// and 2 % of random loss and a noise that is not in order. AIMD by [CVIHIS Table 1] has about √(11/(p·RTT)) packets
/// per second at a loss rate p; half of that is asked.
#[test]
fn cvihis_survives_rare_reordering_and_random_loss() {
    let entry = schemes::find("cvihis").expect("it is in the catalogue");
    let network = Network { rate: "40 Mbit/s", delay: "6 ms", buffer: 200 };
    for (loss, at_least) in [("0", 8e6), ("0.001", 3e6), ("0.01", 0.9e6), ("0.02", 0.6e6)] {
        for impair in
            ["{ reorder = 0.001 }", "{ jitter = \"1 ms\" }", "{ jitter = \"1 ms\", keep_order = true }"]
        {
            let (rate, _) =
                measured(&entry, Family::Ip, &network, &format!("loss = {loss}, impair = {impair}"));
            assert!(rate >= at_least, "{loss}, {impair}: {rate:.0} bit/s");
        }
    }
}
