//! Once a run is under way, no packet costs an allocation. Alone in its file, because the count is of the whole
//! process.

use sim::{Control, World};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use units::Duration;

#[global_allocator]
static ALLOCATOR: &StatsAlloc<std::alloc::System> = &INSTRUMENTED_SYSTEM;

/// Allocations of a run, from its making to its end: the fewest of three, since the thread of the test harness may
/// allocate at the same time.
fn allocations(name: &str, seconds: u64) -> usize {
    let blueprint = benches::workload(name, Some(Duration::from_secs(seconds))).expect("a workload");
    let once = || {
        let region = Region::new(ALLOCATOR);
        let mut world = World::new(&blueprint).expect("a valid blueprint");
        world.run(&Control::default());
        let change = region.change();
        change.allocations + change.reallocations
    };
    (0..3).map(|_| once()).min().expect("there were three")
}

#[test]
fn a_longer_run_allocates_no_more_than_a_short_one() {
    // a distribution takes one byte more from 2⁸ and from 2¹⁶ packets of one delay on: both runs have more than so many
    // at a receiver, or both fewer
    let workloads =
        [("w1", 20, 40), ("w3", 7, 10), ("w4", 4, 20), ("w4n", 30, 90), ("n1", 20, 40), ("n2", 40, 80)];
    for (name, short, long) in workloads {
        assert_eq!(allocations(name, long), allocations(name, short), "{name}");
    }
}
