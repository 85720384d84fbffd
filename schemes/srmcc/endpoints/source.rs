//! SRMCC at the source: one rate, adapted once per cycle from the measurements of the routers of the tree.

use contract::{Allowance, Count, Cx, EndpointId, Feedback, Label, OutgoingPacket, SenderAlgorithm};
use units::{Duration, Rate, Time};

use crate::srmcc::adaptation::{Adaptation, Known};
use crate::srmcc::fold::MessageAggregate;
use crate::srmcc::headers::{Header, Mcc, cycle, rounds_between};
use crate::srmcc::{Params, Rtt};

/// The source's part [SRMCC §4].
#[derive(Clone, Debug)]
pub struct Sender {
    params: Box<Params>,
    adaptation: Adaptation,
    /// Rate, in bit/s.
    rate: f64,
    /// Smoothed round-trip time to the slowest member, in seconds.
    srtt: f64,
    /// Number of the current cycle.
    round: u32,
    /// Newest round in a message; `None` before the first message.
    heard_round: Option<u32>,
    /// Senders of messages to the source, sorted: the first tree node, or the members if there is none.
    children: Vec<Child>,
    /// Number of them without a message in this cycle.
    pending_children: usize,
    /// The aggregate of this cycle's messages.
    aggregate: Option<MessageAggregate>,
    started_at: Time,
    adapted_at: Time,
    /// End of the cycle.
    next_message: Time,
    /// Consecutive cycles without a message.
    misses: u32,
}

#[derive(Clone, Copy, Debug)]
struct Child {
    endpoint: EndpointId,
    heard_at: Time,
    reported: bool,
}

impl Sender {
    pub(crate) fn new(params: &Params) -> Self {
        let mut algorithm = Self {
            adaptation: Adaptation::new(params),
            rate: params.initial_rate.as_bps_f64(),
            srtt: params.initial_rtt.as_secs_f64(),
            round: 0,
            heard_round: None,
            children: Vec::new(),
            pending_children: 0,
            aggregate: None,
            started_at: Time::ZERO,
            adapted_at: Time::ZERO,
            next_message: Time::NEVER,
            misses: 0,
            params: Box::new(params.clone()),
        };
        algorithm.set_rate(algorithm.rate);
        algorithm
    }

    /// T_adapt: time between two adaptations.
    pub(crate) fn t_adapt(&self) -> Duration {
        // 4.0 × RTT                                                                   [SRMCC §5.1, Table 1]
        cycle(Duration::from_secs_f64(self.params.cycle * self.srtt))
    }

    /// Whether a message is implausible now.
    fn is_implausible(&self, mcc: &Mcc, now: Time) -> bool {
        let too_old = |newest| rounds_between(mcc.round, newest) > self.params.stale as i32;
        !(self.started_at..=now).contains(&mcc.t_echo)
            || rounds_between(self.round, mcc.round) > 0
            || self.heard_round.is_some_and(too_old)
    }

    /// Records a message of `endpoint` in this cycle.
    fn note(&mut self, endpoint: EndpointId, now: Time) {
        match self.children.binary_search_by_key(&endpoint, |child| child.endpoint) {
            Ok(at) => {
                let child = &mut self.children[at];
                self.pending_children -= usize::from(!child.reported);
                (child.heard_at, child.reported) = (now, true);
            }
            Err(at) => self.children.insert(at, Child { endpoint, heard_at: now, reported: true }),
        }
    }

    /// Waits for the children, except those that have been silent for too long.
    fn reset_pending(&mut self, now: Time) {
        let child_timeout = self.t_adapt().scaled(self.params.forget);
        self.children.retain_mut(|child| {
            child.reported = false;
            now - child.heard_at < child_timeout
        });
        self.pending_children = self.children.len();
    }

    /// Adapts the rate to the messages of this cycle.
    fn adapt(&mut self, aggregate: &MessageAggregate, cx: &mut Cx<'_>) {
        if self.params.rtt == Rtt::Measured {
            // RTT = 7/8 RTT + 1/8 s
            let age_s = aggregate.age_ns.unwrap_or(0) as f64 / 1e9;
            self.srtt += (age_s - self.srtt) * self.params.rtt_gain;
        }
        let fair =
            if aggregate.fair == Rate::UNLIMITED { f64::INFINITY } else { aggregate.fair.as_bps_f64() };
        let known = Known { o_max: aggregate.max, o_min: aggregate.min, fair };
        let next = self.adaptation.next(&known, self.rate);
        if next < self.rate {
            cx.count(Count::Episodes, 1);
        }
        self.set_rate(next);
        self.misses = 0;
        self.adapted_at = cx.now();
        self.begin_cycle(cx);

        cx.event("adapted", f64::from(self.round));
        cx.probe("o_max", known.o_max);
        cx.probe("o_min", known.o_min);
        cx.probe("state", f64::from(self.adaptation.state(known.o_max) as u8));
        if fair.is_finite() {
            cx.probe("fair_rate", fair);
        }
        cx.probe("srtt", self.srtt);
        cx.probe("t_adapt", self.t_adapt().as_secs_f64());
    }

    /// Handles a cycle without a message.
    fn miss(&mut self, cx: &mut Cx<'_>) {
        // differs: the paper does not mention missing messages, which can be caused by congestion. Before the first
        // message no receiver is known
        if self.heard_round.is_none() {
            self.next_message = cx.now() + self.t_adapt();
            return;
        }
        self.misses = self.misses.saturating_add(1);
        if self.misses < self.params.misses {
            self.next_message = cx.now() + self.t_adapt();
            return;
        }
        self.set_rate(0.5 * self.rate);
        cx.count(Count::Episodes, 1);
        cx.event("silence", f64::from(self.misses));
        self.begin_cycle(cx);
    }

    fn begin_cycle(&mut self, cx: &mut Cx<'_>) {
        self.round = self.round.wrapping_add(1);
        self.reset_pending(cx.now());
        self.next_message = cx.now() + self.t_adapt();
    }

    fn set_rate(&mut self, rate: f64) {
        self.rate = rate.min(self.params.max_rate.as_bps_f64()).max(self.params.min_rate.as_bps_f64());
    }
}

impl SenderAlgorithm for Sender {
    fn on_feedback(&mut self, feedback: &Feedback, cx: &mut Cx<'_>) {
        let now = cx.now();
        let Some(mcc) = Mcc::decode(feedback.label).filter(|mcc| !self.is_implausible(mcc, now)) else {
            return cx.count(Count::Ignored, 1);
        };
        cx.measured_rtt(now - mcc.t_echo);
        self.note(feedback.from, now);
        let mut aggregate = self.aggregate.take().unwrap_or(MessageAggregate::NOTHING);
        aggregate.add(&mcc, now);
        if self.heard_round.is_none_or(|newest| rounds_between(newest, mcc.round) > 0) {
            self.heard_round = Some(mcc.round);
        }
        // after the last child's message, if nearly a whole cycle has passed; otherwise at the end of the cycle
        let early = self.adapted_at + self.t_adapt().scaled(self.params.slack);
        if self.pending_children == 0 && now >= early {
            return self.adapt(&aggregate, cx);
        }
        self.aggregate = Some(aggregate);
        if self.pending_children == 0 {
            self.next_message = self.next_message.min(early);
        }
    }

    #[inline]
    fn allowance(&self) -> Allowance {
        Allowance::rate(Rate::from_bps_f64(self.rate))
    }

    fn on_start(&mut self, cx: &mut Cx<'_>) {
        *self = Self::new(&self.params);
        self.started_at = cx.now();
        self.adapted_at = cx.now();
        self.next_message = cx.now() + self.t_adapt();
        cx.probe("t_adapt", self.t_adapt().as_secs_f64());
    }

    fn stamp(&mut self, _sending: &OutgoingPacket, _cx: &mut Cx<'_>) -> Label {
        Header { round: self.round, t_adapt: self.t_adapt() }.encode()
    }

    fn on_timer(&mut self, cx: &mut Cx<'_>) {
        if self.next_message > cx.now() {
            return;
        }
        match self.aggregate.take() {
            Some(aggregate) => self.adapt(&aggregate, cx),
            None => self.miss(cx),
        }
    }

    #[inline]
    fn wake(&self) -> Time {
        self.next_message
    }
}
