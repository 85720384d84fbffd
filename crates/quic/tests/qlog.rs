//! The log of a controller beside the log that quinn itself writes of the same connection.

#[allow(dead_code, reason = "other tests use the rest")]
mod pair;

mod quinn_log;

use std::sync::Arc;
use std::time::Duration;

use contract::{ParamError, ParamInfo, ParamList, ParamTable, ParamValue, Scheme, Setup};
use pair::{Net, Path};
use quinn_log::{Ours, Theirs};
use quinn_proto::TransportConfig;
use schemes::cubic;
use stack::log::{Log, Logged};
use thalweg_quic::{Config, QuicScheme, contract, schemes};

/// CUBIC with a log.
#[derive(Clone, Default)]
struct Watched {
    params: cubic::Params,
    log: Option<Log>,
}

impl ParamTable for Watched {
    fn table() -> Vec<ParamInfo> {
        cubic::Params::table()
    }

    fn set(&mut self, name: &str, value: &ParamValue) -> Result<(), ParamError> {
        self.params.set(name, value)
    }

    fn list(&self) -> ParamList {
        self.params.list()
    }

    fn check(&self) -> Result<(), ParamError> {
        self.params.check()
    }
}

impl QuicScheme for Watched {
    type Control = Logged<cubic::Control>;
    const SCHEME: Scheme = cubic::SCHEME;
    const IN_SEGMENTS: bool = true;

    fn control(&self, setup: &Setup) -> Self::Control {
        Logged::new(cubic::control(&self.params, setup), self.log.clone().expect("it has one"))
    }
}

#[test]
fn a_log_says_what_quinn_says_of_the_same_connection() {
    let (ours, theirs) = (Ours::default(), Theirs::default());
    let mut net = Net::new(Path::new(10, 20, 1.0));
    let mut transport = TransportConfig::default();
    theirs.watch(&mut transport, net.epoch());
    let watched = Watched { log: Some(ours.log()), ..Watched::default() };
    transport
        .congestion_controller_factory(Arc::new(Config::new(watched)))
        // a segment has the length of a datagram for the whole connection, so that windows need no conversion
        .mtu_discovery_config(None);
    net.upload_with(transport, 5_000_000, Duration::ZERO);
    let outcome = net.run(Duration::from_secs(60))[0];
    assert!(outcome.took.is_some() && outcome.lost > 0, "{outcome:?}");

    // what is in flight is counted by datagrams here and by packets there, and a datagram without data is not in flight
    // here
    let fields = [
        ("congestion_window", 0.0),
        ("ssthresh", 0.0),
        ("bytes_in_flight", 1200.0),
        ("min_rtt", 0.0),
        ("latest_rtt", 0.0),
    ];
    let compared = ours.compare(&theirs, fields, "cubic");
    assert!(
        compared[0] > 1000 && compared[1] > 0 && compared[2] > 1000 && compared[4] > 1000,
        "{compared:?}"
    );
}
