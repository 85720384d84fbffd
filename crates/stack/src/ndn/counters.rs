//! Counters of a forwarder.

/// The counters of a forwarder. In memory, those that every packet changes come first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Counters {
    pub(super) counts: [u64; Tally::ALL.len()],
    /// Interests pending now.
    pub pending: u64,
    /// Maximum number pending at once.
    pub pending_peak: u64,
    /// Data packets in the content store now.
    pub stored: u64,
    /// Operations of its parts, if they count them: see [`contract::LinkAlgorithm::operations`].
    pub operations: u64,
}

/// An event that a forwarder counts. Packets from and to endpoints of its node count like packets from and to links.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tally {
    /// Interests received.
    InterestsIn,
    /// Interests sent.
    InterestsOut,
    /// Data received.
    DataIn,
    /// Data sent.
    DataOut,
    /// NACKs received.
    NacksIn,
    /// NACKs sent.
    NacksOut,
    /// Interests that the content store answered.
    Hits,
    /// Interests that the content store could not answer.
    Misses,
    /// Interests aggregated into the PIT entry of another face.
    Aggregated,
    /// Interests from a face that has a pending Interest for the same name.
    Repeated,
    /// Interests NACKed as duplicates (loops): their nonce was seen before.
    Loops,
    /// Interests NACKed because no route is known for their name.
    NoRoute,
    /// Interests that the link part delayed in one of its queues.
    Delayed,
    /// Interests that the link part answered with a NACK.
    Nacked,
    /// Interests that the link part dropped.
    Policed,
    /// Pending Interests that expired.
    Expired,
    /// Data dropped because no matching Interest was pending.
    Unsolicited,
    /// NACKs dropped because no matching Interest was pending.
    Stale,
}

impl Tally {
    /// All events, in order.
    pub const ALL: [Self; 18] = [
        Self::InterestsIn,
        Self::InterestsOut,
        Self::DataIn,
        Self::DataOut,
        Self::NacksIn,
        Self::NacksOut,
        Self::Hits,
        Self::Misses,
        Self::Aggregated,
        Self::Repeated,
        Self::Loops,
        Self::NoRoute,
        Self::Delayed,
        Self::Nacked,
        Self::Policed,
        Self::Expired,
        Self::Unsolicited,
        Self::Stale,
    ];

    /// The column of the event in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::InterestsIn => "interests_in",
            Self::InterestsOut => "interests_out",
            Self::DataIn => "data_in",
            Self::DataOut => "data_out",
            Self::NacksIn => "nacks_in",
            Self::NacksOut => "nacks_out",
            Self::Hits => "hits",
            Self::Misses => "misses",
            Self::Aggregated => "aggregated",
            Self::Repeated => "repeated",
            Self::Loops => "loops",
            Self::NoRoute => "no_route",
            Self::Delayed => "delayed",
            Self::Nacked => "nacked",
            Self::Policed => "policed",
            Self::Expired => "expired",
            Self::Unsolicited => "unsolicited",
            Self::Stale => "stale",
        }
    }
}

impl Counters {
    /// The count of one event.
    #[inline]
    pub const fn count(&self, what: Tally) -> u64 {
        self.counts[what as usize]
    }

    #[inline]
    pub(super) fn add(&mut self, what: Tally) {
        self.counts[what as usize] += 1;
    }

    /// The counts since `base`. Sizes and the peak are not differences.
    pub fn since(&self, base: &Self) -> Self {
        let mut since = self.clone();
        since.counts.iter_mut().zip(base.counts).for_each(|(count, base)| *count -= base);
        since.operations -= base.operations;
        since
    }

    /// Share of Interests that the content store answered; `None` if it was not searched.
    pub fn hit_ratio(&self) -> Option<f64> {
        let (hits, misses) = (self.count(Tally::Hits), self.count(Tally::Misses));
        (hits + misses > 0).then(|| hits as f64 / (hits + misses) as f64)
    }
}
