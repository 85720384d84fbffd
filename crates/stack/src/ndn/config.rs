//! Settings of forwarders, producers and consumers.

use contract::NameId;
use units::{Bytes, Duration, Rate};

/// Settings of one forwarder.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// Its content store.
    pub store: Store,
    /// Capacity of the dead nonce list, which detects loops that last longer than an Interest is pending; at least half
    /// of it is used. The default is our choice, about one second of a busy link; the specification leaves it to the
    /// forwarder.
    pub dead_nonces: u32,
    /// Default size of an Interest on the wire.
    pub interest: Bytes,
    /// Size of a Data packet on the wire that its parts assume.
    pub data: Bytes,
}

impl Default for Config {
    fn default() -> Self {
        Self { store: Store::default(), dead_nonces: 4096, interest: INTEREST, data: Bytes::new(1100) }
    }
}

/// Settings of a content store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Store {
    /// Replacement policy.
    pub policy: Policy,
    /// Capacity in Data packets.
    pub size: u32,
}

/// Replacement policy of a content store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Policy {
    /// No store.
    #[default]
    None,
    /// Removes the least recently used Data.
    Lru,
    /// Removes the oldest Data.
    Fifo,
}

/// Settings of one producer.
#[derive(Clone, Debug, PartialEq)]
pub struct ProducerConfig {
    /// The prefix that it serves, with all names below.
    pub prefix: NameId,
    /// Payload of a Data packet.
    pub payload: Bytes,
    /// Size of a Data packet on the wire.
    pub data: Bytes,
    /// Time from an Interest to its Data. Interests are processed in parallel.
    pub delay: Duration,
}

/// Settings of one consumer.
#[derive(Clone, Debug, PartialEq)]
pub struct ConsumerConfig {
    /// The prefix whose segments it requests.
    pub prefix: NameId,
    /// Size of an Interest on the wire.
    pub interest: Bytes,
    /// Size of a Data packet on the wire. Windows and rates of the controller are counted in such packets.
    pub data: Bytes,
    /// Payload of a Data packet.
    pub payload: Bytes,
    /// Lifetime of an Interest.
    pub lifetime: Duration,
    /// Without a congestion controller: the rate of requests, given as the rate of Data on the wire.
    pub rate: Rate,
    /// Without a congestion controller: the distribution of the gaps between Interests.
    pub gaps: Gaps,
    /// Which segments are requested, and when.
    pub pattern: Pattern,
    /// How much payload is requested in all; [`Bytes::UNLIMITED`] for no end.
    pub size: Bytes,
    /// Initial window of a window-based controller, in Data packets.
    pub initial_window: u32,
    /// Tick of a coarse clock: Interests wait for the next tick and leave back to back. Zero for an exact clock.
    pub tick: Duration,
    /// Offset of the ticks from multiples of `tick`, below `tick`.
    pub tick_phase: Duration,
    /// Maximum of a random delay, uniform from zero, before an Interest leaves. Interests that are generated meanwhile
    /// leave with it. Zero for none.
    pub jitter: Duration,
    /// Whether it is ECN-capable. Otherwise its packets are not marked.
    pub marks: bool,
    /// Length of an episode in windows of Data. Congestion events in one episode count as one: 1 for conservative
    /// window adaptation, 0 if every event is an episode.
    pub episode: f64,
    /// How an event is assigned to an episode.
    pub episode_check: EpisodeCheck,
    /// Number of retransmissions of a segment before it is given up; [`u32::MAX`] for no limit. With 0 there is no
    /// retransmission timeout: a segment is given up when its Interest expires.
    pub retries: u32,
    /// Its retransmission timeout.
    pub timeout: Timeout,
}

/// Which segment must be above the recovery point of the last reduction for a congestion event to begin another
/// episode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EpisodeCheck {
    /// The segment that was lost or refused; for a mark, the highest segment whose Data arrived. The recovery point is
    /// the highest segment requested before the reduction. Its losses and the losses of retransmissions belong to the
    /// episode, however late they are detected [ndn-tools 22.12: catchunks].
    Segment,
    /// The highest segment whose Data arrived, whichever was lost. The recovery point is the next segment to be
    /// requested. A loss that is detected after the first new Data causes another reduction
    /// [ndnSIM 2.8: ndn-consumer-pcon; ndn-tools until 22.02].
    Highest,
}

/// The retransmission timeout of a consumer.
///
/// The timeout is k·max(`min`, srtt + 4·var), at most `max`. k doubles with every segment that expires and is reset to
/// 1 by a sample.
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
    /// Timers are checked at multiples of this; zero if they expire exactly.
    pub scan: Duration,
}

impl Timeout {
    /// The values of ndnSIM's consumers [ndnSIM 2.8: ndn-consumer, ndn-rtt-estimator].
    pub const DEFAULT: Self = Self {
        initial: Duration::from_secs(1),
        min: Duration::from_millis(200),
        max: Duration::from_secs(200),
        backoff: 64,
        scan: Duration::from_millis(50),
    };
}

/// Which segments a consumer requests, and when they become available to its controller.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pattern {
    /// Segments 0, 1, 2 and so on.
    Sequential,
    /// Segments 0, 1, 2 and so on in batches, the first at the start.
    Batches {
        /// Segments per batch.
        size: u32,
        /// Time between two batches.
        every: Duration,
    },
    /// Whole contents of a catalogue, one after the other, each drawn by its popularity: p(i) ∝ 1/(i +
    /// `shift`)^`exponent` for i = 1, 2 … `contents` (Zipf–Mandelbrot). Segment j of content i is segment (i −
    /// 1)·`segments` + j of the prefix.
    Zipf {
        /// Number of contents in the catalogue.
        contents: u32,
        /// Segments per content.
        segments: u32,
        /// Zipf exponent.
        exponent: f64,
        /// Mandelbrot's shift, which flattens the popularity of the first contents.
        shift: f64,
    },
}

/// Distribution of the gaps between Interests, without a congestion controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gaps {
    /// Constant.
    Even,
    /// Exponential.
    Exponential,
}

impl ConsumerConfig {
    /// A consumer of Data with `payload` bytes, default sizes and lifetime. It requests each segment in order once,
    /// without end, at a constant `rate` of Data on the wire.
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

    /// A consumer with a congestion controller and retransmission without limit.
    pub const fn with_controller(prefix: NameId, payload: Bytes) -> Self {
        Self { retries: u32::MAX, ..Self::new(prefix, payload, Rate::ZERO) }
    }
}

/// Default size of an Interest. Our choice: a short name, nonce, lifetime and link header.
pub const INTEREST: Bytes = Bytes::new(50);
/// Overhead of a Data packet. Our choice: name, signature and link header, as in ndnSIM's Data.
pub const OVERHEAD: Bytes = Bytes::new(76);
