//! The tables of a run: columns with units and definitions.
//!
//! This module does not store or draw tables. [`crate::METRICS`] defines each column.

mod catalogue;
mod expect;
mod keys;

use std::fmt::{Display, Write};
use std::ops::Range;

pub(crate) use catalogue::{DERIVED, FAIRNESS, word};
pub use catalogue::{METRICS, Metric, Shown, metric};
pub use expect::{Expectation, Sides};
pub use keys::Keys;

/// All tables of one run.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// `flows`, `receivers`, `links`, `nodes`, `apps`, `exchanges`, `series`, `events`, `packets`, `distributions`,
    /// `summary`, `expect`, in this order.
    pub tables: Vec<Table>,
}

impl Report {
    /// The table called `name`.
    pub fn table(&self, name: &str) -> Option<&Table> {
        self.tables.iter().find(|table| table.name == name)
    }

    /// The keys and the values of the table `summary`.
    fn summary(&self) -> Option<(&Keys, &[Option<f64>])> {
        let summary = self.table("summary")?;
        match (summary.column("metric"), summary.column("value")) {
            (Some(Cells::Keys(keys)), Some(Cells::Number(values))) => Some((keys, values)),
            _ => None,
        }
    }

    /// The rows of the table `summary`: dotted key, such as `link.bottleneck.utilisation`, and value.
    pub fn values(&self) -> impl Iterator<Item = (String, Option<f64>)> {
        self.summary().into_iter().flat_map(|(keys, values)| keys.iter().zip(values.iter().copied()))
    }

    /// The value of a key, which is `None` if it was not measured; `None` for an unknown key.
    pub fn get(&self, key: &str) -> Option<Option<f64>> {
        let (keys, values) = self.summary()?;
        Some(values[keys.find(key)?])
    }

    /// The values of a subject, such as `flows.web`, by the last word of their keys; empty for an unknown subject.
    pub fn values_of(&self, subject: &str) -> impl Iterator<Item = (&str, Option<f64>)> {
        let summary = self.summary().into_iter();
        summary.flat_map(move |(keys, values)| keys.words_of(subject).map(|(word, row)| (word, values[row])))
    }

    /// The value of a key; `None` for an unknown key and for a value that was not measured.
    pub fn value(&self, key: &str) -> Option<f64> {
        self.get(key).flatten()
    }
}

/// A table. All its columns have the same length.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Its name.
    pub name: &'static str,
    /// Its columns.
    pub columns: Vec<Column>,
}

impl Table {
    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, |column| column.cells.len())
    }

    /// The cells of the column called `name`.
    pub fn column(&self, name: &str) -> Option<&Cells> {
        self.columns.iter().find(|column| column.name == name).map(|column| &column.cells)
    }

    /// The numbers of a column, counts included; empty for a column that is unknown or not numeric.
    pub fn numbers(&self, name: &str) -> Vec<Option<f64>> {
        match self.column(name) {
            Some(Cells::Number(values)) => values.clone(),
            Some(Cells::Count(values)) => values.iter().map(|value| value.map(|n| n as f64)).collect(),
            _ => Vec::new(),
        }
    }
}

/// One column.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Name, with its unit as suffix.
    pub name: &'static str,
    /// Unit: `s`, `bps`, `packets`, `bytes`, `1` for a ratio; empty for columns that are no measurement.
    pub unit: &'static str,
    /// Definition.
    pub definition: &'static str,
    /// Its values.
    pub cells: Cells,
}

/// The values of a column. `None` is *not measured*, never zero.
#[derive(Clone, Debug, PartialEq)]
pub enum Cells {
    /// Real numbers.
    Number(Vec<Option<f64>>),
    /// Whole numbers.
    Count(Vec<Option<u64>>),
    /// Text.
    Text(Words),
    /// Keys.
    Keys(Keys),
    /// Yes or no.
    Switch(Vec<bool>),
}

impl Cells {
    /// Number of rows.
    pub fn len(&self) -> usize {
        match self {
            Self::Number(values) => values.len(),
            Self::Count(values) => values.len(),
            Self::Text(words) => words.len(),
            Self::Keys(keys) => keys.len(),
            Self::Switch(values) => values.len(),
        }
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A column of text that stores consecutive equal texts once, and all texts in one piece of memory.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Words {
    /// The texts, one after another.
    text: String,
    /// Where each text ends.
    ends: Vec<usize>,
    /// The text of each row.
    rows: Vec<u32>,
}

impl Words {
    /// Adds `times` rows with the text `word`.
    pub fn push(&mut self, word: impl Display, times: usize) {
        let index = u32::try_from(self.ends.len()).expect("a table has fewer than 2^32 words");
        write!(self.text, "{word}").expect("a string takes any text");
        self.ends.push(self.text.len());
        self.rows.resize(self.rows.len() + times, index);
    }

    /// The text of each row.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &str> {
        self.range(0..self.len())
    }

    /// The text of each row in `rows`. Panics if there are fewer rows.
    pub fn range(&self, rows: Range<usize>) -> impl ExactSizeIterator<Item = &str> {
        rows.map(|row| self.get(row))
    }

    /// The text of a row. Panics if there are fewer rows.
    fn get(&self, row: usize) -> &str {
        let word = self.rows[row] as usize;
        let start = word.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.text[start..self.ends[word]]
    }

    /// The text of the last row.
    fn last(&self) -> Option<&str> {
        Some(self.get(self.len().checked_sub(1)?))
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

/// Builds a table column by column from rows of any type, with units and definitions of [`crate::METRICS`].
pub(crate) struct Columns<'a, Row> {
    rows: &'a [Row],
    table: Table,
}

impl<'a, Row> Columns<'a, Row> {
    pub(crate) fn of(name: &'static str, rows: &'a [Row]) -> Self {
        Self { rows, table: Table { name, columns: Vec::new() } }
    }

    pub(crate) fn number(self, name: &'static str, value: impl Fn(&Row) -> Option<f64>) -> Self {
        let cells = self.rows.iter().map(|row| value(row).filter(|x| x.is_finite())).collect();
        self.cells(name, Cells::Number(cells))
    }

    pub(crate) fn count(self, name: &'static str, value: impl Fn(&Row) -> u64) -> Self {
        let cells = self.rows.iter().map(|row| Some(value(row))).collect();
        self.cells(name, Cells::Count(cells))
    }

    /// Adds a column of counts that some rows do not have.
    pub(crate) fn count_of_some(self, name: &'static str, value: impl Fn(&Row) -> Option<u64>) -> Self {
        let cells = self.rows.iter().map(value).collect();
        self.cells(name, Cells::Count(cells))
    }

    pub(crate) fn text(self, name: &'static str, value: impl Fn(&Row) -> String) -> Self {
        let mut words = Words::default();
        self.rows.iter().for_each(|row| words.push(value(row), 1));
        self.cells(name, Cells::Text(words))
    }

    pub(crate) fn switch(self, name: &'static str, value: impl Fn(&Row) -> bool) -> Self {
        let cells = self.rows.iter().map(value).collect();
        self.cells(name, Cells::Switch(cells))
    }

    pub(crate) fn cells(mut self, name: &'static str, cells: Cells) -> Self {
        let known = metric(self.table.name, name).expect("every column is documented in METRICS");
        self.table.columns.push(Column { name, unit: known.unit, definition: known.definition, cells });
        self
    }

    pub(crate) fn done(self) -> Table {
        debug_assert!(
            self.table.columns.iter().all(|column| column.cells.len() == self.table.rows()),
            "all columns of a table are equally long"
        );
        self.table
    }
}
