//! A connection of a session, its control stream, and the context in which a [`Work`](crate::session::Work) uses it.

use crate::Stats;
use bytes::BytesMut;
use quinn_proto::{Connection, ConnectionError, ConnectionHandle, Dir, SendDatagramError, StreamId};
use units::Time;

use crate::frames::{Datagram, MAX_RECORD, Malformed, Record};

/// Bytes that are allocated at once for outgoing datagrams and blocks.
const PIECE: usize = 1 << 18;

/// A connection whose handshake is in progress or complete.
pub struct Lane {
    /// Its handle.
    pub id: ConnectionHandle,
    /// Its control stream.
    pub control: ControlStream,
    /// The handshake is complete.
    pub connected: bool,
    /// The other end has said hello.
    pub greeted: bool,
    /// The secret by which the other end is recognised.
    pub caller: [u8; 32],
    /// When it was opened.
    pub began_at: Time,
    /// When something last came.
    pub heard_at: Time,
    /// Why it was lost.
    pub lost: Option<ConnectionError>,
}

impl Lane {
    /// A connection without its hello.
    pub fn new(id: ConnectionHandle, now: Time) -> Self {
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
pub struct ControlStream {
    id: Option<StreamId>,
    /// Received, and not yet read.
    inbound: Vec<u8>,
    /// Written, and not yet taken by quinn.
    outbound: Vec<u8>,
}

impl ControlStream {
    /// Opens the stream at the client, or takes it at the server.
    pub fn open(&mut self, connection: &mut Connection) {
        if self.id.is_none() {
            self.id = match connection.side().is_client() {
                true => connection.streams().open(Dir::Bi),
                false => connection.streams().accept(Dir::Bi),
            };
        }
    }

    /// Appends a record.
    pub fn say(&mut self, record: &Record) {
        record.write(&mut self.outbound);
    }

    /// Gives quinn what has been said, and takes what has come.
    pub fn exchange(&mut self, connection: &mut Connection) {
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
    ///
    /// # Errors
    ///
    /// What came is no record.
    pub fn next_record(&mut self) -> Result<Option<Record>, Malformed> {
        let Some((record, length)) = Record::read(&self.inbound)? else { return Ok(None) };
        self.inbound.drain(..length);
        Ok(Some(record))
    }
}

/// A value that only the two ends of this connection know [RFC8446 §7.5]. Its handshake is complete.
pub fn binding(connection: &Connection) -> [u8; 32] {
    let mut binding = [0; 32];
    let exported = connection.crypto_session().export_keying_material(&mut binding, b"EXPORTER-thalweg", b"");
    exported.expect("the handshake is complete, and 32 bytes are not too many");
    binding
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

    /// As [`binding`].
    pub(crate) fn binding(&self) -> [u8; 32] {
        binding(self.connection)
    }
}
