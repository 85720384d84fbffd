//! The first line of a table, which names its columns and perhaps their units: `time_s,rate_bps`,
//! `Time (ms); Throughput (Mbit/s)`.

/// A column: its names, and the units that a name may end in, each with its power of ten.
pub(crate) struct Column {
    pub(crate) names: &'static [&'static str],
    pub(crate) units: &'static [(&'static str, i32)],
}

impl Column {
    /// Times from the first one on.
    pub(crate) const TIME: Self = Self {
        names: &["time", "t", "timestamp", "ts", "start", "start_time", "arrival", "arrival_time"],
        units: Self::OF_TIME,
    };
    /// A delay in one direction.
    pub(crate) const DELAY: Self =
        Self { names: &["delay", "owd", "one_way_delay", "latency"], units: Self::OF_TIME };
    pub(crate) const RATE: Self = Self {
        names: &["rate", "throughput", "bandwidth", "bw", "capacity", "bitrate", "data_rate"],
        units: &[
            ("bps", 0),
            ("bit_s", 0),
            ("bits_s", 0),
            ("kbps", 3),
            ("kbit_s", 3),
            ("kbits_s", 3),
            ("mbps", 6),
            ("mbit_s", 6),
            ("mbits_s", 6),
            ("gbps", 9),
            ("gbit_s", 9),
            ("gbits_s", 9),
        ],
    };
    pub(crate) const SIZE: Self = Self {
        names: &["size", "bytes", "length", "flow_size", "object_size", "pkt_size", "b"],
        units: &[("bytes", 0), ("byte", 0), ("b", 0)],
    };
    /// Powers of ten of a nanosecond.
    const OF_TIME: &'static [(&'static str, i32)] = &[
        ("s", 9),
        ("sec", 9),
        ("secs", 9),
        ("seconds", 9),
        ("ms", 6),
        ("msec", 6),
        ("milliseconds", 6),
        ("us", 3),
        ("usec", 3),
        ("microseconds", 3),
        ("ns", 0),
        ("nanoseconds", 0),
    ];

    /// Whether `written` names this column; the power of ten of its unit, if it has one.
    fn matched(&self, written: &str) -> Option<Option<i32>> {
        let name = normal(written);
        if self.names.contains(&name.as_str()) {
            return Some(None);
        }
        let of_unit = |(unit, power): &(&str, i32)| {
            let stem = name.strip_suffix(unit)?;
            let known =
                stem.is_empty() || stem.strip_suffix('_').is_some_and(|stem| self.names.contains(&stem));
            known.then_some(*power)
        };
        // a unit alone names the column where it is a word
        self.units.iter().find_map(of_unit).filter(|_| name.len() > 3 || name.contains('_')).map(Some)
    }
}

/// Lower case, with `_` for all that is between words: `Time (s)` is `time_s`.
fn normal(written: &str) -> String {
    let parts = written.split(|c: char| !c.is_alphanumeric()).filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join("_").to_lowercase()
}

/// Whether the first line of a table names its columns, as no number begins so.
pub(crate) fn is_heading(columns: &[&str]) -> bool {
    columns.first().is_some_and(|first| first.starts_with(|c: char| c.is_alphabetic() || c == '_'))
}

/// The power of ten of the unit of each column, if it has one; `None` if `written` are not these columns.
pub(crate) fn units_of(written: &[&str], columns: &[&Column]) -> Option<Vec<Option<i32>>> {
    if written.len() != columns.len() {
        return None;
    }
    written.iter().zip(columns).map(|(name, column)| column.matched(name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_units_of_columns_are_recognised() {
        let read =
            |line: &str| units_of(&line.split(',').collect::<Vec<_>>(), &[&Column::TIME, &Column::RATE]);
        for (line, units) in [
            ("time_s,rate", Some(vec![Some(9), None])),
            ("time_s,rate_bps", Some(vec![Some(9), Some(0)])),
            ("time,throughput", Some(vec![None, None])),
            ("Time (ms),Throughput (Mbit/s)", Some(vec![Some(6), Some(6)])),
            ("timestamp,bandwidth [kbps]", Some(vec![None, Some(3)])),
            ("time_s,Gbps", Some(vec![Some(9), Some(9)])),
            ("seconds,rate", Some(vec![Some(9), None])),
            ("rate,time", None),
            ("time_s", None),
            ("time_s,rate,delay", None),
            ("time_h,rate", None),
            ("ns,rate", None),
        ] {
            assert_eq!(read(line), units, "{line}");
        }
        assert!(is_heading(&["time"]) && !is_heading(&["0"]) && !is_heading(&["-1"]) && !is_heading(&[]));
    }
}
