//! What holds for every queue discipline of the list.

use contract::Ecn;
use proptest::prelude::*;

use super::testing::{self, Link};
use super::*;
use units::{Bytes, Duration};

#[test]
fn the_list_is_sorted_and_its_defaults_are_in_range() {
    assert!(ALL.is_sorted_by_key(|entry| entry.name));
    for entry in ALL {
        let params = (entry.resolve)(&[]).expect("defaults");
        assert_eq!((entry.read)(&params).expect("defaults").name(), entry.name);
        assert_eq!(params.len(), (entry.params)().len());
    }
}

/// An event at a queue.
#[derive(Clone, Copy, Debug)]
enum Event {
    /// A packet of this flow and size arrives; ECT or not.
    Offer(u32, u32, Ecn),
    /// A packet leaves.
    Serve,
    /// Milliseconds pass.
    Pass(u64),
}

fn codepoint() -> impl Strategy<Value = Ecn> {
    prop_oneof![Just(Ecn::NotCapable), Just(Ecn::Capable), Just(Ecn::CapableL4s)]
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let event = prop_oneof![
        6 => (0u32..5, 40u32..1500, codepoint()).prop_map(|(flow, size, ecn)| Event::Offer(flow, size, ecn)),
        4 => Just(Event::Serve),
        2 => (0u64..60).prop_map(Event::Pass),
    ];
    prop::collection::vec(event, 1..400)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]
    #[test]
    fn packets_are_conserved_and_limits_hold(events in events(), limit in 1u32..40, in_bytes: bool) {
        let queue_limit = if in_bytes { testing::bytes(u64::from(limit) * 500) } else { testing::packets(limit) };
        for entry in ALL {
            let discipline = (entry.read)(&[]).expect("defaults");
            let mut link = Link::new(discipline.build(queue_limit));
            let (mut held, mut bytes, mut now, mut marks_offers) = (0u32, 0u64, 0, false);
            for &event in &events {
                match event {
                    Event::Offer(flow, size, ecn) => {
                        link.ecn = ecn;
                        let verdict = link.offer(flow, size);
                        marks_offers |= verdict == Verdict::Mark;
                        if !matches!(verdict, Verdict::Drop(_)) {
                            (held, bytes) = (held + 1, bytes + u64::from(size));
                        }
                    }
                    Event::Serve => {
                        let had = held > 0;
                        let (before, marks) = (link.dropped.len(), link.marked);
                        let served = link.serve();
                        // a mark counts, whatever the packet's codepoint was
                        let is_marked = served.is_some_and(|packet| packet.ecn == Ecn::Marked);
                        prop_assert!(link.marked == marks + u64::from(is_marked) || marks_offers, "{}", entry.name);
                        if let Some(packet) = served {
                            (held, bytes) = (held - 1, bytes - u64::from(packet.size_bytes));
                        }
                        // a queue with packets sends one, or has dropped all of them
                        prop_assert!(served.is_some() == had || link.dropped.len() > before, "{}", entry.name);
                    }
                    Event::Pass(ms) => {
                        now += ms;
                        link.at_ms(now);
                    }
                }
                for (_, size, _) in link.dropped.drain(..) {
                    (held, bytes) = (held - 1, bytes - u64::from(size));
                }
                let backlog = link.queue.backlog();
                prop_assert_eq!(backlog, Backlog { packets: held, bytes: Bytes::new(bytes) }, "{}", entry.name);
                prop_assert!(held <= queue_limit.packets && bytes <= queue_limit.bytes.as_u64(), "{}", entry.name);
            }
            let left = link.queue.drain();
            prop_assert_eq!(left.len() as u32, held, "{}", entry.name);
            prop_assert_eq!(link.queue.backlog(), Backlog::default(), "{}", entry.name);
            // what a failed link has lost leaves nothing behind
            link.now += Duration::from_secs(1);
            prop_assert!(link.serve().is_none());
            prop_assert_eq!(link.offer(0, 100), Verdict::Pass, "{}", entry.name);
            prop_assert_eq!(link.serve().map(|packet| packet.size_bytes), Some(100), "{}", entry.name);
        }
    }
    /// [`QueueDiscipline::transit`] is what its documentation says, of every discipline that has a shorter way.
    #[test]
    fn a_packet_in_transit_is_enqueued_and_dequeued(events in events(), limit in 1u32..40, in_bytes: bool) {
        let queue_limit = if in_bytes { testing::bytes(u64::from(limit) * 500) } else { testing::packets(limit) };
        for entry in ALL {
            let discipline = (entry.read)(&[]).expect("defaults");
            let mut short = Link::new(discipline.build(queue_limit));
            let mut long = Link::new(discipline.build(queue_limit));
            let (mut idle_since, mut now) = (None, 0);
            for &event in &events {
                match event {
                    Event::Offer(flow, size, ecn) => {
                        (short.ecn, long.ecn) = (ecn, ecn);
                        if short.queue.backlog().packets > 0 {
                            prop_assert_eq!(short.offer(flow, size), long.offer(flow, size));
                            continue;
                        }
                        let in_transit = short.transit(flow, size, idle_since);
                        if let Some(since) = idle_since {
                            let now = std::mem::replace(&mut long.now, since);
                            prop_assert!(long.serve().is_none());
                            long.now = now;
                        }
                        let enqueued = (long.offer(flow, size), long.serve());
                        prop_assert_eq!(format!("{in_transit:?}"), format!("{enqueued:?}"), "{}", entry.name);
                        idle_since = in_transit.1.map(|_| short.now);
                    }
                    Event::Serve => {
                        let served = short.serve();
                        prop_assert_eq!(format!("{served:?}"), format!("{:?}", long.serve()));
                        idle_since = served.map(|_| short.now);
                    }
                    Event::Pass(ms) => {
                        now += ms;
                        short.at_ms(now);
                        long.at_ms(now);
                    }
                }
                prop_assert_eq!(&short.dropped, &long.dropped);
                prop_assert_eq!(short.marked, long.marked);
                prop_assert_eq!(format!("{:?}", short.queue), format!("{:?}", long.queue), "{}", entry.name);
            }
        }
    }
}
