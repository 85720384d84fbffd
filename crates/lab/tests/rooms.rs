//! The modules of this crate know each other in one direction.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder of the sources");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    paths.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// What `lib.rs` gives the names that a module may take from `crate::`.
fn exported(root: &str) -> BTreeMap<String, String> {
    let mut from = BTreeMap::new();
    for line in root.lines().filter_map(|line| line.strip_prefix("pub use ")) {
        let (module, names) = line.trim_end_matches(';').split_once("::").expect("a module and its names");
        for name in names.split([',', '{', '}', ':']).map(str::trim).filter(|name| !name.is_empty()) {
            from.insert(name.to_owned(), module.to_owned());
        }
    }
    from
}

/// The modules that each module uses; tests are left out.
fn arrows() -> BTreeMap<String, BTreeSet<String>> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let root = fs::read_to_string(source.join("lib.rs")).expect("the root of the crate");
    let exported = exported(&root);
    let mut arrows: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for path in files(&source) {
        let inside = path.strip_prefix(&source).expect("it is in there");
        let first = inside.iter().next().expect("a name").to_string_lossy();
        let room = first.trim_end_matches(".rs").to_owned();
        if room == "lib" || inside.ends_with("tests.rs") {
            continue;
        }
        let text = fs::read_to_string(&path).expect("just listed");
        let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        for rest in text.split("crate::").skip(1) {
            let group =
                rest.strip_prefix('{').map_or(rest, |group| group.split('}').next().unwrap_or_default());
            let many = if group.len() < rest.len() && rest.starts_with('{') { group } else { rest };
            let words = if rest.starts_with('{') { many.split(',').collect() } else { vec![many] };
            for word in words {
                let name: String =
                    word.trim().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
                // a module and a function may have one name
                let inside = word.trim().strip_prefix(&*name).is_some_and(|rest| rest.starts_with("::"));
                let to = exported.get(&name).filter(|_| !inside).cloned().unwrap_or(name);
                let known = source.join(&to).is_dir() || source.join(format!("{to}.rs")).is_file();
                if to != room && known {
                    arrows.entry(room.clone()).or_default().insert(to);
                }
            }
        }
    }
    arrows
}

#[test]
fn modules_have_no_import_circles() {
    let arrows = arrows();
    assert!(arrows.get("lower").is_some_and(|uses| uses.contains("schema")), "{arrows:?}");
    let mut left = arrows.clone();
    // what uses nothing that is left is taken away, until nothing is
    loop {
        let names: BTreeSet<String> = left.keys().cloned().collect();
        let done: Vec<String> = left
            .iter()
            .filter(|(_, uses)| uses.iter().all(|to| !names.contains(to)))
            .map(|(room, _)| room.clone())
            .collect();
        if done.is_empty() {
            break;
        }
        left.retain(|room, _| !done.contains(room));
    }
    assert!(left.is_empty(), "these use each other: {left:?}");
}
