//! From the arguments of a user to the payload of a session, at both ends.

use std::fs::File;
use std::io::Read;
use std::path::PathBuf;
use std::sync::Arc;

use units::{Duration, Rate};
use wire::stream::{DATA, Offer, SEGMENT, Transport};

use super::destination::Destination;
use super::new_file::Spool;
use super::rate_limit::RateLimited;
use super::rejection::Rejection;
use super::{
    BlockSink, BlockSource, Bytes, Collector, FileStore, Fountain, Kind, LiveStream, Manifest, PipeStore,
    Playout, Reassembly, Receivers, Tally, TransferError,
};
use crate::content::{ByteSource, Incoming, Outgoing, Payload};

/// A request of a user to send.
pub struct Task {
    /// The source.
    pub from: Source,
    /// The name for receivers.
    pub name: String,
    /// Deadline of the pieces of a live stream. Without one every byte is delivered.
    pub deadline: Option<Duration>,
    /// A limit of the rate.
    pub rate: Option<Rate>,
    /// Bytes of a data packet with all headers, including IP and UDP.
    pub packet: u16,
    /// Bytes of a packet that prove its sender, in packets to a group.
    pub proof: u16,
    /// How the scheme carries data.
    pub transport: Transport,
    /// A random number, for objects without a hash.
    pub id: u64,
    /// The receivers that a group waits for.
    pub receivers: Receivers,
}

/// The source of the data.
pub enum Source {
    /// A file.
    File(PathBuf),
    /// A program, through a pipe.
    Pipe(Box<dyn Read + Send>),
}

/// Headers of IPv6 and UDP, so that packets fit for IPv4 and IPv6 receivers.
const OUTER: u16 = 48;

/// The content and its manifest.
type Loaded<T> = Result<Option<(Box<T>, Manifest)>, TransferError>;

impl Task {
    /// Reads what must be known before the first packet. Returns the content for a session, and the manifest for its
    /// offer; `None` if `keep_going`, which is called repeatedly, returns false.
    ///
    /// # Errors
    ///
    /// A message for users: the source cannot be read or sent.
    pub fn load(
        self,
        tally: &Arc<Tally>,
        keep_going: &dyn Fn() -> bool,
    ) -> Result<Option<(Outgoing, Vec<u8>)>, TransferError> {
        super::check_name(&self.name)
            .map_err(|why| TransferError::Refused(format!("a file called {:?}: {why}", self.name)))?;
        let (rate, proof) = (self.rate, self.proof);
        let loaded = match self.transport {
            Transport::Paced => self.paced(tally, keep_going)?.map(|(payload, manifest)| {
                let capped: Box<dyn Payload> = match rate {
                    Some(rate) => {
                        let headers = u64::from(OUTER + proof) + DATA as u64;
                        Box::new(RateLimited::new(payload, rate, headers))
                    }
                    None => payload,
                };
                (Outgoing::Paced(capped), manifest)
            }),
            Transport::Windowed => self.windowed(tally, keep_going)?.map(|(source, manifest)| {
                let capped: Box<dyn ByteSource> = match rate {
                    Some(rate) => Box::new(RateLimited::new(source, rate, u64::from(OUTER) + SEGMENT as u64)),
                    None => source,
                };
                (Outgoing::Windowed(capped), manifest)
            }),
        };
        Ok(loaded.map(|(cargo, manifest)| {
            let mut about = Vec::new();
            manifest.write(&mut about);
            (cargo, about)
        }))
    }

    fn paced(self, tally: &Arc<Tally>, keep_going: &dyn Fn() -> bool) -> Loaded<dyn Payload> {
        let room = usize::from(self.packet.saturating_sub(OUTER + self.proof)).saturating_sub(DATA);
        let short = || TransferError::Refused(format!("packets of {} bytes are too short", self.packet));
        let symbol_bytes = Fountain::symbol_bytes(room).ok_or_else(short)?;
        if let Some(deadline) = self.deadline {
            let pipe: Box<dyn Read + Send> = match self.from {
                Source::Pipe(pipe) => pipe,
                Source::File(path) => Box::new(File::open(&path).map_err(TransferError::at(&path))?),
            };
            let live = LiveStream::new(pipe, &self.name, self.id, room, deadline, Arc::clone(tally));
            let manifest = live.manifest().clone();
            return Ok(Some((Box::new(live), manifest)));
        }
        let (store, manifest): (Box<dyn super::Store>, Manifest) = match self.from {
            Source::Pipe(pipe) => {
                let (store, manifest) = PipeStore::new(pipe, &self.name, self.id, symbol_bytes, tally);
                (Box::new(store), manifest)
            }
            Source::File(path) => {
                match FileStore::open(&path, &self.name, symbol_bytes, tally, keep_going)? {
                    Some((store, manifest)) => (Box::new(store), manifest),
                    None => return Ok(None),
                }
            }
        };
        let fountain = Fountain::new(manifest.clone(), store, self.receivers, Arc::clone(tally));
        Ok(Some((Box::new(fountain), manifest)))
    }

    fn windowed(self, tally: &Arc<Tally>, keep_going: &dyn Fn() -> bool) -> Loaded<dyn ByteSource> {
        if self.deadline.is_some() {
            let message =
                "a scheme with a window retransmits what is lost: a live stream needs one that paces";
            return Err(TransferError::Refused(message.to_owned()));
        }
        match self.from {
            Source::Pipe(pipe) => {
                let (bytes, manifest) = Bytes::of_pipe(pipe, &self.name, self.id, Arc::clone(tally));
                Ok(Some((Box::new(bytes), manifest)))
            }
            Source::File(path) => {
                let symbol_bytes = self.packet.clamp(16, 9000);
                let opened = FileStore::open(&path, &self.name, symbol_bytes, tally, keep_going)?;
                Ok(opened.map(|(store, manifest)| {
                    let source = BlockSource::new(store, &manifest, Arc::clone(tally));
                    (Box::new(source) as Box<dyn ByteSource>, manifest)
                }))
            }
        }
    }
}

/// The manifest in an offer that was made by [`Task::load`].
pub fn offered(offer: &Offer) -> Option<Manifest> {
    Manifest::read(&offer.about).map(|(manifest, _)| manifest)
}

/// The store of a session for an offer. `window` is the receive window of a byte stream.
///
/// If the content cannot be stored, it is refused with a message to the other end.
///
/// # Errors
///
/// A message for users: the offer is not known.
pub fn keep(offer: &Offer, into: Destination, window: u32, tally: &Arc<Tally>) -> Result<Incoming, String> {
    let manifest = offered(offer).ok_or("what is offered is no file and no stream of `thalweg send`")?;
    let paced = offer.transport == Transport::Paced;
    let is_live = matches!(manifest.kind, Kind::Live(_));
    let kept: Result<Incoming, TransferError> = match (manifest.kind, paced) {
        _ if matches!(into, Destination::Player(_)) && !is_live => {
            Err(TransferError::Refused("this receiver takes live streams only".to_owned()))
        }
        (Kind::Live(_), true) => playout(&manifest, into, tally).map(|sink| Incoming::Paced(Box::new(sink))),
        (Kind::Live(_), false) => {
            return Err("a live stream is offered by a scheme with a window".to_owned());
        }
        (_, true) => Ok(Incoming::Paced(Box::new(Collector::of(manifest, into, Arc::clone(tally))))),
        (Kind::File, false) => {
            Ok(Incoming::Windowed(Box::new(BlockSink::new(manifest, into, window, Arc::clone(tally)))))
        }
        (_, false) => Reassembly::open(manifest, into, window, Arc::clone(tally))
            .map(|sink| Incoming::Windowed(Box::new(sink))),
    };
    Ok(kept.unwrap_or_else(|error| {
        let refusal = Rejection::new(error.to_string());
        if paced { Incoming::Paced(Box::new(refusal)) } else { Incoming::Windowed(Box::new(refusal)) }
    }))
}

/// A live stream goes to a program, or into a new file, which gets its name when the stream has ended.
fn playout(manifest: &Manifest, into: Destination, tally: &Arc<Tally>) -> Result<Playout, TransferError> {
    match into {
        Destination::Pipe(pipe) | Destination::Player(pipe) => Ok(Playout::new(pipe, Arc::clone(tally))),
        Destination::Folder { path, name, replace, me: _ } => {
            let name = name.as_deref().unwrap_or(&manifest.name);
            super::check_name(name)
                .map_err(|why| TransferError::Refused(format!("the name {name:?}: {why}")))?;
            Playout::into_file(Spool::create(&path, name, replace)?, Arc::clone(tally))
        }
    }
}
