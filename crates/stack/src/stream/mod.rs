//! Streams: paced datagrams one way, small feedback packets the other. Unicast is a group of one.
//!
//! The data are unlimited, or the frames of a [`Video`], which a [`Player`] plays.
//!
//! [`Sender`] and [`Receiver`] handle numbers, times, pacing and the detection of missing packets; the two parts of a
//! scheme determine the rate and the feedback.

mod config;
mod encoder;
mod fragments;
mod frame_queue;
mod gaps;
mod pacer;
mod player;
mod receiver;
mod sender;
#[cfg(test)]
mod tests;
mod video;
#[cfg(test)]
mod video_tests;

pub use config::{Config, Depends, ENCODER_SERIES, Modes, PLAYER_SERIES, Player, SERIES, VIDEO_SERIES};
pub use encoder::{EncoderModel, LiveEncoder};
pub use fragments::FrameDelays;
pub use player::{FrameConsumer, Playing};
pub use receiver::Receiver;
pub use sender::Sender;
pub use video::{FrameType, Frames, Video};
