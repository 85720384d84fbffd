use contract::{Count, RESOLVED, Registration};

use super::*;
use crate::icn::Resolver;

fn register(bed: &mut TestBench, nrs: &mut Resolver, node: u32, cost: u64) {
    let node = Registration { at: address(node), cost };
    bed.receive(nrs, node.at, 0, Signal::Register { gumgid: NAME, node });
}

/// The nodes and costs of an answer.
fn request(bed: &mut TestBench, nrs: &mut Resolver, gumgid: Eid) -> Vec<(u32, u64)> {
    bed.receive(nrs, address(3), 0, Signal::Resolve { group: G, gumgid });
    let messages = bed.signals();
    let [(3, Signal::Resolved { group: G, count, nodes })] = messages[..] else { panic!("{messages:?}") };
    nodes[..usize::from(count)].iter().map(|node| (node.at.node.0, node.cost)).collect()
}

#[test]
fn an_answer_lists_the_routers_nearest_to_the_root_up_to_its_size() {
    let (mut bed, mut nrs) = (TestBench::new(), Resolver::new(&config()));
    assert_eq!(request(&mut bed, &mut nrs, NAME), []);
    for (node, cost) in [(7, 30), (5, 20), (8, 0), (6, 20)] {
        register(&mut bed, &mut nrs, node, cost);
    }
    assert_eq!(RESOLVED, 2);
    assert_eq!(request(&mut bed, &mut nrs, NAME), [(8, 0), (5, 20)]);
    assert_eq!(request(&mut bed, &mut nrs, Eid::of("another")), []);
    // a node that registers again replaces its entry
    register(&mut bed, &mut nrs, 6, 10);
    register(&mut bed, &mut nrs, 8, 40);
    assert_eq!(request(&mut bed, &mut nrs, NAME), [(6, 10), (5, 20)]);
    assert_eq!((nrs.names(), bed.meter.count(Count::Signals)), (1, 4));
}

#[test]
fn registrations_expire_without_refresh() {
    let (mut bed, mut nrs) = (TestBench::new(), Resolver::new(&config()));
    register(&mut bed, &mut nrs, 6, 0);
    register(&mut bed, &mut nrs, 7, 10);
    bed.run(&mut nrs, at_ms(5000));
    register(&mut bed, &mut nrs, 7, 10);
    bed.run(&mut nrs, at_ms(STATE_LIFETIME_MS - 1));
    assert_eq!(request(&mut bed, &mut nrs, NAME), [(6, 0), (7, 10)]);
    bed.run(&mut nrs, at_ms(STATE_LIFETIME_MS));
    assert_eq!(request(&mut bed, &mut nrs, NAME), [(7, 10)]);
    assert_eq!(bed.run(&mut nrs, at_ms(5000 + STATE_LIFETIME_MS)).len(), 0);
    assert_eq!((nrs.names(), nrs.wake()), (0, Time::NEVER), "nothing is kept of it");
}

#[test]
fn a_node_withdraws_itself_only() {
    let (mut bed, mut nrs) = (TestBench::new(), Resolver::new(&config()));
    register(&mut bed, &mut nrs, 6, 0);
    register(&mut bed, &mut nrs, 7, 10);
    bed.receive(&mut nrs, address(5), 0, Signal::Withdraw { gumgid: NAME });
    bed.receive(&mut nrs, address(6), 0, Signal::Withdraw { gumgid: Eid::of("another") });
    assert_eq!(request(&mut bed, &mut nrs, NAME), [(6, 0), (7, 10)]);
    bed.receive(&mut nrs, address(6), 0, Signal::Withdraw { gumgid: NAME });
    assert_eq!(request(&mut bed, &mut nrs, NAME), [(7, 10)]);
    bed.receive(&mut nrs, address(7), 0, Signal::Withdraw { gumgid: NAME });
    assert_eq!(nrs.names(), 0);
}

#[test]
fn signals_for_others_are_counted() {
    let (mut bed, mut nrs) = (TestBench::new(), Resolver::new(&config()));
    bed.receive(&mut nrs, address(3), 0, join());
    bed.handle(&mut nrs, RouterInput::Packet(&packet(address(3), Header::Feedback), PortId(0)));
    assert_eq!((bed.meter.count(Count::Ignored), bed.messages().len(), nrs.names()), (2, 0, 0));
}
