//! The qlog files of a transfer: one for each connection.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use driver::{Platform, Recorder};
use lab::{QlogConnection, Written, qlog_connection};
use quic_net::{LoggedConnection, Logs};
use serde_json::{Value, json};
use stack::log::Log;

/// A file, and the result of writing it.
type Begun = (PathBuf, Result<Written, String>);

/// The qlog files of a transfer in a folder.
#[derive(Clone)]
pub(super) struct Qlogs {
    folder: PathBuf,
    verb: &'static str,
    /// Time zero of the clock, in nanoseconds since 1970.
    zero_ns: u64,
    begun: Arc<Mutex<Vec<Begun>>>,
}

impl Qlogs {
    /// The files in the requested folder, if any.
    pub(super) fn requested(options: &Value, verb: &'static str, socket: &mut impl Platform) -> Option<Self> {
        let folder = PathBuf::from(options["qlog"].as_str()?);
        let zero_ns = Recorder::zero_of(socket.now());
        Some(Self { folder, verb, zero_ns, begun: Arc::default() })
    }

    /// For the settings of a session.
    pub(super) fn logs(&self) -> Logs {
        let files = self.clone();
        Logs::new(move |of| files.begin(of))
    }

    /// Begins the file of a connection.
    fn begin(&self, of: &LoggedConnection) -> Log {
        let mut begun = self.begun();
        let path = self.folder.join(format!("{}-{}.sqlog", self.verb, begun.len() + 1));
        let connection = QlogConnection {
            title: format!("thalweg {}: {}", self.verb, of.to),
            client: of.client,
            began_at: of.began_at,
            began_ns: self.zero_ns.saturating_add(of.began_at.as_nanos()),
        };
        let (log, result) = match qlog_connection(&connection, &path) {
            Ok((log, written)) => (log, Ok(written)),
            Err(error) => (Log::new(|_, _| {}), Err(error.to_string())),
        };
        begun.push((path, result));
        log
    }

    /// Files and the number of events in them, as JSON.
    pub(super) fn report(&self) -> Value {
        let begun = self.begun();
        let files: Vec<_> = begun.iter().map(|(path, _)| path.to_string_lossy()).collect();
        let written = begun.iter().filter_map(|(_, result)| result.as_ref().ok());
        json!({"files": files, "events": written.map(Written::records).sum::<u64>()})
    }

    /// A message for users about each file that is not complete.
    pub(super) fn failures(&self) -> Vec<String> {
        let begun = self.begun();
        let failure = |(path, result): &Begun| {
            let why = match result {
                Ok(written) => written.failure()?.to_owned(),
                Err(why) => why.clone(),
            };
            Some(format!("the log {} is not complete: {why}", path.display()))
        };
        begun.iter().filter_map(failure).collect()
    }

    fn begun(&self) -> MutexGuard<'_, Vec<Begun>> {
        self.begun.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
