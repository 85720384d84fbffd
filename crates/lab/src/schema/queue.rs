//! The queue discipline of a link: drop-tail, or one of the list in `stack::queue`.

use contract::{ParamInfo, ParamKind};
use schemars::{Schema, SchemaGenerator, json_schema};
use schemes::Resolve;
use serde_json::{Map, Value as Json, json};
use stack::queue::{self, DisciplineSpec};

use crate::schema::params::{Params, param_schema, plain, resolved_beside};
use crate::schema::read::{At, Notes, Read, mismatch, shortened};
use crate::schema::tree::{Node, Value};
use crate::schema::values::known_name;

/// A queue discipline; none for drop-tail.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Queue(pub(crate) Option<DisciplineSpec>);

/// What drop-tail is called.
const FIFO: &str = "fifo";
/// The key of a table that names the discipline.
const KIND: &str = "kind";

/// Each with its sentence and its parameters.
fn disciplines() -> impl Iterator<Item = (&'static str, &'static str, Vec<ParamInfo>)> {
    let fifo = (FIFO, "Drop-tail: first in, first out; packets that do not fit are dropped.", Vec::new());
    let others = queue::ALL.iter().map(|entry| (entry.name, entry.title, (entry.params)()));
    std::iter::once(fifo).chain(others)
}

fn names() -> Vec<&'static str> {
    disciplines().map(|(name, ..)| name).collect()
}

/// Names that other programs have for a discipline, or for what other keys of a link do.
fn elsewhere(name: &str) -> Option<&'static str> {
    let plain: String = name.to_lowercase().chars().filter(|c| c.is_alphanumeric()).collect();
    Some(match plain.as_str() {
        "droptail" | "taildrop" | "taildropqueue" | "droptailqueue" | "pfifo" | "bfifo" | "pfifofast"
        | "fcfs" | "none" | "noqueue" | "default" => {
            "did you mean `fifo`? It is drop-tail, and `buffer` is its limit"
        }
        "tbf" | "htb" | "hfsc" | "cbq" | "shaper" | "tokenbucket" => {
            "`shaper` of the link limits its rate: shaper = { rate = \"5 Mbit/s\", burst = \"15 kB\" }"
        }
        "netem" | "dummynet" => {
            "`delay`, `loss` and `impair` of the link do this: impair = { jitter = \"2 ms\" }"
        }
        "police" | "policer" | "policing" => {
            "`policer` of the link drops what exceeds a rate: policer = { rate = \"5 Mbit/s\", burst = \"15 kB\" }"
        }
        "drr" | "wrr" | "wfq" | "qfq" | "ets" | "dwrr" => {
            "`classes` of the link are queues with weights: classes = [4, 1]"
        }
        _ => return None,
    })
}

impl Read for Queue {
    fn description() -> String {
        "a queue discipline".to_owned()
    }
    fn example() -> String {
        "\"codel\"".to_owned()
    }
    fn read(node: &Node, notes: &mut Notes) -> Option<Self> {
        let before = notes.count();
        let (kind, params) = match &node.value {
            Value::Text(_) => (node, Params::default()),
            Value::Table(table) => {
                let Some(kind) = table.get(KIND) else {
                    let hint = format!("write {KIND} = \"{}\"", names().join("\" or \""));
                    notes.wrong(node.location, format!("a queue needs `{KIND}`")).hint(hint);
                    return None;
                };
                (kind, Params::of(table.iter().filter(|entry| &*entry.key != KIND), notes))
            }
            _ => return mismatch(node, notes),
        };
        if let Some((name, hint)) = kind.text().and_then(|name| Some((name, elsewhere(name)?))) {
            notes
                .wrong(kind.location, format!("no queue discipline is called `{}`", shortened(name)))
                .hint(hint);
            return None;
        }
        let name = known_name::<Self>(kind, "queue discipline", &names(), notes)?;
        let entry = queue::find(&name);
        let infos = entry.map_or_else(Vec::new, |entry| (entry.params)());
        let resolve: Resolve = match entry {
            Some(entry) => &entry.resolve,
            None => &|_| Ok(Vec::new()),
        };
        let written = Some(At { value: &params, location: node.location });
        let given = resolved_beside(written, &[], &name, &infos, resolve, notes)?;
        let discipline = entry.and_then(|entry| (entry.read)(&given.list()).ok());
        (notes.count() == before).then_some(Self(discipline))
    }
    fn to_value(&self) -> toml::Value {
        let Some(discipline) = &self.0 else { return FIFO.into() };
        let kind = (KIND.to_owned(), discipline.name().into());
        let params = discipline.list().into_iter().map(|(name, value)| (name, plain(&value)));
        std::iter::once(kind).chain(params).collect::<toml::Table>().into()
    }
    fn schema(generator: &mut SchemaGenerator) -> Schema {
        let titles: Vec<&str> = disciplines().map(|(_, title, _)| title).collect();
        let mut forms = vec![json!({ "type": "string", "enum": names(), "enumDescriptions": titles })];
        for (name, title, infos) in disciplines().filter(|(.., infos)| !infos.is_empty()) {
            let table = table_name(name);
            forms.push(json!({ "$ref": format!("#/$defs/{table}") }));
            generator.definitions_mut().insert(table, table_of(name, title, &infos));
        }
        json_schema!({ "anyOf": forms })
    }
}

/// The name of that table in the schema: `FqCodelQueue` of `fq_codel`.
fn table_name(name: &str) -> String {
    let word = |word: &str| format!("{}{}", word[..1].to_uppercase(), &word[1..]);
    name.split('_').map(word).chain(["Queue".to_owned()]).collect()
}

/// The table that selects the discipline called `name`.
fn table_of(name: &str, title: &str, infos: &[ParamInfo]) -> Json {
    let kind = (KIND.to_owned(), json!({ "const": name, "description": "Queue discipline." }));
    let properties = infos.iter().map(|info| {
        let mut schema = param_schema(info);
        schema["description"] =
            format!("{} Default: {}. Source: {}.", info.doc, info.default, info.source).into();
        if matches!(info.kind, ParamKind::Time | ParamKind::Rate | ParamKind::Size) {
            schema["examples"] = json!([info.default.to_string()]);
        }
        (info.name.to_owned(), schema)
    });
    json!({
        "type": "object",
        "description": title,
        "properties": std::iter::once(kind).chain(properties).collect::<Map<_, _>>(),
        "required": [KIND],
        "additionalProperties": false,
    })
}
