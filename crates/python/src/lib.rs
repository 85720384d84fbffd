//! The module `thalweg._native`: conversion between Python and the lab, and nothing else.

mod catalogue;
mod control;
mod drill;
mod emulation;
mod errors;
#[cfg(unix)]
mod forward;
mod live;
mod ndn;
mod relation;
mod run;
mod scenario;
mod scheme;
mod simulation;
mod table;
mod transfer;
mod values;

use pyo3::prelude::*;

/// The native part of `python/thalweg`. Functions take and return plain values; structured values are passed as JSON
/// text.
#[pymodule]
mod _native {
    #[pymodule_export]
    use crate::catalogue::{
        metrics, model_trace, renamed, schema, schemes, series, strategies, trace_models,
    };
    #[pymodule_export]
    use crate::control::{SdnControl, ndn_control};
    #[pymodule_export]
    use crate::drill::drill;
    #[pymodule_export]
    use crate::emulation::{clean_emulations, emulation_permitted};
    #[cfg(unix)]
    #[pymodule_export]
    use crate::forward::{ForwardControl, ndn_forward, ndn_together};
    #[pymodule_export]
    use crate::live::measure_pacing;
    #[pymodule_export]
    use crate::ndn::{NdnControl, ndn_face, ndn_get, ndn_name, ndn_put};
    #[pymodule_export]
    use crate::relation::Relation;
    #[pymodule_export]
    use crate::run::Run;
    #[pymodule_export]
    use crate::scenario::{Control, Plan, Scenario};
    #[pymodule_export]
    use crate::scheme::{
        Ack, Allowance, Congestion, Cut, Delivery, Lost, Sent, Summary, register_agent, register_scheme,
    };
    #[pymodule_export]
    use crate::simulation::Simulation;
    #[pymodule_export]
    use crate::table::Table;
    #[pymodule_export]
    use crate::transfer::{Transfer, identity};

    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
