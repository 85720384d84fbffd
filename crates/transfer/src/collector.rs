//! The receiving side of a fountain code: receives announcements and symbols, and periodically reports missing blocks.

use std::sync::Arc;

use units::{Duration, Time};

use super::destination::Destination;
use super::layout::HASH;
use super::messages::{self, Content, Message};
use super::object_receiver::{NextStep, ObjectReceiver};
use super::rejection::Rejection;
use super::tally::Received;
use super::{Kind, Manifest, Tally, TransferError, tree};
use crate::{MAX_MESSAGE_BYTES, Pause, Sink, Status};

/// A receiver of one object.
pub struct Collector {
    into: Option<Destination>,
    tally: Arc<Tally>,
    work: Option<Box<ObjectReceiver>>,
    /// The channel binding of this session.
    binding: [u8; HASH],
    status: Status,
    refusal: Option<Rejection>,
    /// Measure of delivered data: the maximum number of bytes stored at a time.
    progress: u64,
    /// The highest number of a packet seen.
    seen: u64,
    last_message: Option<Time>,
    read_blocks: Time,
    /// A packet has arrived in this session.
    data_received: bool,
    /// Of the object only announcements have arrived: its sender may wait for other receivers.
    only_announced: bool,
    /// A packet has arrived since the last report, or an event must be reported at once.
    unreported: bool,
    urgent: bool,
}

/// Interval of reports of a receiver without data, and before the first packet.
const REPEAT_INTERVAL: Duration = Duration::from_millis(250);
const INITIAL_INTERVAL: Duration = Duration::from_millis(25);
/// Interval at which a full pipe is tried again.
const PIPE_AGAIN: Duration = Duration::from_millis(2);

impl Collector {
    /// A receiver of the first announced object.
    pub fn new(into: Destination, tally: Arc<Tally>) -> Self {
        Self {
            into: Some(into),
            tally,
            work: None,
            binding: [0; HASH],
            status: Status::InProgress,
            refusal: None,
            progress: 0,
            seen: 0,
            last_message: None,
            read_blocks: Time::ZERO,
            data_received: false,
            only_announced: false,
            unreported: false,
            urgent: false,
        }
    }

    /// The manifest, when it is known.
    pub fn manifest(&self) -> Option<&Manifest> {
        self.work.as_ref().map(|work| &work.manifest)
    }

    /// A receiver of `manifest`, which reports existing blocks before the first packet. If the object cannot be stored,
    /// it is refused with a message.
    pub fn of(manifest: Manifest, into: Destination, tally: Arc<Tally>) -> Self {
        let mut collector = Self::new(into, tally);
        if let Err(error) = collector.on_announce(manifest) {
            collector.fail(&error);
        }
        collector
    }

    /// Bytes of a block of the file or of its hashes; `None` if there is no such block.
    pub(crate) fn size_of(&self, block: u32) -> Option<usize> {
        let size = self.work.as_ref()?.manifest.layout.size_of(block);
        (size > 0).then_some(size)
    }

    /// A complete block arrived, in a byte stream of which this number of bytes have been accepted.
    pub(crate) fn take_block(&mut self, seen: u64, block: u32, bytes: Box<[u8]>) {
        (self.seen, self.data_received, self.unreported) = (seen, true, true);
        let Some(work) = self.work.as_mut().filter(|_| self.status == Status::InProgress) else { return };
        if let Err(error) = work.on_block(block, bytes, &self.tally) {
            self.fail(&error);
        }
        self.count(0);
    }

    /// Counts stored bytes, and the bytes of a block that is being received.
    pub(crate) fn count(&mut self, coming: usize) {
        let arrived = self.work.as_ref().map_or(0, |work| work.arrived());
        self.progress = self.progress.max(arrived + coming as u64);
    }

    fn on_announce(&mut self, manifest: Manifest) -> Result<(), TransferError> {
        if let Some(work) = &mut self.work {
            // another object was not accepted
            if work.manifest.same(&manifest) {
                work.end_known(manifest, &self.tally);
            }
            return Ok(());
        }
        if let Kind::Live(_) = manifest.kind {
            return Err(TransferError::Refused("the sender sends a live stream, not a file".to_owned()));
        }
        let Some(into) = self.into.take() else { return Ok(()) };
        let work = ObjectReceiver::open(manifest, into, &self.tally)?;
        self.tally.name(&work.manifest.name);
        self.tally.set_total(work.manifest.layout.length.unwrap_or(0));
        self.work = Some(Box::new(work));
        self.urgent = true;
        Ok(())
    }

    pub(crate) fn fail(&mut self, error: &TransferError) {
        if self.status == Status::InProgress {
            self.status = Status::Failed(error.to_string());
            self.refusal = Some(Rejection::new(error.to_string()));
        }
    }

    /// Interval of reports without arrivals.
    fn report_gap(&self, every: Duration) -> Duration {
        if self.data_received { REPEAT_INTERVAL.max(every) } else { INITIAL_INTERVAL }
    }

    /// Verifies and delivers the next blocks; finishes after the last.
    fn advance(&mut self) {
        let Some(work) = self.work.as_mut().filter(|_| self.status == Status::InProgress) else { return };
        match work.advance(&self.tally) {
            Ok(false) => {}
            Ok(true) => {
                self.status = Status::Complete;
                self.urgent = true;
            }
            Err(error) => self.fail(&error),
        }
        self.count(0);
    }
}

impl Sink for Collector {
    fn bind(&mut self, binding: &[u8; HASH]) {
        self.binding = *binding;
    }

    fn verifies(&self) -> bool {
        self.work.as_ref().is_none_or(|work| !work.is_stream())
    }

    fn on_open(&mut self) {
        (self.seen, self.data_received) = (0, false);
        self.urgent = self.work.is_some();
    }

    fn take(&mut self, seq: u64, _now: Time, content: &[u8]) {
        self.seen = self.seen.max(seq);
        (self.data_received, self.unreported) = (true, true);
        if self.status != Status::InProgress {
            return;
        }
        let taken = match messages::read_content(content) {
            Some(Content::Announce(manifest)) => {
                self.only_announced |= self.progress == 0;
                self.on_announce(manifest)
            }
            Some(Content::Symbol { block, number, bytes }) => {
                self.only_announced = false;
                match &mut self.work {
                    Some(work) => work.on_symbol(block, number, bytes, &self.tally).map(|what| {
                        self.tally.count_received(what);
                    }),
                    None => {
                        self.tally.count_received(Received::Unkept);
                        Ok(())
                    }
                }
            }
            Some(Content::Chunk { .. } | Content::Nothing) | None => Ok(()),
        };
        if let Err(error) = taken {
            self.fail(&error);
        }
        self.count(0);
    }

    fn write_message(&mut self, now: Time, message: &mut [u8; MAX_MESSAGE_BYTES]) -> usize {
        self.advance();
        self.read_blocks = now;
        if let Some(refusal) = &mut self.refusal {
            return refusal.write_rejection(now, message);
        }
        let every = self.work.as_ref().map_or(REPEAT_INTERVAL, |work| work.manifest.report_every);
        let silent = self.last_message.map_or(Duration::MAX, |at| now.saturating_since(at));
        let due = self.urgent || (self.unreported && silent >= every) || silent >= self.report_gap(every);
        if !due {
            return 0;
        }
        let Some(work) = &self.work else { return 0 };
        let complete = self.status == Status::Complete;
        let proof = complete.then(|| tree::proof(&self.binding, work.possession()));
        let report = Message::Report(work.report(self.seen, proof));
        (self.unreported, self.urgent) = (false, false);
        self.last_message = Some(now);
        report.write(message)
    }

    fn wake(&self) -> Time {
        if let Some(refusal) = &self.refusal {
            return refusal.wake();
        }
        let Some(work) = &self.work else { return Time::NEVER };
        let last_message = self.last_message.unwrap_or(Time::ZERO);
        let every = work.manifest.report_every;
        let report = last_message + if self.unreported { every } else { self.report_gap(every) };
        let behind = match work.next_step() {
            _ if self.status != Status::InProgress => Time::NEVER,
            NextStep::Never => Time::NEVER,
            NextStep::Pipe => self.read_blocks + PIPE_AGAIN,
            NextStep::Now => Time::ZERO,
        };
        if self.urgent { Time::ZERO } else { report.min(behind) }
    }

    fn progress(&self) -> Option<u64> {
        Some(self.progress)
    }

    fn pause(&self) -> Pause {
        match &self.work {
            // its own program does not read, or the file of an earlier attempt is being hashed
            Some(work) if work.next_step() != NextStep::Never => Pause::Local,
            Some(work) if work.is_stream() && work.manifest.hash.is_none() => Pause::Remote,
            Some(_) if self.only_announced => Pause::Remote,
            _ => Pause::None,
        }
    }

    fn status(&self) -> Status {
        self.refusal.as_ref().map_or_else(|| self.status.clone(), Rejection::status)
    }
}
