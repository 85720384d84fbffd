//! Whatever the text, loading ends with a scenario or with problems that can be drawn; never with a panic.

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use proptest::prelude::*;

/// Good and broken scenarios to begin with.
static TEXTS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files: Vec<_> = [root.join("../../scenarios"), root.join("tests/broken")]
        .iter()
        .flat_map(|folder| fs::read_dir(folder).expect("the folder is there"))
        .map(|entry| entry.expect("an entry of the folder").path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "toml"))
        .collect();
    files.sort();
    files
        .iter()
        .map(|path| String::from_utf8_lossy(&fs::read(path).expect("just listed")).into_owned())
        .collect()
});

/// Those that are right.
static RIGHT: LazyLock<Vec<lab::Scenario>> =
    LazyLock::new(|| TEXTS.iter().filter_map(|text| lab::load(text, "changed.toml").ok()).collect());

/// Pieces that matter to the loader, put where they do not belong.
const PIECES: &[&str] = &[
    "\"",
    "[",
    "]",
    "{",
    "}",
    "=",
    ",",
    ".",
    "-",
    "\n",
    "0",
    "1e308",
    "-1",
    "99999999999999999999",
    "nan",
    "inf",
    "1.5",
    "\"1 bdp\"",
    "\"10000 bdp\"",
    "\"0 B\"",
    "\"unlimited\"",
    "\"never\"",
    "\"1000000000 s\"",
    "\"10000 Gbit/s\"",
    "\"1 bit/s\"",
    "\"*\"",
    "\"left*\"",
    "true",
    "[]",
    "{}",
    "[1, 2]",
    "é",
    "\u{fffd}",
    "\0",
    "\t",
    "like = \"l1\"",
    "1979-05-27",
    "[[flows]]",
    "[[events]]",
    "[topology]",
    "count = 1000000",
    "kind = \"tree\"",
    "kind = \"custom\"",
    "multicast = true",
    "network = \"ndn\"",
    "prefix = \"/films\"",
    "\"/\"",
    "[ndn]",
    "[[producers]]",
    "consumer = { pattern = \"zipf\", contents = 9 }",
];

/// Changes a text: a line taken out, doubled or moved, or a piece put in place of some characters.
fn changed(text: &str, change: (u8, usize, usize, usize)) -> String {
    let (what, at, other, length) = change;
    let lines: Vec<&str> = text.lines().collect();
    if what < 3 && !lines.is_empty() {
        let mut lines = lines;
        let line = lines.remove(at % lines.len());
        match what {
            0 => {}
            1 => lines.splice(0..0, [line, line]).for_each(drop),
            _ => lines.insert(other % (lines.len() + 1), line),
        }
        return lines.join("\n");
    }
    let chars: Vec<char> = text.chars().collect();
    let start = at % (chars.len() + 1);
    let end = (start + length % 12).min(chars.len());
    let piece = PIECES[other % PIECES.len()];
    chars[..start].iter().copied().chain(piece.chars()).chain(chars[end..].iter().copied()).collect()
}

/// The dotted keys of all values below `value`, with the values.
fn leaves_of(value: &toml::Value, key: &str, leaves: &mut Vec<(String, toml::Value)>) {
    let inner: Vec<(String, &toml::Value)> = match value {
        toml::Value::Table(table) => table.iter().map(|(name, inner)| (name.clone(), inner)).collect(),
        toml::Value::Array(items) => {
            items.iter().enumerate().map(|(i, inner)| (i.to_string(), inner)).collect()
        }
        _ => Vec::new(),
    };
    for (name, inner) in inner {
        let key = if key.is_empty() { name } else { format!("{key}.{name}") };
        leaves_of(inner, &key, leaves);
        leaves.push((key, inner.clone()));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_text_makes_the_loader_panic(
        pick in any::<prop::sample::Index>(),
        changes in prop::collection::vec((0u8..12, any::<usize>(), any::<usize>(), any::<usize>()), 1..4),
    ) {
        let mut text = pick.get(&TEXTS).clone();
        for change in changes {
            text = changed(&text, change);
        }
        match lab::load(&text, "mutated.toml") {
            Ok(scenario) => {
                let plan = scenario.plan(Some(5)).expect("loaded means planned");
                let printed = plan.to_toml();
                let again = lab::load(&printed, "plan.toml").unwrap_or_else(|diagnostics| panic!("{diagnostics}\n{printed}"));
                prop_assert_eq!(&again.plan(None).expect("loaded means planned").blueprint, &plan.blueprint);
            }
            Err(diagnostics) => {
                prop_assert!(diagnostics.count() > 0);
                prop_assert!(!diagnostics.to_string().is_empty());
                prop_assert!(!diagnostics.render(true).is_empty());
                diagnostics.to_json();
            }
        }
    }

    #[test]
    fn no_bytes_make_the_loader_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        if let Err(diagnostics) = lab::load_bytes(&bytes, "noise.toml") {
            prop_assert!(!diagnostics.to_string().is_empty());
        }
    }

    #[test]
    fn a_changed_scenario_is_the_one_that_its_text_says(
        pick in any::<prop::sample::Index>(),
        key in any::<prop::sample::Index>(),
        value in any::<prop::sample::Index>(),
    ) {
        let scenario = pick.get(&RIGHT);
        let mut leaves = Vec::new();
        leaves_of(&toml::Value::Table(scenario.tree()), "", &mut leaves);
        let (key, value) = (&key.get(&leaves).0, &value.get(&leaves).1);
        match scenario.with(key, value) {
            Ok(changed) => {
                let again = lab::load(changed.text(), "changed.toml").unwrap_or_else(|diagnostics| panic!("{diagnostics}"));
                prop_assert_eq!(&again, &changed);
                prop_assert_eq!(again.plan(None), changed.plan(None));
                prop_assert_eq!(again.warnings().to_json(), changed.warnings().to_json());
            }
            Err(diagnostics) => {
                prop_assert!(diagnostics.count() > 0);
                prop_assert!(!diagnostics.to_string().is_empty());
            }
        }
    }
}
