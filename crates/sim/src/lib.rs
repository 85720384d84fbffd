//! World one: virtual time. An agenda, links, nodes, random streams, and the trace.

mod agenda;
mod blueprint;
mod build;
mod change;
mod clocks;
mod departures;
mod machine;
mod ndn;
mod node;
mod outside;
mod peer;
mod port;
mod queueing;
mod record;
mod ring;
mod routing;
mod sdn;
mod trace;
mod tree;
mod ways;
mod world;

pub use blueprint::{
    Blueprint, Cast, Change, Churn, ClockSpec, Emulation, FlowKind, FlowSpec, IcnSpec, Limit, LinkSpec,
    Metric, NameRoute, NdnSpec, Outside, PortSpec, ProducerSpec, QueueSpec, ReceiverSpec, Record, RouteSpec,
    SdnSpec,
};
pub use build::MANY_RECEIVERS;
pub use outside::{Parcels, Tap};
pub use peer::Factory;
pub use queueing::Delays;
pub use trace::{
    Arrivals, Balance, EventRecord, FlowRecord, NodeRecord, NodeRole, PortRecord, ReceiverRecord, SERIES,
    SeriesRecord, Subject, Trace,
};
pub use world::{Control, World};
