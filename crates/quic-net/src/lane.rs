//! A connection of a session, its control stream, and the context in which a [`Work`](crate::session::Work) uses it.

use bytes::BytesMut;
use live::Stats;
use quinn_proto::{Connection, ConnectionError, ConnectionHandle, Dir, SendDatagramError, StreamId};
use units::Time;

use crate::frames::{Datagram, MAX_RECORD, Malformed, Record};

/// Bytes that are allocated at once for outgoing datagrams and blocks.
const PIECE: usize = 1 << 18;

/// A connection whose handshake is in progress or complete.
pub(crate) struct Lane {
    pub(crate) id: ConnectionHandle,
    pub(crate) control: ControlStream,
    /// The handshake is complete.
    pub(crate) connected: bool,
    /// The other end has said hello.
    pub(crate) greeted: bool,
    /// The secret by which the other end is recognised.
    pub(crate) caller: [u8; 32],
    pub(crate) began_at: Time,
    pub(crate) heard_at: Time,
    pub(crate) lost: Option<ConnectionError>,
}

impl Lane {
    pub(crate) fn new(id: ConnectionHandle, now: Time) -> Self {
        Self {
            id,
            control: ControlStream::default(),
            connected: false,
            greeted: false,
            caller: [0; 32],
            began_at: now,
            heard_at: now,
            lost: None,
        }
    }
}

/// The control stream of a connection: the first bidirectional stream of the client.
#[derive(Default)]
pub(crate) struct ControlStream {
    id: Option<StreamId>,
    /// Received, and not yet read.
    inbound: Vec<u8>,
    /// Written, and not yet taken by quinn.
    outbound: Vec<u8>,
}

impl ControlStream {
    /// Opens the stream at the client, or takes it at the server.
    pub(crate) fn open(&mut self, connection: &mut Connection) {
        if self.id.is_none() {
            self.id = match connection.side().is_client() {
                true => connection.streams().open(Dir::Bi),
                false => connection.streams().accept(Dir::Bi),
            };
        }
    }

    /// Appends a record.
    pub(crate) fn say(&mut self, record: &Record) {
        record.write(&mut self.outbound);
    }

    /// Gives quinn what has been said, and takes what has come.
    pub(crate) fn exchange(&mut self, connection: &mut Connection) {
        self.open(connection);
        let Some(id) = self.id else { return };
        while !self.outbound.is_empty() {
            let Ok(written) = connection.send_stream(id).write(&self.outbound) else { break };
            self.outbound.drain(..written);
        }
        let mut stream = connection.recv_stream(id);
        let Ok(mut chunks) = stream.read(true) else { return };
        while self.inbound.len() <= MAX_RECORD + 3 {
            let Ok(Some(chunk)) = chunks.next(MAX_RECORD) else { break };
            self.inbound.extend_from_slice(&chunk.bytes);
        }
        // the connection transmits after this anyway
        let _ = chunks.finalize();
    }

    /// The next complete record.
    pub(crate) fn next(&mut self) -> Result<Option<Record>, Malformed> {
        let Some((record, length)) = Record::read(&self.inbound)? else { return Ok(None) };
        self.inbound.drain(..length);
        Ok(Some(record))
    }
}

/// The context of a work in a session: its connection.
pub(crate) struct Link<'a> {
    pub(crate) connection: &'a mut Connection,
    pub(crate) control: &'a mut ControlStream,
    pub(crate) pool: &'a mut Pool,
    pub(crate) stats: &'a mut Stats,
    pub(crate) now: Time,
}

/// Buffers that quinn gets parts of: one allocation for many datagrams.
#[derive(Debug, Default)]
pub(crate) struct Pool(BytesMut);

impl Pool {
    /// A buffer that is empty and has room for this many bytes.
    pub(crate) fn room(&mut self, bytes: usize) -> &mut BytesMut {
        if self.0.capacity() < bytes {
            self.0.reserve(PIECE.max(bytes));
        }
        &mut self.0
    }

    /// What was written to the buffer.
    pub(crate) fn take(&mut self) -> bytes::Bytes {
        self.0.split().freeze()
    }
}

impl Link<'_> {
    /// Says something reliably.
    pub(crate) fn say(&mut self, record: &Record) {
        self.control.say(record);
    }

    /// Sends a DATAGRAM frame.
    ///
    /// # Errors
    ///
    /// The path does not carry it, or too many wait.
    pub(crate) fn send(&mut self, datagram: &Datagram<'_>) -> Result<(), SendDatagramError> {
        let room = self.pool.room(1 << 16);
        room.clear();
        if !datagram.write(room) {
            room.clear();
            return Err(SendDatagramError::TooLarge);
        }
        let bytes = self.pool.take();
        self.connection.datagrams().send(bytes, false)
    }

    /// Bytes of the headers of IP and UDP.
    pub(crate) fn outer_bytes(&self) -> u32 {
        u32::from(crate::transport::OUTER[usize::from(self.connection.remote_address().is_ipv6())])
    }

    /// A value that only the two ends of this connection know [RFC8446 §7.5].
    pub(crate) fn binding(&self) -> [u8; 32] {
        let mut binding = [0; 32];
        let exported =
            self.connection.crypto_session().export_keying_material(&mut binding, b"EXPORTER-thalweg", b"");
        exported.expect("the handshake is complete, and 32 bytes are not too many");
        binding
    }
}
