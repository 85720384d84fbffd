//! Diagnostics of a scenario: every error and every warning with its place, its key and a hint, below its line of the
//! text.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use miette::{
    Diagnostic, GraphicalReportHandler, GraphicalTheme, LabeledSpan, NamedSource, Severity, SourceCode,
};
use serde_json::{Value, json};
use toml::de::DeTable;

use crate::schema::read::Note;
use crate::schema::source::Source;
use crate::schema::tree::{self, Location, Node, Span, Tree};

/// One error or warning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// What is wrong.
    pub message: String,
    /// The scenario is accepted, but part of it has no effect, or cannot be measured.
    pub warning: bool,
    /// Dotted key of the value, such as `topology.bottleneck.rate` or `flows.cubic.start`; entries of a list go by
    /// their name, or by their number from 0 where they have none. Empty for the file as a whole.
    pub key: String,
    /// Where it stands in the text; `None` for the file as a whole.
    pub span: Option<Span>,
    /// Line, from 1; 0 for the file as a whole.
    pub line: usize,
    /// Column in characters, from 1; 0 for the file as a whole.
    pub column: usize,
    /// What to write instead.
    pub hint: Option<String>,
}

/// Diagnostics of one text: the errors for which it is refused, or the warnings of a scenario that is accepted.
/// Displays as a picture of the text without colour.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problems {
    name: String,
    text: Arc<str>,
    list: Vec<Problem>,
}

/// The maximum number of problems that are drawn; [`Problems::to_json`] and iteration have them all.
const DRAWN: usize = 20;

impl Problems {
    /// The problems of the text called `name`, in the order of their places.
    pub(crate) fn new(name: &str, text: &Arc<str>, mut list: Vec<Problem>) -> Self {
        list.sort_by_key(|problem| problem.span);
        list.dedup();
        for problem in &mut list {
            if let Some(span) = &mut problem.span {
                *span = within(text, *span);
                (problem.line, problem.column) = location(text, span.start);
            }
        }
        Self { name: name.to_owned(), text: text.clone(), list }
    }

    /// What is noted about a tree, with keys, drawn over the text of its source.
    pub(crate) fn of(name: &str, source: &Source, tree: &Tree, notes: &[Note]) -> Self {
        if notes.is_empty() {
            return Self { name: name.to_owned(), text: Arc::default(), list: Vec::new() };
        }
        let text = source.text();
        let mut locations = Locations::default();
        let printed = if source.is_given() { None } else { DeTable::parse(text).ok() };
        let printed = printed.map(|root| Tree::of_text(root.get_ref()).root);
        locations.table(&tree.root, printed.as_ref(), "");
        let problem = |note: &Note| {
            let location = Some(note.location)
                .filter(|_| printed.is_none())
                .or(locations.printed.get(&note.location).copied());
            let span = location.unwrap_or_default().span().expect("a text has all places of its own");
            Problem {
                message: note.message.clone(),
                warning: note.warning,
                key: locations.keys.get(&note.location).cloned().unwrap_or_default(),
                span: Some(span),
                line: 0,
                column: 0,
                hint: note.hint.clone(),
            }
        };
        Self::new(name, text, notes.iter().map(problem).collect())
    }

    /// One mistake of the scenario as a whole, without a place.
    pub fn whole(name: &str, message: String, hint: Option<String>) -> Self {
        let problem =
            Problem { message, warning: false, key: String::new(), span: None, line: 0, column: 0, hint };
        Self { name: name.to_owned(), text: Arc::default(), list: vec![problem] }
    }

    /// The file, or what stands for it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Every problem, in the order of their places.
    pub fn iter(&self) -> impl Iterator<Item = &Problem> {
        self.list.iter()
    }

    /// How many there are; at least one error in a refusal, perhaps no warning of a scenario.
    pub fn count(&self) -> usize {
        self.list.len()
    }

    /// The first error of a refusal.
    pub fn first(&self) -> &Problem {
        self.list.first().expect("a refusal has at least one problem")
    }

    /// The problems drawn over the text, at most twenty, in unicode boxes; in colour on request.
    pub fn render(&self, colour: bool) -> String {
        let theme = if colour { GraphicalTheme::unicode() } else { GraphicalTheme::unicode_nocolor() };
        let handler = GraphicalReportHandler::new_themed(theme)
            .with_width(100)
            .with_context_lines(1)
            .with_links(false)
            .without_syntax_highlighting();
        let source = NamedSource::new(&self.name, self.text.clone());
        let mut out = String::new();
        for (i, problem) in self.list.iter().take(DRAWN).enumerate() {
            if i > 0 {
                out.push('\n');
            }
            let picture = Picture { problem, source: &source };
            let before = out.len();
            if handler.render_report(&mut out, &picture).is_err() {
                out.truncate(before);
                let sign = if problem.warning { '⚠' } else { '×' };
                out.push_str(&format!("  {sign} {}\n", problem.message));
            }
            if problem.span.is_none() {
                out.push_str(&format!("    in {}\n", self.name));
            }
        }
        if self.list.len() > DRAWN {
            out.push_str(&format!("\n  … and {} more\n", self.list.len() - DRAWN));
        }
        out
    }

    /// A list of `{message, key, file, line, column, start, end, hint}`; places are `null` for the file as a whole.
    pub fn to_json(&self) -> Value {
        let rows = self.list.iter().map(|problem| {
            let placed = |number: usize| problem.span.map(|_| number);
            json!({
                "message": problem.message,
                "key": problem.key,
                "file": self.name,
                "line": placed(problem.line),
                "column": placed(problem.column),
                "start": problem.span.map(|span| span.start),
                "end": problem.span.map(|span| span.end),
                "hint": problem.hint,
            })
        });
        Value::Array(rows.collect())
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(false))
    }
}

impl std::error::Error for Problems {}

/// The dotted key of every place of a tree, and where that stands in a text that was printed of it.
#[derive(Default)]
struct Locations {
    keys: BTreeMap<Location, String>,
    printed: BTreeMap<Location, Location>,
}

impl Locations {
    fn add(&mut self, location: Location, printed: Option<Location>, key: &str) {
        self.keys.entry(location).or_insert_with(|| key.to_owned());
        if let Some(printed) = printed {
            self.printed.entry(location).or_insert(printed);
        }
    }

    fn table(&mut self, table: &tree::Table, printed: Option<&tree::Table>, above: &str) {
        for entry in table.iter() {
            let key = if above.is_empty() { entry.key.to_string() } else { format!("{above}.{}", entry.key) };
            let there = printed.and_then(|printed| printed.entry(&entry.key));
            self.add(entry.location, there.map(|there| there.location), &key);
            self.node(&entry.node, there.map(|there| &there.node), &key);
        }
    }

    fn node(&mut self, node: &Node, printed: Option<&Node>, key: &str) {
        match &node.value {
            tree::Value::Table(table) => self.table(table, printed.and_then(Node::table), key),
            tree::Value::List(items) => {
                let mut uses: BTreeMap<&str, usize> = BTreeMap::new();
                for name in items.iter().filter_map(Node::name) {
                    *uses.entry(name).or_default() += 1;
                }
                for (i, item) in items.iter().enumerate() {
                    // a name that two entries have does not say which
                    let own = item.name().filter(|name| uses.get(name) == Some(&1));
                    let entry = own.map_or_else(|| i.to_string(), str::to_owned);
                    let there = printed.and_then(Node::list).and_then(|printed| printed.get(i));
                    self.node(item, there, &format!("{key}.{entry}"));
                }
            }
            _ => {}
        }
        self.add(node.location, printed.map(|there| there.location), key);
    }
}

/// The span moved onto boundaries of characters inside `text`.
fn within(text: &str, span: Span) -> Span {
    let floor = |mut at: usize| {
        at = at.min(text.len());
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at
    };
    let start = floor(span.start);
    Span { start, end: floor(span.end).max(start) }
}

/// Line and column in characters, both from 1, of a byte on a boundary of characters.
fn location(text: &str, at: usize) -> (usize, usize) {
    let before = &text[..at];
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
}

/// A problem as miette draws it.
#[derive(Debug)]
struct Picture<'a> {
    problem: &'a Problem,
    source: &'a NamedSource<Arc<str>>,
}

impl fmt::Display for Picture<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.problem.message)
    }
}

impl std::error::Error for Picture<'_> {}

impl Diagnostic for Picture<'_> {
    fn severity(&self) -> Option<Severity> {
        Some(if self.problem.warning { Severity::Warning } else { Severity::Error })
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.problem.hint.as_ref().map(|hint| Box::new(hint) as Box<dyn fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.problem.span.map(|_| self.source as &dyn SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let span = self.problem.span?;
        let label = (!self.problem.key.is_empty()).then(|| self.problem.key.clone());
        Some(Box::new(std::iter::once(LabeledSpan::new(label, span.start, span.end - span.start))))
    }
}
