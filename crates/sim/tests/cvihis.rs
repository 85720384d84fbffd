//! CVIHIS in whole networks: claims of its paper, with wide tolerances for one short run each.

use contract::{Count, FlowId, LinkId, NodeId, ParamValue};
use sim::{Blueprint, Change, ClockSpec, FlowKind, FlowRecord, Impair, Jitter, PortSpec, Subject, Trace};
use stack::{stream, tcp};
use units::{Bytes, Drift, Duration, Offset, Rate, Time};

use crate::{ms, run};

fn at(seconds: u64) -> Time {
    Time::ZERO + Duration::from_secs(seconds)
}

/// The paper's test network: left hosts, a router, a bottleneck, a router, right hosts. Only the hosts' links have
/// delays.
struct Net {
    print: Blueprint,
    routers: [NodeId; 2],
}

const BOTTLENECK: usize = 0;

fn net(seconds: u64, warmup: u64, capacity: Rate, packets: u32) -> Net {
    let mut print = Blueprint::new(Duration::from_secs(seconds));
    print.warmup = Duration::from_secs(warmup);
    let routers = ["r1", "r2"].map(|name| print.node(name));
    print.link("bottleneck", routers.into(), PortSpec::new(capacity, Duration::ZERO, packets));
    Net { print, routers }
}

impl Net {
    fn hosts(&mut self, name: &str, rtt_ms: u64) -> [NodeId; 2] {
        let [left, right] = ["left", "right"].map(|side| self.print.node(&format!("{side}-{name}")));
        let quick = PortSpec::new(Rate::from_mbps(100), Duration::from_micros(rtt_ms * 250), 1000);
        self.print.link(&format!("in-{name}"), (left, self.routers[0]), quick.clone());
        self.print.link(&format!("out-{name}"), (self.routers[1], right), quick);
        [left, right]
    }

    /// A stream of 1500-byte packets, by the paper's rules: the delay space has no minimum width, and the timeout does
    /// not follow the gap.
    fn cvihis(&mut self, name: &str, mode: &str, rtt_ms: u64, rate: Rate) -> FlowId {
        let [from, to] = self.hosts(name, rtt_ms);
        let config = stream::Config { packet: Bytes::new(1500), ..stream::Config::default() };
        let flow = self.print.flow(name, Some("cvihis"), FlowKind::Stream(config), from, &[to]);
        let text = |text: String| ParamValue::Text(text);
        flow.params =
            vec![("mode".into(), text(mode.into())), ("initial_rate".into(), text(rate.to_string()))];
        let papers = ["min_space", "noise", "timeout_packets"];
        flow.params.extend(papers.map(|name| (name.into(), ParamValue::Float(0.0))));
        FlowId(self.print.flows.len() as u32 - 1)
    }

    /// NewReno with an acknowledgement for each segment: delayed acknowledgements are an option that only some
    /// implementations had [CVIHIS §2.3].
    fn reno(&mut self, name: &str, rtt_ms: u64) -> FlowId {
        let [from, to] = self.hosts(name, rtt_ms);
        let config = tcp::Config { sack: false, delayed_ack: false, ..tcp::Config::default() };
        self.print.flow(name, Some("reno"), FlowKind::Tcp(config), from, &[to]);
        FlowId(self.print.flows.len() as u32 - 1)
    }
}

/// The paper's rates are sending rates.
fn rate_bps(flow: &FlowRecord) -> f64 {
    flow.sent_bytes as f64 * 8.0 / flow.active.as_secs_f64()
}

fn utilisation(trace: &Trace) -> f64 {
    let port = &trace.ports[2 * BOTTLENECK];
    port.sent_bytes as f64 * 8.0 / port.capacity_bits as f64
}

/// Mean of a series of a flow between two instants.
fn mean(trace: &Trace, flow: FlowId, name: &str, from: u64, to: u64) -> f64 {
    let whose = |subject: Subject| match subject {
        Subject::Flow(id) => id == flow,
        Subject::Receiver(index) => trace.receivers[index as usize].flow == flow,
        _ => false,
    };
    let series = trace.series.iter().find(|series| series.name == name && whose(series.subject));
    let series = series.expect("it is recorded");
    let wanted =
        series.times.iter().zip(&series.values).filter(|(time, _)| (at(from)..=at(to)).contains(time));
    let values: Vec<f64> = wanted.map(|(_, value)| *value).collect();
    values.iter().sum::<f64>() / values.len() as f64
}

/// Rate of the real-time mode relative to the rate of a NewReno connection, both with this round-trip time.
fn against_reno(capacity_kbps: u64, rtt_ms: u64, seed: u64) -> f64 {
    let capacity = Rate::from_kbps(capacity_kbps);
    let mut net = net(200, 50, capacity, 50);
    net.print.seed = seed;
    let video = net.cvihis("video", "real_time", rtt_ms, Rate::from_kbps(capacity_kbps / 4));
    let tcp = net.reno("tcp", rtt_ms);
    let trace = run(&net.print);
    rate_bps(&trace.flows[video.index()]) / rate_bps(&trace.flows[tcp.index()])
}

/// Fig. 4: acceptable on average, and a ratio of at most about 1.6 in either direction.
#[test]
fn the_real_time_mode_shares_with_newreno() {
    let mut shares = Vec::new();
    for rtt_ms in [20, 80, 140, 200] {
        for capacity_kbps in [2000, 3000, 4500] {
            let ratio = against_reno(capacity_kbps, rtt_ms, 1);
            println!("{capacity_kbps} kbit/s, {rtt_ms} ms: {ratio:.3}");
            assert!((0.45..2.1).contains(&ratio), "{capacity_kbps} kbit/s, {rtt_ms} ms: {ratio}");
            shares.push(ratio / (1.0 + ratio));
        }
    }
    let mean = shares.iter().sum::<f64>() / shares.len() as f64;
    println!("mean share {mean:.3}");
    assert!((0.42..=0.58).contains(&mean), "{mean}");
    let of = |rtt: usize| shares[3 * rtt..3 * rtt + 3].iter().sum::<f64>() / 3.0;
    assert!(of(0) < of(3), "it does modestly with short round trips: {shares:?}");
}

/// §4.2: alone, the background mode fills the link and keeps the queue near the target area.
#[test]
fn the_background_mode_alone_is_steady() {
    for (capacity_kbps, packets, rtt_ms) in [(4500, 40, 40), (3000, 50, 100), (2000, 60, 250)] {
        let mut net = net(200, 100, Rate::from_kbps(capacity_kbps), packets);
        let video = net.cvihis("video", "background", rtt_ms, Rate::from_kbps(capacity_kbps / 4));
        net.print.record.every = ms(100);
        net.print.record.series = vec!["position".into()];
        let trace = run(&net.print);
        let position = mean(&trace, video, "position", 100, 200);
        println!("{capacity_kbps} kbit/s, {rtt_ms} ms: {:.3}, position {position:.3}", utilisation(&trace));
        assert!(utilisation(&trace) > 0.97, "{rtt_ms} ms: {}", utilisation(&trace));
        assert!((0.3..0.5).contains(&position), "{rtt_ms} ms: {position}");
    }
}

/// Fig. 3: it yields to a connection, and recovers sooner with a shorter round-trip time.
#[test]
fn the_background_mode_yields_and_recovers() {
    let mut back = Vec::new();
    for rtt_ms in [10, 100, 200] {
        let mut net = net(260, 0, Rate::from_mbps(3), 50);
        let video = net.cvihis("video", "background", rtt_ms, Rate::from_kbps(750));
        let tcp = net.reno("tcp", 200);
        let flow = &mut net.print.flows[tcp.index()];
        (flow.start, flow.stop) = (at(50), at(170));
        net.print.record.every = ms(1000);
        net.print.record.series = vec!["rate".into()];
        let trace = run(&net.print);
        let share = |from, to| mean(&trace, video, "rate", from, to) / 3e6;
        let returned = (171..260).find(|&second| share(second, second) > 0.9).unwrap_or(260);
        println!("{rtt_ms} ms: {:.3}, {:.3}, back at {returned} s", share(30, 50), share(110, 170));
        assert!(share(30, 50) > 0.9, "alone before: {}", share(30, 50));
        assert!(share(110, 170) < 0.25, "{rtt_ms} ms: {}", share(110, 170));
        back.push(returned);
    }
    assert!(back[0] < back[1] && back[1] < back[2], "{back:?}");
}

/// §4.4, Fig. 5: fairness between flows of the same mode.
#[test]
fn two_real_time_streams_share_whatever_their_round_trips() {
    for (first_ms, second_ms, max) in [(60, 60, 1.1), (60, 180, 1.2), (10, 180, 2.0)] {
        let mut net = net(300, 50, Rate::from_mbps(4), 50);
        let one = net.cvihis("one", "real_time", first_ms, Rate::from_mbps(1));
        let other = net.cvihis("other", "real_time", second_ms, Rate::from_mbps(2));
        let trace = run(&net.print);
        let ratio = rate_bps(&trace.flows[one.index()]) / rate_bps(&trace.flows[other.index()]);
        println!("{first_ms} against {second_ms} ms: {ratio:.3}");
        assert!((0.9..max).contains(&ratio), "{first_ms} against {second_ms} ms: {ratio}");
    }
}

/// §4.4, Fig. 7: the background mode yields to the real-time mode, unless the latter has a much longer round-trip time.
#[test]
fn the_background_mode_yields_to_the_real_time_mode_at_a_similar_round_trip_time() {
    let share = |rtt_ms: u64, other_ms: u64| {
        let mut net = net(200, 150, Rate::from_mbps(4), 60);
        let yields = net.cvihis("background", "background", rtt_ms, Rate::from_mbps(1));
        let takes = net.cvihis("real", "real_time", other_ms, Rate::from_mbps(1));
        net.print.flows[takes.index()].start = at(30);
        let trace = run(&net.print);
        rate_bps(&trace.flows[yields.index()]) / 4e6
    };
    let (like, short, long) = (share(50, 50), share(50, 10), share(20, 200));
    println!("like {like:.3}, real-time shorter {short:.3}, ten times longer {long:.3}");
    assert!(like < 0.25 && short < 0.25, "{like} {short}");
    assert!(long >= 0.35, "{long}");
}

/// S002-07: a change of mode during the run, without a jump of the rate.
#[test]
fn a_mode_changes_while_data_flow() {
    let run_with = |given: &[(&str, f64)], back: u64| {
        let mut net = net(240, 0, Rate::from_mbps(4), 50);
        let video = net.cvihis("video", "real_time", 60, Rate::from_mbps(1));
        let params = &mut net.print.flows[video.index()].params;
        params.retain(|(name, _)| given.iter().all(|(given, _)| name != given));
        params.extend(given.iter().map(|(name, value)| ((*name).into(), ParamValue::Float(*value))));
        net.reno("tcp", 60);
        net.print.events = [(60, "background"), (back, "real_time")]
            .map(|(second, mode)| (at(second), Change::Mode(video, mode.into())))
            .to_vec();
        net.print.record.every = ms(50);
        net.print.record.series = ["rate", "allowed_rate"].map(str::to_owned).to_vec();
        net.print.record.events = true;
        let trace = run(&net.print);
        let share = |from, to| mean(&trace, video, "rate", from, to) / 4e6;
        let shares = [share(30, 60), share(back - 5, back), share(back + 5, back + 15), share(180, 240)];
        println!("{given:?}, back at {back} s: {shares:.3?}");
        // around each change the permitted rate moves by at most a step: a packet per √RTT in that time
        let allowed =
            trace.series.iter().find(|series| series.name == "allowed_rate").expect("it is recorded");
        let value = |millis: u64| allowed.values[(millis / 50) as usize - 1];
        let step = 12_000.0 / 0.06f64.sqrt();
        for change in [60_000, 1000 * back] {
            assert!((value(change + 50) - value(change)).abs() <= step, "at {change} ms");
        }
        let changes: Vec<f64> =
            trace.events.iter().filter(|event| event.name == "mode").map(|event| event.value).collect();
        assert_eq!(changes, [0.0, 1.0]);
        shares
    };
    let [before, yields, after, later] = run_with(&[], 80);
    assert!(before > 0.3 && yields < 0.3 && after > yields && later > 0.3);
    // after yielding for a long time a flow sends one packet per second, and then has too few samples of the queue to
    // recover
    let [_, starved, after, later] = run_with(&[], 120);
    assert!(starved < 0.02 && after < 0.02 && later < 0.02);
    let [_, yields, after, later] = run_with(&[("min_packet_rate", 10.0)], 120);
    assert!(yields < 0.04 && after > yields && later > 0.3);
    // ours: the delay space is as wide as the differences of these samples
    let [_, yields, _, later] = run_with(&[("min_space", 4.0), ("noise", 8.0)], 120);
    assert!(yields < 0.02 && later > 0.3);
}

/// Ours: random loss on a path without a queue. A delay space of the width of its noise makes the paper's rule slower
/// than losses do.
#[test]
fn the_delay_space_is_wider_than_noise() {
    let share = |loss: f64, jitter_ms: u64, ours: bool| {
        let mut net = net(60, 30, Rate::from_mbps(10), 50);
        let video = net.cvihis("video", "background", 40, Rate::from_kbps(2500));
        if ours {
            net.print.flows[video.index()].params.truncate(2);
        }
        let link = &mut net.print.links[BOTTLENECK];
        let jitter = Jitter { by: ms(jitter_ms), keeps_order: true };
        let impair = Some(Impair { jitter: Some(jitter), ..Impair::default() });
        link.forward = PortSpec { loss, impair, ..(*link.forward).clone() }.into();
        utilisation(&run(&net.print))
    };
    let quiet = share(0.01, 0, false);
    for (loss, jitter_ms) in [(0.001, 1), (0.001, 5), (0.01, 1), (0.01, 5)] {
        let [papers, ours] = [false, true].map(|ours| share(loss, jitter_ms, ours));
        println!("{loss}, {jitter_ms} ms: {papers:.3}, {ours:.3}");
        assert!(ours > 1.3 * papers && ours > 0.7 * quiet, "{loss}, {jitter_ms} ms: {papers} {ours}");
    }
}

/// §4.6: an offset of clocks has no effect, and raising minDelay compensates drift.
#[test]
fn offset_and_drift_of_clocks_are_tolerated() {
    let mut net = net(300, 50, Rate::from_mbps(3), 50);
    let video = net.cvihis("video", "real_time", 60, Rate::from_kbps(750));
    net.reno("tcp", 60);
    let [from, to] = [net.print.flows[video.index()].from, net.print.flows[video.index()].to[0].node];
    let with = |node, offset, drift| {
        let mut print = net.print.clone();
        print.clocks = vec![ClockSpec { node, offset, drift: Drift::from_ppm(drift) }];
        run(&print)
    };
    let right = run(&net.print);
    for node in [from, to] {
        for offset in
            [Offset::ahead(Duration::from_secs(3600)), Offset::behind(Duration::from_secs(1_000_000))]
        {
            assert_eq!(with(node, offset, 0).hash, right.hash);
        }
    }
    for drift in [100, -100] {
        let drifting = with(to, Offset::ZERO, drift);
        let ratio = rate_bps(&drifting.flows[video.index()]) / rate_bps(&right.flows[video.index()]);
        println!("{drift} ppm: {ratio:.3}");
        assert!((0.8..1.25).contains(&ratio), "{drift} ppm: {ratio}");
    }
}

/// Fig. 9: the route becomes longer and narrower, twice, and the real-time mode detects it.
#[test]
fn the_real_time_mode_follows_a_route() {
    let mut print = Blueprint::new(Duration::from_secs(400));
    let [left, r1, middle, r2, right] = ["left", "r1", "middle", "r2", "right"].map(|name| print.node(name));
    let quick = PortSpec::new(Rate::from_mbps(100), ms(1), 1000);
    let direct = print.link("direct", (r1, r2), PortSpec::new(Rate::from_kbps(700), ms(18), 50));
    let around = PortSpec::new(Rate::from_kbps(400), ms(29), 50);
    print.link("up", (r1, middle), around.clone());
    print.link("down", (middle, r2), around);
    print.link("in", (left, r1), quick.clone());
    print.link("out", (r2, right), quick);
    let config = stream::Config { packet: Bytes::new(1500), ..stream::Config::default() };
    let flow = print.flow("video", Some("cvihis"), FlowKind::Stream(config), left, &[right]);
    flow.params = vec![
        ("mode".into(), ParamValue::Text("real_time".into())),
        ("initial_rate".into(), ParamValue::Text("175 kbit/s".into())),
    ];
    print.events = [(80, false), (150, true), (220, false), (320, true)]
        .map(|(second, up)| (at(second), Change::LinkUp(LinkId(direct.0), up)))
        .to_vec();
    print.record.every = ms(1000);
    print.record.series = vec!["throughput".into()];
    let trace = run(&print);
    for (from, to, capacity) in [(115, 150, 400e3), (185, 220, 700e3), (270, 320, 400e3), (360, 400, 700e3)] {
        let share = mean(&trace, FlowId(0), "throughput", from, to) / capacity;
        println!("{from} to {to} s: {share:.3}");
        assert!(share > 0.8, "{from} to {to} s: {share}");
    }
    assert!(trace.flows[0].meter.count(Count::Episodes) > 0);
}
