//! Jain's fairness index, the coefficient of variation, and convergence time.

/// Jain's fairness index, (Σx)² / (n Σx²): 1 if all values are equal, 1/n if one has everything.
///
/// `None` without values, or if all are zero.
pub fn jain(values: &[f64]) -> Option<f64> {
    let sum: f64 = values.iter().sum();
    let squares: f64 = values.iter().map(|x| x * x).sum();
    (squares > 0.0).then(|| sum * sum / (values.len() as f64 * squares))
}

/// Coefficient of variation: standard deviation (n − 1) / mean. `None` for fewer than two values or a mean of zero.
pub fn coefficient_of_variation(values: &[f64]) -> Option<f64> {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    if values.len() < 2 || mean == 0.0 {
        return None;
    }
    let squares: f64 = values.iter().map(|x| (x - mean) * (x - mean)).sum();
    Some((squares / (n - 1.0)).sqrt() / mean)
}

/// A flow's rate at each instant of the common clock; `None` while it was inactive.
pub(super) type Curve = Vec<Option<f64>>;

/// Means over consecutive windows of `window` values, of which all are there.
pub(super) fn averaged(curve: &Curve, window: usize) -> Curve {
    let mean = |values: &[Option<f64>]| {
        values.iter().try_fold(0.0, |sum, value| value.map(|x| sum + x)).map(|sum| sum / window as f64)
    };
    curve.chunks_exact(window).map(mean).collect()
}

/// For each flow the index of the clock from which it stays at its fair value; `None` if it does not.
///
/// Rates are first averaged over windows of `window` instants. The fair value of a window is the mean over the flows
/// that were active in all of it. A flow has converged when `hold` consecutive windows are within ±`band` of the fair
/// value, relative to it.
pub(super) fn converged(curves: &[Curve], window: usize, hold: usize, band: f64) -> Vec<Option<usize>> {
    let averaged: Vec<Curve> = curves.iter().map(|curve| averaged(curve, window)).collect();
    let windows = averaged.iter().map(Vec::len).min().unwrap_or(0);
    let fair: Vec<Option<f64>> = (0..windows)
        .map(|at| {
            let on: Vec<f64> = averaged.iter().filter_map(|curve| curve[at]).collect();
            (!on.is_empty()).then(|| on.iter().sum::<f64>() / on.len() as f64)
        })
        .collect();
    averaged
        .iter()
        .map(|curve| {
            let mut held = 0;
            for at in 0..windows {
                let near = curve[at]
                    .zip(fair[at])
                    .is_some_and(|(x, fair)| fair > 0.0 && (x - fair).abs() <= band * fair);
                held = if near { held + 1 } else { 0 };
                if held == hold {
                    return Some((at + 1 - hold) * window);
                }
            }
            None
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_jain_index_is_one_for_equals_and_one_over_n_for_a_hog() {
        assert_eq!(jain(&[5.0; 4]), Some(1.0));
        assert_eq!(jain(&[8.0, 0.0, 0.0, 0.0]), Some(0.25));
        // (1 + 2 + 3)² / (3 · (1 + 4 + 9)) = 36 / 42
        assert_eq!(jain(&[1.0, 2.0, 3.0]), Some(36.0 / 42.0));
        assert_eq!(jain(&[]), None);
        assert_eq!(jain(&[0.0, 0.0]), None);
    }

    #[test]
    fn the_coefficient_of_variation_divides_the_sample_deviation_by_the_mean() {
        // mean 4, squares 4 + 0 + 4, n − 1 = 2, sd 2
        assert_eq!(coefficient_of_variation(&[2.0, 4.0, 6.0]), Some(0.5));
        assert_eq!(coefficient_of_variation(&[3.0]), None);
        assert_eq!(coefficient_of_variation(&[0.0, 0.0]), None);
    }

    #[test]
    fn a_flow_converges_where_its_windows_begin_to_stay_at_the_fair_value() {
        // an old flow yields to one that starts at 4: equal from 8 on
        let old: Curve = [8., 8., 8., 8., 8., 7., 6., 5., 4., 4., 4., 4.].map(Some).to_vec();
        let new: Curve = [
            None,
            None,
            None,
            None,
            Some(0.),
            Some(1.),
            Some(2.),
            Some(3.),
            Some(4.),
            Some(4.),
            Some(4.),
            Some(4.),
        ]
        .to_vec();
        let curves = [old, new];
        assert_eq!(
            converged(&curves, 1, 3, 0.1),
            [Some(0), Some(8)],
            "the first is alone at the start and has all"
        );
        assert_eq!(converged(&curves, 2, 2, 0.1), [Some(0), Some(8)]);
        assert_eq!(converged(&curves, 1, 5, 0.1)[1], None, "the run ends too soon");
    }
}
