use contract::{
    Address, Arrival, Count, Cx, EndpointId, Feedback, FlowId, Gap, Label, Meter, NodeId, Note,
    OutgoingFeedback, OutgoingPacket, Outputs, ParamTable, Random, ReceiverAlgorithm, ReceiverCx,
    SenderAlgorithm,
};
use proptest::prelude::*;
use units::{Bytes, Time};

use super::endpoints::{Accumulation, Announcement, Average, Finding, Frequency, Indication, Kind};
use super::*;

// ---- what an algorithm needs to run ----

/// One algorithm alone, with its outputs.
struct StreamBench {
    now: Time,
    me: EndpointId,
    random: Random,
    meter: Meter,
    out: Outputs,
    answers: Vec<OutgoingFeedback>,
}

impl StreamBench {
    fn new(me: EndpointId) -> Self {
        let mut out = Outputs::default();
        out.notes.probing = true;
        out.notes.events = true;
        let random = Random::new(1, "test", "");
        Self { now: Time::ZERO, me, random, meter: Meter::default(), out, answers: Vec::new() }
    }

    fn cx<T>(&mut self, call: impl FnOnce(&mut Cx<'_>) -> T) -> T {
        let me = Address { node: NodeId(0), endpoint: self.me };
        call(&mut Cx::new(self.now, me, FlowId(0), &mut self.random, &mut self.meter, &mut self.out))
    }

    /// Calls a receiver's algorithm; returns what it answered.
    fn listen(&mut self, call: impl FnOnce(&mut ReceiverCx<'_, '_>)) -> Vec<Indication> {
        let mut answers = std::mem::take(&mut self.answers);
        self.cx(|cx| call(&mut ReceiverCx::new(cx, &mut answers)));
        answers.drain(..).map(|answer| Indication::decode(answer.label).expect("a receiver's word")).collect()
    }

    /// Follows the deadlines of a source's algorithm up to and including `end`.
    fn run(&mut self, algorithm: &mut Sender, end: Time) {
        while algorithm.wake() <= end {
            self.now = algorithm.wake();
            self.cx(|cx| algorithm.on_timer(cx));
        }
        self.now = end;
    }

    fn notes(&self, name: &str) -> Vec<Note> {
        self.out.notes.pending.iter().filter(|note| note.name == name).copied().collect()
    }
}

const SOURCE: EndpointId = EndpointId(1);
const NEAR: EndpointId = EndpointId(2);
const FAR: EndpointId = EndpointId(3);
const PACKET: Bytes = Bytes::new(1000);

fn ms(ms: u64) -> Time {
    us(ms * 1000)
}

fn us(us: u64) -> Time {
    Time::ZERO + Duration::from_micros(us)
}

/// A source that started at time zero with a rate far from floor and cap.
fn source(params: &Params) -> (StreamBench, Sender) {
    let mut end = StreamBench::new(SOURCE);
    let params = Params { initial_rate: Rate::from_mbps(1), ..params.clone() };
    let mut algorithm = Sender::new(&params, PACKET);
    end.cx(|cx| algorithm.on_start(cx));
    (end, algorithm)
}

/// Gives the source an indication from `from` about a packet sent `age` ago.
fn report_finding(
    end: &mut StreamBench,
    algorithm: &mut Sender,
    from: EndpointId,
    kind: Kind,
    g: (f64, f64),
    trac: (f64, f64),
    age: Duration,
) {
    let label = Indication { kind, trigger_sent_at: end.now - age, g, trac }.encode();
    let feedback = Feedback { from, sent_at: end.now, label };
    end.cx(|cx| algorithm.on_feedback(&feedback, cx));
}

fn rate(algorithm: &Sender) -> f64 {
    algorithm.allowance().rate.as_bps_f64()
}

const RTT: Duration = Duration::from_millis(100);
const G: (f64, f64) = (800e3, 100e3);
const TRAC: (f64, f64) = (900e3, 20e3);

// ---- accumulation ----

/// 8 Mbit/s: a millisecond of lateness is a packet.
const ONE_PER_MS: f64 = 8e6;

fn on_control(acc: &mut Accumulation, sent: Time, transit: Duration) -> Finding {
    acc.on_control(sent, sent + transit, || ONE_PER_MS, |_| unreachable!("the form counts no arrivals"))
}

/// S004-01
#[test]
fn congestion_begins_above_two_packets_and_ends_below_one() {
    let mut acc = Accumulation::new(&Params::default(), PACKET);
    let found: Vec<Finding> = [10_000, 12_000, 12_001, 11_500, 11_000, 10_999]
        .iter()
        .enumerate()
        .map(|(i, transit)| on_control(&mut acc, ms(20 * i as u64), Duration::from_micros(*transit)))
        .collect();
    use Finding::{Begins, Clear, Ends, GoesOn};
    assert_eq!(found, [Clear, Clear, Begins, GoesOn, GoesOn, Ends]);
}

/// S004-02
#[test]
fn an_early_control_packet_resynchronises() {
    let mut acc = Accumulation::new(&Params::default(), PACKET);
    on_control(&mut acc, ms(0), Duration::from_millis(10));
    on_control(&mut acc, ms(20), Duration::from_millis(13));
    assert_eq!(acc.bytes(), 3000.0);
    assert_eq!(on_control(&mut acc, ms(40), Duration::from_millis(7)), Finding::Ends);
    assert_eq!(acc.bytes(), 0.0);
    assert_eq!(acc.baseline_ns(), Some(7_000_000));
    // as expected, to the nanosecond, is early enough
    on_control(&mut acc, ms(60), Duration::from_micros(7500));
    assert_eq!(acc.bytes(), 500.0);
    on_control(&mut acc, ms(80), Duration::from_millis(7));
    assert_eq!(acc.bytes(), 0.0);
}

/// How far above the truth the baseline ever is in a thousand epochs, in nanoseconds, under a queue that grows until
/// congestion is declared and drains until it is over, never emptying. A packet takes a million.
fn drift(params: &Params, step_packets: (f64, f64)) -> i64 {
    let mut acc = Accumulation::new(params, PACKET);
    let mut random = Random::new(3, "epochs", "");
    let base = 10_000_000;
    let (mut epochs, mut sent, mut waited, mut worst) = (0, Time::ZERO, 0, 0);
    on_control(&mut acc, sent, Duration::from_nanos(base));
    while epochs < 1000 {
        let step = (1e6 * random.uniform(step_packets.0, step_packets.1)) as u64;
        waited = if acc.is_congested() { waited.max(step) - step } else { waited + step };
        sent += Duration::from_millis(20);
        let found = on_control(&mut acc, sent, Duration::from_nanos(base + waited));
        epochs += i32::from(found == Finding::Ends);
        worst = worst.max(acc.baseline_ns().expect("synchronised") - base as i64);
    }
    worst
}

/// S004-03
#[test]
fn a_thousand_epochs_do_not_move_the_baseline_by_more_than_a_packet() {
    let carried = Params { early: Early::Residue, ..Params::default() };
    let printed = Params::default();
    let whole = Params { accumulation: Form::Packets, ..Params::default() };
    for step in [(0.01, 0.02), (0.1, 0.4), (0.5, 1.5)] {
        assert!(drift(&carried, step) <= 1_000_000, "{step:?}: {} ns", drift(&carried, step));
    }
    // read to the letter, an early packet forgets a residue that is still there
    assert!(drift(&printed, (0.1, 0.4)) > 100_000_000);
    // where a late control packet is a packet by itself, an epoch ends at an empty queue, and leaves no residue
    assert_eq!(drift(&whole, (0.1, 0.4)), 0);
}

/// S004-03: what is carried is what was left.
#[test]
fn the_end_of_an_epoch_carries_its_residue() {
    let mut acc = Accumulation::new(&Params::default(), PACKET);
    on_control(&mut acc, ms(0), Duration::from_millis(10));
    on_control(&mut acc, ms(20), Duration::from_millis(13));
    assert_eq!(on_control(&mut acc, ms(40), Duration::from_micros(10_600)), Finding::Ends);
    assert_eq!((acc.baseline_ns(), acc.bytes()), (Some(10_600_000), 600.0));
    on_control(&mut acc, ms(60), Duration::from_micros(10_900));
    assert!((acc.bytes() - 900.0).abs() < 1e-9);
}

#[test]
fn clocks_need_not_agree() {
    let mut acc = Accumulation::new(&Params::default(), PACKET);
    let sent = |i: u64| ms(5_000 + 20 * i);
    let counted = |_| 0.0;
    assert_eq!(acc.on_control(sent(0), ms(7), || ONE_PER_MS, counted), Finding::Clear);
    assert_eq!(acc.on_control(sent(1), ms(27 + 3), || ONE_PER_MS, counted), Finding::Begins);
    assert_eq!(acc.bytes(), 3000.0);
}

/// [MCA §2.2]: in − out, of which a late control packet is one. At 1 packet per ms, lateness above two packets contains
/// a third; below one packet it still contains the control packet.
#[test]
fn whole_packets_count_the_control_packet() {
    let mut acc = Accumulation::new(&Params { accumulation: Form::Packets, ..Params::default() }, PACKET);
    let found: Vec<(Finding, f64)> = [10_000, 10_001, 11_000, 12_000, 12_001, 10_500, 10_000]
        .iter()
        .enumerate()
        .map(|(i, transit)| {
            (on_control(&mut acc, ms(20 * i as u64), Duration::from_micros(*transit)), acc.bytes())
        })
        .collect();
    use Finding::{Begins, Clear, Ends, GoesOn};
    let wanted =
        [(Clear, 0.0), (Clear, 1e3), (Clear, 1e3), (Clear, 2e3), (Begins, 3e3), (GoesOn, 1e3), (Ends, 0.0)];
    assert_eq!(found, wanted);
}

// ---- source ----

/// S004-04
#[test]
fn accumulation_keeps_nine_tenths_and_loss_three_quarters() {
    for (kind, kept) in [(Kind::Accumulation, 0.9), (Kind::Loss, 0.75)] {
        let (mut end, mut algorithm) = source(&Params::default());
        end.now = ms(100);
        report_finding(&mut end, &mut algorithm, NEAR, kind, G, TRAC, RTT);
        assert_eq!(rate(&algorithm), 1e6 * kept);
        assert_eq!(end.meter.count(Count::Episodes), 1);
    }
}

/// S004-04
#[test]
fn the_rate_is_cut_at_most_once_per_period() {
    let (mut end, mut algorithm) = source(&Params { increase: 0.0, ..Params::default() });
    end.now = ms(100);
    let mut cuts = Vec::new();
    for _ in 0..1000 {
        let before = rate(&algorithm);
        report_finding(&mut end, &mut algorithm, NEAR, Kind::Accumulation, G, TRAC, RTT);
        if rate(&algorithm) != before {
            cuts.push(end.now);
        }
        end.now += Duration::from_millis(1);
    }
    // every sample is 100 ms: SRTT = 100 ms, σ = 0
    assert_eq!(algorithm.period(), Duration::from_millis(100));
    assert_eq!(cuts, (1..=10).map(|i| ms(100 * i)).collect::<Vec<_>>());
}

/// S004-05
#[test]
fn a_period_without_indication_adds_one_packet_per_period() {
    let (mut end, mut algorithm) = source(&Params::default());
    end.run(&mut algorithm, ms(99));
    assert_eq!(rate(&algorithm), 1e6);
    // 8000 bit / 100 ms = 80 kbit/s
    end.run(&mut algorithm, ms(100));
    assert_eq!(rate(&algorithm), 1.08e6);
    end.run(&mut algorithm, ms(300));
    assert_eq!(rate(&algorithm), 1.24e6);

    // an indication in a period: no increase at its end, and again at the end of the next
    end.now = ms(350);
    report_finding(&mut end, &mut algorithm, NEAR, Kind::Accumulation, (2e6, 1e5), (2e6, 1e5), RTT);
    end.run(&mut algorithm, ms(499));
    assert_eq!(rate(&algorithm), 1.116e6);
    end.run(&mut algorithm, ms(500));
    assert_eq!(rate(&algorithm), 1.196e6);
}

#[test]
fn the_round_trip_time_is_smoothed_as_printed() {
    let second_period = |deviation| {
        let (mut end, mut algorithm) = source(&Params { deviation, ..Params::default() });
        end.now = ms(500);
        report_finding(
            &mut end,
            &mut algorithm,
            NEAR,
            Kind::Accumulation,
            G,
            TRAC,
            Duration::from_millis(180),
        );
        // SRTT = 7/8·100 + 1/8·180 = 110 ms; σ = 1/8·70 = 8.75 ms
        assert_eq!(end.notes("srtt")[0].value, 0.11);
        assert_eq!(algorithm.period(), Duration::from_millis(110 + 35));
        report_finding(
            &mut end,
            &mut algorithm,
            NEAR,
            Kind::Accumulation,
            G,
            TRAC,
            Duration::from_millis(110),
        );
        algorithm.period()
    };
    // σ = 7/8·8.75 + 1/8·(0 − 8.75) = 6.5625 ms
    assert_eq!(second_period(Params::default().deviation), Duration::from_micros(110_000 + 26_250));
    // as usual: σ = 7/8·8.75 = 7.65625 ms
    assert_eq!(second_period(Deviation::Standard), Duration::from_micros(110_000 + 30_625));
}

/// S004-06
#[test]
fn a_receiver_below_u_minus_d_becomes_the_representative_and_is_obeyed() {
    let (mut end, mut algorithm) = source(&Params { increase: 0.0, ..Params::default() });
    end.now = ms(1000);
    report_finding(&mut end, &mut algorithm, NEAR, Kind::Accumulation, G, TRAC, RTT);
    assert_eq!(algorithm.representative(), Some(NEAR));

    // U − D = 700 kbit/s: at it is not below it
    end.now = ms(2000);
    report_finding(&mut end, &mut algorithm, FAR, Kind::Loss, (700e3, 1e3), TRAC, RTT);
    assert_eq!((algorithm.representative(), rate(&algorithm)), (Some(NEAR), 900e3));
    assert_eq!(end.meter.count(Count::Ignored), 1);

    report_finding(&mut end, &mut algorithm, FAR, Kind::Loss, (699e3, 1e3), TRAC, RTT);
    assert_eq!((algorithm.representative(), rate(&algorithm)), (Some(FAR), 675e3));
    let switches: Vec<f64> = end.notes("representative").iter().map(|note| note.value).collect();
    assert_eq!(switches, [2.0, 3.0]);

    // U and D are the new one's now: 699 − 1
    end.now = ms(3000);
    report_finding(&mut end, &mut algorithm, NEAR, Kind::Loss, (698.5e3, 1e3), TRAC, RTT);
    assert_eq!(algorithm.representative(), Some(FAR));
}

/// S004-07
#[test]
fn a_representative_that_left_is_given_up_four_periods_after_the_rate_passed_its_bound() {
    let (mut end, mut algorithm) = source(&Params::default());
    end.now = ms(50);
    // U′ + 4D′ = 980 kbit/s; the rate after the cut is 900
    report_finding(&mut end, &mut algorithm, NEAR, Kind::Accumulation, G, TRAC, Duration::from_millis(50));
    let mut passed = None;
    while algorithm.representative().is_some() {
        end.now = algorithm.wake();
        end.cx(|cx| algorithm.on_timer(cx));
        if rate(&algorithm) >= 980e3 {
            passed.get_or_insert(end.now);
        }
    }
    let passed = passed.expect("the rate grows");
    assert_eq!(end.now, passed + algorithm.period() * 4);
    assert_eq!(end.notes("absent")[0].value, f64::from(NEAR.0));
    assert_eq!(end.notes("representative").last().expect("an event").value, -1.0);

    // the next control packet announces it, and the first receiver that reports becomes it
    end.now += Duration::from_millis(20);
    let sending = OutgoingPacket { seq: 99, size: PACKET, bytes_before: 99_000 };
    let label = end.cx(|cx| algorithm.stamp(&sending, cx));
    assert_eq!(Announcement::decode(label).expect("a control packet").representative, None);
    report_finding(
        &mut end,
        &mut algorithm,
        FAR,
        Kind::Accumulation,
        (5e6, 0.0),
        (5e6, 0.0),
        Duration::from_millis(20),
    );
    assert_eq!(algorithm.representative(), Some(FAR));
}

/// S004-07
#[test]
fn a_representative_that_speaks_is_not_given_up() {
    let (mut end, mut algorithm) = source(&Params::default());
    for i in 1..100 {
        end.run(&mut algorithm, ms(300 * i));
        report_finding(&mut end, &mut algorithm, NEAR, Kind::Accumulation, G, TRAC, RTT);
    }
    assert!(rate(&algorithm) > 980e3);
    assert!(end.notes("absent").is_empty());
}

#[test]
fn control_packets_keep_their_distance_and_say_who_represents() {
    let (mut end, mut algorithm) = source(&Params::default());
    let mut announced = Vec::new();
    for i in 0..100 {
        end.now = ms(8 * i);
        if i == 50 {
            report_finding(&mut end, &mut algorithm, NEAR, Kind::Accumulation, G, TRAC, RTT);
        }
        let sending = OutgoingPacket { seq: i, size: PACKET, bytes_before: i * 1000 };
        let label = end.cx(|cx| algorithm.stamp(&sending, cx));
        if let Some(announcement) = Announcement::decode(label) {
            announced.push((i, announcement));
        } else {
            assert_eq!(label, Label::default());
        }
    }
    assert!(announced.iter().enumerate().all(|(n, (i, _))| *i == 3 * n as u64));
    let (before, after): (Vec<_>, Vec<_>) = announced.iter().partition(|(i, _)| *i < 50);
    assert!(before.iter().all(|(_, it)| it.representative.is_none()));
    assert!(
        after.iter().all(|(_, it)| (it.representative, it.u, it.d, it.srtt) == (Some(NEAR), G.0, G.1, RTT))
    );
}

/// [MCA §2.1]: by themselves, as often as in band, after a packet of data; data say nothing then.
#[test]
fn out_of_band_control_packets_go_by_themselves() {
    let (mut end, mut algorithm) = source(&Params { control: Control::OutOfBand, ..Params::default() });
    assert!(algorithm.out_of_band() && !source(&Params::default()).1.out_of_band());
    let mut announced = Vec::new();
    for i in 0..20 {
        end.now = ms(8 * i);
        if i == 10 {
            report_finding(&mut end, &mut algorithm, NEAR, Kind::Accumulation, G, TRAC, RTT);
        }
        let sending = OutgoingPacket { seq: i, size: PACKET, bytes_before: i * 1000 };
        assert_eq!(end.cx(|cx| algorithm.stamp(&sending, cx)), Label::default());
        let after = OutgoingPacket { seq: i + 1, size: Bytes::new(40), bytes_before: (i + 1) * 1000 };
        let label = end.cx(|cx| algorithm.control(&after, cx));
        announced.extend(label.map(|label| (i, Announcement::decode(label).expect("its own word"))));
    }
    assert_eq!(announced.iter().map(|(i, _)| *i).collect::<Vec<_>>(), [0, 3, 6, 9, 12, 15, 18]);
    assert_eq!(announced[3].1.representative, None);
    assert_eq!(announced[4].1.representative, Some(NEAR));
    assert_eq!(
        end.cx(|cx| source(&Params::default())
            .1
            .control(&OutgoingPacket { seq: 1, size: PACKET, bytes_before: 1000 }, cx)),
        None
    );
}

#[test]
fn the_rate_keeps_to_its_floor_and_cap() {
    let params =
        Params { max_rate: Rate::from_kbps(1100), min_rate: Rate::from_kbps(600), ..Params::default() };
    let (mut end, mut algorithm) = source(&params);
    end.run(&mut algorithm, ms(5_000));
    assert_eq!(rate(&algorithm), 1.1e6);
    for i in 0..20 {
        end.now = ms(5_000 + 200 * i);
        report_finding(&mut end, &mut algorithm, NEAR, Kind::Loss, G, TRAC, RTT);
    }
    assert_eq!(rate(&algorithm), 600e3);
}

// ---- receiver ----

/// A receiver that hears a steady stream, 1 packet per millisecond, every one a control packet.
struct Listening {
    end: StreamBench,
    algorithm: Receiver,
    received: Announcement,
    seq: u64,
}

impl Listening {
    fn new(params: &Params, received: Announcement) -> Self {
        Self { end: StreamBench::new(NEAR), algorithm: Receiver::new(params, PACKET), received, seq: 0 }
    }

    fn data(&self, seq: u64) -> Arrival {
        Arrival {
            seq,
            size: PACKET,
            bytes_before: seq * 1000,
            sent_at: ms(seq),
            marked: false,
            label: self.received.encode(),
        }
    }

    /// The next packet arrives after `late_us` in queues.
    fn receive(&mut self, late_us: u64) -> Vec<Indication> {
        let data = self.data(self.seq);
        self.seq += 1;
        self.end.now = us(data.sent_at.as_nanos() / 1000 + 10_000 + late_us);
        self.end.listen(|cx| self.algorithm.on_data(&data, cx))
    }

    /// `packets` are lost, and the next arrives in time.
    fn miss(&mut self, packets: u64) -> Vec<Indication> {
        let gap = Gap { first_missing: self.seq, packets, before: self.data(self.seq + packets) };
        self.seq += packets + 1;
        self.end.now = us(gap.before.sent_at.as_nanos() / 1000 + 10_000);
        let mut messages = self.end.listen(|cx| self.algorithm.on_loss(&gap, cx));
        messages.extend(self.end.listen(|cx| self.algorithm.on_data(&gap.before, cx)));
        messages
    }
}

const NOBODY: Announcement =
    Announcement { representative: None, u: 0.0, d: 0.0, srtt: Duration::from_millis(100) };

/// S004-08
#[test]
fn consecutive_losses_are_one_indication() {
    let mut it = Listening::new(&Params::default(), NOBODY);
    (0..300).for_each(|_| assert!(it.receive(0).is_empty()));
    let messages = it.miss(17);
    assert_eq!(messages.len(), 1);
    assert_eq!((messages[0].kind, messages[0].trigger_sent_at), (Kind::Loss, ms(317)));
    assert_eq!(it.miss(1).len(), 1);
    assert_eq!(it.end.notes("indication_loss").len(), 2);
}

#[test]
fn congestion_is_indicated_with_every_control_packet_or_once_per_epoch() {
    for (cadence, wanted) in [(Cadence::PerControlPacket, 6), (Cadence::PerEpoch, 1)] {
        let mut it = Listening::new(&Params { indication: cadence, ..Params::default() }, NOBODY);
        (0..300).for_each(|_| assert!(it.receive(0).is_empty()));
        let messages: usize = [1000, 2500, 3000, 3000, 2000, 2000, 1500, 500, 0]
            .iter()
            .map(|late| it.receive(*late).len())
            .sum();
        assert_eq!(messages, wanted);
        assert!(it.end.notes("indication_loss").is_empty());
    }
}

#[test]
fn g_trac_is_the_rate_at_congestion_times_one_minus_its_frequency() {
    let mut it = Listening::new(&Params::default(), NOBODY);
    (0..301).for_each(|_| assert!(it.receive(0).is_empty()));
    let messages = it.miss(1);
    // one indication in the 302 packets up to the one that revealed the loss, first window longer than 20;
    // TRAC over 100 ms: 99 packets in 100 ms, or 32 marks' worth of slack more
    let Indication { g, trac, .. } = messages[0];
    assert!((trac.0 / 8e6 - 0.99).abs() < 2e-3, "{}", trac.0);
    assert!((trac.1 / trac.0 - 0.25).abs() < 1e-6);
    assert!((g.0 / trac.0 - (1.0 - 1.0 / 302.0)).abs() < 1e-6, "{}", g.0 / trac.0);
}

/// [MCA §2.2]: in − out at a receiver are the bytes that arrive after the expected arrival.
#[test]
fn the_literal_count_is_what_arrives_while_a_control_packet_is_late() {
    let params = Params { accumulation: Form::Bytes, ..Params::default() };
    let mut it = Listening::new(&params, NOBODY);
    (0..300).for_each(|_| assert!(it.receive(0).is_empty()));
    // number n is expected at n + 10 ms. They arrive at 310.5, 312.6, 314.1, 315.6 and 317.1 ms, so that 304, expected
    // at 314.0 ms, is the third since then
    let counts: Vec<f64> = [500, 1600, 2100, 2600, 3100]
        .iter()
        .map(|late| {
            it.receive(*late);
            it.end.notes("accumulation").last().expect("a control packet").value
        })
        .collect();
    assert_eq!(counts, [1000.0, 1000.0, 2000.0, 2000.0, 3000.0]);
    assert_eq!(it.end.notes("congestion_begins").len(), 1);

    // a packet of half the size that arrives meanwhile counts as half
    let small = Arrival { size: Bytes::new(500), label: Label::default(), ..it.data(it.seq) };
    it.seq += 1;
    it.end.now += Duration::from_micros(100);
    it.end.listen(|cx| it.algorithm.on_data(&small, cx));
    it.receive(1500);
    assert_eq!(it.end.notes("accumulation").last().expect("a control packet").value, 2500.0);
    // after the next comes one in time: the epoch is over
    it.receive(700);
    it.receive(0);
    assert_eq!(it.end.notes("congestion_ends").len(), 1);
}

/// [MCA §3.1.3]: D′ is the standard deviation, weighted as the mean is.
#[test]
fn the_deviation_of_the_rate_at_congestion_is_a_standard_deviation() {
    let Params { trac_gain: gain, first_deviation, trac_deviation, g_deviation, .. } = Params::default();
    let samples: Vec<f64> = (0..400).map(|i| if i % 4 == 0 { 13.0 } else { 9.0 }).collect();
    let after = |spread| {
        let mut average = Average::new(gain, first_deviation, spread);
        samples.iter().for_each(|sample| average.add(*sample));
        average.values()
    };
    let weights = || std::iter::successors(Some(gain), |weight| Some(weight * (1.0 - gain)));
    let weighted = |of: &dyn Fn(f64) -> f64| -> f64 {
        samples.iter().rev().zip(weights()).map(|(sample, weight)| weight * of(*sample)).sum()
    };
    let mean = weighted(&|x| x);
    let standard = weighted(&|x| (x - mean) * (x - mean)).sqrt();
    let (m, d) = after(trac_deviation);
    assert!((m - mean).abs() < 1e-9 && (d - standard).abs() < 1e-9, "{m} {d}, not {mean} {standard}");
    // a mean of absolute differences is smaller; D stays one
    assert!(after(g_deviation).1 < 0.95 * standard);
}

/// [MCA §3.1.3]: f is the number of indications over the packets from one congestion epoch to the next.
#[test]
fn the_congestion_frequency_can_be_counted_from_epoch_to_epoch() {
    let mut f = Frequency::new(&Params { f_period: Period::Epochs, f_gain: 1.0, ..Params::default() });
    f.start(100);
    // the first epoch begins at packet 200 and has five indications, the second begins at 400
    f.begin_epoch(200);
    let first: Vec<f64> = [200, 202, 204, 206, 208].map(|newest| f.add(newest)).to_vec();
    assert_eq!((first[0], first[4]), (1.0 / 100.0, 5.0 / 108.0));
    f.begin_epoch(400);
    assert_eq!(f.add(400), 5.0 / 300.0);
    assert_eq!(f.add(410), 5.0 / 300.0);
    // two indications in 50 packets; a window of 20 packets would have ended long before
    f.begin_epoch(450);
    assert_eq!(f.add(450), 2.0 / 50.0);
}

#[test]
fn receivers_are_silent_unless_below_the_representative_by_k_rx_deviations() {
    // the receiver's own G-TRAC will be about 7.9 Mbit/s
    for (representative, u, d, indicates) in [
        (None, 0.0, 0.0, true),
        (Some(NEAR), 0.0, 0.0, true),
        (Some(FAR), 7e6, 0.1e6, false),
        (Some(FAR), 8.4e6, 0.1e6, true),
        (Some(FAR), 8.4e6, 0.4e6, false),
    ] {
        let mut it = Listening::new(&Params::default(), Announcement { representative, u, d, ..NOBODY });
        (0..301).for_each(|_| assert!(it.receive(0).is_empty()));
        assert_eq!(it.miss(1).len(), usize::from(indicates), "{representative:?} {u} {d}");
        assert_eq!(it.end.meter.count(Count::Suppressed), u64::from(!indicates));
        assert_eq!(it.end.notes("indication_loss")[0].value, f64::from(u8::from(indicates)));
    }
}

/// [MCA §2.1 Eq. (5)]: what a control packet has overtaken is the accumulation, however long the path is. Above two
/// packets congestion begins, below one it ends; what is lost counts until a later packet arrives.
#[test]
fn a_control_packet_out_of_band_shows_the_bytes_that_it_has_overtaken() {
    let mut it = Listening::new(&Params::default(), NOBODY);
    let words = it.received.encode();
    let data = |it: &mut Listening, seq: u64| {
        let data = Arrival { label: Label::default(), ..it.data(seq) };
        it.end.now = ms(seq) + Duration::from_millis(10 + 3 * seq);
        it.end.listen(|cx| it.algorithm.on_data(&data, cx))
    };
    let control = |it: &mut Listening, bytes_before: u64| {
        let control = Arrival { label: words, bytes_before, size: Bytes::new(40), ..it.data(0) };
        it.end.listen(|cx| it.algorithm.on_control(&control, cx)).len()
    };
    // nothing has arrived that it could be held against
    assert_eq!(control(&mut it, 90_000), 0);
    // the path takes longer and longer: that is no queue
    (0..100).for_each(|seq| assert!(data(&mut it, seq).is_empty()));
    let messages: Vec<usize> = [100_000, 102_000, 102_001, 101_500, 101_000, 100_999, 102_000]
        .map(|bytes| control(&mut it, bytes))
        .into();
    assert_eq!(messages, [0, 0, 1, 1, 1, 0, 0]);
    // five packets are lost, and the next one arrives
    assert_eq!(control(&mut it, 106_000), 1);
    data(&mut it, 105);
    assert_eq!(control(&mut it, 106_000), 0);
    let shown: Vec<f64> = it.end.notes("accumulation").iter().map(|note| note.value).collect();
    assert_eq!(shown, [0.0, 2000.0, 2001.0, 1500.0, 1000.0, 999.0, 2000.0, 6000.0, 0.0]);
}

// ---- labels ----

#[test]
fn what_no_receiver_would_say_is_ignored_and_changes_nothing() {
    let (mut end, mut algorithm) = source(&Params::default());
    end.now = ms(700);
    let good = Indication { kind: Kind::Loss, trigger_sent_at: ms(600), g: G, trac: TRAC }.encode();
    let nan = u64::from(f32::NAN.to_bits()) << 32;
    let infinite = u64::from(f32::INFINITY.to_bits());
    let negative = u64::from((-1.0f32).to_bits());
    let broken = [
        Label::default(),
        Label([u64::MAX; 4]),
        Label([3, good.0[1], good.0[2], good.0[3]]),
        Label([2, ms(701).as_nanos(), good.0[2], good.0[3]]),
        Label([2, good.0[1], nan, good.0[3]]),
        Label([2, good.0[1], infinite, good.0[3]]),
        Label([2, good.0[1], good.0[2], negative]),
    ];
    for label in broken {
        end.cx(|cx| algorithm.on_feedback(&Feedback { from: NEAR, sent_at: cx.now(), label }, cx));
    }
    assert_eq!((algorithm.representative(), rate(&algorithm), algorithm.period()), (None, 1e6, RTT));
    assert_eq!(end.meter.count(Count::Ignored), broken.len() as u64);
    end.cx(|cx| algorithm.on_feedback(&Feedback { from: NEAR, sent_at: cx.now(), label: good }, cx));
    assert_eq!(rate(&algorithm), 750e3);
}

proptest! {
    #[test]
    fn labels_round_trip(kind: bool, trigger_sent_at: u64, rates: [u32; 4], endpoint: Option<u32>) {
        let rate = |i: usize| f64::from(rates[i] >> 8);
        let kind = if kind { Kind::Loss } else { Kind::Accumulation };
        let indication =
            Indication { kind, trigger_sent_at: Time::from_nanos(trigger_sent_at), g: (rate(0), rate(1)), trac: (rate(2), rate(3)) };
        prop_assert_eq!(Indication::decode(indication.encode()), Some(indication));
        let representative = endpoint.map(EndpointId);
        let announcement =
            Announcement { representative, u: rate(0), d: rate(1), srtt: Duration::from_nanos(trigger_sent_at) };
        prop_assert_eq!(Announcement::decode(announcement.encode()), Some(announcement));
    }

    #[test]
    fn no_word_breaks_either_end(labels: Vec<[u64; 4]>, small in prop::collection::vec((0u64..4, any::<u64>()), 0..40)) {
        let (mut end, mut algorithm) = source(&Params::default());
        let mut it = Listening::new(&Params::default(), NOBODY);
        let words = labels.iter().copied().chain(small.iter().map(|(a, b)| [*a, *b >> 32, *b, b.rotate_left(17)]));
        for (i, words) in words.enumerate() {
            end.run(&mut algorithm, ms(37 * i as u64));
            let feedback = Feedback { from: EndpointId(words[0] as u32), sent_at: end.now, label: Label(words) };
            end.cx(|cx| algorithm.on_feedback(&feedback, cx));
            let allowed = algorithm.allowance().rate;
            prop_assert!(allowed >= Rate::from_kbps(4));
            prop_assert!(algorithm.wake() >= end.now);
            let data = Arrival { label: Label(words), sent_at: Time::from_nanos(words[3]), ..it.data(2 * i as u64) };
            it.end.now = end.now;
            let gap = Gap { first_missing: data.seq - data.seq.min(1), packets: 1, before: data };
            it.end.listen(|cx| it.algorithm.on_loss(&gap, cx));
            it.end.listen(|cx| it.algorithm.on_data(&data, cx));
        }
    }
}

// ---- the fluid limit ----

/// A FIFO node: what it holds, as time to serve it.
#[derive(Clone, Copy, Debug)]
struct Node {
    bps: f64,
    backlog_bits: f64,
    seen_s: f64,
}

impl Node {
    /// Lets cross traffic of `cross(t)` bit/s in and the backlog out, up to `t`.
    fn advance(&mut self, t: f64, cross: impl Fn(f64) -> f64) {
        const STEP_S: f64 = 1e-3;
        while self.seen_s < t {
            let next = ((self.seen_s / STEP_S + 1e-9).floor() * STEP_S + STEP_S).min(t);
            let grown = self.backlog_bits + (cross(self.seen_s + 1e-9) - self.bps) * (next - self.seen_s);
            (self.backlog_bits, self.seen_s) = (grown.max(0.0), next);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// S004-09: a(k) > 0 ⇔ some queue is not empty, and a(k) = 0 ⇔ all are [MCA §2.1 Eq. (6)], as packets shrink.
    #[test]
    fn accumulation_is_zero_exactly_when_all_queues_are_empty(
        nodes in prop::collection::vec((1.0f64..8.0, prop::collection::vec(0.0f64..1.6, 10)), 1..4),
        own in prop::collection::vec(0.2f64..0.8, 10),
        size in 2u64..20,
    ) {
        // in tenths of a second: own traffic 0.2–0.8 Mbit/s; cross traffic up to 1.6 of each node's rate, at first little
        let segment = |t: f64| ((t * 10.0) as usize).min(9);
        let own_bps = |t: f64| own[segment(t)] * 1e6;
        let cross = |node: &(f64, Vec<f64>), t: f64| if t < 0.1 { 0.0 } else { node.1[segment(t)] * node.0 * 1e6 };
        let mut path: Vec<Node> =
            nodes.iter().map(|it| Node { bps: it.0 * 1e6, backlog_bits: 0.0, seen_s: 0.0 }).collect();

        let params = Params::default();
        let mut it = Listening::new(&params, Announcement { representative: Some(FAR), ..NOBODY });
        it.algorithm = Receiver::new(&params, Bytes::new(size));
        let bits = size as f64 * 8.0;
        let (mut t, mut seq, mut newest) = (0.0f64, 0, Time::ZERO);
        while t < 1.0 {
            let (mut there, mut waited_s) = (t, 0.0);
            for (node, given) in path.iter_mut().zip(&nodes) {
                node.advance(there, |t| cross(given, t));
                waited_s += node.backlog_bits / node.bps;
                node.backlog_bits += bits;
                there += node.backlog_bits / node.bps + 0.005;
            }
            let ns = |s: f64| Time::from_nanos((s * 1e9) as u64);
            newest = newest.max(ns(there));
            it.end.now = newest;
            let data = Arrival { seq, size: Bytes::new(size), sent_at: ns(t), ..it.data(0) };
            let before = it.end.out.notes.pending.len();
            it.end.listen(|cx| it.algorithm.on_data(&data, cx));
            let shown = it.end.out.notes.pending[before..]
                .iter()
                .find(|note| note.name == "accumulation")
                .expect("every packet is a control packet")
                .value;
            it.end.out.notes.pending.clear();
            let packets = shown / size as f64;
            // what the own flow brings while a bit waits
            let own_waiting = waited_s * 0.2e6 / 8.0 / size as f64;
            if own_waiting > 6.0 {
                prop_assert!(packets > 0.0, "queues of {waited_s} s not seen at {t}");
            }
            if waited_s == 0.0 {
                prop_assert!(packets <= params.enter, "{packets} packets seen in empty queues at {t}");
            }
            t += bits / own_bps(t);
            seq += 1;
        }
    }
}

// ---- parameters ----

#[test]
fn every_parameter_states_its_source() {
    for row in Params::table() {
        assert!(row.source.starts_with("MCA §") || row.source.starts_with("our choice: "), "{}", row.name);
    }
    assert_eq!(Params::with(&Params::default().list()), Ok(Params::default()));
}
