//! Tests of captures of sessions.

use driver::testing::{CaptureFile, CapturedPacket};
use driver::{Recorder, Tapped};

use super::*;
use crate::End;

fn tap<T>(inner: T, began_ns: u64) -> (Tapped<T>, CaptureFile) {
    let page = CaptureFile::default();
    let recorder = Recorder::new(page.clone(), began_ns).expect("memory");
    (Tapped::new(inner, Some(recorder)), page)
}

#[test]
fn what_one_end_sent_is_what_the_other_received() {
    let net = VirtualNetwork::plain(ms(10));
    let (a, b) = addresses();
    let ((here, sent), (there, received)) = (tap(net.host(a, ms(1)), 5), tap(net.host(b, ms(0)), 7));
    let meets = (settings(Handshake::Connect(b)), settings(Handshake::Listen));
    let left = numbers_between((here, there), &steady("8 Mbit/s"), 300, meets, Controls::default());
    // both ends are gone: buffers have been written out
    assert_eq!((&left.sender.end, &left.receiver.end), (&End::Complete, &End::Complete));
    let (sent, received) = (sent.packets(), received.packets());
    let count =
        |list: &[CapturedPacket], interface| list.iter().filter(|p| p.interface == interface).count() as u64;
    let (sender, receiver) = (&left.sender.stats, &left.receiver.stats);
    assert_eq!((count(&sent, 0), count(&sent, 1)), (sender.sent.datagrams, sender.received.datagrams));
    assert_eq!(
        (count(&received, 0), count(&received, 1)),
        (receiver.sent.datagrams, receiver.received.datagrams)
    );
    assert!(count(&sent, 0) >= 300);
    // to the nanosecond: a delay of ten milliseconds, and clocks whose zeros differ by two nanoseconds
    let left_here: Vec<CapturedPacket> = sent.iter().filter(|p| p.interface == 0).cloned().collect();
    let came_there: Vec<CapturedPacket> = received
        .iter()
        .filter(|p| p.interface == 1)
        .map(|p| CapturedPacket { interface: 0, at_ns: p.at_ns - 2 - 10_000_000, ..p.clone() })
        .collect();
    assert_eq!(left_here[..came_there.len()], came_there);
    for packet in &sent {
        let (from, to, _, content) = packet.datagram();
        assert_eq!((from, to), if packet.interface == 0 { (a, b) } else { (b, a) });
        assert!(wire::stream::Datagram::peek(content).is_ok(), "it is a datagram of ours");
    }
    assert!(sent.is_sorted_by_key(|packet| packet.at_ns));
}
