//! Times of presence and absence.

use crate::schema::file;
use crate::schema::read::{Field, Notes};

pub(super) fn refuse_both(shape: &Field<f64>, fixed: &Field<bool>, notes: &mut Notes) {
    if let (Some(shape), Some(fixed)) = (shape.given(), fixed.given())
        && fixed.value
    {
        notes.wrong(shape.place, "times of fixed length have no shape").hint("write one of them");
    }
}

pub(super) fn check_churn(churn: &file::Churn, notes: &mut Notes) {
    churn.on.required("on", "churn", churn.place, notes);
    churn.off.required("off", "churn", churn.place, notes);
    refuse_both(&churn.shape, &churn.fixed, notes);
}

/// `fixed` is there where it holds.
pub(super) fn churn(churn: &file::Churn) -> file::Churn {
    let fixed = churn.fixed.clone().filter(|fixed| *fixed);
    file::Churn { fixed, ..churn.clone() }
}
