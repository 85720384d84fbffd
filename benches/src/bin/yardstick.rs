//! Fixed work that tells how fast a machine is today: twenty million times the earliest of a thousand is taken off a
//! heap and a later one put on.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

fn main() {
    let mut state = 88_172_645_463_325_252u64;
    let mut random = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % 1_000_000
    };
    let mut heap: BinaryHeap<Reverse<(u64, u64)>> =
        (0..1000).map(|number| Reverse((random(), number))).collect();
    let mut sum = 0u64;
    for number in 1000..20_001_000 {
        if let Some(mut first) = heap.peek_mut() {
            let Reverse((time, _)) = *first;
            sum = sum.wrapping_add(time);
            *first = Reverse((time + random(), number));
        }
    }
    println!("{sum}");
}
