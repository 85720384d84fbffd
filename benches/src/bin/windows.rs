//! What one run of a fat tree would gain from two threads with conservative windows: within a window that is as long as
//! the delay of a link, the two halves of the network do not affect each other, and at its end the threads meet at a
//! barrier.
//!
//! usage: windows f8p|f8i|f16p|f16i SECONDS
//!
//! Counts the arrivals of packets in each half and window, measures the CPU time of a packet-hop without windows, the
//! time of a barrier of two threads that spin, and the time of merging: each thread writes down its arrivals of a
//! window, and then one thread puts the arrivals of both in the order of a run with one thread, as the digest needs it.
//! Prints one JSON line. `bound` is the speedup of two threads that share nothing: all arrivals, over the sum of the
//! larger half of each window. `with_barriers` includes the barriers, `with_merge` the merge as well. None includes
//! packets that pass between the halves, nor events of endpoints.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

use nix::time::{ClockId, clock_gettime};
use sim::{Blueprint, Control, Subject, World};
use units::{Duration, Time};

/// Batches of barriers, and barriers of each.
const BATCHES: u32 = 300;
const BARRIERS: u32 = 500;
/// Merges of the whole run.
const MERGES: u32 = 40;

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
    let mut logs = [Vec::new(), Vec::new()];
    let mut latest = vec![Cause::default(); blueprint.nodes.len()];
    for packet in &trace.packets {
        let Subject::Port(port) = packet.place else { continue };
        let ends = blueprint.links[port.index() / 2].ends;
        let to = if port.index().is_multiple_of(2) { ends.1 } else { ends.0 };
        let half = halves[to.index()];
        windows[(packet.at.as_nanos() / window.as_nanos()) as usize][half] += 1;
        crossing += u64::from(halves[ends.0.index()] != halves[ends.1.index()]);
        let from = if to == ends.1 { ends.0 } else { ends.1 };
        latest[to.index()] = Cause { half: half as u32, place: logs[half].len() as u32 };
        logs[half].push(Arrival { at_ns: packet.at.as_nanos(), cause: latest[from.index()] });
    }
    let all: u64 = windows.iter().flatten().sum();
    let longer: u64 = windows.iter().map(|halves| halves[0].max(halves[1])).sum();
    let barrier_ns = barrier_ns();
    let merge_ns = merge_ns(&windows, &logs);
    let halves_ns = longer as f64 * hop_ns;
    println!(
        "{{\"windows\": {count}, \"arrivals_per_window\": {:.1}, \"crossing_share\": {:.3}, \"hop_ns\": {hop_ns:.1}, \"barrier_ns\": {barrier_ns:.0}, \"merge_ns\": {merge_ns:.1}, \"bound\": {:.2}, \"with_barriers\": {:.2}, \"with_merge\": {:.2}}}",
        all as f64 / count as f64,
        crossing as f64 / all as f64,
        all as f64 / longer as f64,
        all as f64 * hop_ns / (halves_ns + count as f64 * barrier_ns),
        all as f64 * hop_ns / (halves_ns + all as f64 * merge_ns),
    );
}

/// The half of each node of a fat tree: its pod's half; core switches in turn.
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

/// An arrival, as the thread of its half writes it down.
#[derive(Clone, Copy)]
struct Arrival {
    at_ns: u64,
    cause: Cause,
}

/// The event that scheduled an arrival, which decides the order at equal times: taken to be the last arrival at the
/// node where its link starts.
#[derive(Clone, Copy, Default)]
struct Cause {
    half: u32,
    place: u32,
}

/// Time on the clock, per arrival, of merging the halves after each window, with the two barriers that this needs. It
/// is the minimum of [`MERGES`] runs, because the others contain what else the machine does.
fn merge_ns(windows: &[[u64; 2]], halves: &[Vec<Arrival>; 2]) -> f64 {
    let meeting = Meeting::default();
    let logs = [Mutex::new(Vec::new()), Mutex::new(Vec::new())];
    let all = halves[0].len() + halves[1].len();
    let run = |own: usize| {
        let mut fastest_ns = f64::INFINITY;
        for _ in 0..MERGES {
            let began = now_ns(ClockId::CLOCK_MONOTONIC);
            let mut rest = &halves[own][..];
            let mut order = Order::new(halves);
            for arrivals in windows {
                let (these, later) = rest.split_at(arrivals[own] as usize);
                rest = later;
                let mut log = logs[own].lock().expect("no thread panics");
                log.clear();
                log.extend_from_slice(these);
                drop(log);
                meeting.meet(own);
                if own == 0 {
                    let logs = logs.each_ref().map(|log| log.lock().expect("no thread panics"));
                    order.merge([&logs[0], &logs[1]]);
                }
                meeting.meet(own);
            }
            assert!(own == 1 || order.next as usize == all);
            fastest_ns = fastest_ns.min(now_ns(ClockId::CLOCK_MONOTONIC) - began);
        }
        fastest_ns / all as f64
    };
    std::thread::scope(|scope| {
        scope.spawn(|| run(1));
        run(0)
    })
}

/// The number of each arrival in the order of a run with one thread.
struct Order {
    numbers: [Vec<u32>; 2],
    next: u32,
}

impl Order {
    fn new(halves: &[Vec<Arrival>; 2]) -> Self {
        Self { numbers: halves.each_ref().map(|half| Vec::with_capacity(half.len())), next: 0 }
    }

    /// Numbers the arrivals of a window.
    fn merge(&mut self, mut logs: [&[Arrival]; 2]) {
        while let [Some(left), Some(right)] = logs.map(<[Arrival]>::first) {
            let earlier = usize::from(self.key(right) < self.key(left));
            logs[earlier] = &logs[earlier][1..];
            self.number(earlier, 1);
        }
        for (half, log) in logs.into_iter().enumerate() {
            self.number(half, log.len());
        }
    }

    /// Time, and the number of the cause.
    fn key(&self, arrival: &Arrival) -> (u64, u32) {
        let cause = arrival.cause;
        (arrival.at_ns, self.numbers[cause.half as usize].get(cause.place as usize).copied().unwrap_or(0))
    }

    fn number(&mut self, half: usize, arrivals: usize) {
        self.numbers[half].extend(self.next..self.next + arrivals as u32);
        self.next += arrivals as u32;
    }
}

/// Where two threads meet: each announces the number of its meeting and spins until the other has announced it.
#[derive(Default)]
struct Meeting([Announced; 2]);

/// In cache lines of its own.
#[derive(Default)]
#[repr(align(128))]
struct Announced(AtomicU32);

impl Meeting {
    fn meet(&self, own: usize) {
        let number = self.0[own].0.load(Ordering::Relaxed) + 1;
        self.0[own].0.store(number, Ordering::Release);
        while self.0[1 - own].0.load(Ordering::Acquire) < number {
            std::hint::spin_loop();
        }
    }
}

/// Time of a barrier of two threads: the mean of the fastest of [`BATCHES`] batches, because the others contain what
/// else the machine does.
fn barrier_ns() -> f64 {
    let meeting = Meeting::default();
    let run = |own: usize| {
        let mut fastest_ns = f64::INFINITY;
        for _ in 0..BATCHES {
            let began = now_ns(ClockId::CLOCK_MONOTONIC);
            for _ in 0..BARRIERS {
                meeting.meet(own);
            }
            fastest_ns = fastest_ns.min(now_ns(ClockId::CLOCK_MONOTONIC) - began);
        }
        fastest_ns / f64::from(BARRIERS)
    };
    std::thread::scope(|scope| {
        scope.spawn(|| run(0));
        run(1)
    })
}

/// Time of a clock in nanoseconds.
fn now_ns(clock: ClockId) -> f64 {
    let time = clock_gettime(clock).expect("every Linux has this clock");
    time.tv_sec() as f64 * 1e9 + time.tv_nsec() as f64
}
