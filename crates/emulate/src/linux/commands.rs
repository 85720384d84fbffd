//! Shell commands that generate a flow's traffic.

use std::fs::File;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};

use contract::FlowId;
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

use super::namespace::Namespace;
use crate::Error;

/// A running command.
struct Running {
    flow: FlowId,
    text: String,
    child: Child,
    /// It was signalled to end, so its exit code has no meaning.
    signalled: bool,
}

/// All commands of a run.
pub(super) struct Commands {
    running: Vec<Running>,
    logs: Option<PathBuf>,
}

impl Commands {
    /// No commands. Their output goes to files in `logs`.
    pub(super) const fn new(logs: Option<PathBuf>) -> Self {
        Self { running: Vec::new(), logs }
    }

    /// Starts a command in a namespace, as the leader of a process group.
    pub(super) fn start(
        &mut self,
        namespace: &Namespace,
        flow: FlowId,
        name: &str,
        text: &str,
    ) -> Result<(), Error> {
        let mut command = Command::new("/bin/sh");
        command.arg("-c").arg(text).stdin(Stdio::null()).process_group(0);
        let logs = self.logs.clone();
        let child = namespace.inside("starting a command", move || {
            let (out, err) = match &logs {
                Some(folder) => {
                    std::fs::create_dir_all(folder)?;
                    let file =
                        File::options().create(true).append(true).open(folder.join(format!("{name}.log")))?;
                    (Stdio::from(file.try_clone()?), Stdio::from(file))
                }
                None => (Stdio::null(), Stdio::null()),
            };
            command.stdout(out).stderr(err).spawn()
        })?;
        self.running.push(Running { flow, text: text.to_owned(), child, signalled: false });
        Ok(())
    }

    /// Signals the commands of a flow to end.
    pub(super) fn stop(&mut self, flow: FlowId) {
        for running in self.running.iter_mut().filter(|running| running.flow == flow) {
            running.signalled = true;
            signal(&running.child, Signal::SIGTERM);
        }
    }

    /// Ends all commands. Returns messages about those that ended by themselves with an error.
    pub(super) fn end(&mut self) -> Vec<(FlowId, String)> {
        let mut notes = Vec::new();
        for running in &mut self.running {
            match running.child.try_wait() {
                Ok(Some(status)) if !status.success() && !running.signalled => {
                    notes.push((running.flow, format!("`{}` ended with {}", running.text, ending(status))));
                }
                Ok(Some(_)) => {}
                Ok(None) | Err(_) => {
                    signal(&running.child, Signal::SIGKILL);
                    let _ = running.child.wait();
                }
            }
        }
        self.running.clear();
        notes
    }
}

impl Drop for Commands {
    fn drop(&mut self) {
        self.end();
    }
}

/// Sends a signal to the process group of a command.
fn signal(child: &Child, what: Signal) {
    let _ = killpg(Pid::from_raw(child.id() as i32), what);
}

fn ending(status: ExitStatus) -> String {
    status.code().map_or_else(|| status.to_string(), |code| format!("code {code}"))
}
