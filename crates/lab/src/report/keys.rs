//! The keys of the table `summary`.

use std::collections::BTreeMap;
use std::ops::Range;

use super::Words;

/// Dotted keys such as `flow.a.rtt`: a subject, which stands once for all its keys, and a word, each of which stands
/// once for all subjects. A large network has millions of keys.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Keys {
    subjects: Words,
    /// The first row of each subject.
    starts: Vec<u32>,
    words: Vec<String>,
    /// The number of each word.
    numbers: BTreeMap<String, u16>,
    /// The number of the word of each row.
    rows: Vec<u16>,
    /// The numbers of the subjects in alphabetical order.
    sorted: Vec<u32>,
}

impl Keys {
    /// Adds the key `subject.word`. All keys of a subject follow each other.
    pub(crate) fn push(&mut self, subject: &str, word: &str) {
        if self.subjects.last() != Some(subject) {
            let row = u32::try_from(self.rows.len()).expect("a table has fewer than 2^32 rows");
            self.subjects.push(subject, 1);
            self.starts.push(row);
        }
        let number = match self.numbers.get(word) {
            Some(number) => *number,
            None => {
                let number = u16::try_from(self.words.len()).expect("there are some hundred words");
                self.words.push(word.to_owned());
                self.numbers.insert(word.to_owned(), number);
                number
            }
        };
        self.rows.push(number);
    }

    /// Prepares [`Keys::find`].
    pub(crate) fn sort(&mut self) {
        let subjects = &self.subjects;
        self.sorted = (0..subjects.len() as u32).collect();
        self.sorted.sort_by_key(|&number| subjects.get(number as usize));
        self.rows.shrink_to_fit();
    }

    /// The row of a key.
    pub fn find(&self, key: &str) -> Option<usize> {
        let (subject, word) = key.rsplit_once('.')?;
        let word = *self.numbers.get(word)?;
        self.rows_of(subject).find(|&row| self.rows[row] == word)
    }

    /// The words of a subject, each with its row.
    pub fn words_of(&self, subject: &str) -> impl Iterator<Item = (&str, usize)> {
        self.rows_of(subject).map(|row| (self.words[usize::from(self.rows[row])].as_str(), row))
    }

    fn rows_of(&self, subject: &str) -> impl Iterator<Item = usize> + use<> {
        let name = |number: &u32| self.subjects.get(*number as usize);
        let from = self.sorted.partition_point(|number| name(number) < subject);
        let until = self.sorted.partition_point(|number| name(number) <= subject);
        let start =
            |number: u32| self.starts.get(number as usize).map_or(self.rows.len(), |&row| row as usize);
        let spans: Vec<Range<usize>> =
            self.sorted[from..until].iter().map(|&number| start(number)..start(number + 1)).collect();
        spans.into_iter().flatten()
    }

    /// The key of each row in `rows`. Panics if there are fewer rows.
    pub fn range(&self, rows: Range<usize>) -> impl ExactSizeIterator<Item = String> {
        let mut subject = self.starts.partition_point(|&start| (start as usize) <= rows.start);
        rows.map(move |row| {
            while self.starts.get(subject).is_some_and(|&start| start as usize <= row) {
                subject += 1;
            }
            format!("{}.{}", self.subjects.get(subject - 1), self.words[usize::from(self.rows[row])])
        })
    }

    /// All keys in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = String> {
        self.range(0..self.len())
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(subjects: &[&str], words: &[&str]) -> Keys {
        let mut keys = Keys::default();
        for subject in subjects {
            words.iter().for_each(|word| keys.push(subject, word));
        }
        keys.sort();
        keys
    }

    #[test]
    fn every_key_is_found_at_its_row() {
        // names with dots, one the beginning of another, and not in alphabetical order
        let subjects = ["flows", "flows.web", "flow.web.10", "flow.web.2", "flow.web", "link.a.b", "run"];
        let keys = keys(&subjects, &["rtt", "drops", "fct_p99"]);
        let all: Vec<String> = keys.iter().collect();
        assert_eq!(all.len(), 21);
        assert_eq!(
            &all[3..8],
            ["flows.web.rtt", "flows.web.drops", "flows.web.fct_p99", "flow.web.10.rtt", "flow.web.10.drops"]
        );
        for (row, key) in all.iter().enumerate() {
            assert_eq!(keys.find(key), Some(row), "{key}");
        }
        assert_eq!(
            keys.words_of("flow.web").collect::<Vec<_>>(),
            [("rtt", 12), ("drops", 13), ("fct_p99", 14)]
        );
        assert_eq!(keys.range(4..8).collect::<Vec<_>>(), &all[4..8]);
    }

    #[test]
    fn unknown_keys_are_not_found() {
        let keys = keys(&["flow.a", "flow.c"], &["rtt"]);
        for key in ["", "rtt", "flow.b.rtt", "flow.a.drops", "flow.a", "flow.d.rtt", "a.rtt"] {
            assert_eq!(keys.find(key), None, "{key}");
        }
        assert_eq!(Keys::default().find("flow.a.rtt"), None);
    }
}
