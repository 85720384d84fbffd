//! A value with its place, and a key of a table.

use std::ops::Deref;
use std::sync::Arc;

use crate::schema::tree::Location;

/// A value and its place.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct At<T> {
    pub(crate) value: T,
    pub(crate) location: Location,
}

impl<T> Deref for At<T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.value
    }
}

/// A value that no text has.
impl<T> From<T> for At<T> {
    fn from(value: T) -> Self {
        Self { value, location: Location::default() }
    }
}

/// A key of a table: not written, written wrongly (already noted), or read.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum Field<T> {
    #[default]
    Missing,
    Wrong,
    Present(At<T>),
}

/// A key that no text has.
impl<T> From<T> for Field<T> {
    fn from(value: T) -> Self {
        Self::of(value)
    }
}

/// A table that others share.
impl<T> From<T> for Field<Arc<T>> {
    fn from(value: T) -> Self {
        Self::of(Arc::new(value))
    }
}

impl<T> From<Option<T>> for Field<Arc<T>> {
    fn from(value: Option<T>) -> Self {
        value.map(Arc::new).into()
    }
}

impl<T> From<Option<T>> for Field<T> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Missing, Self::of)
    }
}

impl<T> Field<T> {
    /// A key that no text has.
    pub(crate) fn of(value: T) -> Self {
        Self::Present(At::from(value))
    }

    pub(crate) fn present(&self) -> Option<&At<T>> {
        match self {
            Self::Present(at) => Some(at),
            _ => None,
        }
    }

    /// The value of a key that a resolved tree always has.
    pub(crate) fn resolved(&self) -> &T {
        &self.present().expect("a resolved tree has this key").value
    }

    /// The field with `default` where nothing is written (or where it is wrong, which is noted already).
    pub(crate) fn filled(self, default: T) -> Self {
        if self.present().is_some() { self } else { Self::of(default) }
    }

    /// The field, empty if its value is not `wanted`.
    pub(crate) fn filter(self, wanted: impl FnOnce(&T) -> bool) -> Self {
        if self.present().is_some_and(|at| !wanted(&at.value)) { Self::Missing } else { self }
    }

    pub(crate) fn is_missing(&self) -> bool {
        matches!(self, Self::Missing)
    }

    pub(crate) fn is_wrong(&self) -> bool {
        matches!(self, Self::Wrong)
    }

    /// The value, or `default` when it is not written (or wrong, which is noted already).
    pub(crate) fn or(&self, default: T) -> T
    where
        T: Clone,
    {
        self.present().map_or(default, |at| at.value.clone())
    }
}

impl Field<bool> {
    /// Whether it is written, and true.
    pub(crate) fn is_on(&self) -> bool {
        self.present().is_some_and(|at| at.value)
    }
}

impl<T> Field<Vec<At<T>>> {
    /// The entries of a list; none where it is not written.
    pub(crate) fn items(&self) -> &[At<T>] {
        self.present().map_or(&[], |list| &list.value)
    }

    /// A list that no text has.
    pub(crate) fn list(items: impl IntoIterator<Item = T>) -> Self {
        Self::of(items.into_iter().map(At::from).collect())
    }
}
