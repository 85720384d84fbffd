//! Parameters of schemes and of parts of forwarders: checked values, and every default.

use contract::{ParamInfo, ParamList, ParamValue, SenderLaw, Setup};
use schemes::{Build, Entry, Resolve};
use stack::ndn;
use units::Bytes;

use super::linux;
use crate::schema::file::Flow;
use crate::schema::read::{Field, Notes, shortened};
use crate::schema::renames::unknown;
use crate::schema::values::Params;

/// The parameters that are not default, in the order of the scheme's table.
pub(crate) fn params(table: &Flow, entry: &Entry, notes: &mut Notes) -> Option<ParamList> {
    let others = if linux::is_wanted(table) { linux::params(entry.scheme.name) } else { Vec::new() };
    resolved_beside(&table.params, &others, entry.scheme.name, &(entry.params)(), entry.resolve, notes)
}

/// The parameters of `of` that are not default, in the order of its table; `None` when something is noted.
pub(crate) fn resolved(
    written: &Field<Params>,
    of: &str,
    infos: &[ParamInfo],
    resolve: Resolve,
    notes: &mut Notes,
) -> Option<ParamList> {
    resolved_beside(written, &[], of, infos, resolve, notes)
}

/// The same, with `others` in place of the defaults of what is not written.
fn resolved_beside(
    written: &Field<Params>,
    others: &[(&str, ParamValue)],
    of: &str,
    infos: &[ParamInfo],
    resolve: Resolve,
    notes: &mut Notes,
) -> Option<ParamList> {
    let before = notes.count();
    let mut list = Vec::new();
    for (name, value) in written.given().map_or(&[][..], |params| &params.value.0) {
        if !infos.iter().any(|info| info.name == name.value) {
            let message = format!("`{of}` has no parameter `{}`", shortened(name));
            let (message, hint) = unknown(name, message, infos.iter().map(|info| info.name));
            notes.wrong(name.place, message).maybe(hint);
            continue;
        }
        let one = (name.value.clone(), value.value.clone());
        // whether it goes with the others is seen below
        if let Err(error) = resolve(std::slice::from_ref(&one))
            && error.beside.is_none()
        {
            notes.wrong(value.place, error.message).maybe(error.hint);
        }
        list.push(one);
    }
    if notes.count() > before {
        return None;
    }
    for (name, value) in others {
        if !list.iter().any(|(written, _)| written == name) {
            list.push(((*name).to_owned(), value.clone()));
        }
    }
    match resolve(&list) {
        Ok(all) => Some(
            all.into_iter()
                .filter(|(name, value)| !infos.iter().any(|info| info.name == name && info.default == *value))
                .collect(),
        ),
        Err(error) => {
            let table = written.given();
            let of = |name: &str| {
                let row = table?.value.0.iter().find(|(key, _)| key.value == name)?;
                Some(row.1.place)
            };
            let place = of(&error.name).or_else(|| of(error.beside?)).or(table.map(|at| at.place));
            notes.wrong(place.unwrap_or_default(), error.message).maybe(error.hint);
            None
        }
    }
}

/// The parameters of a part in forwarders.
pub(crate) struct PartParams {
    pub(crate) name: String,
    pub(crate) infos: Vec<ParamInfo>,
    pub(crate) resolve: schemes::Resolve,
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
                Some(Self { name: name.to_owned(), infos: (entry.params)(), resolve: entry.resolve })
            }
            None => Self::of_scheme(name),
        }
    }

    /// All of them, those that are given put over the defaults.
    pub(crate) fn all(&self, given: &[(String, ParamValue)]) -> ParamList {
        (self.resolve)(given).unwrap_or_default()
    }
}

/// Whether the source of a scheme with these parameters sends control packets that carry no data.
pub(crate) fn out_of_band(scheme: &str, params: &ParamList) -> bool {
    let setup = Setup { segment: Bytes::new(1000), header: Bytes::ZERO, initial_window: Bytes::new(1000) };
    schemes::find(scheme).is_some_and(|entry| match entry.build {
        Build::Stream { sender, .. } => sender(params, &setup).is_ok_and(|law| law.out_of_band()),
        Build::Control(_) | Build::Forwarder => false,
    })
}
