use contract::{
    Arrival, Count, EndpointId, Feedback, Gap, Label, OutgoingPacket, ReceiverAlgorithm, ReceiverCx,
    SenderAlgorithm,
};
use units::Time;

use super::endpoints::{Header, Report};
use super::*;
use crate::shared::stream_testing::{PACKET, StreamBench, ms, near};
use crate::shared::{loss_event_rate_of, tcp_friendly_rate};

// ---- what both ends need ----

const SOURCE: EndpointId = EndpointId(1);
const SINK: EndpointId = EndpointId(2);
const RTT: Duration = Duration::from_millis(100);

// ---- source ----

/// A source that started at time zero and sent a packet then.
fn source(params: &Params) -> (StreamBench, Sender) {
    let mut end = StreamBench::new(SOURCE);
    let mut algorithm = Sender::new(params, PACKET);
    end.cx(|cx| algorithm.on_start(cx));
    send(&mut end, &mut algorithm);
    (end, algorithm)
}

fn send(end: &mut StreamBench, algorithm: &mut Sender) -> Header {
    send_of(end, algorithm, PACKET.as_u64())
}

/// A packet of this many bytes.
fn send_of(end: &mut StreamBench, algorithm: &mut Sender, bytes: u64) -> Header {
    let sending = OutgoingPacket { seq: 0, size: Bytes::new(bytes), bytes_before: 0 };
    Header::decode(end.cx(|cx| algorithm.stamp(&sending, cx))).expect("a source's word")
}

/// Now comes a report about what was sent 100 ms ago.
fn send_feedback(end: &mut StreamBench, algorithm: &mut Sender, received_kbps: u64, loss: f64) {
    tell_of(end, algorithm, end.now - RTT, Duration::ZERO, received_kbps, loss);
}

fn tell_of(
    end: &mut StreamBench,
    algorithm: &mut Sender,
    sent_at: Time,
    t_delay: Duration,
    received_kbps: u64,
    loss: f64,
) {
    let report = Report { sent_at, t_delay, received_bps: received_kbps * 1000, loss };
    let feedback = Feedback { from: SINK, sent_at: end.now, label: report.encode() };
    end.cx(|cx| algorithm.on_feedback(&feedback, cx));
}

/// A source that has heard a first report at 100 ms: R = 100 ms, X = 320 kbit/s.
fn got_data(params: &Params) -> (StreamBench, Sender) {
    let (mut end, mut algorithm) = source(params);
    end.now = ms(100);
    send_feedback(&mut end, &mut algorithm, 0, 0.0);
    (end, algorithm)
}

/// Lets `millis` pass while a packet leaves every 10 ms; the application always has more.
fn pass(end: &mut StreamBench, algorithm: &mut Sender, millis: u64) {
    for _ in 0..millis / 10 {
        end.now += Duration::from_millis(10);
        send(end, algorithm);
    }
    end.now += Duration::from_millis(millis % 10);
}

/// Lets `millis` pass while a packet leaves every 10 ms and takes the last of the data.
fn starve(end: &mut StreamBench, algorithm: &mut Sender, millis: u64) {
    for _ in 0..millis / 10 {
        end.now += Duration::from_millis(10);
        send(end, algorithm);
        end.cx(|cx| algorithm.on_idle(cx));
    }
}

/// [RFC5348 §4.2]
#[test]
fn it_begins_with_a_packet_per_second_and_a_timer_of_two_seconds() {
    let (mut end, mut algorithm) = source(&Params::default());
    assert_eq!(algorithm.allowance().rate.as_bps(), 8000);
    assert_eq!(algorithm.wake(), ms(2000));
    assert_eq!(send(&mut end, &mut algorithm).rtt, None);
    // nobody answers: half, and another two seconds
    end.run(&mut algorithm, ms(3000));
    assert_eq!((algorithm.allowance().rate.as_bps(), algorithm.wake()), (4000, ms(4000)));
    assert_eq!(end.meter.count(Count::Timeouts), 1);
    // nothing was sent since 2 s: it stays
    end.run(&mut algorithm, ms(5000));
    assert_eq!(algorithm.allowance().rate.as_bps(), 4000);
    // never below a packet in 64 s
    for second in 3..40 {
        end.now = ms(2000 * second);
        send(&mut end, &mut algorithm);
        end.run(&mut algorithm, ms(2000 * second + 1999));
    }
    assert_eq!(algorithm.allowance().rate.as_bps(), 125);
}

/// W_init = min(4·s, max(2·s, 4380 B)): 4000 B, 4380 B and 6000 B for packets of 1000, 1460 and 3000 B   [RFC5348 §4.2]
#[test]
fn the_first_report_allows_an_initial_window_per_round_trip() {
    for (size, window) in [(1000, 4000), (1460, 4380), (3000, 6000)] {
        let mut end = StreamBench::new(SOURCE);
        let mut algorithm = Sender::new(&Params::default(), Bytes::new(size));
        end.cx(|cx| algorithm.on_start(cx));
        send_of(&mut end, &mut algorithm, size);
        end.now = ms(150);
        // sent at 0, held for 50 ms: R = 100 ms
        tell_of(&mut end, &mut algorithm, Time::ZERO, Duration::from_millis(50), 0, 0.0);
        assert_eq!(algorithm.allowance().rate.as_bps(), window * 80);
        assert_eq!(algorithm.rtt_s(), Some(0.1));
        assert_eq!(send(&mut end, &mut algorithm).rtt, Some(RTT));
        // RTO = max(4R, 2s/X) with the X of before, a packet per second
        assert_eq!(algorithm.wake(), ms(2150));
    }
}

/// Packets of 1000 and 500 bytes in turn: s = 750 B. W_init = min(3000, max(1500, 4380)) = 3000 B in 100 ms, and
/// the equation is proportional to s   [RFC5348 §4.1]
#[test]
fn where_sizes_vary_s_is_their_mean() {
    for (mean_size, s) in [(true, 750.0), (false, 1000.0)] {
        let params = Params { mean_size, ..Params::default() };
        let (mut end, mut algorithm) = source(&params);
        send_of(&mut end, &mut algorithm, 500);
        end.now = ms(100);
        send_feedback(&mut end, &mut algorithm, 0, 0.0);
        near(algorithm.rate(), 4.0 * s * 80.0);
        end.now = ms(400);
        send_feedback(&mut end, &mut algorithm, 20_000, 0.01);
        near(algorithm.rate(), s / 1000.0 * tcp_friendly_rate(PACKET, 0.1, 0.01));
    }
}

/// Four loss intervals count, the one under way among them. A packet of 1000 bytes in the first, four of 500 in
/// the others: 2500/4 = 625 as the third begins, 500 as the fourth ends   [RFC5348 §4.1]
#[test]
fn sizes_of_before_the_last_four_loss_intervals_are_forgotten() {
    let (mut end, mut algorithm) = got_data(&Params::default());
    let mut packet = 1000.0;
    for (i, s) in [1000.0, 750.0, 667.0, 625.0, 500.0].into_iter().enumerate() {
        end.now += Duration::from_millis(300);
        // each report tells of a new loss event
        let p = 0.01 * (i + 1) as f64;
        send_feedback(&mut end, &mut algorithm, 20_000, p);
        packet = algorithm.rate() / tcp_friendly_rate(PACKET, 0.1, p) * 1000.0;
        assert!((packet - s).abs() < 1e-6, "{i}: {packet}");
        send_of(&mut end, &mut algorithm, 500);
    }
    near(packet, 500.0);
}

/// R ← 0.9·R + 0.1·R_sample   [RFC5348 §4.3]
#[test]
fn round_trip_times_are_smoothed() {
    let (mut end, mut algorithm) = got_data(&Params::default());
    end.now = ms(300);
    tell_of(&mut end, &mut algorithm, ms(100), Duration::from_millis(40), 320, 0.0);
    near(algorithm.rtt_s().expect("measured"), 0.9 * 0.1 + 0.1 * 0.16);
    assert_eq!(end.meter.rtt_count, 2);
}

/// Without losses the rate doubles once per round trip, to at most twice what arrives   [RFC5348 §4.3]
#[test]
fn slow_start_doubles_once_per_round_trip_up_to_twice_what_arrives() {
    let (mut end, mut algorithm) = got_data(&Params::default());
    pass(&mut end, &mut algorithm, 50);
    send_feedback(&mut end, &mut algorithm, 160, 0.0);
    near(algorithm.rate(), 320e3);
    // 100 ms after the last doubling; the infinity of the start still counts
    pass(&mut end, &mut algorithm, 50);
    send_feedback(&mut end, &mut algorithm, 320, 0.0);
    near(algorithm.rate(), 640e3);
    // now 320 and 400 kbit/s are what arrived in two round trips: 2·400
    pass(&mut end, &mut algorithm, 100);
    send_feedback(&mut end, &mut algorithm, 400, 0.0);
    near(algorithm.rate(), 800e3);
    // 400 and 100 kbit/s
    pass(&mut end, &mut algorithm, 100);
    send_feedback(&mut end, &mut algorithm, 100, 0.0);
    near(algorithm.rate(), 800e3);
    // only 100 and 50 kbit/s; but never below the initial rate
    pass(&mut end, &mut algorithm, 150);
    send_feedback(&mut end, &mut algorithm, 50, 0.0);
    near(algorithm.rate(), 320e3);
}

/// s = 1000 B, R = 100 ms, p = 1 %: 898.64 kbit/s   [RFC5348 §3.1]
#[test]
fn with_losses_the_rate_is_that_of_the_equation_and_at_most_twice_what_arrives() {
    let (mut end, mut algorithm) = got_data(&Params::default());
    pass(&mut end, &mut algorithm, 300);
    send_feedback(&mut end, &mut algorithm, 2000, 0.01);
    assert!((algorithm.rate() / 898_640.0 - 1.0).abs() < 1e-4, "{}", algorithm.rate());
    assert_eq!(end.meter.count(Count::Episodes), 1);
    // up at once, when p falls
    pass(&mut end, &mut algorithm, 100);
    send_feedback(&mut end, &mut algorithm, 900, 0.005);
    near(algorithm.rate(), tcp_friendly_rate(PACKET, 0.1, 0.005));
    // 900 and 300 kbit/s in the last two round trips, then 300 alone
    pass(&mut end, &mut algorithm, 200);
    send_feedback(&mut end, &mut algorithm, 300, 0.000_01);
    near(algorithm.rate(), 1800e3);
    pass(&mut end, &mut algorithm, 201);
    send_feedback(&mut end, &mut algorithm, 300, 0.000_01);
    near(algorithm.rate(), 600e3);
    // p = 1 and nothing arrives: 8s/64
    pass(&mut end, &mut algorithm, 300);
    send_feedback(&mut end, &mut algorithm, 0, 1.0);
    assert_eq!(algorithm.allowance().rate.as_bps(), 125);
}

/// An application that takes 100 kbit/s of the allowed rate does not lower the limit by that   [RFC5348 §4.3]
#[test]
fn a_receive_rate_that_the_application_keeps_low_does_not_limit() {
    let (mut end, mut algorithm) = got_data(&Params::default());
    pass(&mut end, &mut algorithm, 300);
    send_feedback(&mut end, &mut algorithm, 800, 0.001);
    near(algorithm.rate(), 1600e3);
    for _ in 0..5 {
        starve(&mut end, &mut algorithm, 100);
        send_feedback(&mut end, &mut algorithm, 100, 0.001);
        near(algorithm.rate(), 1600e3);
    }
    starve(&mut end, &mut algorithm, 100);
    // a loss: the limits are halved, what arrives counts for 85 %: max(800/2, 0.85·500) = 425, and no factor of two
    send_feedback(&mut end, &mut algorithm, 500, 0.002);
    near(algorithm.rate(), 425e3);
    // the application has more again: what it was limited to is still spoken of first
    pass(&mut end, &mut algorithm, 90);
    send_feedback(&mut end, &mut algorithm, 100, 0.002);
    near(algorithm.rate(), 850e3);
    pass(&mut end, &mut algorithm, 120);
    send_feedback(&mut end, &mut algorithm, 100, 0.002);
    near(algorithm.rate(), 850e3);
    // 425 kbit/s is two round trips old
    pass(&mut end, &mut algorithm, 200);
    send_feedback(&mut end, &mut algorithm, 100, 0.002);
    near(algorithm.rate(), 200e3);
}

/// Four round trips without feedback. p = 0: X/2. X_Bps > 2·X_recv: X_recv. Otherwise X_Bps/2.   [RFC5348 §4.4]
#[test]
fn silence_halves_the_rate() {
    let (mut end, mut algorithm) = got_data(&Params::default());
    // the timer was set while a packet left per second
    send(&mut end, &mut algorithm);
    end.run(&mut algorithm, ms(2100));
    near(algorithm.rate(), 160e3);

    let (mut end, mut algorithm) = got_data(&Params::default());
    pass(&mut end, &mut algorithm, 300);
    send_feedback(&mut end, &mut algorithm, 200, 0.001);
    near(algorithm.rate(), 400e3);
    assert_eq!(algorithm.wake(), ms(800));
    end.run(&mut algorithm, ms(800));
    near(algorithm.rate(), 200e3);
    assert_eq!(algorithm.wake(), ms(1200));
    send(&mut end, &mut algorithm);
    end.run(&mut algorithm, ms(1200));
    near(algorithm.rate(), 100e3);

    let (mut end, mut algorithm) = got_data(&Params::default());
    pass(&mut end, &mut algorithm, 300);
    send_feedback(&mut end, &mut algorithm, 900, 0.01);
    let equation = tcp_friendly_rate(PACKET, 0.1, 0.01);
    end.run(&mut algorithm, ms(800));
    near(algorithm.rate(), equation / 2.0);
    assert_eq!(end.meter.count(Count::Timeouts), 1);
}

/// [RFC5348 §4.4]: the initial rate is 320 kbit/s here.
#[test]
fn a_silent_application_does_not_bring_the_rate_below_twice_the_initial_one() {
    let (mut end, mut algorithm) = got_data(&Params::default());
    for received in [640, 1280, 2560] {
        pass(&mut end, &mut algorithm, 101);
        send_feedback(&mut end, &mut algorithm, received, 0.0);
    }
    near(algorithm.rate(), 2560e3);
    // nothing is sent: 2560, 1280, 640, and 640 is not below 2·320; then it stays at 320
    end.run(&mut algorithm, ms(20_000));
    near(algorithm.rate(), 320e3);
    // with losses: X_recv below the initial rate keeps what there is
    let (mut end, mut algorithm) = got_data(&Params::default());
    pass(&mut end, &mut algorithm, 301);
    send_feedback(&mut end, &mut algorithm, 300, 0.001);
    near(algorithm.rate(), 600e3);
    end.run(&mut algorithm, ms(20_000));
    near(algorithm.rate(), 600e3);
}

/// R_sample doubles: √ grows by 1.4142. R_sqmean = 0.9·√0.1 + 0.1·√0.2, X_inst = X·R_sqmean/√0.2   [RFC5348 §4.5]
#[test]
fn damping_follows_each_sample() {
    let params = Params { damping: true, ..Params::default() };
    let (mut end, mut algorithm) = got_data(&params);
    pass(&mut end, &mut algorithm, 300);
    tell_of(&mut end, &mut algorithm, ms(200), Duration::ZERO, 2000, 0.01);
    let x = tcp_friendly_rate(PACKET, 0.9 * 0.1 + 0.1 * 0.2, 0.01);
    near(algorithm.rate(), x);
    let share = (0.9 * 0.1f64.sqrt() + 0.1 * 0.2f64.sqrt()) / 0.2f64.sqrt();
    assert!((algorithm.allowance().rate.as_bps_f64() - x * share).abs() <= 0.5);
}

#[test]
fn words_that_no_receiver_would_say_are_ignored() {
    let (mut end, mut algorithm) = got_data(&Params::default());
    end.now = ms(400);
    // of the future, held for longer than it is ago
    tell_of(&mut end, &mut algorithm, ms(500), Duration::ZERO, 1, 0.5);
    tell_of(&mut end, &mut algorithm, ms(300), Duration::from_millis(101), 1, 0.5);
    end.send_feedback(&mut algorithm, SINK, end.now, Label([1, 2, 3, 4]));
    near(algorithm.rate(), 320e3);
    assert_eq!(end.meter.count(Count::Ignored), 3);
}

// ---- receiver ----

struct Sink {
    end: StreamBench,
    algorithm: Receiver,
    next: u64,
    /// Of the packets that arrive.
    size: Bytes,
}

impl Sink {
    fn new(params: &Params) -> Self {
        Self { end: StreamBench::new(SINK), algorithm: Receiver::new(params, PACKET), next: 0, size: PACKET }
    }

    fn listen(&mut self, call: impl FnOnce(&mut Receiver, &mut ReceiverCx<'_, '_>)) -> Vec<Report> {
        let algorithm = &mut self.algorithm;
        let answers = self.end.listen(|cx| call(algorithm, cx));
        answers.iter().map(|answer| Report::decode(answer.label).expect("a receiver's word")).collect()
    }

    /// The next packet, sent 50 ms ago, arrives at `at`, after `lost` lost ones; what is reported until then and by it.
    fn arrive(&mut self, at: u64, lost: u64, rtt: Option<Duration>) -> Vec<Report> {
        let mut packet_header = Vec::new();
        while self.algorithm.wake() <= ms(at) {
            self.end.now = self.algorithm.wake();
            packet_header.extend(self.listen(|algorithm, cx| algorithm.on_timer(cx)));
        }
        self.end.now = ms(at);
        let seq = self.next + lost;
        let sent_at = Time::from_nanos(ms(at).as_nanos().saturating_sub(50_000_000));
        let data = Arrival {
            seq,
            size: self.size,
            bytes_before: seq * 1000,
            sent_at,
            marked: false,
            label: Header { sent_at, rtt }.encode(),
        };
        let first_missing = self.next;
        self.next = seq + 1;
        packet_header.extend(self.listen(|algorithm, cx| {
            if lost > 0 {
                algorithm.on_loss(&Gap { first_missing, packets: lost, before: data }, cx);
            }
            algorithm.on_data(&data, cx);
        }));
        packet_header
    }
}

/// [RFC5348 §6.3]
#[test]
fn without_a_round_trip_time_each_packet_is_answered() {
    let mut sink = Sink::new(&Params::default());
    for second in 1..4 {
        let packet_header = sink.arrive(1000 * second, 0, None);
        let sent_at = ms(1000 * second - 50);
        assert_eq!(packet_header, [Report { sent_at, t_delay: Duration::ZERO, received_bps: 0, loss: 0.0 }]);
    }
}

/// A packet per 10 ms, R = 100 ms: 800 kbit/s   [RFC5348 §6.2]
#[test]
fn it_speaks_once_per_round_trip_of_what_arrived() {
    let mut sink = Sink::new(&Params::default());
    let mut packet_header = Vec::new();
    for i in 0..100 {
        packet_header.extend(sink.arrive(1000 + 10 * i, 0, Some(RTT)));
    }
    assert_eq!(packet_header.len(), 10);
    let last = packet_header[9];
    // the timer expires as the packet of 1900 ms arrives, and speaks of the one before
    assert_eq!((last.sent_at, last.t_delay), (ms(1840), Duration::from_millis(10)));
    assert_eq!((last.received_bps, last.loss), (800_000, 0.0));
    // nothing arrives for a while: it says nothing, and the next packet is answered at once
    sink.arrive(1995, 0, Some(RTT));
    let silent = sink.arrive(3000, 0, Some(RTT));
    assert_eq!(silent.len(), 2);
    assert_eq!((silent[0].t_delay, silent[1].t_delay), (Duration::from_millis(5), Duration::ZERO));
}

/// After 800 kbit/s the first interval is the one that gives 800 kbit/s in the equation, within 5 %; p is reported
/// at once   [RFC5348 §6.1, §6.3.1]
#[test]
fn the_first_loss_is_reported_at_once_and_stands_for_the_rate_before_it() {
    for tolerance in [0.05, 0.000_01] {
        let mut sink = Sink::new(&Params { tolerance, ..Params::default() });
        for i in 0..50 {
            sink.arrive(1000 + 10 * i, 0, Some(RTT));
        }
        let packet_header = sink.arrive(1510, 1, Some(RTT));
        let [.., report] = packet_header[..] else { panic!("nothing was said") };
        assert_eq!(report.t_delay, Duration::ZERO);
        let rate = tcp_friendly_rate(PACKET, 0.1, report.loss);
        assert!((rate / 800e3 - 1.0).abs() <= tolerance, "{rate}");
        near(report.loss, loss_event_rate_of(PACKET, 0.1, 800e3, tolerance));
        near(sink.algorithm.loss_event_rate(), report.loss);
        // another one within a round-trip time is of the same event, and nothing is said of it
        assert_eq!(sink.arrive(1530, 1, Some(RTT)), []);
        // 110 ms after the first, lost at 1500, it is a new one
        let observed = (0..7).flat_map(|i| sink.arrive(1540 + 10 * i, 0, Some(RTT))).count();
        assert_eq!(observed, 0);
        let packet_header = sink.arrive(1620, 1, Some(RTT));
        assert!(
            packet_header
                .last()
                .is_some_and(|last| last.t_delay == Duration::ZERO && last.loss > report.loss)
        );
    }
}

/// Packets of 1000 and 500 bytes in turn, one in 10 ms: 600 kbit/s, for which the first interval stands with
/// s = 750 B [RFC5348 §4.1, §6.3.1]
#[test]
fn the_first_interval_is_of_the_mean_size_of_what_arrived() {
    for (mean_size, s) in [(true, 750), (false, 1000)] {
        let params = Params { tolerance: 0.000_01, mean_size, ..Params::default() };
        let mut sink = Sink::new(&params);
        for i in 0..50 {
            sink.size = Bytes::new(if i % 2 == 0 { 1000 } else { 500 });
            sink.arrive(1000 + 10 * i, 0, Some(RTT));
        }
        let packet_header = sink.arrive(1510, 1, Some(RTT));
        let [.., report] = packet_header[..] else { panic!("nothing was said") };
        near(report.loss, loss_event_rate_of(Bytes::new(s), 0.1, 600e3, 0.000_01));
    }
}

/// The very first packets are lost: one packet per round trip is what the time before stands for.
#[test]
fn a_loss_before_anything_arrived_has_the_minimum_interval() {
    let mut sink = Sink::new(&Params::default());
    let [report] = sink.arrive(1000, 0, Some(RTT))[..] else { panic!("one report") };
    assert_eq!(report.loss, 0.0);
    let mut sink = Sink::new(&Params::default());
    sink.next = 0;
    let packet_header = sink.arrive(1000, 1, Some(RTT));
    near(packet_header[0].loss, loss_event_rate_of(PACKET, 0.1, 80e3, 0.05));
}

/// Losses 20 packets apart, then none for 200: with discounting p falls faster   [RFC5348 §5.5]
#[test]
fn discounting_lets_old_losses_count_less() {
    let p = |discounting| {
        let mut sink = Sink::new(&Params { discounting, ..Params::default() });
        for i in 0..400u64 {
            let lost = u64::from(i < 200 && i % 20 == 19);
            sink.arrive(1000 + 20 * i, lost, Some(RTT));
        }
        sink.algorithm.loss_event_rate()
    };
    let (plain, discounted) = (p(false), p(true));
    assert!(discounted < 0.8 * plain, "{discounted} against {plain}");
}

/// A mark counts as a loss   [RFC5348 §5.1]
#[test]
fn a_mark_is_reported_at_once() {
    let mut sink = Sink::new(&Params::default());
    for i in 0..20 {
        sink.arrive(1000 + 10 * i, 0, Some(RTT));
    }
    sink.end.now = ms(1205);
    let label = Header { sent_at: ms(1155), rtt: Some(RTT) }.encode();
    let data =
        Arrival { seq: 20, size: PACKET, bytes_before: 20_000, sent_at: ms(1155), marked: true, label };
    let packet_header = sink.listen(|algorithm, cx| algorithm.on_data(&data, cx));
    assert!(matches!(packet_header[..], [Report { loss, .. }] if loss > 0.0), "{packet_header:?}");
}
