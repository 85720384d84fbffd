//! Traces of a link's rate, and of its delay: files in the format of mahimahi or as CSV, and models of kinds of links.

mod files;
mod leo;
mod models;

use std::path::Path;
use std::sync::Arc;

use schemars::SchemaGenerator;
use serde_json::{Value, json};
use sim::RateTrace;
use units::Duration;

use crate::files::{Remarks, noted, text as text_of};
use crate::schema::read::{At, Notes, Read as _};
use crate::schema::trace::{Orbit, TraceModel, TraceSource};

/// Length of a step of a model.
const STEP: Duration = Duration::from_millis(20);
/// After this the trace of a model repeats.
const PERIOD: Duration = Duration::from_secs(600);

/// The trace of a source; a path is relative to `folder`. `None` if something is noted.
pub(crate) fn load(source: &At<TraceSource>, folder: &Path, notes: &mut Notes) -> Option<Arc<RateTrace>> {
    match &source.value {
        TraceSource::Model(model, seed, orbit) => Some(Arc::new(models::trace(*model, *seed, *orbit))),
        TraceSource::File(path) => {
            let at = At { value: path.clone(), location: source.location };
            let text = text_of(&at, "; `thalweg trace` lists the models", folder, notes)?;
            let csv = path.to_ascii_lowercase().ends_with(".csv") || files::is_table(&text);
            let mut remarks = Remarks::new();
            let (trace, hint) = if csv {
                (files::rates(&text, &mut remarks), files::CSV_HINT)
            } else {
                (files::other(&text, &mut remarks), files::OTHER_HINT)
            };
            noted(path, at.location, hint, trace, remarks, notes).map(Arc::new)
        }
    }
}

/// The models of links: a list of `{name, about, mean_bps, low_bps, high_bps, outage, period_s}`. `low_bps` and
/// `high_bps` are the 10th and the 90th percentile of the rate over time, `outage` is the share of time at rate 0, all
/// of the trace with seed 1.
pub fn models() -> Value {
    let schema = TraceModel::schema(&mut SchemaGenerator::default());
    let about = &schema.as_value()["enumDescriptions"];
    TraceModel::ALL
        .iter()
        .enumerate()
        .map(|(number, model)| {
            let steps = models::steps(*model, 1);
            let mut rates: Vec<u64> = steps.iter().map(|step| step.as_bps()).collect();
            rates.sort_unstable();
            let share = |of: usize| rates[(rates.len() - 1) * of / 100];
            let trace = models::trace(*model, 1, Orbit::DEFAULT);
            json!({
                "name": model.word(),
                "about": about[number],
                "mean_bps": trace.mean().as_bps(),
                "low_bps": share(10),
                "high_bps": share(90),
                "outage": rates.iter().filter(|bps| **bps == 0).count() as f64 / rates.len() as f64,
                "period_s": trace.period().as_secs_f64(),
            })
        })
        .collect()
}

/// The trace of a model as text: CSV, or delivery opportunities in milliseconds. `None` if no model has this name.
pub fn text(model: &str, seed: u64, opportunities: bool) -> Option<String> {
    let model = *TraceModel::ALL.iter().find(|known| known.word() == model)?;
    if model == TraceModel::LeoPass && !opportunities {
        let (rates, delays): (Vec<_>, Vec<_>) = leo::steps(Orbit::DEFAULT, seed).into_iter().unzip();
        return Some(files::as_rates(&rates, &delays));
    }
    let steps = models::steps(model, seed);
    Some(if opportunities { files::as_opportunities(&steps) } else { files::as_rates(&steps, &[]) })
}
