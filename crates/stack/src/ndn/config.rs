//! Settings of forwarders, producers and consumers.

use contract::NameId;
use units::{Bytes, Duration, Rate};

/// Settings of one forwarder.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// What it keeps of the Data that pass.
    pub store: Store,
    /// How many nonces of ended Interests it remembers, to know a loop that is longer than an Interest stays pending. Our choice: about a
    /// second of a busy link; the specification leaves it to the forwarder.
    pub dead_nonces: u32,
    /// Size of an Interest on the wire, for those that the forwarder makes itself.
    pub interest: Bytes,
    /// What its parts reckon as the size of a Data packet on the wire.
    pub data: Bytes,
}

impl Default for Config {
    fn default() -> Self {
        Self { store: Store::default(), dead_nonces: 4096, interest: INTEREST, data: Bytes::new(1100) }
    }
}

/// A content store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Store {
    /// What goes when it is full.
    pub policy: Policy,
    /// How many Data packets it holds.
    pub size: u32,
}

/// What a full content store forgets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Policy {
    /// There is no store.
    #[default]
    None,
    /// What was asked for least recently.
    Lru,
    /// What came first.
    Fifo,
}

/// Settings of one producer.
#[derive(Clone, Debug, PartialEq)]
pub struct ProducerConfig {
    /// What it serves: this prefix and those below.
    pub prefix: NameId,
    /// Payload of a Data packet.
    pub payload: Bytes,
    /// Size of a Data packet on the wire.
    pub data: Bytes,
    /// Time from an Interest to its Data. Interests do not wait for each other.
    pub delay: Duration,
}

/// Settings of one consumer.
#[derive(Clone, Debug, PartialEq)]
pub struct ConsumerConfig {
    /// What it asks for: segments of this prefix.
    pub prefix: NameId,
    /// Size of an Interest on the wire.
    pub interest: Bytes,
    /// Size of the Data packets that it expects, on the wire.
    pub data: Bytes,
    /// Their payload.
    pub payload: Bytes,
    /// How long an Interest stays pending.
    pub lifetime: Duration,
    /// Without a congestion law: the rate at which it asks, as the rate of the Data on the wire.
    pub rate: Rate,
}

impl ConsumerConfig {
    /// A consumer of Data with `payload` bytes each, with the usual sizes and lifetime.
    pub const fn new(prefix: NameId, payload: Bytes, rate: Rate) -> Self {
        let data = Bytes::new(payload.as_u64() + OVERHEAD.as_u64());
        Self { prefix, interest: INTEREST, data, payload, lifetime: Duration::from_secs(2), rate }
    }
}

/// Our choice: a short name, nonce, lifetime and link header.
pub const INTEREST: Bytes = Bytes::new(50);
/// What a Data packet adds to its payload. Our choice: name, signature and link header, as ndnSIM's Data has them.
pub const OVERHEAD: Bytes = Bytes::new(76);
