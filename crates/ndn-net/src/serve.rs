//! The producer: a file in segments, signed with their digests.

use std::fs::File;
use std::io;
use std::sync::atomic::Ordering;

use units::Duration;
use wire::ndn::{
    Arguments, Data, Interest, LinkHeader, Metadata, Name, NameView, Packet, Response, Token, Unsigned,
    command, kind,
};

use super::{Control, Face, Failure, Traffic, Transport};
use crate::random::mix;
use crate::request::{POLL_INTERVAL, Retries, request};

/// Settings of a producer.
#[derive(Clone, Debug)]
pub struct Serve {
    /// The name of the file, without a version.
    pub name: Name,
    /// Its version: microseconds since 1970, or any increasing number.
    pub version: u64,
    /// Bytes of a segment, from 1 to [`Serve::LONGEST_SEGMENT`].
    pub segment: usize,
    /// Freshness period of metadata, which is the maximum delay until a new version is noticed.
    pub freshness: Duration,
    /// Whether to register the prefix with the forwarder; otherwise it needs a route by other means.
    pub register: bool,
    /// Cost of the route that is registered.
    pub cost: u64,
    /// Milliseconds since 1970 at the start, for the signatures of commands.
    pub began_ms: u64,
}

impl Serve {
    /// Maximum size of a segment in bytes: with a long name and a signature it fits into a packet.
    pub const LONGEST_SEGMENT: usize = 8400;

    /// Serves a file under this name and version as ndnd does: segments of 8000 bytes, fresh for 4 s
    /// [ndnd: object, client_produce].
    pub const fn new(name: Name, version: u64, began_ms: u64) -> Self {
        let freshness = Duration::from_secs(4);
        Self { name, version, segment: 8000, freshness, register: true, cost: 0, began_ms }
    }
}

/// Content to be served, with random access.
pub trait Content {
    /// Size in bytes, which must not change.
    fn size(&self) -> u64;

    /// Reads bytes from `offset` on, as many as fit into `into`. Fails if they are not available.
    fn read(&mut self, offset: u64, into: &mut [u8]) -> io::Result<()>;
}

impl Content for Vec<u8> {
    fn size(&self) -> u64 {
        self.len() as u64
    }

    fn read(&mut self, offset: u64, into: &mut [u8]) -> io::Result<()> {
        let from = usize::try_from(offset).ok().and_then(|at| self.get(at..)?.get(..into.len()));
        into.copy_from_slice(from.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }
}

/// Content in a file, which is read on request.
#[cfg(unix)]
#[derive(Debug)]
pub struct OnDisk {
    file: File,
    size: u64,
}

#[cfg(unix)]
impl OnDisk {
    /// An open file. Fails for other than plain files, because their size is unknown.
    pub fn open(file: File) -> io::Result<Self> {
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no plain file"));
        }
        Ok(Self { file, size: metadata.len() })
    }
}

#[cfg(unix)]
impl Content for OnDisk {
    fn size(&self) -> u64 {
        self.size
    }

    fn read(&mut self, offset: u64, into: &mut [u8]) -> io::Result<()> {
        std::os::unix::fs::FileExt::read_exact_at(&self.file, into, offset)
    }
}

/// The result of a producer.
#[derive(Debug, Default)]
pub struct Served {
    /// Why it ended, unless it was stopped.
    pub failure: Option<Failure>,
    /// Interests received.
    pub interests: u64,
    /// Segments sent, repetitions included.
    pub segments: u64,
    /// Bytes of content in them.
    pub bytes: u64,
    /// Metadata sent.
    pub metadata: u64,
    /// Interests for unknown names.
    pub unknown: u64,
    /// Time from the first Interest to the last.
    pub span: Duration,
    /// Counters of the face.
    pub traffic: Traffic,
}

/// Serves `content` over `face` until `control` stops it. Panics if segments are longer than the maximum.
pub fn serve<C: Transport>(
    face: &mut Face<C>,
    serve: &Serve,
    content: &mut dyn Content,
    control: &Control,
) -> Served {
    let mut served = Served::default();
    served.failure = Producer::new(serve, content).run(face, control, &mut served).err();
    served.traffic = face.traffic();
    served
}

/// The answer to an Interest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wanted {
    Metadata,
    Segment(u64),
}

struct Producer<'a> {
    serve: &'a Serve,
    content: &'a mut dyn Content,
    /// The name with its version.
    versioned: Name,
    /// The prefix of the metadata.
    metadata: Name,
    /// Number of the last segment.
    last: u64,
}

impl<'a> Producer<'a> {
    fn new(serve: &'a Serve, content: &'a mut dyn Content) -> Self {
        let mut versioned = serve.name.clone();
        versioned.push_number(kind::VERSION, serve.version);
        let metadata = Metadata::name_of(serve.name.view());
        let last = content.size().saturating_sub(1) / serve.segment.max(1) as u64;
        assert!((1..=Serve::LONGEST_SEGMENT).contains(&serve.segment), "segments fit into packets");
        Self { serve, content, versioned, metadata, last }
    }

    fn run<C: Transport>(
        &mut self,
        face: &mut Face<C>,
        control: &Control,
        served: &mut Served,
    ) -> Result<(), Failure> {
        if self.serve.register {
            self.route(face, "register", REGISTER, control)?;
        }
        control.whole.store(self.content.size(), Ordering::Relaxed);
        control.ready.store(true, Ordering::Relaxed);
        let result = self.answer_all(face, control, served);
        if self.serve.register && result.is_ok() {
            // the forwarder removes the route with the face
            let _ = self.route(face, "unregister", UNREGISTER, &Control::new());
        }
        result
    }

    /// Registers the prefix with the forwarder, or unregisters it.
    fn route<C: Transport>(
        &self,
        face: &mut Face<C>,
        verb: &str,
        retries: Retries,
        control: &Control,
    ) -> Result<(), Failure> {
        let mut arguments = Arguments::route(self.serve.name.clone());
        if verb == "register" {
            arguments.cost = Some(self.serve.cost);
        }
        let local = face.transport().is_local();
        let host = if local { wire::ndn::Command::LOCAL } else { wire::ndn::Command::NEXT };
        let requests: Name = format!("{host}/rib/{verb}").parse().map_err(|_| Failure::Stopped)?;
        // the answer has the name of the command, whatever its signature is
        let question = Interest { name: requests.view(), can_be_prefix: true, ..Interest::default() };
        let began_ms = self.serve.began_ms;
        let mut tries = 0;
        let mut make = |nonce: u32, out: &mut Vec<u8>| {
            tries += 1;
            let nonce = mix(u64::from(nonce) << 32 | tries);
            command(local, ("rib", verb), &arguments, nonce, began_ms + tries, out);
        };
        let mut answer = Vec::new();
        request(face, &question, &mut make, retries, control, &mut answer).map_err(
            |failure| match failure {
                Failure::Unanswered { waited, .. } => Failure::Refused {
                    name: self.serve.name.to_string(),
                    code: 0,
                    text: format!("it did not answer in {waited}"),
                },
                other => other,
            },
        )?;
        let useless =
            |why: wire::ndn::Malformed| Failure::Useless { name: requests.to_string(), why: why.to_string() };
        let data = Data::read(&answer).map_err(useless)?;
        let response = Response::read(data.content).map_err(useless)?;
        if response.code == Response::OK {
            return Ok(());
        }
        let Response { code, text, .. } = response;
        Err(Failure::Refused { name: self.serve.name.to_string(), code, text })
    }

    fn answer_all<C: Transport>(
        &mut self,
        face: &mut Face<C>,
        control: &Control,
        served: &mut Served,
    ) -> Result<(), Failure> {
        let mut requests: Vec<(Wanted, Token)> = Vec::new();
        let mut packet = Vec::new();
        let mut content = vec![0; self.serve.segment];
        let mut began = None;
        while !control.stopped() {
            let now = face.transport().now();
            let before = served.interests;
            // while the forwarder does not read, no more Interests are read
            let some = !face.transport().is_full()
                && face.receive(&mut |header, packet| {
                    let Packet::Interest(interest) = packet else { return };
                    if header.nack.is_some() {
                        return;
                    }
                    served.interests += 1;
                    match self.wanted(interest) {
                        Some(wanted) => requests.push((wanted, header.token)),
                        None => served.unknown += 1,
                    }
                })?;
            for (wanted, token) in requests.drain(..) {
                packet.clear();
                match wanted {
                    Wanted::Metadata => {
                        self.write_metadata(&mut packet);
                        served.metadata += 1;
                    }
                    Wanted::Segment(segment) => {
                        let length = self.write_segment(segment, &mut content, &mut packet)?;
                        served.segments += 1;
                        served.bytes += length as u64;
                    }
                }
                face.send(&packet, LinkHeader { token, ..LinkHeader::default() })?;
            }
            face.flush()?;
            if served.interests > before {
                served.span = now.saturating_since(*began.get_or_insert(now));
                control.segments.store(served.interests, Ordering::Relaxed);
                control.bytes.store(served.bytes, Ordering::Relaxed);
            }
            if !some {
                face.transport().wait(now + POLL_INTERVAL);
            }
        }
        Ok(())
    }

    /// What an Interest requests, if it exists.
    fn wanted(&self, interest: &Interest<'_>) -> Option<Wanted> {
        let name = interest.name;
        if name == self.metadata.view() && interest.can_be_prefix {
            return Some(Wanted::Metadata);
        }
        let mut newest = self.metadata.clone();
        newest.push_number(kind::VERSION, self.serve.version);
        if name.starts_with(newest.view()) {
            let (above, last) = name.split_last()?;
            let exact = above == newest.view() && last.segment() == Some(0);
            return (exact || name == newest.view() && interest.can_be_prefix).then_some(Wanted::Metadata);
        }
        let at = |name: NameView<'_>| name == self.versioned.view() || name == self.serve.name.view();
        if at(name) {
            return interest.can_be_prefix.then_some(Wanted::Segment(0));
        }
        let (above, last) = name.split_last()?;
        let segment = last.segment().filter(|segment| *segment <= self.last)?;
        (above == self.versioned.view()).then_some(Wanted::Segment(segment))
    }

    fn write_metadata(&self, packet: &mut Vec<u8>) {
        let mut name = self.metadata.clone();
        name.push_number(kind::VERSION, self.serve.version).push_number(kind::SEGMENT, 0);
        let record = Metadata {
            name: self.versioned.clone(),
            last_segment: Some(self.last),
            size: Some(self.content.size()),
        };
        let mut content = Vec::new();
        record.write(&mut content);
        self.sign(name.view(), 0, &content, packet);
    }

    /// Writes a segment. Returns the length of its content.
    fn write_segment(
        &mut self,
        segment: u64,
        room: &mut [u8],
        packet: &mut Vec<u8>,
    ) -> Result<usize, Failure> {
        let mut name = self.versioned.clone();
        name.push_number(kind::SEGMENT, segment);
        let offset = segment * self.serve.segment as u64;
        let length = (self.content.size() - offset).min(room.len() as u64) as usize;
        self.content.read(offset, &mut room[..length]).map_err(Failure::Read)?;
        self.sign(name.view(), self.last, &room[..length], packet);
        Ok(length)
    }

    fn sign(&self, name: NameView<'_>, last: u64, content: &[u8], packet: &mut Vec<u8>) {
        let mut block = Name::new();
        block.push_number(kind::SEGMENT, last);
        let freshness_ms = self.serve.freshness.as_nanos() / 1_000_000;
        let final_block = block.view().last();
        Unsigned { name, content_type: 0, freshness_ms, final_block, content }.sign(packet);
    }
}

/// Timeout of a command [ndnd: 1 s for a command].
const REGISTER: Retries = Retries { attempts: 3, timeout: Duration::from_secs(1) };
/// Timeout of the command at the end.
const UNREGISTER: Retries = Retries { attempts: 1, timeout: Duration::from_millis(300) };
