//! What the copies of an entry have in common: the transport, and the keys of its state machines.

use sim::Cast;
use units::Bytes;

use super::Trace;
use crate::schema::file::Flow;
use crate::schema::read::{At, Notes};

/// What all copies of an entry have in common.
pub(super) struct Model<'a> {
    pub(super) name: &'a At<String>,
    pub(super) transport: Transport,
    pub(super) cast: Cast,
    /// Size on the wire of its data packets.
    pub(super) packet: Bytes,
    /// The flow's table, without name, endpoints and times.
    pub(super) table: Flow,
    /// The frames that it carries, where a file lists them.
    pub(super) trace: Option<(String, Trace)>,
}

/// Which state machines a flow has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Transport {
    Tcp,
    Stream,
    Datagram,
    Ndn,
    /// A transport stack that is not ours.
    Stack,
}

/// The keys of a flow that its state machines take: scheme, parameters, sizes, settings.
pub(super) struct Machine {
    pub(super) table: Flow,
    pub(super) transport: Transport,
    pub(super) packet: Bytes,
    pub(super) trace: Option<(String, Trace)>,
}

impl Machine {
    pub(super) fn new(transport: Transport, table: Flow) -> Self {
        let packet = table.packet.or(Bytes::ZERO);
        Self { table, transport, packet, trace: None }
    }
}

/// Notes keys that do not go with the machine.
pub(super) fn reject_keys(table: &Flow, keys: &[&str], of: &str, notes: &mut Notes) {
    for (key, location) in table.written() {
        if keys.contains(&key) {
            let hint = match key {
                "size" if of.ends_with("stream") => {
                    "a stream has no end; a download of a given size runs over TCP: scheme = \"cubic\""
                }
                "tcp" if of.starts_with("stack") && !table.stack.is_missing() => {
                    "flow control of QUIC is quic = { receive_window = \"10 MB\" }; other settings of the stack are its own"
                }
                _ => "leave it out",
            };
            notes.wrong(location, format!("`{key}` does not go with {of}")).hint(hint);
        }
    }
}
