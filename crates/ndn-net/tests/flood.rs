//! A forwarder's memory is bounded for any input of other hosts and programs.

#![cfg(unix)]

use std::alloc::System;
use std::net::SocketAddr;

use contract::Random;
use ndn_net::forwarder::{Frames, Limits, LinkSettings, Node, Peer, RouteSettings, Settings};
use stack::ndn::{Policy, Store};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use units::{Duration, Rate, Time};
use wire::ndn::{
    Arguments, Component, Interest, LinkHeader, LinkPacket, Name, Reason, Unsigned, command, kind,
};

#[global_allocator]
static GLOBAL: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Accepts everything.
struct Away;

impl Frames for Away {
    fn send(&mut self, _to: Peer, _frame: &[u8]) -> bool {
        true
    }

    fn waiting(&mut self, _to: Peer) -> u64 {
        1 << 20
    }
}

const KNOWN: Peer =
    Peer::Udp(SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 0, 1)), 6363));

/// An unused name below `/a`, sometimes a long one.
fn name(random: &mut Random, n: u64) -> Name {
    let mut name: Name = "/a".parse().expect("a name");
    name.push_number(kind::SEGMENT, n);
    if random.below(16) == 0 {
        let long = vec![7; random.below(7000) as usize];
        name.push(Component { kind: kind::GENERIC, value: &long });
    }
    name
}

/// A frame of an attacker that tries to fill memory.
fn frame(random: &mut Random, n: u64, data_of: &mut Vec<Name>) -> Vec<u8> {
    let (mut packet, mut frame) = (Vec::new(), Vec::new());
    let mut header = LinkHeader::default();
    match random.below(8) {
        0..=3 => {
            let name = name(random, n);
            Interest {
                name: name.view(),
                nonce: Some(random.bits() as u32),
                lifetime_ms: Some(u64::MAX),
                can_be_prefix: random.below(2) == 0,
                must_be_fresh: random.below(2) == 0,
                ..Interest::default()
            }
            .write(&mut packet);
            data_of.push(name);
        }
        4 => {
            // Data, possibly with a pending Interest
            let name = if data_of.is_empty() { name(random, n) } else { data_of.swap_remove(0) };
            let content = vec![1; 8000usize.saturating_sub(name.view().bytes().len())];
            Unsigned { name: name.view(), freshness_ms: u64::MAX, content: &content, ..Unsigned::default() }
                .sign(&mut packet);
        }
        5 => {
            let name = name(random, n);
            header.nack = Some(Reason(50));
            Interest { name: name.view(), nonce: Some(n as u32), ..Interest::default() }.write(&mut packet);
        }
        6 => {
            let piece = vec![1; random.below(1400) as usize + 1];
            LinkPacket {
                header,
                sequence: Some(random.bits()),
                index: random.below(7),
                count: 7,
                fragment: &piece,
            }
            .write(&mut frame);
            return frame;
        }
        _ => {
            let route = Arguments::route(name(random, n));
            command(true, ("rib", "register"), &route, random.bits(), 1, &mut frame);
            return frame;
        }
    }
    data_of.truncate(100);
    LinkPacket::whole(header, &packet).write(&mut frame);
    frame
}

#[test]
fn a_flood_from_everywhere_takes_bounded_memory() {
    let rate = Rate::from_mbps(1);
    let slow =
        LinkSettings { rate, rate_in: rate, delay: Duration::from_millis(20), ..LinkSettings::default() };
    let Peer::Udp(to) = KNOWN else { unreachable!("it is a host") };
    let limits = Limits {
        pending: 2000,
        pending_face: 200,
        pending_strangers: 300,
        names: 8192,
        bytes: 8 << 20,
        store_bytes: 4 << 20,
        queue_bytes: 4 << 20,
        links: 16,
        programs: 16,
        routes: 64,
        lifetime: Duration::from_secs(4),
        idle: Duration::from_millis(1500),
    };
    let region = Region::new(GLOBAL);
    let in_use = || {
        let change = region.change();
        change.bytes_allocated as isize - change.bytes_deallocated as isize
    };
    let settings = Settings {
        links: vec![LinkSettings { name: "known".to_owned(), to: Some(to), ..slow.clone() }],
        strangers: Some(slow),
        routes: vec![RouteSettings { prefix: "/a".parse().expect("a name"), link: 0, cost: 1 }],
        store: Store { policy: Policy::Lru, size: 1000 },
        strategy: "pcon".to_owned(),
        link: Some("pcon".to_owned()),
        limits,
        ..Settings::default()
    };
    let mut node = Node::new(settings).expect("the settings are right");
    node.start(Time::ZERO, &mut Away);
    let mut random = Random::new(1, "flood", "test");
    let (mut data_of, mut max, mut kept) = (Vec::new(), 0, 0);
    for n in 0..60_000u64 {
        // new addresses and programs, and occasionally the neighbour with an answer
        let from = match random.below(8) {
            0..=3 => Peer::Udp(SocketAddr::from(([10, 1, (n / 20_000) as u8, random.below(24) as u8], 6363))),
            4 | 5 => Peer::Program(n / 1000),
            _ => KNOWN,
        };
        let frame = frame(&mut random, n, &mut data_of);
        let now = Time::ZERO + Duration::from_micros(200 * n);
        node.on_frame(from, &frame, now, &mut Away);
        if n % 1000 == 999 {
            node.on_gone(Peer::Program(n / 1000), now);
            let stats = node.stats();
            assert!(stats.machine.pending <= 2000 && stats.names.0 <= 8192 && stats.routes <= 64);
            assert!(stats.names.1 <= (8 << 20) + (4 << 20), "{} bytes of names", stats.names.1);
            assert!(stats.queued <= (4 << 20) + (32 << 13), "{} bytes in queues", stats.queued);
            kept = kept.max(stats.machine.stored);
            max = max.max(in_use());
        }
    }
    let stats = node.stats();
    assert!(stats.strays.crowded > 1000 && stats.strays.strangers > 1000, "{:?}", stats.strays);
    assert!(kept > 100, "Data came and were kept: {kept}");
    // names, Interests and Data; queues; pieces of packets; and the tables themselves
    let bound = (8 << 20) + (4 << 20) + (16 * 8 + 16 * 4 + 64) * 8800 + (4 << 20);
    assert!(max < bound, "{max} bytes in use, of at most {bound}");
    eprintln!("at most {:.1} MB in use of {:.1} MB", max as f64 / 1e6, bound as f64 / 1e6);
}
