//! Deficit round robin over the Data of a link, and the credits of its flows. It is computed: the queue of the link itself may be a
//! plain FIFO.

use std::collections::VecDeque;

use units::{Duration, Rate, Time};

/// The virtual queues of a link, one per flow, served in turns [SV95].
#[derive(Clone, Debug)]
pub(super) struct Rounds {
    quantum: u64,
    /// B: maximum credit of a flow.
    burst: u64,
    flows: Vec<Flow>,
    /// Flows with Data, in the order of their turns. The first has its turn.
    active: VecDeque<u32>,
    /// Bytes of the present turn.
    turn: u64,
    /// When it ends; never where there is none.
    ends: Time,
    /// Flows whose turn has ended since this was last emptied.
    pub ended: Vec<u32>,
}

#[derive(Clone, Copy, Debug)]
struct Flow {
    /// Bytes of Data that wait.
    backlog: u64,
    /// Bytes of Data that may be asked for.
    credit: u64,
}

impl Rounds {
    /// Nothing waits. A flow is served `quantum` bytes per round, and its credit is at most `burst`.
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

    /// When the present turn ends; never where no Data wait.
    pub(super) const fn ends(&self) -> Time {
        self.ends
    }

    /// Serves until now, at the rate of the link.
    pub(super) fn advance(&mut self, now: Time, rate: Rate) {
        while self.ends <= now {
            let Some(flow) = self.active.pop_front() else { break };
            let (turn, burst, quantum, from) = (self.turn, self.burst, self.quantum, self.ends);
            let served = self.flow(flow);
            served.backlog -= turn;
            if served.backlog == 0 {
                // whose Data do not wait is not bottlenecked here: its counter is dropped   [CCNPL]
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

    /// The first flow has its turn from `at` on.
    fn begin(&mut self, at: Time, rate: Rate) {
        let Some(first) = self.active.front() else {
            self.ends = Time::NEVER;
            return;
        };
        self.turn = self.flows[*first as usize].backlog.min(self.quantum);
        self.ends = at + takes(self.turn, rate).max(Duration::from_nanos(1));
    }

    /// Data of a flow join the queue. To be called when [`Rounds::advance`] has been.
    pub(super) fn join(&mut self, flow: u32, bytes: u64, now: Time, rate: Rate) {
        let known = self.flow(flow);
        known.backlog += bytes;
        if known.backlog == bytes {
            self.active.push_back(flow);
            if self.active.len() == 1 {
                self.begin(now, rate);
            }
        } else if self.active.front() == Some(&flow) {
            // it comes while its flow has its turn
            let more = bytes.min(self.quantum - self.turn);
            self.turn += more;
            self.ends += takes(more, rate);
        }
    }

    /// Whether a flow may ask for these bytes: it has the credit, or none of its Data wait.
    pub(super) fn admits(&mut self, flow: u32, bytes: u64) -> bool {
        let Flow { backlog, credit } = *self.flow(flow);
        backlog == 0 || credit >= bytes
    }

    /// It has asked for them.
    pub(super) fn charge(&mut self, flow: u32, bytes: u64) {
        let known = self.flow(flow);
        if known.backlog > 0 {
            known.credit -= bytes.min(known.credit);
        }
    }
}

/// How long the link takes for these bytes.
fn takes(bytes: u64, rate: Rate) -> Duration {
    let seconds = bytes as f64 * 8.0 / rate.as_bps_f64();
    Duration::from_secs_f64(seconds.min(LONGEST_S))
}

/// Our choice: so that a link next to nothing does not stop a flow for good.
const LONGEST_S: f64 = 10.0;
