//! The fields of a port that few packets use.

use std::ops::{Deref, DerefMut};

use contract::{DropReason, Random};
use units::Rate;

use super::bucket::Bucket;
use super::counters::Capacity;
use super::cursor::TraceCursor;
use super::departures::ObservedDepartures;
use super::discipline::Discipline;
use super::impair::Impairments;
use crate::delays::Delays;
use crate::trace::PortRecord;

/// The fields that few packets use.
#[derive(Default)]
pub(super) struct Cold {
    pub(super) discipline: Option<Box<Discipline>>,
    pub(super) loss: f64,
    /// The stream of random losses, from the first loss on.
    pub(super) loss_random: Option<Box<Random>>,
    pub(super) impairments: Option<Box<Impairments>>,
    pub(super) observers: Observers,
    pub(super) limit: RateLimit,
    /// The place in the trace that the rate follows.
    pub(super) cursor: Option<Box<TraceCursor>>,
    pub(super) shaper: Option<Box<Bucket>>,
    pub(super) policer: Option<Box<Bucket>>,
    pub(super) capacity: Capacity,
    pub(super) drops: [u64; DropReason::ALL.len()],
    pub(super) marked_packets: u64,
    /// Distribution of the times that packets wait, if it is recorded.
    pub(super) queueing_delays: Option<Box<Delays>>,
    /// Counters at the end of the warm-up, which every reading subtracts; `None` before.
    pub(super) base: Option<Box<PortRecord>>,
}

impl Cold {
    /// Their initial values.
    const INITIAL: &Self = &Self {
        discipline: None,
        loss: 0.0,
        loss_random: None,
        impairments: None,
        observers: Observers {
            router_ahead: false,
            tap: false,
            logged: false,
            offers: false,
            departures: None,
        },
        limit: RateLimit { link: None, cap: None },
        cursor: None,
        shaper: None,
        policer: None,
        capacity: Capacity::ZERO,
        drops: [0; DropReason::ALL.len()],
        marked_packets: 0,
        queueing_delays: None,
        base: None,
    };
}

/// These fields, without memory while all have their initial values: most ports of a large network never drop a packet.
/// Any mutable access allocates them.
#[derive(Default)]
pub(super) struct LazyCold(Option<Box<Cold>>);

impl LazyCold {
    /// The fields of a port that has set one of them, such as its queue discipline.
    #[inline(always)]
    pub(super) fn present(&mut self) -> &mut Cold {
        self.0.as_deref_mut().expect("a field is set")
    }
}

impl Deref for LazyCold {
    type Target = Cold;

    #[inline]
    fn deref(&self) -> &Cold {
        self.0.as_deref().unwrap_or(Cold::INITIAL)
    }
}

impl DerefMut for LazyCold {
    fn deref_mut(&mut self) -> &mut Cold {
        self.0.get_or_insert_default()
    }
}

/// The observers of a port.
#[derive(Default)]
pub(super) struct Observers {
    /// The link leads to a node with a state machine.
    pub(super) router_ahead: bool,
    /// The link is captured.
    pub(super) tap: bool,
    /// Every packet is recorded.
    pub(super) logged: bool,
    /// The router of its node observes every offered packet.
    pub(super) offers: bool,
    /// The router of its node observes every departure.
    pub(super) departures: Option<ObservedDepartures>,
}

/// The limit of a port's rate, which a controller may set.
#[derive(Default)]
pub(super) struct RateLimit {
    /// The rate of the link, since the limit or that rate changed.
    pub(super) link: Option<Rate>,
    pub(super) cap: Option<Rate>,
}
