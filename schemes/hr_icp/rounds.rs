//! Deficit round robin over the Data of a link, and the credits of its flows. It is computed beside the link's queue,
//! which can be a plain FIFO.

use std::collections::VecDeque;

use units::{Duration, Rate, Time};

/// The virtual queues of a link, one per flow [SV95].
#[derive(Clone, Debug)]
pub(super) struct Rounds {
    quantum: u64,
    /// B: maximum credit of a flow.
    burst: u64,
    flows: Vec<Flow>,
    /// Flows with Data, in the order of their turns, the current one first.
    active: VecDeque<u32>,
    /// Bytes of the current turn.
    turn: u64,
    /// End of the current turn; [`Time::NEVER`] without one.
    ends: Time,
    /// Flows whose turn has ended since this was last cleared.
    pub ended: Vec<u32>,
}

#[derive(Clone, Copy, Debug)]
struct Flow {
    /// Bytes of Data in the queue.
    backlog: u64,
    /// Bytes of Data that may be requested.
    credit: u64,
}

impl Rounds {
    /// Empty queues. A flow is served `quantum` bytes per round, and its credit is at most `burst`.
    pub(super) const fn new(quantum: u64, burst: u64) -> Self {
        Self {
            quantum,
            burst,
            flows: Vec::new(),
            active: VecDeque::new(),
            turn: 0,
            ends: Time::NEVER,
            ended: Vec::new(),
        }
    }

    fn flow(&mut self, flow: u32) -> &mut Flow {
        let new = Flow { backlog: 0, credit: self.burst };
        if self.flows.len() <= flow as usize {
            self.flows.resize(flow as usize + 1, new);
        }
        &mut self.flows[flow as usize]
    }

    /// End of the current turn; [`Time::NEVER`] without Data.
    pub(super) const fn ends(&self) -> Time {
        self.ends
    }

    /// Serves the queues up to `now`, at the rate of the link.
    pub(super) fn advance(&mut self, now: Time, rate: Rate) {
        while self.ends <= now {
            let Some(flow) = self.active.pop_front() else { break };
            let (turn, burst, quantum, from) = (self.turn, self.burst, self.quantum, self.ends);
            let served = self.flow(flow);
            served.backlog -= turn;
            if served.backlog == 0 {
                // a flow without queued Data has no bottleneck here: its counter is dropped      [CCNPL]
                served.credit = burst;
            } else {
                // credit = min(B, credit + quantum), once per round                         [CCNPL]
                served.credit = (served.credit + quantum).min(burst);
                self.active.push_back(flow);
            }
            self.ended.push(flow);
            self.begin(from, rate);
        }
    }

    /// Starts the turn of the first flow at `at`.
    fn begin(&mut self, at: Time, rate: Rate) {
        let Some(first) = self.active.front() else {
            self.ends = Time::NEVER;
            return;
        };
        self.turn = self.flows[*first as usize].backlog.min(self.quantum);
        self.ends = at + takes(self.turn, rate).max(Duration::from_nanos(1));
    }

    /// Adds Data of a flow to its queue. Call [`Rounds::advance`] first.
    pub(super) fn join(&mut self, flow: u32, bytes: u64, now: Time, rate: Rate) {
        let known = self.flow(flow);
        known.backlog += bytes;
        if known.backlog == bytes {
            self.active.push_back(flow);
            if self.active.len() == 1 {
                self.begin(now, rate);
            }
        } else if self.active.front() == Some(&flow) {
            // it arrives in the turn of its flow
            let more = bytes.min(self.quantum - self.turn);
            self.turn += more;
            self.ends += takes(more, rate);
        }
    }

    /// Whether a flow may request these bytes: it has the credit, or no Data in its queue.
    pub(super) fn admits(&mut self, flow: u32, bytes: u64) -> bool {
        let Flow { backlog, credit } = *self.flow(flow);
        backlog == 0 || credit >= bytes
    }

    /// Uses credit for requested bytes.
    pub(super) fn charge(&mut self, flow: u32, bytes: u64) {
        let known = self.flow(flow);
        if known.backlog > 0 {
            known.credit -= bytes.min(known.credit);
        }
    }
}

/// Serialisation time of these bytes.
fn takes(bytes: u64, rate: Rate) -> Duration {
    let seconds = bytes as f64 * 8.0 / rate.as_bps_f64();
    Duration::from_secs_f64(seconds.min(LONGEST_S))
}

/// Our choice: a limit, so that a very slow link does not stop a flow permanently.
const LONGEST_S: f64 = 10.0;
