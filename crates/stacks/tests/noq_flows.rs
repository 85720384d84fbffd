//! Flows of noq-proto in the simulator.

use stacks::noq::ends;

mod flows;
