//! A program's output as a byte stream in order, for windowed schemes: the receiving side.

use std::sync::Arc;

use units::{Duration, Time};

use super::collector::Destination;
use super::layout::HASH;
use super::messages::Message;
use super::partial::{Found, Partial};
use super::pipe_writer::PipeWriter;
use super::rejection::Rejection;
use super::ring::Ring;
use super::{Layout, Manifest, Tally, TransferError, tree};
use crate::{ByteSink, MAX_MESSAGE_BYTES, Status, Waits};

/// The receiving side.
pub struct Reassembly {
    manifest: Manifest,
    out: Output,
    tally: Arc<Tally>,
    /// Where the stream of this session begins.
    base: u64,
    ring: Ring,
    /// Bytes of the stream that have come without a hole.
    came: u64,
    /// Payload given out.
    given: u64,
    hasher: blake3::Hasher,
    record: Record,
    /// Hash of the whole, once it is known.
    hash: Option<[u8; HASH]>,
    /// What proves that all of it is here.
    possession: [u8; HASH],
    /// What only the sender and this end know in this session.
    binding: [u8; HASH],
    status: Status,
    refusal: Option<Rejection>,
    /// Something came since the session began: the sender knows where to begin.
    heard: bool,
    spoke_at: Option<Time>,
    urgent: bool,
}

/// Where bytes go.
enum Output {
    File(Partial),
    Pipe(PipeWriter),
}

/// Where in a record the stream is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Record {
    Head,
    Body(usize),
    Hash,
    Over,
}

/// A receiver says where it stands so often, and until something comes so often.
const SAID_AGAIN: Duration = Duration::from_millis(200);
const SAID_AT_FIRST: Duration = Duration::from_millis(25);
/// Tried again after this, where the way out is full.
const LOOK_EVERY: Duration = Duration::from_millis(2);
/// Bytes given out or hashed at once.
const AT_ONCE: usize = 1 << 18;
/// Bytes given out in one turn.
const TURN: u64 = 4 << 20;

impl Reassembly {
    /// Takes what `manifest` describes, and holds up to `window` bytes beyond those in order.
    ///
    /// # Errors
    /// It cannot be kept there.
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
                    Found::Whole(_, path) => {
                        let said = format!("{} is there already", path.display());
                        return Err(TransferError::Refused(said));
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
            came: 0,
            given: 0,
            hasher: blake3::Hasher::new(),
            status: Status::Going,
            refusal: None,
            heard: false,
            spoke_at: None,
            urgent: true,
        })
    }

    /// Takes what is contiguous out of the ring and gives it out.
    fn advance(&mut self) -> Result<(), TransferError> {
        let mut turn = 0;
        while self.ring.there() > 0 && turn < TURN {
            if let Output::Pipe(outflow) = &self.out
                && !outflow.has_room()?
            {
                break;
            }
            let there = self.ring.there().min(AT_ONCE);
            let length = match self.record {
                Record::Head if there < 2 => break,
                Record::Head => {
                    let mut head = [0; 2];
                    self.ring.copy(&mut head);
                    self.ring.pass(2);
                    let length = usize::from(u16::from_be_bytes(head));
                    self.record = if length == 0 { Record::Hash } else { Record::Body(length) };
                    continue;
                }
                Record::Body(left) => left.min(there),
                Record::Hash if there < HASH => break,
                Record::Hash => {
                    let mut hash = [0; HASH];
                    self.ring.copy(&mut hash);
                    self.hash = Some(hash);
                    self.ring.pass(HASH);
                    self.record = Record::Over;
                    self.tally.set_total(self.given);
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

    /// Gives payload out.
    fn give(&mut self, bytes: Vec<u8>) -> Result<(), TransferError> {
        self.hasher.update(&bytes);
        self.tally.add_done(bytes.len() as u64);
        let at = self.given;
        self.given += bytes.len() as u64;
        match &mut self.out {
            Output::File(partial) => partial.write_at(at, &bytes)?,
            Output::Pipe(outflow) => outflow.give(bytes),
        }
        Ok(())
    }

    /// When all is there: is it what it should be?
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
            let said = "all of it arrived, but it is not what was sent: its hash differs";
            return Err(TransferError::Refused(said.to_owned()));
        }
        if let Output::File(partial) = &mut self.out {
            partial.set_layout(Layout { length: Some(self.given), ..self.manifest.layout });
            partial.finish()?;
            self.tally.path(partial.whole_path());
        }
        self.possession = possession;
        self.become_whole();
        Ok(())
    }

    fn every(&self) -> Duration {
        if self.heard { SAID_AGAIN } else { SAID_AT_FIRST }
    }

    fn fail(&mut self, error: &TransferError) {
        self.status = Status::Failed(error.to_string());
        self.refusal = Some(Rejection::new(error.to_string()));
    }

    fn become_whole(&mut self) {
        self.status = Status::Whole;
        self.urgent = true;
    }
}

impl ByteSink for Reassembly {
    fn bind(&mut self, binding: &[u8; HASH]) {
        self.binding = *binding;
    }

    /// Its hash comes at its end, from the sender.
    fn verifies(&self) -> bool {
        false
    }

    fn on_open(&mut self) {
        // what came with holes comes again
        self.base = self.ring.begin_at_its_end();
        (self.heard, self.urgent) = (false, true);
    }

    fn write(&mut self, offset: u64, bytes: &[u8]) -> bool {
        self.heard = true;
        // where nothing more is needed, the sender is told so
        self.status != Status::Going || self.ring.write(self.base + offset, bytes)
    }

    fn on_contiguous(&mut self, offset: u64, _now: Time) {
        if self.status != Status::Going {
            return;
        }
        self.came = self.came.max(self.base + offset);
        self.ring.fill_to(self.base + offset);
        if self.ring.there() >= AT_ONCE
            && let Err(error) = self.advance()
        {
            self.fail(&error);
        }
    }

    fn speak(&mut self, now: Time, message: &mut [u8; MAX_MESSAGE_BYTES]) -> usize {
        if self.status == Status::Going
            && let Err(error) = self.advance()
        {
            self.fail(&error);
        }
        if let Some(refusal) = &mut self.refusal {
            return refusal.say(now, message);
        }
        let silent = self.spoke_at.map_or(Duration::MAX, |at| now.saturating_since(at));
        if !self.urgent && silent < self.every() {
            return 0;
        }
        self.urgent = false;
        self.spoke_at = Some(now);
        let whole = self.status == Status::Whole;
        let proof = whole.then(|| tree::proof(&self.binding, &self.possession));
        let said = Message::Have { id: self.manifest.id, bytes: self.base.max(self.ring.taken()), proof };
        said.write(message)
    }

    fn wake(&self) -> Time {
        if let Some(refusal) = &self.refusal {
            return refusal.wake();
        }
        let spoke_at = self.spoke_at.unwrap_or(Time::ZERO);
        let waits = self.status == Status::Going && (self.ring.there() > 0 || self.hash.is_some());
        spoke_at
            + if self.urgent {
                Duration::ZERO
            } else if waits {
                LOOK_EVERY
            } else {
                SAID_AGAIN
            }
    }

    fn moved(&self) -> Option<u64> {
        Some(self.came)
    }

    fn waits(&self) -> Waits {
        match &self.out {
            Output::Pipe(outflow) if outflow.is_full() => Waits::Here,
            _ if self.record != Record::Over => Waits::There,
            _ => Waits::Nobody,
        }
    }

    fn status(&self) -> Status {
        self.refusal.as_ref().map_or_else(|| self.status.clone(), Rejection::status)
    }
}
