//! An object on a unidirectional QUIC stream: its number in four bytes, and the bytes of its source.

use bytes::Bytes;
use quinn_proto::{Connection, Dir, StreamId};

use transfer::{ByteSink, ByteSource};

use crate::connection::SessionContext;

/// Maximum bytes per read from a source.
const PIECE: usize = 1 << 16;
/// Bytes that are written or read in one turn.
const TURN: u64 = 4 << 20;

/// The sending side of an object's stream.
#[derive(Debug)]
pub(crate) struct SendStream {
    head: [u8; 4],
    /// Bytes of the head that quinn has accepted.
    headed: usize,
    id: Option<StreamId>,
    /// Read from the source, and not yet accepted by quinn.
    waiting: Bytes,
    /// Bytes of the source that quinn has accepted.
    written: u64,
    blocked: bool,
}

impl SendStream {
    pub(crate) const fn new(object: u32) -> Self {
        let head = object.to_be_bytes();
        Self { head, headed: 0, id: None, waiting: Bytes::new(), written: 0, blocked: false }
    }

    /// Whether flow control or the send buffer blocks the stream until a packet arrives.
    pub(crate) const fn is_blocked(&self) -> bool {
        self.blocked
    }

    /// Writes to the stream what the source has and quinn accepts.
    pub(crate) fn write(&mut self, source: &mut dyn ByteSource, context: &mut SessionContext<'_>) {
        self.blocked = true;
        let Some(id) = self.stream(context.connection) else { return };
        while self.headed < self.head.len() {
            let Ok(taken) = context.connection.send_stream(id).write(&self.head[self.headed..]) else {
                return;
            };
            self.headed += taken;
        }
        let until = self.written + TURN;
        while self.written < until {
            if self.waiting.is_empty() && !self.read(source, context) {
                self.blocked = false;
                return;
            }
            let pieces = std::slice::from_mut(&mut self.waiting);
            let Ok(taken) = context.connection.send_stream(id).write_chunks(pieces) else { return };
            if taken.chunks > 0 {
                self.waiting = Bytes::new();
            }
            self.written += taken.bytes as u64;
            context.stats.content += taken.bytes as u64;
            source.on_accepted(self.written);
        }
        self.blocked = false;
    }

    /// Reads the next bytes of the source. Returns false if none are ready.
    fn read(&mut self, source: &mut dyn ByteSource, context: &mut SessionContext<'_>) -> bool {
        let ready = source.ready(context.now).saturating_sub(self.written);
        let length = usize::try_from(ready).map_or(PIECE, |ready| ready.min(PIECE));
        if length == 0 {
            return false;
        }
        let buffer = context.pool.buffer(length);
        buffer.resize(length, 0);
        source.read(self.written, buffer);
        self.waiting = context.pool.take();
        true
    }

    fn stream(&mut self, connection: &mut Connection) -> Option<StreamId> {
        if self.id.is_none() {
            self.id = connection.streams().open(Dir::Uni);
        }
        self.id
    }

    /// Finishes the stream, or resets it if the other end stopped it: either tells the other end its final size,
    /// without which that end never gives credit for another stream [RFC9000 §3.2, §4.6].
    pub(crate) fn finish(&mut self, context: &mut SessionContext<'_>) {
        if let Some(id) = self.id.take() {
            let mut stream = context.connection.send_stream(id);
            if stream.finish().is_err() {
                let _ = stream.reset(0u32.into());
            }
        }
    }
}

/// The receiving side of an object's stream.
#[derive(Debug)]
pub(crate) struct ReceiveStream {
    id: StreamId,
    head: Vec<u8>,
    /// Read from quinn, and not yet accepted by the sink.
    waiting: Bytes,
    /// Bytes that the sink has accepted.
    taken: u64,
    /// The sink accepts no more now.
    pub(crate) full: bool,
}

impl ReceiveStream {
    /// The next stream of the sender, if it has opened one.
    pub(crate) fn accept(connection: &mut Connection) -> Option<Self> {
        let id = connection.streams().accept(Dir::Uni)?;
        Some(Self { id, head: Vec::new(), waiting: Bytes::new(), taken: 0, full: false })
    }

    /// Passes what has arrived of this object to the sink. Returns false for the stream of another object, which is
    /// stopped (STOP_SENDING).
    pub(crate) fn read(
        &mut self,
        object: u32,
        sink: &mut dyn ByteSink,
        context: &mut SessionContext<'_>,
    ) -> bool {
        self.full = !self.flush(sink, context);
        let mut stream = context.connection.recv_stream(self.id);
        let Ok(mut chunks) = stream.read(true) else { return true };
        let mut wrong = false;
        let until = self.taken + TURN;
        while !self.full && !wrong && self.taken < until {
            let head = 4 - self.head.len();
            let Ok(Some(chunk)) = chunks.next(if head > 0 { head } else { usize::MAX }) else { break };
            if head > 0 {
                self.head.extend_from_slice(&chunk.bytes);
                wrong = self.head.len() == 4 && self.head[..] != object.to_be_bytes();
                continue;
            }
            self.waiting = chunk.bytes;
            self.full = !Self::store(&mut self.waiting, &mut self.taken, sink, context.now);
        }
        // the connection transmits after this anyway
        let _ = chunks.finalize();
        if wrong {
            self.stop(context);
        }
        !wrong
    }

    /// Ends the stream on this side. All that is wanted of its object has been read, but perhaps not its end, so that
    /// it would count among the streams that the sender may have open [RFC9000 §4.6].
    pub(crate) fn stop(&self, context: &mut SessionContext<'_>) {
        let _ = context.connection.recv_stream(self.id).stop(0u32.into());
    }

    fn flush(&mut self, sink: &mut dyn ByteSink, context: &SessionContext<'_>) -> bool {
        Self::store(&mut self.waiting, &mut self.taken, sink, context.now)
    }

    /// Passes waiting bytes to the sink. Returns false if it does not accept them now.
    fn store(waiting: &mut Bytes, taken: &mut u64, sink: &mut dyn ByteSink, now: units::Time) -> bool {
        if waiting.is_empty() {
            return true;
        }
        if !sink.write(*taken, waiting) {
            return false;
        }
        *taken += waiting.len() as u64;
        *waiting = Bytes::new();
        sink.on_contiguous(*taken, now);
        true
    }

    /// Bytes that the sink has accepted.
    pub(crate) const fn taken(&self) -> u64 {
        self.taken
    }
}
