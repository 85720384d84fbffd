//! Times of presence and absence.

use crate::schema::read::{Field, Notes};
use crate::schema::traffic::Churn;

pub(super) fn refuse_both(shape: &Field<f64>, fixed: &Field<bool>, notes: &mut Notes) {
    if let (Some(shape), Some(fixed)) = (shape.present(), fixed.present())
        && fixed.value
    {
        notes.wrong(shape.location, "times of fixed length have no shape").hint("write one of them");
    }
}

pub(super) fn check_churn(churn: &Churn, notes: &mut Notes) {
    churn.on.required("on", "churn", churn.location, notes);
    churn.off.required("off", "churn", churn.location, notes);
    refuse_both(&churn.shape, &churn.fixed, notes);
}

/// `fixed` is present only if true.
pub(super) fn churn(churn: &Churn) -> Churn {
    let fixed = churn.fixed.clone().filter(|fixed| *fixed);
    Churn { fixed, ..churn.clone() }
}
