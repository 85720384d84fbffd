//! The tables of software-defined networking in a scenario file.

use schemars::{Schema, SchemaGenerator, json_schema};
use units::{Bytes, Duration, Rate};

use crate::schema::bounds::{share_of, within};
use crate::schema::params::Params;
use crate::schema::read::{At, Notes, Read, tables};
use crate::schema::tree::Node;
use crate::schema::values::{Buffer, known_name};

tables! {
    /// An SDN controller, its app, and the agents on nodes.
    pub(crate) struct Sdn = "software-defined networking" {
        /// The control app: a scheme with a part in the controller.
        app: AppName,
        /// Parameters of the app, where they differ from the default.
        app_params: Params,
        /// The node that runs the controller. It must not be the end of a flow or run anything else. Default: a new node
        /// `controller`, with its own link to every node of `nodes`.
        controller: String,
        /// The links of the controller carry only control messages, and no route uses them. Default: true if no `controller` is
        /// given; otherwise false, and control messages share links with all packets.
        out_of_band: bool,
        /// The southbound links that are added if no `controller` is given.
        link: ControlLink,
        /// Nodes with an SDN agent, or patterns such as "r*". Default: all nodes that forward named data, and all nodes with more
        /// than one link.
        nodes: Vec<At<String>>,
        /// Time between two status reports of a port. Default: 500 ms.
        period: Duration where within("1 ms", "1000000 s"),
        /// Time between two decisions of a node on signals, which are by the load in that time. Default: signals are
        /// sent with status reports, by the load that is reported.
        detection: Duration where within("1 ms", "1000000 s"),
        /// Start of the first period, after the start of the run. Default: 0 s.
        phase: Duration where within("0 s", "1000000 s"),
        /// Size of a control message on the wire. Default: 100 B.
        message: Bytes where within("1 B", "65535 B"),
        /// Retransmission timeout of commands; exponential backoff up to eight times this value. Default: 100 ms.
        initial_rto: Duration where within("1 us", "1000000 s"),
        /// Maximum age on arrival of status reports and signals; older ones are ignored. Default: 1 s.
        max_age: Duration where within("1 us", "1000000 s"),
    }

    /// A southbound link, between the controller and a node; both directions.
    pub(crate) struct ControlLink = "a control link" {
        /// Rate of each direction.
        rate: Rate = "1 Gbit/s" where within("1 bit/s", "10000 Gbit/s"),
        /// Propagation delay.
        delay: Duration = "0 s" where within("0 s", "1000000000 s"),
        /// Probability that a message is lost.
        loss: f64 = 0 where share_of(0.0, 1.0),
        /// Queue limit: packets or bytes.
        buffer: Buffer = "1000 packets",
    }
}

/// A scheme with a part in controllers.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct AppName(pub(crate) String);

impl AppName {
    fn known_names() -> Vec<&'static str> {
        let schemes = schemes::catalogue().into_iter().filter(|entry| entry.app.is_some());
        schemes.map(|entry| entry.scheme.name).collect()
    }
}

impl Read for AppName {
    fn description() -> String {
        "the name of a control app".to_owned()
    }
    fn example() -> String {
        "\"least_loaded\"".to_owned()
    }
    fn read(node: &Node, notes: &mut Notes) -> Option<Self> {
        known_name::<Self>(node, "control app", &Self::known_names(), notes).map(Self)
    }
    fn to_value(&self) -> toml::Value {
        self.0.to_value()
    }
    fn schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "enum": Self::known_names() })
    }
}
