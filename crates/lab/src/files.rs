//! Text files that a scenario names: traces of rates and frames, flows, sizes, objects of a page.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::schema::read::{At, Notes, shortened};

/// Largest file that is read.
const MAX_BYTES: u64 = 64_000_000;

/// A line from 1, or 0 for the whole file, and what is wrong there.
pub(crate) type Wrong = (usize, String);

/// Lines that say something, with their numbers: neither empty nor comments.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let has_content = |line: &&str| !line.is_empty() && !line.starts_with('#');
    (1..).zip(text.lines().map(str::trim)).filter(move |(_, line)| has_content(line))
}

/// The text of the file at `path`, relative to `folder`. `None` if something is noted; `more` adds to the hint, from a semicolon on.
pub(crate) fn text(path: &At<String>, more: &str, folder: &Path, notes: &mut Notes) -> Option<String> {
    let mut bytes = Vec::new();
    let read = File::open(folder.join(&path.value))
        .and_then(|open| open.take(MAX_BYTES + 1).read_to_end(&mut bytes));
    let name = shortened(path);
    if let Err(error) = read {
        notes
            .wrong(path.location, format!("`{name}` cannot be read: {}", error.kind()))
            .hint(format!("the path is relative to the folder of the scenario{more}"));
        return None;
    }
    if bytes.len() as u64 > MAX_BYTES {
        notes.wrong(path.location, format!("`{name}` is too large")).hint("at most 64 MB");
        return None;
    }
    let text = String::from_utf8(bytes);
    if text.is_err() {
        notes.wrong(path.location, format!("`{name}` is not UTF-8 text")).hint("take a text file");
    }
    text.ok()
}

/// The file at `path`, parsed by `parse`; `hint` describes the format of its lines. `None` after an error, which is noted.
pub(crate) fn parsed<T>(
    path: &At<String>,
    hint: &str,
    folder: &Path,
    notes: &mut Notes,
    parse: impl FnOnce(&str) -> Result<T, Wrong>,
) -> Option<T> {
    match parse(&text(path, "", folder, notes)?) {
        Ok(read) => Some(read),
        Err((line, message)) => {
            let of = if line > 0 { format!("line {line} of ") } else { String::new() };
            notes.wrong(path.location, format!("{of}`{}`: {message}", shortened(path))).hint(hint);
            None
        }
    }
}
