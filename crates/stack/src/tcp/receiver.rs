//! TCP receiver: reassembly, delayed acknowledgements (RFC 5681 §4.2), SACK blocks (RFC 2018), ECN feedback (RFC 3168,
//! RFC 8257, RFC 9768), and acknowledgements that deceive the sender.

use contract::{
    Address, Count, Cx, Ecn, EcnFeedback, Endpoint, Header, Input, Label, Packet, SackBlocks, TcpFlags,
    TcpHeader,
};
use memory::LINE;
use units::{Bytes, Duration, Time};

use super::sack_compression::{EXPECTED_BLOCKS, SackCompression};
use super::{Acks, Config};
use crate::parts::Ranges;

/// The receiver of one connection. The application reads data as soon as they are in order.
///
/// It acknowledges every segment, or every second one with delayed acknowledgements. It acknowledges at once a segment
/// that is out of order, fills a gap, carries a CE mark or is the last of the flow [RFC5681 §4.2]. With SACK
/// compression, which departs from RFC 5681, it holds most acknowledgements of segments above a gap back for about a
/// millisecond.
///
/// # How it is driven
///
/// It is an [`Endpoint`]. [`Input::Packet`] is a segment. Its acknowledgement is in the outbox when `handle` returns,
/// or is sent by [`Input::Timer`] at [`Endpoint::wake`]. `Start`, `App`, `Mode` and `Stop` have no effect: a receiver
/// accepts packets at any time.
///
/// Its memory is laid out by cache lines: first the fields of every segment, at the end those that few segments use.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Receiver {
    /// Next byte expected.
    next: u64,
    /// The last acknowledgement number sent [RFC7323 §4.3: Last.ACK.sent].
    last_ack_sent: u64,
    /// The time stamp that the next acknowledgement echoes [RFC7323 §4.3: TS.Recent].
    echo: Time,
    /// When a delayed acknowledgement is due, or the one that stands for those that are held back.
    ack_at: Time,
    /// One past the last byte of the flow, once known.
    last: u64,
    to: Address,
    header_bytes: u32,
    window: Window,
    /// With SACK compression only.
    compression: Option<Box<SackCompression>>,
    /// Data above `next`.
    out_of_order: Ranges,
    /// Whether every segment is acknowledged at once; `None` if that depends on the segment, as with Linux's quick
    /// acknowledgements.
    at_once: Option<bool>,
    sack: bool,
    feedback: EcnFeedback,
    /// Whether ECE is set. Classic: a CE mark sets it, CWR from the sender clears it [RFC3168 §6.1.3]. DCTCP: whether
    /// the last segment was marked [RFC8257 §3.2: DCTCP.CE]. Accurate: the same, and ECE is not sent.
    echo_marks: bool,
    acks: Acks,
    delayed_ack: bool,
    /// Marked segments since the last acknowledgement; with accurate feedback only.
    unreported: u32,
    /// Payload of a full segment.
    segment: u32,
    /// Number of quick acknowledgements at the start, after an idle time and after duplicate data; zero for none.
    quick_acks: u32,
    /// Quick acknowledgements that are left [Linux: icsk_ack.quick].
    quick: u32,
    ack_delay: Duration,
    /// Idle time after which acknowledgements are quick, and the arrival of the last segment.
    pause: Duration,
    last_arrival: Time,
    /// Marked segments so far [RFC9768 §3.2.1: r.cep]; with accurate feedback only.
    marks: u64,
    /// One byte of each of the blocks reported last, newest first [RFC2018 §4]; `None` before the first.
    recent: Option<Box<[u64; 3]>>,
    /// Data that arrived again, which the next acknowledgement reports [RFC2883 §4].
    duplicate: Option<(u64, u64)>,
    /// Whether they are reported.
    dsack: bool,
}

impl Receiver {
    /// The cache lines from the first one on that a segment in order needs.
    pub const LINES: usize = std::mem::offset_of!(Self, segment).div_ceil(LINE);

    /// A receiver that sends its acknowledgements to `to`.
    pub fn new(config: &Config, to: Address) -> Self {
        let compresses = config.sack && config.sack_compression > Duration::ZERO;
        let compression = compresses.then(|| Box::new(SackCompression::new(config.sack_compression)));
        Self {
            next: 0,
            last_ack_sent: 0,
            echo: Time::ZERO,
            ack_at: Time::NEVER,
            last: u64::MAX,
            header_bytes: config.header.as_u64() as u32,
            segment: config.segment.as_u64() as u32,
            window: Window::new(config),
            ack_delay: config.ack_delay,
            delayed_ack: config.delayed_ack,
            at_once: (config.quick_acks == 0
                && config.receive_buffer == Bytes::UNLIMITED
                && compression.is_none())
            .then_some(!config.delayed_ack || config.acks != Acks::Honest),
            sack: config.sack,
            quick_acks: config.quick_acks,
            quick: config.quick_acks,
            pause: config.min_rto,
            last_arrival: Time::NEVER,
            feedback: config.ecn_feedback,
            echo_marks: false,
            marks: FIRST_ACE,
            unreported: 0,
            acks: config.acks,
            to,
            out_of_order: Ranges::new(),
            recent: None,
            duplicate: None,
            dsack: config.sack && config.dsack,
            compression,
        }
    }

    /// The next byte expected: all bytes below it have arrived.
    pub const fn expected(&self) -> u64 {
        self.next
    }

    /// Bytes that have arrived above the next byte expected.
    pub fn held_bytes(&self) -> u64 {
        self.out_of_order.bytes_within(self.next, u64::MAX)
    }

    /// Number of separate ranges that have arrived above the next byte expected.
    pub fn out_of_order_ranges(&self) -> usize {
        self.out_of_order.as_slice().len()
    }

    #[inline]
    fn on_segment(&mut self, packet: &Packet, header: &TcpHeader, cx: &mut Cx<'_>) {
        if header.flags.syn {
            return self.on_open(packet, cx);
        }
        // TS.Recent is the time stamp of the segment at which the acknowledgement starts   [RFC7323 §4.3]
        if header.seq <= self.last_ack_sent && packet.sent_at >= self.echo {
            self.echo = packet.sent_at;
        }
        let mut at_once = match self.at_once {
            Some(at_once) => at_once,
            None => self.is_quick_ack(packet, header, cx.now()),
        };
        if self.feedback == EcnFeedback::Classic {
            if header.flags.cwr() {
                self.echo_marks = false;
            }
            if packet.ecn == Ecn::Marked {
                at_once |= self.quick_acks == 0;
                self.echo_marks = true;
                cx.count(Count::Marks, 1);
            }
        } else {
            at_once |= self.note_mark(packet.ecn == Ecn::Marked, cx);
        }
        let end = header.seq + u64::from(packet.size_bytes.saturating_sub(self.header_bytes));
        if header.flags.fin {
            self.last = end;
            at_once = true;
        }
        if header.seq == self.next && self.out_of_order.is_empty() {
            self.next = end;
            cx.deliver(Bytes::new(end - header.seq));
            // the application has read everything, and no more may come soon
            // [Linux: tcp_measure_rcv_mss, tcp_cleanup_rbuf]
            at_once |= header.flags.psh;
        } else {
            self.on_out_of_order(header.seq, end, cx);
            if self.compression.is_some() && self.holds_back(end - header.seq, at_once, cx.now()) {
                return;
            }
            at_once = true;
        }
        if self.next >= self.last {
            cx.complete();
        }
        // every second segment                                                      [RFC5681 §4.2]
        if at_once || self.ack_at != Time::NEVER {
            self.acknowledge(cx);
        } else {
            self.ack_at = cx.now() + self.ack_delay;
        }
    }

    /// Handles the mark of a segment, or its absence, with DCTCP's or accurate feedback. Returns whether the segment is
    /// acknowledged at once.
    #[cold]
    fn note_mark(&mut self, marked: bool, cx: &mut Cx<'_>) -> bool {
        cx.count(Count::Marks, u64::from(marked));
        let changed = marked != self.echo_marks;
        if self.feedback == EcnFeedback::Dctcp {
            // segments that wait for an acknowledgement were all as the last one             [RFC8257 §3.2]
            if changed && self.ack_at != Time::NEVER {
                self.acknowledge(cx);
            }
            self.echo_marks = marked;
            return changed;
        }
        self.echo_marks = marked;
        self.marks += u64::from(marked);
        self.unreported += u32::from(marked);
        // the first of a run of marks, or two marks since the last acknowledgement           [RFC9768 §3.2.2.5.1]
        marked && (changed || self.unreported >= 2)
    }

    /// Whether a segment is acknowledged at once: always without delayed acknowledgements, otherwise in the cases where
    /// Linux does so for a sender with a small window [Linux: tcp_event_data_recv, tcp_data_ecn_check,
    /// tcp_ecn_accept_cwr].
    #[cold]
    fn is_quick_ack(&mut self, packet: &Packet, header: &TcpHeader, now: Time) -> bool {
        let last_arrival = std::mem::replace(&mut self.last_arrival, now);
        if last_arrival == Time::NEVER {
            if let Some(compression) = &mut self.compression {
                compression.on_first_segment(now);
            }
        } else if now - last_arrival > self.pause {
            self.quick = self.quick.max(self.quick_acks);
        }
        if self.feedback == EcnFeedback::Classic && packet.ecn == Ecn::Marked && !self.echo_marks {
            self.quick = self.quick.max(QUICK_AFTER_MARK.min(self.quick_acks));
        }
        if self.window.grow() {
            self.quick = self.quick.max(1);
        }
        let quick = self.quick > 0;
        self.quick = self.quick.saturating_sub(1);
        quick || header.flags.cwr() || !self.delayed_ack || self.acks != Acks::Honest
    }

    /// Takes data that are out of order, fill a gap, or are duplicates.
    #[cold]
    fn on_out_of_order(&mut self, start: u64, end: u64, cx: &mut Cx<'_>) {
        if start > self.next && self.acks == Acks::Optimistic {
            // what is missing counts as arrived
            self.next = end;
            cx.deliver(Bytes::new(end - start));
        } else if start > self.next {
            if self.compression.as_ref().is_some_and(|c| c.holds_some()) && self.moves_third_block(start, end)
            {
                self.acknowledge(cx);
            }
            let new = self.out_of_order.insert(start, end);
            cx.deliver(Bytes::new(new));
            if new == 0 {
                self.report_duplicate(start, end);
            }
            if self.sack {
                self.report_first(start);
            }
        } else if end > self.next {
            if start < self.next {
                self.report_duplicate(start, self.next);
            }
            let new = end - self.next - self.out_of_order.bytes_within(self.next, end);
            self.next = match self.out_of_order.as_slice().first() {
                Some(&(low, high)) if low <= end => high.max(end),
                _ => end,
            };
            self.out_of_order.remove_below(self.next);
            cx.deliver(Bytes::new(new));
        } else {
            self.report_duplicate(start, end);
            // this acknowledgement is the first quick one                           [Linux: tcp_enter_quickack_mode]
            self.quick = self.quick.max(self.quick_acks.saturating_sub(1));
        }
    }

    /// The next acknowledgement reports that `[start, end)` arrived again.
    fn report_duplicate(&mut self, start: u64, end: u64) {
        if self.dsack {
            self.duplicate = Some((start, end));
        }
    }

    /// Whether the acknowledgement of a segment of `len` bytes that is out of order or fills a gap is held back, with
    /// SACK compression. `quick` means that the segment is to be acknowledged at once for another reason
    /// [Linux: __tcp_ack_snd_check].
    #[cold]
    fn holds_back(&mut self, len: u64, quick: bool, now: Time) -> bool {
        let Some(compression) = &mut self.compression else { return false };
        if quick || self.out_of_order.is_empty() || self.next - self.last_ack_sent > len {
            return false;
        }
        let first = !compression.holds_some();
        let held = compression.holds_back(self.next);
        if held && first {
            self.ack_at = compression.due(now);
        }
        held
    }

    /// Whether the arrival of `[start, end)` above a gap extends a block that is not among the two reported first, or
    /// makes a third one. A sender that misses the next acknowledgement would not learn of the others
    /// [Linux: tcp_sack_new_ofo_skb].
    #[cold]
    fn moves_third_block(&self, start: u64, end: u64) -> bool {
        let (blocks, n) = self.reported();
        let extended = blocks[..n].iter().position(|block| start <= block.1 && block.0 <= end);
        extended.unwrap_or(n) >= EXPECTED_BLOCKS
    }

    /// Makes the block that contains byte `at` the first one reported.
    fn report_first(&mut self, at: u64) {
        let block = self.out_of_order.range_containing(at);
        let mut reported = [at, NOTHING, NOTHING];
        let mut n = 1;
        for &byte in self.recent() {
            let other = self.out_of_order.range_containing(byte);
            if n < reported.len() && other.is_some() && other != block {
                reported[n] = byte;
                n += 1;
            }
        }
        match &mut self.recent {
            Some(recent) => **recent = reported,
            None => self.recent = Some(Box::new(reported)),
        }
    }

    /// One byte of each of the blocks reported last.
    fn recent(&self) -> &[u64] {
        self.recent.as_deref().map_or(&[], |recent| recent)
    }

    /// Up to three SACK blocks: what arrived twice, the one of the newest arrival, then those reported last
    /// [RFC2018 §4, RFC2883 §4].
    #[cold]
    fn blocks(&mut self) -> SackBlocks {
        let mut blocks = SackBlocks::default();
        let (reported, n) = self.reported();
        let next = self.next;
        let offset = |at: u64| u32::try_from(at.abs_diff(next));
        // the part above the acknowledgement number is in a block of its own
        let duplicate =
            self.duplicate.take().map(|(start, end)| (start, if start < next { end.min(next) } else { end }));
        let all = duplicate.into_iter().chain(reported[..n].iter().copied());
        for (to, block) in blocks.0.iter_mut().zip(all) {
            if let (Ok(start), Ok(end)) = (offset(block.0), offset(block.1)) {
                *to = (start, end);
            }
        }
        blocks
    }

    /// The blocks reported last, newest first, and their number.
    #[cold]
    fn reported(&self) -> ([(u64, u64); 3], usize) {
        let mut blocks = [(0, 0); 3];
        let mut n = 0;
        for &byte in self.recent() {
            if let Some(block) = self.out_of_order.range_containing(byte)
                && !blocks[..n].contains(&block)
            {
                blocks[n] = block;
                n += 1;
            }
        }
        (blocks, n)
    }

    #[inline]
    fn acknowledge(&mut self, cx: &mut Cx<'_>) {
        let reports = self.sack && (!self.out_of_order.is_empty() || self.duplicate.is_some());
        let sack = if reports { self.blocks() } else { SackBlocks::default() };
        let before = std::mem::replace(&mut self.last_ack_sent, self.next);
        self.ack_at = Time::NEVER;
        if let Some(compression) = &mut self.compression {
            compression.on_acknowledged();
        }
        self.unreported = 0;
        let ace = match self.feedback {
            EcnFeedback::Accurate => (self.marks & ACE) as u8,
            EcnFeedback::Classic | EcnFeedback::Dctcp if self.echo_marks => TcpFlags::ECE,
            EcnFeedback::Classic | EcnFeedback::Dctcp => 0,
        };
        let flags = TcpFlags { ace, ..TcpFlags::default() };
        if self.acks == Acks::Divided {
            self.divide(before, flags, cx);
        }
        self.send(self.next, flags, sack, cx);
        match self.acks {
            Acks::Honest | Acks::Divided => {}
            Acks::Repeated => (0..COPIES).for_each(|_| self.send(self.next, flags, sack, cx)),
            Acks::Optimistic => {
                self.send((self.next + AHEAD * u64::from(self.segment)).min(self.last), flags, sack, cx);
            }
        }
    }

    /// Acknowledges, in parts, the data that have arrived since the last acknowledgement, except the last part.
    #[cold]
    fn divide(&self, before: u64, flags: TcpFlags, cx: &mut Cx<'_>) {
        let part = u64::from(self.segment).div_ceil(PARTS);
        let mut at = before + part;
        while at < self.next {
            self.send(at, flags, SackBlocks::default(), cx);
            at += part;
        }
    }

    #[cold]
    fn on_open(&mut self, packet: &Packet, cx: &mut Cx<'_>) {
        self.echo = packet.sent_at;
        if let Some(compression) = &mut self.compression {
            compression.on_open(cx.now());
        }
        self.send(self.next, TcpFlags { syn: true, ..TcpFlags::default() }, SackBlocks::default(), cx);
    }

    #[inline]
    fn send(&self, ack: u64, flags: TcpFlags, sack: SackBlocks, cx: &mut Cx<'_>) {
        let header = TcpHeader { seq: 0, ack, echo: self.echo, sack, window_bytes: self.window.bytes, flags };
        let size = Bytes::new(u64::from(self.header_bytes));
        cx.send(self.to.into(), size, Ecn::NotCapable, Header::Tcp(header), Label::default());
    }
}

impl Endpoint for Receiver {
    #[inline]
    fn handle(&mut self, input: Input<'_>, cx: &mut Cx<'_>) {
        match input {
            Input::Packet(packet) => {
                if let Header::Tcp(header) = &packet.header {
                    self.on_segment(packet, header, cx);
                }
            }
            Input::Timer => {
                if cx.now() >= self.ack_at {
                    self.acknowledge(cx);
                }
            }
            Input::Start | Input::App(_) | Input::Mode(_) | Input::Stop => {}
        }
    }

    #[inline]
    fn wake(&self) -> Time {
        self.ack_at
    }
}

/// The window that the receiver advertises.
#[derive(Clone, Copy, Debug)]
struct Window {
    /// [Linux: rcv_ssthresh]
    bytes: u32,
    /// Maximum [Linux: window_clamp].
    limit: u32,
    /// Growth by a segment.
    step: u32,
}

impl Window {
    fn new(config: &Config) -> Self {
        let whole = u32::try_from(config.receive_window.as_u64()).unwrap_or(u32::MAX);
        if config.receive_buffer == Bytes::UNLIMITED {
            return Self { bytes: whole, limit: whole, step: 0 };
        }
        let half = u32::try_from(config.receive_buffer.as_u64() / 2).unwrap_or(u32::MAX);
        let bytes = config.first_window().as_u64() as u32;
        // two maximum segments, options included                                        [Linux: tcp_grow_window]
        let step = 2 * (config.segment.as_u64() as u32 + TIMESTAMPS);
        Self { bytes, limit: half.min(whole), step }
    }

    /// Grows with a segment, up to the limit. Returns whether there was room.
    #[inline]
    fn grow(&mut self) -> bool {
        let grows = self.bytes < self.limit;
        self.bytes = self.bytes.saturating_add(self.step).min(self.limit);
        grows
    }
}

/// The option with time stamps, in bytes.
const TIMESTAMPS: u32 = 12;

/// Quick acknowledgements after the first CE mark [Linux: tcp_data_ecn_check].
const QUICK_AFTER_MARK: u32 = 2;

/// The bits of the ACE field [RFC9768 §3.2.2].
pub(super) const ACE: u64 = 0b111;
/// The first value of the counters of marked packets [RFC9768 §3.2.1].
pub(super) const FIRST_ACE: u64 = 5;

/// Acknowledgements of one segment with [`Acks::Divided`].
const PARTS: u64 = 8;
/// Further copies of an acknowledgement with [`Acks::Repeated`].
const COPIES: u32 = 4;
/// Segments that [`Acks::Optimistic`] acknowledges in advance.
const AHEAD: u64 = 4;

/// Stands for no byte; no connection reaches this number.
const NOTHING: u64 = u64::MAX;
