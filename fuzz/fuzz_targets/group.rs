//! Records and DATAGRAM frames of sessions over QUIC, and packets to a group: arbitrary bytes are decoded or refused,
//! and decoded messages are encoded and decoded again to the same.
#![no_main]

use std::net::SocketAddr;

use libfuzzer_sys::fuzz_target;
use quic_net::Stats;
use quic_net::frames::{Datagram, Record, Secret};
use quic_net::group::{EpochKey, Header, Reception, Signer};
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
    let (secret, signer) = (Secret([7; 32]), Signer::new(&[8; 32]));
    let address = SocketAddr::from(([239, 1, 2, 3], 5000));
    let mut reception = Reception::new(address, 0, signer.public_key(), Time::ZERO);
    reception.install(0, &secret);
    let mut stats = Stats::default();
    assert_eq!(reception.open(bytes, Time::ZERO, &mut stats), None, "nobody forges a packet");
    assert_eq!(stats.discarded.total(), 1);
    let header = Header { session: 0, epoch: 0, number: bytes.len() as u64 };
    let sealed = |write: &dyn Fn(&mut Vec<u8>)| {
        let mut packet = Vec::new();
        EpochKey::new(&secret, 0, 0).seal(header, &mut packet, write);
        packet
    };
    let by_a_member = sealed(&|out| out.extend(bytes));
    assert_eq!(reception.open(&by_a_member, Time::ZERO, &mut stats), None, "nor does a member");
    assert_eq!(stats.discarded.total(), 2);
    let burst = signer.sign(std::iter::once((header, bytes)));
    let packet = sealed(&|out| {
        out.extend(bytes);
        burst.write_proof(0, out);
    });
    assert_eq!(reception.open(&packet, Time::ZERO, &mut stats), Some(bytes));
});
