//! The modules of this crate import each other without cycles.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder of the sources");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    paths.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// The module of each name that `lib.rs` re-exports.
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

/// The modules that each module imports, without tests.
fn imports() -> BTreeMap<String, BTreeSet<String>> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let root = fs::read_to_string(source.join("lib.rs")).expect("the root of the crate");
    let exported = exported(&root);
    let mut imports: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for path in files(&source) {
        let inside = path.strip_prefix(&source).expect("it is in there");
        let first = inside.iter().next().expect("a name").to_string_lossy();
        let module = first.trim_end_matches(".rs").to_owned();
        if module == "lib" || inside.ends_with("tests.rs") {
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
                if to != module && known {
                    imports.entry(module.clone()).or_default().insert(to);
                }
            }
        }
    }
    imports
}

#[test]
fn modules_have_no_import_cycles() {
    let imports = imports();
    assert!(imports.get("lower").is_some_and(|uses| uses.contains("schema")), "{imports:?}");
    let mut left = imports.clone();
    // removes the modules whose imports are all removed already; a cycle remains
    loop {
        let names: BTreeSet<String> = left.keys().cloned().collect();
        let done: Vec<String> = left
            .iter()
            .filter(|(_, uses)| uses.iter().all(|to| !names.contains(to)))
            .map(|(module, _)| module.clone())
            .collect();
        if done.is_empty() {
            break;
        }
        left.retain(|module, _| !done.contains(module));
    }
    assert!(left.is_empty(), "import cycle among {left:?}");
}
