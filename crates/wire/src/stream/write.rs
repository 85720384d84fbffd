//! Writer of datagrams.

use contract::{Signal, TcpHeader};
use units::Time;

use super::{Data, Datagram, Frame, MAGIC, Segment, VERSION};

pub(super) const DATA_KIND: u8 = 16;
pub(super) const FEEDBACK_KIND: u8 = 17;
pub(super) const PLAYER_KIND: u8 = 18;
pub(super) const SEGMENT_KIND: u8 = 19;
pub(super) const SIGNAL_KIND: u8 = 20;

// flags of data
pub(super) const PIECE_FLAG: u8 = 1;
// of a player's feedback
pub(super) const FULL_FLAG: u8 = 1;
// of a segment; two bits more count its blocks
pub(super) const SYN: u8 = 1;
pub(super) const FIN: u8 = 2;
/// ECE and CWR; AE is apart from them.
pub(super) const ACE_AT: u8 = 2;
pub(super) const AE: u8 = 128;
pub(super) const ACK: u8 = 16;
pub(super) const BLOCKS_AT: u8 = 5;

impl Datagram<'_> {
    /// Appends the datagram without its tag; [`TAG`] bytes must follow.
    ///
    /// Content that is too long for its field is truncated.
    pub fn write(&self, out: &mut Vec<u8>) {
        let (kind, flags) = self.frame.kind();
        out.extend_from_slice(&[MAGIC, VERSION, kind, flags]);
        out.extend_from_slice(&self.session.to_be_bytes());
        out.extend_from_slice(&self.number.to_be_bytes());
        match &self.frame {
            Frame::Data(data) => write_data(data, out),
            Frame::Feedback { sent_at, label } => {
                time(*sent_at, out);
                label.0.iter().for_each(|frame| out.extend_from_slice(&frame.to_be_bytes()));
            }
            Frame::Player { sent_at, .. } => time(*sent_at, out),
            Frame::Segment(segment) => write_segment(segment, out),
            Frame::Signal { sent_at, signal, padding } => {
                time(*sent_at, out);
                write_signal(signal, out);
                out.resize(out.len() + padding, 0);
            }
        }
    }
}

impl Frame<'_> {
    /// The kind on the wire, and its flags.
    fn kind(&self) -> (u8, u8) {
        let flag = |is: bool, flag: u8| if is { flag } else { 0 };
        match self {
            Self::Data(data) => (DATA_KIND, flag(has_piece(data), PIECE_FLAG)),
            Self::Feedback { .. } => (FEEDBACK_KIND, 0),
            Self::Player { full, .. } => (PLAYER_KIND, flag(*full, FULL_FLAG)),
            Self::Segment(segment) => {
                let TcpHeader { flags, sack, .. } = &segment.header;
                let blocks = sack.len() as u8;
                let flags = flag(flags.syn, SYN)
                    | flag(flags.fin, FIN)
                    | (flags.ace & 3) << ACE_AT
                    | flag(flags.ace & 4 != 0, AE)
                    | flag(acknowledges(&segment.header), ACK)
                    | blocks << BLOCKS_AT;
                (SEGMENT_KIND, flags)
            }
            Self::Signal { .. } => (SIGNAL_KIND, 0),
        }
    }
}

fn has_piece(data: &Data<'_>) -> bool {
    data.header.fragment.frame_bytes > 0 || data.header.fragment.frame > 0
}

/// Whether the header acknowledges data.
fn acknowledges(header: &TcpHeader) -> bool {
    header.ack > 0 || header.echo > Time::ZERO || header.window_bytes != u32::MAX || !header.sack.is_empty()
}

fn time(at: Time, out: &mut Vec<u8>) {
    out.extend_from_slice(&at.as_nanos().to_be_bytes());
}

fn write_data(data: &Data<'_>, out: &mut Vec<u8>) {
    time(data.sent_at, out);
    out.extend_from_slice(&data.header.seq.to_be_bytes());
    out.extend_from_slice(&data.header.bytes_before.to_be_bytes());
    data.label.0.iter().for_each(|frame| out.extend_from_slice(&frame.to_be_bytes()));
    if has_piece(data) {
        out.extend_from_slice(&data.header.fragment.frame.to_be_bytes());
        out.extend_from_slice(&data.header.fragment.frame_bytes.to_be_bytes());
    }
    let content = &data.content[..data.content.len().min(usize::from(u16::MAX))];
    out.extend_from_slice(&(content.len() as u16).to_be_bytes());
    out.extend_from_slice(content);
    out.resize(out.len() + data.padding, 0);
}

/// The code of a signal; `None` for signals between routers.
pub(super) const fn signal_code(signal: &Signal) -> Option<u8> {
    Some(match signal {
        Signal::Publish { .. } => 0,
        Signal::Unpublish { .. } => 1,
        Signal::Join { .. } => 2,
        Signal::Leave { .. } => 3,
        Signal::Accepted { .. } => 4,
        Signal::Probe { .. } => 5,
        Signal::Probed { .. } => 6,
        Signal::Register { .. }
        | Signal::Withdraw { .. }
        | Signal::Resolve { .. }
        | Signal::Resolved { .. } => return None,
    })
}

/// Writes a signal; nothing for signals without a code.
fn write_signal(signal: &Signal, out: &mut Vec<u8>) {
    let Some(code) = signal_code(signal) else { return };
    out.push(code);
    match signal {
        Signal::Publish { group, gumgid } | Signal::Join { group, gumgid } => {
            out.extend_from_slice(&group.0.to_be_bytes());
            out.extend_from_slice(&gumgid.0.to_be_bytes());
        }
        Signal::Probe { group, packets: count } | Signal::Probed { group, index: count } => {
            out.extend_from_slice(&group.0.to_be_bytes());
            out.push(*count);
        }
        Signal::Unpublish { group } | Signal::Leave { group } | Signal::Accepted { group } => {
            out.extend_from_slice(&group.0.to_be_bytes());
        }
        Signal::Register { .. }
        | Signal::Withdraw { .. }
        | Signal::Resolve { .. }
        | Signal::Resolved { .. } => {}
    }
}

fn write_segment(segment: &Segment<'_>, out: &mut Vec<u8>) {
    let header = &segment.header;
    time(segment.sent_at, out);
    out.extend_from_slice(&header.seq.to_be_bytes());
    if acknowledges(header) {
        out.extend_from_slice(&header.ack.to_be_bytes());
        time(header.echo, out);
        out.extend_from_slice(&header.window_bytes.to_be_bytes());
        for (from, to) in &header.sack.0[..header.sack.len()] {
            out.extend_from_slice(&from.to_be_bytes());
            out.extend_from_slice(&to.to_be_bytes());
        }
    }
    out.extend_from_slice(segment.content);
}
