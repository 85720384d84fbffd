//! Fragmentation, for links with a smaller maximum frame size [NDNLPv2: Fragmentation].

use units::{Duration, Time};

use super::{LONGEST, LinkHeader, LinkPacket};

/// Divides packets into fragments for one link.
#[derive(Clone, Debug)]
pub struct Fragmenter {
    /// Maximum frame size.
    mtu: usize,
    /// Sequence number of the next fragment.
    next: u64,
    /// A frame, kept to avoid allocation.
    frame: Vec<u8>,
}

/// Maximum header bytes of a fragment besides its fields: type and length of the link packet and of the fragment.
const HEADS: usize = 1 + 3 + 1 + 3;
/// Fields that only fragments have: sequence number, and index and count of one byte each, two for the longest packets.
const PIECE: usize = 10 + 4 + 4;

impl Fragmenter {
    /// Minimum of the maximum frame size, in bytes. All header fields take at most 138, so that there is room for
    /// content.
    pub const MIN_MTU: usize = 256;

    /// A fragmenter for frames of at most `mtu` bytes. `first` is the first sequence number: a random one, so that
    /// fragments before a restart are not mixed with those after it.
    ///
    /// Panics below [`Fragmenter::MIN_MTU`].
    pub fn new(mtu: usize, first: u64) -> Self {
        assert!(mtu >= Self::MIN_MTU, "frames have room for all fields and some of the packet");
        Self { mtu, next: first, frame: Vec::new() }
    }

    /// Maximum frame size in bytes.
    pub const fn mtu(&self) -> usize {
        self.mtu
    }

    /// Passes the frames of `packet` to `each` in order. The first frame carries the header, all of them the congestion
    /// mark.
    pub fn cut(&mut self, packet: &[u8], header: LinkHeader, mut each: impl FnMut(&[u8])) {
        let whole = LinkPacket::whole(header, packet);
        let fields = whole.fields_size();
        if packet.len() + if fields > 0 { HEADS + fields } else { 0 } <= self.mtu {
            self.frame.clear();
            whole.write(&mut self.frame);
            each(&self.frame);
            return;
        }
        let room = self.mtu - HEADS - PIECE - fields;
        let count = packet.len().div_ceil(room) as u64;
        let rest = LinkHeader { mark: header.mark, ..LinkHeader::default() };
        for (index, fragment) in (0..count).zip(packet.chunks(room)) {
            let piece = LinkPacket {
                header: if index == 0 { header } else { rest },
                sequence: Some(self.next),
                index,
                count,
                fragment,
            };
            self.next = self.next.wrapping_add(1);
            self.frame.clear();
            piece.write(&mut self.frame);
            each(&self.frame);
        }
    }
}

/// Why a fragment was rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// It is a duplicate, or inconsistent with other fragments of its packet.
    Odd,
    /// Its packet would be too long, or has too many fragments.
    TooLong,
}

/// Reassembles fragments of one link.
///
/// Memory is bounded for any input: a maximum number of packets, of which the oldest is given up for a new one; each of
/// at most [`LONGEST`] bytes in [`Reassembly::PIECES`] fragments. Packets that are incomplete after
/// [`Reassembly::PATIENCE`] are given up.
#[derive(Clone, Debug)]
pub struct Reassembly {
    /// Maximum number of incomplete packets.
    max: usize,
    /// Incomplete packets; those without fragments are free.
    partial: Vec<Partial>,
    /// The packet that was last reassembled, if its fragments arrived out of order.
    ordered: Vec<u8>,
    /// Number of packets that were given up.
    lost: u64,
}

#[derive(Clone, Debug, Default)]
struct Partial {
    /// Sequence number of the first fragment.
    base: u64,
    /// Arrival of its first fragment.
    since: Time,
    header: LinkHeader,
    /// Number of fragments of the packet.
    count: usize,
    /// The fragments in order of arrival.
    bytes: Vec<u8>,
    /// Per fragment in order of arrival: its index, and its end in `bytes`.
    pieces: Vec<(u8, u16)>,
}

const _: () = assert!(LONGEST <= u16::MAX as usize && Reassembly::PIECES <= u8::MAX as usize + 1);

impl Default for Reassembly {
    fn default() -> Self {
        Self::new()
    }
}

impl Reassembly {
    /// Default maximum of incomplete packets. Our choice: four windows of a busy link's burst; ndnd has 16.
    pub const PACKETS: usize = 64;
    /// Maximum number of fragments of a packet. Our choice: [`LONGEST`] over links of [`Fragmenter::MIN_MTU`], with a
    /// margin.
    pub const PIECES: usize = 128;
    /// Maximum time until a packet is complete [NFD: LpReassembler].
    pub const PATIENCE: Duration = Duration::from_millis(500);

    /// A reassembler for [`Reassembly::PACKETS`] incomplete packets.
    pub fn new() -> Self {
        Self::for_packets(Self::PACKETS)
    }

    /// A reassembler for at most `max` incomplete packets, and at least one.
    pub fn for_packets(max: usize) -> Self {
        Self { max: max.max(1), partial: Vec::new(), ordered: Vec::new(), lost: 0 }
    }

    /// Number of packets that were given up.
    pub const fn lost(&self) -> u64 {
        self.lost
    }

    /// Takes a link packet. Returns the packet with its link header, if it is or becomes complete.
    ///
    /// The link header is the first fragment's, with the mark of any fragment.
    pub fn take<'s, 'p: 's>(
        &'s mut self,
        piece: &LinkPacket<'p>,
        now: Time,
    ) -> Result<Option<(LinkHeader, &'s [u8])>, Refusal> {
        if piece.count <= 1 {
            return Ok(Some((piece.header, piece.fragment)).filter(|(_, packet)| !packet.is_empty()));
        }
        let count = usize::try_from(piece.count).ok().filter(|count| *count <= Self::PIECES);
        let count = count.ok_or(Refusal::TooLong)?;
        let index = piece.index as u8;
        // only numbered link packets are fragments, others are rejected earlier
        let base = piece.sequence.unwrap_or_default().wrapping_sub(piece.index);
        let at = self.place(base, count, now);
        let partial = &mut self.partial[at];
        let known = partial.pieces.iter().any(|(other, _)| *other == index);
        if partial.count != count || known || piece.fragment.is_empty() {
            return Err(Refusal::Odd);
        }
        if partial.bytes.len() + piece.fragment.len() > LONGEST {
            partial.pieces.clear();
            self.lost += 1;
            return Err(Refusal::TooLong);
        }
        // differs: a mark on any fragment counts, not only on the first, because forwarders mark fragments
        // independently
        let mark = partial.header.mark.max(piece.header.mark);
        if index == 0 {
            partial.header = piece.header;
        }
        partial.header.mark = mark;
        partial.bytes.extend_from_slice(piece.fragment);
        partial.pieces.push((index, partial.bytes.len() as u16));
        if partial.pieces.len() < count {
            return Ok(None);
        }
        Ok(Some(self.complete(at)))
    }

    /// The index of the incomplete packet whose first fragment has the number `base`; a new one if necessary.
    fn place(&mut self, base: u64, count: usize, now: Time) -> usize {
        let (mut free, mut oldest) = (None, 0);
        for at in 0..self.partial.len() {
            let partial = &mut self.partial[at];
            if !partial.pieces.is_empty() && now.saturating_since(partial.since) > Self::PATIENCE {
                partial.pieces.clear();
                self.lost += 1;
            }
            let partial = &self.partial[at];
            if partial.pieces.is_empty() {
                free = Some(at);
            } else if partial.base == base {
                return at;
            } else if partial.since < self.partial[oldest].since || self.partial[oldest].pieces.is_empty() {
                oldest = at;
            }
        }
        let at = match free {
            Some(at) => at,
            None if self.partial.len() < self.max => {
                self.partial.push(Partial::default());
                self.partial.len() - 1
            }
            None => {
                self.lost += 1;
                oldest
            }
        };
        let partial = &mut self.partial[at];
        (partial.base, partial.since, partial.count) = (base, now, count);
        partial.header = LinkHeader::default();
        partial.bytes.clear();
        partial.pieces.clear();
        at
    }

    /// Returns a packet of which all fragments have arrived.
    fn complete(&mut self, at: usize) -> (LinkHeader, &[u8]) {
        let partial = &mut self.partial[at];
        let in_order = partial.pieces.iter().enumerate().all(|(i, (index, _))| i == usize::from(*index));
        if in_order {
            partial.pieces.clear();
            return (partial.header, &partial.bytes);
        }
        self.ordered.clear();
        for wanted in 0..partial.count {
            let found = partial.pieces.iter().position(|(index, _)| usize::from(*index) == wanted);
            // the fragments are distinct and as many as the packet has
            let Some(found) = found else { continue };
            let end = usize::from(partial.pieces[found].1);
            let begin = found.checked_sub(1).map_or(0, |before| usize::from(partial.pieces[before].1));
            self.ordered.extend_from_slice(&partial.bytes[begin..end]);
        }
        partial.pieces.clear();
        (partial.header, &self.ordered)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ndn::{Name, Reason, Token, Unsigned};

    fn data(length: usize) -> Vec<u8> {
        let name: Name = "/a/seg=0".parse().expect("a name");
        let content: Vec<u8> = (0..length).map(|i| (i % 251) as u8).collect();
        let mut out = Vec::new();
        Unsigned { name: name.view(), content: &content, ..Unsigned::default() }.sign(&mut out);
        out
    }

    fn frames(fragmenter: &mut Fragmenter, packet: &[u8], header: LinkHeader) -> Vec<Vec<u8>> {
        let mut frames = Vec::new();
        fragmenter.cut(packet, header, |frame| frames.push(frame.to_vec()));
        frames
    }

    fn take(reassembly: &mut Reassembly, frame: &[u8], at_ms: u64) -> Option<(LinkHeader, Vec<u8>)> {
        let piece = LinkPacket::read(frame).expect("a link packet");
        let now = Time::ZERO + Duration::from_millis(at_ms);
        let whole = reassembly.take(&piece, now).expect("it is kept");
        whole.map(|(header, packet)| (header, packet.to_vec()))
    }

    fn marked() -> LinkHeader {
        LinkHeader { token: Token::new(&[7; 6]).expect("it is short"), mark: 1, ..LinkHeader::default() }
    }

    #[test]
    fn a_packet_that_fits_goes_whole() {
        let packet = data(1000);
        let mut fragmenter = Fragmenter::new(1420, 5);
        assert_eq!(frames(&mut fragmenter, &packet, LinkHeader::default()), std::slice::from_ref(&packet));
        let framed = frames(&mut fragmenter, &packet, marked());
        assert_eq!(framed.len(), 1);
        let whole = take(&mut Reassembly::new(), &framed[0], 0);
        assert_eq!(whole, Some((marked(), packet)));
    }

    #[test]
    fn pieces_come_together_in_any_order() {
        let packet = data(8000);
        let mut fragmenter = Fragmenter::new(1420, u64::MAX - 2);
        let mut framed = frames(&mut fragmenter, &packet, marked());
        assert_eq!(framed.len(), 6);
        assert!(framed.iter().all(|frame| frame.len() <= 1420));
        let mut reassembly = Reassembly::new();
        for order in 0..2 {
            if order == 1 {
                framed.reverse();
                framed.swap(1, 3);
            }
            let mut whole = None;
            for frame in &framed {
                assert_eq!(whole, None, "it is whole with the last piece");
                whole = take(&mut reassembly, frame, 0);
            }
            assert_eq!(whole, Some((marked(), packet.clone())));
        }
        assert_eq!(reassembly.lost(), 0);
    }

    #[test]
    fn a_mark_on_any_piece_counts() {
        let packet = data(3000);
        let mut fragmenter = Fragmenter::new(1420, 0);
        let framed = frames(&mut fragmenter, &packet, LinkHeader::default());
        let mut reassembly = Reassembly::new();
        for (i, frame) in framed.iter().enumerate() {
            let mut piece = LinkPacket::read(frame).expect("a link packet");
            piece.header.mark = u64::from(i == 1);
            piece.header.nack = (i == 0).then_some(Reason::NONE);
            let whole = reassembly.take(&piece, Time::ZERO).expect("it is kept");
            if i == 2 {
                let (header, _) = whole.expect("it is whole");
                assert_eq!((header.mark, header.nack), (1, Some(Reason::NONE)));
            }
        }
    }

    #[test]
    fn copies_and_contradictions_are_refused() {
        let mut fragmenter = Fragmenter::new(1420, 10);
        let framed = frames(&mut fragmenter, &data(3000), LinkHeader::default());
        let mut reassembly = Reassembly::new();
        take(&mut reassembly, &framed[0], 0);
        let copy = LinkPacket::read(&framed[0]).expect("a link packet");
        assert_eq!(reassembly.take(&copy, Time::ZERO), Err(Refusal::Odd));
        let longer = LinkPacket { count: 9, index: 1, sequence: Some(11), ..copy };
        assert_eq!(reassembly.take(&longer, Time::ZERO), Err(Refusal::Odd));
        let many = LinkPacket { count: 1 << 40, ..copy };
        assert_eq!(reassembly.take(&many, Time::ZERO), Err(Refusal::TooLong));
        take(&mut reassembly, &framed[1], 0);
        assert!(take(&mut reassembly, &framed[2], 0).is_some());
    }

    #[test]
    fn what_is_never_whole_takes_bounded_room() {
        let mut reassembly = Reassembly::new();
        for base in 0..1000 {
            let piece = LinkPacket {
                sequence: Some(base * 10),
                count: 8,
                fragment: &[1; 1000],
                ..LinkPacket::default()
            };
            assert_eq!(reassembly.take(&piece, Time::ZERO), Ok(None));
        }
        assert_eq!(reassembly.partial.len(), Reassembly::PACKETS);
        assert_eq!(reassembly.lost(), 1000 - Reassembly::PACKETS as u64);
        let mut small = Reassembly::for_packets(2);
        let first = |base| LinkPacket {
            sequence: Some(base),
            count: 2,
            fragment: &[1; 1000],
            ..LinkPacket::default()
        };
        for base in [10, 20, 30] {
            assert_eq!(small.take(&first(base), Time::ZERO), Ok(None));
        }
        assert_eq!((small.partial.len(), small.lost()), (2, 1));
        // longer than any packet
        let mut refused = 0;
        for index in 0..20 {
            let sequence = Some(50_000 + index);
            let piece =
                LinkPacket { sequence, index, count: 20, fragment: &[1; 1000], ..LinkPacket::default() };
            refused += u64::from(reassembly.take(&piece, Time::ZERO).is_err());
        }
        assert_eq!(refused, 2, "once for the ninth piece, and again when it had started over");
    }

    #[test]
    fn patience_ends() {
        let mut fragmenter = Fragmenter::new(1420, 0);
        let framed = frames(&mut fragmenter, &data(2000), LinkHeader::default());
        let mut reassembly = Reassembly::new();
        assert_eq!(take(&mut reassembly, &framed[0], 0), None);
        assert_eq!(take(&mut reassembly, &framed[1], 600), None, "the first piece is forgotten");
        assert_eq!(reassembly.lost(), 1);
        assert!(take(&mut reassembly, &framed[0], 700).is_some());
    }
}
