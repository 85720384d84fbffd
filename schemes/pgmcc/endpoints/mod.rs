//! PGMCC: the parts at the source and at receivers.

mod election;
mod headers;
mod loss;
mod naks;
mod receiver;
mod record;
mod source;
mod timeout;
mod window;

pub use receiver::Receiver;
pub use source::Sender;

#[cfg(test)]
pub(super) use {
    election::slowness,
    headers::{AckerField, DataHeader, PacketRange, ReceiverReport, ReportKind},
    loss::LossRate,
    record::{AckResult, Record},
    timeout::Timeout,
    window::Window,
};
