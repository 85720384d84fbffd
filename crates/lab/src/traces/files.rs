//! Files of traces: delivery opportunities as mahimahi has them, and rates as CSV.

use std::fmt::Write;

use sim::{OPPORTUNITY_BYTES, RateTrace};
use units::{Duration, Rate, UnitText};

use super::models::STEP;
use crate::files::{Wrong, lines};
use crate::schema::read::shortened;

/// Columns of CSV with values that have units, and with numbers of bit/s and seconds; the last two also have a delay.
const HEADS: [&str; 4] = ["time_s,rate", "time_s,rate_bps", "time_s,rate,delay", "time_s,rate_bps,delay_s"];

/// Delivery opportunities: a line is a time in whole milliseconds.
pub(super) fn opportunities(text: &str) -> Result<RateTrace, Wrong> {
    let mut times: Vec<u32> = Vec::new();
    for (line, written) in lines(text) {
        let time = written
            .parse::<u32>()
            .map_err(|_| (line, format!("`{}` is no time in whole milliseconds", shortened(written))))?;
        if let Some(before) = times.last().filter(|before| **before > time) {
            return Err((line, format!("{time} ms is before {before} ms")));
        }
        times.push(time);
    }
    RateTrace::opportunities(times).map_err(|message| (0, message.to_owned()))
}

/// Rates over time, and delays if there is a third column: a line is a time in seconds, and the rate and the delay from then on. The last line ends the trace;
/// its rate and its delay say nothing.
pub(super) fn rates(text: &str) -> Result<RateTrace, Wrong> {
    let mut rates: Vec<(Duration, Rate)> = Vec::new();
    let mut delays: Vec<(Duration, Duration)> = Vec::new();
    let (mut bare, mut columns_of_all) = (false, None);
    for (index, (line, written)) in lines(text).enumerate() {
        let columns: String = written.split_whitespace().collect();
        if let (0, Some(head)) = (index, HEADS.iter().position(|head| **head == columns)) {
            bare = head % 2 == 1;
            columns_of_all = Some(HEADS[head].split(',').count());
            continue;
        }
        let Some((time, rate)) = written.split_once(',') else {
            return Err((line, format!("`{}` is no time and rate", shortened(written))));
        };
        let time = seconds(time.trim())
            .ok_or_else(|| (line, format!("`{}` is no time in seconds", shortened(time.trim()))))?;
        if rates.last().is_some_and(|(before, _)| *before >= time) {
            return Err((line, format!("{time} is not after the time before it")));
        }
        let (rate, delay) = rate.split_once(',').map_or((rate, None), |(rate, delay)| (rate, Some(delay)));
        let columns = 2 + usize::from(delay.is_some());
        if *columns_of_all.get_or_insert(columns) != columns {
            return Err((line, "either all lines have a delay, or none".to_owned()));
        }
        let rate = read_rate(rate.trim(), bare).map_err(|message| (line, message))?;
        rates.push((time, rate));
        if let Some(delay) = delay {
            let delay = read_delay(delay.trim(), bare).map_err(|message| (line, message))?;
            delays.push((time, delay));
        }
    }
    let Some((end, _)) = rates.pop().filter(|_| !rates.is_empty()) else {
        return Err((0, "it needs two lines: a rate, and the time at which the trace ends".to_owned()));
    };
    let trace = RateTrace::rates(&rates, end);
    delays.pop();
    let trace = if delays.is_empty() { trace } else { trace.and_then(|trace| trace.with_delays(&delays)) };
    trace.map_err(|message| (0, message.to_owned()))
}

/// A number of seconds, such as 0.25, exactly.
pub(crate) fn seconds(written: &str) -> Option<Duration> {
    let plain = written.chars().all(|c| c.is_ascii_digit() || c == '.');
    plain.then(|| Duration::from_text(&format!("{written} s")).ok()).flatten()
}

/// A propagation delay, at most a minute; nothing is 0.
fn read_delay(written: &str, bare: bool) -> Result<Duration, String> {
    let limit = Duration::from_secs(60);
    let read = match written {
        "" | "0" => Ok(Duration::ZERO),
        _ if bare => {
            seconds(written).ok_or_else(|| format!("`{}` is no delay in seconds", shortened(written)))
        }
        _ => Duration::from_text(written).map_err(|error| error.message),
    };
    read.and_then(|delay| if delay <= limit { Ok(delay) } else { Err(format!("{delay} is more than 60 s")) })
}

fn read_rate(written: &str, bare: bool) -> Result<Rate, String> {
    let limit = Rate::from_mbps(10_000_000);
    let read = match written {
        "" | "0" => Ok(Rate::ZERO),
        _ if bare => written
            .parse()
            .map(Rate::from_bps)
            .map_err(|_| format!("`{}` is no number of bit/s", shortened(written))),
        _ => Rate::from_text(written).map_err(|error| error.message),
    };
    read.and_then(
        |rate| {
            if rate <= limit { Ok(rate) } else { Err(format!("{rate} is more than 10000 Gbit/s")) }
        },
    )
}

/// Rates as CSV, in bit/s, with the delay of each step if there are `delays`. Equal lines that follow each other are one.
pub(super) fn as_rates(steps: &[Rate], delays: &[Duration]) -> String {
    let head = if delays.is_empty() { HEADS[1] } else { HEADS[3] };
    let mut text = format!("{head}\n");
    let mut last = None;
    let time_s = |step: usize| {
        let ms = STEP.as_nanos() * step as u64 / 1_000_000;
        format!("{}.{:03}", ms / 1000, ms % 1000)
    };
    for (step, rate) in steps.iter().enumerate() {
        let delay = delays.get(step).copied();
        if last.replace((*rate, delay)) == Some((*rate, delay)) {
            continue;
        }
        let _ = write!(text, "{},{}", time_s(step), rate.as_bps());
        let _ = match delay.map(Duration::as_nanos) {
            Some(ns) => writeln!(text, ",{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000),
            None => writeln!(text),
        };
    }
    let _ = writeln!(text, "{},0{}", time_s(steps.len()), if delays.is_empty() { "" } else { ",0" });
    text
}

/// Rates as delivery opportunities: one at the end of the millisecond in which the rate has carried another 1500 bytes. The last one is at the end
/// of the trace, where it completes the period, if fewer bytes are left over.
pub(super) fn as_opportunities(steps: &[Rate]) -> String {
    // in bit/s · ms: a packet of 1500 bytes is 12 000 bits
    let packet = u128::from(OPPORTUNITY_BYTES) * 8 * 1000;
    let step_ms = STEP.as_nanos() / 1_000_000;
    let (mut text, mut carried, mut last) = (String::new(), 0u128, 0);
    for ms in 1..=steps.len() as u64 * step_ms {
        carried += u128::from(steps[((ms - 1) / step_ms) as usize].as_bps());
        while carried >= packet {
            carried -= packet;
            last = ms;
            let _ = writeln!(text, "{ms}");
        }
    }
    let end = steps.len() as u64 * step_ms;
    if last < end {
        let _ = writeln!(text, "{end}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrong(result: Result<RateTrace, Wrong>) -> (usize, String) {
        result.expect_err("it is wrong")
    }

    #[test]
    fn opportunities_are_read_line_by_line() {
        let trace = opportunities("# a comment\n2\n5\n5\r\n\n10\n").expect("it is right");
        assert_eq!(Ok(trace), RateTrace::opportunities(vec![2, 5, 5, 10]));
        assert_eq!(
            wrong(opportunities("2\n1.5\n")),
            (2, "`1.5` is no time in whole milliseconds".to_owned())
        );
        assert_eq!(wrong(opportunities("2\n\n1\n")), (3, "1 ms is before 2 ms".to_owned()));
        assert_eq!(
            wrong(opportunities("# nothing\n")),
            (0, "there are no delivery opportunities in it".to_owned())
        );
        assert_eq!(wrong(opportunities("0\n")), (0, "it ends at 0 ms".to_owned()));
    }

    #[test]
    fn rates_are_read_with_units_or_in_bits_per_second() {
        let expected = RateTrace::rates(
            &[(Duration::ZERO, Rate::from_mbps(12)), (Duration::from_millis(250), Rate::ZERO)],
            Duration::from_secs(1),
        );
        assert_eq!(rates("0, 12 Mbit/s\n0.25,0\n1,\n").map_err(|_| ""), expected.clone());
        assert_eq!(
            rates("time_s,rate\n0,12 Mbit/s\n0.25,0 bit/s\n1.0,7 Mbit/s\n").map_err(|_| ""),
            expected.clone()
        );
        assert_eq!(rates("time_s, rate_bps\n0,12000000\n0.25,0\n1.0,0\n").map_err(|_| ""), expected);
    }

    #[test]
    fn a_third_column_is_the_delay() {
        let ms = Duration::from_millis;
        let rates_only = [(Duration::ZERO, Rate::from_mbps(12)), (ms(250), Rate::from_mbps(6))];
        let expected = RateTrace::rates(&rates_only, ms(1000))
            .and_then(|trace| trace.with_delays(&[(ms(0), ms(30)), (ms(250), ms(20))]));
        let read = |text| rates(text).map_err(|_| "");
        assert_eq!(read("0,12 Mbit/s,30 ms\n0.25, 6 Mbit/s, 20 ms\n1,,\n"), expected.clone());
        assert_eq!(read("time_s,rate_bps,delay_s\n0,12000000,0.03\n0.25,6000000,0.02\n1,0,0\n"), expected);
        assert_eq!(
            wrong(rates("0,1 Mbit/s,5 ms\n1,0\n")),
            (2, "either all lines have a delay, or none".to_owned())
        );
        assert_eq!(wrong(rates("0,1 Mbit/s,5\n1,0,\n")).0, 1, "a delay has a unit");
        assert_eq!(wrong(rates("0,1 Mbit/s,61 s\n1,0,\n")), (1, "61 s is more than 60 s".to_owned()));
        assert_eq!(wrong(rates("time_s,rate,delay\n0,1 Mbit/s\n1,0\n")).0, 2);
    }

    #[test]
    fn delays_are_written_as_they_are_read() {
        let (steps, delays) = ([Rate::from_mbps(6); 3], [20, 20, 30].map(Duration::from_millis));
        let text = as_rates(&steps, &delays);
        let head = "time_s,rate_bps,delay_s\n";
        assert_eq!(text, format!("{head}0.000,6000000,0.020000000\n0.040,6000000,0.030000000\n0.060,0,0\n"));
        let trace = rates(&text).expect("it is right");
        assert_eq!(
            (trace.min_delay(), trace.period()),
            (Duration::from_millis(20), Duration::from_millis(60))
        );
    }

    #[test]
    fn a_wrong_line_of_rates_is_named() {
        assert_eq!(wrong(rates("0,1 Mbit/s\n1\n")), (2, "`1` is no time and rate".to_owned()));
        assert_eq!(wrong(rates("0,1 Mbit/s\n-1,0\n")), (2, "`-1` is no time in seconds".to_owned()));
        assert_eq!(wrong(rates("0,1 Mbit/s\n0,0\n")).0, 2);
        assert_eq!(wrong(rates("0,50\n1,0\n")).0, 1, "a rate has a unit");
        assert_eq!(wrong(rates("time_s,rate_bps\n0,1 Mbit/s\n1,0\n")).0, 2);
        assert_eq!(wrong(rates("0,20000 Gbit/s\n1,0\n")).0, 1);
        assert_eq!(wrong(rates("0,1 Mbit/s\n")).0, 0, "it has no end");
        assert_eq!(wrong(rates("0,0\n1,0\n")), (0, "its rate is always 0".to_owned()));
        assert_eq!(wrong(rates("1,1 Mbit/s\n2,0\n")), (0, "it does not begin at 0 s".to_owned()));
    }

    #[test]
    fn a_model_is_written_as_it_is_read() {
        let steps = [Rate::from_mbps(6), Rate::from_mbps(6), Rate::ZERO, Rate::from_mbps(3)];
        assert_eq!(
            as_rates(&steps, &[]),
            "time_s,rate_bps\n0.000,6000000\n0.040,0\n0.060,3000000\n0.080,0\n"
        );
        // 6 Mbit/s are a packet of 12 000 bits per 2 ms, 3 Mbit/s one per 4 ms
        let times: Vec<u32> =
            as_opportunities(&steps).lines().map(|ms| ms.parse().expect("a number")).collect();
        let even = (2..=40).step_by(2).chain([64, 68, 72, 76, 80]);
        assert_eq!(times, even.collect::<Vec<u32>>());
        assert!(
            as_opportunities(&[Rate::from_mbps(6), Rate::ZERO]).ends_with("20\n40\n"),
            "the period is kept"
        );
        let csv = rates(&as_rates(&steps, &[])).expect("it is right");
        assert_eq!((csv.mean(), csv.period()), (Rate::from_kbps(3750), Duration::from_millis(80)));
    }
}
