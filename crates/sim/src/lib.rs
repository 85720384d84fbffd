//! World one: virtual time. An agenda, links, nodes, random streams, and the trace.

mod agenda;
mod blueprint;
mod build;
mod change;
mod clocks;
mod departures;
mod emulation;
mod machine;
mod ndn;
mod node;
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
    Blueprint, Cast, Change, Churn, ClockSpec, Emulation, FlowEmulation, FlowKind, FlowSpec, IcnSpec, Limit,
    LinkSpec, Metric, NameRoute, NdnSpec, PortSpec, ProducerSpec, QueueSpec, ReceiverSpec, Record, RouteSpec,
    SdnSpec,
};
pub use build::MANY_RECEIVERS;
pub use emulation::{ExternalPayloads, Tap};
pub use peer::Factory;
pub use queueing::Delays;
pub use trace::{
    Arrivals, Balance, EventRecord, FlowRecord, NodeRecord, NodeRole, PortRecord, ReceiverRecord, SERIES,
    SeriesRecord, Subject, Trace,
};
pub use world::{Control, World};
