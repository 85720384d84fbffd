//! Payload of a session's packets. State machines know sizes only; a session requests the bytes through these traits.
//!
//! Paced schemes carry the content of [`Payload`] and retransmit nothing; repair is a function of the payload. Windowed
//! schemes carry the byte stream of a [`ByteSource`], whose offsets are TCP's sequence numbers. In both cases the
//! receiving side can send short messages to the sending side. The session authenticates and carries them; they can be
//! lost, duplicated or reordered.

use contract::EndpointId;
use units::{Duration, Rate, Time};
use wire::stream::Reason;

use crate::KEY;

/// The state of a transfer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Status {
    /// It is in progress.
    #[default]
    InProgress,
    /// It is complete. At the source, every receiver has confirmed that it has everything; a receiver has everything
    /// and has confirmed it.
    Complete,
    /// It failed, with a message for users.
    Failed(String),
}

/// Who causes a time without data. Patience does not run out while a program is the cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pause {
    /// No program: there are data to deliver.
    None,
    /// The program at this end, which neither writes nor reads.
    Local,
    /// Possibly the program at the other end, which is trusted if it has the key.
    Remote,
}

/// The content that a sender sends.
pub enum Outgoing {
    /// For a paced scheme.
    Paced(Box<dyn Payload>),
    /// For a windowed scheme.
    Windowed(Box<dyn ByteSource>),
}

/// Where a receiver stores the content.
pub enum Incoming {
    /// For a paced scheme.
    Paced(Box<dyn Sink>),
    /// For a windowed scheme.
    Windowed(Box<dyn ByteSink>),
}

/// The rate of content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// As fast as the scheme allows, as from a file.
    Any,
    /// It is being measured until this instant at the earliest.
    Measuring(Time),
    /// This number of packets per duration.
    Packets(u64, Duration),
}

/// Maximum size of a message in bytes.
pub const MAX_MESSAGE_BYTES: usize = 1024;

/// The content of the packets of a paced scheme.
pub trait Payload: Send {
    /// Writes the content of packet `seq` into `room`. Returns its length; zero for none, in which case the packet
    /// still leaves, because the algorithm counts on it.
    fn fill(&mut self, seq: u64, now: Time, room: &mut [u8]) -> usize;

    /// When there is content; the session sends nothing before. Only content from a program or with a clock delays
    /// packets.
    fn ready(&mut self, now: Time) -> Time {
        now
    }

    /// The rate of the content, called before the first packet: a live stream starts at this rate.
    fn pace(&mut self, _now: Time) -> Pace {
        Pace::Any
    }

    /// A receiver is about to join in a session with this `binding`, which only the two ends know. Messages can be
    /// bound to it.
    fn bind(&mut self, _peer: EndpointId, _binding: &[u8; KEY]) {}

    /// A receiver joined, possibly again: what it has is unknown.
    fn on_join(&mut self, _peer: EndpointId) {}

    /// A receiver left or timed out.
    fn on_leave(&mut self, _peer: EndpointId) {}

    /// A message of a receiver arrived.
    fn on_message(&mut self, from: EndpointId, now: Time, message: &[u8]);

    /// An increasing measure of the content that receivers have taken, in any unit; patience counts from its last
    /// increase. `None` if unknown.
    fn progress(&self) -> Option<u64> {
        None
    }

    /// The progress of one receiver; `None` if nothing is expected of it.
    fn progress_of(&self, _peer: EndpointId) -> Option<u64> {
        None
    }

    /// Who causes the current lack of data.
    fn pause(&self) -> Pause {
        Pause::None
    }

    /// Maximum rate of the content, headers included.
    fn limit(&self) -> Rate {
        Rate::UNLIMITED
    }

    /// The state of the transfer.
    fn status(&self) -> Status;

    /// The reason for the other end if the transfer failed.
    fn reason(&self) -> Reason {
        Reason::Storage
    }
}

/// The receiver of the content of a paced scheme's packets.
pub trait Sink: Send {
    /// A session is about to open with this `binding`, which only the sender and this end know. Messages can be bound
    /// to it.
    fn bind(&mut self, _binding: &[u8; KEY]) {}

    /// Whether content is verified against the first offer. If not, only the same sender may continue.
    fn verifies(&self) -> bool {
        true
    }

    /// A session opened, possibly again after a timeout: packet numbers start at 0.
    fn on_open(&mut self) {}

    /// Takes the content of packet `seq`, in order of arrival; each packet at most once.
    fn take(&mut self, seq: u64, now: Time, content: &[u8]);

    /// Writes a message to the sender into `message`. Returns its length; zero for none. Called after every batch of
    /// packets and at [`Sink::wake`].
    fn write_message(&mut self, now: Time, message: &mut [u8; MAX_MESSAGE_BYTES]) -> usize;

    /// When [`Sink::write_message`] is to be called without an arrival.
    fn wake(&self) -> Time {
        Time::NEVER
    }

    /// The sender closed the session or timed out: no more data arrive.
    fn on_end(&mut self, _now: Time) {}

    /// An increasing measure of new data, in any unit; patience counts from its last increase. `None` if unknown.
    fn progress(&self) -> Option<u64> {
        None
    }

    /// Who causes the current lack of data.
    fn pause(&self) -> Pause {
        Pause::None
    }

    /// The state of the transfer.
    fn status(&self) -> Status;
}

/// The byte stream of a windowed scheme, from 0.
pub trait ByteSource: Send {
    /// One past the last byte that is available. It only increases.
    fn ready(&mut self, now: Time) -> u64;

    /// One past the last byte of the stream, when it is known.
    fn end(&self) -> Option<u64>;

    /// Reads bytes from `offset` on, all of which are available and not yet accepted by the transport.
    fn read(&mut self, offset: u64, room: &mut [u8]);

    /// The transport accepted the bytes below `offset`: it retransmits them if necessary, and does not read them again.
    fn on_accepted(&mut self, offset: u64);

    /// Binds the payload to a session, see [`Payload::bind`].
    fn bind(&mut self, _peer: EndpointId, _binding: &[u8; KEY]) {}

    /// The receiver joined, possibly again: the stream restarts at 0.
    fn on_join(&mut self, _peer: EndpointId) {}

    /// A message of the receiver arrived.
    fn on_message(&mut self, from: EndpointId, now: Time, message: &[u8]);

    /// An increasing measure of the content that the receiver has taken, in any unit; patience counts from its last
    /// increase. `None` if unknown.
    fn progress(&self) -> Option<u64> {
        None
    }

    /// Who causes the current lack of data.
    fn pause(&self) -> Pause {
        Pause::None
    }

    /// Maximum rate of the content, headers included.
    fn limit(&self) -> Rate {
        Rate::UNLIMITED
    }

    /// The state of the transfer.
    fn status(&self) -> Status;

    /// The reason for the other end if the transfer failed.
    fn reason(&self) -> Reason {
        Reason::Storage
    }
}

/// The receiver of a windowed scheme's byte stream.
pub trait ByteSink: Send {
    /// Binds the sink to a session, see [`Sink::bind`].
    fn bind(&mut self, _binding: &[u8; KEY]) {}

    /// Whether it verifies what it receives, see [`Sink::verifies`].
    fn verifies(&self) -> bool {
        true
    }

    /// A session opened, possibly again after a timeout: the stream starts at 0.
    fn on_open(&mut self) {}

    /// Takes bytes at `offset`, which may overlap earlier ones. Returns false if they cannot be stored: the session
    /// then treats their packet as lost.
    fn write(&mut self, offset: u64, bytes: &[u8]) -> bool;

    /// All bytes below `offset` have arrived.
    fn on_contiguous(&mut self, offset: u64, now: Time);

    /// Writes a message to the sender, as [`Sink::write_message`].
    fn write_message(&mut self, now: Time, message: &mut [u8; MAX_MESSAGE_BYTES]) -> usize;

    /// When [`ByteSink::write_message`] is to be called without an arrival.
    fn wake(&self) -> Time {
        Time::NEVER
    }

    /// The sender closed the session or timed out.
    fn on_end(&mut self, _now: Time) {}

    /// An increasing measure of new data, in any unit; patience counts from its last increase. `None` if unknown.
    fn progress(&self) -> Option<u64> {
        None
    }

    /// Who causes the current lack of data.
    fn pause(&self) -> Pause {
        Pause::None
    }

    /// The state of the transfer.
    fn status(&self) -> Status;
}
