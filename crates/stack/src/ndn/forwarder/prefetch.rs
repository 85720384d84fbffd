//! What arriving packets need of large tables, requested from memory before they arrive.

use contract::{FaceId, Header, Interest, Name, Packet, PortId};

use memory::prefetch;

use super::Forwarder;
use crate::ndn::MANY_NAMES;

/// How long before its arrival at a forwarder what a packet needs of the tables is requested from memory: each request
/// reads what the ones before it requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ahead {
    /// The first request.
    Third,
    /// The second request.
    Second,
    /// The last request.
    Next,
}

impl Ahead {
    /// All of them for packets of one link, with the number of packets that arrive before.
    pub const ALL: [(u32, Self); 3] = [(2, Self::Third), (1, Self::Second), (0, Self::Next)];
}

impl<S, L> Forwarder<S, L> {
    /// Whether its tables are so large that what arriving packets need is to be requested by [`Forwarder::prefetch`].
    #[inline]
    pub const fn is_large(&self) -> bool {
        // one comparison, because MANY_NAMES is a power of two
        self.core.pit.size() | self.core.store.held() | self.fib.prefixes() >= MANY_NAMES
    }

    /// How many of [`Ahead::ALL`] it needs. The last is for next hops that are not in the row of their prefix.
    #[inline]
    pub fn requests(&self) -> usize {
        if self.fib.has_further_hops() { 3 } else { 2 }
    }

    /// Requests from memory what a packet that arrives over a link needs of the tables.
    pub fn prefetch(&self, packet: &Packet, ahead: Ahead) {
        let Self { fib, core, .. } = self;
        let stores = core.stores;
        match (&packet.header, ahead) {
            (&Header::Interest(Interest { name, nonce, .. }), Ahead::Third) => {
                self.prefetch_request(name);
                if core.can_loop() {
                    core.dead.prefetch(name, nonce);
                }
            }
            (&Header::Interest(Interest { name, .. }), Ahead::Second) if stores => {
                core.store.prefetch_entry(name);
            }
            (&Header::Interest(Interest { name, .. }), Ahead::Next) => fib.prefetch_hops(name.prefix),
            (Header::Data(data), Ahead::Third) => {
                core.pit.prefetch_place(data.name);
                if stores {
                    core.store.prefetch_place(data.name);
                }
            }
            (Header::Data(data), Ahead::Second) => core.pit.prefetch_entry(data.name),
            _ => {}
        }
    }

    /// Requests from memory what an Interest for a name reads first of the tables.
    pub fn prefetch_request(&self, name: Name) {
        let Self { fib, core, .. } = self;
        core.pit.prefetch_place(name);
        if fib.prefixes() >= MANY_NAMES {
            fib.prefetch_row(name.prefix);
        } else if let Some(parent) = core.names.parent_place(name.prefix) {
            // a small table has no row for most names, and the row of their parent is in the caches
            prefetch(parent, 1);
        }
        if core.stores {
            core.store.prefetch_place(name);
        }
    }

    /// Requests from memory what any packet needs beside the tables, and the next entry of the pending Interest table.
    pub fn prefetch_rest(&self) {
        self.core.faces.prefetch();
        self.core.pit.prefetch_deadlines();
        self.core.pit.prefetch_free();
    }

    /// The port on which a packet is likely to leave that arrives over a link.
    pub fn next_port(&self, packet: &Packet) -> Option<PortId> {
        let Self { fib, core, .. } = self;
        let face = match packet.header {
            Header::Interest(interest) => fib.peek(interest.name.prefix)?.face,
            Header::Data(data) => FaceId(core.pit.first_in(core.pit.find(data.name)?)?.face),
            _ => return None,
        };
        core.faces.port_of(face)
    }
}
