//! A build without stacks. str0m is not in the usual build; for the others
//! `cargo test -p lab --no-default-features --test without_stacks`.

mod common;

/// A scenario that needs a stack.
#[cfg(any(not(feature = "str0m"), not(any(feature = "noq", feature = "quinn"))))]
fn wrong(keys: &str) -> Vec<String> {
    let topology =
        "topology = { kind = \"dumbbell\", bottleneck = { rate = \"1 Mbit/s\", delay = \"1 ms\" } }";
    common::wrong(&format!("{topology}\n[[flows]]\nname = \"a\"\n{keys}"))
}

#[cfg(not(feature = "str0m"))]
#[test]
fn str0m_is_refused_with_what_to_build() {
    let keys = "stack = \"str0m\"\nencoder = { max = \"8 Mbit/s\" }";
    assert_eq!(wrong(keys), ["this build does not contain the stack `str0m`"]);
}

#[cfg(not(any(feature = "noq", feature = "quinn")))]
#[test]
fn a_stack_that_is_not_in_the_build_is_refused_with_what_to_build() {
    let keys = "stack = \"quinn\"\ncontroller = \"newreno\"";
    assert_eq!(wrong(keys), ["this build does not contain the stack `quinn`"]);
}
