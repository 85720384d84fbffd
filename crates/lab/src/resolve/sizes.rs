//! Distributions of sizes: from the keys of `arrivals` and `app`.

use std::path::Path;

use stack::app::{DATA_MINING, Sizes, WEB_SEARCH};
use units::Bytes;

use crate::files::{self, Column, Heading, Remarks, Unit, Wrong, comma_hint, is_heading};
use crate::schema::read::{At, Field, Notes, shortened};
use crate::schema::traffic::SizeTable;
use crate::schema::tree::Location;

/// The names of published distributions.
const PUBLISHED: [(&str, &[(u64, f64)]); 2] = [("web_search", WEB_SEARCH), ("data_mining", DATA_MINING)];

/// The keys that set a distribution.
#[derive(Clone, Copy)]
pub(crate) struct SizeKeys<'a> {
    pub(crate) size: &'a Field<Bytes>,
    pub(crate) shape: &'a Field<f64>,
    pub(crate) variation: &'a Field<f64>,
    pub(crate) sizes: &'a Field<SizeTable>,
}

impl SizeKeys<'_> {
    /// Whether one of them is written.
    pub(super) fn written(&self) -> Option<Location> {
        let keys = [self.size.present().map(|at| at.location), self.sizes.present().map(|at| at.location)];
        let more = [self.shape, self.variation].map(|key| key.present().map(|at| at.location));
        keys.into_iter().chain(more).flatten().next()
    }

    /// The distribution of keys that were checked: sizes are a published name or points.
    pub(crate) fn distribution(&self) -> Sizes {
        if let Some(table) = self.sizes.present() {
            return Sizes::Table(match &table.value {
                SizeTable::Points(points) => points.as_slice().into(),
                SizeTable::Named(name) => {
                    published(name).expect("a name that is not published was replaced by its points").into()
                }
            });
        }
        let mean = *self.size.resolved();
        match (self.shape.present(), self.variation.present()) {
            (Some(shape), _) => Sizes::Pareto { mean, shape: shape.value },
            (None, Some(variation)) => Sizes::LogNormal { mean, variation: variation.value },
            (None, None) => Sizes::Fixed(mean),
        }
    }
}

fn published(name: &str) -> Option<&'static [(u64, f64)]> {
    PUBLISHED.iter().find(|row| row.0 == name).map(|row| row.1)
}

/// Checks the keys of the table `of` at `location`. Returns the key `sizes` with a file replaced by its points; `None`
/// if something is noted.
pub(super) fn checked(
    keys: SizeKeys<'_>,
    of: &str,
    location: Location,
    folder: &Path,
    notes: &mut Notes,
) -> Option<Field<SizeTable>> {
    let before = notes.count();
    if let (Some(shape), Some(_)) = (keys.shape.present(), keys.variation.present()) {
        notes
            .wrong(shape.location, "sizes are Pareto-distributed or log-normal")
            .hint("write `size_shape` or `size_variation`");
    }
    let Some(table) = keys.sizes.present() else {
        if !keys.sizes.is_wrong() {
            keys.size.required("size", of, location, notes);
        }
        let wrong = keys.size.is_wrong() || keys.sizes.is_wrong();
        return (notes.count() == before && !wrong).then_some(Field::Missing);
    };
    for (key, written) in [
        ("size", keys.size.present().map(|at| at.location)),
        ("size_shape", keys.shape.present().map(|at| at.location)),
        ("size_variation", keys.variation.present().map(|at| at.location)),
    ] {
        if let Some(location) = written {
            notes
                .wrong(location, format!("`{key}` and `sizes` do not go together"))
                .hint("write one of them");
        }
    }
    let points = match &table.value {
        SizeTable::Named(name) if published(name).is_some() => None,
        SizeTable::Named(path) if path.contains(['.', '/']) => {
            const HINT: &str =
                "a line is a size in bytes and the share of flows up to it, such as 10000 0.15";
            let path = At { value: path.clone(), location: table.location };
            Some(files::parsed(&path, HINT, folder, notes, points)?)
        }
        SizeTable::Named(name) => {
            let known: Vec<String> = PUBLISHED.iter().map(|row| format!("\"{}\"", row.0)).collect();
            notes
                .wrong(table.location, format!("`{}` is no distribution of sizes", shortened(name)))
                .hint(format!("take {}, or a file: its name contains a dot", known.join(" or ")));
            return None;
        }
        SizeTable::Points(points) => match checked_points(points.clone(), ROUNDED) {
            Ok(points) => Some(points),
            Err(message) => {
                notes
                    .wrong(table.location, message)
                    .hint("write sizes and shares in ascending order, such as [[1000, 0.5], [50000, 1]]");
                return None;
            }
        },
    };
    (notes.count() == before).then(|| match points {
        Some(points) => Field::Present(At { value: SizeTable::Points(points), location: table.location }),
        None => keys.sizes.clone(),
    })
}

/// Bytes of a packet in the files of pFabric.
const PACKET: f64 = 1460.0;

/// The columns of a distribution.
const COLUMNS: [&Column; 2] = [
    &Column::SIZE,
    &Column { names: &["share", "cdf", "probability", "prob", "p", "fraction", "percent"], units: &[] },
];

/// Points of a file: a size and a share per line, or a size in packets, a number and a share.
fn points(text: &str, remarks: &mut Remarks) -> Result<Vec<(u64, f64)>, Wrong> {
    let (mut points, mut lines, mut width) = (Vec::new(), Vec::new(), None);
    let mut heading: Option<Heading> = None;
    for (index, (line, written)) in files::lines(text).enumerate() {
        let mut words = files::words(written);
        if index == 0 && is_heading(&words) {
            let columns = files::columns(written);
            heading = Heading::of(&columns, &COLUMNS).or_else(|| Heading::of(&words, &COLUMNS));
            if heading.is_none() {
                let message = format!("`{}` are no columns of a distribution", shortened(written));
                return Err(Wrong::with_hint(line, message, "write the heading size,cdf, or none"));
            }
            continue;
        }
        if let Some(heading) = &heading {
            words = heading.arranged(words);
        }
        let (size, share) = size_and_share(&words, index, line, written)?;
        if *width.get_or_insert(words.len()) != words.len() {
            return Err((line, "some lines have two columns and others three".to_owned()).into());
        }
        let unit = heading.as_ref().and_then(|heading| heading.units[0]).unwrap_or(Unit::ten_to(0));
        let ten = 10i128.pow(unit.power.unsigned_abs()) as f64;
        let scale = unit.times as f64 * if unit.power < 0 { 1.0 / ten } else { ten };
        let size = files::number(size).map(|size| size * scale).filter(|size| (0.0..=1e15).contains(size));
        let (Some(size), Some(share)) = (size, files::number(share)) else {
            return Err(no_point(line, written));
        };
        points.push(((if words.len() == 3 { size * PACKET } else { size }) as u64, share));
        lines.push(line);
    }
    if width == Some(3) {
        remarks.push((
            format!("with three columns its sizes are packets of {PACKET} B, as in the files of pFabric"),
            "for sizes in bytes, leave the column in the middle out".to_owned(),
        ));
    }
    let last = points.last().map_or(1.0, |(_, share)| *share);
    if !is_near(last, ROUNDED) && is_near(last, CUT) {
        remarks.push((
            format!("its last share is {last}: shares are divided by it"),
            "the rest of the flows may be larger than the last size, where the file was cut".to_owned(),
        ));
    }
    let wrong = falls(&points).or(points.len().checked_sub(1)).and_then(|at| lines.get(at)).copied();
    checked_points(points, CUT).map_err(|message| (wrong.unwrap_or(0), message).into())
}

fn no_point(line: usize, written: &str) -> Wrong {
    let commas = files::words(written).into_iter().find_map(comma_hint);
    (line, (format!("`{}` is no size and share", shortened(written)), commas)).into()
}

/// The two words that count of a line.
fn size_and_share<'a>(
    words: &[&'a str],
    index: usize,
    line: usize,
    written: &str,
) -> Result<(&'a str, &'a str), Wrong> {
    match *words {
        [size, share] => Ok((size, share)),
        // `000` is the end of a number with a comma
        [size, number, share]
            if files::number(number).is_some() && !(number.len() == 3 && number.starts_with('0')) =>
        {
            Ok((size, share))
        }
        [mean] if index == 0 && files::number(mean).is_some() => {
            let message =
                format!("`{}` alone may be the mean, which files of Homa begin with", shortened(mean));
            Err(Wrong::with_hint(line, message, "leave this line out: a line is a size in bytes and a share"))
        }
        _ => Err(no_point(line, written)),
    }
}

/// The first point that is not in order: its place.
fn falls(points: &[(u64, f64)]) -> Option<usize> {
    points.windows(2).position(|pair| pair[0].0 > pair[1].0 || pair[0].1 > pair[1].1).map(|at| at + 1)
}

/// How far the last share may be from 1 by what rounding leaves, and in a file whose last lines were cut.
const ROUNDED: f64 = 1.000_001e-6;
const CUT: f64 = 1.000_001e-3;

/// Whether a last share is 1, or 100 %, or less within this tolerance.
fn is_near(share: f64, tolerance: f64) -> bool {
    [1.0, 100.0].into_iter().any(|whole| (-ROUNDED..=tolerance).contains(&(1.0 - share / whole)))
}

/// Points in order, with shares up to 1; those of a table in percent are divided by 100. The last share may differ from
/// 1 by this tolerance.
fn checked_points(mut points: Vec<(u64, f64)>, tolerance: f64) -> Result<Vec<(u64, f64)>, String> {
    let Some(&(last, whole)) = points.last() else { return Err("there are no sizes in it".to_owned()) };
    if let Some(at) = falls(&points) {
        let (before, after) = (points[at - 1], points[at]);
        return Err(format!("{} {} is before {} {}", before.0, before.1, after.0, after.1));
    }
    if points[0].1 < 0.0 || last == 0 {
        return Err("sizes and shares are not negative, and the last size is above zero".to_owned());
    }
    if !is_near(whole, tolerance) {
        return Err(format!("the last share is {whole}, and neither 1 nor 100"));
    }
    points.iter_mut().for_each(|(_, share)| *share /= whole);
    Ok(points)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The public file of HPCC has shares in percent and a size per line; it is the published table.
    #[test]
    fn a_file_of_sizes_may_have_percent() {
        let text = "0 0\n10000 15\n20000 20\n30000 30\n50000 40\n80000 53\n200000 60\n1000000 70\n2000000 80\n\
                    5000000 90\n10000000 97\n30000000 100\n";
        let points = |text| points(text, &mut Remarks::new());
        let read = Sizes::Table(points(text).expect("sizes").into());
        assert!((read.mean() - Sizes::Table(WEB_SEARCH.into()).mean()).abs() < 1e-6);
        assert_eq!(points("# a comment\n7, 0.5\n\n9\t1.0").expect("sizes"), [(7, 0.5), (9, 1.0)]);
    }

    #[test]
    fn a_broken_file_of_sizes_names_its_line() {
        let points = |text| points(text, &mut Remarks::new());
        assert_eq!(points("100 0.5\n200").expect_err("one word").line, 2);
        assert_eq!(points("100 0.5\nx 1").expect_err("no number").line, 2);
        assert_eq!(points("100 0.5\n200 1 1").expect_err("three columns").line, 2);
        assert_eq!(points("100 0.5\nnan 1").expect_err("no number").line, 2);
        assert_eq!(points("size,count\n7,1").expect_err("other columns").line, 1);
        let mean = points("1234.5\n100 0.5\n200 1").expect_err("a mean");
        assert!(mean.line == 1 && mean.hint.is_some_and(|hint| hint.contains("leave this line out")));
        for (text, line) in
            [("", 0), ("100 0.5\n\n90 1", 3), ("100 0.9", 1), ("0 1", 1), ("5 0.7\n6 0.2\n7 1", 2)]
        {
            assert_eq!(points(text).expect_err(text).line, line, "{text}");
        }
        for text in ["1,000 0.5\n2,000 1", "1,000\t0.5", "1,000;0.5", "1,000,0.5\n2,000,1"] {
            let wrong = points(text).expect_err(text);
            assert!(
                wrong.line == 1 && wrong.message.contains("no size and share"),
                "{text}: {}",
                wrong.message
            );
        }
        let comma = points("1,000 0.5\n2,000 1").expect_err("a comma");
        assert!(comma.hint.is_some_and(|hint| hint.contains("write 1000 ")));
    }

    #[test]
    fn files_of_sizes_of_others_are_read() {
        let of = |text: &str| {
            let mut remarks = Remarks::new();
            points(text, &mut remarks).map(|points| (points, remarks.len()))
        };
        let expected = [(7, 0.5), (9, 1.0)];
        for text in [
            "size,cdf\n7,0.5\n9,1",
            "Bytes;Share\n7;50\n9;100",
            "cdf,size\n0.5,7\n1,9",
            "Size (kB),cdf\n0.007,0.5\n0.009,1",
            "size_bits cdf\n56 0.5\n72 1",
            "7e0 5e-1\n9.0 1e0",
            "\"7\",\"0.5\"\n\"9\",\"1\"",
        ] {
            assert_eq!(of(text), Ok((expected.to_vec(), 0)), "{text}");
        }
        for last in ["0.999999", "0.99999999", "1.0000005", "99.9999", "100.00001"] {
            let (read, _) = of(&format!("7 0.5\n9 {last}")).expect(last);
            assert_eq!(read[1], (9, 1.0), "{last}");
        }
        for last in ["0.9999", "0.9991", "99.99"] {
            let (read, remarks) = of(&format!("7 0.5\n9 {last}")).expect(last);
            assert_eq!((read[1], remarks), ((9, 1.0), 1), "{last}: it is said that the file was cut");
        }
        for last in ["0.99", "0.998", "1.00001", "100.01", "101"] {
            assert!(of(&format!("7 0.5\n9 {last}")).is_err(), "{last}");
        }
        // pFabric: packets, a number, a share
        assert_eq!(of("6 1 0.15\n20000 1 1"), Ok((vec![(8760, 0.15), (29_200_000, 1.0)], 1)));
    }
}
