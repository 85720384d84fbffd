//! Functions that run in real time over real sockets.

use driver::pacing::{Method, measure};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde_json::json;
use units::Duration;

/// Measures the pacing of this host and returns its accuracy as JSON. `method` is `sleep`, `exact`, `spin`, `mixed` or
/// `tick`. `aside_ns` is how long before a departure `mixed` starts to spin, and the interval of `tick`. With `size`,
/// each departure is a datagram.
#[pyfunction]
pub fn measure_pacing(
    py: Python<'_>,
    method: &str,
    aside_ns: u64,
    interval_ns: u64,
    span_ns: u64,
    size: Option<usize>,
) -> PyResult<String> {
    let aside = Duration::from_nanos(aside_ns);
    let method = match method {
        "sleep" => Method::Sleep,
        "exact" => Method::SleepExact,
        "spin" => Method::Spin,
        "mixed" => Method::SleepThenSpin(aside),
        "tick" if aside_ns > 0 => Method::Tick(aside),
        _ => return Err(PyValueError::new_err(format!("no way to wait: {method}"))),
    };
    if interval_ns == 0 || span_ns / interval_ns > MAX {
        return Err(PyValueError::new_err(format!("1 to {MAX} departures can be measured")));
    }
    let (interval, span) = (Duration::from_nanos(interval_ns), Duration::from_nanos(span_ns));
    let found = py.detach(|| measure(method, interval, span, size))?;
    let seconds = |span: Duration| span.as_secs_f64();
    let report = json!({
        "wanted": found.scheduled,
        "left": found.departed,
        "span_s": seconds(found.span),
        "late_p50_s": seconds(found.lateness[0]),
        "late_p99_s": seconds(found.lateness[1]),
        "late_p999_s": seconds(found.lateness[2]),
        "late_max_s": seconds(found.lateness[3]),
        "gap_deviation_s": seconds(found.gap_deviation),
        "gap_max_s": seconds(found.gap_max),
        "uneven": found.uneven,
        "cpu_s": seconds(found.cpu),
        "calls": found.calls,
    });
    Ok(report.to_string())
}

/// Maximum number of departures of a measurement, because each is stored.
const MAX: u64 = 100_000_000;
