//! Flows of quinn-proto in the simulator.

use stack_quinn as quic;

#[path = "../../like_quinn/flows.rs"]
mod flows;
