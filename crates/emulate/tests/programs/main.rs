//! Emulations with real programs. They need the privilege to create network namespaces: without it each test prints so
//! and passes. All traffic stays in namespaces that the tests create.
//!
//! They measure real time, as the name of the module says: `make test` runs them beside tests that do not.
#![cfg(target_os = "linux")]

mod wall_clock;
