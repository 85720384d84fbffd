//! Times of presence and absence.

use sim::Churn;
use stack::datagram::Spell;
use units::Duration;

use crate::schema::file;
use crate::schema::read::{At, Field, Notes};

pub(crate) fn spell(mean: Duration, shape: Option<f64>, fixed: bool) -> Spell {
    match shape {
        _ if fixed => Spell::Constant(mean),
        Some(shape) => Spell::Pareto { mean, shape },
        None => Spell::Exponential(mean),
    }
}

pub(crate) fn refuse_both(shape: &Field<f64>, fixed: &Field<bool>, notes: &mut Notes) {
    if let (Some(shape), Some(fixed)) = (shape.given(), fixed.given())
        && fixed.value
    {
        notes.wrong(shape.place, "times of fixed length have no shape").hint("write one of them");
    }
}

pub(crate) fn check_churn(churn: &At<file::Churn>, notes: &mut Notes) {
    churn.on.required("on", "churn", churn.place, notes);
    churn.off.required("off", "churn", churn.place, notes);
    refuse_both(&churn.shape, &churn.fixed, notes);
}

pub(crate) fn churn(churn: &file::Churn) -> Option<Churn> {
    let (shape, fixed) = (churn.shape.given().map(|at| at.value), churn.fixed.or(false));
    let of = |mean: &Field<Duration>| Some(spell(mean.given()?.value, shape, fixed));
    Some(Churn { on: of(&churn.on)?, off: of(&churn.off)? })
}
