//! The token bucket of a policer or a shaper.

use std::sync::Arc;

use units::{Bytes, Rate};

use crate::schema::bounds::within;
use crate::schema::read::{At, Field, Notes, tables};

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

    pub(crate) fn of_spec(spec: sim::TokenBucket) -> Self {
        Self { rate: spec.rate.into(), burst: spec.burst.into(), ..Self::default() }
    }

    /// The bucket of a direction. Reports one that lacks a key.
    pub(crate) fn read(field: &Field<Arc<Self>>, of: &str, notes: &mut Notes) -> Option<sim::TokenBucket> {
        let table: &At<Arc<Self>> = field.present()?;
        if !table.rate.is_missing() || !table.burst.is_missing() {
            table.rate.required("rate", of, table.location, notes);
            table.burst.required("burst", of, table.location, notes);
        }
        table.to_spec()
    }
}
