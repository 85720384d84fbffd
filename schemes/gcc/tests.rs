//! One test per rule of the draft, with its section; numbers are computed by hand.

use contract::{Arrival, Count, EndpointId, Gap, Label, OutgoingPacket, ReceiverAlgorithm, SenderAlgorithm};
use proptest::prelude::*;
use units::{Duration, Rate, Time};

use super::Params;
use super::endpoints::{
    DataHeader, Detector, Filter, Groups, RateControl, Receiver, Report, Sender, Signal, State, Variation,
};
use crate::shared::stream_testing::{PACKET, StreamBench, ms, near};

const SOURCE: EndpointId = EndpointId(1);
const VIEWER: EndpointId = EndpointId(2);

// ---- groups

/// Sent and arrived at these milliseconds; the variations that they make.
fn variations(packets: &[(u64, u64)]) -> Vec<(f64, f64)> {
    let mut groups = Groups::new(&Params::default());
    let made = packets.iter().filter_map(|&(sent, arrived)| groups.packet(ms(sent), ms(arrived)));
    made.map(|it| (it.arrival, it.departure)).collect()
}

/// [GCC02 §5.1, §5.2]: a group has the times of its last packet.
#[test]
fn packets_that_are_sent_within_five_milliseconds_are_a_group() {
    // groups: 0, 2 and 5 ms; 6 ms; 12 ms
    let found = variations(&[(0, 20), (2, 22), (5, 25), (6, 29), (12, 40), (30, 60)]);
    assert_eq!(found, [(4.0, 1.0), (11.0, 6.0)]);
}

/// [GCC02 §5.2]: an outage ends, and what waited arrives in a burst.
#[test]
fn packets_that_arrive_in_a_burst_are_a_group() {
    // sent every 10 ms; the packets of 20, 30 and 40 ms wait until 90 ms
    let found = variations(&[(0, 20), (10, 30), (20, 90), (30, 91), (40, 92), (80, 100), (90, 110)]);
    assert_eq!(found, [(10.0, 10.0), (62.0, 30.0), (8.0, 40.0)]);
}

/// Our choice: while a queue drains packets come nearer than they were sent, for as long as that takes.
#[test]
fn a_group_ends_after_a_tenth_of_a_second() {
    // sent every 4.01 ms, so that only their arrival every 4 ms joins them
    let mut groups = Groups::new(&Params { burst_time: Duration::from_micros(4005), ..Params::default() });
    let us = |n: u64| Time::ZERO + Duration::from_micros(n);
    let made: Vec<_> = (0..60).filter_map(|i| groups.packet(us(4010 * i), us(20_000 + 4000 * i))).collect();
    // the 26th packet arrives 100 ms after the first
    assert_eq!(made.len(), 1);
    near(made[0].arrival, 100.0);
    near(made[0].departure, 100.25);
}

// ---- Kalman filter

/// [GCC02 §5.3]: at 30 groups per second alpha is 0.99.
#[test]
fn the_trend_is_filtered_as_computed_by_hand() {
    let mut filter = Filter::new(&Params::default());
    let departure = 100.0 / 3.0;
    let mut after = |d: f64| filter.group(Variation { arrival: departure + d, departure });
    // z = 10, clipped to 3: var = 0.99 + 0.01·9 = 1.08; k = 0.101/1.181
    near(after(10.0), 1.01 / 1.181);
    // e = 0.101·1.08/1.181, k = 0.093362…/1.169876…
    near(after(0.0), 0.786_957_303_108_003_5);
    near(after(-2.0), 0.590_084_459_095_407_3);
}

/// [GCC02 §5.3]: f_max is the rate of the quickest of the last groups.
#[test]
fn quicker_groups_make_the_noise_follow_more_slowly() {
    let mut filter = Filter::new(&Params::default());
    // 10/3 ms: alpha = 0.99^0.1, var = alpha + (1 − alpha)·9
    let departure = 10.0 / 3.0;
    let found = filter.group(Variation { arrival: departure + 10.0, departure });
    near(found, 10.0 * 0.101 / (0.101 + 1.008_036_229_665_999_7));
}

// ---- over-use detector

/// Compares the trend itself, as the draft does.
fn literal() -> Params {
    Params { max_deltas: 1, ..Params::default() }
}

fn signals(params: &Params, trends: &[f64]) -> Vec<Signal> {
    let mut detector = Detector::new(params);
    (0..).zip(trends).map(|(i, &trend)| detector.group(trend, ms(5 * i))).collect()
}

/// [GCC02 §5.4]
#[test]
fn overuse_is_said_after_ten_milliseconds_unless_the_trend_falls() {
    use Signal::{Normal, Overuse, Underuse};
    let found = signals(&literal(), &[13.0, 14.0, 15.0, 14.9, 3.0, -13.0, -3.0]);
    assert_eq!(found, [Normal, Normal, Overuse, Overuse, Normal, Underuse, Normal]);
    // it falls when the time has passed, and rises again
    let found = signals(&literal(), &[16.0, 15.5, 15.0, 15.1]);
    assert_eq!(found, [Normal, Normal, Normal, Overuse]);
    // it comes back in between
    assert_eq!(signals(&literal(), &[13.0, 14.0, 3.0, 14.0, 15.0]), [Normal; 5]);
}

/// Our choice, as deployed: a trend of 1 ms counts 13-fold with the 13th variation, and is over-use 10 ms later.
#[test]
fn the_trend_counts_as_often_as_there_were_variations() {
    let found = signals(&Params::default(), &[1.0; 15]);
    assert_eq!(found.iter().position(|it| *it == Signal::Overuse), Some(14));
}

/// [GCC02 §5.4]: up by 1 % of the difference per millisecond, down by 0.018 %.
#[test]
fn the_threshold_follows_the_trend_quickly_upwards_and_slowly_downwards() {
    let mut detector = Detector::new(&literal());
    detector.group(14.0, ms(0));
    near(detector.threshold(), 12.5);
    detector.group(-14.0, ms(5));
    near(detector.threshold(), 12.5 + 5.0 * 0.01 * 1.5);
    detector.group(2.575, ms(15));
    near(detector.threshold(), 12.575 - 10.0 * 0.000_18 * 10.0);
    // more than 15 ms above it: not at all
    detector.group(12.557 + 15.1, ms(20));
    near(detector.threshold(), 12.557);
}

/// [GCC02 §5.4]
#[test]
fn the_threshold_stays_between_6_and_600_milliseconds() {
    let mut detector = Detector::new(&literal());
    for i in 0..2000 {
        detector.group(0.0, ms(100 * i));
    }
    near(detector.threshold(), 6.0);
    for i in 2000..2200 {
        detector.group(detector.threshold() + 14.0, ms(100 * i));
    }
    near(detector.threshold(), 600.0);
}

// ---- rate control

const RTT: Duration = Duration::from_millis(100);

/// A control at 1 Mbit/s, of which the link gives so much.
fn control() -> RateControl {
    RateControl::new(&Params { initial_rate: Rate::from_mbps(1), ..Params::default() }, Time::ZERO)
}

/// [GCC02 §5.5]: the table of states.
#[test]
fn signals_move_between_the_states_as_in_the_table() {
    use Signal::{Normal, Overuse, Underuse};
    use State::{Decrease, Hold, Increase};
    let path = |signals: &[Signal]| {
        let mut control = control();
        assert_eq!(control.state(), Increase);
        let states = signals.iter().map(|&signal| {
            control.update(signal, Some(1e6), RTT, ms(100));
            control.state()
        });
        states.collect::<Vec<_>>()
    };
    assert_eq!(
        path(&[Normal, Overuse, Overuse, Normal, Normal]),
        [Increase, Decrease, Decrease, Hold, Increase]
    );
    assert_eq!(path(&[Underuse, Underuse, Normal]), [Hold, Hold, Increase]);
    assert_eq!(path(&[Overuse, Underuse, Overuse, Normal]), [Decrease, Hold, Decrease, Hold]);
}

/// [GCC02 §5.5]
#[test]
fn far_from_convergence_the_rate_grows_by_eight_per_cent_per_second() {
    let mut control = control();
    control.update(Signal::Normal, Some(1e6), RTT, ms(500));
    near(control.rate(), 1e6 * 1.08f64.sqrt());
    // three seconds count as one
    control.update(Signal::Normal, Some(1e6), RTT, ms(3500));
    near(control.rate(), 1.08e6 * 1.08f64.sqrt());
    // and 1.5 times what arrives is the limit
    control.update(Signal::Normal, Some(0.7e6), RTT, ms(3600));
    near(control.rate(), 1.05e6);
}

/// [GCC02 §5.5]
#[test]
fn overuse_leaves_85_per_cent_of_what_arrives_and_never_raises_the_rate() {
    let mut control = control();
    control.update(Signal::Overuse, None, RTT, ms(100));
    near(control.rate(), 1e6);
    control.update(Signal::Overuse, Some(0.8e6), RTT, ms(200));
    near(control.rate(), 0.68e6);
    control.update(Signal::Overuse, Some(0.9e6), RTT, ms(300));
    near(control.rate(), 0.68e6);
    control.update(Signal::Underuse, Some(0.9e6), RTT, ms(400));
    near(control.rate(), 0.68e6);
}

/// A control that has seen over-use at 1 Mbit/s, and increases since 300 ms.
fn converged() -> RateControl {
    let mut control = control();
    control.update(Signal::Overuse, Some(1e6), RTT, ms(100));
    control.update(Signal::Normal, Some(1e6), RTT, ms(300));
    near(control.rate(), 0.85e6);
    control
}

/// [GCC02 §5.5]: half a packet per response time of 200 ms, of 28 333 bits in three packets per frame.
#[test]
fn near_convergence_half_a_packet_is_added_per_response_time() {
    let mut control = converged();
    control.update(Signal::Normal, Some(1e6), RTT, ms(400));
    near(control.rate(), 0.85e6 + 0.25 * 0.85e6 / 90.0);
    let previous = control.rate();
    // 10 ms: less than the minimum of 1000 bit/s
    control.update(Signal::Normal, Some(1e6), RTT, ms(410));
    near(control.rate(), previous + 1000.0);
}

/// [GCC02 §5.5]: three standard deviations; ours: of √(400 bit/s · 1 Mbit/s) = 20 kbit/s at least.
#[test]
fn a_rate_above_the_average_at_overuse_starts_anew() {
    let grown = |first: f64, second: f64| {
        let mut control = converged();
        control.update(Signal::Normal, Some(first), RTT, ms(1300));
        let previous = control.rate();
        control.update(Signal::Normal, Some(second), RTT, ms(2300));
        control.rate() / previous
    };
    near(grown(1.07e6, 1e6), 1.08);
    near(grown(1.07e6, 1.059e6), 1.08);
    near(grown(1e6, 0.93e6), 1.08);
    // below it: the average stays
    assert!(grown(0.93e6, 1.059e6) < 1.01);
}

// ---- receiver

/// A receiver that is given packets of 1000 bytes.
struct Viewer {
    end: StreamBench,
    algorithm: Receiver,
    seq: u64,
}

impl Viewer {
    fn new() -> Self {
        let mut viewer =
            Self { end: StreamBench::new(VIEWER), algorithm: Receiver::new(&Params::default()), seq: 0 };
        let algorithm = &mut viewer.algorithm;
        viewer.end.listen(|cx| algorithm.on_start(cx));
        viewer
    }

    fn data(&self, seq: u64, sent: Time) -> Arrival {
        let label = DataHeader { rtt: Some(RTT) }.encode();
        Arrival { seq, size: PACKET, bytes_before: seq * 1000, sent_at: sent, marked: false, label }
    }

    fn packet(&mut self, sent: Time, arrived: Time) -> Option<Report> {
        let data = self.data(self.seq, sent);
        self.seq += 1;
        self.arrives(&data, arrived)
    }

    fn arrives(&mut self, data: &Arrival, arrived: Time) -> Option<Report> {
        self.end.now = arrived;
        let algorithm = &mut self.algorithm;
        let messages = self.end.listen(|cx| algorithm.on_data(data, cx));
        assert!(messages.len() <= 1);
        messages.first().map(|answer| Report::decode(answer.label).expect("a report"))
    }

    fn loses(&mut self, packets: u64) {
        self.seq += packets;
        let gap =
            Gap { first_missing: self.seq - packets, packets, before: self.data(self.seq, self.end.now) };
        let algorithm = &mut self.algorithm;
        self.end.listen(|cx| algorithm.on_loss(&gap, cx));
    }
}

/// [GCC02 §3]: up to 100 ms. A packet every 10 ms is 800 kbit/s.
#[test]
fn reports_come_every_tenth_of_a_second() {
    let mut viewer = Viewer::new();
    let reports: Vec<_> = (0..31).filter_map(|i| viewer.packet(ms(10 * i), ms(10 * i + 20))).collect();
    assert_eq!(reports.iter().map(|it| it.echo).collect::<Vec<_>>(), [ms(0), ms(100), ms(200), ms(300)]);
    assert_eq!(reports.iter().map(|it| it.received).collect::<Vec<_>>(), [1, 11, 21, 31]);
    // 300 kbit/s at the start; 8 % per second over 0.32 s
    near(reports[3].rate_bps as f64, (300e3 * units::math::pow(1.08, 0.32) + 0.5).floor());
}

/// [GCC02 §3]: as soon as congestion is detected; 85 % of the received 200 kbit/s are left.
#[test]
fn overuse_is_reported_at_once() {
    let mut viewer = Viewer::new();
    // the delay grows by 4 ms per packet
    let reports: Vec<_> = (0..20)
        .filter_map(|i| viewer.packet(ms(36 * i), ms(40 * i + 20)).map(|it| (viewer.end.now, it)))
        .collect();
    let cut = reports.windows(2).find(|pair| pair[1].1.rate_bps < 200_000).expect("over-use");
    assert_eq!(cut[1].0 - cut[0].0, Duration::from_millis(80), "before the next report is due");
    assert_eq!(cut[1].1.rate_bps, 170_000);
}

#[test]
fn losses_are_counted_and_late_packets_are_not_lost() {
    let mut viewer = Viewer::new();
    viewer.packet(ms(0), ms(20));
    viewer.loses(3);
    let report = viewer.packet(ms(100), ms(120)).expect("due");
    assert_eq!((report.received, report.lost), (2, 3));
    let late = viewer.data(2, ms(60));
    viewer.end.now = ms(130);
    let algorithm = &mut viewer.algorithm;
    viewer.end.listen(|cx| algorithm.on_late(&late, cx));
    let report = viewer.packet(ms(210), ms(230)).expect("due");
    assert_eq!((report.received, report.lost), (4, 2));
}

#[test]
fn data_of_another_scheme_are_ignored() {
    let mut viewer = Viewer::new();
    let other = Arrival { label: Label([1, 2, 3, 4]), ..viewer.data(0, ms(0)) };
    assert_eq!(viewer.arrives(&other, ms(20)), None);
    assert_eq!(viewer.end.meter.count(Count::Ignored), 1);
}

// ---- source

/// A source that has started at 1 Mbit/s.
fn source() -> (StreamBench, Sender) {
    let params = Params { initial_rate: Rate::from_mbps(1), ..Params::default() };
    let (mut end, mut algorithm) = (StreamBench::new(SOURCE), Sender::new(&params));
    end.cx(|cx| algorithm.on_start(cx));
    (end, algorithm)
}

/// Reports at `at_ms`, about a packet of 50 ms ago.
fn report(
    end: &mut StreamBench,
    algorithm: &mut Sender,
    at_ms: u64,
    rate_bps: u64,
    received: u64,
    lost: u64,
) {
    end.now = ms(at_ms);
    let report = Report { rate_bps, echo: ms(at_ms - 50), received, lost };
    end.send_feedback(algorithm, VIEWER, ms(at_ms - 25), report.encode());
}

fn rate(algorithm: &Sender) -> f64 {
    algorithm.allowance().rate.as_bps_f64()
}

/// [GCC02 §6]: the lesser of the two.
#[test]
fn the_delay_based_rate_limits_the_source() {
    let (mut end, mut algorithm) = source();
    report(&mut end, &mut algorithm, 100, 800_000, 100, 0);
    near(rate(&algorithm), 800e3);
    let label = end.cx(|cx| algorithm.stamp(&OutgoingPacket { seq: 0, size: PACKET, bytes_before: 0 }, cx));
    assert_eq!(DataHeader::decode(label), Some(DataHeader { rtt: Some(Duration::from_millis(50)) }));
}

/// [GCC02 §6]: below 2 % up by 5 %, up to 10 % no change, above that down by half of the loss ratio.
#[test]
fn the_loss_ratio_moves_the_loss_based_rate() {
    let (mut end, mut algorithm) = source();
    let free = 10_000_000;
    report(&mut end, &mut algorithm, 100, free, 99, 1);
    near(rate(&algorithm), 1.05e6);
    report(&mut end, &mut algorithm, 200, free, 197, 3);
    near(rate(&algorithm), 1.05e6);
    report(&mut end, &mut algorithm, 300, free, 287, 13);
    near(rate(&algorithm), 1.05e6);
    report(&mut end, &mut algorithm, 400, free, 367, 33);
    near(rate(&algorithm), 1.05e6 * 0.9);
    assert_eq!(end.meter.count(Count::Episodes), 1);
    report(&mut end, &mut algorithm, 500, free, 467, 33);
    near(rate(&algorithm), 1.05e6 * 0.9 * 1.05);
}

/// Our choice: 20 packets, however many reports that takes.
#[test]
fn a_loss_among_few_packets_waits_for_more() {
    let (mut end, mut algorithm) = source();
    report(&mut end, &mut algorithm, 100, 10_000_000, 3, 1);
    near(rate(&algorithm), 1e6);
    report(&mut end, &mut algorithm, 200, 10_000_000, 19, 1);
    near(rate(&algorithm), 1e6);
    report(&mut end, &mut algorithm, 300, 10_000_000, 39, 1);
    near(rate(&algorithm), 1.05e6);
}

/// differs: a source that was limited by delay falls from what it sends.
#[test]
fn heavy_loss_cuts_the_rate_that_is_sent() {
    let (mut end, mut algorithm) = source();
    for i in 1..=10 {
        report(&mut end, &mut algorithm, 100 * i, 500_000, 100 * i, 0);
    }
    near(rate(&algorithm), 500e3);
    report(&mut end, &mut algorithm, 1100, 500_000, 1060, 40);
    near(rate(&algorithm), 500e3 * 0.8);
}

/// Our choice: the draft has no timeout.
#[test]
fn a_second_without_a_report_halves_the_rate() {
    let (mut end, mut algorithm) = source();
    report(&mut end, &mut algorithm, 100, 1_000_000, 10, 0);
    end.run(&mut algorithm, ms(1099));
    near(rate(&algorithm), 1e6);
    end.run(&mut algorithm, ms(1100));
    near(rate(&algorithm), 500e3);
    end.run(&mut algorithm, ms(20_000));
    near(rate(&algorithm), 30e3);
    assert_eq!(end.meter.count(Count::Timeouts), 19);
}

#[test]
fn a_report_that_cannot_be_is_ignored() {
    let (mut end, mut algorithm) = source();
    report(&mut end, &mut algorithm, 100, 800_000, 100, 0);
    // packets that were not sent yet, fewer than were reported before, no rate, another scheme
    let ahead = Report { rate_bps: 1, echo: ms(200), received: 200, lost: 0 };
    let less = Report { rate_bps: 1, echo: ms(60), received: 99, lost: 0 };
    let none = Report { rate_bps: 0, echo: ms(60), received: 200, lost: 0 };
    for label in [ahead.encode(), less.encode(), none.encode(), Label([1, 2, 3, 4])] {
        end.send_feedback(&mut algorithm, VIEWER, ms(100), label);
    }
    near(rate(&algorithm), 800e3);
    assert_eq!(end.meter.count(Count::Ignored), 4);
}

proptest! {
    #[test]
    fn what_is_read_is_what_would_be_written(words in any::<[u64; 4]>(), rate in 0u64..1 << 48) {
        let (data, report) = ([0x4743_4344, words[1], 0, 0], [0x4752 << 48 | rate, words[1], words[2] >> 2, words[3]]);
        for label in [Label(words), Label(data), Label(report)] {
            if let Some(header) = DataHeader::decode(label) {
                prop_assert_eq!(header.encode(), label);
            }
            if let Some(report) = Report::decode(label) {
                prop_assert_eq!(report.encode(), label);
            }
        }
    }

    /// Clocks that are apart by up to eleven days, either way, make no difference.
    #[test]
    fn the_offset_of_a_clock_changes_nothing(apart_s in 0u64..1_000_000, ahead in any::<bool>()) {
        let mut groups = (Groups::new(&Params::default()), Groups::new(&Params::default()));
        let base = if ahead { (0, apart_s * 1000) } else { (apart_s * 1000, 0) };
        for i in 0..50 {
            let (sent, arrived) = (7 * i, 8 * i + 3 * (i % 4));
            let found = groups.0.packet(ms(base.0 + sent), ms(base.1 + arrived));
            prop_assert_eq!(found, groups.1.packet(ms(sent), ms(arrived)));
        }
    }
}
