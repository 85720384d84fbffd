//! TCP: a sender and a receiver that a congestion law plugs into.
//!
//! In: fast retransmit and recovery [RFC5681, RFC6582], SACK [RFC2018, RFC6675], limited transmit [RFC3042], the
//! retransmission timer [RFC6298] with echoed timestamps [RFC7323], ECN [RFC3168], delayed acknowledgements, needless
//! retransmissions found and undone [RFC3522, RFC4015], proportional rate reduction [RFC9937] and losses found by time
//! [RFC8985] for those who ask, samples of the delivery rate for laws that ask. Sequence numbers are 64 bits wide and count
//! from 0.
//!
//! Not in: connection teardown, duplicate SACK, reduction in proportion after a mark, the heuristics of RFC 6582 §4.1 and
//! §4.2, a smaller initial window after a lost SYN, headers that grow with SACK blocks, a
//! mark's effect on the retransmission timer at a window of one segment [RFC3168 §6.1.2].

mod config;
mod receiver;
mod sender;

pub use config::{Config, Demand, LossDetection, RecoveryTimer, Reduction, RtoFloor, SERIES};
pub use receiver::Receiver;
pub use sender::Sender;
