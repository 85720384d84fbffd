//! Settings of forwarders, producers and consumers.

use contract::NameId;
use units::{Bytes, Duration, Rate};

/// Settings of one forwarder.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// What it keeps of the Data that pass.
    pub store: Store,
    /// How many nonces of ended Interests it has room for, to know a loop that is longer than an Interest stays pending; at least half as
    /// many are remembered. Our choice: about a second of a busy link; the specification leaves it to the forwarder.
    pub dead_nonces: u32,
    /// Size of an Interest on the wire, where a consumer does not say otherwise.
    pub interest: Bytes,
    /// What its parts assume as the size of a Data packet on the wire.
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
    /// Size of the Data packets that it expects, on the wire. Windows and rates of its law are counted in such packets.
    pub data: Bytes,
    /// Their payload.
    pub payload: Bytes,
    /// How long an Interest stays pending.
    pub lifetime: Duration,
    /// Without a congestion law: the rate at which it asks, as the rate of the Data on the wire.
    pub rate: Rate,
    /// Without a congestion law: whether the gaps between its Interests are all alike.
    pub gaps: Gaps,
    /// Which segments it asks for, and when.
    pub pattern: Pattern,
    /// How much payload it asks for, then done; unlimited where it never ends.
    pub size: Bytes,
    /// With a window law: the initial window, in Data packets.
    pub initial_window: u32,
    /// Its clock ticks so often: Interests wait for the next tick and leave back to back. Zero for a clock that is exact.
    pub tick: Duration,
    /// The clock ticks so long after each multiple of `tick`; less than `tick`.
    pub tick_phase: Duration,
    /// Its node lets Interests go a random time of up to so long later, even between zero and this; what is generated meanwhile leaves with
    /// them. Zero for none.
    pub jitter: Duration,
    /// It understands marks. Otherwise its packets say so, and are not marked.
    pub marks: bool,
    /// How many windows of Data an episode lasts, in which congestion events count as one: 1 for conservative window adaptation, 0
    /// where every event is an episode of its own.
    pub episode: f64,
    /// What belongs to an episode.
    pub episode_check: EpisodeCheck,
    /// How often a segment is asked for again before it is given up; [`u32::MAX`] for no limit. With 0 there are no timeouts either: what
    /// has not come when its lifetime is over is given up.
    pub retries: u32,
    /// Its retransmission timeout.
    pub timeout: Timeout,
}

/// What has to lie beyond the recovery point of the last cut, so that a congestion event begins another episode and may cut again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EpisodeCheck {
    /// The segment that was lost or refused; for a mark the highest segment whose Data has come. The recovery point is the highest segment
    /// asked for before the cut, so that its losses, however late they are noticed, and those of retransmissions belong to the episode
    /// [ndn-tools 22.12: catchunks].
    Segment,
    /// The highest segment whose Data has come, whatever was lost. The recovery point is the next segment to be asked for. A loss that
    /// is noticed after the first new Data cuts again [ndnSIM 2.8: ndn-consumer-pcon; ndn-tools until 22.02].
    Highest,
}

/// When a consumer retransmits.
///
/// The timeout is k·max(`min`, srtt + 4·var), at most `max`; k doubles with every segment that expires and is 1 again after a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeout {
    /// Before the first sample.
    pub initial: Duration,
    /// Minimum timeout.
    pub min: Duration,
    /// Maximum timeout.
    pub max: Duration,
    /// Maximum factor k.
    pub backoff: u32,
    /// Timers are looked at on multiples of this; zero where they expire to the nanosecond.
    pub scan: Duration,
}

impl Timeout {
    /// As ndnSIM's consumers have it [ndnSIM 2.8: ndn-consumer, ndn-rtt-estimator].
    pub const DEFAULT: Self = Self {
        initial: Duration::from_secs(1),
        min: Duration::from_millis(200),
        max: Duration::from_secs(200),
        backoff: 64,
        scan: Duration::from_millis(50),
    };
}

/// Which segments a consumer asks for, and when its law permits any.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pattern {
    /// 0, 1, 2 and so on.
    Sequential,
    /// The same, but they are wanted in batches, the first at the start.
    Batches {
        /// Segments in a batch.
        size: u32,
        /// Time from one to the next.
        every: Duration,
    },
    /// Whole contents of a catalogue, one after the other, each drawn by its popularity: p(i) ∝ 1/(i + `shift`)^`exponent` for
    /// i = 1, 2 … `contents` (Zipf–Mandelbrot). Segment j of content i is segment (i − 1)·`segments` + j of the prefix.
    Zipf {
        /// Contents of the catalogue.
        contents: u32,
        /// Segments of each of them.
        segments: u32,
        /// How steeply popularity falls.
        exponent: f64,
        /// How flat it is at the top.
        shift: f64,
    },
}

/// Gaps between the Interests of a consumer without a congestion law.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gaps {
    /// All alike.
    Even,
    /// Exponential.
    Exponential,
}

impl ConsumerConfig {
    /// A consumer of Data with `payload` bytes each, with the usual sizes and lifetime, that asks for one segment after the other without
    /// an end, each once, at a constant `rate` of Data on the wire.
    pub const fn new(prefix: NameId, payload: Bytes, rate: Rate) -> Self {
        let data = Bytes::new(payload.as_u64() + OVERHEAD.as_u64());
        Self {
            prefix,
            interest: INTEREST,
            data,
            payload,
            lifetime: Duration::from_secs(2),
            rate,
            gaps: Gaps::Even,
            pattern: Pattern::Sequential,
            size: Bytes::UNLIMITED,
            initial_window: 1,
            tick: Duration::ZERO,
            tick_phase: Duration::ZERO,
            jitter: Duration::ZERO,
            marks: true,
            episode: 1.0,
            episode_check: EpisodeCheck::Segment,
            retries: 0,
            timeout: Timeout::DEFAULT,
        }
    }

    /// The same, under a congestion law, and what is lost is asked for again until it comes.
    pub const fn with_law(prefix: NameId, payload: Bytes) -> Self {
        Self { retries: u32::MAX, ..Self::new(prefix, payload, Rate::ZERO) }
    }
}

/// Our choice: a short name, nonce, lifetime and link header.
pub const INTEREST: Bytes = Bytes::new(50);
/// What a Data packet adds to its payload. Our choice: name, signature and link header, as ndnSIM's Data has them.
pub const OVERHEAD: Bytes = Bytes::new(76);
