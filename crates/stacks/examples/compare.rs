//! What str0m's estimate achieves alone, and the scheme `gcc` of the catalogue on the same networks.
//!
//! `cargo run --example compare -p stacks`

use contract::{FlowId, NodeId, ParamError};
use sim::{Blueprint, Control, FlowKind, PortSpec, World};
use stack::stream::{self, EncoderModel};
use stacks::str0m::{Config, ends};
use units::{Bytes, Duration, Rate};

const SECONDS: u64 = 120;

fn main() -> Result<(), ParamError> {
    println!(
        "{:>8} {:>6} {:>6} {:>8} {:>6} {:>8}",
        "capacity", "flow", "loss", "Mbit/s", "drops", "delay, ms"
    );
    for (mbps, loss) in [(1, 0.0), (3, 0.0), (8, 0.0), (3, 0.02)] {
        for webrtc in [true, false] {
            let mut net = Blueprint::new(Duration::from_secs(SECONDS));
            let (a, b) = (net.node("a"), net.node("b"));
            net.link(
                "bottleneck",
                (a, b),
                PortSpec::new(Rate::from_mbps(mbps), Duration::from_millis(20), 60),
            );
            net.links[0].forward.loss = loss;
            let packet = Bytes::new(1178);
            let kind = FlowKind::Stream(stream::Config { packet, ..stream::Config::default() });
            net.flow("video", Some("gcc"), kind, NodeId(0), &[b]);
            let mut world = World::new(&net)?;
            if webrtc {
                let base = Config::default();
                let encoder = EncoderModel { max: Rate::from_mbps(20), ..base.encoder };
                let config = Config { encoder, ..base };
                let (sender, receiver) = ends(&config)?;
                world.custom_sender(FlowId(0), sender);
                world.custom_receiver(FlowId(0), receiver);
            }
            world.run(&Control::default());
            let trace = world.finish();
            let receiver = &trace.receivers[0];
            let rate = receiver.meter.goodput_bytes as f64 * 8e-6 / SECONDS as f64;
            let delay_ms = receiver.delay_sum_ns as f64 / receiver.packets.max(1) as f64 / 1e6;
            let (name, drops) =
                (if webrtc { "str0m" } else { "gcc" }, trace.ports[0].drops.iter().sum::<u64>());
            println!("{mbps:8} {name:>6} {loss:6.2} {rate:8.2} {drops:6} {delay_ms:8.1}");
        }
    }
    Ok(())
}
