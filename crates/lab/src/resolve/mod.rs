//! What a scenario means by its names, its patterns and its defaults.

pub(crate) mod churn;
pub(crate) mod emulation;
pub(crate) mod linux;
pub(crate) mod params;
pub(crate) mod places;
pub(crate) mod sweeps;
