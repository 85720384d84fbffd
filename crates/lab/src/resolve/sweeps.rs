//! Properties of a file's sweep that a plan depends on.

use std::collections::BTreeSet;

use contract::{Family, SeriesInfo};
use schemes::{Build, Entry};
use stack::{ndn, stream, tcp};

use crate::schema::file::{File, NetworkWord};

/// Series that other cells of a file's sweep may offer, where this one does not: those of all schemes that the sweep or
/// the file names. None for a file without a sweep.
pub(super) fn elsewhere(file: &File) -> BTreeSet<&'static str> {
    let Some(sweep) = file.sweep.present() else { return BTreeSet::new() };
    let swept =
        sweep.value.0.iter().flat_map(|(_, values)| values.iter()).filter_map(|one| one.value.as_str());
    let flows = || file.flows.present().into_iter().flat_map(|list| &list.value);
    let written = flows().filter_map(|flow| Some(flow.scheme.present()?.0.as_str()));
    let ndn_parts = file.ndn.present().into_iter().flat_map(|ndn| {
        let (strategy, link) = (ndn.strategy.present(), ndn.link.present());
        [strategy.map(|at| at.value.0.as_str()), link.map(|at| at.value.0.as_str())]
    });
    let words: BTreeSet<&str> = swept.chain(written).chain(ndn_parts.flatten()).collect();

    let network = |word: NetworkWord| {
        words.contains(word.word())
            || flows().any(|flow| flow.network.present().is_some_and(|at| at.value == word))
    };
    let (by_name, named_data) = (network(NetworkWord::Icn), network(NetworkWord::Ndn));
    let here = |entry: &Entry, row: &SeriesInfo| {
        row.2 != "node" || (if entry.scheme.families.contains(&Family::Ndn) { named_data } else { by_name })
    };
    let mut known = BTreeSet::new();
    for entry in words.iter().filter_map(|word| schemes::find(word)) {
        let transport: &[&[SeriesInfo]] = match entry.build {
            Build::Control(_) if named_data => &[tcp::SERIES, ndn::CONSUMER_SERIES],
            Build::Control(_) => &[tcp::SERIES],
            Build::Stream { .. } => &[stream::SERIES],
            Build::Forwarder => &[],
        };
        let own = entry.scheme.series.iter().filter(|row| here(&entry, row));
        known.extend(own.chain(transport.iter().copied().flatten()).map(|row| row.0));
    }
    if named_data {
        known.extend(ndn::SERIES.iter().chain(ndn::CONSUMER_SERIES).map(|row| row.0));
    }
    known
}
