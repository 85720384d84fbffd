//! Media flows of str0m in the simulator.

use std::process::Command;
use std::{env, thread};

use contract::{Count, FlowId, LinkId, NodeId};
use sim::{Blueprint, Change, Control, FlowKind, PortSpec, Trace, World};
use stack::datagram::{self, Pattern};
use stack::stream::{self, EncoderModel};
use stacks::str0m::{Config, ends};
use units::{Bytes, Duration, Rate, Time};

/// A sender `a`, a bottleneck with 20 ms each way, and a receiver `b`; a flow for each config.
fn net(rate: Rate, queue: u32, seconds: u64) -> Blueprint {
    let mut blueprint = Blueprint { seed: 7, ..Blueprint::new(Duration::from_secs(seconds)) };
    let (a, b) = (blueprint.node("a"), blueprint.node("b"));
    blueprint.link("bottleneck", (a, b), PortSpec::new(rate, Duration::from_millis(20), queue));
    let pattern = Pattern::Constant { rate: Rate::ZERO };
    let source = FlowKind::Datagram(datagram::Config { packet: Bytes::new(1500), pattern });
    blueprint.flow("video", None, source, NodeId(0), &[b]);
    blueprint
}

fn run(blueprint: &Blueprint, config: &Config) -> Trace {
    let mut world = World::new(blueprint).expect("the blueprint is right");
    let (sender, receiver) = ends(config).expect("the config is right");
    world.custom_sender(FlowId(0), sender);
    world.custom_receiver(FlowId(0), receiver);
    world.run(&Control::default());
    world.finish()
}

/// An encoder of up to `max`.
fn up_to(max: Rate) -> Config {
    let base = Config::default();
    Config { encoder: EncoderModel { max, ..base.encoder }, ..base }
}

/// Media per time, in Mbit/s.
fn goodput(trace: &Trace) -> f64 {
    trace.receivers[0].meter.goodput_bytes as f64 * 8e-6 / trace.ended_at.as_secs_f64()
}

#[test]
fn equal_seeds_give_equal_runs_on_any_thread() {
    let mut net = net(Rate::from_mbps(1), 30, 20);
    net.links[0].forward.loss = 0.01;
    let first = run(&net, &Config::default()).hash;
    let others: Vec<_> = (0..2)
        .map(|_| {
            let net = net.clone();
            thread::spawn(move || run(&net, &Config::default()).hash)
        })
        .collect();
    for other in others {
        assert_eq!(other.join().expect("it does not panic"), first);
    }
    net.seed = 8;
    assert_ne!(run(&net, &Config::default()).hash, first);
}

#[test]
fn another_process_gives_the_same_run() {
    // str0m has tables with a hash seed of the process, and reads the clocks of the host once in a process
    let name = "another_process_gives_the_same_run";
    let line = format!("hash {}\n", run(&net(Rate::from_mbps(2), 30, 20), &Config::default()).hash);
    if env::var_os(CHILD).is_some() {
        return print!("{line}");
    }
    let this = env::current_exe().expect("a test is a program");
    let child = Command::new(this).args(["--exact", name, "--nocapture"]).env(CHILD, "1").output();
    let output = String::from_utf8(child.expect("it runs").stdout).expect("it prints text");
    assert!(output.contains(&line), "{line}{output}");
}

/// Set for the other process.
const CHILD: &str = "THALWEG_TEST_CHILD";

#[test]
fn the_rate_follows_the_capacity() {
    // the share that GCC leaves for its probes of the delay, headers, and the time until it has found the capacity
    for (mbps, lowest) in [(1, 0.6), (2, 1.2)] {
        let trace = run(&net(Rate::from_mbps(mbps), 60, 60), &Config::default());
        let achieved = goodput(&trace);
        assert!((lowest..mbps as f64 * 0.97).contains(&achieved), "{mbps} Mbit/s: {achieved}");
    }
}

#[test]
fn an_encoder_below_the_capacity_sends_its_highest_rate() {
    let trace = run(&net(Rate::from_mbps(20), 60, 60), &Config::default());
    let achieved = goodput(&trace);
    // 2.5 Mbit/s · 1106/1150, from some seconds on
    assert!((2.0..=2.41).contains(&achieved), "{achieved}");
    assert_eq!(trace.ports[0].drops.iter().sum::<u64>(), 0);
    let meter = &trace.flows[0].meter;
    assert!(meter.rtt_min >= Duration::from_millis(40) && meter.rtt_count > 100, "{meter:?}");
}

#[test]
fn packets_have_the_sizes_of_webrtc() {
    let trace = run(&net(Rate::from_mbps(20), 60, 30), &Config::default());
    let flow = &trace.flows[0];
    let mean = flow.sent_bytes / flow.sent_packets;
    // 9.06 packets of up to 1178 bytes a frame at 2.5 Mbit/s, checks of ICE, reports
    assert!((900..=1178).contains(&mean), "{mean}");
    // the answers are feedback, not as many as packets and small
    assert!(trace.ports[1].sent_bytes * 10 < flow.sent_bytes, "{:?}", trace.ports[1]);
}

#[test]
fn frames_have_delays_and_those_of_the_model_sizes() {
    let equal = EncoderModel { variation: 0.0, key_ratio: 1.0, ..EncoderModel::default() };
    let start = equal.max;
    let encoders = [equal, EncoderModel { key_ratio: 3.0, key_every: 30, ..equal }];
    let [equal, keys] = encoders.map(|encoder| {
        let config = Config { start, encoder, ..Config::default() };
        run(&net(Rate::from_mbps(20), 60, 10), &config).receivers[0].meter.clone()
    });
    // a frame of 6250 bytes is complete after 20 ms of propagation, and before the next one
    assert!(
        equal.media().delay_count > 280 && equal.media().delay_min > Duration::from_millis(20),
        "{equal:?}"
    );
    assert!(equal.media().delay_max < Duration::from_millis(53), "{equal:?}");
    // key frames are three times as large and take longer; the mean rate is the same
    assert!(
        keys.media().delay_max > equal.media().delay_max,
        "{:?} {:?}",
        keys.media().delay_max,
        equal.media().delay_max
    );
    let ratio = keys.goodput_bytes as f64 / equal.goodput_bytes as f64;
    assert!((0.9..1.1).contains(&ratio), "{ratio}");
}

#[test]
fn lost_packets_are_requested_and_repaired() {
    let mut lossy = net(Rate::from_mbps(20), 60, 30);
    lossy.links[0].forward.loss = 0.01;
    let trace = run(&lossy, &Config::default());
    let clean = run(&net(Rate::from_mbps(20), 60, 30), &Config::default());
    assert!(trace.flows[0].meter.count(Count::Nacks) > 10, "{:?}", trace.flows[0].meter);
    assert_eq!(clean.flows[0].meter.count(Count::Nacks), 0);
    let delivered = |trace: &Trace| trace.receivers[0].meter.goodput_bytes as f64;
    assert!(delivered(&trace) > 0.8 * delivered(&clean));
}

#[test]
fn the_rate_falls_with_the_capacity_and_recovers() {
    let mut changing = net(Rate::from_mbps(3), 60, 0);
    let at = |seconds| Time::ZERO + Duration::from_secs(seconds);
    let link = LinkId(0);
    changing.events.push((at(30), Change::LinkRate(link, Rate::from_bps(800_000))));
    changing.events.push((at(60), Change::LinkRate(link, Rate::from_mbps(3))));
    // a run is the beginning of every longer one
    let until = |seconds| {
        let cut = Blueprint { duration: Duration::from_secs(seconds), ..changing.clone() };
        run(&cut, &Config::default()).receivers[0].meter.goodput_bytes as f64 * 8e-6
    };
    let [wide, narrow, again] =
        [(20, 30), (45, 60), (90, 110)].map(|(from, to)| (until(to) - until(from)) / (to - from) as f64);
    assert!((2.0..2.5).contains(&wide), "{wide}");
    assert!((0.3..0.8).contains(&narrow), "{narrow}");
    assert!(again > 2.0, "{again}");
}

#[test]
fn it_achieves_what_gcc_of_the_catalogue_achieves() {
    // the estimators differ: a trend line at the sender in str0m, a Kalman filter at the receiver in
    // draft-ietf-rmcat-gcc-02
    for mbps in [1, 3, 8] {
        let net = net(Rate::from_mbps(mbps), 60, 60);
        let config = up_to(Rate::from_mbps(20));
        let theirs = goodput(&run(&net, &config));
        let mut other = Blueprint { flows: Vec::new(), ..net };
        let stream =
            FlowKind::Stream(stream::Config { packet: Bytes::new(1178), ..stream::Config::default() });
        other.flow("video", Some("gcc"), stream, NodeId(0), &[NodeId(1)]);
        let mut world = World::new(&other).expect("the blueprint is right");
        world.run(&Control::default());
        let ratio = theirs / goodput(&world.finish());
        assert!((0.5..2.0).contains(&ratio), "{mbps} Mbit/s: {theirs} {ratio}");
    }
}

#[test]
fn a_call_that_begins_late_is_connected() {
    // str0m gives up a session whose peer is silent for half a minute
    let mut late = net(Rate::from_mbps(20), 60, 100);
    late.flows[0].start = Time::ZERO + Duration::from_secs(90);
    let trace = run(&late, &Config::default());
    assert!(trace.receivers[0].meter.goodput_bytes > 100_000, "{:?}", trace.receivers[0].meter);
}

#[test]
fn wrong_settings_are_refused() {
    let refused = |config| ends(&config).map(|_| ()).map_err(|error| error.name);
    let base = Config::default;
    assert_eq!(refused(base()), Ok(()));
    let encoder = EncoderModel { min: Rate::from_mbps(3), ..base().encoder };
    assert_eq!(refused(Config { encoder, ..base() }), Err("max".to_owned()));
    assert_eq!(refused(Config { start: Rate::from_mbps(3), ..base() }), Err("start".to_owned()));
    assert_eq!(refused(Config { frame_rate: 0, ..base() }), Err("frame_rate".to_owned()));
    assert_eq!(refused(Config { mtu: Bytes::new(1000), ..base() }), Err("mtu".to_owned()));
}
