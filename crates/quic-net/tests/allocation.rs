//! Packets to a group are sealed and opened without allocation.

use std::alloc::System;
use std::net::SocketAddr;

use bytes::BufMut;
use quic_net::Stats;
use quic_net::frames::Secret;
use quic_net::group::{EpochKey, Header, Reception};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use units::Time;

#[global_allocator]
static GLOBAL: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

#[test]
fn packets_are_sealed_and_opened_without_allocation() {
    let secret = Secret([3; 32]);
    let key = EpochKey::new(&secret, 7, 0);
    let mut reception = Reception::new(SocketAddr::from(([239, 1, 2, 3], 5000)), 7, Time::ZERO);
    reception.install(0, &secret);
    let (mut packet, mut stats) = (Vec::with_capacity(1500), Stats::default());
    let mut pass = |number: u64| {
        packet.clear();
        key.seal(Header { session: 7, epoch: 0, number }, &mut packet, |out| {
            out.put_bytes(number as u8, 1400)
        });
        let content = reception.open(&packet, Time::ZERO, &mut stats).expect("it has the key");
        assert!(content.len() == 1400 && content.iter().all(|byte| *byte == number as u8));
    };
    pass(0);
    let region = Region::new(GLOBAL);
    (1..5000).for_each(&mut pass);
    let change = region.change();
    // the test runner, whose allocations count too, has a few
    assert!(change.allocations + change.reallocations < 50, "{change:?}");
    assert_eq!(stats.discarded.total(), 0);
}
