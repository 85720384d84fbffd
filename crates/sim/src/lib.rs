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
mod peer;
mod port;
mod record;
mod ring;
mod routing;
mod sdn;
mod trace;
mod tree;
mod ways;
mod world;

pub use blueprint::{
    Blueprint, Cast, Change, Churn, ClockSpec, FlowKind, FlowSpec, IcnSpec, Limit, LinkSpec, Metric,
    NameRoute, NdnSpec, PortSpec, ProducerSpec, QueueSpec, ReceiverSpec, Record, RouteSpec, SdnSpec,
};
pub use peer::Factory;
pub use trace::{
    Arrivals, Balance, EventRecord, FlowRecord, NodeRecord, NodeRole, PortRecord, ReceiverRecord, SERIES,
    SeriesRecord, Subject, Trace,
};
pub use world::{Control, World};
