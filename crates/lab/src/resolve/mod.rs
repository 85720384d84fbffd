//! Resolution of names, patterns and defaults of a scenario.

pub(crate) mod churn;
pub(crate) mod emulation;
pub(crate) mod linux;
pub(crate) mod params;
pub(crate) mod places;
pub(crate) mod sweeps;
