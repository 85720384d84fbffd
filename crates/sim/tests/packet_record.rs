//! The record of packets of random networks: the run is the same as without it, and its counters follow from the rows.

#[path = "../../lab/tests/packet_rows/mod.rs"]
mod packet_rows;

use contract::LinkId;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use sim::Change;
use stack::queue::ALL;
use units::{Rate, Time};

use crate::engine::random_plan;
use crate::ms;
use packet_rows::check;

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, rng_seed: RngSeed::Fixed(43), failure_persistence: None, ..ProptestConfig::default() })]

    /// With plain queues or any discipline, links that fail and change, and a warm-up.
    #[test]
    fn the_record_of_a_random_network_gives_the_counters_of_its_run(
        mut net in random_plan(), which in proptest::option::of(0..ALL.len()), kbps in 200u64..3000, warm in 0u64..600,
    ) {
        for port in net.links.iter_mut().flat_map(|link| [&mut link.forward, &mut link.backward]) {
            if let Some(which) = which {
                port.queue.class_weights.clear();
                port.queue.discipline = Some((ALL[which].read)(&[]).expect("defaults"));
            }
        }
        net.warmup = ms(warm);
        let changes = (0u32..).map(LinkId).zip(&net.links).filter(|(_, link)| {
            [&link.forward, &link.backward].iter().all(|port| port.trace.is_none() && port.shaper.is_none())
        });
        let changes: Vec<_> = changes.take(3).map(|(id, _)| Change::LinkRate(id, Rate::from_kbps(kbps))).collect();
        net.events.extend(changes.into_iter().map(|change| (Time::ZERO + ms(400), change)));
        check(&net);
    }
}
