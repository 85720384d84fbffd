//! The first line of a table, which names its columns and perhaps their units: `time_s,rate_bps`,
//! `Time (ms); Throughput (Mbit/s)`.

/// What one of a column is: `times · 10^power` of bit/s, of nanoseconds or of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unit {
    pub(crate) power: i32,
    pub(crate) times: i128,
}

impl Unit {
    const fn new(times: i128, power: i32) -> Self {
        Self { power, times }
    }

    /// `10^power`.
    pub(crate) const fn ten_to(power: i32) -> Self {
        Self::new(1, power)
    }
}

/// A column: its names, and the units that a name may end in.
pub(crate) struct Column {
    pub(crate) names: &'static [&'static str],
    pub(crate) units: &'static [(&'static str, Unit)],
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
            ("bps", Unit::ten_to(0)),
            ("bit_s", Unit::ten_to(0)),
            ("bits_s", Unit::ten_to(0)),
            ("kbps", Unit::ten_to(3)),
            ("kbit_s", Unit::ten_to(3)),
            ("kbits_s", Unit::ten_to(3)),
            ("mbps", Unit::ten_to(6)),
            ("mbit_s", Unit::ten_to(6)),
            ("mbits_s", Unit::ten_to(6)),
            ("gbps", Unit::ten_to(9)),
            ("gbit_s", Unit::ten_to(9)),
            ("gbits_s", Unit::ten_to(9)),
            ("kb_s", Unit::ten_to(3)),
            ("mb_s", Unit::ten_to(6)),
            ("gb_s", Unit::ten_to(9)),
            ("byte_s", Unit::new(8, 0)),
            ("bytes_s", Unit::new(8, 0)),
            ("kbyte_s", Unit::new(8, 3)),
            ("kbytes_s", Unit::new(8, 3)),
            ("mbyte_s", Unit::new(8, 6)),
            ("mbytes_s", Unit::new(8, 6)),
            ("gbyte_s", Unit::new(8, 9)),
            ("gbytes_s", Unit::new(8, 9)),
            ("kibyte_s", Unit::new(8 << 10, 0)),
            ("mibyte_s", Unit::new(8 << 20, 0)),
        ],
    };
    pub(crate) const SIZE: Self = Self {
        names: &[
            "size",
            "bytes",
            "length",
            "flow_size",
            "object_size",
            "frame_size",
            "packet_size",
            "pkt_size",
            "b",
        ],
        units: &[
            ("bytes", Unit::ten_to(0)),
            ("byte", Unit::ten_to(0)),
            ("b", Unit::ten_to(0)),
            ("kbytes", Unit::ten_to(3)),
            ("kbyte", Unit::ten_to(3)),
            ("kb", Unit::ten_to(3)),
            ("mbytes", Unit::ten_to(6)),
            ("mbyte", Unit::ten_to(6)),
            ("mb", Unit::ten_to(6)),
            ("gb", Unit::ten_to(9)),
            ("kib", Unit::new(1 << 10, 0)),
            ("mib", Unit::new(1 << 20, 0)),
            // 1/8 is 125/1000
            ("bits", Unit::new(125, -3)),
            ("bit", Unit::new(125, -3)),
            ("kbits", Unit::new(125, 0)),
            ("kbit", Unit::new(125, 0)),
            ("mbits", Unit::new(125, 3)),
            ("mbit", Unit::new(125, 3)),
        ],
    };
    /// The sender and the receiver of a flow.
    pub(crate) const FROM: Self = Self {
        names: &["from", "src", "source", "sender", "src_node", "source_node", "from_node", "src_host"],
        units: &[],
    };
    pub(crate) const TO: Self = Self {
        names: &["to", "dst", "dest", "destination", "receiver", "dst_node", "to_node", "dst_host"],
        units: &[],
    };
    /// Parts of a nanosecond.
    const OF_TIME: &'static [(&'static str, Unit)] = &[
        ("s", Unit::ten_to(9)),
        ("sec", Unit::ten_to(9)),
        ("secs", Unit::ten_to(9)),
        ("seconds", Unit::ten_to(9)),
        ("ms", Unit::ten_to(6)),
        ("msec", Unit::ten_to(6)),
        ("milliseconds", Unit::ten_to(6)),
        ("us", Unit::ten_to(3)),
        ("usec", Unit::ten_to(3)),
        ("microseconds", Unit::ten_to(3)),
        ("ns", Unit::ten_to(0)),
        ("nanoseconds", Unit::ten_to(0)),
    ];

    /// Whether `written` names this column; its unit, if it has one.
    pub(crate) fn matched(&self, written: &str) -> Option<Option<Unit>> {
        let name = normal(written);
        if self.names.contains(&name.as_str()) {
            return Some(None);
        }
        let of_unit = |(unit, size): &(&str, Unit)| {
            let stem = name.strip_suffix(unit)?;
            let known =
                stem.is_empty() || stem.strip_suffix('_').is_some_and(|stem| self.names.contains(&stem));
            known.then_some(*size)
        };
        // a unit alone names the column where it is a word
        self.units.iter().find_map(of_unit).filter(|_| name.len() > 3 || name.contains('_')).map(Some)
    }

    /// Whether `written` begins as a name of this column, and ends in something else than one of its units.
    pub(crate) fn has_other_unit(&self, written: &str) -> bool {
        let name = normal(written);
        let begins = |known: &&str| name.strip_prefix(known).is_some_and(|rest| rest.starts_with('_'));
        self.matched(written).is_none() && self.names.iter().any(|known| known.len() > 1 && begins(known))
    }
}

/// Lower case, with `_` for all that is between words: `Time (s)` is `time_s`. A large B in a rate is a byte: `kBps` is
/// `kbyte_s`.
fn normal(written: &str) -> String {
    let parts = written.split(|c: char| !c.is_alphanumeric()).filter(|part| !part.is_empty());
    let words = parts.filter(|part| !part.eq_ignore_ascii_case("per")).collect::<Vec<_>>().join("_");
    let bytes = ["Bps", "B_s", "B_S"].into_iter().find_map(|end| words.strip_suffix(end));
    let words = bytes.map_or(words.clone(), |rest| format!("{rest}byte_s")).to_lowercase();
    match words.strip_suffix("_second").or_else(|| words.strip_suffix("_sec")) {
        Some(rest) => format!("{rest}_s"),
        None => words,
    }
}

/// Whether the first line of a table names its columns, as no number begins so.
pub(crate) fn is_heading(columns: &[&str]) -> bool {
    columns.first().is_some_and(|first| first.starts_with(|c: char| c.is_alphabetic() || c == '_'))
}

/// Where the columns of a table stand, and their units.
#[derive(Debug, PartialEq)]
pub(crate) struct Heading {
    places: Vec<usize>,
    /// In the order in which the columns are wanted.
    pub(crate) units: Vec<Option<Unit>>,
}

impl Heading {
    /// The heading `written` of a table with these columns, in any order. `None` if there are others, or one of them
    /// twice.
    pub(crate) fn of(written: &[&str], wanted: &[&Column]) -> Option<Self> {
        let (mut places, mut units) = (Vec::new(), Vec::new());
        for column in wanted {
            let found = written.iter().enumerate().filter(|(at, _)| !places.contains(at));
            let (at, unit) = found.filter_map(|(at, name)| Some((at, column.matched(name)?))).next()?;
            places.push(at);
            units.push(unit);
        }
        (written.len() == wanted.len()).then_some(Self { places, units })
    }

    /// The cells of a row in the order in which the columns are wanted; unchanged where it has not all of them.
    pub(crate) fn arranged<'a>(&self, cells: Vec<&'a str>) -> Vec<&'a str> {
        let wanted: Option<Vec<&str>> = self.places.iter().map(|at| cells.get(*at).copied()).collect();
        wanted.filter(|wanted| wanted.len() == cells.len()).unwrap_or(cells)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str, wanted: &[&Column]) -> Option<Heading> {
        Heading::of(&line.split(',').collect::<Vec<_>>(), wanted)
    }

    #[test]
    fn names_and_units_of_columns_are_recognised() {
        let of = |line: &str| read(line, &[&Column::TIME, &Column::RATE]).map(|heading| heading.units);
        let ten = |power| Some(Unit::ten_to(power));
        let bytes = |power| Some(Unit::new(8, power));
        for (line, units) in [
            ("time_s,rate", Some(vec![ten(9), None])),
            ("time_s,rate_bps", Some(vec![ten(9), ten(0)])),
            ("time,throughput", Some(vec![None, None])),
            ("Time (ms),Throughput (Mbit/s)", Some(vec![ten(6), ten(6)])),
            ("timestamp,bandwidth [kbps]", Some(vec![None, ten(3)])),
            ("time_s,Gbps", Some(vec![ten(9), ten(9)])),
            ("seconds,rate", Some(vec![ten(9), None])),
            ("time_s,RATE_MBPS", Some(vec![ten(9), ten(6)])),
            ("time_s,rate (Mb/s)", Some(vec![ten(9), ten(6)])),
            ("time_sec,bits per second", Some(vec![ten(9), ten(0)])),
            // a large B is a byte
            ("time_s,rate_Bps", Some(vec![ten(9), bytes(0)])),
            ("time_s,kBps", Some(vec![ten(9), bytes(3)])),
            ("time_s,rate_MBps", Some(vec![ten(9), bytes(6)])),
            ("time_s,Rate (MB/s)", Some(vec![ten(9), bytes(6)])),
            ("time_s,throughput [B/s]", Some(vec![ten(9), bytes(0)])),
            ("time_s,bytes per second", Some(vec![ten(9), bytes(0)])),
            ("time_s,rate_KiB/s", Some(vec![ten(9), Some(Unit::new(8192, 0))])),
            ("time_s", None),
            ("time_s,rate,delay", None),
            ("time_h,rate", None),
            ("ns,rate", None),
            ("time_s,rate_packets", None),
        ] {
            assert_eq!(of(line), units, "{line}");
        }
        let sizes = |line: &str| read(line, &[&Column::SIZE]).map(|heading| heading.units[0]);
        for (line, unit) in [
            ("size", None),
            ("size_kB", ten(3)),
            ("Size (MB)", ten(6)),
            ("Size (bits)", Some(Unit::new(125, -3))),
            ("Length [byte]", ten(0)),
            ("flow_size_KiB", Some(Unit::new(1024, 0))),
        ] {
            assert_eq!(sizes(line), Some(unit), "{line}");
        }
        assert_eq!(sizes("size_packets"), None);
        assert!(Column::SIZE.has_other_unit("size_packets") && !Column::SIZE.has_other_unit("size_kB"));
        assert!(is_heading(&["time"]) && !is_heading(&["0"]) && !is_heading(&["-1"]) && !is_heading(&[]));
    }

    #[test]
    fn columns_stand_in_the_order_of_their_heading() {
        let wanted = [&Column::TIME, &Column::FROM, &Column::TO, &Column::SIZE];
        for (line, row) in [
            ("time,src,dst,bytes", "t,a,b,n"),
            ("time,dst,src,bytes", "t,b,a,n"),
            ("bytes,receiver,sender,start_s", "n,b,a,t"),
            ("src_node,dst_node,size,ts", "a,b,n,t"),
        ] {
            let heading = read(line, &wanted).unwrap_or_else(|| panic!("{line}"));
            assert_eq!(heading.arranged(row.split(',').collect()), ["t", "a", "b", "n"], "{line}");
            assert_eq!(heading.arranged(vec!["t", "a"]), ["t", "a"]);
        }
        for line in ["time,src,src,bytes", "time,dst,to,bytes", "time,time,src,dst", "time,src,dst,rate"] {
            assert_eq!(read(line, &wanted), None, "{line}");
        }
        let three = read("milliseconds,rate,delay", &[&Column::TIME, &Column::RATE, &Column::DELAY]);
        assert_eq!(three.map(|heading| heading.places), Some(vec![0, 1, 2]));
    }
}
