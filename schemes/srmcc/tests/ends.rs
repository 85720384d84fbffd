//! The source and the receiver.

use contract::{
    Arrival, Count, EndpointId, FeedbackTarget, Note, OutgoingPacket, ReceiverAlgorithm, SenderAlgorithm,
};
use proptest::prelude::*;

use super::super::headers::{Header, cycle};
use super::*;
use crate::shared::stream_testing::{PACKET, StreamBench};

/// Gives a source's algorithm a word of `from`.
fn send_feedback(end: &mut StreamBench, algorithm: &mut Sender, from: EndpointId, label: Label) {
    end.send_feedback(algorithm, from, end.now, label);
}

fn notes(end: &StreamBench, name: &str) -> Vec<Note> {
    end.out.notes.pending.iter().filter(|note| note.name == name).copied().collect()
}

const ROOT: EndpointId = EndpointId(2);
const OTHER: EndpointId = EndpointId(3);
const FAIR: Rate = Rate::from_kbps(1667);

/// A source that started at time zero, and was told that the network is empty at 350 ms by a word that took 100 ms.
fn source(params: &Params) -> (StreamBench, Sender) {
    let (mut end, mut algorithm) = (StreamBench::new(EndpointId(1)), Sender::new(params));
    end.cx(|cx| algorithm.on_start(cx));
    end.now = ms(350);
    let label = mcc(end.now, 100, 0, 0.0, 0.0, FAIR);
    send_feedback(&mut end, &mut algorithm, ROOT, label);
    (end, algorithm)
}

fn kbps(algorithm: &Sender) -> f64 {
    algorithm.allowance().rate.as_bps_f64() / 1e3
}

fn header(end: &mut StreamBench, algorithm: &mut Sender) -> Header {
    let sending = OutgoingPacket { seq: 0, size: PACKET, bytes_before: 0 };
    Header::decode(end.cx(|cx| algorithm.stamp(&sending, cx))).expect("a header")
}

// ---- source ----

/// §3.2, §4.2.1, and a cycle of four round-trip times (Table 1).
#[test]
fn the_source_starts_at_the_initial_rate_and_doubles_once_a_cycle() {
    let (mut end, mut algorithm) = (StreamBench::new(EndpointId(1)), Sender::new(&Params::default()));
    end.cx(|cx| algorithm.on_start(cx));
    assert_eq!((kbps(&algorithm), algorithm.wake()), (50.0, ms(400)));
    assert_eq!(header(&mut end, &mut algorithm), Header { round: 0, t_adapt: Duration::from_millis(400) });
    for cycle in 1..=5u32 {
        end.now = ms(390 * u64::from(cycle));
        let label = mcc(end.now, 100, cycle - 1, 0.0, 0.0, FAIR);
        send_feedback(&mut end, &mut algorithm, ROOT, label);
        assert_eq!(kbps(&algorithm), 50.0 * f64::from(1 << cycle));
        assert_eq!(header(&mut end, &mut algorithm).round, cycle);
        assert_eq!(algorithm.wake(), end.now + Duration::from_millis(400));
    }
    assert_eq!(notes(&end, "adapted").len(), 5);
}

/// At 0.9 of a cycle the last child's word is enough; where one is awaited, the end of the cycle.
#[test]
fn a_word_that_comes_early_is_applied_at_nine_tenths_of_the_cycle() {
    let (mut end, mut algorithm) = source(&Params::default());
    assert_eq!((kbps(&algorithm), algorithm.wake()), (50.0, ms(360)));
    end.run(&mut algorithm, ms(360));
    assert_eq!((kbps(&algorithm), algorithm.wake()), (100.0, ms(760)));
    // words that come 10 ms after an adaptation are held, and less so in each cycle
    let mut held = Vec::new();
    for cycle in 0..12u64 {
        end.run(&mut algorithm, ms(370 + 400 * cycle));
        let label = mcc(end.now, 100, 1, 0.375, 0.375, FAIR);
        send_feedback(&mut end, &mut algorithm, ROOT, label);
        held.push((algorithm.wake() - end.now).as_nanos() / 1_000_000);
    }
    assert_eq!(held, [350, 310, 270, 230, 190, 150, 110, 70, 30, 400, 400, 400]);

    // another one that is silent
    let (mut end, mut algorithm) = source(&Params::default());
    let label = mcc(end.now, 100, 0, 0.0, 0.0, FAIR);
    send_feedback(&mut end, &mut algorithm, OTHER, label);
    end.run(&mut algorithm, ms(360));
    end.run(&mut algorithm, ms(700));
    let label = mcc(end.now, 100, 1, 0.0, 0.0, FAIR);
    send_feedback(&mut end, &mut algorithm, ROOT, label);
    assert_eq!((kbps(&algorithm), algorithm.wake()), (100.0, ms(760)));
}

/// A word that comes a little after the end of its cycle does not wait for the end of the next.
#[test]
fn a_word_that_comes_late_is_applied_at_once() {
    let (mut end, mut algorithm) = source(&Params::default());
    assert_eq!(kbps(&algorithm), 50.0);
    end.run(&mut algorithm, ms(400));
    assert_eq!(kbps(&algorithm), 100.0);
    end.run(&mut algorithm, ms(801));
    assert_eq!(kbps(&algorithm), 100.0);
    let label = mcc(end.now, 100, 1, 0.0, 0.0, FAIR);
    send_feedback(&mut end, &mut algorithm, ROOT, label);
    assert_eq!(kbps(&algorithm), 200.0);
}

/// S000-06 at the source: the maximum occupancy, the minimum occupancy and the minimum fair share of one cycle, and
/// nothing of the one before.
#[test]
fn words_of_one_cycle_are_folded_and_applied_once() {
    let (mut end, mut algorithm) = source(&Params::default());
    let label = mcc(end.now, 100, 0, 0.0, 0.0, FAIR);
    send_feedback(&mut end, &mut algorithm, OTHER, label);
    end.run(&mut algorithm, ms(400));
    assert_eq!(kbps(&algorithm), 100.0);
    // both are known now
    end.now = ms(770);
    let labels =
        [mcc(end.now, 100, 1, 0.75, 0.5, FAIR), mcc(end.now, 100, 1, 0.25, 0.0, Rate::from_kbps(60))];
    send_feedback(&mut end, &mut algorithm, ROOT, labels[0]);
    assert_eq!(kbps(&algorithm), 100.0, "the other is awaited");
    send_feedback(&mut end, &mut algorithm, OTHER, labels[1]);
    // 50 + 0.15·(200 − 50)
    assert_eq!(kbps(&algorithm), 72.5);
    let last = |name: &str| notes(&end, name).last().expect("it was recorded").value;
    assert_eq!([last("o_max"), last("o_min"), last("fair_rate"), last("state")], [0.75, 0.0, 60e3, 3.0]);
    // what was folded is gone
    end.now = ms(1150);
    for endpoint in [ROOT, OTHER] {
        let label = mcc(end.now, 100, 2, 0.375, 0.375, FAIR);
        send_feedback(&mut end, &mut algorithm, endpoint, label);
    }
    assert_eq!(kbps(&algorithm), 73.633);
    assert_eq!(notes(&end, "adapted").len(), 3);
}

/// The slowest member's time, smoothed by an eighth; the cycle follows it.
#[test]
fn the_round_trip_time_is_the_maximum_of_a_cycle_smoothed() {
    let (mut end, mut algorithm) = source(&Params::default());
    let label = mcc(end.now, 180, 0, 0.0, 0.0, FAIR);
    send_feedback(&mut end, &mut algorithm, OTHER, label);
    end.run(&mut algorithm, ms(400));
    // 4·(100 + 80/8) ms
    assert_eq!(algorithm.t_adapt(), Duration::from_millis(440));
    assert_eq!(header(&mut end, &mut algorithm).t_adapt, Duration::from_millis(440));

    let (mut end, mut algorithm) = source(&Params { rtt: Rtt::Static, ..Params::default() });
    let label = mcc(end.now, 180, 0, 0.0, 0.0, FAIR);
    send_feedback(&mut end, &mut algorithm, OTHER, label);
    end.run(&mut algorithm, ms(400));
    assert_eq!(algorithm.t_adapt(), Duration::from_millis(400));
}

/// Our choice: silence may be congestion.
#[test]
fn three_cycles_of_silence_halve_the_rate_and_each_further_one_again() {
    let (mut end, mut algorithm) =
        source(&Params { initial_rate: Rate::from_kbps(1000), ..Params::default() });
    end.run(&mut algorithm, ms(400));
    assert_eq!(kbps(&algorithm), 2000.0);
    end.run(&mut algorithm, ms(1559));
    assert_eq!(kbps(&algorithm), 2000.0);
    end.run(&mut algorithm, ms(1560));
    assert_eq!(kbps(&algorithm), 1000.0);
    end.run(&mut algorithm, ms(1960));
    assert_eq!(kbps(&algorithm), 500.0);
    // down to the minimum rate, from which it recovers at the next word
    end.run(&mut algorithm, ms(20_000));
    assert_eq!(kbps(&algorithm), 8.0);
    let round = header(&mut end, &mut algorithm).round;
    let label = mcc(end.now, 100, round, 0.0, 0.0, FAIR);
    send_feedback(&mut end, &mut algorithm, ROOT, label);
    end.run(&mut algorithm, ms(20_400));
    assert_eq!(kbps(&algorithm), 16.0);
}

#[test]
fn before_the_first_word_silence_says_nothing() {
    let (mut end, mut algorithm) = (StreamBench::new(EndpointId(1)), Sender::new(&Params::default()));
    end.cx(|cx| algorithm.on_start(cx));
    end.run(&mut algorithm, ms(60_000));
    assert_eq!(kbps(&algorithm), 50.0);
}

#[test]
fn a_child_that_went_silent_is_waited_for_no_longer() {
    let (mut end, mut algorithm) = source(&Params::default());
    let label = mcc(end.now, 100, 0, 0.0, 0.0, FAIR);
    send_feedback(&mut end, &mut algorithm, OTHER, label);
    end.run(&mut algorithm, ms(400));
    let mut adapted = Vec::new();
    for cycle in 1..=5u32 {
        end.run(&mut algorithm, ms(400 * u64::from(cycle) + 370));
        let label = mcc(end.now, 100, cycle, 0.375, 0.375, FAIR);
        send_feedback(&mut end, &mut algorithm, ROOT, label);
        adapted.push(notes(&end, "adapted").last().expect("it adapts").at);
    }
    // until the adaptation that is 1.2 s after its last word the other is waited for to the end of the cycle
    assert_eq!(adapted, [360, 1160, 1560, 1920, 2280].map(ms));
}

#[test]
fn the_rate_keeps_between_its_limits() {
    let params = Params { max_rate: Rate::from_kbps(80), min_rate: Rate::from_kbps(60), ..Params::default() };
    let (mut end, mut algorithm) = source(&params);
    assert_eq!(kbps(&algorithm), 60.0);
    end.run(&mut algorithm, ms(400));
    assert_eq!(kbps(&algorithm), 80.0);
    end.run(&mut algorithm, ms(770));
    let label = mcc(end.now, 100, 1, 1.0, 1.0, Rate::from_kbps(10));
    send_feedback(&mut end, &mut algorithm, ROOT, label);
    assert_eq!(kbps(&algorithm), 60.0);
}

#[test]
fn a_source_that_starts_again_knows_nothing_of_before() {
    let (mut end, mut algorithm) = source(&Params::default());
    end.run(&mut algorithm, ms(400));
    end.cx(|cx| algorithm.on_start(cx));
    assert_eq!((kbps(&algorithm), header(&mut end, &mut algorithm).round), (50.0, 0));
    // a word about data of before
    let label = mcc(end.now, 100, 0, 0.0, 0.0, FAIR);
    send_feedback(&mut end, &mut algorithm, ROOT, label);
    assert_eq!(end.meter.count(Count::Ignored), 1);
}

/// Words that nobody would write, and those that are too old, are counted and change nothing.
#[test]
fn the_source_ignores_what_is_malformed_or_stale() {
    let (mut end, mut algorithm) = source(&Params::default());
    let mut aggregate = 0;
    for cycle in 1..=12u32 {
        end.run(&mut algorithm, ms(400 * u64::from(cycle) - 30));
        aggregate = header(&mut end, &mut algorithm).round;
        let label = mcc(end.now, 100, aggregate, 0.0, 0.0, Rate::from_kbps(100));
        send_feedback(&mut end, &mut algorithm, ROOT, label);
    }
    end.run(&mut algorithm, ms(4800));
    let (now, round, rate) = (end.now, header(&mut end, &mut algorithm).round, kbps(&algorithm));
    assert!(aggregate >= 10, "{aggregate}");
    let good = mcc(now, 100, round, 1.0, 1.0, FAIR);
    let with = |message: usize, value: u64| {
        let mut label = good;
        label.0[message] = value;
        label
    };
    let bad = [
        with(3, now.as_nanos() + 1),                  // from the future
        with(2, u64::from(f32::NAN.to_bits()) << 32), // no number
        with(2, u64::from(1.5_f32.to_bits()) << 32),  // out of range
        with(2, u64::from((-0.5_f32).to_bits())),     // out of range
        with(1, 0),                                   // no share at all
        with(0, u64::from(round) << 32),              // no cycle
        with(0, good.0[0] + (1 << 32)),               // of a round to come
        mcc(now, 100, aggregate - 9, 1.0, 1.0, FAIR), // of long ago
        Label::default(),
    ];
    for label in bad {
        send_feedback(&mut end, &mut algorithm, ROOT, label);
    }
    assert_eq!(end.meter.count(Count::Ignored), bad.len() as u64);
    assert_eq!(kbps(&algorithm), rate);
    send_feedback(&mut end, &mut algorithm, ROOT, mcc(now, 100, aggregate - 8, 1.0, 1.0, FAIR));
    assert_eq!(end.meter.count(Count::Ignored), bad.len() as u64);
}

// ---- receiver ----

fn data(sent: Time, round: u32, t_adapt_ms: u64) -> Arrival {
    Arrival {
        seq: 0,
        size: PACKET,
        bytes_before: 0,
        sent_at: sent,
        marked: false,
        label: Header { round, t_adapt: Duration::from_millis(t_adapt_ms) }.encode(),
    }
}

/// S000-04, §3.2.
#[test]
fn a_receivers_message_carries_its_access_link_zero_and_one() {
    let (mut end, mut algorithm) = (StreamBench::new(EndpointId(1)), Receiver::new());
    assert!(algorithm.probes());
    algorithm.on_access(Rate::from_kbps(1500));
    end.listen(|cx| algorithm.on_start(cx));
    assert_eq!(algorithm.wake(), Time::NEVER);
    end.now = ms(1020);
    let aggregate = end.listen(|cx| algorithm.on_data(&data(ms(1000), 3, 400), cx));
    assert_eq!(aggregate.len(), 1);
    assert_eq!(aggregate[0].target, FeedbackTarget::Parent);
    let wanted = Mcc {
        min_fair: Rate::from_kbps(1500),
        max_qocc: 0.0,
        min_qocc: 1.0,
        round: 3,
        t_echo: ms(1000),
        t_adapt: Duration::from_millis(400),
    };
    assert_eq!(read(aggregate[0].label), wanted);
}

#[test]
fn an_access_link_that_could_not_be_measured_limits_nothing() {
    let (mut end, mut algorithm) = (StreamBench::new(EndpointId(1)), Receiver::new());
    let aggregate = end.listen(|cx| algorithm.on_data(&data(ms(0), 0, 400), cx));
    assert_eq!(read(aggregate[0].label).min_fair, Rate::UNLIMITED);
}

/// One message a cycle, whose time leaves out how long it was held. S000-08: nothing else is ever sent.
#[test]
fn a_receiver_speaks_at_its_first_data_and_then_once_a_cycle() {
    let (mut end, mut algorithm) = (StreamBench::new(EndpointId(1)), Receiver::new());
    algorithm.on_access(Rate::from_kbps(1500));
    end.listen(|cx| algorithm.on_start(cx));
    let mut aggregate = Vec::new();
    for i in 0..=120u64 {
        // a packet every 10 ms that takes 20 ms; the cycle shrinks from 400 ms to 200 ms
        let packet = data(ms(10 * i), i as u32, if i < 60 { 400 } else { 200 });
        end.now = ms(10 * i + 20);
        let spoken = end.listen(|cx| {
            algorithm.on_data(&packet, cx);
            if algorithm.wake() <= cx.now() {
                algorithm.on_timer(cx);
            }
        });
        aggregate.extend(spoken.into_iter().map(|answer| (end.now, read(answer.label))));
    }
    let times: Vec<Time> = aggregate.iter().map(|row| row.0).collect();
    assert_eq!(times, [20, 420, 620, 820, 1020, 1220].map(ms));
    assert!(aggregate.iter().all(|(at, mcc)| *at - mcc.t_echo == Duration::from_millis(20)), "{aggregate:?}");
    assert_eq!(aggregate.iter().map(|row| row.1.round).collect::<Vec<_>>(), [0, 40, 60, 80, 100, 120]);

    // data stop: the news ages by the way alone
    end.now = algorithm.wake();
    let late = end.listen(|cx| algorithm.on_timer(cx));
    assert_eq!(read(late[0].label).t_echo, end.now - Duration::from_millis(20));
    assert_eq!(algorithm.wake(), end.now + Duration::from_millis(200));
}

#[test]
fn a_receiver_heeds_neither_what_was_overtaken_nor_what_is_not_its_schemes() {
    let (mut end, mut algorithm) = (StreamBench::new(EndpointId(1)), Receiver::new());
    end.now = ms(100);
    end.listen(|cx| algorithm.on_data(&data(ms(50), 5, 400), cx));
    assert!(end.listen(|cx| algorithm.on_data(&data(ms(40), 4, 10), cx)).is_empty());
    assert_eq!(algorithm.wake(), ms(500));
    let strange = Arrival { label: Label([1, 2, 3, 4]), ..data(ms(60), 6, 10) };
    assert!(end.listen(|cx| algorithm.on_data(&strange, cx)).is_empty());
    assert_eq!((algorithm.wake(), end.meter.count(Count::Ignored)), (ms(500), 1));
    // it leaves and comes again
    end.listen(|cx| algorithm.on_start(cx));
    assert_eq!(end.listen(|cx| algorithm.on_data(&data(ms(70), 7, 400), cx)).len(), 1);
}

// ---- words ----

proptest! {
    #[test]
    fn messages_are_read_as_they_were_written(
        bps in 1..=u64::MAX,
        occupancies in (0.0f32..=1.0, 0.0f32..=1.0),
        round in any::<u32>(),
        t_echo in 0..=u64::MAX,
        span in any::<u64>(),
    ) {
        let mcc = Mcc {
            min_fair: Rate::from_bps(bps),
            max_qocc: f64::from(occupancies.0),
            min_qocc: f64::from(occupancies.1),
            round,
            t_echo: Time::from_nanos(t_echo),
            t_adapt: cycle(Duration::from_nanos(span)),
        };
        prop_assert_eq!(Mcc::decode(mcc.encode()), Some(mcc));
        let header = Header { round, t_adapt: mcc.t_adapt };
        prop_assert_eq!(Header::decode(header.encode()), Some(header));
    }

    #[test]
    fn reading_is_total_and_gives_only_what_could_be_written(words in any::<[u64; 4]>()) {
        if let Some(mcc) = Mcc::decode(Label(words)) {
            prop_assert!((0.0..=1.0).contains(&mcc.max_qocc) && (0.0..=1.0).contains(&mcc.min_qocc));
            prop_assert!(mcc.min_fair > Rate::ZERO);
            prop_assert_eq!(Mcc::decode(mcc.encode()), Some(mcc));
        }
        if let Some(header) = Header::decode(Label(words)) {
            prop_assert_eq!(header.encode(), Label(words));
        }
    }
}
