//! Connections that share a drop-tail bottleneck behave as four independent implementations do.

mod net;

use net::{Halving, Net, plain};
use stack::tcp::Config;
use units::{Bytes, Duration, Rate, Time};

/// Ten flows without SACK at 100 Mbit/s, 24 ms, 100 packets, for 100 s. ns-2, htsim and two versions of ns-3 drop 1945 to
/// 2041 packets and use 0.924 to 0.939 of the link.
#[test]
fn ten_newreno_flows_drop_and_fill_as_other_implementations_do() {
    let config = Config { segment: Bytes::new(960), ..plain() };
    let mut net = Net::new(Duration::from_millis(12));
    net.logging = false;
    net.access = Rate::from_mbps(1000);
    net.bottleneck = Some(net::Bottleneck::new(Rate::from_mbps(100), 100));
    for flow in 0..10u64 {
        net.add(&config, Halving::sized(10.0, 960), Time::ZERO + Duration::from_millis(10 * flow));
    }
    let seconds = 100;
    net.run(Time::ZERO + Duration::from_secs(20));
    let early = net.bottleneck.as_ref().expect("there is one").dropped;
    net.run(Time::ZERO + Duration::from_secs(seconds));
    let bottleneck = net.bottleneck.as_ref().expect("there is one");
    let utilisation = bottleneck.bytes as f64 * 8.0 / 100e6 / seconds as f64;
    let goodputs: Vec<f64> = net.flows.iter().map(|flow| flow.received.goodput_bytes as f64).collect();
    let (sum, squares) = goodputs.iter().fold((0.0, 0.0), |(s, q), x| (s + x, q + x * x));
    let jain = sum * sum / (10.0 * squares);
    // the four read 703 to 728 here
    assert!((690..=740).contains(&early), "{early}");
    assert!((1850..=2150).contains(&bottleneck.dropped), "{}", bottleneck.dropped);
    assert!((0.915..=0.945).contains(&utilisation), "{utilisation}");
    assert!(jain >= 0.995, "{jain}");
}
