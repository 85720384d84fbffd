use contract::Count;

use super::*;
use crate::icn::Attachment;

const ACCESS: Address = address(2);
const OTHER: Address = address(3);

fn member() -> Attachment {
    Attachment::member(G, NAME, ACCESS, &config())
}

/// Handles the timers of an attachment up to and including `end`; returns its messages, with the times in ms.
fn run(bed: &mut TestBench, host: &mut Attachment, end: u64) -> Vec<(u64, u32, Signal)> {
    let messages = |bed: &mut TestBench| {
        let millis = bed.now.as_nanos() / 1_000_000;
        bed.signals().into_iter().map(move |(to, signal)| (millis, to, signal)).collect::<Vec<_>>()
    };
    let mut all = messages(bed);
    while host.wake() <= at_ms(end) {
        bed.now = host.wake();
        bed.host(|cx| host.on_timer(cx));
        assert!(host.wake() > bed.now, "the deadline moves on");
        all.extend(messages(bed));
    }
    bed.now = at_ms(end);
    all
}

fn started(probe: bool) -> (TestBench, Attachment) {
    let (mut bed, mut host) = (TestBench::new(), member());
    bed.host(|cx| host.start(probe, cx));
    (bed, host)
}

fn receive(bed: &mut TestBench, host: &mut Attachment, from: Address, signal: Signal) -> bool {
    bed.host(|cx| host.on_signal(&signal, from, cx))
}

/// A member whose access router has accepted it after 100 ms, and which now measures its access link.
fn probing() -> (TestBench, Attachment) {
    let (mut bed, mut host) = started(true);
    run(&mut bed, &mut host, 100);
    assert!(!receive(&mut bed, &mut host, ACCESS, accepted()), "it is not yet ready");
    assert_eq!(run(&mut bed, &mut host, 100), [(100, 2, Signal::Probe { group: G, packets: 5 })]);
    (bed, host)
}

/// The probe `index` arrives the given number of microseconds after the previous one.
fn probed(bed: &mut TestBench, host: &mut Attachment, index: u8, later_us: u64) -> bool {
    bed.now += Duration::from_micros(later_us);
    receive(bed, host, ACCESS, Signal::Probed { group: G, index })
}

#[test]
fn requests_are_repeated_with_exponential_backoff_up_to_four_times() {
    let (mut bed, mut host) = started(false);
    let times: Vec<u64> = run(&mut bed, &mut host, 9000)
        .into_iter()
        .map(|(at, to, signal)| {
            assert_eq!((to, signal), (2, join()));
            at
        })
        .collect();
    assert_eq!(times, [0, 500, 1500, 3500, 5500, 7500]);
    assert_eq!(bed.meter.count(Count::Signals), 6);
}

#[test]
fn state_is_refreshed_every_period() {
    let (mut bed, mut host) = started(false);
    run(&mut bed, &mut host, 100);
    assert!(receive(&mut bed, &mut host, ACCESS, accepted()), "it is attached");
    assert_eq!(run(&mut bed, &mut host, 5150), [(5100, 2, join())]);
    assert!(!receive(&mut bed, &mut host, ACCESS, accepted()), "it was before");
    // this time there is no answer
    let times: Vec<u64> = run(&mut bed, &mut host, 14_000).iter().map(|messages| messages.0).collect();
    assert_eq!(times, [10_150, 10_650, 11_650, 13_650]);
}

#[test]
fn a_source_publishes_and_says_when_it_stops() {
    let (mut bed, mut host) = (TestBench::new(), Attachment::source(G, NAME, ACCESS, &config()));
    bed.host(|cx| host.start(false, cx));
    assert_eq!(run(&mut bed, &mut host, 100), [(0, 2, Signal::Publish { group: G, gumgid: NAME })]);
    assert!(receive(&mut bed, &mut host, ACCESS, accepted()));
    bed.host(|cx| host.stop(cx));
    assert_eq!(run(&mut bed, &mut host, 60_000), [(100, 2, Signal::Unpublish { group: G })]);
}

#[test]
fn unexpected_signals_are_counted() {
    let other = Signal::Accepted { group: GroupId(7) };
    let (mut bed, mut host) = started(false);
    run(&mut bed, &mut host, 0);
    for signal in [other, join(), Signal::Probed { group: G, index: 0 }, leave()] {
        assert!(!receive(&mut bed, &mut host, ACCESS, signal));
    }
    assert_eq!(bed.meter.count(Count::Ignored), 4);
    assert!(receive(&mut bed, &mut host, ACCESS, accepted()));
    assert!(!receive(&mut bed, &mut host, ACCESS, other));
    assert_eq!(bed.meter.count(Count::Ignored), 5);
    bed.host(|cx| host.stop(cx));
    bed.signals();
    assert!(!receive(&mut bed, &mut host, ACCESS, accepted()), "too late");
    assert_eq!((bed.meter.count(Count::Ignored), bed.signals().len()), (6, 0));
}

#[test]
fn the_shortest_gap_of_a_train_tells_the_capacity() {
    let (mut bed, mut host) = probing();
    // 1000 bytes in 800 µs are 10 Mbit/s; another packet arrived between the second and the third
    for (index, later_us) in [(0, 5000), (1, 800), (2, 2000), (3, 800)] {
        assert!(!probed(&mut bed, &mut host, index, later_us));
    }
    assert!(probed(&mut bed, &mut host, 4, 800), "the train is whole");
    assert_eq!(host.capacity(), Some(Rate::from_mbps(10)));
    assert_eq!(run(&mut bed, &mut host, 5000), [], "nothing is asked until the refresh");
    // a remaining probe of another train is ignored
    assert!(!probed(&mut bed, &mut host, 4, 1));
    assert_eq!((host.capacity(), bed.meter.count(Count::Ignored)), (Some(Rate::from_mbps(10)), 0));
}

#[test]
fn only_neighbours_of_a_train_count() {
    let (mut bed, mut host) = probing();
    // the second and the last are lost
    for (index, later_us) in [(0, 5000), (2, 900), (3, 1000)] {
        assert!(!probed(&mut bed, &mut host, index, later_us));
    }
    assert_eq!(run(&mut bed, &mut host, 599), []);
    assert_eq!(host.wake(), at_ms(600), "it waits for the rest");
    bed.now = host.wake();
    assert!(bed.host(|cx| host.on_timer(cx)), "what came is enough");
    assert_eq!(host.capacity(), Some(Rate::from_mbps(8)));
}

#[test]
fn after_three_trains_the_capacity_stays_unknown() {
    let (mut bed, mut host) = probing();
    for (index, retransmitted, wait) in [(1, 600, 1000), (2, 1600, 2000)] {
        // of each train a single packet arrives
        probed(&mut bed, &mut host, index, 5000);
        let probe = Signal::Probe { group: G, packets: 5 };
        assert_eq!(run(&mut bed, &mut host, retransmitted), [(retransmitted, 2, probe)]);
        assert_eq!(host.wake(), at_ms(retransmitted + wait));
    }
    bed.now = host.wake();
    assert!(bed.host(|cx| host.on_timer(cx)), "it is attached all the same");
    assert_eq!((host.capacity(), bed.signals().len()), (None, 0));
}

#[test]
fn a_link_without_a_rate_has_unlimited_capacity() {
    let (mut bed, mut host) = probing();
    (0..4).for_each(|index| assert!(!probed(&mut bed, &mut host, index, 0)));
    assert!(probed(&mut bed, &mut host, 4, 0));
    // 8000 bits in less than a nanosecond
    assert_eq!(host.capacity(), Some(Rate::from_bps(8_000_000_000_000)));
}

#[test]
fn invalid_numbers_in_packet_trains_are_ignored() {
    let (mut bed, mut host) = probing();
    for index in [255, 254, 255, 0] {
        assert!(!probed(&mut bed, &mut host, index, 100));
    }
}

#[test]
fn trains_of_less_than_two_are_not_asked_for() {
    let (mut bed, config) = (TestBench::new(), Config { probe_packets: 1, ..config() });
    let mut host = Attachment::member(G, NAME, ACCESS, &config);
    bed.host(|cx| host.start(true, cx));
    assert!(receive(&mut bed, &mut host, ACCESS, accepted()), "it is attached at once");
    assert_eq!(host.capacity(), None);
}

#[test]
fn a_leaving_member_sends_one_leave_and_nothing_else() {
    for attached in [false, true] {
        let (mut bed, mut host) = started(true);
        run(&mut bed, &mut host, 100);
        if attached {
            receive(&mut bed, &mut host, ACCESS, accepted());
            run(&mut bed, &mut host, 100);
        }
        bed.host(|cx| host.stop(cx));
        assert_eq!(run(&mut bed, &mut host, 60_000), [(100, 2, leave())]);
        bed.host(|cx| host.stop(cx));
        assert_eq!(bed.signals(), []);
    }
}

#[test]
fn a_members_parent_is_the_router_that_accepted_last() {
    let (mut bed, mut host) = started(false);
    assert_eq!(host.above(), ACCESS);
    run(&mut bed, &mut host, 100);
    // the join was intercepted on its way to the access router
    assert!(receive(&mut bed, &mut host, OTHER, accepted()));
    assert_eq!((host.above(), bed.signals().len()), (OTHER, 0));
    // the path has changed
    assert!(!receive(&mut bed, &mut host, ACCESS, accepted()));
    assert_eq!((host.above(), bed.signals()), (ACCESS, vec![(3, leave())]));
    receive(&mut bed, &mut host, OTHER, accepted());
    bed.host(|cx| host.stop(cx));
    assert_eq!(bed.signals(), [(2, leave()), (3, leave())]);
    bed.host(|cx| host.start(false, cx));
    assert_eq!((host.above(), bed.signals()), (ACCESS, vec![(2, join())]));
}
