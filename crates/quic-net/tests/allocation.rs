//! Packets to a group are signed, sealed and opened without allocation.

use std::alloc::System;
use std::net::SocketAddr;

use quic_net::Stats;
use quic_net::frames::Secret;
use quic_net::group::{EpochKey, Header, Reception, Signer};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use units::Time;

#[global_allocator]
static GLOBAL: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

#[test]
fn packets_are_signed_sealed_and_opened_without_allocation() {
    let secret = Secret([3; 32]);
    let key = EpochKey::new(&secret, 7, 0);
    let signer = Signer::new(&[4; 32]);
    let address = SocketAddr::from(([239, 1, 2, 3], 5000));
    let mut reception = Reception::new(address, 7, signer.public_key(), Time::ZERO);
    reception.install(0, &secret);
    let (mut packet, mut stats) = (Vec::with_capacity(1600), Stats::default());
    let mut pass = |number: u64| {
        packet.clear();
        let (header, sent) = (Header { session: 7, epoch: 0, number }, [number as u8; 1400]);
        let burst = signer.sign(std::iter::once((header, &sent[..])));
        key.seal(header, &mut packet, |out| {
            out.extend_from_slice(&sent);
            burst.write_proof(0, out);
        });
        let content = reception.open(&packet, Time::ZERO, &mut stats).expect("it has the key");
        assert_eq!(content, sent);
    };
    pass(0);
    let region = Region::new(GLOBAL);
    (1..5000).for_each(&mut pass);
    let change = region.change();
    // the test runner, whose allocations count too, has a few
    assert!(change.allocations + change.reallocations < 50, "{change:?}");
    assert_eq!(stats.discarded.total(), 0);
}
