//! What one run of a fat tree would gain from two threads with conservative windows: within a window that is as long as the delay of a link, the two
//! halves of the network do not affect each other, and at its end the threads meet at a barrier.
//!
//! usage: windows f8p|f8i|f16p|f16i SECONDS
//!
//! Counts the arrivals of packets in each half and window, measures the CPU time of a packet-hop without windows and the time of a barrier of two
//! threads that spin, and prints one JSON line. `bound` is the speedup of two threads that share nothing: all arrivals, over the sum of the larger
//! half of each window. `predicted` includes the barriers. Neither includes packets that pass between the halves, nor the order of events for
//! the digest.

use std::sync::atomic::{AtomicU32, Ordering};

use nix::time::{ClockId, clock_gettime};
use sim::{Blueprint, Control, Subject, World};
use units::{Duration, Time};

/// Batches of barriers, and barriers of each.
const BATCHES: u32 = 300;
const BARRIERS: u32 = 500;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let seconds: Option<f64> = arguments.get(1).and_then(|text| text.parse().ok());
    let duration = seconds.map(|seconds| Duration::from_nanos((seconds * 1e9).round() as u64));
    let name = arguments.first().filter(|name| name.starts_with('f'));
    let Some((mut blueprint, duration)) =
        name.and_then(|name| benches::workload(name, duration)).zip(duration)
    else {
        eprintln!("usage: windows f8p|f8i|f16p|f16i SECONDS");
        std::process::exit(2);
    };
    let halves = halves(&blueprint);
    let window = blueprint.links.iter().map(|link| link.forward.delay).min().expect("there are links");

    let mut world = World::new(&blueprint).expect("the workloads are valid");
    let began = now_ns(ClockId::CLOCK_THREAD_CPUTIME_ID);
    world.run(&Control::default());
    let hop_ns = (now_ns(ClockId::CLOCK_THREAD_CPUTIME_ID) - began) / world.finish().packet_hops as f64;

    blueprint.record.packets = Some((Time::ZERO, Time::ZERO + duration));
    let mut world = World::new(&blueprint).expect("the workloads are valid");
    world.run(&Control::default());
    let trace = world.finish();
    let count = duration.as_nanos().div_ceil(window.as_nanos()) as usize;
    let mut windows = vec![[0u64; 2]; count + 1];
    let mut crossing = 0u64;
    for packet in &trace.packets {
        let Subject::Port(port) = packet.place else { continue };
        let ends = blueprint.links[port.index() / 2].ends;
        let to = if port.index().is_multiple_of(2) { ends.1 } else { ends.0 };
        windows[(packet.at.as_nanos() / window.as_nanos()) as usize][halves[to.index()]] += 1;
        crossing += u64::from(halves[ends.0.index()] != halves[ends.1.index()]);
    }
    let all: u64 = windows.iter().flatten().sum();
    let longer: u64 = windows.iter().map(|halves| halves[0].max(halves[1])).sum();
    let barrier_ns = barrier_ns();
    println!(
        "{{\"windows\": {count}, \"arrivals_per_window\": {:.1}, \"crossing_share\": {:.3}, \"hop_ns\": {hop_ns:.1}, \"barrier_ns\": {barrier_ns:.0}, \"bound\": {:.2}, \"predicted\": {:.2}}}",
        all as f64 / count as f64,
        crossing as f64 / all as f64,
        all as f64 / longer as f64,
        all as f64 * hop_ns / (longer as f64 * hop_ns + count as f64 * barrier_ns),
    );
}

/// The half of each node of a fat tree: that of its pod; core switches in turn.
fn halves(blueprint: &Blueprint) -> Vec<usize> {
    let number = |name: &str| -> usize {
        let digits = name.trim_start_matches(|c: char| c.is_ascii_alphabetic());
        digits.split('.').next().and_then(|pod| pod.parse().ok()).expect("nodes of a fat tree have numbers")
    };
    let names = || blueprint.nodes.iter().map(|name| name.as_str());
    let of_pods = |name: &&str| !name.starts_with("core");
    let pods = 1 + names().filter(of_pods).map(number).max().expect("it has pods");
    let half = |name| if of_pods(&name) { number(name) * 2 / pods } else { number(name) % 2 };
    names().map(half).collect()
}

/// Time of a barrier of two threads: each announces the number of its window and spins until the other has announced it. The mean of the fastest of
/// [`BATCHES`] batches, because the others contain what else the machine does.
fn barrier_ns() -> f64 {
    /// Each in cache lines of its own.
    #[repr(align(128))]
    struct Announced(AtomicU32);
    let announced = [Announced(AtomicU32::new(0)), Announced(AtomicU32::new(0))];
    let meet = |own: usize| {
        let mut fastest_ns = f64::INFINITY;
        for batch in 0..BATCHES {
            let began = now_ns(ClockId::CLOCK_MONOTONIC);
            for number in 1..=BARRIERS {
                let number = batch * BARRIERS + number;
                announced[own].0.store(number, Ordering::Release);
                while announced[1 - own].0.load(Ordering::Acquire) < number {
                    std::hint::spin_loop();
                }
            }
            fastest_ns = fastest_ns.min(now_ns(ClockId::CLOCK_MONOTONIC) - began);
        }
        fastest_ns / f64::from(BARRIERS)
    };
    std::thread::scope(|scope| {
        scope.spawn(|| meet(0));
        meet(1)
    })
}

/// Time of a clock in nanoseconds.
fn now_ns(clock: ClockId) -> f64 {
    let time = clock_gettime(clock).expect("every Linux has this clock");
    time.tv_sec() as f64 * 1e9 + time.tv_nsec() as f64
}
