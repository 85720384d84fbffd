//! The NDN forwarder as a process, and several of them as a test network on the loopback device.

use std::collections::BTreeMap;
use std::fs::File;
use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::Arc;

use contract::{NameId, ParamList, ParamValue, Setup};
use driver::{Recorder, Tapped};
use ndn_net::forwarder::{
    App, Control, ControllerSettings, Counts, Error, FaceRecorder, ForwarderPlatform, Limits, LinkSettings,
    Listen, MarkSettings, Node, RouteSettings, Settings, Sockets, Stats, TestbedLink, TestbedNode, drive,
    run_testbed,
};
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use quic_net::{Credentials, Discarded};
use serde_json::{Map, Value, json};
use stack::ndn::{ConsumerConfig, Policy, Store, Tally};
use units::{Bytes, Duration, Rate, Time, UnitText};
use wire::ndn::Name;
use wire::stream::TEXT;

/// A handle by which another thread observes and stops a forwarder.
#[pyclass(frozen, module = "thalweg._native")]
pub struct ForwardControl(Arc<Control>);

#[pymethods]
impl ForwardControl {
    #[new]
    fn new() -> Self {
        Self(Arc::default())
    }

    /// Recent status as JSON; None before the start.
    #[getter]
    fn stats(&self) -> Option<String> {
        self.0.status().map(|stats| stats_json(&stats).to_string())
    }

    /// Requests the end.
    fn stop(&self) {
        self.0.stop();
    }
}

/// Runs a forwarder with `settings`, JSON with the keys of a settings file, until it is stopped. Returns its status as
/// JSON. If `pcap` is given, packets of its faces are written to this capture file. Raises `ValueError` for invalid
/// settings, `OSError` for sockets or a file that cannot be opened.
#[pyfunction]
#[pyo3(signature = (settings, control, pcap=None))]
pub fn ndn_forward(
    py: Python<'_>,
    settings: &str,
    control: &ForwardControl,
    pcap: Option<&str>,
) -> PyResult<String> {
    let mut tree = Table::top(settings)?;
    let listen = listen(tree.table("listen")?)?;
    let settings = settings_of(tree)?;
    let control = Arc::clone(&control.0);
    let links: Vec<(String, SocketAddr)> =
        settings.links.iter().filter_map(|link| Some((link.name.clone(), link.to?))).collect();
    let no_file = |error| Error::Socket { place: pcap.unwrap_or_default().to_owned(), error };
    let ended = py.detach(|| -> Result<Value, Error> {
        let programs = settings.limits.programs;
        let controller = settings.controller.as_ref().map(|controller| controller.address);
        let held = settings.program_marks.map(|marks| marks.above.as_u64() as usize);
        let mut node = Node::new(settings)?;
        let mut sockets = Sockets::open(&Listen { programs, held, controller, ..listen })?;
        let began_ns = Recorder::zero_of(sockets.now());
        let file = pcap.map(File::create).transpose().map_err(no_file)?;
        let recorder = file.map(|file| FaceRecorder::new(file, &links, began_ns)).transpose();
        let mut sockets = Tapped::new(sockets, recorder.map_err(no_file)?);
        let late = drive(&mut node, &mut sockets, &control, Time::NEVER);
        let mut report = stats_json(&node.stats());
        crate::ndn::say(&mut report, sockets.finish().as_ref());
        report["late_p50_s"] = json!(late.percentile(0.5).unwrap_or_default().as_secs_f64());
        report["late_p99_s"] = json!(late.percentile(0.99).unwrap_or_default().as_secs_f64());
        Ok(report)
    });
    ended.map(|report| report.to_string()).map_err(failed)
}

/// Runs several forwarders with endpoints in one process for a duration. `experiment` is JSON: `hosts`, `wires`,
/// `span_s`. Returns the results as JSON.
#[pyfunction]
pub fn ndn_together(py: Python<'_>, experiment: &str, control: &ForwardControl) -> PyResult<String> {
    let mut tree = Table::top(experiment)?;
    let span = tree.quantity("span", Duration::from_secs(1))?;
    let hosts = tree.tables("hosts")?.into_iter().map(host).collect::<PyResult<Vec<_>>>()?;
    let wires = tree.tables("wires")?.into_iter().map(wire).collect::<PyResult<Vec<_>>>()?;
    tree.done()?;
    let control = Arc::clone(&control.0);
    let done = py.detach(|| run_testbed(hosts, &wires, span, &control)).map_err(failed)?;
    let seconds = |at: &Time| at.as_secs_f64();
    let app = |app: &App| {
        json!({
            "prefix": app.prefix().to_string(),
            "generated_s": app.generated().iter().map(|sample| seconds(&sample.at)).collect::<Vec<_>>(),
            "received_s": app.received().iter().map(seconds).collect::<Vec<_>>(),
        })
    };
    let hosts: Vec<Value> = done
        .iter()
        .map(|done| {
            let mut report = stats_json(&done.node.stats());
            report["name"] = json!(done.name);
            report["apps"] = done.node.apps().iter().map(app).collect();
            report["late_p50_s"] = json!(done.late.percentile(0.5).unwrap_or_default().as_secs_f64());
            report["late_p99_s"] = json!(done.late.percentile(0.99).unwrap_or_default().as_secs_f64());
            report
        })
        .collect();
    Ok(Value::from(hosts).to_string())
}

fn failed(error: Error) -> PyErr {
    match error {
        Error::Socket { .. } => PyOSError::new_err(error.to_string()),
        _ => PyValueError::new_err(error.to_string()),
    }
}

fn stats_json(stats: &Stats) -> Value {
    let machine: Map<String, Value> =
        Tally::ALL.iter().map(|what| (what.name().to_owned(), json!(stats.machine.count(*what)))).collect();
    let face = |name: &str, counts: &Counts, pending: usize| {
        json!({
            "name": name,
            "frames_received": counts.frames_in,
            "frames_received_bytes": counts.bytes_in,
            "frames_sent": counts.frames_out,
            "frames_sent_bytes": counts.bytes_out,
            "interests_pending": pending,
            "interests_refused": counts.refused,
            "packets_dropped": counts.dropped,
            "packets_marked": counts.marked,
            "frames_dropped_here": counts.overruns,
            "frames_malformed": counts.malformed,
        })
    };
    let mut faces: Vec<Value> =
        stats.ports.iter().map(|port| face(&port.name, &port.counts, port.pending)).collect();
    if stats.ended != Counts::default() {
        faces.push(face("ended", &stats.ended, 0));
    }
    let strays = &stats.strays;
    let controller = stats.agent.as_ref().map(|agent| {
        json!({
            "connected": agent.connected,
            "sent_away": agent.last_refusal,
            "sessions": agent.sessions,
            "statuses": agent.statuses,
            "signals": agent.signals,
            "commands": agent.commands,
            "reroutes": agent.moves,
            "ignored": agent.ignored,
            "refused": discarded(&agent.discarded),
        })
    });
    json!({
        "packets": machine,
        "pending": stats.machine.pending,
        "pending_peak": stats.machine.pending_peak,
        "stored": stats.machine.stored,
        "names": stats.names.0,
        "bytes": stats.names.1,
        "routes": stats.routes,
        "from_strangers": strays.strangers,
        "unsolicited": strays.unsolicited,
        "stale_refusals": strays.stale_nacks,
        "queued_bytes": stats.queued,
        "refused_for_room": strays.full,
        "refused_for_share": strays.crowded,
        "names_too_long": strays.long_names,
        "out_of_scope": strays.out_of_scope,
        "commands": strays.commands,
        "commands_refused": strays.refused_commands,
        "faces": faces,
        "controller": controller,
    })
}

/// Discarded datagrams of a session, by reason.
pub(crate) fn discarded(discarded: &Discarded) -> Value {
    json!({
        "malformed": discarded.malformed,
        "strangers": discarded.strangers,
        "forged": discarded.forged,
        "misplaced": discarded.misplaced,
    })
}

// ---- settings

fn listen(mut table: Table) -> PyResult<Listen> {
    let udp = table.text("udp")?.map(|text| address(&text, "listen.udp")).transpose()?;
    let unix = table.text("unix")?.map(Into::into);
    table.done()?;
    if udp.is_none() && unix.is_none() {
        return Err(PyValueError::new_err("`listen`: a forwarder listens at `udp`, at `unix`, or at both"));
    }
    Ok(Listen { udp, unix, ..Listen::default() })
}

/// The settings in `tree`, except where it listens.
fn settings_of(mut tree: Table) -> PyResult<Settings> {
    let mut forwarder = tree.table("forwarder")?;
    let base = Settings::default();
    let mut store = forwarder.table("store")?;
    let policy = match store.text("policy")?.as_deref() {
        None | Some("none") => Policy::None,
        Some("lru") => Policy::Lru,
        Some("fifo") => Policy::Fifo,
        Some(other) => return Err(store.wrong("policy", &format!("`{other}` is none of none, lru, fifo"))),
    };
    let size = store.whole("size", 1024)?;
    store.done()?;
    let strangers = forwarder.table("strangers")?;
    let strangers = if strangers.given { Some(link(strangers)?) } else { None };
    let mut settings = Settings {
        strategy: forwarder.text("strategy")?.unwrap_or(base.strategy),
        strategy_params: forwarder.params("strategy_params")?,
        link: forwarder.text("link")?,
        link_params: forwarder.params("link_params")?,
        data: forwarder.quantity("data", base.data)?,
        store: Store { policy, size: size as u32 },
        strangers,
        seed: forwarder.whole("seed", 0)?,
        ..Settings::default()
    };
    forwarder.done()?;
    settings.links = tree.tables("links")?.into_iter().map(link).collect::<PyResult<Vec<_>>>()?;
    if let Some(nowhere) = settings.links.iter().find(|link| link.to.is_none()) {
        return Err(PyValueError::new_err(format!(
            "link `{}`: where does it lead? `to = \"host:port\"`",
            nowhere.name
        )));
    }
    for mut table in tree.tables("routes")? {
        let prefix = table.name("prefix")?;
        let via = table.text("link")?.unwrap_or_default();
        let link = settings.links.iter().position(|link| link.name == via);
        let link = link.ok_or_else(|| table.wrong("link", &format!("there is no link `{via}`")))?;
        let cost = table.whole("cost", 1)?;
        table.done()?;
        settings.routes.push(RouteSettings { prefix, link, cost });
    }
    settings.program_marks = program_marks(tree.table("programs")?)?;
    settings.controller = controller(tree.table("controller")?)?;
    settings.limits = limits(tree.table("limits")?, settings.store)?;
    tree.done()?;
    Ok(settings)
}

/// The SDN controller, if there is one, with its key as bytes.
fn controller(mut table: Table) -> PyResult<Option<ControllerSettings>> {
    if !table.given {
        return Ok(None);
    }
    let at = table.text("at")?.ok_or_else(|| table.wrong("at", "is missing: where the controller is"))?;
    let node = table.text("node")?;
    let node = node.ok_or_else(|| table.wrong("node", "is missing: this forwarder's name in its network"))?;
    if node.len() > TEXT {
        return Err(table.wrong("node", &format!("at most {TEXT} bytes")));
    }
    let key = table.bytes("key")?;
    let key = key.ok_or_else(|| table.wrong("key", "is missing: a file that the controller has as well"))?;
    let credentials = Credentials::shared(&key).map_err(|error| table.wrong("key", &error.to_string()))?;
    table.done()?;
    Ok(Some(ControllerSettings::new(address(&at, "controller.at")?, &node, credentials)))
}

/// Congestion marks at queues towards programs; on by default.
fn program_marks(mut table: Table) -> PyResult<Option<MarkSettings>> {
    let required = table.flag("marks", true)?;
    let base = MarkSettings::default();
    let above = table.quantity("mark_above", base.above)?;
    let marks = MarkSettings { above, interval: table.quantity("mark_interval", base.interval)? };
    table.done()?;
    Ok(required.then_some(marks))
}

fn limits(mut table: Table, store: Store) -> PyResult<Limits> {
    let base = Limits::default();
    let mut count = |name: &str, max: u64, default: usize| -> PyResult<usize> {
        let value = table.whole(name, default as u64)?;
        if value == 0 || value > max {
            return Err(table.wrong(name, &format!("from 1 to {max}")));
        }
        Ok(value as usize)
    };
    let pending = count("pending", 1 << 24, base.pending)?;
    let bytes = count("bytes", 1 << 40, base.bytes)?;
    let limits = Limits {
        pending,
        pending_face: count("pending_face", 1 << 24, Limits::face_of(pending))?,
        pending_strangers: count("pending_strangers", 1 << 24, Limits::strangers_of(pending))?,
        names: count("names", 1 << 26, base.names.max(Limits::min_names(pending, store)))?,
        bytes,
        store_bytes: count("store_bytes", 1 << 40, Limits::store_of(bytes))?,
        queue_bytes: count("queue_bytes", 1 << 40, base.queue_bytes)?,
        links: count("links", 4096, base.links)?,
        programs: count("programs", 4096, base.programs)?,
        routes: count("routes", 1 << 20, base.routes)?,
        ..base
    };
    let limits = Limits {
        lifetime: table.quantity("lifetime", base.lifetime)?,
        idle: table.quantity("idle", base.idle)?,
        ..limits
    };
    table.done()?;
    Ok(limits)
}

fn link(mut table: Table) -> PyResult<LinkSettings> {
    let base = LinkSettings::default();
    let rate = table.quantity("rate", base.rate)?;
    let link = LinkSettings {
        name: table.text("name")?.unwrap_or_default(),
        to: table.text("to")?.map(|text| address(&text, "links.to")).transpose()?,
        rate,
        rate_in: table.quantity("rate_in", rate)?,
        buffer: u32::try_from(table.whole("buffer", u64::from(base.buffer))?).unwrap_or(u32::MAX),
        delay: table.quantity("delay", base.delay)?,
        mtu: table.whole("mtu", base.mtu as u64)? as usize,
        marks: None,
    };
    if !(256..=9000).contains(&link.mtu) {
        return Err(table.wrong("mtu", "from 256 to 9000 bytes"));
    }
    let marks = MarkSettings::default();
    let interval = table.quantity("mark_interval", marks.interval)?;
    let marks = match table.text("mark_above")? {
        None => None,
        Some(_) if link.rate == Rate::UNLIMITED => {
            return Err(table.wrong("mark_above", "without a rate nothing waits"));
        }
        Some(text) => {
            let above = Bytes::from_text(&text);
            let above = above.map_err(|error| {
                table.wrong("mark_above", &format!("{}; write {}", error.message, error.hint))
            })?;
            Some(MarkSettings { above, interval })
        }
    };
    table.done()?;
    Ok(LinkSettings { marks, ..link })
}

fn wire(mut table: Table) -> PyResult<TestbedLink> {
    let ends = (table.whole("a", 0)? as usize, table.whole("b", 0)? as usize);
    Ok(TestbedLink { ends, settings: link(table)? })
}

fn host(mut table: Table) -> PyResult<TestbedNode> {
    let name = table.text("name")?.unwrap_or_default();
    let routes = table.tables("routes")?.into_iter().map(|mut route| {
        let to = route.whole("to", 0)? as usize;
        Ok((route.name("prefix")?, to))
    });
    let routes = routes.collect::<PyResult<Vec<_>>>()?;
    let apps = table.tables("apps")?.into_iter().map(app).collect::<PyResult<Vec<_>>>()?;
    Ok(TestbedNode { name, routes, apps, settings: settings_of(table)? })
}

fn app(mut table: Table) -> PyResult<App> {
    let prefix = table.name("prefix")?;
    let payload = table.whole("payload", 1000)?;
    let Some(scheme) = table.text("scheme")? else {
        table.done()?;
        return Ok(App::producer(prefix, payload as usize));
    };
    let data = table.quantity("data", Bytes::new(1250))?;
    let base = ConsumerConfig::new(NameId(0), Bytes::new(payload), Rate::ZERO);
    let config = ConsumerConfig {
        data,
        tick: table.quantity("tick", Duration::ZERO)?,
        tick_phase: table.quantity("tick_phase", Duration::ZERO)?,
        ..base
    };
    let access = table.quantity("access", Rate::UNLIMITED)?;
    let start = Time::ZERO + table.quantity("start", Duration::ZERO)?;
    let stop = Time::ZERO + table.quantity("stop", Duration::MAX)?;
    let params = table.params("params")?;
    let entry = schemes::find(&scheme);
    let Some(schemes::Entry { build: schemes::Build::Control(make), .. }) = entry else {
        return Err(
            table.wrong("scheme", &format!("`{scheme}` is not a congestion controller for consumers"))
        );
    };
    let setup = Setup { segment: data, header: Bytes::ZERO, initial_window: data };
    let controller = make(&params, &setup)
        .map_err(|error| table.wrong("params", &format!("`{}`: {}", error.name, error.message)))?;
    table.done()?;
    Ok(App::consumer(prefix, config, controller, access, (start, stop), 1))
}

pub(crate) fn address(text: &str, key: &str) -> PyResult<SocketAddr> {
    let text = text.strip_prefix("udp://").unwrap_or(text);
    let found = text.to_socket_addrs().ok().and_then(|mut found| found.next());
    found.ok_or_else(|| {
        PyValueError::new_err(format!(
            "`{key}`: `{text}` is no address, such as 192.0.2.1:6363 or [::1]:6363"
        ))
    })
}

/// A table whose keys are removed as they are read; a key that is left is an error.
struct Table {
    path: String,
    given: bool,
    values: BTreeMap<String, Value>,
    known: Vec<String>,
}

impl Table {
    fn top(text: &str) -> PyResult<Self> {
        let value = serde_json::from_str(text).map_err(|error| PyValueError::new_err(error.to_string()))?;
        Self::of(value, String::new())
    }

    fn of(value: Value, path: String) -> PyResult<Self> {
        match value {
            Value::Object(values) => {
                Ok(Self { path, given: true, values: values.into_iter().collect(), known: Vec::new() })
            }
            _ => Err(PyValueError::new_err(format!("`{path}` is a table"))),
        }
    }

    fn take(&mut self, key: &str) -> Option<Value> {
        self.known.push(key.to_owned());
        self.values.remove(key)
    }

    fn path_of(&self, key: &str) -> String {
        if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) }
    }

    fn wrong(&self, key: &str, why: &str) -> PyErr {
        PyValueError::new_err(format!("`{}`: {why}", self.path_of(key)))
    }

    fn table(&mut self, key: &str) -> PyResult<Self> {
        let path = self.path_of(key);
        match self.take(key) {
            Some(value) => Self::of(value, path),
            None => Ok(Self { path, given: false, values: BTreeMap::new(), known: Vec::new() }),
        }
    }

    fn tables(&mut self, key: &str) -> PyResult<Vec<Self>> {
        let path = self.path_of(key);
        match self.take(key) {
            None => Ok(Vec::new()),
            Some(Value::Array(values)) => values
                .into_iter()
                .enumerate()
                .map(|(number, value)| Self::of(value, format!("{path}[{number}]")))
                .collect(),
            Some(_) => Err(self.wrong(key, "tables, each written [[…]]")),
        }
    }

    fn text(&mut self, key: &str) -> PyResult<Option<String>> {
        match self.take(key) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(self.wrong(key, &format!("{other} is no text"))),
        }
    }

    fn bytes(&mut self, key: &str) -> PyResult<Option<Vec<u8>>> {
        let Some(value) = self.take(key) else { return Ok(None) };
        let byte = |value: &Value| value.as_u64().and_then(|byte| u8::try_from(byte).ok());
        let bytes = value.as_array().and_then(|values| values.iter().map(byte).collect());
        bytes.ok_or_else(|| self.wrong(key, "no bytes")).map(Some)
    }

    fn whole(&mut self, key: &str, default: u64) -> PyResult<u64> {
        match self.take(key) {
            None => Ok(default),
            Some(value) => {
                value.as_u64().ok_or_else(|| self.wrong(key, &format!("{value} is no whole number")))
            }
        }
    }

    fn flag(&mut self, key: &str, default: bool) -> PyResult<bool> {
        match self.take(key) {
            None => Ok(default),
            Some(Value::Bool(value)) => Ok(value),
            Some(other) => Err(self.wrong(key, &format!("{other} is neither true nor false"))),
        }
    }

    fn quantity<T: UnitText>(&mut self, key: &str, default: T) -> PyResult<T> {
        match self.text(key)? {
            None => Ok(default),
            Some(text) => T::from_text(&text)
                .map_err(|error| self.wrong(key, &format!("{}; write {}", error.message, error.hint))),
        }
    }

    fn name(&mut self, key: &str) -> PyResult<Name> {
        let text = self.text(key)?.ok_or_else(|| self.wrong(key, "is missing"))?;
        text.parse().map_err(|error: wire::ndn::BadUri| self.wrong(key, &error.to_string()))
    }

    fn params(&mut self, key: &str) -> PyResult<ParamList> {
        let table = self.table(key)?;
        let read = |(name, value): (String, Value)| {
            let value = match value {
                Value::Bool(value) => ParamValue::Bool(value),
                Value::Number(number) => match (number.as_i64(), number.as_f64()) {
                    (Some(whole), _) => ParamValue::Int(whole),
                    (None, Some(value)) => ParamValue::Float(value),
                    _ => return Err(table_error(&table.path, &name)),
                },
                Value::String(text) => ParamValue::Text(text),
                _ => return Err(table_error(&table.path, &name)),
            };
            Ok((name, value))
        };
        table.values.clone().into_iter().map(read).collect()
    }

    /// Whether no key is left.
    fn done(&self) -> PyResult<()> {
        match self.values.keys().next() {
            None => Ok(()),
            Some(key) => {
                let known = self.known.join(", ");
                Err(self.wrong(key, &format!("there is no such key; there are {known}")))
            }
        }
    }
}

fn table_error(path: &str, name: &str) -> PyErr {
    PyValueError::new_err(format!("`{path}.{name}`: a number, a text, true or false"))
}
