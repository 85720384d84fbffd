//! The source of a fountain's blocks: a file, or a program through a pipe.

use std::collections::VecDeque;
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use units::Duration;

use super::layout::level;
use super::tree::{Tree, TreeBuilder, split};
use super::{Kind, Layout, Manifest, Tally, TransferError};

/// The blocks of an object.
pub trait Store: Send {
    /// One past the last block that is available.
    fn available(&mut self) -> u32;

    /// Reads a block into `into`, padded with zeros to whole symbols. Returns false if it is not available, or no
    /// longer.
    fn read(&mut self, block: u32, into: &mut Vec<u8>) -> Result<bool, TransferError>;

    /// Blocks below `below` are no longer needed.
    fn release(&mut self, below: u32);

    /// The properties of the complete object, when they are known.
    fn end(&mut self) -> Option<Complete>;
}

/// The properties of a complete object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Complete {
    /// Length in bytes.
    pub length: u64,
    /// Its hash, as in [`Manifest::hash`].
    pub hash: [u8; 32],
    /// A value that only an end with all data can compute. It is never sent; receivers prove that they know it.
    pub possession: [u8; 32],
}

/// Interval of reports with few receivers.
pub(crate) const REPORT_EVERY: Duration = Duration::from_millis(50);

/// A file's blocks, read when they are needed.
#[derive(Debug)]
pub struct FileStore {
    file: File,
    path: String,
    layout: Layout,
    tree: Tree,
}

impl FileStore {
    /// Opens a file and computes its hash. Returns the manifest as well; `None` if `keep_going`, which is called
    /// repeatedly, returns false.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or its name is not valid for receivers.
    pub fn open(
        path: &Path,
        name: &str,
        symbol_bytes: u16,
        tally: &Tally,
        keep_going: &dyn Fn() -> bool,
    ) -> Result<Option<(Self, Manifest)>, TransferError> {
        super::check_name(name)
            .map_err(|why| TransferError::Refused(format!("a file called {name:?}: {why}")))?;
        let failed = |error| TransferError::at(path)(error);
        let mut file = File::open(path).map_err(failed)?;
        let length = file.metadata().map_err(failed)?.len();
        tally.name(name);
        tally.set_total(length);
        let layout = Layout::of_file(length, symbol_bytes);
        if !layout.possible() {
            return Err(TransferError::Refused(format!("{}: too large to be sent", path.display())));
        }
        let mut growing = TreeBuilder::new(layout);
        let mut buffer = vec![0; READ];
        let mut read = 0;
        loop {
            let bytes = file.read(&mut buffer).map_err(failed)?;
            if bytes == 0 {
                break;
            }
            if !keep_going() {
                return Ok(None);
            }
            growing.update(&buffer[..bytes]);
            tally.add_hashed(bytes as u64);
            read += bytes as u64;
        }
        if read != length {
            return Err(TransferError::Refused(format!("{} changes while it is read", path.display())));
        }
        let tree = growing.finish();
        let hash = tree.root;
        let id = u64::from_be_bytes(std::array::from_fn(|n| hash[n]));
        let manifest = Manifest {
            kind: Kind::File,
            id,
            name: name.to_owned(),
            layout,
            hash: Some(hash),
            report_every: REPORT_EVERY,
        };
        Ok(Some((Self { file, path: path.display().to_string(), layout, tree }, manifest)))
    }

    /// What proves that a receiver has all of the file.
    pub(crate) const fn possession(&self) -> &[u8; 32] {
        &self.tree.possession
    }

    /// Whether a block is still what it was.
    ///
    /// # Errors
    /// The file was written to meanwhile: no receiver would take it.
    pub(crate) fn check(&self, block: u32, bytes: &[u8]) -> Result<(), TransferError> {
        if level(block) > 0 || self.tree.fits(block, bytes) {
            return Ok(());
        }
        Err(TransferError::Refused(format!("{} changed while it was sent", self.path)))
    }

    /// Reads bytes of a block, of the file or of hashes, from `at` on.
    pub(crate) fn read_of(&self, block: u32, at: usize, into: &mut [u8]) -> Result<(), TransferError> {
        if level(block) == 0 {
            return self.read_at(self.layout.start(block) + at as u64, into);
        }
        let hashes = self.tree.read(block).and_then(|hashes| hashes.get(at..at + into.len()));
        into.copy_from_slice(hashes.ok_or_else(|| TransferError::Refused("no such block".to_owned()))?);
        Ok(())
    }

    /// Reads bytes at `offset`.
    pub(crate) fn read_at(&self, offset: u64, into: &mut [u8]) -> Result<(), TransferError> {
        self.file.read_exact_at(into, offset).map_err(|source| match source.kind() {
            std::io::ErrorKind::UnexpectedEof => {
                TransferError::Refused(format!("{} became shorter while it was sent", self.path))
            }
            _ => TransferError::File { path: self.path.clone(), source },
        })
    }
}

/// Bytes read at once while a hash is computed.
const READ: usize = 1 << 20;

impl Store for FileStore {
    fn available(&mut self) -> u32 {
        self.layout.blocks()
    }

    fn read(&mut self, block: u32, into: &mut Vec<u8>) -> Result<bool, TransferError> {
        let symbols = usize::from(self.layout.symbols_in(block, false));
        into.clear();
        into.resize(symbols * usize::from(self.layout.symbol_bytes), 0);
        let bytes = &mut into[..self.layout.size_of(block)];
        self.read_of(block, 0, bytes)?;
        self.check(block, bytes)?;
        Ok(symbols > 0)
    }

    fn release(&mut self, _below: u32) {}

    fn end(&mut self) -> Option<Complete> {
        let (hash, possession) = (self.tree.root, self.tree.possession);
        Some(Complete { length: self.layout.length.unwrap_or(0), hash, possession })
    }
}

/// The output of a program, stored until every receiver has it. A thread reads, and waits while too much is stored.
#[derive(Debug)]
pub struct PipeStore {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    stored: Mutex<StoredBlocks>,
    room: Condvar,
    block_bytes: usize,
    max: usize,
}

#[derive(Debug, Default)]
struct StoredBlocks {
    /// Number of the first block that is kept.
    first: u32,
    blocks: VecDeque<Box<[u8]>>,
    end: Option<Complete>,
    failed: Option<std::io::ErrorKind>,
    closed: bool,
}

/// Bytes that are kept of a pipe.
const KEPT: usize = 24 << 20;

impl PipeStore {
    /// Reads `from` to its end. Returns the manifest as well. `id` is random.
    pub fn new(
        mut from: Box<dyn Read + Send>,
        name: &str,
        id: u64,
        symbol_bytes: u16,
        tally: &Tally,
    ) -> (Self, Manifest) {
        let layout = Layout::of_stream(symbol_bytes);
        tally.name(name);
        let block_bytes = layout.block_bytes();
        let shared = Arc::new(Shared {
            stored: Mutex::default(),
            room: Condvar::new(),
            block_bytes,
            max: (KEPT / block_bytes).max(4),
        });
        let reader = Arc::clone(&shared);
        // it ends with its input, or when nobody keeps the store
        std::thread::spawn(move || reader.read_all(&mut *from));
        let manifest = Manifest {
            kind: Kind::Stream,
            id,
            name: name.to_owned(),
            layout,
            hash: None,
            report_every: REPORT_EVERY,
        };
        (Self { shared }, manifest)
    }
}

impl Shared {
    fn stored(&self) -> MutexGuard<'_, StoredBlocks> {
        self.stored.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn read_all(&self, from: &mut dyn Read) {
        let (mut hasher, mut length) = (blake3::Hasher::new(), 0);
        loop {
            let mut block = vec![0; self.block_bytes];
            let (filled, failed) = fill(from, &mut block);
            hasher.update(&block[..filled]);
            length += filled as u64;
            let mut stored = self.stored();
            while stored.blocks.len() >= self.max && !stored.closed {
                stored = self.room.wait(stored).unwrap_or_else(PoisonError::into_inner);
            }
            if stored.closed {
                return;
            }
            if filled > 0 {
                stored.blocks.push_back(block.into());
            }
            if filled < self.block_bytes {
                let (hash, possession) = split(&hasher);
                stored.end = Some(Complete { length, hash, possession });
                stored.failed = failed;
                return;
            }
        }
    }
}

/// Reads until `buffer` is full or there is nothing more.
fn fill(from: &mut dyn Read, buffer: &mut [u8]) -> (usize, Option<std::io::ErrorKind>) {
    let mut filled = 0;
    while filled < buffer.len() {
        match from.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(bytes) => filled += bytes,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return (filled, Some(error.kind())),
        }
    }
    (filled, None)
}

impl Store for PipeStore {
    fn available(&mut self) -> u32 {
        let stored = self.shared.stored();
        stored.first + stored.blocks.len() as u32
    }

    fn read(&mut self, block: u32, into: &mut Vec<u8>) -> Result<bool, TransferError> {
        let stored = self.shared.stored();
        if let Some(kind) = stored.failed {
            return Err(TransferError::File { path: "standard input".to_owned(), source: kind.into() });
        }
        let place = block.checked_sub(stored.first).and_then(|at| stored.blocks.get(at as usize));
        let Some(bytes) = place else { return Ok(false) };
        into.clear();
        into.extend_from_slice(bytes);
        Ok(true)
    }

    fn release(&mut self, below: u32) {
        let mut stored = self.shared.stored();
        while stored.first < below && stored.blocks.pop_front().is_some() {
            stored.first += 1;
        }
        self.shared.room.notify_one();
    }

    fn end(&mut self) -> Option<Complete> {
        self.shared.stored().end
    }
}

impl Drop for PipeStore {
    fn drop(&mut self) {
        self.shared.stored().closed = true;
        self.shared.room.notify_one();
    }
}
