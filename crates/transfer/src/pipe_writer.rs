//! Output to a program that may block: a thread writes, and the session never waits.

use std::io::{ErrorKind, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, OnceLock};

use super::TransferError;

/// The writer to a program.
#[derive(Debug)]
pub(crate) struct PipeWriter {
    to: SyncSender<Vec<u8>>,
    /// Maximum number of waiting pieces.
    max: usize,
    state: Arc<State>,
}

#[derive(Debug, Default)]
struct State {
    waiting: AtomicUsize,
    /// The error that ended it.
    failed: OnceLock<String>,
}

impl PipeWriter {
    /// A thread that writes to `pipe`, and ends when this is dropped. Up to `max` pieces may wait.
    pub(crate) fn new(mut pipe: Box<dyn Write + Send>, max: usize) -> Self {
        let (to, from) = sync_channel::<Vec<u8>>(max);
        let state = Arc::new(State::default());
        let observed = Arc::clone(&state);
        std::thread::spawn(move || {
            while let Ok(bytes) = from.recv() {
                if let Err(error) = pipe.write_all(&bytes).and_then(|()| pipe.flush()) {
                    let _ = observed.failed.set(match error.kind() {
                        ErrorKind::BrokenPipe => "the program that takes the output has ended".to_owned(),
                        _ => format!("the output could not be written: {error}"),
                    });
                    return;
                }
                observed.waiting.fetch_sub(1, Ordering::Release);
            }
        });
        Self { to, max, state }
    }

    fn check(&self) -> Result<(), TransferError> {
        match self.state.failed.get() {
            None => Ok(()),
            Some(why) => Err(TransferError::Refused(why.clone())),
        }
    }

    /// Whether there is room for another piece.
    ///
    /// # Errors
    /// The program has ended.
    pub(crate) fn has_room(&self) -> Result<bool, TransferError> {
        self.check()?;
        Ok(self.state.waiting.load(Ordering::Acquire) < self.max)
    }

    /// Whether the queue is full.
    pub(crate) fn is_full(&self) -> bool {
        self.state.waiting.load(Ordering::Acquire) >= self.max
    }

    /// Queues a piece, for which there must be room.
    pub(crate) fn give(&mut self, bytes: Vec<u8>) {
        self.state.waiting.fetch_add(1, Ordering::AcqRel);
        // if the thread has ended, the next call reports the error
        let _ = self.to.try_send(bytes);
    }

    /// Whether all was written.
    ///
    /// # Errors
    /// The program has ended.
    pub(crate) fn is_done(&self) -> Result<bool, TransferError> {
        self.check()?;
        Ok(self.state.waiting.load(Ordering::Acquire) == 0)
    }
}
