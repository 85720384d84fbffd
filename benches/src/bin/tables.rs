//! How the tables of a forwarder of named data bear many entries: nanoseconds an operation, by how many entries there
//! are.
//!
//! usage: tables [ENTRIES]; without a number, a thousand to a million.

use std::hint::black_box;
use std::time::Instant;

use contract::{
    Address, Data, Destination, Ecn, FaceId, FlowId, Header, Interest, Label, Name, NameId, Names, NextHop,
    Packet,
};
use stack::ndn::{ContentStore, Fib, Pit, Policy, Store};
use units::{Duration, Time};

const OPERATIONS: u64 = 2_000_000;

fn main() {
    let sizes = match std::env::args().nth(1).and_then(|text| text.parse().ok()) {
        Some(size) => vec![size],
        None => vec![1_000, 10_000, 100_000, 1_000_000],
    };
    for entries in sizes {
        println!(
            "{{\"entries\": {entries}, \"pit_exchange_ns\": {:.1}, \"pit_scattered_ns\": {:.1}, \"pit_expiry_ns\": {:.1}, \"fib_ns\": {:.1}, \"fib_deep_ns\": {:.1}, \"fib_one_prefix_ns\": {:.1}, \"store_ns\": {:.1}}}",
            exchange(entries, |i| i),
            exchange(entries, scattered),
            expiry(entries),
            lookup(entries, 4),
            lookup(entries, 8),
            one_prefix(entries),
            store(entries),
        );
    }
}

/// Nanoseconds that each of the operations takes.
#[expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
fn time(mut operation: impl FnMut(u64)) -> f64 {
    let begun = Instant::now();
    (0..OPERATIONS).for_each(&mut operation);
    begun.elapsed().as_nanos() as f64 / OPERATIONS as f64
}

/// A number without order for each number: a bijection, so that names do not meet.
fn scattered(i: u64) -> u64 {
    let i = (i ^ (i >> 17)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (i ^ (i >> 29)) & (Name::SEGMENTS - 1)
}

fn name(segment: u64) -> Name {
    Name { prefix: NameId(7), segment }
}

const LIFETIME_MS: u32 = 2000;

fn open(pit: &mut Pit, name: Name, now: Time) {
    let expires = now + Duration::from_millis(u64::from(LIFETIME_MS));
    let interest = Interest { name, nonce: name.segment as u32, lifetime_ms: LIFETIME_MS };
    let packet = Packet {
        flow: FlowId(0),
        size_bytes: 50,
        to: Destination::own_node(),
        source: Address::default(),
        sent_at: now,
        ecn: Ecn::NotCapable,
        hops: 0,
        waited: Default::default(),
        header: Header::Interest(interest),
        label: Label::default(),
    };
    let pending = pit.insert(&interest, &packet, FaceId(0), expires);
    pit.send(pending, FaceId(1), name.segment as u32, now, false);
}

/// One Interest more and the Data of the oldest, with `entries` pending.
fn exchange(entries: u64, segment: impl Fn(u64) -> u64) -> f64 {
    let mut pit = Pit::new();
    (0..entries).for_each(|i| open(&mut pit, name(segment(i)), Time::from_nanos(i)));
    time(|i| {
        open(&mut pit, name(segment(entries + i)), Time::from_nanos(entries + i));
        let pending = pit.find(name(segment(i))).expect("it is pending");
        black_box(pit.first_in(pending));
        pit.end(pending, |_, _| {});
    })
}

/// One Interest more and the expiry of the oldest.
fn expiry(entries: u64) -> f64 {
    let mut pit = Pit::new();
    let gap = u64::from(LIFETIME_MS) * 1_000_000 / entries;
    let at = |i: u64| Time::from_nanos(i * gap);
    (0..entries).for_each(|i| open(&mut pit, name(scattered(i)), at(i)));
    time(|i| {
        let now = at(entries + i);
        while let Some(pending) = pit.due(now) {
            pit.end(pending, |_, _| {});
        }
        open(&mut pit, name(scattered(entries + i)), now);
    })
}

/// A longest-prefix match among `entries` prefixes of four components, for names of `depth` components below them or
/// beside them.
fn lookup(entries: u64, depth: u32) -> f64 {
    let mut names = Names::new();
    let mut fib = Fib::new();
    let mut asked = Vec::new();
    let mut routes = Vec::new();
    for i in 0..entries {
        let text = format!("/n{}/n{}/n{}/n{i}", i % 7, i % 61, i % 977);
        let prefix = names.intern(&text);
        routes.push((prefix, vec![NextHop { face: FaceId(i as u32 % 8), cost: 1 }]));
        let mut below = text;
        (4..depth).for_each(|level| below.push_str(&format!("/l{level}")));
        asked.push(names.intern(&below));
    }
    fib.set(routes.iter().map(|(prefix, hops)| (*prefix, hops.as_slice())));
    time(|i| {
        let prefix = asked[(scattered(i) % entries) as usize];
        black_box(fib.find(prefix, &names).is_some());
    })
}

/// Measures names that are all of one prefix: their number does not matter.
fn one_prefix(entries: u64) -> f64 {
    let mut names = Names::new();
    let prefix = names.intern("/a/b");
    let mut fib = Fib::new();
    fib.set([(prefix, &[NextHop { face: FaceId(1), cost: 1 }][..])].into_iter());
    time(|i| {
        let name = Name { prefix, segment: scattered(i) % entries };
        black_box(fib.find(black_box(name).prefix, &names).is_some());
    })
}

/// A look-up and, where it fails, an insertion into a full store of `entries`, of twice as many names.
fn store(entries: u64) -> f64 {
    let mut store = ContentStore::new(Store { policy: Policy::Lru, size: entries as u32 });
    let data = |segment| Data { name: name(segment), payload_bytes: 1024 };
    (0..entries).for_each(|i| store.insert(data(i), 1100));
    time(|i| {
        let segment = scattered(i) % (2 * entries);
        if store.find(name(segment)).is_none() {
            store.insert(data(segment), 1100);
        }
    })
}
