//! A partially received file: its bytes under a temporary name, and a list of its complete blocks, so that a killed
//! receiver can resume.

use std::fs::{self, File};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::{Path, PathBuf};

use super::assembly::Spill;
use super::completed::CompletedBlocks;
use super::identity::{IDENTITY, Identity, MAGIC};
use super::names::{PART, STATE, with_suffix};
use super::{Kind, Layout, Manifest, TransferError, new_file};

/// A file that is being received.
#[derive(Debug)]
pub(crate) struct Partial {
    part: File,
    state: File,
    layout: Layout,
    stream: bool,
    paths: Paths,
    replace: bool,
}

/// Paths of its parts.
#[derive(Clone, Debug)]
struct Paths {
    target: PathBuf,
    part: PathBuf,
    state: PathBuf,
}

/// Existing files at the destination.
#[derive(Debug)]
pub(crate) enum Found {
    /// No complete file. The blocks are from an earlier attempt.
    Room(Partial, CompletedBlocks),
    /// A file of this name and length, which may have the same content.
    Complete(File, PathBuf),
}

impl Partial {
    /// Opens the partial file of `manifest` with the final name `name` in `folder`, and creates missing files. `me` is
    /// stored in them.
    pub(crate) fn open(
        folder: &Path,
        name: &str,
        manifest: &Manifest,
        replace: bool,
        me: Option<&Identity>,
    ) -> Result<Found, TransferError> {
        let place = |suffix: &str| folder.join(with_suffix(name, suffix));
        let paths = Paths { target: folder.join(name), part: place(PART), state: place(STATE) };
        if let Some(existing) = metadata(&paths.target)?
            && !replace
        {
            if existing.is_file() && Some(existing.len()) == manifest.layout.length {
                let file = File::open(&paths.target).map_err(TransferError::at(&paths.target))?;
                return Ok(Found::Complete(file, paths.target));
            }
            return Err(TransferError::Refused(format!("{} is there already", paths.target.display())));
        }
        let (part, mut state) =
            (new_file::create_or_reopen(&paths.part)?, new_file::create_or_reopen(&paths.state)?);
        // only the user can read the identity of a receiver
        let own = fs::Permissions::from_mode(0o600);
        state.set_permissions(own).map_err(TransferError::at(&paths.state))?;
        // while this program runs, no other receiver uses the identity; two that write the same do no harm
        let _ = state.try_lock();
        let done = left(&mut state, &part, manifest).map_err(TransferError::at(&paths.state))?;
        let partial = Self {
            part,
            state,
            layout: manifest.layout,
            stream: manifest.kind != Kind::File,
            paths,
            replace,
        };
        let done = match done {
            Some(done) => {
                let at = MAGIC.len() as u64;
                let stored = partial.state.write_all_at(&Identity::write(me), at);
                stored.map_err(TransferError::at(&partial.paths.state))?;
                done
            }
            None => {
                partial.begin(manifest, me)?;
                CompletedBlocks::default()
            }
        };
        Ok(Found::Room(partial, done))
    }

    /// Discards all blocks.
    fn begin(&self, manifest: &Manifest, me: Option<&Identity>) -> Result<(), TransferError> {
        let mut head = MAGIC.to_vec();
        head.extend(Identity::write(me));
        let mut bytes = Vec::new();
        manifest.write(&mut bytes);
        head.extend((bytes.len() as u16).to_be_bytes());
        head.extend(bytes);
        self.part.set_len(0).map_err(TransferError::at(&self.paths.part))?;
        self.part.set_len(self.layout.length.unwrap_or(0)).map_err(TransferError::at(&self.paths.part))?;
        self.state.set_len(0).map_err(TransferError::at(&self.paths.state))?;
        (&self.state).write_all(&head).map_err(TransferError::at(&self.paths.state))
    }

    /// Sets the length when it becomes known.
    pub(crate) fn set_layout(&mut self, layout: Layout) {
        self.layout = layout;
    }

    /// Path of the complete file.
    pub(crate) fn whole_path(&self) -> &Path {
        &self.paths.target
    }

    /// Stores a complete block. Zeros where a file has a hole are not written, so that a sparse file takes little room.
    pub(crate) fn keep(&mut self, block: u32, bytes: &[u8]) -> Result<(), TransferError> {
        if !self.stream && is_zero(bytes) {
            let mut present = Vec::new();
            self.read(block, &mut present)?;
            if is_zero(&present) {
                return Ok(());
            }
        }
        self.put(block, 0, bytes).map_err(TransferError::at(&self.paths.part))
    }

    /// Records that a block is complete, whose bytes were stored before.
    pub(crate) fn note(&self, block: u32) -> Result<(), TransferError> {
        (&self.state).write_all(&block.to_be_bytes()).map_err(TransferError::at(&self.paths.state))
    }

    /// Reads the bytes of the object in a block.
    pub(crate) fn read(&mut self, block: u32, into: &mut Vec<u8>) -> Result<(), TransferError> {
        into.clear();
        into.resize(self.layout.bytes_in(block), 0);
        self.get(block, 0, into).map_err(TransferError::at(&self.paths.part))
    }

    /// Stores bytes at an offset.
    pub(crate) fn write_at(&self, at: u64, bytes: &[u8]) -> Result<(), TransferError> {
        self.part.write_all_at(bytes, at).map_err(TransferError::at(&self.paths.part))
    }

    /// Renames the complete file to its final name.
    pub(crate) fn finish(&self) -> Result<(), TransferError> {
        let Paths { target, part, state } = &self.paths;
        if let Some(length) = self.layout.length {
            self.part.set_len(length).map_err(TransferError::at(part))?;
        }
        new_file::publish(&self.part, part, target, self.replace)?;
        fs::remove_file(state).map_err(TransferError::at(state))
    }

    /// Discards the file, whose content is wrong: the next attempt starts from the beginning.
    pub(crate) fn disown(&self) {
        // if it cannot be removed, the next attempt detects the mismatch
        let _ = self.state.set_len(0);
    }
}

impl Spill for Partial {
    fn put(&mut self, block: u32, offset: usize, bytes: &[u8]) -> std::io::Result<()> {
        let end = if self.stream { bytes.len() } else { self.layout.bytes_in(block).saturating_sub(offset) };
        let bytes = &bytes[..bytes.len().min(end)];
        self.part.write_all_at(bytes, self.layout.start(block) + offset as u64)
    }

    fn get(&mut self, block: u32, offset: usize, bytes: &mut [u8]) -> std::io::Result<()> {
        let end = self.layout.bytes_in(block).saturating_sub(offset).min(bytes.len());
        let (existing, beyond) = bytes.split_at_mut(end);
        beyond.fill(0);
        self.part.read_exact_at(existing, self.layout.start(block) + offset as u64)
    }
}

fn is_zero(bytes: &[u8]) -> bool {
    bytes.iter().all(|byte| *byte == 0)
}

/// Metadata of the entry at `path`, without following a link.
fn metadata(path: &Path) -> Result<Option<fs::Metadata>, TransferError> {
    match fs::symlink_metadata(path) {
        Ok(existing) => Ok(Some(existing)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(TransferError::at(path)(error)),
    }
}

/// The blocks of an earlier attempt for the same object; `None` without an earlier attempt. The file `state` is then at
/// its end.
///
/// A stream is the same only while the sender that began it runs: its number is random. Its blocks are all of one
/// length.
fn left(state: &mut File, part: &File, manifest: &Manifest) -> std::io::Result<Option<CompletedBlocks>> {
    let mut bytes = Vec::new();
    state.take(MAX_STATE).read_to_end(&mut bytes)?;
    let stored = bytes.strip_prefix(MAGIC).and_then(|rest| {
        let (_, rest) = rest.split_at_checked(IDENTITY)?;
        let (length, rest) = rest.split_first_chunk::<2>()?;
        let (head, list) = rest.split_at_checked(usize::from(u16::from_be_bytes(*length)))?;
        Some((Manifest::read(head)?.0, list))
    });
    let Some((before, list)) = stored else { return Ok(None) };
    let existing = part.metadata()?.len();
    let block_bytes = manifest.layout.block_bytes() as u64;
    let (fits, max) = match manifest.kind {
        Kind::File => (Some(existing) == manifest.layout.length, manifest.layout.blocks()),
        Kind::Stream => (true, u32::try_from(existing / block_bytes).unwrap_or(u32::MAX)),
        Kind::Live(_) => (false, 0),
    };
    if !fits || !before.same(manifest) {
        return Ok(None);
    }
    // an incomplete last entry is removed
    let (blocks, rest) = list.as_chunks::<4>();
    if !rest.is_empty() {
        state.set_len((bytes.len() - rest.len()) as u64)?;
        use std::io::Seek;
        state.seek(std::io::SeekFrom::End(0))?;
    }
    let mut done = CompletedBlocks::default();
    for block in blocks.iter().map(|block| u32::from_be_bytes(*block)) {
        if block < max {
            done.insert(block);
        }
    }
    Ok(Some(done))
}

/// Maximum size of a list of blocks that is read, in bytes.
const MAX_STATE: u64 = 4 * (1 << 24) + 1024;
