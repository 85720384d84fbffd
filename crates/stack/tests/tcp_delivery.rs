//! Delivery rates: the samples of controllers that ask for them, and the one-way delays of all controllers.

mod net;

use contract::{Ack, Allowance, Cause, Congestion, CongestionControl, Cx, Delivery, Lost, Sent};
use net::{Bottleneck, Fate, Fixed, Net, SEGMENT, ms, plain};
use stack::tcp::{AppLimited, Config, Demand};
use units::{Bytes, Duration, Rate, Time};

/// A constant window, and the samples of deliveries with their times.
#[derive(Clone, Debug)]
struct Asking {
    allowance: Allowance,
    observed: Vec<(Time, Delivery)>,
    sent: Vec<Sent>,
    losses: usize,
    lost: Vec<Lost>,
}

impl Asking {
    fn window(segments: u64) -> Self {
        Self::allowed(Allowance::window(Bytes::new(segments * SEGMENT)))
    }

    fn allowed(allowance: Allowance) -> Self {
        Self { allowance, observed: Vec::new(), sent: Vec::new(), losses: 0, lost: Vec::new() }
    }
}

impl CongestionControl for Asking {
    fn on_ack(&mut self, _ack: &Ack, _cx: &mut Cx<'_>) {}
    fn on_congestion(&mut self, event: &Congestion, _cx: &mut Cx<'_>) {
        self.losses += usize::from(event.cause == Cause::Loss);
    }
    fn allowance(&self) -> Allowance {
        self.allowance
    }
    fn samples_delivery(&self) -> bool {
        true
    }
    fn on_delivery(&mut self, delivery: &Delivery, cx: &mut Cx<'_>) {
        self.observed.push((cx.now(), *delivery));
    }
    fn on_lost(&mut self, lost: &Lost, _cx: &mut Cx<'_>) {
        self.lost.push(*lost);
    }
    fn on_sent(&mut self, sent: &Sent, _cx: &mut Cx<'_>) {
        self.sent.push(*sent);
    }
}

fn sacked() -> Config {
    Config { sack: true, ..plain() }
}

/// It transmits 1040 bytes, a segment and its header, per millisecond.
fn bottleneck(limit: usize) -> Option<Bottleneck> {
    Some(Bottleneck::new(Rate::from_kbps(8320), limit))
}

fn mbps(delivery: &Delivery) -> f64 {
    delivery.rate.expect("a sample").as_bps_f64() / 1e6
}

/// Windows of 5 segments each 100 ms are 400 kbit/s: the rate at which the path delivers, not the rate of the sender's
/// burst.
#[test]
fn a_window_that_does_not_fill_the_path_is_delivered_once_a_round_trip() {
    let mut net = Net::one(&sacked(), Asking::window(5));
    net.run_ms(1050);
    let observed = &net.flows[0].sender.controller().observed;
    // ten rounds of five
    assert_eq!(observed.len(), 50);
    for (at, delivery) in observed {
        assert_eq!((delivery.bytes, delivery.rtt), (Bytes::new(SEGMENT), Some(Duration::from_millis(100))));
        assert!(!delivery.app_limited && !delivery.recovering, "{at}");
    }
    // the first round has no earlier delivery as a reference: its k-th acknowledgement reports k segments
    let first: Vec<f64> = observed[..5].iter().map(|(_, delivery)| mbps(delivery)).collect();
    assert_eq!(first, [0.08, 0.16, 0.24, 0.32, 0.4]);
    assert!(observed[9..].iter().skip(4).step_by(5).all(|(_, delivery)| mbps(delivery) == 0.4));
    let (_, last) = observed[49];
    assert_eq!(last.total, Bytes::new(50 * SEGMENT));
}

/// 1040 bytes each millisecond at 8.32 Mbit/s are 8 Mbit/s of payload; the queue does not change that.
#[test]
fn a_path_that_is_full_is_measured_at_the_rate_of_its_bottleneck() {
    let mut net = Net::one(&sacked(), Asking::window(150));
    net.bottleneck = bottleneck(1000);
    net.run_ms(3000);
    let observed = &net.flows[0].sender.controller().observed;
    for (at, delivery) in observed.iter().filter(|(at, _)| *at > ms(500)) {
        assert!((mbps(delivery) - 8.0).abs() < 1e-9, "{} at {at}", mbps(delivery));
        // 150 segments at 8 Mbit/s
        assert_eq!(delivery.rtt, Some(Duration::from_millis(150)), "{at}");
    }
}

/// Sent at half the rate of the bottleneck, data is delivered at half of it.
#[test]
fn the_measured_rate_is_the_paced_rate() {
    let paced = Allowance { window: Bytes::new(1000 * SEGMENT), rate: Rate::from_kbps(4160) };
    let mut net = Net::one(&sacked(), Asking::allowed(paced));
    net.bottleneck = bottleneck(100);
    net.run_ms(2000);
    let observed = &net.flows[0].sender.controller().observed;
    assert!(observed.len() > 900);
    for (at, delivery) in observed.iter().filter(|(at, _)| *at > ms(500)) {
        assert!((mbps(delivery) - 4.0).abs() < 1e-9, "{} at {at}", mbps(delivery));
    }
}

/// Ten segments per second, and a window for many more.
#[test]
fn samples_and_departures_without_data_are_app_limited() {
    let config = Config { demand: Demand::Limited(Rate::from_kbps(80)), ..sacked() };
    let mut net = Net::one(&config, Asking::window(100));
    net.run_ms(2050);
    let controller = net.flows[0].sender.controller();
    assert!(
        controller.observed.len() > 15
            && controller.observed.iter().all(|(_, delivery)| delivery.app_limited)
    );
    assert!(controller.sent.iter().all(|sent| sent.app_limited));
}

/// Data runs out once, in between: segments sent until that data was delivered are marked as application-limited, and
/// later ones are not.
#[test]
fn app_limited_ends_when_the_marked_data_are_delivered() {
    let config = Config { demand: Demand::Finite(Bytes::new(20 * SEGMENT)), ..sacked() };
    let mut net = Net::one(&config, Asking::window(10));
    net.run_ms(150);
    // the second window is out and was filled: 20 segments of 20
    net.run_ms(350);
    net.input(0, true, contract::Input::App(contract::Request::Send(Bytes::new(30 * SEGMENT))));
    net.run_ms(2000);
    let limited: Vec<bool> =
        net.flows[0].sender.controller().observed.iter().map(|(_, delivery)| delivery.app_limited).collect();
    assert_eq!(limited.len(), 50);
    // the window of ten that leaves after the pause is marked, since nothing is known until it arrives; the rest is not
    let marked: Vec<usize> = (0..50).filter(|&i| limited[i]).collect();
    assert_eq!(marked, (20..30).collect::<Vec<_>>());
}

/// Which samples count as app-limited: of an answer of 20 segments, two of which are lost and retransmitted, and of one
/// of three segments a second later.
fn limited_in_answers(app_limited: AppLimited) -> Vec<(u64, bool)> {
    let config = Config { demand: Demand::Limited(Rate::ZERO), app_limited, ..sacked() };
    let mut net = Net::one(&config, Asking::window(20));
    net.script =
        Box::new(
            |sent| {
                if [5, 6].contains(&sent.segment) && sent.nth == 0 { Fate::Drop } else { Fate::Pass }
            },
        );
    net.run_ms(10);
    net.input(0, true, contract::Input::App(contract::Request::Send(Bytes::new(20 * SEGMENT))));
    net.run_ms(1000);
    net.input(0, true, contract::Input::App(contract::Request::Send(Bytes::new(3 * SEGMENT))));
    net.run_ms(2000);
    let observed = &net.flows[0].sender.controller().observed;
    observed.iter().map(|(_, delivery)| (delivery.bytes.as_u64() / SEGMENT, delivery.app_limited)).collect()
}

/// Linux marks the connection when the application writes: the first flight, and that after the pause before which all
/// has arrived, and not the retransmissions, which leave when there is nothing more to send
/// (`tcp_rate_check_app_limited`). The draft marks it as soon as there is nothing more.
#[test]
fn what_is_retransmitted_at_the_end_of_an_answer_is_limited_by_the_draft_only() {
    let samples = |retransmitted: bool| {
        let mut all = vec![(1, true); 23];
        all[18..20].fill((1, retransmitted));
        all
    };
    assert_eq!(limited_in_answers(AppLimited::AtWrite), samples(false));
    assert_eq!(limited_in_answers(AppLimited::AtEnd), samples(true));
}

/// Windows of five segments each 100 ms are 400 kbit/s. An application that writes 480 kbit/s always has more than the
/// window takes, also with half a segment of room in it; one that writes 320 kbit/s is what the connection waits for.
#[test]
fn an_application_that_is_faster_than_the_window_is_no_limit() {
    for (kbps, window, limited) in [(480, 10, false), (480, 11, false), (320, 10, true)] {
        let demand = Demand::Limited(Rate::from_kbps(kbps));
        let config = Config { demand, app_limited: AppLimited::AtWrite, ..sacked() };
        let allowed = Allowance::window(Bytes::new(window * SEGMENT / 2));
        let mut net = Net::one(&config, Asking::allowed(allowed));
        net.run_ms(5000);
        let observed = &net.flows[0].sender.controller().observed;
        let later: Vec<bool> = observed
            .iter()
            .filter(|(at, _)| *at > ms(1000))
            .map(|(_, delivery)| delivery.app_limited)
            .collect();
        assert!(later.len() > 100 && later.iter().all(|&mark| mark == limited), "{kbps} {window}: {later:?}");
    }
}

/// One of twenty is lost. Selectively acknowledged segments count on arrival, once, and the retransmission has no
/// round-trip time.
#[test]
fn selective_acknowledgements_are_deliveries_and_nothing_counts_twice() {
    let config = Config { demand: Demand::Finite(Bytes::new(20 * SEGMENT)), ..sacked() };
    let mut net = Net::one(&config, Asking::window(20));
    net.script = Box::new(|sent| if sent.segment == 4 && sent.nth == 0 { Fate::Drop } else { Fate::Pass });
    net.run_ms(1000);
    let controller = net.flows[0].sender.controller();
    assert_eq!(controller.losses, 1);
    assert!(controller.observed.iter().all(|(_, delivery)| delivery.bytes == Bytes::new(SEGMENT)));
    let totals: Vec<u64> =
        controller.observed.iter().map(|(_, delivery)| delivery.total.as_u64() / SEGMENT).collect();
    assert_eq!(totals, (1..=20).collect::<Vec<_>>());
    let (at, last) = controller.observed[19];
    // retransmitted when three later ones had arrived, at 100 ms; acknowledged at 200
    assert_eq!((at, last.rtt, last.recovering), (ms(200), None, false));
    // sixteen more had been delivered by then, and the third of them triggered the retransmission
    assert_eq!(last.total_when_sent, Bytes::new(7 * SEGMENT));
    assert!(controller.observed[7..19].iter().all(|(_, delivery)| delivery.recovering));
    // before the last, only the retransmission is in flight; before that one more
    assert_eq!(controller.observed[18].1.in_flight, Bytes::new(SEGMENT));
    assert_eq!(controller.observed[18].1.in_flight_before, Bytes::new(2 * SEGMENT));
}

/// A cumulative acknowledgement of data that was acknowledged selectively counts as one segment, not all.
#[test]
fn an_acknowledgement_that_closes_a_gap_delivers_what_was_missing() {
    let config = Config { demand: Demand::Finite(Bytes::new(6 * SEGMENT)), ..sacked() };
    let mut net = Net::one(&config, Asking::window(6));
    // the first arrives last, too late for three duplicates to wait for it
    net.script = Box::new(|sent| {
        if sent.segment == 0 && sent.nth == 0 { Fate::Late(Duration::from_millis(1)) } else { Fate::Pass }
    });
    net.run_ms(101);
    let controller = net.flows[0].sender.controller();
    let bytes: Vec<u64> =
        controller.observed.iter().map(|(_, delivery)| delivery.bytes.as_u64() / SEGMENT).collect();
    assert_eq!(bytes, [1, 1, 1, 1, 1, 1]);
    assert_eq!(controller.observed[5].1.total, Bytes::new(6 * SEGMENT));
}

/// RFC 6675 §4: segments 5 and 6 are lost when 7, 8 and 10 have arrived, and 9 when 10, 11 and 12 have. Each is
/// reported once, with the data in flight when it was sent: k + 1 segments for the k-th of the first burst.
#[test]
fn each_lost_packet_is_reported_once_with_what_was_in_flight_when_it_was_sent() {
    let mut net = Net::one(&sacked(), Asking::window(20));
    net.script =
        Box::new(
            |sent| {
                if [5, 6, 9].contains(&sent.segment) && sent.nth == 0 { Fate::Drop } else { Fate::Pass }
            },
        );
    net.run_ms(500);
    let controller = net.flows[0].sender.controller();
    let k = |bytes: Bytes| bytes.as_u64() / SEGMENT;
    let observed: Vec<_> = controller
        .lost
        .iter()
        .map(|lost| {
            (
                k(lost.bytes),
                k(lost.in_flight_when_sent),
                k(lost.lost),
                k(lost.total),
                lost.adjoins,
                lost.selective,
            )
        })
        .collect();
    assert_eq!(observed, [(1, 6, 1, 8, false, true), (1, 7, 2, 8, true, true), (1, 10, 3, 10, false, true)]);
    // of the segments of the first burst: nothing was lost before 10 arrived, and all three when 12 did
    let since: Vec<u64> = controller.observed.iter().map(|(_, delivery)| k(delivery.lost)).collect();
    assert_eq!(since[..10], [0, 0, 0, 0, 0, 0, 0, 2, 2, 3]);
    let sent: Vec<u64> =
        controller.observed.iter().map(|(_, delivery)| k(delivery.in_flight_when_sent)).collect();
    assert_eq!(sent[..10], [1, 2, 3, 4, 5, 8, 9, 11, 12, 13]);
}

/// RFC 6582: without selective acknowledgements, each is found when those before it are repaired. After a timeout, all
/// that are in flight count as lost.
#[test]
fn without_selective_acknowledgements_lost_packets_are_reported_one_by_one() {
    let mut net = Net::one(&plain(), Asking::window(20));
    net.script =
        Box::new(
            |sent| {
                if [5, 6].contains(&sent.segment) && sent.nth == 0 { Fate::Drop } else { Fate::Pass }
            },
        );
    net.run_ms(500);
    let lost = &net.flows[0].sender.controller().lost;
    let observed: Vec<_> = lost.iter().map(|lost| (lost.adjoins, lost.selective)).collect();
    assert_eq!(observed, [(false, false), (true, false)]);
    let mut net = Net::one(&sacked(), Asking::window(4));
    net.script = Box::new(|sent| if sent.nth == 0 { Fate::Drop } else { Fate::Pass });
    net.run_ms(2000);
    let lost = &net.flows[0].sender.controller().lost;
    assert_eq!(
        lost.iter().take(4).map(|lost| lost.in_flight_when_sent).collect::<Vec<_>>(),
        [1, 2, 3, 4].map(|k| Bytes::new(k * SEGMENT))
    );
}

/// A controller that does not ask for samples gets none, and sends the same.
#[test]
fn sampling_delivery_rates_changes_no_departure() {
    let lossy =
        |sent: &net::Sent| if sent.segment % 37 == 5 && sent.nth == 0 { Fate::Drop } else { Fate::Pass };
    let mut asking = Net::one(&sacked(), Asking::window(20));
    asking.script = Box::new(lossy);
    asking.run_ms(5000);
    let mut plain = Net::one(&sacked(), Fixed::window(20));
    plain.script = Box::new(lossy);
    plain.run_ms(5000);
    let log = |data: &[net::Sent]| data.iter().map(|sent| (sent.at, sent.segment)).collect::<Vec<_>>();
    assert_eq!(log(&asking.data), log(&plain.data));
    assert!(plain.data.len() > 500);
}

/// 50 ms each way, and synchronised clocks: half of the round-trip time.
#[test]
fn the_one_way_delay_is_the_receivers_clock_less_the_senders() {
    let mut net = Net::one(&plain(), Fixed::window(3));
    net.run_ms(450);
    let acks = &net.flows[0].sender.controller().acks;
    assert!(acks.len() >= 9 && acks.iter().all(|ack| ack.delay() == Some(50_000_000)), "{acks:?}");
}

/// A segment each 20 ms: the first of two waits 20 ms for the second, and its timestamp is echoed.
#[test]
fn the_delay_includes_the_wait_of_a_delayed_acknowledgement() {
    let config = Config { delayed_ack: true, demand: Demand::Limited(Rate::from_kbps(400)), ..plain() };
    let mut net = Net::one(&config, Fixed::window(20));
    net.run_ms(1000);
    let acks = &net.flows[0].sender.controller().acks;
    assert!(acks.len() > 20 && acks.iter().all(|ack| ack.delay() == Some(70_000_000)), "{acks:?}");
}

/// For a controller that asks: of the two segments the second triggered the acknowledgement, 50 ms after it left.
#[test]
fn the_delay_of_the_newest_segment_excludes_the_wait() {
    let config = Config { delayed_ack: true, demand: Demand::Limited(Rate::from_kbps(400)), ..plain() };
    let mut net = Net::one(&config, Asking::window(20));
    net.run_ms(1000);
    let observed = &net.flows[0].sender.controller().observed;
    assert!(
        observed.len() > 20 && observed.iter().all(|(_, delivery)| delivery.delay == Some(50_000_000)),
        "{observed:?}"
    );
    assert!(observed.iter().all(|(_, delivery)| delivery.bytes == Bytes::new(2 * SEGMENT)));
}
