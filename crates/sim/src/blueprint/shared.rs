//! Values that many parts of a blueprint have in common.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// A value in shared memory. A change is made to a copy.
#[derive(Clone, Debug, PartialEq)]
pub struct Shared<T>(Arc<T>);

impl<T> From<T> for Shared<T> {
    fn from(value: T) -> Self {
        Self(Arc::new(value))
    }
}

impl<T> Deref for Shared<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: Clone> DerefMut for Shared<T> {
    fn deref_mut(&mut self) -> &mut T {
        Arc::make_mut(&mut self.0)
    }
}

impl<T: PartialEq> Shared<T> {
    /// Shares the memory of `other` if both are equal.
    pub fn share(&mut self, other: &Self) {
        if self.0 == other.0 {
            self.0 = Arc::clone(&other.0);
        }
    }
}
