//! A scenario: a text that was found right, and what can be done with it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value as Json;
use toml::de::DeTable;

use crate::file::File;
use crate::problems::{Problem, Problems, Span};
use crate::read::{At, Notes, shortened};
use crate::{Plan, edit, plan};

/// Largest text that is read, in bytes.
const MOST_BYTES: usize = 64_000_000;
/// Most combinations of a sweep.
const MOST_CELLS: usize = 100_000;
/// Values of a sweep that are tried when it is loaded; the others are when it is run.
const MOST_TRIED: usize = 256;

/// A checked scenario. Cheap to clone.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    name: Arc<str>,
    text: Arc<str>,
    file: Arc<File>,
    warnings: Arc<Problems>,
}

/// One combination of a sweep: the keys with their values, and the scenario that has them.
pub type Cell = (Vec<(String, toml::Value)>, Scenario);

/// One axis of a sweep: a dotted key and the values that it takes.
pub type Axis = (String, Vec<toml::Value>);

/// Reads a scenario. `name` is its path, for messages and for files it names, or anything else, such as `<python>`.
///
/// Fails with every mistake of the text, or with the first one of its syntax.
pub fn load(text: &str, name: &str) -> Result<Scenario, Problems> {
    let (mut scenario, mut problems) = read_all(&Arc::from(text), name)?;
    let (more, warnings) = scenario.sweep_problems(&problems);
    problems.extend(more);
    if !problems.is_empty() {
        return Err(Problems::new(name, &scenario.text, problems));
    }
    scenario.warnings = Arc::new(Problems::new(name, &scenario.text, warnings));
    Ok(scenario)
}

/// Reads a scenario from the bytes of a file; fails also where they are not UTF-8.
pub fn load_bytes(bytes: &[u8], name: &str) -> Result<Scenario, Problems> {
    match std::str::from_utf8(bytes) {
        Ok(text) => load(text, name),
        Err(error) => {
            let start = error.valid_up_to();
            let text: Arc<str> = String::from_utf8_lossy(bytes).into();
            let problem = Problem {
                message: format!("not UTF-8 text: byte {:#04x} at offset {start}", bytes[start]),
                warning: false,
                key: String::new(),
                span: Some(Span { start, end: start + '\u{fffd}'.len_utf8() }),
                line: 0,
                column: 0,
                hint: Some("save the file as UTF-8".to_owned()),
            };
            Err(Problems::new(name, &text, vec![problem]))
        }
    }
}

/// Reads a scenario from a tree in JSON, as Python builds it: the tree is written as TOML and that text is loaded.
pub fn load_tree(json: &str) -> Result<Scenario, Problems> {
    const NAME: &str = "<python>";
    let whole = |message: String| Problems::whole(NAME, &Arc::from(json), message, None);
    let tree: Json = serde_json::from_str(json).map_err(|error| whole(format!("not JSON: {error}")))?;
    let Json::Object(_) = tree else {
        return Err(whole("a scenario is a table of keys and values".to_owned()));
    };
    let text = match toml_value(&tree) {
        Ok(Some(toml::Value::Table(table))) => {
            toml::to_string(&table).map_err(|error| whole(error.to_string()))?
        }
        Ok(_) => String::new(),
        Err(message) => return Err(whole(message)),
    };
    load(&text, NAME)
}

/// A value as a command line has it: TOML where it reads as such, or else a text.
fn value_of(text: &str) -> toml::Value {
    let read = format!("value = {text}").parse::<toml::Table>().ok();
    read.and_then(|mut table| table.remove("value")).unwrap_or_else(|| toml::Value::from(text))
}

/// A JSON value as TOML; `None` for null, which is left out. The error is a message.
fn toml_value(json: &Json) -> Result<Option<toml::Value>, String> {
    Ok(Some(match json {
        Json::Null => return Ok(None),
        Json::Bool(switch) => toml::Value::Boolean(*switch),
        Json::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(whole), _) => toml::Value::Integer(whole),
            (None, Some(float)) if number.is_f64() => toml::Value::Float(float),
            _ => return Err(format!("the number {number} is too large")),
        },
        Json::String(text) => toml::Value::String(text.clone()),
        Json::Array(items) => {
            let read: Result<Vec<_>, _> = items.iter().map(toml_value).collect();
            toml::Value::Array(read?.into_iter().flatten().collect())
        }
        Json::Object(map) => {
            let mut table = toml::Table::new();
            for (key, item) in map {
                if let Some(value) = toml_value(item)? {
                    table.insert(key.clone(), value);
                }
            }
            toml::Value::Table(table)
        }
    }))
}

/// Reads and plans once; the sweep is not looked into.
fn read(text: &Arc<str>, name: &str) -> Result<Scenario, Problems> {
    match read_all(text, name)? {
        (scenario, list) if list.is_empty() => Ok(scenario),
        (_, list) => Err(Problems::new(name, text, list)),
    }
}

/// Reads and plans once; fails where the text is not TOML, and otherwise lists what is wrong.
fn read_all(text: &Arc<str>, name: &str) -> Result<(Scenario, Vec<Problem>), Problems> {
    if text.len() > MOST_BYTES {
        let message = format!("{} bytes are too many", text.len());
        return Err(Problems::whole(name, &Arc::from(""), message, Some("at most 64 MB".to_owned())));
    }
    if text.trim().is_empty() {
        let hint = "write a topology and at least one flow; the folder scenarios has examples".to_owned();
        return Err(Problems::whole(name, text, "the scenario is empty".to_owned(), Some(hint)));
    }
    let (root, errors) = DeTable::parse_recoverable(text);
    if let Some(error) = errors.first() {
        let span = error.span().unwrap_or(0..0);
        let problem = Problem {
            message: format!("not TOML: {}", error.message()),
            warning: false,
            key: String::new(),
            span: Some(Span { start: span.start, end: span.end }),
            line: 0,
            column: 0,
            hint: None,
        };
        return Err(Problems::new(name, text, vec![problem]));
    }
    let mut notes = Notes::about(root.get_ref());
    let whole = Span { start: 0, end: 0 };
    let file = File::from_table(root.get_ref(), whole, &mut notes);
    let none = Arc::new(Problems::new(name, text, Vec::new()));
    let mut scenario =
        Scenario { name: name.into(), text: text.clone(), file: Arc::new(file), warnings: none };
    plan::build(&scenario.file, whole, None, &scenario.folder(), &mut notes);
    let (problems, warnings) = notes.into_problems();
    scenario.warnings = Arc::new(Problems::new(name, text, warnings));
    Ok((scenario, problems))
}

impl Scenario {
    /// The file it is from, or what stands for it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// One line for people; empty when not given.
    pub fn title(&self) -> &str {
        self.file.title.given().map_or("", |at| &at.value)
    }

    /// Whether it says that it needs more than five CPU seconds.
    pub fn is_slow(&self) -> bool {
        self.file.slow.or(false)
    }

    /// Its seed.
    pub fn seed(&self) -> u64 {
        self.file.seed.or(1)
    }

    /// As written, in JSON.
    pub fn tree(&self) -> Json {
        let table: toml::Table = self.text.parse().expect("the text was parsed before");
        serde_json::to_value(table).expect("a scenario has text, finite numbers, lists and tables only")
    }

    /// The complete plan with this seed, or with the scenario's own. Fails where the seed is above 2⁶³ − 1, and where a file
    /// that the scenario names is no longer what it was.
    pub fn plan(&self, seed: Option<u64>) -> Result<Plan, Problems> {
        if let Some(seed) = seed
            && i64::try_from(seed).is_err()
        {
            let hint = Some(format!("at most {}", i64::MAX));
            return Err(Problems::whole(
                &self.name,
                &self.text,
                format!("the seed {seed} is too large"),
                hint,
            ));
        }
        let whole = Span::default();
        if let Some(plan) = plan::build(&self.file, whole, seed, &self.folder(), &mut Notes::default()) {
            return Ok(plan);
        }
        // again, now with the keys of the places
        let root = DeTable::parse(&self.text).expect("the text was parsed before");
        let mut notes = Notes::about(root.get_ref());
        match plan::build(&self.file, whole, seed, &self.folder(), &mut notes) {
            Some(plan) => Ok(plan),
            None => Err(Problems::new(&self.name, &self.text, notes.into_problems().0)),
        }
    }

    /// What it says that has no effect, or cannot be measured. With a sweep, what holds in every cell, and what holds with single
    /// values of it.
    pub fn warnings(&self) -> &Problems {
        &self.warnings
    }

    /// The scenario with one value changed or added. The key is dotted; an entry of a list goes by its name or its number
    /// from 0, `*` is each of them: `topology.bottleneck.buffer`, `flows.cubic.params.beta`, `topology.links.l1.rate`, `events.0.at`,
    /// `flows.*.scheme`.
    pub fn with(&self, key: &str, value: &toml::Value) -> Result<Self, Problems> {
        let text = edit::set(&self.text, key, value)
            .map_err(|(message, hint)| Problems::whole(&self.name, &self.text, message, hint))?;
        load(&text, &self.name)
    }

    /// As [`Scenario::with`], the value as a command line has it: TOML where it reads as such, or else a text.
    pub fn with_text(&self, key: &str, value: &str) -> Result<Self, Problems> {
        self.with(key, &value_of(value))
    }

    /// As [`Scenario::with_text`] for several keys, all set before the result is checked.
    pub fn with_all(&self, changes: &[(String, String)]) -> Result<Self, Problems> {
        let whole = |(message, hint)| Problems::whole(&self.name, &self.text, message, hint);
        let text = changes.iter().try_fold(self.text.to_string(), |text, (key, value)| {
            edit::set(&text, key, &value_of(value)).map_err(whole)
        })?;
        load(&text, &self.name)
    }

    /// The same without its sweep. Series that other cells of it alone offer are no longer recorded.
    pub fn without_sweep(&self) -> Result<Self, Problems> {
        self.cell(&[], &self.axes())
    }

    /// Every combination of the values of `[sweep]`, the last key varying fastest. The scenario itself, with no keys, where
    /// it has no sweep. Fails where a combination is no scenario.
    pub fn cells(&self) -> Result<Vec<Cell>, Problems> {
        let axes = self.axes();
        let mut cells: Vec<Vec<(String, toml::Value)>> = vec![Vec::new()];
        for (key, values) in &axes {
            let longer = |cell: &Vec<_>, value: &toml::Value| {
                cell.iter().cloned().chain([(key.clone(), value.clone())]).collect()
            };
            cells = cells.iter().flat_map(|cell| values.iter().map(|value| longer(cell, value))).collect();
        }
        cells.into_iter().map(|keys| self.cell(&keys, &axes).map(|cell| (keys, cell))).collect()
    }

    /// As [`Scenario::cell`], the values as a command line has them: TOML where it reads as such, or else a text.
    pub fn cell_text(
        &self,
        keys: &[(String, String)],
        axes: &[(String, Vec<String>)],
    ) -> Result<Self, Problems> {
        let keys: Vec<_> = keys.iter().map(|(key, value)| (key.clone(), value_of(value))).collect();
        let values = |list: &Vec<String>| list.iter().map(|value| value_of(value)).collect();
        let axes: Vec<_> = axes.iter().map(|(key, list)| (key.clone(), values(list))).collect();
        self.cell(&keys, &axes)
    }

    /// One cell of a sweep over `axes`: the scenario without its own sweep, with `keys` set. A series that the cell does not offer
    /// and another one would is not recorded in it. Fails where it is no scenario.
    pub fn cell(&self, keys: &[(String, toml::Value)], axes: &[Axis]) -> Result<Self, Problems> {
        let whole = |(message, hint)| Problems::whole(&self.name, &self.text, message, hint);
        let set = |text: String, key: &str, value: &toml::Value| edit::set(&text, key, value).map_err(whole);
        let bare = edit::without_sweep(&self.text);
        let text = keys.iter().try_fold(bare, |text, (key, value)| set(text, key, value))?;
        let problems = match read(&Arc::from(text.as_str()), &self.name) {
            Ok(scenario) => return Ok(scenario),
            Err(problems) => problems,
        };
        let swept = axes.iter().try_fold(text.clone(), |text, (key, values)| {
            set(text, &format!("sweep.{key}"), &toml::Value::Array(values.clone()))
        })?;
        let plan = match read_all(&Arc::from(swept), &self.name) {
            Ok((scenario, list)) if list.is_empty() => scenario.plan(None)?,
            _ => return Err(problems),
        };
        let offered = plan.blueprint.record.series.into_iter().map(toml::Value::from).collect();
        read(&Arc::from(set(text, "record.series", &toml::Value::Array(offered))?), &self.name)
    }

    /// The keys of `[sweep]`, each with its values.
    fn axes(&self) -> Vec<Axis> {
        let axes = self.file.sweep.given().map_or(&[][..], |sweep| &sweep.value.0);
        let plain = |list: &[At<toml::Value>]| list.iter().map(|at| at.value.clone()).collect();
        axes.iter().map(|(key, values)| (key.value.clone(), plain(values))).collect()
    }

    /// Where paths in the scenario start.
    fn folder(&self) -> PathBuf {
        Path::new(&*self.name).parent().map(Path::to_path_buf).unwrap_or_default()
    }

    /// Errors and warnings of the sweep: every value of every axis is tried by itself, up to a number of them. An error of the
    /// scenario without its sweep is not repeated; a warning of it that no value of some axis gives holds in no cell, and is left
    /// out.
    fn sweep_problems(&self, already: &[Problem]) -> (Vec<Problem>, Vec<Problem>) {
        let mut warnings: Vec<Problem> = self.warnings.iter().cloned().collect();
        let Some(sweep) = self.file.sweep.given() else { return (Vec::new(), warnings) };
        let root = DeTable::parse(&self.text).expect("the text was parsed before");
        let mut notes = Notes::about(root.get_ref());
        let cells = sweep.value.0.iter().try_fold(1usize, |sum, (_, values)| sum.checked_mul(values.len()));
        if cells.is_none_or(|cells| cells > MOST_CELLS) {
            notes.wrong(sweep.span, "too many combinations").hint(format!("at most {MOST_CELLS}"));
            return (notes.into_problems().0, warnings);
        }
        let mut tried = 0;
        'axes: for (key, values) in &sweep.value.0 {
            let mut seen = vec![false; warnings.len()];
            for value in values.iter() {
                tried += 1;
                if tried > MOST_TRIED {
                    break 'axes;
                }
                let changed = match edit::set(&self.text, key, &value.value) {
                    Ok(text) => text,
                    Err((message, hint)) => {
                        notes.wrong(key.span, message).maybe(hint);
                        continue 'axes;
                    }
                };
                let (list, warned): (Vec<_>, Vec<_>) = match read_all(&Arc::from(changed), &self.name) {
                    Ok((scenario, list)) => (list, scenario.warnings.iter().cloned().collect()),
                    Err(problems) => (problems.iter().cloned().collect(), Vec::new()),
                };
                let shown = shortened(&value.value.to_string());
                for (there, old) in seen.iter_mut().zip(&warnings) {
                    *there |= warned.iter().any(|one| one.message == old.message);
                }
                for one in &warned {
                    if !self.warnings.iter().any(|old| old.message == one.message) {
                        let message = format!("with {} = {shown}: {}", key.value, one.message);
                        notes.warn(value.span, message).maybe(one.hint.clone());
                    }
                }
                let Some(new) = list.iter().find(|one| !already.iter().any(|old| old.message == one.message))
                else {
                    continue;
                };
                if new.message.starts_with("unknown key") {
                    notes.wrong(key.span, new.message.clone()).maybe(new.hint.clone());
                    continue 'axes;
                }
                notes
                    .wrong(value.span, format!("with {} = {shown}: {}", key.value, new.message))
                    .maybe(new.hint.clone());
            }
            let mut seen = seen.into_iter();
            warnings.retain(|_| seen.next().unwrap_or(true));
        }
        let (problems, more) = notes.into_problems();
        warnings.extend(more);
        (problems, warnings)
    }
}
