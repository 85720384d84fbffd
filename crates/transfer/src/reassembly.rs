//! A program's output as a byte stream in order, for windowed schemes: the receiving side.

use std::sync::Arc;

use units::{Duration, Time};

use super::destination::Destination;
use super::layout::HASH;
use super::messages::Message;
use super::partial::{Found, Partial};
use super::pipe_writer::PipeWriter;
use super::rejection::Rejection;
use super::ring::Ring;
use super::{Layout, Manifest, Tally, TransferError, tree};
use crate::{ByteSink, MAX_MESSAGE_BYTES, Pause, Status};

/// The receiving side.
pub struct Reassembly {
    manifest: Manifest,
    out: Output,
    tally: Arc<Tally>,
    /// Offset at which the stream of this session begins.
    base: u64,
    ring: Ring,
    /// Contiguously received bytes of the stream.
    contiguous: u64,
    /// Delivered payload in bytes.
    delivered: u64,
    hasher: blake3::Hasher,
    record: Record,
    /// Hash of the whole stream, once it is known.
    hash: Option<[u8; HASH]>,
    /// Proof of possession of the whole stream.
    possession: [u8; HASH],
    /// The channel binding of this session.
    binding: [u8; HASH],
    status: Status,
    refusal: Option<Rejection>,
    /// Data arrived since the session began: the sender knows where to begin.
    data_received: bool,
    last_message: Option<Time>,
    urgent: bool,
}

/// The destination of the bytes.
enum Output {
    File(Partial),
    Pipe(PipeWriter),
}

/// Position of the stream in a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Record {
    Head,
    Body(usize),
    Hash,
    Over,
}

/// Interval of status messages of a receiver, and the interval before the first data.
const REPEAT_INTERVAL: Duration = Duration::from_millis(200);
const INITIAL_INTERVAL: Duration = Duration::from_millis(25);
/// Time after which a full output is tried again.
const POLL_INTERVAL: Duration = Duration::from_millis(2);
/// Bytes delivered or hashed at once.
const AT_ONCE: usize = 1 << 18;
/// Bytes delivered per call.
const TURN: u64 = 4 << 20;

impl Reassembly {
    /// Receives the object of `manifest`, and buffers up to `window` bytes out of order.
    ///
    /// # Errors
    /// It cannot be stored there.
    pub fn open(
        manifest: Manifest,
        into: Destination,
        window: u32,
        tally: Arc<Tally>,
    ) -> Result<Self, TransferError> {
        let out = match into {
            Destination::Pipe(pipe) | Destination::Player(pipe) => Output::Pipe(PipeWriter::new(pipe, 16)),
            Destination::Folder { path, name, replace, me } => {
                let name = name.as_deref().unwrap_or(&manifest.name);
                super::check_name(name)
                    .map_err(|why| TransferError::Refused(format!("the name {name:?}: {why}")))?;
                match Partial::open(&path, name, &manifest, replace, me.as_ref())? {
                    Found::Room(partial, _) => Output::File(partial),
                    Found::Complete(_, path) => {
                        let message = format!("{} is there already", path.display());
                        return Err(TransferError::Refused(message));
                    }
                }
            }
        };
        tally.name(&manifest.name);
        tally.set_total(0);
        Ok(Self {
            record: Record::Head,
            hash: None,
            possession: [0; HASH],
            binding: [0; HASH],
            manifest,
            out,
            tally,
            base: 0,
            ring: Ring::new(2 * window as usize),
            contiguous: 0,
            delivered: 0,
            hasher: blake3::Hasher::new(),
            status: Status::InProgress,
            refusal: None,
            data_received: false,
            last_message: None,
            urgent: true,
        })
    }

    /// Removes contiguous bytes from the ring and delivers them.
    fn advance(&mut self) -> Result<(), TransferError> {
        let mut turn = 0;
        while self.ring.available() > 0 && turn < TURN {
            if let Output::Pipe(outflow) = &self.out
                && !outflow.has_room()?
            {
                break;
            }
            let available = self.ring.available().min(AT_ONCE);
            let length = match self.record {
                Record::Head if available < 2 => break,
                Record::Head => {
                    let mut head = [0; 2];
                    self.ring.copy(&mut head);
                    self.ring.pass(2);
                    let length = usize::from(u16::from_be_bytes(head));
                    self.record = if length == 0 { Record::Hash } else { Record::Body(length) };
                    continue;
                }
                Record::Body(left) => left.min(available),
                Record::Hash if available < HASH => break,
                Record::Hash => {
                    let mut hash = [0; HASH];
                    self.ring.copy(&mut hash);
                    self.hash = Some(hash);
                    self.ring.pass(HASH);
                    self.record = Record::Over;
                    self.tally.set_total(self.delivered);
                    continue;
                }
                Record::Over => return Err(TransferError::Refused("something follows the end".to_owned())),
            };
            let mut bytes = vec![0; length];
            self.ring.copy(&mut bytes);
            self.ring.pass(length);
            if let Record::Body(left) = self.record {
                self.record = if left == length { Record::Head } else { Record::Body(left - length) };
            }
            self.give(bytes)?;
            turn += length as u64;
        }
        self.finish()
    }

    /// Delivers payload.
    fn give(&mut self, bytes: Vec<u8>) -> Result<(), TransferError> {
        self.hasher.update(&bytes);
        self.tally.add_done(bytes.len() as u64);
        let at = self.delivered;
        self.delivered += bytes.len() as u64;
        match &mut self.out {
            Output::File(partial) => partial.write_at(at, &bytes)?,
            Output::Pipe(outflow) => outflow.give(bytes),
        }
        Ok(())
    }

    /// Verifies the whole stream after its end.
    fn finish(&mut self) -> Result<(), TransferError> {
        let Some(expected) = self.hash else { return Ok(()) };
        if let Output::Pipe(outflow) = &self.out
            && !outflow.is_done()?
        {
            return Ok(());
        }
        let (hash, possession) = tree::split(&self.hasher);
        if hash != expected {
            if let Output::File(partial) = &self.out {
                partial.disown();
            }
            let message = "all of it arrived, but it is not what was sent: its hash differs";
            return Err(TransferError::Refused(message.to_owned()));
        }
        if let Output::File(partial) = &mut self.out {
            partial.set_layout(Layout { length: Some(self.delivered), ..self.manifest.layout });
            partial.finish()?;
            self.tally.path(partial.whole_path());
        }
        self.possession = possession;
        self.become_whole();
        Ok(())
    }

    fn every(&self) -> Duration {
        if self.data_received { REPEAT_INTERVAL } else { INITIAL_INTERVAL }
    }

    fn fail(&mut self, error: &TransferError) {
        self.status = Status::Failed(error.to_string());
        self.refusal = Some(Rejection::new(error.to_string()));
    }

    fn become_whole(&mut self) {
        self.status = Status::Complete;
        self.urgent = true;
    }
}

impl ByteSink for Reassembly {
    fn bind(&mut self, binding: &[u8; HASH]) {
        self.binding = *binding;
    }

    /// Its hash arrives at its end, from the sender.
    fn verifies(&self) -> bool {
        false
    }

    fn on_open(&mut self) {
        // bytes beyond gaps are retransmitted
        self.base = self.ring.begin_at_its_end();
        (self.data_received, self.urgent) = (false, true);
    }

    fn write(&mut self, offset: u64, bytes: &[u8]) -> bool {
        self.data_received = true;
        // if nothing more is needed, the sender is notified
        self.status != Status::InProgress || self.ring.write(self.base + offset, bytes)
    }

    fn on_contiguous(&mut self, offset: u64, _now: Time) {
        if self.status != Status::InProgress {
            return;
        }
        self.contiguous = self.contiguous.max(self.base + offset);
        self.ring.fill_to(self.base + offset);
        if self.ring.available() >= AT_ONCE
            && let Err(error) = self.advance()
        {
            self.fail(&error);
        }
    }

    fn write_message(&mut self, now: Time, message: &mut [u8; MAX_MESSAGE_BYTES]) -> usize {
        if self.status == Status::InProgress
            && let Err(error) = self.advance()
        {
            self.fail(&error);
        }
        if let Some(refusal) = &mut self.refusal {
            return refusal.write_rejection(now, message);
        }
        let silent = self.last_message.map_or(Duration::MAX, |at| now.saturating_since(at));
        if !self.urgent && silent < self.every() {
            return 0;
        }
        self.urgent = false;
        self.last_message = Some(now);
        let complete = self.status == Status::Complete;
        let proof = complete.then(|| tree::proof(&self.binding, &self.possession));
        let status =
            Message::Have { id: self.manifest.id, bytes: self.base.max(self.ring.consumed()), proof };
        status.write(message)
    }

    fn wake(&self) -> Time {
        if let Some(refusal) = &self.refusal {
            return refusal.wake();
        }
        let last_message = self.last_message.unwrap_or(Time::ZERO);
        let waiting = self.status == Status::InProgress && (self.ring.available() > 0 || self.hash.is_some());
        last_message
            + if self.urgent {
                Duration::ZERO
            } else if waiting {
                POLL_INTERVAL
            } else {
                REPEAT_INTERVAL
            }
    }

    fn progress(&self) -> Option<u64> {
        Some(self.contiguous)
    }

    fn pause(&self) -> Pause {
        match &self.out {
            Output::Pipe(outflow) if outflow.is_full() => Pause::Local,
            _ if self.record != Record::Over => Pause::Remote,
            _ => Pause::None,
        }
    }

    fn status(&self) -> Status {
        self.refusal.as_ref().map_or_else(|| self.status.clone(), Rejection::status)
    }
}
