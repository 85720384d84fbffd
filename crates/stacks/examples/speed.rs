//! What quinn, noq and Thalweg's TCP do alone on the same networks, and how fast their flows run in virtual time.
//!
//! `cargo run --release --example speed -p stacks`

use contract::{Count, FlowId, NodeId, ParamError};
use sim::{Blueprint, Control, FlowKind, PortSpec, World};
use stack::datagram::{self, Pattern};
use stack::tcp;
use stacks::{Config, Controller, Factory, FlowControl};
use units::{Bytes, Duration, Rate};

const SECONDS: u64 = 120;

/// Makes the ends of a flow.
type Ends = fn(&Config) -> Result<(Factory, Factory), ParamError>;

/// What carries a flow.
#[derive(Clone)]
enum Transport {
    /// A stack, with this controller.
    Stack(Ends, Controller),
    /// TCP with this scheme.
    Tcp(&'static str, tcp::Config),
}

fn own(ends: Ends, name: &str) -> Transport {
    Transport::Stack(ends, Controller::Own(name.to_owned()))
}

fn scheme(ends: Ends, name: &str) -> Transport {
    Transport::Stack(ends, Controller::Scheme(name.to_owned(), Vec::new()))
}

fn main() -> Result<(), ParamError> {
    let plain = tcp::Config { segment: Bytes::new(1440), ..tcp::Config::default() };
    let linux = tcp::Config { segment: Bytes::new(1440), ..tcp::Config::linux() };
    let (quinn, noq): (Ends, Ends) =
        (|config| stacks::quinn::ends(config, None), |config| stacks::noq::ends(config, None));
    let flows = [
        ("quinn, its CUBIC", own(quinn, "cubic")),
        ("noq, its CUBIC", own(noq, "cubic")),
        ("quinn, scheme cubic", scheme(quinn, "cubic")),
        ("noq, scheme cubic", scheme(noq, "cubic")),
        ("TCP, scheme cubic", Transport::Tcp("cubic", plain.clone())),
        ("TCP as Linux, scheme cubic", Transport::Tcp("cubic", linux)),
        ("quinn, its NewReno", own(quinn, "newreno")),
        ("noq, its NewReno", own(noq, "newreno")),
        ("quinn, scheme reno", scheme(quinn, "reno")),
        ("noq, scheme reno", scheme(noq, "reno")),
        ("TCP, scheme reno", Transport::Tcp("reno", plain)),
        ("quinn, scheme bbr", scheme(quinn, "bbr")),
        ("noq, scheme bbr", scheme(noq, "bbr")),
    ];
    // a queue of one bandwidth-delay product, a small one, a large one
    for (mbps, delay_ms, queue) in [(20, 20, 67), (50, 10, 21), (5, 50, 85)] {
        println!("{mbps} Mbit/s, {} ms, queue of {queue} packets, {SECONDS} s", 2 * delay_ms);
        println!(
            "{:28} {:>8} {:>6} {:>8} {:>8} {:>10}",
            "flow", "Mbit/s", "lost", "episodes", "RTT, ms", "× CPU time"
        );
        let port = PortSpec::new(Rate::from_mbps(mbps), Duration::from_millis(delay_ms), queue);
        for (name, transport) in &flows {
            println!("{name:28} {}", run(port.clone(), transport.clone())?);
        }
    }
    Ok(())
}

/// A flow alone; its row.
fn run(port: PortSpec, transport: Transport) -> Result<String, ParamError> {
    let mut net = Blueprint::new(Duration::from_secs(SECONDS));
    let (a, b) = (net.node("a"), net.node("b"));
    net.link("bottleneck", (a, b), port);
    let packet = Bytes::new(1480);
    let pattern = Pattern::Constant { rate: Rate::ZERO };
    let source = FlowKind::Datagram(datagram::Config { packet, pattern });
    let (scheme, kind, ends) = match transport {
        Transport::Stack(ends, controller) => {
            let config = Config {
                controller,
                mtu: packet,
                size: Bytes::UNLIMITED,
                flow_control: FlowControl::default(),
            };
            (None, source, Some(ends(&config)?))
        }
        Transport::Tcp(scheme, config) => (Some(scheme), FlowKind::Tcp(config), None),
    };
    net.flow("flow", scheme, kind, NodeId(0), &[b]);
    let mut world = World::new(&net)?;
    if let Some((sender, receiver)) = ends {
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
    Ok(format!("{rate:8.2} {lost:6} {episodes:8} {rtt_ms:8.1} {:10.0}", SECONDS as f64 / took))
}

/// CPU time of this thread, in seconds: the first number of `schedstat` is in nanoseconds. NaN where there is no such
/// file.
fn cpu_time_s() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    text.split(' ').next().and_then(|nanos| nanos.parse::<f64>().ok()).map_or(f64::NAN, |nanos| nanos * 1e-9)
}
