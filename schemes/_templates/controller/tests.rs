//! One test per claim of the paper, named after it, with the section.

use contract::{Command, Net, NodeId, PortId, Share, Traffic};
use units::Duration;

use super::{App, Params};
use crate::shared::sdn_testing::{AppBench, net};

/// Node 0 reaches node 3 by node 1, over port 0, and by node 2, over port 4.
fn network() -> Net {
    net(4, &[(0, 1, 1), (1, 3, 1), (0, 2, 1), (2, 3, 1)])
}

fn desk() -> AppBench<App> {
    let mut desk = AppBench::new(App::new(&Params::default()), network());
    desk.now += Duration::from_secs(1);
    desk
}

fn share(to: u32, bytes: u32) -> Share {
    Share { what: Traffic::Node(NodeId(to)), bytes }
}

/// [RFC7426 §3.1]
#[test]
fn the_heaviest_destination_of_a_congested_port_takes_the_idlest_other_port() {
    let mut desk = desk();
    desk.status(0, 1.0, 50, &[share(3, 700_000), share(1, 300_000)]);
    desk.status(4, 0.2, 0, &[]);
    assert_eq!(desk.signal(0), [(NodeId(0), Command::Route { to: NodeId(3), via: PortId(4) })]);
}

#[test]
fn nothing_moves_to_a_port_with_more_load_or_one_that_is_not_known() {
    let mut desk = desk();
    desk.status(0, 0.95, 50, &[share(3, 700_000)]);
    assert_eq!(desk.signal(0), []);
    desk.status(4, 1.0, 50, &[]);
    assert_eq!(desk.signal(0), []);
}

#[test]
fn after_an_command_nothing_else_is_ordered_until_loads_tell_of_it() {
    let mut desk = desk();
    let mut commands = 0;
    for _ in 0..4 {
        desk.status(0, 1.0, 50, &[share(3, 700_000)]);
        desk.status(4, 0.2, 0, &[]);
        commands += desk.signal(0).len();
        desk.now += Duration::from_millis(600);
    }
    assert_eq!(commands, 1);
}
