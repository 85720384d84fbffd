//! Once a run is under way, no packet costs an allocation. Alone in its file, because the count is of the whole process.

use sim::{Control, World};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<std::alloc::System> = &INSTRUMENTED_SYSTEM;

/// Allocations of a run, from its making to its end.
fn allocations(name: &str, seconds: u64) -> usize {
    let blueprint = benches::workload(name, Some(seconds)).expect("a workload");
    let region = Region::new(ALLOCATOR);
    let mut world = World::new(&blueprint).expect("a valid blueprint");
    world.run(&Control::default());
    let change = region.change();
    change.allocations + change.reallocations
}

#[test]
fn a_longer_run_allocates_no_more_than_a_short_one() {
    for (name, short, long) in [("w1", 20, 40), ("w3", 2, 10), ("w4", 2, 20), ("n1", 20, 40)] {
        assert_eq!(allocations(name, long), allocations(name, short), "{name}");
    }
}
