//! Runs one workload and prints what it moved, as one JSON line. `benches/run.py` measures the process.

use sim::Control;
use units::Duration;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let seconds: Option<f64> = arguments.get(1).and_then(|text| text.parse().ok());
    let duration = seconds.map(|seconds| Duration::from_nanos((seconds * 1e9).round() as u64));
    let Some(mut world) = arguments.first().and_then(|name| benches::world(name, duration)) else {
        eprintln!("usage: workload {} [SECONDS]", benches::NAMES.join("|"));
        std::process::exit(2);
    };
    world.run(&Control::default());
    let trace = world.finish();
    let meters = trace.receivers.iter().map(|receiver| &receiver.meter);
    let meters =
        meters.chain(trace.flows.iter().filter(|flow| flow.meter.goodput_bytes > 0).map(|flow| &flow.meter));
    let goodput: Vec<f64> = meters.map(|meter| meter.goodput_bytes as f64).collect();
    let (sum, squares) = goodput.iter().fold((0.0, 0.0), |(s, q), x| (s + x, q + x * x));
    let first = &trace.ports[0];
    println!(
        "{{\"peak_rss_bytes\": {}, \"packet_hops\": {}, \"events\": {}, \"first_link_drops\": {}, \"first_link_utilisation\": {:.4}, \"jain\": {:.4}, \"hash\": \"{:016x}\"}}",
        peak_rss_bytes(),
        trace.packet_hops,
        trace.events_handled,
        first.drops.iter().sum::<u64>(),
        first.sent_bytes as f64 * 8.0 / first.capacity_bits.max(1) as f64,
        sum * sum / (goodput.len() as f64 * squares),
        trace.hash,
    );
}

/// Peak resident set size of this process in bytes (`VmHWM` of the kernel); 0 where `/proc` does not have it. The value
/// that a parent process gets for its child includes the parent's own memory at the fork.
fn peak_rss_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kibibytes = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kibibytes.unwrap_or(0) * 1024
}
