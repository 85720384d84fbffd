//! Flows of quinn-proto in the simulator.

use stacks::quinn::ends;

mod flows;
