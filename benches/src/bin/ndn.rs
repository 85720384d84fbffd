//! What a consumer of named data costs: fetches from a forwarder that is there, and says how fast and with how much
//! processor time.
//!
//! usage: ndn get FACE NAME [SCHEME [FILE]]
//!        ndn put FACE NAME FILE
//!
//! FACE as `thalweg ndn get --face` has it. `get` prints one JSON line; without FILE the bytes go nowhere. `put` serves
//! until it is ended. `tools/interop.py` sets up forwarders and measures through `thalweg`; this is for profilers, and
//! needs no Python.
#![expect(clippy::disallowed_methods, reason = "what is measured is processor time of this very process")]

use std::fs::File;
use std::io::{BufWriter, Write};
use std::time::{SystemTime, UNIX_EPOCH};

use contract::Count;
use ndn_net::{Control, Face, Fetch, Nowhere, OnDisk, Serve, connect, fetch, serve};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["get", place, name, more @ ..] => get(place, name, more),
        ["put", place, name, path] => put(place, name, path),
        _ => {
            eprintln!("usage: ndn get FACE NAME [SCHEME [FILE]], or ndn put FACE NAME FILE");
            std::process::exit(2);
        }
    }
}

fn now_ns() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |since| since.as_nanos() as u64)
}

fn put(place: &str, name: &str, path: &str) {
    let socket = connect(&place.parse().expect("a face")).expect("a forwarder");
    let wanted = Serve::new(name.parse().expect("a name"), now_ns() / 1000, now_ns() / 1_000_000);
    let mut content = OnDisk::open(File::open(path).expect("a file")).expect("a plain file");
    let served = serve(&mut Face::new(socket, now_ns()), &wanted, &mut content, &Control::new());
    eprintln!("{:?}", served.failure);
}

fn get(place: &str, name: &str, more: &[&str]) {
    let scheme = more.first().copied().unwrap_or("cubic");
    let mut out: Box<dyn Write> = match more.get(1) {
        Some(path) => Box::new(BufWriter::with_capacity(1 << 20, File::create(path).expect("a file"))),
        None => Box::new(Nowhere),
    };
    let seed = now_ns();
    let socket = connect(&place.parse().expect("a face")).expect("a forwarder");
    let wanted = Fetch { seed, ..Fetch::new(name.parse().expect("a name"), scheme) };
    let mut face = Face::new(socket, seed);
    let fetched = fetch(&mut face, &wanted, &mut *out, &Control::new());
    let usage = getrusage(UsageWho::RUSAGE_SELF).expect("it is this process");
    let (user, system) = (usage.user_time().num_microseconds(), usage.system_time().num_microseconds());
    let gbit = fetched.bytes as f64 * 8.0 / 1e9;
    println!(
        "{{\"scheme\": \"{scheme}\", \"whole\": {}, \"mbps\": {:.0}, \"again\": {}, \"marks\": {}, \"window_most\": {}, \"user_s\": {:.3}, \"system_s\": {:.3}, \"cpu_s_per_gbit\": {:.3}}}",
        fetched.failure.is_none(),
        gbit * 1e3 / fetched.span.as_secs_f64(),
        fetched.meter.count(Count::Retransmits),
        fetched.meter.count(Count::Marks),
        fetched.window_max.as_u64(),
        user as f64 / 1e6,
        system as f64 / 1e6,
        (user + system) as f64 / 1e6 / gbit,
    );
    if let Some(failure) = fetched.failure {
        eprintln!("error: {failure}");
        std::process::exit(1);
    }
}
