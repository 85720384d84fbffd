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
    headers::{AckerField, DataHeader, ReceiverReport, ReportKind, Run},
    loss::LossRate,
    record::{News, Record},
    timeout::Timeout,
    window::Window,
};
