//! Interfaces of groups, in a network namespace of the test. Needs the privilege to create one: without it the test
//! prints so and passes.
#![cfg(target_os = "linux")]

use std::net::SocketAddr;
use std::thread;

use driver::testing::{ip, network_namespace};
use driver::{Interface, Udp};

const PORT: u16 = 9600;

fn group(text: &str) -> SocketAddr {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[test]
fn a_group_without_a_route_and_an_unknown_interface_are_errors_before_anything_is_sent() {
    let test = thread::spawn(|| {
        if !network_namespace() {
            return;
        }
        let udp = Udp::bind(SocketAddr::from((std::net::Ipv6Addr::UNSPECIFIED, PORT))).expect("a socket");
        assert!(
            udp.check_route(group("[ff15::77]:9601")).is_err(),
            "the loopback interface carries no groups"
        );
        assert!(udp.check_route(group("[ff12::77]:9601")).is_err(), "a link-local group needs a zone");
        let refused = |name, ipv6| Interface::named(name, ipv6).expect_err("the interface does not exist");
        assert_eq!(refused("eth77", true), "eth77: there is no such interface; there are lo");
        assert!(refused("192.0.2.1", true).contains("name or number"), "{}", refused("192.0.2.1", true));
        ip("link add bare type veth peer name other");
        assert_eq!(refused("bare", false), "bare: the interface has no IPv4 address");
        ip("addr add 192.0.2.7/24 dev bare");
        let address = Interface::Address(std::net::Ipv4Addr::new(192, 0, 2, 7));
        assert_eq!(Interface::named("bare", false), Ok(address));
        assert_eq!(Interface::named("192.0.2.7", false), Ok(address));
    });
    test.join().expect("it does not panic");
}
