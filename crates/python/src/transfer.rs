//! Real transfers: settings of a session and its outcome as JSON.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, OnceLock};

use driver::Captured;
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use quic_net::group::{self, Group, ReceiverOutcome};
use quic_net::{Control, End, Object, Objects, Outcome, Phase, Proposal, Scheme, objects};
use serde_json::{Value, json};
use transfer::{FolderFiles, Outgoing, Placed, Receivers, Source, Tallies, Task, TransferSnapshot, keep};
use units::{Duration, Lateness, Time};
use wire::stream::Transport;

use qlogs::Qlogs;
use setup::{capture, destination, number, open, params, parse, tap, text};

mod qlogs;
mod setup;

/// A transfer, which other threads can observe and control.
#[pyclass(frozen)]
pub struct Transfer {
    control: Arc<Control>,
    tallies: Tallies,
    /// The scheme; for a receiver, that of the sender's offer.
    scheme: Arc<OnceLock<String>>,
}

#[pymethods]
impl Transfer {
    #[new]
    fn new() -> Self {
        Self { control: Arc::default(), tallies: Tallies::default(), scheme: Arc::default() }
    }

    /// Sends data. Returns at the end, with the result as JSON.
    fn send(&self, py: Python<'_>, options: &str) -> PyResult<String> {
        let options = parse(options)?;
        let scheme = Scheme {
            params: params(&options),
            mode: text(&options, "mode").map(str::to_owned),
            packet: u16::try_from(number(&options, "packet")?).unwrap_or(u16::MAX),
            ..Scheme::new(text(&options, "scheme").unwrap_or_default())
        };
        let _ = self.scheme.set(scheme.name.clone());
        let transport = quic_net::check(&scheme).map_err(PyValueError::new_err)?;
        let name = text(&options, "name").unwrap_or_default();
        let deadline = text(&options, "deadline").map(setup::span).transpose()?;
        let rate = text(&options, "rate").map(setup::rate).transpose()?;
        let (packet, id) = (scheme.packet, number(&options, "id")?);
        let proof = if text(&options, "group").is_some() { group::PROOF } else { 0 };
        let receivers = Receivers { min: number(&options, "receivers")?.max(1) as usize };
        let task = |from, name: &str| {
            let name = name.to_owned();
            Task { transport, from, name, deadline, rate, packet, proof, id, receivers }
        };
        let left = match text(&options, "tree") {
            Some(folder) => py.detach(|| self.send_folder(&options, &scheme, (folder, name), &task)),
            None => {
                let task = task(setup::source(&options)?, name);
                py.detach(|| self.send_object(&options, &scheme, task))
            }
        };
        Ok(self.report(&left.map_err(PyOSError::new_err)?).to_string())
    }

    /// Receives data. Returns at the end, with the result as JSON.
    fn receive(&self, py: Python<'_>, options: &str) -> PyResult<String> {
        let options = parse(options)?;
        let left = py.detach(|| -> Result<Remains, String> {
            if let Some(name) = text(&options, "name") {
                transfer::check_name(name).map_err(|why| format!("the name {name:?}: {why}"))?;
            }
            self.receive_into(&options)
        });
        Ok(self.report(&left.map_err(PyOSError::new_err)?).to_string())
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
    fn status(&self) -> String {
        self.state().to_string()
    }
}

/// The result of a transfer.
enum Remains {
    /// Stopped before there was a session.
    Stopped,
    /// No other end answered or connected.
    Unanswered,
    /// The outcome; for a group also the end of each receiver; the capture and the logs if they were requested.
    Over(Box<Outcome>, Vec<ReceiverOutcome>, Option<Captured>, Option<Qlogs>),
}

impl Remains {
    /// The result without a session: stopped, or no other end in time.
    fn none(control: &Control) -> Self {
        if control.stopped() { Self::Stopped } else { Self::Unanswered }
    }
}

/// Sends to one receiver.
fn send(options: &Value, scheme: &Scheme, objects: Objects, control: &Control) -> Result<Remains, String> {
    let file = capture(options)?;
    let Some((mut settings, mut socket)) = open(options, control)? else { return Ok(Remains::none(control)) };
    let qlogs = Qlogs::requested(options, "send", &mut socket);
    settings.logs = qlogs.as_ref().map(Qlogs::logs);
    let mut socket = tap(socket, file)?;
    let outcome = quic_net::send(&settings, scheme, objects, &mut socket, control);
    Ok(Remains::Over(Box::new(outcome), Vec::new(), socket.finish(), qlogs))
}

/// Sends to an IP multicast group.
fn send_to_group(
    options: &Value,
    scheme: &Scheme,
    group: &str,
    (outgoing, about): (Outgoing, Vec<u8>),
    control: &Control,
) -> Result<Remains, String> {
    let file = capture(options)?;
    let Some((settings, socket)) = open(options, control)? else { return Ok(Remains::none(control)) };
    let group = Group { address: setup::group_at(group, &socket)?, max: MAX };
    let Outgoing::Paced(payload) = outgoing else {
        return Err(format!("`{}` has a window, and a group needs a scheme that paces", scheme.name));
    };
    let mut socket = tap(socket, file)?;
    let (outcome, left) = group::send(&settings, &group, scheme, payload, about, &mut socket, control);
    Ok(Remains::Over(Box::new(outcome), left, socket.finish(), None))
}

impl Transfer {
    /// Sends a file, a stream, or a live stream.
    fn send_object(&self, options: &Value, scheme: &Scheme, task: Task) -> Result<Remains, String> {
        let control = &*self.control;
        transfer::check_outermost_name(&task.name)
            .map_err(|why| format!("a file called {:?}: {why}", task.name))?;
        let loaded = task.load(&self.tallies.begin(), &|| !control.stopped());
        let Some((outgoing, about)) = loaded.map_err(|error| error.to_string())? else {
            return Ok(Remains::Stopped);
        };
        match text(options, "group") {
            Some(group) => send_to_group(options, scheme, group, (outgoing, about), control),
            None => {
                let all =
                    objects(vec![Object { folders: Vec::new(), outgoing, about, more: false, omitted: 0 }]);
                send(options, scheme, all, control)
            }
        }
    }

    /// Sends the files of a folder under a name. While one is sent, the next is read in another thread.
    fn send_folder(
        &self,
        options: &Value,
        scheme: &Scheme,
        (folder, name): (&str, &str),
        task: &(dyn Fn(Source, &str) -> Task + Sync),
    ) -> Result<Remains, String> {
        let listed = FolderFiles::list(folder.as_ref(), name).map_err(|error| error.to_string())?;
        let omitted = u32::try_from(listed.skipped.len()).unwrap_or(u32::MAX);
        self.tallies.omit(omitted.into());
        listed.skipped.iter().for_each(|skipped| self.tallies.note(&format!("not sent: {skipped}")));
        self.tallies.expect(listed.files.len() as u64, listed.bytes());
        let (control, tallies, over) = (&*self.control, &self.tallies, AtomicBool::new(false));
        let (give, take) = sync_channel(0);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let keep_going = || !control.stopped() && !over.load(Ordering::Relaxed);
                let count = listed.files.len();
                for (number, file) in listed.files.into_iter().enumerate() {
                    let loaded =
                        task(Source::File(file.path), &file.name).load(&tallies.begin(), &keep_going);
                    let object = match loaded {
                        Ok(None) => break,
                        Ok(Some((outgoing, about))) => {
                            let (folders, more) = (file.folders, number + 1 < count);
                            Ok(Object { folders, outgoing, about, more, omitted })
                        }
                        Err(error) => Err(error.to_string()),
                    };
                    // nobody takes it once the session has ended
                    if give.send(object).is_err() {
                        break;
                    }
                }
            });
            let left = send(options, scheme, take, control);
            over.store(true, Ordering::Relaxed);
            left
        })
    }

    fn receive_into(&self, options: &Value) -> Result<Remains, String> {
        let control = &*self.control;
        let file = capture(options)?;
        let Some((mut settings, mut socket)) = open(options, control)? else {
            return Ok(Remains::none(control));
        };
        let me = setup::identity(options, settings.handshake, &mut socket);
        settings.client_secret = me.map(|me| me.secret);
        let qlogs = Qlogs::requested(options, "recv", &mut socket);
        settings.logs = qlogs.as_ref().map(Qlogs::logs);
        let mut socket = tap(socket, file)?;
        let mut placed = Placed::default();
        let mut accept = |proposal: &Proposal| {
            self.tallies.omit(proposal.omitted.into());
            let into = destination(options, me, &mut placed, proposal)?;
            let _ = self.scheme.set(proposal.offer.scheme.clone());
            keep(&proposal.offer, into, settings.limits.window, &self.tallies.begin())
        };
        let outcome = quic_net::receive(&settings, &mut accept, &mut socket, control);
        Ok(Remains::Over(Box::new(outcome), Vec::new(), socket.finish(), qlogs))
    }

    fn state(&self) -> Value {
        use std::sync::atomic::Ordering::Relaxed;
        let TransferSnapshot { sum: snapshot, complete, objects, omitted } = self.tallies.snapshot();
        let progress = &self.control.progress;
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
            "reordered": progress.reordered.load(Relaxed),
            "reordered_lost": progress.late.load(Relaxed),
            "scheme": self.scheme.get(),
            "mode": progress.mode(),
            "limit_bps": progress.limit_bps.load(Relaxed),
            "allowed_bps": progress.allowed_bps.load(Relaxed),
            "forged": progress.forged.load(Relaxed),
            "deaf": progress.group_unreachable.load(Relaxed),
            "rtt_s": Duration::from_nanos(progress.rtt_ns.load(Relaxed)).as_secs_f64(),
            "total_bytes": snapshot.total,
            "done_bytes": snapshot.done,
            "hashed_bytes": snapshot.hashed,
            "resumed_bytes": snapshot.resumed,
            "sent": {"first": snapshot.sent[0], "coded": snapshot.sent[1], "again": snapshot.sent[2]},
            "received": {"useful": snapshot.received[0], "useless": snapshot.received[1], "unkept": snapshot.received[2]},
            "receivers": snapshot.receivers,
            "complete_receivers": snapshot.complete_receivers,
            "dropped": snapshot.dropped,
            "late": snapshot.late,
            "missed": snapshot.missed,
            "spoilt_blocks": snapshot.spoilt,
            "files": {"complete": complete, "total": objects, "omitted": omitted},
            "name": snapshot.name,
            "path": snapshot.path,
            "notes": snapshot.notes,
        })
    }

    /// The result with all counters.
    fn report(&self, left: &Remains) -> Value {
        let mut report = self.state();
        let (end, why) = match left {
            Remains::Stopped => ("stopped", None),
            Remains::Unanswered => ("unanswered", None),
            Remains::Over(outcome, ..) => ended(&outcome.end),
        };
        report["end"] = json!(end);
        report["why"] = json!(why);
        if let Remains::Over(outcome, members, captured, qlogs) = left {
            report["captured"] = json!(captured.as_ref().map(|captured| captured.packets));
            report["qlog"] = json!(qlogs.as_ref().map(Qlogs::report));
            let capture = captured.as_ref().and_then(|captured| captured.failure.as_ref());
            let capture = capture.map(|failure| format!("the capture is not complete: {failure}"));
            let logs = qlogs.iter().flat_map(Qlogs::failures);
            if let Some(notes) = report["notes"].as_array_mut() {
                notes.extend(capture.into_iter().chain(logs).map(Value::from));
            }
            let members = members.iter().map(|member| {
                let (end, why) = ended(&member.end);
                json!({"address": member.address.to_string(), "end": end, "why": why})
            });
            report["members"] = json!(members.collect::<Vec<_>>());
            let stats = &outcome.stats;
            // the numbers that packets of QUIC lack are known to its stack only
            let transport = self.scheme.get().map(|name| quic_net::transport_of(name));
            let paces = matches!(transport, Some(Ok(Transport::Paced)));
            let opened = stats.opened_at != Time::NEVER;
            let meter = &stats.meter;
            let mean_ns = meter.rtt_sum_ns.checked_div(meter.rtt_count).unwrap_or(0);
            report["stats"] = json!({
                "span_s": if opened { stats.span().as_secs_f64() } else { 0.0 },
                "sessions": stats.sessions,
                "packets": stats.packets,
                "bytes": stats.bytes,
                "content_bytes": stats.content,
                "sent_datagrams": stats.sent.datagrams,
                "received_datagrams": stats.received.datagrams,
                "refused": {
                    "malformed": stats.discarded.malformed,
                    "strangers": stats.discarded.strangers,
                    "forged": stats.discarded.forged,
                    "repeated": stats.discarded.repeated,
                    "misplaced": stats.discarded.misplaced,
                },
                "overruns": stats.overruns,
                "marked": stats.marked,
                "missing": paces.then(|| meter.count(contract::Count::Missing)),
                "reordered": paces.then(|| meter.count(contract::Count::Reordered)),
                "reordered_lost": paces.then(|| meter.count(contract::Count::Late)),
                "retransmits": meter.count(contract::Count::Retransmits),
                "timeouts": meter.count(contract::Count::Timeouts),
                "episodes": meter.count(contract::Count::Episodes),
                "rtt_mean_s": Duration::from_nanos(mean_ns).as_secs_f64(),
                "lateness_p50_s": lateness(&stats.lateness, 0.5),
                "lateness_p99_s": lateness(&stats.lateness, 0.99),
                "lateness_max_s": lateness(&stats.lateness, 1.0),
            });
        }
        report
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
        End::NoProgress => ("quiet", None),
        End::Failed(why) => ("failed", Some(why.clone())),
    }
}

/// Maximum number of receivers of a group.
const MAX: usize = 10_000;

/// A percentile of the lateness in seconds; `None` where QUIC paces, which does not say when packets were due.
fn lateness(of: &Lateness, share: f64) -> Option<f64> {
    of.percentile(share).map(|late| late.as_secs_f64())
}

/// The fingerprint of the identity in a key file, which is made from this seed if it does not exist.
#[pyfunction]
pub fn identity(path: &str, seed: [u8; 32]) -> PyResult<String> {
    let opened = quic_net::Identity::open(std::path::Path::new(path), |fresh| *fresh = seed);
    Ok(opened.map_err(|error| PyOSError::new_err(error.to_string()))?.fingerprint().to_string())
}
