//! The rules of SCReAM v2, with numbers computed by hand.

use contract::{Arrival, EncodedFrame, EndpointId, OutgoingPacket, ReceiverAlgorithm, SenderAlgorithm};
use units::{Bytes, Duration, Rate, Time};

use super::endpoints::{
    Acked, Congestion, DataHeader, Delay, Flight, Media, Receiver, Report, Sample, Sender, Target, Window,
};
use super::{Params, SCHEME};
use crate::shared::stream_testing::{PACKET, StreamBench, ms, near};

fn l4s() -> Params {
    Params { l4s: true, ..Params::default() }
}

/// A window of `bytes`, most of which is in flight, with packets of 1000 bytes.
fn window(bytes: u64, params: &Params) -> Window {
    let mut window = Window::new(1000.0, &Params { min_window: Bytes::new(bytes), ..params.clone() });
    window.sent(bytes as f64, 0.1, ms(0));
    window
}

fn acked(packets: u64) -> Acked {
    Acked { bytes: 1000 * packets, packets, ..Acked::default() }
}

/// A packet in order, sent at `at`, which waited for `queue` ms on a path of 50 ms.
fn sample(at: u64, queue: u64) -> Sample {
    Sample { sent_at: ms(at), arrived_at: ms(at + 50 + queue), after_gap: false }
}

/// A queueing delay of `delay` ms, measured once, so that its average is a quarter of it.
fn delay(millis: u64) -> Delay {
    let (mut delay, params) = (Delay::default(), Params::default());
    delay.measure(&sample(0, 0), 0.1, ms(0), &params);
    delay.measure(&sample(100, millis), 0.1, ms(1000), &params);
    delay
}

const CALM: f64 = 0.06;

/// Draft, Detecting Increased Queue Delay: 40 ms give 10 ms, then 0.25·40 + 0.75·10 = 17.5 ms; a lower delay is taken
/// at once. Within min(25 ms, s_rtt) nothing changes.
#[test]
fn the_average_delay_rises_slowly_and_falls_at_once() {
    let (mut delay, params) = (Delay::default(), Params::default());
    let mut measure = |at: u64, queue: u64| {
        delay.measure(&sample(at, queue), 0.1, ms(at + 100), &params);
        (delay.now(), delay.average())
    };
    assert_eq!(measure(0, 0), (0.0, 0.0));
    assert_eq!(measure(25, 40), (0.040, 0.010));
    assert_eq!(measure(49, 40), (0.040, 0.010));
    let (_, average) = measure(50, 40);
    near(average, 0.0175);
    assert_eq!(measure(75, 5), (0.005, 0.005));
}

/// A packet that overtook others has waited no longer than they: within a round trip of 100 ms it raises the delay and
/// does not lower it. Where none comes in order, the delay is no older than a round trip. One that a path delivers
/// sooner than any in order is not the base: 10 ms after 50 is a delay of 10 ms, not of 30.
#[test]
fn a_packet_that_overtook_others_says_how_long_the_queue_is_at_least() {
    let (mut delay, params) = (Delay::default(), Params::default());
    let mut measure = |at: u64, queue: u64, after_gap: bool| {
        delay.measure(&Sample { after_gap, ..sample(at, queue) }, 0.1, ms(at + 100), &params);
        delay.now()
    };
    assert_eq!(measure(0, 0, false), 0.0);
    assert_eq!(measure(10, 40, true), 0.040);
    assert_eq!(measure(20, 5, true), 0.040);
    assert_eq!(measure(30, 45, true), 0.045);
    assert_eq!(measure(129, 15, true), 0.045);
    assert_eq!(measure(130, 15, true), 0.015);
    assert_eq!(measure(140, 5, false), 0.005);
    let early = Sample { sent_at: ms(150), arrived_at: ms(180), after_gap: true };
    delay.measure(&early, 0.1, ms(250), &params);
    delay.measure(&sample(160, 10), 0.1, ms(260), &params);
    assert_eq!(delay.now(), 0.010);
}

/// Draft, Receiving ECN-CE for L4S: of 4 packets one is marked: α = 0.25/8 = 0.03125; then none: 127/128 of it.
#[test]
fn alpha_rises_fast_and_falls_slowly() {
    let params = l4s();
    let mut window = window(10_000, &params);
    window.count(&Acked { marked: 1, ..acked(4) }, 0.1, ms(0), &params);
    near(window.alpha(), 0.03125);
    window.count(&acked(4), 0.1, ms(9), &params);
    near(window.alpha(), 0.03125);
    window.count(&acked(4), 0.1, ms(10), &params);
    near(window.alpha(), 0.03125 * 127.0 / 128.0);
}

/// A loss keeps 0.7 of 10 000 bytes, a mark of classic ECN 0.8.
#[test]
fn a_loss_or_a_classic_mark_reduces_the_window_by_a_fixed_share() {
    let params = Params::default();
    for (what, cause, kept) in [
        (Acked { lost: 1, ..Acked::default() }, Congestion::Loss, 7000.0),
        (Acked { marked: 1, ..Acked::default() }, Congestion::Mark, 8000.0),
    ] {
        let mut window = window(10_000, &params);
        let found = window.update(&what, (&delay(0), CALM), 0.1, false, ms(1000), &params);
        assert_eq!(found, Some(cause));
        near(window.value(), kept);
    }
}

/// Draft, Reference Window Update: min(25 ms, s_rtt) must pass between two reactions. The loss in between is not
/// forgotten.
#[test]
fn the_window_falls_at_most_once_per_virtual_round_trip() {
    let params = Params::default();
    let mut window = window(10_000, &params);
    let lost = Acked { lost: 1, ..Acked::default() };
    let mut at =
        |what: &Acked, millis| window.update(what, (&delay(0), CALM), 0.1, false, ms(millis), &params);
    assert_eq!(at(&lost, 1000), Some(Congestion::Loss));
    assert_eq!(at(&lost, 1024), None);
    assert_eq!(at(&Acked::default(), 1025), Some(Congestion::Loss));
    assert_eq!(at(&Acked::default(), 1100), None);
    near(window.value(), 4900.0);
}

/// α = 0.03125, a round trip of 25 ms and no inflection point yet (scl_t = 1): the window falls by α/2 = 1.5625 %. With
/// 100 ms, by a quarter of that.
#[test]
fn an_l4s_mark_reduces_the_window_by_half_of_alpha() {
    let params = l4s();
    for (srtt, off) in [(0.025, 0.015625), (0.1, 0.015625 / 4.0)] {
        let mut window = window(10_000, &params);
        let marks = Acked { marked: 1, ..acked(4) };
        window.count(&marks, srtt, ms(1000), &params);
        let only_marks = Acked { marked: 1, ..Acked::default() };
        // the first reaction is long after any other: the window is also limited by what was in flight before
        window.sent(10_000.0, srtt, ms(900));
        window.sent(10_000.0, srtt, ms(1001));
        window.update(&only_marks, (&delay(0), CALM), srtt, false, ms(1001), &params);
        near(window.value(), 10_000.0 * (1.0 - off));
    }
}

/// The average delay is 45 ms: (45 − 30)/30 = 0.5. At 25 ms the window falls by 0.5/2 = 25 %; at 100 ms by 6.25 %.
#[test]
fn a_delay_above_half_the_target_acts_as_virtual_marks() {
    let params = Params::default();
    let delay = delay(180);
    near(delay.average(), 0.045);
    for (srtt, off) in [(0.025, 0.25), (0.1, 0.0625)] {
        let mut window = window(10_000, &params);
        let found = window.update(&Acked::default(), (&delay, CALM), srtt, false, ms(1000), &params);
        assert_eq!(found, Some(Congestion::Delay));
        near(window.value(), 10_000.0 * (1.0 - off));
    }
}

/// Draft, Reference Window Increase: 10 packets of a window of 10 000 bytes add one MSS per round trip of 25 ms and
/// more, times 1 + 0.02·10 = 1.2. With 10 ms, 0.4 of it.
#[test]
fn the_window_grows_by_one_segment_per_round_trip_and_a_share_of_itself() {
    let params = Params::default();
    for (srtt, growth) in [(0.1, 1200.0), (0.010, 480.0)] {
        let mut window = window(10_000, &params);
        window.update(&acked(10), (&delay(0), CALM), srtt, false, ms(1000), &params);
        near(window.value(), 10_000.0 + growth);
    }
}

/// After a loss the window is 7000, the inflection point 10 000: scl_t = min(1, (8·0.3)²) = 1. One second later, 1/10
/// of 100 round trips, the multiplicative part is a tenth: 7 packets add 1000·(1 + 0.02·7·0.1).
#[test]
fn growth_is_cautious_after_congestion() {
    let params = Params::default();
    let mut window = window(10_000, &params);
    window.update(&Acked { lost: 1, ..Acked::default() }, (&delay(0), CALM), 0.1, false, ms(1000), &params);
    window.update(&acked(7), (&delay(0), CALM), 0.1, false, ms(2000), &params);
    near(window.value(), 7000.0 + 1000.0 * 1.014);
}

/// 1000 + 1.5·4000 = 7000 bytes are the limit while 4000 are in flight; and nothing is added at the maximum rate.
#[test]
fn the_window_does_not_outgrow_what_is_in_flight() {
    let params = Params::default();
    let mut low = Window::new(1000.0, &Params { min_window: Bytes::new(6900), ..Params::default() });
    low.sent(4000.0, 0.1, ms(0));
    low.update(&acked(4), (&delay(0), CALM), 0.1, false, ms(1000), &params);
    near(low.value(), 6900.0);
    let mut full = window(10_000, &params);
    full.update(&acked(10), (&delay(0), CALM), 0.1, true, ms(1000), &params);
    near(full.value(), 10_000.0);
}

fn frame(size: u64, waited_ms: u64, max: u64) -> EncodedFrame {
    EncodedFrame {
        size: Bytes::new(size),
        queued: Bytes::new(size),
        waited: Duration::from_millis(waited_ms),
        interval: Duration::from_millis(40),
        min: Rate::from_kbps(150),
        max: Rate::from_kbps(max),
    }
}

/// 20 000 bytes in 100 ms are 1.6 Mbit/s; MSS/ref_wnd = 0.05 reduces nothing; 1000/1020 and 1/1.2 remain. With 5000
/// bytes the ratio is 0.2: a further 10 % less.
#[test]
fn the_target_rate_is_the_window_per_round_trip_with_corrections() {
    let params = Params::default();
    let mut media = Media::new(1000.0, &params);
    media.update(20_000.0, 0.1, &params);
    near(media.target(), 1.6e6 / 1.02 / 1.2);
    media.update(5_000.0, 0.1, &params);
    near(media.target(), 0.4e6 * 0.9 / 1.02 / 1.2);
}

/// A frame that waited for 50 ms of 40: error (50 − 10)/40 = 1, adjusted by 1/16. Frames of twice the nominal size:
/// deviation 1/64.
#[test]
fn a_queue_at_the_sender_and_large_frames_lower_the_target_rate() {
    let params = Params::default();
    let mut media = Media::new(1000.0, &params);
    media.update(20_000.0, 0.1, &params);
    let nominal = media.target() * 0.040 / 8.0;
    media.frame(&frame(nominal as u64, 50, 100_000), &params);
    media.update(20_000.0, 0.1, &params);
    near(media.target(), 1.6e6 / 1.02 / (1.2 + 0.0625));
    let mut media = Media::new(1000.0, &params);
    // 150 kbit/s are 750 bytes in 40 ms
    media.frame(&frame(1500, 10, 100_000), &params);
    media.update(20_000.0, 0.1, &params);
    near(media.target(), 1.6e6 / 1.02 / (1.2 + 1.0 / 64.0));
}

/// 1.5 times the target rate; four times that at the maximum of 1 Mbit/s; at 0.9 of it, 1/(1 − 0.5).
#[test]
fn pacing_is_relaxed_near_the_maximum_rate() {
    let params = Params::default();
    let mut media = Media::new(1000.0, &params);
    near(media.pace(&params), 150_000.0);
    media.frame(&frame(750, 10, 1000), &params);
    let mut at = |target: f64| {
        // the window that gives this target with a ratio below 0.1 in 10 s
        media.update(target * 10.0 / 8.0 * 1.02 * 1.2, 10.0, &params);
        near(media.target(), target.min(1e6));
        media.pace(&params)
    };
    near(at(500_000.0), 750_000.0);
    near(at(900_000.0), 900_000.0 * 1.5 * 2.0);
    near(at(2_000_000.0), 1e6 * 1.5 * 4.0);
}

/// Draft, Status Update: with packets 0 to 4 sent and 3 acknowledged, 1 is in flight although 2 is missing; its bytes
/// are acknowledged, and it is lost at once.
#[test]
fn packets_below_the_highest_acknowledged_number_are_not_in_flight() {
    let mut flight = Flight::default();
    (0..5).for_each(|seq| flight.send(PACKET, ms(seq)));
    let report =
        Report { highest: 3, arrived_at: ms(50), after_gap: false, received: 0b1101, marked: 0b0100 };
    let first = flight.on_report(&report, ms(100));
    let wanted =
        Acked { bytes: 4000, marked_bytes: 1000, packets: 3, marked: 1, lost: 1, sent_at: Some(ms(3)) };
    // bit 2 is packet 1: received and marked; bit 1 is packet 2: missing
    assert_eq!((first, flight.bytes()), (wanted, PACKET));
    assert_eq!(flight.on_report(&report, ms(101)), Acked::default());
}

/// Packet 1 arrives 30 ms after it was taken for lost. Later, packet 3 is given as long.
#[test]
fn the_reordering_window_adapts() {
    let mut flight = Flight::default();
    (0..5).for_each(|seq| flight.send(PACKET, ms(seq)));
    let mut report = |highest, received, at| {
        flight
            .on_report(&Report { highest, arrived_at: ms(at), after_gap: false, received, marked: 0 }, ms(at))
    };
    assert_eq!(report(2, 0b101, 100).lost, 1);
    let late = report(2, 0b111, 130);
    assert_eq!((late.lost, late.packets, late.bytes), (0, 1, 0));
    assert_eq!(report(4, 0b11101, 200).lost, 0);
    assert_eq!(report(4, 0b11101, 229).lost, 0);
    assert_eq!(report(4, 0b11101, 230).lost, 1);
}

/// Packet 1 was late by 30 ms, which is the reordering window. Packet 3 is missing, and 64 packets later no report has
/// it: it is lost when the window has passed, once. So are packets 68 to 72, which no report mentions at all.
#[test]
fn a_packet_that_leaves_the_report_before_the_window_has_passed_is_lost() {
    let mut flight = Flight::default();
    (0..200).for_each(|seq| flight.send(PACKET, ms(seq)));
    let mut report = |highest, received, at| {
        let report = Report { highest, arrived_at: ms(at), after_gap: false, received, marked: 0 };
        flight.on_report(&report, ms(at)).lost
    };
    assert_eq!(report(2, 0b101, 100), 1);
    assert_eq!(report(2, 0b111, 130), 0);
    assert_eq!(report(4, 0b11101, 200), 0);
    assert_eq!(report(67, u64::MAX, 210), 0);
    assert_eq!(report(67, u64::MAX, 230), 1);
    assert_eq!(report(136, u64::MAX, 240), 0);
    assert_eq!(report(150, u64::MAX, 300), 5);
    assert_eq!(report(190, u64::MAX, 400), 0);
}

/// Packet 200 overtakes 1 to 199, which are lost; when they come, 50 ms later, that is the window.
#[test]
fn a_packet_far_behind_the_newest_one_that_comes_is_not_lost() {
    let mut flight = Flight::default();
    (0..500).for_each(|seq| flight.send(PACKET, ms(seq)));
    let mut report = |highest, received, at| {
        let report = Report { highest, arrived_at: ms(at), after_gap: true, received, marked: 0 };
        let acked = flight.on_report(&report, ms(at));
        (acked.lost, acked.packets)
    };
    assert_eq!(report(0, 1, 100), (0, 1));
    assert_eq!(report(200, 1, 100), (199, 1));
    assert_eq!(report(64, u64::MAX, 150), (0, 64));
    assert_eq!(report(128, u64::MAX, 150), (0, 64));
    assert_eq!(report(199, u64::MAX, 150), (0, 64));
    assert_eq!(report(400, 1, 200), (0, 1));
    assert_eq!(report(264, u64::MAX, 249), (0, 64));
    // 265 to 399 have not come in 50 ms; neither have 129 to 135 ever
    assert_eq!(report(400, 1, 250), (135, 0));
}

/// A constant delay of 120 ms has no variance: after a while the target is 120 ms. In an empty queue it falls to 60 ms.
/// Never above 400 ms.
#[test]
fn the_delay_target_follows_a_queue_that_stays_long() {
    let params = Params::default();
    let mut target = Target::new(&params);
    let mut hold = |delay: f64, from: u64, seconds: u64| {
        (0..20 * seconds).for_each(|n| target.update(delay, false, 0.1, ms(from + 50 * n), &params));
        target.value()
    };
    near(hold(0.120, 0, 1), 0.120);
    near(hold(0.0, 1000, 20), 0.060);
    near(hold(1.0, 30_000, 20), 0.4);
}

#[test]
fn without_compensation_the_target_stays() {
    let params = Params { compensate: false, ..Params::default() };
    let mut target = Target::new(&params);
    (0..100).for_each(|n| target.update(0.2, true, 0.1, ms(50 * n), &params));
    near(target.value(), 0.06);
}

fn arrival(seq: u64, last: bool, marked: bool) -> Arrival {
    let label = DataHeader { last }.encode();
    Arrival { seq, size: PACKET, bytes_before: 1000 * seq, sent_at: Time::ZERO, marked, label }
}

/// 16 packets, the end of a frame, or 40 ms.
#[test]
fn the_receiver_reports_frames_sixteen_packets_or_forty_milliseconds() {
    let mut end = StreamBench::new(EndpointId(1));
    let mut receiver = Receiver::new(&Params::default());
    let mut reports = Vec::new();
    for seq in 0..20 {
        end.now = ms(seq);
        let answers = end.listen(|cx| receiver.on_data(&arrival(seq, seq == 18, seq == 17), cx));
        reports.extend(answers.iter().filter_map(|answer| Report::decode(answer.label)));
    }
    assert_eq!(reports.iter().map(|report| report.highest).collect::<Vec<_>>(), [15, 18]);
    assert_eq!((reports[1].received, reports[1].marked), ((1 << 19) - 1, 0b10));
    assert_eq!(receiver.wake(), ms(19 + 40));
    end.now = ms(59);
    let answers = end.listen(|cx| receiver.on_timer(cx));
    assert_eq!(answers.len(), 1);
    assert_eq!(receiver.wake(), Time::NEVER);
}

/// Packet 300 overtakes 201 to 299, of which 201 to 216 follow it: a report about 153 to 216 tells of them, and the one
/// about the newest, 237 to 300, does not.
#[test]
fn packets_that_come_far_behind_the_newest_one_are_reported() {
    let mut end = StreamBench::new(EndpointId(1));
    let mut receiver = Receiver::new(&Params::default());
    let mut reports = Vec::new();
    for seq in (0..=200).chain([300]).chain(201..=216) {
        end.now = ms(seq);
        let answers = end.listen(|cx| receiver.on_data(&arrival(seq, false, seq == 210), cx));
        reports.extend(answers.iter().filter_map(|answer| Report::decode(answer.label)));
    }
    // 201 packets are 12 reports and 9 packets; with 300 and the first six after it, these are the next 16
    let told: Vec<_> = reports[12..].iter().map(|it| (it.highest, it.received, it.marked)).collect();
    assert_eq!(told, [(206, u64::MAX, 0), (300, 1, 0)]);
    end.now = ms(300);
    let answers = end.listen(|cx| receiver.on_timer(cx));
    let last = Report::decode(answers[0].label).expect("it is a report");
    assert_eq!((last.highest, last.received, last.marked), (216, u64::MAX, 1 << 6));
    assert_eq!(answers.len(), 2);
}

/// Three times the reference window of 3000 bytes may be in flight: the tenth packet waits.
#[test]
fn the_send_window_is_a_multiple_of_the_reference_window() {
    let mut end = StreamBench::new(EndpointId(0));
    let mut sender = Sender::new(&Params::default(), PACKET);
    end.cx(|cx| sender.on_start(cx));
    for seq in 0..9 {
        assert!(sender.allowance().window > Bytes::ZERO, "{seq}");
        end.cx(|cx| sender.stamp(&OutgoingPacket { seq, size: PACKET, bytes_before: 1000 * seq }, cx));
    }
    assert_eq!(sender.allowance().window, Bytes::ZERO);
    // a second of silence gives up what is in flight
    end.run(&mut sender, ms(1000));
    assert!(sender.allowance().window > Bytes::ZERO);
}

#[test]
fn only_l4s_streams_send_as_ect1() {
    assert!(!Sender::new(&Params::default(), PACKET).l4s());
    assert!(Sender::new(&l4s(), PACKET).l4s());
}

#[test]
fn reports_survive_their_encoding_and_others_are_refused() {
    let report = Report { highest: 77, arrived_at: ms(5), after_gap: true, received: 0b1011, marked: 0b10 };
    assert_eq!(Report::decode(report.encode()), Some(report));
    // the highest packet arrived, and no packet is marked that did not arrive
    assert_eq!(Report::decode(Report { received: 0b10, ..report }.encode()), None);
    assert_eq!(Report::decode(Report { marked: 0b100, ..report }.encode()), None);
    for last in [false, true] {
        assert_eq!(DataHeader::decode(DataHeader { last }.encode()), Some(DataHeader { last }));
    }
    assert_eq!(SCHEME.name, "scream");
}
