//! Parameters of schemes and of parts of forwarders: checked values, and every default.

use contract::{ParamInfo, ParamKind, ParamList, SenderAlgorithm, Setup};
use schemes::{Build, Entry};
use stack::ndn;
use units::Bytes;

use super::{linux, media};
use crate::schema::file::Flow;
use crate::schema::params::{Params, resolved_beside};
use crate::schema::read::{At, Field, Notes};

/// All parameters of a flow's scheme, in the order of its table.
pub(crate) fn params(table: &Flow, entry: &Entry, notes: &mut Notes) -> Option<Params> {
    let mut others = if linux::is_wanted(table) { linux::params(entry.scheme.name) } else { Vec::new() };
    others.extend(media::params(table, entry));
    media::warn(table, entry, notes);
    let written = table.params.present().map(|at| At { value: &*at.value, location: at.location });
    resolved_beside(written, &others, entry.scheme.name, &(entry.params)(), entry.resolve, notes)
}

/// The parameters of a part in forwarders.
pub(crate) struct PartParams {
    name: String,
    pub(crate) infos: Vec<ParamInfo>,
    resolve: schemes::Resolve,
}

impl PartParams {
    pub(crate) fn of_scheme(name: &str) -> Option<Self> {
        let entry = schemes::find(name)?;
        Some(Self { name: name.to_owned(), infos: (entry.params)(), resolve: entry.resolve })
    }

    /// Of a built-in strategy, or of a scheme.
    pub(crate) fn of_strategy(name: &str) -> Option<Self> {
        match ndn::strategies::find(name) {
            Some(entry) => {
                Some(Self { name: name.to_owned(), infos: (entry.params)(), resolve: &entry.resolve })
            }
            None => Self::of_scheme(name),
        }
    }

    /// As written, and the defaults of the others; `None` when something is noted.
    pub(crate) fn resolved(&self, written: &Field<Params>, notes: &mut Notes) -> Option<Params> {
        let values = written.present().map(|at| At { value: &at.value, location: at.location });
        resolved_beside(values, &[], &self.name, &self.infos, self.resolve, notes)
    }
}

/// Whether the source of a scheme with these parameters sends control packets that carry no data.
pub(crate) fn out_of_band(scheme: &str, params: &ParamList) -> bool {
    let setup = Setup { segment: Bytes::new(1000), header: Bytes::ZERO, initial_window: Bytes::new(1000) };
    schemes::find(scheme).is_some_and(|entry| match entry.build {
        Build::Stream { sender, .. } => {
            sender(params, &setup).is_ok_and(|controller| controller.out_of_band())
        }
        Build::Control(_) | Build::Forwarder => false,
    })
}

/// The modes that a scheme can change to while it runs: the words of its parameter `mode`.
pub(super) fn modes(scheme: &str) -> &'static [&'static str] {
    let params = schemes::find(scheme).map(|entry| (entry.params)()).unwrap_or_default();
    match params.iter().find(|param| param.name == "mode").map(|param| param.kind) {
        Some(ParamKind::Choice(words)) => words,
        _ => &[],
    }
}
