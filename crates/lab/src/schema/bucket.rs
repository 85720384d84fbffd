//! The token bucket of a policer or a shaper.

use std::sync::Arc;

use units::{Bytes, Rate};

use crate::schema::bounds::within;
use crate::schema::read::{Field, Notes, tables};

tables! {
    /// A token bucket. It is full at the start, tokens for `rate` flow in up to `burst`, and a packet takes as many as it has bytes. An empty
    /// table: none.
    pub(crate) struct Bucket = "a token bucket" {
        /// Rate at which tokens flow in.
        rate: Rate where within("1 bit/s", "10000 Gbit/s"),
        /// Capacity. A larger packet never passes.
        burst: Bytes where within("1 B", "2 GB"),
    }
}

impl Bucket {
    /// The bucket; `None` for an empty table.
    pub(crate) fn to_spec(&self) -> Option<sim::TokenBucket> {
        let (rate, burst) = (self.rate.present()?, self.burst.present()?);
        Some(sim::TokenBucket { rate: rate.value, burst: burst.value })
    }

    /// Reports a bucket that lacks a key.
    pub(crate) fn check(field: &Field<Arc<Self>>, of: &str, notes: &mut Notes) {
        let Some(table) = field.present() else { return };
        if !table.rate.is_missing() || !table.burst.is_missing() {
            table.rate.required("rate", of, table.location, notes);
            table.burst.required("burst", of, table.location, notes);
        }
    }
}
