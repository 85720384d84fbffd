//! TCP: a sender and a receiver with pluggable congestion control.
//!
//! Implemented: fast retransmit and recovery [RFC5681, RFC6582], fast retransmit without recovery (Tahoe) [J88], SACK
//! [RFC2018, RFC6675], limited transmit [RFC3042], the retransmission timer [RFC6298] with echoed timestamps [RFC7323],
//! ECN [RFC3168], delayed acknowledgements, detection and undo of spurious retransmissions [RFC3522, RFC4015], optional
//! proportional rate reduction [RFC9937] and loss detection by time [RFC8985], and samples of the delivery rate for
//! congestion control that requests them. Sequence numbers are 64 bits wide and start at 0.
//!
//! Not implemented: connection teardown, duplicate SACK, the heuristics of RFC 6582 §4.1 and §4.2, a smaller initial
//! window after a lost SYN, headers that grow with SACK blocks, a mark's effect on the retransmission timer at a window
//! of one segment [RFC3168 §6.1.2].

mod config;
mod receiver;
mod sack_compression;
mod sender;

pub use config::{
    Acks, AppLimited, Config, Demand, LossDetection, RecoveryTimer, Reduction, RtoFloor, SERIES, WindowPacing,
};
pub use receiver::Receiver;
pub use sender::{Inspection, Sender, State};
