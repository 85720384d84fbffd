//! What a cache line costs on this machine: of memory of several sizes, the time of a read whose address the one before
//! returns (latency), and of reads of random lines whose addresses are known (throughput). Prints one JSON line, in
//! nanoseconds per read, CPU time.

use std::hint::black_box;

use nix::time::{ClockId, clock_gettime};

/// A cache line whose first word is the number of another one.
#[repr(align(64))]
#[derive(Clone)]
struct Line([u32; 16]);

/// Sizes of memory in bytes: within a first-level cache, a second, a third, and in none.
const SIZES: [(&str, usize); 4] =
    [("16 kB", 16 << 10), ("512 kB", 512 << 10), ("8 MB", 8 << 20), ("256 MB", 256 << 20)];
const READS: u64 = 4_000_000;

fn main() {
    let mut state = 88_172_645_463_325_252u64;
    let mut random = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let mut rows = Vec::new();
    for (name, size) in SIZES {
        let count = size / size_of::<Line>();
        // one cycle through all lines in random order (Sattolo)
        let mut lines: Vec<Line> = (0..count as u32).map(|number| Line([number; 16])).collect();
        for i in (1..count).rev() {
            let j = (random() % i as u64) as usize;
            let other = lines[j].0[0];
            lines[j].0[0] = std::mem::replace(&mut lines[i].0[0], other);
        }
        let chase = || {
            let mut at = 0u32;
            for _ in 0..READS {
                at = lines[at as usize].0[0];
            }
            black_box(at);
        };
        chase();
        let latency = time_ns(chase) / READS as f64;
        let throughput = time_ns(|| {
            let (mut sum, mut at) = (0u64, 1u64);
            for _ in 0..READS {
                // a linear congruential generator: the next address depends on no read
                at = at.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                sum += u64::from(lines[(at >> 33) as usize & (count - 1)].0[1]);
            }
            black_box(sum);
        }) / READS as f64;
        rows.push(format!(
            "{{\"memory\": \"{name}\", \"latency_ns\": {latency:.1}, \"throughput_ns\": {throughput:.1}}}"
        ));
    }
    println!("[{}]", rows.join(", "));
}

/// CPU time of the thread in nanoseconds.
fn time_ns(work: impl FnOnce()) -> f64 {
    let now = || {
        let time = clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).expect("every Linux has this clock");
        time.tv_sec() as f64 * 1e9 + time.tv_nsec() as f64
    };
    let began = now();
    work();
    now() - began
}
