//! Files that are written during reception: creation, reopening, and renaming to the final name. Never through a
//! symbolic link.

use std::fs::{self, File, OpenOptions};
use std::io::ErrorKind;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::fcntl::OFlag;

use super::TransferError;
use super::names::{PART, STATE, with_suffix};

/// Creates a new file (`O_CREAT | O_EXCL`: a link in its place is not followed).
///
/// # Errors
///
/// Something with this name exists, or the system refuses.
pub(crate) fn create(path: &Path) -> std::io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true).custom_flags(OFlag::O_NOFOLLOW.bits());
    options.open(path)
}

/// Opens a file of an earlier attempt. Refuses symbolic links, and files with a second name (hard links), because the
/// data would reach another file.
///
/// # Errors
///
/// It is not a plain file with one name, or cannot be opened.
pub(crate) fn reopen(path: &Path) -> Result<File, TransferError> {
    let refused = |what: &str| Err(TransferError::Refused(format!("{} {what}", path.display())));
    // does not wait for the other end of a named pipe
    let flags = OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK;
    let opened = OpenOptions::new().read(true).write(true).custom_flags(flags.bits()).open(path);
    let file = match opened {
        Ok(file) => file,
        Err(error) if error.raw_os_error() == Some(Errno::ELOOP as i32) => {
            return refused("is a symbolic link, which is not followed: remove it");
        }
        Err(error) => return Err(TransferError::at(path)(error)),
    };
    let existing = file.metadata().map_err(TransferError::at(path))?;
    if !existing.is_file() {
        return refused("is not a file");
    }
    if existing.nlink() != 1 {
        return refused("is a hard link to another file, which is not written: remove it");
    }
    Ok(file)
}

/// Opens the file of an earlier attempt, or creates it.
///
/// # Errors
/// As from [`create`] and [`reopen`].
pub(crate) fn create_or_reopen(path: &Path) -> Result<File, TransferError> {
    match create(path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => reopen(path),
        produced => produced.map_err(TransferError::at(path)),
    }
}

/// Renames the file at `part` to its final name and syncs it to disk. If `replace` is false, a file that was created
/// meanwhile is not replaced.
///
/// # Errors
///
/// Something with the final name exists and may not be replaced, or the system refuses.
pub(crate) fn publish(file: &File, part: &Path, target: &Path, replace: bool) -> Result<(), TransferError> {
    file.sync_all().map_err(TransferError::at(part))?;
    if replace {
        fs::rename(part, target).map_err(TransferError::at(target))?;
    } else {
        // unlike renaming, a hard link does not replace a file
        match fs::hard_link(part, target) {
            Ok(()) => fs::remove_file(part).map_err(TransferError::at(part))?,
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                let message = format!(
                    "{} was created meanwhile; the received file is {}",
                    target.display(),
                    part.display()
                );
                return Err(TransferError::Refused(message));
            }
            // a file system without links
            Err(_) => fs::rename(part, target).map_err(TransferError::at(target))?,
        }
    }
    sync_folder(target);
    Ok(())
}

/// Syncs the entries of a folder to disk. On file systems without this call only the guarantee is lost.
fn sync_folder(of: &Path) {
    let folder = of.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let _ = File::open(folder).and_then(|folder| folder.sync_all());
}

/// A new file for a live stream, under another name until the stream has ended.
#[derive(Debug)]
pub(crate) struct Spool {
    file: File,
    part: PathBuf,
    target: PathBuf,
    replace: bool,
}

impl Spool {
    /// Creates it. An existing file `name` remains until [`Self::finish`]; with `replace`, the incomplete file of an
    /// earlier attempt is removed.
    ///
    /// # Errors
    /// A file of that name, or an incomplete one, exists and is not to be replaced, or the file cannot be created.
    pub(crate) fn create(folder: &Path, name: &str, replace: bool) -> Result<Self, TransferError> {
        let place = |suffix: &str| folder.join(with_suffix(name, suffix));
        let (target, part) = (folder.join(name), place(PART));
        if !replace && fs::symlink_metadata(&target).is_ok() {
            return Err(TransferError::Refused(format!("{} is there already", target.display())));
        }
        if replace {
            for left in [&part, &place(STATE)] {
                match fs::remove_file(left) {
                    Err(error) if error.kind() != ErrorKind::NotFound => {
                        return Err(TransferError::at(left)(error));
                    }
                    _ => {}
                }
            }
        }
        let file = create(&part).map_err(|error| match error.kind() {
            ErrorKind::AlreadyExists => TransferError::Refused(format!(
                "{} is there already: it is the incomplete file of an earlier transfer",
                part.display()
            )),
            _ => TransferError::at(&part)(error),
        })?;
        Ok(Self { file, part, target, replace })
    }

    /// A handle for writing.
    ///
    /// # Errors
    /// The system refuses.
    pub(crate) fn writer(&self) -> Result<File, TransferError> {
        self.file.try_clone().map_err(TransferError::at(&self.part))
    }

    /// The stream has ended: the file gets its final name, which is returned.
    ///
    /// # Errors
    /// As from [`publish`].
    pub(crate) fn finish(&self) -> Result<&Path, TransferError> {
        publish(&self.file, &self.part, &self.target, self.replace)?;
        Ok(&self.target)
    }

    /// The stream was interrupted. Returns where the received part is kept; an empty file is removed.
    pub(crate) fn abandon(&self) -> Option<&Path> {
        if self.file.metadata().is_ok_and(|existing| existing.len() == 0) {
            // a file that cannot be removed is empty
            let _ = fs::remove_file(&self.part);
            return None;
        }
        let _ = self.file.sync_all();
        Some(&self.part)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;
    use std::sync::Arc;

    use units::{Duration, Time};

    use super::super::messages::{CHUNK_HEADER, write_announce, write_chunk_header};
    use super::super::testing::Folder;
    use super::super::{Kind, Layout, Manifest, Playout, Tally};
    use super::*;
    use crate::{MAX_MESSAGE_BYTES, Sink, Status};

    /// A link at `path`, and the file that it points to.
    fn lead(folder: &Folder, path: &Path, hard: bool) -> PathBuf {
        let other = folder.file("other", b"precious");
        if hard { fs::hard_link(&other, path) } else { symlink(&other, path) }.expect("a link");
        other
    }

    #[test]
    fn what_an_earlier_attempt_left_is_opened_unless_it_is_a_link() {
        for hard in [true, false] {
            let folder = Folder::new();
            let path = folder.0.join("film.bin.thalweg-part");
            let other = lead(&folder, &path, hard);
            let message = create_or_reopen(&path).expect_err("a link").to_string();
            assert!(message.contains(if hard { "hard link" } else { "symbolic link" }), "{message}");
            assert_eq!(fs::read(other).expect("it stays"), b"precious");
        }
        let folder = Folder::new();
        let path = folder.file("film.bin.thalweg-part", b"a beginning");
        let file = create_or_reopen(&path).expect("a plain file");
        assert_eq!(file.metadata().expect("it is there").len(), 11);
        assert!(create_or_reopen(&folder.0).is_err(), "a folder");
    }

    fn spool(folder: &Folder, replace: bool) -> Result<Spool, TransferError> {
        Spool::create(&folder.0, "live.ts", replace)
    }

    #[test]
    fn a_live_stream_writes_through_no_link_and_replaces_none_but_its_own_name() {
        for hard in [true, false] {
            let folder = Folder::new();
            let part = folder.0.join("live.ts.thalweg-part");
            let other = lead(&folder, &part, hard);
            let message = spool(&folder, false).expect_err("something is there").to_string();
            assert!(message.contains("is there already"), "{message}");
            // the link is removed, and not its target
            let produced = spool(&folder, true).expect("it is replaced");
            std::io::Write::write_all(&mut produced.writer().expect("a handle"), b"new").expect("room");
            assert_eq!(fs::read(&other).expect("it stays"), b"precious");
            symlink(&other, folder.0.join("live.ts")).expect("a link");
            produced.finish().expect("it gets its name");
            assert_eq!(fs::read(&other).expect("it stays"), b"precious");
            assert_eq!(fs::read(folder.0.join("live.ts")).expect("it is there"), b"new");
        }
    }

    const DEADLINE: Duration = Duration::from_millis(500);

    /// A receiver of a live stream into a folder with a file of the same name, after this many pieces of "abc", with
    /// the last one if `end` is set.
    fn played(folder: &Folder, pieces: u64, ended: bool) -> (Playout, Arc<Tally>) {
        let tally = Arc::new(Tally::default());
        folder.file("live.ts", b"the old one");
        let spool = spool(folder, true).expect("there is room");
        let mut sink = Playout::into_file(spool, Arc::clone(&tally)).expect("a handle");
        let manifest = Manifest {
            kind: Kind::Live(DEADLINE),
            id: 1,
            name: "live.ts".to_owned(),
            layout: Layout { length: None, symbol_bytes: 100, block_symbols: 1 },
            hash: None,
            report_every: Duration::from_millis(200),
        };
        let mut now = Time::ZERO + Duration::from_secs(10);
        let mut room = [0; 400];
        let length = write_announce(&manifest, &mut room);
        sink.take(0, now, &room[..length]);
        for number in 0..pieces {
            write_chunk_header(number, 0, false, &mut room);
            room[CHUNK_HEADER..CHUNK_HEADER + 3].copy_from_slice(b"abc");
            sink.take(1 + number, now, &room[..CHUNK_HEADER + 3]);
        }
        if ended {
            write_chunk_header(pieces, 0, true, &mut room);
            room[CHUNK_HEADER..CHUNK_HEADER + 8].fill(0);
            sink.take(1 + pieces, now, &room[..CHUNK_HEADER + 8]);
        }
        // the writing thread runs by itself
        for _ in 0..10_000 {
            sink.write_message(now, &mut [0; MAX_MESSAGE_BYTES]);
            if sink.status() == Status::Complete || !ended {
                break;
            }
            now += Duration::from_millis(1);
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        (sink, tally)
    }

    #[test]
    fn the_old_file_stays_until_a_live_stream_has_ended() {
        let folder = Folder::new();
        let (sink, _) = played(&folder, 3, false);
        assert_eq!(sink.status(), Status::InProgress);
        assert_eq!(fs::read(folder.0.join("live.ts")).expect("it is there"), b"the old one");
        drop(sink);
        let (sink, tally) = played(&folder, 3, true);
        assert_eq!(sink.status(), Status::Complete);
        assert_eq!(fs::read(folder.0.join("live.ts")).expect("it is there"), b"abcabcabc");
        assert_eq!(folder.names(), ["live.ts"]);
        assert_eq!(tally.snapshot().path, Some(folder.0.join("live.ts").display().to_string()));
    }

    #[test]
    fn what_came_of_a_live_stream_that_broke_off_is_kept_and_named() {
        let folder = Folder::new();
        let (mut sink, tally) = played(&folder, 3, false);
        sink.on_end(Time::ZERO + Duration::from_secs(20));
        let part = folder.0.join("live.ts.thalweg-part");
        assert_eq!(fs::read(&part).expect("it is kept"), b"abcabcabc");
        assert_eq!(fs::read(folder.0.join("live.ts")).expect("it is there"), b"the old one");
        let notes = tally.snapshot().notes;
        assert!(notes.iter().any(|note| note.contains(&part.display().to_string())), "{notes:?}");
        let folder = Folder::new();
        let (mut sink, tally) = played(&folder, 0, false);
        sink.on_end(Time::ZERO + Duration::from_secs(20));
        assert_eq!((folder.names(), tally.snapshot().notes), (vec!["live.ts".to_owned()], Vec::new()));
    }
}
