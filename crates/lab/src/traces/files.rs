//! Files of traces: delivery opportunities as mahimahi has them, rates as CSV, and rates up to a time as Pensieve has
//! them.

use std::fmt::Write;

use sim::{OPPORTUNITY_BYTES, RateTrace};
use units::{Duration, Rate, UnitText};

use super::STEP;
use crate::files::{
    Column, EPOCH_S, Heading, Remarks, Unit, Wrong, columns, comma_hint, decimal, epoch_unit, is_heading,
    lines, nanos,
};
use crate::schema::hints::{comma_in_quantity, shortened};

/// Headings of what is written: without delays and with them.
const HEADS: [&str; 2] = ["time_s,rate_bps", "time_s,rate_bps,delay_s"];
/// A line of CSV.
pub(super) const CSV_HINT: &str =
    "a line is a time in seconds, a rate and, in all lines or none, a delay: 0.5,12 Mbit/s,30 ms";
/// A line of other files.
pub(super) const OTHER_HINT: &str = "a line is a time in whole milliseconds (mahimahi), or a time in seconds and \
     Mbit/s with a space or a tab between them (Pensieve); CSV ends in .csv";
/// Headings that are read.
const HEAD_HINT: &str = "write the heading time_s,rate_bps or time_s,rate_mbps, with delay_s or delay_ms as a third \
     column, or none and rates with units";
const SECOND: i128 = 1_000_000_000;
const MS: i128 = 1_000_000;
/// Longest trace in nanoseconds.
const LONGEST: i128 = 1_000_000_000 * SECOND;

/// Whether a text is CSV whatever the name of its file: it has a heading, or commas or semicolons between columns.
pub(super) fn is_table(text: &str) -> bool {
    lines(text).next().is_some_and(|(_, first)| {
        let cells = columns(first);
        cells.len() > 1 && (is_heading(&cells) || first.contains([',', ';']))
    })
}

/// A file that is not CSV: delivery opportunities, or, with two numbers in its first line, rates up to a time.
pub(super) fn other(text: &str, remarks: &mut Remarks) -> Result<RateTrace, Wrong> {
    let two = lines(text).next().is_some_and(|(_, first)| {
        let words: Vec<&str> = first.split_whitespace().collect();
        words.len() == 2 && words.iter().all(|word| decimal(word, 0).is_some())
    });
    if two { rates_up_to(text, remarks) } else { opportunities(text, remarks) }
}

/// Delivery opportunities: a line is a time in whole milliseconds. Times since 1970 are counted from the first one.
fn opportunities(text: &str, remarks: &mut Remarks) -> Result<RateTrace, Wrong> {
    let mut times: Vec<u32> = Vec::new();
    let (mut start, mut before) = (0, None);
    for (line, written) in lines(text) {
        let shown = shortened(written);
        let time = decimal(written, 6).filter(|time| time % MS == 0).map(|time| time / MS);
        let time = time.ok_or_else(|| (line, format!("`{shown}` is no time in whole milliseconds")))?;
        if time < 0 {
            return Err((line, format!("`{shown}` is negative")).into());
        }
        if let Some(before) = before.filter(|before| *before > time) {
            return Err((line, format!("{time} ms is before {before} ms")).into());
        }
        if before.replace(time).is_none() && time >= EPOCH_S {
            if let Some((unit, _)) = epoch_unit(time.saturating_mul(MS), 6) {
                return Err(since_1970(line, written, unit, "milliseconds"));
            }
            if time < EPOCH_S * 100 {
                return Err(since_1970(line, written, "seconds", "milliseconds"));
            }
            start = time;
            shifted(&format!("{time} ms"), remarks);
        }
        times.push(u32::try_from(time - start).map_err(|_| {
            (line, format!("`{shown}` is too late: at most {} ms, 49 days, after the start", u32::MAX))
        })?);
    }
    RateTrace::opportunities(times).map_err(|message| (0, message.to_owned()).into())
}

fn since_1970(line: usize, written: &str, unit: &str, expected: &str) -> Wrong {
    let shown = shortened(written);
    let message = format!("`{shown}` looks like {unit} since 1970, where {expected} are expected");
    Wrong::with_hint(line, message, format!("write {expected}, from 0 on"))
}

/// Remarks that a trace starts late.
fn shifted(start: &str, remarks: &mut Remarks) {
    remarks.push((
        format!("its times start at {start}, and are counted from there"),
        "subtract the first time from all of them, or add a line for the time before it".to_owned(),
    ));
}

/// A time of a trace in nanoseconds, after the one before it; `power` is the unit of its column.
fn time_after(before: Option<i128>, line: usize, written: &str, power: i32) -> Result<i128, Wrong> {
    let time = nanos(written, power, "time").map_err(|(message, hint)| Wrong { line, message, hint })?;
    match before {
        Some(before) if before >= time => {
            let message = format!("{} is not after the time before it", shortened(written));
            Err((line, message).into())
        }
        None => match epoch_unit(time, power) {
            Some((unit, short)) => {
                let expected = if power == 9 { "seconds" } else { "larger units" };
                let wrong = since_1970(line, written, unit, expected);
                Err(Wrong {
                    hint: Some(format!("name the unit in the heading: time_{short},rate_bps")),
                    ..wrong
                })
            }
            None => Ok(time),
        },
        _ => Ok(time),
    }
}

/// `time` of a line from `start` on.
fn from_start(time: i128, start: i128, line: usize) -> Result<Duration, Wrong> {
    match u64::try_from(time - start) {
        Ok(after) if time - start <= LONGEST => Ok(Duration::from_nanos(after)),
        _ => Err((line, "it is longer than 1000000000 s".to_owned()).into()),
    }
}

/// A time of a trace, for remarks.
fn shown(time: i128) -> String {
    let (seconds, rest) = (time / SECOND, time % SECOND);
    if rest == 0 {
        format!("{seconds} s")
    } else {
        format!("{seconds}.{rest:09}").trim_end_matches('0').to_owned() + " s"
    }
}

/// Rates over time, and delays if there is a third column: a line is a time, and the rate and the delay from then on.
/// The last line ends the trace; its rate and its delay say nothing. Times are counted from the first one.
pub(super) fn rates(text: &str, remarks: &mut Remarks) -> Result<RateTrace, Wrong> {
    let mut rows: Vec<(i128, Rate, Option<Duration>)> = Vec::new();
    let (mut time_unit, mut rate_unit, mut delay_unit, mut columns_of_all) = (9, None, None, None);
    let (mut heading, mut last_line): (Option<Heading>, _) = (None, 0);
    for (index, (line, written)) in lines(text).enumerate() {
        let mut cells = columns(written);
        if index == 0 && is_heading(&cells) {
            let known = [&Column::TIME, &Column::RATE, &Column::DELAY];
            let Some(read) = Heading::of(&cells, &known[..cells.len().clamp(2, 3)]) else {
                let message = format!("`{}` are no columns of a trace", shortened(written));
                return Err(Wrong::with_hint(line, message, HEAD_HINT));
            };
            (time_unit, rate_unit) = (read.units[0].map_or(9, |unit| unit.power), read.units[1]);
            delay_unit = read.units.get(2).copied().flatten().map(|unit| unit.power);
            columns_of_all = Some(cells.len());
            heading = Some(read);
            continue;
        }
        if let Some(heading) = &heading {
            cells = heading.arranged(cells);
        }
        last_line = line;
        let (time, rate, delay) = match cells[..] {
            [time, rate] => (time, rate, None),
            [time, rate, delay] => (time, rate, Some(delay)),
            _ => return Err((line, format!("`{}` is no time and rate", shortened(written))).into()),
        };
        let time = time_after(rows.last().map(|row| row.0), line, time, time_unit)?;
        if *columns_of_all.get_or_insert(cells.len()) != cells.len() {
            return Err((line, "either all lines have a delay, or none".to_owned()).into());
        }
        let rate = read_rate(rate, rate_unit).map_err(|(message, hint)| Wrong { line, message, hint })?;
        let delay = delay.map(|delay| read_delay(delay, delay_unit)).transpose();
        rows.push((time, rate, delay.map_err(|(message, hint)| Wrong { line, message, hint })?));
    }
    let Some((end, last, _)) = rows.pop().filter(|_| !rows.is_empty()) else {
        return Err((0, "it needs two lines: a rate, and the time at which the trace ends".to_owned()).into());
    };
    let start = rows[0].0;
    if start > 0 {
        shifted(&shown(start), remarks);
    }
    let (mut rates, mut delays) = (Vec::new(), Vec::new());
    for (time, rate, delay) in rows {
        let time = from_start(time, start, last_line)?;
        rates.push((time, rate));
        delays.extend(delay.map(|delay| (time, delay)));
    }
    let period = from_start(end, start, last_line)?;
    if last > Rate::ZERO {
        remarks.push((
            format!("its last line is its end at {period}: the rate of {last} there is never used"),
            "add a line with the time at which this rate ends; leave the rate of the last line empty"
                .to_owned(),
        ));
    }
    let trace = RateTrace::rates(&rates, period);
    let trace = if delays.is_empty() { trace } else { trace.and_then(|trace| trace.with_delays(&delays)) };
    trace.map_err(|message| (0, message.to_owned()).into())
}

/// Rates as Pensieve's simulator takes them: a line is a time in seconds, and the rate in Mbit/s since the time before
/// it. The first line begins the trace; its rate says nothing.
fn rates_up_to(text: &str, remarks: &mut Remarks) -> Result<RateTrace, Wrong> {
    const EPOCH: &str =
        "write seconds, from 0 on, or CSV with the heading time_ms,rate_mbps in a file that ends in .csv";
    let (mut rows, mut last_line): (Vec<(i128, Rate)>, _) = (Vec::new(), 0);
    for (line, written) in lines(text) {
        last_line = line;
        let words: Vec<&str> = written.split_whitespace().collect();
        let [time, rate] = words[..] else {
            return Err((line, format!("`{}` is no time and rate", shortened(written))).into());
        };
        let before = rows.last().map(|row| row.0);
        let time = time_after(before, line, time, 9).map_err(|wrong| match before {
            // such a file has no heading
            None if wrong.message.contains("since 1970") => Wrong { hint: Some(EPOCH.to_owned()), ..wrong },
            _ => wrong,
        })?;
        let rate = read_rate(rate, Some(Unit::ten_to(6))).map_err(|(message, hint)| Wrong {
            line,
            message,
            hint,
        })?;
        rows.push((time, rate));
    }
    let (Some(&(start, _)), Some(&(end, _)), 2..) = (rows.first(), rows.last(), rows.len()) else {
        return Err((
            0,
            "it needs two lines: the start of the trace, and a time with the rate up to it".to_owned(),
        )
            .into());
    };
    remarks.push((
        "two numbers in a line are read as a time in seconds and the rate in Mbit/s up to it, as Pensieve does".to_owned(),
        "for rates from a time on, write CSV with the heading time_s,rate_mbps to a file that ends in .csv".to_owned(),
    ));
    if start > 0 {
        shifted(&shown(start), remarks);
    }
    let rates: Result<Vec<_>, Wrong> =
        rows.windows(2).map(|pair| Ok((from_start(pair[0].0, start, last_line)?, pair[1].1))).collect();
    RateTrace::rates(&rates?, from_start(end, start, last_line)?)
        .map_err(|message| (0, message.to_owned()).into())
}

/// A propagation delay, at most a minute; nothing is 0. `unit` is that of its column, if it has one.
fn read_delay(written: &str, unit: Option<i32>) -> Result<Duration, (String, Option<String>)> {
    let read = match (written, unit) {
        ("" | "0", _) => Ok(Duration::ZERO),
        (_, Some(power)) => nanos(written, power, "delay")
            .map(|time| Duration::from_nanos(u64::try_from(time).unwrap_or(u64::MAX))),
        (_, None) => Duration::from_text(written).map_err(|error| {
            (error.message, Some(format!("{}; or name its unit in a heading: delay_ms", error.hint)))
        }),
    };
    let limit = Duration::from_secs(60);
    read.and_then(
        |delay| if delay <= limit { Ok(delay) } else { Err((format!("{delay} is more than 60 s"), None)) },
    )
}

/// A rate; nothing is 0. `unit` is that of its column, if it has one: a power of ten of bit/s.
fn read_rate(written: &str, unit: Option<Unit>) -> Result<Rate, (String, Option<String>)> {
    let limit = Rate::from_mbps(10_000_000);
    let shown = shortened(written);
    let read = match (written, unit) {
        ("" | "0", _) => Ok(Rate::ZERO),
        (_, Some(Unit { power, times })) => match decimal(written, power).map(|x| x.saturating_mul(times)) {
            Some(bps) if bps < 0 => Err((format!("`{shown}` is negative"), None)),
            Some(bps) => Ok(Rate::from_bps(u64::try_from(bps).unwrap_or(u64::MAX))),
            None => {
                let of = match (power, times) {
                    (0, 1) => "bit/s",
                    (3, 1) => "kbit/s",
                    (6, 1) => "Mbit/s",
                    (_, 1) => "Gbit/s",
                    _ => "bytes per second",
                };
                Err((format!("`{shown}` is no number of {of}"), comma_hint(written)))
            }
        },
        (_, None) => Rate::from_text(written).map_err(|error| {
            let hint = if error.message.ends_with("has no unit") {
                format!(
                    "write its unit, or name it in a heading: time_s,{}",
                    if written.len() > 5 { "rate_bps" } else { "rate_mbps" }
                )
            } else {
                comma_in_quantity(written).unwrap_or(error.hint)
            };
            (error.message, Some(hint))
        }),
    };
    read.and_then(|rate| {
        if rate <= limit {
            Ok(rate)
        } else {
            Err((
                format!(
                    "{} is more than 10000 Gbit/s",
                    if rate == Rate::UNLIMITED { shown } else { rate.to_string() }
                ),
                None,
            ))
        }
    })
}

/// Rates as CSV, in bit/s, with the delay of each step if there are `delays`. Equal lines that follow each other are
/// one.
pub(super) fn as_rates(steps: &[Rate], delays: &[Duration]) -> String {
    let head = HEADS[usize::from(!delays.is_empty())];
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

/// Rates as delivery opportunities: one at the end of the millisecond in which the rate has carried another 1500 bytes.
/// The last one is at the end of the trace, where it completes the period, if fewer bytes are left over.
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
        let Wrong { line, message, .. } = result.expect_err("it is wrong");
        (line, message)
    }

    fn opportunities(text: &str) -> Result<RateTrace, Wrong> {
        other(text, &mut Remarks::new())
    }

    fn rates(text: &str) -> Result<RateTrace, Wrong> {
        super::rates(text, &mut Remarks::new())
    }

    #[test]
    fn a_table_is_one_under_any_name() {
        for text in [
            "time_s,rate_bps\n0,5",
            "0,5 Mbit/s\n1,",
            "0;5 Mbit/s",
            "time_s\trate_mbps\n0\t5",
            "#\n0,1 Mbit/s",
        ] {
            assert!(is_table(text), "{text}");
        }
        for text in ["", "5\n7", "0\t5\n1\t6", "0.5 3.1", "time"] {
            assert!(!is_table(text), "{text}");
        }
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
        assert_eq!(wrong(rates("0,1 Mbit/s\n-1,0\n")), (2, "`-1` is negative".to_owned()));
        assert_eq!(wrong(rates("0,1 Mbit/s\n0,0\n")).0, 2);
        assert_eq!(wrong(rates("0,50\n1,0\n")).0, 1, "a rate has a unit");
        assert_eq!(wrong(rates("time_s,rate_bps\n0,1 Mbit/s\n1,0\n")).0, 2);
        assert_eq!(wrong(rates("0,20000 Gbit/s\n1,0\n")).0, 1);
        assert_eq!(wrong(rates("0,1 Mbit/s\n")).0, 0, "it has no end");
        assert_eq!(wrong(rates("0,0\n1,0\n")), (0, "its rate is always 0".to_owned()));
    }

    #[test]
    fn numbers_times_and_headings_of_other_programs_are_read() {
        let of = |text: &str| {
            let mut remarks = Remarks::new();
            super::rates(text, &mut remarks).map(|trace| (trace, remarks.len()))
        };
        let (expected, none) = of("0,1 Mbit/s\n5,2.5 Mbit/s\n10,").expect("it is right");
        assert_eq!(none, 0);
        for (text, remarks) in [
            ("time_s,rate_bps\n0,1e6\n5,2.5E6\n10,", 0),
            ("time_s,rate_bps\n0e0,+1e+6\n5.0,2500000.0\n1e1,0", 0),
            ("time_ms;throughput_mbps\n0;1\n5000;2.5\n10000;", 0),
            ("\"Time (s)\"\t\"Rate [kbit/s]\"\n0\t1e3\n5\t2500\n10\t0", 0),
            ("time,throughput\n0,1 Mbit/s\n5,2.5 Mbit/s\n10,", 0),
            ("0 s,1 Mbit/s\n5 s,2.5 Mbit/s\n10 s,", 0),
            ("38.46,1 Mbit/s\n43.46,2.5 Mbit/s\n48.46,", 1),
            (
                "time_s,rate_bps\n1682712131.123456789,1e6\n1682712136.123456789,2.5e6\n1682712141.123456789,",
                1,
            ),
            ("time_ms,rate_bps\n1604822400000,1e6\n1604822405000,2.5e6\n1604822410000,", 1),
            ("0,1 Mbit/s\n5,2.5 Mbit/s\n10,3 Mbit/s", 1),
        ] {
            assert_eq!(of(text), Ok((expected.clone(), remarks)), "{text}");
        }
        for (text, line, hint) in [
            ("time,speed\n0,1\n1,", 1, "time_s,rate_bps"),
            ("time_s,delay_ms\n0,1\n1,", 1, "time_s,rate_bps"),
            ("time_s,rate_mbps,delay_ms,rtt\n0,1,2,3\n1,,,", 1, "time_s,rate_bps"),
            ("time,throughput\n0,12\n1,", 2, "rate_mbps"),
            ("0;1,5\n1;", 1, ""),
            ("time_s;rate_mbps\n0;1,5\n1;", 2, "decimal point"),
            ("1604822400000,1 Mbit/s\n1604822410000,", 1, "time_ms,rate_bps"),
            ("2024-05-01 10:00:00,1 Mbit/s\n", 1, "dates"),
        ] {
            let wrong = of(text).expect_err(text);
            assert_eq!(wrong.line, line, "{text}");
            assert!(wrong.hint.as_deref().unwrap_or_default().contains(hint), "{text}: {wrong:?}");
        }
        for value in ["nan", "inf", "-1", "1_0", "0x5", "unlimited", "1e99"] {
            assert_eq!(wrong(rates(&format!("time_s,rate_bps\n0,{value}\n1,"))).0, 2, "{value}");
        }
        for value in ["nan", "inf", "-0.5", "1_0", "", "1e99"] {
            assert!(rates(&format!("time_s,rate_bps\n0,1e6\n{value},")).is_err(), "{value}");
        }
    }

    #[test]
    fn opportunities_of_a_calendar_are_counted_from_the_first() {
        let expected = opportunities("0\n3\n10\n").expect("it is right");
        assert_eq!(opportunities("1604822400000\n1604822400003\n1.60482240001e12\n"), Ok(expected));
        for (text, unit) in [
            ("1682712131\n1682712132\n", "seconds since 1970"),
            ("1604822400000000\n", "microseconds since 1970"),
            ("16048224000000000000\n", "nanoseconds since 1970"),
            ("0\n99999999999\n", "too late"),
            ("-1\n5\n", "negative"),
        ] {
            assert!(wrong(opportunities(text)).1.contains(unit), "{text}");
        }
    }

    #[test]
    fn two_numbers_of_a_line_are_a_time_and_the_rate_up_to_it() {
        let expected = rates("0,2 Mbit/s\n1.5,0.5 Mbit/s\n2,").expect("it is right");
        for text in ["0\t9\n1.5\t2\n2\t0.5\n", "38.5 9\n40 2e0\n40.5 5e-1\n"] {
            assert_eq!(opportunities(text), Ok(expected.clone()), "{text}");
        }
        assert_eq!(wrong(opportunities("0 1\n1 2 3\n")).0, 2);
        assert_eq!(wrong(opportunities("0 1\n0 2\n")).0, 2);
        assert_eq!(wrong(opportunities("0 1\n")).0, 0);
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
