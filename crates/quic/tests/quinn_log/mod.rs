//! The log of a controller beside the log that quinn itself writes of the same connection.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use quinn_proto::{QlogConfig, TransportConfig};
use serde_json::{Map, Value};
use stack::log::{Event, Log};
use units::{Bytes, Duration};

/// What quinn writes.
#[derive(Clone, Default)]
pub struct Theirs(Arc<Mutex<Vec<u8>>>);

impl Theirs {
    /// Has quinn log connections with these settings here. Times count from `start`.
    pub fn watch(&self, transport: &mut TransportConfig, start: Instant) {
        let mut qlog = QlogConfig::default();
        qlog.writer(Box::new(self.clone())).start_time(start);
        transport.qlog_stream(qlog.into_stream());
    }

    /// The events that have quantities.
    fn metrics(&self) -> Vec<Value> {
        let text = String::from_utf8(self.0.lock().expect("nobody panicked").clone()).expect("it is JSON");
        // the first record is the header
        let records = text.split('\u{1e}').skip(2);
        let records = records.map(|record| serde_json::from_str(record).expect("it is JSON"));
        records.filter(|event: &Value| event["name"] == "recovery:metrics_updated").collect()
    }
}

impl io::Write for Theirs {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The last value of each field of qlog until a time in ms; `None` before the first. Times are in ms, sizes in bytes.
#[derive(Clone, Copy, Debug, Default)]
struct Quantities {
    window: Option<f64>,
    ssthresh: Option<f64>,
    in_flight: Option<f64>,
    rtt_min: Option<f64>,
    rtt_smoothed: Option<f64>,
    rtt_latest: Option<f64>,
}

impl Quantities {
    /// The field of this name, and what quinn's number is multiplied by: quinn writes round-trip times in seconds,
    /// where the draft has ms.
    fn field(&self, name: &str) -> (Option<f64>, f64) {
        match name {
            "congestion_window" => (self.window, 1.0),
            "ssthresh" => (self.ssthresh, 1.0),
            "bytes_in_flight" => (self.in_flight, 1.0),
            "min_rtt" => (self.rtt_min, 1e3),
            "smoothed_rtt" => (self.rtt_smoothed, 1e3),
            "latest_rtt" => (self.rtt_latest, 1e3),
            other => panic!("no field {other}"),
        }
    }
}

/// What our log has, by time in ms.
#[derive(Clone, Default)]
pub struct Ours(Arc<Mutex<Vec<(f64, Quantities)>>>);

impl Ours {
    /// A log that is kept here.
    pub fn log(&self) -> Log {
        let (to, mut known) = (Arc::clone(&self.0), Quantities::default());
        Log::new(move |now, event| {
            let Event::Metrics(metrics) = event else { return };
            let ms = |span: Duration| span.as_secs_f64() * 1e3;
            let bytes = |bytes: Bytes| bytes.as_u64() as f64;
            known.window = metrics.window.map(bytes).or(known.window);
            known.ssthresh = metrics.ssthresh.map(bytes).or(known.ssthresh);
            known.in_flight = metrics.in_flight.map(bytes).or(known.in_flight);
            known.rtt_min = metrics.rtt_min.map(ms).or(known.rtt_min);
            known.rtt_smoothed = metrics.rtt_smoothed.map(ms).or(known.rtt_smoothed);
            known.rtt_latest = metrics.rtt_latest.map(ms).or(known.rtt_latest);
            to.lock().expect("nobody panicked").push((now.as_secs_f64() * 1e3, known));
        })
    }

    /// Asserts that these fields are equal in both logs at every instant at which quinn writes, within a margin each;
    /// returns how often each was compared.
    pub fn compare<const N: usize>(&self, theirs: &Theirs, fields: [(&str, f64); N], of: &str) -> [usize; N] {
        let ours = self.0.lock().expect("nobody panicked");
        let theirs = theirs.metrics();
        let time = |event: &Value| event["time"].as_f64().expect("in ms");
        let (mut compared, mut known) = ([0; N], Map::new());
        for (at, event) in theirs.iter().enumerate() {
            known.extend(event["data"].as_object().expect("the quantities that changed").clone());
            // of one instant, only what is true at its end
            if theirs.get(at + 1).is_some_and(|next| time(next) == time(event)) {
                continue;
            }
            // theirs are 32 bits long, of which a run of 8 s leaves half a microsecond
            let until = ours.partition_point(|(ms, _)| *ms <= time(event) + 0.002);
            let Some(last) = until.checked_sub(1) else { continue };
            for (count, (name, margin)) in compared.iter_mut().zip(fields) {
                let (ours, scale) = ours[last].1.field(name);
                let (Some(ours), Some(theirs)) = (ours, known.get(name).and_then(Value::as_f64)) else {
                    continue;
                };
                // before the first loss there is no threshold, and quinn writes the largest number
                if theirs >= u64::MAX as f64 {
                    continue;
                }
                let theirs = theirs * scale;
                assert!(
                    (ours - theirs).abs() <= 1e-5 * theirs + margin,
                    "{of}, {name} at {} ms: {ours}, quinn {theirs}",
                    time(event)
                );
                *count += 1;
            }
        }
        compared
    }
}
