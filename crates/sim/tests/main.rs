//! Tests of whole networks in one program: each file beside this one is a module.

mod bbr;
mod bbr3;
mod buckets;
mod clocks;
mod codel;
mod consumers;
mod cvihis;
mod departures;
mod disciplines;
mod engine;
mod impairments;
mod late;
mod low_priority;
mod mca;
mod mircc;
mod mircc_multipath;
mod names;
mod ndn;
mod ndn_schemes;
mod packet_record;
mod pcon;
mod pgmcc;
mod rate_traces;
mod sdn;
mod tfmcc;
mod tfrc;
mod theory;
mod trees;

use sim::{Blueprint, Control, Trace, World};
use units::{Duration, Time};

/// Runs a network to its end.
fn run(blueprint: &Blueprint) -> Trace {
    let mut world = World::new(blueprint).expect("a valid blueprint");
    world.run(&Control::default());
    world.finish()
}

/// A network with recorded events.
fn network(seconds: u64, warmup: u64) -> Blueprint {
    let mut net = Blueprint::new(Duration::from_secs(seconds));
    net.warmup = Duration::from_secs(warmup);
    net.record.events = true;
    net
}

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn at(seconds: f64) -> Time {
    Time::ZERO + Duration::from_secs_f64(seconds)
}

fn at_ms(millis: u64) -> Time {
    Time::ZERO + ms(millis)
}

#[test]
fn every_file_of_tests_is_a_module() {
    let folder = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/tests")).expect("the folder exists");
    for file in folder {
        let name = file.expect("it can be read").file_name().into_string().expect("names are ASCII");
        let module = name.trim_end_matches(".rs");
        assert!(module == "main" || include_str!("main.rs").contains(&format!("mod {module};")), "{name}");
    }
}
