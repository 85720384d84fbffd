use contract::{
    Address, Arrival, Count, Cx, EndpointId, Feedback, FlowId, Gap, Label, Meter, NodeId, Note,
    OutgoingFeedback, OutgoingPacket, Outputs, Random, ReceiverAlgorithm, ReceiverCx, SenderAlgorithm,
};
use proptest::prelude::*;
use units::{Bytes, Duration, Time};

use super::endpoints::{
    AckResult, AckerField, DataHeader, LossRate, PacketRange, ReceiverReport, Record, ReportKind, Timeout,
    Window, slowness,
};
use super::*;

// ---- what an algorithm needs to run ----

/// One algorithm alone, with its outputs.
struct StreamBench {
    now: Time,
    me: EndpointId,
    random: Random,
    meter: Meter,
    out: Outputs,
}

impl StreamBench {
    fn new(me: EndpointId) -> Self {
        let mut out = Outputs::default();
        out.notes.probing = true;
        out.notes.events = true;
        Self { now: Time::ZERO, me, random: Random::new(1, "test", ""), meter: Meter::default(), out }
    }

    fn cx<T>(&mut self, call: impl FnOnce(&mut Cx<'_>) -> T) -> T {
        let me = Address { node: NodeId(0), endpoint: self.me };
        call(&mut Cx::new(self.now, me, FlowId(0), &mut self.random, &mut self.meter, &mut self.out))
    }

    fn notes(&self, name: &str) -> Vec<Note> {
        self.out.notes.pending.iter().filter(|note| note.name == name).copied().collect()
    }
}

/// A source, and what it sent.
struct Source {
    end: StreamBench,
    algorithm: Sender,
    sent: Vec<(Time, DataHeader)>,
}

impl Source {
    /// It started at time zero.
    fn new(params: &Params) -> Self {
        let (mut end, mut algorithm) = (StreamBench::new(EndpointId(0)), Sender::new(params, PACKET));
        end.cx(|cx| algorithm.on_start(cx));
        let mut source = Self { end, algorithm, sent: Vec::new() };
        source.send();
        source
    }

    /// One that elected `NEAR` at 100 ms, with a round-trip time of 100 ms, sent packet 1, and is patient.
    fn elected() -> Self {
        let mut source = Self::new(&Params { min_timeout: Duration::from_secs(10), ..Params::default() });
        source.at(100);
        source.send_feedback(NEAR, 0, 100, ReportKind::Dummy);
        source
    }

    /// Sends what may be sent, at once.
    fn send(&mut self) {
        while self.algorithm.allowance().window >= PACKET {
            let seq = self.sent.len() as u64;
            let sending = OutgoingPacket { seq, size: PACKET, bytes_before: seq * 1000 };
            let label = self.end.cx(|cx| self.algorithm.stamp(&sending, cx));
            self.sent.push((self.end.now, DataHeader::decode(label).expect("a data packet's label")));
        }
    }

    /// Follows deadlines up to and including `ms`.
    fn at(&mut self, ms: u64) {
        let until = self::ms(ms);
        while self.algorithm.wake() <= until {
            self.end.now = self.algorithm.wake();
            self.end.cx(|cx| self.algorithm.on_timer(cx));
            self.send();
        }
        self.end.now = until;
    }

    /// Gives the source a report of `from` now, about data sent `age_ms` ago.
    fn send_feedback(&mut self, from: EndpointId, p: u16, age_ms: u64, kind: ReportKind) {
        self.tell_about(from, p, self.end.now - Duration::from_millis(age_ms), kind);
    }

    fn tell_about(&mut self, from: EndpointId, p: u16, echo: Time, kind: ReportKind) {
        let label = ReceiverReport { echo, p, kind }.encode();
        let feedback = Feedback { from, sent_at: self.end.now, label };
        self.end.cx(|cx| self.algorithm.on_feedback(&feedback, cx));
        self.send();
    }

    /// The acker acknowledges `newest` and what `bitmap` says of the 31 before.
    fn ack(&mut self, newest: u64, bitmap: u32) {
        self.send_feedback(NEAR, 0, 100, ack(newest, bitmap));
    }

    fn w_and_t(&self) -> (f64, f64) {
        (self.algorithm.window().window(), self.algorithm.window().tokens())
    }

    fn named(&self) -> AckerField {
        self.sent.last().expect("a packet was sent").1.acker
    }

    fn ignored(&self) -> u64 {
        self.end.meter.count(Count::Ignored)
    }
}

/// A receiver, and the reports that it sent.
struct Hearer {
    end: StreamBench,
    algorithm: Receiver,
    answers: Vec<OutgoingFeedback>,
    reports: Vec<(Time, ReceiverReport)>,
}

impl Hearer {
    fn new(seed: u64) -> Self {
        let mut end = StreamBench::new(NEAR);
        end.random = Random::new(seed, "receiver", "");
        Self { end, algorithm: Receiver::new(&Params::default()), answers: Vec::new(), reports: Vec::new() }
    }

    fn listen(&mut self, call: impl FnOnce(&mut Receiver, &mut ReceiverCx<'_, '_>)) {
        let Self { end, algorithm, answers, reports } = self;
        let now = end.now;
        end.cx(|cx| call(algorithm, &mut ReceiverCx::new(cx, answers)));
        reports.extend(
            answers.drain(..).map(|answer| (now, ReceiverReport::decode(answer.label).expect("a report"))),
        );
    }

    /// Packet `seq` arrives now, 30 ms after it left; the `missing` before it do not.
    fn receive(&mut self, seq: u64, missing: u64, acker: AckerField, confirmed: Option<PacketRange>) {
        let sent_at = self.end.now - Duration::from_millis(30);
        let label = DataHeader { acker, confirmed }.encode();
        let data = Arrival { seq, size: PACKET, bytes_before: seq * 1000, sent_at, marked: false, label };
        if missing > 0 {
            let gap = Gap { first_missing: seq - missing, packets: missing, before: data };
            self.listen(|algorithm, cx| algorithm.on_loss(&gap, cx));
        }
        self.listen(|algorithm, cx| algorithm.on_data(&data, cx));
    }

    /// Follows deadlines up to and including `ms`.
    fn at(&mut self, ms: u64) {
        let until = self::ms(ms);
        while self.algorithm.wake() <= until {
            self.end.now = self.algorithm.wake();
            self.listen(|algorithm, cx| algorithm.on_timer(cx));
        }
        self.end.now = until;
    }

    fn suppressed(&self) -> u64 {
        self.end.meter.count(Count::Suppressed)
    }
}

const NEAR: EndpointId = EndpointId(1);
const FAR: EndpointId = EndpointId(2);
const PACKET: Bytes = Bytes::new(1000);
const ALL: u32 = u32::MAX;

fn ms(ms: u64) -> Time {
    Time::ZERO + Duration::from_millis(ms)
}

fn ack(newest: u64, bitmap: u32) -> ReportKind {
    ReportKind::Ack { newest, bitmap, leaving: false }
}

fn nak(first: u64, packets: u32) -> ReportKind {
    ReportKind::Nak(PacketRange { first, packets })
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-9
}

/// A window of W packets, with T tokens.
fn window(params: &Params, w: u64, t: u64) -> Window {
    let mut window = Window::new(&Params { ssthresh: 1e6, ..params.clone() });
    window.grow(w - 1, 0);
    (t..w).for_each(|_| window.send());
    assert_eq!((window.window(), window.tokens()), (w as f64, t as f64));
    window
}

// ---- window and tokens ----

#[test]
fn up_to_four_packets_each_acknowledged_one_adds_one_and_gives_two_tokens() {
    let mut window = Window::new(&Params::default());
    let mut seen = Vec::new();
    for _ in 0..3 {
        window.send();
        window.grow(1, 0);
        seen.push((window.window(), window.tokens()));
    }
    // 1, 0 → 2, 2 → 2, 1 → 3, 3 → 3, 2 → 4, 4
    assert_eq!(seen, [(2.0, 2.0), (3.0, 3.0), (4.0, 4.0)]);
}

#[test]
fn beyond_four_packets_the_window_grows_by_a_packet_per_window() {
    let params = Params { tokens: Tokens::Conserved, ..Params::default() };
    let mut window = Window::new(&params);
    window.grow(2, 0);
    (0..3).for_each(|_| window.send());
    assert_eq!((window.window(), window.tokens()), (3.0, 0.0));
    // W = 3, N = 2: D = 1 → W = 4, T = 2; N = 1 → T = 2 + 1 + 1/4, W = 4 + 1/4
    window.grow(2, 0);
    assert_eq!((window.window(), window.tokens()), (4.25, 3.25));
    // 1/4.25 = 0.235294…
    window.send();
    window.grow(1, 0);
    assert!(close(window.window(), 4.485_294_117_647_059) && close(window.tokens(), 3.485_294_117_647_059));
}

#[test]
fn there_are_never_more_tokens_than_the_window() {
    let mut window = window(&Params::default(), 8, 7);
    window.grow(3, 0);
    assert_eq!(window.tokens(), window.window());
    window.return_token();
    assert_eq!(window.tokens(), window.window());
}

#[test]
fn a_loss_halves_the_window_and_takes_the_tokens_below_zero() {
    // T ← 1 − 10/2, W ← 10/2; then three acknowledged packets while the window stands still
    let granted = Params { tokens: Tokens::Granted, ..Params::default() };
    let mut it = window(&granted, 10, 1);
    it.halve(1, 1);
    assert_eq!((it.window(), it.tokens()), (5.0, -4.0));
    it.hold(3, 1);
    assert!(it.window() == 5.0 && close(it.tokens(), -4.0 + 3.0 * 1.2));

    // with their tokens given back: 1 − 5 + 1 + 1, and 3 + 1 more
    let conserved = Params { tokens: Tokens::Conserved, ..Params::default() };
    let mut it = window(&conserved, 10, 1);
    it.halve(1, 1);
    assert_eq!((it.window(), it.tokens()), (5.0, -2.0));
    it.hold(3, 1);
    assert_eq!((it.window(), it.tokens()), (5.0, 2.0));
}

#[test]
fn the_window_does_not_fall_below_one() {
    let mut it = window(&Params::default(), 3, 0);
    it.halve(0, 0);
    assert_eq!((it.window(), it.tokens()), (1.5, -1.5));
    it.halve(0, 0);
    assert_eq!((it.window(), it.tokens()), (1.0, -2.0));
}

proptest! {
    #[test]
    fn conserved_tokens_and_packets_in_flight_are_the_window(
        steps in prop::collection::vec((0u8..3, 1u64..4, 0u64..3), 1..300),
    ) {
        let mut window = Window::new(&Params { tokens: Tokens::Conserved, ..Params::default() });
        let mut in_flight = 0u64;
        for (kind, acked, lost) in steps {
            while window.tokens() + 1e-9 >= 1.0 {
                window.send();
                in_flight += 1;
            }
            let acked = acked.min(in_flight);
            let lost = lost.min(in_flight - acked);
            in_flight -= acked + lost;
            match kind {
                0 => window.grow(acked, lost),
                1 => window.hold(acked, lost),
                _ => window.halve(acked, lost),
            }
            let sum = window.tokens() + in_flight as f64;
            prop_assert!((sum - window.window()).abs() < 1e-6, "{} + {in_flight} ≠ {}", window.tokens(), window.window());
            // whatever happens, something is under way or may be sent
            prop_assert!(in_flight > 0 || window.tokens() + 1e-9 >= 1.0);
        }
    }
}

// ---- bitmaps ----

fn result(acked: u64, lost: u64, last_lost: Option<u64>) -> AckResult {
    AckResult { acked, lost, last_lost, ..AckResult::default() }
}

#[test]
fn an_acknowledgement_counts_what_no_earlier_one_did() {
    let mut record = Record::new(3);
    assert_eq!(record.on_ack(0, ALL), result(1, 0, None));
    // acknowledgements of 1 and 2 are lost on their way
    assert_eq!(record.on_ack(3, ALL), result(3, 0, None));
    // a copy, and an older one with nothing new
    assert!(record.on_ack(3, ALL).stale);
    assert!(record.on_ack(1, ALL).stale);
}

#[test]
fn an_older_acknowledgement_may_still_tell_of_a_packet() {
    let mut record = Record::new(3);
    record.on_ack(2, ALL);
    // 3 is missing when 4 is acknowledged: …1101; then 3's own comes late, reported when 3 was the newest
    assert_eq!(record.on_ack(4, !0b10), result(1, 0, None));
    assert_eq!(record.on_ack(3, ALL), result(1, 0, None));
    assert_eq!(record.on_ack(5, ALL), result(1, 0, None));
}

#[test]
fn three_later_packets_make_a_packet_lost_once() {
    let mut record = Record::new(3);
    record.on_ack(5, ALL);
    // 6 is missing; bit 1, 2, 3 as 7, 8, 9 are acknowledged
    assert_eq!(record.on_ack(7, !0b10), result(1, 0, None));
    assert_eq!(record.on_ack(8, !0b100), result(1, 0, None));
    assert_eq!(record.on_ack(9, !0b1000), result(1, 1, Some(6)));
    assert_eq!(record.on_ack(10, !0b1_0000), result(1, 0, None));
    // and it does not come back
    assert_eq!(record.on_ack(11, !0b10_0000), result(1, 0, None));
}

/// 6 is overtaken by five packets and is declared lost after three: from then on, six are waited for, until sixteen
/// packets are lost.
#[test]
fn an_overtaken_packet_is_waited_for_the_next_time() {
    let mut record = Record::new(3);
    record.on_ack(5, ALL);
    for (newest, missing) in [(7, 0b10), (8, 0b100), (9, 0b1000), (10, 0b1_0000), (11, 0b10_0000)] {
        assert!(!record.on_ack(newest, !missing).overtaken);
    }
    let late = record.on_ack(11, ALL);
    assert_eq!(late, AckResult { overtaken: true, ..AckResult::default() });
    // 12 is missing: lost at the sixth later one
    for newest in 13..18 {
        assert_eq!(record.on_ack(newest, !(1 << (newest - 12))), result(1, 0, None));
    }
    assert_eq!(record.on_ack(18, !(1 << 6)), result(1, 1, Some(12)));
    // fifteen more losses, one at a time
    for lost in 0..15 {
        let first = 19 + 40 * lost;
        record.on_ack(first - 1 + 32, ALL);
        (1..7).for_each(|later| {
            record.on_ack(first + 32 + later, !(1 << later));
        });
        record.on_ack(first + 32 + 7, !(1 << 7));
    }
    record.on_ack(1000, ALL);
    record.on_ack(1002, !0b10);
    record.on_ack(1003, !0b100);
    assert_eq!(record.on_ack(1004, !0b1000).last_lost, Some(1001));
}

#[test]
fn later_packets_need_not_be_consecutive() {
    let mut record = Record::new(3);
    record.on_ack(0, ALL);
    // 1, 3, 5 are missing; at 6 only 2, 4, 6 came after 1; at 8 only 6, 7, 8 after 5, and 4, 6, 7 after 3
    assert_eq!(record.on_ack(2, !0b10), result(1, 0, None));
    assert_eq!(record.on_ack(4, !0b1010), result(1, 0, None));
    assert_eq!(record.on_ack(6, !0b10_1010), result(1, 1, Some(1)));
    assert_eq!(record.on_ack(7, !0b101_0100), result(1, 1, Some(3)));
    assert_eq!(record.on_ack(8, !0b1010_1000), result(1, 1, Some(5)));
}

#[test]
fn losses_in_a_row_are_found_together() {
    let mut record = Record::new(3);
    record.on_ack(9, ALL);
    assert_eq!(record.on_ack(15, !0b11_1000), result(3, 3, Some(12)));
}

#[test]
fn packets_that_leave_the_record_unseen_are_lost_without_a_cut() {
    let mut record = Record::new(3);
    record.on_ack(9, ALL);
    // 10…109 were sent, 110 alone is acknowledged: 10…78 never come into the record of 79…110
    assert_eq!(record.on_ack(110, 1), result(1, 69, None));
    // 111, 112: three later ones; 31 packets, 79 and 80 have left before
    assert_eq!(record.on_ack(111, 0b11), result(1, 1, None));
    assert_eq!(record.on_ack(112, 0b111), result(1, 30, Some(109)));
    // a step within the record also gives up the packets that leave it
    let mut record = Record::new(3);
    record.on_ack(9, ALL);
    assert_eq!(record.on_ack(11, !0b10), result(1, 0, None));
    assert_eq!(record.on_ack(42, 1), result(1, 1, None));
}

#[test]
fn what_is_forgotten_is_neither_acknowledged_nor_lost() {
    let mut record = Record::new(3);
    record.on_ack(9, ALL);
    record.forget(20);
    assert_eq!(record.on_ack(15, 1), result(0, 0, None));
    assert_eq!(record.on_ack(22, 0b101), result(2, 0, None));
    assert_eq!(record.on_ack(24, 0b1_0111), result(2, 1, Some(21)));
}

proptest! {
    #[test]
    fn every_packet_is_acknowledged_or_lost_once(
        fates in prop::collection::vec((prop::bool::weighted(0.8), prop::bool::weighted(0.8)), 1..400),
    ) {
        let mut record = Record::new(3);
        let mut bitmap = ALL;
        let (mut acked, mut lost, mut newest) = (0, 0, 0);
        for (seq, (arrives, ack_arrives)) in fates.iter().enumerate() {
            bitmap = bitmap << 1 | u32::from(*arrives);
            if *arrives && *ack_arrives {
                let result = record.on_ack(seq as u64, bitmap);
                prop_assert!(!result.stale);
                acked += result.acked;
                lost += result.lost;
                newest = seq as u64 + 1;
            }
        }
        // the last few may be open, and what was lost before it was known to have arrived counts as lost
        prop_assert!(acked + lost <= newest && newest <= acked + lost + 32);
        let arrived = fates.iter().filter(|(arrives, _)| *arrives).count() as u64;
        prop_assert!(acked <= arrived);
    }
}

// ---- loss rate ----

#[test]
fn the_loss_rate_after_losses_is_the_closed_form() {
    // c = 500/65536 = 0.00763; p = 1 − (1 − c)^k: 500, 1000 − 500²/65536, …
    let mut loss = LossRate::new(500);
    let seen: Vec<u16> = (0..3)
        .map(|_| {
            loss.lost(1);
            loss.reported()
        })
        .collect();
    assert_eq!(seen, [500, 996, 1489]);
    let c: f64 = 500.0 / 65536.0;
    assert!((c - 0.00763).abs() < 1e-5);
    for k in [10, 91, 1000] {
        let mut loss = LossRate::new(500);
        loss.lost(k);
        let closed = 1.0 - (0..k).fold(1.0, |rest, _| rest * (1.0 - c));
        assert!((f64::from(loss.reported()) / 65536.0 - closed).abs() < 1.0 / 65536.0, "{k}: {closed}");
        // and n packets later it is (1 − c)^n of that
        (0..91).for_each(|_| loss.arrived());
        let later = (0..91).fold(closed, |p, _| p * (1.0 - c));
        assert!((f64::from(loss.reported()) / 65536.0 - later).abs() < 1.0 / 65536.0, "{k}: {later}");
    }
}

#[test]
fn a_small_loss_rate_is_measured_and_forgotten() {
    // one packet in 1000: 65.5; sixteen bits alone, rounded, would never fall below 65
    let mut loss = LossRate::new(500);
    let mut sum = 0.0;
    for i in 0..1_000_000 {
        if i % 1000 == 0 {
            loss.lost(1)
        } else {
            loss.arrived()
        }
        sum += f64::from(loss.reported());
    }
    assert!((sum / 1e6 - 65.5).abs() < 1.0, "{}", sum / 1e6);
    (0..3000).for_each(|_| loss.arrived());
    assert_eq!(loss.reported(), 0);
    // nothing but losses, far more than anybody counts
    loss.lost(u64::MAX);
    assert_eq!(loss.reported(), u16::MAX);
}

// ---- election ----

#[test]
fn slowness_is_worked_out_with_the_polynomial() {
    let half = Duration::from_millis(500);
    assert_eq!(slowness(half, 0), 0.0);
    // p = 1/16: √p = 1/4; 9p = 0.5625; 32p² = 0.125; 1 + 0.5625·1.125 = 1.6328125
    assert_eq!(slowness(half, 4096), 0.5 * 0.25 * 1.632_812_5);
    // p = 1/4: 1/2; 2.25; 2; 1 + 2.25·3 = 7.75
    assert_eq!(slowness(half, 16384), 0.5 * 0.5 * 7.75);
    // p = 1/64: 1/8; 0.140625; 0.0078125; 1 + 0.140625·1.0078125 = 1.1417236328125
    assert_eq!(slowness(half, 1024), 0.5 * 0.125 * 1.141_723_632_812_5);
}

#[test]
fn another_receiver_takes_over_below_three_quarters_of_the_throughput() {
    let mut source = Source::elected();
    source.at(2000);
    source.send_feedback(NEAR, 4096, 375, ack(1, ALL));
    // M·C = 0.5·M₁·0.75 = 0.375·M₁: as slow as that is not slow enough
    source.send_feedback(FAR, 4096, 500, nak(1, 1));
    assert_eq!(source.algorithm.acker(), Some(NEAR));
    source.send_feedback(FAR, 4096, 501, nak(1, 1));
    assert_eq!(source.algorithm.acker(), Some(FAR));
    let events: Vec<f64> = source.end.notes("acker").iter().map(|note| note.value).collect();
    assert_eq!(events, [1.0, 2.0]);
    // the former one, with a little more than 4/3 of the current slowness
    source.send_feedback(NEAR, 4096, 668, nak(1, 1));
    assert_eq!(source.algorithm.acker(), Some(FAR));
    source.send_feedback(NEAR, 4096, 669, nak(1, 1));
    assert_eq!(source.algorithm.acker(), Some(NEAR));
}

#[test]
fn without_losses_nobody_is_slower_and_the_first_loss_elects() {
    let mut source = Source::elected();
    source.at(1000);
    source.send_feedback(FAR, 0, 900, ReportKind::Dummy);
    assert_eq!(source.algorithm.acker(), Some(NEAR));
    source.send_feedback(FAR, 1, 20, nak(0, 1));
    assert_eq!(source.algorithm.acker(), Some(FAR));
    // it gets better: its own reports say so
    source.send_feedback(FAR, 0, 20, nak(0, 1));
    source.send_feedback(NEAR, 1, 20, nak(1, 1));
    assert_eq!(source.algorithm.acker(), Some(NEAR));
}

#[test]
fn a_switch_of_ackers_leaves_the_window_alone_and_both_are_heard() {
    let mut source = Source::elected();
    source.at(200);
    source.ack(1, ALL);
    source.ack(2, ALL);
    source.ack(3, ALL);
    assert_eq!((source.w_and_t(), source.sent.len()), ((4.0, 0.0), 8));
    source.send_feedback(FAR, 500, 90, nak(2, 1));
    assert_eq!((source.algorithm.acker(), source.w_and_t()), (Some(FAR), (4.0, 0.0)));
    // packets 4…7 named NEAR: its acknowledgements still count, and it is no acker for them
    source.ack(4, ALL);
    assert_eq!((source.w_and_t(), source.named()), ((4.25, 0.25), AckerField::Acker(FAR)));
    source.send_feedback(FAR, 500, 100, ack(8, !0b1110));
    assert_eq!((source.ignored(), source.sent.len()), (0, 10));
    // packets 9 and on named FAR: NEAR has no business with them
    let before = source.w_and_t();
    source.ack(9, ALL);
    assert_eq!((source.w_and_t(), source.ignored()), (before, 1));
}

// ---- start, growth, loss ----

#[test]
fn the_first_packet_calls_for_an_acker_and_the_first_word_elects() {
    let mut source = Source::new(&Params::default());
    assert_eq!(source.sent, [(ms(0), DataHeader { acker: AckerField::Elect, confirmed: None })]);
    assert_eq!(source.algorithm.wake(), ms(3000));
    source.at(70);
    source.send_feedback(NEAR, 0, 50, ReportKind::Dummy);
    assert_eq!((source.sent.len(), source.named()), (2, AckerField::Acker(NEAR)));
    assert_eq!(source.w_and_t(), (1.0, 0.0));
    // RTT 50 ms: 50 + 4·25
    assert_eq!(source.algorithm.wake(), ms(70 + 200));
    source.send_feedback(FAR, 0, 60, ReportKind::Dummy);
    assert_eq!((source.sent.len(), source.algorithm.acker()), (2, Some(NEAR)));
}

#[test]
fn packets_leave_in_bursts_as_tokens_come() {
    let mut source = Source::elected();
    let mut bursts = Vec::new();
    for newest in 1..=6 {
        source.at(100 + 100 * newest);
        let before = source.sent.len();
        source.ack(newest, ALL);
        bursts.push(source.sent.len() - before);
    }
    // W = 2, 3, 4, then 4 + 1/4, + 1/4.25, …: the fraction is not yet a packet
    assert_eq!(bursts, [2, 2, 2, 1, 1, 1]);
    assert!(close(source.w_and_t().0, 4.25 + 1.0 / 4.25 + 1.0 / (4.25 + 1.0 / 4.25)));
    let windows = source.end.notes("window");
    assert_eq!(windows.last().map(|note| note.value), Some(source.w_and_t().0 * 1000.0));
    assert_eq!(source.end.notes("tokens").last().map(|note| note.value), Some(source.w_and_t().1));
}

/// A source whose window is eight packets, all of them in flight: 21…28; 0…20 are acknowledged.
fn eight() -> Source {
    let params = Params { ssthresh: 8.0, ..Params::default() };
    let mut source = Source::new(&params);
    source.at(100);
    source.send_feedback(NEAR, 0, 100, ReportKind::Dummy);
    for newest in 1..=20 {
        source.at(100 + 10 * newest);
        source.ack(newest, ALL);
    }
    source
}

#[test]
fn a_loss_halves_once_and_the_window_stands_still_until_the_next_packet_is_acknowledged() {
    let mut source = eight();
    let (w, t) = source.w_and_t();
    let sent = source.sent.len() as u64;
    let in_flight = sent - 21;
    assert!(close(w, t + in_flight as f64) && t < 1.0 && in_flight >= 8, "{w} {t} {in_flight}");
    // 21 and 23 are lost; 22, 24, 25 arrive: 21 has three later ones
    source.ack(22, !0b10);
    source.ack(24, !0b1010);
    let (w, _) = source.w_and_t();
    source.ack(25, !0b1_0100);
    let (halved, t) = source.w_and_t();
    assert!(close(halved, w / 2.0) && t < 0.0);
    assert_eq!(source.end.meter.count(Count::Episodes), 1);
    // the next packet is not sent yet; 23 is found lost, and cuts nothing
    let next = source.sent.len() as u64;
    source.ack(26, !0b10_1000);
    source.ack(27, !0b101_0000);
    assert_eq!((source.w_and_t().0, source.end.meter.count(Count::Episodes)), (halved, 1));
    let bit = |age: u64| 1u32.checked_shl(age as u32).unwrap_or(0);
    let without = |newest: u64| !(bit(newest - 21) | bit(newest - 23));
    for newest in 28..next {
        source.ack(newest, without(newest));
        assert_eq!(source.w_and_t().0, halved, "packet {newest} was sent before the cut");
    }
    assert!(source.sent.len() as u64 > next, "tokens came back meanwhile");
    // feedback for the packet sent after the cut
    source.ack(next, without(next));
    assert!(source.w_and_t().0 > halved);
    assert_eq!(source.end.meter.count(Count::Episodes), 1);
    // a packet sent after the cut is lost: a new cut
    let end = source.sent.len() as u64;
    assert!(end > next + 1);
    let w = source.w_and_t().0;
    for (i, newest) in (next + 2..next + 5).enumerate() {
        assert!(newest < source.sent.len() as u64);
        source.ack(newest, without(newest) & !(1 << (i + 1)));
    }
    // below its threshold of eight it had grown by two meanwhile
    assert!(close(source.w_and_t().0, (w + 2.0) / 2.0));
    assert_eq!(source.end.meter.count(Count::Episodes), 2);
}

/// 21 is declared lost after three later packets, and arrives: the window is that before the halving.
#[test]
fn a_loss_that_was_none_gives_the_window_back() {
    let mut source = eight();
    source.ack(22, !0b10);
    source.ack(23, !0b100);
    let (w, _) = source.w_and_t();
    source.ack(24, !0b1000);
    assert!(close(source.w_and_t().0, w / 2.0));
    source.ack(24, ALL);
    assert!(close(source.w_and_t().0, w));
}

#[test]
fn old_copied_and_foreign_acknowledgements_are_ignored() {
    let mut source = eight();
    let before = (source.w_and_t(), source.sent.len());
    source.ack(20, ALL);
    source.ack(7, ALL);
    source.send_feedback(FAR, 0, 50, ack(21, ALL));
    assert_eq!(((source.w_and_t(), source.sent.len()), source.ignored()), (before, 3));
    // nor does anybody acknowledge what was not sent, echo what is to come, or say what means nothing
    source.ack(source.sent.len() as u64, ALL);
    source.tell_about(NEAR, 0, source.end.now + Duration::from_nanos(1), ack(21, ALL));
    source.send_feedback(FAR, 500, 50, nak(25, 1000));
    for words in [[0; 4], [1, 0, 0, 2], [u64::MAX; 4], [3, 0, 5, 0], [4, 0, 1, 0], [1 << 32 | 1, 0, 1, 1]] {
        let feedback = Feedback { from: FAR, sent_at: source.end.now, label: Label(words) };
        source.end.cx(|cx| source.algorithm.on_feedback(&feedback, cx));
    }
    assert_eq!(((source.w_and_t(), source.sent.len()), source.ignored()), (before, 12));
    assert_eq!(source.algorithm.acker(), Some(NEAR));
}

// ---- silence ----

#[test]
fn a_timeout_starts_over_and_two_in_a_row_call_for_another_acker() {
    let mut source = eight();
    let sent = source.sent.len();
    let (at, span) = (source.end.now, source.algorithm.wake() - source.end.now);
    source.at(at.as_nanos() / 1_000_000 + span.as_nanos() / 1_000_000 + 1);
    // one packet, W = 1, T = 0, still for the same acker, and twice the time
    assert_eq!((source.sent.len(), source.w_and_t()), (sent + 1, (1.0, 0.0)));
    assert_eq!((source.named(), source.sent[sent].0), (AckerField::Acker(NEAR), at + span));
    assert_eq!(source.algorithm.wake(), at + span + span * 2);
    source.at(5000);
    let calls: Vec<(Time, AckerField)> =
        source.sent[sent + 1..].iter().map(|(at, it)| (*at, it.acker)).collect();
    let second = at + span * 3;
    assert_eq!(calls, [(second, AckerField::Elect), (second + Duration::from_secs(3), AckerField::Elect)]);
    assert_eq!((source.algorithm.acker(), source.w_and_t()), (None, (1.0, 0.0)));
    assert_eq!(source.end.notes("acker").last().map(|note| note.value), Some(-1.0));
    assert_eq!(source.end.meter.count(Count::Timeouts), 2);

    source.send_feedback(FAR, 0, 100, ReportKind::Dummy);
    assert_eq!((source.named(), source.w_and_t()), (AckerField::Acker(FAR), (1.0, 0.0)));
}

#[test]
fn acknowledgements_from_before_a_timeout_move_no_tokens_but_show_that_the_acker_is_there() {
    let mut source = eight();
    let span = source.algorithm.wake() - source.end.now;
    let next = source.sent.len() as u64;
    source.at((source.algorithm.wake().as_nanos()).div_ceil(1_000_000));
    assert_eq!(source.end.meter.count(Count::Timeouts), 1);
    source.send_feedback(NEAR, 0, 300, ack(23, ALL));
    assert_eq!((source.w_and_t(), source.ignored()), ((1.0, 0.0), 0));
    assert!(source.algorithm.wake() - source.end.now < span * 2, "a sample ends the back-off");
    // the packet sent after it
    source.ack(next, ALL);
    assert_eq!(source.w_and_t().0, 2.0);
    // so a second timeout is the first again
    source.at((source.algorithm.wake().as_nanos()).div_ceil(1_000_000));
    assert_eq!((source.algorithm.acker(), source.end.meter.count(Count::Timeouts)), (Some(NEAR), 2));
}

#[test]
fn a_source_that_nobody_hears_calls_every_three_seconds() {
    let mut source = Source::new(&Params::default());
    source.at(30_000);
    let times: Vec<Time> = source.sent.iter().map(|(at, _)| *at).collect();
    assert_eq!(times, (0..=10).map(|i| ms(3000 * i)).collect::<Vec<_>>());
    assert!(source.sent.iter().all(|(_, stamp)| stamp.acker == AckerField::Elect));
    assert_eq!(source.end.meter.count(Count::Timeouts), 0);
}

#[test]
fn the_timeout_follows_rfc_6298() {
    let params = Params::default();
    let mut timeout = Timeout::new(&params);
    assert_eq!(timeout.span(), Duration::from_secs(3));
    timeout.sample(Duration::from_millis(100));
    // 100 + 4·50
    assert_eq!((timeout.span(), timeout.smoothed_s()), (Duration::from_millis(300), Some(0.1)));
    timeout.sample(Duration::from_millis(180));
    // RTTVAR = 3/4·50 + 1/4·80 = 57.5; SRTT = 7/8·100 + 1/8·180 = 110; 110 + 230
    assert_eq!(timeout.span(), Duration::from_millis(340));
    timeout.back_off();
    timeout.back_off();
    assert_eq!(timeout.span(), Duration::from_millis(1360));
    (0..100).for_each(|_| timeout.sample(Duration::from_millis(20)));
    assert_eq!(timeout.span(), params.min_timeout);
    (0..20).for_each(|_| timeout.back_off());
    assert_eq!(timeout.span(), params.max_timeout);
    timeout.restart();
    assert_eq!((timeout.span(), timeout.smoothed_s()), (Duration::from_secs(3), None));
}

#[test]
fn an_acker_that_leaves_is_replaced_at_once() {
    let mut source = eight();
    let sent = source.sent.len();
    // the leave of another receiver has no effect
    source.send_feedback(FAR, 0, 50, ReportKind::Ack { newest: 22, bitmap: ALL, leaving: true });
    assert_eq!((source.algorithm.acker(), source.sent.len()), (Some(NEAR), sent));
    // the acker's need not say anything else that is new
    source.send_feedback(NEAR, 0, 50, ReportKind::Ack { newest: 20, bitmap: ALL, leaving: true });
    assert_eq!((source.algorithm.acker(), source.sent.len()), (None, sent + 1));
    assert_eq!((source.named(), source.w_and_t()), (AckerField::Elect, (1.0, 0.0)));
    source.send_feedback(FAR, 0, 50, nak(21, 1));
    assert_eq!((source.named(), source.sent.len()), (AckerField::Acker(FAR), sent + 2));
}

// ---- NAKs and their confirmation ----

#[test]
fn each_nak_is_confirmed_by_one_data_packet() {
    let mut source = eight();
    source.send_feedback(FAR, 0, 50, nak(21, 2));
    source.send_feedback(FAR, 0, 50, nak(22, 1));
    source.send_feedback(FAR, 0, 50, nak(24, 1));
    source.send_feedback(EndpointId(3), 0, 50, nak(24, 1));
    let sent = source.sent.len();
    for newest in 21..25 {
        source.ack(newest, ALL);
    }
    let confirmed: Vec<PacketRange> =
        source.sent[sent..].iter().filter_map(|(_, stamp)| stamp.confirmed).collect();
    // 22 was confirmed together with 21; 24 is confirmed once
    assert_eq!(confirmed, [PacketRange { first: 21, packets: 2 }, PacketRange { first: 24, packets: 1 }]);
}

#[test]
fn a_nak_waits_up_to_fifty_milliseconds() {
    let mut waits = Vec::new();
    for seed in 0..400 {
        let mut hearer = Hearer::new(seed);
        hearer.at(100);
        hearer.receive(0, 0, AckerField::Acker(FAR), None);
        hearer.at(200);
        hearer.receive(3, 2, AckerField::Acker(FAR), None);
        assert!(hearer.reports.is_empty());
        hearer.at(1000);
        let [(at, report)] = hearer.reports[..] else { panic!("{:?}", hearer.reports) };
        assert_eq!(report.kind, nak(1, 2));
        // two lost, then one that arrived: 996 − 7.6
        assert_eq!(report.p, 989);
        // packet 3 left at 170 ms, and was held since 200 ms
        assert_eq!(at - report.echo, Duration::from_millis(30));
        waits.push((at - ms(200)).as_secs_f64());
    }
    let mean = waits.iter().sum::<f64>() / 400.0;
    assert!(waits.iter().all(|wait| (0.0..=0.05).contains(wait)));
    assert!((0.0235..0.0265).contains(&mean), "{mean}");
    assert!(waits.iter().any(|wait| *wait < 0.002) && waits.iter().any(|wait| *wait > 0.048));
}

#[test]
fn a_confirmed_nak_is_not_sent() {
    for (confirmed, sent) in [((1, 2), 0), ((0, 9), 0), ((1, 1), 1), ((2, 2), 1), ((5, 1), 1)] {
        let mut hearer = Hearer::new(7);
        hearer.at(100);
        hearer.receive(0, 0, AckerField::Acker(FAR), None);
        hearer.receive(3, 2, AckerField::Acker(FAR), None);
        hearer.receive(
            4,
            0,
            AckerField::Acker(FAR),
            Some(PacketRange { first: confirmed.0, packets: confirmed.1 }),
        );
        hearer.at(1000);
        assert_eq!((hearer.reports.len(), hearer.suppressed()), (sent, 1 - sent as u64), "{confirmed:?}");
    }
}

#[test]
fn a_call_for_an_acker_is_answered_once_after_a_wait_unless_somebody_else_did() {
    let mut hearer = Hearer::new(3);
    hearer.at(100);
    hearer.receive(0, 0, AckerField::Elect, None);
    hearer.receive(1, 0, AckerField::Elect, None);
    assert!(hearer.reports.is_empty() && hearer.algorithm.wake() <= ms(150));
    hearer.at(1000);
    let [(at, report)] = hearer.reports[..] else { panic!("{:?}", hearer.reports) };
    assert_eq!((report.kind, report.p, at - report.echo), (ReportKind::Dummy, 0, Duration::from_millis(30)));

    hearer.receive(2, 0, AckerField::Elect, None);
    hearer.receive(3, 0, AckerField::Acker(FAR), None);
    hearer.at(2000);
    assert_eq!((hearer.reports.len(), hearer.suppressed()), (1, 1));

    // a NAK answers as well
    hearer.receive(4, 0, AckerField::Elect, None);
    hearer.receive(6, 1, AckerField::Elect, None);
    hearer.at(3000);
    let kinds: Vec<ReportKind> = hearer.reports[1..].iter().map(|(_, report)| report.kind).collect();
    assert!(kinds.contains(&nak(5, 1)) && kinds.len() <= 2, "{kinds:?}");
}

#[test]
fn more_gaps_than_fit_are_not_all_reported() {
    let mut hearer = Hearer::new(1);
    hearer.at(100);
    for i in 0..100 {
        hearer.receive(2 * i, i.min(1), AckerField::Acker(FAR), None);
    }
    hearer.at(1000);
    assert_eq!((hearer.reports.len(), hearer.suppressed()), (63, 36));
}

// ---- the acker ----

#[test]
fn the_acker_acknowledges_every_packet_that_names_it_with_what_arrived() {
    let mut hearer = Hearer::new(1);
    hearer.at(100);
    hearer.receive(40, 0, AckerField::Acker(FAR), None);
    hearer.receive(41, 0, AckerField::Acker(NEAR), None);
    hearer.receive(43, 0, AckerField::Acker(NEAR), None);
    hearer.receive(45, 0, AckerField::Acker(NEAR), None);
    // late, and not yet given up
    hearer.receive(42, 0, AckerField::Acker(NEAR), None);
    hearer.receive(46, 0, AckerField::Acker(FAR), None);
    let acks: Vec<ReportKind> = hearer.reports.iter().map(|(_, report)| report.kind).collect();
    // what was sent before it joined does not count as missing
    assert_eq!(acks, [ack(41, ALL), ack(43, !0b10), ack(45, !0b1010), ack(45, !0b10)]);
    assert!(hearer.reports.iter().all(|(at, report)| *at - report.echo == Duration::from_millis(30)));
}

#[test]
fn a_leap_beyond_the_bitmap_leaves_one_bit() {
    let mut hearer = Hearer::new(1);
    hearer.at(100);
    hearer.receive(0, 0, AckerField::Acker(NEAR), None);
    hearer.receive(31, 30, AckerField::Acker(NEAR), None);
    hearer.receive(63, 31, AckerField::Acker(NEAR), None);
    let acks: Vec<ReportKind> = hearer.reports.iter().map(|(_, report)| report.kind).collect();
    assert_eq!(acks, [ack(0, ALL), ack(31, 1 << 31 | 1), ack(63, 1)]);
}

#[test]
fn only_the_acker_says_that_it_leaves() {
    for (named, kind) in [(NEAR, true), (FAR, false)] {
        let mut hearer = Hearer::new(1);
        hearer.listen(|algorithm, cx| algorithm.on_stop(cx));
        hearer.at(100);
        hearer.receive(7, 0, AckerField::Acker(NEAR), None);
        hearer.receive(8, 0, AckerField::Acker(named), None);
        hearer.reports.clear();
        hearer.at(150);
        hearer.listen(|algorithm, cx| algorithm.on_stop(cx));
        let words: Vec<ReportKind> = hearer.reports.iter().map(|(_, report)| report.kind).collect();
        let expected = ReportKind::Ack { newest: 8, bitmap: ALL, leaving: true };
        assert_eq!(words, if kind { vec![expected] } else { vec![] });
        assert!(
            hearer.reports.iter().all(|(_, report)| report.echo == ms(120)),
            "30 ms on its way, 50 ms held"
        );
    }
}

// ---- words ----

proptest! {
    #[test]
    fn words_come_back_as_they_were_said_and_nonsense_is_refused(
        endpoint in any::<u32>(), number in any::<u64>(), packets in 1u32.., p in any::<u16>(), echo in any::<u64>(),
        noise in any::<[u64; 4]>(),
    ) {
        let run = PacketRange { first: number, packets };
        for acker in [AckerField::Acker(EndpointId(endpoint)), AckerField::Elect] {
            for confirmed in [None, Some(run)] {
                let stamp = DataHeader { acker, confirmed };
                prop_assert_eq!(DataHeader::decode(stamp.encode()), Some(stamp));
            }
        }
        let bitmap = packets | 1;
        let acks = [true, false].map(|leaving| ReportKind::Ack { newest: number, bitmap, leaving });
        for kind in [acks[0], acks[1], ReportKind::Nak(run), ReportKind::Dummy] {
            let report = ReceiverReport { echo: Time::from_nanos(echo), p, kind };
            prop_assert_eq!(ReceiverReport::decode(report.encode()), Some(report));
        }
        // what is read is what would be written
        if let Some(stamp) = DataHeader::decode(Label(noise)) {
            prop_assert_eq!(stamp.encode(), Label(noise));
        }
        if let Some(report) = ReceiverReport::decode(Label(noise)) {
            prop_assert_eq!(report.encode(), Label(noise));
        }
    }
}
