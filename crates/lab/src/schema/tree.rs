//! The untyped values of a scenario: a tree from a text or from a program. Every key and every value has its place.

use std::sync::Arc;

use toml::Spanned;
use toml::de::{DeTable, DeValue};
use toml::value::Datetime;

use crate::schema::read::{nearest, suggestion};

/// A range of bytes of a scenario's text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span {
    /// First byte.
    pub start: usize,
    /// Byte after the last.
    pub end: usize,
}

/// Where a key or a value stands: in the text, or, where no text has it, its number in the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Location {
    /// First byte, and the byte after the last; a text has at most 4 GB.
    Text(u32, u32),
    Made(u32),
}

impl Location {
    /// The range of bytes, where a text has it.
    pub(crate) fn span(self) -> Option<Span> {
        match self {
            Self::Text(start, end) => Some(Span { start: start as usize, end: end as usize }),
            Self::Made(_) => None,
        }
    }
}

impl Default for Location {
    /// The scenario as a whole.
    fn default() -> Self {
        Self::Text(0, 0)
    }
}

/// A value and its place.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) value: Value,
    pub(crate) location: Location,
}

/// A value. Numbers keep how they are written, for messages.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    Text(Arc<str>),
    /// `None` where it does not fit.
    Integer(Option<i64>, Arc<str>),
    Float(f64, Arc<str>),
    Bool(bool),
    Date(Datetime),
    List(Arc<Vec<Node>>),
    Table(Table),
}

/// Keys with their values, in their order. A copy shares all that is not changed afterwards.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table(Arc<Vec<Entry>>);

/// A key with its value.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) key: Arc<str>,
    pub(crate) location: Location,
    pub(crate) node: Node,
}

/// A whole scenario. Cheap to clone; a change copies the path that leads to it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tree {
    pub(crate) root: Table,
    /// Places that are numbered so far.
    made: u32,
}

/// One step from a table or a list to what it holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Key(String),
    Entry(usize),
}

/// An error in a key: a message and a hint.
pub(crate) type Refusal = (String, Option<String>);

/// In the place of an entry's name: each entry of the list.
const EACH: &str = "*";

impl Node {
    pub(crate) fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn list(&self) -> Option<&[Self]> {
        match &self.value {
            Value::List(items) => Some(items),
            _ => None,
        }
    }

    pub(crate) fn table(&self) -> Option<&Table> {
        match &self.value {
            Value::Table(table) => Some(table),
            _ => None,
        }
    }

    /// The value without its places; `None` for a number that does not fit.
    pub(crate) fn plain(&self) -> Option<toml::Value> {
        Some(match &self.value {
            Value::Text(text) => toml::Value::String(text.to_string()),
            Value::Integer(value, _) => toml::Value::Integer((*value)?),
            Value::Float(value, _) => toml::Value::Float(*value),
            Value::Bool(value) => toml::Value::Boolean(*value),
            Value::Date(date) => toml::Value::Datetime(*date),
            Value::List(items) => toml::Value::Array(items.iter().filter_map(Self::plain).collect()),
            Value::Table(table) => toml::Value::Table(table.plain()),
        })
    }

    /// The name of an entry of a list, by which keys address it: its `name`, or the `node` that it is about.
    pub(crate) fn name(&self) -> Option<&str> {
        let table = self.table()?;
        let name = ["name", "node"].iter().find_map(|key| table.get(key)?.text());
        name.filter(|name| !name.is_empty())
    }

    fn of_text(value: &Spanned<DeValue<'_>>) -> Self {
        let location = location_of(value);
        let value = match value.get_ref() {
            DeValue::String(text) => Value::Text(text.as_ref().into()),
            DeValue::Integer(number) => Value::Integer(
                i64::from_str_radix(number.as_str(), number.radix()).ok(),
                number.to_string().into(),
            ),
            DeValue::Float(number) => {
                Value::Float(number.as_str().parse().unwrap_or(f64::NAN), number.as_str().into())
            }
            DeValue::Boolean(value) => Value::Bool(*value),
            DeValue::Datetime(date) => Value::Date(*date),
            DeValue::Array(items) => Value::List(Arc::new(items.iter().map(Self::of_text).collect())),
            DeValue::Table(table) => Value::Table(Table::of_text(table)),
        };
        Self { value, location }
    }

    fn made(value: &toml::Value, made: &mut u32) -> Self {
        let location = next(made);
        let value = match value {
            toml::Value::String(text) => Value::Text(text.as_str().into()),
            toml::Value::Integer(number) => Value::Integer(Some(*number), number.to_string().into()),
            toml::Value::Float(number) => Value::Float(*number, value.to_string().into()),
            toml::Value::Boolean(value) => Value::Bool(*value),
            toml::Value::Datetime(date) => Value::Date(*date),
            toml::Value::Array(items) => {
                Value::List(Arc::new(items.iter().map(|item| Self::made(item, made)).collect()))
            }
            toml::Value::Table(table) => Value::Table(Table::made(table, made)),
        };
        Self { value, location }
    }
}

fn location_of<T>(value: &Spanned<T>) -> Location {
    let span = value.span();
    let byte = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
    Location::Text(byte(span.start), byte(span.end))
}

fn next(made: &mut u32) -> Location {
    *made += 1;
    Location::Made(*made)
}

impl Table {
    pub(crate) fn iter(&self) -> std::slice::Iter<'_, Entry> {
        self.0.iter()
    }

    pub(crate) fn entry(&self, key: &str) -> Option<&Entry> {
        self.iter().find(|entry| &*entry.key == key)
    }

    pub(crate) fn get(&self, key: &str) -> Option<&Node> {
        self.entry(key).map(|entry| &entry.node)
    }

    /// The table without its places.
    pub(crate) fn plain(&self) -> toml::Table {
        self.0.iter().filter_map(|entry| Some((entry.key.to_string(), entry.node.plain()?))).collect()
    }

    fn of_text(table: &DeTable<'_>) -> Self {
        let entry = |(key, value): (&Spanned<_>, &Spanned<DeValue<'_>>)| {
            let name: &std::borrow::Cow<'_, str> = key.get_ref();
            Entry { key: name.as_ref().into(), location: location_of(key), node: Node::of_text(value) }
        };
        Self(Arc::new(table.iter().map(entry).collect()))
    }

    fn made(table: &toml::Table, made: &mut u32) -> Self {
        let mut entries = Vec::with_capacity(table.len());
        for (key, value) in table {
            entries.push(Entry {
                key: key.as_str().into(),
                location: next(made),
                node: Node::made(value, made),
            });
        }
        Self(Arc::new(entries))
    }

    /// Puts `node` at the end of `path`. Tables on the way that are not there are made.
    fn put(&mut self, key: &str, path: &[Step], node: Node, made: &mut u32) {
        let entries = Arc::make_mut(&mut self.0);
        let at = match entries.iter().position(|entry| &*entry.key == key) {
            Some(at) => at,
            None => {
                let node = Node { value: Value::Table(Self::default()), location: next(made) };
                entries.push(Entry { key: key.into(), location: next(made), node });
                entries.len() - 1
            }
        };
        entries[at].node.put(path, node, made);
    }
}

impl Node {
    fn put(&mut self, path: &[Step], node: Self, made: &mut u32) {
        match (path.split_first(), &mut self.value) {
            (None, _) => *self = node,
            (Some((Step::Key(key), rest)), Value::Table(table)) => table.put(key, rest, node, made),
            (Some((Step::Entry(at), rest)), Value::List(items)) => {
                if let Some(item) = Arc::make_mut(items).get_mut(*at) {
                    item.put(rest, node, made);
                }
            }
            _ => {}
        }
    }
}

impl Tree {
    /// The tree of a text that was parsed.
    pub(crate) fn of_text(root: &DeTable<'_>) -> Self {
        Self { root: Table::of_text(root), made: 0 }
    }

    /// The tree of plain values.
    pub(crate) fn of_values(root: &toml::Table) -> Self {
        let mut made = 0;
        Self { root: Table::made(root, &mut made), made }
    }

    /// Puts a value at the end of a path that [`Tree::find`] gave.
    pub(crate) fn put(&mut self, path: &[Step], value: &toml::Value) {
        if let Some((Step::Key(key), rest)) = path.split_first() {
            let node = Node::made(value, &mut self.made);
            self.root.put(key, rest, node, &mut self.made);
        }
    }

    /// Takes a key of the scenario away.
    pub(crate) fn remove(&mut self, key: &str) {
        if self.root.get(key).is_some() {
            Arc::make_mut(&mut self.root.0).retain(|entry| &*entry.key != key);
        }
    }

    /// The paths that a dotted key means: an entry of a list goes by its name or its number from 0, `*` is each entry.
    /// Whether there is a value at the end of a path or one is to be put there makes no difference.
    pub(crate) fn find(&self, key: &str) -> Result<Vec<Vec<Step>>, Refusal> {
        let parts: Vec<&str> = key.split('.').collect();
        if parts.iter().any(|part| part.is_empty()) {
            return Err((
                format!("`{key}` is not a dotted key"),
                Some("write it as topology.bottleneck.rate".to_owned()),
            ));
        }
        let mut search = Search { key, trail: Vec::new(), found: Vec::new() };
        search.in_table(&self.root, &parts)?;
        Ok(search.found)
    }
}

/// The search for the paths of a key.
struct Search<'a> {
    key: &'a str,
    trail: Vec<Step>,
    found: Vec<Vec<Step>>,
}

impl Search<'_> {
    fn whole_table(&self) -> Refusal {
        (format!("`{}` names a whole table", self.key), Some("name a value in it".to_owned()))
    }

    /// Searches below one step of the path.
    fn at(
        &mut self,
        step: Step,
        search: impl FnOnce(&mut Self) -> Result<(), Refusal>,
    ) -> Result<(), Refusal> {
        self.trail.push(step);
        let done = search(self);
        self.trail.pop();
        done
    }

    /// Adds the current path to the results.
    fn end(&mut self) -> Result<(), Refusal> {
        self.found.push(self.trail.clone());
        Ok(())
    }

    fn in_table(&mut self, table: &Table, parts: &[&str]) -> Result<(), Refusal> {
        let Some((first, rest)) = parts.split_first() else { return Err(self.whole_table()) };
        let inner = table.get(first);
        let step = Step::Key((*first).to_owned());
        if matches!(*first, "expect" | "sweep") {
            // their keys are dotted themselves
            let name = rest.join(".");
            if name.is_empty() || inner.is_some_and(|inner| inner.table().is_none()) {
                return Err(self.whole_table());
            }
            return self.at(step, |search| search.at(Step::Key(name), Self::end));
        }
        self.at(step, |search| match inner {
            _ if rest.is_empty() => search.end(),
            Some(inner) => search.below(inner, rest),
            None => search.in_table(&Table::default(), rest),
        })
    }

    fn below(&mut self, node: &Node, parts: &[&str]) -> Result<(), Refusal> {
        let first = parts.first().copied().unwrap_or_default();
        match &node.value {
            Value::Table(table) => self.in_table(table, parts),
            Value::List(items) if first == EACH && !items.is_empty() && items.iter().all(is_table) => {
                let tables = items.iter().filter_map(Node::table).enumerate();
                let mut tables = tables.map(|(at, table)| (Step::Entry(at), table));
                tables
                    .try_for_each(|(step, table)| self.at(step, |search| search.in_table(table, &parts[1..])))
            }
            Value::List(items) => {
                let (at, used) = self.entry(items, parts)?;
                self.at(Step::Entry(at), |search| match items[at].table() {
                    Some(table) => search.in_table(table, &parts[used..]),
                    None if parts.len() == used => search.end(),
                    None => {
                        let above = parts[..used].join(".");
                        Err((format!("`{}`: there is nothing below `{above}`", search.key), None))
                    }
                })
            }
            _ => Err((
                format!("`{}`: `{first}` is below a value, not a table", self.key),
                (parts.len() > 1).then(|| "shorten the key".to_owned()),
            )),
        }
    }

    /// Which entry of a list the parts name, and how many parts that takes: a name, which may have dots, or a number.
    fn entry(&self, items: &[Node], parts: &[&str]) -> Result<(usize, usize), Refusal> {
        let name_of = |item: &Node| item.name().or(item.text()).unwrap_or_default().to_owned();
        let names: Vec<String> = items.iter().map(name_of).collect();
        for used in (1..=parts.len()).rev() {
            let name = parts[..used].join(".");
            if let Some(at) = names.iter().position(|known| *known == name) {
                return Ok((at, used));
            }
        }
        let first = parts.first().copied().unwrap_or_default();
        if let Ok(at) = first.parse::<usize>()
            && at < names.len()
        {
            return Ok((at, 1));
        }
        let known = names.iter().map(String::as_str).filter(|name| !name.is_empty());
        let hint = match nearest(first, known.clone()) {
            Some(near) => Some(format!("did you mean `{near}`?")),
            None => suggestion(first, known.collect::<Vec<_>>()),
        };
        Err((format!("`{}`: no entry is called `{first}`", self.key), hint))
    }
}

fn is_table(node: &Node) -> bool {
    node.table().is_some()
}

/// Whether two trees say the same, wherever it stands and in whatever order keys are written.
impl PartialEq for Tree {
    fn eq(&self, other: &Self) -> bool {
        self.root == other.root
    }
}

impl PartialEq for Table {
    fn eq(&self, other: &Self) -> bool {
        self.0.len() == other.0.len() && self.iter().all(|entry| other.get(&entry.key) == Some(&entry.node))
    }
}

impl PartialEq for Node {
    fn eq(&self, other: &Self) -> bool {
        match (&self.value, &other.value) {
            (Value::Text(a), Value::Text(b)) => a == b,
            (Value::Integer(Some(a), _), Value::Integer(Some(b), _)) => a == b,
            (Value::Integer(None, a), Value::Integer(None, b)) => a == b,
            (Value::Float(a, _), Value::Float(b, _)) => a == b,
            (Value::Bool(a), Value::Bool(b)) => a == b,
            (Value::Date(a), Value::Date(b)) => a == b,
            (Value::List(a), Value::List(b)) => a == b,
            (Value::Table(a), Value::Table(b)) => a == b,
            _ => false,
        }
    }
}
