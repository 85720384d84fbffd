//! Logs of congestion controllers in the qlog format, which qvis and other programs read.
//!
//! The file is a JSON text sequence [RFC7464] in the version of qlog that qvis opens, 0.3:
//! draft-ietf-quic-qlog-main-schema-02, with the events of draft-ietf-quic-qlog-quic-events-01. The crate `qlog` of
//! that version has times of 32 bits, too few for nanoseconds; ours are exact.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use contract::{Cause, Congestion, FlowId};
use serde_json::{Map, Value, json};
use sim::{FlowEmulation, FlowKind, FlowSpec};
use stack::log::{Event, Log, Metrics, State};
use units::{Duration, Time};

use crate::Plan;
use crate::capture::Written;

/// Begins the qlog file of a flow's congestion controller. Times count from the start of the run.
///
/// # Errors
///
/// If the file cannot be created. A later failure is in [`Written::failure`].
pub fn qlog(plan: &Plan, flow: FlowId, path: &Path) -> io::Result<(Log, Written)> {
    let spec = &plan.blueprint.flows[flow.index()];
    let protocol = match *spec.kind {
        FlowKind::Tcp(_) => "TCP",
        FlowKind::Ndn(_) => "NDN",
        FlowKind::Stack(_) => "QUIC",
        _ => "UDP",
    };
    let trace = json!({
        "title": format!("{}: {}", spec.name, controller(spec).unwrap_or_default()),
        "vantage_point": {"name": spec.name.as_str(), "type": "client"},
        "common_fields": {"time_format": "relative", "reference_time": 0.0, "protocol_type": [protocol]},
    });
    begin(path, &plan.title, &trace, Time::ZERO)
}

/// A connection over real sockets whose log is in a file.
#[derive(Clone, Debug)]
pub struct QlogConnection {
    /// What the file is called in a list.
    pub title: String,
    /// This end is the client.
    pub client: bool,
    /// When it began, by the clock of its events.
    pub began_at: Time,
    /// And in nanoseconds since 1970.
    pub began_ns: u64,
}

/// Begins the qlog file of a QUIC connection over real sockets. Times count from its beginning.
///
/// # Errors
///
/// As [`qlog`].
pub fn qlog_connection(of: &QlogConnection, path: &Path) -> io::Result<(Log, Written)> {
    let kind = if of.client { "client" } else { "server" };
    let reference = of.began_ns as f64 / 1e6;
    let trace = json!({
        "title": of.title,
        "vantage_point": {"name": "thalweg", "type": kind},
        "common_fields": {"time_format": "relative", "reference_time": reference, "protocol_type": ["QUIC"]},
    });
    begin(path, &of.title, &trace, of.began_at)
}

/// Writes the header of a file. Times of events count from `zero`.
fn begin(path: &Path, title: &str, trace: &Value, zero: Time) -> io::Result<(Log, Written)> {
    let written = Written::default();
    let mut file = Qlog { file: BufWriter::new(File::create(path)?), written: written.clone(), zero };
    file.record(&json!({"qlog_version": "0.3", "qlog_format": "JSON-SEQ", "title": title, "trace": trace}))?;
    Ok((Log::new(move |now, event| file.event(now, event)), written))
}

/// The controller of a flow: its scheme, or a QUIC stack's own.
fn controller(flow: &FlowSpec) -> Option<&str> {
    match &*flow.kind {
        FlowKind::Stack(stack) => stack.controller.as_deref().or(flow.scheme.as_deref()),
        _ => flow.scheme.as_deref(),
    }
}

/// The flows with a congestion controller that runs here, which can be logged, in the order of the plan. In an
/// emulation, others have the controller of the kernel or of a program. Estimates of stacks for media are not logged.
pub fn controlled(plan: &Plan, emulated: bool) -> impl Iterator<Item = (&str, FlowId)> {
    let ours = move |flow: &FlowSpec| match flow.emulation.as_deref() {
        Some(FlowEmulation::Kernel(_) | FlowEmulation::Commands { .. }) if emulated => false,
        _ => match &*flow.kind {
            FlowKind::Datagram(_) => false,
            FlowKind::Stack(stack) => stack.encoder.is_none(),
            _ => flow.scheme.is_some(),
        },
    };
    let flows = (0u32..).map(FlowId).zip(&plan.blueprint.flows);
    flows.filter(move |(_, flow)| ours(flow)).map(|(id, flow)| (flow.name.as_str(), id))
}

struct Qlog {
    file: BufWriter<File>,
    written: Written,
    zero: Time,
}

impl Qlog {
    fn event(&mut self, now: Time, event: &Event) {
        let (name, data) = match event {
            Event::Sent { number, bytes } => (
                "transport:packet_sent",
                json!({
                    "header": {"packet_type": "1RTT", "packet_number": number},
                    "raw": {"length": bytes.as_u64()},
                }),
            ),
            Event::Received { bytes } => (
                "transport:packet_received",
                json!({"header": {"packet_type": "1RTT"}, "raw": {"length": bytes.as_u64()}}),
            ),
            Event::Metrics(metrics) => ("recovery:metrics_updated", quantities(metrics)),
            Event::State { old, new, cause } => {
                ("recovery:congestion_state_updated", state(*old, *new, *cause))
            }
            Event::Congestion(event) => ("thalweg:congestion", congestion(event)),
            Event::Spurious => ("thalweg:spurious", json!({})),
        };
        let millis = ms(now.saturating_since(self.zero));
        let result = self.record(&json!({"time": millis, "name": name, "data": data}));
        self.written.count();
        self.written.note(result);
    }

    /// One element of the sequence [RFC7464 §2.2].
    fn record(&mut self, value: &Value) -> io::Result<()> {
        writeln!(self.file, "\u{1e}{value}")
    }
}

impl Drop for Qlog {
    fn drop(&mut self) {
        self.written.note(self.file.flush());
    }
}

/// The fields of `metrics_updated` that changed. Times are in ms, sizes in bytes, the rate in bit/s.
fn quantities(metrics: &Metrics) -> Value {
    let Metrics { rtt_min, rtt_smoothed, rtt_latest, window, in_flight, ssthresh, rate } = *metrics;
    let bytes = |bytes: units::Bytes| json!(bytes.as_u64());
    let fields = [
        ("min_rtt", rtt_min.map(|rtt| json!(ms(rtt)))),
        ("smoothed_rtt", rtt_smoothed.map(|rtt| json!(ms(rtt)))),
        ("latest_rtt", rtt_latest.map(|rtt| json!(ms(rtt)))),
        ("congestion_window", window.map(bytes)),
        ("bytes_in_flight", in_flight.map(bytes)),
        ("ssthresh", ssthresh.map(bytes)),
        ("pacing_rate", rate.map(|rate| json!(rate.as_bps()))),
    ];
    let values = fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
    Value::Object(values.collect::<Map<_, _>>())
}

fn state(old: Option<State>, new: State, cause: Option<Cause>) -> Value {
    let word = |state| match state {
        State::SlowStart => "slow_start",
        State::CongestionAvoidance => "congestion_avoidance",
        State::Recovery => "recovery",
        State::ApplicationLimited => "application_limited",
    };
    let mut data = Map::new();
    if let Some(old) = old {
        data.insert("old".to_owned(), json!(word(old)));
    }
    data.insert("new".to_owned(), json!(word(new)));
    let trigger = match cause {
        Some(Cause::Mark) => Some("ECN"),
        Some(Cause::Timeout) => Some("persistent_congestion"),
        Some(Cause::Loss | Cause::Refused) | None => None,
    };
    if let Some(trigger) = trigger {
        data.insert("trigger".to_owned(), json!(trigger));
    }
    Value::Object(data)
}

fn congestion(event: &Congestion) -> Value {
    let cause = match event.cause {
        Cause::Loss => "loss",
        Cause::Mark => "mark",
        Cause::Timeout => "timeout",
        Cause::Refused => "nack",
    };
    json!({
        "cause": cause,
        "bytes": event.bytes.as_u64(),
        "bytes_in_flight": event.in_flight.as_u64(),
        "first": event.first,
    })
}

/// A span in ms. Exact up to 104 days, because a nanosecond is then more than the spacing of numbers of 64 bits.
fn ms(span: Duration) -> f64 {
    span.as_nanos() as f64 / 1e6
}
