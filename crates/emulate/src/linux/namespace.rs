//! Network namespaces: creation, entering, removal, and clean-up after killed runs.
//!
//! Each has a name under `/run/netns`, so that `ip netns exec NAME …` finds it: prefix, process, start of the process,
//! a number, node. The device in it and the sockets of this process end with the process. Names do not, so the next run
//! removes those whose process no longer exists.

use std::fs::{self, File};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use nix::errno::Errno;
use nix::mount::{MntFlags, MsFlags, mount, umount2};
use nix::sched::{CloneFlags, setns, unshare};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::Error;

/// Prefix of all names.
pub const PREFIX: &str = "thalweg-";
const FOLDER: &str = "/run/netns";
const OWN: &str = "/proc/thread-self/ns/net";

/// Number of namespaces that this process has made.
static MADE: AtomicU64 = AtomicU64::new(0);

/// A network namespace. Dropping it removes it and ends the processes in it.
#[derive(Debug)]
pub(super) struct Namespace {
    file: File,
    /// Its name; `None` if it could not be named.
    path: Option<PathBuf>,
}

impl Namespace {
    /// Makes a namespace with a name that ends in the name of its node.
    pub(super) fn new(node: &str) -> Result<Self, Error> {
        // several runs of one process can have nodes with the same name
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let unique = format!("{PREFIX}{}-{}-{number}-{node}", std::process::id(), started("self"));
        let path = Path::new(FOLDER).join(unique);
        let created = on_a_thread(|| {
            unshare(CloneFlags::CLONE_NEWNET)
                .map_err(|error| ("making a network namespace", error.into()))?;
            let file = File::open(OWN).map_err(|error| ("opening it", error))?;
            Ok((file, name(&path).is_ok()))
        });
        match created {
            Ok((file, named)) => Ok(Self { file, path: named.then_some(path) }),
            Err((what, source)) => Err(failed(what, source)),
        }
    }

    /// Calls a function in the namespace, on a separate thread.
    pub(super) fn inside<T: Send>(
        &self,
        what: &str,
        work: impl FnOnce() -> io::Result<T> + Send,
    ) -> Result<T, Error> {
        on_a_thread(|| {
            self.enter()?;
            work()
        })
        .map_err(|source| failed(what, source))
    }

    /// Moves the calling thread into the namespace permanently.
    pub(super) fn enter(&self) -> io::Result<()> {
        Ok(setns(self.file.as_fd(), CloneFlags::CLONE_NEWNET)?)
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        if let Ok(inside) = self.file.metadata() {
            end_processes(&inside);
        }
        if let Some(path) = &self.path {
            remove(path);
        }
    }
}

/// Whether this process may make namespaces.
pub fn permitted() -> Result<(), Error> {
    let result = on_a_thread(|| unshare(CloneFlags::CLONE_NEWNET));
    result.map_err(|error| failed("making a network namespace", error.into()))?;
    let tunnel = "/dev/net/tun";
    let opened = File::options().read(true).write(true).open(tunnel);
    opened.map(drop).map_err(|source| failed("opening /dev/net/tun", source))
}

/// Removes what killed runs have left. Returns the names of removed namespaces. Running emulations are not affected.
pub fn clean() -> Vec<String> {
    let Ok(entries) = fs::read_dir(FOLDER) else { return Vec::new() };
    let mut removed = Vec::new();
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let Some((process, start)) = owner(&name) else { continue };
        if started(&process.to_string()) == start {
            continue;
        }
        let path = entry.path();
        // the mount point of a namespace is on another device than its folder
        if let (Ok(inside), Ok(folder)) = (fs::metadata(&path), fs::metadata(FOLDER))
            && inside.dev() != folder.dev()
        {
            end_processes(&inside);
        }
        remove(&path);
        removed.push(name);
    }
    removed
}

/// The process in a name, and its start time.
fn owner(name: &str) -> Option<(u32, u64)> {
    let mut parts = name.strip_prefix(PREFIX)?.splitn(3, '-');
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

/// Start time of a process in kernel ticks since boot, which makes its number unique; 0 if there is no such process.
fn started(process: &str) -> u64 {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    // the name in brackets can contain anything; the start time is the twentieth field after it
    let words = stat.rsplit_once(')').map_or("", |(_, words)| words);
    words.split_whitespace().nth(19).and_then(|word| word.parse().ok()).unwrap_or(0)
}

/// Names the calling thread's namespace.
fn name(path: &Path) -> io::Result<()> {
    fs::create_dir_all(FOLDER)?;
    File::create(path)?;
    let named = mount(Some(OWN), path, None::<&str>, MsFlags::MS_BIND, None::<&str>);
    if named.is_err() {
        remove(path);
    }
    Ok(named?)
}

fn remove(path: &Path) {
    let _ = umount2(path, MntFlags::MNT_DETACH);
    let _ = fs::remove_file(path);
}

/// Ends the processes in a namespace (commands of an emulation and their children), except this process.
fn end_processes(namespace: &fs::Metadata) {
    let Ok(entries) = fs::read_dir("/proc") else { return };
    let processes = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    for process in processes.filter(|process| *process != std::process::id() as i32) {
        let Ok(its) = fs::metadata(format!("/proc/{process}/ns/net")) else { continue };
        if (its.dev(), its.ino()) == (namespace.dev(), namespace.ino()) {
            let _ = kill(Pid::from_raw(process), Signal::SIGKILL);
        }
    }
}

/// Calls `work` on a new thread, so that changes of the thread's namespace end with it.
fn on_a_thread<T: Send, E: Send>(work: impl FnOnce() -> Result<T, E> + Send) -> Result<T, E> {
    std::thread::scope(|scope| scope.spawn(work).join().expect("it returns errors and does not panic"))
}

pub(super) fn failed(what: &str, source: io::Error) -> Error {
    let what = what.to_owned();
    let refused = [Errno::EPERM, Errno::EACCES].map(|errno| Some(errno as i32));
    if refused.contains(&source.raw_os_error()) {
        Error::NotPermitted { what, source }
    } else {
        Error::System { what, source }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_namespace_name_contains_its_process() {
        assert_eq!(owner("thalweg-12-345-0-left-1"), Some((12, 345)));
        assert_eq!(owner("thalweg-12-left1"), None);
        assert_eq!(owner("blue"), None);
        assert!(started("self") > 0);
        assert_eq!(started("self"), started(&std::process::id().to_string()));
        assert_eq!(started("no process"), 0);
    }
}
