//! Records and DATAGRAM frames of sessions over QUIC, and packets to a group: arbitrary bytes are decoded or refused, and decoded messages are encoded and
//! decoded again to the same.
#![no_main]

use std::net::SocketAddr;

use libfuzzer_sys::fuzz_target;
use quic_net::Stats;
use quic_net::frames::{Datagram, Record, Secret};
use quic_net::group::{EpochKey, Header, Reception};
use units::Time;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(Some((record, _))) = Record::read(bytes) {
        let (mut written, mut rewritten) = (Vec::new(), Vec::new());
        record.write(&mut written);
        let (record, length) =
            Record::read(&written).expect("what was written is read").expect("it is whole");
        // bytes are compared, since parameters may be no numbers, which equal nothing
        record.write(&mut rewritten);
        assert_eq!((&written, written.len()), (&rewritten, length));
    }
    if let Some(datagram) = Datagram::read(bytes) {
        let mut written = Vec::new();
        assert!(datagram.write(&mut written), "what was read can be written");
        assert_eq!(Datagram::read(&written), Some(datagram));
    }
    let secret = Secret([7; 32]);
    let mut reception = Reception::new(SocketAddr::from(([239, 1, 2, 3], 5000)), 0, Time::ZERO);
    reception.install(0, &secret);
    let mut stats = Stats::default();
    assert_eq!(reception.open(bytes, Time::ZERO, &mut stats), None, "nobody forges a packet");
    assert_eq!(stats.discarded.total(), 1);
    let mut packet = Vec::new();
    let header = Header { session: 0, epoch: 0, number: bytes.len() as u64 };
    EpochKey::new(&secret, 0, 0).seal(header, &mut packet, |out| out.extend(bytes));
    assert_eq!(reception.open(&packet, Time::ZERO, &mut stats), Some(bytes));
});
