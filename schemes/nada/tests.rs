//! The equations of RFC 8698, with numbers computed by hand.

use contract::{
    Allowance, Arrival, EncodedFrame, EndpointId, Gap, Label, OutgoingPacket, ReceiverAlgorithm,
    SenderAlgorithm,
};
use units::{Bytes, Duration, Rate, Time};

use super::endpoints::{DataHeader, Ratio, Receiver, Report, Sender, blended, signal, warped};
use super::{Params, SCHEME};
use crate::shared::stream_testing::{PACKET, StreamBench, ms, near};

const RTT_MS: u64 = 100;

fn started(params: &Params) -> (StreamBench, Sender) {
    let mut end = StreamBench::new(EndpointId(0));
    let mut sender = Sender::new(params);
    end.cx(|cx| sender.on_start(cx));
    (end, sender)
}

/// A report at `at`, one round-trip time after the packet that it answers.
fn send_feedback(
    end: &mut StreamBench,
    sender: &mut Sender,
    at: u64,
    ramp_up: bool,
    signal_ms: u64,
    received_bps: u64,
) {
    end.now = ms(at);
    let signal = Duration::from_millis(signal_ms);
    let report = Report { ramp_up, signal, received_bps, echo: ms(at - RTT_MS) };
    end.send_feedback(sender, EndpointId(1), ms(at - RTT_MS / 2), report.encode());
}

fn rate(sender: &Sender) -> f64 {
    sender.allowance().rate.as_bps_f64()
}

fn at(kbps: u64) -> Params {
    Params { initial_rate: Rate::from_kbps(kbps), ..Params::default() }
}

/// [RFC8698 §4.2, eq. 1]: 20 ms stay 20 ms; 100 ms become 50·exp(−0.5·(100 − 50)/50) = 50·exp(−0.5) ms; 250 ms
/// 50·exp(−2).
#[test]
fn delays_above_the_threshold_are_warped() {
    let params = Params::default();
    near(warped(0.020, &params), 0.020);
    near(warped(0.100, &params), 0.050 * 0.606_530_659_712_633_4);
    near(warped(0.250, &params), 0.050 * 0.135_335_283_236_612_7);
}

/// [RFC8698 §4.2]: the warping lasts for 7 mean intervals. Then it fades over one: half of it is left at 7.5.
#[test]
fn the_warping_ends_after_a_multiple_of_the_mean_loss_interval() {
    let (params, warp) = (Params::default(), 0.050 * 0.606_530_659_712_633_4);
    near(blended(0.100, 100.0, 100.0, &params), warp);
    near(blended(0.100, 699.0, 100.0, &params), warp);
    near(blended(0.100, 750.0, 100.0, &params), (0.100 + warp) / 2.0);
    near(blended(0.100, 900.0, 100.0, &params), 0.100);
}

/// [RFC8698 §4.2, eq. 2]: 20 ms + 10 ms·(2 %/1 %)² = 60 ms; marks of 1 % add 2 ms, of 3 % 18 ms.
#[test]
fn losses_and_marks_are_penalties_in_the_signal() {
    let params = Params::default();
    near(signal(0.020, 0.02, 0.0, &params), 0.060);
    near(signal(0.020, 0.02, 0.01, &params), 0.062);
    near(signal(0.020, 0.0, 0.03, &params), 0.038);
    near(signal(0.020, 0.3, 0.0, &params), 0.5);
}

/// [RFC8698 §5.1.2]: 0.1·0.2 = 0.02, then 0.1·0.1 + 0.9·0.02 = 0.028.
#[test]
fn ratios_are_smoothed() {
    let mut ratio = Ratio::default();
    ratio.add(0.2, 0.1);
    near(ratio.value(), 0.02);
    ratio.add(0.1, 0.1);
    near(ratio.value(), 0.028);
}

/// [RFC8698 §4.3, eq. 3 and 4]: gamma = 50/(100 + 100 + 120) = 0.15625; 400 kbit/s become 462.5 kbit/s. A lower receive
/// rate does not lower the rate.
#[test]
fn ramp_up_multiplies_the_receive_rate() {
    let (mut end, mut sender) = started(&Params::default());
    send_feedback(&mut end, &mut sender, 200, true, 0, 400_000);
    near(rate(&sender), 462_500.0);
    send_feedback(&mut end, &mut sender, 300, true, 0, 300_000);
    near(rate(&sender), 462_500.0);
}

/// A short path would ramp up by more than a half: 50 ms/(0 + 10 + 20) ms = 1.67.
#[test]
fn the_growth_in_ramp_up_is_bounded() {
    let short = Params {
        delta: Duration::from_millis(10),
        d_filt: Duration::from_millis(20),
        q_bound: Duration::from_millis(500),
        ..Params::default()
    };
    let (mut end, mut sender) = started(&short);
    send_feedback(&mut end, &mut sender, 200, true, 0, 400_000);
    near(rate(&sender), 600_000.0);
}

/// [RFC8698 §4.3, eq. 5 to 7] at 1 Mbit/s, 100 ms after the last update: x_offset = 25 − 10·1.5 = 10 ms, x_diff = 25 −
/// 20 = 5 ms, so that r_ref falls by 0.5·(100/500)·(10/500) = 0.2 % and by 0.5·2·(5/500) = 1 %, of the rate before.
#[test]
fn the_gradual_update_follows_the_offset_and_the_change_of_the_signal() {
    let (mut end, mut sender) = started(&at(1000));
    // the reference level at 1 Mbit/s is 15 ms: an offset of 5 ms, a change of 20 ms in 200 ms
    send_feedback(&mut end, &mut sender, 200, false, 20, 1_000_000);
    let first = 1e6 * (1.0 - 0.5 * 0.4 * 0.01 - 0.04);
    near(rate(&sender), first);
    send_feedback(&mut end, &mut sender, 300, false, 25, 1_000_000);
    let offset = 0.025 - 0.010 * 1.5e6 / first;
    near(rate(&sender), first * (1.0 - 0.5 * 0.2 * offset / 0.5 - 0.01));
}

/// x_offset = 0 and x_diff = 0: at 1 Mbit/s and 15 ms, with RMAX = 1.5 Mbit/s, the rate stays.
#[test]
fn the_equilibrium_is_the_reference_level_times_the_share_of_the_maximum() {
    let (mut end, mut sender) = started(&Params { eta: 0.0, ..at(1000) });
    for report in 2..20 {
        send_feedback(&mut end, &mut sender, 100 * report, false, 15, 1_000_000);
        near(rate(&sender), 1e6);
    }
}

/// A signal of 500 ms would end below zero.
#[test]
fn the_rate_stays_within_its_range_and_that_of_the_encoder() {
    let (mut end, mut sender) = started(&at(1000));
    send_feedback(&mut end, &mut sender, 200, false, 500, 100_000);
    near(rate(&sender), 150_000.0);
    send_feedback(&mut end, &mut sender, 300, true, 0, 10_000_000);
    near(rate(&sender), 1_500_000.0);
    end.cx(|cx| sender.on_frame(&frame(0, 200, 800), cx));
    near(sender.media_rate().as_bps_f64(), 800_000.0);
}

fn frame(queued: u64, min_kbps: u64, max_kbps: u64) -> EncodedFrame {
    EncodedFrame {
        size: Bytes::new(1000),
        queued: Bytes::new(queued),
        waited: Duration::ZERO,
        interval: Duration::from_nanos(33_333_333),
        min: Rate::from_kbps(min_kbps),
        max: Rate::from_kbps(max_kbps),
    }
}

/// [RFC8698 §5.2.2] at 1 Mbit/s: 1250 bytes are 0.1·8·1250·30 = 30 kbit/s; 12 500 bytes would be 300 kbit/s, at most 50
/// kbit/s count.
#[test]
fn the_queue_at_the_sender_speeds_packets_up_and_slows_the_encoder_down() {
    let (mut end, mut sender) = started(&at(1000));
    let mut with = |queued: u64| {
        end.cx(|cx| sender.on_frame(&frame(queued, 150, 1500), cx));
        (rate(&sender).round(), sender.media_rate().as_bps_f64().round())
    };
    assert_eq!(with(0), (1_000_000.0, 1_000_000.0));
    assert_eq!(with(1250), (1_030_000.0, 970_000.0));
    assert_eq!(with(12_500), (1_050_000.0, 950_000.0));
    // a packet that leaves shortens the queue
    end.cx(|cx| sender.on_frame(&frame(2250, 150, 1500), cx));
    end.cx(|cx| sender.stamp(&OutgoingPacket { seq: 0, size: PACKET, bytes_before: 0 }, cx));
    assert_eq!(rate(&sender).round(), 1_030_000.0);
}

#[test]
fn a_second_without_a_report_halves_the_rate() {
    let (mut end, mut sender) = started(&at(1000));
    end.run(&mut sender, ms(1000));
    assert_eq!(sender.allowance(), Allowance::rate(Rate::from_kbps(500)));
    end.run(&mut sender, ms(9000));
    near(rate(&sender), 150_000.0);
}

#[test]
fn a_report_of_the_future_or_of_another_scheme_is_ignored() {
    let (mut end, mut sender) = started(&at(1000));
    end.now = ms(100);
    let report = Report { ramp_up: true, signal: Duration::ZERO, received_bps: 1, echo: ms(101) };
    end.send_feedback(&mut sender, EndpointId(1), ms(50), report.encode());
    end.send_feedback(&mut sender, EndpointId(1), ms(50), Label([1, 2, 3, 4]));
    assert_eq!(end.meter.count(contract::Count::Ignored), 2);
    near(rate(&sender), 1e6);
}

/// A receiver, with an input at the current time.
struct Listening {
    end: StreamBench,
    receiver: Receiver,
    seq: u64,
}

impl Listening {
    fn new() -> Self {
        let mut bench = Self {
            end: StreamBench::new(EndpointId(1)),
            receiver: Receiver::new(&Params::default()),
            seq: 0,
        };
        bench.end.listen(|cx| bench.receiver.on_start(cx));
        bench
    }

    fn packet(&self, at: u64, delay: u64, marked: bool) -> Arrival {
        let label = DataHeader { rtt: Some(Duration::from_millis(RTT_MS)) }.encode();
        let sent_at = Time::ZERO + Duration::from_millis(at - delay);
        Arrival { seq: self.seq, size: PACKET, bytes_before: 0, sent_at, marked, label }
    }

    /// A packet arrives at `at`, `delay` after it was sent; after `lost` packets that do not.
    fn takes(&mut self, at: u64, delay: u64, lost: u64, marked: bool) -> Option<Report> {
        self.end.now = ms(at);
        let first_missing = self.seq;
        self.seq += lost;
        let data = self.packet(at, delay, marked);
        self.seq += 1;
        let Self { end, receiver, .. } = self;
        let mut answers = Vec::new();
        if lost > 0 {
            let gap = Gap { first_missing, packets: lost, before: data };
            answers.extend(end.listen(|cx| receiver.on_loss(&gap, cx)));
        }
        answers.extend(end.listen(|cx| receiver.on_data(&data, cx)));
        answers.first().and_then(|answer| Report::decode(answer.label))
    }
}

/// A packet every 10 ms, reports every 100 ms; a queue of 20 ms from 300 ms on. The filter takes the minimum of 15
/// packets, so that the report at 400 ms still has the base delay, and the one at 500 ms the queue.
#[test]
fn a_filter_takes_the_minimum_delay_of_fifteen_packets() {
    let mut bench = Listening::new();
    let mut reports = Vec::new();
    for n in 10..=60 {
        let queue = if n >= 30 { 20 } else { 0 };
        reports.extend(bench.takes(10 * n, 50 + queue, 0, false).map(|report| (n, report)));
    }
    let times: Vec<u64> = reports.iter().map(|(n, _)| *n).collect();
    assert_eq!(times, [10, 20, 30, 40, 50, 60]);
    let signals: Vec<u64> = reports.iter().map(|(_, report)| report.signal.as_nanos() / 1_000_000).collect();
    assert_eq!(signals, [0, 0, 0, 0, 20, 20]);
    // 1000 bytes in 10 ms
    assert_eq!(reports[5].1.received_bps, 800_000);
}

/// [RFC8698 §4.2]: ramp-up needs 500 ms without a loss and with queueing delays below 10 ms. Ours: without a mark, too.
#[test]
fn a_delay_a_loss_or_a_mark_ends_the_ramp_up_for_the_observation_window() {
    for (delay, lost, marked) in [(60, 0, false), (50, 1, false), (50, 0, true)] {
        let mut bench = Listening::new();
        let mut ramps = Vec::new();
        for n in 10..=100 {
            let (delay, lost, marked) = if n == 25 { (delay, lost, marked) } else { (50, 0, false) };
            ramps.extend(bench.takes(10 * n, delay, lost, marked).map(|report| (n, report.ramp_up)));
        }
        let gradual: Vec<u64> = ramps.iter().filter(|(_, ramp)| !ramp).map(|(n, _)| *n).collect();
        assert_eq!(gradual, [30, 40, 50, 60, 70], "{delay} {lost} {marked}");
    }
}

/// Reports at 100, 200 … ms. At 250 ms one packet is lost, after 15 that arrived. The report at 300 ms covers 20
/// arrivals and the loss since 100 ms: 1/22 of the packets, of which a tenth counts: 10 ms·(100/220)².
#[test]
fn a_loss_raises_the_signal_by_its_smoothed_ratio() {
    let mut bench = Listening::new();
    let mut last = None;
    for n in 10..=30 {
        last = bench.takes(10 * n, 50, u64::from(n == 25), false).or(last);
    }
    let ratio = 0.1 / 22.0 / 0.01;
    near(last.expect("reports").signal.as_secs_f64(), ((0.010 * ratio * ratio) * 1e9_f64).round() / 1e9);
}

#[test]
fn reports_and_headers_survive_their_encoding() {
    let report =
        Report { ramp_up: true, signal: Duration::from_micros(1234), received_bps: 5_000_000, echo: ms(77) };
    assert_eq!(Report::decode(report.encode()), Some(report));
    let report = Report { ramp_up: false, ..report };
    assert_eq!(Report::decode(report.encode()), Some(report));
    assert_eq!(Report::decode(Label::default()), None);
    for rtt in [None, Some(Duration::from_millis(5))] {
        assert_eq!(DataHeader::decode(DataHeader { rtt }.encode()), Some(DataHeader { rtt }));
    }
    assert_eq!(SCHEME.name, "nada");
}
