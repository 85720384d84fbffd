//! Percentiles by nearest rank: the smallest value such that at least this percentage of all values do not exceed it.

use units::Duration;

/// The percentiles in tables.
pub(super) const PERCENTS: [u64; 3] = [50, 95, 99];

/// A value and its count.
pub(super) type Counted = (Duration, u64);

/// [`PERCENTS`] of the values, in seconds; `None` without values.
pub(super) fn of_counted(mut values: Vec<Counted>) -> [Option<f64>; PERCENTS.len()] {
    values.sort_unstable();
    let count: u64 = values.iter().map(|(_, n)| n).sum();
    PERCENTS.map(|percent| {
        let required = (count * percent).div_ceil(100).max(1);
        let mut seen = 0;
        let reached = values.iter().find(|(_, n)| {
            seen += n;
            seen >= required
        });
        reached.map(|(value, _)| value.as_secs_f64())
    })
}

/// [`PERCENTS`] of the numbers; `None` without numbers.
pub(super) fn of_numbers(mut values: Vec<f64>) -> [Option<f64>; PERCENTS.len()] {
    values.sort_unstable_by(f64::total_cmp);
    PERCENTS.map(|percent| {
        let rank = (values.len() * percent as usize).div_ceil(100).max(1);
        values.get(rank - 1).copied()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rank_is_the_nearest_from_above() {
        assert_eq!(of_numbers(Vec::new()), [None; 3]);
        assert_eq!(of_numbers(vec![7.0]), [Some(7.0); 3]);
        // of 20 values the 10th, the 19th, the 20th (19.8)
        let shuffled: Vec<f64> = (1..=20).map(|i| f64::from(i * 8 % 21)).collect();
        assert_eq!(of_numbers(shuffled), [Some(10.0), Some(19.0), Some(20.0)]);
    }

    #[test]
    fn values_that_were_counted_are_as_many_values() {
        assert_eq!(of_counted(Vec::new()), [None; 3]);
        let ms = Duration::from_millis;
        // 90 of 100 are 2 ms or less, 98 are 5 ms or less
        let counted = vec![(ms(5), 8), (ms(1), 49), (ms(2), 41), (ms(9), 2)];
        assert_eq!(of_counted(counted), [Some(0.002), Some(0.005), Some(0.009)]);
    }
}
