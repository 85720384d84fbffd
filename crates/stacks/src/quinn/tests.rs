//! The log of a flow beside the log that quinn itself writes of the same connection.

use std::cell::RefCell;
use std::time::Instant;

use contract::{FlowId, NodeId};
use quinn_proto::TransportConfig;
use sim::{Blueprint, Control, FlowKind, PortSpec, World};
use stack::datagram::{self, Pattern};
use units::{Bytes, Duration, Rate};

use super::ends;
use crate::{Config, Controller, FlowControl};
use quinn_log::{Ours, Theirs};

#[path = "../../../quic/tests/quinn_log/mod.rs"]
mod quinn_log;

thread_local! {
    /// Where connections of this thread have their log.
    static QLOG: RefCell<Option<Theirs>> = const { RefCell::new(None) };
}

/// The default settings, and quinn's log where a test wants it.
pub(crate) fn transport(now: Instant) -> TransportConfig {
    let mut transport = TransportConfig::default();
    if let Some(theirs) = QLOG.with_borrow(Clone::clone) {
        theirs.watch(&mut transport, now);
    }
    transport
}

/// A flow for 8 s over a bottleneck that overflows: both logs.
fn run(controller: Controller) -> (Ours, Theirs) {
    let mut blueprint = Blueprint { seed: 7, ..Blueprint::new(Duration::from_secs(8)) };
    let (a, b) = (blueprint.node("a"), blueprint.node("b"));
    let port = PortSpec::new(Rate::from_mbps(10), Duration::from_millis(20), 30);
    blueprint.link("bottleneck", (a, b), port);
    let pattern = Pattern::Constant { rate: Rate::ZERO };
    let source = FlowKind::Datagram(datagram::Config { packet: Bytes::new(1500), pattern });
    blueprint.flow("upload", None, source, NodeId(0), &[b]);

    let (ours, theirs) = (Ours::default(), Theirs::default());
    QLOG.set(Some(theirs.clone()));
    let config = Config {
        controller,
        mtu: Bytes::new(1500),
        size: Bytes::UNLIMITED,
        flow_control: FlowControl::default(),
    };
    let (sender, receiver) = ends(&config, Some(&ours.log())).expect("the controller is known");
    let mut world = World::new(&blueprint).expect("the blueprint is right");
    world.custom_sender(FlowId(0), sender);
    world.custom_receiver(FlowId(0), receiver);
    world.run(&Control::default());
    QLOG.set(None);
    (ours, theirs)
}

#[test]
fn a_log_says_what_quinn_says_of_the_same_connection() {
    let scheme = Controller::Scheme("cubic".to_owned(), Vec::new());
    for controller in [Controller::Own("cubic".to_owned()), Controller::Own("newreno".to_owned()), scheme] {
        let (ours, theirs) = run(controller.clone());
        let fields = ["congestion_window", "ssthresh", "min_rtt", "smoothed_rtt", "latest_rtt"];
        let compared = ours.compare(&theirs, fields.map(|name| (name, 0.0)), &format!("{controller:?}"));
        assert!(compared.iter().all(|count| *count > 500), "{controller:?}: {compared:?}");
    }
}
