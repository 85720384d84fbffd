//! Errors and warnings, noted while a scenario is read and resolved.

use crate::schema::hints::visible;
use crate::schema::tree::Location;

/// An error or a warning before it is drawn.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Note {
    pub(crate) location: Location,
    pub(crate) message: String,
    pub(crate) warning: bool,
    pub(crate) hint: Option<String>,
}

/// Errors and warnings found so far.
#[derive(Default)]
pub(crate) struct Notes {
    errors: Vec<Note>,
    warnings: Vec<Note>,
}

/// An error or a warning just noted, to which a hint may be added.
pub(crate) struct Noted<'a>(&'a mut Note);

impl Noted<'_> {
    pub(crate) fn hint(self, hint: impl Into<String>) {
        self.0.hint = Some(visible(&hint.into()));
    }

    pub(crate) fn maybe(self, hint: Option<String>) {
        self.0.hint = hint.as_deref().map(visible);
    }
}

impl Notes {
    /// Notes an error at a place: the scenario is refused.
    pub(crate) fn wrong(&mut self, location: Location, message: impl Into<String>) -> Noted<'_> {
        self.errors.push(Note { location, message: visible(&message.into()), warning: false, hint: None });
        Noted(self.errors.last_mut().expect("one was just pushed"))
    }

    /// Notes a warning at a place: the scenario is accepted, but something in it has no effect.
    pub(crate) fn warn(&mut self, location: Location, message: impl Into<String>) -> Noted<'_> {
        self.warnings.push(Note { location, message: visible(&message.into()), warning: true, hint: None });
        Noted(self.warnings.last_mut().expect("one was just pushed"))
    }

    /// The number of errors so far.
    pub(crate) fn count(&self) -> usize {
        self.errors.len()
    }

    /// All errors, and all warnings.
    pub(crate) fn into_lists(self) -> (Vec<Note>, Vec<Note>) {
        (self.errors, self.warnings)
    }
}
