use contract::{
    Address, Arrival, Backlog, Count, Cx, Destination, Ecn, EndpointId, FeedbackTarget, FlowId, Header,
    Label, Meter, NodeCx, NodeId, NodeView, OutgoingPacket, Outputs, Packet, PortId, PortView, Random,
    ReceiverAlgorithm, RouterAlgorithm, RouterCx, SenderAlgorithm, StreamHeader, TransitCx,
};
use units::{Bytes, Time};

use super::headers::{Answer, DataHeader, FeedbackMessage, Notify, mark};
use super::*;
use crate::shared::stream_testing::{PACKET, StreamBench, ms, near};

const SOURCE: EndpointId = EndpointId(1);
const NEAR: EndpointId = EndpointId(2);
const FAR: EndpointId = EndpointId(3);
const ROUTER: EndpointId = EndpointId(9);

// ---- router

/// A router's part with its clock.
struct Place {
    now: Time,
    part: Router,
    mark: u64,
}

/// Nothing around it is asked for.
struct Nowhere;

impl NodeView for Nowhere {
    fn port(&mut self, port: PortId) -> PortView {
        view(port.0, 0)
    }
    fn next(&self, _to: NodeId) -> Option<PortId> {
        None
    }
    fn cost(&self, _to: NodeId) -> Option<u64> {
        None
    }
}

/// A port of 50 packets in which so many wait.
fn view(port: u32, waiting: u32) -> PortView {
    let backlog = Backlog { packets: waiting, bytes: PACKET * u64::from(waiting) };
    PortView {
        port: PortId(port),
        to: NodeId(1),
        rate: Rate::from_mbps(1),
        rate_in: Rate::from_mbps(1),
        backlog,
        busy: true,
        limit: Backlog { packets: 50, bytes: Bytes::UNLIMITED },
    }
}

impl Place {
    fn new(params: &Params) -> Self {
        Self { now: Time::ZERO, part: Router::new(params), mark: mark(params) }
    }

    /// Packet `seq` of group `group`, sent 7 ms ago, is about to join a queue.
    fn pass(&mut self, group: u32, seq: u64, view: &PortView) {
        let label = DataHeader { mark: self.mark, request: 0, target: None }.encode();
        self.pass_with(
            group,
            Header::Stream(StreamHeader { seq, bytes_before: 0, ..StreamHeader::default() }),
            label,
            view,
        );
    }

    fn pass_with(&mut self, group: u32, header: Header, label: Label, view: &PortView) {
        let mut packet = Packet {
            flow: FlowId(group),
            size_bytes: 1000,
            source: Address { node: NodeId(0), endpoint: SOURCE },
            to: Destination::from(Address { node: NodeId(1), endpoint: ROUTER }),
            sent_at: self.now - Duration::from_millis(7),
            label,
            header,
            ecn: Ecn::NotCapable,
            hops: 0,
            waited: Default::default(),
        };
        let mut random = Random::new(1, "router", "");
        self.part.on_enqueue(
            &mut packet,
            view,
            &mut TransitCx { now: self.now, port: view.port, random: &mut random },
        );
    }

    /// Packets `seqs` pass an empty queue, 10 ms apart: 800 kbit/s. The clock ends 10 ms after the last.
    fn flow(&mut self, group: u32, seqs: std::ops::Range<u64>, port: u32) {
        for seq in seqs {
            self.pass(group, seq, &view(port, 0));
            self.now += Duration::from_millis(10);
        }
    }

    /// What it says now, if it wants to say something: group and suggested rate.
    fn output(&mut self) -> Vec<(u32, f64)> {
        if self.part.wake() == Time::NEVER {
            return Vec::new();
        }
        assert_eq!(self.part.wake(), self.now, "it speaks at once");
        let (mut random, mut meter, mut out) =
            (Random::new(1, "router", ""), Meter::default(), Outputs::default());
        let me = Address { node: NodeId(5), endpoint: ROUTER };
        let mut cx = Cx::new(self.now, me, FlowId(0), &mut random, &mut meter, &mut out);
        let (mut around, mut messages) = (Nowhere, Vec::new());
        self.part.on_timer(&mut RouterCx::new(&mut NodeCx::new(&mut cx, &mut around), &mut messages));
        assert_eq!(self.part.wake(), Time::NEVER);
        let read = |message: contract::GroupMessage| match FeedbackMessage::decode(message.label) {
            Some(FeedbackMessage::Notify(it)) if message.target == FeedbackTarget::Source => {
                assert_eq!(it.trigger_sent_at, self.now - Duration::from_millis(7));
                (message.group.0, it.suggested_rate)
            }
            other => panic!("{other:?} towards {:?}", message.target),
        };
        messages.into_iter().map(read).collect()
    }
}

#[test]
fn a_packet_that_meets_a_half_full_queue_has_its_source_told_at_once() {
    let mut place = Place::new(&Params::default());
    place.flow(4, 0..10, 0);
    assert!(place.output().is_empty());
    place.pass(4, 10, &view(0, 24));
    assert!(place.output().is_empty(), "24 of 50 wait");
    // ten packets of 8000 bit in the bin of 100 ms: 800 kbit/s, of which 0.95
    place.pass(4, 11, &view(0, 25));
    assert_eq!(place.output(), [(4, 760e3)]);
    // every such packet, also one that the full queue then drops
    place.pass(4, 12, &view(0, 50));
    place.pass(4, 13, &view(0, 30));
    assert_eq!(place.output(), [(4, 760e3), (4, 760e3)]);
}

#[test]
fn the_rate_is_counted_in_bins_and_the_last_bin_counts_half() {
    let mut place = Place::new(&Params::default());
    place.flow(0, 0..10, 0);
    // five packets in the next bin: (800 + 400)/2
    place.flow(0, 10..15, 0);
    place.now = ms(200);
    place.pass(0, 15, &view(0, 50));
    assert_eq!(place.output(), [(0, 0.95 * 600e3)]);
    // one packet in the third, none in the fourth and fifth: ((600 + 80)/2)/2/2
    place.now = ms(500);
    place.pass(0, 16, &view(0, 50));
    assert_eq!(place.output(), [(0, 0.95 * 85e3)]);
    // after an hour without packets nothing is left
    place.now = ms(3_600_000);
    place.pass(0, 17, &view(0, 50));
    assert_eq!(place.output(), [(0, 0.0)]);
}

#[test]
fn a_rate_that_is_not_known_yet_suggests_nothing() {
    let mut place = Place::new(&Params::default());
    place.pass(0, 0, &view(0, 50));
    place.now = ms(99);
    place.pass(0, 1, &view(0, 50));
    assert!(place.output().is_empty());
    place.now = ms(100);
    place.pass(0, 2, &view(0, 50));
    assert_eq!(place.output(), [(0, 0.95 * 160e3)]);
}

#[test]
fn each_group_has_a_rate_of_its_own_on_each_interface() {
    let mut place = Place::new(&Params::default());
    for seq in 0..20 {
        // group 70 on ports 3 and 900; group 2 on port 900 at half the rate
        place.pass(70, seq, &view(3, 0));
        if seq < 10 {
            place.pass(70, seq, &view(900, 0));
        }
        if seq % 2 == 0 {
            place.pass(2, seq, &view(900, 0));
        }
        place.now += Duration::from_millis(5);
    }
    place.pass(70, 20, &view(3, 25));
    place.pass(70, 20, &view(900, 25));
    place.pass(2, 20, &view(900, 25));
    let wanted = [(70, 0.95 * 1.6e6), (70, 0.95 * 800e3), (2, 0.95 * 800e3)];
    assert_eq!(place.output(), wanted);
}

#[test]
fn copies_for_several_branches_behind_one_interface_count_once() {
    let mut place = Place::new(&Params::default());
    for seq in 0..10 {
        for _ in 0..3 {
            place.pass(0, seq, &view(0, 0));
        }
        place.now += Duration::from_millis(10);
    }
    for _ in 0..3 {
        place.pass(0, 10, &view(0, 25));
    }
    assert_eq!(place.output(), [(0, 760e3)]);
}

#[test]
fn what_is_no_data_of_its_groups_is_passed_over() {
    let mut place = Place::new(&Params::default());
    place.flow(0, 0..10, 0);
    let full = view(0, 50);
    let own = DataHeader { mark: place.mark, request: 0, target: None }.encode();
    let data = Header::Stream(StreamHeader { seq: 10, bytes_before: 0, ..StreamHeader::default() });
    // feedback; another scheme's data; data of groups with other parameters, which have a part of their own
    place.pass_with(0, Header::Feedback, own, &full);
    place.pass_with(0, data, Label([1, 0, 0, 0]), &full);
    let other = mark(&Params { keep: 0.9, ..Params::default() });
    place.pass_with(0, data, DataHeader { mark: other, request: 0, target: None }.encode(), &full);
    assert!(place.output().is_empty());
    place.pass_with(0, data, own, &full);
    assert_eq!(place.output().len(), 1);
}

#[test]
fn a_queue_may_be_limited_in_bytes_or_not_at_all() {
    let mut place = Place::new(&Params::default());
    place.flow(0, 0..10, 0);
    let bytes = |waiting| {
        let limit = Backlog { packets: u32::MAX, bytes: Bytes::new(30_000) };
        PortView { limit, ..view(0, waiting) }
    };
    place.pass(0, 10, &bytes(14));
    assert!(place.output().is_empty());
    place.pass(0, 11, &bytes(15));
    assert_eq!(place.output().len(), 1);
    let endless = Backlog { packets: u32::MAX, bytes: Bytes::UNLIMITED };
    place.pass(0, 12, &PortView { limit: endless, ..view(0, 1_000_000) });
    assert!(place.output().is_empty());
}

#[test]
fn spacing_keeps_notifications_of_a_group_and_interface_apart() {
    let mut place = Place::new(&Params { spacing: Duration::from_millis(30), ..Params::default() });
    place.flow(0, 0..10, 0);
    place.flow(1, 0..10, 0);
    let mut output = Vec::new();
    for seq in 10..20 {
        place.pass(0, seq, &view(0, 25));
        output.push(place.output().len());
        place.now += Duration::from_millis(10);
    }
    assert_eq!(output, [1, 0, 0, 1, 0, 0, 1, 0, 0, 1]);
    place.now = ms(295);
    place.pass(1, 10, &view(0, 25));
    assert_eq!(place.output().len(), 1, "another group");
}

// ---- source

/// A source that started at time zero with 1 Mbit/s.
fn source(params: &Params) -> (StreamBench, Sender) {
    let mut end = StreamBench::new(SOURCE);
    let params = Params { initial_rate: Rate::from_mbps(1), ..params.clone() };
    let mut algorithm = Sender::new(&params, PACKET);
    end.cx(|cx| algorithm.on_start(cx));
    (end, algorithm)
}

fn rate(algorithm: &Sender) -> f64 {
    algorithm.allowance().rate.as_bps_f64()
}

/// A notification about a packet sent 10 ms ago.
fn notify(end: &mut StreamBench, algorithm: &mut Sender, suggested_rate: f64) {
    let word = FeedbackMessage::Notify(Notify {
        suggested_rate,
        trigger_sent_at: end.now - Duration::from_millis(10),
    });
    end.send_feedback(algorithm, ROUTER, end.now, word.encode());
}

/// An answer to the current question, about a packet sent `rtt_ms` ago.
fn answer(end: &mut StreamBench, algorithm: &mut Sender, from: EndpointId, rtt_ms: u64) {
    let request = header(end, algorithm).request;
    let trigger_sent_at = end.now - Duration::from_millis(rtt_ms);
    end.send_feedback(
        algorithm,
        from,
        end.now,
        FeedbackMessage::Answer(Answer { request, trigger_sent_at }).encode(),
    );
}

/// What the next packet says.
fn header(end: &mut StreamBench, algorithm: &mut Sender) -> DataHeader {
    let label = end.cx(|cx| algorithm.stamp(&OutgoingPacket { seq: 0, size: PACKET, bytes_before: 0 }, cx));
    DataHeader::decode(label).expect("a source's word")
}

#[test]
fn a_suggested_rate_is_taken_if_it_is_less_and_not_below_the_floor() {
    let (mut end, mut algorithm) = source(&Params::default());
    end.now = ms(50);
    notify(&mut end, &mut algorithm, 1.2e6);
    assert_eq!((rate(&algorithm), end.meter.count(Count::Episodes)), (1e6, 0));
    notify(&mut end, &mut algorithm, 700e3);
    assert_eq!((rate(&algorithm), end.meter.count(Count::Episodes)), (700e3, 1));
    notify(&mut end, &mut algorithm, 800e3);
    assert_eq!(rate(&algorithm), 700e3);
    notify(&mut end, &mut algorithm, 100.0);
    assert_eq!(rate(&algorithm), 8e3);
    assert_eq!(end.meter.count(Count::Ignored), 0);
}

#[test]
fn a_round_trip_without_notification_adds_a_packet_per_round_trip() {
    // 100 ms before the first sample: 8000/0.1 = 80 kbit/s
    let (mut end, mut algorithm) = source(&Params::default());
    end.run(&mut algorithm, ms(99));
    assert_eq!(rate(&algorithm), 1e6);
    end.run(&mut algorithm, ms(100));
    assert_eq!(rate(&algorithm), 1.08e6);
    end.run(&mut algorithm, ms(320));
    assert_eq!(rate(&algorithm), 1.24e6);
    // a notification at 320 ms, though it suggests more: none at 400, again at 500
    notify(&mut end, &mut algorithm, 2e6);
    end.run(&mut algorithm, ms(499));
    assert_eq!(rate(&algorithm), 1.24e6);
    end.run(&mut algorithm, ms(500));
    assert_eq!(rate(&algorithm), 1.32e6);
}

#[test]
fn a_notification_exactly_one_round_trip_ago_no_longer_holds_the_rate() {
    let (mut end, mut algorithm) = source(&Params::default());
    end.run(&mut algorithm, ms(100));
    notify(&mut end, &mut algorithm, 5e6);
    end.run(&mut algorithm, ms(200));
    assert_eq!(rate(&algorithm), 1.16e6);
}

#[test]
fn the_round_trip_is_that_of_the_farthest_receiver() {
    let (mut end, mut algorithm) = source(&Params::default());
    assert_eq!(header(&mut end, &mut algorithm).target, None);
    end.now = ms(50);
    answer(&mut end, &mut algorithm, NEAR, 40);
    assert_eq!(header(&mut end, &mut algorithm).target, Some(NEAR));
    assert_eq!(end.meter.rtt_last, Duration::from_millis(40));
    end.now = ms(60);
    answer(&mut end, &mut algorithm, FAR, 56);
    assert_eq!(header(&mut end, &mut algorithm).target, Some(FAR));
    answer(&mut end, &mut algorithm, NEAR, 55);
    assert_eq!(end.meter.count(Count::Ignored), 1, "it is nearer");
    // 56 − 8/8 = 55 ms: growth of 8000/0.055 every 55 ms, from 100 ms on
    answer(&mut end, &mut algorithm, FAR, 48);
    end.run(&mut algorithm, ms(155));
    near(rate(&algorithm), (1e6 + 2.0 * 8e3 / 0.055_f64).round());
}

#[test]
fn the_farthest_receiver_is_asked_once_a_second_and_everyone_when_it_is_gone() {
    let (mut end, mut algorithm) = source(&Params::default());
    let target = |end: &mut StreamBench, algorithm: &mut Sender, at: Time| {
        end.run(algorithm, at);
        let header = header(end, algorithm);
        (header.request, header.target)
    };
    end.now = ms(50);
    answer(&mut end, &mut algorithm, FAR, 40);
    assert_eq!(target(&mut end, &mut algorithm, ms(999)), (0, Some(FAR)));
    assert_eq!(target(&mut end, &mut algorithm, ms(1000)), (1, Some(FAR)));
    end.now = ms(1050);
    answer(&mut end, &mut algorithm, FAR, 40);
    // questions 2, 3 and 4 stay without answer
    assert_eq!(target(&mut end, &mut algorithm, ms(2000)), (2, Some(FAR)));
    assert_eq!(target(&mut end, &mut algorithm, ms(4999)), (4, Some(FAR)));
    assert_eq!(target(&mut end, &mut algorithm, ms(5000)), (5, None));
    end.now = ms(5050);
    answer(&mut end, &mut algorithm, NEAR, 30);
    assert_eq!(target(&mut end, &mut algorithm, ms(6000)), (6, Some(NEAR)));
}

#[test]
fn malformed_and_stale_feedback_is_counted_and_never_applied() {
    let (mut end, mut algorithm) = source(&Params { increase: 0.0, ..Params::default() });
    end.run(&mut algorithm, ms(9000));
    let observed = |end: &mut StreamBench, algorithm: &mut Sender, label: Label| {
        let before = end.meter.count(Count::Ignored);
        end.send_feedback(algorithm, ROUTER, end.now, label);
        end.meter.count(Count::Ignored) - before
    };
    let word = |suggested_rate, trigger_sent_at| {
        FeedbackMessage::Notify(Notify { suggested_rate, trigger_sent_at }).encode()
    };
    for suggested_rate in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1.0] {
        assert_eq!(observed(&mut end, &mut algorithm, word(suggested_rate, ms(8990))), 1, "{suggested_rate}");
    }
    // about packets that were not sent yet, or more than two seconds ago
    for trigger_sent_at in [ms(9001), Time::NEVER, ms(6999), Time::ZERO] {
        assert_eq!(observed(&mut end, &mut algorithm, word(1e3, trigger_sent_at)), 1, "{trigger_sent_at}");
    }
    let last_answered =
        |request, trigger_sent_at| FeedbackMessage::Answer(Answer { request, trigger_sent_at }).encode();
    // to a question that was not asked yet; too old; of no kind that there is
    assert_eq!(observed(&mut end, &mut algorithm, last_answered(10, ms(8990))), 1);
    assert_eq!(observed(&mut end, &mut algorithm, last_answered(9, ms(6999))), 1);
    for words in [[0; 4], [3, 0, 8_990_000_000, 0], [1, 0, 8_990_000_000, 1], [2, u64::MAX, 8_990_000_000, 0]]
    {
        assert_eq!(observed(&mut end, &mut algorithm, Label(words)), 1, "{words:?}");
    }
    assert_eq!((rate(&algorithm), end.meter.rtt_count, end.meter.count(Count::Episodes)), (1e6, 0, 0));
    assert_eq!(observed(&mut end, &mut algorithm, word(1e5, ms(7000))), 0);
    assert_eq!(rate(&algorithm), 1e5);
}

#[test]
fn a_source_that_restarts_ignores_what_was_said_of_its_past() {
    let (mut end, mut algorithm) = source(&Params::default());
    end.now = ms(1000);
    end.cx(|cx| algorithm.on_start(cx));
    notify(&mut end, &mut algorithm, 1e3);
    assert_eq!((rate(&algorithm), end.meter.count(Count::Ignored)), (1e6, 1));
}

// ---- receiver

#[test]
fn a_receiver_answers_its_first_packet_and_then_what_it_is_asked() {
    let mut end = StreamBench::new(NEAR);
    let mut algorithm = Receiver::new();
    let mut receive = |request, target, now| {
        end.now = now;
        let label = DataHeader { mark: 7, request, target }.encode();
        let sent_at = now - Duration::from_millis(25);
        let data = Arrival { seq: 0, size: PACKET, bytes_before: 0, sent_at, marked: false, label };
        let answers = end.listen(|cx| algorithm.on_data(&data, cx));
        answers
            .into_iter()
            .map(|answer| FeedbackMessage::decode(answer.label).expect("an answer"))
            .collect::<Vec<_>>()
    };
    let output =
        |request, trigger_sent_at| vec![FeedbackMessage::Answer(Answer { request, trigger_sent_at })];
    assert_eq!(receive(5, Some(FAR), ms(100)), output(5, ms(75)));
    assert_eq!(receive(5, Some(NEAR), ms(110)), []);
    assert_eq!(receive(6, Some(FAR), ms(120)), []);
    assert_eq!(receive(6, Some(NEAR), ms(130)), output(6, ms(105)));
    assert_eq!(receive(7, None, ms(140)), output(7, ms(115)));
    assert_eq!(receive(7, None, ms(150)), []);
    // a late packet of an older question
    assert_eq!(receive(6, None, ms(160)), []);
}

#[test]
fn data_of_another_form_is_counted_and_not_answered() {
    let mut end = StreamBench::new(NEAR);
    let mut algorithm = Receiver::new();
    for words in [[0, 0, 2, 0], [0, 0, 0, 1], [0, u64::MAX, 0, 0], [0, 0, 1, u64::MAX]] {
        let data = Arrival {
            seq: 0,
            size: PACKET,
            bytes_before: 0,
            sent_at: ms(0),
            marked: false,
            label: Label(words),
        };
        assert!(end.listen(|cx| algorithm.on_data(&data, cx)).is_empty());
    }
    assert_eq!(end.meter.count(Count::Ignored), 4);
}

#[test]
fn groups_with_other_parameters_have_another_mark() {
    let plain = mark(&Params::default());
    assert_eq!(plain, mark(&Params::default()));
    assert_ne!(plain, mark(&Params { spacing: Duration::from_millis(1), ..Params::default() }));
}

#[test]
fn words_are_read_as_they_were_written() {
    for target in [None, Some(NEAR), Some(EndpointId(0)), Some(EndpointId(u32::MAX))] {
        let header = DataHeader { mark: 42, request: 7, target };
        assert_eq!(DataHeader::decode(header.encode()), Some(header));
    }
    let words = [
        FeedbackMessage::Notify(Notify { suggested_rate: 123.5, trigger_sent_at: ms(9) }),
        FeedbackMessage::Answer(Answer { request: u32::MAX, trigger_sent_at: ms(9) }),
    ];
    for word in words {
        assert_eq!(FeedbackMessage::decode(word.encode()), Some(word));
        assert_eq!(word.trigger_sent_at(), ms(9));
    }
}
