//! Real transfers: settings of a session and its outcome as JSON.

use std::fs::File;
use std::io::{Read, Write};
use std::net::SocketAddr;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use contract::{ParamList, ParamValue};
use driver::{
    Captured, FromDatagrams, Interface, Listening, Multicast, Platform, Recorder, Tapped, ToDatagrams, Udp,
};
use live::{
    Control, End, Group, Handshake, Limits, Outcome, Phase, ReceiverOutcome, Scheme, Secret, Settings,
    send_to_group,
};
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use serde_json::{Value, json};
use transfer::{Destination, Identity, Outgoing, Receivers, Source, Tally, Task, keep};
use units::{Duration, Rate, Time, UnitError, UnitText};

/// A transfer, which other threads can observe and control.
#[pyclass(frozen)]
pub struct Transfer {
    control: Arc<Control>,
    tally: Arc<Tally>,
    /// The scheme; for a receiver, that of the sender's offer.
    scheme: Arc<OnceLock<String>>,
}

#[pymethods]
impl Transfer {
    #[new]
    fn new() -> Self {
        Self { control: Arc::default(), tally: Arc::default(), scheme: Arc::default() }
    }

    /// Sends data. Returns at the end, with the result as JSON.
    fn send(&self, py: Python<'_>, told: &str) -> PyResult<String> {
        let told = parse(told)?;
        let source = match (text(&told, "path"), text(&told, "datagrams")) {
            (Some(path), _) => Source::File(PathBuf::from(path)),
            (None, Some(at)) => Source::Pipe(Box::new(datagrams_at(at, &told).map_err(PyOSError::new_err)?)),
            (None, None) => Source::Pipe(Box::new(handle(&std::io::stdin())?) as Box<dyn Read + Send>),
        };
        let scheme = Scheme {
            params: params(&told),
            mode: text(&told, "mode").map(str::to_owned),
            packet: u16::try_from(number(&told, "packet")?).unwrap_or(u16::MAX),
            ..Scheme::new(text(&told, "scheme").unwrap_or_default())
        };
        let transport = live::transport_of(&scheme.name).map_err(PyValueError::new_err)?;
        let _ = self.scheme.set(scheme.name.clone());
        let task = Task {
            from: source,
            name: text(&told, "name").unwrap_or_default().to_owned(),
            deadline: text(&told, "deadline").map(span).transpose()?,
            rate: text(&told, "rate").map(rate).transpose()?,
            packet: scheme.packet,
            transport,
            id: number(&told, "id")?,
            receivers: Receivers { min: number(&told, "receivers")?.max(1) as usize },
        };
        let (control, tally) = (&self.control, &self.tally);
        let left = py.detach(|| -> Result<Remains, String> {
            let go_on = || !control.stopped();
            let Some((cargo, about)) = task.load(tally, &go_on).map_err(|error| error.to_string())? else {
                return Ok(Remains::Stopped);
            };
            let file = capture(&told)?;
            let Some((settings, socket)) = open(&told, &go_on)? else {
                return Ok(Remains::none(control));
            };
            let group = text(&told, "group").map(|group| group_at(group, &socket)).transpose()?;
            let mut socket = tap(socket, file)?;
            let Some(address) = group else {
                let outcome = live::send(&settings, &scheme, cargo, about, &mut socket, control);
                return Ok(Remains::Over(Box::new(outcome), Vec::new(), socket.finish()));
            };
            let Outgoing::Paced(payload) = cargo else {
                return Err(format!("`{}` has a window, and a group needs a scheme that paces", scheme.name));
            };
            let group = Group { address, max: MAX };
            let (outcome, left) =
                send_to_group(&settings, &group, &scheme, payload, about, &mut socket, control);
            Ok(Remains::Over(Box::new(outcome), left, socket.finish()))
        });
        Ok(self.said(&left.map_err(PyOSError::new_err)?).to_string())
    }

    /// Receives data. Returns at the end, with the result as JSON.
    fn receive(&self, py: Python<'_>, told: &str) -> PyResult<String> {
        let told = parse(told)?;
        let (control, tally) = (&self.control, &self.tally);
        let left = py.detach(|| -> Result<Remains, String> {
            let go_on = || !control.stopped();
            if let Some(name) = text(&told, "name") {
                transfer::check_name(name).map_err(|why| format!("the name {name:?}: {why}"))?;
            }
            let file = capture(&told)?;
            let Some((mut settings, mut socket)) = open(&told, &go_on)? else {
                return Ok(Remains::none(control));
            };
            let me = match (settings.handshake, text(&told, "folder")) {
                (Handshake::Connect(sender), Some(folder)) => {
                    Some(Identity::of(Path::new(folder), text(&told, "name"), sender, |bytes| {
                        socket.fill_random(bytes)
                    }))
                }
                _ => None,
            };
            settings.caller = me.map(|me| me.secret);
            let mut socket = tap(socket, file)?;
            let window = settings.limits.window;
            let mut accept = |offer: &live::Offer| {
                let into = destination(&told, me)?;
                let _ = self.scheme.set(offer.scheme.clone());
                keep(offer, into, window, tally)
            };
            let outcome = live::receive(&settings, &mut accept, &mut socket, control);
            Ok(Remains::Over(Box::new(outcome), Vec::new(), socket.finish()))
        });
        Ok(self.said(&left.map_err(PyOSError::new_err)?).to_string())
    }

    /// Requests that the transfer closes the session and ends.
    fn stop(&self) {
        self.control.stop();
    }

    /// Requests that both ends change to this mode of the scheme.
    fn change_mode(&self, mode: &str) {
        self.control.change_mode(mode);
    }

    /// Status as JSON.
    fn told(&self) -> String {
        self.state().to_string()
    }
}

/// The result of a transfer.
enum Remains {
    /// Stopped before there was a session.
    Stopped,
    /// No other end answered or called.
    Unanswered,
    /// The outcome; for a group also the end of each receiver; the capture if one was requested.
    Over(Box<Outcome>, Vec<ReceiverOutcome>, Option<Captured>),
}

impl Remains {
    /// The result without a session: stopped, or no other end in time.
    fn none(control: &Control) -> Self {
        if control.stopped() { Self::Stopped } else { Self::Unanswered }
    }
}

impl Transfer {
    fn state(&self) -> Value {
        use std::sync::atomic::Ordering::Relaxed;
        let (progress, told) = (&self.control.progress, self.tally.snapshot());
        json!({
            "phase": match progress.phase() {
                Phase::Connecting => "meeting",
                Phase::Open => "open",
                Phase::Silent => "silent",
                Phase::Closing => "closing",
                Phase::Over => "over",
            },
            "packets": progress.packets.load(Relaxed),
            "bytes": progress.bytes.load(Relaxed),
            "lost": progress.lost.load(Relaxed),
            "scheme": self.scheme.get(),
            "mode": progress.mode(),
            "limit_bps": progress.limit_bps.load(Relaxed),
            "allowed_bps": progress.allowed_bps.load(Relaxed),
            "forged": progress.forged.load(Relaxed),
            "deaf": progress.deaf.load(Relaxed),
            "rtt_s": Duration::from_nanos(progress.rtt_ns.load(Relaxed)).as_secs_f64(),
            "total_bytes": told.total,
            "done_bytes": told.done,
            "hashed_bytes": told.hashed,
            "resumed_bytes": told.resumed,
            "sent": {"first": told.sent[0], "coded": told.sent[1], "again": told.sent[2]},
            "received": {"useful": told.received[0], "useless": told.received[1], "unkept": told.received[2]},
            "receivers": told.receivers,
            "whole_receivers": told.whole,
            "dropped": told.dropped,
            "late": told.late,
            "missed": told.missed,
            "spoilt_blocks": told.spoilt,
            "name": told.name,
            "path": told.path,
            "notes": told.notes,
        })
    }

    /// The result with all counters.
    fn said(&self, left: &Remains) -> Value {
        let mut said = self.state();
        let (end, why) = match left {
            Remains::Stopped => ("stopped", None),
            Remains::Unanswered => ("unanswered", None),
            Remains::Over(outcome, ..) => ended(&outcome.end),
        };
        said["end"] = json!(end);
        said["why"] = json!(why);
        if let Remains::Over(outcome, members, captured) = left {
            said["captured"] = json!(captured.as_ref().map(|captured| captured.packets));
            if let (Some(failure), Some(notes)) = (
                captured.as_ref().and_then(|captured| captured.failure.as_ref()),
                said["notes"].as_array_mut(),
            ) {
                notes.push(json!(format!("the capture is not complete: {failure}")));
            }
            let members = members.iter().map(|member| {
                let (end, why) = ended(&member.end);
                json!({"address": member.address.to_string(), "end": end, "why": why})
            });
            said["members"] = json!(members.collect::<Vec<_>>());
            let stats = &outcome.stats;
            let opened = stats.opened_at != Time::NEVER;
            let meter = &stats.meter;
            let mean_ns = meter.rtt_sum_ns.checked_div(meter.rtt_count).unwrap_or(0);
            said["stats"] = json!({
                "span_s": if opened { stats.span().as_secs_f64() } else { 0.0 },
                "sessions": stats.sessions,
                "packets": stats.packets,
                "bytes": stats.bytes,
                "content_bytes": stats.content,
                "sent_datagrams": stats.sent.datagrams,
                "received_datagrams": stats.received.datagrams,
                "refused": {
                    "malformed": stats.discarded.malformed,
                    "versions": stats.discarded.versions,
                    "strangers": stats.discarded.strangers,
                    "forged": stats.discarded.forged,
                    "repeated": stats.discarded.repeated,
                    "misplaced": stats.discarded.misplaced,
                },
                "overruns": stats.overruns,
                "marked": stats.marked,
                "missing": meter.count(contract::Count::Missing),
                "retransmits": meter.count(contract::Count::Retransmits),
                "timeouts": meter.count(contract::Count::Timeouts),
                "episodes": meter.count(contract::Count::Episodes),
                "rtt_mean_s": Duration::from_nanos(mean_ns).as_secs_f64(),
                "lateness_p50_s": stats.lateness.percentile(0.5).unwrap_or_default().as_secs_f64(),
                "lateness_p99_s": stats.lateness.percentile(0.99).unwrap_or_default().as_secs_f64(),
                "lateness_max_s": stats.lateness.max().as_secs_f64(),
            });
        }
        said
    }
}

/// How a session ended, and the reason if there is one.
fn ended(end: &End) -> (&'static str, Option<String>) {
    match end {
        End::Complete => ("complete", None),
        End::Stopped => ("stopped", None),
        End::Closed(reason) => ("closed", Some(reason.words().to_owned())),
        End::Refused(reason) => ("refused", Some(reason.words().to_owned())),
        End::Unanswered => ("unanswered", None),
        End::Silent => ("silent", None),
        End::Quiet => ("quiet", None),
        End::Failed(why) => ("failed", Some(why.clone())),
    }
}

/// Maximum number of receivers of a group.
const MAX: usize = 10_000;

/// Opens the socket. Calls if an address is given, otherwise listens. `None` if it was stopped, or no caller arrived in time.
fn open(told: &Value, go_on: &dyn Fn() -> bool) -> Result<Option<(Settings, Udp)>, String> {
    let secret = told["key"].as_array().map(|bytes| {
        let bytes = bytes.iter().filter_map(|byte| u8::try_from(byte.as_u64()?).ok());
        Secret::new(bytes.collect::<Vec<u8>>())
    });
    let mut limits = Limits::default();
    if let Some(patience) = told["patience_s"].as_f64() {
        limits.patience = Duration::from_secs_f64(patience);
        limits.waits = limits.patience;
    }
    let settings =
        |handshake| Settings { handshake, secret: secret.clone().unwrap_or_default(), limits, caller: None };
    if let Some(to) = text(told, "call") {
        let to = address(to)?;
        let mut socket = Udp::for_calling(to).map_err(|error| format!("{to}: {error}"))?;
        join(told, &mut socket)?;
        return Ok(Some((settings(Handshake::Connect(to)), socket)));
    }
    let listed = told["listen"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let addresses: Vec<SocketAddr> = listed.map(address).collect::<Result<_, _>>()?;
    let said = |error: std::io::Error| {
        let at: Vec<String> = addresses.iter().map(ToString::to_string).collect();
        format!("{}: {error}", at.join(", "))
    };
    let is_attempt = |bytes: &[u8]| matches!(wire::stream::Datagram::peek(bytes), Ok((_, true)));
    let socket =
        Listening::at(&addresses).and_then(|listening| listening.first(&is_attempt, limits.waits, go_on));
    let socket = socket.map_err(said)?;
    let Some(mut socket) = socket else { return Ok(None) };
    join(told, &mut socket)?;
    Ok(Some((settings(Handshake::Listen), socket)))
}

/// The capture file, if one is requested.
fn capture(told: &Value) -> Result<Option<File>, String> {
    let Some(path) = text(told, "pcap") else { return Ok(None) };
    File::create(path).map(Some).map_err(|error| format!("{path}: {error}"))
}

/// The socket, with a capture in this file.
fn tap(mut socket: Udp, file: Option<File>) -> Result<Tapped<Udp>, String> {
    let began_ns = Recorder::zero_of(socket.now());
    let recorder = file.map(|file| Recorder::new(file, began_ns)).transpose();
    let recorder = recorder.map_err(|error| format!("the capture: {error}"))?;
    Ok(Tapped::new(socket, recorder))
}

/// The address of a group that is reachable.
fn group_at(text: &str, socket: &Udp) -> Result<SocketAddr, String> {
    let address = text.parse::<SocketAddr>().map_err(|error| format!("{text}: {error}"))?;
    if address.ip().is_multicast() {
        socket.check_route(address).map_err(|error| {
            format!(
                "{text}: no way leads to this group: {error}\n`--interface NAME` says on which network it is"
            )
        })?;
    }
    Ok(address)
}

/// Selects the interface for groups, if one is given.
fn join(told: &Value, socket: &mut Udp) -> Result<(), String> {
    let Some(named) = text(told, "interface") else { return Ok(()) };
    let ipv6 = socket.address().is_ok_and(|at| at.is_ipv6());
    let interface = Interface::named(named, ipv6)?;
    let multicast = Multicast { interface, ..Multicast::default() };
    socket.set_multicast(&multicast).map_err(|error| format!("{named}: {error}"))
}

/// Without datagrams for this time, their program has ended.
const PATIENCE_S: f64 = 60.0;

/// The datagrams that a program sends to `at`, until none has come for the patience.
fn datagrams_at(at: &str, told: &Value) -> Result<FromDatagrams, String> {
    let patience = told["patience_s"].as_f64().unwrap_or(PATIENCE_S);
    FromDatagrams::listen(address(at)?, std::time::Duration::from_secs_f64(patience))
        .map_err(|error| format!("udp://{at}: {error}"))
}

fn address(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|error| format!("{text}: {error}"))
}

/// The destination of received data.
fn destination(told: &Value, me: Option<Identity>) -> Result<Destination, String> {
    if let Some(to) = text(told, "datagrams") {
        let program = ToDatagrams::connect(address(to)?).map_err(|error| format!("udp://{to}: {error}"))?;
        return Ok(Destination::Player(Box::new(program)));
    }
    match text(told, "folder") {
        Some(folder) => Ok(Destination::Folder {
            path: PathBuf::from(folder),
            name: text(told, "name").map(str::to_owned),
            replace: told["replace"].as_bool().unwrap_or(false),
            me,
        }),
        None => {
            let file = handle(&std::io::stdout()).map_err(|error| format!("standard output: {error}"))?;
            Ok(Destination::Pipe(Box::new(file) as Box<dyn Write + Send>))
        }
    }
}

/// A standard stream without Rust's buffers.
fn handle(stream: &impl AsFd) -> std::io::Result<File> {
    stream.as_fd().try_clone_to_owned().map(File::from)
}

fn parse(told: &str) -> PyResult<Value> {
    serde_json::from_str(told).map_err(|error| PyValueError::new_err(error.to_string()))
}

fn text<'a>(told: &'a Value, key: &str) -> Option<&'a str> {
    told[key].as_str()
}

fn number(told: &Value, key: &str) -> PyResult<u64> {
    told[key].as_u64().ok_or_else(|| PyValueError::new_err(format!("`{key}` is no number")))
}

fn span(text: &str) -> PyResult<Duration> {
    Duration::from_text(text).map_err(|error| refused(text, &error))
}

fn rate(text: &str) -> PyResult<Rate> {
    let rate = Rate::from_text(text).map_err(|error| refused(text, &error))?;
    if rate == Rate::ZERO {
        return Err(PyValueError::new_err(format!("{text:?}: a rate that sends nothing\nmore than 0 bit/s")));
    }
    Ok(rate)
}

/// The error for an invalid quantity: the message, a newline, and an example.
fn refused(text: &str, error: &UnitError) -> PyErr {
    PyValueError::new_err(format!("{text:?}: {}\n{}", error.message, error.hint))
}

/// The scheme's parameters.
fn params(told: &Value) -> ParamList {
    let listed = told["params"].as_object().into_iter().flatten();
    let value = |value: &Value| match value {
        Value::Bool(value) => Some(ParamValue::Bool(*value)),
        Value::String(value) => Some(ParamValue::Text(value.clone())),
        Value::Number(value) => {
            value.as_i64().map(ParamValue::Int).or_else(|| value.as_f64().map(ParamValue::Float))
        }
        _ => None,
    };
    listed.filter_map(|(name, given)| Some((name.clone(), value(given)?))).collect()
}
