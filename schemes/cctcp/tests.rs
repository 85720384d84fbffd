//! One test per rule of the reconstruction.

use contract::{
    Cause, Congestion, CongestionControl, FaceId, Label, LinkAlgorithm, Name, NameId, NodeId, SourceWindows,
    Transit,
};
use units::{Bytes, Duration, Rate};

use super::link::word;
use super::{Cctcp, Params, Unpredicted, control, link};
use crate::shared::forwarders::{LinkBench, data, faces};
use crate::shared::testing::{Bench, SEGMENT, setup};

const UP: FaceId = FaceId(0);
const DOWN: FaceId = FaceId(1);
/// An endpoint on the node.
const HERE: FaceId = FaceId(2);

fn name(segment: u64) -> Name {
    Name { prefix: NameId(1), segment }
}

/// Node 7, which stores these segments.
fn node(stored: &[u64]) -> LinkBench {
    let mut node = LinkBench::new(faces(2, Rate::from_mbps(10), 1));
    node.store = stored.iter().copied().map(name).collect();
    node
}

/// Data of segment 10 that node 4 answers to an Interest which anticipates 30, 31 and 32.
fn answered(stored: &[u64], from: FaceId) -> [u64; 4] {
    let mut packet = data(name(10));
    packet.source.node = NodeId(4);
    let path = Transit { from, to: DOWN, note: 0, interest_label: Label([20 << 32, 0, 0, 0]) };
    link(&Params::default(), &setup(1)).on_data_out(&mut packet, &path, &mut node(stored));
    packet.label.0
}

/// What a node on the path makes of it.
fn passed(label: [u64; 4], stored: &[u64]) -> [u64; 4] {
    let mut controller = link(&Params::default(), &setup(1));
    node(stored).data_with(&mut controller, name(10), UP, DOWN, |packet| packet.label = Label(label)).label.0
}

#[test]
fn a_producer_answers_for_all_that_its_node_does_not_store() {
    assert_eq!(answered(&[], HERE), [20 << 32 | word(NodeId(4)), 5, 5, 5]);
    assert_eq!(answered(&[31], HERE)[1..], [5, word(NodeId(7)), 5]);
}

#[test]
fn a_store_answers_for_what_it_holds() {
    assert_eq!(answered(&[30, 32], DOWN), [20 << 32 | 5, 8, 0, 8]);
}

/// [SCP13]: the Data come from the nearest node that has them.
#[test]
fn a_node_nearer_to_the_consumer_writes_over_one_that_is_farther() {
    let label = [20 << 32 | 5, 5, 0, 5];
    assert_eq!(passed(label, &[]), label);
    assert_eq!(passed(label, &[30, 31, 99]), [20 << 32 | 5, 8, 8, 5]);
}

#[test]
fn data_without_a_source_are_left_alone() {
    assert_eq!(passed([0; 4], &[10, 11, 12]), [0; 4]);
}

#[test]
fn nothing_is_predicted_where_nothing_is_anticipated() {
    let mut controller = link(&Params { anticipated: 0, ..Params::default() }, &setup(1));
    let mut packet = data(name(10));
    packet.source.node = NodeId(4);
    let path = Transit { from: HERE, to: DOWN, note: 0, interest_label: Label([20 << 32, 0, 0, 0]) };
    controller.on_data_out(&mut packet, &path, &mut node(&[30]));
    assert_eq!(packet.label.0, [20 << 32 | 5, 0, 0, 0]);
}

fn controller(params: Params) -> (Bench, Cctcp) {
    (Bench::new(), control(&params, &setup(4)))
}

/// Data of `segment` from a node that predict where the three from `segment` + `lead` on come from.
fn receive(controller: &mut Cctcp, segment: u64, node: u64, lead: u64, predicted: [u64; 3]) -> u32 {
    let [one, two, three] = predicted;
    controller.identify(segment, &Label([lead << 32 | node, one, two, three]))
}

/// [SCP13]: predictions before a request; each holds for one request.
#[test]
fn a_segment_is_charged_to_its_predicted_source() {
    let (_, mut controller) = controller(Params { unpredicted: Unpredicted::Latest, ..Params::default() });
    assert_eq!(controller.expect(0), 0);
    // the first source is the one that the first segments were charged to
    assert_eq!(receive(&mut controller, 0, 5, 20, [8, 5, 0]), 0);
    assert_eq!(controller.sources(), 2);
    assert_eq!([20, 21, 22].map(|segment| controller.expect(segment)), [1, 0, 0]);
    assert_eq!(receive(&mut controller, 1, 8, 20, [0; 3]), 1);
    assert_eq!(
        [20, 21].map(|segment| controller.expect(segment)),
        [1, 1],
        "no prediction: the latest source"
    );
}

/// Round-trip times of 200 ms at source 0, and of 20 ms at source 1.
#[test]
fn without_a_prediction_the_farthest_source_is_charged() {
    let (mut bench, mut controller) = controller(Params::default());
    for (node, rtt_ms) in [(5, 200), (8, 20)] {
        bench.rtt = Duration::from_millis(rtt_ms);
        let source = receive(&mut controller, 0, node, 0, [0; 3]);
        let ack = bench.an_ack(&controller);
        SourceWindows::on_ack(&mut controller, source, &ack, &mut bench.cx());
    }
    assert_eq!(controller.expect(50), 0);
}

/// [RFC5681 §3.1]: slow start from 4; after a timeout cwnd = 1 and ssthresh = 3, and from there on 1/cwnd. The other
/// source keeps its 4.
#[test]
fn each_source_has_reno_s_window() {
    let (mut bench, mut controller) = controller(Params::default());
    assert_eq!(
        (receive(&mut controller, 0, 5, 0, [0; 3]), receive(&mut controller, 1, 8, 0, [0; 3])),
        (0, 1)
    );
    let windows = |controller: &Cctcp| [0, 1].map(|source| controller.window(source).as_u64());
    let ack = bench.an_ack(&controller);
    let mut acks = |controller: &mut Cctcp, count: u32| {
        (0..count).for_each(|_| SourceWindows::on_ack(controller, 0, &ack, &mut bench.cx()));
    };
    acks(&mut controller, 2);
    assert_eq!(windows(&controller), [6000, 4000]);
    let mut bench = Bench::new();
    let mut event = |controller: &mut Cctcp, cause, first| {
        let event = Congestion { cause, bytes: SEGMENT, in_flight: Bytes::ZERO, first };
        SourceWindows::on_congestion(controller, 0, &event, &mut bench.cx());
        windows(controller)
    };
    assert_eq!(event(&mut controller, Cause::Mark, true), [6000, 4000]);
    assert_eq!(event(&mut controller, Cause::Loss, false), [6000, 4000], "of an episode that was heard of");
    assert_eq!(event(&mut controller, Cause::Loss, true), [1000, 4000]);
    acks(&mut controller, 2);
    assert_eq!(windows(&controller), [3000, 4000]);
    acks(&mut controller, 3);
    // 3 + 1/3 + 1/3.33 + 1/3.63 = 3.908
    assert_eq!(windows(&controller), [3908, 4000]);
    assert_eq!(controller.allowance().window, Bytes::new(7908));
}

/// Segments up to 25 are wanted, and the windows are 4 and 4: the Data of 20 say where 33, 34 and 35 come from.
#[test]
fn an_interest_anticipates_what_will_be_wanted_when_its_data_have_come() {
    let (_, mut controller) = controller(Params::default());
    receive(&mut controller, 0, 5, 0, [0; 3]);
    receive(&mut controller, 1, 8, 0, [0; 3]);
    controller.expect(25);
    assert_eq!(controller.label(20), Label([13 << 32, 0, 0, 0]));
    // as far as predictions are remembered
    controller.expect(1_000_000);
    assert_eq!(controller.label(20), Label([2048 << 32, 0, 0, 0]));
}

#[test]
fn sources_beyond_the_bound_share_the_last_window() {
    let (_, mut controller) = controller(Params { sources: 2, ..Params::default() });
    assert_eq!([5, 8, 9, 8, 5].map(|node| receive(&mut controller, 0, node, 0, [0; 3])), [0, 1, 1, 1, 0]);
    assert_eq!(controller.sources(), 2);
}

/// Without the part in forwarders there is one source.
#[test]
fn without_labels_all_data_are_of_one_source() {
    let (_, mut controller) = controller(Params::default());
    assert_eq!([0, 1, 2].map(|segment| controller.identify(segment, &Label::default())), [0; 3]);
    assert_eq!((controller.sources(), controller.expect(3)), (1, 0));
}
