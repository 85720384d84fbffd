//! Parser of datagrams. It accepts any input: the result is a datagram or a reason.

use contract::{Eid, Fragment, GroupId, SackBlocks, Signal, StreamHeader, TcpFlags, TcpHeader};

use super::write::{
    ACE_AT, ACK, AE, BLOCKS_AT, DATA_KIND, FEEDBACK_KIND, FIN, FULL_FLAG, PIECE_FLAG, PLAYER_KIND,
    SEGMENT_KIND, SIGNAL_KIND, SYN,
};
use super::{Data, Datagram, Frame, HEADING, LONGEST, MAGIC, Segment, TAG, VERSION};
use crate::reader::{MAX, Malformed, Reader};

impl<'a> Datagram<'a> {
    /// Divides a datagram into the bytes that the tag covers and the tag. `None` if it is too short.
    pub fn split(bytes: &[u8]) -> Option<(&[u8], &[u8; TAG])> {
        if bytes.len() < HEADING + TAG || bytes.len() > LONGEST {
            return None;
        }
        bytes.split_last_chunk()
    }

    /// Reads a datagram without its tag.
    ///
    /// # Errors
    ///
    /// [`Malformed`] if it is not a valid datagram of version 2.
    pub fn read(body: &'a [u8]) -> Result<Self, Malformed> {
        if body.len() + TAG > LONGEST {
            return Err(Malformed::Length);
        }
        let from = &mut Reader::of(body);
        let [magic, version, kind, flags] = from.array()?;
        match (magic, version) {
            (MAGIC, VERSION) => {}
            (MAGIC, _) => return Err(Malformed::Version),
            _ => return Err(Malformed::Foreign),
        }
        let (session, number) = (from.u32()?, from.u64()?);
        let known = |known: u8| if flags & !known == 0 { Ok(()) } else { Err(Malformed::Flags) };
        let frame = match kind {
            DATA_KIND => {
                known(PIECE_FLAG)?;
                Frame::Data(read_data(flags, from)?)
            }
            FEEDBACK_KIND => {
                known(0)?;
                Frame::Feedback { sent_at: from.time()?, label: from.label()? }
            }
            PLAYER_KIND => {
                known(FULL_FLAG)?;
                Frame::Player { sent_at: from.time()?, full: flags & FULL_FLAG != 0 }
            }
            SEGMENT_KIND => {
                known(SYN | FIN | 3 << ACE_AT | ACK | 3 << BLOCKS_AT | AE)?;
                Frame::Segment(read_segment(flags, from)?)
            }
            SIGNAL_KIND => {
                known(0)?;
                let (sent_at, signal) = (from.time()?, read_signal(from)?);
                Frame::Signal { sent_at, signal, padding: from.rest().len() }
            }
            _ => return Err(Malformed::Kind),
        };
        from.end(Self { session, number, frame })
    }
}

fn read_data<'a>(flags: u8, from: &mut Reader<'a>) -> Result<Data<'a>, Malformed> {
    let (sent_at, seq, bytes_before, label) = (from.time()?, from.u64()?, from.u64()?, from.label()?);
    let fragment = if flags & PIECE_FLAG != 0 {
        Fragment { frame: from.u32()?, frame_bytes: from.u32()? }
    } else {
        Fragment::default()
    };
    let length = usize::from(from.u16()?);
    let content = from.take(length)?;
    let padding = from.rest().len();
    if seq > MAX || bytes_before > MAX {
        return Err(Malformed::Value);
    }
    Ok(Data { sent_at, header: StreamHeader { seq, bytes_before, fragment }, label, content, padding })
}

fn read_signal(from: &mut Reader<'_>) -> Result<Signal, Malformed> {
    let (code, group) = (from.byte()?, GroupId(from.u32()?));
    Ok(match code {
        0 => Signal::Publish { group, gumgid: Eid(from.u64()?) },
        1 => Signal::Unpublish { group },
        2 => Signal::Join { group, gumgid: Eid(from.u64()?) },
        3 => Signal::Leave { group },
        4 => Signal::Accepted { group },
        5 => Signal::Probe { group, packets: from.byte()? },
        6 => Signal::Probed { group, index: from.byte()? },
        _ => return Err(Malformed::Value),
    })
}

fn read_segment<'a>(flags: u8, from: &mut Reader<'a>) -> Result<Segment<'a>, Malformed> {
    let (sent_at, seq) = (from.time()?, from.u64()?);
    let mut header = TcpHeader {
        seq,
        window_bytes: u32::MAX,
        flags: TcpFlags {
            syn: flags & SYN != 0,
            fin: flags & FIN != 0,
            // without effect on a stream
            psh: false,
            ace: flags >> ACE_AT & 3 | (flags & AE) >> 5,
        },
        ..TcpHeader::default()
    };
    let blocks = usize::from(flags >> BLOCKS_AT & 3);
    if flags & ACK != 0 {
        (header.ack, header.echo, header.window_bytes) = (from.u64()?, from.time()?, from.u32()?);
        let mut sack = SackBlocks::default();
        for (index, block) in sack.0[..blocks].iter_mut().enumerate() {
            *block = (from.u32()?, from.u32()?);
            // the first may be below the acknowledgement number                        [RFC2883 §4.1]
            if block.1 == block.0 || (index > 0 && block.1 < block.0) {
                return Err(Malformed::Value);
            }
        }
        header.sack = sack;
    } else if blocks > 0 {
        return Err(Malformed::Flags);
    }
    let content = from.rest();
    if header.seq > MAX || header.ack > MAX {
        return Err(Malformed::Value);
    }
    Ok(Segment { sent_at, header, content })
}
