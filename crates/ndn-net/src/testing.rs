//! A simulated network for tests: a clock, a link with a rate, a delay and a queue, and a remote end that answers.

use std::collections::BTreeMap;
use std::sync::Arc;

use contract::Random;
use units::{Duration, Rate, Time};
use wire::ndn::{
    Data, Fragmenter, Interest, LinkHeader, LinkPacket, Metadata, Name, NameView, Packet, Reassembly,
    Unsigned, kind,
};

use super::{Control, Face, Transport, TransportError};

/// The remote end: a function of a packet and its link header, which returns the answers.
pub(super) type Answer<'a> =
    Box<dyn FnMut(Time, &LinkHeader, &Packet<'_>) -> Vec<(LinkHeader, Vec<u8>)> + 'a>;

/// What happens to frames on their way back.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Faults {
    /// Share that is lost.
    pub(super) loss: f64,
    /// Share that is duplicated.
    pub(super) double: f64,
    /// Share of which a byte is changed.
    pub(super) damage: f64,
    /// Share that is delayed by up to 5 ms, and thus reordered.
    pub(super) late: f64,
}

/// A transport over a simulated link.
pub(super) struct Net<'a> {
    now: Time,
    answer: Answer<'a>,
    reassembly: Reassembly,
    fragmenter: Fragmenter,
    coming: BTreeMap<(Time, u64), Vec<u8>>,
    order: u64,
    random: Random,
    /// The link back is busy until then.
    busy: Time,
    pub(super) rate: Rate,
    pub(super) delay: Duration,
    /// Longest time that a frame waits for the link; longer ones are lost.
    pub(super) queue: Duration,
    /// From this wait on frames are marked.
    pub(super) marks: Duration,
    pub(super) faults: Faults,
    pub(super) local: bool,
    mtu: usize,
    /// When it is stopped.
    pub(super) stop_at: Option<(Time, Arc<Control>)>,
    /// When the connection fails.
    pub(super) breaks_at: Time,
    pub(super) queueing_delay: u64,
}

impl<'a> Net<'a> {
    pub(super) fn new(mtu: usize, answer: Answer<'a>) -> Self {
        Self {
            now: Time::from_nanos(1),
            answer,
            reassembly: Reassembly::new(),
            fragmenter: Fragmenter::new(mtu, 77),
            coming: BTreeMap::new(),
            order: 0,
            random: Random::new(5, "net", "faults"),
            busy: Time::ZERO,
            rate: Rate::from_bps(50_000_000),
            delay: Duration::from_millis(5),
            queue: Duration::from_millis(50),
            marks: Duration::MAX,
            faults: Faults::default(),
            local: true,
            mtu,
            stop_at: None,
            breaks_at: Time::NEVER,
            queueing_delay: 0,
        }
    }

    pub(super) fn face(self) -> Face<Self> {
        Face::new(self, 1000)
    }

    /// A frame arrives after its time in the queue and on the link.
    fn deliver(&mut self, mut frame: Vec<u8>) {
        let Faults { loss, double, damage, late } = self.faults;
        let starts = self.busy.max(self.now);
        let queueing_delay = starts.saturating_since(self.now);
        if queueing_delay > self.queue {
            return;
        }
        if queueing_delay > self.marks {
            let packet = LinkPacket::read(&frame).expect("ours");
            let header = LinkHeader { mark: 1, ..packet.header };
            let mut marked = Vec::new();
            LinkPacket { header, ..packet }.write(&mut marked);
            frame = marked;
        }
        self.busy = starts + self.rate.time_for_floor(units::Bytes::new(frame.len() as u64 + 28));
        if self.random.chance(loss) {
            return;
        }
        let copies = 1 + u64::from(self.random.chance(double));
        if self.random.chance(damage) {
            let at = self.random.below(frame.len() as u64) as usize;
            frame[at] ^= 1 << self.random.below(8);
        }
        for _ in 0..copies {
            let more = if self.random.chance(late) { self.random.below(5_000_000) } else { 0 };
            let at = self.busy + self.delay + Duration::from_nanos(more);
            self.order += 1;
            self.coming.insert((at, self.order), frame.clone());
        }
    }

    /// Sends an unsolicited packet from the remote end.
    pub(super) fn push(&mut self, header: LinkHeader, packet: &[u8]) {
        let mut frames = Vec::new();
        self.fragmenter.cut(packet, header, |frame| frames.push(frame.to_vec()));
        frames.into_iter().for_each(|frame| self.deliver(frame));
    }
}

impl Transport for Net<'_> {
    fn now(&mut self) -> Time {
        self.now
    }

    fn wait(&mut self, until: Time) {
        self.queueing_delay += 1;
        let next = self.coming.keys().next().map_or(Time::NEVER, |(at, _)| *at);
        assert!(until.min(next) != Time::NEVER, "a wait never ends");
        // a real clock advances, too
        self.now = self.now.max(until.min(next)) + Duration::from_nanos(100);
        if let Some((at, control)) = &self.stop_at
            && self.now >= *at
        {
            control.stop();
        }
    }

    fn receive(&mut self, take: &mut dyn FnMut(&[u8])) -> Result<bool, TransportError> {
        if self.now >= self.breaks_at {
            return Err(TransportError::Closed);
        }
        let mut some = false;
        for _ in 0..16 {
            let Some(first) = self.coming.first_entry().filter(|first| first.key().0 <= self.now) else {
                break;
            };
            take(&first.remove());
            some = true;
        }
        Ok(some)
    }

    fn send(&mut self, frame: &[u8]) -> Result<bool, TransportError> {
        let piece = LinkPacket::read(frame).expect("we send what can be read");
        let later = self.now + self.delay;
        let Ok(Some((header, bytes))) = self.reassembly.take(&piece, self.now) else { return Ok(true) };
        let packet = Packet::read(bytes).expect("we send what can be read");
        let answers = (self.answer)(later, &header, &packet);
        let now = std::mem::replace(&mut self.now, later);
        for (header, packet) in answers {
            self.push(header, &packet);
        }
        self.now = now;
        Ok(true)
    }

    fn flush(&mut self) -> Result<(), TransportError> {
        Ok(())
    }

    fn is_full(&self) -> bool {
        false
    }

    fn mtu(&self) -> usize {
        self.mtu
    }

    fn is_local(&self) -> bool {
        self.local
    }
}

/// A file that is served at the far end.
#[derive(Clone, Debug)]
pub(super) struct File {
    pub(super) name: Name,
    pub(super) version: u64,
    pub(super) content: Vec<u8>,
    pub(super) segment: usize,
}

impl File {
    pub(super) fn new(size: usize) -> Self {
        let content = (0..size).map(|i| (i * i / 7 % 251) as u8).collect();
        Self { name: "/test/file".parse().expect("a name"), version: 7, content, segment: 1000 }
    }

    pub(super) fn versioned(&self) -> Name {
        let mut name = self.name.clone();
        name.push_number(kind::VERSION, self.version);
        name
    }

    pub(super) fn last(&self) -> u64 {
        (self.content.len().saturating_sub(1) / self.segment) as u64
    }

    fn data(&self, name: NameView<'_>, content: &[u8]) -> Vec<u8> {
        let mut block = Name::new();
        block.push_number(kind::SEGMENT, self.last());
        let mut out = Vec::new();
        Unsigned { name, final_block: block.view().last(), content, ..Unsigned::default() }.sign(&mut out);
        out
    }

    pub(super) fn segment(&self, segment: u64) -> Vec<u8> {
        let mut name = self.versioned();
        name.push_number(kind::SEGMENT, segment);
        let from = segment as usize * self.segment;
        let to = self.content.len().min(from + self.segment);
        self.data(name.view(), &self.content[from..to])
    }

    pub(super) fn metadata(&self) -> Vec<u8> {
        let mut name = Metadata::name_of(self.name.view());
        name.push_number(kind::VERSION, 1).push_number(kind::SEGMENT, 0);
        let metadata = Metadata { name: self.versioned(), last_segment: Some(self.last()), size: None };
        let mut content = Vec::new();
        metadata.write(&mut content);
        self.data(name.view(), &content)
    }

    /// The Data that answer an Interest, if there are any.
    pub(super) fn answer(&self, interest: &Interest<'_>) -> Option<Vec<u8>> {
        let metadata = self.metadata();
        if interest.asks_for(Data::read(&metadata).expect("ours").name) {
            return Some(metadata);
        }
        let segment = interest.name.last().and_then(|last| last.segment()).unwrap_or(0);
        if segment > self.last() {
            return None;
        }
        let data = self.segment(segment);
        let asked = interest.asks_for(Data::read(&data).expect("ours").name);
        asked.then_some(data)
    }

    /// A far end that serves it.
    pub(super) fn serve(self) -> Answer<'static> {
        Box::new(move |_, header, packet| match packet {
            Packet::Interest(interest) => {
                let header = LinkHeader { token: header.token, ..LinkHeader::default() };
                self.answer(interest).map(|data| (header, data)).into_iter().collect()
            }
            Packet::Data(_) => Vec::new(),
        })
    }
}
