//! Queue disciplines. The plain FIFO is in the port, in `sim`.

mod codel;
mod round_robin;

use ambassador::Delegate;
use contract::{Backlog, PacketCx, PacketId, QueueDiscipline, Verdict, ambassador_impl_QueueDiscipline};

pub use codel::{Codel, CodelConfig, CodelLimit};
pub use round_robin::{ClassLimit, RoundRobin};

/// Any queue discipline that is not a plain FIFO.
#[derive(Debug, Delegate)]
#[delegate(QueueDiscipline)]
pub enum AnyQueue {
    /// One FIFO that drops or marks by the time that packets wait.
    Codel(Codel),
    /// Classes, each a FIFO.
    RoundRobin(RoundRobin),
}

impl AnyQueue {
    /// Changes how much may wait; in each class, where there are several. What waits already stays. Marking from a number of packets on
    /// is nothing that CoDel knows.
    pub fn set_limit(&mut self, limit: ClassLimit) {
        match self {
            Self::Codel(queue) => queue.set_limit(CodelLimit { packets: limit.packets, bytes: limit.bytes }),
            Self::RoundRobin(queue) => queue.set_limit(limit),
        }
    }
}
