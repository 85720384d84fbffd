//! The tables of a scenario file for real programs and emulations.

use units::Duration;

use crate::schema::bounds::within;
use crate::schema::read::{At, tables};

tables! {
    /// Shell commands that produce a flow's traffic in an emulation. `{from}` and `{to}` are replaced by the addresses of its
    /// endpoints (`{to}` by that of its group, if it has one), `{here}` by the address of the node where the command runs, and
    /// `{port}` by the flow's port.
    pub(crate) struct Commands = "commands" {
        /// Runs at the sender's node, from the flow's start until its stop.
        sender: String,
        /// Runs at each receiver's node, from the start of the run to its end.
        receiver: String,
    }

    /// Settings of an emulation.
    pub(crate) struct Emulation = "an emulation" {
        /// Nodes that are network namespaces of the host, or patterns such as "left*". Default: the endpoints of all flows with
        /// `kernel`, `live` or `commands`.
        real: Vec<At<String>>,
        /// A run is valid if at most 1 % of the packets left later than this after their scheduled time. Default: 2 ms.
        max_lateness: Duration where within("1 us", "1000 s"),
    }
}
