//! Output to a program that may block: a thread writes, and the session never waits.

use std::io::{ErrorKind, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, OnceLock};

use super::TransferError;

/// A way out.
#[derive(Debug)]
pub(crate) struct PipeWriter {
    to: SyncSender<Vec<u8>>,
    /// Pieces that may wait.
    max: usize,
    state: Arc<State>,
}

#[derive(Debug, Default)]
struct State {
    waiting: AtomicUsize,
    /// Why nothing more is written.
    failed: OnceLock<String>,
}

impl PipeWriter {
    /// A thread that writes to `pipe`, and ends when this is dropped. Up to `max` pieces may wait.
    pub(crate) fn new(mut pipe: Box<dyn Write + Send>, max: usize) -> Self {
        let (to, from) = sync_channel::<Vec<u8>>(max);
        let state = Arc::new(State::default());
        let told = Arc::clone(&state);
        std::thread::spawn(move || {
            while let Ok(bytes) = from.recv() {
                if let Err(error) = pipe.write_all(&bytes).and_then(|()| pipe.flush()) {
                    let _ = told.failed.set(match error.kind() {
                        ErrorKind::BrokenPipe => "the program that takes the output has ended".to_owned(),
                        _ => format!("the output could not be written: {error}"),
                    });
                    return;
                }
                told.waiting.fetch_sub(1, Ordering::Release);
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

    /// Whether it takes one piece more at once.
    ///
    /// # Errors
    /// The program has gone.
    pub(crate) fn has_room(&self) -> Result<bool, TransferError> {
        self.check()?;
        Ok(self.state.waiting.load(Ordering::Acquire) < self.max)
    }

    /// Whether the program takes nothing now.
    pub(crate) fn is_full(&self) -> bool {
        self.state.waiting.load(Ordering::Acquire) >= self.max
    }

    /// Gives a piece, for which there is room.
    pub(crate) fn give(&mut self, bytes: Vec<u8>) {
        self.state.waiting.fetch_add(1, Ordering::AcqRel);
        // who does not listen any more has failed, which is found next time
        let _ = self.to.try_send(bytes);
    }

    /// Whether all was written.
    ///
    /// # Errors
    /// The program has gone.
    pub(crate) fn is_done(&self) -> Result<bool, TransferError> {
        self.check()?;
        Ok(self.state.waiting.load(Ordering::Acquire) == 0)
    }
}
