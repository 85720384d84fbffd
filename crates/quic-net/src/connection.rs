//! A connection of a session, its control stream, and the context in which an
//! [`Application`](crate::session::Application) uses it.

use crate::Stats;
use bytes::BytesMut;
use quinn_proto::{Connection, ConnectionError, ConnectionHandle, Dir, SendDatagramError, StreamId};
use units::Time;

use crate::frames::{Datagram, MAX_RECORD, Malformed, Record};

/// Bytes per allocation for outgoing datagrams and blocks.
const ALLOCATION: usize = 1 << 18;

/// The state of a connection whose handshake is in progress or complete.
pub struct ConnectionState {
    /// Its handle.
    pub id: ConnectionHandle,
    /// Its control stream.
    pub control: ControlStream,
    /// The handshake is complete.
    pub connected: bool,
    /// The hello of the peer has been received.
    pub hello_received: bool,
    /// The secret by which a client is recognised.
    pub client_secret: [u8; 32],
    /// When it was opened.
    pub started_at: Time,
    /// When a datagram last arrived.
    pub received_at: Time,
    /// Why it was lost.
    pub lost: Option<ConnectionError>,
}

impl ConnectionState {
    /// A new connection.
    pub fn new(id: ConnectionHandle, now: Time) -> Self {
        Self {
            id,
            control: ControlStream::default(),
            connected: false,
            hello_received: false,
            client_secret: [0; 32],
            started_at: now,
            received_at: now,
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
    /// Encoded, and not yet accepted by quinn.
    outbound: Vec<u8>,
}

impl ControlStream {
    /// Opens the stream at the client, or accepts it at the server.
    pub fn open(&mut self, connection: &mut Connection) {
        if self.id.is_none() {
            self.id = match connection.side().is_client() {
                true => connection.streams().open(Dir::Bi),
                false => connection.streams().accept(Dir::Bi),
            };
        }
    }

    /// Appends a record.
    pub fn send_record(&mut self, record: &Record) {
        record.write(&mut self.outbound);
    }

    /// Writes pending records to the stream, and reads what has arrived.
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
    /// The received bytes are not a record.
    pub fn next_record(&mut self) -> Result<Option<Record>, Malformed> {
        let Some((record, length)) = Record::read(&self.inbound)? else { return Ok(None) };
        self.inbound.drain(..length);
        Ok(Some(record))
    }
}

/// The channel binding of a connection whose handshake is complete: a value that only its two ends know [RFC8446 §7.5].
pub fn binding(connection: &Connection) -> [u8; 32] {
    let mut binding = [0; 32];
    let result = connection.crypto_session().export_keying_material(&mut binding, b"EXPORTER-thalweg", b"");
    result.expect("the handshake is complete, and 32 bytes are not too many");
    binding
}

/// What an application may use in a session: its connection and the counters.
pub(crate) struct SessionContext<'a> {
    pub(crate) connection: &'a mut Connection,
    pub(crate) control: &'a mut ControlStream,
    pub(crate) pool: &'a mut Pool,
    pub(crate) stats: &'a mut Stats,
    pub(crate) now: Time,
}

/// Buffers of which quinn gets slices: one allocation for many datagrams.
#[derive(Debug, Default)]
pub(crate) struct Pool(BytesMut);

impl Pool {
    /// An empty buffer with a capacity of at least this many bytes.
    pub(crate) fn buffer(&mut self, bytes: usize) -> &mut BytesMut {
        if self.0.capacity() < bytes {
            self.0.reserve(ALLOCATION.max(bytes));
        }
        &mut self.0
    }

    /// The bytes that were written to the buffer.
    pub(crate) fn take(&mut self) -> bytes::Bytes {
        self.0.split().freeze()
    }
}

impl SessionContext<'_> {
    /// Sends a record on the control stream.
    pub(crate) fn send_record(&mut self, record: &Record) {
        self.control.send_record(record);
    }

    /// Sends a DATAGRAM frame.
    ///
    /// # Errors
    ///
    /// It is too large for the path, or the send buffer is full.
    pub(crate) fn send_datagram(&mut self, datagram: &Datagram<'_>) -> Result<(), SendDatagramError> {
        let buffer = self.pool.buffer(1 << 16);
        buffer.clear();
        if !datagram.write(buffer) {
            buffer.clear();
            return Err(SendDatagramError::TooLarge);
        }
        let bytes = self.pool.take();
        self.connection.datagrams().send(bytes, false)
    }

    /// Bytes of the headers of IP and UDP.
    pub(crate) fn outer_bytes(&self) -> u32 {
        u32::from(crate::transport::OUTER[usize::from(self.connection.remote_address().is_ipv6())])
    }

    /// The binding of this connection, see [`binding`].
    pub(crate) fn binding(&self) -> [u8; 32] {
        binding(self.connection)
    }
}
