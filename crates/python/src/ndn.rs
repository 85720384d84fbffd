//! Named data over sockets: fetching and serving files.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use contract::{Count, Meter, ParamValue};
use driver::{Captured, Recorder, Tapped};
use ndn_net::{self as ndn, Discovery, Face, FaceUri, Failure, Fetch, Fetched, Serve, Served, Transport};
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use serde_json::{Value, json};
use units::{Bytes, Duration, Rate, UnitText};

/// A handle by which another thread observes and stops a fetch or a producer.
#[pyclass(frozen, module = "thalweg._native")]
pub struct NdnControl(Arc<ndn::Control>);

#[pymethods]
impl NdnControl {
    #[new]
    fn new() -> Self {
        Self(Arc::default())
    }

    /// Bytes received in order; of a producer, bytes of content sent.
    #[getter]
    fn bytes(&self) -> u64 {
        self.0.bytes.load(Ordering::Relaxed)
    }

    /// Bytes of the whole object; 0 while unknown.
    #[getter]
    fn total(&self) -> u64 {
        self.0.whole.load(Ordering::Relaxed)
    }

    /// Segments received; of a producer, Interests received.
    #[getter]
    fn segments(&self) -> u64 {
        self.0.segments.load(Ordering::Relaxed)
    }

    /// Retransmitted Interests.
    #[getter]
    fn again(&self) -> u64 {
        self.0.again.load(Ordering::Relaxed)
    }

    /// Whether the version is known, or the prefix is registered.
    #[getter]
    fn ready(&self) -> bool {
        self.0.ready.load(Ordering::Relaxed)
    }

    /// Requests the end.
    fn stop(&self) {
        self.0.stop();
    }
}

/// The path of a name in canonical notation. Raises `ValueError` for an invalid name.
#[pyfunction]
pub fn ndn_name(text: &str) -> PyResult<String> {
    Ok(name(text)?.to_string())
}

/// The URI of a face in canonical notation. Raises `ValueError` for an invalid one.
#[pyfunction]
pub fn ndn_face(text: &str) -> PyResult<String> {
    Ok(place(text)?.to_string())
}

/// Fetches a file. `wanted` is JSON. Writes to `path`, or to standard output without one. Returns the result as JSON.
#[pyfunction]
pub fn ndn_get(py: Python<'_>, wanted: &str, path: Option<&str>, control: &NdnControl) -> PyResult<String> {
    let request = tree(wanted)?;
    let place = place(text(&request, "face"))?;
    let mut fetch = Fetch::new(name(text(&request, "name"))?, text(&request, "scheme"));
    fetch.discovery = match text(&request, "discovery") {
        "prefix" => Discovery::Prefix,
        "none" => Discovery::None,
        _ => Discovery::Metadata,
    };
    if let Some(params) = request["params"].as_object() {
        let read = |(name, value): (&String, &Value)| Some((name.clone(), param(value)?));
        fetch.params = params.iter().filter_map(read).collect();
    }
    if let Some(window) = request["initial_window"].as_u64() {
        fetch.initial_window = u32::try_from(window).unwrap_or(u32::MAX);
    }
    fetch.marks = request["marks"].as_bool().unwrap_or(true);
    fetch.lifetime = quantity(&request, "lifetime")?.unwrap_or(fetch.lifetime);
    fetch.patience = quantity(&request, "patience")?.unwrap_or(fetch.patience);
    fetch.timeout.min = quantity(&request, "min_rto")?.unwrap_or(fetch.timeout.min);
    fetch.access = quantity::<Rate>(&request, "access")?;
    fetch.sha256 = digest(text(&request, "sha256"));
    fetch.seed = now_ns(&request);
    let control = Arc::clone(&control.0);
    let (capture, mut captured) = (capture(&request)?, None);
    let fetched = py.detach(|| -> io::Result<Fetched> {
        let mut out: Box<dyn Write> = match path {
            Some(path) => Box::new(BufWriter::with_capacity(BUFFER, File::create(path)?)),
            None => Box::new(BufWriter::with_capacity(BUFFER, io::stdout())),
        };
        Ok(match ndn::connect(&place) {
            Ok(socket) => {
                let mut face = Face::new(tap(socket, capture)?, fetch.seed);
                let fetched = ndn::fetch(&mut face, &fetch, &mut *out, &control);
                captured = face.transport().finish();
                fetched
            }
            Err(failure) => Fetched { failure: Some(failure), ..Fetched::default() },
        })
    });
    let fetched = fetched.map_err(|error| PyOSError::new_err(format!("{}: {error}", path.unwrap_or("-"))))?;
    let mut report = fetch_report(&fetched);
    say(&mut report, captured.as_ref());
    Ok(report.to_string())
}

/// Serves a file until it is stopped. `wanted` is JSON. The content is the file at `path`, or `content` if that is
/// None. Returns the result as JSON.
#[pyfunction]
pub fn ndn_put(
    py: Python<'_>,
    wanted: &str,
    path: Option<&str>,
    content: Option<Vec<u8>>,
    control: &NdnControl,
) -> PyResult<String> {
    let request = tree(wanted)?;
    let place = place(text(&request, "face"))?;
    let now_ns = now_ns(&request);
    let version = request["version"].as_u64().unwrap_or(now_ns / 1000);
    let mut serve = Serve::new(name(text(&request, "name"))?, version, now_ns / 1_000_000);
    serve.segment = request["segment"].as_u64().map_or(serve.segment, |bytes| bytes as usize);
    if !(1..=Serve::LONGEST_SEGMENT).contains(&serve.segment) {
        return Err(PyValueError::new_err(format!(
            "segments have from 1 to {} bytes",
            Serve::LONGEST_SEGMENT
        )));
    }
    serve.register = request["register"].as_bool().unwrap_or(true);
    serve.cost = request["cost"].as_u64().unwrap_or(0);
    serve.freshness = quantity(&request, "freshness")?.unwrap_or(serve.freshness);
    let control = Arc::clone(&control.0);
    let (capture, mut captured) = (capture(&request)?, None);
    let served = py.detach(|| -> io::Result<Served> {
        let mut content: Box<dyn ndn::Content> = match path {
            Some(path) => Box::new(ndn::OnDisk::open(File::open(path)?)?),
            None => Box::new(content.unwrap_or_default()),
        };
        Ok(match ndn::connect(&place) {
            Ok(socket) => {
                let mut face = Face::new(tap(socket, capture)?, now_ns);
                let served = ndn::serve(&mut face, &serve, &mut *content, &control);
                captured = face.transport().finish();
                served
            }
            Err(failure) => Served { failure: Some(failure), ..Served::default() },
        })
    });
    let served = served.map_err(|error| PyOSError::new_err(format!("{}: {error}", path.unwrap_or("-"))))?;
    let mut report = serving_report(&served);
    report["version"] = json!(version);
    say(&mut report, captured.as_ref());
    Ok(report.to_string())
}

fn name(text: &str) -> PyResult<wire::ndn::Name> {
    text.parse().map_err(|error: wire::ndn::BadUri| PyValueError::new_err(error.to_string()))
}

fn place(text: &str) -> PyResult<FaceUri> {
    text.parse().map_err(PyValueError::new_err::<String>)
}

fn tree(text: &str) -> PyResult<Value> {
    serde_json::from_str(text).map_err(|error| PyValueError::new_err(error.to_string()))
}

fn text<'a>(request: &'a Value, key: &str) -> &'a str {
    request[key].as_str().unwrap_or_default()
}

/// A quantity with its unit; `None` if the key is missing.
fn quantity<T: UnitText>(request: &Value, key: &str) -> PyResult<Option<T>> {
    let read = request[key].as_str().map(T::from_text).transpose();
    read.map_err(|error| PyValueError::new_err(format!("{key}: {error}")))
}

fn param(value: &Value) -> Option<ParamValue> {
    Some(match value {
        Value::Bool(value) => ParamValue::Bool(*value),
        Value::Number(number) => match number.as_i64() {
            Some(whole) => ParamValue::Int(whole),
            None => ParamValue::Float(number.as_f64()?),
        },
        Value::String(text) => ParamValue::Text(text.clone()),
        _ => return None,
    })
}

fn digest(text: &str) -> Option<wire::ndn::Digest> {
    let digits: Option<Vec<u8>> = text.chars().map(|c| Some(c.to_digit(16)? as u8)).collect();
    let bytes: Vec<u8> = digits?.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect();
    bytes.try_into().ok()
}

/// Nanoseconds since 1970 by Python's clock, which also seed the random numbers.
fn now_ns(request: &Value) -> u64 {
    request["now_ns"].as_u64().unwrap_or_default()
}

/// The capture file, if one is requested.
fn capture(request: &Value) -> PyResult<Option<File>> {
    let Some(path) = request["pcap"].as_str() else { return Ok(None) };
    File::create(path).map(Some).map_err(|error| PyOSError::new_err(format!("{path}: {error}")))
}

/// The socket, with a capture in this file.
fn tap(mut socket: ndn::Socket, file: Option<File>) -> io::Result<Tapped<ndn::Socket>> {
    let began_ns = Recorder::zero_of(socket.now());
    Ok(Tapped::new(socket, file.map(|file| Recorder::new(file, began_ns)).transpose()?))
}

/// Adds the result of a capture.
pub(crate) fn say(report: &mut Value, captured: Option<&Captured>) {
    let Some(captured) = captured else { return };
    report["captured"] = json!(captured.packets);
    report["capture_failure"] = json!(captured.failure.as_ref().map(ToString::to_string));
}

fn failed(failure: Option<&Failure>) -> Value {
    failure.map_or(Value::Null, |failure| {
        json!({
            "message": failure.to_string(),
            "hint": failure.hint(),
            "stopped": matches!(failure, Failure::Stopped),
        })
    })
}

fn traffic(traffic: &ndn::Traffic) -> Value {
    json!({
        "frames_sent": traffic.frames_out,
        "frames_sent_bytes": traffic.bytes_out,
        "frames_received": traffic.frames_in,
        "frames_received_bytes": traffic.bytes_in,
        "frames_malformed": traffic.malformed,
        "packets_unfinished": traffic.unfinished,
        "frames_dropped_here": traffic.overruns,
    })
}

fn fetch_report(fetched: &Fetched) -> Value {
    let meter: &Meter = &fetched.meter;
    let seconds = |span: Duration| span.as_secs_f64();
    let mean = |sum: u64, count: u64| (count > 0).then(|| sum as f64 / count as f64 / 1e9);
    let window = |bytes: Bytes| Some(bytes.as_u64()).filter(|bytes| *bytes > 0);
    json!({
        "failure": failed(fetched.failure.as_ref()),
        "name": fetched.name.as_ref().map(ToString::to_string),
        "segments": fetched.segments,
        "segments_written": fetched.written,
        "bytes": fetched.bytes,
        "sha256": fetched.sha256.map(|digest| digest.iter().map(|byte| format!("{byte:02x}")).collect::<String>()),
        "span_s": seconds(fetched.span),
        "finding_s": seconds(fetched.finding),
        "goodput_bps": Some(seconds(fetched.span)).filter(|s| *s > 0.0).map(|s| fetched.bytes as f64 * 8.0 / s),
        "retransmits": meter.count(Count::Retransmits),
        "timeouts": meter.count(Count::Timeouts),
        "episodes": meter.count(Count::Episodes),
        "marks": meter.count(Count::Marks),
        "nacks": meter.count(Count::Nacks),
        "no_route": fetched.no_route,
        "damaged": fetched.damaged,
        "unverified": fetched.unverified,
        "too_early": fetched.early,
        "rtt_min_s": (meter.rtt_count > 0).then(|| seconds(meter.rtt_min)),
        "rtt_mean_s": mean(meter.rtt_sum_ns, meter.rtt_count),
        "delay_mean_s": mean(meter.media().delay_sum_ns, meter.media().delay_count),
        "delay_max_s": (meter.media().delay_count > 0).then(|| seconds(meter.media().delay_max)),
        "window_bytes": window(fetched.window),
        "window_max_bytes": window(fetched.window_max),
        "traffic": traffic(&fetched.traffic),
    })
}

fn serving_report(served: &Served) -> Value {
    json!({
        "failure": failed(served.failure.as_ref()),
        "interests": served.interests,
        "segments": served.segments,
        "bytes": served.bytes,
        "metadata": served.metadata,
        "unknown": served.unknown,
        "span_s": served.span.as_secs_f64(),
        "traffic": traffic(&served.traffic),
    })
}

/// Bytes per write.
const BUFFER: usize = 256 << 10;
