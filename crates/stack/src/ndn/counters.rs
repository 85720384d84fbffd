//! Counters of a forwarder.

/// What happened, and how often.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    pub(super) counts: [u64; Tally::ALL.len()],
    /// Interests pending now.
    pub pending: u64,
    /// Maximum number pending at once.
    pub pending_peak: u64,
    /// Data packets in the content store now.
    pub stored: u64,
    /// Operations of its parts, as far as they count them: see [`contract::LinkLaw::operations`].
    pub operations: u64,
}

/// A thing that a forwarder counts. Packets from and to endpoints on its node count like those of links.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tally {
    /// Interests that came.
    InterestsIn,
    /// Interests that went.
    InterestsOut,
    /// Data that came.
    DataIn,
    /// Data that went.
    DataOut,
    /// NACKs that arrived.
    NacksIn,
    /// NACKs that left.
    NacksOut,
    /// Interests that the content store answered.
    Hits,
    /// Interests that the content store was asked for without success.
    Misses,
    /// Interests that joined those of another face for the same name.
    Aggregated,
    /// Interests from a face that waited for the same name already.
    Repeated,
    /// Interests NACKed as loops: their nonce was seen before.
    Loops,
    /// Interests NACKed because no next hop is known for their name.
    NoRoute,
    /// Interests that the link part delayed in one of its queues.
    Delayed,
    /// Interests that the link part answered with a NACK.
    Nacked,
    /// Interests that the link part dropped.
    Policed,
    /// Pending Interests that expired without an answer.
    Expired,
    /// Data dropped because nobody waited for it.
    Unsolicited,
    /// NACKs dropped because no matching Interest was pending.
    Stale,
}

impl Tally {
    /// All of them, in order.
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

    /// Its column in tables.
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
    /// One count.
    #[inline]
    pub const fn count(&self, what: Tally) -> u64 {
        self.counts[what as usize]
    }

    #[inline]
    pub(super) fn add(&mut self, what: Tally) {
        self.counts[what as usize] += 1;
    }

    /// What was counted since these counters stood at `base`. Sizes and the peak stay what they are.
    pub fn since(&self, base: &Self) -> Self {
        let mut since = self.clone();
        since.counts.iter_mut().zip(base.counts).for_each(|(count, base)| *count -= base);
        since.operations -= base.operations;
        since
    }

    /// The share of Interests that the content store answered, of those it was asked for; `None` where it was not asked.
    pub fn hit_ratio(&self) -> Option<f64> {
        let (hits, misses) = (self.count(Tally::Hits), self.count(Tally::Misses));
        (hits + misses > 0).then(|| hits as f64 / (hits + misses) as f64)
    }
}
