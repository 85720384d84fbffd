//! Schemes of the catalogue as controllers of real connections of quinn-proto, over a bottleneck in virtual time.

#[allow(dead_code, reason = "other tests use the rest")]
mod pair;

use std::sync::Arc;
use std::time::Duration;

use pair::{Factory, Net, Outcome, Path};
use quinn_proto::congestion;
use thalweg_quic::{Cubic, Cvihis, NAMES, Reno, Value, by_name, schemes};

fn scheme(name: &str) -> Factory {
    by_name(name, &[], 1).expect("its defaults are in range").expect("it is one of the names")
}

/// One upload of `bytes`, in at most `until_s` seconds.
fn alone(path: Path, factory: Factory, bytes: u64, until_s: u64) -> Outcome {
    let mut net = Net::new(path);
    net.upload(factory, bytes, Duration::ZERO);
    net.run(Duration::from_secs(until_s))[0]
}

/// Endless uploads, the second from the fifth second on; bytes that each delivers in a minute.
fn together(path: Path, first: Factory, second: Factory) -> [u64; 2] {
    let mut net = Net::new(path);
    net.upload(first, u64::MAX, Duration::ZERO);
    net.upload(second, u64::MAX, Duration::from_secs(5));
    let outcomes = net.run(Duration::from_secs(60));
    [outcomes[0].received, outcomes[1].received]
}

fn mbps(outcome: &Outcome) -> f64 {
    outcome.received as f64 * 8.0 / 1e6 / outcome.took.expect("it is complete").as_secs_f64()
}

#[test]
fn every_scheme_completes_a_transfer_within_the_capacity() {
    for name in NAMES {
        let outcome = alone(Path::new(10, 20, 2.0), scheme(name), 4_000_000, 60);
        let rate = mbps(&outcome);
        assert_eq!((outcome.received, outcome.mtu), (4_000_000, 1452), "{name}");
        assert!((1.0..10.0).contains(&rate), "{name}: {rate} Mbit/s");
    }
}

#[test]
fn schemes_that_fill_a_queue_use_the_whole_path() {
    // 20 bytes of QUIC and a tag of 16 of each 1452, and the handshake
    for name in ["aimd", "bbr", "bic", "cubic", "reno"] {
        let outcome = alone(Path::new(10, 20, 2.0), scheme(name), 10_000_000, 60);
        assert!(mbps(&outcome) > 9.4, "{name}: {outcome:?}");
        assert!(outcome.lost > 0, "{name}: {outcome:?}");
    }
}

#[test]
fn reno_does_what_newreno_of_quinn_does() {
    // quinn's NewReno is RFC 9002 §7 by other hands
    for path in [Path::new(10, 20, 2.0), Path::new(10, 20, 0.5), Path::new(40, 50, 1.0)] {
        let ours = alone(path, Arc::new(Reno::default()), 20_000_000, 120);
        let theirs = alone(path, Arc::new(congestion::NewRenoConfig::default()), 20_000_000, 120);
        let ratio = mbps(&ours) / mbps(&theirs);
        assert!((0.9..1.1).contains(&ratio), "{ratio}: {ours:?} {theirs:?}");
    }
}

#[test]
fn background_yields_and_real_time_takes_a_share() {
    let path = Path::new(10, 20, 2.0);
    let [cubic, background] = together(path, scheme("cubic"), Arc::new(Cvihis::background()));
    assert!(background * 10 < cubic, "{background} {cubic}");
    let [cubic, real_time] = together(path, scheme("cubic"), Arc::new(Cvihis::real_time()));
    assert!(real_time > 3 * background && real_time < cubic, "{background} {real_time} {cubic}");
}

#[test]
fn two_of_a_kind_share() {
    let [first, second] = together(Path::new(10, 20, 1.0), scheme("cubic"), scheme("cubic"));
    assert!(first < 2 * second, "{first} {second}");
}

#[test]
fn a_maximum_rate_is_reached_and_not_exceeded() {
    let rate = Value::from("2 Mbit/s");
    let given = [("initial_rate".to_owned(), rate.clone()), ("max_rate".to_owned(), rate)];
    let factory = by_name("cvihis", &given, 0).expect("they are in range").expect("it is one of the names");
    let outcome = alone(Path::new(10, 20, 2.0), factory, 10_000_000, 120);
    let rate = mbps(&outcome);
    assert!((1.5..=2.0).contains(&rate), "{rate}");
}

#[test]
fn marks_are_congestion_without_loss() {
    let path = Path { mark_from: Some(25_000), ..Path::new(10, 20, 4.0) };
    for name in ["cubic", "tfrc", "cvihis"] {
        let outcome = alone(path, scheme(name), 10_000_000, 60);
        assert_eq!(outcome.lost, 0, "{name}");
        // CVIHIS holds the queue below the threshold
        assert!(outcome.events > 0 || name == "cvihis", "{name}: {outcome:?}");
        assert!(mbps(&outcome) > 2.0, "{name}: {outcome:?}");
    }
}

#[test]
fn parameters_have_their_effect_and_wrong_ones_are_refused() {
    let careful = schemes::cubic::Params { beta: 0.2, ..Default::default() };
    let path = Path::new(40, 50, 0.2);
    let careful = alone(path, Arc::new(Cubic::new(careful)), 20_000_000, 120);
    let usual = alone(path, Arc::new(Cubic::default()), 20_000_000, 120);
    assert!(mbps(&careful) < mbps(&usual), "{careful:?} {usual:?}");
    assert!(by_name("nobody", &[], 0).expect("nothing is wrong").is_none());
    let given = [("beta".to_owned(), Value::from(7.0))];
    assert_eq!(by_name("cubic", &given, 0).err().map(|error| error.name), Some("beta".to_owned()));
}

#[test]
fn equal_seeds_give_equal_runs() {
    for name in ["bbr", "cubic", "cvihis"] {
        let run = || alone(Path::new(10, 20, 1.0), scheme(name), 2_000_000, 60);
        assert_eq!(run(), run(), "{name}");
    }
}
