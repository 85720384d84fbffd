//! Nodes 0 and 3 are routers with two paths between them, 0 – 1 – 3 and 0 – 2 – 3; hosts 4 and 5 are behind 3.

use contract::{Command, Net, NodeId, PortId, Share, Traffic};
use units::Duration;

use super::{App, Params};
use crate::shared::sdn_testing::{AppBench, net};

fn network() -> Net {
    let mut net = net(6, &[(0, 1, 1), (1, 3, 1), (0, 2, 2), (2, 3, 2), (3, 4, 1), (3, 5, 1)]);
    net.agents.truncate(4);
    for to in [4, 5] {
        for (at, port) in [(0, 0), (1, 2), (2, 6), (3, if to == 4 { 8 } else { 10 })] {
            net.routes.insert((NodeId(at), NodeId(to)), PortId(port));
        }
    }
    net
}

fn desk() -> AppBench<App> {
    AppBench::new(App::new(&Params::default()), network())
}

fn share(to: u32, bytes: u32) -> Share {
    Share { what: Traffic::Node(NodeId(to)), bytes }
}

/// Statuses of all ports of the second way.
fn quiet(desk: &mut AppBench<App>) {
    for port in [2, 4, 6, 8, 10] {
        desk.status(port, 0.1, 0, &[]);
    }
}

#[test]
fn the_destination_whose_move_leaves_the_lowest_load_is_moved() {
    let mut desk = desk();
    quiet(&mut desk);
    // 1.0 is 0.6 for node 4 and 0.4 for node 5; moved, they leave max(0.4, 0.7) or max(0.6, 0.5)
    desk.status(0, 1.0, 50, &[share(4, 600_000), share(5, 400_000)]);
    let commands = desk.signal(0);
    assert_eq!(commands, [(NodeId(0), Command::Route { to: NodeId(5), via: PortId(4) })]);
    assert_eq!(desk.net.routes[&(NodeId(0), NodeId(5))], PortId(4));
}

#[test]
fn a_single_destination_stays_since_its_congestion_would_go_with_it() {
    let mut desk = desk();
    quiet(&mut desk);
    desk.status(0, 1.0, 50, &[share(4, 600_000)]);
    assert_eq!(desk.signal(0), []);
}

#[test]
fn nothing_moves_to_where_loads_are_unknown_or_old() {
    let mut desk = desk();
    let shares = [share(4, 600_000), share(5, 400_000)];
    desk.status(0, 1.0, 50, &shares);
    assert_eq!(desk.signal(0), []);
    quiet(&mut desk);
    desk.now += Duration::from_secs(2);
    desk.status(0, 1.0, 50, &shares);
    assert_eq!(desk.signal(0), []);
    quiet(&mut desk);
    assert_eq!(desk.signal(0).len(), 1);
}

#[test]
fn after_a_move_the_node_is_left_alone_until_loads_tell_of_it() {
    let mut desk = desk();
    let shares = [share(4, 500_000), share(5, 500_000)];
    let mut commands = 0;
    for _ in 0..3 {
        quiet(&mut desk);
        desk.status(0, 1.0, 50, &shares);
        commands += desk.signal(0).len();
        desk.now += Duration::from_millis(499);
    }
    assert_eq!(commands, 1);
}

#[test]
fn a_way_that_leads_back_is_none() {
    let mut desk = desk();
    quiet(&mut desk);
    // node 2 would send packets for 5 back
    desk.net.routes.insert((NodeId(2), NodeId(5)), PortId(5));
    desk.net.routes.insert((NodeId(2), NodeId(4)), PortId(5));
    desk.status(0, 1.0, 50, &[share(4, 600_000), share(5, 400_000)]);
    assert_eq!(desk.signal(0), []);
}
