//! The log of a controller beside the log that quinn itself writes of the same connection.

#[allow(dead_code, reason = "other tests use the rest")]
mod pair;

use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use contract::{ParamError, ParamInfo, ParamList, ParamTable, ParamValue, Scheme, Setup};
use pair::{Net, Path};
use quinn_proto::{QlogConfig, TransportConfig};
use schemes::cubic;
use serde_json::Value;
use stack::log::{Event, Log, Logged};
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

/// What quinn writes.
#[derive(Clone, Default)]
struct Written(Arc<Mutex<Vec<u8>>>);

impl io::Write for Written {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("nobody panicked").extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The last value of each field until then; `None` before the first.
#[derive(Clone, Copy, Debug, Default)]
struct Quantities {
    window: Option<f64>,
    ssthresh: Option<f64>,
    in_flight: Option<f64>,
    rtt_min: Option<f64>,
    rtt_latest: Option<f64>,
}

#[test]
fn a_log_says_what_quinn_says_of_the_same_connection() {
    let events: Arc<Mutex<Vec<(f64, Quantities)>>> = Arc::default();
    let (to, mut known) = (Arc::clone(&events), Quantities::default());
    let log = Log::new(move |now, event| {
        let Event::Metrics(metrics) = event else { return };
        let ms = |span: units::Duration| span.as_secs_f64() * 1e3;
        let bytes = |bytes: units::Bytes| bytes.as_u64() as f64;
        known.window = metrics.window.map(bytes).or(known.window);
        known.ssthresh = metrics.ssthresh.map(bytes).or(known.ssthresh);
        known.in_flight = metrics.in_flight.map(bytes).or(known.in_flight);
        known.rtt_min = metrics.rtt_min.map(ms).or(known.rtt_min);
        known.rtt_latest = metrics.rtt_latest.map(ms).or(known.rtt_latest);
        to.lock().expect("nobody panicked").push((now.as_secs_f64() * 1e3, known));
    });
    let mut net = Net::new(Path::new(10, 20, 1.0));
    let written = Written::default();
    let mut transport = TransportConfig::default();
    let mut qlog = QlogConfig::default();
    qlog.writer(Box::new(written.clone())).start_time(net.epoch());
    transport
        .congestion_controller_factory(Arc::new(Config::new(Watched {
            log: Some(log),
            ..Watched::default()
        })))
        // a segment has the length of a datagram for the whole connection, so that windows need no conversion
        .mtu_discovery_config(None)
        .qlog_stream(qlog.into_stream());
    net.upload_with(transport, 5_000_000, Duration::ZERO);
    let outcome = net.run(Duration::from_secs(60))[0];
    assert!(outcome.took.is_some() && outcome.lost > 0, "{outcome:?}");

    let ours = events.lock().expect("nobody panicked");
    let text = String::from_utf8(written.0.lock().expect("nobody panicked").clone()).expect("it is JSON");
    let records =
        text.split('\u{1e}').skip(2).map(|record| serde_json::from_str(record).expect("it is JSON"));
    let theirs: Vec<Value> =
        records.filter(|event: &Value| event["name"] == "recovery:metrics_updated").collect();
    let time = |event: &Value| event["time"].as_f64().expect("in ms");
    let mut compared = [0; 5];
    let mut known = serde_json::Map::new();
    for (at, event) in theirs.iter().enumerate() {
        known.extend(event["data"].as_object().expect("the quantities that changed").clone());
        // of one instant, only what is true at its end
        if theirs.get(at + 1).is_some_and(|next| time(next) == time(event)) {
            continue;
        }
        // theirs are 32 bits long
        let until = ours.partition_point(|(ms, _)| *ms <= time(event) + 0.002);
        let Some(last) = until.checked_sub(1) else { continue };
        let Quantities { window, ssthresh, in_flight, rtt_min, rtt_latest } = ours[last].1;
        // quinn writes round-trip times in seconds, where the draft has ms; what is in flight is counted by datagrams here and by packets there, and a
        // datagram without data is not in flight here
        let fields = [
            (window, "congestion_window", 1.0, 0.0),
            (ssthresh, "ssthresh", 1.0, 0.0),
            (in_flight, "bytes_in_flight", 1.0, 1200.0),
            (rtt_min, "min_rtt", 1e3, 0.0),
            (rtt_latest, "latest_rtt", 1e3, 0.0),
        ];
        for (count, (ours, field, scale, margin)) in compared.iter_mut().zip(fields) {
            let (Some(ours), Some(theirs)) = (ours, known.get(field).and_then(Value::as_f64)) else {
                continue;
            };
            let theirs = theirs * scale;
            assert!(
                (ours - theirs).abs() <= 1e-5 * theirs + margin,
                "{field} at {} ms: {ours}, quinn {theirs}",
                time(event)
            );
            *count += 1;
        }
    }
    assert!(
        compared[0] > 1000 && compared[1] > 0 && compared[2] > 1000 && compared[4] > 1000,
        "{compared:?}"
    );
}
