//! Tests that data arrive over impaired networks.

use contract::{Count, Ecn, Random};

use super::*;
use crate::{End, Limits, Phase};

/// A bottleneck of `mbps` with a queue of `packets`, and `delay` each way, for datagrams of `from`.
fn bottleneck(from: SocketAddr, mbps: u64, packets: u64, delay: Duration) -> VirtualNetwork {
    let mut free_at = Time::ZERO;
    VirtualNetwork::new(move |passing| {
        if passing.from != from {
            return vec![passing.after(delay)];
        }
        let serialise = Duration::from_nanos((passing.bytes.len() as u64 + 28) * 8 * 1000 / mbps);
        let start = free_at.max(passing.at);
        if start.saturating_since(passing.at) > serialise * packets {
            return Vec::new();
        }
        free_at = start + serialise;
        vec![passing.after(free_at.saturating_since(passing.at) + delay)]
    })
}

#[test]
fn a_paced_flow_arrives_whole_and_both_ends_know() {
    let left = numbers(&VirtualNetwork::plain(ms(10)), &steady("8 Mbit/s"), 2000);
    assert_eq!((&left.sender.end, &left.receiver.end), (&End::Complete, &End::Complete));
    left.had.open(|had| assert_eq!((had.right >= 2000, had.wrong, had.ended), (true, 0, 1)));
    left.told
        .open(|told| assert_eq!((told.joins, told.leaves, told.filled), (1, 1, left.sender.stats.packets)));
    let stats = &left.receiver.stats;
    assert_eq!(
        (stats.sessions, stats.discarded.total(), stats.packets),
        (1, 0, left.had.open(|had| had.right))
    );
    assert_eq!(stats.bytes, stats.packets * 1028);
    assert_eq!(stats.content, stats.packets * (1000 - wire::stream::DATA as u64));
    assert_eq!(stats.meter.count(Count::Missing), 0);
}

/// 8 Mbit/s are one packet of 1000 bytes per millisecond; the jitter of the stream's pacer is 1 %.
#[test]
fn packets_leave_when_the_machine_says() {
    let left = numbers(&VirtualNetwork::plain(ms(10)), &Scheme { packet: 1000, ..steady("8 Mbit/s") }, 500);
    left.had.open(|had| {
        for pair in had.times.windows(2) {
            let gap = pair[1].saturating_since(pair[0]).as_secs_f64();
            assert!((gap - 1e-3).abs() < 2.1e-5, "{gap}");
        }
    });
    // no wait of the test's clock is shorter than a microsecond
    assert!(left.sender.stats.lateness.max() <= Duration::from_micros(1));
}

/// A loop that is late by 700 µs each time sends the packets that were due in batches: the rate is kept.
#[test]
fn a_loop_that_sleeps_too_long_keeps_the_rate() {
    let net = VirtualNetwork::plain(ms(10));
    let (a, b) = addresses();
    let late = Duration::from_micros(700);
    let places = (net.host(a, ms(1)).oversleeping(late), net.host(b, ms(0)));
    let ends = (settings(Handshake::Connect(b)), settings(Handshake::Listen));
    let left = numbers_between(places, &steady("80 Mbit/s"), 20_000, ends, Controls::default());
    // MCA's first feedback is behind it
    let (first, last, count) = left.had.open(|had| (had.times[2000], had.times[19_999], 17_999.0));
    let rate = count * 1028.0 * 8.0 / last.saturating_since(first).as_secs_f64();
    assert!((rate / 80e6 - 1.0).abs() < 0.002, "{rate}");
    let lateness = &left.sender.stats.lateness;
    assert!(lateness.max() > Duration::ZERO && lateness.max() <= late + ms(1), "{}", lateness.max());
}

/// After a pause of a second a loop sends the packets that were due within two milliseconds, and not those of a second.
#[test]
fn a_loop_that_was_away_does_not_send_all_at_once() {
    let net = VirtualNetwork::plain(ms(10));
    let (a, b) = addresses();
    let places = (net.host(a, ms(1)).oversleeping(Duration::from_secs(1)), net.host(b, ms(0)));
    let ends = (settings(Handshake::Connect(b)), settings(Handshake::Listen));
    let left = numbers_between(places, &steady("8 Mbit/s"), 20, ends, Controls::default());
    left.had.open(|had| {
        let burst = had.times.chunk_by(|a, b| a == b).map(<[Time]>::len).max();
        assert!(burst <= Some(4), "{burst:?}");
    });
}

#[test]
fn every_stream_scheme_of_the_catalogue_carries_data() {
    for name in ["asmp", "cvihis", "mca", "perif_ecn", "pgmcc", "srmcc", "tfmcc", "tfrc"] {
        let left = numbers(&bottleneck(addresses().0, 10, 50, ms(10)), &Scheme::new(name), 300);
        assert_eq!((&left.sender.end, &left.receiver.end), (&End::Complete, &End::Complete), "{name}");
        left.had.open(|had| assert_eq!(had.wrong, 0, "{name}"));
    }
}

#[test]
fn every_window_law_for_ip_carries_data() {
    for name in ["aimd", "bbr", "bic", "cubic", "ledbat", "ledbat_pp", "reno", "tcp_lp"] {
        let net = bottleneck(addresses().0, 10, 30, ms(10));
        let (sender, receiver, kept, wrong) = bytes(&net, &Scheme::new(name), 1_000_000, u64::MAX);
        assert_eq!((&sender.end, &receiver.end, wrong), (&End::Complete, &End::Complete, 0), "{name}");
        kept.open(|kept| assert_eq!((kept.contiguous, kept.wrong), (1_000_000, 0), "{name}"));
        // 1 MB takes 0.8 s at 10 Mbit/s
        let span = receiver.stats.span();
        assert!(span > ms(800), "{name}: {span}");
    }
}

#[test]
fn a_windowed_flow_survives_loss_copies_damage_and_disorder() {
    let mut random = Random::new(7, "net", "mischief");
    let net = VirtualNetwork::new(move |passing| {
        let mut arrivals = Vec::new();
        for _ in 0..if random.chance(0.02) { 2 } else { 1 } {
            if random.chance(0.02) {
                continue;
            }
            let delay = if random.chance(0.05) { 25 } else { 10 };
            let mut arrival = passing.after(ms(delay));
            if random.chance(0.02) {
                let place = random.below(arrival.bytes.len() as u64) as usize;
                arrival.bytes[place] ^= 1 << random.below(8);
            }
            arrivals.push(arrival);
        }
        arrivals
    });
    let (sender, receiver, kept, wrong) = bytes(&net, &Scheme::new("cubic"), 3_000_000, u64::MAX);
    assert_eq!((&sender.end, &receiver.end, wrong), (&End::Complete, &End::Complete, 0));
    kept.open(|kept| assert_eq!((kept.contiguous, kept.wrong, kept.max), (3_000_000, 0, 3_000_000)));
    let refused = receiver.stats.discarded;
    assert!(
        refused.repeated > 20 && refused.forged + refused.malformed + refused.strangers > 20,
        "{refused:?}"
    );
    assert!(sender.stats.meter.count(Count::Retransmits) > 50);
}

#[test]
fn a_source_that_trickles_is_carried_as_it_comes() {
    // 500 bytes per millisecond are less than a segment
    let (sender, receiver, kept, wrong) =
        bytes(&VirtualNetwork::plain(ms(5)), &Scheme::new("reno"), 200_000, 500);
    assert_eq!((&sender.end, &receiver.end, wrong), (&End::Complete, &End::Complete, 0));
    kept.open(|kept| assert_eq!((kept.contiguous, kept.wrong), (200_000, 0)));
    let span = receiver.stats.span();
    assert!(span > ms(400) && span < ms(600), "{span}");
}

#[test]
fn marks_of_the_network_reach_the_machines() {
    let mut count = 0;
    let net = VirtualNetwork::new(move |passing| {
        let mut arrival = passing.after(ms(10));
        if passing.ecn == Ecn::Capable {
            count += 1;
            if count % 10 == 0 {
                arrival.ecn = Ecn::Marked;
            }
        }
        vec![arrival]
    });
    let (sender, receiver, ..) = bytes(&net, &Scheme::new("reno"), 1_000_000, u64::MAX);
    assert_eq!(sender.end, End::Complete);
    assert!(receiver.stats.marked > 50);
    assert_eq!(receiver.stats.meter.count(Count::Marks), receiver.stats.marked);
    assert!(sender.stats.meter.count(Count::Episodes) > 5);
}

#[test]
fn a_change_of_mode_reaches_both_ends_from_either() {
    for at_sender in [true, false] {
        let net = VirtualNetwork::plain(ms(10));
        let controls = Controls::default();
        let (a, b) = addresses();
        let places = (net.host(a, ms(1)), net.host(b, ms(0)));
        let asked = if at_sender { &controls.sender } else { &controls.receiver };
        // the law at the source counts a mode that the scheme does not have, and ignores it
        asked.change_mode("nowhere");
        let ends = (settings(Handshake::Connect(b)), settings(Handshake::Listen));
        let left = numbers_between(places, &Scheme::new("cvihis"), 100, ends, controls);
        assert_eq!(left.sender.end, End::Complete);
        assert_eq!(left.sender.stats.meter.count(Count::Ignored), 1, "asked at the sender: {at_sender}");
    }
}

#[test]
fn whoever_is_asked_to_stop_says_so_to_the_other() {
    let net = VirtualNetwork::plain(ms(10));
    let (a, b) = addresses();
    let mut here = net.host(a, ms(1));
    let mut there = net.host(b, ms(0));
    let control = Arc::new(Control::new());
    let seen = Arc::clone(&control);
    let sending = thread::spawn(move || {
        let payload = Numbers { wanted: u64::MAX, done: false, told: Shelf::default() };
        let cargo = Outgoing::Paced(Box::new(payload));
        send(
            &settings(Handshake::Connect(b)),
            &steady("8 Mbit/s"),
            cargo,
            Vec::new(),
            &mut here,
            &Control::new(),
        )
    });
    let receiving = thread::spawn(move || {
        /// Asks its own session to stop after a hundred packets.
        struct Stops(Arc<Control>, u32);
        impl Sink for Stops {
            fn take(&mut self, _seq: u64, _now: Time, _content: &[u8]) {
                self.1 += 1;
                if self.1 == 100 {
                    self.0.stop();
                }
            }
            fn speak(&mut self, _now: Time, _word: &mut [u8; MAX_MESSAGE_BYTES]) -> usize {
                0
            }
            fn status(&self) -> Status {
                Status::Going
            }
        }
        let inner = Arc::clone(&control);
        let mut accept =
            |_: &wire::stream::Offer| Ok(Incoming::Paced(Box::new(Stops(Arc::clone(&inner), 0))));
        receive(&settings(Handshake::Listen), &mut accept, &mut there, &control)
    });
    let sender = sending.join().expect("the sender does not panic");
    let receiver = receiving.join().expect("the receiver does not panic");
    assert_eq!(receiver.end, End::Stopped);
    assert_eq!(sender.end, End::Closed(wire::stream::Reason::Stopped));
    assert!(receiver.stats.packets < 150);
    assert_eq!(seen.progress.phase(), Phase::Over);
}

/// The network is down for five seconds: the sender pauses after three, and continues when it is up again.
#[test]
fn ends_that_lost_each_other_wait_and_go_on() {
    let net = VirtualNetwork::new({
        let mut began = None;
        move |passing| {
            let since = passing.at.saturating_since(*began.get_or_insert(passing.at));
            if since > ms(1000) && since < ms(6000) { Vec::new() } else { vec![passing.after(ms(10))] }
        }
    });
    let left = numbers(&net, &steady("8 Mbit/s"), 3000);
    assert_eq!((&left.sender.end, &left.receiver.end), (&End::Complete, &End::Complete));
    assert_eq!((left.sender.stats.sessions, left.receiver.stats.sessions), (1, 1));
    // 973 per second: it sent for three more seconds without a receiver, and not while it called
    let packets = left.sender.stats.packets;
    assert!(packets > 3000 + 2800 && packets < 3000 + 3200, "{packets}");
}

#[test]
fn a_receiver_that_was_killed_and_started_again_is_served_again() {
    let net = VirtualNetwork::plain(ms(10));
    let (a, b) = addresses();
    let mut here = net.host(a, ms(1));
    let (first, second) = (net.host(b, ms(0)).dying(ms(1500)), net.host(b, ms(2000)));
    let sending = thread::spawn(move || {
        let payload = Numbers { wanted: 500, done: false, told: Shelf::default() };
        let cargo = Outgoing::Paced(Box::new(payload));
        send(
            &settings(Handshake::Connect(b)),
            &steady("80 kbit/s"),
            cargo,
            Vec::new(),
            &mut here,
            &Control::new(),
        )
    });
    let [first, second] = [first, second].map(|mut place| {
        thread::spawn(move || {
            let mut accept = |_: &wire::stream::Offer| {
                let sink = Counter { wanted: 500, had: Shelf::default(), speak_at: Time::ZERO };
                Ok(Incoming::Paced(Box::new(sink)))
            };
            receive(&settings(Handshake::Listen), &mut accept, &mut place, &Control::new())
        })
    });
    assert!(first.join().is_err(), "it was killed");
    let (sender, second) = (sending.join().expect("no panic"), second.join().expect("no panic"));
    assert_eq!((&sender.end, &second.end, sender.stats.sessions), (&End::Complete, &End::Complete, 2));
}

#[test]
fn an_end_that_never_comes_back_is_given_up() {
    let net = VirtualNetwork::plain(ms(10));
    let (a, b) = addresses();
    let places = (net.host(a, ms(1)), net.host(b, ms(0)));
    let limits = Limits { patience: Duration::from_secs(8), ..Limits::default() };
    let ends = (Settings { limits, ..settings(Handshake::Connect(b)) }, settings(Handshake::Listen));
    let (here, there) = (places.0, places.1.dying(ms(1000)));
    let sending = thread::spawn(move || {
        let mut here = here;
        let payload = Numbers { wanted: u64::MAX, done: false, told: Shelf::default() };
        let cargo = Outgoing::Paced(Box::new(payload));
        send(&ends.0, &steady("80 kbit/s"), cargo, Vec::new(), &mut here, &Control::new())
    });
    let receiving = thread::spawn(move || {
        let mut there = there;
        let mut accept = |_: &wire::stream::Offer| {
            let sink = Counter { wanted: u64::MAX, had: Shelf::default(), speak_at: Time::ZERO };
            Ok(Incoming::Paced(Box::new(sink)))
        };
        receive(&ends.1, &mut accept, &mut there, &Control::new())
    });
    assert!(receiving.join().is_err());
    let sender = sending.join().expect("no panic");
    assert_eq!(sender.end, End::Silent);
    // 10 packets per second, for the second with a receiver and the three until its absence was detected
    assert!(sender.stats.packets <= 42, "{}", sender.stats.packets);
}
