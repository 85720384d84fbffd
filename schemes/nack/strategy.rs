//! Next hops by status and cost, within the limits of their faces.

use contract::{
    ArrivingData, ArrivingInterest, ArrivingNack, FaceId, FibEntry, NackReason, Name, Pending, SendResult,
    Setup, StrategyCx,
};

use super::Params;
use super::limits::{Limit, Rules};
use crate::shared::{Red, RedRules, forget_one, is_retransmission};

/// The status of a next hop. The paper's third one, red, is for faces that are down, which this forwarder does not
/// know.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Status {
    /// It is unknown whether it works.
    #[default]
    Yellow,
    /// It returned Data, and no NACK or timeout since.
    Green,
}

/// The strategy of a node.
#[derive(Clone, Debug)]
pub struct Strategy {
    params: Params,
    rules: Rules,
    /// Per face; `None` before its first use, and for endpoints.
    limits: Vec<Option<Limit>>,
    early: Vec<Red>,
    /// By number of the FIB entry: the green faces.
    green: Vec<Vec<FaceId>>,
}

/// The result of a search for a face.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Found {
    /// The Interest was sent.
    Face,
    /// All usable faces were at their limits, or refused.
    Full,
    /// There was no usable face.
    None,
}

impl Strategy {
    /// The part, with its parameters.
    pub fn new(params: &Params, setup: &Setup) -> Self {
        Self {
            params: params.clone(),
            rules: Rules::new(params, setup),
            limits: Vec::new(),
            early: Vec::new(),
            green: Vec::new(),
        }
    }

    /// The status of a next hop.
    pub fn status(&self, fib: &FibEntry<'_>, face: FaceId) -> Status {
        let green = self.green.get(fib.index as usize).is_some_and(|green| green.contains(&face));
        if green { Status::Green } else { Status::Yellow }
    }

    fn set(&mut self, fib: &FibEntry<'_>, face: FaceId, status: Status) {
        let index = fib.index as usize;
        if self.green.len() <= index {
            self.green.resize_with(index + 1, Vec::new);
        }
        let green = &mut self.green[index];
        match (green.iter().position(|known| *known == face), status) {
            (None, Status::Green) => green.push(face),
            (Some(at), Status::Yellow) => {
                green.swap_remove(at);
            }
            _ => {}
        }
    }

    /// The limit of a face; `None` for an endpoint.
    fn limit(&mut self, face: FaceId, cx: &mut dyn StrategyCx) -> Option<&mut Limit> {
        if self.limits.len() <= face.index() {
            self.limits.resize(face.index() + 1, None);
        }
        let limit = &mut self.limits[face.index()];
        if limit.is_none() {
            let link = cx.face(face).link?;
            *limit = Some(Limit::new(link.rate_in, &self.rules));
        }
        limit.as_mut()
    }

    /// Sends the Interest to the best face for which `may` is true and that is below its limit.
    fn forward(
        &mut self,
        pending: Pending,
        fib: &FibEntry<'_>,
        cx: &mut dyn StrategyCx,
        may: impl Fn(FaceId, &dyn StrategyCx) -> bool,
    ) -> Found {
        let mut found = Found::None;
        // in the order of status, then of cost                                            [YAMWZZ13, CAWKA]
        for status in [Status::Green, Status::Yellow] {
            for hop in fib.hops {
                if self.status(fib, hop.face) != status || !may(hop.face, cx) {
                    continue;
                }
                found = Found::Full;
                let (out, now) = (cx.face(hop.face).pending, cx.now());
                let rules = self.rules;
                if self.limit(hop.face, cx).is_some_and(|limit| !limit.try_admit(out, now, &rules)) {
                    continue;
                }
                match cx.send_interest(pending, hop.face) {
                    SendResult::Sent | SendResult::Held | SendResult::Dropped => return Found::Face,
                    SendResult::Refused(_) | SendResult::Gone => {}
                }
            }
        }
        found
    }

    /// Whether an answer is pending.
    fn is_awaited(pending: Pending, cx: &dyn StrategyCx) -> bool {
        (0..).map_while(|index| cx.upstream(pending, index)).any(|record| record.refused.is_none())
    }
}

impl contract::Strategy for Strategy {
    fn on_interest(&mut self, interest: &ArrivingInterest<'_>, fib: &FibEntry<'_>, cx: &mut dyn StrategyCx) {
        let ArrivingInterest { pending, from, .. } = *interest;
        let again = is_retransmission(interest, cx);
        if self.params.early && self.is_early(from, cx) {
            cx.send_nack(pending, from, NackReason::Congestion);
            forget_one(pending, cx);
            return;
        }
        // an Interest of a new downstream waits with the others; one of the same downstream is retransmitted  [CAWKA]
        if !interest.is_new && !again {
            return;
        }
        let found = self.forward(pending, fib, cx, |face, cx| cx.in_record(pending, face).is_none());
        // differs: the NACK has the reason congestion if the next hops are full, otherwise no route; the paper has a
        // separate code
        let reason = if found == Found::Full { NackReason::Congestion } else { NackReason::NoRoute };
        if found != Found::Face && !Self::is_awaited(pending, cx) {
            cx.send_nacks(pending, reason);
        }
    }

    fn on_data(&mut self, data: &ArrivingData<'_>, fib: &FibEntry<'_>, cx: &mut dyn StrategyCx) {
        self.set(fib, data.from, Status::Green);
        let rules = self.rules;
        if let Some(limit) = self.limit(data.from, cx) {
            limit.on_data(data.rtt.map(|rtt| rtt.as_secs_f64()), &rules);
            let value = limit.limit;
            cx.probe("limit", value);
        }
    }

    fn on_nack(&mut self, nack: &ArrivingNack<'_>, fib: &FibEntry<'_>, cx: &mut dyn StrategyCx) {
        // a duplicate shows nothing about the face
        if nack.reason != NackReason::Duplicate {
            self.set(fib, nack.from, Status::Yellow);
        }
        let rules = self.rules;
        if let Some(limit) = self.limit(nack.from, cx) {
            limit.on_nack(&rules);
            let value = limit.limit;
            cx.probe("limit", value);
        }
        // all used faces refused: tries the others, or ends                                 [YAMWZZ13, CAWKA]
        let Some(reason) = cx.all_nacked(nack.pending) else { return };
        let pending = nack.pending;
        let found = self.forward(pending, fib, cx, |face, cx| {
            cx.out_record(pending, face).is_none() && cx.in_record(pending, face).is_none()
        });
        match found {
            Found::Face => {}
            Found::Full => cx.send_nacks(pending, NackReason::Congestion),
            Found::None => cx.send_nacks(pending, reason),
        }
    }

    fn on_expiry(&mut self, pending: Pending, _name: Name, fib: &FibEntry<'_>, cx: &mut dyn StrategyCx) {
        for index in 0.. {
            let Some(record) = cx.upstream(pending, index) else { break };
            if record.refused.is_none() {
                self.set(fib, record.face, Status::Yellow);
            }
        }
    }
}

impl Strategy {
    fn is_early(&mut self, from: FaceId, cx: &mut dyn StrategyCx) -> bool {
        let Some(link) = cx.face(from).link else { return false };
        if self.early.len() <= from.index() {
            self.early.resize(from.index() + 1, Red::default());
        }
        // random early detection on the queue that the Data would join                       [YIC]
        // differs: at every arriving Interest instead of every packet in the queue, which a strategy does not observe
        let Params { early_weight: gain, early_min_th: min, early_max_th: max, early_max_p: share, .. } =
            self.params;
        let waiting = link.backlog.packets;
        let rules = RedRules { gain, min, max, share };
        self.early[from.index()].hits(f64::from(waiting), waiting <= 1, &rules, cx.random())
    }
}
