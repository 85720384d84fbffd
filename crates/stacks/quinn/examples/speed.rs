//! How fast a flow of quinn runs in virtual time, and what it does beside Thalweg's TCP on the same network, alone.
//!
//! `cargo run --release --example speed -p stack-quinn`

use contract::{Count, FlowId, NodeId, ParamError};
use sim::{Blueprint, Control, FlowKind, PortSpec, World};
use stack::datagram::{self, Pattern};
use stack::tcp;
use stack_quinn::{Config, Controller};
use units::{Bytes, Duration, Rate};

const SECONDS: u64 = 120;

/// What carries a flow.
enum Transport {
    /// quinn, with this controller.
    Quinn(Controller),
    /// TCP with this scheme.
    Tcp(&'static str, tcp::Config),
}

fn own(name: &str) -> Transport {
    Transport::Quinn(Controller::Own(name.to_owned()))
}

fn scheme(name: &str) -> Transport {
    Transport::Quinn(Controller::Scheme(name.to_owned(), Vec::new()))
}

fn main() -> Result<(), ParamError> {
    let plain = tcp::Config { segment: Bytes::new(1440), ..tcp::Config::default() };
    let linux = tcp::Config { segment: Bytes::new(1440), ..tcp::Config::linux() };
    let flows = [
        ("quinn, its CUBIC", own("cubic")),
        ("quinn, scheme cubic", scheme("cubic")),
        ("TCP, scheme cubic", Transport::Tcp("cubic", plain.clone())),
        ("TCP as Linux, scheme cubic", Transport::Tcp("cubic", linux)),
        ("quinn, its NewReno", own("newreno")),
        ("quinn, scheme reno", scheme("reno")),
        ("TCP, scheme reno", Transport::Tcp("reno", plain)),
        ("quinn, scheme bbr", scheme("bbr")),
    ];
    println!("20 Mbit/s, 40 ms, queue of 67 packets, {SECONDS} s");
    println!(
        "{:28} {:>8} {:>6} {:>8} {:>8} {:>10}",
        "flow", "Mbit/s", "lost", "episodes", "RTT, ms", "× CPU time"
    );
    for (name, transport) in flows {
        let mut net = Blueprint::new(Duration::from_secs(SECONDS));
        let (a, b) = (net.node("a"), net.node("b"));
        net.link("bottleneck", (a, b), PortSpec::new(Rate::from_mbps(20), Duration::from_millis(20), 67));
        let packet = Bytes::new(1480);
        let pattern = Pattern::Constant { rate: Rate::ZERO };
        let source = FlowKind::Datagram(datagram::Config { packet, pattern });
        let (scheme, kind, controller) = match transport {
            Transport::Quinn(controller) => (None, source, Some(controller)),
            Transport::Tcp(scheme, config) => (Some(scheme), FlowKind::Tcp(config), None),
        };
        net.flow("flow", scheme, kind, NodeId(0), &[b]);
        let mut world = World::new(&net)?;
        if let Some(controller) = controller {
            let config = Config { controller, mtu: packet, size: Bytes::UNLIMITED };
            let (sender, receiver) = stack_quinn::ends(&config)?;
            world.custom_sender(FlowId(0), sender);
            world.custom_receiver(FlowId(0), receiver);
        }
        let began = cpu_time_s();
        world.run(&Control::default());
        let took = cpu_time_s() - began;
        let trace = world.finish();
        let meter = &trace.flows[0].meter;
        let rate = trace.receivers[0].meter.goodput_bytes as f64 * 8e-6 / SECONDS as f64;
        let rtt_ms = meter.rtt_sum_ns as f64 / meter.rtt_count.max(1) as f64 / 1e6;
        let (lost, episodes) = (trace.ports[0].drops.iter().sum::<u64>(), meter.count(Count::Episodes));
        println!("{name:28} {rate:8.2} {lost:6} {episodes:8} {rtt_ms:8.1} {:10.0}", SECONDS as f64 / took);
    }
    Ok(())
}

/// CPU time of this thread, in seconds: the first number of `schedstat` is in nanoseconds. NaN where there is no such file.
fn cpu_time_s() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    text.split(' ').next().and_then(|nanos| nanos.parse::<f64>().ok()).map_or(f64::NAN, |nanos| nanos * 1e-9)
}
