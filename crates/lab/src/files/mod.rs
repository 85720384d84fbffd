//! Text files that a scenario names: traces of rates and frames, flows, sizes, objects of a page, graphs. All of them
//! are read through this door, so that one that a spreadsheet or another system has saved is read as well: with a byte
//! order mark, in UTF-16, with any ends of lines and separators.

mod heading;
mod numbers;

use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::schema::read::{At, Notes, shortened};
use crate::schema::tree::Location;

pub(crate) use crate::schema::hints::comma_hint;
pub(crate) use heading::{Column, Heading, Unit, is_heading};
pub(crate) use numbers::{EPOCH_S, bytes, decimal, epoch_unit, nanos, number};

/// Largest file that is read.
const MAX_BYTES: u64 = 64_000_000;

/// How files begin that are no text: what they are, and what to do.
const NO_TEXT: &[(&[u8], &str, &str)] = &[
    (b"\x1f\x8b", "is compressed by gzip", "unpack it: gunzip FILE"),
    (b"BZh", "is compressed by bzip2", "unpack it: bunzip2 FILE"),
    (b"\xfd7zXZ\0", "is compressed by xz", "unpack it: unxz FILE"),
    (b"\x28\xb5\x2f\xfd", "is compressed by zstd", "unpack it: unzstd FILE"),
    (b"PK\x03\x04", "is a spreadsheet or a ZIP archive", "export the sheet as CSV, or unpack the archive"),
    (b"\xd0\xcf\x11\xe0", "is a spreadsheet", "export the sheet as CSV"),
    (b"PAR1", "is a Parquet file", "export it as CSV"),
];

/// What is wrong in a file, and where.
#[derive(Debug, PartialEq)]
pub(crate) struct Wrong {
    /// A line from 1, or 0 for the whole file.
    pub(crate) line: usize,
    pub(crate) message: String,
    /// What to do, if it is not the description of the format.
    pub(crate) hint: Option<String>,
}

impl From<(usize, String)> for Wrong {
    fn from((line, message): (usize, String)) -> Self {
        Self { line, message, hint: None }
    }
}

impl From<String> for Wrong {
    fn from(message: String) -> Self {
        (0, message).into()
    }
}

impl From<(usize, (String, Option<String>))> for Wrong {
    fn from((line, (message, hint)): (usize, (String, Option<String>))) -> Self {
        Self { line, message, hint }
    }
}

impl Wrong {
    pub(crate) fn with_hint(line: usize, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { line, message: message.into(), hint: Some(hint.into()) }
    }
}

/// What users should know of a file that is read: messages, each with a hint.
pub(crate) type Remarks = Vec<(String, String)>;

/// Lines that say something, with their numbers: neither empty nor comments. They end with LF, CR LF or CR.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let has_content = |line: &&str| !line.is_empty() && !line.starts_with('#');
    // the end of a line in CR LF is LF: what is between them is empty
    let numbered = text.split_inclusive(['\r', '\n']).scan((1, false), |(number, was_cr), line| {
        let at = *number;
        let rest_of_end = line == "\n" && *was_cr;
        *was_cr = line.ends_with('\r');
        if !rest_of_end {
            *number += 1;
        }
        Some((at, line))
    });
    let said = numbered.filter(move |(_, line)| has_content(&line.trim()));
    said.scan(None, |tabs, (at, line)| Some((at, trimmed(line, tabs))))
}

/// A line without spaces around it. Tabs at its end stay where they are the columns that the first line has, as many
/// as `tabs`: they are empty.
fn trimmed<'a>(line: &'a str, tabs: &mut Option<usize>) -> &'a str {
    let count = |line: &str| line.matches('\t').count();
    let short = line.trim();
    let wanted = *tabs.get_or_insert_with(|| count(short));
    let long = line.trim_start().trim_end_matches(|c: char| c.is_whitespace() && c != '\t');
    if count(short) < wanted && count(long) == wanted { long } else { short }
}

/// Columns of a line: between semicolons, or else commas, or else tabs; without spaces and quotation marks around them.
pub(crate) fn columns(line: &str) -> Vec<&str> {
    let separator = [';', ',', '\t'].into_iter().find(|c| line.contains(*c)).unwrap_or(',');
    line.split(separator).map(unquoted).collect()
}

/// Words of a line: between spaces, tabs, commas and semicolons. A comma within a word is none of these where others
/// separate words, as in `1,000 0.5`.
pub(crate) fn words(line: &str) -> Vec<&str> {
    let is_separator = |c: char| c.is_whitespace() || c == ';';
    let others = line.split(is_separator).filter(|word| !word.is_empty());
    let ends_apart = |word: &str| word.starts_with(',') || word.ends_with(',');
    let within = others.clone().count() > 1 && !others.clone().any(ends_apart);
    let words = line.split(|c: char| is_separator(c) || (c == ',' && !within));
    words.filter(|word| !word.is_empty()).map(unquoted).collect()
}

fn unquoted(word: &str) -> &str {
    let word = word.trim();
    word.strip_prefix('"').and_then(|word| word.strip_suffix('"')).map_or(word, str::trim)
}

/// The text of the file at `path`, relative to `folder`. `None` if something is noted; `more` adds to the hint, from a
/// semicolon on.
pub(crate) fn text(path: &At<String>, more: &str, folder: &Path, notes: &mut Notes) -> Option<String> {
    let mut bytes = Vec::new();
    let read = File::open(folder.join(&path.value))
        .and_then(|open| open.take(MAX_BYTES + 1).read_to_end(&mut bytes));
    let name = shortened(path);
    if let Err(error) = read {
        notes
            .wrong(path.location, format!("`{name}` cannot be read: {}", error.kind()))
            .hint(format!("write a path relative to the folder of the scenario{more}"));
        return None;
    }
    if bytes.len() as u64 > MAX_BYTES {
        notes.wrong(path.location, format!("`{name}` is too large")).hint("at most 64 MB");
        return None;
    }
    if let Some((_, what, hint)) = NO_TEXT.iter().find(|(begin, ..)| bytes.starts_with(begin)) {
        notes.wrong(path.location, format!("`{name}` {what}, and no text")).hint(*hint);
        return None;
    }
    match decoded(bytes) {
        Ok(text) => Some(text),
        Err((of, message, hint)) => {
            notes.wrong(path.location, format!("{of}`{name}` {message}")).hint(hint);
            None
        }
    }
}

/// The text of bytes in UTF-8, or in UTF-16 with its mark; without a byte order mark. The error is its line
/// (`line 3 of `), a message and a hint.
fn decoded(mut bytes: Vec<u8>) -> Result<String, (String, &'static str, &'static str)> {
    const SAVE: &str = "save it as UTF-8";
    let whole = |message, hint| Err((String::new(), message, hint));
    let wide = |order: fn([u8; 2]) -> u16| {
        let pairs = bytes[2..].chunks(2).map(|pair| order([pair[0], *pair.get(1).unwrap_or(&0)]));
        String::from_utf16(&pairs.collect::<Vec<_>>())
    };
    let wide = match bytes[..] {
        [0xff, 0xfe, ..] => Some(wide(u16::from_le_bytes)),
        [0xfe, 0xff, ..] => Some(wide(u16::from_be_bytes)),
        _ => None,
    };
    match wide {
        Some(Ok(text)) => bytes = text.into_bytes(),
        Some(Err(_)) => return whole("is not UTF-16 text, though it begins as such", SAVE),
        None if bytes.starts_with("\u{feff}".as_bytes()) => drop(bytes.drain(..3)),
        None => {}
    }
    if let Some(nul) = bytes.iter().position(|byte| *byte == 0) {
        let line =
            String::from_utf8_lossy(&bytes[..nul]).replace("\r\n", "\n").matches(['\r', '\n']).count() + 1;
        let hint = "take a text file; one in UTF-16 needs its byte order mark, or is saved as UTF-8";
        return Err((format!("line {line} of "), "has a NUL character, as no text has", hint));
    }
    String::from_utf8(bytes).or_else(|_| whole("is not UTF-8 text", SAVE))
}

/// The file at `path`, parsed by `parse`; `hint` describes the format of its lines. `None` after an error, which is
/// noted.
pub(crate) fn parsed<T>(
    path: &At<String>,
    hint: &str,
    folder: &Path,
    notes: &mut Notes,
    parse: impl FnOnce(&str, &mut Remarks) -> Result<T, Wrong>,
) -> Option<T> {
    let text = text(path, "", folder, notes)?;
    let mut remarks = Remarks::new();
    let read = parse(&text, &mut remarks);
    noted(&path.value, path.location, hint, read, remarks, notes)
}

/// What was read of the file called `name`. Notes an error, or the remarks.
pub(crate) fn noted<T>(
    name: &str,
    location: Location,
    hint: &str,
    read: Result<T, Wrong>,
    remarks: Remarks,
    notes: &mut Notes,
) -> Option<T> {
    let name = shortened(name);
    match read {
        Ok(read) => {
            for (message, hint) in remarks {
                notes.warn(location, format!("`{name}`: {message}")).hint(hint);
            }
            Some(read)
        }
        Err(wrong) => {
            let of = if wrong.line > 0 { format!("line {} of ", wrong.line) } else { String::new() };
            notes
                .wrong(location, format!("{of}`{name}`: {}", wrong.message))
                .hint(wrong.hint.unwrap_or_else(|| hint.to_owned()));
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_in_any_way_and_keep_their_numbers() {
        for end in ["\n", "\r\n", "\r"] {
            let text = ["1", "", "# a comment", " 2 ", "3"].join(end);
            assert_eq!(lines(&text).collect::<Vec<_>>(), [(1, "1"), (4, "2"), (5, "3")], "{end:?}");
        }
        assert_eq!(lines("1\r\r\n2\n\r3").collect::<Vec<_>>(), [(1, "1"), (3, "2"), (5, "3")]);
        // an empty column at the end is one
        let tabbed = |text| lines(text).map(|(_, line)| line).collect::<Vec<_>>();
        assert_eq!(tabbed("0\t1\t\r\n4\t\r\n"), ["0\t1", "4\t"]);
        assert_eq!(tabbed("t\tr\td\n4\t\t\n5\t6\t7\n"), ["t\tr\td", "4\t\t", "5\t6\t7"]);
        assert_eq!(tabbed("1\t\n2 \t"), ["1", "2"]);
        assert_eq!(lines("").count() + lines("\r").count() + lines("\r\n \n").count(), 0);
    }

    #[test]
    fn columns_have_one_separator_and_words_any() {
        for line in ["0.5,h 1,20", " 0.5 ; h 1 ;20", "0.5\th 1\t20", "\"0.5\",\"h 1\",20"] {
            assert_eq!(columns(line), ["0.5", "h 1", "20"], "{line}");
        }
        assert_eq!(columns("0,5;20"), ["0,5", "20"]);
        assert_eq!(columns("0.5,"), ["0.5", ""]);
        assert_eq!(words(" 7, I;\t\"20\" "), ["7", "I", "20"]);
        assert_eq!(words("7,I,20"), ["7", "I", "20"]);
        for line in ["0 5,123", "0\t5,123", "0;5,123"] {
            assert_eq!(words(line), ["0", "5,123"], "{line}");
        }
    }

    #[test]
    fn a_mark_of_the_encoding_is_not_part_of_the_text() {
        let wide = |order: fn(u16) -> [u8; 2]| -> Vec<u8> {
            "\u{feff}0,5 µs\r\n".encode_utf16().flat_map(order).collect()
        };
        for bytes in ["\u{feff}0,5 µs\r\n".into(), wide(u16::to_le_bytes), wide(u16::to_be_bytes)] {
            assert_eq!(decoded(bytes), Ok("0,5 µs\r\n".to_owned()));
        }
        let wrong = |bytes: &[u8]| decoded(bytes.to_vec()).expect_err("it is no text");
        assert_eq!(wrong(b"1\r\n2\r\n\0\n").0, "line 3 of ");
        assert_eq!(wrong(b"1\r2\n\0").0, "line 3 of ");
        assert!(wrong(b"1\0\n\0").2.contains("UTF-16"));
        assert_eq!(wrong(b"\xe9t\xe9").1, "is not UTF-8 text");
        assert_eq!(wrong(b"\xff\xfe\x00\xd8").1, "is not UTF-16 text, though it begins as such");
    }
}
