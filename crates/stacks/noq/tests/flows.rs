//! Flows of noq-proto in the simulator.

use stack_noq as quic;

#[path = "../../like_quinn/flows.rs"]
mod flows;
