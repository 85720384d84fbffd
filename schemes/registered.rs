//! Schemes that a program registers at run time, such as those that are written in Python.

use std::fmt;
use std::sync::{PoisonError, RwLock};

use crate::{BUILT_IN, Entry};

/// Registered schemes. They are read when a scenario is loaded and when a network is built, never while it runs.
static REGISTERED: RwLock<Vec<Entry>> = RwLock::new(Vec::new());

/// A scheme of this crate has the name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NameTaken;

impl fmt::Display for NameTaken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a built-in scheme has this name")
    }
}

impl std::error::Error for NameTaken {}

/// Adds a scheme to the catalogue of this process, or replaces the registered one of the same name. Networks that were
/// built before keep theirs. Fails for the name of a scheme of this crate.
pub fn register(entry: Entry) -> Result<(), NameTaken> {
    if BUILT_IN.iter().any(|known| known.scheme.name == entry.scheme.name) {
        return Err(NameTaken);
    }
    let mut list = REGISTERED.write().unwrap_or_else(PoisonError::into_inner);
    list.retain(|known| known.scheme.name != entry.scheme.name);
    list.push(entry);
    Ok(())
}

pub(crate) fn find(name: &str) -> Option<Entry> {
    let list = REGISTERED.read().unwrap_or_else(PoisonError::into_inner);
    list.iter().find(|entry| entry.scheme.name == name).copied()
}

pub(crate) fn all() -> Vec<Entry> {
    let list = REGISTERED.read().unwrap_or_else(PoisonError::into_inner);
    list.clone()
}
