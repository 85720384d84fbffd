//! Popularity of the contents of a catalogue: Zipf–Mandelbrot, in constant time per draw.

use contract::Random;
use units::math;

/// The contents of a catalogue, drawn by popularity: p(i) ∝ 1/(i + shift)^exponent, i = 1, 2 … n.
///
/// An alias table [Walker 1977, Vose 1991]: a draw selects a cell uniformly, then one of its two contents. It takes
/// eight bytes per content.
#[derive(Clone, Debug)]
pub(super) struct Popularity {
    cells: Box<[Cell]>,
}

#[derive(Clone, Copy, Debug)]
struct Cell {
    /// Probability of the cell's own content, in units of 2⁻³².
    own: u32,
    /// The other content.
    other: u32,
}

impl Popularity {
    /// The table of `contents` contents, at least one.
    pub(super) fn new(contents: u32, exponent: f64, shift: f64) -> Self {
        let n = contents.max(1) as usize;
        let mut weights: Vec<f64> = (1..=n).map(|i| math::pow(i as f64 + shift, -exponent)).collect();
        let mean = weights.iter().sum::<f64>() / n as f64;
        weights.iter_mut().for_each(|weight| *weight /= mean);
        let mut cells: Box<[Cell]> = (0..n as u32).map(|i| Cell { own: u32::MAX, other: i }).collect();
        // popularity decreases, so the contents above the mean come first; each fills up cells below the mean and then
        // becomes one of them
        let rich = weights.partition_point(|weight| *weight >= 1.0);
        let (mut giver, mut poor) = (0, rich);
        let mut spent = None;
        while giver < rich {
            // a content that fell below the mean is filled up before the next one
            let cell = match spent.take() {
                Some(cell) => cell,
                None if poor < n => {
                    poor += 1;
                    poor - 1
                }
                None => break,
            };
            cells[cell] = Cell { own: share(weights[cell]), other: giver as u32 };
            weights[giver] -= 1.0 - weights[cell];
            if weights[giver] < 1.0 {
                spent = Some(giver);
                giver += 1;
            }
        }
        Self { cells }
    }

    /// The number of a content, from 0.
    #[inline]
    pub(super) fn draw(&self, random: &mut Random) -> u32 {
        let index = random.below(self.cells.len() as u64) as u32;
        let cell = self.cells[index as usize];
        if (random.bits() as u32) < cell.own { index } else { cell.other }
    }

    /// The probability of each content according to the table.
    #[cfg(test)]
    pub(super) fn probabilities(&self) -> Vec<f64> {
        let n = self.cells.len() as f64;
        let mut of = vec![0.0; self.cells.len()];
        for (i, cell) in self.cells.iter().enumerate() {
            let own = f64::from(cell.own) / 4_294_967_296.0;
            of[i] += own / n;
            of[cell.other as usize] += (1.0 - own) / n;
        }
        of
    }
}

/// A probability in units of 2⁻³².
fn share(weight: f64) -> u32 {
    (weight.max(0.0) * 4_294_967_296.0) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Maximum difference between table and formula, relative to the formula.
    fn error(n: u32, exponent: f64, shift: f64) -> f64 {
        let table = Popularity::new(n, exponent, shift).probabilities();
        let weights: Vec<f64> = (1..=n).map(|i| math::pow(f64::from(i) + shift, -exponent)).collect();
        let sum: f64 = weights.iter().sum();
        table.iter().zip(weights).map(|(p, w)| (p / (w / sum) - 1.0).abs()).fold(0.0, f64::max)
    }

    #[test]
    fn the_table_has_the_probabilities_of_the_formula() {
        for (n, exponent, shift) in [
            (1, 1.0, 0.0),
            (2, 1.0, 0.0),
            (7, 0.0, 0.0),
            (100, 0.7, 0.7),
            (1000, 1.2, 10.0),
            (10_000, 2.0, 0.0),
        ] {
            let error = error(n, exponent, shift);
            // a cell holds shares of 2⁻³², and the rarest content of the last catalogue has 6·10⁻⁹ of all
            assert!(error < 1e-3, "{n} contents, exponent {exponent}, shift {shift}: {error}");
        }
    }

    /// Exponent 1 over three contents: 6/11, 3/11, 2/11.
    #[test]
    fn draws_follow_it() {
        let popularity = Popularity::new(3, 1.0, 0.0);
        let mut random = Random::new(1, "draws", "");
        let mut counts = [0u32; 3];
        for _ in 0..110_000 {
            counts[popularity.draw(&mut random) as usize] += 1;
        }
        for (count, expected) in counts.into_iter().zip([60_000, 30_000, 20_000]) {
            assert!(count.abs_diff(expected) < 800, "{counts:?}");
        }
    }
}
