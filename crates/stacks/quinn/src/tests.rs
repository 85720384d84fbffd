//! The log of a flow beside the log that quinn itself writes of the same connection.

use std::cell::RefCell;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use contract::{FlowId, NodeId};
use quinn_proto::{QlogConfig, TransportConfig};
use serde_json::{Map, Value};
use sim::{Blueprint, Control, FlowKind, PortSpec, World};
use stack::datagram::{self, Pattern};
use stack::log::{Event, Log};
use units::{Bytes, Duration, Rate};

use crate::{Config, Controller, ends};

/// What quinn writes.
#[derive(Clone, Default)]
struct Written(Arc<Mutex<Vec<u8>>>);

impl io::Write for Written {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

thread_local! {
    /// Where connections of this thread have their log.
    static QLOG: RefCell<Option<Written>> = const { RefCell::new(None) };
}

/// The default settings, and quinn's log where a test wants it.
pub(crate) fn transport(now: Instant) -> TransportConfig {
    let mut transport = TransportConfig::default();
    if let Some(written) = QLOG.with_borrow(Clone::clone) {
        let mut qlog = QlogConfig::default();
        qlog.writer(Box::new(written)).start_time(now);
        transport.qlog_stream(qlog.into_stream());
    }
    transport
}

/// The last value of each field until then; `None` before the first.
#[derive(Clone, Copy, Debug, Default)]
struct Quantities {
    window: Option<f64>,
    ssthresh: Option<f64>,
    rtt_min: Option<f64>,
    rtt_smoothed: Option<f64>,
    rtt_latest: Option<f64>,
}

/// A flow for 8 s over a bottleneck that overflows: our quantities by time in ms, and the text that quinn wrote.
fn run(controller: Controller) -> (Vec<(f64, Quantities)>, String) {
    let mut blueprint = Blueprint { seed: 7, ..Blueprint::new(Duration::from_secs(8)) };
    let (a, b) = (blueprint.node("a"), blueprint.node("b"));
    let port = PortSpec::new(Rate::from_mbps(10), Duration::from_millis(20), 30);
    blueprint.link("bottleneck", (a, b), port);
    let pattern = Pattern::Constant { rate: Rate::ZERO };
    let source = FlowKind::Datagram(datagram::Config { packet: Bytes::new(1500), pattern });
    blueprint.flow("upload", None, source, NodeId(0), &[b]);

    let events: Arc<Mutex<Vec<(f64, Quantities)>>> = Arc::default();
    let (to, mut known) = (Arc::clone(&events), Quantities::default());
    let log = Log::new(move |now, event| {
        let Event::Metrics(metrics) = event else { return };
        let ms = |span: Duration| span.as_secs_f64() * 1e3;
        let bytes = |bytes: Bytes| bytes.as_u64() as f64;
        known.window = metrics.window.map(bytes).or(known.window);
        known.ssthresh = metrics.ssthresh.map(bytes).or(known.ssthresh);
        known.rtt_min = metrics.rtt_min.map(ms).or(known.rtt_min);
        known.rtt_smoothed = metrics.rtt_smoothed.map(ms).or(known.rtt_smoothed);
        known.rtt_latest = metrics.rtt_latest.map(ms).or(known.rtt_latest);
        to.lock().expect("nobody panicked").push((now.as_secs_f64() * 1e3, known));
    });
    let written = Written::default();
    QLOG.set(Some(written.clone()));
    let config = Config { controller, mtu: Bytes::new(1500), size: Bytes::UNLIMITED };
    let (sender, receiver) = ends(&config, Some(&log)).expect("the controller is known");
    let mut world = World::new(&blueprint).expect("the blueprint is right");
    world.custom_sender(FlowId(0), sender);
    world.custom_receiver(FlowId(0), receiver);
    world.run(&Control::default());
    QLOG.set(None);
    let ours = events.lock().expect("nobody panicked").clone();
    let text = written.0.lock().expect("nobody panicked").clone();
    (ours, String::from_utf8(text).expect("it is JSON"))
}

#[test]
fn a_log_says_what_quinn_says_of_the_same_connection() {
    let scheme = Controller::Scheme("cubic".to_owned(), Vec::new());
    for controller in [Controller::Own("cubic".to_owned()), Controller::Own("newreno".to_owned()), scheme] {
        let (ours, text) = run(controller.clone());
        let records = text.split('\u{1e}').skip(2);
        let records = records.map(|record| serde_json::from_str(record).expect("it is JSON"));
        let theirs: Vec<Value> =
            records.filter(|event: &Value| event["name"] == "recovery:metrics_updated").collect();
        let time = |event: &Value| event["time"].as_f64().expect("in ms");
        let (mut compared, mut known) = ([0; 5], Map::new());
        for (at, event) in theirs.iter().enumerate() {
            known.extend(event["data"].as_object().expect("the quantities that changed").clone());
            // of one instant, only what is true at its end
            if theirs.get(at + 1).is_some_and(|next| time(next) == time(event)) {
                continue;
            }
            // theirs are 32 bits long, of which a run of 8 s leaves half a microsecond
            let until = ours.partition_point(|(ms, _)| *ms <= time(event) + 0.002);
            let Some(last) = until.checked_sub(1) else { continue };
            let Quantities { window, ssthresh, rtt_min, rtt_smoothed, rtt_latest } = ours[last].1;
            // quinn writes round-trip times in seconds, where the draft has ms
            let fields = [
                (window, "congestion_window", 1.0),
                (ssthresh, "ssthresh", 1.0),
                (rtt_min, "min_rtt", 1e3),
                (rtt_smoothed, "smoothed_rtt", 1e3),
                (rtt_latest, "latest_rtt", 1e3),
            ];
            for (count, (ours, field, scale)) in compared.iter_mut().zip(fields) {
                let (Some(ours), Some(theirs)) = (ours, known.get(field).and_then(Value::as_f64)) else {
                    continue;
                };
                // before the first loss there is no threshold, and quinn writes the largest number
                if theirs >= u64::MAX as f64 {
                    continue;
                }
                let off = (ours - theirs * scale).abs();
                assert!(
                    off <= 1e-5 * theirs * scale,
                    "{controller:?}, {field} at {} ms: {ours}, quinn {theirs}",
                    time(event)
                );
                *count += 1;
            }
        }
        assert!(compared.iter().all(|count| *count > 500), "{controller:?}: {compared:?}");
    }
}
