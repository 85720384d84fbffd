//! A program's output as a byte stream in order, for windowed schemes: the sending side. The state machine retransmits
//! lost data, so that there is no coding.
//!
//! The receiver first reports how much it has ([`Message::Have`]), and the stream continues from there. It is divided
//! into records: a length of two bytes and that number of bytes. A record of no bytes is followed by the hash of the
//! stream and ends it.

use std::collections::VecDeque;
use std::io::Read;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use contract::EndpointId;
use units::Time;
use wire::stream::Reason;

use super::layout::HASH;
use super::messages::Message;
use super::{Kind, Layout, Manifest, Tally, tree};
use crate::{ByteSource, Pause, Status};

/// The sending side of a byte stream.
pub struct Bytes {
    shared: Arc<Shared>,
    id: u64,
    /// The channel binding of this session.
    binding: [u8; HASH],
    tally: Arc<Tally>,
    /// How much the receiver had at the start of the session; `None` before its report.
    base: Option<u64>,
    complete: bool,
    /// Bytes that the transport accepted, over all sessions.
    accepted: u64,
    /// Bytes that the receiver reported, over all sessions.
    reported: u64,
    failed: Option<String>,
    /// It failed because the receiver needs data that are no longer stored.
    evicted: bool,
}

/// Records of a program's output, kept until the transport accepts them.
#[derive(Debug, Default)]
struct Shared {
    ring: Mutex<Ring>,
    room: Condvar,
}

#[derive(Debug, Default)]
struct Ring {
    /// The offset of the ring's start, in bytes of records.
    first: u64,
    bytes: VecDeque<u8>,
    /// After the end: the proof by which a receiver confirms completion.
    complete: Option<[u8; HASH]>,
    failed: Option<std::io::ErrorKind>,
    closed: bool,
    length: u64,
}

/// Maximum number of stored bytes of a pipe.
const KEPT: usize = 16 << 20;
/// Bytes of a record.
const RECORD: usize = 16 << 10;

impl Bytes {
    /// Reads the output of a program in a thread. Returns the manifest as well. `id` is random.
    pub fn of_pipe(
        mut from: Box<dyn Read + Send>,
        name: &str,
        id: u64,
        tally: Arc<Tally>,
    ) -> (Self, Manifest) {
        let shared = Arc::new(Shared::default());
        let reader = Arc::clone(&shared);
        // it ends with its input, or when the ring is dropped
        std::thread::spawn(move || reader.read_all(&mut *from));
        Self::of_ring(shared, name, id, tally)
    }

    /// Makes a source of bytes in memory, without a thread. Panics above 16 MB including lengths.
    pub fn of_memory(mut from: &[u8], name: &str, id: u64, tally: Arc<Tally>) -> (Self, Manifest) {
        let records = from.len() / RECORD + 1;
        assert!(from.len() + records * 2 + RECORD + 2 + HASH <= KEPT, "it exceeds the ring");
        let shared = Arc::new(Shared::default());
        shared.read_all(&mut from);
        Self::of_ring(shared, name, id, tally)
    }

    fn of_ring(shared: Arc<Shared>, name: &str, id: u64, tally: Arc<Tally>) -> (Self, Manifest) {
        tally.name(name);
        let manifest = Manifest {
            kind: Kind::Stream,
            id,
            name: name.to_owned(),
            layout: Layout::of_stream(1024),
            hash: None,
            report_every: super::store::REPORT_EVERY,
        };
        let binding = [0; HASH];
        let bytes = Self {
            shared,
            id,
            binding,
            tally,
            base: None,
            complete: false,
            accepted: 0,
            reported: 0,
            failed: None,
            evicted: false,
        };
        (bytes, manifest)
    }
}

impl Shared {
    fn ring(&self) -> MutexGuard<'_, Ring> {
        self.ring.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The transport accepted everything read so far, and more may follow.
    fn is_drained(&self) -> bool {
        let ring = self.ring();
        ring.bytes.is_empty() && ring.complete.is_none()
    }

    fn read_all(&self, from: &mut dyn Read) {
        let mut hasher = blake3::Hasher::new();
        let mut record = vec![0; RECORD];
        loop {
            let (length, failed) = match from.read(&mut record) {
                Ok(length) => (length, None),
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(error) => (0, Some(error.kind())),
            };
            hasher.update(&record[..length]);
            let mut ring = self.ring();
            while ring.bytes.len() + RECORD + 2 + HASH > KEPT && !ring.closed {
                ring = self.room.wait(ring).unwrap_or_else(PoisonError::into_inner);
            }
            if ring.closed {
                return;
            }
            ring.bytes.extend((length as u16).to_be_bytes());
            ring.bytes.extend(&record[..length]);
            ring.length += length as u64;
            if length == 0 {
                let (hash, possession) = tree::split(&hasher);
                ring.bytes.extend(hash);
                ring.complete = Some(possession);
                ring.failed = failed;
                return;
            }
        }
    }
}

impl Drop for Bytes {
    fn drop(&mut self) {
        self.shared.ring().closed = true;
        self.shared.room.notify_one();
    }
}

impl ByteSource for Bytes {
    fn ready(&mut self, _now: Time) -> u64 {
        let Some(base) = self.base else { return 0 };
        let ring = self.shared.ring();
        if let Some(kind) = ring.failed {
            self.failed = Some(format!("standard input: {}", std::io::Error::from(kind)));
        }
        self.tally.set_total(if ring.complete.is_some() { ring.length } else { 0 });
        (ring.first + ring.bytes.len() as u64).saturating_sub(base)
    }

    fn end(&self) -> Option<u64> {
        let ring = self.shared.ring();
        let end = ring.first + ring.bytes.len() as u64;
        self.base.filter(|_| ring.complete.is_some()).map(|base| end.saturating_sub(base))
    }

    fn read(&mut self, offset: u64, room: &mut [u8]) {
        let at = self.base.unwrap_or(0) + offset;
        let ring = self.shared.ring();
        let from = usize::try_from(at.saturating_sub(ring.first)).unwrap_or(usize::MAX);
        copy_out(&ring.bytes, from, room);
    }

    fn on_accepted(&mut self, offset: u64) {
        let at = self.base.unwrap_or(0) + offset;
        self.tally.set_done(at);
        self.accepted = self.accepted.max(at);
        let mut ring = self.shared.ring();
        let evicted = usize::try_from(at.saturating_sub(ring.first)).unwrap_or(0).min(ring.bytes.len());
        ring.bytes.drain(..evicted);
        ring.first += evicted as u64;
        self.shared.room.notify_one();
    }

    fn bind(&mut self, _peer: EndpointId, binding: &[u8; HASH]) {
        self.binding = *binding;
    }

    fn on_join(&mut self, _peer: EndpointId) {
        self.base = None;
        self.tally.set_receivers(1, 0);
    }

    fn on_message(&mut self, _from: EndpointId, _now: Time, message: &[u8]) {
        match Message::read(message) {
            Some(Message::Have { id, bytes, proof }) if id == self.id => {
                let ring = self.shared.ring();
                let (first, end) = (ring.first, ring.first + ring.bytes.len() as u64);
                // completion needs a proof
                let expected = ring.complete.map(|possession| tree::proof(&self.binding, &possession));
                drop(ring);
                self.complete |= proof.is_some() && proof == expected;
                self.tally.set_receivers(1, usize::from(self.complete));
                self.reported = self.reported.max(bytes.min(end));
                if self.base.is_some() {
                    return;
                }
                if bytes < first {
                    let message = format!(
                        "the receiver restarted when the beginning of the stream was gone, {}",
                        megabytes(first)
                    );
                    self.failed.get_or_insert(message);
                    self.evicted = true;
                } else {
                    self.base = Some(bytes.min(end));
                }
            }
            Some(Message::Failed(why)) => {
                self.failed.get_or_insert(format!("the receiver could not store it: {why}"));
            }
            _ => {}
        }
    }

    fn progress(&self) -> Option<u64> {
        Some(self.accepted + self.reported + u64::from(self.base.is_some()))
    }

    fn pause(&self) -> Pause {
        match self.base {
            // the receiver has everything, and the program pauses
            Some(_) if self.shared.is_drained() && self.reported >= self.accepted => Pause::Local,
            _ if self.accepted > 0 => Pause::Remote,
            _ => Pause::None,
        }
    }

    fn status(&self) -> Status {
        match &self.failed {
            _ if self.complete => Status::Complete,
            Some(why) => Status::Failed(why.clone()),
            None => Status::InProgress,
        }
    }

    fn reason(&self) -> Reason {
        if self.evicted { Reason::Gone } else { Reason::Storage }
    }
}

/// A number of bytes for users.
pub(crate) fn megabytes(bytes: u64) -> String {
    format!("{}.{} MB", bytes / 1_000_000, bytes / 100_000 % 10)
}

/// Copies bytes of a ring from `at` on, as many as it has.
pub(crate) fn copy_out(ring: &VecDeque<u8>, at: usize, into: &mut [u8]) {
    let (front, back) = ring.as_slices();
    let first = front.get(at..).unwrap_or(&[]);
    let second = back.get(at.saturating_sub(front.len())..).unwrap_or(&[]);
    let split = first.len().min(into.len());
    into[..split].copy_from_slice(&first[..split]);
    let rest = second.len().min(into.len() - split);
    into[split..split + rest].copy_from_slice(&second[..rest]);
}
