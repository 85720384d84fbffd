//! A scenario: its checked values, the plan made from them, and their operations.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use toml::de::DeTable;

use crate::diagnostics::{Problem, Problems};
use crate::schema::file::File;
use crate::schema::read::{At, Note, Notes, shortened};
use crate::schema::source::{Change, Source};
use crate::schema::tree::{Location, Refusal, Span, Tree};
use crate::{Plan, lower, resolve, warnings};

/// Largest text that is read, in bytes.
const MAX_BYTES: usize = 64_000_000;
/// Most combinations of a sweep.
const MAX_CELLS: usize = 100_000;
/// Values of a sweep that are tried when it is loaded; the others are when it is run.
const MAX_TRIED: usize = 256;

/// A checked scenario with its plan. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Scenario {
    name: Arc<str>,
    draft: Draft,
    file: Arc<File>,
    plan: Arc<Plan>,
    warnings: Arc<Warnings>,
}

/// The values of a scenario and the text that they have.
#[derive(Clone, Debug)]
struct Draft {
    tree: Tree,
    source: Arc<Source>,
}

#[derive(Debug)]
struct Warnings {
    notes: Vec<Note>,
    drawn: OnceLock<Problems>,
}

/// The cached result of reading and planning.
struct Attempt {
    file: File,
    plan: Option<Plan>,
    errors: Vec<Note>,
    warnings: Vec<Note>,
}

/// One combination of a sweep: the keys with their values, and the scenario that has them.
pub type Cell = (Vec<(String, toml::Value)>, Scenario);

/// One axis of a sweep: a dotted key and the values that it takes.
pub type Axis = (String, Vec<toml::Value>);

/// Reads a scenario. `name` is its path, for messages and for files it names, or anything else, such as `<python>`.
///
/// Fails with every mistake of the text, or with the first one of its syntax.
pub fn load(text: &str, name: &str) -> Result<Scenario, Problems> {
    checked(name.into(), parsed(text, name)?)
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

/// Takes a scenario from plain values, as a program builds it.
pub fn load_tree(values: toml::Table) -> Result<Scenario, Problems> {
    const NAME: &str = "<python>";
    if values.is_empty() {
        return Err(empty(NAME));
    }
    let draft = Draft { tree: Tree::of_values(&values), source: Arc::new(Source::values(values)) };
    checked(NAME.into(), draft)
}

/// A value as a command line has it: TOML where it reads as such, or else a text.
fn value_of(text: &str) -> toml::Value {
    let read = format!("value = {text}").parse::<toml::Table>().ok();
    read.and_then(|mut table| table.remove("value")).unwrap_or_else(|| toml::Value::from(text))
}

fn empty(name: &str) -> Problems {
    let hint = "write a topology and at least one flow; the folder scenarios has examples".to_owned();
    Problems::whole(name, "the scenario is empty".to_owned(), Some(hint))
}

/// Whether a CR is the end of a line by itself.
fn lone_cr(text: &str) -> bool {
    text.matches('\r').count() > text.matches("\r\n").count()
}

/// The text with LF in place of each CR that is alone.
fn crlf_or_lf(text: &str) -> String {
    text.split("\r\n").map(|part| part.replace('\r', "\n")).collect::<Vec<_>>().join("\r\n")
}

/// The values of a text; fails where it is not TOML.
fn parsed(text: &str, name: &str) -> Result<Draft, Problems> {
    let text: Arc<str> = text.into();
    if text.len() > MAX_BYTES {
        let message = format!("{} bytes are too many", text.len());
        return Err(Problems::whole(name, message, Some("at most 64 MB".to_owned())));
    }
    if text.trim().is_empty() {
        return Err(empty(name));
    }
    // a line that ends in CR alone is one for people, and none in TOML; places stay the same
    let text = if lone_cr(&text) { crlf_or_lf(&text).into() } else { text };
    let (root, errors) = DeTable::parse_recoverable(&text);
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
        return Err(Problems::new(name, &text, vec![problem]));
    }
    let tree = Tree::of_text(root.get_ref());
    drop(root);
    Ok(Draft { tree, source: Arc::new(Source::from_text(text)) })
}

/// Reads and plans values, and tries those of a sweep.
fn checked(name: Arc<str>, draft: Draft) -> Result<Scenario, Problems> {
    let mut attempt = draft.attempt(&name);
    let (more, warnings) = draft.sweep_notes(&name, &attempt);
    attempt.errors.extend(more);
    attempt.warnings = warnings;
    draft.scenario(name, attempt)
}

/// Where paths in a scenario start.
fn folder(name: &str) -> PathBuf {
    Path::new(name).parent().map(Path::to_path_buf).unwrap_or_default()
}

impl Draft {
    /// Reads and plans once; the sweep is not looked into.
    fn attempt(&self, name: &str) -> Attempt {
        let mut notes = Notes::default();
        let file = File::from_table(&self.tree.root, Location::default(), &mut notes);
        let resolved = resolve::build(&file, Location::default(), None, &folder(name), &mut notes);
        let plan = resolved.map(|(tree, net)| {
            let plan = lower::build(tree);
            warnings::build(&file, &plan, &net, &mut notes);
            plan
        });
        let (errors, warnings) = notes.into_lists();
        Attempt { file, plan, errors, warnings }
    }

    /// The scenario, or what is wrong with it.
    fn scenario(self, name: Arc<str>, attempt: Attempt) -> Result<Scenario, Problems> {
        let Attempt { file, plan, errors, warnings } = attempt;
        match plan {
            Some(plan) if errors.is_empty() => Ok(Scenario {
                name,
                draft: self,
                file: Arc::new(file),
                plan: Arc::new(plan),
                warnings: Arc::new(Warnings { notes: warnings, drawn: OnceLock::new() }),
            }),
            _ => Err(self.refused(&name, &errors)),
        }
    }

    fn refused(&self, name: &str, errors: &[Note]) -> Problems {
        Problems::of(name, &self.source, &self.tree, errors)
    }

    /// A copy with some changes, made one after the other.
    fn changed<'a>(
        &self,
        changes: impl IntoIterator<Item = (&'a str, &'a toml::Value)>,
        sweep: bool,
    ) -> Result<Self, Refusal> {
        let mut tree = self.tree.clone();
        let mut noted = Vec::new();
        if !sweep && tree.root.get("sweep").is_some() {
            tree.remove("sweep");
            noted.push(Change::Remove("sweep"));
        }
        for (key, value) in changes {
            for path in tree.find(key)? {
                tree.put(&path, value);
                noted.push(Change::Put(path, value.clone()));
            }
        }
        Ok(Self { tree, source: Arc::new(Source::changed(&self.source, noted)) })
    }

    /// Errors of the sweep, and all warnings: every value of every axis is tried by itself, up to a number of them. An
    /// error of the scenario without its sweep is not repeated; a warning of it that no value of some axis gives holds
    /// in no cell, and is left out.
    fn sweep_notes(&self, name: &str, without: &Attempt) -> (Vec<Note>, Vec<Note>) {
        let mut warnings = without.warnings.clone();
        let Some(sweep) = without.file.sweep.present() else { return (Vec::new(), warnings) };
        let mut notes = Notes::default();
        let cells = sweep.value.0.iter().try_fold(1usize, |sum, (_, values)| sum.checked_mul(values.len()));
        if cells.is_none_or(|cells| cells > MAX_CELLS) {
            notes.wrong(sweep.location, "too many combinations").hint(format!("at most {MAX_CELLS}"));
            return (notes.into_lists().0, warnings);
        }
        let mut count = 0;
        'axes: for (key, values) in &sweep.value.0 {
            let mut seen = vec![false; warnings.len()];
            for value in values.iter() {
                count += 1;
                if count > MAX_TRIED {
                    break 'axes;
                }
                let attempt = match self.changed([(key.as_str(), &value.value)], true) {
                    Ok(draft) => draft.attempt(name),
                    Err((message, hint)) => {
                        notes.wrong(key.location, message).maybe(hint);
                        continue 'axes;
                    }
                };
                let shown = shortened(&value.value.to_string());
                for (there, old) in seen.iter_mut().zip(&warnings) {
                    *there |= attempt.warnings.iter().any(|one| one.message == old.message);
                }
                for one in &attempt.warnings {
                    if !without.warnings.iter().any(|old| old.message == one.message) {
                        let message = format!("with {} = {shown}: {}", key.value, one.message);
                        notes.warn(value.location, message).maybe(one.hint.clone());
                    }
                }
                let known = |one: &&Note| !without.errors.iter().any(|old| old.message == one.message);
                let Some(new) = attempt.errors.iter().find(known) else { continue };
                if new.message.starts_with("unknown key") {
                    notes.wrong(key.location, new.message.clone()).maybe(new.hint.clone());
                    continue 'axes;
                }
                notes
                    .wrong(value.location, format!("with {} = {shown}: {}", key.value, new.message))
                    .maybe(new.hint.clone());
            }
            let mut seen = seen.into_iter();
            warnings.retain(|_| seen.next().unwrap_or(true));
        }
        let (errors, more) = notes.into_lists();
        warnings.extend(more);
        (errors, warnings)
    }
}

/// Scenarios are equal where they have one name and say the same.
impl PartialEq for Scenario {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name && self.draft.tree == other.draft.tree
    }
}

impl Scenario {
    /// The file it is from, or what stands for it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its text: as given, or printed.
    pub fn text(&self) -> &str {
        self.draft.source.text()
    }

    /// One line for people; empty when not given.
    pub fn title(&self) -> &str {
        self.file.title.present().map_or("", |at| &at.value)
    }

    /// Whether it is marked as needing more than five CPU seconds.
    pub fn is_slow(&self) -> bool {
        self.file.slow.or(false)
    }

    /// Its seed.
    pub fn seed(&self) -> u64 {
        self.file.seed.or(*File::defaults().seed.resolved())
    }

    /// As written, without places.
    pub fn tree(&self) -> toml::Table {
        self.draft.tree.root.plain()
    }

    /// The complete plan with this seed, or with the scenario's own, which was made when it was loaded. Fails where the
    /// seed is above 2⁶³ − 1, or a file that the scenario names has changed.
    pub fn plan(&self, seed: Option<u64>) -> Result<Arc<Plan>, Problems> {
        let seed = match seed {
            None => return Ok(self.plan.clone()),
            Some(seed) if seed == self.seed() => return Ok(self.plan.clone()),
            Some(seed) => seed,
        };
        if i64::try_from(seed).is_err() {
            let hint = Some(format!("at most {}", i64::MAX));
            return Err(self.whole((format!("the seed {seed} is too large"), hint)));
        }
        let mut notes = Notes::default();
        match resolve::build(&self.file, Location::default(), Some(seed), &folder(&self.name), &mut notes) {
            Some((tree, _)) => Ok(Arc::new(lower::build(tree))),
            None => Err(self.draft.refused(&self.name, &notes.into_lists().0)),
        }
    }

    /// Warnings: keys without effect, and expectations that cannot be measured. With a sweep, what holds in every cell,
    /// and what holds with single values of it.
    pub fn warnings(&self) -> &Problems {
        let Warnings { notes, drawn } = &*self.warnings;
        drawn.get_or_init(|| Problems::of(&self.name, &self.draft.source, &self.draft.tree, notes))
    }

    /// The scenario with one value changed or added. The key is dotted; an entry of a list goes by its name or its
    /// number from 0, `*` is each of them: `topology.bottleneck.buffer`, `flows.cubic.params.beta`,
    /// `topology.links.l1.rate`, `events.0.at`, `flows.*.scheme`.
    pub fn with(&self, key: &str, value: &toml::Value) -> Result<Self, Problems> {
        self.with_each([(key, value)])
    }

    /// Sets a key to a value from a command line: TOML where it reads as such, or else a text. See [`Scenario::with`].
    pub fn with_text(&self, key: &str, value: &str) -> Result<Self, Problems> {
        self.with(key, &value_of(value))
    }

    /// Sets several keys like [`Scenario::with`], all before the result is checked.
    pub fn with_all(&self, changes: &[(String, toml::Value)]) -> Result<Self, Problems> {
        self.with_each(changes.iter().map(|(key, value)| (key.as_str(), value)))
    }

    fn with_each<'a>(
        &self,
        changes: impl IntoIterator<Item = (&'a str, &'a toml::Value)>,
    ) -> Result<Self, Problems> {
        let draft = self.draft.changed(changes, true).map_err(|refusal| self.whole(refusal))?;
        checked(self.name.clone(), draft)
    }

    /// The scenario without its sweep. Series that only other cells of it offer are no longer recorded.
    pub fn without_sweep(&self) -> Result<Self, Problems> {
        self.cell(&[], &self.axes())
    }

    /// Every combination of the values of `[sweep]`, the last key varying fastest. The scenario itself, with no keys,
    /// where it has no sweep. Fails where a combination is no scenario.
    pub fn cells(&self) -> Result<Vec<Cell>, Problems> {
        self.grid(&self.axes())
    }

    /// Every combination of values, like [`Scenario::cells`], over other axes than those of `[sweep]`.
    pub fn grid(&self, axes: &[Axis]) -> Result<Vec<Cell>, Problems> {
        let mut cells: Vec<Vec<(String, toml::Value)>> = vec![Vec::new()];
        for (key, values) in axes {
            let longer = |cell: &Vec<_>, value: &toml::Value| {
                cell.iter().cloned().chain([(key.clone(), value.clone())]).collect()
            };
            cells = cells.iter().flat_map(|cell| values.iter().map(|value| longer(cell, value))).collect();
        }
        cells.into_iter().map(|keys| self.cell(&keys, axes).map(|cell| (keys, cell))).collect()
    }

    /// One cell of a sweep over `axes`: the scenario without its own sweep, with `keys` set. A series that the cell
    /// does not offer and another one would is not recorded in it. Fails where it is no scenario.
    pub fn cell(&self, keys: &[(String, toml::Value)], axes: &[Axis]) -> Result<Self, Problems> {
        let whole = |refusal| self.whole(refusal);
        let keys = keys.iter().map(|(key, value)| (key.as_str(), value));
        let draft = self.draft.changed(keys, false).map_err(whole)?;
        let attempt = draft.attempt(&self.name);
        if attempt.errors.is_empty() {
            return draft.scenario(self.name.clone(), attempt);
        }
        let swept: Vec<(String, toml::Value)> = axes
            .iter()
            .map(|(key, values)| (format!("sweep.{key}"), toml::Value::Array(values.clone())))
            .collect();
        let swept = swept.iter().map(|(key, values)| (key.as_str(), values));
        let swept = draft.changed(swept, true).map_err(whole)?.attempt(&self.name);
        let Some(plan) = swept.plan.filter(|_| swept.errors.is_empty()) else {
            return draft.scenario(self.name.clone(), attempt);
        };
        let offered = plan.blueprint.record.series.iter().cloned().map(toml::Value::from).collect();
        let offered = toml::Value::Array(offered);
        let draft = draft.changed([("record.series", &offered)], false).map_err(whole)?;
        let attempt = draft.attempt(&self.name);
        draft.scenario(self.name.clone(), attempt)
    }

    /// The keys of `[sweep]`, each with its values.
    fn axes(&self) -> Vec<Axis> {
        let axes = self.file.sweep.present().map_or(&[][..], |sweep| &sweep.value.0);
        let plain = |list: &[At<toml::Value>]| list.iter().map(|at| at.value.clone()).collect();
        axes.iter().map(|(key, values)| (key.value.clone(), plain(values))).collect()
    }

    /// What is wrong with a request, not with the scenario.
    fn whole(&self, (message, hint): Refusal) -> Problems {
        Problems::whole(&self.name, message, hint)
    }
}
