//! Tests of captures: what is in the file, when it is written, and what happens when it cannot be.

use std::io::{self, Write};
use std::net::SocketAddr;

use contract::Ecn;
use driver::testing::{CaptureFile, InFlight, VirtualNetwork};
use driver::{Batch, GsoBatch, Platform, Recorder, SendOutcome, Tapped};
use units::Duration;

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

#[test]
fn a_full_disk_ends_the_capture_with_its_error_and_packets_are_still_sent() {
    /// Room for this many bytes.
    struct Full(usize);
    impl Write for Full {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let taken = bytes.len().min(self.0);
            self.0 -= taken;
            if taken == 0 { Err(io::ErrorKind::StorageFull.into()) } else { Ok(taken) }
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let net = VirtualNetwork::plain(ms(10));
    let (a, b) = (SocketAddr::from(([10, 0, 0, 1], 1)), SocketAddr::from(([10, 0, 0, 2], 2)));
    let recorder = Recorder::new(Full(2000), 0).expect("it is begun in the buffer");
    let mut here = Tapped::new(net.host(a, ms(0)), Some(recorder));
    let bytes = [1; 5000];
    for _ in 0..200 {
        let gso_batch = GsoBatch { to: b, ecn: Ecn::Capable, bytes: &bytes, segment_size: 1000 };
        assert_eq!(here.send(&gso_batch), SendOutcome::Accepted);
    }
    let captured = here.finish().expect("there was one");
    assert_eq!(captured.failure.map(|error| error.kind()), Some(io::ErrorKind::StorageFull));
    assert!(captured.packets < 1000);
    assert!(here.finish().is_none());
}

#[test]
fn captures_are_flushed_every_second_with_groups_and_ecn_marks() {
    let net = VirtualNetwork::plain(ms(1));
    let (a, b) = (SocketAddr::from(([10, 0, 0, 1], 1)), SocketAddr::from(([10, 0, 0, 2], 2)));
    let file = CaptureFile::default();
    let recorder = Recorder::new(file.clone(), 0).expect("memory");
    let mut here = Tapped::new(net.host(a, ms(0)), Some(recorder));
    let group = SocketAddr::from(([239, 1, 2, 3], 9));
    net.inject(InFlight {
        at: net.now() + ms(5),
        from: b,
        to: a,
        ecn: Ecn::Marked,
        bytes: b"marked".to_vec(),
    });
    let until = here.now() + ms(1);
    here.wait(until);
    here.send(&GsoBatch { to: group, ecn: Ecn::Capable, bytes: b"to all", segment_size: 1400 });
    let until = here.now() + ms(10);
    here.wait(until);
    assert!(here.receive(&mut Batch::new(1 << 16)));
    assert!(!here.receive(&mut Batch::new(1 << 16)), "nothing more is there, and nothing is recorded");
    let until = here.now() + ms(1000);
    here.wait(until);
    let until = here.now() + ms(1);
    here.wait(until);
    let seen = file.packets();
    let seen: Vec<_> = seen.iter().map(|packet| (packet.interface, packet.datagram())).collect();
    assert_eq!(
        seen,
        [(0, (a, group, Ecn::Capable, &b"to all"[..])), (1, (b, a, Ecn::Marked, &b"marked"[..]))]
    );
}
