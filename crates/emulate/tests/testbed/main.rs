//! Groups in namespaces compared with their simulation: an MCA tree, also with TFMCC and PGMCC, and an SRMCC tree of a
//! named group. They need the privilege to create network namespaces: without it each test prints so and passes.
//!
//! They measure real time, as the name of the module says: `make test` runs them beside tests that do not.
#![cfg(target_os = "linux")]

mod wall_clock;
