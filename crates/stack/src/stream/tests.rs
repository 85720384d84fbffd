use contract::{
    Address, Allowance, Arrival, Count, Cx, Ecn, Endpoint, Feedback, FlowId, Gap, Header, Input, Label,
    OutgoingPacket, Packet, ReceiverAlgorithm, ReceiverCx, SenderAlgorithm, StreamHeader,
};
use units::{Bytes, Duration, Rate, Time};

use super::*;
use crate::testing::{Bench, FLOW, ME, OTHER};

/// An algorithm set by feedback, which carries the allowance.
struct Observed {
    allowance: Allowance,
    alarm: Time,
    received: Vec<&'static str>,
    stamped: Vec<OutgoingPacket>,
    /// A control packet follows each data packet whose number is divisible by this; 0 for none.
    control_every: u64,
}

fn observed(rate: Rate) -> Observed {
    Observed {
        allowance: Allowance::rate(rate),
        alarm: Time::NEVER,
        received: Vec::new(),
        stamped: Vec::new(),
        control_every: 0,
    }
}

impl SenderAlgorithm for Observed {
    fn on_feedback(&mut self, feedback: &Feedback, _cx: &mut Cx<'_>) {
        let Label([rate, window, ..]) = feedback.label;
        self.allowance = Allowance { window: Bytes::new(window), rate: Rate::from_bps(rate) };
        self.received.push("feedback");
    }
    fn allowance(&self) -> Allowance {
        self.allowance
    }
    fn on_start(&mut self, _cx: &mut Cx<'_>) {
        self.received.push("start");
    }
    fn stamp(&mut self, sending: &OutgoingPacket, _cx: &mut Cx<'_>) -> Label {
        self.stamped.push(*sending);
        Label([sending.seq, 1, 2, 3])
    }
    fn on_timer(&mut self, _cx: &mut Cx<'_>) {
        self.alarm = Time::NEVER;
        self.received.push("timer");
    }
    fn wake(&self) -> Time {
        self.alarm
    }
    fn out_of_band(&self) -> bool {
        self.control_every > 0
    }
    fn control(&mut self, after: &OutgoingPacket, _cx: &mut Cx<'_>) -> Option<Label> {
        let due = (after.seq - 1).is_multiple_of(self.control_every);
        due.then_some(Label([after.seq, after.bytes_before, after.size.as_u64(), 9]))
    }
    fn on_idle(&mut self, _cx: &mut Cx<'_>) {
        self.received.push("idle");
    }
    fn on_mode(&mut self, mode: &str, _cx: &mut Cx<'_>) {
        self.received.push(if mode == "calm" { "calm" } else { "other mode" });
    }
}

fn exact(packet: u64) -> Config {
    Config { packet: Bytes::new(packet), jitter: 0.0, ..Config::default() }
}

fn at(ms: u64) -> Time {
    Time::ZERO + Duration::from_millis(ms)
}

fn word(label: [u64; 4]) -> Packet {
    Packet {
        flow: FLOW,
        size_bytes: 40,
        source: OTHER,
        to: ME.into(),
        sent_at: Time::ZERO,
        label: Label(label),
        header: Header::Feedback,
        ecn: Ecn::NotCapable,
        hops: 0,
        waited: Default::default(),
    }
}

fn data(seq: u64) -> Packet {
    let header = StreamHeader { seq, bytes_before: seq * 1000, ..StreamHeader::default() };
    Packet { size_bytes: 1000, header: Header::Stream(header), sent_at: at(seq), ..word([seq, 0, 0, 0]) }
}

const NO_WINDOW: u64 = u64::MAX;

#[test]
fn packets_leave_exactly_at_the_allowed_rate() {
    let mut bench = Bench::new(1);
    let mut sender = Sender::new(&exact(1000), observed(Rate::from_mbps(7)), OTHER.into());
    bench.input(&mut sender, Input::Start);
    let sent = bench.run(&mut sender, at(60_000));
    // 7e6 · 60 / 8000 = 52 500 gaps
    assert_eq!(sent.len(), 52_501);
    assert_eq!(sent[52_500].sent_at, at(60_000));
    let last = &sent[52_500];
    assert!(matches!(
        last.header,
        Header::Stream(StreamHeader { seq: 52_500, bytes_before: 52_500_000, .. })
    ));
    assert_eq!(last.label, Label([52_500, 1, 2, 3]));
    assert_eq!(sender.algorithm().stamped.len(), 52_501);
}

#[test]
fn control_packets_follow_the_data_that_they_count_and_take_none_of_its_time() {
    let mut bench = Bench::new(1);
    let algorithm = Observed { control_every: 3, ..observed(Rate::from_mbps(8)) };
    let config = Config { feedback: Bytes::new(40), ..exact(1000) };
    let mut sender = Sender::new(&config, algorithm, OTHER.into());
    bench.input(&mut sender, Input::Start);
    let sent = bench.run(&mut sender, at(4));
    let seen: Vec<_> = sent
        .iter()
        .map(|packet| {
            let (kind, StreamHeader { seq, bytes_before, .. }) = match packet.header {
                Header::Stream(header) => ("data", header),
                Header::StreamControl(header) => ("control", header),
                ref other => panic!("{other:?}"),
            };
            (kind, packet.sent_at, seq, bytes_before, packet.size_bytes)
        })
        .collect();
    assert_eq!(
        seen,
        [
            ("data", at(0), 0, 0, 1000),
            ("control", at(0), 1, 1000, 40),
            ("data", at(1), 1, 1000, 1000),
            ("data", at(2), 2, 2000, 1000),
            ("data", at(3), 3, 3000, 1000),
            ("control", at(3), 4, 4000, 40),
            ("data", at(4), 4, 4000, 1000),
        ]
    );
    assert_eq!(sent[5].label, Label([4, 4000, 40, 9]));
}

#[test]
fn jitter_stays_in_its_bounds_and_keeps_the_mean() {
    let mut bench = Bench::new(4);
    let config = Config { jitter: 0.02, ..exact(1000) };
    let mut sender = Sender::new(&config, observed(Rate::from_mbps(8)), OTHER.into());
    bench.input(&mut sender, Input::Start);
    let sent = bench.run(&mut sender, at(20_000));
    let gaps: Vec<u64> = sent.windows(2).map(|w| (w[1].sent_at - w[0].sent_at).as_nanos()).collect();
    assert!(gaps.iter().all(|gap| (980_000..=1_020_000).contains(gap)));
    assert!(gaps.iter().any(|gap| *gap < 985_000) && gaps.iter().any(|gap| *gap > 1_015_000));
    assert!((sent.len() as i64 - 20_000).abs() < 20, "{}", sent.len());
}

#[test]
fn a_rate_change_moves_the_pending_packet() {
    let mut bench = Bench::new(1);
    // one packet per second
    let mut sender = Sender::new(&exact(1000), observed(Rate::from_kbps(8)), OTHER.into());
    bench.input(&mut sender, Input::Start);
    assert_eq!(sender.wake(), at(1000));

    // 200 ms at the new rate, from the previous packet
    bench.run(&mut sender, at(50));
    bench.input(&mut sender, Input::Packet(&word([40_000, NO_WINDOW, 0, 0])));
    assert_eq!(sender.wake(), at(200));

    // 10 ms at the new rate have passed already: at once
    bench.input(&mut sender, Input::Packet(&word([800_000, NO_WINDOW, 0, 0])));
    assert_eq!(sender.wake(), at(50));
    assert_eq!(bench.run(&mut sender, at(50)).len(), 1);
    assert_eq!(sender.wake(), at(60));

    // and back
    bench.input(&mut sender, Input::Packet(&word([80_000, NO_WINDOW, 0, 0])));
    assert_eq!(sender.wake(), at(150));
    assert_eq!(bench.values("allowed_rate"), [8e3, 40e3, 800e3, 80e3]);
}

#[test]
fn the_same_rate_again_moves_nothing() {
    let mut bench = Bench::new(1);
    let config = Config { jitter: 0.01, ..exact(1000) };
    let mut sender = Sender::new(&config, observed(Rate::from_kbps(80)), OTHER.into());
    bench.input(&mut sender, Input::Start);
    let due = sender.wake();
    bench.run(&mut sender, at(50));
    bench.input(&mut sender, Input::Packet(&word([80_000, NO_WINDOW, 0, 0])));
    assert_eq!(sender.wake(), due);
}

#[test]
fn a_rate_of_zero_and_a_window_below_a_packet_hold_the_stream() {
    let mut bench = Bench::new(1);
    let mut sender = Sender::new(&exact(1000), observed(Rate::ZERO), OTHER.into());
    bench.input(&mut sender, Input::Start);
    assert_eq!(sender.wake(), Time::NEVER);
    assert!(bench.sent().is_empty());

    bench.now = at(10);
    bench.input(&mut sender, Input::Packet(&word([8_000_000, NO_WINDOW, 0, 0])));
    assert_eq!(bench.run(&mut sender, at(12)).len(), 3);
    bench.input(&mut sender, Input::Packet(&word([8_000_000, 999, 0, 0])));
    assert_eq!(sender.wake(), Time::NEVER);
    bench.now = at(20);
    bench.input(&mut sender, Input::Packet(&word([8_000_000, 1000, 0, 0])));
    assert_eq!(sender.wake(), at(20));
}

/// An algorithm with tokens: each packet takes one, feedback adds some.
struct Tokens(u64);

impl SenderAlgorithm for Tokens {
    fn on_feedback(&mut self, feedback: &Feedback, _cx: &mut Cx<'_>) {
        self.0 += feedback.label.0[0];
    }
    fn allowance(&self) -> Allowance {
        Allowance { window: Bytes::new(1000) * self.0, rate: Rate::UNLIMITED }
    }
    fn stamp(&mut self, _sending: &OutgoingPacket, _cx: &mut Cx<'_>) -> Label {
        self.0 -= 1;
        Label::default()
    }
}

#[test]
fn a_window_without_a_rate_is_sent_in_one_burst() {
    let mut bench = Bench::new(1);
    let mut sender = Sender::new(&Config { jitter: 0.01, ..exact(1000) }, Tokens(3), OTHER.into());
    bench.now = at(5);
    bench.input(&mut sender, Input::Start);
    let sent = bench.run(&mut sender, at(1000));
    let times: Vec<u64> = sent.iter().map(|packet| (packet.sent_at - at(5)).as_nanos()).collect();
    assert_eq!((times, sender.wake()), (vec![0, 1, 2], Time::NEVER));

    bench.input(&mut sender, Input::Packet(&word([2, 0, 0, 0])));
    let sent = bench.run(&mut sender, at(2000));
    let times: Vec<u64> = sent.iter().map(|packet| (packet.sent_at - at(1000)).as_nanos()).collect();
    assert_eq!((times, sender.wake()), (vec![0, 1], Time::NEVER));
}

#[test]
fn the_controller_receives_start_timer_mode_and_feedback() {
    let mut bench = Bench::new(1);
    let mut sender =
        Sender::new(&exact(1000), Observed { alarm: at(7), ..observed(Rate::from_bps(1)) }, OTHER.into());
    bench.input(&mut sender, Input::Packet(&word([1, 1, 1, 1])));
    bench.input(&mut sender, Input::Start);
    assert_eq!(sender.wake(), at(7));
    bench.run(&mut sender, at(8));
    bench.input(&mut sender, Input::Mode("calm"));
    bench.input(&mut sender, Input::Packet(&word([1, NO_WINDOW, 1, 1])));
    bench.input(&mut sender, Input::Stop);
    bench.input(&mut sender, Input::Packet(&word([1, 1, 1, 1])));
    assert_eq!(sender.algorithm().received, ["start", "timer", "calm", "feedback"]);
    assert_eq!(sender.wake(), Time::NEVER);
}

#[test]
fn packets_that_are_no_feedback_of_the_flow_are_ignored_and_counted() {
    let mut bench = Bench::new(1);
    let mut sender = Sender::new(&exact(1000), observed(Rate::from_bps(1)), OTHER.into());
    bench.input(&mut sender, Input::Start);
    bench.input(&mut sender, Input::Packet(&Packet { flow: FlowId(6), ..word([5, 5, 5, 5]) }));
    bench.input(&mut sender, Input::Packet(&data(0)));
    assert_eq!(sender.algorithm().received, ["start"]);
    assert_eq!(bench.meter.count(Count::Ignored), 2);
}

/// 1000 bytes at 1 Mbit/s: a packet each 8 ms.
#[test]
fn without_data_the_stream_pauses_and_the_controller_is_notified_once() {
    let mut bench = Bench::new(1);
    let mut sender = Sender::new(&exact(1000), observed(Rate::from_mbps(1)), OTHER.into());
    let wait = |sender: &mut Sender<Observed>, bench: &mut Bench, until| {
        let (mut random, mut meter) = (contract::Random::new(1, "", ""), contract::Meter::default());
        let mut cx = Cx::new(bench.now, ME, FLOW, &mut random, &mut meter, &mut bench.out);
        sender.wait_for_data(until, &mut cx);
    };
    bench.input(&mut sender, Input::Start);
    assert_eq!(bench.run(&mut sender, at(20)).len(), 3);
    for until in [at(500), at(100)] {
        wait(&mut sender, &mut bench, until);
        assert_eq!(sender.wake(), until);
    }
    assert_eq!(sender.algorithm().received, ["start", "idle"], "idle it already was");
    assert_eq!(bench.run(&mut sender, at(100)).len(), 1);
    // missed packets are not made up for
    assert_eq!(sender.wake(), at(108));
    wait(&mut sender, &mut bench, at(100));
    assert_eq!(bench.run(&mut sender, at(116)).len(), 2);
    assert_eq!(sender.algorithm().received, ["start", "idle"]);
}

/// An algorithm that records its inputs and answers when asked to.
#[derive(Default)]
struct Diary {
    received: Vec<String>,
    answers: u64,
    alarm: Option<Time>,
}

impl ReceiverAlgorithm for Diary {
    fn on_data(&mut self, data: &Arrival, cx: &mut ReceiverCx<'_, '_>) {
        self.received.push(format!("data {}", data.seq));
        (0..self.answers).for_each(|i| cx.feedback(Label([data.seq, i, 0, 0])));
    }
    fn on_loss(&mut self, gap: &Gap, cx: &mut ReceiverCx<'_, '_>) {
        self.received.push(format!("lost {}+{} before {}", gap.first_missing, gap.packets, gap.before.seq));
        if self.answers > 0 {
            cx.feedback(Label([u64::MAX; 4]));
        }
    }
    fn on_late(&mut self, data: &Arrival, _cx: &mut ReceiverCx<'_, '_>) {
        self.received.push(format!("late {}", data.seq));
    }
    fn on_start(&mut self, _cx: &mut ReceiverCx<'_, '_>) {
        self.received.push("start".to_owned());
    }
    fn on_timer(&mut self, cx: &mut ReceiverCx<'_, '_>) {
        self.alarm = None;
        cx.feedback(Label::default());
    }
    fn wake(&self) -> Time {
        self.alarm.unwrap_or(Time::NEVER)
    }
    fn on_mode(&mut self, mode: &str, _cx: &mut ReceiverCx<'_, '_>) {
        self.received.push(mode.to_owned());
    }
    fn on_stop(&mut self, cx: &mut ReceiverCx<'_, '_>) {
        cx.feedback(Label([7; 4]));
    }
}

fn receive(reorder: u32, seqs: &[u64]) -> (Vec<String>, Bench) {
    let mut bench = Bench::new(1);
    let config = Config { reorder, ..Config::default() };
    let mut receiver = Receiver::new(&config, Diary::default(), OTHER);
    bench.input(&mut receiver, Input::Start);
    seqs.iter().for_each(|seq| bench.input(&mut receiver, Input::Packet(&data(*seq))));
    (receiver.algorithm().received.clone(), bench)
}

#[test]
fn the_first_packet_after_joining_is_the_one_expected() {
    let (received, bench) = receive(1, &[1234, 1235]);
    assert_eq!(received, ["start", "data 1234", "data 1235"]);
    assert_eq!(bench.meter.count(Count::Missing), 0);
}

#[test]
fn a_gap_is_reported_before_the_packet_that_reveals_it() {
    let (received, bench) = receive(1, &[0, 3, 4]);
    assert_eq!(received, ["start", "data 0", "lost 1+2 before 3", "data 3", "data 4"]);
    assert_eq!(bench.meter.count(Count::Missing), 2);
    assert_eq!(bench.meter.goodput_bytes, 3000);
}

#[test]
fn duplicates_are_ignored_and_a_packet_declared_lost_is_delivered_late() {
    let (received, bench) = receive(1, &[0, 2, 2, 1, 1, 3]);
    assert_eq!(received, ["start", "data 0", "lost 1+1 before 2", "data 2", "late 1", "data 3"]);
    assert_eq!(bench.meter.goodput_bytes, 4000);
    let counts = [Count::Missing, Count::Reordered, Count::Late].map(|what| bench.meter.count(what));
    assert_eq!(counts, [1, 1, 1]);
}

#[test]
fn three_later_packets_are_waited_for_where_the_scheme_says_so() {
    let (received, bench) = receive(3, &[0, 2, 3, 1, 4, 6, 7, 8, 5]);
    let wanted = [
        "start",
        "data 0",
        "data 2",
        "data 3",
        "data 1",
        "data 4",
        "data 6",
        "data 7",
        "lost 5+1 before 8",
        "data 8",
        "late 5",
    ];
    assert_eq!(received, wanted);
    assert_eq!(bench.meter.count(Count::Missing), 1);
}

#[test]
fn every_report_is_one_feedback_packet() {
    let mut bench = Bench::new(1);
    let config = Config { feedback: Bytes::new(60), ..Config::default() };
    let mut receiver =
        Receiver::new(&config, Diary { answers: 2, alarm: Some(at(9)), ..Diary::default() }, OTHER);
    bench.input(&mut receiver, Input::Start);
    bench.input(&mut receiver, Input::Packet(&data(0)));
    bench.input(&mut receiver, Input::Packet(&data(2)));
    let sent = bench.run(&mut receiver, at(10));
    let words: Vec<[u64; 4]> = sent.iter().map(|packet| packet.label.0).collect();
    assert_eq!(words, [[0, 0, 0, 0], [0, 1, 0, 0], [u64::MAX; 4], [2, 0, 0, 0], [2, 1, 0, 0], [0; 4]]);
    assert!(sent.iter().all(|packet| {
        packet.size() == Bytes::new(60)
            && packet.to == OTHER.into()
            && matches!(packet.header, Header::Feedback)
    }));
    assert_eq!(bench.meter.count(Count::Feedback), 6);
}

#[test]
fn marks_are_counted_and_foreign_packets_ignored() {
    let mut bench = Bench::new(1);
    let mut receiver = Receiver::new(&Config::default(), Diary::default(), OTHER);
    bench.input(&mut receiver, Input::Packet(&data(0)));
    bench.input(&mut receiver, Input::Start);
    bench.input(&mut receiver, Input::Packet(&Packet { ecn: Ecn::Marked, ..data(0) }));
    bench.input(&mut receiver, Input::Packet(&Packet { flow: FlowId(9), ..data(1) }));
    bench.input(&mut receiver, Input::Packet(&word([0; 4])));
    bench.input(&mut receiver, Input::Mode("calm"));
    bench.input(&mut receiver, Input::Stop);
    bench.input(&mut receiver, Input::Packet(&data(1)));
    assert_eq!(receiver.algorithm().received, ["start", "data 0", "calm"]);
    assert_eq!(bench.meter.count(Count::Marks), 1);
    assert_eq!(bench.meter.count(Count::Ignored), 2);
}

#[test]
fn a_leaving_receiver_may_send_a_last_report() {
    let mut bench = Bench::new(1);
    let mut receiver = Receiver::new(&Config::default(), Diary::default(), OTHER);
    bench.input(&mut receiver, Input::Stop);
    assert!(bench.sent().is_empty(), "it had not joined");
    bench.input(&mut receiver, Input::Start);
    bench.input(&mut receiver, Input::Stop);
    bench.input(&mut receiver, Input::Stop);
    assert_eq!(bench.sent().iter().map(|packet| packet.label.0).collect::<Vec<_>>(), [[7; 4]]);
}

#[test]
fn sender_and_receiver_are_addressed_by_endpoint() {
    let mut bench = Bench::new(1);
    let mut sender = Sender::new(&exact(1000), observed(Rate::from_mbps(1)), OTHER.into());
    bench.input(&mut sender, Input::Start);
    let sent = bench.sent();
    assert_eq!(sent[0].to.endpoint(), Some(OTHER.endpoint));
    assert_eq!(sent[0].source, Address { ..ME });
}
