use contract::{
    Arrival, Count, EndpointId, Feedback, Gap, Label, Note, OutgoingFeedback, OutgoingPacket,
    ReceiverAlgorithm, ReceiverCx, SenderAlgorithm,
};
use units::Time;

use super::endpoints::{Echo, Header, Millis, RateCode, Report, RttCode};
use super::*;
use crate::shared::stream_testing::{PACKET, StreamBench, ms, near};

// ---- what both ends need ----

/// What an algorithm noted under `name`.
fn notes(end: &StreamBench, name: &str) -> Vec<Note> {
    end.out.notes.pending.iter().filter(|note| note.name == name).copied().collect()
}

/// Calls a receiver's algorithm; returns what it reported.
fn listen(end: &mut StreamBench, call: impl FnOnce(&mut ReceiverCx<'_, '_>)) -> Vec<Report> {
    let report = |answer: OutgoingFeedback| Report::decode(answer.label).expect("a receiver's word");
    end.listen(call).into_iter().map(report).collect()
}

const SOURCE: EndpointId = EndpointId(1);
const NEAR: EndpointId = EndpointId(2);
const FAR: EndpointId = EndpointId(3);
const THIRD: EndpointId = EndpointId(4);

// ---- source ----

/// A source that started at time zero, with R_max = 100 ms: 80 kbit/s, one packet in 100 ms, and rounds of 600 ms.
fn source() -> (StreamBench, Sender) {
    let params = Params { initial_rtt: Duration::from_millis(100), ..Params::default() };
    let mut end = StreamBench::new(SOURCE);
    let mut algorithm = Sender::new(&params, PACKET);
    end.cx(|cx| algorithm.on_start(cx));
    (end, algorithm)
}

/// What a receiver at 100 ms says that has a round-trip time and losses.
const SAID: SentMessage =
    SentMessage { rate: 80e3, age_ms: 100, have_rtt: true, have_loss: true, leave: false, rounds_ago: 0 };

#[derive(Clone, Copy)]
struct SentMessage {
    rate: f64,
    age_ms: u64,
    have_rtt: bool,
    have_loss: bool,
    leave: bool,
    rounds_ago: u8,
}

/// Gives the source a report of `from`.
fn send_feedback(end: &mut StreamBench, algorithm: &mut Sender, from: EndpointId, messages: SentMessage) {
    let round = header(end, algorithm).round.wrapping_sub(messages.rounds_ago);
    let now = Millis::of(end.now);
    let report = Report {
        tr: now,
        ts: Millis(now.0.wrapping_sub(messages.age_ms as u32)),
        rate: RateCode::nearest(messages.rate),
        round,
        have_rtt: messages.have_rtt,
        have_loss: messages.have_loss,
        leave: messages.leave,
    };
    let feedback = Feedback { from, sent_at: end.now, label: report.encode() };
    end.cx(|cx| algorithm.on_feedback(&feedback, cx));
}

/// What the source's packet of this instant says; the source itself is left as it is.
fn header(end: &mut StreamBench, algorithm: &Sender) -> Header {
    send(end, &mut algorithm.clone())
}

/// Lets the source send a packet.
fn send(end: &mut StreamBench, algorithm: &mut Sender) -> Header {
    let sending = OutgoingPacket { seq: 0, size: PACKET, bytes_before: 0 };
    Header::decode(end.cx(|cx| algorithm.stamp(&sending, cx))).expect("a source's word")
}

fn rate(end: &mut StreamBench, algorithm: &Sender) -> f64 {
    let mut algorithm = algorithm.clone();
    send(end, &mut algorithm);
    algorithm.allowance().rate.as_bps_f64()
}

/// A rate as it arrives in a report.
fn coded(bps: f64) -> f64 {
    RateCode::nearest(bps).bps()
}

/// [RFC4654 §3.1]
#[test]
fn a_session_begins_with_one_packet_in_half_a_second() {
    let mut end = StreamBench::new(SOURCE);
    let mut algorithm = Sender::new(&Params::default(), PACKET);
    end.cx(|cx| algorithm.on_start(cx));
    assert_eq!(algorithm.allowance().rate, Rate::from_kbps(16));
    let first = send(&mut end, &mut algorithm);
    assert_eq!(first.suppression, RateCode::MAX);
    assert_eq!((first.r_max.secs(), first.round, first.echo, first.ts), (0.512, 0, None, Millis(0)));
}

/// [RFC4654 §3.3], case 1. In the 100 ms after a report the rate rises by one packet per 100 ms, 80 kbit/s, and no
/// further.
#[test]
fn the_first_receiver_limits_the_group_and_the_rate_rises_by_a_packet_per_round_trip() {
    let (mut end, mut algorithm) = source();
    end.now = ms(200);
    send_feedback(&mut end, &mut algorithm, NEAR, SentMessage { rate: 10e6, ..SAID });
    assert_eq!(algorithm.limiting(), Some(NEAR));
    for (at, expected) in [(200, 80e3), (225, 100e3), (250, 120e3), (300, 160e3), (500, 160e3)] {
        end.run(&mut algorithm, ms(at));
        near(rate(&mut end, &algorithm), expected);
    }
    // a lower one is obeyed at once
    let (mut end, mut algorithm) = source();
    end.now = ms(200);
    send_feedback(&mut end, &mut algorithm, NEAR, SentMessage { rate: 50e3, ..SAID });
    near(rate(&mut end, &algorithm), coded(50e3));
    let clr = notes(&end, "clr");
    assert_eq!(clr.iter().map(|note| note.value).collect::<Vec<_>>(), [f64::from(NEAR.0)]);
}

/// [RFC4654 §3.3], case 2.
#[test]
fn a_receiver_that_could_take_less_limits_the_group_at_once() {
    let (mut end, mut algorithm) = source();
    end.now = ms(200);
    send_feedback(&mut end, &mut algorithm, NEAR, SAID);
    send_feedback(&mut end, &mut algorithm, FAR, SentMessage { rate: 90e3, ..SAID });
    assert_eq!(algorithm.limiting(), Some(NEAR));
    near(rate(&mut end, &algorithm), coded(80e3));
    send_feedback(&mut end, &mut algorithm, FAR, SentMessage { rate: 60e3, ..SAID });
    assert_eq!(algorithm.limiting(), Some(FAR));
    near(rate(&mut end, &algorithm), coded(60e3));
    // the old one is an ordinary receiver now
    send_feedback(&mut end, &mut algorithm, NEAR, SentMessage { rate: 70e3, ..SAID });
    assert_eq!(algorithm.limiting(), Some(FAR));
}

/// [RFC4654 §3.3], case 3: a round lasts 600 ms.
#[test]
fn after_a_leave_the_rate_does_not_rise_for_a_round() {
    let (mut end, mut algorithm) = source();
    end.now = ms(200);
    send_feedback(&mut end, &mut algorithm, NEAR, SAID);
    send_feedback(&mut end, &mut algorithm, NEAR, SentMessage { leave: true, ..SAID });
    assert_eq!((algorithm.limiting(), notes(&end, "clr")[1].value), (None, -1.0));
    // a receiver that is leaving does not take its place
    send_feedback(&mut end, &mut algorithm, THIRD, SentMessage { rate: 10e3, leave: true, ..SAID });
    assert_eq!(algorithm.limiting(), None);
    end.now = ms(300);
    send_feedback(&mut end, &mut algorithm, FAR, SentMessage { rate: 1e6, ..SAID });
    assert_eq!(algorithm.limiting(), Some(FAR));
    for at in [400, 600, 899] {
        end.run(&mut algorithm, ms(at));
        send_feedback(&mut end, &mut algorithm, FAR, SentMessage { rate: 1e6, ..SAID });
        near(rate(&mut end, &algorithm), coded(80e3));
    }
    end.run(&mut algorithm, ms(900));
    send_feedback(&mut end, &mut algorithm, FAR, SentMessage { rate: 1e6, ..SAID });
    // R_max is 101 ms since the round ended: 80 kbit/s are 100 ms between packets
    end.run(&mut algorithm, ms(1001));
    near(rate(&mut end, &algorithm), (coded(80e3) + 8000.0 / 0.101).round());
    // down it goes meanwhile
    let (mut end, mut algorithm) = source();
    end.now = ms(200);
    send_feedback(&mut end, &mut algorithm, NEAR, SAID);
    send_feedback(&mut end, &mut algorithm, NEAR, SentMessage { leave: true, ..SAID });
    send_feedback(&mut end, &mut algorithm, FAR, SentMessage { rate: 1e6, ..SAID });
    send_feedback(&mut end, &mut algorithm, FAR, SentMessage { rate: 50e3, ..SAID });
    near(rate(&mut end, &algorithm), coded(50e3));
}

/// [RFC4654 §3.3], case 4: the step counts from the current rate, and reports that come faster than a round-trip time
/// do not make it steeper.
#[test]
fn the_limiting_receiver_is_followed_down_at_once_and_up_by_a_packet_per_round_trip() {
    let (mut end, mut algorithm) = source();
    end.now = ms(200);
    send_feedback(&mut end, &mut algorithm, NEAR, SAID);
    for at in [225, 250, 275, 300, 325, 350] {
        send_feedback(&mut end, &mut algorithm, NEAR, SentMessage { rate: 10e6, ..SAID });
        end.run(&mut algorithm, ms(at));
    }
    // 150 ms at 80 kbit/s per 100 ms
    near(rate(&mut end, &algorithm), coded(80e3) + 120e3);
    // not above what it could take
    send_feedback(&mut end, &mut algorithm, NEAR, SentMessage { rate: 220e3, ..SAID });
    end.run(&mut algorithm, ms(450));
    near(rate(&mut end, &algorithm), coded(220e3));
    send_feedback(&mut end, &mut algorithm, NEAR, SentMessage { rate: 30e3, ..SAID });
    near(rate(&mut end, &algorithm), coded(30e3));
}

/// [RFC4654 §3.3]: a receiver at 50 ms that uses R_max = 100 ms reports half of the rate that it could take.
#[test]
fn reports_without_a_round_trip_time_are_corrected_where_they_were_reckoned_with_the_maximum() {
    let (mut end, mut algorithm) = source();
    end.now = ms(200);
    send_feedback(&mut end, &mut algorithm, NEAR, SAID);
    // 2 · 45 is not less than 80, 2 · 35 is
    let unknown = SentMessage { age_ms: 50, have_rtt: false, ..SAID };
    send_feedback(&mut end, &mut algorithm, FAR, SentMessage { rate: 45e3, ..unknown });
    assert_eq!(algorithm.limiting(), Some(NEAR));
    send_feedback(&mut end, &mut algorithm, FAR, SentMessage { rate: 35e3, ..unknown });
    assert_eq!(algorithm.limiting(), Some(FAR));
    near(rate(&mut end, &algorithm), 2.0 * coded(35e3));
    // suppression goes by what was reported: 0.9 · 35
    assert_eq!(header(&mut end, &algorithm).suppression, RateCode::nearest(0.9 * coded(35e3)));
    // without losses there is nothing to correct
    let (mut end, mut algorithm) = source();
    end.now = ms(200);
    send_feedback(&mut end, &mut algorithm, NEAR, SentMessage { rate: 60e3, have_loss: false, ..unknown });
    near(rate(&mut end, &algorithm), coded(60e3));
}

/// [RFC4654 §3.6]: half of the way to the reported rate in half of R_max = 100 ms.
#[test]
fn in_slowstart_the_rate_approaches_the_minimum_report_within_a_round_trip() {
    let (mut end, mut algorithm) = source();
    end.now = ms(200);
    let lossless = SentMessage { have_loss: false, ..SAID };
    send_feedback(&mut end, &mut algorithm, NEAR, SentMessage { rate: 160e3, ..lossless });
    end.run(&mut algorithm, ms(250));
    near(rate(&mut end, &algorithm), (80e3 + coded(160e3)) / 2.0);
    // another one could take less than is aimed at
    send_feedback(&mut end, &mut algorithm, FAR, SentMessage { rate: 140e3, ..lossless });
    assert_eq!(algorithm.limiting(), Some(FAR));
    end.run(&mut algorithm, ms(350));
    near(rate(&mut end, &algorithm), coded(140e3));
    send_feedback(&mut end, &mut algorithm, NEAR, SentMessage { rate: 150e3, ..lossless });
    assert_eq!(algorithm.limiting(), Some(FAR));
    // the first loss of anybody ends it, even of one that could take more
    send_feedback(&mut end, &mut algorithm, THIRD, SentMessage { rate: 1e6, ..SAID });
    send_feedback(&mut end, &mut algorithm, FAR, SentMessage { rate: 10e6, ..lossless });
    end.run(&mut algorithm, ms(450));
    near(rate(&mut end, &algorithm), coded(140e3) + 80e3);
    assert_eq!(notes(&end, "slowstart_ends").len(), 1);
}

/// [RFC4654 §3.4]
#[test]
fn feedback_of_others_lowers_the_suppression_rate_until_the_round_ends() {
    let (mut end, mut algorithm) = source();
    end.now = ms(200);
    send_feedback(&mut end, &mut algorithm, NEAR, SAID);
    // it became the limiting one by this report, and was none when it sent it
    assert_eq!(header(&mut end, &algorithm).suppression, RateCode::nearest(0.9 * coded(80e3)));
    send_feedback(&mut end, &mut algorithm, NEAR, SentMessage { rate: 20e3, ..SAID });
    assert_eq!(header(&mut end, &algorithm).suppression, RateCode::nearest(0.9 * coded(80e3)));
    send_feedback(&mut end, &mut algorithm, FAR, SentMessage { rate: 60e3, ..SAID });
    let lowest = RateCode::nearest(0.9 * coded(60e3));
    assert_eq!(header(&mut end, &algorithm).suppression, lowest);
    send_feedback(&mut end, &mut algorithm, THIRD, SentMessage { rate: 70e3, ..SAID });
    send_feedback(&mut end, &mut algorithm, THIRD, SentMessage { rate: 30e3, leave: true, ..SAID });
    assert_eq!(header(&mut end, &algorithm).suppression, lowest);
    end.run(&mut algorithm, ms(599));
    assert_eq!(header(&mut end, &algorithm).round, 0);
    end.run(&mut algorithm, ms(600));
    let next = header(&mut end, &algorithm);
    assert_eq!((next.round, next.suppression), (1, RateCode::MAX));
    assert_eq!(notes(&end, "round").len(), 1);
}

/// [RFC4654 §3.4], T = 600 ms at first, and 624 ms later, because packets are 100 ms apart and R_max = 101 ms is said
/// as 104 ms: with the first word after T, at 2T without.
#[test]
fn a_round_waits_for_somebody_to_speak() {
    let (mut end, mut algorithm) = source();
    let quiet = |end: &mut StreamBench, algorithm: &mut Sender, at| {
        end.run(algorithm, at);
        header(end, algorithm).round
    };
    end.now = ms(200);
    send_feedback(&mut end, &mut algorithm, NEAR, SAID);
    assert_eq!(quiet(&mut end, &mut algorithm, ms(600)), 1);
    // the limiting receiver's words do not count
    for at in [700, 800, 900, 1000, 1100, 1200, 1300] {
        end.run(&mut algorithm, ms(at));
        send_feedback(&mut end, &mut algorithm, NEAR, SAID);
    }
    assert_eq!(quiet(&mut end, &mut algorithm, ms(1399)), 1);
    send_feedback(&mut end, &mut algorithm, FAR, SAID);
    assert_eq!(header(&mut end, &algorithm).round, 2);
    // the next ends 1248 ms later
    for at in (1500..2600).step_by(100) {
        end.run(&mut algorithm, ms(at));
        send_feedback(&mut end, &mut algorithm, NEAR, SAID);
    }
    assert_eq!(quiet(&mut end, &mut algorithm, ms(2646)), 2);
    assert_eq!(quiet(&mut end, &mut algorithm, ms(2647)), 3);
}

/// [RFC4654 §3.4, §4.5]: T = 6·R_max at both ends. Packets say 130 ms as 136 ms, so that receivers draw their timers
/// from 816 ms; one in five is above 98 % of T, and would be cancelled by a round of 780 ms.
#[test]
fn a_round_lasts_as_long_as_the_timers_that_receivers_draw() {
    let (mut end, mut algorithm) = source();
    end.now = ms(300);
    send_feedback(&mut end, &mut algorithm, NEAR, SentMessage { rate: 1e6, age_ms: 130, ..SAID });
    let messages = header(&mut end, &algorithm).r_max;
    assert_eq!((algorithm.r_max_s(), messages.secs()), (0.13, 0.136));
    end.run(&mut algorithm, ms(815));
    assert_eq!(header(&mut end, &algorithm).round, 0);
    end.run(&mut algorithm, ms(816));
    assert_eq!(header(&mut end, &algorithm).round, 1);
}

/// [RFC4654 §3.4]: feedback for the current round lowers X_supp; what was said in the last one was still under way. It
/// may limit the group nevertheless.
#[test]
fn a_late_word_of_the_last_round_silences_nobody_in_this_one() {
    let (mut end, mut algorithm) = source();
    end.now = ms(200);
    send_feedback(&mut end, &mut algorithm, NEAR, SAID);
    end.run(&mut algorithm, ms(600));
    send_feedback(&mut end, &mut algorithm, FAR, SentMessage { rate: 30e3, rounds_ago: 1, ..SAID });
    assert_eq!(algorithm.limiting(), Some(FAR));
    let now = header(&mut end, &algorithm);
    assert_eq!((now.round, now.suppression), (1, RateCode::MAX));
    send_feedback(&mut end, &mut algorithm, THIRD, SentMessage { rate: 28e3, ..SAID });
    assert_eq!(header(&mut end, &algorithm).suppression, RateCode::nearest(0.9 * coded(28e3)));
}

/// [RFC4654 §3.2]
#[test]
fn the_maximum_round_trip_time_rises_at_once_and_decays_by_a_tenth_per_round() {
    let (mut end, mut algorithm) = source();
    // a rate so high that the time between packets does not matter: 1 Mbit/s, 8 ms
    let fast = |end: &mut StreamBench, algorithm: &mut Sender, age_ms| {
        for endpoint in [NEAR, FAR] {
            send_feedback(
                end,
                algorithm,
                endpoint,
                SentMessage { rate: 1e6, age_ms, have_loss: false, ..SAID },
            );
        }
    };
    end.now = ms(500);
    fast(&mut end, &mut algorithm, 130);
    near(algorithm.r_max_s(), 0.13);
    // a round with a greater one does not decay: it ends at 6 · 136 ms, as packets say it
    end.run(&mut algorithm, ms(816));
    near(algorithm.r_max_s(), 0.13);
    fast(&mut end, &mut algorithm, 40);
    end.run(&mut algorithm, ms(1632));
    near(algorithm.r_max_s(), 0.117);
    // R_peak holds it, after 6 · 120 ms
    fast(&mut end, &mut algorithm, 110);
    end.run(&mut algorithm, ms(1632 + 720));
    near(algorithm.r_max_s(), 0.11);
}

/// [RFC4654 §3.2]: at 20 kbit/s, 400 ms and a granularity of 1 ms.
#[test]
fn the_maximum_round_trip_time_covers_the_time_between_packets() {
    let (mut end, mut algorithm) = source();
    end.now = ms(200);
    send_feedback(&mut end, &mut algorithm, NEAR, SentMessage { rate: 20e3, ..SAID });
    end.run(&mut algorithm, ms(600));
    near(algorithm.r_max_s(), 8000.0 / coded(20e3) + 0.001);
    assert!(header(&mut end, &algorithm).r_max.secs() >= algorithm.r_max_s());
}

/// [RFC4654 §3.3]: R_max = 100 ms, so 400 ms, 1 s, and 1 s again. Rounds without a word would change R_max: they are
/// long here.
#[test]
fn silence_of_the_limiting_receiver_halves_the_rate_and_then_ends_its_office() {
    let params = Params { initial_rtt: Duration::from_millis(100), round: 1000.0, ..Params::default() };
    let begin = || {
        let mut end = StreamBench::new(SOURCE);
        let mut algorithm = Sender::new(&params, PACKET);
        end.cx(|cx| algorithm.on_start(cx));
        end.now = ms(200);
        send_feedback(&mut end, &mut algorithm, NEAR, SAID);
        (end, algorithm)
    };
    let x = coded(80e3);
    // chosen at 200 ms: until 1200 ms it is too young, and then it is gone, and nobody was heard for a second
    let (mut end, mut algorithm) = begin();
    end.run(&mut algorithm, ms(1199));
    near(rate(&mut end, &algorithm), x);
    end.run(&mut algorithm, ms(1200));
    assert_eq!(algorithm.limiting(), None);
    near(rate(&mut end, &algorithm), x / 2.0);
    end.run(&mut algorithm, ms(2199));
    near(rate(&mut end, &algorithm), x / 2.0);
    end.run(&mut algorithm, ms(2200));
    near(rate(&mut end, &algorithm), x / 4.0);
    assert_eq!(end.meter.count(Count::Episodes), 2);
    // heard at 1300 ms, when it is old enough: halved once at 1700 ms, gone at 2300 ms
    let (mut end, mut algorithm) = begin();
    for at in [600, 1000, 1300] {
        end.run(&mut algorithm, ms(at));
        send_feedback(&mut end, &mut algorithm, NEAR, SAID);
    }
    end.run(&mut algorithm, ms(1699));
    near(rate(&mut end, &algorithm), x);
    end.run(&mut algorithm, ms(1700));
    near(rate(&mut end, &algorithm), x / 2.0);
    end.run(&mut algorithm, ms(2299));
    assert_eq!((algorithm.limiting(), rate(&mut end, &algorithm)), (Some(NEAR), x / 2.0));
    end.run(&mut algorithm, ms(2300));
    assert_eq!((algorithm.limiting(), rate(&mut end, &algorithm)), (None, x / 4.0));
    // the next receiver that reports becomes the CLR, as after a leave
    send_feedback(&mut end, &mut algorithm, FAR, SentMessage { rate: 1e6, ..SAID });
    assert_eq!(algorithm.limiting(), Some(FAR));
    end.run(&mut algorithm, ms(2600));
    near(rate(&mut end, &algorithm), x / 4.0);
}

/// [RFC4654 §3.3]: 1000 bytes in 8 seconds are 1000 bit/s.
#[test]
fn the_rate_is_never_below_one_packet_in_eight_seconds() {
    let (mut end, mut algorithm) = source();
    end.run(&mut algorithm, ms(600_000));
    assert_eq!(algorithm.allowance().rate, Rate::from_bps(1000));
    send_feedback(&mut end, &mut algorithm, NEAR, SentMessage { rate: 100.0, ..SAID });
    assert_eq!(algorithm.allowance().rate, Rate::from_bps(1000));
}

/// [RFC4654 §3.5]
#[test]
fn packets_bring_back_timestamps_in_the_order_of_need() {
    let (mut end, mut algorithm) = source();
    let known = SentMessage { rate: 200e3, ..SAID };
    let unknown = SentMessage { rate: 300e3, have_rtt: false, age_ms: 100, ..SAID };
    end.now = ms(200);
    send_feedback(&mut end, &mut algorithm, NEAR, SAID);
    send_feedback(&mut end, &mut algorithm, FAR, known);
    send_feedback(&mut end, &mut algorithm, THIRD, unknown);
    end.now = ms(230);
    let next = |end: &mut StreamBench, algorithm: &mut Sender| {
        let echo = send(end, algorithm).echo.expect("a timestamp");
        (echo.endpoint, echo.clr)
    };
    // the new limiting one, who has no round-trip time, who has one, and then the limiting one for ever
    let echoed: Vec<_> = (0..5).map(|_| next(&mut end, &mut algorithm)).collect();
    assert_eq!(echoed, [(NEAR, true), (THIRD, false), (FAR, false), (NEAR, true), (NEAR, true)]);
    // it lacks a round-trip time: it goes before the others, once a report
    send_feedback(&mut end, &mut algorithm, NEAR, SentMessage { have_rtt: false, ..SAID });
    send_feedback(&mut end, &mut algorithm, THIRD, unknown);
    let echoed: Vec<_> = (0..3).map(|_| next(&mut end, &mut algorithm)).collect();
    assert_eq!(echoed, [(NEAR, true), (THIRD, false), (NEAR, true)]);
    // once per round it goes first in any case
    end.now = ms(230 + 625);
    send_feedback(&mut end, &mut algorithm, THIRD, unknown);
    assert_eq!(next(&mut end, &mut algorithm), (NEAR, true));
    assert_eq!(next(&mut end, &mut algorithm), (THIRD, false));
    // the time that it was held is added
    send_feedback(&mut end, &mut algorithm, NEAR, SAID);
    end.now = ms(855 + 45);
    assert_eq!(
        send(&mut end, &mut algorithm).echo,
        Some(Echo { endpoint: NEAR, tr: Millis(900), clr: true })
    );
}

#[test]
fn what_is_stale_or_wrong_is_ignored_and_changes_nothing() {
    let (mut end, mut algorithm) = source();
    end.now = ms(300);
    send_feedback(&mut end, &mut algorithm, NEAR, SAID);
    // two rounds on, at 600 and 600 + 2 · 606 ms; the limiting one is heard meanwhile
    for at in [600, 900, 1200, 1500, 1900] {
        end.run(&mut algorithm, ms(at));
        send_feedback(&mut end, &mut algorithm, NEAR, SAID);
    }
    assert_eq!(header(&mut end, &algorithm).round, 2);
    let state = |end: &mut StreamBench, algorithm: &Sender| {
        (header(end, algorithm), rate(end, algorithm), algorithm.limiting(), algorithm.r_max_s())
    };
    let before = state(&mut end, &algorithm);
    let low = SentMessage { rate: 10e3, ..SAID };
    let stale = SentMessage { rounds_ago: 2, ..low };
    let early = SentMessage { age_ms: 1901, ..low };
    let future = SentMessage { age_ms: u64::from(u32::MAX), ..low };
    for (i, messages) in
        [stale, early, future, SentMessage { rounds_ago: 255, ..low }].into_iter().enumerate()
    {
        send_feedback(&mut end, &mut algorithm, FAR, messages);
        assert_eq!(end.meter.count(Count::Ignored), i as u64 + 1);
        assert_eq!(state(&mut end, &algorithm), before);
    }
    for words in [[0; 4], [0, 8, 1, 0], [0, 0, 0, 0], [0, 8 | 1 << 12, 0, 0], [0, 8 | 1 << 32, 0, 0]] {
        let feedback = Feedback { from: FAR, sent_at: end.now, label: Label(words) };
        end.cx(|cx| algorithm.on_feedback(&feedback, cx));
        assert_eq!(state(&mut end, &algorithm), before);
    }
    assert_eq!(end.meter.count(Count::Ignored), 9);
    // of the round before, a word counts
    send_feedback(&mut end, &mut algorithm, FAR, SentMessage { rounds_ago: 1, ..low });
    assert_eq!(algorithm.limiting(), Some(FAR));
}

/// S000-60: both classes, each with what it reports as a share of the rate.
#[test]
fn feedback_of_the_limiting_receiver_and_of_others_is_told_apart() {
    let (mut end, mut algorithm) = source();
    end.now = ms(200);
    send_feedback(&mut end, &mut algorithm, NEAR, SAID);
    send_feedback(&mut end, &mut algorithm, NEAR, SAID);
    send_feedback(&mut end, &mut algorithm, FAR, SentMessage { rate: 40e3, ..SAID });
    send_feedback(&mut end, &mut algorithm, NEAR, SentMessage { rate: 80e3, ..SAID });
    let values = |name: &str| notes(&end, name).iter().map(|note| note.value).collect::<Vec<_>>();
    assert_eq!(values("feedback_clr").len(), 1);
    let others = values("feedback_other");
    near(others[0], coded(80e3) / 80e3);
    near(others[1], coded(40e3) / coded(80e3));
    near(others[2], coded(80e3) / coded(40e3));
}

// ---- receiver ----

/// A receiver, and the source's side of the conversation.
struct Path {
    end: StreamBench,
    algorithm: Receiver,
    seq: u64,
    header: Header,
}

impl Path {
    /// A receiver that has heard nothing; packets say R_max = 104 ms, round 1, and that nobody has spoken.
    fn new(params: &Params) -> Self {
        let header = Header {
            ts: Millis(0),
            suppression: RateCode::MAX,
            r_max: RttCode::at_least(0.104),
            round: 1,
            echo: None,
        };
        Self { end: StreamBench::new(NEAR), algorithm: Receiver::new(params, PACKET), seq: 0, header }
    }

    /// The next packet arrives now, sent 20 ms ago.
    fn data(&mut self) -> Vec<Report> {
        self.packet(false)
    }

    fn packet(&mut self, marked: bool) -> Vec<Report> {
        let ts = Millis(Millis::of(self.end.now).0.wrapping_sub(20));
        let label = Header { ts, ..self.header }.encode();
        let data = self.arrival(label, marked);
        self.seq += 1;
        let algorithm = &mut self.algorithm;
        listen(&mut self.end, |cx| algorithm.on_data(&data, cx))
    }

    fn arrival(&self, label: Label, marked: bool) -> Arrival {
        let sent_at = self.end.now - Duration::from_millis(20);
        Arrival { seq: self.seq, size: PACKET, bytes_before: self.seq * 1000, sent_at, marked, label }
    }

    /// `n` packets, one every `gap_ms`; the first comes after that time.
    fn packets(&mut self, n: u64, gap_ms: u64) -> Vec<Report> {
        let mut reports = Vec::new();
        for _ in 0..n {
            reports.extend(self.wait(gap_ms));
            reports.extend(self.data());
        }
        reports
    }

    /// Time passes, deadlines are kept.
    fn wait(&mut self, span_ms: u64) -> Vec<Report> {
        let (until, mut reports) = (self.end.now + Duration::from_millis(span_ms), Vec::new());
        while self.algorithm.wake() <= until {
            self.end.now = self.algorithm.wake().max(self.end.now);
            let algorithm = &mut self.algorithm;
            reports.extend(listen(&mut self.end, |cx| algorithm.on_timer(cx)));
        }
        self.end.now = until;
        reports
    }

    /// `packets` packets are lost, `gap_ms` before the next arrives, which shows it.
    fn loss(&mut self, packets: u64, gap_ms: u64) -> Vec<Report> {
        let mut reports = self.wait(gap_ms);
        let first_missing = self.seq;
        self.seq += packets;
        let gap = Gap { first_missing, packets, before: self.arrival(self.header.encode(), false) };
        let algorithm = &mut self.algorithm;
        reports.extend(listen(&mut self.end, |cx| algorithm.on_loss(&gap, cx)));
        reports.extend(self.data());
        reports
    }

    /// A packet brings back this receiver's timestamp: its round-trip time is `rtt_ms`.
    fn measure(&mut self, rtt_ms: u64, clr: bool) -> Vec<Report> {
        let tr = Millis(Millis::of(self.end.now).0.wrapping_sub(rtt_ms as u32));
        self.header.echo = Some(Echo { endpoint: NEAR, tr, clr });
        let reports = self.data();
        self.header.echo = None;
        reports
    }
}

/// A receiver that has got a packet every 8 ms for a second and more, 1 Mbit/s, and has measured 100 ms.
fn steady() -> Path {
    steady_with(&Params::default())
}

fn steady_with(params: &Params) -> Path {
    let mut path = Path::new(params);
    path.end.now = ms(1000);
    path.data();
    path.packets(149, 8);
    path.wait(8);
    path.measure(100, false);
    path
}

/// [RFC4654 §4.1, §3.6]: 2 · 8000 bit/104 ms after one packet, twice 1 Mbit/s after many.
#[test]
fn without_losses_a_receiver_could_take_twice_what_arrives() {
    let mut path = Path::new(&Params::default());
    path.end.now = ms(1000);
    path.data();
    near(path.algorithm.rtt_s(), 0.104);
    near(path.algorithm.calculated(), 2.0 * 8000.0 / 0.104);
    path.packets(50, 8);
    near(path.algorithm.calculated(), 2e6);
    assert_eq!(path.algorithm.loss_event_rate(), 0.0);
}

/// [RFC4654 §5.6]: X_recv = 1 Mbit/s, R = 0.1 s: l₀ = (1e5)²/(1.5·8000²) = 104.17, p = 0.0096.
/// √(2p/3) = 0.08, 12·√(3p/8)·p·(1 + 32p²) = 0.72·0.0096·1.00294912 = 0.00693238: X = 8000/(0.1·0.08693238) = 920 255.
#[test]
fn the_first_loss_is_taken_for_the_rate_at_which_it_came() {
    let mut path = steady();
    path.loss(1, 16);
    assert!(
        (path.algorithm.loss_event_rate() - 0.0096).abs() < 1e-12,
        "{}",
        path.algorithm.loss_event_rate()
    );
    assert!((path.algorithm.calculated() - 920_255.0).abs() < 1.0, "{}", path.algorithm.calculated());
    // 90 ms later the loss belongs to the same event, 110 ms later to the next: I₁ = 14, (14 + 104.17)/2
    let mut next = Path { end: StreamBench::new(NEAR), algorithm: path.algorithm.clone(), ..path };
    next.end.now = path.end.now;
    path.packets(10, 8);
    path.loss(1, 16);
    assert!(
        (path.algorithm.loss_event_rate() - 0.0096).abs() < 1e-12,
        "{}",
        path.algorithm.loss_event_rate()
    );
    next.packets(12, 8);
    next.loss(1, 16);
    assert!((next.algorithm.loss_event_rate() - 2.0 / (14.0 + 1e10 / 9.6e7)).abs() < 1e-9);
}

/// [RFC4654 §5.6]: computed with R_max = 104 ms, measured 52 ms: a quarter of the packets.
#[test]
fn the_first_interval_shrinks_when_the_round_trip_time_becomes_known() {
    let mut path = Path::new(&Params::default());
    path.end.now = ms(1000);
    path.data();
    path.packets(149, 8);
    path.loss(1, 16);
    let before = path.algorithm.loss_event_rate();
    near(before, 9.6e7 / (1e6 * 0.104 * 1e6 * 0.104));
    path.wait(8);
    path.measure(52, false);
    near(path.algorithm.loss_event_rate(), 4.0 * before);
    // only the first measurement does so
    path.wait(8);
    path.measure(26, false);
    near(path.algorithm.loss_event_rate(), 4.0 * before);
}

/// [RFC4654 §5.1]
#[test]
fn a_congestion_mark_is_a_loss_event() {
    let mut path = steady();
    path.wait(8);
    path.packet(true);
    assert!((path.algorithm.loss_event_rate() - 0.0096).abs() < 1e-12);
    assert_eq!(notes(&path.end, "loss_event").len(), 1);
}

/// [RFC4654 §5.5]
#[test]
fn discounting_is_off_unless_asked_for() {
    let quiet = |params: &Params| {
        let mut path = steady_with(params);
        path.loss(1, 16);
        path.packets(998, 8);
        path.algorithm.loss_event_rate()
    };
    // I₀ = 1000, I₁ = l₀ = 104.17: (I₀ + I₁)/2, and with DF = max(2·l₀/I₀, 0.5) = 0.5 (I₀ + l₀/2)/1.5
    let l0 = 1e10 / 9.6e7;
    near(quiet(&Params::default()), 2.0 / (1000.0 + l0));
    near(quiet(&Params { discounting: true, ..Params::default() }), 1.5 / (1000.0 + l0 / 2.0));
}

/// [RFC4654 §4.3.2]: q = 0.5 for the others, 0.9 for the one that limits the group.
#[test]
fn measurements_count_less_for_the_limiting_receiver() {
    for (clr, expected) in [(false, 0.15), (true, 0.11)] {
        let mut path = steady();
        path.wait(8);
        path.measure(200, clr);
        near(path.algorithm.rtt_s(), expected);
        // the way here takes no longer than before: the last measurement, not the mean
        path.wait(8);
        path.data();
        near(path.algorithm.rtt_s(), 0.2);
    }
}

/// [RFC4654 §4.5]: at most a round of 6 · 104 ms; the timer is drawn again in each.
#[test]
fn a_round_makes_a_receiver_speak_at_most_once() {
    let mut path = steady();
    let timers = notes(&path.end, "feedback_timer").len();
    path.header.round = 2;
    let reports = path.packets(100, 8);
    assert_eq!(notes(&path.end, "feedback_timer").len(), timers + 1);
    assert_eq!(reports.len(), 1);
    let report = reports[0];
    assert_eq!((report.round, report.have_rtt, report.have_loss, report.leave), (2, true, false, false));
    assert_eq!(report.rate, RateCode::nearest(2e6));
    let waited = notes(&path.end, "feedback_timer")[timers];
    assert!(waited.value <= 0.624);
    // its timestamps: now, and when the newest packet was sent and for how long it had that one
    let reported_at = Millis::of(waited.at + Duration::from_secs_f64(waited.value));
    assert_eq!(report.tr, reported_at);
    assert!((20..=21).contains(&report.tr.since(report.ts)), "{report:?}");
}

#[test]
fn a_receiver_falls_silent_when_one_that_could_take_less_has_spoken() {
    let mut path = steady();
    path.header.round = 2;
    path.packets(1, 8);
    assert!(path.algorithm.timer().is_some());
    // the timer of the first round ended with the round, unless it had fired
    let before = path.end.meter.count(Count::Suppressed);
    path.header.suppression = RateCode::nearest(1.9e6);
    path.packets(1, 8);
    assert_eq!(path.algorithm.timer(), None);
    assert_eq!(path.end.meter.count(Count::Suppressed), before + 1);
    // and does not begin to wait in a round that is already below it
    path.header.round = 3;
    path.packets(1, 8);
    assert_eq!(path.algorithm.timer(), None);
    // one that is farther than all does: 200 ms against 104
    path.wait(8);
    path.measure(200, false);
    path.header.round = 4;
    path.packets(1, 8);
    assert!(path.algorithm.timer().is_some());
}

/// The rate at the beginning of the round counts too, so that a loss which all see at once does not make all speak.
#[test]
fn a_rate_that_falls_within_the_round_does_not_keep_the_timer_alive() {
    let mut path = steady();
    path.header.round = 2;
    path.packets(1, 8);
    let before = path.end.meter.count(Count::Suppressed);
    // from 2 Mbit/s to 0.92: below X_supp = 1.5 now, above it when the round began
    path.loss(1, 16);
    assert!(path.algorithm.calculated() < 1e6);
    assert!(path.algorithm.timer().is_some());
    path.header.suppression = RateCode::nearest(1.5e6);
    path.packets(1, 8);
    assert_eq!((path.algorithm.timer(), path.end.meter.count(Count::Suppressed)), (None, before + 1));
}

/// [RFC4654 §4.5]: the timer stands still while data stay away for longer than R_max = 104 ms.
#[test]
fn a_timer_waits_for_late_data() {
    let mut path = steady();
    path.header.round = 2;
    path.packets(1, 8);
    let due = path.algorithm.timer().expect("it waits");
    assert!(due > path.end.now + Duration::from_millis(104), "drawn late enough for this test: {due}");
    assert!(path.wait(2000).is_empty());
    // 2000 ms without data are 1896 too many
    path.data();
    assert_eq!(path.algorithm.timer(), Some(due + Duration::from_millis(1896)));
    // R_max is 208 ms from now on: what remains doubles
    let remains = due + Duration::from_millis(1896) - path.end.now;
    path.header.r_max = RttCode::at_least(0.208);
    path.data();
    assert_eq!(path.algorithm.timer(), Some(path.end.now + remains * 2));
}

/// [RFC4654 §4.5]
#[test]
fn the_limiting_receiver_speaks_once_per_round_trip_and_is_not_suppressed() {
    let mut path = steady();
    path.header.suppression = RateCode::nearest(1e5);
    path.wait(8);
    // told that it is the one: it speaks at once, if its last word is a round-trip time old
    let mut reports = path.measure(100, true);
    reports.extend(path.packets(125, 8));
    let times: Vec<i32> = reports.windows(2).map(|pair| pair[1].tr.since(pair[0].tr)).collect();
    assert!((9..=11).contains(&reports.len()), "{}", reports.len());
    assert!(times.iter().all(|gap| (100..=101).contains(gap)), "{times:?}");
    // without data it says nothing
    assert!(path.wait(1000).len() <= 1);
    // another receiver is: it is silent
    path.header.echo = Some(Echo { endpoint: FAR, tr: Millis(0), clr: true });
    assert!(path.packets(125, 8).is_empty());
}

/// [RFC4654 §4]: 10 · 104 ms without data.
#[test]
fn after_a_long_silence_losses_are_forgotten() {
    let mut path = steady();
    path.loss(1, 16);
    path.packets(1, 1040);
    assert!(path.algorithm.loss_event_rate() > 0.0);
    path.packets(1, 1041);
    assert_eq!(path.algorithm.loss_event_rate(), 0.0);
    // a loss that ends the silence counts
    path.loss(5, 2000);
    assert!(path.algorithm.loss_event_rate() > 0.0);
}

/// [RFC4654 §4.2]
#[test]
fn a_receiver_announces_that_it_leaves() {
    let mut path = steady();
    let algorithm = &mut path.algorithm;
    let reports = listen(&mut path.end, |cx| algorithm.on_stop(cx));
    assert_eq!(reports.iter().map(|report| report.leave).collect::<Vec<_>>(), [true]);
    // who has heard nothing has nothing to say
    let mut path = Path::new(&Params::default());
    let algorithm = &mut path.algorithm;
    assert!(listen(&mut path.end, |cx| algorithm.on_stop(cx)).is_empty());
}

/// [RFC4654 §4]: reports no less than its floor, and leaves when that has been too much for 2 seconds here.
#[test]
fn a_receiver_that_cannot_follow_its_floor_leaves() {
    let params = Params {
        min_reported_rate: Rate::from_mbps(5),
        leave_after: Duration::from_secs(2),
        ..Params::default()
    };
    let mut path = steady_with(&params);
    path.wait(8);
    path.measure(100, true);
    path.loss(1, 16);
    let reports = path.packets(240, 8);
    assert!(!reports.is_empty());
    for report in &reports {
        assert_eq!((report.rate, report.leave), (RateCode::nearest(5e6), false));
    }
    // for a round of 624 ms it says so, and then nothing more
    let reports = path.packets(90, 8);
    assert!(reports.iter().filter(|report| report.leave).count() >= 5, "{reports:?}");
    assert!(path.packets(300, 8).is_empty());
    assert_eq!(path.algorithm.wake(), Time::NEVER);
}

#[test]
fn what_no_source_would_write_is_ignored_and_what_was_overtaken_is_not_heard() {
    let mut path = steady();
    let before = path.algorithm.rtt_s();
    for words in [[0; 4], [1, 2, 3, 4], [u64::MAX; 4], [0, 9, 0, 0]] {
        let data = path.arrival(Label(words), false);
        path.seq += 1;
        let algorithm = &mut path.algorithm;
        listen(&mut path.end, |cx| algorithm.on_data(&data, cx));
    }
    assert_eq!(path.end.meter.count(Count::Ignored), 4);
    near(path.algorithm.rtt_s(), before);
    // a packet of an older round comes late: the timer of the current round stays
    path.header.round = 2;
    path.packets(1, 8);
    let due = path.algorithm.timer();
    assert!(due.is_some());
    path.header.round = 1;
    path.seq -= 3;
    path.data();
    assert_eq!(path.algorithm.timer(), due);
}

// ---- both ends ----

/// Over a path of 50 ms there and 30 ms back, without loss: the receiver learns its round-trip time, limits the group,
/// and the rate doubles until it is stopped.
#[test]
fn the_two_ends_find_each_other() {
    let (mut source_end, mut source) = source();
    let mut receiver_end = StreamBench::new(NEAR);
    let mut receiver = Receiver::new(&Params::default(), PACKET);
    // packets and words under way: when they arrive
    let mut data: Vec<(Time, Arrival)> = Vec::new();
    let mut words: Vec<(Time, Label)> = Vec::new();
    let (mut seq, mut next_send) = (0, Time::ZERO);
    for now_ms in 0..3000 {
        let now = ms(now_ms);
        (source_end.now, receiver_end.now) = (now, now);
        if source.wake() <= now {
            source_end.cx(|cx| source.on_timer(cx));
        }
        for (_, label) in words.extract_if(.., |(at, _)| *at <= now) {
            let feedback = Feedback { from: NEAR, sent_at: now, label };
            source_end.cx(|cx| source.on_feedback(&feedback, cx));
        }
        while next_send <= now {
            let sending = OutgoingPacket { seq, size: PACKET, bytes_before: seq * 1000 };
            let label = source_end.cx(|cx| source.stamp(&sending, cx));
            let arrival =
                Arrival { seq, size: PACKET, bytes_before: seq * 1000, sent_at: now, marked: false, label };
            data.push((now + Duration::from_millis(50), arrival));
            seq += 1;
            next_send += source.allowance().rate.time_for_floor(PACKET);
        }
        let mut reports = Vec::new();
        if receiver.wake() <= now {
            reports.extend(listen(&mut receiver_end, |cx| receiver.on_timer(cx)));
        }
        for (_, arrival) in data.extract_if(.., |(at, _)| *at <= now) {
            reports.extend(listen(&mut receiver_end, |cx| receiver.on_data(&arrival, cx)));
        }
        words.extend(reports.iter().map(|report| (now + Duration::from_millis(30), report.encode())));
    }
    assert_eq!(source.limiting(), Some(NEAR));
    assert!((receiver.rtt_s() - 0.08).abs() <= 0.002, "{}", receiver.rtt_s());
    assert!(source.allowance().rate > Rate::from_mbps(2), "{}", source.allowance().rate);
    assert_eq!(source_end.meter.count(Count::Ignored), 0);
}
