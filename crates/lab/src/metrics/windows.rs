//! Rates over windows: fairness over time, and the recovery from changes.

use sim::{Subject, Trace};
use units::{Duration, Time};

use super::fairness::{Curve, averaged, jain};
use super::flow_row::FlowRow;

/// Length of a window; of several intervals where the series is sampled more often.
pub(super) const WINDOW: Duration = Duration::from_secs(1);
/// Maximum distance from a fair or a final value, relative to it.
pub(super) const BAND: f64 = 0.1;

/// The recorded series `rate`, averaged over windows.
pub(super) struct Windows {
    span: Duration,
    count: usize,
    /// By flow; a window is `None` where the flow was not active in all of it.
    curves: Vec<Option<Curve>>,
}

/// Number of intervals of `every` that a window has.
pub(super) fn intervals(every: Duration) -> usize {
    (WINDOW.as_nanos().div_ceil(every.as_nanos().max(1)) as usize).max(1)
}

impl Windows {
    /// The windows of a trace with the series `rate`; `None` without it.
    pub(super) fn new(trace: &Trace, rows: &[FlowRow<'_>]) -> Option<Self> {
        let mut curves = vec![None; rows.len()];
        let (mut every, mut count) = (None, usize::MAX);
        for record in &trace.series {
            let Subject::Flow(flow) = record.subject else { continue };
            if record.name != "rate" || record.times.is_empty() {
                continue;
            }
            let interval = *every.get_or_insert(record.times[0].saturating_since(Time::ZERO));
            let row = &rows[flow.index()];
            let values = record.times.iter().zip(&record.values);
            let on: Curve = values.map(|(&at, &value)| row.sends_at(at, value).then_some(value)).collect();
            let windows = averaged(&on, intervals(interval));
            count = count.min(windows.len());
            curves[flow.index()] = Some(windows);
        }
        let every = every?;
        let span = Duration::from_nanos(every.as_nanos() * intervals(every) as u64);
        Some(Self { span, count, curves })
    }

    /// Jain's index over the flows of `members` that have a scheme and were active in all of a window, by the end of
    /// the window; windows with fewer than two such flows are left out.
    pub(super) fn fairness(&self, members: &[usize], rows: &[FlowRow<'_>]) -> Vec<(Time, f64)> {
        let with_scheme = members.iter().filter(|&&row| rows[row].scheme().is_some());
        let curves: Vec<&Curve> = with_scheme.filter_map(|&row| self.curves[row].as_ref()).collect();
        let at = |window: usize| {
            let on: Vec<f64> = curves.iter().filter_map(|curve| curve[window]).collect();
            let index = if on.len() < 2 { None } else { jain(&on) };
            index.map(|index| {
                (Time::ZERO + Duration::from_nanos(self.span.as_nanos() * (window as u64 + 1)), index)
            })
        };
        (0..self.count).filter_map(at).collect()
    }

    /// The longest time that the total rate of `members` took after one of the `events` until it stayed within [`BAND`]
    /// of its final value: the mean over the second half of the time until the next event or the end. `None` without
    /// events, and if it did not stay there for that half.
    pub(super) fn recovery(&self, members: &[usize], events: &[Time]) -> Option<f64> {
        let curves: Vec<&Curve> = members.iter().filter_map(|&row| self.curves[row].as_ref()).collect();
        let total = |window: usize| curves.iter().filter_map(|curve| curve[window]).sum::<f64>();
        let span_ns = self.span.as_nanos();
        let mut longest: Option<f64> = None;
        for (index, event) in events.iter().enumerate() {
            let first = event.as_nanos().div_ceil(span_ns) as usize;
            let end = events.get(index + 1).map_or(self.count, |next| (next.as_nanos() / span_ns) as usize);
            let end = end.min(self.count);
            if curves.is_empty() || end < first + 2 {
                return None;
            }
            let totals: Vec<f64> = (first..end).map(total).collect();
            let convergence = settling(&totals)?;
            let began = span_ns * (first + convergence) as u64;
            let took = Time::from_nanos(began).saturating_since(*event).as_secs_f64();
            longest = Some(longest.map_or(took, |longest| longest.max(took)));
        }
        longest
    }
}

/// The index from which all values are within [`BAND`] of the final value, the mean of the second half; `None` if it
/// lies in that half.
fn settling(values: &[f64]) -> Option<usize> {
    let half = values.len() / 2;
    let last = &values[half..];
    let goal = last.iter().sum::<f64>() / last.len() as f64;
    let outside = values.iter().rposition(|value| (value - goal).abs() > BAND * goal);
    let from = outside.map_or(0, |at| at + 1);
    (goal > 0.0 && from <= half).then_some(from)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The second half, 4, 4, 4, 4, has the mean 4, and 3.5 is outside of 3.6 to 4.4.
    #[test]
    fn a_value_settles_where_it_enters_the_band_for_good() {
        assert_eq!(settling(&[1.0, 4.1, 3.5, 3.7, 4.0, 4.0, 4.0, 4.0]), Some(3));
        assert_eq!(settling(&[4.0, 4.0]), Some(0));
        assert_eq!(settling(&[4.0, 4.0, 4.0, 4.0, 8.0, 0.0, 8.0, 0.0]), None, "it swings");
        assert_eq!(settling(&[0.0, 0.0]), None, "nothing is sent");
    }

    /// Windows of 1 s. At 3.5 s the rate falls; the windows from 4 s on are 2, 9, 10, 10, 10, 10: final value 10,
    /// reached at 5 s, 1.5 s later.
    #[test]
    fn recovery_counts_from_the_event() {
        let curve: Curve = [10., 10., 10., 5., 2., 9.5, 10., 10., 10., 10.].map(Some).to_vec();
        let windows = Windows { span: Duration::from_secs(1), count: 10, curves: vec![Some(curve)] };
        let event = Time::ZERO + Duration::from_millis(3500);
        assert_eq!(windows.recovery(&[0], &[event]), Some(1.5));
        assert_eq!(windows.recovery(&[0], &[]), None);
        assert_eq!(
            windows.recovery(&[0], &[Time::ZERO + Duration::from_secs(9)]),
            None,
            "one window is too few"
        );
    }
}
