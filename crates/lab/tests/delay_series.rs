//! The series of delays: means over the packets of each interval, which agree with the tables and with the queue
//! itself.

mod common;

use std::collections::BTreeMap;

use lab::{Cells, Report};

/// A flow that fills its queue, one that ends early, a group, and a consumer of named data.
const MIXED: &str = r#"
duration = "12 s"
[topology]
kind = "custom"
links = [
  { name = "a", ends = ["s", "r1"], rate = "100 Mbit/s", delay = "3 ms" },
  { name = "b", ends = ["r1", "r2"], rate = "4 Mbit/s", delay = "7 ms", buffer = "60 packets" },
  { name = "c", ends = ["r2", "d"], rate = "100 Mbit/s", delay = "5 ms" },
]
[[producers]]
prefix = "/films"
node = "s"
[[flows]]
name = "long"
scheme = "reno"
from = "s"
to = "d"
[[flows]]
name = "short"
source = { kind = "constant", rate = "100 kbit/s" }
from = "s"
to = "d"
start = "2 s"
stop = "5 s"
[[flows]]
name = "group"
scheme = "tfmcc"
from = "s"
to = ["r2", "d"]
[[flows]]
name = "films"
scheme = "aimd"
network = "ndn"
from = "d"
prefix = "/films/one"
[record]
every = "500 ms"
series = ["owd", "queueing_delay", "throughput", "rate"]
"#;

/// The values of a series by subject, in the order of time.
fn series(report: &Report, name: &str) -> BTreeMap<String, Vec<Option<f64>>> {
    let table = report.table("series").expect("it is always there");
    let words = |column: &str| match table.column(column) {
        Some(Cells::Text(words)) => words.iter().map(str::to_owned).collect::<Vec<_>>(),
        other => panic!("{column}: {other:?}"),
    };
    let mut found: BTreeMap<String, Vec<Option<f64>>> = BTreeMap::new();
    let rows = words("series").into_iter().zip(words("subject")).zip(table.numbers("value"));
    for ((_, subject), value) in rows.filter(|((series, _), _)| series == name) {
        found.entry(subject).or_default().push(value);
    }
    found
}

#[test]
fn delays_per_interval_agree_with_the_means_of_the_run() {
    let (_, report) = common::run(&common::plan(MIXED));
    let (owd, waits) = (series(&report, "owd"), series(&report, "queueing_delay"));
    let rates = series(&report, "throughput");
    let subjects =
        ["flow.films", "receiver.group@d", "receiver.group@r2", "receiver.long@d", "receiver.short@d"];
    assert_eq!(owd.keys().collect::<Vec<_>>(), subjects);
    for subject in subjects {
        let (delays, waits, rates) = (&owd[subject], &waits[subject], &rates[subject]);
        assert_eq!(delays.len(), 24, "{subject}");
        let (mut packets, mut delay_sum, mut wait_sum) = (0.0, 0.0, 0.0);
        for ((delay, wait), rate) in delays.iter().zip(waits).zip(rates) {
            let rate = rate.expect("a rate is always there");
            // an interval has a mean where packets arrived in it, and only there
            assert_eq!((delay.is_some(), wait.is_some()), (rate > 0.0, rate > 0.0), "{subject}");
            let (Some(delay), Some(wait)) = (delay, wait) else { continue };
            assert!((0.0..=*delay).contains(wait), "{subject}: {wait} of {delay}");
            // packets of a flow are of one size, except the handshake and the ends of a file
            packets += rate;
            delay_sum += delay * rate;
            wait_sum += wait * rate;
        }
        let mean = |key: &str| report.value(&format!("{subject}.{key}")).expect("it was measured");
        let near = |a: f64, b: f64| (a - b).abs() <= 0.002 * b.max(1e-4);
        assert!(near(delay_sum / packets, mean("owd")), "{subject}: {} {}", delay_sum / packets, mean("owd"));
        let waited = wait_sum / packets;
        assert!(near(waited, mean("queueing_delay")), "{subject}: {waited} {}", mean("queueing_delay"));
    }
    let present = |subject: &str| owd[subject].iter().filter(|value| value.is_some()).count();
    assert!((6..=8).contains(&present("receiver.short@d")), "{}", present("receiver.short@d"));
    assert!(present("receiver.long@d") >= 23);
}

/// A delay that an event changes is in the series from then on, and is no wait.
#[test]
fn a_longer_path_is_in_the_one_way_delay_and_not_in_the_wait() {
    let text = r#"
duration = "4 s"
[topology]
kind = "dumbbell"
bottleneck = { rate = "10 Mbit/s", delay = "10 ms" }
[[flows]]
name = "f"
source = { kind = "constant", rate = "1 Mbit/s" }
[[events]]
at = "2 s"
link = "bottleneck"
delay = "30 ms"
[record]
every = "1 s"
series = ["owd", "queueing_delay"]
"#;
    let (_, report) = common::run(&common::plan(text));
    // 8 µs on each access link of 1 Gbit/s, 0.8 ms on the bottleneck, for packets of 1000 B
    let base = 0.002 + 2.0 * 8e-6 + 8e-4;
    let owd = &series(&report, "owd")["receiver.f@right1"];
    for (value, propagation) in owd.iter().zip([0.01, 0.01, 0.03, 0.03]) {
        let value = value.expect("packets arrive in each second");
        // one packet more or less before the change is seen
        assert!((value - base - propagation).abs() < 3e-4, "{value} {propagation}");
    }
    let waits = &series(&report, "queueing_delay")["receiver.f@right1"];
    assert_eq!(*waits, vec![Some(0.0); 4]);
}
