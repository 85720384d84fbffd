//! A group's row in the MCC table: the messages of its children since the last message upstream.

use contract::{Address, Entry};
use units::{Duration, Rate, Time};

use crate::srmcc::fold::MessageAggregate;
use crate::srmcc::headers::{Mcc, rounds_between};
use crate::srmcc::{Aggregate, Occupancy, Params};

/// A row of the MCC table [SRMCC §3.2, Fig. 3].
#[derive(Clone, Debug, Default)]
pub(super) struct Row {
    /// T_adapt of the group.
    cycle: Duration,
    /// The aggregate of the children's messages since the last message upstream; `None` without any.
    aggregate: Option<MessageAggregate>,
    /// The measurements of this node.
    own: Option<Own>,
    /// The last aggregate, unless it is discarded after sending.
    last_aggregate: Option<MessageAggregate>,
    /// Start of the wait for the children.
    since: Time,
    /// A child sent a message that does not belong to the last aggregate.
    fresh: bool,
    /// When the message upstream is due.
    next_message: Option<Time>,
    /// Children with messages, sorted by address.
    children: Vec<Child>,
    /// Number of them that are waited for.
    pending_children: usize,
    emitted: Option<Emitted>,
}

/// The measurements of a node for a group.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Own {
    /// Maximum and minimum occupancy of the queues towards the children.
    pub(super) max: f64,
    pub(super) min: f64,
    /// Fair share of the incoming link.
    pub(super) fair: Rate,
}

#[derive(Clone, Copy, Debug)]
struct Child {
    address: Address,
    heard_at: Time,
    message: ChildMessage,
    /// It sent nothing before the last message upstream.
    missed: bool,
}

/// The message of a child since the last message upstream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ChildMessage {
    Nothing,
    /// A message that belongs to the last aggregate.
    Late,
    Now,
}

/// The last message upstream.
#[derive(Clone, Copy, Debug)]
struct Emitted {
    at: Time,
    round: u32,
}

impl Row {
    /// Whether a message of this round is accepted. `newest` is the newest round in data.
    pub(super) fn takes(&mut self, round: u32, newest: Option<u32>, stale: u32) -> bool {
        // the source restarted
        if let (Some(emitted), Some(newest)) = (self.emitted, newest)
            && rounds_between(emitted.round, newest) < 0
        {
            self.emitted = None;
        }
        self.emitted.is_none_or(|emitted| rounds_between(round, emitted.round) <= stale as i32)
    }

    /// When the message upstream is due.
    pub(super) fn next_message(&self) -> Time {
        self.next_message.unwrap_or(Time::NEVER)
    }

    /// Whether measurements of this node are needed now: at the first message of a row, and at the one that completes
    /// it.
    pub(super) fn wants_own(&self) -> bool {
        self.own.is_none() || self.pending_children == 0
    }

    /// Takes the measurements of this node, which replace earlier ones of this row, except for extremes, which include
    /// them.
    pub(super) fn measured(&mut self, own: Own, occupancy: Occupancy) {
        let earlier = self.own.filter(|_| occupancy == Occupancy::Extremes);
        let (max, min) = earlier.map_or((own.max, own.min), |it| (it.max.max(own.max), it.min.min(own.min)));
        self.own = Some(Own { max, min, ..own });
    }

    /// Adds a child's message that arrived now. `cycle` is the length of a cycle according to the message and to data.
    pub(super) fn add(&mut self, from: Address, mcc: &Mcc, cycle: Duration, now: Time, params: &Params) {
        self.cycle = cycle;
        let first = self.aggregate.is_none();
        let aggregate = self
            .aggregate
            .get_or_insert_with(|| self.last_aggregate.take().unwrap_or(MessageAggregate::NOTHING));
        aggregate.add(mcc, now);
        let alone = self.children.is_empty();
        let at = match self.children.binary_search_by_key(&from, |child| child.address) {
            Ok(at) => at,
            Err(at) => {
                // the message of a new child belongs to the last aggregate, from the viewpoint of the others
                let child =
                    Child { address: from, heard_at: now, message: ChildMessage::Nothing, missed: !alone };
                self.children.insert(at, child);
                self.pending_children += 1;
                at
            }
        };
        let child = &mut self.children[at];
        child.heard_at = now;
        match child.message {
            ChildMessage::Nothing if std::mem::take(&mut child.missed) => child.message = ChildMessage::Late,
            ChildMessage::Nothing | ChildMessage::Late => {
                child.message = ChildMessage::Now;
                self.pending_children -= 1;
            }
            ChildMessage::Now => {}
        }
        let fresh = child.message == ChildMessage::Now;
        if first || (fresh && !self.fresh) {
            self.since = now;
        }
        self.fresh |= fresh;
        let all_reported = params.aggregate == Aggregate::WhenAll && self.pending_children == 0;
        let ready = if all_reported { now } else { self.since + self.cycle.scaled(params.wait) };
        // at most one per cycle. Children send one per cycle, so the slack only lets a delayed message catch up;
        // otherwise a delay would persist in every later cycle
        let span = self.cycle.scaled(params.slack);
        let earliest = self.emitted.map_or(Time::ZERO, |emitted| emitted.at + span);
        self.next_message = Some(ready.max(earliest));
    }

    /// Removes children that are no longer branches, before the first message of a row.
    pub(super) fn keep_children(&mut self, entry: &Entry<'_>) {
        if self.aggregate.is_some() {
            return;
        }
        self.children.retain(|child| entry.has(child.address));
        self.pending_children = self.children.len();
    }

    /// Returns the message upstream, and clears the row.
    pub(super) fn emit(&mut self, now: Time, params: &Params) -> Mcc {
        let mut fold = self.aggregate.take().unwrap_or(MessageAggregate::NOTHING);
        if let Some(own) = self.own.take() {
            fold.measured(own.max, own.min, own.fair);
        }
        if !params.reset {
            self.last_aggregate = Some(MessageAggregate { age_ns: None, ..fold });
        }
        let child_timeout = self.cycle.scaled(params.forget);
        self.children.retain_mut(|child| {
            child.missed = child.message == ChildMessage::Nothing;
            child.message = ChildMessage::Nothing;
            now - child.heard_at < child_timeout
        });
        self.pending_children = self.children.len();
        (self.next_message, self.fresh) = (None, false);
        let round = fold.round.unwrap_or(0);
        self.emitted = Some(Emitted { at: now, round });
        Mcc {
            min_fair: fold.fair,
            max_qocc: fold.max,
            min_qocc: fold.min,
            round,
            t_echo: Time::from_nanos(now.as_nanos().wrapping_sub(fold.age_ns.unwrap_or(0) as u64)),
            t_adapt: self.cycle,
        }
    }
}
