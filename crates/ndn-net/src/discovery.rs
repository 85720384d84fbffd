//! Discovery of the version of a file, its number of segments, and its first segment.

use units::Duration;
use wire::ndn::{Data, Interest, Metadata, Name, kind};

use super::{Control, Face, Failure, Transport};
use crate::request::{Retries, request};

/// How the version of a file is found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Discovery {
    /// By its metadata, as in ndnd and ndn-tools.
    #[default]
    Metadata,
    /// By the first segment that arrives below the name.
    Prefix,
    /// The name is complete: segments are directly below it.
    None,
}

/// The result of the discovery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Discovered {
    /// The name of segments without their number.
    pub(super) name: Name,
    /// Number of the last segment.
    pub(super) last: u64,
    /// Its size, if known.
    pub(super) size: Option<u64>,
    /// The first segment, a Data packet.
    pub(super) first: Vec<u8>,
}

/// One second, with three retransmissions [ndnd: object, client_consume].
const PATIENCE: Retries = Retries { attempts: 4, timeout: Duration::from_secs(1) };

/// Finds the newest version of `name`, or the one in the name, and fetches its first segment.
pub(super) fn discover<C: Transport>(
    face: &mut Face<C>,
    name: &Name,
    discovery: Discovery,
    control: &Control,
) -> Result<Discovered, Failure> {
    let versioned = name.view().last().is_some_and(|last| last.version().is_some());
    let discovery = if versioned { Discovery::None } else { discovery };
    let mut answer = Vec::new();
    let (versioned, last, size) = match discovery {
        Discovery::None => (name.clone(), None, None),
        Discovery::Metadata => {
            let metadata = Metadata::name_of(name.view());
            let data = question(face, &metadata, true, control, &mut answer)?;
            read(name, &data)?
        }
        Discovery::Prefix => {
            let data = question(face, name, true, control, &mut answer)?;
            // the first Data may be metadata
            if data.name.starts_with(Metadata::name_of(name.view()).view()) {
                read(name, &data)?
            } else {
                let above = data.name.split_last().filter(|(_, last)| last.segment().is_some());
                let none = || useless(name, format!("{} is no segment", data.name));
                (above.ok_or_else(none)?.0.to_name(), None, None)
            }
        }
    };
    let mut first = versioned.clone();
    first.push_number(kind::SEGMENT, 0);
    let mut packet = Vec::new();
    let data = question(face, &first, false, control, &mut packet)?;
    let last_number = data.final_block.and_then(|last| last.segment()).or(last);
    let last = last_number.ok_or_else(|| useless(&first, "it does not name the last segment".to_owned()))?;
    if last >= contract::Name::SEGMENTS {
        return Err(useless(&first, format!("{last} segments are too many")));
    }
    Ok(Discovered { name: versioned, last, size, first: packet })
}

/// The content of metadata of a file: the name with its version, the last segment, the size.
fn read(file: &Name, data: &Data<'_>) -> Result<(Name, Option<u64>, Option<u64>), Failure> {
    let name = data.name.to_name();
    let metadata = Metadata::read(data.content).map_err(|why| useless(&name, why.to_string()))?;
    if !metadata.name.view().starts_with(file.view()) {
        return Err(useless(&name, format!("it is about {}", metadata.name)));
    }
    Ok((metadata.name, metadata.last_segment, metadata.size))
}

fn useless(name: &Name, why: String) -> Failure {
    Failure::Useless { name: name.to_string(), why }
}

/// One request, for fresh Data below the name or for an exact name.
fn question<'a, C: Transport>(
    face: &mut Face<C>,
    name: &Name,
    below: bool,
    control: &Control,
    answer: &'a mut Vec<u8>,
) -> Result<Data<'a>, Failure> {
    let interest = Interest {
        name: name.view(),
        can_be_prefix: below,
        must_be_fresh: below,
        lifetime_ms: Some(PATIENCE.timeout.as_nanos() / 1_000_000),
        ..Interest::default()
    };
    let mut make = |nonce, out: &mut Vec<u8>| Interest { nonce: Some(nonce), ..interest }.write(out);
    request(face, &interest, &mut make, PATIENCE, control, answer)?;
    Data::read(answer).map_err(|why| useless(name, why.to_string()))
}
