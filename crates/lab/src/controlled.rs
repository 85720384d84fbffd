//! The tables of software-defined networking in a scenario file.

use schemars::{Schema, SchemaGenerator, json_schema};
use toml::Spanned;
use toml::de::DeValue;
use units::{Bytes, Duration, Rate};

use crate::file::{share_of, within};
use crate::read::{At, Notes, Read, tables};
use crate::values::{Buffer, Params, known_name};

tables! {
    /// An SDN controller, its app, and its outposts at nodes.
    pub(crate) struct Sdn = "software-defined networking" {
        /// The control app: a scheme with a part in controllers.
        app: AppName,
        /// Parameters of the app that are not default.
        app_params: Params,
        /// The node that runs the controller: no end of a flow, and nothing else runs there. When not given, a node `controller` is added,
        /// with a link of its own to every node of `nodes`.
        controller: String,
        /// Links of the controller carry control messages alone: no route leads over them. True when no `controller` is given, false
        /// otherwise: then its messages travel like all packets.
        out_of_band: bool,
        /// The links that are added when no `controller` is given.
        link: ControlLink,
        /// Nodes that report and take orders, or patterns such as "r*". When not given, all nodes that forward named data, and all nodes
        /// with more than one link.
        nodes: Vec<At<String>>,
        /// Time between two statuses of a port; 500 ms when not given.
        period: Duration where within("1 ms", "1000000 s"),
        /// When the first period begins, after the start of the run; 0 s when not given.
        phase: Duration where within("0 s", "1000000 s"),
        /// Size of a control message on the wire; 100 B when not given.
        message: Bytes where within("1 B", "65535 B"),
        /// An order without an acknowledgement is said again after so long, then after twice as long, up to eight times as long; 100 ms
        /// when not given.
        retry: Duration where within("1 us", "1000000 s"),
        /// Statuses and signals that are older when they arrive are ignored; 1 s when not given.
        stale: Duration where within("1 us", "1000000 s"),
    }

    /// A link between the controller and a node, both directions.
    pub(crate) struct ControlLink = "a control link" {
        /// Bits per second; 1 Gbit/s when not given.
        rate: Rate where within("1 bit/s", "10000 Gbit/s"),
        /// Propagation delay; 0 s when not given.
        delay: Duration where within("0 s", "1000000000 s"),
        /// Probability that a message is lost; 0 when not given.
        loss: f64 where share_of(0.0, 1.0),
        /// How much may wait: packets or bytes; 1000 packets when not given.
        buffer: Buffer,
    }
}

/// A scheme with a part in controllers.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct AppName(pub(crate) String);

impl AppName {
    fn known() -> Vec<&'static str> {
        let schemes = schemes::catalogue().into_iter().filter(|entry| entry.app.is_some());
        schemes.map(|entry| entry.scheme.name).collect()
    }
}

impl Read for AppName {
    fn what() -> String {
        "the name of a control app".to_owned()
    }
    fn example() -> String {
        "\"least_loaded\"".to_owned()
    }
    fn read(value: &Spanned<DeValue<'_>>, notes: &mut Notes) -> Option<Self> {
        known_name::<Self>(value, "control app", &Self::known(), notes).map(Self)
    }
    fn schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "enum": Self::known() })
    }
}
