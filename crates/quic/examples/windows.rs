//! Uploads 10 MB with each scheme, and with quinn's own controllers, over 10 Mbit/s and 40 ms of round-trip time, in
//! virtual time.
//!
//! `cargo run --example windows -p thalweg-quic`

#[path = "../tests/pair/mod.rs"]
#[allow(dead_code, reason = "the tests use the rest")]
mod pair;

use std::sync::Arc;
use std::time::Duration;

use pair::{Factory, Net, Path};
use quinn_proto::congestion::{BbrConfig, CubicConfig, NewRenoConfig};

fn main() -> Result<(), thalweg_quic::contract::ParamError> {
    let mut controllers: Vec<(String, Factory)> = vec![
        ("cubic of quinn".to_owned(), Arc::new(CubicConfig::default())),
        ("newreno of quinn".to_owned(), Arc::new(NewRenoConfig::default())),
        ("bbr of quinn".to_owned(), Arc::new(BbrConfig::default())),
    ];
    for name in thalweg_quic::NAMES {
        controllers.extend(thalweg_quic::by_name(name, &[], 0)?.map(|factory| ((*name).to_owned(), factory)));
    }
    println!("{:18} {:>8} {:>6} {:>8}", "controller", "Mbit/s", "lost", "RTT, ms");
    for (name, factory) in controllers {
        let mut net = Net::new(Path::new(10, 20, 2.0));
        net.upload(factory, 10_000_000, Duration::ZERO);
        for outcome in net.run(Duration::from_secs(300)) {
            let rate = outcome.took.map_or(0.0, |took| outcome.received as f64 * 8e-6 / took.as_secs_f64());
            let rtt_ms = outcome.rtt.as_secs_f64() * 1e3;
            println!("{name:18} {rate:8.2} {:6} {rtt_ms:8.1}", outcome.lost);
        }
    }
    Ok(())
}
