use contract::{
    Arrival, Count, EndpointId, FeedbackTarget, Gap, Label, OutgoingFeedback, OutgoingPacket,
    ReceiverAlgorithm, SenderAlgorithm,
};
use units::Time;

use super::endpoints::{DataHeader, Echo, LossFractions, Path, Report};
use super::*;
use crate::shared::stream_testing::{PACKET, StreamBench, ms, near};

const SOURCE: EndpointId = EndpointId(1);
const NEAR: EndpointId = EndpointId(2);
const FAR: EndpointId = EndpointId(3);

/// One report per second, to the nanosecond.
fn exact() -> Params {
    Params { spread: 0.0, ..Params::default() }
}

fn header(rate: Rate) -> DataHeader {
    DataHeader { rate, interval: Duration::from_secs(1), echo: None }
}

/// A receiver with its end of the stream.
struct There {
    end: StreamBench,
    algorithm: Receiver,
}

impl There {
    fn new(params: &Params) -> Self {
        let mut there = Self { end: StreamBench::new(NEAR), algorithm: Receiver::new(params, PACKET) };
        there.end.listen(|cx| there.algorithm.on_start(cx));
        there
    }

    /// The packet `seq` arrives now, `owd_ms` after it was sent.
    fn receive(&mut self, seq: u64, owd_ms: u64, header: &DataHeader) {
        let data = self.data(seq, owd_ms, header);
        assert!(self.end.listen(|cx| self.algorithm.on_data(&data, cx)).is_empty());
    }

    fn data(&self, seq: u64, owd_ms: u64, header: &DataHeader) -> Arrival {
        let sent_at = self.end.now - Duration::from_millis(owd_ms);
        let label = header.encode();
        Arrival { seq, size: PACKET, bytes_before: seq * 1000, sent_at, marked: false, label }
    }

    /// This many packets before `seq` are missing.
    fn miss(&mut self, seq: u64, packets: u64) {
        let before = self.data(seq, 50, &header(Rate::from_mbps(1)));
        let gap = Gap { first_missing: seq - packets, packets, before };
        self.end.listen(|cx| self.algorithm.on_loss(&gap, cx));
    }

    /// Goes to the next deadline; what is reported then.
    fn report(&mut self) -> Report {
        self.end.now = self.algorithm.wake();
        let answers = self.end.listen(|cx| self.algorithm.on_timer(cx));
        let [OutgoingFeedback { target: FeedbackTarget::Source, label }] = answers[..] else {
            panic!("one report to the source, not {answers:?}")
        };
        Report::decode(label).expect("a report")
    }

    fn probe(&self, name: &str) -> f64 {
        let mut values = self.end.out.notes.pending.iter().filter(|note| note.name == name);
        values.next_back().expect("it was recorded").value
    }
}

// ---- loss

#[test]
fn loss_is_the_weighted_mean_of_the_last_eight_fractions() {
    let mut loss = LossFractions::default();
    let mut interval = |lost, expected| {
        loss.lose(lost);
        loss.close(expected);
        loss.mean()
    };
    // weights 1, 1, 1, 1, 0.8, 0.6, 0.4, 0.2, in sum 6
    near(interval(6, 100), 0.06);
    near(interval(0, 100), 0.06 / 2.0);
    near(interval(0, 100), 0.06 / 3.0);
    near(interval(0, 100), 0.06 / 4.0);
    near(interval(0, 100), 0.06 * 0.8 / 4.8);
    near(interval(0, 100), 0.06 * 0.6 / 5.4);
    near(interval(0, 100), 0.06 * 0.4 / 5.8);
    near(interval(0, 100), 0.06 * 0.2 / 6.0);
    near(interval(0, 100), 0.0);
    near(interval(30, 50), 0.1);
}

#[test]
fn an_interval_without_packets_says_nothing_and_none_is_lost_more_than_whole() {
    let mut loss = LossFractions::default();
    assert_eq!(loss.mean(), 0.0);
    loss.lose(1);
    loss.close(10);
    loss.close(0);
    near(loss.mean(), 0.1);
    loss.lose(7);
    loss.close(5);
    near(loss.mean(), (1.0 + 0.1) / 2.0);
}

#[test]
fn the_fraction_counts_from_report_to_report() {
    let mut there = There::new(&exact());
    let rate = header(Rate::from_mbps(1));
    there.receive(100, 50, &rate);
    // 3 of 100 … 109 are missing
    there.miss(109, 3);
    there.receive(109, 50, &rate);
    there.report();
    near(there.probe("loss"), 0.3);
    // none of 110 … 119
    there.receive(119, 50, &rate);
    there.report();
    near(there.probe("loss"), 0.15);
}

#[test]
fn the_first_interval_is_what_the_equation_gives_for_the_sending_rate() {
    // s = 1000 B, RTT = 100 ms: p = 1 % at 898 640 bit/s, p = 1 at 328.79 bit/s
    for (rate, interval) in [(898_640.0, 100.0), (328.79, 1.0), (1.0, 1.0)] {
        let found = Path { packet: PACKET, rtt_s: 0.1, rate }.first_interval();
        assert!((found / interval - 1.0).abs() < 1e-3, "{found}");
    }
}

#[test]
fn as_loss_events_losses_within_a_round_trip_are_one() {
    let mut there = There::new(&Params { estimator: Estimator::LossEvents, ..exact() });
    // RTT = 100 ms; a packet each 10 ms
    let rate = header(Rate::from_bps(898_640));
    let at = |there: &mut There, seq: u64, missing: u64| {
        there.end.now = ms(1000 + 10 * seq);
        if missing > 0 {
            there.miss(seq, missing);
        }
        there.receive(seq, 50, &rate);
    };
    (0..10).for_each(|seq| at(&mut there, seq, 0));
    // packets 10 and 12 would have come 20 ms apart: one event, after the 100 packets that the equation gives
    at(&mut there, 11, 1);
    at(&mut there, 13, 1);
    (14..50).for_each(|seq| at(&mut there, seq, 0));
    there.report();
    assert!((there.probe("loss") * 100.0 - 1.0).abs() < 1e-3, "{}", there.probe("loss"));
    // packet 50 is 400 ms after packet 10: I₁ = 40, I₂ = 100
    at(&mut there, 51, 1);
    there.report();
    assert!((there.probe("loss") * 70.0 - 1.0).abs() < 1e-3, "{}", there.probe("loss"));
}

// ---- round-trip time

#[test]
fn the_round_trip_is_twice_the_smoothed_delay_until_an_echo_says_more() {
    let mut there = There::new(&exact());
    assert_eq!(there.algorithm.rtt(), None);
    let plain = header(Rate::from_mbps(1));
    there.end.now = ms(1000);
    there.receive(0, 20, &plain);
    near(there.algorithm.rtt().expect("a delay"), 0.040);
    // 20 + (28 − 20)/8 = 21 ms
    there.receive(1, 28, &plain);
    near(there.algorithm.rtt().expect("a delay"), 0.042);

    // reported at 1500 ms; the echo, held 90 ms, arrives at 1630 after 21 ms: RTT 40 ms, a = 40/21 − 1
    there.report();
    assert_eq!(there.end.now, ms(1500));
    there.end.now = ms(1630);
    let echo = Echo { to: NEAR, reported_at: ms(1500), dlsr: Duration::from_millis(90) };
    there.receive(2, 21, &DataHeader { echo: Some(echo), ..plain });
    let a = 1.0 + (40.0 / 21.0 - 1.0 - 1.0) / 8.0;
    near(there.probe("factor"), a);
    near(there.algorithm.rtt().expect("a delay"), 0.021 * (1.0 + a));

    // the echo of another receiver
    there.receive(3, 21, &DataHeader { echo: Some(Echo { to: FAR, ..echo }), ..plain });
    near(there.algorithm.rtt().expect("a delay"), 0.021 * (1.0 + a));
    assert_eq!(there.end.meter.count(Count::Ignored), 0);
}

#[test]
fn the_factor_stays_where_it_is_told_to() {
    let mut there = There::new(&Params { calibration: Calibration::Never, ..exact() });
    there.end.now = ms(1000);
    let plain = header(Rate::from_mbps(1));
    there.receive(0, 20, &plain);
    there.report();
    there.end.now = ms(1630);
    let echo = Echo { to: NEAR, reported_at: ms(1500), dlsr: Duration::from_millis(90) };
    there.receive(1, 20, &DataHeader { echo: Some(echo), ..plain });
    near(there.algorithm.rtt().expect("a delay"), 0.040);
}

#[test]
fn echoes_of_what_was_never_said_are_counted_and_not_used() {
    let mut there = There::new(&exact());
    there.end.now = ms(1000);
    let plain = header(Rate::from_mbps(1));
    there.receive(0, 20, &plain);
    there.report();
    there.end.now = ms(1600);
    let echo = Echo { to: NEAR, reported_at: ms(1500), dlsr: Duration::from_millis(60) };
    let wrong = [
        // sent after our last report
        Echo { reported_at: ms(1501), dlsr: Duration::ZERO, ..echo },
        Echo { reported_at: ms(9000), dlsr: Duration::ZERO, ..echo },
        // held longer than it can have been: 20 ms of the 100 were on the way here
        Echo { dlsr: Duration::from_millis(81), ..echo },
        Echo { dlsr: Duration::MAX, ..echo },
    ];
    for echo in wrong {
        there.receive(1, 20, &DataHeader { echo: Some(echo), ..plain });
    }
    assert_eq!(there.end.meter.count(Count::Ignored), 4);
    near(there.algorithm.rtt().expect("a delay"), 0.040);
}

// ---- what a receiver estimates

#[test]
fn with_loss_a_receiver_claims_the_rate_of_a_tcp_and_at_most_twice_the_sending_rate() {
    for (sending, claimed) in [(Rate::from_mbps(1), 898_640.0), (Rate::from_kbps(200), 400_000.0)] {
        let mut there = There::new(&exact());
        let header = header(sending);
        there.end.now = ms(50);
        there.receive(0, 50, &header);
        // 1 of 100: p = 1 %, RTT = 100 ms, s = 1000 B
        there.miss(99, 1);
        there.receive(99, 50, &header);
        let report = there.report();
        assert!((report.rate / claimed - 1.0).abs() < 1e-4, "{}", report.rate);
    }
}

#[test]
fn without_loss_a_receiver_adds_a_packet_per_round_trip_and_at_most_doubles() {
    // RTT = 100 ms: 8000/0.1 = 80 kbit/s per round trip, 5 round trips in half an interval, 10 in a whole one
    for (sending, first, second) in
        [(1_000_000, 1.4e6, 1.8e6), (500_000, 0.9e6, 1.0e6), (50_000, 0.1e6, 0.1e6)]
    {
        let mut there = There::new(&exact());
        there.end.now = ms(50);
        there.receive(0, 50, &header(Rate::from_bps(sending)));
        near(there.report().rate, first);
        near(there.report().rate, second);
    }
}

#[test]
fn a_report_says_which_packet_was_newest_and_how_long_ago() {
    let mut there = There::new(&exact());
    there.end.now = ms(1000);
    there.receive(0, 20, &header(Rate::from_mbps(1)));
    there.end.now = ms(1400);
    there.receive(1, 30, &header(Rate::from_mbps(1)));
    let report = there.report();
    assert_eq!((report.lsr, report.dlsr), (ms(1370), Duration::from_millis(100)));
}

// ---- when a receiver reports

#[test]
fn reports_are_half_to_one_and_a_half_intervals_apart_the_first_half_as_far() {
    let mut there = There::new(&Params::default());
    there.end.now = ms(1000);
    assert_eq!(there.algorithm.wake(), Time::NEVER);
    there.receive(0, 20, &header(Rate::from_mbps(1)));
    let mut last = there.end.now;
    let gaps: Vec<f64> = (0..2000)
        .map(|_| {
            there.report();
            (there.end.now - std::mem::replace(&mut last, there.end.now)).as_secs_f64()
        })
        .collect();
    assert!((0.25..0.75).contains(&gaps[0]), "{}", gaps[0]);
    assert!(gaps[1..].iter().all(|gap| (0.5..=1.5).contains(gap)));
    assert!(gaps.iter().any(|gap| *gap < 0.55) && gaps.iter().any(|gap| *gap > 1.45));
    let mean = gaps[1..].iter().sum::<f64>() / 1999.0;
    assert!((mean - 1.0).abs() < 0.02, "{mean}");
}

#[test]
fn the_interval_is_the_announced_one() {
    let mut there = There::new(&exact());
    there.receive(0, 0, &header(Rate::from_mbps(1)));
    there.receive(1, 0, &DataHeader { interval: Duration::from_secs(7), ..header(Rate::from_mbps(1)) });
    there.report();
    assert_eq!((there.end.now, there.algorithm.wake()), (ms(500), ms(7500)));
}

#[test]
fn data_of_another_form_is_counted_and_not_used() {
    let mut there = There::new(&exact());
    for words in [[0; 4], [1, u64::MAX, 1, 5], [1, u64::MAX, 0, 0], [1 << 32 | 1, u64::MAX, 0, 5]] {
        let data = Arrival { label: Label(words), ..there.data(0, 0, &header(Rate::from_mbps(1))) };
        there.end.listen(|cx| there.algorithm.on_data(&data, cx));
    }
    assert_eq!(there.end.meter.count(Count::Ignored), 4);
    assert_eq!(there.algorithm.wake(), Time::NEVER);
}

// ---- source

/// A source that started at time zero with 1 Mbit/s.
fn source(params: &Params) -> (StreamBench, Sender) {
    let mut end = StreamBench::new(SOURCE);
    let mut algorithm = Sender::new(&Params { initial_rate: Rate::from_mbps(1), ..params.clone() });
    end.cx(|cx| algorithm.on_start(cx));
    (end, algorithm)
}

/// A receiver's word arrives now, 20 ms after it was sent, about a packet sent 60 ms before that and held for 10 ms.
fn send_feedback(end: &mut StreamBench, algorithm: &mut Sender, from: EndpointId, rate: f64) {
    let sent_at = end.now - Duration::from_millis(20);
    let report = Report { rate, lsr: sent_at - Duration::from_millis(60), dlsr: Duration::from_millis(10) };
    end.send_feedback(algorithm, from, sent_at, report.encode());
}

fn rate(algorithm: &Sender) -> f64 {
    algorithm.allowance().rate.as_bps_f64()
}

#[test]
fn the_rate_goes_half_of_the_way_down_and_a_fifth_of_the_way_up() {
    let (mut end, mut algorithm) = source(&Params::default());
    end.now = ms(1000);
    send_feedback(&mut end, &mut algorithm, NEAR, 400e3);
    // 0.5·1000 + 0.5·400
    assert_eq!(rate(&algorithm), 700e3);
    assert_eq!(end.meter.count(Count::Episodes), 1);
    end.now = ms(2000);
    send_feedback(&mut end, &mut algorithm, NEAR, 1200e3);
    // 0.8·700 + 0.2·1200
    assert_eq!(rate(&algorithm), 800e3);
    assert_eq!(end.meter.count(Count::Episodes), 1);
    // 20 ms back, 50 ms there
    assert_eq!(end.meter.rtt_last, Duration::from_millis(70));
}

#[test]
fn the_slowest_receiver_of_the_last_five_intervals_decides() {
    let (mut end, mut algorithm) = source(&exact());
    end.now = ms(1000);
    send_feedback(&mut end, &mut algorithm, FAR, 400e3);
    assert_eq!(rate(&algorithm), 700e3);
    for second in 2..=6 {
        end.now = ms(1000 * second);
        send_feedback(&mut end, &mut algorithm, NEAR, 2e6);
    }
    // 400 + 300/2⁵ kbit/s
    assert_eq!(rate(&algorithm), 409_375.0);
    assert_eq!(algorithm.receivers(), 2);
    end.now = ms(6001);
    send_feedback(&mut end, &mut algorithm, NEAR, 2e6);
    // the far one is forgotten: 0.8·409 375 + 0.2·2 000 000
    assert_eq!(rate(&algorithm), 727_500.0);
    assert_eq!(algorithm.receivers(), 1);
}

#[test]
fn five_silent_intervals_halve_the_rate_down_to_the_floor() {
    let (mut end, mut algorithm) = source(&exact());
    end.run(&mut algorithm, ms(4999));
    assert_eq!(rate(&algorithm), 1e6);
    end.run(&mut algorithm, ms(5000));
    assert_eq!(rate(&algorithm), 500e3);
    end.now = ms(7000);
    send_feedback(&mut end, &mut algorithm, NEAR, 500e3);
    end.run(&mut algorithm, ms(11_999));
    assert_eq!(rate(&algorithm), 500e3);
    end.run(&mut algorithm, ms(12_000));
    assert_eq!((rate(&algorithm), algorithm.receivers()), (250e3, 0));
    end.run(&mut algorithm, ms(1_000_000));
    assert_eq!(rate(&algorithm), 8e3);
}

#[test]
fn the_interval_grows_with_the_group_so_that_reports_keep_to_their_share() {
    let (mut end, mut algorithm) = source(&exact());
    end.now = ms(1000);
    let interval = |end: &mut StreamBench, algorithm: &mut Sender| receivers(end, algorithm).interval;
    for endpoint in 0..117 {
        send_feedback(&mut end, &mut algorithm, EndpointId(10 + endpoint), 1e6);
    }
    assert_eq!(rate(&algorithm), 1e6);
    // 117 · 320 bit / 37.5 kbit/s = 0.9984 s
    assert_eq!(interval(&mut end, &mut algorithm), Duration::from_secs(1));
    for endpoint in 117..1000 {
        send_feedback(&mut end, &mut algorithm, EndpointId(10 + endpoint), 500e3);
    }
    assert!(rate(&algorithm) < 501e3);
    // 320 000 bit / 37.5 kbit/s, whatever the current rate
    assert_eq!(interval(&mut end, &mut algorithm), Duration::from_micros(8_533_333));
    assert_eq!(algorithm.receivers(), 1000);
}

/// What the next packet says.
fn receivers(end: &mut StreamBench, algorithm: &mut Sender) -> DataHeader {
    let label = end.cx(|cx| algorithm.stamp(&OutgoingPacket { seq: 0, size: PACKET, bytes_before: 0 }, cx));
    DataHeader::decode(label).expect("a source's word")
}

#[test]
fn packets_echo_one_report_each_in_turn() {
    let (mut end, mut algorithm) = source(&Params::default());
    assert_eq!(
        receivers(&mut end, &mut algorithm),
        DataHeader { rate: Rate::from_mbps(1), ..header(Rate::ZERO) }
    );
    end.now = ms(1000);
    send_feedback(&mut end, &mut algorithm, FAR, 1e6);
    end.now = ms(1100);
    send_feedback(&mut end, &mut algorithm, NEAR, 1e6);
    end.now = ms(1150);
    let far = Echo { to: FAR, reported_at: ms(980), dlsr: Duration::from_millis(150) };
    let near = Echo { to: NEAR, reported_at: ms(1080), dlsr: Duration::from_millis(50) };
    let echoes = [0, 1, 2, 3].map(|_| receivers(&mut end, &mut algorithm).echo);
    assert_eq!(echoes, [Some(far), Some(near), Some(far), Some(near)]);
}

#[test]
fn malformed_and_stale_reports_are_counted_and_never_applied() {
    let (mut end, mut algorithm) = source(&Params::default());
    end.now = ms(1000);
    send_feedback(&mut end, &mut algorithm, NEAR, 1e6);
    let good = Report { rate: 1.0, lsr: ms(900), dlsr: Duration::from_millis(10) };
    let wrong = [
        Report { rate: f64::NAN, ..good },
        Report { rate: f64::INFINITY, ..good },
        Report { rate: -1.0, ..good },
        // about a packet that was not sent yet, or is held by then
        Report { lsr: ms(1001), dlsr: Duration::ZERO, ..good },
        Report { dlsr: Duration::from_millis(101), ..good },
        Report { dlsr: Duration::MAX, ..good },
    ];
    for report in wrong {
        end.send_feedback(&mut algorithm, FAR, ms(1000), report.encode());
    }
    end.send_feedback(&mut algorithm, FAR, ms(1000), Label([200, 1f64.to_bits(), 900_000_000, 0]));
    // older than the last one of the same receiver
    end.send_feedback(&mut algorithm, NEAR, ms(979), good.encode());
    assert_eq!(end.meter.count(Count::Ignored), 8);
    assert_eq!((rate(&algorithm), algorithm.receivers()), (1e6, 1));
    // as old as the last one: it was said at the same time
    end.send_feedback(&mut algorithm, NEAR, ms(980), good.encode());
    assert_eq!(end.meter.count(Count::Ignored), 8);
    assert_eq!(rate(&algorithm), 500_001.0);
}

#[test]
fn a_source_that_restarts_ignores_what_was_said_of_its_past() {
    let (mut end, mut algorithm) = source(&Params::default());
    end.now = ms(5000);
    end.cx(|cx| algorithm.on_start(cx));
    send_feedback(&mut end, &mut algorithm, NEAR, 1.0);
    assert_eq!(end.meter.count(Count::Ignored), 1);
    assert_eq!(rate(&algorithm), 1e6);
}

#[test]
fn the_rate_keeps_its_bounds() {
    let params = Params { max_rate: Rate::from_kbps(900), ..Params::default() };
    let (mut end, mut algorithm) = source(&params);
    assert_eq!(rate(&algorithm), 900e3);
    for second in 1..100 {
        end.now = ms(1000 * second);
        send_feedback(&mut end, &mut algorithm, NEAR, 0.0);
    }
    assert_eq!(rate(&algorithm), 8e3);
    for second in 100..200 {
        end.now = ms(1000 * second);
        send_feedback(&mut end, &mut algorithm, NEAR, 2e6);
    }
    assert_eq!(rate(&algorithm), 900e3);
}

#[test]
fn a_receiver_that_says_goodbye_no_longer_decides() {
    let (mut end, mut algorithm) = source(&Params::default());
    end.now = ms(1000);
    send_feedback(&mut end, &mut algorithm, FAR, 400e3);
    send_feedback(&mut end, &mut algorithm, NEAR, 700e3);
    assert_eq!(rate(&algorithm), 550e3);
    let mut there = There::new(&exact());
    there.receive(0, 20, &header(Rate::from_mbps(1)));
    let answers = there.end.listen(|cx| there.algorithm.on_stop(cx));
    assert_eq!((answers.len(), there.algorithm.wake()), (1, Time::NEVER));
    end.send_feedback(&mut algorithm, FAR, ms(1000), answers[0].label);
    assert_eq!((rate(&algorithm), algorithm.receivers()), (550e3, 1));
    send_feedback(&mut end, &mut algorithm, NEAR, 700e3);
    // 0.8·550 + 0.2·700
    assert_eq!(rate(&algorithm), 580e3);
    assert_eq!(end.meter.count(Count::Ignored), 0);
    end.send_feedback(&mut algorithm, FAR, ms(1000), answers[0].label);
    assert_eq!(end.meter.count(Count::Ignored), 1);
}

#[test]
fn a_receiver_that_joins_again_begins_anew() {
    let mut there = There::new(&exact());
    let words = header(Rate::from_mbps(1));
    there.end.now = ms(50);
    there.receive(0, 50, &words);
    there.miss(99, 50);
    there.receive(99, 50, &words);
    there.report();
    there.end.listen(|cx| there.algorithm.on_stop(cx));
    there.end.now = ms(9000);
    there.end.listen(|cx| there.algorithm.on_start(cx));
    there.receive(1000, 20, &words);
    // no loss and none of the old delay: RTT 40 ms, 12.5 round trips in half a second, 200 kbit/s each
    assert!(there.report().rate > 1.99e6);
    near(there.algorithm.rtt().expect("a delay"), 0.040);
    near(there.probe("loss"), 0.0);
}

// ---- both ends

#[test]
fn without_loss_or_delay_change_the_rate_doubles_towards_the_cap_as_smoothly_as_said() {
    // one receiver, RTT 100 ms, 1 s apart, no loss: X = min(R + 0.8 Mbit/s, 2R), R ← 0.8R + 0.2X
    let (mut end, mut algorithm) = source(&exact());
    let mut there = There::new(&exact());
    let mut wanted: f64 = 1e6;
    there.end.now = ms(50);
    for echo_index in 0..20 {
        let words = receivers(&mut end, &mut algorithm);
        there.receive(echo_index, 50, &DataHeader { echo: None, ..words });
        let report = there.report();
        end.now = there.end.now + Duration::from_millis(50);
        end.send_feedback(&mut algorithm, NEAR, there.end.now, report.encode());
        let round_trips = if echo_index == 0 { 5.0 } else { 10.0 };
        wanted = 0.8 * wanted + 0.2 * (wanted + 80e3 * round_trips).min(2.0 * wanted);
        assert!(
            (rate(&algorithm) - wanted).abs() < 1.0 + echo_index as f64,
            "{echo_index}: {} {wanted}",
            rate(&algorithm)
        );
    }
}
