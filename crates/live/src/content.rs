//! Payload of a session's packets. State machines know sizes only; a session requests the bytes through these traits.
//!
//! Paced schemes carry the content of [`Payload`] and retransmit nothing; repair is a function of the payload. Windowed schemes carry the byte stream
//! of a [`ByteSource`], whose offsets are TCP's sequence numbers. In both cases the receiving side can send short messages to the sending side. The
//! session authenticates and carries them; they can be lost, duplicated or reordered.

use contract::EndpointId;
use units::{Rate, Time};
use wire::stream::{KEY, Reason};

use crate::Pace;

/// How a transfer stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Status {
    /// There is more to do.
    #[default]
    Going,
    /// All is done: at the source, every receiver has said that it has the whole; at a receiver, it has it, and has said so.
    Whole,
    /// It cannot go on, and why, in a sentence for people.
    Failed(String),
}

/// Who may be waited for without data: patience does not run while somebody else is the cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waits {
    /// Nobody: there is something to deliver.
    Nobody,
    /// This end: its program writes nothing, or takes nothing.
    Here,
    /// Perhaps the other end, as far as it is trusted: its program may write nothing, or take nothing.
    There,
}

/// Maximum bytes of a word.
pub const MAX_MESSAGE_BYTES: usize = 1024;

/// What the packets of a paced scheme carry.
pub trait Payload: Send {
    /// Puts the content of packet `seq` into `room`; how many bytes of it are content. Zero where there is nothing to say: the packet leaves
    /// all the same, as long as the law says, since the law counts on it.
    fn fill(&mut self, seq: u64, now: Time, room: &mut [u8]) -> usize;

    /// When there is something to say: the session sends nothing before. At once, unless the content comes from a program or a clock.
    fn ready(&mut self, now: Time) -> Time {
        now
    }

    /// How fast content comes, asked before the first packet: a live stream starts at that rate.
    fn pace(&mut self, _now: Time) -> Pace {
        Pace::Any
    }

    /// A receiver is about to join by a session in which only it and this end know this value: what it says may be bound to it.
    fn bind(&mut self, _peer: EndpointId, _binding: &[u8; KEY]) {}

    /// A receiver is there, for the first time or again: nothing is known of what it has.
    fn on_join(&mut self, _peer: EndpointId) {}

    /// A receiver has gone, or has not been heard for too long.
    fn on_leave(&mut self, _peer: EndpointId) {}

    /// A receiver said something.
    fn on_message(&mut self, from: EndpointId, now: Time, word: &[u8]);

    /// What receivers have taken so far, in any unit that grows: patience counts from when it last grew. `None` where that is not known.
    fn moved(&self) -> Option<u64> {
        None
    }

    /// The same of one receiver; `None` where nothing is expected of it.
    fn moved_by(&self, _peer: EndpointId) -> Option<u64> {
        None
    }

    /// Who may be waited for though nothing moves.
    fn waits(&self) -> Waits {
        Waits::Nobody
    }

    /// The rate beyond which it gives nothing, headers included.
    fn limit(&self) -> Rate {
        Rate::UNLIMITED
    }

    /// How it stands.
    fn status(&self) -> Status;

    /// Where it cannot go on: what the other end is told of that.
    fn reason(&self) -> Reason {
        Reason::Storage
    }
}

/// What becomes of the content of a paced scheme's packets.
pub trait Sink: Send {
    /// A session is about to open in which only the sender and this end know this value: what is said may be bound to it.
    fn bind(&mut self, _binding: &[u8; KEY]) {}

    /// Whether what comes is checked against what was promised at first. Where it is not, only the sender that began may go on.
    fn verifies(&self) -> bool {
        true
    }

    /// A session opened, the first or another after the ends had lost each other: numbers of packets begin at 0.
    fn on_open(&mut self) {}

    /// The content of packet `seq`, in order of arrival; each packet at most once.
    fn take(&mut self, seq: u64, now: Time, content: &[u8]);

    /// A word to the sender, written into `word`; how long it is, or zero where there is nothing to say. Asked after every batch of packets and
    /// at [`Sink::wake`].
    fn speak(&mut self, now: Time, word: &mut [u8; MAX_MESSAGE_BYTES]) -> usize;

    /// When [`Sink::speak`] shall be asked though nothing arrives.
    fn wake(&self) -> Time {
        Time::NEVER
    }

    /// The sender said goodbye, or has not been heard for too long: what is there is all that comes.
    fn on_end(&mut self, _now: Time) {}

    /// What has come that is new, in any unit that grows: patience counts from when it last grew. `None` where that is not known.
    fn moved(&self) -> Option<u64> {
        None
    }

    /// Who may be waited for though nothing moves.
    fn waits(&self) -> Waits {
        Waits::Nobody
    }

    /// How it stands.
    fn status(&self) -> Status;
}

/// The byte stream of a windowed scheme, from 0.
pub trait ByteSource: Send {
    /// One past the last byte that is there by now. Grows only.
    fn ready(&mut self, now: Time) -> u64;

    /// One past the last byte of the stream, once that is known.
    fn end(&self) -> Option<u64>;

    /// The bytes from `offset` on, all of which are there and not yet acknowledged.
    fn read(&mut self, offset: u64, room: &mut [u8]);

    /// Bytes below `offset` were acknowledged and will not be read again.
    fn on_acknowledged(&mut self, offset: u64);

    /// As [`Payload::bind`].
    fn bind(&mut self, _peer: EndpointId, _binding: &[u8; KEY]) {}

    /// The receiver is there, for the first time or again: the stream starts over, at 0.
    fn on_join(&mut self, _peer: EndpointId) {}

    /// The receiver said something.
    fn on_message(&mut self, from: EndpointId, now: Time, word: &[u8]);

    /// What receivers have taken so far, in any unit that grows: patience counts from when it last grew. `None` where that is not known.
    fn moved(&self) -> Option<u64> {
        None
    }

    /// Who may be waited for though nothing moves.
    fn waits(&self) -> Waits {
        Waits::Nobody
    }

    /// The rate beyond which it gives nothing, headers included.
    fn limit(&self) -> Rate {
        Rate::UNLIMITED
    }

    /// How it stands.
    fn status(&self) -> Status;

    /// Where it cannot go on: what the other end is told of that.
    fn reason(&self) -> Reason {
        Reason::Storage
    }
}

/// What becomes of a windowed scheme's byte stream.
pub trait ByteSink: Send {
    /// As [`Sink::bind`].
    fn bind(&mut self, _binding: &[u8; KEY]) {}

    /// As [`Sink::verifies`].
    fn verifies(&self) -> bool {
        true
    }

    /// A session opened, the first or another after the ends had lost each other: the stream begins at 0.
    fn on_open(&mut self) {}

    /// Bytes at `offset`; they may overlap what came before. False where they cannot be kept: the session then treats their packet as lost.
    fn write(&mut self, offset: u64, bytes: &[u8]) -> bool;

    /// All bytes below `offset` have arrived.
    fn on_contiguous(&mut self, offset: u64, now: Time);

    /// A word to the sender, as [`Sink::speak`].
    fn speak(&mut self, now: Time, word: &mut [u8; MAX_MESSAGE_BYTES]) -> usize;

    /// When [`ByteSink::speak`] shall be asked though nothing arrives.
    fn wake(&self) -> Time {
        Time::NEVER
    }

    /// The sender said goodbye, or has not been heard for too long.
    fn on_end(&mut self, _now: Time) {}

    /// What has come that is new, in any unit that grows: patience counts from when it last grew. `None` where that is not known.
    fn moved(&self) -> Option<u64> {
        None
    }

    /// Who may be waited for though nothing moves.
    fn waits(&self) -> Waits {
        Waits::Nobody
    }

    /// How it stands.
    fn status(&self) -> Status;
}
