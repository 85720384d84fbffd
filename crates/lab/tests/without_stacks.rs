//! A build without the stacks: `cargo test -p lab --no-default-features --test without_stacks`.
#![cfg(not(any(feature = "noq", feature = "quinn")))]

mod common;

#[test]
fn a_stack_that_is_not_in_the_build_is_refused_with_what_to_build() {
    let text = "topology = { kind = \"dumbbell\", bottleneck = { rate = \"1 Mbit/s\", delay = \"1 ms\" } }\n\
                [[flows]]\nname = \"a\"\nstack = \"quinn\"\ncontroller = \"newreno\"";
    assert_eq!(common::wrong(text), ["this build does not contain the stack `quinn`"]);
}
