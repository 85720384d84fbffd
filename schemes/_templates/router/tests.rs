//! One test per claim of the paper, named after it, with the section.

use contract::{
    EndpointId, FeedbackTarget, GroupId, Header, Label, Packet, PortId, SenderAlgorithm, Setup, StreamHeader,
};
use units::{Bytes, Time};

use super::{Params, mark, router, sender};
use crate::shared::router_testing::{Node, packet};
use crate::shared::stream_testing::{PACKET, StreamBench, ms, near};

const SETUP: Setup = Setup { segment: PACKET, header: Bytes::ZERO, initial_window: Bytes::ZERO };
const PORT: PortId = PortId(1);

/// A packet of group 5 with a label of this scheme, or of another one.
fn data(label: u64) -> Packet {
    let header = StreamHeader { seq: 1, bytes_before: 1000, ..StreamHeader::default() };
    packet(5, 10, 20, Header::Stream(header), Label([label, 0, 0, 0]))
}

/// [CJ89 §2]: 25 of 50 packets are the threshold.
#[test]
fn a_router_notifies_the_source_of_a_group_whose_packet_meets_a_half_full_queue() {
    let (mut node, params) = (Node::new(2), Params::default());
    let mut algorithm = router(&params, &SETUP);
    node.enqueue(&mut algorithm, &data(mark(&params)), PORT, 24);
    assert!(node.run(&mut algorithm, ms(1)).is_empty());
    node.enqueue(&mut algorithm, &data(mark(&params)), PORT, 25);
    let sent = node.run(&mut algorithm, ms(2));
    assert_eq!(sent.len(), 1);
    let (at, message) = sent[0];
    assert_eq!((at, message.group, message.target), (ms(1), GroupId(5), FeedbackTarget::Source));
    assert_eq!(message.label, Label([mark(&params), 0, 0, 0]));
}

#[test]
fn packets_of_other_schemes_are_left_alone() {
    let mut node = Node::new(2);
    let mut algorithm = router(&Params::default(), &SETUP);
    node.enqueue(&mut algorithm, &data(1), PORT, 50);
    assert!(node.run(&mut algorithm, ms(1)).is_empty());
}

/// [CJ89 §3]: a packet of 8000 bits per 0.2 s is 40 kbit/s; a notification leaves a half, once per interval.
#[test]
fn the_source_adds_a_packet_per_interval_and_keeps_a_half_when_notified() {
    let (mut end, params) = (StreamBench::new(EndpointId(0)), Params::default());
    let mut algorithm = sender(&params, &SETUP);
    end.cx(|cx| algorithm.on_start(cx));
    end.run(&mut algorithm, ms(200));
    near(algorithm.allowance().rate.as_bps_f64(), 140_000.0);
    for label in [mark(&params), mark(&params), 1] {
        end.send_feedback(&mut algorithm, EndpointId(9), Time::ZERO, Label([label, 0, 0, 0]));
    }
    near(algorithm.allowance().rate.as_bps_f64(), 70_000.0);
}
