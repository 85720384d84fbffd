//! PGMCC: the parts at the source and at receivers.

mod election;
mod loss;
mod naks;
mod receiver;
mod record;
mod source;
mod timeout;
mod window;
mod words;

pub use receiver::Receiver;
pub use source::Sender;

#[cfg(test)]
pub(super) use {
    election::slowness,
    loss::LossRate,
    record::{News, Record},
    timeout::Timeout,
    window::Window,
    words::{Named, Run, Said, Stamp, Word},
};
