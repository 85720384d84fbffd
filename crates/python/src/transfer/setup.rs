//! Settings of a transfer from JSON: addresses and sockets, credentials, sources and destinations of data.

use std::fs::File;
use std::io::Write;
use std::net::SocketAddr;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use contract::{ParamList, ParamValue};
use driver::{FromDatagrams, Interface, Listening, Multicast, Platform, Recorder, Tapped, ToDatagrams, Udp};
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use quic_net::{Control, Credentials, Fingerprint, Handshake, Limits, Proposal, Settings};
use serde_json::Value;
use transfer::{Destination, Identity, Placed, Source};
use units::{Duration, Rate, UnitError, UnitText};

/// Timeouts and sizes.
fn limits(options: &Value) -> Limits {
    let mut limits = Limits::default();
    if let Some(patience) = options["patience_s"].as_f64() {
        limits.patience = Duration::from_secs_f64(patience);
        limits.accept_timeout = limits.patience;
    }
    limits
}

/// The pre-shared key, if there is one.
fn key(options: &Value) -> Option<Vec<u8>> {
    let bytes = options["key"].as_array()?.iter();
    Some(bytes.filter_map(|byte| u8::try_from(byte.as_u64()?).ok()).collect())
}

/// The identity of this end, and the peers that it accepts.
fn credentials(options: &Value, socket: &mut impl Platform) -> Result<Credentials, String> {
    if let Some(key) = key(options) {
        return Credentials::shared(&key).map_err(|error| error.to_string());
    }
    let mut seed = [0; 32];
    socket.fill_random(&mut seed);
    let own = match text(options, "identity") {
        Some(path) => quic_net::Identity::open(Path::new(path), |fresh| *fresh = seed)
            .map_err(|error| error.to_string())?,
        None => quic_net::Identity::from_seed(seed),
    };
    let peers = options["peers"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let peers: Result<Vec<Fingerprint>, _> = peers.map(str::parse).collect();
    let peers = peers.map_err(|error| error.to_string())?;
    Ok(if peers.is_empty() { Credentials::unauthenticated(own) } else { Credentials::pinned(own, peers) })
}

/// The settings of a session and its socket, which connects if an address is given, and otherwise has received a
/// connection attempt. `None` if it was stopped, or no attempt arrived in time.
pub(super) fn open(options: &Value, control: &Control) -> Result<Option<(Settings, Udp)>, String> {
    let limits = limits(options);
    let (handshake, mut socket) = match text(options, "call") {
        Some(to) => {
            let to = address(to)?;
            (Handshake::Connect(to), Udp::for_calling(to).map_err(|error| format!("{to}: {error}"))?)
        }
        None => match called(options, &limits, control)? {
            Some(socket) => (Handshake::Listen, socket),
            None => return Ok(None),
        },
    };
    join(options, &mut socket)?;
    let credentials = credentials(options, &mut socket)?;
    Ok(Some((Settings { handshake, credentials, limits, client_secret: None, logs: None }, socket)))
}

/// Listens at all addresses until a connection attempt arrives at one of them.
fn called(options: &Value, limits: &Limits, control: &Control) -> Result<Option<Udp>, String> {
    let listed = options["listen"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let addresses: Vec<SocketAddr> = listed.map(address).collect::<Result<_, _>>()?;
    let keep_going = || !control.stopped();
    let socket = Listening::at(&addresses)
        .and_then(|listening| listening.first(&quic_net::is_attempt, limits.accept_timeout, &keep_going));
    socket.map_err(|error| {
        let at: Vec<String> = addresses.iter().map(ToString::to_string).collect();
        format!("{}: {error}", at.join(", "))
    })
}

/// The capture file, if one is requested.
pub(super) fn capture(options: &Value) -> Result<Option<File>, String> {
    let Some(path) = text(options, "pcap") else { return Ok(None) };
    File::create(path).map(Some).map_err(|error| format!("{path}: {error}"))
}

/// The socket, with a capture in this file.
pub(super) fn tap(mut socket: Udp, file: Option<File>) -> Result<Tapped<Udp>, String> {
    let began_ns = Recorder::zero_of(socket.now());
    let recorder = file.map(|file| Recorder::new(file, began_ns)).transpose();
    let recorder = recorder.map_err(|error| format!("the capture: {error}"))?;
    Ok(Tapped::new(socket, recorder))
}

/// The address of a group that is reachable.
pub(super) fn group_at(text: &str, socket: &Udp) -> Result<SocketAddr, String> {
    let address = text.parse::<SocketAddr>().map_err(|error| format!("{text}: {error}"))?;
    if address.ip().is_multicast() {
        socket.check_route(address).map_err(|error| {
            format!("{text}: no route leads to this group: {error}\n`--interface NAME` selects its network")
        })?;
    }
    Ok(address)
}

/// Selects the interface for groups, if one is given.
fn join(options: &Value, socket: &mut Udp) -> Result<(), String> {
    let Some(named) = text(options, "interface") else { return Ok(()) };
    let ipv6 = socket.address().is_ok_and(|at| at.is_ipv6());
    let interface = Interface::named(named, ipv6)?;
    let multicast = Multicast { interface, ..Multicast::default() };
    socket.set_multicast(&multicast).map_err(|error| format!("{named}: {error}"))
}

/// Without datagrams for this time, their program has ended.
const PATIENCE_S: f64 = 60.0;

/// The datagrams that a program sends to `at`, until none has arrived for the patience.
fn datagrams_at(at: &str, options: &Value) -> Result<FromDatagrams, String> {
    let patience = options["patience_s"].as_f64().unwrap_or(PATIENCE_S);
    FromDatagrams::listen(address(at)?, std::time::Duration::from_secs_f64(patience))
        .map_err(|error| format!("udp://{at}: {error}"))
}

fn address(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|error| format!("{text}: {error}"))
}

/// The identity of a receiver that calls and stores files, so that it is recognised after a restart.
pub(super) fn identity(
    options: &Value,
    handshake: Handshake,
    socket: &mut impl Platform,
) -> Option<Identity> {
    let (Handshake::Connect(sender), Some(folder)) = (handshake, text(options, "folder")) else {
        return None;
    };
    Some(Identity::of(Path::new(folder), text(options, "name"), sender, |bytes| socket.fill_random(bytes)))
}

/// The source of the data to send.
pub(super) fn source(options: &Value) -> PyResult<Source> {
    Ok(match (text(options, "path"), text(options, "datagrams")) {
        (Some(path), _) => Source::File(PathBuf::from(path)),
        (None, Some(at)) => Source::Pipe(Box::new(datagrams_at(at, options).map_err(PyOSError::new_err)?)),
        (None, None) => Source::Pipe(Box::new(handle(&std::io::stdin())?)),
    })
}

/// The destination of received data, below these folders of the sender. A name is that of the file, or of the outermost
/// folder.
pub(super) fn destination(
    options: &Value,
    me: Option<Identity>,
    placed: &mut Placed,
    proposal: &Proposal,
) -> Result<Destination, String> {
    let folders = &proposal.folders;
    if !folders.is_empty() && text(options, "folder").is_none() {
        return Err("a folder is sent, and this receiver has none to put it into".to_owned());
    }
    if let Some(to) = text(options, "datagrams") {
        let program = ToDatagrams::connect(address(to)?).map_err(|error| format!("udp://{to}: {error}"))?;
        return Ok(Destination::Player(Box::new(program)));
    }
    match text(options, "folder") {
        Some(folder) => Ok(Destination::Folder {
            path: place(Path::new(folder), text(options, "name"), placed, proposal)?,
            name: text(options, "name").filter(|_| folders.is_empty()).map(str::to_owned),
            replace: options["replace"].as_bool().unwrap_or(false),
            me,
        }),
        None => {
            let file = handle(&std::io::stdout()).map_err(|error| format!("standard output: {error}"))?;
            Ok(Destination::Pipe(Box::new(file) as Box<dyn Write + Send>))
        }
    }
}

/// The folder of a file, which is made if it is missing.
fn place(
    into: &Path,
    name: Option<&str>,
    placed: &mut Placed,
    proposal: &Proposal,
) -> Result<PathBuf, String> {
    let file = transfer::offered(&proposal.offer).map_or_else(String::new, |manifest| manifest.name);
    let mut folders = proposal.folders.clone();
    if let (Some(outermost), Some(name)) = (folders.first_mut(), name) {
        name.clone_into(outermost);
    }
    placed.enter(into, &folders, &file).map_err(|error| error.to_string())
}

/// A standard stream without Rust's buffers.
fn handle(stream: &impl AsFd) -> std::io::Result<File> {
    stream.as_fd().try_clone_to_owned().map(File::from)
}

pub(super) fn parse(options: &str) -> PyResult<Value> {
    serde_json::from_str(options).map_err(|error| PyValueError::new_err(error.to_string()))
}

pub(super) fn text<'a>(options: &'a Value, key: &str) -> Option<&'a str> {
    options[key].as_str()
}

pub(super) fn number(options: &Value, key: &str) -> PyResult<u64> {
    options[key].as_u64().ok_or_else(|| PyValueError::new_err(format!("`{key}` is no number")))
}

pub(super) fn span(text: &str) -> PyResult<Duration> {
    Duration::from_text(text).map_err(|error| refused(text, &error))
}

pub(super) fn rate(text: &str) -> PyResult<Rate> {
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
pub(super) fn params(options: &Value) -> ParamList {
    let listed = options["params"].as_object().into_iter().flatten();
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
